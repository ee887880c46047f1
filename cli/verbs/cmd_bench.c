/* SPDX-License-Identifier: Apache-2.0 */
/*
 * cmd_bench.c - the verb bench: how fast a problem is copied, beside memcpy.
 *
 * First everything is checked as check does; a wrong result is not timed. Then each round times memcpy and every way of
 * copying, one after the other, so that what else the machine does meets all of them. memcpy copies half as many
 * bytes as a plan reads and writes together: both move the same number. What is done in less than SAMPLE_NS is
 * repeated within a round.
 */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "main/json.h"
#include "main/say.h"
#include "verbs/trial.h"

enum { SAMPLE_NS = 50000, MOST_REPEATS = 100000, CREATIONS = 15 };

typedef struct timing {
  double *ns; /* of each round */
  int64_t repeats;
  double best, median, ratio; /* ratio: memcpy's time over this one, the median of all rounds */
  double create;              /* ns to make the plan, the best of some */
} timing;

typedef struct bench {
  trial t;
  int64_t rounds, moved; /* bytes read and written */
  tesela_plan_info info;
  timing copy, way[TRIAL_MOST_WAYS];
} bench;

static double now_ns(void) {
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return (double)t.tv_sec * 1e9 + (double)t.tv_nsec;
}

/* ---- measuring -------------------------------------------------------------------------------------------- */

