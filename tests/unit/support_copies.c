/* SPDX-License-Identifier: Apache-2.0 */
/* support_copies.c - all ways to put copies of views into a program, and the cheapest one. */
#include <inttypes.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "support_copies.h"

enum { EDGES = 24, OPTIONS = 40, COPIES = 24 };

typedef struct option {
  int node, stick; /* the copied node, or -1 */
} option;

typedef struct edge {
  int node, operand, n;
  option option[OPTIONS];
} edge;

typedef struct search {
  const prog *p;
  const tesela_graph *graph;
  const tesela_target *target;
  tesela_propagate_options options;
  int n_edges;
  edge edge[EDGES];
  int pick[EDGES];
} search;

/* ---- possible copies ------- */

static int value_of(const tesela_graph *graph, int k) {
  while (tesela_graph_node(graph, k)->view) k = tesela_graph_node(graph, k)->operand[0];
  return k;
}

static bool shows_the_same(const tesela_graph *graph, int a, int b) {
  const tesela_node *x = tesela_graph_node(graph, a), *y = tesela_graph_node(graph, b);
  if (value_of(graph, a) != value_of(graph, b) || x->rank != y->rank || x->offset != y->offset) return false;
  for (int d = 0; d < x->rank; d++)
    if (x->shape[d] != y->shape[d] || x->stride[d] != y->stride[d]) return false;
  return true;
}

/* Is a view its buffer with permuted dims? Each element of the buffer occurs once, and dims keep their extents. */
static bool is_transposed(const tesela_graph *graph, int k) {
  const tesela_node *node = tesela_graph_node(graph, k), *buffer = tesela_graph_node(graph, node->buffer);
  int64_t used = 0;
  for (int d = 0; d < node->rank; d++) {
    int64_t behind = 1;
    int found = -1;
    if (node->shape[d] == 1) continue;
    for (int b = buffer->rank - 1; b >= 0; b--) { /* the dim with this stride in row-major order */
      if (buffer->shape[b] == node->shape[d] && behind == node->stride[d]) found = b;
      behind *= buffer->shape[b];
    }
    if (found < 0 || used >> found & 1) return false;
    used |= (int64_t)1 << found;
  }
  for (int b = 0; b < buffer->rank; b++)
    if (buffer->shape[b] != 1 && !(used >> b & 1)) return false;
  return node->offset == 0;
}

static bool may_not(const tesela_graph *graph, int node, int operand) {
  for (int32_t h = 0; h < tesela_graph_hint_count(graph); h++) {
    const tesela_hint *hint = tesela_graph_hint_at(graph, h);
    if (hint->kind == TESELA_HINT_FORBID_MOVE && hint->node == node &&
        (hint->operand == -1 || hint->operand == operand))
      return true;
  }
  return tesela_graph_node(graph, node)->in_place && operand == 0;
}

/* Is each element in its own stick, where another layout would have several in one? */
static bool one_per_stick(const tesela_node *node, int stick) {
  bool longer = false;
  for (int d = 0; d < node->rank; d++) longer = longer || node->shape[d] > 1;
  return longer && (stick < 0 || node->shape[stick] == 1);
}

static void add_options(search *s, edge *e, int k) {
  const tesela_node *node = tesela_graph_node(s->graph, k);
  for (int i = 0; i < e->n; i++)
    if (e->option[i].node >= 0 && shows_the_same(s->graph, e->option[i].node, k)) return;
  if (is_transposed(s->graph, k)) return;
  for (int stick = -1; stick < node->rank; stick++)
    if (s->options.spread || !one_per_stick(node, stick)) {
      assert_true(e->n < OPTIONS);
      e->option[e->n++] = (option){k, stick};
    }
}

static bool find_edges(search *s, int64_t most) {
  int64_t ways = 1;
  for (int k = 0; k < s->p->n; k++) {
    const tesela_node *node = tesela_graph_node(s->graph, k);
    for (int i = 0; i < node->n_operands && !node->view; i++) {
      if (may_not(s->graph, k, i)) continue;
      edge e = {.node = k, .operand = i, .n = 1, .option = {{-1, 0}}};
      for (int at = node->operand[i];; at = tesela_graph_node(s->graph, at)->operand[0]) {
        add_options(s, &e, at);
        if (!tesela_graph_node(s->graph, at)->view) break;
      }
      if (e.n == 1) continue;
      if (s->n_edges == EDGES) return false;
      s->edge[s->n_edges++] = e;
      ways *= e.n;
      if (ways > most) return false;
    }
  }
  return true;
}

/* ---- one way ---- */

typedef struct way {
  prog p;
  int map[PROG_STATEMENTS];
  int n_copies, copy[COPIES], edge[COPIES]; /* statement of each copy; the edge it was made for */
  int n_hints;
  tesela_hint hint[8 * COPIES + 16];
} way;

static int push(way *w, const prog_statement *statement, const char *name) {
  if (w->p.n == PROG_STATEMENTS) return -1;
  w->p.s[w->p.n] = *statement;
  if (name) snprintf(w->p.s[w->p.n].name, sizeof w->p.s->name, "%s%d", name, w->p.n);
  return w->p.n++;
}

static void hint(way *w, tesela_hint h) {
  assert_true((size_t)w->n_hints < sizeof w->hint / sizeof *w->hint);
  w->hint[w->n_hints++] = h;
}

/* Are both edges operands of one operator, from the same tensor? */
static bool same_operand(const search *s, int a, int b) {
  const tesela_node *node = tesela_graph_node(s->graph, s->edge[a].node);
  return s->edge[a].node == s->edge[b].node &&
         shows_the_same(s->graph, node->operand[s->edge[a].operand], node->operand[s->edge[b].operand]);
}

