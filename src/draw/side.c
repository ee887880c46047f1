/* SPDX-License-Identifier: Apache-2.0 */
/*
 * side.c - the sides of a picture: coordinates as rows of cells, from the digits of the layout.
 *
 * A side is one coordinate. Its digits by decreasing step are a mixed-radix number, the position. For
 * f32[3,5]{1,0:T(2,2)} dim 1 has the digits (step 2, extent 3) (step 1, extent 2): positions 0 to 5, blocks of 2.
 *
 * Dims that are joined whole are one side, the joined coordinate, because tiles pad that one. If a join contains only
 * a part of a dim, no side has both the elements and their padding; then the sides are the dims themselves.
 */
#include "draw/scene.h"

/* ---- the sides --------------------------------------------------------------------------------------- */

/* The join that contains all of dim d, or -1; *partly: some join contains only a part of it. */
static int32_t whole_join_of(const tesela_layout *layout, int32_t d, bool *partly) {
  int32_t join = -1, joined = 0, digits = 0;
  for (int32_t i = 0; i < layout->n_digits; i++) {
    if (layout->digit[i].source != d) continue;
    digits++;
    if (layout->digit[i].join < 0) continue;
    joined++;
    join = layout->digit[i].join;
  }
  *partly = joined > 0 && digits > 1;
  return joined == 1 && digits == 1 ? join : -1;
}

/* Can joined coordinates replace their dims? Only if no join contains a part of a dim, another join, or padding. */
static bool joins_are_whole(const tesela_layout *layout) {
  for (int32_t d = 0; d < layout->rank; d++) {
    bool partly;
    whole_join_of(layout, d, &partly);
    if (partly) return false;
  }
  for (int32_t i = 0; i < layout->n_active; i++)
    if (layout->digit[i].join >= 0 &&
        (layout->digit[i].source >= layout->rank || layout->digit[i].source < 0))
      return false;
  for (int32_t j = 0; j < layout->n_joins; j++)
    if (layout->join[j].offset != 0) return false;
  return true;
}

/* By decreasing step; of equal steps the larger extent first, the order that a split by 1 makes. */
static bool digit_precedes(const tesela_digit *a, const tesela_digit *b) {
  if (a->step != b->step) return a->step > b->step;
  return a->extent > b->extent;
}

static void collect_digits(tesela__side *side, const tesela_layout *layout) {
  for (int32_t i = 0; i < layout->n_digits; i++) {
    if (layout->digit[i].source != side->source) continue;
    int32_t k = side->n_digits++;
    for (; k > 0 && digit_precedes(&layout->digit[i], &layout->digit[side->digit[k - 1]]); k--)
      side->digit[k] = side->digit[k - 1];
    side->digit[k] = (uint8_t)i;
  }
}

static void add_block(tesela__side *side, int64_t size) {
  if (side->n_blocks == TESELA__SIDE_LEVELS) return;
  if (side->n_blocks > 0 && side->block[side->n_blocks - 1] <= size) return;
  side->block[side->n_blocks++] = size;
}

/* Blocks are positions that share their first digits: first all digits with step >= tile, then one digit more
 * per level. False: more positions than int64 counts. */
static bool measure(tesela__side *side, const tesela_layout *layout) {
  int64_t size = 1, tile = side->tile;
  for (int32_t k = side->n_digits - 1; k >= 0; k--)
    if (!tesela__mul(size, layout->digit[side->digit[k]].extent, &size)) return false;
  side->extent = size;
  for (int32_t k = 0; k < side->n_digits && size > 0; k++) {
    const tesela_digit *digit = &layout->digit[side->digit[k]];
    if (size > 1 && (tile < 0 ? k > 0 : digit->step < tile)) add_block(side, size);
    size /= digit->extent;
  }
  if (tile == 1 && side->extent <= TESELA__LEGIBLE) add_block(side, 1);
  return true;
}

/* Positions are the indices of a dim; a block ends where one of its digits carries, joined or not. */
static bool measure_by_index(tesela__side *side, const tesela_layout *layout) {
  int64_t tile = side->tile;
  side->extent = side->mapped;
  if (tile > 1) add_block(side, tile);
  for (int32_t k = 0; k + 1 < side->n_digits; k++) {
    int64_t step = layout->digit[side->digit[k]].step;
    if (step > 1 && (tile < 0 || step < tile)) add_block(side, step);
  }
  side->n_digits = 0;
  return true;
}

