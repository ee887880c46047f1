/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_relayout_rows.c - small copies written out: two layouts, and what lies in dst afterwards.
 *
 * Element number n (row-major over the shape) has the value n + 1. `want` lists the places of dst in order: a number
 * is an element's value, `_` padding that was filled with zeros, `.` a place that must keep what it held. All of it
 * was worked out by hand from the definition of the layouts. Each row runs with every fill, and for every width
 * (values are cut to it).
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>
#include <tesela/tesela.h>

#include "support_relayout.h"

typedef struct row {
  const char *name;
  int32_t rank;
  int64_t shape[4];
  const char *dst, *src; /* digits, see support_relayout.h */
  const char *want;
} row;

static const row rows[] = {
    {"a scalar", 0, {0}, "", "", "1"},
    {"a scalar behind an offset", 0, {0}, "+2", "+1", ". . 1"},
    {"nothing at all", 1, {0}, "0", "0", ""},
    {"a copy", 1, {5}, "0", "0", "1 2 3 4 5"},
    {"a copy with room behind", 1, {3}, "0 =5", "0", "1 2 3 _ _"},
    {"a copy with an offset", 1, {3}, "0 +1 =5", "0 +4", ". 1 2 3 _"},
    {"every second place", 1, {3}, "0@2", "0", "1 . 2 . 3"},
    {"every second place of both", 1, {4}, "0@2 +1", "0@2 +3", ". 1 . 2 . 3 . 4"},
    {"from the end of src", 1, {4}, "0", "0@-1 +3", "1 2 3 4"},
    {"from the end of dst", 1, {4}, "0@-1 +3", "0", "4 3 2 1"},
    {"a transpose", 2, {2, 3}, "1 0", "0 1", "1 4 2 5 3 6"},
    {"a transpose of both is none", 2, {2, 3}, "1 0", "1 0", "1 4 2 5 3 6"},
    {"three dims reversed", 3, {2, 2, 2}, "2 1 0", "0 1 2", "1 5 3 7 2 6 4 8"},
    {"three dims rotated", 3, {2, 3, 2}, "2 0 1", "0 1 2", "1 3 5 7 9 11 2 4 6 8 10 12"},
    {"rows with a pitch", 2, {2, 3}, "0@4 1@1", "0 1", "1 2 3 . 4 5 6"},
    {"rows with a pitch and an axis", 2, {2, 3}, "0@4 1@1 =8", "0 1", "1 2 3 . 4 5 6 _"},
    {"a column of a matrix", 2, {3, 1}, "0@3 1@1 +1 =9", "0 1", ". 1 . . 2 . . 3 _"},
    {"a tile of 2 by 2 with padding",
     2,
     {3, 5},
     "0/2 1/2 0 1",
     "0 1",
     "1 2 6 7 3 4 8 9 5 _ 10 _ 11 12 _ _ 13 14 _ _ 15 _ _ _"},
    {"a tile of 2 by 2 from columns", 2, {2, 3}, "0/2 1/2 0 1", "1 0", "1 2 4 5 3 _ 6 _"},
    {"out of tiles", 2, {3, 3}, "0 1", "0/2 1/2 0 1", "1 2 3 4 5 6 7 8 9"},
    {"from tiles of 2 to tiles of 3", 1, {7}, "0/3 0", "0/2 0", "1 2 3 4 5 6 7 _ _"},
    {"steps that do not nest", 1, {7}, "0@1 0/3@3", "0@4 0/2@1", "1 2 3 4 5 6 7 _ _"},
    {"steps that do not nest, digits swapped", 1, {7}, "0 0/3", "0 0/2", "1 4 7 2 5 _ 3 6 _"},
    {"two rows interleaved", 2, {2, 4}, "1 0", "0 1", "1 5 2 6 3 7 4 8"},
    {"pairs of rows interleaved, as (2,1) does", 2, {4, 3}, "0/2 1 0", "0 1", "1 4 2 5 3 6 7 10 8 11 9 12"},
    {"the last pair has one row", 2, {3, 2}, "0/2 1 0", "0 1", "1 3 2 4 5 _ 6 _"},
    {"four rows interleaved, one missing", 2, {3, 2}, "0/4 1 0", "0 1", "1 3 5 _ 2 4 6 _"},
    {"two levels", 2, {3, 3}, "0/2 1/2 0/2 1 0", "0 1", "1 4 2 5 3 6 _ _ 7 _ 8 _ 9 _ _ _"},
    {"a stick", 2, {2, 5}, "1/2 0 1", "0 1", "1 2 6 7 3 4 8 9 5 _ 10 _"},
    {"a block of channels", 3, {1, 3, 2}, "0 1/2 2 1", "0 1 2", "1 3 2 4 5 _ 6 _"},
    {"two replicas", 1, {3}, "r2 0", "0", "1 2 3 1 2 3"},
    {"each element twice", 1, {3}, "0 r2", "0", "1 1 2 2 3 3"},
    {"replicas with a gap", 1, {2}, "r2@3 0@1", "0", "1 2 . 1 2"},
    {"replicas on the source", 1, {3}, "0", "0 r2", "1 2 3"},
    {"one element a stick", 1, {3}, "0 h4", "0", "1 _ _ _ 2 _ _ _ 3 _ _ _"},
    {"a hole in front", 1, {2}, "h2 0", "0", "1 2 _ _"},
    {"a hole and a replica", 1, {2}, "r2 0 h2", "0", "1 _ 2 _ 1 _ 2 _"},
    {"a replicated hole in tiles", 1, {3}, "0/2 r2 0", "0", "1 2 1 2 3 _ 3 _"},
    {"holes on the source", 1, {3}, "0", "0 h4", "1 2 3"},
    {"more padding than the tile has", 1, {3}, "0/2(3) 0(2)", "0", "1 2 3 _ _ _"},
    {"dims of extent 1", 4, {1, 3, 1, 2}, "3 1", "1 3", "1 3 5 2 4 6"},
    {"a gap between tiles is kept", 1, {4}, "0/2@3 0@1 =7", "0", "1 2 . 3 4 _ _"},
    {"a partial tile with gaps", 1, {3}, "0/2@5 0@2", "0", "1 . 2 . . 3 . _"},
};

