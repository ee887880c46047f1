/* SPDX-License-Identifier: Apache-2.0 */
/*
 * apply.c - a program with the layouts that were found, and its moves as nodes.
 *
 * Nodes are added in their order. Before an operator with a moved operand come a MOVE of the value and the views between the
 * value and the operand; shared copies, and views of them, are made once. A copy of a view is a MOVE of that view, and only the
 * views after it are made again.
 *
 *   a_t = permute a; t1 = add a_t x     a.stick0 = move a; a_t.stick0 = permute a.stick0; t1 = add a_t.stick0 x
 *   r = reshape x; o = matmul r y       r.copy = move r; o = matmul r.copy y
 */
#include <stdio.h>

#include "graph/propagate/propagate.h"

/* A node that was made again on a copy. */
typedef struct apply_copy {
  int32_t node, move;   /* node: of the program; move: made the copy */
  int32_t made, before; /* made: in the new program; before: the previous copy of the same node */
  int32_t stick;        /* destination of the move, or APPLY_VIEW */
  int32_t name;         /* number of its name: .stick1, .stick1.2, ... */
} apply_copy;

enum { APPLY_VIEW = INT32_MIN };

typedef struct apply_state {
  const tesela_propagation *p;
  tesela__apply_part part;
  tesela_graph *graph;
  int32_t *node; /* of the program -> of the new one */
  int32_t *last; /* newest copy of each node, or -1 */
  apply_copy *copy;
  int32_t n_copies;
  size_t copy_capacity;
  int32_t *operand;
  size_t operand_capacity;
} apply_state;

static tesela_status apply_no_memory(tesela_error *err) {
  return tesela__fail(err, TESELA_E_MEMORY, -1, "no memory for the program with its moves");
}

/* A name that is not a node's, of this or the new program: "a.stick1", "a.stick1.2", ...; its number. */
static int32_t apply_name(const apply_state *a, int32_t node, int32_t stick, char name[TESELA_GRAPH_NAME]) {
  char end[48], what[24] = "sparse";
  int32_t k = a->last[node];
  while (k >= 0 && a->copy[k].stick != stick) k = a->copy[k].before;
  if (stick >= 0) snprintf(what, sizeof what, "stick%" PRId32, stick);
  if (stick == APPLY_VIEW) snprintf(what, sizeof what, "copy");
  for (k = k < 0 ? 1 : a->copy[k].name + 1;; k++) { /* earlier ones are in use */
    if (k == 1)
      snprintf(end, sizeof end, ".%s", what);
    else
      snprintf(end, sizeof end, ".%s.%" PRId32, what, k);
    int room = TESELA_GRAPH_NAME - 1 - (int)strlen(end);
    snprintf(name, TESELA_GRAPH_NAME, "%.*s%s", room, tesela_graph_node(a->p->graph, node)->name, end);
    if (tesela_graph_find(a->p->graph, name) < 0 && tesela_graph_find(a->graph, name) < 0) return k;
  }
}

static tesela_status apply_layout(apply_state *a, int32_t buffer, int32_t stick, int32_t made,
                                  tesela_error *err) {
  const tesela__family *family = tesela__family_of(a->p, buffer);
  int32_t c = a->p->chosen[buffer];
  if (family->stick[c] != stick || made != a->node[buffer]) c = tesela__family_candidate(family, stick);
  return tesela_graph_set_layout(a->graph, made, &family->layout[c], err);
}

static tesela_status apply_remember(apply_state *a, apply_copy copy, tesela_error *err) {
  void *items = a->copy;
  if (!tesela__grow(&a->p->allocator, &items, sizeof *a->copy, &a->copy_capacity, (uint64_t)a->n_copies + 1))
    return apply_no_memory(err);
  a->copy = items;
  copy.before = a->last[copy.node];
  a->copy[a->n_copies] = copy;
  a->last[copy.node] = a->n_copies++;
  return TESELA_OK;
}

static int32_t apply_copy_of(const apply_state *a, int32_t node, int32_t move) {
  for (int32_t k = a->last[node]; k >= 0; k = a->copy[k].before)
    if (a->copy[k].move == move) return a->copy[k].made;
  return -1;
}

