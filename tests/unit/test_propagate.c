/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_propagate.c - layouts through programs: the worked cases of tests/vectors/spyre_seed_examples.json (their `graphs`), and
 * operators, types and layouts that random programs do not have.
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

#include "support_propagate.h"

/* ---- the worked cases ---- */

/* name, program, output, first operator that strict refuses, price and moves of auto, and of each stick the output has in some
 * cheapest plan: device sizes / stride map / bytes. */
static const struct vector_row {
  const char *name, *text, *output, *error;
  int64_t cost;
  int32_t moves;
  const char *layouts;
} vector_rows[] = {
    {"SP001: aT + x",
     "a = input f16[256,128] 1; x = input f16[128,256] 1; a_t = permute a 1,0; t1 = pw a_t x", "t1", "t1",
     32768, 1, "0: 2,256,64 / 16384,1,256 / 65536; 1: 4,128,64 / 64,256,1 / 65536"},
    {"SP009: aT + bT + x + y",
     "a = input f16[256,128] 1; b = input f16[256,128] 1; x = input f16[128,256] 1; y = input f16[128,256] "
     "1; a_t = permute a 1,0; b_t = permute b 1,0; t1 = pw a_t b_t; t2 = pw t1 x; t3 = pw t2 y",
     "t3", "t2", 32768, 1, "1: 4,128,64 / 64,256,1 / 65536"},
    {"SP015: x @ y", "x = input f16[128,256] 1; y = input f16[256,128] 1; o = matmul x y", "o", NULL, 0, 0,
     "1: 2,128,64 / 64,128,1 / 32768"},
    {"SP016: x.t() @ y",
     "x = input f16[128,256] 1; y = input f16[128,256] 1; xt = permute x 1,0; o = matmul xt y", "o", "o",
     32768, 1, "1: 4,256,64 / 64,256,1 / 131072"},
    {"SP023: a @ (b+c.t())",
     "a = input f16[128,128] 1; b = input f16[128,128] 1; c = input f16[128,128] 1; ct = permute c 1,0; t1 = "
     "pw b ct; o = matmul a t1",
     "o", "t1", 16384, 1, "1: 2,128,64 / 64,128,1 / 32768"},
    {"SP040: constant + x.t(): a constant takes any stick",
     "x = input f16[128,128] 1; k = constant f16[128,128]; xt = permute x 1,0; o = pw k xt", "o", NULL, 0, 0,
     "0: 2,128,64 / 8192,1,128 / 32768"},
    {"SP051: column vector broadcast + a.t(): both want dim 0",
     "a = input f16[128,128] 1; b = input f16[128] 0; bu = unsqueeze b 1; be = expand bu 128,128; at = "
     "permute a 1,0; o = pw be at",
     "o", NULL, 0, 0, "0: 2,128,64 / 8192,1,128 / 32768"},
    {"SP053: (S,1) operand: already one element per stick, broadcasts for free",
     "a = input f16[128,128] 1; b = input f16[128,1] 1; o = pw b a", "o", NULL, 0, 0,
     "1: 2,128,64 / 64,128,1 / 32768"},
    {"SP060: sum over the stick dim", "a = input f16[256,256] 1; o = sum a 1", "o", NULL, 0, 0,
     "-1: 1,256,64 / -1,1,-1 / 32768"},
    {"SP061: sum over the other dim", "a = input f16[256,256] 1; o = sum a 0", "o", NULL, 0, 0,
     "0: 4,64 / 64,1 / 512"},
    {"SP065: a.sum(1)+b: sparse meets dense; strict error",
     "a = input f16[128,128] 1; b = input f16[128,128] 1; t = sum a 1; o = pw t b", "o", "o", 16384, 1,
     "0: 2,128,64 / 8192,1,128 / 32768; 1: 2,128,64 / 64,128,1 / 32768"},
    {"SP066: a.sum(1,keepdim)+b: legal, the sum broadcasts along the stick",
     "a = input f16[128,128] 1; b = input f16[128,128] 1; t = keep a 1; o = pw t b", "o", NULL, 0, 0,
     "1: 2,128,64 / 64,128,1 / 32768"},
    {"SP080: flatten of two outer dims is free",
     "x = input f16[50,10,192] 2; y = input f16[500,192] 1; f = reshape x 500,192; o = pw f y", "o", NULL, 0,
     0, "1: 3,500,64 / 64,192,1 / 192000"},
    {"SP088: slice of the stick dim on a stick boundary",
     "x = input f16[9,15,384] 2; v = slice x 2 128 128 1; o = pw v", "o", NULL, 0, 0,
     "2: 15,2,9,64 / 128,64,1920,1 / 34560"},
    {"SP089: slice of the stick dim off a boundary: strict error, a move fixes it",
     "x = input f16[64,15,384] 2; v = slice x 2 100 128 1; o = pw v", "o", "o", 368640, 1,
     "0: 128,1,15,64 / 1,122880,128,1920 / 245760; 1: 128,1,64,64 / 1,8192,1920,128 / 1048576"},
    {"SP100: cat on the non-stick dim", "a = input f16[128,128] 1; b = input f16[128,128] 1; o = cat 0 a b",
     "o", NULL, 0, 0, "1: 2,256,64 / 64,128,1 / 65536"},
    {"SP102: cat on the stick dim, unaligned seam: strict error; both move to dim 0",
     "a = input f16[128,96] 1; b = input f16[128,32] 1; o = cat 1 a b", "o", "o", 24576, 2,
     "0: 2,128,64 / 8192,1,128 / 32768"},
    {"SP110: embedding rows", "e = input f16[1000,128] 1; i = input s32[7] 0; o = gather e i 0", "o", NULL, 0,
     0, "1: 2,7,64 / 64,128,1 / 1792"},
    {"SP121: linear layer whose weight was laid out on its out dim up front",
     "x = input f16[64,256] 1; w = input f16[128,256] 0; wt = permute w 1,0; o = matmul x wt", "o", NULL, 0,
     0, "1: 2,64,64 / 64,128,1 / 16384"},
    {"SP130: unaligned both ways: the price counts padded elements",
     "a = input f16[100,70] 1; b = input f16[70,100] 1; bt = permute b 1,0; o = pw a bt", "o", "o", 8960, 1,
     "1: 2,100,64 / 64,70,1 / 25600"},
    {"SP140: a.amin(-1)+b (2-D): the other operand moves so that the sparse one can broadcast",
     "a = input f16[128,128] 1; b = input f16[128,128] 1; t = sum a 1; o = pw t b", "o", "o", 16384, 1,
     "0: 2,128,64 / 8192,1,128 / 32768; 1: 2,128,64 / 64,128,1 / 32768"},
    {"SP142: a.amin(-1)+b without broadcasting: needs one stick gathered from many. Moving the reduction's "
     "input first is the only repair",
     "a = input f16[128,128,128] 2; b = input f16[128,128] 1; t = sum a 2; o = pw t b", "o", "o", 2097152, 1,
     "1: 2,128,64 / 64,128,1 / 32768"},
    {"SP144: row vector + matrix", "a = input f16[128] 0; b = input f16[128,128] 1; o = pw a b", "o", NULL, 0,
     0, "1: 2,128,64 / 64,128,1 / 32768"},
    {"SP146: column vector + matrix",
     "a = input f16[128] 0; b = input f16[128,128] 1; u = unsqueeze a 1; o = pw u b", "o", "o", 16384, 1,
     "0: 2,128,64 / 8192,1,128 / 32768"},
    {"SP149: outer difference of one buffer with itself: both reads move to the batch dim",
     "c = input f16[64,64] 1; u = unsqueeze c 2; v = unsqueeze c 1; d = pw u v; o = pw d", "o", "d", 8192, 2,
     "0: 64,1,64,64 / 1,262144,64,4096 / 524288"},
};

