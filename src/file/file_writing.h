/* SPDX-License-Identifier: Apache-2.0 */
/*
 * file_writing.h - a file being written: file_write.c describes it, file_fill.c writes it.
 */
#ifndef TESELA_SRC_FILE_WRITING_H
#define TESELA_SRC_FILE_WRITING_H

#include "file/file_copy.h"

/* One tensor of the output. */
typedef struct tesela__file_out {
  const char *type; /* in the header */
  char npy_type[16];
  const char *layout; /* kept in the metadata; or NULL */
  bool fortran;
  int32_t rank, align;
  const int64_t *shape;
  int64_t places; /* the shape, if stored as a list of places */
  int64_t begin, bytes;
} tesela__file_out;

typedef struct tesela__file_writing {
  tesela_file_format format;
  int64_t n;
  const tesela_file_item *item;
  const tesela_file_write_options *options;
  tesela_allocator allocator;
  tesela_error *err;
  tesela__file_out *out; /* n entries */
  char *header;
  int64_t header_bytes, bytes;
  tesela_file_written *written;
} tesela__file_writing;

/* file_fill.c: make the file, or with dry_run only the plans. */
tesela_status tesela__file_fill(tesela__file_writing *w, const char *path);

/* file_verify.c: check `data` against the description. TESELA_E_MISMATCH, and *options->differs, at a difference. */
tesela_status tesela__file_verify(const tesela__file_writing *w, const tesela__file_copies *copies,
                                  const uint8_t *data, int64_t bytes);

/* ---- file_record.c: the record of a partial file -------------------------------------------------------------
 *
 *   tesela 1 6ce56b15a3f0b0a2d5f7d0a5a3c7f1be     digest of the description: header, layouts, fill, version
 *   e04bd1b7c62f5a9f0c2d3e4f5a6b7c8d              for each finished tensor, in order: digest of its input bytes
 *   ...
 *
 * A line is compared with the expected one, never parsed: a torn line, or one of another input or description, differs,
 * and the work from there on is repeated. */
enum {
  TESELA__RECORD_LINE = 33,
  TESELA__RECORD_FIRST = 9 + TESELA__RECORD_LINE,
  TESELA__RECORD_PENDING = 256
};

typedef struct tesela__file_record {
  tesela__output *output;
  bool recalls;      /* more lines of an earlier process may follow */
  int64_t n;         /* lines in the file */
  int64_t n_pending; /* lines that wait until their tensors are on the disk */
  int64_t unsynced;  /* bytes of the tensors of these lines */
  char pending[TESELA__RECORD_PENDING * TESELA__RECORD_LINE];
} tesela__file_record;

/* The first line of a record, with a NUL. */
tesela_status tesela__record_first(const tesela__file_writing *w, char first[TESELA__RECORD_FIRST + 1]);
/* Make the next line, of tensor i, before its copy. *done: an earlier process copied it, from the same bytes. */
tesela_status tesela__record_line(tesela__file_record *record, const tesela__file_writing *w, int64_t i,
                                  const tesela_run_options *run, char line[TESELA__RECORD_LINE + 1],
                                  bool *done);
/* Add the line of a tensor after its copy. */
tesela_status tesela__record_add(tesela__file_record *record, const char *line, int64_t bytes,
                                 tesela_error *err);
/* Write the pending lines, after a sync of the data. */
tesela_status tesela__record_flush(tesela__file_record *record, tesela_error *err);

#endif
