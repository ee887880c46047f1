/* SPDX-License-Identifier: Apache-2.0 */
/* tensor_signals.c - see tensor_signals.h. */
#include "verbs/tensor_signals.h"

#include <signal.h>
#include <unistd.h>

#include "main/options.h"

char tensor_unfinished[TESELA_FILE_PATH];

static void remove_unfinished(void) {
  if (*tensor_unfinished) unlink(tensor_unfinished);
}

static void on_sigbus(int number) {
  static const char words[] =
      "tesela: error: a file was truncated while it was copied, or its device failed\n";
  (void)number;
  remove_unfinished();
  ssize_t n = write(STDERR_FILENO, words, sizeof words - 1);
  (void)n; /* a failure of this write cannot be reported */
  _exit(CLI_FAILED);
}

/* Remove the file and end by the signal, as the parent process expects. */
static void on_stop(int number) {
  remove_unfinished();
  signal(number, SIG_DFL);
  raise(number);
}

void tensor_catch_shrinking(void) {
  struct sigaction action = {.sa_handler = on_sigbus};
  sigemptyset(&action.sa_mask);
  sigaction(SIGBUS, &action, NULL);
}

void tensor_catch_stops(void) {
  static const int stop_signals[] = {SIGINT, SIGTERM, SIGHUP};
  signal(SIGXFSZ, SIG_IGN);
  for (size_t i = 0; i < sizeof stop_signals / sizeof stop_signals[0]; i++) {
    struct sigaction old, action = {.sa_handler = on_stop};
    sigemptyset(&action.sa_mask);
    if (sigaction(stop_signals[i], NULL, &old) == 0 && old.sa_handler != SIG_IGN)
      sigaction(stop_signals[i], &action, NULL);
  }
}
