/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_graph_run.c - execution: functions of single values by hand, types that are stored as others, wrong plans that are detected,
 * refusals, failing allocations, and programs with the moves that a propagation inserts.
 */
#include <inttypes.h>
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>
#include <tesela/tesela.h>

#include "graph/memory/graph_memory.h"
#include "graph/run/run.h"
#include "graph_oracle.h"
#include "support_fault.h"
#include "support_graph_build.h"
#include "support_graph_random.h"

#define OK(call)                                                    \
  do {                                                              \
    tesela_error e_ = {.message = ""};                              \
    if ((call) != TESELA_OK) fail_msg("%s: %s", #call, e_.message); \
  } while (0)
static tesela_graph *graph;

static int begin(void **unused) {
  (void)unused;
  return tesela_graph_create(&graph, NULL, NULL) != TESELA_OK;
}
static int end(void **unused) {
  (void)unused;
  tesela_graph_destroy(graph);
  return 0;
}

static int32_t add(tesela_node_spec spec) {
  int32_t node;
  OK(tesela_graph_add(graph, &spec, &node, &e_));
  return node;
}

/* ---- values ------------------------------------------------------------------------------------------------------- */

/* fn of scalars of one type, as doubles: through a program of three scalars. */
static double compute(tesela_fn fn, tesela_dtype dtype, tesela_dtype result, double x, double y, double z) {
  tesela_graph *g;
  int32_t node[3], o;
  double out = 0;
  uint8_t bits[8];
  void *outputs[1] = {bits};
  OK(tesela_graph_create(&g, NULL, &e_));
  const double v[3] = {x, y, z};
  for (int32_t k = 0; k < 3; k++) {
    OK(tesela_graph_add(g, &(tesela_node_spec){.op = TESELA_OP_CONSTANT, .dtype = TESELA_F64, .value = v[k]},
                        &node[k], &e_));
    OK(tesela_graph_add(
        g,
        &(tesela_node_spec){.op = TESELA_OP_POINTWISE, .fn = TESELA_FN_COPY, .dtype = dtype, NODES(node[k])},
        &node[k], &e_));
  }
  OK(tesela_graph_add(g,
                      &(tesela_node_spec){.op = TESELA_OP_POINTWISE,
                                          .fn = fn,
                                          .dtype = result,
                                          .n_operands = tesela_fn_operands(fn),
                                          .operand = node},
                      &o, &e_));
  OK(tesela_graph_add(
      g, &(tesela_node_spec){.op = TESELA_OP_POINTWISE, .fn = TESELA_FN_COPY, .dtype = TESELA_F64, NODES(o)},
      &o, &e_));
  OK(tesela_graph_add_output(g, o, &e_));
  OK(tesela_graph_run(g, NULL, NULL, outputs, &(tesela_graph_run_options){.plain = true}, NULL, &e_));
  memcpy(&out, bits, 8);
  tesela_graph_destroy(g);
  return out;
}

static void functions_by_hand(void **unused) {
  (void)unused;
  const double inf = (double)INFINITY, nan = (double)NAN;
  static const struct {
    tesela_fn fn;
    tesela_dtype in, out;
    double x, y, z, want;
  } rows[] = {
      {TESELA_FN_ADD, TESELA_F16, TESELA_F16, 2048, 1, 0, 2048},      /* 11 bits: a tie, to even */
      {TESELA_FN_ADD, TESELA_F16, TESELA_F16, 2050, 1, 0, 2052},      /* a tie, to even */
      {TESELA_FN_MUL, TESELA_F16, TESELA_F16, 256, 256, 0, INFINITY}, /* beyond 65504 */
      {TESELA_FN_ADD, TESELA_F16, TESELA_F16, 65504, 15, 0, 65504},
      {TESELA_FN_ADD, TESELA_F16, TESELA_F16, 65504, 16, 0, INFINITY}, /* half way is even, which is 2^16 */
      {TESELA_FN_MUL, TESELA_F16, TESELA_F16, 0x1p-14, 0x1p-10, 0, 0x1p-24}, /* the least number of f16 */
      {TESELA_FN_MUL, TESELA_F16, TESELA_F16, 0x1p-14, 0x1p-11, 0, 0},       /* half of it: to even */
      {TESELA_FN_MUL, TESELA_F16, TESELA_F16, 0x1.8p-14, 0x1p-10, 0, 0x1p-23},
      {TESELA_FN_ADD, TESELA_BF16, TESELA_BF16, 256, 1, 0, 256},
      {TESELA_FN_ADD, TESELA_BF16, TESELA_BF16, 258, 1, 0, 260},
      {TESELA_FN_ADD, TESELA_F32, TESELA_F32, 16777216, 1, 0, 16777216},
      {TESELA_FN_ADD, TESELA_S8, TESELA_S8, 127, 1, 0, -128},
      {TESELA_FN_ADD, TESELA_U8, TESELA_U8, 255, 2, 0, 1},
      {TESELA_FN_SUB, TESELA_U8, TESELA_S16, 1, 2, 0, -1},
      {TESELA_FN_DIV, TESELA_S32, TESELA_S32, -7, 2, 0, -3},
      {TESELA_FN_DIV, TESELA_S32, TESELA_S32, 7, 0, 0, -1},
      {TESELA_FN_REM, TESELA_S32, TESELA_S32, -7, 2, 0, -1},
      {TESELA_FN_REM, TESELA_S32, TESELA_S32, -7, 0, 0, -7},
      {TESELA_FN_REM, TESELA_F32, TESELA_F32, -7.5, 2, 0, -1.5},
      {TESELA_FN_POW, TESELA_S32, TESELA_S32, -3, 3, 0, -27},
      {TESELA_FN_POW, TESELA_S32, TESELA_S32, 2, -1, 0, 0},
      {TESELA_FN_POW, TESELA_S32, TESELA_S32, -1, -3, 0, -1},
      {TESELA_FN_MAX, TESELA_F32, TESELA_F32, 1, NAN, 0, NAN},
      {TESELA_FN_MIN, TESELA_F32, TESELA_F32, NAN, 1, 0, NAN},
      {TESELA_FN_MAX, TESELA_S16, TESELA_S16, -4, 3, 0, 3},
      {TESELA_FN_MAX, TESELA_U64, TESELA_U64, 18446744073709549568.0, 3, 0, 18446744073709549568.0},
      {TESELA_FN_LT, TESELA_S32, TESELA_PRED, -1, 1, 0, 1},
      {TESELA_FN_LT, TESELA_U32, TESELA_PRED, 4294967295.0, 1, 0, 0},
      {TESELA_FN_EQ, TESELA_F32, TESELA_PRED, NAN, NAN, 0, 0},
      {TESELA_FN_NE, TESELA_F32, TESELA_PRED, NAN, NAN, 0, 1},
      {TESELA_FN_SELECT, TESELA_F32, TESELA_F32, 0.25, 5, 7, 5},
      {TESELA_FN_SELECT, TESELA_F32, TESELA_F32, 0, 5, 7, 7},
      {TESELA_FN_SELECT, TESELA_F32, TESELA_F32, -0.0, 5, 7, 7},
      {TESELA_FN_CLAMP, TESELA_F32, TESELA_F32, -1, 5, 2, 2},
      {TESELA_FN_CLAMP, TESELA_S8, TESELA_S8, -1, -5, 2, -1},
      {TESELA_FN_NOT, TESELA_PRED, TESELA_PRED, 1, 0, 0, 0},
      {TESELA_FN_NOT, TESELA_S8, TESELA_S8, 5, 0, 0, -6},
      {TESELA_FN_XOR, TESELA_U8, TESELA_U8, 6, 3, 0, 5},
      {TESELA_FN_ABS, TESELA_S8, TESELA_S8, -128, 0, 0, -128},
      {TESELA_FN_SIGN, TESELA_F32, TESELA_F32, -3, 0, 0, -1},
      {TESELA_FN_RELU, TESELA_F32, TESELA_F32, -3, 0, 0, 0},
      {TESELA_FN_SIGMOID, TESELA_F32, TESELA_F32, 0, 0, 0, 0.5},
      {TESELA_FN_RSQRT, TESELA_F32, TESELA_F32, 16, 0, 0, 0.25},
      {TESELA_FN_SQRT, TESELA_S32, TESELA_F32, 9, 0, 0, 3},
      {TESELA_FN_FLOOR, TESELA_F32, TESELA_F32, -1.5, 0, 0, -2},
      {TESELA_FN_ISFINITE, TESELA_F32, TESELA_PRED, INFINITY, 0, 0, 0},
      {TESELA_FN_COPY, TESELA_F32, TESELA_S8, 300, 0, 0,
       127}, /* a float is held inside the range, an integer is cut */
      {TESELA_FN_COPY, TESELA_F32, TESELA_S8, -1.9, 0, 0, -1},
      {TESELA_FN_COPY, TESELA_F32, TESELA_U8, -5, 0, 0, 0},
      {TESELA_FN_COPY, TESELA_F32, TESELA_S32, NAN, 0, 0, 0},
      {TESELA_FN_COPY, TESELA_S32, TESELA_S8, 300, 0, 0, 44},
      {TESELA_FN_COPY, TESELA_F32, TESELA_PRED, 0.5, 0, 0, 1},
      {TESELA_FN_COPY, TESELA_F64, TESELA_S64, 1e30, 0, 0, 9223372036854775807.0},
      {TESELA_FN_COPY, TESELA_F64, TESELA_U64, 1e30, 0, 0, 18446744073709551615.0},
  };
  for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
    double have = compute(rows[i].fn, rows[i].in, rows[i].out, rows[i].x, rows[i].y, rows[i].z);
    if (have != rows[i].want && !(have != have && rows[i].want != rows[i].want))
      fail_msg("row %d, %s: %.17g, not %.17g", (int)i, tesela_fn_name(rows[i].fn), have, rows[i].want);
  }
  assert_true(compute(TESELA_FN_EXP, TESELA_F64, TESELA_F64, -inf, 0, 0) == 0);
  assert_true(isnan(compute(TESELA_FN_LOG, TESELA_F64, TESELA_F64, nan, 0, 0)));
}

