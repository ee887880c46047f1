/* SPDX-License-Identifier: Apache-2.0 */
/*
 * rows_interleave_avx2.c - interleave and deinterleave 2, 3, 4 or 8 streams, with shuffles inside halves of vectors.
 *
 * A step turns 32 bytes of each of k streams into k vectors of neighbours, by the same rounds of pairs as in
 * rows_interleave_avx512.c. Three streams are shuffled in groups of 3 x 16 bytes, one in each half of three vectors.
 * The last step of a row overlaps the one before it; the C kernels copy shorter rows.
 */
#include "kernels/rows.h"

#if TESELA__X86
#include <immintrin.h>

#define AVX2 TESELA__TARGET("avx2")

/* ---- three streams ------------------------------------------------------------------------------------------ */

/* Byte p of vector v of the neighbours: its number in stream s, or 0x80 if it is in another stream. vs is 3 * v + s. */
#define WEAVE3(p, w, vs)                                                         \
  ((16 * ((vs) / 3) + (p)) / (w) % 3 == (vs) % 3                                 \
       ? (16 * ((vs) / 3) + (p)) / (w) / 3 * (w) + (16 * ((vs) / 3) + (p)) % (w) \
       : 0x80)
/* Byte p of stream s: its number in vector v of the neighbours, or 0x80 if it is in another. sv is 3 * s + v. */
#define UNWEAVE3(p, w, sv)                                       \
  ((((p) / (w)*3 + (sv) / 3) * (w) + (p) % (w)) / 16 == (sv) % 3 \
       ? (((p) / (w)*3 + (sv) / 3) * (w) + (p) % (w)) % 16       \
       : 0x80)
#define NINE(entry, w)                                                                                    \
  {                                                                                                       \
    {TESELA__EACH16(entry, 0, w, 0)}, {TESELA__EACH16(entry, 0, w, 1)}, {TESELA__EACH16(entry, 0, w, 2)}, \
        {TESELA__EACH16(entry, 0, w, 3)}, {TESELA__EACH16(entry, 0, w, 4)},                               \
        {TESELA__EACH16(entry, 0, w, 5)}, {TESELA__EACH16(entry, 0, w, 6)},                               \
        {TESELA__EACH16(entry, 0, w, 7)}, {                                                               \
      TESELA__EACH16(entry, 0, w, 8)                                                                      \
    }                                                                                                     \
  }

static const uint8_t weave3_tables_avx2[4][9][16] = {NINE(WEAVE3, 1), NINE(WEAVE3, 2), NINE(WEAVE3, 4),
                                                     NINE(WEAVE3, 8)};
static const uint8_t unweave3_tables_avx2[4][9][16] = {NINE(UNWEAVE3, 1), NINE(UNWEAVE3, 2),
                                                       NINE(UNWEAVE3, 4), NINE(UNWEAVE3, 8)};

AVX2 TESELA__INLINE __m256i shuffle3_avx2(const __m256i *v, const uint8_t (*table)[16]) {
  __m256i part[3];
  TESELA__UNROLL_GCC
  for (int i = 0; i < 3; i++)
    part[i] = _mm256_shuffle_epi8(v[i], _mm256_broadcastsi128_si256(_mm_loadu_si128((const void *)table[i])));
  return _mm256_or_si256(_mm256_or_si256(part[0], part[1]), part[2]);
}

AVX2 TESELA__INLINE void weave3_avx2(__m256i *v, int width) {
  __m256i x = v[0], y = v[1], z = v[2];
  if (width < 16) { /* an element of 16 bytes is a half */
    const uint8_t(*table)[16] = weave3_tables_avx2[__builtin_ctz((unsigned)width)];
    x = shuffle3_avx2(v, table), y = shuffle3_avx2(v, table + 3), z = shuffle3_avx2(v, table + 6);
  }
  v[0] = _mm256_permute2x128_si256(x, y, 0x20); /* the low halves are the first 48 bytes, */
  v[1] = _mm256_permute2x128_si256(z, x, 0x30); /* the high ones the others */
  v[2] = _mm256_permute2x128_si256(y, z, 0x31);
}

AVX2 TESELA__INLINE void unweave3_avx2(__m256i *v, int width) {
  __m256i group[3] = {_mm256_permute2x128_si256(v[0], v[1], 0x30),
                      _mm256_permute2x128_si256(v[0], v[2], 0x21),
                      _mm256_permute2x128_si256(v[1], v[2], 0x30)};
  TESELA__UNROLL_GCC
  for (int s = 0; s < 3; s++)
    v[s] = width == 16 ? group[s]
                       : shuffle3_avx2(group, unweave3_tables_avx2[__builtin_ctz((unsigned)width)] + 3 * s);
}

