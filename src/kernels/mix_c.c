/* SPDX-License-Identifier: Apache-2.0 */
/*
 * mix_c.c - small transposes inside elements, in C.
 */
#include "kernels/kernels.h"
#include "kernels/mix.h"

static inline void mix_elements(unsigned char *dst, const unsigned char *src, int64_t n, int rows, int cols,
                                int width) {
  for (int64_t i = 0; i < n; i++, dst += rows * cols * width, src += rows * cols * width)
    for (int c = 0; c < cols; c++)
      for (int r = 0; r < rows; r++)
        memcpy(dst + (c * rows + r) * width, src + (r * cols + c) * width, (size_t)width);
}

#define MIX_C(name, rows, cols, width)                                                    \
  void tesela__k_mix##name##_c(unsigned char *dst, const unsigned char *src, int64_t n) { \
    mix_elements(dst, src, n, rows, cols, width);                                         \
  }
TESELA__MIXES(MIX_C)
#undef MIX_C
