/* SPDX-License-Identifier: Apache-2.0 */
/*
 * programs.h - programs of about a thousand operators, as models have them, to be laid out.
 *
 *   transformer   attention, normalisation, a feed-forward net, around a residual stream; weights as [out,in]
 *   experts       the same, with eight feed-forward nets of which each word takes two: gathered, and scattered back
 *   training      a net of linear layers on columns and rows in turn, its gradients and the update of its weights
 *   unet          convolutions down and up again, each level joined to that of its size, with attention at the bottom
 *   densenet      convolutions of all that a block has made so far, joined
 *
 * Each can have its weights as they come or laid out freely, and one set of them for all layers.
 */
#ifndef TESELA_BENCH_PROGRAMS_H
#define TESELA_BENCH_PROGRAMS_H

#include <string.h>

#include <tesela/tesela.h>

#include "race.h"

enum { OPERATORS = 1000, WEIGHTS = 256 };

typedef struct builder {
  tesela_graph *graph;
  bool free_weights, tied; /* tied: each layer has the weights of the first */
  int32_t operators;
  int32_t weight[WEIGHTS], n_weights, next_weight;
  uint64_t state;
} builder;

static int32_t add_node(builder *b, const tesela_node_spec *spec) {
  int32_t node;
  tesela_error err;
  if (tesela_graph_add(b->graph, spec, &node, &err) != TESELA_OK) race_fail("%s", err.message);
  if (spec->op != TESELA_OP_INPUT && spec->op < TESELA_OP_PERMUTE) b->operators++;
  return node;
}

static int32_t input(builder *b, int32_t rank, const int64_t *shape, int32_t stick) {
  return add_node(
      b, &(tesela_node_spec){
             .op = TESELA_OP_INPUT, .dtype = TESELA_F16, .rank = rank, .shape = shape, .stick = stick});
}

/* The next weight of a layer; of a tied one that is there already, that. */
static int32_t weight(builder *b, int32_t rank, const int64_t *shape) {
  const int32_t k = b->next_weight++;
  if (b->tied && k < b->n_weights) return b->weight[k];
  const int32_t w = input(b, rank, shape, b->free_weights ? TESELA_STICK_FREE : rank - 1);
  if (k < WEIGHTS) {
    b->weight[k] = w;
    b->n_weights = k + 1;
  }
  return w;
}

static int32_t pointwise(builder *b, tesela_fn fn, int32_t x, int32_t y) {
  return add_node(b, &(tesela_node_spec){.op = TESELA_OP_POINTWISE,
                                         .fn = fn,
                                         .n_operands = y < 0 ? 1 : 2,
                                         .operand = (const int32_t[]){x, y}});
}

static int32_t reduce(builder *b, tesela_fn fn, int32_t x, int32_t dim, bool keepdim) {
  return add_node(b, &(tesela_node_spec){.op = TESELA_OP_REDUCE,
                                         .fn = fn,
                                         .n_operands = 1,
                                         .operand = &x,
                                         .n_dims = 1,
                                         .dims = &dim,
                                         .keepdim = keepdim});
}

static int32_t matmul(builder *b, int32_t x, int32_t y) {
  return add_node(
      b, &(tesela_node_spec){.op = TESELA_OP_MATMUL, .n_operands = 2, .operand = (const int32_t[]){x, y}});
}

static int32_t permute(builder *b, int32_t x, int32_t n, const int32_t *dims) {
  return add_node(b, &(tesela_node_spec){
                         .op = TESELA_OP_PERMUTE, .n_operands = 1, .operand = &x, .n_dims = n, .dims = dims});
}

static int32_t transpose_matrix(builder *b, int32_t x) { return permute(b, x, 2, (const int32_t[]){1, 0}); }

static int32_t reshape(builder *b, int32_t x, int32_t rank, const int64_t *shape) {
  return add_node(b,
                  &(tesela_node_spec){
                      .op = TESELA_OP_RESHAPE, .n_operands = 1, .operand = &x, .rank = rank, .shape = shape});
}

static int32_t clone(builder *b, int32_t x) {
  return add_node(b, &(tesela_node_spec){.op = TESELA_OP_CLONE, .n_operands = 1, .operand = &x});
}

