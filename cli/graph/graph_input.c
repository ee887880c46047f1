/* SPDX-License-Identifier: Apache-2.0 */
/* graph_input.c - programs from files: HLO text, or JSON. */
#include "graph/graph_input.h"

#include <stdlib.h>
#include <string.h>

#include "device.h"
#include "graph_json.h"
#include "main/say.h"
#include "main/text_file.h"

enum { GRAPH_FILE_LIMIT = 256 << 20 };

static int read_json(const cli_context *cli, const char *path, const char *text, size_t length,
                     graph_input *in) {
  tesela_json_in doc;
  tesela_error err = {.at = -1}, bad;
  tesela_target own;
  const tesela_target *named;
  int status = CLI_BAD;
  if (tesela_json_read(&doc, text, length, &bad) != TESELA_OK) {
    err = (tesela_error){.status = bad.status, .at = bad.at};
    bool memory = bad.status == TESELA_E_MEMORY;
    snprintf(err.message, sizeof err.message, "%s%.160s",
             memory ? "" : "this is not JSON that can be read: ", bad.message);
    return text_file_fail(cli, path, text, length, &err);
  }
  jr_object object = {doc.value, "the program", &err, NULL};
  bool ok = device_target(cli, &own, &named, &status);
  if (ok && !(ok = graph_json_read(&object, NULL, &in->graph, &in->target)))
    status = text_file_fail(cli, path, text, length, &err);
  if (ok && named) in->target = *named;
  tesela_json_free(&doc);
  return ok ? CLI_YES : status;
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
