/* SPDX-License-Identifier: Apache-2.0 */
/*
 * build.c - from dims to digits: split, join, shift, place.
 *
 * While a layout is built, digits are entries of layout->digit; a split keeps the high part in the old entry. Splitting
 * a digit of step s by t gives x div (s*t) and (x div s) mod t. This is right for any t, because digits are computed
 * greedily: by decreasing step, each a quotient of the rest of the one before. A part that is always 0 becomes a hole:
 * it has places but does not depend on the coordinate. So the steps of a coordinate strictly decrease. `part_of` of
 * such a hole is its coordinate plus 1, for tesela_layout_padded_extent.
 */
#include "layout/layout.h"

tesela_status tesela_layout_begin(tesela_layout *layout, tesela_dtype dtype, int32_t bits, int32_t rank,
                                  const int64_t *shape, tesela_error *err) {
  TESELA__NEED(err, layout);
  TESELA__NEED_LIST(err, shape, rank);
  if (rank < 0 || rank > TESELA_MAX_RANK)
    return tesela__fail(err, TESELA_E_LIMIT, -1, "rank is %" PRId32 "; expected 0 to %d", rank,
                        TESELA_MAX_RANK);
  if (bits < 1 || bits > 1024)
    return tesela__fail(err, TESELA_E_RANGE, -1, "an element of %" PRId32 " bits; expected 1 to 1024", bits);
  int64_t elements = 1;
  for (int32_t d = 0; d < rank; d++) {
    if (shape[d] < 0)
      return tesela__fail(err, TESELA_E_RANGE, -1, "extent %" PRId64 " of dim %" PRId32 " is negative",
                          shape[d], d);
    if (!tesela__mul(elements, tesela__max(shape[d], 1), &elements))
      return tesela__fail(err, TESELA_E_OVERFLOW, -1, "the number of elements does not fit in 64 bits");
  }
  layout->rank = rank;
  layout->n_digits = rank;
  layout->n_active = layout->n_mapped = 0;
  layout->n_joins = layout->n_axes = 0;
  layout->swizzle = (tesela_bit_matrix){.n = 0};
  layout->bits = bits;
  layout->dtype = dtype;
  layout->finished = false;
  for (int32_t d = 0; d < rank; d++) {
    layout->shape[d] = shape[d];
    layout->digit[d] =
        (tesela_digit){.extent = shape[d], .step = 1, .source = (int16_t)d, .axis = -1, .join = -1};
  }
  return TESELA_OK;
}

tesela_status tesela__check_open(const tesela_layout *layout, tesela_error *err) {
  if (!layout->finished) return TESELA_OK;
  return tesela__fail(err, TESELA_E_INVALID, -1, "the layout is already finished");
}

static tesela_status check_digit(const tesela_layout *layout, int32_t digit, tesela_error *err) {
  tesela_status status = tesela__check_open(layout, err);
  if (status != TESELA_OK) return status;
  if (digit < 0 || digit >= layout->n_digits)
    return tesela__fail(err, TESELA_E_RANGE, -1, "digit %" PRId32 " does not exist; the layout has %" PRId32,
                        digit, layout->n_digits);
  if (layout->digit[digit].axis >= 0 || layout->digit[digit].join >= 0)
    return tesela__fail(err, TESELA_E_INVALID, -1, "digit %" PRId32 " is already placed", digit);
  return TESELA_OK;
}

static tesela_status new_digit(tesela_layout *layout, tesela_digit digit, int32_t *number,
                               tesela_error *err) {
  tesela_status status = tesela__check_open(layout, err);
  if (status != TESELA_OK) return status;
  if (layout->n_digits == TESELA_MAX_DIGITS)
    return tesela__fail(err, TESELA_E_LIMIT, -1, "more than %d digits", TESELA_MAX_DIGITS);
  *number = layout->n_digits;
  layout->digit[layout->n_digits++] = digit;
  return TESELA_OK;
}

/* The limit of the values that reach a digit: the next larger step of its coordinate, or the coordinate's extent. */
static int64_t limit_of(const tesela_layout *layout, const tesela_digit *digit) {
  int64_t limit = tesela__coordinate_extent(layout, digit->source);
  for (int32_t i = 0; i < layout->n_digits; i++) {
    const tesela_digit *other = &layout->digit[i];
    if (other->source == digit->source && other->step > digit->step) limit = tesela__min(limit, other->step);
  }
  return limit;
}

static void make_hole(tesela_digit *digit) {
  digit->part_of = (int16_t)(digit->source + 1);
  digit->source = TESELA_HOLE;
}

