/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_propagate_random.c - random programs of up to eight operators against exhaustive search by definition: the verdict,
 * the first operator without a layout, the price, the number of moves, and all sticks of the outputs. The program with its moves
 * must then be one that needs none, and compute on the device what the first one computes on plain memory.
 *
 * Sticks are of four f16 or two f32 lanes, so that small extents have whole sticks, parts, and seams on and off them. Programs
 * are made statement by statement; what the library's graph refuses is left out. TESELA_SEED says where to begin,
 * TESELA_ROUNDS how many.
 */
#include <inttypes.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "support_propagate.h"

enum { TEXT = 3000, STICK_BYTES = 8 };

typedef struct maker {
  uint64_t state;
  char text[TEXT];
  prog p;
  tesela_graph *graph;
  int names, operators;
  int flavour; /* 0 anything; 1 many pieces, also repeated ones; 2 much is written in place and moved */
} maker;

static uint64_t next(maker *m) {
  m->state += 0x9e3779b97f4a7c15u;
  uint64_t z = m->state;
  z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9u;
  z = (z ^ z >> 27) * 0x94d049bb133111ebu;
  return z ^ z >> 31;
}

static int below(maker *m, int n) { return (int)(next(m) % (uint64_t)n); }
static bool chance(maker *m, int percent) { return below(m, 100) < percent; }

/* Add a statement; false if the graph refuses it. `what` is all behind the name. */
static bool try_add(maker *m, const char *what) {
  char text[TEXT];
  tesela_graph *graph;
  prog p;
  if (m->p.n == PROG_STATEMENTS) return false;
  int length = snprintf(text, sizeof text, "%sv%d = %s\n", m->text, m->names, what);
  if (length >= (int)sizeof text) return false;
  prog_read(&p, text);
  if (prog_graph(&p, &graph, NULL) != TESELA_OK) return false;
  const tesela_node *made = tesela_graph_node(graph, p.n - 1);
  int64_t elements = 1;
  for (int d = 0; d < made->rank; d++) elements *= made->shape[d];
  if (elements > 512 || made->rank > 4) {
    tesela_graph_destroy(graph);
    return false;
  }
  tesela_graph_destroy(m->graph);
  m->graph = graph;
  m->p = p;
  memcpy(m->text, text, sizeof m->text);
  m->names++;
  return true;
}

static int last(const maker *m) { return m->p.n - 1; }
static const tesela_node *at(const maker *m, int k) { return tesela_graph_node(m->graph, k); }
static const char *name(const maker *m, int k) { return m->p.s[k].name; }

static void print_list(char *text, size_t room, int n, const int64_t *list) {
  size_t used = 0;
  text[0] = '\0';
  for (int i = 0; i < n; i++)
    used += (size_t)snprintf(text + used, room - used, "%s%" PRId64, i ? "," : "", list[i]);
}

static int64_t extent(maker *m) {
  static const int64_t extents[] = {1, 2, 3, 4, 4, 5, 8, 8};
  return extents[below(m, 8)];
}

/* A new tensor of a shape; its number. */
static int source(maker *m, int rank, const int64_t *shape, const char *type) {
  char list[64], what[128];
  print_list(list, sizeof list, rank, shape);
  if (chance(m, 20))
    snprintf(what, sizeof what, "constant %s[%s]", type, list);
  else if (chance(m, 12))
    snprintf(what, sizeof what, "input %s[%s] ?", type, list);
  else if (rank == 0 || chance(m, 10))
    snprintf(what, sizeof what, "input %s[%s] -", type, list);
  else
    snprintf(what, sizeof what, "input %s[%s] %d", type, list, below(m, rank));
  return try_add(m, what) ? last(m) : 0;
}

static const char *type(maker *m) { return chance(m, 15) ? "f32" : "f16"; }

/* A tensor of a shape: one there is, or a new one. */
static int of_shape(maker *m, int rank, const int64_t *shape) {
  int from = below(m, m->p.n);
  for (int i = 0; i < m->p.n && chance(m, 90); i++) {
    int k = (from + i) % m->p.n;
    if (at(m, k)->rank == rank && memcmp(at(m, k)->shape, shape, (size_t)rank * sizeof *shape) == 0 &&
        at(m, k)->dtype != TESELA_S32)
      return k;
  }
  return source(m, rank, shape, type(m));
}

