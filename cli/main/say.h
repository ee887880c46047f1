/* SPDX-License-Identifier: Apache-2.0 */
/*
 * say.h - messages on stderr: errors, notes, and the input with a caret under the byte that is wrong.
 */
#ifndef TESELA_CLI_SAY_H
#define TESELA_CLI_SAY_H

#include <tesela/base.h>

#include "main/options.h"
#include "quote.h"

/* "tesela: ..." and a newline. Arguments from outside must pass through say_quote first.
 */
void say_error(const cli_context *cli, const char *format, ...) TESELA_PRINTF(2, 3);
void say_note(const cli_context *cli, const char *format, ...) TESELA_PRINTF(2, 3);
/* Was an error reported? */
bool say_spoke(void);
/* An error in the command line, with a pointer to the help. Returns CLI_BAD. */
int say_usage(const cli_context *cli, const char *format, ...) TESELA_PRINTF(2, 3);

/* The exit status for a status: CLI_FAILED for memory and output, else CLI_BAD. */
int say_exit(tesela_status status);
/* Report an error; returns its exit status. */
int say_failure(const cli_context *cli, const tesela_error *err);

/* The same after a print to stdout. A failure of stdout itself is left to main: CLI_YES then. */
int say_printed(const cli_context *cli, tesela_status status, const tesela_error *err);

/*
 * The same with the text that was read, on one line, and a caret under byte err->at:
 *
 *   tesela: tile extent is 0; a tile extent is 1 or more
 *     f32[3,5]{1,0:T(0,2)}
 *                    ^
 *
 * Control characters and bytes that are not UTF-8 are escaped, a long text is cut around the caret. No text
 * is shown if err->at < 0.
 */
int say_failure_in(const cli_context *cli, const char *text, size_t length, const tesela_error *err);

#endif
