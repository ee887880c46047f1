/* SPDX-License-Identifier: Apache-2.0 */
/* test_error_print.c - a message, the line of the text, and a caret under the byte of the error. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>
#include <tesela/tesela.h>

#include "support_seed.h"

enum { ROOM = 1 << 14 };

static const char *printed(int64_t at, const char *text, size_t length) {
  static char room[ROOM];
  tesela_error err = {.status = TESELA_E_SYNTAX, .at = at, .message = "wrong"};
  tesela_buffer buffer = {room, sizeof room, 0};
  tesela_writer to = tesela_buffer_writer(&buffer);
  assert_int_equal(tesela_error_print(&err, text, length, &to), TESELA_OK);
  assert_true(buffer.length < sizeof room);
  return room;
}

static void lines_and_carets(void **state) {
  (void)state;
  static const struct {
    int64_t at;
    const char *text, *expected;
  } rows[] = {
      {17, "f32[3,5]{1,0:T(0,2)}", "wrong\n  f32[3,5]{1,0:T(0,2)}\n                   ^\n"},
      {0, "abc", "wrong\n  abc\n  ^\n"},
      {3, "abc", "wrong\n  abc\n     ^\n"},
      {4, "abc", "wrong\n  abc\n     ^\n"}, /* beyond the end: at the end */
      {INT64_MAX, "abc", "wrong\n  abc\n     ^\n"},
      {0, "", "wrong\n  \n  ^\n"},
      {-1, "abc", "wrong\n"},
      {INT64_MIN, "abc", "wrong\n"},
      /* escaped, with the caret where the byte is shown */
      {2, "a\tb", "wrong\n  a\\tb\n     ^\n"},
      {1, "a\tb", "wrong\n  a\\tb\n   ^\n"},
      {0, "\x1b[1mx", "wrong\n  \\x1b[1mx\n  ^\n"},
      {5, "\x1b[1mx", "wrong\n  \\x1b[1mx\n          ^\n"},
      {1, "f\xff[2]", "wrong\n  f\\xff[2]\n   ^\n"},
      {2, "f\xff[2]", "wrong\n  f\\xff[2]\n       ^\n"},
      {3, "\xe2\x80\xaex", "wrong\n  \\u{202e}x\n          ^\n"}, /* turns the direction of the text */
      /* characters of one, two and no columns */
      {2, "\xc3\x97x", "wrong\n  \xc3\x97x\n   ^\n"},
      {3, "\xe4\xb8\x80x", "wrong\n  \xe4\xb8\x80x\n    ^\n"},
      {1, "\xe4\xb8\x80x", "wrong\n  \xe4\xb8\x80x\n  ^\n"}, /* inside a character: at its start */
      {3, "a\xcc\x81x", "wrong\n  a\xcc\x81x\n   ^\n"},
      /* of many lines the one that is wrong */
      {8, "one\ntwo x\nthree", "wrong\n  two x\n      ^\n"},
      {4, "one\ntwo x\nthree", "wrong\n  two x\n  ^\n"},
      {3, "one\ntwo", "wrong\n  one\n     ^\n"}, /* the end of a line */
      {6, "ab\ncd\n", "wrong\n  cd\n    ^\n"},   /* the end of the text: after its last line */
      {7, "ab\ncd\n\n", "wrong\n  cd\n    ^\n"},
      {1, "ab\r\ncd", "wrong\n  ab\n   ^\n"},
      {2, "ab\r\ncd", "wrong\n  ab\n    ^\n"},
      {3, "ab\r\ncd", "wrong\n  ab\\r\n      ^\n"},
  };
  for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++)
    assert_string_equal(printed(rows[i].at, rows[i].text, strlen(rows[i].text)), rows[i].expected);
  assert_string_equal(printed(1, "a\0b", 3), "wrong\n  a\\x00b\n   ^\n");
  assert_string_equal(printed(1, NULL, 0), "wrong\n");
}

/* A line of any length: 80 columns, the caret under its byte, dots where something is left out. */
static void long_lines_are_cut_around_the_caret(void **state) {
  (void)state;
  char text[300], *line, *mark;
  for (size_t length = 1; length < sizeof text; length += 7)
    for (size_t at = 0; at < length; at++) {
      char copy[ROOM];
      memset(text, '-', sizeof text);
      text[at] = 'X';
      snprintf(copy, sizeof copy, "%s", printed((int64_t)at, text, length));
      line = strchr(copy, '\n') + 1;
      mark = strchr(line, '\n') + 1;
      mark[-1] = '\0';
      assert_true(strlen(line) <= 80);
      assert_int_equal(strchr(line, 'X') - line, strchr(mark, '^') - mark);
      assert_string_equal(strchr(mark, '^'), "^\n");
      bool front = strncmp(line, "  ...", 5) == 0, back = line[strlen(line) - 1] == '.';
      size_t shown = strlen(line) - 2 - (front ? 3 : 0) - (back ? 3 : 0);
      assert_int_equal(shown == length, !front && !back);
      if (at == 0) assert_false(front);
      if (at + 1 == length) assert_false(back);
      if (length <= 77) assert_true(!front && !back);
    }
}

