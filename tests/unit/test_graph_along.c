/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_graph_along.c - operators that run along a dim: shapes, what is refused, iteration, loops, division, the way through HLO
 * text, padding, and what they compute: by rows, and on random lines with ties, NaN, -0 and infinities against the oracle.
 *
 * Their layouts are in test_propagate_along.c; what they do in larger programs, with any layout, in planned memory, divided,
 * and to padding is in the random tests of those.
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

#include "../oracle/graph_oracle.h"
#include "support_fault.h"
#include "support_graph_build.h"
#include "support_graph_random.h"
#include "support_graph_text.h"
#include "support_propagate.h"
#include "support_seed.h"

#define ALONG(f) .op = TESELA_OP_ALONG, .fn = TESELA_FN_##f

static tesela_graph *graph;

static int begin(void **state) {
  (void)state;
  return tesela_graph_create(&graph, NULL, NULL) == TESELA_OK ? 0 : -1;
}
static int end(void **state) {
  (void)state;
  tesela_graph_destroy(graph);
  return 0;
}

static tesela_status add(const char *operands, tesela_node_spec spec, int32_t *node, tesela_error *err) {
  int32_t operand[4];
  spec.n_operands = build_inputs(graph, operands, operand);
  spec.operand = operand;
  return tesela_graph_add(graph, &spec, node, err);
}

/* ---- shapes and refusals ---- */

static const struct {
  const char *operands;
  tesela_node_spec spec;
  const char *want; /* shape; or what the message says */
  tesela_status status;
} rows[] = {
    {"f16[4,100]", {ALONG(SORT)}, "f16[4,100]", TESELA_OK},
    {"f16[4,100]", {ALONG(SORT), DIMS(0), .length = N(3)}, "f16[3,100]", TESELA_OK},
    {"f16[4,100]", {ALONG(SORT), DIMS(-1), .length = N(0)}, "f16[4,0]", TESELA_OK},
    {"f16[4,0]", {ALONG(SORT)}, "f16[4,0]", TESELA_OK},
    {"f16[4,100]", {ALONG(ARGSORT), DIMS(1), .length = N(5), .reverse = true}, "s32[4,5]", TESELA_OK},
    {"bf16[7]", {ALONG(ARGSORT), .dtype = TESELA_S64}, "s64[7]", TESELA_OK},
    {"bf16[7]", {ALONG(ARGSORT), .dtype = TESELA_U8}, "u8[7]", TESELA_OK},
    {"pred[2,3,4]", {ALONG(CUMSUM), DIMS(1), .dtype = TESELA_S32}, "s32[2,3,4]", TESELA_OK},
    {"s8[2,3,4]", {ALONG(CUMPROD), DIMS(0)}, "s8[2,3,4]", TESELA_OK},
    {"f16[4]", {ALONG(CUMMAX), .length = N(4)}, "f16[4]", TESELA_OK},
    {"f16[4] f16[4]", {ALONG(FUSED), .length = N(9), .opcode = "upsample"}, "f16[9]", TESELA_OK},
    {"f16[]", {ALONG(SORT)}, "no dim to run along", TESELA_E_INVALID},
    {"f16[4]", {ALONG(SUM)}, "sum does not run along a dim", TESELA_E_INVALID},
    {"f16[4]", {.op = TESELA_OP_ALONG}, "none does not run along", TESELA_E_INVALID},
    {"f16[4,5]", {ALONG(SORT), DIMS(0, 1)}, "along 2 dims", TESELA_E_INVALID},
    {"f16[4,5]", {ALONG(SORT), DIMS(2)}, "dim 2 is out of range", TESELA_E_RANGE},
    {"f16[4,5]", {ALONG(SORT), DIMS(-3)}, "dim -3 is out of range", TESELA_E_RANGE},
    {"f16[4,5]", {ALONG(SORT), .length = N(6)}, "the first 6 elements of dim 1, which has 5", TESELA_E_RANGE},
    {"f16[4,5]", {ALONG(SORT), .length = N(-1)}, "length -1", TESELA_E_RANGE},
    {"f16[4,5]",
     {ALONG(CUMSUM), .length = N(4)},
     "cumsum keeps the extent of dim 1, which is 5",
     TESELA_E_INVALID},
    {"f16[4,5] f16[4,5]", {ALONG(SORT)}, "2 operands; sort expects 1", TESELA_E_INVALID},
    {"f16[4,5] f16[5]", {ALONG(FUSED)}, "operand 1 has shape [5], but operand 0 has [4,5]", TESELA_E_INVALID},
    {"f16[4]", {ALONG(ARGSORT), .dtype = TESELA_F16}, "expected integers for argsort", TESELA_E_INVALID},
    {"", {ALONG(SORT)}, "0 operands", TESELA_E_INVALID},
    {"f16[2]", {ALONG(FUSED), .length = N(INT64_MAX)}, "exceeds 2^63 bits", TESELA_E_OVERFLOW},
    {"f16[4]", {ALONG(SORT), .in_place = true}, "cannot write in place", TESELA_E_INVALID},
};

