/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_xla_interchange.c - layout modes, JAX's spelling, PJRT's arrays, byte strides, split configs.
 */
#include "support_xla_text.h"

static tesela_xla_layout layout_of(const char *text) {
  tesela_xla_layout layout;
  OK(tesela_xla_parse_layout(text, strlen(text), TESELA_XLA_STRICT, &layout, NULL, &e_));
  return layout;
}

static void check_layout(const char *name, const tesela_xla_layout *layout, const char *want) {
  char text[TEXT];
  tesela_buffer buffer = {text, TEXT, 0};
  tesela_writer to = tesela_buffer_writer(&buffer);
  OK(tesela_xla_print_layout(layout, &to, &e_));
  xla_text_same(name, text, want);
}

/* ---- layout modes ---- */

static void layout_modes_are_words_or_layouts(void **state) {
  (void)state;
  static const struct {
    const char *text;
    tesela_status status;
    tesela_xla_mode_kind kind;
  } rows[] = {
      {"default", TESELA_OK, TESELA_XLA_MODE_DEFAULT},
      {"auto", TESELA_OK, TESELA_XLA_MODE_AUTO},
      {"{1,0:T(8,128)(2,1)}", TESELA_OK, TESELA_XLA_MODE_LAYOUT},
      {"{}", TESELA_OK, TESELA_XLA_MODE_LAYOUT},
      {"", TESELA_E_SYNTAX, TESELA_XLA_MODE_LAYOUT},
      {"Auto", TESELA_E_SYNTAX, TESELA_XLA_MODE_LAYOUT},
      {"automatic", TESELA_E_SYNTAX, TESELA_XLA_MODE_LAYOUT},
      {"{1,1}", TESELA_E_INVALID, TESELA_XLA_MODE_LAYOUT},
  };
  for (size_t r = 0; r < sizeof rows / sizeof rows[0]; r++) {
    tesela_xla_layout_mode mode;
    tesela_xla_repairs repairs = {.count = -7};
    char text[TEXT];
    tesela_buffer buffer = {text, TEXT, 0};
    tesela_writer to = tesela_buffer_writer(&buffer);
    tesela_status status =
        tesela_xla_parse_layout_mode(rows[r].text, strlen(rows[r].text), 0, &mode, &repairs, NULL);
    AGREE(rows[r].text, status, rows[r].status);
    if (status != TESELA_OK) continue;
    AGREE(rows[r].text, mode.kind, rows[r].kind);
    AGREE(rows[r].text, repairs.count, 0);
    OK(tesela_xla_print_layout_mode(&mode, &to, &e_));
    xla_text_same("mode", text, rows[r].text);
  }
}

static void an_unknown_mode_is_refused(void **state) {
  (void)state;
  char text[8];
  tesela_buffer buffer = {text, sizeof text, 0};
  tesela_writer to = tesela_buffer_writer(&buffer);
  for (int kind = -1; kind <= 99; kind += 100) {
    const tesela_xla_layout_mode mode = {.kind = (tesela_xla_mode_kind)kind};
    assert_int_equal(tesela_xla_print_layout_mode(&mode, &to, NULL), TESELA_E_RANGE);
  }
}

/* ---- JAX ---- */

static const struct {
  const char *jax, *layout;
  bool printed; /* and JAX shows this layout so */
} jax_rows[] = {
    {"Layout(major_to_minor=(0, 1), tiling=((8, 128), (2, 1)), sub_byte_element_size_in_bits=0)",
     "{1,0:T(8,128)(2,1)}", true},
    {"Layout(major_to_minor=(1, 0, 2), tiling=((8, 128),), sub_byte_element_size_in_bits=4)",
     "{2,0,1:T(8,128)E(4)}", true},
    {"Layout(major_to_minor=(0,), tiling=((1024,), (128,), (2, 1)), sub_byte_element_size_in_bits=0)",
     "{0:T(1024)(128)(2,1)}", true},
    {"Layout(major_to_minor=(), tiling=(), sub_byte_element_size_in_bits=0)", "{}", true},
    {"Layout(major_to_minor=(0, 1), tiling=None, sub_byte_element_size_in_bits=0)", "{1,0}", false},
    {"DeviceLocalLayout(major_to_minor=(0, 1), _tiling=((8, 128),), _sub_byte_element_size_in_bits=0)",
     "{1,0:T(8,128)}", false},
    {"Layout((0,1), ((8,128),), 4)", "{1,0:T(8,128)E(4)}", false},
    {"Layout((0,1), sub_byte_element_size_in_bits=4)", "{1,0:E(4)}", false},
    {" Layout ( tiling = [ [8,128] ] , major_to_minor = [1 , 0] , ) ", "{0,1:T(8,128)}", false},
};

