/* SPDX-License-Identifier: Apache-2.0 */
/*
 * memory_compose.c - composition of tiles: each element of one becomes a whole other tile; stages of a buffer.
 *
 *   place = outer * M + inner, M the size of inner. Without swizzles that is outer's strides times M, and inner's.
 *
 * One XOR stage S must do to the sum what it did to its side alone:
 *
 *   inner's   S(outer * M + x) = outer * M + S(x) if no bit below h = base + |shift| + bits is set in outer * M: then
 *             the low h bits of the sum are those of x, and S reads and changes no others.
 *   outer's   S(X) * M + inner = S'(X * M + inner) if M = 2^m: X * M + inner is X shifted by m above the bits of inner,
 *             so S' is S with its base m higher.
 *
 * Two swizzles are never one stage: all bits of inner's are below m and all of outer's are not, so one stage would have
 * |shift| < bits.
 */
#include "gpu/memory/tile_memory.h"

/* The same places in the simplest form: without a swizzle that has no effect, or with all elements at one place. */
static tesela_tile_memory tile_plain_if_it_can(const tesela_tile_memory *layout) {
  tesela_tile_memory tile = *layout;
  bool one_place = true;
  for (int32_t m = 0; m < tile.n_modes; m++) one_place = one_place && tile.mode_strides[m] == 0;
  if (one_place) tile.offset = tesela__tile_swizzled(tile.swizzle, tile.offset);
  if (one_place || tesela__tile_acting(&tile).bits == 0) tile.swizzle = (tesela_tile_swizzle){0, 0, 0};
  return tile;
}

/* The number of low zero bits of x * size; 64 for x = 0. */
static int32_t tile_zeros(int64_t x, int64_t size) {
  int32_t zeros = 0;
  if (x == 0 || size == 0) return 64;
  for (; !(x & 1); x >>= 1) zeros++;
  for (; !(size & 1); size >>= 1) zeros++;
  return zeros;
}

/* The swizzle of inner in the composition: whole, or its acting part. False if neither is possible. */
static bool tile_keep_inner(const tesela_tile_memory *outer, const tesela_tile_memory *inner,
                            tesela_tile_swizzle *kept) {
  int32_t zeros = tile_zeros(outer->offset, inner->size);
  for (int32_t m = 0; m < outer->n_modes; m++) {
    int32_t z = tile_zeros(outer->mode_strides[m], inner->size);
    zeros = z < zeros ? z : zeros;
  }
  *kept = inner->swizzle;
  if (tesela__tile_swizzle_top(*kept) <= zeros) return true;
  *kept = tesela__tile_acting(inner);
  return tesela__tile_swizzle_top(*kept) <= zeros;
}

/* The same for the swizzle of outer. */
static bool tile_keep_outer(const tesela_tile_memory *outer, const tesela_tile_memory *inner,
                            tesela_tile_swizzle *kept) {
  if (inner->size & (inner->size - 1)) return false;
  int32_t log = tile_zeros(1, inner->size);
  *kept = outer->swizzle;
  if (tesela__tile_swizzle_top(*kept) + log > 62) *kept = tesela__tile_acting(outer);
  kept->base += log;
  return tesela__tile_swizzle_top(*kept) <= 62;
}

static tesela_status tile_compose_swizzle(const tesela_tile_memory *outer, const tesela_tile_memory *inner,
                                          tesela_tile_swizzle *kept, tesela_error *err) {
  *kept = (tesela_tile_swizzle){0, 0, 0};
  if (outer->swizzle.bits > 0 && inner->swizzle.bits > 0)
    return tesela__refuse(err, TESELA_E_UNSUPPORTED, TESELA_REASON_SWIZZLE,
                          "both layouts have a swizzle; one stage cannot express both");
  if (inner->swizzle.bits > 0 && !tile_keep_inner(outer, inner, kept))
    return tesela__refuse(err, TESELA_E_UNSUPPORTED, TESELA_REASON_SWIZZLE,
                          "copies of the swizzled layout would be %" PRId64
                          " places apart; its swizzle requires a multiple of %" PRId64,
                          inner->size, (int64_t)1 << tesela__tile_swizzle_top(tesela__tile_acting(inner)));
  if (outer->swizzle.bits > 0 && !tile_keep_outer(outer, inner, kept))
    return tesela__refuse(err, TESELA_E_UNSUPPORTED, TESELA_REASON_SWIZZLE,
                          "each element of the swizzled layout would become %" PRId64
                          " places; its swizzle requires a power of two, with all its bits below 2^62",
                          inner->size);
  return TESELA_OK;
}

