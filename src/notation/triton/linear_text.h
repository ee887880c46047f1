/* SPDX-License-Identifier: Apache-2.0 */
/*
 * linear_text.h - bases in Triton's attributes.
 */
#ifndef TESELA_NOTATION_TRITON_LINEAR_TEXT_H
#define TESELA_NOTATION_TRITON_LINEAR_TEXT_H

#include "linear/linear.h"

/* #ttg.linear of the inputs register, lane, warp, block, or #ttg.shared_linear of offset, block; those that are missing are empty. */
void tesela__linear_put_attribute(tesela__sink *sink, const tesela_linear *a, bool shared);

#endif
