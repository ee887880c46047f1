/* SPDX-License-Identifier: Apache-2.0 */
/*
 * hlo_bitcast.c - bitcast: the same bytes under another shape and layout.
 *
 * The elements of the result depend on both layouts. A transpose, a reshape or a chain of them becomes views; a bitcast that
 * tiles or types make something else becomes a fallback.
 */
#include <tesela/xla.h>

#include "graph/hlo/hlo.h"

static void bitcast_ignore_space(tesela_xla_shape *shape) {
  shape->layout.memory_space = 0;
  shape->layout.n_splits = shape->layout.n_split_points = 0;
}

tesela_status tesela__hlo_bitcast(tesela__hlo_build *b, const tesela__hlo_instruction *in,
                                  tesela__hlo_value *out) {
  tesela_xla_shape from, to;
  tesela_xla_bitcast chain;
  int32_t x, n;
  if (in->tuple || in->n_operands != 1) return TESELA_OK;
  tesela_status status = tesela__hlo_operand(b, in, 0, &x);
  const tesela__hlo_instruction *operand = &b->module->instruction[b->module->operand[in->operand]];
  if (status == TESELA_OK && operand->tuple) return TESELA_OK;
  if (status == TESELA_OK) status = tesela__hlo_array(b, operand, &from);
  if (status == TESELA_OK) status = tesela__hlo_array(b, in, &to);
  if (status != TESELA_OK) return status;
  bitcast_ignore_space(&from);
  bitcast_ignore_space(&to);
  if (from.dtype != to.dtype || from.kind != TESELA_XLA_ARRAY || to.kind != TESELA_XLA_ARRAY ||
      tesela_xla_decompose_bitcast(&from, &to, false, &chain, NULL) != TESELA_OK ||
      chain.kind == TESELA_XLA_BITCAST_NONE)
    return TESELA_OK;
  if (chain.kind == TESELA_XLA_BITCAST_RESHAPE)
    return tesela__hlo_reshape(b, in, NULL, x, to.rank, to.dim, &out->node);
  bool first = !tesela__hlo_is_identity(from.rank, chain.in_order),
       last = !tesela__hlo_is_identity(to.rank, chain.out_order);
  bool reshape = chain.from.rank != chain.to.rank ||
                 memcmp(chain.from.dim, chain.to.dim, (size_t)chain.to.rank * sizeof *chain.to.dim) != 0;
  n = first + reshape + last; /* the last of these steps has the name */
  if (n == 0) return tesela__hlo_reshape(b, in, NULL, x, to.rank, to.dim, &out->node);
  if (first) status = tesela__hlo_permute(b, in, --n == 0 ? NULL : "order", x, chain.in_order, &x);
  if (status == TESELA_OK && reshape)
    status = tesela__hlo_reshape(b, in, --n == 0 ? NULL : "shape", x, chain.to.rank, chain.to.dim, &x);
  if (status == TESELA_OK && last) status = tesela__hlo_permute(b, in, NULL, x, chain.out_order, &x);
  out->node = x;
  return status;
}
