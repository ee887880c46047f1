/* SPDX-License-Identifier: Apache-2.0 */
/*
 * graph_oracle.c - an interpreter of programs, as simple as possible.
 */
#include "graph_oracle.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { RANK = TESELA_GRAPH_RANK };

typedef struct number {
  bool real; /* the value is in f, else in i */
  double f;
  int64_t i; /* of u64: its bits */
} number;

typedef struct tensor {
  tesela_dtype dtype;
  int32_t rank;
  int64_t n, shape[RANK];
  number *at;
} tensor;

/* ---- types ---- */

static bool real(tesela_dtype t) {
  return t == TESELA_F16 || t == TESELA_BF16 || t == TESELA_F32 || t == TESELA_F64;
}
static bool has_sign(tesela_dtype t) {
  return t == TESELA_S8 || t == TESELA_S16 || t == TESELA_S32 || t == TESELA_S64;
}
static bool known(tesela_dtype t) {
  return real(t) || has_sign(t) || t == TESELA_U8 || t == TESELA_U16 || t == TESELA_U32 || t == TESELA_U64 ||
         t == TESELA_PRED;
}
static int width(tesela_dtype t) { /* bytes */
  switch (t) {
  case TESELA_PRED:
  case TESELA_S8:
  case TESELA_U8:
    return 1;
  case TESELA_F16:
  case TESELA_BF16:
  case TESELA_S16:
  case TESELA_U16:
    return 2;
  case TESELA_F32:
  case TESELA_S32:
  case TESELA_U32:
    return 4;
  default:
    return 8;
  }
}

/* The float with `e` exponent and `m` mantissa bits nearest to x, ties to even, from the bits of the double. */
static uint64_t float_bits(double x, int e, int m) {
  uint64_t b, all = ((uint64_t)1 << e) - 1;
  memcpy(&b, &x, 8);
  uint64_t sign = (b >> 63) << (e + m), fraction = b & (((uint64_t)1 << 52) - 1);
  int exponent = (int)(b >> 52 & 2047);
  if (exponent == 2047) return fraction ? all << m | (uint64_t)1 << (m - 1) : sign | all << m;
  if (exponent == 0) return sign; /* below 2^-1022: only f64 can express it, which is handled elsewhere */
  int bias = (1 << (e - 1)) - 1, to = exponent - 1023 + bias, cut = 52 - m;
  uint64_t whole = (uint64_t)1 << 52 | fraction;
  if (to < 1) {
    cut += 1 - to;
    to = 0;
  }
  if (cut > 54) return sign;
  uint64_t kept = whole >> cut, rest = whole & (((uint64_t)1 << cut) - 1), half = (uint64_t)1 << (cut - 1);
  kept += rest > half || (rest == half && (kept & 1));
  /* kept, with the hidden bit, is 2^m .. 2^(m+1); a carry increments the exponent */
  uint64_t bits = to == 0 ? kept : (((uint64_t)(to - 1)) << m) + kept;
  if (bits >= all << m) bits = all << m;
  return sign | bits;
}

static double float_value(uint64_t bits, int e, int m) {
  uint64_t all = ((uint64_t)1 << e) - 1, exponent = bits >> m & all,
           fraction = bits & (((uint64_t)1 << m) - 1);
  int bias = (1 << (e - 1)) - 1;
  double x;
  if (exponent == all)
    x = fraction ? (double)NAN : (double)INFINITY;
  else if (exponent == 0)
    x = (double)fraction * pow(2, 1 - bias - m);
  else
    x = ((double)fraction + pow(2, m)) * pow(2, (double)exponent - bias - m);
  return bits >> (e + m) & 1 ? -x : x;
}

static void form(tesela_dtype t, int *e, int *m) {
  *e = t == TESELA_F16 ? 5 : t == TESELA_F64 ? 11 : 8;
  *m = t == TESELA_F16 ? 10 : t == TESELA_BF16 ? 7 : t == TESELA_F32 ? 23 : 52;
}

static number of_bits(tesela_dtype t, uint64_t bits) {
  number x = {.real = real(t)};
  int e, m, n = 8 * width(t);
  if (t == TESELA_F64) {
    memcpy(&x.f, &bits, 8);
  } else if (x.real) {
    form(t, &e, &m);
    x.f = float_value(bits, e, m);
  } else if (t == TESELA_PRED) {
    x.i = bits != 0;
  } else if (has_sign(t) && n < 64 && bits >> (n - 1)) {
    x.i = (int64_t)bits - ((int64_t)1 << n);
  } else {
    x.i = (int64_t)bits;
  }
  return x;
}

