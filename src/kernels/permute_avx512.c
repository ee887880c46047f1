/* SPDX-License-Identifier: Apache-2.0 */
/*
 * permute_avx512.c - blocks of bytes that are all moved alike, with permutes of 64 bytes (VBMI): one for each stretch of src
 * that a line of dst has bytes of. Four blocks at a time share the loads of indices and masks. Bits move in
 * rounds of that: each 8 bytes of a line get 8 bytes, then each byte its bits of these 64; eight blocks at a time.
 */
#include "kernels/rows.h"

#if TESELA__X86
#include <immintrin.h>

#define VBMI TESELA__TARGET("avx512f,avx512bw,avx512vl,avx512dq,avx512vbmi")

/* Line `line` of n blocks. */
VBMI TESELA__INLINE void permute_line_avx512(const tesela__permute *permute, const tesela__picked_line *line,
                                             unsigned char *dst, const int64_t *dst_off,
                                             const unsigned char *src, const int64_t *src_off, int n,
                                             bool stream) {
  const __m512i fill = permute->fill ? _mm512_loadu_si512(permute->fill) : _mm512_setzero_si512();
  __m512i v[4];
  TESELA__UNROLL_GCC for (int i = 0; i < n; i++) v[i] = fill;
  for (const tesela__line_pick *p = permute->pick + line->first, *end = p + line->n; p < end; p++) {
    const __m512i index = _mm512_loadu_si512(p->index);
    TESELA__UNROLL_GCC for (int i = 0; i < n; i++) {
      const __m512i in = _mm512_maskz_loadu_epi8(p->read, src + src_off[i] + p->from);
      v[i] = _mm512_mask_permutexvar_epi8(v[i], p->write, index, in);
    }
  }
  TESELA__UNROLL_GCC for (int i = 0; i < n; i++) {
    unsigned char *to = dst + dst_off[i] + line->to;
    if (stream && ~line->write == 0 && (uintptr_t)to % 64 == 0)
      _mm512_stream_si512((void *)to, v[i]);
    else
      _mm512_mask_storeu_epi8(to, line->write, v[i]);
  }
}

VBMI TESELA__INLINE void permute_blocks_avx512(const tesela__rows *rows, unsigned char *dst,
                                               const int64_t *dst_off, const unsigned char *src,
                                               const int64_t *src_off, int n) {
  const tesela__permute permute = rows->permute;
  for (int32_t i = 0; i < permute.n_lines; i++)
    permute_line_avx512(&permute, permute.line + i, dst, dst_off, src, src_off, n, tesela__past_cache(rows));
}

VBMI void tesela__k_permute_avx512(const tesela__rows *rows, unsigned char *dst, const int64_t *dst_off,
                                   const unsigned char *src, const int64_t *src_off, int64_t count) {
  int64_t i = 0;
  for (; i + 4 <= count; i += 4) permute_blocks_avx512(rows, dst, dst_off + i, src, src_off + i, 4);
  for (; i + 2 <= count; i += 2) permute_blocks_avx512(rows, dst, dst_off + i, src, src_off + i, 2);
  for (; i < count; i++) permute_blocks_avx512(rows, dst, dst_off + i, src, src_off + i, 1);
}

/* ---- bits -------------------------------------------------------------------------------------------------- */

/* Write a line; the bits that `own` does not have are kept. */
VBMI TESELA__INLINE void store_bits_line_avx512(const tesela__picked_line *line, const tesela__bit_round *own,
                                                unsigned char *to, __m512i v, bool stream) {
  if (line->keeps) {
    const __m512i old = _mm512_maskz_loadu_epi8(line->write, to);
    v = _mm512_ternarylogic_epi64(v, old, _mm512_loadu_si512(own->mask), 0xe4); /* own ? v : old */
  }
  if (~line->write)
    _mm512_mask_storeu_epi8(to, line->write, v);
  else if (stream && (uintptr_t)to % 64 == 0)
    _mm512_stream_si512((void *)to, v);
  else
    _mm512_storeu_si512(to, v);
}

VBMI TESELA__INLINE void permute_bits_line_avx512(const tesela__permute *permute,
                                                  const tesela__picked_line *line, unsigned char *dst,
                                                  const int64_t *dst_off, const unsigned char *src,
                                                  const int64_t *src_off, int n, bool stream) {
  const __m512i fill = permute->fill ? _mm512_loadu_si512(permute->fill) : _mm512_setzero_si512();
  const tesela__bit_round *round = permute->round + line->first, *last = round + line->n;
  __m512i v[8], x[8];
  TESELA__UNROLL_GCC for (int i = 0; i < n; i++) v[i] = fill;
  for (; round < last; round++) {
    TESELA__UNROLL_GCC for (int i = 0; i < n; i++) x[i] = _mm512_setzero_si512();
    for (const tesela__line_pick *p = permute->pick + round->first, *end = p + round->n; p < end; p++) {
      const __m512i index = _mm512_loadu_si512(p->index);
      TESELA__UNROLL_GCC for (int i = 0; i < n; i++) {
        const __m512i in = _mm512_maskz_loadu_epi8(p->read, src + src_off[i] + p->from);
        x[i] = _mm512_mask_permutexvar_epi8(x[i], p->write, index, in);
      }
    }
    const __m512i shift = _mm512_loadu_si512(round->shift), mask = _mm512_loadu_si512(round->mask);
    TESELA__UNROLL_GCC for (int i = 0; i < n; i++) {
      const __m512i bits = _mm512_multishift_epi64_epi8(shift, x[i]);
      v[i] = _mm512_ternarylogic_epi64(v[i], bits, mask, 0xd8); /* mask ? bits : v */
    }
  }
  TESELA__UNROLL_GCC for (int i = 0; i < n; i++)
      store_bits_line_avx512(line, last, dst + dst_off[i] + line->to, v[i], stream);
}

VBMI TESELA__INLINE void permute_bits_avx512(const tesela__rows *rows, unsigned char *dst,
                                             const int64_t *dst_off, const unsigned char *src,
                                             const int64_t *src_off, int n) {
  for (int32_t i = 0; i < rows->permute.n_lines; i++)
    permute_bits_line_avx512(&rows->permute, rows->permute.line + i, dst, dst_off, src, src_off, n,
                             tesela__past_cache(rows));
}

VBMI void tesela__k_permute_bits_avx512(const tesela__rows *rows, unsigned char *dst, const int64_t *dst_off,
                                        const unsigned char *src, const int64_t *src_off, int64_t count) {
  int64_t i = 0;
  for (; i + 8 <= count; i += 8) permute_bits_avx512(rows, dst, dst_off + i, src, src_off + i, 8);
  for (; i + 4 <= count; i += 4) permute_bits_avx512(rows, dst, dst_off + i, src, src_off + i, 4);
  for (; i + 2 <= count; i += 2) permute_bits_avx512(rows, dst, dst_off + i, src, src_off + i, 2);
  for (; i < count; i++) permute_bits_avx512(rows, dst, dst_off + i, src, src_off + i, 1);
}

#undef VBMI
#endif
