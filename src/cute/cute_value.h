/* SPDX-License-Identifier: Apache-2.0 */
/*
 * cute_value.h - the checks of layouts and coordinates of CuTe.
 */
#ifndef TESELA_CUTE_VALUE_H
#define TESELA_CUTE_VALUE_H

#include <tesela/cute.h>

#include "base/base.h"

/* TESELA_E_INVALID unless brackets nest, extents are 1 or more and the swizzle is one that a layout takes; TESELA_E_OVERFLOW if
 * the size or the sum of all |stride| * (extent - 1) and |offset| does not fit. After it, values are computed without checks. */
tesela_status tesela__cute_check(const tesela_cute *cute, tesela_error *err);

/* TESELA_E_INVALID unless the brackets nest. */
tesela_status tesela__cute_check_tuple(const tesela_cute_tuple *tuple, tesela_error *err);

#endif
