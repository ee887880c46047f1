/* SPDX-License-Identifier: Apache-2.0 */
/*
 * support_propagate_random.c - see support_propagate_random.h.
 */
#include "support_propagate_random.h"

static uint64_t next(prog_maker *m) {
  m->state += 0x9e3779b97f4a7c15u;
  uint64_t z = m->state;
  z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9u;
  z = (z ^ z >> 27) * 0x94d049bb133111ebu;
  return z ^ z >> 31;
}

int prog_below(prog_maker *m, int n) { return (int)(next(m) % (uint64_t)n); }
bool prog_chance(prog_maker *m, int percent) { return prog_below(m, 100) < percent; }

/* Add a statement; false if the graph refuses it. `what` is the text after the name. */
static bool try_add(prog_maker *m, const char *what) {
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

static int last(const prog_maker *m) { return m->p.n - 1; }
const tesela_node *prog_node(const prog_maker *m, int k) { return tesela_graph_node(m->graph, k); }
static const char *name(const prog_maker *m, int k) { return m->p.s[k].name; }

static void print_list(char *text, size_t room, int n, const int64_t *list) {
  size_t used = 0;
  text[0] = '\0';
  for (int i = 0; i < n; i++)
    used += (size_t)snprintf(text + used, room - used, "%s%" PRId64, i ? "," : "", list[i]);
}

static int64_t extent(prog_maker *m) {
  static const int64_t extents[] = {1, 2, 3, 4, 4, 5, 8, 8};
  return extents[prog_below(m, 8)];
}

/* A new tensor of a shape; returns its number. */
static int source(prog_maker *m, int rank, const int64_t *shape, const char *type) {
  char list[64], what[128];
  print_list(list, sizeof list, rank, shape);
  if (prog_chance(m, 20))
    snprintf(what, sizeof what, "constant %s[%s]", type, list);
  else if (prog_chance(m, 12))
    snprintf(what, sizeof what, "input %s[%s] ?", type, list);
  else if (rank == 0 || prog_chance(m, 10))
    snprintf(what, sizeof what, "input %s[%s] -", type, list);
  else
    snprintf(what, sizeof what, "input %s[%s] %d", type, list, prog_below(m, rank));
  return try_add(m, what) ? last(m) : 0;
}

static const char *type(prog_maker *m) { return prog_chance(m, 15) ? "f32" : "f16"; }

/* A tensor of a shape: an existing one, or a new one. */
static int of_shape(prog_maker *m, int rank, const int64_t *shape) {
  int from = prog_below(m, m->p.n);
  for (int i = 0; i < m->p.n && prog_chance(m, 90); i++) {
    int k = (from + i) % m->p.n;
    if (prog_node(m, k)->rank == rank &&
        memcmp(prog_node(m, k)->shape, shape, (size_t)rank * sizeof *shape) == 0 &&
        prog_node(m, k)->dtype != TESELA_S32)
      return k;
  }
  return source(m, rank, shape, type(m));
}

static int any(prog_maker *m) {
  if (m->flavour == 2 && prog_chance(m, 40) && prog_node(m, last(m))->dtype != TESELA_S32) return last(m);
  for (int i = 0; i < 20; i++) {
    int k = prog_below(m, m->p.n);
    if (i < 3 && k < m->p.n / 2) continue; /* prefer later ones */
    if (prog_node(m, k)->dtype != TESELA_S32) return k;
  }
  return 0;
}

/* ---- statements ---- */

static bool add_view(prog_maker *m) {
  char list[64], what[128];
  int x = any(m), rank = prog_node(m, x)->rank;
  int64_t shape[PROG_RANK], d = rank ? prog_below(m, rank) : 0;
  memcpy(shape, prog_node(m, x)->shape, sizeof(int64_t) * (size_t)rank);
  switch (prog_below(m, 6)) {
  case 0: {
    int64_t order[PROG_RANK];
    for (int i = 0; i < rank; i++) order[i] = i;
    for (int i = rank - 1; i > 0; i--) {
      int j = prog_below(m, i + 1);
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
    if (rank >= 2 && prog_chance(m, 50)) {
      int i = prog_below(m, rank - 1);
      shape[i] *= shape[i + 1];
      memmove(&shape[i + 1], &shape[i + 2], sizeof(int64_t) * (size_t)(rank - i - 2));
      rank--;
    } else if (rank > 0 && rank < 4 && shape[d] % 2 == 0) {
      memmove(&shape[d + 1], &shape[d], sizeof(int64_t) * (size_t)(rank - d));
      int64_t part = shape[d] % 4 == 0 && prog_chance(m, 50) ? 4 : 2;
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
    snprintf(what, sizeof what, "unsqueeze %s %d", name(m, x), prog_below(m, rank + 1));
    return rank < 4 && try_add(m, what);
  case 4:
    for (int i = 0; i < rank; i++)
      if (shape[i] == 1 && prog_chance(m, 60)) shape[i] = extent(m);
    if (prog_chance(m, 30) && rank < 3) {
      memmove(&shape[1], &shape[0], sizeof(int64_t) * (size_t)rank);
      shape[0] = extent(m);
      rank++;
    }
    print_list(list, sizeof list, rank, shape);
    snprintf(what, sizeof what, "expand %s %s", name(m, x), list);
    return rank > 0 && try_add(m, what);
  default: {
    if (rank == 0) return false;
    int64_t start = prog_below(m, (int)shape[d]), step = prog_chance(m, 80) ? 1 : prog_chance(m, 50) ? 2 : -1;
    if (prog_chance(m, 40)) start = start / 4 * 4;
    int64_t most = step > 0 ? (shape[d] - 1 - start) / step + 1 : start + 1;
    int64_t length = prog_chance(m, 40) ? most : 1 + prog_below(m, (int)most);
    snprintf(what, sizeof what, "slice %s %" PRId64 " %" PRId64 " %" PRId64 " %" PRId64, name(m, x), d, start,
             length, step);
    return try_add(m, what);
  }
  }
}

static bool add_pointwise(prog_maker *m) {
  char what[128];
  int x = any(m), rank = prog_node(m, x)->rank, n = 1 + prog_below(m, 3), other[2] = {x, x};
  if (prog_chance(m, 12)) {
    snprintf(what, sizeof what, "cast %s %s", prog_chance(m, 50) ? "f32" : "f16", name(m, x));
    return try_add(m, what);
  }
  for (int i = 0; i < n - 1; i++) {
    int64_t shape[PROG_RANK];
    int r = rank;
    memcpy(shape, prog_node(m, x)->shape, sizeof(int64_t) * (size_t)rank);
    for (int d = 0; d < r; d++)
      if (prog_chance(m, 20))
        shape[d] = 1;
      else if (shape[d] == 1 && prog_chance(m, 50))
        shape[d] = extent(m);
    int drop = prog_chance(m, 20) ? prog_below(m, r + 1) : 0;
    other[i] = of_shape(m, r - drop, shape + drop);
  }
  snprintf(what, sizeof what, "pw %s", name(m, x));
  for (int i = 0; i < n - 1; i++)
    snprintf(what + strlen(what), sizeof what - strlen(what), " %s", name(m, other[i]));
  return try_add(m, what);
}

static bool add_reduce(prog_maker *m) {
  char list[64], what[128];
  int x = any(m), n = 0;
  int64_t dims[PROG_RANK];
  for (int d = 0; d < prog_node(m, x)->rank; d++)
    if (prog_chance(m, 45)) dims[n++] = d;
  if (n == 0) return false;
  print_list(list, sizeof list, n, dims);
  snprintf(what, sizeof what, "%s %s %s", prog_chance(m, 35) ? "keep" : "sum", name(m, x), list);
  return try_add(m, what);
}

/* Products, operators along a dim, and operators with only a rule. */
static bool add_ruled(prog_maker *m) {
  static const char *const words[] = {"sort", "rank", "cum", "line", "keeps", "stats", "norm"};
  char list[64], what[128];
  int x = any(m), rank = prog_node(m, x)->rank, kind = prog_below(m, 8);
  int64_t shape[PROG_RANK], d = rank ? prog_below(m, rank) : 0;
  memcpy(shape, prog_node(m, x)->shape, sizeof(int64_t) * (size_t)rank);
  if (rank == 0) return false;
  if (kind == 7) {
    snprintf(what, sizeof what, "prod %s %" PRId64 "%s", name(m, x), d,
             d > 0 && prog_chance(m, 30) ? ",0" : "");
    return try_add(m, what);
  }
  if (kind < 4) {
    int y = kind == 3 ? of_shape(m, rank, shape) : x;
    snprintf(what, sizeof what, "%s %s %s %" PRId64, words[kind], name(m, x), kind == 3 ? name(m, y) : "", d);
    if (kind != 2)
      snprintf(what + strlen(what), sizeof what - strlen(what), " %d", 1 + prog_below(m, (int)shape[d]));
    return try_add(m, what);
  }
  int y = prog_chance(m, 50) ? x : prog_chance(m, 80) ? of_shape(m, rank, shape) : any(m);
  if (kind == 5) shape[rank - 1] = prog_chance(m, 90) ? 1 : 2;
  if (kind != 5 && prog_chance(m, 8)) shape[d] = extent(m);
  print_list(list, sizeof list, rank, shape);
  snprintf(what, sizeof what, "%s %s[%s] %s %s", words[kind], tesela_dtype_name(prog_node(m, x)->dtype), list,
           name(m, x), kind == 5 ? "" : name(m, y));
  return try_add(m, what);
}

static bool add_matmul(prog_maker *m) {
  char what[128];
  int x = any(m), rank = prog_node(m, x)->rank, n = 0;
  int64_t shape[PROG_RANK];
  if (rank == 0) return false;
  for (int d = 0; d < rank - 2; d++)
    if (n > 0 || prog_chance(m, 60)) shape[n++] = prog_chance(m, 25) ? 1 : prog_node(m, x)->shape[d];
  if (rank == 2 && prog_chance(m, 15)) shape[n++] = extent(m);
  shape[n++] = prog_node(m, x)->shape[rank - 1];
  if (n > 1 || prog_chance(m, 85)) shape[n++] = extent(m);
  int y = of_shape(m, n, shape);
  snprintf(what, sizeof what, "matmul %s %s", name(m, x), name(m, y));
  return try_add(m, what);
}

static bool add_lookup(prog_maker *m) {
  char what[128];
  int x = any(m), rank = prog_node(m, x)->rank, n = prog_below(m, 3), r = 0;
  if (rank == 0 || rank - 1 + n > 4) return false;
  int64_t shape[PROG_RANK], d = prog_below(m, rank), value[PROG_RANK];
  for (int i = 0; i < n; i++) shape[i] = extent(m);
  for (int i = 0; i < rank; i++) {
    for (int j = 0; i == d && j < n; j++) value[r++] = shape[j];
    if (i != d) value[r++] = prog_node(m, x)->shape[i];
  }
  int at_index = source(m, n, shape, "s32");
  if (prog_chance(m, 60)) {
    snprintf(what, sizeof what, "gather %s %s %" PRId64, name(m, x), name(m, at_index), d);
  } else {
    int v = of_shape(m, r, value);
    snprintf(what, sizeof what, "scatter%s %s %s %s %" PRId64, prog_chance(m, 50) ? "!" : "", name(m, x),
             name(m, at_index), name(m, v), d);
  }
  return try_add(m, what);
}

/* A piece of a shape; in flavour 1 often a repeated row or scalar. */
static int piece(prog_maker *m, int rank, const int64_t *shape) {
  char list[64], what[128];
  int64_t few[PROG_RANK] = {0};
  if (m->flavour != 1 || prog_chance(m, 50)) return of_shape(m, rank, shape);
  for (int d = 0; d < rank; d++) few[d] = prog_chance(m, 50) ? 1 : shape[d];
  int x = of_shape(m, rank, few);
  print_list(list, sizeof list, rank, shape);
  snprintf(what, sizeof what, "expand %s %s", name(m, x), list);
  return try_add(m, what) ? last(m) : x;
}

static bool add_piece(prog_maker *m) {
  char a[64], b[64], c[64], what[256];
  int x = any(m), rank = prog_node(m, x)->rank;
  int64_t shape[PROG_RANK], low[PROG_RANK] = {0}, high[PROG_RANK] = {0}, step[PROG_RANK];
  memcpy(shape, prog_node(m, x)->shape, sizeof(int64_t) * (size_t)rank);
  if (rank == 0) return false;
  int d = prog_below(m, rank), kind = m->flavour == 2 ? 2 : prog_below(m, 3);
  for (int i = 0; i < rank; i++) step[i] = 1;
  if (prog_chance(m, 15)) step[d] = 2;
  if (kind == 0) { /* cat */
    shape[d] = extent(m);
    int y = piece(m, rank, shape);
    int z = prog_chance(m, 30) ? piece(m, rank, shape) : -1;
    snprintf(what, sizeof what, "cat %d %s %s %s", d, name(m, x), name(m, y), z < 0 ? "" : name(m, z));
    return try_add(m, what);
  }
  if (kind == 1) {
    static const int64_t lows[] = {0, 0, 1, 4, 4, 8, -1, -4, 2};
    low[d] = lows[prog_below(m, 9)];
    high[d] = lows[prog_below(m, 9)];
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
    int64_t n = prog_chance(m, 50) ? most : 1 + prog_below(m, (int)most);
    low[i] = prog_below(m, (int)(shape[i] - (n - 1) * step[i]));
    if (prog_chance(m, 40)) low[i] = low[i] / 4 * 4;
    shape[i] = n;
  }
  print_list(a, sizeof a, rank, low);
  print_list(c, sizeof c, rank, step);
  int y = piece(m, rank, shape);
  snprintf(what, sizeof what, "write%s %s %s %s %s", prog_chance(m, m->flavour == 2 ? 85 : 50) ? "!" : "",
           name(m, x), name(m, y), a, c);
  return try_add(m, what);
}

static bool add_operator(prog_maker *m) {
  char list[64], what[128];
  int kind = prog_below(m, 14);
  if (m->flavour == 1 && prog_chance(m, 50)) kind = 9;
  if (m->flavour == 2 && prog_chance(m, 40)) kind = prog_chance(m, 70) ? 9 : 8;
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
  case 12:
  case 13:
    return add_ruled(m);
  default: {
    int x = any(m);
    print_list(list, sizeof list, prog_node(m, x)->rank, prog_node(m, x)->shape);
    if (prog_chance(m, 70))
      snprintf(what, sizeof what, "clone %s", name(m, x));
    else
      snprintf(what, sizeof what, "fallback f16[%s] %s", list, name(m, x));
    return try_add(m, what);
  }
  }
}

void prog_draw(prog_maker *m, uint64_t seed) {
  memset(m, 0, sizeof *m);
  m->state = seed;
  m->flavour = (int)(seed % 3);
  OK(tesela_graph_create(&m->graph, NULL, &e_));
  int sources = 1 + prog_below(m, 3), operators = 1 + prog_below(m, 8);
  for (int i = 0; i < sources; i++) {
    int64_t shape[PROG_RANK];
    int rank = prog_below(m, 10) == 0 ? 0 : 1 + prog_below(m, 3);
    for (int d = 0; d < rank; d++) shape[d] = extent(m);
    if (i > 0 && prog_chance(m, 50)) {
      rank = prog_node(m, 0)->rank;
      memcpy(shape, prog_node(m, 0)->shape, sizeof(int64_t) * (size_t)rank);
    }
    source(m, rank, shape, type(m));
  }
  for (int tries = 0; tries < 60 && m->operators < operators && m->p.n < PROG_STATEMENTS - 6; tries++) {
    if (prog_chance(m, 40)) {
      if (m->p.n < 28) add_view(m);
    } else if (add_operator(m)) {
      m->operators++;
    }
  }
}