/* ---- 2, 4 and 8 streams: rounds of pairs --------------------------------------------------------------------- */

AVX2 TESELA__INLINE void weave_pair_avx2(__m256i *a, __m256i *b, int width) {
  if (width == 16) {
    const __m256i low = _mm256_permute2x128_si256(*a, *b, 0x20);
    *b = _mm256_permute2x128_si256(*a, *b, 0x31);
    *a = low;
    return;
  }
  __m256i x = _mm256_permute4x64_epi64(*a, 0xd8), y = _mm256_permute4x64_epi64(*b, 0xd8);
  *a = width == 1   ? _mm256_unpacklo_epi8(x, y)
       : width == 2 ? _mm256_unpacklo_epi16(x, y)
       : width == 4 ? _mm256_unpacklo_epi32(x, y)
                    : _mm256_unpacklo_epi64(x, y);
  *b = width == 1   ? _mm256_unpackhi_epi8(x, y)
       : width == 2 ? _mm256_unpackhi_epi16(x, y)
       : width == 4 ? _mm256_unpackhi_epi32(x, y)
                    : _mm256_unpackhi_epi64(x, y);
}

/* The even elements in the low half, the odd ones in the high half. */
AVX2 TESELA__INLINE __m256i part_avx2(__m256i x, int width) {
  if (width == 16) return x;
  __m128i order = width == 1   ? _mm_setr_epi8(0, 2, 4, 6, 8, 10, 12, 14, 1, 3, 5, 7, 9, 11, 13, 15)
                  : width == 2 ? _mm_setr_epi8(0, 1, 4, 5, 8, 9, 12, 13, 2, 3, 6, 7, 10, 11, 14, 15)
                               : _mm_setr_epi8(0, 1, 2, 3, 8, 9, 10, 11, 4, 5, 6, 7, 12, 13, 14, 15);
  if (width < 8) x = _mm256_shuffle_epi8(x, _mm256_broadcastsi128_si256(order));
  return _mm256_permute4x64_epi64(x, 0xd8);
}

AVX2 TESELA__INLINE void unweave_pair_avx2(__m256i *a, __m256i *b, int width) {
  __m256i x = part_avx2(*a, width), y = part_avx2(*b, width);
  *a = _mm256_permute2x128_si256(x, y, 0x20);
  *b = _mm256_permute2x128_si256(x, y, 0x31);
}

AVX2 TESELA__INLINE void weave_avx2(__m256i *v, int width, int k) {
  if (k == 3) {
    weave3_avx2(v, width);
    return;
  }
  TESELA__UNROLL_GCC
  for (int s = 0; s < k / 2; s++) weave_pair_avx2(&v[s], &v[s + k / 2], width);
  if (k == 8) {
    TESELA__UNROLL_GCC
    for (int i = 0; i < k; i += 4)
      weave_pair_avx2(&v[i], &v[i + 2], width), weave_pair_avx2(&v[i + 1], &v[i + 3], width);
  }
  if (k > 2) {
    TESELA__UNROLL_GCC
    for (int i = 0; i < k; i += 2) weave_pair_avx2(&v[i], &v[i + 1], width);
  }
}

AVX2 TESELA__INLINE void unweave_avx2(__m256i *v, int width, int k) {
  if (k == 3) {
    unweave3_avx2(v, width);
    return;
  }
  if (k > 2) {
    TESELA__UNROLL_GCC
    for (int i = 0; i < k; i += 2) unweave_pair_avx2(&v[i], &v[i + 1], width);
  }
  if (k == 8) {
    TESELA__UNROLL_GCC
    for (int i = 0; i < k; i += 4)
      unweave_pair_avx2(&v[i], &v[i + 2], width), unweave_pair_avx2(&v[i + 1], &v[i + 3], width);
  }
  TESELA__UNROLL_GCC
  for (int s = 0; s < k / 2; s++) unweave_pair_avx2(&v[s], &v[s + k / 2], width);
}

/* ---- rows --------------------------------------------------------------------------------------------------- */

AVX2 TESELA__INLINE void put_avx2(unsigned char *dst, __m256i v, bool stream) {
  if (stream)
    _mm256_stream_si256((void *)dst, v);
  else
    _mm256_storeu_si256((void *)dst, v);
}

