/* SPDX-License-Identifier: Apache-2.0 */
/*
 * permute_avx2.c - blocks of bytes that are all moved alike, with shuffles of 16 bytes: a stretch of src in both halves of a vector gives
 * its bytes to half a line of dst. Bytes that it does not have are 0 there, so that stretches are joined by OR. Four blocks at
 * a time share the loads of indices.
 *
 * Bits move in rounds of that: a byte of a line is 8 bits of two bytes of a round, one after the other, which a multiplication by a power
 * of two shifts to the high half of 16 bits.
 */
#include "kernels/rows.h"

#if TESELA__X86
#include <immintrin.h>

#define AVX2 TESELA__TARGET("avx2")

enum { STRETCH_AVX2 = 16, LOW_HALF_AVX2 = 1, HIGH_HALF_AVX2 = 2 };

/* The stretch of a pick, twice. */
AVX2 TESELA__INLINE __m256i stretch_avx2(const tesela__line_pick *p, const unsigned char *src) {
  if (p->read == (1 << STRETCH_AVX2) - 1)
    return _mm256_broadcastsi128_si256(_mm_loadu_si128((const void *)src));
  unsigned char bytes[STRETCH_AVX2] = {0};
  for (uint64_t left = p->read; left; left &= left - 1)
    bytes[__builtin_ctzll(left)] = src[__builtin_ctzll(left)];
  return _mm256_broadcastsi128_si256(_mm_loadu_si128((const void *)bytes));
}

/* Bytes of a line that are not written stay. */
AVX2 static void store_part_avx2(unsigned char *to, uint64_t write, __m256i low, __m256i high) {
  const __m256i line[2] = {low, high};
  const unsigned char *from = (const unsigned char *)line;
  while (write) {
    const int first = __builtin_ctzll(write);
    const uint64_t rest = ~(write >> first);
    const int n = rest ? __builtin_ctzll(rest) : 64 - first;
    tesela__copy_short(to + first, from + first, (size_t)n);
    if (first + n == 64) return;
    write &= ~UINT64_C(0) << (first + n);
  }
}

AVX2 TESELA__INLINE void store_line_avx2(unsigned char *to, uint64_t write, __m256i low, __m256i high,
                                         bool stream) {
  if (~write) {
    store_part_avx2(to, write, low, high);
  } else if (stream && (uintptr_t)to % 64 == 0) {
    _mm256_stream_si256((void *)to, low);
    _mm256_stream_si256((void *)(to + 32), high);
  } else {
    _mm256_storeu_si256((void *)to, low);
    _mm256_storeu_si256((void *)(to + 32), high);
  }
}

/* Add what a pick has for `halves` of the line of n blocks. */
AVX2 TESELA__INLINE void add_pick_avx2(const tesela__line_pick *p, __m256i *low, __m256i *high,
                                       const unsigned char *src, const int64_t *src_off, int n, int halves) {
  const __m256i to_low = _mm256_loadu_si256((const void *)p->index);
  const __m256i to_high = _mm256_loadu_si256((const void *)(p->index + 32));
  TESELA__UNROLL_GCC for (int i = 0; i < n; i++) {
    const __m256i in = stretch_avx2(p, src + src_off[i] + p->from);
    if (halves & LOW_HALF_AVX2) low[i] = _mm256_or_si256(low[i], _mm256_shuffle_epi8(in, to_low));
    if (halves & HIGH_HALF_AVX2) high[i] = _mm256_or_si256(high[i], _mm256_shuffle_epi8(in, to_high));
  }
}

AVX2 TESELA__INLINE void add_halves_avx2(const tesela__line_pick *p, __m256i *low, __m256i *high,
                                         const unsigned char *src, const int64_t *src_off, int n) {
  if (p->write >> 32 == 0)
    add_pick_avx2(p, low, high, src, src_off, n, LOW_HALF_AVX2);
  else if ((uint32_t)p->write == 0)
    add_pick_avx2(p, low, high, src, src_off, n, HIGH_HALF_AVX2);
  else
    add_pick_avx2(p, low, high, src, src_off, n, LOW_HALF_AVX2 | HIGH_HALF_AVX2);
}

