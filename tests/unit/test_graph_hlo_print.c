/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_graph_hlo_print.c - programs printed as HLO text: the words of some, and random programs of all classes there and back.
 */
#include <inttypes.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>
#include <tesela/tesela.h>

#include "support_graph_build.h"
#include "support_graph_text.h"
#include "support_seed.h"

#define OK(call)                                                    \
  do {                                                              \
    tesela_error e_ = {.message = ""};                              \
    if ((call) != TESELA_OK) fail_msg("%s: %s", #call, e_.message); \
  } while (0)

/* ---- words ---- */

/* operands, spec, lines of the entry after the parameters */
static const struct {
  const char *operands;
  tesela_node_spec spec;
  const char *lines;
} rows[] = {
    {"f16[2,3] f16[2,3]",
     {.op = TESELA_OP_POINTWISE, .fn = TESELA_FN_SUB},
     "  ROOT %y = f16[2,3]{1,0} subtract(%x0, %x1)\n"},
    {"f16[2,3] f16[3]",
     {.op = TESELA_OP_POINTWISE, .fn = TESELA_FN_SUB},
     "  ROOT %y = f16[2,3]{1,0} custom-call(%x0, %x1), custom_call_target=\"tesela\", "
     "frontend_attributes={tesela=\"pointwise fn=sub\"}\n"},
    {"f16[2]",
     {.op = TESELA_OP_POINTWISE, .fn = TESELA_FN_RELU},
     "  ROOT %y = f16[2]{0} custom-call(%x0), custom_call_target=\"tesela\", "
     "frontend_attributes={tesela=\"pointwise fn=relu\"}\n"},
    {"f16[2] f16[2]",
     {.op = TESELA_OP_POINTWISE, .fn = TESELA_FN_LE},
     "  ROOT %y = pred[2]{0} compare(%x0, %x1), direction=LE\n"},
    {"f16[2]",
     {.op = TESELA_OP_POINTWISE, .fn = TESELA_FN_COPY, .dtype = TESELA_F32},
     "  ROOT %y = f32[2]{0} convert(%x0)\n"},
    {"f16[2]", {.op = TESELA_OP_POINTWISE, .fn = TESELA_FN_COPY}, "  ROOT %y = f16[2]{0} copy(%x0)\n"},
    {"f16[2,3]",
     {.op = TESELA_OP_PERMUTE, .n_dims = 2, .dims = D(1, 0)},
     "  ROOT %y = f16[3,2]{1,0} transpose(%x0), dimensions={1,0}, frontend_attributes={buffer=\"x0\"}\n"},
    {"f16[1,3]",
     {.op = TESELA_OP_SQUEEZE},
     "  ROOT %y = f16[3]{0} reshape(%x0), frontend_attributes={tesela=\"squeeze dims=0\",buffer=\"x0\"}\n"},
    {"f16[9]",
     {.op = TESELA_OP_SLICE, .start = N(2), .length = N(3), .step = N(3)},
     "  ROOT %y = f16[3]{0} slice(%x0), slice={[2:9:3]}, frontend_attributes={buffer=\"x0\"}\n"},
    {"f32[2,3]",
     {.op = TESELA_OP_REDUCE, .fn = TESELA_FN_MAX, .n_dims = 1, .dims = D(1)},
     "  %y.start = f32[] constant(-inf)\n  ROOT %y = f32[2]{0} reduce(%x0, %y.start), dimensions={1}, "
     "to_apply=%max_f32\n"},
    {"s8[2,3]",
     {.op = TESELA_OP_REDUCE, .fn = TESELA_FN_MAX, .n_dims = 1, .dims = D(1)},
     "  %y.start = s8[] constant(-128)\n  ROOT %y = s8[2]{0} reduce(%x0, %y.start), dimensions={1}, "
     "to_apply=%max_s8\n"},
    {"u16[2]",
     {.op = TESELA_OP_REDUCE, .fn = TESELA_FN_MIN},
     "  %y.start = u16[] constant(65535)\n  ROOT %y = u16[] reduce(%x0, %y.start), dimensions={0}, "
     "to_apply=%min_u16\n"},
    {"s64[2]",
     {.op = TESELA_OP_REDUCE, .fn = TESELA_FN_MIN},
     "  %y.start = s64[] constant(9223372036854775807)\n  ROOT %y = s64[] reduce(%x0, %y.start), "
     "dimensions={0}, to_apply=%min_s64\n"},
    {"f32[2,3] f32[3,4]",
     {.op = TESELA_OP_MATMUL},
     "  ROOT %y = f32[2,4]{1,0} dot(%x0, %x1), lhs_contracting_dims={1}, rhs_contracting_dims={0}\n"},
    {"f32[5,2,3] f32[5,3,4]",
     {.op = TESELA_OP_MATMUL},
     "  ROOT %y = f32[5,2,4]{2,1,0} dot(%x0, %x1), lhs_batch_dims={0}, lhs_contracting_dims={2}, "
     "rhs_batch_dims={0}, rhs_contracting_dims={1}\n"},
    {"f32[1,2,3] f32[5,3,4]",
     {.op = TESELA_OP_MATMUL},
     "  ROOT %y = f32[5,2,4]{2,1,0} custom-call(%x0, %x1), custom_call_target=\"tesela\", "
     "frontend_attributes={tesela=\"matmul labels=4 x=-1,1,3 y=0,3,2\"}\n"},
    {"f32[2,3] f32[5,3]",
     {.op = TESELA_OP_MATMUL, .rank = 2, .n_labels = 3, .x_label = D(1, 2), .y_label = D(0, 2)},
     "  ROOT %y = f32[5,2]{1,0} custom-call(%x0, %x1), custom_call_target=\"tesela\", "
     "frontend_attributes={tesela=\"matmul labels=3 x=1,2 y=0,2\"}\n"},
    {"f32[9,8] s32[5]",
     {.op = TESELA_OP_GATHER},
     "  ROOT %y = f32[5,8]{1,0} gather(%x0, %x1), offset_dims={1}, collapsed_slice_dims={0}, "
     "start_index_map={0}, index_vector_dim=1, slice_sizes={1,8}\n"},
    {"f32[9,8] f32[2,3]",
     {.op = TESELA_OP_WRITE, .start = N(4, 5)},
     "  %y.start0 = s64[] constant(4)\n  %y.start1 = s64[] constant(5)\n"
     "  ROOT %y = f32[9,8]{1,0} dynamic-update-slice(%x0, %x1, %y.start0, %y.start1)\n"},
    {"f32[3]",
     {.op = TESELA_OP_PAD, .low = N(1), .high = N(-1), .step = N(2), .value = 0.5},
     "  %y.value = f32[] constant(0.5)\n  ROOT %y = f32[5]{0} pad(%x0, %y.value), padding=1_-1_1\n"},
    {"",
     {.op = TESELA_OP_CONSTANT, .dtype = TESELA_F32, .value = -0.25},
     "  ROOT %y = f32[] constant(-0.25)\n"},
    {"",
     {.op = TESELA_OP_CONSTANT, .dtype = TESELA_S32, .rank = 1, .shape = N(4), .n_dims = 1, .dims = D(0)},
     "  ROOT %y = s32[4]{0} iota(), iota_dimension=0\n"},
    {"",
     {.op = TESELA_OP_CONSTANT, .dtype = TESELA_F32, .rank = 1, .shape = N(4), .value = 3},
     "  ROOT %y = f32[4]{0} constant({...}), frontend_attributes={tesela=\"constant value=3\"}\n"},
    {"f16[8]",
     {.op = TESELA_OP_FALLBACK, .opcode = "my call", .dtype = TESELA_S32, .rank = 1, .shape = N(4)},
     "  ROOT %y = s32[4]{0} custom-call(%x0), custom_call_target=\"tesela\", "
     "frontend_attributes={tesela=\"fallback opcode=my%20call\"}\n"},
};

static void words_by_rows(void **state) {
  (void)state;
  for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
    int32_t operand[4], y;
    char text[4096];
    tesela_graph *graph;
    tesela_buffer buffer = {text, sizeof text, 0};
    tesela_writer to = tesela_buffer_writer(&buffer);
    tesela_node_spec spec = rows[i].spec;
    OK(tesela_graph_create(&graph, NULL, &e_));
    spec.name = "y";
    spec.n_operands = build_inputs(graph, rows[i].operands, operand);
    spec.operand = operand;
    OK(tesela_graph_add(graph, &spec, &y, &e_));
    OK(tesela_graph_add_output(graph, y, &e_));
    OK(tesela_graph_print_hlo(graph, "m", &to, &e_));
    const char *lines = strstr(text, "ENTRY %main {\n");
    assert_non_null(lines);
    lines += strlen("ENTRY %main {\n");
    for (int32_t k = 0; k < spec.n_operands; k++) lines = strchr(lines, '\n') + 1;
    size_t n = strlen(rows[i].lines);
    if (strncmp(lines, rows[i].lines, n) != 0 || strcmp(lines + n, "}\n") != 0)
      fail_msg("row %zu:\n%s\nwanted\n%s", i, lines, rows[i].lines);
    graph_round_trip(graph, rows[i].lines);
    tesela_graph_destroy(graph);
  }
}

