/* SPDX-License-Identifier: Apache-2.0 */
/*
 * cmd_unpack.c - the verb unpack: converts the output of pack back to row-major.
 */
#include "verbs/tensor_verb.h"

int cmd_unpack(const cli_context *cli) { return tensor_verb(cli, 0, NULL, NULL); }
