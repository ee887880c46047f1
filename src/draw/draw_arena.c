/* SPDX-License-Identifier: Apache-2.0 */
/*
 * draw_arena.c - pictures of an arena: steps across, bytes upwards.
 *
 * The plane of steps and bytes is divided into cells of equal size. Every buffer adds its area in each cell that it
 * touches; buffers that live at the same step do not overlap, so the rest of a cell is free.
 */
#include <tesela/draw.h>

#include <stdio.h>

#include "draw/scene.h"

enum {
  PLAN_WIDEST = 1000,  /* most columns, most rows */
  PLAN_MOST = 1 << 20, /* most buffers */
  PLAN_STEP = 6,       /* most columns of text per cell */
  PLAN_TICK = 10,      /* fewest columns of text between ticks */
  PLAN_LETTERS = 2 * 26
};

typedef struct plan_cell {
  double used, best; /* area in steps times bytes: of all buffers; of the largest one */
  int32_t buffer;    /* the largest one; -1: the cell is free */
} plan_cell;

typedef struct plan_grid {
  int64_t first, steps, bytes; /* the plane: steps from the first, bytes up to the peak */
  int64_t step, row;           /* a cell: steps, bytes */
  int32_t columns, rows;       /* number of cells */
  int32_t wide;                /* columns of text per cell */
  int label;                   /* columns of text of an offset */
  plan_cell *cell;             /* row 0 is the lowest */
  int32_t *mark;               /* of each buffer: number of its cells, later its letter */
  bool rest;                   /* some buffers have no letter */
} plan_grid;

static bool plan_shown(const tesela_arena_buffer *b) {
  return b->offset >= 0 && b->size > 0 && b->lower < b->upper;
}

/* ---- cells ---------------------------------------------------------------------------------------------------------- */

/* Check the buffers and find the plane; 0 bytes: nothing to draw. */
static tesela_status plan_extent(plan_grid *g, int32_t n, const tesela_arena_buffer *buffers,
                                 tesela_error *err) {
  int64_t last = INT64_MIN, end;
  if (n < 0 || n > PLAN_MOST)
    return tesela__fail(err, TESELA_E_RANGE, -1, "%" PRId32 " buffers; expected 0 to %d", n, PLAN_MOST);
  g->first = INT64_MAX;
  for (int32_t k = 0; k < n; k++) {
    const tesela_arena_buffer *b = &buffers[k];
    if (b->size < 0 || b->upper < b->lower)
      return tesela__fail(err, TESELA_E_RANGE, -1, "buffer %" PRId32 " has a negative size or lifetime", k);
    if (!plan_shown(b)) continue;
    if (!tesela__add(b->offset, b->size, &end) || end > INT64_C(1) << 62)
      return tesela__fail(err, TESELA_E_OVERFLOW, -1, "buffer %" PRId32 " ends beyond 2^62", k);
    g->first = tesela__min(g->first, b->lower);
    last = tesela__max(last, b->upper);
    g->bytes = tesela__max(g->bytes, end);
  }
  if (g->bytes > 0 && (!tesela__sub(last, g->first, &g->steps) || g->steps > INT64_C(1) << 62))
    return tesela__fail(err, TESELA_E_OVERFLOW, -1, "the buffers live for more than 2^62 steps");
  return TESELA_OK;
}

/* The first of 1, 2, 3, 4, 6, 8, 12, 16, ... that is >= `least`. */
static int64_t plan_round(int64_t least) {
  int64_t power = 1;
  while (power < least) power *= 2;
  return power >= 4 && power / 4 * 3 >= least ? power / 4 * 3 : power;
}

static void plan_cells(plan_grid *g, int32_t width, int32_t max_rows) {
  g->row = plan_round(tesela__ceil_div(g->bytes, max_rows));
  g->rows = (int32_t)tesela__ceil_div(g->bytes, g->row);
  g->label = tesela__columns_of((g->rows - 1) * g->row);
  int64_t room = tesela__max(1, width - g->label - 2);
  g->step = tesela__ceil_div(g->steps, room);
  g->columns = (int32_t)tesela__ceil_div(g->steps, g->step);
  g->wide = (int32_t)tesela__min(PLAN_STEP, room / g->columns);
}

