/* SPDX-License-Identifier: Apache-2.0 */
/*
 * cmd_convert.c - the verb convert: converts one register layout to another; prints a plan or CUDA.
 */
#include <inttypes.h>
#include <string.h>

#include "main/say.h"
#include "main/tile_input.h"

static int convert_print(const cli_context *cli, const tesela_exchange *plan) {
  tesela_error err = {.at = -1};
  const char *cuda = cli_value(cli, "cuda");
  if (cuda) { /* refuse what CUDA cannot express before anything is written */
    tesela_buffer none = {NULL, 0, 0};
    tesela_writer nowhere = tesela_buffer_writer(&none);
    if (tesela_codegen_exchange_cuda(plan, cuda, &nowhere, &err) != TESELA_OK) {
      char quote[SAY_QUOTE];
      say_error(cli, "--cuda=%s: %s", say_quote(cuda, quote), err.message);
      return say_exit(err.status);
    }
  }
  if (cuda)
    tesela_codegen_exchange_cuda(plan, cuda, &cli_stdout, NULL);
  else
    tesela_exchange_print(plan, &cli_stdout, NULL);
  return CLI_YES;
}

int cmd_convert(const cli_context *cli) {
  tesela_register src, dst;
  tile_type type = {.bits = 0};
  tesela_exchange *plan;
  tesela_error err = {.at = -1};
  int32_t bits;
  int64_t warp, max_steps;
  int status;
  if (!tile_input_register(cli, cli->arg[0], "from", &src, &type, &status)) return status;
  if (!tile_input_register(cli, cli->arg[1], "to", &dst, &type, &status)) return status;
  if (!tile_input_dtype(cli, &type, &bits) || !cli_integer(cli, "warp", 1, TESELA_ACCESS_WARP, 0, &warp) ||
      !cli_integer(cli, "max-steps", 1, INT64_MAX, 0, &max_steps))
    return CLI_BAD;
  if (cli->json) {
    const tesela_value fields[] = {tesela_value_of_text("from", cli->arg[0]),
                                   tesela_value_of_text("to", cli->arg[1])};
    return tile_answer(cli, &type, sizeof fields / sizeof fields[0], fields);
  }
  const char *through = cli_value(cli, "through");
  tesela_exchange_options options = {.warp = (int32_t)warp,
                                     .no_shuffle = through && strcmp(through, "shared") == 0,
                                     .no_shared = through && strcmp(through, "shuffle") == 0,
                                     .max_steps = max_steps};
  if (tesela_exchange_create(&plan, &dst, &src, bits, &options, NULL, &err) != TESELA_OK)
    return say_failure(cli, &err);
  status = convert_print(cli, plan);
  tesela_exchange_destroy(plan);
  return status;
}
