/* SPDX-License-Identifier: Apache-2.0 */
/*
 * bits_blocks.c - tiles of elements that stay bits; bits_fit.c chooses them.
 *
 * Rows are the run of src, one for each element of the run of dst; both are padded to whole bytes. Of elements below a byte, m = 8 bits /
 * width of an element, m rows at a time become m rows whose bytes are those of dst, on the way to the first buffer. So only bytes are left
 * to be moved to the second buffer, as a box of bytes that any solver may move, in one pass or two (bits_passes.c):
 *
 *   1 bit, rows of 512, 40 of them      the first buffer has rows g of kind j: bits 8*g to 8*g + 7 of the columns 8*c + j, as byte c
 *   bytes of the second one             column 8*c + j begins at byte 5 * (8*c + j), where row g of kind j has byte g
 *
 * Long rows that many columns of dst are made of go straight to the second buffer, 16 * m rows at a time, where a kernel does that (set_columns).
 *
 * Where the run of src is short, rows are moved as they are, and become kinds at last: rows 8*g + k are byte g of row k of what the passes
 * leave, and go to the other buffer.
 *
 * The second buffer has all loops in the order of dst, where the loops of the run of src can be divided into kinds and bytes; so the runs
 * that go to dst may be longer than its run.
 */
#include "relayout/solve.h"

/* A tile, and the bytes from one value of a loop to the next in both buffers. */
typedef struct block_tile {
  const tesela__bits_fit *fit;
  tesela__bits_run in, out;
  int64_t kinds;      /* rows that share the bytes of dst */
  int64_t cols, rows; /* elements of the runs of src and dst, padded */
  int64_t line;       /* bytes from one row to the next in the first buffer */
  uint64_t along;     /* loops that continue the rows there, as in src */
  bool late;          /* rows become kinds in the second buffer */
  bool flat;          /* columns are at equal distances in the second buffer */
  int64_t kind;       /* bytes of a kind in the second buffer, if late */
  int64_t column;     /* bytes from one column to the next, if flat */
  int64_t a[TESELA__MAX_LOOPS], b[TESELA__MAX_LOOPS];
} block_tile;

static bool is_plane(const tesela__bits_fit *fit, int32_t i) {
  return fit->chunk[i] > 1 && !((fit->of[0] | fit->of[1] | fit->one) >> i & 1);
}

static int64_t side_step(const tesela__loop *l, bool src) {
  const int64_t step = src ? l->ss : l->ds;
  return step < 0 ? -step : step;
}

/* The loop of the shortest steps on a side, of those that have their own places in its buffer and are not in `seen`; or -1. */
static int32_t next_placed(const block_tile *t, bool src, uint64_t seen) {
  const tesela__box *box = t->fit->box;
  int32_t next = -1;
  for (int32_t i = 0; i < box->n_loops; i++) {
    const bool of_src = t->fit->of[0] >> i & 1 && t->fit->chunk[i] > 1;
    if (seen >> i & 1 || (!is_plane(t->fit, i) && (src || !of_src))) continue;
    if (next < 0 || side_step(&box->loop[i], src) < side_step(&box->loop[next], src)) next = i;
  }
  return next;
}

/* The first buffer: planes that continue whole rows in src, all rows, the other planes. */
static void place_src(block_tile *t) {
  const tesela__bits_fit *fit = t->fit;
  uint64_t seen = 0;
  int64_t memory = t->in.elements * fit->bits;
  bool whole = t->cols == t->in.elements;
  for (int32_t k = 0; k < t->in.n; k++)
    whole = whole && fit->chunk[t->in.loop[k]] == fit->box->loop[t->in.loop[k]].n;
  t->line = t->cols * fit->bits / 8;
  for (int32_t i; (i = next_placed(t, true, seen)) >= 0 && whole && fit->box->loop[i].ss == memory;) {
    seen |= (uint64_t)1 << i;
    t->a[i] = t->line;
    t->line *= fit->chunk[i];
    memory *= fit->chunk[i];
    whole = fit->chunk[i] == fit->box->loop[i].n;
  }
  t->along = seen;
  int64_t bytes = t->line * t->rows;
  for (int32_t i; (i = next_placed(t, true, seen)) >= 0; bytes *= fit->chunk[i]) {
    seen |= (uint64_t)1 << i;
    t->a[i] = bytes;
  }
}

