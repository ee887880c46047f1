/* SPDX-License-Identifier: Apache-2.0 */
/* test_reader.c - the text reader: blanks, words, integers, lists, what errors say; and indices written by people. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>
#include <tesela/tesela.h>

#include "base/reader.h"

static tesela_error error;

static tesela__reader reader_of(const char *text, tesela__blanks blanks) {
  error = (tesela_error){.at = -5};
  return (tesela__reader){text, strlen(text), 0, &error, 0, blanks, TESELA__BYTE_NAME, TESELA__BYTE_NAME};
}

static void blanks_by_kind(void **state) {
  (void)state;
  static const struct {
    const char *text;
    int next[4]; /* by tesela__blanks; -1: the end */
    size_t at[4];
  } rows[] = {
      {"", {-1, -1, -1, -1}, {0, 0, 0, 0}},
      {" \t x", {'x', 'x', 'x', 'x'}, {3, 3, 3, 3}},
      {" \r\nx", {'\r', 'x', 'x', 'x'}, {1, 3, 3, 3}},
      {"/* */x", {'/', '/', 'x', 'x'}, {0, 0, 5, 5}},
      {"/**/ // y\nx", {'/', '/', 'x', 'x'}, {0, 0, 10, 10}},
      {"// y", {'/', '/', -1, -1}, {0, 0, 4, 4}},
      {"/x", {'/', '/', '/', '/'}, {0, 0, 0, 0}},
      {"/", {'/', '/', '/', '/'}, {0, 0, 0, 0}},
      {"/*/x", {'/', '/', '/', -1}, {0, 0, 0, 4}},        /* no end: at its start, or loosely to the end */
      {"/*\xff*/x", {'/', '/', 0xff, 'x'}, {0, 0, 2, 5}}, /* no UTF-8: at the byte */
      {"\vx", {'\v', '\v', '\v', '\v'}, {0, 0, 0, 0}},
  };
  for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++)
    for (int b = 0; b < 4; b++) {
      tesela__reader r = reader_of(rows[i].text, (tesela__blanks)b);
      assert_int_equal(tesela__read_peek(&r), rows[i].next[b]);
      assert_int_equal(r.at, rows[i].at[b]);
    }
}

static void words_and_their_ends(void **state) {
  (void)state;
  tesela__reader r = reader_of(" ab_1.c-d", TESELA__BLANKS_LINE);
  assert_int_equal(tesela__read_word(&r), 4);
  r.word |= TESELA__BYTE_DOT;
  assert_int_equal(tesela__read_word(&r), 6);
  r.word |= TESELA__BYTE_DASH;
  assert_int_equal(tesela__read_word(&r), 8);
  assert_false(tesela__read_take_text(&r, "ab_1"));
  r.word = TESELA__BYTE_NAME;
  assert_true(tesela__read_take_text(&r, "ab_1"));
  assert_int_equal(tesela__read_word(&r), 0);
  assert_true(tesela__read_take_text(&r, "."));
  assert_true(tesela__read_take_text(&r, "c-")); /* ends in no byte of a word */
  assert_true(tesela__read_take_text(&r, "d"));
  assert_false(tesela__read_take_text(&r, "d"));
  r = reader_of("abc", TESELA__BLANKS_LINE);
  r.length = 2; /* what is beyond is not there */
  assert_int_equal(tesela__read_word(&r), 2);
  assert_true(tesela__read_take_text(&r, "ab"));
  r = reader_of("1a", TESELA__BLANKS_LINE);
  assert_int_equal(tesela__read_word(&r), 0);
  r = reader_of("%a\xe9/b(c", TESELA__BLANKS_LOOSE);
  r.word |= TESELA__BYTE_SIGN;
  assert_true(tesela__read_take(&r, '%'));
  assert_int_equal(tesela__read_lump(&r, r.at), 4);
}

