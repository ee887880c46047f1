/* SPDX-License-Identifier: Apache-2.0 */
/*
 * in_place_dense.c - by way of layouts without padding: both sides have tiles, their coordinates lie in another order.
 *
 *   f32[2048,3000]{1,0:T(8,128)} -> {0,1:T(8,128)}
 *     1  strips                    {1,0:T(8,128)} -> {1,0}
 *     2  in_place_remainders.c     {1,0} -> {0,1}
 *     3  strips                    {0,1} -> {0,1:T(8,128)}
 *
 * What lies between fills the first places of dst, which must have nothing but elements and padding there, and the padding must
 * be filled afterwards.
 */
#include "relayout/in_place.h"

enum { DENSE_STRIP = 256 << 10 /* bytes */ };

/* The largest stride of a coordinate that has values. */
static int64_t top_stride(const tesela__sums *sums, tesela__sum_digits digits, int64_t extent) {
  int64_t top = 0;
  for (int32_t i = 0; i < digits.n; i++) {
    const struct tesela__sum_digit *digit = &sums->digit[digits.first + i];
    if (digit->step == 1 || digit->step < extent) top = tesela__max(top, digit->stride);
  }
  return top;
}

/* Strides of the coordinates if they lie densely, in the order of a side. Returns the bits of all. */
static int64_t dense_order(const tesela__sums *sums, const tesela__sum_digits *side, int32_t bits,
                           int64_t *stride) {
  int64_t reach = bits, last = 0;
  for (;;) {
    int64_t least = INT64_MAX;
    for (int32_t c = 0; c < sums->n; c++) {
      const int64_t top = top_stride(sums, side[c], sums->extent[c]);
      if (top > last) least = tesela__min(least, top);
    }
    if (least == INT64_MAX) return reach;
    for (int32_t c = 0; c < sums->n; c++) {
      if (top_stride(sums, side[c], sums->extent[c]) != least) continue;
      stride[c] = reach;
      reach *= sums->extent[c];
    }
    last = least;
  }
}

/* The places that the digits of a layout reach, from the first on and without a gap; 0: they leave some, or it cannot be seen. */
static int64_t gapless_places(const tesela_layout *layout) {
  int64_t reach = 1;
  if (layout->n_joins > 0 || layout->swizzle.n > 0 || layout->axis[0].offset > 0) return 0;
  for (int32_t i = layout->n_active - 1; i >= 0; i--) {
    const tesela_digit *digit = &layout->digit[layout->by_place[i]];
    if (digit->stride != reach) return 0;
    reach *= digit->extent; /* fits, as the places of an axis do */
  }
  return reach;
}

/* Add the pass between one side and the dense layout with these strides, if anything moves. */
static bool add_dense_side(tesela__method *method, const tesela__problem *problem, bool from_src,
                           const int64_t *stride, int32_t bits, int64_t limit, int32_t threads) {
  const tesela__sums *sums = &problem->sums;
  tesela__sums half = {.n = sums->n, .n_digits = 0};
  bool moves = false;
  for (int32_t c = 0; c < sums->n; c++) {
    const tesela__sum_digits whole = from_src ? sums->src[c] : sums->dst[c];
    tesela__sum_digits *to = from_src ? &half.src[c] : &half.dst[c],
                       *dense = from_src ? &half.dst[c] : &half.src[c];
    half.extent[c] = sums->extent[c];
    *to = (tesela__sum_digits){half.n_digits, whole.n};
    for (int32_t i = 0; i < whole.n; i++) {
      const struct tesela__sum_digit *digit = &sums->digit[whole.first + i];
      half.digit[half.n_digits++] = *digit;
      moves = moves || (digit->step < sums->extent[c] && digit->stride != digit->step * stride[c]);
    }
    *dense = (tesela__sum_digits){half.n_digits, 1};
    half.digit[half.n_digits++] = (struct tesela__sum_digit){1, stride[c]};
  }
  if (!moves) return true;
  return tesela__strips_find(&method->pass[method->n_passes++], &half, 0, 0, bits,
                             tesela__min(DENSE_STRIP, limit), limit, threads);
}

bool tesela__dense_find(tesela__method *method, const tesela_plan *plan, const tesela__problem *problem,
                        int64_t limit, int32_t threads) {
  const tesela__sums *sums = &problem->sums;
  const int32_t bits = plan->dst.bits;
  int64_t from[TESELA_MAX_RANK] = {0}, to[TESELA_MAX_RANK] = {0};
  tesela__box box = {0};
  method->n_passes = 0;
  if (problem->no_sums || problem->n_replicas || sums->n == 0 || problem->dst_offset || problem->src_offset)
    return false;
  const int64_t all = dense_order(sums, sums->src, bits, from), reach = gapless_places(&plan->dst);
  if (reach == 0 || (reach > all / bits && plan->fill == TESELA_FILL_LEAVE)) return false;
  if (dense_order(sums, sums->dst, bits, to) != all || all % 8) return false;
  for (int32_t c = 0; c < sums->n; c++)
    if (!tesela__box_add(&box, sums->extent[c], from[c], to[c])) return false;
  tesela__box_simplify(&box);
  bool moves = false;
  for (int32_t i = 0; i < box.n_loops; i++) moves = moves || box.loop[i].ss != box.loop[i].ds;
  return add_dense_side(method, problem, true, from, bits, limit, threads) &&
         (!moves || tesela__remainders_find(method, plan, &box, limit, threads)) &&
         add_dense_side(method, problem, false, to, bits, limit, threads) &&
         (method->n_passes > 0 || !plan->conversion); /* without a pass no value is converted */
}
