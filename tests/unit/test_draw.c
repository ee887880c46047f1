/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_draw.c - pictures: whole ones, slices and windows.
 *
 * Numbers in pictures are those of the tiled-layout document (tests/vectors) or counted by hand; pictures
 * of random layouts are read back and compared with the oracle in tests/cli/test_show.py.
 */
#include "support_draw.h"

/* ---- whole pictures ---------------------------------------------------------------------------------- */

static const struct {
  const char *name, *layout;
  int64_t tile[2];
  const char *picture;
} picture_rows[] = {
    {"figure 1: the dots are the places of the padding",
     "f32[3,5]{1,0:T(2,2)}",
     {2, 2},
     "       0   1     2   3     4  ·5\n"
     "   ┏━━━━━━━━━┳━━━━━━━━━┳━━━━━━━━━┓\n"
     " 0 ┃   0   1 ┃   4   5 ┃   8  ·9 ┃\n"
     " 1 ┃   2   3 ┃   6   7 ┃  10 ·11 ┃\n"
     "   ┣━━━━━━━━━╋━━━━━━━━━╋━━━━━━━━━┫\n"
     " 2 ┃  12  13 ┃  16  17 ┃  20 ·21 ┃\n"
     "·3 ┃ ·14 ·15 ┃ ·18 ·19 ┃ ·22 ·23 ┃\n"
     "   ┗━━━━━━━━━┻━━━━━━━━━┻━━━━━━━━━┛\n"},
    {"figure 2: pairs stand between light lines",
     "f32[4,8]{1,0:T(2,4)(2,1)}",
     {2, 4},
     "     0    1    2    3    4    5    6    7\n"
     "  ┏━━━━┯━━━━┯━━━━┯━━━━┳━━━━┯━━━━┯━━━━┯━━━━┓\n"
     "0 ┃  0 │  2 │  4 │  6 ┃  8 │ 10 │ 12 │ 14 ┃\n"
     "1 ┃  1 │  3 │  5 │  7 ┃  9 │ 11 │ 13 │ 15 ┃\n"
     "  ┣━━━━┿━━━━┿━━━━┿━━━━╋━━━━┿━━━━┿━━━━┿━━━━┫\n"
     "2 ┃ 16 │ 18 │ 20 │ 22 ┃ 24 │ 26 │ 28 │ 30 ┃\n"
     "3 ┃ 17 │ 19 │ 21 │ 23 ┃ 25 │ 27 │ 29 │ 31 ┃\n"
     "  ┗━━━━┷━━━━┷━━━━┷━━━━┻━━━━┷━━━━┷━━━━┷━━━━┛\n"},
    {"figures 3 and 4: pairs of tiles are interleaved",
     "f32[8,8]{1,0:T(2,4)(2,1,1,1)}",
     {2, 4},
     "     0  1  2  3    4  5  6  7\n"
     "  ┏━━━━━━━━━━━━━┳━━━━━━━━━━━━━┓\n"
     "0 ┃  0  2  4  6 ┃ 16 18 20 22 ┃\n"
     "1 ┃  8 10 12 14 ┃ 24 26 28 30 ┃\n"
     "  ┣━━━━━━━━━━━━━╋━━━━━━━━━━━━━┫\n"
     "2 ┃  1  3  5  7 ┃ 17 19 21 23 ┃\n"
     "3 ┃  9 11 13 15 ┃ 25 27 29 31 ┃\n"
     "  ┣━━━━━━━━━━━━━╋━━━━━━━━━━━━━┫\n"
     "4 ┃ 32 34 36 38 ┃ 48 50 52 54 ┃\n"
     "5 ┃ 40 42 44 46 ┃ 56 58 60 62 ┃\n"
     "  ┣━━━━━━━━━━━━━╋━━━━━━━━━━━━━┫\n"
     "6 ┃ 33 35 37 39 ┃ 49 51 53 55 ┃\n"
     "7 ┃ 41 43 45 47 ┃ 57 59 61 63 ┃\n"
     "  ┗━━━━━━━━━━━━━┻━━━━━━━━━━━━━┛\n"},
    {"without tiles there is only the frame",
     "f32[2,3]{0,1}",
     {0, 0},
     "    0 1 2\n"
     "  ┏━━━━━━━┓\n"
     "0 ┃ 0 2 4 ┃\n"
     "1 ┃ 1 3 5 ┃\n"
     "  ┗━━━━━━━┛\n"},
    {"a tile level that pads leaves a hole between elements",
     "f32[4,2]{1,0:T(4,2)(3,1)}",
     {4, 2},
     "      0     1\n"
     "  ┏━━━━━┯━━━━━┓\n"
     "0 ┃   0 │   3 ┃\n"
     "1 ┃   1 │   4 ┃\n"
     "2 ┃   2 │   5 ┃\n"
     "  ┠─────┼─────┨\n"
     "3 ┃   6 │   9 ┃\n"
     "· ┃  ·7 │ ·10 ┃\n"
     "· ┃  ·8 │ ·11 ┃\n"
     "  ┗━━━━━┷━━━━━┛\n"},
    {"one dim is one row",
     "f32[5]{0:T(4)}",
     {4},
     "   0  1  2  3    4 ·5 ·6 ·7\n"
     "┏━━━━━━━━━━━━━┳━━━━━━━━━━━━━┓\n"
     "┃  0  1  2  3 ┃  4 ·5 ·6 ·7 ┃\n"
     "┗━━━━━━━━━━━━━┻━━━━━━━━━━━━━┛\n"},
    {"a tile of more dims than the array pads downwards",
     "f32[3]{0:T(2,2)}",
     {2},
     "      0  1    2 ·3\n"
     "   ┏━━━━━━━┳━━━━━━━┓\n"
     " 0 ┃  0  1 ┃  4 ·5 ┃\n"
     "·1 ┃ ·2 ·3 ┃ ·6 ·7 ┃\n"
     "   ┗━━━━━━━┻━━━━━━━┛\n"},
    {"a scalar is one cell",
     "f32[]",
     {0},
     "┏━━━┓\n"
     "┃ 0 ┃\n"
     "┗━━━┛\n"},
    {"joined dims are one side with their indices",
     "f32[2,2,2]{2,1,0:T(3,*,2)}",
     {3, 2},
     "     0,0 0,1   1,0 1,1\n"
     "   ┏━━━━━━━━━┳━━━━━━━━━┓\n"
     " 0 ┃   0   1 ┃   6   7 ┃\n"
     " 1 ┃   2   3 ┃   8   9 ┃\n"
     "·2 ┃  ·4  ·5 ┃ ·10 ·11 ┃\n"
     "   ┗━━━━━━━━━┻━━━━━━━━━┛\n"},
};