tesela_status tesela_layout_split(tesela_layout *layout, int32_t digit, int64_t t, int32_t *lo,
                                  tesela_error *err) {
  TESELA__NEED(err, layout, lo);
  tesela_status status = check_digit(layout, digit, err);
  if (status != TESELA_OK) return status;
  if (t < 1) return tesela__fail(err, TESELA_E_RANGE, -1, "a split by %" PRId64 "; expected 1 or more", t);
  tesela_digit *hi = &layout->digit[digit];
  if (hi->source == TESELA_REPLICA && hi->extent % t != 0)
    return tesela__fail(err, TESELA_E_INVALID, -1,
                        "%" PRId64 " replicas cannot be split by %" PRId64 ": replicas have no padding",
                        hi->extent, t);
  int64_t step, extent = tesela__ceil_div(hi->extent, t), reach;
  if (!tesela__mul(hi->step, t, &step) || !tesela__mul(step, extent, &reach))
    return tesela__fail(err, TESELA_E_OVERFLOW, -1,
                        "padded to a multiple of %" PRId64 ", the extent %" PRId64 " does not fit in 64 bits",
                        t, hi->extent);
  bool counts = hi->source >= 0; /* false: no coordinate limits the digit */
  int64_t limit = counts ? limit_of(layout, hi) : 0;
  tesela_digit low = *hi;
  low.extent = t;
  if (counts && (t == 1 || limit <= hi->step)) make_hole(&low);
  status = new_digit(layout, low, lo, err);
  if (status != TESELA_OK) return status;
  if (counts && limit <= step) make_hole(hi);
  hi->step = step;
  hi->extent = extent;
  return TESELA_OK;
}

tesela_status tesela_layout_join(tesela_layout *layout, int32_t n, const int32_t *digits, int32_t *joined,
                                 tesela_error *err) {
  TESELA__NEED(err, layout, joined);
  TESELA__NEED_LIST(err, digits, n);
  if (n < 1)
    return tesela__fail(err, TESELA_E_RANGE, -1, "a join of %" PRId32 " digits; expected 1 or more", n);
  if (layout->n_joins == TESELA_MAX_JOINS)
    return tesela__fail(err, TESELA_E_LIMIT, -1, "more than %d joins", TESELA_MAX_JOINS);
  int64_t weight = 1;
  int64_t weights[TESELA_MAX_DIGITS];
  for (int32_t i = n - 1; i >= 0; i--) {
    tesela_status status = check_digit(layout, digits[i], err);
    if (status != TESELA_OK) return status;
    if (i >= TESELA_MAX_DIGITS)
      return tesela__fail(err, TESELA_E_LIMIT, -1, "a join of %" PRId32 " digits", n);
    if (layout->digit[digits[i]].source == TESELA_REPLICA)
      return tesela__fail(err, TESELA_E_INVALID, -1, "digit %" PRId32 " is a replica and cannot be joined",
                          digits[i]);
    for (int32_t j = i + 1; j < n; j++)
      if (digits[j] == digits[i])
        return tesela__fail(err, TESELA_E_INVALID, -1, "the join lists digit %" PRId32 " twice", digits[i]);
    weights[i] = weight;
    if (!tesela__mul(weight, layout->digit[digits[i]].extent, &weight))
      return tesela__fail(err, TESELA_E_OVERFLOW, -1, "the joined extent does not fit in 64 bits");
  }
  int16_t join = (int16_t)layout->n_joins;
  tesela_digit whole = {
      .extent = weight, .step = 1, .source = (int16_t)(layout->rank + join), .axis = -1, .join = -1};
  int32_t number = -1; /* *joined may be one of the digits */
  tesela_status status = new_digit(layout, whole, &number, err);
  if (status != TESELA_OK) return status;
  for (int32_t i = 0; i < n; i++) {
    layout->digit[digits[i]].join = join;
    layout->digit[digits[i]].stride = weights[i];
  }
  layout->join[layout->n_joins++] = (tesela_join){.extent = weight, .offset = 0};
  *joined = number;
  return TESELA_OK;
}

tesela_status tesela_layout_shift(tesela_layout *layout, int32_t digit, int64_t offset, int32_t *shifted,
                                  tesela_error *err) {
  TESELA__NEED(err, layout, shifted);
  int32_t join = layout->n_joins;
  int64_t extent;
  tesela_status status = check_digit(layout, digit, err);
  if (status != TESELA_OK) return status;
  if (offset < 0)
    return tesela__fail(err, TESELA_E_RANGE, -1, "an offset of %" PRId64 "; expected 0 or more", offset);
  if (!tesela__add(layout->digit[digit].extent, offset, &extent))
    return tesela__fail(err, TESELA_E_OVERFLOW, -1, "the shifted extent does not fit in 64 bits");
  status = tesela_layout_join(layout, 1, &digit, shifted, err);
  if (status != TESELA_OK) return status;
  layout->join[join] = (tesela_join){.extent = extent, .offset = offset};
  layout->digit[*shifted].extent = extent;
  return TESELA_OK;
}

