/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_access_ldmatrix.c - plans for ldmatrix: when one exists, what it reads, what it costs, why none exists.
 *
 * Random tiles are compared with the oracle, which takes the registers apart lane by lane. TESELA_SEED
 * sets the seed.
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

#define SWIZZLED "shared_row_major_swizzle(64,64,nbytes=2)"
#define PADDED "SharedLayout(shape=[64, 64], mode_shape=[64, 64], mode_strides=[72, 1])"
#define PITCH_68 "SharedLayout(shape=[64, 64], mode_shape=[64, 64], mode_strides=[68, 1])"

static void plans_are_what_atoms_say(void **state) {
  (void)state;
  static const struct {
    const char *name, *registers, *memory;
    int32_t bits;
    bool applies, transposed;
    int32_t tiles, instructions;
    int64_t warps, phases, wavefronts;
    const char *why_not;
  } rows[] = {
      {"f16 64x64, one warp, plain: 8 ways", "local(8,8).spatial(8,4).local(1,2)", "shared_row_major(64,64)",
       16, true, false, 4, 16, 1, 64, 512, ""},
      {"swizzled: none", "local(8,8).spatial(8,4).local(1,2)", SWIZZLED, 16, true, false, 4, 16, 1, 64, 64,
       ""},
      {"padded by 16 bytes: none", "local(8,8).spatial(8,4).local(1,2)", PADDED, 16, true, false, 4, 16, 1,
       64, 64, ""},
      {"A of m16n8k16: x4", "column_local(2,2).spatial(8,4).local(1,2)", "shared_row_major(16,16)", 16, true,
       false, 4, 1, 1, 4, 8, ""},
      {"C of m16n8k16: x2", "local(2,1).spatial(8,4).local(1,2)", "shared_row_major(16,8)", 16, true, false,
       2, 1, 1, 2, 2, ""},
      {"three tiles: x1", "local(3,1).spatial(8,4).local(1,2)", "shared_row_major(24,8)", 16, true, false, 1,
       3, 1, 3, 3, ""},
      {"B of m16n8k16 from K x N: transposed", "local(2,1).column_spatial(4,8).local(2,1)",
       "shared_row_major(16,8)", 16, true, true, 2, 1, 1, 2, 2, ""},
      {"four warps", "spatial(4,1).local(2,8).spatial(8,4).local(1,2)", SWIZZLED, 16, true, false, 4, 4, 4,
       64, 64, ""},
      {"bytes", "local(2,2).spatial(8,4).local(1,4)", "shared_row_major(16,32)", 8, true, false, 4, 1, 1, 4,
       8, ""},
      {"words", "local(2,2).spatial(8,4)", "shared_row_major(16,8)", 32, true, false, 4, 1, 1, 4, 8, ""},
      {"replicated warps", "replicated(1,1,num_workers=2).local(2,1).spatial(8,4).local(1,2)",
       "shared_row_major(16,8)", 16, true, false, 2, 1, 2, 4, 4, ""},
      {"64 bits", "spatial(8,4)", "shared_row_major(8,4)", 64, false, false, 0, 0, 0, 0, 0,
       "elements of 64 bits"},
      {"rank 1", "spatial(32).local(2)", "shared_row_major(64)", 16, false, false, 0, 0, 0, 0, 0, "rank 1"},
      {"no multiple", "spatial(4,8).local(1,2)", "shared_row_major(4,16)", 16, false, false, 0, 0, 0, 0, 0,
       "spatial(8,4).local(1,2) or column_spatial"},
      {"rows that do not start at 16 bytes", "local(8,8).spatial(8,4).local(1,2)", PITCH_68, 16, false, false,
       0, 0, 0, 0, 0, "(1,0)"},
      {"columns", "local(8,8).spatial(8,4).local(1,2)", "shared_column_major(64,64)", 16, false, false, 0, 0,
       0, 0, 0, "(0,0)"},
      {"global memory", "spatial(8,4).local(1,2)", "global_row_major(8,8)", 16, false, false, 0, 0, 0, 0, 0,
       "global memory"},
  };
  for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
    tesela_register r;
    tesela_tile_memory m;
    tesela_ldmatrix p;
    tesela_error err;
    if (tesela_register_parse(rows[i].registers, strlen(rows[i].registers), &r, &err) != TESELA_OK ||
        tesela_tile_memory_parse(rows[i].memory, strlen(rows[i].memory), &m, &err) != TESELA_OK ||
        tesela_ldmatrix_of(&r, &m, rows[i].bits, &p, &err) != TESELA_OK)
      fail_msg("%s: %s", rows[i].name, err.message);
    if (p.applies != rows[i].applies || p.transposed != rows[i].transposed || p.tiles != rows[i].tiles ||
        p.instructions != rows[i].instructions || p.warps != rows[i].warps ||
        p.cost.phases != rows[i].phases || p.cost.wavefronts != rows[i].wavefronts ||
        !strstr(p.why_not, rows[i].why_not) || (p.applies && p.why_not[0] != '\0') ||
        p.cost.instructions != p.warps * p.instructions)
      fail_msg("%s: x%d, %d instructions, %" PRId64 " phases, %" PRId64 " wavefronts, \"%s\"", rows[i].name,
               p.tiles, p.instructions, p.cost.phases, p.cost.wavefronts, p.why_not);
  }
}