static int any(maker *m) {
  if (m->flavour == 2 && chance(m, 40) && at(m, last(m))->dtype != TESELA_S32) return last(m);
  for (int i = 0; i < 20; i++) {
    int k = below(m, m->p.n);
    if (i < 3 && k < m->p.n / 2) continue; /* rather late ones */
    if (at(m, k)->dtype != TESELA_S32) return k;
  }
  return 0;
}

/* ---- statements ---- */

static bool add_view(maker *m) {
  char list[64], what[128];
  int x = any(m), rank = at(m, x)->rank;
  int64_t shape[PROG_RANK], d = rank ? below(m, rank) : 0;
  memcpy(shape, at(m, x)->shape, sizeof(int64_t) * (size_t)rank);
  switch (below(m, 6)) {
  case 0: {
    int64_t order[PROG_RANK];
    for (int i = 0; i < rank; i++) order[i] = i;
    for (int i = rank - 1; i > 0; i--) {
      int j = below(m, i + 1);
      int64_t keep = order[i];
      order[i] = order[j];
      order[j] = keep;
    }
    if (rank < 2) return false;
    print_list(list, sizeof list, rank, order);
    snprintf(what, sizeof what, "permute %s %s", name(m, x), list);
    return try_add(m, what);
  }
  case 1: { /* join two dims, or split one */
    if (rank >= 2 && chance(m, 50)) {
      int i = below(m, rank - 1);
      shape[i] *= shape[i + 1];
      memmove(&shape[i + 1], &shape[i + 2], sizeof(int64_t) * (size_t)(rank - i - 2));
      rank--;
    } else if (rank > 0 && rank < 4 && shape[d] % 2 == 0) {
      memmove(&shape[d + 1], &shape[d], sizeof(int64_t) * (size_t)(rank - d));
      int64_t part = shape[d] % 4 == 0 && chance(m, 50) ? 4 : 2;
      shape[d] /= part;
      shape[d + 1] = part;
      rank++;
    }
    print_list(list, sizeof list, rank, shape);
    snprintf(what, sizeof what, "reshape %s %s", name(m, x), rank ? list : "");
    return rank > 0 && try_add(m, what);
  }
  case 2:
    snprintf(what, sizeof what, "squeeze %s %" PRId64, name(m, x), d);
    return rank > 0 && shape[d] == 1 && try_add(m, what);
  case 3:
    snprintf(what, sizeof what, "unsqueeze %s %d", name(m, x), below(m, rank + 1));
    return rank < 4 && try_add(m, what);
  case 4:
    for (int i = 0; i < rank; i++)
      if (shape[i] == 1 && chance(m, 60)) shape[i] = extent(m);
    if (chance(m, 30) && rank < 3) {
      memmove(&shape[1], &shape[0], sizeof(int64_t) * (size_t)rank);
      shape[0] = extent(m);
      rank++;
    }
    print_list(list, sizeof list, rank, shape);
    snprintf(what, sizeof what, "expand %s %s", name(m, x), list);
    return rank > 0 && try_add(m, what);
  default: {
    if (rank == 0) return false;
    int64_t start = below(m, (int)shape[d]), step = chance(m, 80) ? 1 : chance(m, 50) ? 2 : -1;
    if (chance(m, 40)) start = start / 4 * 4;
    int64_t most = step > 0 ? (shape[d] - 1 - start) / step + 1 : start + 1;
    int64_t length = chance(m, 40) ? most : 1 + below(m, (int)most);
    snprintf(what, sizeof what, "slice %s %" PRId64 " %" PRId64 " %" PRId64 " %" PRId64, name(m, x), d, start,
             length, step);
    return try_add(m, what);
  }
  }
}

