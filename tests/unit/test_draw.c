/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_draw.c - pictures. The numbers in them are those of the tiled-layout document (tests/vectors) or
 * counted by hand; pictures of random layouts are read back and compared with the oracle in
 * tests/cli/test_show.py.
 */
#include "support_xla.h"

#include <tesela/draw.h>

enum { PICTURE = 1 << 14 };

static tesela_layout layout_of(const char *text) {
  tesela_xla_shape shape = shape_of(text);
  tesela_layout layout;
  OK(tesela_xla_to_layout(&shape, &layout, &e_));
  return layout;
}

typedef tesela_status (*draw_function)(const tesela_layout *, const tesela_draw_options *,
                                       const tesela_writer *, tesela_error *);

static const char *draw(draw_function function, const tesela_layout *layout,
                        const tesela_draw_options *options) {
  static char text[PICTURE];
  tesela_buffer buffer = {text, sizeof text, 0};
  tesela_writer to = tesela_buffer_writer(&buffer);
  OK(function(layout, options, &to, &e_));
  assert_true(buffer.length < sizeof text);
  return text;
}

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
    tesela_layout layout = layout_of(picture_rows[i].layout);
    int64_t tile[TESELA_MAX_RANK] = {picture_rows[i].tile[0], picture_rows[i].tile[1],
                                     picture_rows[i].tile[1]};
    const char *text = draw(tesela_draw_grid, &layout, &(tesela_draw_options){.tile = tile});
    if (strcmp(text, picture_rows[i].picture) != 0)
      fail_msg("%s:\n%s\nnot\n%s", picture_rows[i].name, text, picture_rows[i].picture);
  }
}

