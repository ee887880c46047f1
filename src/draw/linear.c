/* SPDX-License-Identifier: Apache-2.0 */
/*
 * linear.c - the linear picture: places in order, an element in each cell.
 *
 *         +0   +1   +2   +3          f32[3,5]{1,0:T(2,2)}: a line is a tile
 *    0 │ 0,0  0,1  1,0  1,1
 *    4 │ 0,2  0,3  1,2  1,3
 *
 * The number of places per line is a natural size of the layout: a stride, or a power of two times one, that fits the
 * width and does not exceed a tile. Tiles of several lines have rules between them.
 */
#include "draw/scene.h"

#include <stdio.h>

enum { INDEX_TEXT = TESELA_MAX_RANK * 20, FALLBACK = 16 };

typedef struct linear {
  const tesela_layout *layout;
  const int64_t *shape; /* of the elements */
  int64_t extent;       /* places */
  int64_t per_line;     /* places */
  int64_t tile;         /* places of a first-level tile */
  int head, cell;       /* columns of text: of a place number, of a cell with its two blanks */
  tesela__side lines;   /* the lines as a side: positions are lines, blocks are tiles */
  tesela__pick pick;
  tesela__track track;
} linear;

/* ---- places per line --------------------------------------------------------------------------------- */

static int64_t stride_size(const tesela_digit *digit) {
  return digit->stride == INT64_MIN ? INT64_MAX : digit->stride < 0 ? -digit->stride : digit->stride;
}

/* Places of a first-level tile: the smallest stride of the first digits of the coordinates, which count tiles. */
static int64_t tile_places(const tesela_layout *layout, int64_t extent) {
  int64_t tile = extent;
  for (int32_t i = 0; i < layout->n_active; i++) {
    const tesela_digit *digit = &layout->digit[i];
    bool first = digit->source >= 0 && (i == 0 || layout->digit[i - 1].source != digit->source);
    if (first && digit->axis == 0 && stride_size(digit) > 1) tile = tesela__min(tile, stride_size(digit));
  }
  return tile;
}

/* The largest stride up to `most`; *next: the smallest one above it. `extent` counts as a stride. */
static int64_t largest_stride(const tesela_layout *layout, int64_t extent, int64_t most, int64_t *next) {
  int64_t largest = 1;
  *next = extent;
  for (int32_t i = 0; i < layout->n_active; i++) {
    if (layout->digit[i].axis != 0) continue;
    int64_t stride = stride_size(&layout->digit[i]);
    if (stride <= most) largest = tesela__max(largest, stride);
    if (stride > most) *next = tesela__min(*next, stride);
  }
  if (extent <= most) largest = tesela__max(largest, extent);
  return largest;
}

static int64_t places_per_line(const linear *draw, int64_t fit) {
  int64_t most = tesela__min(fit, draw->tile), next;
  int64_t places = largest_stride(draw->layout, draw->extent, most, &next);
  while (places <= most / 2 && next % (places * 2) == 0) places *= 2;
  if (places < 4)
    while (places <= most / 2 && places < FALLBACK) places *= 2;
  return places;
}

static int columns_of_index(int32_t rank, const int64_t *shape) {
  int columns = rank > 0 ? rank - 1 : 2;
  for (int32_t d = 0; d < rank; d++) columns += tesela__columns_of(shape[d] - 1);
  return columns;
}

/* ---- the lines to draw ------------------------------------------------------------------------------- */

static tesela_status linear_window(const linear *draw, const tesela_draw_options *options, int64_t *first,
                                   int64_t *end, tesela_error *err) {
  *first = 0;
  *end = draw->extent;
  if (options->n_slice == 0) return TESELA_OK;
  if (options->n_slice != 1)
    return tesela__fail(err, TESELA_E_MISMATCH, -1,
                        "a slice with %" PRId32
                        " entries; expected one for a linear picture: places first:end",
                        options->n_slice);
  tesela_draw_range range = options->slice[0];
  if (range.fixed) range.end = range.first < INT64_MAX ? range.first + 1 : range.first;
  *end = range.end < 0 ? draw->extent : tesela__min(range.end, draw->extent);
  *first = range.first;
  if (*first >= 0 && *first < *end) return TESELA_OK;
  return tesela__fail(err, TESELA_E_RANGE, -1, "the range of places is empty; expected places 0 to %" PRId64,
                      draw->extent - 1);
}

