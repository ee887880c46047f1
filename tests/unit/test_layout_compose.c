/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_layout_compose.c - composition of layouts against its definition, element by element of their tables
 * (support_recipe.h).
 */
#include "support_recipe.h"
#include "support_seed.h"

/* A shape of at least n elements. */
static void shape_for(int64_t n, int32_t *rank, int64_t *shape) {
  if (n < 1) n = 1;
  *rank = 1 + (int32_t)recipe_below(3);
  for (int32_t d = 0; d < *rank; d++) {
    shape[d] = d + 1 < *rank ? 1 + recipe_below(n < 7 ? n : 7) : n + recipe_below(3);
    n = (n + shape[d] - 1) / shape[d];
  }
}

/* The table of the composition, element by element. */
static void tabulate_both(const table *outer, const table *inner, table *both) {
  both->r = inner->r;
  both->r.n_axes = outer->r.n_axes;
  both->n_elements = inner->n_elements;
  for (int64_t e = 0; e < inner->n_elements; e++) {
    int64_t middle = inner->first[e];
    both->n_keys[e] = outer->n_keys[middle];
    memcpy(both->key[e], outer->key[middle], sizeof both->key[e]);
  }
}

static void composition_agrees_with_its_definition(void **state) {
  (void)state;
  static table inner, outer, both, others;
  memset(&recipe_told, 0, sizeof recipe_told);
  int64_t tried = 0;
  for (uint64_t i = 0; i < 2 * recipe_seeds(); i++) {
    int32_t rank;
    int64_t shape[4];
    table_draw(&inner, first_seed() + i, i % 2 ? &recipe_joined : &recipe_small);
    if (inner.r.n_axes > 1 && !recipe_one_in(4)) continue;
    int64_t places = inner.layout.axis[0].extent;
    if (places > MOST_ROWS / 4) continue;
    shape_for(recipe_one_in(8) ? 1 + places / 2 : places, &rank, shape);
    recipe_begin(&outer.r, rank, shape);
    recipe_draw_parts(&outer.r, recipe_draw_axes(), &recipe_small);
    if (recipe_one_in(16)) outer.r.bits = 16;
    if (recipe_elements(&outer.r) > MOST_ROWS || !table_realize(&outer)) continue;
    bool fits = inner.r.n_axes == 1 && inner.n_copies == 1 && places <= outer.n_elements &&
                inner.r.bits == outer.r.bits;
    tesela_error err;
    tesela_status status = tesela_layout_compose(&outer.layout, &inner.layout, &both.layout, &err);
    if (recipe_is_swizzled(&inner.r) && status == TESELA_E_MISMATCH) continue;
    if (status != (fits ? TESELA_OK : TESELA_E_MISMATCH))
      fail_msg("compose: %d (%s)%s%s", status, err.message, recipe_text(&outer.r), recipe_text(&inner.r));
    if (!fits) continue;
    tried++;
    tabulate_both(&outer, &inner, &both);
    for (int a = 0; a < both.layout.n_axes; a++)
      AGREE(&outer.r, "extent", both.layout.axis[a].extent, outer.layout.axis[a].extent);
    recipe_check_relation(&inner.r, &both.layout, inner.n_elements, &both.key[0][0], both.n_keys, false);
    recipe_change(&outer.r); /* and compared to the composition with another one */
    if (!table_realize(&outer)) continue;
    if (recipe_is_swizzled(&inner.r) &&
        tesela_layout_compose(&outer.layout, &inner.layout, &others.layout, &err) == TESELA_E_MISMATCH)
      continue;
    OK(&inner.r, tesela_layout_compose(&outer.layout, &inner.layout, &others.layout, &e_));
    tabulate_both(&outer, &inner, &others);
    recipe_check_comparison(&both, &others);
  }
  printf("compared compositions: %" PRId64 " same, %" PRId64 " different, %" PRId64 " undecided\n",
         recipe_told.same, recipe_told.differ, recipe_told.undecided);
  assert_true(tried > (int64_t)recipe_seeds() / 10 && recipe_told.undecided * 100 <= tried);
}