static bool add_pointwise(maker *m) {
  char what[128];
  int x = any(m), rank = at(m, x)->rank, n = 1 + below(m, 3), other[2] = {x, x};
  if (chance(m, 12)) {
    snprintf(what, sizeof what, "cast %s %s", chance(m, 50) ? "f32" : "f16", name(m, x));
    return try_add(m, what);
  }
  for (int i = 0; i < n - 1; i++) {
    int64_t shape[PROG_RANK];
    int r = rank;
    memcpy(shape, at(m, x)->shape, sizeof(int64_t) * (size_t)rank);
    for (int d = 0; d < r; d++)
      if (chance(m, 20))
        shape[d] = 1;
      else if (shape[d] == 1 && chance(m, 50))
        shape[d] = extent(m);
    int drop = chance(m, 20) ? below(m, r + 1) : 0;
    other[i] = of_shape(m, r - drop, shape + drop);
  }
  snprintf(what, sizeof what, "pw %s", name(m, x));
  for (int i = 0; i < n - 1; i++)
    snprintf(what + strlen(what), sizeof what - strlen(what), " %s", name(m, other[i]));
  return try_add(m, what);
}

static bool add_reduce(maker *m) {
  char list[64], what[128];
  int x = any(m), n = 0;
  int64_t dims[PROG_RANK];
  for (int d = 0; d < at(m, x)->rank; d++)
    if (chance(m, 45)) dims[n++] = d;
  if (n == 0) return false;
  print_list(list, sizeof list, n, dims);
  snprintf(what, sizeof what, "%s %s %s", chance(m, 35) ? "keep" : "sum", name(m, x), list);
  return try_add(m, what);
}

static bool add_matmul(maker *m) {
  char what[128];
  int x = any(m), rank = at(m, x)->rank, n = 0;
  int64_t shape[PROG_RANK];
  if (rank == 0) return false;
  for (int d = 0; d < rank - 2; d++)
    if (n > 0 || chance(m, 60)) shape[n++] = chance(m, 25) ? 1 : at(m, x)->shape[d];
  if (rank == 2 && chance(m, 15)) shape[n++] = extent(m);
  shape[n++] = at(m, x)->shape[rank - 1];
  if (n > 1 || chance(m, 85)) shape[n++] = extent(m);
  int y = of_shape(m, n, shape);
  snprintf(what, sizeof what, "matmul %s %s", name(m, x), name(m, y));
  return try_add(m, what);
}

static bool add_lookup(maker *m) {
  char what[128];
  int x = any(m), rank = at(m, x)->rank, n = below(m, 3), r = 0;
  if (rank == 0 || rank - 1 + n > 4) return false;
  int64_t shape[PROG_RANK], d = below(m, rank), value[PROG_RANK];
  for (int i = 0; i < n; i++) shape[i] = extent(m);
  for (int i = 0; i < rank; i++) {
    for (int j = 0; i == d && j < n; j++) value[r++] = shape[j];
    if (i != d) value[r++] = at(m, x)->shape[i];
  }
  int at_index = source(m, n, shape, "s32");
  if (chance(m, 60)) {
    snprintf(what, sizeof what, "gather %s %s %" PRId64, name(m, x), name(m, at_index), d);
  } else {
    int v = of_shape(m, r, value);
    snprintf(what, sizeof what, "scatter%s %s %s %s %" PRId64, chance(m, 50) ? "!" : "", name(m, x),
             name(m, at_index), name(m, v), d);
  }
  return try_add(m, what);
}

/* A piece of a shape, in flavour 1 often a repeated row or scalar. */
static int piece(maker *m, int rank, const int64_t *shape) {
  char list[64], what[128];
  int64_t few[PROG_RANK] = {0};
  if (m->flavour != 1 || chance(m, 50)) return of_shape(m, rank, shape);
  for (int d = 0; d < rank; d++) few[d] = chance(m, 50) ? 1 : shape[d];
  int x = of_shape(m, rank, few);
  print_list(list, sizeof list, rank, shape);
  snprintf(what, sizeof what, "expand %s %s", name(m, x), list);
  return try_add(m, what) ? last(m) : x;
}

