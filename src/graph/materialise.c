/* SPDX-License-Identifier: Apache-2.0 */
/*
 * materialise.c - copies in front of operands that no move of a buffer suits.
 *
 * A reshape that joins a part of a stick with another dim has its lanes along no dim, whatever the stick of its buffer. The
 * tensor itself must be copied then: a MOVE of the view, whose result has a buffer of its own. Copies go in one by one, where
 * propagation fails first, and stay if it comes further.
 */
#include <stdio.h>

#include "graph/propagate.h"

static tesela_status materialise_no_memory(tesela_error *err) {
  return tesela__fail(err, TESELA_E_MEMORY, -1, "no memory for the program with its copies");
}

/* A name that no node has. */
static void materialise_name(const tesela_graph *graph, const tesela_graph *made, const char *of,
                             char name[TESELA_GRAPH_NAME]) {
  char end[24] = ".copy";
  for (int32_t k = 2;; k++) {
    snprintf(name, TESELA_GRAPH_NAME, "%.*s%s", TESELA_GRAPH_NAME - 25, of, end);
    if (tesela_graph_find(graph, name) < 0 && tesela_graph_find(made, name) < 0) return;
    snprintf(end, sizeof end, ".copy.%" PRId32, k);
  }
}

static tesela_status materialise_copy(tesela_graph *made, const tesela_graph *graph, int32_t *operand,
                                      tesela_error *err) {
  char name[TESELA_GRAPH_NAME];
  const tesela_node *view = tesela_graph_node(made, *operand);
  int32_t from = *operand;
  tesela_node_spec spec = {.op = TESELA_OP_MOVE, .name = name, .n_operands = 1, .operand = &from};
  spec.dtype = view->dtype;
  spec.bits = view->bits;
  materialise_name(graph, made, view->name, name);
  return tesela_graph_add(made, &spec, operand, err);
}

/* All nodes again; in front of operand `operand` of node `at` a copy (at -1: none). `map` and `operands` are room. */
static tesela_status materialise_nodes(tesela_graph *made, const tesela_graph *graph, int32_t at,
                                       int32_t operand, int32_t *map, int32_t *operands, tesela_error *err) {
  tesela_status status = TESELA_OK;
  for (int32_t k = 0; status == TESELA_OK && k < tesela_graph_count(graph); k++) {
    const tesela_node *node = tesela_graph_node(graph, k);
    tesela_node_spec spec;
    for (int32_t i = 0; i < node->n_operands; i++) operands[i] = map[node->operand[i]];
    if (k == at) status = materialise_copy(made, graph, &operands[operand], err);
    tesela__graph_spec_of(node, &spec);
    spec.operand = operands;
    if (status == TESELA_OK) status = tesela_graph_add(made, &spec, &map[k], err);
    if (status == TESELA_OK && node->layout)
      status = tesela_graph_set_layout(made, map[k], node->layout, err);
  }
  return status == TESELA_OK ? tesela__graph_copy_marks(made, graph, map, err) : status;
}

static tesela_status materialise_again(tesela_graph **out, const tesela_graph *graph, int32_t at,
                                       int32_t operand, const tesela_allocator *allocator,
                                       tesela_error *err) {
  int32_t most = 1;
  size_t count = (size_t)tesela_graph_count(graph) + 1;
  for (int32_t k = 0; k < tesela_graph_count(graph); k++)
    if (tesela_graph_node(graph, k)->n_operands > most) most = tesela_graph_node(graph, k)->n_operands;
  int32_t *map = tesela__alloc(allocator, count * sizeof *map, alignof(int32_t));
  int32_t *operands = tesela__alloc(allocator, (size_t)most * sizeof *operands, alignof(int32_t));
  tesela_graph *made = NULL;
  tesela_status status =
      map && operands ? tesela_graph_create(&made, allocator, err) : materialise_no_memory(err);
  if (status == TESELA_OK) status = materialise_nodes(made, graph, at, operand, map, operands, err);
  tesela__release(allocator, map);
  tesela__release(allocator, operands);
  if (status == TESELA_OK)
    *out = made;
  else
    tesela_graph_destroy(made);
  return status;
}