static void shapes_by_rows(void **state) {
  for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
    tesela_error err = {.message = ""};
    int32_t node = -7;
    begin(state);
    tesela_status status = add(rows[i].operands, rows[i].spec, &node, &err);
    end(state);
    begin(state);
    assert_int_equal(add(rows[i].operands, rows[i].spec, NULL, NULL), status);
    if (status != rows[i].status) fail_msg("row %zu: %d, %s", i, (int)status, err.message);
    if (status == TESELA_OK && !build_is(graph, node, rows[i].want))
      fail_msg("row %zu is no %s", i, rows[i].want);
    if (status != TESELA_OK && !strstr(err.message, rows[i].want)) fail_msg("row %zu: %s", i, err.message);
    if (status != TESELA_OK) assert_int_equal(node, -7);
    end(state);
  }
  begin(state);
}

static void ranks_up_to_the_limit(void **state) {
  (void)state;
  int64_t shape[TESELA_GRAPH_RANK];
  for (int32_t d = 0; d < TESELA_GRAPH_RANK; d++) shape[d] = d % 3 + 1;
  tesela_node_spec in = {
      .op = TESELA_OP_INPUT, .dtype = TESELA_F16, .rank = TESELA_GRAPH_RANK, .shape = shape};
  int32_t x, y;
  OK(tesela_graph_add(graph, &in, &x, &e_));
  for (int32_t d = 0; d < TESELA_GRAPH_RANK; d++) {
    tesela_iteration it;
    OK(tesela_graph_add(graph, &(tesela_node_spec){ALONG(SORT), NODES(x), DIMS(d), .length = N(1)}, &y, &e_));
    OK(tesela_graph_iteration(graph, y, &it, &e_));
    assert_int_equal(it.n, TESELA_GRAPH_RANK + 1);
    assert_int_equal(it.extent[TESELA_GRAPH_RANK], shape[d]);
    assert_int_equal(it.extent[d], 1);
  }
}

/* Result dims, then the line: the operand has it in the place of the result's dim. */
static void a_line_is_folded(void **state) {
  (void)state;
  int32_t y;
  tesela_iteration it;
  tesela_index index[TESELA_GRAPH_RANK];
  OK(add("f16[2,5,3]", (tesela_node_spec){ALONG(SORT), DIMS(1), .length = N(4)}, &y, &e_));
  OK(tesela_graph_iteration(graph, y, &it, &e_));
  assert_int_equal(it.n, 4);
  for (int d = 0; d < 4; d++) assert_int_equal(it.extent[d], N(2, 4, 3, 5)[d]);
  for (int d = 0; d < 3; d++) assert_int_equal(it.result[d], d);
  OK(tesela_graph_operand_index(graph, y, 0, index, &e_));
  for (int d = 0; d < 3; d++) {
    assert_int_equal(index[d].dim[0], N(0, 3, 2)[d]);
    assert_true(index[d].dim[1] == -1 && index[d].factor[0] == 1 && index[d].start == 0);
  }
}

