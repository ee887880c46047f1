/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_kernels_convert.c - every conversion kernel of the table that this CPU can run, against what the conversion
 * means, said element by element: the nearest number of a type is searched in the list of its numbers, widening is a
 * lookup in that list. TESELA_SEED sets the seed.
 */
#include "support_kernels.h"
#include "support_seed.h"

#include <math.h>

enum { TRIALS = 1500 };

/* ---- what they mean ---------------------------------------------------------------------------- */

/* Number h of the non-negative numbers of a float type, as a double; the infinity is the number that would follow. */
static double number_of(uint32_t h, int fraction_bits, int bias) {
  uint32_t exponent = h >> fraction_bits, fraction = h & ((1u << fraction_bits) - 1);
  if (exponent) fraction |= 1u << fraction_bits;
  return ldexp(fraction, (exponent ? (int)exponent : 1) - bias - fraction_bits);
}

typedef struct narrow {
  int fraction_bits, bias;
  uint32_t infinity;
  double number[0x8000]; /* up to the infinity */
} narrow;

static narrow bf16 = {7, 127, 0x7f80, {0}}, f16 = {10, 15, 0x7c00, {0}};

static void list_numbers(narrow *type) {
  for (uint32_t h = 0; h <= type->infinity; h++)
    type->number[h] = number_of(h, type->fraction_bits, type->bias);
}

/* The nearest number of the type, of two the even one; NaNs are made quiet and keep sign and upper bits. */
static uint16_t nearest(const narrow *type, uint32_t bits) {
  uint16_t sign = (uint16_t)(bits >> 16 & 0x8000);
  uint32_t size = bits & 0x7fffffff, low = 0, high = type->infinity;
  if (size > 0x7f800000) {
    uint32_t quiet = 1u << (type->fraction_bits - 1), mask = (1u << type->fraction_bits) - 1;
    return (uint16_t)(sign | type->infinity | quiet | (size >> (23 - type->fraction_bits) & mask));
  }
  if (size == 0x7f800000) return (uint16_t)(sign | type->infinity);
  double x = number_of(size, 23, 127);
  while (high - low > 1) { /* number[low] <= x, and x < number[high] or high is the infinity */
    uint32_t middle = (low + high) / 2;
    if (type->number[middle] <= x)
      low = middle;
    else
      high = middle;
  }
  double below_by = x - type->number[low], above_by = type->number[high] - x;
  if (above_by < below_by || (above_by == below_by && (low & 1))) low = high;
  return (uint16_t)(sign | low);
}

/* Exact; a NaN is made quiet and keeps sign and bits. */
static uint32_t wide_of_f16(uint16_t half) {
  uint32_t sign = (uint32_t)(half & 0x8000) << 16, size = half & 0x7fff, bits;
  if (size > f16.infinity) return sign | 0x7fc00000 | (size & 0x3ff) << 13;
  if (size == f16.infinity) return sign | 0x7f800000;
  float x = (float)f16.number[size];
  memcpy(&bits, &x, 4);
  return sign | bits;
}

static uint64_t get(const unsigned char *memory, int64_t e,
                    int64_t bits) { /* number e of some of `bits` <= 64 */
  uint64_t x = 0;
  if (bits >= 8)
    memcpy(&x, memory + e * (bits / 8), (size_t)bits / 8);
  else
    x = (unsigned)memory[e * bits / 8] >> e * bits % 8 & ((1u << bits) - 1);
  return x;
}

static void put(unsigned char *memory, int64_t e, int64_t bits, uint64_t x) {
  if (bits >= 8) {
    memcpy(memory + e * (bits / 8), &x, (size_t)bits / 8);
  } else {
    unsigned shift = (unsigned)(e * bits % 8), mask = ((1u << bits) - 1) << shift;
    unsigned char *byte = &memory[e * bits / 8];
    *byte = (unsigned char)((*byte & ~mask) | ((unsigned)x << shift & mask));
  }
}

