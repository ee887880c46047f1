/* SPDX-License-Identifier: Apache-2.0 */
/*
 * propagate_copies.c - views that may be copied before an operand, and the labels that the copies allow.
 *
 * The lanes of a view may run along none of its dims, for every stick of its buffer: a reshape that joins a part of a stick
 * with another dim, a slice from the middle of a stick. A copy of the view is a buffer of its own, in any stick of its family:
 *
 *   x f16[72,2,50] in sticks along 2, r = reshape x [72,100]      r.copy f16[72,100] in sticks along 0, or along 1
 *
 * Several views may lie between an operand and its value; each can be copied, with the later ones rebuilt on the copy: before
 * an expand that is cheaper. A view of a whole buffer with its dims in another order is not copied, since a move does the same,
 * except for a value that moves cannot copy: one written in place through a view.
 */
#include "graph/propagate/propagate.h"

enum { COPIES_DEPTH = 8 };             /* most views that may be copied for an operand, the nearest ones */
#define COPIES_MOST ((int64_t)1 << 48) /* elements: larger copies are not made */

static tesela_status copies_no_memory(tesela_error *err) {
  return tesela__fail(err, TESELA_E_MEMORY, -1, "no memory for copies of views");
}

/* Does a node show its whole buffer, with dims in any order? */
static bool copies_is_buffer(const tesela_graph *graph, const tesela_node *node) {
  const tesela_node *buffer = tesela_graph_node(graph, node->buffer);
  uint32_t met = 0;
  int32_t left = 0;
  if (node->offset != 0) return false;
  for (int32_t b = 0; b < buffer->rank; b++) left += buffer->shape[b] != 1;
  for (int32_t d = 0; d < node->rank; d++) {
    int32_t b = 0;
    if (node->shape[d] == 1) continue;
    while (b < buffer->rank &&
           (met >> b & 1 || buffer->shape[b] != node->shape[d] || buffer->stride[b] != node->stride[d]))
      b++;
    if (b == buffer->rank) return false;
    met |= (uint32_t)1 << b;
    left--;
  }
  return left == 0;
}

static int copies_by_number(int64_t a, int64_t b) { return (a > b) - (a < b); }

int tesela__compare_views(const tesela_node *a, const tesela_node *b) {
  int by = copies_by_number(a->offset, b->offset);
  if (!by) by = copies_by_number(a->rank, b->rank);
  for (int32_t d = 0; !by && d < a->rank; d++) {
    by = copies_by_number(a->shape[d], b->shape[d]);
    if (!by && a->shape[d] != 1) by = copies_by_number(a->stride[d], b->stride[d]);
  }
  return by;
}

bool tesela__move_forbidden(const tesela_graph *graph, int32_t node, int32_t operand) {
  for (int32_t h = 0; h < tesela_graph_hint_count(graph); h++) {
    const tesela_hint *hint = tesela_graph_hint_at(graph, h);
    if (hint->kind == TESELA_HINT_FORBID_MOVE && hint->node == node &&
        (hint->operand < 0 || hint->operand == operand))
      return true;
  }
  return false;
}

/* ---- what copies cost ---- */

/* May a buffer in `from` be copied to `to`? For a tensor whose only layout is one element per stick that is not a move to or
 * from it. */
static bool copies_may(const tesela_propagate_options *options, const tesela__family *family, int32_t from,
                       const tesela__family *copies, int32_t to) {
  bool spreads = tesela__family_sparse(copies, to), compacts = tesela__family_sparse(family, from);
  return (options->spread || !spreads) && (options->compact || !compacts);
}

static tesela_status copies_price(const tesela_propagation *p, const tesela__family *family,
                                  tesela__copyable *made, tesela_error *err) {
  const tesela_propagate_options *options = &p->options;
  const tesela__family *copies = &p->families[made->family];
  for (int32_t from = 0; from < family->n; from++)
    for (int32_t to = 0; to < copies->n; to++) {
      int64_t *price = &made->price[from * copies->n + to];
      *price = -1;
      if (!copies_may(options, family, from, copies, to)) continue;
      *price = options->price ? options->price(options->user, &family->layout[from], &copies->layout[to])
                              : copies->layout[to].places;
      if (*price < 0)
        return tesela__fail(err, TESELA_E_RANGE, -1, "the price of a copy is %" PRId64 "; expected 0 or more",
                            *price);
      if (*price > COPIES_MOST) *price = -1;
      made->most = tesela__max(made->most, *price);
    }
  return TESELA_OK;
}

