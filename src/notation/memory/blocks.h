/* SPDX-License-Identifier: Apache-2.0 */
/*
 * blocks.h - blocked memory: dims in an order, some of them cut into blocks. Tags of oneDNN, strings of TVM and linalg.pack say it.
 *
 *   aBcd16b on [2,17,3,5]     order a b c d, inner blocks {b, 16}: padded to [2,32,3,5], strides 480, 240, 80, 16, and 1 in a block
 */
#ifndef TESELA_SRC_BLOCKS_H
#define TESELA_SRC_BLOCKS_H

#include <tesela/layout.h>

#include "notation/parts.h"

enum { TESELA__MAX_BLOCKS = 64 };

/* A part of a dim. */
typedef struct tesela__inner_block {
  int32_t dim;
  int64_t extent;
} tesela__inner_block;

typedef struct tesela__blocks {
  int32_t rank;
  int32_t order[TESELA_MAX_RANK]; /* the dims, outermost first */
  int32_t n;
  tesela__inner_block inner[TESELA__MAX_BLOCKS]; /* outermost first */
} tesela__blocks;

/* The layout of an array in blocks. A dim that its blocks do not divide is padded at its end. `strides` of the outer dims, or NULL:
 * without gaps. */
tesela_status tesela__blocks_lower(const tesela__blocks *blocks, tesela_dtype dtype, int32_t bits,
                                   const int64_t *shape, const int64_t *strides, int64_t offset,
                                   tesela_layout *out, tesela_error *err);

/* The blocks with the places of a finished layout: those with the fewest inner blocks, the lexically first order of the dims.
 * Without any, the verdict becomes TESELA_IMPOSSIBLE, with the smallest contradiction. `words` names the notation in reasons: "tag". */
tesela_status tesela__blocks_find(const tesela_layout *layout, const char *words, tesela__blocks *blocks,
                                  tesela_translation *answer, tesela_error *err);

/* A layout without texts of a notation whose texts are some of the blocks: the contradiction is that of all blocks, since what fits a part
 * of the array depends on the whole; `reason` where blocks have these places. */
tesela_status tesela__blocks_refuse(const tesela_layout *layout, const char *words, const char *reason,
                                    tesela_translation *answer, tesela_error *err);

/* Blocks, and the strides of the outer dims: any multiples of `size`, the places of all blocks; 0 for dims without outer part. */
typedef struct tesela__tiled {
  tesela__blocks blocks;
  int64_t strides[TESELA_MAX_RANK], size;
} tesela__tiled;

/* tesela__fit_parts of a tesela__tiled: as few inner blocks as possible. */
bool tesela__fit_tiled(void *user, const tesela__parts *parts, int32_t rank, const int64_t *shape);

/* Give dims of one block the strides that a row-major array has there. False: they do not fit in 64 bits. */
bool tesela__tiled_strides(tesela__tiled *t, const int64_t *shape);

#endif
