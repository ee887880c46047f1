/* SPDX-License-Identifier: Apache-2.0 */
/*
 * convert.h - conversions from their steps: of one row, and of many rows at a time.
 *
 * A step converts N elements from src to dst. `past`: with stores past the cache, to addresses that are a multiple of
 * the stored bytes.
 */
#ifndef TESELA_SRC_CONVERT_H
#define TESELA_SRC_CONVERT_H

#include "kernels/rows.h"

#if TESELA__X86
#include <immintrin.h>

/* Store 16, 32 or 64 bytes. */
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

/* The signature of a step. */
#define TESELA__STEP(isa, name) \
  TESELA__TARGET(isa)           \
  TESELA__INLINE void name(unsigned char *dst, const unsigned char *src, bool past __attribute__((unused)))

/* Store lines of 64 bytes past the cache, to an address that is a multiple of 64. */
static inline void tesela__put_lines(unsigned char *dst, const unsigned char *lines, int64_t n) {
#if TESELA__X86
  tesela__k_stream_avx2(dst, lines, n);
#else
  memcpy(dst, lines, (size_t)n * 64);
#endif
}

/* Convert rows shorter than a step, several side by side. Elements are whole bytes, rows have at most 128 bytes. */
void tesela__convert_short_rows(tesela__convert_fn *convert, int64_t src_bytes, int64_t dst_bytes,
                                const tesela__rows *rows, unsigned char *dst, const int64_t *dst_off,
                                const unsigned char *src, const int64_t *src_off, int64_t count);

/* Define the conversion `symbol`, and `symbol`_rows for many rows, from a step of N elements. The last step ends with
 * the row and converts some elements twice; the C kernel converts shorter rows, and the rest of a row with elements
 * below 8 bits. A row goes past the cache if all of its steps can; steps of less than 16 bytes make whole lines in a buffer, which go
 * past the cache. */
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
  /* Elements of dst of up to 8 bits. */                                                                   \
  TESELA__TARGET(isa)                                                                                      \
  static inline void symbol##_lines(unsigned char *dst, const unsigned char *src, int64_t n) {             \
    enum { LINE = 64 * 8 / (dst_bits), MOST = 8 };                                                         \
    alignas(64) unsigned char lines[MOST * 64];                                                            \
    int64_t e = tesela__min(n, (int64_t)(-(uintptr_t)dst & 63) * 8 / (dst_bits));                          \
    symbol##_row(dst, src, e, false);                                                                      \
    for (int64_t m; (m = tesela__min(MOST, (n - e) / LINE)) > 0; e += m * LINE) {                          \
      symbol##_row(lines, src + e * (src_bits) / 8, m * LINE, false);                                      \
      tesela__put_lines(dst + e * (dst_bits) / 8, lines, m);                                               \
    }                                                                                                      \
    symbol##_row(dst + e * (dst_bits) / 8, src + e * (src_bits) / 8, n - e, false);                        \
  }                                                                                                        \
  TESELA__TARGET(isa)                                                                                      \
  void symbol##_rows(const tesela__rows *rows, unsigned char *dst, const int64_t *dst_off,                 \
                     const unsigned char *src, const int64_t *src_off, int64_t count) {                    \
    enum { OUT = (N) * (dst_bits) / 8 };                                                                   \
    const int64_t n = rows->n;                                                                             \
    const bool past = tesela__past_cache(rows) && OUT >= 16 && n % (N) == 0;                               \
    const bool lines = /* src of part of a byte has no address */                                          \
        tesela__past_cache(rows) && OUT < 16 && (src_bits) >= 8 && (dst_bits) <= 8 &&                      \
        n * (dst_bits) >= 64 * 8;                                                                          \
    if (n < (N) && (dst_bits) >= 8 && (src_bits) >= 8 && count > 1)                                        \
      tesela__convert_short_rows(symbol, (src_bits) / 8, (dst_bits) / 8, rows, dst, dst_off, src, src_off, \
                                 count);                                                                   \
    else                                                                                                   \
      for (int64_t i = 0; i < count; i++) {                                                                \
        unsigned char *to = dst + dst_off[i];                                                              \
        if (past && (uintptr_t)to % (OUT ? OUT : 1) == 0)                                                  \
          symbol##_row(to, src + src_off[i], n, true);                                                     \
        else if (lines)                                                                                    \
          symbol##_lines(to, src + src_off[i], n);                                                         \
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
