/* SPDX-License-Identifier: Apache-2.0 */
/* support_padding_oracle.c - whole-stick execution by definition. */
#include "support_padding_oracle.h"

#include <inttypes.h>
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "support_graph_random.h"

enum { RANK = TESELA_GRAPH_RANK, ROOM = 40 };

static const tesela_node *node_at(const pad_oracle *o, int32_t k) { return tesela_graph_node(o->graph, k); }

static bool is_float(tesela_dtype dtype) { return dtype == TESELA_F64; }

static void failed(pad_oracle *o, int32_t node, const char *what, int64_t at) {
  if (o->failure[0] == '\0')
    snprintf(o->failure, sizeof o->failure, "node %d (%s): %s %" PRId64, (int)node, node_at(o, node)->name,
             what, at);
}

/* Numbers that would show. */
static pad_number garbage(pad_oracle *o, tesela_dtype dtype) {
  static const double floats[] = {
      (double)NAN, (double)INFINITY, -(double)INFINITY, 1e300, -7, 0.5, 3e-310, 0};
  int64_t k = random_below(&o->state, 8);
  if (is_float(dtype)) return (pad_number){.f = floats[k]};
  if (dtype == TESELA_PRED) return (pad_number){.i = k & 1};
  return (pad_number){.i = k < 4 ? (int64_t[]){INT32_MIN, INT32_MAX, -1, 0}[k]
                                 : random_below(&o->state, 1000) - 500};
}

/* ---- layouts ------------------------------------------------------------------------------------------------ */

/* The place of an index, which may exceed extents; -1: there is none. */
static int64_t place_of(const tesela_device_layout *layout, const int64_t *x) {
  int64_t place = 0;
  for (int32_t d = 0; d < layout->host.rank; d++) {
    int64_t rest = x[d];
    bool used[TESELA_DEVICE_DIMS] = {false};
    if (rest < 0) return -1;
    for (;;) {
      int32_t next = -1;
      for (int32_t j = 0; j < layout->n_dims; j++)
        if (!used[j] && layout->dim[j].dim == d && (next < 0 || layout->dim[j].step > layout->dim[next].step))
          next = j;
      if (next < 0) break;
      used[next] = true;
      int64_t digit = rest / layout->dim[next].step;
      if (digit >= layout->dim[next].extent) return -1;
      rest -= digit * layout->dim[next].step;
      place += digit * layout->dim[next].stride;
    }
    if (rest != 0) return -1;
  }
  return place;
}

/* Every place that digits reach: its index. */
static bool next_digits(const tesela_device_layout *layout, int64_t *digit, int64_t *x, int64_t *place,
                        bool *lane) {
  for (int32_t j = layout->n_dims - 1; j >= 0; j--) {
    if (++digit[j] < layout->dim[j].extent) break;
    digit[j] = 0;
    if (j == 0) return false;
  }
  if (layout->n_dims == 0) return false;
  *place = 0;
  *lane = true;
  memset(x, 0, RANK * sizeof *x);
  for (int32_t j = 0; j < layout->n_dims; j++) {
    const tesela_device_dim *dim = &layout->dim[j];
    *place += digit[j] * dim->stride;
    if (dim->dim >= 0) x[dim->dim] += digit[j] * dim->step;
    if (dim->dim == TESELA_DIM_SYNTHETIC && digit[j] > 0) *lane = false; /* nobody computes it */
  }
  return true;
}

static bool first_digits(const tesela_device_layout *layout, int64_t *digit, int64_t *x, int64_t *place,
                         bool *lane) {
  for (int32_t j = 0; j < layout->n_dims; j++)
    if (layout->dim[j].extent < 1) return false;
  memset(digit, 0, TESELA_DEVICE_DIMS * sizeof *digit);
  memset(x, 0, RANK * sizeof *x);
  *place = 0;
  *lane = true;
  return true;
}

static bool inside(int32_t rank, const int64_t *shape, const int64_t *x) {
  for (int32_t d = 0; d < rank; d++)
    if (x[d] < 0 || x[d] >= shape[d]) return false;
  return true;
}

