/* SPDX-License-Identifier: Apache-2.0 */
/*
 * bits_rows.c - the rows of a tile of blocks of elements below a byte (bits_blocks.c), as they are read: those that share bytes of dst become
 * kinds in the first buffer; or many of them are transposed straight to the second one, where each tile reads next to the one before it.
 */
#include "relayout/bits_move.h"

/* Counts through loops of a side. */
typedef struct side_walk {
  const tesela__bits_loop *loop;
  int32_t n_loops;
  int64_t n[TESELA__BITS_LOOPS], at[TESELA__BITS_LOOPS], memory, buffer;
} side_walk;

static int64_t start_walk(side_walk *w, const tesela__bits_loop *loop, int32_t n_loops,
                          const int64_t *count) {
  int64_t all = 1;
  w->loop = loop;
  w->n_loops = n_loops;
  w->memory = w->buffer = 0;
  for (int32_t i = 0; i < n_loops; i++) {
    w->at[i] = 0;
    w->n[i] = loop[i].cut < 0 ? loop[i].n : count[loop[i].cut];
    all *= w->n[i];
  }
  return all;
}

static void next_value(side_walk *w) {
  for (int32_t i = 0; i < w->n_loops; i++) {
    w->memory += w->loop[i].memory;
    w->buffer += w->loop[i].buffer;
    if (++w->at[i] < w->n[i]) return;
    w->at[i] = 0;
    w->memory -= w->n[i] * w->loop[i].memory;
    w->buffer -= w->n[i] * w->loop[i].buffer;
  }
}

static int64_t bits_of_row(const tesela__bits_side *side, const int64_t *count) {
  return side->unit * (side->run.cut < 0 ? side->run.n : count[side->run.cut]);
}

/* ---- kinds ------------------------------------------------------------------------------------------------- */

enum { ROWS_AHEAD = 6 };

/* Prefetch n rows, and go on to those after them. */
static void prefetch_kinds(const tesela__bits_move *m, int64_t memory, side_walk *row, int64_t n) {
  int64_t bits[ROWS_AHEAD + 8];
  for (int64_t i = 0; i < n; i++, next_value(row)) bits[i] = memory + row->memory;
  tesela__prefetch_runs(m, m->from, bits, n);
}

/* Move all rows of src, as many at a time as share bytes of dst, to the first buffer. Rows that neither begin nor end at bytes are copied first,
 * to `rows`. The last ones stand for those that fill the last byte. */
static void move_kinds(tesela__bits_move *m, const tesela__bits_tile *tile, const int64_t *count,
                       int64_t memory, unsigned char *rows) {
  const tesela__bits_side *side = m->side;
  const int32_t kinds = tile->kinds;
  const int64_t n = bits_of_row(side, count), bytes = (n + 7) / 8;
  const tesela__rows copy = {.n = n, .k = 1};
  const int64_t groups = tile->rows / kinds;
  side_walk plane, row, ahead; /* ahead: the next row to be prefetched, where rows meet */
  int64_t bits[8], at[8], to[8];
  int32_t shift[8];
  for (int32_t i = 0; i < kinds; i++) to[i] = i * 8 * tile->line;
  int64_t planes = start_walk(&plane, side->loop + tile->row_loops, side->n_loops - tile->row_loops, count);
  for (; planes > 0; planes--, next_value(&plane)) {
    unsigned char *out = m->to + plane.buffer / 8;
    int64_t left = start_walk(&row, side->loop, tile->row_loops, count), to_prefetch = left;
    ahead = row;
    for (; left > 0; out += tile->line) {
      int64_t low = 0;
      for (int32_t i = 0; i < kinds; i++) {
        bits[i] = memory + plane.memory + row.memory;
        at[i] = bits[i] >> 3;
        low |= bits[i];
        if (left > 0) left--;
        if (left > 0) next_value(&row);
      }
      if (m->meet) {
        const int64_t later = tesela__max(0, left - ROWS_AHEAD);
        prefetch_kinds(m, memory + plane.memory, &ahead, tesela__max(0, to_prefetch - later));
        to_prefetch = tesela__min(to_prefetch, later);
      }
      tesela__prefetch_some(m->prefetch);
      const bool copied = low % 8 && n % 8; /* the kernel would read beyond a row */
      if (copied) {
        m->move(&copy, rows, to, m->from, bits, kinds);
        for (int32_t i = 0; i < kinds; i++) at[i] = i * tile->line;
      }
      for (int32_t i = 0; i < kinds; i++) shift[i] = (int32_t)(bits[i] & 7);
      tile->bit_block(out, groups * tile->line, copied ? rows : m->from, at, copied ? NULL : shift, bytes);
    }
  }
}

