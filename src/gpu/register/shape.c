/* SPDX-License-Identifier: Apache-2.0 */
/*
 * shape.c - register layouts with another shape: each element keeps its threads and its local id.
 *
 * reshape first flattens: with all dims one, modes that are consecutive in a list join across a border of dims. Then
 * each new extent takes whole modes from the left or cuts one. If an extent cuts a joined mode and neither divides the
 * other, no modes express the result, because a joined mode is one digit of the relation.
 */
#include "gpu/register/register.h"

/* ---- dims of 1, order --------------------------------------------------------------------------------------- */

tesela_status tesela_register_squeeze(tesela_register *out, const tesela_register *layout, int32_t n,
                                      const int64_t *dims, tesela_error *err) {
  TESELA__NEED(err, out, layout);
  TESELA__NEED_LIST(err, dims, n);
  uint32_t bits;
  int32_t rank = 0;
  tesela_register result = *layout;
  tesela_status status = tesela__dims(layout->rank, n, dims, &bits, NULL, err);
  if (status != TESELA_OK) return status;
  for (int32_t d = 0; d < layout->rank; d++) {
    bool gone = bits >> d & 1;
    if (gone && layout->shape[d] != 1)
      return tesela__refuse(err, TESELA_E_INVALID, TESELA_REASON_DIM_NOT_ONE,
                            "dim %" PRId32 " has extent %" PRId64 "; only a dim of extent 1 can be removed",
                            d, layout->shape[d]);
    if (!gone) result.shape[rank++] = layout->shape[d];
  }
  result.rank = rank;
  tesela_register_reduced(out, &result);
  return TESELA_OK;
}

tesela_status tesela_register_unsqueeze(tesela_register *out, const tesela_register *layout, int32_t n,
                                        const int64_t *dims, tesela_error *err) {
  TESELA__NEED(err, out, layout);
  TESELA__NEED_LIST(err, dims, n);
  uint32_t bits;
  int32_t from = 0;
  tesela_register result = *layout;
  if (n < 0 || n > TESELA_MAX_RANK - layout->rank)
    return tesela__fail(err, TESELA_E_LIMIT, -1,
                        "the result would have %" PRId64 " dims; a layout can have %d",
                        (int64_t)layout->rank + n, TESELA_MAX_RANK);
  tesela_status status = tesela__dims(layout->rank + n, n, dims, &bits, NULL, err);
  if (status != TESELA_OK) return status;
  result.rank = layout->rank + n;
  for (int32_t d = 0; d < result.rank; d++) result.shape[d] = bits >> d & 1 ? 1 : layout->shape[from++];
  tesela_register_reduced(out, &result);
  return TESELA_OK;
}

/* Replace each mode m by number[m] in the lists. */
static void shape_renumber(tesela_register *layout, const int32_t *number) {
  for (int32_t i = 0; i < layout->n_spatial; i++)
    if (layout->spatial_modes[i] >= 0) layout->spatial_modes[i] = number[layout->spatial_modes[i]];
  for (int32_t i = 0; i < layout->n_local; i++) layout->local_modes[i] = number[layout->local_modes[i]];
}

tesela_status tesela_register_permute(tesela_register *out, const tesela_register *layout, int32_t n,
                                      const int64_t *dims, tesela_error *err) {
  TESELA__NEED(err, out, layout);
  TESELA__NEED_LIST(err, dims, n);
  uint32_t bits;
  int32_t order[TESELA_MAX_RANK], first[TESELA_MAX_RANK + 1], number[TESELA_REGISTER_MODES], m = 0;
  tesela_register result = *layout;
  if (n != layout->rank)
    return tesela__refuse(err, TESELA_E_INVALID, TESELA_REASON_DIMS_LENGTH,
                          "%" PRId32 " dims are listed; the layout has %" PRId32
                          ", and each must be listed once",
                          n, layout->rank);
  tesela_status status = tesela__dims(layout->rank, n, dims, &bits, order, err);
  if (status != TESELA_OK) return status;
  tesela__register_dims(layout, first);
  for (int32_t d = 0; d < n; d++) {
    result.shape[d] = layout->shape[order[d]];
    for (int32_t from = first[order[d]]; from < first[order[d] + 1]; from++) {
      number[from] = m;
      result.mode_shape[m++] = layout->mode_shape[from];
    }
  }
  shape_renumber(&result, number);
  tesela_register_reduced(out, &result);
  return TESELA_OK;
}

/* ---- the same modes, or split ones -------------------------------------------------------------------------- */

tesela_status tesela_register_with_shape(tesela_register *out, const tesela_register *layout, int32_t rank,
                                         const int64_t *shape, tesela_error *err) {
  TESELA__NEED(err, out, layout);
  TESELA__NEED_LIST(err, shape, rank);
  int64_t local_modes[TESELA_REGISTER_MODES];
  for (int32_t i = 0; i < layout->n_local; i++) local_modes[i] = layout->local_modes[i];
  return tesela_register_make_raw(out, rank, shape, layout->n_modes, layout->mode_shape, layout->n_spatial,
                                  layout->spatial_modes, layout->n_local, local_modes, err);
}