static uint64_t to_bits(tesela_dtype t, number x) { /* x is a value of the type */
  int e, m;
  uint64_t bits = (uint64_t)x.i;
  if (t == TESELA_F64) {
    if (isnan(x.f)) return UINT64_C(0x7ff8000000000000);
    memcpy(&bits, &x.f, 8);
  } else if (real(t)) {
    form(t, &e, &m);
    bits = float_bits(x.f, e, m);
  }
  return bits;
}

static double as_real(tesela_dtype t, number x) {
  if (x.real) return x.f;
  return t == TESELA_U64 ? (double)(uint64_t)x.i : (double)x.i;
}

/* x, computed in type `from`, as a value of type t. */
static number rounded(tesela_dtype t, tesela_dtype from, number x) {
  number y = {.real = real(t)};
  int bits = 8 * width(t);
  if (t == TESELA_PRED) {
    y.i = x.real ? x.f != 0 : x.i != 0;
  } else if (y.real) {
    y.f = as_real(from, x);
    if (t != TESELA_F64) y.f = of_bits(t, to_bits(t, y)).f;
    if (isnan(y.f)) y.f = (double)NAN;
  } else if (x.real) {
    double low = has_sign(t) ? -pow(2, bits - 1) : 0, end = pow(2, has_sign(t) ? bits - 1 : bits);
    double whole = trunc(x.f);
    if (isnan(x.f)) return y;
    if (whole >= end) {
      y.i = has_sign(t)  ? (int64_t)(((uint64_t)1 << (bits - 1)) - 1)
            : bits == 64 ? -1
                         : ((int64_t)1 << bits) - 1;
    } else if (whole <= low) {
      y.i = has_sign(t) ? (bits == 64 ? INT64_MIN : -((int64_t)1 << (bits - 1))) : 0;
    } else {
      y.i = has_sign(t) ? (int64_t)whole : (int64_t)(uint64_t)whole;
    }
  } else {
    uint64_t mask = bits == 64 ? UINT64_MAX : ((uint64_t)1 << bits) - 1;
    y = of_bits(t, (uint64_t)x.i & mask);
  }
  return y;
}

/* ---- functions ---- */

static int64_t integer_power(bool sign, int64_t x, int64_t y) {
  if (sign && y < 0) return x == 1 ? 1 : x != -1 ? 0 : y % 2 ? -1 : 1;
  uint64_t r = 1, b = (uint64_t)x;
  for (uint64_t n = (uint64_t)y; n; n /= 2) {
    if (n % 2) r *= b;
    b *= b;
  }
  return (int64_t)r;
}

/* The type in which operands are computed: f64, s64 or u64. */
static tesela_dtype wide(int n, const tesela_dtype *t) {
  bool sign = false;
  for (int k = 0; k < n; k++) {
    if (real(t[k])) return TESELA_F64;
    sign = sign || has_sign(t[k]);
  }
  return sign ? TESELA_S64 : TESELA_U64;
}

static int compare(tesela_dtype t, number x, number y) { /* -1, 0, 1; 2: not comparable */
  if (x.real) return isnan(x.f) || isnan(y.f) ? 2 : x.f < y.f ? -1 : x.f > y.f;
  if (t == TESELA_S64) return x.i < y.i ? -1 : x.i > y.i;
  return (uint64_t)x.i < (uint64_t)y.i ? -1 : (uint64_t)x.i > (uint64_t)y.i;
}

static number greater(tesela_dtype t, number x, number y) {
  int c = compare(t, x, y);
  return c == 2 ? (number){.real = true, .f = (double)NAN} : c < 0 ? y : x;
}
static number less(tesela_dtype t, number x, number y) {
  int c = compare(t, x, y);
  return c == 2 ? (number){.real = true, .f = (double)NAN} : c > 0 ? y : x;
}

static number boolean(bool x) { return (number){.i = x}; }
static number a_real(double x) { return (number){.real = true, .f = x}; }
static number an_integer(int64_t x) { return (number){.i = x}; }