/* Can the columns be divided: are the first ones of the run of src the kinds, loop by loop? */
static bool can_divide(const block_tile *t) {
  int64_t left = t->kinds;
  for (int32_t k = 0; k < t->in.n && left > 1; k++) {
    const int64_t n = t->fit->chunk[t->in.loop[k]];
    if (n % left && left % n) return false;
    left = n % left ? left / n : 1;
  }
  return left == 1;
}

/* Is the run of src too short for rows that become kinds at once, and can its columns be divided? The last tile has all of them. */
static bool is_late(const block_tile *t) {
  if (t->kinds == 1 || t->line * t->kinds >= 2 * TESELA__LINE || t->cols != t->in.elements || !can_divide(t))
    return false;
  for (int32_t k = 0; k < t->in.n; k++)
    if (t->fit->chunk[t->in.loop[k]] < t->fit->box->loop[t->in.loop[k]].n) return false;
  return true;
}

/* Columns of the loop number k of the run of src that share a byte. */
static int64_t kinds_of(const block_tile *t, int32_t k) {
  int64_t left = t->kinds;
  for (int32_t i = 0; i < k; i++) left = tesela__max(1, left / t->fit->chunk[t->in.loop[i]]);
  return tesela__min(left, t->fit->chunk[t->in.loop[k]]);
}

/* Are rows and columns so long that a kernel may transpose them straight to the second buffer? Shorter columns do not go past the cache. */
static bool is_large(const block_tile *t) {
  enum { LONG = 256 };
  const bool random = t->fit->random;
  return t->kinds > 1 && !t->late &&
         t->cols * t->fit->bits / 8 >= (random ? TESELA__BIT_STEP : TESELA__LINE) &&
         t->rows / t->kinds >= (random ? TESELA__BIT_GROUPS : LONG);
}

/* The second buffer: the run of dst, the other loops in the order of dst. If late, one value of each kind. */
static void place_dst(block_tile *t) {
  enum { APART = 256 };
  const tesela__bits_fit *fit = t->fit;
  uint64_t seen = 0;
  int64_t bytes = t->rows * fit->bits / 8;
  if (fit->direct && bytes % APART == 0) bytes += bytes / 16; /* else columns are in few sets of L1 */
  t->flat = !can_divide(t);
  for (int32_t i; (i = next_placed(t, false, seen)) >= 0;) {
    seen |= (uint64_t)1 << i;
    t->b[i] = bytes;
    if (!t->flat || !(fit->of[0] >> i & 1)) {
      bytes *= fit->chunk[i];
      for (int32_t k = 0; k < t->in.n && t->late; k++)
        if (t->in.loop[k] == i) bytes /= kinds_of(t, k);
      continue;
    }
    t->column = bytes;
    for (int32_t k = 0; k < t->in.n; k++) t->b[t->in.loop[k]] = bytes * t->in.unit[k];
    seen |= fit->of[0];
    bytes *= t->cols;
  }
  t->kind = bytes;
}

/* ---- the sides --------------------------------------------------------------------------------------------- */

/* Add a loop to a side, from loop `first` on those of the smallest steps in memory first. */
static void add_in_order(tesela__bits_side *side, int32_t first, tesela__bits_loop loop) {
  int32_t i = side->n_loops++;
  for (; i > first && side->loop[i - 1].memory > loop.memory; i--) side->loop[i] = side->loop[i - 1];
  side->loop[i] = loop;
}

