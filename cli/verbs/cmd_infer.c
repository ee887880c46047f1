/* SPDX-License-Identifier: Apache-2.0 */
/*
 * cmd_infer.c - the verb infer: layouts for all tensors of a kernel program.
 */
#include <stdlib.h>

#include "main/say.h"
#include "main/text_file.h"
#include "main/tile_input.h"

enum { PROGRAM_LIMIT = 1 << 20 }; /* bytes that are read; the library's own limit is lower */

static int infer_print(const cli_context *cli, tesela_kernel_program *program, const char *text,
                       size_t length) {
  tesela_error err = {.at = -1};
  tesela_status status = tesela_kernel_program_infer(program, &err);
  if (status == TESELA_E_MEMORY) return say_failure(cli, &err);
  tesela_kernel_program_print(program, &cli_stdout, NULL);
  if (status == TESELA_OK) return CLI_YES;
  cli_flush();
  int exit_status = say_failure_in(cli, text, length, &err);
  return tesela_kernel_program_conflict(program)->found ? CLI_NO : exit_status;
}

int cmd_infer(const cli_context *cli) {
  size_t length;
  int status;
  tesela_error err = {.at = -1};
  tesela_kernel_program *program = NULL;
  char *text = text_file_read(cli, cli->arg[0], PROGRAM_LIMIT, &length, &status);
  if (!text) return status;
  const tesela_value field = {.name = "program", .kind = TESELA_VALUE_TEXT, .n = length, .as.text = text};
  if (cli->json)
    status = json_verb(cli, 1, &field, "consistent");
  else if (tesela_kernel_program_create(&program, text, length, NULL, &err) == TESELA_OK)
    status = infer_print(cli, program, text, length);
  else
    status = say_failure_in(cli, text, length, &err);
  tesela_kernel_program_destroy(program);
  free(text);
  return status;
}
