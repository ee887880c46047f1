/* SPDX-License-Identifier: Apache-2.0 */
/* bits_avx2.c - bits_x86.h with AVX2; elements below 8 bits <-> bytes, 32 at a time. */
#include "kernels/bits_x86.h"

#if TESELA__X86
#include <immintrin.h>

#define AVX2 TESELA__TARGET("avx2")

TESELA__BIT_STEPS(avx2, AVX2, 256, int)

TESELA__INLINE void bit_block_short_avx2(unsigned char *dst, int64_t dst_pitch, const unsigned char *src,
                                         const int64_t *src_off, int64_t bytes, int m) {
  tesela__bit_block_fn *block = m == 8   ? tesela__k_bit_block1_c
                                : m == 4 ? tesela__k_bit_block2_c
                                         : tesela__k_bit_block4_c;
  block(dst, dst_pitch, src, src_off, bytes);
}

TESELA__BIT_BLOCKS(avx2, AVX2, 256)

/* ---- copy -------------------------------------------------------------------------------------------------- */

#define CHOOSE(name, bits, low, here, next) \
  name##_or_si##bits(name##_and_si##bits(low, here), name##_andnot_si##bits(low, next))
TESELA__SHIFT_BYTES(avx2, AVX2, _mm, 128, CHOOSE)
TESELA__SHIFT_BYTES(avx2, AVX2, _mm256, 256, CHOOSE)
#undef CHOOSE

/* n >= 0 bytes; the last step overlaps the one before it. */
AVX2 TESELA__INLINE void shift_bytes_avx2(unsigned char *dst, const unsigned char *src, int64_t at,
                                          int64_t n) {
  if (n >= 32) {
    for (int64_t i = 0; i + 32 < n; i += 32) shift256_avx2(dst + i, src + i, at);
    shift256_avx2(dst + n - 32, src + n - 32, at);
  } else if (n >= 16) {
    shift128_avx2(dst, src, at), shift128_avx2(dst + n - 16, src + n - 16, at);
  } else {
    tesela__shift_few(dst, src, at, n);
  }
}

AVX2 TESELA__INLINE void stream_line_avx2(unsigned char *dst, const unsigned char *src, int64_t at) {
  for (int i = 0; i < 64; i += 32)
    _mm256_stream_si256((void *)(dst + i),
                        at ? shifted256_avx2(src + i, at) : _mm256_loadu_si256((const void *)(src + i)));
}

TESELA__COPY_BITS(tesela__k_copy_bits_avx2, avx2, AVX2)

/* ---- to bytes ---------------------------------------------------------------------------------------------- */

/* Byte i is 0xff, if bit i of the word is set; else 0. */
AVX2 TESELA__INLINE __m256i spread_bits_avx2(uint32_t word) {
  const __m256i from = _mm256_setr_epi64x(0, 0x0101010101010101, 0x0202020202020202, 0x0303030303030303);
  const __m256i bit = _mm256_set1_epi64x((long long)UINT64_C(0x8040201008040201));
  const __m256i bytes = _mm256_shuffle_epi8(_mm256_set1_epi32((int32_t)word), from);
  return _mm256_cmpeq_epi8(_mm256_and_si256(bytes, bit), bit);
}

/* The low `width` bits of each byte, then the next ones: the bytes of a and b in turn. */
AVX2 TESELA__INLINE void halve_avx2(__m128i x, int width, __m128i *first, __m128i *second) {
  const __m128i low = _mm_set1_epi8((char)((1 << width) - 1));
  const __m128i a = _mm_and_si128(x, low), b = _mm_and_si128(_mm_srli_epi16(x, width), low);
  *first = _mm_unpacklo_epi8(a, b);
  *second = _mm_unpackhi_epi8(a, b);
}

