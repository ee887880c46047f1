/* SPDX-License-Identifier: Apache-2.0 */
/*
 * register_lower.c - a register layout as a layout of the core, axes "thread" and "local".
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