static void make_memory(pad_oracle *o, int32_t k) {
  const tesela_node *node = node_at(o, k);
  pad_memory *m = &o->memory[k];
  int64_t n = node->layout->places, index[RANK] = {0}, count = 1, copies = 1;
  m->at = calloc((size_t)n + 1, sizeof *m->at);
  m->element = calloc((size_t)n + 1, sizeof *m->element);
  assert_true(m->at && m->element);
  for (int64_t p = 0; p < n; p++) m->at[p] = garbage(o, node->dtype);
  for (int32_t d = 0; d < node->rank; d++) count *= node->shape[d];
  for (int64_t e = 0; e < count; e++) {
    int64_t rest = e;
    for (int32_t d = node->rank - 1; d >= 0; d--) {
      index[d] = rest % node->shape[d];
      rest /= node->shape[d];
    }
    for (int64_t c = 0; c < copies; c++) m->element[random_place(node->layout, index, c, &copies)] = true;
  }
}

/* ---- views --------------------------------------------------------------------------------------------------- */

/* A reshape: dims that are there on both sides keep an index that exceeds the extent. False: nobody can say. */
static bool through_reshape(const tesela_node *to, const tesela_node *from, const int64_t *t, int64_t *x) {
  int64_t linear = 0, stride = 1, in[RANK];
  bool beyond[RANK] = {false};
  for (int32_t d = to->rank - 1; d >= 0; d--) {
    in[d] = t[d];
    if (t[d] < 0 || t[d] >= to->shape[d]) {
      int64_t other = 1;
      bool found = false;
      for (int32_t b = from->rank - 1; b >= 0; b--) {
        if (from->shape[b] == to->shape[d] && other == stride && to->shape[d] > 1) {
          found = beyond[b] = true;
          x[b] = t[d];
        }
        other *= from->shape[b];
      }
      if (!found) return false;
      in[d] = 0;
    }
    linear += in[d] * stride;
    stride *= to->shape[d];
  }
  for (int32_t b = from->rank - 1; b >= 0; b--) {
    int64_t part = from->shape[b] > 0 ? linear % from->shape[b] : 0;
    linear = from->shape[b] > 0 ? linear / from->shape[b] : 0;
    if (!beyond[b]) x[b] = part;
  }
  return true;
}

static bool names(const tesela_node *node, int32_t d) {
  for (int32_t i = 0; i < node->n_dims; i++)
    if (node->dim[i] == d) return true;
  return false;
}

/* The index of a view's operand. */
static bool through(const tesela_node *to, const tesela_node *from, const int64_t *t, int64_t *x) {
  int32_t next = 0;
  memset(x, 0, RANK * sizeof *x);
  switch (to->op) {
  case TESELA_OP_PERMUTE:
    for (int32_t d = 0; d < to->rank; d++) x[to->dim[d]] = t[d];
    return true;
  case TESELA_OP_SLICE:
    for (int32_t d = 0; d < to->rank; d++) x[d] = to->start[d] + to->step[d] * t[d];
    return true;
  case TESELA_OP_SQUEEZE:
    for (int32_t d = 0; d < from->rank; d++)
      if (!names(to, d)) x[d] = t[next++];
    return true;
  case TESELA_OP_UNSQUEEZE:
    for (int32_t d = 0; d < to->rank; d++) {
      if (!names(to, d))
        x[next++] = t[d];
      else if (t[d] != 0)
        return false;
    }
    return true;
  case TESELA_OP_EXPAND:
    for (int32_t e = 0; e < from->rank; e++) {
      int32_t d = to->n_dims > 0 ? to->dim[e] : e + to->rank - from->rank;
      x[e] = from->shape[e] == to->shape[d] ? t[d] : 0;
    }
    return true;
  default:
    return through_reshape(to, from, t, x);
  }
}

/* Where a node's tensor lies at an index that may exceed extents; -1: nowhere. */
static int64_t locate(const pad_oracle *o, int32_t k, const int64_t *t) {
  int64_t x[RANK], y[RANK];
  memcpy(x, t, sizeof x);
  while (node_at(o, k)->buffer != k) {
    const tesela_node *node = node_at(o, k), *from = node_at(o, node->operand[0]);
    if (node->view) {
      if (!through(node, from, x, y)) return -1;
      memcpy(x, y, sizeof x);
    }
    k = node->operand[0];
  }
  return place_of(node_at(o, k)->layout, x);
}

