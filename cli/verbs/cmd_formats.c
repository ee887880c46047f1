/* SPDX-License-Identifier: Apache-2.0 */
/*
 * cmd_formats.c - the verb formats: the formats of XLA's tiled-layout document, fragments
 * (formats_fragments.c), the functions of expressions (formats_functions.c), rules of operators (formats_rules.c).
 */
#include <string.h>
#include <tesela/xla.h>

#include "verbs/formats.h"
#include "main/say.h"
#include "main/tile_input.h"

static int print_json(const tesela_xla_format *format, int32_t n) {
  tesela_json_out j = TESELA_JSON_OUT;
  tesela_put_list(&j.sink);
  for (int32_t i = 0; i < n; i++) {
    tesela_put_object(&j.sink);
    tesela_put_key_text(&j.sink, "name", format[i].name);
    tesela_put_key_text(&j.sink, "example", format[i].example);
    tesela_put_key_text(&j.sink, "tiles", format[i].tiles);
    tesela_put_key_text(&j.sink, "use", format[i].use);
    tesela_put_end(&j.sink);
  }
  return tile_print_json(&j);
}

static int width(int before, const char *text) {
  int length = (int)strlen(text);
  return length > before ? length : before;
}

int cmd_formats(const cli_context *cli) {
  int32_t n;
  if (cli_has(cli, "target") && !cli_has(cli, "rules")) return say_usage(cli, "--target requires --rules");
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
