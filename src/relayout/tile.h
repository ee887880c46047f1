/* SPDX-License-Identifier: Apache-2.0 */
/*
 * tile.h - one tile of a piece, and the state of a thread that runs tiles.
 */
#ifndef TESELA_SRC_TILE_H
#define TESELA_SRC_TILE_H

#include "relayout/plan.h"

/* The stores of a piece, chosen when the address of dst is known. */
typedef enum tesela__store {
  TESELA__STORE_CACHED, /* directly to dst */
  TESELA__STORE_STREAM, /* directly to dst, past the cache */
  TESELA__STORE_STAGED, /* whole lines past the cache, from a buffer */
} tesela__store;

/* The stretches that a later tile reads, to prefetch during a tile. */
typedef struct tesela__prefetch {
  const unsigned char *base;
  const int64_t *row;
  int32_t n_rows, lines; /* 0 rows: nothing to do */
  int32_t n_more;        /* the same stretches of so many more tiles */
  const unsigned char *const *more;
  int32_t at_row, at_line, share; /* share: lines at a time */
} tesela__prefetch;

/* One tile: its addresses and its size. */
typedef struct tesela__tile {
  unsigned char *dst;
  const unsigned char *src;
  int64_t dst_bit, src_bit; /* of bitwise pieces: added to dst and src, 0..7 */
  int64_t na, nb, run;
  unsigned char *
      next_dst; /* of tiles and blocks of bits: where the next tile begins, if it is to be prefetched; or NULL */
  const unsigned char *next_src;
  /* The end of each staged row, for the next tile of these rows, or NULL; nothing is carried in; nothing is carried out. */
  unsigned char (*carry)[TESELA__LINE];
  bool begins, ends;
} tesela__tile;

/* Tiles of bits that are moved together: the first one, and the bits from there to each. */
enum { TESELA__SLICES = 8, TESELA__SLICE_SIZES = 8 };
typedef struct tesela__together {
  int32_t n;
  tesela__tile first;
  int64_t dst[TESELA__SLICES], src[TESELA__SLICES];
} tesela__together;

/* Those that wait for others of their size. */
typedef struct tesela__slices {
  tesela__together waiting[TESELA__SLICE_SIZES];
  int32_t n_ahead;
  const unsigned char *ahead[TESELA__SLICES]; /* later tiles, to prefetch */
} tesela__slices;

/* The state of a thread that runs a piece. */
typedef struct tesela__worker tesela__worker;
struct tesela__worker {
  const tesela_plan *plan;
  const tesela__piece *piece;
  tesela__store store;
  tesela__prefetch prefetch;
  unsigned char *stage;                 /* TESELA__STAGE bytes, line-aligned; NULL unless staged */
  unsigned char (*carry)[TESELA__LINE]; /* the end of each staged row of the tiles of a carry_step */
  unsigned char *pack;    /* TESELA__PACK bytes; NULL unless rows are packed before the transpose */
  tesela__slices *slices; /* of tiles of bits that are moved together; else NULL */
  bool inner;             /* runs the piece inside a tile, and prefetches for the piece around it */
  /* All tiles of the piece inside a tile, from one buffer to another. */
  void (*run_inner)(tesela__worker *worker, const tesela__piece *inner, unsigned char *dst,
                    const unsigned char *src);
};

/* Moves n elements at a fixed distance on each side, with conversion; for strided pieces and the gather. */
typedef struct tesela__mover {
  int32_t ws, wd;              /* bits of an element */
  tesela__rows_fn *take, *put; /* strided kernels of these widths */
  tesela__convert_fn *convert; /* NULL: bits are moved, by take */
} tesela__mover;

tesela__mover tesela__mover_of(const tesela_plan *plan);

/* Offsets and pitches in bits from the base addresses; any n. */
void tesela__move(const tesela__mover *mover, int64_t n, unsigned char *dst, int64_t dst_bit,
                  int64_t dst_pitch, const unsigned char *src, int64_t src_bit, int64_t src_pitch);

/* Write n bytes of a fill pattern of 16 bytes. */
void tesela__fill_row(unsigned char *dst, int64_t n, const unsigned char *pattern);

/* Rows of a transpose at each call of its kernel, if there is something to prefetch between them. */
static inline int32_t tesela__rows_of_call(const tesela__piece *piece) {
  enum { LEAST = 16 };
  return piece->fine || piece->block < LEAST ? LEAST : piece->block;
}

/* Elements of one long row that are converted at a time: 4 KiB on the wider side. */
static inline int64_t tesela__long_row_step(const tesela__piece *piece) {
  return 4096 * 8 / tesela__max(piece->src_bits, piece->dst_bits);
}

void tesela__tile_run(tesela__worker *worker, const tesela__tile *tile);

/* A tile of a piece with bits_tile; needs the worker's buffers. bits_run.c */
void tesela__bits_tile_run(tesela__worker *worker, const tesela__tile *tile);
/* The tiles that still wait for others. */
void tesela__bits_tiles_end(tesela__worker *worker);

/* What a piece prefetches of the tile at `base`. */
static inline tesela__prefetch tesela__prefetch_of(const tesela__worker *w, const unsigned char *base,
                                                   int32_t share) {
  const tesela__piece *piece = w->piece;
  return (tesela__prefetch){.base = base,
                            .row = &w->plan->table[piece->prefetch],
                            .n_rows = piece->n_prefetch,
                            .lines = piece->prefetch_lines,
                            .share = share};
}

/* Prefetch the next `share` lines, into L2: more lines can be on their way there than to L1. Stretches of 2 KiB in rows 19 KB apart,
 * Zen 4: 12 GB/s by way of L1, 28 of L2. */
static inline void tesela__prefetch_some(tesela__prefetch *p) {
  int32_t left = p->share, row = p->at_row, line = p->at_line;
  while (left > 0 && row < p->n_rows) {
    int32_t n = p->lines - line < left ? p->lines - line : left;
    const unsigned char *at = p->base + p->row[row] + (int64_t)line * TESELA__LINE;
    for (int32_t i = 0; i < n; i++, at += TESELA__LINE) __builtin_prefetch(at, 0, 2);
    left -= n;
    line += n;
    if (line < p->lines) break;
    line = 0;
    if (++row < p->n_rows || p->n_more == 0) continue;
    row = 0;
    p->base = *p->more++;
    p->n_more--;
  }
  p->at_row = row;
  p->at_line = line;
}

#endif