static void test_pictures(void **state) {
  (void)state;
  for (size_t i = 0; i < sizeof picture_rows / sizeof picture_rows[0]; i++) {
    tesela_layout layout = draw_layout(picture_rows[i].layout);
    int64_t tile[TESELA_MAX_RANK] = {picture_rows[i].tile[0], picture_rows[i].tile[1],
                                     picture_rows[i].tile[1]};
    const char *text = draw_text(tesela_draw_grid, &layout, &(tesela_draw_options){.tile = tile});
    if (strcmp(text, picture_rows[i].picture) != 0)
      fail_msg("%s:\n%s\nnot\n%s", picture_rows[i].name, text, picture_rows[i].picture);
  }
}

static void test_ascii(void **state) {
  (void)state;
  tesela_layout layout = draw_layout("f32[3,5]{1,0:T(2,2)}");
  assert_string_equal(draw_text(tesela_draw_grid, &layout, &(tesela_draw_options){.ascii = true}),
                      "       0   1     2   3     4  ~5\n"
                      "   +=========+=========+=========+\n"
                      " 0 |   0   1 |   4   5 |   8  ~9 |\n"
                      " 1 |   2   3 |   6   7 |  10 ~11 |\n"
                      "   +=========+=========+=========+\n"
                      " 2 |  12  13 |  16  17 |  20 ~21 |\n"
                      "~3 | ~14 ~15 | ~18 ~19 | ~22 ~23 |\n"
                      "   +=========+=========+=========+\n");
}

