/* SPDX-License-Identifier: Apache-2.0 */
/*
 * finish.c - check a built layout and put its digits in the order that mapping and inverse need.
 *
 *   digit[0 .. n_mapped-1]         with a source, extent not 1: by source, then decreasing step
 *   digit[n_mapped .. n_active-1]  replicas and holes, in the order they were added
 *   digit[n_active .. ]            always 0 and at one place: extent 1, or a hole without a stride
 *   by_place                       the active ones by target, then decreasing |stride|
 *
 * After this every place and every partial sum of an element fits in int64, so mapping adds without checks.
 */
#include "layout/layout.h"

static int digit_class(const tesela_digit *digit) {
  if (digit->extent == 1 || (digit->source == TESELA_HOLE && digit->stride == 0)) return 2;
  return digit->source < 0 ? 1 : 0;
}

/* Order of layout->digit; 0 keeps the order of creation. */
static int digit_order(const tesela_digit *a, const tesela_digit *b) {
  int class_a = digit_class(a), class_b = digit_class(b);
  if (class_a != class_b) return class_a - class_b;
  if (class_a == 1) return 0;
  if (a->source != b->source) return a->source < b->source ? -1 : 1;
  if (a->step != b->step) return a->step > b->step ? -1 : 1;
  return 0;
}

static void sort_digits(tesela_layout *layout) {
  tesela_digit *digit = layout->digit;
  for (int32_t i = 1; i < layout->n_digits; i++) {
    if (digit_order(&digit[i - 1], &digit[i]) <= 0) continue;
    tesela_digit moved = digit[i];
    int32_t k = i;
    for (; k > 0 && digit_order(&digit[k - 1], &moved) > 0; k--) digit[k] = digit[k - 1];
    digit[k] = moved;
  }
  layout->n_mapped = layout->n_active = 0;
  for (int32_t i = 0; i < layout->n_digits; i++) {
    int class = digit_class(&digit[i]);
    layout->n_mapped += class == 0;
    layout->n_active += class <= 1;
  }
}

static uint64_t magnitude(int64_t x) { return x < 0 ? 0 - (uint64_t)x : (uint64_t)x; }

static bool before_in_place(const tesela_layout *layout, int32_t a, int32_t b) {
  const tesela_digit *da = &layout->digit[a], *db = &layout->digit[b];
  int32_t ta = tesela__target(layout, da), tb = tesela__target(layout, db);
  if (ta != tb) return ta < tb;
  return magnitude(da->stride) > magnitude(db->stride);
}

static void sort_by_place(tesela_layout *layout) {
  for (int32_t i = 0; i < layout->n_active; i++) {
    int32_t k = i;
    for (; k > 0 && before_in_place(layout, i, layout->by_place[k - 1]); k--)
      layout->by_place[k] = layout->by_place[k - 1];
    layout->by_place[k] = (uint8_t)i;
  }
}

/* Smallest and largest sum of the digits of one target, and whether their strides nest: then no two of their values
   meet. A broadcast digit (stride 0) of a dim does not count as overlap: the element with value 0 there exists, too.
   For a digit of a join this need not be true. */
typedef struct reach {
  int64_t low, high;
  bool nested, empty;
} reach;

static bool reach_of(const tesela_layout *layout, int32_t target, reach *out) {
  reach r = {0, 0, true, false};
  for (int32_t i = layout->n_active - 1; i >= 0; i--) { /* increasing stride */
    const tesela_digit *digit = &layout->digit[layout->by_place[i]];
    if (tesela__target(layout, digit) != target) continue;
    if (digit->extent == 0) {
      r.empty = true;
      continue;
    }
    int64_t span, below;
    if (!tesela__sub(r.high, r.low, &below)) return false;
    if (!tesela__mul(digit->extent - 1, digit->stride, &span)) return false;
    if (digit->stride == 0 ? digit->source >= layout->rank : magnitude(digit->stride) <= (uint64_t)below)
      r.nested = false;
    if (!tesela__add(span < 0 ? r.low : r.high, span, span < 0 ? &r.low : &r.high)) return false;
  }
  *out = r;
  return true;
}

/* Do values of a target that do not nest share places? */
static void decide(const tesela_layout *layout, int32_t target, const reach *r, bool *overlap,
                   bool *undecided, bool *interleaved) {
  tesela__sharing sharing = TESELA__PLACES_UNIQUE;
  bool nested = r->nested || tesela__is_empty(layout);
  if (!nested) sharing = tesela__places_shared(layout, target);
  *overlap = sharing != TESELA__PLACES_UNIQUE;
  *undecided = sharing == TESELA__PLACES_UNDECIDED;
  *interleaved = !nested && sharing == TESELA__PLACES_UNIQUE;
}