static void integers_of_any_length(void **state) {
  (void)state;
  static const struct {
    const char *text;
    int read;
    size_t end;
    int64_t value;
  } rows[] = {
      {"0", 1, 1, 0},
      {" 12,", 1, 3, 12},
      {"-7", 1, 2, -7},
      {"000000000000000000000000000012", 1, 30, 12},
      {"999999999999999999", 1, 18, 999999999999999999},
      {"9223372036854775807", 1, 19, INT64_MAX},
      {"9223372036854775808", -1, 19, 0},
      {"-9223372036854775808", 1, 20, INT64_MIN},
      {"-9223372036854775809", -1, 20, 0},
      {"20000000000000000000", -1, 20, 0}, /* 1.55e18 modulo 2^64 */
      {"", 0, 0, 0},
      {"-", 0, 0, 0},
      {"- 1", 0, 0, 0},
      {"+1", 0, 0, 0},
      {"1x", 0, 0, 0},
      {"1_0", 0, 0, 0},
      {"1.", 1, 1, 1}, /* a dot does not join words here */
  };
  for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
    size_t end = 0;
    int64_t value = 0;
    tesela__reader r = reader_of(rows[i].text, TESELA__BLANKS_LINE);
    assert_int_equal(tesela__read_scan(&r, &end, &value), rows[i].read);
    if (rows[i].read != 0) assert_int_equal(end, rows[i].end);
    if (rows[i].read == 1) assert_true(value == rows[i].value);
    assert_int_equal(r.at, rows[i].text[0] == ' ');
    assert_int_equal(tesela__read_any_integer(&r, "a number", TESELA_E_OVERFLOW, &value),
                     rows[i].read == 1  ? TESELA_OK
                     : rows[i].read < 0 ? TESELA_E_OVERFLOW
                                        : TESELA_E_SYNTAX);
  }
}

static tesela_status read_5_to_9(tesela__reader *r) {
  int64_t value;
  return tesela__read_integer(r, "size", 5, 9, &value);
}
static tesela_status read_any(tesela__reader *r) {
  int64_t value;
  return tesela__read_any_integer(r, "a size", TESELA_E_OVERFLOW, &value);
}
static tesela_status read_list(tesela__reader *r) {
  int64_t list[3];
  int32_t n;
  return tesela__read_integers(r, '[', false, "a list, [1,2]", TESELA_E_RANGE, 3, list, &n);
}
static tesela_status read_tuple(tesela__reader *r) {
  int64_t list[3];
  int32_t n;
  return tesela__read_integers(r, '(', true, "a tuple, (1,)", TESELA_E_RANGE, 3, list, &n);
}
static tesela_status read_colon(tesela__reader *r) { return tesela__read_expect(r, ':', "after a name"); }
static tesela_status read_unknown(tesela__reader *r) {
  return tesela__read_unknown(r, TESELA_E_INVALID, 0, tesela__read_word(r), "name", " of it", NULL, "a or b");
}
static const char *some_name(int32_t i) {
  static const char *const names[] = {"generic", "", "tiles", NULL};
  return names[i];
}
static tesela_status read_known(tesela__reader *r) {
  size_t n = tesela__read_word(r);
  return tesela__read_unknown_of(r, r->at, n, "order", some_name);
}

