/* SPDX-License-Identifier: Apache-2.0 */
/*
 * cmd_check.c - the verb check: compares every applicable way of copying with the definition.
 */
#include "main/json.h"
#include "main/say.h"
#include "trial.h"
#include "verbs/problem.h"

static void print_table(const trial *t) {
  int n_wrong = 0;
  printf("%-12s  %-6s  %-6s  %s\n", "solver", "isa", "result", "plan");
  for (int i = 0; i < t->n_ways; i++) {
    const trial_way *way = &t->way[i];
    n_wrong += !way->ok;
    printf("%-12s  %-6s  %-6s  %s\n", trial_solver(way), trial_isa(way), way->ok ? "ok" : "WRONG",
           way->ok ? way->line : way->wrong);
  }
  if (n_wrong)
    printf("wrong: %d of %d plan%s\n", n_wrong, t->n_ways, t->n_ways == 1 ? "" : "s");
  else
    printf("ok: %d plan%s\n", t->n_ways, t->n_ways == 1 ? "" : "s");
}

int cmd_check(const cli_context *cli) {
  problem_request ask;
  trial t;
  bool right = false;
  int status;
  if (!problem_ask(cli, &ask, &status)) return status;
  if (cli->json) return json_verb(cli, ask.n, ask.field, "all_ok");
  tesela_status done = trial_begin(&ask.ask.r, &ask.p, &t);
  if (done == TESELA_OK) done = trial_find_ways(&ask.ask.r, true, &t);
  if (done == TESELA_OK) done = trial_check(&ask.ask.r, &t, &right);
  if (done == TESELA_OK) print_table(&t);
  trial_end(&t);
  if (done != TESELA_OK) return json_say(cli, &ask.ask, done);
  return right ? CLI_YES : CLI_NO;
}
