/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_register_text.c - layout expressions: what they mean; the table of functions; the cases of the document.
 *
 * Expected fields are worked out by hand from the definitions in register.h and tile_memory.h;
 * tests/vectors/tilus_seed_examples.json has the examples of the Register Layout document.
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

#ifdef TESELA_TEST_JANSSON
#include <ctype.h>
#include <jansson.h>
#endif

enum { PRINTED = 4096 };

static bool is_register(const char *text, size_t length) {
  const tesela_notation *notation;
  return tesela_notation_find(text, length, &notation, NULL, NULL) == TESELA_OK &&
         strcmp(notation->name, "register") == 0;
}

/* The printed form of an expression; the test fails if it is refused. */
static void print_of(const char *text, char printed[PRINTED]) {
  tesela_expression value;
  tesela_error err;
  if (tesela_expression_parse(text, strlen(text), &value, &err) != TESELA_OK)
    fail_msg("%s: byte %" PRId64 ": %s", text, err.at, err.message);
  tesela_buffer buffer = {printed, PRINTED, 0};
  tesela_writer to = tesela_buffer_writer(&buffer);
  tesela_status status = value.kind == TESELA_EXPRESSION_REGISTER
                             ? tesela_register_print(&value.registers, &to, &err)
                             : tesela_tile_memory_print(&value.memory, &to, &err);
  if (status != TESELA_OK) fail_msg("%s: %s", text, err.message);
}

static void check_prints(const char *text, const char *want) {
  char printed[PRINTED];
  print_of(text, printed);
  if (strcmp(printed, want) != 0) fail_msg("%s:\n  is %s\n not %s", text, printed, want);
}

/* ---- what expressions mean ------------------------------------------------------------------------------------ */