static void a_whole_module(void **state) {
  (void)state;
  static const char want[] =
      "HloModule my_name\n\n"
      "%sum_f16 {\n  %x = f16[] parameter(0)\n  %y = f16[] parameter(1)\n  ROOT %r = f16[] add(%x, %y)\n}\n\n"
      "ENTRY %main {\n  %a = f16[4,6]{1,0} parameter(0)\n"
      "  %b = f16[1000,200]{0,1:T(64,1)} parameter(1), frontend_attributes={tesela=\"input stick=-3 "
      "strides=200,1\","
      "device_layout=\"f16[1000,200] stick(dim_order=[0,1])\"}\n"
      "  %outputs.start = f16[] constant(0)\n"
      "  %outputs = f16[4]{0} reduce(%a, %outputs.start), dimensions={1}, to_apply=%sum_f16\n"
      "  ROOT %outputs.1 = (f16[4,6]{1,0}, f16[4]{0}) tuple(%a, %outputs)\n}\n";
  char text[4096];
  tesela_graph *graph;
  tesela_device_layout layout;
  tesela_buffer buffer = {text, sizeof text, 0};
  tesela_writer to = tesela_buffer_writer(&buffer);
  int32_t sum;
  OK(tesela_graph_create(&graph, NULL, &e_));
  int32_t a = build_input(graph, "a", "f16[4,6]"), b = build_input(graph, "b", "f16[1000,200]");
  tesela_node_spec spec = {.op = TESELA_OP_REDUCE,
                           .fn = TESELA_FN_SUM,
                           .name = "outputs",
                           .n_operands = 1,
                           .operand = &a,
                           .n_dims = 1,
                           .dims = D(1)};
  OK(tesela_graph_add(graph, &spec, &sum, &e_));
  OK(tesela_device_default(&layout, tesela_target_find("spyre"), TESELA_F16, 2, N(1000, 200), &e_));
  OK(tesela_graph_set_layout(graph, b, &layout, &e_));
  OK(tesela_graph_add_output(graph, a, &e_));
  OK(tesela_graph_add_output(graph, sum, &e_));
  OK(tesela_graph_print_hlo(graph, "my name", &to, &e_));
  assert_string_equal(text, want);
  graph_round_trip(graph, "a whole module");
  tesela_graph_destroy(graph);
}

