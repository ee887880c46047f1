/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_progress.c - searches that are asked to stop: at any call they end with TESELA_E_STOPPED, call no more and leave their outputs
 * unchanged; a search that may go on has the same result as without a callback.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "support_propagate.h"

#include <tesela/access.h>
#include <tesela/arena.h>
#include <tesela/notation.h>

/* Asks to stop at call `most`, from 1; 0: never. */
typedef struct listener {
  int64_t calls, most;
} listener;

static int hear(void *user, int64_t done, int64_t total) {
  listener *l = user;
  assert_true(0 <= done && 0 <= total);
  return ++l->calls == l->most;
}

/* Runs one search with a callback; *same: its answer is that of a search without one, or, if it failed, nothing was written. */
typedef tesela_status search(listener *l, bool *same);

static void check_stops(search *run) {
  listener all = {0, 0};
  bool same;
  assert_int_equal(run(&all, &same), TESELA_OK);
  assert_true(same);
  assert_true(all.calls > 0);
  const int64_t at[] = {1, 2, all.calls / 2, all.calls};
  for (int i = 0; i < 4; i++) {
    if (at[i] < 1 || at[i] > all.calls) continue;
    listener one = {0, at[i]};
    assert_int_equal(run(&one, &same), TESELA_E_STOPPED);
    assert_int_equal(one.calls, at[i]);
    assert_true(same);
  }
}

static void registers(const char *text, tesela_register *out) {
  tesela_any_layout any;
  assert_int_equal(tesela_layout_read(text, strlen(text), NULL, &any, NULL), TESELA_OK);
  *out = any.registers;
}

static tesela_status run_synthesis(listener *l, bool *same) {
  tesela_register side[2];
  tesela_synthesis plain, found, untouched;
  registers("spatial(1, 32).local(32, 1)", &side[0]);
  registers("spatial(32, 1).local(1, 32)", &side[1]);
  const tesela_access_use uses[] = {{.registers = &side[0]}, {.registers = &side[1]}};
  const tesela_synthesis_options options = {.progress = hear, .progress_user = l};
  memset(&found, 7, sizeof found);
  untouched = found;
  assert_int_equal(tesela_synthesize(2, uses, 32, NULL, NULL, &plain, NULL), TESELA_OK);
  tesela_status status = tesela_synthesize(2, uses, 32, &options, NULL, &found, NULL);
  *same = status == TESELA_OK ? found.wavefronts == plain.wavefronts && found.candidates == plain.candidates
                              : memcmp(&found, &untouched, sizeof found) == 0;
  return status;
}

static tesela_status run_exchange(const char *to, const char *from, listener *l, bool *same) {
  tesela_register dst, src;
  tesela_exchange *plain, *plan = NULL;
  const tesela_exchange_options options = {.progress = hear, .progress_user = l};
  registers(to, &dst);
  registers(from, &src);
  assert_int_equal(tesela_exchange_create(&plain, &dst, &src, 32, NULL, NULL, NULL), TESELA_OK);
  tesela_status status = tesela_exchange_create(&plan, &dst, &src, 32, &options, NULL, NULL);
  *same = plan == NULL;
  if (status == TESELA_OK) {
    tesela_exchange_facts a = tesela_exchange_facts_of(plain), b = tesela_exchange_facts_of(plan);
    *same = a.kind == b.kind && a.rounds == b.rounds && a.wavefronts == b.wavefronts;
  }
  tesela_exchange_destroy(plan);
  tesela_exchange_destroy(plain);
  return status;
}

static tesela_status run_shuffle(listener *l, bool *same) {
  return run_exchange("spatial(32).local(2)", "local(2).spatial(32)", l, same);
}

static tesela_status run_shared(listener *l, bool *same) {
  return run_exchange("local(2).spatial(32)", "spatial(64)", l, same);
}

enum { BUFFERS = 60 };

/* Buffers of many sizes over a few steps, numbers by a fixed rule: not solved by a sweep. */
static tesela_status run_arena(bool spill, listener *l, bool *same) {
  tesela_arena_buffer given[BUFFERS] = {{.lower = 0}}, plain[BUFFERS], planned[BUFFERS];
  for (int i = 0; i < BUFFERS; i++) {
    int64_t from = i * 7 % 41;
    given[i] = (tesela_arena_buffer){.lower = from, .upper = from + 3 + i * 5 % 13, .size = 3 + i * 11 % 29};
    given[i].offset = TESELA_ARENA_FREE;
    given[i].weight = spill ? 1 + i * 13 % 17 : 0;
  }
  tesela_arena_options options = {.effort = 3000, .spill = spill, .capacity = spill ? 60 : 0};
  memcpy(plain, given, sizeof given);
  memcpy(planned, given, sizeof given);
  assert_int_equal(tesela_arena_plan(BUFFERS, plain, &options, NULL, NULL), TESELA_OK);
  options.progress = hear;
  options.progress_user = l;
  tesela_status status = tesela_arena_plan(BUFFERS, planned, &options, NULL, NULL);
  *same = true;
  for (int i = 0; i < BUFFERS; i++)
    *same = *same && planned[i].offset == (status == TESELA_OK ? plain : given)[i].offset;
  return status;
}

static tesela_status run_plan(listener *l, bool *same) { return run_arena(false, l, same); }
static tesela_status run_spill(listener *l, bool *same) { return run_arena(true, l, same); }

static tesela_status run_propagation(listener *l, bool *same) {
  tesela_graph *graph =
      prog_graph_of("a = input f16[256,128] 1; x = input f16[128,256] 1; a_t = permute a 1,0; t1 = pw a_t x");
  tesela_propagation *p = NULL;
  const tesela_propagate_options options = {
      .mode = TESELA_PROPAGATE_AUTO, .progress = hear, .progress_user = l};
  tesela_status status = tesela_graph_propagate(&p, graph, prog_spyre(), &options, NULL);
  *same = status == TESELA_OK ? tesela_propagation_facts_of(p).cost == 128 * 256
                              : p == NULL; /* one move of x or a */
  tesela_propagation_destroy(p);
  tesela_graph_destroy(graph);
  return status;
}

static void test_synthesis(void **state) { (void)state, check_stops(run_synthesis); }
static void test_shuffle(void **state) { (void)state, check_stops(run_shuffle); }
static void test_shared(void **state) { (void)state, check_stops(run_shared); }
static void test_plan(void **state) { (void)state, check_stops(run_plan); }
static void test_propagation(void **state) { (void)state, check_stops(run_propagation); }
static void test_spill(void **state) { (void)state, check_stops(run_spill); }

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_synthesis), cmocka_unit_test(test_shuffle), cmocka_unit_test(test_shared),
      cmocka_unit_test(test_plan),      cmocka_unit_test(test_spill),   cmocka_unit_test(test_propagation),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
