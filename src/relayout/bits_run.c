/* SPDX-License-Identifier: Apache-2.0 */
/*
 * bits_run.c - run a tile of elements below 8 bits (bits_tile.c): runs of src to the first buffer, its piece to the second one, from there
 * runs to dst. The runs of the next tile are prefetched meanwhile.
 */
#include "relayout/tile.h"

/* Moves runs between memory and a buffer. */
typedef struct bits_move {
  const tesela__bits_side *side;
  tesela__rows_fn *move;
  bool in;     /* from memory to the buffer */
  bool stream; /* past the cache */
  bool meet;   /* runs are in few sets of the caches, so that each is prefetched shortly before it is moved */
  unsigned char *to;
  const unsigned char *from, *next; /* next: the memory of the next tile, to prefetch; or NULL */
  int64_t bytes;                    /* of a run in memory */
  tesela__rows rows;
} bits_move;

/* Prefetch the lines of n runs, the first few of long ones; of those that go past the cache the two at their ends, which are written in
 * part. Inlined: gcc removes calls of a function that does no more. */
TESELA__INLINE void prefetch_runs(const bits_move *m, const unsigned char *memory, const int64_t *bits,
                                  int64_t n) {
  enum { MOST_LINES = 4 };
  const int64_t reach = m->stream ? m->bytes : tesela__min(m->bytes, (MOST_LINES - 1) * TESELA__LINE);
  for (int64_t k = 0; k < n; k++) {
    const uintptr_t line = TESELA__LINE, first = (uintptr_t)(memory + (bits[k] >> 3));
    const uintptr_t last = (first + (uintptr_t)reach) / line * line;
    for (uintptr_t at = first / line * line; at <= last; at += m->stream && at < last ? last - at : line) {
      if (m->in)
        __builtin_prefetch((const void *)at, 0, 2);
      else
        __builtin_prefetch((const void *)at, 1, 2);
    }
  }
}

static int64_t move_some(const bits_move *m, const int64_t *bits, const int64_t *bytes, int64_t n) {
  enum { NEAR_ROWS = 4 }; /* as in piece.c */
  const int64_t step = m->meet ? NEAR_ROWS : n;
  if (!m->meet && m->next) prefetch_runs(m, m->next, bits, n);
  for (int64_t k = 0; k < n; k += step) {
    const int64_t now = tesela__min(step, n - k), then = tesela__min(step, n - k - now);
    if (m->meet) prefetch_runs(m, m->in ? m->from : m->to, bits + k + now, then);
    m->move(&m->rows, m->to, (m->in ? bytes : bits) + k, m->from, (m->in ? bits : bytes) + k, now);
  }
  return 0;
}

/* Move all runs, the values of cut loops below `count`. `memory`: the first bit of the tile. */
static void move_runs(bits_move *m, const int64_t *count, int32_t bits_of_unit, int64_t memory) {
  enum { SOME = 64, PAGE = 4096, FEW = 8, LONG = 256 };
  const tesela__bits_side *side = m->side;
  const tesela__bits_loop *run = &side->run;
  int64_t at[TESELA__BITS_LOOPS] = {0}, n[TESELA__BITS_LOOPS], buffer = 0, bits[SOME], bytes[SOME], k = 0;
  m->rows = (tesela__rows){.n = side->unit * (run->cut < 0 ? run->n : count[run->cut]) - side->less, .k = 1};
  m->bytes = m->rows.n * bits_of_unit / 8;
  m->rows.stream = m->stream = m->stream && m->bytes >= LONG;
  m->meet = side->n_loops > 0 && side->loop[0].n > FEW && side->loop[0].memory % (8 * PAGE) == 0;
  for (int32_t i = 0; i < side->n_loops; i++)
    n[i] = side->loop[i].cut < 0 ? side->loop[i].n : count[side->loop[i].cut];
  const tesela__bits_loop inner = side->n_loops ? side->loop[0] : (tesela__bits_loop){1, 0, 0, -1};
  const int64_t inner_n = side->n_loops ? n[0] : 1;
  for (;;) {
    int32_t level = 1;
    for (int64_t i = 0; i < inner_n; i++) {
      bits[k] = memory + i * inner.memory;
      bytes[k] = buffer + i * inner.buffer;
      if (++k == SOME) k = move_some(m, bits, bytes, k);
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

void tesela__bits_tile_run(tesela__worker *w, const tesela__tile *tile) {
  const tesela__bits_tile *bits = &w->plan->bits_tile[w->piece->bits_tile - 1];
  const int64_t count[3] = {tile->na, tile->nb, tile->run};
  const int32_t unit = bits->inner.group > 1 ? 1 : w->piece->dst_bits;
  bits_move in = {&bits->in, bits->unpack, true, false, false, w->stage, tile->src, tile->next_src, 0, {0}};
  bits_move out = {&bits->out, bits->pack, false,   w->store == TESELA__STORE_STREAM,
                   false,      tile->dst,  w->pack, tile->next_dst,
                   0,          {0}};
  if (bits->padded > 0)
    memset(w->pack, w->plan->fill_pattern[0] & ((1 << w->piece->dst_bits) - 1), (size_t)bits->padded);
  move_runs(&in, count, unit, tile->src_bit);
  w->run_inner(w, &bits->inner, w->pack, w->stage);
  move_runs(&out, count, unit, tile->dst_bit);
}
