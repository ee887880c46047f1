/* SPDX-License-Identifier: Apache-2.0 */
/* tensor_signals.c - see tensor_signals.h. */
#include "verbs/tensor_signals.h"

#include "main/options.h"
#include "main/process.h"

char tensor_unfinished[TESELA_FILE_PATH];

static void remove_unfinished(void) {
  if (*tensor_unfinished) process_remove(tensor_unfinished);
}

static void on_sigbus(int number) {
  static const char words[] =
      "tesela: error: a file was truncated while it was copied, or its device failed\n";
  (void)number;
  remove_unfinished();
  process_leave(words, sizeof words - 1, CLI_FAILED);
}

/* Remove the file and end by the signal, as the parent process expects. */
static void on_stop(int number) {
  remove_unfinished();
  process_end_by(number);
}

void tensor_catch_shrinking(void) { process_on_lost_page(on_sigbus); }

void tensor_catch_stops(void) {
  process_ignore_size_limit();
  process_on_stop(on_stop);
}
