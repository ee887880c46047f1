/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_access_synthesize.c - is the layout that tesela_synthesize finds the best of its family?
 *
 * The oracle makes every member of the family, lays the tile out by it place by place, and counts; chosen layout, counts
 * and the number of candidates must be the same. Known answers follow by hand. TESELA_SEED sets the seed.
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

#include "support_access.h"

static tesela_register registers_of(const char *text) {
  tesela_register r;
  tesela_error err;
  if (tesela_register_parse(text, strlen(text), &r, &err) != TESELA_OK) fail_msg("%s: %s", text, err.message);
  return r;
}

/* ---- known answers ---------------------------------------------------------------------------------------------- */

static void known_tiles_get_the_layouts_people_use(void **state) {
  (void)state;
  static const struct {
    const char *name, *write, *read;
    bool ldmatrix;
    int32_t bits;
    int64_t vector, max_bytes, wavefronts, least, plain, instructions;
    tesela_tile_swizzle swizzle;
    int64_t size;
  } rows[] = {
      {"one use, rows: plain",
       "spatial(1,32).local(32,1)",
       NULL,
       false,
       32,
       1,
       0,
       32,
       32,
       32,
       32,
       {0, 0, 0},
       1024},
      {"one use, columns: plain column-major",
       "spatial(32,1).local(1,32)",
       NULL,
       false,
       32,
       1,
       0,
       32,
       32,
       1024,
       32,
       {0, 0, 0},
       1024},
      {"transpose of f32 through a swizzle of 5 bits",
       "spatial(1,32).local(32,1)",
       "spatial(32,1).local(1,32)",
       false,
       32,
       1,
       0,
       64,
       64,
       32 + 1024,
       64,
       {0, 5, 5},
       1024},
      {"transpose of 33x33: pitch 33 has no conflicts",
       "spatial(1,33).local(33,1)",
       "spatial(33,1).local(1,33)",
       false,
       32,
       1,
       0,
       132,
       132,
       132,
       132,
       {0, 0, 0},
       33 * 33},
      {"transpose of 24x32: a swizzle though 24 is no power of two",
       "spatial(1,32).local(24,1)",
       "spatial(24,1).local(1,32)",
       false,
       32,
       1,
       0,
       56,
       56,
       24 + 32 * 24,
       56,
       {0, 5, 5},
       768},
      {"ldmatrix of 64x64 f16, stores of 16 bytes: Swizzle(3,3,3)",
       "local(4,1).spatial(16,8).local(1,8)",
       "local(8,8).spatial(8,4).local(1,2)",
       true,
       16,
       0,
       0,
       128,
       128,
       64 + 512,
       16 + 16,
       {3, 3, 3},
       4096},
  };
  for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
    tesela_register write = registers_of(rows[i].write),
                    read = registers_of(rows[i].read ? rows[i].read : rows[i].write);
    tesela_access_use uses[2] = {{&write, rows[i].vector, false, 0},
                                 {&read, rows[i].vector, rows[i].ldmatrix, 1}};
    tesela_synthesis s;
    tesela_error err;
    if (tesela_synthesize(rows[i].read ? 2 : 1, uses, rows[i].bits,
                          &(tesela_synthesis_options){.max_bytes = rows[i].max_bytes}, NULL, &s,
                          &err) != TESELA_OK)
      fail_msg("%s: %s", rows[i].name, err.message);
    const tesela_tile_swizzle *z = &s.memory.swizzle;
    if (s.wavefronts != rows[i].wavefronts || s.least != rows[i].least || s.plain != rows[i].plain ||
        s.instructions != rows[i].instructions || z->base != rows[i].swizzle.base ||
        z->bits != rows[i].swizzle.bits || z->shift != rows[i].swizzle.shift || s.memory.size != rows[i].size)
      fail_msg("%s: %" PRId64 " wavefronts, least %" PRId64 ", plain %" PRId64 ", %" PRId64
               " instructions, swizzle (%d,%d,%d), size %" PRId64,
               rows[i].name, s.wavefronts, s.least, s.plain, s.instructions, z->base, z->bits, z->shift,
               s.memory.size);
  }
}

static void what_exceeds_all_banks_takes_several_wavefronts(void **state) {
  (void)state;
  tesela_register r = registers_of("spatial(8,4).local(1,2)");
  tesela_access_use use = {&r, 0, true, 3};
  tesela_synthesis s; /* 128 bytes, 8 banks of 4 bytes: 4 wavefronts */
  assert_int_equal(tesela_synthesize(1, &use, 16, NULL, &(tesela_access_machine){.banks = 8}, &s, NULL),
                   TESELA_OK);
  assert_int_equal(s.least, 12);
  assert_int_equal(s.wavefronts, 12);
  assert_int_equal(s.instructions, 3);
  r = registers_of("spatial(4,1).local(1,4)"); /* vectors of 16 bytes, 2 banks: 2 wavefronts each */
  use = (tesela_access_use){&r, 4, false, 0};
  assert_int_equal(tesela_synthesize(1, &use, 32, NULL, &(tesela_access_machine){.banks = 2}, &s, NULL),
                   TESELA_OK);
  assert_int_equal(s.least, 8);
  assert_int_equal(s.wavefronts, 8);
}