/* Two integers or two reals, of wide type t. */
static bool binary(tesela_fn fn, tesela_dtype t, number x, number y, number *out) {
  bool r = x.real, s = t == TESELA_S64;
  uint64_t a = (uint64_t)x.i, b = (uint64_t)y.i;
  int c = compare(t, x, y);
  switch (fn) {
  case TESELA_FN_ADD:
    *out = r ? a_real(x.f + y.f) : an_integer((int64_t)(a + b));
    return true;
  case TESELA_FN_SUB:
    *out = r ? a_real(x.f - y.f) : an_integer((int64_t)(a - b));
    return true;
  case TESELA_FN_MUL:
    *out = r ? a_real(x.f * y.f) : an_integer((int64_t)(a * b));
    return true;
  case TESELA_FN_DIV:
    if (r)
      *out = a_real(x.f / y.f);
    else if (b == 0)
      *out = an_integer(-1);
    else if (s && y.i == -1)
      *out = an_integer((int64_t)(0 - a));
    else
      *out = an_integer(s ? x.i / y.i : (int64_t)(a / b));
    return true;
  case TESELA_FN_REM:
    if (r)
      *out = a_real(fmod(x.f, y.f));
    else if (b == 0)
      *out = x;
    else if (s && y.i == -1)
      *out = an_integer(0);
    else
      *out = an_integer(s ? x.i % y.i : (int64_t)(a % b));
    return true;
  case TESELA_FN_POW:
    *out = r ? a_real(pow(x.f, y.f)) : an_integer(integer_power(s, x.i, y.i));
    return true;
  case TESELA_FN_MAX:
    *out = greater(t, x, y);
    return true;
  case TESELA_FN_MIN:
    *out = less(t, x, y);
    return true;
  case TESELA_FN_AND:
    *out = an_integer(x.i & y.i);
    return true;
  case TESELA_FN_OR:
    *out = an_integer(x.i | y.i);
    return true;
  case TESELA_FN_XOR:
    *out = an_integer(x.i ^ y.i);
    return true;
  case TESELA_FN_EQ:
    *out = boolean(c == 0);
    return true;
  case TESELA_FN_NE:
    *out = boolean(c != 0);
    return true;
  case TESELA_FN_LT:
    *out = boolean(c == -1);
    return true;
  case TESELA_FN_LE:
    *out = boolean(c == -1 || c == 0);
    return true;
  case TESELA_FN_GT:
    *out = boolean(c == 1);
    return true;
  case TESELA_FN_GE:
    *out = boolean(c == 1 || c == 0);
    return true;
  default:
    return false;
  }
}

static bool unary_real(tesela_fn fn, double x, double *y) {
  switch (fn) {
  case TESELA_FN_EXP:
    *y = exp(x);
    return true;
  case TESELA_FN_EXPM1:
    *y = expm1(x);
    return true;
  case TESELA_FN_LOG:
    *y = log(x);
    return true;
  case TESELA_FN_LOG1P:
    *y = log1p(x);
    return true;
  case TESELA_FN_SQRT:
    *y = sqrt(x);
    return true;
  case TESELA_FN_RSQRT:
    *y = 1 / sqrt(x);
    return true;
  case TESELA_FN_TANH:
    *y = tanh(x);
    return true;
  case TESELA_FN_SIGMOID:
    *y = 1 / (1 + exp(-x));
    return true;
  case TESELA_FN_SIN:
    *y = sin(x);
    return true;
  case TESELA_FN_COS:
    *y = cos(x);
    return true;
  case TESELA_FN_ERF:
    *y = erf(x);
    return true;
  default:
    return false;
  }
}

static bool unary(tesela_fn fn, tesela_dtype was, tesela_dtype t, number x, number *out) {
  bool negative = x.real ? x.f < 0 : t == TESELA_S64 && x.i < 0;
  bool nan = x.real && isnan(x.f);
  *out = x;
  switch (fn) {
  case TESELA_FN_COPY:
    return true;
  case TESELA_FN_FLOOR:
    if (x.real) out->f = floor(x.f);
    return true;
  case TESELA_FN_CEIL:
    if (x.real) out->f = ceil(x.f);
    return true;
  case TESELA_FN_NEG:
    *out = x.real ? a_real(-x.f) : an_integer((int64_t)(0 - (uint64_t)x.i));
    return true;
  case TESELA_FN_ABS:
    if (x.real)
      out->f = fabs(x.f);
    else if (negative)
      out->i = (int64_t)(0 - (uint64_t)x.i);
    return true;
  case TESELA_FN_RELU:
    if (negative) *out = x.real ? a_real(0) : an_integer(0);
    return true;
  case TESELA_FN_SIGN:
    if (x.real && !nan) *out = a_real(x.f > 0 ? 1 : x.f < 0 ? -1 : 0);
    if (!x.real) *out = an_integer(negative ? -1 : x.i != 0);
    return true;
  case TESELA_FN_NOT:
    *out = an_integer(was == TESELA_PRED ? !x.i : ~x.i);
    return true;
  case TESELA_FN_ISFINITE:
    *out = boolean(!x.real || isfinite(x.f));
    return true;
  default:
    return false;
  }
}

static bool compares(tesela_fn fn) {
  return (fn >= TESELA_FN_EQ && fn <= TESELA_FN_GE) || fn == TESELA_FN_ISFINITE;
}

