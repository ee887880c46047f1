/* SPDX-License-Identifier: Apache-2.0 */
/*
 * hlo_build.c - a graph from a module: the value of each instruction, checked.
 *
 * Each instruction gets a value: a node, or a tuple of values. Calls and fusions are walked in place, with a frame of their
 * own, up to 64 deep and 2^20 instructions in all. A value that a handler leaves unset becomes a fallback. The shape in the
 * text is compared with the one that the operands give.
 */
#include <tesela/notation.h>

#include "graph/hlo/hlo.h"

/* ---- an instruction ---- */

/* Compilers may give a broadcast of bf16 the type f32: the text has no conversion there. */
static tesela_status build_convert(tesela__hlo_build *b, const tesela__hlo_instruction *in,
                                   tesela_dtype dtype, int32_t *node) {
  int32_t x = *node;
  tesela_node_spec spec = {
      .op = TESELA_OP_POINTWISE, .fn = TESELA_FN_COPY, .dtype = dtype, .n_operands = 1, .operand = &x};
  return tesela__hlo_add(b, in, "convert", &spec, node);
}

static tesela_status build_check(tesela__hlo_build *b, const tesela__hlo_instruction *in,
                                 tesela__hlo_value *out, const tesela_xla_shape *shape) {
  if (in->tuple || out->node < 0) {
    if (in->tuple || out->node == TESELA__HLO_CONSTANT) return TESELA_OK;
    return tesela__hlo_fail(b, in, TESELA_E_INVALID, "its shape is an array; its value is a tuple");
  }
  const tesela_node *node = tesela__graph_at(b->graph, out->node);
  if (node->dtype == TESELA_DTYPE_NONE) return TESELA_OK; /* from a note; any type of that width matches */
  bool same = node->rank == shape->rank;
  for (int32_t d = 0; d < node->rank && same; d++) same = node->shape[d] == shape->dim[d];
  if (same && node->dtype == shape->dtype) return TESELA_OK;
  if (same && tesela_dtype_family_of(node->dtype) == TESELA_FAMILY_FLOAT &&
      tesela_dtype_family_of(shape->dtype) == TESELA_FAMILY_FLOAT)
    return build_convert(b, in, shape->dtype, &out->node);
  char have[TESELA__SHAPE_TEXT], want[TESELA__SHAPE_TEXT];
  return tesela__hlo_fail(b, in, TESELA_E_INVALID, "the text has %s%s, but its operands give %s%s",
                          tesela_dtype_name(shape->dtype), tesela__shape_text(want, shape->rank, shape->dim),
                          tesela_dtype_name(node->dtype), tesela__shape_text(have, node->rank, node->shape));
}

/* Set the layout that a printed program gives a buffer. */
static tesela_status build_layout(tesela__hlo_build *b, const tesela__hlo_instruction *in, int32_t node) {
  tesela__hlo_span text = tesela__hlo_frontend(b->module, in, "device_layout");
  if (text.n == 0 || node < 0) return TESELA_OK;
  tesela_device_layout layout;
  tesela_status status = tesela_device_parse(&layout, b->module->text + text.at, text.n, NULL, b->err);
  if (status != TESELA_OK && b->err) b->err->at = (int64_t)text.at + tesela__max(b->err->at, 0);
  return status == TESELA_OK ? tesela_graph_set_layout(b->graph, node, &layout, b->err) : status;
}

/* Dynamic dims count with their bound. That is right for elementwise operators and for copies; false: the result of an operator
 * on a dynamic tensor depends on its true extent. */
