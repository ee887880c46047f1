/* SPDX-License-Identifier: Apache-2.0 */
/*
 * grid.c - the grid: two sides of a layout, a place in each cell.
 *
 * Rows are chosen first, by number: they give the width of row indices and cells, and so the number of columns that
 * fit.
 */
#include "draw/scene.h"

/* Replaces an absent side: one cell. */
static const tesela__side no_side = {.source = TESELA_HOLE, .logical = 1, .mapped = 1, .extent = 1};

typedef struct tesela__grid {
  tesela__scene scene;
  const tesela__side *down, *across;
  bool marks; /* the window has padding: one more column of text for the dot */
  int head;   /* columns of text of the row indices; 0: no row indices */
  int cell;   /* columns of text per cell, including the leading blank */
  tesela__pick rows, columns;
  tesela__track down_track, across_track;
} tesela__grid;

/* ---- choosing ---------------------------------------------------------------------------------------- */

/* Side s and its window; s < 0: one cell. */
static const tesela__side *side_at(const tesela__scene *scene, int32_t s, int64_t *first, int64_t *end) {
  *first = s < 0 ? 0 : scene->first[s];
  *end = s < 0 ? 1 : scene->end[s];
  return s < 0 ? &no_side : &scene->side[s];
}

static void fit_rows(tesela__grid *grid, const tesela_draw_options *options) {
  const tesela__scene *scene = &grid->scene;
  int64_t first, end;
  grid->down = side_at(scene, scene->down, &first, &end);
  int32_t rows = options->max_rows > 0 ? options->max_rows : TESELA__DEFAULT_ROWS;
  tesela__pick_make(&grid->rows, grid->down, first, end, tesela__side_elements(scene, grid->down),
                    (tesela__budget){.cell = 1, .all = rows});
  grid->head = scene->down < 0 ? 0 : tesela__index_columns(scene, grid->down, first, end);
  grid->marks = tesela__side_has_padding(scene, grid->down, first, end);
}

static void fit_columns(tesela__grid *grid, const tesela_draw_options *options) {
  const tesela__scene *scene = &grid->scene;
  int64_t first, end;
  grid->across = side_at(scene, scene->across, &first, &end);
  int32_t width = options->width > 0 ? options->width : TESELA__DEFAULT_WIDTH;
  if (tesela__side_has_padding(scene, grid->across, first, end)) grid->marks = true;
  int index = tesela__index_columns(scene, grid->across, first, end);
  int place = tesela__cell_columns(scene) + grid->marks;
  grid->cell = 1 + (place > index ? place : index);
  int outside = grid->head + 4; /* a blank, the left line, a blank and the right line */
  tesela__pick_make(&grid->columns, grid->across, first, end, tesela__side_elements(scene, grid->across),
                    (tesela__budget){grid->cell, 2, TESELA__GAP, width - outside});
}

static tesela_status grid_make(tesela__grid *grid, const tesela_layout *layout,
                               const tesela_draw_options *options, tesela_error *err) {
  tesela_status status = tesela__scene_make(&grid->scene, layout, options, err);
  if (status != TESELA_OK || grid->scene.empty) return status;
  fit_rows(grid, options);
  fit_columns(grid, options);
  tesela__track_make(&grid->down_track, grid->down, &grid->rows);
  tesela__track_make(&grid->across_track, grid->across, &grid->columns);
  return TESELA_OK;
}

/* ---- painting ---------------------------------------------------------------------------------------- */

/* Neighbouring tiles have different colours, in both directions. */
static const char *const tile_colors[4] = {"\033[36m", "\033[35m", "\033[32m", "\033[33m"};

static const char *color_of(const tesela__grid *grid, int64_t row, int64_t column, bool padding) {
  if (padding) return "\033[2m";
  if (grid->down->n_blocks == 0 && grid->across->n_blocks == 0) return "";
  int64_t tile_row = grid->down->n_blocks > 0 ? row / grid->down->block[0] : 0;
  int64_t tile_column = grid->across->n_blocks > 0 ? column / grid->across->block[0] : 0;
  return tile_colors[(tile_row % 2 * 2 + tile_column) % 4];
}

static void put_text(const tesela__brush *brush, int columns, bool padding, const char *text,
                     const char *color) {
  tesela__put_blanks(brush->to, columns - (int)strlen(text) - padding);
  if (brush->color) tesela__puts(brush->to, color);
  if (padding) tesela__puts(brush->to, tesela__brush_dot(brush));
  tesela__puts(brush->to, text);
  if (brush->color && color[0]) tesela__puts(brush->to, "\033[0m");
}

static void put_column_indices(const tesela__grid *grid, const tesela__brush *brush) {
  char text[TESELA__CELL_TEXT];
  bool padding;
  int64_t blanks = grid->head > 0 ? grid->head + 1 : 0; /* pending: a line must not end in blanks */
  for (int32_t i = 0; i + 1 < grid->across_track.n; i++) {
    const tesela__slot *slot = &grid->across_track.slot[i];
    if (slot->kind == TESELA__SLOT_LINE) blanks += i == 0 ? 1 : 2;
    if (slot->kind == TESELA__SLOT_LINE) continue;
    tesela__put_blanks(brush->to, blanks);
    blanks = 0;
    if (slot->kind == TESELA__SLOT_GAP) {
      tesela__puts(brush->to, tesela__brush_gap(brush));
    } else {
      tesela__index_text(&grid->scene, grid->across, slot->position, &padding, text);
      put_text(brush, grid->cell, padding, text, padding ? "\033[2m" : "");
    }
  }
  tesela__putc(brush->to, '\n');
}