/* 32 elements from bit `at` of src on, of n; reads only bytes that have some of these. */
AVX2 TESELA__INLINE void unpack32_avx2(unsigned char *dst, const unsigned char *src, int64_t at, int64_t n,
                                       int width) {
  __m128i first, second;
  if (width == 1) {
    const uint64_t word = n >= 64 ? tesela__load_bits(src) >> at : tesela__read_bits(src, at, 32);
    const __m256i bits = _mm256_and_si256(spread_bits_avx2((uint32_t)word), _mm256_set1_epi8(1));
    _mm256_storeu_si256((void *)dst, bits);
    return;
  }
  if (width == 2) {
    uint64_t word = tesela__load_bits(src) >> at;
    if (at) word |= (uint64_t)src[8] << (64 - at);
    halve_avx2(_mm_cvtsi64_si128((long long)word), 4, &first, &second);
    halve_avx2(first, 2, &first, &second);
  } else {
    __m128i x = _mm_loadu_si128((const void *)src);
    if (at) { /* the high bits of each byte, and the low bits of the next */
      const __m128i next = _mm_loadu_si128((const void *)(src + 1)), low = _mm_set1_epi8(0x0f);
      x = _mm_or_si128(_mm_and_si128(_mm_srli_epi16(x, 4), low),
                       _mm_andnot_si128(low, _mm_slli_epi16(next, 4)));
    }
    halve_avx2(x, 4, &first, &second);
  }
  _mm_storeu_si128((void *)dst, first);
  _mm_storeu_si128((void *)(dst + 16), second);
}

#define UNPACK(name, width)                                                                          \
  AVX2 void name(const tesela__rows *rows, unsigned char *dst, const int64_t *dst_off,               \
                 const unsigned char *src, const int64_t *src_off, int64_t count) {                  \
    for (int64_t i = 0; i < count; i++) {                                                            \
      unsigned char *to = dst + dst_off[i];                                                          \
      const unsigned char *from = src + (src_off[i] >> 3);                                           \
      const int64_t at = src_off[i] & 7;                                                             \
      int64_t n = rows->n;                                                                           \
      for (; n >= 32; n -= 32, to += 32, from += 4 * (width)) unpack32_avx2(to, from, at, n, width); \
      tesela__unpack_row(to, from, at, n, width);                                                    \
    }                                                                                                \
  }
UNPACK(tesela__k_unpack1_avx2, 1)
UNPACK(tesela__k_unpack2_avx2, 2)
UNPACK(tesela__k_unpack4_avx2, 4)
#undef UNPACK

/* ---- from bytes -------------------------------------------------------------------------------------------- */

/* 32 bytes -> 4 * width bytes. */
AVX2 TESELA__INLINE void pack32_avx2(unsigned char *dst, const unsigned char *src, int width) {
  const __m256i x = _mm256_loadu_si256((const void *)src), zero = _mm256_setzero_si256();
  if (width == 1) {
    const int32_t bits = _mm256_movemask_epi8(_mm256_slli_epi16(x, 7));
    memcpy(dst, &bits, 4);
    return;
  }
  __m256i pairs = _mm256_maddubs_epi16(x, _mm256_set1_epi16((short)(1 | 256 << width)));
  if (width == 2)
    pairs = _mm256_packus_epi32(_mm256_madd_epi16(pairs, _mm256_set1_epi32(1 | 16 << 16)), zero);
  const __m256i bytes = _mm256_packus_epi16(pairs, zero); /* at the beginning of each lane */
  if (width == 2)
    _mm_storel_epi64((void *)dst,
                     _mm_unpacklo_epi32(_mm256_castsi256_si128(bytes), _mm256_extracti128_si256(bytes, 1)));
  else
    _mm_storeu_si128((void *)dst, _mm256_castsi256_si128(_mm256_permute4x64_epi64(bytes, 0x08)));
}

AVX2 TESELA__INLINE void pack_row_avx2(unsigned char *dst, int64_t at, const unsigned char *src, int64_t n,
                                       int width) {
  const int64_t head = at ? tesela__min(n, (8 - at) / width) : 0; /* up to the next byte */
  if (head) tesela__pack_row(dst++, at, src, head, width);
  src += head, n -= head;
  for (; n >= 32; n -= 32, src += 32, dst += 4 * width) pack32_avx2(dst, src, width);
  tesela__pack_row(dst, 0, src, n, width);
}

#define PACK(name, width)                                                                       \
  AVX2 void name(const tesela__rows *rows, unsigned char *dst, const int64_t *dst_off,          \
                 const unsigned char *src, const int64_t *src_off, int64_t count) {             \
    for (int64_t i = 0; i < count; i++)                                                         \
      pack_row_avx2(dst + (dst_off[i] >> 3), dst_off[i] & 7, src + src_off[i], rows->n, width); \
  }
PACK(tesela__k_pack1_avx2, 1)
PACK(tesela__k_pack2_avx2, 2)
PACK(tesela__k_pack4_avx2, 4)
#undef PACK
#undef AVX2
#endif