enum { MOST = 64 };

/* Places of `want`: values, 0 for `_`, -1 for `.`; how many. */
static int read_want(const char *text, int *value) {
  int n = 0;
  for (const char *at = text; *at; at++) {
    if (*at == ' ') continue;
    if (*at == '_' || *at == '.') {
      value[n++] = *at == '_' ? 0 : -1;
      continue;
    }
    value[n++] = (int)strtol(at, NULL, 10);
    while (at[1] >= '0' && at[1] <= '9') at++;
  }
  return n;
}

static void put_value(unsigned char *image, int64_t place, int32_t bits, int value) {
  unsigned char x[16];
  memset(x, value, sizeof x);
  relayout_put(image, place, bits, x);
}

/* The elements at their places in src; the map of the oracle says where, and the rows say it again for dst. */
static void put_elements(unsigned char *image, const tesela_layout *layout) {
  relayout_map map;
  assert_true(relayout_map_make(&map, layout, false));
  for (int64_t i = 0; i < map.n_elements * map.n_copies; i++)
    put_value(image, map.place[i], layout->bits, (int)(i / map.n_copies) + 1);
  relayout_map_free(&map);
}

static void run_row(const row *r, int32_t bits, tesela_fill fill) {
  unsigned char dst[16 * MOST], want[16 * MOST], src[16 * MOST];
  int value[MOST], n = read_want(r->want, value);
  tesela_layout dst_layout, src_layout;
  tesela_plan_options options = {.fill = fill, .threads = 1};
  tesela_plan *plan;
  tesela_error err = {.message = ""};
  memset(options.fill_value, 0x77, sizeof options.fill_value);
  assert_true(layout_of_digits(&dst_layout, TESELA_DTYPE_NONE, bits, r->rank, r->shape, r->dst));
  assert_true(layout_of_digits(&src_layout, TESELA_DTYPE_NONE, bits, r->rank, r->shape, r->src));
  if (dst_layout.axis[0].extent != n)
    fail_msg("%s: dst has %" PRId64 " places, not %d", r->name, dst_layout.axis[0].extent, n);
  memset(src, 0xee, sizeof src);
  memset(dst, 0xdd, sizeof dst);
  memset(want, 0xdd, sizeof want);
  put_elements(src, &src_layout);
  for (int i = 0; i < n; i++) {
    bool keep = value[i] < 0 || (value[i] == 0 && fill == TESELA_FILL_LEAVE);
    if (!keep) put_value(want, i, bits, value[i] == 0 && fill == TESELA_FILL_VALUE ? 0x77 : value[i]);
  }
  if (tesela_plan_create(&plan, &dst_layout, &src_layout, &options, &err) != TESELA_OK ||
      tesela_plan_run(plan, dst, src, NULL, &err) != TESELA_OK)
    fail_msg("%s, %d bits: %s", r->name, bits, err.message);
  tesela_plan_destroy(plan);
  for (int i = 0; i < 16 * MOST; i++)
    if (dst[i] != want[i])
      fail_msg("%s, %d bits, fill %d: byte %d is %02x, not %02x", r->name, bits, (int)fill, i, dst[i],
               want[i]);
}

static void test_rows(void **state) {
  static const int32_t widths[] = {1, 2, 4, 8, 16, 32, 64, 128};
  static const tesela_fill fills[] = {TESELA_FILL_ZERO, TESELA_FILL_LEAVE, TESELA_FILL_VALUE};
  (void)state;
  for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++)
    for (int w = 0; w < 8; w++)
      for (int f = 0; f < 3; f++) run_row(&rows[i], widths[w], fills[f]);
}

