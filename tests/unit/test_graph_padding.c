/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_graph_padding.c - what padding holds: pointwise, folds, products, views and copies, with every
 * answer by hand.
 */
#include "support_padding.h"

static void pointwise(void **unused) {
  (void)unused;
  const double inf = (double)INFINITY;
  int32_t x = pad_input("x", "f16[4,100]", 1), whole = pad_input("whole", "f16[4,128]", 1);
  int32_t r = pad_unary(TESELA_FN_RELU, x, 1), e = pad_unary(TESELA_FN_EXP, x, 1),
          n = pad_unary(TESELA_FN_NEG, e, 1);
  int32_t three = pad_scalar(3), s = pad_binary(TESELA_FN_ADD, n, three, 1),
          w = pad_unary(TESELA_FN_EXP, whole, 1);
  int32_t bias = pad_input("bias", "f16[100]", 0), b = pad_binary(TESELA_FN_ADD, r, bias, 1);
  int32_t column = pad_input("column", "f16[4,1]", TESELA_STICK_SPARSE),
          c = pad_binary(TESELA_FN_MUL, r, column, 1);
  tesela_padding_fill fill[4] = {
      {TESELA_PAD_MINUS_INF, 0}, {0}, {TESELA_PAD_VALUE, 1.5}, {TESELA_PAD_ZERO, 0}};
  pad_look(fill, pad_leave);
  pad_holds(x, -inf);
  pad_holds(r, 0);
  pad_holds(e, 0);
  pad_holds(n, -0.0);
  pad_holds(s, 3); /* -0 + 3 */
  pad_holds(b, 1.5);
  pad_is(c, TESELA_PADDING_GARBAGE); /* 0 times an element, which may be infinite */
  pad_is(w, TESELA_PADDING_NONE);
  pad_is(whole, TESELA_PADDING_NONE);
  pad_is(-1, TESELA_PADDING_GARBAGE);
  pad_holds(column, 0); /* lanes 1 to 63 of one element per stick, as they were filled */
  pad_look(NULL, pad_leave);
  pad_is(x, TESELA_PADDING_GARBAGE);
  pad_is(e, TESELA_PADDING_GARBAGE);
  fill[0] = (tesela_padding_fill){TESELA_PAD_VALUE, 2};
  pad_look(fill, pad_leave);
  pad_is(e, TESELA_PADDING_GARBAGE); /* e squared as an accelerator has it is not known */
  pad_holds(r, 2);
}

static void select_and_integers(void **unused) {
  (void)unused;
  int32_t x = pad_input("x", "s32[4,40]", 1), y = pad_input("y", "s32[4,40]", 1);
  int32_t p = pad_binary(TESELA_FN_MUL, x, y, 1), zero = pad_binary(TESELA_FN_MUL, p, y, 1);
  int32_t less = pad_add(
      (tesela_node_spec){.op = TESELA_OP_POINTWISE, .fn = TESELA_FN_LT, .dtype = TESELA_S32, NODES(x, x)}, 1);
  int32_t s =
      pad_add((tesela_node_spec){.op = TESELA_OP_POINTWISE, .fn = TESELA_FN_SELECT, NODES(less, y, x)}, 1);
  int32_t m = pad_reduce(TESELA_FN_MAX, y, 1, TESELA_STICK_SPARSE),
          l = pad_reduce(TESELA_FN_MIN, y, 1, TESELA_STICK_SPARSE);
  tesela_padding_fill fill[2] = {{TESELA_PAD_ZERO, 0}, {TESELA_PAD_LEAVE, 0}};
  pad_look(fill, pad_leave);
  pad_holds(p, 0); /* an integer times 0 is 0 */
  pad_holds(zero, 0);
  pad_holds(less, 0);
  pad_holds(s, 0); /* 0 < 0 is false: x */
  fill[1].pad = TESELA_PAD_MINUS_INF;
  pad_look(fill, pad_leave);
  pad_holds(y, -2147483648.0);
  assert_int_equal(tesela_padding_state_of(pad_padding, y).whole, INT32_MIN);
  READS({m, 0, 1, 40, 64, -2147483648.0, TESELA_PADDING_VALUE, TESELA_PADDING_FINE},
        {l, 0, 1, 40, 64, 2147483647.0, TESELA_PADDING_VALUE, TESELA_PADDING_FILL});
}