static void refusals_of_a_search(void **state) {
  (void)state;
  tesela_register r = registers_of("spatial(4,8).local(1,4)"),
                  other = registers_of("spatial(8,4).local(1,4)");
  tesela_register large = registers_of("local(4096,4097)");
  tesela_synthesis s = {.wavefronts = 77};
  tesela_error err;
  tesela_access_use one = {&r, 0, false, 0}, below = {&r, -1, false, 0}, weight = {&r, 0, false, -1},
                    heavy = {&r, 0, false, INT64_MAX / 2}, wide = {&r, 8, false, 0},
                    three = {&r, 3, false, 0}, huge = {&large, 0, false, 0};
  tesela_access_use mixed[2] = {one, {&other, 0, false, 0}};
  assert_int_equal(tesela_synthesize(0, &one, 32, NULL, NULL, &s, NULL), TESELA_E_RANGE);
  assert_int_equal(tesela_synthesize(1, &below, 32, NULL, NULL, &s, NULL), TESELA_E_RANGE);
  assert_int_equal(tesela_synthesize(1, &weight, 32, NULL, NULL, &s, NULL), TESELA_E_RANGE);
  assert_int_equal(tesela_synthesize(1, &heavy, 32, NULL, NULL, &s, NULL), TESELA_E_OVERFLOW);
  assert_int_equal(tesela_synthesize(1, &one, 0, NULL, NULL, &s, NULL), TESELA_E_RANGE);
  assert_int_equal(tesela_synthesize(1, &one, 129, NULL, NULL, &s, NULL), TESELA_E_RANGE);
  assert_int_equal(
      tesela_synthesize(1, &one, 32, &(tesela_synthesis_options){.max_bytes = -1}, NULL, &s, NULL),
      TESELA_E_RANGE);
  assert_int_equal(
      tesela_synthesize(1, &one, 32, &(tesela_synthesis_options){.max_bytes = 511}, NULL, &s, NULL),
      TESELA_E_LIMIT);
  assert_int_equal(tesela_synthesize(1, &huge, 32, NULL, NULL, &s, NULL), TESELA_E_LIMIT);
  assert_int_equal(tesela_synthesize(2, mixed, 32, NULL, NULL, &s, &err), TESELA_E_MISMATCH);
  assert_non_null(strstr(err.message, "in use 1 and"));
  assert_int_equal(tesela_synthesize(1, &wide, 32, NULL, NULL, &s, NULL), TESELA_E_INVALID);
  assert_int_equal(tesela_synthesize(1, &three, 32, NULL, NULL, &s, NULL), TESELA_E_INVALID);
  assert_int_equal(tesela_synthesize(1, &one, 6, NULL, NULL, &s, NULL), TESELA_E_INVALID);
  assert_int_equal(tesela_synthesize(1, &one, 32, NULL, &(tesela_access_machine){.banks = 5}, &s, NULL),
                   TESELA_E_RANGE);
  assert_int_equal(s.wavefronts, 77);
  assert_int_equal(
      tesela_synthesize(1, &one, 32, &(tesela_synthesis_options){.max_bytes = 512}, NULL, &s, NULL),
      TESELA_OK);
  assert_int_equal(s.memory.size, 128);
}

/* What cannot be told from one phase: no extent is a power of two, and the swizzle of a tile that has one is not alike. A search
 * that is given up says so, and more steps bring it to the same end as the default ones. */
static void a_search_is_given_up(void **state) {
  (void)state;
  tesela_register r[2] = {registers_of("spatial(6,1).local(1,60)"), registers_of("local(6,2).spatial(1,30)")};
  tesela_access_use uses[2] = {{&r[0], 0, false, 0}, {&r[1], 0, false, 0}};
  tesela_synthesis s, limited;
  tesela_error err;
  tesela_synthesis_options options = {.max_steps = 1};
  assert_int_equal(tesela_synthesize(2, uses, 8, NULL, NULL, &s, NULL), TESELA_OK);
  limited = s;
  for (; tesela_synthesize(2, uses, 8, &options, NULL, &s, &err) != TESELA_OK; options.max_steps *= 2) {
    char says[80];
    assert_int_equal(err.status, TESELA_E_LIMIT);
    snprintf(says, sizeof says, "2 uses of 360 elements needs more steps");
    if (!strstr(err.message, says)) fail_msg("%s, not: %s", err.message, says);
    snprintf(says, sizeof says, "max_steps, %" PRId64, options.max_steps);
    if (!strstr(err.message, says)) fail_msg("%s, not: %s", err.message, says);
  }
  assert_true(options.max_steps > 64 * s.candidates && options.max_steps < TESELA_SYNTHESIS_STEPS);
  bool same = false;
  assert_int_equal(tesela_tile_memory_same(&s.memory, &limited.memory, &same, NULL), TESELA_OK);
  assert_true(same && s.wavefronts == limited.wavefronts && s.instructions == limited.instructions);
  assert_true(s.least == limited.least && s.plain == limited.plain && s.candidates == limited.candidates);
  options.max_steps = -1;
  assert_int_equal(tesela_synthesize(2, uses, 8, &options, NULL, &s, NULL), TESELA_E_RANGE);
}

