/* SPDX-License-Identifier: Apache-2.0 */
/*
 * input.h - what people write as arguments: a LAYOUT, an INDEX, a PLACE; and those that come as lines.
 *
 * A mistake is shown with a caret and, where a small change would make the text right, with that change.
 */
#ifndef TESELA_CLI_INPUT_H
#define TESELA_CLI_INPUT_H

#include <tesela/notation.h>

#include "main/options.h"

/* How the LAYOUTs of a command are read: leniently, with the target of --target, which is read into *own. Returns false after
 * saying why, with the exit status in *status. */
bool input_options(const cli_context *cli, tesela_target *own, tesela_layout_read_options *options,
                   int *status);

/* Read a LAYOUT of any kind, or of that kind or notation (NULL: any); what was mended is said as notes. layout, which may be NULL,
 * receives its relation. Returns false likewise. */
bool input_any(const cli_context *cli, const char *text, size_t length, const char *notation,
               tesela_any_layout *any, tesela_layout *layout, int *status);

/* The same for an XLA layout, or a device layout as one. */
bool input_layout(const cli_context *cli, const char *text, size_t length, tesela_xla_shape *shape,
                  tesela_layout *layout, int *status);

/* Say why a LAYOUT was refused: a file's name and JSON are named, a small change that would make it right is suggested. */
int input_refuse(const cli_context *cli, const char *text, size_t length,
                 const tesela_layout_read_options *options, const tesela_error *err);

/* Is a text a tuple of XLA shapes? *used receives the bytes of a prefix xla: */
bool input_is_tuple(const char *text, size_t length, size_t *used);

/* Say what was mended, as notes. */
void input_repairs(const cli_context *cli, const tesela_xla_repairs *repairs);

/* Call `each` for the words first, first+1, ... of the command line and, for a word `-`, for the lines of
 * standard input that are not empty. Stops at the first exit status that is not CLI_YES and returns it; for a
 * line of standard input the number of the line is said. */
int input_each(const cli_context *cli, int first, int (*each)(void *user, const char *text, size_t length),
               void *user);

/* Say on stderr where a place is: "place 17, byte 68 (of 24 places)". */
void input_say_place(const tesela_any_layout *any, const tesela_layout *layout, int64_t place);

/* Print an index: "2,3"; "[]" for rank 0. */
void input_print_index(int32_t rank, const int64_t *index);

#endif
