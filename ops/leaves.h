/* SPDX-License-Identifier: Apache-2.0 */
/*
 * leaves.h - the arrays in a tuple, with their names.
 */
#ifndef TESELA_OPS_LEAVES_H
#define TESELA_OPS_LEAVES_H

#include "show_facts.h"

typedef struct leaf {
  const tesela_xla_shape *shape;
  show_text path; /* "1,0": member 0 of member 1 */
  bool sized;     /* false: token, opaque, `?` */
  show_facts facts;
} leaf;

typedef struct tuple {
  tesela_xla_tree *tree;
  int32_t count;
  int32_t *member; /* of each node: its number among the members of its tuple */
} tuple;

/* Number the members of the tree; false: no memory. t->member is the caller's to free. */
bool number_members(tuple *t);
/* The next leaf at or after a node; false after the last. */
bool next_leaf(const tuple *t, int32_t *node, leaf *out);

#endif
