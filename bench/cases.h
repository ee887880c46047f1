/* SPDX-License-Identifier: Apache-2.0 */
/*
 * cases.h - the benchmark cases of relayout_cases.json and more_cases.json, as layouts, and a check of the result.
 *
 * A side of a case is its storage order: digits (dim, step, extent), outermost first. The layouts are built from
 * them; the check does not use these layouts but the digits themselves.
 */
#ifndef TESELA_BENCH_CASES_H
#define TESELA_BENCH_CASES_H

#include <tesela/tesela.h>

enum { CASE_RANK = 8, CASE_DIGITS = 16 };

typedef struct case_digit {
  int64_t dim, step, extent;
  int64_t stride; /* elements */
} case_digit;

typedef struct case_side {
  int n;
  case_digit digit[CASE_DIGITS];
  int64_t places; /* padding included */
  int64_t bytes;
  tesela_layout layout;
} case_side;

typedef struct bench_case {
  char name[64], regime[16]; /* regime: "dram", "l2" or "latency" */
  int32_t bits, rank;
  int64_t shape[CASE_RANK];
  case_side dst, src;
  int64_t logical_bytes;
  int64_t counted_bytes; /* logical bytes read + bytes written, padding included */
  double goal_memcpy[2]; /* least ratio to memcpy with 1 and 2 threads; 0: none */
  double goal_nt;        /* least ratio to the non-temporal copy, 1 and 2 threads; 0: none */
} bench_case;

/* Read a file of cases; *cases is the caller's to free. Ends the program with a message if anything in the file is
   wrong, the byte counts included. */
int cases_read(const char *path, bench_case **cases);

/* Is dst the result of the case for src, with padding 0? Looks at every place of a small dst and at 200 000 of a
   large one, half of them anywhere, half where a digit has its last value, for that is where padding is.
   Returns NULL, or what is wrong in a static text. */
const char *case_check(const bench_case *c, const void *dst, const void *src);

#endif
