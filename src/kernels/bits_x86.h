/* SPDX-License-Identifier: Apache-2.0 */
/*
 * bits_x86.h - transposes of elements below 8 bits inside the bytes of several rows, in x86 vectors; bits_c.c has the
 * method. Bytes from any bit on.
 */
#ifndef TESELA_SRC_BITS_X86_H
#define TESELA_SRC_BITS_X86_H

#include "kernels/bits.h"

/* The steps for vectors of `bits` bits, after TESELA__SHIFT_BYTES; `number` is the type of a shift in their intrinsics. */
#define TESELA__BIT_STEPS(isa, target, bits, number)                                                     \
  /* In each group of 2 * shift bits, swap the upper half of x with the lower half of y. */              \
  target TESELA__INLINE void exchange_##isa(__m##bits##i *x, __m##bits##i *y, int shift) {               \
    const __m##bits##i mask = _mm##bits##_set1_epi8(shift == 4 ? 0x0f : shift == 2 ? 0x33 : 0x55);       \
    __m##bits##i change = _mm##bits##_and_si##bits(                                                      \
        _mm##bits##_xor_si##bits(_mm##bits##_srli_epi64(*x, (number)shift), *y), mask);                  \
    *y = _mm##bits##_xor_si##bits(*y, change);                                                           \
    *x = _mm##bits##_xor_si##bits(*x, _mm##bits##_slli_epi64(change, (number)shift));                    \
  }                                                                                                      \
  /* Transpose inside the bytes of m vectors. */                                                         \
  target TESELA__INLINE void bit_block_rows_##isa(__m##bits##i *row, int m) {                            \
    TESELA__UNROLL_GCC                                                                                   \
    for (int i = 0; i < m / 2; i++) exchange_##isa(&row[i], &row[i + m / 2], 4);                         \
    if (m >= 4) {                                                                                        \
      TESELA__UNROLL_GCC                                                                                 \
      for (int i = 0; i < m; i++)                                                                        \
        if (!(i & m / 4)) exchange_##isa(&row[i], &row[i + m / 4], 2);                                   \
    }                                                                                                    \
    if (m == 8) {                                                                                        \
      TESELA__UNROLL_GCC                                                                                 \
      for (int i = 0; i < m; i += 2) exchange_##isa(&row[i], &row[i + 1], 1);                            \
    }                                                                                                    \
  }                                                                                                      \
  /* One vector of each of the m rows, from byte `at` on. */                                             \
  target TESELA__INLINE void bit_block_step_##isa(unsigned char *dst, int64_t dst_pitch,                 \
                                                  const unsigned char *const *src, const int32_t *shift, \
                                                  int64_t at, int m) {                                   \
    __m##bits##i row[8];                                                                                 \
    TESELA__UNROLL_GCC                                                                                   \
    for (int i = 0; i < m; i++)                                                                          \
      row[i] = shift[i] ? shifted##bits##_##isa(src[i] + at, shift[i])                                   \
                        : _mm##bits##_loadu_si##bits((const void *)(src[i] + at));                       \
    bit_block_rows_##isa(row, m);                                                                        \
    TESELA__UNROLL_GCC                                                                                   \
    for (int i = 0; i < m; i++) _mm##bits##_storeu_si##bits((void *)(dst + i * dst_pitch + at), row[i]); \
  }

#define TESELA__BIT_BLOCKS(isa, target, bits)      \
  TESELA__BIT_BLOCK(isa, target, (bits / 8), 1, 8) \
  TESELA__BIT_BLOCK(isa, target, (bits / 8), 2, 4) \
  TESELA__BIT_BLOCK(isa, target, (bits / 8), 4, 2)

/* The last step overlaps the one before it. Rows of less than a step are left to bit_block_short_isa. */
#define TESELA__BIT_BLOCK(isa, target, step, width, m)                                             \
  target void tesela__k_bit_block##width##_##isa(unsigned char *dst, int64_t dst_pitch,            \
                                                 const unsigned char *src, const int64_t *src_off, \
                                                 const int32_t *shift, int64_t bytes) {            \
    static const int32_t none[m] = {0};                                                            \
    const unsigned char *row[m];                                                                   \
    if (!shift) shift = none;                                                                      \
    if (bytes < step) {                                                                            \
      bit_block_short_##isa(dst, dst_pitch, src, src_off, shift, bytes, m);                        \
      return;                                                                                      \
    }                                                                                              \
    for (int i = 0; i < m; i++) row[i] = src + src_off[i];                                         \
    for (int64_t at = 0; at + step <= bytes; at += step)                                           \
      bit_block_step_##isa(dst, dst_pitch, row, shift, at, m);                                     \
    if (bytes % step) bit_block_step_##isa(dst, dst_pitch, row, shift, bytes - step, m);           \
  }

/* Bytes from bit `at` of src on, 1 to 7, two at a time: of 16 bits shifted down the lower one, and of those a byte later, shifted up, the
 * upper one. Stores have no masks: a load of a byte within the reach of a masked store waits for it, and the ends of rows are loaded. */
#define TESELA__SHIFT_BYTES(isa, target, name, bits, choose)                                                 \
  target TESELA__INLINE __m##bits##i shifted##bits##_##isa(const unsigned char *src, int64_t at) {           \
    const __m128i down = _mm_cvtsi64_si128(at), up = _mm_cvtsi64_si128(8 - at);                              \
    const __m##bits##i low = name##_set1_epi16(0xff);                                                        \
    const __m##bits##i here = name##_srl_epi16(name##_loadu_si##bits((const void *)src), down);              \
    const __m##bits##i next = name##_sll_epi16(name##_loadu_si##bits((const void *)(src + 1)), up);          \
    return choose(name, bits, low, here, next);                                                              \
  }                                                                                                          \
  target TESELA__INLINE void shift##bits##_##isa(unsigned char *dst, const unsigned char *src, int64_t at) { \
    name##_storeu_si##bits((void *)dst, shifted##bits##_##isa(src, at));                                     \
  }

#endif
