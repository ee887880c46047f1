/* SPDX-License-Identifier: Apache-2.0 */
/*
 * convert_c.c - conversions of one row of neighbours, in portable C: the definition of every conversion.
 *
 * Narrower floats are rounded to nearest, ties to even, with integers, so that the rounding mode does not matter.
 * Values that are too large become infinity; a NaN becomes quiet and keeps its sign and upper bits, as with the
 * instructions of x86 and Arm.
 */
#include "kernels/convert.h"

/* Make number e of an array of DST from number e of an array of SRC, for n numbers. */
#define CONVERT(name, DST, SRC, expression)                            \
  void name(unsigned char *dst, const unsigned char *src, int64_t n) { \
    for (int64_t e = 0; e < n; e++) {                                  \
      SRC x;                                                           \
      memcpy(&x, src + e * (int64_t)sizeof x, sizeof x);               \
      DST y = (expression);                                            \
      memcpy(dst + e * (int64_t)sizeof y, &y, sizeof y);               \
    }                                                                  \
  }

/* ---- floats ------------------------------------------------------------------------------------------------ */

static inline uint16_t bf16_of_f32_c(uint32_t x) {
  uint32_t rounded = x + 0x7fff + (x >> 16 & 1);
  return (uint16_t)((x & 0x7fffffff) > 0x7f800000 ? x >> 16 | 0x40 : rounded >> 16);
}

static inline uint16_t f16_of_f32_c(uint32_t x) {
  uint32_t sign = x >> 16 & 0x8000, size = x & 0x7fffffff, half;
  if (size > 0x7f800000) {
    half = 0x7e00 | (size >> 13 & 0x3ff);
  } else if (size >= 0x477ff000) { /* 65520: halfway between the largest number and 2^16 */
    half = 0x7c00;
  } else if (size >= 0x38800000) { /* 2^-14: a normal number of f16, exponent bias 15 for 127 */
    half = (size - (112u << 23) + 0xfff + (size >> 13 & 1)) >> 13;
  } else if (size >= 0x33000000) { /* 2^-25: half the smallest subnormal; count units of 2^-24 */
    uint32_t shift = 126 - (size >> 23), units = (size & 0x7fffff) | 0x800000;
    half = (units + (1u << (shift - 1)) - 1 + (units >> shift & 1)) >> shift;
  } else {
    half = 0;
  }
  return (uint16_t)(sign | half);
}

static inline uint32_t f32_of_f16_c(uint16_t x) {
  uint32_t sign = (uint32_t)(x & 0x8000) << 16, exponent = x >> 10 & 31, fraction = x & 0x3ff;
  if (exponent == 31) return sign | 0x7f800000 | (fraction ? 0x400000 | fraction << 13 : 0);
  if (exponent) return sign | (exponent + 112) << 23 | fraction << 13;
  if (!fraction) return sign;
  uint32_t shift = (uint32_t)__builtin_clz(fraction) - 21; /* the leading 1 becomes bit 10, the hidden one */
  return sign | (113 - shift) << 23 | (fraction << shift & 0x3ff) << 13;
}

CONVERT(tesela__k_f32_to_bf16_c, uint16_t, uint32_t, bf16_of_f32_c(x))
CONVERT(tesela__k_bf16_to_f32_c, uint32_t, uint16_t, (uint32_t)x << 16)
CONVERT(tesela__k_f32_to_f16_c, uint16_t, uint32_t, f16_of_f32_c(x))
CONVERT(tesela__k_f16_to_f32_c, uint32_t, uint16_t, f32_of_f16_c(x))
CONVERT(tesela__k_bf16_to_f16_c, uint16_t, uint16_t, f16_of_f32_c((uint32_t)x << 16))
CONVERT(tesela__k_f16_to_bf16_c, uint16_t, uint16_t, bf16_of_f32_c(f32_of_f16_c(x)))

typedef struct pair_c {
  float hi, lo;
} pair_c;

/* hi is the nearest float; lo is the nearest float to the remainder, 0 if hi is not finite. */
static inline pair_c split_c(double x) {
  float hi = (float)x;
  return (pair_c){hi, __builtin_isfinite(hi) ? (float)(x - (double)hi) : 0.0f};
}

CONVERT(tesela__k_split_f64_c, pair_c, double, split_c(x))
CONVERT(tesela__k_merge_f64_c, double, pair_c, (double)x.hi + (double)x.lo)

/* ---- byte order -------------------------------------------------------------------------------------------- */

typedef struct halves_c {
  uint64_t first, second;
} halves_c;

static inline halves_c swap128_c(halves_c x) {
  return (halves_c){__builtin_bswap64(x.second), __builtin_bswap64(x.first)};
}

