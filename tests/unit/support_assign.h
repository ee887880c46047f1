/* SPDX-License-Identifier: Apache-2.0 */
/*
 * support_assign.h - assignment problems for tests: drawn at random, summed and solved by the definition alone.
 */
#ifndef TESELA_TEST_SUPPORT_ASSIGN_H
#define TESELA_TEST_SUPPORT_ASSIGN_H

#include <inttypes.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include <cmocka.h>

#include "solve/assign/assign.h"

enum { ASSIGN_NODES = 64, ASSIGN_EDGES = 192, ASSIGN_STATES = 6 };

/* A problem as tables. Edges may be double, and go from a node to itself. */
typedef struct assign_case {
  int32_t n, m, states[ASSIGN_NODES], a[ASSIGN_EDGES], b[ASSIGN_EDGES];
  tesela__cost node[ASSIGN_NODES][ASSIGN_STATES], edge[ASSIGN_EDGES][ASSIGN_STATES * ASSIGN_STATES];
} assign_case;

/* How to draw one. */
typedef struct assign_kind {
  int32_t most_nodes, most_states;
  int32_t edges_per_node; /* at most so many */
  int32_t infinite;       /* per cent */
  int64_t elements;       /* below this, or ... */
  bool extreme;           /* numbers around 2^59 and 2^60 */
  int32_t moves;          /* below this */
  bool alike;             /* nothing where states are the same */
} assign_kind;

int32_t assign_draw(uint64_t *seed, int32_t n);
void assign_draw_case(assign_case *c, const assign_kind *kind, uint64_t *seed);

tesela__assign *assign_build(const assign_case *c, const tesela_allocator *allocator);

/* The sum by the definition: infinite if a part is, or the elements come to 2^60. */
tesela__cost assign_sum(const assign_case *c, const int32_t *state);
/* -1, 0, 1 */
int assign_order(tesela__cost a, tesela__cost b);
/* The least cost of all assignments, by going through them. fixed may be NULL. */
tesela__cost assign_exhaust(const assign_case *c, const int32_t *fixed);

/* What is wrong with an answer, if the least cost is `best`; NULL: nothing. `complete`: it must be proven. */
const char *assign_fault(const assign_case *c, const int32_t *fixed, tesela__cost best, bool complete,
                         const int32_t *state, const tesela__assigned *result);

#endif
