/* SPDX-License-Identifier: Apache-2.0 */
/*
 * convert_neon.c - conversions of rows with NEON; convert_c.c defines each one.
 *
 * Each has a step of N elements, named like the conversion, and a line at the end of the file.
 */
#include "kernels/convert.h"

#if TESELA__NEON
#include <arm_neon.h>

#define STEP(name) TESELA__STEP("", name)

/* ---- floats -------------------------------------------------------------------------------------------------- */

/* Round 4 numbers to bf16. */
static inline uint16x4_t bf16_neon(uint32x4_t x) {
  uint32x4_t odd = vandq_u32(vshrq_n_u32(x, 16), vdupq_n_u32(1));
  uint32x4_t rounded = vaddq_u32(vaddq_u32(x, vdupq_n_u32(0x7fff)), odd);
  uint32x4_t nan = vcgtq_u32(vandq_u32(x, vdupq_n_u32(0x7fffffff)), vdupq_n_u32(0x7f800000));
  return vshrn_n_u32(vbslq_u32(nan, vorrq_u32(x, vdupq_n_u32(0x400000)), rounded), 16);
}

STEP(f32_to_bf16_neon) {
  uint16x4_t low = bf16_neon(vreinterpretq_u32_u8(vld1q_u8(src)));
  uint16x4_t high = bf16_neon(vreinterpretq_u32_u8(vld1q_u8(src + 16)));
  vst1q_u8(dst, vreinterpretq_u8_u16(vcombine_u16(low, high)));
}

STEP(bf16_to_f32_neon) {
  uint16x8_t x = vreinterpretq_u16_u8(vld1q_u8(src));
  vst1q_u8(dst, vreinterpretq_u8_u32(vshll_n_u16(vget_low_u16(x), 16)));
  vst1q_u8(dst + 16, vreinterpretq_u8_u32(vshll_n_u16(vget_high_u16(x), 16)));
}

STEP(f32_to_f16_neon) {
  float16x4_t low = vcvt_f16_f32(vreinterpretq_f32_u8(vld1q_u8(src)));
  float16x4_t high = vcvt_f16_f32(vreinterpretq_f32_u8(vld1q_u8(src + 16)));
  vst1q_u8(dst, vreinterpretq_u8_f16(vcombine_f16(low, high)));
}

STEP(f16_to_f32_neon) {
  float16x8_t x = vreinterpretq_f16_u8(vld1q_u8(src));
  vst1q_u8(dst, vreinterpretq_u8_f32(vcvt_f32_f16(vget_low_f16(x))));
  vst1q_u8(dst + 16, vreinterpretq_u8_f32(vcvt_f32_f16(vget_high_f16(x))));
}

STEP(split_f64_neon) {
  float64x2_t x = vreinterpretq_f64_u8(vld1q_u8(src));
  float32x2_t hi = vcvt_f32_f64(x);
  uint32x2_t lo = vreinterpret_u32_f32(vcvt_f32_f64(vsubq_f64(x, vcvt_f64_f32(hi))));
  uint32x2_t finite = vclt_f32(vabs_f32(hi), vdup_n_f32(__builtin_inff())); /* false for a NaN */
  uint32x2x2_t pairs = vzip_u32(vreinterpret_u32_f32(hi), vand_u32(lo, finite));
  vst1q_u8(dst, vreinterpretq_u8_u32(vcombine_u32(pairs.val[0], pairs.val[1])));
}

STEP(merge_f64_neon) {
  uint32x4_t x = vreinterpretq_u32_u8(vld1q_u8(src));
  uint32x2x2_t part = vuzp_u32(vget_low_u32(x), vget_high_u32(x));
  float64x2_t hi = vcvt_f64_f32(vreinterpret_f32_u32(part.val[0]));
  float64x2_t lo = vcvt_f64_f32(vreinterpret_f32_u32(part.val[1]));
  vst1q_u8(dst, vreinterpretq_u8_f64(vaddq_f64(hi, lo)));
}

/* ---- byte order ---------------------------------------------------------------------------------------------- */

STEP(swap16_neon) { vst1q_u8(dst, vrev16q_u8(vld1q_u8(src))); }
STEP(swap32_neon) { vst1q_u8(dst, vrev32q_u8(vld1q_u8(src))); }
STEP(swap64_neon) { vst1q_u8(dst, vrev64q_u8(vld1q_u8(src))); }
STEP(swap128_neon) {
  uint8x16_t x = vrev64q_u8(vld1q_u8(src));
  vst1q_u8(dst, vextq_u8(x, x, 8));
}

/* ---- s4, pred ------------------------------------------------------------------------------------------------ */

static inline uint8x16_t s4_neon(uint8x16_t x) {
  int8x16_t number = vreinterpretq_s8_u8(x);
  number = vminq_s8(vmaxq_s8(number, vdupq_n_s8(-8)), vdupq_n_s8(7));
  return vandq_u8(vreinterpretq_u8_s8(number), vdupq_n_u8(15));
}

