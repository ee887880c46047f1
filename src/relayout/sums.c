/* SPDX-License-Identifier: Apache-2.0 */
/*
 * sums.c - the functions of coordinates whose sum is a place.
 *
 *   f32[24,256]{1,0:T(8,128)}, in elements   dim 0: 2048 a step of 8, 128 a step of 1     f(13) = 2048 + 5 * 128
 *                                            dim 1: 1024 a step of 128, 1 a step of 1     f(130) = 1024 + 2
 */
#include "relayout/sums.h"

int64_t tesela__sum_at(const tesela__sums *sums, tesela__sum_digits digits, int64_t x, int64_t *stride,
                       int64_t *left) {
  int64_t offset = 0, most = INT64_MAX;
  const struct tesela__sum_digit *digit = &sums->digit[digits.first];
  for (int32_t i = 0; i < digits.n - 1; i++) {
    if (x >= digit[i].step) {
      const int64_t value = x / digit[i].step;
      offset += value * digit[i].stride;
      x -= value * digit[i].step;
    }
    most = tesela__min(most, digit[i].step - x); /* then this digit grows */
  }
  *stride = digit[digits.n - 1].stride;
  *left = most;
  return offset + x * *stride;
}

int64_t tesela__sum_span(const tesela__sums *sums, tesela__sum_digits digits, int64_t extent) {
  int64_t span = 0;
  for (int32_t i = 0; i < digits.n; i++) {
    const struct tesela__sum_digit *digit = &sums->digit[digits.first + i];
    if (digit->step < extent && digit->stride < 0) return -1;
    if (digit->step < extent) span += (tesela__ceil_div(extent, digit->step) - 1) * digit->stride;
    extent = tesela__min(extent, digit->step);
  }
  return span;
}

bool tesela__sums_add_loop(tesela__sums *sums, int64_t n, int64_t dst_stride, int64_t src_stride) {
  if (sums->n == TESELA_MAX_RANK) return false;
  sums->extent[sums->n] = n;
  sums->dst[sums->n] = (tesela__sum_digits){sums->n_digits, 1};
  sums->src[sums->n++] = (tesela__sum_digits){sums->n_digits + 1, 1};
  sums->digit[sums->n_digits++] = (struct tesela__sum_digit){1, dst_stride};
  sums->digit[sums->n_digits++] = (struct tesela__sum_digit){1, src_stride};
  return true;
}

tesela_status tesela__sums_layout(const tesela__sums *sums, const tesela__sum_digits *side,
                                  const int64_t *extent, tesela_dtype dtype, int32_t bits, int64_t offset,
                                  tesela_layout *layout, tesela_error *err) {
  int32_t axis;
  tesela_status status = tesela_layout_begin(layout, dtype, bits, sums->n, extent, err);
  if (status == TESELA_OK) status = tesela_layout_add_axis(layout, "memory", &axis, err);
  for (int32_t c = 0; c < sums->n && status == TESELA_OK; c++) {
    int32_t high = c, low = c;
    for (int32_t i = 0; i < side[c].n && status == TESELA_OK; i++) {
      const struct tesela__sum_digit *digit = &sums->digit[side[c].first + i];
      if (digit->step >= extent[c] && digit->step > 1) continue; /* always 0 */
      high = low;
      if (digit->step > 1) status = tesela_layout_split(layout, high, digit->step, &low, err);
      if (status == TESELA_OK) status = tesela_layout_place(layout, high, axis, digit->stride / bits, err);
    }
  }
  if (status == TESELA_OK) status = tesela_layout_set_axis(layout, axis, offset / bits, -1, err);
  return status == TESELA_OK ? tesela_layout_finish(layout, err) : status;
}
