/* SPDX-License-Identifier: Apache-2.0 */
/*
 * cmd_digest.c - the verb digest: a fingerprint of the values of each tensor, whatever its layout.
 */
#include <stdio.h>

#include "main/json.h"
#include "tensor_native.h"
#include "verbs/tensor_signals.h"

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

/* `entry` NULL: the tensor named by the options, or the only one. */
static int digest_tensor(const cli_context *cli, json_request *ask, const tensor_file *file,
                         const tesela_file_tensor *entry, const tensor_says *says) {
  tensor_native t;
  char hex[33];
  tensor_reading r = tensor_request_reading(&ask->r);
  tesela_status done = tensor_native_read(&r, file, entry, says, &t);
  if (done == TESELA_OK) {
    done = tensor_digest(&r, file, &t, hex);
    if (done == TESELA_OK)
      print_line(hex, tesela_value_text(tesela_request_get(&ask->r, "file")), entry ? entry->name : NULL);
    tensor_native_free(&t);
  }
  return json_say(cli, ask, tensor_request_failed(&ask->r, &r, done));
}

static int digest_file(const cli_context *cli, json_request *ask) {
  const tensor_says says = {cli_value(cli, "layout"), cli_value(cli, "dtype"), cli_value(cli, "tensor"),
                            "layout"};
  tensor_file file;
  tesela_status done = tensor_request_open(&ask->r, "file", &file);
  if (done != TESELA_OK) return json_say(cli, ask, done);
  int status = CLI_YES;
  const bool all = tensor_goes_through(&file, &says);
  if (!all) status = digest_tensor(cli, ask, &file, NULL, &says);
  for (int64_t i = 0; all && i < file.info.n_tensors && !ferror(stdout); i++) {
    int one = digest_tensor(cli, ask, &file, &file.info.tensor[i], &says);
    if (one > status) status = one;
  }
  tensor_request_close(&file);
  return status;
}

static int digest(const cli_context *cli, const char *path) {
  tesela_value field[JSON_FIELDS] = {tesela_value_of_text("file", path)};
  size_t n = 1;
  if (!json_fields(cli, "digest", field, &n)) return CLI_BAD;
  if (cli->json) return json_verb(cli, n, field, NULL);
  json_request ask = {.member = NULL};
  int status = json_begin(cli, n, field, &ask);
  if (status == CLI_YES) status = digest_file(cli, &ask);
  tesela_request_free(&ask.r);
  return status;
}

int cmd_digest(const cli_context *cli) {
  int status = CLI_YES;
  tensor_catch_shrinking();
  for (int i = 0; i < cli->n_args && !ferror(stdout); i++) {
    int one = digest(cli, cli->arg[i]);
    if (one > status) status = one; /* continue with the other tensors */
  }
  return status;
}
