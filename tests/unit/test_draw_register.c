/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_draw_register.c - tables of register layouts. Cells come from the definition of register.h, read literally below;
 * widths from all cells of a column. How each style looks is compared with the package tabulate in tests/cli/test_register.py.
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
#include <tesela/tesela.h>

#include "support_seed.h"

#define OK(call)                                                    \
  do {                                                              \
    tesela_error e_ = {.message = ""};                              \
    if ((call) != TESELA_OK) fail_msg("%s: %s", #call, e_.message); \
  } while (0)

enum { PICTURE = 1 << 20, CELL = 200 };

static char picture[PICTURE], wanted[PICTURE];

static const char *draw(const tesela_register *layout, const tesela_draw_register_options *options) {
  tesela_buffer buffer = {picture, PICTURE, 0};
  tesela_writer to = tesela_buffer_writer(&buffer);
  OK(tesela_draw_register(layout, options, &to, &e_));
  assert_true(buffer.length < PICTURE);
  return picture;
}

static tesela_register layout_of(int32_t rank, const int64_t *shape, int32_t n_modes, const int64_t *modes,
                                 int32_t n_spatial, const int64_t *spatial, int32_t n_local,
                                 const int64_t *local) {
  tesela_register layout;
  OK(tesela_register_make_raw(&layout, rank, shape, n_modes, modes, n_spatial, spatial, n_local, local, &e_));
  return layout;
}

/* ---- the definition ---------------------------------------------------------------------------------------- */

/* The threads of an element, ascending, and its local id. Returns how many threads there are. */
static int64_t place(const tesela_register *layout, const int64_t *index, int64_t *threads, int64_t *local) {
  int64_t digit[TESELA_REGISTER_MODES], n = 1;
  int32_t m = layout->n_modes;
  for (int32_t d = layout->rank - 1; d >= 0; d--) {
    int64_t x = index[d];
    for (int64_t have = 1; have < layout->shape[d]; x /= layout->mode_shape[m]) {
      m--;
      digit[m] = x % layout->mode_shape[m];
      have *= layout->mode_shape[m];
    }
  }
  while (m > 0) digit[--m] = 0; /* modes of 1 */
  threads[0] = 0;
  for (int32_t i = 0; i < layout->n_spatial; i++) {
    int64_t mode = layout->spatial_modes[i], values = mode < 0 ? -mode : 1;
    for (int64_t k = n * values - 1; k >= 0; k--)
      threads[k] = mode < 0 ? threads[k / values] * values + k % values
                            : threads[k] * layout->mode_shape[mode] + digit[mode];
    n *= values;
  }
  *local = 0;
  for (int32_t i = 0; i < layout->n_local; i++)
    *local = *local * layout->mode_shape[layout->local_modes[i]] + digit[layout->local_modes[i]];
  return n;
}

/* The index with a row-major number. */
static void unravel(const tesela_register *layout, int64_t number, int64_t *index) {
  for (int32_t d = layout->rank - 1; d >= 0; d--) {
    index[d] = number % layout->shape[d];
    number /= layout->shape[d];
  }
}

static void cell(const tesela_register *layout, int64_t number, char text[CELL]) {
  int64_t index[TESELA_MAX_RANK], threads[32], local;
  unravel(layout, number, index);
  int64_t n = place(layout, index, threads, &local);
  int used = snprintf(text, CELL, n > 1 ? "[%" PRId64 : "%" PRId64, threads[0]);
  for (int64_t k = 1; k < n; k++)
    used += snprintf(text + used, CELL - (size_t)used, ", %" PRId64, threads[k]);
  snprintf(text + used, CELL - (size_t)used, "%s: %" PRId64, n > 1 ? "]" : "", local);
}

/* Which element a thread holds at a local id, "[2, 3]": all are looked at. */
static void held(const tesela_register *layout, int64_t thread, int64_t local, char text[CELL]) {
  int64_t index[TESELA_MAX_RANK], threads[32], at;
  for (int64_t number = 0;; number++) {
    unravel(layout, number, index);
    int64_t n = place(layout, index, threads, &at);
    for (int64_t k = 0; k < n; k++) {
      if (threads[k] != thread || at != local) continue;
      int used = snprintf(text, CELL, "[");
      for (int32_t d = 0; d < layout->rank; d++)
        used += snprintf(text + used, CELL - (size_t)used, "%s%" PRId64, d > 0 ? ", " : "", index[d]);
      snprintf(text + used, CELL - (size_t)used, "]");
      return;
    }
  }
}

/* ---- random layouts against it -------------------------------------------------------------------------------- */

static uint64_t random_state;

static int64_t below(int64_t n) {
  random_state = random_state * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
  return (int64_t)((random_state >> 33) % (uint64_t)n);
}

static tesela_register draw_layout(void) {
  int64_t shape[8], modes[16], spatial[20], local[16];
  int32_t rank = (int32_t)below(6), n_modes = 0, n_spatial = 0, n_local = 0, order[16] = {0};
  int64_t size = 1, copies = 1;
  for (int32_t d = 0; d < rank; d++) {
    shape[d] = 1;
    for (int64_t k = below(4); k > 0 && n_modes < 12; k--) {
      modes[n_modes] = 1 + below(size > 60 ? 2 : 4);
      size *= modes[n_modes];
      shape[d] *= modes[n_modes++];
    }
  }
  for (int32_t i = 0; i < n_modes; i++) { /* modes in any order, to either list, replicas between */
    int32_t k = (int32_t)below(i + 1);
    order[i] = order[k];
    order[k] = i;
  }
  for (int32_t i = 0; i <= n_modes; i++) {
    if (below(5) == 0 && copies <= 8) {
      spatial[n_spatial] = -1 - below(3);
      copies *= -spatial[n_spatial++];
    }
    if (i == n_modes) break;
    if (below(2))
      spatial[n_spatial++] = order[i];
    else
      local[n_local++] = order[i];
  }
  return layout_of(rank, shape, n_modes, modes, n_spatial, spatial, n_local, local);
}

static size_t length_of(const char *text) { return strlen(text); }

/* A rule in ASCII of columns of these widths. */
static size_t add_rule(size_t used, int64_t columns, const size_t *width) {
  for (int64_t c = 0; c < columns; c++) {
    wanted[used++] = '+';
    memset(wanted + used, '-', width[c] + 2);
    used += width[c] + 2;
  }
  wanted[used++] = '+';
  wanted[used++] = '\n';
  return used;
}

typedef void cell_fn(const tesela_register *layout, int64_t table, int64_t row, int64_t column,
                     char text[CELL]);

/* Append a table of `grid` to `wanted`, each line with a newline. */
static size_t add_table(size_t used, const tesela_register *layout, int64_t table, int64_t rows,
                        int64_t columns, cell_fn *text_of) {
  static size_t width[4096];
  char text[CELL];
  assert_true(columns < 4096);
  for (int64_t c = 0; c < columns; c++) {
    width[c] = 0;
    for (int64_t r = 0; r < rows; r++) {
      text_of(layout, table, r, c, text);
      if (length_of(text) > width[c]) width[c] = length_of(text);
    }
  }
  for (int64_t r = 0; r < rows; r++) {
    used = add_rule(used, columns, width);
    for (int64_t c = 0; c < columns; c++) {
      text_of(layout, table, r, c, text);
      used += (size_t)snprintf(wanted + used, PICTURE - used, "| %-*s ", (int)width[c], text);
    }
    used += (size_t)snprintf(wanted + used, PICTURE - used, "|\n");
  }
  return add_rule(used, columns, width);
}

/* Extents of the picture by its rule: tables, rows, columns. */
static void three_dims(const tesela_register *layout, int64_t extent[3]) {
  int64_t kept[TESELA_MAX_RANK + 3] = {1, 1, 1}, first = 1;
  int32_t n = 3;
  for (int32_t d = 0; d < layout->rank; d++)
    if (layout->rank <= 3 || layout->shape[d] > 1) kept[n++] = layout->shape[d];
  for (int32_t i = 0; i + 2 < n; i++) first *= kept[i];
  extent[0] = first;
  extent[1] = kept[n - 2];
  extent[2] = kept[n - 1];
}

static void element_cell(const tesela_register *layout, int64_t table, int64_t row, int64_t column,
                         char text[CELL]) {
  int64_t extent[3];
  three_dims(layout, extent);
  cell(layout, (table * extent[1] + row) * extent[2] + column, text);
}

static void random_layouts_show_every_element(void **state) {
  (void)state;
  random_state = first_seed();
  int64_t several = 0, copied = 0;
  for (int trial = 0; trial < 400; trial++) {
    tesela_register layout = draw_layout();
    int64_t extent[3];
    size_t used = 0;
    three_dims(&layout, extent);
    several += extent[0] > 1;
    copied += tesela_register_copies(&layout) > 1;
    for (int64_t t = 0; t < extent[0]; t++)
      used = add_table(used, &layout, t, extent[1], extent[2], element_cell);
    wanted[used - 1] = '\0';
    assert_string_equal(draw(&layout, &(tesela_draw_register_options){.style = "grid"}), wanted);
  }
  assert_true(several > 20 && copied > 20);
}

/* A heading is two blanks narrower than its column at least; so is that of tabulate. */
static void thread_cell(const tesela_register *layout, int64_t table, int64_t row, int64_t column,
                        char text[CELL]) {
  (void)table;
  if (column == 0)
    snprintf(text, CELL, "%-*" PRId64, (int)strlen("thread") + 2, row);
  else
    held(layout, row, column - 1, text);
  if (column > 0) {
    int heading = snprintf(NULL, 0, "%" PRId64, column - 1) + 2, used = (int)strlen(text);
    for (; used < heading; used++) text[used] = ' ';
    text[used] = '\0';
  }
}

static void random_layouts_show_every_register(void **state) {
  (void)state;
  for (int trial = 0; trial < 200; trial++) {
    tesela_register layout = draw_layout();
    if (layout.spatial_size * layout.local_size > 2000) continue;
    size_t used = add_table(0, &layout, 0, layout.spatial_size, layout.local_size + 1, thread_cell);
    wanted[used - 1] = '\0';
    const char *got = draw(&layout, &(tesela_draw_register_options){.style = "grid", .by_thread = true});
    const char *body = strstr(got, "=+\n"); /* after the heading */
    assert_non_null(body);
    assert_string_equal(body + 3, strchr(wanted, '\n') + 1);
  }
}

/* ---- rows ------------------------------------------------------------------------------------------------------ */

static void the_figure_of_the_header(void **state) {
  (void)state;
  tesela_register layout =
      layout_of(1, (int64_t[]){6}, 2, (int64_t[]){2, 3}, 1, (int64_t[]){1}, 1, (int64_t[]){0});
  assert_string_equal(draw(&layout, NULL), "┌──────┬──────┬──────┬──────┬──────┬──────┐\n"
                                           "│ 0: 0 │ 1: 0 │ 2: 0 │ 0: 1 │ 1: 1 │ 2: 1 │\n"
                                           "└──────┴──────┴──────┴──────┴──────┴──────┘");
  assert_string_equal(draw(&layout, &(tesela_draw_register_options){.header = true, .style = "plain"}),
                      "RegisterLayout(shape=[6], mode_shape=[2, 3], spatial_modes=[1], local_modes=[0])\n"
                      "0: 0  1: 0  2: 0  0: 1  1: 1  2: 1");
}

static void ranks_from_0_to_32(void **state) {
  (void)state;
  tesela_register layout = layout_of(0, NULL, 0, NULL, 0, NULL, 0, NULL);
  assert_string_equal(draw(&layout, &(tesela_draw_register_options){.style = "grid"}),
                      "+------+\n| 0: 0 |\n+------+");
  int64_t shape[32], modes[3] = {2, 1, 3};
  for (int d = 0; d < 32; d++) shape[d] = 1;
  shape[4] = 2;
  shape[30] = 3;
  layout = layout_of(32, shape, 3, modes, 1, (int64_t[]){2}, 2, (int64_t[]){0, 1});
  assert_string_equal(draw(&layout, &(tesela_draw_register_options){.style = "plain"}),
                      "0: 0  1: 0  2: 0\n0: 1  1: 1  2: 1");
  /* five dims: the first three are one, 1s are dropped */
  layout =
      layout_of(5, (int64_t[]){2, 1, 2, 1, 2}, 3, (int64_t[]){2, 2, 2}, 0, NULL, 3, (int64_t[]){0, 1, 2});
  assert_string_equal(draw(&layout, &(tesela_draw_register_options){.style = "plain"}),
                      "0: 0  0: 1\n0: 2  0: 3\n0: 4  0: 5\n0: 6  0: 7");
}

static void styles_have_names(void **state) {
  (void)state;
  int32_t n;
  const tesela_draw_style *style = tesela_draw_styles(&n);
  assert_string_equal(style[0].name, "simple");
  for (int32_t i = 0; i < n; i++) {
    assert_true(style[i].name[0] && style[i].summary[0] && strlen(style[i].name) <= 24);
    for (int32_t k = 0; k < i; k++) {
      assert_string_not_equal(style[i].name, style[k].name);
      assert_string_not_equal(style[i].alias, style[k].name);
      assert_string_not_equal(style[i].name, style[k].alias);
    }
  }
}

static void aliases_are_the_same(void **state) {
  (void)state;
  int32_t n;
  const tesela_draw_style *style = tesela_draw_styles(&n);
  tesela_register layout = layout_of(1, (int64_t[]){3}, 1, (int64_t[]){3}, 1, (int64_t[]){0}, 0, NULL);
  for (int32_t i = 0; i < n; i++) {
    if (style[i].alias[0] == '\0') continue;
    snprintf(wanted, PICTURE, "%s", draw(&layout, &(tesela_draw_register_options){.style = style[i].name}));
    assert_string_equal(draw(&layout, &(tesela_draw_register_options){.style = style[i].alias}), wanted);
  }
}

static void ascii_is_ascii(void **state) {
  (void)state;
  int32_t n;
  const tesela_draw_style *style = tesela_draw_styles(&n);
  tesela_register layout =
      layout_of(2, (int64_t[]){2, 3}, 2, (int64_t[]){2, 3}, 1, (int64_t[]){1}, 1, (int64_t[]){0});
  for (int32_t i = 0; i < n; i++)
    for (int by_thread = 0; by_thread < 2; by_thread++) {
      tesela_draw_register_options options = {.style = style[i].name, .by_thread = by_thread, .ascii = true};
      for (const char *c = draw(&layout, &options); *c; c++) assert_true((unsigned char)*c < 0x80);
    }
  assert_string_equal(draw(&layout, &(tesela_draw_register_options){.ascii = true, .style = "fancy"}),
                      "+======+======+======+\n| 0: 0 | 1: 0 | 2: 0 |\n+------+------+------+\n"
                      "| 0: 1 | 1: 1 | 2: 1 |\n+======+======+======+");
}

/* ---- colour ---------------------------------------------------------------------------------------------------- */

/* Take out escape sequences; the last number of each, 0 for a reset, goes to `colors`. Returns how many. */
static int strip(char *text, int *colors, int most) {
  char *to = text;
  int n = 0;
  for (const char *from = text; *from;) {
    if (*from != '\033') {
      *to++ = *from++;
      continue;
    }
    const char *end = strchr(from, 'm'), *last = end;
    while (last[-1] >= '0' && last[-1] <= '9') last--;
    if (n < most) colors[n] = atoi(last);
    n++;
    from = end + 1;
  }
  *to = '\0';
  return n;
}

static void colors_leave_the_text(void **state) {
  (void)state;
  int32_t n;
  const tesela_draw_style *style = tesela_draw_styles(&n);
  for (int trial = 0; trial < 20; trial++) {
    tesela_register layout = draw_layout();
    if (layout.spatial_size * layout.local_size > 2000) continue;
    for (int32_t i = 0; i < n; i++)
      for (int by_thread = 0; by_thread < 2; by_thread++) {
        tesela_draw_register_options options = {.style = style[i].name, .by_thread = by_thread};
        snprintf(wanted, PICTURE, "%s", draw(&layout, &options));
        options.color = true;
        draw(&layout, &options);
        bool data = strstr("tsv csv html json", style[i].name) != NULL;
        int found = strip(picture, NULL, 0);
        assert_int_equal(data, found == 0);
        assert_string_equal(picture, wanted);
      }
  }
}

/* 64 threads in a row: hues by warp, shades by group of four, a reset after each cell. */
static void colors_follow_warps_and_groups(void **state) {
  (void)state;
  int colors[128];
  tesela_register layout = layout_of(1, (int64_t[]){64}, 1, (int64_t[]){64}, 1, (int64_t[]){0}, 0, NULL);
  draw(&layout, &(tesela_draw_register_options){.color = true});
  assert_non_null(strstr(picture, " 0: 0 \033[0m│"));
  assert_int_equal(strip(picture, colors, 128), 128);
  for (int t = 0; t < 64; t++) {
    assert_int_equal(colors[2 * t + 1], 0);
    assert_int_equal(colors[2 * t], colors[2 * (t / 4 * 4)]);
    if (t >= 4) assert_int_not_equal(colors[2 * t], colors[2 * (t - 4)]);
    for (int u = 0; t >= 32 && u < 32; u++) assert_int_not_equal(colors[2 * t], colors[2 * u]);
  }
  draw(&layout, &(tesela_draw_register_options){.color = true, .warp = 64});
  assert_int_equal(strip(picture, colors, 128), 128);
  assert_int_equal(colors[0], colors[2 * 32]); /* one warp: shades come again after four groups */
  /* copies: by the first thread */
  layout = layout_of(1, (int64_t[]){1}, 0, NULL, 1, (int64_t[]){-64}, 0, NULL);
  draw(&layout, &(tesela_draw_register_options){.color = true});
  int first = colors[0];
  assert_int_equal(strip(picture, colors, 128), 2);
  assert_int_equal(colors[0], first);
}

/* ---- refusals --------------------------------------------------------------------------------------------------- */

static int stop(void *user, const char *text, size_t length) {
  (void)text;
  (void)length;
  return --*(int *)user < 0;
}

static void refusals(void **state) {
  (void)state;
  char text[8];
  tesela_buffer buffer = {text, sizeof text, 0};
  tesela_writer to = tesela_buffer_writer(&buffer);
  tesela_error err = {.message = ""};
  tesela_register layout = layout_of(1, (int64_t[]){64}, 1, (int64_t[]){64}, 1, (int64_t[]){0}, 0, NULL);
  tesela_draw_register_options options = {.style = "rounde"};
  assert_int_equal(tesela_draw_register(&layout, &options, &to, &err), TESELA_E_INVALID);
  assert_non_null(strstr(err.message, "rounded"));
  assert_int_equal(tesela_draw_register(&layout, &options, &to, NULL), TESELA_E_INVALID);
  options.style = "";
  assert_int_equal(tesela_draw_register(&layout, &options, &to, &err), TESELA_E_INVALID);
  char name[400];
  memset(name, 'x', sizeof name - 1);
  name[sizeof name - 1] = '\0';
  options.style = name;
  assert_int_equal(tesela_draw_register(&layout, &options, &to, &err), TESELA_E_INVALID);
  int64_t many = INT64_C(1) << 40; /* one element in many threads; a large tile */
  layout = layout_of(0, NULL, 0, NULL, 1, (int64_t[]){-many}, 0, NULL);
  assert_int_equal(tesela_draw_register(&layout, NULL, &to, &err), TESELA_E_LIMIT);
  layout = layout_of(1, &many, 1, &many, 0, NULL, 1, (int64_t[]){0});
  assert_int_equal(tesela_draw_register(&layout, NULL, &to, &err), TESELA_E_LIMIT);
  layout.n_modes = 99;
  assert_int_not_equal(tesela_draw_register(&layout, NULL, &to, &err), TESELA_OK);
  assert_int_equal(buffer.length, 0);
}

static void a_writer_may_stop(void **state) {
  (void)state;
  tesela_register layout = layout_of(1, (int64_t[]){640}, 1, (int64_t[]){640}, 1, (int64_t[]){0}, 0, NULL);
  for (int by_thread = 0; by_thread < 2; by_thread++)
    for (int good = 0; good < 20; good++) {
      int left = good;
      tesela_writer to = {stop, &left};
      tesela_draw_register_options options = {.header = true, .by_thread = by_thread};
      assert_int_equal(tesela_draw_register(&layout, &options, &to, NULL), TESELA_E_STOPPED);
      assert_int_equal(left, -1); /* and is not called again */
    }
}

/* The largest that is drawn: 2^22 cells. */
static int count(void *user, const char *text, size_t length) {
  (void)text;
  *(int64_t *)user += (int64_t)length;
  return 0;
}

static void the_limit_is_drawn(void **state) {
  (void)state;
  int64_t n = TESELA_DRAW_REGISTER_CELLS / 8, length = 0; /* 8 copies */
  tesela_writer to = {count, &length};
  tesela_register layout = layout_of(1, &n, 1, &n, 1, (int64_t[]){-8}, 1, (int64_t[]){0});
  OK(tesela_draw_register(&layout, &(tesela_draw_register_options){.style = "csv"}, &to, &e_));
  /* "[0, 1, 2, 3, 4, 5, 6, 7]: 0", commas between */
  int64_t want = n - 1;
  for (int64_t i = 0; i < n; i++) want += snprintf(NULL, 0, "\"[0, 1, 2, 3, 4, 5, 6, 7]: %" PRId64 "\"", i);
  assert_int_equal(length, want);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(random_layouts_show_every_element),
      cmocka_unit_test(random_layouts_show_every_register),
      cmocka_unit_test(the_figure_of_the_header),
      cmocka_unit_test(ranks_from_0_to_32),
      cmocka_unit_test(styles_have_names),
      cmocka_unit_test(aliases_are_the_same),
      cmocka_unit_test(ascii_is_ascii),
      cmocka_unit_test(colors_leave_the_text),
      cmocka_unit_test(colors_follow_warps_and_groups),
      cmocka_unit_test(refusals),
      cmocka_unit_test(a_writer_may_stop),
      cmocka_unit_test(the_limit_is_drawn),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