static void jax_layouts_are_read_and_printed(void **state) {
  (void)state;
  for (size_t r = 0; r < sizeof jax_rows / sizeof jax_rows[0]; r++) {
    tesela_xla_layout layout;
    char text[TEXT];
    tesela_buffer buffer = {text, TEXT, 0};
    tesela_writer to = tesela_buffer_writer(&buffer);
    uint32_t lost = 7;
    OK(tesela_xla_parse_jax(jax_rows[r].jax, strlen(jax_rows[r].jax), &layout, &e_));
    check_layout(jax_rows[r].jax, &layout, jax_rows[r].layout);
    OK(tesela_xla_print_jax(&layout, &to, &lost, &e_));
    if (jax_rows[r].printed) xla_text_same(jax_rows[r].layout, text, jax_rows[r].jax);
    AGREE(jax_rows[r].jax, lost, 0);
  }
}

static void wrong_jax_layouts_are_refused(void **state) {
  (void)state;
  static const struct {
    const char *text;
    tesela_status status;
    int64_t at;
  } rows[] = {
      {"", TESELA_E_SYNTAX, 0},
      {"Formats(Layout((0,)))", TESELA_E_SYNTAX, 0},
      {"Layout", TESELA_E_SYNTAX, 6},
      {"Layout()", TESELA_E_SYNTAX, 7},
      {"Layout(tiling=())", TESELA_E_INVALID, 0},
      {"Layout(major_to_minor=0)", TESELA_E_SYNTAX, 22},
      {"Layout(major_to_minor=(0 1))", TESELA_E_SYNTAX, 25},
      {"Layout(major_to_minor=(0,0))", TESELA_E_INVALID, 22},
      {"Layout(major_to_minor=(4294967296,))", TESELA_E_INVALID, 22},
      {"Layout(major_to_minor=(0,), major_to_minor=(0,))", TESELA_E_INVALID, 28},
      {"Layout(major_to_minor=(0,), ((8,),))", TESELA_E_SYNTAX, 28},
      {"Layout(major_to_minor=(0,), tiling=(8,))", TESELA_E_SYNTAX, 36},
      {"Layout(major_to_minor=(0,), tiling=((0,),))", TESELA_E_RANGE, 36},
      {"Layout(major_to_minor=(0,), tiling=((-1,),))", TESELA_E_SYNTAX, 37},
      {"Layout(major_to_minor=(0,), tiling=((9223372036854775808,),))", TESELA_E_RANGE, 37},
      {"Layout(major_to_minor=(0,), tiles=((8,),))", TESELA_E_SYNTAX, 28},
      {"Layout((0,), (), 0, 0)", TESELA_E_SYNTAX, 20},
      {"Layout((0,)) x", TESELA_E_SYNTAX, 13},
      {"Layout((0,)", TESELA_E_SYNTAX, 11},
      {"Layout(major_to_minor=(0]", TESELA_E_SYNTAX, 24},
      {"Layout((0,)\x01)", TESELA_E_SYNTAX, 11},
      {"Layout((0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0))", TESELA_E_LIMIT, 72},
  };
  for (size_t r = 0; r < sizeof rows / sizeof rows[0]; r++) {
    tesela_xla_layout layout = {.rank = -7};
    tesela_error err = {.at = -7};
    AGREE(rows[r].text, tesela_xla_parse_jax(rows[r].text, strlen(rows[r].text), &layout, &err),
          rows[r].status);
    AGREE(rows[r].text, err.at, rows[r].at);
    AGREE(rows[r].text, layout.rank, -7);
  }
}

