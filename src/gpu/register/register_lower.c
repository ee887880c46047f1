/* SPDX-License-Identifier: Apache-2.0 */
/*
 * register_lower.c - a register layout as a layout of the core, axes "thread" and "local", and back.
 */
#include "gpu/register/register.h"

enum { LOWER_THREAD, LOWER_LOCAL };

/* ---- to the core --------------------------------------------------------------------------------------------- */

/* Split the digit of each dim into its modes: digit[m]. Dims of 1 are placed on `thread` with stride 0, unsplit. */
static tesela_status lower_split(const tesela_register *layout, tesela_layout *out, int32_t *digit,
                                 tesela_error *err) {
  int32_t first[TESELA_MAX_RANK + 1];
  tesela_status status = TESELA_OK;
  tesela__register_dims(layout, first);
  for (int32_t d = 0; d < layout->rank && status == TESELA_OK; d++) {
    int64_t behind = layout->shape[d];
    int32_t here = d;
    if (first[d] == first[d + 1]) status = tesela_layout_place(out, d, LOWER_THREAD, 0, err);
    for (int32_t m = first[d]; m < first[d + 1] && status == TESELA_OK; m++) {
      behind /= layout->mode_shape[m];
      digit[m] = here;
      if (m + 1 < first[d + 1]) status = tesela_layout_split(out, here, behind, &here, err);
    }
  }
  return status;
}

static tesela_status lower_place(const tesela_register *layout, tesela_layout *out, const int32_t *digit,
                                 tesela_error *err) {
  int32_t list[TESELA_REGISTER_MODES];
  tesela_status status = TESELA_OK;
  for (int32_t i = 0; i < layout->n_spatial && status == TESELA_OK; i++) {
    int64_t mode = layout->spatial_modes[i];
    if (mode >= 0)
      list[i] = digit[mode];
    else
      status = tesela_layout_add_digit(out, TESELA_REPLICA, -mode, &list[i], err);
  }
  if (status == TESELA_OK)
    status = tesela_layout_place_row_major(out, layout->n_spatial, list, LOWER_THREAD, 1, NULL, err);
  for (int32_t i = 0; i < layout->n_local; i++) list[i] = digit[layout->local_modes[i]];
  if (status == TESELA_OK)
    status = tesela_layout_place_row_major(out, layout->n_local, list, LOWER_LOCAL, 1, NULL, err);
  return status;
}

tesela_status tesela_register_to_layout(const tesela_register *layout, tesela_dtype dtype, int32_t bits,
                                        tesela_layout *out, tesela_error *err) {
  TESELA__NEED(err, layout, out);
  tesela_register reduced;
  tesela_layout result;
  int32_t digit[TESELA_REGISTER_MODES], axis;
  tesela_register_canonical(&reduced, layout); /* each mode in a list, no replica of 1 */
  tesela_status status = tesela_layout_begin(&result, dtype, bits, reduced.rank, reduced.shape, err);
  if (status == TESELA_OK) status = tesela_layout_add_axis(&result, "thread", &axis, err);
  if (status == TESELA_OK) status = tesela_layout_add_axis(&result, "local", &axis, err);
  if (status == TESELA_OK) status = lower_split(&reduced, &result, digit, err);
  if (status == TESELA_OK) status = lower_place(&reduced, &result, digit, err);
  if (status == TESELA_OK)
    status = tesela_layout_set_axis(&result, LOWER_THREAD, 0, reduced.spatial_size, err);
  if (status == TESELA_OK) status = tesela_layout_set_axis(&result, LOWER_LOCAL, 0, reduced.local_size, err);
  if (status == TESELA_OK) status = tesela_layout_finish(&result, err);
  if (status == TESELA_OK) *out = result;
  return status;
}

/* ---- from the core ------------------------------------------------------------------------------------------- */

static tesela_status lower_refuse(tesela_error *err, const char *why) {
  return tesela__fail(err, TESELA_E_UNSUPPORTED, -1, "not a register layout: %s", why);
}

