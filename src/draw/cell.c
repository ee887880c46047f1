/* SPDX-License-Identifier: Apache-2.0 */
/*
 * cell.c - the text of the cells of a grid and of the indices along its sides, and its width in columns.
 *
 * The place of an element comes from the layout itself (tesela_layout_place_of), so a picture cannot differ from it.
 * The place of padding that no index reaches is the sum over its digits.
 */
#include "draw/scene.h"

#include <stdio.h>

/* ---- the cell ---------------------------------------------------------------------------------------- */

/* The place on each axis, as "17" or "3:1". All places are formatted here. */
static void format_places(const tesela_layout *layout, const int64_t *place, char *text) {
  size_t used = 0;
  for (int32_t a = 0; a < layout->n_axes; a++)
    used += (size_t)snprintf(text + used, TESELA__CELL_TEXT - used, "%s%" PRId64, a > 0 ? ":" : "", place[a]);
}

static int64_t position_of(const tesela__scene *scene, int32_t s, int64_t row, int64_t column) {
  return s == scene->down ? row : s == scene->across ? column : scene->first[s];
}

/* The places of padding that no index reaches, from the digits alone. */
static void sum_places(const tesela__scene *scene, int64_t row, int64_t column, int64_t *place) {
  for (int32_t a = 0; a < scene->layout->n_axes; a++) {
    place[a] = scene->layout->axis[a].offset;
    for (int32_t s = 0; s < scene->n_sides + scene->n_holes; s++)
      place[a] += tesela__side_places(scene, &scene->side[s], position_of(scene, s, row, column), a);
  }
}

void tesela__cell_find(const tesela__scene *scene, int64_t row, int64_t column, tesela__cell *cell) {
  const tesela_layout *layout = scene->layout;
  int64_t index[TESELA_MAX_RANK] = {0}, place[TESELA_MAX_AXES] = {0};
  bool mapped = true;
  *cell = (tesela__cell){false, ""};
  for (int32_t s = 0; s < scene->n_sides + scene->n_holes; s++) {
    const tesela__side *side = &scene->side[s];
    bool valid;
    int64_t value = tesela__side_value(scene, side, position_of(scene, s, row, column), &valid);
    if (!valid) cell->padding = true;
    if (value < 0 || value >= side->mapped) mapped = false;
    if (mapped) tesela__side_index(scene, side, value, index);
  }
  /* fails if a part of a joined value is padding: the index is outside the shape */
  if (mapped) mapped = tesela_layout_place_of(layout, index, place, NULL) == TESELA_OK;
  if (!mapped) sum_places(scene, row, column, place);
  if (mapped || layout->swizzle.n == 0) format_places(layout, place, cell->place);
}

/* ---- widths ------------------------------------------------------------------------------------------ */

/* The most that positions first .. end-1 of a side add to a place: exact for short windows, else an upper bound. */
static int64_t most_places(const tesela__scene *scene, const tesela__side *side, int64_t first, int64_t end,
                           int32_t axis) {
  int64_t most = 0;
  if (end - first > TESELA__SAMPLE) {
    for (int32_t k = 0; k < side->n_digits; k++) {
      const tesela_digit *d = &scene->layout->digit[side->digit[k]];
      if (d->axis == axis && d->stride > 0) most += (d->extent - 1) * d->stride;
    }
    return most;
  }
  for (int64_t at = first; at < end; at++) {
    int64_t places = tesela__side_places(scene, side, at, axis);
    most = at == first ? places : tesela__max(most, places);
  }
  return most;
}

int tesela__cell_columns(const tesela__scene *scene) {
  const tesela_layout *layout = scene->layout;
  int width = layout->n_axes - 1;
  for (int32_t a = 0; a < layout->n_axes; a++) {
    int64_t most = layout->axis[a].offset;
    for (int32_t s = 0; s < scene->n_sides + scene->n_holes; s++)
      most += most_places(scene, &scene->side[s], scene->first[s], scene->end[s], a);
    if (scene->by_index || layout->swizzle.n > 0) most = layout->axis[a].extent - 1;
    width += tesela__columns_of(most);
  }
  return width;
}

/* ---- indices along the sides ------------------------------------------------------------------------- */

int tesela__index_text(const tesela__scene *scene, const tesela__side *side, int64_t position, bool *padding,
                       char text[TESELA__CELL_TEXT]) {
  bool valid;
  int64_t value = tesela__side_value(scene, side, position, &valid), index[TESELA_MAX_RANK];
  int32_t dim[TESELA_MAX_RANK], n = tesela__side_dims(scene, side, dim);
  size_t used = 0;
  text[0] = '\0';
  *padding = !valid;
  if (!valid || n < 2) {
    if (value >= 0) used = (size_t)snprintf(text, TESELA__CELL_TEXT, "%" PRId64, value);
    return (int)used + !valid;
  }
  tesela__side_index(scene, side, value, index);
  for (int32_t k = 0; k < n && used < TESELA__CELL_TEXT; k++)
    used += (size_t)snprintf(text + used, TESELA__CELL_TEXT - used, "%s%" PRId64, k > 0 ? "," : "",
                             index[dim[k]]);
  return (int)used;
}

int tesela__index_columns(const tesela__scene *scene, const tesela__side *side, int64_t first, int64_t end) {
  char text[TESELA__CELL_TEXT];
  bool padding;
  int widest = 0;
  if (end - first > TESELA__SAMPLE) { /* the last element and the last cell have the most digits */
    widest = tesela__index_text(scene, side, tesela__side_elements(scene, side) - 1, &padding, text);
    first = end - 1;
  }
  for (int64_t at = first; at < end; at++) {
    int columns = tesela__index_text(scene, side, at, &padding, text);
    if (columns > widest) widest = columns;
  }
  return widest;
}
