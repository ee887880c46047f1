/* SPDX-License-Identifier: Apache-2.0 */
/*
 * cmd_plan.c - the verb plan: how a problem would be copied, and why.
 */
#include <stdio.h>

#include "main/json.h"
#include "main/say.h"
#include "verbs/problem.h"

int cmd_plan(const cli_context *cli) {
  problem_request ask;
  tesela_plan_options options;
  tesela_plan *plan;
  int status;
  if (!problem_ask(cli, &ask, &status)) return status;
  if (cli->json) return json_verb(cli, ask.n, ask.field, NULL);
  if (problem_options(&ask.ask.r, &ask.p, &options) != TESELA_OK) return say_failure(cli, &ask.ask.err);
  if (!problem_say_fill(cli, &ask.p.to.layout, &options)) return CLI_BAD;
  if (tesela_plan_create(&plan, &ask.p.to.layout, &ask.p.from.layout, &options, &ask.ask.err) != TESELA_OK)
    return say_failure(cli, &ask.ask.err);
  if (cli_has(cli, "explain")) {
    tesela_plan_explain(plan, &cli_stdout, NULL);
  } else {
    tesela_plan_print(plan, &cli_stdout, NULL);
    putchar('\n');
  }
  tesela_plan_destroy(plan);
  return CLI_YES;
}