/* ---- views ---- */

static bool copies_start(tesela_propagation *p) {
  if (p->last_copyable) return true;
  p->last_copyable =
      tesela__alloc(&p->allocator, ((uint64_t)p->count + 1) * sizeof *p->last_copyable, alignof(int32_t));
  for (int32_t k = 0; p->last_copyable && k < p->count; k++) p->last_copyable[k] = -1;
  return p->last_copyable != NULL;
}

/* The number of a view of a value; -1 if the target has no layouts for its copies. */
static tesela_status copies_find(tesela_propagation *p, int32_t k, int32_t value, int32_t *number,
                                 tesela_error *err) {
  const tesela_node *node = tesela_graph_node(p->graph, k);
  tesela__copyable made = {.node = k, .value = value, .slot = -1, .most = -1};
  void *items = p->copyable;
  if (!copies_start(p)) return copies_no_memory(err);
  for (*number = p->last_copyable[value]; *number >= 0; *number = p->copyable[*number].before)
    if (tesela__compare_views(tesela_graph_node(p->graph, p->copyable[*number].node), node) == 0)
      return TESELA_OK;
  tesela_error why = {.message = ""};
  tesela_status status = tesela__family_of_copy(p, k, &made.family, &why);
  if (status == TESELA_E_MEMORY || status == TESELA_E_RANGE)
    return tesela__fail(err, status, -1, "%s", why.message);
  if (status != TESELA_OK) return TESELA_OK;
  const tesela__family *family = tesela__family_of(p, node->buffer);
  uint64_t prices = (uint64_t)family->n * (uint64_t)p->families[made.family].n;
  if (!tesela__grow(&p->allocator, &items, sizeof *p->copyable, &p->copyable_capacity,
                    (uint64_t)p->n_copyables + 1))
    return copies_no_memory(err);
  p->copyable = items;
  made.price = tesela__alloc(&p->allocator, prices * sizeof *made.price, alignof(int64_t));
  if (!made.price) return copies_no_memory(err);
  status = copies_price(p, family, &made, err);
  made.before = p->last_copyable[value];
  *number = p->last_copyable[value] = p->n_copyables;
  p->copyable[p->n_copyables++] = made;
  return status;
}

/* Rebuild the views from a copied node to an operand on the copy. *seen: the operand there. */
static tesela_status copies_rebuild(tesela_graph *again, const tesela_graph *graph, int32_t copied,
                                    int32_t operand, int32_t depth, tesela_node *seen, tesela_error *err) {
  const tesela_node *node = tesela_graph_node(graph, copied);
  int32_t made;
  tesela_node_spec spec = {.op = TESELA_OP_INPUT,
                           .dtype = node->dtype,
                           .bits = node->bits,
                           .rank = node->rank,
                           .shape = node->shape};
  tesela_status status = tesela_graph_add(again, &spec, &made, err);
  for (; depth > 0 && status == TESELA_OK; depth--) {
    int32_t at = operand;
    for (int32_t i = 1; i < depth; i++) at = tesela_graph_node(graph, at)->operand[0];
    tesela__graph_spec_of(tesela_graph_node(graph, at), &spec);
    spec.operand = &made;
    spec.name = NULL;
    status = tesela_graph_add(again, &spec, &made, err);
  }
  if (status != TESELA_OK) return status;
  *seen = *tesela_graph_node(graph, operand);
  seen->offset = tesela_graph_node(again, made)->offset;
  memcpy(seen->stride, tesela_graph_node(again, made)->stride, sizeof seen->stride);
  return TESELA_OK;
}

/* *seen: the operand on a copy of the node `depth` views before it; *is: false if that view of the copy does not exist. */
static tesela_status copies_seen(const tesela_propagation *p, int32_t copied, int32_t operand, int32_t depth,
                                 tesela_node *seen, bool *is, tesela_error *err) {
  tesela_graph *again;
  tesela_status status = tesela_graph_create(&again, &p->allocator, err);
  if (status != TESELA_OK) return status;
  tesela_error why = {.message = ""};
  status = copies_rebuild(again, p->graph, copied, operand, depth, seen, &why);
  tesela_graph_destroy(again);
  *is = status == TESELA_OK;
  return status == TESELA_E_MEMORY ? tesela__fail(err, status, -1, "%s", why.message) : TESELA_OK;
}

