/* SPDX-License-Identifier: Apache-2.0 */
/*
 * device.h - what verbs and ops say of device layouts.
 *
 *   device_input.c  the option --target, an argument that is a device layout
 *   device_json.c   the fields of a device layout
 *   device_words.c  the table of device dims, sizes, padding, other notations
 *   show_device.c   the verb show
 */
#ifndef TESELA_CLI_DEVICE_H
#define TESELA_CLI_DEVICE_H

#include <tesela/notation.h>

#include "json.h"
#include "main/options.h"
#include "show/show.h"

#define DEVICE_TEXT 4096 /* bytes of a printed device layout; 48 device dims of 19 digits have room */

/* What --target says, a built-in target or a file: into *own, and *target points to it; NULL without the option. Without it
 * the verb must have the option all the same. false: said, *status set. */
bool device_target(const cli_context *cli, tesela_target *own, const tesela_target **target, int *status);

/* A device layout's text, device: in front or not, for the target of --target, else spyre. false: said, *status set. */
bool device_read(const cli_context *cli, const char *text, tesela_target *own, const tesela_target **target,
                 tesela_device_layout *layout, int *status);

/* The target that stores the host's type so, in such sticks: the one given (may be NULL), else a built-in one; NULL if none
 * does. */
const tesela_target *device_target_of(const tesela_device_host *host, const tesela_target *given);

/* The text in a notation; "" if it cannot say the layout. `err` may be NULL. */
tesela_status device_print(const tesela_device_layout *layout, tesela_device_notation notation,
                           char text[DEVICE_TEXT], tesela_error *err);
/* The same as an XLA shape, f16[1000,200]{0,1:T(64,1)}; "" if XLA cannot say it. */
void device_print_xla(const tesela_device_layout *layout, char text[DEVICE_TEXT]);
/* A headline: the short form, else another one that says it. */
void device_headline(const tesela_device_layout *layout, char text[DEVICE_TEXT]);

/* Host elements that a host dim has room for on the device: the product of its device dims; INT64_MAX for more. */
int64_t device_room(const tesela_device_layout *layout, int32_t dim);

/* Fields into the object that is open: text, shape, types, device_size, ... dims, sizes, notations. target may be NULL. */
tesela_status device_put(json_writer *j, const tesela_device_layout *layout, const tesela_target *target,
                         tesela_error *err);

/* All of it in words. An exit status. */
int device_words(const cli_context *cli, const tesela_device_layout *layout, const tesela_target *target);

/* What is drawn of a device layout: with all its padding, as the layout of a larger host tensor. `tile` receives the blocks of
 * each dim, as tesela_draw_options takes them. */
tesela_status device_picture_of(const tesela_device_layout *layout, tesela_layout *drawn, int64_t *tile,
                                tesela_error *err);

#endif