static pad_number read_at(pad_oracle *o, int32_t k, const int64_t *t) {
  const tesela_node *node = node_at(o, k);
  int64_t place = locate(o, k, t);
  return place < 0 ? garbage(o, node->dtype) : o->memory[node->buffer].at[place];
}

/* ---- functions ------------------------------------------------------------------------------------------------ */

static double float_fn(pad_oracle *o, tesela_fn fn, double x, double y, double z) {
  switch (fn) {
  case TESELA_FN_ADD:
    return x + y;
  case TESELA_FN_SUB:
    return x - y;
  case TESELA_FN_MUL:
    return x * y;
  case TESELA_FN_DIV:
    return x / y;
  case TESELA_FN_MAX:
    return isnan(x) || isnan(y) ? (double)NAN : x < y ? y : x;
  case TESELA_FN_MIN:
    return isnan(x) || isnan(y) ? (double)NAN : y < x ? y : x;
  case TESELA_FN_CLAMP:
    return float_fn(o, TESELA_FN_MIN, float_fn(o, TESELA_FN_MAX, y, x, 0), z, 0);
  case TESELA_FN_POW:
    return pow(x, y);
  case TESELA_FN_REM:
    return fmod(x, y);
  case TESELA_FN_COPY:
    return x;
  case TESELA_FN_NEG:
    return -x;
  case TESELA_FN_ABS:
    return fabs(x);
  case TESELA_FN_EXP:
    return exp(x);
  case TESELA_FN_EXPM1:
    return expm1(x);
  case TESELA_FN_LOG:
    return log(x);
  case TESELA_FN_LOG1P:
    return log1p(x);
  case TESELA_FN_SQRT:
    return sqrt(x);
  case TESELA_FN_RSQRT:
    return 1 / sqrt(x);
  case TESELA_FN_TANH:
    return tanh(x);
  case TESELA_FN_SIGMOID:
    return 1 / (1 + exp(-x));
  case TESELA_FN_RELU:
    return float_fn(o, TESELA_FN_MAX, x, 0, 0);
  case TESELA_FN_SIN:
    return sin(x);
  case TESELA_FN_COS:
    return cos(x);
  case TESELA_FN_ERF:
    return erf(x);
  case TESELA_FN_FLOOR:
    return floor(x);
  case TESELA_FN_CEIL:
    return ceil(x);
  case TESELA_FN_SIGN:
    return isnan(x) ? x : (double)((x > 0) - (x < 0));
  default:
    o->unsupported = true;
    return 0;
  }
}

static int64_t wrapped(int64_t x) { return (int32_t)(uint32_t)(uint64_t)x; }

static int64_t whole_fn(pad_oracle *o, tesela_fn fn, bool logic, int64_t x, int64_t y, int64_t z) {
  switch (fn) {
  case TESELA_FN_ADD:
    return x + y;
  case TESELA_FN_SUB:
    return x - y;
  case TESELA_FN_MUL:
    return x * y; /* both of 32 bits */
  case TESELA_FN_MAX:
    return x < y ? y : x;
  case TESELA_FN_MIN:
    return y < x ? y : x;
  case TESELA_FN_CLAMP:
    y = y < x ? x : y;
    return z < y ? z : y;
  case TESELA_FN_AND:
    return x & y;
  case TESELA_FN_OR:
    return x | y;
  case TESELA_FN_XOR:
    return x ^ y;
  case TESELA_FN_NOT:
    return logic ? x == 0 : ~x;
  case TESELA_FN_COPY:
    return x;
  case TESELA_FN_NEG:
    return -x;
  case TESELA_FN_ABS:
    return x < 0 ? -x : x;
  case TESELA_FN_RELU:
    return x < 0 ? 0 : x;
  case TESELA_FN_SIGN:
    return (x > 0) - (x < 0);
  default:
    o->unsupported = true;
    return 0;
  }
}

static int compared(tesela_fn fn, double x, double y) {
  switch (fn) {
  case TESELA_FN_EQ:
    return x == y;
  case TESELA_FN_NE:
    return x != y;
  case TESELA_FN_LT:
    return x < y;
  case TESELA_FN_LE:
    return x <= y;
  case TESELA_FN_GT:
    return x > y;
  case TESELA_FN_GE:
    return x >= y;
  case TESELA_FN_ISFINITE:
    return isfinite(x);
  default:
    return -1;
  }
}

