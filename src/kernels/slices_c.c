/* SPDX-License-Identifier: Apache-2.0 */
/* slices_c.c - slices.h in portable C, 8 bytes of each row at a time. */
#include "kernels/slices.h"

TESELA__INLINE void slice_c(unsigned char *dst, const unsigned char *rows, int width) {
  const int m = 8 / width;
  uint64_t row[8];
  for (int j = 0; j < m; j++) row[j] = tesela__load_bits(rows + j * TESELA__SLICED);
  tesela__bit_block_words(row, m);
  for (int c = 0; c < 8; c++)
    for (int j = 0; j < m; j++) dst[c * m + j] = (unsigned char)(row[j] >> 8 * c);
}

TESELA__INLINE void unslice_c(unsigned char *rows, const unsigned char *src, int width) {
  const int m = 8 / width;
  uint64_t row[8] = {0};
  for (int c = 0; c < 8; c++)
    for (int j = 0; j < m; j++) row[j] |= (uint64_t)src[c * m + j] << 8 * c;
  tesela__bit_block_words(row, m);
  for (int j = 0; j < m; j++) tesela__store_bits(rows + j * TESELA__SLICED, row[j]);
}

TESELA__SLICES(c, , 8)