static const struct {
  const char *text;
  const char *shape, *modes, *spatial, *local; /* the four lists, without brackets */
} register_rows[] = {
    /* primitives */
    {"spatial(2, 3)", "2, 3", "2, 3", "0, 1", ""},
    {"spatial([2, 3])", "2, 3", "2, 3", "0, 1", ""},
    {"spatial((2, 3))", "2, 3", "2, 3", "0, 1", ""},
    {"spatial(shape=[2,3])", "2, 3", "2, 3", "0, 1", ""},
    {"spatial()", "", "", "", ""},
    {"local()", "", "", "", ""},
    {"spatial(4,2,ranks=[1,0])", "4, 2", "4, 2", "1, 0", ""},
    {"spatial([4,2],[1,0])", "4, 2", "4, 2", "1, 0", ""},
    {"spatial(4, 2, ranks=None)", "4, 2", "4, 2", "0, 1", ""},
    {"local(2,2,3,ranks=[2,0,1])", "2, 2, 3", "2, 2, 3", "", "1, 2, 0"},
    {"repeat(2, 3)", "2, 3", "2, 3", "", "0, 1"},
    {"column_spatial(2,5)", "2, 5", "2, 5", "1, 0", ""},
    {"column_local(3,2,2)", "3, 2, 2", "3, 2, 2", "", "2, 1, 0"},
    {"column_repeat(3,2,2)", "3, 2, 2", "3, 2, 2", "", "2, 1, 0"},
    {"replicated(2,4,num_workers=3)", "2, 4", "2, 4", "-3", "0, 1"},
    {"replicated([2,4], 3)", "2, 4", "2, 4", "-3", "0, 1"},
    {"replicated(num_workers = 3)", "", "", "-3", ""},
    {"auto_local_spatial(16,[8,4])", "8, 4", "2, 4, 4", "1, 2", "0"},
    {"auto_repeat_spatial(num_threads=16, shape=[8,4])", "8, 4", "2, 4, 4", "1, 2", "0"},
    {"register_layout([4,6],[2,2,3,2],[0,2],[3,1])", "4, 6", "2, 2, 3, 2", "0, 2", "3, 1"},
    {"register_layout([6],[3,2],[0,1],[])", "6", "6", "0", ""},
    {"RegisterLayout([6],[3,2],[0,1],[])", "6", "3, 2", "0, 1", ""},
    {"RegisterLayout(shape=[2, 1], mode_shape=[2, 1], spatial_modes=[1, -1], local_modes=[0])", "2, 1",
     "2, 1", "1, -1", "0"},
    {"reduced(RegisterLayout([6],[3,2],[0,1],[]))", "6", "6", "0", ""},
    /* chains, operators, brackets */
    {"local(3, 4).spatial(2, 3)", "6, 12", "3, 2, 4, 3", "1, 3", "0, 2"},
    {"local(3, 4) * spatial(2, 3)", "6, 12", "3, 2, 4, 3", "1, 3", "0, 2"},
    {"compose(local(3, 4), spatial(2, 3))", "6, 12", "3, 2, 4, 3", "1, 3", "0, 2"},
    {"compose(inner=spatial(2, 3), outer=local(3, 4))", "6, 12", "3, 2, 4, 3", "1, 3", "0, 2"},
    {"local(3, 4).compose(spatial(2, 3))", "6, 12", "3, 2, 4, 3", "1, 3", "0, 2"},
    {"repeat(2, 1).spatial(8, 4).repeat(1, 2)", "16, 8", "2, 8, 4, 2", "1, 2", "0, 3"},
    {"spatial(3).column_local(2,2).column_spatial(2, 1)", "4, 6", "2, 2, 3, 2", "2, 1", "3, 0"},
    {"spatial(2).local(2, ranks=[0])", "4", "2, 2", "0", "1"},
    {"((local(3, 4)) * (spatial(2, 3)))", "6, 12", "3, 2, 4, 3", "1, 3", "0, 2"},
    {"(local(3) * local(4)).spatial(2)", "24", "12, 2", "1", "0"},
    {"spatial(12) / spatial(4)", "3", "3", "0", ""},
    {"spatial(12) / spatial(4) * local(5)", "15", "3, 5", "0", "1"}, /* from left to right */
    {"local(2) * (spatial(12) / spatial(4))", "6", "2, 3", "1", "0"},
    {"spatial(24) / spatial(4) / spatial(3)", "2", "2", "0", ""},
    {"local(2) * spatial(12) . divide ( spatial(4) )", "6", "2, 3", "1", "0"}, /* a method binds tighter */
    /* functions of layouts */
    {"squeeze(spatial(1,5),[0])", "5", "5", "0", ""},
    {"unsqueeze(spatial(3),[0,2])", "1, 3, 1", "3", "0", ""},
    {"unsqueeze(spatial(3), dims=(-1,))", "3, 1", "3", "0", ""},
    {"permute(local(2,3,4),[1,2,0])", "3, 4, 2", "3, 4, 2", "", "2, 0, 1"},
    {"local(2,3,4).permute([1,2,0])", "3, 4, 2", "3, 4, 2", "", "2, 0, 1"},
    {"transpose(spatial(2,3))", "3, 2", "3, 2", "1, 0", ""},
    {"reshape(local(2,3),[3,2])", "3, 2", "3, 2", "", "0, 1"},
    {"local(6).reshape(6)", "6", "6", "", "0"},
    {"flatten(local(2,3,4))", "24", "24", "", "0"},
    {"flatten(local(2,3,4), 1)", "2, 12", "2, 12", "", "0, 1"},
    {"flatten(local(2,3,4), start_dim=0, end_dim=1)", "6, 4", "6, 4", "", "0, 1"},
    {"flatten(local(2,3,4), start=0, end=-2)", "6, 4", "6, 4", "", "0, 1"},
    {"local(2,3,4).flatten(end=1)", "6, 4", "6, 4", "", "0, 1"},
    {"concat(spatial(3),column_local(2,2))", "3, 2, 2", "3, 2, 2", "0", "2, 1"},
    {"divide(spatial(12),divisor=spatial(4))", "3", "3", "0", ""},
    {"left_divide(local(2).spatial(6), local(2).spatial(2))", "3", "3", "0", ""},
    {"reduce(spatial(3, 4), dims=[0])", "4", "4", "-3, 0", ""},
    {"reduce(spatial(3, 4), 0)", "4", "4", "-3, 0", ""},
    {"reduce(dims=[1], layout=spatial(4,3), keepdims=True)", "4, 1", "4", "0, -3", ""},
    {"spatial(4,3).reduce([1], False)", "4", "4", "0, -3", ""},
    {"reduce_to(spatial(3,5),[1,5])", "1, 5", "5", "-3, 0", ""},
    {"repeat_to(spatial(8,4), [16, 8])", "16, 8", "2, 8, 2, 4", "1, 3", "0, 2"},
    {"with_shape(spatial(2,3), [6])", "6", "2, 3", "0, 1", ""},
    {"canonicalize(register_layout([4],[4],[-2,-1,-3,0],[]))", "4", "4", "-6, 0", ""},
    /* fragments: mma A of m16n8k16 by its formula: row g + 8*((i/2)%2), column 2t + i%2 + 8*(i/4) */
    {"mma.m16n8k16.f16.A", "16, 16", "2, 8, 2, 4, 2", "1, 3", "2, 0, 4"},
    {"mma.m16n8k16.f16.A.local(2)", "16, 32", "2, 8, 2, 4, 4", "1, 3", "2, 0, 4"},
    {"mma.m16n8k16.f16.A .local(2)", "16, 32", "2, 8, 2, 4, 4", "1, 3", "2, 0, 4"},
    {"mma.m16n8k16.f16.A. local(2)", "16, 32", "2, 8, 2, 4, 4", "1, 3", "2, 0, 4"},
    {"mma.m16n8k16.f16.A\n . local (2)", "16, 32", "2, 8, 2, 4, 4", "1, 3", "2, 0, 4"},
    {"mma.m16n8k16.f16.A.permute((1, 0))", "16, 16", "2, 4, 2, 2, 8", "4, 1", "0, 3, 2"},
    {"compose(spatial(2, 1), mma.m16n8k16.f16.A)", "32, 16", "2, 2, 8, 2, 4, 2", "0, 2, 4", "3, 1, 5"},
    {"(spatial(2, 1) * mma.m16n8k16.f16.A) / mma.m16n8k16.f16.A", "2, 1", "2", "0", ""},
    /* blanks and commas */
    {" \t\r\n spatial\n(\t2 ,3\r, ranks = [ 0 , 1 , ] , ) ", "2, 3", "2, 3", "0, 1", ""},
    {"compose(spatial(2,),local(3,),)", "6", "2, 3", "0", "1"},
    {"spatial(007)", "7", "7", "0", ""},
    {"register_layout([], [], [], [])", "", "", "", ""},
    {"spatial(9223372036854775807)", "9223372036854775807", "9223372036854775807", "0", ""},
};

