/* SPDX-License-Identifier: Apache-2.0 */
/*
 * propagate_share.c - which operands read the same copies of a value, or of a view of it.
 *
 * With shared copies (options.share) all readers of a value share. Without, operands of one operator share that read a value
 * through the same view: x * x moves x once. They are one holder; its copies of a view are one slot.
 */
#include <stdlib.h>

#include "graph/propagate/propagate.h"

/* An edge, with the value and the view that it reads. */
typedef struct share_entry {
  const tesela_node *node;
  int32_t operator_, value, edge;
} share_entry;

static int share_by_number(int64_t a, int64_t b) { return (a > b) - (a < b); }

/* By operator, value, view, and then operand. */
static int share_compare(const share_entry *a, const share_entry *b) {
  int by = share_by_number(a->operator_, b->operator_);
  if (!by) by = share_by_number(a->value, b->value);
  return by ? by : tesela__compare_views(a->node, b->node);
}

static int share_order(const void *x, const void *y) {
  const share_entry *a = x, *b = y;
  int by = share_compare(a, b);
  return by ? by : share_by_number(a->edge, b->edge);
}

/* The number of a new holder for the value that an edge reads; 0: no memory. */
static int32_t share_holder(tesela_propagation *p, const tesela__edge *edge) {
  void *items = p->holder;
  if (!tesela__grow(&p->allocator, &items, sizeof *p->holder, &p->holder_capacity,
                    (uint64_t)p->n_holders + 1))
    return 0;
  p->holder = items;
  p->holder[p->n_holders++] = (tesela__holder){edge->buffer, edge->value};
  return p->n_holders;
}

/* The slots of an edge's ways: those of its holder, or its own. */
static void share_slots(tesela_propagation *p, const tesela__edge *edge) {
  for (int32_t w = edge->first_way; w < edge->first_way + edge->n_ways; w++) {
    tesela__copyable *copy = &p->copyable[p->way[w].copy];
    if (copy->slot < 0 || (!p->options.share && (edge->holder == 0 || copy->by != edge->holder)))
      copy->slot = p->n_slots++;
    copy->by = edge->holder;
    p->way[w].slot = copy->slot;
  }
}

/* With shared copies: each value of a buffer after the first has its own copies. `last`: an edge that reads a value, or -1. */
static bool share_all(tesela_propagation *p, int32_t *last) {
  for (int32_t e = 0; e < p->n_edges; e++) {
    tesela__edge *edge = &p->edge[e];
    share_slots(p, edge);
    if (edge->value == edge->buffer) continue;
    edge->holder = last[edge->value] >= 0 ? p->edge[last[edge->value]].holder : share_holder(p, edge);
    if (edge->holder == 0) return false;
    last[edge->value] = e;
  }
  return true;
}

static share_entry share_list(tesela_propagation *p, int32_t e) {
  tesela__edge *edge = &p->edge[e];
  int32_t operand = tesela_graph_node(p->graph, edge->node)->operand[edge->operand];
  edge->holder = -1; /* listed */
  return (share_entry){tesela_graph_node(p->graph, operand), edge->node, edge->value, e};
}

/* Without: equal operands. Most operators do not read a value twice; their edges are not sorted. */
static bool share_operands(tesela_propagation *p, int32_t *last, share_entry *entry) {
  size_t n = 0;
  for (int32_t e = 0; e < p->n_edges; e++) { /* the first of a pair, then each later one */
    int32_t before = last[p->edge[e].value];
    bool again = before >= 0 && p->edge[before].node == p->edge[e].node;
    last[p->edge[e].value] = e;
    if (again && p->edge[before].holder == 0) entry[n++] = share_list(p, before);
    if (again) entry[n++] = share_list(p, e);
  }
  for (size_t i = 0; i < n; i++) p->edge[entry[i].edge].holder = 0;
  if (n > 0) qsort(entry, n, sizeof *entry, share_order);
  for (size_t i = 1; i < n; i++) {
    tesela__edge *edge = &p->edge[entry[i].edge], *before = &p->edge[entry[i - 1].edge];
    if (share_compare(&entry[i - 1], &entry[i]) != 0) continue;
    if (before->holder == 0) before->holder = share_holder(p, before);
    edge->holder = before->holder;
    if (edge->holder == 0) return false;
  }
  for (size_t i = 0; i < n; i++) share_slots(p, &p->edge[entry[i].edge]); /* holder by holder */
  for (int32_t e = 0; e < p->n_edges; e++)
    if (p->edge[e].holder == 0) share_slots(p, &p->edge[e]);
  return true;
}

tesela_status tesela__propagate_share(tesela_propagation *p, tesela_error *err) {
  uint64_t edges = (uint64_t)p->n_edges + 1;
  int32_t *last = tesela__alloc(&p->allocator, ((uint64_t)p->count + 1) * sizeof *last, alignof(int32_t));
  share_entry *entry = tesela__alloc(&p->allocator, edges * sizeof *entry, alignof(share_entry));
  bool made = last && entry;
  for (int32_t k = 0; made && k < p->count; k++) last[k] = -1;
  if (made) made = p->options.share ? share_all(p, last) : share_operands(p, last, entry);
  tesela__release(&p->allocator, last);
  tesela__release(&p->allocator, entry);
  return made ? TESELA_OK : tesela__fail(err, TESELA_E_MEMORY, -1, "no memory for operands");
}
