/* SPDX-License-Identifier: Apache-2.0 */
/*
 * input.h - reading arguments: a LAYOUT, an INDEX, a PLACE, from the command line or from lines of standard input.
 *
 * A mistake is shown with a caret and, where a small change would make the text right, with that change.
 */
#ifndef TESELA_CLI_INPUT_H
#define TESELA_CLI_INPUT_H

#include <tesela/notation.h>

#include "main/options.h"

/* How the LAYOUTs of a command are read: leniently, with what beside.h gives, and with the target of --target, which is read into
 * *own. Returns false after
 * reporting the error, with the exit status in *status. */
bool input_options(const cli_context *cli, tesela_target *own, tesela_layout_read_options *options,
                   int *status);

/* Read a LAYOUT of any kind, or of the kind or notation named `notation` (NULL: any); repairs are reported as notes. layout, which
 * may be NULL, receives its relation. Returns false as above. */
bool input_any(const cli_context *cli, const char *text, size_t length, const char *notation,
               tesela_any_layout *any, tesela_layout *layout, int *status);

/* The same for an XLA layout, or a device layout as one. */
bool input_layout(const cli_context *cli, const char *text, size_t length, tesela_xla_shape *shape,
                  tesela_layout *layout, int *status);

/* Read a device layout, with or without the prefix device:, for the target of --target (default: spyre). Returns false after
 * reporting the error, with *status set. */
bool input_device(const cli_context *cli, const char *text, tesela_target *own, const tesela_target **target,
                  tesela_device_layout *layout, int *status);

/* Report why a LAYOUT was refused. The message notes a file name or JSON, and suggests a small change that would make it right. */
int input_refuse(const cli_context *cli, const char *text, size_t length,
                 const tesela_layout_read_options *options, const tesela_error *err);

/* Is a text a tuple of XLA shapes? *used receives the bytes of a prefix xla: */
bool input_is_tuple(const char *text, size_t length, size_t *used);

/* Report repairs as notes. */
void input_repairs(const cli_context *cli, const tesela_xla_repairs *repairs);

/* Call `each` for the arguments first, first+1, ... and, for the argument `-`, for each nonempty line of standard input. Stops at the
 * first exit status other than CLI_YES and returns it, after reporting the line number if it was a line. */
int input_each(const cli_context *cli, int first, int (*each)(void *user, const char *text, size_t length),
               void *user);

/* Describe a place on stderr: "place 17, byte 68 (of 24 places)". */
void input_say_place(const tesela_any_layout *any, const tesela_layout *layout, int64_t place);

/* Print a place: "17"; of several axes "lane 5 warp 0 register 3". */
void input_print_place(const tesela_layout *layout, const int64_t *place);

/* Print an index: "2,3"; "[]" for rank 0. */
void input_print_index(int32_t rank, const int64_t *index);

#endif
