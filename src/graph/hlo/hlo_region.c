/* SPDX-License-Identifier: Apache-2.0 */
/*
 * hlo_region.c - evaluation of small computations on scalars: the comparison of a sort, a fold of pairs.
 *
 * Such a computation only compares: its result depends on the order of its parameters and on their relation to 0, the
 * infinities and NaN. So evaluation for values in every order determines it. Floats may be compared by their bits, as compilers
 * expand a total order: bits below 0 are subtracted from the greatest integer, or xored with it, and compared as integers. Any
 * other arithmetic or constant makes it unknown.
 */
#include <math.h>

#include "graph/hlo/hlo.h"

enum { REGION_MOST = 64 }; /* most instructions of a computation */

typedef struct region_number {
  double x;           /* a float, or a truth value */
  tesela_dtype whole; /* the type of an integer, or TESELA_DTYPE_NONE */
  int64_t i;          /* then its value; for unsigned 64 bits its bits */
  bool of_float;      /* then it comes from the bits of a float */
} region_number;

typedef struct region {
  const tesela__hlo_module *m;
  const tesela__hlo_computation *c;
  const double *parameter;
  int32_t n;
  region_number value[REGION_MOST];
} region;

static tesela_dtype region_type(const region *r, const tesela__hlo_instruction *in) {
  tesela_xla_shape shape;
  size_t used;
  if (in->tuple || tesela_xla_parse_prefix(r->m->text + in->shape, r->m->length - in->shape,
                                           TESELA_XLA_STRICT, &shape, &used, NULL, NULL) != TESELA_OK)
    return TESELA_DTYPE_NONE;
  return shape.rank == 0 ? shape.dtype : TESELA_DTYPE_NONE;
}

static const tesela__hlo_instruction *region_operand(const region *r, const tesela__hlo_instruction *in,
                                                     int32_t k) {
  return &r->m->instruction[r->m->operand[in->operand + k]];
}

static const region_number *region_value(const region *r, const tesela__hlo_instruction *in, int32_t k) {
  return &r->value[r->m->operand[in->operand + k] - r->c->first];
}

static bool region_true(const region *r, const tesela__hlo_instruction *in, int32_t k) {
  return region_value(r, in, k)->x != 0;
}

/* Less in the total order of floats: -NaN, -inf .. -0, 0 .. inf, NaN. */
static bool region_less(double x, double y, bool total) {
  if (!total) return x < y;
  int rank_x = isnan(x) ? signbit(x) ? -1 : 1 : 0, rank_y = isnan(y) ? signbit(y) ? -1 : 1 : 0;
  if (rank_x != rank_y || rank_x != 0) return rank_x < rank_y;
  return x < y || (x == 0 && y == 0 && signbit(x) && !signbit(y));
}

static bool region_compare(const region *r, const tesela__hlo_instruction *in, region_number *value) {
  static const char *const words[] = {"EQ", "NE", "LT", "LE", "GT", "GE"};
  tesela__hlo_span word = tesela__hlo_attribute(r->m, in, "direction");
  const region_number *a = region_value(r, in, 0), *b = region_value(r, in, 1);
  if (a->whole != b->whole) return false;
  bool total = tesela__hlo_same(r->m->text, tesela__hlo_attribute(r->m, in, "type"), "TOTALORDER") &&
               tesela_dtype_family_of(region_type(r, region_operand(r, in, 0))) == TESELA_FAMILY_FLOAT;
  bool less = region_less(a->x, b->x, total), greater = region_less(b->x, a->x, total);
  bool equal = total ? !less && !greater : a->x == b->x;
  if (a->whole != TESELA_DTYPE_NONE) {
    bool unsigned_ = tesela_dtype_family_of(a->whole) == TESELA_FAMILY_UNSIGNED;
    less = unsigned_ ? (uint64_t)a->i < (uint64_t)b->i : a->i < b->i;
    equal = a->i == b->i;
    greater = !less && !equal;
  }
  const bool is[] = {equal, !equal, less, less || equal, greater, greater || equal};
  for (size_t i = 0; i < sizeof words / sizeof *words; i++)
    if (tesela__hlo_same(r->m->text, word, words[i])) {
      *value = (region_number){.x = is[i]};
      return true;
    }
  return false;
}

/* The greatest number of a signed integer type, or 0: all bits of a float of this width but the sign. */
static int64_t region_most(tesela_dtype dtype) {
  tesela_dtype_family family = tesela_dtype_family_of(dtype);
  int32_t bits = tesela_dtype_bits(dtype);
  if ((family != TESELA_FAMILY_SIGNED && family != TESELA_FAMILY_UNSIGNED) || bits < 8) return 0;
  return (int64_t)(UINT64_MAX >> (65 - bits));
}