/* The statement of the copy that edge e reads: new, or existing for the same operand (with shared copies, for any). */
static int copy_for(const search *s, way *w, int e) {
  option o = s->edge[e].option[s->pick[e]];
  for (int i = 0; i < w->n_copies; i++) {
    if (!s->options.share && !same_operand(s, w->edge[i], e)) continue;
    option other = s->edge[w->edge[i]].option[s->pick[w->edge[i]]];
    if (other.stick == o.stick && shows_the_same(s->graph, o.node, other.node)) return w->copy[i];
  }
  prog_statement move = {.op = "move", .n_in = 1, .in = {w->map[o.node]}};
  int made = push(w, &move, "copy"), buffer = tesela_graph_node(s->graph, o.node)->buffer;
  if (made < 0) return -1;
  hint(w, (tesela_hint){.kind = TESELA_HINT_REQUIRE, .node = made, .stick = o.stick});
  const tesela_node *from = tesela_graph_node(s->graph, buffer);
  for (int stick = -1; stick < from->rank && !s->options.compact; stick++)
    if (one_per_stick(from, stick))
      hint(w, (tesela_hint){.kind = TESELA_HINT_FORBID, .node = w->map[buffer], .stick = stick});
  w->copy[w->n_copies] = made;
  w->edge[w->n_copies++] = e;
  return made;
}

/* Repeat the views between the copied node and the operand on the copy. */
static int on_copy(const search *s, way *w, int e) {
  int from = s->edge[e].option[s->pick[e]].node, made = copy_for(s, w, e), chain[PROG_STATEMENTS], n = 0;
  int operand = tesela_graph_node(s->graph, s->edge[e].node)->operand[s->edge[e].operand];
  for (int at = operand; at != from; at = tesela_graph_node(s->graph, at)->operand[0]) chain[n++] = at;
  while (n > 0 && made >= 0) {
    prog_statement view = s->p->s[chain[--n]];
    view.in[0] = made;
    made = push(w, &view, "view");
  }
  return made;
}

static bool write_way(const search *s, way *w) {
  w->p.n = w->n_copies = w->n_hints = 0;
  for (int k = 0; k < s->p->n; k++) {
    prog_statement statement = s->p->s[k];
    bool copied[PROG_OPERANDS] = {false};
    for (int i = 0; i < statement.n_in; i++) statement.in[i] = w->map[statement.in[i]];
    for (int e = 0; e < s->n_edges; e++) {
      if (s->edge[e].node != k || s->pick[e] == 0) continue;
      if ((statement.in[s->edge[e].operand] = on_copy(s, w, e)) < 0) return false;
      copied[s->edge[e].operand] = true;
    }
    if ((w->map[k] = push(w, &statement, NULL)) < 0) return false;
    for (int i = 0; i < statement.n_in; i++) /* a copy has the right layout and is not moved again */
      if (copied[i]) hint(w, (tesela_hint){.kind = TESELA_HINT_FORBID_MOVE, .node = w->map[k], .operand = i});
  }
  return true;
}

/* Propagate one way; keep a better answer. */
static void try_way(const search *s, copies_answer *answer) {
  static way w;
  tesela_graph *graph;
  tesela_propagation *p = NULL;
  if (!write_way(s, &w) || prog_graph(&w.p, &graph, NULL) != TESELA_OK) return;
  for (int k = 0; k < s->p->n; k++)
    if (tesela_graph_node(s->graph, k)->output) OK(tesela_graph_add_output(graph, w.map[k], &e_));
  for (int32_t h = 0; h < tesela_graph_hint_count(s->graph); h++) {
    tesela_hint of = *tesela_graph_hint_at(s->graph, h);
    of.node = w.map[of.node];
    OK(tesela_graph_hint(graph, &of, &e_));
  }
  for (int h = 0; h < w.n_hints; h++) OK(tesela_graph_hint(graph, &w.hint[h], &e_));
  answer->tried++;
  tesela_status status = tesela_graph_propagate(&p, graph, s->target, &s->options, NULL);
  assert_true(status == TESELA_OK || status == TESELA_E_INVALID); /* hints may leave no layout */
  tesela_propagate_facts facts = {.ok = false};
  if (status == TESELA_OK) facts = tesela_propagation_facts_of(p);
  int64_t cost = facts.cost, moves = facts.n_moves + w.n_copies;
  for (int i = 0; facts.ok && i < w.n_copies; i++) {
    tesela_device_layout layout;
    int stick = s->edge[w.edge[i]].option[s->pick[w.edge[i]]].stick;
    OK(tesela_propagation_layout(p, w.copy[i], stick, &layout, &e_));
    cost += layout.places;
  }
  if (facts.ok && (!answer->ok || cost < answer->cost || (cost == answer->cost && moves < answer->moves))) {
    answer->ok = true;
    answer->cost = cost;
    answer->moves = moves;
  }
  tesela_propagation_destroy(p);
  tesela_graph_destroy(graph);
}

bool copies_search(const prog *p, const tesela_graph *graph, const tesela_target *target,
                   const tesela_propagate_options *options, int64_t most, copies_answer *answer) {
  static search s;
  s = (search){.p = p, .graph = graph, .target = target, .options = *options};
  s.options.copies = s.options.all_sticks = false;
  *answer = (copies_answer){.ok = false};
  if (!find_edges(&s, most)) return false;
  for (int e = 0; e < s.n_edges;) {
    try_way(&s, answer);
    for (e = 0; e < s.n_edges && ++s.pick[e] == s.edge[e].n; e++) s.pick[e] = 0;
  }
  if (s.n_edges == 0) try_way(&s, answer);
  return true;
}
