/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_xla_text.c - XLA text: what is read, how it prints, what is refused where and why, what leniency
 * mends.
 *
 * Expected texts, bytes and statuses come from the grammar of XLA's parser and printer and from the decisions
 * in docs/xla.md; "vector" rows are those of tests/vectors/xla_seed_examples.json.
 */
#include "support_xla.h"

enum { LONG = 4096 };

/* ---- helpers ---- */

/* The text in memory of exactly its size, so that ASan and valgrind see a read past its end. */
static char *exact(const char *text, size_t length) {
  char *copy = malloc(length ? length : 1);
  assert_non_null(copy);
  memcpy(copy, text, length);
  return copy;
}

static tesela_status parse(const char *text, size_t length, int32_t flags, tesela_xla_shape *shape,
                           tesela_xla_repairs *repairs, tesela_error *err) {
  char *copy = exact(text, length);
  tesela_status status = tesela_xla_parse(copy, length, flags, shape, repairs, err);
  free(copy);
  return status;
}

static void print(const tesela_xla_shape *shape, bool with_layout, char text[LONG]) {
  tesela_buffer buffer = {text, LONG, 0};
  tesela_writer to = tesela_buffer_writer(&buffer);
  OK(tesela_xla_print(shape, with_layout, &to, &e_));
  assert_true(buffer.length < LONG);
}

static void same(const char *name, const char *got, const char *want) {
  if (strcmp(got, want) != 0) fail_msg("%s: '%s', not '%s'", name, got, want);
}

static void check_refusal(const char *text, tesela_status got, const tesela_error *err, tesela_status want,
                          int64_t at, const char *fragment) {
  if (got == TESELA_OK) fail_msg("%s: accepted", text);
  if (got != want || err->status != want)
    fail_msg("%s: %s, not %s: %s", text, tesela_status_code(got), tesela_status_code(want), err->message);
  if (err->at != at)
    fail_msg("%s: at byte %" PRId64 ", not %" PRId64 ": %s", text, err->at, at, err->message);
  if (!strstr(err->message, fragment)) fail_msg("%s: \"%s\" lacks \"%s\"", text, err->message, fragment);
}

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
    if (parse(text, strlen(text), TESELA_XLA_STRICT, &shape, NULL, &err) != TESELA_OK)
      fail_msg("%s: %s at %" PRId64, accepted_rows[i].name, err.message, err.at);
    OK(tesela_xla_validate(&shape, &e_));
    print(&shape, true, printed);
    same(accepted_rows[i].name, printed, accepted_rows[i].printed);
    OK(parse(printed, strlen(printed), TESELA_XLA_STRICT, &again, NULL, &e_));
    print(&again, true, reprinted);
    same(accepted_rows[i].name, reprinted, printed);
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
    OK(parse(text, strlen(text), 0, &shape, NULL, &e_));
    AGREE(text, shape.dtype, number);
    print(&shape, true, printed);
    same(text, printed, text);
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
    OK(parse(rows[i].text, strlen(rows[i].text), TESELA_XLA_KEEP_BARE, &shape, NULL, &e_));
    AGREE(rows[i].text, shape.has_layout, rows[i].has_layout);
    OK(tesela_xla_validate(&shape, &e_));
    print(&shape, true, printed);
    same(rows[i].text, printed, rows[i].printed);
  }
  tesela_xla_shape shape = shape_of("f32[]");
  assert_true(shape.has_layout);
}

static void the_layout_can_be_left_out_of_the_print(void **state) {
  (void)state;
  char printed[LONG];
  tesela_xla_shape shape = shape_of("f32[<=23,44,?]{0,1,2:T(8,128)}");
  print(&shape, false, printed);
  same("array", printed, "f32[<=23,44,?]");
  shape = shape_of("b(f32[2,3]{1,0})");
  print(&shape, false, printed);
  same("buffer", printed, "b(f32[2,3])");
}

/* ---- refused ---- */