static int stop(void *user, const char *text, size_t length) {
  (void)user, (void)text, (void)length;
  return 1;
}

static void a_writer_may_stop(void **state) {
  (void)state;
  tesela_graph *graph;
  tesela_writer to = {stop, NULL};
  OK(tesela_graph_create(&graph, NULL, &e_));
  assert_int_equal(tesela_graph_print_hlo(graph, NULL, &to, NULL), TESELA_E_STOPPED);
  tesela_graph_destroy(graph);
}

/* ---- random programs ---- */

static uint64_t seed, dice;
static int64_t roll(int64_t n) {
  dice ^= dice << 13, dice ^= dice >> 7, dice ^= dice << 17;
  return (int64_t)(dice % (uint64_t)n);
}

static const tesela_dtype types[] = {TESELA_F16, TESELA_BF16, TESELA_F32,  TESELA_S32,
                                     TESELA_S64, TESELA_U8,   TESELA_PRED, TESELA_DTYPE_NONE};

/* A spec of a random class with random attributes; most fit no operands and are refused, as expected. */
static void draw_spec(const tesela_graph *graph, tesela_node_spec *spec, int32_t *operand, int32_t *dims,
                      int64_t (*list)[16]) {
  static int32_t label[2][16];
  int32_t count = tesela_graph_count(graph);
  *spec = (tesela_node_spec){.op = (tesela_op)(count == 0 ? 0 : roll(20)), .fn = (tesela_fn)roll(44)};
  spec->n_operands = spec->op < TESELA_OP_POINTWISE ? 0 : 1 + (int32_t)roll(3);
  if (spec->op >= TESELA_OP_PERMUTE || spec->op == TESELA_OP_CLONE || spec->op == TESELA_OP_MOVE ||
      spec->op == TESELA_OP_PAD || spec->op == TESELA_OP_REDUCE)
    spec->n_operands = 1;
  for (int32_t k = 0; k < spec->n_operands; k++) operand[k] = (int32_t)roll(count);
  if (spec->n_operands > 1 && roll(2)) operand[1] = operand[0];
  if (spec->n_operands > 2 && roll(2)) operand[2] = operand[0];
  spec->operand = operand;
  if (roll(4) == 0 || spec->n_operands == 0) spec->dtype = types[roll(8)];
  spec->bits = spec->dtype == TESELA_DTYPE_NONE ? 8 << roll(3) : 0;
  const tesela_node *x = spec->n_operands ? tesela_graph_node(graph, operand[0]) : NULL;
  spec->rank = x && roll(2) ? x->rank : (int32_t)roll(5);
  for (int32_t d = 0; d < 16; d++) {
    dims[d] = (int32_t)roll(spec->rank + 1);
    list[0][d] = x && roll(2) ? x->shape[d] : 1 + roll(5);
    list[1][d] = roll(3);
    list[2][d] = 1 + roll(3);
    list[3][d] = roll(5) - 1;
    list[4][d] = roll(3) ? 1 + roll(2) : -1;
    list[5][d] = roll(100) - 20;
    label[0][d] = d, label[1][d] = (int32_t)roll(4);
  }
  if (spec->op == TESELA_OP_PERMUTE && x) { /* a permutation */
    spec->rank = x->rank;
    for (int32_t d = 0; d < x->rank; d++) dims[d] = (d + 1) % x->rank;
  }
  spec->shape = list[0];
  spec->dims = dims;
  spec->n_dims = spec->op == TESELA_OP_PERMUTE ? spec->rank : (int32_t)roll(3);
  if (spec->op == TESELA_OP_RESHAPE || spec->op == TESELA_OP_EXPAND) spec->n_dims = 0;
  spec->start = list[1];
  spec->length = list[2];
  spec->step = spec->op == TESELA_OP_SLICE ? list[4] : roll(2) ? NULL : list[2];
  spec->low = list[3];
  spec->high = list[2];
  spec->strides = roll(2) ? list[5] : NULL;
  spec->value = roll(2) ? (double)roll(100) : (double)roll(1000) / 7;
  spec->keepdim = roll(3) == 0;
  spec->in_place = roll(2) && (spec->op == TESELA_OP_WRITE || spec->op == TESELA_OP_SCATTER);
  spec->stick = (int32_t)roll(spec->rank + 1) - 1;
  if (spec->op == TESELA_OP_FALLBACK && roll(2)) spec->opcode = roll(2) ? "sort" : "a \"b\" %c";
  if (spec->op == TESELA_OP_POINTWISE && roll(2)) spec->opcode = roll(2) ? "atan2" : "gelu";
  if (spec->op == TESELA_OP_MATMUL && roll(2) && x) {
    spec->rank = 1 + (int32_t)roll(3);
    spec->n_labels = 4;
    spec->x_label = label[0];
    spec->y_label = label[1];
  }
  spec->conv = (tesela_conv2d){.stride = {1 + roll(2), 1}, .low = {roll(3), 0}, .high = {0, roll(2)}};
  if (spec->op == TESELA_OP_CONV2D && x && spec->n_operands == 2)
    operand[1] = operand[0]; /* as many channels */
  if (roll(3) == 0) memcpy(spec->conv.x, D(0, 3, 1, 2), 4 * sizeof *spec->conv.x);
}

