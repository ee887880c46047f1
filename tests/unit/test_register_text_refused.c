/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_register_text_refused.c - layout expressions that are refused: where, why, in which words; depth and length; any
 * bytes.
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

/* ---- what is refused -------------------------------------------------------------------------------------------- */

static const struct {
  const char *text;
  tesela_status status;
  int64_t at;
  const char *says; /* a part of the message */
  tesela_reason reason;
} refused_rows[] = {
    /* the grammar */
    {"", TESELA_E_SYNTAX, 0, "expected a layout, such as spatial(8, 4), found the end of the text", 0},
    {"  ", TESELA_E_SYNTAX, 2, "a layout", 0},
    {"3", TESELA_E_SYNTAX, 0, "expected a layout, such as spatial(8, 4), found '3'", 0},
    {"[2]", TESELA_E_SYNTAX, 0, "found '['", 0},
    {"*", TESELA_E_SYNTAX, 0, "found '*'", 0},
    {"/", TESELA_E_SYNTAX, 0, "found '/'", 0},
    {")", TESELA_E_SYNTAX, 0, "found ')'", 0},
    {"()", TESELA_E_SYNTAX, 1, "expected a layout, such as spatial(8, 4), found ')'", 0},
    {"(spatial(2)", TESELA_E_SYNTAX, 11, "'*', '/', '.' or ')'", 0},
    {"(spatial(2), local(2))", TESELA_E_SYNTAX, 11, "found ','", 0},
    {"spatial(2))", TESELA_E_SYNTAX, 10, "'*', '/', '.' or the end", 0},
    {"spatial(2) local(2)", TESELA_E_SYNTAX, 11, "found 'local'", 0},
    {"spatial(2) *", TESELA_E_SYNTAX, 12, "a layout", 0},
    {"spatial(2) * / local(2)", TESELA_E_SYNTAX, 13, "found '/'", 0},
    {"spatial(2) ** local(2)", TESELA_E_SYNTAX, 12, "found '*'", 0},
    {"spatial(2).", TESELA_E_SYNTAX, 11, "a function", 0},
    {"spatial(2)..local(2)", TESELA_E_SYNTAX, 11, "found '.", 0},
    {"spatial(2).local", TESELA_E_SYNTAX, 16,
     "expected '(', found the end of the text: local(*shape, ranks=None)", 0},
    {"spatial(2).2", TESELA_E_SYNTAX, 11, "found '2'", 0},
    {"spatial", TESELA_E_SYNTAX, 7, "expected '(', found the end of the text: spatial(*shape, ranks=None)",
     0},
    {"spatial.local(2)", TESELA_E_SYNTAX, 7, "expected '(', found '.local': spatial", 0},
    {"spatial(2", TESELA_E_SYNTAX, 9,
     "expected ',' or ')', found the end of the text: spatial(*shape, ranks=None)", 0},
    {"spatial(2 3)", TESELA_E_SYNTAX, 10, "expected ',' or ')', found '3'", 0},
    {"spatial(,)", TESELA_E_SYNTAX, 8, "found ','", 0},
    {"spatial(2,,3)", TESELA_E_SYNTAX, 10, "found ','", 0},
    {"spatial(2,[3])", TESELA_E_SYNTAX, 10, "an argument with its name", 0},
    {"spatial([2)", TESELA_E_SYNTAX, 10, "',' or ']'", 0},
    {"spatial([2,,3])", TESELA_E_SYNTAX, 11, "a whole number or ']'", 0},
    {"spatial((2]", TESELA_E_SYNTAX, 10, "',' or ')'", 0},
    {"spatial([[2]])", TESELA_E_SYNTAX, 9, "a whole number or ']'", 0},
    {"spatial([2, x])", TESELA_E_SYNTAX, 12, "found 'x'", 0},
    {"spatial(2.5)", TESELA_E_SYNTAX, 8, "expected a whole number, found '2.5'", 0},
    {"spatial(2x)", TESELA_E_SYNTAX, 8, "found '2x'", 0},
    {"spatial(1_000)", TESELA_E_SYNTAX, 8, "found '1_000'", 0},
    {"spatial(+2)", TESELA_E_SYNTAX, 8, "found '+'", 0},
    {"spatial(- 2)", TESELA_E_SYNTAX, 8, "found '-'", 0},
    {"spatial('2')", TESELA_E_SYNTAX, 8, "found '''", 0},
    {"spatial(2); local(2)", TESELA_E_SYNTAX, 10, "found ';'", 0},
    {"spatial(2) # two", TESELA_E_SYNTAX, 11, "found '#'", 0},
    {"\xC3\xA9(2)", TESELA_E_SYNTAX, 0, "U+00E9", 0},
    {"spatial(2\xFF)", TESELA_E_SYNTAX, 9, "byte 0xFF, which is not UTF-8", 0},
    /* names */
    {"spatail(2)", TESELA_E_SYNTAX, 0, "unknown function 'spatail'; did you mean spatial?", 0},
    {"spatail", TESELA_E_SYNTAX, 0, "unknown function or fragment 'spatail'; did you mean spatial?", 0},
    {"mmma.m16n8k16.f16.A", TESELA_E_SYNTAX, 0, "unknown function or fragment 'mmma'; did you mean mma?", 0},
    {"zebra(2)", TESELA_E_SYNTAX, 0, "unknown function 'zebra'", 0},
    {"spatial(2).locla(2)", TESELA_E_SYNTAX, 11, "did you mean local?", 0},
    {"Spatial(2)", TESELA_E_SYNTAX, 0, "did you mean spatial?", 0},
    {"aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa(2)", TESELA_E_SYNTAX, 0,
     "'aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa...'", 0},
    {"mma.m16n8k16.f16.Q", TESELA_E_SYNTAX, 17, "", 0},
    {"spatial(2) * mma.nothing", TESELA_E_SYNTAX, 17, "", 0},
    {"mma.m16n8k16.f16.A.foo(2)", TESELA_E_SYNTAX, 19, "unknown function 'foo'", 0},
    {"mma.m16n8k16.f16.A(2)", TESELA_E_SYNTAX, 18, "expected '*', '/', '.' or the end, found '('", 0},
    {"mma.m16n8k16.f16(2)", TESELA_E_SYNTAX, 12, "", 0}, /* not a fragment, so "f16" is not a method */
    /* arguments */
    {"spatial(2, rank=[0])", TESELA_E_SYNTAX, 11,
     "unknown argument 'rank' of spatial(*shape, ranks=None); did you mean ranks?", 0},
    {"spatial(zebra=1)", TESELA_E_SYNTAX, 8, "unknown argument 'zebra' of spatial(*shape, ranks=None)", 0},
    {"spatial(2, ranks=[0], ranks=[0])", TESELA_E_SYNTAX, 22, "ranks is given twice", 0},
    {"spatial(2, shape=[2])", TESELA_E_SYNTAX, 11, "shape is given twice", 0},
    {"spatial(ranks=[0], 2)", TESELA_E_SYNTAX, 19, "an argument with its name", 0},
    {"column_spatial(2, ranks=[0])", TESELA_E_SYNTAX, 18,
     "unknown argument 'ranks' of column_spatial(*shape)", 0},
    {"spatial(2, ranks=[0]=3)", TESELA_E_SYNTAX, 20, "found '='", 0},
    {"spatial(ranks==[0])", TESELA_E_SYNTAX, 14, "found '='", 0},
    {"spatial(local(2))", TESELA_E_SYNTAX, 8,
     "expected a whole number or a list such as [2, 3], found 'local': spatial(*shape, ranks=None)", 0},
    {"spatial(None)", TESELA_E_SYNTAX, 8, "found 'None'", 0},
    {"squeeze(spatial(1))", TESELA_E_SYNTAX, 18, "missing argument dims: squeeze(layout, dims)", 0},
    {"squeeze(dims=[0])", TESELA_E_SYNTAX, 16, "missing argument layout: squeeze(layout, dims)", 0},
    {"squeeze()", TESELA_E_SYNTAX, 8, "missing argument layout", 0},
    {"spatial(1).squeeze()", TESELA_E_SYNTAX, 19, "missing argument dims", 0},
    {"spatial(1).squeeze(spatial(1), [0])", TESELA_E_SYNTAX, 19,
     "expected a list such as [2, 3], found 'spatial': squeeze", 0},
    {"spatial(1).squeeze([0], layout=spatial(1))", TESELA_E_SYNTAX, 24, "layout is given twice", 0},
    {"squeeze(spatial(1), [0], [1])", TESELA_E_SYNTAX, 25, "expected ')', found '[': squeeze(layout, dims)",
     0},
    {"squeeze([0], spatial(1))", TESELA_E_SYNTAX, 8, "expected a layout, found '[': squeeze(layout, dims)",
     0},
    {"squeeze(None, [0])", TESELA_E_SYNTAX, 8, "expected a layout, found 'None'", 0},
    {"compose(spatial(2), 3)", TESELA_E_SYNTAX, 20, "expected a layout, found '3': compose(outer, inner)", 0},
    {"compose(spatial(2))", TESELA_E_SYNTAX, 18, "missing argument inner: compose(outer, inner)", 0},
    {"compose(spatial(2), local(2), local(2))", TESELA_E_SYNTAX, 30, "expected ')', found 'local': compose",
     0},
    {"replicated(2)", TESELA_E_SYNTAX, 12, "missing argument num_workers: replicated(*shape, num_workers)",
     0},
    {"replicated(2, num_workers=[3])", TESELA_E_SYNTAX, 26, "expected a whole number, found '['", 0},
    {"replicated(2, num_workers=None)", TESELA_E_SYNTAX, 26, "a whole number", 0},
    {"reduce(spatial(2), [0], keepdims=1)", TESELA_E_SYNTAX, 33, "True or False", 0},
    {"reduce(spatial(2), [0], keepdims=true)", TESELA_E_SYNTAX, 33, "True or False", 0},
    {"reduce(spatial(2), None)", TESELA_E_SYNTAX, 19, "a list such as [2, 3]", 0},
    {"spatial(2, ranks=(local(2)))", TESELA_E_SYNTAX, 18, "a whole number or ')'", 0},
    {"spatial(2).shared_row_major(2)", TESELA_E_SYNTAX, 11, "does not take a layout", 0},
    {"spatial(2).RegisterLayout([2], [2], [0], [])", TESELA_E_SYNTAX, 11, "does not take a layout", 0},
    {"SharedLayout([2], [2], [1], swizzle=3)", TESELA_E_SYNTAX, 36, "a swizzle such as Swizzle(3, 3, 3)", 0},
    {"Swizzle(3, 3)", TESELA_E_SYNTAX, 12, "missing argument shift: Swizzle(base, bits, shift)", 0},
    /* kinds */
    {"Swizzle(3, 3, 3)", TESELA_E_MISMATCH, 0, "is a swizzle; expected a layout", 0},
    {"SharedLayout([2], [2], [1], spatial(2))", TESELA_E_MISMATCH, 28,
     "swizzle is a register layout; expected a swizzle: SharedLayout", 0},
    {"squeeze(Swizzle(1, 1, 1), [0])", TESELA_E_MISMATCH, 8, "layout is a swizzle", 0},
    {"reduce(shared_row_major(2), [0])", TESELA_E_MISMATCH, 7,
     "layout is a shared layout; expected a register layout: reduce(layout, dims, keepdims=False)", 0},
    {"shared_row_major(2).reduce([0])", TESELA_E_MISMATCH, 20, "layout is a shared layout", 0},
    {"shared_permute(spatial(2), [0])", TESELA_E_MISMATCH, 15, "expected a shared layout", 0},
    {"shared_permute(global_row_major(2), [0])", TESELA_E_MISMATCH, 15, "layout is a global layout", 0},
    {"global_slice(shared_row_major(2), [0], [1])", TESELA_E_MISMATCH, 13, "expected a global layout", 0},
    {"slice(spatial(2), [0], [1])", TESELA_E_MISMATCH, 6, "expected a shared or global layout", 0},
    {"compose(spatial(2), shared_row_major(2))", TESELA_E_MISMATCH, 20, "inner is a shared layout", 0},
    {"spatial(2) * shared_row_major(2)", TESELA_E_MISMATCH, 11, "a register layout * a shared layout", 0},
    {"global_row_major(2) * shared_row_major(2)", TESELA_E_MISMATCH, 20, "a global layout * a shared layout",
     0},
    {"Swizzle(1, 1, 1) * Swizzle(1, 1, 1)", TESELA_E_MISMATCH, 17, "a swizzle * a swizzle", 0},
    {"shared_row_major(2) / shared_row_major(2)", TESELA_E_MISMATCH, 20, "expected two register layouts", 0},
    {"shared_row_major(2).local(2)", TESELA_E_MISMATCH, 20, "a shared layout * a register layout", 0},
    /* numbers */
    {"spatial(9223372036854775808)", TESELA_E_OVERFLOW, 8, "does not fit in 64 bits", 0},
    {"spatial(20000000000000000000)", TESELA_E_OVERFLOW, 8, "does not fit in 64 bits",
     0}, /* 1.55e18 modulo 2^64 */
    {"reduce(spatial(2), [-9223372036854775809])", TESELA_E_OVERFLOW, 20, "does not fit in 64 bits", 0},
    {"reduce(spatial(2), [-9223372036854775808])", TESELA_E_RANGE, 0, "", TESELA_REASON_DIM_OUT_OF_RANGE},
    {"shared_row_major_swizzle(8, 8, nbytes=4294967298)", TESELA_E_RANGE, 38, "nbytes is 4294967298", 0},
    {"Swizzle(0, 0, -2147483649)", TESELA_E_RANGE, 14, "shift is -2147483649", 0},
    /* what operations refuse, where the call begins */
    {"spatial(3, 0)", TESELA_E_RANGE, 0, "", TESELA_REASON_SHAPE_NOT_POSITIVE},
    {"local(2).spatial(3, 0)", TESELA_E_RANGE, 9, "", TESELA_REASON_SHAPE_NOT_POSITIVE},
    {"local(2) *  spatial(3, -1)", TESELA_E_RANGE, 12, "", TESELA_REASON_SHAPE_NOT_POSITIVE},
    {"spatial(3,ranks=[1])", TESELA_E_RANGE, 0, "", TESELA_REASON_RANKS_OUT_OF_RANGE},
    {"local(2,2,ranks=[1,1])", TESELA_E_INVALID, 0, "", TESELA_REASON_RANKS_DUPLICATE},
    {"spatial(2, 3, ranks=[0])", TESELA_E_INVALID, 0, "ranks has 1 numbers, but shape has 2",
     TESELA_REASON_RANKS_LENGTH},
    {"replicated(2, num_workers=0)", TESELA_E_RANGE, 0, "", TESELA_REASON_WORKERS_NOT_POSITIVE},
    {"auto_local_spatial(10,[4,4])", TESELA_E_INVALID, 0, "", TESELA_REASON_THREADS_DO_NOT_FIT},
    {"register_layout([6],[5],[0],[])", TESELA_E_INVALID, 0, "", TESELA_REASON_MODE_DOES_NOT_FIT_SHAPE},
    {"register_layout([6],[3,2],[0],[])", TESELA_E_INVALID, 0, "", TESELA_REASON_MODE_NOT_PLACED},
    {"squeeze( squeeze(spatial(2,5),[0]), [0])", TESELA_E_INVALID, 9, "", TESELA_REASON_DIM_NOT_ONE},
    {"spatial(6) / local(3)", TESELA_E_INVALID, 11, "", TESELA_REASON_NOT_DIVISIBLE},
    {"spatial(6).divide(local(3))", TESELA_E_INVALID, 11, "", TESELA_REASON_NOT_DIVISIBLE},
    {"divide(spatial(6), local(3))", TESELA_E_INVALID, 0, "", TESELA_REASON_NOT_DIVISIBLE},
    {"divide(spatial(4), spatial(1, 2))", TESELA_E_INVALID, 0, "the divisor has rank 2, the layout rank 1",
     TESELA_REASON_NOT_DIVISIBLE},
    {"left_divide(spatial(), local(1))", TESELA_E_INVALID, 0, "the divisor has rank 1, the layout rank 0",
     TESELA_REASON_NOT_LEFT_DIVISIBLE},
    {"spatial(4294967296) * spatial(4294967296)", TESELA_E_OVERFLOW, 20, "", 0},
    {"spatial(4294967296).local(4294967296)", TESELA_E_OVERFLOW, 20, "", 0},
    {"shared_strided([2, 3], [1])", TESELA_E_INVALID, 0, "shape has 2 numbers, but strides has 1",
     TESELA_REASON_DIMS_LENGTH},
    {"SharedLayout([2, 3], [2, 3], [1])", TESELA_E_INVALID, 0,
     "mode_shape has 2 numbers, but mode_strides has 1", TESELA_REASON_DIMS_LENGTH},
    {"shared_slice(shared_row_major(4), [0, 0], [1, 1])", TESELA_E_INVALID, 0, "1 dims",
     TESELA_REASON_DIMS_LENGTH},
    {"shared_slice(shared_row_major(4), [0], [1, 1])", TESELA_E_INVALID, 0, "start has 1 numbers",
     TESELA_REASON_DIMS_LENGTH},
    {"SharedLayout([8], [8], [1], size=7)", TESELA_E_RANGE, 0, "", 0},
    {"with_swizzle(with_swizzle(shared_row_major(64), Swizzle(0, 1, 1)), Swizzle(0, 1, 1))", TESELA_E_INVALID,
     0, "", TESELA_REASON_SWIZZLE},
};

