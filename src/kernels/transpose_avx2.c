/* SPDX-License-Identifier: Apache-2.0 */
/*
 * transpose_avx2.c - transposes of blocks with one 64-byte line per row, in vectors of half a line; transpose.h has the
 * method.
 *
 * The lanes of vector i come from src rows i and L + i of one half of the rows, so no lane has to move. The first half
 * of the rows is transposed for all columns and kept; with the second half the lines of dst are written, both halves of
 * a line back to back. So only half of the rows need to stay in the cache at a time.
 */
#include "kernels/transpose.h"

#if TESELA__X86
#include <immintrin.h>

#define TESELA__AVX2 "avx2"

TESELA__UNPACK(TESELA__TARGET(TESELA__AVX2), __m256i, 256)
TESELA__ZIP(TESELA__TARGET(TESELA__AVX2), __m256i, 256)

/* Lane q of a src row, zero outside the block. `whole`: the block is full. */
TESELA__INLINE TESELA__TARGET(TESELA__AVX2)
__m128i get256(int width, bool whole, const tesela__transpose_block *b, int32_t row, int32_t q) {
  if (!whole && row >= b->rows) return _mm_setzero_si128();
  const unsigned char *from = b->src + b->src_off[row] + 16 * q;
  const int32_t bytes = whole ? 16 : b->cols * width - 16 * q;
  if (bytes >= 16) return _mm_loadu_si128((const __m128i *)(const void *)from);
  uint64_t part[2];
  tesela__load_part(part, from, (size_t)bytes);
  return _mm_set_epi64x((int64_t)part[1], (int64_t)part[0]);
}

/* Half h of dst rows q*L to q*L + L-1. */
TESELA__INLINE TESELA__TARGET(TESELA__AVX2) void half256(int width, bool whole,
                                                         const tesela__transpose_block *b, int32_t h,
                                                         int32_t q, __m256i *half) {
  const int32_t lane = 16 / width;
  __m256i v[16];
  TESELA__UNROLL for (int32_t i = 0; i < lane; i++) {
    const int32_t row = 2 * h * lane + i;
    const __m128i low = get256(width, whole, b, row, q), high = get256(width, whole, b, row + lane, q);
    v[i] = _mm256_inserti128_si256(_mm256_castsi128_si256(low), high, 1);
  }
  zip256(width, half, v);
}

/* Write dst row j, only its elements in the block. */
TESELA__INLINE TESELA__TARGET(TESELA__AVX2) void put256(int width, const tesela__transpose_block *b,
                                                        int32_t j, __m256i first, __m256i second) {
  unsigned char *to = b->dst + b->dst_off[j];
  if (b->stream) {
    _mm256_stream_si256((__m256i *)(void *)to, first);
    _mm256_stream_si256((__m256i *)(void *)(to + 32), second);
  } else if (b->rows == 64 / width) {
    _mm256_storeu_si256((__m256i *)(void *)to, first);
    _mm256_storeu_si256((__m256i *)(void *)(to + 32), second);
  } else {
    const __m256i line[2] = {first, second};
    const unsigned char *from = (const unsigned char *)line;
    const size_t n = (size_t)(b->rows * width);
    for (size_t at = 0; at < n; at += 16) tesela__copy_part(to + at, from + at, n - at < 16 ? n - at : 16);
  }
}

TESELA__INLINE TESELA__TARGET(TESELA__AVX2) void lines256(int width, bool whole,
                                                          const tesela__transpose_block *b) {
  const int32_t lane = 16 / width;
  const int32_t lanes = whole ? 4 : (b->cols + lane - 1) / lane;
  __m256i first[64], second[16];
  for (int32_t q = 0; q < lanes; q++) half256(width, whole, b, 0, q, first + q * lane);
  for (int32_t q = 0; q < lanes; q++) {
    half256(width, whole, b, 1, q, second);
    TESELA__UNROLL for (int32_t e = 0; e < lane; e++) {
      const int32_t j = q * lane + e;
      if (whole || j < b->cols) put256(width, b, j, first[j], second[e]);
    }
  }
}

TESELA__INLINE TESELA__TARGET(TESELA__AVX2) void transpose256(int width, const tesela__transpose_block *b) {
  if (b->rows == 64 / width && b->cols == 64 / width)
    lines256(width, true, b);
  else
    lines256(width, false, b);
}

TESELA__TRANSPOSE(tesela__k_transpose_x8_avx2, TESELA__AVX2, transpose256, 1)
TESELA__TRANSPOSE(tesela__k_transpose_x16_avx2, TESELA__AVX2, transpose256, 2)
TESELA__TRANSPOSE(tesela__k_transpose_x32_avx2, TESELA__AVX2, transpose256, 4)
TESELA__TRANSPOSE(tesela__k_transpose_x64_avx2, TESELA__AVX2, transpose256, 8)
TESELA__TRANSPOSE(tesela__k_transpose_x128_avx2, TESELA__AVX2, transpose256, 16)

#undef TESELA__AVX2
#endif
