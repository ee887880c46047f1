/* SPDX-License-Identifier: Apache-2.0 */
/*
 * xla_print.h - parts of XLA text, for printers of larger texts.
 */
#ifndef TESELA_SRC_XLA_PRINT_H
#define TESELA_SRC_XLA_PRINT_H

#include "base/base.h"
#include <tesela/xla.h>

/* Print an array, buffer, token or opaque. */
void tesela__xla_put_shape(tesela__sink *sink, const tesela_xla_shape *shape, bool with_layout);

/* Print the text before member k of a tuple: nothing for the first, else ", ", and before every fifth an index
 * comment. */
void tesela__xla_put_separator(tesela__sink *sink, int32_t k);

#endif
