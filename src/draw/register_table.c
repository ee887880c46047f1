/* SPDX-License-Identifier: Apache-2.0 */
/*
 * register_table.c - tables of a register layout in all styles.
 *
 * In every column the cell of the last row is the widest, because all digits of the rows are largest there. So that row
 * alone gives the width of a column, without a list of widths.
 */
#include "draw/register_table.h"

typedef struct table_brush {
  tesela__sink *to;
  const tesela__table_look *look;
  bool by_thread, ascii, color, begun;
  int64_t warp;
  tesela__register_view view;
} table_brush;

/* ---- one cell ------------------------------------------------------------------------------------------------ */

static int64_t table_digits(int64_t n) {
  int64_t digits = 1;
  for (; n > 9; n /= 10) digits++;
  return digits;
}

/* The numbers of a cell, in the current column and a row with the sums `row`. */
static void table_numbers(const table_brush *brush, const int64_t *row, int64_t *number) {
  const tesela__register_view *view = &brush->view;
  for (int32_t s = 0; s < view->n_sums; s++) number[s] = view->tables.sum[s] + row[s] + view->columns.sum[s];
}

/* Length of a cell's text: "[2, 3]", "5: 1" or "[1, 5]: 1". */
static int64_t table_cell_length(table_brush *brush, const int64_t *row) {
  tesela__register_view *view = &brush->view;
  int64_t number[TESELA_MAX_RANK], length = 2;
  table_numbers(brush, row, number);
  if (brush->by_thread) {
    for (int32_t s = 0; s < view->n_sums; s++) length += table_digits(number[s]) + (s > 0 ? 2 : 0);
    return length;
  }
  length += table_digits(number[1]);
  if (view->copies.count == 1) return length + table_digits(number[0]);
  for (int64_t k = 0; k < view->copies.count; k++, tesela__digits_step(&view->copies))
    length += table_digits(number[0] + view->copies.sum[0]) + 2; /* with a comma or a bracket */
  return length;
}

static void table_threads(table_brush *brush, int64_t first) {
  tesela__register_view *view = &brush->view;
  tesela__putc(brush->to, '[');
  for (int64_t k = 0; k < view->copies.count; k++, tesela__digits_step(&view->copies)) {
    if (k > 0) tesela__put(brush->to, ", ", 2);
    tesela__put_int(brush->to, first + view->copies.sum[0]);
  }
  tesela__putc(brush->to, ']');
}

static void table_cell_text(table_brush *brush, const int64_t *number) {
  const tesela__register_view *view = &brush->view;
  bool json = (brush->look->flags & TESELA__TABLE_JSON) != 0;
  if (brush->by_thread || json) tesela__putc(brush->to, '[');
  if (brush->by_thread) {
    for (int32_t s = 0; s < view->n_sums; s++) {
      if (s > 0) tesela__put(brush->to, ", ", 2);
      tesela__put_int(brush->to, number[s]);
    }
  } else {
    if (json || view->copies.count > 1)
      table_threads(brush, number[0]);
    else
      tesela__put_int(brush->to, number[0]);
    tesela__put(brush->to, json ? ", " : ": ", 2);
    tesela__put_int(brush->to, number[1]);
  }
  if (brush->by_thread || json) tesela__putc(brush->to, ']');
}

/* ---- colour -------------------------------------------------------------------------------------------------- */

/* A light background of the 256 colours: the hue is the warp, the shade the group of four threads. */
static void table_begin_color(const table_brush *brush, int64_t thread) {
  static const uint8_t shades[6][4] = {{153, 117, 111, 75},  {157, 120, 114, 78},  {229, 227, 221, 185},
                                       {225, 219, 213, 177}, {223, 216, 215, 209}, {159, 123, 116, 80}};
  if (!brush->color) return;
  tesela__puts(brush->to, "\033[38;5;16;48;5;");
  tesela__put_int(brush->to, shades[thread / brush->warp % 6][thread % brush->warp / 4 % 4]);
  tesela__putc(brush->to, 'm');
}

static void table_end_color(const table_brush *brush) {
  if (brush->color) tesela__puts(brush->to, "\033[0m");
}

/* ---- lines --------------------------------------------------------------------------------------------------- */

static void table_blanks(table_brush *brush, int64_t n) {
  while (n-- > 0) tesela__putc(brush->to, ' ');
}

/* A piece of a line; in ASCII, `plain` replaces a box-drawing character. */
static void table_piece(table_brush *brush, const char *text, char plain) {
  if (brush->ascii && ((unsigned char)text[0] & 0x80U) != 0)
    tesela__putc(brush->to, plain);
  else
    tesela__puts(brush->to, text);
}