static const struct {
  const char *text;
  tesela_status status;
  int64_t at;
  const char *fragment;
} refused_rows[] = {
    /* vector rows */
    {"F32[3,5]{1,0:T(2,2)}", TESELA_E_SYNTAX, 0, "unknown element type 'F32'; did you mean f32?"},
    {"f32[3,5]{1,0:S(1)T(2,2)}", TESELA_E_SYNTAX, 17, "T must come before S"},
    {"f32[3,5]{0}", TESELA_E_INVALID, 8, "the shape has 2 dims, the order lists 1"},
    {"f32[3,5]{0,0}", TESELA_E_INVALID, 11, "dim 0 twice"},
    {"f32[3,5]{1,0:T(0,2)}", TESELA_E_RANGE, 15, "1 or more"},
    {"f32[3,5]{1,0:T(2,-1)}", TESELA_E_RANGE, 17, "tile extent -1"},
    {"f32[3,5]{1,0:T()}", TESELA_E_SYNTAX, 15, "found ')'; expected a tile extent"},
    {"f32[3,5]{1,0:T(2,*)}", TESELA_E_INVALID, 17, "* in the last place"},
    {"f32[3,5]{1,0:T(2,2}", TESELA_E_SYNTAX, 18, "found '}'; expected ',' or ')'"},
    {"f32[-3]", TESELA_E_RANGE, 4, "dim -3: a dim is 0 or more"},
    {"f32[3,5]{1,0}x", TESELA_E_SYNTAX, 13, "found 'x'"},
    {"f32[2.5]", TESELA_E_SYNTAX, 4, "found '2.5'"},
    /* numbers and tokens */
    {"", TESELA_E_SYNTAX, 0, "the end of the text"},
    {" \n", TESELA_E_SYNTAX, 2, "the end of the text"},
    {"f32", TESELA_E_SYNTAX, 3, "found the end of the text; expected '['"},
    {"f32[2", TESELA_E_SYNTAX, 5, "expected ',' or ']'"},
    {"f32[2e1]", TESELA_E_SYNTAX, 4, "'2e1'"},
    {"f32[2x3]", TESELA_E_SYNTAX, 4, "'2x3'"},
    {"f32[1_2]", TESELA_E_SYNTAX, 4, "'1_2'"},
    {"f32[0x10]", TESELA_E_SYNTAX, 4, "'0x10'"},
    {"f32[+3]", TESELA_E_SYNTAX, 4, "'+'"},
    {"f32[- 3]", TESELA_E_SYNTAX, 4, "'-'"},
    {"f32[--3]", TESELA_E_SYNTAX, 4, "'--3'"},
    {"f32[< =3]", TESELA_E_SYNTAX, 4, "'<'"},
    {"f32[<=?]", TESELA_E_SYNTAX, 6, "'?'"},
    {"f32[<=-3]", TESELA_E_RANGE, 6, "dim -3"},
    {"f32[,3]", TESELA_E_SYNTAX, 4, "','"},
    {"f32[3,]", TESELA_E_SYNTAX, 6, "']'"},
    {"f32[3 5]", TESELA_E_SYNTAX, 6, "'5'"},
    {"f32[3;5]", TESELA_E_SYNTAX, 5, "';'"},
    {"f32[9223372036854775808]", TESELA_E_RANGE, 4, "at most 9223372036854775807"},
    {"f32[<=9223372036854775808]", TESELA_E_RANGE, 6, "at most 9223372036854775807"},
    {"f32[-9223372036854775808]", TESELA_E_RANGE, 4, "-9223372036854775808"},
    {"f32[1234567890123456789012345]", TESELA_E_RANGE, 4, "'123456789012345678901234...'"},
    {"f32[2]/*", TESELA_E_SYNTAX, 6, "a comment without end"},
    {"f32[2/*/]", TESELA_E_SYNTAX, 5, "a comment without end"},
    {"f32/[2]", TESELA_E_SYNTAX, 3, "'/'"},
    {"f32[\xE2\x88\x97]", TESELA_E_SYNTAX, 4, "U+2217"},
    {"f32\xFF[2]", TESELA_E_SYNTAX, 3, "byte 0xFF, which is not UTF-8"},
    {"f32\xFF[2]", TESELA_E_SYNTAX, 3, "byte 0xFF, which is not UTF-8"},
    {"f32[\xFF]", TESELA_E_SYNTAX, 4, "byte 0xFF, which is not UTF-8"},
    {"f32[2]/*\xC3*/", TESELA_E_SYNTAX, 8, "byte 0xC3, which is not UTF-8"},
    {"f32[2]//\xED\xA0\x80", TESELA_E_SYNTAX, 8, "byte 0xED, which is not UTF-8"},
    {"f32[\x07]", TESELA_E_SYNTAX, 4, "control character U+0007"},
    {"f32[2]\n\n{0}z", TESELA_E_SYNTAX, 11, "'z'"},
    /* types */
    {"fp16[2]", TESELA_E_SYNTAX, 0, "unknown element type 'fp16'; did you mean f16?"},
    {"tuple[]", TESELA_E_SYNTAX, 0, "unknown element type 'tuple'"},
    {"buffer[2]", TESELA_E_SYNTAX, 0, "unknown element type 'buffer'"},
    {"opaque_type[]", TESELA_E_SYNTAX, 0, "unknown element type 'opaque_type'"},
    {"f32.1[2]", TESELA_E_SYNTAX, 0, "'f32.1'"},
    {"f32-[2]", TESELA_E_SYNTAX, 0, "'f32-'"},
    {"[2]", TESELA_E_SYNTAX, 0, "an element type"},
    {"32[2]", TESELA_E_SYNTAX, 0, "'32'"},
    {"token[3]", TESELA_E_SYNTAX, 6, "token[] has no dims"},
    {"opaque[?]", TESELA_E_SYNTAX, 7, "opaque[] has no dims"},
    {"token", TESELA_E_SYNTAX, 5, "expected '['"},
    {"token[]{0}", TESELA_E_SYNTAX, 7, "token[] has no layout"},
    {"opaque[]{:T(8)}", TESELA_E_SYNTAX, 8, "opaque[] has no layout"},
    {"token[]{}", TESELA_E_SYNTAX, 7, "'{'"},
    /* buffers and tuples */
    {"b(token[])", TESELA_E_INVALID, 2, "one array"},
    {"b((f32[2]))", TESELA_E_INVALID, 2, "one array"},
    {"b(b(f32[2]))", TESELA_E_SYNTAX, 2, "'b'"},
    {"b(f32[2]", TESELA_E_SYNTAX, 8, "expected ')'"},
    {"b(f32[2]){0}", TESELA_E_SYNTAX, 9, "'{'"},
    {"b[2]", TESELA_E_SYNTAX, 1, "expected '('"},
    {"b()", TESELA_E_SYNTAX, 2, "an element type"},
    {"(f32[2])", TESELA_E_UNSUPPORTED, 0, "a tuple"},
    {"  ()", TESELA_E_UNSUPPORTED, 2, "a tuple"},
    /* order */
    {"f32[]{}", TESELA_E_SYNTAX, 5, "found '{'; expected nothing more behind the shape; a layout is {1,0}"},
    {"f32[2]{}", TESELA_E_SYNTAX, 6, "'{'"},
    {"f32[2]{a}", TESELA_E_SYNTAX, 6, "'{'"},
    {"f32[3,5]{2,0}", TESELA_E_RANGE, 9, "dims 0 to 1"},
    {"f32[3,5]{1,-1}", TESELA_E_RANGE, 11, "order entry -1"},
    {"f32[3,5]{1,99999999999}", TESELA_E_RANGE, 11, "order entry 99999999999"},
    {"f32[3,5]{2,1,0}", TESELA_E_INVALID, 8, "the shape has 2 dims, the order lists 3"},
    {"f32[2]{:}", TESELA_E_INVALID, 6, "the shape has 1 dim, the order lists 0"},
    {"f32[3,5]{:T(2,2)}", TESELA_E_INVALID, 8, "the order lists 0"},
    {"f32[3,5]{1,0", TESELA_E_SYNTAX, 12, "expected ',', ':' or '}'"},
    {"f32[3,5]{1,0,}", TESELA_E_SYNTAX, 13, "the number of a dim"},
    {"f32[3,5]{1 0}", TESELA_E_SYNTAX, 11, "'0'"},
    {"f32[3,5]{1,0:", TESELA_E_SYNTAX, 13, "the end of the text"},
    /* properties */
    {"f32[3,5]{1,0:T(2,2)", TESELA_E_SYNTAX, 19, "or '}'"},
    {"f32[3,5]{1,0:T}", TESELA_E_SYNTAX, 14, "expected '(' after T"},
    {"f32[3,5]{1,0:T(2,}", TESELA_E_SYNTAX, 17, "'}'"},
    {"f32[3,5]{1,0:S(1}", TESELA_E_SYNTAX, 16, "expected ')'"},
    {"f32[3,5]{1,0:T(2,2)T(2,2)}", TESELA_E_SYNTAX, 19, "T is given twice"},
    {"f32[3,5]{1,0:M(4)SC(0:1)}", TESELA_E_SYNTAX, 17, "SC must come before M"},
    {"f32[3,5]{1,0:T(2,2)D(D,D)}", TESELA_E_SYNTAX, 19, "D must come before T"},
    {"f32[3,5]{1,0:t(2,2)}", TESELA_E_SYNTAX, 13, "found 't'; expected T, L, #, *, E, S, SC, P, M, or '}'"},
    {"f32[3,5]{1,0:TL(2)}", TESELA_E_SYNTAX, 13, "'TL'"},
    {"f32[3,5]{1,0:T(2,2),S(1)}", TESELA_E_SYNTAX, 19, "','"},
    {"f32[3,5]{1,0:(2,2)}", TESELA_E_SYNTAX, 13, "tiles start with T, as in T(8,128)"},
    {"f32[3,5]{1,0:T(2,2.0)}", TESELA_E_SYNTAX, 17, "'2.0'"},
    {"f32[3,5]{1,0:T(\xE2\x88\x97,2)}", TESELA_E_SYNTAX, 15, "did you mean '*'?"},
    {"f32[3,5]{1,0:T(2\xC3\x97"
     "2)}",
     TESELA_E_SYNTAX, 16, "did you mean ','?"},
    {"f32[3,5]{1,0:T(9223372036854775808)}", TESELA_E_RANGE, 15, "at most"},
    {"f32[3,5]{1,0:T(-9223372036854775808,2)}", TESELA_E_RANGE, 15, "at most"},
    {"f32[3,5]{1,0:L(0)}", TESELA_E_RANGE, 15, "L(0): a tail alignment is 1 or more"},
    {"f32[3,5]{1,0:L(-8)}", TESELA_E_RANGE, 15, "L(-8)"},
    {"f32[3,5]{1,0:E(-4)}", TESELA_E_RANGE, 15, "E(-4)"},
    {"f32[3,5]{1,0:S(300)}", TESELA_E_RANGE, 15, "S(300): a memory space is -128 to 127"},
    {"f32[3,5]{1,0:S(256)}", TESELA_E_RANGE, 15, "S(256)"},
    {"f32[3,5]{1,0:S(-129)}", TESELA_E_RANGE, 15, "S(-129)"},
    {"f32[3,5]{1,0:M(-1)}", TESELA_E_RANGE, 15, "M(-1)"},
    {"f32[3,5]{1,0:#(u32)}", TESELA_E_INVALID, 13, "#(...) belongs to sparse arrays"},
    {"f32[3,5]{1,0:*(u32)}", TESELA_E_INVALID, 13, "*(...) belongs to sparse arrays"},
    {"f32[3,5]{1,0:#(f32)}", TESELA_E_INVALID, 13, "#(f32): the type is an unsigned one"},
    {"f32[3,5]{1,0:#(u33)}", TESELA_E_SYNTAX, 15, "unknown element type 'u33'"},
    {"f32[3,5]{1,0:P(f32[2]{0})}", TESELA_E_INVALID, 13, "P(...) belongs to sparse arrays"},
    {"f32[3,5]{1,0:D(D,X)}", TESELA_E_SYNTAX, 17, "a dimension level"},
    {"f32[3,5]{1,0:D(D~+)}", TESELA_E_SYNTAX, 17, "'+'"},
    {"f32[8,8]{1,0:SC(0:3)(0:4)}", TESELA_E_INVALID, 21, "cuts physical dim 0 twice"},
    {"f32[8,8]{1,0:SC(2:3)}", TESELA_E_RANGE, 16, "SC(2:...)"},
    {"f32[8,8]{1,0:SC(-1:3)}", TESELA_E_RANGE, 16, "SC(-1:...)"},
    {"f32[8,8]{1,0:SC(0:5,3)}", TESELA_E_INVALID, 20, "cut point 3 after 5"},
    {"f32[8,8]{1,0:SC(0:5,5)}", TESELA_E_INVALID, 20, "cut point 5 after 5"},
    {"f32[8,8]{1,0:SC(0:0)}", TESELA_E_RANGE, 18, "cut point 0"},
    {"f32[8,9]{0,1:SC(1:8)}", TESELA_E_RANGE, 18, "cut point 8 of a dim of extent 8"},
    {"f32[8,8]{1,0:SC(0)}", TESELA_E_SYNTAX, 17, "expected ':'"},
    {"f32[8,8]{1,0:SC()}", TESELA_E_SYNTAX, 16, "the number of a physical dim"},
    /* sizes */
    {"f32[9223372036854775807]", TESELA_E_OVERFLOW, 3, "dimensions overflow"},
    {"f32[4294967296,4294967296]", TESELA_E_OVERFLOW, 3, "dimensions overflow"},
    {"f32[4294967296,<=4294967296,?]", TESELA_E_OVERFLOW, 3, "dimensions overflow"},
    {"f32[1,1]{1,0:T(4294967296,4294967296)}", TESELA_E_OVERFLOW, 13, "dimensions overflow"},
    {"f16[1]{0:T(9223372036854775807)}", TESELA_E_OVERFLOW, 9, "dimensions overflow"},
    {"s8[4294967297]{0:T(4294967296)(2147483649,1)}", TESELA_E_OVERFLOW, 17, "dimensions overflow"},
    {"s8[4611686018427387905]{0:L(4611686018427387904)}", TESELA_E_OVERFLOW, 28, "dimensions overflow"},
    {"f32[1]{0:L(9223372036854775807)}", TESELA_E_OVERFLOW, 11, "dimensions overflow"},
    {"s8[2]{0:T(2)L(9223372036854775807)E(9)}", TESELA_E_OVERFLOW, 36, "dimensions overflow"},
    {"s8[9]{0:E(9223372036854775807)}", TESELA_E_OVERFLOW, 10, "dimensions overflow"},
    /* limits */
    {"f32[1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1]", TESELA_E_LIMIT, 68,
     "more than 32 dims"},
    {"f32[1]{0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0}", TESELA_E_LIMIT, 71,
     "more than 32 dims"},
    {"f32[1]{0:T(1)(1)(1)(1)(1)(1)(1)(1)(1)(1)(1)(1)(1)(1)(1)(1)(1)}", TESELA_E_LIMIT, 59,
     "more than 16 tiles"},
};

