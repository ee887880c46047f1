/* SPDX-License-Identifier: Apache-2.0 */
/*
 * slices_avx2.c - slices.h with AVX2, 32 bytes of each row at a time.
 *
 * In a lane of 16 bytes a row has m units of 16 / m bytes. The units of m rows are transposed (transpose.h), so that lane u has unit u of
 * all rows, one after the other; a shuffle takes one byte of each in turn.
 */
#include "kernels/avx2.h"
#include "kernels/slices.h"

#if TESELA__X86
#define AVX2 TESELA__TARGET("avx2")

/* Byte c of unit j, of so many units of so many bytes in a lane, becomes byte j of unit c. */
AVX2 TESELA__INLINE __m256i turn_avx2(__m256i v, int units) {
  const __m256i of_2 =
      _mm256_broadcastsi128_si256(_mm_setr_epi8(0, 8, 1, 9, 2, 10, 3, 11, 4, 12, 5, 13, 6, 14, 7, 15));
  const __m256i of_4 =
      _mm256_broadcastsi128_si256(_mm_setr_epi8(0, 4, 8, 12, 1, 5, 9, 13, 2, 6, 10, 14, 3, 7, 11, 15));
  const __m256i of_8 =
      _mm256_broadcastsi128_si256(_mm_setr_epi8(0, 2, 4, 6, 8, 10, 12, 14, 1, 3, 5, 7, 9, 11, 13, 15));
  return _mm256_shuffle_epi8(v, units == 2 ? of_2 : units == 4 ? of_4 : of_8);
}

AVX2 TESELA__INLINE void slice_avx2(unsigned char *dst, const tesela__sliced_from *from, int64_t at,
                                    int width) {
  const int m = 8 / width;
  __m256i row[8], unit[8];
  TESELA__UNROLL for (int j = 0; j < m; j++) row[j] =
      from->shift[j] ? shifted256_avx2(from->at[j] + at, from->shift[j])
                     : _mm256_loadu_si256((const void *)(from->at[j] + at));
  bit_block_rows_avx2(row, m);
  zip256(16 / m, unit, row);
  TESELA__UNROLL for (int u = 0; u < m; u++) {
    const __m256i bytes = turn_avx2(unit[u], m);
    _mm_storeu_si128((void *)(dst + 16 * u), _mm256_castsi256_si128(bytes));
    _mm_storeu_si128((void *)(dst + 16 * (m + u)), _mm256_extracti128_si256(bytes, 1));
  }
}

AVX2 TESELA__INLINE void unslice_avx2(const tesela__sliced_to *to, int64_t at, const unsigned char *src,
                                      int width) {
  const int m = 8 / width;
  __m256i row[8], unit[8];
  TESELA__UNROLL for (int u = 0; u < m; u++) {
    const __m128i low = _mm_loadu_si128((const void *)(src + 16 * u));
    const __m128i high = _mm_loadu_si128((const void *)(src + 16 * (m + u)));
    unit[u] = turn_avx2(_mm256_inserti128_si256(_mm256_castsi128_si256(low), high, 1), 16 / m);
  }
  zip256(16 / m, row, unit);
  bit_block_rows_avx2(row, m);
  TESELA__UNROLL for (int j = 0; j < m; j++) _mm256_storeu_si256((void *)(to->at[j] + at), row[j]);
}

TESELA__SLICES(avx2, AVX2, 32)

#undef AVX2
#endif
