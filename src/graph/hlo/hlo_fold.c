/* SPDX-License-Identifier: Apache-2.0 */
/*
 * hlo_fold.c - the function of a small computation, and the initial values of folds with it.
 */
#include <math.h>

#include "graph/hlo/hlo.h"

enum { FOLD_CONVERTS = 16 };

/* Back through some conversions, which compilers put around an operation of narrow types. */
static int32_t fold_through_converts(const tesela__hlo_module *m, int32_t k) {
  const tesela__hlo_instruction *in = &m->instruction[k];
  for (int32_t n = 0; n < FOLD_CONVERTS && in->n_operands == 1; n++) {
    if (!tesela__hlo_same(m->text, in->opcode, "convert")) break;
    k = m->operand[in->operand];
    in = &m->instruction[k];
  }
  return k;
}

static int64_t fold_parameter(const tesela__hlo_module *m, int32_t k) {
  const tesela__hlo_instruction *in = &m->instruction[fold_through_converts(m, k)];
  int64_t number = -1;
  if (tesela__hlo_same(m->text, in->opcode, "parameter") && tesela__hlo_integer(m->text, in->inside, &number))
    return number;
  return -1;
}

tesela_fn tesela__hlo_region(const tesela__hlo_build *b, const tesela__hlo_instruction *in, bool *second) {
  const tesela__hlo_module *m = b->module;
  int32_t number = tesela__hlo_module_find(m, tesela__hlo_attribute(m, in, "to_apply"));
  *second = false;
  if (number < 0) return TESELA_FN_NONE;
  int32_t root = fold_through_converts(m, m->computation[number].root);
  *second = fold_parameter(m, root) == 1;
  const tesela__hlo_instruction *op = &m->instruction[root];
  if (op->n_operands != 2) return TESELA_FN_NONE;
  int64_t p = fold_parameter(m, m->operand[op->operand]), q = fold_parameter(m, m->operand[op->operand + 1]);
  bool both = (p == 0 && q == 1) || (p == 1 && q == 0);
  return both ? tesela__hlo_function_of(m->text, op->opcode) : TESELA_FN_NONE;
}

bool tesela__hlo_neutral(tesela_fn fn, tesela_dtype dtype, tesela_fn *fold, double *neutral) {
  tesela_dtype_family family = tesela_dtype_family_of(dtype);
  int32_t bits = tesela_dtype_bits(dtype);
  bool is_float = family == TESELA_FAMILY_FLOAT, is_signed = family == TESELA_FAMILY_SIGNED;
  double most = is_float ? (double)INFINITY : ldexp(1, is_signed ? bits - 1 : bits) - 1;
  double least = is_float ? -(double)INFINITY : is_signed ? -ldexp(1, bits - 1) : 0;
  *fold = fn;
  switch (fn) {
  case TESELA_FN_ADD:
    *fold = TESELA_FN_SUM, *neutral = 0;
    return true;
  case TESELA_FN_MUL:
    *fold = TESELA_FN_PROD, *neutral = 1;
    return true;
  case TESELA_FN_MAX:
    *neutral = least;
    return true;
  case TESELA_FN_MIN:
    *neutral = family == TESELA_FAMILY_BOOL ? 1 : most;
    return true;
  case TESELA_FN_AND:
    *neutral = is_signed ? -1 : family == TESELA_FAMILY_BOOL ? 1 : most;
    return true;
  case TESELA_FN_OR:
  case TESELA_FN_XOR:
    *neutral = 0;
    return true;
  default:
    return false;
  }
}