static bool add_piece(maker *m) {
  char a[64], b[64], c[64], what[256];
  int x = any(m), rank = at(m, x)->rank;
  int64_t shape[PROG_RANK], low[PROG_RANK] = {0}, high[PROG_RANK] = {0}, step[PROG_RANK];
  memcpy(shape, at(m, x)->shape, sizeof(int64_t) * (size_t)rank);
  if (rank == 0) return false;
  int d = below(m, rank), kind = m->flavour == 2 ? 2 : below(m, 3);
  for (int i = 0; i < rank; i++) step[i] = 1;
  if (chance(m, 15)) step[d] = 2;
  if (kind == 0) { /* cat */
    shape[d] = extent(m);
    int y = piece(m, rank, shape);
    int z = chance(m, 30) ? piece(m, rank, shape) : -1;
    snprintf(what, sizeof what, "cat %d %s %s %s", d, name(m, x), name(m, y), z < 0 ? "" : name(m, z));
    return try_add(m, what);
  }
  if (kind == 1) {
    static const int64_t lows[] = {0, 0, 1, 4, 4, 8, -1, -4, 2};
    low[d] = lows[below(m, 9)];
    high[d] = lows[below(m, 9)];
    int64_t left = (shape[d] - 1) * step[d] + 1 + low[d] + high[d];
    if (left < 1 || left > 16 || low[d] <= -((shape[d] - 1) * step[d] + 1)) return false;
    print_list(a, sizeof a, rank, low);
    print_list(b, sizeof b, rank, high);
    print_list(c, sizeof c, rank, step);
    snprintf(what, sizeof what, "pad %s %s %s %s", name(m, x), a, b, c);
    return try_add(m, what);
  }
  for (int i = 0; i < rank; i++) {
    int64_t most = (shape[i] - 1) / step[i] + 1;
    int64_t n = chance(m, 50) ? most : 1 + below(m, (int)most);
    low[i] = below(m, (int)(shape[i] - (n - 1) * step[i]));
    if (chance(m, 40)) low[i] = low[i] / 4 * 4;
    shape[i] = n;
  }
  print_list(a, sizeof a, rank, low);
  print_list(c, sizeof c, rank, step);
  int y = piece(m, rank, shape);
  snprintf(what, sizeof what, "write%s %s %s %s %s", chance(m, m->flavour == 2 ? 85 : 50) ? "!" : "",
           name(m, x), name(m, y), a, c);
  return try_add(m, what);
}

static bool add_operator(maker *m) {
  char list[64], what[128];
  int kind = below(m, 12);
  if (m->flavour == 1 && chance(m, 50)) kind = 9;
  if (m->flavour == 2 && chance(m, 40)) kind = chance(m, 70) ? 9 : 8;
  switch (kind) {
  case 0:
  case 1:
  case 2:
  case 3:
    return add_pointwise(m);
  case 4:
  case 5:
    return add_reduce(m);
  case 6:
  case 7:
    return add_matmul(m);
  case 8:
    return add_lookup(m);
  case 9:
  case 10:
    return add_piece(m);
  default: {
    int x = any(m);
    print_list(list, sizeof list, at(m, x)->rank, at(m, x)->shape);
    if (chance(m, 70))
      snprintf(what, sizeof what, "clone %s", name(m, x));
    else
      snprintf(what, sizeof what, "fallback f16[%s] %s", list, name(m, x));
    return try_add(m, what);
  }
  }
}

static void make(maker *m, uint64_t seed) {
  memset(m, 0, sizeof *m);
  m->state = seed;
  m->flavour = (int)(seed % 3);
  OK(tesela_graph_create(&m->graph, NULL, &e_));
  int sources = 1 + below(m, 3), operators = 1 + below(m, 8);
  for (int i = 0; i < sources; i++) {
    int64_t shape[PROG_RANK];
    int rank = below(m, 10) == 0 ? 0 : 1 + below(m, 3);
    for (int d = 0; d < rank; d++) shape[d] = extent(m);
    if (i > 0 && chance(m, 50)) {
      rank = at(m, 0)->rank;
      memcpy(shape, at(m, 0)->shape, sizeof(int64_t) * (size_t)rank);
    }
    source(m, rank, shape, type(m));
  }
  for (int tries = 0; tries < 60 && m->operators < operators && m->p.n < PROG_STATEMENTS - 6; tries++) {
    if (chance(m, 40)) {
      if (m->p.n < 28) add_view(m);
    } else if (add_operator(m)) {
      m->operators++;
    }
  }
}

