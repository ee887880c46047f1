/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_graph_padding_limits.c - what padding holds: corners, windows, stored types, refusals, small
 * programs, allocations that fail.
 */
#include "support_fault.h"
#include "support_padding.h"

/* Tiles have padding below and beside the elements: what is repeated along one of them is an element there. */
static void corners(void **unused) {
  (void)unused;
  pad_target = tesela_target_find("tiles");
  int32_t x = pad_input("x", "f16[4,5]", 1);
  int32_t three = pad_add(
      (tesela_node_spec){
          .op = TESELA_OP_CONSTANT, .dtype = TESELA_F16, .rank = 2, .shape = (int64_t[]){1, 5}, .value = 3},
      1);
  int32_t moved = pad_add((tesela_node_spec){.op = TESELA_OP_MOVE, NODES(three)}, 1);
  int32_t s = pad_binary(TESELA_FN_ADD, x, moved, 1), t = pad_binary(TESELA_FN_ADD, x, three, 1);
  pad_look(FILL(ZERO), (tesela_padding_fill){TESELA_PAD_VALUE, 1});
  pad_holds(moved, 1);
  pad_holds(t, 3);
  pad_is(s, TESELA_PADDING_GARBAGE); /* 3 below, 1 beside */
  pad_look(FILL(ZERO), (tesela_padding_fill){TESELA_PAD_VALUE, 3});
  pad_holds(s, 3);
}

/* Rows of a result that are padding: a window there may be in the operand's padding. */
static void window(void **unused) {
  (void)unused;
  int64_t shape[4] = {1, 32, 5, 5};
  int32_t order[4] = {0, 2, 3, 1};
  int32_t zero = pad_add(
      (tesela_node_spec){.op = TESELA_OP_CONSTANT, .dtype = TESELA_S32, .rank = 4, .shape = shape}, 1);
  int32_t x = pad_add((tesela_node_spec){.op = TESELA_OP_MOVE, NODES(zero)}, 1),
          w = pad_input("w", "s32[32,32,3,3]", 0), r;
  tesela_node_spec spec = {.op = TESELA_OP_CONV2D, NODES(x, w)};
  for (int32_t i = 0; i < 4; i++) spec.conv.x[i] = spec.conv.w[i] = spec.conv.result[i] = i;
  for (int32_t i = 0; i < 2; i++) spec.conv.stride[i] = spec.conv.dilation[i] = 1;
  r = pad_add(spec, 1);
  pad_look(NULL, pad_leave);
  pad_is(r, TESELA_PADDING_NONE);
  tesela_device_layout layout = *tesela_graph_node(pad_graph, r)->layout;
  tesela_device_host host = layout.host;
  tesela_device_padding padded = {.to = {0, 0, 4, 0}};
  OK(tesela_device_from_order(&layout, &host, pad_target->order, pad_target, 4, order, &padded, &e_));
  OK(tesela_graph_set_layout(pad_graph, r, &layout, &e_));
  pad_look(NULL, pad_leave);
  pad_is(r, TESELA_PADDING_GARBAGE);
  assert_null(tesela_padding_read_at(pad_padding, 0));
}

/* Types that are stored as others. */
static void stored_types(void **unused) {
  (void)unused;
  int32_t long_ = pad_input("long", "s64[40]", 0), byte = pad_input("byte", "u8[40]", 0),
          flag = pad_input("flag", "pred[40]", 0);
  int32_t brain = pad_input("brain", "bf16[40]", 0), eight = pad_input("eight", "f8e4m3fn[40]", 0);
  int32_t top = pad_reduce(TESELA_FN_MAX, long_, 0, TESELA_STICK_SPARSE);
  int32_t eights = pad_reduce(TESELA_FN_SUM, eight, 0, TESELA_STICK_SPARSE),
          most = pad_reduce(TESELA_FN_MAX, eight, 0, TESELA_STICK_SPARSE);
  tesela_padding_fill fill[5] = {{TESELA_PAD_MINUS_INF, 0},
                                 {TESELA_PAD_PLUS_INF, 0},
                                 {TESELA_PAD_PLUS_INF, 0},
                                 {TESELA_PAD_PLUS_INF, 0},
                                 {TESELA_PAD_ZERO, 0}};
  pad_look(fill, pad_leave);
  pad_holds(long_, -2147483648.0); /* of s32, in which it is stored */
  READS({top, 0, 0, 40, 64, -2147483648.0, TESELA_PADDING_VALUE, TESELA_PADDING_FINE},
        {eights, 0, 0, 40, 128, 0, TESELA_PADDING_VALUE, TESELA_PADDING_FINE},
        {most, 0, 0, 40, 128, -448, TESELA_PADDING_VALUE, TESELA_PADDING_FILL});
  pad_is(byte, TESELA_PADDING_GARBAGE); /* the greatest u32 does not fit u8 */
  pad_is(flag, TESELA_PADDING_GARBAGE);
  pad_holds(brain, (double)INFINITY);
  pad_holds(eight, 0);
  fill[0] = (tesela_padding_fill){TESELA_PAD_VALUE, 3e9};
  tesela_padding *none = NULL;
  tesela_error err = {.message = ""};
  assert_int_equal(tesela_graph_padding(&none, pad_graph, &(tesela_padding_options){.input = fill}, &err),
                   TESELA_E_RANGE);
  assert_non_null(strstr(err.message, "s32"));
  fill[0] = (tesela_padding_fill){(tesela_pad)9, 0};
  assert_int_equal(tesela_graph_padding(&none, pad_graph, &(tesela_padding_options){.input = fill}, NULL),
                   TESELA_E_RANGE);
  fill[0] = (tesela_padding_fill){TESELA_PAD_VALUE, (double)NAN};
  assert_int_equal(tesela_graph_padding(&none, pad_graph, &(tesela_padding_options){.input = fill}, NULL),
                   TESELA_E_RANGE);
  fill[0] = (tesela_padding_fill){TESELA_PAD_VALUE, 1.5};
  fill[3] = (tesela_padding_fill){TESELA_PAD_VALUE, (double)NAN};
  pad_look(fill, pad_leave);
  pad_is(long_, TESELA_PADDING_GARBAGE);
  pad_is(brain, TESELA_PADDING_GARBAGE);
  fill[4] = (tesela_padding_fill){TESELA_PAD_MINUS_INF, 0}; /* of which f8e4m3fn has none */
  pad_look(fill, pad_leave);
  pad_is(eight, TESELA_PADDING_GARBAGE);
  assert_null(none);
}

