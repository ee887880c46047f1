/* SPDX-License-Identifier: Apache-2.0 */
/*
 * tensor_verb.h - what the verbs relayout, pack and unpack share: their operation is asked, with progress on a terminal.
 */
#ifndef TESELA_CLI_TENSOR_VERB_H
#define TESELA_CLI_TENSOR_VERB_H

#include <tesela/ops.h>

#include "main/options.h"

/* Ask the operation of the verb to write FILE to --output; `field`, n of them, are added to those of the options. With --json the
 * answer is printed. An exit status. */
int tensor_verb(const cli_context *cli, size_t n, const tesela_value *field);

#endif
