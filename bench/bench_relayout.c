/* SPDX-License-Identifier: Apache-2.0 */
/*
 * bench_relayout.c - the relayout engine over files of cases, against memcpy and a non-temporal copy.
 *
 *   bench_relayout [--only=TEXT] [--rounds=N] [--threads=1,2] [--json] [FILE...]
 *
 * Without FILE: relayout_cases.json (the suite with its goals) and more_cases.json (other cases of the same kinds).
 * Each case is checked, then timed in rounds with both yardsticks, once with each number of threads; cases that
 * stay in the caches run with one thread only, for that is what the engine uses there.
 *
 * Printed: counted GB/s (logical bytes read + all bytes written), the median of the pairwise ratios to memcpy and
 * to the non-temporal copy, the goals, and the line of the plan.
 */
#include <inttypes.h>
#include <math.h>

#include "cases.h"
#include "nt_copy.h"
#include "race.h"
#include "timing.h"

enum { BUFFER_BYTES = 600 << 20, MOST_COUNTS = 8, MOST_ROWS = 512, CHECKED_PLACES = 1 << 20 };

typedef struct bench_options {
  const char *only, *file; /* the file whose cases run */
  int rounds, n_threads;
  int threads[MOST_COUNTS];
  bool json;
} bench_options;

/* One line of the table. */
typedef struct bench_row {
  const char *name;
  bool dram, missed;
  int threads;
  double ns, gbs, vs_memcpy, vs_nt;
} bench_row;

static unsigned char *dst_buffer, *src_buffer;
static bench_row rows[MOST_ROWS];
static int n_rows, n_failed;

/* ---- one row --------------------------------------------------------------------------------------------------- */

static bool is_dram(const bench_case *c) { return strcmp(c->regime, "dram") == 0; }

static bool is_padded(const bench_case *c) {
  return c->pair.dst.bytes > c->logical_bytes || c->pair.src.bytes > c->logical_bytes;
}

static double goal_memcpy(const bench_case *c, int threads) {
  return threads <= 2 ? c->goal_memcpy[threads - 1] : 0;
}

static bool reaches(const bench_case *c, const bench_row *row) {
  double nt = is_dram(c) && nt_copy_name() ? c->goal_nt : 0;
  return row->vs_memcpy >= goal_memcpy(c, row->threads) && row->vs_nt >= nt;
}

static void time_row(const bench_case *c, const tesela_plan *plan, int rounds, bench_row *row) {
  race_copy bytes = {dst_buffer, src_buffer, (size_t)c->logical_bytes, row->threads};
  race_plan run = {plan, dst_buffer, src_buffer};
  racer copy = {.run = race_memcpy, .data = &bytes, .bytes = 2 * (double)c->logical_bytes};
  racer nt = {.run = race_nt_copy, .data = &bytes, .bytes = 2 * (double)c->logical_bytes};
  racer own = {.run = race_run_plan, .data = &run, .bytes = (double)c->counted_bytes};
  race((racer *[]){&copy, &nt, &own}, 3, rounds);
  row->ns = race_ns(&own, rounds);
  row->gbs = race_gbs(&own, rounds);
  row->vs_memcpy = race_ratio(&own, &copy, rounds);
  row->vs_nt = race_ratio(&own, &nt, rounds);
}

static const char *number_or_dash(char *text, size_t size, double x) {
  if (x > 0)
    snprintf(text, size, "%.2f", x);
  else
    snprintf(text, size, "-");
  return text;
}

