/* SPDX-License-Identifier: Apache-2.0 */
/*
 * bits_avx2.c - transposes of elements below 8 bits inside the bytes of several rows, with AVX2; bits_c.c says how.
 */
#include "kernels/rows.h"

#if TESELA__X86
#include <immintrin.h>

#define AVX2 TESELA__TARGET("avx2")

/* The lower `shift` bits of each 2 * shift, of a byte: those of x stay, those of y go above them, and the reverse. */
AVX2 TESELA__INLINE void exchange_avx2(__m256i *x, __m256i *y, int shift) {
  const __m256i mask = _mm256_set1_epi8(shift == 4 ? 0x0f : shift == 2 ? 0x33 : 0x55);
  __m256i change = _mm256_and_si256(_mm256_xor_si256(_mm256_srli_epi64(*x, shift), *y), mask);
  *y = _mm256_xor_si256(*y, change);
  *x = _mm256_xor_si256(*x, _mm256_slli_epi64(change, shift));
}

/* 32 bytes of each of the m rows. */
AVX2 TESELA__INLINE void bit_block_step_avx2(unsigned char *dst, int64_t dst_pitch,
                                             const unsigned char *const *src, int64_t at, int m) {
  __m256i row[8];
  TESELA__UNROLL_GCC
  for (int i = 0; i < m; i++) row[i] = _mm256_loadu_si256((const void *)(src[i] + at));
  TESELA__UNROLL_GCC
  for (int i = 0; i < m / 2; i++) exchange_avx2(&row[i], &row[i + m / 2], 4);
  if (m >= 4) {
    TESELA__UNROLL_GCC
    for (int i = 0; i < m; i++)
      if (!(i & m / 4)) exchange_avx2(&row[i], &row[i + m / 4], 2);
  }
  if (m == 8) {
    TESELA__UNROLL_GCC
    for (int i = 0; i < m; i += 2) exchange_avx2(&row[i], &row[i + 1], 1);
  }
  TESELA__UNROLL_GCC
  for (int i = 0; i < m; i++) _mm256_storeu_si256((void *)(dst + i * dst_pitch + at), row[i]);
}

/* The last step overlaps the one before it. */
#define BIT_BLOCK(name, c_kernel, m)                                                                      \
  AVX2 void name(unsigned char *dst, int64_t dst_pitch, const unsigned char *src, const int64_t *src_off, \
                 int64_t bytes) {                                                                         \
    const unsigned char *row[m];                                                                          \
    if (bytes < 32) {                                                                                     \
      c_kernel(dst, dst_pitch, src, src_off, bytes);                                                      \
      return;                                                                                             \
    }                                                                                                     \
    for (int i = 0; i < m; i++) row[i] = src + src_off[i];                                                \
    for (int64_t at = 0; at + 32 <= bytes; at += 32) bit_block_step_avx2(dst, dst_pitch, row, at, m);     \
    if (bytes % 32) bit_block_step_avx2(dst, dst_pitch, row, bytes - 32, m);                              \
  }
BIT_BLOCK(tesela__k_bit_block1_avx2, tesela__k_bit_block1_c, 8)
BIT_BLOCK(tesela__k_bit_block2_avx2, tesela__k_bit_block2_c, 4)
BIT_BLOCK(tesela__k_bit_block4_avx2, tesela__k_bit_block4_c, 2)

#undef BIT_BLOCK
#undef AVX2
#endif