/* ---- against the whole family ------------------------------------------------------------------------------------ */

static void compare(const char *name, int32_t n, const tesela_access_use *uses, int32_t bits,
                    int64_t max_bytes, const tesela_access_machine *machine) {
  tesela_synthesis s, e;
  tesela_error err;
  tesela_status status = tesela_synthesize(n, uses, bits, &(tesela_synthesis_options){.max_bytes = max_bytes},
                                           machine, &s, &err);
  bool found = access_oracle_synthesize(n, uses, bits, max_bytes, machine, &e);
  if (!found) {
    if (status != TESELA_E_INVALID) fail_msg("%s: %d, but no candidate does", name, (int)status);
    return;
  }
  if (status != TESELA_OK) fail_msg("%s: %s", name, err.message);
  if (s.wavefronts != e.wavefronts || s.instructions != e.instructions || s.plain != e.plain ||
      s.candidates != e.candidates)
    fail_msg("%s: %" PRId64 " wavefronts, %" PRId64 " instructions, plain %" PRId64 ", %" PRId64
             " candidates; expected %" PRId64 ", %" PRId64 ", %" PRId64 ", %" PRId64,
             name, s.wavefronts, s.instructions, s.plain, s.candidates, e.wavefronts, e.instructions, e.plain,
             e.candidates);
  if (s.least > s.wavefronts) fail_msg("%s: least %" PRId64 " of %" PRId64, name, s.least, s.wavefronts);
  const tesela_tile_swizzle *a = &s.memory.swizzle, *b = &e.memory.swizzle;
  if (s.memory.size != e.memory.size || a->bits != b->bits || a->base != b->base || a->shift != b->shift)
    fail_msg("%s: size %" PRId64 ", swizzle (%d,%d,%d); expected %" PRId64 ", (%d,%d,%d)", name,
             s.memory.size, a->base, a->bits, a->shift, e.memory.size, b->base, b->bits, b->shift);
  for (int64_t t = 0; t < uses[0].registers->spatial_size; t++)
    for (int64_t l = 0; l < uses[0].registers->local_size; l++) {
      int64_t index[TESELA_MAX_RANK];
      access_oracle_index(uses[0].registers, t, l, index);
      int64_t place = access_oracle_place(&s.memory, index);
      assert_int_equal(place, access_oracle_place(&e.memory, index));
      assert_true(place < s.memory.size);
    }
}

static const tesela_access_machine machines[] = {{32, 32, 4, 32, 128, 16, {0}},
                                                 {32, 8, 4, 32, 128, 16, {0}},
                                                 {8, 8, 4, 32, 128, 16, {0}},
                                                 {64, 32, 4, 32, 128, 16, {0}},
                                                 {12, 16, 2, 8, 32, 8, {0}}};

