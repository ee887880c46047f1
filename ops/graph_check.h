/* SPDX-License-Identifier: Apache-2.0 */
/*
 * graph_check.h - a program is run on tiled memory, in the arena that was planned, and on plain memory; the bits of the results
 * are compared. What the verb graph run and the operation graph_run share.
 *
 *   graph_check.c     limits, made-up inputs, both runs
 *   graph_tensors.c   inputs from files, results to files
 */
#ifndef TESELA_OPS_GRAPH_CHECK_H
#define TESELA_OPS_GRAPH_CHECK_H

#include <tesela/file.h>
#include <tesela/graph.h>

#include <tesela/ops.h>

#include "request.h"

/* The values that inputs of a type are drawn from, integers below `limit` if that is above 0. */
enum { CHECK_VALUES = 129 };
typedef struct check_choice {
  tesela_dtype dtype;
  int32_t bits, n;
  int64_t limit;
  uint8_t value[CHECK_VALUES][16];
} check_choice;

/* The tensors outside the program. */
typedef struct check_data {
  int32_t n_inputs, n_outputs;
  void **input, **tiled, **plain;
  void **memory; /* of the inputs: an input with negative strides begins inside its own */
  int64_t *output_bytes;
  int32_t *output_node;
  check_choice choice; /* of the last input */
  int64_t bytes;       /* of the tensors */
} check_data;

typedef struct graph_check {
  /* Set by the caller: */
  const tesela_graph *graph, *placed; /* as read; with layouts and moves */
  const tesela_target *target;
  int64_t seed;                 /* of inputs that are made up */
  bool made_up;                 /* inputs without a file are made up, even if others have one */
  int64_t max_steps, max_bytes; /* max_bytes: of the tensors and the buffers of one run */
  tesela_progress *progress;
  void *progress_user;
  char *unfinished; /* as in tesela_file_write_options */
  int (*ready)(
      struct graph_check *); /* called before any output is written; other than 0 stops. May be NULL */
  /* What came out: */
  const char *what; /* is done: "on tiled memory" */
  tesela_graph_run_facts tiled, plain;
  int32_t different; /* outputs */
  /* Its own: */
  check_data data;
  struct check_file *in; /* one for each node of the graph, or NULL */
  request_path *out;     /* one for each output, without a name for one that is not written; or NULL */
} graph_check;

/* Take an input from a .npy or .safetensors, in the layout that the file has; its type and shape must be those of the input. Of a
 * .safetensors with several tensors it is the one with the name of the input. */
tesela_status graph_check_in(graph_check *c, const char *name, const request_path *path, tesela_error *err);
/* Write an output, by its name or its position among the outputs, to a .npy: once both runs gave the same bits. After TESELA_OK
 * graph_check_free closes the path. */
tesela_status graph_check_out(graph_check *c, const char *name, const request_path *path, tesela_error *err);
/* Once one input comes from a file all must: the error names one that does not. */
tesela_status graph_check_all_in(const graph_check *c, tesela_error *err);

/* Run; TESELA_E_LIMIT if it needs more than the limits. `c` is freed either way with graph_check_free. */
tesela_status graph_check_run(graph_check *c, tesela_error *err);
void graph_check_free(graph_check *c);

/* The node of output o; do both runs agree; the digest of its values, "" if its type has none. */
const tesela_node *graph_check_output(const graph_check *c, int32_t o);
bool graph_check_same(const graph_check *c, int32_t o);
void graph_check_digest(const graph_check *c, int32_t o, char text[33]);

/* graph_tensors.c: copy a file's tensor into the memory of an input, `before` elements of which are before element 0; false if
 * the input is not from a file. */
bool check_file_copy(const graph_check *c, int32_t node, int64_t before, void *memory, tesela_status *status,
                     tesela_error *err);
tesela_status check_files_write(const graph_check *c, tesela_error *err);
void check_files_free(graph_check *c);

#endif
