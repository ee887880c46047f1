/* SPDX-License-Identifier: Apache-2.0 */
/*
 * transpose_avx2.c - transposes of blocks with one 64-byte line per row, in vectors of half a line; transpose.h has the
 * method.
 *
 * The lanes of vector i come from src rows i and L + i of one half of the rows, so no lane has to move. The first half
 * of the rows is transposed for all columns and kept; with the second half the lines of dst are written, both halves of
 * a line back to back. So only half of the rows need to stay in the cache at a time.
 *
 * A block that has less rows is moved in squares of L x L elements. The last squares of a row or a column
 * overlap those before them, so that none is cut:
 *
 *   f32, 15 rows: dst rows get elements 0 to 3, 4 to 7, 8 to 11, and 11 to 14
 *
 * Only rows of less than 16 bytes on a side are read, or written, in part. Where a block has few rows or columns, its elements are moved
 * one by one.
 */
#include "kernels/avx2.h"

#if TESELA__X86
#define TESELA__AVX2 "avx2"

tesela__transpose_fn tesela__k_transpose_x8_c, tesela__k_transpose_x16_c, tesela__k_transpose_x32_c,
    tesela__k_transpose_x64_c, tesela__k_transpose_x128_c;

/* The largest power of two up to n, at most 8: as many bytes are moved from both ends of n, 1 to 15. */
TESELA__INLINE int32_t end_of_part256(int32_t n) { return n >= 8 ? 8 : n >= 4 ? 4 : n >= 2 ? 2 : 1; }

/* The shuffle that makes n bytes, and then zeros, of their two ends. */
TESELA__INLINE TESELA__TARGET(TESELA__AVX2)
__m128i join_ends256(int32_t n) {
  const __m128i at = _mm_setr_epi8(0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15);
  const int32_t end = end_of_part256(n);
  const __m128i second = _mm_cmpgt_epi8(at, _mm_set1_epi8((char)(end - 1)));
  const __m128i none = _mm_cmpgt_epi8(at, _mm_set1_epi8((char)(n - 1)));
  const __m128i back = _mm_and_si128(second, _mm_set1_epi8((char)(2 * end - n)));
  return _mm_or_si128(none, _mm_add_epi8(at, back));
}

/* 4 bytes, or 2, in the lowest of a vector. */
TESELA__INLINE TESELA__TARGET(TESELA__AVX2)
__m128i get_short256(const unsigned char *from, size_t bytes) {
  uint32_t x = 0;
  memcpy(&x, from, bytes);
  return _mm_cvtsi32_si128((int32_t)x);
}
TESELA__INLINE TESELA__TARGET(TESELA__AVX2) void put_short256(unsigned char *to, __m128i v, size_t bytes) {
  const int32_t x = _mm_cvtsi128_si32(v);
  memcpy(to, &x, bytes);
}

/* n bytes, 1 to 15, and then zeros; `join` is join_ends256(n). */
TESELA__INLINE TESELA__TARGET(TESELA__AVX2)
__m128i get_few256(const unsigned char *from, int32_t n, __m128i join) {
  __m128i ends;
  if (n >= 8)
    ends = _mm_unpacklo_epi64(_mm_loadl_epi64((const __m128i *)(const void *)from),
                              _mm_loadl_epi64((const __m128i *)(const void *)(from + n - 8)));
  else if (n >= 4)
    ends = _mm_unpacklo_epi32(get_short256(from, 4), get_short256(from + n - 4, 4));
  else if (n >= 2)
    ends = _mm_unpacklo_epi16(get_short256(from, 2), get_short256(from + n - 2, 2));
  else
    ends = _mm_cvtsi32_si128(*from);
  return _mm_shuffle_epi8(ends, join);
}

/* The columns of a block: at most 8 bytes of a row, less than a line, or a line. */
typedef enum block256 { NARROW_256, PART_256, WHOLE_256 } block256;

/* Lane q of a src row; outside the block it may be anything. */
TESELA__INLINE TESELA__TARGET(TESELA__AVX2)
__m128i get256(int width, block256 kind, const tesela__transpose_block *b, int32_t row, int32_t q,
               __m128i join) {
  const unsigned char *from = b->src + b->src_off[row] + 16 * q;
  const int32_t bytes = kind == WHOLE_256 ? 16 : b->cols * width - 16 * q;
  return bytes >= 16 || (width == 1 && from + 16 <= b->end)
             ? _mm_loadu_si128((const __m128i *)(const void *)from)
             : get_few256(from, bytes, join);
}