/* fn of values of types t, rounded to type `to`. */
static bool apply(tesela_fn fn, int n, const tesela_dtype *t, const number *v, tesela_dtype to, number *out) {
  number x[3], y;
  if (fn == TESELA_FN_SELECT) {
    tesela_dtype in = wide(2, t + 1);
    int taken = (v[0].real ? v[0].f != 0 : v[0].i != 0) ? 1 : 2;
    *out = rounded(to, in, rounded(in, t[taken], v[taken]));
    return true;
  }
  double f;
  if (n == 1 && unary_real(fn, as_real(t[0], v[0]), &f)) {
    *out = rounded(to, TESELA_F64, a_real(f));
    return true;
  }
  tesela_dtype in = wide(n, t);
  for (int k = 0; k < n; k++) x[k] = in == TESELA_F64 ? a_real(as_real(t[k], v[k])) : v[k];
  if (fn == TESELA_FN_CLAMP)
    y = less(in, greater(in, x[1], x[0]), x[2]);
  else if (n == 2 ? !binary(fn, in, x[0], x[1], &y) : !unary(fn, t[0], in, x[0], &y))
    return false;
  *out = rounded(to, compares(fn) ? TESELA_U64 : in, y);
  return true;
}

/* ---- indices ---- */

static void unrank(int64_t at, int32_t rank, const int64_t *shape, int64_t *index) {
  for (int32_t d = rank - 1; d >= 0; d--) {
    index[d] = at % shape[d];
    at /= shape[d];
  }
}
static int64_t rank_of(const tensor *t, const int64_t *index) {
  int64_t at = 0;
  for (int32_t d = 0; d < t->rank; d++) at = at * t->shape[d] + index[d];
  return at;
}
static bool inside(const tensor *t, const int64_t *index) {
  for (int32_t d = 0; d < t->rank; d++)
    if (index[d] < 0 || index[d] >= t->shape[d]) return false;
  return true;
}
static bool in_dims(const tesela_node *node, int32_t d) {
  for (int32_t i = 0; i < node->n_dims; i++)
    if (node->dim[i] == d) return true;
  return false;
}

/* ---- operators: each fills *out, which has the node's shape and type ---- */

static int pointwise(const tesela_node *node, tensor **x, tensor *out) {
  int n = node->n_operands;
  if (n > 3) return 2;
  for (int64_t e = 0; e < out->n; e++) {
    int64_t index[RANK];
    number v[3];
    tesela_dtype t[3];
    unrank(e, out->rank, out->shape, index);
    for (int k = 0; k < n; k++) {
      int64_t own[RANK];
      for (int32_t d = 0; d < x[k]->rank; d++)
        own[d] = x[k]->shape[d] == 1 ? 0 : index[out->rank - x[k]->rank + d];
      v[k] = x[k]->at[rank_of(x[k], own)];
      t[k] = x[k]->dtype;
    }
    if (!apply(node->fn, n, t, v, out->dtype, &out->at[e])) return 2;
  }
  return 0;
}

/* The start value of a fold over values of a type, as a real or as an integer. */
static number fold_first(tesela_fn fn, tesela_dtype t, bool r) {
  int bits = 8 * width(t);
  number first = r ? a_real(0) : an_integer(0);
  if (fn == TESELA_FN_PROD) first = r ? a_real(1) : an_integer(1);
  if (fn == TESELA_FN_AND) first = an_integer(-1);
  if (fn == TESELA_FN_MAX)
    first = r ? a_real(-(double)INFINITY)
              : an_integer(!has_sign(t) ? 0
                           : bits == 64 ? INT64_MIN
                                        : -((int64_t)1 << (bits - 1)));
  if (fn == TESELA_FN_MIN)
    first = r                  ? a_real((double)INFINITY)
            : t == TESELA_PRED ? an_integer(1)
            : has_sign(t)      ? an_integer((int64_t)(((uint64_t)1 << (bits - 1)) - 1))
            : bits == 64       ? an_integer(-1)
                               : an_integer(((int64_t)1 << bits) - 1);
  return first;
}

