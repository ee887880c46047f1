/* SPDX-License-Identifier: Apache-2.0 */
/*
 * graph_input.h - programs from files: HLO text, or JSON.
 */
#ifndef TESELA_CLI_GRAPH_INPUT_H
#define TESELA_CLI_GRAPH_INPUT_H

#include <tesela/graph.h>

#include "main/options.h"

typedef struct graph_input {
  tesela_graph *graph;
  tesela_target target;
  tesela_graph_read_facts facts; /* of HLO text */
} graph_input;

/* Read the program in a file; - is standard input. The target is that of --target, else of the program, else spyre (HLO text).
 * Returns an exit status after saying why; then there is nothing to destroy. */
int graph_input_read(const cli_context *cli, const char *path, graph_input *in);

#endif
