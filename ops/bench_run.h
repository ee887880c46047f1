/* SPDX-License-Identifier: Apache-2.0 */
/*
 * bench_run.h - how fast a problem is copied, compared to memcpy: for the operation bench and for the verb.
 */
#ifndef TESELA_OPS_BENCH_RUN_H
#define TESELA_OPS_BENCH_RUN_H

#include "trial.h"

typedef struct timing {
  double *ns; /* of each round */
  int64_t repeats;
  double best, median, ratio; /* ratio: memcpy's time over this way's, the median of all rounds */
  double create;              /* ns to make the plan, the best of several */
} timing;

typedef struct bench {
  trial t;
  bool right;            /* false: nothing is timed */
  int64_t rounds, moved; /* bytes read and written */
  tesela_plan_info info;
  timing copy, way[TRIAL_MOST_WAYS];
} bench;

/* Check and time as the fields of bench have it. *made is freed by bench_free, also after a failure. */
tesela_status bench_run(tesela_request *q, const problem *p, bench **made);
void bench_free(bench *b); /* NULL is allowed */

/* Bytes read and written in a nanosecond, 1e9 bytes a second. */
double bench_rate(const bench *b, double ns);

#endif