/* ---- the same in XLA's notation ------------------------------------------------------------------------ */

static tesela_layout layout_of(const char *text) {
  tesela_xla_shape shape;
  tesela_layout layout = {.finished = false};
  tesela_error err = {.message = ""};
  if (tesela_xla_parse(text, strlen(text), TESELA_XLA_STRICT, &shape, NULL, &err) != TESELA_OK ||
      tesela_xla_to_layout(&shape, &layout, &err) != TESELA_OK)
    fail_msg("%s: %s", text, err.message);
  return layout;
}

static const struct {
  const char *dst, *src;
  bool irregular; /* no regular loops can say it */
} notations[] = {
    {"f32[1000,200]{1,0:T(8,128)}", "f32[1000,200]{1,0}", false},
    {"f32[100,300]{1,0}", "f32[100,300]{1,0:T(8,128)}", false},
    {"bf16[50,300]{1,0:T(8,128)(2,1)}", "bf16[50,300]{1,0}", false},
    {"bf16[50,300]{1,0}", "bf16[50,300]{1,0:T(8,128)(2,1)}", false},
    {"s8[70,200]{1,0:T(8,128)(4,1)}", "s8[70,200]{0,1}", false},
    {"bf16[40,150]{1,0:T(16,128)(2,1)}", "bf16[40,150]{1,0:T(8,128)(2,1)}", false},
    {"f32[50,70]{0,1:T(8,128)}", "f32[50,70]{1,0:T(8,128)}", false},
    {"f32[5,7,33]{1,2,0:T(4,8)}", "f32[5,7,33]{2,1,0}", false},
    {"s4[30,50]{1,0:T(8,128)E(4)}", "s4[30,50]{1,0:E(4)}", false},
    {"s4[33,65]{0,1:E(4)}", "s4[33,65]{1,0:E(4)}", false},
    {"pred[33,65]{0,1:E(1)}", "pred[33,65]{1,0:E(1)}", false},
    {"pred[16,100]{1,0:T(32,128)(32,1)E(1)}", "pred[16,100]{1,0:E(1)}", false},
    {"bf16[51,301]{0,1:T(8,128)(2,1)}", "bf16[51,301]{1,0:T(8,128)(2,1)}", false},
    {"bf16[16,256]{0,1:T(8,128)(2,1)}", "bf16[16,256]{1,0:T(8,128)(2,1)}", false},
    {"s8[67,203]{0,1:T(8,128)(4,1)}", "s8[67,203]{1,0:T(8,128)(4,1)}", false},
    {"s8[128,128]{0,1:T(8,128)(4,1)}", "s8[128,128]{1,0:T(8,128)(4,1)}", false},
    {"f32[3,4,5]{2,1,0:T(*,8)}", "f32[3,4,5]{2,1,0}", false},
    {"u8[11,10]{1,0}", "u8[11,10]{1,0:T(*,8)(4,1)}", false},
    {"f32[6,7,100]{2,1,0:T(*,8,16)}", "f32[6,7,100]{2,1,0:T(*,4,32)}", false},
    {"f32[6,7,100]{2,1,0:T(*,8,16)}", "f32[6,7,100]{0,2,1:T(4,8)}", true},
    {"bf16[5,6,7,50]{3,2,1,0:T(*,2,*,8,16)(2,1)}", "bf16[5,6,7,50]{3,2,1,0}", false},
    {"f32[10]{0:T(256)}", "f32[10]{0}", false},
    {"f32[10]{0:L(16)}", "f32[10]{0}", false},
    {"c64[9,9]{0,1:T(2,128)}", "c64[9,9]{1,0:T(2,128)}", false},
    {"f64[64,64]{0,1}", "f64[64,64]{1,0}", false},
    {"u8[64,64]{0,1}", "u8[64,64]{1,0}", false},
};

static void test_notations(void **state) {
  (void)state;
  for (size_t i = 0; i < sizeof notations / sizeof notations[0]; i++) {
    pair p = {.dst = layout_of(notations[i].dst), .src = layout_of(notations[i].src)};
    char reason[REASON];
    bench b;
    assert_true(make_bench(&b, &p, i));
    for (uint64_t seed = 0; seed < 12; seed++) {
      trial t = {.options = {.shuffle = seed, .threads = 1 + (int32_t)seed % 3}, .at_end = true};
      tesela_plan_info info;
      if (!run_bench(&b, &t, &info, reason) || !run_round_trip(&b, &t, reason))
        fail_msg("%s <- %s, shuffle %" PRIu64 ": %s", notations[i].dst, notations[i].src, seed, reason);
      if (seed == 0 && (info.solver == TESELA_SOLVER_GATHER) != notations[i].irregular)
        fail_msg("%s <- %s is done by %s", notations[i].dst, notations[i].src,
                 tesela_solver_name(info.solver));
    }
    free_bench(&b);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_rows),
      cmocka_unit_test(test_notations),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
