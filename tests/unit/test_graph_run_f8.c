/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_graph_run_f8.c - 8-bit floats: all codes of all types, rounding to them, and programs that compute with them.
 *
 * The value of a code follows from the definition of the type: sign, exponent and mantissa, and which codes are infinite or not a
 * number. The result of rounding a number is searched among all codes of a type.
 */
#include <inttypes.h>
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>
#include <tesela/tesela.h>

#include "graph/run/run.h"
#include "support_graph_build.h"
#include "support_graph_random.h"
#include "support_seed.h"

#define OK(call)                                                    \
  do {                                                              \
    tesela_error e_ = {.message = ""};                              \
    if ((call) != TESELA_OK) fail_msg("%s: %s", #call, e_.message); \
  } while (0)

/* ---- the types by their definitions --------------------------------------------------------------------------------- */

enum ends { IEEE, NAN_ALL_ONES, NAN_MINUS_ZERO, POWERS };

static const struct type {
  tesela_dtype dtype;
  int exponent, mantissa, bias;
  enum ends ends;
  double greatest; /* as published */
} types[] = {
    {TESELA_F8E5M2, 5, 2, 15, IEEE, 57344},
    {TESELA_F8E4M3, 4, 3, 7, IEEE, 240},
    {TESELA_F8E3M4, 3, 4, 3, IEEE, 15.5},
    {TESELA_F8E4M3FN, 4, 3, 7, NAN_ALL_ONES, 448},
    {TESELA_F8E5M2FNUZ, 5, 2, 16, NAN_MINUS_ZERO, 57344},
    {TESELA_F8E4M3FNUZ, 4, 3, 8, NAN_MINUS_ZERO, 240},
    {TESELA_F8E4M3B11FNUZ, 4, 3, 11, NAN_MINUS_ZERO, 30},
    {TESELA_F8E8M0FNU, 8, 0, 127, POWERS, 0x1p127},
};
enum { TYPES = sizeof types / sizeof types[0] };

static double defined(const struct type *t, int code) {
  if (t->ends == POWERS) return code == 255 ? (double)NAN : pow(2, code - 127);
  int sign = code >> 7, e = code >> t->mantissa & ((1 << t->exponent) - 1),
      m = code & ((1 << t->mantissa) - 1);
  int all_e = (1 << t->exponent) - 1, all_m = (1 << t->mantissa) - 1;
  if (t->ends == IEEE && e == all_e) return m ? (double)NAN : sign ? -(double)INFINITY : (double)INFINITY;
  if (t->ends == NAN_ALL_ONES && e == all_e && m == all_m) return (double)NAN;
  if (t->ends == NAN_MINUS_ZERO && code == 0x80) return (double)NAN;
  double fraction = m / pow(2, t->mantissa);
  double size = e == 0 ? fraction * pow(2, 1 - t->bias) : (1 + fraction) * pow(2, e - t->bias);
  return sign ? -size : size;
}

/* The same from a table. */
static double table[TYPES][256];
static double worth(const struct type *t, int code) { return table[t - types][code]; }

/* The value nearest to x among all codes, and one step beyond the greatest, which stands for infinity, or for NaN in
 * types without infinity; of two the one whose code is even. */
static double nearest(const struct type *t, double x) {
  bool infinite = t->ends == IEEE;
  double best = 0, gap = (double)INFINITY, size = fabs(x);
  int last = 0;
  if (isnan(x)) return x;
  if (t->ends == POWERS) { /* half way between two is the greater; anything but a positive number is NaN */
    if (!(x > 0) || isinf(x)) return (double)NAN;
    for (int e = -127; e <= 128; e++)
      if (fabs(x - pow(2, e)) <= gap) gap = fabs(x - pow(2, e)), best = pow(2, e);
    return best > 0x1p127 ? (double)NAN : best;
  }
  if (isinf(x)) return infinite ? x : (double)NAN;
  while (last < 127 && isfinite(worth(t, last + 1))) last++;
  double beyond = 2 * worth(t, last) - worth(t, last - 1), half = (beyond + worth(t, last)) / 2;
  if (size > half || (size == half && last % 2 == 1)) /* `beyond` is what would come next */
    return infinite ? copysign((double)INFINITY, x) : (double)NAN;
  for (int code = 0; code <= last; code++) {
    double d = fabs(worth(t, code) - size);
    if (d < gap || (d == gap && code % 2 == 0)) gap = d, best = worth(t, code);
  }
  if (best == 0 && t->ends == NAN_MINUS_ZERO) return 0;
  return copysign(best, x);
}

/* ---- codes and rounding ----------------------------------------------------------------------------------------------- */

static bool same(double a, double b) { return isnan(a) ? isnan(b) : a == b && signbit(a) == signbit(b); }

static void all_codes(void **unused) {
  (void)unused;
  for (int t = 0; t < TYPES; t++) {
    double greatest = 0;
    for (int code = 0; code < 256; code++) {
      uint8_t byte = (uint8_t)code, back[2] = {0xee, 0xee};
      double want = worth(&types[t], code);
      tesela__run_value have = tesela__run_load(types[t].dtype, &byte);
      if (!same(have.f, want))
        fail_msg("%s 0x%02x is %g, not %g", tesela_dtype_name(types[t].dtype), (unsigned)code, have.f, want);
      tesela__run_store(types[t].dtype, have, back, 2);
      assert_int_equal(back[1], 0);
      if (isnan(want))
        assert_true(isnan(worth(&types[t], back[0])));
      else
        assert_int_equal(back[0], code);
      if (isfinite(want) && want > greatest) greatest = want;
      assert_true(same(tesela__run_round(types[t].dtype, TESELA__RUN_FLOAT, have).f, want));
    }
    assert_true(greatest == types[t].greatest);
  }
}

static void check_rounding(const struct type *t, double x) {
  double want = nearest(t, x),
         have = tesela__run_round(t->dtype, TESELA__RUN_FLOAT, (tesela__run_value){.f = x}).f;
  if (!same(have, want)) fail_msg("%s of %a is %a, not %a", tesela_dtype_name(t->dtype), x, have, want);
  uint8_t byte;
  tesela__run_store(t->dtype, (tesela__run_value){.f = have}, &byte, 1);
  if (!same(worth(t, byte), want))
    fail_msg("%s of %a is stored as 0x%02x", tesela_dtype_name(t->dtype), x, byte);
}

/* Half way between neighbours, and just beside. */
static void between_neighbours(void **unused) {
  (void)unused;
  for (int k = 0; k < TYPES; k++) {
    const struct type *t = &types[k];
    const double others[] = {0.0,
                             -0.0,
                             1e-300,
                             -1e-300,
                             0x1p-1074,
                             0x1p-1030,
                             1e300,
                             -1e300,
                             0x1p128,
                             -0x1p128,
                             NAN,
                             (double)INFINITY,
                             -(double)INFINITY,
                             0x1p-128,
                             0x1p-129,
                             0x1.8p127,
                             465,
                             464,
                             463.9,
                             248,
                             247.9,
                             31,
                             30.9,
                             61440,
                             61439,
                             15.75,
                             -15.75};
    for (size_t i = 0; i < sizeof others / sizeof others[0]; i++) check_rounding(t, others[i]);
    for (int code = 0; code < 255; code++) {
      double a = worth(t, code), b = worth(t, code + 1), half = (a + b) / 2;
      if (!isfinite(a) || !isfinite(b)) continue;
      const double at[] = {a, half, nextafter(half, a), nextafter(half, b), nextafter(a, b), nextafter(b, a)};
      for (size_t i = 0; i < sizeof at / sizeof at[0]; i++) {
        check_rounding(t, at[i]);
        check_rounding(t, -at[i]);
      }
    }
  }
}

static void random_numbers(void **unused) {
  (void)unused;
  uint64_t state = first_seed() * UINT64_C(0x9e3779b97f4a7c15) + 1;
  for (int i = 0; i < 40000; i++) {
    double x = (double)(1 + random_below(&state, INT64_C(1) << 52)) * 0x1p-52;
    x = ldexp(random_below(&state, 2) ? x : -x, (int)random_below(&state, 48) - 24);
    for (int t = 0; t < TYPES; t++) check_rounding(&types[t], x);
  }
}

static void poison_is_no_number(void **unused) {
  (void)unused;
  for (int t = 0; t < TYPES; t++) {
    uint8_t byte, nan;
    tesela__run_poison(types[t].dtype, &byte, 1);
    assert_true(isnan(worth(&types[t], byte)));
    tesela__run_store(types[t].dtype, (tesela__run_value){.f = (double)NAN}, &nan, 1);
    assert_true(isnan(worth(&types[t], nan)));
    if (types[t].ends == IEEE || types[t].ends == NAN_ALL_ONES)
      assert_int_not_equal(byte, nan); /* there is more than one */
  }
}

/* ---- programs ----------------------------------------------------------------------------------------------------------- */

static int32_t add(tesela_graph *graph, tesela_node_spec spec) {
  int32_t node;
  OK(tesela_graph_add(graph, &spec, &node, &e_));
  return node;
}

/* All codes times all codes of a type, rounded to it; the sums of the products in f32; and the greatest of each row. */
static void check_program(const struct type *t, const tesela_target *target, bool plain) {
  enum { N = 256 };
  static uint8_t x[N], y[N], product[N * N], most[N];
  static float sum[1];
  tesela_graph *graph;
  OK(tesela_graph_create(&graph, NULL, &e_));
  int32_t a = add(graph, (tesela_node_spec){.op = TESELA_OP_INPUT,
                                            .dtype = t->dtype,
                                            .rank = 2,
                                            .shape = (const int64_t[]){N, 1},
                                            .stick = TESELA_STICK_FREE}),
          b = add(graph, (tesela_node_spec){.op = TESELA_OP_INPUT,
                                            .dtype = t->dtype,
                                            .rank = 2,
                                            .shape = (const int64_t[]){1, N},
                                            .stick = TESELA_STICK_FREE});
  int32_t p = add(graph, (tesela_node_spec){.op = TESELA_OP_POINTWISE, .fn = TESELA_FN_MUL, NODES(a, b)});
  int32_t m = add(graph, (tesela_node_spec){.op = TESELA_OP_REDUCE, .fn = TESELA_FN_MAX, DIMS(1), NODES(p)});
  int32_t s = add(graph, (tesela_node_spec){.op = TESELA_OP_MATMUL, .dtype = TESELA_F32, NODES(b, a)});
  OK(tesela_graph_add_output(graph, p, &e_));
  OK(tesela_graph_add_output(graph, m, &e_));
  OK(tesela_graph_add_output(graph, s, &e_));
  if (!plain) build_lay_out_all(graph, target);
  for (int i = 0; i < N; i++) {
    x[i] = (uint8_t)i;
    y[i] = (uint8_t)(isfinite(worth(t, i * 7 & 255)) ? i * 7 & 255 : 1);
  }
  const void *inputs[2] = {x, y};
  void *outputs[3] = {product, most, sum};
  tesela_graph_run_facts facts;
  OK(tesela_graph_run(graph, target, inputs, outputs, &(tesela_graph_run_options){.plain = plain}, &facts,
                      &e_));
  assert_int_equal(facts.poison_read, 0);
  double total = 0;
  bool no_number = false;
  for (int i = 0; i < N; i++) {
    double greatest = -(double)INFINITY;
    for (int j = 0; j < N; j++) {
      double want = nearest(t, worth(t, i) * worth(t, y[j])), have = worth(t, product[i * N + j]);
      if (!same(have, want))
        fail_msg("%s: %g * %g is %g, not %g", tesela_dtype_name(t->dtype), worth(t, i), worth(t, y[j]), have,
                 want);
      greatest = isnan(want) || isnan(greatest) ? (double)NAN : greatest < want ? want : greatest;
    }
    if (isnan(greatest) ? !isnan(worth(t, most[i])) : worth(t, most[i]) != greatest)
      fail_msg("%s: row %d has %g, not %g", tesela_dtype_name(t->dtype), i, worth(t, most[i]), greatest);
    total += worth(t, i) * worth(t, y[i]);
    no_number = no_number || isnan(worth(t, i));
  }
  assert_true(no_number && isnan(total) && isnan(sum[0])); /* the codes of NaN are among the factors */
  memset(x, 0x38, sizeof x);
  OK(tesela_graph_run(graph, target, inputs, outputs, &(tesela_graph_run_options){.plain = plain}, &facts,
                      &e_));
  total = 0;
  for (int i = 0; i < N; i++) total += worth(t, 0x38) * worth(t, y[i]);
  assert_true(sum[0] == (float)total);
  tesela_graph_destroy(graph);
}

static void programs(void **unused) {
  (void)unused;
  tesela_target plain;
  OK(tesela_target_plain(&plain, 32, &e_));
  for (int t = 0; t < TYPES; t++) {
    check_program(&types[t], NULL, true);
    check_program(&types[t], &plain, false);
  }
  check_program(&types[0], tesela_target_find("spyre"), false); /* has f8e5m2 and f8e4m3fn */
  check_program(&types[3], tesela_target_find("spyre"), false);
}

/* f32 on the host, f8e4m3fn on the device: each result is rounded twice. */
static void narrow_on_the_device(void **unused) {
  (void)unused;
  const struct type *t = &types[3];
  tesela_target target;
  OK(tesela_target_plain(&target, 16, &e_));
  target.n_types = 1;
  target.type[0] = (tesela_target_type){TESELA_F32, TESELA_F8E4M3FN, 8};
  tesela_graph *graph;
  OK(tesela_graph_create(&graph, NULL, &e_));
  int32_t x = build_input(graph, "x", "f32[40]");
  int32_t y = add(graph, (tesela_node_spec){.op = TESELA_OP_POINTWISE, .fn = TESELA_FN_MUL, NODES(x, x)});
  OK(tesela_graph_add_output(graph, y, &e_));
  build_lay_out_all(graph, &target);
  float in[40], out[40];
  for (int i = 0; i < 40; i++) in[i] = (float)(i - 12) * 1.37f;
  OK(tesela_graph_run(graph, &target, (const void *const[]){in}, (void *const[]){out}, NULL, NULL, &e_));
  for (int i = 0; i < 40; i++) {
    double stored = nearest(t, (double)in[i]),
           want = nearest(t, stored * stored); /* a product of two has 8 bits: f32 has it */
    assert_true(isnan(want) ? isnan(out[i]) : (double)out[i] == want);
  }
  assert_true(isnan(out[39])); /* 36 * 36 is beyond 448 */
  tesela_graph_destroy(graph);
}

int main(void) {
  for (int t = 0; t < TYPES; t++)
    for (int code = 0; code < 256; code++) table[t][code] = defined(&types[t], code);
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(all_codes),      cmocka_unit_test(between_neighbours),
      cmocka_unit_test(random_numbers), cmocka_unit_test(poison_is_no_number),
      cmocka_unit_test(programs),       cmocka_unit_test(narrow_on_the_device),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