/* Every number of f16 and bf16 through f64 and back, and the values half way between two neighbours. */
static void all_halves(void **unused) {
  (void)unused;
  static const tesela_dtype types[] = {TESELA_F16, TESELA_BF16};
  for (int t = 0; t < 2; t++)
    for (uint32_t b = 0; b < 0x10000; b++) {
      uint16_t bits = (uint16_t)b, next = (uint16_t)(b + 1), back;
      uint8_t memory[8];
      tesela__run_value x = tesela__run_load(types[t], (uint8_t *)&bits),
                        y = tesela__run_load(types[t], (uint8_t *)&next);
      tesela__run_store(types[t], tesela__run_round(types[t], TESELA__RUN_FLOAT, x), memory, 2);
      memcpy(&back, memory, 2);
      if (isnan(x.f)) {
        assert_true(isnan(tesela__run_load(types[t], memory).f));
        continue;
      }
      assert_int_equal(back, bits);
      if ((b & 0x7fff) == 0x7fff || isnan(y.f) || isinf(y.f) || isinf(x.f)) continue;
      tesela__run_value half = {.f = (x.f + y.f) / 2}; /* exact: two neighbours */
      tesela__run_store(types[t], tesela__run_round(types[t], TESELA__RUN_FLOAT, half), memory, 2);
      memcpy(&back, memory, 2);
      assert_int_equal(back, b & 1 ? next : bits);
      half.f = nextafter(half.f, y.f);
      tesela__run_store(types[t], tesela__run_round(types[t], TESELA__RUN_FLOAT, half), memory, 2);
      memcpy(&back, memory, 2);
      assert_int_equal(back, next);
    }
}

