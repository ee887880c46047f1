/* SPDX-License-Identifier: Apache-2.0 */
/*
 * cmd_formats.c - the verb formats: the formats of XLA's tiled-layout document, fragments
 * (formats_fragments.c), the functions of expressions (formats_functions.c), rules of operators (formats_rules.c).
 */
#include <inttypes.h>
#include <string.h>
#include <tesela/xla.h>

#include "verbs/formats.h"
#include "json.h"

static int print_json(const tesela_xla_format *format, int32_t n) {
  json_writer j = {0};
  jw_list(&j);
  for (int32_t i = 0; i < n; i++) {
    jw_object(&j);
    jw_put_str(&j, "name", format[i].name);
    jw_put_str(&j, "example", format[i].example);
    jw_put_str(&j, "tiles", format[i].tiles);
    jw_put_str(&j, "use", format[i].use);
    jw_end(&j);
  }
  jw_end(&j);
  bool done = jw_line(&j, stdout) || ferror(stdout);
  jw_free(&j);
  return done ? CLI_YES : CLI_FAILED;
}

static int width(int before, const char *text) {
  int length = (int)strlen(text);
  return length > before ? length : before;
}

int cmd_formats(const cli_context *cli) {
  int32_t n;
  if (cli_has(cli, "fragments")) return formats_fragments(cli);
  if (cli_has(cli, "functions")) return formats_functions(cli);
  if (cli_has(cli, "rules")) return formats_rules(cli);
  const tesela_xla_format *format = tesela_xla_formats(&n);
  if (cli->json) return print_json(format, n);
  int name = 0, example = 0;
  for (int32_t i = 0; i < n; i++) {
    name = width(name, format[i].name);
    example = width(example, format[i].example);
  }
  for (int32_t i = 0; i < n; i++)
    printf("%-*s  %-*s  %s\n", name, format[i].name, example, format[i].example, format[i].use);
  return CLI_YES;
}