static const tesela__copyable *apply_copyable(const tesela_propagation *p, const tesela_move *move) {
  int32_t value = move->view;
  while (tesela_graph_node(p->graph, value)->view) value = tesela_graph_node(p->graph, value)->operand[0];
  int32_t k = p->last_copyable[value];
  while (p->copyable[k].node != move->view) k = p->copyable[k].before;
  return &p->copyable[k];
}

/* The layout of a copy of a view. */
static tesela_status apply_view_layout(apply_state *a, const tesela_move *move, int32_t made,
                                       tesela_error *err) {
  const tesela__copyable *copy = apply_copyable(a->p, move);
  const tesela__family *family = &a->p->families[copy->family];
  return tesela_graph_set_layout(a->graph, made, &family->layout[tesela__family_candidate(family, move->to)],
                                 err);
}

/* Add the counterpart of node `k` on the copy of a move: the copy itself, or a view of it. */
static tesela_status apply_add_copy(apply_state *a, int32_t k, int32_t own, const tesela_move *move,
                                    tesela_node_spec *spec, int32_t *made, tesela_error *err) {
  char name[TESELA_GRAPH_NAME];
  apply_copy copy = {.node = k, .move = own, .stick = move->view < 0 ? move->to : APPLY_VIEW};
  copy.name = apply_name(a, k, copy.stick, name);
  spec->name = name;
  tesela_status status = tesela_graph_add(a->graph, spec, &copy.made, err);
  if (status == TESELA_OK && spec->op == TESELA_OP_MOVE && a->part == TESELA__APPLY_ALL)
    status = move->view < 0 ? apply_layout(a, move->buffer, move->to, copy.made, err)
                            : apply_view_layout(a, move, copy.made, err);
  *made = copy.made;
  return status == TESELA_OK ? apply_remember(a, copy, err) : status;
}

/* Does a move copy this node, on the path from an operand to its value: the value, or a view equal to `move->view`? */
static bool apply_is_source(const tesela_graph *graph, const tesela_move *move, int32_t at) {
  const tesela_node *node = tesela_graph_node(graph, at);
  return move->view < 0 ? !node->view
                        : tesela__compare_views(node, tesela_graph_node(graph, move->view)) == 0;
}

/* The counterpart of node `k`, a value or a view of one, on the copy of move `number`. */
static tesela_status apply_on_copy(apply_state *a, int32_t k, int32_t number, int32_t *made,
                                   tesela_error *err) {
  const tesela_graph *graph = a->p->graph;
  const tesela_move *move = &a->p->move[number];
  int32_t own = move->shared >= 0 ? move->shared : number, depth = 0, at = k;
  for (; !apply_is_source(graph, move, at); at = tesela_graph_node(graph, at)->operand[0]) {
    if (apply_copy_of(a, at, own) >= 0) break;
    depth++;
  }
  if (move->view >= 0 && apply_is_source(graph, move, at))
    at = move->view; /* the view that other operands read, too */
  int32_t below = apply_copy_of(a, at, own);
  tesela_status status = TESELA_OK;
  if (below < 0) { /* the copied value or view itself */
    const tesela_node *value = tesela_graph_node(graph, at);
    tesela_node_spec spec = {.op = TESELA_OP_MOVE,
                             .dtype = value->dtype,
                             .bits = value->bits,
                             .n_operands = 1,
                             .operand = &a->node[at]};
    status = apply_add_copy(a, at, own, move, &spec, &below, err);
  }
  for (; depth > 0 && status == TESELA_OK; depth--) { /* the views, starting at the value */
    tesela_node_spec spec;
    at = k;
    for (int32_t i = 1; i < depth; i++) at = tesela_graph_node(graph, at)->operand[0];
    tesela__graph_spec_of(tesela_graph_node(graph, at), &spec);
    int32_t operand = below;
    spec.operand = &operand;
    status = apply_add_copy(a, at, own, move, &spec, &below, err);
  }
  *made = below;
  return status;
}

