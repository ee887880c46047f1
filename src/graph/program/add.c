/* SPDX-License-Identifier: Apache-2.0 */
/*
 * add.c - adding a node: the table of operators, and the checks common to all.
 *
 * A node is complete before the graph changes: operands and name are checked, then the operator's own function (shape_*.c,
 * view*.c) infers the shape and completes the attributes, then sizes are checked. Only then it is appended.
 */
#include <stdio.h>

#include "graph/program/graph.h"

enum { ADD_MANY = INT32_MAX };

/* class, least and most operands, shape, is it a view, may it write in place */
static const struct add_row {
  tesela_op op;
  int32_t least, most;
  tesela__graph_shape *shape;
  bool view, in_place;
} add_rows[] = {
    {TESELA_OP_INPUT, 0, 0, tesela__shape_input, false, false},
    {TESELA_OP_CONSTANT, 0, 0, tesela__shape_constant, false, false},
    {TESELA_OP_POINTWISE, 1, ADD_MANY, tesela__shape_pointwise, false, false},
    {TESELA_OP_REDUCE, 1, 1, tesela__shape_reduce, false, false},
    {TESELA_OP_MATMUL, 2, 2, tesela__shape_matmul, false, false},
    {TESELA_OP_CONV2D, 2, 2, tesela__shape_conv2d, false, false},
    {TESELA_OP_GATHER, 2, 2, tesela__shape_gather, false, false},
    {TESELA_OP_SCATTER, 3, 3, tesela__shape_scatter, false, true},
    {TESELA_OP_CAT, 1, ADD_MANY, tesela__shape_cat, false, false},
    {TESELA_OP_PAD, 1, 1, tesela__shape_pad, false, false},
    {TESELA_OP_WRITE, 2, 2, tesela__shape_write, false, true},
    {TESELA_OP_CLONE, 1, 1, tesela__shape_copy, false, false},
    {TESELA_OP_MOVE, 1, 1, tesela__shape_copy, false, false},
    {TESELA_OP_FALLBACK, 0, ADD_MANY, tesela__shape_fallback, false, false},
    {TESELA_OP_PERMUTE, 1, 1, tesela__view_permute, true, false},
    {TESELA_OP_RESHAPE, 1, 1, tesela__view_reshape, true, false},
    {TESELA_OP_SQUEEZE, 1, 1, tesela__view_squeeze, true, false},
    {TESELA_OP_UNSQUEEZE, 1, 1, tesela__view_unsqueeze, true, false},
    {TESELA_OP_EXPAND, 1, 1, tesela__view_expand, true, false},
    {TESELA_OP_SLICE, 1, 1, tesela__view_slice, true, false},
    {TESELA_OP_ALONG, 1, ADD_MANY, tesela__shape_along, false, false},
    {TESELA_OP_POOL, 1, 1, tesela__shape_pool, false, false},
};

/* ---- operands ---- */

static tesela_status add_check_operands(const tesela_graph *graph, const struct add_row *row,
                                        const tesela_node *node, tesela_error *err) {
  if (node->n_operands < row->least || node->n_operands > row->most) {
    if (row->most == ADD_MANY)
      return tesela__graph_fail(err, TESELA_E_INVALID, node,
                                "%" PRId32 " operands; expected %" PRId32 " or more", node->n_operands,
                                row->least);
    return tesela__graph_fail(err, TESELA_E_INVALID, node, "%" PRId32 " operands; expected %" PRId32,
                              node->n_operands, row->least);
  }
  for (int32_t k = 0; k < node->n_operands; k++) {
    int32_t o = node->operand[k];
    if (o < 0 || o >= graph->count)
      return tesela__graph_fail(err, TESELA_E_INVALID, node,
                                "operand %" PRId32 " is node %" PRId32 "; expected 0 to %" PRId32, k, o,
                                graph->count - 1);
    const tesela__graph_entry *entry = graph->entry[o], *buffer = graph->entry[entry->node.buffer];
    if (entry->value != buffer->writes)
      return tesela__graph_fail(err, TESELA_E_INVALID, node,
                                "operand %" PRId32 ", %.40s, was overwritten in place in its buffer %.40s; "
                                "use the node that wrote it, or clone before",
                                k, entry->node.name, buffer->node.name);
    if (entry->node.dtype == TESELA_TOKEN && node->op != TESELA_OP_FALLBACK)
      return tesela__graph_fail(err, TESELA_E_INVALID, node,
                                "operand %" PRId32 ", %.40s, is a token: it has no elements", k,
                                entry->node.name);
  }
  return TESELA_OK;
}