/* The sum of exp of garbage, as in attention: each step of it. */
static void softmax(void **unused) {
  (void)unused;
  const double inf = (double)INFINITY;
  int32_t x = pad_input("x", "f16[4,100]", 1);
  int32_t m = pad_add(
      (tesela_node_spec){.op = TESELA_OP_REDUCE, .fn = TESELA_FN_MAX, NODES(x), DIMS(1), .keepdim = true},
      TESELA_STICK_SPARSE);
  int32_t e = pad_unary(TESELA_FN_EXP, x, 1), z = pad_reduce(TESELA_FN_SUM, e, 1, TESELA_STICK_SPARSE);
  int32_t mean = pad_reduce(TESELA_FN_MEAN, x, 1, TESELA_STICK_SPARSE),
          p = pad_reduce(TESELA_FN_PROD, e, 1, TESELA_STICK_SPARSE);
  pad_look(NULL, pad_leave);
  READS({m, 0, 1, 100, 128, -inf, TESELA_PADDING_GARBAGE, TESELA_PADDING_FILL},
        {z, 0, 1, 100, 128, 0, TESELA_PADDING_GARBAGE, TESELA_PADDING_FILL},
        {mean, 0, 1, 100, 128, (double)NAN, TESELA_PADDING_GARBAGE, TESELA_PADDING_MASK},
        {p, 0, 1, 100, 128, 1, TESELA_PADDING_GARBAGE, TESELA_PADDING_FILL});
  pad_look(FILL(MINUS_INF), pad_leave);
  READS({m, 0, 1, 100, 128, -inf, TESELA_PADDING_VALUE, TESELA_PADDING_FINE},
        {z, 0, 1, 100, 128, 0, TESELA_PADDING_VALUE, TESELA_PADDING_FINE},
        {mean, 0, 1, 100, 128, (double)NAN, TESELA_PADDING_VALUE, TESELA_PADDING_MASK},
        {p, 0, 1, 100, 128, 1, TESELA_PADDING_VALUE, TESELA_PADDING_FILL});
  pad_look(FILL(ZERO), pad_leave);
  assert_int_equal(tesela_padding_read_at(pad_padding, 3)->verdict, TESELA_PADDING_FINE); /* exp(0) is 1 */
  tesela_padding_fill found[1];
  int32_t fine;
  OK(tesela_padding_suggest(pad_padding, found, &fine, &e_));
  assert_int_equal(found[0].pad, TESELA_PAD_MINUS_INF);
  assert_int_equal(fine, 2);
  OK(tesela_padding_suggest(pad_padding, found, NULL, &e_));
}