/* ---- what they compute ---- */

/* One line of up to eight numbers in f64, and what becomes of it. */
static const struct {
  const char *what;
  tesela_fn fn;
  bool reverse;
  int n, k;
  double x[8], want[8];
} lines[] = {
    {"sort", TESELA_FN_SORT, false, 4, 4, {3, -1, 2, 0}, {-1, 0, 2, 3}},
    {"sort down", TESELA_FN_SORT, true, 4, 4, {3, -1, 2, 0}, {3, 2, 0, -1}},
    {"the two greatest", TESELA_FN_SORT, true, 4, 2, {3, -1, 2, 0}, {3, 2}},
    {"the two least", TESELA_FN_SORT, false, 4, 2, {3, -1, 2, 0}, {-1, 0}},
    {"NaN comes last",
     TESELA_FN_SORT,
     false,
     4,
     4,
     {NAN, INFINITY, 1, -INFINITY},
     {-INFINITY, 1, INFINITY, NAN}},
    {"NaN comes first, down", TESELA_FN_SORT, true, 3, 3, {2, NAN, INFINITY}, {NAN, INFINITY, 2}},
    {"where they come from", TESELA_FN_ARGSORT, false, 4, 4, {3, -1, 2, 0}, {1, 3, 2, 0}},
    {"equal ones keep their order", TESELA_FN_ARGSORT, false, 6, 6, {1, 0, 1, 0, 1, 0}, {1, 3, 5, 0, 2, 4}},
    {"also down", TESELA_FN_ARGSORT, true, 6, 6, {1, 0, 1, 0, 1, 0}, {0, 2, 4, 1, 3, 5}},
    {"NaNs are equal", TESELA_FN_ARGSORT, true, 5, 3, {NAN, 5, NAN, 7, -0.0}, {0, 2, 3}},
    {"-0 is 0", TESELA_FN_ARGSORT, false, 4, 4, {0.0, -0.0, -1, 0.0}, {2, 0, 1, 3}},
    {"where the greatest is", TESELA_FN_ARGSORT, true, 5, 1, {1, 7, 3, 7, 7}, {1}},
    {"one element", TESELA_FN_SORT, false, 1, 1, {5}, {5}},
    {"cumsum", TESELA_FN_CUMSUM, false, 4, 4, {1, 2, 3, -4}, {1, 3, 6, 2}},
    {"cumsum from the end", TESELA_FN_CUMSUM, true, 4, 4, {1, 2, 3, -4}, {2, 1, -1, -4}},
    {"cumsum meets NaN", TESELA_FN_CUMSUM, false, 3, 3, {1, NAN, 2}, {1, NAN, NAN}},
    {"cumprod", TESELA_FN_CUMPROD, false, 4, 4, {2, 3, -1, 0.5}, {2, 6, -6, -3}},
    {"cummax", TESELA_FN_CUMMAX, false, 5, 5, {1, 3, 2, 5, 4}, {1, 3, 3, 5, 5}},
    {"cummax meets NaN", TESELA_FN_CUMMAX, false, 4, 4, {-INFINITY, NAN, 2, 5}, {-INFINITY, NAN, NAN, NAN}},
    {"cummin from the end", TESELA_FN_CUMMIN, true, 5, 5, {1, 3, 2, 5, 4}, {1, 2, 2, 4, 4}},
};

