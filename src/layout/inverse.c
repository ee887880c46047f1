/* SPDX-License-Identifier: Apache-2.0 */
/*
 * inverse.c - place to element.
 *
 * Split each place by decreasing stride, compute joins from the last to the first, split them into their parts, and compute
 * the dims. A value that no element has, at any point, is padding.
 */
#include <stdio.h>

#include "layout/layout.h"

/* Split `rest` into the digits of a target by decreasing |stride|; q[i] for digit i. False: a gap. */
static bool take_apart(const tesela_layout *layout, int32_t target, int64_t rest, int64_t *q) {
  if (target < layout->n_axes ? layout->axis[target].interleaved
                              : layout->join[target - layout->n_axes].interleaved) {
    for (int32_t i = 0; i < layout->n_active; i++)
      if (tesela__target(layout, &layout->digit[i]) == target) q[i] = 0;
    return tesela__value_at(layout, target, rest, q);
  }
  for (int32_t i = 0; i < layout->n_active; i++) {
    const tesela_digit *digit = &layout->digit[layout->by_place[i]];
    if (digit->stride < 0 && tesela__target(layout, digit) == target)
      rest -= (digit->extent - 1) * digit->stride;
  }
  if (rest < 0) return false;
  for (int32_t i = 0; i < layout->n_active; i++) {
    int32_t number = layout->by_place[i];
    const tesela_digit *digit = &layout->digit[number];
    if (tesela__target(layout, digit) != target) continue;
    q[number] = 0;
    if (digit->stride == 0) continue;
    int64_t size = digit->stride < 0 ? -digit->stride : digit->stride;
    int64_t value = rest / size;
    if (value >= digit->extent) return false;
    rest -= value * size;
    q[number] = digit->stride < 0 ? digit->extent - 1 - value : value;
    if (digit->source == TESELA_HOLE && q[number] != 0) return false;
  }
  return rest == 0;
}

bool tesela__locate(const tesela_layout *layout, const int64_t *place, int64_t *q, int64_t *value) {
  if (tesela__is_empty(layout)) return false; /* and its sizes were not checked against int64 */
  int64_t plain[TESELA_MAX_AXES];
  for (int32_t a = 0; a < layout->n_axes; a++) plain[a] = place[a];
  tesela__unswizzle_places(layout, plain);
  for (int32_t a = 0; a < layout->n_axes; a++)
    if (!take_apart(layout, a, plain[a] - layout->axis[a].offset, q)) return false;
  for (int32_t c = tesela__n_coordinates(layout) - 1; c >= 0; c--) {
    if (!tesela__put_together(layout, c, q, &value[c])) return false;
    int32_t j = c - layout->rank;
    if (j >= 0 && !take_apart(layout, layout->n_axes + j, value[c] - layout->join[j].offset, q)) return false;
  }
  return true;
}

tesela_status tesela__check_place(const tesela_layout *layout, const int64_t *place, tesela_error *err) {
  for (int32_t a = 0; a < layout->n_axes; a++) {
    const tesela_axis *axis = &layout->axis[a];
    if (place[a] >= 0 && place[a] < axis->extent) continue;
    char name[16 + TESELA_AXIS_NAME];
    snprintf(name, sizeof name, "place on axis %s", axis->name);
    return tesela_error_outside(err, -1, name, -1, place[a], 0, axis->extent - 1);
  }
  return TESELA_OK;
}

static tesela_status check_no_overlap(const tesela_layout *layout, tesela_error *err) {
  for (int32_t a = 0; a < layout->n_axes; a++)
    if (layout->axis[a].overlap)
      return tesela__fail(
          err, TESELA_E_UNSUPPORTED, -1,
          layout->axis[a].undecided
              ? "cannot decide whether the strides on axis %s overlap, so a place may hold several elements"
              : "the strides on axis %s overlap, so a place may hold several elements",
          layout->axis[a].name);
  for (int32_t j = 0; j < layout->n_joins; j++)
    if (layout->join[j].overlap)
      return tesela__fail(err, TESELA_E_UNSUPPORTED, -1,
                          layout->join[j].undecided ? "cannot decide whether the parts of join %" PRId32
                                                      " overlap, so a place may hold several elements"
                                                    : "the parts of join %" PRId32
                                                      " overlap, so a place may hold several elements",
                          j);
  return TESELA_OK;
}

tesela_status tesela__check_plain(const tesela_layout *layout, bool unique, const char *what,
                                  tesela_error *err) {
  tesela_status status = tesela__check_finished(layout, err);
  if (status != TESELA_OK) return status;
  if (layout->n_axes != 1)
    return tesela__fail(err, TESELA_E_UNSUPPORTED, -1, "%s needs one axis; the layout has %" PRId32, what,
                        layout->n_axes);
  if (layout->swizzle.n > 0)
    return tesela__fail(err, TESELA_E_UNSUPPORTED, -1, "%s of a swizzled layout is not defined", what);
  if (!unique) return TESELA_OK;
  if (tesela_layout_copies(layout) != 1)
    return tesela__fail(err, TESELA_E_UNSUPPORTED, -1,
                        "%s needs one place per element; the layout has replicas", what);
  return check_no_overlap(layout, err);
}

tesela_status tesela_layout_element_at(const tesela_layout *layout, const int64_t *place, int64_t *index,
                                       bool *padding, tesela_error *err) {
  TESELA__NEED(err, layout, place, padding);
  TESELA__NEED_LIST(err, index, layout->rank);
  tesela_status status = tesela__check_finished(layout, err);
  if (status == TESELA_OK) status = tesela__check_place(layout, place, err);
  if (status == TESELA_OK) status = check_no_overlap(layout, err);
  if (status != TESELA_OK) return status;
  int64_t q[TESELA_MAX_DIGITS], value[TESELA__MAX_COORDINATES];
  *padding = !tesela__locate(layout, place, q, value);
  for (int32_t d = 0; d < layout->rank && !*padding; d++) index[d] = value[d];
  return TESELA_OK;
}

tesela_status tesela_layout_elements(const tesela_layout *layout, int64_t n, const int64_t *places,
                                     int64_t *indices, bool *padding, tesela_error *err) {
  TESELA__NEED(err, layout);
  TESELA__NEED_LIST(err, places, n);
  TESELA__NEED_LIST(err, indices, n > 0 ? layout->rank : 0);
  tesela_status status = tesela__check_finished(layout, err);
  if (status == TESELA_OK) status = check_no_overlap(layout, err);
  if (status != TESELA_OK) return status;
  int64_t q[TESELA_MAX_DIGITS], value[TESELA__MAX_COORDINATES];
  for (int64_t row = 0; row < n; row++) {
    const int64_t *place = places + row * layout->n_axes;
    int64_t *index = indices + row * layout->rank;
    status = tesela__check_place(layout, place, NULL);
    if (status != TESELA_OK) {
      tesela_error inner;
      tesela__check_place(layout, place, &inner);
      return tesela__fail(err, status, -1, "row %" PRId64 ": %s", row, inner.message);
    }
    const bool found = tesela__locate(layout, place, q, value);
    for (int32_t d = 0; d < layout->rank; d++) index[d] = found ? value[d] : -1;
    if (padding) padding[row] = !found;
  }
  return TESELA_OK;
}