/* ---- comparing ---- */

static void random_options(maker *m, prog_options *o) {
  memset(o, 0, sizeof *o);
  o->stick_bytes = STICK_BYTES;
  o->share = chance(m, m->flavour == 2 ? 60 : 35);
  o->spread = chance(m, 12);
  o->compact = chance(m, 12);
  for (int k = 0; k < m->p.n; k++) { /* outputs: the last values of buffers that nothing reads */
    bool read = false;
    for (int j = k + 1; j < m->p.n; j++) {
      for (int i = 0; i < m->p.s[j].n_in; i++) read = read || m->p.s[j].in[i] == k;
      read = read || (at(m, j)->in_place && at(m, j)->buffer == at(m, k)->buffer);
    }
    if (!read && o->n_outputs < 3) o->output[o->n_outputs++] = k;
  }
  bool used[PROG_STATEMENTS] = {0};
  for (int i = 0; i < 3 && chance(m, 25); i++) {
    int k = below(m, m->p.n);
    const tesela_node *node = at(m, k);
    prog_hint hint = {TESELA_HINT_PREFER, k, below(m, node->rank + 1) - 1, 0, below(m, 40)};
    if (used[k] || node->view) continue;
    used[k] = true;
    bool input = node->op == TESELA_OP_INPUT;
    int kind = below(m, 4);
    if (kind == 0 && !input && node->buffer == k) hint.kind = TESELA_HINT_REQUIRE;
    if (kind == 1 && !input && node->buffer == k && node->rank > 0) hint.kind = TESELA_HINT_FORBID;
    if (kind == 2) hint.kind = input ? TESELA_HINT_FREE : TESELA_HINT_FORBID_MOVE;
    if (hint.kind == TESELA_HINT_FORBID_MOVE)
      hint.operand = node->n_operands > 0 ? below(m, node->n_operands + 1) - 1 : -1;
    if (hint.kind == TESELA_HINT_PREFER && node->buffer != k) continue;
    o->hint[o->n_hints++] = hint;
  }
}

static void explain(const maker *m, const prog_options *o, const char *what) {
  print_message("%s\n%s", what, m->text);
  print_message("moves %d share %d spread %d compact %d, outputs", o->moves, o->share, o->spread, o->compact);
  for (int i = 0; i < o->n_outputs; i++) print_message(" v%d", o->output[i]);
  for (int i = 0; i < o->n_hints; i++)
    print_message(", hint %d on v%d stick %d operand %d price %d", (int)o->hint[i].kind, o->hint[i].node,
                  o->hint[i].stick, o->hint[i].operand, (int)o->hint[i].price);
  print_message("\n");
}

static void prepare(const maker *m, const prog_options *o) {
  for (int i = 0; i < o->n_outputs; i++) OK(tesela_graph_set_output(m->graph, o->output[i], &e_));
  for (int i = 0; i < o->n_hints; i++) {
    tesela_hint hint = {o->hint[i].kind, o->hint[i].node, o->hint[i].stick, o->hint[i].operand,
                        o->hint[i].price};
    OK(tesela_graph_hint(m->graph, &hint, &e_));
  }
}

typedef struct tally {
  int programs, strict, possible, moved, ran, core;
} tally;

static int write_nothing(void *user, const char *text, size_t length) {
  (void)text;
  *(size_t *)user += length;
  return 0;
}