/* ---- PJRT ---- */

static void what_others_cannot_say_is_named(void **state) {
  (void)state;
  static const struct {
    const char *layout;
    uint32_t by_jax, by_pjrt;
  } rows[] = {
      {"{1,0:T(8,128)}", 0, 0},
      {"{0:E(4)}", 0, TESELA_XLA_IGNORE_ELEMENT_BITS},
      {"{0:L(8)S(1)}", TESELA_XLA_IGNORE_TAIL | TESELA_XLA_IGNORE_SPACE,
       TESELA_XLA_IGNORE_TAIL | TESELA_XLA_IGNORE_SPACE},
      {"{0:#(u32)*(u8)SC(0:2)P(f32[3])}",
       TESELA_XLA_IGNORE_INDEX_TYPE | TESELA_XLA_IGNORE_POINTER_TYPE | TESELA_XLA_IGNORE_SPLITS |
           TESELA_XLA_IGNORE_PHYSICAL,
       TESELA_XLA_IGNORE_INDEX_TYPE | TESELA_XLA_IGNORE_POINTER_TYPE | TESELA_XLA_IGNORE_SPLITS |
           TESELA_XLA_IGNORE_PHYSICAL},
  };
  tesela_buffer nowhere = {NULL, 0, 0};
  tesela_writer to = tesela_buffer_writer(&nowhere);
  for (size_t r = 0; r < sizeof rows / sizeof rows[0]; r++) {
    tesela_xla_layout layout = layout_of(rows[r].layout), back;
    tesela_xla_pjrt_tiled tiled;
    uint32_t lost;
    OK(tesela_xla_print_jax(&layout, &to, &lost, &e_));
    AGREE(rows[r].layout, lost, rows[r].by_jax);
    OK(tesela_xla_to_pjrt_tiled(&layout, &tiled, &lost, &e_));
    AGREE(rows[r].layout, lost, rows[r].by_pjrt);
    OK(tesela_xla_from_pjrt_tiled(&back, tiled.minor_to_major, tiled.minor_to_major_size, tiled.tile_dims,
                                  tiled.tile_dim_sizes, tiled.num_tiles, &e_));
    AGREE(rows[r].layout, tesela_xla_layout_equal(&back, &layout, lost), true);
  }
  tesela_xla_layout joined = layout_of("{1,0:T(*,128)}");
  assert_int_equal(tesela_xla_print_jax(&joined, &to, NULL, NULL), TESELA_E_UNSUPPORTED);
}

static void pjrt_arrays_are_flat(void **state) {
  (void)state;
  tesela_xla_layout layout = layout_of("{1,0:T(*,128)(2,1)}"), back = {.rank = -7};
  tesela_xla_pjrt_tiled tiled;
  OK(tesela_xla_to_pjrt_tiled(&layout, &tiled, NULL, &e_));
  assert_int_equal(tiled.minor_to_major_size, 2);
  assert_int_equal(tiled.minor_to_major[0], 1);
  assert_int_equal(tiled.minor_to_major[1], 0);
  assert_int_equal(tiled.num_tiles, 2);
  static const int64_t dims[] = {INT64_MIN, 128, 2, 1};
  assert_memory_equal(tiled.tile_dims, dims, sizeof dims);
  assert_int_equal(tiled.tile_dim_sizes[0], 2);
  assert_int_equal(tiled.tile_dim_sizes[1], 2);
  static const int64_t twice[] = {0, 0}, far[] = {0, 4294967297}, order[] = {1, 0}, bad[] = {-1, 128};
  static const size_t sizes[] = {2}, none[] = {0}, many[] = {65};
  assert_int_equal(tesela_xla_from_pjrt_tiled(&back, twice, 2, NULL, NULL, 0, NULL), TESELA_E_INVALID);
  assert_int_equal(tesela_xla_from_pjrt_tiled(&back, far, 2, NULL, NULL, 0, NULL), TESELA_E_INVALID);
  assert_int_equal(tesela_xla_from_pjrt_tiled(&back, order, 33, NULL, NULL, 0, NULL), TESELA_E_LIMIT);
  assert_int_equal(tesela_xla_from_pjrt_tiled(&back, order, 2, bad, sizes, 1, NULL), TESELA_E_RANGE);
  assert_int_equal(tesela_xla_from_pjrt_tiled(&back, order, 2, bad, none, 1, NULL), TESELA_E_INVALID);
  assert_int_equal(tesela_xla_from_pjrt_tiled(&back, order, 2, bad, many, 1, NULL), TESELA_E_LIMIT);
  assert_int_equal(back.rank, -7);
}

