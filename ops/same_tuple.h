/* SPDX-License-Identifier: Apache-2.0 */
/*
 * same_tuple.h - XLA arrays and tuples compared, member by member, up to the first that differs.
 */
#ifndef TESELA_OPS_SAME_TUPLE_H
#define TESELA_OPS_SAME_TUPLE_H

#include <tesela/xla.h>

#define SAME_PATH 400 /* bytes of the name of a member */

typedef struct same_side {
  const char *name; /* "A", "B" */
  tesela_xla_tree *tree;
  tesela_layout layout; /* of the array that is compared */
  int64_t place;        /* of the first element that differs */
} same_side;

typedef struct same_comparison {
  same_side a, b;
  bool tuples;
  int32_t node;           /* that is compared */
  char member[SAME_PATH]; /* "1,0": member 0 of member 1 */
  tesela_difference d;
} same_comparison;

/* Is one of the two a tuple? */
bool same_is_tuple(const same_comparison *c);

/* Compare the two trees: c->d has whether they are the same and, if not, how they differ; c->member names the member that differs. An error names the
 * member, if there are tuples. */
tesela_status same_compare_trees(same_comparison *c, tesela_error *err);

/* The member that c->node is, into c->member. */
void same_name_member(same_comparison *c);

#endif
