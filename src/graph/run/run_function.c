/* SPDX-License-Identifier: Apache-2.0 */
/*
 * run_function.c - the functions of pointwise operators and folds, of many elements at once.
 *
 * Integers wrap around in 64 bits. A quotient by 0 has all bits set, the remainder is then x; an integer to a negative power is 0 unless
 * the base is 1 or -1. Of two equal values max and min are the first. Shifts and bit counts use the type of operand 0; a shift
 * by its width or more, or by a negative number, leaves 0 or the sign.
 */
#include <math.h>

#include "graph/run/run.h"

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
  case TESELA_FN_TAN:
  case TESELA_FN_CBRT:
  case TESELA_FN_ATAN2:
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

static inline double function_greater(double x, double y) {
  return isnan(x) || isnan(y) ? (double)NAN : x < y ? y : x;
}
static inline double function_less(double x, double y) {
  return isnan(x) || isnan(y) ? (double)NAN : y < x ? y : x;
}

/* For each element: x, y and z of the operands; `to` of the result. */
#define FUNCTION_EACH(type, from, to, expression)                                                  \
  for (int64_t j = 0; j < n; j++) {                                                                \
    type x = a.value[j * a.step].from, y = b.value[j * b.step].from, z = c.value[j * c.step].from; \
    (void)x, (void)y, (void)z;                                                                     \
    out.value[j * out.step].to = expression;                                                       \
  }                                                                                                \
  break;

static void function_floats(tesela_fn fn, int64_t n, tesela__run_row out, tesela__run_row a,
                            tesela__run_row b, tesela__run_row c) {
#define FUNCTION_REAL(fn, expression) \
  case fn:                            \
    FUNCTION_EACH(double, f, f, expression)
#define FUNCTION_REAL_IS(fn, expression) \
  case fn:                               \
    FUNCTION_EACH(double, f, i, expression)
  switch (fn) {
    FUNCTION_REAL(TESELA_FN_ADD, x + y)
    FUNCTION_REAL(TESELA_FN_SUB, x - y)
    FUNCTION_REAL(TESELA_FN_MUL, x * y)
    FUNCTION_REAL(TESELA_FN_DIV, x / y)
    FUNCTION_REAL(TESELA_FN_MAX, function_greater(x, y))
    FUNCTION_REAL(TESELA_FN_MIN, function_less(x, y))
    FUNCTION_REAL(TESELA_FN_POW, pow(x, y))
    FUNCTION_REAL(TESELA_FN_REM, fmod(x, y))
    FUNCTION_REAL(TESELA_FN_ATAN2, atan2(x, y))
    FUNCTION_REAL(TESELA_FN_CLAMP, function_less(function_greater(y, x), z))
    FUNCTION_REAL(TESELA_FN_NEG, -x)
    FUNCTION_REAL(TESELA_FN_ABS, fabs(x))
    FUNCTION_REAL(TESELA_FN_EXP, exp(x))
    FUNCTION_REAL(TESELA_FN_EXPM1, expm1(x))
    FUNCTION_REAL(TESELA_FN_LOG, log(x))
    FUNCTION_REAL(TESELA_FN_LOG1P, log1p(x))
    FUNCTION_REAL(TESELA_FN_SQRT, sqrt(x))
    FUNCTION_REAL(TESELA_FN_RSQRT, 1 / sqrt(x))
    FUNCTION_REAL(TESELA_FN_CBRT, cbrt(x))
    FUNCTION_REAL(TESELA_FN_TANH, tanh(x))
    FUNCTION_REAL(TESELA_FN_SIGMOID, 1 / (1 + exp(-x)))
    FUNCTION_REAL(TESELA_FN_RELU, function_greater(x, 0))
    FUNCTION_REAL(TESELA_FN_SIN, sin(x))
    FUNCTION_REAL(TESELA_FN_COS, cos(x))
    FUNCTION_REAL(TESELA_FN_TAN, tan(x))
    FUNCTION_REAL(TESELA_FN_ERF, erf(x))
    FUNCTION_REAL(TESELA_FN_FLOOR, floor(x))
    FUNCTION_REAL(TESELA_FN_CEIL, ceil(x))
    FUNCTION_REAL(TESELA_FN_ROUND, round(x))
    FUNCTION_REAL(TESELA_FN_ROUND_EVEN, rint(x))
    FUNCTION_REAL(TESELA_FN_SIGN, isnan(x) ? x : (double)((x > 0) - (x < 0)))
    FUNCTION_REAL_IS(TESELA_FN_EQ, x == y)
    FUNCTION_REAL_IS(TESELA_FN_NE, x != y)
    FUNCTION_REAL_IS(TESELA_FN_LT, x < y)
    FUNCTION_REAL_IS(TESELA_FN_LE, x <= y)
    FUNCTION_REAL_IS(TESELA_FN_GT, x > y)
    FUNCTION_REAL_IS(TESELA_FN_GE, x >= y)
    FUNCTION_REAL_IS(TESELA_FN_ISFINITE, isfinite(x))
  default:
    FUNCTION_EACH(double, f, f, x)
  }
#undef FUNCTION_REAL
#undef FUNCTION_REAL_IS
}

