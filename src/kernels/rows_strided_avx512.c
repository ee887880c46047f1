/* SPDX-License-Identifier: Apache-2.0 */
/*
 * rows_strided_avx512.c - every k-th element of src, or to every k-th of dst, with permutes of bytes (VBMI).
 *
 * From src: 64 bytes of dst are made of k lines of src, one permute each, under the mask of the bytes that lie in that line. To dst: 64
 * bytes of src spread over k lines, one permute each, stored under a mask, so that the bytes between elements are not written. The
 * last line of a step is loaded under a mask, too, so nothing outside the row is read. Prefetching src, which helps copies, costs a
 * fifth here.
 */
#include "kernels/strided.h"

#if TESELA__X86
#include <immintrin.h>

#define VBMI TESELA__TARGET("avx512f,avx512bw,avx512vl,avx512dq,avx512vbmi")

enum { MOST_STRIDED_AVX512 = 16 }; /* lines of a step */

VBMI TESELA__INLINE __mmask64 low_strided_avx512(int64_t n) { return ~UINT64_C(0) >> (64 - n); }

/* ---- from every k-th --------------------------------------------------------------------------------------- */

/* A step makes `bytes` bytes of dst, from `lines` lines, which begin `low` bytes after the first element. */
typedef struct compress_avx512 {
  __m512i index; /* of each byte, in its line */
  __mmask64 from[MOST_STRIDED_AVX512], last, to;
  int64_t lines, low;
} compress_avx512;

/* For n elements, up to 64 bytes. */
VBMI static inline void compress_set_avx512(compress_avx512 *c, int width, int64_t pitch, int64_t n) {
  const bool back = pitch < 0;
  const int64_t step = back ? -pitch : pitch, bytes = (n - 1) * step + width;
  const __m512i counts = _mm512_set_epi16(31, 30, 29, 28, 27, 26, 25, 24, 23, 22, 21, 20, 19, 18, 17, 16, 15,
                                          14, 13, 12, 11, 10, 9, 8, 7, 6, 5, 4, 3, 2, 1, 0);
  __m256i index[2], line[2];
  for (int i = 0; i < 2; i++) {
    const __m512i byte = _mm512_add_epi16(counts, _mm512_set1_epi16((short)(32 * i)));
    __m512i e = _mm512_srlv_epi16(byte, _mm512_set1_epi16((short)__builtin_ctz((unsigned)width)));
    const __m512i rest = _mm512_and_si512(byte, _mm512_set1_epi16((short)(width - 1)));
    if (back) e = _mm512_sub_epi16(_mm512_set1_epi16((short)(n - 1)), e);
    const __m512i at = _mm512_add_epi16(_mm512_mullo_epi16(e, _mm512_set1_epi16((short)step)), rest);
    index[i] = _mm512_cvtepi16_epi8(_mm512_and_si512(at, _mm512_set1_epi16(63)));
    line[i] = _mm512_cvtepi16_epi8(_mm512_srai_epi16(at, 6));
  }
  c->index = _mm512_inserti64x4(_mm512_castsi256_si512(index[0]), index[1], 1);
  const __m512i lines = _mm512_inserti64x4(_mm512_castsi256_si512(line[0]), line[1], 1);
  c->lines = (bytes + 63) / 64;
  c->low = back ? -(n - 1) * step : 0;
  c->last = low_strided_avx512(bytes - 64 * (c->lines - 1));
  c->to = low_strided_avx512(n * width);
  for (int64_t j = 0; j < c->lines; j++)
    c->from[j] = _mm512_cmpeq_epi8_mask(lines, _mm512_set1_epi8((char)j));
}

VBMI TESELA__INLINE __m512i compress_avx512_step(const compress_avx512 *c, int64_t lines,
                                                 const unsigned char *src) {
  __m512i v = _mm512_setzero_si512();
  src += c->low;
  for (int64_t j = 0; j < lines - 1; j++)
    v = _mm512_mask_permutexvar_epi8(v, c->from[j], c->index, _mm512_loadu_si512(src + 64 * j));
  return _mm512_mask_permutexvar_epi8(v, c->from[lines - 1], c->index,
                                      _mm512_maskz_loadu_epi8(c->last, src + 64 * (lines - 1)));
}

