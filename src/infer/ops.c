/* SPDX-License-Identifier: Apache-2.0 */
/*
 * ops.c - the table of operations of a kernel program; the nearest word to a misspelt one.
 */
#include "infer/infer_state.h"

/* ---- the table ----------------------------------------------------------------------------------------- */

/* name, operands, summary, least and most tensors, keys, required keys, fit, rule, check, image, preimage; by name */
#define INFER_OPS(X)                                                                                        \
  X("cast", "y, x", "convert the elements to another type", 2, 2, 0, 0, tesela__infer_fit_cast,             \
    tesela__infer_rule_move, tesela__infer_check_move, tesela__infer_same, tesela__infer_broadcast)         \
  X("convert", "y, x", "change the layout, through shuffles or shared memory", 2, 2, 0, 0,                  \
    tesela__infer_fit_convert, tesela__infer_rule_convert, tesela__infer_check_nothing, NULL, NULL)         \
  X("copy", "y, x", "copy registers of the same thread, or memory to memory", 2, 2, 0, 0,                   \
    tesela__infer_fit_copy, tesela__infer_rule_move, tesela__infer_check_move, tesela__infer_same,          \
    tesela__infer_broadcast)                                                                                \
  X("dot", "d, a, b[, c] atom=.. warps=[m, n]", "d = a b + c by matrix instructions", 3, 4,                 \
    TESELA__INFER_KEY_ATOM | TESELA__INFER_KEY_WARPS, 0, tesela__infer_fit_dot, tesela__infer_rule_dot,     \
    tesela__infer_check_dot, NULL, NULL)                                                                    \
  X("elementwise", "z[, x, ...]", "z = f(x, ...), operands broadcast to z as numpy does", 1, 0, 0, 0,       \
    tesela__infer_fit_elementwise, tesela__infer_rule_move, tesela__infer_check_move, tesela__infer_same,   \
    tesela__infer_broadcast)                                                                                \
  X("load", "r, m", "memory to registers", 2, 2, 0, 0, tesela__infer_fit_load, tesela__infer_rule_memory,   \
    tesela__infer_check_access, NULL, NULL)                                                                 \
  X("permute", "y, x dims=[..]", "dim k of y is dim dims[k] of x", 2, 2, TESELA__INFER_KEY_DIMS,            \
    TESELA__INFER_KEY_DIMS, tesela__infer_fit_permute, tesela__infer_rule_move, tesela__infer_check_move,   \
    tesela__infer_permute, tesela__infer_unpermute)                                                         \
  X("reduce", "r, x dims=[..] keepdims=False", "reduce along these dims to one element", 2, 2,              \
    TESELA__INFER_KEY_DIMS | TESELA__INFER_KEY_KEEPDIMS, TESELA__INFER_KEY_DIMS, tesela__infer_fit_reduce,  \
    tesela__infer_rule_move, tesela__infer_check_reduce, tesela__infer_reduce, tesela__infer_unreduce)      \
  X("reshape", "y, x", "same row-major element numbers in the shape of y", 2, 2, 0, 0,                      \
    tesela__infer_fit_reshape, tesela__infer_rule_move, tesela__infer_check_move, tesela__infer_reshape,    \
    tesela__infer_reshape)                                                                                  \
  X("squeeze", "y, x dims=[..]", "without these dims of extent 1", 2, 2, TESELA__INFER_KEY_DIMS,            \
    TESELA__INFER_KEY_DIMS, tesela__infer_fit_squeeze, tesela__infer_rule_move, tesela__infer_check_move,   \
    tesela__infer_squeeze, tesela__infer_unsqueeze)                                                         \
  X("store", "m, r", "registers to memory", 2, 2, 0, 0, tesela__infer_fit_store, tesela__infer_rule_memory, \
    tesela__infer_check_access, NULL, NULL)                                                                 \
  X("transpose", "y, x", "the last two dims swapped", 2, 2, 0, 0, tesela__infer_fit_transpose,              \
    tesela__infer_rule_move, tesela__infer_check_move, tesela__infer_permute, tesela__infer_unpermute)      \
  X("unsqueeze", "y, x dims=[..]", "with dims of extent 1 at these positions of y", 2, 2,                   \
    TESELA__INFER_KEY_DIMS, TESELA__INFER_KEY_DIMS, tesela__infer_fit_unsqueeze, tesela__infer_rule_move,   \
    tesela__infer_check_move, tesela__infer_unsqueeze, tesela__infer_squeeze)

static const tesela__infer_op infer_ops[] = {
#define INFER_ROW(name, operands, summary, least, most, keys, needed, fit, rule, check, image, preimage) \
  {name, least, most, keys, needed, fit, rule, check, image, preimage},
    INFER_OPS(INFER_ROW)
#undef INFER_ROW
};

static const tesela_kernel_operation infer_operations[] = {
#define INFER_ROW(name, operands, summary, least, most, keys, needed, fit, rule, check, image, preimage) \
  {name, operands, summary},
    INFER_OPS(INFER_ROW)
#undef INFER_ROW
};

enum { N_INFER_OPS = sizeof infer_ops / sizeof infer_ops[0] };

const tesela_kernel_operation *tesela_kernel_operations(int32_t *n) {
  if (n) *n = N_INFER_OPS;
  return infer_operations;
}

const tesela__infer_op *tesela__infer_op_find(const char *name, size_t length) {
  for (int32_t i = 0; i < N_INFER_OPS; i++)
    if (strlen(infer_ops[i].name) == length && memcmp(infer_ops[i].name, name, length) == 0)
      return &infer_ops[i];
  return NULL;
}

/* ---- the nearest name ---------------------------------------------------------------------------------- */

/* First words of lines: operations, then declarations. */
static const char *infer_statement_word(const void *user, int32_t i) {
  static const char *const words[] = {"global", "register", "shared", "threads", NULL};
  (void)user;
  return i < N_INFER_OPS ? infer_ops[i].name : words[i - N_INFER_OPS];
}

const char *tesela__infer_op_nearest(const char *name, size_t length) {
  return tesela_nearest(name, length, infer_statement_word, NULL);
}