static int reduce(const tesela_node *node, const tensor *x, tensor *out) {
  tesela_fn fn = node->fn;
  tesela_dtype in = wide(1, &x->dtype);
  if (fn == TESELA_FN_MEAN && real(out->dtype)) in = TESELA_F64;
  bool r = in == TESELA_F64;
  number first = fold_first(fn, x->dtype, r);
  number *sum = malloc((size_t)(out->n + 1) * sizeof *sum);
  int64_t *count = calloc((size_t)(out->n + 1), sizeof *count);
  for (int64_t e = 0; e < out->n; e++) sum[e] = first;
  for (int64_t e = 0; e < x->n;
       e++) { /* row-major over x is also row-major over the folded dims of each result */
    int64_t index[RANK], own[RANK];
    int32_t n = 0;
    unrank(e, x->rank, x->shape, index);
    for (int32_t d = 0; d < x->rank; d++) {
      if (!in_dims(node, d))
        own[n++] = index[d];
      else if (node->keepdim)
        own[n++] = 0;
    }
    int64_t to = rank_of(out, own);
    number v = r ? a_real(as_real(x->dtype, x->at[e])) : x->at[e];
    tesela_fn step = fn == TESELA_FN_SUM || fn == TESELA_FN_MEAN ? TESELA_FN_ADD
                     : fn == TESELA_FN_PROD                      ? TESELA_FN_MUL
                                                                 : fn;
    if (!binary(step, in, sum[to], v, &sum[to])) return 2;
    count[to]++;
  }
  for (int64_t e = 0; e < out->n; e++) {
    if (fn == TESELA_FN_MEAN)
      binary(TESELA_FN_DIV, in, sum[e], r ? a_real((double)count[e]) : an_integer(count[e]), &sum[e]);
    out->at[e] = rounded(out->dtype, in, sum[e]);
  }
  free(sum);
  free(count);
  return 0;
}

/* Does x sort after y? Equal values do not; NaN sorts after all others. */
static bool behind(tesela_dtype t, number x, number y) {
  if (x.real && isnan(x.f)) return !isnan(y.f);
  return compare(t, x, y) == 1;
}

/* Cumulative: for each element, fold all elements from the line's beginning (or end). Sorted: the rank of an element is
 * the number of elements that are less (greater), or equal and before it in the operand. */
static int along(const tesela_node *node, const tensor *x, tensor *out) {
  static const tesela_fn steps[] = {TESELA_FN_ADD, TESELA_FN_MUL, TESELA_FN_MAX, TESELA_FN_MIN};
  tesela_dtype in = wide(1, &x->dtype);
  int32_t d = node->dim[0];
  int64_t n = x->shape[d];
  bool sum = node->fn == TESELA_FN_CUMSUM, r = in == TESELA_F64;
  if (node->fn < TESELA_FN_CUMSUM || node->fn > TESELA_FN_ARGSORT || node->fn == TESELA_FN_FUSED) return 2;
  for (int64_t e = 0; e < x->n; e++) {
    int64_t index[RANK], own, rank = 0;
    unrank(e, x->rank, x->shape, index);
    own = index[d];
    if (node->fn == TESELA_FN_SORT || node->fn == TESELA_FN_ARGSORT) {
      for (index[d] = 0; index[d] < n; index[d]++) {
        number other = x->at[rank_of(x, index)], this = x->at[e];
        bool in_front = node->reverse ? behind(in, other, this) : behind(in, this, other);
        bool equal = !behind(in, other, this) && !behind(in, this, other);
        rank += in_front || (equal && index[d] < own);
      }
      index[d] = rank;
      if (rank >= out->shape[d]) continue;
      out->at[rank_of(out, index)] = node->fn == TESELA_FN_SORT
                                         ? rounded(out->dtype, x->dtype, x->at[e])
                                         : rounded(out->dtype, TESELA_S64, an_integer(own));
      continue;
    }
    bool any = sum || node->fn == TESELA_FN_CUMPROD;
    number all = r ? a_real(sum ? 0 : 1) : an_integer(sum ? 0 : 1);
    for (int64_t i = 0; i < n; i++) {
      index[d] = node->reverse ? n - 1 - i : i;
      if (node->reverse ? index[d] < own : index[d] > own) break;
      number v = x->at[rank_of(x, index)];
      if (r) v = a_real(as_real(x->dtype, v));
      if (!any)
        all = v;
      else if (!binary(steps[node->fn - TESELA_FN_CUMSUM], in, all, v, &all))
        return 2;
      any = true;
    }
    index[d] = own;
    out->at[rank_of(out, index)] = rounded(out->dtype, in, all);
  }
  return 0;
}

static number product_sum(tesela_dtype in, number sum, const tensor *x, int64_t a, const tensor *y,
                          int64_t b) {
  number p, q;
  number u = in == TESELA_F64 ? a_real(as_real(x->dtype, x->at[a])) : x->at[a];
  number v = in == TESELA_F64 ? a_real(as_real(y->dtype, y->at[b])) : y->at[b];
  binary(TESELA_FN_MUL, in, u, v, &p);
  binary(TESELA_FN_ADD, in, sum, p, &q);
  return q;
}

