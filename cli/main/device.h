/* SPDX-License-Identifier: Apache-2.0 */
/*
 * device.h - device layouts in the command.
 *
 *   target_input.c  the option --target
 *   device_words.c  the table of device dims, sizes, padding, other notations
 *   show_device.c   the verb show
 */
#ifndef TESELA_CLI_DEVICE_H
#define TESELA_CLI_DEVICE_H

#include <tesela/notation.h>

#include "device_put.h"
#include "main/options.h"
#include "show/show.h"

/* The target of --target, a built-in one or a file, which is read into *own; *target is NULL if the option is not given. The verb
 * must have that option. Returns false after reporting the error, with *status set. */
bool device_target(const cli_context *cli, tesela_target *own, const tesela_target **target, int *status);

/* Print the layout in words. Returns an exit status. */
int device_words(const cli_context *cli, const tesela_device_layout *layout, const tesela_target *target);

#endif