static void expressions_are_the_layouts_they_say(void **state) {
  (void)state;
  for (size_t i = 0; i < sizeof register_rows / sizeof register_rows[0]; i++) {
    char want[PRINTED];
    snprintf(want, sizeof want,
             "RegisterLayout(shape=[%s], mode_shape=[%s], spatial_modes=[%s], local_modes=[%s])",
             register_rows[i].shape, register_rows[i].modes, register_rows[i].spatial,
             register_rows[i].local);
    check_prints(register_rows[i].text, want);
  }
}

static const struct {
  const char *text;
  const char *shape, *modes, *strides, *rest; /* rest: the text after the strides */
} memory_rows[] = {
    {"shared_row_major(8, 64)", "8, 64", "8, 64", "64, 1", ""},
    {"shared_row_major([8, 64])", "8, 64", "8, 64", "64, 1", ""},
    {"shared_row_major()", "", "", "", ""},
    {"shared_column_major(8, 64)", "8, 64", "8, 64", "1, 8", ""},
    {"SharedLayout([8, 64], [8, 64], [64, 1])", "8, 64", "8, 64", "64, 1", ""},
    {"SharedLayout(shape=[8], mode_shape=[2, 4], mode_strides=[4, 1])", "8", "8", "1", ""},
    {"shared_layout([8], [2, 4], [1, 2])", "8", "2, 4", "1, 2", ""},
    {"shared_layout([8, 64], [8, 64], [64, 1], Swizzle(3, 3, 3))", "8, 64", "8, 64", "64, 1",
     ", swizzle=Swizzle(base=3, bits=3, shift=3)"},
    {"shared_layout([8, 64], [8, 64], [64, 1], optional_swizzle=Swizzle(base=3, bits=3, shift=3))", "8, 64",
     "8, 64", "64, 1", ", swizzle=Swizzle(base=3, bits=3, shift=3)"},
    {"SharedLayout([8, 64], [8, 64], [64, 1], swizzle=None, offset=0, size=None)", "8, 64", "8, 64", "64, 1",
     ""},
    {"SharedLayout([8, 64], [8, 64], [64, 1], size=512)", "8, 64", "8, 64", "64, 1", ""},
    {"SharedLayout([8, 64], [8, 64], [64, 1], size=1000, offset=4)", "8, 64", "8, 64", "64, 1",
     ", offset=4, size=1000"},
    {"SharedLayout([8, 64], [8, 64], [64, 1], swizzle=(Swizzle(shift=3, base=3, bits=0)))", "8, 64", "8, 64",
     "64, 1", ""},
    {"shared_row_major_swizzle(64, 64, nbytes=2)", "64, 64", "64, 64", "64, 1",
     ", swizzle=Swizzle(base=3, bits=3, shift=3)"},
    {"shared_row_major_swizzle([8, 16], 2)", "8, 16", "8, 16", "16, 1",
     ", swizzle=Swizzle(base=3, bits=1, shift=3)"},
    {"shared_strided([3, 5], [8, 1])", "3, 5", "3, 5", "8, 1", ""},
    {"shared_strided([3, 5], strides=[8, 1], offset=7)", "3, 5", "3, 5", "8, 1", ", offset=7"},
    {"shared_compose(shared_row_major(2, 2), shared_row_major(2, 2))", "4, 4", "2, 2, 2, 2", "8, 2, 4, 1",
     ""},
    {"shared_row_major(2, 2) * shared_row_major(2, 2)", "4, 4", "2, 2, 2, 2", "8, 2, 4, 1", ""},
    {"compose(shared_row_major(2, 2), shared_row_major(2, 2))", "4, 4", "2, 2, 2, 2", "8, 2, 4, 1", ""},
    {"shared_permute(shared_row_major(2, 3), [1, 0])", "3, 2", "3, 2", "1, 3", ""},
    {"shared_row_major(2, 3).permute([1, 0])", "3, 2", "3, 2", "1, 3", ""},
    {"shared_transpose(shared_row_major(2, 3))", "3, 2", "3, 2", "1, 3", ""},
    {"shared_row_major(2, 3, 4).transpose()", "4, 3, 2", "4, 3, 2", "1, 4, 12", ""},
    {"shared_reshape(shared_row_major(2, 6), [4, 3])", "4, 3", "4, 3", "3, 1", ""},
    {"shared_row_major(2, 6).reshape((12,))", "12", "12", "1", ""},
    {"shared_unsqueeze(shared_row_major(5), [0])", "1, 5", "5", "1", ""},
    {"shared_squeeze(shared_row_major(1, 5), [0])", "5", "5", "1", ""},
    {"shared_row_major(5).unsqueeze([0]).squeeze([0])", "5", "5", "1", ""},
    {"shared_slice(shared_row_major(4, 8), [2, 4], [2, 4])", "2, 4", "2, 4", "8, 1", ", offset=20"},
    {"slice(shared_row_major(4, 8), start=[1, 4], shape=[2, 4])", "2, 4", "2, 4", "8, 1",
     ", offset=12, size=32"},
    {"shared_retain(shared_row_major(4, 8), [1])", "8", "8", "1", ", size=32"},
    {"shared_retain(shared_row_major(4, 8), retain_dims=[0])", "4", "4", "8", ", size=32"},
    {"shared_row_major(4, 8).retain(1)", "8", "8", "1", ", size=32"},
    {"shared_prepend(shared_row_major(4, 8), 3)", "3, 4, 8", "3, 4, 8", "32, 8, 1", ""},
    {"shared_row_major(4, 8).prepend(n=3)", "3, 4, 8", "3, 4, 8", "32, 8, 1", ""},
    {"with_swizzle(shared_row_major(8, 64), Swizzle(3, 3, 3))", "8, 64", "8, 64", "64, 1",
     ", swizzle=Swizzle(base=3, bits=3, shift=3)"},
    {"shared_row_major(8, 64).with_swizzle(Swizzle(3, 3, 3))", "8, 64", "8, 64", "64, 1",
     ", swizzle=Swizzle(base=3, bits=3, shift=3)"},
    {"shared_row_major(8, 64).with_size(600)", "8, 64", "8, 64", "64, 1", ", size=600"},
    {"shared_wgmma(64, 64, 16, 128)", "64, 64", "64, 64", "64, 1",
     ", swizzle=Swizzle(base=3, bits=3, shift=3)"},
};