static void put_reversed(unsigned char *dst, const unsigned char *src, int64_t at, int64_t bytes) {
  for (int64_t b = 0; b < bytes; b++) dst[at + b] = src[at + bytes - 1 - b];
}

static void expect_split(unsigned char *dst, const unsigned char *src, int64_t e) {
  double x;
  memcpy(&x, src + e * 8, 8);
  float pair[2] = {(float)x, 0};
  if (isfinite(pair[0])) pair[1] = (float)(x - (double)pair[0]);
  memcpy(dst + e * 8, pair, 8);
}

static void expect_merge(unsigned char *dst, const unsigned char *src, int64_t e) {
  float pair[2];
  memcpy(pair, src + e * 8, 8);
  double x = (double)pair[0] + (double)pair[1];
  memcpy(dst + e * 8, &x, 8);
}

static int64_t clamp4(uint64_t byte) {
  int64_t x = byte < 128 ? (int64_t)byte : (int64_t)byte - 256;
  return x < -8 ? -8 : x > 7 ? 7 : x;
}

/* Matrices of numbers inside an element: rows, columns, bytes of a number. */
static const struct {
  int32_t conversion, rows, cols, bytes;
} mixes[] = {
    {TESELA__MIX_2X2X8, 2, 2, 1},  {TESELA__MIX_2X4X8, 2, 4, 1},  {TESELA__MIX_4X2X8, 4, 2, 1},
    {TESELA__MIX_2X8X8, 2, 8, 1},  {TESELA__MIX_8X2X8, 8, 2, 1},  {TESELA__MIX_4X4X8, 4, 4, 1},
    {TESELA__MIX_2X2X16, 2, 2, 2}, {TESELA__MIX_2X4X16, 2, 4, 2}, {TESELA__MIX_4X2X16, 4, 2, 2},
    {TESELA__MIX_2X2X32, 2, 2, 4},
};

/* Number (row, col) of matrix e goes to (col, row) of a matrix of `cols` rows. */
static void expect_mixed(int32_t conversion, unsigned char *dst, const unsigned char *src, int64_t e) {
  size_t i = 0, n = sizeof mixes / sizeof mixes[0];
  while (i < n && mixes[i].conversion != conversion) i++;
  if (i == n) fail_msg("conversion %d has no meaning here", (int)conversion);
  int64_t rows = mixes[i].rows, cols = mixes[i].cols, bytes = mixes[i].bytes, first = e * rows * cols;
  for (int64_t row = 0; row < rows; row++)
    for (int64_t col = 0; col < cols; col++)
      memcpy(dst + (first + col * rows + row) * bytes, src + (first + row * cols + col) * bytes,
             (size_t)bytes);
}

/* Integers between two widths: value by value, the sign's weight taken from the top bit. */
static void expect_integer(unsigned char *dst, int64_t dst_bits, const unsigned char *src, int64_t src_bits,
                           bool has_sign, int64_t e) {
  uint64_t x = get(src, e, src_bits), value = 0; /* modulo 2^64, then 2^dst_bits */
  for (int64_t bit = 0; bit < src_bits; bit++) {
    uint64_t weight = (uint64_t)1 << bit;
    if (x & weight) value = has_sign && bit == src_bits - 1 ? value - weight : value + weight;
  }
  if (dst_bits < 64) value &= ((uint64_t)1 << dst_bits) - 1;
  put(dst, e, dst_bits, value);
}

/* The f32 nearest to a double: of the two around it, found by bisection among the codes, which count sizes upwards. The code
   of infinity stands for 2^128 here. Exact: a double holds the sum of two neighbours. */
static uint32_t nearest_f32(double x) {
  uint32_t sign = signbit(x) ? 0x80000000u : 0, low = 0, high = 0x7f800000, middle;
  if (isnan(x)) return 0x7fc00000;
  x = fabs(x);
  if (x >= 0x1p128) return sign | high;
  for (float size; high - low > 1;) {
    middle = low + (high - low) / 2;
    memcpy(&size, &middle, 4);
    if ((double)size <= x)
      low = middle;
    else
      high = middle;
  }
  float a, b;
  memcpy(&a, &low, 4), memcpy(&b, &high, 4);
  double sum = (double)a + (high == 0x7f800000 ? 0x1p128 : (double)b);
  return sign | (2 * x > sum || (2 * x == sum && low % 2) ? high : low);
}