static void refusals_say_where_and_what(void **state) {
  (void)state;
  for (size_t i = 0; i < sizeof refused_rows / sizeof refused_rows[0]; i++) {
    const char *text = refused_rows[i].text;
    tesela_expression value, before;
    tesela_error err = {.message = ""};
    memset(&value, 0x5A, sizeof value);
    before = value;
    tesela_status status = tesela_expression_parse(text, strlen(text), &value, &err);
    if (status != refused_rows[i].status || err.status != status || err.at != refused_rows[i].at ||
        err.reason != refused_rows[i].reason || !strstr(err.message, refused_rows[i].says))
      fail_msg("%s: %s at %" PRId64 " reason '%s': %s", text, tesela_status_code(status), err.at,
               tesela_reason_code(err.reason), err.message);
    assert_true(err.message[0] != '\0' && strlen(err.message) < sizeof err.message - 1);
    assert_memory_equal(&value, &before, sizeof value);
    assert_int_equal(tesela_expression_parse(text, strlen(text), &value, NULL), status);
  }
}

static void a_reader_of_one_kind_refuses_the_other(void **state) {
  (void)state;
  static const char registers[] = "spatial(2)", memory[] = "shared_row_major(2)";
  tesela_register layout;
  tesela_tile_memory tile;
  tesela_error err;
  assert_int_equal(tesela_register_parse(registers, strlen(registers), &layout, NULL), TESELA_OK);
  assert_int_equal(tesela_tile_memory_parse(memory, strlen(memory), &tile, NULL), TESELA_OK);
  assert_int_equal(tile.space, TESELA_TILE_SHARED);
  tile.rank = 7;
  layout.rank = 7;
  assert_int_equal(tesela_register_parse(memory, strlen(memory), &layout, &err), TESELA_E_MISMATCH);
  assert_string_equal(err.message, "the expression is a shared layout; expected a register layout");
  assert_int_equal(tesela_tile_memory_parse(registers, strlen(registers), &tile, &err), TESELA_E_MISMATCH);
  assert_string_equal(err.message, "the expression is a register layout; expected a shared or global layout");
  assert_int_equal(err.at, 0);
  assert_int_equal(tile.rank, 7);
  assert_int_equal(layout.rank, 7);
}

