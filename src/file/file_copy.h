/* SPDX-License-Identifier: Apache-2.0 */
/*
 * file_copy.h - from mapped file to mapped file: plan and run, within a bound on the pages in memory.
 *
 * Pages of a mapped file count as memory of a process while it has touched them (the system maps up to 16 around each
 * one that is read). When they pass half of the bound all are let go: what was written is in the file, what is still
 * needed comes back from there. That is looked after each chunk of a copy, about 2 MiB as long as there are no more chunks
 * than a plan can have; a thread of its own looks every half millisecond, for plans that run in one.
 */
#ifndef TESELA_SRC_FILE_COPY_H
#define TESELA_SRC_FILE_COPY_H

#include <stdatomic.h>

#include "file/file.h"

typedef struct tesela__file_copies {
  const tesela_file_write_options *options;
  tesela__output *output; /* NULL: nothing is copied */
  tesela_allocator allocator;
  int64_t bytes_total, bytes_before, bytes_now; /* of the output: all, by earlier copies, by this one */
  const void *in, *out;                         /* whole files, and their bytes */
  int64_t in_bytes, out_bytes;
  bool out_written;
  int64_t resident_before; /* bytes of the process without the files */
  int32_t threads;         /* that run the chunks of a copy */
  tesela__thread keeper;
  atomic_bool ended;
  bool keeps;
} tesela__file_copies;

/* Begin; the struct must stay where it is until the end. TESELA_E_MEMORY if the thread cannot be started. */
tesela_status tesela__file_copies_begin(tesela__file_copies *copies, tesela_error *err);
void tesela__file_copies_end(tesela__file_copies *copies);

/* For work on what has `bytes` bytes in the output: its progress is a part of theirs. tesela__file_count: it is done. */
tesela_run_options tesela__file_watch(tesela__file_copies *copies, int64_t bytes);
void tesela__file_count(tesela__file_copies *copies);

/* Copy one tensor; `dst` NULL: only plan it. `line`, if not NULL, receives the plan as one line, cut to fit. */
tesela_status tesela__file_copy(tesela__file_copies *copies, uint8_t *dst, const tesela_layout *to,
                                const uint8_t *src, const tesela_layout *from,
                                const tesela_plan_options *options, char line[TESELA_FILE_PLAN],
                                tesela_error *err);

#endif
