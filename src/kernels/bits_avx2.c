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
