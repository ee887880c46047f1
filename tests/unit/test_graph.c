/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_graph.c - building programs: names, marks, in-place writes, layouts and hints, allocations that
 * fail.
 */
#include "support_fault.h"
#include "support_graph_rows.h"

/* ---- names ---- */

static tesela_status add_op(tesela_graph *graph, tesela_op op, tesela_fn fn, const char *name, int32_t n,
                            const int32_t *operand, int32_t *node, tesela_error *err) {
  tesela_node_spec spec = {.op = op, .fn = fn, .name = name, .n_operands = n, .operand = operand};
  return tesela_graph_add(graph, &spec, node, err);
}

static void names_are_unique_and_found(void **state) {
  (void)state;
  tesela_graph *graph;
  tesela_error err = {.message = ""};
  OK(tesela_graph_create(&graph, NULL, &e_));
  assert_int_equal(tesela_graph_find(graph, "x"), -1);
  int32_t x = build_input(graph, "x", "f16[2]"), y;
  for (int32_t k = 1; k < 3000; k++) { /* through many sizes of the table */
    char name[32];
    snprintf(name, sizeof name, "n%d", (int)k * 7919);
    OK(add_op(graph, TESELA_OP_CLONE, TESELA_FN_NONE, name, 1, D(k - 1), &y, &e_));
    assert_int_equal(y, k);
  }
  for (int32_t k = 1; k < 3000; k++) {
    char name[32];
    snprintf(name, sizeof name, "n%d", (int)k * 7919);
    assert_int_equal(tesela_graph_find(graph, name), k);
  }
  assert_int_equal(tesela_graph_find(graph, "n1"), -1);
  assert_int_equal(add_op(graph, TESELA_OP_CLONE, TESELA_FN_NONE, "n7919", 1, &x, &y, &err),
                   TESELA_E_INVALID);
  assert_non_null(strstr(err.message, "node 1 already has this name"));
  static const char *const bad[] = {"", "a b", "a\n", "a\"", "50%", "a,b", "a(b", "a{", "a=b", "a\\", "\x7f"};
  for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++)
    assert_int_equal(add_op(graph, TESELA_OP_CLONE, TESELA_FN_NONE, bad[i], 1, &x, &y, &err),
                     TESELA_E_INVALID);
  char longest[TESELA_GRAPH_NAME + 1];
  memset(longest, 'l', sizeof longest);
  longest[TESELA_GRAPH_NAME] = '\0';
  assert_int_equal(add_op(graph, TESELA_OP_CLONE, TESELA_FN_NONE, longest, 1, &x, &y, &err), TESELA_E_LIMIT);
  longest[TESELA_GRAPH_NAME - 1] = '\0';
  OK(add_op(graph, TESELA_OP_CLONE, TESELA_FN_NONE, longest, 1, &x, &y, &e_));
  assert_string_equal(tesela_graph_node(graph, y)->name, longest);
  tesela_graph_destroy(graph);
}

static void names_are_made_where_there_are_none(void **state) {
  (void)state;
  tesela_graph *graph;
  int32_t y, z;
  OK(tesela_graph_create(&graph, NULL, &e_));
  build_input(graph, "exp.1", "f16[2]");
  OK(add_op(graph, TESELA_OP_POINTWISE, TESELA_FN_EXP, NULL, 1, D(0), &y, &e_)); /* exp.1 is taken */
  OK(add_op(graph, TESELA_OP_CLONE, TESELA_FN_NONE, NULL, 1, D(0), &z, &e_));
  assert_string_equal(tesela_graph_node(graph, y)->name, "exp.2");
  assert_string_equal(tesela_graph_node(graph, z)->name, "clone.2");
  assert_int_equal(tesela_graph_find(graph, "exp.2"), y);
  tesela_graph_destroy(graph);
}

/* ---- buffers ---- */

