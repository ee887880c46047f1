/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_graph_conv.c - convolutions of 1 to 3 spatial dims, in groups and depthwise, and pools: shapes, indices, and which
 * sticks suit them. Expected values are worked out by hand from their definitions; what they compute is tested with random programs
 * (test_graph_run_random, test_graph_hlo_windows).
 */
#include "support_graph_rows.h"

static const shape_row good_rows[] = {
    {"conv of one spatial dim",
     "f32[2,4,9] f32[6,4,3]",
     {.op = TESELA_OP_CONV2D, .conv = {.spatial = 1, .stride = {2}, .low = {1}, .high = {1}}},
     "f32[2,6,5]",
     0,
     0},
    {"conv of three",
     "f32[2,4,5,6,7] f32[8,4,1,2,3]",
     {.op = TESELA_OP_CONV2D, .conv = {.spatial = 3, .dilation = {1, 2, 3}}},
     "f32[2,8,5,4,1]",
     0,
     0},
    {"conv in groups, dims in order",
     "f32[2,3,4,8,9] f32[3,6,4,3,3]",
     {.op = TESELA_OP_CONV2D, .conv = {.grouped = 1}},
     "f32[2,3,6,6,7]",
     0,
     0},
    {"conv in groups, dims elsewhere",
     "f32[2,8,9,3,4] f32[3,3,3,4,6]",
     {.op = TESELA_OP_CONV2D,
      .conv =
          {.grouped = 1, .x = {0, 4, 1, 2, -1, 3}, .w = {4, 3, 0, 1, -1, 2}, .result = {0, 4, 1, 2, -1, 3}}},
     "f32[2,6,7,3,6]",
     0,
     0},
    {"depthwise",
     "f32[2,8,9,5] f32[3,3,5]",
     {.op = TESELA_OP_CONV2D,
      .conv = {.grouped = 1,
               .x = {0, -1, 1, 2, -1, 3},
               .w = {-1, -1, 0, 1, -1, 2},
               .result = {0, -1, 1, 2, -1, 3}}},
     "f32[2,6,7,5]",
     0,
     0},
    {"depthwise with several results for each",
     "f32[2,8,9,5] f32[3,3,5,2]",
     {.op = TESELA_OP_CONV2D,
      .conv = {.grouped = 1,
               .x = {0, -1, 1, 2, -1, 3},
               .w = {3, -1, 0, 1, -1, 2},
               .result = {0, 4, 1, 2, -1, 3}}},
     "f32[2,6,7,5,2]",
     0,
     0},
    {"transposed: elements of x 2 and 3 apart",
     "f32[2,4,5,6] f32[7,4,3,3]",
     {.op = TESELA_OP_CONV2D, .conv = {.x_dilation = {2, 3}, .low = {1, 0}, .high = {1, 0}}},
     "f32[2,7,9,14]",
     0,
     0},
    {"pool: 2 x 2",
     "f32[2,8,9,5]",
     {.op = TESELA_OP_POOL, .fn = TESELA_FN_MAX, .length = N(1, 2, 2, 1), .step = N(1, 2, 2, 1)},
     "f32[2,4,4,5]",
     0,
     0},
    {"pool: borders, dilations",
     "s32[9,9]",
     {.op = TESELA_OP_POOL,
      .fn = TESELA_FN_XOR,
      .length = N(3, 2),
      .low = N(1, 0),
      .high = N(1, -1),
      .dilation = N(2, 1),
      .x_dilation = N(1, 2)},
     "s32[7,15]",
     0,
     0},
    {"pool: no window fits",
     "f32[2,3]",
     {.op = TESELA_OP_POOL, .fn = TESELA_FN_SUM, .length = N(1, 4)},
     "f32[2,0]",
     0,
     0},
    {"pool of a scalar", "f32[]", {.op = TESELA_OP_POOL, .fn = TESELA_FN_SUM}, "f32[]", 0, 0},
};

