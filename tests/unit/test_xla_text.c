/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_xla_text.c - XLA text: what is read and how it prints, the start of a longer text, layouts alone.
 *
 * Expected texts, bytes and statuses come from the grammar of XLA's parser and printer and from the
 * decisions in docs/xla.md; "vector" rows are those of tests/vectors/xla_seed_examples.json.
 */
#include "support_xla_text.h"

/* ---- accepted ---- */

static const struct {
  const char *name, *text, *printed;
} accepted_rows[] = {
    {"vector: the document's example", "f32[3,5]{1,0:T(2,2)}", "f32[3,5]{1,0:T(2,2)}"},
    {"vector: default order", "f32[3,5]", "f32[3,5]{1,0}"},
    {"vector: blanks anywhere", "f32[ 3, 5 ]{ 1, 0 : T( 2 , 2 ) }", "f32[3,5]{1,0:T(2,2)}"},
    {"vector: scalar with a tile", "f32[]{:T(128)}", "f32[]{:T(128)}"},
    {"vector: unbounded dim", "f32[?,784]", "f32[?,784]{1,0}"},
    {"vector: bounded dim", "f32[<=8,4]{1,0:T(2,2)}", "f32[<=8,4]{1,0:T(2,2)}"},
    {"vector: defaults left out", "f32[2,3]{1,0:T(2,2)L(1)E(0)S(0)}", "f32[2,3]{1,0:T(2,2)}"},
    {"vector: combined dims", "f32[2,3,4]{2,1,0:T(2,*,8)}", "f32[2,3,4]{2,1,0:T(2,*,8)}"},
    {"scalar", "f32[]", "f32[]"},
    {"scalar with braces and a colon", "f32[]{:}", "f32[]"},
    {"a colon and nothing behind it", "f32[2]{0:}", "f32[2]{0}"},
    {"zero extent", "f32[0,5]", "f32[0,5]{1,0}"},
    {"leading zeros and minus zero", "f32[007,-0]{01,00}", "f32[7,0]{1,0}"},
    {"column order", "f32[3,5]{0,1}", "f32[3,5]{0,1}"},
    {"token", "token[]", "token[]"},
    {"opaque", "opaque[]", "opaque[]"},
    {"token with blanks", " token [ ] ", "token[]"},
    {"buffer", "b(f32[2,3]{0,1:T(8)})", "b(f32[2,3]{0,1:T(8)})"},
    {"buffer without layout, blanks", "b ( f32[2] )", "b(f32[2]{0})"},
    {"comments between any two tokens",
     "/*a*/f32/*b*/[/*c*/3/**/,/*d*/5]//e\n{/*f*/1,0/*g*/:/*h*/T/*i*/(/*j*/2,2)/*k*/}// end",
     "f32[3,5]{1,0:T(2,2)}"},
    {"a comment in UTF-8", "f32[2]/* \xE2\x88\x97 */", "f32[2]{0}"},
    {"a star comment with stars", "/***/f32[2]/* * / **/", "f32[2]{0}"},
    {"tab, CR, LF", "\tf32\r\n[2]\n", "f32[2]{0}"},
    {"layout behind blanks", "f32[2] \n {0}", "f32[2]{0}"},
    {"repeated tiles", "bf16[4096]{0:T(1024)(128)(2,1)}", "bf16[4096]{0:T(1024)(128)(2,1)}"},
    {"every property", "s4[8,6]{1,0:T(8,128)(2,1)L(4)E(4)S(1)SC(0:3,6)(1:2)M(1024)}",
     "s4[8,6]{1,0:T(8,128)(2,1)L(4)E(4)S(1)SC(0:3,6)(1:2)M(1024)}"},
    {"a split config without cut points", "f32[8]{0:SC(0:)}", "f32[8]{0:SC(0:)}"},
    {"E of the type's own width stays", "f32[2]{0:E(32)}", "f32[2]{0:E(32)}"},
    {"pred in four bytes", "pred[8,8,8]{0,2,1:T(8,128)E(32)}", "pred[8,8,8]{0,2,1:T(8,128)E(32)}"},
    {"memory space -128", "f32[2]{0:S(-128)}", "f32[2]{0:S(-128)}"},
    {"memory space 127", "f32[2]{0:S(127)}", "f32[2]{0:S(127)}"},
    {"M(0) left out", "f32[2]{0:M(0)}", "f32[2]{0}"},
    {"dimension levels are dropped", "f32[2,3]{1,0:D(D,C+~)T(2,2)}", "f32[2,3]{1,0:T(2,2)}"},
    {"no dimension levels", "f32[2]{0:D()}", "f32[2]{0}"},
    {"every dimension level", "f32[2]{0:D(D, C+, S~, H + ~)}", "f32[2]{0}"},
    {"tile of higher rank", "f32[8]{0:T(2,2)(2,2,2,2,2)}", "f32[8]{0:T(2,2)(2,2,2,2,2)}"},
    {"runs of combined dims", "f32[2,7,8,11,10]{4,3,2,1,0:T(*,*,2,*,3)}",
     "f32[2,7,8,11,10]{4,3,2,1,0:T(*,*,2,*,3)}"},
    {"the longest byte array", "s8[9223372036854775807]", "s8[9223372036854775807]{0}"},
    {"the longest f32 array", "f32[2305843009213693951]", "f32[2305843009213693951]{0}"},
    {"the widest element that fits", "s8[8]{0:E(9223372036854775807)}", "s8[8]{0:E(9223372036854775807)}"},
    {"the largest tail that fits", "s8[1]{0:L(9223372036854775807)}", "s8[1]{0:L(9223372036854775807)}"},
    {"a zero extent makes any other fit", "f32[9223372036854775807,0]{1,0:T(9223372036854775807,2)}",
     "f32[9223372036854775807,0]{1,0:T(9223372036854775807,2)}"},
    {"the largest bound", "s8[<=9223372036854775807]", "s8[<=9223372036854775807]{0}"},
    {"32 dims", "f32[1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1]",
     "f32[1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1]{31,30,29,28,27,26,25,24,23,22,21,"
     "20,19,"
     "18,17,16,15,14,13,12,11,10,9,8,7,6,5,4,3,2,1,0}"},
};