/* Rows of y beyond the sum have no places: x is masked. In tiles there are some. */
static void matmul(void **unused) {
  (void)unused;
  tesela_padding_fill zeros[2] = {{TESELA_PAD_ZERO, 0}, {TESELA_PAD_ZERO, 0}}, found[2];
  int32_t fine, x = pad_input("x", "f16[4,100]", 1), y = pad_input("y", "f16[100,70]", 1);
  int32_t r = pad_add((tesela_node_spec){.op = TESELA_OP_MATMUL, NODES(x, y)}, 1);
  pad_look(zeros, pad_leave);
  READS({r, 0, 1, 100, 128, 0, TESELA_PADDING_VALUE, TESELA_PADDING_MASK},
        {r, 1, 0, 100, 128, 0, TESELA_PADDING_OUTSIDE, TESELA_PADDING_MASK});
  pad_is(r, TESELA_PADDING_GARBAGE);
  pad_target = tesela_target_find("tiles");
  build_lay_out(pad_graph, pad_target, x, 1);
  build_lay_out(pad_graph, pad_target, y, 1);
  build_lay_out(pad_graph, pad_target, r, 1);
  pad_look(zeros, pad_leave);
  READS({r, 0, 1, 100, 128, 0, TESELA_PADDING_VALUE, TESELA_PADDING_FINE},
        {r, 1, 0, 100, 128, 0, TESELA_PADDING_VALUE, TESELA_PADDING_FINE});
  zeros[1].pad = TESELA_PAD_LEAVE; /* 0 times garbage may be NaN */
  pad_look(zeros, pad_leave);
  READS({r, 0, 1, 100, 128, 0, TESELA_PADDING_VALUE, TESELA_PADDING_FINE},
        {r, 1, 0, 100, 128, 0, TESELA_PADDING_GARBAGE, TESELA_PADDING_FILL});
  zeros[1] = (tesela_padding_fill){TESELA_PAD_PLUS_INF, 0};
  pad_look(zeros, pad_leave);
  assert_int_equal(tesela_padding_read_at(pad_padding, 1)->verdict, TESELA_PADDING_FILL);
  zeros[1] = (tesela_padding_fill){TESELA_PAD_VALUE, 7}; /* finite */
  pad_look(zeros, pad_leave);
  assert_int_equal(tesela_padding_read_at(pad_padding, 1)->verdict, TESELA_PADDING_FINE);
  pad_look(NULL, pad_leave);
  OK(tesela_padding_suggest(pad_padding, found, &fine, &e_));
  assert_int_equal(fine, 2);
  assert_int_equal(found[0].pad, TESELA_PAD_ZERO);
  assert_int_equal(found[1].pad, TESELA_PAD_ZERO);
}

/* A view that ends inside a stick: elements lie after it. */
static void views(void **unused) {
  (void)unused;
  int32_t x = pad_input("x", "f16[4,100]", 1);
  int64_t start[2] = {0, 0}, length[2] = {4, 70}, half[2] = {4, 64}, step[2] = {1, 1};
  int32_t part = pad_add(
      (tesela_node_spec){.op = TESELA_OP_SLICE, NODES(x), .start = start, .length = length, .step = step}, 0);
  int32_t stick = pad_add(
      (tesela_node_spec){.op = TESELA_OP_SLICE, NODES(x), .start = start, .length = half, .step = step}, 0);
  start[1] = 64, length[1] = 36;
  int32_t tail = pad_add(
      (tesela_node_spec){.op = TESELA_OP_SLICE, NODES(x), .start = start, .length = length, .step = step}, 0);
  int32_t turned = pad_add((tesela_node_spec){.op = TESELA_OP_PERMUTE, NODES(x), DIMS(1, 0)}, 0);
  int32_t a = pad_unary(TESELA_FN_RELU, part, 1), b = pad_unary(TESELA_FN_RELU, tail, 1),
          c = pad_unary(TESELA_FN_RELU, turned, 0);
  int32_t sum_part = pad_reduce(TESELA_FN_SUM, part, 1, TESELA_STICK_SPARSE);
  (void)pad_reduce(TESELA_FN_SUM, stick, 1, TESELA_STICK_SPARSE);
  int32_t sum_tail = pad_reduce(TESELA_FN_SUM, tail, 1, TESELA_STICK_SPARSE);
  int32_t sum_turned = pad_reduce(TESELA_FN_SUM, turned, 0, TESELA_STICK_SPARSE);
  (void)pad_reduce(TESELA_FN_SUM, turned, 1, 0); /* over rows */
  pad_look(FILL(ZERO), pad_leave);
  pad_is(a, TESELA_PADDING_GARBAGE);
  pad_holds(b, 0);
  pad_holds(c, 0);
  READS({sum_part, 0, 1, 70, 128, 0, TESELA_PADDING_ELEMENTS, TESELA_PADDING_MASK},
        {sum_tail, 0, 1, 36, 64, 0, TESELA_PADDING_VALUE, TESELA_PADDING_FINE},
        {sum_turned, 0, 0, 100, 128, 0, TESELA_PADDING_VALUE, TESELA_PADDING_FINE});
}

