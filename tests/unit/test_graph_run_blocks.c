/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_graph_run_blocks.c - execution of operators larger than one block, and the progress that it reports.
 *
 * Shapes go beyond rows of 256, blocks of 64 by 64 and stretches of 64 by a little; f64 shows any change in the order of a fold. Each program
 * is run plain, with random layouts, in one arena with results in operands' places, and divided; the oracle says the bits.
 */
#include <inttypes.h>
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>
#include <tesela/tesela.h>

#include "graph/memory/graph_memory.h"
#include "graph/run/run.h"
#include "graph_oracle.h"
#include "support_graph_build.h"
#include "support_graph_random.h"
#include "support_seed.h"

#define OK(call)                                                    \
  do {                                                              \
    tesela_error e_ = {.message = ""};                              \
    if ((call) != TESELA_OK) fail_msg("%s: %s", #call, e_.message); \
  } while (0)

enum { INPUTS = 4 };

static uint64_t seed, state;

/* ---- data ------------------------------------------------------------------------------------------------------- */

static int64_t elements_of(const tesela_node *node) {
  int64_t n = 1;
  for (int32_t d = 0; d < node->rank; d++) n *= node->shape[d];
  return n;
}

/* Random numbers with all their bits, small integers, and now and then `special`; below `limit` if that is above 0. */
static void *data_of(const tesela_node *node, int64_t limit, bool special) {
  int64_t n = elements_of(node);
  int32_t width = tesela_dtype_bytes(node->dtype);
  uint8_t *bytes = malloc((size_t)(n * width) + 1);
  assert_non_null(bytes);
  for (int64_t e = 0; e < n; e++) {
    int64_t small = limit > 0 ? random_below(&state, limit) : random_below(&state, 15) - 7;
    double real = (double)(random_below(&state, INT64_C(1) << 53) - (INT64_C(1) << 52)) * 0x1p-52;
    if (special && random_below(&state, 200) == 0) real = random_below(&state, 2) ? (double)INFINITY : -0.0;
    bool is_float = tesela_dtype_family_of(node->dtype) == TESELA_FAMILY_FLOAT;
    tesela__run_value value = is_float ? (tesela__run_value){.f = real} : (tesela__run_value){.i = small};
    tesela__run_class class = is_float ? TESELA__RUN_FLOAT : TESELA__RUN_SIGNED;
    tesela__run_store(node->dtype, tesela__run_round(node->dtype, class, value), bytes + e * width, width);
  }
  return bytes;
}

typedef struct program {
  const char *name;
  tesela_graph *graph;
  tesela_target target;
  int32_t n_inputs;
  void *input[INPUTS];
  uint8_t *want, *have;
  size_t bytes;
} program;

static void lay_out(program *p) {
  for (int32_t k = 0; k < tesela_graph_count(p->graph); k++) {
    const tesela_node *node = tesela_graph_node(p->graph, k);
    tesela_device_layout layout;
    if (node->buffer != k) continue;
    random_layout(&layout, &p->target, node->dtype, node->rank, node->shape, &state);
    OK(tesela_graph_set_layout(p->graph, k, &layout, &e_));
  }
}

static void run(program *p, const char *how, const tesela_graph_run_options *options,
                const tesela__run_hooks *hooks) {
  tesela_graph_run_facts facts;
  void *outputs[1] = {p->have};
  memset(p->have, 0xcd, p->bytes);
  OK(tesela__graph_run(p->graph, &p->target, (const void *const *)p->input, outputs, options, hooks, &facts,
                       &e_));
  for (size_t i = 0; i < p->bytes; i++)
    if (p->have[i] != p->want[i])
      fail_msg("%s, %s: byte %zu is 0x%02x, not 0x%02x (seed %" PRIu64 ")", p->name, how, i, p->have[i],
               p->want[i], seed);
  if (facts.poison_read != 0)
    fail_msg("%s, %s: %" PRId64 " elements read that nobody wrote", p->name, how, facts.poison_read);
}

static void run_all(program *p) {
  void *outputs[1] = {p->want};
  assert_int_equal(graph_oracle_run(p->graph, (const void *const *)p->input, outputs), 0);
  run(p, "plain", &(tesela_graph_run_options){.plain = true}, NULL);
  for (int i = 0; i < 3; i++) {
    lay_out(p);
    run(p, "tiled", NULL, NULL);
    tesela__run_hooks divided = {.cores = 1 + (int32_t)random_below(&state, 9), .backwards = i == 1};
    run(p, "divided", NULL, &divided);
    tesela_graph_memory *memory;
    OK(tesela_graph_plan_memory(&memory, p->graph, &p->target, NULL, &e_));
    run(p, "arena", &(tesela_graph_run_options){.memory = memory}, NULL);
    tesela_graph_memory_destroy(memory);
  }
}

/* A program of one operator of inputs, between two that negate, so that operands are in the arena. */
static void check(const char *name, const char *shapes, tesela_node_spec spec, bool special) {
  program p = {.name = name};
  int32_t input[INPUTS], operand[INPUTS], o;
  OK(tesela_graph_create(&p.graph, NULL, &e_));
  OK(tesela_target_plain(&p.target, INT64_C(8) << random_below(&state, 5), &e_));
  p.n_inputs = build_inputs(p.graph, shapes, input);
  for (int32_t k = 0; k < p.n_inputs; k++) {
    const tesela_node *node = tesela_graph_node(p.graph, input[k]);
    bool index = k == 1 && (spec.op == TESELA_OP_GATHER || spec.op == TESELA_OP_SCATTER);
    p.input[k] =
        data_of(node, index ? tesela_graph_node(p.graph, input[0])->shape[spec.dims[0]] : 0, special);
    operand[k] = input[k];
    if (!index)
      OK(tesela_graph_add(
          p.graph,
          &(tesela_node_spec){
              .op = TESELA_OP_POINTWISE, .fn = TESELA_FN_NEG, .n_operands = 1, .operand = &input[k]},
          &operand[k], &e_));
  }
  spec.operand = operand;
  spec.n_operands = p.n_inputs;
  OK(tesela_graph_add(p.graph, &spec, &o, &e_));
  OK(tesela_graph_add(
      p.graph,
      &(tesela_node_spec){.op = TESELA_OP_POINTWISE, .fn = TESELA_FN_NEG, .n_operands = 1, .operand = &o}, &o,
      &e_));
  OK(tesela_graph_add_output(p.graph, o, &e_));
  const tesela_node *out = tesela_graph_node(p.graph, o);
  p.bytes = (size_t)(elements_of(out) * tesela_dtype_bytes(out->dtype));
  p.want = malloc(p.bytes);
  p.have = malloc(p.bytes);
  assert_true(p.want && p.have);
  run_all(&p);
  for (int32_t k = 0; k < p.n_inputs; k++) free(p.input[k]);
  free(p.want);
  free(p.have);
  tesela_graph_destroy(p.graph);
}

/* ---- operators ---------------------------------------------------------------------------------------------------- */

#define MATMUL \
  { .op = TESELA_OP_MATMUL }
#define FOLD(fn_, ...) \
  { .op = TESELA_OP_REDUCE, .fn = TESELA_FN_##fn_, DIMS(__VA_ARGS__) }
#define DO(fn_) \
  { .op = TESELA_OP_POINTWISE, .fn = TESELA_FN_##fn_ }

static void matmuls_and_reductions(void **unused) {
  (void)unused;
  const struct {
    const char *name, *shapes;
    tesela_node_spec spec;
  } rows[] = {
      {"matmul", "f64[65,130] f64[130,67]", MATMUL},
      {"matmul of stretches that end", "f64[64,64] f64[64,128]", MATMUL},
      {"matmul of floats", "f32[9,200] f32[200,70]", MATMUL},
      {"matmul of integers", "s32[70,65] s32[65,9]", MATMUL},
      {"matmul of small unsigned ones", "u8[5,65] u8[65,66]", MATMUL},
      {"a matrix by a vector", "f64[130,140] f64[140]", MATMUL},
      {"a vector by a matrix", "f64[140] f64[140,131]", MATMUL},
      {"a vector by a vector", "f64[300] f64[300]", MATMUL},
      {"matmul of one row of batches", "f64[70,1,66] f64[70,66,3]", MATMUL},
      {"matmul with a batch that is repeated", "f64[3,66,9] f64[1,9,65]", MATMUL},
      {"matmul of mixed types", "f16[3,66] f16[66,65]", MATMUL},
      {"sum of the first dim", "f64[131,70,3]", FOLD(SUM, 0)},
      {"sum of the middle", "f64[5,131,66]", FOLD(SUM, 1)},
      {"sum of the last", "f64[66,130]", FOLD(SUM, 1)},
      {"sum of two", "f64[66,5,67]", FOLD(SUM, 0, 2)},
      {"sum of all", "f64[33,70]", FOLD(SUM, 0, 1)},
      {"mean", "f32[70,129]", FOLD(MEAN, 1)},
      {"mean of integers", "s32[70,129]", FOLD(MEAN, 0)},
      {"greatest", "f16[130,66]", FOLD(MAX, 1)},
      {"least of all", "f32[3,300]", FOLD(MIN, 0, 1)},
      {"product", "f64[7,90]", FOLD(PROD, 1)},
      {"xor", "u16[90,7]", FOLD(XOR, 0)},
  };
  for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++)
    for (int special = 0; special < 2; special++) check(rows[i].name, rows[i].shapes, rows[i].spec, special);
}

static void windows(void **unused) {
  (void)unused;
  const tesela_conv2d same = {.stride = {1, 1}, .dilation = {1, 1}, .low = {1, 1}, .high = {1, 1}};
  const tesela_conv2d apart = {.stride = {2, 1}, .dilation = {1, 3}, .low = {2, 3}, .high = {0, 1}};
  tesela_node_spec conv = {.op = TESELA_OP_CONV2D, .conv = same};
  for (int special = 0; special < 2; special++) {
    conv.conv = same;
    check("conv2d", "f64[1,3,5,70] f64[9,3,3,3]", conv, special);
    check("conv2d of many channels", "f64[1,66,3,4] f64[65,66,1,2]", conv, special);
    conv.conv = apart;
    check("conv2d with gaps", "f32[2,2,67,6] f32[3,2,3,2]", conv, special);
    tesela_node_spec pool = {.op = TESELA_OP_POOL,
                             .fn = TESELA_FN_MAX,
                             .length = (const int64_t[]){1, 3, 3},
                             .step = (const int64_t[]){1, 1, 2},
                             .low = (const int64_t[]){0, 1, 1},
                             .high = (const int64_t[]){0, 1, 1}};
    check("pool", "f32[2,67,131]", pool, special);
    pool.fn = TESELA_FN_SUM;
    check("pool of sums", "f64[2,67,131]", pool, special);
  }
}

static void element_by_element(void **unused) {
  (void)unused;
  check("a row that is repeated", "f32[3,300] f32[300]", (tesela_node_spec)DO(SUB), true);
  check("a column that is repeated", "f32[300,3] f32[300,1]", (tesela_node_spec)DO(DIV), true);
  check("long rows", "f64[2,700] f64[2,700]", (tesela_node_spec)DO(MUL), true);
  check("comparison", "f16[530] f16[530]", (tesela_node_spec)DO(MAX), true);
  check("select", "s32[5,300] s32[5,300] s32[5,1]", (tesela_node_spec)DO(SELECT), false);
  check("clamp", "s16[300] s16[5,300] s16[1]", (tesela_node_spec)DO(CLAMP), false);
  check("gather of rows", "f16[30,70] s32[300]", (tesela_node_spec){.op = TESELA_OP_GATHER, DIMS(0)}, true);
  check("gather of columns", "f32[3,70] s32[300]", (tesela_node_spec){.op = TESELA_OP_GATHER, DIMS(1)}, true);
  check("scatter", "f32[30,70] s32[90] f32[90,70]",
        (tesela_node_spec){.op = TESELA_OP_SCATTER, .fn = TESELA_FN_ADD, DIMS(0)}, true);
  check("cat", "f32[3,300] f32[3,5] f32[3,270]", (tesela_node_spec){.op = TESELA_OP_CAT, DIMS(1)}, true);
  check("pad", "f32[3,300]",
        (tesela_node_spec){.op = TESELA_OP_PAD,
                           .value = 2.5,
                           .low = (const int64_t[]){1, 3},
                           .high = (const int64_t[]){0, 270},
                           .step = (const int64_t[]){1, 2}},
        true);
  check("write", "f32[3,600] f32[2,290]",
        (tesela_node_spec){
            .op = TESELA_OP_WRITE, .start = (const int64_t[]){1, 4}, .step = (const int64_t[]){1, 2}},
        true);
}

/* ---- wrong plans ------------------------------------------------------------------------------------------------------ */

/* The line backwards, added to itself or looked up, where it lies itself: the second half reads what the first half has written. */
static void a_wrong_plan_is_seen_within_a_row(void **unused) {
  (void)unused;
  enum { N = 90 };
  static float in[N], out[N];
  static int32_t backwards[N];
  for (int i = 0; i < N; i++) {
    in[i] = (float)i;
    backwards[i] = N - 1 - i;
  }
  for (int looked_up = 0; looked_up < 2; looked_up++) {
    tesela_graph *graph;
    tesela_target target;
    tesela_graph_memory *memory;
    int32_t x, i, a, t;
    OK(tesela_graph_create(&graph, NULL, &e_));
    OK(tesela_target_plain(&target, 512, &e_));
    x = build_input(graph, "x", "f32[90]");
    i = build_input(graph, "i", "s32[90]");
    OK(tesela_graph_add(graph, &(tesela_node_spec){.op = TESELA_OP_POINTWISE, .fn = TESELA_FN_NEG, NODES(x)},
                        &a, &e_));
    if (looked_up) {
      OK(tesela_graph_add(graph, &(tesela_node_spec){.op = TESELA_OP_GATHER, NODES(a, i), DIMS(0)}, &t, &e_));
    } else {
      int32_t back;
      OK(tesela_graph_add(graph,
                          &(tesela_node_spec){.op = TESELA_OP_SLICE,
                                              NODES(a),
                                              .start = (const int64_t[]){N - 1},
                                              .step = (const int64_t[]){-1},
                                              .length = (const int64_t[]){N}},
                          &back, &e_));
      OK(tesela_graph_add(graph,
                          &(tesela_node_spec){.op = TESELA_OP_POINTWISE, .fn = TESELA_FN_ADD, NODES(a, back)},
                          &t, &e_));
    }
    OK(tesela_graph_add(graph, &(tesela_node_spec){.op = TESELA_OP_POINTWISE, .fn = TESELA_FN_NEG, NODES(t)},
                        &x, &e_));
    OK(tesela_graph_add_output(graph, x, &e_));
    for (int32_t k = 0; k < tesela_graph_count(graph); k++)
      if (tesela_graph_node(graph, k)->buffer == k) build_lay_out(graph, &target, k, 0);
    OK(tesela_graph_plan_memory(&memory, graph, &target, NULL, &e_));
    const void *inputs[2] = {in, backwards};
    void *outputs[1] = {out};
    tesela_graph_run_facts facts;
    tesela_graph_run_options options = {.memory = memory};
    OK(tesela_graph_run(graph, &target, inputs, outputs, &options, &facts, &e_));
    assert_int_equal(facts.poison_read, 0);
    for (int k = 0; k < N; k++) assert_true(out[k] == (float)(looked_up ? N - 1 - k : N - 1));
    tesela_graph_place *place = &memory->place[memory->place_of[t]];
    place->in_place_of = a;
    place->offset = memory->place[memory->place_of[a]].offset;
    OK(tesela_graph_run(graph, &target, inputs, outputs, &options, &facts, &e_));
    assert_int_equal(facts.poison_read, N / 2);
    tesela_graph_memory_destroy(memory);
    tesela_graph_destroy(graph);
  }
}

/* ---- progress ----------------------------------------------------------------------------------------------------- */

static struct { int64_t calls, last, total, stop_at; } told;

static int tell(void *user, int64_t done, int64_t total) {
  assert_ptr_equal(user, &told);
  assert_true(done >= told.last && done <= total);
  if (told.calls > 0) assert_int_equal(total, told.total);
  told.last = done;
  told.total = total;
  return ++told.calls == told.stop_at;
}

static void progress_is_told_and_may_stop(void **unused) {
  (void)unused;
  enum { N = 160 };
  tesela_graph *graph;
  static float a[N * N], b[N * N], out[N * N], before[N * N];
  const void *inputs[2] = {a, b};
  void *outputs[1] = {out};
  int32_t x[2], o, sum;
  OK(tesela_graph_create(&graph, NULL, &e_));
  build_inputs(graph, "f32[160,160] f32[160,160]", x);
  OK(tesela_graph_add(graph, &(tesela_node_spec){.op = TESELA_OP_MATMUL, NODES(x[0], x[1])}, &o, &e_));
  OK(tesela_graph_add(graph, &(tesela_node_spec){.op = TESELA_OP_POINTWISE, .fn = TESELA_FN_NEG, NODES(o)},
                      &sum, &e_));
  OK(tesela_graph_add_output(graph, sum, &e_));
  tesela_graph_run_options options = {.plain = true, .progress = tell, .progress_user = &told};
  memset(&told, 0, sizeof told);
  OK(tesela_graph_run(graph, NULL, inputs, outputs, &options, NULL, &e_));
  int64_t calls = told.calls;
  assert_int_equal(told.total, N * N * N + 2 * N * N); /* products and results of one, results of the other */
  assert_in_range(calls, 3, 6);                        /* 4.1 million in steps of 2^20 */
  memset(before, 0x5a, sizeof before);
  for (int64_t k = 1; k <= calls; k++) {
    tesela_error err = {.message = ""};
    tesela_graph_run_facts facts = {.operators = -1};
    memset(&told, 0, sizeof told);
    told.stop_at = k;
    memcpy(out, before, sizeof out);
    assert_int_equal(tesela_graph_run(graph, NULL, inputs, outputs, &options, &facts, &err),
                     TESELA_E_STOPPED);
    assert_int_equal(told.calls, k); /* and not called again */
    assert_memory_equal(out, before, sizeof out);
    assert_int_equal(facts.operators, -1);
    assert_non_null(strstr(err.message, "stop"));
  }
  tesela_graph_destroy(graph);
}

/* What an operator did without a word counts once it is done. */
static void what_is_not_told_counts(void **unused) {
  (void)unused;
  enum { LINES = 1200, N = 1000 };
  tesela_graph *graph;
  int32_t x, o;
  float *in = calloc(LINES * N, sizeof *in), *out = calloc(LINES * N, sizeof *out);
  assert_true(in && out);
  OK(tesela_graph_create(&graph, NULL, &e_));
  x = build_input(graph, "x", "f32[1200,1000]");
  OK(tesela_graph_add(graph, &(tesela_node_spec){.op = TESELA_OP_CLONE, NODES(x)}, &o, &e_));
  OK(tesela_graph_add(graph, &(tesela_node_spec){.op = TESELA_OP_POINTWISE, .fn = TESELA_FN_NEG, NODES(o)},
                      &o, &e_));
  OK(tesela_graph_add_output(graph, o, &e_));
  memset(&told, 0, sizeof told);
  OK(tesela_graph_run(graph, NULL, (const void *const[]){in}, (void *const[]){out},
                      &(tesela_graph_run_options){.plain = true, .progress = tell, .progress_user = &told},
                      NULL, &e_));
  assert_true(told.calls > 0 && told.total - told.last <= LINES * N);
  tesela_graph_destroy(graph);
  free(in);
  free(out);
}

int main(void) {
  seed = first_seed();
  state = seed * UINT64_C(0x9e3779b97f4a7c15) + 1;
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(matmuls_and_reductions),
      cmocka_unit_test(windows),
      cmocka_unit_test(element_by_element),
      cmocka_unit_test(a_wrong_plan_is_seen_within_a_row),
      cmocka_unit_test(progress_is_told_and_may_stop),
      cmocka_unit_test(what_is_not_told_counts),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
