/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_register_print.c - the printed forms of register layouts and tiles: read back they are the same, and chains are
 * short.
 *
 * That a chain is the shortest is checked against all chains of up to three primitives with extents 1 to 3.
 */
#include <inttypes.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>
#include <tesela/tesela.h>

#include "support_register.h"
#include "support_seed.h"

enum { PRINTED = 8192 };

typedef tesela_status print_layout(const tesela_register *, const tesela_writer *, tesela_error *);

static void print_as(print_layout *print, const tesela_register *layout, char text[PRINTED]) {
  tesela_error err;
  tesela_buffer buffer = {text, PRINTED, 0};
  tesela_writer to = tesela_buffer_writer(&buffer);
  if (print(layout, &to, &err) != TESELA_OK) fail_msg("%s: %s", reg_text(layout), err.message);
  if (buffer.length >= PRINTED) fail_msg("%s: too long", reg_text(layout));
}

static tesela_register parse(const char *text) {
  tesela_register layout;
  tesela_error err;
  if (tesela_register_parse(text, strlen(text), &layout, &err) != TESELA_OK)
    fail_msg("%s: byte %" PRId64 ": %s", text, err.at, err.message);
  return layout;
}

/* Primitives of a chain; 0 for RegisterLayout(...). */
static int primitives(const char *text) {
  int n = 0;
  if (strncmp(text, "RegisterLayout", 14) == 0) return 0;
  for (; *text; text++) n += *text == '(';
  return n;
}

/* ---- rows ------------------------------------------------------------------------------------------------------- */

/* Expected chains are shortest ones: each has as many primitives as the list that needs most changes of kind. */
static const struct {
  const char *text, *chain;
} chain_rows[] = {
    {"local(2,1).spatial(8,4).local(1,2)", "local(2, 1).spatial(8, 4).local(1, 2)"},
    {"column_local(2,2).spatial(8,4).local(1,2)", "column_local(2, 2).spatial(8, 4).local(1, 2)"},
    {"local(2,1).column_spatial(4,8).local(2,1)", "local(2, 1).column_spatial(4, 8).local(2, 1)"},
    {"mma.m16n8k16.f16.A", "column_local(2, 2).spatial(8, 4).local(1, 2)"},
    {"spatial(2,2) * mma.m16n8k16.f16.C", "spatial(2, 2).local(2, 1).spatial(8, 4).local(1, 2)"},
    {"spatial()", "spatial()"},
    {"local(1,1,1)", "spatial(1, 1, 1)"},
    {"spatial(2).spatial(3)", "spatial(6)"},
    {"spatial(2,1).spatial(1,3)", "spatial(2, 3)"},
    {"spatial(1,3).spatial(2,1)", "column_spatial(2, 3)"},
    {"local(1,3).local(2,1)", "column_local(2, 3)"},
    {"spatial(4,1).local(1,3)", "spatial(4, 1).local(1, 3)"},
    {"spatial(2,3,4,ranks=[1,2,0])", "spatial(1, 1, 4).spatial(2, 3, 1)"},
    {"local(2,3,4,ranks=[2,1,0])", "column_local(2, 3, 4)"},
    {"concat(spatial(3),column_local(2,2))", "spatial(3, 1, 1).column_local(1, 2, 2)"},
    {"replicated(2,4,num_workers=3)", "replicated(2, 4, num_workers=3)"},
    {"replicated(num_workers=3)", "replicated(num_workers=3)"},
    {"reduce(spatial(3, 4), dims=[0])", "replicated(1, num_workers=3).spatial(4)"},
    {"reduce(spatial(4, 3), dims=[1])", "spatial(4) * replicated(1, num_workers=3)"},
    {"reduce(local(2).spatial(4) * concat(spatial(3), spatial(5)), [0])",
     "local(2).spatial(4) * replicated(1, num_workers=3).spatial(5)"},
    {"local(2).spatial(4) * replicated(3, num_workers=2).spatial(5)",
     "local(2).spatial(4) * replicated(3, num_workers=2).spatial(5)"},
    {"replicated(2,num_workers=1) * replicated(3, num_workers=2)",
     "replicated(1, num_workers=1) * replicated(6, num_workers=2)"}, /* the local digits are neighbours */
    /* the outer mode of the dim is the faster digit: no chain */
    {"register_layout([6],[2,3],[1,0],[])",
     "RegisterLayout(shape=[6], mode_shape=[2, 3], spatial_modes=[1, 0], local_modes=[])"},
    /* each dim and each list is in order, all four together are not */
    {"register_layout([4,4],[2,2,2,2],[3,0],[1,2])",
     "RegisterLayout(shape=[4, 4], mode_shape=[2, 2, 2, 2], spatial_modes=[3, 0], local_modes=[1, 2])"},
};

