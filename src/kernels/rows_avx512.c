/* SPDX-License-Identifier: Apache-2.0 */
/*
 * rows_avx512.c - copies of rows and of whole cache lines with AVX-512.
 *
 * A row is whole vectors and one masked vector. Only whole aligned lines can go past the cache, so a streamed row has a
 * masked vector at both ends. Long streamed rows prefetch src: the hardware prefetchers alone do not keep the store
 * queue busy.
 */
#include "kernels/rows.h"

#if TESELA__X86
#include <immintrin.h>

#define AVX512 TESELA__TARGET("avx512f,avx512bw,avx512vl,avx512dq")

/* Mask of the low n of 64 bytes, 0 <= n <= 64. */
static inline __mmask64 low_bytes_avx512(int64_t n) { return n ? ~UINT64_C(0) >> (64 - n) : 0; }

AVX512 static inline void copy_masked_avx512(unsigned char *dst, const unsigned char *src, __mmask64 mask) {
  _mm512_mask_storeu_epi8(dst, mask, _mm512_maskz_loadu_epi8(mask, src));
}

AVX512 static inline void copy_vector_avx512(unsigned char *dst, const unsigned char *src) {
  _mm512_storeu_si512(dst, _mm512_loadu_si512(src));
}

/* n >= 64; the last vector overlaps the one before it; if n >= 512, the first one overlaps the second, to align dst. */
AVX512 static inline void copy_row_avx512(unsigned char *dst, const unsigned char *src, int64_t n,
                                          bool ahead) {
  int64_t at = 0;
  if (n >= 512 && (uintptr_t)dst % 64 != 0) {
    copy_vector_avx512(dst, src);
    at = (int64_t)(-(uintptr_t)dst & 63);
  }
  for (; at + 256 <= n; at += 256) {
    if (ahead && at + TESELA__DST_AHEAD < n) tesela__fetch_dst(dst + at + TESELA__DST_AHEAD, 256);
    __m512i a = _mm512_loadu_si512(src + at), b = _mm512_loadu_si512(src + at + 64);
    __m512i c = _mm512_loadu_si512(src + at + 128), d = _mm512_loadu_si512(src + at + 192);
    _mm512_storeu_si512(dst + at, a), _mm512_storeu_si512(dst + at + 64, b);
    _mm512_storeu_si512(dst + at + 128, c), _mm512_storeu_si512(dst + at + 192, d);
  }
  for (; at + 64 <= n; at += 64) copy_vector_avx512(dst + at, src + at);
  if (at < n) copy_vector_avx512(dst + n - 64, src + n - 64);
}

AVX512 static inline void stream_lines_avx512(unsigned char *dst, const unsigned char *src, int64_t lines) {
  for (; lines >= 4; lines -= 4, dst += 256, src += 256) {
    __m512i a = _mm512_loadu_si512(src), b = _mm512_loadu_si512(src + 64);
    __m512i c = _mm512_loadu_si512(src + 128), d = _mm512_loadu_si512(src + 192);
    _mm512_stream_si512((void *)dst, a), _mm512_stream_si512((void *)(dst + 64), b);
    _mm512_stream_si512((void *)(dst + 128), c), _mm512_stream_si512((void *)(dst + 192), d);
  }
  for (; lines; lines--, dst += 64, src += 64) _mm512_stream_si512((void *)dst, _mm512_loadu_si512(src));
}

AVX512 static inline void stream_ahead_avx512(unsigned char *dst, const unsigned char *src, int64_t lines) {
  int64_t ahead = TESELA__STREAM_AHEAD / 64;
  for (; lines >= ahead + 4; lines -= 4, dst += 256, src += 256) {
    for (int i = 0; i < 4; i++) _mm_prefetch((const char *)src + TESELA__STREAM_AHEAD + 64 * i, _MM_HINT_T0);
    stream_lines_avx512(dst, src, 4);
  }
  stream_lines_avx512(dst, src, lines);
}

AVX512 static inline void stream_row_avx512(unsigned char *dst, const unsigned char *src, int64_t n) {
  int64_t head = tesela__min(n, (int64_t)(-(uintptr_t)dst & 63));
  if (head) copy_masked_avx512(dst, src, low_bytes_avx512(head));
  dst += head, src += head, n -= head;
  stream_ahead_avx512(dst, src, n / 64);
  if (n % 64) copy_masked_avx512(dst + n / 64 * 64, src + n / 64 * 64, low_bytes_avx512(n % 64));
}

