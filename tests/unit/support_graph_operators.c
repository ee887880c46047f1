/* SPDX-License-Identifier: Apache-2.0 */
/*
 * support_graph_operators.c - one random operator of each class, added to a program; see
 * support_graph_random.h.
 */
#include "support_graph_operators.h"

static tesela_dtype a_type(const random_program *p, uint64_t *state) {
  if (p->only != TESELA_DTYPE_NONE) return p->only;
  return random_types[random_below(state, random_below(state, 2) ? 3 : (int64_t)(RANDOM_TYPES))];
}

static int64_t an_extent(uint64_t *state) {
  static const int64_t extents[] = {1, 2, 3, 4, 5, 7, 8, 9, 13, 16, 17, 33};
  return random_below(state, 60) == 0 ? 0 : extents[random_below(state, random_below(state, 2) ? 6 : 12)];
}

int32_t random_fresh_input(random_program *p, uint64_t *state) {
  int64_t shape[RANK];
  int32_t rank = (int32_t)random_below(state, 5);
  do {
    for (int32_t d = 0; d < rank; d++) shape[d] = an_extent(state);
  } while (random_elements(rank, shape) > 600);
  return random_add_input(p, state, a_type(p, state), rank, shape, 0);
}

static int32_t a_node(random_program *p, uint64_t *state) {
  int32_t n = tesela_graph_count(p->graph);
  if (n == 0 || random_below(state, 6) == 0) return random_fresh_input(p, state);
  return n - 1 - (int32_t)random_below(state, n < 5 ? n : random_below(state, 2) ? 4 : n);
}

const tesela_node *random_node(const random_program *p, int32_t k) { return tesela_graph_node(p->graph, k); }

/* A tensor that broadcasts with node x: an existing one, or a new one. */
static int32_t a_mate(random_program *p, uint64_t *state, int32_t x, tesela_dtype dtype) {
  if (x < 0) return -1;
  const tesela_node *like = random_node(p, x);
  int64_t shape[RANK];
  for (int32_t tries = 0; tries < 4; tries++) {
    int32_t k = (int32_t)random_below(state, tesela_graph_count(p->graph));
    const tesela_node *node = random_node(p, k);
    bool fits = dtype == TESELA_DTYPE_NONE || node->dtype == dtype;
    for (int32_t d = 1; d <= node->rank && d <= like->rank && fits; d++) {
      int64_t a = node->shape[node->rank - d], b = like->shape[like->rank - d];
      fits = a == b || a == 1 || b == 1;
    }
    if (fits) return k;
  }
  int32_t rank = like->rank - (int32_t)(like->rank > 0 && random_below(state, 4) == 0);
  for (int32_t d = 0; d < rank; d++)
    shape[d] = random_below(state, 4) == 0 ? 1 : like->shape[d + like->rank - rank];
  return random_add_input(p, state, dtype != TESELA_DTYPE_NONE ? dtype : like->dtype, rank, shape, 0);
}

static bool is_float(tesela_dtype dtype) { return tesela_dtype_family_of(dtype) == TESELA_FAMILY_FLOAT; }

typedef struct draw {
  tesela_node_spec spec;
  int32_t operand[4], dims[RANK];
  int64_t shape[RANK], start[RANK], length[RANK], step[RANK], low[RANK], high[RANK], dilation[RANK],
      x_dilation[RANK];
} draw;

static bool draw_pointwise(random_program *p, draw *w, uint64_t *state) {
  w->spec.fn = (tesela_fn)(1 + random_below(state, TESELA_FN_ISFINITE));
  int32_t n = tesela_fn_operands(w->spec.fn);
  for (int32_t k = 1; k < n; k++) w->operand[k] = a_mate(p, state, w->operand[k - 1], TESELA_DTYPE_NONE);
  w->spec.n_operands = n;
  if (random_below(state, 4) == 0) w->spec.dtype = a_type(p, state);
  return true;
}