STEP(s8_to_s4_neon) {
  uint8x16x2_t x = vld2q_u8(src); /* even elements, odd elements */
  vst1q_u8(dst, vorrq_u8(s4_neon(x.val[0]), vshlq_n_u8(s4_neon(x.val[1]), 4)));
}

STEP(s4_to_s8_neon) {
  int8x16_t x = vreinterpretq_s8_u8(vld1q_u8(src));
  int8x16x2_t wide = {{vshrq_n_s8(vshlq_n_s8(x, 4), 4), vshrq_n_s8(x, 4)}};
  vst2q_s8((int8_t *)dst, wide);
}

static inline uint8x16_t bits_neon(void) { /* bit e & 7 in byte e */
  return vreinterpretq_u8_u64(vdupq_n_u64(0x8040201008040201));
}

STEP(pred8_to_1_neon) {
  uint8x16_t x = vld1q_u8(src);
  x = vandq_u8(vtstq_u8(x, x), bits_neon());
  dst[0] = vaddv_u8(vget_low_u8(x)), dst[1] = vaddv_u8(vget_high_u8(x));
}

STEP(pred1_to_8_neon) {
  uint8x16_t x = vcombine_u8(vdup_n_u8(src[0]), vdup_n_u8(src[1]));
  vst1q_u8(dst, vandq_u8(vtstq_u8(x, bits_neon()), vdupq_n_u8(1)));
}

STEP(pred8_to_32_neon) {
  uint16x8_t x = vmovl_u8(vmin_u8(vld1_u8(src), vdup_n_u8(1)));
  vst1q_u8(dst, vreinterpretq_u8_u32(vmovl_u16(vget_low_u16(x))));
  vst1q_u8(dst + 16, vreinterpretq_u8_u32(vmovl_u16(vget_high_u16(x))));
}

/* 8 numbers of 4 bytes to 8 bytes: all bits set where the number is not 0. */
static inline uint8x8_t any32_neon(const unsigned char *src) {
  uint32x4_t a = vreinterpretq_u32_u8(vld1q_u8(src)), b = vreinterpretq_u32_u8(vld1q_u8(src + 16));
  return vmovn_u16(vcombine_u16(vmovn_u32(vtstq_u32(a, a)), vmovn_u32(vtstq_u32(b, b))));
}

STEP(pred32_to_8_neon) { vst1_u8(dst, vand_u8(any32_neon(src), vdup_n_u8(1))); }

STEP(pred32_to_1_neon) { dst[0] = vaddv_u8(vand_u8(any32_neon(src), vget_low_u8(bits_neon()))); }

STEP(pred1_to_32_neon) {
  uint8x8_t x = vand_u8(vtst_u8(vdup_n_u8(src[0]), vget_low_u8(bits_neon())), vdup_n_u8(1));
  uint16x8_t wide = vmovl_u8(x);
  vst1q_u8(dst, vreinterpretq_u8_u32(vmovl_u16(vget_low_u16(wide))));
  vst1q_u8(dst + 16, vreinterpretq_u8_u32(vmovl_u16(vget_high_u16(wide))));
}

/* ---- kernels ------------------------------------------------------------------------------------------------- */

#define CONVERT(name, N, src_bits, dst_bits) \
  TESELA__CONVERT(tesela__k_##name##_neon, "", tesela__k_##name##_c, name##_neon, N, src_bits, dst_bits)
CONVERT(f32_to_bf16, 8, 32, 16)
CONVERT(bf16_to_f32, 8, 16, 32)
CONVERT(f32_to_f16, 8, 32, 16)
CONVERT(f16_to_f32, 8, 16, 32)
CONVERT(s8_to_s4, 32, 8, 4)
CONVERT(s4_to_s8, 32, 4, 8)
CONVERT(pred8_to_1, 16, 8, 1)
CONVERT(pred1_to_8, 16, 1, 8)
CONVERT(pred8_to_32, 8, 8, 32)
CONVERT(pred32_to_8, 8, 32, 8)
CONVERT(pred1_to_32, 8, 1, 32)
CONVERT(pred32_to_1, 8, 32, 1)
CONVERT(split_f64, 2, 64, 64)
CONVERT(merge_f64, 2, 64, 64)
CONVERT(swap16, 8, 16, 16)
CONVERT(swap32, 4, 32, 32)
CONVERT(swap64, 2, 64, 64)
CONVERT(swap128, 1, 128, 128)

TESELA__SWAP_PARTS(, tesela__k_swap_c64_neon, tesela__k_swap32_neon)
TESELA__SWAP_PARTS(, tesela__k_swap_c128_neon, tesela__k_swap64_neon)

#undef CONVERT
#undef STEP
#endif
