/* SPDX-License-Identifier: Apache-2.0 */
/*
 * file.h - shared by the files of file/.
 *
 *   file_open.c          open, describe, find, close
 *   npy.c                the header of .npy files, both ways
 *   header_json.c        the JSON of .safetensors headers
 *   safetensors.c        read .safetensors headers; safetensors_write.c: write them
 *   file_write.c         describe the tensors of an output and make its header
 *   file_fill.c          write the data of an output; file_copy.c: copy a tensor; file_parts.c: within a memory limit;
 *                        file_pieces.c: by threads
 *   file_record.c        record the progress of an unfinished output
 *   file_verify.c        compare an output with its description
 *   file_index.c         the shards of a checkpoint
 */
#ifndef TESELA_SRC_FILE_H
#define TESELA_SRC_FILE_H

#include <tesela/file.h>

#include "base/os.h"

struct tesela_file {
  tesela_allocator allocator;
  tesela__mapping mapping; /* handle -1 if the caller owns the bytes */
  tesela_file_info info;
  tesela_file_tensor *tensor;
  tesela_file_text *text;
  const tesela_file_tensor **by_name; /* sorted; NULL unless .safetensors */
  char *strings;
};

#if __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__
#define TESELA__FILE_ORDER '<'
#else
#define TESELA__FILE_ORDER '>'
#endif

/* Bytes of elements of `bits` bits (8 or more) in a shape; false if they do not fit in int64. */
static inline bool tesela__file_bytes(int32_t bits, int32_t rank, const int64_t *shape, int64_t *bytes) {
  int64_t n = bits / 8;
  for (int32_t d = 0; d < rank; d++)
    if (shape[d] == 0) n = 0;
  for (int32_t d = 0; d < rank; d++)
    if (!tesela__mul(n, shape[d], &n)) return false;
  *bytes = n;
  return true;
}

/* ---- npy.c ---- */

bool tesela__npy_begins(const uint8_t *data, int64_t bytes);
/* Read the header of file->info.data into file->tensor[0]. */
tesela_status tesela__npy_read(tesela_file *file, tesela_error *err);

/* The descr of a type in this machine's byte order, "<f4"; types that NumPy lacks are raw bytes of their width, "<V2".
 * False for a type without whole bytes. */
bool tesela__npy_type(tesela_dtype dtype, char type[16]);

enum { TESELA__NPY_HEADER = 1024 }; /* bytes of the largest written header */
/* Print the header of an array; returns its bytes, a multiple of 64. */
int64_t tesela__npy_header(const char *type, bool fortran, int32_t rank, const int64_t *shape,
                           char header[TESELA__NPY_HEADER]);

/* ---- safetensors.c, safetensors_write.c ---- */

bool tesela__safetensors_begins(const uint8_t *data, int64_t bytes);
/* Read the header of file->info.data into tensors, texts and by_name. */
tesela_status tesela__safetensors_read(tesela_file *file, int64_t max_header, tesela_error *err);

/* The member of a header that holds its texts: the name of no tensor. */
#define TESELA__FILE_METADATA "__metadata__"

/* The name of a type, "F32"; NULL if the format lacks it. */
const char *tesela__safetensors_type(tesela_dtype dtype);

/* A tensor of a header to be written. */
typedef struct tesela__safetensors_item {
  const char *name, *type;
  int32_t rank;
  const int64_t *shape;
  int64_t begin, end; /* of its data, in bytes after the header */
  const char *layout; /* kept in the metadata; or NULL */
} tesela__safetensors_item;

/* Make a header, length included, a multiple of 8 bytes; the caller releases it. `texts`: other metadata, or NULL. */
tesela_status tesela__safetensors_header(int64_t n, const tesela__safetensors_item *items,
                                         const tesela_file *texts, const tesela_allocator *allocator,
                                         char **header, int64_t *bytes, tesela_error *err);

/* ---- header_json.c ---- */

/* A JSON text, read from its start to its end. No values are built: each is read in place or skipped. */
typedef struct tesela__json {
  const char *text;
  size_t length, at;
  int64_t begin; /* byte of the file where the text begins, for err->at */
  tesela_error *err;
  const char *what; /* name of the text in messages; NULL: "its header" */
} tesela__json;

/* Fail with the fault at a byte of the text: "its header is not valid JSON: ...". */
tesela_status tesela__json_fail(const tesela__json *j, size_t at, const char *what);
bool tesela__json_take(tesela__json *j, char c); /* skips blanks first */
bool tesela__json_next_is(tesela__json *j, char c);
/* Read a string; with `out`, copy its value and a NUL there, never more bytes than in the text, and advance *out. */
tesela_status tesela__json_string(tesela__json *j, char **out);
/* Read the key of member *n of an object into *out, and move to its value; increments *n. *more: the member exists. */
tesela_status tesela__json_member(tesela__json *j, int64_t *n, bool *more, char **out);
/* Skip a value of any kind. */
tesela_status tesela__json_pass(tesela__json *j);
/* Read a list of up to `most` integers >= 0; *n is -1 for any other value, which is skipped. */
tesela_status tesela__json_integers(tesela__json *j, int32_t most, int64_t *out, int32_t *n);

#endif