static void what_xla_refuses_or_takes_by_accident_is_refused_with_its_byte(void **state) {
  (void)state;
  for (size_t i = 0; i < sizeof refused_rows / sizeof refused_rows[0]; i++) {
    const char *text = refused_rows[i].text;
    tesela_xla_shape shape, before;
    tesela_xla_repairs repairs = {.count = 77};
    tesela_error err = {.message = ""};
    memset(&shape, 0x5A, sizeof shape);
    memset(&before, 0x5A, sizeof before);
    tesela_status status = parse(text, strlen(text), TESELA_XLA_STRICT, &shape, &repairs, &err);
    check_refusal(text, status, &err, refused_rows[i].status, refused_rows[i].at, refused_rows[i].fragment);
    assert_memory_equal(&shape, &before, sizeof shape);
    assert_int_equal(repairs.count, 77);
    assert_int_equal(parse(text, strlen(text), TESELA_XLA_STRICT, &shape, NULL, NULL),
                     refused_rows[i].status);
  }
}

static void a_nul_byte_is_refused_wherever_it_is(void **state) {
  (void)state;
  static const char text[] = "f32[3,5]/*c*/{1,0:T(2,2)}";
  for (size_t at = 0; at < sizeof text; at++) {
    char with_nul[sizeof text + 1];
    tesela_xla_shape shape;
    tesela_error err = {.message = ""};
    memcpy(with_nul, text, at);
    with_nul[at] = '\0';
    memcpy(with_nul + at + 1, text + at, sizeof text - 1 - at);
    tesela_status status = parse(with_nul, sizeof text, 0, &shape, NULL, &err);
    if (status != TESELA_E_SYNTAX || !strstr(err.message, "a NUL byte") || err.at != (int64_t)at)
      fail_msg("NUL at %zu: %s at %" PRId64 ": %s", at, tesela_status_code(status), err.at, err.message);
  }
}

