/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_graph_padding.c - what padding holds: programs with every answer by hand, and random ones against whole-stick execution by
 * definition (support_padding_oracle.h) with several garbages, layouts and fills.
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
#include <time.h>

#include <cmocka.h>
#include <tesela/tesela.h>

#include "support_graph_build.h"
#include "support_graph_random.h"
#include "support_padding_oracle.h"

#define OK(call)                                                    \
  do {                                                              \
    tesela_error e_ = {.message = ""};                              \
    if ((call) != TESELA_OK) fail_msg("%s: %s", #call, e_.message); \
  } while (0)
static uint64_t seed;
static tesela_graph *graph;
static tesela_padding *padding;
static const tesela_target *target;

static int begin(void **unused) {
  (void)unused;
  target = tesela_target_find("spyre");
  padding = NULL;
  return tesela_graph_create(&graph, NULL, NULL) != TESELA_OK;
}
static int end(void **unused) {
  (void)unused;
  tesela_padding_destroy(padding);
  tesela_graph_destroy(graph);
  return 0;
}

static int32_t input(const char *name, const char *shape, int32_t stick) {
  return build_laid_out(graph, target, name, shape, stick);
}

static int32_t add(tesela_node_spec spec, int32_t stick) { return build_node(graph, target, spec, stick); }
static int32_t unary(tesela_fn fn, int32_t x, int32_t stick) {
  return add((tesela_node_spec){.op = TESELA_OP_POINTWISE, .fn = fn, NODES(x)}, stick);
}
static int32_t binary(tesela_fn fn, int32_t x, int32_t y, int32_t stick) {
  return add((tesela_node_spec){.op = TESELA_OP_POINTWISE, .fn = fn, NODES(x, y)}, stick);
}
static int32_t reduce(tesela_fn fn, int32_t x, int32_t dim, int32_t stick) {
  return add((tesela_node_spec){.op = TESELA_OP_REDUCE, .fn = fn, NODES(x), DIMS(dim)}, stick);
}
static int32_t scalar(double value) {
  return add((tesela_node_spec){.op = TESELA_OP_CONSTANT, .dtype = TESELA_F16, .value = value},
             TESELA_STICK_SPARSE);
}

static void look(const tesela_padding_fill *fill, tesela_padding_fill copy) {
  tesela_padding_destroy(padding);
  OK(tesela_graph_padding(&padding, graph, &(tesela_padding_options){.input = fill, .copy = copy}, &e_));
}
#define FILL(name) ((const tesela_padding_fill[]){{TESELA_PAD_##name, 0}})
static const tesela_padding_fill leave;

static void holds(int32_t node, double value) {
  tesela_padding_state state = tesela_padding_state_of(padding, node);
  assert_int_equal(state.kind, TESELA_PADDING_VALUE);
  assert_memory_equal(&state.value, &value, sizeof value);
}
static void is(int32_t node, tesela_padding_kind kind) {
  assert_int_equal(tesela_padding_state_of(padding, node).kind, kind);
}

typedef struct want {
  int32_t node, operand, dim;
  int64_t from, to;
  double needed;
  tesela_padding_kind found;
  tesela_padding_verdict verdict;
} want;

static void reads_are(int32_t n, const want *wanted) {
  const tesela_padding_read *read;
  for (int32_t k = 0; k < n; k++) {
    read = tesela_padding_read_at(padding, k);
    assert_non_null(read);
    assert_int_equal(read->node, wanted[k].node);
    assert_int_equal(read->operand, wanted[k].operand);
    assert_int_equal(read->dim, wanted[k].dim);
    assert_int_equal(read->from, wanted[k].from);
    assert_int_equal(read->to, wanted[k].to);
    if (isnan(wanted[k].needed))
      assert_int_equal(read->needed.kind, TESELA_PADDING_NONE);
    else
      assert_true(read->needed.kind == TESELA_PADDING_VALUE && read->needed.value == wanted[k].needed);
    assert_int_equal(read->found.kind, wanted[k].found);
    assert_int_equal(read->verdict, wanted[k].verdict);
  }
  assert_null(tesela_padding_read_at(padding, n));
  assert_null(tesela_padding_read_at(padding, -1));
}
#define READS(...) reads_are((int32_t)(sizeof((want[]){__VA_ARGS__}) / sizeof(want)), (want[]){__VA_ARGS__})

/* ---- by hand --------------------------------------------------------------------------------------------------- */

static void pointwise(void **unused) {
  (void)unused;
  const double inf = (double)INFINITY;
  int32_t x = input("x", "f16[4,100]", 1), whole = input("whole", "f16[4,128]", 1);
  int32_t r = unary(TESELA_FN_RELU, x, 1), e = unary(TESELA_FN_EXP, x, 1), n = unary(TESELA_FN_NEG, e, 1);
  int32_t three = scalar(3), s = binary(TESELA_FN_ADD, n, three, 1), w = unary(TESELA_FN_EXP, whole, 1);
  int32_t bias = input("bias", "f16[100]", 0), b = binary(TESELA_FN_ADD, r, bias, 1);
  int32_t column = input("column", "f16[4,1]", TESELA_STICK_SPARSE), c = binary(TESELA_FN_MUL, r, column, 1);
  tesela_padding_fill fill[4] = {
      {TESELA_PAD_MINUS_INF, 0}, {0}, {TESELA_PAD_VALUE, 1.5}, {TESELA_PAD_ZERO, 0}};
  look(fill, leave);
  holds(x, -inf);
  holds(r, 0);
  holds(e, 0);
  holds(n, -0.0);
  holds(s, 3); /* -0 + 3 */
  holds(b, 1.5);
  is(c, TESELA_PADDING_GARBAGE); /* 0 times an element, which may be infinite */
  is(w, TESELA_PADDING_NONE);
  is(whole, TESELA_PADDING_NONE);
  is(-1, TESELA_PADDING_GARBAGE);
  holds(column, 0); /* lanes 1 to 63 of one element per stick, as they were filled */
  look(NULL, leave);
  is(x, TESELA_PADDING_GARBAGE);
  is(e, TESELA_PADDING_GARBAGE);
  fill[0] = (tesela_padding_fill){TESELA_PAD_VALUE, 2};
  look(fill, leave);
  is(e, TESELA_PADDING_GARBAGE); /* e squared as an accelerator has it is not known */
  holds(r, 2);
}

static void select_and_integers(void **unused) {
  (void)unused;
  int32_t x = input("x", "s32[4,40]", 1), y = input("y", "s32[4,40]", 1);
  int32_t p = binary(TESELA_FN_MUL, x, y, 1), zero = binary(TESELA_FN_MUL, p, y, 1);
  int32_t less = add(
      (tesela_node_spec){.op = TESELA_OP_POINTWISE, .fn = TESELA_FN_LT, .dtype = TESELA_S32, NODES(x, x)}, 1);
  int32_t s =
      add((tesela_node_spec){.op = TESELA_OP_POINTWISE, .fn = TESELA_FN_SELECT, NODES(less, y, x)}, 1);
  int32_t m = reduce(TESELA_FN_MAX, y, 1, TESELA_STICK_SPARSE),
          l = reduce(TESELA_FN_MIN, y, 1, TESELA_STICK_SPARSE);
  tesela_padding_fill fill[2] = {{TESELA_PAD_ZERO, 0}, {TESELA_PAD_LEAVE, 0}};
  look(fill, leave);
  holds(p, 0); /* an integer times 0 is 0 */
  holds(zero, 0);
  holds(less, 0);
  holds(s, 0); /* 0 < 0 is false: x */
  fill[1].pad = TESELA_PAD_MINUS_INF;
  look(fill, leave);
  holds(y, -2147483648.0);
  assert_int_equal(tesela_padding_state_of(padding, y).whole, INT32_MIN);
  READS({m, 0, 1, 40, 64, -2147483648.0, TESELA_PADDING_VALUE, TESELA_PADDING_FINE},
        {l, 0, 1, 40, 64, 2147483647.0, TESELA_PADDING_VALUE, TESELA_PADDING_FILL});
}

/* The sum of exp of garbage, as in attention: each step of it. */
static void softmax(void **unused) {
  (void)unused;
  const double inf = (double)INFINITY;
  int32_t x = input("x", "f16[4,100]", 1);
  int32_t m =
      add((tesela_node_spec){.op = TESELA_OP_REDUCE, .fn = TESELA_FN_MAX, NODES(x), DIMS(1), .keepdim = true},
          TESELA_STICK_SPARSE);
  int32_t e = unary(TESELA_FN_EXP, x, 1), z = reduce(TESELA_FN_SUM, e, 1, TESELA_STICK_SPARSE);
  int32_t mean = reduce(TESELA_FN_MEAN, x, 1, TESELA_STICK_SPARSE),
          p = reduce(TESELA_FN_PROD, e, 1, TESELA_STICK_SPARSE);
  look(NULL, leave);
  READS({m, 0, 1, 100, 128, -inf, TESELA_PADDING_GARBAGE, TESELA_PADDING_FILL},
        {z, 0, 1, 100, 128, 0, TESELA_PADDING_GARBAGE, TESELA_PADDING_FILL},
        {mean, 0, 1, 100, 128, (double)NAN, TESELA_PADDING_GARBAGE, TESELA_PADDING_MASK},
        {p, 0, 1, 100, 128, 1, TESELA_PADDING_GARBAGE, TESELA_PADDING_FILL});
  look(FILL(MINUS_INF), leave);
  READS({m, 0, 1, 100, 128, -inf, TESELA_PADDING_VALUE, TESELA_PADDING_FINE},
        {z, 0, 1, 100, 128, 0, TESELA_PADDING_VALUE, TESELA_PADDING_FINE},
        {mean, 0, 1, 100, 128, (double)NAN, TESELA_PADDING_VALUE, TESELA_PADDING_MASK},
        {p, 0, 1, 100, 128, 1, TESELA_PADDING_VALUE, TESELA_PADDING_FILL});
  look(FILL(ZERO), leave);
  assert_int_equal(tesela_padding_read_at(padding, 3)->verdict, TESELA_PADDING_FINE); /* exp(0) is 1 */
  tesela_padding_fill found[1];
  int32_t fine;
  OK(tesela_padding_suggest(padding, found, &fine, &e_));
  assert_int_equal(found[0].pad, TESELA_PAD_MINUS_INF);
  assert_int_equal(fine, 2);
  OK(tesela_padding_suggest(padding, found, NULL, &e_));
}

/* Rows of y beyond the sum are no places: x is masked. In tiles there are some. */
static void matmul(void **unused) {
  (void)unused;
  tesela_padding_fill zeros[2] = {{TESELA_PAD_ZERO, 0}, {TESELA_PAD_ZERO, 0}}, found[2];
  int32_t fine, x = input("x", "f16[4,100]", 1), y = input("y", "f16[100,70]", 1);
  int32_t r = add((tesela_node_spec){.op = TESELA_OP_MATMUL, NODES(x, y)}, 1);
  look(zeros, leave);
  READS({r, 0, 1, 100, 128, 0, TESELA_PADDING_VALUE, TESELA_PADDING_MASK},
        {r, 1, 0, 100, 128, 0, TESELA_PADDING_OUTSIDE, TESELA_PADDING_MASK});
  is(r, TESELA_PADDING_GARBAGE);
  target = tesela_target_find("tiles");
  build_lay_out(graph, target, x, 1);
  build_lay_out(graph, target, y, 1);
  build_lay_out(graph, target, r, 1);
  look(zeros, leave);
  READS({r, 0, 1, 100, 128, 0, TESELA_PADDING_VALUE, TESELA_PADDING_FINE},
        {r, 1, 0, 100, 128, 0, TESELA_PADDING_VALUE, TESELA_PADDING_FINE});
  zeros[1].pad = TESELA_PAD_LEAVE; /* 0 times garbage may be NaN */
  look(zeros, leave);
  READS({r, 0, 1, 100, 128, 0, TESELA_PADDING_VALUE, TESELA_PADDING_FINE},
        {r, 1, 0, 100, 128, 0, TESELA_PADDING_GARBAGE, TESELA_PADDING_FILL});
  zeros[1] = (tesela_padding_fill){TESELA_PAD_PLUS_INF, 0};
  look(zeros, leave);
  assert_int_equal(tesela_padding_read_at(padding, 1)->verdict, TESELA_PADDING_FILL);
  zeros[1] = (tesela_padding_fill){TESELA_PAD_VALUE, 7}; /* finite */
  look(zeros, leave);
  assert_int_equal(tesela_padding_read_at(padding, 1)->verdict, TESELA_PADDING_FINE);
  look(NULL, leave);
  OK(tesela_padding_suggest(padding, found, &fine, &e_));
  assert_int_equal(fine, 2);
  assert_int_equal(found[0].pad, TESELA_PAD_ZERO);
  assert_int_equal(found[1].pad, TESELA_PAD_ZERO);
}

/* A view that ends inside a stick: elements lie behind it. */
static void views(void **unused) {
  (void)unused;
  int32_t x = input("x", "f16[4,100]", 1);
  int64_t start[2] = {0, 0}, length[2] = {4, 70}, half[2] = {4, 64}, step[2] = {1, 1};
  int32_t part = add(
      (tesela_node_spec){.op = TESELA_OP_SLICE, NODES(x), .start = start, .length = length, .step = step}, 0);
  int32_t stick = add(
      (tesela_node_spec){.op = TESELA_OP_SLICE, NODES(x), .start = start, .length = half, .step = step}, 0);
  start[1] = 64, length[1] = 36;
  int32_t tail = add(
      (tesela_node_spec){.op = TESELA_OP_SLICE, NODES(x), .start = start, .length = length, .step = step}, 0);
  int32_t turned = add((tesela_node_spec){.op = TESELA_OP_PERMUTE, NODES(x), DIMS(1, 0)}, 0);
  int32_t a = unary(TESELA_FN_RELU, part, 1), b = unary(TESELA_FN_RELU, tail, 1),
          c = unary(TESELA_FN_RELU, turned, 0);
  int32_t sum_part = reduce(TESELA_FN_SUM, part, 1, TESELA_STICK_SPARSE);
  (void)reduce(TESELA_FN_SUM, stick, 1, TESELA_STICK_SPARSE);
  int32_t sum_tail = reduce(TESELA_FN_SUM, tail, 1, TESELA_STICK_SPARSE);
  int32_t sum_turned = reduce(TESELA_FN_SUM, turned, 0, TESELA_STICK_SPARSE);
  (void)reduce(TESELA_FN_SUM, turned, 1, 0); /* over rows */
  look(FILL(ZERO), leave);
  is(a, TESELA_PADDING_GARBAGE);
  holds(b, 0);
  holds(c, 0);
  READS({sum_part, 0, 1, 70, 128, 0, TESELA_PADDING_ELEMENTS, TESELA_PADDING_MASK},
        {sum_tail, 0, 1, 36, 64, 0, TESELA_PADDING_VALUE, TESELA_PADDING_FINE},
        {sum_turned, 0, 0, 100, 128, 0, TESELA_PADDING_VALUE, TESELA_PADDING_FINE});
}

static void copies(void **unused) {
  (void)unused;
  int32_t x = input("x", "f16[4,100]", 1), y = input("y", "f16[2,100]", 1);
  int32_t m = add((tesela_node_spec){.op = TESELA_OP_MOVE, NODES(x)}, 0),
          c = add((tesela_node_spec){.op = TESELA_OP_CLONE, NODES(x)}, 1);
  int32_t cat = add((tesela_node_spec){.op = TESELA_OP_CAT, NODES(x, y), DIMS(0)}, 1);
  int64_t none[2] = {0, 0}, one[2] = {1, 1}, more[2] = {3, 0}, down[2] = {1, 0};
  int32_t pad = add(
      (tesela_node_spec){.op = TESELA_OP_PAD, NODES(x), .low = none, .high = more, .step = one, .value = 2},
      1);
  int32_t w = add(
      (tesela_node_spec){.op = TESELA_OP_WRITE, NODES(x, y), .start = down, .step = one, .in_place = true},
      1);
  (void)w;
  int64_t less[2] = {0, -10};
  int32_t cut = add(
      (tesela_node_spec){.op = TESELA_OP_PAD, NODES(y), .low = none, .high = less, .step = one, .value = 2},
      1);
  int64_t most[2] = {2, 70};
  int32_t part =
      add((tesela_node_spec){.op = TESELA_OP_SLICE, NODES(y), .start = none, .length = most, .step = one}, 1);
  int32_t below = add(
      (tesela_node_spec){
          .op = TESELA_OP_PAD, NODES(part), .low = none, .high = more, .step = one, .value = 2},
      1);
  int32_t rows = input("rows", "s32[40]", 0), zero = add((tesela_node_spec){.op = TESELA_OP_CONSTANT,
                                                                            .dtype = TESELA_F16,
                                                                            .rank = 2,
                                                                            .shape = (int64_t[]){5, 64}},
                                                         1);
  int32_t found = add((tesela_node_spec){.op = TESELA_OP_GATHER, NODES(zero, rows), DIMS(0)}, 0);
  int32_t taken = add((tesela_node_spec){.op = TESELA_OP_GATHER, NODES(y, rows), DIMS(0)}, 1);
  tesela_padding_fill fill[3] = {{TESELA_PAD_VALUE, 2}, {TESELA_PAD_VALUE, 2}, {TESELA_PAD_ZERO, 0}};
  look(fill, (tesela_padding_fill){TESELA_PAD_PLUS_INF, 0});
  holds(m, (double)INFINITY);
  holds(c, (double)INFINITY);
  holds(cat, 2);
  holds(pad, 2);
  holds(w, 2);
  is(cut, TESELA_PADDING_GARBAGE);   /* columns 90 to 99 of y are there */
  is(below, TESELA_PADDING_GARBAGE); /* columns 70 to 99 */
  is(found, TESELA_PADDING_GARBAGE); /* what rows holds behind its end may be no row */
  holds(taken, 2);
  fill[0].value = 0, fill[1].value = -0.0; /* other bits */
  look(fill, leave);
  is(cat, TESELA_PADDING_GARBAGE);
  fill[0].value = 2, fill[1].value = 3;
  look(fill, leave);
  is(m, TESELA_PADDING_GARBAGE);
  is(cat, TESELA_PADDING_GARBAGE);
  is(w, TESELA_PADDING_GARBAGE);
  holds(x, 2); /* what x held before it was written to */
}

/* Tiles have padding below and beside the elements: what is repeated along one of them is an element there. */
static void corners(void **unused) {
  (void)unused;
  target = tesela_target_find("tiles");
  int32_t x = input("x", "f16[4,5]", 1);
  int32_t three = add(
      (tesela_node_spec){
          .op = TESELA_OP_CONSTANT, .dtype = TESELA_F16, .rank = 2, .shape = (int64_t[]){1, 5}, .value = 3},
      1);
  int32_t moved = add((tesela_node_spec){.op = TESELA_OP_MOVE, NODES(three)}, 1);
  int32_t s = binary(TESELA_FN_ADD, x, moved, 1), t = binary(TESELA_FN_ADD, x, three, 1);
  look(FILL(ZERO), (tesela_padding_fill){TESELA_PAD_VALUE, 1});
  holds(moved, 1);
  holds(t, 3);
  is(s, TESELA_PADDING_GARBAGE); /* 3 below, 1 beside */
  look(FILL(ZERO), (tesela_padding_fill){TESELA_PAD_VALUE, 3});
  holds(s, 3);
}

/* Rows of a result that are padding: a window there may be in the operand's padding. */
static void window(void **unused) {
  (void)unused;
  int64_t shape[4] = {1, 32, 5, 5};
  int32_t order[4] = {0, 2, 3, 1};
  int32_t zero =
      add((tesela_node_spec){.op = TESELA_OP_CONSTANT, .dtype = TESELA_S32, .rank = 4, .shape = shape}, 1);
  int32_t x = add((tesela_node_spec){.op = TESELA_OP_MOVE, NODES(zero)}, 1),
          w = input("w", "s32[32,32,3,3]", 0), r;
  tesela_node_spec spec = {.op = TESELA_OP_CONV2D, NODES(x, w)};
  for (int32_t i = 0; i < 4; i++) spec.conv.x[i] = spec.conv.w[i] = spec.conv.result[i] = i;
  for (int32_t i = 0; i < 2; i++) spec.conv.stride[i] = spec.conv.dilation[i] = 1;
  r = add(spec, 1);
  look(NULL, leave);
  is(r, TESELA_PADDING_NONE);
  tesela_device_layout layout = *tesela_graph_node(graph, r)->layout;
  tesela_device_host host = layout.host;
  tesela_device_padding padded = {.to = {0, 0, 4, 0}};
  OK(tesela_device_from_order(&layout, &host, target->order, target, 4, order, &padded, &e_));
  OK(tesela_graph_set_layout(graph, r, &layout, &e_));
  look(NULL, leave);
  is(r, TESELA_PADDING_GARBAGE);
  assert_null(tesela_padding_read_at(padding, 0));
}

/* Types that are stored as others. */
static void stored_types(void **unused) {
  (void)unused;
  int32_t long_ = input("long", "s64[40]", 0), byte = input("byte", "u8[40]", 0),
          flag = input("flag", "pred[40]", 0);
  int32_t brain = input("brain", "bf16[40]", 0), eight = input("eight", "f8e4m3fn[40]", 0);
  int32_t top = reduce(TESELA_FN_MAX, long_, 0, TESELA_STICK_SPARSE);
  int32_t eights = reduce(TESELA_FN_SUM, eight, 0, TESELA_STICK_SPARSE),
          most = reduce(TESELA_FN_MAX, eight, 0, TESELA_STICK_SPARSE);
  tesela_padding_fill fill[5] = {{TESELA_PAD_MINUS_INF, 0},
                                 {TESELA_PAD_PLUS_INF, 0},
                                 {TESELA_PAD_PLUS_INF, 0},
                                 {TESELA_PAD_PLUS_INF, 0},
                                 {TESELA_PAD_ZERO, 0}};
  look(fill, leave);
  holds(long_, -2147483648.0); /* of s32, in which it is stored */
  READS({top, 0, 0, 40, 64, -2147483648.0, TESELA_PADDING_VALUE, TESELA_PADDING_FINE},
        {eights, 0, 0, 40, 128, 0, TESELA_PADDING_GARBAGE, TESELA_PADDING_FILL},
        {most, 0, 0, 40, 128, (double)NAN, TESELA_PADDING_GARBAGE, TESELA_PADDING_MASK});
  is(byte, TESELA_PADDING_GARBAGE); /* the greatest u32 is no u8 */
  is(flag, TESELA_PADDING_GARBAGE);
  holds(brain, (double)INFINITY);
  is(eight, TESELA_PADDING_GARBAGE); /* not computed with */
  fill[0] = (tesela_padding_fill){TESELA_PAD_VALUE, 3e9};
  tesela_padding *none = NULL;
  tesela_error err = {.message = ""};
  assert_int_equal(tesela_graph_padding(&none, graph, &(tesela_padding_options){.input = fill}, &err),
                   TESELA_E_RANGE);
  assert_non_null(strstr(err.message, "s32"));
  fill[0] = (tesela_padding_fill){(tesela_pad)9, 0};
  assert_int_equal(tesela_graph_padding(&none, graph, &(tesela_padding_options){.input = fill}, NULL),
                   TESELA_E_RANGE);
  fill[0] = (tesela_padding_fill){TESELA_PAD_VALUE, (double)NAN};
  assert_int_equal(tesela_graph_padding(&none, graph, &(tesela_padding_options){.input = fill}, NULL),
                   TESELA_E_RANGE);
  fill[0] = (tesela_padding_fill){TESELA_PAD_VALUE, 1.5};
  fill[3] = (tesela_padding_fill){TESELA_PAD_VALUE, (double)NAN};
  look(fill, leave);
  is(long_, TESELA_PADDING_GARBAGE);
  is(brain, TESELA_PADDING_GARBAGE);
  assert_null(none);
}

static void refusals(void **unused) {
  (void)unused;
  tesela_padding *none = NULL;
  tesela_error err = {.message = ""};
  (void)build_input(graph, "bare", "f16[3]");
  assert_int_equal(tesela_graph_padding(&none, graph, NULL, &err), TESELA_E_INVALID);
  assert_non_null(strstr(err.message, "bare has no layout"));
  assert_int_equal(tesela_graph_padding(&none, graph, NULL, NULL), TESELA_E_INVALID);
  assert_null(none);
  tesela_padding_destroy(NULL);
  tesela_graph *empty;
  OK(tesela_graph_create(&empty, NULL, &e_));
  OK(tesela_graph_padding(&none, empty, NULL, &e_));
  assert_null(tesela_padding_read_at(none, 0));
  OK(tesela_padding_suggest(none, NULL, NULL, &e_));
  tesela_padding_destroy(none);
  tesela_graph_destroy(empty);
}

/* Rank 0, an extent of 0, dims of 1. */
static void small(void **unused) {
  (void)unused;
  int32_t empty = input("empty", "f16[0,100]", 1), one = input("one", "f16[4,1]", 1),
          point = input("point", "f16[]", -1);
  int32_t s = reduce(TESELA_FN_SUM, one, 1, TESELA_STICK_SPARSE), e = unary(TESELA_FN_EXP, empty, 1);
  int32_t two = scalar(2), four = binary(TESELA_FN_ADD, two, two, TESELA_STICK_SPARSE);
  tesela_padding_fill fill[3] = {{TESELA_PAD_ZERO, 0}, {TESELA_PAD_ZERO, 0}, {TESELA_PAD_ZERO, 0}};
  look(fill, leave);
  READS({s, 0, 1, 1, 64, 0, TESELA_PADDING_VALUE, TESELA_PADDING_FINE});
  assert_true(tesela_padding_state_of(padding, e).kind != TESELA_PADDING_VALUE);
  holds(point, 0);
  holds(two, 2);
  is(four, TESELA_PADDING_GARBAGE);
}

/* ---- failing allocations ---------------------------------------------------------------------------------------- */

typedef struct budget {
  int64_t left, live;
} budget;

static void *take(void *user, size_t size, size_t align) {
  budget *b = user;
  if (b->left-- <= 0) return NULL;
  b->live++;
  return aligned_alloc(align, (size + align - 1) / align * align);
}
static void give(void *user, void *memory) {
  ((budget *)user)->live--;
  free(memory);
}

static void no_memory(void **unused) {
  (void)unused;
  int32_t x = input("x", "f16[4,100]", 1);
  for (int32_t k = 0; k < 20; k++) (void)reduce(TESELA_FN_SUM, x, 1, TESELA_STICK_SPARSE);
  int64_t failures = 0;
  for (int64_t allowed = 0;; allowed++) {
    budget b = {.left = allowed};
    tesela_allocator allocator = {.alloc = take, .release = give, .user = &b};
    tesela_padding *made = NULL;
    tesela_padding_fill fill[1];
    int32_t fine = -1;
    tesela_status status =
        tesela_graph_padding(&made, graph, &(tesela_padding_options){.allocator = &allocator}, NULL);
    if (status == TESELA_OK) {
      status = tesela_padding_suggest(made, fill, &fine, NULL);
      assert_int_equal(fine, status == TESELA_OK ? 20 : -1);
    } else {
      assert_null(made);
    }
    tesela_padding_destroy(made);
    assert_int_equal(b.live, 0);
    if (status == TESELA_OK) break;
    assert_int_equal(status, TESELA_E_MEMORY);
    failures++;
  }
  assert_true(failures > 8);
}

/* ---- random ------------------------------------------------------------------------------------------------------ */

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

/* Fills of inputs: those of types that the oracle has not are left or 0. */
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
    OK(tesela_padding_suggest(p, found, &fine, &e_)); /* it holds what it promises, and is no worse */
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
  static const tesela_op ops[] = {TESELA_OP_POINTWISE, TESELA_OP_REDUCE,   TESELA_OP_MATMUL,
                                  TESELA_OP_CONV2D,    TESELA_OP_GATHER,   TESELA_OP_SCATTER,
                                  TESELA_OP_CAT,       TESELA_OP_PAD,      TESELA_OP_WRITE,
                                  TESELA_OP_CLONE,     TESELA_OP_CONSTANT, TESELA_OP_REDUCE};
  tally t = {0};
  for (uint64_t number = 0; number < 1000; number++) {
    uint64_t state = (seed + number) * 0x9e3779b97f4a7c15u | 1;
    random_program p;
    if (random_program_of(&p, &state, ops[number % 12], number / 12 % 2 ? TESELA_S32 : TESELA_F64))
      check_program(p.graph, &p.target, &state, number, &t);
    random_program_free(&p);
  }
  print_message("%" PRId64 " runs, %" PRId64 " places of known padding, %" PRId64 " results known, %" PRId64
                " reads (%" PRId64 " fine, %" PRId64 " fill, %" PRId64 " mask), %" PRId64 " folds compared\n",
                t.programs, t.known, t.values, t.reads, t.verdict[0], t.verdict[1], t.verdict[2], t.fine);
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
  for (uint64_t number = 0; number < 600; number++) {
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
  assert_true(t.programs > 2000 && t.known > 10000 && t.fine > 500 && t.values > 1000);
}

int main(void) {
  const char *given = getenv("TESELA_SEED");
  seed = given ? strtoull(given, NULL, 10) : (uint64_t)time(NULL);
  printf("TESELA_SEED=%" PRIu64 "\n", seed);
#define CASE(name) cmocka_unit_test_setup_teardown(name, begin, end)
  const struct CMUnitTest tests[] = {
      CASE(pointwise), CASE(select_and_integers), CASE(softmax),      CASE(matmul), CASE(views),
      CASE(copies),    CASE(stored_types),        CASE(corners),      CASE(window), CASE(refusals),
      CASE(small),     CASE(no_memory),           CASE(one_operator), CASE(chains),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