/* ---- byte strides ---- */

static const struct {
  const char *name;
  int32_t rank;
  int64_t dim[3], strides[3];
  const char *order; /* NULL: not dense */
} dense_rows[] = {
    {"row-major", 3, {3, 5, 7}, {140, 28, 4}, "{2,1,0}"},
    {"column-major", 2, {3, 5}, {4, 12}, "{0,1}"},
    {"mixed", 3, {2, 3, 5}, {60, 4, 12}, "{1,2,0}"},
    {"a one with any stride", 2, {1, 5}, {-999, 4}, "{1,0}"},
    {"a one at the end", 2, {5, 1}, {4, 0}, "{1,0}"},
    {"ones alone", 3, {1, 1, 1}, {4, 4, 4}, "{2,1,0}"},
    {"no elements", 2, {0, 5}, {3, 3}, "{1,0}"},
    {"a scalar", 0, {0}, {0}, "{}"},
    {"a gap", 2, {3, 5}, {24, 4}, NULL},
    {"backwards", 2, {3, 5}, {20, -4}, NULL},
    {"a broadcast", 2, {3, 5}, {0, 4}, NULL},
    {"overlapping", 2, {2, 2}, {4, 4}, NULL},
};

static void dense_strides_say_an_order(void **state) {
  (void)state;
  for (size_t r = 0; r < sizeof dense_rows / sizeof dense_rows[0]; r++) {
    tesela_xla_layout layout = {.rank = -7};
    tesela_status status = tesela_xla_layout_from_byte_strides(
        &layout, TESELA_F32, dense_rows[r].rank, dense_rows[r].dim, dense_rows[r].strides, NULL);
    AGREE(dense_rows[r].name, status, dense_rows[r].order ? TESELA_OK : TESELA_E_UNSUPPORTED);
    if (dense_rows[r].order)
      check_layout(dense_rows[r].name, &layout, dense_rows[r].order);
    else
      AGREE(dense_rows[r].name, layout.rank, -7);
  }
}

/* The strides of a shape say its order again, for all orders of some dims. */
static void strides_and_order_agree(void **state) {
  (void)state;
  static const int32_t orders[][3] = {{0, 1, 2}, {0, 2, 1}, {1, 0, 2}, {1, 2, 0}, {2, 0, 1}, {2, 1, 0}};
  static const int64_t dim[] = {3, 5, 7};
  for (size_t k = 0; k < 6; k++) {
    tesela_xla_layout layout, back;
    tesela_xla_shape shape;
    int64_t strides[3];
    OK(tesela_xla_layout_make(&layout, 3, orders[k], &e_));
    OK(tesela_xla_shape_make(&shape, TESELA_BF16, 3, dim, &layout, &e_));
    OK(tesela_xla_byte_strides(&shape, strides, &e_));
    OK(tesela_xla_layout_from_byte_strides(&back, TESELA_BF16, 3, dim, strides, &e_));
    AGREE("order", tesela_xla_layout_equal(&layout, &back, 0), true);
  }
}