static void a_value_that_was_overwritten_is_gone(void **state) {
  (void)state;
  tesela_graph *graph;
  tesela_error err = {.message = ""};
  int32_t view, w, y, bad, in_buffer, slice;
  OK(tesela_graph_create(&graph, NULL, &e_));
  int32_t x = build_input(graph, "x", "f16[4,6]"), p = build_input(graph, "p", "f16[2,3]");
  tesela_node_spec t = {
      .op = TESELA_OP_PERMUTE, .name = "t", .n_operands = 1, .operand = &x, .n_dims = 2, .dims = D(1, 0)};
  OK(tesela_graph_add(graph, &t, &view, &e_));
  tesela_node_spec s = {.op = TESELA_OP_SLICE,
                        .name = "s",
                        .n_operands = 1,
                        .operand = &x,
                        .start = N(1, 2),
                        .length = N(3, 4)};
  OK(tesela_graph_add(graph, &s, &slice, &e_));
  tesela_node_spec write = {.op = TESELA_OP_WRITE,
                            .name = "w",
                            .n_operands = 2,
                            .operand = D(slice, p),
                            .start = N(0, 1),
                            .in_place = true};
  OK(tesela_graph_add(graph, &write, &w, &e_));
  const tesela_node *node = tesela_graph_node(graph, w);
  assert_int_equal(node->buffer, x); /* the tensor is the slice, its memory x's */
  assert_true(node->in_place && !node->view);
  assert_int_equal(node->offset, 8);
  assert_int_equal(node->stride[0], 6);
  assert_int_equal(node->stride[1], 1);
  assert_int_equal(node->shape[0], 3);
  const int32_t gone[] = {x, view, slice};
  for (int i = 0; i < 3; i++) {
    assert_int_equal(add_op(graph, TESELA_OP_CLONE, 0, "bad", 1, &gone[i], &bad, &err), TESELA_E_INVALID);
    assert_non_null(strstr(err.message, "overwritten in place"));
    assert_int_equal(tesela_graph_add_output(graph, gone[i], &err), TESELA_E_INVALID);
  }
  OK(add_op(graph, TESELA_OP_CLONE, 0, "y", 1, &w, &y, &e_));
  tesela_node_spec again = {.op = TESELA_OP_WRITE, .n_operands = 2, .operand = D(w, w), .in_place = true};
  assert_int_equal(tesela_graph_add(graph, &again, &bad, &err), TESELA_E_INVALID);
  assert_non_null(strstr(err.message, "operand 1 reads the buffer"));
  again.operand = D(w, p);
  OK(tesela_graph_add(graph, &again, &in_buffer, &e_));
  assert_int_equal(tesela_graph_node(graph, in_buffer)->buffer, x);
  assert_int_equal(add_op(graph, TESELA_OP_CLONE, 0, "bad", 1, &w, &bad, &err), TESELA_E_INVALID);
  OK(tesela_graph_add_output(graph, in_buffer, &e_));
  again.operand = D(in_buffer, p); /* an output that would change */
  assert_int_equal(tesela_graph_add(graph, &again, &bad, &err), TESELA_E_INVALID);
  assert_non_null(strstr(err.message, "is an output"));
  tesela_node_spec e = {
      .op = TESELA_OP_EXPAND, .name = "e", .n_operands = 1, .operand = D(p), .rank = 3, .shape = N(5, 2, 3)};
  OK(tesela_graph_add(graph, &e, &y, &e_));
  again.operand = D(y, y);
  assert_int_equal(tesela_graph_add(graph, &again, &bad, &err), TESELA_E_INVALID);
  again.operand = D(y, x);
  assert_int_equal(tesela_graph_add(graph, &again, &bad, &err), TESELA_E_INVALID);
  tesela_graph_destroy(graph);
}

