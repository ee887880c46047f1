/* SPDX-License-Identifier: Apache-2.0 */
/*
 * map.c - element to place and place to element.
 *
 * Forward, in the order of digit[]: split the coordinate by decreasing step, add each quotient times its stride to an
 * axis or to a later join. Backward: split each place by decreasing stride, compute joins from the last to the first,
 * split them into their parts, and compute the dims. A value that no element has, at any point, is padding.
 */
#include <stdio.h>

#include "layout/layout.h"

tesela__chain tesela__chain_of(const tesela_layout *layout, int32_t coordinate) {
  tesela__chain chain = {0, 0};
  while (chain.first < layout->n_mapped && layout->digit[chain.first].source < coordinate) chain.first++;
  while (chain.first + chain.n < layout->n_mapped &&
         layout->digit[chain.first + chain.n].source == coordinate)
    chain.n++;
  return chain;
}

bool tesela__chain_is_even(const tesela_layout *layout, tesela__chain chain) {
  const tesela_digit *digit = &layout->digit[chain.first];
  for (int32_t k = 1; k < chain.n; k++)
    if (digit[k - 1].step % digit[k].step != 0 || digit[k - 1].step / digit[k].step != digit[k].extent)
      return false;
  return true;
}

bool tesela__is_empty(const tesela_layout *layout) {
  for (int32_t d = 0; d < layout->rank; d++)
    if (layout->shape[d] == 0) return true;
  return false;
}

void tesela__map(const tesela_layout *layout, const int64_t *index, int64_t *value, int64_t *place) {
  for (int32_t d = 0; d < layout->rank; d++) value[d] = index[d];
  for (int32_t j = 0; j < layout->n_joins; j++) value[layout->rank + j] = layout->join[j].offset;
  for (int32_t a = 0; a < layout->n_axes; a++) place[a] = layout->axis[a].offset;
  int32_t source = -1;
  int64_t rest = 0;
  for (int32_t i = 0; i < layout->n_mapped; i++) {
    const tesela_digit *digit = &layout->digit[i];
    if (digit->source != source) {
      source = digit->source;
      rest = value[source];
    }
    int64_t q = rest;
    if (digit->step != 1) {
      q = rest / digit->step;
      rest -= q * digit->step;
    } else {
      rest = 0;
    }
    if (digit->axis >= 0)
      place[digit->axis] += q * digit->stride;
    else
      value[layout->rank + digit->join] += q * digit->stride;
  }
}

tesela_status tesela__check_finished(const tesela_layout *layout, tesela_error *err) {
  if (layout->finished) return TESELA_OK;
  return tesela__fail(err, TESELA_E_INVALID, -1, "the layout is not finished (tesela_layout_finish)");
}

tesela_status tesela__check_index(int32_t rank, const int64_t *shape, const int64_t *index,
                                  tesela_error *err) {
  for (int32_t d = 0; d < rank; d++)
    if ((uint64_t)index[d] >= (uint64_t)shape[d]) /* or negative */
      return tesela_error_outside(err, -1, "index", d, index[d], 0, shape[d] - 1);
  return TESELA_OK;
}

/* The place in the usual layout: one axis, no joins, no swizzles. */
static int64_t map_simply(const tesela_layout *layout, const int64_t *index) {
  int64_t place = layout->axis[0].offset, rest = 0;
  int32_t source = -1;
  for (int32_t i = 0; i < layout->n_mapped; i++) {
    const tesela_digit *digit = &layout->digit[i];
    if (digit->source != source) {
      source = digit->source;
      rest = index[source];
    }
    if (digit->step == 1) {
      place += rest * digit->stride;
      rest = 0;
    } else {
      const int64_t q = rest / digit->step;
      place += q * digit->stride;
      rest -= q * digit->step;
    }
  }
  return place;
}

static void map_wholly(const tesela_layout *layout, const int64_t *index, int64_t *place) {
  int64_t value[TESELA__MAX_COORDINATES];
  tesela__map(layout, index, value, place);
  tesela__swizzle_places(layout, place);
}

tesela_status tesela_layout_place_of(const tesela_layout *layout, const int64_t *index, int64_t *place,
                                     tesela_error *err) {
  TESELA__NEED(err, layout, place);
  TESELA__NEED_LIST(err, index, layout->rank);
  tesela_status status = tesela__check_finished(layout, err);
  if (status == TESELA_OK) status = tesela__check_index(layout->rank, layout->shape, index, err);
  if (status != TESELA_OK) return status;
  if (layout->n_axes == 1 && layout->n_joins == 0 && layout->swizzle.n == 0)
    *place = map_simply(layout, index);
  else
    map_wholly(layout, index, place);
  return TESELA_OK;
}

int64_t tesela_layout_copies(const tesela_layout *layout) {
  if (!layout) return 0;
  int64_t copies = 1; /* fits: finish checked it */
  for (int32_t i = layout->n_mapped; i < layout->n_active; i++)
    if (layout->digit[i].source == TESELA_REPLICA) copies *= layout->digit[i].extent;
  return copies;
}

tesela_status tesela_layout_copy_of(const tesela_layout *layout, const int64_t *index, int64_t k,
                                    int64_t *place, tesela_error *err) {
  TESELA__NEED(err, layout, place);
  TESELA__NEED_LIST(err, index, layout->rank);
  int64_t copies = tesela_layout_copies(layout), value[TESELA__MAX_COORDINATES];
  tesela_status status = tesela__check_finished(layout, err);
  if (status == TESELA_OK) status = tesela__check_index(layout->rank, layout->shape, index, err);
  if (status != TESELA_OK) return status;
  if (k < 0 || k >= copies)
    return tesela__fail(err, TESELA_E_RANGE, -1,
                        "copy %" PRId64 " is out of range; the layout has %" PRId64 " copies", k, copies);
  tesela__map(layout, index, value, place);
  for (int32_t i = layout->n_active - 1; i >= layout->n_mapped; i--) {
    const tesela_digit *digit = &layout->digit[i];
    if (digit->source != TESELA_REPLICA) continue;
    place[digit->axis] += k % digit->extent * digit->stride;
    k /= digit->extent;
  }
  tesela__swizzle_places(layout, place);
  return TESELA_OK;
}

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

/* Every partial value must be below the next step. */
bool tesela__put_together(const tesela_layout *layout, int32_t coordinate, const int64_t *q, int64_t *value) {
  tesela__chain chain = tesela__chain_of(layout, coordinate);
  int64_t sum = 0;
  for (int32_t k = chain.n - 1; k >= 0; k--) {
    int32_t i = chain.first + k;
    int64_t limit = k > 0 ? layout->digit[i - 1].step : tesela__coordinate_extent(layout, coordinate);
    sum += q[i] * layout->digit[i].step; /* fits: split checked extent * step, and the rest is below a step */
    if (sum >= limit) return false;
  }
  *value = sum;
  return true;
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
