/* SPDX-License-Identifier: Apache-2.0 */
/*
 * cmd_digest.c - the verb digest: a fingerprint of the values of each tensor, whatever its layout.
 */
#include <stdio.h>

#include "main/json.h"
#include "tensor_file.h"
#include "tensor_native.h"
#include "tensor_signals.h"

/* Names come from the file: control characters are escaped, nothing is cut. */
static void print_line(const char *hex, const char *path, const char *name) {
  printf("%s  %s%s", hex, path, name ? ":" : "");
  for (; name && *name; name++) {
    unsigned char c = (unsigned char)*name;
    if (c < 0x20 || c == 0x7f)
      printf("\\x%02x", c);
    else
      putchar(c);
  }
  putchar('\n');
}

/* `entry` NULL: the tensor that `says` names, or the only one. */
static int digest_tensor(const cli_context *cli, const char *path, const tensor_file *file,
                         const tesela_file_tensor *entry, const tensor_says *says) {
  tensor_native t;
  tesela_target own;
  tesela_error err;
  char hex[33];
  int status;
  tensor_reading r = tensor_said(cli, &own, &err, &status);
  if (status != CLI_YES) return status;
  tesela_status done = tensor_native_read(&r, file, entry, says, &t);
  if (done == TESELA_OK) {
    done = tensor_digest(&r, file, &t, hex);
    if (done == TESELA_OK) print_line(hex, path, entry ? entry->name : NULL);
    tensor_native_free(&t);
  }
  return tensor_say(cli, &r, says->layout, done);
}

static int digest_file(const cli_context *cli, const char *path, const tensor_says *says) {
  tensor_file *file;
  int status = tensor_file_open(cli, path, &file);
  if (status != CLI_YES) return status;
  if (!tensor_goes_through(file, says)) status = digest_tensor(cli, path, file, NULL, says);
  for (int64_t i = 0; tensor_goes_through(file, says) && i < file->info.n_tensors && !ferror(stdout); i++) {
    int one = digest_tensor(cli, path, file, &file->info.tensor[i], says);
    if (one > status) status = one;
  }
  tensor_file_close(file);
  return status;
}

static int answer(const cli_context *cli, const char *path) {
  tesela_value field[TESELA_OP_FIELDS] = {tesela_value_of_text("file", path)};
  size_t n = 1;
  tensor_catch_shrinking();
  return json_fields(cli, "digest", field, &n) ? json_verb(cli, n, field, NULL) : CLI_BAD;
}

int cmd_digest(const cli_context *cli) {
  tensor_says says = {cli_value(cli, "layout"), cli_value(cli, "dtype"), cli_value(cli, "tensor"), "layout"};
  int status = CLI_YES;
  for (int i = 0; i < cli->n_args && !ferror(stdout); i++) {
    int one = cli->json ? answer(cli, cli->arg[i]) : digest_file(cli, cli->arg[i], &says);
    if (one > status) status = one; /* the others are printed all the same */
  }
  return status;
}