static bool add_side(tesela__scene *scene, tesela__side start) {
  tesela__side *side = &scene->side[scene->n_sides++];
  *side = start;
  collect_digits(side, scene->layout);
  return scene->by_index ? measure_by_index(side, scene->layout) : measure(side, scene->layout);
}

/* Sides for the holes with the smallest strides, two at most, the larger stride first. */
static void add_holes(tesela__scene *scene) {
  const tesela_layout *layout = scene->layout;
  for (int32_t i = layout->n_active - 1; i >= 0 && scene->n_holes < 2; i--) {
    int32_t d = layout->by_place[i];
    if (layout->digit[d].source != TESELA_HOLE) continue;
    tesela__side *side = &scene->side[scene->n_sides + scene->n_holes++];
    *side = (tesela__side){
        .source = TESELA_HOLE, .n_digits = 1, .logical = 1, .mapped = 1, .extent = layout->digit[d].extent};
    side->digit[0] = (uint8_t)d;
  }
  if (scene->n_holes < 2) return;
  tesela__side inner = scene->side[scene->n_sides];
  scene->side[scene->n_sides] = scene->side[scene->n_sides + 1];
  scene->side[scene->n_sides + 1] = inner;
}

/* One more than the largest joined value of an element. */
static int64_t joined_elements(const tesela__scene *scene, int32_t join) {
  const tesela_layout *layout = scene->layout;
  int64_t last = 0;
  for (int32_t i = 0; i < layout->n_digits; i++)
    if (layout->digit[i].join == join && layout->digit[i].source >= 0)
      last += (scene->shape[layout->digit[i].source] - 1) * layout->digit[i].stride;
  return last + 1;
}

/* The tile of joined dims; -1 if theirs differ. */
static int64_t joined_tile(const tesela_layout *layout, int32_t join, const int64_t *tile) {
  int64_t found = 0;
  for (int32_t i = 0; i < layout->n_digits; i++) {
    if (layout->digit[i].join != join || layout->digit[i].source < 0) continue;
    if (found != 0 && tile[layout->digit[i].source] != found) return -1;
    found = tile[layout->digit[i].source];
  }
  return found;
}

bool tesela__scene_sides(tesela__scene *scene, const tesela_layout *layout, const int64_t *shape,
                         const int64_t *tile) {
  scene->layout = layout;
  scene->shape = shape;
  scene->by_index = !joins_are_whole(layout);
  scene->empty = false;
  scene->n_sides = scene->n_holes = 0;
  scene->down = scene->across = -1;
  uint64_t seen = 0;
  for (int32_t d = 0; d < layout->rank; d++) {
    bool partly;
    int32_t join = scene->by_index ? -1 : whole_join_of(layout, d, &partly);
    if (shape[d] == 0) scene->empty = true;
    tesela__side side = {.source = d, .logical = shape[d], .mapped = layout->shape[d]};
    side.tile = tile ? tile[d] : -1;
    if (join >= 0) {
      side.source = layout->rank + join;
      side.logical = joined_elements(scene, join);
      side.mapped = layout->join[join].extent;
      if (tile) side.tile = joined_tile(layout, join, tile);
    }
    bool known = join >= 0 && (seen >> join & 1);
    if (!known && !add_side(scene, side)) return false;
    if (join >= 0) seen |= (uint64_t)1 << join;
  }
  if (!scene->by_index) add_holes(scene);
  return true;
}

/* ---- positions and values ---------------------------------------------------------------------------- */

/* Is every part of a joined value inside the shape? */
static bool is_element(const tesela__scene *scene, const tesela__side *side, int64_t value) {
  int64_t index[TESELA_MAX_RANK];
  int32_t dim[TESELA_MAX_RANK];
  if (side->source < scene->layout->rank) return true;
  int32_t n = tesela__side_dims(scene, side, dim);
  tesela__side_index(scene, side, value, index);
  for (int32_t k = 0; k < n; k++)
    if (index[dim[k]] >= scene->shape[dim[k]]) return false;
  return true;
}

/* Is there only one tile? Then no digit counts tiles, and a value beyond the tile is not an index. */
static bool in_lone_tile(const tesela__scene *scene, const tesela__side *side) {
  return side->n_digits > 0 && side->tile > 0 && side->source >= 0 && side->source < scene->layout->rank &&
         scene->layout->digit[side->digit[0]].step < side->tile;
}

