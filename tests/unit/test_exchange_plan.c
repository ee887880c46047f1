/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_exchange_plan.c - exchange plans as objects: options, refusals, failing allocations, planted faults, printing.
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

#include "gpu/exchange/exchange.h"
#include "support_exchange.h"
#include "support_fault.h"

#define OK(call)                                                    \
  do {                                                              \
    tesela_error e_ = {.message = ""};                              \
    if ((call) != TESELA_OK) fail_msg("%s: %s", #call, e_.message); \
  } while (0)

static void options_and_refusals(void **state) {
  (void)state;
  tesela_register a, b, lanes, warps;
  int64_t four = 4, five = 5;
  OK(tesela_register_spatial(&a, 1, &four, NULL, &e_));
  OK(tesela_register_spatial(&b, 1, &five, NULL, &e_));
  exchange_layout(&lanes, 2, (const int64_t[]){4, 32}, 2, (const int64_t[]){0, 1}, 0, NULL);
  exchange_layout(&warps, 2, (const int64_t[]){4, 32}, 2, (const int64_t[]){1, 0}, 0, NULL);
  tesela_exchange *const nobody = (tesela_exchange *)&four, *plan = nobody;
  tesela_error err;
  assert_int_equal(tesela_exchange_create(&plan, &a, &b, 32, NULL, NULL, &err), TESELA_E_MISMATCH);
  assert_int_equal(tesela_exchange_create(&plan, &a, &b, 32, NULL, NULL, NULL), TESELA_E_MISMATCH);
  assert_int_equal(tesela_exchange_create(&plan, &a, &a, 0, NULL, NULL, &err), TESELA_E_RANGE);
  assert_int_equal(tesela_exchange_create(&plan, &a, &a, 129, NULL, NULL, &err), TESELA_E_RANGE);
  tesela_exchange_options odd = {.warp = 65};
  assert_int_equal(tesela_exchange_create(&plan, &a, &a, 8, &odd, NULL, &err), TESELA_E_RANGE);
  odd.warp = -1;
  assert_int_equal(tesela_exchange_create(&plan, &a, &a, 8, &odd, NULL, &err), TESELA_E_RANGE);
  tesela_exchange_options no_shared = {.no_shared = true}, neither = {.no_shared = true, .no_shuffle = true};
  assert_int_equal(tesela_exchange_create(&plan, &lanes, &warps, 8, &no_shared, NULL, &err),
                   TESELA_E_UNSUPPORTED);
  int64_t huge = INT64_C(1) << 24;
  tesela_register large;
  OK(tesela_register_replicated(&large, 1, &huge, 2, &e_));
  assert_int_equal(tesela_exchange_create(&plan, &large, &large, 8, NULL, NULL, &err), TESELA_E_LIMIT);
  assert_ptr_equal(plan, nobody);

  tesela_register rows, cols; /* a shuffle that may be told to go through memory */
  exchange_layout(&rows, 2, (const int64_t[]){8, 4}, 1, (const int64_t[]){0}, 1, (const int64_t[]){1});
  exchange_layout(&cols, 3, (const int64_t[]){4, 2, 4}, 2, (const int64_t[]){2, 1}, 1, (const int64_t[]){0});
  tesela_exchange_options no_shuffle = {.no_shuffle = true};
  OK(tesela_exchange_create(&plan, &rows, &cols, 16, &no_shuffle, NULL, &e_));
  assert_int_equal(tesela_exchange_facts_of(plan).kind, TESELA_EXCHANGE_SHARED);
  bool right;
  OK(exchange_convert(plan, &rows, &cols, 16, &right, &e_));
  assert_true(right);
  int64_t from;
  OK(tesela_exchange_move_of(plan, 0, 0, &from, &e_));
  assert_int_equal(from, -1);
  tesela_exchange_destroy(plan);
  assert_int_equal(tesela_exchange_create(&plan, &rows, &cols, 16, &neither, NULL, &err),
                   TESELA_E_UNSUPPORTED);
  tesela_exchange_step step;
  OK(tesela_exchange_create(&plan, &rows, &cols, 16, NULL, NULL, &e_));
  int64_t rounds = tesela_exchange_facts_of(plan).rounds;
  assert_int_equal(tesela_exchange_step_of(plan, rounds, 0, &step, &err), TESELA_E_RANGE);
  assert_int_equal(tesela_exchange_step_of(plan, -1, 0, &step, &err), TESELA_E_RANGE);
  assert_int_equal(tesela_exchange_step_of(plan, 0, 8, &step, &err), TESELA_E_RANGE);
  assert_int_equal(tesela_exchange_move_of(plan, 8, 0, &from, &err), TESELA_E_RANGE);
  assert_int_equal(tesela_exchange_move_of(plan, 0, 4, &from, &err), TESELA_E_RANGE);
  tesela_exchange_phase phase;
  int64_t part;
  OK(tesela_exchange_phase_of(plan, 0, 7, &phase, &e_));
  assert_true(phase.phases > 0 && phase.rounds > 0);
  assert_int_equal(tesela_exchange_phase_of(plan, -1, 0, &phase, &err), TESELA_E_RANGE);
  assert_int_equal(tesela_exchange_phase_of(plan, 0, 8, &phase, &err), TESELA_E_RANGE);
  OK(tesela_exchange_phase_of(plan, 0, 0, &phase, &e_));
  int64_t last = phase.phases;
  assert_int_equal(tesela_exchange_phase_of(plan, last, 0, &phase, &err), TESELA_E_RANGE);
  assert_int_equal(tesela_exchange_part_of(plan, last + 1, 0, 0, 0, &from, &part, &err), TESELA_E_RANGE);
  assert_int_equal(tesela_exchange_part_of(plan, last, 0, 4, 0, &from, &part, &err), TESELA_E_RANGE);
  assert_int_equal(tesela_exchange_part_of(plan, last, 0, 0, 1, &from, &part, &err), TESELA_E_RANGE);
  assert_int_equal(tesela_exchange_part_of(plan, 0, 0, -1, 0, &from, &part, &err), TESELA_E_RANGE);
  assert_int_equal(tesela_exchange_part_of(plan, 0, 8, 0, 0, &from, &part, NULL), TESELA_E_RANGE);
  assert_int_equal(tesela_exchange_kept_of(plan, 0, 0, phase.dst_words + 64, &from, &err), TESELA_E_RANGE);
  assert_int_equal(tesela_exchange_kept_of(plan, last, 0, 0, &from, &err), TESELA_E_RANGE);
  tesela_exchange_destroy(plan);
  tesela_exchange_destroy(NULL);
}

/* ---- faults ----------------------------------------------------------------------------------------------------- */

/* Four warps that differ: replicas of a mode of 3 across warps of 32. */
static void odd_pair(tesela_register *dst, tesela_register *src, bool shared) {
  exchange_layout(src, 4, (const int64_t[]){3, 5, 2, 4}, 3, (const int64_t[]){1, 0, 3}, 1,
                  (const int64_t[]){2});
  if (shared)
    exchange_layout(dst, 4, (const int64_t[]){3, 5, 2, 4}, 2, (const int64_t[]){0, 3}, 2,
                    (const int64_t[]){1, 2});
  else
    exchange_layout(dst, 4, (const int64_t[]){3, 5, 2, 4}, 4, (const int64_t[]){-1, 3, 1, 0}, 1,
                    (const int64_t[]){2});
}

static void every_allocation_may_fail(void **state) {
  (void)state;
  for (int shared = 0; shared < 4; shared++) {
    tesela_register dst, src;
    int64_t n = 0;
    if (shared == 3) { /* rows to columns: in phases */
      exchange_layout(&src, 2, (const int64_t[]){8, 8}, 1, (const int64_t[]){0}, 1, (const int64_t[]){1});
      exchange_layout(&dst, 2, (const int64_t[]){8, 8}, 1, (const int64_t[]){1}, 1, (const int64_t[]){0});
    } else if (shared == 2) { /* an all-gather among a number of lanes that is not a power of two: coloured */
      exchange_layout(&src, 2, (const int64_t[]){3, 5}, 1, (const int64_t[]){0}, 1, (const int64_t[]){1});
      exchange_layout(&dst, 2, (const int64_t[]){3, 5}, 2, (const int64_t[]){-2, 1}, 1, (const int64_t[]){0});
    } else {
      odd_pair(&dst, &src, shared);
    }
    for (;; n++) {
      fault f = {.countdown = n, .once = true};
      tesela_allocator alloc = fault_allocator(&f);
      tesela_exchange *plan = NULL;
      tesela_status status = tesela_exchange_create(&plan, &dst, &src, 16, NULL, &alloc, NULL);
      if (status == TESELA_OK) {
        tesela_exchange_destroy(plan);
        assert_int_equal(f.live, 0);
        break;
      }
      assert_int_equal(status, TESELA_E_MEMORY);
      assert_null(plan);
      assert_int_equal(f.live, 0);
    }
    assert_true(n >= 5);
    tesela_exchange *plan;
    OK(tesela_exchange_create(&plan, &dst, &src, 16, NULL, NULL, &e_));
    fault f = {.countdown = 0, .once = true};
    tesela_allocator alloc = fault_allocator(&f);
    char bytes[4096] = {0}, out[4096];
    assert_int_equal(tesela_exchange_run(plan, out, bytes, &alloc, NULL), TESELA_E_MEMORY);
    tesela_exchange_facts facts = tesela_exchange_facts_of(plan);
    if (shared == 3) assert_int_equal(facts.phases, 2);
    f = (fault){.countdown = 1, .once = true}; /* words in phases take a second one */
    tesela_status second = tesela_exchange_run(plan, out, bytes, &alloc, NULL);
    assert_int_equal(second, facts.parts > 1 ? TESELA_E_MEMORY : TESELA_OK);
    assert_int_equal(f.live, 0);
    tesela_exchange_destroy(plan);
  }
}

/* The interpreter follows the steps: a wrong step gives a wrong value or a refusal, never the right one. */
static void planted_faults_are_seen(void **state) {
  (void)state;
  exchange_random r = {42};
  int planted = 0;
  for (int i = 0; i < 400; i++) {
    tesela_register dst, src;
    exchange_pair(&r, 32, &dst, &src);
    tesela_exchange *plan;
    OK(tesela_exchange_create(&plan, &dst, &src, 32, NULL, NULL, &e_));
    if (tesela_exchange_facts_of(plan).kind != TESELA_EXCHANGE_SHUFFLE) {
      tesela_exchange_destroy(plan);
      continue;
    }
    tesela__warp_program *w = &plan->program[exchange_below(&r, (int64_t)plan->n_programs)];
    if (w->rounds == 0) w = &plan->program[0];
    int64_t at = -1, n = w->rounds * plan->warp;
    for (int64_t k = 0; k < n; k++)
      if (w->into[k] >= 0) at = k;
    if (at < 0) fail_msg("a shuffle that takes nothing");
    int64_t giver = at / plan->warp * plan->warp + w->from[at];
    switch (planted % 4) {
    case 0:
      w->into[at] = -1;
      break; /* left out */
    case 1:
      w->offer[giver] = -1;
      break; /* not offered */
    case 2:
      w->offer[giver] = (w->offer[giver] + 1) % (int32_t)plan->facts.src_units - (plan->facts.src_units == 1);
      break;
    default:
      w->from[at] = (uint8_t)(w->from[at] + 1);
      break; /* the next lane's, or none */
    }
    bool right = false;
    tesela_error err;
    tesela_status status = exchange_convert(plan, &dst, &src, 32, &right, &err);
    bool harmless = planted % 4 == 3 && status == TESELA_OK && right; /* lanes that hold the same */
    if (status == TESELA_OK && right && !harmless) fail_msg("fault %d not seen", planted % 4);
    if (planted % 4 < 2) assert_int_equal(status, TESELA_E_INVALID);
    planted++;
    tesela_exchange_destroy(plan);
  }
  assert_true(planted > 40);
}

/* The same of words in phases: a part, a step or a result that is another one. */
static void planted_faults_in_phases_are_seen(void **state) {
  (void)state;
  tesela_register dst, src;
  exchange_layout(&src, 2, (const int64_t[]){32, 32}, 1, (const int64_t[]){0}, 1, (const int64_t[]){1});
  exchange_layout(&dst, 2, (const int64_t[]){32, 32}, 1, (const int64_t[]){1}, 1, (const int64_t[]){0});
  exchange_random r = {7};
  for (int i = 0; i < 60; i++) {
    tesela_exchange *plan;
    OK(tesela_exchange_create(&plan, &dst, &src, 8, NULL, NULL, &e_));
    tesela__warp_program *w = &plan->program[0];
    tesela__exchange_phase *phase = &w->phase[exchange_below(&r, w->n_phases)];
    tesela__warp_program *m = &phase->moves;
    int64_t at = exchange_below(&r, m->rounds * plan->warp);
    while (m->into[at] < 0 || m->offer[at] < 0) at = exchange_below(&r, m->rounds * plan->warp);
    int64_t part = exchange_below(&r, 32 * phase->src_words * plan->parts);
    int64_t result = exchange_below(&r, 32 * plan->facts.dst_units);
    switch (i % 4) {
    case 0:
      phase->part[part] = phase->part[part] == 0 ? plan->parts : 0;
      break;
    case 1:
      m->into[at] = -1;
      break;
    case 2:
      m->from[at] = (uint8_t)((m->from[at] + 1) % 32);
      break;
    default:
      w->result[result] = w->result[result] == 0;
      break;
    }
    bool right = false;
    tesela_status status = exchange_convert(plan, &dst, &src, 8, &right, NULL);
    if (status == TESELA_OK && right) fail_msg("fault %d not seen", i % 4);
    if (i % 4 == 1) assert_int_equal(status, TESELA_E_INVALID);
    tesela_exchange_destroy(plan);
  }
}

/* ---- printing --------------------------------------------------------------------------------------------------- */

static const char *printed(const tesela_register *dst, const tesela_register *src, int32_t bits) {
  static char text[1 << 16];
  tesela_buffer buffer = {text, sizeof text, 0};
  tesela_writer to = tesela_buffer_writer(&buffer);
  tesela_exchange *plan;
  OK(tesela_exchange_create(&plan, dst, src, bits, NULL, NULL, &e_));
  OK(tesela_exchange_print(plan, &to, &e_));
  tesela_exchange_destroy(plan);
  assert_true(buffer.length < sizeof text);
  return text;
}

static int stop(void *user, const char *text, size_t length) {
  (void)user, (void)text, (void)length;
  return 1;
}

static void plans_print_their_patterns(void **state) {
  (void)state;
  tesela_register src, dst;
  exchange_layout(&src, 2, (const int64_t[]){2, 32}, 1, (const int64_t[]){1}, 1, (const int64_t[]){0});
  assert_string_equal(printed(&src, &src, 32), "nothing: 32 threads, 32-bit elements, 1 in a unit\n");
  exchange_layout(&dst, 2, (const int64_t[]){32, 2}, 1, (const int64_t[]){0}, 1, (const int64_t[]){1});
  /* By hand: thread t takes 2t + j of thread (2t + j) % 32, where it is unit t / 16. Threads 0 and 31 have one. */
  assert_string_equal(
      printed(&dst, &src, 32),
      "shuffle: 32 threads, 32-bit elements, 1 in a unit\n"
      "a thread has 2 units of src and 2 of dst; 1 at most stays in it\n"
      "2 rounds; the minimum for plans of 32-bit shuffles\n"
      "all warps:\n"
      "  unit 0 = own unit 0 (lanes 0x00000001)\n"
      "  unit 1 = own unit 1 (lanes 0x80000000)\n"
      "  round 0: from b0*2 ^ b1*4 ^ b2*8 ^ b3*16 ^ b4*1, a lane offers unit b0*1; into unit b4*1 "
      "(lanes 0x7ffffffe)\n"
      "  round 1: from 1 ^ b0*2 ^ b1*4 ^ b2*8 ^ b3*16 ^ b4*1, a lane offers unit 1 ^ b0*1; into "
      "unit 1 ^ b4*1\n");
  /* A mode of 3: lane l of 3 gives its element to the lane before. */
  exchange_layout(&src, 2, (const int64_t[]){3, 3}, 1, (const int64_t[]){0}, 1, (const int64_t[]){1});
  exchange_layout(&dst, 2, (const int64_t[]){3, 3}, 1, (const int64_t[]){1}, 1, (const int64_t[]){0});
  assert_string_equal(
      printed(&dst, &src, 8),
      "shuffle: 3 threads, 8-bit elements, 1 in a unit\n"
      "a thread has 3 units of src and 3 of dst; 1 at most stays in it\n"
      "2 rounds; the minimum for plans of 32-bit shuffles\n"
      "all warps:\n"
      "  unit 0 = own unit 0 (lanes 0x00000001)\n"
      "  unit 1 = own unit 1 (lanes 0x00000002)\n"
      "  unit 2 = own unit 2 (lanes 0x00000004)\n"
      "  round 0: from (lane + 1) mod 3, a lane offers unit (lane + 2) mod 3; into unit (lane + 1) "
      "mod 3\n"
      "  round 1: from (lane + 2) mod 3, a lane offers unit (lane + 1) mod 3; into unit (lane + 2) "
      "mod 3\n");
  /* Bytes whose two digits change places inside a word. */
  exchange_layout(&src, 3, (const int64_t[]){8, 2, 2}, 1, (const int64_t[]){0}, 2, (const int64_t[]){1, 2});
  exchange_layout(&dst, 3, (const int64_t[]){8, 2, 2}, 1, (const int64_t[]){0}, 2, (const int64_t[]){2, 1});
  assert_string_equal(printed(&dst, &src, 8),
                      "permute: 8 threads, 8-bit elements, 4 in a unit\n"
                      "a thread has 1 unit of src and 1 of dst; 1 at most stays in it\n"
                      "unit 0 is registers 0 2 1 3 of src, 0 1 2 3 of dst\n"
                      "all warps:\n"
                      "  unit 0 = own unit 0\n");
  /* Pairs of lanes swap a register; the second warp has one pair. */
  exchange_layout(&src, 3, (const int64_t[]){17, 2, 2}, 2, (const int64_t[]){0, 1}, 1, (const int64_t[]){2});
  exchange_layout(&dst, 3, (const int64_t[]){17, 2, 2}, 2, (const int64_t[]){0, 2}, 1, (const int64_t[]){1});
  assert_string_equal(printed(&dst, &src, 32),
                      "shuffle: 34 threads, 32-bit elements, 1 in a unit\n"
                      "a thread has 2 units of src and 2 of dst; 1 at most stays in it\n"
                      "1 round; the minimum for plans of 32-bit shuffles\n"
                      "warp 0:\n"
                      "  unit 0 = own unit 0 (lanes 0x55555555)\n"
                      "  unit 1 = own unit 1 (lanes 0xaaaaaaaa)\n"
                      "  round 0: from lane ^ 1, a lane offers unit 1 ^ b0*1; into unit 1 ^ b0*1\n"
                      "warp 1:\n"
                      "  unit 0 = own unit 0 (lanes 0x00000001)\n"
                      "  unit 1 = own unit 1 (lanes 0x00000002)\n"
                      "  round 0: from lane ^ 1, a lane offers unit lane ^ 1; into unit lane ^ 1\n");
  exchange_layout(&src, 2, (const int64_t[]){33, 2}, 1, (const int64_t[]){0}, 1, (const int64_t[]){1});
  exchange_layout(&dst, 2, (const int64_t[]){33, 2}, 2, (const int64_t[]){0, 1}, 0, NULL);
  assert_memory_equal(printed(&dst, &src, 32),
                      "shared: 66 threads, 32-bit elements, 1 in a unit\n264 bytes of ", 60);
  tesela_exchange *plan;
  tesela_writer stopping = {stop, NULL};
  OK(tesela_exchange_create(&plan, &dst, &src, 8, NULL, NULL, &e_));
  assert_int_equal(tesela_exchange_print(plan, &stopping, NULL), TESELA_E_STOPPED);
  tesela_exchange_destroy(plan);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(options_and_refusals),       cmocka_unit_test(every_allocation_may_fail),
      cmocka_unit_test(planted_faults_are_seen),    cmocka_unit_test(planted_faults_in_phases_are_seen),
      cmocka_unit_test(plans_print_their_patterns),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