/* An integer in its type: the low bits, signed or unsigned. */
static int64_t region_wrap(tesela_dtype dtype, uint64_t bits) {
  int32_t unused = 64 - tesela_dtype_bits(dtype);
  if (tesela_dtype_family_of(dtype) == TESELA_FAMILY_UNSIGNED) return (int64_t)(bits << unused >> unused);
  uint64_t sign = (uint64_t)1 << (63 - unused);
  bits = bits << unused >> unused;
  return bits & sign ? (int64_t)(bits - sign) - (int64_t)(sign - 1) - 1 : (int64_t)bits;
}

/* Allowed constants: 0, NaN, infinities, truth values, and the integer that maps the bits of a negative float to its rank. */
static bool region_constant(const region *r, const tesela__hlo_instruction *in, region_number *value) {
  tesela_dtype dtype = region_type(r, in);
  tesela__hlo_span text = tesela__hlo_trim(r->m->text, in->inside);
  if (region_most(dtype) > 0) {
    value->whole = dtype;
    return tesela__hlo_integer(r->m->text, text, &value->i) &&
           (value->i == 0 || value->i == region_most(dtype));
  }
  if (!tesela__hlo_number(r->m->text, text, &value->x)) return false;
  return value->x == 0 || isnan(value->x) || isinf(value->x) || dtype == TESELA_PRED;
}

/* The bits of a float of 16, 32 or 64 bits that holds x exactly; NaN has one code, with a sign. */
static bool region_float_bits(tesela_dtype dtype, double x, uint64_t *bits) {
  uint64_t sign = signbit(x) != 0;
  uint32_t narrow;
  float single = (float)x;
  memcpy(&narrow, &single, sizeof narrow);
  if (dtype == TESELA_F64) memcpy(bits, &x, sizeof *bits);
  if (dtype == TESELA_F32) *bits = narrow;
  if (dtype == TESELA_BF16) *bits = narrow >> 16;
  if (dtype == TESELA_F16) { /* 5 bits of the exponent, less 112 */
    uint32_t exponent = narrow >> 23 & 255, fraction = narrow >> 13 & 1023;
    bool normal = exponent > 112 && exponent < 143;
    if (!normal && exponent != 255 && x != 0) return false;
    *bits = sign << 15 | (exponent == 255 ? 31 : normal ? exponent - 112 : 0) << 10 | fraction;
  }
  bool lost =
      (dtype == TESELA_BF16 && (narrow & 0xffff) != 0) || (dtype == TESELA_F16 && (narrow & 0x1fff) != 0);
  return (dtype == TESELA_F64 || dtype == TESELA_F32 || dtype == TESELA_BF16 || dtype == TESELA_F16) && !lost;
}

/* The bits of a float as an integer, or of an integer, signed or unsigned. */
static bool region_bits(const region *r, const tesela__hlo_instruction *in, region_number *value) {
  const region_number *from = region_value(r, in, 0);
  tesela_dtype dtype = region_type(r, in), old = region_type(r, region_operand(r, in, 0));
  uint64_t bits = (uint64_t)from->i;
  if (region_most(dtype) == 0 || tesela_dtype_bits(old) != tesela_dtype_bits(dtype)) return false;
  if (from->whole == TESELA_DTYPE_NONE && !region_float_bits(old, from->x, &bits)) return false;
  *value = (region_number){.whole = dtype, .i = region_wrap(dtype, bits), .of_float = true};
  if (from->whole != TESELA_DTYPE_NONE) value->of_float = from->of_float || from->i == region_most(old);
  return true;
}

/* The greatest number minus the bits of a float, or xor them: for negative floats, their rank below 0. */
static bool region_mirror(const region *r, const tesela__hlo_instruction *in, bool subtract,
                          region_number *value) {
  const region_number *a = region_value(r, in, 0), *b = region_value(r, in, 1);
  tesela_dtype dtype = region_type(r, in);
  const region_number *bits = a->i == region_most(dtype) && b->of_float ? b : a;
  const region_number *most = bits == b ? a : b;
  if (region_most(dtype) == 0 || a->whole != dtype || b->whole != dtype || !bits->of_float ||
      most->i != region_most(dtype) || (subtract && most != a))
    return false;
  uint64_t x = (uint64_t)a->i, y = (uint64_t)b->i;
  *value =
      (region_number){.whole = dtype, .i = region_wrap(dtype, subtract ? x - y : x ^ y), .of_float = true};
  return true;
}

static bool region_widens(const region *r, const tesela__hlo_instruction *in) {
  tesela_dtype from = region_type(r, region_operand(r, in, 0)), to = region_type(r, in);
  return tesela_dtype_family_of(from) == tesela_dtype_family_of(to) &&
         tesela_dtype_bits(from) <= tesela_dtype_bits(to);
}