static void capacities_are_limits_not_crashes(void **state) {
  (void)state;
  static const struct {
    const char *front, *item, *back;
    int fits; /* items that are accepted */
    const char *fragment;
  } rows[] = {
      {"f32[1]{0:T(1", ",1", ")}", TESELA_XLA_MAX_TILE_NUMBERS - 1, "tile extents"},
      {"f32[1]{0:T(1)", "(1)", "}", TESELA_XLA_MAX_TILES - 1, "tiles"},
      {"s8[100]{0:SC(0:1", NULL, ")}", TESELA_XLA_MAX_SPLIT_POINTS - 1, "cut points"},
      {"s8[1,1,1,1,1,1,1,1,1]{8,7,6,5,4,3,2,1,0:SC(0:)", NULL, "}", TESELA_XLA_MAX_SPLITS - 1,
       "split configs"},
  };
  for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++)
    for (int extra = 0; extra < 3; extra++) {
      char text[2048];
      tesela_xla_shape shape;
      tesela_error err = {.message = ""};
      size_t n = (size_t)snprintf(text, sizeof text, "%s", rows[i].front);
      for (int k = 1; k <= rows[i].fits + extra; k++) {
        if (rows[i].item)
          n += (size_t)snprintf(text + n, sizeof text - n, "%s", rows[i].item);
        else if (strstr(rows[i].fragment, "cut"))
          n += (size_t)snprintf(text + n, sizeof text - n, ",%d", k + 1);
        else
          n += (size_t)snprintf(text + n, sizeof text - n, "(%d:)", k);
      }
      n += (size_t)snprintf(text + n, sizeof text - n, "%s", rows[i].back);
      tesela_status status = parse(text, n, 0, &shape, NULL, &err);
      if (extra == 0 && status != TESELA_OK) fail_msg("%s: %s", text, err.message);
      if (extra > 0 && (status != TESELA_E_LIMIT || !strstr(err.message, rows[i].fragment)))
        fail_msg("%s: %s: %s", text, tesela_status_code(status), err.message);
    }
}