/* ---- types that are stored as others -------------------------------------------------------------------------------- */

static void types_of_the_device(void **unused) {
  (void)unused;
  const tesela_target *spyre = tesela_target_find("spyre");
  int32_t x = build_input(graph, "x", "s64[5]"), p = build_input(graph, "p", "pred[5]"),
          h = build_input(graph, "h", "bf16[5]");
  int32_t y = add((tesela_node_spec){.op = TESELA_OP_POINTWISE, .fn = TESELA_FN_MUL, NODES(x, x)});
  int32_t q = add((tesela_node_spec){.op = TESELA_OP_POINTWISE, .fn = TESELA_FN_NOT, NODES(p)});
  int32_t g = add((tesela_node_spec){.op = TESELA_OP_POINTWISE, .fn = TESELA_FN_NEG, NODES(h)});
  OK(tesela_graph_add_output(graph, y, &e_));
  OK(tesela_graph_add_output(graph, q, &e_));
  OK(tesela_graph_add_output(graph, g, &e_));
  build_lay_out_all(graph, spyre);
  int64_t in[5] = {0, 1, -2, 46340, -46340}, out[5];
  uint8_t truth[5] = {0, 1, 0, 7, 1}, lies[5];
  uint16_t halves[5] = {0x3f80, 0xc000, 0x0000, 0x3f00, 0x4040}, minus[5];
  const void *inputs[3] = {in, truth, halves};
  void *outputs[3] = {out, lies, minus};
  tesela_graph_run_facts facts;
  OK(tesela_graph_run(graph, spyre, inputs, outputs, NULL, &facts, &e_));
  for (int i = 0; i < 5; i++) {
    assert_int_equal(out[i], in[i] * in[i]);
    assert_int_equal(lies[i], !truth[i]);
    assert_int_equal(minus[i], halves[i] ^ 0x8000);
  }
  assert_int_equal(facts.operators, 3);
  assert_int_equal(facts.elements, 15);
  assert_int_equal(facts.poison_read, 0);
  assert_int_equal(facts.arena_bytes, 6 * 128);
  in[4] = 46341; /* its square is above 2^31 - 1 */
  tesela_error err;
  assert_int_equal(tesela_graph_run(graph, spyre, inputs, outputs, NULL, NULL, &err), TESELA_E_RANGE);
  assert_non_null(strstr(err.message, "2147488281"));
  in[4] = INT64_C(1) << 40;
  assert_int_equal(tesela_graph_run(graph, spyre, inputs, outputs, NULL, NULL, NULL), TESELA_E_RANGE);
  OK(tesela_graph_run(graph, spyre, inputs, outputs, &(tesela_graph_run_options){.plain = true}, NULL, &e_));
}