static void print_numbers(char *text, size_t room, int32_t n, const int64_t *list) {
  for (int32_t i = 0; i < n; i++)
    snprintf(text + strlen(text), room - strlen(text), "%s%" PRId64, i ? "," : "", list[i]);
}

/* The layouts of a node for all its sticks, as the rows have them. */
static void print_layouts(const tesela_propagation *p, int32_t node, char *text, size_t room) {
  int32_t sticks[PROG_RANK + 1], n = tesela_propagation_sticks(p, node, PROG_RANK + 1, sticks);
  text[0] = '\0';
  for (int32_t i = 0; i < n; i++) {
    tesela_device_layout layout;
    tesela_device_sizes sizes;
    int64_t list[TESELA_DEVICE_DIMS];
    OK(tesela_propagation_layout(p, node, sticks[i], &layout, &e_));
    OK(tesela_device_sizes_of(&layout, prog_spyre(), &sizes, &e_));
    snprintf(text + strlen(text), room - strlen(text), "%s%d: ", i ? "; " : "", (int)sticks[i]);
    for (int32_t d = 0; d < layout.n_dims; d++) list[d] = layout.dim[d].extent;
    print_numbers(text, room, layout.n_dims, list);
    snprintf(text + strlen(text), room - strlen(text), " / ");
    OK(tesela_device_stride_map(&layout, NULL, list, &e_));
    print_numbers(text, room, layout.n_dims, list);
    snprintf(text + strlen(text), room - strlen(text), " / %" PRId64, sizes.device_bytes);
  }
}

