/* SPDX-License-Identifier: Apache-2.0 */
/* avx2.h - steps that kernels of several kinds have in AVX2: transposes in lanes, and of elements below 8 bits inside bytes. */
#ifndef TESELA_SRC_AVX2_H
#define TESELA_SRC_AVX2_H

#include "kernels/bits_x86.h"
#include "kernels/transpose.h"

#if TESELA__X86
#include <immintrin.h>

#define CHOOSE(name, bits, low, here, next) \
  name##_or_si##bits(name##_and_si##bits(low, here), name##_andnot_si##bits(low, next))
TESELA__SHIFT_BYTES(avx2, TESELA__TARGET("avx2"), _mm, 128, CHOOSE)
TESELA__SHIFT_BYTES(avx2, TESELA__TARGET("avx2"), _mm256, 256, CHOOSE)
#undef CHOOSE

TESELA__BIT_STEPS(avx2, TESELA__TARGET("avx2"), 256, int)
TESELA__UNPACK(TESELA__TARGET("avx2"), __m256i, 256)
TESELA__ZIP(TESELA__TARGET("avx2"), __m256i, 256)

#endif
#endif
