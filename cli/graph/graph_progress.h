/* SPDX-License-Identifier: Apache-2.0 */
/*
 * graph_progress.h - progress of the run of a program, a line on a terminal; and its end at SIGINT, SIGTERM or SIGHUP.
 *
 * A signal is recorded; the run stops at its next call, everything is freed, and graph_progress_end ends the process by the
 * signal. A second signal ends it at once.
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
/* Remove the line from the terminal. */
void graph_progress_hide(graph_progress *progress);
/* Call after everything is freed: ends the process by the recorded signal, if any. */
void graph_progress_end(void);

#endif
