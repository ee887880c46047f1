/* SPDX-License-Identifier: Apache-2.0 */
/*
 * support_relayout.h - pairs of layouts, drawn from bytes or read from texts, and checked copies between them.
 *
 * Nothing here uses cmocka: fuzz_relayout.c is built from the same files.
 *
 * A text of digits describes a layout. Drawn layouts are printed as texts, so that a failure can become a row:
 *
 *   "0/8 1/128 0 1"      outermost first: dim 0 step 8, dim 1 step 128, dim 0 step 1, dim 1 step 1, row-major
 *   "0@1 1@-8 +80 =100"  strides after @, offset 80, the axis has 100 places
 *   "r2 0 h4 1"          a replica of extent 2, a hole of extent 4
 */
#ifndef UNIT_SUPPORT_RELAYOUT_H
#define UNIT_SUPPORT_RELAYOUT_H

#include <inttypes.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "relayout_oracle.h"

/* ---- random numbers ------------------------------------------------------------------------------------ */

uint64_t mixed(uint64_t *state); /* splitmix64 */

/* Bytes that decide; after the last one all decisions are 0, the simplest case everywhere. */
typedef struct draws {
  const uint8_t *data;
  size_t n, at;
} draws;

enum { DRAW_BYTES = 160 }; /* more than a pair uses */

int64_t draw(draws *d, int64_t n); /* 0 .. n-1, 1 <= n <= 2^31 */

/* ---- pairs --------------------------------------------------------------------------------------------- */

typedef struct pair {
  tesela_layout dst, src;
  tesela_transform transform;
  tesela_fill fill;
  uint8_t fill_value[16];
} pair;

enum { MOST_ELEMENTS = 300000, PAIR_TEXT = 4000 };

/* A pair over one shape of up to `most` elements; `transforms`: sometimes with one. */
void draw_pair(draws *d, int64_t most, bool transforms, pair *out);

/* As text, "[3,5] dst u8 0/2(2)@12 ...". */
void pair_text(const pair *p, char text[PAIR_TEXT]);

/* A layout from a text of digits; false (and a line on stderr) for an invalid text. */
bool layout_of_digits(tesela_layout *layout, tesela_dtype dtype, int32_t bits, int32_t rank,
                      const int64_t *shape, const char *text);

/* ---- checked copies ------------------------------------------------------------------------------------ */

/* One way to run a pair. */
typedef struct trial {
  tesela_plan_options options;  /* with the pair's transform and fill */
  bool at_end;                  /* buffers end at an inaccessible page; else they start after one */
  uint8_t dst_shift, src_shift; /* distance from there, in bytes */
  bool executor;                /* a test executor runs the chunks, in reverse order */
} trial;

void draw_trial(uint64_t *state, trial *out);
void trial_text(const trial *t, char text[PAIR_TEXT]);

enum { REASON = 400 };

/* The expected result of a pair, and buffers to run it. */
typedef struct bench {
  pair p;
  relayout_map dst, src;
  int64_t dst_bytes, src_bytes; /* the smallest valid buffers */
  unsigned char *before, *expected, *data;
} bench;

/* False if it is too large to list. */
bool make_bench(bench *b, const pair *p, uint64_t seed);
void free_bench(bench *b);

/* Must the pair be planned (1), refused with TESELA_E_UNSUPPORTED (-1), or is either right (0)? */
int expected_support(const bench *b);

/* Plan and run it; true if all is right, else `reason` describes the fault. *used (may be NULL): the plan's facts,
 * solver ANY if it was refused. */
bool run_bench(const bench *b, const trial *t, tesela_plan_info *used, char reason[REASON]);

/* After A to B: does B to A restore the bytes of every element? True also if B to A is impossible. */
bool run_round_trip(const bench *b, const trial *t, char reason[REASON]);

/* Many pairs from a seed, each with several trials; a failure prints the smallest pair that shows it. */
typedef struct sweep {
  uint64_t seed;
  int n_pairs, n_trials;
  int64_t most;
  bool transforms, round_trip;
  long used[TESELA_SOLVER_PERMUTE + 1]; /* out: plans by the solver of their largest piece */
  long refused;
} sweep;

bool sweep_run(sweep *s); /* false after printing a failure */

#endif
