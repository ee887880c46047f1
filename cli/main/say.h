/* SPDX-License-Identifier: Apache-2.0 */
/*
 * say.h - words on stderr: errors, notes, and the input with a caret under the byte that is wrong.
 */
#ifndef TESELA_CLI_SAY_H
#define TESELA_CLI_SAY_H

#include <tesela/base.h>

#include "main/options.h"
#include "quote.h"

/* "tesela: ..." and a newline. Texts from outside that go into `format` must be shown with say_quote first.
 */
void say_error(const cli_context *cli, const char *format, ...) TESELA_PRINTF(2, 3);
void say_note(const cli_context *cli, const char *format, ...) TESELA_PRINTF(2, 3);
/* Was an error said? */
bool say_spoke(void);
/* An error in how the command was called, and where to read about it. Returns CLI_BAD. */
int say_usage(const cli_context *cli, const char *format, ...) TESELA_PRINTF(2, 3);

/* The exit status that goes with a status: CLI_FAILED for memory and output, else CLI_BAD. */
int say_exit(tesela_status status);
/* The message of an error; returns its exit status. */
int say_failure(const cli_context *cli, const tesela_error *err);

/* The same after a print to stdout, whose own failure is main's business: CLI_YES then. */
int say_printed(const cli_context *cli, tesela_status status, const tesela_error *err);

/*
 * The message with the text that was read, one line, and a caret under byte err->at:
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
