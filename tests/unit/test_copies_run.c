/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_copies_run.c - random programs of all classes of operators, laid out with copies of views, on tiled memory.
 *
 * Each that has layouts is applied and run, with the places between elements poisoned: the bits of a run on plain memory, nothing read
 * that was never written, and as many elements moved as the plan pays for. The program with its copies alone is run the same way.
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

#include "support_graph_random.h"
#include "support_propagate.h"
#include "support_relayout.h"
#include "support_seed.h"

enum { PROGRAMS = 1500 };

typedef struct tally {
  int programs, laid, copied, only, shared;
} tally;

/* moved -1: any. */
static void expect_same(random_program *p, const tesela_graph *placed, int64_t moved, const char *how,
                        uint64_t seed, void *const *expected) {
  tesela_graph_run_options options = {.plain = false};
  tesela_graph_run_facts facts;
  random_program_clear(p, 0x3c);
  OK(tesela_graph_run(placed, &p->target, p->inputs, p->outputs, &options, &facts, &e_));
  if (facts.poison_read != 0 || (moved >= 0 && facts.moved != moved))
    fail_msg("seed %" PRIu64 ", %s: %" PRId64 " read that nobody wrote, %" PRId64 " moved, not %" PRId64,
             seed, how, facts.poison_read, facts.moved, moved);
  for (int32_t k = 0; k < p->n_outputs; k++)
    if (memcmp(p->outputs[k], expected[k], (size_t)p->bytes[k]) != 0)
      fail_msg("seed %" PRIu64 ", %s: output %d differs", seed, how, (int)k);
}

static bool moves_itself(const tesela_graph *graph) {
  for (int32_t k = 0; k < tesela_graph_count(graph); k++)
    if (tesela_graph_node(graph, k)->op == TESELA_OP_MOVE) return true;
  return false;
}

static void check(random_program *p, const tesela_propagate_options *options, uint64_t seed,
                  void *const *expected, tally *sum) {
  tesela_propagation *found, *plain;
  tesela_propagate_options without = *options;
  tesela_graph *placed, *made;
  without.copies = false;
  OK(tesela_graph_propagate(&found, p->graph, &p->target, options, &e_));
  OK(tesela_graph_propagate(&plain, p->graph, &p->target, &without, &e_));
  tesela_propagate_facts facts = tesela_propagation_facts_of(found),
                         before = tesela_propagation_facts_of(plain);
  tesela_propagation_destroy(plain);
  assert_true(facts.ok || !before.ok);
  assert_true(!facts.ok || !before.ok || facts.cost <= before.cost || !facts.proven);
  sum->laid += facts.ok;
  sum->copied += facts.n_copies > 0;
  sum->only += facts.ok && !before.ok;
  for (int32_t k = 0; facts.ok && tesela_propagation_move(found, k); k++)
    sum->shared +=
        tesela_propagation_move(found, k)->view >= 0 && tesela_propagation_move(found, k)->shared >= 0;
  if (facts.ok) {
    OK(tesela_graph_apply(&placed, found, &e_));
    expect_same(p, placed, moves_itself(p->graph) ? -1 : facts.moved + facts.copied, "with its plan", seed,
                expected);
    tesela_graph_destroy(placed);
  }
  tesela_propagation_destroy(found);
  if (!facts.ok) return;
  OK(tesela_graph_materialise(&made, p->graph, &p->target, options, NULL, &e_));
  OK(tesela_graph_propagate(&plain, made, &p->target, &without, &e_));
  assert_true(tesela_propagation_facts_of(plain).ok);
  OK(tesela_graph_apply(&placed, plain, &e_));
  expect_same(p, placed, -1, "with its copies", seed, expected);
  tesela_graph_destroy(placed);
  tesela_propagation_destroy(plain);
  tesela_graph_destroy(made);
}

static void one(uint64_t seed, tally *sum) {
  uint64_t state = seed * 0x9e3779b97f4a7c15u | 1;
  random_program p;
  void *expected[RANDOM_OUTPUTS];
  tesela_graph_run_options options = {.plain = true};
  tesela_graph_run_facts facts;
  bool ok = true;
  if (seed % 3 == 0) /* many operators; or views before one of a class, where copies pay more often */
    random_program_make(&p, &state, 2 + (int32_t)random_below(&state, 8));
  else
    ok = random_program_of(
        &p, &state,
        (tesela_op)(TESELA_OP_POINTWISE + random_below(&state, TESELA_OP_WRITE - TESELA_OP_POINTWISE + 1)),
        TESELA_DTYPE_NONE);
  if (!ok) {
    random_program_free(&p);
    return;
  }
  random_program_clear(&p, 0x3c);
  OK(tesela_graph_run(p.graph, &p.target, p.inputs, p.outputs, &options, &facts, &e_));
  for (int32_t k = 0; k < p.n_outputs; k++) {
    expected[k] = malloc((size_t)p.bytes[k] + 1);
    memcpy(expected[k], p.outputs[k], (size_t)p.bytes[k]);
  }
  const tesela_propagate_options ask = {
      .mode = random_below(&state, 5) ? TESELA_PROPAGATE_AUTO : TESELA_PROPAGATE_STRICT,
      .share = random_below(&state, 2),
      .spread = random_below(&state, 3) == 0,
      .compact = random_below(&state, 3) == 0,
      .copies = true,
  };
  check(&p, &ask, seed, expected, sum);
  sum->programs++;
  for (int32_t k = 0; k < p.n_outputs; k++) free(expected[k]);
  random_program_free(&p);
}

static void plans_compute_what_programs_do(void **state) {
  (void)state;
  const char *rounds_text = getenv("TESELA_ROUNDS");
  const uint64_t seed = first_seed();
  int rounds = rounds_text ? atoi(rounds_text) : slow_run() ? 200 : PROGRAMS;
  tally sum = {0};
  for (int i = 0; i < rounds; i++) one(seed + (uint64_t)i, &sum);
  print_message("%d programs, %d with layouts, %d of them by copies alone; %d copied views, %d shared\n",
                sum.programs, sum.laid, sum.only, sum.copied, sum.shared);
  if (!rounds_text) assert_true(sum.copied > 0 && sum.only > 0);
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(plans_compute_what_programs_do)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