static const shape_row bad_rows[] = {
    {"four spatial dims",
     "f32[2,4,9] f32[6,4,3]",
     {.op = TESELA_OP_CONV2D, .conv = {.spatial = 4}},
     "",
     TESELA_E_RANGE,
     "1 to 3"},
    {"ranks of two for one",
     "f32[2,4,9,9] f32[6,4,3,3]",
     {.op = TESELA_OP_CONV2D, .conv = {.spatial = 1}},
     "",
     TESELA_E_INVALID,
     "3 dims"},
    {"groups that differ",
     "f32[2,3,4,8,9] f32[2,6,4,3,3]",
     {.op = TESELA_OP_CONV2D, .conv = {.grouped = 1}},
     "",
     TESELA_E_INVALID,
     "3 groups, but w has 2"},
    {"a channel in x alone",
     "f32[2,4,8,9] f32[6,3,3]",
     {.op = TESELA_OP_CONV2D, .conv = {.x = {0, 1, 2, 3, -1, -1}, .w = {0, -1, 1, 2, -1, -1}}},
     "",
     TESELA_E_INVALID,
     "a channel on one side"},
    {"an out channel in w alone",
     "f32[2,4,8,9] f32[6,4,3,3]",
     {.op = TESELA_OP_CONV2D, .conv = {.result = {0, -1, 1, 2, -1, -1}}},
     "",
     TESELA_E_INVALID,
     "an output channel on one side"},
    {"a spatial dim that is not there",
     "f32[2,4,8] f32[6,4,3,3]",
     {.op = TESELA_OP_CONV2D, .conv = {.x = {0, 1, 2, -1, -1, -1}}},
     "",
     TESELA_E_RANGE,
     "no dim for a spatial dim"},
    {"groups that are nowhere",
     "f32[2,3,4,8,9] f32[3,6,4,3,3]",
     {.op = TESELA_OP_CONV2D, .conv = {.grouped = 1, .x = {0, 2, 3, 4, -1, -1}}},
     "",
     TESELA_E_RANGE,
     "no dim for groups"},
    {"x pulled together",
     "f32[2,4,8,9] f32[6,4,3,3]",
     {.op = TESELA_OP_CONV2D, .conv = {.x_dilation = {1, -2}}},
     "",
     TESELA_E_RANGE,
     "x_dilation -2"},
    {"x spread beyond all",
     "f32[2,4,8,9] f32[6,4,3,3]",
     {.op = TESELA_OP_CONV2D, .conv = {.x_dilation = {BIG, 1}}},
     "",
     TESELA_E_OVERFLOW,
     "height"},
    {"pool with a function that is no fold",
     "f32[4]",
     {.op = TESELA_OP_POOL, .fn = TESELA_FN_MEAN},
     "",
     TESELA_E_INVALID,
     "mean"},
    {"pool of nothing",
     "f32[4]",
     {.op = TESELA_OP_POOL, .fn = TESELA_FN_SUM, .length = N(0)},
     "",
     TESELA_E_RANGE,
     "length 0"},
    {"pool that stands still",
     "f32[4]",
     {.op = TESELA_OP_POOL, .fn = TESELA_FN_SUM, .step = N(0)},
     "",
     TESELA_E_RANGE,
     "step 0"},
    {"pool beyond all",
     "f32[4]",
     {.op = TESELA_OP_POOL, .fn = TESELA_FN_SUM, .low = N(INT64_MAX)},
     "",
     TESELA_E_OVERFLOW,
     "dim 0"},
};

static void shapes_by_rows(void **state) {
  (void)state;
  graph_rows_hold(good_rows, sizeof good_rows / sizeof *good_rows);
  graph_rows_refused(bad_rows, sizeof bad_rows / sizeof *bad_rows);
}

/* ---- indices ---------------------------------------------------------------------------------------------------- */

static void index_is(const tesela_index *index, int32_t a, int64_t by_a, int32_t b, int64_t by_b,
                     int64_t start, int64_t divide) {
  assert_int_equal(index->dim[0], a);
  assert_int_equal(index->dim[1], b);
  assert_int_equal(index->factor[0], by_a);
  if (b >= 0) assert_int_equal(index->factor[1], by_b);
  assert_int_equal(index->start, start);
  assert_int_equal(index->divide, divide);
}

/* x[2,3,4,8] (batch, groups, channel, width), w[3,6,4,5]: result [2,3,6,out], then channel and window. */
static void groups_are_an_index_of_all_three(void **state) {
  (void)state;
  tesela_graph *graph;
  int32_t node[2], conv;
  tesela_iteration it;
  tesela_index x[TESELA_GRAPH_RANK], w[TESELA_GRAPH_RANK];
  OK(tesela_graph_create(&graph, NULL, &e_));
  build_inputs(graph, "f32[2,3,4,8] f32[3,6,4,5]", node);
  tesela_node_spec spec = {.op = TESELA_OP_CONV2D,
                           .n_operands = 2,
                           .operand = node,
                           .conv = {.spatial = 1,
                                    .grouped = 1,
                                    .stride = {3},
                                    .dilation = {2},
                                    .low = {7},
                                    .high = {6},
                                    .x_dilation = {2}}};
  OK(tesela_graph_add(graph, &spec, &conv, &e_));
  OK(tesela_graph_iteration(graph, conv, &it, &e_));
  const int64_t extent[] = {2, 3, 6, 7, 4, 5}; /* (15 + 13 - 9 + 2) / 3 places, rounded down */
  assert_int_equal(it.n, 6);
  assert_memory_equal(it.extent, extent, sizeof extent);
  OK(tesela_graph_operand_index(graph, conv, 0, x, &e_));
  OK(tesela_graph_operand_index(graph, conv, 1, w, &e_));
  index_is(&x[0], 0, 1, -1, 0, 0, 1);
  index_is(&x[1], 1, 1, -1, 0, 0, 1);
  index_is(&x[2], 4, 1, -1, 0, 0, 1);
  index_is(&x[3], 3, 3, 5, 2, -7, 2);
  index_is(&w[0], 1, 1, -1, 0, 0, 1);
  index_is(&w[1], 2, 1, -1, 0, 0, 1);
  index_is(&w[2], 4, 1, -1, 0, 0, 1);
  index_is(&w[3], 5, 1, -1, 0, 0, 1);
  tesela_graph_destroy(graph);
}