static bool draw_reduce(random_program *p, draw *w, uint64_t *state) {
  static const tesela_fn folds[] = {TESELA_FN_SUM,  TESELA_FN_MEAN, TESELA_FN_MAX, TESELA_FN_MIN,
                                    TESELA_FN_PROD, TESELA_FN_AND,  TESELA_FN_OR,  TESELA_FN_XOR};
  const tesela_node *x = random_node(p, w->operand[0]);
  w->spec.fn = folds[random_below(state, is_float(x->dtype) ? 5 : 8)];
  for (int32_t d = 0; d < x->rank; d++)
    if (random_below(state, 2)) w->dims[w->spec.n_dims++] = d;
  w->spec.keepdim = random_below(state, 2);
  return true;
}

static bool draw_along(random_program *p, draw *w, uint64_t *state) {
  const tesela_node *x = random_node(p, w->operand[0]);
  if (x->rank == 0) return false;
  w->spec.fn = (tesela_fn)(TESELA_FN_CUMSUM + random_below(state, p->only == TESELA_DTYPE_NONE ? 6 : 5));
  w->dims[w->spec.n_dims++] = (int32_t)random_below(state, x->rank);
  w->spec.reverse = random_below(state, 2);
  w->length[0] = x->shape[w->dims[0]];
  if (w->spec.fn >= TESELA_FN_SORT && random_below(state, 2))
    w->length[0] = random_below(state, w->length[0] + 1);
  return true;
}

static bool draw_matmul(random_program *p, draw *w, uint64_t *state) {
  const tesela_node *x = random_node(p, w->operand[0]);
  int64_t shape[RANK];
  int32_t rank = 0;
  if (x->rank == 0) return false;
  for (int32_t d = 0; d + 2 < x->rank; d++) shape[rank++] = random_below(state, 3) ? x->shape[d] : 1;
  shape[rank++] = x->shape[x->rank - 1];
  if (x->rank > 1 || random_below(state, 2)) shape[rank++] = 1 + random_below(state, 9);
  w->operand[1] = random_add_input(p, state, x->dtype, rank, shape, 0);
  if (w->operand[1] >= 0 && rank >= 2 && random_below(state, 2)) { /* transposed twice: a view */
    int64_t turned[RANK];
    memcpy(turned, shape, sizeof turned);
    turned[rank - 1] = shape[rank - 2];
    turned[rank - 2] = shape[rank - 1];
    int32_t y = random_add_input(p, state, x->dtype, rank, turned, 0), dims[RANK];
    for (int32_t d = 0; d < rank; d++) dims[d] = d;
    dims[rank - 1] = rank - 2;
    dims[rank - 2] = rank - 1;
    tesela_node_spec turn = {
        .op = TESELA_OP_PERMUTE, .n_operands = 1, .operand = &y, .n_dims = rank, .dims = dims};
    if (y < 0 || tesela_graph_add(p->graph, &turn, &w->operand[1], NULL) != TESELA_OK) return false;
  }
  w->spec.n_operands = 2;
  return w->operand[1] >= 0;
}

/* Random places 0 .. n-1 for those of six roles in `there` (bits); -1 for the others. */
static void draw_places(int32_t at[6], uint32_t there, uint64_t *state) {
  int32_t role[6], n = 0;
  for (int32_t i = 0; i < 6; i++) {
    at[i] = -1;
    if (there >> i & 1) role[n++] = i;
  }
  for (int32_t i = n; i > 0; i--) {
    int32_t k = (int32_t)random_below(state, i), swap = role[k];
    role[k] = role[i - 1];
    at[swap] = i - 1;
  }
}

