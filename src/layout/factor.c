/* SPDX-License-Identifier: Apache-2.0 */
/*
 * factor.c - the digits of dims from their places: steps and strides, whatever the digits of the layout are.
 *
 *   places 0 1 4 5 12 13 16 17      1: stride 1; element 2 is at 4, not 2; element 4 at 12, not 8
 *                                   digits of steps 1, 2, 4 with strides 1, 4, 12
 *
 * The digits found so far predict all places. The first element with another place starts the next digit: its number is the
 * step, its distance from element 0 the stride. If some greedy split places each digit and all of its values at places of their
 * own, then so do these, and no split has fewer: a step that the prediction has right at its own value is a multiple of the step
 * below, and the two digits are one.
 */
#include "layout/factor.h"

/* Do bits of the copies affect others, or others them? */
static bool factor_copies_turned(const tesela_layout *layout) {
  uint64_t copies = 0, images = 0;
  int32_t low[TESELA_MAX_AXES], n = 0;
  for (int32_t a = 0; a < layout->n_axes; a++) {
    low[a] = n;
    n += layout->swizzle.width[a];
  }
  for (int32_t i = 0; i < layout->n_digits; i++) {
    const tesela_digit *digit = &layout->digit[i];
    if (digit->source != TESELA_REPLICA || digit->extent < 2) continue;
    int32_t width = layout->swizzle.width[digit->axis];
    for (int32_t k = 0; k < width; k++) /* from the lowest bit of the stride up to the reach */
      if (digit->stride % ((int64_t)2 << k) != 0 && digit->stride * (digit->extent - 1) >> k > 0)
        copies |= UINT64_C(1) << (low[digit->axis] + k);
  }
  for (int32_t k = 0; k < n; k++)
    if (copies >> k & 1) images |= layout->swizzle.image[k];
  for (int32_t k = 0; k < n; k++) {
    uint64_t image = layout->swizzle.image[k];
    if (copies >> k & 1 ? (image & (image - 1)) != 0 : (image & images) != 0) return true;
  }
  return false;
}

tesela_status tesela__first_copies(const tesela_layout *layout, tesela_layout *out, bool *turned,
                                   tesela_error *err) {
  tesela_layout first = *layout;
  int32_t n = 0;
  first.finished = false;
  for (int32_t i = 0; i < layout->n_digits; i++) {
    const tesela_digit *digit = &layout->digit[i];
    if (digit->source != TESELA_REPLICA)
      first.digit[n++] = *digit;
    else if (digit->stride < 0)
      first.axis[digit->axis].offset += digit->stride * (digit->extent - 1); /* a place of the layout */
  }
  first.n_digits = n;
  *turned = layout->swizzle.n > 0 && tesela_layout_copies(layout) > 1 && factor_copies_turned(layout);
  tesela_status status = tesela_layout_finish(&first, err);
  if (status == TESELA_OK) *out = first;
  return status;
}

tesela_status tesela__only_dims(const tesela_layout *layout, int32_t n, const int32_t *dims,
                                tesela_layout *out, tesela_error *err) {
  tesela_layout only = *layout;
  int32_t order[TESELA_MAX_RANK], rest = 0;
  uint32_t kept = 0;
  tesela_status status = TESELA_OK;
  for (int32_t k = 0; k < n; k++) kept |= (uint32_t)1 << dims[k];
  for (int32_t d = 0; d < layout->rank && status == TESELA_OK; d++) {
    if (kept >> d & 1) continue;
    order[rest++] = d;
    if (layout->shape[d] > 1) status = tesela_layout_slice(&only, d, 0, 1, 1, &only, err);
  }
  for (int32_t k = 0; k < n; k++) order[rest + k] = dims[k];
  return status == TESELA_OK ? tesela_layout_permute(&only, order, out, err) : status;
}

tesela_status tesela__place_factors(tesela_layout *layout, int32_t digit, const tesela__factors *factors,
                                    tesela_error *err) {
  tesela_status status = TESELA_OK;
  if (factors->n == 0) return tesela_layout_place(layout, digit, 0, 0, err);
  for (int32_t k = factors->n - 1; k >= 0 && status == TESELA_OK; k--) {
    const tesela__factor *factor = &factors->factor[k];
    int32_t low = digit;
    if (k > 0) status = tesela_layout_split(layout, digit, factor->step, &low, err);
    if (status == TESELA_OK) status = tesela_layout_place(layout, digit, factor->axis, factor->stride, err);
    digit = low;
  }
  return status;
}