/* ---- lenient ---- */

static const struct {
  const char *text, *printed;
  int32_t count; /* repairs */
  int64_t at;    /* of the first */
  const char *fragment;
} lenient_rows[] = {
    {"f32[3,5]{1,0:T(2,2)}", "f32[3,5]{1,0:T(2,2)}", 0, 0, ""},
    {"F32[3,5]{1,0:T(2,2)}", "f32[3,5]{1,0:T(2,2)}", 1, 0, "type F32 read as f32"},
    {" BF16[8]", "bf16[8]{0}", 1, 1, "type BF16 read as bf16"},
    {"TOKEN[]", "token[]", 1, 0, "token"},
    {"float32[2]", "f32[2]{0}", 1, 0, "type float32 read as f32"},
    {"fp32[2]", "f32[2]{0}", 1, 0, "f32"},
    {"int8[2]", "s8[2]{0}", 1, 0, "s8"},
    {"uint16[2]", "u16[2]{0}", 1, 0, "u16"},
    {"Bool[2]", "pred[2]{0}", 1, 0, "pred"},
    {"f32[3,5]{1,0:(2,2)}", "f32[3,5]{1,0:T(2,2)}", 1, 13, "tile without T"},
    {"f32[3,5]{1,0:(8,128)(2,1)S(1)}", "f32[3,5]{1,0:T(8,128)(2,1)S(1)}", 1, 13, "tile without T"},
    {"f32[2,7,8,11,10]{4,3,2,1,0:(*,*,2,*,3)}", "f32[2,7,8,11,10]{4,3,2,1,0:T(*,*,2,*,3)}", 1, 27, "T"},
    {"f32[2,7,8]{2,1,0:T(\xE2\x88\x97,\xE2\x88\x97,2)}", "f32[2,7,8]{2,1,0:T(*,*,2)}", 2, 19, "read as '*'"},
    {"f32[3,5]{1,0:T(-1,2)}", "f32[3,5]{1,0:T(*,2)}", 1, 15, "'-1' in a tile read as '*'"},
    {"f32[3,5]{1,0:T(8\xC3\x97"
     "128)}",
     "f32[3,5]{1,0:T(8,128)}", 1, 16, "read as ','"},
    {"f32[3\xC3\x97"
     "5]",
     "f32[3,5]{1,0}", 1, 5, "read as ','"},
    {"f32[3,5]{1,0:S(1)T(2,2)}", "f32[3,5]{1,0:T(2,2)S(1)}", 1, 17, "T behind S"},
    {"f32[3,5]{1,0:M(1)S(1)L(2)}", "f32[3,5]{1,0:L(2)S(1)M(1)}", 2, 17, "S behind M"},
    {"f32[3,5]{1,0:T(2,2}", "f32[3,5]{1,0:T(2,2)}", 1, 18, "missing ')'"},
    {"f32[3,5]{1,0:S(1}", "f32[3,5]{1,0:S(1)}", 1, 16, "missing ')'"},
    {"f32[3,5]{1,0:SC(0:1}", "f32[3,5]{1,0:SC(0:1)}", 1, 19, "missing ')'"},
    {"f32[3,5]{1,0:T(2,}", "f32[3,5]{1,0:T(2)}", 2, 17, "missing ')'"},
    {"f32[3,5]{1,0:T}", "f32[3,5]{1,0}", 1, 13, "T without a value left out"},
    {"f32[3,5]{1,0:T()}", "f32[3,5]{1,0}", 1, 15, "empty tile left out"},
    {"f32[3,5]{1,0:T(2,2)()}", "f32[3,5]{1,0:T(2,2)}", 1, 20, "empty tile left out"},
    {"f32[]{}", "f32[]", 1, 5, "{} read as the default order"},
    {"f32[2,3] { }", "f32[2,3]{1,0}", 1, 9, "{} read as the default order"},
    {"token[]{}", "token[]", 1, 7, "{} left out"},
    {"f32[3,5,]", "f32[3,5]{1,0}", 1, 7, "',' before the end"},
    {"f32[3,5]{1,0,}", "f32[3,5]{1,0}", 1, 12, "',' behind the last dim"},
    {"f32[3,5]{1,0,:T(2)}", "f32[3,5]{1,0:T(2)}", 1, 12, "',' behind the last dim"},
    {"f32[3,5]{1,0:T(2,2,)}", "f32[3,5]{1,0:T(2,2)}", 1, 18, "',' before the end"},
    {"F32[3,5,]{1,0,:S(1)T(2,2,)}", "f32[3,5]{1,0:T(2,2)S(1)}", 5, 0, "F32"},
    {"f32[2]{0:D(D)}", "f32[2]{0}", 1, 9, "D(...) read and dropped"},
};