static const struct {
  const char *text;
  const char *shape, *modes, *strides, *rest;
} global_rows[] = {
    {"global_row_major(8, 64)", "8, 64", "8, 64", "64, 1", ""},
    {"global_column_major(8, 64)", "8, 64", "8, 64", "1, 8", ""},
    {"global_strides([3, 5], [8, 1])", "3, 5", "3, 5", "8, 1", ""},
    {"global_strides([3, 5], [8, 1], 2)", "3, 5", "3, 5", "8, 1", ", offset=2"},
    {"GlobalLayout([3, 5], [3, 5], [8, 1], offset=1)", "3, 5", "3, 5", "8, 1", ", offset=1"},
    {"global_compose(global_row_major(2, 2), global_row_major(2, 2))", "4, 4", "2, 2, 2, 2", "8, 2, 4, 1",
     ""},
    {"global_slice(global_row_major(4, 8), [2, 4], [2, 4])", "2, 4", "2, 4", "8, 1", ", offset=20"},
    {"global_row_major(4, 8).slice([2, 4], [2, 4])", "2, 4", "2, 4", "8, 1", ", offset=20"},
    {"global_row_major(2, 3).permute([1, 0]) * global_row_major(1, 1)", "3, 2", "3, 2", "1, 3", ""},
};