static tesela_status linear_make(linear *draw, const tesela_layout *layout,
                                 const tesela_draw_options *options, tesela_error *err) {
  int64_t first, end, place = 0, index[TESELA_MAX_RANK];
  bool padding;
  if (layout->n_axes != 1)
    return tesela__fail(err, TESELA_E_UNSUPPORTED, -1, "a linear picture of %" PRId32 " axes; expected 1",
                        layout->n_axes);
  draw->layout = layout;
  draw->shape = options->shape ? options->shape : layout->shape;
  draw->extent = layout->axis[0].extent;
  tesela_status status = linear_window(draw, options, &first, &end, err);
  if (status == TESELA_OK) status = tesela_layout_element_at(layout, &place, index, &padding, err);
  if (status != TESELA_OK) return status;
  int32_t width = options->width > 0 ? options->width : TESELA__DEFAULT_WIDTH;
  draw->head = tesela__columns_of(draw->extent - 1);
  draw->cell = 2 + columns_of_index(layout->rank, draw->shape);
  if (draw->cell < 5) draw->cell = 5; /* room for "  +15" */
  draw->tile = tile_places(layout, draw->extent);
  draw->per_line = places_per_line(draw, tesela__max(1, (width - draw->head - 2) / draw->cell));
  int64_t lines = tesela__ceil_div(draw->extent, draw->per_line);
  draw->lines = (tesela__side){.source = TESELA_HOLE, .logical = lines, .extent = lines};
  if (draw->tile % draw->per_line == 0 && draw->tile > draw->per_line)
    draw->lines.block[draw->lines.n_blocks++] = draw->tile / draw->per_line;
  tesela__pick_make(
      &draw->pick, &draw->lines, first / draw->per_line, tesela__ceil_div(end, draw->per_line), lines,
      (tesela__budget){.cell = 1, .all = options->max_rows > 0 ? options->max_rows : TESELA__DEFAULT_ROWS});
  tesela__track_make(&draw->track, &draw->lines, &draw->pick);
  return TESELA_OK;
}

/* ---- painting ---------------------------------------------------------------------------------------- */

static void put_right(tesela__sink *sink, int columns, const char *text) {
  tesela__put_blanks(sink, columns - (int)strlen(text));
  tesela__puts(sink, text);
}

static tesela_status put_element(const linear *draw, const tesela__brush *brush, int64_t place,
                                 tesela_error *err) {
  int64_t index[TESELA_MAX_RANK];
  char text[INDEX_TEXT + 1] = "[]";
  bool padding;
  size_t used = 0;
  tesela_status status = tesela_layout_element_at(draw->layout, &place, index, &padding, err);
  if (status != TESELA_OK) return status;
  for (int32_t d = 0; d < draw->layout->rank && !padding; d++) padding = index[d] >= draw->shape[d];
  if (padding) {
    tesela__put_blanks(brush->to, draw->cell - 1);
    tesela__puts(brush->to, tesela__brush_dot(brush));
    return TESELA_OK;
  }
  for (int32_t d = 0; d < draw->layout->rank; d++)
    used += (size_t)snprintf(text + used, sizeof text - used, "%s%" PRId64, d > 0 ? "," : "", index[d]);
  put_right(brush->to, draw->cell, text);
  return TESELA_OK;
}