static double as_float(tesela_dtype dtype, pad_number v) { return is_float(dtype) ? v.f : (double)v.i; }

/* A number of type `from` as one of type `to`. */
static pad_number converted(pad_oracle *o, tesela_dtype to, tesela_dtype from, pad_number v) {
  if (is_float(to)) return (pad_number){.f = as_float(from, v)};
  if (to == TESELA_PRED) return (pad_number){.i = as_float(from, v) != 0};
  if (is_float(from)) o->unsupported = true;
  return (pad_number){.i = wrapped(v.i)};
}

static pad_number apply(pad_oracle *o, const tesela_node *node, tesela_fn fn, const tesela_dtype *type,
                        const pad_number *v) {
  int32_t n = tesela_fn_operands(fn) > 0 ? tesela_fn_operands(fn) : 2;
  bool floats = false;
  if (fn == TESELA_FN_SELECT) {
    int32_t k = as_float(type[0], v[0]) != 0 ? 1 : 2;
    if (is_float(type[1]) != is_float(type[2])) o->unsupported = true;
    return converted(o, node->dtype, type[k], v[k]);
  }
  for (int32_t k = 0; k < n; k++) floats = floats || is_float(type[k]);
  double x = as_float(type[0], v[0]), y = n > 1 ? as_float(type[1], v[1]) : 0,
         z = n > 2 ? as_float(type[2], v[2]) : 0;
  int answer = compared(fn, x, y);
  if (answer >= 0) return converted(o, node->dtype, TESELA_PRED, (pad_number){.i = answer});
  if (floats) return converted(o, node->dtype, TESELA_F64, (pad_number){.f = float_fn(o, fn, x, y, z)});
  if (fn == TESELA_FN_EXP || (fn > TESELA_FN_EXP && fn <= TESELA_FN_SIGMOID)) { /* of integers, as floats */
    if (!is_float(node->dtype)) o->unsupported = true;
    return (pad_number){.f = float_fn(o, fn, x, y, z)};
  }
  int64_t whole = whole_fn(o, fn, type[0] == TESELA_PRED, v[0].i, n > 1 ? v[1].i : 0, n > 2 ? v[2].i : 0);
  return converted(o, node->dtype, TESELA_S64, (pad_number){.i = whole});
}

/* ---- operators ------------------------------------------------------------------------------------------------ */

/* The index of operand k at an iteration. False: between elements (a step), so there is none. */
static bool operand_index(const pad_oracle *o, int32_t number, int32_t k, const int64_t *it, int64_t looked,
                          int64_t *t) {
  tesela_index index[RANK];
  const tesela_node *x = node_at(o, node_at(o, number)->operand[k]);
  assert_int_equal(tesela_graph_operand_index(o->graph, number, k, index, NULL), TESELA_OK);
  memset(t, 0, RANK * sizeof *t);
  for (int32_t e = 0; e < x->rank; e++) {
    t[e] = index[e].start + (index[e].dim[0] == TESELA_INDEX_LOOKUP ? looked : 0);
    for (int32_t i = 0; i < 2; i++)
      if (index[e].dim[i] >= 0) t[e] += index[e].factor[i] * it[index[e].dim[i]];
    if (index[e].divide > 1) {
      if (t[e] % index[e].divide != 0) return false;
      t[e] /= index[e].divide;
    }
  }
  return true;
}

static bool in_result(const tesela_node *node, const tesela_iteration *iteration, int32_t i) {
  for (int32_t d = 0; d < node->rank; d++)
    if (iteration->result[d] == i) return true;
  return false;
}

/* How far a whole-stick fold goes along iteration dim i: while an operand is in a stick that it has begun, or in padding. */
static int64_t fold_end(const pad_oracle *o, int32_t number, const tesela_iteration *iteration, int32_t i) {
  const tesela_node *node = node_at(o, number);
  int64_t end = iteration->extent[i];
  for (int32_t k = 0; k < node->n_operands; k++) {
    const tesela_node *x = node_at(o, node->operand[k]);
    const tesela_device_layout *layout = node_at(o, x->buffer)->layout;
    int64_t it[TESELA_GRAPH_ITERATION] = {0}, t[RANK], first;
    if (iteration->extent[i] == 0) continue;
    it[i] = iteration->extent[i] - 1;
    if (!operand_index(o, number, k, it, 0, t) || !inside(x->rank, x->shape, t)) continue;
    first = locate(o, node->operand[k], t);
    for (int64_t at = iteration->extent[i]; at < iteration->extent[i] + ROOM; at++) {
      it[i] = at;
      operand_index(o, number, k, it, 0, t);
      int64_t place = locate(o, node->operand[k], t);
      if (place < 0 || place == first) break;
      if (place / layout->lanes != first / layout->lanes && o->memory[x->buffer].element[place]) break;
      if (at + 1 > end) end = at + 1;
    }
  }
  return end;
}