static void chains_are_the_shortest_of_a_layout(void **state) {
  (void)state;
  for (size_t i = 0; i < sizeof chain_rows / sizeof chain_rows[0]; i++) {
    char text[PRINTED];
    tesela_register layout = parse(chain_rows[i].text), again;
    print_as(tesela_register_print_expression, &layout, text);
    if (strcmp(text, chain_rows[i].chain) != 0)
      fail_msg("%s\n  is %s\n not %s", chain_rows[i].text, text, chain_rows[i].chain);
    again = parse(text);
    if (!tesela_register_identical(&layout, &again)) fail_msg("%s: %s", chain_rows[i].text, text);
  }
}

static void a_layout_is_printed_as_given(void **state) {
  (void)state;
  static const char *const rows[] = {
      "RegisterLayout(shape=[6, 1], mode_shape=[3, 1, 2, 1], spatial_modes=[-1, 0, 1, -2, -3, 2], "
      "local_modes=[3])",
      "RegisterLayout(shape=[], mode_shape=[], spatial_modes=[], local_modes=[])",
      "RegisterLayout(shape=[9223372036854775807], mode_shape=[9223372036854775807], spatial_modes=[0], "
      "local_modes=[])",
      "RegisterLayout(shape=[2], mode_shape=[2], spatial_modes=[-4611686018427387903], local_modes=[0])",
  };
  for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
    char text[PRINTED];
    tesela_register layout = parse(rows[i]), again;
    print_as(tesela_register_print, &layout, text);
    assert_string_equal(text, rows[i]);
    print_as(tesela_register_print_expression, &layout, text);
    again = parse(text);
    assert_true(tesela_register_same(&layout, &again));
  }
}

/* ---- random layouts ------------------------------------------------------------------------------------------------ */

static void what_is_printed_reads_back(void **state) {
  (void)state;
  uint64_t seed = first_seed();
  reg_rng rng = {seed};
  int chains = 0, others = 0;
  for (int i = 0; i < 20000; i++) {
    register_lists lists;
    tesela_register layout, again, reduced;
    char text[PRINTED];
    reg_random_lists(&rng, INT64_C(1) << reg_below(&rng, 40), &lists);
    if (reg_make(&layout, &lists, true, NULL) != TESELA_OK) continue;
    print_as(tesela_register_print, &layout, text);
    again = parse(text);
    if (!reg_equal(&layout, &again)) fail_msg("seed %" PRIu64 ": %s", seed, text);
    print_as(tesela_register_print_expression, &layout, text);
    again = parse(text);
    if (!tesela_register_same(&layout, &again))
      fail_msg("seed %" PRIu64 ": %s is %s", seed, reg_text(&layout), text);
    if (primitives(text) == 0) {
      others++;
      continue;
    }
    chains++;
    tesela_register_reduced(&reduced, &layout);
    if (!reg_equal(&reduced, &again)) fail_msg("seed %" PRIu64 ": %s is %s", seed, reg_text(&layout), text);
  }
  assert_true(chains > 2000 && others > 2000);
}

static const char *const primitive_names[] = {"spatial", "local", "column_spatial", "column_local"};

/* A random chain, in the grammar's words; returns how many primitives it has. */
static int random_chain(reg_rng *rng, char text[PRINTED]) {
  int n = 1 + (int)reg_below(rng, 6), rank = (int)reg_below(rng, 5);
  char *at = text;
  *at = '\0';
  for (int i = 0; i < n; i++) {
    bool replicated = reg_below(rng, 5) == 0;
    if (i > 0) at += sprintf(at, "%s", replicated || reg_below(rng, 2) ? " * " : ".");
    at += sprintf(at, "%s([", replicated ? "replicated" : primitive_names[reg_below(rng, 4)]);
    for (int d = 0; d < rank; d++) at += sprintf(at, "%s%d", d ? ", " : "", 1 + (int)reg_below(rng, 4));
    at += sprintf(at, replicated ? "], num_workers=%d)" : "])", 1 + (int)reg_below(rng, 3));
  }
  return n;
}

