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

#define TESELA_CUTE_LEAVES 64 ///< leaves of a layout, and brackets that are open at a leaf
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

/// Read a CuTe layout. The whole text must match; ends of lines are blanks.
///
/// Example: "((2,2),(4,2)):((4,16),(1,8))", "(_4,_8):(_8,_1)", "20:2", "(20):(2)", "(4,):(1,)", "():()", "(6,9):(2@1,1@0)".
/// Example: "(4,8)" is compact, the first mode fastest: (4,8):(1,4).
/// Example: "Sw<3,3,3> o 0 o (8,64):(64,1)", also with "S<3,3,3>", "Swizzle<3,3,3>" and "SW_3_3_3".
/// Example: "Sw<3,4,3> o smem_ptr[16b](unset) o (8,64):(64,1)" XORs bytes of 16-bit elements: Sw<3,3,3> on the elements.
/// Example: "32:2 o 3 o (4,6):(6,1)" is 2 * (3 + 6i + j): offset 6, strides 12 and 2. The left layout has one leaf.
/// Example: "Layout<Shape<_4,_8>,Stride<_8,_1>>", "make_layout(make_shape(4, 8), make_stride(8, 1))",
/// "make_layout(Shape<_4,_8>{}, LayoutRight{})", "ComposedLayout<Swizzle<3,4,3>, smem_ptr_flag_bits<16>, Layout<..>>",
/// "make_composed_layout(Swizzle<3,3,3>{}, 0, make_layout(..))", "composition(Swizzle<3,3,3>{}, Layout<..>{})"; with or without "cute::".
///
/// @param text  `length` bytes, no NUL needed; any bytes
/// @return TESELA_OK; with err->at: TESELA_E_SYNTAX, also for strides that have other brackets than the extents; TESELA_E_UNSUPPORTED
///         for '?' (known only at run time), an empty tuple in a tuple, a left layout of several leaves; TESELA_E_RANGE for an
///         extent below 1 and a swizzle that tesela_layout_add_swizzle refuses; TESELA_E_LIMIT for more leaves or brackets than
///         a value has; TESELA_E_OVERFLOW if the size or the sum of all |stride| * (extent - 1) and |offset| exceeds int64. On
///         failure *out keeps its value.
/// O(length), no allocation; any thread.
/// Source: the printers of CuTe in C++ and Python (pycute, tensor-layouts).
TESELA_API tesela_status tesela_cute_parse(tesela_cute *out, const char *text, size_t length,
                                           tesela_error *err);

/// Print a CuTe layout in the canonical spelling: no blanks, except around the "o" of a composition; strides of extent 1 are 0.
/// Reading it gives the same layout, except for those strides.
///
/// Example: "((2,2),(4,2)):((4,16),(1,8))"; "(4,1):(1,0)"; "Sw<3,3,3> o 0 o (8,64):(64,1)"; offset 8 without a swizzle:
/// "Sw<0,0,0> o 8 o (4,8):(8,1)".
///
/// @return TESELA_OK; TESELA_E_INVALID for a value that tesela_cute_parse cannot make; TESELA_E_STOPPED.
/// O(leaves), no allocation; any thread.
TESELA_API tesela_status tesela_cute_print(const tesela_cute *cute, const tesela_writer *to,
                                           tesela_error *err);

#ifdef __cplusplus
}
#endif

#endif
