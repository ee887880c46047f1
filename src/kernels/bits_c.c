/* SPDX-License-Identifier: Apache-2.0 */
/*
 * bits_c.c - rows of bits and of elements below 8 bits, in portable C.
 *
 * A bit address counts from the low bit of byte 0 of its base; bit b is bit b & 7 of byte b >> 3, for negative b too.
 */
#include "kernels/rows.h"

/* 64 bits, bit 0 first, for any byte order of the machine. */
static inline uint64_t load_bits_c(const unsigned char *src) {
  uint64_t word;
  memcpy(&word, src, 8);
#if __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__
  word = __builtin_bswap64(word);
#endif
  return word;
}

static inline void store_bits_c(unsigned char *dst, uint64_t word) {
#if __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__
  word = __builtin_bswap64(word);
#endif
  memcpy(dst, &word, 8);
}

/* Read n bits, 1 to 8, from bit `at` of src on, 0 to 7; the second byte is read only if it has some of them. */
static inline unsigned read_bits_c(const unsigned char *src, unsigned at, unsigned n) {
  unsigned bits = (unsigned)src[0] >> at;
  if (at + n > 8) bits |= (unsigned)src[1] << (8 - at);
  return bits & (0xffu >> (8 - n));
}

static inline void write_bits_c(unsigned char *dst, unsigned at, unsigned n, unsigned bits) {
  unsigned mask = (0xffu >> (8 - n)) << at;
  bits <<= at;
  dst[0] = (unsigned char)((dst[0] & ~mask) | (bits & mask));
  if (at + n > 8) {
    mask >>= 8;
    dst[1] = (unsigned char)((dst[1] & ~mask) | ((bits >> 8) & mask));
  }
}

/* ---- strided ----------------------------------------------------------------------------------------------- */

static inline void strided_bits_row_c(const tesela__rows *rows, unsigned char *dst, int64_t to,
                                      const unsigned char *src, int64_t from, unsigned width) {
  for (int64_t e = 0; e < rows->n; e++, to += rows->dst_pitch, from += rows->src_pitch) {
    unsigned bits = read_bits_c(src + (from >> 3), (unsigned)(from & 7), width);
    write_bits_c(dst + (to >> 3), (unsigned)(to & 7), width, bits);
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

/* Copy n bits to a byte boundary: words, then bytes, then the last bits. */
static void copy_bits_aligned_c(unsigned char *dst, const unsigned char *src, unsigned at, int64_t n) {
  if (at == 0) {
    memcpy(dst, src, (size_t)(n >> 3));
    dst += n >> 3, src += n >> 3, n &= 7;
  }
  for (; n >= 64; n -= 64, dst += 8, src += 8) /* at > 0: the ninth byte has the last `at` bits */
    store_bits_c(dst, load_bits_c(src) >> at | (uint64_t)src[8] << (64 - at));
  for (; n >= 8; n -= 8, dst++, src++) *dst = (unsigned char)read_bits_c(src, at, 8);
  if (n) write_bits_c(dst, 0, (unsigned)n, read_bits_c(src, at, (unsigned)n));
}

void tesela__k_copy_bits_c(const tesela__rows *rows, unsigned char *dst, const int64_t *dst_off,
                           const unsigned char *src, const int64_t *src_off, int64_t count) {
  for (int64_t i = 0; i < count; i++) {
    int64_t to = dst_off[i], from = src_off[i], n = rows->n;
    if (to & 7) {
      unsigned head = (unsigned)tesela__min(n, 8 - (to & 7));
      write_bits_c(dst + (to >> 3), (unsigned)(to & 7), head,
                   read_bits_c(src + (from >> 3), (unsigned)(from & 7), head));
      to += head, from += head, n -= head;
    }
    if (n) copy_bits_aligned_c(dst + (to >> 3), src + (from >> 3), (unsigned)(from & 7), n);
  }
}

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
