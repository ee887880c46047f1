/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_index.c - indices and element numbers against nested counting.
 */
#include "support_xla.h"

static const struct {
  const char *name;
  int32_t rank;
  int64_t shape[4];
  int32_t order[4]; /* fastest first */
} count_rows[] = {
    {"row-major", 3, {2, 3, 4}, {2, 1, 0}},
    {"the first dim fastest", 3, {2, 3, 4}, {0, 1, 2}},
    {"mixed, with a one", 4, {3, 1, 2, 5}, {1, 3, 0, 2}},
    {"a vector", 1, {7}, {0}},
    {"a scalar", 0, {0}, {0}},
};

/* Counts like an odometer whose wheels are the dims in the given order. */
static void numbers_count_in_the_order_of_the_dims(void **state) {
  (void)state;
  for (size_t r = 0; r < sizeof count_rows / sizeof count_rows[0]; r++) {
    const char *name = count_rows[r].name;
    int32_t rank = count_rows[r].rank;
    const int64_t *shape = count_rows[r].shape;
    int64_t index[4] = {0}, back[4] = {0}, number, elements = 1;
    for (int32_t d = 0; d < rank; d++) elements *= shape[d];
    for (int64_t n = 0; n < elements; n++) {
      OK(tesela_index_to_number(rank, shape, count_rows[r].order, index, &number, &e_));
      AGREE(name, number, n);
      OK(tesela_index_from_number(rank, shape, count_rows[r].order, n, back, &e_));
      AGREE(name, tesela_index_compare(rank, back, index), 0);
      AGREE(name, tesela_index_in_bounds(rank, shape, index), true);
      for (int32_t k = 0; k < rank; k++) {
        int32_t d = count_rows[r].order[k];
        if (++index[d] < shape[d]) break;
        index[d] = 0;
      }
    }
    assert_int_equal(tesela_index_from_number(rank, shape, NULL, elements, back, NULL), TESELA_E_RANGE);
  }
}

static void next_goes_through_all_in_row_major_order(void **state) {
  (void)state;
  static const int64_t shape[] = {2, 3, 4};
  int64_t index[3] = {0}, before[3], number, seen = 0;
  do {
    OK(tesela_index_to_number(3, shape, NULL, index, &number, &e_));
    AGREE("number", number, seen++);
    for (int d = 0; d < 3; d++) before[d] = index[d];
    AGREE("itself", tesela_index_compare(3, index, index), 0);
    bool more = tesela_index_next(3, shape, index);
    AGREE("the next one stands behind", tesela_index_compare(3, before, index), more ? -1 : 1);
    AGREE("this one in front", tesela_index_compare(3, index, before), more ? 1 : -1);
    if (!more) break;
  } while (seen < 100);
  AGREE("all", seen, 24);
  AGREE("starts again", index[0] + index[1] + index[2], 0);
  AGREE("a scalar has one element", tesela_index_next(0, NULL, NULL), false);
}

static void what_is_no_index_is_refused(void **state) {
  (void)state;
  static const int64_t shape[] = {3, 5}, high[] = {3, 0}, low[] = {0, -1}, huge[] = {INT64_MAX, 2};
  static const int64_t inside[] = {2, 3}, negative[] = {3, -5};
  static const int32_t twice[] = {1, 1}, far[] = {0, 2};
  int64_t number = -7;
  assert_int_equal(tesela_index_to_number(2, shape, NULL, high, &number, NULL), TESELA_E_RANGE);
  assert_int_equal(tesela_index_to_number(2, shape, NULL, low, &number, NULL), TESELA_E_RANGE);
  assert_int_equal(tesela_index_to_number(2, negative, NULL, inside, &number, NULL), TESELA_E_RANGE);
  assert_int_equal(tesela_index_to_number(2, shape, twice, inside, &number, NULL), TESELA_E_INVALID);
  assert_int_equal(tesela_index_to_number(2, shape, far, inside, &number, NULL), TESELA_E_INVALID);
  assert_int_equal(tesela_index_to_number(33, shape, NULL, inside, &number, NULL), TESELA_E_LIMIT);
  assert_int_equal(tesela_index_to_number(2, huge, NULL, inside, &number, NULL), TESELA_E_OVERFLOW);
  assert_int_equal(number, -7);
  assert_int_equal(tesela_index_from_number(2, shape, NULL, -1, &number, NULL), TESELA_E_RANGE);
  assert_false(tesela_index_in_bounds(2, shape, high));
  assert_false(tesela_index_in_bounds(2, shape, low));
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(numbers_count_in_the_order_of_the_dims),
      cmocka_unit_test(next_goes_through_all_in_row_major_order),
      cmocka_unit_test(what_is_no_index_is_refused),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
