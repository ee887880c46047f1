/* SPDX-License-Identifier: Apache-2.0 */
/*
 * run_function.c - the functions of pointwise operators and folds.
 *
 * Integers wrap around in 64 bits. A quotient by 0 has all bits set, the remainder is then x; an integer to a negative power is 0 unless
 * the base is 1 or -1. Of two equal values max and min are the first.
 */
#include <math.h>

#include "graph/run.h"

static bool function_compares(tesela_fn fn) {
  return (fn >= TESELA_FN_EQ && fn <= TESELA_FN_GE) || fn == TESELA_FN_ISFINITE;
}

static bool function_is_real(tesela_fn fn) {
  switch (fn) {
  case TESELA_FN_EXP:
  case TESELA_FN_EXPM1:
  case TESELA_FN_LOG:
  case TESELA_FN_LOG1P:
  case TESELA_FN_SQRT:
  case TESELA_FN_RSQRT:
  case TESELA_FN_TANH:
  case TESELA_FN_SIGMOID:
  case TESELA_FN_SIN:
  case TESELA_FN_COS:
  case TESELA_FN_ERF:
    return true;
  default:
    return false;
  }
}

tesela__run_class tesela__run_class_in(tesela_fn fn, int32_t n, const tesela_dtype *dtype) {
  bool all_unsigned = true;
  if (function_is_real(fn)) return TESELA__RUN_FLOAT;
  for (int32_t k = fn == TESELA_FN_SELECT; k < n; k++) {
    tesela__run_class class = tesela__run_class_of(dtype[k]);
    if (class == TESELA__RUN_FLOAT) return class;
    all_unsigned = all_unsigned && class == TESELA__RUN_UNSIGNED;
  }
  return all_unsigned ? TESELA__RUN_UNSIGNED : TESELA__RUN_SIGNED;
}

tesela__run_class tesela__run_class_out(tesela_fn fn, tesela__run_class in) {
  return function_compares(fn) ? TESELA__RUN_UNSIGNED : in;
}

/* ---- floats ---- */

static double function_greater(double x, double y) {
  return isnan(x) || isnan(y) ? (double)NAN : x < y ? y : x;
}
static double function_less(double x, double y) { return isnan(x) || isnan(y) ? (double)NAN : y < x ? y : x; }

static double function_float(tesela_fn fn, double x, double y, double z) {
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
    return function_greater(x, y);
  case TESELA_FN_MIN:
    return function_less(x, y);
  case TESELA_FN_POW:
    return pow(x, y);
  case TESELA_FN_REM:
    return fmod(x, y);
  case TESELA_FN_CLAMP:
    return function_less(function_greater(y, x), z);
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
    return function_greater(x, 0);
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
    return x;
  }
}

static bool function_float_is(tesela_fn fn, double x, double y) {
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
  default:
    return isfinite(x);
  }
}

/* ---- integers ---- */

static bool function_below(bool is_signed, int64_t x, int64_t y) {
  return is_signed ? x < y : (uint64_t)x < (uint64_t)y;
}

static bool function_integer_is(tesela_fn fn, bool is_signed, int64_t x, int64_t y) {
  switch (fn) {
  case TESELA_FN_EQ:
    return x == y;
  case TESELA_FN_NE:
    return x != y;
  case TESELA_FN_LT:
    return function_below(is_signed, x, y);
  case TESELA_FN_LE:
    return !function_below(is_signed, y, x);
  case TESELA_FN_GT:
    return function_below(is_signed, y, x);
  case TESELA_FN_GE:
    return !function_below(is_signed, x, y);
  default:
    return true;
  }
}

static int64_t function_quotient(bool is_signed, int64_t x, int64_t y) {
  if (y == 0) return -1;
  if (!is_signed) return (int64_t)((uint64_t)x / (uint64_t)y);
  return y == -1 ? (int64_t)(0 - (uint64_t)x) : x / y;
}

static int64_t function_remainder(bool is_signed, int64_t x, int64_t y) {
  if (y == 0) return x;
  if (!is_signed) return (int64_t)((uint64_t)x % (uint64_t)y);
  return y == -1 ? 0 : x % y;
}