static void texts_of_the_grammar_are_read_and_printed(void **state) {
  (void)state;
  for (size_t i = 0; i < sizeof accepted_rows / sizeof accepted_rows[0]; i++) {
    const char *text = accepted_rows[i].text;
    tesela_xla_shape shape, again;
    tesela_error err = {.message = ""};
    char printed[LONG], reprinted[LONG];
    if (xla_text_read(text, strlen(text), TESELA_XLA_STRICT, &shape, NULL, &err) != TESELA_OK)
      fail_msg("%s: %s at %" PRId64, accepted_rows[i].name, err.message, err.at);
    OK(tesela_xla_validate(&shape, &e_));
    xla_text_print(&shape, true, printed);
    xla_text_same(accepted_rows[i].name, printed, accepted_rows[i].printed);
    OK(xla_text_read(printed, strlen(printed), TESELA_XLA_STRICT, &again, NULL, &e_));
    xla_text_print(&again, true, reprinted);
    xla_text_same(accepted_rows[i].name, reprinted, printed);
  }
}

static void fields_say_what_the_text_says(void **state) {
  (void)state;
  tesela_xla_shape s = shape_of("s4[<=8,?]{0,1:T(8,*,128)(2,1)L(4)E(4)S(-3)SC(1:3,6)M(1024)}");
  const tesela_xla_layout *l = &s.layout;
  static const int64_t tile[] = {8, TESELA_XLA_COMBINE, 128, 2, 1};
  assert_int_equal(s.kind, TESELA_XLA_ARRAY);
  assert_int_equal(s.dtype, TESELA_S4);
  assert_int_equal(s.rank, 2);
  assert_int_equal(s.dynamic, 3);
  assert_true(s.dim[0] == 8 && s.dim[1] == TESELA_XLA_UNBOUNDED);
  assert_true(s.has_layout && l->rank == 2 && l->minor_to_major[0] == 0 && l->minor_to_major[1] == 1);
  assert_true(l->n_tiles == 2 && l->n_tile_numbers == 5 && l->tile_rank[0] == 3 && l->tile_rank[1] == 2);
  for (int i = 0; i < 5; i++) assert_true(l->tile[i] == tile[i]);
  assert_true(l->tail == 4 && l->element_bits == 4 && l->memory_space == -3 && l->metadata_bytes == 1024);
  assert_true(l->n_splits == 1 && l->split[0].dim == 1 && l->split[0].n_points == 2);
  assert_true(l->n_split_points == 2 && l->split_point[0] == 3 && l->split_point[1] == 6);
  assert_true(l->index_type == TESELA_DTYPE_NONE && l->pointer_type == TESELA_DTYPE_NONE &&
              l->physical[0] == '\0');
}

