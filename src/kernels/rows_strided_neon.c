/* SPDX-License-Identifier: Apache-2.0 */
/*
 * rows_strided_neon.c - every k-th element, with table lookups of 16 bytes; strided.h has the method.
 */
#include "kernels/strided.h"

#if TESELA__NEON
#include <arm_neon.h>

TESELA__INLINE void compress_neon(unsigned char *dst, const unsigned char *src, const tesela__strided *s,
                                  int64_t steps, bool stream) {
  (void)stream;
  for (src += s->low; steps > 0; steps--, dst += 16, src += s->next) {
    uint8x16_t v = vqtbl1q_u8(vld1q_u8(src), vld1q_u8(s->from[0]));
    for (int64_t j = 1; j < s->n_vectors; j++)
      v = vorrq_u8(v, vqtbl1q_u8(vld1q_u8(src + 16 * j), vld1q_u8(s->from[j])));
    vst1q_u8(dst, v);
  }
}

TESELA__STRIDED(tesela__k_strided1_neon, , compress_neon, 16, tesela__k_strided1_c, 1, true)
TESELA__STRIDED(tesela__k_strided2_neon, , compress_neon, 16, tesela__k_strided2_c, 2, true)
#endif
