/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_access.c - vectors, wavefronts and sectors of register tiles in memory: known answers and refusals.
 *
 * Expected numbers follow by hand from the definitions in access.h; random tiles are in test_access_random.c.
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

static tesela_register registers_of(const char *text) {
  tesela_register r;
  tesela_error err;
  if (tesela_register_parse(text, strlen(text), &r, &err) != TESELA_OK) fail_msg("%s: %s", text, err.message);
  return r;
}

static tesela_tile_memory memory_of(const char *text) {
  tesela_tile_memory m;
  tesela_error err;
  if (tesela_tile_memory_parse(text, strlen(text), &m, &err) != TESELA_OK)
    fail_msg("%s: %s", text, err.message);
  return m;
}

#define PITCH_33 "SharedLayout(shape=[32, 32], mode_shape=[32, 32], mode_strides=[33, 1])"
#define XOR_32                                                                                               \
  "SharedLayout(shape=[32, 32], mode_shape=[32, 32], mode_strides=[32, 1], swizzle=Swizzle(base=0, bits=5, " \
  "shift=5))"

/* ---- vectors ------------------------------------------------------------------------------------------------------ */

static void vectors_are_as_wide_as_runs_and_alignment_allow(void **state) {
  (void)state;
  static const struct {
    const char *name, *registers, *memory;
    int32_t bits;
    tesela_vector_width width;
  } rows[] = {
      {"the example of the header",
       "local(2,1).spatial(8,4).local(1,4)",
       "shared_row_major(16,16)",
       16,
       {4, 8, 2, 1, 4}},
      {"16 bytes at most", "spatial(8,1).local(1,32)", "shared_row_major(8,32)", 32, {4, 16, 8, 1, 4}},
      {"columns run in a column-major tile",
       "spatial(1,8).local(32,1)",
       "shared_column_major(32,8)",
       16,
       {8, 16, 4, 0, 8}},
      {"columns do not run in a row-major tile",
       "spatial(1,8).local(32,1)",
       "shared_row_major(32,8)",
       16,
       {1, 2, 32, -1, 1}},
      {"a pitch of 33 leaves single elements", "spatial(32,1).local(1,32)", PITCH_33, 32, {1, 4, 32, -1, 1}},
      {"a swizzle of single elements too", "spatial(32,1).local(1,32)", XOR_32, 32, {1, 4, 32, -1, 4}},
      {"a swizzle of 16 bytes leaves vectors",
       "spatial(8,8).local(8,8)",
       "shared_row_major_swizzle(64,64,nbytes=2)",
       16,
       {8, 16, 8, 1, 8}},
      {"two dims in one vector", "spatial(4,1).local(2,2)", "shared_row_major(8,2)", 16, {4, 8, 1, -1, 4}},
      {"half a digit", "spatial(4,1).local(1,6)", "shared_row_major(4,6)", 16, {2, 4, 3, 1, 2}},
      {"4 bits go in pairs and more",
       "spatial(4,1).local(1,16)",
       "shared_row_major(4,16)",
       4,
       {16, 8, 1, 1, 16}},
      {"single elements of 4 bits do not go",
       "spatial(4,4).local(4,1)",
       "shared_row_major(16,4)",
       4,
       {1, 0, 4, -1, 1}},
      {"3 bytes go alone", "spatial(4,1).local(1,8)", "shared_row_major(4,8)", 24, {1, 3, 8, -1, 1}},
      {"registers in another order, 32 bits",
       "column_local(2,4)",
       "shared_row_major(2,4)",
       32,
       {1, 4, 8, -1, 4}},
      {"registers in another order cannot split words",
       "column_local(2,4)",
       "shared_row_major(2,4)",
       16,
       {1, 2, 8, -1, 1}},
      {"words in another order",
       "local(1,4).local(2,1).local(1,2)",
       "shared_row_major(2,8)",
       16,
       {2, 4, 8, 1, 8}},
      {"runs of 3 are no vectors", "local(1,3).spatial(4,1)", "shared_row_major(4,3)", 32, {1, 4, 3, -1, 1}},
      {"two registers of one place each",
       "column_local(2,2)",
       "SharedLayout(shape=[2, 2], mode_shape=[2, 2], mode_strides=[0, 1])",
       32,
       {1, 4, 4, -1, 2}},
      {"rank 0", "spatial()", "shared_row_major()", 64, {1, 8, 1, -1, 1}},
  };
  for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
    tesela_register r = registers_of(rows[i].registers);
    tesela_tile_memory m = memory_of(rows[i].memory);
    tesela_vector_width w;
    tesela_error err;
    if (tesela_vector_width_of(&r, &m, rows[i].bits, NULL, &w, &err) != TESELA_OK)
      fail_msg("%s: %s", rows[i].name, err.message);
    const tesela_vector_width *e = &rows[i].width;
    if (w.elements != e->elements || w.bytes != e->bytes || w.per_thread != e->per_thread ||
        w.dim != e->dim || w.renamed_elements != e->renamed_elements)
      fail_msg("%s: %" PRId64 " elements, %d bytes, %" PRId64 " a thread, dim %d, renamed %" PRId64,
               rows[i].name, w.elements, w.bytes, w.per_thread, w.dim, w.renamed_elements);
  }
}

