/* SPDX-License-Identifier: Apache-2.0 */
/*
 * reasons.c - why a shape is padded, in words, the largest factor first.
 *
 *   s32[29360128,10]{1,0:T(8,128)}   dim 1 (10) is minor and fills 10 of 128 lanes: x12.8
 *   f32[3,200]{1,0:T(8,128)}         dim 0 (3) is second-minor and fills 3 of 8 rows: x2.67
 *   f32[]{:T(128)}                   the array has no minor dim: 1 of 128 lanes is filled: x128
 *   pred[64]{0:T(256)E(32)}          every pred takes 32 bits instead of 8: x4.00
 */
#include "report/heap.h"
#include "report/report_state.h"

enum { MAX_PADS = TESELA_XLA_MAX_TILE_NUMBERS + 2 };

static double pad_factor(const tesela_xla_pad *pad) {
  return pad->extent > 0 ? (double)pad->padded / (double)pad->extent : 1;
}

static bool larger_factor(const void *a, const void *b, const void *user) {
  (void)user;
  double fa = pad_factor(a), fb = pad_factor(b);
  return fa > fb || (fa >= fb && (const tesela_xla_pad *)a < (const tesela_xla_pad *)b);
}

static void put_pad_factor(tesela__sink *sink, double factor) {
  tesela__putf(sink, ": x%.*f\n", factor >= 99.95 ? 0 : factor >= 9.995 ? 1 : 2, factor);
}

/* "dim 1 (10)", "dims 1*2 (8*4)". */
static void put_pad_dims(tesela__sink *sink, const tesela_xla_shape *shape, uint32_t dims) {
  bool several = (dims & (dims - 1)) != 0;
  const char *between = several ? "dims " : "dim ";
  for (int32_t p = 0; p < shape->rank; p++) {
    int32_t d = tesela_xla_major(&shape->layout, p);
    if (!(dims >> d & 1)) continue;
    tesela__puts(sink, between);
    tesela__put_int(sink, d);
    between = "*";
  }
  between = " (";
  for (int32_t p = 0; p < shape->rank; p++) {
    int32_t d = tesela_xla_major(&shape->layout, p);
    if (!(dims >> d & 1)) continue;
    tesela__puts(sink, between);
    tesela__put_int(sink, shape->dim[d]);
    between = "*";
  }
  tesela__puts(sink, ")");
}

/* What a tile's places along a bound are called. */
static const char *pad_place_word(const tesela_xla_shape *shape, const tesela_xla_pad *pad, bool one) {
  int32_t tile_rank = shape->layout.tile_rank[0];
  if (tile_rank == 1) return one ? "place" : "places";
  if (pad->from_end == 0) return one ? "lane" : "lanes";
  if (pad->from_end == 1) return one ? "row" : "rows";
  return one ? "place" : "places";
}

static const char *pad_position_word(const tesela_xla_pad *pad) {
  return pad->from_end == 0 ? "minor" : pad->from_end == 1 ? "second-minor" : "more major";
}

/* A bound of the first tile, in which the dims can still be distinguished. */
static void put_first_tile(tesela__sink *sink, const tesela_xla_shape *shape, const tesela_xla_pad *pad) {
  const char *words = pad_place_word(shape, pad, pad->padded == 1);
  if (pad->dims == 0) {
    tesela__putf(sink, "the array has no %s dim: 1 of %" PRId64 " %s is filled", pad_position_word(pad),
                 pad->padded, words);
  } else {
    put_pad_dims(sink, shape, pad->dims);
    bool several = (pad->dims & (pad->dims - 1)) != 0;
    if (shape->layout.tile_rank[0] == 1)
      tesela__putf(sink, " %s %" PRId64 " of %" PRId64 " %s in tiles of %" PRId64, several ? "fill" : "fills",
                   pad->extent, pad->padded, words, pad->tile);
    else
      tesela__putf(sink, " %s %s and %s %" PRId64 " of %" PRId64 " %s", several ? "are" : "is",
                   pad_position_word(pad), several ? "fill" : "fills", pad->extent, pad->padded, words);
  }
  put_pad_factor(sink, pad_factor(pad));
}

static void put_pad_reason(tesela__sink *sink, const tesela_xla_shape *shape, const tesela_xla_pad *pad) {
  switch (pad->kind) {
  case TESELA_XLA_PAD_WIDTH:
    tesela__putf(sink, "every %s takes %" PRId64 " bits instead of %" PRId64, tesela_dtype_name(shape->dtype),
                 pad->padded, pad->extent);
    put_pad_factor(sink, pad_factor(pad));
    return;
  case TESELA_XLA_PAD_TAIL:
    tesela__putf(sink, "L(%" PRId64 ") rounds %" PRId64 " elements up to %" PRId64, pad->tile, pad->extent,
                 pad->padded);
    put_pad_factor(sink, pad_factor(pad));
    return;
  case TESELA_XLA_PAD_TILE:
    break;
  }
  if (pad->level == 0) {
    put_first_tile(sink, shape, pad);
    return;
  }
  tesela__putf(sink,
               "tile %" PRId32 " of the layout rounds %" PRId64 " up to %" PRId64
               " (XLA's allocator does not count this)",
               pad->level + 1, pad->extent, pad->padded);
  put_pad_factor(sink, pad_factor(pad));
}

tesela_status tesela_report_reasons(const tesela_xla_shape *shape, const tesela_writer *to,
                                    tesela_error *err) {
  TESELA__NEED(err, shape, to);
  tesela_xla_pad pads[MAX_PADS];
  const void *sorted[MAX_PADS];
  int32_t n;
  tesela__sink sink;
  tesela_status status = tesela_xla_padding(shape, MAX_PADS, pads, &n, err);
  if (status != TESELA_OK) return status;
  if (n > MAX_PADS) n = MAX_PADS;
  for (int32_t i = 0; i < n; i++) sorted[i] = &pads[i];
  tesela__heap_sort(sorted, (size_t)n, larger_factor, NULL);
  tesela__sink_init(&sink, to);
  for (int32_t i = 0; i < n; i++) put_pad_reason(&sink, shape, sorted[i]);
  return tesela__sink_finish(&sink, err);
}
