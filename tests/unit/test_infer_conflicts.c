/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_infer_conflicts.c - the conflicts of a kernel, the tensors that stay unknown, and the messages, worked
 * out by hand from the rules of access.h.
 */
#include <inttypes.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>
#include <tesela/tesela.h>

#include "support_infer.h"

/* ---- conflicts --------------------------------------------------------------------------------------------------------- */

static const struct {
  const char *name, *text, *tensor, *other;
  bool is_result, have_index;
  int64_t line, thread, index[2];
  tesela_exchange_kind repair;
} conflicts[] = {
    /* thread t has row t and needs column t: of thread 0's registers (0,0) is there, (1,0) is not */
    {"a transposed copy",
     "threads 32\nregister a: f32[32, 32] = spatial(32, 1).local(1, 32)\n"
     "register b: f32[32, 32] = local(32, 1).spatial(1, 32)\n\ncopy b, a  # here\n",
     "a",
     "b",
     false,
     true,
     5,
     0,
     {1, 0},
     TESELA_EXCHANGE_SHUFFLE},
    {"a transposed copy of four warps",
     "threads 128\nregister a: f32[128, 128] = spatial(128, 1).local(1, 128)\n"
     "register b: f32[128, 128] = local(128, 1).spatial(1, 128)\ncopy b, a\n",
     "a",
     "b",
     false,
     true,
     4,
     0,
     {1, 0},
     TESELA_EXCHANGE_SHARED},
    {"a result that does not get there",
     "threads 32\nregister x: f32[4, 8] = spatial(4, 8)\nregister r: f32[4] = replicated(1, "
     "num_workers=8).spatial(4)\n"
     "reduce r, x dims=[1]\n",
     "r",
     "x",
     true,
     true,
     4,
     1,
     {1, 0},
     TESELA_EXCHANGE_SHUFFLE},
    /* warp 0 needs all rows and has the first 16 */
    {"A without its copies",
     "threads 64\nregister a: f16[32, 16] = spatial(2, 1) * mma.m16n8k16.f16.A\nregister b: f16[16, 16]\n"
     "register c: f32[32, 16] = local(2, 1).spatial(1, 2) * mma.m16n8k16.f16.C\ndot c, a, b\n",
     "a",
     "c",
     false,
     true,
     5,
     0,
     {16, 0},
     TESELA_EXCHANGE_SHARED},
    /* each lane has its elements, but tile (0,1) where tile (1,0) should be */
    {"A in another order of registers",
     "threads 32\nregister a: f16[16, 16] = local(2, 2).spatial(8, 4).local(1, 2)\nregister b: f16[16, 8]\n"
     "register d: f32[16, 8]\ndot d, a, b\n",
     "a",
     "d",
     false,
     false,
     5,
     0,
     {0, 0},
     TESELA_EXCHANGE_PERMUTE},
    {"a broadcast operand of another thread",
     "threads 4\nregister x: f32[4, 1] = spatial(4, 1)\nregister z: f32[4, 4] = local(4, 1).spatial(1, 4)\n"
     "elementwise z, x\n",
     "x",
     "z",
     false,
     true,
     4,
     0,
     {1, 0},
     TESELA_EXCHANGE_SHUFFLE},
    /* an accumulator by rows: lane 0 has (0,0) .. (0,3) and needs (0,0), (0,1), (8,0), (8,1) */
    {"an accumulator by rows",
     "threads 32\nregister a: f16[16, 16]\nregister b: f16[16, 8]\nregister c: f32[16, 8] = spatial(16, "
     "2).local(1, 4)\n"
     "register d: f32[16, 8] = mma.m16n8k16.f16.C\ndot d, a, b, c\n",
     "c",
     "d",
     false,
     true,
     6,
     0,
     {8, 0},
     TESELA_EXCHANGE_SHUFFLE},
};