/* Operand 0 of an operator that writes in place: no other operand may need the old values. */
static tesela_status add_check_in_place(const tesela_graph *graph, const struct add_row *row,
                                        const tesela_node *node, tesela_error *err) {
  if (!row->in_place)
    return tesela__graph_fail(err, TESELA_E_INVALID, node,
                              "cannot write in place; only write and scatter can");
  const tesela_node *x = tesela__graph_operand(graph, node, 0);
  for (int32_t k = 1; k < node->n_operands; k++)
    if (tesela__graph_operand(graph, node, k)->buffer == x->buffer)
      return tesela__graph_fail(
          err, TESELA_E_INVALID, node,
          "operand %" PRId32 " reads the buffer that is written in place; clone it first", k);
  for (int32_t d = 0; d < x->rank; d++)
    if (x->stride[d] == 0 && x->shape[d] > 1)
      return tesela__graph_fail(err, TESELA_E_INVALID, node,
                                "operand 0 repeats its elements along dim %" PRId32
                                "and cannot be written in place; clone it first",
                                d);
  if (graph->entry[x->buffer]->value_out)
    return tesela__graph_fail(err, TESELA_E_INVALID, node,
                              "buffer %.40s is an output and cannot be overwritten; clone it first",
                              tesela__graph_at(graph, x->buffer)->name);
  return TESELA_OK;
}

/* ---- names ---- */

/* Is a byte allowed in a name? Names must survive HLO text. */
static bool add_name_byte(unsigned char c) { return c > ' ' && c != 127 && !strchr("\"%,=(){}[]\\", c); }

static tesela_status add_check_name(const tesela_graph *graph, const tesela_node_spec *spec,
                                    tesela_error *err) {
  const char *op = tesela_op_name(spec->op);
  size_t length = 0;
  for (; spec->name[length] && length < TESELA_GRAPH_NAME; length++)
    if (!add_name_byte((unsigned char)spec->name[length]))
      return tesela__fail(
          err, TESELA_E_INVALID, -1,
          "%s %.40s: byte %zu of the name is 0x%02x; a name cannot have blanks or any of \"%%,=(){}[]\\", op,
          spec->name, length, (unsigned)(unsigned char)spec->name[length]);
  if (length == 0) return tesela__fail(err, TESELA_E_INVALID, -1, "%s: the name is empty", op);
  if (length == TESELA_GRAPH_NAME)
    return tesela__fail(err, TESELA_E_LIMIT, -1, "%s %.40s..: the name is longer than %d bytes", op,
                        spec->name, TESELA_GRAPH_NAME - 1);
  int32_t taken = tesela_graph_find(graph, spec->name);
  if (taken >= 0)
    return tesela__fail(err, TESELA_E_INVALID, -1, "%s %.40s: node %" PRId32 " already has this name", op,
                        spec->name, taken);
  return TESELA_OK;
}

/* A name for a node without one: "add.7", or with the next free number. */
static void add_make_name(const tesela_graph *graph, const tesela_node_spec *spec, char *name) {
  const char *word = spec->op == TESELA_OP_POINTWISE || spec->op == TESELA_OP_REDUCE ||
                             spec->op == TESELA_OP_ALONG || spec->op == TESELA_OP_POOL
                         ? tesela_fn_name(spec->fn)
                         : tesela_op_name(spec->op);
  int64_t number = graph->count;
  do snprintf(name, TESELA_GRAPH_NAME, "%s.%" PRId64, word, number++);
  while (tesela_graph_find(graph, name) >= 0);
}

/* ---- a node ---- */