static void copies(void **unused) {
  (void)unused;
  int32_t x = pad_input("x", "f16[4,100]", 1), y = pad_input("y", "f16[2,100]", 1);
  int32_t m = pad_add((tesela_node_spec){.op = TESELA_OP_MOVE, NODES(x)}, 0),
          c = pad_add((tesela_node_spec){.op = TESELA_OP_CLONE, NODES(x)}, 1);
  int32_t cat = pad_add((tesela_node_spec){.op = TESELA_OP_CAT, NODES(x, y), DIMS(0)}, 1);
  int64_t none[2] = {0, 0}, one[2] = {1, 1}, more[2] = {3, 0}, down[2] = {1, 0};
  int32_t pad = pad_add(
      (tesela_node_spec){.op = TESELA_OP_PAD, NODES(x), .low = none, .high = more, .step = one, .value = 2},
      1);
  int32_t w = pad_add(
      (tesela_node_spec){.op = TESELA_OP_WRITE, NODES(x, y), .start = down, .step = one, .in_place = true},
      1);
  (void)w;
  int64_t less[2] = {0, -10};
  int32_t cut = pad_add(
      (tesela_node_spec){.op = TESELA_OP_PAD, NODES(y), .low = none, .high = less, .step = one, .value = 2},
      1);
  int64_t most[2] = {2, 70};
  int32_t part = pad_add(
      (tesela_node_spec){.op = TESELA_OP_SLICE, NODES(y), .start = none, .length = most, .step = one}, 1);
  int32_t below = pad_add(
      (tesela_node_spec){
          .op = TESELA_OP_PAD, NODES(part), .low = none, .high = more, .step = one, .value = 2},
      1);
  int32_t rows = pad_input("rows", "s32[40]", 0),
          zero = pad_add(
              (tesela_node_spec){
                  .op = TESELA_OP_CONSTANT, .dtype = TESELA_F16, .rank = 2, .shape = (int64_t[]){5, 64}},
              1);
  int32_t found = pad_add((tesela_node_spec){.op = TESELA_OP_GATHER, NODES(zero, rows), DIMS(0)}, 0);
  int32_t taken = pad_add((tesela_node_spec){.op = TESELA_OP_GATHER, NODES(y, rows), DIMS(0)}, 1);
  tesela_padding_fill fill[3] = {{TESELA_PAD_VALUE, 2}, {TESELA_PAD_VALUE, 2}, {TESELA_PAD_ZERO, 0}};
  pad_look(fill, (tesela_padding_fill){TESELA_PAD_PLUS_INF, 0});
  pad_holds(m, (double)INFINITY);
  pad_holds(c, (double)INFINITY);
  pad_holds(cat, 2);
  pad_holds(pad, 2);
  pad_holds(w, 2);
  pad_is(cut, TESELA_PADDING_GARBAGE);   /* columns 90 to 99 of y are there */
  pad_is(below, TESELA_PADDING_GARBAGE); /* columns 70 to 99 */
  pad_is(found, TESELA_PADDING_GARBAGE); /* the values of rows after its end may not be rows */
  pad_holds(taken, 2);
  fill[0].value = 0, fill[1].value = -0.0; /* other bits */
  pad_look(fill, pad_leave);
  pad_is(cat, TESELA_PADDING_GARBAGE);
  fill[0].value = 2, fill[1].value = 3;
  pad_look(fill, pad_leave);
  pad_is(m, TESELA_PADDING_GARBAGE);
  pad_is(cat, TESELA_PADDING_GARBAGE);
  pad_is(w, TESELA_PADDING_GARBAGE);
  pad_holds(x, 2); /* what x held before it was written to */
}

int main(void) {
#define CASE(name) cmocka_unit_test_setup_teardown(name, pad_begin, pad_end)
  const struct CMUnitTest tests[] = {
      CASE(pointwise), CASE(select_and_integers), CASE(softmax), CASE(matmul), CASE(views), CASE(copies),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
