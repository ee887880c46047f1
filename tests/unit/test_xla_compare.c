/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_xla_compare.c - questions about the order of dims, tiles without effect, comparison and hash of
 * layouts.
 */
#include "support_xla.h"

/* ---- order ---- */

static void test_order(void **state) {
  (void)state;
  tesela_xla_shape shape = shape_of("f32[2,3,5,7]{1,3,0,2}");
  const tesela_xla_layout *layout = &shape.layout;
  static const int32_t minor[] = {1, 3, 0, 2}, physical[] = {1, 3, 0, 2};
  int32_t position[4];
  for (int32_t p = 0; p < 4; p++) {
    AGREE("minor", tesela_xla_minor(layout, p), minor[p]);
    AGREE("major", tesela_xla_major(layout, p), minor[3 - p]);
  }
  AGREE("outside", tesela_xla_minor(layout, 4), -1);
  AGREE("outside", tesela_xla_minor(layout, -1), -1);
  AGREE("outside", tesela_xla_major(layout, 4), -1);
  AGREE("outside", tesela_xla_major(layout, -1), -1);
  tesela_xla_logical_to_physical(layout, position);
  for (int32_t d = 0; d < 4; d++) AGREE("position", position[d], physical[d]);
}

static void test_direction(void **state) {
  (void)state;
  static const struct {
    const char *shape;
    bool descending, ascending;
  } rows[] = {
      {"f32[]", true, true},
      {"f32[3]{0}", true, true},
      {"f32[3,5]{1,0:T(8,128)}", true, false},
      {"f32[3,5]{0,1}", false, true},
      {"f32[3,5,7]{0,2,1}", false, false},
  };
  for (size_t r = 0; r < sizeof rows / sizeof rows[0]; r++) {
    tesela_xla_shape shape = shape_of(rows[r].shape);
    AGREE(rows[r].shape, tesela_xla_is_descending(&shape.layout), rows[r].descending);
    AGREE(rows[r].shape, tesela_xla_is_ascending(&shape.layout), rows[r].ascending);
  }
}

static void test_consecutive(void **state) {
  (void)state;
  static const struct {
    const char *name;
    int32_t n, dims[4];
    bool consecutive;
  } rows[] = {
      {"none", 0, {0}, true},
      {"one", 1, {2}, true},
      {"neighbours, in any order", 2, {3, 1}, true},
      {"three", 3, {0, 1, 3}, true},
      {"all", 4, {3, 2, 1, 0}, true},
      {"apart", 2, {1, 0}, false},
      {"one missing", 3, {1, 3, 2}, false},
      {"twice the same", 2, {1, 1}, false},
      {"no such dim", 2, {1, 4}, false},
  };
  tesela_xla_shape shape = shape_of("f32[2,3,5,7]{1,3,0,2}");
  for (size_t r = 0; r < sizeof rows / sizeof rows[0]; r++)
    AGREE(rows[r].name, tesela_xla_are_consecutive(&shape.layout, rows[r].n, rows[r].dims),
          rows[r].consecutive);
}

static void test_untiled(void **state) {
  (void)state;
  static const struct {
    const char *name, *shape;
    bool untiled;
  } rows[] = {
      {"no tile", "f32[3,5]{0,1}", true},
      {"rows of one tile", "f32[24,128]{1,0:T(8,128)}", true},
      {"a tile of one row", "f32[4,256]{1,0:T(1,128)}", true},
      {"padding before a dim", "f32[2,3,4]{2,1,0:T(8,128)}", false},
      {"padding at the end alone", "f32[3,128]{1,0:T(8,128)}", false},
      {"two tiles side by side", "f32[8,256]{1,0:T(8,128)}", false},
      {"two tiles of one row", "f32[1,256]{1,0:T(1,128)}", true},
      {"tiles of a vector", "f32[2048]{0:T(1024)}", true},
      {"a split of a tile", "f32[2048]{0:T(1024)(128)}", true},
      {"interleaved rows", "bf16[2048]{0:T(1024)(128)(2,1)}", false},
      {"combined dims in their order", "f32[4,6,8]{2,1,0:T(*,2,8)}", true},
      {"the tail is no tile", "f32[24,128]{1,0:T(8,128)L(4096)}", true},
      {"a scalar in a tile", "f32[]{:T(128)}", false},
      {"no elements", "f32[0,128]{1,0:T(8,128)}", true},
  };
  for (size_t r = 0; r < sizeof rows / sizeof rows[0]; r++) {
    tesela_xla_shape shape = shape_of(rows[r].shape);
    bool untiled;
    OK(tesela_xla_is_untiled(&shape, &untiled, &e_));
    AGREE(rows[r].name, untiled, rows[r].untiled);
  }
}

/* ---- comparison ---- */