/* ---- bounds ------------------------------------------------------------------------------------------------------ */

static char long_text[TESELA_EXPRESSION_LENGTH + 64];

static void repeat_text(const char *first, const char *middle, int n, const char *last, const char *close,
                        int m) {
  char *at = long_text;
  at += snprintf(at, sizeof long_text, "%s", first);
  for (int i = 0; i < n && at - long_text < (int)sizeof long_text - 40; i++) at += sprintf(at, "%s", middle);
  at += sprintf(at, "%s", last);
  for (int i = 0; i < m && at - long_text < (int)sizeof long_text - 8; i++) at += sprintf(at, "%s", close);
}

static tesela_status parse_long(tesela_register *layout, tesela_error *err) {
  return tesela_register_parse(long_text, strlen(long_text), layout, err);
}

static void depth_is_bounded(void **state) {
  (void)state;
  enum { DEPTH = TESELA_EXPRESSION_DEPTH };
  tesela_register layout;
  tesela_error err;
  repeat_text("", "(", DEPTH - 1, "spatial(2)", ")", DEPTH - 1);
  assert_int_equal(parse_long(&layout, &err), TESELA_OK);
  repeat_text("", "(", DEPTH, "spatial(2)", ")", DEPTH);
  assert_int_equal(parse_long(&layout, &err), TESELA_E_LIMIT);
  assert_int_equal(err.at, DEPTH); /* the call */
  repeat_text("", "(", DEPTH + 1, "", "", 0);
  assert_int_equal(parse_long(&layout, &err), TESELA_E_LIMIT);
  assert_int_equal(err.at, DEPTH);
  repeat_text("", "(", 60000, "", "", 0);
  assert_int_equal(parse_long(&layout, &err), TESELA_E_LIMIT);
  /* two layouts wait at every level */
  repeat_text("", "compose(local(2), spatial()*", DEPTH - 2, "compose(spatial(3), local(1) * spatial(1))",
              ")", DEPTH - 2);
  assert_int_equal(parse_long(&layout, &err), TESELA_OK);
  assert_int_equal(layout.local_size, INT64_C(1) << (DEPTH - 2));
  assert_int_equal(layout.spatial_size, 3);
  repeat_text("", "compose(local(2), spatial()*", DEPTH - 1,
              "compose(mma.m16n8k16.f16.A, mma.m16n8k16.f16.A * mma.m16n8k16.f16.A)", ")", DEPTH - 1);
  assert_int_equal(parse_long(&layout, &err), TESELA_OK);
  assert_int_equal(layout.spatial_size, 32 * 32 * 32);
  repeat_text("", "compose(local(2), spatial()*", DEPTH, "spatial(1)", ")", DEPTH);
  assert_int_equal(parse_long(&layout, &err), TESELA_E_LIMIT);
  assert_int_equal(err.at,
                   (DEPTH - 1) * (int)strlen("compose(local(2), spatial()*") + (int)strlen("compose("));
}

