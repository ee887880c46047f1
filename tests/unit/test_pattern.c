/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_pattern.c - ops/pattern.h: names of tensors that match a pattern. The file is compiled in, so that it is tested where the
 * operations are not built, too. The oracle is fnmatch of glibc, for all short patterns and names: that of musl reads no backslash in a set.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "../../ops/pattern.c"

#ifdef __GLIBC__
#include <fnmatch.h>

/* The text number n over an alphabet, the shorter ones first; false: longer than `most`. */
static bool numbered_text(int n, const char *alphabet, int most, char *text) {
  int letters = (int)strlen(alphabet), length = 0, of_length = 1;
  for (; n >= of_length; length++, of_length *= letters) n -= of_length;
  for (int i = 0; i < length && i < most; i++, n /= letters) text[i] = alphabet[n % letters];
  text[length < most ? length : most] = '\0';
  return length <= most;
}

static void every_short_pattern_matches_as_fnmatch_says(void **state) {
  (void)state;
  char pattern[8], name[8];
  int n_match = 0, n = 0;
  for (int i = 0; numbered_text(i, "ab-][!*?\\", 5, pattern); i++) {
    for (int k = 0; numbered_text(k, "ab]", 3, name); k++, n++) {
      const bool expected = fnmatch(pattern, name, 0) == 0;
      if (pattern_matches(pattern, name) != expected)
        fail_msg("'%s' and '%s': expected %d", pattern, name, expected);
      n_match += expected;
    }
  }
  assert_int_equal(n, 66430 * 40); /* 9^0 + ... + 9^5 patterns, 3^0 + ... + 3^3 names */
  assert_true(n_match > 10000);
}
#else
static void every_short_pattern_matches_as_fnmatch_says(void **state) {
  (void)state;
  skip();
}
#endif

static void names_of_tensors_match(void **state) {
  (void)state;
  static const struct {
    const char *pattern, *name;
    bool match;
  } cases[] = {
      {"*.weight", "layers.0.weight", true},
      {"*.weight", "layers.0.weight.scale", false},
      {"*", "", true},
      {"", "", true},
      {"", "a", false},
      {"*/kernel", "/dense/kernel", true},
      {"*", ".hidden/.name", true},
      {"layers.?.*", "layers.10.bias", false},
      {"layers.[0-3].w", "layers.3.w", true},
      {"layers.[0-3].w", "layers.4.w", false},
      {"layers.[!0-3].w", "layers.4.w", true},
      {"layers.[^0-3].w", "layers.3.w", false},
      {"x[]a]", "x]", true},
      {"x[!]a]", "x]", false},
      {"x[\\]a]", "xa", true},
      {"x[-a]", "x-", true},
      {"x[a-]", "x-", true},
      {"x[b-a]", "xa", false},
      {"x[0", "x[0", true},
      {"a\\*b", "a*b", true},
      {"a\\*b", "axb", false},
      {"a\\", "a\\", false},
      {"*a*a*a*b", "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa", false},
      {"?", "\xc3\xbc", true}, /* u with two dots */
      {"??", "\xc3\xbc", false},
      {"[\xc3\xa4-\xc3\xbc]x", "\xc3\xb6x", true},
      {"[a-z]x", "\xc3\xb6x", false},
      {"*\xe2\x82\xac?",
       "price \xe2\x82\xac"
       "5",
       true},
      {"??", "\xff\x80", false}, /* not UTF-8: a byte that begins a character, and one that continues it */
      {"??", "\x80\x80", true},
  };
  for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++)
    if (pattern_matches(cases[i].pattern, cases[i].name) != cases[i].match)
      fail_msg("'%s' and '%s': expected %d", cases[i].pattern, cases[i].name, cases[i].match);
}

static void classes_are_found(void **state) {
  (void)state;
  assert_true(pattern_has_class("layers.[[:digit:]].w"));
  assert_true(pattern_has_class("[![:alpha:]]"));
  assert_false(pattern_has_class("layers.[0-9].w"));
  assert_false(pattern_has_class("[:]"));
  assert_false(pattern_has_class("a:]b[:"));
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(every_short_pattern_matches_as_fnmatch_says),
      cmocka_unit_test(names_of_tensors_match),
      cmocka_unit_test(classes_are_found),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
