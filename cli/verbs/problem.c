/* SPDX-License-Identifier: Apache-2.0 */
/*
 * problem.c - a relayout problem in one line, and its options.
 */
#include "verbs/problem.h"

#include <stdio.h>
#include <string.h>

#include "main/input.h"
#include "main/json.h"
#include "main/say.h"

static bool read_line(const cli_context *cli, const char *line, problem *p, int *status) {
  tesela_target own;
  tesela_layout_read_options options;
  problem_notes notes;
  tesela_error err;
  if (!input_options(cli, &own, &options, status)) return false;
  const tesela_status done = problem_read_line(line, strlen(line), &options, p, &notes, &err);
  input_repairs(cli, &notes.from);
  input_repairs(cli, &notes.to);
  if (done == TESELA_OK) return true;
  *status = say_failure_in(cli, line, strlen(line), &err);
  if (notes.side) fprintf(stderr, "The error is %s of the arrow.\n", notes.side);
  return false;
}

bool problem_ask(const cli_context *cli, problem_request *ask, int *status) {
  tesela_plan_options unused;
  *ask = (problem_request){.n = 0};
  if (!read_line(cli, cli->arg[0], &ask->p, status)) return false;
  *status = CLI_BAD;
  ask->field[ask->n++] = tesela_value_of_text("problem", cli->arg[0]);
  if (!json_fields(cli, cli->verb->name, ask->field, &ask->n)) return false;
  if (strcmp(cli->verb->name, "plan") == 0 && !problem_say_fill(cli, &ask->p.to.layout, &unused))
    return false;
  *status = json_begin(cli, ask->n, ask->field, &ask->ask);
  return *status == CLI_YES;
}

bool problem_say_fill(const cli_context *cli, const tesela_layout *to, tesela_plan_options *options) {
  const char *text = cli_value(cli, "fill");
  tesela_error err;
  char quote[SAY_QUOTE];
  if (problem_fill(text, to, options, &err) == TESELA_OK) return true;
  say_usage(cli, "--fill is %s; expected zero, leave, or an element (%s)", say_quote(text, quote),
            err.message);
  return false;
}