/* The f64 of an f32, by its parts. */
static uint64_t f64_of_f32(uint32_t code) {
  int exponent = (int)(code >> 23 & 255);
  uint32_t fraction = code & 0x7fffff;
  double size = exponent ? ldexp(1 + fraction * 0x1p-23, exponent - 127) : ldexp(fraction, -149);
  uint64_t bits, sign = (uint64_t)(code >> 31) << 63;
  if (exponent == 255) return sign | (fraction ? 0x7ff8000000000000 : 0x7ff0000000000000);
  memcpy(&bits, &size, 8);
  return sign | bits;
}

/* Between the number types of hosts and devices; false: another conversion. */
static bool expect_number(int32_t conversion, unsigned char *dst, const unsigned char *src, int64_t e) {
  uint64_t x;
  switch (conversion) {
  case TESELA__BF16_TO_F16:
    put(dst, e, 16, nearest(&f16, (uint32_t)get(src, e, 16) << 16));
    return true;
  case TESELA__F16_TO_BF16:
    put(dst, e, 16, nearest(&bf16, wide_of_f16((uint16_t)get(src, e, 16))));
    return true;
  case TESELA__PRED8_TO_F16:
  case TESELA__PRED8_TO_BF16:
    put(dst, e, 16, get(src, e, 8) ? (conversion == TESELA__PRED8_TO_F16 ? 0x3c00 : 0x3f80) : 0);
    return true;
  case TESELA__F16_TO_PRED8:
  case TESELA__BF16_TO_PRED8:
    x = get(src, e, 16);
    put(dst, e, 8, x != 0 && x != 0x8000);
    return true;
  case TESELA__PRED8_TO_F32: {
    float one = get(src, e, 8) ? 1 : 0;
    memcpy(dst + e * 4, &one, 4);
    return true;
  }
  case TESELA__F32_TO_PRED8: {
    float value;
    memcpy(&value, src + e * 4, 4);
    put(dst, e, 8, !(value == 0));
    return true;
  }
  case TESELA__F64_TO_F32: {
    double value;
    memcpy(&value, src + e * 8, 8);
    put(dst, e, 32, nearest_f32(value));
    return true;
  }
  case TESELA__F32_TO_F64:
    put(dst, e, 64, f64_of_f32((uint32_t)get(src, e, 32)));
    return true;
#define NARROW(symbol, from, to, has_sign)           \
  case TESELA__##symbol:                             \
    expect_integer(dst, to, src, from, has_sign, e); \
    return true;
    NARROW(LOW_8_TO_4, 8, 4, false)
    NARROW(LOW_8_TO_2, 8, 2, false)
    NARROW(LOW_8_TO_1, 8, 1, false)
    NARROW(U4_TO_8, 4, 8, false)
    NARROW(U2_TO_8, 2, 8, false)
    NARROW(S2_TO_8, 2, 8, true)
    NARROW(S1_TO_8, 1, 8, true)
#undef NARROW
#define INTEGER(from, to, has_sign, letter)          \
  case TESELA__##letter##from##_TO_##letter##to:     \
    expect_integer(dst, to, src, from, has_sign, e); \
    return true;
    INTEGER(64, 32, true, S)
    INTEGER(32, 64, true, S)
    INTEGER(32, 16, true, S)
    INTEGER(16, 32, true, S)
    INTEGER(32, 8, true, S)
    INTEGER(8, 32, true, S)
    INTEGER(64, 32, false, U)
    INTEGER(32, 64, false, U)
    INTEGER(32, 16, false, U)
    INTEGER(16, 32, false, U)
    INTEGER(32, 8, false, U)
    INTEGER(8, 32, false, U)
#undef INTEGER
  default:
    return false;
  }
}