/* Does a move become a node? */
static bool apply_wants(const apply_state *a, int32_t number) {
  if (number < 0 || a->part == TESELA__APPLY_ALL) return number >= 0;
  const tesela_move *move = &a->p->move[number];
  const tesela_node *buffer = tesela_graph_node(a->p->graph, move->buffer);
  bool sparse = tesela__stick_is_sparse(buffer->rank, buffer->shape, move->from) ||
                tesela__stick_is_sparse(buffer->rank, buffer->shape, move->to);
  return move->view >= 0 || (a->part == TESELA__APPLY_COPIES_AND_SPARSE && sparse);
}

/* A node with its operands, moved or not. */
static tesela_status apply_node(apply_state *a, int32_t k, const tesela__operator *op, tesela_error *err) {
  const tesela_propagation *p = a->p;
  const tesela_node *node = tesela_graph_node(p->graph, k);
  tesela_node_spec spec;
  void *items = a->operand;
  if (!tesela__grow(&p->allocator, &items, sizeof *a->operand, &a->operand_capacity,
                    (uint64_t)node->n_operands + 1))
    return apply_no_memory(err);
  a->operand = items;
  for (int32_t i = 0; i < node->n_operands; i++) a->operand[i] = a->node[node->operand[i]];
  for (int32_t e = op ? op->first : 0; op && e < op->first + op->n; e++) {
    int32_t i = p->edge[e].operand;
    if (!apply_wants(a, p->edge_move[e])) continue;
    tesela_status status = apply_on_copy(a, node->operand[i], p->edge_move[e], &a->operand[i], err);
    if (status != TESELA_OK) return status;
  }
  tesela__graph_spec_of(node, &spec);
  spec.operand = a->operand;
  bool all = a->part == TESELA__APPLY_ALL, layout = all && node->buffer == k && p->chosen[k] >= 0;
  int32_t stick = layout ? tesela__family_of(p, k)->stick[p->chosen[k]] : 0;
  if (node->op == TESELA_OP_INPUT && layout && stick >= TESELA_STICK_SPARSE) spec.stick = stick;
  tesela_status status = tesela_graph_add(a->graph, &spec, &a->node[k], err);
  if (status == TESELA_OK && layout) status = apply_layout(a, k, stick, a->node[k], err);
  if (status == TESELA_OK && !all && node->layout)
    status = tesela_graph_set_layout(a->graph, a->node[k], node->layout, err);
  return status;
}

tesela_status tesela__graph_apply(tesela_graph **out, const tesela_propagation *p, tesela__apply_part part,
                                  tesela_error *err) {
  apply_state a = {.p = p, .part = part};
  uint64_t room = (uint64_t)p->count + 1;
  a.node = tesela__alloc(&p->allocator, room * sizeof *a.node, alignof(int32_t));
  a.last = tesela__alloc(&p->allocator, room * sizeof *a.last, alignof(int32_t));
  tesela_status status = a.node && a.last ? TESELA_OK : apply_no_memory(err);
  if (status == TESELA_OK) status = tesela_graph_create(&a.graph, &p->allocator, err);
  for (int32_t k = 0; status == TESELA_OK && k < p->count; k++) a.last[k] = -1;
  for (int32_t k = 0, o = 0; status == TESELA_OK && k < p->count; k++) {
    while (o < p->n_operators && p->operator_[o].node < k) o++;
    bool is_operator = p->facts.ok && o < p->n_operators && p->operator_[o].node == k;
    status = apply_node(&a, k, is_operator ? &p->operator_[o] : NULL, err);
  }
  if (status == TESELA_OK) status = tesela__graph_copy_marks(a.graph, p->graph, a.node, err);
  tesela__release(&p->allocator, a.node);
  tesela__release(&p->allocator, a.last);
  tesela__release(&p->allocator, a.copy);
  tesela__release(&p->allocator, a.operand);
  if (status == TESELA_OK)
    *out = a.graph;
  else
    tesela_graph_destroy(a.graph);
  return status;
}

tesela_status tesela_graph_apply(tesela_graph **out, const tesela_propagation *p, tesela_error *err) {
  TESELA__NEED(err, out, p);
  if (!p->facts.ok)
    return tesela__fail(err, TESELA_E_UNSUPPORTED, -1, "propagation found no layouts for the program");
  return tesela__graph_apply(out, p, TESELA__APPLY_ALL, err);
}