/* The program with its moves needs no more of them: strict, at what was not paid for moves. */
static bool applied_is_strict(const tesela_propagation *p, const tesela_target *target, bool share) {
  tesela_propagate_facts facts = tesela_propagation_facts_of(p), again;
  tesela_propagate_options options = {.share = share};
  tesela_propagation *strict;
  tesela_graph *graph;
  int32_t moves = 0, outputs = 0;
  OK(tesela_graph_apply(&graph, p, &e_));
  for (int32_t k = 0; k < tesela_graph_count(graph); k++) {
    const tesela_node *node = tesela_graph_node(graph, k);
    moves += node->op == TESELA_OP_MOVE;
    outputs += node->output;
    if ((node->buffer == k) != (node->layout != NULL)) return false;
  }
  OK(tesela_graph_propagate(&strict, graph, target, &options, &e_));
  again = tesela_propagation_facts_of(strict);
  tesela_propagation_destroy(strict);
  tesela_graph_destroy(graph);
  return moves == facts.n_moves && outputs > 0 && again.ok && again.cost == facts.cost - facts.moved;
}

/* ---- running ---- */

enum { RUN_TENSORS = 16, RUN_BYTES = 2048 };

typedef struct tensors {
  int n;
  void *at[RUN_TENSORS];
  unsigned char bytes[RUN_TENSORS][RUN_BYTES];
} tensors;

/* Small numbers in every input; indices inside the dim they look up. false if there are too many. */
static bool fill_inputs(maker *m, tensors *in) {
  static const uint16_t halves[] = {0, 0x3c00, 0x4000, 0x4200, 0xbc00, 0x3800};
  static const float floats[] = {0, 1, 2, 3, -1, 0.5f};
  in->n = 0;
  for (int k = 0; k < m->p.n; k++) {
    const tesela_node *node = at(m, k);
    int64_t n = 1, dim = 1;
    if (node->op != TESELA_OP_INPUT) continue;
    if (in->n == RUN_TENSORS) return false;
    for (int d = 0; d < node->rank; d++) n *= node->shape[d];
    for (int j = 0; j < m->p.n; j++)
      if (node->dtype == TESELA_S32 && at(m, j)->n_operands > 1 && at(m, j)->operand[1] == k)
        dim = at(m, at(m, j)->operand[0])->shape[at(m, j)->dim[0]];
    if (n * 4 > RUN_BYTES) return false;
    for (int64_t i = 0; i < n; i++) {
      int pick = below(m, 6);
      int32_t index = below(m, (int)dim);
      if (node->dtype == TESELA_F16) memcpy(in->bytes[in->n] + 2 * i, &halves[pick], 2);
      if (node->dtype == TESELA_F32) memcpy(in->bytes[in->n] + 4 * i, &floats[pick], 4);
      if (node->dtype == TESELA_S32) memcpy(in->bytes[in->n] + 4 * i, &index, 4);
    }
    in->at[in->n] = in->bytes[in->n];
    in->n++;
  }
  return true;
}

/* The program on plain memory, and with its moves on the device: are the outputs the same? A program that cannot be run counts as
 * such. */
static bool runs_alike(maker *m, const tesela_propagation *p, const tesela_target *target, int *ran) {
  static tensors in, plain, device;
  tesela_graph_run_options options = {.plain = true};
  tesela_graph_run_facts facts;
  tesela_graph *applied;
  if (!fill_inputs(m, &in)) return true;
  for (int i = 0; i < RUN_TENSORS; i++) {
    plain.at[i] = memset(plain.bytes[i], 1, RUN_BYTES);
    device.at[i] = memset(device.bytes[i], 1, RUN_BYTES);
  }
  tesela_status status =
      tesela_graph_run(m->graph, target, (const void *const *)in.at, plain.at, &options, &facts, NULL);
  if (status == TESELA_E_UNSUPPORTED || status == TESELA_E_INVALID)
    return true; /* a constant 1 looked up in one row */
  assert_int_equal(status, TESELA_OK);
  options.plain = false;
  OK(tesela_graph_apply(&applied, p, &e_));
  OK(tesela_graph_run(applied, target, (const void *const *)in.at, device.at, &options, &facts, &e_));
  tesela_graph_destroy(applied);
  ++*ran;
  return facts.poison_read == 0 && facts.moved == tesela_propagation_facts_of(p).moved &&
         memcmp(plain.bytes, device.bytes, sizeof plain.bytes) == 0;
}

