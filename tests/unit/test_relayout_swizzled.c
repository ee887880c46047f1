/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_relayout_swizzled.c - one element that a swizzle takes to another place: what is filled, and what is kept. The
 * places before the offset that no digit reaches are never written, wherever the element goes.
 */
#include <inttypes.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>
#include <tesela/tesela.h>

#define OK(call)                                                    \
  do {                                                              \
    tesela_error e_ = {.message = ""};                              \
    if ((call) != TESELA_OK) fail_msg("%s: %s", #call, e_.message); \
  } while (0)

/* By hand: x ^ y, y the bits of x from base + shift on, put to base; for a shift below 0 from base to base - shift. */
static const struct {
  int64_t offset, extent;
  tesela_swizzle swizzle;
  int64_t place, padding; /* of the element; from here on all is padding */
} rows[] = {
    {12, 16, {0, 1, 2, 1}, 8, 12},  /* 1100 -> 1000 */
    {3, 4, {0, 1, 0, -1}, 1, 3},    /* 11 -> 01 */
    {30, 32, {0, 1, 1, 1}, 28, 30}, /* 11110 -> 11100 */
    {4, 16, {0, 1, 2, -1}, 12, 13}, /* 0100 -> 1100 */
    {8, 16, {0, 1, 0, 2}, 8, 9},    /* 1000 stays */
};

enum { MOST = 32, KEPT = 0xa5, ELEMENT = 0x3c };

static tesela_layout scalar(int64_t offset, int64_t extent, const tesela_swizzle *swizzle) {
  tesela_layout layout;
  int32_t axis;
  OK(tesela_layout_begin(&layout, TESELA_DTYPE_NONE, 8, 0, NULL, &e_));
  OK(tesela_layout_add_axis(&layout, "memory", &axis, &e_));
  OK(tesela_layout_set_axis(&layout, axis, offset, extent, &e_));
  if (swizzle) OK(tesela_layout_add_swizzle(&layout, *swizzle, &e_));
  OK(tesela_layout_finish(&layout, &e_));
  return layout;
}

static void check(size_t row, const unsigned char *got) {
  for (int64_t p = 0; p < rows[row].extent; p++) {
    int want = p == rows[row].place ? ELEMENT : p >= rows[row].padding ? 0 : KEPT;
    if (got[p] != want)
      fail_msg("row %zu, place %" PRId64 ": %02x, not %02x", row, p, got[p], (unsigned)want);
  }
}

static void padding_is_behind_the_offset_and_the_element(void **state) {
  (void)state;
  for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
    const tesela_layout dst = scalar(rows[i].offset, rows[i].extent, &rows[i].swizzle),
                        src = scalar(0, 1, NULL);
    unsigned char to[MOST], from = ELEMENT;
    tesela_plan *plan;
    memset(to, KEPT, sizeof to);
    OK(tesela_plan_create(&plan, &dst, &src, NULL, &e_));
    OK(tesela_plan_run(plan, to, &from, NULL, &e_));
    tesela_plan_destroy(plan);
    check(i, to);
  }
}

static void in_place_too(void **state) {
  (void)state;
  for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
    const tesela_layout dst = scalar(rows[i].offset, rows[i].extent, &rows[i].swizzle),
                        src = scalar(rows[i].place, rows[i].place + 1, NULL);
    unsigned char buffer[MOST];
    tesela_plan *plan;
    memset(buffer, KEPT, sizeof buffer);
    buffer[rows[i].place] = ELEMENT;
    OK(tesela_plan_create(&plan, &dst, &src, NULL, &e_));
    OK(tesela_plan_run_in_place(plan, buffer, NULL, NULL, &e_));
    tesela_plan_destroy(plan);
    check(i, buffer);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(padding_is_behind_the_offset_and_the_element),
      cmocka_unit_test(in_place_too),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