/* ---- wrong plans show ------------------------------------------------------------------------------------------------ */

/* t = x + x.T, then t + x: planned right, and then with t where x is. */
static void a_wrong_plan_is_seen(void **unused) {
  (void)unused;
  tesela_target target;
  OK(tesela_target_plain(&target, 16, &e_));
  int32_t x = build_input(graph, "x", "f32[5,5]");
  int32_t a = add((tesela_node_spec){.op = TESELA_OP_POINTWISE, .fn = TESELA_FN_NEG, NODES(x)});
  int32_t turned = add((tesela_node_spec){.op = TESELA_OP_PERMUTE, DIMS(1, 0), NODES(a)});
  int32_t t = add((tesela_node_spec){.op = TESELA_OP_POINTWISE, .fn = TESELA_FN_ADD, NODES(a, turned)});
  int32_t u = add((tesela_node_spec){.op = TESELA_OP_POINTWISE, .fn = TESELA_FN_ADD, NODES(t, x)});
  OK(tesela_graph_add_output(graph, u, &e_));
  build_lay_out_all(graph, &target);
  tesela_graph_memory *memory;
  OK(tesela_graph_plan_memory(&memory, graph, &target, NULL, &e_));
  float in[25], out[25], right[25];
  for (int i = 0; i < 25; i++) in[i] = (float)i;
  const void *inputs[1] = {in};
  void *outputs[1] = {out};
  tesela_graph_run_facts facts;
  tesela_graph_run_options options = {.memory = memory};
  OK(tesela_graph_run(graph, &target, inputs, outputs, &options, &facts, &e_));
  assert_int_equal(facts.poison_read, 0);
  for (int i = 0; i < 25; i++) right[i] = (float)(i - i - (i % 5 * 5 + i / 5));
  assert_memory_equal(out, right, sizeof out);
  tesela_graph_place *place = &memory->place[memory->place_of[t]];
  place->in_place_of = a; /* as if the transposed operand lay like the result */
  place->offset = memory->place[memory->place_of[a]].offset;
  OK(tesela_graph_run(graph, &target, inputs, outputs, &options, &facts, &e_));
  assert_int_equal(facts.poison_read,
                   10);    /* the elements below the diagonal are overwritten before they are read */
  place->in_place_of = -1; /* and without knowing: poison first */
  OK(tesela_graph_run(graph, &target, inputs, outputs, &options, &facts, &e_));
  assert_true(facts.poison_read > 10);
  place->offset = 1 << 20;
  assert_int_equal(tesela_graph_run(graph, &target, inputs, outputs, &options, &facts, NULL),
                   TESELA_E_INVALID);
  tesela_graph_memory_destroy(memory);
}

