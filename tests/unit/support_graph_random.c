/* SPDX-License-Identifier: Apache-2.0 */
/*
 * support_graph_random.c - random programs and layouts.
 *
 * An operator takes tensors that are there; what is missing to fit (indices, weights, a second factor) is a new input. What the graph
 * refuses (a reshape that would copy, a value that was overwritten) is simply not added.
 */
#include "support_graph_random.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

enum { RANK = TESELA_GRAPH_RANK, MOST = 1500 };

int64_t random_below(uint64_t *state, int64_t n) {
  *state ^= *state << 13;
  *state ^= *state >> 7;
  *state ^= *state << 17;
  return (int64_t)((*state >> 8) % (uint64_t)n);
}

static int64_t elements(int32_t rank, const int64_t *shape) {
  int64_t n = 1;
  for (int32_t d = 0; d < rank; d++) n *= shape[d];
  return n;
}

/* ---- data ---------------------------------------------------------------------------------------------------- */

static const tesela_dtype types[] = {TESELA_F16, TESELA_F32, TESELA_BF16, TESELA_F64, TESELA_S32, TESELA_S8,
                                     TESELA_U8,  TESELA_S64, TESELA_PRED, TESELA_S16, TESELA_U32, TESELA_U64};

/* Bits of small numbers, now and then of special ones. */
static uint64_t element(tesela_dtype dtype, int64_t limit, uint64_t *state) {
  static const uint16_t halves[] = {0x0000, 0x8000, 0x7c00, 0xfc00, 0x7e00, 0x0001, 0x7bff, 0x3c00};
  int64_t k = random_below(state, 8), small = random_below(state, 19) - 9;
  if (limit > 0) return (uint64_t)random_below(state, limit);
  bool special = random_below(state, 24) == 0;
  switch (dtype) {
  case TESELA_PRED:
    return (uint64_t)(small > 0);
  case TESELA_F16: /* sign, exponents near that of 1, random bits */
    if (special) return halves[k];
    return (uint64_t)(random_below(state, 2) << 15 | (12 + random_below(state, 6)) << 10 |
                      random_below(state, 1024));
  case TESELA_BF16:
    if (special) return (uint64_t[]){0, 0x8000, 0x7f80, 0xff80, 0x7fc0, 1, 0x7f7f, 0x3f80}[k];
    return (uint64_t)(random_below(state, 2) << 15 | (124 + random_below(state, 6)) << 7 |
                      random_below(state, 128));
  case TESELA_F32:
  case TESELA_F64: {
    float f = (float)small + (float)random_below(state, 1 << 20) / (1 << 20);
    double x = (double)f;
    uint64_t bits = 0;
    if (dtype == TESELA_F64)
      memcpy(&bits, &x, 8);
    else
      memcpy(&bits, &f, 4);
    return bits;
  }
  default:
    return special ? *state : (uint64_t)small;
  }
}

/* Add an input with data; integers below `limit` if that is above 0. -1: no room. */
static int32_t add_input(random_program *p, uint64_t *state, tesela_dtype dtype, int32_t rank,
                         const int64_t *shape, int64_t limit) {
  int64_t strides[RANK], order[RANK], reach = 1, first = 0;
  int32_t node;
  if (p->n_inputs == RANDOM_INPUTS || elements(rank, shape) > MOST) return -1;
  for (int32_t d = 0; d < rank; d++) order[d] = d;
  for (int32_t d = rank - 1; d > 0 && random_below(state, 3) == 0; d--) {
    int64_t k = random_below(state, d + 1), swap = order[d];
    order[d] = order[k], order[k] = swap;
  }
  for (int32_t i = rank - 1; i >= 0; i--) { /* some reversed, some with gaps */
    int64_t extent = shape[order[i]] > 0 ? shape[order[i]] : 1;
    if (random_below(state, 8) == 0) reach += random_below(state, 3);
    strides[order[i]] = reach;
    if (random_below(state, 8) == 0) {
      strides[order[i]] = -reach;
      first += (extent - 1) * reach;
    }
    reach *= extent;
  }
  tesela_node_spec spec = {.op = TESELA_OP_INPUT,
                           .dtype = dtype,
                           .rank = rank,
                           .shape = shape,
                           .strides = strides,
                           .stick = TESELA_STICK_FREE};
  if (tesela_graph_add(p->graph, &spec, &node, NULL) != TESELA_OK) return -1;
  size_t width = (size_t)tesela_dtype_bytes(dtype);
  uint8_t *bytes = calloc((size_t)reach + 1, width);
  assert_non_null(bytes);
  for (int64_t e = 0; e < reach; e++) {
    uint64_t bits = element(dtype, limit, state);
    memcpy(bytes + (size_t)e * width, &bits, width);
  }
  p->data[p->n_inputs] = bytes;
  p->inputs[p->n_inputs++] = bytes + (size_t)first * width;
  return node;
}

