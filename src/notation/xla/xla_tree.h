/* SPDX-License-Identifier: Apache-2.0 */
/*
 * xla_tree.h - builds trees of shapes from a reader and prints parts of them, for texts with several trees.
 *
 * A text is read twice with one function: a builder without a tree counts, one with a tree fills it.
 */
#ifndef TESELA_SRC_NOTATION_XLA_TREE_H
#define TESELA_SRC_NOTATION_XLA_TREE_H

#include <tesela/xla.h>

#include "notation/xla/xla_read.h"

typedef struct tesela__xla_builder {
  tesela_xla_tree *tree;     /* NULL: only count */
  int32_t n_nodes, n_leaves; /* so far */
  int32_t open;              /* the innermost open tuple, or -1 */
} tesela__xla_builder;

tesela__xla_builder tesela__xla_builder_make(tesela_xla_tree *tree);
/* Read one shape or tuple and add its nodes. */
tesela_status tesela__xla_build(tesela__xla_reader *reader, tesela__xla_builder *builder);
/* Reads the text before a member. */
typedef tesela_status tesela__xla_member_read(tesela__xla_reader *reader, void *user);
/* Add a tuple and read its members and `close`; the reader is after the opening bracket. */
tesela_status tesela__xla_build_tuple(tesela__xla_reader *reader, tesela__xla_builder *builder, char close,
                                      tesela__xla_member_read *read, void *user);

/* Print a node and all below it. */
void tesela__xla_put_node(tesela__sink *sink, const tesela_xla_tree *tree, int32_t first, bool with_layout);

#endif
