/* SPDX-License-Identifier: Apache-2.0 */
/*
 * cmd_digest.c - the verb digest: a fingerprint of the values of each tensor, whatever its layout.
 */
#include <string.h>
#include <tesela/relayout.h>

#include "main/json.h"
#include "main/say.h"
#include "tensor_native.h"

static bool print_json(const char *path, const char *hex, const tensor *t) {
  tesela_json_out j = TESELA_JSON_OUT;
  tesela_put_object(&j.sink);
  tesela_put_key_text(&j.sink, "file", path);
  if (*t->entry->name) tesela_put_key_text(&j.sink, "tensor", t->entry->name);
  tesela_put_key_text(&j.sink, "digest", hex);
  tesela_put_key(&j.sink, "layout");
  tesela_writer to = tesela_put_text_begin(&j.sink);
  tesela_xla_print(&t->shape, true, &to, NULL);
  tesela_put_text_end(&j.sink);
  tesela_put_end(&j.sink);
  bool done = json_line(&j, stdout) || ferror(stdout);
  tesela_json_out_free(&j);
  return done;
}

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
  tesela_error err = {.at = -1};
  uint8_t digest[16];
  char hex[33];
  int status = tensor_native_read(cli, file, entry, says, &t);
  if (status != CLI_YES) return status;
  if (tesela_values_digest(&t.tensor.layout, t.data, digest, &err) != TESELA_OK) {
    status = tensor_file_wrong(cli, file->name, "%s", err.message);
  } else {
    for (int i = 0; i < 16; i++) snprintf(hex + 2 * i, 3, "%02x", digest[i]);
    if (cli->json)
      status = print_json(path, hex, &t.tensor) ? CLI_YES : CLI_FAILED;
    else
      print_line(hex, path, entry ? entry->name : NULL);
  }
  tensor_native_free(&t);
  return status;
}

static int digest_file(const cli_context *cli, const char *path, const tensor_says *says) {
  tensor_file *file;
  int status = tensor_file_open(cli, path, &file);
  if (status != CLI_YES) return status;
  if (!tensor_native_goes_through(file, says)) status = digest_tensor(cli, path, file, NULL, says);
  for (int64_t i = 0; tensor_native_goes_through(file, says) && i < file->info.n_tensors && !ferror(stdout);
       i++) {
    int one = digest_tensor(cli, path, file, &file->info.tensor[i], says);
    if (one > status) status = one;
  }
  tensor_file_close(file);
  return status;
}

int cmd_digest(const cli_context *cli) {
  tensor_says says = {cli_value(cli, "layout"), cli_value(cli, "dtype"), cli_value(cli, "tensor"),
                      "--layout"};
  int status = CLI_YES;
  for (int i = 0; i < cli->n_args && !ferror(stdout); i++) {
    int one = digest_file(cli, cli->arg[i], &says);
    if (one > status) status = one; /* the others are printed all the same */
  }
  return status;
}
