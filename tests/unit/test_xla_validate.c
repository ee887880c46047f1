/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_xla_validate.c - shapes and layouts from numbers: the values, and the refusals of a struct that
 * a caller filled by hand. Refusals of a text are in test_xla_text_refused.c.
 */
#include "support_xla.h"

static const int64_t COMBINE = TESELA_XLA_COMBINE;

/* ---- made ---- */

static void orders_are_made(void **state) {
  (void)state;
  static const int32_t order[] = {2, 0, 1};
  static const int64_t dim[] = {3, 5, 7};
  tesela_xla_layout layout;
  tesela_xla_shape shape;
  OK(tesela_xla_layout_make(&layout, 3, order, &e_));
  OK(tesela_xla_shape_make(&shape, TESELA_F32, 3, dim, &layout, &e_));
  check_text("minor to major", &shape, "f32[3,5,7]{2,0,1}");
  OK(tesela_xla_layout_make_major_to_minor(&layout, 3, order, &e_));
  OK(tesela_xla_shape_make(&shape, TESELA_F32, 3, dim, &layout, &e_));
  check_text("major to minor", &shape, "f32[3,5,7]{1,0,2}");
  OK(tesela_xla_layout_make_ascending(&layout, 3, &e_));
  OK(tesela_xla_shape_make(&shape, TESELA_F32, 3, dim, &layout, &e_));
  check_text("ascending", &shape, "f32[3,5,7]{0,1,2}");
  OK(tesela_xla_layout_make(&layout, 3, NULL, &e_));
  OK(tesela_xla_shape_make(&shape, TESELA_F32, 3, dim, &layout, &e_));
  check_text("default", &shape, "f32[3,5,7]{2,1,0}");
  OK(tesela_xla_shape_make(&shape, TESELA_BF16, 3, dim, NULL, &e_));
  check_text("no layout given", &shape, "bf16[3,5,7]{2,1,0}");
  OK(tesela_xla_shape_make(&shape, TESELA_PRED, 0, NULL, NULL, &e_));
  check_text("scalar", &shape, "pred[]");
}

static void unbounded_dims_are_marked(void **state) {
  (void)state;
  static const int64_t dim[] = {TESELA_XLA_UNBOUNDED, 5};
  tesela_xla_shape shape;
  OK(tesela_xla_shape_make(&shape, TESELA_F32, 2, dim, NULL, &e_));
  check_text("?", &shape, "f32[?,5]{1,0}");
}

static void tiles_are_added(void **state) {
  (void)state;
  static const int64_t first[] = {8, 128}, second[] = {2, 1}, joined[] = {COMBINE, COMBINE, 3},
                       bad[] = {2, 0}, last[] = {2, COMBINE};
  tesela_xla_shape shape = shape_of("f32[20,200]{1,0}");
  OK(tesela_xla_layout_add_tile(&shape.layout, 2, first, &e_));
  OK(tesela_xla_layout_add_tile(&shape.layout, 2, second, &e_));
  OK(tesela_xla_layout_add_tile(&shape.layout, 3, joined, &e_));
  check_text("tiles", &shape, "f32[20,200]{1,0:T(8,128)(2,1)(*,*,3)}");
  assert_int_equal(tesela_xla_layout_add_tile(&shape.layout, 2, bad, NULL), TESELA_E_RANGE);
  assert_int_equal(tesela_xla_layout_add_tile(&shape.layout, 2, last, NULL), TESELA_E_INVALID);
  assert_int_equal(tesela_xla_layout_add_tile(&shape.layout, 0, first, NULL), TESELA_E_INVALID);
  assert_int_equal(tesela_xla_layout_add_tile(&shape.layout, -1, first, NULL), TESELA_E_INVALID);
  check_text("refused tiles change nothing", &shape, "f32[20,200]{1,0:T(8,128)(2,1)(*,*,3)}");
}