static void refusals_of_plans_and_places(void **state) {
  (void)state;
  tesela_register r;
  tesela_tile_memory m;
  tesela_ldmatrix p = {.applies = true, .warps = 77};
  int64_t place = -5;
  tesela_register_parse("local(2,1).spatial(8,4).local(1,2)", 34, &r, NULL);
  tesela_tile_memory_parse("shared_row_major(8,16)", 22, &m, NULL);
  assert_int_equal(tesela_ldmatrix_of(&r, &m, 16, &p, NULL), TESELA_E_MISMATCH);
  tesela_tile_memory_parse("shared_row_major(16,8)", 22, &m, NULL);
  assert_int_equal(tesela_ldmatrix_of(&r, &m, 0, &p, NULL), TESELA_E_RANGE);
  assert_int_equal(p.warps, 77);
  assert_int_equal(tesela_ldmatrix_of(&r, &m, 16, &p, NULL), TESELA_OK);
  static const struct {
    int64_t warp;
    int32_t k, lane;
  } bad[] = {{1, 0, 0}, {-1, 0, 0}, {0, 1, 0}, {0, -1, 0}, {0, 0, 32}, {0, 0, -1}};
  for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++)
    assert_int_equal(tesela_ldmatrix_place(&p, &m, bad[i].warp, bad[i].k, bad[i].lane, &place, NULL),
                     TESELA_E_RANGE);
  p.applies = false;
  assert_int_equal(tesela_ldmatrix_place(&p, &m, 0, 0, 0, &place, NULL), TESELA_E_INVALID);
  assert_int_equal(place, -5);
}

/* Random multiples of random atoms, sometimes with lanes in another order. */
static void random_registers(tesela_register *r, int32_t bits) {
  static const char *const atoms[] = {"spatial(8,4).local(1,4)", "spatial(8,4).local(1,2)", "spatial(8,4)",
                                      "column_spatial(4,8).local(2,1)"};
  static const int64_t extents[] = {1, 2, 3, 4};
  tesela_register outer, atom;
  int64_t shape[2] = {extents[access_random(4)], extents[access_random(4)]};
  const char *text = bits == 8 ? atoms[0] : bits == 32 ? atoms[2] : atoms[access_random(2) ? 1 : 3];
  if (access_random(10) == 0) text = atoms[access_random(4)];
  access_random_registers(&outer, 2, shape, 2);
  assert_int_equal(tesela_register_parse(text, strlen(text), &atom, NULL), TESELA_OK);
  assert_int_equal(tesela_register_compose(r, &outer, &atom, NULL), TESELA_OK);
}