/* ---- finding them --------------------------------------------------------------------------------------------- */

/* The last n dims of `layout`, joined and split by the factors; the others have extent 1. */
static tesela_status factor_predict(const tesela_layout *layout, int32_t n, const tesela__factors *factors,
                                    tesela_layout *out, tesela_error *err) {
  int32_t dims[TESELA_MAX_RANK], whole = layout->rank - n, axis;
  tesela_status status =
      tesela_layout_begin(out, layout->dtype, layout->bits, layout->rank, layout->shape, err);
  for (int32_t a = 0; a < layout->n_axes && status == TESELA_OK; a++)
    status = tesela_layout_add_axis(out, layout->axis[a].name, &axis, err);
  for (int32_t d = 0; d < layout->rank - n && status == TESELA_OK; d++)
    status = tesela_layout_place(out, d, 0, 0, err);
  for (int32_t k = 0; k < n; k++) dims[k] = layout->rank - n + k;
  if (status == TESELA_OK && n > 1) status = tesela_layout_join(out, n, dims, &whole, err);
  if (status == TESELA_OK) status = tesela__place_factors(out, whole, factors, err);
  return status;
}

/* Compare the prediction with the layout: *at is the number of the first element that differs, or `elements`. */
static tesela_status profile_factor_compare(const tesela_layout *layout, int32_t n,
                                            const tesela__factors *factors, const int64_t *start,
                                            int64_t elements, int64_t *at, tesela_error *err) {
  tesela_layout predicted;
  tesela_difference difference;
  tesela_status status = factor_predict(layout, n, factors, &predicted, err);
  for (int32_t a = 0; a < layout->n_axes && status == TESELA_OK; a++)
    status = tesela_layout_set_axis(&predicted, a, start[a], -1, err);
  if (status == TESELA_OK) status = tesela_layout_finish(&predicted, err);
  if (status == TESELA_OK) status = tesela_layout_compare(layout, &predicted, &difference, err);
  if (status != TESELA_OK) return status;
  *at = elements;
  if (difference.same) return TESELA_OK;
  *at = 0;
  for (int32_t d = layout->rank - n; d < layout->rank; d++)
    *at = *at * layout->shape[d] + difference.index[d];
  return TESELA_OK;
}

/* The same, if the places that the last factor predicts for all elements are far outside the axis: compares up to the first
 * element that is outside for sure. */
static tesela_status factor_compare_window(const tesela_layout *layout, int32_t n,
                                           const tesela__factors *factors, const int64_t *start,
                                           int64_t elements, int64_t *at, tesela_error *err) {
  const tesela__factor *last = &factors->factor[factors->n - 1];
  int64_t values = (layout->axis[last->axis].extent - 1) / tesela__max(last->stride, 1) + 1, window;
  tesela_layout part = *layout;
  if (last->stride == 0 || !tesela__mul(values, last->step, &window) || window >= elements)
    return profile_factor_compare(layout, n, factors, start, elements, at, err);
  tesela_status status = TESELA_OK;
  if (n > 1) { /* the dims are the last ones */
    int64_t shape[TESELA_MAX_RANK];
    for (int32_t d = 0; d < layout->rank - n; d++) shape[d] = 1;
    shape[layout->rank - n] = elements;
    status = tesela_layout_reshape(layout, layout->rank - n + 1, shape, &part, err);
  }
  if (status == TESELA_OK) status = tesela_layout_slice(&part, part.rank - 1, 0, window, 1, &part, err);
  return status == TESELA_OK ? profile_factor_compare(&part, 1, factors, start, window, at, err) : status;
}

/* The next factor, from element `at`. */
static tesela__no_factors profile_factor_add(const tesela_layout *layout, int32_t n, int64_t at,
                                             const int64_t *start, tesela__factors *out) {
  int64_t index[TESELA_MAX_RANK] = {0}, place[TESELA_MAX_AXES], rest = at;
  tesela__factor factor = {.step = at, .axis = -1};
  if (out->n == TESELA__MAX_FACTORS) return TESELA__MANY_FACTORS;
  for (int32_t d = layout->rank - 1; d >= layout->rank - n; d--) {
    index[d] = rest % layout->shape[d];
    rest /= layout->shape[d];
  }
  (void)tesela_layout_place_of(layout, index, place, NULL); /* the element exists */
  for (int32_t a = 0; a < layout->n_axes; a++) {
    if (place[a] < start[a]) return TESELA__BACKWARDS;
    if (place[a] == start[a]) continue;
    if (factor.axis >= 0) return TESELA__TWO_AXES;
    factor.axis = a;
    factor.stride = place[a] - start[a];
  }
  if (factor.axis < 0) factor.axis = 0;
  out->factor[out->n++] = factor;
  return TESELA__HAS_FACTORS;
}

