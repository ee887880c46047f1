/* SPDX-License-Identifier: Apache-2.0 */
/* graph_run.c - graph run: a program is run on tiled memory and on plain memory, what came out in words. */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "graph/graph_print.h"
#include "graph/graph_progress.h"
#include "graph_check.h"
#include "main/json.h"
#include "main/say.h"
#include "tile_input.h"

static void run_words(const graph_check *c) {
  char shape[GRAPH_SHAPE_TEXT], name[GRAPH_NAME_TEXT], digest[33];
  int wide = 24;
  for (int32_t o = 0; o < c->data.n_outputs; o++) {
    int length = (int)strlen(graph_name_text(graph_check_output(c, o)->name, name));
    wide = length > wide ? length : wide;
  }
  printf("%-*s  %-24s  %-32s  %s\n", wide, "output", "shape", "digest", "tiled and plain");
  for (int32_t o = 0; o < c->data.n_outputs; o++) {
    const tesela_node *node = graph_check_output(c, o);
    graph_check_digest(c, o, digest);
    printf("%-*s  %-24s  %-32s  %s\n", wide, graph_name_text(node->name, name), graph_shape_text(node, shape),
           digest, graph_check_same(c, o) ? "same bits" : "DIFFER");
  }
  printf("\n%" PRId64 " operators on tiled memory, %" PRId64 " elements, %" PRId64 " moved; arena %" PRId64
         " bytes; %" PRId64 " elements of padding were read\n",
         c->tiled.operators, c->tiled.elements, c->tiled.moved, c->tiled.arena_bytes, c->tiled.poison_read);
}

/* Both runs store elements as the device does: say so where that loses something. */
static void run_note(const cli_context *cli, const graph_check *c) {
  const tesela_node *node;
  for (int32_t k = 0; (node = tesela_graph_node(c->placed, k)); k++) {
    if (!node->layout || tesela_dtype_family_of(node->dtype) != TESELA_FAMILY_FLOAT) continue;
    tesela_dtype device = node->layout->host.device_dtype;
    if (device == node->dtype) continue;
    say_note(cli, "%s is stored as %s on %s, here on plain memory as well", tesela_dtype_name(node->dtype),
             tesela_dtype_name(device), c->target->name);
    return;
  }
}

/* A path that cannot be used is bad input. */
static int run_failure(const cli_context *cli, const tesela_error *err) {
  int status = say_failure(cli, err);
  return err->reason == TESELA_REASON_PATH ? CLI_BAD : status;
}

bool graph_file_option(const char *said, char name[TESELA_GRAPH_NAME]) {
  size_t length = strcspn(said, "=");
  if (said[length] != '=' || length == 0 || length >= TESELA_GRAPH_NAME || said[length + 1] == '\0')
    return false;
  memcpy(name, said, length);
  name[length] = '\0';
  return true;
}

/* NAME=FILE of --in and --out. */
static int run_files(const cli_context *cli, const char *option, graph_check *c,
                     tesela_status (*give)(graph_check *, const char *, const request_path *,
                                           tesela_error *)) {
  char name[TESELA_GRAPH_NAME], quote[SAY_QUOTE];
  const char *said;
  tesela_error err = {.at = -1};
  for (int at = 0; (said = cli_each(cli, option, &at));) {
    if (!graph_file_option(said, name))
      return say_usage(cli, "--%s is %s; expected NAME=FILE", option, say_quote(said, quote));
    const request_path path = {.name = said + strlen(name) + 1, .fd = -1};
    if (give(c, name, &path, &err) != TESELA_OK) return run_failure(cli, &err);
  }
  return CLI_YES;
}

static int run_all(const cli_context *cli, graph_check *c) {
  graph_progress progress;
  tesela_error err = {.at = -1};
  int status = run_files(cli, "in", c, graph_check_in);
  if (status == CLI_YES) status = run_files(cli, "out", c, graph_check_out);
  if (status != CLI_YES) return status;
  graph_progress_begin(cli, &c->what, &progress);
  c->progress = graph_progress_call;
  c->progress_user = &progress;
  tesela_status done = graph_check_run(c, &err);
  graph_progress_hide(&progress);
  if (done != TESELA_OK) return err.status == TESELA_E_STOPPED ? CLI_YES : run_failure(cli, &err);
  run_words(c);
  run_note(cli, c);
  return CLI_YES;
}

int graph_run(const cli_context *cli, const graph_work *work) {
  graph_check c = {.graph = work->graph, .placed = work->placed, .target = &work->target};
  if (!cli_integer(cli, "seed", 0, INT64_MAX, 0, &c.seed) ||
      !cli_integer(cli, "max-steps", 1, INT64_MAX, TESELA_GRAPH_RUN_STEPS, &c.max_steps) ||
      !cli_size(cli, "max-bytes", TESELA_GRAPH_RUN_BYTES, &c.max_bytes))
    return CLI_BAD;
  c.made_up = cli_has(cli, "seed");
  if (!c.made_up) c.seed = 1;
  int status = run_all(cli, &c);
  graph_check_free(&c);
  graph_progress_end();
  return status == CLI_YES && (c.different > 0 || c.tiled.poison_read > 0) ? CLI_NO : status;
}
