/* SPDX-License-Identifier: Apache-2.0 */
/*
 * xla_lower.c - an XLA shape as a relation: every bound is a digit, every tile level joins and splits digits.
 *
 *   f32[3,5]{1,0:T(2,2)}    digits 3 5  ->  2 3 2 2  ->  row-major on "memory", strides 12 4 2 1
 *
 * A leading one is a hole of extent 1. Its tile makes it a hole of the tile's extent, with only value 0 used, and later
 * levels treat it like any other bound. Comparing relations with and without tiles shows whether tiles change anything.
 */
#include "xla/xla.h"

#include "base/base.h"

/* The bounds as digits of the layout, most major first. */
typedef struct digit_list {
  int32_t n;
  int32_t digit[TESELA_MAX_DIGITS];
} digit_list;

static tesela_status insert_holes(tesela_layout *layout, digit_list *list, int32_t ones, tesela_error *err) {
  list->n += ones;
  for (int32_t i = list->n - 1; i >= ones; i--) list->digit[i] = list->digit[i - ones];
  tesela_status status = TESELA_OK;
  for (int32_t i = 0; i < ones && status == TESELA_OK; i++)
    status = tesela_layout_add_digit(layout, TESELA_HOLE, 1, &list->digit[i], err);
  return status;
}

/* tesela__xla_bounds_join and _split, on digits. */
static tesela_status lower_level(tesela_layout *layout, digit_list *list, const tesela__xla_level *plan,
                                 tesela_error *err) {
  tesela_status status = insert_holes(layout, list, plan->ones, err);
  for (int32_t g = 0; g < plan->n_groups && status == TESELA_OK; g++) {
    const tesela__xla_group *group = &plan->group[g];
    int32_t whole = list->digit[group->first];
    if (group->n > 1) status = tesela_layout_join(layout, group->n, &list->digit[group->first], &whole, err);
    list->digit[plan->untouched + g] = whole;
  }
  list->n = plan->untouched + plan->n_groups;
  for (int32_t g = 0; g < plan->n_groups && status == TESELA_OK; g++)
    status = tesela_layout_split(layout, list->digit[plan->untouched + g], plan->group[g].tile,
                                 &list->digit[list->n + g], err);
  list->n += plan->n_groups;
  return status;
}

tesela_status tesela__xla_lower(const tesela_xla_shape *shape, const int32_t *digit, tesela_layout *layout,
                                tesela_error *err) {
  int64_t elements;
  int32_t memory;
  digit_list list = {.n = shape->rank};
  tesela_status status = tesela__xla_elements(shape, &elements, err);
  for (int32_t p = 0; p < shape->rank; p++) list.digit[p] = digit[tesela_xla_major(&shape->layout, p)];
  for (int32_t k = 0; k < shape->layout.n_tiles && status == TESELA_OK; k++) {
    tesela__xla_level plan;
    tesela__xla_level_of(&shape->layout, k, list.n, &plan);
    status = lower_level(layout, &list, &plan, err);
  }
  if (status == TESELA_OK) status = tesela_layout_add_axis(layout, "memory", &memory, err);
  if (status == TESELA_OK)
    status = tesela_layout_place_row_major(layout, list.n, list.digit, memory, 1, NULL, err);
  if (status == TESELA_OK) status = tesela_layout_set_axis(layout, memory, 0, elements, err);
  return status == TESELA_OK ? tesela_layout_finish(layout, err) : status;
}

tesela_status tesela__xla_layout_begin(const tesela_xla_shape *shape, int32_t rank, const int64_t *extent,
                                       tesela_layout *layout, tesela_error *err) {
  int64_t bits = tesela__xla_bits(shape);
  if (bits > 1024)
    return tesela__fail(err, TESELA_E_RANGE, -1, "E(%" PRId64 "): expected 1 to 1024 bits per element", bits);
  return tesela_layout_begin(layout, shape->dtype, (int32_t)bits, rank, extent, err);
}

tesela_status tesela_xla_to_layout(const tesela_xla_shape *shape, tesela_layout *layout, tesela_error *err) {
  TESELA__NEED(err, shape, layout);
  tesela_layout built;
  int32_t digit[TESELA_MAX_RANK];
  for (int32_t d = 0; d < TESELA_MAX_RANK; d++) digit[d] = d;
  tesela_status status = tesela__xla_check_sized(shape, err);
  if (status == TESELA_OK) status = tesela__xla_layout_begin(shape, shape->rank, shape->dim, &built, err);
  if (status == TESELA_OK) status = tesela__xla_lower(shape, digit, &built, err);
  if (status == TESELA_OK) *layout = built;
  return status;
}

/* ---- do tiles change anything? ---- */

/* Compare a shape with itself without tiles, both without L. */
static tesela_status compare_untiled(const tesela_xla_shape *shape, tesela_difference *difference,
                                     tesela_error *err) {
  tesela_xla_shape plain = *shape;
  tesela_layout tiled, untiled;
  plain.layout.tail = 1;
  tesela_status status = tesela_xla_to_layout(&plain, &tiled, err);
  tesela_xla_clear_tiles(&plain.layout);
  if (status == TESELA_OK) status = tesela_xla_to_layout(&plain, &untiled, err);
  return status == TESELA_OK ? tesela_layout_compare(&tiled, &untiled, difference, err) : status;
}

tesela_status tesela__xla_in_order(const tesela_xla_shape *shape, bool *in_order, tesela_error *err) {
  tesela_difference difference;
  tesela_status status = compare_untiled(shape, &difference, err);
  if (status == TESELA_OK) *in_order = difference.same;
  return status;
}

tesela_status tesela_xla_is_untiled(const tesela_xla_shape *shape, bool *untiled, tesela_error *err) {
  TESELA__NEED(err, shape, untiled);
  tesela_difference difference;
  tesela_status status = compare_untiled(shape, &difference, err);
  if (status == TESELA_OK) *untiled = difference.same && difference.same_extent;
  return status;
}