static void a_chain_prints_as_one_no_longer(void **state) {
  (void)state;
  uint64_t seed = first_seed();
  reg_rng rng = {seed};
  for (int i = 0; i < 20000; i++) {
    char given[PRINTED], text[PRINTED];
    int n = random_chain(&rng, given);
    tesela_register layout = parse(given), again;
    print_as(tesela_register_print_expression, &layout, text);
    again = parse(text);
    if (!reg_equal(&layout, &again)) fail_msg("seed %" PRIu64 ": %s is %s", seed, given, text);
    if (primitives(text) == 0 || primitives(text) > n)
      fail_msg("seed %" PRIu64 ": %s is %s", seed, given, text);
  }
}

/* ---- all short chains ------------------------------------------------------------------------------------------------ */

enum { SHORT = 4 * 9 }; /* four primitives with extents 1 to 3 in two dims */

static void short_primitive(int which, char *text) {
  sprintf(text, "%s(%d, %d)", primitive_names[which / 9], which % 9 / 3 + 1, which % 3 + 1);
}

static void no_chain_of_up_to_three_is_shorter(void **state) {
  (void)state;
  for (int n = 1; n <= 3; n++) {
    int all = n == 1 ? SHORT : n == 2 ? SHORT * SHORT : SHORT * SHORT * SHORT;
    for (int chain = 0; chain < all; chain++) {
      char given[256] = "", text[PRINTED];
      for (int i = 0, rest = chain; i < n; i++, rest /= SHORT) {
        if (i > 0) strcat(given, ".");
        short_primitive(rest % SHORT, given + strlen(given));
      }
      tesela_register layout = parse(given);
      print_as(tesela_register_print_expression, &layout, text);
      if (primitives(text) == 0 || primitives(text) > n) fail_msg("%s is %s", given, text);
    }
  }
}

/* ---- bounds, refusals ------------------------------------------------------------------------------------------------ */

/* 62 modes of 2 in 31 dims, alternately spatial and local; as many replicas of 1 as there is room for. */
static void the_largest_layouts_are_printed(void **state) {
  (void)state;
  register_lists lists = {.rank = 32, .n_modes = 62};
  tesela_register layout, again;
  char text[PRINTED];
  for (int d = 0; d < 31; d++) lists.shape[d] = 4;
  lists.shape[31] = 1;
  for (int m = 0; m < 62; m++) {
    lists.mode_shape[m] = 2;
    if (m % 2)
      lists.local_modes[lists.n_local++] = m;
    else
      lists.spatial_modes[lists.n_spatial++] = m;
  }
  while (lists.n_spatial < TESELA_REGISTER_MODES) lists.spatial_modes[lists.n_spatial++] = -1;
  assert_int_equal(reg_make(&layout, &lists, true, NULL), TESELA_OK);
  print_as(tesela_register_print, &layout, text);
  again = parse(text);
  assert_true(reg_equal(&layout, &again));
  print_as(tesela_register_print_expression, &layout, text);
  again = parse(text);
  assert_true(reg_equal(&layout, &again));
  assert_int_equal(primitives(text),
                   1 + 33); /* spatial over all dims; one replica with local, the others alone */
}

static int refuse_write(void *user, const char *text, size_t length) {
  (void)user, (void)text, (void)length;
  return 1;
}

static void printing_refuses_and_stops(void **state) {
  (void)state;
  tesela_writer stop = {refuse_write, NULL};
  tesela_error err;
  tesela_register layout = parse("spatial(2, 3)"), broken = layout;
  tesela_tile_memory tile, bad;
  char text[64] = "untouched";
  tesela_buffer buffer = {text, sizeof text, 0};
  tesela_writer to = {refuse_write, NULL};
  assert_int_equal(tesela_tile_memory_row_major(&tile, TESELA_TILE_SHARED, 1, (const int64_t[]){4}, NULL),
                   TESELA_OK);
  assert_int_equal(tesela_register_print(&layout, &stop, &err), TESELA_E_STOPPED);
  assert_int_equal(tesela_register_print_expression(&layout, &stop, NULL), TESELA_E_STOPPED);
  assert_int_equal(tesela_tile_memory_print(&tile, &stop, &err), TESELA_E_STOPPED);
  broken.spatial_modes[0] = 7;
  assert_int_equal(tesela_register_print(&broken, &to, &err), TESELA_E_RANGE);
  assert_int_equal(err.reason, TESELA_REASON_SPATIAL_MODE_OUT_OF_RANGE);
  assert_int_equal(tesela_register_print_expression(&broken, &to, NULL), TESELA_E_RANGE);
  bad = tile;
  bad.mode_shape[0] = 3;
  assert_int_equal(tesela_tile_memory_print(&bad, &to, &err), TESELA_E_INVALID);
  bad = tile;
  bad.size = 3;
  assert_int_equal(tesela_tile_memory_print(&bad, &to, &err), TESELA_E_RANGE);
  assert_string_equal(err.message, "size is 3; the layout needs 4 places");
  to = tesela_buffer_writer(&buffer);
  assert_int_equal(tesela_tile_memory_print(&tile, &to, NULL), TESELA_OK);
  assert_int_equal(buffer.length, strlen("SharedLayout(shape=[4], mode_shape=[4], mode_strides=[1])"));
}