/* Without a tile the largest step of the digits has the heavy lines: the pair of tiles. */
static void test_blocks(void **state) {
  (void)state;
  tesela_layout layout = draw_layout("f32[8,8]{1,0:T(2,4)(2,1,1,1)}");
  const char *text = draw_text(tesela_draw_grid, &layout, NULL);
  assert_non_null(strstr(text, "1 ┃  8 10 12 14 ┃ 24 26 28 30 ┃\n  ┠─────────────╂─────────────┨\n2 "));
  assert_non_null(strstr(text, "3 ┃  9 11 13 15 ┃ 25 27 29 31 ┃\n  ┣━━━━━━━━━━━━━╋━━━━━━━━━━━━━┫\n4 "));
  assert_string_equal(draw_text(tesela_draw_legend, &layout, NULL),
                      "Each number is a place in memory.\n"
                      "Heavy lines: blocks of 4 x 4; light lines: 2 x 4.\n");
}

/* Take away "\033[..m". */
static void strip(char *text) {
  char *to = text;
  for (const char *from = text; *from; from++) {
    if (*from == '\033')
      while (*from != 'm') from++;
    else
      *to++ = *from;
  }
  *to = '\0';
}

static void test_color(void **state) {
  (void)state;
  tesela_layout layout = draw_layout("f32[3,5]{1,0:T(2,2)}");
  char colored[PICTURE];
  strcpy(colored, draw_text(tesela_draw_grid, &layout, &(tesela_draw_options){.color = true}));
  assert_non_null(strstr(colored, "\033[36m0\033[0m")); /* neighbouring tiles differ */
  assert_non_null(strstr(colored, "\033[35m4\033[0m"));
  assert_non_null(strstr(colored, "\033[32m12\033[0m"));
  assert_non_null(strstr(colored, "\033[2m·9\033[0m")); /* padding is faint, and has its dot */
  strip(colored);
  assert_string_equal(colored, draw_text(tesela_draw_grid, &layout, NULL));
}

/* ---- a layout of the padded array -------------------------------------------------------------------- */

static void test_shape(void **state) {
  (void)state;
  tesela_layout padded = draw_layout("f32[2,4]{1,0:T(2,4)}");
  static const int64_t shape[] = {1, 3}, large[] = {1, 5};
  assert_string_equal(draw_text(tesela_draw_grid, &padded, &(tesela_draw_options){.shape = shape}),
                      "      0  1  2 ·3\n"
                      "   ┏━━━━━━━━━━━━━┓\n"
                      " 0 ┃  0  1  2 ·3 ┃\n"
                      "·1 ┃ ·4 ·5 ·6 ·7 ┃\n"
                      "   ┗━━━━━━━━━━━━━┛\n");
  assert_string_equal(draw_text(tesela_draw_linear, &padded, &(tesela_draw_options){.shape = shape}),
                      "      +0   +1   +2   +3\n"
                      "0 │  0,0  0,1  0,2    ·\n"
                      "4 │    ·    ·    ·    ·\n");
  tesela_draw_view view;
  assert_int_equal(tesela_draw_view_of(&padded, &(tesela_draw_options){.shape = large}, &view, NULL),
                   TESELA_E_RANGE);
}

/* ---- slices and windows ------------------------------------------------------------------------------ */

static void test_slice(void **state) {
  (void)state;
  tesela_layout layout = draw_layout("f32[2,3,5]{2,1,0:T(2,2)}");
  tesela_draw_options options = {.n_slice = 3, .slice = {{1, 2, true}, {0, -1, false}, {3, -1, false}}};
  assert_string_equal(draw_text(tesela_draw_grid, &layout, &options), /* slice 1 starts at place 24 */
                      "       3     4  ·5\n"
                      "   ┍━━━━━┳━━━━━━━━━┓\n"
                      " 0 ┆  29 ┃  32 ·33 ┃\n"
                      " 1 ┆  31 ┃  34 ·35 ┃\n"
                      "   ┝━━━━━╋━━━━━━━━━┫\n"
                      " 2 ┆  41 ┃  44 ·45 ┃\n"
                      "·3 ┆ ·43 ┃ ·46 ·47 ┃\n"
                      "   ┕━━━━━┻━━━━━━━━━┛\n");
}

