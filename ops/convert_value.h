/* SPDX-License-Identifier: Apache-2.0 */
/*
 * convert_value.h - the value of one element after conversion to another type, the reference of check: written from the text of tesela_transform_check, sharing nothing with the library's kernels.
 */
#ifndef TESELA_OPS_CONVERT_VALUE_H
#define TESELA_OPS_CONVERT_VALUE_H

#include <tesela/layout.h>

/* Is there a definition here for elements of `from` that become elements of `to`? */
bool convert_is_defined(const tesela_layout *from, const tesela_layout *to);

/* The element that `value` becomes; only where that is defined. */
void convert_value(const tesela_layout *from, const tesela_layout *to,
                   const uint8_t value[TESELA_ELEMENT_BYTES], uint8_t out[TESELA_ELEMENT_BYTES]);

/* Is an element of `to` as wanted? Any NaN is right where a NaN is wanted. */
bool convert_same(const tesela_layout *from, const tesela_layout *to, const uint8_t got[TESELA_ELEMENT_BYTES],
                  const uint8_t want[TESELA_ELEMENT_BYTES]);

#endif