static tesela_status put_places(const linear *draw, const tesela__brush *brush, int64_t line,
                                tesela_error *err) {
  char text[24];
  snprintf(text, sizeof text, "%" PRId64, line * draw->per_line);
  put_right(brush->to, draw->head, text);
  tesela__putc(brush->to, ' ');
  tesela__brush_upright(brush, TESELA__LINE_LIGHT);
  for (int64_t k = 0; k < draw->per_line; k++) {
    int64_t place = line * draw->per_line + k;
    if (place >= draw->extent) break;
    tesela_status status = put_element(draw, brush, place, err);
    if (status != TESELA_OK) return status;
  }
  tesela__putc(brush->to, '\n');
  return TESELA_OK;
}

static void put_offsets(const linear *draw, tesela__sink *sink) {
  char text[24];
  tesela__put_blanks(sink, draw->head + 2);
  for (int64_t k = 0; k < draw->per_line; k++) {
    snprintf(text, sizeof text, "+%" PRId64, k);
    put_right(sink, draw->cell, text);
  }
  tesela__putc(sink, '\n');
}

/* A rule between two tiles, or an ellipsis for omitted lines. */
static void put_divider(const linear *draw, const tesela__brush *brush, const tesela__slot *slot) {
  if (slot->kind == TESELA__SLOT_GAP) {
    tesela__put_blanks(brush->to, draw->head + 2 + draw->cell - TESELA__GAP);
    tesela__puts(brush->to, tesela__brush_gap(brush));
  } else {
    tesela__brush_divider(brush, draw->head + 1, draw->cell * draw->per_line);
  }
  tesela__putc(brush->to, '\n');
}

static const tesela_draw_options linear_defaults;

static tesela_status linear_start(linear *draw, const tesela_layout *layout,
                                  const tesela_draw_options *options, tesela_error *err) {
  if (!layout->finished)
    return tesela__fail(err, TESELA_E_INVALID, -1, "the layout is not finished (tesela_layout_finish)");
  draw->extent = layout->n_axes == 1 ? layout->axis[0].extent : -1;
  draw->pick.n = draw->track.n = 0;
  return draw->extent == 0 ? TESELA_OK : linear_make(draw, layout, options ? options : &linear_defaults, err);
}

tesela_status tesela_draw_linear_view_of(const tesela_layout *layout, const tesela_draw_options *options,
                                         tesela_draw_view *view, tesela_error *err) {
  TESELA__NEED(err, layout, view);
  TESELA__NEED_CLEAR(err, options);
  linear draw;
  tesela_status status = linear_start(&draw, layout, options, err);
  if (status != TESELA_OK) return status;
  *view = (tesela_draw_view){.n_sides = 1, .down = -1, .across = 0};
  view->side[0] = (tesela_draw_side){.extent = draw.extent, .padded = draw.extent};
  if (draw.extent == 0) return TESELA_OK;
  int64_t first = draw.pick.at[0], end = draw.pick.at[draw.pick.n - 1] + 1;
  view->cut = draw.pick.n < end - first;
  view->side[0].shown = tesela__min(draw.pick.n * draw.per_line, draw.extent);
  view->side[0].first = first * draw.per_line;
  view->side[0].end = tesela__min(draw.extent, end * draw.per_line);
  return TESELA_OK;
}

tesela_status tesela_draw_linear(const tesela_layout *layout, const tesela_draw_options *options,
                                 const tesela_writer *to, tesela_error *err) {
  TESELA__NEED(err, layout, to);
  TESELA__NEED_CLEAR(err, options);
  linear draw;
  tesela__sink sink;
  tesela_status status = linear_start(&draw, layout, options, err);
  if (status != TESELA_OK || draw.extent == 0) return status;
  if (!options) options = &linear_defaults;
  tesela__sink_init(&sink, to);
  tesela__brush brush = {&sink, options->ascii, options->color, draw.cell};
  put_offsets(&draw, &sink);
  for (int32_t i = 1; i + 1 < draw.track.n; i++) { /* without the two outer rules */
    const tesela__slot *slot = &draw.track.slot[i];
    if (slot->kind != TESELA__SLOT_CELL)
      put_divider(&draw, &brush, slot);
    else if ((status = put_places(&draw, &brush, slot->position, err)) != TESELA_OK)
      return status;
  }
  return tesela__sink_finish(&sink, err);
}