/* A layout that says that padding is data: read through a buffer with another layout, it is seen. */
static void padding_that_is_read_is_poison(void **unused) {
  (void)unused;
  uint8_t bits[8], other[8];
  static const tesela_dtype floats[] = {TESELA_F16, TESELA_BF16, TESELA_F32, TESELA_F64};
  for (int i = 0; i < 4; i++) { /* no arithmetic makes it: it is signalling */
    int32_t width = tesela_dtype_bytes(floats[i]);
    tesela__run_poison(floats[i], bits, width);
    tesela__run_value x = tesela__run_load(floats[i], bits);
    assert_true(isnan(x.f));
    tesela__run_store(floats[i], tesela__run_round(floats[i], TESELA__RUN_FLOAT, x), other, width);
    assert_memory_not_equal(bits, other, (size_t)width);
  }
}

/* ---- refusals -------------------------------------------------------------------------------------------------------- */

static tesela_status run_one(int32_t node, const void *const *inputs, void *const *outputs, bool plain) {
  OK(tesela_graph_add_output(graph, node, &e_));
  return tesela_graph_run(graph, NULL, inputs, outputs, &(tesela_graph_run_options){.plain = plain}, NULL,
                          NULL);
}

static void refusals(void **unused) {
  (void)unused;
  float in[6] = {0}, out[64] = {7};
  int32_t at[2] = {1, 3};
  const void *inputs[2] = {in, at};
  void *outputs[6] = {out, out, out, out, out, out}; /* run_one adds one each time */
  int32_t x = build_input(graph, "x", "f32[3,2]"), i = build_input(graph, "i", "s32[2]");
  int32_t g = add((tesela_node_spec){.op = TESELA_OP_GATHER, NODES(x, i)});
  assert_int_equal(run_one(g, inputs, outputs, true), TESELA_E_INVALID); /* 3 is after 0 .. 2 */
  assert_true(out[0] == 7);
  at[1] = -1;
  assert_int_equal(run_one(g, inputs, outputs, true), TESELA_E_INVALID);
  at[1] = 2;
  assert_int_equal(run_one(g, inputs, outputs, true), TESELA_OK);
  assert_int_equal(run_one(g, inputs, outputs, false), TESELA_E_INVALID); /* no layouts */
  assert_int_equal(run_one(g, (const void *const[]){in, NULL}, outputs, true), TESELA_E_INVALID);
  add((tesela_node_spec){.op = TESELA_OP_POINTWISE, .fn = TESELA_FN_FUSED, NODES(x)});
  assert_int_equal(run_one(g, inputs, outputs, true), TESELA_E_UNSUPPORTED);
}

static void types_that_cannot_be_computed(void **unused) {
  (void)unused;
  static const char *const shapes[] = {"c64[2]", "s4[2]", "f4e2m1fn[2]", "-[2]"};
  for (int k = 0; k < 4; k++) {
    OK(tesela_graph_create(&graph, NULL, &e_));
    int32_t x = build_input(graph, "x", shapes[k]);
    uint8_t bytes[64] = {0};
    assert_int_equal(run_one(x, (const void *const[]){bytes}, (void *const[]){bytes}, true),
                     TESELA_E_UNSUPPORTED);
    tesela_graph_destroy(graph);
  }
  OK(tesela_graph_create(&graph, NULL, &e_));
  int32_t f =
      add((tesela_node_spec){.op = TESELA_OP_FALLBACK, .opcode = "sort", .dtype = TESELA_F32, .rank = 0});
  float one;
  assert_int_equal(run_one(f, NULL, (void *const[]){&one}, true), TESELA_E_UNSUPPORTED);
  tesela_graph_destroy(graph);
}

