/* SPDX-License-Identifier: Apache-2.0 */
/*
 * cmd_pack.c - the verb pack: tensors in the layouts of a device, with those layouts recorded in the file.
 */
#include <stdlib.h>

#include "main/say.h"
#include "verbs/tensor_verb.h"

int cmd_pack(const cli_context *cli) {
  const size_t n = (size_t)cli->n_args - 1;
  tesela_value *rule = calloc(n + 1, sizeof *rule), rules = tesela_value_of_list("rules", n, rule);
  if (!rule) {
    say_error(cli, "no memory");
    return CLI_FAILED;
  }
  for (size_t i = 0; i < n; i++) rule[i] = tesela_value_of_text(NULL, cli->arg[i + 1]);
  const int status = tensor_verb(cli, 1, &rules);
  free(rule);
  return status;
}
