/* SPDX-License-Identifier: Apache-2.0 */
/*
 * bits.h - a few bits at any bit address, rows of bits, and transposes inside the bytes of several words, in portable C.
 *
 * A bit address counts from the low bit of byte 0 of its base; bit b is bit b & 7 of byte b >> 3, for negative b too.
 */
#ifndef TESELA_SRC_BITS_H
#define TESELA_SRC_BITS_H

#include "kernels/rows.h"

/* 64 bits, bit 0 first, for any byte order of the machine. */
static inline uint64_t tesela__load_bits(const unsigned char *src) {
  uint64_t word;
  memcpy(&word, src, 8);
#if __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__
  word = __builtin_bswap64(word);
#endif
  return word;
}

static inline void tesela__store_bits(unsigned char *dst, uint64_t word) {
#if __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__
  word = __builtin_bswap64(word);
#endif
  memcpy(dst, &word, 8);
}

/* The low 0 <= n <= 64 bits. */
TESELA__INLINE uint64_t tesela__keep_bits(uint64_t word, int64_t n) {
  return n >= 64 ? word : word & ((UINT64_C(1) << n) - 1);
}

/* Read n bits, 0 to 64, from bit `at` of src on, 0 to 7; reads only bytes that have some of them. */
static inline uint64_t tesela__read_bits(const unsigned char *src, int64_t at, int64_t n) {
  const int64_t bytes = (at + n + 7) >> 3;
  uint64_t word = 0;
  if (bytes >= 8) {
    word = tesela__load_bits(src) >> at;
    if (bytes > 8) word |= (uint64_t)src[8] << (64 - at);
  } else {
    for (int64_t i = 0; i < bytes; i++) word |= (uint64_t)src[i] << 8 * i;
    word >>= at;
  }
  return tesela__keep_bits(word, n);
}

/* Write the low n bits of `bits`, 1 to 64, whose others are 0, from bit `at` of dst on, 0 to 7; the other bits of dst are kept. */
static inline void tesela__write_bits(unsigned char *dst, int64_t at, int64_t n, uint64_t bits) {
  for (; n > 0; dst++) {
    const int64_t here = tesela__min(n, 8 - at);
    const unsigned mask = (0xffu >> (8 - here)) << at;
    *dst = (unsigned char)(((unsigned)*dst & ~mask) | ((unsigned)(bits << at) & mask));
    bits >>= here;
    n -= here;
    at = 0;
  }
}

/* In each group of 2 * shift bits, swap the upper half of x with the lower half of y. */
TESELA__INLINE void tesela__exchange_bits(uint64_t *x, uint64_t *y, int shift) {
  uint64_t mask = shift == 4 ? 0x0f0f0f0f0f0f0f0f : shift == 2 ? 0x3333333333333333 : 0x5555555555555555;
  uint64_t change = ((*x >> shift) ^ *y) & mask;
  *y ^= change;
  *x ^= change << shift;
}

/* Transpose m x m elements in every byte of m words. For d = m/2, m/4, ..., 1 a round swaps, in each group of 2 * d
 * elements, the upper d of row i with the lower d of row i + d. */
TESELA__INLINE void tesela__bit_block_words(uint64_t *row, int m) {
  TESELA__UNROLL_GCC
  for (int i = 0; i < m / 2; i++) tesela__exchange_bits(&row[i], &row[i + m / 2], 4);
  if (m >= 4) {
    TESELA__UNROLL_GCC
    for (int i = 0; i < m; i++)
      if (!(i & m / 4)) tesela__exchange_bits(&row[i], &row[i + m / 4], 2);
  }
  if (m == 8) {
    TESELA__UNROLL_GCC
    for (int i = 0; i < m; i += 2) tesela__exchange_bits(&row[i], &row[i + 1], 1);
  }
}

/* ---- rows of bits ------------------------------------------------------------------------------------------- */

/* Up to 8 bits within a byte of dst, from bit `from` of src to bit `to`. */
TESELA__INLINE void tesela__copy_few_bits(unsigned char *dst, int64_t to, const unsigned char *src,
                                          int64_t from, int64_t n) {
  unsigned bits = (unsigned)src[0] >> from;
  if (from + n > 8) bits |= (unsigned)src[1] << (8 - from);
  const unsigned mask = (0xffu >> (8 - n)) << to;
  *dst = (unsigned char)((*dst & ~mask) | (bits << to & mask));
}

