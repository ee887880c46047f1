/* SPDX-License-Identifier: Apache-2.0 */
/*
 * view_lane.c - the dim whose index is the lane, and the relation of an operand to the sticks of an iteration.
 *
 * The lane is place mod lanes, a sum over digits mod lanes. A join's value is the sum of its digits times their steps,
 * so the join is linear mod lanes if each digit's stride is its step times the stride of the last digit (mod lanes). If
 * all joins are linear, the lane is a sum over the digits of the view's own dims. An index that is the step of a digit
 * makes this digit 1 and the others 0. So a dim leaves the lane unchanged if and only if all its digits add 0, and
 * moves it with its index if and only if each digit adds its step:
 *
 *   col = 40 + j in sticks of 64: a join with steps 64, 1 and strides 384, 1: mod 64 it is 40 + j: offset 40
 *
 * Otherwise the lane is another function. If a join is not linear (rows of 100 in sticks of 64, from any element on),
 * samples and the comparison of layouts decide.
 */
#include "device/view.h"

bool tesela__view_sticks_aligned(const tesela_device_layout *base) {
  int64_t next = 1;
  for (int32_t j = base->n_dims - 1; j >= 0; j--) {
    const tesela_device_dim *d = &base->dim[j];
    if (d->extent <= 1) continue;
    if (j < base->n_dims - base->stick_dims) {
      if (d->stride % base->lanes != 0) return false;
    } else {
      if (d->stride != next) return false;
      next *= d->extent; /* at most lanes */
    }
  }
  return next == base->lanes;
}

/* ---- the lane as a sum ------------------------------------------------------------------------------------- */

static int64_t dview_modulo(int64_t x, int64_t n) { return x % n < 0 ? x % n + n : x % n; }

/* The part of each digit with a source in the lane, and the lane of index 0; false: a join is not linear. lanes is at
   most 2^23, so products fit. */
static bool dview_lane_sum(const tesela_layout *places, int64_t lanes, int64_t *adds, int64_t *constant) {
  int64_t slope[TESELA_MAX_JOINS];
  *constant = dview_modulo(places->axis[0].offset, lanes);
  for (int32_t c = tesela__n_coordinates(places) - 1; c >= 0; c--) { /* parts come from earlier coordinates */
    tesela__chain chain = tesela__chain_of(places, c);
    for (int32_t i = chain.first; i < chain.first + chain.n; i++) {
      const tesela_digit *digit = &places->digit[i];
      int64_t factor = digit->axis >= 0 ? 1 : slope[digit->join];
      adds[i] = dview_modulo(digit->stride, lanes) * factor % lanes;
    }
    if (c < places->rank) continue;
    int32_t last = chain.first + chain.n - 1;
    int64_t *own = &slope[c - places->rank];
    *own = chain.n ? adds[last] : 0;
    if (chain.n && places->digit[last].step != 1) return false;
    for (int32_t i = chain.first; i < last; i++)
      if (adds[i] != dview_modulo(places->digit[i].step, lanes) * *own % lanes) return false;
    *constant = (*constant + dview_modulo(places->join[c - places->rank].offset, lanes) * *own) % lanes;
  }
  return true;
}

/* A dim's part of the lane: 0 nothing, 1 its index, 2 anything else. */
static int dview_dim_in_lane(const tesela_layout *places, int64_t lanes, const int64_t *adds, int32_t dim) {
  tesela__chain chain = tesela__chain_of(places, dim);
  bool nothing = true, index = true;
  if (places->shape[dim] <= 1) return 0;
  if (chain.n == 0) return 0;
  for (int32_t i = chain.first; i < chain.first + chain.n; i++) {
    nothing = nothing && adds[i] == 0;
    index = index && adds[i] == dview_modulo(places->digit[i].step, lanes);
  }
  return nothing ? 0 : index ? 1 : 2;
}

static tesela_lane dview_verdict(int64_t constant, int32_t in_lane, int32_t *dim, int64_t *offset) {
  *dim = in_lane;
  *offset = constant;
  return constant == 0 ? TESELA_LANE_CLEAN : TESELA_LANE_OFFSET;
}

/* A join is not linear: the neighbours of index 0 leave one candidate, which is checked. */
static tesela_lane dview_lane_tried(const tesela_layout *places, int64_t lanes, int32_t *dim,
                                    int64_t *offset) {
  int64_t index[TESELA_MAX_RANK] = {0}, first, place;
  int32_t candidate = -1, moving = 0;
  if (tesela_layout_place_of(places, index, &first, NULL) != TESELA_OK) return TESELA_LANE_UNKNOWN;
  for (int32_t d = 0; d < places->rank; d++) {
    if (places->shape[d] <= 1) continue;
    index[d] = 1;
    (void)tesela_layout_place_of(places, index, &place, NULL); /* in range */
    index[d] = 0;
    int64_t moved = dview_modulo(place - first, lanes);
    if (moved == 0) continue;
    if (moved != 1 || moving++) return TESELA_LANE_MIXED;
    candidate = d;
  }
  switch (tesela__view_lane_is(places, lanes, candidate, first % lanes)) {
  case TESELA__VIEW_YES:
    return dview_verdict(first % lanes, candidate, dim, offset);
  case TESELA__VIEW_NO:
    return TESELA_LANE_MIXED;
  default:
    return TESELA_LANE_UNKNOWN;
  }
}

