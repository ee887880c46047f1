/* SPDX-License-Identifier: Apache-2.0 */
/*
 * bench_propagate.c - layouts for programs of 1000 operators: time of each phase, price, gap to the bound.
 *
 *   transformer   layers of attention, normalisation and a feed-forward net; weights as [out,in], so most products
 *                 transpose one
 *   free weights  the same, weights may come in any stick
 *   squares       pointwise operators, each of two of the last 12 tensors, each transposed or not, inputs in random sticks
 *   cubes         the same with permutations of three dims and the last 4 tensors
 *   cubes, hard   with the last 12: every tensor depends on every other, by chance; no proof is in reach
 *
 * Median of a few rounds, in ms. The goal is 10 s, and a gap of 1 % (the hard one aside).
 */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include <tesela/tesela.h>

#include "race.h"
#include "timing.h"

enum { OPERATORS = 1000, ROUNDS = 5, WINDOW = 12 };

static const struct kind {
  const char *name;
  bool free_weights;
  int32_t rank, window; /* of permuted tensors; 0: a transformer */
  int phases;
} kinds[] = {
    {"transformer", false, 0, 0, 4}, {"free weights", true, 0, 0, 4},      {"squares", false, 2, WINDOW, 4},
    {"cubes", false, 3, 4, 4},       {"cubes, hard", false, 3, WINDOW, 1},
};

typedef struct builder {
  tesela_graph *graph;
  const struct kind *kind;
  int32_t operators;
  uint64_t state;
} builder;

static int32_t add(builder *b, const tesela_node_spec *spec) {
  int32_t node;
  tesela_error err;
  if (tesela_graph_add(b->graph, spec, &node, &err) != TESELA_OK) race_fail("%s", err.message);
  if (spec->op != TESELA_OP_INPUT && spec->op < TESELA_OP_PERMUTE) b->operators++;
  return node;
}

static int32_t input(builder *b, int32_t rank, const int64_t *shape, int32_t stick) {
  return add(b,
             &(tesela_node_spec){
                 .op = TESELA_OP_INPUT, .dtype = TESELA_F16, .rank = rank, .shape = shape, .stick = stick});
}

static int32_t pointwise(builder *b, tesela_fn fn, int32_t x, int32_t y) {
  return add(b, &(tesela_node_spec){.op = TESELA_OP_POINTWISE,
                                    .fn = fn,
                                    .n_operands = y < 0 ? 1 : 2,
                                    .operand = (const int32_t[]){x, y}});
}

static int32_t reduce(builder *b, tesela_fn fn, int32_t x, int32_t dim) {
  return add(b, &(tesela_node_spec){.op = TESELA_OP_REDUCE,
                                    .fn = fn,
                                    .n_operands = 1,
                                    .operand = &x,
                                    .n_dims = 1,
                                    .dims = &dim,
                                    .keepdim = true});
}

static int32_t matmul(builder *b, int32_t x, int32_t y) {
  return add(
      b, &(tesela_node_spec){.op = TESELA_OP_MATMUL, .n_operands = 2, .operand = (const int32_t[]){x, y}});
}

static int32_t permute(builder *b, int32_t x, int32_t n, const int32_t *dims) {
  return add(b, &(tesela_node_spec){
                    .op = TESELA_OP_PERMUTE, .n_operands = 1, .operand = &x, .n_dims = n, .dims = dims});
}

static int32_t reshape(builder *b, int32_t x, int32_t rank, const int64_t *shape) {
  return add(b, &(tesela_node_spec){
                    .op = TESELA_OP_RESHAPE, .n_operands = 1, .operand = &x, .rank = rank, .shape = shape});
}

static int32_t linear(builder *b, int32_t x, int64_t in, int64_t out) {
  int32_t w = input(b, 2, (const int64_t[]){out, in}, b->kind->free_weights ? TESELA_STICK_FREE : 1);
  int32_t bias = input(b, 1, &out, 0);
  int32_t y = matmul(b, x, permute(b, w, 2, (const int32_t[]){1, 0}));
  return pointwise(b, TESELA_FN_ADD, y, bias);
}

static int32_t normal(builder *b, int32_t x, int64_t width) {
  int32_t centred = pointwise(b, TESELA_FN_SUB, x, reduce(b, TESELA_FN_MEAN, x, 2));
  int32_t variance = reduce(b, TESELA_FN_MEAN, pointwise(b, TESELA_FN_MUL, centred, centred), 2);
  int32_t y = pointwise(b, TESELA_FN_MUL, centred, pointwise(b, TESELA_FN_RSQRT, variance, -1));
  return pointwise(b, TESELA_FN_MUL, y, input(b, 1, &width, 0));
}

