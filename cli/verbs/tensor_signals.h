/* SPDX-License-Identifier: Apache-2.0 */
/*
 * tensor_signals.h - a signal in the middle of a copy: the process removes its unfinished output before it ends.
 */
#ifndef TESELA_CLI_TENSOR_SIGNALS_H
#define TESELA_CLI_TENSOR_SIGNALS_H

#include <tesela/file.h>

/* The name of the unfinished output, or "": for tesela_file_write_options. */
extern char tensor_unfinished[TESELA_FILE_PATH];

/* SIGBUS: a mapped file was truncated, or its device failed. The handler reports that and ends the process with CLI_FAILED. */
void tensor_catch_shrinking(void);

/* SIGINT, SIGTERM, SIGHUP, unless they are ignored: the process still ends by the signal, after removing its unfinished output.
 * SIGXFSZ: a file too large for this process's limit is an error like a full disk. */
void tensor_catch_stops(void);

#endif