static void lines_by_rows(void **state) {
  for (size_t i = 0; i < sizeof lines / sizeof *lines; i++) {
    double have[8];
    const void *in[1] = {lines[i].x};
    void *out[1] = {have};
    char shape[16];
    int32_t y, x;
    begin(state);
    snprintf(shape, sizeof shape, "f64[%d]", lines[i].n);
    tesela_node_spec spec = {
        .op = TESELA_OP_ALONG, .fn = lines[i].fn, .reverse = lines[i].reverse, .length = N(lines[i].k)};
    OK(add(shape, spec, &y, &e_));
    if (lines[i].fn == TESELA_FN_ARGSORT) {
      x = y;
      OK(tesela_graph_add(
          graph,
          &(tesela_node_spec){.op = TESELA_OP_POINTWISE, .fn = TESELA_FN_COPY, NODES(x), .dtype = TESELA_F64},
          &y, &e_));
    }
    OK(tesela_graph_add_output(graph, y, &e_));
    OK(tesela_graph_run(graph, NULL, in, out, &(tesela_graph_run_options){.plain = true}, NULL, &e_));
    for (int k = 0; k < lines[i].k; k++)
      if (!(have[k] == lines[i].want[k] || (isnan(have[k]) && isnan(lines[i].want[k]))))
        fail_msg("%s: %g at %d, not %g", lines[i].what, have[k], k, lines[i].want[k]);
    end(state);
  }
  begin(state);
}

static void what_is_unknown_is_not_run(void **state) {
  (void)state;
  int32_t y;
  tesela_error err = {.message = ""};
  float x[3] = {1, 2, 3}, have[3];
  OK(add("f32[3]", (tesela_node_spec){ALONG(FUSED), .opcode = "median"}, &y, &e_));
  OK(tesela_graph_add_output(graph, y, &e_));
  assert_int_equal(tesela_graph_run(graph, NULL, (const void *[]){x}, (void *[]){have},
                                    &(tesela_graph_run_options){.plain = true}, NULL, &err),
                   TESELA_E_UNSUPPORTED);
  assert_non_null(strstr(err.message, "cannot be run"));
}

static void a_run_without_memory_leaves_nothing(void **state) {
  (void)state;
  int32_t y;
  float x[12] = {3, 1, 2}, have[12];
  OK(add("f32[3,4]", (tesela_node_spec){ALONG(SORT), DIMS(0)}, &y, &e_));
  OK(tesela_graph_add_output(graph, y, &e_));
  for (int64_t allowed = 0;; allowed++) {
    fault f = {.countdown = allowed};
    tesela_allocator allocator = fault_allocator(&f);
    tesela_graph_run_options options = {.plain = true, .allocator = &allocator};
    tesela_status status =
        tesela_graph_run(graph, NULL, (const void *[]){x}, (void *[]){have}, &options, NULL, NULL);
    assert_int_equal(f.live, 0);
    if (status == TESELA_OK) {
      assert_true(allowed > 8 && have[0] == 0 && have[8] == 3);
      break;
    }
    assert_int_equal(status, TESELA_E_MEMORY);
  }
}

/* Numbers with many ties, and those that are apart from all others. */
static void fill(uint64_t *state, tesela_dtype dtype, int64_t n, uint8_t *at) {
  static const uint16_t f16[] = {0x7e00, 0x7c00, 0xfc00, 0x8000, 0, 0x3c00, 0xbc00, 0x4000};
  static const float f32[] = {(float)NAN, INFINITY, -INFINITY, -0.0f, 0, 1, -1, 2.5f};
  int bytes = tesela_dtype_bytes(dtype);
  for (int64_t i = 0; i < n; i++) {
    int64_t k = random_below(state, 8), small = k - 4;
    uint8_t bit = (uint8_t)(k & 1);
    const void *from = dtype == TESELA_F16    ? (const void *)&f16[k]
                       : dtype == TESELA_F32  ? (const void *)&f32[k]
                       : dtype == TESELA_PRED ? (const void *)&bit
                                              : (const void *)&small;
    memcpy(at + i * bytes, from, (size_t)bytes); /* little-endian */
  }
}