static const char *lower_why_not(const tesela_layout *layout, const int32_t *axis) {
  if (!layout->finished) return "it is not finished";
  if (layout->n_axes != 2 || axis[LOWER_THREAD] < 0 || axis[LOWER_LOCAL] < 0)
    return "its axes are not thread and local";
  if (layout->n_joins > 0) return "it has joins";
  if (layout->swizzle.n > 0) return "it has a swizzle";
  for (int32_t d = 0; d < layout->rank; d++)
    if (layout->shape[d] < 1) return "it has no elements";
  for (int32_t a = 0; a < 2; a++)
    if (layout->axis[a].offset != 0) return "an axis has an offset";
  return NULL;
}

/* Collect the digits as modes: dims in order, each by decreasing step. mode_of[i]: mode of digit i; -1: a replica. */
static const char *lower_modes(const tesela_layout *layout, tesela_register *result, int32_t *mode_of) {
  for (int32_t d = 0; d < layout->rank; d++) {
    int64_t have = 1;
    for (int32_t i = 0; i < layout->n_mapped; i++) {
      const tesela_digit *digit = &layout->digit[i];
      if (digit->source != d) continue;
      if (result->n_modes == TESELA_REGISTER_MODES) return "it has too many digits";
      mode_of[i] = result->n_modes;
      result->mode_shape[result->n_modes++] = digit->extent;
      if (!tesela__mul(have, digit->extent, &have) || have > layout->shape[d]) return "it pads";
    }
    if (have != layout->shape[d]) return "it pads";
    result->shape[result->rank++] = layout->shape[d];
  }
  for (int32_t i = layout->n_mapped; i < layout->n_active; i++) {
    if (layout->digit[i].source == TESELA_HOLE) return "it has holes";
    mode_of[i] = -1;
  }
  return NULL;
}

/* The digit on an axis with this stride, or -1. */
static int32_t lower_digit_at(const tesela_layout *layout, int32_t axis, int64_t stride) {
  for (int32_t i = 0; i < layout->n_active; i++)
    if (layout->digit[i].axis == axis && layout->digit[i].stride == stride) return i;
  return -1;
}

/* Write the digits of an axis to their list, slowest first. */
static const char *lower_list(const tesela_layout *layout, int32_t axis, bool spatial, const int32_t *mode_of,
                              tesela_register *result, int32_t *used) {
  int64_t list[TESELA_REGISTER_MODES], stride = 1;
  int32_t n = 0;
  while (stride < layout->axis[axis].extent) {
    int32_t i = lower_digit_at(layout, axis, stride);
    if (i < 0) return "an axis has gaps, or its strides are not row-major";
    if (n == TESELA_REGISTER_MODES) return "it has too many digits";
    if (mode_of[i] < 0 && !spatial) return "it has replicas on local";
    list[n++] = mode_of[i] < 0 ? -layout->digit[i].extent : mode_of[i];
    ++*used;
    if (!tesela__mul(stride, layout->digit[i].extent, &stride)) return "an axis is too long";
  }
  if (stride != layout->axis[axis].extent) return "an axis has places that no digit reaches";
  for (int32_t k = n - 1; k >= 0; k--) {
    if (spatial)
      result->spatial_modes[result->n_spatial++] = list[k];
    else
      result->local_modes[result->n_local++] = (int32_t)list[k];
  }
  return NULL;
}

tesela_status tesela_register_from_layout(const tesela_layout *layout, tesela_register *out,
                                          tesela_error *err) {
  TESELA__NEED(err, layout, out);
  tesela_register result;
  int32_t axis[2] = {-1, -1}, mode_of[TESELA_MAX_DIGITS], used = 0;
  for (int32_t a = 0; a < layout->n_axes && a < TESELA_MAX_AXES; a++) {
    if (strcmp(layout->axis[a].name, "thread") == 0) axis[LOWER_THREAD] = a;
    if (strcmp(layout->axis[a].name, "local") == 0) axis[LOWER_LOCAL] = a;
  }
  tesela__register_clear(&result);
  const char *why = lower_why_not(layout, axis);
  if (!why) why = lower_modes(layout, &result, mode_of);
  if (!why) why = lower_list(layout, axis[LOWER_THREAD], true, mode_of, &result, &used);
  if (!why) why = lower_list(layout, axis[LOWER_LOCAL], false, mode_of, &result, &used);
  if (!why && used != layout->n_active) why = "some digits do not reach a place of their own";
  if (why) return lower_refuse(err, why);
  tesela_status status = tesela__register_accept(&result, err);
  if (status == TESELA_OK) tesela_register_reduced(out, &result);
  return status;
}