/* Of one to three spatial dims: plain, in groups, or without channels. */
static bool draw_conv2d(random_program *p, draw *w, uint64_t *state) {
  tesela_conv2d *c = &w->spec.conv;
  int64_t x[6] = {0}, k[6] = {0}, kind = random_below(state, 4); /* 0, 1: plain; 2: groups; 3: depthwise */
  int32_t rank[2] = {0, 0};
  bool out = kind < 3 || random_below(state, 2);
  tesela_dtype dtype = p->only != TESELA_DTYPE_NONE ? p->only
                       : random_below(state, 2)     ? TESELA_F16
                                                    : TESELA_S16;
  c->spatial = random_below(state, 3) ? 2 : 1 + 2 * (int32_t)random_below(state, 2);
  c->grouped = kind >= 2;
  uint32_t spatial = ((1u << c->spatial) - 1) << 2, group = c->grouped ? 32 : 0;
  draw_places(c->x, 1u | (kind < 3 ? 2 : 0) | spatial | group, state);
  draw_places(c->w, (out ? 1u : 0) | (kind < 3 ? 2 : 0) | spatial | group, state);
  draw_places(c->result, 1u | (out ? 2 : 0) | spatial | group, state);
  x[c->x[0]] = 1 + random_below(state, 2);
  if (kind < 3) x[c->x[1]] = k[c->w[1]] = 1 + random_below(state, 3);
  if (out) k[c->w[0]] = 1 + random_below(state, 5);
  if (c->grouped) x[c->x[5]] = k[c->w[5]] = 1 + random_below(state, 6);
  for (int32_t i = 0; i < c->spatial; i++) {
    x[c->x[2 + i]] = (c->spatial == 3 ? 2 : 3) + random_below(state, c->spatial == 3 ? 3 : 5);
    k[c->w[2 + i]] = 1 + random_below(state, 3);
    c->stride[i] = 1 + random_below(state, 2);
    c->dilation[i] = 1 + random_below(state, 2);
    c->x_dilation[i] = random_below(state, 3) ? 1 : 1 + random_below(state, 3);
    c->low[i] = random_below(state, 4) - 1;
    c->high[i] = random_below(state, 4) - 1;
  }
  for (int32_t i = 0; i < 6; i++) {
    rank[0] += c->x[i] >= 0;
    rank[1] += c->w[i] >= 0;
  }
  w->operand[0] = random_add_input(p, state, dtype, rank[0], x, 0);
  w->operand[1] = random_add_input(p, state, dtype, rank[1], k, 0);
  w->spec.n_operands = 2;
  return w->operand[0] >= 0 && w->operand[1] >= 0;
}

static bool draw_pool(random_program *p, draw *w, uint64_t *state) {
  static const tesela_fn folds[] = {TESELA_FN_SUM, TESELA_FN_MAX, TESELA_FN_MIN, TESELA_FN_PROD,
                                    TESELA_FN_AND, TESELA_FN_OR,  TESELA_FN_XOR};
  const tesela_node *x = random_node(p, w->operand[0]);
  w->spec.fn = folds[random_below(state, is_float(x->dtype) ? 4 : 7)];
  w->spec.dilation = w->dilation;
  w->spec.x_dilation = w->x_dilation;
  for (int32_t d = 0; d < x->rank; d++) {
    bool window = random_below(state, 2);
    w->length[d] = window ? 1 + random_below(state, 4) : 1;
    w->step[d] = window ? 1 + random_below(state, 3) : 1;
    w->low[d] = window ? random_below(state, 4) - 1 : 0;
    w->high[d] = window ? random_below(state, 4) - 1 : 0;
    w->dilation[d] = window ? 1 + random_below(state, 2) : 1;
    w->x_dilation[d] = window && random_below(state, 4) == 0 ? 2 : 1;
  }
  return true;
}

static bool draw_lookup(random_program *p, draw *w, uint64_t *state) {
  const tesela_node *x = random_node(p, w->operand[0]);
  tesela_dtype dtype = x->dtype;
  int64_t shape[RANK], values[RANK];
  if (x->rank == 0) return false;
  int32_t d = (int32_t)random_below(state, x->rank), rank = (int32_t)random_below(state, 3), n = 0;
  if (x->shape[d] == 0 || x->rank + rank > 6) return false;
  for (int32_t i = 0; i < rank; i++) shape[i] = 1 + random_below(state, 4);
  for (int32_t i = 0; i < x->rank; i++) {
    if (i != d) values[n++] = x->shape[i];
    for (int32_t j = 0; j < rank && i == d; j++) values[n++] = shape[j];
  }
  static const tesela_dtype integers[] = {TESELA_S32, TESELA_S64, TESELA_U8};
  w->operand[1] = random_add_input(p, state, integers[random_below(state, 3)], rank, shape, x->shape[d]);
  w->spec.n_operands = 2;
  w->spec.n_dims = 1;
  w->dims[0] = d;
  if (w->spec.op == TESELA_OP_GATHER) return w->operand[1] >= 0 && random_elements(n, values) <= MOST;
  w->operand[2] = random_add_input(p, state, dtype, n, values, 0);
  w->spec.n_operands = 3;
  w->spec.fn = random_below(state, 2) ? TESELA_FN_ADD : TESELA_FN_NONE;
  w->spec.in_place = random_below(state, 2);
  return w->operand[1] >= 0 && w->operand[2] >= 0;
}