/* One row of cells, or of ellipses for the omitted rows. */
static void put_row(const tesela__grid *grid, const tesela__brush *brush, const tesela__slot *row) {
  bool left_out = row->kind == TESELA__SLOT_GAP;
  tesela__cell cell;
  for (int32_t i = 0; i < grid->across_track.n; i++) {
    const tesela__slot *slot = &grid->across_track.slot[i];
    if (slot->kind == TESELA__SLOT_LINE) {
      if (i > 0) tesela__putc(brush->to, ' ');
      tesela__brush_upright(brush, slot->weight);
    } else if (slot->kind == TESELA__SLOT_GAP || left_out) {
      if (slot->kind == TESELA__SLOT_CELL) tesela__put_blanks(brush->to, grid->cell - TESELA__GAP);
      tesela__puts(brush->to, tesela__brush_gap(brush));
    } else {
      tesela__cell_find(&grid->scene, row->position, slot->position, &cell);
      put_text(brush, grid->cell, cell.padding, cell.place,
               color_of(grid, row->position, slot->position, cell.padding));
    }
  }
  tesela__putc(brush->to, '\n');
}

static void put_rows(const tesela__grid *grid, const tesela__brush *brush) {
  char text[TESELA__CELL_TEXT];
  bool padding;
  for (int32_t i = 0; i < grid->down_track.n; i++) {
    const tesela__slot *slot = &grid->down_track.slot[i];
    if (slot->kind == TESELA__SLOT_CELL && grid->head > 0) {
      tesela__index_text(&grid->scene, grid->down, slot->position, &padding, text);
      put_text(brush, grid->head, padding, text, padding ? "\033[2m" : "");
    } else {
      tesela__put_blanks(brush->to, grid->head);
    }
    if (grid->head > 0) tesela__putc(brush->to, ' ');
    if (slot->kind != TESELA__SLOT_LINE) {
      put_row(grid, brush, slot);
      continue;
    }
    int row = i == 0 ? -1 : i + 1 == grid->down_track.n ? 1 : 0;
    tesela__brush_rule(brush, &grid->across_track, row, slot->weight);
    tesela__putc(brush->to, '\n');
  }
}

/* ---- the interface ----------------------------------------------------------------------------------- */

static const tesela_draw_options draw_defaults;

tesela_status tesela_draw_grid(const tesela_layout *layout, const tesela_draw_options *options,
                               const tesela_writer *to, tesela_error *err) {
  TESELA__NEED(err, layout, to);
  TESELA__NEED_CLEAR(err, options);
  tesela__grid grid;
  if (!options) options = &draw_defaults;
  tesela_status status = grid_make(&grid, layout, options, err);
  if (status != TESELA_OK || grid.scene.empty) return status;
  tesela__sink sink;
  tesela__sink_init(&sink, to);
  tesela__brush brush = {&sink, options->ascii, options->color, grid.cell};
  if (grid.scene.across >= 0) put_column_indices(&grid, &brush);
  put_rows(&grid, &brush);
  return tesela__sink_finish(&sink, err);
}

/* The first index at or after a position; after the last one, the index at which padding ends. */
static int64_t index_from(const tesela__scene *scene, const tesela__side *side, int64_t position) {
  bool valid;
  int64_t value = -1;
  for (; position < side->extent && value < 0; position++)
    value = tesela__side_value(scene, side, position, &valid);
  return value >= 0
             ? value
             : side->mapped + (side->extent - tesela__side_position(scene, side, side->mapped - 1) - 1);
}

static void view_side(const tesela__grid *grid, int32_t s, tesela_draw_side *out) {
  const tesela__scene *scene = &grid->scene;
  const tesela__side *side = &scene->side[s];
  *out = (tesela_draw_side){.extent = side->logical, .padded = side->extent};
  out->n_dims = tesela__side_dims(scene, side, out->dim);
  if (scene->empty) return;
  out->shown = s == scene->down ? grid->rows.n : s == scene->across ? grid->columns.n : 1;
  out->first = index_from(scene, side, scene->first[s]);
  out->end = index_from(scene, side, scene->end[s]);
}

tesela_status tesela_draw_view_of(const tesela_layout *layout, const tesela_draw_options *options,
                                  tesela_draw_view *view, tesela_error *err) {
  TESELA__NEED(err, layout, view);
  TESELA__NEED_CLEAR(err, options);
  tesela__grid grid;
  tesela_status status = grid_make(&grid, layout, options ? options : &draw_defaults, err);
  if (status != TESELA_OK) return status;
  const tesela__scene *scene = &grid.scene;
  *view = (tesela_draw_view){.n_sides = scene->n_sides, .bare = tesela__scene_lacks_padding(scene)};
  view->down = scene->down >= scene->n_sides ? TESELA_HOLE : scene->down;
  view->across = scene->across >= scene->n_sides ? TESELA_HOLE : scene->across;
  for (int32_t s = 0; s < scene->n_sides; s++) view_side(&grid, s, &view->side[s]);
  if (scene->down >= 0) view->cut |= grid.rows.n < scene->end[scene->down] - scene->first[scene->down];
  if (scene->across >= 0)
    view->cut |= grid.columns.n < scene->end[scene->across] - scene->first[scene->across];
  return TESELA_OK;
}