static void conflicts_are_named(void **state) {
  (void)state;
  for (size_t i = 0; i < sizeof conflicts / sizeof conflicts[0]; i++) {
    tesela_error err = {.message = ""};
    const char *name = conflicts[i].name;
    tesela_kernel_program *program = infer_program(name, conflicts[i].text);
    assert_false(tesela_kernel_program_conflict(program)->found);
    if (tesela_kernel_program_infer(program, &err) != TESELA_E_INVALID ||
        err.reason != TESELA_REASON_CONFLICT)
      fail_msg("%s: %s", name, err.message);
    const tesela_kernel_conflict *conflict = tesela_kernel_program_conflict(program);
    if (!conflict->found || conflict->line != conflicts[i].line ||
        strcmp(conflict->tensor, conflicts[i].tensor) || strcmp(conflict->other, conflicts[i].other) ||
        conflict->is_result != conflicts[i].is_result)
      fail_msg("%s: line %" PRId64 ", %s, %s", name, conflict->line, conflict->tensor, conflict->other);
    if (conflict->have_index != conflicts[i].have_index) fail_msg("%s: index", name);
    if (conflict->have_index &&
        (conflict->thread != conflicts[i].thread || conflict->index[0] != conflicts[i].index[0] ||
         (conflict->needs.rank > 1 && conflict->index[1] != conflicts[i].index[1])))
      fail_msg("%s: thread %" PRId64 ", [%" PRId64 ", %" PRId64 "]", name, conflict->thread,
               conflict->index[0], conflict->index[1]);
    if (!conflict->repairable || conflict->repair.kind != conflicts[i].repair)
      fail_msg("%s: repair %d", name, (int)conflict->repair.kind);
    assert_memory_equal(conflicts[i].text + conflict->at, conflict->operation, strlen(conflict->operation));
    assert_int_equal(err.at, conflict->at);
    assert_true(strlen(conflict->why) > 0);
    assert_int_equal(tesela_kernel_program_infer(program, NULL), TESELA_E_INVALID); /* again */
    tesela_kernel_program_destroy(program);
  }
}

/* A conversion before the operation repairs each of them that is not a result. */
static void a_conversion_mends_a_conflict(void **state) {
  (void)state;
  static const char text[] =
      "threads 32\nregister a: f32[32, 32] = spatial(32, 1).local(1, 32)\n"
      "register a2: f32[32, 32]\nregister b: f32[32, 32] = local(32, 1).spatial(1, 32)\n"
      "convert a2, a\ncopy b, a2\n";
  tesela_kernel_program *program = infer_program("mended", text);
  assert_int_equal(tesela_kernel_program_infer(program, NULL), TESELA_OK);
  assert_true(
      tesela_register_same(infer_tensor(program, "a2").registers, infer_tensor(program, "b").registers));
  assert_false(tesela_kernel_program_conflict(program)->found);
  tesela_kernel_program_destroy(program);
}

/* ---- what stays unknown -------------------------------------------------------------------------------------------------- */

static void unknown_tensors_are_named(void **state) {
  (void)state;
  static const struct {
    const char *name, *text, *message;
    int64_t at;
  } unknown[] = {
      {"nothing touches it", "threads 32\nregister lonely: f32[4]\n",
       "line 2: no rule gives a layout to lonely; give "
       "one: = ...",
       20},
      {"two that only know each other",
       "threads 32\nregister x: f32[4, 4]\nregister k: f32[4] = replicated(4, num_workers=32)\nregister y: "
       "f32[4, 4]\n"
       "elementwise y, x\nelementwise y, k\n",
       "line 2: no rule gives a layout to x, y; give one: = ...", 20},
      {"no modes say the reshape: pairs of 12 elements as rows of 3",
       "threads 6\nregister x: f32[4, 3]\nregister t: f32[12] = spatial(6).local(2)\nreshape t, x\n",
       "line 2: no rule gives a layout to x; give one: = ...", 19},
      {"a reduction does not say what is reduced",
       "threads 4\nregister x: f32[4, 4]\nregister r: f32[4] = spatial(4)\nreduce r, x dims=[1]\n",
       "line 2: no rule gives a layout to x; give one: = ...", 19},
  };
  for (size_t i = 0; i < sizeof unknown / sizeof unknown[0]; i++) {
    tesela_error err = {.message = ""};
    tesela_kernel_program *program = infer_program(unknown[i].name, unknown[i].text);
    assert_int_equal(tesela_kernel_program_infer(program, &err), TESELA_E_UNSUPPORTED);
    assert_string_equal(err.message, unknown[i].message);
    assert_int_equal(err.at, unknown[i].at);
    tesela_kernel_program_destroy(program);
  }
}

/* ---- printing ---------------------------------------------------------------------------------------------------------------- */

static int stop(void *user, const char *text, size_t length) {
  (void)user, (void)text, (void)length;
  return 1;
}