/* Extents, from the number of elements. */
static void factor_extents(tesela__factors *out, int64_t elements) {
  for (int32_t k = 0; k < out->n; k++) {
    int64_t above = k + 1 < out->n ? out->factor[k + 1].step : elements;
    out->factor[k].extent = tesela__ceil_div(above, out->factor[k].step);
  }
}

/* Steps that divide each other, in canonical form: neighbours have different slopes, so these are the digits. */
static bool factor_read(const tesela_layout *layout, int32_t d, tesela__factors *out) {
  tesela_layout form;
  if (layout->swizzle.n > 0 || tesela_layout_canonical(layout, &form, NULL) != TESELA_OK) return false;
  tesela__chain chain = tesela__chain_of(&form, d);
  if (chain.n > TESELA__MAX_FACTORS || !tesela__chain_is_even(&form, chain)) return false;
  for (int32_t k = chain.n - 1; k >= 0; k--) {
    const tesela_digit *digit = &form.digit[chain.first + k];
    if (digit->axis < 0 || digit->stride < 0) return false;
    if (digit->step < layout->shape[d])
      out->factor[out->n++] =
          (tesela__factor){.step = digit->step, .stride = digit->stride, .axis = digit->axis};
  }
  bool whole = out->n > 0 && out->factor[0].step == 1;
  if (!whole) out->n = 0;
  return whole;
}

/* The first step that does not divide `extent`, or is not a multiple of the one before; 0: none. */
static int64_t factor_uneven(const tesela__factors *factors, int64_t extent) {
  for (int32_t k = 1; k < factors->n; k++) {
    int64_t step = factors->factor[k].step;
    if (step % factors->factor[k - 1].step != 0 || extent % step != 0) return step;
  }
  return 0;
}

/* `even`: 0, or stop at a step that does not cut this extent evenly. */
static tesela_status factor_find(const tesela_layout *layout, int32_t n, const int32_t *dims, int64_t even,
                                 tesela__factors *out, tesela__no_factors *why, int64_t *at,
                                 tesela_error *err) {
  tesela_layout only;
  int64_t start[TESELA_MAX_AXES], elements = 1;
  const int64_t zero[TESELA_MAX_RANK] = {0};
  out->n = 0;
  *why = TESELA__HAS_FACTORS;
  for (int32_t k = 0; k < n; k++) elements *= layout->shape[dims[k]];
  if (elements < 2) return TESELA_OK;
  if (n == 1 && factor_read(layout, dims[0], out)) {
    *at = even ? factor_uneven(out, even) : 0;
    if (*at > 0) *why = TESELA__UNEVEN;
    factor_extents(out, elements);
    return TESELA_OK;
  }
  tesela_status status = tesela__only_dims(layout, n, dims, &only, err);
  if (status != TESELA_OK) return status;
  (void)tesela_layout_place_of(&only, zero, start, NULL);
  for (*at = 1; *at < elements && status == TESELA_OK;) {
    *why = profile_factor_add(&only, n, *at, start, out);
    if (*why == TESELA__HAS_FACTORS && even && factor_uneven(out, even) > 0) *why = TESELA__UNEVEN;
    if (*why != TESELA__HAS_FACTORS) return TESELA_OK;
    status = factor_compare_window(&only, n, out, start, elements, at, err);
  }
  factor_extents(out, elements);
  return status;
}

tesela_status tesela__factor_dims(const tesela_layout *layout, int32_t n, const int32_t *dims,
                                  tesela__factors *out, tesela__no_factors *why, int64_t *at,
                                  tesela_error *err) {
  return factor_find(layout, n, dims, 0, out, why, at, err);
}

tesela_status tesela__factor_even(const tesela_layout *layout, int32_t d, int64_t extent,
                                  tesela__factors *out, tesela__no_factors *why, int64_t *at,
                                  tesela_error *err) {
  return factor_find(layout, 1, &d, extent, out, why, at, err);
}
