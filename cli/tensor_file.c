/* SPDX-License-Identifier: Apache-2.0 */
/*
 * tensor_file.c - tensors in files, for reading.
 */
#include "tensor_file.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "main/input.h"
#include "main/say.h"
#include "tensor_signals.h"

int tensor_file_open(const cli_context *cli, const char *path, tensor_file **file) {
  tesela_file_options options = {0};
  tensor_file *made = calloc(1, sizeof *made);
  tesela_error err;
  *file = NULL;
  if (!made) {
    say_error(cli, "no memory");
    return CLI_FAILED;
  }
  made->name = strcmp(path, "-") == 0 ? "standard input" : path;
  int status = cli_size(cli, "max-header", 0, &options.max_header) ? CLI_YES : CLI_BAD;
  tensor_catch_shrinking();
  if (status == CLI_YES && tesela_file_open(&made->file, path, &options, &err) != TESELA_OK)
    status = say_file(cli, made->name, &err);
  if (status != CLI_YES) {
    free(made);
    return status;
  }
  tesela_file_describe(made->file, &made->info);
  if (made->info.bytes_after > 0)
    say_note(cli, "%" PRId64 " bytes behind the array are not read", made->info.bytes_after);
  *file = made;
  return CLI_YES;
}

void tensor_file_close(tensor_file *file) {
  if (!file) return;
  tesela_file_close(file->file);
  free(file);
}

/* ---- what the operations share, said to people ----------------------------------------------------------- */

tensor_reading tensor_said(const cli_context *cli, tesela_target *own, tesela_error *err, int *status) {
  tensor_reading r = {.dash = "--", .err = err};
  *status = CLI_YES;
  input_options(cli, own, &r.options, status);
  return r;
}

int tensor_say(const cli_context *cli, const tensor_reading *r, const char *layout, tesela_status status) {
  if (status == TESELA_OK) input_repairs(cli, &r->repairs);
  if (status == TESELA_OK) return CLI_YES;
  if (r->text && r->text == layout) return input_refuse(cli, layout, strlen(layout), &r->options, r->err);
  if (r->text) return say_failure_in(cli, r->text, strlen(r->text), r->err);
  return r->usage ? say_usage(cli, "%s", r->err->message) : say_failure(cli, r->err);
}
