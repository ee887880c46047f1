/* SPDX-License-Identifier: Apache-2.0 */
/*
 * bits_avx512.c - transposes of elements below 8 bits inside the bytes of several rows, with AVX-512; bits_c.c says how.
 */
#include "kernels/rows.h"

#if TESELA__X86
#include <immintrin.h>

#define AVX512 TESELA__TARGET("avx512f,avx512bw,avx512vl,avx512dq")

/* The lower `shift` bits of each 2 * shift, of a byte: those of x stay, those of y go above them, and the reverse. */
AVX512 TESELA__INLINE void exchange_avx512(__m512i *x, __m512i *y, int shift) {
  const __m512i mask = _mm512_set1_epi8(shift == 4 ? 0x0f : shift == 2 ? 0x33 : 0x55);
  __m512i change = _mm512_and_si512(_mm512_xor_si512(_mm512_srli_epi64(*x, (unsigned)shift), *y), mask);
  *y = _mm512_xor_si512(*y, change);
  *x = _mm512_xor_si512(*x, _mm512_slli_epi64(change, (unsigned)shift));
}

/* 64 bytes of each of the m rows. */
AVX512 TESELA__INLINE void bit_block_step_avx512(unsigned char *dst, int64_t dst_pitch,
                                                 const unsigned char *const *src, int64_t at, int m) {
  __m512i row[8];
  TESELA__UNROLL_GCC
  for (int i = 0; i < m; i++) row[i] = _mm512_loadu_si512((const void *)(src[i] + at));
  TESELA__UNROLL_GCC
  for (int i = 0; i < m / 2; i++) exchange_avx512(&row[i], &row[i + m / 2], 4);
  if (m >= 4) {
    TESELA__UNROLL_GCC
    for (int i = 0; i < m; i++)
      if (!(i & m / 4)) exchange_avx512(&row[i], &row[i + m / 4], 2);
  }
  if (m == 8) {
    TESELA__UNROLL_GCC
    for (int i = 0; i < m; i += 2) exchange_avx512(&row[i], &row[i + 1], 1);
  }
  TESELA__UNROLL_GCC
  for (int i = 0; i < m; i++) _mm512_storeu_si512((void *)(dst + i * dst_pitch + at), row[i]);
}

/* The last step overlaps the one before it. */
#define BIT_BLOCK(name, c_kernel, m)                                                                        \
  AVX512 void name(unsigned char *dst, int64_t dst_pitch, const unsigned char *src, const int64_t *src_off, \
                   int64_t bytes) {                                                                         \
    const unsigned char *row[m];                                                                            \
    if (bytes < 64) {                                                                                       \
      c_kernel(dst, dst_pitch, src, src_off, bytes);                                                        \
      return;                                                                                               \
    }                                                                                                       \
    for (int i = 0; i < m; i++) row[i] = src + src_off[i];                                                  \
    for (int64_t at = 0; at + 64 <= bytes; at += 64) bit_block_step_avx512(dst, dst_pitch, row, at, m);     \
    if (bytes % 64) bit_block_step_avx512(dst, dst_pitch, row, bytes - 64, m);                              \
  }
BIT_BLOCK(tesela__k_bit_block1_avx512, tesela__k_bit_block1_c, 8)
BIT_BLOCK(tesela__k_bit_block2_avx512, tesela__k_bit_block2_c, 4)
BIT_BLOCK(tesela__k_bit_block4_avx512, tesela__k_bit_block4_c, 2)

#undef BIT_BLOCK
#undef AVX512
#endif
