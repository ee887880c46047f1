/* SPDX-License-Identifier: Apache-2.0 */
/*
 * device.h - what verbs and ops say of device layouts.
 *
 *   device_input.c  the option --target, an argument that is a device layout
 *   device_words.c  the table of device dims, sizes, padding, other notations
 *   show_device.c   the verb show
 */
#ifndef TESELA_CLI_DEVICE_H
#define TESELA_CLI_DEVICE_H

#include <tesela/notation.h>

#include "device_put.h"
#include "main/options.h"
#include "show/show.h"

/* What --target says, a built-in target or a file: into *own, and *target points to it; NULL without the option. Without it
 * the verb must have the option all the same. false: said, *status set. */
bool device_target(const cli_context *cli, tesela_target *own, const tesela_target **target, int *status);

/* A device layout's text, device: in front or not, for the target of --target, else spyre. false: said, *status set. */
bool device_read(const cli_context *cli, const char *text, tesela_target *own, const tesela_target **target,
                 tesela_device_layout *layout, int *status);

/* All of it in words. An exit status. */
int device_words(const cli_context *cli, const tesela_device_layout *layout, const tesela_target *target);

#endif
