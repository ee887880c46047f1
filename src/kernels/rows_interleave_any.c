/* SPDX-License-Identifier: Apache-2.0 */
/*
 * rows_interleave_any.c - interleave and deinterleave any number of streams, by the transposes of the same instruction set.
 *
 * Element e of stream s is in column e of row s on one side, and in column s of row e on the other, whose rows have k elements and follow
 * each other:
 *
 *   3 streams of 4 elements      a0 a1 a2 a3 | b0 b1 b2 b3 | c0 c1 c2 c3   <->   a0 b0 c0 | a1 b1 c1 | a2 b2 c2 | a3 b3 c3
 */
#include "kernels/rows.h"

enum { MOST_WOVEN = 128 }; /* streams, and elements of each, at a time */

typedef struct weave_any {
  tesela__transpose_fn *move;
  int64_t width, pitch;       /* pitch: from stream to stream */
  int64_t stream[MOST_WOVEN]; /* the first streams, from the first one */
  int64_t e[MOST_WOVEN];      /* elements number 0, 1 and so on of the first stream, among the others */
} weave_any;

static void set_weave_any(weave_any *w, tesela__transpose_fn *move, int64_t width, const tesela__rows *rows,
                          int64_t pitch) {
  w->move = move, w->width = width, w->pitch = pitch;
  for (int64_t i = 0; i < rows->k && i < MOST_WOVEN; i++) w->stream[i] = i * pitch;
  for (int64_t i = 0; i < rows->n && i < MOST_WOVEN; i++) w->e[i] = i * rows->k * width;
}

static void interleave_row_any(const weave_any *w, const tesela__rows *rows, unsigned char *dst,
                               const unsigned char *src) {
  for (int64_t e = 0; e < rows->n; e += MOST_WOVEN)
    for (int64_t s = 0; s < rows->k; s += MOST_WOVEN)
      w->move(dst + (e * rows->k + s) * w->width, w->e, src + s * w->pitch + e * w->width, w->stream,
              (int32_t)tesela__min(rows->k - s, MOST_WOVEN), (int32_t)tesela__min(rows->n - e, MOST_WOVEN),
              tesela__stores_to_cache(rows));
}

/* Past the cache where lines of all streams begin together: up to there through it, then whole lines. */
static void deinterleave_row_any(const weave_any *w, const tesela__rows *rows, unsigned char *dst,
                                 const unsigned char *src) {
  const int64_t peel = tesela__past_cache(rows) && w->pitch % 64 == 0 ? tesela__peel(dst, w->width, 1) : -1;
  int64_t n = peel > 0 ? tesela__min(rows->n, peel / w->width) : MOST_WOVEN;
  for (int64_t e = 0; e < rows->n; e += n, n = MOST_WOVEN)
    for (int64_t s = 0; s < rows->k; s += MOST_WOVEN)
      w->move(dst + s * w->pitch + e * w->width, w->stream, src + (e * rows->k + s) * w->width, w->e,
              (int32_t)tesela__min(rows->n - e, n), (int32_t)tesela__min(rows->k - s, MOST_WOVEN),
              peel == 0 || (peel > 0 && e > 0) ? TESELA__PAST_CACHE : tesela__stores_to_cache(rows));
}

#define KERNEL(name, row, pitch, transpose, width)                                                          \
  void name(const tesela__rows *rows, unsigned char *dst, const int64_t *dst_off, const unsigned char *src, \
            const int64_t *src_off, int64_t count) {                                                        \
    weave_any w;                                                                                            \
    set_weave_any(&w, transpose, width, rows, rows->pitch);                                                 \
    for (int64_t i = 0; i < count; i++) row(&w, rows, dst + dst_off[i], src + src_off[i]);                  \
  }
#define KERNELS(isa, width, bits)                                                             \
  tesela__transpose_fn tesela__k_transpose_x##bits##_##isa;                                   \
  tesela__rows_fn tesela__k_interleave##width##_##isa, tesela__k_deinterleave##width##_##isa; \
  KERNEL(tesela__k_interleave##width##_##isa, interleave_row_any, src_pitch,                  \
         tesela__k_transpose_x##bits##_##isa, width)                                          \
  KERNEL(tesela__k_deinterleave##width##_##isa, deinterleave_row_any, dst_pitch,              \
         tesela__k_transpose_x##bits##_##isa, width)
#define WIDTHS(isa) \
  KERNELS(isa, 1, 8) KERNELS(isa, 2, 16) KERNELS(isa, 4, 32) KERNELS(isa, 8, 64) KERNELS(isa, 16, 128)

#if TESELA__X86
WIDTHS(avx2)
WIDTHS(avx512)
#endif
#if TESELA__NEON
WIDTHS(neon)
#endif

#undef WIDTHS
#undef KERNELS
#undef KERNEL
