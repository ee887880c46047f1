/* SPDX-License-Identifier: Apache-2.0 */
/*
 * text_file.h - reads whole text files.
 */
#ifndef TESELA_CLI_TEXT_FILE_H
#define TESELA_CLI_TEXT_FILE_H

#include <stddef.h>

#include <tesela/base.h>

#include "main/options.h"

/* The whole of a file of up to `limit` bytes and a NUL, which the caller frees; - is standard input. Returns NULL after reporting the
 * error, with *status set. */
char *text_file_read(const cli_context *cli, const char *path, size_t limit, size_t *length, int *status);

/* Report an error in such a text: the line with a caret, and its number. Returns the exit status. */
int text_file_fail(const cli_context *cli, const char *path, const char *text, size_t length,
                   const tesela_error *failure);

#endif
