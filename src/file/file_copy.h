/* SPDX-License-Identifier: Apache-2.0 */
/*
 * file_copy.h - from file to file: plan and run, within a limit on memory.
 *
 * With a limit, tensors are copied in parts, whose buffers are all the memory this takes (file_parts.c). Layouts that cannot be cut, such as
 * swizzled ones, and verification work on the mapped files, within a limit on their pages in memory:
 *
 * Touched pages of a mapped file count as memory of the process (the system maps up to 16 around each page that is
 * read). When they exceed half of the limit, all are dropped: written data is in the file, and needed data is read
 * again from there. The limit is checked after each chunk of a copy, about 2 MiB unless a plan cannot have that many
 * chunks; and by a separate thread every half millisecond, for plans of a single chunk.
 */
#ifndef TESELA_SRC_FILE_COPY_H
#define TESELA_SRC_FILE_COPY_H

#include <stdatomic.h>

#include "file/file.h"

typedef struct tesela__file_copies {
  const tesela_file_write_options *options;
  tesela__output *output; /* NULL: nothing is copied */
  tesela_allocator allocator;
  int64_t bytes_total, bytes_before, bytes_now; /* output bytes: all, of earlier copies, of this one */
  const tesela__mapping *source;                /* the file that tensors are read from, or NULL */
  const void *in, *out;                         /* whole files, and their bytes */
  int64_t in_bytes, out_bytes;
  bool out_written;
  int64_t resident_before; /* memory of the process without the files */
  int32_t threads;         /* for the chunks of a copy */
  tesela__thread keeper;
  atomic_bool ended;
  bool keeps;
} tesela__file_copies;

/* Start the limit; `copies` must not move until the end. TESELA_E_MEMORY if the thread cannot be started. */
tesela_status tesela__file_copies_begin(tesela__file_copies *copies, tesela_error *err);
void tesela__file_copies_end(tesela__file_copies *copies);

/* ---- file_pieces.c ---- */

/* Options for work on `bytes` bytes of the output, with progress as a part of these. tesela__file_count: it is done. */
tesela_run_options tesela__file_watch(tesela__file_copies *copies, int64_t bytes);
void tesela__file_count(tesela__file_copies *copies);

/* Pieces of a copy: threads take them in turn, each with room of its own. */
typedef struct tesela__file_pieces {
  int64_t n, room; /* room: bytes that a thread needs */
  tesela_status (*run)(void *data, int64_t i, uint8_t *room, tesela_error *err);
  void *data;
} tesela__file_pieces;

/* Run all pieces of a copy that writes `bytes` bytes, on that many threads or fewer, until one fails or progress says stop.
 * TESELA_E_MEMORY if there is no room for all threads. */
tesela_status tesela__file_run_pieces(tesela__file_copies *copies, const tesela__file_pieces *pieces,
                                      int32_t threads, int64_t bytes, tesela_error *err);

/* ---- file_parts.c, file_copy.c ---- */

/* Copy one tensor in parts, if options->memory_bytes and these layouts allow it. *done: that was done, or failed. `info` is that of a plan
 * of the whole. */
tesela_status tesela__file_copy_parts(tesela__file_copies *copies, uint8_t *dst, const tesela_layout *to,
                                      const uint8_t *src, const tesela_layout *from,
                                      const tesela_plan_options *options, const tesela_plan_info *info,
                                      bool *done, tesela_error *err);

/* Copy one tensor; `dst` NULL: only plan it. `line`, if not NULL, receives the plan as one line, truncated to fit. */
tesela_status tesela__file_copy(tesela__file_copies *copies, uint8_t *dst, const tesela_layout *to,
                                const uint8_t *src, const tesela_layout *from,
                                const tesela_plan_options *options, char line[TESELA_FILE_PLAN],
                                tesela_error *err);

#endif
