/* SPDX-License-Identifier: Apache-2.0 */
/*
 * memory_slice.c - a part of a tile, from `start` on.
 *
 * The plain place is the sum of one function f per dim, so each dim is cut alone: h(i) = f(start + i) - f(start) for
 * i < n must be a list of modes. Modes are reduced, so f is not straight across the borders of its innermost blocks of
 * e elements, except where a carry over two or more modes happens to continue straight (a *smooth* border; never two
 * adjacent ones).
 *
 *   straight            inside a block, or across one smooth border: one mode
 *   whole blocks        start and n are multiples of e: that mode, and the outer modes over start/e, n/e
 *   two halves          [0, n/2) and [n/2, n) are straight: modes 2, n/2
 *   halves of blocks    start is the middle of a block, n a multiple of e, the outer modes are straight over all blocks
 *                       touched: modes n/e, 2, e/2
 *
 * No other case exists. Let r be the innermost extent of modes that express h: h breaks at r and, unless the next
 * extent is 2, at 2r. All breaks are equal modulo e; two that are r apart make r a multiple of e, and start one too:
 * whole blocks. If the next extent is 2, n is 2r (two halves) or h breaks at 3r as well, so e divides 2r but not r:
 * every odd multiple of e/2 is a border that adds the same, an even one is not a border: halves of blocks.
 */
#include "gpu/memory/tile_memory.h"

/* The modes of one dim, innermost first. tile_line_at: f over modes `at` and outer, in blocks of the others. */
typedef struct tile_line {
  int32_t n;
  int64_t extent[TESELA_REGISTER_MODES], stride[TESELA_REGISTER_MODES];
} tile_line;

static int64_t tile_line_at(const tile_line *line, int32_t at, int64_t x) {
  int64_t place = 0;
  for (; at < line->n; x /= line->extent[at++]) place += x % line->extent[at] * line->stride[at];
  return place;
}

/* Does f rise by the stride of mode `at` at each step from start to start + n - 1? */
static bool tile_is_straight(const tile_line *line, int32_t at, int64_t start, int64_t n) {
  if (n == 1) return true;
  int64_t extent = line->extent[at], border = (start / extent + 1) * extent;
  if (start + n <= border) return true;
  return start + n <= border + extent &&
         tile_line_at(line, at, border) - tile_line_at(line, at, border - 1) == line->stride[at];
}

/* Append the modes of dim d that express n values of f from `start` on. False if no modes express them. */
static bool tile_cut(const tile_line *line, int32_t d, int64_t start, int64_t n, tesela__tile_parts *parts) {
  for (int32_t at = 0; n > 1; at++) {
    int64_t extent = line->extent[at], stride = line->stride[at], half;
    if (tile_is_straight(line, at, start, n)) {
      tesela__tile_part(parts, d, n, stride);
      return true;
    }
    if (start % extent == 0 && n % extent == 0) {
      tesela__tile_part(parts, d, extent, stride);
      start /= extent;
      n /= extent;
      continue;
    }
    half = n % 2 == 0 ? n / 2 : 0;
    if (half && tile_is_straight(line, at, start, half) && tile_is_straight(line, at, start + half, half)) {
      int64_t jump = tile_line_at(line, at, start + half) - tile_line_at(line, at, start);
      if (jump < 0) return false;
      tesela__tile_part(parts, d, half, stride);
      tesela__tile_part(parts, d, 2, jump);
      return true;
    }
    half = extent / 2;
    if (extent % 2 != 0 || start % extent != half || n % extent != 0 ||
        !tile_is_straight(line, at + 1, start / extent, n / extent + 1))
      return false;
    int64_t block = line->stride[at + 1];
    if (block < half * stride) return false;
    tesela__tile_part(parts, d, half, stride);
    tesela__tile_part(parts, d, 2, block - half * stride);
    tesela__tile_part(parts, d, n / extent, block);
    return true;
  }
  return true;
}

tesela_status tesela_tile_memory_slice(tesela_tile_memory *out, const tesela_tile_memory *layout,
                                       const int64_t *start, const int64_t *shape, tesela_error *err) {
  TESELA__NEED(err, out, layout);
  TESELA__NEED_LIST(err, start, layout->rank);
  TESELA__NEED_LIST(err, shape, layout->rank);
  tesela_tile_memory tile = {.space = layout->space, .rank = layout->rank, .swizzle = layout->swizzle};
  int64_t elements;
  int32_t first[TESELA_MAX_RANK + 1];
  tesela_status status = tesela__check_extents(layout->rank, shape, &elements, err);
  if (status == TESELA_OK)
    status =
        tesela__modes_of_dims(layout->rank, layout->shape, layout->n_modes, layout->mode_shape, first, err);
  if (status != TESELA_OK) return status;
  for (int32_t d = 0; d < layout->rank; d++)
    if (start[d] < 0 || start[d] > layout->shape[d] - shape[d])
      return tesela__fail(err, TESELA_E_RANGE, -1,
                          "%" PRId64 " elements from %" PRId64 " on along dim %" PRId32
                          ", which has extent %" PRId64,
                          shape[d], start[d], d, layout->shape[d]);
  tesela__tile_parts parts = {.n = 0};
  tile.offset = layout->offset;
  for (int32_t d = layout->rank - 1; d >= 0; d--) {
    tile_line line = {.n = 0};
    for (int32_t m = first[d + 1] - 1; m >= first[d]; m--) {
      line.extent[line.n] = layout->mode_shape[m];
      line.stride[line.n++] = layout->mode_strides[m];
    }
    tile.shape[d] = shape[d];
    tile.offset += tile_line_at(&line, 0, start[d]); /* no overflow: a place of the layout */
    if (!tile_cut(&line, d, start[d], shape[d], &parts))
      return tesela__refuse(err, TESELA_E_UNSUPPORTED, TESELA_REASON_NOT_LINEAR,
                            "modes cannot express the %" PRId64 " elements from %" PRId64
                            " on along dim %" PRId32 ": they cut a mode",
                            shape[d], start[d], d);
  }
  tesela__tile_set_modes(&tile, &parts);
  return tesela__tile_finish(&tile, layout->size, out, err);
}
