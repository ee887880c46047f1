/* SPDX-License-Identifier: Apache-2.0 */
/*
 * profile.h - one-dimensional digit profiles, and the first difference of two of them.
 */
#ifndef TESELA_SRC_PROFILE_H
#define TESELA_SRC_PROFILE_H

#include "layout/layout.h"

/* f(x) = sum of q_k * stride[k]; q_k are the digits of x by the decreasing steps step[k]; the last step is 1. */
typedef struct tesela__profile {
  int32_t n;
  int64_t step[TESELA_MAX_DIGITS], stride[TESELA_MAX_DIGITS];
} tesela__profile;

enum { TESELA__EQUAL = -1, TESELA__UNDECIDED = -2 };

/* The first x in [0, n) with fa(x) != fb(x) + offset; TESELA__EQUAL; TESELA__UNDECIDED past a fixed effort. */
int64_t tesela__profile_difference(const tesela__profile *a, const tesela__profile *b, int64_t n,
                                   uint64_t offset);

#endif
