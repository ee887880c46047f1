/* SPDX-License-Identifier: Apache-2.0 */
/* bits_avx2.c - bits_x86.h with AVX2. */
#include "kernels/avx2.h"

#if TESELA__X86
#define AVX2 TESELA__TARGET("avx2")

TESELA__INLINE void bit_block_short_avx2(unsigned char *dst, int64_t dst_pitch, const unsigned char *src,
                                         const int64_t *src_off, const int32_t *shift, int64_t bytes, int m) {
  tesela__bit_block_fn *block = m == 8   ? tesela__k_bit_block1_c
                                : m == 4 ? tesela__k_bit_block2_c
                                         : tesela__k_bit_block4_c;
  block(dst, dst_pitch, src, src_off, shift, bytes);
}

TESELA__BIT_BLOCKS(avx2, AVX2, 256)

/* ---- transpose --------------------------------------------------------------------------------------------- */

/* 32 bytes of 16 * m rows, from byte `at` on: those of m rows become kinds, then the bytes of each kind are transposed. */
AVX2 TESELA__INLINE void bit_transpose_step_avx2(unsigned char *dst, int64_t column, const unsigned char *src,
                                                 const int64_t *src_off, const int32_t *shift, int64_t at,
                                                 int64_t ahead, int m) {
  __m256i kind[8][16], row[8], out[16];
  for (int g = 0; g < 16; g++) {
    TESELA__UNROLL_GCC
    for (int i = 0; i < m; i++) {
      const unsigned char *from = src + src_off[g * m + i] + at;
      if (ahead) __builtin_prefetch((const void *)((uintptr_t)from + (uintptr_t)ahead), 0, 2);
      row[i] = shift && shift[g * m + i] ? shifted256_avx2(from, shift[g * m + i])
                                         : _mm256_loadu_si256((const void *)from);
    }
    bit_block_rows_avx2(row, m);
    TESELA__UNROLL_GCC
    for (int i = 0; i < m; i++) kind[i][g] = row[i];
  }
  for (int i = 0; i < m; i++) {
    unsigned char *to = dst + (at * m + i) * column;
    zip256(1, out, kind[i]);
    TESELA__UNROLL
    for (int e = 0; e < 16; e++) {
      _mm_storeu_si128((void *)(to + e * m * column), _mm256_castsi256_si128(out[e]));
      _mm_storeu_si128((void *)(to + (16 + e) * m * column), _mm256_extracti128_si256(out[e], 1));
    }
  }
}

/* The last step overlaps the one before it. */
#define TESELA__BIT_TRANSPOSE(symbol, m)                                                                 \
  AVX2 void symbol(unsigned char *dst, int64_t column, const unsigned char *src, const int64_t *src_off, \
                   const int32_t *shift, int64_t bytes, int64_t ahead) {                                 \
    enum { STEP = TESELA__BIT_STEP };                                                                    \
    for (int64_t at = 0; at + STEP <= bytes; at += STEP)                                                 \
      bit_transpose_step_avx2(dst, column, src, src_off, shift, at, at % 64 ? 0 : ahead, m);             \
    if (bytes % STEP) bit_transpose_step_avx2(dst, column, src, src_off, shift, bytes - STEP, ahead, m); \
  }
TESELA__BIT_TRANSPOSE(tesela__k_bit_transpose1_avx2, 8)
TESELA__BIT_TRANSPOSE(tesela__k_bit_transpose2_avx2, 4)
TESELA__BIT_TRANSPOSE(tesela__k_bit_transpose4_avx2, 2)
#undef TESELA__BIT_TRANSPOSE

/* ---- copy -------------------------------------------------------------------------------------------------- */

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

#undef AVX2
#endif