/* The node with copies of its texts and operands after it. */
static tesela__graph_entry *add_allocate(tesela_graph *graph, const tesela_node_spec *spec,
                                         const char *name) {
  size_t name_room = strlen(name) + 1, opcode_room = spec->opcode ? strlen(spec->opcode) + 1 : 0;
  uint64_t operand_room = (uint64_t)spec->n_operands * sizeof(int32_t);
  tesela__graph_entry *entry =
      tesela__alloc(&graph->allocator, sizeof *entry + operand_room + name_room + opcode_room,
                    alignof(tesela__graph_entry));
  if (!entry) return NULL;
  *entry = (tesela__graph_entry){0};
  int32_t *operand = (int32_t *)(entry + 1);
  char *text = (char *)(operand + spec->n_operands);
  if (operand_room) memcpy(operand, spec->operand, (size_t)operand_room);
  memcpy(text, name, name_room);
  if (opcode_room) memcpy(text + name_room, spec->opcode, opcode_room);
  entry->node = (tesela_node){.op = spec->op,
                              .fn = spec->fn,
                              .name = text,
                              .opcode = opcode_room ? text + name_room : NULL,
                              .dtype = spec->dtype,
                              .bits = spec->bits,
                              .n_operands = spec->n_operands,
                              .operand = operand,
                              .value = spec->value,
                              .keepdim = spec->keepdim,
                              .in_place = spec->in_place,
                              .stick = TESELA_STICK_FREE};
  return entry;
}

/* What the result inherits from operands before its shape is known: the type, and the view of operand 0. */
static tesela_status add_inherit(const tesela_graph *graph, tesela_node *node, tesela_error *err) {
  if (node->n_operands > 0) {
    const tesela_node *x = tesela__graph_operand(graph, node, 0);
    node->buffer = x->buffer;
    node->offset = x->offset;
    node->rank = x->rank;
    memcpy(node->shape, x->shape, sizeof node->shape);
    memcpy(node->stride, x->stride, sizeof node->stride);
    if (node->view || node->in_place) {
      if (node->dtype != TESELA_DTYPE_NONE && node->dtype != x->dtype)
        return tesela__graph_fail(
            err, TESELA_E_INVALID, node,
            "type %s differs from operand 0, whose memory it shares; convert with pointwise copy",
            tesela_dtype_name(node->dtype));
      node->dtype = x->dtype;
      node->bits = x->bits;
    }
  }
  if (node->dtype != TESELA_DTYPE_NONE && !tesela_dtype_name(node->dtype))
    return tesela__graph_fail(err, TESELA_E_RANGE, node, "unknown type %d", (int)node->dtype);
  return TESELA_OK;
}

/* The width of an element, once the type is known. */
static tesela_status add_check_type(tesela_node *node, tesela_error *err) {
  if (node->dtype != TESELA_DTYPE_NONE) node->bits = 8 * tesela_dtype_bytes(node->dtype);
  if (node->op == TESELA_OP_FALLBACK && node->dtype == TESELA_TOKEN) {
    if (node->rank == 0) return TESELA_OK;
    return tesela__graph_fail(err, TESELA_E_INVALID, node, "a token has no dims; found %" PRId32, node->rank);
  }
  if (node->dtype != TESELA_DTYPE_NONE && node->bits == 0)
    return tesela__graph_fail(err, TESELA_E_INVALID, node, "a tensor cannot have type %s",
                              tesela_dtype_name(node->dtype));
  if (node->bits == 0)
    return tesela__graph_fail(err, TESELA_E_INVALID, node, "the element type or its bits are missing");
  if (node->bits < 1 || node->bits > 1024)
    return tesela__graph_fail(err, TESELA_E_RANGE, node, "%" PRId32 " bits per element; expected 1 to 1024",
                              node->bits);
  return TESELA_OK;
}

/* Check that elements and bits fit int64, extents of 0 aside, and set the strides of a tensor with its own memory. */
static tesela_status add_check_size(tesela_node *node, bool own, tesela_error *err) {
  int64_t count = tesela__max(node->bits, 1);
  bool fits = true;
  for (int32_t d = 0; d < node->rank && fits; d++)
    fits = tesela__mul(count, tesela__max(node->shape[d], 1), &count);
  if (!fits) {
    char shape[TESELA__SHAPE_TEXT];
    return tesela__graph_fail(err, TESELA_E_OVERFLOW, node, "%s of %" PRId32 " bits exceeds 2^63 bits",
                              tesela__shape_text(shape, node->rank, node->shape), node->bits);
  }
  bool empty = false;
  for (int32_t d = 0; d < node->rank; d++) empty = empty || node->shape[d] == 0;
  if (empty) node->offset = 0; /* keeps offsets inside the buffer */
  if (own) {
    node->offset = 0;
    memset(node->stride, 0, sizeof node->stride);
    tesela__graph_row_major(node->rank, node->shape, node->stride); /* the product above bounds them */
  }
  return TESELA_OK;
}

