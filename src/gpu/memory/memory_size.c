/* SPDX-License-Identifier: Apache-2.0 */
/*
 * memory_size.c - the least size of a tile, and the bits of its swizzle that act.
 *
 * A swizzle changes bits base .. top-1 and none above. So the element at the largest place has a plain place (before
 * the swizzle) with the same bits from `top` on as the largest plain place: one in a window of 2^top plain places. The
 * search visits all elements in the window, modes by decreasing stride, skipping values that cannot reach the window.
 * In general nothing less suffices, since the sums of modes can have any gaps.
 *
 *   [9] with stride 1, Swizzle(base 0, bits 1, shift 3): plain places end with 8 = 0b1000, the swizzle changes bit 0,
 *   the window is 8..9, its only element 8 goes to 9: 10 places.
 */
#include "gpu/memory/tile_memory.h"

enum { TILE_WINDOW_LIMIT = 1 << 16 }; /* elements */

/* ---- the bits of plain places ----------------------------------------------------------------------------------- */

static uint64_t tile_low_bit(uint64_t x) { return x & (~x + 1); }

/* All bits from the lowest one of `low` to the highest one of `high`. */
static uint64_t tile_bits_between(uint64_t low, uint64_t high) {
  for (int32_t shift = 1; shift < 64; shift *= 2) high |= high >> shift;
  return high & ~(tile_low_bit(low) - 1);
}

/* Sums without common bits: the bits of their total are the bits of all. */
typedef struct tile_sums {
  int32_t n;
  uint64_t bits[TESELA_REGISTER_MODES + 1],
      reach[TESELA_REGISTER_MODES + 1]; /* possible bits; the largest value */
} tile_sums;

/* Add a sum. If it shares a bit with another they carry, and their sum may have all bits up to its largest value. */
static void tile_add_sum(tile_sums *sums, uint64_t bits, uint64_t reach) {
  for (int32_t i = 0; i < sums->n;) {
    if (!(sums->bits[i] & bits)) {
      i++;
      continue;
    }
    reach += sums->reach[i];
    bits = tile_bits_between(bits | sums->bits[i], reach);
    sums->n--;
    sums->bits[i] = sums->bits[sums->n];
    sums->reach[i] = sums->reach[sums->n];
    i = 0;
  }
  sums->bits[sums->n] = bits;
  sums->reach[sums->n++] = reach;
}

/* A superset of the bits of all plain places; exact if strides are powers of two and nothing carries. */
static uint64_t tile_possible_bits(const tesela_tile_memory *tile) {
  tile_sums sums = {.n = 0};
  uint64_t all = 0;
  if (tile->offset) tile_add_sum(&sums, (uint64_t)tile->offset, (uint64_t)tile->offset);
  for (int32_t m = 0; m < tile->n_modes; m++) {
    uint64_t stride = (uint64_t)tile->mode_strides[m], reach = stride * ((uint64_t)tile->mode_shape[m] - 1);
    if (stride) tile_add_sum(&sums, tile_bits_between(stride, reach), reach);
  }
  for (int32_t i = 0; i < sums.n; i++) all |= sums.bits[i];
  return all;
}

tesela_tile_swizzle tesela__tile_acting(const tesela_tile_memory *tile) {
  tesela_tile_swizzle s = tile->swizzle;
  int32_t from = s.shift < 0 ? s.base : s.base + s.shift, low = 0, high = s.bits;
  uint64_t source = tile_possible_bits(tile) >> from;
  while (low < high && !(source >> low & 1)) low++;
  while (high > low && !(source >> (high - 1) & 1)) high--;
  if (low == high) return (tesela_tile_swizzle){0, 0, 0};
  return (tesela_tile_swizzle){.base = s.base + low, .bits = high - low, .shift = s.shift};
}

/* ---- the largest place ------------------------------------------------------------------------------------------- */

typedef struct tile_search {
  tesela_tile_swizzle swizzle;
  int32_t n, left;   /* modes; elements that the search may still visit */
  int64_t low, best; /* start of the window; largest place so far */
  int64_t extent[TESELA_REGISTER_MODES], stride[TESELA_REGISTER_MODES]; /* by decreasing stride, all > 0 */
  int64_t rest[TESELA_REGISTER_MODES + 1]; /* the most that modes i and later can add */
} tile_search;

/* Visit the elements in the window that have the prefix `plain`, with modes i and later free. Every recursive call
 * finds at least one, so the work is at most their number times the modes; the depth is the number of modes. */
static void tile_visit(tile_search *s, int32_t i, int64_t plain) {
  if (i == s->n) {
    s->left--;
    s->best = tesela__max(s->best, tesela__tile_swizzled(s->swizzle, plain));
    return;
  }
  int64_t lack = s->low - plain - s->rest[i + 1];
  int64_t first = lack > 0 ? tesela__ceil_div(lack, s->stride[i]) : 0;
  for (int64_t q = s->extent[i] - 1; q >= first && s->left >= 0; q--)
    tile_visit(s, i + 1, plain + q * s->stride[i]);
}

static void tile_sort_modes(tile_search *s, const tesela_tile_memory *tile) {
  for (int32_t m = 0; m < tile->n_modes; m++) {
    if (tile->mode_strides[m] == 0) continue;
    int32_t i = s->n++;
    for (; i > 0 && s->stride[i - 1] < tile->mode_strides[m]; i--) {
      s->extent[i] = s->extent[i - 1];
      s->stride[i] = s->stride[i - 1];
    }
    s->extent[i] = tile->mode_shape[m];
    s->stride[i] = tile->mode_strides[m];
  }
  s->rest[s->n] = 0;
  for (int32_t i = s->n - 1; i >= 0; i--) s->rest[i] = s->rest[i + 1] + (s->extent[i] - 1) * s->stride[i];
}

bool tesela__tile_least_size(const tesela_tile_memory *tile, int64_t *size) {
  int64_t high = tile->offset, reach;
  for (int32_t m = 0; m < tile->n_modes; m++)
    if (!tesela__mul(tile->mode_shape[m] - 1, tile->mode_strides[m], &reach) ||
        !tesela__add(high, reach, &high))
      return false;
  tesela_tile_swizzle swizzle = tesela__tile_acting(tile);
  if (swizzle.bits > 0) {
    int32_t top = swizzle.base + swizzle.bits + (swizzle.shift < 0 ? -swizzle.shift : 0); /* at most 62 */
    int64_t window = ((int64_t)1 << top) - 1;
    tile_search search = {
        .swizzle = swizzle, .n = 0, .left = TILE_WINDOW_LIMIT, .low = high & ~window, .best = 0};
    tile_sort_modes(&search, tile);
    tile_visit(&search, 0, tile->offset);
    high = search.left >= 0 ? search.best : high | window;
  }
  return tesela__add(high, 1, size);
}
