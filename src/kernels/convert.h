/* SPDX-License-Identifier: Apache-2.0 */
/*
 * convert.h - how a conversion is made of its step: one row, and many rows at a time.
 *
 * A step converts N elements, from src to dst; `past` asks for stores past the cache, which take addresses that are a multiple of
 * what they store.
 */
#ifndef TESELA_SRC_CONVERT_H
#define TESELA_SRC_CONVERT_H

#include "kernels/rows.h"

#if TESELA__X86
#include <immintrin.h>

/* 16, 32 and 64 bytes to dst. */
TESELA__TARGET("avx2") TESELA__INLINE void tesela__put16(unsigned char *dst, __m128i x, bool past) {
  if (past)
    _mm_stream_si128((void *)dst, x);
  else
    _mm_storeu_si128((void *)dst, x);
}
TESELA__TARGET("avx2") TESELA__INLINE void tesela__put32(unsigned char *dst, __m256i x, bool past) {
  if (past)
    _mm256_stream_si256((void *)dst, x);
  else
    _mm256_storeu_si256((void *)dst, x);
}
TESELA__TARGET("avx512f") TESELA__INLINE void tesela__put64(unsigned char *dst, __m512i x, bool past) {
  if (past)
    _mm512_stream_si512((void *)dst, x);
  else
    _mm512_storeu_si512(dst, x);
}
#endif

/* The head of a step. */
#define TESELA__STEP(isa, name) \
  TESELA__TARGET(isa)           \
  TESELA__INLINE void name(unsigned char *dst, const unsigned char *src, bool past __attribute__((unused)))

/* Rows shorter than a step: as many as fit side by side are converted at once. Elements are whole bytes, rows at most 128. */
void tesela__convert_short_rows(tesela__convert_fn *convert, int64_t src_bytes, int64_t dst_bytes,
                                const tesela__rows *rows, unsigned char *dst, const int64_t *dst_off,
                                const unsigned char *src, const int64_t *src_off, int64_t count);

/* Define the conversion `symbol`, and `symbol`_rows for many rows, of a step of N elements. The last step is made to end
   with the row, so that it converts some elements twice; what is too short for that, or has an end inside a byte, is
   left to the C kernel. Rows go past the cache where all of their steps can. */
#define TESELA__CONVERT(symbol, isa, c_kernel, step, N, src_bits, dst_bits)                                \
  TESELA__TARGET(isa)                                                                                      \
  TESELA__INLINE void symbol##_row(unsigned char *dst, const unsigned char *src, int64_t n, bool past) {   \
    int64_t e = 0;                                                                                         \
    for (; e + (N) <= n; e += (N)) step(dst + e * (dst_bits) / 8, src + e * (src_bits) / 8, past);         \
    if (e == n) return;                                                                                    \
    if (n >= (N) && (dst_bits) >= 8 && (src_bits) >= 8)                                                    \
      step(dst + (n - (N)) * (dst_bits) / 8, src + (n - (N)) * (src_bits) / 8, false);                     \
    else                                                                                                   \
      c_kernel(dst + e * (dst_bits) / 8, src + e * (src_bits) / 8, n - e);                                 \
  }                                                                                                        \
  TESELA__TARGET(isa) void symbol(unsigned char *dst, const unsigned char *src, int64_t n) {               \
    symbol##_row(dst, src, n, false);                                                                      \
  }                                                                                                        \
  TESELA__TARGET(isa)                                                                                      \
  void symbol##_rows(const tesela__rows *rows, unsigned char *dst, const int64_t *dst_off,                 \
                     const unsigned char *src, const int64_t *src_off, int64_t count) {                    \
    enum { OUT = (N) * (dst_bits) / 8 };                                                                   \
    const int64_t n = rows->n;                                                                             \
    const bool past = rows->stream && OUT >= 16 && n % (N) == 0;                                           \
    if (n < (N) && (dst_bits) >= 8 && (src_bits) >= 8 && count > 1)                                        \
      tesela__convert_short_rows(symbol, (src_bits) / 8, (dst_bits) / 8, rows, dst, dst_off, src, src_off, \
                                 count);                                                                   \
    else                                                                                                   \
      for (int64_t i = 0; i < count; i++) {                                                                \
        unsigned char *to = dst + dst_off[i];                                                              \
        if (past && (uintptr_t)to % (OUT ? OUT : 1) == 0)                                                  \
          symbol##_row(to, src + src_off[i], n, true);                                                     \
        else                                                                                               \
          symbol##_row(to, src + src_off[i], n, false);                                                    \
      }                                                                                                    \
  }

/* A complex number is two numbers. */
#define TESELA__SWAP_PARTS(target, name, part)                                                         \
  target void name(unsigned char *dst, const unsigned char *src, int64_t n) { part(dst, src, 2 * n); } \
  target void name##_rows(const tesela__rows *rows, unsigned char *dst, const int64_t *dst_off,        \
                          const unsigned char *src, const int64_t *src_off, int64_t count) {           \
    tesela__rows twice = *rows;                                                                        \
    twice.n *= 2;                                                                                      \
    part##_rows(&twice, dst, dst_off, src, src_off, count);                                            \
  }

#endif