static void errors_in_one_wording(void **state) {
  (void)state;
  static const struct {
    tesela_status (*read)(tesela__reader *r);
    const char *text;
    tesela_status status;
    int64_t at;
    const char *message;
  } rows[] = {
      {read_5_to_9, "7", TESELA_OK, -5, ""},
      {read_5_to_9, " 4", TESELA_E_RANGE, 1, "size is 4; expected 5 to 9"},
      {read_5_to_9, "10", TESELA_E_RANGE, 0, "size is 10; expected 5 to 9"},
      {read_5_to_9, "99999999999999999999999999999999999999999", TESELA_E_RANGE, 0,
       "size is 9999999999999999999999999999999999999999...; expected 5 to 9"},
      {read_5_to_9, "x", TESELA_E_SYNTAX, 0, "expected size, found 'x'"},
      {read_any, "-99999999999999999999", TESELA_E_OVERFLOW, 0,
       "'-99999999999999999999' does not fit in 64 bits"},
      {read_list, "[]", TESELA_OK, -5, ""},
      {read_list, "[ 1 , 2,3 ]", TESELA_OK, -5, ""},
      {read_list, "(1)", TESELA_E_SYNTAX, 0, "expected a list, [1,2], found '('"},
      {read_list, "[1,]", TESELA_E_SYNTAX, 3, "expected a whole number, found ']'"},
      {read_list, "[1 2]", TESELA_E_SYNTAX, 3, "expected ',' or ']', found '2'"},
      {read_list, "[1,2", TESELA_E_SYNTAX, 4, "expected ',' or ']', found the end of the text"},
      {read_list, "[1,2,3,4]", TESELA_E_LIMIT, 7, "more than 3 numbers; expected a list, [1,2]"},
      {read_tuple, "(1,)", TESELA_OK, -5, ""},
      {read_tuple, "(1,,)", TESELA_E_SYNTAX, 3, "expected a whole number, found ','"},
      {read_tuple, "(1,2]", TESELA_E_SYNTAX, 4, "expected ',' or ')', found ']'"},
      {read_colon, " ;", TESELA_E_SYNTAX, 1, "expected ':' after a name, found ';'"},
      {read_colon, "abcdefghijklmnopqrstuvwxyz", TESELA_E_SYNTAX, 0,
       "expected ':' after a name, found 'abcdefghijklmnopqrstuvwx...'"},
      {read_colon, "\xff", TESELA_E_SYNTAX, 0,
       "expected ':' after a name, found byte 0xFF, which is not UTF-8"},
      {read_colon, "ab\xff", TESELA_E_SYNTAX, 2,
       "expected ':' after a name, found byte 0xFF, which is not UTF-8"},
      {read_colon, "\x01", TESELA_E_SYNTAX, 0, "expected ':' after a name, found control character U+0001"},
      {read_colon, "\xc3\xa9", TESELA_E_SYNTAX, 0, "expected ':' after a name, found '\xc3\xa9' (U+00E9)"},
      {read_colon, "\xc3\x97", TESELA_E_SYNTAX, 0,
       "expected ':' after a name, found '\xc3\x97' (U+00D7); did you mean ','?"},
      {read_colon, "/* x", TESELA_E_SYNTAX, 0, "expected ':' after a name, found an unterminated comment"},
      {read_unknown, "cc", TESELA_E_INVALID, 0, "unknown name 'cc' of it; expected a or b"},
      {read_known, "genric", TESELA_E_SYNTAX, 0, "unknown order 'genric'; did you mean generic?"},
      {read_known, "TILE", TESELA_E_SYNTAX, 0, "unknown order 'TILE'; did you mean tiles?"},
      {read_known, " gen", TESELA_E_SYNTAX, 1, "unknown order 'gen'; did you mean generic?"},
      {read_known, "zebra", TESELA_E_SYNTAX, 0, "unknown order 'zebra'; expected generic, tiles"},
      {read_known, "gen\xff", TESELA_E_SYNTAX, 3,
       "expected a known order, found byte 0xFF, which is not UTF-8"},
  };
  for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
    tesela__reader r = reader_of(rows[i].text, TESELA__BLANKS_COMMENTS);
    assert_int_equal(rows[i].read(&r), rows[i].status);
    assert_string_equal(error.message, rows[i].message);
    assert_int_equal(error.at, rows[i].at);
    r = reader_of(rows[i].text, TESELA__BLANKS_COMMENTS); /* without an error */
    r.err = NULL;
    assert_int_equal(rows[i].read(&r), rows[i].status);
  }
  tesela__reader r = reader_of("a\n", TESELA__BLANKS_LINE);
  r.line = 3;
  r.length = r.at = 1;
  assert_int_equal(read_colon(&r), TESELA_E_SYNTAX);
  assert_string_equal(error.message, "line 3: expected ':' after a name, found the end of the line");
  r = reader_of("a\0b", TESELA__BLANKS_LINE);
  r.length = 3;
  assert_int_equal(read_colon(&r), TESELA_E_SYNTAX);
  assert_string_equal(error.message, "expected ':' after a name, found a NUL byte");
}

/* However much is expected, what was found is said. */
static void found_is_never_cut(void **state) {
  (void)state;
  char expected[600] = "";
  while (strlen(expected) < 500) strcat(expected, "one or ");
  tesela__reader r = reader_of("abc", TESELA__BLANKS_LINE);
  tesela__read_unexpected(&r, expected, "");
  assert_non_null(strstr(error.message, "..., found 'abc'"));
}