/* Digits 2, 3 of the local id over modes 3, 2 with strides 4, 1: places 0 1 4 5 8 9 in this order. */
static void vectors_go_along_dims_that_do_not_refine(void **state) {
  (void)state;
  tesela_register r;
  tesela_tile_memory m;
  tesela_vector_width w;
  assert_int_equal(tesela_register_make_raw(&r, 1, (int64_t[]){6}, 2, (int64_t[]){2, 3}, 0, NULL, 2,
                                            (int64_t[]){0, 1}, NULL),
                   TESELA_OK);
  assert_int_equal(tesela_tile_memory_make(&m, TESELA_TILE_SHARED, 1, (int64_t[]){6}, 2, (int64_t[]){3, 2},
                                           (int64_t[]){4, 1}, 0, NULL, NULL),
                   TESELA_OK);
  assert_int_equal(tesela_vector_width_of(&r, &m, 32, NULL, &w, NULL), TESELA_OK);
  assert_int_equal(w.elements, 2);
  assert_int_equal(w.renamed_elements, 2);
  assert_int_equal(w.dim, 0);
}

/* ---- shared memory -------------------------------------------------------------------------------------------------- */

static void conflicts_are_what_banks_say(void **state) {
  (void)state;
  static const struct {
    const char *name, *registers, *memory;
    int32_t bits;
    int64_t vector;
    tesela_access_machine machine;
    int64_t instructions, phases, wavefronts, worst;
  } rows[] = {
      {"rows of 32 words", "spatial(1,32).local(32,1)", "shared_row_major(32,32)", 32, 1, {0}, 32, 32, 32, 1},
      {"columns: all lanes in one bank",
       "spatial(32,1).local(1,32)",
       "shared_row_major(32,32)",
       32,
       1,
       {0},
       32,
       32,
       1024,
       32},
      {"columns, a pitch of 33", "spatial(32,1).local(1,32)", PITCH_33, 32, 1, {0}, 32, 32, 32, 1},
      {"rows, a pitch of 33", "spatial(1,32).local(32,1)", PITCH_33, 32, 1, {0}, 32, 32, 32, 1},
      {"columns, swizzled", "spatial(32,1).local(1,32)", XOR_32, 32, 1, {0}, 32, 32, 32, 1},
      {"rows, swizzled", "spatial(1,32).local(32,1)", XOR_32, 32, 1, {0}, 32, 32, 32, 1},
      {"16 bytes a lane, consecutive",
       "spatial(4,8).local(1,4)",
       "shared_row_major(4,32)",
       32,
       4,
       {0},
       1,
       4,
       4,
       1},
      {"16 bytes a lane, each lane a row",
       "spatial(32,1).local(1,32)",
       "shared_row_major(32,32)",
       32,
       4,
       {0},
       8,
       32,
       256,
       8},
      {"8 bytes a lane, each lane a row of 8",
       "spatial(32,1).local(1,2)",
       "shared_row_major(32,2)",
       32,
       2,
       {0},
       1,
       2,
       2,
       1},
      {"16 bytes of f16 rows of 64, stored",
       "local(4,1).spatial(16,8).local(1,8)",
       "shared_row_major(64,64)",
       16,
       8,
       {0},
       16,
       64,
       64,
       1},
      {"the same, swizzled",
       "local(4,1).spatial(16,8).local(1,8)",
       "shared_row_major_swizzle(64,64,nbytes=2)",
       16,
       8,
       {0},
       16,
       64,
       64,
       1},
      {"one word for all", "replicated(1,1,num_workers=32)", "shared_row_major(1,1)", 32, 1, {0}, 1, 1, 1, 1},
      {"two halves of a word are one", "spatial(1,32)", "shared_row_major(1,32)", 16, 1, {0}, 1, 1, 1, 1},
      {"bytes of 32 rows of 4 are 32 words",
       "spatial(32,1).local(1,4)",
       "shared_row_major(32,4)",
       8,
       1,
       {0},
       4,
       4,
       4,
       1},
      {"bytes of 32 rows of 8: two words a bank",
       "spatial(32,1).local(1,8)",
       "shared_row_major(32,8)",
       8,
       1,
       {0},
       8,
       8,
       16,
       2},
      {"a last warp of 8 threads", "spatial(40).local(1)", "shared_row_major(40)", 32, 1, {0}, 2, 2, 2, 1},
      {"12 bytes: 10 lanes a phase", "spatial(32)", "shared_row_major(32)", 96, 1, {0}, 1, 4, 4, 1},
      {"8 banks: 8 lanes a phase",
       "spatial(32,1).local(1,8)",
       "shared_row_major(32,8)",
       32,
       1,
       {.banks = 8},
       8,
       32,
       256,
       8},
      {"a warp of 64, 64 banks",
       "spatial(64,1).local(1,64)",
       "shared_row_major(64,64)",
       32,
       1,
       {.warp = 64, .banks = 64},
       64,
       64,
       4096,
       64},
      {"a vector wider than all banks",
       "spatial(4,1).local(1,4)",
       "shared_row_major(4,4)",
       32,
       4,
       {.banks = 2},
       1,
       4,
       8,
       2},
      {"0 is the widest", "spatial(4,8).local(1,4)", "shared_row_major(4,32)", 32, 0, {0}, 1, 4, 4, 1},
  };
  for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
    tesela_register r = registers_of(rows[i].registers);
    tesela_tile_memory m = memory_of(rows[i].memory);
    tesela_access_cost c;
    tesela_error err;
    if (tesela_access_cost_of(&r, &m, rows[i].bits, rows[i].vector, &rows[i].machine, &c, &err) != TESELA_OK)
      fail_msg("%s: %s", rows[i].name, err.message);
    if (c.instructions != rows[i].instructions || c.phases != rows[i].phases ||
        c.wavefronts != rows[i].wavefronts || c.worst != rows[i].worst ||
        c.conflicts != c.wavefronts - c.phases)
      fail_msg("%s: %" PRId64 " instructions, %" PRId64 " phases, %" PRId64 " wavefronts, worst %" PRId64,
               rows[i].name, c.instructions, c.phases, c.wavefronts, c.worst);
  }
}