/* ---- transposes -------------------------------------------------------------------------------------------- */

enum { MOST_ROWS = 8 * TESELA__BIT_GROUPS };

/* Rows that a call transposes. */
typedef struct row_block {
  int64_t bits[MOST_ROWS]; /* where they begin, from src */
  int64_t bytes;
  int32_t rows;
  const tesela__rows *copy; /* to a buffer, of rows that neither begin nor end at bytes */
} row_block;

/* Transpose the rows, some lines of each at a time, so that prefetches are spread. */
static void transpose_block(const tesela__bits_move *m, const tesela__bits_tile *tile, const row_block *b,
                            unsigned char *dst, int64_t ahead, unsigned char *rows) {
  int64_t at[MOST_ROWS], to[MOST_ROWS], low = 0;
  int32_t shift[MOST_ROWS];
  for (int32_t i = 0; i < b->rows; i++) {
    at[i] = b->bits[i] >> 3;
    shift[i] = (int32_t)(b->bits[i] & 7);
    low |= b->bits[i];
  }
  const bool copied = low % 8 && b->copy->n % 8; /* the kernel would read beyond a row */
  if (copied) {
    for (int32_t i = 0; i < b->rows; i++) {
      at[i] = i * tile->line;
      to[i] = 8 * at[i];
    }
    m->move(b->copy, rows, to, m->from, b->bits, b->rows);
  }
  const unsigned char *src = copied ? rows : m->from;
  for (int64_t k = 0; k < b->bytes; k += TESELA__LINE) {
    const int64_t first = tesela__min(k, tesela__max(0, b->bytes - TESELA__BIT_STEP));
    tile->transpose(dst + first * tile->kinds * tile->column, tile->column, src + first, at,
                    low % 8 && !copied ? shift : NULL, tesela__min(TESELA__LINE, b->bytes - first),
                    copied ? 0 : ahead);
  }
}

/* The last block of rows has some of the one before it again. */
static void transpose_rows(const tesela__bits_move *m, const tesela__bits_tile *tile, const int64_t *count,
                           int64_t memory, int64_t ahead, unsigned char *rows) {
  const int32_t kinds = tile->kinds;
  const tesela__rows copy = {.n = bits_of_row(m->side, count), .k = 1};
  row_block b = {.rows = TESELA__BIT_GROUPS * kinds, .bytes = (copy.n + 7) / 8, .copy = &copy};
  side_walk plane, row;
  int64_t planes = start_walk(&plane, tile->plane, tile->n_planes, count);
  for (; planes > 0; planes--, next_value(&plane)) {
    int64_t left = start_walk(&row, m->side->loop, tile->row_loops, count), done = 0;
    const int64_t groups = tesela__ceil_div(left, kinds);
    while (done < groups) {
      const int32_t fresh = (int32_t)tesela__min(TESELA__BIT_GROUPS, groups - done) * kinds;
      memmove(b.bits, b.bits + fresh, (size_t)(b.rows - fresh) * sizeof b.bits[0]);
      for (int32_t i = b.rows - fresh; i < b.rows; i++) {
        b.bits[i] = memory + plane.memory + row.memory;
        if (left > 0) left--;
        if (left > 0) next_value(&row);
      }
      done += fresh / kinds;
      transpose_block(m, tile, &b, m->to + plane.buffer / 8 + done - TESELA__BIT_GROUPS, ahead, rows);
    }
  }
}

/* ---- the rows ---------------------------------------------------------------------------------------------- */

bool tesela__bits_transposes(const tesela__bits_tile *tile, const int64_t *count) {
  side_walk row;
  return tile->transpose && bits_of_row(&tile->in, count) > 8 * (TESELA__BIT_STEP - 1) &&
         start_walk(&row, tile->in.loop, tile->row_loops, count) > (TESELA__BIT_GROUPS - 1) * tile->kinds;
}

void tesela__bits_move_rows(tesela__bits_move *m, const tesela__bits_tile *tile, const int64_t *count,
                            int64_t memory, int64_t ahead, unsigned char *rows) {
  m->bytes = (bits_of_row(m->side, count) + 7) / 8;
  m->meet = tesela__bits_runs_meet(m->side);
  if (tesela__bits_transposes(tile, count))
    transpose_rows(m, tile, count, memory, ahead, rows);
  else
    move_kinds(m, tile, count, memory, rows);
}
