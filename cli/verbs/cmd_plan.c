/* SPDX-License-Identifier: Apache-2.0 */
/*
 * cmd_plan.c - the verb plan: how a problem would be copied, and why so.
 */
#include <inttypes.h>
#include <string.h>

#include "main/json.h"
#include "verbs/problem.h"
#include "main/say.h"

static int write_stdout(void *user, const char *text, size_t length) {
  (void)user;
  return fwrite(text, 1, length, stdout) != length;
}

static void put_text(tesela_sink *j, const char *name, const tesela_plan *plan,
                     tesela_status (*print)(const tesela_plan *plan, const tesela_writer *to,
                                            tesela_error *err)) {
  tesela_put_key(j, name);
  tesela_writer to = tesela_put_text_begin(j);
  print(plan, &to, NULL);
  tesela_put_text_end(j);
}

static int print_json(const problem *p, const tesela_plan *plan) {
  tesela_json_out j = TESELA_JSON_OUT;
  tesela_plan_info info;
  tesela_plan_describe(plan, &info);
  tesela_put_object(&j.sink);
  tesela_put_key(&j.sink, "problem");
  tesela_writer to = tesela_put_text_begin(&j.sink);
  problem_print(p, &to);
  tesela_put_text_end(&j.sink);
  put_text(&j.sink, "plan", plan, tesela_plan_print);
  put_text(&j.sink, "explain", plan, tesela_plan_explain);
  tesela_put_key_int(&j.sink, "bytes_read", info.bytes_read);
  tesela_put_key_int(&j.sink, "bytes_written", info.bytes_written);
  tesela_put_key_int(&j.sink, "scratch_bytes", info.scratch_bytes);
  tesela_put_key_int(&j.sink, "src_bytes", info.src_bytes);
  tesela_put_key_int(&j.sink, "dst_bytes", info.dst_bytes);
  tesela_put_key_bool(&j.sink, "in_place", info.in_place);
  tesela_put_key_int(&j.sink, "in_place_scratch_bytes", info.in_place_scratch_bytes);
  tesela_put_key_int(&j.sink, "threads", info.threads);
  tesela_put_key_int(&j.sink, "pieces", info.n_pieces);
  tesela_put_key_int(&j.sink, "fills", info.n_fills);
  tesela_put_key_text(&j.sink, "solver", tesela_solver_name(info.solver));
  tesela_put_key_text(&j.sink, "isa", tesela_isa_name(info.isa));
  tesela_put_end(&j.sink);
  bool done = json_line(&j, stdout) || ferror(stdout);
  tesela_json_out_free(&j);
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