static void layer(builder *b, int32_t *x) {
  enum { BATCH = 2, WORDS = 384, WIDTH = 768, HEADS = 12, HEAD = 64 };
  static const int32_t swap[] = {0, 2, 1, 3}, transpose[] = {0, 1, 3, 2};
  int32_t n = normal(b, *x, WIDTH), qkv[3];
  for (int i = 0; i < 3; i++) {
    int32_t y = reshape(b, linear(b, n, WIDTH, WIDTH), 4, (const int64_t[]){BATCH, WORDS, HEADS, HEAD});
    qkv[i] = permute(b, y, 4, swap);
  }
  int32_t scores = matmul(b, qkv[0], permute(b, qkv[1], 4, transpose));
  int32_t shifted = pointwise(b, TESELA_FN_SUB, scores, reduce(b, TESELA_FN_MAX, scores, 3));
  int32_t e = pointwise(b, TESELA_FN_EXP, shifted, -1);
  int32_t soft = pointwise(b, TESELA_FN_DIV, e, reduce(b, TESELA_FN_SUM, e, 3));
  int32_t mixed = permute(b, matmul(b, soft, qkv[2]), 4, swap);
  int32_t copied = add(b, &(tesela_node_spec){.op = TESELA_OP_CLONE, .n_operands = 1, .operand = &mixed});
  int32_t y = reshape(b, copied, 3, (const int64_t[]){BATCH, WORDS, WIDTH});
  *x = pointwise(b, TESELA_FN_ADD, *x, linear(b, y, WIDTH, WIDTH));
  y = linear(b, normal(b, *x, WIDTH), WIDTH, 4 * WIDTH);
  y = linear(b, pointwise(b, TESELA_FN_TANH, y, -1), 4 * WIDTH, WIDTH);
  *x = pointwise(b, TESELA_FN_ADD, *x, y);
}

static void transformer(builder *b) {
  int32_t x = input(b, 3, (const int64_t[]){2, 384, 768}, 2);
  while (b->operators < OPERATORS) layer(b, &x);
}

static uint64_t next(builder *b) {
  b->state = b->state * 6364136223846793005u + 1442695040888963407u;
  return b->state >> 33;
}

/* One of the last tensors, permuted at random. */
static int32_t turned(builder *b, const int32_t *node, int32_t n) {
  int32_t rank = b->kind->rank, window = n < b->kind->window ? n : b->kind->window;
  static const int32_t order[6][3] = {{0, 1, 2}, {0, 2, 1}, {1, 0, 2}, {1, 2, 0}, {2, 0, 1}, {2, 1, 0}};
  static const int32_t pair[2][2] = {{0, 1}, {1, 0}};
  int32_t x = node[n - 1 - (int32_t)(next(b) % (uint64_t)window)];
  return permute(b, x, rank, rank == 2 ? pair[next(b) % 2] : order[next(b) % 6]);
}

static void transposes(builder *b) {
  int32_t rank = b->kind->rank;
  static int32_t node[OPERATORS + WINDOW];
  int32_t n = 0;
  for (; n < b->kind->window; n++)
    node[n] = input(b, rank, rank == 2 ? (const int64_t[]){512, 512} : (const int64_t[]){64, 64, 64},
                    (int32_t)(next(b) % (uint64_t)rank));
  for (; b->operators < OPERATORS; n++) {
    int32_t x = turned(b, node, n);
    node[n] = pointwise(b, TESELA_FN_ADD, x, turned(b, node, n));
  }
}

static void build(builder *b) {
  if (tesela_graph_create(&b->graph, NULL, NULL) != TESELA_OK) race_fail("no graph");
  b->state = 1;
  if (b->kind->rank == 0)
    transformer(b);
  else
    transposes(b);
  tesela_graph_set_output(b->graph, tesela_graph_count(b->graph) - 1, NULL);
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
  printf("  %-12s %9.2f ms", what->name, median_of(solve, rounds) / 1e6);
  if (!facts.ok) {
    printf("   none: node %" PRId32 " is the first without a layout\n", facts.error_node);
    return;
  }
  printf("   apply %7.2f ms   %4" PRId32 " moves of %" PRId64 " elements, bound %" PRId64
         ", gap %.4f %%%s, core %" PRId32 " of %" PRId32 "\n",
         median_of(apply, rounds) / 1e6, facts.n_moves, facts.moved, facts.bound,
         facts.cost ? 100.0 * (double)(facts.cost - facts.bound) / (double)facts.cost : 0,
         facts.proven ? " (proven)" : "", facts.core, facts.buffers);
}

int main(void) {
  static const phase phases[] = {
      {"auto", {.mode = TESELA_PROPAGATE_AUTO}},
      {"strict", {.mode = TESELA_PROPAGATE_STRICT}},
      {"all sticks", {.mode = TESELA_PROPAGATE_AUTO, .all_sticks = true}},
      {"shared", {.mode = TESELA_PROPAGATE_AUTO, .share = true}},
  };
  printf("bench_propagate: medians of up to %d rounds\n", ROUNDS);
  for (size_t k = 0; k < sizeof kinds / sizeof *kinds; k++) {
    builder b = {.kind = &kinds[k]};
    double start = bench_now();
    build(&b);
    printf("%s: %" PRId32 " operators, %" PRId32 " nodes, built in %.2f ms\n", kinds[k].name, b.operators,
           tesela_graph_count(b.graph), (bench_now() - start) / 1e6);
    for (int i = 0; i < kinds[k].phases; i++) bench_one(&b, &phases[i]);
    tesela_graph_destroy(b.graph);
  }
  return 0;
}