static void expect_element(int32_t conversion, unsigned char *dst, const unsigned char *src, int64_t e) {
  if (expect_number(conversion, dst, src, e)) return;
  switch (conversion) {
  case TESELA__F32_TO_BF16:
    put(dst, e, 16, nearest(&bf16, (uint32_t)get(src, e, 32)));
    break;
  case TESELA__BF16_TO_F32:
    put(dst, e, 32, get(src, e, 16) << 16);
    break;
  case TESELA__F32_TO_F16:
    put(dst, e, 16, nearest(&f16, (uint32_t)get(src, e, 32)));
    break;
  case TESELA__F16_TO_F32:
    put(dst, e, 32, wide_of_f16((uint16_t)get(src, e, 16)));
    break;
  case TESELA__S8_TO_S4:
    put(dst, e, 4, (uint64_t)clamp4(get(src, e, 8)) & 15);
    break;
  case TESELA__S4_TO_S8:
    put(dst, e, 8, get(src, e, 4) | (get(src, e, 4) & 8 ? 0xf0 : 0));
    break;
  case TESELA__PRED8_TO_1:
    put(dst, e, 1, get(src, e, 8) != 0);
    break;
  case TESELA__PRED1_TO_8:
    put(dst, e, 8, get(src, e, 1));
    break;
  case TESELA__PRED8_TO_32:
    put(dst, e, 32, get(src, e, 8) != 0);
    break;
  case TESELA__PRED32_TO_8:
    put(dst, e, 8, get(src, e, 32) != 0);
    break;
  case TESELA__PRED1_TO_32:
    put(dst, e, 32, get(src, e, 1));
    break;
  case TESELA__PRED32_TO_1:
    put(dst, e, 1, get(src, e, 32) != 0);
    break;
  case TESELA__SPLIT_F64:
    expect_split(dst, src, e);
    break;
  case TESELA__MERGE_F64:
    expect_merge(dst, src, e);
    break;
  case TESELA__SWAP16:
    put_reversed(dst, src, e * 2, 2);
    break;
  case TESELA__SWAP32:
    put_reversed(dst, src, e * 4, 4);
    break;
  case TESELA__SWAP64:
    put_reversed(dst, src, e * 8, 8);
    break;
  case TESELA__SWAP128:
    put_reversed(dst, src, e * 16, 16);
    break;
  case TESELA__SWAP_C64:
    put_reversed(dst, src, e * 8, 4), put_reversed(dst, src, e * 8 + 4, 4);
    break;
  case TESELA__SWAP_C128:
    put_reversed(dst, src, e * 16, 8), put_reversed(dst, src, e * 16 + 8, 8);
    break;
  default:
    expect_mixed(conversion, dst, src, e);
  }
}

static int64_t bits_of(int32_t conversion, bool of_dst) {
  switch (conversion) {
#define ROW(symbol, value, name, src_bits, dst_bits) \
  case symbol:                                       \
    return of_dst ? dst_bits : src_bits;
    TESELA__CONVERSION_MAP(ROW)
#undef ROW
  default:
    return 0;
  }
}

/* ---- trials ------------------------------------------------------------------------------------ */

/* n elements of src at src_arena + from, which already holds them, to dst_arena + at. */
static void convert(const tesela__kernel *kernel, int64_t at, int64_t from, int64_t n) {
  char what[100];
  reset_dst();
  for (int64_t e = 0; e < n; e++) expect_element(kernel->width, want + at, src_arena + from, e);
  ((tesela__convert_fn *)kernel->fn)(dst_arena + at, src_arena + from, n);
  snprintf(what, sizeof what, "%" PRId64 " elements, dst %" PRId64 ", src %" PRId64, n, at, from);
  check_dst(kernel, what);
}

