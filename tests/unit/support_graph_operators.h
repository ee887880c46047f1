/* SPDX-License-Identifier: Apache-2.0 */
/*
 * support_graph_operators.h - declarations that the two files of random programs (support_graph_random.h) share.
 */
#ifndef TESELA_TESTS_SUPPORT_GRAPH_OPERATORS_H
#define TESELA_TESTS_SUPPORT_GRAPH_OPERATORS_H

#include <inttypes.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "support_graph_random.h"

enum { RANK = TESELA_GRAPH_RANK, MOST = 1500, RANDOM_TYPES = 12 };

extern const tesela_dtype random_types[RANDOM_TYPES];

int64_t random_elements(int32_t rank, const int64_t *shape);

/* Add an input with data; integers are below `limit` if that is above 0. -1: no room. */
int32_t random_add_input(random_program *p, uint64_t *state, tesela_dtype dtype, int32_t rank,
                         const int64_t *shape, int64_t limit);

/* ---- support_graph_operators.c -------------------------------------------------------------------------- */

/* Add an operator of a class; false if the graph refuses it. */
bool random_add_operator(random_program *p, uint64_t *state, tesela_op op);
int32_t random_fresh_input(random_program *p, uint64_t *state);
const tesela_node *random_node(const random_program *p, int32_t k);

#endif