static tesela_status add_fill(const tesela_graph *graph, const tesela_node_spec *spec,
                              const struct add_row *row, tesela_node *node, tesela_error *err) {
  tesela_status status = add_check_operands(graph, row, node, err);
  if (status != TESELA_OK) return status;
  node->view = row->view;
  if (node->op != TESELA_OP_POINTWISE && node->op != TESELA_OP_REDUCE && node->op != TESELA_OP_SCATTER &&
      node->op != TESELA_OP_ALONG && node->op != TESELA_OP_POOL)
    node->fn = TESELA_FN_NONE;
  if (node->op != TESELA_OP_FALLBACK && node->fn != TESELA_FN_FUSED) node->opcode = NULL;
  if (node->op != TESELA_OP_CONSTANT && node->op != TESELA_OP_PAD) node->value = 0;
  if (node->op != TESELA_OP_REDUCE) node->keepdim = false;
  if (node->in_place) status = add_check_in_place(graph, row, node, err);
  if (status == TESELA_OK) status = add_inherit(graph, node, err);
  if (status == TESELA_OK) status = row->shape(graph, spec, node, err);
  if (status == TESELA_OK) status = add_check_type(node, err);
  bool own = !node->view && !node->in_place;
  if (status == TESELA_OK) status = add_check_size(node, own, err);
  if (own) node->buffer = graph->count;
  for (int32_t d = node->rank; d < TESELA_GRAPH_RANK; d++) node->shape[d] = node->stride[d] = 0;
  return status;
}

tesela_status tesela_graph_add(tesela_graph *graph, const tesela_node_spec *spec, int32_t *node,
                               tesela_error *err) {
  TESELA__NEED(err, graph, spec);
  TESELA__NEED_CLEAR(err, spec);
  const struct add_row *row = NULL;
  for (size_t i = 0; i < sizeof add_rows / sizeof add_rows[0]; i++)
    if (add_rows[i].op == spec->op) row = &add_rows[i];
  if (!row) return tesela__fail(err, TESELA_E_RANGE, -1, "unknown class of operators %d", (int)spec->op);
  if (!tesela_fn_name(spec->fn))
    return tesela__fail(err, TESELA_E_RANGE, -1, "unknown function %d", (int)spec->fn);
  if (spec->n_operands < 0 || (spec->n_operands > 0 && !spec->operand))
    return tesela__fail(err, TESELA_E_INVALID, -1, "%s: %" PRId32 " operands, but no list of them",
                        tesela_op_name(spec->op), spec->n_operands);
  if (graph->count == INT32_MAX) return tesela__fail(err, TESELA_E_LIMIT, -1, "more than 2^31 - 1 nodes");
  char made[TESELA_GRAPH_NAME];
  tesela_status status = TESELA_OK;
  if (spec->name)
    status = add_check_name(graph, spec, err);
  else
    add_make_name(graph, spec, made);
  if (status != TESELA_OK) return status;
  tesela__graph_entry *entry = NULL;
  if (!tesela__graph_reserve(graph) || !(entry = add_allocate(graph, spec, spec->name ? spec->name : made)))
    return tesela__fail(err, TESELA_E_MEMORY, -1, "no memory for a node");
  status = add_fill(graph, spec, row, &entry->node, err);
  if (status != TESELA_OK) {
    tesela__release(&graph->allocator, entry);
    return status;
  }
  tesela__graph_append(graph, entry);
  tesela__graph_entry *buffer = graph->entry[entry->node.buffer];
  if (entry->node.in_place)
    buffer->writes++; /* below 2^31 like the nodes; it is not an output, which was checked */
  entry->value = buffer->writes;
  if (node) *node = graph->count - 1;
  return TESELA_OK;
}
