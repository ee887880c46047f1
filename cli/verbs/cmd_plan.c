/* SPDX-License-Identifier: Apache-2.0 */
/*
 * cmd_plan.c - the verb plan: how a problem would be copied, and why so.
 */
#include <stdio.h>

#include "main/json.h"
#include "main/say.h"
#include "verbs/problem.h"

static int write_stdout(void *user, const char *text, size_t length) {
  (void)user;
  return fwrite(text, 1, length, stdout) != length;
}

int cmd_plan(const cli_context *cli) {
  problem_request ask;
  tesela_plan_options options;
  tesela_plan *plan;
  tesela_writer to = {write_stdout, NULL};
  int status;
  if (!problem_ask(cli, &ask, &status)) return status;
  if (cli->json) return json_verb(cli, ask.n, ask.field, NULL);
  if (problem_options(&ask.ask.r, &ask.p, &options) != TESELA_OK) return say_failure(cli, &ask.ask.err);
  if (!problem_say_fill(cli, &ask.p.to.layout, &options)) return CLI_BAD;
  if (tesela_plan_create(&plan, &ask.p.to.layout, &ask.p.from.layout, &options, &ask.ask.err) != TESELA_OK)
    return say_failure(cli, &ask.ask.err);
  if (cli_has(cli, "explain")) {
    tesela_plan_explain(plan, &to, NULL);
  } else {
    tesela_plan_print(plan, &to, NULL);
    putchar('\n');
  }
  tesela_plan_destroy(plan);
  return CLI_YES;
}
