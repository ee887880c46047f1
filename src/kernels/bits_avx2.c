/* SPDX-License-Identifier: Apache-2.0 */
/* bits_avx2.c - bits_x86.h with AVX2. */
#include "kernels/bits_x86.h"

#if TESELA__X86
#include <immintrin.h>

TESELA__BIT_BLOCKS(avx2, TESELA__TARGET("avx2"), 256, int)
#endif