static const struct {
  const char *name, *a, *b;
  uint32_t ignored_by; /* the flag that makes them equal; 0: they are */
} equal_rows[] = {
    {"the same", "{0:T(8)L(8)E(4)S(1)SC(0:2)M(8)}", "{0:T(8)L(8)E(4)S(1)SC(0:2)M(8)}", 0},
    {"M takes no part", "{0:M(8)}", "{0}", 0},
    {"another tile", "{0:T(8)}", "{0:T(16)}", TESELA_XLA_IGNORE_TILES},
    {"another division into tiles", "{0:T(8,4)}", "{0:T(8)(4)}", TESELA_XLA_IGNORE_TILES},
    {"no tile", "{0:T(8)}", "{0}", TESELA_XLA_IGNORE_TILES},
    {"another L", "{0:L(8)}", "{0}", TESELA_XLA_IGNORE_TAIL},
    {"another #", "{0:#(u32)}", "{0}", TESELA_XLA_IGNORE_INDEX_TYPE},
    {"another *", "{0:*(u8)}", "{0:*(u16)}", TESELA_XLA_IGNORE_POINTER_TYPE},
    {"another E", "{0:E(4)}", "{0}", TESELA_XLA_IGNORE_ELEMENT_BITS},
    {"another S", "{0:S(1)}", "{0:S(5)}", TESELA_XLA_IGNORE_SPACE},
    {"another SC", "{0:SC(0:2)}", "{0:SC(0:2,3)}", TESELA_XLA_IGNORE_SPLITS},
    {"another cut point", "{0:SC(0:2)}", "{0:SC(0:3)}", TESELA_XLA_IGNORE_SPLITS},
    {"another P", "{0:P(f32[3]{0})}", "{0}", TESELA_XLA_IGNORE_PHYSICAL},
};

static tesela_xla_layout layout_of(const char *text) {
  tesela_xla_layout layout;
  OK(tesela_xla_parse_layout(text, strlen(text), TESELA_XLA_STRICT, &layout, NULL, &e_));
  return layout;
}

static void test_equal(void **state) {
  (void)state;
  for (size_t r = 0; r < sizeof equal_rows / sizeof equal_rows[0]; r++) {
    tesela_xla_layout a = layout_of(equal_rows[r].a), b = layout_of(equal_rows[r].b);
    uint32_t flag = equal_rows[r].ignored_by;
    AGREE(equal_rows[r].name, tesela_xla_layout_equal(&a, &b, 0), flag == 0);
    AGREE(equal_rows[r].name, tesela_xla_layout_equal(&b, &a, 0), flag == 0);
    AGREE(equal_rows[r].name, tesela_xla_layout_equal(&a, &b, flag), true);
    AGREE(equal_rows[r].name, tesela_xla_layout_equal(&a, &b, TESELA_XLA_ORDER_ONLY & ~flag), flag == 0);
    AGREE(equal_rows[r].name, tesela_xla_layout_equal(&a, &b, TESELA_XLA_ORDER_ONLY), true);
    bool may_collide =
        flag == 0 || flag == TESELA_XLA_IGNORE_PHYSICAL; /* P is left out of the hash, as in XLA */
    AGREE(equal_rows[r].name, tesela_xla_layout_hash(&a) == tesela_xla_layout_hash(&b), may_collide);
  }
  tesela_xla_layout a = layout_of("{1,0}"), b = layout_of("{0,1}"), c = layout_of("{0}");
  AGREE("another order", tesela_xla_layout_equal(&a, &b, TESELA_XLA_ORDER_ONLY), false);
  AGREE("another rank", tesela_xla_layout_equal(&b, &c, TESELA_XLA_ORDER_ONLY), false);
  AGREE("another order", tesela_xla_layout_hash(&a) == tesela_xla_layout_hash(&b), false);
}

static void test_shape_equal(void **state) {
  (void)state;
  static const struct {
    const char *name, *a, *b;
    uint32_t ignore;
    bool equal;
  } rows[] = {
      {"the same", "f32[3,5]{1,0:T(8,128)}", "f32[3,5]{1,0:T(8,128)}", 0, true},
      {"another type", "f32[3]{0}", "s32[3]{0}", TESELA_XLA_ORDER_ONLY, false},
      {"another dim", "f32[3]{0}", "f32[4]{0}", TESELA_XLA_ORDER_ONLY, false},
      {"another rank", "f32[3]{0}", "f32[3,1]{1,0}", TESELA_XLA_ORDER_ONLY, false},
      {"a dynamic dim", "f32[3]{0}", "f32[<=3]{0}", TESELA_XLA_ORDER_ONLY, false},
      {"a buffer", "f32[3]{0}", "b(f32[3]{0})", TESELA_XLA_ORDER_ONLY, false},
      {"other tiles", "f32[3]{0:T(4)}", "f32[3]{0:T(8)}", 0, false},
      {"other tiles, ignored", "f32[3]{0:T(4)}", "f32[3]{0:T(8)}", TESELA_XLA_IGNORE_TILES, true},
      {"other tiles, both have some", "f32[3]{0:T(4)}", "f32[3]{0:T(8)}", TESELA_XLA_ORDER_IF_UNTILED, false},
      {"one has none", "f32[3]{0:T(4)S(1)}", "f32[3]{0}", TESELA_XLA_ORDER_IF_UNTILED, true},
      {"one has none, another order", "f32[3,5]{1,0:T(4)}", "f32[3,5]{0,1}", TESELA_XLA_ORDER_IF_UNTILED,
       false},
      {"a dynamic dim, ignored", "f32[3]{0}", "f32[<=3]{0}", TESELA_XLA_IGNORE_DYNAMIC, true},
      {"tokens", "token[]", "token[]", 0, true},
      {"token and opaque", "token[]", "opaque[]", 0, false},
  };
  for (size_t r = 0; r < sizeof rows / sizeof rows[0]; r++) {
    tesela_xla_shape a = shape_of(rows[r].a), b = shape_of(rows[r].b);
    AGREE(rows[r].name, tesela_xla_shape_equal(&a, &b, rows[r].ignore), rows[r].equal);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_order),   cmocka_unit_test(test_direction), cmocka_unit_test(test_consecutive),
      cmocka_unit_test(test_untiled), cmocka_unit_test(test_equal),     cmocka_unit_test(test_shape_equal),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
