/* SPDX-License-Identifier: Apache-2.0 */
/*
 * bench_propagate.c - layouts for programs of 1000 operators: time of each phase, price, gap to the bound.
 *
 * Programs as models have them (programs.h), with weights as they come, laid out freely, or one set for all layers. And
 *
 *   squares   pointwise operators, each of two of the last 12 tensors, each transposed or not, inputs in random sticks
 *   cubes     the same with permutations of three dims and the last 4 or 12 tensors: every tensor depends on every other
 *   sums      of each two of 60 inputs, all of them outputs
 *
 * Median of a few rounds, in ms. The goal is 10 s, and a gap of 1 %. An argument: only programs whose name has it.
 */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include <tesela/tesela.h>

#include "programs.h"
#include "race.h"
#include "timing.h"

enum { ROUNDS = 5, WINDOW = 12, ADDENDS = 60 };

static uint64_t next(builder *b) {
  b->state = b->state * 6364136223846793005u + 1442695040888963407u;
  return b->state >> 33;
}

/* One of the last tensors, permuted at random. */
static int32_t turned(builder *b, const int32_t *node, int32_t n, int32_t rank, int32_t window) {
  static const int32_t order[6][3] = {{0, 1, 2}, {0, 2, 1}, {1, 0, 2}, {1, 2, 0}, {2, 0, 1}, {2, 1, 0}};
  static const int32_t pair[2][2] = {{0, 1}, {1, 0}};
  int32_t x = node[n - 1 - (int32_t)(next(b) % (uint64_t)window)];
  return permute(b, x, rank, rank == 2 ? pair[next(b) % 2] : order[next(b) % 6]);
}

static void permuted(builder *b, int32_t rank, int32_t window) {
  static int32_t node[OPERATORS + WINDOW];
  int32_t n = 0;
  for (; n < window; n++)
    node[n] = input(b, rank, rank == 2 ? (const int64_t[]){512, 512} : (const int64_t[]){64, 64, 64},
                    (int32_t)(next(b) % (uint64_t)rank));
  for (; b->operators < OPERATORS; n++) {
    int32_t x = turned(b, node, n, rank, window);
    node[n] = pointwise(b, TESELA_FN_ADD, x, turned(b, node, n, rank, window));
  }
}

static void squares(builder *b) { permuted(b, 2, WINDOW); }
static void cubes(builder *b) { permuted(b, 3, 4); }
static void many_cubes(builder *b) { permuted(b, 3, WINDOW); }

static void sums(builder *b) {
  int32_t node[ADDENDS];
  for (int32_t i = 0; i < ADDENDS; i++)
    node[i] = input(b, 3, (const int64_t[]){64, 64, 64}, (int32_t)(next(b) % 3));
  for (int32_t i = 0; i < ADDENDS; i++)
    for (int32_t j = 0; j < i; j++)
      tesela_graph_add_output(b->graph, pointwise(b, TESELA_FN_ADD, node[i], node[j]), NULL);
}

static const struct kind {
  const char *name;
  void (*make)(builder *);
  bool free_weights, tied;
} kinds[] = {
    {"transformer", transformer, false, false},
    {"transformer, free weights", transformer, true, false},
    {"transformer, tied free weights", transformer, true, true},
    {"mixture of experts", mixture, false, false},
    {"mixture of experts, free weights", mixture, true, false},
    {"mixture of experts, tied free weights", mixture, true, true},
    {"training", training, false, false},
    {"training, free weights", training, true, false},
    {"training, tied free weights", training, true, true},
    {"unet", unet, false, false},
    {"unet, free weights", unet, true, false},
    {"unet, tied free weights", unet, true, true},
    {"dense blocks", densenet, false, false},
    {"dense blocks, free weights", densenet, true, false},
    {"dense blocks, tied free weights", densenet, true, true},
    {"squares of the last 12", squares, false, false},
    {"cubes of the last 4", cubes, false, false},
    {"cubes of the last 12", many_cubes, false, false},
    {"sums", sums, false, false},
};

