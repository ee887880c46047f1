/* SPDX-License-Identifier: Apache-2.0 */
/*
 * hlo_build.c - a graph from a module: a walk over the entry computation.
 *
 * Each instruction gets a value: a node, or a tuple of values. Calls and fusions are walked where they stand, with a frame of their
 * own, up to 64 deep and 2^20 instructions in all. What a handler leaves unset becomes a fallback. The shape that the text
 * says is compared with the one that the operands make.
 */
#include <stdarg.h>
#include <stdio.h>

#include <tesela/notation.h>

#include "graph/hlo/hlo.h"

tesela_status tesela__hlo_fail(tesela__hlo_build *b, const tesela__hlo_instruction *in, tesela_status status,
                               const char *format, ...) {
  char line[sizeof b->err->message], shown[TESELA__HLO_SHOWN];
  va_list args;
  va_start(args, format);
  vsnprintf(line, sizeof line, format, args);
  va_end(args);
  return tesela__fail(b->err, status, (int64_t)in->name.at, "%s: %s",
                      tesela__hlo_shown(b->module->text, in->name, shown), line);
}

/* ---- values ---- */

tesela__hlo_value *tesela__hlo_value_of(tesela__hlo_build *b, const tesela__hlo_instruction *in, int32_t k) {
  int32_t number = b->module->operand[in->operand + k];
  return &b->frame->value[number - b->frame->computation->first];
}

tesela_status tesela__hlo_operand(tesela__hlo_build *b, const tesela__hlo_instruction *in, int32_t k,
                                  int32_t *node) {
  if (k >= in->n_operands)
    return tesela__hlo_fail(b, in, TESELA_E_INVALID, "operand %" PRId32 " is missing; there are %" PRId32, k,
                            in->n_operands);
  tesela__hlo_value *value = tesela__hlo_value_of(b, in, k);
  if (value->node == TESELA__HLO_CONSTANT) { /* needed as a node after all */
    const tesela__hlo_instruction *constant = &b->module->instruction[value->first];
    tesela_xla_shape shape;
    tesela_node_spec spec = {.op = TESELA_OP_CONSTANT};
    bool splat;
    tesela_status status = tesela__hlo_array(b, constant, &shape);
    if (status == TESELA_OK)
      status = tesela__hlo_literal(b->module, constant, 1, &splat, &spec.value, b->err);
    spec.dtype = shape.dtype;
    if (status == TESELA_OK) status = tesela__hlo_add(b, constant, NULL, &spec, &value->node);
    if (status != TESELA_OK) return status;
  }
  if (value->node < 0)
    return tesela__hlo_fail(b, in, TESELA_E_INVALID,
                            "operand %" PRId32 " is a tuple; an array must stand there", k);
  *node = value->node;
  return TESELA_OK;
}

tesela_status tesela__hlo_operand_laid_out(tesela__hlo_build *b, const tesela__hlo_instruction *in, int32_t k,
                                           int32_t *number) {
  tesela_status status = tesela__hlo_operand(b, in, k, number);
  if (status != TESELA_OK || !tesela__graph_at(b->graph, *number)->view) return status;
  const tesela_node *view = tesela__graph_at(b->graph, *number),
                    *constant = tesela_graph_constant(b->graph, *number);
  if (!constant) return TESELA_OK;
  char suffix[24];
  int64_t shape[TESELA_GRAPH_RANK];
  snprintf(suffix, sizeof suffix, "constant%" PRId32, k);
  memcpy(shape, view->shape, (size_t)view->rank * sizeof *shape); /* the graph grows */
  tesela_node_spec spec = {.op = TESELA_OP_CONSTANT,
                           .dtype = constant->dtype,
                           .rank = view->rank,
                           .shape = shape,
                           .value = constant->value};
  return tesela__hlo_add(b, in, suffix, &spec, number);
}

bool tesela__hlo_scalar(tesela__hlo_build *b, const tesela__hlo_instruction *in, int32_t k, double *number) {
  if (k >= in->n_operands) return false;
  const tesela__hlo_value *value = tesela__hlo_value_of(b, in, k);
  bool splat;
  if (value->node == TESELA__HLO_CONSTANT)
    return tesela__hlo_literal(b->module, &b->module->instruction[value->first], 1, &splat, number, NULL) ==
           TESELA_OK;
  if (value->node < 0) return false;
  const tesela_node *constant = tesela_graph_constant(b->graph, value->node);
  if (constant) *number = constant->value;
  return constant != NULL;
}

