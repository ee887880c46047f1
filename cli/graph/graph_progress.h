/* SPDX-License-Identifier: Apache-2.0 */
/*
 * graph_progress.h - how far the run of a program is: a line on a terminal; and its end at SIGINT, SIGTERM or SIGHUP.
 *
 * A signal is noted; the run then stops at its next call, everything is given back, and graph_progress_end dies of the signal. A
 * second one is not waited for.
 */
#ifndef TESELA_CLI_GRAPH_PROGRESS_H
#define TESELA_CLI_GRAPH_PROGRESS_H

#include "main/options.h"

typedef struct graph_progress {
  const cli_context *cli;
  const char *const *what; /* "on tiled memory" */
  int64_t start_ns, shown_ns;
  bool shown;
} graph_progress;

void graph_progress_begin(const cli_context *cli, const char *const *what, graph_progress *progress);
/* A tesela_progress; user: a graph_progress. */
int graph_progress_call(void *user, int64_t done, int64_t total);
/* Take the line off the terminal. */
void graph_progress_hide(graph_progress *progress);
/* All is given back: die of the signal that asked to stop, if one did. */
void graph_progress_end(void);

#endif