static void every_type_word_is_read(void **state) {
  (void)state;
  static const char *const words[] = {
#define ROW(symbol, number, name, bits, bytes, family) [number] = name,
      TESELA_DTYPE_MAP(ROW)
#undef ROW
  };
  for (int number = 0; number < (int)(sizeof words / sizeof words[0]); number++) {
    tesela_xla_shape shape;
    char text[64], printed[LONG];
    if (!words[number]) continue;
    snprintf(text, sizeof text, "%s[]", words[number]);
    OK(xla_text_read(text, strlen(text), 0, &shape, NULL, &e_));
    AGREE(text, shape.dtype, number);
    xla_text_print(&shape, true, printed);
    xla_text_same(text, printed, text);
  }
}

static void a_missing_layout_is_filled_in_or_kept_missing(void **state) {
  (void)state;
  static const struct {
    const char *text;
    bool has_layout;
    const char *printed;
  } rows[] = {
      {"f32[3,5]", false, "f32[3,5]"},   {"f32[3,5]{0,1}", true, "f32[3,5]{0,1}"},
      {"f32[]", true, "f32[]"},          {"f32[]{:T(128)}", true, "f32[]{:T(128)}"},
      {"b(f32[2])", false, "b(f32[2])"}, {"f32[?,<=8]", false, "f32[?,<=8]"},
  };
  for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
    tesela_xla_shape shape;
    char printed[LONG];
    OK(xla_text_read(rows[i].text, strlen(rows[i].text), TESELA_XLA_KEEP_BARE, &shape, NULL, &e_));
    AGREE(rows[i].text, shape.has_layout, rows[i].has_layout);
    OK(tesela_xla_validate(&shape, &e_));
    xla_text_print(&shape, true, printed);
    xla_text_same(rows[i].text, printed, rows[i].printed);
  }
  tesela_xla_shape shape = shape_of("f32[]");
  assert_true(shape.has_layout);
}

static void the_layout_can_be_left_out_of_the_print(void **state) {
  (void)state;
  char printed[LONG];
  tesela_xla_shape shape = shape_of("f32[<=23,44,?]{0,1,2:T(8,128)}");
  xla_text_print(&shape, false, printed);
  xla_text_same("array", printed, "f32[<=23,44,?]");
  shape = shape_of("b(f32[2,3]{1,0})");
  xla_text_print(&shape, false, printed);
  xla_text_same("buffer", printed, "b(f32[2,3])");
}

/* ---- the start of a longer text ---- */

static void a_prefix_ends_where_the_shape_ends(void **state) {
  (void)state;
  static const struct {
    const char *text;
    int32_t flags;
    size_t used;
    const char *printed;
  } rows[] = {
      {"f32[42] {\n  %x = ", 0, 7, "f32[42]{0}"},
      {"f32[42]{0} add(", 0, 10, "f32[42]{0}"},
      {"f32[42] {0} add(", 0, 11, "f32[42]{0}"},
      {"f32[42]{0}}", 0, 10, "f32[42]{0}"},
      {"f32[42], f32[2]", 0, 7, "f32[42]{0}"},
      {"f32[42]foo", 0, 7, "f32[42]{0}"},
      {"f32[42] /* never closed", 0, 7, "f32[42]{0}"},
      {"f32[42]\xFF", 0, 7, "f32[42]{0}"},
      {"  f32[42]\n", 0, 9, "f32[42]{0}"},
      {"f32[]{} constant", 0, 5, "f32[]"},
      {"f32[]{} constant", TESELA_XLA_LENIENT, 7, "f32[]"},
      {"f32[] {} constant", TESELA_XLA_LENIENT, 5, "f32[]"},
      {"f32[2] { }", TESELA_XLA_LENIENT, 6, "f32[2]{0}"},
      {"b(f32[2]) x", 0, 9, "b(f32[2]{0})"},
      {"token[] after-all()", 0, 7, "token[]"},
      {"f32[2]", TESELA_XLA_KEEP_BARE, 6, "f32[2]"},
  };
  for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
    size_t length = strlen(rows[i].text), used = 0;
    char *copy = xla_text_exact(rows[i].text, length), printed[LONG];
    tesela_xla_shape shape;
    OK(tesela_xla_parse_prefix(copy, length, rows[i].flags, &shape, &used, NULL, &e_));
    free(copy);
    AGREE(rows[i].text, used, rows[i].used);
    xla_text_print(&shape, true, printed);
    xla_text_same(rows[i].text, printed, rows[i].printed);
  }
}