static void random_lines_are_as_the_oracle_says(void **state) {
  static const tesela_dtype types[] = {TESELA_F16,  TESELA_F32, TESELA_S32, TESELA_S8,
                                       TESELA_PRED, TESELA_U8,  TESELA_U64};
  static const char *const names[] = {"f16", "f32", "s32", "s8", "pred", "u8", "u64"};
  uint64_t seed = first_seed();
  for (uint64_t number = 0; number < 1500; number++) {
    uint64_t dice = (seed + number) * UINT64_C(0x9e3779b97f4a7c15) | 1;
    int64_t t = random_below(&dice, 7), shape[3], n = 1;
    static uint8_t x[8192], want[8192], have[8192];
    int32_t rank = 1 + (int32_t)random_below(&dice, 3), y;
    char text[64];
    begin(state);
    for (int32_t d = 0; d < 3; d++) n *= shape[d] = d < rank ? 1 + random_below(&dice, d == 0 ? 11 : 9) : 1;
    snprintf(text, sizeof text,
             rank == 1   ? "%s[%d]"
             : rank == 2 ? "%s[%d,%d]"
                         : "%s[%d,%d,%d]",
             names[t], (int)shape[0], (int)shape[1], (int)shape[2]);
    tesela_node_spec spec = {.op = TESELA_OP_ALONG,
                             .fn = (tesela_fn)(TESELA_FN_CUMSUM + random_below(&dice, 6)),
                             DIMS((int32_t)random_below(&dice, rank)),
                             .reverse = random_below(&dice, 2)};
    int64_t length = shape[spec.dims[0]];
    if (spec.fn >= TESELA_FN_SORT) length = random_below(&dice, length + 1);
    spec.length = &length;
    OK(add(text, spec, &y, &e_));
    OK(tesela_graph_add_output(graph, y, &e_));
    fill(&dice, types[t], n, x);
    const void *in[1] = {x};
    memset(want, 1, sizeof want);
    memset(have, 1, sizeof have);
    assert_int_equal(graph_oracle_run(graph, in, (void *[]){want}), 0);
    OK(tesela_graph_run(graph, NULL, in, (void *[]){have}, &(tesela_graph_run_options){.plain = true}, NULL,
                        &e_));
    if (memcmp(want, have, sizeof want) != 0)
      fail_msg("TESELA_SEED=%" PRIu64 ": %s of %s differs", seed + number, tesela_fn_name(spec.fn), text);
    end(state);
  }
  begin(state);
}

/* ---- loops and cores ---- */

static void loops_are_printed(void **state) {
  (void)state;
  static const char *const want = "// t = along sort\n"
                                  "for (int64_t c0 = 0; c0 < 5; c0++)\n"
                                  "  for (int64_t c1 = 0; c1 < 40; c1++) {\n"
                                  "    value line[130];\n"
                                  "    for (int64_t c2 = 0; c2 < 130; c2++)\n"
                                  "      line[c2] = x[c1 + c2*64];\n"
                                  "    t[c0*64 + c1] = sort_reverse(line, 130, c0);\n"
                                  "  }\n";
  char text[2000];
  tesela_buffer buffer = {text, sizeof text, 0};
  tesela_writer to = tesela_buffer_writer(&buffer);
  int32_t x = build_laid_out(graph, prog_spyre(), "x", "f16[40,130]", 0);
  int32_t t =
      build_node(graph, prog_spyre(),
                 (tesela_node_spec){ALONG(SORT), .name = "t", NODES(x), .length = N(5), .reverse = true}, 0);
  OK(tesela_graph_print_loops(graph, t, &to, &e_));
  assert_string_equal(text, want);
  int32_t line = build_laid_out(graph, prog_spyre(), "line", "f16[40,1]", 0);
  int32_t m = build_node(
      graph, prog_spyre(),
      (tesela_node_spec){ALONG(FUSED), .name = "cumsum_reverse", .opcode = "f", NODES(line, line)}, 0);
  buffer.length = 0;
  OK(tesela_graph_print_loops(graph, m, &to, &e_));
  assert_string_equal(text, "// cumsum_reverse = along fused\n"
                            "for (int64_t c0 = 0; c0 < 40; c0++) {\n"
                            "  value line0[1];\n"
                            "  value line1[1];\n"
                            "  line0[0] = v2[c0];\n"
                            "  line1[0] = v2[c0];\n"
                            "  v3[c0] = fused(line0, line1, 1, 0);\n"
                            "}\n");
}