/* Values that matter to the conversion, n*bits of them at src_arena + from: pairs without a NaN, zeros among preds. */
static void draw_values(int32_t conversion, int64_t from, int64_t n) {
  unsigned char *src = src_arena + from;
  int64_t bits = bits_of(conversion, false);
  for (int64_t e = 0; e < (n * bits + 7) / 8; e++) src[e] = (unsigned char)next();
  for (int64_t e = 0; e < n; e++) {
    if (conversion == TESELA__SPLIT_F64 || conversion == TESELA__MERGE_F64) {
      double x = ldexp((double)(int64_t)next(), (int)below(200) - 160);
      float pair[2] = {(float)x, (float)ldexp((double)(int64_t)next(), (int)below(100) - 160)};
      memcpy(src + e * 8, conversion == TESELA__SPLIT_F64 ? (void *)&x : (void *)pair, 8);
    } else if (conversion ==
               TESELA__F64_TO_F32) { /* what an f32 holds, and more; some are halves between two */
      double x = ldexp((double)(int64_t)next(), (int)below(300) - 200);
      uint64_t code;
      memcpy(&code, &x, 8);
      if (below(2)) code = (code & ~(uint64_t)0x1fffffff) | (below(2) ? 0x10000000 : 0);
      memcpy(src + e * 8, &code, 8);
    } else if (conversion == TESELA__F32_TO_F64) { /* no NaN: its low bits differ by CPU */
      if ((get(src, e, 32) & 0x7fffffff) > 0x7f800000) put(src, e, 32, 0x7f800000);
    } else if ((conversion == TESELA__PRED8_TO_1 || conversion == TESELA__PRED8_TO_32) && below(2)) {
      src[e] = 0;
    } else if (conversion == TESELA__F32_TO_PRED8 && below(2)) {
      put(src, e, 32, below(2) ? 0x80000000u : (uint64_t)below(3));
    } else if ((conversion == TESELA__PRED32_TO_1 || conversion == TESELA__PRED32_TO_8) && below(3)) {
      put(src, e, 32, below(2) ? 1u << below(32) : 0);
    }
  }
}

static void try_convert(const tesela__kernel *kernel) {
  int64_t n = draw_size(below(8) ? 500 : 4000);
  int64_t at = place((n * bits_of(kernel->width, true) + 7) / 8);
  int64_t from = place((n * bits_of(kernel->width, false) + 7) / 8);
  draw_values(kernel->width, from, n);
  convert(kernel, at, from, n);
}

/* Every number of up to 16 bits; of f32 all upper halves, each with lower halves around what rounding looks at. */
static void convert_every_number(const tesela__kernel *kernel) {
  static const uint16_t lower[] = {0,      1,      0x0fff, 0x1000, 0x1001, 0x2fff, 0x3000,
                                   0x7fff, 0x8000, 0x8001, 0xefff, 0xf000, 0xffff};
  int64_t bits = bits_of(kernel->width, false), n = 0x400; /* 1 bit to 32: all of the arena */
  if (kernel->width == TESELA__F32_TO_BF16 || kernel->width == TESELA__F32_TO_F16) {
    for (size_t i = 0; i < sizeof lower / sizeof lower[0]; i++)
      for (uint32_t upper = 0; upper < 0x10000; upper += (uint32_t)n) {
        for (uint32_t e = 0; e < n; e++) put(src_arena, e, 32, (upper + e) << 16 | lower[i]);
        convert(kernel, 0, 0, n);
      }
  } else if (bits <= 16) {
    for (uint64_t first = 0; first < 0x10000; first += (uint64_t)n) {
      for (int64_t e = 0; e < n; e++) put(src_arena, e, 16, first + (uint64_t)e);
      convert(kernel, 0, 0, n * 16 / bits);
    }
  }
}

/* ---- tests -------------------------------------------------------------------------------------------------- */

static void test_conversions(void **unused) {
  (void)unused;
  protect_src(false);
  list_numbers(&bf16);
  list_numbers(&f16);
  try_kinds(TESELA__K_CONVERT, TESELA__K_CONVERT, try_convert, slow_run() ? TRIALS / 10 : TRIALS);
  try_kinds(TESELA__K_CONVERT, TESELA__K_CONVERT, convert_every_number, 1);
}

