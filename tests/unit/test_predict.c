/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_predict.c - programs before they are compiled, from C. tests/cli/test_predict.py compares figures with the compiler's.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>
#include <tesela/report.h>

#include "support_fault.h"

static const char stablehlo[] =
    "func.func public @main(%arg0: tensor<300x12xf32>, %arg1: tensor<f32>) -> tensor<300xf32> {\n"
    "  return %arg1 : tensor<f32>\n"
    "}\n";

static const char hlo[] = "HloModule m, entry_computation_layout={(f32[300,12]{1,0}, s8[])->f32[300]{0}}\n"
                          "\n"
                          "ENTRY main {\n"
                          "  a = f32[300,12]{1,0} parameter(0)\n"
                          "  b = s8[] parameter(1)\n"
                          "  ROOT r = f32[300]{0} custom-call(a)\n"
                          "}\n";

static void test_example(void **state) {
  (void)state;
  tesela_prediction *p;
  assert_int_equal(tesela_predict_create(&p, stablehlo, strlen(stablehlo), "v5e", NULL, NULL), TESELA_OK);
  const tesela_predicted *first = tesela_predict_at(p, 0), *second = tesela_predict_at(p, 1),
                         *result = tesela_predict_at(p, 2);
  assert_int_equal(first->bytes, 8 * 3 * 128 * 2 * 4); /* 12 -> 16 rows, 300 -> 384 columns */
  assert_int_equal(first->unpadded_bytes, 300 * 12 * 4);
  assert_int_equal(first->shape.layout.minor_to_major[0], 0);
  assert_false(first->used);
  assert_true(second->used);
  assert_true(result->result);
  assert_int_equal(result->bytes, 512 * 4);
  assert_null(tesela_predict_at(p, 3));
  assert_null(tesela_predict_at(p, -1));
  const tesela_prediction_totals t = tesela_predict_totals(p);
  assert_int_equal(t.n_arguments, 2);
  assert_int_equal(t.n_results, 1);
  assert_int_equal(t.argument_bytes, first->bytes + second->bytes);
  assert_int_equal(t.output_bytes, result->bytes);
  tesela_predict_destroy(p);
}

static void test_refused(void **state) {
  (void)state;
  tesela_prediction *p = (tesela_prediction *)&p;
  tesela_error err;
  assert_int_equal(tesela_predict_create(&p, stablehlo, strlen(stablehlo), "v1", NULL, &err),
                   TESELA_E_INVALID);
  assert_null(p);
  const char *dynamic = "func.func @main(%x: tensor<4xf32>, %y: tensor<?xf32>) { }";
  assert_int_equal(tesela_predict_create(&p, dynamic, strlen(dynamic), "v4", NULL, &err),
                   TESELA_E_UNSUPPORTED);
  assert_int_equal(err.at, strstr(dynamic, "tensor<?") - dynamic);
  assert_non_null(strstr(err.message, "argument 1 (%y): "));
}

static void test_no_memory(void **state) {
  (void)state;
  static const char *const texts[] = {stablehlo, hlo};
  for (int i = 0; i < 2; i++) {
    fault f = {.countdown = 0};
    tesela_status status = TESELA_E_MEMORY;
    for (int64_t n = 0; status != TESELA_OK; n++) {
      tesela_prediction *p;
      f.countdown = n;
      tesela_allocator allocator = fault_allocator(&f);
      status = tesela_predict_create(&p, texts[i], strlen(texts[i]), "v5e", &allocator, NULL);
      assert_int_equal(status, p ? TESELA_OK : TESELA_E_MEMORY);
      tesela_predict_destroy(p);
      assert_int_equal(f.live, 0);
      assert_true(n < 100 && (n >= 2 || !p));
    }
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(test_example), cmocka_unit_test(test_refused),
                                     cmocka_unit_test(test_no_memory)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
