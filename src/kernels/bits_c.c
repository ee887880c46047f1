/* SPDX-License-Identifier: Apache-2.0 */
/*
 * bits_c.c - rows of bits and of elements below 8 bits, in portable C; bits.h says how bits are counted.
 */
#include "kernels/bits.h"

/* ---- strided ----------------------------------------------------------------------------------------------- */

static inline void strided_bits_row_c(const tesela__rows *rows, unsigned char *dst, int64_t to,
                                      const unsigned char *src, int64_t from, int64_t width) {
  for (int64_t e = 0; e < rows->n; e++, to += rows->dst_pitch, from += rows->src_pitch) {
    uint64_t bits = tesela__read_bits(src + (from >> 3), from & 7, width);
    tesela__write_bits(dst + (to >> 3), to & 7, width, bits);
  }
}

#define STRIDED_BITS(name, width)                                                                           \
  void name(const tesela__rows *rows, unsigned char *dst, const int64_t *dst_off, const unsigned char *src, \
            const int64_t *src_off, int64_t count) {                                                        \
    for (int64_t i = 0; i < count; i++) strided_bits_row_c(rows, dst, dst_off[i], src, src_off[i], width);  \
  }
STRIDED_BITS(tesela__k_strided_bits1_c, 1)
STRIDED_BITS(tesela__k_strided_bits2_c, 2)
STRIDED_BITS(tesela__k_strided_bits4_c, 4)
#undef STRIDED_BITS

/* ---- copy -------------------------------------------------------------------------------------------------- */

/* Copy n bits to a byte boundary: words, then the last bits. */
TESELA__INLINE void copy_bits_aligned_c(unsigned char *dst, const unsigned char *src, int64_t at, int64_t n) {
  if (at == 0) {
    memcpy(dst, src, (size_t)(n >> 3));
    dst += n >> 3, src += n >> 3, n &= 7;
  }
  for (; n >= 64; n -= 64, dst += 8, src += 8) /* at > 0: the ninth byte has the last `at` bits */
    tesela__store_bits(dst, tesela__load_bits(src) >> at | (uint64_t)src[8] << (64 - at));
  if (n) tesela__write_bits(dst, 0, n, tesela__read_bits(src, at, n));
}

void tesela__k_copy_bits_c(const tesela__rows *rows, unsigned char *dst, const int64_t *dst_off,
                           const unsigned char *src, const int64_t *src_off, int64_t count) {
  for (int64_t i = 0; i < count; i++) {
    int64_t to = dst_off[i], from = src_off[i], n = rows->n;
    if (to & 7) {
      int64_t head = tesela__min(n, 8 - (to & 7));
      tesela__write_bits(dst + (to >> 3), to & 7, head, tesela__read_bits(src + (from >> 3), from & 7, head));
      to += head, from += head, n -= head;
    }
    if (n) copy_bits_aligned_c(dst + (to >> 3), src + (from >> 3), from & 7, n);
  }
}

/* ---- bytes ------------------------------------------------------------------------------------------------- */

TESELA__INLINE void unpack_row_c(unsigned char *dst, const unsigned char *src, int64_t at, int64_t n,
                                 int width) {
  for (; n >= 8; n -= 8, dst += 8, src += width)
    tesela__store_bits(dst, tesela__unpack8(tesela__read_bits(src, at, 8 * width), width));
  if (n == 0) return;
  uint64_t rest = tesela__unpack8(tesela__read_bits(src, at, n * width), width);
  for (int64_t i = 0; i < n; i++) dst[i] = (unsigned char)(rest >> 8 * i);
}

TESELA__INLINE uint64_t pack_few_c(const unsigned char *src, int64_t n, int width) {
  uint64_t bytes = 0;
  for (int64_t i = 0; i < n; i++) bytes |= (uint64_t)src[i] << 8 * i;
  return tesela__pack8(bytes, width);
}

TESELA__INLINE void pack_row_c(unsigned char *dst, int64_t at, const unsigned char *src, int64_t n,
                               int width) {
  if (at) { /* up to the next byte */
    const int64_t head = tesela__min(n, (8 - at) / width);
    tesela__write_bits(dst++, at, head * width, pack_few_c(src, head, width));
    src += head, n -= head;
  }
  for (; n >= 8; n -= 8, src += 8) {
    const uint64_t bits = tesela__pack8(tesela__load_bits(src), width);
    for (int i = 0; i < width; i++) *dst++ = (unsigned char)(bits >> 8 * i);
  }
  if (n > 0) tesela__write_bits(dst, 0, n * width, pack_few_c(src, n, width));
}

