/* SPDX-License-Identifier: Apache-2.0 */
/*
 * draw_view.c - choose the two sides of a picture, and the window of each.
 */
#include "draw/scene.h"

/* ---- the default: the two sides with the smallest strides -------------------------------------------- */

static int64_t smallest_stride(const tesela__scene *scene, const tesela__side *side) {
  int64_t smallest = INT64_MAX;
  for (int32_t k = 0; k < side->n_digits; k++) {
    const tesela_digit *digit = &scene->layout->digit[side->digit[k]];
    if (digit->extent > 1 && digit->stride != INT64_MIN)
      smallest = tesela__min(smallest, digit->stride < 0 ? -digit->stride : digit->stride);
  }
  return smallest;
}

/* The side with the smallest stride, other than `taken`; of equal ones the last. */
static int32_t innermost_side(const tesela__scene *scene, int32_t taken) {
  int32_t best = -1;
  int64_t smallest = 0;
  for (int32_t s = scene->n_sides - 1; s >= 0; s--) {
    int64_t stride = smallest_stride(scene, &scene->side[s]);
    if (s == taken || (best >= 0 && stride >= smallest)) continue;
    best = s;
    smallest = stride;
  }
  return best;
}

static void choose_default(tesela__scene *scene) {
  int32_t one = innermost_side(scene, -1), two = innermost_side(scene, one);
  if (one < 0) return;
  scene->across = one > two ? one : two;
  scene->down = one > two ? two : one;
}

/* A slice cannot select the index of a hole, so holes are drawn only if fewer than two sides are. */
static void choose_holes(tesela__scene *scene) {
  int32_t hole = scene->n_sides + scene->n_holes - 1;
  if (scene->across < 0 && hole >= scene->n_sides) scene->across = hole--;
  if (scene->down < 0 && hole >= scene->n_sides) scene->down = hole;
}

/* ---- the caller's slice ------------------------------------------------------------------------------ */

static tesela_status set_side(tesela__scene *scene, int32_t s, tesela_draw_range range, tesela_error *err) {
  const tesela__side *side = &scene->side[s];
  int64_t cells = side->mapped + (side->extent - tesela__side_position(scene, side, side->mapped - 1) - 1);
  if (range.fixed) {
    if (range.first < 0 || range.first >= side->logical)
      return tesela_error_outside(err, -1, "slice", s, range.first, 0, side->logical - 1);
    scene->first[s] = tesela__side_position(scene, side, range.first);
    scene->end[s] = scene->first[s] + 1;
    return TESELA_OK;
  }
  int64_t end = range.end < 0 ? cells : tesela__min(range.end, cells);
  if (range.first < 0 || range.first >= end)
    return tesela__fail(err, TESELA_E_RANGE, -1,
                        "slice entry %" PRId32 " is an empty range; this side has 0 to %" PRId64
                        ", with padding",
                        s, cells - 1);
  scene->first[s] = tesela__side_position(scene, side, range.first);
  scene->end[s] = end == cells ? side->extent : tesela__side_position(scene, side, end);
  return TESELA_OK;
}

static tesela_status take_slice(tesela__scene *scene, const tesela_draw_options *options, tesela_error *err) {
  if (options->n_slice != scene->n_sides)
    return tesela__fail(err, TESELA_E_MISMATCH, -1,
                        "a slice with %" PRId32 " entries for a picture with %" PRId32 " sides%s",
                        options->n_slice, scene->n_sides,
                        scene->n_sides < scene->layout->rank ? " (joined dims form one)" : "");
  for (int32_t s = 0; s < scene->n_sides; s++) {
    if (!options->slice[s].fixed) {
      if (scene->down >= 0)
        return tesela__fail(err, TESELA_E_INVALID, -1,
                            "the slice leaves more than two sides to draw; entry %" PRId32 " needs an index",
                            s);
      scene->down = scene->across;
      scene->across = s;
    }
    tesela_status status = set_side(scene, s, options->slice[s], err);
    if (status != TESELA_OK) return status;
  }
  return TESELA_OK;
}