static void any_strides_are_a_relation(void **state) {
  (void)state;
  static const struct {
    const char *name;
    int64_t dim[2], strides[2], first, index[2], place;
    tesela_status status;
  } rows[] = {
      {"row-major", {3, 5}, {20, 4}, 0, {2, 3}, 13, TESELA_OK},
      {"rows backwards", {3, 5}, {-20, 4}, 10, {2, 3}, 3, TESELA_OK},
      {"all backwards", {3, 5}, {-20, -4}, 14, {2, 3}, 1, TESELA_OK},
      {"a gap between rows", {3, 5}, {32, 4}, 0, {2, 3}, 19, TESELA_OK},
      {"a broadcast", {3, 5}, {0, 4}, 0, {2, 3}, 3, TESELA_OK},
      {"a one backwards", {1, 5}, {-20, 4}, 0, {0, 3}, 3, TESELA_OK},
      {"between elements", {3, 5}, {20, 2}, 0, {0, 0}, 0, TESELA_E_UNSUPPORTED},
      {"a negative extent", {-3, 5}, {20, 4}, 0, {0, 0}, 0, TESELA_E_RANGE},
      {"too far", {INT64_MAX, 5}, {-16, 4}, 0, {0, 0}, 0, TESELA_E_OVERFLOW},
  };
  for (size_t r = 0; r < sizeof rows / sizeof rows[0]; r++) {
    tesela_layout layout;
    int64_t place;
    tesela_status status = tesela_xla_strided(&layout, TESELA_F32, 2, rows[r].dim, rows[r].strides, NULL);
    AGREE(rows[r].name, status, rows[r].status);
    if (status != TESELA_OK) continue;
    AGREE(rows[r].name, layout.axis[0].offset, rows[r].first);
    OK(tesela_layout_place_of(&layout, rows[r].index, &place, &e_));
    AGREE(rows[r].name, place, rows[r].place);
  }
  tesela_layout layout;
  assert_int_equal(tesela_xla_strided(&layout, TESELA_TOKEN, 0, NULL, NULL, NULL), TESELA_E_UNSUPPORTED);
  const int64_t many[33] = {0};
  assert_int_equal(tesela_xla_strided(&layout, TESELA_F32, 33, many, many, NULL), TESELA_E_LIMIT);
}

/* ---- split configs ---- */

static void split_configs_are_added(void **state) {
  (void)state;
  static const int64_t one[] = {30}, two[] = {40, 130}, down[] = {5, 3}, zero[] = {0};
  tesela_xla_layout layout = layout_of("{0,1,2}");
  OK(tesela_xla_layout_add_split(&layout, 0, 1, one, &e_));
  OK(tesela_xla_layout_add_split(&layout, 1, 2, two, &e_));
  check_layout("two", &layout, "{0,1,2:SC(0:30)(1:40,130)}");
  assert_int_equal(tesela_xla_layout_add_split(&layout, 1, 1, one, NULL), TESELA_E_INVALID);
  assert_int_equal(tesela_xla_layout_add_split(&layout, 2, 2, down, NULL), TESELA_E_INVALID);
  assert_int_equal(tesela_xla_layout_add_split(&layout, 2, 1, zero, NULL), TESELA_E_RANGE);
  assert_int_equal(tesela_xla_layout_add_split(&layout, 3, 1, one, NULL), TESELA_E_RANGE);
  assert_int_equal(tesela_xla_layout_add_split(&layout, 2, -1, one, NULL), TESELA_E_LIMIT);
  assert_int_equal(tesela_xla_layout_add_split(&layout, 2, 62, one, NULL), TESELA_E_LIMIT);
  check_layout("unchanged", &layout, "{0,1,2:SC(0:30)(1:40,130)}");
  tesela_xla_layout many = layout_of("{0,1,2,3,4,5,6,7,8}");
  for (int32_t dim = 0; dim < TESELA_XLA_MAX_SPLITS; dim++)
    OK(tesela_xla_layout_add_split(&many, dim, 1, one, &e_));
  assert_int_equal(tesela_xla_layout_add_split(&many, 8, 1, one, NULL), TESELA_E_LIMIT);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(layout_modes_are_words_or_layouts), cmocka_unit_test(an_unknown_mode_is_refused),
      cmocka_unit_test(jax_layouts_are_read_and_printed),  cmocka_unit_test(wrong_jax_layouts_are_refused),
      cmocka_unit_test(what_others_cannot_say_is_named),   cmocka_unit_test(pjrt_arrays_are_flat),
      cmocka_unit_test(dense_strides_say_an_order),        cmocka_unit_test(strides_and_order_agree),
      cmocka_unit_test(any_strides_are_a_relation),        cmocka_unit_test(split_configs_are_added),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
