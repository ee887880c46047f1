/* SPDX-License-Identifier: Apache-2.0 */
/*
 * formats.h - what the verb formats prints beside the formats of XLA's document.
 */
#ifndef TESELA_CLI_FORMATS_H
#define TESELA_CLI_FORMATS_H

#include "main/options.h"

/* The catalogue of fragments. An exit status. */
int formats_fragments(const cli_context *cli);
/* The functions of register expressions. An exit status. */
int formats_functions(const cli_context *cli);

/* The rules of operators about device layouts. An exit status. */
int formats_rules(const cli_context *cli);

#endif