static void expressions_are_the_tiles_they_say(void **state) {
  (void)state;
  char want[PRINTED];
  for (size_t i = 0; i < sizeof memory_rows / sizeof memory_rows[0]; i++) {
    snprintf(want, sizeof want, "SharedLayout(shape=[%s], mode_shape=[%s], mode_strides=[%s]%s)",
             memory_rows[i].shape, memory_rows[i].modes, memory_rows[i].strides, memory_rows[i].rest);
    check_prints(memory_rows[i].text, want);
  }
  for (size_t i = 0; i < sizeof global_rows / sizeof global_rows[0]; i++) {
    snprintf(want, sizeof want, "GlobalLayout(shape=[%s], mode_shape=[%s], mode_strides=[%s]%s)",
             global_rows[i].shape, global_rows[i].modes, global_rows[i].strides, global_rows[i].rest);
    check_prints(global_rows[i].text, want);
  }
}

/* A tile's size is at least what it needs, and what its text says. */
static void sizes_are_kept(void **state) {
  (void)state;
  static const struct {
    const char *text;
    int64_t size;
  } rows[] = {
      {"shared_strided([3, 5], [8, 1])", 21},
      {"SharedLayout([9], [9], [1], swizzle=Swizzle(0, 1, 3))", 10},
      {"SharedLayout([9], [9], [1], swizzle=Swizzle(0, 1, 3), size=11)", 11},
      {"shared_retain(shared_row_major(4, 8), [1])", 32},
      {"shared_row_major(4, 8).with_size(40).prepend(2)", 80},
  };
  for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
    tesela_tile_memory tile;
    tesela_error err;
    if (tesela_tile_memory_parse(rows[i].text, strlen(rows[i].text), &tile, &err) != TESELA_OK)
      fail_msg("%s: %s", rows[i].text, err.message);
    if (tile.size != rows[i].size) fail_msg("%s: size %" PRId64, rows[i].text, tile.size);
  }
}

