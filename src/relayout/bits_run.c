/* SPDX-License-Identifier: Apache-2.0 */
/*
 * bits_run.c - run tiles of elements below 8 bits or of whole bytes (bits_tile.c): runs of src to the first buffer, its piece to the second
 * one, from there runs to dst. The runs of later tiles are prefetched meanwhile. Tiles whose elements are in bytes of their own wait until
 * there are enough of one size to fill these.
 */
#include "relayout/tile.h"

/* Moves runs between memory and a buffer. */
typedef struct bits_move {
  const tesela__bits_side *side;
  int32_t tiles;        /* of memory, that are moved together */
  const int64_t *apart; /* bits from the first one to each */
  tesela__rows_fn *move;
  bool in;      /* from memory to the buffer */
  bool stream;  /* past the cache */
  int32_t down; /* of whole bytes 3: runs are counted in bytes; else 0, in bits */
  bool meet; /* runs are in few sets of the caches, so that each is prefetched shortly before it is moved */
  unsigned char *to;
  const unsigned char *from, *next; /* next: of dst, the memory of the next tile, to prefetch; or NULL */
  int64_t bytes;                    /* of a run in memory */
  tesela__prefetch *prefetch;       /* of runs of src */
  tesela__rows rows;
} bits_move;

/* Prefetch the lines of n runs, the first few of long ones; of those that go past the cache the two at their ends, which are written in
 * part. Inlined: gcc removes calls of a function that does no more. */
TESELA__INLINE void prefetch_runs(const bits_move *m, const unsigned char *memory, const int64_t *bits,
                                  int64_t n) {
  enum { MOST_LINES = 4 };
  const int64_t reach = m->stream ? m->bytes : tesela__min(m->bytes, (MOST_LINES - 1) * TESELA__LINE);
  for (int64_t k = 0; k < n; k++) {
    const uintptr_t line = TESELA__LINE, first = (uintptr_t)(memory + (bits[k] >> (3 - m->down)));
    const uintptr_t last = (first + (uintptr_t)reach) / line * line;
    for (uintptr_t at = first / line * line; at <= last; at += m->stream && at < last ? last - at : line) {
      if (m->in)
        __builtin_prefetch((const void *)at, 0, 2);
      else
        __builtin_prefetch((const void *)at, 1, 2);
    }
  }
}

enum { SOME_RUNS = 32 };

/* Up to SOME_RUNS runs, `bits` of the first tile. */
static int64_t move_some(const bits_move *m, const int64_t *bits, const int64_t *bytes, int64_t n) {
  enum { NEAR_ROWS = 4, AT_ONCE = 8 }; /* NEAR_ROWS as in piece.c */
  const bool near = m->meet || (m->tiles > 1 && !m->in);
  const int64_t step = m->meet ? NEAR_ROWS : AT_ONCE, tiles = m->tiles;
  int64_t of_all[SOME_RUNS * TESELA__SLICES];
  for (int64_t i = 0; i < n && tiles > 1; i++)
    for (int64_t t = 0; t < tiles; t++) of_all[i * tiles + t] = bits[i] + m->apart[t];
  if (tiles > 1) bits = of_all;
  if (!near && m->next) prefetch_runs(m, m->next, bits, n);
  for (int64_t k = 0; k < n; k += step) {
    const int64_t now = tesela__min(step, n - k), then = tesela__min(step, n - k - now);
    const int64_t *at = bits + k * tiles;
    if (near) prefetch_runs(m, m->in ? m->from : m->to, at + now * tiles, then * tiles);
    m->move(&m->rows, m->to, m->in ? bytes + k : at, m->from, m->in ? at : bytes + k, now);
    tesela__prefetch_some(m->prefetch);
  }
  return 0;
}

