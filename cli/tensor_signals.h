/* SPDX-License-Identifier: Apache-2.0 */
/*
 * tensor_signals.h - what the process does when a signal ends it in the middle of a copy: it removes its unfinished output.
 */
#ifndef TESELA_CLI_TENSOR_SIGNALS_H
#define TESELA_CLI_TENSOR_SIGNALS_H

#include <tesela/file.h>

/* The name of the unfinished output, "" while there is none: for tesela_file_write_options. */
extern char tensor_unfinished[TESELA_FILE_PATH];

/* SIGBUS: a mapped file became shorter, or its device failed. The handler says so and ends the process with CLI_FAILED. */
void tensor_catch_shrinking(void);

/* SIGINT, SIGTERM, SIGHUP, unless they are ignored: the process dies of them as before, without its unfinished output.
 * SIGXFSZ: a file too large for this process's limit is an error like a full disk. */
void tensor_catch_stops(void);

#endif
