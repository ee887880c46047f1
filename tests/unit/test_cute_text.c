/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_cute_text.c - CuTe layouts: texts, reading against the formula, maps of threads and values.
 */
#include <inttypes.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include <tesela/cute.h>
#include <tesela/notation.h>

#include "support_cute.h"
#include "support_cute_text.h"
#include "support_seed.h"

static void print(const tesela_cute *cute, char *text, size_t room) {
  tesela_buffer buffer = {text, room, 0};
  tesela_writer to = tesela_buffer_writer(&buffer);
  tesela_error err = {.message = ""};
  if (tesela_cute_print(cute, &to, &err) != TESELA_OK) fail_msg("%s", err.message);
  assert_true(buffer.length < room);
}

/* ---- texts -------------------------------------------------------------------------------------------------- */

static void spellings_have_one_canonical_text(void **state) {
  (void)state;
  static const struct {
    const char *text, *canonical;
  } rows[] = {
      {"((2,2),(4,2)):((4,16),(1,8))", "((2,2),(4,2)):((4,16),(1,8))"},
      {"((2, 2), (4, 2)) : ((4, 16), (1, 8))", "((2,2),(4,2)):((4,16),(1,8))"},
      {"\t(_4,\n_8):(_8,_1)  ", "(4,8):(8,1)"},
      {"20:2", "20:2"},
      {"(20):(2)", "(20):(2)"},
      {"(4,):(1,)", "(4):(1)"},
      {"((4,),):((1,),)", "((4)):((1))"},
      {"():()", "():()"},
      {"()", "():()"},
      {"8", "8:1"},
      {"(4,8)", "(4,8):(1,4)"},
      {"(4,(2,3))", "(4,(2,3)):(1,(4,8))"},
      {"(6,9):(2@1,1@0)", "(6,9):(2@1,1@0)"},
      {"(6,9):(2@1@0,1@0)", "(6,9):(2@1@0,1@0)"},
      {"(6,9):(ScaledBasis<2,0,1>,E<0>)", "(6,9):(2@1@0,1@0)"},
      {"(1,4):(7,1)", "(1,4):(0,1)"},
      {"(1,4):(7@1,1@0)", "(1,4):(0,1@0)"},
      {"(4,8):(-8,1)", "(4,8):(-8,1)"},
      {"Sw<3,3,3> o 0 o (8,64):(64,1)", "Sw<3,3,3> o 0 o (8,64):(64,1)"},
      {"Sw<3,3,3> o (8,64):(64,1)", "Sw<3,3,3> o 0 o (8,64):(64,1)"},
      {"Swizzle<3,3,3> o _0 o (_8,_64):(_64,_1)", "Sw<3,3,3> o 0 o (8,64):(64,1)"},
      {"S<2,1,-4> o 8 o (8,64):(64,1)", "Sw<2,1,-4> o 8 o (8,64):(64,1)"},
      {"SW_3_4_-3 o 8 o 8:1", "Sw<3,4,-3> o 8 o 8:1"},
      {"Sw<0,4,3> o 24 o (4,8):(-8,1)", "Sw<0,0,0> o 24 o (4,8):(-8,1)"},
      {"Sw<0,4,3> o 0 o (4,8):(8,1)", "(4,8):(8,1)"},
      {"Sw<3,4,3> o smem_ptr[16b](unset) o (8,64):(64,1)", "Sw<3,3,3> o 0 o (8,64):(64,1)"},
      {"Sw<3,4,3> o smem_ptr[16b](0x7f0000000c00) o (8,64):(64,1)", "Sw<3,3,3> o 0 o (8,64):(64,1)"},
      {"Sw<3,4,3>_smem_ptr[16b](0x400) o (8,64):(64,1)", "Sw<3,3,3> o 0 o (8,64):(64,1)"},
      {"ptr[32b](0x7f33) o (8,64):(64,1)", "(8,64):(64,1)"},
      {"Sw<3,4,3> o smem_ptr[4b](unset) o (8,64):(64,1)", "Sw<3,5,3> o 0 o (8,64):(64,1)"},
      {"32:2 o 3 o (4,6):(6,1)", "Sw<0,0,0> o 6 o (4,6):(12,2)"},
      {"Layout<Shape<_4,_8>,Stride<_8,_1>>", "(4,8):(8,1)"},
      {"Layout<Shape<_4,_8>>{}", "(4,8):(1,4)"},
      {"cute::Layout<cute::Shape<cute::Int<4>,cute::Shape<_2,_3>>,Stride<_8,Stride<_1,Int<2>>>>{}",
       "(4,(2,3)):(8,(1,2))"},
      {"make_layout(make_shape(4, 8), make_stride(8, 1))", "(4,8):(8,1)"},
      {"make_layout(make_shape(Int<4>{}, _8{}), LayoutRight{})", "(4,8):(8,1)"},
      {"make_layout(Shape<_4,_8>{}, GenColMajor{})", "(4,8):(1,4)"},
      {"ComposedLayout<Swizzle<3,4,3>, smem_ptr_flag_bits<16>, Layout<Shape<_8,_64>,Stride<_64,_1>>>",
       "Sw<3,3,3> o 0 o (8,64):(64,1)"},
      {"make_composed_layout(Swizzle<3,3,3>{}, 4, make_layout(make_shape(8, 64)))",
       "Sw<3,3,3> o 4 o (8,64):(1,8)"},
      {"composition(Swizzle<3,3,3>{}, Layout<Shape<_8,_64>>{})", "Sw<3,3,3> o 0 o (8,64):(1,8)"},
  };
  for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
    char text[256];
    tesela_cute cute = cute_read(rows[i].text);
    print(&cute, text, sizeof text);
    if (strcmp(text, rows[i].canonical) != 0)
      fail_msg("%s gives %s, not %s", rows[i].text, text, rows[i].canonical);
    cute = cute_read(text);
    print(&cute, text, sizeof text);
    assert_string_equal(text, rows[i].canonical);
  }
}

