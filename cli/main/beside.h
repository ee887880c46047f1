/* SPDX-License-Identifier: Apache-2.0 */
/*
 * beside.h - what is given beside the text of a layout: --shape, --dtype, --as and --definitions.
 */
#ifndef TESELA_CLI_BESIDE_H
#define TESELA_CLI_BESIDE_H

#include <tesela/notation.h>

#include "main/options.h"

/* Set array, dtype, as and definitions, as far as the verb has the options. They live as long as the process. Returns false after
 * reporting the error, with the exit status in *status. */
bool beside_options(const cli_context *cli, tesela_layout_read_options *options, int *status);

#endif
