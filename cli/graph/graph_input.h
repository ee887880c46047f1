/* SPDX-License-Identifier: Apache-2.0 */
/*
 * graph_input.h - programs from files: HLO text, or JSON.
 */
#ifndef TESELA_CLI_GRAPH_INPUT_H
#define TESELA_CLI_GRAPH_INPUT_H

#include "graph_work.h"
#include "main/options.h"

/* The text of the program in a file, to be freed; - is standard input. NULL: said, *status set. */
char *graph_input_text(const cli_context *cli, const char *path, size_t *length, int *status);

/* Read the program in a file. The target is that of --target, else of the program, else spyre (HLO text). Returns an exit
 * status after saying why. */
int graph_input_read(const cli_context *cli, const char *path, graph_work *work);

#endif