static void refusals_say_what_and_where(void **state) {
  (void)state;
  static const struct {
    const char *text;
    tesela_status status;
    int64_t at;
    const char *message;
  } rows[] = {
      {"<4:1,_,8:1>", TESELA_E_SYNTAX, 0, "<...> is a tiler, which CuTe's operations take; expected a layout"},
      {"(4,?):(8,1)", TESELA_E_UNSUPPORTED, 3, "'?' is known only at run time"},
      {"(4,8):(?{i64},1)", TESELA_E_UNSUPPORTED, 7, "'?' is known only at run time"},
      {"(4,(2,())):(8,1)", TESELA_E_UNSUPPORTED, 6, "an empty tuple inside a tuple"},
      {"(32,2):(2,1) o 3 o (4,6):(6,1)", TESELA_E_UNSUPPORTED, 0, "a layout of several leaves"},
      {"(4,8):(8,1,1)", TESELA_E_SYNTAX, 9, "in the same brackets as the extents"},
      {"(4,8):8", TESELA_E_SYNTAX, 6, "in the same brackets as the extents"},
      {"(4,(2,2)):(8,2,1)", TESELA_E_SYNTAX, 13, "in the same brackets as the extents"},
      {"(4,8):()", TESELA_E_SYNTAX, 6, "in the same brackets as the extents"},
      {"():(1)", TESELA_E_SYNTAX, 3, "in the same brackets as the extents"},
      {"(4,8):(8,x)", TESELA_E_SYNTAX, 9, "expected a stride, found 'x'"},
      {"(4,8", TESELA_E_SYNTAX, 4, "expected ',' or ')', found the end of the text"},
      {"(4,8):(8,1) 3", TESELA_E_SYNTAX, 12, "expected the end of the layout, found '3'"},
      {"(4,0):(8,1)", TESELA_E_RANGE, 3, "an extent is 0; expected 1 or more"},
      {"Sw<3,3,2> o 0 o 8:1", TESELA_E_RANGE, 3, "|shift| >= bits"},
      {"Sw<3,60,3> o 0 o 8:1", TESELA_E_RANGE, 3, "base + |shift| + bits <= 62"},
      {"Sw<3,0,3> o smem_ptr[16b](unset) o 8:1", TESELA_E_UNSUPPORTED, 12, "within elements of 16 bits"},
      {"Sw<3,3,3> o smem_ptr[16b](0x7f) o 8:1", TESELA_E_UNSUPPORTED, 12, "not a multiple of 512 bytes"},
      {"Sw<3,3,3> o smem_ptr[16b](7f) o 8:1", TESELA_E_SYNTAX, 26,
       "expected an address, such as 0x7f0000000400"},
      {"Sw<3,3,3>_(8,8):(1,8)", TESELA_E_SYNTAX, 9, "expected 'o', found '_'"},
      {"(6,9):(1@0@0@0@0@0,1)", TESELA_E_LIMIT, 17, "more than 4 numbers in the path"},
      {"2:99999999999999999999", TESELA_E_OVERFLOW, 2, "does not fit in 64 bits"},
      {"(4000000000,4000000000):(1,1)", TESELA_E_OVERFLOW, 0, "exceed 64 bits"},
      {"2:-9223372036854775808", TESELA_E_OVERFLOW, 0, "exceed 64 bits"},
  };
  for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
    tesela_cute cute = cute_read("3:7"), before = cute;
    tesela_error err = {.at = -7};
    tesela_status status = tesela_cute_parse(&cute, rows[i].text, strlen(rows[i].text), &err);
    if (status != rows[i].status || err.at != rows[i].at || !strstr(err.message, rows[i].message))
      fail_msg("%s: status %d at %" PRId64 ": %s", rows[i].text, status, err.at, err.message);
    assert_memory_equal(&cute, &before, sizeof cute);
  }
}

