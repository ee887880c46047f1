/* SPDX-License-Identifier: Apache-2.0 */
/*
 * hlo_fold.c - reduce, and what a small computation computes.
 *
 * A fold starts from a value. If that is neutral (0 of a sum, -inf of max) it is left out; otherwise the fold is followed by one
 * more operation with it.
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
  const tesela__hlo_opcode *opcode = tesela__hlo_opcode_find(m->text, op->opcode);
  if (!opcode || op->n_operands != 2 || opcode->build != tesela__hlo_pointwise) return TESELA_FN_NONE;
  int64_t p = fold_parameter(m, m->operand[op->operand]), q = fold_parameter(m, m->operand[op->operand + 1]);
  bool both = (p == 0 && q == 1) || (p == 1 && q == 0);
  return both ? opcode->fn : TESELA_FN_NONE;
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

tesela_status tesela__hlo_reduce(tesela__hlo_build *b, const tesela__hlo_instruction *in,
                                 tesela__hlo_value *out) {
  int32_t x, folded, dims[TESELA_GRAPH_RANK];
  double neutral, start;
  bool second;
  tesela_fn fn = tesela__hlo_region(b, in, &second), fold;
  int32_t n = tesela__hlo_list(b->module, in, "dimensions", TESELA_GRAPH_RANK, dims);
  if (n < 0) return TESELA_OK;
  if (in->tuple || in->n_operands != 2 || !tesela__hlo_neutral(fn, b->dtype, &fold, &neutral))
    return n == 1 ? tesela__hlo_fold_along(b, in, dims[0], out) : TESELA_OK;
  tesela_status status = tesela__hlo_operand(b, in, 0, &x);
  if (status != TESELA_OK) return status;
  bool plain = tesela__hlo_scalar(b, in, 1, &start) && start == neutral;
  tesela_node_spec spec = {.op = TESELA_OP_REDUCE,
                           .fn = fold,
                           .dtype = b->dtype,
                           .n_operands = 1,
                           .operand = &x,
                           .n_dims = n,
                           .dims = dims};
  if (n == 0) { /* every element is a fold of its own */
    spec.op = TESELA_OP_POINTWISE;
    spec.fn = TESELA_FN_COPY;
  }
  status = tesela__hlo_add(b, in, plain ? NULL : "fold", &spec, &folded);
  out->node = folded;
  if (plain || status != TESELA_OK) return status;
  int32_t operand[2] = {folded, 0};
  status = tesela__hlo_operand(b, in, 1, &operand[1]);
  tesela_node_spec more = {
      .op = TESELA_OP_POINTWISE, .fn = fn, .dtype = b->dtype, .n_operands = 2, .operand = operand};
  return status == TESELA_OK ? tesela__hlo_add(b, in, NULL, &more, &out->node) : status;
}
