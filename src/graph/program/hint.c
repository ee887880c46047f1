/* SPDX-License-Identifier: Apache-2.0 */
/*
 * hint.c - hints and directives: requirements of the caller in addition to the operators' rules.
 */
#include "graph/program/graph.h"

/* The nodes that a hint may have: REQUIRE, FORBID and PREFER a buffer, FORBID_MOVE an operator, FREE an input. */
static tesela_status hint_check_node(const tesela_graph *graph, const tesela_hint *hint, tesela_error *err) {
  const tesela_node *node = tesela__graph_at(graph, hint->node);
  if (hint->kind == TESELA_HINT_FORBID_MOVE) {
    if (node->view)
      return tesela__graph_fail(err, TESELA_E_INVALID, node,
                                "a view moves nothing; forbid moves of its readers");
    if (hint->operand < -1 || hint->operand >= node->n_operands)
      return tesela__graph_fail(err, TESELA_E_RANGE, node,
                                "operand %" PRId32 " is out of range; it has %" PRId32 ", and -1 means all",
                                hint->operand, node->n_operands);
    return TESELA_OK;
  }
  if (node->buffer != hint->node)
    return tesela__graph_fail(err, TESELA_E_INVALID, node,
                              "has no layout of its own; use a hint on its buffer, %.40s",
                              tesela__graph_at(graph, node->buffer)->name);
  if (hint->kind == TESELA_HINT_FREE) {
    if (node->op != TESELA_OP_INPUT)
      return tesela__graph_fail(err, TESELA_E_INVALID, node, "only an input may come in any stick");
    return TESELA_OK;
  }
  if (hint->stick != TESELA_STICK_SPARSE && (hint->stick < 0 || hint->stick >= node->rank))
    return tesela__graph_fail(err, TESELA_E_RANGE, node,
                              "stick dim %" PRId32 "; there are %" PRId32
                              " dims, and %d means one element per stick",
                              hint->stick, node->rank, TESELA_STICK_SPARSE);
  if (hint->kind == TESELA_HINT_PREFER && hint->price < 0)
    return tesela__graph_fail(err, TESELA_E_RANGE, node, "price %" PRId64 "; expected 0 or more",
                              hint->price);
  return TESELA_OK;
}

tesela_status tesela_graph_hint(tesela_graph *graph, const tesela_hint *hint, tesela_error *err) {
  TESELA__NEED(err, graph, hint);
  if (hint->node < 0 || hint->node >= graph->count)
    return tesela__fail(err, TESELA_E_RANGE, -1, "hint on node %" PRId32 "; expected 0 to %" PRId32,
                        hint->node, graph->count - 1);
  if ((int)hint->kind < 0 || hint->kind > TESELA_HINT_FREE)
    return tesela__fail(err, TESELA_E_RANGE, -1, "unknown hint %d", (int)hint->kind);
  tesela_status status = hint_check_node(graph, hint, err);
  if (status != TESELA_OK) return status;
  void *hints = graph->hint;
  if (!tesela__grow(&graph->allocator, &hints, sizeof *hint, &graph->hint_capacity,
                    (uint64_t)graph->n_hints + 1))
    return tesela__fail(err, TESELA_E_MEMORY, -1, "no memory for a hint");
  graph->hint = hints;
  graph->hint[graph->n_hints++] = *hint;
  return TESELA_OK;
}

int32_t tesela_graph_hint_count(const tesela_graph *graph) { return graph ? graph->n_hints : 0; }

const tesela_hint *tesela_graph_hint_at(const tesela_graph *graph, int32_t k) {
  return graph && k >= 0 && k < graph->n_hints ? &graph->hint[k] : NULL;
}