static void leniency_mends_and_says_so(void **state) {
  (void)state;
  for (size_t i = 0; i < sizeof lenient_rows / sizeof lenient_rows[0]; i++) {
    const char *text = lenient_rows[i].text;
    tesela_xla_shape shape;
    tesela_xla_repairs repairs;
    tesela_error err = {.message = ""};
    char printed[LONG];
    if (parse(text, strlen(text), TESELA_XLA_LENIENT, &shape, &repairs, &err) != TESELA_OK)
      fail_msg("%s: %s", text, err.message);
    print(&shape, true, printed);
    same(text, printed, lenient_rows[i].printed);
    AGREE(text, repairs.count, lenient_rows[i].count);
    if (repairs.count == 0) continue;
    AGREE(text, repairs.repair[0].at, lenient_rows[i].at);
    if (!strstr(repairs.repair[0].what, lenient_rows[i].fragment))
      fail_msg("%s: \"%s\" lacks \"%s\"", text, repairs.repair[0].what, lenient_rows[i].fragment);
    OK(parse(text, strlen(text), TESELA_XLA_LENIENT, &shape, NULL, &e_));
  }
}

static void leniency_accepts_nothing_contradictory(void **state) {
  (void)state;
  static const struct {
    const char *text;
    tesela_status status;
    int64_t at;
    const char *fragment;
  } rows[] = {
      {"f32[3,5]{0,0}", TESELA_E_INVALID, 11, "twice"},
      {"f32[3,5]{0}", TESELA_E_INVALID, 8, "the order lists 1"},
      {"f32[3,5]{:T(2,2)}", TESELA_E_INVALID, 8, "the order lists 0"},
      {"f32[3,5]{1,0:T(2,*)}", TESELA_E_INVALID, 17, "last place"},
      {"f32[3,5]{1,0:T(2,-1)}", TESELA_E_INVALID, 17, "-1 stands for *, which cannot be last"},
      {"f32[3,5]{1,0:T(2,-2)}", TESELA_E_RANGE, 17, "tile extent -2"},
      {"f32[3,5]{1,0:T(- 1,2)}", TESELA_E_SYNTAX, 15, "'-'"},
      {"f32[3,5]{1,0:T(0,2)}", TESELA_E_RANGE, 15, "tile extent 0"},
      {"f32[3,5]{1,0:T(2,2)T(2,2)}", TESELA_E_SYNTAX, 19, "twice"},
      {"f32[3,5]{1,0:T(2,2)S(1)T(2,2)}", TESELA_E_SYNTAX, 23, "twice"},
      {"f32[3,5]{1,0:(2,2)T(2,2)}", TESELA_E_SYNTAX, 18, "twice"},
      {"f32[3,5]{1,0:S(1)(2,2)}", TESELA_E_SYNTAX, 17, "tiles start with T"},
      {"f32[3,5]{1,0:S(300)}", TESELA_E_RANGE, 15, "S(300)"},
      {"f32[3,5]{1,0:#(u32)}", TESELA_E_INVALID, 13, "sparse"},
      {"f32[3,5]{1,0:T(2,2)", TESELA_E_SYNTAX, 19, "'}'"},
      {"f32[3,5]{1,0:T(2,2", TESELA_E_SYNTAX, 18, "')'"},
      {"f32[3,5]{1,0:T(8,128 S(1)}", TESELA_E_SYNTAX, 21, "'S'"},
      {"f32[3,,5]", TESELA_E_SYNTAX, 6, "','"},
      {"f32[2.0]", TESELA_E_SYNTAX, 4, "'2.0'"},
      {"fp8[2]", TESELA_E_SYNTAX, 0, "did you mean f8e4m3fn?"},
      {"long[2]", TESELA_E_SYNTAX, 0, "did you mean s64?"},
      {"f33[2]", TESELA_E_SYNTAX, 0, "unknown element type 'f33'"},
      {"token[3]", TESELA_E_SYNTAX, 6, "no dims"},
      {"f32[4294967296,4294967296]", TESELA_E_OVERFLOW, 3, "dimensions overflow"},
  };
  for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
    tesela_xla_shape shape;
    tesela_error err = {.message = ""};
    tesela_status status = parse(rows[i].text, strlen(rows[i].text), TESELA_XLA_LENIENT, &shape, NULL, &err);
    check_refusal(rows[i].text, status, &err, rows[i].status, rows[i].at, rows[i].fragment);
  }
}

static void more_repairs_than_are_kept_are_counted(void **state) {
  (void)state;
  static const char text[] = "f32[1,1,1]{2,1,0:T(-1,-1,-1,-1,-1,-1,-1,-1,-1,-1,2)}";
  tesela_xla_shape shape;
  tesela_xla_repairs repairs;
  OK(parse(text, strlen(text), TESELA_XLA_LENIENT, &shape, &repairs, &e_));
  assert_int_equal(repairs.count, 10);
  assert_int_equal(repairs.repair[TESELA_XLA_MAX_REPAIRS - 1].at, 19 + 3 * (TESELA_XLA_MAX_REPAIRS - 1));
}