tesela_status tesela_layout_add_digit(tesela_layout *layout, int32_t kind, int64_t extent, int32_t *digit,
                                      tesela_error *err) {
  TESELA__NEED(err, layout, digit);
  if (kind != TESELA_REPLICA && kind != TESELA_HOLE)
    return tesela__fail(err, TESELA_E_RANGE, -1, "a digit without a source must be a replica or a hole");
  if (extent < 1)
    return tesela__fail(err, TESELA_E_RANGE, -1, "extent %" PRId64 "; expected 1 or more", extent);
  tesela_digit free = {.extent = extent, .step = 1, .source = (int16_t)kind, .axis = -1, .join = -1};
  return new_digit(layout, free, digit, err);
}

tesela_status tesela_layout_add_axis(tesela_layout *layout, const char *name, int32_t *axis,
                                     tesela_error *err) {
  TESELA__NEED(err, layout, name, axis);
  tesela_status status = tesela__check_open(layout, err);
  if (status != TESELA_OK) return status;
  if (layout->n_axes == TESELA_MAX_AXES)
    return tesela__fail(err, TESELA_E_LIMIT, -1, "more than %d axes", TESELA_MAX_AXES);
  size_t length = strlen(name);
  if (length >= TESELA_AXIS_NAME)
    return tesela__fail(err, TESELA_E_LIMIT, -1, "an axis name of %zu bytes; expected at most %d", length,
                        TESELA_AXIS_NAME - 1);
  *axis = layout->n_axes;
  tesela_axis *added = &layout->axis[layout->n_axes++];
  *added = (tesela_axis){.overlap = false, .offset = 0, .extent = -1};
  memcpy(added->name, name, length + 1);
  return TESELA_OK;
}

tesela_status tesela__check_axis(const tesela_layout *layout, int32_t axis, tesela_error *err) {
  tesela_status status = tesela__check_open(layout, err);
  if (status != TESELA_OK) return status;
  if (axis >= 0 && axis < layout->n_axes) return TESELA_OK;
  return tesela__fail(err, TESELA_E_RANGE, -1, "axis %" PRId32 " does not exist; the layout has %" PRId32,
                      axis, layout->n_axes);
}

tesela_status tesela_layout_place(tesela_layout *layout, int32_t digit, int32_t axis, int64_t stride,
                                  tesela_error *err) {
  TESELA__NEED(err, layout);
  tesela_status status = check_digit(layout, digit, err);
  if (status == TESELA_OK) status = tesela__check_axis(layout, axis, err);
  if (status != TESELA_OK) return status;
  layout->digit[digit].axis = (int16_t)axis;
  layout->digit[digit].stride = stride;
  return TESELA_OK;
}

tesela_status tesela_layout_place_row_major(tesela_layout *layout, int32_t n, const int32_t *digits,
                                            int32_t axis, int64_t stride, int64_t *next, tesela_error *err) {
  TESELA__NEED(err, layout);
  TESELA__NEED_LIST(err, digits, n);
  for (int32_t i = n - 1; i >= 0; i--) {
    tesela_status status = tesela_layout_place(layout, digits[i], axis, stride, err);
    if (status != TESELA_OK) return status;
    if (!tesela__mul(stride, tesela__max(layout->digit[digits[i]].extent, 1), &stride))
      return tesela__fail(err, TESELA_E_OVERFLOW, -1, "the number of places does not fit in 64 bits");
  }
  if (next) *next = stride;
  return TESELA_OK;
}

tesela_status tesela_layout_set_axis(tesela_layout *layout, int32_t axis, int64_t offset, int64_t extent,
                                     tesela_error *err) {
  TESELA__NEED(err, layout);
  tesela_status status = tesela__check_axis(layout, axis, err);
  if (status != TESELA_OK) return status;
  if (extent < -1)
    return tesela__fail(err, TESELA_E_RANGE, -1, "an axis of %" PRId64 " places; expected 0 or more, or -1",
                        extent);
  layout->axis[axis].offset = offset;
  layout->axis[axis].extent = extent;
  return TESELA_OK;
}

tesela_status tesela_layout_strided(tesela_layout *layout, tesela_dtype dtype, int32_t bits, int32_t rank,
                                    const int64_t *shape, const int64_t *strides, int64_t offset,
                                    tesela_error *err) {
  TESELA__NEED(err, layout);
  TESELA__NEED_LIST(err, shape, rank);
  int32_t axis, digits[TESELA_MAX_RANK];
  tesela_status status = tesela_layout_begin(layout, dtype, bits, rank, shape, err);
  if (status == TESELA_OK) status = tesela_layout_add_axis(layout, "memory", &axis, err);
  if (status != TESELA_OK) return status;
  for (int32_t d = 0; d < rank; d++) digits[d] = d;
  if (!strides) status = tesela_layout_place_row_major(layout, rank, digits, axis, 1, NULL, err);
  for (int32_t d = 0; strides && d < rank && status == TESELA_OK; d++)
    status = tesela_layout_place(layout, d, axis, strides[d], err);
  if (status == TESELA_OK) status = tesela_layout_set_axis(layout, axis, offset, -1, err);
  return status == TESELA_OK ? tesela_layout_finish(layout, err) : status;
}