static void a_repeated_element_is_not_written_in_place(void **state) {
  (void)state;
  tesela_graph *graph;
  tesela_error err = {.message = ""};
  int32_t e, bad;
  OK(tesela_graph_create(&graph, NULL, &e_));
  build_input(graph, "x", "f16[3]");
  build_input(graph, "p", "f16[2,3]");
  tesela_node_spec expand = {
      .op = TESELA_OP_EXPAND, .n_operands = 1, .operand = D(0), .rank = 2, .shape = N(5, 3)};
  OK(tesela_graph_add(graph, &expand, &e, &e_));
  tesela_node_spec write = {.op = TESELA_OP_WRITE, .n_operands = 2, .operand = D(e, 1), .in_place = true};
  assert_int_equal(tesela_graph_add(graph, &write, &bad, &err), TESELA_E_INVALID);
  assert_non_null(strstr(err.message, "repeats its elements along dim 0"));
  write.in_place = false;
  OK(tesela_graph_add(graph, &write, &e, &e_));
  assert_int_equal(tesela_graph_node(graph, e)->buffer, e);
  tesela_graph_destroy(graph);
}

static void operands_must_be_nodes(void **state) {
  (void)state;
  tesela_graph *graph;
  tesela_error err = {.message = ""};
  int32_t y = -3;
  OK(tesela_graph_create(&graph, NULL, &e_));
  build_input(graph, "x", "f16[3]");
  assert_int_equal(add_op(graph, TESELA_OP_CLONE, 0, NULL, 1, D(1), &y, &err), TESELA_E_INVALID);
  assert_non_null(strstr(err.message, "node 1; expected 0 to 0"));
  assert_int_equal(add_op(graph, TESELA_OP_CLONE, 0, NULL, 1, D(-1), &y, &err), TESELA_E_INVALID);
  assert_int_equal(add_op(graph, TESELA_OP_CLONE, 0, NULL, 1, NULL, &y, &err), TESELA_E_INVALID);
  assert_int_equal(add_op(graph, TESELA_OP_CLONE, 0, NULL, -1, NULL, &y, &err), TESELA_E_INVALID);
  tesela_node_spec token = {.op = TESELA_OP_FALLBACK, .dtype = TESELA_TOKEN};
  OK(tesela_graph_add(graph, &token, NULL, &e_));
  assert_int_equal(add_op(graph, TESELA_OP_CLONE, 0, NULL, 1, D(1), &y, &err), TESELA_E_INVALID);
  assert_non_null(strstr(err.message, "token"));
  assert_int_equal(y, -3);
  assert_int_equal(tesela_graph_count(graph), 2);
  assert_null(tesela_graph_node(graph, 2));
  assert_null(tesela_graph_node(graph, -1));
  assert_int_equal(tesela_graph_add_output(graph, 2, &err), TESELA_E_RANGE);
  tesela_graph_destroy(graph);
  tesela_graph_destroy(NULL);
}

static void inputs_keep_what_they_come_with(void **state) {
  (void)state;
  tesela_graph *graph;
  OK(tesela_graph_create(&graph, NULL, &e_));
  tesela_node_spec x = {.op = TESELA_OP_INPUT,
                        .dtype = TESELA_BF16,
                        .rank = 2,
                        .shape = N(3, 5),
                        .strides = N(-1, 3),
                        .stick = 1};
  int32_t k;
  OK(tesela_graph_add(graph, &x, &k, &e_));
  const tesela_node *node = tesela_graph_node(graph, k);
  assert_int_equal(node->host_stride[0], -1);
  assert_int_equal(node->host_stride[1], 3);
  assert_int_equal(node->stride[0], 5); /* of the buffer: row-major */
  assert_int_equal(node->stride[1], 1);
  assert_int_equal(node->stick, 1);
  assert_int_equal(node->bits, 16);
  assert_int_equal(node->buffer, k);
  assert_null(node->layout);
  tesela_node_spec scalar = {.op = TESELA_OP_INPUT, .dtype = TESELA_PRED};
  OK(tesela_graph_add(graph, &scalar, &k, &e_));
  assert_int_equal(tesela_graph_node(graph, k)->stick, TESELA_STICK_SPARSE);
  assert_int_equal(tesela_graph_node(graph, k)->bits, 8);
  tesela_graph_destroy(graph);
}

