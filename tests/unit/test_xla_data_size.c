/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_xla_data_size.c - bytes up to the last element against the oracle's places; bytes of serialized values.
 */
#include "support_seed.h"
#include "support_xla.h"

static const struct {
  const char *shape;
  int64_t bytes;
} data_rows[] = {
    {"f32[3,5]{1,0}", 60},
    {"f32[3,5]{1,0:T(2,2)}", 84},                        /* (2,4) at 20 */
    {"f32[]{:T(128)}", 4},                               /* one element at 0 */
    {"f32[0,5]{1,0:T(8,128)}", 0},                       /* none */
    {"f32[3]{0:L(8)}", 12},                              /* the tail is padding */
    {"f32[8]{0:T(2,2)}", 56},                            /* element 7 at 3 * 4 + 1 = 13 */
    {"s4[5]{0:E(4)}", 3},                                /* 20 bits */
    {"pred[3,5]{1,0:E(1)}", 2},                          /* 15 bits */
    {"bf16[28,128]{1,0:T(8,128)(2,1,1,1)}", 8190},       /* (23,127) at 4094, after (27,127) at 3071 */
    {"f32[2,7,8,11,10]{4,3,2,1,0:T(*,*,2,*,3)}", 49724}, /* (1,6,7,10,9) at 12430 */
    {"f32[1000000,500000]{1,0:T(8,1024)}",
     2002943997056}, /* tile 124999 * 489 + 488; row 7, column 287 in it */
};

static void data_reach_up_to_the_last_element(void **state) {
  (void)state;
  for (size_t r = 0; r < sizeof data_rows / sizeof data_rows[0]; r++) {
    tesela_xla_shape shape = shape_of(data_rows[r].shape);
    int64_t bytes = -1;
    OK(tesela_xla_data_bytes(&shape, &bytes, &e_));
    AGREE(data_rows[r].shape, bytes, data_rows[r].bytes);
  }
}

static void data_reach_as_far_as_the_oracle_says(void **state) {
  (void)state;
  enum { ARRAYS = 4000 };
  uint64_t seed = first_seed();
  int not_the_last_index = 0, joined = 0;
  for (uint64_t k = 0; k < ARRAYS; k++) {
    struct oracle_array array;
    const char *type;
    char text[TEXT];
    int64_t index[ORACLE_MAX_RANK], largest = -1, last = -1, bytes;
    oracle_random(seed + k, ORACLE_RANDOM_ELEMENTS, &array, &type);
    oracle_print(&array, type, text, sizeof text);
    for (int64_t n = 0; n < oracle_count(&array); n++) {
      oracle_index(&array, n, index);
      last = oracle_place(&array, index);
      if (last > largest) largest = last;
    }
    tesela_xla_shape shape = shape_of_array(&array, type);
    OK(tesela_xla_data_bytes(&shape, &bytes, &e_));
    AGREE(text, bytes, ((largest + 1) * array.bits + 7) / 8);
    not_the_last_index += last != largest;
    joined += strchr(text, '*') != NULL;
  }
  if (not_the_last_index < 20 || joined < 200)
    fail_msg("only %d arrays end elsewhere, %d have joins", not_the_last_index, joined);
}

/* Columns of tiles and rows inside them join to 4666670, cut after 4000001: the second piece is mostly padding. */
static void long_padding_behind_a_join_is_refused(void **state) {
  (void)state;
  tesela_xla_shape shape = shape_of("f32[5,7000003]{1,0:T(2,3)(*,4000001,2)}");
  int64_t bytes = -7;
  assert_int_equal(tesela_xla_data_bytes(&shape, &bytes, NULL), TESELA_E_UNSUPPORTED);
  assert_int_equal(bytes, -7);
}

static const struct {
  const char *shape;
  int64_t bytes;
} serialized_rows[] = {
    {"pred[3,5]{1,0:T(8,128)}", 2},
    {"pred[8]{0}", 1},
    {"pred[9]{0}", 2},
    {"s1[9]{0}", 2},
    {"u2[9]{0}", 3},
    {"s4[9]{0}", 5},
    {"f4e2m1fn[2]{0}", 1},
    {"f6e3m2fn[9]{0:E(6)}", 9},
    {"f32[3,5]{1,0:T(8,128)}", 60},
    {"f32[]", 4},
    {"bf16[3,5]{1,0:E(8)}", 15},
    {"f32[<=3,5]{1,0}", 68},
    {"c128[2]{0}", 32},
    {"f32[0]{0}", 0},
};

static void serialized_values_are_dense(void **state) {
  (void)state;
  for (size_t r = 0; r < sizeof serialized_rows / sizeof serialized_rows[0]; r++) {
    tesela_xla_shape shape = shape_of(serialized_rows[r].shape);
    int64_t bytes = -1;
    OK(tesela_xla_serialized_bytes(&shape, &bytes, &e_));
    AGREE(serialized_rows[r].shape, bytes, serialized_rows[r].bytes);
  }
}

static void what_has_no_size_is_refused(void **state) {
  (void)state;
  static const char *const texts[] = {"token[]", "opaque[]", "f32[2,?]"};
  for (size_t r = 0; r < sizeof texts / sizeof texts[0]; r++) {
    tesela_xla_shape shape = shape_of(texts[r]);
    int64_t bytes = -7;
    AGREE(texts[r], tesela_xla_data_bytes(&shape, &bytes, NULL), TESELA_E_UNSUPPORTED);
    AGREE(texts[r], tesela_xla_serialized_bytes(&shape, &bytes, NULL), TESELA_E_UNSUPPORTED);
    AGREE(texts[r], bytes, -7);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(data_reach_up_to_the_last_element),
      cmocka_unit_test(data_reach_as_far_as_the_oracle_says),
      cmocka_unit_test(long_padding_behind_a_join_is_refused),
      cmocka_unit_test(serialized_values_are_dense),
      cmocka_unit_test(what_has_no_size_is_refused),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
