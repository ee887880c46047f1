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
    bool fits = inner.r.n_axes == 1 && !recipe_is_swizzled(&inner.r) && inner.n_copies == 1 &&
                places <= outer.n_elements && inner.r.bits == outer.r.bits;
    tesela_error err;
    tesela_status status = tesela_layout_compose(&outer.layout, &inner.layout, &both.layout, &err);
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
    OK(&inner.r, tesela_layout_compose(&outer.layout, &inner.layout, &others.layout, &e_));
    tabulate_both(&outer, &inner, &others);
    recipe_check_comparison(&both, &others);
  }
  printf("compared compositions: %" PRId64 " same, %" PRId64 " different, %" PRId64 " undecided\n",
         recipe_told.same, recipe_told.differ, recipe_told.undecided);
  assert_true(tried > (int64_t)recipe_seeds() / 10 && recipe_told.undecided * 100 <= tried);
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
      cmocka_unit_test(composition_is_associative),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