static int matmul(const tesela_node *node, tensor **x, tensor *out) {
  int64_t extent[TESELA_GRAPH_ITERATION], at[TESELA_GRAPH_ITERATION], inner = 1;
  tesela_dtype t[2] = {x[0]->dtype, x[1]->dtype}, in = wide(2, t);
  for (int k = 0; k < 2; k++)
    for (int32_t d = 0; d < x[k]->rank; d++)
      if (node->label[k][d] >= 0) extent[node->label[k][d]] = x[k]->shape[d];
  for (int32_t l = out->rank; l < node->n_labels; l++) inner *= extent[l];
  for (int64_t e = 0; e < out->n; e++) {
    number sum = in == TESELA_F64 ? a_real(0) : an_integer(0);
    unrank(e, out->rank, out->shape, at);
    for (int64_t f = 0; f < inner; f++) {
      int64_t own[2][RANK];
      unrank(f, node->n_labels - out->rank, extent + out->rank, at + out->rank);
      for (int k = 0; k < 2; k++)
        for (int32_t d = 0; d < x[k]->rank; d++)
          own[k][d] = node->label[k][d] < 0 ? 0 : at[node->label[k][d]];
      sum = product_sum(in, sum, x[0], rank_of(x[0], own[0]), x[1], rank_of(x[1], own[1]));
    }
    out->at[e] = rounded(out->dtype, in, sum);
  }
  return 0;
}

/* Advance to the next index of a box, row-major. False after the last, with all indices 0 again. */
static bool step(int32_t n, const int64_t *extent, int64_t *index) {
  for (int32_t d = n - 1; d >= 0; d--) {
    if (++index[d] < extent[d]) return true;
    index[d] = 0;
  }
  return false;
}

/* The index in x of element `k` of the window at `o`; false between elements. */
static bool window_at(int64_t o, int64_t stride, int64_t k, int64_t dilation, int64_t low, int64_t spread,
                      int64_t *at) {
  int64_t spread_at = o * stride + k * dilation - low;
  *at = spread_at < 0 ? -1 : spread_at / spread;
  return spread_at % spread == 0;
}

/* By definition: the sum over window places and channels of the products of x and w. */
static int conv2d(const tesela_node *node, tensor **x, tensor *out) {
  const tesela_conv2d *c = &node->conv;
  tesela_dtype t[2] = {x[0]->dtype, x[1]->dtype}, in = wide(2, t);
  for (int64_t e = 0; e < out->n; e++) {
    int64_t o[RANK], i[RANK], w[RANK], k[3] = {0}, extent[3],
                                       channels = c->w[1] < 0 ? 1 : x[1]->shape[c->w[1]];
    number sum = in == TESELA_F64 ? a_real(0) : an_integer(0);
    unrank(e, out->rank, out->shape, o);
    if (c->x[0] >= 0) i[c->x[0]] = o[c->result[0]];
    if (c->w[0] >= 0) w[c->w[0]] = o[c->result[1]];
    if (c->grouped) i[c->x[5]] = w[c->w[5]] = o[c->result[5]];
    for (int32_t d = 0; d < c->spatial; d++) extent[d] = x[1]->shape[c->w[2 + d]];
    for (int64_t ch = 0; ch < channels; ch++) do {
        bool element = true;
        if (c->w[1] >= 0) w[c->w[1]] = i[c->x[1]] = ch;
        for (int32_t d = 0; d < c->spatial; d++) {
          w[c->w[2 + d]] = k[d];
          element = window_at(o[c->result[2 + d]], c->stride[d], k[d], c->dilation[d], c->low[d],
                              c->x_dilation[d], &i[c->x[2 + d]]) &&
                    element;
        }
        if (element && inside(x[0], i))
          sum = product_sum(in, sum, x[0], rank_of(x[0], i), x[1], rank_of(x[1], w));
      } while (step(c->spatial, extent, k));
    out->at[e] = rounded(out->dtype, in, sum);
  }
  return 0;
}

/* Fold all elements of each window. */
static int pool(const tesela_node *node, const tensor *x, tensor *out) {
  tesela_fn fn = node->fn == TESELA_FN_SUM    ? TESELA_FN_ADD
                 : node->fn == TESELA_FN_PROD ? TESELA_FN_MUL
                                              : node->fn;
  tesela_dtype in = wide(1, &x->dtype);
  bool r = in == TESELA_F64;
  for (int64_t e = 0; e < out->n; e++) {
    int64_t o[RANK], i[RANK], k[RANK] = {0};
    number all = fold_first(node->fn, x->dtype, r);
    unrank(e, out->rank, out->shape, o);
    do {
      bool element = true;
      for (int32_t d = 0; d < x->rank; d++)
        element = window_at(o[d], node->step[d], k[d], node->dilation[d], node->low[d], node->x_dilation[d],
                            &i[d]) &&
                  element;
      if (!element || !inside(x, i)) continue;
      number v = x->at[rank_of(x, i)];
      if (r) v = a_real(as_real(x->dtype, v));
      if (!binary(fn, in, all, v, &all)) return 2;
    } while (step(x->rank, node->length, k));
    out->at[e] = rounded(out->dtype, in, all);
  }
  return 0;
}