/* Results come in the order in which the outputs were given, the tensor that was given twice twice; so do those of HLO's ROOT tuple. */
static void outputs_in_their_order(void **unused) {
  (void)unused;
  static const char text[] = "HloModule m\n\nENTRY m {\n  a = s32[2]{0} parameter(0)\n  b = s32[2]{0} add(a, "
                             "a)\n  c = s32[2]{0} multiply(b, a)\n"
                             "  ROOT r = (s32[2]{0}, s32[2]{0}, s32[2]{0}) tuple(c, a, c)\n}\n";
  tesela_graph_destroy(graph);
  OK(tesela_graph_read_hlo(&graph, text, strlen(text), NULL, NULL, NULL, &e_));
  int32_t a = tesela_graph_find(graph, "a"), b = tesela_graph_find(graph, "b"),
          c = tesela_graph_find(graph, "c");
  OK(tesela_graph_add_output(graph, b, &e_));
  int32_t expected[4] = {c, a, c, b};
  assert_int_equal(tesela_graph_n_outputs(graph), 4);
  for (int32_t k = 0; k < 4; k++) assert_int_equal(tesela_graph_output(graph, k), expected[k]);
  assert_int_equal(tesela_graph_output(graph, 4), -1);
  assert_int_equal(tesela_graph_output(graph, -1), -1);
  int32_t in[2] = {3, -5}, out[4][2];
  void *outputs[4] = {out[0], out[1], out[2], out[3]};
  OK(tesela_graph_run(graph, NULL, (const void *const[]){in}, outputs,
                      &(tesela_graph_run_options){.plain = true}, NULL, &e_));
  for (int i = 0; i < 2; i++) {
    assert_int_equal(out[0][i], 2 * in[i] * in[i]);
    assert_int_equal(out[1][i], in[i]);
    assert_int_equal(out[2][i], 2 * in[i] * in[i]);
    assert_int_equal(out[3][i], 2 * in[i]);
  }
}

/* A program without operators, without nodes, and with empty tensors. */
static void nothing_to_do(void **unused) {
  (void)unused;
  tesela_graph_run_facts facts;
  OK(tesela_graph_run(graph, NULL, NULL, NULL, NULL, &facts, &e_));
  assert_int_equal(facts.operators, 0);
  int32_t x = build_input(graph, "x", "f32[0,3]");
  int32_t s = add((tesela_node_spec){.op = TESELA_OP_REDUCE, .fn = TESELA_FN_MAX, DIMS(0), NODES(x)});
  OK(tesela_graph_add_output(graph, s, &e_));
  OK(tesela_graph_add_output(graph, x, &e_));
  tesela_target target;
  OK(tesela_target_plain(&target, 8, &e_));
  build_lay_out_all(graph, &target);
  float out[3] = {0};
  OK(tesela_graph_run(graph, &target, (const void *const[]){NULL}, (void *const[]){out, NULL}, NULL, &facts,
                      &e_));
  for (int i = 0; i < 3; i++) assert_true(out[i] == -(float)INFINITY);
}

/* ---- moves that a propagation inserts ---------------------------------------------------------------------------------- */

/* f16 in sticks along dim 1. */
static int32_t stick_input(int64_t rows, int64_t columns) {
  return add((tesela_node_spec){.op = TESELA_OP_INPUT,
                                .dtype = TESELA_F16,
                                .rank = 2,
                                .shape = (const int64_t[]){rows, columns},
                                .stick = 1});
}