static void a_line_is_never_cut(void **state) {
  (void)state;
  int32_t x = build_laid_out(graph, prog_spyre(), "x", "f16[6,192]", 0), t;
  tesela_division division;
  tesela_error err = {.message = ""};
  t = build_node(graph, prog_spyre(), (tesela_node_spec){ALONG(CUMSUM), NODES(x)}, 0);
  OK(tesela_graph_divide(graph, t, 32, NULL, &division,
                         &e_)); /* loops: 192 results, 6 lanes; 192 of the line */
  assert_int_equal(division.cores, 32);
  assert_int_equal(division.factor[0], 32);
  assert_int_equal(division.folded, -1);
  int64_t forced[TESELA_DEVICE_DIMS] = {0, 0, 2};
  assert_int_equal(tesela_graph_divide(graph, t, 32, forced, &division, &err), TESELA_E_RANGE);
  assert_non_null(strstr(err.message, "needs the whole line"));
  t = build_node(graph, prog_spyre(), (tesela_node_spec){ALONG(SORT), NODES(x), .length = N(3)}, 0);
  OK(tesela_graph_divide(graph, t, 32, NULL, &division, &e_));
  assert_int_equal(division.cores, 3);
}

/* ---- text ---- */

static void programs_go_through_hlo_text(void **state) {
  uint64_t dice = first_seed() | 1;
  for (int32_t round = 0; round < 200; round++) {
    begin(state);
    int32_t x = build_input(graph, "x", "f16[4,5,6]"), d = (int32_t)random_below(&dice, 3);
    tesela_fn fn = (tesela_fn)(TESELA_FN_FUSED + random_below(&dice, 7));
    int64_t length = N(4, 5, 6)[d];
    if (fn == TESELA_FN_FUSED || fn >= TESELA_FN_SORT)
      length = random_below(&dice, fn == TESELA_FN_FUSED ? 20 : length + 1);
    tesela_node_spec spec = {.op = TESELA_OP_ALONG,
                             .fn = fn,
                             NODES(x, x),
                             DIMS(d),
                             .length = &length,
                             .reverse = random_below(&dice, 2),
                             .opcode = round % 2 ? "top k\"" : NULL};
    if (fn != TESELA_FN_FUSED) spec.n_operands = 1;
    if (fn != TESELA_FN_ARGSORT && random_below(&dice, 2)) spec.dtype = TESELA_F32;
    if (fn == TESELA_FN_ARGSORT && random_below(&dice, 2)) spec.dtype = TESELA_U16;
    int32_t y;
    OK(tesela_graph_add(graph, &spec, &y, &e_));
    OK(tesela_graph_add_output(graph, y, &e_));
    graph_round_trip(graph, tesela_fn_name(fn));
    end(state);
  }
  begin(state);
}

/* ---- padding ---- */

