/* SPDX-License-Identifier: Apache-2.0 */
/*
 * strided.h - elements at a short fixed distance in src, neighbours in dst: whole vectors of src are loaded, and the elements in them
 * are permuted together. Shared by the kernels of vectors of 16 bytes; rows_strided_avx512.c has the same method with 64.
 *
 *   every third f32      12 bytes apart: a vector of dst has bytes of three vectors of src
 *
 * Elements do not straddle vectors, since the distance is a multiple of their width. Wide elements, and those far apart, are moved one by one
 * in the cache, where that is faster.
 */
#ifndef TESELA_SRC_STRIDED_H
#define TESELA_SRC_STRIDED_H

#include "kernels/rows.h"

/* Beyond so many bytes between elements, moves one by one are as fast; and from vectors of 16 bytes beyond so many elements. */
enum { TESELA__STRIDED_FAR = 32, TESELA__STRIDED_MOST = 8 };

/* Is this a row of elements at most `most` apart? False also for rows too short to gain. */
static inline bool tesela__strided_near(const tesela__rows *rows, int64_t width, int64_t vector,
                                        int64_t most) {
  const int64_t pitch = rows->src_pitch < 0 ? -rows->src_pitch : rows->src_pitch;
  return rows->dst_pitch == width && pitch > 0 && pitch % width == 0 && pitch <= TESELA__STRIDED_FAR &&
         pitch / width <= most && rows->n * width >= 2 * vector;
}

/* How 16 bytes of dst are made of vectors of src: byte b of dst is byte from[j][b] of vector j, or not in it (0x80). */
typedef struct tesela__strided {
  int64_t n_vectors, low; /* low: from the address of the first element to the lowest vector */
  int64_t next;           /* from one element to that of the next 16 bytes of dst */
  uint8_t from[TESELA__STRIDED_MOST][16];
} tesela__strided;

static inline void tesela__strided_set(tesela__strided *s, int64_t width, int64_t pitch) {
  const int64_t step = pitch < 0 ? -pitch : pitch, n = 16 / width;
  s->n_vectors = step / width;
  s->low = pitch < 0 ? (n - 1) * pitch : 0;
  s->next = n * pitch;
  memset(s->from, 0x80, (size_t)s->n_vectors * 16);
  for (int64_t e = 0; e < n; e++)
    for (int64_t b = 0; b < width; b++) {
      const int64_t at = e * pitch - s->low + b;
      s->from[at / 16][e * width + b] = (uint8_t)(at % 16);
    }
}

/* Rows that go down are fetched so many bytes ahead: the processor does not foresee short ones. */
enum { TESELA__FETCH_AHEAD = 2048 };

/* Fetch a row, whose last element is `reach` < 0 bytes from the first; of a long one the beginning. */
static inline void tesela__fetch_row(const unsigned char *src, int64_t reach) {
  for (int64_t at = 0; at >= reach && at > -TESELA__FETCH_AHEAD; at -= 64) __builtin_prefetch(src + at, 0, 3);
}

/* Define the kernel `symbol`. run(dst, src, s, steps, stream) makes `bytes` bytes of dst from src in a step; it reads whole vectors, so that
 * between the first and the last elements of a row are enough elements on that side. c_kernel does the rest, and other rows: those
 * whose stores are cached unless `cached`. */
#define TESELA__STRIDED(symbol, target, run, bytes, c_kernel, width, cached)                               \
  target void symbol(const tesela__rows *rows, unsigned char *dst, const int64_t *dst_off,                 \
                     const unsigned char *src, const int64_t *src_off, int64_t count) {                    \
    const int64_t n = (bytes) / (width), pitch = rows->src_pitch, zero = 0;                                \
    tesela__strided s;                                                                                     \
    if (!tesela__strided_near(rows, width, bytes, TESELA__STRIDED_MOST) ||                                 \
        !((cached) || tesela__past_cache(rows))) {                                                         \
      c_kernel(rows, dst, dst_off, src, src_off, count);                                                   \
      return;                                                                                              \
    }                                                                                                      \
    const int64_t reach = (rows->n - 1) * pitch, ahead = 1 - TESELA__FETCH_AHEAD / (reach - 1);            \
    tesela__strided_set(&s, width, pitch);                                                                 \
    for (int64_t i = 0; i < count; i++) {                                                                  \
      unsigned char *to = dst + dst_off[i];                                                                \
      const unsigned char *from = src + src_off[i];                                                        \
      tesela__rows part = *rows;                                                                           \
      if (pitch < 0 && tesela__past_cache(rows) && i + ahead < count)                                      \
        tesela__fetch_row(src + src_off[i + ahead], reach);                                                \
      const int64_t peel =                                                                                 \
          tesela__past_cache(rows) && rows->n * (width) >= 256 ? tesela__peel(to, width, 1) : -1;          \
      int64_t e = peel >= 0 ? peel / (width) : 0;                                                          \
      if (pitch < 0 && e == 0) e = peel == 0 ? 64 / (width) : 1; /* vectors reach to the element before */ \
      part.n = e;                                                                                          \
      if (e > 0) c_kernel(&part, to, &zero, from, &zero, 1);                                               \
      const bool stream = peel >= 0 && ((uintptr_t)(to + e * (width)) & 63) == 0;                          \
      const int64_t steps = e < rows->n ? (rows->n - 1 - e) / n : 0;                                       \
      const int64_t streamed = stream ? steps - steps % (64 / (bytes)) : 0;                                \
      run(to + e * (width), from + e * pitch, &s, streamed, true);                                         \
      e += streamed * n;                                                                                   \
      run(to + e * (width), from + e * pitch, &s, steps - streamed, false);                                \
      e += (steps - streamed) * n;                                                                         \
      if (steps > streamed && rows->n - e > 1) { /* a step that ends before the last element */            \
        e = rows->n - 1 - n;                                                                               \
        run(to + e * (width), from + e * pitch, &s, 1, false);                                             \
        e += n;                                                                                            \
      }                                                                                                    \
      part.n = rows->n - e;                                                                                \
      c_kernel(&part, to + e * (width), &zero, from + e * pitch, &zero, 1);                                \
    }                                                                                                      \
  }

#endif
