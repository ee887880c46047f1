/* SPDX-License-Identifier: Apache-2.0 */
/*
 * cases.h - the benchmark cases of relayout_cases.json and more_cases.json.
 *
 * A side of a case is its storage order: digits (dim, step, extent), outermost first, row-major.
 */
#ifndef TESELA_BENCH_CASES_H
#define TESELA_BENCH_CASES_H

#include "sides.h"

typedef struct bench_case {
  char name[64], regime[16]; /* regime: "dram", "l2" or "latency" */
  bench_pair pair;
  int64_t logical_bytes;
  int64_t counted_bytes; /* logical bytes read + bytes written, padding included */
  double goal_memcpy[2]; /* least ratio to memcpy with 1 and 2 threads; 0: none */
  double goal_nt;        /* least ratio to the non-temporal copy, 1 and 2 threads; 0: none */
} bench_case;

/* Read a file of cases; *cases is the caller's to free. Ends the program with a message if anything in the file is
   wrong, the byte counts included. */
int cases_read(const char *path, bench_case **cases);

#endif