/* ---- operators ----------------------------------------------------------------------------------------------- */

static tesela_dtype a_type(const random_program *p, uint64_t *state) {
  if (p->only != TESELA_DTYPE_NONE) return p->only;
  return types[random_below(state, random_below(state, 2) ? 3 : (int64_t)(sizeof types / sizeof types[0]))];
}

static int64_t an_extent(uint64_t *state) {
  static const int64_t extents[] = {1, 2, 3, 4, 5, 7, 8, 9, 13, 16, 17, 33};
  return random_below(state, 60) == 0 ? 0 : extents[random_below(state, random_below(state, 2) ? 6 : 12)];
}

static int32_t fresh_input(random_program *p, uint64_t *state) {
  int64_t shape[RANK];
  int32_t rank = (int32_t)random_below(state, 5);
  do {
    for (int32_t d = 0; d < rank; d++) shape[d] = an_extent(state);
  } while (elements(rank, shape) > 600);
  return add_input(p, state, a_type(p, state), rank, shape, 0);
}

static int32_t a_node(random_program *p, uint64_t *state) {
  int32_t n = tesela_graph_count(p->graph);
  if (n == 0 || random_below(state, 6) == 0) return fresh_input(p, state);
  return n - 1 - (int32_t)random_below(state, n < 5 ? n : random_below(state, 2) ? 4 : n);
}

static const tesela_node *node_of(const random_program *p, int32_t k) {
  return tesela_graph_node(p->graph, k);
}

