/* SPDX-License-Identifier: Apache-2.0 */
/*
 * same_expression.h - register layouts and tiles in memory compared, with each other and with XLA layouts.
 */
#ifndef TESELA_CLI_SAME_EXPRESSION_H
#define TESELA_CLI_SAME_EXPRESSION_H

#include <tesela/notation.h>

#include "main/options.h"

/* Do two layouts hold every element at the same place? Two register layouts are compared thread by thread, whatever way
 * their replicas are spelt; places in memory with places in memory, XLA's included; a register layout and another one
 * differ. In d->reason a and b are called so. */
tesela_status same_compare(const tesela_any_layout *a, const tesela_any_layout *b, tesela_difference *d,
                           tesela_error *err);

/* The verb same, where A or B is a register layout or a tile in memory. An exit status. */
int same_any(const cli_context *cli);

#endif