static void length_is_bounded_and_chains_are_not(void **state) {
  (void)state;
  tesela_register layout;
  tesela_error err;
  repeat_text("spatial(6)", "*spatial()", 6550, "", "", 0);
  assert_int_equal(parse_long(&layout, &err), TESELA_OK);
  assert_int_equal(layout.spatial_size, 6);
  repeat_text("spatial(6)", ".local()", 8100, "", "", 0);
  assert_int_equal(parse_long(&layout, &err), TESELA_OK);
  repeat_text("spatial(6)", ".transpose()", 5400, "", "", 0);
  assert_int_equal(parse_long(&layout, &err), TESELA_OK);
  repeat_text("spatial(1)", "*replicated(num_workers=1)", 100, "", "", 0); /* one digit each */
  assert_int_equal(parse_long(&layout, &err), TESELA_E_LIMIT);
  repeat_text("spatial(", "1,", 32, "", ")", 1);
  assert_int_equal(parse_long(&layout, &err), TESELA_OK);
  repeat_text("spatial(", "1,", 33, "", ")", 1);
  assert_int_equal(parse_long(&layout, &err), TESELA_E_LIMIT);
  assert_int_equal(err.at, 0);
  repeat_text("spatial([", "1,", 30000, "", "])", 1);
  assert_int_equal(parse_long(&layout, &err), TESELA_E_LIMIT);
  assert_int_equal(err.at, 9 + 2 * 64); /* the 65th number */
  memset(long_text, ' ', TESELA_EXPRESSION_LENGTH);
  memcpy(long_text + TESELA_EXPRESSION_LENGTH - 10, "spatial(2) ", 11);
  assert_int_equal(tesela_register_parse(long_text, TESELA_EXPRESSION_LENGTH, &layout, &err), TESELA_OK);
  assert_int_equal(tesela_register_parse(long_text, TESELA_EXPRESSION_LENGTH + 1, &layout, &err),
                   TESELA_E_LIMIT);
  assert_int_equal(err.at, TESELA_EXPRESSION_LENGTH);
}

