/* SPDX-License-Identifier: Apache-2.0 */
/*
 * json.h - answers in JSON, put together in memory, go out.
 */
#ifndef TESELA_CLI_JSON_H
#define TESELA_CLI_JSON_H

#include <stdio.h>

#include <tesela/ops.h>

/* Write what there is (json_line: and a newline) to a file, and empty the writer. false: no memory or ferror. */
bool json_write(tesela_json_out *j, FILE *file);
bool json_line(tesela_json_out *j, FILE *file);

#endif