/* ---- the scene --------------------------------------------------------------------------------------- */

/* If memory runs down each column of a tile, draw lines between the columns, unless they would be too many. */
static void add_column_lines(tesela__scene *scene) {
  if (scene->down < 0 || scene->across < 0) return;
  tesela__side *down = &scene->side[scene->down], *across = &scene->side[scene->across];
  if (down->n_blocks == 0 || down->n_digits == 0 || across->n_blocks == TESELA__SIDE_LEVELS) return;
  const tesela_digit *last = &scene->layout->digit[down->digit[down->n_digits - 1]];
  int64_t stride = smallest_stride(scene, down);
  if (last->extent > 1 && (last->stride == stride || last->stride == -stride) &&
      stride < smallest_stride(scene, across) &&
      scene->end[scene->across] - scene->first[scene->across] <= TESELA__LEGIBLE)
    across->block[across->n_blocks++] = 1;
}

/* The shape of the elements: the caller's, up to that of the layout. */
static tesela_status choose_shape(const tesela_layout *layout, const tesela_draw_options *options,
                                  const int64_t **shape, tesela_error *err) {
  *shape = options->shape ? options->shape : layout->shape;
  for (int32_t d = 0; d < layout->rank; d++)
    if ((*shape)[d] < 0 || (*shape)[d] > layout->shape[d])
      return tesela__fail(err, TESELA_E_RANGE, -1,
                          "extent %" PRId64 " of dim %" PRId32 "; expected 0 to %" PRId64, (*shape)[d], d,
                          layout->shape[d]);
  return TESELA_OK;
}

tesela_status tesela__scene_make(tesela__scene *scene, const tesela_layout *layout,
                                 const tesela_draw_options *options, tesela_error *err) {
  if (!layout->finished)
    return tesela__fail(err, TESELA_E_INVALID, -1, "the layout is not finished (tesela_layout_finish)");
  const int64_t *shape;
  tesela_status status = choose_shape(layout, options, &shape, err);
  if (status != TESELA_OK) return status;
  if (!tesela__scene_sides(scene, layout, shape, options->tile))
    return tesela__fail(err, TESELA_E_OVERFLOW, -1, "the padded extent of a dim does not fit in 64 bits");
  for (int32_t s = 0; s < scene->n_sides + scene->n_holes; s++) {
    scene->first[s] = 0;
    scene->end[s] = 1;
  }
  if (scene->empty) return TESELA_OK;
  if (options->n_slice > 0) {
    status = take_slice(scene, options, err);
    if (status != TESELA_OK) return status;
  } else {
    choose_default(scene);
  }
  choose_holes(scene);
  for (int32_t s = 0; s < scene->n_sides + scene->n_holes; s++) {
    bool drawn = s == scene->down || s == scene->across;
    if (drawn && (options->n_slice == 0 || s >= scene->n_sides)) scene->end[s] = scene->side[s].extent;
  }
  add_column_lines(scene);
  return TESELA_OK;
}

bool tesela__scene_lacks_padding(const tesela__scene *scene) {
  const tesela_layout *layout = scene->layout;
  int64_t cells = 1, places = 1;
  for (int32_t s = 0; s < scene->n_sides + scene->n_holes; s++) {
    bool drawn = s == scene->down || s == scene->across;
    int64_t extent = drawn ? scene->side[s].extent : scene->side[s].logical; /* one slice per element */
    if (!tesela__mul(cells, extent, &cells)) return false;                   /* too many to compare */
  }
  for (int32_t i = 0; i < layout->n_active; i++)
    if (layout->digit[i].axis >= 0 && layout->digit[i].source != TESELA_REPLICA &&
        !tesela__mul(places, layout->digit[i].extent, &places))
      return true;
  return cells < places;
}