static void print_row(const bench_case *c, const bench_row *row, const char *line, bool json) {
  char goal[16], goal_nt[16];
  const char *verdict = row->missed ? "MISS" : goal_memcpy(c, row->threads) > 0 || c->goal_nt > 0 ? "ok" : "";
  if (json) {
    printf("{\"case\": \"%s\", \"regime\": \"%s\", \"threads\": %d, \"ns\": %.0f, \"gb_per_s\": %.2f, "
           "\"vs_memcpy\": %.3f, \"vs_nt_copy\": %.3f, \"goal_vs_memcpy\": %.2f, \"goal_vs_nt_copy\": %.2f, "
           "\"missed\": %s, \"plan\": \"%s\"}\n",
           row->name, c->regime, row->threads, row->ns, row->gbs, row->vs_memcpy, row->vs_nt,
           goal_memcpy(c, row->threads), c->goal_nt, row->missed ? "true" : "false", line);
  } else {
    printf("%-44s %2d %7.1f %8.2f %7.2f  %5s %5s  %-4s  %s\n", row->name, row->threads, row->gbs,
           row->vs_memcpy, row->vs_nt, number_or_dash(goal, sizeof goal, goal_memcpy(c, row->threads)),
           number_or_dash(goal_nt, sizeof goal_nt, c->goal_nt), verdict, line);
  }
  fflush(stdout);
}

static void row_figures(const bench_case *c, const bench_row *row, bool suite) {
  char name[64];
  const char *of = suite ? "suite" : "other";
  if (goal_memcpy(c, row->threads) > 0) {
    snprintf(name, sizeof name, "relayout.%s.reached_%d", of, row->threads);
    bench_figure(name, row->missed ? 0 : 1);
  }
  if (!row->dram && is_padded(c)) bench_figure("relayout.padded_cache_memcpy", row->vs_memcpy);
  if (!row->dram) return;
  snprintf(name, sizeof name, "relayout.%s.dram_memcpy_%d", of, row->threads);
  bench_figure(name, row->vs_memcpy);
  snprintf(name, sizeof name, "relayout.%s.dram_nt_%d", of, row->threads);
  bench_figure(name, row->vs_nt);
}

static void fail_row(const bench_case *c, int threads, const char *why) {
  printf("%-44s %2d FAILED: %s\n", c->name, threads, why);
  n_failed++;
}

static void run_row(const bench_case *c, int threads, const bench_options *o) {
  tesela_plan_options options = {.threads = threads};
  tesela_plan *plan;
  tesela_error err;
  bench_row *row = &rows[n_rows];
  if (n_rows == MOST_ROWS) race_fail("more than %d rows", MOST_ROWS);
  if (c->pair.dst.bytes > BUFFER_BYTES || c->pair.src.bytes > BUFFER_BYTES)
    race_fail("%s: too large", c->name);
  if (tesela_plan_create(&plan, &c->pair.dst.layout, &c->pair.src.layout, &options, &err) != TESELA_OK) {
    fail_row(c, threads, err.message);
    return;
  }
  memset(dst_buffer, SIDE_UNTOUCHED, (size_t)c->pair.dst.bytes);
  race_run_plan(&(race_plan){plan, dst_buffer, src_buffer});
  const char *wrong = pair_check(&c->pair, dst_buffer, src_buffer, CHECKED_PLACES);
  if (wrong) {
    fail_row(c, threads, wrong);
  } else {
    int rounds = is_dram(c) ? o->rounds : 3 * o->rounds;
    *row = (bench_row){.name = c->name, .dram = is_dram(c), .threads = threads};
    time_row(c, plan, rounds, row);
    row->missed = !reaches(c, row);
    print_row(c, row, race_plan_line(plan), o->json);
    if (!o->json) row_figures(c, row, strstr(o->file, "relayout_cases") != NULL);
    n_rows++;
  }
  tesela_plan_destroy(plan);
}

/* ---- all rows -------------------------------------------------------------------------------------------------- */

static void print_means(int first, int threads) {
  double log_memcpy = 0, log_nt = 0;
  int n = 0;
  for (int i = first; i < n_rows; i++) {
    if (!rows[i].dram || rows[i].threads != threads) continue;
    log_memcpy += log(rows[i].vs_memcpy);
    log_nt += log(rows[i].vs_nt);
    n++;
  }
  if (n == 0) return;
  printf("%d thread%s: geometric mean of %d DRAM cases %.3f x memcpy, %.3f x NT copy\n", threads,
         threads == 1 ? "" : "s", n, exp(log_memcpy / n), exp(log_nt / n));
}

