/* SPDX-License-Identifier: Apache-2.0 */
/*
 * run_code.c - codes of elements to values and back; many at once.
 *
 * The code of an element is its bytes as one number. Most numbers of a float are normal, and their codes differ from those of
 * doubles by a shift and a sum; the others are decoded one by one.
 */
#include <math.h>

#include "graph/run/run_type.h"

static const tesela__run_type coded_rows[] = {
    [TESELA_F64] = {8, RUN_INFINITE, 52, -1022, 0x1.fffffffffffffp1023, UINT64_C(0x7ff8000000000000),
                    UINT64_C(0x7ff5adadadadadad)},
    [TESELA_F32] = {4, RUN_INFINITE, 23, -126, 0x1.fffffep127, 0x7fc00000, 0x7fadadad},
    [TESELA_F16] = {2, RUN_INFINITE, 10, -14, 65504, 0x7e00, 0x7dad},
    [TESELA_BF16] = {2, RUN_INFINITE, 7, -126, 0x1.fep127, 0x7fc0, 0x7fad},
    [TESELA_F8E5M2] = {1, RUN_INFINITE, 2, -14, 57344, 0x7e, 0x7d},
    [TESELA_F8E4M3] = {1, RUN_INFINITE, 3, -6, 240, 0x7c, 0x7a},
    [TESELA_F8E3M4] = {1, RUN_INFINITE, 4, -2, 15.5, 0x78, 0x75},
    [TESELA_F8E4M3FN] = {1, RUN_FINITE, 3, -6, 448, 0x7f, 0xff},
    [TESELA_F8E5M2FNUZ] = {1, RUN_ONE_ZERO, 2, -15, 57344, 0x80, 0x80},
    [TESELA_F8E4M3FNUZ] = {1, RUN_ONE_ZERO, 3, -7, 240, 0x80, 0x80},
    [TESELA_F8E4M3B11FNUZ] = {1, RUN_ONE_ZERO, 3, -10, 30, 0x80, 0x80},
    [TESELA_F8E8M0FNU] = {1, RUN_POWERS, 0, -127, 0x1p127, 0xff, 0xff},
    [TESELA_S8] = {1, .poison = 0xad},
    [TESELA_S16] = {2, .poison = 0xadad},
    [TESELA_S32] = {4, .poison = 0xadadadad},
    [TESELA_S64] = {8, .poison = UINT64_C(0xadadadadadadadad)},
    [TESELA_U8] = {1, .poison = 0xad},
    [TESELA_U16] = {2, .poison = 0xadad},
    [TESELA_U32] = {4, .poison = 0xadadadad},
    [TESELA_U64] = {8, .poison = UINT64_C(0xadadadadadadadad)},
    [TESELA_PRED] = {1, .poison = 0xad},
};

const tesela__run_type *tesela__run_type_of(tesela_dtype dtype) {
  size_t at = (size_t)dtype;
  return at < sizeof coded_rows / sizeof coded_rows[0] && coded_rows[at].bytes > 0 ? &coded_rows[at] : NULL;
}

bool tesela__run_known(tesela_dtype dtype) { return tesela__run_type_of(dtype) != NULL; }

int32_t tesela__run_bytes(tesela_dtype dtype) {
  const tesela__run_type *row = tesela__run_type_of(dtype);
  return row ? row->bytes : 0;
}

tesela__run_class tesela__run_class_of(tesela_dtype dtype) {
  switch (tesela_dtype_family_of(dtype)) {
  case TESELA_FAMILY_FLOAT:
    return TESELA__RUN_FLOAT;
  case TESELA_FAMILY_SIGNED:
    return TESELA__RUN_SIGNED;
  default:
    return TESELA__RUN_UNSIGNED;
  }
}

/* ---- floats ---- */

/* The value of a float's code of less than 32 bits. */
static double coded_read_any(const tesela__run_type *row, uint64_t code) {
  uint32_t top = (uint32_t)row->bytes * 8 - 1, shift = (uint32_t)row->fraction;
  uint64_t sign = code >> top << 63, size = code & ~(UINT64_C(1) << top);
  uint64_t highest = (UINT64_MAX >> (64 - top)) >> shift << shift; /* exponent bits */
  if (row->kind == RUN_INFINITE && size >= highest)
    return size > highest ? (double)NAN : tesela__run_double(sign | UINT64_C(0x7ff0000000000000));
  if (row->kind == RUN_FINITE && size == row->nan) return (double)NAN;
  if (row->kind == RUN_ONE_ZERO && code == row->nan) return (double)NAN;
  if (size >> shift == 0) { /* below the least normal number; least - fraction is above -1022 */
    double least = tesela__run_double((uint64_t)(1023 + row->least - row->fraction) << 52);
    return tesela__run_double(sign | tesela__run_bits((double)size * least));
  }
  return tesela__run_double(sign | ((size << (52 - shift)) + ((uint64_t)(1022 + row->least) << 52)));
}

/* The same; normal numbers, except those with the highest exponent, do not depend on the type. */
static inline double coded_read(const tesela__run_type *row, uint32_t top, uint32_t shift, uint64_t code) {
  uint64_t size = code & ~(UINT64_C(1) << top), exponent = size >> shift;
  if (exponent - 1 >= (UINT64_C(1) << (top - shift)) - 2) return coded_read_any(row, code);
  return tesela__run_double(code >> top << 63 |
                            ((size << (52 - shift)) + ((uint64_t)(1022 + row->least) << 52)));
}

