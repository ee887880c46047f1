/* SPDX-License-Identifier: Apache-2.0 */
/* avx512.h - bytes from any bit on, with AVX-512. */
#ifndef TESELA_SRC_AVX512_H
#define TESELA_SRC_AVX512_H

#include "kernels/bits_x86.h"

#if TESELA__X86
#include <immintrin.h>

#define TESELA__BY_BITS(name, bits, low, here, next) \
  name##_ternarylogic_epi64(low, here, next, 0xca) /* low ? here : next */
TESELA__SHIFT_BYTES(avx512, TESELA__TARGET("avx512f,avx512bw,avx512vl,avx512dq"), _mm, 128, TESELA__BY_BITS)
TESELA__SHIFT_BYTES(avx512, TESELA__TARGET("avx512f,avx512bw,avx512vl,avx512dq"), _mm256, 256,
                    TESELA__BY_BITS)
TESELA__SHIFT_BYTES(avx512, TESELA__TARGET("avx512f,avx512bw,avx512vl,avx512dq"), _mm512, 512,
                    TESELA__BY_BITS)

#endif
#endif
