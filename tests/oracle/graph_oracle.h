/* SPDX-License-Identifier: Apache-2.0 */
/*
 * graph_oracle.h - programs computed by the definitions of their operators, on plain arrays.
 *
 * Every node has an array of its own, row-major over its shape, views too; a write in place makes a new array. It reads shapes and attributes
 * of nodes and nothing else of the library.
 */
#ifndef TESELA_TESTS_GRAPH_ORACLE_H
#define TESELA_TESTS_GRAPH_ORACLE_H

#include <tesela/tesela.h>

/* As tesela_graph_run. 0: done; 1: an index that is looked up is outside its dim; 2: something that it does not know. */
int graph_oracle_run(const tesela_graph *graph, const void *const *inputs, void *const *outputs);

/* All values of one node as doubles (integers converted), in arrays that the caller frees; for programs that were run elsewhere. NULL as
 * above. */
double **graph_oracle_values(const tesela_graph *graph, const void *const *inputs);

#endif