int64_t tesela__side_value(const tesela__scene *scene, const tesela__side *side, int64_t position,
                           bool *valid) {
  int64_t value = position;
  if (side->n_digits > 0 && side->source != TESELA_HOLE) {
    value = 0;
    for (int32_t k = side->n_digits - 1; k >= 0; k--) {
      const tesela_digit *d = &scene->layout->digit[side->digit[k]];
      *valid = k + 1 == side->n_digits || value < scene->layout->digit[side->digit[k]].step;
      if (!*valid) return -1; /* no index has these digits: the lower ones reach the next step */
      value += (k > 0 ? position % d->extent : position) * d->step; /* fits: split checked step * extent */
      position /= d->extent;
    }
  }
  if (in_lone_tile(scene, side) && value >= side->tile) {
    *valid = false;
    return -1;
  }
  *valid = value < side->logical && is_element(scene, side, value);
  return value;
}

int64_t tesela__side_elements(const tesela__scene *scene, const tesela__side *side) {
  return tesela__side_position(scene, side, side->logical - 1) + 1;
}

int64_t tesela__side_position(const tesela__scene *scene, const tesela__side *side, int64_t value) {
  if (side->n_digits == 0 || side->source == TESELA_HOLE) return value;
  int64_t beyond = value >= side->mapped ? value - side->mapped + 1 : 0;
  int64_t position = 0, rest = value - beyond;
  for (int32_t k = 0; k < side->n_digits; k++) {
    const tesela_digit *d = &scene->layout->digit[side->digit[k]];
    position = position * d->extent + rest / d->step;
    rest %= d->step;
  }
  return position + beyond;
}

int64_t tesela__side_places(const tesela__scene *scene, const tesela__side *side, int64_t position,
                            int32_t axis) {
  int64_t places = 0;
  for (int32_t k = side->n_digits - 1; k >= 0; k--) {
    const tesela_digit *d = &scene->layout->digit[side->digit[k]];
    int64_t q = k > 0 ? position % d->extent : position;
    if (d->axis == axis) places += q * d->stride; /* fits: tesela_layout_finish checked the whole reach */
    if (k > 0) position /= d->extent;
  }
  return places;
}

bool tesela__side_has_padding(const tesela__scene *scene, const tesela__side *side, int64_t first,
                              int64_t end) {
  bool valid;
  int64_t elements = tesela__side_elements(scene, side);
  if (end - first > TESELA__SAMPLE) return end > elements || elements > side->logical;
  for (int64_t at = first; at < end; at++) {
    tesela__side_value(scene, side, at, &valid);
    if (!valid) return true;
  }
  return false;
}

int tesela__side_line(const tesela__side *side, int64_t position) {
  if (position <= 0 || position >= side->extent) return TESELA__LINE_NONE;
  for (int32_t k = 0; k < side->n_blocks; k++)
    if (position % side->block[k] == 0)
      return k == 0 ? TESELA__LINE_HEAVY : k == 1 ? TESELA__LINE_LIGHT : TESELA__LINE_DASHED;
  return TESELA__LINE_NONE;
}

/* ---- dims and indices -------------------------------------------------------------------------------- */

int32_t tesela__side_dims(const tesela__scene *scene, const tesela__side *side,
                          int32_t dim[TESELA_MAX_RANK]) {
  const tesela_layout *layout = scene->layout;
  int64_t weight[TESELA_MAX_RANK];
  int32_t n = 0;
  if (side->source < 0) return 0;
  if (side->source < layout->rank) {
    dim[0] = side->source;
    return 1;
  }
  for (int32_t i = 0; i < layout->n_digits; i++) {
    const tesela_digit *part = &layout->digit[i];
    if (part->join != side->source - layout->rank || part->source < 0) continue;
    int32_t k = n++;
    for (; k > 0 && weight[k - 1] < part->stride; k--) {
      dim[k] = dim[k - 1];
      weight[k] = weight[k - 1];
    }
    dim[k] = part->source;
    weight[k] = part->stride;
  }
  return n;
}

void tesela__side_index(const tesela__scene *scene, const tesela__side *side, int64_t value, int64_t *index) {
  const tesela_layout *layout = scene->layout;
  if (side->source < 0) return;
  if (side->source < layout->rank) {
    index[side->source] = value;
    return;
  }
  for (int32_t i = 0; i < layout->n_digits; i++) {
    const tesela_digit *part = &layout->digit[i];
    if (part->join == side->source - layout->rank && part->source >= 0)
      index[part->source] = value / part->stride % part->extent;
  }
}