tesela_status tesela__hlo_array(tesela__hlo_build *b, const tesela__hlo_instruction *in,
                                tesela_xla_shape *shape) {
  size_t used;
  tesela_status status = tesela_xla_parse_prefix(b->module->text + in->shape, b->module->length - in->shape,
                                                 TESELA_XLA_STRICT, shape, &used, NULL, b->err);
  if (status != TESELA_OK) return status; /* it was read before */
  if (shape->kind == TESELA_XLA_TOKEN || shape->kind == TESELA_XLA_OPAQUE) {
    shape->rank = 0;
    shape->dtype = TESELA_TOKEN;
  }
  if (shape->rank > TESELA_GRAPH_RANK)
    return tesela__hlo_fail(b, in, TESELA_E_LIMIT, "rank %" PRId32 "; %d dims are allowed", shape->rank,
                            TESELA_GRAPH_RANK);
  return TESELA_OK;
}

/* ---- nodes ---- */

/* The name of an instruction's node, NULL where one must be made. The root of a called computation has its caller's name. */
static const char *build_name(const tesela__hlo_build *b, const tesela__hlo_instruction *in,
                              const char *suffix, char *name) {
  const tesela__hlo_frame *f = b->frame;
  size_t n = strlen(f->prefix), more = suffix ? strlen(suffix) + 1 : 0;
  if (f->too_long) return NULL;
  memcpy(name, f->prefix, n);
  if (n > 0 && in == &b->module->instruction[f->computation->root]) {
    n--;
  } else {
    if (n + in->name.n >= TESELA_GRAPH_NAME) return NULL;
    memcpy(name + n, b->module->text + in->name.at, in->name.n);
    n += in->name.n;
  }
  if (n + more >= TESELA_GRAPH_NAME) return NULL;
  if (suffix) {
    name[n] = '.';
    memcpy(name + n + 1, suffix, more - 1);
  }
  name[n + more] = '\0';
  return tesela_graph_find(b->graph, name) < 0 ? name : NULL;
}

tesela_status tesela__hlo_add(tesela__hlo_build *b, const tesela__hlo_instruction *in, const char *suffix,
                              tesela_node_spec *spec, int32_t *node) {
  char name[TESELA_GRAPH_NAME];
  spec->name = build_name(b, in, suffix, name);
  tesela_status status = tesela_graph_add(b->graph, spec, node, b->err);
  if (status != TESELA_OK && status != TESELA_E_MEMORY && b->err) b->err->at = (int64_t)in->name.at;
  return status;
}

tesela_status tesela__hlo_permute(tesela__hlo_build *b, const tesela__hlo_instruction *in, const char *suffix,
                                  int32_t x, const int32_t *dims, int32_t *node) {
  tesela_node_spec spec = {.op = TESELA_OP_PERMUTE,
                           .n_operands = 1,
                           .operand = &x,
                           .n_dims = tesela__graph_at(b->graph, x)->rank,
                           .dims = dims};
  return tesela__hlo_add(b, in, suffix, &spec, node);
}

tesela_status tesela__hlo_reshape(tesela__hlo_build *b, const tesela__hlo_instruction *in, const char *suffix,
                                  int32_t x, int32_t rank, const int64_t *shape, int32_t *node) {
  const tesela_node *from = tesela__graph_at(b->graph, x);
  int64_t stride[TESELA_GRAPH_RANK], n = 1, m = 1;
  bool fits = true;
  for (int32_t d = 0; d < from->rank; d++) n *= from->shape[d]; /* its node checked it */
  for (int32_t d = 0; d < rank && fits; d++) fits = tesela__mul(m, shape[d], &m);
  if (fits && n == m &&
      !tesela__graph_reshape_strides(from->rank, from->shape, from->stride, rank, shape, stride)) {
    tesela_node_spec clone = {.op = TESELA_OP_CLONE, .n_operands = 1, .operand = &x};
    tesela_status status = tesela__hlo_add(b, in, "clone", &clone, &x);
    if (status != TESELA_OK) return status;
  }
  tesela_node_spec spec = {
      .op = TESELA_OP_RESHAPE, .n_operands = 1, .operand = &x, .rank = rank, .shape = shape};
  return tesela__hlo_add(b, in, suffix, &spec, node);
}

/* ---- the walk ---- */