static void padding_beside_lines_is_known(void **state) {
  (void)state;
  static const struct {
    tesela_fn fn;
    double fill, want; /* NAN: garbage */
  } cases[] = {{TESELA_FN_SORT, 3, 3},      {TESELA_FN_CUMSUM, 0, 0},    {TESELA_FN_CUMSUM, 1, NAN},
               {TESELA_FN_CUMPROD, 1, 1},   {TESELA_FN_CUMPROD, 2, NAN}, {TESELA_FN_CUMMAX, -5, -5},
               {TESELA_FN_ARGSORT, 0, NAN}, {TESELA_FN_FUSED, 0, NAN}};
  int32_t x = build_laid_out(graph, prog_spyre(), "x", "f16[7,40]", 1), y[8];
  for (int i = 0; i < 8; i++)
    y[i] = build_node(graph, prog_spyre(),
                      (tesela_node_spec){.op = TESELA_OP_ALONG, .fn = cases[i].fn, NODES(x), DIMS(0)}, 1);
  for (int i = 0; i < 8; i++) {
    tesela_padding *p;
    tesela_padding_fill fills[1] = {{TESELA_PAD_VALUE, cases[i].fill}};
    OK(tesela_graph_padding(&p, graph, &(tesela_padding_options){.input = fills}, &e_));
    tesela_padding_state s = tesela_padding_state_of(p, y[i]);
    assert_int_equal(s.kind, isnan(cases[i].want) ? TESELA_PADDING_GARBAGE : TESELA_PADDING_VALUE);
    if (!isnan(cases[i].want)) assert_true(s.value == cases[i].want);
    assert_null(tesela_padding_read_at(p, 0)); /* lines have whole sticks beside each other */
    tesela_padding_destroy(p);
  }
}

/* A line in the lanes, which a layout that is set may ask for: its end is padding. Behind an element it only counts from the end. */
static void padding_behind_lines_is_read(void **state) {
  (void)state;
  int32_t x = build_laid_out(graph, prog_spyre(), "x", "f16[7,40]", 1);
  (void)build_node(graph, prog_spyre(), (tesela_node_spec){ALONG(CUMSUM), NODES(x)}, 1);
  int32_t back =
      build_node(graph, prog_spyre(), (tesela_node_spec){ALONG(CUMSUM), NODES(x), .reverse = true}, 1);
  int32_t sorted = build_node(graph, prog_spyre(), (tesela_node_spec){ALONG(SORT), NODES(x)}, 1);
  int32_t other =
      build_node(graph, prog_spyre(), (tesela_node_spec){ALONG(FUSED), NODES(x, x), .opcode = "f"}, 1);
  tesela_padding *p;
  tesela_padding_fill fills[1] = {{TESELA_PAD_ZERO, 0}};
  OK(tesela_graph_padding(&p, graph, &(tesela_padding_options){.input = fills}, &e_));
  const struct {
    int32_t node, operand;
    tesela_padding_verdict verdict;
  } want[] = {{back, 0, TESELA_PADDING_FINE},
              {sorted, 0, TESELA_PADDING_MASK},
              {other, 0, TESELA_PADDING_MASK},
              {other, 1, TESELA_PADDING_MASK}};
  for (int32_t k = 0; k < 4; k++) {
    const tesela_padding_read *read = tesela_padding_read_at(p, k);
    assert_non_null(read);
    assert_int_equal(read->node, want[k].node);
    assert_int_equal(read->operand, want[k].operand);
    assert_true(read->dim == 1 && read->from == 40 && read->to == 64);
    assert_int_equal(read->verdict, want[k].verdict);
  }
  assert_null(tesela_padding_read_at(p, 4));
  tesela_padding_destroy(p);
}

#define CASE(name) cmocka_unit_test_setup_teardown(name, begin, end)

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test_teardown(shapes_by_rows, end),
      CASE(ranks_up_to_the_limit),
      CASE(a_line_is_folded),
      cmocka_unit_test_teardown(lines_by_rows, end),
      CASE(what_is_unknown_is_not_run),
      CASE(a_run_without_memory_leaves_nothing),
      cmocka_unit_test_teardown(random_lines_are_as_the_oracle_says, end),
      CASE(loops_are_printed),
      CASE(a_line_is_never_cut),
      cmocka_unit_test_teardown(programs_go_through_hlo_text, end),
      CASE(padding_beside_lines_is_known),
      CASE(padding_behind_lines_is_read),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