/* ---- tiles in memory ------------------------------------------------------------------------------------------------- */

static bool tile_equal(const tesela_tile_memory *a, const tesela_tile_memory *b) {
  bool same = a->space == b->space && a->rank == b->rank && a->n_modes == b->n_modes &&
              a->offset == b->offset && a->size == b->size && a->swizzle.base == b->swizzle.base &&
              a->swizzle.bits == b->swizzle.bits && a->swizzle.shift == b->swizzle.shift;
  for (int32_t d = 0; same && d < a->rank; d++) same = a->shape[d] == b->shape[d];
  for (int32_t m = 0; same && m < a->n_modes; m++)
    same = a->mode_shape[m] == b->mode_shape[m] && a->mode_strides[m] == b->mode_strides[m];
  return same;
}

static void tiles_read_back(void **state) {
  (void)state;
  uint64_t seed = first_seed();
  reg_rng rng = {seed};
  int made = 0;
  for (int i = 0; i < 20000; i++) {
    int64_t shape[4], mode_shape[12], strides[12];
    int32_t rank = (int32_t)reg_below(&rng, 5), n = 0;
    tesela_tile_swizzle swizzle = {(int32_t)reg_below(&rng, 4), (int32_t)reg_below(&rng, 4),
                                   (int32_t)reg_below(&rng, 9) - 4};
    tesela_tile_memory tile, again;
    for (int32_t d = 0; d < rank; d++) {
      shape[d] = 1;
      for (int64_t m = reg_below(&rng, 4); m > 0; m--, n++) {
        shape[d] *= mode_shape[n] = 1 + reg_below(&rng, 5);
        strides[n] = reg_below(&rng, 3) ? reg_below(&rng, 100) : reg_below(&rng, INT64_C(1) << 40);
      }
    }
    if (tesela_tile_memory_make(&tile, reg_below(&rng, 2) ? TESELA_TILE_SHARED : TESELA_TILE_GLOBAL, rank,
                                shape, n, mode_shape, strides, reg_below(&rng, 2) * reg_below(&rng, 1000),
                                reg_below(&rng, 2) ? &swizzle : NULL, NULL) != TESELA_OK)
      continue;
    if (reg_below(&rng, 3) == 0 &&
        tesela_tile_memory_set_size(&tile, &tile, tile.size + reg_below(&rng, 99), NULL))
      fail_msg("seed %" PRIu64 ": no other size", seed);
    char text[PRINTED];
    tesela_error err;
    tesela_buffer buffer = {text, PRINTED, 0};
    tesela_writer to = tesela_buffer_writer(&buffer);
    if (tesela_tile_memory_print(&tile, &to, &err) != TESELA_OK)
      fail_msg("seed %" PRIu64 ": %s", seed, err.message);
    if (tesela_tile_memory_parse(text, strlen(text), &again, &err) != TESELA_OK)
      fail_msg("seed %" PRIu64 ": %s: %s", seed, text, err.message);
    if (!tile_equal(&tile, &again)) fail_msg("seed %" PRIu64 ": %s", seed, text);
    made++;
  }
  assert_true(made > 5000);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(chains_are_the_shortest_of_a_layout),
      cmocka_unit_test(a_layout_is_printed_as_given),
      cmocka_unit_test(what_is_printed_reads_back),
      cmocka_unit_test(a_chain_prints_as_one_no_longer),
      cmocka_unit_test(no_chain_of_up_to_three_is_shorter),
      cmocka_unit_test(the_largest_layouts_are_printed),
      cmocka_unit_test(printing_refuses_and_stops),
      cmocka_unit_test(tiles_read_back),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
