/* SPDX-License-Identifier: Apache-2.0 */
/*
 * transpose_c.c - transposes of blocks in portable C, for every width, for CPUs without a better kernel.
 * tesela__transpose_fn has the contract; `stores` is ignored.
 */
#include "kernels/kernels.h"

/* The first n columns, up to 4; every caller passes literals `width` and n, so that each memcpy becomes one load and one store. */
TESELA__INLINE void columns_c(size_t width, int32_t n, unsigned char *dst, const int64_t *dst_off,
                              const unsigned char *src, const int64_t *src_off, int32_t rows) {
  unsigned char *const to[4] = {dst + dst_off[0], dst + dst_off[n > 1 ? 1 : 0], dst + dst_off[n > 2 ? 2 : 0],
                                dst + dst_off[n > 3 ? 3 : 0]};
  for (int32_t i = 0; i < rows; i++) {
    const unsigned char *from = src + src_off[i];
    const size_t at = (size_t)i * width;
    memcpy(to[0] + at, from, width);
    if (n > 1) memcpy(to[1] + at, from + width, width);
    if (n > 2) memcpy(to[2] + at, from + 2 * width, width);
    if (n > 3) memcpy(to[3] + at, from + 3 * width, width);
  }
}

#define TESELA__TRANSPOSE_C(symbol, width)                                                                  \
  void symbol(unsigned char *dst, const int64_t *dst_off, const unsigned char *src, const int64_t *src_off, \
              int32_t rows, int32_t cols, tesela__stores stores) {                                          \
    (void)stores;                                                                                           \
    for (; cols >= 4; cols -= 4, dst_off += 4, src += 4 * (width))                                          \
      columns_c(width, 4, dst, dst_off, src, src_off, rows);                                                \
    if (cols == 3)                                                                                          \
      columns_c(width, 3, dst, dst_off, src, src_off, rows);                                                \
    else if (cols == 2)                                                                                     \
      columns_c(width, 2, dst, dst_off, src, src_off, rows);                                                \
    else if (cols == 1)                                                                                     \
      columns_c(width, 1, dst, dst_off, src, src_off, rows);                                                \
  }
TESELA__TRANSPOSE_C(tesela__k_transpose_x8_c, 1)
TESELA__TRANSPOSE_C(tesela__k_transpose_x16_c, 2)
TESELA__TRANSPOSE_C(tesela__k_transpose_x32_c, 4)
TESELA__TRANSPOSE_C(tesela__k_transpose_x64_c, 8)
TESELA__TRANSPOSE_C(tesela__k_transpose_x128_c, 16)
#undef TESELA__TRANSPOSE_C
