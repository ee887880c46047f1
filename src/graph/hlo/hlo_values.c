/* SPDX-License-Identifier: Apache-2.0 */
/*
 * hlo_values.c - opcodes that make or pass on values: constants, tuples, copies, elementwise functions.
 */
#include "graph/hlo/hlo.h"

/* ---- constants ---- */

tesela_status tesela__hlo_constant(tesela__hlo_build *b, const tesela__hlo_instruction *in,
                                   tesela__hlo_value *out) {
  const tesela__hlo_module *m = b->module;
  tesela_node_spec spec = {.op = TESELA_OP_CONSTANT, .dtype = b->dtype, .rank = b->rank, .shape = b->shape};
  int64_t elements = 1;
  bool splat, fits = true;
  if (in->tuple) return TESELA_OK;
  for (int32_t d = 0; d < b->rank && fits; d++) fits = tesela__mul(elements, b->shape[d], &elements);
  if (!fits) return tesela__hlo_fail(b, in, TESELA_E_OVERFLOW, "more than 2^63 elements");
  tesela_status status = tesela__hlo_literal(m, in, elements, &splat, &spec.value, b->err);
  if (status != TESELA_OK || !splat) return status;
  int32_t number = (int32_t)(in - m->instruction);
  if (b->rank == 0 && in->uses > 0 && in->uses == in->scalar_uses && b->frame->computation->root != number) {
    *out = (tesela__hlo_value){.node = TESELA__HLO_CONSTANT, .first = number};
    return TESELA_OK;
  }
  return tesela__hlo_add(b, in, NULL, &spec, &out->node);
}

tesela_status tesela__hlo_iota(tesela__hlo_build *b, const tesela__hlo_instruction *in,
                               tesela__hlo_value *out) {
  tesela__hlo_span word = tesela__hlo_attribute(b->module, in, "iota_dimension");
  int64_t d;
  if (!tesela__hlo_integer(b->module->text, word, &d) || d < 0 || d >= b->rank) return TESELA_OK;
  int32_t dim = (int32_t)d;
  tesela_node_spec spec = {.op = TESELA_OP_CONSTANT,
                           .dtype = b->dtype,
                           .rank = b->rank,
                           .shape = b->shape,
                           .n_dims = 1,
                           .dims = &dim};
  return tesela__hlo_add(b, in, NULL, &spec, &out->node);
}

/* ---- tuples ---- */

tesela_status tesela__hlo_make_tuple(tesela__hlo_build *b, int32_t n, tesela__hlo_value *out) {
  void *pool = b->pool;
  if (b->n_pool + (size_t)n > INT32_MAX ||
      !tesela__grow(&b->allocator, &pool, sizeof *b->pool, &b->pool_room, b->n_pool + (uint64_t)n))
    return tesela__fail(b->err, TESELA_E_MEMORY, -1, "no memory for a tuple");
  b->pool = pool;
  *out = (tesela__hlo_value){TESELA__HLO_TUPLE, (int32_t)b->n_pool, n};
  b->n_pool += (size_t)n;
  return TESELA_OK;
}

tesela_status tesela__hlo_tuple(tesela__hlo_build *b, const tesela__hlo_instruction *in,
                                tesela__hlo_value *out) {
  int32_t ignored;
  tesela_status status = tesela__hlo_make_tuple(b, in->n_operands, out);
  for (int32_t k = 0; k < in->n_operands && status == TESELA_OK; k++) {
    if (tesela__hlo_value_of(b, in, k)->node == TESELA__HLO_CONSTANT)
      status = tesela__hlo_operand(b, in, k, &ignored);
    b->pool[out->first + k] = *tesela__hlo_value_of(b, in, k);
  }
  return status;
}

tesela_status tesela__hlo_element(tesela__hlo_build *b, const tesela__hlo_instruction *in,
                                  tesela__hlo_value *out) {
  int64_t index;
  if (in->n_operands != 1 ||
      !tesela__hlo_integer(b->module->text, tesela__hlo_attribute(b->module, in, "index"), &index) ||
      index < 0)
    return tesela__hlo_fail(b, in, TESELA_E_INVALID, "it needs one operand and index=number");
  const tesela__hlo_value *tuple = tesela__hlo_value_of(b, in, 0);
  if (tuple->node == TESELA__HLO_ARGUMENTS) return tesela__hlo_input(b, in, out);
  if (tuple->node == TESELA__HLO_TUPLE) {
    if (index >= tuple->count)
      return tesela__hlo_fail(b, in, TESELA_E_INVALID, "element %" PRId64 " of a tuple of %" PRId32, index,
                              tuple->count);
    *out = b->pool[tuple->first + index];
    return TESELA_OK;
  }
  if (tuple->node < 0 || tesela__graph_at(b->graph, tuple->node)->dtype != TESELA_TOKEN)
    return tesela__hlo_fail(b, in, TESELA_E_INVALID, "its operand is not a tuple");
  return TESELA_OK; /* of a fallback: one more */
}