static void check_facts(const char *name, const tesela_propagate_facts *facts, int64_t cost, int32_t moves) {
  if (!facts->ok || !facts->proven || facts->cost != cost || facts->moved != cost || facts->bound != cost ||
      facts->n_moves != moves)
    fail_msg("%s: ok %d, proven %d, cost %" PRId64 ", moved %" PRId64 ", bound %" PRId64 ", %d moves", name,
             facts->ok, facts->proven, facts->cost, facts->moved, facts->bound, (int)facts->n_moves);
}

static void the_worked_cases_come_out(void **state) {
  (void)state;
  for (size_t i = 0; i < sizeof vector_rows / sizeof *vector_rows; i++) {
    const struct vector_row *row = &vector_rows[i];
    prog text;
    tesela_graph *graph;
    tesela_propagation *p;
    prog_read(&text, row->text);
    OK(prog_graph(&text, &graph, &e_));
    int32_t output = tesela_graph_find(graph, row->output);
    OK(tesela_graph_add_output(graph, output, &e_));
    for (int mode = TESELA_PROPAGATE_STRICT; mode <= TESELA_PROPAGATE_AUTO; mode++) {
      char layouts[512];
      tesela_propagate_options options = {.mode = (tesela_propagate_mode)mode, .all_sticks = true};
      OK(tesela_graph_propagate(&p, graph, prog_spyre(), &options, &e_));
      tesela_propagate_facts facts = tesela_propagation_facts_of(p);
      if (mode == TESELA_PROPAGATE_STRICT && row->error) {
        if (facts.ok || !facts.proven || facts.error_node != tesela_graph_find(graph, row->error))
          fail_msg("%s: strict: ok %d, error at node %d", row->name, facts.ok, (int)facts.error_node);
      } else {
        check_facts(row->name, &facts, row->cost, row->moves);
        print_layouts(p, output, layouts, sizeof layouts);
        if (strcmp(layouts, row->layouts) != 0) fail_msg("%s: %s", row->name, layouts);
      }
      tesela_propagation_destroy(p);
    }
    tesela_graph_destroy(graph);
  }
}

/* ---- operators beyond the random programs ---- */

static const char *const sum_of_transposed =
    "a = input f16[256,128] 1; x = input f16[128,256] 1; a_t = permute a 1,0; t1 = pw a_t x";

static int32_t add(tesela_graph *graph, const tesela_node_spec *spec) {
  int32_t node;
  OK(tesela_graph_add(graph, spec, &node, &e_));
  return node;
}

static int32_t input(tesela_graph *graph, const char *name, int32_t rank, const int64_t *shape,
                     int32_t stick) {
  return add(graph, &(tesela_node_spec){.op = TESELA_OP_INPUT,
                                        .name = name,
                                        .dtype = TESELA_F16,
                                        .rank = rank,
                                        .shape = shape,
                                        .stick = stick});
}

