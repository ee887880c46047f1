/* SPDX-License-Identifier: Apache-2.0 */
/*
 * also.h - the other notations that express a layout.
 */
#ifndef TESELA_OPS_ALSO_H
#define TESELA_OPS_ALSO_H

#include <tesela/notation.h>

/* Is notation i one that is read and written, other than the layout's own, that expresses the layout or its valid part? The last
 * one is followed by a negative answer: -1. */
int also_in(const tesela_any_layout *any, int32_t i);

#endif
