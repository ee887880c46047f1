/* SPDX-License-Identifier: Apache-2.0 */
/*
 * rows_avx2.c - copies of rows and of whole cache lines with AVX2; rows_avx512.c has the method.
 *
 * Without masks, the ends of a row are overlapping moves, or short moves if whole lines go past the cache.
 */
#include "kernels/rows.h"

#if TESELA__X86
#include <immintrin.h>

#define AVX2 TESELA__TARGET("avx2")

AVX2 static inline __m256i load_avx2(const unsigned char *src) {
  return _mm256_loadu_si256((const void *)src);
}
AVX2 static inline void store_avx2(unsigned char *dst, __m256i x) { _mm256_storeu_si256((void *)dst, x); }
AVX2 static inline void stream_avx2(unsigned char *dst, __m256i x) { _mm256_stream_si256((void *)dst, x); }

/* n bytes, `end` to twice as many: the first and the last ones, which may overlap. All are read before one is written. */
AVX2 TESELA__INLINE void copy_ends_avx2(unsigned char *dst, const unsigned char *src, int64_t n,
                                        int64_t end) {
  __m256i first[4], last[4];
  TESELA__UNROLL_GCC
  for (int64_t i = 0; i < end / 32; i++) {
    first[i] = load_avx2(src + 32 * i);
    last[i] = load_avx2(src + n - end + 32 * i);
  }
  TESELA__UNROLL_GCC
  for (int64_t i = 0; i < end / 32; i++) store_avx2(dst + 32 * i, first[i]);
  TESELA__UNROLL_GCC
  for (int64_t i = 0; i < end / 32; i++) store_avx2(dst + n - end + 32 * i, last[i]);
}

/* n > 256; the last vectors overlap those before them, and the first one overlaps the second, to align dst. Not memcpy, which on Zen 3
 * moves 3.5 GB/s in the cache if dst is a few bytes after src in its page (glibc 2.36, `rep movsb`), where this moves 60. */
AVX2 static inline void copy_row_avx2(unsigned char *dst, const unsigned char *src, int64_t n, bool ahead) {
  int64_t at = 0;
  if ((uintptr_t)dst % 32 != 0) {
    store_avx2(dst, load_avx2(src));
    at = (int64_t)(-(uintptr_t)dst & 31);
  }
  for (; at + 128 <= n; at += 128) {
    if (ahead && at + TESELA__DST_AHEAD < n) tesela__fetch_dst(dst + at + TESELA__DST_AHEAD, 128);
    copy_ends_avx2(dst + at, src + at, 128, 64);
  }
  if (n - at > 64)
    copy_ends_avx2(dst + n - 128, src + n - 128, 128, 64);
  else if (n > at)
    copy_ends_avx2(dst + n - 64, src + n - 64, 64, 32);
}

AVX2 static inline void stream_lines_avx2(unsigned char *dst, const unsigned char *src, int64_t lines) {
  for (; lines >= 2; lines -= 2, dst += 128, src += 128) {
    __m256i a = load_avx2(src), b = load_avx2(src + 32), c = load_avx2(src + 64), d = load_avx2(src + 96);
    stream_avx2(dst, a), stream_avx2(dst + 32, b);
    stream_avx2(dst + 64, c), stream_avx2(dst + 96, d);
  }
  if (lines) stream_avx2(dst, load_avx2(src)), stream_avx2(dst + 32, load_avx2(src + 32));
}

AVX2 void tesela__k_stream_avx2(unsigned char *dst, const unsigned char *src, int64_t lines) {
  for (; lines >= 2 + TESELA__STREAM_AHEAD / 64; lines -= 2, dst += 128, src += 128) {
    _mm_prefetch((const char *)src + TESELA__STREAM_AHEAD, _MM_HINT_T0);
    _mm_prefetch((const char *)src + TESELA__STREAM_AHEAD + 64, _MM_HINT_T0);
    stream_lines_avx2(dst, src, 2);
  }
  stream_lines_avx2(dst, src, lines);
}

AVX2 void tesela__k_stream_rows_avx2(const tesela__stream_rows *rows) {
  for (int64_t i = 0; i < rows->count; i++) {
    const unsigned char *from = rows->src + i * rows->pitch;
    unsigned char *to = rows->dst + rows->dst_off[i * rows->step];
    const int64_t phase = (int64_t)((uintptr_t)to % 64), end = phase + rows->n, whole = end / 64 * 64;
    int64_t at = 0;
    to -= phase;
    from -= phase;
    if (phase > 0 && rows->begins) {
      at = tesela__min(64, end);
      tesela__copy_short(to + phase, from + phase, (size_t)(at - phase));
    }
    if (whole > at) stream_lines_avx2(to + at, from + at, (whole - at) / 64);
    at = tesela__max(at, whole);
    if (rows->ends && at < end) tesela__copy_short(to + at, from + at, (size_t)(end - at));
    if (rows->ends) continue;
    store_avx2(rows->keep[i], load_avx2(from + end - 64));
    store_avx2(rows->keep[i] + 32, load_avx2(from + end - 32));
  }
}

static inline void stream_row_avx2(unsigned char *dst, const unsigned char *src, int64_t n) {
  int64_t head = tesela__min(n, (int64_t)(-(uintptr_t)dst & 63)), lines = (n - head) / 64;
  if (head) tesela__copy_short(dst, src, (size_t)head);
  tesela__k_stream_avx2(dst + head, src + head, lines);
  head += lines * 64;
  if (head < n) tesela__copy_short(dst + head, src + head, (size_t)(n - head));
}

AVX2 void tesela__k_copy_avx2(const tesela__rows *rows, unsigned char *dst, const int64_t *dst_off,
                              const unsigned char *src, const int64_t *src_off, int64_t count) {
  int64_t n = rows->n;
  if (tesela__past_cache(rows) && n >= 64) {
    for (int64_t i = 0; i < count; i++) stream_row_avx2(dst + dst_off[i], src + src_off[i], n);
  } else if (n <= 32) {
    tesela__k_copy_c(rows, dst, dst_off, src, src_off, count);
  } else {
    const bool ahead = rows->stores == TESELA__TO_CACHE_AHEAD;
    for (int64_t i = 0; i < count; i++) {
      unsigned char *to = dst + dst_off[i];
      const unsigned char *from = src + src_off[i];
      tesela__fetch_next(rows, dst, dst_off, i, count);
      if (n <= 64)
        copy_ends_avx2(to, from, n, 32);
      else if (n <= 128)
        copy_ends_avx2(to, from, n, 64);
      else if (n <= 256)
        copy_ends_avx2(to, from, n, 128);
      else
        copy_row_avx2(to, from, n, ahead);
    }
  }
}

#undef AVX2
#endif
