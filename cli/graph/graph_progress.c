/* SPDX-License-Identifier: Apache-2.0 */
/*
 * graph_progress.c - progress of the run of a program, and its end at a signal.
 */
#include "graph/graph_progress.h"

#include <signal.h>
#include <stdio.h>
#include <time.h>

#define SECOND INT64_C(1000000000)

static volatile sig_atomic_t stopped_by;
static const int stop_signals[] = {SIGINT, SIGTERM, SIGHUP};

static void on_stop(int number) {
  if (stopped_by != 0) {
    signal(number, SIG_DFL);
    raise(number);
  }
  stopped_by = number;
}

static int64_t now_ns(void) {
  struct timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return now.tv_sec * SECOND + now.tv_nsec;
}

void graph_progress_begin(const cli_context *cli, const char *const *what, graph_progress *progress) {
  *progress = (graph_progress){.cli = cli, .what = what, .start_ns = now_ns()};
  for (size_t i = 0; i < sizeof stop_signals / sizeof stop_signals[0]; i++) {
    struct sigaction old, action = {.sa_handler = on_stop};
    sigemptyset(&action.sa_mask);
    if (sigaction(stop_signals[i], NULL, &old) == 0 && old.sa_handler != SIG_IGN)
      sigaction(stop_signals[i], &action, NULL);
  }
}

int graph_progress_call(void *user, int64_t done, int64_t total) {
  graph_progress *progress = user;
  if (stopped_by != 0) return 1;
  if (!progress->cli->err.terminal) return 0;
  int64_t now = now_ns();
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
  int number = stopped_by;
  signal(number, SIG_DFL);
  raise(number);
}
