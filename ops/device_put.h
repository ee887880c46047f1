/* SPDX-License-Identifier: Apache-2.0 */
/*
 * device_put.h - a device layout as text in each notation, and its fields.
 */
#ifndef TESELA_OPS_DEVICE_PUT_H
#define TESELA_OPS_DEVICE_PUT_H

#include <tesela/notation.h>
#include <tesela/ops.h>

#define DEVICE_TEXT 4096 /* bytes of a printed device layout; room for 48 device dims of 19 digits */

/* The target that stores the host's type with that device type and stick: the one given (may be NULL), else a built-in one, else NULL. */
const tesela_target *device_target_of(const tesela_device_host *host, const tesela_target *given);

/* The text in a notation; "" if it cannot express the layout. `err` may be NULL. */
tesela_status device_print(const tesela_device_layout *layout, tesela_device_notation notation,
                           char text[DEVICE_TEXT], tesela_error *err);
/* The same as an XLA shape, f16[1000,200]{0,1:T(64,1)}; "" if XLA cannot express it. */
void device_print_xla(const tesela_device_layout *layout, char text[DEVICE_TEXT]);
/* A headline: the short form, else another notation that expresses it. */
void device_headline(const tesela_device_layout *layout, char text[DEVICE_TEXT]);

/* Host elements that a host dim has room for on the device: the product of its device dims; INT64_MAX for more. */
int64_t device_room(const tesela_device_layout *layout, int32_t dim);

/* Fields into the object that is open: text, shape, types, device_size, ... dims, sizes, notations. target may be NULL. */
tesela_status device_put(tesela_sink *j, const tesela_device_layout *layout, const tesela_target *target,
                         tesela_error *err);

#endif
