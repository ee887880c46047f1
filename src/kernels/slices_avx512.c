/* SPDX-License-Identifier: Apache-2.0 */
/*
 * slices_avx512.c - slices.h for elements of 1 bit with AVX-512, byte permutes and the instructions of GFNI, 64 bytes of each row at a time.
 *
 * GFNI multiplies 8 x 8 matrices of bits: by the unit matrix, which returns the other one transposed and its bytes in the opposite order. So 8
 * bytes that are one of each row become 8 elements. 8 bytes of each row in turn are put together by a transpose of 8 x 8 groups of these.
 */
#include "kernels/avx512.h"
#include "kernels/slices.h"
#include "kernels/transpose.h"

#if TESELA__X86
#define GFNI TESELA__TARGET("avx512f,avx512bw,avx512vl,avx512dq,avx512vbmi,gfni")

/* Byte i of group j of 8 bytes becomes byte j of group i; or byte 7 - j. */
GFNI TESELA__INLINE __m512i turn_avx512(__m512i v, bool back) {
  unsigned char index[64];
  for (int i = 0; i < 64; i++) index[i] = (unsigned char)(8 * (back ? 7 - i % 8 : i % 8) + i / 8);
  return _mm512_permutexvar_epi8(_mm512_loadu_si512(index), v);
}

GFNI TESELA__INLINE __m512i bit_matrices_avx512(__m512i v) {
  return _mm512_gf2p8affine_epi64_epi8(_mm512_set1_epi64((long long)0x8040201008040201), v, 0);
}

/* Transpose 8 x 8 groups of 8 bytes. */
GFNI TESELA__INLINE void groups_avx512(__m512i *to, const __m512i *v) {
  TESELA__UNROLL for (int odd = 0; odd < 2; odd++) {
    __m512i pair[4];
    TESELA__UNROLL for (int i = 0; i < 4; i++) pair[i] =
        odd ? _mm512_unpackhi_epi64(v[2 * i], v[2 * i + 1]) : _mm512_unpacklo_epi64(v[2 * i], v[2 * i + 1]);
    const __m512i low = _mm512_shuffle_i64x2(pair[0], pair[1], 0x44);
    const __m512i high = _mm512_shuffle_i64x2(pair[0], pair[1], 0xee);
    const __m512i next_low = _mm512_shuffle_i64x2(pair[2], pair[3], 0x44);
    const __m512i next_high = _mm512_shuffle_i64x2(pair[2], pair[3], 0xee);
    to[odd] = _mm512_shuffle_i64x2(low, next_low, 0x88);
    to[odd + 2] = _mm512_shuffle_i64x2(low, next_low, 0xdd);
    to[odd + 4] = _mm512_shuffle_i64x2(high, next_high, 0x88);
    to[odd + 6] = _mm512_shuffle_i64x2(high, next_high, 0xdd);
  }
}

GFNI TESELA__INLINE void slice_avx512(unsigned char *dst, const tesela__sliced_from *from, int64_t at,
                                      int width) {
  (void)width;
  __m512i row[8], v[8];
  TESELA__UNROLL for (int t = 0; t < 8; t++) row[t] =
      from->shift[t] ? shifted512_avx512(from->at[t] + at, from->shift[t])
                     : _mm512_loadu_si512(from->at[t] + at);
  groups_avx512(v, row);
  TESELA__UNROLL for (int g = 0; g < 8; g++)
      _mm512_storeu_si512(dst + 64 * g, bit_matrices_avx512(turn_avx512(v[g], true)));
}

GFNI TESELA__INLINE void unslice_avx512(const tesela__sliced_to *to, int64_t at, const unsigned char *src,
                                        int width) {
  (void)width;
  const __m512i back =
      _mm512_broadcast_i32x4(_mm_setr_epi8(7, 6, 5, 4, 3, 2, 1, 0, 15, 14, 13, 12, 11, 10, 9, 8));
  __m512i v[8], row[8];
  TESELA__UNROLL for (int g = 0; g < 8; g++) {
    const __m512i bytes = _mm512_shuffle_epi8(_mm512_loadu_si512(src + 64 * g), back);
    v[g] = turn_avx512(bit_matrices_avx512(bytes), false);
  }
  groups_avx512(row, v);
  TESELA__UNROLL for (int t = 0; t < 8; t++) _mm512_storeu_si512(to->at[t] + at, row[t]);
}

TESELA__SLICE(tesela__k_slice1_avx512, avx512, GFNI, 1, 64)
TESELA__UNSLICE(tesela__k_unslice1_avx512, avx512, GFNI, 1, 64)

#undef GFNI
#endif