/* Brackets and leaves are bounded, not the stack. */
static void depth_is_bounded(void **state) {
  (void)state;
  enum { DEEP = 100000 };
  static char text[2 * DEEP];
  tesela_cute cute;
  tesela_error err;
  memset(text, '(', sizeof text);
  assert_int_equal(tesela_cute_parse(&cute, text, sizeof text, &err), TESELA_E_LIMIT);
  assert_string_equal(err.message, "more than 64 open brackets");
  size_t n = 0;
  text[n++] = '(';
  for (int i = 0; i < 65; i++, n += 2) memcpy(text + n, "1,", 2);
  assert_int_equal(tesela_cute_parse(&cute, text, n, &err), TESELA_E_LIMIT);
  assert_string_equal(err.message, "more than 64 extents");
  cute = cute_read("(4,8):(8,1)");
  cute.close[0] = 1;
  tesela_buffer buffer = {text, sizeof text, 0};
  tesela_writer to = tesela_buffer_writer(&buffer);
  assert_int_equal(tesela_cute_print(&cute, &to, &err), TESELA_E_INVALID);
}

/* ---- reading ------------------------------------------------------------------------------------------------ */

static void reading_agrees_with_the_formula(void **state) {
  (void)state;
  cute_draw_from(first_seed());
  for (int k = 0; k < (slow_run() ? 300 : 3000); k++) {
    random_cute c;
    cute_random_draw(&c, 256, cute_draw(2));
    tesela_xla_shape part = {.dtype = TESELA_F32, .rank = c.rank};
    bool cut = cute_draw(2);
    for (int d = 0; d < c.rank; d++)
      part.dim[d] = cut ? 1 + (int64_t)cute_draw((uint64_t)c.shape[d]) : c.shape[d];
    tesela_layout layout = cute_read_layout(c.text, NULL, cut ? &part : NULL);
    int64_t index[CUTE_DIMS] = {0}, place, most = 0;
    assert_int_equal(layout.rank, c.rank);
    assert_int_equal(layout.bits, cut ? 32 : 8);
    assert_int_equal(layout.n_axes, 1);
    assert_string_equal(layout.axis[0].name, "memory");
    for (int d = 0; d < c.rank; d++) assert_int_equal(layout.shape[d], part.dim[d]);
    do {
      assert_int_equal(tesela_layout_place_of(&layout, index, &place, NULL), TESELA_OK);
      if (place != cute_formula(&c, index))
        fail_msg("%s: %" PRId64 ", not %" PRId64, c.text, place, cute_formula(&c, index));
    } while (tesela_index_next(c.rank, part.dim, index));
    memset(index, 0, sizeof index);
    do
      if (cute_formula(&c, index) > most) most = cute_formula(&c, index);
    while (tesela_index_next(c.rank, c.shape, index));
    if (c.bits == 0 ? layout.axis[0].extent != most + 1 : layout.axis[0].extent <= most)
      fail_msg("%s: cosize %" PRId64 ", not %" PRId64, c.text, layout.axis[0].extent, most + 1);
  }
}

