/* SPDX-License-Identifier: Apache-2.0 */
/*
 * cmocka.h - a stand-in for cmocka on machines without it: the names that the unit tests use, for programs that run on other
 * machines (make portable, tests/structure/neon.sh).
 *
 * The first assertion that fails ends the program; nothing is caught and nothing is mocked. skip() is for the body of a test alone.
 * It needs standard C only: WebAssembly has neither setjmp nor signals.
 */
#ifndef TESELA_TESTS_SHIM_CMOCKA_H
#define TESELA_TESTS_SHIM_CMOCKA_H

#include <inttypes.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct CMUnitTest {
  const char *name;
  void (*test)(void **state);
  int (*set_up)(void **state), (*tear_down)(void **state);
};

#define cmocka_unit_test(function) \
  { #function, function, NULL, NULL }
#define cmocka_unit_test_setup_teardown(function, set_up, tear_down) \
  { #function, function, set_up, tear_down }
#define cmocka_unit_test_teardown(function, tear_down) \
  { #function, function, NULL, tear_down }
#define cmocka_run_group_tests(tests, set_up, tear_down) \
  cmocka_run((tests), sizeof(tests) / sizeof((tests)[0]), (set_up), (tear_down))
#define cmocka_run_group_tests_name(name, tests, set_up, tear_down) \
  cmocka_run_group_tests(tests, set_up, tear_down)

#define print_message(...) printf(__VA_ARGS__)
#define print_error(...) fprintf(stderr, __VA_ARGS__)

#define fail_msg(...)                               \
  do {                                              \
    fflush(stdout);                                 \
    fprintf(stderr, "%s:%d: ", __FILE__, __LINE__); \
    fprintf(stderr, __VA_ARGS__);                   \
    fputc('\n', stderr);                            \
    exit(1);                                        \
  } while (0)

#define fail() fail_msg("failed")

/* tools/portable/portable.py reads this line. */
#define skip()                             \
  do {                                     \
    printf("[  SKIPPED ] %s\n", __func__); \
    return;                                \
  } while (0)

#define assert_true(condition)                              \
  do {                                                      \
    if (!(condition)) fail_msg("not true: %s", #condition); \
  } while (0)
#define assert_false(condition) assert_true(!(condition))
#define assert_null(pointer) assert_true((pointer) == NULL)
#define assert_non_null(pointer) assert_true((pointer) != NULL)
#define assert_ptr_equal(a, b) assert_true((const void *)(a) == (const void *)(b))
#define assert_ptr_not_equal(a, b) assert_true((const void *)(a) != (const void *)(b))
#define assert_int_equal(a, b)                                                                 \
  do {                                                                                         \
    const long long left_ = (long long)(a), right_ = (long long)(b);                           \
    if (left_ != right_) fail_msg("%s is %lld, not %s, which is %lld", #a, left_, #b, right_); \
  } while (0)
#define assert_int_not_equal(a, b) assert_true((long long)(a) != (long long)(b))
#define assert_in_range(value, least, most)                                             \
  do {                                                                                  \
    const unsigned long long value_ = (unsigned long long)(value);                      \
    if (value_ < (unsigned long long)(least) || value_ > (unsigned long long)(most))    \
      fail_msg("%s is %llu, not in the range %s to %s", #value, value_, #least, #most); \
  } while (0)
#define assert_string_equal(a, b)                                             \
  do {                                                                        \
    const char *left_ = (a), *right_ = (b);                                   \
    if (strcmp(left_, right_)) fail_msg("\"%s\", not \"%s\"", left_, right_); \
  } while (0)
#define assert_string_not_equal(a, b) assert_true(strcmp((a), (b)) != 0)
#define assert_memory_equal(a, b, size) assert_true(memcmp((a), (b), (size)) == 0)
#define assert_memory_not_equal(a, b, size) assert_true(memcmp((a), (b), (size)) != 0)

static inline int cmocka_run(const struct CMUnitTest *tests, size_t n, int (*set_up)(void **state),
                             int (*tear_down)(void **state)) {
  void *group = NULL;
  if (set_up && set_up(&group)) return 1;
  for (size_t i = 0; i < n; i++) {
    void *state = group;
    if (tests[i].set_up && tests[i].set_up(&state)) return 1;
    tests[i].test(&state);
    if (tests[i].tear_down && tests[i].tear_down(&state)) return 1;
    printf("ok %s\n", tests[i].name);
    fflush(stdout); /* a test may fork */
  }
  return tear_down ? tear_down(&group) : 0;
}

#endif
