/* SPDX-License-Identifier: Apache-2.0 */
/*
 * target_input.c - the option --target: the name of a built-in target, or a file that describes one.
 */
#include "main/device.h"

#include <stdlib.h>
#include <string.h>

#include "main/say.h"
#include "main/text_file.h"

enum { TARGET_LIMIT = 1 << 20 }; /* bytes of a target file */

static void list_targets(void) {
  const tesela_target *target;
  fputs("The built-in targets:", stderr);
  for (int32_t i = 0; (target = tesela_target_at(i)) != NULL; i++) fprintf(stderr, " %s", target->name);
  fputc('\n', stderr);
}

bool device_target(const cli_context *cli, tesela_target *own, const tesela_target **target, int *status) {
  const char *name = cli_value(cli, "target");
  *target = name ? tesela_target_find(name) : NULL;
  if (!name || *target) return true;
  size_t length;
  tesela_error err = {.at = -1};
  char *text = text_file_read(cli, name, TARGET_LIMIT, &length, status);
  if (!text && !strpbrk(name, "./")) list_targets();
  if (!text) return false;
  bool done = tesela_target_read(own, text, length, &err) == TESELA_OK;
  if (done)
    *target = own;
  else
    *status = text_file_fail(cli, name, text, length, &err);
  free(text);
  return done;
}
