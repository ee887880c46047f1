/* SPDX-License-Identifier: Apache-2.0 */
/*
 * transpose.h - shared by the vector transposes; tesela__transpose_fn has their contract.
 *
 * Every block has M = 64 / width rows, so that a row of a full block is one 64-byte line on both sides. A vector
 * register consists of lanes of 16 bytes, L = 16 / width elements each. L vectors are transposed inside their lanes by
 * log2(L) equal stages: with v[0..L-1] before a stage and t[0..L-1] after it,
 *
 *   t[2i], t[2i+1] = the low, the high halves of the lanes of v[i] and v[i + L/2], interleaved
 *
 *   L = 4, one lane:  v0 a0 a1 a2 a3     a0 c0 a1 c1     a0 b0 c0 d0
 *                     v1 b0 b1 b2 b3  -> a2 c2 a3 c3  -> a1 b1 c1 d1
 *                     v2 c0 c1 c2 c3     b0 d0 b1 d1     a2 b2 c2 d2
 *                     v3 d0 d1 d2 d3     b2 d2 b3 d3     a3 b3 c3 d3
 *
 * The functions are written once for all widths: they are inlined where `width` is a literal, and their loops are
 * unrolled, so that arrays of vectors become registers.
 */
#ifndef TESELA_SRC_TRANSPOSE_H
#define TESELA_SRC_TRANSPOSE_H

#include "kernels/kernels.h"

#if defined(__clang__)
#define TESELA__UNROLL _Pragma("clang loop unroll(full)")
#else
#define TESELA__UNROLL _Pragma("GCC unroll 16")
#endif

/* The arguments of a tesela__transpose_fn. */
typedef struct tesela__transpose_block {
  unsigned char *dst;
  const int64_t *dst_off;
  const unsigned char *src;
  const int64_t *src_off;
  const unsigned char *end; /* of the last src row of the tile: what lies before it may be read */
  int32_t rows, cols;
  bool stream;
} tesela__transpose_block;

/* Copy n bytes, 1 to 16: two moves of a fixed size that may overlap. */
static inline void tesela__copy_part(unsigned char *dst, const unsigned char *src, size_t n) {
  if (n >= 8) {
    memcpy(dst, src, 8);
    memcpy(dst + n - 8, src + n - 8, 8);
  } else if (n >= 4) {
    memcpy(dst, src, 4);
    memcpy(dst + n - 4, src + n - 4, 4);
  } else {
    dst[0] = src[0];
    dst[n / 2] = src[n / 2];
    dst[n - 1] = src[n - 1];
  }
}

/* n bytes, 1 to 15, as a little-endian number of 128 bits, low half first; made in registers, since a load that waits
 * for several smaller stores is slow. */
static inline void tesela__load_part(uint64_t part[2], const unsigned char *src, size_t n) {
  part[0] = part[1] = 0;
  if (n >= 8) {
    memcpy(&part[0], src, 8);
    if (n == 8) return;
    memcpy(&part[1], src + n - 8, 8);
    part[1] >>= 8 * (16 - n);
  } else if (n >= 4) {
    uint32_t low, high;
    memcpy(&low, src, 4);
    memcpy(&high, src + n - 4, 4);
    part[0] = low | (uint64_t)high << 8 * (n - 4);
  } else {
    part[0] = src[0] | (uint64_t)src[n / 2] << 8 * (n / 2) | (uint64_t)src[n - 1] << 8 * (n - 1);
  }
}

/* For vectors of `bits` bits: zip transposes 16 / width of them inside their lanes, in stages that use low and high. */
#define TESELA__ZIP(target, vector, bits)                                             \
  TESELA__INLINE target void stage##bits(int width, vector *to, const vector *from) { \
    const int half = 8 / width;                                                       \
    TESELA__UNROLL for (int i = 0; i < half; i++) {                                   \
      to[2 * i] = low##bits(width, from[i], from[i + half]);                          \
      to[2 * i + 1] = high##bits(width, from[i], from[i + half]);                     \
    }                                                                                 \
  }                                                                                   \
  TESELA__INLINE target void zip##bits(int width, vector *to, const vector *from) {   \
    vector a[16], b[16];                                                              \
    switch (width) {                                                                  \
    case 1:                                                                           \
      stage##bits(1, a, from);                                                        \
      stage##bits(1, b, a);                                                           \
      stage##bits(1, a, b);                                                           \
      stage##bits(1, to, a);                                                          \
      break;                                                                          \
    case 2:                                                                           \
      stage##bits(2, a, from);                                                        \
      stage##bits(2, b, a);                                                           \
      stage##bits(2, to, b);                                                          \
      break;                                                                          \
    case 4:                                                                           \
      stage##bits(4, a, from);                                                        \
      stage##bits(4, to, a);                                                          \
      break;                                                                          \
    case 8:                                                                           \
      stage##bits(8, to, from);                                                       \
      break;                                                                          \
    default:                                                                          \
      to[0] = from[0];                                                                \
    }                                                                                 \
  }

