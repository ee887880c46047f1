/* SPDX-License-Identifier: Apache-2.0 */
/*
 * decompose.c - a bitcast between two shapes as a reshape, a transpose, or transpose, reshape, transpose.
 *
 * The last form first brings both shapes' dims into physical order. Such a transpose moves nothing, with or without
 * tiles, since tiles belong to physical positions. So the reshape in the middle decides.
 *
 *   f32[6,4]{0,1} -> f32[2,12]{0,1}      f32[4,6]{1,0} -reshape-> f32[12,2]{1,0}
 */
#include "base/base.h"
#include "xla/validate.h"
#include "xla/xla.h"

/* The identity permutation, for a step that changes nothing. */
static void same_dims(int32_t rank, int32_t *order) {
  for (int32_t d = 0; d < rank; d++) order[d] = d;
}

static tesela_status try_reshape(const tesela_xla_shape *in, const tesela_xla_shape *out, bool order_only,
                                 tesela_xla_bitcast *found, tesela_error *err) {
  bool free_of_moves;
  tesela_status status = tesela_xla_reshape_is_bitcast(in, out, order_only, &free_of_moves, err);
  if (status != TESELA_OK || !free_of_moves) return status;
  found->kind = TESELA_XLA_BITCAST_RESHAPE;
  same_dims(in->rank, found->in_order);
  same_dims(out->rank, found->out_order);
  tesela__xla_shape_copy(&found->from, in);
  tesela__xla_shape_copy(&found->to, out);
  return TESELA_OK;
}

/* The transpose that maps dims of the input to dims of the output at the same physical position. */
static tesela_status try_transpose(const tesela_xla_shape *in, const tesela_xla_shape *out, bool order_only,
                                   tesela_xla_bitcast *found, tesela_error *err) {
  bool free_of_moves = true;
  if (in->rank != out->rank) return TESELA_OK;
  for (int32_t p = 0; p < in->rank; p++) {
    int32_t from = tesela_xla_major(&in->layout, p), to = tesela_xla_major(&out->layout, p);
    if (in->dim[from] != out->dim[to]) return TESELA_OK;
    found->in_order[to] = from;
  }
  tesela_status status =
      tesela_xla_transpose_is_bitcast(in, out, found->in_order, order_only, &free_of_moves, err);
  if (status != TESELA_OK || !free_of_moves) return status;
  found->kind = TESELA_XLA_BITCAST_TRANSPOSE;
  same_dims(out->rank, found->out_order);
  tesela__xla_shape_copy(&found->from, out);
  tesela__xla_shape_copy(&found->to, out);
  return TESELA_OK;
}

static tesela_status try_chain(const tesela_xla_shape *in, const tesela_xla_shape *out, bool order_only,
                               tesela_xla_bitcast *found, tesela_error *err) {
  bool free_of_moves;
  tesela__xla_shape_copy(&found->from, in);
  tesela__xla_shape_copy(&found->to, out);
  tesela_status status = tesela_xla_normalize_order(&found->from, err);
  if (status == TESELA_OK) status = tesela_xla_normalize_order(&found->to, err);
  if (status == TESELA_OK)
    status = tesela_xla_reshape_is_bitcast(&found->from, &found->to, order_only, &free_of_moves, err);
  if (status != TESELA_OK || !free_of_moves) return status;
  found->kind = TESELA_XLA_BITCAST_CHAIN;
  for (int32_t p = 0; p < in->rank; p++) found->in_order[p] = tesela_xla_major(&in->layout, p);
  tesela_xla_logical_to_physical(&out->layout, found->out_order);
  return TESELA_OK;
}

tesela_status tesela_xla_decompose_bitcast(const tesela_xla_shape *in, const tesela_xla_shape *out,
                                           bool order_only, tesela_xla_bitcast *bitcast, tesela_error *err) {
  TESELA__NEED(err, in, out, bitcast);
  tesela_xla_bitcast found;
  found.kind = TESELA_XLA_BITCAST_NONE;
  tesela_status status = try_reshape(in, out, order_only, &found, err);
  if (status == TESELA_OK && found.kind == TESELA_XLA_BITCAST_NONE)
    status = try_transpose(in, out, order_only, &found, err);
  if (status == TESELA_OK && found.kind == TESELA_XLA_BITCAST_NONE)
    status = try_chain(in, out, order_only, &found, err);
  if (status != TESELA_OK) return status;
  bitcast->kind = found.kind;
  if (found.kind != TESELA_XLA_BITCAST_NONE) *bitcast = found;
  return TESELA_OK;
}

/* ---- dims that a reshape keeps ---- */

/* Advance both sides past the shortest stretch of dims with equal numbers of elements. */
static void pass_stretch(const tesela_xla_shape *in, const tesela_xla_shape *out, int32_t *i, int32_t *o) {
  int64_t of_in = in->dim[(*i)++], of_out = out->dim[(*o)++];
  while (of_in != of_out) {
    if (of_in < of_out)
      of_in *= in->dim[(*i)++];
    else
      of_out *= out->dim[(*o)++];
  }
}

static void find_unmodified(const tesela_xla_shape *in, const tesela_xla_shape *out, int32_t *out_dim) {
  int32_t i = 0, o = 0;
  for (int32_t d = 0; d < in->rank; d++) out_dim[d] = -1;
  while (i < in->rank && o < out->rank) {
    if (in->dim[i] == out->dim[o])
      out_dim[i++] = o++;
    else if (in->dim[i] == 1)
      i++;
    else if (out->dim[o] == 1)
      o++;
    else
      pass_stretch(in, out, &i, &o);
  }
}

tesela_status tesela_xla_reshape_unmodified(const tesela_xla_shape *in, const tesela_xla_shape *out,
                                            int32_t *out_dim, tesela_error *err) {
  TESELA__NEED(err, in, out);
  TESELA__NEED_LIST(err, out_dim, in->rank);
  int64_t elements;
  tesela_status status = tesela__xla_check_reshape(in, out, &elements, err);
  if (status != TESELA_OK) return status;
  bool same = in->rank == out->rank;
  for (int32_t d = 0; d < in->rank && same; d++) same = in->dim[d] == out->dim[d];
  if (elements > 0)
    find_unmodified(in, out, out_dim);
  else
    for (int32_t d = 0; d < in->rank; d++) out_dim[d] = same ? d : -1;
  return TESELA_OK;
}
