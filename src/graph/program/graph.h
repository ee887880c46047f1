/* SPDX-License-Identifier: Apache-2.0 */
/*
 * graph.h - the program inside the library: nodes with internal data, names, and the table of operators.
 *
 * A node, its name, opcode and operands are one allocation that never moves. Each value of a buffer has a number: the count of
 * writes in place before it; a value with another number than its buffer's is overwritten and may not be used.
 */
#ifndef TESELA_SRC_GRAPH_H
#define TESELA_SRC_GRAPH_H

#include <tesela/graph.h>

#include "base/base.h"

typedef struct tesela__graph_entry {
  tesela_node node;
  uint64_t hash;                /* of the name */
  int32_t value;                /* number of the buffer's value that the node sees */
  int32_t writes;               /* of a buffer: number of writes in place */
  bool value_out;               /* of a buffer: a node that shows its current value is an output */
  tesela_device_layout *layout; /* node.layout, owned */
} tesela__graph_entry;

struct tesela_graph {
  tesela_allocator allocator;
  int32_t count, n_hints, n_outputs;
  size_t capacity, hint_capacity, output_capacity, n_slots;
  tesela__graph_entry **entry;
  tesela_hint *hint;
  int32_t *output; /* nodes, in the order of the outputs */
  int32_t *slot; /* names, open addressing: node + 1, 0 is free; n_slots is a power of two above 2 * count */
};

static inline const tesela_node *tesela__graph_at(const tesela_graph *graph, int32_t k) {
  return &graph->entry[k]->node;
}
/* The node of operand k, which must exist. */
static inline const tesela_node *tesela__graph_operand(const tesela_graph *graph, const tesela_node *node,
                                                       int32_t k) {
  return tesela__graph_at(graph, node->operand[k]);
}

/* Room for one more node and its name; false: no memory. The next append cannot fail. */
bool tesela__graph_reserve(tesela_graph *graph);
void tesela__graph_append(tesela_graph *graph, tesela__graph_entry *entry);
uint64_t tesela__graph_hash(const char *name, size_t length);

/* ---- operators: a row of the table per class ---- */

/* Fill shape and attributes of *node from its operands and the spec. op, fn, name, operands, type, and what a view inherits
 * from operand 0 (buffer, offset, strides) are already set; shape and rank are those of operand 0. A view sets its strides; for
 * other operators they are set later. */
typedef tesela_status tesela__graph_shape(const tesela_graph *graph, const tesela_node_spec *spec,
                                          tesela_node *node, tesela_error *err);

tesela__graph_shape tesela__shape_input, tesela__shape_constant, tesela__shape_pointwise,
    tesela__shape_reduce, tesela__shape_matmul, tesela__shape_conv2d, tesela__shape_gather,
    tesela__shape_scatter, tesela__shape_cat, tesela__shape_pad, tesela__shape_write, tesela__shape_copy,
    tesela__shape_fallback, tesela__view_permute, tesela__view_reshape, tesela__view_squeeze,
    tesela__view_unsqueeze, tesela__view_expand, tesela__view_slice, tesela__shape_along, tesela__shape_pool;

/* ---- what shape functions share ---- */

/* Fail with a message that starts with the operator and its name. */
tesela_status tesela__graph_fail(tesela_error *err, tesela_status status, const tesela_node *node,
                                 const char *format, ...) TESELA_PRINTF(4, 5);

enum { TESELA__SHAPE_TEXT = 96 };
/* "[128,256]", cut with ".." if too long. */
const char *tesela__shape_text(char text[TESELA__SHAPE_TEXT], int32_t rank, const int64_t *shape);

/* AND, OR, XOR, NOT, shifts and bit counts need integers or bool; TESELA_OK for all other functions. */
tesela_status tesela__graph_check_bits(const tesela_graph *graph, const tesela_node *node, tesela_error *err);
/* The motion of a window along a dim: it reads x at (stride * out + dilation * element - low) / x_dilation. */
typedef struct tesela__window {
  int64_t stride, dilation, x_dilation, low, high;
} tesela__window;
/* The number of positions of a window of k elements along a dim of n. The first three are 1 or more. false: it exceeds 2^32, or
 * a border, the padded dim or the window exceeds 2^62. So indices fit, even for counters up to the end of a stick. */
bool tesela__window_places(int64_t n, int64_t k, const tesela__window *window, int64_t *places);

/* spec->shape as the node's: extents >= 0, `least` (0 or -1) allowed. */
tesela_status tesela__graph_given_shape(const tesela_node_spec *spec, int64_t least, tesela_node *node,
                                        tesela_error *err);
/* A dim of a tensor of `rank` dims, negative ones from the end. */
tesela_status tesela__graph_dim(const tesela_node *node, int32_t given, int32_t rank, int32_t *dim,
                                tesela_error *err);
/* spec->dims as node->dim, n_dims: distinct dims of `rank`. */
tesela_status tesela__graph_dims(const tesela_node_spec *spec, int32_t rank, tesela_node *node,
                                 tesela_error *err);
/* Does node->dim[] contain d? */
bool tesela__graph_names_dim(const tesela_node *node, int32_t d);

/* A missing type is that of operand 0. */
void tesela__graph_type_of_first(const tesela_graph *graph, tesela_node *node);
/* The strides of a view of operand 0's elements in another shape, or false. Extents multiply to the same number. */
bool tesela__graph_reshape_strides(int32_t from_rank, const int64_t *from_shape, const int64_t *from_stride,
                                   int32_t rank, const int64_t *shape, int64_t *stride);
/* Strides of a row-major tensor; false if they exceed int64. An extent of 0 counts as 1. */
bool tesela__graph_row_major(int32_t rank, const int64_t *shape, int64_t *stride);

/* TESELA_E_RANGE for a number that is not a node's. */
tesela_status tesela__graph_check_node(const tesela_graph *graph, int32_t node, tesela_error *err);
/* Outputs and hints of a program, for the copy of it whose nodes `map` gives. */
tesela_status tesela__graph_copy_marks(tesela_graph *to, const tesela_graph *from, const int32_t *map,
                                       tesela_error *err);

/* The spec that adds a node again (to another graph). It points into the node. The name
 * and the operand numbers are those of the node's own graph. */
void tesela__graph_spec_of(const tesela_node *node, tesela_node_spec *spec);

#endif
