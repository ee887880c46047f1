/* SPDX-License-Identifier: Apache-2.0 */
/*
 * xla_shape_tree.h - the struct of a tree of shapes, for its readers and printers (notation/xla/xla_tree.c).
 *
 * One allocation: the tree, the shapes of its leaves and its nodes, both in reading order.
 */
#ifndef TESELA_SRC_XLA_TREE_H
#define TESELA_SRC_XLA_TREE_H

#include <tesela/xla.h>

typedef struct tesela__xla_node {
  tesela_xla_kind kind;
  int32_t parent, next, n_members; /* as in tesela_xla_node */
  int32_t member;                  /* index among the members of its parent */
  int32_t leaf;                    /* index of its shape, or -1 for a tuple */
} tesela__xla_node;

struct tesela_xla_tree {
  tesela_allocator allocator;
  int32_t n_nodes, n_leaves;
  tesela__xla_node *node;
  tesela_xla_shape *leaf;
};

/* Allocate a tree with uninitialized nodes and leaves; NULL on failure. */
tesela_xla_tree *tesela__xla_tree_alloc(const tesela_allocator *allocator, int32_t n_nodes, int32_t n_leaves);

#endif
