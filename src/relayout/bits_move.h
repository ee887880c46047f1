/* SPDX-License-Identifier: Apache-2.0 */
/*
 * bits_move.h - what moves between memory and the buffers of a tile.
 */
#ifndef TESELA_SRC_BITS_MOVE_H
#define TESELA_SRC_BITS_MOVE_H

#include "relayout/tile.h"

/* Moves runs between memory and a buffer. */
typedef struct tesela__bits_move {
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
} tesela__bits_move;

/* Prefetch the lines of n runs, the first few of long ones. Inlined: gcc removes calls of a function that does no more. */
TESELA__INLINE void tesela__prefetch_lines(const tesela__bits_move *m, const unsigned char *memory,
                                           const int64_t *bits, int64_t n) {
  enum { MOST_LINES = 4 };
  const int64_t reach = tesela__min(m->bytes, (MOST_LINES - 1) * TESELA__LINE);
  for (int64_t k = 0; k < n; k++) {
    const uintptr_t line = TESELA__LINE, first = (uintptr_t)(memory + (bits[k] >> (3 - m->down)));
    const uintptr_t last = (first + (uintptr_t)reach) / line * line;
    for (uintptr_t at = first / line * line; at <= last; at += line) {
      if (m->in)
        __builtin_prefetch((const void *)at, 0, 2);
      else
        __builtin_prefetch((const void *)at, 1, 2);
    }
  }
}

/* Of n runs that go past the cache, the lines at their ends that are written in part. Others stay out of the cache: a store past it waits
 * for a line that is there. */
TESELA__INLINE void tesela__prefetch_ends(const tesela__bits_move *m, const unsigned char *memory,
                                          const int64_t *bits, int64_t n) {
  const int64_t line = 8 * TESELA__LINE, base = (int64_t)((uintptr_t)memory % TESELA__LINE) * 8;
  for (int64_t k = 0; k < n; k++) {
    const int64_t first = bits[k] << m->down, end = first + (m->rows.n << m->down);
    if ((base + first) % line != 0) __builtin_prefetch(memory + (first >> 3), 1, 2);
    if ((base + end) % line != 0) __builtin_prefetch(memory + (end >> 3), 1, 2);
  }
}

TESELA__INLINE void tesela__prefetch_runs(const tesela__bits_move *m, const unsigned char *memory,
                                          const int64_t *bits, int64_t n) {
  m->stream ? tesela__prefetch_ends(m, memory, bits, n) : tesela__prefetch_lines(m, memory, bits, n);
}

/* Move all runs, the values of cut loops below `count`. `memory`: the first bit of the tile. bits_run.c */
void tesela__bits_move_runs(tesela__bits_move *m, const int64_t *count, int32_t bits_of_unit, int64_t memory);

/* Are the rows of a tile of this size transposed straight to the second buffer? bits_rows.c */
bool tesela__bits_transposes(const tesela__bits_tile *tile, const int64_t *count);
/* Transpose all rows of src so; or move them to the first buffer, as many at a time as share bytes of dst. `ahead`: bytes from the tile to the
 * next one, which transposes prefetch; or 0. `rows`: room for some rows. */
void tesela__bits_move_rows(tesela__bits_move *m, const tesela__bits_tile *tile, const int64_t *count,
                            int64_t memory, int64_t ahead, unsigned char *rows);

#endif
