/* SPDX-License-Identifier: Apache-2.0 */
/*
 * bits_run.c - run tiles of elements below 8 bits or of whole bytes (bits_tile.c): runs of src to the first buffer, its piece to the second
 * one, from there runs to dst. The runs of later tiles are prefetched meanwhile. Tiles whose elements are in bytes of their own wait until
 * there are enough of one size to fill these.
 */
#include "relayout/bits_move.h"

enum { SOME_RUNS = 32 };

/* Up to SOME_RUNS runs, `bits` of the first tile. */
static int64_t move_some(const tesela__bits_move *m, const int64_t *bits, const int64_t *bytes, int64_t n) {
  enum { NEAR_ROWS = 4, AT_ONCE = 8 }; /* NEAR_ROWS as in piece.c */
  const bool near = m->meet || (m->tiles > 1 && !m->in) || m->stream;
  const int64_t step = m->meet ? NEAR_ROWS : AT_ONCE, tiles = m->tiles;
  int64_t of_all[SOME_RUNS * TESELA__SLICES];
  for (int64_t i = 0; i < n && tiles > 1; i++)
    for (int64_t t = 0; t < tiles; t++) of_all[i * tiles + t] = bits[i] + m->apart[t];
  if (tiles > 1) bits = of_all;
  if (!near && m->next) tesela__prefetch_runs(m, m->next, bits, n);
  for (int64_t k = 0; k < n; k += step) {
    const int64_t now = tesela__min(step, n - k), then = tesela__min(step, n - k - now);
    const int64_t *at = bits + k * tiles;
    if (near) tesela__prefetch_runs(m, m->in ? m->from : m->to, at + now * tiles, then * tiles);
    m->move(&m->rows, m->to, m->in ? bytes + k : at, m->from, m->in ? at : bytes + k, now);
    tesela__prefetch_some(m->prefetch);
  }
  return 0;
}

void tesela__bits_move_runs(tesela__bits_move *m, const int64_t *count, int32_t bits_of_unit,
                            int64_t memory) {
  enum { LONG = 256 };
  const tesela__bits_side *side = m->side;
  const tesela__bits_loop *run = &side->run;
  int64_t at[TESELA__BITS_LOOPS] = {0}, n[TESELA__BITS_LOOPS], buffer = 0, bits[SOME_RUNS], bytes[SOME_RUNS],
          k = 0;
  m->rows =
      (tesela__rows){.n = side->unit * (run->cut < 0 ? run->n : count[run->cut]) - side->less, .k = m->tiles};
  m->bytes = m->rows.n * bits_of_unit / 8;
  m->rows.n >>= m->down;
  m->stream = m->stream && m->bytes >= LONG;
  m->rows.stores = m->stream ? TESELA__PAST_CACHE : TESELA__TO_CACHE;
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
  tesela__bits_move in = {.side = &bits->in,
                          .tiles = tiles->n,
                          .apart = tiles->src,
                          .move = bits->take,
                          .in = true,
                          .down = bits->whole_bytes ? 3 : 0,
                          .to = w->stage,
                          .from = tile->src,
                          .prefetch = &w->prefetch};
  tesela__bits_move out = {.side = &bits->out,
                           .tiles = tiles->n,
                           .apart = tiles->dst,
                           .move = bits->put,
                           .stream = w->store == TESELA__STORE_STREAM,
                           .down = in.down,
                           .to = tile->dst,
                           .next = bits->slices == 1 ? tile->next_dst : NULL,
                           .prefetch = &w->prefetch};
  share_prefetch(&w->prefetch, 2 + bits->n_passes, runs / (bits->kinds > 1 ? bits->kinds : 8));
  const bool transposes = tesela__bits_transposes(bits, count);
  if (transposes) in.to = w->pack;
  if (bits->kinds > 1 && !bits->kind_bytes)
    tesela__bits_move_rows(&in, bits, count, tile->src_bit, tile->next_src ? tile->next_src - tile->src : 0,
                           transposes ? w->stage : w->pack);
  else
    tesela__bits_move_runs(&in, count, unit, tile->src_bit);
  unsigned char *from = w->stage, *to = w->pack;
  for (int32_t i = 0; i < bits->n_passes && !transposes; i++) {
    const tesela__piece *pass = &bits->pass[i];
    if (bits->padded > 0 && i == (bits->of_bands ? 0 : bits->n_passes - 1))
      memset(to, w->plan->fill_pattern[0], (size_t)bits->padded);
    share_prefetch(&w->prefetch, 1 + bits->n_passes - i, pass->bytes / (pass->transpose_fn ? 4096 : 1024));
    w->run_inner(w, pass, to, from);
    if (bits->of_bands) continue;
    to = from;
    from = from == w->stage ? w->pack : w->stage;
  }
  out.from = bits->of_bands || transposes ? to : from;
  if (bits->kind_bytes) {
    int64_t row[8];
    for (int32_t i = 0; i < bits->kinds; i++) row[i] = i * bits->kind_bytes;
    bits->bit_block(to, bits->kind_bytes, from, row, NULL, bits->kind_bytes);
    out.from = to;
  }
  share_prefetch(&w->prefetch, 1, runs_of(&bits->out) / 8);
  tesela__bits_move_runs(&out, count, unit, tile->dst_bit);
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
