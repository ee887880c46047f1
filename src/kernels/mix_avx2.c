/* SPDX-License-Identifier: Apache-2.0 */
/*
 * mix_avx2.c - small transposes inside elements: one byte shuffle per 16 bytes.
 */
#include "kernels/convert.h"
#include "kernels/mix.h"

#if TESELA__X86
#include <immintrin.h>

/* The source of each of 16 bytes; the pattern of elements of 4 and 8 bytes repeats. */
static inline void set_mix_table(unsigned char table[16], int rows, int cols, int width) {
  int size = rows * cols * width;
  for (int i = 0; i < 16; i++) {
    int number = i % size / width, c = number / rows, r = number % rows;
    table[i] = (unsigned char)(i - i % size + (r * cols + c) * width + i % width);
  }
}

TESELA__TARGET("avx2")
TESELA__INLINE void mix_vectors(unsigned char *dst, const unsigned char *src, int64_t bytes,
                                const unsigned char *table, bool past) {
  __m256i order = _mm256_broadcastsi128_si256(_mm_loadu_si128((const __m128i *)(const void *)table));
  int64_t at = 0;
  for (; at + 32 <= bytes; at += 32) {
    __m256i x = _mm256_loadu_si256((const __m256i *)(const void *)(src + at));
    tesela__put32(dst + at, _mm256_shuffle_epi8(x, order), past);
  }
  for (; at < bytes; at++) dst[at] = src[at - at % 16 + table[at % 16]];
}

TESELA__TARGET("avx2")
static void mix_rows(const tesela__rows *rows, int64_t element, unsigned char *dst, const int64_t *dst_off,
                     const unsigned char *src, const int64_t *src_off, int64_t count,
                     const unsigned char *table) {
  for (int64_t i = 0; i < count; i++) {
    unsigned char *to = dst + dst_off[i];
    if (tesela__past_cache(rows) && (uintptr_t)to % 32 == 0)
      mix_vectors(to, src + src_off[i], rows->n * element, table, true);
    else
      mix_vectors(to, src + src_off[i], rows->n * element, table, false);
  }
}

#define MIX_AVX2(name, rows, cols, width)                                                                 \
  TESELA__TARGET("avx2")                                                                                  \
  void tesela__k_mix##name##_avx2(unsigned char *dst, const unsigned char *src, int64_t n) {              \
    unsigned char table[16];                                                                              \
    set_mix_table(table, rows, cols, width);                                                              \
    mix_vectors(dst, src, n *(rows * cols * width), table, false);                                        \
  }                                                                                                       \
  void tesela__k_mix##name##_avx2_rows(const tesela__rows *r, unsigned char *dst, const int64_t *dst_off, \
                                       const unsigned char *src, const int64_t *src_off, int64_t count) { \
    unsigned char table[16];                                                                              \
    set_mix_table(table, rows, cols, width);                                                              \
    mix_rows(r, rows *cols *(width), dst, dst_off, src, src_off, count, table);                           \
  }
TESELA__MIXES(MIX_AVX2)
#undef MIX_AVX2
#endif