static void convolutions_sum_over_channels(void **state) {
  (void)state;
  static const struct {
    int32_t x_stick, w_stick;
    int64_t cost;
  } rows[] = {{3, 0, 0},
              {2, 0, 2 * 10 * 64 * 128},
              {3, 1, 128 * 128 * 9},
              {1, 2, 2 * 64 * 12 * 128 + 128 * 128 * 64 * 3}};
  for (size_t i = 0; i < sizeof rows / sizeof *rows;
       i++) { /* x in NHWC f16[2,10,12,128], w in OIHW f16[128,128,3,3] */
    tesela_graph *graph;
    OK(tesela_graph_create(&graph, NULL, &e_));
    int32_t x = input(graph, "x", 4, (const int64_t[]){2, 10, 12, 128}, rows[i].x_stick);
    int32_t w = input(graph, "w", 4, (const int64_t[]){128, 128, 3, 3}, rows[i].w_stick);
    add(graph, &(tesela_node_spec){
                   .op = TESELA_OP_CONV2D,
                   .name = "y",
                   .n_operands = 2,
                   .operand = (const int32_t[]){x, w},
                   .conv = {.x = {0, 3, 1, 2}, .w = {0, 1, 2, 3}, .result = {0, 1, 2, 3}, .low = {1, 1}}});
    prog_check(graph, prog_spyre(), prog_automatic, true, rows[i].cost,
               (rows[i].x_stick != 3) + (rows[i].w_stick != 0), "y", 1);
    prog_check(graph, prog_spyre(), prog_strictly, rows[i].cost == 0, 0, 0, "y", rows[i].cost == 0 ? 1 : -9);
    tesela_graph_destroy(graph);
  }
}

/* A rule that asks w for a summed dim means the channels, not the window. */
static void windows_are_no_channels(void **state) {
  (void)state;
  tesela_target target = *prog_spyre();
  target.rule[target.n_rules++] =
      (tesela_rule){TESELA_OP_CONV2D, TESELA_FN_NONE, 1, TESELA_NEED_CONTRACTED, TESELA_YIELD_ANY, -1, ""};
  for (int32_t stick = 0; stick < 4; stick++) {
    tesela_graph *graph;
    OK(tesela_graph_create(&graph, NULL, &e_));
    int32_t x = input(graph, "x", 4, (const int64_t[]){2, 128, 10, 12}, 1);
    int32_t w = input(graph, "w", 4, (const int64_t[]){128, 128, 3, 3}, stick);
    add(graph,
        &(tesela_node_spec){.op = TESELA_OP_CONV2D, .n_operands = 2, .operand = (const int32_t[]){x, w}});
    prog_check(graph, &target, prog_strictly, stick == 1, 0, 0, "w", stick == 1 ? 1 : -9);
    tesela_graph_destroy(graph);
  }
}

/* x[K,M], y[N,K]: labels m 0, n 1, k 2. */
static void products_by_labels(void **state) {
  (void)state;
  static const struct {
    int32_t x_stick, y_stick;
    bool ok;
  } rows[] = {{0, 0, true}, {1, 0, false}, {0, 1, false}};
  for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
    tesela_graph *graph;
    OK(tesela_graph_create(&graph, NULL, &e_));
    int32_t x = input(graph, "x", 2, (const int64_t[]){256, 64}, rows[i].x_stick);
    int32_t y = input(graph, "y", 2, (const int64_t[]){128, 256}, rows[i].y_stick);
    add(graph, &(tesela_node_spec){.op = TESELA_OP_MATMUL,
                                   .name = "o",
                                   .n_operands = 2,
                                   .operand = (const int32_t[]){x, y},
                                   .rank = 2,
                                   .n_labels = 3,
                                   .x_label = (const int32_t[]){2, 0},
                                   .y_label = (const int32_t[]){1, 2}});
    prog_check(graph, prog_spyre(), prog_strictly, rows[i].ok, 0, 0, "o", rows[i].ok ? 1 : -9);
    tesela_graph_destroy(graph);
  }
}

static void empty_tensors_ask_nothing(void **state) {
  (void)state;
  tesela_graph *graph =
      prog_graph_of("a = input f16[0,64] 1; b = input f16[64,0] 1; t = permute b 1,0; o = pw a t; "
                    "m = matmul b a; c = cat 1 a a; s = sum a 0; r = sum m 0");
  prog_check(graph, prog_spyre(), prog_strictly, true, 0, 0, "m", 1);
  tesela_graph_destroy(graph);
}