/* ---- edges ---- */

/* For each label, the candidates of a copy that are compatible with an edge. */
static tesela_status copies_judge(const tesela__need_operator *op, const tesela_rule *rule,
                                  const tesela__edge *edge, const tesela_node *seen, tesela__way *way,
                                  tesela_error *err) {
  tesela_propagation *p = op->p;
  int32_t family = p->copyable[way->copy].family, rank = op->node->rank;
  bool follows = op->survives && edge->operand == 0;
  tesela__sticks all = tesela__stick_bits(p->families[family].n);
  tesela__sticks preset = tesela__stick_bit(p->families[family].preset);
  tesela__need_operator on = *op;
  tesela__edge judged = {.operand = edge->operand, .buffer = edge->buffer};
  on.seen = seen;
  on.seen_family = family;
  bool asks = follows || (rule->need != TESELA_NEED_DEFAULT && rule->need != TESELA_NEED_SAME);
  tesela_status status = asks ? tesela__need_judge(&on, rule, &judged, err) : TESELA_OK;
  for (int32_t label = 0; label <= rank; label++) {
    way->suits.need[label] = asks ? judged.suits.need[label] : all;
    way->suits.follow[label] = asks ? judged.suits.follow[label] : all;
    if (rule->need == TESELA_NEED_DEFAULT) way->suits.need[label] &= preset;
  }
  return status;
}

static bool copies_push(tesela_propagation *p, tesela__edge *edge, const tesela__way *way) {
  void *items = p->way;
  for (int32_t w = edge->first_way; w < edge->first_way + edge->n_ways; w++)
    if (p->way[w].copy == way->copy) return true; /* a view without a change */
  if (tesela__suits_of_any(edge, &way->suits) == 0) return true;
  if (!tesela__grow(&p->allocator, &items, sizeof *p->way, &p->way_capacity, (uint64_t)p->n_ways + 1))
    return false;
  p->way = items;
  if (edge->n_ways++ == 0) edge->first_way = p->n_ways;
  p->way[p->n_ways++] = *way;
  return true;
}

/* Does every candidate of the buffer match every label? */
static bool copies_needless(const tesela_propagation *p, const tesela__edge *edge, int32_t rank) {
  for (int32_t label = 0; label <= rank; label++)
    if (p->allowed[edge->buffer] & ~(edge->suits.need[label] & edge->suits.follow[label])) return false;
  return edge->need != TESELA_NEED_SAME;
}

tesela_status tesela__propagate_copies(const tesela__need_operator *op, const tesela_rule *rule,
                                       tesela_error *err) {
  tesela_propagation *p = op->p;
  tesela__edge *edge = &p->edge[p->n_edges - 1];
  int32_t operand = op->node->operand[edge->operand], at = operand;
  const tesela_node *node = tesela_graph_node(p->graph, operand);
  tesela_node seen;
  if ((op->node->in_place && edge->operand == 0) || copies_needless(p, edge, op->node->rank) ||
      tesela__move_forbidden(p->graph, op->number, edge->operand))
    return TESELA_OK;
  for (int32_t d = 0; d < node->rank; d++)
    if (node->shape[d] == 0) return TESELA_OK;
  for (int32_t depth = 0; depth < COPIES_DEPTH; depth++) {
    tesela__way way = {0};
    bool is = false;
    tesela_status status = TESELA_OK;
    node = tesela_graph_node(p->graph, at);
    if (!edge->movable || !copies_is_buffer(p->graph, node)) {
      status = copies_seen(p, at, operand, depth, &seen, &is, err);
      if (status == TESELA_OK && is) status = copies_find(p, at, edge->value, &way.copy, err);
      is = is && status == TESELA_OK && way.copy >= 0 && p->copyable[way.copy].most >= 0;
      if (is) status = copies_judge(op, rule, edge, &seen, &way, err);
    }
    if (status != TESELA_OK) return status;
    if (is && !copies_push(p, edge, &way)) return copies_no_memory(err);
    if (!node->view) return TESELA_OK;
    at = node->operand[0];
  }
  return TESELA_OK;
}
