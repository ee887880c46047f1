/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_relayout_window.c - plans that are run window by window give what the oracle says, and a window writes nothing outside itself; so
 * do runs whose pieces write one window after the other, with every fill, width, instruction set and 1 to 4 threads.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include "relayout/plan.h"
#include "support_relayout.h"
#include "support_seed.h"

enum { PAIRS = 3000, ELEMENTS = 20000, ROOM = 1 << 14 /* more than a window */, GUARD = 256 };

static tesela_allocator allocator;
static unsigned char room[ROOM + 2 * GUARD];
static long cut_plans, windows_run;
static long cut_by[TESELA_SOLVER_PERMUTE + 1];

/* Edges ascend from 0 to the end of dst, at most so far from each other. */
static void check_edges(const tesela__windows *w, int64_t bytes, int64_t most) {
  assert_true(w->edge[0] == 0 && w->edge[w->n] == bytes);
  int64_t longest = 0;
  for (int64_t i = 0; i < w->n; i++) {
    assert_true(w->edge[i] < w->edge[i + 1]);
    longest = tesela__max(longest, w->edge[i + 1] - w->edge[i]);
  }
  assert_true(longest == w->most && longest <= most);
}

/* One window, in memory of its own, from what dst held before. The plan may count bytes of dst after the last that it writes. */
static void check_window(const bench *b, const tesela_plan *plan, const tesela__windows *w, int64_t i,
                         const char *text) {
  const int64_t begin = w->edge[i], bytes = w->edge[i + 1] - begin;
  const size_t known = (size_t)tesela__max(0, tesela__min(bytes, b->dst_bytes - begin));
  memset(room, 0xA5, known + 2 * GUARD);
  memcpy(room + GUARD, b->before + begin, known);
  tesela__window_run(w, plan, i, room + GUARD, b->data);
  if (memcmp(room + GUARD, b->expected + begin, known) != 0)
    fail_msg("%s: window %" PRId64 ", bytes %" PRId64 " to %" PRId64 ", is another", text, i, begin,
             begin + bytes);
  for (size_t k = 0; k < known + 2 * GUARD; k++)
    if (room[k] != 0xA5 && (k < GUARD || k >= GUARD + known))
      fail_msg("%s: window %" PRId64 " writes outside itself", text, i);
}

static void check_pair(const pair *p, uint64_t seed, uint64_t *state) {
  char text[PAIR_TEXT];
  bench b;
  trial t;
  tesela_plan *plan;
  tesela__windows w;
  if (!make_bench(&b, p, seed)) return;
  draw_trial(state, &t);
  t.options.transform = p->transform;
  t.options.fill = p->fill;
  memcpy(t.options.fill_value, p->fill_value, sizeof p->fill_value);
  if (tesela_plan_create(&plan, &p->dst, &p->src, &t.options, NULL) == TESELA_OK) {
    const int64_t wanted = 1 + (int64_t)(mixed(state) % 4096), most = wanted + (int64_t)(mixed(state) % 8192);
    pair_text(p, text);
    assert_int_equal(tesela__windows_find(&w, plan, wanted, most, &allocator, NULL), TESELA_OK);
    if (w.n > 0) check_edges(&w, plan->info.dst_bytes, most);
    for (int64_t i = 0; i < w.n; i++) check_window(&b, plan, &w, w.n - 1 - i, text);
    windows_run += w.n;
    cut_plans += w.n > 1;
    cut_by[plan->info.solver] += w.n > 1;
    tesela__windows_free(&w);
    tesela_plan_destroy(plan);
  }
  free_bench(&b);
}

static void windows_are_what_the_oracle_says(void **state) {
  (void)state;
  uint64_t seed = first_seed();
  const int n = slow_run() ? PAIRS / 10 : PAIRS;
  for (int k = 0; k < n; k++) {
    uint8_t bytes[DRAW_BYTES];
    uint64_t random = mixed(&seed);
    pair p;
    for (size_t i = 0; i < DRAW_BYTES; i++) bytes[i] = (uint8_t)(mixed(&random) >> 24);
    draws d = {bytes, DRAW_BYTES, 0};
    draw_pair(&d, ELEMENTS, k % 8 == 0, &p);
    check_pair(&p, random, &random);
  }
  print_message("%ld plans cut into %ld windows\n", cut_plans, windows_run);
  assert_true(cut_plans > n / 20);
  static const tesela_solver solvers[] = {TESELA_SOLVER_MEMCPY,     TESELA_SOLVER_ROWS,
                                          TESELA_SOLVER_STRIDED,    TESELA_SOLVER_TRANSPOSE,
                                          TESELA_SOLVER_INTERLEAVE, TESELA_SOLVER_DEINTERLEAVE};
  for (size_t i = 0; i < sizeof solvers / sizeof solvers[0] && !slow_run(); i++)
    if (cut_by[solvers[i]] == 0) fail_msg("no plan of solver %s is cut", tesela_solver_name(solvers[i]));
  assert_true(cut_by[TESELA_SOLVER_GATHER] == 0);
}

