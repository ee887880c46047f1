/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_layout_compare.c - are two layouts the same? By digits, by profiles and as tesela_layout_compare says, against the
 * tables of their recipes (support_recipe.h).
 */
#include "layout/profile.h"
#include "support_recipe.h"
#include "support_seed.h"

static void comparison_agrees_with_enumeration(void **state) {
  (void)state;
  static table a, b, c;
  memset(&recipe_told, 0, sizeof recipe_told);
  for (uint64_t i = 0; i < recipe_seeds(); i++) {
    table_draw(&a, first_seed() + i,
               i % 4 == 0   ? &recipe_plain
               : i % 4 == 1 ? &recipe_joined
                            : &recipe_small);
    recipe_check_comparison(&a, &a);
    b.r = a.r;
    recipe_respell(&b.r);
    if (table_realize(&b)) {
      recipe_check_comparison(&a, &b);
      recipe_check_comparison(&b, &a);
    }
    for (int k = 0; k < 3; k++) {
      c.r = k ? b.r : a.r;
      recipe_change(&c.r);
      if (!table_realize(&c)) continue;
      recipe_check_comparison(&a, &c);
      recipe_check_comparison(&c, &b);
    }
    recipe_begin(&c.r, a.r.rank, a.r.shape);
    recipe_draw_parts(&c.r, a.r.n_axes, &recipe_small);
    if (table_realize(&c)) recipe_check_comparison(&a, &c);
    recipe_draw(&c.r, &recipe_small);
    if (table_realize(&c)) recipe_check_comparison(&a, &c);
  }
  int64_t all = recipe_told.same + recipe_told.differ + recipe_told.undecided;
  printf("comparisons: %" PRId64 " same, %" PRId64 " different, %" PRId64 " undecided\n", recipe_told.same,
         recipe_told.differ, recipe_told.undecided);
  assert_int_equal(recipe_told.undecided_simple, 0);
  assert_true(recipe_told.undecided * 100 < all);
  assert_true(recipe_told.same * 10 > all && recipe_told.differ * 10 > all);
}

/* Splits that divide and no join: equal relations have equal digits. */
static void equal_simple_relations_have_equal_digits(void **state) {
  (void)state;
  static table a, b;
  static tesela_layout form_a, form_b;
  int64_t same = 0, differ = 0;
  for (uint64_t i = 0; i < recipe_seeds(); i++) {
    table_draw(&a, first_seed() + i, &recipe_plain);
    b.r = a.r;
    for (int times = 0; times < 2; times++) {
      int leaf[MOST_NODES], n = recipe_leaves(&b.r, leaf);
      if (n == 0) break;
      int x = leaf[recipe_below(n)];
      if (recipe_extent(&b.r, x) > 0)
        recipe_add_split(&b.r, x, recipe_divisor((int64_t)recipe_extent(&b.r, x)));
      recipe_respell_replicas(&b.r, leaf, 0);
    }
    if (recipe_one_in(2)) {
      int x = (int)recipe_below(b.r.n + 1);
      if (x < b.r.n) b.r.node[x].stride += 1 + recipe_below(3);
    }
    if (!table_realize(&b) || recipe_overlaps(&b.r)) continue;
    bool equal = true;
    for (int64_t e = 0; e < a.n_elements; e++)
      equal = equal && a.n_keys[e] == b.n_keys[e] &&
              memcmp(a.key[e], b.key[e], (size_t)a.n_keys[e] * sizeof a.key[e][0]) == 0;
    OK(&a.r, tesela_layout_canonical(&a.layout, &form_a, &e_));
    OK(&b.r, tesela_layout_canonical(&b.layout, &form_b, &e_));
    if (recipe_is_empty(&a.r)) continue; /* the offsets of empty axes say nothing */
    if (recipe_same_digits(&form_a, &form_b) != equal)
      fail_msg("equal %d%s%s", equal, recipe_text(&a.r), recipe_text(&b.r));
    same += equal;
    differ += !equal;
  }
  assert_true(same > 0 && differ > 0);
}

/* The profiles that comparison rests on, against enumeration: many that are equal, or differ late. */
static void profiles_differ_where_enumeration_says(void **state) {
  (void)state;
  int64_t equal = 0;
  recipe_seed(first_seed());
  for (uint64_t i = 0; i < 20 * recipe_seeds(); i++) {
    tesela__profile f[2] = {{.n = 0}, {.n = 0}};
    int64_t n = 1 + recipe_below(120), offset = recipe_one_in(8) ? recipe_below(3) : 0, want = TESELA__EQUAL;
    for (int side = 0; side < 2; side++) {
      int64_t slope = 1 + recipe_below(2);
      for (int64_t step = 1; step < 60 && f[side].n < 5;
           step += 1 + recipe_below(recipe_one_in(2) ? 3 : 30)) {
        for (int32_t k = f[side].n++; k > 0; k--) {
          f[side].step[k] = f[side].step[k - 1];
          f[side].stride[k] = f[side].stride[k - 1];
        }
        f[side].step[0] = step;
        f[side].stride[0] = recipe_one_in(3) ? recipe_below(4) : slope * step;
      }
    }
    if (recipe_one_in(2)) { /* the same except for one digit, or equal */
      f[1] = f[0];
      int32_t k = (int32_t)recipe_below(f[1].n);
      if (k > 0 && recipe_one_in(2) && f[1].step[k - 1] + 1 < (k > 1 ? f[1].step[k - 2] : 100))
        f[1].step[k - 1]++;
      else
        f[1].stride[k] += recipe_below(2);
    }
    for (int64_t x = 0; x < n && want < 0; x++) {
      int64_t sum[2] = {0, offset};
      for (int side = 0; side < 2; side++)
        for (int32_t k = 0, rest = (int32_t)x; k < f[side].n; k++) {
          sum[side] += rest / f[side].step[k] * f[side].stride[k];
          rest %= (int32_t)f[side].step[k];
        }
      if (sum[0] != sum[1]) want = x;
    }
    int64_t got = tesela__profile_difference(&f[0], &f[1], n, (uint64_t)offset);
    if (got != want)
      fail_msg("profiles, seed %" PRIu64 ", number %" PRIu64 ": %" PRId64 ", not %" PRId64, first_seed(), i,
               got, want);
    equal += want < 0;
  }
  assert_true(equal > (int64_t)recipe_seeds());
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(comparison_agrees_with_enumeration),
      cmocka_unit_test(equal_simple_relations_have_equal_digits),
      cmocka_unit_test(profiles_differ_where_enumeration_says),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
