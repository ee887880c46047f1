/* SPDX-License-Identifier: Apache-2.0 */
/*
 * cmd_version.c - the verb version.
 */
#include "main/json.h"

int cmd_version(const cli_context *cli) {
  if (cli->json) return json_verb(cli, 0, NULL, NULL);
  printf("tesela %s\n", tesela_version());
  return CLI_YES;
}