/* ---- integers ---- */

static inline bool function_below(bool is_signed, int64_t x, int64_t y) {
  return is_signed ? x < y : (uint64_t)x < (uint64_t)y;
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

static int64_t function_clamp(bool is_signed, int64_t low, int64_t x, int64_t high) {
  if (function_below(is_signed, x, low)) x = low;
  return function_below(is_signed, high, x) ? high : x;
}

/* x of `bits` by y places: to the left, or to the right with zeros, or with its sign. */
static int64_t function_shift(tesela_fn fn, uint32_t bits, int64_t x, int64_t y) {
  uint64_t low = (uint64_t)x & (UINT64_MAX >> (64 - bits));
  bool beyond = y < 0 || y >= bits, negative = low >> (bits - 1);
  if (fn == TESELA_FN_SHIFT_LEFT) return beyond ? 0 : (int64_t)(low << y);
  if (fn == TESELA_FN_SHIFT_RIGHT_LOGICAL || !negative) return beyond ? 0 : (int64_t)(low >> y);
  low = ~(low | ~(UINT64_MAX >> (64 - bits))); /* the complement is not negative */
  return (int64_t) ~(beyond ? 0 : low >> y);
}

static int64_t function_ones(uint32_t bits, int64_t x) {
  uint64_t low = (uint64_t)x & (UINT64_MAX >> (64 - bits));
  int64_t n = 0;
  for (; low > 0; low &= low - 1) n++;
  return n;
}

static int64_t function_leading_zeros(uint32_t bits, int64_t x) {
  int64_t n = 0;
  for (uint32_t b = bits; b > 0 && !((uint64_t)x >> (b - 1) & 1); b--) n++;
  return n;
}

static void function_integers(tesela_fn fn, bool is_signed, tesela_dtype dtype, int64_t n,
                              tesela__run_row out, tesela__run_row a, tesela__run_row b, tesela__run_row c) {
  bool pred = dtype == TESELA_PRED;
  uint32_t bits = tesela_dtype_bits(dtype) > 0 ? (uint32_t)tesela_dtype_bits(dtype) : 64;
#define FUNCTION_WHOLE(fn, expression) \
  case fn:                             \
    FUNCTION_EACH(int64_t, i, i, expression)
  switch (fn) {
    FUNCTION_WHOLE(TESELA_FN_ADD, (int64_t)((uint64_t)x + (uint64_t)y))
    FUNCTION_WHOLE(TESELA_FN_SUB, (int64_t)((uint64_t)x - (uint64_t)y))
    FUNCTION_WHOLE(TESELA_FN_MUL, (int64_t)((uint64_t)x * (uint64_t)y))
    FUNCTION_WHOLE(TESELA_FN_DIV, function_quotient(is_signed, x, y))
    FUNCTION_WHOLE(TESELA_FN_REM, function_remainder(is_signed, x, y))
    FUNCTION_WHOLE(TESELA_FN_POW, function_power(is_signed, x, y))
    FUNCTION_WHOLE(TESELA_FN_MAX, function_below(is_signed, x, y) ? y : x)
    FUNCTION_WHOLE(TESELA_FN_MIN, function_below(is_signed, y, x) ? y : x)
    FUNCTION_WHOLE(TESELA_FN_CLAMP, function_clamp(is_signed, x, y, z))
    FUNCTION_WHOLE(TESELA_FN_AND, x & y)
    FUNCTION_WHOLE(TESELA_FN_OR, x | y)
    FUNCTION_WHOLE(TESELA_FN_XOR, x ^ y)
    FUNCTION_WHOLE(TESELA_FN_NOT, pred ? x == 0 : ~x)
    FUNCTION_WHOLE(TESELA_FN_NEG, (int64_t)(0 - (uint64_t)x))
    FUNCTION_WHOLE(TESELA_FN_ABS, is_signed && x < 0 ? (int64_t)(0 - (uint64_t)x) : x)
    FUNCTION_WHOLE(TESELA_FN_RELU, is_signed && x < 0 ? 0 : x)
    FUNCTION_WHOLE(TESELA_FN_SIGN, is_signed && x < 0 ? -1 : x != 0)
    FUNCTION_WHOLE(TESELA_FN_SHIFT_LEFT, function_shift(fn, bits, x, y))
    FUNCTION_WHOLE(TESELA_FN_SHIFT_RIGHT, function_shift(fn, bits, x, y))
    FUNCTION_WHOLE(TESELA_FN_SHIFT_RIGHT_LOGICAL, function_shift(fn, bits, x, y))
    FUNCTION_WHOLE(TESELA_FN_POPCNT, function_ones(bits, x))
    FUNCTION_WHOLE(TESELA_FN_CLZ, function_leading_zeros(bits, x))
    FUNCTION_WHOLE(TESELA_FN_EQ, x == y)
    FUNCTION_WHOLE(TESELA_FN_NE, x != y)
    FUNCTION_WHOLE(TESELA_FN_LT, function_below(is_signed, x, y))
    FUNCTION_WHOLE(TESELA_FN_LE, !function_below(is_signed, y, x))
    FUNCTION_WHOLE(TESELA_FN_GT, function_below(is_signed, y, x))
    FUNCTION_WHOLE(TESELA_FN_GE, !function_below(is_signed, x, y))
    FUNCTION_WHOLE(TESELA_FN_ISFINITE, true)
  default:
    FUNCTION_EACH(int64_t, i, i, x)
  }
#undef FUNCTION_WHOLE
}

/* ---- both ---- */

void tesela__run_apply_row(tesela_fn fn, tesela__run_class in, tesela_dtype dtype, int64_t n,
                           tesela__run_row out, const tesela__run_row *operand) {
  int32_t k = tesela_fn_operands(fn);
  tesela__run_row a = operand[0], b = k > 1 ? operand[1] : a, c = k > 2 ? operand[2] : a;
  if (fn == TESELA_FN_SELECT) { /* the condition is an integer */
    for (int64_t j = 0; j < n; j++)
      out.value[j * out.step] = a.value[j * a.step].i != 0 ? b.value[j * b.step] : c.value[j * c.step];
  } else if (in == TESELA__RUN_FLOAT) {
    function_floats(fn, n, out, a, b, c);
  } else {
    function_integers(fn, in == TESELA__RUN_SIGNED, dtype, n, out, a, b, c);
    bool shifts = fn >= TESELA_FN_SHIFT_LEFT && fn <= TESELA_FN_SHIFT_RIGHT_LOGICAL;
    if (shifts) tesela__run_round_row(dtype, in, n, out.value); /* of that type, not of the result's */
  }
}

tesela__run_value tesela__run_apply(tesela_fn fn, tesela__run_class in, tesela_dtype dtype,
                                    const tesela__run_value *v) {
  tesela__run_value result, own[3] = {v[0]};
  int32_t n = tesela_fn_operands(fn);
  if (n > 1) own[1] = v[1];
  if (n > 2) own[2] = v[2];
  const tesela__run_row rows[3] = {{&own[0], 0}, {&own[1], 0}, {&own[2], 0}};
  tesela__run_apply_row(fn, in, dtype, 1, (tesela__run_row){&result, 0}, rows);
  return result;
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
