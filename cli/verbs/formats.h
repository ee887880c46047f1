/* SPDX-License-Identifier: Apache-2.0 */
/*
 * formats.h - what the verb formats prints besides the formats of XLA's document.
 */
#ifndef TESELA_CLI_FORMATS_H
#define TESELA_CLI_FORMATS_H

#include "main/options.h"

/* The catalogue of fragments. Returns an exit status. */
int formats_fragments(const cli_context *cli);
/* The functions of register expressions. Returns an exit status. */
int formats_functions(const cli_context *cli);

/* The rules of operators about device layouts. Returns an exit status. */
int formats_rules(const cli_context *cli);

#endif
