/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_graph_loops.c - loops of operators, places as layouts of counters, and their text.
 *
 * Loops and texts of small programs are written down by hand. Places of random programs are compared with the definition at every
 * counter. Texts are compiled and run in test_graph_loops_text.c.
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
#include "support_graph_random.h"
#include "support_seed.h"

#define OK(call)                                                    \
  do {                                                              \
    tesela_error e_ = {.message = ""};                              \
    if ((call) != TESELA_OK) fail_msg("%s: %s", #call, e_.message); \
  } while (0)

static uint64_t seed;
static tesela_graph *graph;

/* ---- small programs ------------------------------------------------------------------------------------------- */

static const tesela_target *spyre(void) { return tesela_target_find("spyre"); }

static int32_t input(const char *name, const char *shape, int32_t stick) {
  return build_laid_out(graph, spyre(), name, shape, stick);
}

static int32_t add(tesela_node_spec spec, int32_t stick) { return build_node(graph, spyre(), spec, stick); }

/* "3*64@1 100@0 64@1l 4*64@2f 64@2fl": extent, step if above 1, dim, folded, lane */
static void check_loops(int32_t node, const char *want) {
  tesela_op_loops loops;
  char have[512] = "";
  OK(tesela_graph_loops(graph, node, &loops, &e_));
  for (int32_t l = 0; l < loops.n; l++) {
    const tesela_loop *loop = &loops.loop[l];
    char step[32] = "";
    if (loop->step > 1) snprintf(step, sizeof step, "*%" PRId64, loop->step);
    snprintf(have + strlen(have), sizeof have - strlen(have), "%s%" PRId64 "%s@%d%s%s", l ? " " : "",
             loop->extent, step, (int)loop->dim, loop->folded ? "f" : "", loop->lane ? "l" : "");
  }
  assert_string_equal(have, want);
}

static void check_text(int32_t node, const char *want) {
  char text[4096];
  tesela_buffer buffer = {text, sizeof text, 0};
  tesela_writer to = tesela_buffer_writer(&buffer);
  OK(tesela_graph_print_loops(graph, node, &to, &e_));
  assert_string_equal(text, want);
}

static int begin(void **unused) {
  (void)unused;
  return tesela_graph_create(&graph, NULL, NULL) != TESELA_OK;
}
static int end(void **unused) {
  (void)unused;
  tesela_graph_destroy(graph);
  return 0;
}

static void loops_of_a_result(void **unused) {
  (void)unused;
  int32_t a = input("a", "f16[100,130]", 1), b = input("b", "f16[100,130]", 1);
  int32_t t =
      add((tesela_node_spec){.op = TESELA_OP_POINTWISE, .fn = TESELA_FN_ADD, .name = "t1", NODES(a, b)}, 1);
  check_loops(t, "3*64@1 100@0 64@1l");
  check_text(t,
             "// t1 = pointwise add\n"
             "for (int64_t c0 = 0; c0 < 3; c0++)\n"
             "  for (int64_t c1 = 0; c1 < 100; c1++)\n"
             "    for (int64_t c2 = 0; c2 < 64; c2++)\n"
             "      if (c0*64 + c2 < 130)\n"
             "        t1[c0*6400 + c1*64 + c2] = add(a[c0*6400 + c1*64 + c2], b[c0*6400 + c1*64 + c2]);\n");
  int32_t small = input("small", "f16[7,40]", 1); /* 40 lanes of 64, and no block */
  int32_t neg =
      add((tesela_node_spec){.op = TESELA_OP_POINTWISE, .fn = TESELA_FN_NEG, .name = "n", NODES(small)}, 1);
  check_loops(neg, "7@0 40@1l");
  int32_t one =
      add((tesela_node_spec){.op = TESELA_OP_CONSTANT, .name = "one", .dtype = TESELA_F16, .value = 1.5}, -1);
  check_loops(one, "");
  check_text(one, "// one = constant\none[0] = 1.5;\n");
  int32_t sparse = add(
      (tesela_node_spec){.op = TESELA_OP_REDUCE, .fn = TESELA_FN_SUM, .name = "s", DIMS(1), NODES(a)}, -1);
  check_loops(sparse, "100@0 3*64@1f 64@1fl"); /* lanes of one element make no loop */
  check_text(sparse, "// s = reduce sum\n"
                     "for (int64_t c0 = 0; c0 < 100; c0++) {\n"
                     "  value sum = 0;\n"
                     "  for (int64_t c1 = 0; c1 < 3; c1++)\n"
                     "    for (int64_t c2 = 0; c2 < 64; c2++)\n"
                     "      if (c1*64 + c2 < 130)\n"
                     "        sum = add(sum, a[c0*64 + c1*6400 + c2]);\n"
                     "  s[c0*64] = sum;\n"
                     "}\n");
}

static void loops_that_fold(void **unused) {
  (void)unused;
  int32_t x = input("x", "f16[128,256]", 1), y = input("y", "f16[256,64]", 1);
  int32_t o = add((tesela_node_spec){.op = TESELA_OP_MATMUL, .name = "o", NODES(x, y)}, 1);
  check_loops(o, "128@0 64@1l 4*64@2f 64@2fl");
  check_text(o, "// o = matmul\n"
                "for (int64_t c0 = 0; c0 < 128; c0++)\n"
                "  for (int64_t c1 = 0; c1 < 64; c1++) {\n"
                "    value sum = 0;\n"
                "    for (int64_t c2 = 0; c2 < 4; c2++)\n"
                "      for (int64_t c3 = 0; c3 < 64; c3++)\n"
                "        sum = add(sum, mul(x[c0*64 + c2*8192 + c3], y[c1 + c2*4096 + c3*64]));\n"
                "    o[c0*64 + c1] = sum;\n"
                "  }\n");
}

/* Sticks of another type, of another dim, and starting elsewhere. */
static void places_that_are_not_aligned(void **unused) {
  (void)unused;
  int32_t a = input("a", "f16[5,128]", 1), b = input("b", "f32[5,128]", 1),
          wide = input("wide", "f16[6,200]", 1);
  int32_t c = add(
      (tesela_node_spec){
          .op = TESELA_OP_POINTWISE, .fn = TESELA_FN_COPY, .name = "c", .dtype = TESELA_F16, NODES(b)},
      1);
  check_text(c, "// c = pointwise copy\n" /* f32 has 32 lanes: blocks of 5*32 */
                "for (int64_t c0 = 0; c0 < 2; c0++)\n"
                "  for (int64_t c1 = 0; c1 < 5; c1++)\n"
                "    for (int64_t c2 = 0; c2 < 64; c2++)\n"
                "      c[c0*320 + c1*64 + c2] = copy(b[c0*320 + c1*32 + c2/32*160 + c2%32]);\n");
  int32_t turned = input("turned", "f16[128,5]", 0);
  int32_t view = add((tesela_node_spec){.op = TESELA_OP_PERMUTE, DIMS(1, 0), NODES(turned)}, 0);
  int32_t t =
      add((tesela_node_spec){.op = TESELA_OP_POINTWISE, .fn = TESELA_FN_SUB, .name = "t", NODES(a, view)}, 1);
  check_text(t, "// t = pointwise sub\n" /* [128,5] in sticks along 0: order 1, 0; the same places */
                "for (int64_t c0 = 0; c0 < 2; c0++)\n"
                "  for (int64_t c1 = 0; c1 < 5; c1++)\n"
                "    for (int64_t c2 = 0; c2 < 64; c2++)\n"
                "      t[c0*320 + c1*64 + c2] = sub(a[c0*320 + c1*64 + c2], turned[c0*320 + c1*64 + c2]);\n");
  int32_t cut = add((tesela_node_spec){.op = TESELA_OP_SLICE,
                                       NODES(wide),
                                       .start = (const int64_t[]){1, 70},
                                       .length = (const int64_t[]){5, 128}},
                    1);
  int32_t k = add((tesela_node_spec){.op = TESELA_OP_CLONE, .name = "k", NODES(cut)}, 1);
  check_text(k,
             "// k = clone\n" /* column 70 is block 1, lane 6; row 1 is 64 places on: 384 + 64 */
             "for (int64_t c0 = 0; c0 < 2; c0++)\n"
             "  for (int64_t c1 = 0; c1 < 5; c1++)\n"
             "    for (int64_t c2 = 0; c2 < 64; c2++)\n"
             "      k[c0*320 + c1*64 + c2] = wide[c1*64 + c0*384 + (c2 + 6)/64*384 + (c2 + 6)%64 + 448];\n");
  int32_t p = add((tesela_node_spec){.op = TESELA_OP_PAD,
                                     .name = "p",
                                     NODES(a),
                                     .low = (const int64_t[]){1, 0},
                                     .high = (const int64_t[]){1, 0},
                                     .value = -2},
                  1);
  check_text(
      p, "// p = pad\n"
         "for (int64_t c0 = 0; c0 < 2; c0++)\n"
         "  for (int64_t c1 = 0; c1 < 7; c1++)\n"
         "    for (int64_t c2 = 0; c2 < 64; c2++)\n"
         "      p[c0*448 + c1*64 + c2] = c1 - 1 >= 0 && c1 - 1 < 5 ? a[c0*320 + c1*64 + c2 - 64] : -2;\n");
}

/* Backwards: element 129 - i of a row; the first is block 2, lane 1: 257. */
static void places_backwards(void **unused) {
  (void)unused;
  int32_t x = input("x", "f16[2,130]", 1);
  int32_t back = add((tesela_node_spec){.op = TESELA_OP_SLICE,
                                        NODES(x),
                                        .start = (const int64_t[]){0, 129},
                                        .length = (const int64_t[]){2, 130},
                                        .step = (const int64_t[]){1, -1}},
                     1);
  int32_t r = add((tesela_node_spec){.op = TESELA_OP_CLONE, .name = "r", NODES(back)}, 1);
  check_text(
      r, "// r = clone\n"
         "for (int64_t c0 = 0; c0 < 3; c0++)\n"
         "  for (int64_t c1 = 0; c1 < 2; c1++)\n"
         "    for (int64_t c2 = 0; c2 < 64; c2++)\n"
         "      if (c0*64 + c2 < 130)\n"
         "        r[c0*128 + c1*64 + c2] = x[c1*64 - c0*128 + (-c2 + 65)/64*128 + (-c2 + 65)%64 + 128];\n");
}

/* Steps 360, 120, 64, 1 of 4800: 64 and 1 stay. Extents 0 are loops of no pass. */
static void loops_of_odd_steps(void **unused) {
  (void)unused;
  int32_t x = build_input(graph, "x", "f16[4800]"), t;
  OK(tesela_graph_add(graph, &(tesela_node_spec){.op = TESELA_OP_POINTWISE, .fn = TESELA_FN_NEG, NODES(x)},
                      &t, &e_));
  tesela_device_host host;
  tesela_device_layout layout;
  OK(tesela_device_host_of(&host, spyre(), TESELA_F16, 1, (const int64_t[]){4800}, &e_));
  tesela_device_dim dims[] = {{3, 120, 0, 0}, {2, 64, 0, 0}, {14, 360, 0, 0}, {64, 1, 0, 0}};
  OK(tesela_device_from_dims(&layout, &host, 4, dims, false, 1, &e_));
  OK(tesela_graph_set_layout(graph, x, &layout, &e_));
  OK(tesela_graph_set_layout(graph, t, &layout, &e_));
  check_loops(t, "75*64@0 64@0l");
  int32_t none = input("none", "f16[0,70]", 1);
  int32_t n = add((tesela_node_spec){.op = TESELA_OP_POINTWISE, .fn = TESELA_FN_NEG, NODES(none)}, 1);
  tesela_op_loops loops;
  OK(tesela_graph_loops(graph, n, &loops, &e_));
  int64_t passes = 1;
  for (int32_t l = 0; l < loops.n; l++) passes *= loops.loop[l].extent;
  assert_int_equal(passes, 0);
}

static void refusals(void **unused) {
  (void)unused;
  tesela_op_loops loops;
  tesela_layout place;
  int64_t before;
  int32_t x = build_input(graph, "x", "f16[8,8]"), i = input("i", "s32[3]", 0), t;
  OK(tesela_graph_add(graph, &(tesela_node_spec){.op = TESELA_OP_GATHER, NODES(x, i)}, &t, &e_));
  assert_int_equal(tesela_graph_loops(graph, t, &loops, NULL), TESELA_E_INVALID);
  assert_int_equal(tesela_graph_loops(graph, x, &loops, NULL), TESELA_E_UNSUPPORTED);
  assert_int_equal(tesela_graph_loops(graph, -1, &loops, NULL), TESELA_E_RANGE);
  assert_int_equal(tesela_graph_loops(graph, 9, &loops, NULL), TESELA_E_RANGE);
  build_lay_out(graph, spyre(), x, 1);
  build_lay_out(graph, spyre(), t, 1);
  OK(tesela_graph_loops(graph, t, &loops, &e_));
  assert_int_equal(tesela_graph_loop_place(graph, &loops, t, 0, &place, &before, NULL), TESELA_E_UNSUPPORTED);
  assert_int_equal(tesela_graph_loop_place(graph, &loops, t, 2, &place, &before, NULL), TESELA_E_RANGE);
  assert_int_equal(tesela_graph_loop_place(graph, &loops, 9, 0, &place, &before, NULL), TESELA_E_RANGE);
  OK(tesela_graph_loop_place(graph, &loops, t, 1, &place, &before, &e_));
  check_text(t, "// gather.2 = gather\n"
                "for (int64_t c0 = 0; c0 < 3; c0++)\n"
                "  for (int64_t c1 = 0; c1 < 8; c1++) {\n"
                "    int64_t i = v1[c0];\n" /* i is the index's own name */
                "    v2[c0*64 + c1] = x[c1 + i*64];\n"
                "  }\n");
}

/* ---- places of random programs --------------------------------------------------------------------------------- */

static void check_place(const random_program *p, int32_t node, int32_t k, uint64_t number,
                        int64_t *compared) {
  tesela_op_loops loops;
  tesela_layout place;
  tesela_error err;
  int64_t before, counter[TESELA_DEVICE_DIMS] = {0};
  OK(tesela_graph_loops(p->graph, node, &loops, &e_));
  tesela_status status = tesela_graph_loop_place(p->graph, &loops, node, k, &place, &before, &err);
  const tesela_node *of = tesela_graph_node(p->graph, node);
  if (status == TESELA_E_UNSUPPORTED) return; /* looked up, or a window on a view across dims */
  if (status != TESELA_OK)
    fail_msg("seed %" PRIu64 ", operand %d of %s: %s", number, (int)k, of->name, err.message);
  int32_t buffer = tesela_graph_node(p->graph, k < 0 ? node : of->operand[k])->buffer;
  const tesela_device_layout *layout = tesela_graph_node(p->graph, buffer)->layout;
  for (int32_t l = 0; l < loops.n; l++)
    if (loops.loop[l].extent == 0) return;
  for (;;) {
    int64_t iteration[TESELA_GRAPH_ITERATION] = {0}, index[TESELA_GRAPH_RANK], own[TESELA_GRAPH_RANK], have;
    bool inside = true;
    for (int32_t l = 0; l < loops.n; l++) iteration[loops.loop[l].dim] += counter[l] * loops.loop[l].step;
    for (int32_t i = 0; i < loops.iteration.n; i++)
      inside = inside && iteration[i] < loops.iteration.extent[i];
    if (inside && random_operand_index(p->graph, node, k, iteration, 0, index)) {
      int64_t copies = 1;
      random_buffer_index(p->graph, k < 0 ? node : of->operand[k], index, own);
      for (int64_t c = 0; c < copies; c++) {
        int64_t want = random_place(layout, own, c, &copies);
        OK(tesela_layout_copy_of(&place, counter, c, &have, &e_));
        if (have - before != want)
          fail_msg("seed %" PRIu64 ", operand %d of %s: place %" PRId64 ", not %" PRId64, number, (int)k,
                   of->name, have - before, want);
      }
      ++*compared;
    }
    int32_t l = loops.n - 1;
    for (; l >= 0; l--) {
      if (++counter[l] < loops.loop[l].extent) break;
      counter[l] = 0;
    }
    if (l < 0) return;
  }
}

static void places_of_random_programs(void **unused) {
  (void)unused;
  int64_t compared = 0;
  for (int32_t k = 0; k < 150; k++) {
    uint64_t number = seed + (uint64_t)k, state = number * UINT64_C(0x9e3779b97f4a7c15) + 1;
    random_program p;
    random_program_make(&p, &state, 8);
    random_program_layouts(&p, &state);
    for (int32_t n = 0; n < tesela_graph_count(p.graph); n++) {
      const tesela_node *node = tesela_graph_node(p.graph, n);
      if (node->view || node->op == TESELA_OP_INPUT) continue;
      for (int32_t o = -1; o < node->n_operands; o++) check_place(&p, n, o, number, &compared);
    }
    random_program_free(&p);
  }
  assert_true(compared > 20000);
}

int main(void) {
  seed = first_seed();
  const struct CMUnitTest tests[] = {
      cmocka_unit_test_setup_teardown(loops_of_a_result, begin, end),
      cmocka_unit_test_setup_teardown(loops_that_fold, begin, end),
      cmocka_unit_test_setup_teardown(places_that_are_not_aligned, begin, end),
      cmocka_unit_test_setup_teardown(places_backwards, begin, end),
      cmocka_unit_test_setup_teardown(loops_of_odd_steps, begin, end),
      cmocka_unit_test_setup_teardown(refusals, begin, end),
      cmocka_unit_test(places_of_random_programs),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
