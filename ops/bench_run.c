/* SPDX-License-Identifier: Apache-2.0 */
/*
 * bench_run.c - how fast a problem is copied, compared to memcpy.
 *
 * First the op check runs; a wrong result is not timed. Then each round times memcpy and every way of
 * copying, one after the other, so that other load on the machine meets all of them. memcpy copies half as many
 * bytes as a plan reads and writes together: both move the same number. What is done in less than SAMPLE_NS is
 * repeated within a round.
 */
#include "bench_run.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "system.h"

enum { SAMPLE_NS = 50000, MOST_REPEATS = 100000, CREATIONS = 15 };

static double now_ns(void) { return (double)system_clock_ns(); }

/* ---- measuring -------------------------------------------------------------------------------------------- */

/* Once: a way, or memcpy for -1. The compiler cannot see through the pointer, so it keeps the copy. */
static void run_once(const bench *b, int way) {
  static void *(*volatile copy)(void *dst, const void *src, size_t n) = memcpy;
  if (way < 0)
    copy(b->t.dst, b->t.src, (size_t)(b->moved / 2));
  else
    tesela_plan_run(b->t.way[way].plan, b->t.dst, b->t.src, NULL,
                    NULL); /* every way has already run without a failure */
}

static double sample(const bench *b, int way, int64_t repeats) {
  double start = now_ns();
  for (int64_t i = 0; i < repeats; i++) run_once(b, way);
  return (now_ns() - start) / (double)repeats;
}

/* How many times fill a sample; also warms up. */
static int64_t find_repeats(const bench *b, int way) {
  int64_t repeats = 1;
  for (double ns = sample(b, way, 1); repeats < MOST_REPEATS; repeats *= 2) {
    if (ns * (double)repeats >= (double)SAMPLE_NS) break;
    ns = sample(b, way, repeats);
  }
  return repeats < MOST_REPEATS ? repeats : MOST_REPEATS;
}

static int ascending(const void *a, const void *b) {
  double x = *(const double *)a, y = *(const double *)b;
  return (x > y) - (x < y);
}

static double median_of(double *values, int64_t n) {
  qsort(values, (size_t)n, sizeof *values, ascending);
  return n % 2 ? values[n / 2] : (values[n / 2 - 1] + values[n / 2]) / 2;
}

static void sum_up(timing *of, const timing *copy, int64_t rounds, double *room) {
  for (int64_t r = 0; r < rounds; r++) room[r] = copy->ns[r] / of->ns[r];
  of->ratio = median_of(room, rounds);
  memcpy(room, of->ns, (size_t)rounds * sizeof *room);
  of->median = median_of(room, rounds);
  of->best = room[0];
}

static double creation_ns(const trial *t, const trial_way *way) {
  double best = 0;
  for (int i = 0; i < CREATIONS; i++) {
    tesela_plan *plan = NULL;
    double start = now_ns();
    tesela_plan_create(&plan, &t->p->to.layout, &t->p->from.layout, &way->options, NULL);
    double ns = now_ns() - start;
    tesela_plan_destroy(plan);
    if (i == 0 || ns < best) best = ns;
  }
  return best;
}

static tesela_status measure(tesela_request *q, bench *b) {
  int n = b->t.n_ways;
  double *room = malloc((size_t)(b->rounds * (n + 2)) * sizeof *room);
  if (!room)
    return tesela_request_fail(q, TESELA_E_MEMORY, -1, "no memory for the times of %" PRId64 " rounds",
                               b->rounds);
  b->copy.ns = room + b->rounds;
  b->copy.repeats = find_repeats(b, -1);
  for (int i = 0; i < n; i++) {
    b->way[i].ns = room + b->rounds * (i + 2);
    b->way[i].create = creation_ns(&b->t, &b->t.way[i]);
    b->way[i].repeats = find_repeats(b, i);
  }
  bool stopped = false;
  for (int64_t r = 0; r < b->rounds && !stopped; r++) {
    stopped = tesela_request_progress(q, r, b->rounds) != 0;
    b->copy.ns[r] = sample(b, -1, b->copy.repeats);
    for (int i = 0; i < n; i++) b->way[i].ns[r] = sample(b, i, b->way[i].repeats);
  }
  for (int i = 0; i < n && !stopped; i++) sum_up(&b->way[i], &b->copy, b->rounds, room);
  if (!stopped) sum_up(&b->copy, &b->copy, b->rounds, room);
  free(room);
  return stopped ? trial_stopped(q) : TESELA_OK;
}

tesela_status bench_run(tesela_request *q, const problem *p, bench **made) {
  const tesela_value *rounds = tesela_request_get(q, "rounds");
  bench *b = *made = calloc(1, sizeof *b); /* some 100 KB */
  if (!b) return tesela_request_fail(q, TESELA_E_MEMORY, -1, "no memory");
  b->rounds = rounds ? tesela_value_int(rounds) : 15;
  if (b->rounds < 3 || b->rounds > 100000)
    return tesela_request_fail(q, TESELA_E_RANGE, -1, "rounds is %" PRId64 "; expected 3 to 100000",
                               b->rounds);
  tesela_status status = trial_begin(q, p, &b->t);
  if (status == TESELA_OK) status = trial_find_ways(q, false, &b->t);
  if (status == TESELA_OK) status = trial_check(q, &b->t, &b->right);
  if (status != TESELA_OK || !b->right) return status;
  tesela_plan_describe(b->t.way[0].plan, &b->info); /* the bytes are the same for all */
  b->moved = b->info.bytes_read + b->info.bytes_written;
  return measure(q, b);
}

void bench_free(bench *b) {
  if (b) trial_end(&b->t);
  free(b);
}

double bench_rate(const bench *b, double ns) { return ns > 0 ? (double)b->moved / ns : 0; }
