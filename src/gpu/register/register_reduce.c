/* SPDX-License-Identifier: Apache-2.0 */
/*
 * register_reduce.c - removing dims: their spatial modes become replicas in place, their local modes are removed.
 */
#include "gpu/register/register.h"

/* `dims` as bits. */
static tesela_status reduce_dims(tesela_register *out, const tesela_register *given, uint32_t dims,
                                 bool keepdims, tesela_error *err) {
  tesela_register reduced, result;
  const tesela_register *layout = &reduced;
  tesela_register_reduced(&reduced, given); /* a mode of 1 would become a replica of 1 */
  result = reduced;
  int32_t first[TESELA_MAX_RANK + 1], number[TESELA_REGISTER_MODES], rank = 0, n_local = 0;
  tesela__register_dims(layout, first);
  result.n_modes = 0;
  for (int32_t d = 0; d < layout->rank; d++) {
    bool gone = dims >> d & 1;
    for (int32_t m = first[d]; m < first[d + 1]; m++) {
      number[m] = gone ? -1 : result.n_modes;
      if (!gone) result.mode_shape[result.n_modes++] = layout->mode_shape[m];
    }
    if (!gone || keepdims) result.shape[rank++] = gone ? 1 : layout->shape[d];
  }
  result.rank = rank;
  for (int32_t i = 0; i < layout->n_spatial; i++) {
    int64_t mode = layout->spatial_modes[i];
    if (mode >= 0) result.spatial_modes[i] = number[mode] >= 0 ? number[mode] : -layout->mode_shape[mode];
  }
  for (int32_t i = 0; i < layout->n_local; i++)
    if (number[layout->local_modes[i]] >= 0) result.local_modes[n_local++] = number[layout->local_modes[i]];
  result.n_local = n_local;
  tesela_status status = tesela__register_sizes(&result, err);
  if (status == TESELA_OK) tesela_register_reduced(out, &result);
  return status;
}

tesela_status tesela_register_reduce(tesela_register *out, const tesela_register *layout, int32_t n,
                                     const int64_t *dims, bool keepdims, tesela_error *err) {
  TESELA__NEED(err, out, layout);
  TESELA__NEED_LIST(err, dims, n);
  uint32_t bits = 0;
  tesela_status status = tesela__dims(layout->rank, n, dims, &bits, NULL, err);
  return status == TESELA_OK ? reduce_dims(out, layout, bits, keepdims, err) : status;
}

tesela_status tesela_register_reduce_to(tesela_register *out, const tesela_register *layout, int32_t rank,
                                        const int64_t *shape, tesela_error *err) {
  TESELA__NEED(err, out, layout);
  TESELA__NEED_LIST(err, shape, rank);
  int64_t elements;
  uint32_t bits = 0;
  tesela_register kept;
  tesela_status status = tesela__check_extents(rank, shape, &elements, err);
  if (status != TESELA_OK) return status;
  if (rank > layout->rank)
    return tesela__refuse(err, TESELA_E_INVALID, TESELA_REASON_NOT_BROADCASTABLE,
                          "the shape has %" PRId32 " dims; expected at most the layout's %" PRId32, rank,
                          layout->rank);
  int32_t leading = layout->rank - rank;
  for (int32_t d = 0; d < rank; d++) {
    int64_t extent = layout->shape[leading + d];
    if (shape[d] == extent) continue;
    if (shape[d] != 1)
      return tesela__refuse(err, TESELA_E_INVALID, TESELA_REASON_NOT_BROADCASTABLE,
                            "extent %" PRId32 " of the shape is %" PRId64
                            "; expected 1 or the layout's %" PRId64,
                            d, shape[d], extent);
    bits |= UINT32_C(1) << (leading + d);
  }
  status = reduce_dims(&kept, layout, bits, true, err);
  if (status == TESELA_OK)
    status = reduce_dims(out, &kept, (uint32_t)((UINT64_C(1) << leading) - 1), false, err);
  return status;
}
