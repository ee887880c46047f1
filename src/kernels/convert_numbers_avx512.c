/* SPDX-License-Identifier: Apache-2.0 */
/*
 * convert_numbers_avx512.c - conversions of rows between the number types of hosts and devices, with AVX-512;
 * convert_c.c defines each one.
 *
 * Each has a step of N elements, named like the conversion, and a line at the end of the file.
 */
#include "kernels/convert.h"

#if TESELA__X86
#include <immintrin.h>

#define ISA "avx512f,avx512bw,avx512vl,avx512dq"
#define STEP(name) TESELA__STEP(ISA, name)

/* ---- floats -------------------------------------------------------------------------------------------------- */

STEP(bf16_to_f16_avx512) {
  __m512i x = _mm512_slli_epi32(_mm512_cvtepu16_epi32(_mm256_loadu_si256((const void *)src)), 16);
  __m256i half = _mm512_maskz_cvtps_ph(0xffff, _mm512_castsi512_ps(x), _MM_FROUND_TO_NEAREST_INT);
  tesela__put32(dst, half, past);
}

STEP(f16_to_bf16_avx512) {
  __m512i x =
      _mm512_castps_si512(_mm512_cvtph_ps(_mm256_loadu_si256((const void *)src))); /* NaNs are quiet now */
  __m512i odd = _mm512_and_si512(_mm512_srli_epi32(x, 16), _mm512_set1_epi32(1));
  __m512i rounded = _mm512_add_epi32(_mm512_add_epi32(x, _mm512_set1_epi32(0x7fff)), odd);
  __mmask16 nan = _mm512_cmpgt_epi32_mask(_mm512_and_si512(x, _mm512_set1_epi32(0x7fffffff)),
                                          _mm512_set1_epi32(0x7f800000));
  __m512i high = _mm512_mask_mov_epi32(rounded, nan, x);
  tesela__put32(dst, _mm512_cvtepi32_epi16(_mm512_srli_epi32(high, 16)), past);
}

/* ---- pred ---------------------------------------------------------------------------------------------------- */

STEP(pred8_to_f16_avx512) {
  __m256i x = _mm256_loadu_si256((const void *)src);
  tesela__put64(dst, _mm512_maskz_set1_epi16(_mm256_test_epi8_mask(x, x), 0x3c00), past);
}
STEP(pred8_to_bf16_avx512) {
  __m256i x = _mm256_loadu_si256((const void *)src);
  tesela__put64(dst, _mm512_maskz_set1_epi16(_mm256_test_epi8_mask(x, x), 0x3f80), past);
}
STEP(pred8_to_f32_avx512) {
  __m128i x = _mm_loadu_si128((const void *)src);
  tesela__put64(dst, _mm512_maskz_set1_epi32(_mm_test_epi8_mask(x, x), 0x3f800000), past);
}

/* Is any bit set, except the sign? */
STEP(f16_to_pred8_avx512) {
  __mmask32 any = _mm512_test_epi16_mask(_mm512_loadu_si512(src), _mm512_set1_epi16(0x7fff));
  tesela__put32(dst, _mm256_maskz_set1_epi8(any, 1), past);
}
STEP(f32_to_pred8_avx512) {
  __mmask16 any = _mm512_test_epi32_mask(_mm512_loadu_si512(src), _mm512_set1_epi32(0x7fffffff));
  tesela__put16(dst, _mm_maskz_set1_epi8(any, 1), past);
}

/* ---- integers ------------------------------------------------------------------------------------------------ */

