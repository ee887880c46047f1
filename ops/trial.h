/* SPDX-License-Identifier: Apache-2.0 */
/*
 * trial.h - a problem with data, run by every way of copying that applies, and compared with the definition element by
 * element: for check, and for bench, which times only right results.
 *
 * The source holds random bits, the destination another pattern, and so do some bytes on either side of it. What must
 * come out is put together from the places of each element (tesela_layout_place_of), one after the other, without
 * any plan; padding is filled as asked, and everything else must still hold the pattern.
 */
#ifndef TESELA_OPS_TRIAL_H
#define TESELA_OPS_TRIAL_H

#include "problem_side.h"

#define TRIAL_BYTES ((int64_t)1 << 30) /* of both sides together */

/* One way of copying. */
typedef struct trial_way {
  tesela_plan_options options;
  tesela_plan *plan;
  char line[200];  /* the plan in one line */
  bool ok;         /* what it wrote is right */
  char wrong[280]; /* what is wrong */
} trial_way;

enum { TRIAL_MOST_WAYS = 64 };

typedef struct trial {
  tesela_request *q; /* whose progress is called now and then */
  bool stopped;
  const problem *p;
  uint8_t *src, *dst;   /* place 0 */
  uint8_t *room, *want; /* all of the destination, with the bytes on either side; the expected bytes */
  bool defined;         /* the values can be checked; else only that padding and the sides are right */
  int n_ways;
  trial_way way[TRIAL_MOST_WAYS];
} trial;

/* Make the buffers, with data from the field seed. Both sides together may have up to max_bytes bytes, a field. */
tesela_status trial_begin(tesela_request *q, const problem *p, trial *t);

/* A plan for each solver and instruction set that the fields solver and isa select; "all", the default if `all`, means those
   that apply. */
tesela_status trial_find_ways(tesela_request *q, bool all, trial *t);

tesela_status trial_stopped(tesela_request *q); /* the failure, once it is time to stop */

/* Run all and compare, with padding filled in each way there is. *right: all are right. */
tesela_status trial_check(tesela_request *q, trial *t, bool *right);

/* Members of an answer: the way, and what is wrong with it. */
void trial_put_way(tesela_sink *out, const trial_way *way);

void trial_end(trial *t);

const char *trial_solver(const trial_way *way); /* "transpose"; "any" if the solver is not forced */
const char *trial_isa(const trial_way *way);    /* "avx2" */

#endif