static bool region_logic(const region *r, const tesela__hlo_instruction *in, region_number *value) {
  bool x = region_true(r, in, 0), y = in->n_operands > 1 && region_true(r, in, 1), known = true;
  if (region_type(r, in) != TESELA_PRED) return false;
  if (tesela__hlo_same(r->m->text, in->opcode, "and"))
    value->x = x && y;
  else if (tesela__hlo_same(r->m->text, in->opcode, "or"))
    value->x = x || y;
  else if (tesela__hlo_same(r->m->text, in->opcode, "xor"))
    value->x = x != y;
  else if (tesela__hlo_same(r->m->text, in->opcode, "not"))
    value->x = !x;
  else
    known = false;
  return known;
}

static bool region_parameter(const region *r, const tesela__hlo_instruction *in, region_number *value) {
  int64_t number;
  tesela_dtype dtype = region_type(r, in);
  if (!tesela__hlo_integer(r->m->text, in->inside, &number) || number < 0 || number >= r->n) return false;
  double x = r->parameter[number];
  value->x = x;
  if (region_most(dtype) > 0 && !(x >= -0x1p63 && x < 0x1p63)) return false; /* no integer has this value */
  if (region_most(dtype) > 0)
    *value = (region_number){.whole = dtype, .i = region_wrap(dtype, (uint64_t)(int64_t)x)};
  return dtype != TESELA_DTYPE_NONE;
}

/* The minimum (maximum) of two; NaN if one is NaN. */
static region_number region_extreme(const region_number *a, const region_number *b, bool least) {
  if (a->whole != TESELA_DTYPE_NONE) return least == (b->i < a->i) ? *b : *a;
  if (isnan(a->x) || isnan(b->x)) return (region_number){.x = (double)NAN};
  return least == (b->x < a->x) ? *b : *a;
}

static bool region_convert(const region *r, const tesela__hlo_instruction *in, region_number *value) {
  *value = *region_value(r, in, 0);
  if (value->whole != TESELA_DTYPE_NONE) value->whole = region_type(r, in);
  return region_widens(r, in);
}

static bool region_step(const region *r, const tesela__hlo_instruction *in, region_number *value) {
  enum {
    PARAMETER,
    CONSTANT,
    COMPARE,
    SELECT,
    MINIMUM,
    MAXIMUM,
    XOR,
    SUBTRACT,
    COPY,
    CONVERT,
    BITS,
    TUPLE,
    LOGIC
  };
  static const struct {
    const char *opcode;
    int32_t operands, kind;
  } rows[] = {{"parameter", 0, PARAMETER},
              {"constant", 0, CONSTANT},
              {"compare", 2, COMPARE},
              {"select", 3, SELECT},
              {"minimum", 2, MINIMUM},
              {"maximum", 2, MAXIMUM},
              {"xor", 2, XOR},
              {"subtract", 2, SUBTRACT},
              {"copy", 1, COPY},
              {"convert", 1, CONVERT},
              {"bitcast", 1, BITS},
              {"bitcast-convert", 1, BITS},
              {"tuple", -1, TUPLE},
              {"and", 2, LOGIC},
              {"or", 2, LOGIC},
              {"not", 1, LOGIC},
              {NULL, 0, 0}};
  int32_t k = 0;
  while (rows[k].opcode && !tesela__hlo_same(r->m->text, in->opcode, rows[k].opcode)) k++;
  if (!rows[k].opcode || (rows[k].operands >= 0 && rows[k].operands != in->n_operands)) return false;
  *value = (region_number){.x = 0};
  switch (rows[k].kind) {
  case PARAMETER:
    return region_parameter(r, in, value);
  case CONSTANT:
    return region_constant(r, in, value);
  case COMPARE:
    return region_compare(r, in, value);
  case SELECT:
    *value = *region_value(r, in, region_true(r, in, 0) ? 1 : 2);
    return true;
  case MINIMUM:
  case MAXIMUM:
    if (region_value(r, in, 0)->whole != region_value(r, in, 1)->whole || region_value(r, in, 0)->of_float)
      return false;
    *value = region_extreme(region_value(r, in, 0), region_value(r, in, 1), rows[k].kind == MINIMUM);
    return true;
  case XOR:
    return region_type(r, in) == TESELA_PRED ? region_logic(r, in, value)
                                             : region_mirror(r, in, false, value);
  case SUBTRACT:
    return region_mirror(r, in, true, value);
  case COPY:
    *value = *region_value(r, in, 0);
    return true;
  case CONVERT:
    return region_convert(r, in, value);
  case BITS:
    return region_bits(r, in, value);
  case TUPLE:
    return true;
  default:
    return region_logic(r, in, value);
  }
}

static double region_result(const region_number *value) {
  return value->whole != TESELA_DTYPE_NONE ? (double)value->i : value->x;
}

