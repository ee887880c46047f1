/* SPDX-License-Identifier: Apache-2.0 */
/*
 * cmd_relayout.c - the verb relayout: a tensor of a file in another layout.
 */
#include "main/say.h"
#include "verbs/tensor_verb.h"

int cmd_relayout(const cli_context *cli) {
  if (!cli_has(cli, "to"))
    return say_usage(cli, "missing option --to: the layout to write, such as --to '{1,0:T(8,128)}'");
  return tensor_verb(cli, 0, NULL, NULL);
}
