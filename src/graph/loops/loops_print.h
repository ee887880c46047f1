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
  int32_t
      counter[TESELA_DEVICE_DIMS + 1]; /* atoms of the loops, and of the index that is looked up after them */
  tesela__terms_sum written;           /* the place last assigned to */
  tesela__sink *sink;
  int32_t depth;
  tesela_status status; /* the first failure */
  tesela_error *err;
} tesela__print;

/* A new line, indented. */
void tesela__print_line(tesela__print *s);
/* "{" after the loops, or on its own line without loops. */
void tesela__print_open(tesela__print *s);
void tesela__print_number(tesela__print *s, double value);
/* The value of an iteration dim times `by`, added to a sum. */
void tesela__print_dim(tesela__print *s, int32_t dim, int64_t by, tesela__terms_sum *sum);
/* "if (..)" for counters that go beyond their dims, of the loops from .. to-1; true: it was printed. */
bool tesela__print_inside(tesela__print *s, int32_t from, int32_t to);
/* The conditions under which operand k has an element, given that the iteration is inside; false: it always has one. */
bool tesela__print_exists(tesela__print *s, const tesela__op_tensor *tensor, bool line);
/* Operand k; false: it failed, s->status says how. */
bool tesela__print_tensor(tesela__print *s, int32_t k, tesela__op_tensor *tensor);
/* "a[..]". The result's: its own line, after loops over copies; s->written is its place. */
void tesela__print_element(tesela__print *s, const tesela__op_tensor *tensor, bool result);
void tesela__print_operand(tesela__print *s, int32_t k);
/* "t1[..] = " */
void tesela__print_result(tesela__print *s);
void tesela__print_at(tesela__print *s, int32_t buffer, const tesela__terms_sum *place);

#endif
