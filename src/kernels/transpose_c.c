/* SPDX-License-Identifier: Apache-2.0 */
/*
 * transpose_c.c - transposes of blocks in portable C, for every width, for CPUs without a better kernel.
 * tesela__transpose_fn has the contract; `stream` is ignored.
 */
#include "kernels/kernels.h"

enum { TRANSPOSE_C_ROWS = 64 }; /* at a time */

/* Every caller passes a literal `width`, so that each memcpy becomes one load and one store. */
static inline void transpose_c(size_t width, unsigned char *dst, const int64_t *dst_off,
                               const unsigned char *src, const int64_t *src_off, int32_t rows, int32_t cols) {
  const unsigned char *from[TRANSPOSE_C_ROWS]; /* a copy of the table that no store to dst can change */
  for (int32_t i = 0; i < rows; i++) from[i] = src + src_off[i];
  for (int32_t j = 0; j < cols; j++) {
    unsigned char *to = dst + dst_off[j];
    const size_t column = (size_t)j * width;
    for (int32_t i = 0; i < rows; i++) memcpy(to + (size_t)i * width, from[i] + column, width);
  }
}

#define TESELA__TRANSPOSE_C(symbol, width)                                                                  \
  void symbol(unsigned char *dst, const int64_t *dst_off, const unsigned char *src, const int64_t *src_off, \
              int32_t rows, int32_t cols, bool stream) {                                                    \
    (void)stream;                                                                                           \
    for (int32_t b = 0; b < rows; b += TRANSPOSE_C_ROWS)                                                    \
      transpose_c(width, dst + (int64_t)b * (width), dst_off, src, src_off + b,                             \
                  rows - b < TRANSPOSE_C_ROWS ? rows - b : TRANSPOSE_C_ROWS, cols);                         \
  }
TESELA__TRANSPOSE_C(tesela__k_transpose_x8_c, 1)
TESELA__TRANSPOSE_C(tesela__k_transpose_x16_c, 2)
TESELA__TRANSPOSE_C(tesela__k_transpose_x32_c, 4)
TESELA__TRANSPOSE_C(tesela__k_transpose_x64_c, 8)
TESELA__TRANSPOSE_C(tesela__k_transpose_x128_c, 16)
#undef TESELA__TRANSPOSE_C