/* Inputs for a scatter into operand 0: one dim is looked up. */
static void feed_scatter(tesela_graph *graph, tesela_node_spec *spec, int32_t *operand, int32_t *dims) {
  const tesela_node *x = tesela_graph_node(graph, operand[0]);
  if (x->rank == 0) return;
  int32_t d = (int32_t)roll(x->rank), rank = (int32_t)roll(3), n = 0;
  int64_t shape[2] = {1 + roll(4), 1 + roll(3)}, values[24];
  for (int32_t e = 0; e < x->rank; e++)
    for (int32_t i = 0; i < (e == d ? rank : 1); i++) values[n++] = e == d ? shape[i] : x->shape[e];
  if (n > TESELA_GRAPH_RANK) return;
  tesela_node_spec indices = {
      .op = TESELA_OP_INPUT, .dtype = TESELA_S32, .rank = rank, .shape = shape, .stick = -3};
  tesela_node_spec piece = {
      .op = TESELA_OP_INPUT, .dtype = x->dtype, .bits = x->bits, .rank = n, .shape = values, .stick = -3};
  if (x->dtype == TESELA_TOKEN || tesela_graph_add(graph, &indices, &operand[1], NULL) != TESELA_OK) return;
  OK(tesela_graph_add(graph, &piece, &operand[2], &e_));
  dims[0] = d;
  spec->n_dims = 1;
  spec->n_operands = 3;
  spec->dtype = TESELA_DTYPE_NONE;
  spec->fn = roll(2) ? TESELA_FN_ADD : TESELA_FN_NONE;
}