/* ---- global memory -------------------------------------------------------------------------------------------------- */

static void sectors_and_lines_are_those_touched(void **state) {
  (void)state;
  static const struct {
    const char *name, *registers, *memory;
    int32_t bits;
    int64_t vector, sectors, least_sectors, lines;
  } rows[] = {
      {"32 words in a row", "spatial(1,32).local(4,1)", "global_row_major(4,32)", 32, 1, 16, 16, 4},
      {"a column of words: a sector each", "spatial(32,1).local(1,32)", "global_row_major(32,32)", 32, 1,
       1024, 128, 1024},
      {"16 bytes a lane", "spatial(4,8).local(1,4)", "global_row_major(4,32)", 32, 4, 16, 16, 4},
      {"one word for all", "replicated(1,1,num_workers=32)", "global_row_major(1,1)", 32, 1, 1, 1, 1},
      {"rows of 40 bytes cross sectors", "spatial(8,1).local(1,10)",
       "global_strides(shape=[8,10], strides=[10,1])", 32, 2, 40, 10, 15},
  };
  for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
    tesela_register r = registers_of(rows[i].registers);
    tesela_tile_memory m = memory_of(rows[i].memory);
    tesela_access_cost c;
    tesela_error err;
    if (tesela_access_cost_of(&r, &m, rows[i].bits, rows[i].vector, NULL, &c, &err) != TESELA_OK)
      fail_msg("%s: %s", rows[i].name, err.message);
    if (c.sectors != rows[i].sectors || c.least_sectors != rows[i].least_sectors || c.lines != rows[i].lines)
      fail_msg("%s: %" PRId64 " sectors, %" PRId64 " at least, %" PRId64 " lines", rows[i].name, c.sectors,
               c.least_sectors, c.lines);
  }
}

