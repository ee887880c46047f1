/* SPDX-License-Identifier: Apache-2.0 */
/*
 * graph_oracle.h - programs computed by the definitions of their operators, on plain arrays.
 *
 * Every node has its own array, row-major over its shape, also views; a write in place makes a new array. Uses shapes
 * and attributes of nodes, and nothing else of the library.
 */
#ifndef TESELA_TESTS_GRAPH_ORACLE_H
#define TESELA_TESTS_GRAPH_ORACLE_H

#include <tesela/tesela.h>

/* Like tesela_graph_run. 0: done; 1: a looked-up index is outside its dim; 2: something unknown. */
int graph_oracle_run(const tesela_graph *graph, const void *const *inputs, void *const *outputs);

/* All values of one node as doubles (integers converted), in arrays that the caller frees; for programs run elsewhere.
 * NULL on failure. */
double **graph_oracle_values(const tesela_graph *graph, const void *const *inputs);

#endif
