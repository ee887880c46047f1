/* SPDX-License-Identifier: Apache-2.0 */
/*
 * cmd_bench.c - the verb bench: how fast a problem is copied, compared with memcpy.
 */
#include <inttypes.h>

#include "bench_run.h"
#include "main/json.h"
#include "main/say.h"
#include "verbs/problem.h"

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
         time_text(t->median, median), bench_rate(b, t->median), t->ratio);
}

/* The row "any" also names the planner's choice. */
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

static int print_result(const cli_context *cli, const bench *b) {
  if (b->right) print_table(b);
  for (int i = 0; i < b->t.n_ways; i++)
    if (!b->t.way[i].ok)
      say_error(cli, "%s, %s gives a wrong result: %s", trial_solver(&b->t.way[i]), trial_isa(&b->t.way[i]),
                b->t.way[i].wrong);
  return b->right ? CLI_YES : CLI_NO;
}

int cmd_bench(const cli_context *cli) {
  problem_request ask;
  bench *b = NULL;
  int status;
  if (!problem_ask(cli, &ask, &status)) return status;
  if (cli->json) return json_verb(cli, ask.n, ask.field, "all_ok");
  status = json_say(cli, &ask.ask, bench_run(&ask.ask.r, &ask.p, &b));
  if (status == CLI_YES) status = print_result(cli, b);
  bench_free(b);
  return status;
}
