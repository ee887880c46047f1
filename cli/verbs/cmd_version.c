/* SPDX-License-Identifier: Apache-2.0 */
/*
 * cmd_version.c - the verb version.
 */
#include <tesela/base.h>

#include "json.h"
#include "main/options.h"

int cmd_version(const cli_context *cli) {
  if (!cli->json) {
    printf("tesela %s\n", tesela_version());
    return CLI_YES;
  }
  json_writer j = {0};
  jw_object(&j);
  jw_put_str(&j, "version", tesela_version());
  jw_end(&j);
  bool done = jw_line(&j, stdout);
  jw_free(&j);
  return done ? CLI_YES : CLI_FAILED;
}