/* What checkpoints have: rows of tiles, in windows that are about as long as they may be. */
static void tiles_are_cut_where_their_rows_end(void **state) {
  (void)state;
  const int64_t shape[] = {1000, 900};
  tesela_layout src, dst;
  tesela_plan *plan;
  tesela__windows w;
  assert_true(layout_of_digits(&src, TESELA_BF16, 16, 2, shape, "0 1"));
  assert_true(layout_of_digits(&dst, TESELA_BF16, 16, 2, shape, "0/8 1/128 0 1"));
  assert_int_equal(tesela_plan_create(&plan, &dst, &src, &(tesela_plan_options){.threads = 1}, NULL),
                   TESELA_OK);
  const int64_t row = 8 * 1024 * 2; /* bytes of a row of 8 tiles */
  assert_int_equal(tesela__windows_find(&w, plan, 5 * row + 100, 1 << 20, &allocator, NULL), TESELA_OK);
  assert_int_equal(w.n, 25);
  for (int64_t i = 0; i <= w.n; i++) assert_int_equal(w.edge[i], 5 * row * i);
  tesela__windows_free(&w);
  tesela_plan_destroy(plan);
}

/* Copies of several pieces that share lines: parts of tiles, padding within lines, rows that are not whole bytes. */
static const struct {
  int32_t rank;
  int64_t shape[4];
  const char *dst, *src;
} shared[] = {
    {2, {197, 11}, "0 1", "0/64 1/4 0 1"},
    {3, {3, 70, 146}, "0 1 2", "0 1/64 2/64 1 2"},
    {3, {5, 75, 7}, "0 1/32 2/8 1 2", "0 1 2"},
    {4, {3, 5, 14, 19}, "0 1 2/4 3/4 2 3", "0 1 2 3"},
    {3, {3, 2, 300}, "0 1/8 2/128 1/4 2 1", "0 1 2"},
    {3, {40, 37, 30}, "0 1/32 2/32 1 2", "1 2 0"},
    {3, {9, 61, 17}, "0 1 2", "0 1/8 2/16 1 2"},
    {3, {11, 31, 9}, "0 1 2", "0 1/8 2/8 1 2"},
    {2, {61, 300}, "1/4 0/16 1 0", "0@300 1@-1 +299"},
};

static bool is_run_by_windows(const pair *p, const trial *t) {
  tesela_plan_options options = t->options;
  tesela_plan *plan;
  options.fill = p->fill;
  memcpy(options.fill_value, p->fill_value, sizeof p->fill_value);
  if (tesela_plan_create(&plan, &p->dst, &p->src, &options, NULL) != TESELA_OK) return false;
  const bool windows = plan->window > 0 && plan->info.dst_bytes > plan->window;
  tesela_plan_destroy(plan);
  return windows;
}

static void pieces_write_windows(void **state) {
  static const int32_t widths[] = {1, 2, 4, 8, 16, 32, 64, 128};
  static const tesela_fill fills[] = {TESELA_FILL_ZERO, TESELA_FILL_VALUE, TESELA_FILL_LEAVE};
  (void)state;
  uint64_t seed = first_seed() + 2;
  for (size_t i = 0; i < sizeof shared / sizeof shared[0]; i++) {
    int windows = 0;
    for (int k = 0; k < (slow_run() ? 8 : 96); k++) {
      pair p = {.fill = fills[k / 8 % 3]};
      char reason[REASON], text[PAIR_TEXT], how[PAIR_TEXT];
      bench b;
      trial t;
      for (size_t n = 0; n < sizeof p.fill_value; n++) p.fill_value[n] = (uint8_t)(0x53 + 11 * n);
      assert_true(layout_of_digits(&p.dst, TESELA_DTYPE_NONE, widths[k % 8], shared[i].rank, shared[i].shape,
                                   shared[i].dst));
      assert_true(layout_of_digits(&p.src, TESELA_DTYPE_NONE, widths[k % 8], shared[i].rank, shared[i].shape,
                                   shared[i].src));
      assert_true(make_bench(&b, &p, mixed(&seed)));
      draw_trial(&seed, &t);
      t.options.solver = TESELA_SOLVER_ANY;
      t.options.shuffle = mixed(&seed) | 1;
      windows += is_run_by_windows(&p, &t);
      if (!run_bench(&b, &t, NULL, reason)) {
        pair_text(&p, text);
        trial_text(&t, how);
        fail_msg("%s\n%s\n%s", text, how, reason);
      }
      free_bench(&b);
    }
    if (windows == 0 && !slow_run())
      fail_msg("%s from %s: never run by windows", shared[i].dst, shared[i].src);
  }
}

int main(void) {
  allocator = tesela__allocator(NULL);
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(windows_are_what_the_oracle_says),
      cmocka_unit_test(tiles_are_cut_where_their_rows_end),
      cmocka_unit_test(pieces_write_windows),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
