/* SPDX-License-Identifier: Apache-2.0 */
/*
 * in_place_map.c - find the units of places that stay together, and map their places to the other side.
 *
 * A unit grows from one place by whole digits with the same stride on both sides, as long as everything else is a
 * multiple of it:
 *
 *   f32[1000,512]{1,0:T(8,128)} <- {1,0}   dim 1, step 1: stride 1 on both sides. 128 values: the next step of dst is
 *                                          128, all other strides are multiples of 128, and so is 512
 *
 * A place is mapped to the other side in one of two ways. If the digits of both sides nest, each common digit has a
 * stride on either side: divide by one, multiply by the other. All other places are mapped through the index of the
 * element, which is right for every layout.
 */
#include "relayout/in_place.h"

/* ---- supported layouts ------------------------------------------------------------------------------------ */

/* Has each place at most one element, and each element one place? */
static bool is_one_to_one(const tesela_layout *layout) {
  if (tesela__is_empty(layout)) return true;
  if (layout->axis[0].overlap || tesela_layout_copies(layout) != 1) return false;
  for (int32_t j = 0; j < layout->n_joins; j++)
    if (layout->join[j].overlap) return false;
  for (int32_t i = 0; i < layout->n_mapped; i++)
    if (layout->digit[i].stride == 0) return false;
  for (int32_t d = 0; d < layout->rank; d++)
    if (layout->shape[d] > 1 && tesela__chain_of(layout, d).n == 0) return false;
  return true;
}

bool tesela__in_place_possible(const tesela_layout *dst, const tesela_layout *src) {
  return dst->bits == src->bits && is_one_to_one(dst) && is_one_to_one(src);
}

/* ---- units ------------------------------------------------------------------------------------------------ */

static int64_t absolute(int64_t x) { return x < 0 ? -x : x; }

/* The digit of a layout that may enlarge the unit: neighbours of a dim, `unit` places apart; or NULL. */
static const tesela_digit *next_digit(const tesela_layout *layout, const tesela__place_map *map,
                                      int32_t dim) {
  for (int32_t i = 0; i < layout->n_mapped; i++) {
    const tesela_digit *digit = &layout->digit[i];
    if (digit->source == dim && digit->axis >= 0 && digit->stride == map->unit &&
        digit->step == map->block[dim])
      return digit;
  }
  return NULL;
}

/* The values of `next` that may join the unit without breaking another digit of this side; a divisor of `limit`. */
static int64_t limit_growth(const tesela_layout *layout, const tesela__place_map *map,
                            const tesela_digit *next, int64_t limit) {
  for (int32_t i = 0; i < layout->n_mapped; i++) {
    const tesela_digit *digit = &layout->digit[i];
    if (digit == next) continue;
    bool inside = digit->axis >= 0 && digit->source < layout->rank && digit->step < map->block[digit->source];
    if (inside) continue;
    if (digit->axis >= 0) limit = tesela__gcd(limit, absolute(digit->stride) / map->unit);
    if (digit->source != next->source) continue;
    limit = digit->step % next->step != 0 ? 1 : tesela__gcd(limit, digit->step / next->step);
  }
  return limit;
}

/* Grow the unit along one dim; false if it did not. */
static bool grow_unit(tesela__place_map *map, int32_t dim) {
  const tesela_digit *dst = next_digit(map->dst, map, dim), *src = next_digit(map->src, map, dim);
  if (!dst || !src) return false;
  int64_t limit = map->dst->shape[dim] / map->block[dim]; /* exact: blocks divide the shape */
  limit = tesela__gcd(limit, absolute(map->dst->axis[0].offset - map->src->axis[0].offset) / map->unit);
  limit = limit_growth(map->dst, map, dst, limit);
  limit = limit_growth(map->src, map, src, limit);
  map->unit *= limit;
  map->block[dim] *= limit;
  return limit > 1;
}

static void set_unit(tesela__place_map *map) {
  map->unit = 1;
  for (int32_t d = 0; d < map->dst->rank; d++) map->block[d] = 1;
  if (tesela__is_empty(map->dst) || map->dst->swizzle.n > 0 || map->src->swizzle.n > 0) return;
  for (bool grown = true; grown;) {
    grown = false;
    for (int32_t d = 0; d < map->dst->rank; d++) grown = grow_unit(map, d) || grown;
  }
}

int64_t tesela__unit_places(const tesela_layout *dst, const tesela_layout *src) {
  tesela__place_map map = {.dst = dst, .src = src};
  set_unit(&map);
  return map.unit;
}

