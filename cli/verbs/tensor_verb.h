/* SPDX-License-Identifier: Apache-2.0 */
/*
 * tensor_verb.h - shared by the verbs relayout, pack and unpack: run the operation, with progress on a terminal.
 */
#ifndef TESELA_CLI_TENSOR_VERB_H
#define TESELA_CLI_TENSOR_VERB_H

#include <tesela/ops.h>

#include "main/json.h"

/* Run the operation of the verb, which writes FILE to --output. The n values `field` are added to the fields from options. With
 * --json the answer is printed. `ask` as for json_ask, its r of zeros, or NULL. Returns an exit status. */
int tensor_verb(const cli_context *cli, size_t n, const tesela_value *field, json_request *ask);

#endif
