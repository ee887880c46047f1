/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_graph_run_wrong_plans.c - offsets that are wrong for some buffer.
 *
 * Buffers of random programs are moved in the arena at random, or marked at random as reusing an operand's memory. In any case a run
 * that reads nothing that others wrote has the right bits; so wrong bits are always reported.
 */
#include <inttypes.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>
#include <tesela/tesela.h>

#include "graph/memory/graph_memory.h"
#include "support_graph_random.h"
#include "support_seed.h"

#define OK(call)                                                    \
  do {                                                              \
    tesela_error e_ = {.message = ""};                              \
    if ((call) != TESELA_OK) fail_msg("%s: %s", #call, e_.message); \
  } while (0)

enum { PROGRAMS = 150, PLANS = 12 };

static int64_t told, refused, right, wrong_bits; /* wrong bits: all of them told */

/* One buffer elsewhere, or taken in another way. */
static void spoil(tesela_graph_memory *memory, uint64_t *state) {
  tesela_graph_memory_facts facts = tesela_graph_memory_facts_of(memory);
  int32_t n = 0;
  while (tesela_graph_memory_place(memory, n)) n++;
  for (int32_t times = 1 + (int32_t)random_below(state, 2); times > 0 && n > 0; times--) {
    tesela_graph_place *place = &memory->place[random_below(state, n)];
    int64_t room = facts.arena.peak - place->bytes, grain = INT64_C(1) << random_below(state, 6);
    if (place->external) continue;
    if (room > 0) place->offset = random_below(state, room / grain + 1) * grain;
    if (random_below(state, 4) == 0) place->in_place_of = place->in_place_of >= 0 ? -1 : 0;
  }
}

static void run(random_program *p, uint8_t *const *want, const tesela_graph_memory *memory, uint64_t number) {
  tesela_graph_run_facts facts = {.poison_read = 0};
  bool differs = false;
  random_program_clear(p, 0xcd);
  if (tesela_graph_run(p->graph, &p->target, p->inputs, p->outputs,
                       &(tesela_graph_run_options){.memory = memory}, &facts, NULL) != TESELA_OK) {
    refused++; /* garbage was looked up by */
    return;
  }
  for (int32_t k = 0; k < p->n_outputs; k++)
    differs = differs || memcmp(p->outputs[k], want[k], (size_t)p->bytes[k]) != 0;
  if (differs && facts.poison_read == 0)
    fail_msg("program %" PRIu64 ": wrong bits, and nothing that others wrote was read", number);
  told += facts.poison_read > 0;
  wrong_bits += differs;
  right += !differs && facts.poison_read == 0;
}

static void wrong_bits_are_always_told(void **unused) {
  (void)unused;
  uint64_t seed = first_seed();
  for (uint64_t number = seed; number < seed + PROGRAMS; number++) {
    random_program p;
    uint8_t *want[RANDOM_OUTPUTS];
    uint64_t state = number * UINT64_C(0x9e3779b97f4a7c15) + 1;
    random_program_make(&p, &state, 2 + (int32_t)random_below(&state, 8));
    random_program_layouts(&p, &state);
    OK(tesela_graph_run(p.graph, &p.target, p.inputs, p.outputs, NULL, NULL, &e_));
    for (int32_t k = 0; k < p.n_outputs; k++) {
      want[k] = malloc((size_t)p.bytes[k] + 1);
      assert_non_null(want[k]);
      memcpy(want[k], p.outputs[k], (size_t)p.bytes[k]);
    }
    for (int32_t k = 0; k < PLANS; k++) {
      tesela_graph_memory *memory;
      tesela_graph_memory_options options = {.effort = 500, .inputs = k % 2};
      OK(tesela_graph_plan_memory(&memory, p.graph, &p.target, &options, &e_));
      spoil(memory, &state);
      run(&p, want, memory, number);
      tesela_graph_memory_destroy(memory);
    }
    for (int32_t k = 0; k < p.n_outputs; k++) free(want[k]);
    random_program_free(&p);
  }
  print_message("%" PRId64 " plans: %" PRId64 " right, %" PRId64 " told, %" PRId64
                " of them with wrong bits, %" PRId64 " refused\n",
                (int64_t)PROGRAMS * PLANS, right, told, wrong_bits, refused);
  assert_true(wrong_bits > PROGRAMS && right > PROGRAMS);
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(wrong_bits_are_always_told)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