/* ---- refusals ------------------------------------------------------------------------------------------------------- */

static void refusals_say_what_where_and_leave_outputs(void **state) {
  (void)state;
  static const struct {
    const char *name, *registers, *memory;
    int32_t bits;
    int64_t vector;
    tesela_access_machine machine;
    tesela_status status;
    const char *message; /* a part of it */
  } rows[] = {
      {"another shape", "spatial(4,8)", "shared_row_major(8,4)", 32, 1, {0}, TESELA_E_MISMATCH, "dim 0 is 4"},
      {"another rank", "spatial(32)", "shared_row_major(8,4)", 32, 1, {0}, TESELA_E_MISMATCH, "rank 1"},
      {"0 bits", "spatial(32)", "shared_row_major(32)", 0, 1, {0}, TESELA_E_RANGE, "0 bits"},
      {"129 bits", "spatial(32)", "shared_row_major(32)", 129, 1, {0}, TESELA_E_RANGE, "129 bits"},
      {"a vector below 0", "spatial(32)", "shared_row_major(32)", 32, -1, {0}, TESELA_E_RANGE, "-1"},
      {"more than the registers",
       "spatial(32)",
       "shared_row_major(32)",
       32,
       2,
       {0},
       TESELA_E_INVALID,
       "2 elements"},
      {"3 elements",
       "spatial(4,1).local(1,6)",
       "shared_row_major(4,6)",
       32,
       3,
       {0},
       TESELA_E_INVALID,
       "3 elements"},
      {"32 bytes",
       "spatial(4,1).local(1,8)",
       "shared_row_major(4,8)",
       32,
       8,
       {0},
       TESELA_E_INVALID,
       "16 bytes"},
      {"half a byte",
       "spatial(4,1).local(1,8)",
       "shared_row_major(4,8)",
       4,
       1,
       {0},
       TESELA_E_INVALID,
       "whole bytes"},
      {"6 bits", "spatial(4,1).local(1,8)", "shared_row_major(4,8)", 6, 0, {0}, TESELA_E_INVALID, "6 bits"},
      {"misaligned from thread 1 on",
       "spatial(32,1).local(1,32)",
       PITCH_33,
       32,
       4,
       {0},
       TESELA_E_INVALID,
       "thread 1 has local id 0"},
      {"not in a row",
       "spatial(4,1).local(1,4)",
       "shared_column_major(4,4)",
       32,
       2,
       {0},
       TESELA_E_INVALID,
       "thread 0 has local id 1"},
      {"2^25 registers",
       "local(8192,4096)",
       "shared_row_major(8192,4096)",
       32,
       1,
       {0},
       TESELA_E_LIMIT,
       "33554432 registers"},
      {"a warp of 65", "spatial(32)", "shared_row_major(32)", 32, 1, {.warp = 65}, TESELA_E_RANGE, "warp"},
      {"3 banks", "spatial(32)", "shared_row_major(32)", 32, 1, {.banks = 3}, TESELA_E_RANGE, "banks"},
      {"256 banks", "spatial(32)", "shared_row_major(32)", 32, 1, {.banks = 256}, TESELA_E_RANGE, "banks"},
      {"sectors of 33",
       "spatial(32)",
       "shared_row_major(32)",
       32,
       1,
       {.sector_bytes = 33},
       TESELA_E_RANGE,
       "sector_bytes"},
      {"vectors of 128",
       "spatial(32)",
       "shared_row_major(32)",
       32,
       1,
       {.max_vector_bytes = 128},
       TESELA_E_RANGE,
       "max_vector_bytes"},
  };
  for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
    tesela_register r = registers_of(rows[i].registers);
    tesela_tile_memory m = memory_of(rows[i].memory);
    tesela_access_cost c, before;
    tesela_error err = {.message = ""};
    memset(&c, 7, sizeof c);
    before = c;
    tesela_status status =
        tesela_access_cost_of(&r, &m, rows[i].bits, rows[i].vector, &rows[i].machine, &c, &err);
    if (status != rows[i].status || !strstr(err.message, rows[i].message) ||
        memcmp(&c, &before, sizeof c) != 0)
      fail_msg("%s: %d, \"%s\"", rows[i].name, (int)status, err.message);
    assert_int_equal(tesela_access_cost_of(&r, &m, rows[i].bits, rows[i].vector, &rows[i].machine, &c, NULL),
                     status);
  }
  tesela_register r = registers_of("spatial(32)");
  tesela_tile_memory m = memory_of("shared_row_major(32)");
  tesela_access_cost c;
  m.size = INT64_MAX / 16;
  assert_int_equal(tesela_access_cost_of(&r, &m, 32, 1, NULL, &c, NULL), TESELA_E_OVERFLOW);
}

