/* SPDX-License-Identifier: Apache-2.0 */
/*
 * same_expression.h - register layouts and tiles in memory compared, with each other and with XLA layouts.
 */
#ifndef TESELA_CLI_SAME_EXPRESSION_H
#define TESELA_CLI_SAME_EXPRESSION_H

#include "main/options.h"
#include "same.h"

/* What --json prints: the answer of the op same. An exit status. */
int same_answer(const cli_context *cli);

/* The verb same, where A or B is a register layout or a tile in memory. An exit status. */
int same_any(const cli_context *cli);

#endif
