/* SPDX-License-Identifier: Apache-2.0 */
/*
 * cute.h - CuTe layouts as values: nested modes with strides, a swizzle, an offset; and the algebra of them.
 *
 *   ((2,2),(4,2)):((4,16),(1,8))     two modes of two leaves each; the first leaf of a mode is fastest
 *   Sw<3,3,3> o 0 o (8,64):(64,1)    place = the XOR of what the layout gives
 *
 * Source: the CuTe documentation of CUTLASS ("Layouts", "Layout Algebra"). Results are defined by their post-conditions, not by
 * an implementation.
 */
#ifndef TESELA_CUTE_H
#define TESELA_CUTE_H

#include <tesela/layout.h>

#ifdef __cplusplus
extern "C" {
#endif

#define TESELA_CUTE_LEAVES 64 ///< leaves of a layout
#define TESELA_CUTE_PATH 4    ///< numbers of a basis stride: 1@1@0 has 2

/// A CuTe layout. A plain value of about 2 KiB.
///
/// Example: ((2,2),3):((4,16),1): 3 leaves, extents 2, 2, 3, strides 4, 16, 1, open 2, 0, 0, close 0, 1, 1.
typedef struct tesela_cute {
  int32_t n; ///< leaves; 0: ():()
  int64_t extent[TESELA_CUTE_LEAVES], stride[TESELA_CUTE_LEAVES];
  uint8_t open[TESELA_CUTE_LEAVES],
      close[TESELA_CUTE_LEAVES]; ///< brackets before and after each leaf: "(20)" has one, "20" none
  uint8_t n_path
      [TESELA_CUTE_LEAVES]; ///< 0: a stride in places; else the stride is along a coordinate: 2@1@0 is path 1, 0
  uint8_t path[TESELA_CUTE_LEAVES][TESELA_CUTE_PATH];
  int64_t offset;            ///< added before the XOR
  int32_t bits, base, shift; ///< Sw<bits,base,shift>; bits 0: none
} tesela_cute;

#ifdef __cplusplus
}
#endif

#endif