/* Half h of dst rows q*L to q*L + L-1. */
TESELA__INLINE TESELA__TARGET(TESELA__AVX2) void half256(int width, block256 kind,
                                                         const tesela__transpose_block *b, int32_t h,
                                                         int32_t q, __m128i join, __m256i *half) {
  const int32_t lane = 16 / width;
  __m256i v[16];
  TESELA__UNROLL for (int32_t i = 0; i < lane; i++) {
    const int32_t row = 2 * h * lane + i;
    const __m128i low = get256(width, kind, b, row, q, join);
    const __m128i high = get256(width, kind, b, row + lane, q, join);
    v[i] = _mm256_inserti128_si256(_mm256_castsi128_si256(low), high, 1);
  }
  zip256(width, half, v);
}

/* Write dst row j. */
TESELA__INLINE TESELA__TARGET(TESELA__AVX2) void put256(const tesela__transpose_block *b, int32_t j,
                                                        __m256i first, __m256i second) {
  unsigned char *to = b->dst + b->dst_off[j];
  if (b->stream) {
    _mm256_stream_si256((__m256i *)(void *)to, first);
    _mm256_stream_si256((__m256i *)(void *)(to + 32), second);
  } else {
    _mm256_storeu_si256((__m256i *)(void *)to, first);
    _mm256_storeu_si256((__m256i *)(void *)(to + 32), second);
  }
}

/* A block with all rows, in lines. */
TESELA__INLINE TESELA__TARGET(TESELA__AVX2) void lines256(int width, block256 kind,
                                                          const tesela__transpose_block *b) {
  const int32_t lane = 16 / width;
  const int32_t lanes = kind == WHOLE_256 ? 4 : kind == NARROW_256 ? 1 : (b->cols + lane - 1) / lane;
  const int32_t used = kind == NARROW_256 ? lane / 2 : lane; /* of the rows of dst that a lane has */
  const __m128i join = kind == WHOLE_256 ? _mm_setzero_si128() : join_ends256(b->cols * width % 16);
  __m256i first[64], second[16];
  for (int32_t q = 0; q < lanes; q++) half256(width, kind, b, 0, q, join, first + q * lane);
  for (int32_t q = 0; q < lanes; q++) {
    half256(width, kind, b, 1, q, join, second);
    TESELA__UNROLL for (int32_t e = 0; e < used; e++) {
      const int32_t j = q * lane + e;
      if (kind == WHOLE_256 || j < b->cols) put256(b, j, first[j], second[e]);
    }
  }
}

/* ---- squares ----------------------------------------------------------------------------------------------- */

/* Where elements begin that number `at` is the first of, if there are n: earlier, where they would end after these. */
TESELA__INLINE int32_t begin256(int32_t at, int32_t elements, int32_t n) {
  return at + elements > n && n > elements ? n - elements : at;
}

/* The first bytes of v, less than 16. Those from the last 8, 4 or 2 of them on are in `last`. */
TESELA__INLINE TESELA__TARGET(TESELA__AVX2) void put_few256(unsigned char *to, __m128i v, __m128i last,
                                                            int32_t n) {
  if (n >= 8) {
    _mm_storel_epi64((__m128i *)(void *)to, v);
    _mm_storel_epi64((__m128i *)(void *)(to + n - 8), last);
  } else if (n >= 4) {
    put_short256(to, v, 4);
    put_short256(to + n - 4, last, 4);
  } else if (n >= 2) {
    put_short256(to, v, 2);
    put_short256(to + n - 2, last, 2);
  } else {
    *to = (unsigned char)_mm_cvtsi128_si32(v);
  }
}

/* How many columns of a block there are: less than a square has, than two have, or more. */
typedef enum columns256 { FEW_256, ONE_SQUARE_256, TWO_SQUARES_256 } columns256;

