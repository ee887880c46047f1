/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_register_core.c - register layouts and the core model: which layouts of the core are not register layouts, and what
 * cannot be an element. That the two agree element by element is in test_register_exhaustive.c and test_register_huge.c.
 */
#include <inttypes.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "support_register.h"

#define OK(call)                                                    \
  do {                                                              \
    tesela_error e_ = {.message = ""};                              \
    if ((call) != TESELA_OK) fail_msg("%s: %s", #call, e_.message); \
  } while (0)

static tesela_register filled(void) {
  tesela_register out;
  memset(&out, 0xA5, sizeof out);
  return out;
}

/* What is wrong with a layout; nothing in the first two and in COLUMNS. */
typedef enum wrong {
  RIGHT,
  SWAPPED,
  NAMES,
  ONE_AXIS,
  THREE_AXES,
  PADDED,
  JOINED,
  SWIZZLED,
  OFFSET,
  GAP,
  LONGER,
  HOLE,
  LOCAL_REPLICA,
  BROADCAST,
  BACKWARDS,
  COLUMNS,
  UNFINISHED,
  EMPTY,
  WRONGS
} wrong;

static int64_t stride_of_columns(wrong w) {
  switch (w) {
  case BROADCAST:
    return 0;
  case BACKWARDS:
    return -1;
  case GAP:
  case LOCAL_REPLICA:
    return 2;
  case ONE_AXIS:
    return 8;
  default:
    return 1;
  }
}

/* [4,6]: dim 0 and a replica of 2 on "thread", dim 1 on "local", except for the fault. */
static void build(tesela_layout *out, wrong w) {
  int32_t thread, local, extra, replica, lo;
  OK(tesela_layout_begin(out, TESELA_F16, 16, 2, (const int64_t[]){w == EMPTY ? 0 : 4, 6}, &e_));
  if (w == SWAPPED) OK(tesela_layout_add_axis(out, "local", &local, &e_));
  OK(tesela_layout_add_axis(out, w == NAMES ? "memory" : "thread", &thread, &e_));
  if (w == ONE_AXIS)
    local = thread;
  else if (w != SWAPPED)
    OK(tesela_layout_add_axis(out, "local", &local, &e_));
  if (w == THREE_AXES) OK(tesela_layout_add_axis(out, "warp", &extra, &e_));
  if (w == PADDED) {
    OK(tesela_layout_split(out, 1, 4, &lo, &e_));
    OK(tesela_layout_place(out, lo, local, 1, &e_));
    OK(tesela_layout_place(out, 1, local, 4, &e_));
  } else if (w == JOINED) {
    OK(tesela_layout_join(out, 1, (const int32_t[]){1}, &lo, &e_));
    int32_t rest;
    OK(tesela_layout_split(out, lo, 4, &rest, &e_));
    OK(tesela_layout_place(out, rest, local, 1, &e_));
    OK(tesela_layout_place(out, lo, local, 4, &e_));
  } else {
    OK(tesela_layout_place(out, 1, local, stride_of_columns(w), &e_));
  }
  OK(tesela_layout_add_digit(out, w == HOLE ? TESELA_HOLE : TESELA_REPLICA, 2, &replica, &e_));
  if (w == LOCAL_REPLICA)
    OK(tesela_layout_place(out, replica, local, 1, &e_));
  else
    OK(tesela_layout_place(out, replica, thread, w == COLUMNS ? 1 : 4, &e_));
  OK(tesela_layout_place(out, 0, thread, w == COLUMNS ? 2 : 1, &e_));
  if (w == OFFSET) OK(tesela_layout_set_axis(out, thread, 3, 11, &e_));
  if (w == LONGER) OK(tesela_layout_set_axis(out, thread, 0, 16, &e_));
  if (w == BACKWARDS) OK(tesela_layout_set_axis(out, local, 5, 6, &e_));
  if (w == SWIZZLED) OK(tesela_layout_add_swizzle(out, (tesela_swizzle){(int16_t)thread, 1, 0, 1}, &e_));
  if (w != UNFINISHED) OK(tesela_layout_finish(out, &e_));
}

/* Padding, joins, holes and places beyond the last thread do not matter if the places of the elements are those of modes. */
static bool comes_back(wrong w) {
  return w == RIGHT || w == SWAPPED || w == COLUMNS || w == PADDED || w == JOINED || w == LONGER;
}

static void only_modes_come_back_from_the_core(void **state) {
  (void)state;
  for (int w = 0; w < WRONGS; w++) {
    tesela_layout core;
    tesela_translation answer = {.verdict = TESELA_EXACT};
    build(&core, (wrong)w);
    if (comes_back((wrong)w)) {
      tesela_register layout;
      int64_t thread, local;
      OK(tesela_register_from_layout(&core, &layout, &answer, &e_));
      assert_int_equal(answer.verdict, TESELA_EXACT);
      assert_true(layout.spatial_size == 8 && layout.local_size == 6 && tesela_register_copies(&layout) == 2);
      OK(tesela_register_get_spatial(&layout, (int64_t[]){3, 5}, 1, &thread, &e_));
      OK(tesela_register_get_local(&layout, (int64_t[]){3, 5}, &local, &e_));
      assert_true(thread == 7 && local == 5);
      OK(tesela_register_get_spatial(&layout, (int64_t[]){3, 5}, 0, &thread, &e_));
      assert_true(thread == (w == COLUMNS ? 6 : 3));
      continue;
    }
    tesela_register out = filled(), untouched = filled();
    tesela_error err = {.message = ""};
    tesela_status status = tesela_register_from_layout(&core, &out, &answer, &err);
    if (w == HOLE) { /* 4 of its 8 threads have elements */
      assert_true(status == TESELA_OK && answer.verdict == TESELA_EXACT && out.spatial_size == 4);
      continue;
    }
    if (memcmp(&out, &untouched, sizeof out) != 0) fail_msg("%d: changed", w);
    if (w == UNFINISHED)
      assert_int_equal(status, TESELA_E_INVALID);
    else if (status != TESELA_OK || answer.verdict != TESELA_IMPOSSIBLE || answer.reason[0] == '\0')
      fail_msg("%d: %s", w, err.message);
  }
}

static void elements_of_the_core_have_1_to_1024_bits(void **state) {
  (void)state;
  tesela_register layout;
  tesela_layout core, untouched;
  OK(tesela_register_local(&layout, 1, (int64_t[]){4}, NULL, &e_));
  memset(&core, 0xA5, sizeof core);
  untouched = core;
  static const int32_t bits[] = {0, -1, 1025, INT32_MAX, INT32_MIN};
  for (int i = 0; i < 5; i++) {
    assert_int_equal(tesela_register_to_layout(&layout, TESELA_DTYPE_NONE, bits[i], &core, NULL),
                     TESELA_E_RANGE);
    assert_memory_equal(&core, &untouched, sizeof core);
  }
  OK(tesela_register_to_layout(&layout, TESELA_DTYPE_NONE, 1024, &core, &e_));
  assert_int_equal(core.bits, 1024);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(only_modes_come_back_from_the_core),
      cmocka_unit_test(elements_of_the_core_have_1_to_1024_bits),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