/* low and high for x86 vectors. */
#define TESELA__UNPACK(target, vector, bits)         \
  TESELA__UNPACK_HALF(target, vector, bits, low, lo) \
  TESELA__UNPACK_HALF(target, vector, bits, high, hi)
#define TESELA__UNPACK_HALF(target, vector, bits, name, half)              \
  TESELA__INLINE target vector name##bits(int width, vector a, vector b) { \
    switch (width) {                                                       \
    case 1:                                                                \
      return _mm##bits##_unpack##half##_epi8(a, b);                        \
    case 2:                                                                \
      return _mm##bits##_unpack##half##_epi16(a, b);                       \
    case 4:                                                                \
      return _mm##bits##_unpack##half##_epi32(a, b);                       \
    default:                                                               \
      return _mm##bits##_unpack##half##_epi64(a, b);                       \
    }                                                                      \
  }

/* Do rows of dst begin within lines, so that each store of a block is to two lines? */
static inline bool tesela__crosses_lines(const unsigned char *dst, const int64_t *dst_off, int32_t cols) {
  uintptr_t bits = 0;
  for (int32_t j = 0; j < cols; j++) bits |= (uintptr_t)(dst + dst_off[j]);
  return bits % 64 != 0;
}

/* Fetch the line that each dst row of the block ends in: a store to two lines waits for both. Emerald Rapids, in L2, GB/s of both sides: `f64 [201,301]`
 * from 31 to 55, `f32 [361,477]` from 21 to 36; where rows begin with lines it gains nothing. Takes no block: its address would keep it in memory. */
TESELA__INLINE void tesela__fetch_ends(const unsigned char *end, const int64_t *off, int32_t n) {
  for (int32_t j = 0; j < n; j++) __builtin_prefetch(end + off[j], 1, 3);
}

/* Define the kernel `symbol`, which runs `body(width, &block)` for each block. */
#define TESELA__TRANSPOSE(symbol, isa, body, width) TESELA__TRANSPOSE_BLOCKS(, symbol, isa, body, width)

/* The same for a function of any linkage. A single block has a function of its own, whose registers are not those of the loops. */
#define TESELA__TRANSPOSE_BLOCKS(linkage, symbol, isa, body, width)                                        \
  static __attribute__((noinline)) TESELA__TARGET(isa) void symbol##_block(                                \
      unsigned char *dst, const int64_t *dst_off, const unsigned char *src, const int64_t *src_off,        \
      int32_t rows, int32_t cols, tesela__stores stores) {                                                 \
    const unsigned char *end = src + src_off[rows - 1] + cols * (width);                                   \
    const bool stream = rows == 64 / (width) && stores == TESELA__PAST_CACHE;                              \
    const tesela__transpose_block block = {dst, dst_off, src, src_off, end, rows, cols, stream};           \
    body(width, &block);                                                                                   \
  }                                                                                                        \
  linkage TESELA__TARGET(isa) void symbol(unsigned char *dst, const int64_t *dst_off,                      \
                                          const unsigned char *src, const int64_t *src_off, int32_t rows,  \
                                          int32_t cols, tesela__stores stores) {                           \
    enum { BLOCK = 64 / (width) };                                                                         \
    if (rows <= BLOCK && cols <= BLOCK) {                                                                  \
      symbol##_block(dst, dst_off, src, src_off, rows, cols, stores);                                      \
      return;                                                                                              \
    }                                                                                                      \
    const unsigned char *end = src + src_off[rows - 1] + (int64_t)cols * (width);                          \
    for (int32_t a = 0; a < cols; a += BLOCK) {                                                            \
      const int32_t n_cols = cols - a < BLOCK ? cols - a : BLOCK;                                          \
      const bool ahead =                                                                                   \
          stores == TESELA__TO_CACHE_AHEAD && tesela__crosses_lines(dst, dst_off + a, n_cols);             \
      for (int32_t b = 0; b < rows; b += BLOCK) {                                                          \
        const int32_t n_rows = rows - b < BLOCK ? rows - b : BLOCK;                                        \
        const tesela__transpose_block block = {.dst = dst + (int64_t)b * (width),                          \
                                               .dst_off = dst_off + a,                                     \
                                               .src = src + (int64_t)a * (width),                          \
                                               .src_off = src_off + b,                                     \
                                               .end = end,                                                 \
                                               .rows = n_rows,                                             \
                                               .cols = n_cols,                                             \
                                               .stream = n_rows == BLOCK && stores == TESELA__PAST_CACHE}; \
        if (ahead) tesela__fetch_ends(dst + (int64_t)(b + n_rows) * (width), dst_off + a, n_cols);         \
        body(width, &block);                                                                               \
      }                                                                                                    \
    }                                                                                                      \
  }

#endif