static pad_number fold_first(const tesela_node *node, tesela_fn fn, tesela_dtype dtype) {
  bool f = is_float(dtype);
  switch (fn) {
  case TESELA_FN_PROD:
    return f ? (pad_number){.f = 1} : (pad_number){.i = 1};
  case TESELA_FN_MAX:
    return f ? (pad_number){.f = -(double)INFINITY} : (pad_number){.i = dtype == TESELA_PRED ? 0 : INT32_MIN};
  case TESELA_FN_MIN:
    return f ? (pad_number){.f = (double)INFINITY} : (pad_number){.i = dtype == TESELA_PRED ? 1 : INT32_MAX};
  case TESELA_FN_AND:
    return (pad_number){.i = -1};
  default:
    (void)node;
    return f ? (pad_number){.f = 0} : (pad_number){.i = 0};
  }
}

/* Is a window, as far as it goes, over the border of x? There it adds nothing. */
static bool over_border(const pad_oracle *o, int32_t number, const tesela_iteration *iteration,
                        const int64_t *it, const int64_t *t) {
  const tesela_node *x = node_at(o, node_at(o, number)->operand[0]);
  tesela_index index[RANK];
  assert_int_equal(tesela_graph_operand_index(o->graph, number, 0, index, NULL), TESELA_OK);
  for (int32_t e = 0; e < x->rank; e++)
    if (index[e].dim[1] >= 0 && it[index[e].dim[0]] < iteration->extent[index[e].dim[0]] &&
        it[index[e].dim[1]] < iteration->extent[index[e].dim[1]] && (t[e] < 0 || t[e] >= x->shape[e]))
      return true;
  return false;
}

/* The fold at result index x, to `end` along each folded dim. */
static pad_number folded(pad_oracle *o, int32_t number, const tesela_iteration *iteration, const int64_t *x,
                         const int64_t *end) {
  const tesela_node *node = node_at(o, number), *operand[2];
  tesela_fn fn = node->op == TESELA_OP_REDUCE ? node->fn : TESELA_FN_SUM;
  int64_t it[TESELA_GRAPH_ITERATION] = {0}, count = 0, t[RANK];
  tesela_dtype type[2] = {TESELA_F64, TESELA_F64};
  for (int32_t k = 0; k < node->n_operands && k < 2; k++) {
    operand[k] = node_at(o, node->operand[k]);
    type[k] = operand[k]->dtype;
  }
  if (node->n_operands > 1 && type[0] != type[1]) o->unsupported = true;
  pad_number sum = fold_first(node, fn, type[0]);
  for (int32_t d = 0; d < node->rank; d++)
    if (iteration->result[d] >= 0) it[iteration->result[d]] = x[d];
  for (int32_t i = 0; i < iteration->n; i++)
    if (!in_result(node, iteration, i) && end[i] == 0) return sum;
  for (;;) {
    bool there = true;
    pad_number v[2];
    for (int32_t k = 0; k < node->n_operands; k++) {
      operand_index(o, number, k, it, 0, t);
      if (node->op == TESELA_OP_CONV2D && k == 0 && over_border(o, number, iteration, it, t)) there = false;
      v[k] = read_at(o, node->operand[k], t);
    }
    count++;
    if (there && is_float(type[0])) {
      double a = node->n_operands > 1 ? v[0].f * v[1].f : v[0].f;
      sum.f = fn == TESELA_FN_PROD                         ? sum.f * a
              : fn == TESELA_FN_MAX || fn == TESELA_FN_MIN ? float_fn(o, fn, sum.f, a, 0)
                                                           : sum.f + a;
      if (fn == TESELA_FN_AND || fn == TESELA_FN_OR || fn == TESELA_FN_XOR) o->unsupported = true;
    } else if (there) {
      int64_t a = node->n_operands > 1 ? wrapped(v[0].i * v[1].i) : v[0].i;
      sum.i = fn == TESELA_FN_PROD                          ? sum.i * a
              : fn == TESELA_FN_SUM || fn == TESELA_FN_MEAN ? sum.i + a
                                                            : whole_fn(o, fn, false, sum.i, a, 0);
      sum.i = wrapped(sum.i);
    }
    int32_t i = iteration->n - 1;
    for (; i >= 0; i--) {
      if (in_result(node, iteration, i)) continue;
      if (++it[i] < end[i]) break;
      it[i] = 0;
    }
    if (i < 0) break;
  }
  if (fn == TESELA_FN_MEAN && !is_float(type[0])) o->unsupported = true;
  if (fn == TESELA_FN_MEAN) sum.f /= (double)count;
  return converted(o, node->dtype, is_float(type[0]) ? TESELA_F64 : TESELA_S64, sum);
}