/* ---- layouts and hints ---- */

static void a_buffer_takes_a_layout_of_its_shape(void **state) {
  (void)state;
  tesela_graph *graph;
  tesela_error err = {.message = ""};
  int32_t view;
  tesela_device_layout layout = {.host = {.rank = 2, .shape = {3, 5}}, .lanes = 64}, other = layout;
  other.host.shape[1] = 4;
  OK(tesela_graph_create(&graph, NULL, &e_));
  build_input(graph, "x", "f16[3,5]");
  tesela_node_spec t = {
      .op = TESELA_OP_PERMUTE, .n_operands = 1, .operand = D(0), .n_dims = 2, .dims = D(1, 0)};
  OK(tesela_graph_add(graph, &t, &view, &e_));
  assert_int_equal(tesela_graph_set_layout(graph, 0, &other, &err), TESELA_E_MISMATCH);
  assert_non_null(strstr(err.message, "has shape [3,5], but the layout has [3,4]"));
  assert_int_equal(tesela_graph_set_layout(graph, view, &layout, &err), TESELA_E_INVALID);
  assert_non_null(strstr(err.message, "its buffer is x"));
  assert_int_equal(tesela_graph_set_layout(graph, 2, &layout, &err), TESELA_E_RANGE);
  assert_null(tesela_graph_node(graph, 0)->layout);
  OK(tesela_graph_set_layout(graph, 0, &layout, &e_));
  layout.lanes = 32; /* it was copied */
  assert_int_equal(tesela_graph_node(graph, 0)->layout->lanes, 64);
  OK(tesela_graph_set_layout(graph, 0, &layout, &e_));
  assert_int_equal(tesela_graph_node(graph, 0)->layout->lanes, 32);
  assert_null(tesela_graph_node(graph, view)->layout);
  tesela_graph_destroy(graph);
}

static void hints_are_checked(void **state) {
  (void)state;
  static const struct {
    tesela_hint hint;
    tesela_status status;
    const char *words;
  } rows[] = {
      {{TESELA_HINT_REQUIRE, 0, 1, 0, 0}, TESELA_OK, ""},
      {{TESELA_HINT_FORBID, 0, -1, 0, 0}, TESELA_OK, ""},
      {{TESELA_HINT_PREFER, 2, 0, 0, 7}, TESELA_OK, ""},
      {{TESELA_HINT_FORBID_MOVE, 2, 0, -1, 0}, TESELA_OK, ""},
      {{TESELA_HINT_FREE, 0, 0, 0, 0}, TESELA_OK, ""},
      {{TESELA_HINT_REQUIRE, 3, 1, 0, 0}, TESELA_E_RANGE, "node 3"},
      {{TESELA_HINT_REQUIRE, -1, 1, 0, 0}, TESELA_E_RANGE, "node -1"},
      {{TESELA_HINT_REQUIRE, 0, 2, 0, 0}, TESELA_E_RANGE, "stick dim 2"},
      {{TESELA_HINT_FORBID, 0, -2, 0, 0}, TESELA_E_RANGE, "stick dim -2"},
      {{TESELA_HINT_REQUIRE, 1, 0, 0, 0}, TESELA_E_INVALID, "use a hint on its buffer, x"},
      {{TESELA_HINT_PREFER, 0, 0, 0, -1}, TESELA_E_RANGE, "price -1"},
      {{TESELA_HINT_FORBID_MOVE, 2, 0, 1, 0}, TESELA_E_RANGE, "operand 1"},
      {{TESELA_HINT_FORBID_MOVE, 1, 0, 0, 0}, TESELA_E_INVALID, "view"},
      {{TESELA_HINT_FREE, 2, 0, 0, 0}, TESELA_E_INVALID, "only an input"},
      {{(tesela_hint_kind)5, 0, 0, 0, 0}, TESELA_E_RANGE, "hint 5"},
  };
  tesela_graph *graph;
  int32_t view, y, accepted = 0;
  OK(tesela_graph_create(&graph, NULL, &e_));
  build_input(graph, "x", "f16[3,5]");
  tesela_node_spec t = {
      .op = TESELA_OP_PERMUTE, .n_operands = 1, .operand = D(0), .n_dims = 2, .dims = D(1, 0)};
  OK(tesela_graph_add(graph, &t, &view, &e_));
  OK(add_op(graph, TESELA_OP_CLONE, 0, "y", 1, D(1), &y, &e_));
  for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
    tesela_error err = {.message = ""};
    tesela_status status = tesela_graph_hint(graph, &rows[i].hint, &err);
    if (status != rows[i].status || !strstr(err.message, rows[i].words))
      fail_msg("row %zu: %s", i, err.message);
    if (status != TESELA_OK) continue;
    assert_memory_equal(tesela_graph_hint_at(graph, accepted), &rows[i].hint, sizeof rows[i].hint);
    accepted++;
  }
  assert_int_equal(tesela_graph_hint_count(graph), accepted);
  assert_null(tesela_graph_hint_at(graph, accepted));
  assert_null(tesela_graph_hint_at(graph, -1));
  tesela_graph_destroy(graph);
}