/* Whole vectors of dst; `lines` is a constant where few lines are many of the calls. */
VBMI TESELA__INLINE void compress_many_avx512(const compress_avx512 *of, int64_t lines, int64_t bytes,
                                              unsigned char *dst, const unsigned char *src, int64_t step,
                                              bool stream) {
  const compress_avx512 c = *of;
  for (int64_t at = 0; at < bytes; at += 64, src += step) {
    const __m512i v = compress_avx512_step(&c, lines, src);
    if (stream)
      _mm512_stream_si512((void *)(dst + at), v);
    else
      _mm512_storeu_si512(dst + at, v);
  }
}

VBMI static inline void compress_vectors_avx512(const compress_avx512 *c, int64_t bytes, unsigned char *dst,
                                                const unsigned char *src, int64_t step, bool stream) {
  switch (c->lines) {
  case 1:
    compress_many_avx512(c, 1, bytes, dst, src, step, stream);
    break;
  case 2:
    compress_many_avx512(c, 2, bytes, dst, src, step, stream);
    break;
  case 3:
    compress_many_avx512(c, 3, bytes, dst, src, step, stream);
    break;
  case 4:
    compress_many_avx512(c, 4, bytes, dst, src, step, stream);
    break;
  default:
    compress_many_avx512(c, c->lines, bytes, dst, src, step, stream);
  }
}

VBMI static inline void compress_part_avx512(const compress_avx512 *c, unsigned char *dst,
                                             const unsigned char *src) {
  _mm512_mask_storeu_epi8(dst, c->to, compress_avx512_step(c, c->lines, src));
}

/* n elements; with `stream` from the first whole line of dst on past the cache. */
VBMI static inline void compress_row_avx512(const compress_avx512 *whole, const compress_avx512 *rest,
                                            int width, int64_t pitch, int64_t n, unsigned char *dst,
                                            const unsigned char *src, bool stream) {
  const int64_t peel = stream ? tesela__peel(dst, width, 1) : 0, per = 64 / width;
  if (peel > 0) {
    compress_avx512 head, tail;
    const int64_t first = peel / width, left = (n - first) % per;
    compress_set_avx512(&head, width, pitch, first);
    compress_part_avx512(&head, dst, src);
    compress_vectors_avx512(whole, (n - first) / per * 64, dst + peel, src + first * pitch, per * pitch,
                            true);
    if (left == 0) return;
    compress_set_avx512(&tail, width, pitch, left);
    compress_part_avx512(&tail, dst + (n - left) * width, src + (n - left) * pitch);
    return;
  }
  compress_vectors_avx512(whole, n / per * 64, dst, src, per * pitch, stream && peel == 0);
  if (n % per) compress_part_avx512(rest, dst + n / per * 64, src + n / per * per * pitch);
}

/* ---- to every k-th ----------------------------------------------------------------------------------------- */

/* A step spreads 64 bytes of src over `lines` lines of dst. */
typedef struct expand_avx512 {
  uint8_t index[MOST_STRIDED_AVX512][64]; /* in src, of each byte of dst that is written */
  uint64_t to[MOST_STRIDED_AVX512];
  int64_t lines;
} expand_avx512;

static inline void expand_set_avx512(expand_avx512 *x, int64_t width, int64_t pitch, int64_t n) {
  x->lines = ((n - 1) * pitch + width + 63) / 64;
  memset(x->to, 0, sizeof x->to);
  for (int64_t e = 0; e < n; e++)
    for (int64_t b = 0; b < width; b++) {
      const int64_t at = e * pitch + b;
      x->index[at / 64][at % 64] = (uint8_t)(e * width + b);
      x->to[at / 64] |= UINT64_C(1) << at % 64;
    }
}

