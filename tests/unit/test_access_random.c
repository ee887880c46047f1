/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_access_random.c - vectors, costs and banks of random tiles, and of tiles of many dims, against the oracle in
 * support_access.c, which fills tables of places by the mode lists and counts. TESELA_SEED sets the seed.
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

#include "gpu/access/access.h"
#include "support_access.h"

/* A tile of 32 dims, ten of 2, the others 1; nine dims of 6 that are all taken apart as 2x3 and 3x2. */
static void many_dims_are_followed_too(void **state) {
  (void)state;
  int64_t shape[32], modes[64], strides[64], list[64];
  tesela_register r;
  tesela_tile_memory m;
  for (int d = 0; d < 32; d++) {
    modes[d] = shape[d] = d % 3 == 1 && d < 30 ? 2 : 1;
    list[d] = d;
    strides[d] = d == 0 ? 1 : strides[d - 1] * shape[d - 1] + d % 2;
  }
  for (int nine = 0; nine < 2; nine++) {
    int32_t rank = 32;
    if (nine == 0) {
      assert_int_equal(tesela_register_make(&r, 32, shape, 32, modes, 20, list, 12, list + 20, NULL),
                       TESELA_OK);
      assert_int_equal(
          tesela_tile_memory_make(&m, TESELA_TILE_SHARED, 32, shape, 32, modes, strides, 3, NULL, NULL),
          TESELA_OK);
    } else {
      int64_t theirs[18], spatial[9], local[9], stride = 1;
      rank = 9;
      for (int d = 0; d < 9; d++) {
        shape[d] = 6;
        modes[2 * d] = theirs[2 * d + 1] = 2;
        modes[2 * d + 1] = theirs[2 * d] = 3;
        spatial[d] = 2 * d;
        local[d] = 2 * d + 1;
      }
      for (int k = 17; k >= 0; k--) {
        strides[k] = stride;
        stride = stride * theirs[k] + 1;
      }
      assert_int_equal(tesela_register_make(&r, 9, shape, 18, modes, 9, spatial, 9, local, NULL), TESELA_OK);
      assert_int_equal(
          tesela_tile_memory_make(&m, TESELA_TILE_SHARED, 9, shape, 18, theirs, strides, 0, NULL, NULL),
          TESELA_OK);
    }
    assert_int_equal(r.rank, rank);
    tesela__access access;
    tesela__access_walk thread, local;
    tesela_access_machine machine = {.warp = 32,
                                     .banks = 32,
                                     .bank_bytes = 4,
                                     .sector_bytes = 32,
                                     .line_bytes = 128,
                                     .max_vector_bytes = 16};
    assert_int_equal(tesela__access_make(&access, &r, &m, 32, &machine, NULL), TESELA_OK);
    assert_int_equal(access.n_rough, nine ? 9 : 0);
    for (int n = 0; n < 3000; n++) {
      int64_t t = n * INT64_C(7919) % r.spatial_size, l = n * INT64_C(104729) % r.local_size, index[32];
      tesela__access_start(&thread, &access.thread, t);
      tesela__access_start(&local, &access.local, l);
      access_oracle_index(&r, t, l, index);
      assert_int_equal(tesela__access_place(&access, thread.place, thread.part, &local),
                       access_oracle_place(&m, index));
    }
  }
}

static tesela_access_machine random_machine(void) {
  static const tesela_access_machine machines[] = {
      {.warp = 32,
       .banks = 32,
       .bank_bytes = 4,
       .sector_bytes = 32,
       .line_bytes = 128,
       .max_vector_bytes = 16},
      {.warp = 32,
       .banks = 32,
       .bank_bytes = 4,
       .sector_bytes = 32,
       .line_bytes = 128,
       .max_vector_bytes = 16},
      {64, 32, 4, 64, 128, 16, {0}},
      {32, 8, 4, 16, 64, 8, {0}},
      {24, 16, 2, 8, 32, 64, {0}},
      {1, 1, 1, 1, 1, 64, {0}},
      {5, 128, 8, 32, 4, 1, {0}},
      {64, 64, 4, 32, 128, 32, {0}},
  };
  return machines[access_random(8)];
}

static bool same_cost(const tesela_access_cost *a, const tesela_access_cost *b) {
  return a->vector_elements == b->vector_elements && a->vector_bytes == b->vector_bytes &&
         a->instructions == b->instructions && a->phases == b->phases && a->wavefronts == b->wavefronts &&
         a->worst == b->worst && a->conflicts == b->conflicts && a->worst_warp == b->worst_warp &&
         a->worst_instruction == b->worst_instruction && a->worst_phase == b->worst_phase &&
         a->sectors == b->sectors && a->least_sectors == b->least_sectors && a->lines == b->lines;
}