tesela_lane tesela__view_lane(const tesela_layout *places, int64_t lanes, int32_t *dim, int64_t *offset) {
  int64_t adds[TESELA_MAX_DIGITS], constant;
  int32_t in_lane = -1;
  *dim = -1;
  *offset = 0;
  if (lanes == 1 || tesela__is_empty(places)) return TESELA_LANE_CLEAN;
  if (!dview_lane_sum(places, lanes, adds, &constant)) return dview_lane_tried(places, lanes, dim, offset);
  for (int32_t d = 0; d < places->rank; d++) {
    int part = dview_dim_in_lane(places, lanes, adds, d);
    if (part == 2 || (part == 1 && in_lane >= 0)) return TESELA_LANE_MIXED;
    if (part == 1) in_lane = d;
  }
  return dview_verdict(constant, in_lane, dim, offset);
}

/* ---- agreement --------------------------------------------------------------------------------------------- */

/* tesela__view_steady for a dim whose digits are not in joins. Below the lowest digit whose stride is not slope * step,
 * the dim adds slope * index. At index = step of that digit it adds the digit's stride, so the answer is "no" unless
 * the step is a multiple of r. Higher digits whose steps are multiples of r do not depend on index mod r. */
static tesela__view_answer dview_steady_digits(const tesela_layout *places, int32_t dim, int64_t r,
                                               int64_t slope) {
  tesela__chain chain = tesela__chain_of(places, dim);
  bool linear = true;
  if (places->shape[dim] <= 1 || r == 1) return TESELA__VIEW_YES;
  if (chain.n == 0) return slope == 0 ? TESELA__VIEW_YES : TESELA__VIEW_NO;
  for (int32_t i = chain.first + chain.n - 1; i >= chain.first; i--) {
    const tesela_digit *digit = &places->digit[i];
    if (digit->axis < 0) return TESELA__VIEW_UNDECIDED;
    if (linear && digit->stride == slope * digit->step) continue;
    if (digit->step % r != 0) return linear ? TESELA__VIEW_NO : TESELA__VIEW_UNDECIDED;
    linear = false;
  }
  return TESELA__VIEW_YES;
}

static tesela__view_answer dview_steady(const tesela_layout *places, int32_t dim, int64_t r, int64_t slope) {
  tesela__view_answer answer = dview_steady_digits(places, dim, r, slope);
  return answer == TESELA__VIEW_UNDECIDED ? tesela__view_steady(places, dim, r, slope) : answer;
}

tesela_agreement tesela_device_view_agrees(const tesela_device_view *view, const tesela_device_layout *base,
                                           int32_t dim, int64_t lanes) {
  if (!view || !base) return TESELA_AGREE_UNKNOWN;
  const tesela_layout *places = &view->layout;
  bool zero = view->lane == TESELA_LANE_CLEAN && view->lane_dim < 0;
  if (dim == TESELA_STICK_SPARSE && view->lane != TESELA_LANE_UNKNOWN)
    return zero ? TESELA_AGREE_BROADCAST : TESELA_AGREE_NOT;
  if (dim < 0 || dim >= places->rank || lanes < 1)
    return dim == TESELA_STICK_SPARSE ? TESELA_AGREE_UNKNOWN : TESELA_AGREE_NOT;
  if (tesela__is_empty(places)) return TESELA_AGREE_ALIGNED;
  if (view->lane == TESELA_LANE_UNKNOWN) return TESELA_AGREE_UNKNOWN;
  bool moves = view->lane == TESELA_LANE_CLEAN && view->lane_dim == dim;
  if (moves || (zero && (places->shape[dim] <= 1 || base->lanes == 1))) {
    tesela__view_answer answer = dview_steady(places, dim, base->lanes, 1);
    if (answer == TESELA__VIEW_YES) return TESELA_AGREE_ALIGNED;
    if (moves) return answer == TESELA__VIEW_NO ? TESELA_AGREE_NOT : TESELA_AGREE_UNKNOWN;
  }
  if (!zero) return TESELA_AGREE_NOT;
  switch (dview_steady(places, dim, lanes, 0)) {
  case TESELA__VIEW_YES:
    return TESELA_AGREE_BROADCAST;
  case TESELA__VIEW_NO:
    return TESELA_AGREE_NOT;
  default:
    return TESELA_AGREE_UNKNOWN;
  }
}
