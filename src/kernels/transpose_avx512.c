/* SPDX-License-Identifier: Apache-2.0 */
/*
 * transpose_avx512.c - transposes of blocks with one 64-byte line per row; transpose.h has the method.
 *
 * Five variants, by the shape of the block:
 *   lines   read whole src rows, transpose inside lanes, then transpose the 4x4 lanes of 4 groups of rows:
 *           every line is accessed once, so rows of the same cache set do not evict each other
 *   pairs   1 and 2 bytes: read halves of src rows i and 2L + i into one vector, transpose inside lanes, then combine the lanes
 *           of two groups of rows. Fewer permutes, and they fit the registers, for twice the loads
 *   strip   few columns: read lanes of 4 rows into one vector, so no lane has to move
 *   few     few rows: one group, whose lanes are already pieces of dst rows; four to a line where these follow each other
 *   half    two groups: rows of dst are half lines, two of them in a vector
 * Parts of rows are read and written under masks, which access no other byte.
 */
#include "kernels/transpose.h"

#if TESELA__X86
#include <immintrin.h>

#define TESELA__AVX512 "avx512f,avx512bw,avx512vl,avx512dq"

/* Mask of the first `bytes` bytes of a line, 1 to 64. */
TESELA__INLINE TESELA__TARGET(TESELA__AVX512)
__mmask64 first512(int32_t bytes) { return ~(uint64_t)0 >> (64 - bytes); }

TESELA__UNPACK(TESELA__TARGET(TESELA__AVX512), __m512i, 512)
TESELA__ZIP(TESELA__TARGET(TESELA__AVX512), __m512i, 512)

/* Transpose the 4x4 lanes of v. */
TESELA__INLINE TESELA__TARGET(TESELA__AVX512) void lanes512(__m512i *v) {
  const __m512i even01 = _mm512_shuffle_i32x4(v[0], v[1], 0x88),
                odd01 = _mm512_shuffle_i32x4(v[0], v[1], 0xdd);
  const __m512i even23 = _mm512_shuffle_i32x4(v[2], v[3], 0x88),
                odd23 = _mm512_shuffle_i32x4(v[2], v[3], 0xdd);
  v[0] = _mm512_shuffle_i32x4(even01, even23, 0x88);
  v[1] = _mm512_shuffle_i32x4(odd01, odd23, 0x88);
  v[2] = _mm512_shuffle_i32x4(even01, even23, 0xdd);
  v[3] = _mm512_shuffle_i32x4(odd01, odd23, 0xdd);
}

/* Write dst row j, only its elements in the block. */
TESELA__INLINE TESELA__TARGET(TESELA__AVX512) void put512(int width, const tesela__transpose_block *b,
                                                          int32_t j, __m512i v) {
  unsigned char *to = b->dst + b->dst_off[j];
  if (b->stream)
    _mm512_stream_si512((void *)to, v);
  else if (b->rows == 64 / width)
    _mm512_storeu_si512(to, v);
  else
    _mm512_mask_storeu_epi8(to, first512(b->rows * width), v);
}

/* Group g: src rows g*L to g*L + L-1, transposed inside lanes, to mid[4*e + g]. `whole`: the block is full. */
TESELA__INLINE TESELA__TARGET(TESELA__AVX512) void group512(int width, bool whole,
                                                            const tesela__transpose_block *b, int32_t g,
                                                            __m512i *mid) {
  const int32_t lane = 16 / width;
  __m512i v[16], t[16];
  TESELA__UNROLL for (int32_t i = 0; i < lane; i++) {
    const int32_t row = g * lane + i;
    if (whole)
      v[i] = _mm512_loadu_si512(b->src + b->src_off[row]);
    else if (row < b->rows)
      v[i] = _mm512_maskz_loadu_epi8(first512(b->cols * width), b->src + b->src_off[row]);
    else
      v[i] = _mm512_setzero_si512();
  }
  zip512(width, t, v);
  TESELA__UNROLL for (int32_t e = 0; e < lane; e++) mid[4 * e + g] = t[e];
}

