/* SPDX-License-Identifier: Apache-2.0 */
/*
 * convert_avx512.c - conversions of rows with AVX-512; convert_c.c defines each one.
 *
 * Each has a step of N elements, named like the conversion, and a line at the end of the file.
 */
#include "kernels/convert.h"

#if TESELA__X86
#include <immintrin.h>

#define ISA "avx512f,avx512bw,avx512vl,avx512dq"
#define STEP(name) TESELA__STEP(ISA, name)

/* ---- floats -------------------------------------------------------------------------------------------------- */

/* Round 16 numbers to bf16, in the upper halves. */
TESELA__TARGET(ISA) static inline __m512i bf16_high_avx512(__m512i x) {
  __m512i odd = _mm512_and_si512(_mm512_srli_epi32(x, 16), _mm512_set1_epi32(1));
  __m512i rounded = _mm512_add_epi32(_mm512_add_epi32(x, _mm512_set1_epi32(0x7fff)), odd);
  __mmask16 nan = _mm512_cmpgt_epi32_mask(_mm512_and_si512(x, _mm512_set1_epi32(0x7fffffff)),
                                          _mm512_set1_epi32(0x7f800000));
  return _mm512_mask_or_epi32(rounded, nan, x, _mm512_set1_epi32(0x400000));
}

STEP(f32_to_bf16_avx512) {
  __m512i high = bf16_high_avx512(_mm512_loadu_si512(src));
  tesela__put32(dst, _mm512_cvtepi32_epi16(_mm512_srli_epi32(high, 16)), past);
}

STEP(bf16_to_f32_avx512) {
  __m512i x = _mm512_cvtepu16_epi32(_mm256_loadu_si256((const void *)src));
  tesela__put64(dst, _mm512_slli_epi32(x, 16), past);
}

STEP(f32_to_f16_avx512) {
  __m512 x = _mm512_loadu_ps(src);
  tesela__put32(dst, _mm512_maskz_cvtps_ph(0xffff, x, _MM_FROUND_TO_NEAREST_INT), past);
}

STEP(f16_to_f32_avx512) {
  tesela__put64(dst, _mm512_castps_si512(_mm512_cvtph_ps(_mm256_loadu_si256((const void *)src))), past);
}

STEP(split_f64_avx512) {
  __m512d x = _mm512_loadu_pd(src);
  __m256 hi = _mm512_cvtpd_ps(x);
  __m256 lo = _mm512_cvtpd_ps(_mm512_sub_pd(x, _mm512_cvtps_pd(hi)));
  __mmask8 finite = (__mmask8)~_mm256_fpclass_ps_mask(hi, 0x01 | 0x08 | 0x10); /* quiet NaN, +-inf */
  lo = _mm256_maskz_mov_ps(finite, lo);
  __m512i low = _mm512_cvtepu32_epi64(_mm256_castps_si256(hi));
  __m512i high = _mm512_slli_epi64(_mm512_cvtepu32_epi64(_mm256_castps_si256(lo)), 32);
  tesela__put64(dst, _mm512_or_si512(low, high), past);
}

STEP(merge_f64_avx512) {
  __m512i pairs = _mm512_loadu_si512(src);
  __m256 hi = _mm256_castsi256_ps(_mm512_cvtepi64_epi32(pairs));
  __m256 lo = _mm256_castsi256_ps(_mm512_cvtepi64_epi32(_mm512_srli_epi64(pairs, 32)));
  tesela__put64(dst, _mm512_castpd_si512(_mm512_add_pd(_mm512_cvtps_pd(hi), _mm512_cvtps_pd(lo))), past);
}

/* ---- byte order ---------------------------------------------------------------------------------------------- */

/* In each 16 bytes, byte p of dst is byte order[p] of src. */
TESELA__TARGET(ISA)
TESELA__INLINE void shuffle_avx512(unsigned char *dst, const unsigned char *src, __m128i order, bool past) {
  tesela__put64(dst, _mm512_shuffle_epi8(_mm512_loadu_si512(src), _mm512_broadcast_i32x4(order)), past);
}

STEP(swap16_avx512) {
  shuffle_avx512(dst, src, _mm_setr_epi8(1, 0, 3, 2, 5, 4, 7, 6, 9, 8, 11, 10, 13, 12, 15, 14), past);
}
STEP(swap32_avx512) {
  shuffle_avx512(dst, src, _mm_setr_epi8(3, 2, 1, 0, 7, 6, 5, 4, 11, 10, 9, 8, 15, 14, 13, 12), past);
}
STEP(swap64_avx512) {
  shuffle_avx512(dst, src, _mm_setr_epi8(7, 6, 5, 4, 3, 2, 1, 0, 15, 14, 13, 12, 11, 10, 9, 8), past);
}
STEP(swap128_avx512) {
  shuffle_avx512(dst, src, _mm_setr_epi8(15, 14, 13, 12, 11, 10, 9, 8, 7, 6, 5, 4, 3, 2, 1, 0), past);
}

