/* SPDX-License-Identifier: Apache-2.0 */
/*
 * walk.c - all elements in logical order.
 *
 * Inside a run only the finest digit of the innermost dim moves (layout.h does that inline). Between runs the digits of
 * the dims count like an odometer, with additions and comparisons only. If a digit feeds a join, or steps do not divide
 * each other, each run starts with a full mapping instead and ends before a carry.
 */
#include <tesela/layout.h>

#include "layout/layout.h"

/* The number of values of a coordinate, from the current one on, before a digit carries; *stride receives what one step
   adds to the place. */
static int64_t steps_without_carry(const tesela_layout *layout, const int64_t *value, int32_t coordinate,
                                   int64_t *stride) {
  tesela__chain chain = tesela__chain_of(layout, coordinate);
  int64_t rest = value[coordinate], left = tesela__coordinate_extent(layout, coordinate) - rest;
  *stride = 0;
  if (chain.n == 0) return left;
  const tesela_digit *digit = &layout->digit[chain.first];
  for (int32_t k = 0; k + 1 < chain.n; k++, digit++) { /* the last one has step 1 */
    rest %= digit->step;
    left = tesela__min(left, digit->step - rest);
  }
  *stride = digit->stride;
  if (digit->axis >= 0) return left;
  int64_t inner =
      steps_without_carry(layout, value, layout->rank + digit->join, stride); /* joins nest forward only */
  left = digit->stride <= 0 ? 1 : tesela__min(left, (inner - 1) / digit->stride + 1);
  *stride = left > 1 ? *stride * digit->stride : 0; /* 0: no step follows */
  return left;
}

static void walk_run_general(tesela_walk *walk) {
  int64_t value[TESELA__MAX_COORDINATES];
  tesela__map(walk->layout, walk->index, value, &walk->place);
  walk->run = walk->inner < 0 ? 1 : steps_without_carry(walk->layout, value, walk->inner, &walk->stride);
  walk->left = walk->run - 1;
}

static void walk_run(tesela_walk *walk) {
  int32_t d = walk->inner;
  walk->run = 1;
  if (d >= 0) {
    walk->run = walk->layout->shape[d] - walk->index[d];
    if (walk->n[d] > 0) {
      int32_t finest = walk->first[d] + walk->n[d] - 1;
      walk->run = tesela__min(walk->run, walk->layout->digit[finest].extent - walk->count[finest]);
    }
  }
  walk->left = walk->run - 1;
}

/* Count the digits of dim d up by one, finest first; its index has been raised. */
static void raise_digits(tesela_walk *walk, int32_t d) {
  for (int32_t i = walk->first[d] + walk->n[d] - 1; i >= walk->first[d]; i--) {
    const tesela_digit *digit = &walk->layout->digit[i];
    walk->share[d] += digit->stride;
    walk->place += digit->stride;
    if (++walk->count[i] < digit->extent || i == walk->first[d]) return;
    walk->count[i] = 0;
    walk->share[d] -= digit->extent * digit->stride;
    walk->place -= digit->extent * digit->stride;
  }
}

static void reset_dim(tesela_walk *walk, int32_t d) {
  walk->index[d] = 0;
  walk->place -= walk->share[d];
  walk->share[d] = 0;
  for (int32_t i = walk->first[d]; i < walk->first[d] + walk->n[d]; i++) walk->count[i] = 0;
}

void tesela_walk_carry(tesela_walk *walk) {
  int32_t d = walk->inner;
  if (d >= 0 && walk->n[d] > 0) { /* the inline moves of the run */
    walk->count[walk->first[d] + walk->n[d] - 1] += walk->run - 1;
    walk->share[d] += (walk->run - 1) * walk->stride;
  }
  for (; d >= 0; d--) {
    if (walk->index[d] + 1 < walk->layout->shape[d]) {
      walk->index[d]++;
      if (!walk->general) raise_digits(walk, d);
      break;
    }
    if (walk->general)
      walk->index[d] = 0;
    else
      reset_dim(walk, d);
  }
  if (d < 0)
    walk->more = false;
  else if (walk->general)
    walk_run_general(walk);
  else
    walk_run(walk);
}

tesela_status tesela_walk_begin(tesela_walk *walk, const tesela_layout *layout, tesela_error *err) {
  TESELA__NEED(err, walk, layout);
  tesela_status status = tesela__check_plain(layout, false, "walking the elements", err);
  if (status != TESELA_OK) return status;
  walk->layout = layout;
  walk->more = !tesela__is_empty(layout);
  walk->general = layout->n_joins > 0;
  walk->place = layout->axis[0].offset;
  walk->stride = 0;
  walk->inner = -1;
  for (int32_t i = 0; i < layout->n_mapped; i++) walk->count[i] = 0;
  for (int32_t d = 0; d < layout->rank; d++) {
    tesela__chain chain = tesela__chain_of(layout, d);
    walk->first[d] = (uint8_t)chain.first;
    walk->n[d] = (uint8_t)chain.n;
    walk->index[d] = walk->share[d] = 0;
    if (layout->shape[d] > 1) walk->inner = d;
    if (!tesela__chain_is_even(layout, chain)) walk->general = true;
  }
  walk->moving = &walk->index[walk->inner < 0 ? 0 : walk->inner];
  if (walk->inner >= 0 && walk->n[walk->inner] > 0)
    walk->stride = layout->digit[walk->first[walk->inner] + walk->n[walk->inner] - 1].stride;
  if (walk->more && walk->general)
    walk_run_general(walk);
  else
    walk_run(walk);
  return TESELA_OK;
}