static int gather(const tesela_node *node, tensor **x, tensor *out) {
  int32_t looked = node->dim[0], n = x[1]->rank;
  for (int64_t e = 0; e < out->n; e++) {
    int64_t index[RANK], own[RANK];
    unrank(e, out->rank, out->shape, index);
    int64_t at = x[1]->at[rank_of(x[1], index + looked)].i;
    for (int32_t d = 0; d < x[0]->rank; d++)
      own[d] = d < looked ? index[d] : index[d + n - 1 < 0 ? 0 : d + n - 1];
    own[looked] = at;
    if (at == -1) continue; /* no element */
    if (at < 0 || at >= x[0]->shape[looked]) return 1;
    out->at[e] = rounded(out->dtype, x[0]->dtype, x[0]->at[rank_of(x[0], own)]);
  }
  return 0;
}

static int scatter(const tesela_node *node, tensor **x, tensor *out) {
  int32_t looked = node->dim[0], n = x[1]->rank;
  for (int64_t e = 0; e < out->n; e++) out->at[e] = rounded(out->dtype, x[0]->dtype, x[0]->at[e]);
  for (int64_t e = 0; e < x[2]->n; e++) {
    int64_t index[RANK], own[RANK];
    unrank(e, x[2]->rank, x[2]->shape, index);
    int64_t at = x[1]->at[rank_of(x[1], index + looked)].i;
    for (int32_t d = 0; d < out->rank; d++)
      own[d] = d < looked ? index[d] : index[d + n - 1 < 0 ? 0 : d + n - 1];
    own[looked] = at;
    if (at == -1) continue; /* no element */
    if (at < 0 || at >= out->shape[looked]) return 1;
    number *to = &out->at[rank_of(out, own)];
    if (node->fn == TESELA_FN_ADD) {
      tesela_dtype t[2] = {out->dtype, x[2]->dtype};
      number v[2] = {*to, x[2]->at[e]};
      if (!apply(TESELA_FN_ADD, 2, t, v, out->dtype, to)) return 2;
    } else {
      *to = rounded(out->dtype, x[2]->dtype, x[2]->at[e]);
    }
  }
  return 0;
}

static int cat(const tesela_node *node, tensor **x, tensor *out) {
  int64_t from = 0;
  for (int32_t k = 0; k < node->n_operands; k++) {
    for (int64_t e = 0; e < x[k]->n; e++) {
      int64_t index[RANK];
      unrank(e, x[k]->rank, x[k]->shape, index);
      index[node->dim[0]] += from;
      out->at[rank_of(out, index)] = rounded(out->dtype, x[k]->dtype, x[k]->at[e]);
    }
    from += x[k]->shape[node->dim[0]];
  }
  return 0;
}

/* Element i of x goes to first + i * step along each dim, if that is inside the result. */
static void put_pieces(const tesela_node *node, const tensor *x, const int64_t *first, tensor *out) {
  for (int64_t e = 0; e < x->n; e++) {
    int64_t index[RANK];
    unrank(e, x->rank, x->shape, index);
    for (int32_t d = 0; d < x->rank; d++) index[d] = first[d] + index[d] * node->step[d];
    if (inside(out, index)) out->at[rank_of(out, index)] = rounded(out->dtype, x->dtype, x->at[e]);
  }
}

static int rearrange(const tesela_node *node, const tensor *x, tensor *out) {
  for (int64_t e = 0; e < out->n; e++) {
    int64_t index[RANK], own[RANK] = {0};
    unrank(e, out->rank, out->shape, index);
    for (int32_t d = 0; d < x->rank; d++) {
      if (node->op == TESELA_OP_SLICE) own[d] = node->start[d] + node->step[d] * index[d];
      if (node->op == TESELA_OP_EXPAND) own[d] = x->shape[d] == 1 ? 0 : index[node->dim[d]];
      if (node->op == TESELA_OP_PERMUTE) own[node->dim[d]] = index[d];
    }
    out->at[e] = x->at[rank_of(x, own)];
  }
  return 0;
}

static int same_order(const tensor *x, tensor *out) {
  for (int64_t e = 0; e < out->n; e++) out->at[e] = rounded(out->dtype, x->dtype, x->at[e]);
  return 0;
}

static int constant(const tesela_node *node, tensor *out) {
  for (int64_t e = 0; e < out->n; e++) {
    int64_t index[RANK];
    unrank(e, out->rank, out->shape, index);
    double x = node->value + (node->n_dims > 0 ? (double)index[node->dim[0]] : 0);
    out->at[e] = rounded(out->dtype, TESELA_F64, a_real(x));
  }
  return 0;
}