static void refusals(void **unused) {
  (void)unused;
  tesela_padding *none = NULL;
  tesela_error err = {.message = ""};
  (void)build_input(pad_graph, "bare", "f16[3]");
  assert_int_equal(tesela_graph_padding(&none, pad_graph, NULL, &err), TESELA_E_INVALID);
  assert_non_null(strstr(err.message, "bare has no layout"));
  assert_int_equal(tesela_graph_padding(&none, pad_graph, NULL, NULL), TESELA_E_INVALID);
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
  int32_t empty = pad_input("empty", "f16[0,100]", 1), one = pad_input("one", "f16[4,1]", 1),
          point = pad_input("point", "f16[]", -1);
  int32_t s = pad_reduce(TESELA_FN_SUM, one, 1, TESELA_STICK_SPARSE), e = pad_unary(TESELA_FN_EXP, empty, 1);
  int32_t two = pad_scalar(2), four = pad_binary(TESELA_FN_ADD, two, two, TESELA_STICK_SPARSE);
  tesela_padding_fill fill[3] = {{TESELA_PAD_ZERO, 0}, {TESELA_PAD_ZERO, 0}, {TESELA_PAD_ZERO, 0}};
  pad_look(fill, pad_leave);
  READS({s, 0, 1, 1, 64, 0, TESELA_PADDING_VALUE, TESELA_PADDING_FINE});
  assert_true(tesela_padding_state_of(pad_padding, e).kind != TESELA_PADDING_VALUE);
  pad_holds(point, 0);
  pad_holds(two, 2);
  pad_is(four, TESELA_PADDING_GARBAGE);
}

/* ---- failing allocations ---------------------------------------------------------------------------------------- */

static void no_memory(void **unused) {
  (void)unused;
  int32_t x = pad_input("x", "f16[4,100]", 1);
  for (int32_t k = 0; k < 20; k++) (void)pad_reduce(TESELA_FN_SUM, x, 1, TESELA_STICK_SPARSE);
  int64_t failures = 0;
  for (int64_t allowed = 0;; allowed++) {
    fault f = {.countdown = allowed};
    tesela_allocator allocator = fault_allocator(&f);
    tesela_padding *made = NULL;
    tesela_padding_fill fill[1];
    int32_t fine = -1;
    tesela_status status =
        tesela_graph_padding(&made, pad_graph, &(tesela_padding_options){.allocator = &allocator}, NULL);
    if (status == TESELA_OK) {
      status = tesela_padding_suggest(made, fill, &fine, NULL);
      assert_int_equal(fine, status == TESELA_OK ? 20 : -1);
    } else {
      assert_null(made);
    }
    tesela_padding_destroy(made);
    assert_int_equal(f.live, 0);
    if (status == TESELA_OK) break;
    assert_int_equal(status, TESELA_E_MEMORY);
    failures++;
  }
  assert_true(failures > 8);
}

int main(void) {
#define CASE(name) cmocka_unit_test_setup_teardown(name, pad_begin, pad_end)
  const struct CMUnitTest tests[] = {
      CASE(corners), CASE(window), CASE(stored_types), CASE(refusals), CASE(small), CASE(no_memory),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