/* Interleave 32 bytes of each stream from byte `at` on; `pitch` is that of the streams. `ahead`: the next lines of dst are fetched. */
AVX2 TESELA__INLINE void weave_step_avx2(unsigned char *dst, const unsigned char *src, int64_t pitch,
                                         int64_t at, bool stream, bool ahead, int width, int k) {
  __m256i v[8];
  TESELA__UNROLL_GCC
  for (int s = 0; s < k; s++) v[s] = _mm256_loadu_si256((const void *)(src + s * pitch + at));
  weave_avx2(v, width, k);
  TESELA__UNROLL_GCC
  for (int i = 0; i < k; i++) {
    if (ahead && i % 2 == 0) __builtin_prefetch(dst + k * (at + 32) + 32 * i, 1, 3);
    put_avx2(dst + k * at + 32 * i, v[i], stream);
  }
}

/* Read 32 bytes for each stream from byte `at` of it on, and take the streams apart. */
AVX2 TESELA__INLINE void get_unwoven_avx2(__m256i *v, const unsigned char *src, int64_t at, int width,
                                          int k) {
  TESELA__UNROLL_GCC
  for (int i = 0; i < k; i++) v[i] = _mm256_loadu_si256((const void *)(src + k * at + 32 * i));
  unweave_avx2(v, width, k);
}

/* 32 bytes of each stream. */
AVX2 TESELA__INLINE void unweave_half_avx2(unsigned char *dst, const unsigned char *src, int64_t pitch,
                                           int64_t at, int width, int k) {
  __m256i v[8];
  get_unwoven_avx2(v, src, at, width, k);
  TESELA__UNROLL_GCC
  for (int s = 0; s < k; s++) put_avx2(dst + s * pitch + at, v[s], false);
}

/* 64 bytes of each stream, stored together. */
AVX2 TESELA__INLINE void unweave_step_avx2(unsigned char *dst, const unsigned char *src, int64_t pitch,
                                           int64_t at, bool stream, bool ahead, int width, int k) {
  __m256i v[8], next[8];
  get_unwoven_avx2(v, src, at, width, k);
  get_unwoven_avx2(next, src, at + 32, width, k);
  if (stream) {
    TESELA__UNROLL_GCC
    for (int i = 0; i < k; i++)
      _mm_prefetch((const char *)src + k * at + 64 * i + TESELA__STREAM_AHEAD, _MM_HINT_T0);
  }
  TESELA__UNROLL_GCC
  for (int s = 0; s < k; s++) {
    if (ahead) __builtin_prefetch(dst + s * pitch + at + 64, 1, 3);
    put_avx2(dst + s * pitch + at, v[s], stream);
    put_avx2(dst + s * pitch + at + 32, next[s], stream);
  }
}

/* All whole steps within bytes `from` to `to` of a stream. */
#define WEAVE_STEPS(name, width, k)                                                                \
  AVX2 static void name(unsigned char *dst, const unsigned char *src, int64_t pitch, int64_t from, \
                        int64_t to, tesela__stores stores) {                                       \
    if (stores == TESELA__PAST_CACHE)                                                              \
      for (int64_t at = from; at < to; at += 32)                                                   \
        weave_step_avx2(dst, src, pitch, at, true, false, width, k);                               \
    else if (stores == TESELA__TO_CACHE_AHEAD)                                                     \
      for (int64_t at = from; at + 32 <= to; at += 32)                                             \
        weave_step_avx2(dst, src, pitch, at, false, true, width, k);                               \
    else                                                                                           \
      for (int64_t at = from; at + 32 <= to; at += 32)                                             \
        weave_step_avx2(dst, src, pitch, at, false, false, width, k);                              \
  }
#define UNWEAVE_STEPS(name, width, k)                                                                        \
  AVX2 static void name(unsigned char *dst, const unsigned char *src, int64_t pitch, int64_t at, int64_t to, \
                        tesela__stores stores) {                                                             \
    if (stores == TESELA__PAST_CACHE)                                                                        \
      for (; at < to; at += 64) unweave_step_avx2(dst, src, pitch, at, true, false, width, k);               \
    else if (stores == TESELA__TO_CACHE_AHEAD)                                                               \
      for (; at + 64 <= to; at += 64) unweave_step_avx2(dst, src, pitch, at, false, true, width, k);         \
    for (; at + 32 <= to; at += 32) unweave_half_avx2(dst, src, pitch, at, width, k);                        \
  }