/* Move all runs, the values of cut loops below `count`. `memory`: the first bit of the tile. */
static void move_runs(bits_move *m, const int64_t *count, int32_t bits_of_unit, int64_t memory) {
  enum { LONG = 256 };
  const tesela__bits_side *side = m->side;
  const tesela__bits_loop *run = &side->run;
  int64_t at[TESELA__BITS_LOOPS] = {0}, n[TESELA__BITS_LOOPS], buffer = 0, bits[SOME_RUNS], bytes[SOME_RUNS],
          k = 0;
  m->rows =
      (tesela__rows){.n = side->unit * (run->cut < 0 ? run->n : count[run->cut]) - side->less, .k = m->tiles};
  m->bytes = m->rows.n * bits_of_unit / 8;
  m->rows.n >>= m->down;
  m->rows.stream = m->stream = m->stream && m->bytes >= LONG;
  m->meet = tesela__bits_runs_meet(side);
  for (int32_t i = 0; i < side->n_loops; i++)
    n[i] = side->loop[i].cut < 0 ? side->loop[i].n : count[side->loop[i].cut];
  const tesela__bits_loop inner = side->n_loops ? side->loop[0] : (tesela__bits_loop){1, 0, 0, -1};
  const int64_t inner_n = side->n_loops ? n[0] : 1;
  for (;;) {
    int32_t level = 1;
    for (int64_t i = 0; i < inner_n; i++) {
      bits[k] = (memory + i * inner.memory) >> m->down;
      bytes[k] = (buffer + i * inner.buffer) >> m->down;
      if (++k == SOME_RUNS) k = move_some(m, bits, bytes, k);
    }
    for (; level < side->n_loops; level++) {
      const tesela__bits_loop *l = &side->loop[level];
      memory += l->memory;
      buffer += l->buffer;
      if (++at[level] < n[level]) break;
      memory -= n[level] * l->memory;
      buffer -= n[level] * l->buffer;
      at[level] = 0;
    }
    if (level >= side->n_loops) break;
  }
  if (k > 0) move_some(m, bits, bytes, k);
}

/* ---- rows of blocks ---------------------------------------------------------------------------------------- */

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

enum { ROWS_AHEAD = 6 };

/* Prefetch n rows, and go on to those after them. */
static void prefetch_kinds(const bits_move *m, int64_t memory, side_walk *row, int64_t n) {
  int64_t bits[ROWS_AHEAD + 8];
  for (int64_t i = 0; i < n; i++, next_value(row)) bits[i] = memory + row->memory;
  prefetch_runs(m, m->from, bits, n);
}

/* Move all rows of src, as many at a time as share bytes of dst, to the first buffer. Rows that neither begin nor end at bytes are copied first,
 * to `rows`. The last ones stand for those that fill the last byte. */
