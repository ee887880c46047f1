/* SPDX-License-Identifier: Apache-2.0 */
/*
 * file_writing.h - a file that is being written: what file_write.c works out, file_fill.c does.
 */
#ifndef TESELA_SRC_FILE_WRITING_H
#define TESELA_SRC_FILE_WRITING_H

#include "file/file_copy.h"

/* What one tensor is in the output. */
typedef struct tesela__file_out {
  const char *type; /* in the header */
  char npy_type[16];
  const char *layout; /* kept; NULL: none */
  bool fortran;
  int32_t rank, align;
  const int64_t *shape;
  int64_t places; /* shape of one that is kept as a list */
  int64_t begin, bytes;
} tesela__file_out;

typedef struct tesela__file_writing {
  tesela_file_format format;
  int64_t n;
  const tesela_file_item *item;
  const tesela_file_write_options *options;
  tesela_allocator allocator;
  tesela_error *err;
  tesela__file_out *out; /* n of them */
  char *header;
  int64_t header_bytes, bytes;
  tesela_file_written *written;
} tesela__file_writing;

/* file_fill.c: make the file, or with dry_run only the plans. */
tesela_status tesela__file_fill(tesela__file_writing *w, const char *path);

/* file_verify.c: is `data` what the file should be? TESELA_E_MISMATCH with the first difference, and *options->differs. */
tesela_status tesela__file_verify(const tesela__file_writing *w, const tesela__file_copies *copies,
                                  const uint8_t *data, int64_t bytes);

/* ---- file_record.c: the record of a partial file -------------------------------------------------------------
 *
 *   tesela 1 6ce56b15a3f0b0a2d5f7d0a5a3c7f1be     what the output is: header, layouts, fill, version
 *   e04bd1b7c62f5a9f0c2d3e4f5a6b7c8d              a tensor that is done, in order: the digest of its bytes in the input
 *   ...
 *
 * A line is expected, not read: one that is torn, of another input or of other rules is not what is expected, and all from it on is
 * done again. */
enum {
  TESELA__RECORD_LINE = 33,
  TESELA__RECORD_FIRST = 9 + TESELA__RECORD_LINE,
  TESELA__RECORD_PENDING = 256
};

typedef struct tesela__file_record {
  tesela__output *output;
  bool recalls;      /* lines from an earlier process may follow */
  int64_t n;         /* lines that are in the file */
  int64_t n_pending; /* and those that wait until their bytes are on the disk */
  int64_t unsynced;  /* bytes that these lines are about */
  char pending[TESELA__RECORD_PENDING * TESELA__RECORD_LINE];
} tesela__file_record;

/* The first line of a record, with a NUL. */
tesela_status tesela__record_first(const tesela__file_writing *w, char first[TESELA__RECORD_FIRST + 1]);
/* The next line, about tensor i. *done: an earlier process did it, from the same bytes. To be called before the tensor is copied. */
tesela_status tesela__record_line(tesela__file_record *record, const tesela__file_writing *w, int64_t i,
                                  const tesela_run_options *run, char line[TESELA__RECORD_LINE + 1],
                                  bool *done);
/* The tensor of that line is copied. */
tesela_status tesela__record_add(tesela__file_record *record, const char *line, int64_t bytes,
                                 tesela_error *err);
/* Write what waits. */
tesela_status tesela__record_flush(tesela__file_record *record, tesela_error *err);

#endif
