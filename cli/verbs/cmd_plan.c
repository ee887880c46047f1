/* SPDX-License-Identifier: Apache-2.0 */
/*
 * cmd_plan.c - the verb plan: how a problem would be copied, and why so.
 */
#include <inttypes.h>
#include <string.h>

#include "json.h"
#include "verbs/problem.h"
#include "main/say.h"

static int write_stdout(void *user, const char *text, size_t length) {
  (void)user;
  return fwrite(text, 1, length, stdout) != length;
}

static void put_text(json_writer *j, const char *name, const tesela_plan *plan,
                     tesela_status (*print)(const tesela_plan *plan, const tesela_writer *to,
                                            tesela_error *err)) {
  jw_key(j, name);
  tesela_writer to = jw_text_begin(j);
  print(plan, &to, NULL);
  jw_text_end(j);
}

static int print_json(const problem *p, const tesela_plan *plan) {
  json_writer j = {0};
  tesela_plan_info info;
  tesela_plan_describe(plan, &info);
  jw_object(&j);
  jw_key(&j, "problem");
  tesela_writer to = jw_text_begin(&j);
  problem_print(p, &to);
  jw_text_end(&j);
  put_text(&j, "plan", plan, tesela_plan_print);
  put_text(&j, "explain", plan, tesela_plan_explain);
  jw_put_int(&j, "bytes_read", info.bytes_read);
  jw_put_int(&j, "bytes_written", info.bytes_written);
  jw_put_int(&j, "scratch_bytes", info.scratch_bytes);
  jw_put_int(&j, "src_bytes", info.src_bytes);
  jw_put_int(&j, "dst_bytes", info.dst_bytes);
  jw_put_bool(&j, "in_place", info.in_place);
  jw_put_int(&j, "in_place_scratch_bytes", info.in_place_scratch_bytes);
  jw_put_int(&j, "threads", info.threads);
  jw_put_int(&j, "pieces", info.n_pieces);
  jw_put_int(&j, "fills", info.n_fills);
  jw_put_str(&j, "solver", tesela_solver_name(info.solver));
  jw_put_str(&j, "isa", tesela_isa_name(info.isa));
  jw_end(&j);
  bool done = jw_line(&j, stdout) || ferror(stdout);
  jw_free(&j);
  return done ? CLI_YES : CLI_FAILED;
}

int cmd_plan(const cli_context *cli) {
  problem p;
  tesela_plan_options options;
  tesela_plan *plan;
  tesela_error err = {.at = -1};
  tesela_writer to = {write_stdout, NULL};
  int status = CLI_YES;
  if (!problem_read(cli, cli->arg[0], &p, &status)) return status;
  if (!problem_options(cli, &p, &options) ||
      !problem_fill(cli, cli_value(cli, "fill"), &p.to.layout, &options))
    return CLI_BAD;
  const char *effort = cli_value(cli, "effort");
  if (effort && strcmp(effort, "measure") == 0) options.effort = TESELA_EFFORT_MEASURE;
  if (tesela_plan_create(&plan, &p.to.layout, &p.from.layout, &options, &err) != TESELA_OK)
    return say_failure(cli, &err);
  if (cli->json) {
    status = print_json(&p, plan);
  } else if (cli_has(cli, "explain")) {
    tesela_plan_explain(plan, &to, NULL);
  } else {
    tesela_plan_print(plan, &to, NULL);
    putchar('\n');
  }
  tesela_plan_destroy(plan);
  return status;
}