/* What a try needs to be told. */
typedef struct materialise_try {
  const tesela_target *target;
  const tesela_propagate_options *options;
  tesela_allocator allocator;
} materialise_try;

static tesela_status materialise_ask(const materialise_try *t, const tesela_graph *graph,
                                     tesela_propagate_facts *facts, tesela_error *err) {
  tesela_propagation *p;
  tesela_status status = tesela_graph_propagate(&p, graph, t->target, t->options, err);
  if (status != TESELA_OK) return status;
  *facts = tesela_propagation_facts_of(p);
  tesela_propagation_destroy(p);
  return TESELA_OK;
}

/* May a copy stand in front of this operand? Not in front of what is written in place, nor of a copy, nor where a hint forbids
 * moves. */
static bool materialise_may(const tesela_graph *graph, int32_t number, int32_t k) {
  const tesela_node *node = tesela_graph_node(graph, number);
  const tesela_node *operand = tesela_graph_node(graph, node->operand[k]);
  return !(node->in_place && k == 0) && !tesela__move_forbidden(graph, number, k) &&
         operand->op != TESELA_OP_MOVE && operand->dtype != TESELA_TOKEN && node->op != TESELA_OP_MOVE;
}

/* One copy that brings propagation further; *better NULL: there is none. */
static tesela_status materialise_step(const materialise_try *t, const tesela_graph *graph,
                                      const tesela_propagate_facts *failed, tesela_graph **better,
                                      tesela_propagate_facts *facts, tesela_error *err) {
  const tesela_node *node = tesela_graph_node(graph, failed->error_node);
  *better = NULL;
  for (int32_t turn = -1; turn < node->n_operands; turn++) { /* the one at fault first */
    int32_t k = turn < 0 ? failed->error_operand : turn;
    if (k < 0 || (turn >= 0 && k == failed->error_operand) || !materialise_may(graph, failed->error_node, k))
      continue;
    tesela_graph *next;
    tesela_status status = materialise_again(&next, graph, failed->error_node, k, &t->allocator, err);
    if (status != TESELA_OK) return status;
    status = materialise_ask(t, next, facts, err);
    /* the operator stands one further now; it may need another operand copied, too */
    bool other = turn < 0 && facts->error_node == failed->error_node + 1 && facts->error_operand >= 0 &&
                 facts->error_operand != k;
    if (status == TESELA_OK && (facts->ok || facts->error_node > failed->error_node + 1 || other)) {
      *better = next;
      return TESELA_OK;
    }
    tesela_graph_destroy(next);
    if (status != TESELA_OK) return status;
  }
  return TESELA_OK;
}

tesela_status tesela_graph_materialise(tesela_graph **out, const tesela_graph *graph,
                                       const tesela_target *target, const tesela_propagate_options *options,
                                       int32_t *inserted, tesela_error *err) {
  tesela_propagate_options plain =
      options ? *options : (tesela_propagate_options){.mode = TESELA_PROPAGATE_AUTO};
  plain.all_sticks = false;
  materialise_try t = {target, &plain, tesela__allocator(plain.allocator)};
  tesela_propagate_facts facts, next_facts;
  tesela_graph *made = NULL;
  int32_t n = 0;
  tesela_status status = materialise_again(&made, graph, -1, 0, &t.allocator, err);
  if (status == TESELA_OK) status = materialise_ask(&t, made, &facts, err);
  while (status == TESELA_OK && !facts.ok) {
    tesela_graph *better;
    status = materialise_step(&t, made, &facts, &better, &next_facts, err);
    if (status != TESELA_OK || !better) break;
    tesela_graph_destroy(made);
    made = better;
    facts = next_facts;
    n++;
  }
  if (status != TESELA_OK) {
    tesela_graph_destroy(made);
    return status;
  }
  *out = made;
  if (inserted) *inserted = n;
  return TESELA_OK;
}
