/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_graph_run_random.c - random programs on tiled memory.
 *
 * Each is computed by the oracle, and run plain, on tiled buffers, on tiled buffers in one planned arena with results in operands'
 * places and a scratchpad, and divided over cores with the shares in both orders: the same bits each time, nothing read before it was written, and no
 * place written but those that hold elements.
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

#include "graph/run/run.h"
#include "graph_oracle.h"
#include "support_graph_random.h"
#include "support_seed.h"

enum { PROGRAMS = 500, OF_A_CLASS = 60 };

static uint64_t seed;
static int64_t taken, scratch, tried; /* how much the programs had of what is tested */

typedef struct what {
  random_program *p;
  uint64_t number;
  const char *how;
  void *expected[RANDOM_OUTPUTS];
} what;

static const tesela_node *output_node(const random_program *p, int32_t n) {
  return tesela_graph_node(p->graph, tesela_graph_output(p->graph, n));
}

static void describe(const what *w) {
  for (int32_t k = 0; k < tesela_graph_count(w->p->graph); k++) {
    const tesela_node *node = tesela_graph_node(w->p->graph, k);
    fprintf(stderr, "%3d %-12s %-10s %-6s %s[", (int)k, node->name, tesela_op_name(node->op),
            tesela_fn_name(node->fn), tesela_dtype_name(node->dtype));
    for (int32_t d = 0; d < node->rank; d++) fprintf(stderr, "%s%d", d ? "," : "", (int)node->shape[d]);
    fprintf(stderr, "] of");
    for (int32_t o = 0; o < node->n_operands; o++) fprintf(stderr, " %d", (int)node->operand[o]);
    fprintf(stderr, "%s%s buffer %d\n", node->output ? " output" : "", node->in_place ? " in place" : "",
            (int)node->buffer);
  }
}

static void check_outputs(const what *w) {
  for (int32_t k = 0; k < w->p->n_outputs; k++) {
    const uint8_t *have = w->p->outputs[k], *want = w->expected[k];
    for (int64_t i = 0; i < w->p->bytes[k]; i++) {
      if (have[i] == want[i]) continue;
      describe(w);
      fail_msg("seed %" PRIu64 ", %s: output %s differs at byte %" PRId64 ": 0x%02x, not 0x%02x", w->number,
               w->how, output_node(w->p, k)->name, i, have[i], want[i]);
    }
  }
}

/* Marks are of the buffer itself exactly where elements lie. */
static void check_padding(void *user, int32_t node, const tesela__run_buffer *buffer, int32_t grain) {
  const what *w = user;
  const tesela_device_layout *layout = tesela_graph_node(w->p->graph, node)->layout;
  uint8_t *holds = calloc((size_t)layout->places + 1, 1);
  int64_t index[TESELA_GRAPH_RANK] = {0}, n = 1, copies = 1;
  for (int32_t d = 0; d < layout->host.rank; d++) n *= layout->host.shape[d];
  for (int64_t e = 0; e < n; e++) {
    int64_t rest = e;
    for (int32_t d = layout->host.rank - 1; d >= 0; d--) {
      index[d] = rest % layout->host.shape[d];
      rest /= layout->host.shape[d];
    }
    for (int64_t c = 0; c < copies; c++) holds[random_place(layout, index, c, &copies)] = 1;
  }
  int32_t marks = buffer->width / grain;
  for (int64_t p = 0; p < layout->places; p++) {
    uint8_t poison[16];
    tesela__run_poison(buffer->dtype, poison, buffer->width);
    for (int32_t i = 0; i < marks; i++)
      if ((buffer->mark[p * marks + i] == node + 1) != holds[p])
        fail_msg("seed %" PRIu64 ", %s: node %d, place %" PRId64 " %s", w->number, w->how, (int)node, p,
                 holds[p] ? "was not written" : "is padding and was written");
    if (!holds[p] && memcmp(poison, buffer->bytes + p * buffer->width, (size_t)buffer->width) != 0)
      fail_msg("seed %" PRIu64 ", %s: node %d, padding at place %" PRId64 " is no poison", w->number, w->how,
               (int)node, p);
  }
  free(holds);
}

