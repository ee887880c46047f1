/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_graph_window_limits.c - windows and borders at the ends of their ranges: what is refused, that what is allowed runs and
 * prints without overflow, and that loops of windows without borders have no conditions.
 *
 * Expected shapes and values are worked out by hand: element out of a pool folds x at (step * out + dilation * k - low) / x_dilation.
 */
#include "support_graph_rows.h"

#define STEP INT64_C(4294967296) /* 2^32 */
#define MOST (BIG - 1)
#define POOL(...) \
  { .op = TESELA_OP_POOL, .fn = TESELA_FN_SUM, __VA_ARGS__ }
#define CONV(...)                                                \
  {                                                              \
    .op = TESELA_OP_CONV2D, .conv = {.spatial = 1, __VA_ARGS__ } \
  }

static const shape_row good_rows[] = {
    {"steps of 2^32", "f32[4]", POOL(.step = N(STEP), .low = N(STEP)), "f32[2]", 0, 0},
    {"borders of 2^62 that cancel", "f32[4]", POOL(.low = N(-MOST), .high = N(MOST)), "f32[4]", 0, 0},
    {"x 2^32 apart", "f32[3]", POOL(.step = N(STEP), .x_dilation = N(STEP)), "f32[3]", 0, 0},
    {"a window longer than all", "f32[3]", POOL(.length = N(MOST)), "f32[0]", 0, 0},
    {"conv, borders of 2^62 that cancel", "f32[1,1,4] f32[1,1,2]", CONV(.low = {MOST}, .high = {-MOST}),
     "f32[1,1,3]", 0, 0},
    {"pad, borders of 2^62 that cancel",
     "f32[4]",
     {.op = TESELA_OP_PAD, .low = N(-MOST), .high = N(MOST)},
     "f32[4]",
     0,
     0},
};

static const shape_row bad_rows[] = {
    {"a step above 2^32", "f32[4]", POOL(.step = N(STEP + 1)), "", TESELA_E_OVERFLOW, "2^32"},
    {"a dilation above 2^32", "f32[4]", POOL(.dilation = N(STEP + 1)), "", TESELA_E_OVERFLOW, "2^32"},
    {"an x_dilation above 2^32", "f32[1]", POOL(.x_dilation = N(STEP + 1)), "", TESELA_E_OVERFLOW, "2^32"},
    {"a border before 2^62", "f32[4]", POOL(.low = N(-BIG), .high = N(MOST)), "", TESELA_E_OVERFLOW, "2^62"},
    {"borders of all there is", "f32[4]", POOL(.low = N(-INT64_MAX), .high = N(INT64_MAX)), "",
     TESELA_E_OVERFLOW, "2^62"},
    {"the least border", "f32[4]", POOL(.low = N(INT64_MIN)), "", TESELA_E_OVERFLOW, "2^62"},
    {"the least border behind", "f32[4]", POOL(.high = N(INT64_MIN)), "", TESELA_E_OVERFLOW, "2^62"},
    {"padded to 2^62", "f32[4]", POOL(.low = N(BIG / 2), .high = N(BIG / 2)), "", TESELA_E_OVERFLOW, "dim 0"},
    {"a window of 2^62", "f32[4]", POOL(.length = N(BIG / 2), .dilation = N(3)), "", TESELA_E_OVERFLOW,
     "dim 0"},
    {"conv, the same borders", "f32[1,1,4] f32[1,1,2]", CONV(.low = {-INT64_MAX}, .high = {INT64_MAX}), "",
     TESELA_E_OVERFLOW, "width"},
    {"conv, a stride above 2^32", "f32[1,1,4] f32[1,1,2]", CONV(.stride = {STEP + 1}), "", TESELA_E_OVERFLOW,
     "width"},
    {"pad, the same borders",
     "f32[4]",
     {.op = TESELA_OP_PAD, .low = N(-INT64_MAX), .high = N(INT64_MAX)},
     "",
     TESELA_E_OVERFLOW,
     "2^62"},
    {"and of floats",
     "f32[4]",
     {.op = TESELA_OP_POOL, .fn = TESELA_FN_AND},
     "",
     TESELA_E_INVALID,
     "integers or pred"},
    {"xor of floats",
     "bf16[4]",
     {.op = TESELA_OP_POOL, .fn = TESELA_FN_XOR},
     "",
     TESELA_E_INVALID,
     "integers or pred"},
};

static void shapes_by_rows(void **state) {
  (void)state;
  graph_rows_hold(good_rows, sizeof good_rows / sizeof *good_rows);
  graph_rows_refused(bad_rows, sizeof bad_rows / sizeof *bad_rows);
}

/* ---- what is allowed runs and prints --------------------------------------------------------------------------- */

/* Operators on x = 1, 2, 3, 4: what comes out. */
static const struct {
  const char *name;
  tesela_node_spec spec;
  float want[4];
} run_rows[] = {
    {"steps of 2^32: before x, then x[0]", POOL(.step = N(STEP), .low = N(STEP)), {0, 1}},
    {"far behind x", POOL(.low = N(-MOST), .high = N(MOST)), {0, 0, 0, 0}},
    {"far before x", POOL(.low = N(MOST), .high = N(-MOST)), {0, 0, 0, 0}},
    {"x 2^32 apart", POOL(.step = N(STEP), .x_dilation = N(STEP)), {1, 2, 3, 4}},
    {"elements of a window 2^32 apart",
     POOL(.length = N(2), .dilation = N(STEP), .high = N(STEP)),
     {1, 2, 3, 4}},
    {"pad, far behind x", {.op = TESELA_OP_PAD, .low = N(-MOST), .high = N(MOST), .value = 7}, {7, 7, 7, 7}},
};