static void usual_tiles_agree_with_the_family(void **state) {
  (void)state;
  static const struct {
    const char *name, *write, *read;
    int32_t bits;
    int64_t vector;
    bool ldmatrix;
  } rows[] = {
      {"32x32 f32 transpose", "spatial(1,32).local(32,1)", "spatial(32,1).local(1,32)", 32, 1, false},
      {"32x32 f32 transpose, widest", "spatial(1,32).local(32,1)", "spatial(32,1).local(1,32)", 32, 0, false},
      {"32x32 f16 transpose of vectors", "spatial(8,4).local(4,8)", "spatial(4,8).local(8,4)", 16, 0, false},
      {"16x32 f16, ldmatrix", "spatial(8,4).local(2,8)", "local(2,4).spatial(8,4).local(1,2)", 16, 0, true},
      {"32x32 f16, ldmatrix transposed", "spatial(8,4).local(4,8)",
       "local(4,4).column_spatial(4,8).local(2,1)", 16, 0, true},
      {"16x32 bytes, ldmatrix", "spatial(16,2).local(1,16)", "local(2,2).spatial(8,4).local(1,4)", 8, 0,
       true},
      {"12x20 f32", "spatial(12,5).local(1,4)", "spatial(4,20).local(3,1)", 32, 0, false},
      {"24x24 f16", "spatial(24,3).local(1,8)", "spatial(3,24).local(8,1)", 16, 0, false},
      {"rank 3", "spatial(2,4,4).local(1,1,2)", "spatial(2,1,8).local(1,4,1)", 32, 0, false},
      {"3 bytes", "spatial(8,4).local(2,4)", "spatial(4,8).local(4,2)", 24, 0, false},
      {"8x96 f32, rows in blocks", "spatial(1,32).local(8,3)", "spatial(8,4).local(1,24)", 32, 0, false},
      {"16x192 f16, ldmatrix", "spatial(2,24).local(8,8)", "local(2,24).spatial(8,4).local(1,2)", 16, 0,
       true},
      {"4 bits", "spatial(16,2).local(1,8)", "spatial(8,4).local(2,4)", 4, 0, false},
  };
  for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++)
    for (size_t k = 0; k < 3; k++) {
      tesela_register write = registers_of(rows[i].write), read = registers_of(rows[i].read);
      if (write.shape[0] != read.shape[0] || write.shape[1] != read.shape[1])
        fail_msg("%s: shapes", rows[i].name);
      tesela_access_use uses[2] = {{&write, rows[i].vector, false, 1 + (int64_t)i % 3},
                                   {&read, rows[i].vector, rows[i].ldmatrix, 0}};
      compare(rows[i].name, 2, uses, rows[i].bits, 0, &machines[k]);
    }
}

static void random_uses_agree_with_the_family(void **state) {
  (void)state;
  static const int32_t widths[] = {32, 16, 8, 64, 4, 24, 128};
  access_random_start();
  for (int n = 0; n < 60; n++) {
    int64_t shape[4];
    char name[32];
    int32_t rank = access_random_shape(shape, 256, access_random(2)), bits = widths[access_random(7)];
    tesela_register r[2];
    tesela_access_use uses[2];
    int32_t n_uses = 1 + (int32_t)access_random(2);
    int64_t bytes = bits;
    for (int32_t d = 0; d < rank; d++) bytes *= shape[d];
    for (int i = 0; i < n_uses; i++) {
      access_random_registers(&r[i], rank, shape, 2);
      uses[i] = (tesela_access_use){&r[i], access_random(4) ? 0 : 1 << access_random(3), access_random(2),
                                    access_random(3)};
    }
    snprintf(name, sizeof name, "case %d", n);
    compare(name, n_uses, uses, bits, access_random(3) ? 0 : (bytes + 7) / 8 + access_random(40),
            &machines[access_random(5)]);
  }
}

/* shared_row_major_swizzle is a member of the family (banks of 128 bytes together), so never better than what is found. */
static void the_usual_swizzle_is_never_better(void **state) {
  (void)state;
  static const int64_t rows[] = {8, 16, 24}, columns[] = {8, 16, 24, 40, 48, 64, 72, 96, 128, 192};
  static const int32_t widths[] = {8, 16, 32};
  int equal = 0, better = 0;
  access_random_start();
  for (int n = 0; n < 300; n++) {
    int64_t shape[2] = {rows[access_random(3)], columns[access_random(10)]}, usual = 0;
    int32_t bits = widths[access_random(3)];
    tesela_tile_memory m;
    tesela_register r[2];
    tesela_access_use uses[2];
    tesela_synthesis s;
    if (tesela_tile_memory_swizzled(&m, 2, shape, bits / 8, NULL) != TESELA_OK) continue;
    for (int i = 0; i < 2; i++) {
      access_random_registers(&r[i], 2, shape, 1);
      uses[i] = (tesela_access_use){&r[i], 0, false, 0};
      int64_t wavefronts, instructions;
      assert_true(access_oracle_use(&uses[i], &m, bits, &machines[0], &wavefronts, &instructions));
      usual += wavefronts;
    }
    assert_int_equal(tesela_synthesize(2, uses, bits, NULL, NULL, &s, NULL), TESELA_OK);
    if (s.wavefronts > usual)
      fail_msg("case %d: %" PRId64 " wavefronts, %" PRId64 " by the usual one", n, s.wavefronts, usual);
    equal += s.wavefronts == usual;
    better += s.wavefronts < usual;
  }
  printf("%d equal, %d better\n", equal, better);
  assert_true(better > 20);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(known_tiles_get_the_layouts_people_use),
      cmocka_unit_test(what_exceeds_all_banks_takes_several_wavefronts),
      cmocka_unit_test(refusals_of_a_search),
      cmocka_unit_test(a_search_is_given_up),
      cmocka_unit_test(usual_tiles_agree_with_the_family),
      cmocka_unit_test(random_uses_agree_with_the_family),
      cmocka_unit_test(the_usual_swizzle_is_never_better),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