tesela_status tesela__hlo_same_value(tesela__hlo_build *b, const tesela__hlo_instruction *in,
                                     tesela__hlo_value *out) {
  int32_t ignored;
  if (in->n_operands < 1) return TESELA_OK;
  if (tesela__hlo_value_of(b, in, 0)->node == TESELA__HLO_CONSTANT) {
    tesela_status status = tesela__hlo_operand(b, in, 0, &ignored);
    if (status != TESELA_OK) return status;
  }
  *out = *tesela__hlo_value_of(b, in, 0);
  return TESELA_OK;
}

/* copy-start gives (copy, operand, context), copy-done the first of them. */
tesela_status tesela__hlo_copy_start(tesela__hlo_build *b, const tesela__hlo_instruction *in,
                                     tesela__hlo_value *out) {
  int32_t x, copy = -1;
  tesela_status status = tesela__hlo_operand(b, in, 0, &x);
  tesela_node_spec spec = {.op = TESELA_OP_POINTWISE, .fn = TESELA_FN_COPY, .n_operands = 1, .operand = &x};
  if (status == TESELA_OK) status = tesela__hlo_add(b, in, NULL, &spec, &copy);
  if (status == TESELA_OK) status = tesela__hlo_make_tuple(b, 2, out);
  if (status != TESELA_OK) return status;
  b->pool[out->first] = (tesela__hlo_value){.node = copy};
  b->pool[out->first + 1] = (tesela__hlo_value){.node = x};
  return TESELA_OK;
}

tesela_status tesela__hlo_done(tesela__hlo_build *b, const tesela__hlo_instruction *in,
                               tesela__hlo_value *out) {
  if (in->n_operands < 1) return TESELA_OK;
  const tesela__hlo_value *start = tesela__hlo_value_of(b, in, 0);
  if (start->node == TESELA__HLO_TUPLE && start->count > 0) *out = b->pool[start->first];
  return TESELA_OK;
}

/* ---- element by element ---- */

static tesela_fn hlo_direction(tesela__hlo_build *b, const tesela__hlo_instruction *in) {
  static const struct {
    const char *word;
    tesela_fn fn;
  } rows[] = {{"EQ", TESELA_FN_EQ}, {"NE", TESELA_FN_NE}, {"LT", TESELA_FN_LT},
              {"LE", TESELA_FN_LE}, {"GT", TESELA_FN_GT}, {"GE", TESELA_FN_GE}};
  tesela__hlo_span word = tesela__hlo_attribute(b->module, in, "direction");
  for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++)
    if (tesela__hlo_same(b->module->text, word, rows[i].word)) return rows[i].fn;
  return TESELA_FN_NONE;
}

/* `called`: the name of the function if it is not the opcode. */
static tesela_status hlo_elementwise(tesela__hlo_build *b, const tesela__hlo_instruction *in, tesela_fn fn,
                                     const char *called, tesela__hlo_value *out) {
  char opcode[32] = "";
  if (in->tuple || in->n_operands == 0) return TESELA_OK;
  int32_t *operand =
      tesela__alloc(&b->allocator, (uint64_t)in->n_operands * sizeof *operand, alignof(int32_t));
  if (!operand) return tesela__fail(b->err, TESELA_E_MEMORY, -1, "no memory for operands");
  if (fn == TESELA_FN_FUSED && in->opcode.n < sizeof opcode)
    memcpy(opcode, b->module->text + in->opcode.at, in->opcode.n);
  tesela_status status = TESELA_OK;
  for (int32_t k = 0; k < in->n_operands && status == TESELA_OK; k++)
    status = tesela__hlo_operand(b, in, k, &operand[k]);
  tesela_node_spec spec = {.op = TESELA_OP_POINTWISE,
                           .fn = fn,
                           .opcode = called      ? called
                                     : opcode[0] ? opcode
                                                 : NULL,
                           .dtype = b->dtype,
                           .n_operands = in->n_operands,
                           .operand = operand};
  bool same = true; /* a bitcast-convert to another width changes the shape */
  if (status == TESELA_OK && (fn == TESELA_FN_FUSED || fn == TESELA_FN_BITCAST)) {
    const tesela_node *x = tesela__graph_at(b->graph, operand[0]);
    same = x->rank == b->rank && memcmp(x->shape, b->shape, (size_t)b->rank * sizeof *x->shape) == 0;
  }
  if (status == TESELA_OK && same) status = tesela__hlo_add(b, in, NULL, &spec, &out->node);
  tesela__release(&b->allocator, operand);
  return status;
}

tesela_status tesela__hlo_pointwise(tesela__hlo_build *b, const tesela__hlo_instruction *in,
                                    tesela__hlo_value *out) {
  tesela_fn fn = tesela__hlo_function_of(b->module->text, in->opcode);
  if (tesela__hlo_same(b->module->text, in->opcode, "compare")) fn = hlo_direction(b, in);
  return fn == TESELA_FN_NONE ? TESELA_OK : hlo_elementwise(b, in, fn, NULL, out);
}

tesela_status tesela__hlo_map(tesela__hlo_build *b, const tesela__hlo_instruction *in,
                              tesela__hlo_value *out) {
  return hlo_elementwise(b, in, TESELA_FN_FUSED, NULL, out);
}

tesela_status tesela__hlo_fused(tesela__hlo_build *b, const tesela__hlo_instruction *in, const char *opcode,
                                tesela__hlo_value *out) {
  return hlo_elementwise(b, in, TESELA_FN_FUSED, opcode, out);
}
