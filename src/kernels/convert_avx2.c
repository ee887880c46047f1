/* SPDX-License-Identifier: Apache-2.0 */
/*
 * convert_avx2.c - conversions of rows with AVX2 and F16C; convert_c.c defines each one.
 *
 * Each has a step of N elements, named like the conversion, and a line at the end of the file.
 */
#include "kernels/convert.h"

#if TESELA__X86
#include <immintrin.h>

#define ISA "avx2,f16c"
#define STEP(name) TESELA__STEP(ISA, name)

/* ---- floats -------------------------------------------------------------------------------------------------- */

/* Round 8 numbers to bf16, each in 32 bits. */
TESELA__TARGET(ISA) static inline __m256i bf16_avx2(__m256i x) {
  __m256i odd = _mm256_and_si256(_mm256_srli_epi32(x, 16), _mm256_set1_epi32(1));
  __m256i rounded = _mm256_add_epi32(_mm256_add_epi32(x, _mm256_set1_epi32(0x7fff)), odd);
  __m256i nan =
      _mm256_cmpgt_epi32(_mm256_and_si256(x, _mm256_set1_epi32(0x7fffffff)), _mm256_set1_epi32(0x7f800000));
  __m256i quiet = _mm256_or_si256(x, _mm256_set1_epi32(0x400000));
  return _mm256_srli_epi32(_mm256_blendv_epi8(rounded, quiet, nan), 16);
}

STEP(f32_to_bf16_avx2) {
  __m256i a = bf16_avx2(_mm256_loadu_si256((const void *)src));
  __m256i b = bf16_avx2(_mm256_loadu_si256((const void *)(src + 32)));
  tesela__put32(dst, _mm256_permute4x64_epi64(_mm256_packus_epi32(a, b), 0xd8), past);
}

STEP(bf16_to_f32_avx2) {
  __m256i x = _mm256_cvtepu16_epi32(_mm_loadu_si128((const void *)src));
  tesela__put32(dst, _mm256_slli_epi32(x, 16), past);
}

STEP(f32_to_f16_avx2) {
  __m256 x = _mm256_loadu_ps((const void *)src);
  tesela__put16(dst, _mm256_cvtps_ph(x, _MM_FROUND_TO_NEAREST_INT), past);
}

STEP(f16_to_f32_avx2) {
  tesela__put32(dst, _mm256_castps_si256(_mm256_cvtph_ps(_mm_loadu_si128((const void *)src))), past);
}

STEP(split_f64_avx2) {
  __m256d x = _mm256_loadu_pd((const void *)src);
  __m128 hi = _mm256_cvtpd_ps(x);
  __m128 lo = _mm256_cvtpd_ps(_mm256_sub_pd(x, _mm256_cvtps_pd(hi)));
  __m128 size = _mm_andnot_ps(_mm_set1_ps(-0.0f), hi);
  lo = _mm_and_ps(lo, _mm_cmplt_ps(size, _mm_set1_ps(__builtin_inff()))); /* false for a NaN */
  tesela__put16(dst, _mm_castps_si128(_mm_unpacklo_ps(hi, lo)), past);
  tesela__put16(dst + 16, _mm_castps_si128(_mm_unpackhi_ps(hi, lo)), past);
}

STEP(merge_f64_avx2) {
  __m128 a = _mm_loadu_ps((const void *)src), b = _mm_loadu_ps((const void *)(src + 16));
  __m256d hi = _mm256_cvtps_pd(_mm_shuffle_ps(a, b, 0x88)), lo = _mm256_cvtps_pd(_mm_shuffle_ps(a, b, 0xdd));
  tesela__put32(dst, _mm256_castpd_si256(_mm256_add_pd(hi, lo)), past);
}

/* ---- byte order ---------------------------------------------------------------------------------------------- */

/* In each 16 bytes, byte p of dst is byte order[p] of src. */
TESELA__TARGET(ISA)
TESELA__INLINE void shuffle_avx2(unsigned char *dst, const unsigned char *src, __m128i order, bool past) {
  __m256i x = _mm256_loadu_si256((const void *)src);
  tesela__put32(dst, _mm256_shuffle_epi8(x, _mm256_broadcastsi128_si256(order)), past);
}

STEP(swap16_avx2) {
  shuffle_avx2(dst, src, _mm_setr_epi8(1, 0, 3, 2, 5, 4, 7, 6, 9, 8, 11, 10, 13, 12, 15, 14), past);
}
STEP(swap32_avx2) {
  shuffle_avx2(dst, src, _mm_setr_epi8(3, 2, 1, 0, 7, 6, 5, 4, 11, 10, 9, 8, 15, 14, 13, 12), past);
}
STEP(swap64_avx2) {
  shuffle_avx2(dst, src, _mm_setr_epi8(7, 6, 5, 4, 3, 2, 1, 0, 15, 14, 13, 12, 11, 10, 9, 8), past);
}
STEP(swap128_avx2) {
  shuffle_avx2(dst, src, _mm_setr_epi8(15, 14, 13, 12, 11, 10, 9, 8, 7, 6, 5, 4, 3, 2, 1, 0), past);
}

/* ---- s4, pred ------------------------------------------------------------------------------------------------ */

/* Clamp 32 elements to s4, and pack each pair into 16 bits. */
TESELA__TARGET(ISA) static inline __m256i s4_pairs_avx2(const unsigned char *src) {
  __m256i x = _mm256_loadu_si256((const void *)src);
  x = _mm256_min_epi8(_mm256_max_epi8(x, _mm256_set1_epi8(-8)), _mm256_set1_epi8(7));
  x = _mm256_and_si256(x, _mm256_set1_epi8(15));
  return _mm256_maddubs_epi16(x, _mm256_set1_epi16(0x1001)); /* low + 16 * high */
}

