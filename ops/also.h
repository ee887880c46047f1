/* SPDX-License-Identifier: Apache-2.0 */
/*
 * also.h - the other notations that express a layout.
 */
#ifndef TESELA_OPS_ALSO_H
#define TESELA_OPS_ALSO_H

#include <tesela/notation.h>

/* Is notation i one that is read and written, other than the layout's own, that expresses the layout or its valid part? *in is -1 after
 * the last notation. TESELA_E_MEMORY; other failures are no. */
tesela_status also_in(const tesela_any_layout *any, int32_t i, int *in, tesela_error *err);

#endif
