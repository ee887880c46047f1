/* SPDX-License-Identifier: Apache-2.0 */
/*
 * cmd_version.c - the verb version.
 */
#include "tile_input.h"

int cmd_version(const cli_context *cli) {
  if (!cli->json) {
    printf("tesela %s\n", tesela_version());
    return CLI_YES;
  }
  tesela_json_out j = TESELA_JSON_OUT;
  tesela_put_object(&j.sink);
  tesela_put_key_text(&j.sink, "version", tesela_version());
  return tile_print_json(&j);
}