/* dst rows e, L + e, 2L + e and 3L + e from mid[4*e] to mid[4*e + 3]. */
TESELA__INLINE TESELA__TARGET(TESELA__AVX512) void finish512(int width, bool whole,
                                                             const tesela__transpose_block *b, int32_t e,
                                                             const __m512i *mid) {
  const int32_t lane = 16 / width;
  __m512i v[4] = {mid[4 * e], mid[4 * e + 1], mid[4 * e + 2], mid[4 * e + 3]};
  lanes512(v);
  TESELA__UNROLL for (int32_t q = 0; q < 4; q++) {
    if (whole || q * lane + e < b->cols) put512(width, b, q * lane + e, v[q]);
  }
}

TESELA__INLINE TESELA__TARGET(TESELA__AVX512) void lines512(int width, bool whole,
                                                            const tesela__transpose_block *b) {
  const int32_t lane = 16 / width;
  __m512i mid[16]; /* in registers */
  TESELA__UNROLL for (int32_t g = 0; g < 4; g++) group512(width, whole, b, g, mid);
  TESELA__UNROLL for (int32_t e = 0; e < lane; e++) finish512(width, whole, b, e, mid);
}

/* Half h of src rows `row` and 2L + `row`, zero outside the block. */
TESELA__INLINE TESELA__TARGET(TESELA__AVX512)
__m512i pair512(int width, bool whole, const tesela__transpose_block *b, int32_t row, int32_t h) {
  const int32_t above = row + 32 / width, bytes = b->cols * width - 32 * h;
  if (whole) {
    const __m256i low = _mm256_loadu_si256((const void *)(b->src + b->src_off[row] + 32 * h));
    const __m256i high = _mm256_loadu_si256((const void *)(b->src + b->src_off[above] + 32 * h));
    return _mm512_mask_broadcast_i64x4(_mm512_castsi256_si512(low), 0xf0, high);
  }
  if (row >= b->rows || bytes <= 0) return _mm512_setzero_si512();
  const __mmask64 part = first512(bytes < 32 ? bytes : 32);
  const __m512i low = _mm512_maskz_loadu_epi8(part, b->src + b->src_off[row] + 32 * h);
  if (above >= b->rows) return low;
  return _mm512_mask_loadu_epi8(low, part << 32, b->src + b->src_off[above] + 32 * h - 32);
}

/* dst rows e and L + e of half h: from the lanes of the rows 0 to L-1 and 2L to 3L-1, and those of the L rows after each. */
TESELA__INLINE TESELA__TARGET(TESELA__AVX512) void finish_pairs512(int width, bool whole,
                                                                   const tesela__transpose_block *b,
                                                                   int32_t h, int32_t e, __m512i rows,
                                                                   __m512i after) {
  const int32_t lane = 16 / width, j = 2 * h * lane + e;
  const __m512i even = _mm512_setr_epi64(0, 1, 8, 9, 4, 5, 12, 13),
                odd = _mm512_setr_epi64(2, 3, 10, 11, 6, 7, 14, 15);
  if (whole || j < b->cols) put512(width, b, j, _mm512_permutex2var_epi64(rows, even, after));
  if (whole || j + lane < b->cols) put512(width, b, j + lane, _mm512_permutex2var_epi64(rows, odd, after));
}

TESELA__INLINE TESELA__TARGET(TESELA__AVX512) void rows512(int width, bool whole,
                                                           const tesela__transpose_block *b) {
  const int32_t lane = 16 / width;
  __m512i v[16], rows[16], after[16];
  if (width >= 4) {
    lines512(width, whole, b);
    return;
  }
  for (int32_t h = 0; h < 2; h++) {
    TESELA__UNROLL for (int32_t i = 0; i < lane; i++) v[i] = pair512(width, whole, b, i, h);
    zip512(width, rows, v);
    TESELA__UNROLL for (int32_t i = 0; i < lane; i++) v[i] = pair512(width, whole, b, lane + i, h);
    zip512(width, after, v);
    TESELA__UNROLL for (int32_t e = 0; e < lane; e++)
        finish_pairs512(width, whole, b, h, e, rows[e], after[e]);
  }
}

