/* SPDX-License-Identifier: Apache-2.0 */
/*
 * json_in.h - the JSON reader beyond tesela_json_read, for the functions on text.
 */
#ifndef TESELA_OPS_JSON_IN_H
#define TESELA_OPS_JSON_IN_H

#include <tesela/ops.h>

/* As tesela_json_read, for a line of query: NUL in texts is allowed. */
tesela_status json_read_line(tesela_json_in *in, const char *line, size_t length, tesela_error *err);

/* The bytes that are reserved for a text: about 500 for each value, up to 160 for each byte of the text. Only the part in use is touched. */
size_t json_memory(const char *text, size_t length);

#endif