static bool all_fine(const pad_oracle *o, int32_t number, bool *any) {
  const tesela_padding_read *read;
  bool fine = true;
  *any = false;
  for (int32_t k = 0; (read = tesela_padding_read_at(o->padding, k)); k++) {
    if (read->node != number) continue;
    *any = true;
    fine = fine && read->verdict == TESELA_PADDING_FINE;
  }
  return fine;
}

static bool same_bits(tesela_dtype dtype, pad_number a, pad_number b) {
  if (!is_float(dtype)) return a.i == b.i;
  return (isnan(a.f) && isnan(b.f)) || memcmp(&a.f, &b.f, 8) == 0;
}

/* One place of a fold. */
static pad_number fold_place(pad_oracle *o, int32_t number, const tesela_iteration *iteration,
                             const int64_t *x) {
  const tesela_node *node = node_at(o, number);
  int64_t end[TESELA_GRAPH_ITERATION];
  bool further = false, any, fine = all_fine(o, number, &any), element = inside(node->rank, node->shape, x);
  for (int32_t i = 0; i < iteration->n; i++) {
    end[i] = iteration->extent[i];
    if (!in_result(node, iteration, i)) end[i] = fold_end(o, number, iteration, i);
    further = further || end[i] > iteration->extent[i];
  }
  if (further && !any) failed(o, number, "reads padding and that is not said, index", x[0]);
  pad_number exact = folded(o, number, iteration, x, iteration->extent);
  if (!further || (element && !fine)) return exact; /* masked, as it must be */
  pad_number whole = folded(o, number, iteration, x, end);
  if (element) {
    o->fine++;
    if (!same_bits(node->dtype, exact, whole)) failed(o, number, "reads that are FINE change index", x[0]);
  }
  return o->masked ? exact : whole;
}

static pad_number copied(pad_oracle *o, int32_t number, const int64_t *x) {
  const tesela_node *node = node_at(o, number);
  int64_t t[RANK];
  bool spill = !inside(node->rank, node->shape, x) && random_below(&o->state, 2);
  for (int32_t k = node->n_operands - 1; k >= 0;
       k--) { /* the last one that has an element, or, spilling, a place */
    int32_t operand = node->operand[k];
    const tesela_node *from = node_at(o, operand);
    if (node->op == TESELA_OP_SCATTER && (k == 1 || (k == 2 && x[node->dim[0]] >= node->shape[node->dim[0]])))
      continue; /* indices; and none says a row behind the last */
    if (!operand_index(o, number, k, x, 0, t)) continue;
    if (node->op == TESELA_OP_CAT && from->shape[node->dim[0]] == 0) continue;
    if (node->op == TESELA_OP_CAT && t[node->dim[0]] >= 0 && from->shape[node->dim[0]] > 0)
      return read_at(o, operand, t);
    if (!inside(from->rank, from->shape, t) && !(spill && locate(o, operand, t) >= 0)) continue;
    return read_at(o, operand, t);
  }
  if (node->op == TESELA_OP_PAD) return converted(o, node->dtype, TESELA_F64, (pad_number){.f = node->value});
  if (node->op == TESELA_OP_WRITE || node->op == TESELA_OP_SCATTER) {
    operand_index(o, number, 0, x, 0, t);
    return read_at(o, node->operand[0], t);
  }
  return garbage(o, node->dtype);
}