/* Width only, no type; and a layout of another order that is set. */
static void types_may_be_unknown_and_layouts_given(void **state) {
  (void)state;
  tesela_graph *graph;
  tesela_device_host host;
  tesela_device_layout layout, found;
  OK(tesela_graph_create(&graph, NULL, &e_));
  static const int64_t shape[] = {8, 100, 70};
  int32_t x =
      add(graph, &(tesela_node_spec){
                     .op = TESELA_OP_INPUT, .name = "x", .bits = 16, .rank = 3, .shape = shape, .stick = 2});
  int32_t y = input(graph, "y", 3, shape, 1);
  add(graph, &(tesela_node_spec){.op = TESELA_OP_POINTWISE,
                                 .fn = TESELA_FN_ADD,
                                 .name = "o",
                                 .n_operands = 2,
                                 .operand = (const int32_t[]){x, y}});
  prog_check(graph, prog_spyre(), prog_automatic, true, 8 * 128 * 70, 1, "o",
             2); /* y's places: 128 for 100 */
  OK(tesela_device_host_of(&host, prog_spyre(), TESELA_F16, 3, shape, &e_));
  tesela_device_padding padding = {.to = {16, 0, 0}};
  OK(tesela_device_from_order(&layout, &host, TESELA_ORDER_STICK_OUTER, NULL, 3, (const int32_t[]){0, 1, 2},
                              &padding, &e_));
  OK(tesela_graph_set_layout(graph, y, &layout, &e_));
  prog_check(graph, prog_spyre(), prog_strictly, true, 0, 0, "o", 2);
  tesela_propagation *p = prog_propagate(graph, prog_spyre(), prog_strictly);
  OK(tesela_propagation_layout(p, y, 2, &found, &e_));
  assert_true(tesela_device_equal(&found, &layout));
  tesela_propagation_destroy(p);
  prog_add_hint(graph, TESELA_HINT_REQUIRE, "o", 1, -1, 0);
  prog_check(graph, prog_spyre(), prog_automatic, true, 8 * 100 * 128 + 16 * 100 * 128, 2, "o",
             1); /* both move, y with its padding */
  tesela_graph_destroy(graph);
}

/* A result with a layout that is set is judged as it lies. */
static void results_may_have_given_layouts(void **state) {
  (void)state;
  tesela_device_host host;
  tesela_device_layout layout;
  static const int64_t shape[] = {128, 256};
  tesela_graph *graph = prog_graph_of(sum_of_transposed);
  OK(tesela_device_host_of(&host, prog_spyre(), TESELA_F16, 2, shape, &e_));
  tesela_device_padding padding = {.to = {0, 300}};
  OK(tesela_device_from_order(&layout, &host, TESELA_ORDER_GENERIC, NULL, 2, (const int32_t[]){1, 0},
                              &padding, &e_));
  OK(tesela_graph_set_layout(graph, tesela_graph_find(graph, "t1"), &layout, &e_));
  prog_check(graph, prog_spyre(), prog_automatic, true, 32768, 1, "t1", 0);
  tesela_propagation *p = prog_propagate(graph, prog_spyre(), prog_automatic);
  assert_string_equal(tesela_graph_node(graph, tesela_propagation_move(p, 0)->buffer)->name, "x");
  tesela_propagation_destroy(p);
  tesela_graph_destroy(graph);
}

/* One element stays of a tensor whose border is cut away and added again as far as it may be; nothing of it is read. */
static void borders_may_be_almost_2_to_62(void **state) {
  (void)state;
  const int64_t most = (INT64_C(1) << 62) - 1, borders[][2] = {{-most, most}, {most, -most}};
  for (size_t i = 0; i < sizeof borders / sizeof *borders; i++) {
    tesela_graph *graph = prog_graph_of("x = input f16[1] 0");
    int32_t x = 0, pad;
    tesela_node_spec spec = {
        .op = TESELA_OP_PAD, .n_operands = 1, .operand = &x, .low = &borders[i][0], .high = &borders[i][1]};
    OK(tesela_graph_add(graph, &spec, &pad, &e_));
    assert_int_equal(tesela_graph_node(graph, pad)->shape[0], 1);
    int64_t wide[2] = {borders[i][0] + (borders[i][0] < 0 ? -1 : 1), borders[i][1]};
    spec.low = &wide[0];
    assert_int_equal(tesela_graph_add(graph, &spec, NULL, NULL), TESELA_E_OVERFLOW);
    tesela_propagation *p = prog_propagate(graph, prog_spyre(), prog_automatic);
    assert_true(tesela_propagation_facts_of(p).ok);
    assert_int_equal(tesela_propagation_facts_of(p).cost, 0);
    tesela_propagation_destroy(p);
    tesela_graph_destroy(graph);
  }
}