typedef void steps_avx2(unsigned char *dst, const unsigned char *src, int64_t pitch, int64_t from, int64_t to,
                        tesela__stores stores);

/* Bytes `from` to `to` of each stream, up to 64, of a row of 32 and more, by way of a buffer: whole lines past the cache. Stores to lines that
 * have just gone past it would wait for them. */
AVX2 static void put_woven_part_avx2(steps_avx2 *weave, unsigned char *dst, const unsigned char *src,
                                     int64_t pitch, int64_t from, int64_t to, int64_t bytes, int k) {
  unsigned char woven[8 * 64];
  const int64_t first = tesela__min(from, bytes - 32), n = tesela__max(to, first + 32) - first;
  weave(woven, src + first, pitch, 0, n, TESELA__TO_CACHE);
  if (n % 32) weave(woven, src + first, pitch, n - 32, n, TESELA__TO_CACHE);
  const unsigned char *at = woven + k * (from - first), *end = at + k * (to - from);
  for (dst += k * from; at < end;) {
    const int64_t step = tesela__min(end - at, 64 - ((int64_t)(uintptr_t)dst & 63));
    if (step == 64)
      for (int i = 0; i < 64; i += 32) put_avx2(dst + i, _mm256_loadu_si256((const void *)(at + i)), true);
    else
      tesela__copy_short(dst, at, (size_t)step);
    dst += step, at += step;
  }
}

/* A row as in row_avx2 whose lines begin after `head` bytes. */
AVX2 static void woven_row_avx2(steps_avx2 *weave, unsigned char *dst, const unsigned char *src,
                                int64_t pitch, int64_t bytes, int64_t head, int k) {
  const int64_t at = head + (bytes - head) / 64 * 64;
  if (head) put_woven_part_avx2(weave, dst, src, pitch, 0, head, bytes, k);
  weave(dst, src, pitch, head, at, TESELA__PAST_CACHE);
  if (at < bytes) put_woven_part_avx2(weave, dst, src, pitch, at, bytes, bytes, k);
}

/* A row of `bytes` >= 32 per stream; whole lines, which go past the cache, begin after `head` bytes, never if `head` is negative. `stores`: of the
 * others. */
static inline void row_avx2(steps_avx2 *steps, unsigned char *dst, const unsigned char *src, int64_t pitch,
                            int64_t bytes, int64_t head, tesela__stores stores) {
  int64_t at = 0;
  if (head >= 0 && head + 64 <= bytes) {
    if (head) steps(dst, src, pitch, 0, 32, TESELA__TO_CACHE);
    if (head > 32) steps(dst, src, pitch, head - 32, head, TESELA__TO_CACHE);
    at = head + (bytes - head) / 64 * 64;
    steps(dst, src, pitch, head, at, TESELA__PAST_CACHE);
  }
  steps(dst, src, pitch, at, bytes, stores);
  if ((bytes - at) % 32) steps(dst, src, pitch, bytes - 32, bytes, TESELA__TO_CACHE);
}

/* Bytes of each stream that are taken apart at a time where streams begin within lines, and of a row that long. */
enum { APART_BYTES = 512, APART_LEAST = 256 };

/* Streams that begin within lines past the cache, `bytes` of each, whole lines' worth: by way of a buffer in which each lies as in its lines
 * of dst, after what the step before left of a line. */
AVX2 static void unweave_apart_avx2(steps_avx2 *unweave, unsigned char *dst, const unsigned char *src,
                                    int64_t pitch, int64_t bytes, int k) {
  alignas(64) unsigned char buffer[8 * (APART_BYTES + 128) + 128];
  const int64_t apart = APART_BYTES + 64 + (pitch & 63); /* lines of a stream begin where they do in dst */
  unsigned char *const first = buffer + 64 + ((uintptr_t)dst & 63);
  for (int64_t at = 0, n; at < bytes; at += n) {
    n = tesela__min(APART_BYTES, bytes - at);
    unweave(first, src + k * at, apart, 0, n, TESELA__TO_CACHE);
    for (int s = 0; s < k; s++) {
      unsigned char *from = first + s * apart, *to = dst + s * pitch + at;
      const int64_t phase = (int64_t)((uintptr_t)from & 63);
      const int64_t head = at == 0 && phase > 0 ? 64 - phase : -phase; /* the first lines begin with a part */
      if (head > 0) tesela__copy_short(to, from, (size_t)head);
      for (int64_t i = head; i + 64 <= n; i += 64) {
        put_avx2(to + i, _mm256_load_si256((const void *)(from + i)), true);
        put_avx2(to + i + 32, _mm256_load_si256((const void *)(from + i + 32)), true);
      }
      if (phase == 0) continue;
      if (at + n == bytes)
        tesela__copy_short(to + n - phase, from + n - phase, (size_t)phase);
      else
        tesela__copy_short(from - phase, from + n - phase, (size_t)phase);
    }
  }
}