/* ---- s4, pred ------------------------------------------------------------------------------------------------ */

STEP(s8_to_s4_avx512) {
  __m512i x = _mm512_loadu_si512(src);
  x = _mm512_min_epi8(_mm512_max_epi8(x, _mm512_set1_epi8(-8)), _mm512_set1_epi8(7));
  x = _mm512_and_si512(x, _mm512_set1_epi8(15));
  x = _mm512_maddubs_epi16(x, _mm512_set1_epi16(0x1001)); /* low + 16 * high */
  tesela__put32(dst, _mm512_cvtepi16_epi8(x), past);
}

STEP(s4_to_s8_avx512) {
  __m512i x = _mm512_cvtepu8_epi16(_mm256_loadu_si256((const void *)src)), eight = _mm512_set1_epi8(8);
  x = _mm512_and_si512(_mm512_or_si512(x, _mm512_slli_epi16(x, 4)), _mm512_set1_epi8(15));
  tesela__put64(dst, _mm512_sub_epi8(_mm512_xor_si512(x, eight), eight), past);
}

STEP(pred8_to_1_avx512) {
  __m512i x = _mm512_loadu_si512(src);
  uint64_t bits = _mm512_test_epi8_mask(x, x);
  memcpy(dst, &bits, 8);
}

STEP(pred1_to_8_avx512) {
  uint64_t bits;
  memcpy(&bits, src, 8);
  tesela__put64(dst, _mm512_maskz_set1_epi8(bits, 1), past);
}

STEP(pred8_to_32_avx512) {
  __m128i x = _mm_min_epu8(_mm_loadu_si128((const void *)src), _mm_set1_epi8(1));
  tesela__put64(dst, _mm512_cvtepu8_epi32(x), past);
}

STEP(pred32_to_8_avx512) {
  __m512i x = _mm512_min_epu32(_mm512_loadu_si512(src), _mm512_set1_epi32(1));
  tesela__put16(dst, _mm512_cvtepi32_epi8(x), past);
}

STEP(pred1_to_32_avx512) {
  uint16_t bits;
  memcpy(&bits, src, 2);
  tesela__put64(dst, _mm512_maskz_set1_epi32(bits, 1), past);
}

STEP(pred32_to_1_avx512) {
  __m512i x = _mm512_loadu_si512(src);
  uint16_t bits = _mm512_test_epi32_mask(x, x);
  memcpy(dst, &bits, 2);
}

/* ---- kernels ------------------------------------------------------------------------------------------------- */

#define CONVERT(name, N, src_bits, dst_bits) \
  TESELA__CONVERT(tesela__k_##name##_avx512, ISA, tesela__k_##name##_c, name##_avx512, N, src_bits, dst_bits)
CONVERT(f32_to_bf16, 16, 32, 16)
CONVERT(bf16_to_f32, 16, 16, 32)
CONVERT(f32_to_f16, 16, 32, 16)
CONVERT(f16_to_f32, 16, 16, 32)
CONVERT(s8_to_s4, 64, 8, 4)
CONVERT(s4_to_s8, 64, 4, 8)
CONVERT(pred8_to_1, 64, 8, 1)
CONVERT(pred1_to_8, 64, 1, 8)
CONVERT(pred8_to_32, 16, 8, 32)
CONVERT(pred32_to_8, 16, 32, 8)
CONVERT(pred1_to_32, 16, 1, 32)
CONVERT(pred32_to_1, 16, 32, 1)
CONVERT(split_f64, 8, 64, 64)
CONVERT(merge_f64, 8, 64, 64)
CONVERT(swap16, 32, 16, 16)
CONVERT(swap32, 16, 32, 32)
CONVERT(swap64, 8, 64, 64)
CONVERT(swap128, 4, 128, 128)

TESELA__SWAP_PARTS(TESELA__TARGET(ISA), tesela__k_swap_c64_avx512, tesela__k_swap32_avx512)
TESELA__SWAP_PARTS(TESELA__TARGET(ISA), tesela__k_swap_c128_avx512, tesela__k_swap64_avx512)

#undef CONVERT
#undef STEP
#undef ISA
#endif