static void a_narrow_terminal_of_ascii(void **state) {
  (void)state;
  char room[256];
  tesela_buffer buffer = {room, sizeof room, 0};
  tesela_writer to = tesela_buffer_writer(&buffer);
  assert_int_equal(tesela_error_caret(2, "\xc3\xa9x", 3, 80, true, &to), TESELA_OK);
  assert_string_equal(room, "  \\u{e9}x\n        ^\n");
  buffer.length = 0; /* 20 columns: 11 of the text, 5 of them after the caret's */
  assert_int_equal(tesela_error_caret(15, "abcdefghijklmnopqrstuvwxyz", 26, 20, true, &to), TESELA_OK);
  assert_string_equal(room, "  ...jklmnopqrst...\n           ^\n");
  buffer.length = 0;
  assert_int_equal(tesela_error_caret(-1, "abc", 3, 80, true, &to), TESELA_OK);
  assert_int_equal(buffer.length, 0);
}

static int stop_at_caret(void *user, const char *text, size_t length) {
  (void)user;
  return memchr(text, '^', length) != NULL;
}

static int stop(void *user, const char *text, size_t length) {
  (void)user, (void)text, (void)length;
  return 1;
}

static void a_writer_may_stop(void **state) {
  (void)state;
  tesela_error err = {.at = 1, .message = "wrong"};
  const tesela_writer first = {stop, NULL}, later = {stop_at_caret, NULL};
  assert_int_equal(tesela_error_print(&err, "abc", 3, &first), TESELA_E_STOPPED);
  assert_int_equal(tesela_error_print(&err, "abc", 3, &later), TESELA_E_STOPPED);
}

/* Any bytes: three lines, nothing on them that a terminal obeys, and the caret within the width. */
static void any_bytes_are_shown(void **state) {
  (void)state;
  uint64_t random = test_seed(0x7e5e1a);
  for (int round = 0; round < 3000; round++) {
    char text[200];
    size_t length = 1 + (random = random * 6364136223846793005u + 1442695040888963407u) % sizeof text;
    for (size_t i = 0; i < length; i++) {
      random = random * 6364136223846793005u + 1442695040888963407u;
      text[i] = random >> 40 & 1 ? (char)(random >> 33 & 0xff) : "a\n\t["[random >> 33 & 3];
    }
    int64_t at = (int64_t)(random >> 20) % (int64_t)(length + 1);
    if (at < 0) at = 0;
    const char *shown = printed(at, text, length);
    int lines = 0;
    for (const char *c = shown; *c; c++) {
      lines += *c == '\n';
      assert_true(*c == '\n' || ((unsigned char)*c >= 0x20 && *c != 0x7f));
    }
    assert_int_equal(lines, 3);
    const char *mark = strchr(strchr(shown, '\n') + 1, '\n') + 1;
    assert_true(strcspn(mark, "^") < 80);
    assert_string_equal(mark + strspn(mark, " "), "^\n");
  }
}

/* Every character, written by hand, is read; and of all strings of bytes no others are. */
static void characters_are_utf8(void **state) {
  (void)state;
  uint32_t code;
  for (uint32_t c = 0; c <= 0x10FFFF; c++) {
    if (c >= 0xD800 && c < 0xE000) continue;
    size_t n = c < 0x80 ? 1 : c < 0x800 ? 2 : c < 0x10000 ? 3 : 4;
    static const uint32_t leads[] = {0, 0, 0xC0, 0xE0, 0xF0};
    char text[4];
    for (size_t i = 0; i < n; i++)
      text[i] = (char)(i == 0 ? leads[n] | c >> 6 * (n - 1) : 0x80 | (c >> 6 * (n - 1 - i) & 0x3F));
    assert_int_equal(tesela_utf8_character(text, n, &code), n);
    assert_int_equal(code, c);
    assert_int_equal(tesela_utf8_character(text, n - (n > 1), &code), n > 1 ? 0 : 1); /* cut */
  }
  int64_t accepted[5] = {0};
  for (uint32_t bytes = 0; bytes < 1 << 24; bytes++) {
    const char text[] = {(char)(bytes >> 16), (char)(bytes >> 8 & 0xFF), (char)(bytes & 0xFF), (char)0x80};
    accepted[tesela_utf8_character(text, 4, &code)]++;
  }
  assert_int_equal(accepted[1], 128 << 16);
  assert_int_equal(accepted[2], (0x800 - 0x80) << 8);
  assert_int_equal(accepted[3], 0x10000 - 0x800 - 0x800); /* without surrogates */
  assert_int_equal(accepted[4], (0x110000 - 0x10000) / 64);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(lines_and_carets),           cmocka_unit_test(long_lines_are_cut_around_the_caret),
      cmocka_unit_test(a_narrow_terminal_of_ascii), cmocka_unit_test(a_writer_may_stop),
      cmocka_unit_test(any_bytes_are_shown),        cmocka_unit_test(characters_are_utf8),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