/* v with the `piece` of src row `row` from column `first` on in lane g, if the block has that row. */
TESELA__INLINE TESELA__TARGET(TESELA__AVX512)
__m512i lane512(int width, const tesela__transpose_block *b, int32_t first, __mmask16 piece, int32_t row,
                int g, __m512i v) {
  if (row >= b->rows) return v;
  const __m128i part = _mm_maskz_loadu_epi8(piece, b->src + b->src_off[row] + first * width);
  return _mm512_mask_broadcast_i32x4(v, (__mmask16)(0xf << 4 * g), part);
}

/* Up to L columns from column `first` on: lane g of vector i is the piece of src row g*L + i. */
TESELA__INLINE TESELA__TARGET(TESELA__AVX512) void strip512(int width, const tesela__transpose_block *b,
                                                            int32_t first) {
  const int32_t lane = 16 / width;
  const int32_t cols = b->cols - first < lane ? b->cols - first : lane;
  const __mmask16 piece = (__mmask16)first512(cols * width);
  __m512i v[16], t[16];
  TESELA__UNROLL for (int32_t i = 0; i < lane; i++) {
    v[i] = lane512(width, b, first, piece, i, 0, _mm512_setzero_si512());
    v[i] = lane512(width, b, first, piece, lane + i, 1, v[i]);
    v[i] = lane512(width, b, first, piece, 2 * lane + i, 2, v[i]);
    v[i] = lane512(width, b, first, piece, 3 * lane + i, 3, v[i]);
  }
  zip512(width, t, v);
  TESELA__UNROLL for (int32_t e = 0; e < lane; e++) {
    if (e < cols) put512(width, b, first + e, t[e]);
  }
}

/* Up to L rows: lane q of vector e is dst row q*L + e. */
TESELA__INLINE TESELA__TARGET(TESELA__AVX512) void few512(int width, const tesela__transpose_block *b) {
  const int32_t lane = 16 / width;
  const __mmask16 piece = (__mmask16)first512(b->rows * width);
  __m512i v[16], t[16];
  TESELA__UNROLL for (int32_t i = 0; i < lane; i++) {
    v[i] = _mm512_setzero_si512();
    if (i < b->rows) v[i] = _mm512_maskz_loadu_epi8(first512(b->cols * width), b->src + b->src_off[i]);
  }
  zip512(width, t, v);
  for (int32_t j = 0; j < b->cols; j++) {
    const uint32_t q = (uint32_t)j / (uint32_t)lane, e = (uint32_t)j % (uint32_t)lane;
    _mm_mask_storeu_epi8(b->dst + b->dst_off[j], piece, _mm_load_si128((const __m128i *)&t[e] + q));
  }
}

/* Write dst rows e and L + e (high: 2L + e and 3L + e) from half lines. */
TESELA__INLINE TESELA__TARGET(TESELA__AVX512) void halves512(int width, const tesela__transpose_block *b,
                                                             int32_t j, __mmask32 piece, __m512i v) {
  const int32_t next = j + 16 / width;
  if (j < b->cols) _mm256_mask_storeu_epi8(b->dst + b->dst_off[j], piece, _mm512_castsi512_si256(v));
  if (next < b->cols)
    _mm256_mask_storeu_epi8(b->dst + b->dst_off[next], piece, _mm512_extracti64x4_epi64(v, 1));
}

