/* SPDX-License-Identifier: Apache-2.0 */
/* graph_input.c - programs from files: HLO text, or JSON. */
#include "graph/graph_input.h"

#include <stdlib.h>

#include "device.h"
#include "main/text_file.h"

enum { GRAPH_FILE_LIMIT = 256 << 20 };

char *graph_input_text(const cli_context *cli, const char *path, size_t *length, int *status) {
  return text_file_read(cli, path, GRAPH_FILE_LIMIT, length, status);
}

int graph_input_read(const cli_context *cli, const char *path, graph_work *work) {
  size_t length;
  int status = CLI_BAD;
  tesela_target own;
  const tesela_target *target;
  tesela_error err = {.at = -1};
  char *text = graph_input_text(cli, path, &length, &status);
  if (text && device_target(cli, &own, &target, &status))
    status = graph_work_read(work, text, length, target, NULL, &err) == TESELA_OK
                 ? CLI_YES
                 : text_file_fail(cli, path, text, length, &err);
  free(text);
  return status;
}