/* Replace each mode m by modes first[m] .. first[m] + n[m] - 1 in the lists. */
static tesela_status shape_cut_lists(tesela_register *result, const tesela_register *flat,
                                     const int32_t *first, const int32_t *n, tesela_error *err) {
  result->n_spatial = result->n_local = 0;
  for (int32_t i = 0; i < flat->n_spatial; i++) {
    int64_t mode = flat->spatial_modes[i];
    int32_t parts = mode < 0 ? 1 : n[mode];
    if (result->n_spatial + parts > TESELA_REGISTER_MODES)
      return tesela__fail(err, TESELA_E_LIMIT, -1, "the result needs more than %d spatial modes",
                          TESELA_REGISTER_MODES);
    for (int32_t k = 0; k < parts; k++)
      result->spatial_modes[result->n_spatial++] = mode < 0 ? mode : first[mode] + k;
  }
  for (int32_t i = 0; i < flat->n_local; i++) /* at most one per mode */
    for (int32_t k = 0; k < n[flat->local_modes[i]]; k++)
      result->local_modes[result->n_local++] = first[flat->local_modes[i]] + k;
  return TESELA_OK;
}

/* Split the modes of `flat`, reduced and of rank 1, by the shape of `result`. */
static tesela_status shape_cut(tesela_register *result, const tesela_register *flat, tesela_error *err) {
  int32_t first[TESELA_REGISTER_MODES], n[TESELA_REGISTER_MODES], m = 0;
  int64_t left = flat->n_modes > 0 ? flat->mode_shape[0] : 1;
  result->n_modes = 0;
  if (flat->n_modes > 0) first[0] = n[0] = 0;
  for (int32_t d = 0; d < result->rank; d++)
    for (int64_t extent = result->shape[d]; extent > 1;) {
      int64_t part = extent % left == 0 ? left : extent;
      if (left % part != 0)
        return tesela__refuse(err, TESELA_E_INVALID, TESELA_REASON_RESHAPE_NOT_REPRESENTABLE,
                              "dim %" PRId32 " of the new shape would cut a mode of %" PRId64 " at %" PRId64
                              "; one of them must divide the other",
                              d, left, extent);
      if (result->n_modes == TESELA_REGISTER_MODES)
        return tesela__fail(err, TESELA_E_LIMIT, -1, "the result needs more than %d modes",
                            TESELA_REGISTER_MODES);
      result->mode_shape[result->n_modes++] = part;
      n[m]++;
      extent /= part;
      left /= part;
      if (left == 1 && ++m < flat->n_modes) {
        left = flat->mode_shape[m];
        first[m] = result->n_modes;
        n[m] = 0;
      }
    }
  return shape_cut_lists(result, flat, first, n, err);
}

tesela_status tesela_register_reshape(tesela_register *out, const tesela_register *layout, int32_t rank,
                                      const int64_t *shape, tesela_error *err) {
  TESELA__NEED(err, out, layout);
  TESELA__NEED_LIST(err, shape, rank);
  int64_t elements, own = 1;
  tesela_register flat = *layout, result = *layout;
  tesela_status status = tesela__check_extents(rank, shape, &elements, err);
  if (status != TESELA_OK) return status;
  for (int32_t d = 0; d < layout->rank; d++) own *= layout->shape[d];
  if (own != elements)
    return tesela__refuse(err, TESELA_E_INVALID, TESELA_REASON_RESHAPE_SIZE_MISMATCH,
                          "the new shape has %" PRId64 " elements; the layout has %" PRId64, elements, own);
  flat.rank = 1;
  flat.shape[0] = elements;
  result.rank = rank;
  for (int32_t d = 0; d < rank; d++) result.shape[d] = shape[d];
  tesela_register_reduced(&flat, &flat);
  status = shape_cut(&result, &flat, err);
  if (status == TESELA_E_INVALID) { /* a replica of 1 may keep two modes apart */
    tesela_register_canonical(&flat, &flat);
    status = shape_cut(&result, &flat, err);
  }
  if (status == TESELA_OK) tesela_register_reduced(out, &result);
  return status;
}

tesela_status tesela_register_flatten(tesela_register *out, const tesela_register *layout, int64_t first,
                                      int64_t last, tesela_error *err) {
  TESELA__NEED(err, out, layout);
  int64_t shape[TESELA_MAX_RANK], rank = layout->rank, from = first < 0 ? first + rank : first,
                                  to = last < 0 ? last + rank : last;
  int32_t n = 0;
  if (rank == 0 && first == 0 && (last == -1 || last == 0))
    from = to = 0;
  else if (from < 0 || to >= rank || from > to)
    return tesela__refuse(err, TESELA_E_RANGE, TESELA_REASON_DIM_OUT_OF_RANGE,
                          "dims %" PRId64 " to %" PRId64
                          " are not an ascending range of dims of a layout of rank %" PRId64 "",
                          first, last, rank);
  for (int32_t d = 0; d < from; d++) shape[n++] = layout->shape[d];
  shape[n] = 1;
  for (int64_t d = from; d <= to && d < rank; d++) shape[n] *= layout->shape[d];
  n++;
  for (int64_t d = to + 1; d < rank; d++) shape[n++] = layout->shape[d];
  return tesela_register_reshape(out, layout, n, shape, err);
}