static void banks_of_a_phase_are_told(void **state) {
  (void)state;
  tesela_register r = registers_of("spatial(32,1).local(1,32)");
  tesela_tile_memory m = memory_of("shared_row_major(32,32)");
  int32_t words[33];
  for (int b = 0; b < 33; b++) words[b] = -1;
  assert_int_equal(tesela_access_banks(&r, &m, 32, 1, NULL, 0, 5, 0, 33, words, NULL), TESELA_OK);
  for (int b = 0; b < 32; b++) assert_int_equal(words[b], b == 5 ? 32 : 0);
  assert_int_equal(words[32], -1);
  static const struct {
    int64_t warp, instruction, phase;
    int32_t n;
  } bad[] = {{1, 0, 0, 32}, {-1, 0, 0, 32}, {0, 32, 0, 32}, {0, 0, 1, 32}, {0, 0, -1, 32}, {0, 0, 0, 31}};
  for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
    words[0] = 77;
    assert_int_equal(tesela_access_banks(&r, &m, 32, 1, NULL, bad[i].warp, bad[i].instruction, bad[i].phase,
                                         bad[i].n, words, NULL),
                     TESELA_E_RANGE);
    assert_int_equal(words[0], 77);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(vectors_are_as_wide_as_runs_and_alignment_allow),
      cmocka_unit_test(vectors_go_along_dims_that_do_not_refine),
      cmocka_unit_test(conflicts_are_what_banks_say),
      cmocka_unit_test(sectors_and_lines_are_those_touched),
      cmocka_unit_test(refusals_say_what_where_and_leave_outputs),
      cmocka_unit_test(banks_of_a_phase_are_told),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