/* Compilers may give a broadcast of bf16 the type f32: the conversion is not said there. */
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
  if (node->dtype == TESELA_DTYPE_NONE) return TESELA_OK; /* from a note; types of that width stand for it */
  bool same = node->rank == shape->rank;
  for (int32_t d = 0; d < node->rank && same; d++) same = node->shape[d] == shape->dim[d];
  if (same && node->dtype == shape->dtype) return TESELA_OK;
  if (same && tesela_dtype_family_of(node->dtype) == TESELA_FAMILY_FLOAT &&
      tesela_dtype_family_of(shape->dtype) == TESELA_FAMILY_FLOAT)
    return build_convert(b, in, shape->dtype, &out->node);
  char have[TESELA__SHAPE_TEXT], want[TESELA__SHAPE_TEXT];
  return tesela__hlo_fail(b, in, TESELA_E_INVALID, "the text says %s%s; its operands make it %s%s",
                          tesela_dtype_name(shape->dtype), tesela__shape_text(want, shape->rank, shape->dim),
                          tesela_dtype_name(node->dtype), tesela__shape_text(have, node->rank, node->shape));
}

/* The layout that a printed program says of a buffer. */
static tesela_status build_layout(tesela__hlo_build *b, const tesela__hlo_instruction *in, int32_t node) {
  tesela__hlo_span text = tesela__hlo_frontend(b->module, in, "device_layout");
  if (text.n == 0 || node < 0) return TESELA_OK;
  tesela_device_layout layout;
  tesela_status status = tesela_device_parse(&layout, b->module->text + text.at, text.n, NULL, b->err);
  if (status != TESELA_OK && b->err) b->err->at = (int64_t)text.at + tesela__max(b->err->at, 0);
  return status == TESELA_OK ? tesela_graph_set_layout(b->graph, node, &layout, b->err) : status;
}

/* Dynamic dims count as long as their bound. That is right for what goes element by element and what passes values on; false: what an
 * operator computes of a dynamic tensor depends on its true extent. */
static bool build_bounded(const tesela__hlo_build *b, const tesela__hlo_instruction *in,
                          const tesela__hlo_opcode *opcode, bool dynamic) {
  static tesela__hlo_handler *const plain[] = {
      tesela__hlo_pointwise, tesela__hlo_map,        tesela__hlo_parameter, tesela__hlo_tuple,
      tesela__hlo_element,   tesela__hlo_same_value, tesela__hlo_call,      tesela__hlo_copy_start,
      tesela__hlo_done,      tesela__hlo_transpose};
  for (size_t i = 0; i < sizeof plain / sizeof *plain; i++)
    if (opcode->build == plain[i]) return true;
  for (int32_t k = 0; k < in->n_operands && !dynamic; k++)
    dynamic = b->module->instruction[b->module->operand[in->operand + k]].dynamic;
  return !dynamic;
}

tesela_status tesela__hlo_instruction_value(tesela__hlo_build *b, const tesela__hlo_instruction *in,
                                            tesela__hlo_value *out) {
  tesela_xla_shape shape = {.rank = 0};
  tesela__hlo_span note;
  tesela_status status = TESELA_OK;
  if (++b->facts.instructions > TESELA__HLO_INSTRUCTIONS)
    return tesela__hlo_fail(b, in, TESELA_E_LIMIT,
                            "more than 2^20 instructions, calls counted as often as they stand");
  if (!in->tuple && (status = tesela__hlo_array(b, in, &shape)) != TESELA_OK) return status;
  b->dtype = in->tuple ? TESELA_TOKEN : shape.dtype;
  b->rank = shape.rank;
  for (int32_t d = 0; d < shape.rank; d++) b->shape[d] = shape.dim[d];
  *out = (tesela__hlo_value){.node = TESELA__HLO_UNSET};
  const tesela__hlo_opcode *opcode = tesela__hlo_opcode_find(b->module->text, in->opcode);
  if (opcode && b->module->dynamic && !build_bounded(b, in, opcode, shape.dynamic != 0)) opcode = NULL;
  if (tesela__hlo_has_note(b->module, in, &note))
    status = tesela__hlo_from_note(b, in, note, out);
  else if (opcode)
    status = opcode->build(b, in, out);
  if (status == TESELA_OK && out->node == TESELA__HLO_UNSET) status = tesela__hlo_fallback(b, in, out);
  if (status == TESELA_OK) status = build_check(b, in, out, &shape);
  return status == TESELA_OK ? build_layout(b, in, out->node) : status;
}