static bool build_bounded(const tesela__hlo_build *b, const tesela__hlo_instruction *in,
                          tesela__hlo_handler *handler, bool dynamic) {
  static tesela__hlo_handler *const plain[] = {
      tesela__hlo_pointwise, tesela__hlo_map,        tesela__hlo_parameter, tesela__hlo_tuple,
      tesela__hlo_element,   tesela__hlo_same_value, tesela__hlo_call,      tesela__hlo_copy_start,
      tesela__hlo_done,      tesela__hlo_transpose};
  for (size_t i = 0; i < sizeof plain / sizeof *plain; i++)
    if (handler == plain[i]) return true;
  for (int32_t k = 0; k < in->n_operands && !dynamic; k++)
    dynamic = b->module->instruction[b->module->operand[in->operand + k]].dynamic;
  return !dynamic;
}

/* The value of an instruction; adds its nodes. */
static tesela_status build_value(tesela__hlo_build *b, const tesela__hlo_instruction *in,
                                 tesela__hlo_value *out) {
  tesela_xla_shape shape = {.rank = 0};
  tesela__hlo_span note;
  tesela_status status = TESELA_OK;
  if (++b->facts.instructions > TESELA__HLO_INSTRUCTIONS)
    return tesela__hlo_fail(b, in, TESELA_E_LIMIT, "more than 2^20 instructions, with those of each call");
  if (!in->tuple && (status = tesela__hlo_array(b, in, &shape)) != TESELA_OK) return status;
  b->dtype = in->tuple ? TESELA_TOKEN : shape.dtype;
  b->rank = shape.rank;
  for (int32_t d = 0; d < shape.rank; d++) b->shape[d] = shape.dim[d];
  *out = (tesela__hlo_value){.node = TESELA__HLO_UNSET};
  tesela__hlo_handler *handler = tesela__hlo_handler_of(b->module->text, in->opcode);
  if (handler && b->module->dynamic && !build_bounded(b, in, handler, shape.dynamic != 0)) handler = NULL;
  if (tesela__hlo_has_note(b->module, in, &note))
    status = tesela__hlo_from_note(b, in, note, out);
  else if (handler)
    status = handler(b, in, out);
  if (status == TESELA_OK && out->node == TESELA__HLO_UNSET) status = tesela__hlo_fallback(b, in, out);
  if (status == TESELA_OK) status = build_check(b, in, out, &shape);
  return status == TESELA_OK ? build_layout(b, in, out->node) : status;
}

/* ---- reading ---- */

static tesela_status build_all(tesela__hlo_build *b) {
  const tesela__hlo_module *m = b->module;
  tesela__hlo_frame *frame = tesela__alloc(&b->allocator, sizeof *frame, alignof(tesela__hlo_frame));
  if (!frame) return tesela__fail(b->err, TESELA_E_MEMORY, -1, "no memory for the entry computation");
  *frame = (tesela__hlo_frame){0};
  tesela__hlo_value root;
  tesela_status status = tesela__hlo_walk(b, m->entry, frame, &root);
  if (status == TESELA_OK)
    status = tesela__hlo_outputs(b, &m->instruction[m->computation[m->entry].root], root);
  tesela__release(&b->allocator, frame);
  return status;
}

tesela_status tesela_graph_read_hlo(tesela_graph **graph, const char *text, size_t length,
                                    const tesela_target *target, const tesela_allocator *allocator,
                                    tesela_graph_read_facts *facts, tesela_error *err) {
  TESELA__NEED(err, graph);
  TESELA__NEED_LIST(err, text, length);
  tesela__hlo_module module = {.allocator = tesela__allocator(allocator), .text = text, .length = length};
  tesela__hlo_build b = {
      .module = &module, .allocator = module.allocator, .target = target, .value = build_value, .err = err};
  tesela_status status = tesela__hlo_module_read(&module, err);
  if (status == TESELA_OK) status = tesela_graph_create(&b.graph, allocator, err);
  if (status == TESELA_OK) status = build_all(&b);
  tesela__release(&b.allocator, b.pool);
  tesela__hlo_module_release(&module);
  if (status != TESELA_OK) {
    tesela_graph_destroy(b.graph);
    return status;
  }
  *graph = b.graph;
  if (facts) *facts = b.facts;
  return TESELA_OK;
}