static double plan_overlap(int64_t from, int64_t to, int64_t cell, int64_t size) {
  return (double)(tesela__min(to - cell, size) - tesela__max(from - cell, 0));
}

static void plan_add(plan_grid *g, int32_t k, const tesela_arena_buffer *b) {
  int64_t lower = b->lower - g->first, upper = b->upper - g->first, end = b->offset + b->size;
  for (int64_t r = b->offset / g->row; r <= (end - 1) / g->row; r++)
    for (int64_t c = lower / g->step; c <= (upper - 1) / g->step; c++) {
      plan_cell *cell = &g->cell[r * g->columns + c];
      double area =
          plan_overlap(b->offset, end, r * g->row, g->row) * plan_overlap(lower, upper, c * g->step, g->step);
      cell->used += area;
      if (area <= cell->best) continue;
      cell->best = area;
      cell->buffer = k;
    }
}

/* Is at least half of a cell free? Only its part before the last step and below the peak counts. */
static bool plan_free(const plan_grid *g, int64_t r, int64_t c) {
  return 2 * g->cell[r * g->columns + c].used <=
         plan_overlap(0, g->bytes, r * g->row, g->row) * plan_overlap(0, g->steps, c * g->step, g->step);
}

static void plan_fill(plan_grid *g, int32_t n, const tesela_arena_buffer *buffers) {
  for (int64_t i = 0; i < (int64_t)g->rows * g->columns; i++) g->cell[i] = (plan_cell){0, 0, -1};
  for (int32_t k = 0; k < n; k++) {
    g->mark[k] = 0;
    if (plan_shown(&buffers[k])) plan_add(g, k, &buffers[k]);
  }
  for (int64_t r = 0; r < g->rows; r++)
    for (int64_t c = 0; c < g->columns; c++) {
      plan_cell *cell = &g->cell[r * g->columns + c];
      if (plan_free(g, r, c)) cell->buffer = -1;
      if (cell->buffer >= 0) g->mark[cell->buffer]++;
    }
}