static void a_prefix_that_is_no_shape_is_refused(void **state) {
  (void)state;
  static const struct {
    const char *text;
    tesela_status status;
    int64_t at;
    const char *fragment;
  } rows[] = {
      {"(f32[2]) tuple(", TESELA_E_UNSUPPORTED, 0, "a tuple"},
      {"%x = f32[2]", TESELA_E_SYNTAX, 0, "'%'"},
      {"f32[2]{0:T(", TESELA_E_SYNTAX, 11, "the end of the text"},
      {"f32[2]{1} add(", TESELA_E_RANGE, 7, "dim 1"},
  };
  for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
    size_t used = 12345;
    tesela_xla_shape shape;
    tesela_error err = {.message = ""};
    tesela_status status =
        tesela_xla_parse_prefix(rows[i].text, strlen(rows[i].text), 0, &shape, &used, NULL, &err);
    xla_text_refused(rows[i].text, status, &err, rows[i].status, rows[i].at, rows[i].fragment);
    assert_int_equal(used, 12345);
  }
}

/* ---- layouts alone ---- */

static void print_layout(const tesela_xla_layout *layout, char text[LONG]) {
  tesela_buffer buffer = {text, LONG, 0};
  tesela_writer to = tesela_buffer_writer(&buffer);
  OK(tesela_xla_print_layout(layout, &to, &e_));
}

static void a_layout_alone_is_read_and_printed(void **state) {
  (void)state;
  static const struct {
    const char *text, *printed;
  } rows[] = {
      {"{1,0:T(2,2)}", "{1,0:T(2,2)}"},
      {" { 0 } ", "{0}"},
      {"{}", "{}"},
      {"{:}", "{}"},
      {"{:T(128)}", "{:T(128)}"},
      {"{0,1,2}", "{0,1,2}"},
      {"{1,0:T(8,128)(2,1)L(4)#(u32)*(u16)E(4)S(1)SC(0:3)P(f32[2]{0})M(8)}",
       "{1,0:T(8,128)(2,1)L(4)#(u32)*(u16)E(4)S(1)SC(0:3)P(f32[2]{0})M(8)}"},
      {"{0:P(f32[2,3])}", "{0:P(f32[2,3]{1,0})}"},
      {"{0:P(token[])}", "{0:P(token[])}"},
      {"{0:P(())}", "{0:P(())}"},
      {"{0:P((s32[],((),f32[2]{0:T(2)}),f32[],f32[],f32[],pred[]))S(1)}", NULL},
      {"{0:P((s32[],((),f32[2]{0:T(2)}),f32[],f32[],f32[],pred[]))M(1)}",
       "{0:P((s32[], ((), f32[2]{0:T(2)}), f32[], f32[], f32[], /*index=5*/pred[]))M(1)}"},
  };
  for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
    size_t length = strlen(rows[i].text);
    tesela_xla_layout layout;
    tesela_error err = {.message = ""};
    char *copy = xla_text_exact(rows[i].text, length), printed[LONG];
    tesela_status status = tesela_xla_parse_layout(copy, length, 0, &layout, NULL, &err);
    free(copy);
    if (!rows[i].printed) {
      xla_text_refused(rows[i].text, status, &err, TESELA_E_SYNTAX, 58, "S must come before P");
      continue;
    }
    if (status != TESELA_OK) fail_msg("%s: %s", rows[i].text, err.message);
    print_layout(&layout, printed);
    xla_text_same(rows[i].text, printed, rows[i].printed);
  }
}

