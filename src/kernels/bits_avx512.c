/* SPDX-License-Identifier: Apache-2.0 */
/* bits_avx512.c - bits_x86.h with AVX-512. */
#include "kernels/bits_x86.h"

#if TESELA__X86
#include <immintrin.h>

TESELA__BIT_BLOCKS(avx512, TESELA__TARGET("avx512f,avx512bw,avx512vl,avx512dq"), 512, unsigned)
#endif