/* Both answers; false with a message if they differ. */
static bool agree(maker *m, const tesela_target *target, const prog_options *o, tally *sum) {
  prog_answer right;
  tesela_propagation *p;
  char what[256];
  tesela_propagate_options options = {
      .mode = o->moves ? TESELA_PROPAGATE_AUTO : TESELA_PROPAGATE_STRICT,
      .share = o->share,
      .spread = o->spread,
      .compact = o->compact,
      .all_sticks = true,
  };
  prog_search(&m->p, o, &right);
  OK(tesela_graph_propagate(&p, m->graph, target, &options, &e_));
  tesela_propagate_facts facts = tesela_propagation_facts_of(p);
  bool same = facts.ok == right.ok && facts.proven;
  if (same && facts.ok)
    same = facts.cost == right.cost && facts.n_moves == right.moves && facts.bound == facts.cost;
  if (same && !facts.ok) same = facts.error_node == right.error;
  snprintf(what, sizeof what, "ok %d/%d error %d/%d cost %" PRId64 "/%" PRId64 " moves %d/%d proven %d",
           facts.ok, right.ok, (int)facts.error_node, right.error, facts.cost, right.cost, (int)facts.n_moves,
           (int)right.moves, facts.proven);
  for (int i = 0; same && facts.ok && i < o->n_outputs; i++) {
    int32_t sticks[PROG_RANK + 1], n = tesela_propagation_sticks(p, o->output[i], PROG_RANK + 1, sticks);
    unsigned found = 0;
    for (int32_t j = 0; j < n; j++) found |= 1u << (sticks[j] + 1);
    same = found == right.sticks[i];
    if (!same) snprintf(what, sizeof what, "sticks of v%d: %x/%x", o->output[i], found, right.sticks[i]);
  }
  if (same && facts.ok && !applied_is_strict(p, target, o->share)) {
    same = false;
    snprintf(what, sizeof what, "the program with its moves is not strict");
  }
  if (same && facts.ok && !runs_alike(m, p, target, &sum->ran)) {
    same = false;
    snprintf(what, sizeof what, "the program with its moves computes something else");
  }
  size_t length = 0;
  tesela_writer writer = {write_nothing, &length};
  OK(tesela_propagation_explain(p, true, &writer, &e_));
  assert_true(length > 20);
  sum->strict += !o->moves && right.ok;
  sum->possible += o->moves && right.ok;
  sum->moved += o->moves && right.ok && right.moves > 0;
  sum->core += facts.core > 0;
  if (!same) explain(m, o, what);
  tesela_propagation_destroy(p);
  return same;
}

static void programs_agree_with_exhaustive_search(void **state) {
  (void)state;
  const char *seed_text = getenv("TESELA_SEED"), *rounds_text = getenv("TESELA_ROUNDS");
  uint64_t seed = seed_text ? strtoull(seed_text, NULL, 10) : 20261121;
  int rounds = rounds_text ? atoi(rounds_text) : 3000, wrong = 0;
  tesela_target target;
  tally sum = {0};
  print_message("TESELA_SEED=%" PRIu64 "\n", seed);
  OK(tesela_target_plain(&target, STICK_BYTES, &e_));
  for (int i = 0; i < rounds && wrong < 3; i++) {
    static maker m;
    prog_options options;
    make(&m, seed + (uint64_t)i);
    random_options(&m, &options);
    prepare(&m, &options);
    sum.programs++;
    for (int moves = 0; moves < 2; moves++) {
      options.moves = moves;
      if (!agree(&m, &target, &options, &sum)) {
        print_message("TESELA_SEED=%" PRIu64 " TESELA_ROUNDS=1\n", seed + (uint64_t)i);
        wrong++;
        break;
      }
    }
    tesela_graph_destroy(m.graph);
  }
  print_message(
      "%d programs: %d without moves, %d with, %d of them moved; %d left something to search, %d ran\n",
      sum.programs, sum.strict, sum.possible, sum.moved, sum.core, sum.ran);
  assert_int_equal(wrong, 0);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(programs_agree_with_exhaustive_search),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
