/* SPDX-License-Identifier: Apache-2.0 */
/*
 * support_graph_build.h - small programs for tests: inputs from texts like "f16[2,3]".
 */
#ifndef TESELA_TESTS_SUPPORT_GRAPH_BUILD_H
#define TESELA_TESTS_SUPPORT_GRAPH_BUILD_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <tesela/tesela.h>

/* A text like "f16[2,3]"; fails the test for another form. A type "-" is an element of 16 bits without a type. */
typedef struct build_shape {
  tesela_dtype dtype;
  int32_t rank;
  int64_t shape[TESELA_GRAPH_RANK + 4];
} build_shape;
const char *build_read(const char *text, build_shape *out); /* returns the rest of the text, after blanks */

/* An input of that shape; fails the test if it cannot be added. */
int32_t build_input(tesela_graph *graph, const char *name, const char *shape);
/* Inputs x0, x1, ... for "f16[2,3] s32[7]"; returns their number. */
int32_t build_inputs(tesela_graph *graph, const char *shapes, int32_t *node);
/* Lay out a buffer in sticks along a dim; fails the test if that is impossible. */
void build_lay_out(tesela_graph *graph, const tesela_target *target, int32_t node, int32_t stick);
/* Lay out all buffers with the target's default; fails the test if that is impossible for one. */
void build_lay_out_all(tesela_graph *graph, const tesela_target *target);
/* A node, or an input, with its buffer laid out in sticks along a dim; fails the test if that is impossible. */
int32_t build_node(tesela_graph *graph, const tesela_target *target, tesela_node_spec spec, int32_t stick);
int32_t build_laid_out(tesela_graph *graph, const tesela_target *target, const char *name, const char *shape,
                       int32_t stick);
/* Members of a tesela_node_spec. */
#define NODES(...) \
  .operand = (const int32_t[]){__VA_ARGS__}, .n_operands = (int32_t)(sizeof((int32_t[]){__VA_ARGS__}) / 4)
#define DIMS(...) \
  .dims = (const int32_t[]){__VA_ARGS__}, .n_dims = (int32_t)(sizeof((int32_t[]){__VA_ARGS__}) / 4)
/* Dims, and numbers. */
#define D(...) ((const int32_t[]){__VA_ARGS__})
#define N(...) ((const int64_t[]){__VA_ARGS__})
/* Is node k of this shape and type? */
bool build_is(const tesela_graph *graph, int32_t k, const char *shape);

#endif
