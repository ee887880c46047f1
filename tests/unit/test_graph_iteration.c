/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_graph_iteration.c - iteration spaces and index expressions by rows, and operators computed from them alone against
 * their definitions.
 *
 * An expression is written i3, 2*i1+i5-1, (i0-2)/3, ? for an index that is looked up, 0 for a dim of 1 that is repeated.
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

#define OK(call)                                                    \
  do {                                                              \
    tesela_error e_ = {.message = ""};                              \
    if ((call) != TESELA_OK) fail_msg("%s: %s", #call, e_.message); \
  } while (0)

static void index_text(const tesela_index *index, char *text, size_t room) {
  size_t n = 0;
  if (index->dim[0] == TESELA_INDEX_LOOKUP) {
    snprintf(text, room, "?");
    return;
  }
  if (index->divide > 1) n += (size_t)snprintf(text + n, room - n, "(");
  bool any = false;
  for (int i = 0; i < 2; i++) {
    if (index->dim[i] < 0) continue;
    n += (size_t)snprintf(text + n, room - n, any ? "+" : "");
    if (index->factor[i] != 1) n += (size_t)snprintf(text + n, room - n, "%" PRId64 "*", index->factor[i]);
    n += (size_t)snprintf(text + n, room - n, "i%" PRId32, index->dim[i]);
    any = true;
  }
  if (!any || index->start != 0)
    n += (size_t)snprintf(text + n, room - n, any ? "%+" PRId64 : "%" PRId64, index->start);
  if (index->divide > 1) snprintf(text + n, room - n, ")/%" PRId64, index->divide);
}

/* operands, spec, "extents | result dims | operand 0 | operand 1 ..." */
static const struct {
  const char *operands;
  tesela_node_spec spec;
  const char *want;
} rows[] = {
    {"f16[2,3]", {.op = TESELA_OP_CLONE}, "2 3 | 0 1 | i0 i1"},
    {"f16[]", {.op = TESELA_OP_CLONE}, " |  | "},
    {"f16[4,1,3] f16[2,1] f16[] f16[1]",
     {.op = TESELA_OP_POINTWISE, .fn = TESELA_FN_FUSED},
     "4 2 3 | 0 1 2 | i0 0 i2 | i1 0 |  | 0"},
    {"f16[1,3] f16[1,3]", {.op = TESELA_OP_POINTWISE, .fn = TESELA_FN_ADD}, "1 3 | 0 1 | i0 i1 | i0 i1"},
    {"f16[2,3,4]",
     {.op = TESELA_OP_REDUCE, .fn = TESELA_FN_SUM, .n_dims = 1, .dims = D(1)},
     "2 4 3 | 0 1 | i0 i2 i1"},
    {"f16[2,3,4]",
     {.op = TESELA_OP_REDUCE, .fn = TESELA_FN_SUM, .n_dims = 2, .dims = D(2, 0), .keepdim = true},
     "3 2 4 | -1 0 -1 | i1 i0 i2"},
    {"f16[2,3]", {.op = TESELA_OP_REDUCE, .fn = TESELA_FN_SUM}, "2 3 |  | i0 i1"},
    {"f16[128,256] f16[256,64]", {.op = TESELA_OP_MATMUL}, "128 64 256 | 0 1 | i0 i2 | i2 i1"},
    {"f16[1,2,3] f16[7,3,5]", {.op = TESELA_OP_MATMUL}, "7 2 5 3 | 0 1 2 | 0 i1 i3 | i0 i3 i2"},
    {"f16[1,2,3] f16[1,3,5]", {.op = TESELA_OP_MATMUL}, "1 2 5 3 | 0 1 2 | i0 i1 i3 | i0 i3 i2"},
    {"f16[3] f16[3]", {.op = TESELA_OP_MATMUL}, "3 |  | i0 | i0"},
    {"f16[3] f16[7,3,5]", {.op = TESELA_OP_MATMUL}, "7 5 3 | 0 1 | i2 | i0 i2 i1"},
    {"f16[2,3] f16[5,3]",
     {.op = TESELA_OP_MATMUL, .rank = 2, .n_labels = 3, .x_label = D(1, 2), .y_label = D(0, 2)},
     "5 2 3 | 0 1 | i1 i2 | i0 i2"},
    {"f32[2,4,8,9] f32[6,4,3,2]",
     {.op = TESELA_OP_CONV2D, .conv = {.stride = {2, 1}, .dilation = {1, 3}, .low = {1, 0}, .high = {1, 0}}},
     "2 6 4 6 4 3 2 | 0 1 2 3 | i0 i4 2*i2+i5-1 i3+3*i6 | i1 i4 i5 i6"},
    {"f32[2,8,9,4] f32[3,2,4,6]",
     {.op = TESELA_OP_CONV2D, .conv = {.x = {0, 3, 1, 2}, .w = {3, 2, 0, 1}, .result = {2, 0, 1, 3}}},
     "6 6 2 8 4 3 2 | 0 1 2 3 | i2 i1+i5 i3+i6 i4 | i5 i6 i4 i0"},
    {"f16[100,8] s32[2,3]", {.op = TESELA_OP_GATHER}, "2 3 8 | 0 1 2 | ? i2 | i0 i1"},
    {"f16[4,100,8] s32[5]",
     {.op = TESELA_OP_GATHER, .n_dims = 1, .dims = D(1)},
     "4 5 8 | 0 1 2 | i0 ? i2 | i1"},
    {"f16[4,100] s32[]", {.op = TESELA_OP_GATHER}, "100 | 0 | ? i0 | "},
    {"f16[4,100,8] s32[2,3] f16[4,2,3,8]",
     {.op = TESELA_OP_SCATTER, .n_dims = 1, .dims = D(1)},
     "4 100 8 2 3 | 0 1 2 | i0 i1 i2 | i3 i4 | i0 i3 i4 i2"},
    {"f16[2,3] f16[2,4] f16[2,5]",
     {.op = TESELA_OP_CAT, .n_dims = 1, .dims = D(1)},
     "2 12 | 0 1 | i0 i1 | i0 i1-3 | i0 i1-7"},
    {"f16[3,4]",
     {.op = TESELA_OP_PAD, .low = N(1, -1), .high = N(2, 0), .step = N(1, 3)},
     "6 9 | 0 1 | i0-1 (i1+1)/3"},
    {"f16[8,9] f16[2,3]",
     {.op = TESELA_OP_WRITE, .start = N(5, 2), .step = N(1, 3)},
     "8 9 | 0 1 | i0 i1 | i0-5 (i1-2)/3"},
    {"f16[2,3,4]", {.op = TESELA_OP_PERMUTE, .n_dims = 3, .dims = D(2, 0, 1)}, "4 2 3 | 0 1 2 | i1 i2 i0"},
    {"f16[1,3,1,2]", {.op = TESELA_OP_SQUEEZE}, "3 2 | 0 1 | 0 i0 0 i1"},
    {"f16[2,3]", {.op = TESELA_OP_UNSQUEEZE, .n_dims = 1, .dims = D(1)}, "2 1 3 | 0 1 2 | i0 i2"},
    {"f16[2,1]", {.op = TESELA_OP_EXPAND, .rank = 3, .shape = N(4, 2, 5)}, "4 2 5 | 0 1 2 | i1 0"},
    {"f16[9,8]",
     {.op = TESELA_OP_SLICE, .start = N(1, 7), .length = N(3, 4), .step = N(3, -2)},
     "3 4 | 0 1 | 3*i0+1 -2*i1+7"},
    {"", {.op = TESELA_OP_CONSTANT, .dtype = TESELA_F32, .rank = 2, .shape = N(2, 3)}, "2 3 | 0 1"},
};

static void spaces_and_indices_by_rows(void **state) {
  (void)state;
  for (size_t r = 0; r < sizeof rows / sizeof rows[0]; r++) {
    int32_t operand[4], y;
    char have[512];
    size_t n = 0;
    tesela_graph *graph;
    tesela_iteration it;
    tesela_node_spec spec = rows[r].spec;
    OK(tesela_graph_create(&graph, NULL, &e_));
    spec.n_operands = build_inputs(graph, rows[r].operands, operand);
    spec.operand = operand;
    OK(tesela_graph_add(graph, &spec, &y, &e_));
    OK(tesela_graph_iteration(graph, y, &it, &e_));
    for (int32_t i = 0; i < it.n; i++)
      n += (size_t)snprintf(have + n, sizeof have - n, i ? " %" PRId64 : "%" PRId64, it.extent[i]);
    n += (size_t)snprintf(have + n, sizeof have - n, " | ");
    for (int32_t d = 0; d < tesela_graph_node(graph, y)->rank; d++)
      n += (size_t)snprintf(have + n, sizeof have - n, d ? " %d" : "%d", (int)it.result[d]);
    for (int32_t k = 0; k < spec.n_operands; k++) {
      tesela_index index[TESELA_GRAPH_RANK];
      OK(tesela_graph_operand_index(graph, y, k, index, &e_));
      n += (size_t)snprintf(have + n, sizeof have - n, " | ");
      for (int32_t d = 0; d < tesela_graph_node(graph, operand[k])->rank; d++) {
        char text[64];
        index_text(&index[d], text, sizeof text);
        n += (size_t)snprintf(have + n, sizeof have - n, d ? " %s" : "%s", text);
      }
    }
    if (strcmp(have, rows[r].want) != 0) fail_msg("row %zu: %s\nwanted %s", r, have, rows[r].want);
    tesela_graph_destroy(graph);
  }
}

static void what_has_no_index_says_so(void **state) {
  (void)state;
  tesela_graph *graph;
  tesela_index index[TESELA_GRAPH_RANK];
  tesela_iteration it;
  int32_t r, f;
  OK(tesela_graph_create(&graph, NULL, &e_));
  int32_t x = build_input(graph, "x", "f16[2,3]");
  tesela_node_spec reshape = {
      .op = TESELA_OP_RESHAPE, .n_operands = 1, .operand = &x, .rank = 1, .shape = N(6)};
  tesela_node_spec fallback = {
      .op = TESELA_OP_FALLBACK, .n_operands = 1, .operand = &x, .rank = 1, .shape = N(6)};
  OK(tesela_graph_add(graph, &reshape, &r, &e_));
  OK(tesela_graph_add(graph, &fallback, &f, &e_));
  assert_int_equal(tesela_graph_operand_index(graph, r, 0, index, NULL), TESELA_E_UNSUPPORTED);
  assert_int_equal(tesela_graph_operand_index(graph, f, 0, index, NULL), TESELA_E_UNSUPPORTED);
  assert_int_equal(tesela_graph_operand_index(graph, f, 1, index, NULL), TESELA_E_RANGE);
  assert_int_equal(tesela_graph_operand_index(graph, f, -1, index, NULL), TESELA_E_RANGE);
  assert_int_equal(tesela_graph_operand_index(graph, x, 0, index, NULL), TESELA_E_RANGE);
  assert_int_equal(tesela_graph_operand_index(graph, 3, 0, index, NULL), TESELA_E_RANGE);
  assert_int_equal(tesela_graph_iteration(graph, 3, &it, NULL), TESELA_E_RANGE);
  assert_int_equal(tesela_graph_iteration(graph, -1, &it, NULL), TESELA_E_RANGE);
  OK(tesela_graph_iteration(graph, r, &it, &e_));
  assert_int_equal(it.n, 1);
  assert_int_equal(it.extent[0], 6);
  tesela_graph_destroy(graph);
}

/* ---- computed from the expressions ---- */

/* Element number (row-major) of an operand at a point of the iteration, -1 where it has none. */
static int64_t at_point(const tesela_node *x, const tesela_index *index, const int64_t *point) {
  int64_t at = 0;
  for (int32_t d = 0; d < x->rank; d++) {
    int64_t i = index[d].start;
    for (int k = 0; k < 2; k++)
      if (index[d].dim[k] >= 0) i += index[d].factor[k] * point[index[d].dim[k]];
    if (i < 0 || i % index[d].divide != 0 || i / index[d].divide >= x->shape[d]) return -1;
    at = at * x->shape[d] + i / index[d].divide;
  }
  return at;
}

/* The value of element k of operand o: anything that tells them apart. */
static int64_t value_of(int32_t o, int64_t k) { return k < 0 ? 0 : (k * 7 + o * 31) % 23 - 11; }

/* Sum over the folded dims of the product of the operands; the result row-major. */
static void contract(const tesela_graph *graph, int32_t y, int64_t *result) {
  const tesela_node *node = tesela_graph_node(graph, y);
  tesela_iteration it;
  tesela_index index[2][TESELA_GRAPH_RANK];
  OK(tesela_graph_iteration(graph, y, &it, &e_));
  int64_t points = 1, point[TESELA_GRAPH_ITERATION];
  for (int32_t k = 0; k < 2; k++) OK(tesela_graph_operand_index(graph, y, k, index[k], &e_));
  for (int32_t i = 0; i < it.n; i++) points *= it.extent[i];
  for (int64_t p = 0; p < points; p++) {
    int64_t rest = p, at = 0, product = 1;
    for (int32_t i = it.n - 1; i >= 0; rest /= it.extent[i--]) point[i] = rest % it.extent[i];
    for (int32_t d = 0; d < node->rank; d++) at = at * node->shape[d] + point[it.result[d]];
    for (int32_t k = 0; k < 2; k++)
      product *= value_of(k, at_point(tesela_graph_node(graph, node->operand[k]), index[k], point));
    result[at] += product;
  }
}

static void a_convolution_is_what_its_definition_says(void **state) {
  (void)state;
  enum { B = 2, C = 3, O = 4, H = 7, W = 6, KH = 3, KW = 2 };
  tesela_graph *graph;
  int32_t operand[2], y;
  OK(tesela_graph_create(&graph, NULL, &e_));
  build_inputs(graph, "f32[2,3,7,6] f32[4,3,3,2]", operand);
  tesela_node_spec spec = {.op = TESELA_OP_CONV2D,
                           .n_operands = 2,
                           .operand = operand,
                           .conv = {.stride = {2, 1}, .dilation = {1, 2}, .low = {1, 2}, .high = {2, 0}}};
  OK(tesela_graph_add(graph, &spec, &y, &e_));
  const int64_t *s = tesela_graph_node(graph, y)->shape;
  assert_int_equal(s[2], 4); /* (7 + 3 - 3) / 2 + 1 */
  assert_int_equal(s[3], 6); /* 6 + 2 - 2 */
  int64_t result[B * O * 4 * 6] = {0}, at = 0;
  contract(graph, y, result);
  for (int b = 0; b < B; b++)
    for (int o = 0; o < O; o++)
      for (int i = 0; i < 4; i++)
        for (int j = 0; j < 6; j++, at++) {
          int64_t sum = 0;
          for (int c = 0; c < C; c++)
            for (int u = 0; u < KH; u++)
              for (int v = 0; v < KW; v++) {
                int h = 2 * i + u - 1, w = j + 2 * v - 2;
                if (h < 0 || h >= H || w < 0 || w >= W) continue;
                sum +=
                    value_of(0, ((b * C + c) * H + h) * W + w) * value_of(1, ((o * C + c) * KH + u) * KW + v);
              }
          assert_int_equal(result[at], sum);
        }
  tesela_graph_destroy(graph);
}

static void a_product_is_what_its_definition_says(void **state) {
  (void)state;
  tesela_graph *graph;
  int32_t operand[2], y;
  OK(tesela_graph_create(&graph, NULL, &e_));
  build_inputs(graph, "f32[5,1,2,3] f32[4,3,6]", operand);
  tesela_node_spec spec = {.op = TESELA_OP_MATMUL, .n_operands = 2, .operand = operand};
  OK(tesela_graph_add(graph, &spec, &y, &e_));
  int64_t result[5 * 4 * 2 * 6] = {0}, at = 0;
  contract(graph, y, result);
  for (int a = 0; a < 5; a++)
    for (int b = 0; b < 4; b++)
      for (int m = 0; m < 2; m++)
        for (int n = 0; n < 6; n++, at++) {
          int64_t sum = 0;
          for (int k = 0; k < 3; k++)
            sum += value_of(0, (a * 2 + m) * 3 + k) * value_of(1, (b * 3 + k) * 6 + n);
          assert_int_equal(result[at], sum);
        }
  tesela_graph_destroy(graph);
}

/* Exactly one operand of a cat has an element at each point: the one NumPy's concatenate puts there. */
static void pieces_meet_without_gaps(void **state) {
  (void)state;
  tesela_graph *graph;
  int32_t operand[3], y;
  OK(tesela_graph_create(&graph, NULL, &e_));
  build_inputs(graph, "f32[2,3] f32[2,1] f32[2,4]", operand);
  tesela_node_spec spec = {
      .op = TESELA_OP_CAT, .n_operands = 3, .operand = operand, .n_dims = 1, .dims = D(1)};
  OK(tesela_graph_add(graph, &spec, &y, &e_));
  static const int owner[8] = {0, 0, 0, 1, 2, 2, 2, 2}, place[8] = {0, 1, 2, 0, 0, 1, 2, 3},
                   width[3] = {3, 1, 4};
  for (int64_t i = 0; i < 2; i++)
    for (int64_t j = 0; j < 8; j++)
      for (int32_t k = 0; k < 3; k++) {
        tesela_index index[TESELA_GRAPH_RANK];
        OK(tesela_graph_operand_index(graph, y, k, index, &e_));
        int64_t at = at_point(tesela_graph_node(graph, operand[k]), index, N(i, j));
        assert_int_equal(at, owner[j] == k ? i * width[k] + place[j] : -1);
      }
  tesela_graph_destroy(graph);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(spaces_and_indices_by_rows),
      cmocka_unit_test(what_has_no_index_says_so),
      cmocka_unit_test(a_convolution_is_what_its_definition_says),
      cmocka_unit_test(a_product_is_what_its_definition_says),
      cmocka_unit_test(pieces_meet_without_gaps),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
