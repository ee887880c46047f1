/* SPDX-License-Identifier: Apache-2.0 */
/*
 * support_tile_memory.h - tiles in memory by definition, and families of small ones.
 */
#ifndef SUPPORT_TILE_MEMORY_H
#define SUPPORT_TILE_MEMORY_H

#include <stdbool.h>
#include <stdint.h>

#include <tesela/tesela.h>

/* The arguments of tesela_tile_memory_make. */
typedef struct tile_words {
  int32_t rank, n_modes;
  int64_t shape[4], mode_shape[16], mode_strides[16], offset;
  tesela_tile_swizzle swizzle;
} tile_words;

/* x ^ (y << base) with y the bits from base + shift on; negative shift: the bits at base act on those |shift|
 * higher. */
int64_t oracle_tile_swizzle(tesela_tile_swizzle swizzle, int64_t x);

/* The place of an element, as in the text of tile_memory.h: each index is split into its modes, first one slowest. */
int64_t oracle_tile_place(const tesela_tile_memory *tile, const int64_t *index);
int64_t oracle_tile_place_of_words(const tile_words *words, const int64_t *index);

/* Advance to the next index, row-major; false after the last. */
bool oracle_tile_next(int32_t rank, const int64_t *shape, int64_t *index);

int64_t oracle_tile_elements(int32_t rank, const int64_t *shape);

/* 1 + the largest place. */
int64_t oracle_tile_size(const tesela_tile_memory *tile);

/* Does some list of modes with strides >= 0 express the function table[i * step], i < n? Tries all factorizations. */
bool oracle_tile_sayable(const int64_t *table, int64_t step, int64_t n);

/* Many tiles of at most `most` elements: every shape of up to three dims, every split of its dims into modes, compact
 * in several orders, padded, with a stride of 0, with overlap; with and without offset; each with several swizzles. */
typedef void oracle_tile_visit(const tile_words *words, void *user);
void oracle_tile_family(int64_t most, oracle_tile_visit *visit, void *user);

#endif