bool tesela__hlo_region_compute(const tesela__hlo_module *m, int32_t computation, int32_t n,
                                const double *parameter, int32_t n_results, double *result) {
  region r = {.m = m, .c = &m->computation[computation], .parameter = parameter, .n = n};
  if (r.c->n > REGION_MOST) return false;
  for (int32_t i = 0; i < r.c->n; i++)
    if (!region_step(&r, &m->instruction[r.c->first + i], &r.value[i])) return false;
  const tesela__hlo_instruction *root = &m->instruction[r.c->root];
  if (!root->tuple) result[0] = region_result(&r.value[r.c->root - r.c->first]);
  if (!root->tuple) return n_results == 1;
  if (root->n_operands != n_results || !tesela__hlo_same(m->text, root->opcode, "tuple")) return false;
  for (int32_t k = 0; k < n_results; k++) result[k] = region_result(region_value(&r, root, k));
  return true;
}

/* ---- values in every order ---- */

enum { REGION_SAMPLES = 10 };
static const double region_samples[REGION_SAMPLES] = {-2, -1, -0.0, 0, 1, 2, -INFINITY, INFINITY, NAN, -NAN};

static int32_t region_sample_count(tesela_dtype dtype) {
  switch (tesela_dtype_family_of(dtype)) {
  case TESELA_FAMILY_FLOAT:
    return REGION_SAMPLES;
  case TESELA_FAMILY_SIGNED:
    return 6;
  case TESELA_FAMILY_UNSIGNED:
    return 3;
  default:
    return 0;
  }
}

static double region_sample(tesela_dtype dtype, int32_t i) {
  tesela_dtype_family family = tesela_dtype_family_of(dtype);
  return family == TESELA_FAMILY_UNSIGNED ? i : family == TESELA_FAMILY_FLOAT ? region_samples[i] : i - 2;
}

int32_t tesela__hlo_region_order(const tesela__hlo_module *m, int32_t computation, int32_t n, int32_t key,
                                 tesela_dtype dtype) {
  double parameter[2 * REGION_MOST] = {0}, before;
  int32_t samples = region_sample_count(dtype);
  bool may[2] = {true, true}; /* from the least, from the greatest */
  if (samples == 0 || n > REGION_MOST) return 0;
  for (int32_t i = 0; i < samples; i++)
    for (int32_t j = 0; j < samples; j++) {
      double x = region_sample(dtype, i), y = region_sample(dtype, j);
      for (int32_t k = 0; k < 2 * n; k++)
        parameter[k] = (i * 7 + j * 3 + k) % 5 - 2; /* others do not matter */
      parameter[2 * key] = x;
      parameter[2 * key + 1] = y;
      if (!tesela__hlo_region_compute(m, computation, 2 * n, parameter, 1, &before)) return 0;
      bool less = isnan(y) ? !isnan(x) : x < y, greater = isnan(x) ? !isnan(y) : y < x;
      bool free =
          (isnan(x) || isnan(y)) && before == 0; /* NaN compares as unordered: any position is allowed */
      may[0] = may[0] && (free || (before != 0) == less);
      may[1] = may[1] && (free || (before != 0) == greater);
    }
  return may[0] ? 1 : may[1] ? -1 : 0;
}

/* The pair that a fold keeps for x at index 5 and y at index `at`: 1, 2, or 0 for either. */
static int32_t region_kept(double x, double y, double at, int32_t sign) {
  if (isnan(x) || isnan(y)) return isnan(x) && isnan(y) ? 0 : isnan(x) ? 1 : 2;
  if (x == y) return at > 5 ? 1 : 2;
  return (sign > 0) == (x > y) ? 1 : 2;
}

int32_t tesela__hlo_region_extreme(const tesela__hlo_module *m, int32_t computation, tesela_dtype dtype) {
  int32_t samples = region_sample_count(dtype);
  bool may[2] = {samples > 0, samples > 0}; /* the greatest, the least */
  for (int32_t i = 0; i < samples; i++)
    for (int32_t j = 0; j < samples; j++)
      for (int32_t at = 0; at < 2; at++) {
        double x = region_sample(dtype, i), y = region_sample(dtype, j), kept[2];
        const double parameter[4] = {x, 5, y, at == 0 ? 3 : 8};
        if (!tesela__hlo_region_compute(m, computation, 4, parameter, 2, kept)) return 0;
        for (int32_t s = 0; s < 2; s++) {
          int32_t which = region_kept(x, y, parameter[3], s == 0 ? 1 : -1);
          bool first = kept[1] == 5 && (kept[0] == x || (isnan(kept[0]) && isnan(x)));
          bool second = kept[1] == parameter[3] && (kept[0] == y || (isnan(kept[0]) && isnan(y)));
          may[s] = may[s] && (which == 0 ? first || second : which == 1 ? first : second);
        }
      }
  return may[0] ? 1 : may[1] ? -1 : 0;
}
