/* SPDX-License-Identifier: Apache-2.0 */
/*
 * graph_json_op.h - one operator of a program in JSON, for graph_json_read.c: its names and attributes.
 *
 * Every function returns false after filling op->err.
 */
#ifndef TESELA_CLI_GRAPH_JSON_OP_H
#define TESELA_CLI_GRAPH_JSON_OP_H

#include "graph_json.h"

/* What the lists of a spec point to. */
typedef struct graph_lists {
  int64_t shape[TESELA_GRAPH_RANK], strides[TESELA_GRAPH_RANK], dims64[TESELA_GRAPH_RANK];
  int64_t start[TESELA_GRAPH_RANK], length[TESELA_GRAPH_RANK], step[TESELA_GRAPH_RANK];
  int64_t dilation[TESELA_GRAPH_RANK], x_dilation[TESELA_GRAPH_RANK];
  int64_t low[TESELA_GRAPH_RANK], high[TESELA_GRAPH_RANK];
  int32_t dims[TESELA_GRAPH_RANK], label[2][TESELA_GRAPH_RANK];
  int32_t *operand;
} graph_lists;

/* op, out, fn, opcode. */
bool graph_json_names(const jr_object *op, tesela_node_spec *spec);

/* size, dims, start and so on. A number is a list of one: {"dim": 1} is {"dims": [1]}. */
bool graph_json_attributes(const jr_object *op, graph_lists *lists, tesela_node_spec *spec);

/* Lists per dim may have one entry for each of `dims`: start of dim 1 alone. The lengths must agree. */
bool graph_json_check_lists(const tesela_graph *graph, const jr_object *op, const tesela_node_spec *spec);

/* Functions may have any number of operands: a number that does not fit makes it an unknown function. */
void graph_json_fit_function(tesela_node_spec *spec);

#endif