CONVERT(tesela__k_swap16_c, uint16_t, uint16_t, __builtin_bswap16(x))
CONVERT(tesela__k_swap32_c, uint32_t, uint32_t, __builtin_bswap32(x))
CONVERT(tesela__k_swap64_c, uint64_t, uint64_t, __builtin_bswap64(x))
CONVERT(tesela__k_swap128_c, halves_c, halves_c, swap128_c(x))

/* A complex number is two numbers. */
void tesela__k_swap_c64_c(unsigned char *dst, const unsigned char *src, int64_t n) {
  tesela__k_swap32_c(dst, src, 2 * n);
}
void tesela__k_swap_c128_c(unsigned char *dst, const unsigned char *src, int64_t n) {
  tesela__k_swap64_c(dst, src, 2 * n);
}

/* ---- s4 ---------------------------------------------------------------------------------------------------- */

static inline unsigned s4_of_s8_c(unsigned char byte) {
  int x = byte < 128 ? byte : byte - 256;
  return (unsigned)(x < -8 ? -8 : x > 7 ? 7 : x) & 15;
}

void tesela__k_s8_to_s4_c(unsigned char *dst, const unsigned char *src, int64_t n) {
  for (int64_t e = 0; e + 1 < n; e += 2)
    dst[e / 2] = (unsigned char)(s4_of_s8_c(src[e]) | s4_of_s8_c(src[e + 1]) << 4);
  if (n & 1) dst[n / 2] = (unsigned char)((dst[n / 2] & 0xf0) | s4_of_s8_c(src[n - 1]));
}

/* ---- elements of `bits` = 4, 2 or 1 bits, in bytes of their own and packed ------------------------------------- */

static inline void low_c(unsigned char *dst, const unsigned char *src, int64_t n, unsigned bits) {
  const unsigned in_byte = 8 / bits, mask = (1u << bits) - 1;
  for (int64_t e = 0; e + in_byte <= n; e += in_byte) {
    unsigned x = 0;
    for (unsigned k = 0; k < in_byte; k++) x |= (src[e + k] & mask) << k * bits;
    dst[e / in_byte] = (unsigned char)x;
  }
  for (int64_t e = n - n % in_byte; e < n; e++) {
    unsigned shift = (unsigned)(e % in_byte) * bits;
    dst[e / in_byte] = (unsigned char)((dst[e / in_byte] & ~(mask << shift)) | (src[e] & mask) << shift);
  }
}

/* `sign` is the top bit of a signed type, 0 for others. */
static inline void wide_c(unsigned char *dst, const unsigned char *src, int64_t n, unsigned bits,
                          unsigned sign) {
  const unsigned in_byte = 8 / bits, mask = (1u << bits) - 1;
  for (int64_t e = 0; e < n; e++) {
    unsigned x = (unsigned)src[e / in_byte] >> e % in_byte * bits & mask;
    dst[e] = (unsigned char)((x ^ sign) - sign);
  }
}

#define NARROW(symbol, ...) \
  void symbol(unsigned char *dst, const unsigned char *src, int64_t n) { __VA_ARGS__; }
NARROW(tesela__k_low_8_to_4_c, low_c(dst, src, n, 4))
NARROW(tesela__k_low_8_to_2_c, low_c(dst, src, n, 2))
NARROW(tesela__k_low_8_to_1_c, low_c(dst, src, n, 1))
NARROW(tesela__k_s4_to_s8_c, wide_c(dst, src, n, 4, 8))
NARROW(tesela__k_u4_to_8_c, wide_c(dst, src, n, 4, 0))
NARROW(tesela__k_u2_to_8_c, wide_c(dst, src, n, 2, 0))
NARROW(tesela__k_s2_to_8_c, wide_c(dst, src, n, 2, 2))
NARROW(tesela__k_s1_to_8_c, wide_c(dst, src, n, 1, 1))
#undef NARROW

/* ---- pred -------------------------------------------------------------------------------------------------- */

CONVERT(tesela__k_pred8_to_32_c, uint32_t, uint8_t, x != 0)
CONVERT(tesela__k_pred32_to_8_c, uint8_t, uint32_t, x != 0)

/* A pred becomes 1 or 0; from a float, both zeros become false, a NaN true. */
CONVERT(tesela__k_pred8_to_f16_c, uint16_t, uint8_t, x ? 0x3c00 : 0)
CONVERT(tesela__k_f16_to_pred8_c, uint8_t, uint16_t, (x & 0x7fff) != 0)
CONVERT(tesela__k_pred8_to_bf16_c, uint16_t, uint8_t, x ? 0x3f80 : 0)
CONVERT(tesela__k_bf16_to_pred8_c, uint8_t, uint16_t, (x & 0x7fff) != 0)
CONVERT(tesela__k_pred8_to_f32_c, uint32_t, uint8_t, x ? 0x3f800000 : 0)
CONVERT(tesela__k_f32_to_pred8_c, uint8_t, uint32_t, (x & 0x7fffffff) != 0)

