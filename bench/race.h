/* SPDX-License-Identifier: Apache-2.0 */
/*
 * race.h - ways to move the same bytes, timed in turn, and their ratios.
 *
 * All contestants run once per round, so that a slow phase of the machine hits all of them; a ratio is taken within
 * each round, and the median over the rounds counts. Speed is counted bytes (read plus written) per time.
 *
 * The two yardsticks, memcpy and the non-temporal copy, run with as many threads as the contestants.
 */
#ifndef TESELA_BENCH_RACE_H
#define TESELA_BENCH_RACE_H

#include <stddef.h>
#include <stdint.h>

#include <tesela/tesela.h>

#ifdef __cplusplus
extern "C" {
#endif

enum { RACE_MOST_ROUNDS = 101 };

typedef struct racer {
  void (*run)(void *data);
  void *data;
  double bytes;                /* counted for one run */
  double ns[RACE_MOST_ROUNDS]; /* of one run in each round, filled in */
} racer;

/* Run all n in turn, `rounds` times (at most RACE_MOST_ROUNDS), after one run of each that is not timed. A run of
   less than a millisecond is repeated within its turn, so that short ones find their data in the caches; and before the turn of one of less
   than 4 ms there is a run that is not timed, so that it finds there what it left itself, not what the racer before it did: after the
   non-temporal copy dst is in no cache. */
void race(racer **racers, int n, int rounds);

/* From here on times are those of this thread on a processor, so that other work on the machine counts less. For contestants of one
   thread. */
void race_by_processor(void);

/* Median over the rounds: ns of a run, GB/s, speed of a over speed of b, time of b over time of a. */
double race_ns(const racer *a, int rounds);
double race_gbs(const racer *a, int rounds);
double race_ratio(const racer *a, const racer *b, int rounds);

double race_median(const double *values, int n);

/* A yardstick: `bytes` bytes from src to dst, in as many equal chunks as there are threads; less than 4 MiB in one. */
typedef struct race_copy {
  unsigned char *dst;
  const unsigned char *src;
  size_t bytes;
  int threads;
} race_copy;

void race_memcpy(void *copy);
void race_nt_copy(void *copy);

/* tesela as a contestant. */
typedef struct race_plan {
  const tesela_plan *plan;
  void *dst;
  const void *src;
} race_plan;

void race_run_plan(void *plan);

/* Page-aligned zeroed memory that has been touched, in huge pages where the system grants them. Ends the program
   without memory. Never freed. */
void *race_buffer(size_t bytes);

/* Fill with numbers that look random, the same on every call. */
void race_fill(void *buffer, size_t bytes);

/* The line that a plan prints, in a static buffer. */
const char *race_plan_line(const tesela_plan *plan);

/* Print to stderr and end the program with status 1. */
void race_fail(const char *format, ...) TESELA_PRINTF(1, 2);

#ifdef __cplusplus
}
#endif
#endif