static void tiles_run_out(void **state) {
  (void)state;
  int64_t ones[TESELA_XLA_MAX_TILE_NUMBERS];
  for (int i = 0; i < TESELA_XLA_MAX_TILE_NUMBERS; i++) ones[i] = 1;
  tesela_xla_shape shape = shape_of("f32[2]{0}");
  for (int k = 0; k < TESELA_XLA_MAX_TILES; k++) OK(tesela_xla_layout_add_tile(&shape.layout, 1, ones, &e_));
  assert_int_equal(tesela_xla_layout_add_tile(&shape.layout, 1, ones, NULL), TESELA_E_LIMIT);
  shape = shape_of("f32[2]{0}");
  OK(tesela_xla_layout_add_tile(&shape.layout, TESELA_XLA_MAX_TILE_NUMBERS, ones, &e_));
  assert_int_equal(tesela_xla_layout_add_tile(&shape.layout, 1, ones, NULL), TESELA_E_LIMIT);
  OK(tesela_xla_validate(&shape, &e_));
}

static void wrong_numbers_make_nothing(void **state) {
  (void)state;
  static const int32_t twice[] = {0, 0}, beyond[] = {0, 2}, negative[] = {-1, 0};
  static const int64_t dim[] = {2, -2}, huge[] = {INT64_MAX, 2}, fine[] = {2, 3};
  tesela_xla_layout layout, before;
  tesela_xla_shape shape, old;
  memset(&layout, 0x5A, sizeof layout);
  memset(&before, 0x5A, sizeof before);
  memset(&shape, 0x5A, sizeof shape);
  memset(&old, 0x5A, sizeof old);
  tesela_error err;
  assert_int_equal(tesela_xla_layout_make(&layout, 2, twice, &err), TESELA_E_INVALID);
  assert_int_equal(tesela_xla_layout_make(&layout, 2, beyond, &err), TESELA_E_INVALID);
  assert_int_equal(err.status, TESELA_E_INVALID);
  assert_int_equal(tesela_xla_layout_make_major_to_minor(&layout, 2, negative, NULL), TESELA_E_INVALID);
  assert_int_equal(tesela_xla_layout_make_ascending(&layout, TESELA_MAX_RANK + 1, NULL), TESELA_E_LIMIT);
  assert_int_equal(tesela_xla_layout_make(&layout, -1, NULL, NULL), TESELA_E_LIMIT);
  assert_memory_equal(&layout, &before, sizeof layout);
  OK(tesela_xla_layout_make(&layout, 1, NULL, &e_));
  assert_int_equal(tesela_xla_shape_make(&shape, TESELA_F32, 2, dim, NULL, NULL), TESELA_E_RANGE);
  assert_int_equal(tesela_xla_shape_make(&shape, TESELA_F32, 2, huge, NULL, NULL), TESELA_E_OVERFLOW);
  assert_int_equal(tesela_xla_shape_make(&shape, TESELA_F32, 2, fine, &layout, NULL), TESELA_E_INVALID);
  assert_int_equal(tesela_xla_shape_make(&shape, TESELA_TOKEN, 0, NULL, NULL, NULL), TESELA_E_INVALID);
  assert_int_equal(tesela_xla_shape_make(&shape, (tesela_dtype)34, 0, NULL, NULL, NULL), TESELA_E_INVALID);
  assert_int_equal(tesela_xla_shape_make(&shape, TESELA_F32, 33, fine, NULL, NULL), TESELA_E_LIMIT);
  assert_memory_equal(&shape, &old, sizeof shape);
}

/* ---- filled by hand ---- */

#define BREAK(name, what) \
  static void break_##name(tesela_xla_shape *s) { what; }