/* Known numbers, worked out by hand. */
static const struct {
  const char *name;
  int32_t conversion;
  uint64_t src, dst; /* pairs: hi in the low half */
} value_rows[] = {
    {"1 is 1 in bf16", TESELA__F32_TO_BF16, 0x3f800000, 0x3f80},
    {"a tie goes down to the even bf16", TESELA__F32_TO_BF16, 0x3f808000, 0x3f80},
    {"a tie goes up to the even bf16", TESELA__F32_TO_BF16, 0x3f818000, 0x3f82},
    {"the largest f32 is infinite in bf16", TESELA__F32_TO_BF16, 0x7f7fffff, 0x7f80},
    {"a NaN with low bits only stays one in bf16", TESELA__F32_TO_BF16, 0xff800001, 0xffc0},
    {"65504 is the largest f16", TESELA__F32_TO_F16, 0x477fe000, 0x7bff},
    {"just below 65520 rounds down", TESELA__F32_TO_F16, 0x477fefff, 0x7bff},
    {"65520 is infinite in f16", TESELA__F32_TO_F16, 0x477ff000, 0x7c00},
    {"2^-24 is the smallest f16", TESELA__F32_TO_F16, 0x33800000, 0x0001},
    {"2^-25 is a tie and goes to 0", TESELA__F32_TO_F16, 0x33000000, 0x0000},
    {"-2^-25 goes to -0", TESELA__F32_TO_F16, 0xb3000000, 0x8000},
    {"just above 2^-25 goes up", TESELA__F32_TO_F16, 0x33000001, 0x0001},
    {"a NaN with low bits only stays one in f16", TESELA__F32_TO_F16, 0x7f800001, 0x7e00},
    {"the smallest f16 is 2^-24", TESELA__F16_TO_F32, 0x0001, 0x33800000},
    {"the largest subnormal f16 is 1023 * 2^-24", TESELA__F16_TO_F32, 0x03ff, 0x387fc000},
    {"-2 as f16", TESELA__F16_TO_F32, 0xc000, 0xc0000000},
    {"7 and 100 and -100", TESELA__S8_TO_S4, 0x9c6407, 0x877},
    {"2^16 of bf16 is infinite in f16", TESELA__BF16_TO_F16, 0x4780, 0x7c00},
    {"1.5 from bf16", TESELA__BF16_TO_F16, 0x3fc0, 0x3e00},
    {"1 + 2^-8 + 2^-9 in bf16 rounds up", TESELA__F16_TO_BF16, 0x3c06, 0x3f81},
    {"true is 1", TESELA__PRED8_TO_F16, 0x02, 0x3c00},
    {"-0 is false", TESELA__F16_TO_PRED8, 0x8000, 0},
    {"a NaN is true", TESELA__F32_TO_PRED8, 0x7fc00000, 1},
    {"the low half of 2^32 + 5", TESELA__S64_TO_S32, 0x100000005, 5},
    {"-2 in more bits", TESELA__S32_TO_S64, 0xfffffffe, 0xfffffffffffffffe},
    {"2^32 - 2 in more bits", TESELA__U32_TO_U64, 0xfffffffe, 0xfffffffe},
    {"-128 in more bits", TESELA__S8_TO_S32, 0x80, 0xffffff80},
    {"128 in more bits", TESELA__U8_TO_U32, 0x80, 0x80},
    {"1 + 2^-24 is a tie and goes to 1", TESELA__F64_TO_F32, 0x3ff0000010000000, 0x3f800000},
    {"2^128 - 2^103 is infinite in f32", TESELA__F64_TO_F32, 0x47effffff0000000, 0x7f800000},
    {"-2^-150 is a tie and goes to -0", TESELA__F64_TO_F32, 0xb690000000000000, 0x80000000},
    {"a NaN stays one in f32", TESELA__F64_TO_F32, 0x7ff8000000000000, 0x7fc00000},
    {"a NaN stays one in f64", TESELA__F32_TO_F64, 0x7fc00000, 0x7ff8000000000000},
    {"the smallest f32 is 2^-149", TESELA__F32_TO_F64, 0x00000001, 0x36a0000000000000},
    {"-1 as nibble", TESELA__LOW_8_TO_4, 0xff, 0xf},
    {"the low bits of 14", TESELA__LOW_8_TO_2, 14, 2},
    {"the low bit of 14", TESELA__LOW_8_TO_1, 14, 0},
    {"15 stays 15", TESELA__U4_TO_8, 15, 15},
    {"3 stays 3", TESELA__U2_TO_8, 3, 3},
    {"3 with a sign is -1", TESELA__S2_TO_8, 3, 0xff},
    {"1 with a sign is -1", TESELA__S1_TO_8, 1, 0xff},
    {"1 has no rest", TESELA__SPLIT_F64, 0x3ff0000000000000, 0x000000003f800000},
    {"1 + 2^-30 is 1 and 2^-30", TESELA__SPLIT_F64, 0x3ff0000000400000, 0x308000003f800000},
    {"1 + 2^-24 + 2^-50 is 1 + 2^-23 and -2^-24", TESELA__SPLIT_F64, 0x3ff0000010000004, 0xb38000003f800001},
    {"2^128 is infinite and has no rest", TESELA__SPLIT_F64, 0x47f0000000000000, 0x000000007f800000},
    {"minus infinity has no rest", TESELA__SPLIT_F64, 0xfff0000000000000, 0x00000000ff800000},
    {"a NaN has no rest", TESELA__SPLIT_F64, 0x7ff8000000000000, 0x000000007fc00000},
    {"1 + 2^-30", TESELA__MERGE_F64, 0x308000003f800000, 0x3ff0000000400000},
    {"infinity and 0", TESELA__MERGE_F64, 0x000000007f800000, 0x7ff0000000000000},
    {"a NaN and 0", TESELA__MERGE_F64, 0x000000007fc00000, 0x7ff8000000000000},
    {"swapped", TESELA__SWAP64, 0x0102030405060708, 0x0807060504030201},
    {"swapped in halves", TESELA__SWAP_C64, 0x0102030405060708, 0x0403020108070605},
    {"bytes in 2 x 2", TESELA__MIX_2X2X8, 0x33323130, 0x33313230},
    {"bytes in 2 x 4", TESELA__MIX_2X4X8, 0x3736353433323130, 0x3733363235313430},
    {"bytes in 4 x 2", TESELA__MIX_4X2X8, 0x3736353433323130, 0x3735333136343230},
    {"pairs of bytes in 2 x 2", TESELA__MIX_2X2X16, 0x3736353433323130, 0x3736333235343130},
};