/* What follows the run on both sides joins it. */
static void join_runs(tesela__bits_side *side) {
  while (side->n_loops > 0 && side->run.cut < 0) {
    const tesela__bits_loop next = side->loop[0];
    const int64_t bits = side->unit * side->run.n;
    if (next.memory != bits || next.buffer != bits) return;
    side->unit = bits;
    side->run = next;
    side->n_loops--;
    memmove(side->loop, side->loop + 1, (size_t)side->n_loops * sizeof side->loop[0]);
  }
}

static void start_side(const block_tile *t, const tesela__bits_run *run, bool src, tesela__bits_side *side) {
  *side = (tesela__bits_side){.unit = t->fit->bits, .run = {1, 0, 0, -1}};
  for (int32_t k = 0; k < run->n; k++) {
    side->unit = run->unit[k] * t->fit->bits;
    side->run = tesela__bits_loop_of(t->fit, run->loop[k], src, 0);
  }
}

/* Rows: loops of their own, in the order of the run of dst, of elements below a byte; else like all others. */
static void set_src_side(const block_tile *t, tesela__bits_tile *tile) {
  tesela__bits_side *side = &tile->in;
  const tesela__bits_fit *fit = t->fit;
  start_side(t, &t->in, true, side);
  for (uint64_t left = t->along; left; left &= left - 1)
    add_in_order(side, 0,
                 tesela__bits_loop_of(fit, __builtin_ctzll(left), true, 8 * t->a[__builtin_ctzll(left)]));
  join_runs(side);
  for (int32_t k = 0; k < t->out.n; k++) {
    const bool rows = t->kinds > 1 && !t->late;
    const int64_t at = rows ? t->out.unit[k] : 8 * t->out.unit[k] * t->line;
    const tesela__bits_loop loop = tesela__bits_loop_of(fit, t->out.loop[k], true, at);
    if (rows)
      side->loop[side->n_loops++] = loop;
    else
      add_in_order(side, 0, loop);
  }
  tile->row_loops = t->kinds > 1 && !t->late ? side->n_loops : 0;
  for (int32_t i = 0; i < fit->box->n_loops; i++)
    if (is_plane(fit, i) && !(t->along >> i & 1))
      add_in_order(side, tile->row_loops, tesela__bits_loop_of(fit, i, true, 8 * t->a[i]));
  if (tile->row_loops == 0) join_runs(side);
}

static void set_dst_side(const block_tile *t, tesela__bits_side *side) {
  start_side(t, &t->out, false, side);
  for (int32_t i = 0; i < t->fit->box->n_loops; i++)
    if (is_plane(t->fit, i)) add_in_order(side, 0, tesela__bits_loop_of(t->fit, i, false, 8 * t->b[i]));
  int64_t kind = t->kind;
  for (int32_t k = 0; k < t->in.n; k++) {
    const int32_t i = t->in.loop[k];
    tesela__bits_loop loop = tesela__bits_loop_of(t->fit, i, false, 8 * t->b[i]);
    const int64_t kinds = t->late ? kinds_of(t, k) : 1;
    if (kinds > 1) add_in_order(side, 0, (tesela__bits_loop){kinds, loop.memory, 8 * kind, -1});
    kind *= kinds;
    loop.n /= kinds;
    loop.memory *= kinds;
    if (loop.n > 1) add_in_order(side, 0, loop);
  }
  join_runs(side);
}

/* Where rows that are transposed at once go: the distance of their columns, if it is one, and the places of planes. Not if planes continue the
 * rows, which are the run of src alone then. */