/* 8 bytes, or 4, from bit `at` of src on, 1 to 7. */
TESELA__INLINE void tesela__shift8(unsigned char *dst, const unsigned char *src, int64_t at) {
  tesela__store_bits(dst, tesela__load_bits(src) >> at | (uint64_t)src[8] << (64 - at));
}

TESELA__INLINE void tesela__shift4(unsigned char *dst, const unsigned char *src, int64_t at) {
  const uint32_t low = src[0] | (uint32_t)src[1] << 8 | (uint32_t)src[2] << 16 | (uint32_t)src[3] << 24;
  const uint32_t bits = low >> at | (uint32_t)src[4] << (32 - at);
  for (int i = 0; i < 4; i++) dst[i] = (unsigned char)(bits >> 8 * i);
}

/* The same of 0 to 16 bytes; the last step may overlap the one before it. */
TESELA__INLINE void tesela__shift_few(unsigned char *dst, const unsigned char *src, int64_t at, int64_t n) {
  if (n >= 8) {
    tesela__shift8(dst, src, at), tesela__shift8(dst + n - 8, src + n - 8, at);
    return;
  }
  if (n >= 4) {
    tesela__shift4(dst, src, at), tesela__shift4(dst + n - 4, src + n - 4, at);
    return;
  }
  for (int64_t i = 0; i < n; i++) dst[i] = (unsigned char)(src[i] >> at | src[i + 1] << (8 - at));
}

/* Rows of bits, with shift_bytes_isa for bytes from bit 1 to 7 on, and stream_line_isa for whole lines from any bit on. */
#define TESELA__COPY_BITS(symbol, isa, target)                                                              \
  target TESELA__INLINE void move_bytes_##isa(unsigned char *dst, const unsigned char *src, int64_t at,     \
                                              int64_t n) {                                                  \
    if (at)                                                                                                 \
      shift_bytes_##isa(dst, src, at, n);                                                                   \
    else if (n > 64)                                                                                        \
      memcpy(dst, src, (size_t)n);                                                                          \
    else if (n > 0)                                                                                         \
      tesela__copy_short(dst, src, (size_t)n);                                                              \
  }                                                                                                         \
  target TESELA__INLINE void stream_bytes_##isa(unsigned char *dst, const unsigned char *src, int64_t at,   \
                                                int64_t n) {                                                \
    const int64_t head = tesela__min(n, -(int64_t)(uintptr_t)dst & 63), rest = head + (n - head) / 64 * 64; \
    move_bytes_##isa(dst, src, at, head);                                                                   \
    for (int64_t i = head; i < rest; i += 64) stream_line_##isa(dst + i, src + i, at);                      \
    move_bytes_##isa(dst + rest, src + rest, at, n - rest);                                                 \
  }                                                                                                         \
  target void symbol(const tesela__rows *rows, unsigned char *dst, const int64_t *dst_off,                  \
                     const unsigned char *src, const int64_t *src_off, int64_t count) {                     \
    for (int64_t i = 0; i < count; i++) {                                                                   \
      int64_t to = dst_off[i], from = src_off[i], n = rows->n;                                              \
      if (to & 7) {                                                                                         \
        const int64_t head = tesela__min(n, 8 - (to & 7));                                                  \
        tesela__copy_few_bits(dst + (to >> 3), to & 7, src + (from >> 3), from & 7, head);                  \
        to += head, from += head, n -= head;                                                                \
      }                                                                                                     \
      unsigned char *out = dst + (to >> 3);                                                                 \
      const unsigned char *in = src + (from >> 3);                                                          \
      if (tesela__past_cache(rows))                                                                         \
        stream_bytes_##isa(out, in, from & 7, n >> 3);                                                      \
      else                                                                                                  \
        move_bytes_##isa(out, in, from & 7, n >> 3);                                                        \
      if (n & 7) tesela__copy_few_bits(out + (n >> 3), 0, in + (n >> 3), from & 7, n & 7);                  \
    }                                                                                                       \
  }

#endif
