/* SPDX-License-Identifier: Apache-2.0 */
/* graph_run.c - graph run: a program is run on tiled memory and on plain memory; the result in words. */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "graph/graph_print.h"
#include "graph/graph_progress.h"
#include "graph_check.h"
#include "main/json.h"
#include "main/say.h"
#include "main/tile_input.h"

static void run_words(const graph_check *c) {
  char shape[GRAPH_TYPE_TEXT], name[GRAPH_NAME_TEXT], digest[33];
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
         " bytes; %" PRId64 " padding elements read\n",
         c->tiled.operators, c->tiled.elements, c->tiled.moved, c->tiled.arena_bytes, c->tiled.poison_read);
}

/* Both runs store elements as the device does: note it where that loses precision. */
static void run_note(const cli_context *cli, const graph_check *c) {
  const tesela_node *node;
  for (int32_t k = 0; (node = tesela_graph_node(c->placed, k)); k++) {
    if (!node->layout || tesela_dtype_family_of(node->dtype) != TESELA_FAMILY_FLOAT) continue;
    tesela_dtype device = node->layout->host.device_dtype;
    if (device == node->dtype) continue;
    say_note(cli, "%s is stored as %s on %s, and in the run on plain memory too",
             tesela_dtype_name(node->dtype), tesela_dtype_name(device), c->target->name);
    return;
  }
}

int graph_run(const cli_context *cli, graph_ask *ask, const graph_work *work) {
  graph_check c = {.what = ""};
  graph_progress progress;
  graph_progress_begin(cli, &c.what, &progress);
  ask->r.progress = graph_progress_call;
  ask->r.progress_user = &progress;
  tesela_status done = request_run_program(&ask->r, work, &c);
  graph_progress_hide(&progress);
  int status = graph_say(cli, ask, done);
  if (done == TESELA_OK) {
    run_words(&c);
    run_note(cli, &c);
    status = c.different > 0 || c.tiled.poison_read > 0 ? CLI_NO : CLI_YES;
  }
  graph_check_free(&c);
  return status;
}
