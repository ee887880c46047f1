/* SPDX-License-Identifier: Apache-2.0 */
/*
 * mix.h - the small transposes inside an element, one line each: suffix, rows, columns, bytes of a number.
 */
#ifndef TESELA_SRC_MIX_H
#define TESELA_SRC_MIX_H

#define TESELA__MIXES(X) \
  X(2x2x8, 2, 2, 1)      \
  X(2x4x8, 2, 4, 1)      \
  X(4x2x8, 4, 2, 1)      \
  X(2x8x8, 2, 8, 1)      \
  X(8x2x8, 8, 2, 1)      \
  X(4x4x8, 4, 4, 1)      \
  X(2x2x16, 2, 2, 2)     \
  X(2x4x16, 2, 4, 2)     \
  X(4x2x16, 4, 2, 2)     \
  X(2x2x32, 2, 2, 4)

#endif