static void set_columns(const block_tile *t, tesela__bits_tile *tile) {
  const tesela__bits_fit *fit = t->fit;
  tesela__bits_side side = {.n_loops = 0};
  if (!is_large(t) || t->along) return;
  tile->column = t->flat ? t->column : t->b[t->in.loop[0]];
  for (int32_t k = 0; k < t->in.n; k++)
    if (t->b[t->in.loop[k]] != tile->column * t->in.unit[k]) tile->column = 0;
  for (int32_t i = 0; i < fit->box->n_loops; i++)
    if (is_plane(fit, i)) add_in_order(&side, 0, tesela__bits_loop_of(fit, i, true, 8 * t->b[i]));
  tile->n_planes = side.n_loops;
  memcpy(tile->plane, side.loop, sizeof tile->plane);
}

/* ---- the bytes --------------------------------------------------------------------------------------------- */

static void add_byte_loop(tesela__box *box, int64_t n, int64_t from, int64_t to) {
  tesela__box_add(box, n, 8 * from, 8 * to);
}

/* n columns from one that is `to` bytes apart from the next: kinds, then bytes. */
typedef struct columns {
  int64_t kinds, kind,
      byte; /* kinds that are left; bytes from one to the next in the first buffer, and from one byte to the next */
} columns;

static void add_columns(tesela__box *box, columns *c, int64_t n, int64_t to) {
  const int64_t kinds = tesela__min(c->kinds, n);
  add_byte_loop(box, kinds, c->kind, to);
  add_byte_loop(box, n / kinds, c->byte, kinds * to);
  c->kinds /= kinds;
  c->kind *= kinds;
  c->byte *= n / kinds;
}

static void set_late_bytes(const block_tile *t, tesela__box *box) {
  int64_t byte = 1;
  add_byte_loop(box, t->kinds, t->line, t->kind);
  add_byte_loop(box, t->rows / t->kinds, t->kinds * t->line, 1);
  for (int32_t k = 0; k < t->in.n; k++) {
    const int64_t n = t->fit->chunk[t->in.loop[k]] / kinds_of(t, k);
    add_byte_loop(box, n, byte, t->b[t->in.loop[k]]);
    byte *= n;
  }
}

static void set_early_bytes(const block_tile *t, tesela__box *box) {
  const int64_t bytes = t->fit->bits < 8 ? 1 : t->fit->bits / 8, groups = t->rows / t->kinds;
  columns c = {t->kinds, groups * t->line, bytes};
  add_byte_loop(box, bytes, 1, 1);
  add_byte_loop(box, groups, t->line, bytes);
  if (t->flat) add_columns(box, &c, t->cols, t->column);
  for (int32_t k = 0; k < t->in.n && !t->flat; k++)
    add_columns(box, &c, t->fit->chunk[t->in.loop[k]], t->b[t->in.loop[k]]);
}

static void set_bytes(const block_tile *t, tesela__box *box) {
  if (t->late)
    set_late_bytes(t, box);
  else
    set_early_bytes(t, box);
  for (int32_t i = 0; i < t->fit->box->n_loops; i++)
    if (is_plane(t->fit, i)) add_byte_loop(box, t->fit->chunk[i], t->a[i], t->b[i]);
  tesela__box_simplify(box);
}

void tesela__bits_set_blocks(const tesela__bits_fit *fit, tesela__bits_tile *tile, tesela__box *inner) {
  block_tile t = {.fit = fit, .kinds = fit->bits < 8 ? 8 / fit->bits : 1};
  tesela__bits_find_run(fit, true, &t.in);
  tesela__bits_find_run(fit, false, &t.out);
  t.cols = tesela__bits_whole(fit, t.in.elements);
  t.rows = tesela__bits_whole(fit, t.out.elements);
  place_src(&t);
  t.late = is_late(&t);
  place_dst(&t);
  set_src_side(&t, tile);
  set_dst_side(&t, &tile->out);
  set_columns(&t, tile);
  set_bytes(&t, inner);
  tile->blocks = true;
  tile->kinds = (int32_t)t.kinds;
  tile->rows = t.rows;
  tile->line = t.line;
  if (t.late) tile->kind_bytes = t.kind;
}
