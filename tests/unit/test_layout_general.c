/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_layout_general.c - the core against the definition, for layouts of any kind: random recipes (support_recipe.h) and
 * chosen ones, and what the builder refuses.
 */
#include "support_recipe.h"
#include "support_seed.h"

static void everything_follows_the_definition(void **state) {
  (void)state;
  static table t;
  for (uint64_t i = 0; i < 2 * recipe_seeds(); i++) {
    table_draw(&t, first_seed() + i, i % 2 ? &recipe_joined : &recipe_small);
    recipe_check_all(&t);
  }
}

/* ---- rows --------------------------------------------------------------------------------------------------- */

static void row(recipe *r, int32_t rank, const int64_t *shape) {
  recipe_begin(r, rank, shape);
  r->n_axes = 1;
  r->extent[0] = -1;
}

static void stride_is(recipe *r, int x, int64_t stride) { r->node[x].stride = stride; }

static void split_replica(recipe *r) {
  row(r, 1, (const int64_t[]){3});
  int copies = recipe_add_node(r, (node){.kind = FREE, .of = TESELA_REPLICA, .by = 6, .stride = 3});
  recipe_add_split(r, copies, 2);
  stride_is(r, 0, 1);
}

static void one_slope(recipe *r) { /* 3, 2, 1 take 3 apart as 1, 0, 0; 2, 1 as 1, 1 */
  row(r, 1, (const int64_t[]){5});
  recipe_add_split(r, recipe_add_split(r, 0, 3) + 1, 2);
  stride_is(r, 4, 7);
}

static void still_join(recipe *r) {
  row(r, 1, (const int64_t[]){6});
  int high = recipe_add_split(r, 0, 2);
  stride_is(r, high + 1, 1);
  recipe_add_join(r, 1, &high, 0, 0);
}

static void broadcast_join(
    recipe *r) { /* values 0 1 2 4 6; place 1 is v = 4, and v = 3, with 0 in its place, does not occur */
  row(r, 1, (const int64_t[]){5});
  int high = recipe_add_split(r, 0, 4);
  int low = recipe_add_split(r, recipe_add_join(r, 2, (const int[]){high + 1, high}, 0, 0), 3) + 1;
  stride_is(r, low - 1, 1);
}

static void no_element(recipe *r) {
  row(r, 2, (const int64_t[]){0, 3});
  stride_is(r, 0, INT64_MIN);
  stride_is(r, 1, -1);
  r->offset[0] = -2;
  r->extent[0] = 5;
}

static void hole_in_place(recipe *r) { /* the part for 8, 16, ... is always 0, and may have a stride of 0 */
  row(r, 1, (const int64_t[]){3});
  stride_is(r, recipe_add_split(r, 0, 2), 2);
  recipe_add_split(r, 1, 4);
  stride_is(r, 2, 1);
  stride_is(r, 3, 0);
  stride_is(r, 4, 2);
}

static void twice_too_high(recipe *r) { /* 3 in tiles of 8, in tiles of 4: room for 8 */
  row(r, 1, (const int64_t[]){3});
  recipe_add_split(r, recipe_add_split(r, 0, 8) + 1, 4);
  stride_is(r, 1, 8);
  stride_is(r, 3, 4);
  stride_is(r, 4, 1);
}

static void swizzled_24(recipe *r) {
  row(r, 2, (const int64_t[]){3, 8});
  stride_is(r, 0, 8);
  stride_is(r, 1, 1);
  r->swizzle[r->n_swizzles++] = (tesela_swizzle){0, 2, 1, 2};
  r->extent[0] = 24;
}

static void backwards_in_gaps(recipe *r) {
  row(r, 2, (const int64_t[]){4, 5});
  recipe_add_split(r, 1, 3);
  stride_is(r, 0, -1);
  stride_is(r, 2, -10);
  stride_is(r, 3, 31);
  r->offset[0] = 14;
}

/* [2,3,4] as one coordinate split by 5, and with the middle dim broadcast: first apart at number 4. */
static void joined_by_5(recipe *r) {
  row(r, 3, (const int64_t[]){2, 3, 4});
  int high = recipe_add_split(r, recipe_add_join(r, 3, (const int[]){0, 1, 2}, 0, 0), 5);
  stride_is(r, high, 6);
  stride_is(r, high + 1, 1);
}

static void middle_broadcast(recipe *r) {
  row(r, 3, (const int64_t[]){2, 3, 4});
  stride_is(r, 0, 14);
  stride_is(r, 2, 1);
}

/* {0,1} + {0,1} = {0,1,2} */
static void two_and_two_copies(recipe *r) {
  row(r, 0, NULL);
  recipe_add_node(r, (node){.kind = FREE, .of = TESELA_REPLICA, .by = 2, .stride = 1});
  recipe_add_node(r, (node){.kind = FREE, .of = TESELA_REPLICA, .by = 2, .stride = 1});
}

