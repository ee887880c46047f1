/* SPDX-License-Identifier: Apache-2.0 */
/*
 * convert_numbers_avx2.c - the most frequent conversions between number types of hosts and devices, with AVX2 and F16C;
 * convert_c.c defines each one.
 *
 * Each has a step of N elements, named like the conversion, and a line at the end of the file.
 */
#include "kernels/convert.h"

#if TESELA__X86
#include <immintrin.h>

#define ISA "avx2,f16c"
#define STEP(name) TESELA__STEP(ISA, name)

STEP(bf16_to_f16_avx2) {
  __m256i x = _mm256_slli_epi32(_mm256_cvtepu16_epi32(_mm_loadu_si128((const void *)src)), 16);
  tesela__put16(dst, _mm256_cvtps_ph(_mm256_castsi256_ps(x), _MM_FROUND_TO_NEAREST_INT), past);
}

STEP(f16_to_bf16_avx2) {
  __m256i x =
      _mm256_castps_si256(_mm256_cvtph_ps(_mm_loadu_si128((const void *)src))); /* NaNs are quiet now */
  __m256i odd = _mm256_and_si256(_mm256_srli_epi32(x, 16), _mm256_set1_epi32(1));
  __m256i rounded = _mm256_add_epi32(_mm256_add_epi32(x, _mm256_set1_epi32(0x7fff)), odd);
  __m256i nan =
      _mm256_cmpgt_epi32(_mm256_and_si256(x, _mm256_set1_epi32(0x7fffffff)), _mm256_set1_epi32(0x7f800000));
  __m256i high = _mm256_srli_epi32(_mm256_blendv_epi8(rounded, x, nan), 16);
  tesela__put16(dst, _mm_packus_epi32(_mm256_castsi256_si128(high), _mm256_extracti128_si256(high, 1)), past);
}

STEP(s64_to_s32_avx2) {
  __m256 a = _mm256_loadu_ps((const void *)src), b = _mm256_loadu_ps((const void *)(src + 32));
  __m256i low = _mm256_castps_si256(_mm256_shuffle_ps(a, b, 0x88)); /* quarters 0, 2, 1, 3 */
  tesela__put32(dst, _mm256_permute4x64_epi64(low, 0xd8), past);
}
STEP(s32_to_s64_avx2) { tesela__put32(dst, _mm256_cvtepi32_epi64(_mm_loadu_si128((const void *)src)), past); }
STEP(u32_to_u64_avx2) { tesela__put32(dst, _mm256_cvtepu32_epi64(_mm_loadu_si128((const void *)src)), past); }

STEP(f64_to_f32_avx2) {
  tesela__put16(dst, _mm_castps_si128(_mm256_cvtpd_ps(_mm256_loadu_pd((const void *)src))), past);
}
STEP(f32_to_f64_avx2) {
  tesela__put32(dst, _mm256_castpd_si256(_mm256_cvtps_pd(_mm_loadu_ps((const void *)src))), past);
}

STEP(s8_to_s32_avx2) { tesela__put32(dst, _mm256_cvtepi8_epi32(_mm_loadl_epi64((const void *)src)), past); }
STEP(u8_to_u32_avx2) { tesela__put32(dst, _mm256_cvtepu8_epi32(_mm_loadl_epi64((const void *)src)), past); }

/* Move the low bytes of the numbers to the start of each half, then join both starts. */
STEP(s32_to_s8_avx2) {
  const __m256i low =
      _mm256_broadcastsi128_si256(_mm_setr_epi8(0, 4, 8, 12, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1));
  __m256i x = _mm256_shuffle_epi8(_mm256_loadu_si256((const void *)src), low);
  _mm_storel_epi64((void *)dst,
                   _mm_unpacklo_epi32(_mm256_castsi256_si128(x), _mm256_extracti128_si256(x, 1)));
}

#define CONVERT(name, step, N, src_bits, dst_bits) \
  TESELA__CONVERT(tesela__k_##name##_avx2, ISA, tesela__k_##name##_c, step##_avx2, N, src_bits, dst_bits)
CONVERT(bf16_to_f16, bf16_to_f16, 8, 16, 16)
CONVERT(f16_to_bf16, f16_to_bf16, 8, 16, 16)
CONVERT(s64_to_s32, s64_to_s32, 8, 64, 32)
CONVERT(u64_to_u32, s64_to_s32, 8, 64, 32)
CONVERT(s32_to_s64, s32_to_s64, 4, 32, 64)
CONVERT(u32_to_u64, u32_to_u64, 4, 32, 64)
CONVERT(f64_to_f32, f64_to_f32, 4, 64, 32)
CONVERT(f32_to_f64, f32_to_f64, 4, 32, 64)
CONVERT(s32_to_s8, s32_to_s8, 8, 32, 8)
CONVERT(u32_to_u8, s32_to_s8, 8, 32, 8)
CONVERT(s8_to_s32, s8_to_s32, 8, 8, 32)
CONVERT(u8_to_u32, u8_to_u32, 8, 8, 32)

#undef CONVERT
#undef STEP
#undef ISA
#endif
