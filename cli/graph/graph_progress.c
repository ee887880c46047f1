/* SPDX-License-Identifier: Apache-2.0 */
/*
 * graph_progress.c - progress of the run of a program, and its end at a signal.
 */
#include "graph/graph_progress.h"

#include <signal.h>
#include <stdio.h>

#include "main/process.h"
#include "system.h"

#define SECOND INT64_C(1000000000)

static volatile sig_atomic_t stopped_by;

static void on_stop(int number) {
  if (stopped_by != 0) process_end_by(number);
  stopped_by = number;
}

void graph_progress_begin(const cli_context *cli, const char *const *what, graph_progress *progress) {
  *progress = (graph_progress){.cli = cli, .what = what, .start_ns = system_clock_ns()};
  process_on_stop(on_stop);
}

int graph_progress_call(void *user, int64_t done, int64_t total) {
  graph_progress *progress = user;
  if (stopped_by != 0) return 1;
  if (!progress->cli->err.terminal) return 0;
  int64_t now = system_clock_ns();
  if (now - progress->start_ns < SECOND || now - progress->shown_ns < SECOND / 5) return 0;
  fprintf(stderr, "\r%3.0f%%  %s \033[K", 100.0 * (double)done / (double)(total > 0 ? total : 1),
          *progress->what);
  fflush(stderr);
  progress->shown_ns = now;
  progress->shown = true;
  return 0;
}

void graph_progress_hide(graph_progress *progress) {
  if (progress->shown) fputs("\r\033[K", stderr);
  progress->shown = false;
}

void graph_progress_end(void) {
  if (stopped_by == 0) return;
  process_end_by(stopped_by);
}