static int input(const tesela_node *node, const uint8_t *host, tensor *out) {
  int w = width(node->dtype);
  for (int64_t e = 0; e < out->n; e++) {
    int64_t index[RANK], at = 0;
    uint64_t bits = 0;
    unrank(e, out->rank, out->shape, index);
    for (int32_t d = 0; d < out->rank; d++) at += index[d] * node->host_stride[d];
    memcpy(&bits, host + at * w, (size_t)w); /* little-endian */
    out->at[e] = of_bits(node->dtype, bits);
  }
  return 0;
}

static int compute(const tesela_node *node, tensor **x, tensor *out) {
  switch (node->op) {
  case TESELA_OP_CONSTANT:
    return constant(node, out);
  case TESELA_OP_POINTWISE:
    return pointwise(node, x, out);
  case TESELA_OP_REDUCE:
    return reduce(node, x[0], out);
  case TESELA_OP_ALONG:
    return along(node, x[0], out);
  case TESELA_OP_MATMUL:
    return matmul(node, x, out);
  case TESELA_OP_CONV2D:
    return conv2d(node, x, out);
  case TESELA_OP_POOL:
    return pool(node, x[0], out);
  case TESELA_OP_GATHER:
    return gather(node, x, out);
  case TESELA_OP_SCATTER:
    return scatter(node, x, out);
  case TESELA_OP_CAT:
    return cat(node, x, out);
  case TESELA_OP_PAD:
    for (int64_t e = 0; e < out->n; e++) out->at[e] = rounded(out->dtype, TESELA_F64, a_real(node->value));
    put_pieces(node, x[0], node->low, out);
    return 0;
  case TESELA_OP_WRITE:
    same_order(x[0], out);
    put_pieces(node, x[1], node->start, out);
    return 0;
  case TESELA_OP_CLONE:
  case TESELA_OP_MOVE:
  case TESELA_OP_RESHAPE:
  case TESELA_OP_SQUEEZE:
  case TESELA_OP_UNSQUEEZE:
    return same_order(x[0], out);
  case TESELA_OP_PERMUTE:
  case TESELA_OP_EXPAND:
  case TESELA_OP_SLICE:
    return rearrange(node, x[0], out);
  default:
    return 2;
  }
}

/* Compute all nodes; NULL and *status on failure. */
static tensor *run(const tesela_graph *graph, const void *const *inputs, int *status) {
  int32_t count = tesela_graph_count(graph), next = 0;
  tensor *all = calloc((size_t)count + 1, sizeof *all);
  *status = 0;
  for (int32_t k = 0; k < count && *status == 0; k++) {
    const tesela_node *node = tesela_graph_node(graph, k);
    tensor *x[64] = {NULL};
    all[k] = (tensor){.dtype = node->dtype, .rank = node->rank, .n = 1};
    for (int32_t d = 0; d < node->rank; d++) all[k].n *= all[k].shape[d] = node->shape[d];
    all[k].at = calloc((size_t)all[k].n + 1, sizeof *all[k].at);
    for (int32_t o = 0; o < node->n_operands && o < 64; o++) x[o] = &all[node->operand[o]];
    if (!known(node->dtype) || node->n_operands > 64)
      *status = 2;
    else
      *status =
          node->op == TESELA_OP_INPUT ? input(node, inputs[next++], &all[k]) : compute(node, x, &all[k]);
  }
  return all;
}

static void drop(const tesela_graph *graph, tensor *all) {
  for (int32_t k = 0; k < tesela_graph_count(graph); k++) free(all[k].at);
  free(all);
}

int graph_oracle_run(const tesela_graph *graph, const void *const *inputs, void *const *outputs) {
  int status;
  tensor *all = run(graph, inputs, &status);
  for (int32_t n = 0; n < tesela_graph_n_outputs(graph) && status == 0; n++) {
    int32_t k = tesela_graph_output(graph, n);
    uint8_t *to = outputs[n];
    int w = width(all[k].dtype);
    for (int64_t e = 0; e < all[k].n; e++) {
      uint64_t bits = to_bits(all[k].dtype, all[k].at[e]);
      memcpy(to + e * w, &bits, (size_t)w);
    }
  }
  drop(graph, all);
  return status;
}

double **graph_oracle_values(const tesela_graph *graph, const void *const *inputs) {
  int status;
  tensor *all = run(graph, inputs, &status);
  int32_t count = tesela_graph_count(graph);
  double **values = status == 0 ? calloc((size_t)count + 1, sizeof *values) : NULL;
  for (int32_t k = 0; k < count && values; k++) {
    values[k] = calloc((size_t)all[k].n + 1, sizeof **values);
    for (int64_t e = 0; e < all[k].n; e++) values[k][e] = as_real(all[k].dtype, all[k].at[e]);
  }
  drop(graph, all);
  return values;
}
