/* SPDX-License-Identifier: Apache-2.0 */
/*
 * map.c - element to place.
 *
 * In the order of digit[]: split the coordinate by decreasing step, add each quotient times its stride to an axis or to a
 * later join.
 */
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