static void dropped_dimension_levels_are_said_in_strict_reading_too(void **state) {
  (void)state;
  static const char text[] = "f32[2]{0:D(D)}";
  tesela_xla_shape shape;
  tesela_xla_repairs repairs;
  OK(parse(text, strlen(text), TESELA_XLA_STRICT, &shape, &repairs, &e_));
  assert_int_equal(repairs.count, 1);
  assert_int_equal(repairs.repair[0].at, 9);
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
    char *copy = exact(rows[i].text, length), printed[LONG];
    tesela_xla_shape shape;
    OK(tesela_xla_parse_prefix(copy, length, rows[i].flags, &shape, &used, NULL, &e_));
    free(copy);
    AGREE(rows[i].text, used, rows[i].used);
    print(&shape, true, printed);
    same(rows[i].text, printed, rows[i].printed);
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
    check_refusal(rows[i].text, status, &err, rows[i].status, rows[i].at, rows[i].fragment);
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
    char *copy = exact(rows[i].text, length), printed[LONG];
    tesela_status status = tesela_xla_parse_layout(copy, length, 0, &layout, NULL, &err);
    free(copy);
    if (!rows[i].printed) {
      check_refusal(rows[i].text, status, &err, TESELA_E_SYNTAX, 58, "S must come before P");
      continue;
    }
    if (status != TESELA_OK) fail_msg("%s: %s", rows[i].text, err.message);
    print_layout(&layout, printed);
    same(rows[i].text, printed, rows[i].printed);
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
      {"{0,2}", TESELA_E_RANGE, 3, "dims 0 to 1"},
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
    check_refusal(rows[i].text, status, &err, rows[i].status, rows[i].at, rows[i].fragment);
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

/* ---- all the texts there are, cut and mutated ---- */

static const char *const long_texts[] = {
    "bf16[4096,8192]{1,0:T(8,128)(2,1)S(1)}",
    "/* a */ s4[<=8 , 7,?,256] // b\n {3,1,0,2:D(D,C+~)T(8,*,128)(8,1)L(4)E(4)S(-1)SC(0:3)M(9)}",
    "b(f32[2,7,8,11,10]{4,3,2,1,0:T(*,*,2,*,3)})",
    "F32[3,5,]{1,0,:S(1)(2,2,}",
    "token[]",
};

/* Whatever a reader is given, it answers, and an error names a byte of the text. */
static void check_answer(const char *text, size_t length) {
  static const int32_t flags[] = {0, TESELA_XLA_LENIENT, TESELA_XLA_KEEP_BARE | TESELA_XLA_LENIENT};
  char *copy = exact(text, length);
  for (size_t f = 0; f < sizeof flags / sizeof flags[0]; f++) {
    tesela_xla_shape shape, again;
    tesela_xla_layout layout;
    tesela_xla_repairs repairs;
    tesela_error err = {.status = TESELA_OK, .at = -7, .message = ""};
    char printed[LONG], reprinted[LONG];
    size_t used;
    tesela_status status = tesela_xla_parse(copy, length, flags[f], &shape, &repairs, &err);
    if (status == TESELA_OK) {
      print(&shape, true, printed);
      OK(parse(printed, strlen(printed), flags[f], &again, NULL, &e_));
      print(&again, true, reprinted);
      same(text, reprinted, printed);
      assert_int_equal(tesela_xla_parse_prefix(copy, length, flags[f], &shape, &used, NULL, &err), TESELA_OK);
    } else if (err.at < 0 || err.at > (int64_t)length || err.status != status || err.message[0] == '\0') {
      fail_msg("%.*s: %s at %" PRId64 ": %s", (int)length, text, tesela_status_code(status), err.at,
               err.message);
    }
    tesela_xla_parse_layout(copy, length, flags[f], &layout, &repairs, &err);
  }
  free(copy);
}

static void texts_cut_anywhere_are_answered(void **state) {
  (void)state;
  for (size_t i = 0; i < sizeof long_texts / sizeof long_texts[0]; i++)
    for (size_t length = 0; length <= strlen(long_texts[i]); length++) check_answer(long_texts[i], length);
}

static uint64_t next_random(uint64_t *seed) {
  *seed = *seed * 6364136223846793005U + 1442695040888963407U;
  return *seed >> 33;
}

static void mutated_texts_are_answered(void **state) {
  (void)state;
  enum { TRIES = 60000 };
  static const char bytes[] = "0123456789,:()[]{}*#?<=-+~TLESCMPDb/ \nf3s\xE2\x88\x97\xC3\x97\0";
  uint64_t seed = first_seed();
  print_message("seed %" PRIu64 "\n", seed);
  for (int i = 0; i < TRIES; i++) {
    char text[256];
    const char *from = long_texts[next_random(&seed) % (sizeof long_texts / sizeof long_texts[0])];
    size_t length = strlen(from);
    memcpy(text, from, length);
    for (uint64_t edits = 1 + next_random(&seed) % 4; edits > 0; edits--) {
      size_t at = next_random(&seed) % length;
      char byte = bytes[next_random(&seed) % (sizeof bytes - 1)];
      switch (next_random(&seed) % 3) {
      case 0:
        text[at] = byte;
        break;
      case 1:
        memmove(text + at + 1, text + at, length - at), text[at] = byte, length++;
        break;
      default:
        memmove(text + at, text + at + 1, length - at - 1), length -= length > 1;
        break;
      }
    }
    check_answer(text, length);
  }
}

/* A valid shape with anything in it. */
static void random_shape(uint64_t *seed, tesela_xla_shape *shape) {
  static const tesela_dtype dtypes[] = {TESELA_F32, TESELA_BF16, TESELA_S4, TESELA_PRED, TESELA_C128};
  int32_t rank = (int32_t)(next_random(seed) % 6), order[8];
  int64_t dim[8], entries[5];
  tesela_xla_layout layout;
  for (int32_t d = 0; d < rank; d++) {
    order[d] = d;
    dim[d] = (int64_t)(next_random(seed) % 9);
    if (next_random(seed) % 8 == 0) dim[d] = TESELA_XLA_UNBOUNDED;
  }
  for (int32_t d = rank - 1; d > 0; d--) {
    int32_t other = (int32_t)(next_random(seed) % (uint64_t)(d + 1)), was = order[d];
    order[d] = order[other];
    order[other] = was;
  }
  OK(tesela_xla_layout_make(&layout, rank, order, &e_));
  for (uint64_t k = next_random(seed) % 4; k > 0; k--) {
    int32_t n = 1 + (int32_t)(next_random(seed) % 5);
    for (int32_t i = 0; i < n; i++)
      entries[i] =
          i < n - 1 && next_random(seed) % 4 == 0 ? TESELA_XLA_COMBINE : 1 + (int64_t)(next_random(seed) % 5);
    OK(tesela_xla_layout_add_tile(&layout, n, entries, &e_));
  }
  if (next_random(seed) % 3 == 0) layout.tail = 1 + (int64_t)(next_random(seed) % 9);
  if (next_random(seed) % 3 == 0) layout.element_bits = (int64_t)(next_random(seed) % 40);
  if (next_random(seed) % 3 == 0) layout.memory_space = (int32_t)(next_random(seed) % 256) - 128;
  if (next_random(seed) % 3 == 0) layout.metadata_bytes = (int64_t)(next_random(seed) % 99);
  OK(tesela_xla_shape_make(shape, dtypes[next_random(seed) % 5], rank, dim, &layout, &e_));
  if (rank > 0 && next_random(seed) % 3 == 0) shape->dynamic |= 1;
  if (next_random(seed) % 5 == 0) shape->kind = TESELA_XLA_BUFFER;
}

static void check_same_value(const char *text, const tesela_xla_shape *a, const tesela_xla_shape *b) {
  const tesela_xla_layout *x = &a->layout, *y = &b->layout;
  bool equal = a->kind == b->kind && a->dtype == b->dtype && a->rank == b->rank && a->dynamic == b->dynamic &&
               a->has_layout == b->has_layout && x->rank == y->rank && x->n_tiles == y->n_tiles &&
               x->n_tile_numbers == y->n_tile_numbers && x->tail == y->tail &&
               x->element_bits == y->element_bits && x->memory_space == y->memory_space &&
               x->metadata_bytes == y->metadata_bytes && x->n_splits == y->n_splits;
  for (int32_t d = 0; equal && d < a->rank; d++)
    equal = a->dim[d] == b->dim[d] && x->minor_to_major[d] == y->minor_to_major[d];
  for (int32_t k = 0; equal && k < x->n_tiles; k++) equal = x->tile_rank[k] == y->tile_rank[k];
  for (int32_t i = 0; equal && i < x->n_tile_numbers; i++) equal = x->tile[i] == y->tile[i];
  if (!equal) fail_msg("%s: another value after print and parse", text);
}

static void what_is_printed_reads_as_the_same_value(void **state) {
  (void)state;
  enum { TRIES = 20000 };
  uint64_t seed = first_seed();
  print_message("seed %" PRIu64 "\n", seed);
  for (int i = 0; i < TRIES; i++) {
    tesela_xla_shape shape, again;
    char text[LONG];
    random_shape(&seed, &shape);
    print(&shape, true, text);
    if (parse(text, strlen(text), 0, &again, NULL, NULL) != TESELA_OK) fail_msg("%s: refused", text);
    check_same_value(text, &shape, &again);
  }
}

static int stop_at_once(void *user, const char *text, size_t length) {
  (void)user, (void)text, (void)length;
  return 1;
}

static void a_writer_can_stop_the_print(void **state) {
  (void)state;
  tesela_xla_shape shape = shape_of("f32[3,5]{1,0:T(2,2)}");
  tesela_writer to = {stop_at_once, NULL};
  assert_int_equal(tesela_xla_print(&shape, true, &to, NULL), TESELA_E_STOPPED);
  assert_int_equal(tesela_xla_print_layout(&shape.layout, &to, NULL), TESELA_E_STOPPED);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(texts_of_the_grammar_are_read_and_printed),
      cmocka_unit_test(fields_say_what_the_text_says),
      cmocka_unit_test(every_type_word_is_read),
      cmocka_unit_test(a_missing_layout_is_filled_in_or_kept_missing),
      cmocka_unit_test(the_layout_can_be_left_out_of_the_print),
      cmocka_unit_test(what_xla_refuses_or_takes_by_accident_is_refused_with_its_byte),
      cmocka_unit_test(a_nul_byte_is_refused_wherever_it_is),
      cmocka_unit_test(capacities_are_limits_not_crashes),
      cmocka_unit_test(leniency_mends_and_says_so),
      cmocka_unit_test(leniency_accepts_nothing_contradictory),
      cmocka_unit_test(more_repairs_than_are_kept_are_counted),
      cmocka_unit_test(dropped_dimension_levels_are_said_in_strict_reading_too),
      cmocka_unit_test(a_prefix_ends_where_the_shape_ends),
      cmocka_unit_test(a_prefix_that_is_no_shape_is_refused),
      cmocka_unit_test(a_layout_alone_is_read_and_printed),
      cmocka_unit_test(a_layout_alone_is_refused_with_its_byte),
      cmocka_unit_test(a_physical_shape_has_a_longest_text),
      cmocka_unit_test(kept_attributes_are_named),
      cmocka_unit_test(texts_cut_anywhere_are_answered),
      cmocka_unit_test(mutated_texts_are_answered),
      cmocka_unit_test(what_is_printed_reads_as_the_same_value),
      cmocka_unit_test(a_writer_can_stop_the_print),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
