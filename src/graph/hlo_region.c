/* SPDX-License-Identifier: Apache-2.0 */
/*
 * hlo_region.c - small computations on scalars, computed: what the comparison of a sort or a fold of pairs does.
 *
 * Such a computation only compares: what it gives depends on the order of its parameters and on where they stand to 0, to the
 * infinities and to NaN. So it is known once it was computed for values in every order. Anything else in it, as arithmetic or
 * other constants, makes it unknown.
 */
#include <math.h>

#include "graph/hlo.h"

enum { REGION_MOST = 64 }; /* instructions of a computation that is computed */

typedef struct region {
  const tesela__hlo_module *m;
  const tesela__hlo_computation *c;
  const double *parameter;
  int32_t n;
  double value[REGION_MOST];
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

static double region_value(const region *r, const tesela__hlo_instruction *in, int32_t k) {
  return r->value[r->m->operand[in->operand + k] - r->c->first];
}

/* Less in the total order of floats: -NaN, -inf .. -0, 0 .. inf, NaN. */
static bool region_less(double x, double y, bool total) {
  if (!total) return x < y;
  int rank_x = isnan(x) ? signbit(x) ? -1 : 1 : 0, rank_y = isnan(y) ? signbit(y) ? -1 : 1 : 0;
  if (rank_x != rank_y || rank_x != 0) return rank_x < rank_y;
  return x < y || (x == 0 && y == 0 && signbit(x) && !signbit(y));
}

static bool region_compare(const region *r, const tesela__hlo_instruction *in, double *value) {
  static const char *const words[] = {"EQ", "NE", "LT", "LE", "GT", "GE"};
  tesela__hlo_span word = tesela__hlo_attribute(r->m, in, "direction");
  double x = region_value(r, in, 0), y = region_value(r, in, 1);
  bool total = tesela__hlo_same(r->m->text, tesela__hlo_attribute(r->m, in, "type"), "TOTALORDER") &&
               tesela_dtype_family_of(region_type(r, region_operand(r, in, 0))) == TESELA_FAMILY_FLOAT;
  bool less = region_less(x, y, total), greater = region_less(y, x, total);
  bool equal = total ? !less && !greater : x == y;
  const bool is[] = {equal, !equal, less, less || equal, greater, greater || equal};
  for (size_t i = 0; i < sizeof words / sizeof *words; i++)
    if (tesela__hlo_same(r->m->text, word, words[i])) {
      *value = is[i];
      return true;
    }
  return false;
}

/* 0, NaN, infinities, truth values; and the integer that turns the bits of a negative float into its place. */
static bool region_constant(const region *r, const tesela__hlo_instruction *in, double *value) {
  if (!tesela__hlo_number(r->m->text, tesela__hlo_trim(r->m->text, in->inside), value)) return false;
  return *value == 0 || isnan(*value) || isinf(*value) || *value == (double)INT32_MAX ||
         region_type(r, in) == TESELA_PRED;
}

/* The bits of an f32 as an s32. */
static bool region_bits(const region *r, const tesela__hlo_instruction *in, double *value) {
  if (region_type(r, in) != TESELA_S32 || region_type(r, region_operand(r, in, 0)) != TESELA_F32)
    return false;
  float narrow = (float)region_value(r, in, 0);
  int32_t bits;
  memcpy(&bits, &narrow, sizeof bits);
  *value = bits;
  return true;
}

static bool region_widens(const region *r, const tesela__hlo_instruction *in) {
  tesela_dtype from = region_type(r, region_operand(r, in, 0)), to = region_type(r, in);
  return tesela_dtype_family_of(from) == tesela_dtype_family_of(to) &&
         tesela_dtype_bits(from) <= tesela_dtype_bits(to);
}

static bool region_logic(const region *r, const tesela__hlo_instruction *in, double *value) {
  double x = region_value(r, in, 0), y = in->n_operands > 1 ? region_value(r, in, 1) : 0;
  if (tesela__hlo_same(r->m->text, in->opcode, "xor") && region_type(r, in) == TESELA_S32) {
    *value = (double)((int64_t)x ^ (int64_t)y);
    return true;
  }
  if (region_type(r, in) != TESELA_PRED) return false;
  bool known = true;
  if (tesela__hlo_same(r->m->text, in->opcode, "and"))
    *value = x != 0 && y != 0;
  else if (tesela__hlo_same(r->m->text, in->opcode, "or"))
    *value = x != 0 || y != 0;
  else if (tesela__hlo_same(r->m->text, in->opcode, "xor"))
    *value = (x != 0) != (y != 0);
  else if (tesela__hlo_same(r->m->text, in->opcode, "not"))
    *value = x == 0;
  else
    known = false;
  return known;
}

static bool region_step(const region *r, const tesela__hlo_instruction *in, double *value) {
  static const struct {
    const char *opcode;
    int32_t operands;
  } rows[] = {{"parameter", 0}, {"constant", 0}, {"compare", 2}, {"select", 3}, {"minimum", 2},
              {"maximum", 2},   {"and", 2},      {"or", 2},      {"xor", 2},    {"not", 1},
              {"copy", 1},      {"convert", 1},  {"bitcast", 1}, {"tuple", -1}, {"bitcast-convert", 1},
              {NULL, 0}};
  int64_t number;
  int32_t k = 0;
  while (rows[k].opcode && !tesela__hlo_same(r->m->text, in->opcode, rows[k].opcode)) k++;
  if (!rows[k].opcode || (rows[k].operands >= 0 && rows[k].operands != in->n_operands)) return false;
  *value = 0;
  switch (k) {
  case 0:
    if (!tesela__hlo_integer(r->m->text, in->inside, &number) || number < 0 || number >= r->n) return false;
    *value = r->parameter[number];
    return region_type(r, in) != TESELA_DTYPE_NONE;
  case 1:
    return region_constant(r, in, value);
  case 2:
    return region_compare(r, in, value);
  case 3:
    *value = region_value(r, in, region_value(r, in, 0) != 0 ? 1 : 2);
    return true;
  case 4:
  case 5: {
    double x = region_value(r, in, 0), y = region_value(r, in, 1);
    *value = isnan(x) || isnan(y) ? (double)NAN : (k == 4) == (y < x) ? y : x;
    return true;
  }
  case 10:
    *value = region_value(r, in, 0);
    return true;
  case 11:
    *value = region_value(r, in, 0);
    return region_widens(r, in);
  case 12:
  case 14:
    return region_bits(r, in, value);
  case 13:
    return true;
  default:
    return region_logic(r, in, value);
  }
}

bool tesela__hlo_region_compute(const tesela__hlo_module *m, int32_t computation, int32_t n,
                                const double *parameter, int32_t n_results, double *result) {
  region r = {.m = m, .c = &m->computation[computation], .parameter = parameter, .n = n};
  if (r.c->n > REGION_MOST) return false;
  for (int32_t i = 0; i < r.c->n; i++)
    if (!region_step(&r, &m->instruction[r.c->first + i], &r.value[i])) return false;
  const tesela__hlo_instruction *root = &m->instruction[r.c->root];
  if (!root->tuple) result[0] = r.value[r.c->root - r.c->first];
  if (!root->tuple) return n_results == 1;
  if (root->n_operands != n_results || !tesela__hlo_same(m->text, root->opcode, "tuple")) return false;
  for (int32_t k = 0; k < n_results; k++) result[k] = region_value(&r, root, k);
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
          (isnan(x) || isnan(y)) && before == 0; /* NaN compared as no number: it may stand anywhere */
      may[0] = may[0] && (free || (before != 0) == less);
      may[1] = may[1] && (free || (before != 0) == greater);
    }
  return may[0] ? 1 : may[1] ? -1 : 0;
}

/* Which of two a fold of pairs keeps for x at 5 and y at the index given: 0 either, 1, 2. */
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