/* Every function of the table stands in a row above, at the start or as a method. */
static void every_function_is_tried(void **state) {
  (void)state;
  int32_t n;
  const tesela_expression_function *function = tesela_expression_functions(&n);
  assert_true(n > 40);
  for (int32_t f = 0; f < n; f++) {
    bool tried = false;
    char call[64];
    snprintf(call, sizeof call, "%s(", function[f].name);
    for (size_t i = 0; i < sizeof register_rows / sizeof register_rows[0]; i++)
      tried = tried || strncmp(register_rows[i].text, call, strlen(call)) == 0;
    for (size_t i = 0; i < sizeof memory_rows / sizeof memory_rows[0]; i++)
      tried = tried || strstr(memory_rows[i].text, call);
    for (size_t i = 0; i < sizeof global_rows / sizeof global_rows[0]; i++)
      tried = tried || strncmp(global_rows[i].text, call, strlen(call)) == 0;
    if (!tried) fail_msg("no row has %s", function[f].name);
    if (f > 0 && strcmp(function[f - 1].name, function[f].name) >= 0)
      fail_msg("%s is not sorted", function[f].name);
    assert_true(function[f].arguments[0] != '\0' && function[f].summary[0] != '\0');
    if (!is_register(call, strlen(call))) fail_msg("%s does not look like one", call);
  }
}

/* ---- other notations ---- */

static void expressions_are_told_from_other_notations(void **state) {
  (void)state;
  static const struct {
    const char *text;
    bool looks;
  } rows[] = {
      {"spatial(2, 3)", true},
      {"spatial (", true},
      {"  (local(2)", true},
      {"((\n RegisterLayout(", true},
      {"SharedLayout(shape", true},
      {"mma.m16n8k16.f16.A", true},
      {"mma.", true},
      {"(ldmatrix.x4 ", true},
      {"spatial", false},
      {"spatial[", false},
      {"spatail(2)", true},
      {"f32(3,5)", false},
      {"float32(3)", false},
      {"", false},
      {"(", false},
      {"f32[3,5]{1,0}", false},
      {"(f32[3,5]{1,0}, s32[])", false},
      {"{1,0:T(8,128)}", false},
      {"P(2)", false},
      {"b(f32[2])", false},
      {"mma", true}, /* a family: its message says how names go on */
      {"mma(2)", true},
      {"local_spatial(2)", true},
      {"1spatial(2)", false},
  };
  for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++)
    if (is_register(rows[i].text, strlen(rows[i].text)) != rows[i].looks) fail_msg("%s", rows[i].text);
}

/* ---- the document's own cases ---------------------------------------------------------------------------------------- */

#ifdef TESELA_TEST_JANSSON
static json_t *vectors(void) {
  json_error_t error;
  json_t *root = json_load_file("tests/vectors/tilus_seed_examples.json", 0, &error);
  if (!root) fail_msg("%s: %s", error.source, error.text);
  return root;
}