static int32_t concatenate(builder *b, int32_t n, const int32_t *x, int32_t dim) {
  return add_node(
      b, &(tesela_node_spec){.op = TESELA_OP_CAT, .n_operands = n, .operand = x, .n_dims = 1, .dims = &dim});
}

/* ---- transformers -------------------------------------------------------------------------------------------- */

enum { BATCH = 2, WORDS = 384, WIDTH = 768, HEADS = 12, HEAD = 64, EXPERTS = 8, TAKEN = 128 };

static int32_t linear(builder *b, int32_t x, int64_t in, int64_t out) {
  int32_t w = weight(b, 2, (const int64_t[]){out, in}), bias = weight(b, 1, &out);
  return pointwise(b, TESELA_FN_ADD, matmul(b, x, transpose_matrix(b, w)), bias);
}

static int32_t normal(builder *b, int32_t x, int32_t dim, int64_t width) {
  int32_t centred = pointwise(b, TESELA_FN_SUB, x, reduce(b, TESELA_FN_MEAN, x, dim, true));
  int32_t variance = reduce(b, TESELA_FN_MEAN, pointwise(b, TESELA_FN_MUL, centred, centred), dim, true);
  int32_t y = pointwise(b, TESELA_FN_MUL, centred, pointwise(b, TESELA_FN_RSQRT, variance, -1));
  return pointwise(b, TESELA_FN_MUL, y, weight(b, 1, &width));
}

static int32_t softmax(builder *b, int32_t x, int32_t dim) {
  int32_t shifted = pointwise(b, TESELA_FN_SUB, x, reduce(b, TESELA_FN_MAX, x, dim, true));
  int32_t e = pointwise(b, TESELA_FN_EXP, shifted, -1);
  return pointwise(b, TESELA_FN_DIV, e, reduce(b, TESELA_FN_SUM, e, dim, true));
}

static int32_t attention(builder *b, int32_t x) {
  static const int32_t swap[] = {0, 2, 1, 3}, turn[] = {0, 1, 3, 2};
  int32_t qkv[3];
  for (int i = 0; i < 3; i++) {
    int32_t y = reshape(b, linear(b, x, WIDTH, WIDTH), 4, (const int64_t[]){BATCH, WORDS, HEADS, HEAD});
    qkv[i] = permute(b, y, 4, swap);
  }
  int32_t soft = softmax(b, matmul(b, qkv[0], permute(b, qkv[1], 4, turn)), 3);
  int32_t mixed = permute(b, matmul(b, soft, qkv[2]), 4, swap);
  int32_t y = reshape(b, clone(b, mixed), 3, (const int64_t[]){BATCH, WORDS, WIDTH});
  return linear(b, y, WIDTH, WIDTH);
}

static int32_t feed(builder *b, int32_t x) {
  int32_t y = linear(b, x, WIDTH, 4 * WIDTH);
  return linear(b, pointwise(b, TESELA_FN_TANH, y, -1), 4 * WIDTH, WIDTH);
}

static void transformer(builder *b) {
  int32_t x = input(b, 3, (const int64_t[]){BATCH, WORDS, WIDTH}, 2);
  while (b->operators < OPERATORS) {
    b->next_weight = b->tied ? 0 : WEIGHTS;
    x = pointwise(b, TESELA_FN_ADD, x, attention(b, normal(b, x, 2, WIDTH)));
    x = pointwise(b, TESELA_FN_ADD, x, feed(b, normal(b, x, 2, WIDTH)));
  }
}