/* Transpose the square of src rows from `row` and columns from `col` on, or two of them side by side, in one lane each. */
TESELA__INLINE TESELA__TARGET(TESELA__AVX2) void squares256(int width, bool few_rows, columns256 columns,
                                                            const tesela__transpose_block *b, int32_t row,
                                                            int32_t col, __m128i join, __m256i *to) {
  const int32_t lane = 16 / width;
  const unsigned char *src = b->src + (int64_t)col * width;
  __m256i v[16];
  TESELA__UNROLL for (int32_t i = 0; i < lane; i++) {
    if (few_rows && i >= b->rows)
      v[i] = _mm256_setzero_si256();
    else if (columns == TWO_SQUARES_256)
      v[i] = _mm256_loadu_si256((const __m256i *)(const void *)(src + b->src_off[row + i]));
    else if (columns == ONE_SQUARE_256)
      v[i] =
          _mm256_castsi128_si256(_mm_loadu_si128((const __m128i *)(const void *)(src + b->src_off[row + i])));
    else
      v[i] = _mm256_castsi128_si256(get_few256(src + b->src_off[row + i], b->cols * width, join));
  }
  zip256(width, to, v);
}

/* All rows of the columns from `col` on: those of one square, or two, or few. `few_rows`: the block has less rows than a square. */
TESELA__INLINE TESELA__TARGET(TESELA__AVX2) void columns256_from(int width, bool few_rows, columns256 columns,
                                                                 const tesela__transpose_block *b,
                                                                 int32_t col) {
  const int32_t lane = 16 / width, bytes = b->rows * width;
  const __m128i at = _mm_setr_epi8(0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15);
  const int32_t skip = few_rows ? bytes - end_of_part256(bytes) : 0;
  const __m128i last = _mm_add_epi8(at, _mm_set1_epi8((char)skip));
  const __m128i join = columns == FEW_256 ? join_ends256(b->cols * width) : at;
  const int64_t *off = b->dst_off + col;
  __m256i out[16];
  for (int32_t p = 0; p < b->rows; p += lane) {
    const int32_t row = begin256(p, lane, b->rows);
    unsigned char *dst = b->dst + (int64_t)row * width;
    squares256(width, few_rows, columns, b, row, col, join, out);
    TESELA__UNROLL for (int32_t e = 0; e < lane; e++) {
      if (columns == FEW_256 && e >= b->cols) break;
      const __m128i first = _mm256_castsi256_si128(out[e]), second = _mm256_extracti128_si256(out[e], 1);
      if (few_rows)
        put_few256(dst + off[e], first, _mm_shuffle_epi8(first, last), bytes);
      else
        _mm_storeu_si128((__m128i *)(void *)(dst + off[e]), first);
      if (columns != TWO_SQUARES_256) continue;
      if (few_rows)
        put_few256(dst + off[lane + e], second, _mm_shuffle_epi8(second, last), bytes);
      else
        _mm_storeu_si128((__m128i *)(void *)(dst + off[lane + e]), second);
    }
  }
}

TESELA__INLINE TESELA__TARGET(TESELA__AVX2) void parts256(int width, bool few_rows,
                                                          const tesela__transpose_block *b) {
  const int32_t lane = 16 / width, n = b->cols;
  int32_t col = 0;
  for (; n >= 2 * lane && n - col > lane; col += 2 * lane)
    columns256_from(width, few_rows, TWO_SQUARES_256, b, begin256(col, 2 * lane, n));
  for (; n >= lane && col < n; col += lane)
    columns256_from(width, few_rows, ONE_SQUARE_256, b, begin256(col, lane, n));
  if (n < lane) columns256_from(width, few_rows, FEW_256, b, 0);
}

TESELA__INLINE TESELA__TARGET(TESELA__AVX2) void all_parts256(int width, const tesela__transpose_block *b) {
  width < 4 && b->rows < 16 / width ? parts256(width, true, b) : parts256(width, false, b);
}

/* A function for each width, whose code is there once. */
#define TESELA__PARTS256(name, width)                                      \
  static __attribute__((noinline)) TESELA__TARGET(TESELA__AVX2) void name( \
      const tesela__transpose_block *b) {                                  \
    all_parts256(width, b);                                                \
  }
TESELA__PARTS256(parts256_x8, 1)
TESELA__PARTS256(parts256_x16, 2)
TESELA__PARTS256(parts256_x32, 4)
#undef TESELA__PARTS256

/* Are moves one by one faster than vectors that are not full, or than what has to be decided for those? Measured on Zen 3 with 2 to 100
 * rows and columns; they are up to 4 times as fast. */