static void check_list(const char *text, const json_t *row, const char *key, int32_t n,
                       const int64_t *number) {
  const json_t *list = json_object_get(row, key);
  if (!json_is_array(list) || (int32_t)json_array_size(list) != n) fail_msg("%s: length of %s", text, key);
  for (int32_t i = 0; i < n; i++)
    if (json_integer_value(json_array_get(list, (size_t)i)) != number[i]) fail_msg("%s: %s", text, key);
}

/* What an expression must be: the four lists, or a reason. */
static void check_vector(const json_t *row) {
  const char *text = json_string_value(json_object_get(row, "expr"));
  tesela_register layout;
  tesela_error err;
  int64_t local[TESELA_REGISTER_MODES];
  tesela_status status = tesela_register_parse(text, strlen(text), &layout, &err);
  if (json_is_false(json_object_get(row, "ok"))) {
    char reason[64] = "";
    if (status == TESELA_OK) fail_msg("%s is accepted", text);
    const char *code = tesela_reason_code(err.reason);
    for (size_t i = 0; code[i] && i + 1 < sizeof reason; i++)
      reason[i] = (char)tolower((unsigned char)code[i]);
    assert_string_equal(reason, json_string_value(json_object_get(row, "reason")));
    assert_int_equal(err.at, 0);
    return;
  }
  if (status != TESELA_OK) fail_msg("%s: %s", text, err.message);
  check_list(text, row, "shape", layout.rank, layout.shape);
  check_list(text, row, "mode_shape", layout.n_modes, layout.mode_shape);
  check_list(text, row, "spatial_modes", layout.n_spatial, layout.spatial_modes);
  for (int32_t i = 0; i < layout.n_local; i++) local[i] = layout.local_modes[i];
  check_list(text, row, "local_modes", layout.n_local, local);
  assert_int_equal(layout.spatial_size, json_integer_value(json_object_get(row, "spatial_size")));
  assert_int_equal(layout.local_size, json_integer_value(json_object_get(row, "local_size")));
}

static void the_cases_of_the_document_hold(void **state) {
  (void)state;
  static const char *const parts[] = {"seed_grids", "seed_mapping_example", "cases", "fragments"};
  json_t *root = vectors(), *row;
  size_t i, n = 0;
  for (size_t p = 0; p < sizeof parts / sizeof parts[0]; p++)
    json_array_foreach(json_object_get(root, parts[p]), i, row) {
      check_vector(row);
      n++;
    }
  assert_int_equal(n, 11 + 1 + 63 + 18);
  json_decref(root);
}

static void the_headers_of_the_document_are_printed(void **state) {
  (void)state;
  json_t *root = vectors(), *row;
  size_t i, n = 0;
  json_array_foreach(json_object_get(root, "seed_grids"), i, row) {
    check_prints(json_string_value(json_object_get(row, "expr")),
                 json_string_value(json_object_get(row, "header")));
    n++;
  }
  json_array_foreach(json_object_get(root, "visualize"), i, row) {
    char first[PRINTED];
    const char *text = json_string_value(json_object_get(row, "text"));
    snprintf(first, sizeof first, "%.*s", (int)strcspn(text, "\n"), text);
    check_prints(json_string_value(json_object_get(row, "expr")), first);
    check_prints(first, first); /* and the header is an expression */
    n++;
  }
  assert_int_equal(n, 11 + 6);
  json_decref(root);
}
#endif

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(expressions_are_the_layouts_they_say),
      cmocka_unit_test(expressions_are_the_tiles_they_say),
      cmocka_unit_test(sizes_are_kept),
      cmocka_unit_test(every_function_is_tried),
      cmocka_unit_test(expressions_are_told_from_other_notations),
#ifdef TESELA_TEST_JANSSON
      cmocka_unit_test(the_cases_of_the_document_hold),
      cmocka_unit_test(the_headers_of_the_document_are_printed),
#endif
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