static bool draw_cat(random_program *p, draw *w, uint64_t *state) {
  const tesela_node *x = random_node(p, w->operand[0]);
  if (x->rank == 0) return false;
  int32_t d = (int32_t)random_below(state, x->rank), n = 1 + (int32_t)random_below(state, 3);
  int64_t shape[RANK];
  memcpy(shape, x->shape, sizeof shape);
  tesela_dtype dtype = x->dtype;
  int32_t rank = x->rank;
  for (int32_t k = 1; k < n; k++) {
    shape[d] = random_below(state, 6);
    w->operand[k] =
        random_below(state, 3) == 0 ? w->operand[0] : random_add_input(p, state, dtype, rank, shape, 0);
    if (w->operand[k] < 0) return false;
  }
  w->spec.n_operands = n;
  w->spec.n_dims = 1;
  w->dims[0] = d;
  return true;
}

static bool draw_pad(random_program *p, draw *w, uint64_t *state) {
  const tesela_node *x = random_node(p, w->operand[0]);
  w->spec.value = (double)random_below(state, 7) - 3;
  for (int32_t d = 0; d < x->rank; d++) {
    w->low[d] = random_below(state, 4) - 1;
    w->high[d] = random_below(state, 4) - 1;
    w->step[d] = random_below(state, 3) ? 1 : 2;
  }
  return true;
}

static bool draw_write(random_program *p, draw *w, uint64_t *state) {
  const tesela_node *x = random_node(p, w->operand[0]);
  int64_t shape[RANK];
  tesela_dtype dtype = x->dtype;
  int32_t rank = x->rank;
  for (int32_t d = 0; d < rank; d++) {
    w->step[d] = 1 + random_below(state, 2);
    w->start[d] = x->shape[d] > 0 ? random_below(state, x->shape[d]) : 0;
    int64_t room = x->shape[d] > 0 ? (x->shape[d] - 1 - w->start[d]) / w->step[d] + 1 : 0;
    shape[d] = room > 0 ? 1 + random_below(state, room) : 0;
  }
  w->operand[1] = random_add_input(p, state, dtype, rank, shape, 0);
  w->spec.n_operands = 2;
  w->spec.in_place = random_below(state, 2);
  return w->operand[1] >= 0;
}

static bool draw_constant(random_program *p, draw *w, uint64_t *state) {
  w->spec.n_operands = 0;
  w->spec.dtype = a_type(p, state);
  w->spec.rank = (int32_t)random_below(state, 4);
  for (int32_t d = 0; d < w->spec.rank; d++) w->shape[d] = an_extent(state);
  w->spec.value = (double)random_below(state, 9) / 2 - 2;
  if (w->spec.rank > 0 && random_below(state, 2)) {
    w->spec.n_dims = 1;
    w->dims[0] = (int32_t)random_below(state, w->spec.rank);
  }
  return random_elements(w->spec.rank, w->shape) <= MOST;
}