static pad_number place_value(pad_oracle *o, int32_t number, const tesela_iteration *iteration,
                              const int64_t *x) {
  const tesela_node *node = node_at(o, number);
  pad_number v[3];
  tesela_dtype type[3];
  int64_t t[RANK];
  switch (node->op) {
  case TESELA_OP_CONSTANT:
    v[0].f = node->value + (node->n_dims > 0 ? (double)x[node->dim[0]] : 0);
    if (is_float(node->dtype)) return v[0];
    return (pad_number){.i = node->dtype == TESELA_PRED ? v[0].f != 0 : (int64_t)v[0].f};
  case TESELA_OP_POINTWISE:
    for (int32_t k = 0; k < node->n_operands; k++) {
      operand_index(o, number, k, x, 0, t);
      v[k] = read_at(o, node->operand[k], t);
      type[k] = node_at(o, node->operand[k])->dtype;
    }
    return apply(o, node, node->fn, type, v);
  case TESELA_OP_REDUCE:
  case TESELA_OP_MATMUL:
  case TESELA_OP_CONV2D:
    return fold_place(o, number, iteration, x);
  case TESELA_OP_GATHER: {
    operand_index(o, number, 1, x, 0, t);
    const tesela_node *from = node_at(o, node->operand[0]);
    int64_t looked = read_at(o, node->operand[1], t).i;
    if (looked < 0 || looked >= from->shape[node->dim[0]]) return garbage(o, node->dtype);
    operand_index(o, number, 0, x, looked, t);
    return read_at(o, node->operand[0], t);
  }
  default:
    return copied(o, number, x);
  }
}

static pad_number fill_value(pad_oracle *o, const tesela_padding_fill *fill, tesela_dtype dtype) {
  bool f = is_float(dtype);
  switch (fill->pad) {
  case TESELA_PAD_ZERO:
    return f ? (pad_number){.f = 0} : (pad_number){.i = 0};
  case TESELA_PAD_MINUS_INF:
    return fold_first(NULL, TESELA_FN_MAX, dtype);
  case TESELA_PAD_PLUS_INF:
    return fold_first(NULL, TESELA_FN_MIN, dtype);
  case TESELA_PAD_VALUE:
    return f ? (pad_number){.f = fill->value} : (pad_number){.i = (int64_t)fill->value};
  default:
    return garbage(o, dtype);
  }
}

/* Padding of a tensor that a transfer wrote, gaps and all. */
static void fill_padding(pad_oracle *o, int32_t number, const tesela_padding_fill *fill) {
  const tesela_node *node = node_at(o, number);
  for (int64_t p = 0; p < node->layout->places; p++)
    if (!o->memory[number].element[p]) o->memory[number].at[p] = fill_value(o, fill, node->dtype);
}

static void run_input(pad_oracle *o, int32_t number, const tesela_padding_fill *fill, int64_t limit) {
  const tesela_node *node = node_at(o, number);
  for (int64_t p = 0; p < node->layout->places; p++) {
    if (!o->memory[number].element[p]) continue;
    int64_t small = limit > 0 ? random_below(&o->state, limit) : random_below(&o->state, 19) - 9;
    bool special = random_below(&o->state, 16) == 0;
    if (is_float(node->dtype))
      o->memory[number].at[p] = special ? garbage(o, TESELA_F64) : (pad_number){.f = (double)small / 2};
    else
      o->memory[number].at[p] = (pad_number){.i = node->dtype == TESELA_PRED ? small & 1 : small};
  }
  fill_padding(o, number, fill);
}