/* Put the fill into the bytes that no pick has: the high bit of all their indices is set. */
AVX2 TESELA__INLINE void fill_line_avx2(const uint8_t *fill, const tesela__line_pick *p,
                                        const tesela__line_pick *end, __m256i *low, __m256i *high, int n) {
  __m256i low_free = _mm256_set1_epi8(-1), high_free = low_free;
  for (; p < end; p++) {
    low_free = _mm256_and_si256(low_free, _mm256_loadu_si256((const void *)p->index));
    high_free = _mm256_and_si256(high_free, _mm256_loadu_si256((const void *)(p->index + 32)));
  }
  const __m256i low_fill = _mm256_loadu_si256((const void *)fill);
  const __m256i high_fill = _mm256_loadu_si256((const void *)(fill + 32));
  TESELA__UNROLL_GCC for (int i = 0; i < n; i++) {
    low[i] = _mm256_blendv_epi8(low[i], low_fill, low_free);
    high[i] = _mm256_blendv_epi8(high[i], high_fill, high_free);
  }
}

/* Line `line` of n blocks. */
AVX2 TESELA__INLINE void permute_line_avx2(const tesela__permute *permute, const tesela__picked_line *line,
                                           unsigned char *dst, const int64_t *dst_off,
                                           const unsigned char *src, const int64_t *src_off, int n,
                                           bool stream) {
  __m256i low[4], high[4];
  TESELA__UNROLL_GCC for (int i = 0; i < n; i++) low[i] = high[i] = _mm256_setzero_si256();
  const tesela__line_pick *first = permute->pick + line->first, *end = first + line->n;
  for (const tesela__line_pick *p = first; p < end; p++) add_halves_avx2(p, low, high, src, src_off, n);
  if (permute->fill) fill_line_avx2(permute->fill, first, end, low, high, n);
  TESELA__UNROLL_GCC for (int i = 0; i < n; i++)
      store_line_avx2(dst + dst_off[i] + line->to, line->write, low[i], high[i], stream);
}

/* Define a kernel: all lines of four blocks at a time, with permute_line for those of n. */
#define BLOCKS(symbol, permute_line)                                                                         \
  AVX2 TESELA__INLINE void symbol##_of(const tesela__rows *rows, unsigned char *dst, const int64_t *dst_off, \
                                       const unsigned char *src, const int64_t *src_off, int n) {            \
    const tesela__permute permute = rows->permute;                                                           \
    for (int32_t i = 0; i < permute.n_lines; i++)                                                            \
      permute_line(&permute, permute.line + i, dst, dst_off, src, src_off, n, tesela__past_cache(rows));     \
  }                                                                                                          \
  AVX2 void symbol(const tesela__rows *rows, unsigned char *dst, const int64_t *dst_off,                     \
                   const unsigned char *src, const int64_t *src_off, int64_t count) {                        \
    int64_t i = 0;                                                                                           \
    for (; i + 4 <= count; i += 4) symbol##_of(rows, dst, dst_off + i, src, src_off + i, 4);                 \
    for (; i + 2 <= count; i += 2) symbol##_of(rows, dst, dst_off + i, src, src_off + i, 2);                 \
    for (; i < count; i++) symbol##_of(rows, dst, dst_off + i, src, src_off + i, 1);                         \
  }

BLOCKS(tesela__k_permute_avx2, permute_line_avx2)

/* ---- bits -------------------------------------------------------------------------------------------------- */

/* How half a line is made of the bytes of a round: `first` and `second` of two bytes, and what shifts them, in the order in which the two are
 * interleaved. */
typedef struct shifts_avx2 {
  __m256i first, second, low, high, mask;
} shifts_avx2;

AVX2 TESELA__INLINE shifts_avx2 shifts_of_avx2(const tesela__bit_round *round, int half) {
  const __m256i seven = _mm256_set1_epi8(7);
  const __m256i eight = _mm256_setr_epi64x(0, 0x0808080808080808, 0, 0x0808080808080808);
  /* 2^(8 - n) for a shift by n, 0 to 7; of 16 bits the low and the high byte */
  const __m256i power_low = _mm256_setr_epi64x(0x0204081020408000, 0, 0x0204081020408000, 0);
  const __m256i power_high = _mm256_setr_epi64x(1, 0, 1, 0);
  const __m256i shift = _mm256_loadu_si256((const void *)(round->shift + half));
  const __m256i whole = _mm256_and_si256(_mm256_srli_epi16(shift, 3), seven),
                part = _mm256_and_si256(shift, seven);
  const __m256i next = _mm256_and_si256(_mm256_add_epi8(whole, _mm256_set1_epi8(1)), seven);
  const __m256i power = _mm256_shuffle_epi8(power_low, part), above = _mm256_shuffle_epi8(power_high, part);
  return (shifts_avx2){.first = _mm256_or_si256(eight, whole),
                       .second = _mm256_or_si256(eight, next),
                       .low = _mm256_unpacklo_epi8(power, above),
                       .high = _mm256_unpackhi_epi8(power, above),
                       .mask = _mm256_loadu_si256((const void *)(round->mask + half))};
}

