/* SPDX-License-Identifier: Apache-2.0 */
/*
 * blocks.h - blocked memory: dims in an order, some of them cut into blocks. Tags of oneDNN, strings of TVM and linalg.pack say it.
 *
 *   aBcd16b on [2,17,3,5]     order a b c d, inner blocks {b, 16}: padded to [2,32,3,5], strides 480, 240, 80, 16, and 1 in a block
 */
#ifndef TESELA_SRC_BLOCKS_H
#define TESELA_SRC_BLOCKS_H

#include <tesela/layout.h>

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

/* The same where outer dims may have any stride that is a multiple of the inner blocks: the only candidate, with as few inner blocks as
 * possible, for the caller to compare. The strides are in places, 0 for dims without outer part. For layouts with elements, on one axis. */
tesela_status tesela__blocks_with_strides(const tesela_layout *layout, tesela__blocks *blocks,
                                          int64_t *strides, bool *found, tesela_error *err);

/* Let the outer dims be in the order of the array: others, which are not 1, become inner blocks. False: too many blocks. */
bool tesela__blocks_in_order(tesela__blocks *blocks, const int64_t *shape);

/* "(2,0)" */
const char *tesela__blocks_index(const int64_t *index, int32_t rank, char text[64]);

#endif