static int64_t function_power(bool is_signed, int64_t x, int64_t y) {
  if (is_signed && y < 0) return x == 1 ? 1 : x == -1 ? (y & 1 ? -1 : 1) : 0;
  uint64_t power = 1, base = (uint64_t)x;
  for (uint64_t n = (uint64_t)y; n > 0; n >>= 1, base *= base)
    if (n & 1) power *= base;
  return (int64_t)power;
}

static int64_t function_integer(tesela_fn fn, bool is_signed, bool pred, int64_t x, int64_t y, int64_t z) {
  uint64_t a = (uint64_t)x, b = (uint64_t)y;
  switch (fn) {
  case TESELA_FN_ADD:
    return (int64_t)(a + b);
  case TESELA_FN_SUB:
    return (int64_t)(a - b);
  case TESELA_FN_MUL:
    return (int64_t)(a * b);
  case TESELA_FN_DIV:
    return function_quotient(is_signed, x, y);
  case TESELA_FN_REM:
    return function_remainder(is_signed, x, y);
  case TESELA_FN_POW:
    return function_power(is_signed, x, y);
  case TESELA_FN_MAX:
    return function_below(is_signed, x, y) ? y : x;
  case TESELA_FN_MIN:
    return function_below(is_signed, y, x) ? y : x;
  case TESELA_FN_CLAMP:
    if (function_below(is_signed, y, x)) y = x;
    return function_below(is_signed, z, y) ? z : y;
  case TESELA_FN_AND:
    return x & y;
  case TESELA_FN_OR:
    return x | y;
  case TESELA_FN_XOR:
    return x ^ y;
  case TESELA_FN_NOT:
    return pred ? x == 0 : ~x;
  case TESELA_FN_NEG:
    return (int64_t)(0 - a);
  case TESELA_FN_ABS:
    return is_signed && x < 0 ? (int64_t)(0 - a) : x;
  case TESELA_FN_RELU:
    return is_signed && x < 0 ? 0 : x;
  case TESELA_FN_SIGN:
    return is_signed && x < 0 ? -1 : x != 0;
  default:
    return x;
  }
}

tesela__run_value tesela__run_apply(tesela_fn fn, tesela__run_class in, bool pred,
                                    const tesela__run_value *v) {
  int32_t n = tesela_fn_operands(fn);
  tesela__run_value y = n > 1 ? v[1] : v[0], z = n > 2 ? v[2] : v[0];
  if (fn == TESELA_FN_SELECT) return v[0].i != 0 ? v[1] : v[2]; /* the first is asked for as an integer */
  if (in == TESELA__RUN_FLOAT) {
    if (function_compares(fn)) return (tesela__run_value){.i = function_float_is(fn, v[0].f, y.f)};
    return (tesela__run_value){.f = function_float(fn, v[0].f, y.f, z.f)};
  }
  bool is_signed = in == TESELA__RUN_SIGNED;
  if (function_compares(fn)) return (tesela__run_value){.i = function_integer_is(fn, is_signed, v[0].i, y.i)};
  return (tesela__run_value){.i = function_integer(fn, is_signed, pred, v[0].i, y.i, z.i)};
}

tesela_fn tesela__run_fold(tesela_fn fn, tesela_dtype dtype, tesela__run_class class,
                           tesela__run_value *first) {
  bool is_float = class == TESELA__RUN_FLOAT;
  *first = is_float ? (tesela__run_value){.f = 0} : (tesela__run_value){.i = 0};
  switch (fn) {
  case TESELA_FN_PROD:
    *first = is_float ? (tesela__run_value){.f = 1} : (tesela__run_value){.i = 1};
    return TESELA_FN_MUL;
  case TESELA_FN_MAX:
    *first = tesela__run_least(dtype);
    return fn;
  case TESELA_FN_MIN:
    *first = tesela__run_greatest(dtype);
    return fn;
  case TESELA_FN_AND:
    first->i = -1;
    return fn;
  case TESELA_FN_OR:
  case TESELA_FN_XOR:
    return fn;
  default:
    return TESELA_FN_ADD;
  }
}
