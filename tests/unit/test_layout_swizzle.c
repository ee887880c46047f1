/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_layout_swizzle.c - bit matrices over the places of several axes: large ones, against their definition. Small ones of all
 * forms are part of the recipes (support_recipe.h) of the other tests.
 */
#include "support_recipe.h"
#include "support_seed.h"

enum { AXES = 3 };

/* A matrix over listed bits, and an array of bits in which dim a is axis a. */
typedef struct drawn {
  int32_t n, bits[AXES]; /* bits of each axis; all of them are listed */
  tesela_axis_bit bit[64];
  uint64_t image[64];
  tesela_layout layout;
} drawn;

static void draw_matrix(drawn *m) {
  m->n = 0;
  int32_t left = 64;
  for (int a = 0; a < AXES; a++) {
    m->bits[a] = (int32_t)recipe_below(left < 30 ? left + 1 : 31);
    left -= m->bits[a];
    for (int32_t k = 0; k < m->bits[a]; k++) {
      m->image[m->n] = (uint64_t)1 << m->n;
      m->bit[m->n++] = (tesela_axis_bit){(int16_t)a, (int16_t)k};
    }
  }
  for (int64_t times = m->n > 1 ? recipe_below(500) : 0; times > 0; times--) { /* keeps the inverse */
    int64_t a = recipe_below(m->n), b = recipe_below(m->n);
    if (a != b) m->image[a] ^= m->image[b];
  }
  for (int k = m->n - 1; k > 0; k--) { /* the list in another order: images are over the list */
    int64_t other = recipe_below(k + 1);
    tesela_axis_bit swap = m->bit[k];
    m->bit[k] = m->bit[other];
    m->bit[other] = swap;
  }
}

static void begin(drawn *m) {
  int64_t shape[AXES];
  int32_t axis;
  for (int a = 0; a < AXES; a++) shape[a] = (int64_t)1 << m->bits[a];
  if (m->n > 62) shape[0] >>= m->n - 62; /* the number of elements fits in 62 bits; the axis stays */
  OK(NULL, tesela_layout_begin(&m->layout, TESELA_DTYPE_NONE, 8, AXES, shape, &e_));
  for (int a = 0; a < AXES; a++) {
    char name[2] = {(char)('a' + a), 0};
    OK(NULL, tesela_layout_add_axis(&m->layout, name, &axis, &e_));
    OK(NULL, tesela_layout_place(&m->layout, a, axis, 1, &e_));
    OK(NULL, tesela_layout_set_axis(&m->layout, axis, 0, (int64_t)1 << m->bits[a], &e_));
  }
}

static uint64_t sum_of(const drawn *m, const int64_t *place) {
  uint64_t sum = 0;
  for (int k = 0; k < m->n; k++)
    if (place[m->bit[k].axis] >> m->bit[k].bit & 1) sum ^= m->image[k];
  return sum;
}

static void scatter(const drawn *m, uint64_t word, int64_t *place) {
  for (int a = 0; a < AXES; a++) place[a] = 0;
  for (int k = 0; k < m->n; k++) place[m->bit[k].axis] |= (int64_t)(word >> k & 1) << m->bit[k].bit;
}

static void places_are_sums_of_images(void **state) {
  (void)state;
  static drawn m;
  for (uint64_t i = 0; i < recipe_seeds() / 4; i++) {
    int64_t index[AXES], want[AXES], place[AXES], back[AXES];
    bool padding;
    recipe_seed(first_seed() + i);
    draw_matrix(&m);
    begin(&m);
    OK(NULL, tesela_layout_add_bit_matrix(&m.layout, m.n, m.bit, m.image, &e_));
    OK(NULL, tesela_layout_finish(&m.layout, &e_));
    for (int times = 0; times < 8; times++) {
      for (int a = 0; a < AXES; a++) index[a] = recipe_below(m.layout.shape[a]);
      scatter(&m, sum_of(&m, index), want);
      OK(NULL, tesela_layout_place_of(&m.layout, index, place, &e_));
      for (int a = 0; a < AXES; a++) assert_int_equal(place[a], want[a]);
      OK(NULL, tesela_layout_element_at(&m.layout, place, back, &padding, &e_));
      assert_false(padding);
      for (int a = 0; a < AXES; a++) assert_int_equal(back[a], index[a]);
    }
  }
}