static void propagated_programs(void **unused) {
  (void)unused;
  const tesela_target *spyre = tesela_target_find("spyre");
  int32_t a = stick_input(70, 100), b = stick_input(100, 70), w = stick_input(40, 70);
  int32_t turned = add((tesela_node_spec){.op = TESELA_OP_PERMUTE, DIMS(1, 0), NODES(a)});
  int32_t sum = add((tesela_node_spec){.op = TESELA_OP_POINTWISE, .fn = TESELA_FN_ADD, NODES(turned, b)});
  int32_t wt = add((tesela_node_spec){.op = TESELA_OP_PERMUTE, DIMS(1, 0), NODES(w)});
  int32_t o = add((tesela_node_spec){.op = TESELA_OP_MATMUL, NODES(sum, wt)});
  int32_t m = add(
      (tesela_node_spec){.op = TESELA_OP_REDUCE, .fn = TESELA_FN_MAX, DIMS(1), .keepdim = true, NODES(o)});
  int32_t d = add((tesela_node_spec){.op = TESELA_OP_POINTWISE, .fn = TESELA_FN_SUB, NODES(o, m)});
  OK(tesela_graph_add_output(graph, d, &e_));
  tesela_propagation *found;
  tesela_graph *laid;
  tesela_graph_memory *memory;
  OK(tesela_graph_propagate(&found, graph, spyre, &(tesela_propagate_options){.mode = TESELA_PROPAGATE_AUTO},
                            &e_));
  assert_true(tesela_propagation_facts_of(found).ok);
  int64_t moved = tesela_propagation_facts_of(found).moved;
  assert_true(moved > 0);
  OK(tesela_graph_apply(&laid, found, &e_));
  static uint16_t in[3][7000], out[4000], want[4000];
  uint64_t state = 5;
  for (int k = 0; k < 3; k++)
    for (int e = 0; e < 7000; e++)
      in[k][e] = (uint16_t)(0x3000 + random_below(&state, 0x1000) + (random_below(&state, 2) << 15));
  const void *inputs[3] = {in[0], in[1], in[2]};
  void *outputs[1] = {want};
  assert_int_equal(graph_oracle_run(graph, inputs, outputs), 0);
  outputs[0] = out;
  tesela_graph_run_facts facts;
  OK(tesela_graph_run(laid, spyre, inputs, outputs, NULL, &facts, &e_));
  assert_memory_equal(out, want, sizeof out);
  assert_int_equal(facts.poison_read, 0);
  assert_int_equal(facts.moved, moved); /* what the plan said they cost */
  OK(tesela_graph_plan_memory(&memory, laid, spyre, NULL, &e_));
  memset(out, 0, sizeof out);
  OK(tesela_graph_run(laid, spyre, inputs, outputs, &(tesela_graph_run_options){.memory = memory}, &facts,
                      &e_));
  assert_memory_equal(out, want, sizeof out);
  assert_int_equal(facts.poison_read, 0);
  tesela_graph_memory_destroy(memory);
  tesela_graph_destroy(laid);
  tesela_propagation_destroy(found);
}

/* ---- allocations ------------------------------------------------------------------------------------------------------- */

static void allocations_fail(void **unused) {
  (void)unused;
  fault f = {.once = true};
  tesela_allocator allocator = fault_allocator(&f);
  uint64_t state = 4242;
  random_program p;
  random_program_make(&p, &state, 10);
  random_program_layouts(&p, &state);
  for (int plain = 0; plain < 2; plain++) {
    tesela_graph_run_options options = {.plain = plain, .allocator = &allocator};
    int32_t failures = 0;
    for (int64_t k = 0;; k++) {
      f.countdown = k;
      random_program_clear(&p, 0x5a);
      tesela_status status = tesela_graph_run(p.graph, &p.target, p.inputs, p.outputs, &options, NULL, NULL);
      assert_int_equal(f.live, 0);
      if (status == TESELA_OK) break;
      assert_int_equal(status, TESELA_E_MEMORY);
      failures++;
    }
    assert_true(failures > 20);
  }
  random_program_free(&p);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(functions_by_hand),
      cmocka_unit_test(all_halves),
      cmocka_unit_test_setup_teardown(types_of_the_device, begin, end),
      cmocka_unit_test_setup_teardown(a_wrong_plan_is_seen, begin, end),
      cmocka_unit_test(padding_that_is_read_is_poison),
      cmocka_unit_test_setup_teardown(refusals, begin, end),
      cmocka_unit_test(types_that_cannot_be_computed),
      cmocka_unit_test_setup_teardown(outputs_in_their_order, begin, end),
      cmocka_unit_test_setup_teardown(nothing_to_do, begin, end),
      cmocka_unit_test_setup_teardown(propagated_programs, begin, end),
      cmocka_unit_test(allocations_fail),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