static bool draw_view(random_program *p, draw *w, uint64_t *state) {
  const tesela_node *x = random_node(p, w->operand[0]);
  tesela_node_spec *s = &w->spec;
  int32_t r = x->rank;
  switch (s->op) {
  case TESELA_OP_PERMUTE:
    s->n_dims = r;
    for (int32_t d = 0; d < r; d++) {
      int32_t k = (int32_t)random_below(state, d + 1);
      w->dims[d] = w->dims[k];
      w->dims[k] = d;
    }
    return true;
  case TESELA_OP_RESHAPE:
    memcpy(w->shape, x->shape, sizeof w->shape);
    s->rank = r;
    for (int32_t turns = 0; turns < 2 && s->rank > 0; turns++) { /* join two adjacent dims, or split one */
      int32_t d = (int32_t)random_below(state, s->rank);
      if (random_below(state, 2) && d + 1 < s->rank) {
        w->shape[d] *= w->shape[d + 1];
        for (int32_t i = d + 1; i + 1 < s->rank; i++) w->shape[i] = w->shape[i + 1];
        s->rank--;
      } else if (s->rank < 6) {
        int64_t f = 1 + random_below(state, 4);
        if (w->shape[d] % f != 0) continue;
        for (int32_t i = s->rank; i > d; i--) w->shape[i] = w->shape[i - 1];
        w->shape[d] /= f;
        w->shape[d + 1] = f;
        s->rank++;
      }
    }
    return true;
  case TESELA_OP_SQUEEZE:
    return true;
  case TESELA_OP_UNSQUEEZE:
    s->n_dims = 1;
    w->dims[0] = (int32_t)random_below(state, r + 1);
    return r < 6;
  case TESELA_OP_EXPAND:
    s->rank = r + (int32_t)random_below(state, 2);
    for (int32_t d = 0; d < s->rank; d++) {
      int32_t from = d - (s->rank - r);
      w->shape[d] = from >= 0 && x->shape[from] != 1 ? x->shape[from] : 1 + random_below(state, 5);
    }
    return s->rank <= 6;
  default: /* slice */
    for (int32_t d = 0; d < r; d++) {
      int64_t n = x->shape[d];
      w->step[d] = random_below(state, 4) == 0 ? 2 : random_below(state, 5) == 0 ? -1 : 1;
      w->start[d] = n > 0 ? random_below(state, n) : 0;
      int64_t room = n == 0 ? 0 : w->step[d] < 0 ? w->start[d] + 1 : (n - 1 - w->start[d]) / w->step[d] + 1;
      w->length[d] = room > 0 ? 1 + random_below(state, room) : 0;
    }
    return true;
  }
}

bool random_add_operator(random_program *p, uint64_t *state, tesela_op op) {
  draw w = {.spec = {.op = op, .n_operands = 1}};
  bool ok = true;
  w.spec.operand = w.operand;
  w.spec.dims = w.dims;
  w.spec.shape = w.shape;
  w.spec.start = w.start;
  w.spec.length = w.length;
  w.spec.step = w.step;
  w.spec.low = w.low;
  w.spec.high = w.high;
  if (op != TESELA_OP_CONSTANT && op != TESELA_OP_CONV2D && (w.operand[0] = a_node(p, state)) < 0)
    return false;
  switch (op) {
  case TESELA_OP_POINTWISE:
    ok = draw_pointwise(p, &w, state);
    break;
  case TESELA_OP_REDUCE:
    ok = draw_reduce(p, &w, state);
    break;
  case TESELA_OP_ALONG:
    ok = draw_along(p, &w, state);
    break;
  case TESELA_OP_MATMUL:
    ok = draw_matmul(p, &w, state);
    break;
  case TESELA_OP_CONV2D:
    ok = draw_conv2d(p, &w, state);
    break;
  case TESELA_OP_POOL:
    ok = draw_pool(p, &w, state);
    break;
  case TESELA_OP_GATHER:
  case TESELA_OP_SCATTER:
    ok = draw_lookup(p, &w, state);
    break;
  case TESELA_OP_CAT:
    ok = draw_cat(p, &w, state);
    break;
  case TESELA_OP_PAD:
    ok = draw_pad(p, &w, state);
    break;
  case TESELA_OP_WRITE:
    ok = draw_write(p, &w, state);
    break;
  case TESELA_OP_CONSTANT:
    ok = draw_constant(p, &w, state);
    break;
  case TESELA_OP_CLONE:
  case TESELA_OP_MOVE:
    break;
  default:
    ok = draw_view(p, &w, state);
  }
  for (int32_t k = 0; k < w.spec.n_operands; k++) ok = ok && w.operand[k] >= 0;
  int32_t before = tesela_graph_count(p->graph);
  if (!ok || tesela_graph_add(p->graph, &w.spec, NULL, NULL) != TESELA_OK) return false;
  const tesela_node *made = random_node(p, before);
  return random_elements(made->rank, made->shape) <= 4 * MOST;
}