/* ---- any bytes ---------------------------------------------------------------------------------------------------- */

/* In memory of just its size, so that a sanitizer sees what is read past the end. */
static tesela_status parse_exact(const char *text, size_t length, tesela_error *err) {
  char *exact = malloc(length ? length : 1);
  tesela_expression value;
  assert_non_null(exact);
  memcpy(exact, text, length);
  tesela_status status = tesela_expression_parse(exact, length, &value, err);
  const tesela_notation *notation;
  tesela_notation_find(exact, length, &notation, NULL, NULL);
  free(exact);
  return status;
}

static void texts_cut_anywhere_are_refused_at_their_end_or_before(void **state) {
  (void)state;
  static const char *const whole[] = {
      "compose(local(3, 4, ranks=[1, 0]), reduce(spatial(2, 3), dims=[0], keepdims=True))",
      "SharedLayout(shape=[8, 64], mode_shape=[8, 64], mode_strides=[64, 1], swizzle=Swizzle(3, 3, 3))",
      "(mma.m16n8k16.f16.A)",
  };
  for (size_t i = 0; i < sizeof whole / sizeof whole[0]; i++) {
    tesela_error err;
    size_t length = strlen(whole[i]);
    assert_int_equal(parse_exact(whole[i], length, &err), TESELA_OK);
    for (size_t n = 0; n < length; n++) {
      tesela_status status = parse_exact(whole[i], n, &err);
      if (status == TESELA_OK || err.at < 0 || err.at > (int64_t)n) fail_msg("%.*s", (int)n, whole[i]);
    }
  }
}

