/* SPDX-License-Identifier: Apache-2.0 */
/*
 * loops.h - the tensors of an operator, for loops and execution.
 *
 * An iteration index becomes a place in three steps:
 *
 *   index      tensor dim d:  t = (start + sum factor * iteration dim) / divide     (tesela_index)
 *   view       coordinate b:  x = offset[b] + sum of by[d] * t over the dims d of b
 *   base       a layout of the core: coordinates x -> place
 *
 * The coordinates are the dims of the buffer if the view maps to them without carries; else (a reshape across dims of the
 * buffer) they are the tensor's own dims, and base is the composition of both layouts.
 */
#ifndef TESELA_SRC_GRAPH_LOOPS_H
#define TESELA_SRC_GRAPH_LOOPS_H

#include <tesela/graph.h>

#include "base/base.h"

typedef struct tesela__op_tensor {
  int32_t node, buffer;
  int32_t rank;
  int64_t shape[TESELA_GRAPH_RANK];
  tesela_index index[TESELA_GRAPH_RANK];
  int32_t to[TESELA_GRAPH_RANK]; /* coordinate of each dim, or -1 */
  int64_t by[TESELA_GRAPH_RANK];
  int64_t offset[TESELA_MAX_RANK]; /* of each of the base.rank coordinates */
  tesela_layout base;
} tesela__op_tensor;

/* The tensor of a node, each dim indexed by the iteration dim of the same number. `plain`: buffers are row-major and need no
 * layout. TESELA_E_INVALID without a layout. */
tesela_status tesela__tensor_of(const tesela_graph *graph, int32_t node, bool plain,
                                tesela__op_tensor *tensor, tesela_error *err);
/* Operand k of a node, indexed by the operator; -1: the result. */
tesela_status tesela__op_tensor_of(const tesela_graph *graph, int32_t node, int32_t k, bool plain,
                                   tesela__op_tensor *tensor, tesela_error *err);
/* Does it have a dim that is looked up? */
bool tesela__op_tensor_looked_up(const tesela__op_tensor *tensor);

/* As tesela_graph_loops; plain: one loop for each iteration dim. */
tesela_status tesela__op_loops(const tesela_graph *graph, int32_t node, bool plain, tesela_op_loops *loops,
                               tesela_error *err);

/* The place of a tensor as a layout of counters. `extra` >= 0: the looked-up index is one more counter, of that many
 * values, after those of the loops. */
tesela_status tesela__loop_place(const tesela_op_loops *loops, const tesela__op_tensor *tensor, int64_t extra,
                                 tesela_layout *place, int64_t *before, tesela_error *err);

/* The contribution of value x of a coordinate to the place. */
int64_t tesela__coordinate_place(const tesela_layout *base, int32_t coordinate, int64_t x);

#endif
