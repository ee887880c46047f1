/* SPDX-License-Identifier: Apache-2.0 */
/*
 * timing.h - median times of two or more ways to do one thing, interleaved in one run so that ratios hold.
 */
#ifndef TESELA_BENCH_TIMING_H
#define TESELA_BENCH_TIMING_H

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

enum { BENCH_ROUNDS = 15, BENCH_MOST = 16 };

static inline double bench_now(void) {
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return (double)t.tv_sec * 1e9 + (double)t.tv_nsec;
}

static inline int bench_order(const void *a, const void *b) {
  double x = *(const double *)a, y = *(const double *)b;
  return (x > y) - (x < y);
}

/* One way to do it: work(data) does `units` units of work. */
typedef struct bench_way {
  const char *name;
  void (*work)(void *data);
  double units;
  double ns; /* median per unit, filled in */
} bench_way;

/* Time all ways in turn, BENCH_ROUNDS times; print ns a unit and the ratio to the first. */
static inline void bench_compare(const char *title, bench_way *ways, int n, void *data) {
  static double times[BENCH_MOST][BENCH_ROUNDS];
  for (int w = 0; w < n; w++) ways[w].work(data); /* warm */
  for (int r = 0; r < BENCH_ROUNDS; r++)
    for (int w = 0; w < n; w++) {
      double start = bench_now();
      ways[w].work(data);
      times[w][r] = (bench_now() - start) / ways[w].units;
    }
  printf("%s\n", title);
  for (int w = 0; w < n; w++) {
    qsort(times[w], BENCH_ROUNDS, sizeof times[w][0], bench_order);
    ways[w].ns = times[w][BENCH_ROUNDS / 2];
    printf("  %-36s %9.3f ns  %6.2fx\n", ways[w].name, ways[w].ns, ways[w].ns / ways[0].ns);
  }
}

/* A measured number that claims.tsv may claim something about; claims.py reads these lines. A name may come several times. */
static inline void bench_figure(const char *name, double value) { printf("figure %s %.6g\n", name, value); }

#endif