static void build(builder *b, const struct kind *kind) {
  if (tesela_graph_create(&b->graph, NULL, NULL) != TESELA_OK) race_fail("no graph");
  b->state = 1;
  b->next_weight = WEIGHTS;
  b->free_weights = kind->free_weights;
  b->tied = kind->tied;
  kind->make(b);
  tesela_graph_add_output(b->graph, tesela_graph_count(b->graph) - 1, NULL);
}

typedef struct phase {
  const char *name;
  tesela_propagate_options options;
} phase;

static void bench_one(builder *b, const phase *what) {
  const tesela_target *target = tesela_target_find("spyre");
  double solve[BENCH_ROUNDS], apply[BENCH_ROUNDS];
  tesela_propagate_facts facts = {0};
  tesela_error err;
  int rounds = 0;
  for (double begin = bench_now(); rounds < ROUNDS && (rounds == 0 || bench_now() - begin < 5e9); rounds++) {
    tesela_propagation *p;
    tesela_graph *applied;
    double start = bench_now();
    if (tesela_graph_propagate(&p, b->graph, target, &what->options, &err) != TESELA_OK)
      race_fail("%s", err.message);
    solve[rounds] = bench_now() - start;
    facts = tesela_propagation_facts_of(p);
    start = bench_now();
    if (facts.ok && tesela_graph_apply(&applied, p, &err) != TESELA_OK) race_fail("%s", err.message);
    apply[rounds] = bench_now() - start;
    if (facts.ok) tesela_graph_destroy(applied);
    tesela_propagation_destroy(p);
  }
  printf("  %-12s %9.2f ms", what->name, race_median(solve, rounds) / 1e6);
  if (!facts.ok) {
    printf("   none: node %" PRId32 " is the first without a layout\n", facts.error_node);
    return;
  }
  printf("   apply %7.2f ms   %4" PRId32 " moves of %" PRId64 " elements, bound %" PRId64
         ", gap %.4f %%%s, core %" PRId32 " of %" PRId32 "\n",
         race_median(apply, rounds) / 1e6, facts.n_moves, facts.moved, facts.bound,
         facts.cost ? 100.0 * (double)(facts.cost - facts.bound) / (double)facts.cost : 0,
         facts.proven ? " (proven)" : "", facts.core, facts.buffers);
  bench_figure("propagate.ms", race_median(solve, rounds) / 1e6);
  bench_figure("propagate.gap_percent",
               facts.cost ? 100.0 * (double)(facts.cost - facts.bound) / (double)facts.cost : 0);
}

int main(int argc, char **argv) {
  static const phase phases[] = {
      {"auto", {.mode = TESELA_PROPAGATE_AUTO}},
      {"strict", {.mode = TESELA_PROPAGATE_STRICT}},
      {"all sticks", {.mode = TESELA_PROPAGATE_AUTO, .all_sticks = true}},
      {"shared", {.mode = TESELA_PROPAGATE_AUTO, .share = true}},
      {"all, shared", {.mode = TESELA_PROPAGATE_AUTO, .all_sticks = true, .share = true}},
  };
  printf("bench_propagate: medians of up to %d rounds\n", ROUNDS);
  for (size_t k = 0; k < sizeof kinds / sizeof *kinds; k++) {
    builder b = {0};
    if (argc > 1 && !strstr(kinds[k].name, argv[1])) continue;
    double start = bench_now();
    build(&b, &kinds[k]);
    printf("%s: %" PRId32 " operators, %" PRId32 " nodes, built in %.2f ms\n", kinds[k].name, b.operators,
           tesela_graph_count(b.graph), (bench_now() - start) / 1e6);
    for (size_t i = 0; i < sizeof phases / sizeof *phases; i++) bench_one(&b, &phases[i]);
    tesela_graph_destroy(b.graph);
  }
  return 0;
}