TESELA__INLINE bool is_few256(int width, int32_t rows, int32_t cols) {
  switch (width) {
  case 1:
    return rows < 6 || cols < 4 || rows * cols < 76;
  case 2:
    return rows < 4 || cols < 3 || rows * cols < 40;
  case 4:
    return (rows < 6 && rows != 4) || cols < 4 || rows * cols < (cols == 5 ? 80 : 50);
  default:
    return rows < 64 / width || cols < 64 / width;
  }
}

TESELA__INLINE tesela__transpose_fn *one_by_one256(int width) {
  return width == 1   ? tesela__k_transpose_x8_c
         : width == 2 ? tesela__k_transpose_x16_c
         : width == 4 ? tesela__k_transpose_x32_c
         : width == 8 ? tesela__k_transpose_x64_c
                      : tesela__k_transpose_x128_c;
}

/* A block. One of 8 or 16 bytes an element has all rows: KERNEL moves others one by one. */
TESELA__INLINE TESELA__TARGET(TESELA__AVX2) void transpose256(int width, const tesela__transpose_block *b) {
  if (b->rows == 64 / width && b->cols == 64 / width)
    lines256(width, WHOLE_256, b);
  else if (b->rows == 64 / width && width == 1 && b->cols <= 8)
    lines256(width, NARROW_256, b);
  else if (b->rows == 64 / width)
    lines256(width, PART_256, b);
  else
    width == 1 ? parts256_x8(b) : width == 2 ? parts256_x16(b) : parts256_x32(b);
}

/* What is left of whole blocks is moved one by one if it has few columns, which are not to be streamed, or few rows. */
#define KERNEL(symbol, width)                                                                               \
  TESELA__TRANSPOSE_BLOCKS(static, symbol##_blocks, TESELA__AVX2, transpose256, width)                      \
  static __attribute__((noinline)) void symbol##_left(unsigned char *dst, const int64_t *dst_off,           \
                                                      const unsigned char *src, const int64_t *src_off,     \
                                                      int32_t rows, int32_t cols, tesela__stores stores) {  \
    enum { BLOCK = 64 / (width) };                                                                          \
    const int32_t left_cols = cols % BLOCK, left_rows = rows % BLOCK;                                       \
    if (left_cols > 0 && !(stores == TESELA__PAST_CACHE && rows >= BLOCK) &&                                \
        is_few256(width, rows, left_cols)) {                                                                \
      cols -= left_cols;                                                                                    \
      one_by_one256(width)(dst, dst_off + cols, src + (int64_t)cols * (width), src_off, rows, left_cols,    \
                           TESELA__TO_CACHE);                                                               \
    }                                                                                                       \
    if (left_rows > 0 && cols > 0 && is_few256(width, left_rows, cols)) {                                   \
      rows -= left_rows;                                                                                    \
      one_by_one256(width)(dst + (int64_t)rows * (width), dst_off, src, src_off + rows, left_rows, cols,    \
                           TESELA__TO_CACHE);                                                               \
    }                                                                                                       \
    if (rows > 0 && cols > 0) symbol##_blocks(dst, dst_off, src, src_off, rows, cols, stores);              \
  }                                                                                                         \
  void symbol(unsigned char *dst, const int64_t *dst_off, const unsigned char *src, const int64_t *src_off, \
              int32_t rows, int32_t cols, tesela__stores stores) {                                          \
    enum { BLOCK = 64 / (width) };                                                                          \
    if (is_few256(width, rows, cols) && !(stores == TESELA__PAST_CACHE && rows >= BLOCK))                   \
      one_by_one256(width)(dst, dst_off, src, src_off, rows, cols, TESELA__TO_CACHE);                       \
    else if (((rows | cols) & (BLOCK - 1)) == 0 || (rows <= BLOCK && cols <= BLOCK))                        \
      symbol##_blocks(dst, dst_off, src, src_off, rows, cols, stores);                                      \
    else                                                                                                    \
      symbol##_left(dst, dst_off, src, src_off, rows, cols, stores);                                        \
  }
KERNEL(tesela__k_transpose_x8_avx2, 1)
KERNEL(tesela__k_transpose_x16_avx2, 2)
KERNEL(tesela__k_transpose_x32_avx2, 4)
KERNEL(tesela__k_transpose_x64_avx2, 8)
KERNEL(tesela__k_transpose_x128_avx2, 16)
#undef KERNEL

#undef TESELA__AVX2
#endif
