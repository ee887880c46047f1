/* SPDX-License-Identifier: Apache-2.0 */
/*
 * loops_print.h - the state of printing loops, and the parts of a statement.
 */
#ifndef TESELA_SRC_GRAPH_LOOPS_PRINT_H
#define TESELA_SRC_GRAPH_LOOPS_PRINT_H

#include "graph/program/graph.h"
#include "graph/loops/loops_text.h"

typedef struct tesela__print {
  const tesela_graph *graph;
  const tesela_node *node;
  int32_t number;
  tesela_op_loops loops;
  int32_t n_outer;
  tesela__terms text;
  int32_t counter[TESELA_DEVICE_DIMS + 1]; /* atoms of the loops, then of the index that is looked up */
  tesela__terms_sum written;               /* the place of the last assignment */
  tesela__sink *sink;
  int32_t depth;
  tesela_status status; /* the first failure */
  tesela_error *err;
} tesela__print;

/* A new line, indented. */
void tesela__print_line(tesela__print *s);
/* "{" after the loops, or on a line of its own without loops. */
void tesela__print_open(tesela__print *s);
void tesela__print_number(tesela__print *s, double value);
/* The value of an iteration dim times `by`, added to a sum. */
void tesela__print_dim(tesela__print *s, int32_t dim, int64_t by, tesela__terms_sum *sum);
/* "if (..)" for counters beyond their dims, of loops from .. to-1. Returns whether it was printed. */
bool tesela__print_inside(tesela__print *s, int32_t from, int32_t to);
/* The conditions under which operand k has an element at an iteration inside the dims; false: it always has one. */
bool tesela__print_exists(tesela__print *s, const tesela__op_tensor *tensor, bool line);
/* Operand k; false: failure, in s->status. */
bool tesela__print_tensor(tesela__print *s, int32_t k, tesela__op_tensor *tensor);
/* "a[..]". For the result: a line of its own, after loops over copies; s->written receives its place. */
void tesela__print_element(tesela__print *s, const tesela__op_tensor *tensor, bool result);
void tesela__print_operand(tesela__print *s, int32_t k);
/* "t1[..] = " */
void tesela__print_result(tesela__print *s);
void tesela__print_at(tesela__print *s, int32_t buffer, const tesela__terms_sum *place);

#endif
