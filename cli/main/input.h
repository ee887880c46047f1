/* SPDX-License-Identifier: Apache-2.0 */
/*
 * input.h - what people write as arguments: a LAYOUT, an INDEX, a PLACE; and those that come as lines.
 *
 * A mistake is shown with a caret and, where a small change would make the text right, with that change.
 */
#ifndef TESELA_CLI_INPUT_H
#define TESELA_CLI_INPUT_H

#include <tesela/xla.h>

#include "kind.h"
#include "main/options.h"

/* Read a LAYOUT leniently; what was mended is said as notes. layout may be NULL.
 * Returns false after saying why, with the exit status in *status. */
bool input_layout(const cli_context *cli, const char *text, size_t length, tesela_xla_shape *shape,
                  tesela_layout *layout, int *status);

/* The same for a LAYOUT of any kind. */
bool input_any(const cli_context *cli, const char *text, size_t length, any_layout *any,
               tesela_layout *layout, int *status);

/* Say what was mended, as notes. */
void input_repairs(const cli_context *cli, const tesela_xla_repairs *repairs);

/* Call `each` for the words first, first+1, ... of the command line and, for a word `-`, for the lines of
 * standard input that are not empty. Stops at the first exit status that is not CLI_YES and returns it; for a
 * line of standard input the number of the line is said. */
int input_each(const cli_context *cli, int first, int (*each)(void *user, const char *text, size_t length),
               void *user);

/* Print an index: "2,3"; "[]" for rank 0. */
void input_print_index(int32_t rank, const int64_t *index);

#endif
