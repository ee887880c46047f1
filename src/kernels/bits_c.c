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

/* n >= 0 bytes; the last step overlaps the one before it. */
TESELA__INLINE void shift_bytes_c(unsigned char *dst, const unsigned char *src, int64_t at, int64_t n) {
  if (n < 16) {
    tesela__shift_few(dst, src, at, n);
    return;
  }
  for (int64_t i = 0; i + 8 < n; i += 8) tesela__shift8(dst + i, src + i, at);
  tesela__shift8(dst + n - 8, src + n - 8, at);
}

TESELA__INLINE void stream_line_c(unsigned char *dst, const unsigned char *src, int64_t at) {
  if (at)
    shift_bytes_c(dst, src, at, 64);
  else
    memcpy(dst, src, 64);
}

TESELA__COPY_BITS(tesela__k_copy_bits_c, c, )

/* ---- blocks ------------------------------------------------------------------------------------------------ */

/* Transpose n <= 8 bytes of each row, from byte c on. */
TESELA__INLINE void bit_block_part_c(unsigned char *dst, int64_t dst_pitch, const unsigned char *src,
                                     const int64_t *src_off, const int32_t *shift, int64_t c, int64_t n,
                                     int m) {
  uint64_t row[8] = {0};
  unsigned char out[8];
  TESELA__UNROLL_GCC
  for (int i = 0; i < m; i++) row[i] = tesela__read_bits(src + src_off[i] + c, shift ? shift[i] : 0, 8 * n);
  tesela__bit_block_words(row, m);
  TESELA__UNROLL_GCC
  for (int j = 0; j < m; j++) {
    tesela__store_bits(out, row[j]);
    memcpy(dst + dst_pitch * j + c, out, (size_t)n);
  }
}

TESELA__INLINE void bit_block_c(unsigned char *dst, int64_t dst_pitch, const unsigned char *src,
                                const int64_t *src_off, const int32_t *shift, int64_t bytes, int m) {
  int64_t c = 0;
  for (; c + 8 <= bytes; c += 8) bit_block_part_c(dst, dst_pitch, src, src_off, shift, c, 8, m);
  if (c < bytes) bit_block_part_c(dst, dst_pitch, src, src_off, shift, c, bytes - c, m);
}

#define BIT_BLOCK(name, m)                                                                           \
  void name(unsigned char *dst, int64_t dst_pitch, const unsigned char *src, const int64_t *src_off, \
            const int32_t *shift, int64_t bytes) {                                                   \
    bit_block_c(dst, dst_pitch, src, src_off, shift, bytes, m);                                      \
  }
BIT_BLOCK(tesela__k_bit_block1_c, 8)
BIT_BLOCK(tesela__k_bit_block2_c, 4)
BIT_BLOCK(tesela__k_bit_block4_c, 2)
#undef BIT_BLOCK