static void move_kinds(bits_move *m, const tesela__bits_tile *tile, const int64_t *count, int64_t memory,
                       unsigned char *rows) {
  const tesela__bits_side *side = m->side;
  const int32_t kinds = tile->kinds;
  const int64_t n = side->unit * (side->run.cut < 0 ? side->run.n : count[side->run.cut]),
                bytes = (n + 7) / 8;
  const tesela__rows copy = {.n = n, .k = 1};
  const int64_t groups = tile->rows / kinds;
  side_walk plane, row, ahead; /* ahead: the next row to be prefetched, where rows meet */
  int64_t bits[8], at[8], to[8];
  int32_t shift[8];
  m->bytes = bytes;
  m->meet = tesela__bits_runs_meet(side);
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

/* ---- the tile ---------------------------------------------------------------------------------------------- */

/* Divide the prefetch of what is left into so many parts of `calls` calls each. */
static void share_prefetch(tesela__prefetch *p, int64_t parts, int64_t calls) {
  const int64_t lines = ((int64_t)p->n_rows * (1 + p->n_more) - p->at_row) * p->lines;
  p->share = (int32_t)tesela__max(1, tesela__ceil_div(lines, parts * tesela__max(1, calls)));
}

static int64_t runs_of(const tesela__bits_side *side) {
  int64_t n = 1;
  for (int32_t i = 0; i < side->n_loops; i++) n *= side->loop[i].n;
  return n;
}

/* Tiles of one size, as many as are moved together or less. */
static void run_together(tesela__worker *w, const tesela__together *tiles) {
  const tesela__tile *tile = &tiles->first;
  const tesela__bits_tile *bits = &w->plan->bits_tile[w->piece->bits_tile - 1];
  const int64_t count[3] = {tile->na, tile->nb, tile->run}, runs = runs_of(&bits->in);
  const int32_t unit = bits->blocks ? 1 : w->piece->dst_bits;
  bits_move in = {.side = &bits->in,
                  .tiles = tiles->n,
                  .apart = tiles->src,
                  .move = bits->take,
                  .in = true,
                  .down = bits->whole_bytes ? 3 : 0,
                  .to = w->stage,
                  .from = tile->src,
                  .prefetch = &w->prefetch};
  bits_move out = {.side = &bits->out,
                   .tiles = tiles->n,
                   .apart = tiles->dst,
                   .move = bits->put,
                   .stream = w->store == TESELA__STORE_STREAM,
                   .down = in.down,
                   .to = tile->dst,
                   .next = bits->slices == 1 ? tile->next_dst : NULL,
                   .prefetch = &w->prefetch};
  share_prefetch(&w->prefetch, 2 + bits->n_passes, runs / (bits->kinds > 1 ? bits->kinds : 8));
  if (bits->kinds > 1 && !bits->kind_bytes)
    move_kinds(&in, bits, count, tile->src_bit, w->pack);
  else
    move_runs(&in, count, unit, tile->src_bit);
  unsigned char *from = w->stage, *to = w->pack;
  for (int32_t i = 0; i < bits->n_passes; i++) {
    const tesela__piece *pass = &bits->pass[i];
    if (bits->padded > 0 && i == (bits->of_bands ? 0 : bits->n_passes - 1))
      memset(to, w->plan->fill_pattern[0], (size_t)bits->padded);
    share_prefetch(&w->prefetch, 1 + bits->n_passes - i, pass->bytes / (pass->transpose_fn ? 4096 : 1024));
    w->run_inner(w, pass, to, from);
    if (bits->of_bands) continue;
    to = from;
    from = from == w->stage ? w->pack : w->stage;
  }
  out.from = bits->of_bands ? to : from;
  if (bits->kind_bytes) {
    int64_t row[8];
    for (int32_t i = 0; i < bits->kinds; i++) row[i] = i * bits->kind_bytes;
    bits->bit_block(to, bits->kind_bytes, from, row, NULL, bits->kind_bytes);
    out.from = to;
  }
  share_prefetch(&w->prefetch, 1, runs_of(&bits->out) / 8);
  move_runs(&out, count, unit, tile->dst_bit);
}

/* ---- tiles that wait --------------------------------------------------------------------------------------- */

static void add_tile(tesela__together *tiles, const tesela__tile *tile) {
  const tesela__tile *first = &tiles->first;
  if (tiles->n == 0) tiles->first = *tile;
  tiles->dst[tiles->n] = (tile->dst - first->dst) * 8 + tile->dst_bit - first->dst_bit;
  tiles->src[tiles->n++] = (tile->src - first->src) * 8 + tile->src_bit - first->src_bit;
}

static void run_waiting(tesela__worker *w, tesela__together *tiles) {
  tesela__slices *s = w->slices;
  if (s->n_ahead > 0) {
    w->prefetch = tesela__prefetch_of(w, s->ahead[0], 1);
    w->prefetch.more = s->ahead + 1;
    w->prefetch.n_more = s->n_ahead - 1;
  }
  run_together(w, tiles);
  w->prefetch.n_rows = 0;
  tiles->n = s->n_ahead = 0;
}

void tesela__bits_tile_run(tesela__worker *w, const tesela__tile *tile) {
  const tesela__piece *piece = w->piece;
  if (!w->slices) {
    tesela__together alone = {.n = 0};
    add_tile(&alone, tile);
    run_together(w, &alone);
    return;
  }
  const int32_t size = (tile->na < piece->na) + 2 * (tile->nb < piece->nb) + 4 * (tile->run < piece->run);
  tesela__together *tiles = &w->slices->waiting[size];
  add_tile(tiles, tile);
  if (tiles->n == w->plan->bits_tile[piece->bits_tile - 1].slices) run_waiting(w, tiles);
}

void tesela__bits_tiles_end(tesela__worker *w) {
  for (int32_t size = 0; size < TESELA__SLICE_SIZES; size++)
    if (w->slices->waiting[size].n > 0) run_waiting(w, &w->slices->waiting[size]);
}
