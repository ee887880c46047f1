/* SPDX-License-Identifier: Apache-2.0 */
/* bits_avx2.c - bits_x86.h with AVX2. */
#include "kernels/bits_x86.h"

#if TESELA__X86
#include <immintrin.h>

TESELA__BIT_STEPS(avx2, TESELA__TARGET("avx2"), 256, int)

TESELA__INLINE void bit_block_short_avx2(unsigned char *dst, int64_t dst_pitch, const unsigned char *src,
                                         const int64_t *src_off, int64_t bytes, int m) {
  tesela__bit_block_fn *block = m == 8   ? tesela__k_bit_block1_c
                                : m == 4 ? tesela__k_bit_block2_c
                                         : tesela__k_bit_block4_c;
  block(dst, dst_pitch, src, src_off, bytes);
}

TESELA__BIT_BLOCKS(avx2, TESELA__TARGET("avx2"), 256)
#endif
