/* SPDX-License-Identifier: Apache-2.0 */
/* graph_input.c - programs from files: HLO text, or JSON. */
#include "graph/graph_input.h"

#include <stdlib.h>
#include <string.h>

#include "device.h"
#include <tesela/ops.h>
#include "main/say.h"
#include "main/text_file.h"

enum { GRAPH_FILE_LIMIT = 256 << 20 };

static int read_json(const cli_context *cli, const char *path, const char *text, size_t length,
                     graph_input *in) {
  tesela_error err = {.at = -1};
  tesela_target own;
  const tesela_target *named;
  int status = CLI_BAD;
  if (!device_target(cli, &own, &named, &status)) return status;
  if (tesela_graph_read_json(&in->graph, &in->target, text, length, &err) != TESELA_OK)
    return text_file_fail(cli, path, text, length, &err);
  if (named) in->target = *named;
  return CLI_YES;
}

int graph_input_read(const cli_context *cli, const char *path, graph_input *in) {
  size_t length, at = 0;
  int status;
  tesela_target own;
  const tesela_target *target;
  tesela_error err = {.at = -1};
  memset(in, 0, sizeof *in);
  char *text = text_file_read(cli, path, GRAPH_FILE_LIMIT, &length, &status);
  if (!text) return status;
  while (at < length && text[at] && strchr(" \t\r\n", text[at])) at++;
  if (at < length && text[at] == '{') {
    status = read_json(cli, path, text, length, in);
  } else if (device_target(cli, &own, &target, &status)) {
    in->target = target ? *target : *tesela_target_find("spyre");
    tesela_status read = tesela_graph_read_hlo(&in->graph, text, length, &in->target, NULL, &in->facts, &err);
    status = read == TESELA_OK ? CLI_YES : text_file_fail(cli, path, text, length, &err);
  }
  free(text);
  return status;
}
