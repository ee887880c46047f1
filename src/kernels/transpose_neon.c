/* SPDX-License-Identifier: Apache-2.0 */
/*
 * transpose_neon.c - transposes of blocks with one 64-byte line per row, in vectors of one lane; transpose.h has the
 * method.
 *
 * Group g, src rows g*L to g*L + L-1, becomes lane g of every dst row. All dst rows are assembled in a buffer
 * and then written whole, so that few lines need to stay in the cache at a time.
 */
#include "kernels/transpose.h"

#if TESELA__NEON
#include <arm_neon.h>

TESELA__INLINE uint8x16_t low128(int width, uint8x16_t a, uint8x16_t b) {
  switch (width) {
  case 1:
    return vzip1q_u8(a, b);
  case 2:
    return vreinterpretq_u8_u16(vzip1q_u16(vreinterpretq_u16_u8(a), vreinterpretq_u16_u8(b)));
  case 4:
    return vreinterpretq_u8_u32(vzip1q_u32(vreinterpretq_u32_u8(a), vreinterpretq_u32_u8(b)));
  default:
    return vreinterpretq_u8_u64(vzip1q_u64(vreinterpretq_u64_u8(a), vreinterpretq_u64_u8(b)));
  }
}

TESELA__INLINE uint8x16_t high128(int width, uint8x16_t a, uint8x16_t b) {
  switch (width) {
  case 1:
    return vzip2q_u8(a, b);
  case 2:
    return vreinterpretq_u8_u16(vzip2q_u16(vreinterpretq_u16_u8(a), vreinterpretq_u16_u8(b)));
  case 4:
    return vreinterpretq_u8_u32(vzip2q_u32(vreinterpretq_u32_u8(a), vreinterpretq_u32_u8(b)));
  default:
    return vreinterpretq_u8_u64(vzip2q_u64(vreinterpretq_u64_u8(a), vreinterpretq_u64_u8(b)));
  }
}

TESELA__ZIP(, uint8x16_t, 128)

/* Lane q of a src row, zero outside the block. */
TESELA__INLINE uint8x16_t get128(int width, const tesela__transpose_block *b, int32_t row, int32_t q) {
  if (row >= b->rows) return vdupq_n_u8(0);
  const unsigned char *from = b->src + b->src_off[row] + 16 * q;
  const int32_t bytes = b->cols * width - 16 * q;
  if (bytes >= 16) return vld1q_u8(from);
  uint64_t part[2];
  tesela__load_part(part, from, (size_t)bytes);
  return vreinterpretq_u8_u64(vcombine_u64(vcreate_u64(part[0]), vcreate_u64(part[1])));
}

/* Write dst row j from `from`, only its elements in the block. */
TESELA__INLINE void put128(int width, const tesela__transpose_block *b, int32_t j,
                           const unsigned char *from) {
  unsigned char *to = b->dst + b->dst_off[j];
  const size_t n = (size_t)(b->rows * width);
  if (n == 64)
    memcpy(to, from, 64);
  else
    for (size_t at = 0; at < n; at += 16) tesela__copy_part(to + at, from + at, n - at < 16 ? n - at : 16);
}

TESELA__INLINE void transpose128(int width, const tesela__transpose_block *b) {
  const int32_t lane = 16 / width;
  unsigned char lines[64 * 64]; /* dst rows, 64 bytes each */
  for (int32_t g = 0; g * lane < b->rows; g++) {
    for (int32_t q = 0; q * lane < b->cols; q++) {
      uint8x16_t v[16], t[16];
      TESELA__UNROLL for (int32_t i = 0; i < lane; i++) v[i] = get128(width, b, g * lane + i, q);
      zip128(width, t, v);
      TESELA__UNROLL for (int32_t e = 0; e < lane; e++) vst1q_u8(lines + 64 * (q * lane + e) + 16 * g, t[e]);
    }
  }
  for (int32_t j = 0; j < b->cols; j++) put128(width, b, j, lines + 64 * j);
}

TESELA__TRANSPOSE(tesela__k_transpose_x8_neon, "", transpose128, 1)
TESELA__TRANSPOSE(tesela__k_transpose_x16_neon, "", transpose128, 2)
TESELA__TRANSPOSE(tesela__k_transpose_x32_neon, "", transpose128, 4)
TESELA__TRANSPOSE(tesela__k_transpose_x64_neon, "", transpose128, 8)
TESELA__TRANSPOSE(tesela__k_transpose_x128_neon, "", transpose128, 16)
#endif