static void indices_and_numbers(void **state) {
  (void)state;
  static const int64_t shape[] = {3, 5}, none[] = {0, 5};
  static const struct {
    const char *text;
    int32_t rank;
    tesela_status status;
    int64_t at, index[2];
    const char *message;
  } rows[] = {
      {"2,3", 2, TESELA_OK, -5, {2, 3}, ""},
      {" [2 , 3] ", 2, TESELA_OK, -5, {2, 3}, ""},
      {"(2,3)\n", 2, TESELA_OK, -5, {2, 3}, ""},
      {"1", 1, TESELA_OK, -5, {1}, ""},
      {"[]", 0, TESELA_OK, -5, {0}, ""},
      {"()", 0, TESELA_OK, -5, {0}, ""},
      {"", 0, TESELA_OK, -5, {0}, ""},
      {"2,5", 2, TESELA_E_RANGE, 2, {0}, "index[1] is 5; expected 0 to 4"},
      {"-1,5", 2, TESELA_E_RANGE, 0, {0}, "index[0] is -1; expected 0 to 2"},
      {"2", 2, TESELA_E_INVALID, 1, {0}, "expected a comma after 1 coordinate; the rank is 2"},
      {"2,3,4", 2, TESELA_E_INVALID, 3, {0}, "more than 2 coordinates; the rank is 2"},
      {"2,x", 2, TESELA_E_SYNTAX, 2, {0}, "expected an integer for index[1], found 'x'"},
      {"[2,3", 2, TESELA_E_SYNTAX, 4, {0}, "expected ']', found the end of the text"},
      {"[2,3)", 2, TESELA_E_SYNTAX, 4, {0}, "expected ']', found ')'"},
      {"2,3]", 2, TESELA_E_SYNTAX, 3, {0}, "expected the end of the text, found ']'"},
      {"0", 0, TESELA_E_SYNTAX, 0, {0}, "expected [], the only index of rank 0, found '0'"},
  };
  int64_t index[2];
  for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
    error = (tesela_error){.at = -5};
    assert_int_equal(
        tesela_index_parse(rows[i].text, strlen(rows[i].text), rows[i].rank, shape, index, &error),
        rows[i].status);
    assert_string_equal(error.message, rows[i].message);
    assert_int_equal(error.at, rows[i].at);
    for (int32_t d = 0; d < rows[i].rank && rows[i].status == TESELA_OK; d++)
      assert_int_equal(index[d], rows[i].index[d]);
  }
  assert_int_equal(tesela_index_parse("0,0", 3, 2, none, index, &error), TESELA_E_RANGE);
  assert_string_equal(error.message, "index[0] is 0; the extent is 0, so no value is valid");
  static const char *const names[] = {"thread", "local id"};
  static const int64_t counts[] = {32, 4};
  assert_int_equal(tesela_numbers_parse("5: 3", 4, 2, names, counts, ':', index, &error), TESELA_OK);
  assert_true(index[0] == 5 && index[1] == 3);
  assert_int_equal(tesela_numbers_parse("32:0", 4, 2, names, counts, ':', index, &error), TESELA_E_RANGE);
  assert_string_equal(error.message, "thread is 32; expected 0 to 31");
  assert_int_equal(tesela_numbers_parse("5", 1, 2, names, counts, ':', index, &error), TESELA_E_SYNTAX);
  assert_string_equal(error.message, "expected ':' and the local id, found the end of the text");
  assert_int_equal(tesela_numbers_parse("17,3", 4, 1, names, counts, '\0', index, &error), TESELA_E_SYNTAX);
  assert_string_equal(error.message, "expected the end of the text, found ','");
  assert_int_equal(tesela_error_outside(&error, 7, "index", 1, 5, 0, 4), TESELA_E_RANGE);
  assert_string_equal(error.message, "index[1] is 5; expected 0 to 4");
  assert_int_equal(error.at, 7);
}

static const char *verb(const void *user, int32_t i) {
  const char *const *names = user;
  return names[i];
}

static void the_nearest_name(void **state) {
  (void)state;
  static const char *const names[] = {"show", "same", "size", "relayout", "t", NULL};
  static const struct {
    const char *word, *near;
  } rows[] = {{"shwo", "show"},      {"SHOW", "show"},         {"sze", "size"},
              {"relay", "relayout"}, {"print", NULL},          {"", NULL},
              {"x", NULL},           {"relyaotu", "relayout"}, {"relyaotuu", NULL}};
  for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
    const char *near = tesela_nearest(rows[i].word, strlen(rows[i].word), verb, names);
    if (rows[i].near)
      assert_string_equal(near, rows[i].near);
    else
      assert_null(near);
  }
  static const char *const gaps[] = {"", "a name that is longer than others", "", "b", NULL},
                           *const nothing[] = {NULL};
  assert_int_equal(tesela_error_unknown(&error, "verb", "shwo", verb, names), TESELA_E_INVALID);
  assert_string_equal(error.message, "unknown verb 'shwo'; did you mean show?");
  assert_int_equal(error.at, -1);
  (void)tesela_error_unknown(&error, "verb", "pr\nnt", verb, names);
  assert_string_equal(error.message, "unknown verb 'pr\\x0ant'; expected show, same, size, relayout, t");
  (void)tesela_error_unknown(&error, "verb", "print", verb, gaps);
  assert_string_equal(error.message, "unknown verb 'print'; expected a name that is longe, b");
  (void)tesela_error_unknown(&error, "verb", "print", verb, nothing);
  assert_string_equal(error.message, "unknown verb 'print'");
  assert_int_equal(tesela_error_unknown(NULL, "verb", "print", verb, names), TESELA_E_INVALID);
  assert_int_equal(tesela_error_unknown(&error, "verb", NULL, verb, names), TESELA_E_INVALID);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(blanks_by_kind),         cmocka_unit_test(words_and_their_ends),
      cmocka_unit_test(integers_of_any_length), cmocka_unit_test(errors_in_one_wording),
      cmocka_unit_test(found_is_never_cut),     cmocka_unit_test(indices_and_numbers),
      cmocka_unit_test(the_nearest_name),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