static void table_begin_line(table_brush *brush) {
  if (brush->begun) tesela__putc(brush->to, '\n');
  brush->begun = true;
}

/* Width of a column without its padding, in columns of text; -1: the column of thread numbers. */
static int64_t table_column_width(table_brush *brush, int64_t column) {
  int64_t heading = brush->look->flags & TESELA__TABLE_CENTER ? 0 : 2;
  int64_t cell =
      column < 0 ? table_digits(brush->view.rows.count - 1) : table_cell_length(brush, brush->view.last_row);
  heading += column < 0 ? (int64_t)strlen("thread") : table_digits(column);
  return brush->by_thread && heading > cell ? heading : cell;
}

static void table_rule(table_brush *brush, const tesela__table_line *line) {
  tesela__register_view *view = &brush->view;
  int64_t pad = brush->look->flags & TESELA__TABLE_PAD ? 2 : 0, first = brush->by_thread ? -1 : 0;
  bool double_line = line->fill && strcmp(line->fill, "═") == 0;
  table_begin_line(brush);
  table_piece(brush, line->left, '+');
  if (!line->fill) return;
  for (int64_t c = first; c < view->columns.count; c++) {
    int64_t width = table_column_width(brush, c) + pad;
    if (c > first) table_piece(brush, line->cross, '+');
    if (brush->look->flags & TESELA__TABLE_COLONS) {
      tesela__putc(brush->to, ':');
      width--;
    }
    while (width-- > 0) table_piece(brush, line->fill, double_line ? '=' : '-');
    if (c >= 0) tesela__digits_step(&view->columns);
  }
  table_piece(brush, line->right, '+');
}

/* Blanks before and after a cell. Those at the end of a line are omitted. */
static void table_begin_cell(table_brush *brush, int64_t slack) {
  unsigned flags = brush->look->flags;
  table_blanks(brush, (flags & TESELA__TABLE_PAD ? 1 : 0) + (flags & TESELA__TABLE_CENTER ? slack / 2 : 0));
}

static void table_end_cell(table_brush *brush, int64_t slack, bool at_end) {
  unsigned flags = brush->look->flags;
  if (at_end) return;
  table_blanks(brush, (flags & TESELA__TABLE_PAD ? 1 : 0) +
                          (flags & TESELA__TABLE_CENTER ? slack - slack / 2 : slack));
}

static void table_heading(table_brush *brush) {
  tesela__register_view *view = &brush->view;
  const tesela__table_cells *edge = &brush->look->heading;
  bool exact = (brush->look->flags & TESELA__TABLE_EXACT) != 0, open = edge->right[0] == '\0';
  table_begin_line(brush);
  table_piece(brush, edge->left, '|');
  for (int64_t c = -1; c < view->columns.count; c++) {
    int64_t length = c < 0 ? (int64_t)strlen("thread") : table_digits(c);
    int64_t slack = exact ? 0 : table_column_width(brush, c) - length;
    if (c >= 0) table_piece(brush, edge->between, '|');
    table_begin_cell(brush, slack);
    if (c < 0)
      tesela__puts(brush->to, "thread");
    else
      tesela__put_int(brush->to, c);
    table_end_cell(brush, slack, open && c + 1 == view->columns.count);
    if (c >= 0) tesela__digits_step(&view->columns);
  }
  table_piece(brush, edge->right, '|');
}

/* The number of a thread before its row. */
static void table_side(table_brush *brush, int64_t thread) {
  int64_t slack =
      brush->look->flags & TESELA__TABLE_EXACT ? 0 : table_column_width(brush, -1) - table_digits(thread);
  table_begin_color(brush, thread);
  table_begin_cell(brush, slack);
  tesela__put_int(brush->to, thread);
  table_end_cell(brush, slack, false);
  table_end_color(brush);
  table_piece(brush, brush->look->row.between, '|');
}

static void table_row(table_brush *brush, int64_t row) {
  tesela__register_view *view = &brush->view;
  const tesela__table_cells *edge = &brush->look->row;
  bool exact = (brush->look->flags & TESELA__TABLE_EXACT) != 0, open = edge->right[0] == '\0';
  /* CSV quotes text with a comma */
  bool quoted = exact && !(brush->look->flags & TESELA__TABLE_JSON) &&
                (brush->by_thread ? view->n_sums > 1 : view->copies.count > 1);
  int64_t number[TESELA_MAX_RANK];
  for (int64_t c = 0; c < view->columns.count; c++, tesela__digits_step(&view->columns)) {
    int64_t slack = 0;
    if (!exact) slack = table_column_width(brush, c) - table_cell_length(brush, view->rows.sum);
    table_numbers(brush, view->rows.sum, number);
    if (c > 0) table_piece(brush, edge->between, '|');
    table_begin_color(brush, brush->by_thread ? row : number[0]);
    table_begin_cell(brush, slack);
    if (quoted) tesela__putc(brush->to, '"');
    table_cell_text(brush, number);
    if (quoted) tesela__putc(brush->to, '"');
    table_end_cell(brush, slack, open && c + 1 == view->columns.count);
    table_end_color(brush);
  }
}

