/* SPDX-License-Identifier: Apache-2.0 */
/*
 * support_assign.h - random assignment problems, evaluated and solved by the definition.
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

/* A problem as tables. Edges can be double, or join a node with itself. */
typedef struct assign_case {
  int32_t n, m, states[ASSIGN_NODES], a[ASSIGN_EDGES], b[ASSIGN_EDGES];
  tesela__cost node[ASSIGN_NODES][ASSIGN_STATES], edge[ASSIGN_EDGES][ASSIGN_STATES * ASSIGN_STATES];
} assign_case;

/* Parameters of random problems. */
typedef struct assign_kind {
  int32_t most_nodes, most_states;
  int32_t edges_per_node; /* at most */
  int32_t infinite;       /* per cent */
  int64_t elements;       /* less than this, or ... */
  bool extreme;           /* numbers around 2^59 and 2^60 */
  int32_t moves;          /* less than this */
  bool alike;             /* edges cost nothing between equal states */
} assign_kind;

int32_t assign_draw(uint64_t *seed, int32_t n);
void assign_draw_case(assign_case *c, const assign_kind *kind, uint64_t *seed);

tesela__assign *assign_build(const assign_case *c, const tesela_allocator *allocator);

/* The sum by the definition: infinite if a part is infinite or the elements reach 2^60. */
tesela__cost assign_sum(const assign_case *c, const int32_t *state);
/* -1, 0, 1 */
int assign_order(tesela__cost a, tesela__cost b);
/* The least cost over all assignments, by trying them. fixed may be NULL. */
tesela__cost assign_exhaust(const assign_case *c, const int32_t *fixed);

/* The fault of an answer, given the least cost; or NULL. `complete`: it must be proven. */
const char *assign_fault(const assign_case *c, const int32_t *fixed, tesela__cost best, bool complete,
                         const int32_t *state, const tesela__assigned *result);

#endif