/* Short rows of whole aligned lines, as in tiles: without head and tail. */
AVX512 static inline void stream_whole_lines_avx512(unsigned char *dst, const int64_t *dst_off,
                                                    const unsigned char *src, const int64_t *src_off,
                                                    int64_t n, int64_t count) {
  for (int64_t i = 0; i < count; i++)
    for (int64_t at = 0; at < n; at += 64)
      _mm512_stream_si512((void *)(dst + dst_off[i] + at), _mm512_loadu_si512(src + src_off[i] + at));
}

static inline bool all_at_lines_avx512(const unsigned char *dst, const int64_t *dst_off, int64_t count) {
  uintptr_t bits = 0;
  for (int64_t i = 0; i < count; i++) bits |= (uintptr_t)(dst + dst_off[i]);
  return bits % 64 == 0;
}

/* Rows of 64 to 256 bytes: the first vectors and the last ones, which may overlap. */
AVX512 static inline void copy_short_rows_avx512(const tesela__rows *rows, unsigned char *dst,
                                                 const int64_t *dst_off, const unsigned char *src,
                                                 const int64_t *src_off, int64_t count) {
  const int64_t n = rows->n;
  for (int64_t i = 0; i < count; i++) {
    tesela__fetch_next(rows, dst, dst_off, i, count);
    unsigned char *to = dst + dst_off[i];
    const unsigned char *from = src + src_off[i];
    const __m512i first = _mm512_loadu_si512(from), last = _mm512_loadu_si512(from + n - 64);
    if (n > 128) {
      const __m512i second = _mm512_loadu_si512(from + 64);
      const __m512i third = _mm512_loadu_si512(from + n - 128);
      _mm512_storeu_si512(to, first), _mm512_storeu_si512(to + 64, second);
      _mm512_storeu_si512(to + n - 128, third), _mm512_storeu_si512(to + n - 64, last);
    } else {
      _mm512_storeu_si512(to, first);
      if (n > 64) _mm512_storeu_si512(to + n - 64, last);
    }
  }
}

AVX512 void tesela__k_copy_avx512(const tesela__rows *rows, unsigned char *dst, const int64_t *dst_off,
                                  const unsigned char *src, const int64_t *src_off, int64_t count) {
  int64_t n = rows->n;
  if (tesela__past_cache(rows) && (n == 64 || n == 128) && all_at_lines_avx512(dst, dst_off, count)) {
    stream_whole_lines_avx512(dst, dst_off, src, src_off, n, count);
  } else if (tesela__past_cache(rows) && n >= 64) {
    for (int64_t i = 0; i < count; i++) stream_row_avx512(dst + dst_off[i], src + src_off[i], n);
  } else if (n <= 32) { /* moves of a power of two are faster than masks */
    tesela__k_copy_c(rows, dst, dst_off, src, src_off, count);
  } else if (n < 64) {
    __mmask64 mask = low_bytes_avx512(n);
    for (int64_t i = 0; i < count; i++) copy_masked_avx512(dst + dst_off[i], src + src_off[i], mask);
  } else if (n <= 256) {
    copy_short_rows_avx512(rows, dst, dst_off, src, src_off, count);
  } else {
    for (int64_t i = 0; i < count; i++) {
      tesela__fetch_next(rows, dst, dst_off, i, count);
      copy_row_avx512(dst + dst_off[i], src + src_off[i], n, rows->stores == TESELA__TO_CACHE_AHEAD);
    }
  }
}

AVX512 void tesela__k_stream_avx512(unsigned char *dst, const unsigned char *src, int64_t lines) {
  stream_ahead_avx512(dst, src, lines);
}

AVX512 void tesela__k_stream_rows_avx512(const tesela__stream_rows *rows) {
  for (int64_t i = 0; i < rows->count; i++) {
    const unsigned char *from = rows->src + i * rows->pitch;
    unsigned char *to = rows->dst + rows->dst_off[i * rows->step];
    const int64_t phase = (int64_t)((uintptr_t)to % 64), end = phase + rows->n, whole = end / 64 * 64;
    int64_t at = 0;
    to -= phase;
    from -= phase;
    if (phase > 0 && rows->begins) {
      at = tesela__min(64, end);
      copy_masked_avx512(to, from, low_bytes_avx512(at) >> phase << phase);
    }
    for (; at < whole; at += 64) _mm512_stream_si512((void *)(to + at), _mm512_loadu_si512(from + at));
    if (rows->ends && at < end) copy_masked_avx512(to + at, from + at, low_bytes_avx512(end - at));
    if (!rows->ends) _mm512_storeu_si512(rows->keep[i], _mm512_loadu_si512(from + end - 64));
  }
}

#undef AVX512
#endif
