/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_graph_padding_random.c - what padding holds, for random programs, against whole-stick execution by
 * definition (support_padding_oracle.h) with several garbages, layouts and fills. TESELA_SEED sets the
 * seed.
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

#include "support_graph_build.h"
#include "support_graph_random.h"
#include "support_padding_oracle.h"
#include "support_seed.h"

#define OK(call)                                                    \
  do {                                                              \
    tesela_error e_ = {.message = ""};                              \
    if ((call) != TESELA_OK) fail_msg("%s: %s", #call, e_.message); \
  } while (0)

static uint64_t seed;

typedef struct tally {
  int64_t programs, known, fine, values, reads, verdict[3];
} tally;

/* Layouts: mostly sticks along the last dim, so that operators agree. */
static void lay_out(tesela_graph *g, const tesela_target *plain, uint64_t *state) {
  static const int64_t to[] = {5, 8, 9, 12};
  bool tiles = random_below(state, 4) == 0;
  tesela_target other = *plain;
  other.n_tiles = 1;
  other.tile[0][0] = 4, other.tile[0][1] = other.stick_bytes / 4;
  for (int32_t k = 0; k < tesela_graph_count(g); k++) {
    const tesela_node *node = tesela_graph_node(g, k);
    tesela_device_layout layout;
    tesela_device_host host;
    tesela_device_padding more = {.to = {0}};
    int32_t order[TESELA_GRAPH_RANK + 1];
    if (node->buffer != k) continue;
    OK(tesela_device_host_of(&host, plain, node->dtype, node->rank, node->shape, &e_));
    for (int32_t d = 0; d < node->rank; d++) order[d] = d;
    other.tile[0][1] = 2 * plain->stick_bytes * 8 / host.device_bits;
    int64_t kind = random_below(state, 10);
    if (kind == 0)
      random_layout(&layout, plain, node->dtype, node->rank, node->shape, state);
    else if (kind == 1 && node->rank > 0) {
      more.to[random_below(state, node->rank)] = to[random_below(state, 4)];
      OK(tesela_device_from_order(&layout, &host, plain->order, plain, node->rank, order, &more, &e_));
    } else if (tiles && node->rank > 1) {
      OK(tesela_device_from_order(&layout, &host, TESELA_ORDER_TILES, &other, node->rank, order, NULL, &e_));
    } else {
      int32_t stick = node->rank > 0 && node->shape[node->rank - 1] > (kind < 6) ? node->rank - 1 : -1;
      OK(tesela_device_with_stick(&layout, &host, plain, stick, &e_));
    }
    OK(tesela_graph_set_layout(g, k, &layout, &e_));
  }
}

/* Fills of inputs: those of types that the oracle lacks are left or 0. */
static int32_t draw_fills(const tesela_graph *g, tesela_padding_fill *fill, uint64_t *state) {
  int32_t n = 0;
  for (int32_t k = 0; k < tesela_graph_count(g); k++) {
    const tesela_node *node = tesela_graph_node(g, k);
    if (node->op != TESELA_OP_INPUT) continue;
    bool known = node->dtype == TESELA_F64 || node->dtype == TESELA_S32;
    fill[n].pad = (tesela_pad)random_below(state, known ? 5 : 2);
    fill[n++].value =
        (double)random_below(state, 3) - 1 + (node->dtype == TESELA_F64 && random_below(state, 2) ? 0.5 : 0);
  }
  return n;
}

/* A program that failed: nodes with layouts (host dim:step:extent), what is said of them, reads. */
static void describe(const tesela_graph *g, const tesela_padding *p) {
  const tesela_node *node;
  const tesela_padding_read *read;
  for (int32_t k = 0; (node = tesela_graph_node(g, k)); k++) {
    tesela_padding_state state = tesela_padding_state_of(p, k);
    printf("%d %s %s(", (int)k, tesela_op_name(node->op), tesela_fn_name(node->fn));
    for (int32_t i = 0; i < node->n_operands; i++) printf("%s%d", i ? "," : "", (int)node->operand[i]);
    printf(") %s[", tesela_dtype_name(node->dtype));
    for (int32_t d = 0; d < node->rank; d++) printf("%s%" PRId64, d ? "," : "", node->shape[d]);
    printf("]%s", node->in_place ? " in place" : "");
    for (int32_t j = 0; node->layout && j < node->layout->n_dims; j++)
      printf(" %d:%" PRId64 ":%" PRId64, (int)node->layout->dim[j].dim, node->layout->dim[j].step,
             node->layout->dim[j].extent);
    printf("  kind %d value %g\n", (int)state.kind, state.value);
  }
  for (int32_t k = 0; (read = tesela_padding_read_at(p, k)); k++)
    printf("node %d operand %d dim %d: %" PRId64 "..%" PRId64 ", found %d %g, verdict %d\n", (int)read->node,
           (int)read->operand, (int)read->dim, read->from, read->to, (int)read->found.kind, read->found.value,
           (int)read->verdict);
}

static void check_program(tesela_graph *g, const tesela_target *plain, uint64_t *state, uint64_t number,
                          tally *t) {
  tesela_padding_fill fill[RANDOM_INPUTS], found[RANDOM_INPUTS];
  bool same = random_below(state, 2) == 0;
  lay_out(g, plain, state);
  for (int32_t round = 0; round < 2; round++) {
    int32_t n = draw_fills(g, fill, state), fine = -1, claimed = 0;
    for (int32_t i = 1; i < n && same; i++)
      if (fill[i].pad != TESELA_PAD_VALUE && fill[i].pad > 1 && fill[0].pad <= 1) fill[i] = fill[0];
    tesela_padding *p, *better;
    tesela_padding_fill copy = {.pad = (tesela_pad)random_below(state, 2)};
    OK(tesela_graph_padding(&p, g, &(tesela_padding_options){.input = fill, .copy = copy}, &e_));
    for (int32_t k = 0; k < tesela_graph_count(g); k++)
      t->values += tesela_graph_node(g, k)->n_operands > 0 &&
                   tesela_padding_state_of(p, k).kind == TESELA_PADDING_VALUE;
    for (int32_t k = 0; tesela_padding_read_at(p, k); k++) {
      t->reads++;
      t->verdict[tesela_padding_read_at(p, k)->verdict]++;
      claimed += tesela_padding_read_at(p, k)->verdict == TESELA_PADDING_FINE;
    }
    for (int32_t garbage = 0; garbage < 3; garbage++) {
      pad_oracle o = {.graph = g,
                      .padding = p,
                      .fill = fill,
                      .copied = copy,
                      .state = *state + 77 * (uint64_t)garbage + 1};
      o.masked = garbage == 1;
      pad_oracle_run(&o);
      if (o.failure[0]) describe(g, p);
      if (o.failure[0]) fail_msg("TESELA_SEED=%" PRIu64 ", program %" PRIu64 ": %s", seed, number, o.failure);
      if (o.unsupported) break;
      t->known += o.known;
      t->fine += o.fine;
      t->programs++;
    }
    OK(tesela_padding_suggest(p, found, &fine, &e_)); /* it holds what it promises, and is at least as good */
    OK(tesela_graph_padding(&better, g, &(tesela_padding_options){.input = found, .copy = copy}, &e_));
    int32_t got = 0;
    for (int32_t k = 0; tesela_padding_read_at(better, k); k++)
      got += tesela_padding_read_at(better, k)->verdict == TESELA_PADDING_FINE;
    assert_int_equal(got, fine);
    assert_true(fine >= claimed);
    tesela_padding_destroy(better);
    tesela_padding_destroy(p);
  }
}

static void one_operator(void **unused) {
  (void)unused;
  static const tesela_op ops[] = {
      TESELA_OP_POINTWISE, TESELA_OP_REDUCE, TESELA_OP_MATMUL, TESELA_OP_CONV2D, TESELA_OP_GATHER,
      TESELA_OP_SCATTER,   TESELA_OP_CAT,    TESELA_OP_PAD,    TESELA_OP_WRITE,  TESELA_OP_CLONE,
      TESELA_OP_CONSTANT,  TESELA_OP_REDUCE, TESELA_OP_ALONG};
  tally t = {0};
  for (uint64_t number = 0; number < (slow_run() ? 110 : 1100); number++) {
    uint64_t state = (seed + number) * 0x9e3779b97f4a7c15u | 1;
    random_program p;
    if (random_program_of(&p, &state, ops[number % 13], number / 13 % 2 ? TESELA_S32 : TESELA_F64))
      check_program(p.graph, &p.target, &state, number, &t);
    random_program_free(&p);
  }
  print_message("%" PRId64 " runs, %" PRId64 " places of known padding, %" PRId64 " results known, %" PRId64
                " reads (%" PRId64 " fine, %" PRId64 " fill, %" PRId64 " mask), %" PRId64 " folds compared\n",
                t.programs, t.known, t.values, t.reads, t.verdict[0], t.verdict[1], t.verdict[2], t.fine);
  if (slow_run()) return;
  assert_true(t.programs > 2000 && t.known > 10000 && t.fine > 100 && t.values > 300);
}

/* ---- chains -------------------------------------------------------------------------------------------------------- */

typedef struct chain {
  tesela_graph *g;
  tesela_dtype dtype;
  uint64_t state;
  int64_t r, c;
  int32_t at[64], n; /* tensors [r,c] */
} chain;

static int32_t pick(chain *w) { return w->at[random_below(&w->state, w->n)]; }

static int32_t put(chain *w, tesela_node_spec spec) {
  int32_t node;
  return tesela_graph_add(w->g, &spec, &node, NULL) == TESELA_OK ? node : -1;
}
static int32_t put_input(chain *w, int32_t rank, int64_t a, int64_t b) {
  return put(w, (tesela_node_spec){.op = TESELA_OP_INPUT,
                                   .dtype = w->dtype,
                                   .rank = rank,
                                   .shape = (int64_t[]){a, b},
                                   .stick = TESELA_STICK_FREE});
}

/* Another tensor [r,c], or something that only reads. */
static void grow(chain *w) {
  static const tesela_fn binary_fns[] = {TESELA_FN_ADD, TESELA_FN_SUB, TESELA_FN_MUL, TESELA_FN_MAX,
                                         TESELA_FN_MIN};
  static const tesela_fn unary_fns[] = {TESELA_FN_RELU, TESELA_FN_NEG,  TESELA_FN_ABS,
                                        TESELA_FN_COPY, TESELA_FN_SIGN, TESELA_FN_EXP};
  static const tesela_fn folds[] = {TESELA_FN_SUM, TESELA_FN_PROD, TESELA_FN_MAX, TESELA_FN_MIN,
                                    TESELA_FN_MEAN};
  int32_t x = pick(w), y = pick(w), made = -1, other;
  tesela_fn two = binary_fns[random_below(&w->state, 5)],
            fold = folds[random_below(&w->state, w->dtype == TESELA_F64 ? 5 : 4)];
  bool flip = random_below(&w->state, 3) == 0;
  switch (random_below(&w->state, 12)) {
  case 0:
  case 1:
    made = put(w, (tesela_node_spec){.op = TESELA_OP_POINTWISE, .fn = two, NODES(x, y)});
    break;
  case 2:
    made = put(w, (tesela_node_spec){.op = TESELA_OP_POINTWISE,
                                     .fn = unary_fns[random_below(&w->state, w->dtype == TESELA_F64 ? 6 : 5)],
                                     NODES(x)});
    break;
  case 3: /* with a bias, a column, a constant */
    other = random_below(&w->state, 2) ? put_input(w, 1, w->c, 0) : put_input(w, 2, w->r, 1);
    if (random_below(&w->state, 2))
      other = put(w, (tesela_node_spec){.op = TESELA_OP_CONSTANT,
                                        .dtype = w->dtype,
                                        .rank = (int32_t)random_below(&w->state, 2),
                                        .shape = &w->c,
                                        .value = (double)random_below(&w->state, 4) - 1});
    made = put(w, (tesela_node_spec){.op = TESELA_OP_POINTWISE, .fn = two, NODES(x, other)});
    break;
  case 4:
    made = put(
        w, (tesela_node_spec){.op = random_below(&w->state, 2) ? TESELA_OP_MOVE : TESELA_OP_CLONE, NODES(x)});
    break;
  case 5: /* select by a comparison */
    other = put(w, (tesela_node_spec){
                       .op = TESELA_OP_POINTWISE, .fn = TESELA_FN_LT, .dtype = TESELA_PRED, NODES(x, y)});
    made = put(w, (tesela_node_spec){.op = TESELA_OP_POINTWISE, .fn = TESELA_FN_SELECT, NODES(other, x, y)});
    break;
  case 6: /* x times y transposed, times x again */
    other = put(w, (tesela_node_spec){.op = TESELA_OP_PERMUTE, NODES(y), DIMS(1, 0)});
    other = put(w, (tesela_node_spec){.op = TESELA_OP_MATMUL, NODES(x, other)});
    made = put(w, (tesela_node_spec){.op = TESELA_OP_MATMUL, NODES(other, pick(w))});
    break;
  case 7: /* what is folded is taken off again */
    other = put(w, (tesela_node_spec){
                       .op = TESELA_OP_REDUCE, .fn = fold, NODES(x), DIMS(flip ? 0 : 1), .keepdim = true});
    made = put(w, (tesela_node_spec){.op = TESELA_OP_POINTWISE, .fn = TESELA_FN_SUB, NODES(x, other)});
    break;
  case 8:
    (void)put(w, (tesela_node_spec){.op = TESELA_OP_REDUCE, .fn = fold, NODES(x), DIMS(flip ? 0 : 1)});
    break;
  case 9: { /* a slice, folded, and relu of it */
    int64_t start[2] = {0, random_below(&w->state, 2) * 4}, length[2] = {w->r, w->c - start[1]},
            step[2] = {1, 1};
    if (start[1] >= w->c) break;
    if (random_below(&w->state, 2)) length[1] = 1 + random_below(&w->state, w->c - start[1]);
    other = put(w, (tesela_node_spec){
                       .op = TESELA_OP_SLICE, NODES(x), .start = start, .length = length, .step = step});
    if (other < 0) break;
    (void)put(w, (tesela_node_spec){.op = TESELA_OP_REDUCE, .fn = fold, NODES(other), DIMS(1)});
    (void)put(w, (tesela_node_spec){.op = TESELA_OP_POINTWISE, .fn = TESELA_FN_RELU, NODES(other)});
    break;
  }
  case 10: { /* in another shape */
    int64_t shape[3] = {1, w->r, w->c};
    other = put(w, (tesela_node_spec){.op = TESELA_OP_RESHAPE, NODES(x), .rank = 3, .shape = shape});
    (void)put(w, (tesela_node_spec){.op = TESELA_OP_POINTWISE, .fn = TESELA_FN_NEG, NODES(other)});
    (void)put(w, (tesela_node_spec){.op = TESELA_OP_REDUCE, .fn = fold, NODES(other), DIMS(2)});
    break;
  }
  default: { /* pieces */
    int64_t start[2] = {0, 0}, step[2] = {1, 1};
    if (random_below(&w->state, 2))
      made = put(w, (tesela_node_spec){
                        .op = TESELA_OP_WRITE, NODES(x, y), .start = start, .step = step, .in_place = flip});
    else
      (void)put(w, (tesela_node_spec){.op = TESELA_OP_CAT, NODES(x, y), DIMS(flip ? 1 : 0)});
  }
  }
  if (made >= 0 && w->n < 64) w->at[w->n++] = made;
}

static void chains(void **unused) {
  (void)unused;
  tally t = {0};
  tesela_target plain;
  for (uint64_t number = 0; number < (slow_run() ? 60 : 600); number++) {
    chain w = {.state = (seed + number) * 0xd1342543de82ef95u | 1,
               .dtype = number % 3 ? TESELA_F64 : TESELA_S32};
    OK(tesela_graph_create(&w.g, NULL, &e_));
    OK(tesela_target_plain(&plain, w.dtype == TESELA_F64 ? 32 : 16, &e_)); /* 4 lanes */
    plain.max_rank = 8;
    w.r = 1 + random_below(&w.state, 5);
    w.c = 1 + random_below(&w.state, 11);
    for (int32_t k = 0; k < 2; k++) w.at[w.n++] = put_input(&w, 2, w.r, w.c);
    for (int64_t k = 2 + random_below(&w.state, 6); k > 0; k--) grow(&w);
    check_program(w.g, &plain, &w.state, number, &t);
    tesela_graph_destroy(w.g);
  }
  print_message("%" PRId64 " runs, %" PRId64 " places of known padding, %" PRId64 " results known, %" PRId64
                " reads (%" PRId64 " fine, %" PRId64 " fill, %" PRId64 " mask), %" PRId64 " folds compared\n",
                t.programs, t.known, t.values, t.reads, t.verdict[0], t.verdict[1], t.verdict[2], t.fine);
  if (slow_run()) return;
  assert_true(t.programs > 2000 && t.known > 10000 && t.fine > 500 && t.values > 1000);
}

int main(void) {
  seed = first_seed();
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(one_operator),
      cmocka_unit_test(chains),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