/* ---- integers: wider with the sign, or with zeros; narrower by the low bits --------------------------------- */

CONVERT(tesela__k_s64_to_s32_c, uint32_t, uint64_t, (uint32_t)x)
CONVERT(tesela__k_s32_to_s64_c, int64_t, int32_t, x)
CONVERT(tesela__k_s32_to_s8_c, uint8_t, uint32_t, (uint8_t)x)
CONVERT(tesela__k_s8_to_s32_c, int32_t, int8_t, x)
CONVERT(tesela__k_s32_to_s16_c, uint16_t, uint32_t, (uint16_t)x)
CONVERT(tesela__k_s16_to_s32_c, int32_t, int16_t, x)
CONVERT(tesela__k_u64_to_u32_c, uint32_t, uint64_t, (uint32_t)x)
CONVERT(tesela__k_u32_to_u64_c, uint64_t, uint32_t, x)
CONVERT(tesela__k_u32_to_u8_c, uint8_t, uint32_t, (uint8_t)x)
CONVERT(tesela__k_u8_to_u32_c, uint32_t, uint8_t, x)
CONVERT(tesela__k_u32_to_u16_c, uint16_t, uint32_t, (uint16_t)x)
CONVERT(tesela__k_u16_to_u32_c, uint32_t, uint16_t, x)

CONVERT(tesela__k_f64_to_f32_c, float, double, (float)x)
CONVERT(tesela__k_f32_to_f64_c, double, float, (double)x)

/* Bit e: is element e, of `width` bytes, not 0? For n elements, 1 to 8. */
static inline unsigned pred_bits_c(const unsigned char *src, int64_t width, int64_t n) {
  unsigned bits = 0;
  for (int64_t e = 0; e < n; e++) {
    unsigned any = 0;
    for (int64_t b = 0; b < width; b++) any |= src[e * width + b];
    bits |= (unsigned)(any != 0) << e;
  }
  return bits;
}

static inline void pred_pack_c(unsigned char *dst, const unsigned char *src, int64_t width, int64_t n) {
  for (int64_t e = 0; e + 8 <= n; e += 8) dst[e / 8] = (unsigned char)pred_bits_c(src + e * width, width, 8);
  if (n & 7) {
    unsigned last = pred_bits_c(src + (n & ~(int64_t)7) * width, width, n & 7);
    dst[n / 8] = (unsigned char)((dst[n / 8] & 0xffu << (n & 7)) | last);
  }
}

void tesela__k_pred8_to_1_c(unsigned char *dst, const unsigned char *src, int64_t n) {
  pred_pack_c(dst, src, 1, n);
}
void tesela__k_pred32_to_1_c(unsigned char *dst, const unsigned char *src, int64_t n) {
  pred_pack_c(dst, src, 4, n);
}

void tesela__k_pred1_to_8_c(unsigned char *dst, const unsigned char *src, int64_t n) {
  for (int64_t e = 0; e < n; e++) dst[e] = src[e / 8] >> (e & 7) & 1;
}
void tesela__k_pred1_to_32_c(unsigned char *dst, const unsigned char *src, int64_t n) {
  for (int64_t e = 0; e < n; e++) {
    uint32_t x = src[e / 8] >> (e & 7) & 1;
    memcpy(dst + e * 4, &x, 4);
  }
}

#undef CONVERT

/* ---- rows of a few elements -------------------------------------------------------------------------------- */

static inline void copy_short_row_c(unsigned char *dst, const unsigned char *src, int64_t n) {
  if (n <= 64)
    tesela__copy_short(dst, src, (size_t)n);
  else
    memcpy(dst, src, (size_t)n);
}

void tesela__convert_short_rows(tesela__convert_fn *convert, int64_t src_bytes, int64_t dst_bytes,
                                const tesela__rows *rows, unsigned char *dst, const int64_t *dst_off,
                                const unsigned char *src, const int64_t *src_off, int64_t count) {
  enum { ROOM = 512 };
  unsigned char in[ROOM], out[ROOM];
  int64_t in_row = rows->n * src_bytes, out_row = rows->n * dst_bytes;
  int64_t most = ROOM / tesela__max(in_row, out_row);
  for (int64_t i = 0; i < count; i += most) {
    int64_t m = tesela__min(most, count - i);
    bool dense = true; /* dst rows are contiguous */
    for (int64_t j = 0; j < m; j++) {
      copy_short_row_c(in + j * in_row, src + src_off[i + j], in_row);
      dense = dense && dst_off[i + j] == dst_off[i] + j * out_row;
    }
    convert(dense ? dst + dst_off[i] : out, in, m * rows->n);
    for (int64_t j = 0; j < m && !dense; j++)
      copy_short_row_c(dst + dst_off[i + j], out + j * out_row, out_row);
  }
}