static void any_byte_anywhere_is_refused_or_read(void **state) {
  (void)state;
  static const char whole[] = "reduce(local(3, 4) * spatial(2, 3), dims=[-1])";
  char text[sizeof whole + 1];
  size_t length = strlen(whole), accepted = 0;
  for (size_t at = 0; at <= length; at++)
    for (int byte = 0; byte < 256; byte++)
      for (int insert = 0; insert < 2; insert++) {
        tesela_error err;
        if (at == length && !insert) continue;
        memcpy(text, whole, at);
        text[at] = (char)byte;
        memcpy(text + at + 1, whole + at + !insert, length - at);
        size_t n = length + (size_t)insert;
        tesela_status status = parse_exact(text, n, &err);
        accepted += status == TESELA_OK;
        if (status != TESELA_OK &&
            (err.at < 0 || err.at > (int64_t)n || err.message[0] == '\0' || strchr(err.message, '\n')))
          fail_msg("%.*s: at %" PRId64, (int)n, text, err.at);
        if (status == TESELA_OK && (byte == 0 || byte >= 0x7F))
          fail_msg("byte %d at %zu is accepted", byte, at);
      }
  assert_true(accepted > 100); /* blanks and other digits */
  tesela_error err;
  assert_int_equal(tesela_expression_parse("spatial(2)\0", 11, &(tesela_expression){0}, &err),
                   TESELA_E_SYNTAX);
  assert_int_equal(err.at, 10);
  assert_non_null(strstr(err.message, "a NUL byte"));
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(refusals_say_where_and_what),
      cmocka_unit_test(a_reader_of_one_kind_refuses_the_other),
      cmocka_unit_test(depth_is_bounded),
      cmocka_unit_test(length_is_bounded_and_chains_are_not),
      cmocka_unit_test(texts_cut_anywhere_are_refused_at_their_end_or_before),
      cmocka_unit_test(any_byte_anywhere_is_refused_or_read),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