static void run(what *w, const char *how, const tesela_graph_run_options *options,
                const tesela__run_hooks *hooks) {
  tesela_graph_run_facts facts;
  tesela_error err = {.message = ""};
  w->how = how;
  random_program_clear(w->p, 0xcd);
  if (tesela__graph_run(w->p->graph, &w->p->target, w->p->inputs, w->p->outputs, options, hooks, &facts,
                        &err) != TESELA_OK) {
    describe(w);
    fail_msg("seed %" PRIu64 ", %s: %s", w->number, how, err.message);
  }
  check_outputs(w);
  if (facts.poison_read != 0) {
    describe(w);
    fail_msg("seed %" PRIu64 ", %s: %" PRId64 " elements read that nobody wrote", w->number, how,
             facts.poison_read);
  }
}

static void run_planned(what *w, const tesela_graph_memory_options *options, const char *how) {
  tesela_graph_memory *memory;
  tesela_error err = {.message = ""};
  if (tesela_graph_plan_memory(&memory, w->p->graph, &w->p->target, options, &err) != TESELA_OK)
    fail_msg("seed %" PRIu64 ", %s: %s", w->number, how, err.message);
  tesela_graph_memory_facts facts = tesela_graph_memory_facts_of(memory);
  taken += facts.reused;
  scratch += facts.traffic_saved > 0;
  run(w, how, &(tesela_graph_run_options){.memory = memory}, NULL);
  tesela_graph_memory_destroy(memory);
}

static void check_program(random_program *p, uint64_t number, uint64_t *state) {
  what w = {.p = p, .number = number};
  random_program_clear(p, 0xab);
  int oracle = graph_oracle_run(p->graph, p->inputs, p->outputs);
  if (oracle != 0) {
    describe(&w);
    fail_msg("seed %" PRIu64 ": the oracle says %d", number, oracle);
  }
  for (int32_t k = 0; k < p->n_outputs; k++) {
    w.expected[k] = malloc((size_t)p->bytes[k] + 1);
    memcpy(w.expected[k], p->outputs[k], (size_t)p->bytes[k]);
  }
  run(&w, "plain", &(tesela_graph_run_options){.plain = true}, NULL);
  random_program_layouts(p, state);
  tesela__run_hooks look = {.inspect = check_padding, .user = &w};
  run(&w, "tiled", NULL, &look);
  run_planned(&w, &(tesela_graph_memory_options){.effort = 2000}, "arena");
  run_planned(&w,
              &(tesela_graph_memory_options){
                  .effort = 2000, .inputs = true, .scratchpad = random_below(state, 4) * 512},
              "arena with inputs");
  tesela__run_hooks divided = {.cores = 1 + (int32_t)random_below(state, 16),
                               .backwards = random_below(state, 2)};
  run(&w, "divided", NULL, &divided);
  for (int32_t k = 0; k < p->n_outputs; k++) free(w.expected[k]);
  tried++;
}

static void test_programs(void **unused) {
  (void)unused;
  for (int32_t k = 0; k < PROGRAMS; k++) {
    uint64_t number = seed + (uint64_t)k, state = number * UINT64_C(0x9e3779b97f4a7c15) + 1;
    random_program p;
    random_program_make(&p, &state, 1 + (int32_t)random_below(&state, 12));
    check_program(&p, number, &state);
    random_program_free(&p);
  }
  print_message("%" PRId64 " programs, %" PRId64 " places taken, %" PRId64 " with a scratchpad in use\n",
                tried, taken, scratch);
  assert_true(taken > PROGRAMS / 10 && scratch > PROGRAMS / 10);
}

/* Every class of operators by itself, so that none is missed by chance. */
static void test_classes(void **unused) {
  (void)unused;
  for (int op = TESELA_OP_CONSTANT; op <= TESELA_OP_POOL; op++) {
    int32_t done = 0;
    if (op == TESELA_OP_FALLBACK) continue;
    for (int32_t k = 0; k < 4 * OF_A_CLASS && done < OF_A_CLASS; k++) {
      uint64_t number = seed + 1000000 * (uint64_t)op + (uint64_t)k,
               state = number * UINT64_C(0x9e3779b97f4a7c15) + 1;
      random_program p;
      if (random_program_of(&p, &state, (tesela_op)op, TESELA_DTYPE_NONE)) {
        check_program(&p, number, &state);
        done++;
      }
      random_program_free(&p);
    }
    if (done < OF_A_CLASS / 2) fail_msg("%s: %d programs", tesela_op_name((tesela_op)op), (int)done);
  }
}

int main(void) {
  seed = first_seed();
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_classes),
      cmocka_unit_test(test_programs),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
