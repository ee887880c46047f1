/* SPDX-License-Identifier: Apache-2.0 */
/*
 * tensor_file_bound.h - keep the mapped pages of two files that are copied within a bound.
 *
 * Pages of a mapped file count as memory of a process while it has touched them (the system maps up to 16 around each
 * one that is read). When they pass half of the bound all are let go: what was written is in the file, what is still
 * needed comes back from there. tensor_bound_run looks after each chunk of a copy, about 2 MiB as long as there are no
 * more chunks than a plan can have; a thread of its own looks every half millisecond, for plans that run in one.
 */
#ifndef TESELA_CLI_TENSOR_FILE_BOUND_H
#define TESELA_CLI_TENSOR_FILE_BOUND_H

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

typedef struct tensor_bound {
  int64_t bytes; /* the bound */
  const void *in, *out;
  int64_t in_bytes, out_bytes;
  int64_t resident_before; /* pages of the process without the files */
  int statm;               /* /proc/self/statm, open; -1: not there, pages are dropped at every look */
  int32_t threads;         /* that run the chunks of a copy; set before each */
  pthread_t thread;
  atomic_bool ended;
  bool runs;
} tensor_bound;

/* Begin; bytes == 0: no bound, nothing happens. false if the thread cannot be started. The struct must stay where it is
 * until tensor_bound_end. */
bool tensor_bound_begin(tensor_bound *bound, int64_t bytes, const void *in, int64_t in_bytes, const void *out,
                        int64_t out_bytes);
void tensor_bound_end(tensor_bound *bound);

/* The `run` of a tesela_executor whose user is a tensor_bound that has begun. */
void tensor_bound_run(void *user, int32_t n, void (*chunk)(void *data, int32_t i), void *data);

#endif
