/* SPDX-License-Identifier: Apache-2.0 */
/* graph_work.c - see graph_work.h. */
#include "graph_work.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "graph_json.h"

tesela_status graph_work_read(graph_work *work, const char *text, size_t length, const tesela_target *named,
                              const tesela_target *otherwise, tesela_error *err) {
  size_t at = 0;
  while (at < length && text[at] && strchr(" \t\r\n", text[at])) at++;
  if (at < length && text[at] == '{') {
    tesela_status status = tesela_graph_read_json(&work->graph, &work->target, text, length, err);
    if (status == TESELA_OK && named) work->target = *named;
    return status;
  }
  work->target = named ? *named : otherwise ? *otherwise : *tesela_target_find("spyre");
  return tesela_graph_read_hlo(&work->graph, text, length, &work->target, NULL, NULL, err);
}

tesela_status graph_work_lay_out(graph_work *work, tesela_propagate_options options, bool materialise,
                                 tesela_error *err) {
  options.copies = options.copies || materialise;
  tesela_propagation_destroy(work->layouts);
  work->layouts = NULL;
  tesela_status status = tesela_graph_propagate(&work->layouts, work->graph, &work->target, &options, err);
  if (status != TESELA_OK || !materialise || tesela_propagation_facts_of(work->layouts).ok) return status;
  tesela_propagation_destroy(work->layouts);
  work->layouts = NULL;
  options.spread = options.compact = true;
  return tesela_graph_propagate(&work->layouts, work->graph, &work->target, &options, err);
}

void graph_work_free(graph_work *work) {
  tesela_graph_destroy(work->placed);
  tesela_propagation_destroy(work->layouts);
  tesela_graph_destroy(work->graph);
}

static const char *node_name(const void *user, int32_t i) {
  const tesela_node *node = tesela_graph_node(user, i);
  return node ? node->name : NULL;
}

bool graph_work_node(const tesela_graph *graph, const char *name, int32_t *node, tesela_error *err) {
  *node = tesela_graph_find(graph, name);
  return *node >= 0 || tesela_error_unknown(err, "node", name, node_name, graph) == TESELA_OK;
}

const char *graph_place_where(const tesela_graph_place *place) {
  return place->external ? "outside" : place->scratchpad ? "scratchpad" : "arena";
}

const char *graph_type_text(tesela_dtype dtype, int32_t bits, int32_t rank, const int64_t *shape,
                            char text[GRAPH_TYPE_TEXT]) {
  const char *type = tesela_dtype_name(dtype);
  size_t used = type ? (size_t)snprintf(text, GRAPH_TYPE_TEXT, "%s[", type)
                     : (size_t)snprintf(text, GRAPH_TYPE_TEXT, "%" PRId32 "bit[", bits);
  for (int32_t d = 0; d < rank && used < GRAPH_TYPE_TEXT; d++)
    used += (size_t)snprintf(text + used, GRAPH_TYPE_TEXT - used, "%s%" PRId64, d ? "," : "", shape[d]);
  if (used < GRAPH_TYPE_TEXT) snprintf(text + used, GRAPH_TYPE_TEXT - used, "]");
  return text;
}