static void three_copies(recipe *r) {
  row(r, 0, NULL);
  recipe_add_node(r, (node){.kind = FREE, .of = TESELA_REPLICA, .by = 3, .stride = 1});
}

static void rows_compare_as_enumeration_says(void **state) {
  (void)state;
  static table a, b;
  static const struct {
    void (*a)(recipe *r), (*b)(recipe *r);
  } rows[] = {
      {joined_by_5, middle_broadcast}, {two_and_two_copies, three_copies}, {split_replica, split_replica}};
  for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
    rows[i].a(&a.r);
    rows[i].b(&b.r);
    assert_true(table_realize(&a) && table_realize(&b));
    recipe_check_comparison(&a, &b);
    recipe_check_comparison(&b, &a);
  }
  assert_int_equal(recipe_told.undecided, 0);
}

static void rows_follow_the_definition(void **state) {
  (void)state;
  static table t;
  static const struct {
    const char *name;
    void (*make)(recipe *r);
  } rows[] = {
      {"a replica that is split keeps all its copies", split_replica},
      {"one slope over uneven steps is not one digit", one_slope},
      {"a join that adds nothing still takes its part", still_join},
      {"a broadcast join has no single answer", broadcast_join},
      {"an array without elements is padding wherever it would be", no_element},
      {"a part that is always 0 may have no stride", hole_in_place},
      {"parts that are always 0 take room", twice_too_high},
      {"24 swizzled places fit in 24", swizzled_24},
      {"runs go backwards too", backwards_in_gaps},
  };
  for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
    print_message("%s\n", rows[i].name);
    rows[i].make(&t.r);
    OK(&t.r, recipe_build(&t.r, &t.layout, &e_));
    table_elements(&t);
    table_places(&t);
    recipe_check_all(&t);
  }
}

static void builder_refuses_what_it_cannot_say(void **state) {
  (void)state;
  tesela_layout layout;
  int32_t copies, more, other, axis;
  memset(&layout, 0, sizeof layout); /* it is compared as bytes */
  OK(NULL, tesela_layout_begin(&layout, TESELA_F32, 32, 2, (const int64_t[]){4, 6}, &e_));
  OK(NULL, tesela_layout_add_axis(&layout, "memory", &axis, &e_));
  OK(NULL, tesela_layout_add_digit(&layout, TESELA_REPLICA, (int64_t)1 << 40, &copies, &e_));
  assert_int_equal(tesela_layout_split(&layout, copies, 3, &other, NULL), TESELA_E_INVALID);
  assert_int_equal(tesela_layout_join(&layout, 1, &copies, &other, NULL), TESELA_E_INVALID);
  assert_int_equal(tesela_layout_join(&layout, 2, (const int32_t[]){1, 1}, &other, NULL), TESELA_E_INVALID);
  OK(NULL, tesela_layout_add_digit(&layout, TESELA_REPLICA, (int64_t)1 << 40, &more, &e_));
  for (int32_t digit = 0; digit < 4; digit++) OK(NULL, tesela_layout_place(&layout, digit, axis, 1, &e_));
  tesela_error err;
  assert_int_equal(tesela_layout_finish(&layout, &err), TESELA_E_OVERFLOW); /* 2^80 copies in 2^41 places */
  assert_string_equal(err.message, "the number of copies does not fit in 64 bits");
  OK(NULL, tesela_layout_strided(&layout, TESELA_F32, 32, 1, (const int64_t[]){4}, NULL, 0, &e_));
  tesela_layout before = layout;
  assert_int_equal(tesela_layout_split(&layout, 0, 2, &other, NULL), TESELA_E_INVALID);
  assert_int_equal(tesela_layout_join(&layout, 1, (const int32_t[]){0}, &other, NULL), TESELA_E_INVALID);
  assert_int_equal(tesela_layout_place(&layout, 0, 0, 1, NULL), TESELA_E_INVALID);
  assert_int_equal(tesela_layout_add_digit(&layout, TESELA_HOLE, 2, &other, NULL), TESELA_E_INVALID);
  assert_int_equal(tesela_layout_add_axis(&layout, "more", &other, NULL), TESELA_E_INVALID);
  assert_int_equal(tesela_layout_set_axis(&layout, 0, 7, -1, NULL), TESELA_E_INVALID);
  assert_int_equal(tesela_layout_add_swizzle(&layout, (tesela_swizzle){0, 1, 0, 1}, NULL), TESELA_E_INVALID);
  assert_memory_equal(&layout, &before, sizeof layout);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(rows_follow_the_definition),
      cmocka_unit_test(rows_compare_as_enumeration_says),
      cmocka_unit_test(builder_refuses_what_it_cannot_say),
      cmocka_unit_test(everything_follows_the_definition),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
