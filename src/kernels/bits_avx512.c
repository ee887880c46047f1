/* SPDX-License-Identifier: Apache-2.0 */
/* bits_avx512.c - bits_x86.h with AVX-512; elements below 8 bits <-> bytes, 64 at a time. */
#include "kernels/bits_x86.h"

#if TESELA__X86
#include <immintrin.h>

#define TARGET TESELA__TARGET("avx512f,avx512bw,avx512vl,avx512dq")
#define VBMI TESELA__TARGET("avx512f,avx512bw,avx512vl,avx512dq,avx512vbmi")

TESELA__BIT_STEPS(avx512, TARGET, 512, unsigned)

TESELA__INLINE uint64_t first_lanes(int64_t n) { return n >= 64 ? ~UINT64_C(0) : (UINT64_C(1) << n) - 1; }

TARGET TESELA__INLINE void bit_block_short_avx512(unsigned char *dst, int64_t dst_pitch,
                                                  const unsigned char *src, const int64_t *src_off,
                                                  int64_t bytes, int m) {
  const uint64_t lanes = first_lanes(bytes);
  __m512i row[8];
  TESELA__UNROLL_GCC
  for (int i = 0; i < m; i++) row[i] = _mm512_maskz_loadu_epi8(lanes, src + src_off[i]);
  bit_block_rows_avx512(row, m);
  TESELA__UNROLL_GCC
  for (int i = 0; i < m; i++) _mm512_mask_storeu_epi8(dst + i * dst_pitch, lanes, row[i]);
}

TESELA__BIT_BLOCKS(avx512, TARGET, 512)

/* ---- copy -------------------------------------------------------------------------------------------------- */

#define CHOOSE(name, bits, low, here, next) \
  name##_ternarylogic_epi64(low, here, next, 0xca) /* low ? here : next */
TESELA__SHIFT_BYTES(avx512, TARGET, _mm, 128, CHOOSE)
TESELA__SHIFT_BYTES(avx512, TARGET, _mm256, 256, CHOOSE)
TESELA__SHIFT_BYTES(avx512, TARGET, _mm512, 512, CHOOSE)
#undef CHOOSE

/* n >= 0 bytes; the last step overlaps the one before it. */
TARGET TESELA__INLINE void shift_bytes_avx512(unsigned char *dst, const unsigned char *src, int64_t at,
                                              int64_t n) {
  if (n >= 64) {
    for (int64_t i = 0; i + 64 < n; i += 64) shift512_avx512(dst + i, src + i, at);
    shift512_avx512(dst + n - 64, src + n - 64, at);
  } else if (n >= 32) {
    shift256_avx512(dst, src, at), shift256_avx512(dst + n - 32, src + n - 32, at);
  } else if (n >= 16) {
    shift128_avx512(dst, src, at), shift128_avx512(dst + n - 16, src + n - 16, at);
  } else {
    tesela__shift_few(dst, src, at, n);
  }
}

TARGET TESELA__INLINE void stream_line_avx512(unsigned char *dst, const unsigned char *src, int64_t at) {
  _mm512_stream_si512((void *)dst, at ? shifted512_avx512(src, at) : _mm512_loadu_si512(src));
}

TESELA__COPY_BITS(tesela__k_copy_bits_avx512, avx512, TARGET)

/* ---- to bytes ---------------------------------------------------------------------------------------------- */

/* Byte b of a vector is byte b / 8 * width + b % 8: each 8 bytes begin with 8 elements. */
#define SPREAD(p, width, unused) (char)((p) / 8 * (width) + (p) % 8)

/* From bit `at` of src on; reads only bytes that have some of the elements. */
VBMI TESELA__INLINE void unpack_row_vbmi(unsigned char *dst, const unsigned char *src, int64_t at, int64_t n,
                                         __m512i spread, __m512i shifts, int width) {
  const __m512i low = _mm512_set1_epi8((char)((1 << width) - 1));
  const __m512i from = _mm512_add_epi8(shifts, _mm512_set1_epi8((char)at));
  const uint64_t whole = first_lanes(8 * width + (at > 0));
  for (; n > 0; n -= 64, dst += 64, src += 8 * width) {
    const uint64_t bytes = n >= 64 ? whole : first_lanes((at + n * width + 7) >> 3);
    const __m512i words = _mm512_permutexvar_epi8(spread, _mm512_maskz_loadu_epi8(bytes, src));
    const __m512i out = _mm512_and_si512(_mm512_multishift_epi64_epi8(from, words), low);
    if (n >= 64)
      _mm512_storeu_si512(dst, out);
    else
      _mm512_mask_storeu_epi8(dst, first_lanes(n), out);
  }
}