#define UNPACK(name, width)                                                                                 \
  void name(const tesela__rows *rows, unsigned char *dst, const int64_t *dst_off, const unsigned char *src, \
            const int64_t *src_off, int64_t count) {                                                        \
    for (int64_t i = 0; i < count; i++)                                                                     \
      unpack_row_c(dst + dst_off[i], src + (src_off[i] >> 3), src_off[i] & 7, rows->n, width);              \
  }
UNPACK(tesela__k_unpack1_c, 1)
UNPACK(tesela__k_unpack2_c, 2)
UNPACK(tesela__k_unpack4_c, 4)
#undef UNPACK

#define PACK(name, width)                                                                                   \
  void name(const tesela__rows *rows, unsigned char *dst, const int64_t *dst_off, const unsigned char *src, \
            const int64_t *src_off, int64_t count) {                                                        \
    for (int64_t i = 0; i < count; i++)                                                                     \
      pack_row_c(dst + (dst_off[i] >> 3), dst_off[i] & 7, src + src_off[i], rows->n, width);                \
  }
PACK(tesela__k_pack1_c, 1)
PACK(tesela__k_pack2_c, 2)
PACK(tesela__k_pack4_c, 4)
#undef PACK

/* ---- blocks ------------------------------------------------------------------------------------------------ */

/* In each group of 2 * shift bits, swap the upper half of x with the lower half of y. */
TESELA__INLINE void exchange_c(uint64_t *x, uint64_t *y, int shift) {
  uint64_t mask = shift == 4 ? 0x0f0f0f0f0f0f0f0f : shift == 2 ? 0x3333333333333333 : 0x5555555555555555;
  uint64_t change = ((*x >> shift) ^ *y) & mask;
  *y ^= change;
  *x ^= change << shift;
}

/* Transpose m x m elements in every byte of m words. For d = m/2, m/4, ..., 1 a round swaps, in each group of 2 * d
 * elements, the upper d of row i with the lower d of row i + d. */
TESELA__INLINE void bit_block_words_c(uint64_t *row, int m) {
  TESELA__UNROLL_GCC
  for (int i = 0; i < m / 2; i++) exchange_c(&row[i], &row[i + m / 2], 4);
  if (m >= 4) {
    TESELA__UNROLL_GCC
    for (int i = 0; i < m; i++)
      if (!(i & m / 4)) exchange_c(&row[i], &row[i + m / 4], 2);
  }
  if (m == 8) {
    TESELA__UNROLL_GCC
    for (int i = 0; i < m; i += 2) exchange_c(&row[i], &row[i + 1], 1);
  }
}

/* Transpose n <= 8 bytes of each row, from byte c on. */
TESELA__INLINE void bit_block_part_c(unsigned char *dst, int64_t dst_pitch, const unsigned char *src,
                                     const int64_t *src_off, int64_t c, size_t n, int m) {
  uint64_t row[8] = {0};
  TESELA__UNROLL_GCC
  for (int i = 0; i < m; i++) memcpy(&row[i], src + src_off[i] + c, n);
  bit_block_words_c(row, m);
  TESELA__UNROLL_GCC
  for (int j = 0; j < m; j++) memcpy(dst + dst_pitch * j + c, &row[j], n);
}

TESELA__INLINE void bit_block_c(unsigned char *dst, int64_t dst_pitch, const unsigned char *src,
                                const int64_t *src_off, int64_t bytes, int m) {
  int64_t c = 0;
  for (; c + 8 <= bytes; c += 8) bit_block_part_c(dst, dst_pitch, src, src_off, c, 8, m);
  if (c < bytes) bit_block_part_c(dst, dst_pitch, src, src_off, c, (size_t)(bytes - c), m);
}

#define BIT_BLOCK(name, m)                                                                           \
  void name(unsigned char *dst, int64_t dst_pitch, const unsigned char *src, const int64_t *src_off, \
            int64_t bytes) {                                                                         \
    bit_block_c(dst, dst_pitch, src, src_off, bytes, m);                                             \
  }
BIT_BLOCK(tesela__k_bit_block1_c, 8)
BIT_BLOCK(tesela__k_bit_block2_c, 4)
BIT_BLOCK(tesela__k_bit_block4_c, 2)
#undef BIT_BLOCK
