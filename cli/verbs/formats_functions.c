/* SPDX-License-Identifier: Apache-2.0 */
/*
 * formats_functions.c - the functions of the expression language as a table, and as JSON.
 */
#include <string.h>
#include <tesela/notation.h>

#include "verbs/formats.h"
#include "main/tile_input.h"

static int functions_json(const tesela_expression_function *function, int32_t n) {
  tesela_json_out j = TESELA_JSON_OUT;
  tesela_put_list(&j.sink);
  for (int32_t i = 0; i < n; i++) {
    tesela_put_object(&j.sink);
    tesela_put_key_text(&j.sink, "name", function[i].name);
    tesela_put_key_text(&j.sink, "arguments", function[i].arguments);
    tesela_put_key_text(&j.sink, "summary", function[i].summary);
    tesela_put_end(&j.sink);
  }
  return tile_print_json(&j);
}

int formats_functions(const cli_context *cli) {
  int32_t n;
  int width = 0;
  const tesela_expression_function *function = tesela_expression_functions(&n);
  if (cli->json) return functions_json(function, n);
  for (int32_t i = 0; i < n; i++) {
    int length = (int)(strlen(function[i].name) + strlen(function[i].arguments)) + 2;
    width = length > width ? length : width;
  }
  for (int32_t i = 0; i < n; i++) {
    int used = printf("%s(%s)", function[i].name, function[i].arguments);
    printf("%*s%s\n", width - used + 2, "", function[i].summary);
  }
  return CLI_YES;
}