static void a_layout_alone_is_refused_with_its_byte(void **state) {
  (void)state;
  static const struct {
    const char *text;
    tesela_status status;
    int64_t at;
    const char *fragment;
  } rows[] = {
      {"", TESELA_E_SYNTAX, 0, "expected '{'"},
      {"1,0", TESELA_E_SYNTAX, 0, "expected '{'"},
      {"{0,2}", TESELA_E_RANGE, 3, "expected 0 to 1"},
      {"{0,0}", TESELA_E_INVALID, 3, "twice"},
      {"{1,0} x", TESELA_E_SYNTAX, 6, "'x'"},
      {"{1,0:T(2,*)}", TESELA_E_INVALID, 9, "last place"},
      {"{0:#(s32)}", TESELA_E_INVALID, 3, "#(s32)"},
      {"{0:P(f32[2]{0:T(1)})T(2,*)}", TESELA_E_SYNTAX, 20, "T must come before P"},
      {"{0:T(1)(*)P(f32[2]{0:T(1)(1)})}", TESELA_E_INVALID, 8, "last place"},
      {"{0:P(f32[2]{0:P(f32[])})}", TESELA_E_INVALID, 14, "P(...)"},
      {"{0:P(f32[2]{1})}", TESELA_E_RANGE, 12, "dim 1"},
      {"{0:P(f32[2]}", TESELA_E_SYNTAX, 11, "expected ')'"},
      {"{0:P()}", TESELA_E_SYNTAX, 5, "an element type"},
      {"{0:P(f32[])P(f32[])}", TESELA_E_SYNTAX, 11, "twice"},
      {"{a}", TESELA_E_SYNTAX, 1, "the number of a dim, ':' or '}'"},
      {"{0:SC(1:2)}", TESELA_E_RANGE, 6, "SC(1:...)"},
  };
  for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
    tesela_xla_layout layout, before;
    tesela_error err = {.message = ""};
    memset(&layout, 0x5A, sizeof layout);
    memset(&before, 0x5A, sizeof before);
    tesela_status status =
        tesela_xla_parse_layout(rows[i].text, strlen(rows[i].text), 0, &layout, NULL, &err);
    xla_text_refused(rows[i].text, status, &err, rows[i].status, rows[i].at, rows[i].fragment);
    assert_memory_equal(&layout, &before, sizeof layout);
  }
}

static void a_physical_shape_has_a_longest_text(void **state) {
  (void)state;
  char text[1024];
  tesela_xla_layout layout;
  tesela_error err = {.message = ""};
  for (int depth = 126; depth <= 200; depth++) {
    size_t n = (size_t)snprintf(text, sizeof text, "{0:P(");
    memset(text + n, '(', (size_t)depth);
    memset(text + n + depth, ')', (size_t)depth);
    n += (size_t)(2 * depth);
    n += (size_t)snprintf(text + n, sizeof text - n, ")}");
    tesela_status status = tesela_xla_parse_layout(text, n, 0, &layout, NULL, &err);
    AGREE("status", status, 2 * depth < TESELA_XLA_PHYSICAL_TEXT ? TESELA_OK : TESELA_E_LIMIT);
  }
}

static void kept_attributes_are_named(void **state) {
  (void)state;
  tesela_xla_shape shape = shape_of("f32[<=8,4]{1,0:T(2)S(1)SC(0:3)M(8)}");
  assert_int_equal(tesela_xla_kept(&shape), TESELA_XLA_KEPT_SPACE | TESELA_XLA_KEPT_SPLITS |
                                                TESELA_XLA_KEPT_METADATA | TESELA_XLA_KEPT_DYNAMIC);
  shape = shape_of("f32[8]{0:T(2)L(4)E(32)}");
  assert_int_equal(tesela_xla_kept(&shape), 0);
  for (uint32_t bit = 1; bit < 128; bit *= 2) assert_non_null(tesela_xla_kept_text(bit));
  assert_null(tesela_xla_kept_text(0));
  assert_null(tesela_xla_kept_text(3));
  assert_null(tesela_xla_kept_text(128));
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(texts_of_the_grammar_are_read_and_printed),
      cmocka_unit_test(fields_say_what_the_text_says),
      cmocka_unit_test(every_type_word_is_read),
      cmocka_unit_test(a_missing_layout_is_filled_in_or_kept_missing),
      cmocka_unit_test(the_layout_can_be_left_out_of_the_print),
      cmocka_unit_test(a_prefix_ends_where_the_shape_ends),
      cmocka_unit_test(a_prefix_that_is_no_shape_is_refused),
      cmocka_unit_test(a_layout_alone_is_read_and_printed),
      cmocka_unit_test(a_layout_alone_is_refused_with_its_byte),
      cmocka_unit_test(a_physical_shape_has_a_longest_text),
      cmocka_unit_test(kept_attributes_are_named),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