static const struct {
  const char *name;
  int32_t n;
  tesela_draw_range slice[3];
  tesela_status status;
} slice_rows[] = {
    {"two of three", 2, {{0, -1, false}, {0, -1, false}}, TESELA_E_MISMATCH},
    {"three sides to draw", 3, {{0, -1, false}, {0, -1, false}, {0, -1, false}}, TESELA_E_INVALID},
    {"an index behind the dim", 3, {{2, 0, true}, {0, -1, false}, {0, -1, false}}, TESELA_E_RANGE},
    {"a negative index", 3, {{-1, 0, true}, {0, -1, false}, {0, -1, false}}, TESELA_E_RANGE},
    {"an empty range", 3, {{0, 0, true}, {2, 2, false}, {0, -1, false}}, TESELA_E_RANGE},
    {"behind the padding", 3, {{0, 0, true}, {4, 9, false}, {0, -1, false}}, TESELA_E_RANGE},
    {"padding alone", 3, {{0, 0, true}, {3, 4, false}, {0, -1, false}}, TESELA_OK},
    {"an end far away", 3, {{0, 0, true}, {0, INT64_MAX, false}, {0, 1, false}}, TESELA_OK},
    {"one row", 3, {{0, 0, true}, {1, 0, true}, {0, -1, false}}, TESELA_OK},
    {"one cell", 3, {{0, 0, true}, {1, 0, true}, {4, 0, true}}, TESELA_OK},
};

static void test_slices(void **state) {
  (void)state;
  tesela_layout layout = draw_layout("f32[2,3,5]{2,1,0:T(2,2)}");
  for (size_t i = 0; i < sizeof slice_rows / sizeof slice_rows[0]; i++) {
    tesela_draw_options options = {.n_slice = slice_rows[i].n};
    memcpy(options.slice, slice_rows[i].slice, sizeof slice_rows[i].slice);
    tesela_draw_view view;
    AGREE(slice_rows[i].name, tesela_draw_view_of(&layout, &options, &view, NULL), slice_rows[i].status);
  }
}

static void test_view(void **state) {
  (void)state;
  tesela_layout layout = draw_layout("f32[2,20,200]{2,1,0:T(8,128)}");
  tesela_draw_view view;
  OK(tesela_draw_view_of(&layout, NULL, &view, &e_));
  AGREE("sides", view.n_sides, 3);
  AGREE("down", view.down, 1);
  AGREE("across", view.across, 2);
  AGREE("dims", view.side[2].n_dims, 1);
  AGREE("dim", view.side[2].dim[0], 2);
  AGREE("extent", view.side[1].extent, 20);
  AGREE("padded", view.side[1].padded, 24);
  AGREE("all rows", view.side[1].shown, 24);
  AGREE("padded", view.side[2].padded, 256);
  AGREE("not all columns", view.side[2].shown < 30 && view.cut, 1);
  AGREE("fixed", view.side[0].shown, 1);
  layout = draw_layout("pred[8,16,300]{0,2,1:T(8,128)}"); /* dim 1 varies slowest */
  OK(tesela_draw_view_of(&layout, NULL, &view, &e_));
  AGREE("down", view.down, 0);
  AGREE("across", view.across, 2);
  layout = draw_layout("f32[3]{0:T(2,2)}");
  OK(tesela_draw_view_of(&layout, NULL, &view, &e_));
  AGREE("sides", view.n_sides, 1);
  AGREE("padding down", view.down, TESELA_HOLE);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_pictures), cmocka_unit_test(test_ascii), cmocka_unit_test(test_blocks),
      cmocka_unit_test(test_color),    cmocka_unit_test(test_shape), cmocka_unit_test(test_slice),
      cmocka_unit_test(test_slices),   cmocka_unit_test(test_view),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