/* ---- tables -------------------------------------------------------------------------------------------------- */

static void table_put(table_brush *brush) {
  const tesela__table_look *look = brush->look;
  tesela__register_view *view = &brush->view;
  if (look->above.left && !(brush->by_thread && look->flags & TESELA__TABLE_HIDE_ABOVE))
    table_rule(brush, &look->above);
  if (brush->by_thread) {
    table_heading(brush);
    if (look->under_heading.left) table_rule(brush, &look->under_heading);
  }
  for (int64_t r = 0; r < view->rows.count && !brush->to->stopped; r++, tesela__digits_step(&view->rows)) {
    if (r > 0 && look->between.left) table_rule(brush, &look->between);
    table_begin_line(brush);
    table_piece(brush, look->row.left, '|');
    if (brush->by_thread) table_side(brush, r);
    table_row(brush, r);
    table_piece(brush, look->row.right, '|');
  }
  if (look->below.left && !(brush->by_thread && look->flags & TESELA__TABLE_HIDE_BELOW))
    table_rule(brush, &look->below);
}

static void table_put_json(table_brush *brush) {
  tesela__register_view *view = &brush->view;
  tesela__putc(brush->to, '[');
  for (int64_t r = 0; r < view->rows.count && !brush->to->stopped; r++, tesela__digits_step(&view->rows)) {
    tesela__puts(brush->to, r > 0 ? ", [" : "[");
    table_row(brush, r);
    tesela__putc(brush->to, ']');
  }
  tesela__putc(brush->to, ']');
}

static void table_put_all(table_brush *brush) {
  tesela__register_view *view = &brush->view;
  bool json = (brush->look->flags & TESELA__TABLE_JSON) != 0;
  if (json) {
    if (brush->begun) tesela__putc(brush->to, '\n');
    if (!brush->by_thread) tesela__putc(brush->to, '[');
  }
  for (int64_t t = 0; t < view->tables.count && !brush->to->stopped;
       t++, tesela__digits_step(&view->tables)) {
    if (t > 0 && brush->look->flags & TESELA__TABLE_BLANK_LINE) tesela__putc(brush->to, '\n');
    if (t > 0 && json) tesela__put(brush->to, ", ", 2);
    if (json)
      table_put_json(brush);
    else
      table_put(brush);
  }
  if (json && !brush->by_thread) tesela__putc(brush->to, ']');
}

/* ---- the interface ------------------------------------------------------------------------------------------- */

static const tesela_draw_register_options table_defaults;

tesela_status tesela_draw_register(const tesela_register *layout, const tesela_draw_register_options *options,
                                   const tesela_writer *to, tesela_error *err) {
  TESELA__NEED(err, layout, to);
  TESELA__NEED_CLEAR(err, options);
  tesela__sink sink;
  table_brush brush = {.to = &sink};
  if (!options) options = &table_defaults;
  tesela_status status = tesela_register_check(layout, err);
  if (status == TESELA_OK) status = tesela__table_look_of(options->style, &brush.look, err);
  if (status != TESELA_OK) return status;
  int64_t cells; /* one per register of each thread */
  if (!tesela__mul(layout->spatial_size, layout->local_size, &cells) || cells > TESELA_DRAW_REGISTER_CELLS)
    return tesela__fail(err, TESELA_E_LIMIT, -1,
                        "%" PRId64 " threads with %" PRId64
                        " registers each exceed the limit of %d for a drawing",
                        layout->spatial_size, layout->local_size, TESELA_DRAW_REGISTER_CELLS);
  brush.by_thread = options->by_thread;
  brush.ascii = options->ascii;
  brush.color = options->color && !(brush.look->flags & TESELA__TABLE_DATA);
  brush.warp = options->warp > 0 ? options->warp : 32;
  tesela__register_view_make(&brush.view, layout, options->by_thread);
  if (options->header) {
    status = tesela_register_print(layout, to, err);
    if (status != TESELA_OK) return status;
    brush.begun = true;
  }
  tesela__sink_init(&sink, to);
  table_put_all(&brush);
  return tesela__sink_finish(&sink, err);
}
