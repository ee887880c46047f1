/* SPDX-License-Identifier: Apache-2.0 */
/*
 * cmocka.h - a stand-in for cmocka where it is not installed: the few names that tests/structure/neon.sh needs.
 *
 * The first assertion that fails ends the program; nothing is caught and nothing is mocked.
 */
#ifndef TESELA_TESTS_NEON_CMOCKA_H
#define TESELA_TESTS_NEON_CMOCKA_H

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct CMUnitTest {
  const char *name;
  void (*test)(void **state);
};

#define cmocka_unit_test(function) \
  { #function, function }
#define cmocka_run_group_tests(tests, set_up, tear_down) \
  cmocka_run((tests), sizeof(tests) / sizeof((tests)[0]), (set_up), (tear_down))

#define fail_msg(...)                               \
  do {                                              \
    fprintf(stderr, "%s:%d: ", __FILE__, __LINE__); \
    fprintf(stderr, __VA_ARGS__);                   \
    fputc('\n', stderr);                            \
    exit(1);                                        \
  } while (0)

#define fail() fail_msg("failed")

#define assert_true(condition)                              \
  do {                                                      \
    if (!(condition)) fail_msg("not true: %s", #condition); \
  } while (0)
#define assert_false(condition) assert_true(!(condition))
#define assert_null(pointer) assert_true((pointer) == NULL)
#define assert_non_null(pointer) assert_true((pointer) != NULL)
#define assert_int_equal(a, b)                                                             \
  do {                                                                                     \
    const long long left = (long long)(a), right = (long long)(b);                         \
    if (left != right) fail_msg("%s is %lld, not %s, which is %lld", #a, left, #b, right); \
  } while (0)
#define assert_int_not_equal(a, b) assert_true((long long)(a) != (long long)(b))
#define assert_string_equal(a, b)                                         \
  do {                                                                    \
    const char *left = (a), *right = (b);                                 \
    if (strcmp(left, right)) fail_msg("\"%s\", not \"%s\"", left, right); \
  } while (0)
#define assert_memory_equal(a, b, size) assert_true(memcmp((a), (b), (size)) == 0)

static inline int cmocka_run(const struct CMUnitTest *tests, size_t n, int (*set_up)(void **state),
                             int (*tear_down)(void **state)) {
  void *state = NULL;
  if (set_up && set_up(&state)) return 1;
  for (size_t i = 0; i < n; i++) {
    tests[i].test(&state);
    printf("ok %s\n", tests[i].name);
    fflush(stdout); /* a test may fork */
  }
  return tear_down ? tear_down(&state) : 0;
}

#endif