/* In place: elements do not matter here; a piece that is copied in whole sticks may reach padding. */
static void run_in_place(pad_oracle *o, int32_t number) {
  const tesela_node *node = node_at(o, number), *buffer = node_at(o, node->buffer);
  int32_t k = node->n_operands - 1;
  const tesela_node *piece = node_at(o, node->operand[k]), *from = node_at(o, piece->buffer);
  int64_t digit[TESELA_DEVICE_DIMS], y[RANK], place;
  bool lane;
  for (int64_t p = 0; p < buffer->layout->places; p++) {
    pad_number *at = &o->memory[node->buffer].at[p];
    if (o->memory[node->buffer].element[p]) *at = garbage(o, buffer->dtype);
  }
  if (from->layout->places == 0 || !first_digits(buffer->layout, digit, y, &place, &lane)) return;
  do { /* padding of the buffer below which some padding or element of the piece may lie */
    pad_number *at = &o->memory[node->buffer].at[place];
    if (o->memory[node->buffer].element[place] || !lane || random_below(&o->state, 2)) continue;
    int64_t p = random_below(&o->state, from->layout->places);
    const pad_memory *m = &o->memory[piece->buffer];
    if (m->element[p]) continue;
    *at = m->at[p];
    if (node->op == TESELA_OP_SCATTER && node->fn == TESELA_FN_ADD)
      *at = is_float(buffer->dtype) ? (pad_number){.f = at->f + m->at[p].f} : *at;
  } while (next_digits(buffer->layout, digit, y, &place, &lane));
}

static void run_operator(pad_oracle *o, int32_t number) {
  const tesela_node *node = node_at(o, number);
  tesela_iteration iteration;
  int64_t digit[TESELA_DEVICE_DIMS], x[RANK], place;
  bool lane;
  assert_int_equal(tesela_graph_iteration(o->graph, number, &iteration, NULL), TESELA_OK);
  if (!first_digits(node->layout, digit, x, &place, &lane)) return;
  do {
    if (lane || node->op == TESELA_OP_CONSTANT)
      o->memory[number].at[place] = place_value(o, number, &iteration, x);
  } while (!o->unsupported && next_digits(node->layout, digit, x, &place, &lane));
  if (node->op == TESELA_OP_CONSTANT && node->n_dims == 0)
    for (int64_t p = 0; p < node->layout->places; p++)
      o->memory[number].at[p] = place_value(o, number, &iteration, x);
  if (node->op == TESELA_OP_CLONE || node->op == TESELA_OP_MOVE) fill_padding(o, number, &o->copied);
}

/* ---- claims --------------------------------------------------------------------------------------------------- */

static void check(pad_oracle *o, int32_t number) {
  const tesela_node *node = node_at(o, number), *buffer = node_at(o, node->buffer);
  tesela_padding_state state = tesela_padding_state_of(o->padding, number);
  const pad_memory *m = &o->memory[node->buffer];
  for (int64_t p = 0; p < buffer->layout->places; p++) {
    if (m->element[p]) continue;
    if (state.kind == TESELA_PADDING_NONE) failed(o, number, "has no padding, but at place", p);
    if (state.kind != TESELA_PADDING_VALUE) continue;
    pad_number v = is_float(buffer->dtype) ? (pad_number){.f = state.value} : (pad_number){.i = state.whole};
    o->known++;
    if (!same_bits(buffer->dtype, v, m->at[p]) || (is_float(buffer->dtype) && isnan(v.f)))
      failed(o, number, "does not hold what is said at place", p);
  }
}

/* Values below which an input must stay: it is looked up. 0: none. */
static int64_t limit_of(const pad_oracle *o, int32_t input) {
  int64_t limit = 0;
  for (int32_t k = 0; k < tesela_graph_count(o->graph); k++) {
    const tesela_node *node = node_at(o, k);
    if (node->op != TESELA_OP_GATHER && node->op != TESELA_OP_SCATTER) continue;
    if (node_at(o, node->operand[1])->buffer == input)
      limit = node_at(o, node->operand[0])->shape[node->dim[0]];
  }
  return limit;
}

void pad_oracle_run(pad_oracle *o) {
  int32_t n = tesela_graph_count(o->graph), input = 0;
  o->memory = calloc((size_t)n + 1, sizeof *o->memory);
  assert_non_null(o->memory);
  for (int32_t k = 0; k < n && !o->unsupported && o->failure[0] == '\0'; k++) {
    const tesela_node *node = node_at(o, k);
    if (node->buffer == k) make_memory(o, k);
    if (node->op == TESELA_OP_INPUT)
      run_input(o, k, &o->fill[input++], limit_of(o, k));
    else if (node->in_place)
      run_in_place(o, k);
    else if (!node->view)
      run_operator(o, k);
    if (!o->unsupported) check(o, k);
  }
  for (int32_t k = 0; k < n; k++) {
    free(o->memory[k].at);
    free(o->memory[k].element);
  }
  free(o->memory);
}