/* Each pair has shapes of its own, and stands twice: x moves, n * 64 places, since y has 64 * n, padded to whole
 * sticks. */
static void programs_have_many_shapes(void **state) {
  (void)state;
  enum { PAIRS = 300 };
  tesela_graph *graph;
  int64_t cost = 0;
  OK(tesela_graph_create(&graph, NULL, &e_));
  for (int64_t n = 2; n <= PAIRS + 1; n++) /* of 1 the moves would go to one element per stick */
    for (int twice = 0; twice < 2; twice++) {
      int32_t x = input(graph, NULL, 2, (const int64_t[]){n, 64}, 1);
      int32_t y = input(graph, NULL, 2, (const int64_t[]){64, n}, 1);
      int32_t t = add(graph, &(tesela_node_spec){.op = TESELA_OP_PERMUTE,
                                                 .n_operands = 1,
                                                 .operand = &x,
                                                 .n_dims = 2,
                                                 .dims = (const int32_t[]){1, 0}});
      add(graph, &(tesela_node_spec){.op = TESELA_OP_POINTWISE,
                                     .fn = TESELA_FN_ADD,
                                     .n_operands = 2,
                                     .operand = (const int32_t[]){t, y}});
      cost += n * 64;
    }
  prog_check(graph, prog_spyre(), prog_automatic, true, cost, 2 * PAIRS, "x", -9);
  tesela_graph_destroy(graph);
}

/* Ten dims, each wanted by one consumer: more sets of copies than states; the plan is good, but nothing is proven. */
static void too_many_copies_are_not_proven(void **state) {
  (void)state;
  tesela_target target;
  OK(tesela_target_plain(&target, 8, &e_));
  tesela_graph *graph;
  OK(tesela_graph_create(&graph, NULL, &e_));
  int64_t shape[10], other[10];
  for (int d = 0; d < 10; d++) shape[d] = 2;
  int32_t x = input(graph, "x", 10, shape, 9);
  for (int d = 0; d < 9; d++) {
    memcpy(other, shape, sizeof other);
    int32_t y = input(graph, NULL, 10, other, d);
    for (int i = 0; i < 2; i++)
      add(graph, &(tesela_node_spec){.op = TESELA_OP_POINTWISE,
                                     .fn = TESELA_FN_ADD,
                                     .n_operands = 2,
                                     .operand = (const int32_t[]){x, y}});
    prog_add_hint(graph, TESELA_HINT_FORBID_MOVE,
                  tesela_graph_node(graph, tesela_graph_count(graph) - 2)->name, 0, 1, 0);
    prog_add_hint(graph, TESELA_HINT_FORBID_MOVE,
                  tesela_graph_node(graph, tesela_graph_count(graph) - 1)->name, 0, 1, 0);
  }
  tesela_propagate_options share = {.mode = TESELA_PROPAGATE_AUTO, .share = true};
  tesela_propagation *p = prog_propagate(graph, &target, share);
  tesela_propagate_facts facts = tesela_propagation_facts_of(p);
  assert_false(facts.proven);
  assert_int_equal(facts.bound, 0);
  assert_true(facts.ok); /* not all nine copies fit in a state, but none of them can be done without */
  assert_int_equal(facts.n_moves, 9);
  assert_int_equal(facts.cost, 9 * 512 * 4); /* 512 sticks of 2 elements and 2 places of padding */
  assert_int_equal(facts.moved, facts.cost);
  tesela_propagation_destroy(p);
  tesela_graph_destroy(graph);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(the_worked_cases_come_out),
      cmocka_unit_test(convolutions_sum_over_channels),
      cmocka_unit_test(windows_are_no_channels),
      cmocka_unit_test(products_by_labels),
      cmocka_unit_test(empty_tensors_ask_nothing),
      cmocka_unit_test(types_may_be_unknown_and_layouts_given),
      cmocka_unit_test(results_may_have_given_layouts),
      cmocka_unit_test(borders_may_be_almost_2_to_62),
      cmocka_unit_test(programs_have_many_shapes),
      cmocka_unit_test(too_many_copies_are_not_proven),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