static void random_memory(tesela_tile_memory *m, const int64_t *shape, int32_t bits) {
  static const int64_t pads[] = {0, 0, 16, 32, 48, 4, 80};
  int64_t pad = pads[access_random(7)] * 8 / bits;
  assert_int_equal(
      tesela_tile_memory_strided(m, TESELA_TILE_SHARED, 2, shape, (int64_t[]){shape[1] + pad, 1}, 0, NULL),
      TESELA_OK);
  if (access_random(2)) {
    int32_t stage = 1 + (int32_t)access_random(3);
    m->swizzle = (tesela_tile_swizzle){bits == 8    ? 4
                                       : bits == 16 ? 3
                                                    : 2,
                                       stage, stage + (int32_t)access_random(3)};
    if (access_random(4) == 0) m->swizzle.base--;
    m->size *= 256;
  }
}

static void random_plans_agree_with_the_oracle(void **state) {
  (void)state;
  static const int32_t widths[] = {8, 16, 16, 32};
  int applied = 0, transposed = 0, not = 0;
  access_random_start();
  for (int n = 0; n < 1500; n++) {
    int32_t bits = widths[access_random(4)];
    tesela_register r;
    tesela_tile_memory m;
    tesela_ldmatrix p;
    tesela_error err;
    access_atoms atoms;
    random_registers(&r, bits);
    random_memory(&m, r.shape, bits);
    if (tesela_ldmatrix_of(&r, &m, bits, &p, &err) != TESELA_OK) fail_msg("case %d: %s", n, err.message);
    access_oracle_atoms(&r, &m, bits, &atoms);
    if (p.applies != atoms.applies)
      fail_msg("case %d: applies %d, expected %d; %s", n, p.applies, atoms.applies, p.why_not);
    not += !p.applies;
    if (p.applies) {
      tesela_access_machine eight = {.warp = 8,
                                     .banks = 32,
                                     .bank_bytes = 4,
                                     .sector_bytes = 32,
                                     .line_bytes = 128,
                                     .max_vector_bytes = 16};
      access_table rows;
      access_oracle_rows(&atoms, &m, &rows);
      tesela_access_cost e = access_oracle_cost(&rows, bits, atoms.columns, &eight, 8);
      int64_t per = atoms.tiles % 4 == 0 ? 4 : atoms.tiles % 2 == 0 ? 2 : 1;
      assert_int_equal(p.transposed, atoms.transposed);
      assert_int_equal(p.tiles, per);
      assert_int_equal(p.warps, atoms.warps);
      assert_int_equal(p.instructions, atoms.tiles / per);
      assert_int_equal(p.cost.phases, e.phases);
      assert_int_equal(p.cost.wavefronts, e.wavefronts);
      assert_int_equal(p.cost.conflicts, e.conflicts);
      assert_int_equal(p.cost.worst, e.worst);
      assert_int_equal(p.cost.worst_warp, e.worst_warp);
      assert_int_equal(p.cost.worst_instruction * per + p.cost.worst_phase, e.worst_instruction);
      for (int64_t w = 0; w < p.warps; w++)
        for (int32_t k = 0; k < p.instructions; k++)
          for (int32_t lane = 0; lane < 32; lane++) {
            int64_t place, tile = w * atoms.tiles + k * per + lane / 8 % per;
            assert_int_equal(tesela_ldmatrix_place(&p, &m, w, k, lane, &place, NULL), TESELA_OK);
            assert_int_equal(place, access_oracle_place(&m, (int64_t[]){atoms.corner[tile][0] + lane % 8,
                                                                        atoms.corner[tile][1]}));
          }
      access_table_free(&rows);
    }
    applied += p.applies;
    transposed += p.transposed && p.applies;
    free(atoms.corner);
  }
  printf("%d apply, %d of them transposed, %d do not\n", applied, transposed, not );
  assert_true(applied > 100 && transposed > 50 && not > 100);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(plans_are_what_atoms_say),
      cmocka_unit_test(refusals_of_plans_and_places),
      cmocka_unit_test(random_plans_agree_with_the_oracle),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