/* ---- sticks ------------------------------------------------------------------------------------------------------- */

#define DEPTHWISE \
  .grouped = 1, .x = {0, -1, 1, 2, -1, 3}, .w = {-1, -1, 0, 1, -1, 2}, .result = {0, -1, 1, 2, -1, 3}
#define MULTIPLIED \
  .grouped = 1, .x = {0, -1, 1, 2, -1, 3}, .w = {3, -1, 0, 1, -1, 2}, .result = {0, 4, 1, 2, -1, 3}
#define GROUPED \
  .grouped = 1, .x = {0, 4, 1, 2, -1, 3}, .w = {4, 3, 0, 1, -1, 2}, .result = {0, 4, 1, 2, -1, 3}
enum { NONE = -9 };

/* Inputs with their sticks on spyre (64 lanes of f16), and the result's, without moves; NONE: no layout suits. */
static const struct stick_row {
  const char *name, *x, *w;
  int32_t x_stick, w_stick, stick;
  tesela_node_spec spec;
} stick_rows[] = {
    {"depthwise: groups in the lanes of all",
     "f16[2,10,12,128]",
     "f16[3,3,128]",
     3,
     2,
     3,
     {.conv = {DEPTHWISE}}},
    {"depthwise: w in other sticks", "f16[2,10,12,128]", "f16[3,3,128]", 3, 1, NONE, {.conv = {DEPTHWISE}}},
    {"depthwise: x along the window", "f16[2,10,64,128]", "f16[3,3,128]", 2, 2, NONE, {.conv = {DEPTHWISE}}},
    {"depthwise: a window shifts lanes",
     "f16[2,10,64,128]",
     "f16[3,3,128]",
     2,
     -1,
     NONE,
     {.conv = {DEPTHWISE}}},
    {"depthwise: one element per stick", "f16[2,10,12,8]", "f16[3,3,8]", -1, -1, -1, {.conv = {DEPTHWISE}}},
    {"several results: groups in the lanes",
     "f16[2,10,12,64]",
     "f16[3,3,64,4]",
     3,
     2,
     3,
     {.conv = {MULTIPLIED}}},
    {"several results in the lanes", "f16[2,10,12,4]", "f16[3,3,4,64]", -1, 3, 4, {.conv = {MULTIPLIED}}},
    {"several results in the lanes, x in its own",
     "f16[2,10,12,64]",
     "f16[3,3,64,64]",
     3,
     3,
     NONE,
     {.conv = {MULTIPLIED}}},
    {"groups: channels in x's lanes, out channels in w's",
     "f16[2,10,12,2,64]",
     "f16[3,3,2,64,64]",
     4,
     4,
     4,
     {.conv = {GROUPED}}},
    {"groups: groups in the lanes", "f16[2,10,12,64,2]", "f16[3,3,64,2,2]", 3, 2, NONE, {.conv = {GROUPED}}},
    {"groups: channels in w's lanes",
     "f16[2,10,12,2,64]",
     "f16[3,3,2,64,64]",
     4,
     3,
     NONE,
     {.conv = {GROUPED}}},
    {"one spatial dim",
     "f16[2,9,64]",
     "f16[3,64,64]",
     2,
     2,
     2,
     {.conv = {.spatial = 1,
               .x = {0, 2, 1, -1, -1, -1},
               .w = {2, 1, 0, -1, -1, -1},
               .result = {0, 2, 1, -1, -1, -1}}}},
    {"three, channels first", "f16[2,64,5,6,7]", "f16[128,64,2,2,2]", 1, 0, 1, {.conv = {.spatial = 3}}},
    {"pool: beside the windows", "f16[2,10,12,128]", NULL, 3, 0, 3, {.length = N(1, 2, 2, 1)}},
    {"pool: along the batch", "f16[64,10,12,8]", NULL, 0, 0, 0, {.length = N(1, 2, 2, 1)}},
    {"pool: along a window", "f16[2,10,64,8]", NULL, 2, 0, NONE, {.length = N(1, 2, 2, 1)}},
    {"pool: along a dim that is thinned out", "f16[2,128]", NULL, 1, 0, NONE, {.step = N(1, 2)}},
    {"pool: a window over all of the lanes", "f16[2,64]", NULL, 1, 0, NONE, {.length = N(1, 64)}},
    {"pool: one element per stick", "f16[2,10,12,8]", NULL, -1, 0, -1, {.length = N(1, 2, 2, 1)}},
};

