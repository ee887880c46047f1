/* SPDX-License-Identifier: Apache-2.0 */
/*
 * rows_strided_avx2.c - every k-th element, with shuffles of 16 bytes; strided.h has the method.
 */
#include "kernels/strided.h"

#if TESELA__X86
#include <immintrin.h>

#define AVX2 TESELA__TARGET("avx2")

AVX2 TESELA__INLINE void compress_avx2(unsigned char *dst, const unsigned char *src, const tesela__strided *s,
                                       bool stream) {
  src += s->low;
  __m128i v = _mm_shuffle_epi8(_mm_loadu_si128((const void *)src), _mm_loadu_si128((const void *)s->from[0]));
  for (int64_t j = 1; j < s->n_vectors; j++)
    v = _mm_or_si128(v, _mm_shuffle_epi8(_mm_loadu_si128((const void *)(src + 16 * j)),
                                         _mm_loadu_si128((const void *)s->from[j])));
  if (stream)
    _mm_stream_si128((void *)dst, v);
  else
    _mm_storeu_si128((void *)dst, v);
}

TESELA__STRIDED(tesela__k_strided1_avx2, AVX2, compress_avx2, tesela__k_strided1_c, 1)
TESELA__STRIDED(tesela__k_strided2_avx2, AVX2, compress_avx2, tesela__k_strided2_c, 2)
TESELA__STRIDED(tesela__k_strided4_avx2, AVX2, compress_avx2, tesela__k_strided4_c, 4)

#undef AVX2
#endif