/* The buffers with the most cells get letters, in the order of the buffers; others get '#', those without cells ' '. */
static void plan_letters(plan_grid *g, int32_t n) {
  static const char letters[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ";
  int next = 0;
  for (int i = 0; i < PLAN_LETTERS; i++) {
    int32_t most = -1;
    for (int32_t k = 0; k < n; k++)
      if (g->mark[k] > 0 && (most < 0 || g->mark[k] > g->mark[most])) most = k;
    if (most < 0) break;
    g->mark[most] = -1;
  }
  for (int32_t k = 0; k < n; k++) {
    g->rest = g->rest || g->mark[k] > 0;
    g->mark[k] = g->mark[k] < 0 ? letters[next++] : g->mark[k] > 0 ? '#' : ' ';
  }
}

/* ---- text ------------------------------------------------------------------------------------------------------------- */

typedef struct plan_pen {
  tesela__sink sink;
  bool ascii, color;
} plan_pen;

static void plan_mark(plan_pen *pen, int32_t mark, int32_t wide) {
  static const char *const colors[] = {"\033[36m", "\033[35m", "\033[32m",
                                       "\033[33m", "\033[34m", "\033[31m"};
  if (pen->color) tesela__puts(&pen->sink, mark == '.' ? "\033[2m" : colors[mark % 6]);
  for (int32_t i = 0; i < wide; i++)
    if (mark == '.' && !pen->ascii)
      tesela__puts(&pen->sink, "\u00b7");
    else
      tesela__putc(&pen->sink, (char)mark);
  if (pen->color) tesela__puts(&pen->sink, "\033[0m");
}

static void plan_row(plan_pen *pen, const plan_grid *g, int64_t r) {
  tesela__putf(&pen->sink, "%*" PRId64 " %s", g->label, r * g->row, pen->ascii ? "|" : "\u2502");
  for (int64_t c = 0, end; c < g->columns; c = end) {
    const plan_cell *row = &g->cell[r * g->columns];
    int32_t mark = row[c].buffer < 0 ? '.' : g->mark[row[c].buffer];
    for (end = c + 1; end < g->columns && (row[end].buffer < 0 ? '.' : g->mark[row[end].buffer]) == mark;)
      end++;
    plan_mark(pen, mark, (int32_t)(end - c) * g->wide);
  }
  tesela__putc(&pen->sink, '\n');
}

/* The axis of steps, with ticks and the steps of the ticks below. */
static void plan_axis(plan_pen *pen, const plan_grid *g) {
  int64_t apart = tesela__ceil_div(PLAN_TICK, g->wide), columns = (int64_t)g->columns * g->wide, at = 0;
  tesela__putf(&pen->sink, "%*s%s", g->label + 1, "", pen->ascii ? "+" : "\u2514");
  for (int64_t x = 0; x < columns; x++)
    if (x % (apart * g->wide) == 0)
      tesela__puts(&pen->sink, pen->ascii ? "+" : "\u252c");
    else
      tesela__puts(&pen->sink, pen->ascii ? "-" : "\u2500");
  tesela__putf(&pen->sink, "\n%*s", g->label + 2, "");
  for (int64_t c = 0; c < g->columns; c += apart) {
    char number[24];
    int n = snprintf(number, sizeof number, "%" PRId64, g->first + c * g->step);
    if (c * g->wide < at || c * g->wide + n > columns) continue; /* no room */
    tesela__putf(&pen->sink, "%*s%s", (int)(c * g->wide - at), "", number);
    at = c * g->wide + n + 1;
    if (c + apart < g->columns) tesela__putc(&pen->sink, ' ');
  }
  tesela__putf(&pen->sink, "\nA row is %" PRId64 " byte%s, a column %" PRId64 " step%s; %s is free%s.\n",
               g->row, g->row == 1 ? "" : "s", g->step, g->step == 1 ? "" : "s", pen->ascii ? "." : "\u00b7",
               g->rest ? ", # other buffers" : "");
}

static tesela_status plan_draw(plan_grid *g, int32_t n, const tesela_arena_buffer *buffers,
                               const tesela_draw_arena_options *o, char *marks, const tesela_writer *to,
                               tesela_error *err) {
  plan_pen pen = {.ascii = o->ascii, .color = o->color};
  plan_fill(g, n, buffers);
  plan_letters(g, n);
  for (int32_t k = 0; marks && k < n; k++) marks[k] = (char)g->mark[k];
  tesela__sink_init(&pen.sink, to);
  for (int64_t r = g->rows - 1; r >= 0; r--) plan_row(&pen, g, r);
  plan_axis(&pen, g);
  return tesela__sink_finish(&pen.sink, err);
}

tesela_status tesela_draw_arena(int32_t n, const tesela_arena_buffer *buffers,
                                const tesela_draw_arena_options *options, char *marks,
                                const tesela_writer *to, tesela_error *err) {
  TESELA__NEED(err, to);
  TESELA__NEED_LIST(err, buffers, n);
  TESELA__NEED_CLEAR(err, options);
  tesela_draw_arena_options o = options ? *options : (tesela_draw_arena_options){0};
  plan_grid g = {0};
  if (o.width == 0) o.width = TESELA__DEFAULT_WIDTH;
  if (o.max_rows == 0) o.max_rows = TESELA__DEFAULT_ROWS;
  if (o.width < 0 || o.width > PLAN_WIDEST || o.max_rows < 0 || o.max_rows > PLAN_WIDEST)
    return tesela__fail(err, TESELA_E_RANGE, -1,
                        "%" PRId32 " columns and %" PRId32 " rows; expected at most %d", o.width, o.max_rows,
                        PLAN_WIDEST);
  tesela_status status = plan_extent(&g, n, buffers, err);
  if (status != TESELA_OK) return status;
  if (g.bytes == 0) {
    for (int32_t k = 0; marks && k < n; k++) marks[k] = ' ';
    return TESELA_OK;
  }
  plan_cells(&g, o.width, o.max_rows);
  tesela_allocator alloc = tesela__allocator(o.allocator);
  uint64_t cells = (uint64_t)g.rows * (uint64_t)g.columns;
  g.cell = tesela__alloc(&alloc, cells * sizeof *g.cell + (uint64_t)n * sizeof *g.mark, alignof(plan_cell));
  if (!g.cell)
    return tesela__fail(err, TESELA_E_MEMORY, -1,
                        "no memory for a picture of %" PRIu64 " cells and %" PRId32 " buffers", cells, n);
  g.mark = (int32_t *)(g.cell + cells);
  status = plan_draw(&g, n, buffers, &o, marks, to, err);
  tesela__release(&alloc, g.cell);
  return status;
}