/* The short ways of the search for layouts count the same. */
static void check_totals(const tesela_register *r, const tesela_tile_memory *m, int32_t bits, int64_t v,
                         const tesela_access_machine *machine, const tesela_access_cost *expected) {
  tesela__access access;
  assert_int_equal(tesela__access_make(&access, r, m, bits, machine, NULL), TESELA_OK);
  tesela__access_phase phase = tesela__access_phase_of(machine, v * bits / 8, 0);
  int64_t steps = INT64_MAX;
  assert_int_equal(tesela__access_total(&access, &phase, machine->warp, v, INT64_MAX - 1, &steps),
                   expected->wavefronts);
  assert_int_equal(tesela__access_phases(&access, &phase, machine->warp, v), expected->phases);
  assert_true(tesela__access_total(&access, &phase, machine->warp, v, expected->wavefronts - 1, &steps) >=
              expected->wavefronts);
}

static void random_tiles_agree_with_the_oracle(void **state) {
  (void)state;
  static const int32_t widths[] = {1, 2, 4, 8, 16, 32, 64, 128, 24, 96, 12, 48};
  int done = 0, wide = 0, renamed = 0, conflicts = 0;
  access_random_start();
  for (int n = 0; n < 30000; n++) {
    int64_t shape[4];
    int32_t rank = access_random_shape(shape, 512, access_random(2)), bits = widths[access_random(12)];
    tesela_register r;
    tesela_tile_memory m;
    access_random_registers(&r, rank, shape, 4);
    access_random_memory(&m, rank, shape);
    tesela_access_machine machine = random_machine();
    access_table table;
    access_table_fill(&table, &r, &m);
    tesela_vector_width w;
    tesela_error err;
    if (tesela_vector_width_of(&r, &m, bits, &machine, &w, &err) != TESELA_OK)
      fail_msg("case %d: %s", n, err.message);
    int64_t widest = access_oracle_widest(&table, bits, machine.max_vector_bytes);
    int64_t again = access_oracle_renamed(&table, bits, machine.max_vector_bytes);
    if (w.elements != (widest ? widest : 1) || w.bytes != widest * bits / 8 || w.renamed_elements != again ||
        w.per_thread * w.elements != r.local_size ||
        w.dim != (w.elements > 1 ? access_oracle_dim(&r, w.elements) : -1))
      fail_msg("case %d: %" PRId64 " elements, renamed %" PRId64 ", dim %d; expected %" PRId64 ", %" PRId64,
               n, w.elements, w.renamed_elements, w.dim, widest, again);
    wide += w.elements > 1;
    renamed += w.renamed_elements > w.elements;
    for (int64_t v = 1; v <= r.local_size; v++) {
      tesela_access_cost c;
      bool fits = access_oracle_fits(&table, bits, v, machine.max_vector_bytes);
      tesela_status status = tesela_access_cost_of(&r, &m, bits, v, &machine, &c, &err);
      if ((status == TESELA_OK) != fits || (!fits && status != TESELA_E_INVALID))
        fail_msg("case %d: vector %" PRId64 ": %d", n, v, (int)status);
      if (!fits) continue;
      tesela_access_cost e = access_oracle_cost(&table, bits, v, &machine, 0);
      if (!same_cost(&c, &e))
        fail_msg("case %d: vector %" PRId64 ": %" PRId64 " wavefronts, %" PRId64 " sectors; expected %" PRId64
                 ", %" PRId64,
                 n, v, c.wavefronts, c.sectors, e.wavefronts, e.sectors);
      check_totals(&r, &m, bits, v, &machine, &e);
      int32_t words[128], expected[128];
      access_oracle_banks(&table, bits, v, &machine, c.worst_warp, c.worst_instruction, c.worst_phase,
                          expected);
      assert_int_equal(tesela_access_banks(&r, &m, bits, v, &machine, c.worst_warp, c.worst_instruction,
                                           c.worst_phase, 128, words, NULL),
                       TESELA_OK);
      assert_memory_equal(words, expected, sizeof *words * (size_t)machine.banks);
      done++;
      conflicts += c.conflicts > 0;
    }
    access_table_free(&table);
  }
  printf("%d costs, %d with conflicts; %d wide vectors, %d by renaming\n", done, conflicts, wide, renamed);
  assert_true(conflicts > 100 && wide > 100 && renamed > 20);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(many_dims_are_followed_too),
      cmocka_unit_test(random_tiles_agree_with_the_oracle),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
