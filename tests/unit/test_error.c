/* SPDX-License-Identifier: Apache-2.0 */
/* test_error.c - messages that are too long end at a word, and never inside a character. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>
#include <tesela/tesela.h>

#include "base/base.h"

enum { ROOM = sizeof((tesela_error *)0)->message };

static void messages_end_at_a_word(void **state) {
  (void)state;
  char text[2 * ROOM];
  for (size_t length = ROOM - 12; length < ROOM + 40; length++)
    for (size_t word = 2; word < 60; word += 7) {
      tesela_error err;
      for (size_t i = 0; i < length; i++) text[i] = i % word == word - 1 && i + 1 < length ? ' ' : 'x';
      text[length] = '\0';
      tesela__fail(&err, TESELA_E_INVALID, -1, "%s", text);
      if (length < ROOM) {
        assert_string_equal(err.message, text);
        continue;
      }
      size_t kept = strlen(err.message);
      assert_true(kept < ROOM && kept > ROOM - 4 - word - 1);
      assert_string_equal(err.message + kept - 3, "...");
      assert_memory_equal(err.message, text, kept - 3);
      assert_int_equal(text[kept - 3], ' '); /* the word before is whole */
    }
}

static void words_without_end_are_cut_at_a_character(void **state) {
  (void)state;
  static const char *const characters[] = {"x", "\xc3\xa9", "\xe2\x82\xac", "\xf0\x9f\x99\x82"};
  for (size_t c = 0; c < sizeof characters / sizeof *characters; c++)
    for (size_t lead = 0; lead < 5; lead++) {
      char text[2 * ROOM] = "";
      size_t bytes = strlen(characters[c]);
      tesela_error err;
      for (size_t i = 0; i < lead; i++) strcat(text, "a");
      while (strlen(text) < ROOM + 20) strcat(text, characters[c]);
      tesela__fail(&err, TESELA_E_INVALID, -1, "%s", text);
      size_t kept = strlen(err.message);
      assert_true(kept < ROOM && kept > ROOM - 9);
      assert_string_equal(err.message + kept - 3, "...");
      assert_memory_equal(err.message, text, kept - 3);
      assert_int_equal((kept - 3 - lead) % bytes, 0);
    }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(messages_end_at_a_word),
      cmocka_unit_test(words_without_end_are_cut_at_a_character),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