STEP(s64_to_s32_avx512) {
  const __m512i low = _mm512_setr_epi32(0, 2, 4, 6, 8, 10, 12, 14, 16, 18, 20, 22, 24, 26, 28, 30);
  __m512i a = _mm512_loadu_si512(src), b = _mm512_loadu_si512(src + 64);
  tesela__put64(dst, _mm512_permutex2var_epi32(a, low, b), past);
}
STEP(s32_to_s64_avx512) {
  tesela__put64(dst, _mm512_cvtepi32_epi64(_mm256_loadu_si256((const void *)src)), past);
}
STEP(u32_to_u64_avx512) {
  tesela__put64(dst, _mm512_cvtepu32_epi64(_mm256_loadu_si256((const void *)src)), past);
}
STEP(f64_to_f32_avx512) {
  tesela__put32(dst, _mm256_castps_si256(_mm512_cvtpd_ps(_mm512_loadu_pd(src))), past);
}
STEP(f32_to_f64_avx512) {
  tesela__put64(dst, _mm512_castpd_si512(_mm512_cvtps_pd(_mm256_loadu_ps((const void *)src))), past);
}
STEP(s32_to_s16_avx512) { tesela__put32(dst, _mm512_cvtepi32_epi16(_mm512_loadu_si512(src)), past); }
STEP(s16_to_s32_avx512) {
  tesela__put64(dst, _mm512_cvtepi16_epi32(_mm256_loadu_si256((const void *)src)), past);
}
STEP(u16_to_u32_avx512) {
  tesela__put64(dst, _mm512_cvtepu16_epi32(_mm256_loadu_si256((const void *)src)), past);
}
STEP(s32_to_s8_avx512) { tesela__put16(dst, _mm512_cvtepi32_epi8(_mm512_loadu_si512(src)), past); }
STEP(s8_to_s32_avx512) { tesela__put64(dst, _mm512_cvtepi8_epi32(_mm_loadu_si128((const void *)src)), past); }
STEP(u8_to_u32_avx512) { tesela__put64(dst, _mm512_cvtepu8_epi32(_mm_loadu_si128((const void *)src)), past); }

#define CONVERT(name, step, N, src_bits, dst_bits) \
  TESELA__CONVERT(tesela__k_##name##_avx512, ISA, tesela__k_##name##_c, step##_avx512, N, src_bits, dst_bits)
CONVERT(bf16_to_f16, bf16_to_f16, 16, 16, 16)
CONVERT(f16_to_bf16, f16_to_bf16, 16, 16, 16)
CONVERT(pred8_to_f16, pred8_to_f16, 32, 8, 16)
CONVERT(pred8_to_bf16, pred8_to_bf16, 32, 8, 16)
CONVERT(pred8_to_f32, pred8_to_f32, 16, 8, 32)
CONVERT(f16_to_pred8, f16_to_pred8, 32, 16, 8)
CONVERT(bf16_to_pred8, f16_to_pred8, 32, 16, 8)
CONVERT(f32_to_pred8, f32_to_pred8, 16, 32, 8)
CONVERT(s64_to_s32, s64_to_s32, 16, 64, 32)
CONVERT(u64_to_u32, s64_to_s32, 16, 64, 32)
CONVERT(s32_to_s64, s32_to_s64, 8, 32, 64)
CONVERT(u32_to_u64, u32_to_u64, 8, 32, 64)
CONVERT(f64_to_f32, f64_to_f32, 8, 64, 32)
CONVERT(f32_to_f64, f32_to_f64, 8, 32, 64)
CONVERT(s32_to_s16, s32_to_s16, 16, 32, 16)
CONVERT(u32_to_u16, s32_to_s16, 16, 32, 16)
CONVERT(s16_to_s32, s16_to_s32, 16, 16, 32)
CONVERT(u16_to_u32, u16_to_u32, 16, 16, 32)
CONVERT(s32_to_s8, s32_to_s8, 16, 32, 8)
CONVERT(u32_to_u8, s32_to_s8, 16, 32, 8)
CONVERT(s8_to_s32, s8_to_s32, 16, 8, 32)
CONVERT(u8_to_u32, u8_to_u32, 16, 8, 32)

#undef CONVERT
#undef STEP
#undef ISA
#endif