static void sticks_by_rows(void **state) {
  (void)state;
  const tesela_target *spyre = tesela_target_find("spyre");
  for (size_t r = 0; r < sizeof stick_rows / sizeof *stick_rows; r++) {
    const struct stick_row *row = &stick_rows[r];
    tesela_graph *graph;
    tesela_propagation *p;
    tesela_node_spec spec = row->spec;
    int32_t operand[2], node, stick = NONE;
    build_shape shape;
    OK(tesela_graph_create(&graph, NULL, &e_));
    for (int32_t k = 0; k < (row->w ? 2 : 1); k++) {
      build_read(k == 0 ? row->x : row->w, &shape);
      tesela_node_spec input = {.op = TESELA_OP_INPUT,
                                .dtype = shape.dtype,
                                .rank = shape.rank,
                                .shape = shape.shape,
                                .stick = k == 0 ? row->x_stick : row->w_stick};
      OK(tesela_graph_add(graph, &input, &operand[k], &e_));
    }
    spec.op = row->w ? TESELA_OP_CONV2D : TESELA_OP_POOL;
    spec.fn = row->w ? TESELA_FN_NONE : TESELA_FN_MAX;
    spec.n_operands = row->w ? 2 : 1;
    spec.operand = operand;
    OK(tesela_graph_add(graph, &spec, &node, &e_));
    OK(tesela_graph_add_output(graph, node, &e_));
    OK(tesela_graph_propagate(&p, graph, spyre, &(tesela_propagate_options){.mode = TESELA_PROPAGATE_STRICT},
                              &e_));
    if (tesela_propagation_facts_of(p).ok) OK(tesela_propagation_stick(p, node, &stick, &e_));
    if (stick != row->stick) fail_msg("%s: stick %d, not %d", row->name, (int)stick, (int)row->stick);
    tesela_propagation_destroy(p);
    tesela_graph_destroy(graph);
  }
}

/* Channels in sticks, split into groups by a view: that suits where groups start on sticks. */
static void groups_start_on_sticks(void **state) {
  (void)state;
  for (int32_t per_group = 16; per_group <= 128; per_group *= 2) {
    tesela_graph *graph;
    tesela_propagation *p;
    int64_t channels = 2 * per_group;
    int32_t x, w, operand[2], node;
    OK(tesela_graph_create(&graph, NULL, &e_));
    tesela_node_spec flat = {
        .op = TESELA_OP_INPUT, .dtype = TESELA_F16, .rank = 4, .shape = N(2, 6, 6, channels), .stick = 3};
    OK(tesela_graph_add(graph, &flat, &x, &e_));
    tesela_node_spec weight = {.op = TESELA_OP_INPUT,
                               .dtype = TESELA_F16,
                               .rank = 5,
                               .shape = N(3, 3, 2, per_group, 64),
                               .stick = 4};
    OK(tesela_graph_add(graph, &weight, &w, &e_));
    tesela_node_spec split = {.op = TESELA_OP_RESHAPE,
                              .n_operands = 1,
                              .operand = &x,
                              .rank = 5,
                              .shape = N(2, 6, 6, 2, per_group)};
    OK(tesela_graph_add(graph, &split, &operand[0], &e_));
    operand[1] = w;
    tesela_node_spec conv = {.op = TESELA_OP_CONV2D, .n_operands = 2, .operand = operand, .conv = {GROUPED}};
    OK(tesela_graph_add(graph, &conv, &node, &e_));
    OK(tesela_graph_propagate(&p, graph, tesela_target_find("spyre"),
                              &(tesela_propagate_options){.mode = TESELA_PROPAGATE_STRICT}, &e_));
    assert_int_equal(tesela_propagation_facts_of(p).ok, per_group % 64 == 0);
    tesela_propagation_destroy(p);
    tesela_graph_destroy(graph);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(shapes_by_rows),
      cmocka_unit_test(groups_are_an_index_of_all_three),
      cmocka_unit_test(sticks_by_rows),
      cmocka_unit_test(groups_start_on_sticks),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
