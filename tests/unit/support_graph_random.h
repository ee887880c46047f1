/* SPDX-License-Identifier: Apache-2.0 */
/*
 * support_graph_random.h - random programs with data, and random layouts for their buffers.
 */
#ifndef TESELA_TESTS_SUPPORT_GRAPH_RANDOM_H
#define TESELA_TESTS_SUPPORT_GRAPH_RANDOM_H

#include <tesela/tesela.h>

enum { RANDOM_INPUTS = 64, RANDOM_OUTPUTS = 64 };

/* A program, its inputs, and memory for its outputs. */
typedef struct random_program {
  tesela_graph *graph;
  tesela_target target;
  int32_t n_inputs, n_outputs;
  void *data[RANDOM_INPUTS];         /* to free */
  const void *inputs[RANDOM_INPUTS]; /* element 0: strides may be negative */
  void *outputs[RANDOM_OUTPUTS];     /* of one run */
  int64_t bytes[RANDOM_OUTPUTS];
  tesela_dtype only; /* type of all tensors except indices and bool; NONE: any type */
} random_program;

/* 0 .. n-1, from a state that is never 0. */
int64_t random_below(uint64_t *state, int64_t n);

/* Up to `ops` operators of all classes that can run, on a target with sticks of 8 to 32 bytes. */
void random_program_make(random_program *p, uint64_t *state, int32_t ops);
/* One program for each class: its last operator is of that class, the others are views. */
bool random_program_of(random_program *p, uint64_t *state, tesela_op op, tesela_dtype only);
/* Layouts of any kind for all buffers: orders, one element per stick, padding, nested tiles, copies. */
void random_program_layouts(random_program *p, uint64_t *state);
void random_program_free(random_program *p);
/* Outputs filled with a byte. */
void random_program_clear(random_program *p, int byte);
/* The places of the element at `index` of a buffer, by the oracle: the first one, their number, and copy c. */
int64_t random_place(const tesela_device_layout *layout, const int64_t *index, int64_t copy, int64_t *copies);
/* The index in the buffer of an element of a node's tensor. */
void random_buffer_index(const tesela_graph *graph, int32_t node, const int64_t *index,
                         int64_t *buffer_index);
/* The element of operand k (-1: the result) at an iteration, by the definition of tesela_index; false without one. */
bool random_operand_index(const tesela_graph *graph, int32_t node, int32_t k, const int64_t *iteration,
                          int64_t looked_up, int64_t *index);
/* A layout for one buffer. */
void random_layout(tesela_device_layout *layout, const tesela_target *target, tesela_dtype dtype,
                   int32_t rank, const int64_t *shape, uint64_t *state);

#endif
