/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_device_targets.c - targets: what the built-in ones are, those that contradict themselves, names of
 * types and functions.
 */
#include "support_device.h"

static void targets(void **state) {
  (void)state;
  tesela_target_type type;
  int64_t lanes;
  const tesela_target *spyre = tesela_target_find("spyre");
  assert_null(tesela_target_find("spire"));
  assert_null(tesela_target_at(2));
  assert_null(tesela_target_at(-1));
  for (int32_t k = 0; tesela_target_at(k); k++) OK(tesela_target_check(tesela_target_at(k), &e_));
  /* lanes by the device's type: the table of device.md a1 */
  static const struct {
    tesela_dtype host, device;
    int64_t lanes;
  } rows[] = {{TESELA_F16, TESELA_F16, 64}, {TESELA_BF16, TESELA_F16, 64}, {TESELA_PRED, TESELA_F16, 64},
              {TESELA_F32, TESELA_F32, 32}, {TESELA_S64, TESELA_S32, 32},  {TESELA_S32, TESELA_S32, 32},
              {TESELA_S8, TESELA_S8, 128},  {TESELA_U8, TESELA_U32, 32}};
  for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
    OK(tesela_target_type_of(spyre, rows[i].host, &type, &lanes, &e_));
    assert_int_equal(type.device, rows[i].device);
    assert_int_equal(lanes, rows[i].lanes);
  }
  assert_int_equal(tesela_target_type_of(spyre, TESELA_F64, &type, NULL, NULL), TESELA_E_UNSUPPORTED);
  assert_int_equal(tesela_target_type_of(spyre, TESELA_DTYPE_NONE, &type, NULL, NULL), TESELA_E_UNSUPPORTED);
  tesela_target plain;
  assert_int_equal(tesela_target_plain(&plain, 0, NULL), TESELA_E_RANGE);
  assert_int_equal(tesela_target_plain(&plain, (1 << 20) + 1, NULL), TESELA_E_RANGE);
  OK(tesela_target_plain(&plain, 256, &e_));
  OK(tesela_target_check(&plain, &e_));
  OK(tesela_target_type_of(&plain, TESELA_C128, &type, &lanes, &e_));
  assert_int_equal(lanes, 16);
  tesela_device_host host;
  int64_t shape[8] = {1, 1, 1, 1, 1, 1, 1, 1};
  assert_int_equal(tesela_device_host_of(&host, spyre, TESELA_F16, 7, shape, NULL), TESELA_E_LIMIT);
  shape[1] = -1;
  assert_int_equal(tesela_device_host_of(&host, spyre, TESELA_F16, 2, shape, NULL), TESELA_E_RANGE);
  shape[0] = shape[1] = (int64_t)1 << 40;
  assert_int_equal(tesela_device_host_of(&host, spyre, TESELA_F16, 2, shape, NULL), TESELA_E_OVERFLOW);
}

static void targets_that_contradict(void **state) {
  (void)state;
  tesela_target good = *tesela_target_find("tiles"), bad;
#define BAD(change, expected)                                    \
  do {                                                           \
    bad = good;                                                  \
    change;                                                      \
    assert_int_equal(tesela_target_check(&bad, NULL), expected); \
  } while (0)
  BAD(bad.name[0] = '\0', TESELA_E_INVALID);
  BAD(memset(bad.name, 'x', sizeof bad.name), TESELA_E_INVALID);
  BAD(bad.stick_bytes = 0, TESELA_E_RANGE);
  BAD(bad.alignment = 0, TESELA_E_RANGE);
  BAD(bad.max_rank = TESELA_MAX_RANK + 1, TESELA_E_RANGE);
  BAD(bad.order = (tesela_order)9, TESELA_E_RANGE);
  BAD(bad.order = TESELA_ORDER_GENERIC, TESELA_E_INVALID); /* with tiles */
  BAD(bad.n_tiles = 0, TESELA_E_RANGE);
  BAD(bad.tile[1][0] = 0, TESELA_E_RANGE);
  BAD(bad.tile[1][0] = 12, TESELA_E_INVALID);
  BAD(bad.cores = -1, TESELA_E_RANGE);
  BAD(bad.dma.max_burst = -1, TESELA_E_RANGE);
  BAD(bad.n_types = TESELA_TARGET_TYPES + 1, TESELA_E_RANGE);
  BAD(bad.type[1].host = bad.type[0].host, TESELA_E_INVALID);
  BAD(bad.type[1].device_bits = 12, TESELA_E_RANGE);
  BAD(bad.type[1].device_bits = 8, TESELA_E_RANGE);
  BAD(bad.n_rules = TESELA_TARGET_RULES + 1, TESELA_E_RANGE);
  BAD((bad.n_rules = 1, bad.rule[0].operand = -3), TESELA_E_RANGE);
#undef BAD
}

static void names_and_back(void **state) {
  (void)state;
  for (int32_t k = 0; tesela_order_name((tesela_order)k); k++)
    assert_int_equal(
        tesela_order_find(tesela_order_name((tesela_order)k), strlen(tesela_order_name((tesela_order)k))), k);
  for (int32_t k = 0; tesela_op_name((tesela_op)k); k++)
    assert_int_equal(tesela_op_find(tesela_op_name((tesela_op)k), strlen(tesela_op_name((tesela_op)k))), k);
  for (int32_t k = 0; tesela_fn_name((tesela_fn)k); k++)
    assert_int_equal(tesela_fn_find(tesela_fn_name((tesela_fn)k), strlen(tesela_fn_name((tesela_fn)k))), k);
  for (int32_t k = 0; tesela_need_name((tesela_need)k); k++)
    assert_int_equal(
        tesela_need_find(tesela_need_name((tesela_need)k), strlen(tesela_need_name((tesela_need)k))), k);
  for (int32_t k = 0; tesela_yield_name((tesela_yield)k); k++)
    assert_int_equal(
        tesela_yield_find(tesela_yield_name((tesela_yield)k), strlen(tesela_yield_name((tesela_yield)k))), k);
  assert_string_equal(tesela_op_name(TESELA_OP_MATMUL), "matmul");
  assert_int_equal(tesela_op_find("matmulx", 6), TESELA_OP_MATMUL);
  assert_int_equal(tesela_op_find("matmulx", 7), -1);
  assert_null(tesela_op_name((tesela_op)-1));
  assert_int_equal(tesela_fn_operands(TESELA_FN_SELECT), 3);
  assert_int_equal(tesela_fn_operands(TESELA_FN_SUM), 0);
  assert_int_equal(tesela_fn_operands((tesela_fn)1000), -1);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(targets),
      cmocka_unit_test(targets_that_contradict),
      cmocka_unit_test(names_and_back),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