STEP(s8_to_s4_avx2) {
  __m256i x = _mm256_packus_epi16(s4_pairs_avx2(src), s4_pairs_avx2(src + 32));
  tesela__put32(dst, _mm256_permute4x64_epi64(x, 0xd8), past);
}

STEP(s4_to_s8_avx2) {
  __m256i x = _mm256_cvtepu8_epi16(_mm_loadu_si128((const void *)src)), eight = _mm256_set1_epi8(8);
  x = _mm256_and_si256(_mm256_or_si256(x, _mm256_slli_epi16(x, 4)), _mm256_set1_epi8(15));
  tesela__put32(dst, _mm256_sub_epi8(_mm256_xor_si256(x, eight), eight), past);
}

/* 32 bytes to 32 bytes: all bits set where the byte is 0. */
TESELA__TARGET(ISA) static inline __m256i zero8_avx2(const unsigned char *src) {
  return _mm256_cmpeq_epi8(_mm256_loadu_si256((const void *)src), _mm256_setzero_si256());
}

/* 32 numbers of 4 bytes to 32 bytes: all bits set where the number is 0. */
TESELA__TARGET(ISA) static inline __m256i zero32_avx2(const unsigned char *src) {
  __m256i zero[4];
  TESELA__UNROLL_GCC
  for (int i = 0; i < 4; i++)
    zero[i] = _mm256_cmpeq_epi32(_mm256_loadu_si256((const void *)(src + 32 * i)), _mm256_setzero_si256());
  __m256i x = _mm256_packs_epi16(_mm256_packs_epi32(zero[0], zero[1]), _mm256_packs_epi32(zero[2], zero[3]));
  return _mm256_permutevar8x32_epi32(x, _mm256_setr_epi32(0, 4, 1, 5, 2, 6, 3, 7));
}

/* Store 32 bits; bit e is set where byte e of `zero` is 0. */
TESELA__TARGET(ISA) static inline void put_bits_avx2(unsigned char *dst, __m256i zero) {
  uint32_t bits = ~(uint32_t)_mm256_movemask_epi8(zero);
  memcpy(dst, &bits, 4);
}

STEP(pred8_to_1_avx2) { put_bits_avx2(dst, zero8_avx2(src)); }
STEP(pred32_to_1_avx2) { put_bits_avx2(dst, zero32_avx2(src)); }

STEP(pred32_to_8_avx2) {
  tesela__put32(dst, _mm256_add_epi8(zero32_avx2(src), _mm256_set1_epi8(1)), past); /* -1 + 1 */
}

STEP(pred8_to_32_avx2) {
  __m128i x = _mm_min_epu8(_mm_loadl_epi64((const void *)src), _mm_set1_epi8(1));
  tesela__put32(dst, _mm256_cvtepu8_epi32(x), past);
}

STEP(pred1_to_8_avx2) {
  int32_t bits;
  memcpy(&bits, src, 4);
  const __m256i byte = _mm256_setr_epi8(0, 0, 0, 0, 0, 0, 0, 0, 1, 1, 1, 1, 1, 1, 1, 1, 2, 2, 2, 2, 2, 2, 2,
                                        2, 3, 3, 3, 3, 3, 3, 3, 3);
  const __m256i bit = _mm256_set1_epi64x((int64_t)0x8040201008040201);
  __m256i x = _mm256_and_si256(_mm256_shuffle_epi8(_mm256_set1_epi32(bits), byte), bit);
  tesela__put32(dst, _mm256_min_epu8(x, _mm256_set1_epi8(1)), past);
}

STEP(pred1_to_32_avx2) {
  __m256i x = _mm256_and_si256(_mm256_set1_epi32(*src), _mm256_setr_epi32(1, 2, 4, 8, 16, 32, 64, 128));
  tesela__put32(dst, _mm256_min_epu32(x, _mm256_set1_epi32(1)), past);
}

/* ---- kernels ------------------------------------------------------------------------------------------------- */

#define CONVERT(name, N, src_bits, dst_bits) \
  TESELA__CONVERT(tesela__k_##name##_avx2, ISA, tesela__k_##name##_c, name##_avx2, N, src_bits, dst_bits)
CONVERT(f32_to_bf16, 16, 32, 16)
CONVERT(bf16_to_f32, 8, 16, 32)
CONVERT(f32_to_f16, 8, 32, 16)
CONVERT(f16_to_f32, 8, 16, 32)
CONVERT(s8_to_s4, 64, 8, 4)
CONVERT(s4_to_s8, 32, 4, 8)
CONVERT(pred8_to_1, 32, 8, 1)
CONVERT(pred1_to_8, 32, 1, 8)
CONVERT(pred8_to_32, 8, 8, 32)
CONVERT(pred32_to_8, 32, 32, 8)
CONVERT(pred1_to_32, 8, 1, 32)
CONVERT(pred32_to_1, 32, 32, 1)
CONVERT(split_f64, 4, 64, 64)
CONVERT(merge_f64, 4, 64, 64)
CONVERT(swap16, 16, 16, 16)
CONVERT(swap32, 8, 32, 32)
CONVERT(swap64, 4, 64, 64)
CONVERT(swap128, 2, 128, 128)

TESELA__SWAP_PARTS(TESELA__TARGET(ISA), tesela__k_swap_c64_avx2, tesela__k_swap32_avx2)
TESELA__SWAP_PARTS(TESELA__TARGET(ISA), tesela__k_swap_c128_avx2, tesela__k_swap64_avx2)

#undef CONVERT
#undef STEP
#undef ISA
#endif