/* A row of streams that lines do not begin at together. */
static inline void unwoven_row_avx2(steps_avx2 *unweave, unsigned char *dst, const unsigned char *src,
                                    int64_t pitch, int64_t bytes, int k) {
  const int64_t at = bytes / 64 * 64;
  unweave_apart_avx2(unweave, dst, src, pitch, at, k);
  unweave(dst, src, pitch, at, bytes, TESELA__TO_CACHE);
  if (bytes % 32) unweave(dst, src, pitch, bytes - 32, bytes, TESELA__TO_CACHE);
}

#define KERNEL(name, row, c_kernel, width)                                                                  \
  void name(const tesela__rows *rows, unsigned char *dst, const int64_t *dst_off, const unsigned char *src, \
            const int64_t *src_off, int64_t count) {                                                        \
    const int64_t bytes = rows->n * (width);                                                                \
    if (bytes < 32) {                                                                                       \
      c_kernel(rows, dst, dst_off, src, src_off, count);                                                    \
      return;                                                                                               \
    }                                                                                                       \
    for (int64_t i = 0; i < count; i++) row(rows, dst + dst_off[i], src + src_off[i], bytes);               \
  }

#define KERNELS(width, k)                                                                       \
  WEAVE_STEPS(weave##width##_x##k##_avx2, width, k)                                             \
  UNWEAVE_STEPS(unweave##width##_x##k##_avx2, width, k)                                         \
  static inline void woven##width##_x##k##_avx2(const tesela__rows *rows, unsigned char *dst,   \
                                                const unsigned char *src, int64_t bytes) {      \
    const int64_t head = tesela__past_cache(rows) ? tesela__peel(dst, width, k) : -1;           \
    const bool ahead = rows->stores == TESELA__TO_CACHE_AHEAD && (uintptr_t)dst % 64 != 0;      \
    if (head >= 0 && head <= bytes)                                                             \
      woven_row_avx2(weave##width##_x##k##_avx2, dst, src, rows->src_pitch, bytes, head, k);    \
    else                                                                                        \
      row_avx2(weave##width##_x##k##_avx2, dst, src, rows->src_pitch, bytes, -1,                \
               ahead ? TESELA__TO_CACHE_AHEAD : TESELA__TO_CACHE);                              \
  }                                                                                             \
  static inline void unwoven##width##_x##k##_avx2(const tesela__rows *rows, unsigned char *dst, \
                                                  const unsigned char *src, int64_t bytes) {    \
    const bool past = tesela__past_cache(rows);                                                 \
    const int64_t head = past && rows->dst_pitch % 64 == 0 ? tesela__peel(dst, width, 1) : -1;  \
    if (past && head < 0 && bytes >= APART_LEAST)                                               \
      unwoven_row_avx2(unweave##width##_x##k##_avx2, dst, src, rows->dst_pitch, bytes, k);      \
    else                                                                                        \
      row_avx2(unweave##width##_x##k##_avx2, dst, src, rows->dst_pitch, bytes, head,            \
               tesela__stores_to_cache(rows));                                                  \
  }                                                                                             \
  KERNEL(tesela__k_interleave##width##_x##k##_avx2, woven##width##_x##k##_avx2,                 \
         tesela__k_interleave##width##_c, width)                                                \
  KERNEL(tesela__k_deinterleave##width##_x##k##_avx2, unwoven##width##_x##k##_avx2,             \
         tesela__k_deinterleave##width##_c, width)
#define WIDTHS(k) KERNELS(1, k) KERNELS(2, k) KERNELS(4, k) KERNELS(8, k) KERNELS(16, k)
WIDTHS(2)
WIDTHS(3)
WIDTHS(4)
WIDTHS(8)

#undef WIDTHS
#undef KERNELS
#undef KERNEL
#undef UNWEAVE_STEPS
#undef WEAVE_STEPS
#undef NINE
#undef UNWEAVE3
#undef WEAVE3
#undef AVX2
#endif