static void check_value(const tesela__kernel *kernel) {
  for (size_t i = 0; i < sizeof value_rows / sizeof value_rows[0]; i++) {
    if (value_rows[i].conversion != kernel->width) continue;
    unsigned char src[16 * 40] = {0}, dst[16 * 40] = {0}; /* enough of them for any vector */
    int64_t from = bits_of(kernel->width, false), to = bits_of(kernel->width, true), n = 1;
    if (kernel->width == TESELA__S8_TO_S4) n = 3, from = 32, to = 16;
    for (int64_t e = 0; e < 40; e++) put(src, e, from, value_rows[i].src);
    ((tesela__convert_fn *)kernel->fn)(dst, src, n == 1 ? 40 : n);
    for (int64_t e = 0; e < (n == 1 ? 40 : 1); e++)
      if (get(dst, e, to) != value_rows[i].dst)
        fail_msg("%s, %s: 0x%" PRIx64 ", not 0x%" PRIx64, kernel->name, value_rows[i].name, get(dst, e, to),
                 value_rows[i].dst);
  }
}

static void test_known_values(void **unused) {
  (void)unused;
  try_kinds(TESELA__K_CONVERT, TESELA__K_CONVERT, check_value, 1);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_known_values),
      cmocka_unit_test(test_conversions),
  };
  return cmocka_run_group_tests(tests, set_up_arenas, NULL);
}