#define UNPACK(name, width)                                                                              \
  VBMI void name(const tesela__rows *rows, unsigned char *dst, const int64_t *dst_off,                   \
                 const unsigned char *src, const int64_t *src_off, int64_t count) {                      \
    static const char spread[64] = {TESELA__EACH64(SPREAD, width, 0)};                                   \
    const __m512i table = _mm512_loadu_si512(spread);                                                    \
    const __m512i shifts = _mm512_set1_epi64((long long)(UINT64_C(0x0706050403020100) * (width)));       \
    for (int64_t i = 0; i < count; i++)                                                                  \
      unpack_row_vbmi(dst + dst_off[i], src + (src_off[i] >> 3), src_off[i] & 7, rows->n, table, shifts, \
                      width);                                                                            \
  }
UNPACK(tesela__k_unpack1_avx512, 1)
UNPACK(tesela__k_unpack2_avx512, 2)
UNPACK(tesela__k_unpack4_avx512, 4)
#undef UNPACK

/* ---- from bytes -------------------------------------------------------------------------------------------- */

/* 64 bytes -> 8 * width bytes. */
TARGET TESELA__INLINE __m256i pack64_avx512(__m512i bytes, int width) {
  if (width == 1)
    return _mm256_castsi128_si256(_mm_cvtsi64_si128((long long)_mm512_test_epi8_mask(bytes, bytes)));
  const __m512i pairs = _mm512_maddubs_epi16(bytes, _mm512_set1_epi16((short)(1 | 256 << width)));
  if (width == 4) return _mm512_cvtepi16_epi8(pairs);
  return _mm256_castsi128_si256(
      _mm512_cvtepi32_epi8(_mm512_madd_epi16(pairs, _mm512_set1_epi32(1 | 16 << 16))));
}

/* Up to 7 elements within a byte. */
TARGET TESELA__INLINE void pack_few_avx512(unsigned char *dst, int64_t at, const unsigned char *src,
                                           int64_t n, int width) {
  const __m128i bytes = _mm_maskz_loadu_epi8((__mmask16)first_lanes(n), src);
  const unsigned bits = (unsigned)tesela__pack8((uint64_t)_mm_cvtsi128_si64(bytes), width) << at;
  const unsigned mask = ((1u << n * width) - 1) << at;
  *dst = (unsigned char)((*dst & ~mask) | bits);
}

TARGET TESELA__INLINE void pack_row_avx512(unsigned char *dst, int64_t at, const unsigned char *src,
                                           int64_t n, int width) {
  if (at) {
    const int64_t head = tesela__min(n, (8 - at) / width);
    pack_few_avx512(dst++, at, src, head, width);
    src += head, n -= head;
  }
  for (; n >= 64; n -= 64, src += 64, dst += 8 * width) {
    const __m256i bits = pack64_avx512(_mm512_loadu_si512(src), width);
    if (width == 4)
      _mm256_storeu_si256((void *)dst, bits);
    else if (width == 2)
      _mm_storeu_si128((void *)dst, _mm256_castsi256_si128(bits));
    else
      _mm_storel_epi64((void *)dst, _mm256_castsi256_si128(bits));
  }
  const int64_t whole = n * width / 8, left = n - whole * 8 / width;
  if (left > 0)
    pack_few_avx512(dst + whole, 0, src + (n - left), left,
                    width); /* before the store that reaches its byte */
  if (whole > 0) {
    const __m512i bytes = _mm512_maskz_loadu_epi8(first_lanes(n - left), src);
    _mm256_mask_storeu_epi8(dst, (__mmask32)first_lanes(whole), pack64_avx512(bytes, width));
  }
}

#define PACK(name, width)                                                                         \
  TARGET void name(const tesela__rows *rows, unsigned char *dst, const int64_t *dst_off,          \
                   const unsigned char *src, const int64_t *src_off, int64_t count) {             \
    for (int64_t i = 0; i < count; i++)                                                           \
      pack_row_avx512(dst + (dst_off[i] >> 3), dst_off[i] & 7, src + src_off[i], rows->n, width); \
  }
PACK(tesela__k_pack1_avx512, 1)
PACK(tesela__k_pack2_avx512, 2)
PACK(tesela__k_pack4_avx512, 4)
#undef PACK
#undef SPREAD
#undef VBMI
#undef TARGET
#endif
