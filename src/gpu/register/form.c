/* SPDX-License-Identifier: Apache-2.0 */
/*
 * form.c - register layouts from lists; their reduced and canonical forms.
 *
 * Reduced: modes of 1 are removed, and adjacent modes of a dim that are consecutive in one list are joined. Canonical:
 * before that, replicas of 1 are removed and adjacent replicas multiplied. This form is unique: the stride of each
 * element digit on each axis is a property of the relation, and so are the maximal runs of digits.
 */
#include "gpu/register/register.h"

void tesela__register_clear(tesela_register *layout) {
  layout->rank = layout->n_modes = layout->n_spatial = layout->n_local = 0;
  layout->spatial_size = layout->local_size = 1;
}

/* ---- reducing ----------------------------------------------------------------------------------------------- */

/* The position of each mode in its list, plus 1000 for local, so only consecutive entries of one list are 1 apart. */
static void form_positions(const tesela_register *layout, int32_t *position) {
  for (int32_t m = 0; m < layout->n_modes; m++) position[m] = -2;
  for (int32_t i = 0; i < layout->n_spatial; i++)
    if (layout->spatial_modes[i] >= 0) position[layout->spatial_modes[i]] = i;
  for (int32_t i = 0; i < layout->n_local; i++) position[layout->local_modes[i]] = 1000 + i;
}

/* Replace mode m by number[m] in the lists; -1 removes it. */
static void form_renumber(tesela_register *layout, const int32_t *number) {
  int32_t n = 0;
  for (int32_t i = 0; i < layout->n_spatial; i++) {
    int64_t mode = layout->spatial_modes[i];
    if (mode >= 0) mode = number[mode];
    if (layout->spatial_modes[i] < 0 || mode >= 0) layout->spatial_modes[n++] = mode;
  }
  layout->n_spatial = n;
  n = 0;
  for (int32_t i = 0; i < layout->n_local; i++)
    if (number[layout->local_modes[i]] >= 0) layout->local_modes[n++] = number[layout->local_modes[i]];
  layout->n_local = n;
}

static void form_drop_ones(tesela_register *layout) {
  int32_t number[TESELA_REGISTER_MODES], n = 0;
  for (int32_t m = 0; m < layout->n_modes; m++) {
    number[m] = layout->mode_shape[m] == 1 ? -1 : n;
    if (number[m] >= 0) layout->mode_shape[n++] = layout->mode_shape[m];
  }
  if (n == layout->n_modes) return;
  layout->n_modes = n;
  form_renumber(layout, number);
}

static void form_join(tesela_register *layout) {
  int32_t position[TESELA_REGISTER_MODES], number[TESELA_REGISTER_MODES], first[TESELA_MAX_RANK + 1], n = 0;
  form_positions(layout, position);
  tesela__register_dims(layout, first);
  for (int32_t d = 0; d < layout->rank; d++)
    for (int32_t m = first[d]; m < first[d + 1]; m++) {
      bool joins = m > first[d] && position[m] == position[m - 1] + 1;
      number[m] = joins ? -1 : n;
      if (joins)
        layout->mode_shape[n - 1] *= layout->mode_shape[m];
      else
        layout->mode_shape[n++] = layout->mode_shape[m];
    }
  if (n == layout->n_modes) return;
  layout->n_modes = n;
  form_renumber(layout, number);
}

static void form_reduce(tesela_register *layout) {
  form_drop_ones(layout);
  form_join(layout);
}

void tesela_register_reduced(tesela_register *out, const tesela_register *layout) {
  if (!out || !layout) return;
  tesela_register result = *layout;
  form_reduce(&result);
  *out = result;
}

void tesela_register_canonical(tesela_register *out, const tesela_register *layout) {
  if (!out || !layout) return;
  tesela_register result = *layout;
  int32_t n = 0;
  form_drop_ones(&result);
  for (int32_t i = 0; i < result.n_spatial; i++) {
    int64_t mode = result.spatial_modes[i];
    if (mode == -1) continue;
    if (mode < 0 && n > 0 && result.spatial_modes[n - 1] < 0)
      result.spatial_modes[n - 1] *= -mode; /* within spatial_size */
    else
      result.spatial_modes[n++] = mode;
  }
  result.n_spatial = n;
  form_join(&result);
  *out = result;
}

/* ---- creation ----------------------------------------------------------------------------------------------- */

tesela_status tesela_register_make_raw(tesela_register *out, int32_t rank, const int64_t *shape,
                                       int32_t n_modes, const int64_t *mode_shape, int32_t n_spatial,
                                       const int64_t *spatial_modes, int32_t n_local,
                                       const int64_t *local_modes, tesela_error *err) {
  TESELA__NEED(err, out);
  TESELA__NEED_LIST(err, shape, rank);
  TESELA__NEED_LIST(err, mode_shape, n_modes);
  TESELA__NEED_LIST(err, spatial_modes, n_spatial);
  TESELA__NEED_LIST(err, local_modes, n_local);
  tesela_register result;
  int64_t elements;
  tesela_status status = tesela__check_extents(rank, shape, &elements, err);
  if (status != TESELA_OK) return status;
  if (n_modes < 0 || n_modes > TESELA_REGISTER_MODES || n_spatial < 0 || n_spatial > TESELA_REGISTER_MODES ||
      n_local < 0 || n_local > TESELA_REGISTER_MODES)
    return tesela__fail(err, TESELA_E_LIMIT, -1,
                        "%" PRId32 " modes, %" PRId32 " spatial and %" PRId32
                        " local ones; expected 0 to %d in each list",
                        n_modes, n_spatial, n_local, TESELA_REGISTER_MODES);
  tesela__register_clear(&result);
  result.rank = rank;
  result.n_modes = n_modes;
  result.n_spatial = n_spatial;
  result.n_local = n_local;
  for (int32_t d = 0; d < rank; d++) result.shape[d] = shape[d];
  for (int32_t m = 0; m < n_modes; m++) result.mode_shape[m] = mode_shape[m];
  for (int32_t i = 0; i < n_spatial; i++) result.spatial_modes[i] = spatial_modes[i];
  for (int32_t i = 0; i < n_local; i++) {
    if (local_modes[i] < 0 || local_modes[i] >= n_modes)
      return tesela__refuse(err, TESELA_E_RANGE, TESELA_REASON_LOCAL_MODE_OUT_OF_RANGE,
                            "local_modes lists mode %" PRId64 "; there are %" PRId32, local_modes[i],
                            n_modes);
    result.local_modes[i] = (int32_t)local_modes[i];
  }
  status = tesela__register_accept(&result, err);
  if (status != TESELA_OK) return status;
  *out = result;
  return TESELA_OK;
}

tesela_status tesela_register_make(tesela_register *out, int32_t rank, const int64_t *shape, int32_t n_modes,
                                   const int64_t *mode_shape, int32_t n_spatial, const int64_t *spatial_modes,
                                   int32_t n_local, const int64_t *local_modes, tesela_error *err) {
  TESELA__NEED(err, out);
  TESELA__NEED_LIST(err, shape, rank);
  TESELA__NEED_LIST(err, mode_shape, n_modes);
  TESELA__NEED_LIST(err, spatial_modes, n_spatial);
  TESELA__NEED_LIST(err, local_modes, n_local);
  tesela_register result;
  tesela_status status = tesela_register_make_raw(&result, rank, shape, n_modes, mode_shape, n_spatial,
                                                  spatial_modes, n_local, local_modes, err);
  if (status != TESELA_OK) return status;
  form_reduce(&result);
  *out = result;
  return TESELA_OK;
}