/* Tables of another implementation, in the order of coordinates, the first mode fastest; cosize 0: swizzled. */
static void tables_are_those_of_the_examples(void **state) {
  (void)state;
  static const struct {
    const char *text;
    int64_t cosize, table[32];
  } rows[] = {
      {"8:2", 15, {0, 2, 4, 6, 8, 10, 12, 14}},
      {"6:0", 1, {0, 0, 0, 0, 0, 0}},
      {"(4,6):(8,1)", 30, {0, 8,  16, 24, 1, 9,  17, 25, 2, 10, 18, 26,
                           3, 11, 19, 27, 4, 12, 20, 28, 5, 13, 21, 29}},
      {"((2,2),(2,4)):((2,8),(1,16))", 60, {0,  2,  8,  10, 1,  3,  9,  11, 16, 18, 24, 26, 17, 19, 25, 27,
                                            32, 34, 40, 42, 33, 35, 41, 43, 48, 50, 56, 58, 49, 51, 57, 59}},
      {"(2,(3,1),2):(6,(1,0),3)", 12, {0, 6, 1, 7, 2, 8, 3, 9, 4, 10, 5, 11}},
      {"Sw<2,0,2> o 0 o (4,4):(4,1)", 0, {0, 5, 10, 15, 1, 4, 11, 14, 2, 7, 8, 13, 3, 6, 9, 12}},
      {"Sw<1,1,2> o 0 o (4,8):(8,1)", 0, {0, 10, 16, 26, 1, 11, 17, 27, 2, 8,  18, 24, 3, 9,  19, 25,
                                          4, 14, 20, 30, 5, 15, 21, 31, 6, 12, 22, 28, 7, 13, 23, 29}},
  };
  for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
    tesela_layout layout = cute_read_layout(rows[i].text, NULL, NULL);
    int64_t n = 1;
    for (int d = 0; d < layout.rank; d++) n *= layout.shape[d];
    if (rows[i].cosize > 0) assert_int_equal(layout.axis[0].extent, rows[i].cosize);
    for (int64_t k = 0; k < n; k++) {
      int64_t index[CUTE_DIMS], place, rest = k;
      for (int d = 0; d < layout.rank; d++) {
        index[d] = rest % layout.shape[d];
        rest /= layout.shape[d];
      }
      assert_int_equal(tesela_layout_place_of(&layout, index, &place, NULL), TESELA_OK);
      if (place != rows[i].table[k]) fail_msg("%s: %d", rows[i].text, (int)k);
    }
  }
}

/* 10^12 elements; coordinates as axes. */
static void large_and_basis_layouts_are_read(void **state) {
  (void)state;
  tesela_layout layout = cute_read_layout("(1000000,(1000,1000)):(1000,(1,1000000000))", NULL, NULL);
  const int64_t index[2] = {999999, 999999};
  int64_t place[2];
  assert_int_equal(tesela_layout_place_of(&layout, index, place, NULL), TESELA_OK);
  assert_int_equal(place[0], INT64_C(999999999999));
  layout = cute_read_layout("(6,(3,3)):(2@1,(1@0,4@1))", NULL, NULL);
  assert_int_equal(layout.n_axes, 2);
  assert_string_equal(layout.axis[0].name, "c0");
  assert_string_equal(layout.axis[1].name, "c1");
  const int64_t at[2] = {5, 7}; /* 7 = 1 + 3*2 */
  assert_int_equal(tesela_layout_place_of(&layout, at, place, NULL), TESELA_OK);
  assert_int_equal(place[0], 1);
  assert_int_equal(place[1], 2 * 5 + 4 * 2);
}

/* ---- maps of threads and values ----------------------------------------------------------------------------- */