/* Flags of an axis and its highest place before the swizzle; -1 if no element has a place. */
static tesela_status reach_axis(tesela_layout *layout, int32_t a, int64_t *high, tesela_error *err) {
  tesela_axis *axis = &layout->axis[a];
  reach r;
  int64_t low;
  if (!reach_of(layout, a, &r) || !tesela__add(axis->offset, r.low, &low) ||
      !tesela__add(axis->offset, r.high, high) || *high == INT64_MAX)
    return tesela__fail(err, TESELA_E_OVERFLOW, -1, "the places on axis %s do not fit in 64 bits",
                        axis->name);
  decide(layout, a, &r, &axis->overlap, &axis->undecided, &axis->interleaved);
  if (r.empty || tesela__is_empty(layout))
    *high = -1;
  else if (low < 0)
    return tesela__fail(err, TESELA_E_RANGE, -1, "places on axis %s start at %" PRId64 "; expected 0 or more",
                        axis->name, low);
  return TESELA_OK;
}

static tesela_status finish_axes(tesela_layout *layout, tesela_error *err) {
  int64_t plain[TESELA_MAX_AXES];
  for (int32_t a = 0; a < layout->n_axes; a++) {
    tesela_status status = reach_axis(layout, a, &plain[a], err);
    if (status != TESELA_OK) return status;
  }
  for (int32_t a = 0; a < layout->n_axes; a++) {
    tesela_axis *axis = &layout->axis[a];
    int64_t high = plain[a] < 0 ? -1 : tesela__swizzled_high(layout, a, plain);
    if (high == INT64_MAX)
      return tesela__fail(err, TESELA_E_OVERFLOW, -1, "the places on axis %s do not fit in 64 bits",
                          axis->name);
    if (axis->extent < 0) axis->extent = high + 1;
    if (high >= axis->extent)
      return tesela__fail(err, TESELA_E_RANGE, -1,
                          "places on axis %s reach %" PRId64 "; the axis has %" PRId64 " places", axis->name,
                          high, axis->extent);
  }
  return TESELA_OK;
}

static tesela_status finish_join(tesela_layout *layout, int32_t j, tesela_error *err) {
  tesela_join *join = &layout->join[j];
  reach r;
  int64_t low, high;
  if (!reach_of(layout, layout->n_axes + j, &r) || !tesela__add(join->offset, r.low, &low) ||
      !tesela__add(join->offset, r.high, &high))
    return tesela__fail(err, TESELA_E_OVERFLOW, -1, "the values of join %" PRId32 " do not fit in 64 bits",
                        j);
  decide(layout, layout->n_axes + j, &r, &join->overlap, &join->undecided, &join->interleaved);
  if (!r.empty && join->extent > 0 && (low < 0 || high >= join->extent))
    return tesela__fail(err, TESELA_E_RANGE, -1,
                        "join %" PRId32 " has values %" PRId64 " to %" PRId64 "; expected 0 to %" PRId64 "",
                        j, low, high, join->extent - 1);
  return TESELA_OK;
}

static tesela_status check_digits(const tesela_layout *layout, tesela_error *err) {
  int64_t copies = 1;
  for (int32_t i = 0; i < layout->n_digits; i++) {
    const tesela_digit *digit = &layout->digit[i];
    if (digit->axis < 0 && digit->join < 0)
      return tesela__fail(err, TESELA_E_INVALID, -1, "digit %" PRId32 " (extent %" PRId64 ") is not placed",
                          i, digit->extent);
    if (digit->source != TESELA_REPLICA) continue;
    if (digit->extent > 1 && digit->stride == 0)
      return tesela__fail(err, TESELA_E_INVALID, -1, "digit %" PRId32 " is a replica without a stride", i);
    if (!tesela__mul(copies, digit->extent, &copies))
      return tesela__fail(err, TESELA_E_OVERFLOW, -1, "the number of copies does not fit in 64 bits");
  }
  return TESELA_OK;
}

tesela_status tesela_layout_finish(tesela_layout *layout, tesela_error *err) {
  TESELA__NEED(err, layout);
  if (layout->finished) return TESELA_OK;
  tesela_status status = check_digits(layout, err);
  if (status != TESELA_OK) return status;
  sort_digits(layout);
  sort_by_place(layout);
  for (int32_t j = 0; j < layout->n_joins && status == TESELA_OK; j++) status = finish_join(layout, j, err);
  if (status == TESELA_OK) status = finish_axes(layout, err);
  if (status == TESELA_OK) layout->finished = true;
  return status;
}
