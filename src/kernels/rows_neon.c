/* SPDX-License-Identifier: Apache-2.0 */
/*
 * rows_neon.c - interleave and deinterleave 2, 3 or 4 streams, with the structure loads and stores of NEON.
 *
 * A step moves 16 bytes of each stream. The last one of a row overlaps the one before it. The C kernels do shorter
 * rows, and plain copies, for which memcpy is as fast.
 */
#include "kernels/rows.h"

#if TESELA__NEON
#include <arm_neon.h>

#define KERNEL(name, step, c_kernel, width, pitch)                                                          \
  void name(const tesela__rows *rows, unsigned char *dst, const int64_t *dst_off, const unsigned char *src, \
            const int64_t *src_off, int64_t count) {                                                        \
    int64_t bytes = rows->n * (width);                                                                      \
    if (bytes < 16) {                                                                                       \
      c_kernel(rows, dst, dst_off, src, src_off, count);                                                    \
      return;                                                                                               \
    }                                                                                                       \
    for (int64_t i = 0; i < count; i++) {                                                                   \
      for (int64_t at = 0; at + 16 <= bytes; at += 16)                                                      \
        step(dst + dst_off[i], src + src_off[i], rows->pitch, at);                                          \
      if (bytes % 16) step(dst + dst_off[i], src + src_off[i], rows->pitch, bytes - 16);                    \
    }                                                                                                       \
  }

/* `vector` is the type of k vectors of numbers of `bits` bits. */
#define KERNELS(width, bits, k, vector)                                                                      \
  static inline void weave##width##_x##k##_neon(unsigned char *dst, const unsigned char *src, int64_t pitch, \
                                                int64_t at) {                                                \
    vector v;                                                                                                \
    for (int s = 0; s < k; s++) v.val[s] = vld1q_u##bits((const void *)(src + s * pitch + at));              \
    vst##k##q_u##bits((void *)(dst + k * at), v);                                                            \
  }                                                                                                          \
  static inline void unweave##width##_x##k##_neon(unsigned char *dst, const unsigned char *src,              \
                                                  int64_t pitch, int64_t at) {                               \
    vector v = vld##k##q_u##bits((const void *)(src + k * at));                                              \
    for (int s = 0; s < k; s++) vst1q_u##bits((void *)(dst + s * pitch + at), v.val[s]);                     \
  }                                                                                                          \
  KERNEL(tesela__k_interleave##width##_x##k##_neon, weave##width##_x##k##_neon,                              \
         tesela__k_interleave##width##_c, width, src_pitch)                                                  \
  KERNEL(tesela__k_deinterleave##width##_x##k##_neon, unweave##width##_x##k##_neon,                          \
         tesela__k_deinterleave##width##_c, width, dst_pitch)
#define WIDTHS(k)                     \
  KERNELS(1, 8, k, uint8x16x##k##_t)  \
  KERNELS(2, 16, k, uint16x8x##k##_t) \
  KERNELS(4, 32, k, uint32x4x##k##_t) \
  KERNELS(8, 64, k, uint64x2x##k##_t)
WIDTHS(2)
WIDTHS(3)
WIDTHS(4)

#undef WIDTHS
#undef KERNELS
#undef KERNEL
#endif