/* Stages one after the other are their product, in one stage; a stage and its inverse leave nothing. */
static void stages_are_multiplied(void **state) {
  (void)state;
  static drawn m, other;
  for (uint64_t i = 0; i < recipe_seeds() / 8; i++) {
    uint64_t product[64];
    tesela_difference difference;
    recipe_seed(first_seed() + i);
    draw_matrix(&m);
    if (m.n == 0) continue;
    other = m;
    uint64_t second[64];
    for (int k = 0; k < m.n; k++) second[k] = (uint64_t)1 << k;
    for (int64_t times = recipe_below(200); times > 0 && m.n > 1; times--) {
      int64_t a = recipe_below(m.n), b = recipe_below(m.n);
      if (a != b) second[a] ^= second[b];
    }
    for (int k = 0; k < m.n; k++) {
      product[k] = 0;
      for (int l = 0; l < m.n; l++)
        if (m.image[k] >> l & 1) product[k] ^= second[l];
    }
    begin(&m);
    begin(&other);
    OK(NULL, tesela_layout_add_bit_matrix(&m.layout, m.n, m.bit, m.image, &e_));
    OK(NULL, tesela_layout_add_bit_matrix(&m.layout, m.n, m.bit, second, &e_));
    OK(NULL, tesela_layout_add_bit_matrix(&other.layout, m.n, m.bit, product, &e_));
    assert_memory_equal(&m.layout.swizzle, &other.layout.swizzle, sizeof m.layout.swizzle);
    OK(NULL, tesela_layout_finish(&m.layout, &e_));
    OK(NULL, tesela_layout_finish(&other.layout, &e_));
    OK(NULL, tesela_layout_compare(&m.layout, &other.layout, &difference, &e_));
    assert_true(difference.same);
  }
  const tesela_swizzle stage = {0, 3, 2, 4};
  tesela_layout layout;
  const int64_t shape[1] = {1024};
  assert_int_equal(tesela_layout_begin(&layout, TESELA_DTYPE_NONE, 8, 1, shape, NULL), TESELA_OK);
  assert_int_equal(tesela_layout_add_axis(&layout, "memory", &(int32_t){0}, NULL), TESELA_OK);
  assert_int_equal(tesela_layout_add_swizzle(&layout, stage, NULL), TESELA_OK);
  assert_int_equal(layout.swizzle.n, 9); /* bits 2 to 4 and 6 to 8 */
  assert_int_equal(tesela_layout_add_swizzle(&layout, stage, NULL), TESELA_OK);
  assert_int_equal(layout.swizzle.n, 0);
}

/* The bits of each dim are placed by strides in one layout, in the other first in order, then by a matrix. The layouts have up to
 * 2^62 elements, so they are compared without looking at each. */
static void bits_by_strides_and_by_a_matrix_are_the_same(void **state) {
  (void)state;
  int64_t same = 0, differ = 0;
  for (uint64_t i = 0; i < recipe_seeds() / 4; i++) {
    static tesela_layout strides, matrix;
    tesela_axis_bit bit[64];
    uint64_t image[64];
    int32_t n = 0, axis, order[64], rank = 1 + (int32_t)(i % 3);
    int64_t shape[3];
    tesela_difference difference;
    recipe_seed(first_seed() + i);
    for (int d = 0; d < rank; d++) {
      int32_t bits = (int32_t)recipe_below(21);
      shape[d] = (int64_t)1 << bits;
      n += bits;
    }
    for (int k = 0; k < n; k++) {
      int64_t other = recipe_below(k + 1);
      order[k] = order[other];
      order[other] = k;
    }
    int32_t changed = n > 0 && recipe_one_in(2) ? (int32_t)recipe_below(n) : -1;
    OK(NULL, tesela_layout_begin(&strides, TESELA_DTYPE_NONE, 8, rank, shape, &e_));
    OK(NULL, tesela_layout_begin(&matrix, TESELA_DTYPE_NONE, 8, rank, shape, &e_));
    OK(NULL, tesela_layout_add_axis(&strides, "memory", &axis, &e_));
    OK(NULL, tesela_layout_add_axis(&matrix, "memory", &axis, &e_));
    int32_t digits[3] = {0, 1, 2}, at = 0;
    OK(NULL, tesela_layout_place_row_major(&matrix, rank, digits, axis, 1, NULL, &e_));
    for (int d = rank - 1; d >= 0; d--) { /* bit `at` of the row-major number goes to bit order[at] */
      int32_t digit = d, low;
      int64_t bits = 0;
      while ((int64_t)1 << bits < shape[d]) bits++;
      for (int64_t k = bits - 1; k > 0; k--) {
        OK(NULL, tesela_layout_split(&strides, digit, (int64_t)1 << k, &low, &e_));
        OK(NULL, tesela_layout_place(&strides, digit, axis, (int64_t)1 << order[at + k], &e_));
        digit = low;
      }
      OK(NULL, tesela_layout_place(&strides, digit, axis, bits > 0 ? (int64_t)1 << order[at] : 0, &e_));
      at += (int32_t)bits;
    }
    for (int k = 0; k < n; k++) {
      bit[k] = (tesela_axis_bit){0, (int16_t)k};
      image[k] = (uint64_t)1 << order[k];
    }
    if (changed >= 0 && n > 1) image[changed] ^= image[(changed + 1) % n];
    OK(NULL, tesela_layout_add_bit_matrix(&matrix, n, bit, image, &e_));
    OK(NULL, tesela_layout_finish(&strides, &e_));
    OK(NULL, tesela_layout_finish(&matrix, &e_));
    OK(NULL, tesela_layout_compare(&strides, &matrix, &difference, &e_));
    assert_int_equal(difference.same, changed < 0 || n == 1);
    same += difference.same;
    differ += !difference.same;
    if (difference.same) continue;
    int64_t number; /* the first element with that bit, row-major */
    OK(NULL, tesela_index_to_number(rank, shape, NULL, difference.index, &number, &e_));
    assert_int_equal(number, (int64_t)1 << changed);
  }
  printf("%" PRId64 " same, %" PRId64 " different\n", same, differ);
  assert_true(same > 0 && differ > 0);
}