/* ---- allocations that fail ---- */

/* A program of 40 nodes; stops at the first thing that fails. */
static tesela_status build_all(const tesela_allocator *alloc, tesela_graph **graph) {
  tesela_device_layout layout = {.host = {.rank = 2, .shape = {3, 5}}};
  tesela_status status = tesela_graph_create(graph, alloc, NULL);
  tesela_node_spec x = {.op = TESELA_OP_INPUT, .dtype = TESELA_F16, .rank = 2, .shape = N(3, 5), .stick = 1};
  if (status == TESELA_OK) status = tesela_graph_add(*graph, &x, NULL, NULL);
  for (int32_t k = 0; k < 39 && status == TESELA_OK; k++)
    status = add_op(*graph, TESELA_OP_POINTWISE, TESELA_FN_ADD, NULL, 2, D(k, 0), NULL, NULL);
  if (status == TESELA_OK) status = tesela_graph_set_layout(*graph, 5, &layout, NULL);
  for (int32_t k = 0; k < 20 && status == TESELA_OK; k++)
    status = tesela_graph_hint(*graph, &(tesela_hint){TESELA_HINT_FREE, 0, 0, 0, 0}, NULL);
  return status;
}

static void every_allocation_may_fail(void **state) {
  (void)state;
  for (int64_t n = 0;; n++) {
    fault f = {.countdown = n};
    tesela_allocator alloc = fault_allocator(&f);
    tesela_graph *graph = NULL;
    tesela_status status = build_all(&alloc, &graph);
    if (graph && status != TESELA_OK) { /* still whole: what is there is found, and it can go on */
      for (int32_t k = 0; k < tesela_graph_count(graph); k++)
        assert_int_equal(tesela_graph_find(graph, tesela_graph_node(graph, k)->name), k);
      f.countdown = -1;
      build_input(graph, "more", "f16[2]");
    }
    tesela_graph_destroy(graph);
    assert_int_equal(f.live, 0);
    if (status == TESELA_OK) {
      assert_true(n > 40);
      return;
    }
    assert_int_equal(status, TESELA_E_MEMORY);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(names_are_unique_and_found),
      cmocka_unit_test(names_are_made_where_there_are_none),
      cmocka_unit_test(a_value_that_was_overwritten_is_gone),
      cmocka_unit_test(a_repeated_element_is_not_written_in_place),
      cmocka_unit_test(operands_must_be_nodes),
      cmocka_unit_test(inputs_keep_what_they_come_with),
      cmocka_unit_test(a_buffer_takes_a_layout_of_its_shape),
      cmocka_unit_test(hints_are_checked),
      cmocka_unit_test(every_allocation_may_fail),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
