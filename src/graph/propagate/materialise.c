/* SPDX-License-Identifier: Apache-2.0 */
/*
 * materialise.c - a program with the copies of its cheapest plan, and without the rest of that plan.
 *
 * If copies of views are not enough, moves to and from one element per stick are tried, too; they become nodes as well.
 */
#include "graph/propagate/propagate.h"

static int32_t materialise_count(const tesela_graph *graph) {
  int32_t n = 0;
  for (int32_t k = 0; k < tesela_graph_count(graph); k++)
    n += tesela_graph_node(graph, k)->op == TESELA_OP_MOVE;
  return n;
}

tesela_status tesela_graph_materialise(tesela_graph **out, const tesela_graph *graph,
                                       const tesela_target *target, const tesela_propagate_options *options,
                                       int32_t *inserted, tesela_error *err) {
  TESELA__NEED(err, out, graph, target);
  TESELA__NEED_CLEAR(err, options);
  tesela_propagate_options asked =
      options ? *options : (tesela_propagate_options){.mode = TESELA_PROPAGATE_AUTO};
  asked.copies = true;
  asked.all_sticks = false;
  tesela__apply_part part = TESELA__APPLY_COPIES;
  tesela_propagation *p;
  tesela_status status = tesela_graph_propagate(&p, graph, target, &asked, err);
  if (status == TESELA_OK && !tesela_propagation_facts_of(p).ok && !(asked.spread && asked.compact)) {
    tesela_propagation_destroy(p);
    asked.spread = asked.compact = true;
    part = TESELA__APPLY_COPIES_AND_SPARSE;
    status = tesela_graph_propagate(&p, graph, target, &asked, err);
  }
  if (status != TESELA_OK) return status;
  status = tesela__graph_apply(out, p, part, err);
  if (status == TESELA_OK && inserted) *inserted = materialise_count(*out) - materialise_count(graph);
  tesela_propagation_destroy(p);
  return status;
}