static void what_is_no_matrix_is_refused(void **state) {
  (void)state;
  tesela_layout layout;
  tesela_error err;
  int32_t axis;
  const int64_t shape[1] = {8};
  const tesela_axis_bit bits[2] = {{0, 0}, {0, 2}}, twice[2] = {{0, 1}, {0, 1}}, beyond[2] = {{0, 0}, {1, 0}},
                        high[1] = {{0, 62}};
  const uint64_t exchange[2] = {2, 1}, singular[2] = {3, 3}, zero[2] = {1, 0}, wide_image[2] = {1, 4};
  assert_int_equal(tesela_layout_begin(&layout, TESELA_DTYPE_NONE, 8, 1, shape, NULL), TESELA_OK);
  assert_int_equal(tesela_layout_add_axis(&layout, "memory", &axis, NULL), TESELA_OK);
  assert_int_equal(tesela_layout_add_bit_matrix(&layout, 2, bits, singular, &err), TESELA_E_INVALID);
  assert_string_equal(err.message, "the bit matrix has no inverse: it would put several places in one");
  assert_int_equal(tesela_layout_add_bit_matrix(&layout, 2, bits, zero, &err), TESELA_E_INVALID);
  assert_int_equal(tesela_layout_add_bit_matrix(&layout, 2, twice, exchange, &err), TESELA_E_INVALID);
  assert_string_equal(err.message, "bit 1 of axis 0 is listed twice");
  assert_int_equal(tesela_layout_add_bit_matrix(&layout, 2, beyond, exchange, &err), TESELA_E_RANGE);
  assert_int_equal(tesela_layout_add_bit_matrix(&layout, 2, bits, wide_image, &err), TESELA_E_RANGE);
  assert_string_equal(err.message, "image 1 has bits beyond the 2 that are listed");
  assert_int_equal(tesela_layout_add_bit_matrix(&layout, 1, high, exchange, &err), TESELA_E_RANGE);
  assert_int_equal(tesela_layout_add_bit_matrix(&layout, 65, bits, exchange, &err), TESELA_E_LIMIT);
  assert_int_equal(layout.swizzle.n, 0);
  assert_int_equal(tesela_layout_add_axis(&layout, "more", &axis, NULL), TESELA_OK);
  const tesela_axis_bit far[4] = {{0, 0}, {0, 40}, {1, 0}, {1, 40}};
  const uint64_t turn[4] = {2, 4, 8, 1};
  assert_int_equal(tesela_layout_add_bit_matrix(&layout, 4, far, turn, &err), TESELA_E_LIMIT);
  assert_string_equal(err.message, "the swizzle joins 82 bits of the places; expected at most 64");
  assert_int_equal(tesela_layout_add_bit_matrix(&layout, 2, far, turn, &err), TESELA_E_RANGE);
  assert_int_equal(tesela_layout_add_bit_matrix(&layout, 2, bits, exchange, &err), TESELA_OK);
  assert_int_equal(tesela_layout_place(&layout, 0, 0, 1, NULL), TESELA_OK);
  assert_int_equal(tesela_layout_finish(&layout, NULL), TESELA_OK);
  int64_t place[2];
  for (int64_t x = 0; x < 8; x++) { /* bits 0 and 2 are exchanged: the example of the header */
    assert_int_equal(tesela_layout_place_of(&layout, &x, place, NULL), TESELA_OK);
    assert_int_equal(place[0], (x & 2) | (x & 1) << 2 | x >> 2);
  }
  assert_int_equal(tesela_layout_add_bit_matrix(&layout, 2, bits, exchange, &err), TESELA_E_INVALID);
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(places_are_sums_of_images),
                                     cmocka_unit_test(stages_are_multiplied),
                                     cmocka_unit_test(bits_by_strides_and_by_a_matrix_are_the_same),
                                     cmocka_unit_test(what_is_no_matrix_is_refused)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