/* The code of a number that the type has, of infinity, or NaN. */
static uint64_t coded_of_any(const tesela__run_type *row, double x) {
  uint32_t top = (uint32_t)row->bytes * 8 - 1, shift = (uint32_t)row->fraction;
  uint64_t bits = tesela__run_bits(x), sign = bits >> 63 << top, size = bits & ~(UINT64_C(1) << 63);
  if (size > UINT64_C(0x7ff0000000000000)) return row->nan;
  if (size == UINT64_C(0x7ff0000000000000)) return sign | (UINT64_MAX >> (64 - top)) >> shift << shift;
  if (size < (uint64_t)(1023 + row->least) << 52) {
    double least = tesela__run_double((uint64_t)(1023 - row->least + row->fraction) << 52);
    return sign | (uint64_t)(tesela__run_double(size) * least);
  }
  return sign | ((size - ((uint64_t)(1022 + row->least) << 52)) >> (52 - shift));
}

static inline uint64_t coded_of(const tesela__run_type *row, uint32_t top, uint32_t shift, double x) {
  uint64_t bits = tesela__run_bits(x), size = bits & ~(UINT64_C(1) << 63),
           low = (uint64_t)(1023 + row->least) << 52;
  if (size - low >= UINT64_C(0x7ff0000000000000) - low) return coded_of_any(row, x);
  return bits >> 63 << top | (size - low + (UINT64_C(1) << 52)) >> (52 - shift);
}

static double coded_read_power(uint64_t code) {
  return code == 0xff ? (double)NAN : tesela__run_double((uint64_t)(1023 - 127 + (code & 0xff)) << 52);
}

static uint64_t coded_of_power(double x) {
  return isnan(x) ? 0xff : ((tesela__run_bits(x) >> 52) - (1023 - 127)) & 0xff;
}

/* ---- all ---- */

void tesela__run_decode(tesela_dtype dtype, int64_t n, tesela__run_value *v) {
  const tesela__run_type *row = tesela__run_type_of(dtype);
  switch (dtype) {
  case TESELA_F64: /* and 64-bit integers: the code is the value */
    break;
  case TESELA_F32:
  case TESELA_BF16: {
    uint32_t shift = dtype == TESELA_BF16 ? 16 : 0;
    RUN_EACH(uint32_t bits = (uint32_t)v[j].i << shift; float x; memcpy(&x, &bits, sizeof x);
             v[j].f = (double)x)
    break;
  }
  case TESELA_F16:
    RUN_EACH(v[j].f = coded_read(row, 15, 10, (uint64_t)v[j].i))
    break;
  case TESELA_F8E8M0FNU:
    RUN_EACH(v[j].f = coded_read_power((uint64_t)v[j].i))
    break;
  case TESELA_S8:
    RUN_EACH(v[j].i = (int8_t)v[j].i)
    break;
  case TESELA_S16:
    RUN_EACH(v[j].i = (int16_t)v[j].i)
    break;
  case TESELA_S32:
    RUN_EACH(v[j].i = (int32_t)v[j].i)
    break;
  case TESELA_PRED:
    RUN_EACH(v[j].i = v[j].i != 0)
    break;
  default:
    if (row && row->kind != RUN_INTEGER)
      RUN_EACH(v[j].f = coded_read(row, 7, (uint32_t)row->fraction, (uint64_t)v[j].i))
  }
}

void tesela__run_encode(tesela_dtype dtype, int64_t n, tesela__run_value *v) {
  const tesela__run_type *row = tesela__run_type_of(dtype);
  switch (dtype) {
  case TESELA_F64:
    RUN_EACH(if (isnan(v[j].f)) v[j].i = (int64_t)row->nan)
    break;
  case TESELA_F32:
  case TESELA_BF16: {
    uint32_t shift = dtype == TESELA_BF16 ? 16 : 0;
    RUN_EACH(float x = (float)v[j].f; uint32_t bits; memcpy(&bits, &x, sizeof bits);
             v[j].i = isnan(x) ? (int64_t)row->nan : (int64_t)(bits >> shift))
    break;
  }
  case TESELA_F16:
    RUN_EACH(v[j].i = (int64_t)coded_of(row, 15, 10, v[j].f))
    break;
  case TESELA_F8E8M0FNU:
    RUN_EACH(v[j].i = (int64_t)coded_of_power(v[j].f))
    break;
  default:
    if (row && row->kind != RUN_INTEGER)
      RUN_EACH(v[j].i = (int64_t)coded_of(row, 7, (uint32_t)row->fraction, v[j].f))
  }
}

tesela__run_value tesela__run_load(tesela_dtype dtype, const uint8_t *memory) {
  tesela__run_value value = {.i = 0};
  uint64_t code = 0;
  for (int32_t i = 0; i < tesela__run_bytes(dtype); i++) code |= (uint64_t)memory[i] << 8 * (uint32_t)i;
  value.i = (int64_t)code;
  tesela__run_decode(dtype, 1, &value);
  return value;
}

void tesela__run_store(tesela_dtype dtype, tesela__run_value value, uint8_t *memory, int32_t width) {
  int32_t bytes = tesela__run_bytes(dtype);
  tesela__run_encode(dtype, 1, &value);
  for (int32_t i = 0; i < width; i++)
    memory[i] = (uint8_t)(i < bytes ? (uint64_t)value.i >> 8 * (uint32_t)i : 0);
}

void tesela__run_poison(tesela_dtype dtype, uint8_t *memory, int32_t width) {
  const tesela__run_type *row = tesela__run_type_of(dtype);
  bool is_float = row && row->kind != RUN_INTEGER;
  for (int32_t i = 0; i < width; i++)
    memory[i] =
        (uint8_t)(!row || i >= row->bytes ? (is_float && i < 8 ? 0 : 0xad) : row->poison >> 8 * (uint32_t)i);
}