/* Each expert takes the words that like it best; what it says is weighted and added where they stand. */
static int32_t experts(builder *b, int32_t x) {
  static const int64_t words[] = {BATCH * WORDS, WIDTH}, taken = TAKEN;
  int32_t flat = reshape(b, x, 2, words), sum = pointwise(b, TESELA_FN_MUL, flat, flat);
  int32_t score =
      softmax(b, matmul(b, flat, transpose_matrix(b, weight(b, 2, (const int64_t[]){EXPERTS, WIDTH}))), 1);
  for (int32_t k = 0; k < EXPERTS; k++) {
    int32_t one = add_node(b, &(tesela_node_spec){.op = TESELA_OP_SLICE,
                                                  .n_operands = 1,
                                                  .operand = &score,
                                                  .start = (const int64_t[]){0, k},
                                                  .length = (const int64_t[]){BATCH * WORDS, 1}});
    int32_t line = reshape(b, clone(b, one), 1, words);
    int32_t who = add_node(b, &(tesela_node_spec){.op = TESELA_OP_ALONG,
                                                  .fn = TESELA_FN_ARGSORT,
                                                  .n_operands = 1,
                                                  .operand = &line,
                                                  .reverse = true,
                                                  .length = &taken,
                                                  .dtype = TESELA_S32});
    int32_t chosen =
        add_node(b, &(tesela_node_spec){
                        .op = TESELA_OP_GATHER, .n_operands = 2, .operand = (const int32_t[]){flat, who}});
    int32_t up = pointwise(b, TESELA_FN_TANH, linear(b, chosen, WIDTH, WIDTH), -1);
    sum =
        add_node(b, &(tesela_node_spec){.op = TESELA_OP_SCATTER,
                                        .fn = TESELA_FN_ADD,
                                        .n_operands = 3,
                                        .operand = (const int32_t[]){sum, who, linear(b, up, WIDTH, WIDTH)}});
  }
  return reshape(b, sum, 3, (const int64_t[]){BATCH, WORDS, WIDTH});
}

static void mixture(builder *b) {
  int32_t x = input(b, 3, (const int64_t[]){BATCH, WORDS, WIDTH}, 2);
  while (b->operators < OPERATORS) {
    b->next_weight = b->tied ? 0 : WEIGHTS;
    x = pointwise(b, TESELA_FN_ADD, x, attention(b, normal(b, x, 2, WIDTH)));
    x = pointwise(b, TESELA_FN_ADD, x, experts(b, normal(b, x, 2, WIDTH)));
  }
}

/* ---- training ------------------------------------------------------------------------------------------------ */

/* Forward y = tanh(x w), or on columns tanh(w x)T; a skip every second layer. Then back, and each weight is updated. */
static void training(builder *b) {
  enum { LAYERS = 125, SIDE = 512 };
  static const int64_t square[] = {SIDE, SIDE};
  int32_t x[LAYERS + 1], w[LAYERS];
  x[0] = input(b, 2, square, 1);
  for (int32_t k = 0; k < LAYERS; k++) {
    b->next_weight = b->tied ? k % 4 : WEIGHTS;
    w[k] = weight(b, 2, square);
    int32_t y = k % 3 == 2 ? transpose_matrix(b, matmul(b, w[k], transpose_matrix(b, x[k])))
                           : matmul(b, x[k], k % 3 == 1 ? transpose_matrix(b, w[k]) : w[k]);
    y = pointwise(b, TESELA_FN_TANH, y, -1);
    x[k + 1] = k % 2 == 1 ? pointwise(b, TESELA_FN_ADD, y, x[k - 1]) : y;
  }
  int32_t grad = pointwise(b, TESELA_FN_SUB, x[LAYERS], input(b, 2, square, 0));
  for (int32_t k = LAYERS - 1; k >= 0; k--) {
    int32_t slope = pointwise(b, TESELA_FN_MUL, x[k + 1], x[k + 1]);
    int32_t dy = pointwise(b, TESELA_FN_MUL, grad, slope);
    int32_t dw =
        k % 3 == 0 ? matmul(b, transpose_matrix(b, x[k]), dy) : matmul(b, transpose_matrix(b, dy), x[k]);
    int32_t dx = k % 3 == 0 ? matmul(b, dy, transpose_matrix(b, w[k])) : matmul(b, dy, w[k]);
    tesela_graph_add_output(b->graph, pointwise(b, TESELA_FN_SUB, w[k], dw), NULL);
    grad = k % 2 == 1 ? dx : pointwise(b, TESELA_FN_ADD, dx, grad);
  }
}

/* ---- convolutions -------------------------------------------------------------------------------------------- */