BREAK(kind, s->kind = TESELA_XLA_TUPLE)
BREAK(unknown_kind, s->kind = (tesela_xla_kind)99)
BREAK(dtype, s->dtype = TESELA_DTYPE_NONE)
BREAK(token, s->kind = TESELA_XLA_TOKEN)
BREAK(rank, s->rank = 33)
BREAK(negative_rank, s->rank = -1)
BREAK(dynamic, s->dynamic = 4)
BREAK(unbounded, s->dim[1] = TESELA_XLA_UNBOUNDED)
BREAK(dim, s->dim[1] = -1)
BREAK(layout_rank, s->layout.rank = 1)
BREAK(order_range, s->layout.minor_to_major[1] = 2)
BREAK(order_twice, s->layout.minor_to_major[1] = 1)
BREAK(n_tiles, s->layout.n_tiles = 17)
BREAK(n_numbers, s->layout.n_tile_numbers = 65)
BREAK(stray_numbers, s->layout.n_tile_numbers = 3)
BREAK(tile_rank, s->layout.tile_rank[0] = 3)
BREAK(empty_tile, s->layout.tile_rank[0] = 0)
BREAK(tile, s->layout.tile[1] = 0)
BREAK(combine, s->layout.tile[1] = TESELA_XLA_COMBINE)
BREAK(minus_one, s->layout.tile[0] = -1)
BREAK(tail, s->layout.tail = 0)
BREAK(bits, s->layout.element_bits = -1)
BREAK(space, s->layout.memory_space = 128)
BREAK(metadata, s->layout.metadata_bytes = -1)
BREAK(index_type, s->layout.index_type = TESELA_S32)
BREAK(pointer_type, s->layout.pointer_type = TESELA_U32)
BREAK(physical, memset(s->layout.physical, 'x', sizeof s->layout.physical))
BREAK(physical_text, strcpy(s->layout.physical, "f32[2]"))
BREAK(n_splits, s->layout.n_splits = 9)
BREAK(n_points, s->layout.n_split_points = -1)
BREAK(split_dim, s->layout.split[0].dim = 2)
BREAK(split_first, s->layout.split[0].first = 1)
BREAK(split_many, s->layout.split[0].n_points = INT32_MAX)
BREAK(point, s->layout.split_point[0] = 3)
BREAK(bare, s->has_layout = false)

static const struct {
  const char *name;
  void (*damage)(tesela_xla_shape *shape);
  tesela_status status;
  const char *fragment;
} broken_rows[] = {
    {"a tuple", break_kind, TESELA_E_INVALID, "an array, buffer, token or opaque"},
    {"no kind", break_unknown_kind, TESELA_E_INVALID, "an array, buffer, token or opaque"},
    {"no type", break_dtype, TESELA_E_INVALID, "no type"},
    {"a token with dims", break_token, TESELA_E_INVALID, "no dims"},
    {"33 dims", break_rank, TESELA_E_LIMIT, "33 dims"},
    {"-1 dims", break_negative_rank, TESELA_E_LIMIT, "-1 dims"},
    {"a dynamic mark on dim 2 of 2", break_dynamic, TESELA_E_INVALID, "dynamic"},
    {"? without its mark", break_unbounded, TESELA_E_RANGE, "dim -9223372036854775808"},
    {"a negative dim", break_dim, TESELA_E_RANGE, "dim -1"},
    {"a shorter order", break_layout_rank, TESELA_E_INVALID, "the order lists 1"},
    {"an order with dim 2 of 2", break_order_range, TESELA_E_RANGE, "dim 2"},
    {"an order with a dim twice", break_order_twice, TESELA_E_INVALID, "twice"},
    {"17 tiles", break_n_tiles, TESELA_E_LIMIT, "17 tiles"},
    {"65 tile extents", break_n_numbers, TESELA_E_LIMIT, "65 tile extents"},
    {"tile extents of no tile", break_stray_numbers, TESELA_E_INVALID, "without a tile"},
    {"a tile beyond its extents", break_tile_rank, TESELA_E_INVALID, "tile 0"},
    {"an empty tile", break_empty_tile, TESELA_E_INVALID, "tile 0"},
    {"a tile extent 0", break_tile, TESELA_E_RANGE, "tile extent 0"},
    {"* last", break_combine, TESELA_E_INVALID, "last place"},
    {"the document's -1", break_minus_one, TESELA_E_RANGE, "tile extent -1"},
    {"L(0)", break_tail, TESELA_E_RANGE, "L(0)"},
    {"E(-1)", break_bits, TESELA_E_RANGE, "E(-1)"},
    {"S(128)", break_space, TESELA_E_RANGE, "S(128)"},
    {"M(-1)", break_metadata, TESELA_E_RANGE, "M(-1)"},
    {"a signed index type", break_index_type, TESELA_E_INVALID, "#(s32)"},
    {"a pointer type on an array", break_pointer_type, TESELA_E_INVALID, "sparse"},
    {"a physical text without end", break_physical, TESELA_E_INVALID, "NUL"},
    {"a physical shape on an array", break_physical_text, TESELA_E_INVALID, "sparse"},
    {"9 split configs", break_n_splits, TESELA_E_LIMIT, "9 split configs"},
    {"-1 cut points", break_n_points, TESELA_E_LIMIT, "-1 cut points"},
    {"a split of dim 2 of 2", break_split_dim, TESELA_E_RANGE, "SC(2"},
    {"cut points beyond the list", break_split_first, TESELA_E_INVALID, "beyond the list"},
    {"very many cut points", break_split_many, TESELA_E_INVALID, "beyond the list"},
    {"a cut at the end of the dim", break_point, TESELA_E_RANGE, "inside the dim"},
    {"no layout, but a layout", break_bare, TESELA_E_INVALID, "has_layout"},
};

