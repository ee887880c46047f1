/* SPDX-License-Identifier: Apache-2.0 */
/*
 * cmd_check.c - the verb check: every way of copying that applies, against the definition.
 */
#include <inttypes.h>
#include <string.h>

#include "main/json.h"
#include "main/say.h"
#include "verbs/trial.h"

static int print_json(const trial *t, bool right) {
  tesela_json_out j = TESELA_JSON_OUT;
  tesela_put_object(&j.sink);
  tesela_put_key(&j.sink, "problem");
  tesela_writer to = tesela_put_text_begin(&j.sink);
  problem_print(t->p, &to);
  tesela_put_text_end(&j.sink);
  tesela_put_key_bool(&j.sink, "ok", right);
  tesela_put_key_bool(&j.sink, "values_checked", t->defined);
  tesela_put_key(&j.sink, "ways");
  tesela_put_list(&j.sink);
  for (int i = 0; i < t->n_ways; i++) {
    tesela_put_object(&j.sink);
    tesela_put_key_text(&j.sink, "solver", trial_solver(&t->way[i]));
    tesela_put_key_text(&j.sink, "isa", trial_isa(&t->way[i]));
    tesela_put_key_bool(&j.sink, "ok", t->way[i].ok);
    tesela_put_key_text(&j.sink, "plan", t->way[i].line);
    if (!t->way[i].ok) tesela_put_key_text(&j.sink, "wrong", t->way[i].wrong);
    tesela_put_end(&j.sink);
  }
  tesela_put_end(&j.sink);
  tesela_put_end(&j.sink);
  bool done = json_line(&j, stdout) || ferror(stdout);
  tesela_json_out_free(&j);
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