/* Once: a way, or memcpy for -1. The compiler does not know what is behind the pointer, so it leaves the copy in. */
static void run_once(const bench *b, int way) {
  static void *(*volatile copy)(void *dst, const void *src, size_t n) = memcpy;
  if (way < 0)
    copy(b->t.dst, b->t.src, (size_t)(b->moved / 2));
  else
    tesela_plan_run(b->t.way[way].plan, b->t.dst, b->t.src, NULL, NULL); /* ran without a failure before */
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
    if (ns * (double)repeats >= SAMPLE_NS) break;
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

static int measure(const cli_context *cli, bench *b) {
  int n = b->t.n_ways;
  double *room = malloc((size_t)(b->rounds * (n + 2)) * sizeof *room);
  if (!room) {
    say_error(cli, "no memory for the times of %" PRId64 " rounds", b->rounds);
    return CLI_FAILED;
  }
  b->copy.ns = room + b->rounds;
  b->copy.repeats = find_repeats(b, -1);
  for (int i = 0; i < n; i++) {
    b->way[i].ns = room + b->rounds * (i + 2);
    b->way[i].create = creation_ns(&b->t, &b->t.way[i]);
    b->way[i].repeats = find_repeats(b, i);
  }
  for (int64_t r = 0; r < b->rounds; r++) {
    b->copy.ns[r] = sample(b, -1, b->copy.repeats);
    for (int i = 0; i < n; i++) b->way[i].ns[r] = sample(b, i, b->way[i].repeats);
  }
  for (int i = 0; i < n; i++) sum_up(&b->way[i], &b->copy, b->rounds, room);
  sum_up(&b->copy, &b->copy, b->rounds, room);
  free(room);
  return CLI_YES;
}

/* ---- printing --------------------------------------------------------------------------------------------- */

/* 1e9 bytes a second. */
static double rate(const bench *b, double ns) { return ns > 0 ? (double)b->moved / ns : 0; }

enum { TIME_TEXT = 32 };

/* "163.2 ns", "12.34 us" */
static const char *time_text(double ns, char text[TIME_TEXT]) {
  if (ns < 10000)
    snprintf(text, TIME_TEXT, "%.1f ns", ns);
  else
    snprintf(text, TIME_TEXT, "%.2f us", ns / 1000);
  return text;
}

static void print_times(const bench *b, const char *solver, const char *isa, const timing *t) {
  char best[TIME_TEXT], median[TIME_TEXT];
  printf("%-17s  %-6s  %14s  %14s  %7.2f  %7.2f", solver, isa, time_text(t->best, best),
         time_text(t->median, median), rate(b, t->median), t->ratio);
}

/* The planner's choice is named beside "any". */
static void print_way(const bench *b, int i) {
  const trial_way *way = &b->t.way[i];
  char solver[40], create[TIME_TEXT];
  tesela_plan_info info;
  tesela_plan_describe(way->plan, &info);
  bool any = way->options.solver == TESELA_SOLVER_ANY && info.solver != TESELA_SOLVER_ANY;
  snprintf(solver, sizeof solver, "%s%s", any ? "any: " : "", tesela_solver_name(info.solver));
  print_times(b, solver, tesela_isa_name(info.isa), &b->way[i]);
  printf("  %11s  %s\n", time_text(b->way[i].create, create), way->line);
}

static void print_table(const bench *b) {
  printf("%" PRId64 " bytes read, %" PRId64 " written, %" PRId64 " rounds; memcpy of %" PRId64 " bytes\n",
         b->info.bytes_read, b->info.bytes_written, b->rounds, b->moved / 2);
  printf("%-17s  %-6s  %14s  %14s  %7s  %7s  %11s  %s\n", "solver", "isa", "best", "median", "GB/s",
         "xmemcpy", "to plan", "plan");
  print_times(b, "(memcpy)", "", &b->copy);
  putchar('\n');
  for (int i = 0; i < b->t.n_ways; i++) print_way(b, i);
}

static void put_timing(tesela_sink *j, const bench *b, const timing *t) {
  tesela_put_key(j, "best_ns");
  tesela_put_real(j, t->best);
  tesela_put_key(j, "median_ns");
  tesela_put_real(j, t->median);
  tesela_put_key(j, "gb_per_s");
  tesela_put_real(j, rate(b, t->median));
}

static bool print_json(const bench *b) {
  tesela_json_out j = TESELA_JSON_OUT;
  tesela_put_object(&j.sink);
  tesela_put_key(&j.sink, "problem");
  tesela_writer to = tesela_put_text_begin(&j.sink);
  problem_print(b->t.p, &to);
  tesela_put_text_end(&j.sink);
  tesela_put_key_int(&j.sink, "bytes_read", b->info.bytes_read);
  tesela_put_key_int(&j.sink, "bytes_written", b->info.bytes_written);
  tesela_put_key_int(&j.sink, "rounds", b->rounds);
  tesela_put_key(&j.sink, "memcpy");
  tesela_put_object(&j.sink);
  tesela_put_key_int(&j.sink, "bytes", b->moved / 2);
  put_timing(&j.sink, b, &b->copy);
  tesela_put_end(&j.sink);
  tesela_put_key(&j.sink, "ways");
  tesela_put_list(&j.sink);
  for (int i = 0; i < b->t.n_ways; i++) {
    tesela_plan_info info;
    tesela_plan_describe(b->t.way[i].plan, &info);
    tesela_put_object(&j.sink);
    tesela_put_key_text(&j.sink, "solver", trial_solver(&b->t.way[i]));
    tesela_put_key_text(&j.sink, "isa", trial_isa(&b->t.way[i]));
    tesela_put_key_int(&j.sink, "threads", info.threads);
    tesela_put_key_text(&j.sink, "plan", b->t.way[i].line);
    put_timing(&j.sink, b, &b->way[i]);
    tesela_put_key(&j.sink, "ratio_to_memcpy");
    tesela_put_real(&j.sink, b->way[i].ratio);
    tesela_put_key(&j.sink, "create_ns");
    tesela_put_real(&j.sink, b->way[i].create);
    tesela_put_end(&j.sink);
  }
  tesela_put_end(&j.sink);
  tesela_put_end(&j.sink);
  bool done = json_line(&j, stdout) || ferror(stdout);
  tesela_json_out_free(&j);
  return done;
}

/* ---- the verb --------------------------------------------------------------------------------------------- */

static int check_first(const cli_context *cli, bench *b) {
  int status = trial_check(cli, &b->t);
  for (int i = 0; i < b->t.n_ways; i++)
    if (!b->t.way[i].ok)
      say_error(cli, "%s, %s is wrong: %s", trial_solver(&b->t.way[i]), trial_isa(&b->t.way[i]),
                b->t.way[i].wrong);
  return status;
}

int cmd_bench(const cli_context *cli) {
  problem p;
  int status;
  static bench b; /* some 100 KB */
  if (!problem_read(cli, cli->arg[0], &p, &status)) return status;
  if (!cli_integer(cli, "rounds", 3, 100000, 15, &b.rounds)) return CLI_BAD;
  status = trial_begin(cli, &p, 1, &b.t);
  if (status != CLI_YES) return status;
  status = trial_find_ways(cli, false, &b.t);
  if (status == CLI_YES) status = check_first(cli, &b);
  if (status == CLI_YES) {
    tesela_plan_describe(b.t.way[0].plan, &b.info); /* the bytes are the same for all */
    b.moved = b.info.bytes_read + b.info.bytes_written;
    status = measure(cli, &b);
  }
  if (status == CLI_YES && cli->json && !print_json(&b)) status = CLI_FAILED;
  if (status == CLI_YES && !cli->json) print_table(&b);
  trial_end(&b.t);
  return status;
}