static int32_t convolve(builder *b, int32_t x, int64_t in, int64_t out, int64_t step) {
  int32_t w = weight(b, 4, (const int64_t[]){out, in, 3, 3});
  tesela_node_spec spec = {.op = TESELA_OP_CONV2D, .n_operands = 2, .operand = (const int32_t[]){x, w}};
  for (int i = 0; i < 2; i++) {
    spec.conv.stride[i] = step;
    spec.conv.dilation[i] = spec.conv.low[i] = spec.conv.high[i] = 1;
  }
  int32_t y = add_node(b, &spec);
  y = pointwise(b, TESELA_FN_MUL, y, weight(b, 3, (const int64_t[]){out, 1, 1}));
  return pointwise(b, TESELA_FN_TANH,
                   pointwise(b, TESELA_FN_ADD, y, weight(b, 3, (const int64_t[]){out, 1, 1})), -1);
}

/* Each pixel four times. */
static int32_t enlarge(builder *b, int32_t x, int64_t channels, int64_t side) {
  int32_t y = reshape(b, x, 6, (const int64_t[]){BATCH, channels, side, 1, side, 1});
  y = add_node(b, &(tesela_node_spec){.op = TESELA_OP_EXPAND,
                                      .n_operands = 1,
                                      .operand = &y,
                                      .rank = 6,
                                      .shape = (const int64_t[]){BATCH, channels, side, 2, side, 2}});
  return reshape(b, clone(b, y), 4, (const int64_t[]){BATCH, channels, 2 * side, 2 * side});
}

/* Every pixel asks all others. */
static int32_t look_around(builder *b, int32_t x, int64_t channels, int64_t side) {
  int32_t flat = clone(b, reshape(b, x, 3, (const int64_t[]){BATCH, channels, side * side}));
  int32_t rows = permute(b, flat, 3, (const int32_t[]){0, 2, 1});
  int32_t mixed = matmul(b, softmax(b, matmul(b, rows, flat), 2), rows);
  int32_t y = clone(b, permute(b, mixed, 3, (const int32_t[]){0, 2, 1}));
  return pointwise(b, TESELA_FN_ADD, x, reshape(b, y, 4, (const int64_t[]){BATCH, channels, side, side}));
}

static void unet(builder *b) {
  enum { LEVELS = 4, SIDE = 64, CHANNELS = 64 };
  int32_t x = input(b, 4, (const int64_t[]){BATCH, CHANNELS, SIDE, SIDE}, 3), skip[LEVELS];
  while (b->operators < OPERATORS) {
    b->next_weight = b->tied ? 0 : WEIGHTS;
    for (int32_t k = 0; k < LEVELS; k++) {
      skip[k] = x = convolve(b, x, CHANNELS << k, CHANNELS << k, 1);
      x = convolve(b, x, CHANNELS << k, CHANNELS << (k + 1), 2);
    }
    x = look_around(b, x, CHANNELS << LEVELS, SIDE >> LEVELS);
    for (int32_t k = LEVELS - 1; k >= 0; k--) {
      x = convolve(b, enlarge(b, x, CHANNELS << (k + 1), SIDE >> (k + 1)), CHANNELS << (k + 1), CHANNELS << k,
                   1);
      x = convolve(b, concatenate(b, 2, (const int32_t[]){x, skip[k]}, 1), CHANNELS << (k + 1), CHANNELS << k,
                   1);
    }
  }
}

static void densenet(builder *b) {
  enum { STEPS = 12, SIDE = 32, GROWTH = 32 };
  int32_t x = input(b, 4, (const int64_t[]){BATCH, GROWTH, SIDE, SIDE}, 3);
  while (b->operators < OPERATORS) {
    int32_t made[STEPS + 1] = {x};
    b->next_weight = b->tied ? 0 : WEIGHTS;
    for (int32_t k = 1; k <= STEPS; k++) {
      int32_t all = k == 1 ? x : concatenate(b, k, made, 1);
      int32_t y = convolve(b, all, (int64_t)GROWTH * k, 2 * GROWTH, 1);
      made[k] =
          k % 4 == 0
              ? clone(b, permute(b, convolve(b, y, 2 * GROWTH, GROWTH, 1), 4, (const int32_t[]){0, 1, 3, 2}))
              : convolve(b, y, 2 * GROWTH, GROWTH, 1);
    }
    x = convolve(b, concatenate(b, STEPS + 1, made, 1), (int64_t)GROWTH * (STEPS + 1), GROWTH, 1);
  }
}

#endif