/* Cases that are bound by latency, not by bandwidth, must gain from a second thread. */
static void print_scaling(int first) {
  for (int i = first; i + 1 < n_rows; i++) {
    const bench_row *one = &rows[i], *two = &rows[i + 1];
    if (one->threads != 1 || two->threads != 2 || one->name != two->name || one->vs_memcpy >= 0.8) continue;
    printf("scaling: %s: %.2fx with 2 threads (goal 1.60)\n", one->name, one->ns / two->ns);
  }
}

static void run_file(const bench_options *o) {
  bench_case *cases;
  int n = cases_read(o->file, &cases), first = n_rows;
  if (!o->json)
    printf("%s\n%-44s %2s %7s %8s %7s  %5s %5s\n", o->file, "case", "th", "GB/s", "x memcpy", "x NT", "goal",
           "NT");
  for (int i = 0; i < n; i++) {
    if (o->only && !strstr(cases[i].name, o->only)) continue;
    for (int t = 0; t < o->n_threads; t++)
      if (is_dram(&cases[i]) || o->threads[t] == 1) run_row(&cases[i], o->threads[t], o);
  }
  if (!o->json) {
    for (int t = 0; t < o->n_threads; t++) print_means(first, o->threads[t]);
    print_scaling(first);
    for (int i = first; i < n_rows; i++)
      if (rows[i].missed) printf("missed: %s, %d threads\n", rows[i].name, rows[i].threads);
    printf("\n");
  }
  /* The cases stay: the rows point at their names. */
}

/* ---- the command line ------------------------------------------------------------------------------------------ */

static void read_threads(const char *text, bench_options *o) {
  for (o->n_threads = 0; *text; text += strspn(text, ",")) {
    char *end;
    long threads = strtol(text, &end, 10);
    if (end == text || threads < 1 || threads > 64 || o->n_threads == MOST_COUNTS)
      race_fail("--threads wants numbers from 1 to 64, as in --threads=1,2");
    o->threads[o->n_threads++] = (int)threads;
    text = end;
  }
}

/* Returns the index of the first argument that is not an option. */
static int read_options(int argc, char **argv, bench_options *o) {
  int i = 1;
  for (; i < argc && strncmp(argv[i], "--", 2) == 0; i++) {
    if (strncmp(argv[i], "--only=", 7) == 0)
      o->only = argv[i] + 7;
    else if (strncmp(argv[i], "--rounds=", 9) == 0)
      o->rounds = atoi(argv[i] + 9);
    else if (strncmp(argv[i], "--threads=", 10) == 0)
      read_threads(argv[i] + 10, o);
    else if (strcmp(argv[i], "--json") == 0)
      o->json = true;
    else
      race_fail("usage: bench_relayout [--only=TEXT] [--rounds=N] [--threads=1,2] [--json] [FILE...]");
  }
  if (o->rounds < 1 || o->rounds > RACE_MOST_ROUNDS / 9)
    race_fail("--rounds is 1 to %d", RACE_MOST_ROUNDS / 9);
  return i;
}

int main(int argc, char **argv) {
  static char *all[] = {BENCH_DIR "/relayout_cases.json", BENCH_DIR "/more_cases.json"};
  bench_options o = {.rounds = 7, .n_threads = 2, .threads = {1, 2}};
  int first = read_options(argc, argv, &o);
  char **files = first < argc ? argv + first : all;
  int n_files = first < argc ? argc - first : 2;
  dst_buffer = race_buffer(BUFFER_BYTES);
  src_buffer = race_buffer(BUFFER_BYTES);
  race_fill(src_buffer, BUFFER_BYTES);
  if (!o.json) printf("NT copy: %s\n\n", nt_copy_name() ? nt_copy_name() : "none, memcpy stands in");
  for (int i = 0; i < n_files; i++) {
    o.file = files[i];
    run_file(&o);
  }
  return n_failed ? 1 : 0;
}
