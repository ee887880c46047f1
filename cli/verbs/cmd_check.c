/* SPDX-License-Identifier: Apache-2.0 */
/*
 * cmd_check.c - the verb check: every way of copying that applies, against the definition.
 */
#include <inttypes.h>
#include <string.h>

#include "json.h"
#include "main/say.h"
#include "verbs/trial.h"

static int print_json(const trial *t, bool right) {
  json_writer j = {0};
  jw_object(&j);
  jw_key(&j, "problem");
  tesela_writer to = jw_text_begin(&j);
  problem_print(t->p, &to);
  jw_text_end(&j);
  jw_put_bool(&j, "ok", right);
  jw_put_bool(&j, "values_checked", t->defined);
  jw_key(&j, "ways");
  jw_list(&j);
  for (int i = 0; i < t->n_ways; i++) {
    jw_object(&j);
    jw_put_str(&j, "solver", trial_solver(&t->way[i]));
    jw_put_str(&j, "isa", trial_isa(&t->way[i]));
    jw_put_bool(&j, "ok", t->way[i].ok);
    jw_put_str(&j, "plan", t->way[i].line);
    if (!t->way[i].ok) jw_put_str(&j, "wrong", t->way[i].wrong);
    jw_end(&j);
  }
  jw_end(&j);
  jw_end(&j);
  bool done = jw_line(&j, stdout) || ferror(stdout);
  jw_free(&j);
  return !done ? CLI_FAILED : right ? CLI_YES : CLI_NO;
}

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
  problem p;
  trial t;
  int64_t seed;
  int status;
  if (!problem_read(cli, cli->arg[0], &p, &status)) return status;
  if (!cli_integer(cli, "seed", 0, INT64_MAX, 1, &seed)) return CLI_BAD;
  status = trial_begin(cli, &p, (uint64_t)seed, &t);
  if (status != CLI_YES) return status;
  status = trial_find_ways(cli, true, &t);
  if (status == CLI_YES) {
    status = trial_check(cli, &t);
    if (status > CLI_NO)
      ; /* nothing was found out */
    else if (cli->json)
      status = print_json(&t, status == CLI_YES);
    else
      print_table(&t);
  }
  trial_end(&t);
  return status;
}
