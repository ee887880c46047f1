/* SPDX-License-Identifier: Apache-2.0 */
/* slices_c.c - slices.h in portable C, 8 bytes of each row at a time. */
#include "kernels/slices.h"

TESELA__INLINE uint64_t row_c(const tesela__sliced_from *from, int64_t at, int j) {
  const unsigned char *src = from->at[j] + at;
  const int shift = from->shift[j];
  const uint64_t word = tesela__load_bits(src) >> shift;
  return shift ? word | (uint64_t)src[8] << (64 - shift) : word;
}

TESELA__INLINE void slice_c(unsigned char *dst, const tesela__sliced_from *from, int64_t at, int width) {
  const int m = 8 / width;
  uint64_t row[8];
  for (int j = 0; j < m; j++) row[j] = row_c(from, at, j);
  tesela__bit_block_words(row, m);
  for (int c = 0; c < 8; c++)
    for (int j = 0; j < m; j++) dst[c * m + j] = (unsigned char)(row[j] >> 8 * c);
}

TESELA__INLINE void unslice_c(const tesela__sliced_to *to, int64_t at, const unsigned char *src, int width) {
  const int m = 8 / width;
  uint64_t row[8] = {0};
  for (int c = 0; c < 8; c++)
    for (int j = 0; j < m; j++) row[j] |= (uint64_t)src[c * m + j] << 8 * c;
  tesela__bit_block_words(row, m);
  for (int j = 0; j < m; j++) tesela__store_bits(to->at[j] + at, row[j]);
}

TESELA__SLICES(c, , 8)
