/* SPDX-License-Identifier: Apache-2.0 */
/* bits_avx512.c - bits_x86.h with AVX-512. */
#include "kernels/avx512.h"

#if TESELA__X86
#include <immintrin.h>

#define TARGET TESELA__TARGET("avx512f,avx512bw,avx512vl,avx512dq")

TESELA__BIT_STEPS(avx512, TARGET, 512, unsigned)

TESELA__INLINE uint64_t first_lanes(int64_t n) { return n >= 64 ? ~UINT64_C(0) : (UINT64_C(1) << n) - 1; }

TARGET TESELA__INLINE void bit_block_short_avx512(unsigned char *dst, int64_t dst_pitch,
                                                  const unsigned char *src, const int64_t *src_off,
                                                  const int32_t *shift, int64_t bytes, int m) {
  const uint64_t lanes = first_lanes(bytes);
  const __m512i low = _mm512_set1_epi16(0xff);
  __m512i row[8];
  TESELA__UNROLL_GCC
  for (int i = 0; i < m; i++) {
    row[i] = _mm512_maskz_loadu_epi8(shift[i] ? first_lanes(bytes + 1) : lanes, src + src_off[i]);
    if (shift[i] == 0) continue;
    const __m512i next = _mm512_maskz_loadu_epi8(lanes, src + src_off[i] + 1);
    row[i] = TESELA__BY_BITS(_mm512, 512, low, _mm512_srl_epi16(row[i], _mm_cvtsi32_si128(shift[i])),
                             _mm512_sll_epi16(next, _mm_cvtsi32_si128(8 - shift[i])));
  }
  bit_block_rows_avx512(row, m);
  TESELA__UNROLL_GCC
  for (int i = 0; i < m; i++) _mm512_mask_storeu_epi8(dst + i * dst_pitch, lanes, row[i]);
}

TESELA__BIT_BLOCKS(avx512, TARGET, 512)

/* ---- copy -------------------------------------------------------------------------------------------------- */

/* n >= 0 bytes; the last step overlaps the one before it. */
TARGET TESELA__INLINE void shift_bytes_avx512(unsigned char *dst, const unsigned char *src, int64_t at,
                                              int64_t n) {
  if (n >= 64) {
    for (int64_t i = 0; i + 64 < n; i += 64) shift512_avx512(dst + i, src + i, at);
    shift512_avx512(dst + n - 64, src + n - 64, at);
  } else if (n >= 32) {
    shift256_avx512(dst, src, at), shift256_avx512(dst + n - 32, src + n - 32, at);
  } else if (n >= 16) {
    shift128_avx512(dst, src, at), shift128_avx512(dst + n - 16, src + n - 16, at);
  } else {
    tesela__shift_few(dst, src, at, n);
  }
}

TARGET TESELA__INLINE void stream_line_avx512(unsigned char *dst, const unsigned char *src, int64_t at) {
  _mm512_stream_si512((void *)dst, at ? shifted512_avx512(src, at) : _mm512_loadu_si512(src));
}

TESELA__COPY_BITS(tesela__k_copy_bits_avx512, avx512, TARGET)

#undef TARGET
#endif
