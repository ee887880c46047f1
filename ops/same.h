/* SPDX-License-Identifier: Apache-2.0 */
/*
 * same.h - register layouts, tiles in memory, device and XLA layouts compared.
 */
#ifndef TESELA_OPS_SAME_H
#define TESELA_OPS_SAME_H

#include <tesela/notation.h>

/* Do two layouts hold every element at the same place? Two register layouts are compared thread by thread, however their replicas are written; places in memory with places in memory, XLA's included; a register layout and another one
 * differ. d->reason names them a and b. */
tesela_status same_compare(const tesela_any_layout *a, const tesela_any_layout *b, tesela_difference *d,
                           tesela_error *err);

#endif