static void maps_are_inverted(void **state) {
  (void)state;
  static const struct {
    const char *text, *as;
    int64_t threads, values, tile[2];
  } rows[] = {
      {"((4,8),(2,2)):((32,1),(16,8))", "tv:16x8", 32, 4, {16, 8}},         /* m16n8 accumulators */
      {"((4,8),(2,2,2)):((32,1),(16,8,128))", "tv:16x16", 32, 8, {16, 16}}, /* A of m16n8k16 */
      {"((2,2),(2,2)):((1,8),(2,4))", "tv:4x4", 4, 4, {4, 4}},
      {"((4,8),(2,2)):((0,1),(16,8))", "tv:8x4", 32, 4, {8, 4}}, /* 4 copies */
      {"(6,5):(1,6)", "tv:3x10", 6, 5, {3, 10}},                 /* joins of dims */
  };
  for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
    tesela_layout layout = cute_read_layout(rows[i].text, rows[i].as, NULL);
    tesela_cute cute = cute_read(rows[i].text);
    int32_t value = 0;
    assert_int_equal(layout.axis[0].extent, rows[i].threads);
    assert_int_equal(layout.axis[1].extent, rows[i].values);
    do value++; /* the first leaf of the values */
    while (cute.n > 2 && cute.open[value] == 0);
    for (int64_t t = 0; t < rows[i].threads; t++)
      for (int64_t v = 0; v < rows[i].values; v++) {
        int64_t rest[2] = {t, v}, number = 0, index[2], place[2];
        for (int32_t k = 0; k < cute.n; k++) {
          number += rest[k >= value] % cute.extent[k] * cute.stride[k];
          rest[k >= value] /= cute.extent[k];
        }
        index[0] = number % rows[i].tile[0];
        index[1] = number / rows[i].tile[0];
        bool found = false;
        for (int64_t k = 0; k < tesela_layout_copies(&layout); k++) {
          assert_int_equal(tesela_layout_copy_of(&layout, index, k, place, NULL), TESELA_OK);
          found = found || (place[0] == t && place[1] == v);
        }
        if (!found) fail_msg("%s: (%d,%d)", rows[i].text, (int)t, (int)v);
      }
  }
}

static void other_maps_are_refused(void **state) {
  (void)state;
  static const struct {
    const char *text, *as;
    tesela_status status;
    const char *message;
  } rows[] = {
      {"((4,8),2):((32,1),16)", "tv:16x8", TESELA_E_INVALID, "element (8,0) of the tile is in no thread"},
      {"(4,2):(1,4)", "tv:4x4", TESELA_E_INVALID, "element (0,2) of the tile is in no thread"},
      {"(4,2):(1,2)", "tv:4x2", TESELA_E_UNSUPPORTED, "copies that differ between elements"},
      {"(4,4):(1,4)", "tv:4x2", TESELA_E_RANGE, "the map reaches element number 12; the tile has 8 elements"},
      {"(4,2,2):(1,4,8)", "tv:4x4", TESELA_E_MISMATCH, "expected two modes, thread and value"},
      {"(4,2):(1,-4)", "tv:4x2", TESELA_E_RANGE, "the map begins at element number -4; expected 0"},
      {"Sw<1,0,2> o 0 o (3,2):(1,3)", "tv:3x2", TESELA_E_UNSUPPORTED, "a swizzle in a map"},
      {"Sw<1,0,-3> o 0 o (4,2):(1,4)", "tv:4x2", TESELA_E_RANGE,
       "the swizzle moves elements out of the tile"},
      {"(4,2):(1,4)", "4x2", TESELA_E_SYNTAX, "expected a tile, \"tv:16x8\", found \"4x2\""},
      {"(4,2):(1,4)", "tv:4x", TESELA_E_SYNTAX, "expected a tile"},
  };
  for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
    tesela_any_layout any;
    tesela_error err = {.message = ""};
    const tesela_layout_read_options options = {.as = rows[i].as};
    tesela_status status = tesela_layout_read(rows[i].text, strlen(rows[i].text), &options, &any, &err);
    if (status != rows[i].status || !strstr(err.message, rows[i].message))
      fail_msg("%s: status %d: %s", rows[i].text, status, err.message);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(spellings_have_one_canonical_text),
      cmocka_unit_test(refusals_say_what_and_where),
      cmocka_unit_test(depth_is_bounded),
      cmocka_unit_test(reading_agrees_with_the_formula),
      cmocka_unit_test(tables_are_those_of_the_examples),
      cmocka_unit_test(large_and_basis_layouts_are_read),
      cmocka_unit_test(maps_are_inverted),
      cmocka_unit_test(other_maps_are_refused),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