int64_t tesela__marks_bytes(const tesela_layout *dst, const tesela_layout *src) {
  if (tesela__is_empty(dst)) return 0;
  return tesela__ceil_div(tesela__ceil_div(dst->axis[0].extent, tesela__unit_places(dst, src)), 8);
}

/* ---- from place to place ---------------------------------------------------------------------------------- */

/* Add the digits of one coordinate. tesela__go needs positive strides, and steps that are multiples of the next, so
 * that only the extent of the coordinate shows padding. False without these. */
static bool add_jumps(tesela__direction *direction, const tesela__problem *problem, int32_t number,
                      bool to_src) {
  const tesela__coordinate *c = &problem->coordinate[number];
  const tesela__digit *digit = &problem->digit[c->first];
  int32_t checked = -1;
  if (c->n > 0 && c->extent % digit[0].step != 0) {
    checked = direction->n_coordinates++;
    direction->extent[checked] = c->extent;
  }
  for (int32_t i = 0; i < c->n; i++) {
    int64_t from = (to_src ? digit[i].ds : digit[i].ss) / problem->dst_bits;
    int64_t to = (to_src ? digit[i].ss : digit[i].ds) / problem->dst_bits;
    int64_t room = tesela__ceil_div(i > 0 ? digit[i - 1].step : c->extent, digit[i].step);
    if (from <= 0 || (i > 0 && digit[i - 1].step % digit[i].step != 0)) return false;
    direction->jump[direction->n++] = (tesela__jump){from, to, room, digit[i].step, checked};
  }
  return true;
}

static void sort_jumps(tesela__direction *direction) {
  for (int32_t i = 1; i < direction->n; i++) {
    tesela__jump jump = direction->jump[i];
    int32_t j = i;
    for (; j > 0 && direction->jump[j - 1].stride < jump.stride; j--)
      direction->jump[j] = direction->jump[j - 1];
    direction->jump[j] = jump;
  }
}

static void set_direction(tesela__direction *direction, const tesela__problem *problem, bool to_src) {
  direction->from = to_src ? problem->dst : problem->src;
  direction->to = to_src ? problem->src : problem->dst;
  direction->from_offset = direction->from->axis[0].offset;
  direction->to_offset = direction->to->axis[0].offset;
  direction->n = direction->n_coordinates = 0;
  direction->by_jumps = !problem->irregular && !direction->from->axis[0].interleaved;
  for (int32_t c = 0; c < problem->n_coordinates && direction->by_jumps; c++)
    direction->by_jumps = add_jumps(direction, problem, c, to_src);
  sort_jumps(direction);
}

void tesela__place_map_set(tesela__place_map *map, const tesela_layout *dst, const tesela_layout *src) {
  tesela__problem problem;
  map->dst = dst;
  map->src = src;
  set_unit(map);
  tesela__problem_set(&problem, dst, src);
  set_direction(&map->to_src, &problem, true);
  set_direction(&map->to_dst, &problem, false);
}

static int64_t go_by_index(const tesela__direction *direction, int64_t place) {
  int64_t index[TESELA_MAX_RANK], other;
  bool padding;
  if (tesela_layout_element_at(direction->from, &place, index, &padding, NULL) != TESELA_OK || padding)
    return -1;
  (void)tesela_layout_place_of(direction->to, index, &other, NULL);
  return other;
}

/* Division by decreasing strides finds the values of the digits, since smaller digits of elements never reach a larger
 * stride. The place has an element if the values are in range, the coordinates are below their extents, and nothing
 * remains. */
int64_t tesela__go(const tesela__direction *direction, int64_t place) {
  if (!direction->by_jumps) return go_by_index(direction, place);
  int64_t value[TESELA_MAX_RANK], rest = place - direction->from_offset, other = direction->to_offset;
  if (rest < 0) return -1;
  for (int32_t c = 0; c < direction->n_coordinates; c++) value[c] = 0;
  for (int32_t i = 0; i < direction->n && rest > 0; i++) {
    const tesela__jump *jump = &direction->jump[i];
    int64_t q = rest / jump->stride;
    if (q >= jump->room) return -1;
    rest -= q * jump->stride;
    other += q * jump->other;
    if (jump->coordinate >= 0) value[jump->coordinate] += q * jump->step;
  }
  for (int32_t c = 0; c < direction->n_coordinates; c++)
    if (value[c] >= direction->extent[c]) return -1;
  return rest == 0 ? other : -1;
}