/* Lines of dst that are written in part are fetched so many bytes ahead: a processor that foresees stores may not do so for masked ones
 * (Emerald Rapids: 1048576 of u16 to every 11th from 2.25 to 1.4 ms). */
enum { EXPAND_AHEAD = 1024 };

VBMI static inline void expand_step_avx512(const expand_avx512 *x, unsigned char *dst, __m512i v) {
  for (int64_t j = 0; j < x->lines; j++, dst += 64) {
    __builtin_prefetch(dst + EXPAND_AHEAD, 1, 3);
    _mm512_mask_storeu_epi8(dst, x->to[j], _mm512_permutexvar_epi8(_mm512_loadu_si512(x->index[j]), v));
  }
}

VBMI static inline void expand_rows_avx512(const tesela__rows *rows, int width, unsigned char *dst,
                                           const int64_t *dst_off, const unsigned char *src,
                                           const int64_t *src_off, int64_t count) {
  const int64_t per = 64 / width, left = rows->n % per, most = rows->n - left, pitch = rows->dst_pitch;
  expand_avx512 whole, rest;
  expand_set_avx512(&whole, width, pitch, most > 0 ? per : left);
  if (left > 0 && most > 0) expand_set_avx512(&rest, width, pitch, left);
  for (int64_t i = 0; i < count; i++) {
    unsigned char *to = dst + dst_off[i];
    const unsigned char *from = src + src_off[i];
    for (int64_t e = 0; e < most; e += per)
      expand_step_avx512(&whole, to + e * pitch, _mm512_loadu_si512(from + e * width));
    if (left > 0)
      expand_step_avx512(most > 0 ? &rest : &whole, to + most * pitch,
                         _mm512_maskz_loadu_epi8(low_strided_avx512(left * width), from + most * width));
  }
}

/* ---- kernels ----------------------------------------------------------------------------------------------- */

VBMI static inline void strided_rows_avx512(const tesela__rows *rows, int width, tesela__rows_fn *others,
                                            unsigned char *dst, const int64_t *dst_off,
                                            const unsigned char *src, const int64_t *src_off, int64_t count) {
  const int64_t per = 64 / width;
  const tesela__rows turned = {.n = rows->n, .src_pitch = rows->dst_pitch, .dst_pitch = rows->src_pitch};
  compress_avx512 whole, rest;
  if (tesela__strided_near(rows, width, 16, MOST_STRIDED_AVX512)) {
    compress_set_avx512(&whole, width, rows->src_pitch, per);
    compress_set_avx512(&rest, width, rows->src_pitch, rows->n % per ? rows->n % per : per);
    for (int64_t i = 0; i < count; i++)
      compress_row_avx512(&whole, &rest, width, rows->src_pitch, rows->n, dst + dst_off[i], src + src_off[i],
                          tesela__past_cache(rows) && rows->n >= 2 * per);
  } else if (width < 8 && rows->dst_pitch > 0 &&
             tesela__strided_near(&turned, width, 16, MOST_STRIDED_AVX512)) {
    expand_rows_avx512(rows, width, dst, dst_off, src, src_off, count);
  } else {
    others(rows, dst, dst_off, src, src_off, count);
  }
}

#define KERNEL(symbol, others, width)                                                    \
  VBMI void symbol(const tesela__rows *rows, unsigned char *dst, const int64_t *dst_off, \
                   const unsigned char *src, const int64_t *src_off, int64_t count) {    \
    strided_rows_avx512(rows, width, others, dst, dst_off, src, src_off, count);         \
  }
KERNEL(tesela__k_strided1_avx512, tesela__k_strided1_avx2, 1)
KERNEL(tesela__k_strided2_avx512, tesela__k_strided2_avx2, 2)
KERNEL(tesela__k_strided4_avx512, tesela__k_strided4_avx2, 4)
KERNEL(tesela__k_strided8_avx512, tesela__k_strided8_avx2, 8)

#undef KERNEL
#undef VBMI
#endif
