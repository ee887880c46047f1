/* SPDX-License-Identifier: Apache-2.0 */
/*
 * support_padding.c - see support_padding.h.
 */
#include "support_padding.h"

tesela_graph *pad_graph;
tesela_padding *pad_padding;
const tesela_target *pad_target;

int pad_begin(void **unused) {
  (void)unused;
  pad_target = tesela_target_find("spyre");
  pad_padding = NULL;
  return tesela_graph_create(&pad_graph, NULL, NULL) != TESELA_OK;
}
int pad_end(void **unused) {
  (void)unused;
  tesela_padding_destroy(pad_padding);
  tesela_graph_destroy(pad_graph);
  return 0;
}

int32_t pad_input(const char *name, const char *shape, int32_t stick) {
  return build_laid_out(pad_graph, pad_target, name, shape, stick);
}

int32_t pad_add(tesela_node_spec spec, int32_t stick) {
  return build_node(pad_graph, pad_target, spec, stick);
}
int32_t pad_unary(tesela_fn fn, int32_t x, int32_t stick) {
  return pad_add((tesela_node_spec){.op = TESELA_OP_POINTWISE, .fn = fn, NODES(x)}, stick);
}
int32_t pad_binary(tesela_fn fn, int32_t x, int32_t y, int32_t stick) {
  return pad_add((tesela_node_spec){.op = TESELA_OP_POINTWISE, .fn = fn, NODES(x, y)}, stick);
}
int32_t pad_reduce(tesela_fn fn, int32_t x, int32_t dim, int32_t stick) {
  return pad_add((tesela_node_spec){.op = TESELA_OP_REDUCE, .fn = fn, NODES(x), DIMS(dim)}, stick);
}
int32_t pad_scalar(double value) {
  return pad_add((tesela_node_spec){.op = TESELA_OP_CONSTANT, .dtype = TESELA_F16, .value = value},
                 TESELA_STICK_SPARSE);
}

void pad_look(const tesela_padding_fill *fill, tesela_padding_fill copy) {
  tesela_padding_destroy(pad_padding);
  OK(tesela_graph_padding(&pad_padding, pad_graph, &(tesela_padding_options){.input = fill, .copy = copy},
                          &e_));
}
const tesela_padding_fill pad_leave = {.pad = TESELA_PAD_LEAVE};

void pad_holds(int32_t node, double value) {
  tesela_padding_state state = tesela_padding_state_of(pad_padding, node);
  assert_int_equal(state.kind, TESELA_PADDING_VALUE);
  assert_memory_equal(&state.value, &value, sizeof value);
}
void pad_is(int32_t node, tesela_padding_kind kind) {
  assert_int_equal(tesela_padding_state_of(pad_padding, node).kind, kind);
}

void pad_reads(int32_t n, const want *wanted) {
  const tesela_padding_read *read;
  for (int32_t k = 0; k < n; k++) {
    read = tesela_padding_read_at(pad_padding, k);
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
  assert_null(tesela_padding_read_at(pad_padding, n));
  assert_null(tesela_padding_read_at(pad_padding, -1));
}
