/* SPDX-License-Identifier: Apache-2.0 */
/*
 * run_operator.h - declarations that the files of one operator share.
 *
 *   run_operator.c   tensors, types, the loops of the result in blocks, the function for a block
 *   run_block.c      the blocks, one after the other
 *   run_element.c    pointwise, constant, gather, scatter, copies
 *   run_fold.c       reduce, matmul, conv2d, pool
 *
 * A *block* is processed at once: the elements of some counters of one loop of the result (the row), for folds also of a second
 * one (the column), with the other loops fixed. All operands of a block are read before it is written.
 */
#ifndef TESELA_SRC_GRAPH_RUN_OPERATOR_H
#define TESELA_SRC_GRAPH_RUN_OPERATOR_H

#include "graph/run/run.h"

enum { RUN_ROW = 256 }; /* most elements of a row */

typedef struct tesela__run_state {
  tesela__run *run;
  const tesela_node *node;
  tesela_op_loops loops;
  tesela_core_share share;
  int32_t n_outer;                  /* loops of the result, before the folded ones */
  int32_t row, column;              /* loops of a block, or -1 */
  int64_t most[TESELA_DEVICE_DIMS]; /* counters of each loop in a block */
  int64_t counter[TESELA_DEVICE_DIMS];
  int64_t count[TESELA_DEVICE_DIMS]; /* those of this block, padding left out */
  int64_t iteration[TESELA_GRAPH_ITERATION];
  tesela__run_tensor *result, *operand; /* the operands, n of them */
  /* what the function of the node needs */
  tesela__run_class in;
  tesela_fn fold;
  tesela__run_value first;
  tesela_dtype *dtype;
  /* rows of RUN_ROW */
  int64_t *to_list, **from_list; /* room for places of the result, of each operand */
  tesela__run_places to, *from;
  tesela__run_value **value; /* of each operand, and one more */
  struct tesela__run_folding *folding;
} tesela__run_state;

/* Blocks of loops from .. to-1: the first, the next (false after the last), and its part without padding (false: nothing). */
bool tesela__run_begin(tesela__run_state *s, int32_t from, int32_t to);
bool tesela__run_next(tesela__run_state *s, int32_t from, int32_t to);
bool tesela__run_inside(tesela__run_state *s, int32_t from, int32_t to);
/* A row along a loop (-1: of one element), and its number of elements in this block. */
tesela__run_line tesela__run_line_of(const tesela__run_state *s, int32_t loop);
int64_t tesela__run_count(const tesela__run_state *s, int32_t loop);
/* Does operand k share memory with the result? */
bool tesela__run_meets(const tesela__run_state *s, int32_t k);
tesela_status tesela__run_no_memory(tesela_error *err);

/* Begin before the first block; run one block. */
tesela_status tesela__run_fold_begin(tesela__run_state *s, tesela_error *err);
tesela_status tesela__run_fold_block(tesela__run_state *s, tesela_error *err);
tesela_status tesela__run_pointwise_block(tesela__run_state *s, tesela_error *err);
tesela_status tesela__run_constant_block(tesela__run_state *s, tesela_error *err);
tesela_status tesela__run_gather_block(tesela__run_state *s, tesela_error *err);
tesela_status tesela__run_copy_block(tesela__run_state *s, tesela_error *err);
/* The updates of a scatter, once its operand 0 is copied. */
tesela_status tesela__run_scatter(tesela__run_state *s, tesela_error *err);

#endif
