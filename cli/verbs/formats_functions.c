/* SPDX-License-Identifier: Apache-2.0 */
/*
 * formats_functions.c - the functions of the expression language as a table, and as JSON.
 */
#include <string.h>
#include <tesela/notation.h>

#include "verbs/formats.h"
#include "json.h"

static int functions_json(const tesela_expression_function *function, int32_t n) {
  json_writer j = {0};
  jw_list(&j);
  for (int32_t i = 0; i < n; i++) {
    jw_object(&j);
    jw_put_str(&j, "name", function[i].name);
    jw_put_str(&j, "arguments", function[i].arguments);
    jw_put_str(&j, "summary", function[i].summary);
    jw_end(&j);
  }
  jw_end(&j);
  bool done = jw_line(&j, stdout) || ferror(stdout);
  jw_free(&j);
  return done ? CLI_YES : CLI_FAILED;
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
