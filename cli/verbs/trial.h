/* SPDX-License-Identifier: Apache-2.0 */
/*
 * trial.h - a problem with data, run by every way of copying that applies, and compared with the definition element by
 * element: for check, and for bench, which times only what is right.
 *
 * The source holds random bits, the destination another pattern, and so do some bytes on either side of it. What must
 * come out is put together from the places of each element (tesela_layout_place_of), one after the other, without
 * any plan; padding is filled as asked, and everything else must still hold the pattern.
 */
#ifndef TESELA_CLI_TRIAL_H
#define TESELA_CLI_TRIAL_H

#include "verbs/problem.h"

#define TRIAL_BYTES ((int64_t)1 << 30) /* of both sides together */

/* One way of copying. */
typedef struct trial_way {
  tesela_plan_options options;
  tesela_plan *plan;
  char line[200];  /* the plan in one line */
  bool ok;         /* what it wrote is right */
  char wrong[280]; /* what is not */
} trial_way;

enum { TRIAL_MOST_WAYS = 64 };

typedef struct trial {
  const problem *p;
  uint8_t *src, *dst;   /* place 0 */
  uint8_t *room, *want; /* all of the destination, with what is on either side; what it should hold */
  bool defined;         /* the values can be checked; else only that padding and the sides are right */
  int n_ways;
  trial_way way[TRIAL_MOST_WAYS];
} trial;

/* Make the buffers. Returns an exit status after saying why. */
int trial_begin(const cli_context *cli, const problem *p, uint64_t seed, trial *t);

/* A plan for each solver and instruction set that --solver and --isa ask for; "all", the default if `all`, means those
   that apply. */
int trial_find_ways(const cli_context *cli, bool all, trial *t);

/* Run all and compare, with padding filled in each way there is. CLI_NO if one is wrong. */
int trial_check(const cli_context *cli, trial *t);

void trial_end(trial *t);

const char *trial_solver(const trial_way *way); /* "transpose"; "any" when none is forced */
const char *trial_isa(const trial_way *way);    /* "avx2" */

#endif