static void the_table_says_everything(void **state) {
  (void)state;
  static const char text[] =
      "threads 32\nglobal g: f32[32, 32]\nregister a: f32[32, 32] = spatial(32, 1).local(1, 32)\n"
      "register b: f32[32, 32] = local(32, 1).spatial(1, 32)\n"
      "register c: f32[32, 32] = spatial(1, 32) * local(32, 1)\n"
      "register d: f32[2]\nconvert c, b\nload c, g\ncopy b, a\n";
  static const char expected[] =
      "tensor  space     type         rule                 layout\n"
      "g       global    f32[32, 32]  row-major (default)  global_row_major(32, 32)\n"
      "a       register  f32[32, 32]  given                spatial(32, 1).local(1, 32)\n"
      "b       register  f32[32, 32]  given                spatial(1, 32).local(32, 1)\n"
      "c       register  f32[32, 32]  given                spatial(1, 32).local(32, 1)\n"
      "d       register  f32[2]       no rule              ?\n"
      "line 7: convert c, b: nothing moves\n"
      "line 9: copy: the layout of a does not fit that of b: a thread computes its results from its own "
      "registers\n"
      "  it is in  spatial(32, 1).local(1, 32)\n"
      "  needed in spatial(1, 32).local(32, 1)\n"
      "  thread 0 lacks element [1, 0]\n"
      "  a convert would cost 31 shuffles of 32 bits\n";
  char printed[2000];
  tesela_kernel_program *program = infer_program("table", text);
  assert_int_equal(tesela_kernel_program_infer(program, NULL), TESELA_E_INVALID);
  tesela_buffer buffer = {printed, sizeof printed, 0};
  tesela_writer to = tesela_buffer_writer(&buffer);
  assert_int_equal(tesela_kernel_program_print(program, &to, NULL), TESELA_OK);
  assert_string_equal(printed, expected);
  assert_int_equal(tesela_kernel_program_print(program, &(tesela_writer){stop, NULL}, NULL),
                   TESELA_E_STOPPED);
  tesela_kernel_program_destroy(program);
}

/* What is printed of conversions: one of a thing in the singular, equal ones planned once, large ones not without end. */
static void conversions_are_counted(void **state) {
  (void)state;
  static const struct {
    const char *text, *end;
  } printed_rows[] = {
      /* of two lanes each has one of its two elements and takes the other in one round */
      {"threads 2\nregister a: s8[2, 2] = spatial(2, 1).local(1, 2)\n"
       "register b: s8[2, 2] = local(2, 1).spatial(1, 2)\nconvert b, a\n",
       "\nline 4: convert b, a: 1 shuffle of 8 bits\n"},
      /* 64 bits are two words, so two shuffles */
      {"threads 2\nregister a: f64[2, 2] = spatial(2, 1).local(1, 2)\n"
       "register b: f64[2, 2] = local(2, 1).spatial(1, 2)\nconvert b, a\n",
       "\nline 4: convert b, a: 2 shuffles of 32 bits\n"},
      /* 2^24 elements on each side: two plans are 2^26 registers */
      {"threads 1024\nregister a: f32[4096, 4096] = spatial(1024, 1).local(4, 4096)\n"
       "register b: f32[4096, 4096] = spatial(1024, 1).local(4, 4096)\n"
       "register c: f32[4096, 4096] = spatial(1024, 1).column_local(4, 4096)\n"
       "register d: f32[4096, 4096] = spatial(512, 2).local(8, 2048)\n"
       "convert b, a\nconvert a, a\nconvert b, c\nconvert d, a\nconvert a, b\n",
       " are large\nline 10: convert a, b: nothing moves\n"},
  };
  for (size_t i = 0; i < sizeof printed_rows / sizeof printed_rows[0]; i++) {
    static char printed[4000];
    tesela_kernel_program *program = infer_program("conversions", printed_rows[i].text);
    assert_int_equal(tesela_kernel_program_infer(program, NULL), TESELA_OK);
    tesela_buffer buffer = {printed, sizeof printed, 0};
    tesela_writer to = tesela_buffer_writer(&buffer);
    assert_int_equal(tesela_kernel_program_print(program, &to, NULL), TESELA_OK);
    size_t n = strlen(printed), end = strlen(printed_rows[i].end);
    if (n < end || strcmp(printed + n - end, printed_rows[i].end) != 0) fail_msg("%s", printed);
    tesela_kernel_program_destroy(program);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(conflicts_are_named),       cmocka_unit_test(a_conversion_mends_a_conflict),
      cmocka_unit_test(unknown_tensors_are_named), cmocka_unit_test(the_table_says_everything),
      cmocka_unit_test(conversions_are_counted),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