/* Digits of powers of two in a random order on one axis, some with gaps; sometimes a swizzle. */
static void draw_powers(tesela_layout *out, int32_t rank, const int64_t *shape, bool swizzled) {
  int32_t digit[8], n = rank, axis;
  assert_int_equal(tesela_layout_begin(out, TESELA_F16, 16, rank, shape, NULL), TESELA_OK);
  assert_int_equal(tesela_layout_add_axis(out, "memory", &axis, NULL), TESELA_OK);
  for (int32_t d = 0; d < rank; d++) digit[d] = d;
  for (int32_t d = 0; d < rank; d++, n++)
    assert_int_equal(tesela_layout_split(out, d, (int64_t)1 << recipe_below(3), &digit[n], NULL), TESELA_OK);
  int64_t stride = 1;
  for (; n > 0; n--) {
    int32_t pick = (int32_t)recipe_below(n), i = digit[pick];
    digit[pick] = digit[n - 1];
    int64_t extent = out->digit[i].extent;
    assert_int_equal(tesela_layout_place(out, i, axis, stride, NULL), TESELA_OK);
    stride *= extent;
    if (!swizzled && recipe_one_in(8)) stride += recipe_below(3) * 2;
  }
  int64_t offset = !swizzled && recipe_one_in(4) ? recipe_below(9) : 0;
  assert_int_equal(tesela_layout_set_axis(out, axis, offset, -1, NULL), TESELA_OK);
  if (swizzled || recipe_one_in(3)) {
    int16_t bits = (int16_t)(1 + recipe_below(2));
    tesela_swizzle swizzle = {0, bits, (int16_t)recipe_below(2), (int16_t)(bits + recipe_below(2))};
    if (recipe_one_in(3)) swizzle.shift = (int16_t)-swizzle.shift;
    assert_int_equal(tesela_layout_add_swizzle(out, swizzle, NULL), TESELA_OK);
  }
  assert_int_equal(tesela_layout_finish(out, NULL), TESELA_OK);
}

/* Inner has a swizzle, outer powers of two: often it moves to outer's places. */
static void swizzles_of_inner_layouts_move(void **state) {
  (void)state;
  static table some;
  int64_t moved = 0, refused = 0;
  table_draw(&some, first_seed(), &recipe_small); /* sets the seed */
  for (uint64_t i = 0; i < recipe_seeds(); i++) {
    const int64_t a[2] = {(int64_t)4 << recipe_below(2), 8}, b[2] = {8, (int64_t)8 << recipe_below(3)};
    tesela_layout inner, outer, both;
    draw_powers(&inner, 2, a, true);
    draw_powers(&outer, 2, b, false);
    tesela_status status = tesela_layout_compose(&outer, &inner, &both, NULL);
    if (status == TESELA_E_MISMATCH) {
      refused++;
      continue;
    }
    assert_int_equal(status, TESELA_OK);
    moved++;
    int64_t index[2] = {0};
    do {
      int64_t middle, want, got;
      assert_int_equal(tesela_layout_place_of(&inner, index, &middle, NULL), TESELA_OK);
      const int64_t element[2] = {middle / b[1], middle % b[1]};
      assert_int_equal(tesela_layout_place_of(&outer, element, &want, NULL), TESELA_OK);
      assert_int_equal(tesela_layout_place_of(&both, index, &got, NULL), TESELA_OK);
      if (want != got) fail_msg("case %" PRIu64 ": place %" PRId64 ", not %" PRId64, i, got, want);
    } while (tesela_index_next(2, a, index));
  }
  printf("swizzles of inner layouts: %" PRId64 " moved, %" PRId64 " refused\n", moved, refused);
  assert_true(10 * moved > refused && 10 * refused > moved);
}

static void composition_is_associative(void **state) {
  (void)state;
  static table inner, middle, outer;
  static tesela_layout low, high, left, right;
  int64_t tried = 0, undecided = 0;
  for (uint64_t i = 0; i < recipe_seeds(); i++) {
    int32_t rank;
    int64_t shape[4];
    tesela_difference difference;
    table_draw(&inner, first_seed() + i, &recipe_joined);
    if (inner.layout.axis[0].extent > 100) continue;
    shape_for(inner.layout.axis[0].extent, &rank, shape);
    recipe_begin(&middle.r, rank, shape);
    recipe_draw_parts(&middle.r, 1, &recipe_joined);
    if (recipe_build(&middle.r, &middle.layout, NULL) != TESELA_OK || middle.layout.axis[0].extent > 600)
      continue;
    shape_for(middle.layout.axis[0].extent, &rank, shape);
    recipe_begin(&outer.r, rank, shape);
    recipe_draw_parts(&outer.r, recipe_draw_axes(), &recipe_small);
    if (recipe_build(&outer.r, &outer.layout, NULL) != TESELA_OK) continue;
    OK(&inner.r, tesela_layout_compose(&middle.layout, &inner.layout, &low, &e_));
    OK(&inner.r, tesela_layout_compose(&outer.layout, &low, &left, &e_));
    OK(&inner.r, tesela_layout_compose(&outer.layout, &middle.layout, &high, &e_));
    OK(&inner.r, tesela_layout_compose(&high, &inner.layout, &right, &e_));
    tried++;
    tesela_status status = tesela_layout_compare(&left, &right, &difference, NULL);
    undecided += status != TESELA_OK;
    if (status == TESELA_OK && !difference.same)
      fail_msg("not associative%s%s%s", recipe_text(&outer.r), recipe_text(&middle.r), recipe_text(&inner.r));
  }
  printf("threefold compositions: %" PRId64 ", %" PRId64 " undecided\n", tried, undecided);
  assert_true(tried > 0 && undecided * 100 <= tried);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(composition_agrees_with_its_definition),
      cmocka_unit_test(swizzles_of_inner_layouts_move),
      cmocka_unit_test(composition_is_associative),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
