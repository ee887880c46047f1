/* SPDX-License-Identifier: Apache-2.0 */
/*
 * cmd_infer.c - the verb infer: layouts for all tensors of a kernel program.
 */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "main/say.h"
#include "main/text_file.h"
#include "tile_input.h"
#include "tile_json.h"

enum { PROGRAM_LIMIT = 1 << 20 }; /* bytes that are read; the library's own limit is lower */

static int infer_json(const tesela_kernel_program *program) {
  tesela_json_out j = TESELA_JSON_OUT;
  tesela_put_object(&j.sink);
  tile_json_program(&j.sink, program);
  return tile_print_json(&j);
}

/* An error in a program, with the text of its line; the message has the number. */
static int infer_fail(const cli_context *cli, const char *text, size_t length, const tesela_error *err) {
  if (err->at < 0 || (size_t)err->at > length) return say_failure(cli, err);
  size_t begin = (size_t)err->at, end = (size_t)err->at;
  while (begin > 0 && text[begin - 1] != '\n') begin--;
  while (end < length && text[end] != '\n') end++;
  tesela_error here = *err;
  here.at = err->at - (int64_t)begin;
  return say_failure_in(cli, text + begin, end - begin, &here);
}

static int infer_run(const cli_context *cli, tesela_kernel_program *program, const char *text,
                     size_t length) {
  tesela_error err = {.at = -1};
  tesela_writer to = tile_stdout();
  tesela_status status = tesela_kernel_program_infer(program, &err);
  bool conflict = tesela_kernel_program_conflict(program)->found;
  int printed = CLI_YES;
  if (status == TESELA_E_MEMORY) return say_failure(cli, &err);
  if (!cli->json)
    tesela_kernel_program_print(program, &to, NULL);
  else if (status == TESELA_OK || conflict)
    printed = infer_json(program);
  if (status == TESELA_OK || printed != CLI_YES) return printed;
  cli_flush();
  int exit_status = infer_fail(cli, text, length, &err);
  return conflict ? CLI_NO : exit_status;
}

int cmd_infer(const cli_context *cli) {
  size_t length;
  int status;
  tesela_error err = {.at = -1};
  tesela_kernel_program *program = NULL;
  char *text = text_file_read(cli, cli->arg[0], PROGRAM_LIMIT, &length, &status);
  if (!text) return status;
  if (tesela_kernel_program_create(&program, text, length, NULL, &err) == TESELA_OK)
    status = infer_run(cli, program, text, length);
  else
    status = infer_fail(cli, text, length, &err);
  tesela_kernel_program_destroy(program);
  free(text);
  return status;
}