/* Walk a computation; *root receives the value of its root. */
static tesela_status build_computation(tesela__hlo_build *b, int32_t number, tesela__hlo_frame *frame,
                                       tesela__hlo_value *root) {
  const tesela__hlo_computation *c = &b->module->computation[number];
  tesela__hlo_frame *caller = b->frame;
  tesela_status status = TESELA_OK;
  frame->computation = c;
  frame->value =
      tesela__alloc(&b->allocator, (size_t)c->n * sizeof *frame->value, alignof(tesela__hlo_value));
  if (!frame->value)
    return tesela__fail(b->err, TESELA_E_MEMORY, -1, "no memory for the values of a computation");
  b->frame = frame;
  for (int32_t i = 0; i < c->n; i++) frame->value[i].node = TESELA__HLO_UNSET;
  if (frame->depth == 0) status = tesela__hlo_inputs_first(b);
  for (int32_t i = 0; i < c->n && status == TESELA_OK; i++)
    if (frame->value[i].node == TESELA__HLO_UNSET)
      status = tesela__hlo_instruction_value(b, &b->module->instruction[c->first + i], &frame->value[i]);
  if (status == TESELA_OK) *root = frame->value[c->root - c->first];
  tesela__release(&b->allocator, frame->value);
  b->frame = caller;
  return status;
}

tesela_status tesela__hlo_call(tesela__hlo_build *b, const tesela__hlo_instruction *in,
                               tesela__hlo_value *out) {
  const tesela__hlo_module *m = b->module;
  tesela__hlo_span word = tesela__hlo_attribute(m, in, "calls");
  if (word.at == 0) word = tesela__hlo_attribute(m, in, "to_apply");
  char shown[TESELA__HLO_SHOWN];
  int32_t number = word.at == 0 ? -1 : tesela__hlo_module_find(m, word), ignored;
  if (number < 0)
    return tesela__hlo_fail(b, in, TESELA_E_INVALID, "it calls %s, which is no computation",
                            word.n == 0 ? "nothing" : tesela__hlo_shown(m->text, word, shown));
  if (b->frame->depth >= TESELA__HLO_DEPTH)
    return tesela__hlo_fail(b, in, TESELA_E_LIMIT, "calls are nested deeper than %d", TESELA__HLO_DEPTH);
  tesela__hlo_frame *frame =
      tesela__alloc(&b->allocator, sizeof *frame + (size_t)in->n_operands * sizeof(tesela__hlo_value),
                    alignof(tesela__hlo_frame));
  if (!frame) return tesela__fail(b->err, TESELA_E_MEMORY, -1, "no memory for a call");
  *frame = (tesela__hlo_frame){.depth = b->frame->depth + 1, .n_arguments = in->n_operands};
  tesela__hlo_value *argument = (tesela__hlo_value *)(frame + 1);
  tesela_status status = TESELA_OK;
  for (int32_t k = 0; k < in->n_operands && status == TESELA_OK; k++) {
    if (tesela__hlo_value_of(b, in, k)->node == TESELA__HLO_CONSTANT)
      status = tesela__hlo_operand(b, in, k, &ignored);
    argument[k] = *tesela__hlo_value_of(b, in, k);
  }
  frame->argument = argument;
  size_t n = strlen(b->frame->prefix);
  bool root =
      n > 0 && in == &m->instruction[b->frame->computation->root]; /* it has the caller's name already */
  frame->too_long = b->frame->too_long || (!root && n + in->name.n + 2 > sizeof frame->prefix);
  if (!frame->too_long) {
    memcpy(frame->prefix, b->frame->prefix, n);
    if (!root) {
      memcpy(frame->prefix + n, m->text + in->name.at, in->name.n);
      n += in->name.n;
      frame->prefix[n++] = '.';
    }
    frame->prefix[n] = '\0';
  }
  if (status == TESELA_OK) status = build_computation(b, number, frame, out);
  if (status == TESELA_OK) b->facts.inlined++;
  tesela__release(&b->allocator, frame);
  return status;
}

/* ---- reading ---- */

static tesela_status build_all(tesela__hlo_build *b) {
  const tesela__hlo_module *m = b->module;
  tesela__hlo_frame *frame = tesela__alloc(&b->allocator, sizeof *frame, alignof(tesela__hlo_frame));
  if (!frame) return tesela__fail(b->err, TESELA_E_MEMORY, -1, "no memory for the entry computation");
  *frame = (tesela__hlo_frame){0};
  tesela__hlo_value root;
  tesela_status status = build_computation(b, m->entry, frame, &root);
  if (status == TESELA_OK)
    status = tesela__hlo_outputs(b, &m->instruction[m->computation[m->entry].root], root);
  tesela__release(&b->allocator, frame);
  return status;
}

tesela_status tesela_graph_read_hlo(tesela_graph **graph, const char *text, size_t length,
                                    const tesela_target *target, const tesela_allocator *allocator,
                                    tesela_graph_read_facts *facts, tesela_error *err) {
  tesela__hlo_module module = {.allocator = tesela__allocator(allocator), .text = text, .length = length};
  tesela__hlo_build b = {.module = &module, .allocator = module.allocator, .target = target, .err = err};
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