/* More than L and up to 2L rows: dst rows e, L + e, 2L + e and 3L + e have a lane of each of two groups. */
TESELA__INLINE TESELA__TARGET(TESELA__AVX512) void half512(int width, const tesela__transpose_block *b) {
  const int32_t lane = 16 / width;
  const __mmask32 piece = (__mmask32)first512(b->rows * width);
  const __m512i low = _mm512_setr_epi64(0, 1, 8, 9, 2, 3, 10, 11),
                high = _mm512_setr_epi64(4, 5, 12, 13, 6, 7, 14, 15);
  __m512i mid[64];
  group512(width, false, b, 0, mid);
  group512(width, false, b, 1, mid);
  TESELA__UNROLL for (int32_t e = 0; e < lane; e++) {
    if (e < b->cols) {
      halves512(width, b, e, piece, _mm512_permutex2var_epi64(mid[4 * e], low, mid[4 * e + 1]));
      halves512(width, b, 2 * lane + e, piece, _mm512_permutex2var_epi64(mid[4 * e], high, mid[4 * e + 1]));
    }
  }
}

/* Do full dst rows of `pitch` bytes follow each other? Then lines have several. */
TESELA__INLINE TESELA__TARGET(TESELA__AVX512) bool rows_follow512(int width, const tesela__transpose_block *b,
                                                                  int64_t pitch) {
  if (b->cols != 64 / width || b->rows * width != pitch) return false;
  __m512i next = _mm512_add_epi64(
      _mm512_set1_epi64(b->dst_off[0]),
      _mm512_mullo_epi64(_mm512_setr_epi64(0, 1, 2, 3, 4, 5, 6, 7), _mm512_set1_epi64(pitch)));
  __mmask8 differ = 0;
  for (int32_t j = 0; j < 64 / width; j += 8, next = _mm512_add_epi64(next, _mm512_set1_epi64(8 * pitch)))
    differ |= _mm512_cmpneq_epi64_mask(next, _mm512_loadu_si512(b->dst_off + j));
  return !differ;
}

/* L rows, whose dst rows follow each other: a line has four of them, a lane of each. */
TESELA__INLINE TESELA__TARGET(TESELA__AVX512) void few_lines512(int width, const tesela__transpose_block *b) {
  const int32_t lane = 16 / width;
  __m512i v[16], t[16];
  TESELA__UNROLL for (int32_t i = 0; i < lane; i++) v[i] = _mm512_loadu_si512(b->src + b->src_off[i]);
  zip512(width, t, v);
  TESELA__UNROLL for (int32_t e = 0; e < lane; e += 4) {
    lanes512(t + e);
    TESELA__UNROLL for (int32_t q = 0; q < 4; q++)
        _mm512_storeu_si512(b->dst + b->dst_off[q * lane + e], t[e + q]);
  }
}

TESELA__INLINE TESELA__TARGET(TESELA__AVX512) void transpose512(int width, const tesela__transpose_block *b) {
  const int32_t lane = 16 / width;
  if (b->rows == 4 * lane && b->cols == 4 * lane)
    rows512(width, true, b);
  else if (width <= 2 && b->rows == lane && rows_follow512(width, b, 16))
    few_lines512(width, b);
  else if (b->rows <= lane)
    few512(width, b);
  else if (b->cols <= (width <= 2 ? 2 * lane : lane)) /* two strips are faster than lines */
    for (int32_t first = 0; first < b->cols; first += lane) strip512(width, b, first);
  else if (b->rows <= 2 * lane)
    half512(width, b);
  else
    rows512(width, false, b);
}

TESELA__TRANSPOSE(tesela__k_transpose_x8_avx512, TESELA__AVX512, transpose512, 1)
TESELA__TRANSPOSE(tesela__k_transpose_x16_avx512, TESELA__AVX512, transpose512, 2)
TESELA__TRANSPOSE(tesela__k_transpose_x32_avx512, TESELA__AVX512, transpose512, 4)
TESELA__TRANSPOSE(tesela__k_transpose_x64_avx512, TESELA__AVX512, transpose512, 8)
TESELA__TRANSPOSE(tesela__k_transpose_x128_avx512, TESELA__AVX512, transpose512, 16)

#undef TESELA__AVX512
#endif
