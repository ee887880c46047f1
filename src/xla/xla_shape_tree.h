/* SPDX-License-Identifier: Apache-2.0 */
/*
 * xla_shape_tree.h - what a tree of shapes consists of, for those who build and print it (notation/xla/xla_tree.c).
 *
 * One block of memory: the tree, its nodes in reading order, the shapes of its leaves in the same order.
 */
#ifndef TESELA_SRC_XLA_TREE_H
#define TESELA_SRC_XLA_TREE_H

#include <tesela/xla.h>

typedef struct tesela__xla_node {
  tesela_xla_kind kind;
  int32_t parent, next, n_members; /* as in tesela_xla_node */
  int32_t member;                  /* which member of its parent it is */
  int32_t leaf;                    /* number of its shape; -1 for a tuple */
} tesela__xla_node;

struct tesela_xla_tree {
  tesela_allocator allocator;
  int32_t n_nodes, n_leaves;
  tesela__xla_node *node;
  tesela_xla_shape *leaf;
};

/* Memory for a tree with this many nodes and leaves, its arrays not filled. NULL on failure. */
tesela_xla_tree *tesela__xla_tree_alloc(const tesela_allocator *allocator, int32_t n_nodes, int32_t n_leaves);

#endif