/* Dim d of a product of rank `rank` as a dim of `layout`; -1: one of the leading 1s. */
static int32_t tile_dim_of(const tesela_tile_memory *layout, int32_t rank, int32_t d) {
  int32_t own = d - (rank - layout->rank);
  return own < 0 ? -1 : own;
}

/* The modes of both sides, inner's innermost. False if a stride does not fit in 64 bits. */
static bool tile_compose_modes(const tesela_tile_memory *outer, const int32_t *first_outer,
                               const tesela_tile_memory *inner, const int32_t *first_inner, int32_t rank,
                               tesela__tile_parts *parts) {
  for (int32_t d = rank - 1; d >= 0; d--) {
    int32_t i = tile_dim_of(inner, rank, d), o = tile_dim_of(outer, rank, d);
    for (int32_t m = i < 0 ? 0 : first_inner[i + 1]; i >= 0 && m > first_inner[i]; m--)
      tesela__tile_part(parts, d, inner->mode_shape[m - 1], inner->mode_strides[m - 1]);
    for (int32_t m = o < 0 ? 0 : first_outer[o + 1]; o >= 0 && m > first_outer[o]; m--) {
      int64_t stride;
      if (!tesela__mul(outer->mode_strides[m - 1], inner->size, &stride)) return false;
      tesela__tile_part(parts, d, outer->mode_shape[m - 1], stride);
    }
  }
  return true;
}

tesela_status tesela_tile_memory_compose(tesela_tile_memory *out, const tesela_tile_memory *outer,
                                         const tesela_tile_memory *inner, tesela_error *err) {
  TESELA__NEED(err, out, outer, inner);
  tesela_tile_memory o = tile_plain_if_it_can(outer), i = tile_plain_if_it_can(inner);
  tesela_tile_memory tile = {.space = o.space, .rank = o.rank > i.rank ? o.rank : i.rank};
  tesela__tile_parts parts = {.n = 0};
  int32_t first_outer[TESELA_MAX_RANK + 1], first_inner[TESELA_MAX_RANK + 1];
  int64_t size, offset, elements;
  bool fits = true;
  tesela_status status = tesela__modes_of_dims(o.rank, o.shape, o.n_modes, o.mode_shape, first_outer, err);
  if (status == TESELA_OK)
    status = tesela__modes_of_dims(i.rank, i.shape, i.n_modes, i.mode_shape, first_inner, err);
  if (status == TESELA_OK) status = tile_compose_swizzle(&o, &i, &tile.swizzle, err);
  if (status != TESELA_OK) return status;
  for (int32_t d = 0; d < tile.rank && fits; d++) {
    int32_t a = tile_dim_of(&o, tile.rank, d), b = tile_dim_of(&i, tile.rank, d);
    fits = tesela__mul(a < 0 ? 1 : o.shape[a], b < 0 ? 1 : i.shape[b], &tile.shape[d]);
  }
  if (!fits || !tesela__mul(o.size, i.size, &size) || !tesela__mul(o.offset, i.size, &offset) ||
      !tesela__add(offset, i.offset, &tile.offset) ||
      !tile_compose_modes(&o, first_outer, &i, first_inner, tile.rank, &parts))
    return tesela__fail(err, TESELA_E_OVERFLOW, -1,
                        "the places of %" PRId64 " tiles of %" PRId64 " do not fit in 64 bits", o.size,
                        i.size);
  status = tesela__check_extents(tile.rank, tile.shape, &elements, err);
  if (status != TESELA_OK) return status;
  tesela__tile_set_modes(&tile, &parts);
  return tesela__tile_finish(&tile, size, out, err);
}

tesela_status tesela_tile_memory_prepend(tesela_tile_memory *out, const tesela_tile_memory *layout, int64_t n,
                                         tesela_error *err) {
  TESELA__NEED(err, out, layout);
  tesela_tile_memory stages, tile;
  int64_t shape[TESELA_MAX_RANK] = {n};
  tesela_status status = tesela_tile_memory_unsqueeze(&tile, layout, 1, (const int64_t[]){0}, err);
  if (status != TESELA_OK) return status;
  for (int32_t d = 1; d < tile.rank; d++) shape[d] = 1;
  status = tesela_tile_memory_row_major(&stages, layout->space, tile.rank, shape, err);
  return status == TESELA_OK ? tesela_tile_memory_compose(out, &stages, &tile, err) : status;
}
