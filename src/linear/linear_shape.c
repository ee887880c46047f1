/* SPDX-License-Identifier: Apache-2.0 */
/*
 * linear_shape.c - the dims of linear layouts in other sizes and orders, and permutations of bases.
 */
#include "linear/linear.h"

tesela_status tesela_linear_reshape(const tesela_linear *a, bool outs, int32_t n,
                                    const tesela_linear_dim *dims, tesela_linear *out, tesela_error *err) {
  TESELA__NEED(err, a, out);
  TESELA__NEED_LIST(err, dims, n);
  tesela_status status = tesela__linear_check(a, "the linear layout", err);
  if (status != TESELA_OK) return status;
  if (n < 0 || n > TESELA_LINEAR_DIMS)
    return tesela_error_outside(err, -1, "n", -1, n, 0, TESELA_LINEAR_DIMS);
  tesela_linear c = *a;
  int64_t bits = 0, old = outs ? tesela__bits_of(a->out, a->n_outs) : tesela__bits_of(a->in, a->n_ins);
  for (int32_t i = 0; i < n; i++) bits += dims[i].bits;
  if (bits != old)
    return tesela__fail(err, TESELA_E_MISMATCH, -1,
                        "the new dims have 2^%" PRId64 " values, the layout has 2^%" PRId64, bits, old);
  *(outs ? &c.n_outs : &c.n_ins) = n;
  if (n > 0) memcpy(outs ? c.out : c.in, dims, (size_t)n * sizeof *dims);
  status = tesela__linear_check(&c, "the new layout", err);
  if (status == TESELA_OK) *out = c;
  return status;
}

/* Each of the numbers at most once, 0 to most - 1. */
static tesela_status linear_check_order(const char *name, const int32_t *order, int32_t n, int32_t most,
                                        tesela_error *err) {
  uint64_t seen = 0;
  for (int32_t i = 0; i < n; i++) {
    if (order[i] < 0 || order[i] >= most)
      return tesela_error_outside(err, -1, name, i, order[i], 0, most - 1);
    if (seen >> order[i] & 1)
      return tesela__fail(err, TESELA_E_INVALID, -1, "%s lists %" PRId32 " twice", name, order[i]);
    seen |= (uint64_t)1 << order[i];
  }
  return TESELA_OK;
}

tesela_status tesela_linear_transpose(const tesela_linear *a, bool outs, const int32_t *order,
                                      tesela_linear *out, tesela_error *err) {
  TESELA__NEED(err, a, out);
  TESELA__NEED_LIST(err, order, outs ? a->n_outs : a->n_ins);
  tesela_status status = tesela__linear_check(a, "the linear layout", err);
  if (status != TESELA_OK) return status;
  const tesela_linear_dim *old = outs ? a->out : a->in;
  int32_t n = outs ? a->n_outs : a->n_ins, at[TESELA_LINEAR_BITS];
  status = linear_check_order("order", order, n, n, err);
  if (status != TESELA_OK) return status;
  tesela_linear c = *a;
  tesela_linear_dim *dims = outs ? c.out : c.in;
  for (int32_t i = 0; i < n; i++) dims[i] = old[order[i]];
  tesela__linear_match(old, n, dims, n, at);
  for (int32_t k = 0; k < tesela__bits_of(a->in, a->n_ins); k++)
    if (outs)
      c.basis[k] = tesela__linear_move(a->basis[k], at);
    else
      c.basis[at[k]] = a->basis[k];
  *out = c;
  return TESELA_OK;
}

tesela_status tesela_linear_permute_columns(const tesela_linear *a, int32_t in, int32_t n,
                                            const int32_t *action, tesela_linear *out, tesela_error *err) {
  TESELA__NEED(err, a, out);
  TESELA__NEED_LIST(err, action, n);
  tesela_status status = tesela__linear_check(a, "the linear layout", err);
  if (status != TESELA_OK) return status;
  if (in < 0 || in >= a->n_ins) return tesela_error_outside(err, -1, "in", -1, in, 0, a->n_ins - 1);
  if (n < 0 || n > a->in[in].bits) return tesela_error_outside(err, -1, "n", -1, n, 0, a->in[in].bits);
  status = linear_check_order("action", action, n, a->in[in].bits, err);
  if (status != TESELA_OK) return status;
  tesela_linear c = *a;
  int32_t first = tesela__bits_of(a->in, in), bits = tesela__bits_of(a->in, a->n_ins);
  int32_t dropped = a->in[in].bits - n;
  c.in[in].bits = n;
  for (int32_t k = 0; k < n; k++) c.basis[first + k] = a->basis[first + action[k]];
  for (int32_t k = first + n; k < bits; k++) c.basis[k] = k + dropped < bits ? a->basis[k + dropped] : 0;
  *out = c;
  return TESELA_OK;
}

tesela_status tesela_linear_permute_values(int32_t bits, int32_t n, const int32_t *action,
                                           const int64_t *from, int64_t *to, tesela_error *err) {
  TESELA__NEED(err, from, to);
  TESELA__NEED_LIST(err, action, n);
  if (bits < 0 || bits > 30) return tesela_error_outside(err, -1, "bits", -1, bits, 0, 30);
  if (n < 0 || n > bits) return tesela_error_outside(err, -1, "n", -1, n, 0, bits);
  tesela_status status = linear_check_order("action", action, n, bits, err);
  for (int64_t k = 0; k >> n == 0 && status == TESELA_OK; k++) {
    int64_t source = 0;
    for (int32_t i = 0; i < n; i++) source |= (k >> i & 1) << action[i];
    to[k] = from[source];
  }
  return status;
}