AVX2 TESELA__INLINE __m256i shifted_avx2(const shifts_avx2 *s, __m256i v, __m256i x) {
  const __m256i first = _mm256_shuffle_epi8(x, s->first), second = _mm256_shuffle_epi8(x, s->second);
  const __m256i low = _mm256_mullo_epi16(_mm256_unpacklo_epi8(first, second), s->low);
  const __m256i high = _mm256_mullo_epi16(_mm256_unpackhi_epi8(first, second), s->high);
  const __m256i bits = _mm256_packus_epi16(_mm256_srli_epi16(low, 8), _mm256_srli_epi16(high, 8));
  return _mm256_or_si256(_mm256_andnot_si256(s->mask, v), _mm256_and_si256(s->mask, bits));
}

/* Write a line; the bits that `own` does not have are kept. */
AVX2 TESELA__INLINE void store_bits_line_avx2(const tesela__picked_line *line, const tesela__bit_round *own,
                                              unsigned char *to, __m256i low, __m256i high, bool stream) {
  if (line->keeps) {
    unsigned char old[64] = {0};
    for (uint64_t left = line->write; left; left &= left - 1)
      old[__builtin_ctzll(left)] = to[__builtin_ctzll(left)];
    const __m256i own_low = _mm256_loadu_si256((const void *)own->mask),
                  own_high = _mm256_loadu_si256((const void *)(own->mask + 32));
    low = _mm256_or_si256(_mm256_and_si256(own_low, low),
                          _mm256_andnot_si256(own_low, _mm256_loadu_si256((const void *)old)));
    high = _mm256_or_si256(_mm256_and_si256(own_high, high),
                           _mm256_andnot_si256(own_high, _mm256_loadu_si256((const void *)(old + 32))));
  }
  store_line_avx2(to, line->write, low, high, stream);
}

AVX2 TESELA__INLINE void permute_bits_line_avx2(const tesela__permute *permute,
                                                const tesela__picked_line *line, unsigned char *dst,
                                                const int64_t *dst_off, const unsigned char *src,
                                                const int64_t *src_off, int n, bool stream) {
  const tesela__bit_round *round = permute->round + line->first, *last = round + line->n;
  const uint8_t *fill = permute->fill;
  const __m256i zero = _mm256_setzero_si256();
  __m256i low[4], high[4], x_low[4], x_high[4];
  TESELA__UNROLL_GCC for (int i = 0; i < n; i++) {
    low[i] = fill ? _mm256_loadu_si256((const void *)fill) : zero;
    high[i] = fill ? _mm256_loadu_si256((const void *)(fill + 32)) : zero;
  }
  for (; round < last; round++) {
    TESELA__UNROLL_GCC for (int i = 0; i < n; i++) x_low[i] = x_high[i] = zero;
    for (const tesela__line_pick *p = permute->pick + round->first, *end = p + round->n; p < end; p++)
      add_halves_avx2(p, x_low, x_high, src, src_off, n);
    const shifts_avx2 of_low = shifts_of_avx2(round, 0), of_high = shifts_of_avx2(round, 32);
    TESELA__UNROLL_GCC for (int i = 0; i < n; i++) {
      low[i] = shifted_avx2(&of_low, low[i], x_low[i]);
      high[i] = shifted_avx2(&of_high, high[i], x_high[i]);
    }
  }
  TESELA__UNROLL_GCC for (int i = 0; i < n; i++)
      store_bits_line_avx2(line, last, dst + dst_off[i] + line->to, low[i], high[i], stream);
}

BLOCKS(tesela__k_permute_bits_avx2, permute_bits_line_avx2)

#undef BLOCKS
#undef AVX2
#endif
