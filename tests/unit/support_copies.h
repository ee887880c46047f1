/* SPDX-License-Identifier: Apache-2.0 */
/*
 * support_copies.h - the cheapest plan with copies of views, by exhaustive search.
 *
 * Each way to put copies into a program is written as a program with `move` statements, each required to be in one
 * stick. Its other moves come from propagation without copies, which its own tests compare with a search by definition.
 */
#ifndef SUPPORT_COPIES_H
#define SUPPORT_COPIES_H

#include "support_propagate.h"

typedef struct copies_answer {
  bool ok;
  int64_t cost;  /* of moves, copies and preferences */
  int64_t moves; /* moves and copies; the fewest at that cost */
  int64_t tried;
} copies_answer;

/* `graph` is the program's, with outputs and hints. False if there are more than `most` ways. */
bool copies_search(const prog *p, const tesela_graph *graph, const tesela_target *target,
                   const tesela_propagate_options *options, int64_t most, copies_answer *answer);

#endif