static void what_is_wrong_in_a_struct_is_refused(void **state) {
  (void)state;
  for (size_t i = 0; i < sizeof broken_rows / sizeof broken_rows[0]; i++) {
    tesela_xla_shape shape = shape_of("f32[3,5]{1,0:T(2,2)SC(0:2)}");
    tesela_error err = {.message = ""};
    char text[TEXT];
    tesela_buffer buffer = {text, sizeof text, 0};
    tesela_writer to = tesela_buffer_writer(&buffer);
    OK(tesela_xla_validate(&shape, &e_));
    broken_rows[i].damage(&shape);
    tesela_status status = tesela_xla_validate(&shape, &err);
    if (status != broken_rows[i].status || err.at != -1 || !strstr(err.message, broken_rows[i].fragment))
      fail_msg("%s: %s: %s", broken_rows[i].name, tesela_status_code(status), err.message);
    AGREE(broken_rows[i].name, tesela_xla_print(&shape, true, &to, NULL), broken_rows[i].status);
    AGREE(broken_rows[i].name, buffer.length, 0);
  }
}

static void a_layout_filled_by_hand_prints_only_if_valid(void **state) {
  (void)state;
  char text[TEXT];
  tesela_buffer buffer = {text, sizeof text, 0};
  tesela_writer to = tesela_buffer_writer(&buffer);
  tesela_xla_layout layout = shape_of("f32[3,5]{1,0:T(2,2)}").layout;
  layout.index_type = TESELA_U32; /* fine for a layout alone */
  OK(tesela_xla_print_layout(&layout, &to, &e_));
  assert_string_equal(text, "{1,0:T(2,2)#(u32)}");
  layout.rank = 1000;
  assert_int_equal(tesela_xla_print_layout(&layout, &to, NULL), TESELA_E_LIMIT);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(orders_are_made),
      cmocka_unit_test(unbounded_dims_are_marked),
      cmocka_unit_test(tiles_are_added),
      cmocka_unit_test(tiles_run_out),
      cmocka_unit_test(wrong_numbers_make_nothing),
      cmocka_unit_test(what_is_wrong_in_a_struct_is_refused),
      cmocka_unit_test(a_layout_filled_by_hand_prints_only_if_valid),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