static void test_ascii(void **state) {
  (void)state;
  tesela_layout layout = layout_of("f32[3,5]{1,0:T(2,2)}");
  assert_string_equal(draw(tesela_draw_grid, &layout, &(tesela_draw_options){.ascii = true}),
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
  tesela_layout layout = layout_of("f32[8,8]{1,0:T(2,4)(2,1,1,1)}");
  const char *text = draw(tesela_draw_grid, &layout, NULL);
  assert_non_null(strstr(text, "1 ┃  8 10 12 14 ┃ 24 26 28 30 ┃\n  ┠─────────────╂─────────────┨\n2 "));
  assert_non_null(strstr(text, "3 ┃  9 11 13 15 ┃ 25 27 29 31 ┃\n  ┣━━━━━━━━━━━━━╋━━━━━━━━━━━━━┫\n4 "));
  assert_string_equal(draw(tesela_draw_legend, &layout, NULL),
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
  tesela_layout layout = layout_of("f32[3,5]{1,0:T(2,2)}");
  char colored[PICTURE];
  strcpy(colored, draw(tesela_draw_grid, &layout, &(tesela_draw_options){.color = true}));
  assert_non_null(strstr(colored, "\033[36m0\033[0m")); /* neighbouring tiles differ */
  assert_non_null(strstr(colored, "\033[35m4\033[0m"));
  assert_non_null(strstr(colored, "\033[32m12\033[0m"));
  assert_non_null(strstr(colored, "\033[2m·9\033[0m")); /* padding is faint, and has its dot */
  strip(colored);
  assert_string_equal(colored, draw(tesela_draw_grid, &layout, NULL));
}

/* ---- a layout of the padded array -------------------------------------------------------------------- */

static void test_shape(void **state) {
  (void)state;
  tesela_layout padded = layout_of("f32[2,4]{1,0:T(2,4)}");
  static const int64_t shape[] = {1, 3}, large[] = {1, 5};
  assert_string_equal(draw(tesela_draw_grid, &padded, &(tesela_draw_options){.shape = shape}),
                      "      0  1  2 ·3\n"
                      "   ┏━━━━━━━━━━━━━┓\n"
                      " 0 ┃  0  1  2 ·3 ┃\n"
                      "·1 ┃ ·4 ·5 ·6 ·7 ┃\n"
                      "   ┗━━━━━━━━━━━━━┛\n");
  assert_string_equal(draw(tesela_draw_linear, &padded, &(tesela_draw_options){.shape = shape}),
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
  tesela_layout layout = layout_of("f32[2,3,5]{2,1,0:T(2,2)}");
  tesela_draw_options options = {.n_slice = 3, .slice = {{1, 2, true}, {0, -1, false}, {3, -1, false}}};
  assert_string_equal(draw(tesela_draw_grid, &layout, &options), /* slice 1 starts at place 24 */
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
  tesela_layout layout = layout_of("f32[2,3,5]{2,1,0:T(2,2)}");
  for (size_t i = 0; i < sizeof slice_rows / sizeof slice_rows[0]; i++) {
    tesela_draw_options options = {.n_slice = slice_rows[i].n};
    memcpy(options.slice, slice_rows[i].slice, sizeof slice_rows[i].slice);
    tesela_draw_view view;
    AGREE(slice_rows[i].name, tesela_draw_view_of(&layout, &options, &view, NULL), slice_rows[i].status);
  }
}

static void test_view(void **state) {
  (void)state;
  tesela_layout layout = layout_of("f32[2,20,200]{2,1,0:T(8,128)}");
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
  layout = layout_of("pred[8,16,300]{0,2,1:T(8,128)}"); /* dim 1 varies slowest */
  OK(tesela_draw_view_of(&layout, NULL, &view, &e_));
  AGREE("down", view.down, 0);
  AGREE("across", view.across, 2);
  layout = layout_of("f32[3]{0:T(2,2)}");
  OK(tesela_draw_view_of(&layout, NULL, &view, &e_));
  AGREE("sides", view.n_sides, 1);
  AGREE("padding down", view.down, TESELA_HOLE);
}

/* ---- what does not fit ------------------------------------------------------------------------------- */

/* Columns of the longest line. */
static int columns_of(const char *text) {
  int columns = 0, longest = 0;
  for (; *text; text++) {
    if (*text == '\n')
      columns = 0;
    else if (((unsigned char)*text & 0xc0) != 0x80)
      columns++;
    if (columns > longest) longest = columns;
  }
  return longest;
}

static int lines_of(const char *text) {
  int lines = 0;
  for (; *text; text++) lines += *text == '\n';
  return lines;
}

static void test_cut(void **state) {
  (void)state;
  tesela_layout layout = layout_of("f32[20,200]{1,0:T(8,128)}");
  assert_string_equal(draw(tesela_draw_grid, &layout, &(tesela_draw_options){.width = 40, .max_rows = 4}),
                      "          0     1  …   199  …  ·255\n"
                      "    ┏━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━┓\n"
                      "  0 ┃     0     1  …  1095  … ·1151 ┃\n"
                      "  1 ┃   128   129  …  1223  … ·1279 ┃\n"
                      "    ┃     …     …  …     …  …     … ┃\n"
                      " 19 ┃  4480  4481  …  5575  … ·5631 ┃\n"
                      "    ┃     …     …  …     …  …     … ┃\n"
                      "·23 ┃ ·4992 ·4993  … ·6087  … ·6143 ┃\n"
                      "    ┗━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━┛\n");
  for (int32_t width = 20; width < 400; width += 7) {
    const char *text = draw(tesela_draw_grid, &layout, &(tesela_draw_options){.width = width, .max_rows = 3});
    if (columns_of(text) > width)
      fail_msg("%d columns for a width of %d:\n%s", columns_of(text), width, text);
  }
}

static void test_huge(void **state) {
  (void)state;
  tesela_layout layout = layout_of("f32[1000000,1000000]{1,0:T(8,128)}");
  const char *text = draw(tesela_draw_grid, &layout, NULL);
  assert_true(columns_of(text) <= 80);
  assert_true(lines_of(text) < 50);
  assert_non_null(strstr(text, "·1000063999999 ┃\n")); /* the last of 1000000 * 1000064 places */
}

static void test_linear(void **state) {
  (void)state;
  tesela_layout layout = layout_of("f32[3,5]{1,0:T(2,2)}");
  assert_string_equal(draw(tesela_draw_linear, &layout, NULL), "       +0   +1   +2   +3\n"
                                                               " 0 │  0,0  0,1  1,0  1,1\n"
                                                               " 4 │  0,2  0,3  1,2  1,3\n"
                                                               " 8 │  0,4    ·  1,4    ·\n"
                                                               "12 │  2,0  2,1    ·    ·\n"
                                                               "16 │  2,2  2,3    ·    ·\n"
                                                               "20 │  2,4    ·    ·    ·\n");
  tesela_draw_options window = {.n_slice = 1, .slice = {{9, 13, false}}, .ascii = true};
  assert_string_equal(draw(tesela_draw_linear, &layout, &window), "       +0   +1   +2   +3\n"
                                                                  " 8 :  0,4    ~  1,4    ~\n"
                                                                  "12 :  2,0  2,1    ~    ~\n");
  layout = layout_of("f32[200]{0:T(128)(2,1)}");
  tesela_draw_view view;
  OK(tesela_draw_linear_view_of(&layout, &(tesela_draw_options){.max_rows = 5}, &view, &e_));
  AGREE("cut", view.cut, 1);
  AGREE("places", view.side[0].extent, 256);
}

/* ---- other layouts than XLA's ------------------------------------------------------------------------ */

static void test_axes(void **state) {
  (void)state;
  static const int64_t shape[] = {4, 4};
  tesela_layout layout;
  int32_t thread, local, row, column;
  OK(tesela_layout_begin(&layout, TESELA_F16, 16, 2, shape, &e_));
  OK(tesela_layout_split(&layout, 0, 2, &row, &e_));
  OK(tesela_layout_split(&layout, 1, 2, &column, &e_));
  OK(tesela_layout_add_axis(&layout, "thread", &thread, &e_));
  OK(tesela_layout_add_axis(&layout, "local", &local, &e_));
  OK(tesela_layout_place(&layout, 0, thread, 2, &e_));
  OK(tesela_layout_place(&layout, 1, thread, 1, &e_));
  OK(tesela_layout_place(&layout, row, local, 2, &e_));
  OK(tesela_layout_place(&layout, column, local, 1, &e_));
  OK(tesela_layout_finish(&layout, &e_));
  const char *text = draw(tesela_draw_grid, &layout, NULL);
  assert_non_null(strstr(text, "\n1 ┃ 0:2 0:3 ┃ 1:2 1:3 ┃\n"));
  assert_non_null(strstr(text, "\n2 ┃ 2:0 2:1 ┃ 3:0 3:1 ┃\n"));
  assert_non_null(strstr(draw(tesela_draw_legend, &layout, NULL), "a place, thread:local"));
  tesela_writer to = {0};
  assert_int_equal(tesela_draw_linear(&layout, NULL, &to, NULL), TESELA_E_UNSUPPORTED);
}

static void test_strided(void **state) {
  (void)state;
  static const int64_t shape[] = {2, 3}, strides[] = {-8, 2};
  tesela_layout layout;
  OK(tesela_layout_strided(&layout, TESELA_F32, 32, 2, shape, strides, 8, &e_));
  assert_string_equal(draw(tesela_draw_grid, &layout, NULL), "     0  1  2\n"
                                                             "  ┏━━━━━━━━━━┓\n"
                                                             "0 ┃  8 10 12 ┃\n"
                                                             "1 ┃  0  2  4 ┃\n"
                                                             "  ┗━━━━━━━━━━┛\n");
}

static void test_swizzle(void **state) {
  (void)state;
  static const int64_t shape[] = {2, 4};
  tesela_layout layout;
  int32_t memory, next = 0, digits[] = {0, 1};
  int64_t stride;
  (void)next;
  OK(tesela_layout_begin(&layout, TESELA_F32, 32, 2, shape, &e_));
  OK(tesela_layout_add_axis(&layout, "memory", &memory, &e_));
  OK(tesela_layout_place_row_major(&layout, 2, digits, memory, 1, &stride, &e_));
  OK(tesela_layout_add_swizzle(&layout, (tesela_swizzle){(int16_t)memory, 1, 0, 2}, &e_));
  OK(tesela_layout_finish(&layout, &e_));
  assert_non_null(strstr(draw(tesela_draw_grid, &layout, NULL), "\n1 ┃ 5 4 7 6 ┃\n")); /* 4 ^ 1, 5 ^ 1, ... */
}

/* 2^61 split by one less, three times: 2 * 2 * 2 * (2^61 - 3) positions. */
static void test_too_many_positions(void **state) {
  (void)state;
  static const int64_t shape[] = {(int64_t)1 << 61};
  tesela_layout layout;
  tesela_draw_view view;
  int32_t memory, one, two, three;
  OK(tesela_layout_begin(&layout, TESELA_F32, 32, 1, shape, &e_));
  OK(tesela_layout_split(&layout, 0, shape[0] - 1, &one, &e_));
  OK(tesela_layout_split(&layout, one, shape[0] - 2, &two, &e_));
  OK(tesela_layout_split(&layout, two, shape[0] - 3, &three, &e_));
  OK(tesela_layout_add_axis(&layout, "memory", &memory, &e_));
  OK(tesela_layout_place(&layout, 0, memory, 0, &e_));
  OK(tesela_layout_place(&layout, one, memory, 0, &e_));
  OK(tesela_layout_place(&layout, two, memory, 0, &e_));
  OK(tesela_layout_place(&layout, three, memory, 0, &e_));
  OK(tesela_layout_finish(&layout, &e_));
  assert_int_equal(tesela_draw_view_of(&layout, NULL, &view, NULL), TESELA_E_OVERFLOW);
}

/* A huge dim: the last positions are still named and placed. */
static void test_the_end_of_int64(void **state) {
  (void)state;
  static const int64_t shape[] = {INT64_MAX - 1};
  tesela_layout layout;
  OK(tesela_layout_strided(&layout, TESELA_S8, 1, 1, shape, NULL, 0, &e_));
  const char *text = draw(tesela_draw_grid, &layout, &(tesela_draw_options){.width = 90});
  assert_non_null(strstr(text, " 9223372036854775805 ┃\n"));
  assert_true(columns_of(text) <= 90);
}

/* ---- nothing, and failing ---------------------------------------------------------------------------- */

static void test_empty(void **state) {
  (void)state;
  tesela_layout layout = layout_of("f32[3,0]{1,0:T(2,2)}");
  assert_string_equal(draw(tesela_draw_grid, &layout, NULL), "");
  assert_string_equal(draw(tesela_draw_linear, &layout, NULL), "");
  assert_string_equal(draw(tesela_draw_legend, &layout, NULL), "");
  tesela_draw_view view;
  OK(tesela_draw_view_of(&layout, NULL, &view, &e_));
  AGREE("extent", view.side[1].extent, 0);
}

static int refuse(void *user, const char *text, size_t length) {
  (void)text;
  (void)length;
  int *calls = user;
  return ++*calls > 2;
}

static void test_failures(void **state) {
  (void)state;
  static const int64_t shape[] = {2};
  tesela_layout open, layout = layout_of("f32[30,50]{1,0:T(2,2)}");
  tesela_draw_view view;
  int calls = 0;
  tesela_writer to = {refuse, &calls};
  OK(tesela_layout_begin(&open, TESELA_F32, 32, 1, shape, &e_));
  assert_int_equal(tesela_draw_grid(&open, NULL, &to, NULL), TESELA_E_INVALID);
  assert_int_equal(tesela_draw_linear(&open, NULL, &to, NULL), TESELA_E_INVALID);
  assert_int_equal(tesela_draw_view_of(&open, NULL, &view, NULL), TESELA_E_INVALID);
  assert_int_equal(calls, 0);
  assert_int_equal(tesela_draw_grid(&layout, NULL, &to, NULL), TESELA_E_STOPPED);
  assert_int_equal(calls, 3);
  calls = 0;
  assert_int_equal(tesela_draw_linear(&layout, NULL, &to, NULL), TESELA_E_STOPPED);
  tesela_draw_options window = {.n_slice = 2};
  assert_int_equal(tesela_draw_linear(&layout, &window, &to, NULL), TESELA_E_MISMATCH);
  window = (tesela_draw_options){.n_slice = 1, .slice = {{1500, -1, false}}};
  assert_int_equal(tesela_draw_linear(&layout, &window, &to, NULL), TESELA_E_RANGE);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_pictures),
      cmocka_unit_test(test_ascii),
      cmocka_unit_test(test_blocks),
      cmocka_unit_test(test_color),
      cmocka_unit_test(test_shape),
      cmocka_unit_test(test_slice),
      cmocka_unit_test(test_slices),
      cmocka_unit_test(test_view),
      cmocka_unit_test(test_cut),
      cmocka_unit_test(test_huge),
      cmocka_unit_test(test_linear),
      cmocka_unit_test(test_axes),
      cmocka_unit_test(test_strided),
      cmocka_unit_test(test_swizzle),
      cmocka_unit_test(test_empty),
      cmocka_unit_test(test_failures),
      cmocka_unit_test(test_too_many_positions),
      cmocka_unit_test(test_the_end_of_int64),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