static void what_is_allowed_runs_and_prints(void **state) {
  (void)state;
  const float x[4] = {1, 2, 3, 4};
  for (size_t r = 0; r < sizeof run_rows / sizeof *run_rows; r++) {
    tesela_graph *graph;
    int32_t input, node;
    float out[4] = {-1, -1, -1, -1};
    char text[4096];
    OK(tesela_graph_create(&graph, NULL, &e_));
    build_inputs(graph, "f32[4]", &input);
    tesela_node_spec spec = run_rows[r].spec;
    spec.n_operands = 1;
    spec.operand = &input;
    OK(tesela_graph_add(graph, &spec, &node, &e_));
    OK(tesela_graph_add_output(graph, node, &e_));
    const tesela_graph_run_options plain = {.plain = true};
    OK(tesela_graph_run(graph, NULL, (const void *const[]){x}, (void *const[]){out}, &plain, NULL, &e_));
    for (int64_t i = 0; i < tesela_graph_node(graph, node)->shape[0]; i++)
      if (out[i] != run_rows[r].want[i])
        fail_msg("%s: element %" PRId64 " is %g, not %g", run_rows[r].name, i, (double)out[i],
                 (double)run_rows[r].want[i]);
    tesela_buffer buffer = {text, sizeof text, 0};
    tesela_writer to = tesela_buffer_writer(&buffer);
    OK(tesela_graph_print_hlo(graph, "limits", &to, &e_));
    tesela_graph *back;
    OK(tesela_graph_read_hlo(&back, text, buffer.length, NULL, NULL, NULL, &e_));
    const tesela_node *a = tesela_graph_node(graph, node), *b = tesela_graph_node(back, node);
    assert_non_null(b);
    assert_int_equal(b->op, a->op);
    assert_memory_equal(b->low, a->low, sizeof a->low);
    assert_memory_equal(b->step, a->step, sizeof a->step);
    tesela_graph_destroy(back);
    tesela_graph_destroy(graph);
  }
}

/* ---- conditions of loops --------------------------------------------------------------------------------------- */

static const struct {
  const char *name, *inputs, *has, *has_not;
  tesela_node_spec spec;
} loop_rows[] = {
    {"a pool without borders",
     "f16[2,8,64]",
     "sum = max(sum, ",
     "if (",
     {.op = TESELA_OP_POOL, .fn = TESELA_FN_MAX, .length = N(1, 3, 1)}},
    {"a pool with a border",
     "f16[2,8,64]",
     "if (c0 + c3 - 1 >= 0)\n",
     "if (1)",
     {.op = TESELA_OP_POOL, .fn = TESELA_FN_MAX, .length = N(1, 3, 1), .low = N(0, 1, 0)}},
    {"a convolution without borders",
     "f16[2,64,9] f16[64,64,3]",
     "sum = add(sum, mul(",
     "if (",
     {.op = TESELA_OP_CONV2D, .conv = {.spatial = 1}}},
    {"a convolution with two",
     "f16[2,64,9] f16[64,64,3]",
     " && ",
     "if (1)",
     {.op = TESELA_OP_CONV2D, .conv = {.spatial = 1, .low = {1}, .high = {1}}}},
};

static void conditions_are_printed_where_there_are_borders(void **state) {
  (void)state;
  const tesela_target *spyre = tesela_target_find("spyre");
  for (size_t r = 0; r < sizeof loop_rows / sizeof *loop_rows; r++) {
    tesela_graph *graph;
    int32_t input[2], node;
    char text[8192];
    OK(tesela_graph_create(&graph, NULL, &e_));
    tesela_node_spec spec = loop_rows[r].spec;
    spec.n_operands = build_inputs(graph, loop_rows[r].inputs, input);
    spec.operand = input;
    OK(tesela_graph_add(graph, &spec, &node, &e_));
    for (int32_t k = 0; k <= node; k++) {
      tesela_device_layout layout;
      const tesela_node *n = tesela_graph_node(graph, k);
      OK(tesela_device_default(&layout, spyre, n->dtype, n->rank, n->shape, &e_));
      OK(tesela_graph_set_layout(graph, k, &layout, &e_));
    }
    tesela_buffer buffer = {text, sizeof text, 0};
    tesela_writer to = tesela_buffer_writer(&buffer);
    OK(tesela_graph_print_loops(graph, node, &to, &e_));
    if (!strstr(text, loop_rows[r].has) || strstr(text, loop_rows[r].has_not))
      fail_msg("%s:\n%s", loop_rows[r].name, text);
    tesela_graph_destroy(graph);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(shapes_by_rows),
      cmocka_unit_test(what_is_allowed_runs_and_prints),
      cmocka_unit_test(conditions_are_printed_where_there_are_borders),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
