/* SPDX-License-Identifier: Apache-2.0 */
/*
 * support_padding_values.c - numbers, functions and garbage.
 */
#include "support_padding_parts.h"

const tesela_node *pad_node(const pad_oracle *o, int32_t k) { return tesela_graph_node(o->graph, k); }

bool pad_is_float(tesela_dtype dtype) { return dtype == TESELA_F64; }

void pad_failed(pad_oracle *o, int32_t node, const char *what, int64_t at) {
  if (o->failure[0] == '\0')
    snprintf(o->failure, sizeof o->failure, "node %d (%s): %s %" PRId64, (int)node, pad_node(o, node)->name,
             what, at);
}

pad_number pad_garbage(pad_oracle *o, tesela_dtype dtype) {
  static const double floats[] = {
      (double)NAN, (double)INFINITY, -(double)INFINITY, 1e300, -7, 0.5, 3e-310, 0};
  int64_t k = random_below(&o->state, 8);
  if (pad_is_float(dtype)) return (pad_number){.f = floats[k]};
  if (dtype == TESELA_PRED) return (pad_number){.i = k & 1};
  return (pad_number){.i = k < 4 ? (int64_t[]){INT32_MIN, INT32_MAX, -1, 0}[k]
                                 : random_below(&o->state, 1000) - 500};
}

/* ---- functions ------------------------------------------------------------------------------------------------ */

double pad_float_fn(pad_oracle *o, tesela_fn fn, double x, double y, double z) {
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
    return pad_float_fn(o, TESELA_FN_MIN, pad_float_fn(o, TESELA_FN_MAX, y, x, 0), z, 0);
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
    return pad_float_fn(o, TESELA_FN_MAX, x, 0, 0);
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

int64_t pad_wrapped(int64_t x) { return (int32_t)(uint32_t)(uint64_t)x; }

int64_t pad_whole_fn(pad_oracle *o, tesela_fn fn, bool logic, int64_t x, int64_t y, int64_t z) {
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

static double as_float(tesela_dtype dtype, pad_number v) { return pad_is_float(dtype) ? v.f : (double)v.i; }

pad_number pad_converted(pad_oracle *o, tesela_dtype to, tesela_dtype from, pad_number v) {
  if (pad_is_float(to)) return (pad_number){.f = as_float(from, v)};
  if (to == TESELA_PRED) return (pad_number){.i = as_float(from, v) != 0};
  if (pad_is_float(from)) o->unsupported = true;
  return (pad_number){.i = pad_wrapped(v.i)};
}

pad_number pad_apply(pad_oracle *o, const tesela_node *node, tesela_fn fn, const tesela_dtype *type,
                     const pad_number *v) {
  int32_t n = tesela_fn_operands(fn) > 0 ? tesela_fn_operands(fn) : 2;
  bool floats = false;
  if (fn == TESELA_FN_SELECT) {
    int32_t k = as_float(type[0], v[0]) != 0 ? 1 : 2;
    if (pad_is_float(type[1]) != pad_is_float(type[2])) o->unsupported = true;
    return pad_converted(o, node->dtype, type[k], v[k]);
  }
  for (int32_t k = 0; k < n; k++) floats = floats || pad_is_float(type[k]);
  double x = as_float(type[0], v[0]), y = n > 1 ? as_float(type[1], v[1]) : 0,
         z = n > 2 ? as_float(type[2], v[2]) : 0;
  int answer = compared(fn, x, y);
  if (answer >= 0) return pad_converted(o, node->dtype, TESELA_PRED, (pad_number){.i = answer});
  if (floats)
    return pad_converted(o, node->dtype, TESELA_F64, (pad_number){.f = pad_float_fn(o, fn, x, y, z)});
  if (fn == TESELA_FN_EXP || (fn > TESELA_FN_EXP && fn <= TESELA_FN_SIGMOID)) { /* of integers, as floats */
    if (!pad_is_float(node->dtype)) o->unsupported = true;
    return (pad_number){.f = pad_float_fn(o, fn, x, y, z)};
  }
  int64_t whole = pad_whole_fn(o, fn, type[0] == TESELA_PRED, v[0].i, n > 1 ? v[1].i : 0, n > 2 ? v[2].i : 0);
  return pad_converted(o, node->dtype, TESELA_S64, (pad_number){.i = whole});
}
