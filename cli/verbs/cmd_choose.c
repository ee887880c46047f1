/* SPDX-License-Identifier: Apache-2.0 */
/*
 * cmd_choose.c - the verb choose: the layout that a TPU's compiler gives an array.
 */
#include <stdio.h>
#include <string.h>

#include <tesela/xla.h>

#include "main/input.h"
#include "main/json.h"
#include "main/say.h"

static uint32_t choose_options(const cli_context *cli) {
  const char *target = cli_value(cli, "target");
  const bool early = target && (strcmp(target, "v2") == 0 || strcmp(target, "v3") == 0);
  return (early ? TESELA_XLA_CHOOSE_EARLY_TPU : 0) |
         (cli_has(cli, "inside") ? 0 : TESELA_XLA_CHOOSE_ARGUMENT) |
         (cli_has(cli, "keep-order") ? 0 : TESELA_XLA_CHOOSE_ORDER);
}

int cmd_choose(const cli_context *cli) {
  const char *text = cli->arg[0], *target = cli_value(cli, "target");
  tesela_xla_shape shape;
  tesela_error err = {.at = -1};
  int status = CLI_YES;
  if (!input_layout(cli, text, strlen(text), &shape, NULL, &status)) return status;
  if (cli->json) {
    const tesela_value fields[] = {tesela_value_of_text("shape", text),
                                   tesela_value_of_text("target", target ? target : "tpu"),
                                   tesela_value_of_bool("argument", !cli_has(cli, "inside")),
                                   tesela_value_of_bool("order", !cli_has(cli, "keep-order"))};
    return json_verb(cli, sizeof fields / sizeof fields[0], fields, NULL);
  }
  if (tesela_xla_choose(&shape, choose_options(cli), &err) != TESELA_OK) return say_failure(cli, &err);
  tesela_xla_print(&shape, true, &cli_stdout, NULL);
  putchar('\n');
  return CLI_YES;
}
