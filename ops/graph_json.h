/* SPDX-License-Identifier: Apache-2.0 */
/*
 * graph_json.h - programs in JSON, read and printed. docs/graph.md is the reference of the form.
 */
#ifndef TESELA_CLI_GRAPH_JSON_H
#define TESELA_CLI_GRAPH_JSON_H

#include <tesela/graph.h>

#include <tesela/ops.h>
#include "json_read.h"

/* Read a program: {"elem_bytes", "stick_bytes", "target", "inputs": {..}, "ops": [..], "outputs": [..], "hints": [..]}. The target is
 * the one named (or `target_name`, if not NULL, instead), or one of plain sticks. Returns false after filling in->err. */
bool graph_json_read(const jr_object *in, const char *target_name, tesela_graph **graph,
                     tesela_target *target);

/* Names of the kinds of hints, by kind; ends with NULL. */
extern const char *const graph_json_hints[];

/* A device layout as {"device_size", "stride_map", "device_bytes"}, with "stick" first if wanted and one dim is in the lanes. */
void graph_json_put_layout(tesela_sink *j, const tesela_device_layout *layout, bool with_stick);

#endif
