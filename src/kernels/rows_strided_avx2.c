/* SPDX-License-Identifier: Apache-2.0 */
/*
 * rows_strided_avx2.c - every k-th element, with shuffles of 16 bytes, two at a time; strided.h has the method.
 */
#include "kernels/strided.h"

#if TESELA__X86
#include <immintrin.h>

#define AVX2 TESELA__TARGET("avx2")

/* With n vectors of src for 16 bytes of dst. */
AVX2 TESELA__INLINE void compress_by_avx2(unsigned char *dst, const unsigned char *src,
                                          const tesela__strided *s, int64_t steps, bool stream, int64_t n) {
  const int64_t next = s->next;
  for (src += s->low; steps > 0; steps--, dst += 32, src += 2 * next) {
    __m256i v = _mm256_setzero_si256();
    TESELA__UNROLL_GCC
    for (int64_t j = 0; j < n; j++) {
      const __m128i low = _mm_loadu_si128((const void *)(src + 16 * j));
      const __m128i high = _mm_loadu_si128((const void *)(src + 16 * j + next));
      const __m256i both = _mm256_inserti128_si256(_mm256_castsi128_si256(low), high, 1);
      const __m256i from = _mm256_broadcastsi128_si256(_mm_loadu_si128((const void *)s->from[j]));
      v = _mm256_or_si256(v, _mm256_shuffle_epi8(both, from));
    }
    if (stream)
      _mm256_stream_si256((void *)dst, v);
    else
      _mm256_storeu_si256((void *)dst, v);
  }
}

AVX2 TESELA__INLINE void compress_avx2(unsigned char *dst, const unsigned char *src, const tesela__strided *s,
                                       int64_t steps, bool stream) {
  switch (s->n_vectors) { /* unrolled for short distances */
#define CASE(n)                                      \
  case n:                                            \
    compress_by_avx2(dst, src, s, steps, stream, n); \
    break;
    CASE(1)
    CASE(2)
    CASE(3)
    CASE(4)
    CASE(5)
    CASE(6)
    CASE(7)
    CASE(8)
#undef CASE
  }
}

/* ---- one element in a whole run ---------------------------------------------------------------------------- */

/* Runs of so many bytes and more have whole lines to store. */
enum { REPEATED_LEAST = 128 };

/* With `stream` the whole lines of a run go past the cache, the parts of lines at its ends do not. */
AVX2 static inline void repeat_row_avx2(unsigned char *dst, const unsigned char *element, int64_t bytes,
                                        int64_t width, bool stream) {
  alignas(32) unsigned char values[64 + 16]; /* from any byte of an element on */
  for (int64_t at = 0; at < (int64_t)sizeof values; at += width) memcpy(values + at, element, (size_t)width);
  int64_t at = (int64_t)(-(uintptr_t)dst & 63);
  if (at > 0) tesela__copy_short(dst, values, (size_t)at);
  const __m256i v = _mm256_loadu_si256((const void *)(values + at % width));
  for (; stream && at + 64 <= bytes; at += 64) {
    _mm256_stream_si256((void *)(dst + at), v);
    _mm256_stream_si256((void *)(dst + at + 32), v);
  }
  for (; at + 64 <= bytes; at += 64) {
    _mm256_store_si256((void *)(dst + at), v);
    _mm256_store_si256((void *)(dst + at + 32), v);
  }
  if (at < bytes) tesela__copy_short(dst + at, values + at % width, (size_t)(bytes - at));
}

/* All rows but those that vectors of src make. */
static tesela__rows_fn others1_avx2, others2_avx2, others4_avx2, others8_avx2;
#define OTHERS(name, c_kernel, width)                                                                       \
  void name(const tesela__rows *rows, unsigned char *dst, const int64_t *dst_off, const unsigned char *src, \
            const int64_t *src_off, int64_t count) {                                                        \
    const bool repeats = rows->src_pitch == 0 && rows->dst_pitch == (width);                                \
    if (!repeats || rows->n * (width) < REPEATED_LEAST) {                                                   \
      c_kernel(rows, dst, dst_off, src, src_off, count);                                                    \
      return;                                                                                               \
    }                                                                                                       \
    for (int64_t i = 0; i < count; i++)                                                                     \
      repeat_row_avx2(dst + dst_off[i], src + src_off[i], rows->n * (width), width,                         \
                      tesela__past_cache(rows));                                                            \
  }
OTHERS(others1_avx2, tesela__k_strided1_c, 1)
OTHERS(others2_avx2, tesela__k_strided2_c, 2)
OTHERS(others4_avx2, tesela__k_strided4_c, 4)
OTHERS(others8_avx2, tesela__k_strided8_c, 8)
OTHERS(tesela__k_strided16_avx2, tesela__k_strided16_c, 16)
#undef OTHERS

/* ---- kernels ----------------------------------------------------------------------------------------------- */

/* In the cache a vector of src costs as much as one or two elements of dst by C: in ns an element, on Zen 3, 8 bytes apart 0.18 and 0.19,
 * 11 apart 0.25 and 0.19; 6 and 9 of two bytes 0.19 and 0.19, 0.38 and 0.20; 3 and 5 of four 0.26 and 0.26, 0.39 and 0.26. */
#define NEAR(bytes) (pitch >= -(bytes) && pitch <= (bytes))
TESELA__STRIDED(tesela__k_strided1_avx2, AVX2, compress_avx2, 32, others1_avx2, 1, NEAR(8))
TESELA__STRIDED(tesela__k_strided2_avx2, AVX2, compress_avx2, 32, others2_avx2, 2, NEAR(12))
TESELA__STRIDED(tesela__k_strided4_avx2, AVX2, compress_avx2, 32, others4_avx2, 4, NEAR(12) && pitch != -4)
TESELA__STRIDED(tesela__k_strided8_avx2, AVX2, compress_avx2, 32, others8_avx2, 8, false)
#undef NEAR

#undef AVX2
#endif