/* A tensor that broadcasts with node x: one that is there, or a new one. */
static int32_t a_mate(random_program *p, uint64_t *state, int32_t x, tesela_dtype dtype) {
  if (x < 0) return -1;
  const tesela_node *like = node_of(p, x);
  int64_t shape[RANK];
  for (int32_t tries = 0; tries < 4; tries++) {
    int32_t k = (int32_t)random_below(state, tesela_graph_count(p->graph));
    const tesela_node *node = node_of(p, k);
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
  return add_input(p, state, dtype != TESELA_DTYPE_NONE ? dtype : like->dtype, rank, shape, 0);
}

static bool is_float(tesela_dtype dtype) { return tesela_dtype_family_of(dtype) == TESELA_FAMILY_FLOAT; }

typedef struct draw {
  tesela_node_spec spec;
  int32_t operand[4], dims[RANK];
  int64_t shape[RANK], start[RANK], length[RANK], step[RANK], low[RANK], high[RANK];
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
  const tesela_node *x = node_of(p, w->operand[0]);
  w->spec.fn = folds[random_below(state, is_float(x->dtype) ? 5 : 8)];
  for (int32_t d = 0; d < x->rank; d++)
    if (random_below(state, 2)) w->dims[w->spec.n_dims++] = d;
  w->spec.keepdim = random_below(state, 2);
  return true;
}

static bool draw_matmul(random_program *p, draw *w, uint64_t *state) {
  const tesela_node *x = node_of(p, w->operand[0]);
  int64_t shape[RANK];
  int32_t rank = 0;
  if (x->rank == 0) return false;
  for (int32_t d = 0; d + 2 < x->rank; d++) shape[rank++] = random_below(state, 3) ? x->shape[d] : 1;
  shape[rank++] = x->shape[x->rank - 1];
  if (x->rank > 1 || random_below(state, 2)) shape[rank++] = 1 + random_below(state, 9);
  w->operand[1] = add_input(p, state, x->dtype, rank, shape, 0);
  if (w->operand[1] >= 0 && rank >= 2 && random_below(state, 2)) { /* transposed twice: a view */
    int64_t turned[RANK];
    memcpy(turned, shape, sizeof turned);
    turned[rank - 1] = shape[rank - 2];
    turned[rank - 2] = shape[rank - 1];
    int32_t y = add_input(p, state, x->dtype, rank, turned, 0), dims[RANK];
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

static void shuffle4(int32_t at[4], uint64_t *state) {
  for (int32_t i = 0; i < 4; i++) at[i] = i;
  for (int32_t i = 3; i > 0 && random_below(state, 2); i--) {
    int32_t k = (int32_t)random_below(state, i + 1), swap = at[i];
    at[i] = at[k], at[k] = swap;
  }
}

static bool draw_conv2d(random_program *p, draw *w, uint64_t *state) {
  tesela_conv2d *c = &w->spec.conv;
  int64_t x[4], k[4], in = 1 + random_below(state, 3);
  tesela_dtype dtype = p->only != TESELA_DTYPE_NONE ? p->only
                       : random_below(state, 2)     ? TESELA_F16
                                                    : TESELA_S16;
  shuffle4(c->x, state);
  shuffle4(c->w, state);
  shuffle4(c->result, state);
  x[c->x[0]] = 1 + random_below(state, 2);
  x[c->x[1]] = k[c->w[1]] = in;
  k[c->w[0]] = 1 + random_below(state, 5);
  for (int32_t i = 0; i < 2; i++) {
    x[c->x[2 + i]] = 3 + random_below(state, 5);
    k[c->w[2 + i]] = 1 + random_below(state, 3);
    c->stride[i] = 1 + random_below(state, 2);
    c->dilation[i] = 1 + random_below(state, 2);
    c->low[i] = random_below(state, 3);
    c->high[i] = random_below(state, 3);
  }
  w->operand[0] = add_input(p, state, dtype, 4, x, 0);
  w->operand[1] = add_input(p, state, dtype, 4, k, 0);
  w->spec.n_operands = 2;
  return w->operand[0] >= 0 && w->operand[1] >= 0;
}

static bool draw_lookup(random_program *p, draw *w, uint64_t *state) {
  const tesela_node *x = node_of(p, w->operand[0]);
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
  w->operand[1] = add_input(p, state, integers[random_below(state, 3)], rank, shape, x->shape[d]);
  w->spec.n_operands = 2;
  w->spec.n_dims = 1;
  w->dims[0] = d;
  if (w->spec.op == TESELA_OP_GATHER) return w->operand[1] >= 0 && elements(n, values) <= MOST;
  w->operand[2] = add_input(p, state, dtype, n, values, 0);
  w->spec.n_operands = 3;
  w->spec.fn = random_below(state, 2) ? TESELA_FN_ADD : TESELA_FN_NONE;
  w->spec.in_place = random_below(state, 2);
  return w->operand[1] >= 0 && w->operand[2] >= 0;
}

static bool draw_cat(random_program *p, draw *w, uint64_t *state) {
  const tesela_node *x = node_of(p, w->operand[0]);
  if (x->rank == 0) return false;
  int32_t d = (int32_t)random_below(state, x->rank), n = 1 + (int32_t)random_below(state, 3);
  int64_t shape[RANK];
  memcpy(shape, x->shape, sizeof shape);
  tesela_dtype dtype = x->dtype;
  int32_t rank = x->rank;
  for (int32_t k = 1; k < n; k++) {
    shape[d] = random_below(state, 6);
    w->operand[k] = random_below(state, 3) == 0 ? w->operand[0] : add_input(p, state, dtype, rank, shape, 0);
    if (w->operand[k] < 0) return false;
  }
  w->spec.n_operands = n;
  w->spec.n_dims = 1;
  w->dims[0] = d;
  return true;
}

static bool draw_pad(random_program *p, draw *w, uint64_t *state) {
  const tesela_node *x = node_of(p, w->operand[0]);
  w->spec.value = (double)random_below(state, 7) - 3;
  for (int32_t d = 0; d < x->rank; d++) {
    w->low[d] = random_below(state, 4) - 1;
    w->high[d] = random_below(state, 4) - 1;
    w->step[d] = random_below(state, 3) ? 1 : 2;
  }
  return true;
}

static bool draw_write(random_program *p, draw *w, uint64_t *state) {
  const tesela_node *x = node_of(p, w->operand[0]);
  int64_t shape[RANK];
  tesela_dtype dtype = x->dtype;
  int32_t rank = x->rank;
  for (int32_t d = 0; d < rank; d++) {
    w->step[d] = 1 + random_below(state, 2);
    w->start[d] = x->shape[d] > 0 ? random_below(state, x->shape[d]) : 0;
    int64_t room = x->shape[d] > 0 ? (x->shape[d] - 1 - w->start[d]) / w->step[d] + 1 : 0;
    shape[d] = room > 0 ? 1 + random_below(state, room) : 0;
  }
  w->operand[1] = add_input(p, state, dtype, rank, shape, 0);
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
  return elements(w->spec.rank, w->shape) <= MOST;
}

static bool draw_view(random_program *p, draw *w, uint64_t *state) {
  const tesela_node *x = node_of(p, w->operand[0]);
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
    for (int32_t turns = 0; turns < 2 && s->rank > 0; turns++) { /* join two neighbours, or split one */
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

/* One more operator of a class; false: the graph does not take it. */
static bool add_operator(random_program *p, uint64_t *state, tesela_op op) {
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
  case TESELA_OP_MATMUL:
    ok = draw_matmul(p, &w, state);
    break;
  case TESELA_OP_CONV2D:
    ok = draw_conv2d(p, &w, state);
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
  const tesela_node *made = node_of(p, before);
  return elements(made->rank, made->shape) <= 4 * MOST;
}

static const tesela_op classes[] = {
    TESELA_OP_POINTWISE, TESELA_OP_REDUCE,  TESELA_OP_MATMUL,   TESELA_OP_CONV2D,    TESELA_OP_GATHER,
    TESELA_OP_SCATTER,   TESELA_OP_CAT,     TESELA_OP_PAD,      TESELA_OP_WRITE,     TESELA_OP_CLONE,
    TESELA_OP_MOVE,      TESELA_OP_SLICE,   TESELA_OP_PERMUTE,  TESELA_OP_RESHAPE,   TESELA_OP_SQUEEZE,
    TESELA_OP_EXPAND,    TESELA_OP_SLICE,   TESELA_OP_PERMUTE,  TESELA_OP_UNSQUEEZE, TESELA_OP_POINTWISE,
    TESELA_OP_POINTWISE, TESELA_OP_RESHAPE, TESELA_OP_CONSTANT, TESELA_OP_POINTWISE};

static void begin(random_program *p, uint64_t *state, tesela_dtype only) {
  memset(p, 0, sizeof *p);
  p->only = only;
  assert_int_equal(tesela_graph_create(&p->graph, NULL, NULL), TESELA_OK);
  assert_int_equal(tesela_target_plain(&p->target, 8 << random_below(state, 3), NULL), TESELA_OK);
  assert_true(fresh_input(p, state) >= 0);
}

/* Outputs: the last tensor and some others, each with room. */
static void finish(random_program *p, uint64_t *state, bool others) {
  for (int32_t k = tesela_graph_count(p->graph) - 1; k >= 0; k--)
    if (k == tesela_graph_count(p->graph) - 1 || (others && random_below(state, 4) == 0))
      (void)tesela_graph_set_output(p->graph, k, NULL);
  for (int32_t k = 0; k < tesela_graph_count(p->graph); k++) {
    const tesela_node *node = node_of(p, k);
    if (!node->output) continue;
    assert_true(p->n_outputs < RANDOM_OUTPUTS);
    p->bytes[p->n_outputs] = elements(node->rank, node->shape) * tesela_dtype_bytes(node->dtype);
    p->outputs[p->n_outputs] = malloc((size_t)p->bytes[p->n_outputs] + 1);
    assert_non_null(p->outputs[p->n_outputs++]);
  }
}

void random_program_make(random_program *p, uint64_t *state, int32_t ops) {
  begin(p, state, TESELA_DTYPE_NONE);
  for (int32_t k = 0; k < ops; k++)
    if (!add_operator(p, state,
                      classes[random_below(state, (int64_t)(sizeof classes / sizeof classes[0]))]) &&
        tesela_graph_count(p->graph) > 40)
      break;
  finish(p, state, true);
}

bool random_program_of(random_program *p, uint64_t *state, tesela_op op, tesela_dtype only) {
  static const tesela_op views[] = {TESELA_OP_SLICE,  TESELA_OP_SLICE,   TESELA_OP_RESHAPE,
                                    TESELA_OP_EXPAND, TESELA_OP_PERMUTE, TESELA_OP_UNSQUEEZE,
                                    TESELA_OP_SQUEEZE};
  begin(p, state, only);
  for (int64_t n = random_below(state, 4); n > 0; n--)
    (void)add_operator(p, state, views[random_below(state, 7)]);
  bool ok = add_operator(p, state, op);
  if (ok) finish(p, state, false);
  return ok;
}

void random_program_clear(random_program *p, int byte) {
  for (int32_t k = 0; k < p->n_outputs; k++) memset(p->outputs[k], byte, (size_t)p->bytes[k]);
}

void random_program_free(random_program *p) {
  for (int32_t k = 0; k < p->n_inputs; k++) free(p->data[k]);
  for (int32_t k = 0; k < p->n_outputs; k++) free(p->outputs[k]);
  tesela_graph_destroy(p->graph);
}