static void random_programs_come_back_equal(void **state) {
  (void)state;
  int64_t seen[20] = {0}, layouts = 0;
  for (int32_t round = 0; round < 300; round++) {
    tesela_graph *graph;
    OK(tesela_graph_create(&graph, NULL, &e_));
    for (int32_t tries = 0; tries < 400 && tesela_graph_count(graph) < 60; tries++) {
      tesela_node_spec spec;
      int32_t operand[4], dims[16], node;
      int64_t list[6][16];
      draw_spec(graph, &spec, operand, dims, list);
      if (spec.op == TESELA_OP_SCATTER) feed_scatter(graph, &spec, operand, dims);
      if (tesela_graph_add(graph, &spec, &node, NULL) != TESELA_OK) continue;
      seen[spec.op]++;
      const tesela_node *made = tesela_graph_node(graph, node);
      tesela_device_host host;
      tesela_device_layout layout;
      if (made->buffer == node && made->dtype != TESELA_TOKEN && roll(2) &&
          tesela_device_host_of(&host, tesela_target_find("spyre"), made->dtype, made->rank, made->shape,
                                NULL) == TESELA_OK &&
          tesela_device_with_stick(&layout, &host, tesela_target_find("spyre"),
                                   (int32_t)roll(made->rank + 1) - 1, NULL) == TESELA_OK) {
        OK(tesela_graph_set_layout(graph, node, &layout, &e_));
        layouts++;
      }
    }
    for (int32_t k = 0; k < tesela_graph_count(graph); k++)
      if (roll(8) == 0) tesela_graph_add_output(graph, k, NULL);
    char name[64];
    snprintf(name, sizeof name, "TESELA_SEED=%" PRIu64 " round %d", seed, (int)round);
    graph_round_trip(graph, name);
    tesela_graph_destroy(graph);
  }
  for (int32_t op = 0; op < 20; op++)
    if (seen[op] < 20) fail_msg("only %d of %s", (int)seen[op], tesela_op_name((tesela_op)op));
  assert_true(layouts > 100);
}

int main(void) {
  seed = first_seed();
  dice = seed * 2654435769u + 88172645463325252u;
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(words_by_rows),
      cmocka_unit_test(a_whole_module),
      cmocka_unit_test(a_writer_may_stop),
      cmocka_unit_test(random_programs_come_back_equal),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
