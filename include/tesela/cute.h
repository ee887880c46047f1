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

/*
 * ==== Algebra
 *
 * A layout is a function of its flat coordinate i = 0, 1, ..., size - 1, the first leaf fastest; beyond the size it continues with its
 * last leaf. Each result is defined by what it must satisfy, not by an algorithm, and a layout that satisfies it is found if there
 * is one, with the exceptions at the functions. Sizes do not matter: nothing is enumerated.
 *
 * Of a layout Sw o offset o L the algebra works on L, and values in counter-examples are those of L and the offset, before the XOR.
 * Strides of leaves of extent 1 are 0 in results.
 *
 * All of them: TESELA_E_INVALID, TESELA_E_OVERFLOW for a value that tesela_cute_parse cannot make; TESELA_E_UNSUPPORTED for strides along
 * coordinates, and where no swizzle is allowed for one; TESELA_E_OVERFLOW for values beyond 2^60; TESELA_E_LIMIT for results of more
 * leaves or open brackets than a layout has. `out` may be an argument; on failure it keeps its value. No allocation; any thread.
 */

/// Where a result is impossible.
typedef struct tesela_cute_counter {
  bool given;     ///< the others say something
  int32_t mode;   ///< the mode at which a tiler failed, else -1 or 0
  int64_t index;  ///< a flat coordinate: the smallest that contradicts
  int64_t index2; ///< NOT_INJECTIVE: a second coordinate with the same value; else -1
  int64_t value;  ///< the value at `index`
  int64_t
      expected; ///< what all layouts that agree before `index` have there; or the bound that the value exceeds
} tesela_cute_counter;

/// The number of coordinates: the product of the extents; ():() has 1. 0 for a value that tesela_cute_parse cannot make. O(leaves).
TESELA_API int64_t tesela_cute_size(const tesela_cute *cute);

/// The number of places from the lowest value to the highest, without the swizzle: (4,8):(10,1) has 38, 4:-1 has 4. 0 for a value that
/// tesela_cute_parse cannot make, and for strides along coordinates. O(leaves).
TESELA_API int64_t tesela_cute_cosize(const tesela_cute *cute);

/// The place of a flat coordinate, offset and swizzle included. The coordinate may be beyond the size.
///
/// Example: (4,2):(1,10), coordinate 5: 11; coordinate 9: 21.
///
/// @return TESELA_OK; TESELA_E_RANGE for a negative coordinate, or a negative value before an XOR; TESELA_E_OVERFLOW. O(leaves).
TESELA_API tesela_status tesela_cute_at(const tesela_cute *cute, int64_t i, int64_t *place,
                                        tesela_error *err);

/// The same function with the fewest leaves.
///
/// Example: (2,(1,6)):(1,(6,2)) becomes 12:1; with modes 2 it becomes (2,6):(1,2).
///
/// @param modes  0: the whole layout; n: each of the first n modes by itself, the others stay
/// @return TESELA_OK; TESELA_E_RANGE for more modes than the layout has. O(leaves).
TESELA_API tesela_status tesela_cute_coalesce(const tesela_cute *a, int32_t modes, tesela_cute *out,
                                              tesela_error *err);

/// The same without leaves of stride 0: ((2,2),3):((0,1),0) becomes 2:1.
TESELA_API tesela_status tesela_cute_filter(const tesela_cute *a, int32_t modes, tesela_cute *out,
                                            tesela_error *err);

/// The same leaves without inner brackets: ((2,2),3):((0,1),4) becomes (2,2,3):(0,1,4). O(leaves).
TESELA_API tesela_status tesela_cute_flatten(const tesela_cute *a, tesela_cute *out, tesela_error *err);

/// R(i) = A(B(i)) for every coordinate i of B, with the outer modes of B. Inner brackets are B's, with a list of leaves for a leaf of B
/// that becomes several; a bracket of B whose leaves cannot be told apart in A becomes one list.
///
/// Example: (6,4):(4,1) with (3,2):(2,12) is (3,2):(8,2). 20:2 with (5,4):(4,1) is (5,4):(8,2).
/// Example: (4,6,8):(2,3,5) with 6:3 is impossible: the values 0, 6, 7, 13 are forced, and coordinate 3 has 8.
///
/// A may have a swizzle, Sw o offset o L: the result is Sw o offset o (L with B). B may have one if A multiplies by a power of two.
///
/// Complete: if any layout with the outer modes of B has these values, the result is one. `counter` has the smallest coordinate at
/// which no layout with them agrees with the values up to it. Only TESELA_E_LIMIT is undecided: runs of different lengths that meet
/// in no regular way, in more than 2^18 places.
///
/// @param counter  receives the counter-example of NOT_EXPRESSIBLE and TESELA_E_RANGE; may be NULL
/// @return TESELA_OK; TESELA_E_UNSUPPORTED with TESELA_REASON_NOT_EXPRESSIBLE; TESELA_E_RANGE if B has values below 0 and A more than
///         one mode; TESELA_E_LIMIT. Some 100 ns if the steps of B fall on digits of A; else microseconds.
/// Source: CUTLASS, "CuTe Layout Algebra", Composition.
TESELA_API tesela_status tesela_cute_compose(const tesela_cute *a, const tesela_cute *b, tesela_cute *out,
                                             tesela_cute_counter *counter, tesela_error *err);

/// The layout of what A leaves out: values increase, no value but 0 is in A, and (A, R) covers `size` places from 0 on once each;
/// more, if what A and the gaps in it span does not divide `size`. Leaves of stride 0 do not count; negative strides count as positive.
///
/// Example: 4:2 in 24 is (2,3):(1,8); (2,2):(1,6) in 24 is (3,2):(2,12).
///
/// @param size  1 or more
/// @return TESELA_OK; TESELA_E_RANGE for the size; TESELA_E_UNSUPPORTED with TESELA_REASON_NOT_INJECTIVE, or with
///         TESELA_REASON_NOT_EXPRESSIBLE for a stride that is not a multiple of what smaller ones fill: (2,2):(1,3). O(leaves^2).
TESELA_API tesela_status tesela_cute_complement(const tesela_cute *a, int64_t size, tesela_cute *out,
                                                tesela_cute_counter *counter, tesela_error *err);

/// A(R(i)) = i for all i, and no layout of a greater size has this.
///
/// Example: (4,8):(8,1): (8,4):(4,1). (4,3):(1,8): 4:1, as no coordinate has value 4. 4:2: 1:0.
///
/// @return TESELA_OK; TESELA_E_LIMIT, undecided, if strides overlap or are negative and the size is above 4096. O(leaves^2), except
///         for such layouts.
TESELA_API tesela_status tesela_cute_right_inverse(const tesela_cute *a, tesela_cute *out, tesela_error *err);

/// R(A(i)) = i for all coordinates i of A. Places that A does not have may have any value.
///
/// Example: (4,8):(10,1): (10,4):(4,1). (3,2):(2,3): (2,4):(2,1).
///
/// If each stride of A divides the next and is above all that the smaller ones reach, the result comes directly. For other layouts of up
/// to 512 coordinates all extents are tried.
///
/// @return TESELA_OK; TESELA_E_UNSUPPORTED with TESELA_REASON_NOT_INJECTIVE and two coordinates in `counter`, or with
///         TESELA_REASON_NOT_EXPRESSIBLE if no extents and strides are right: (3,3):(2,3); TESELA_E_RANGE for values below 0;
///         TESELA_E_LIMIT, undecided, for larger layouts whose strides do not nest, or a long search. O(leaves^2) or some milliseconds.
TESELA_API tesela_status tesela_cute_left_inverse(const tesela_cute *a, tesela_cute *out,
                                                  tesela_cute_counter *counter, tesela_error *err);

/* ---- tilers, divisions, products ---- */

#define TESELA_CUTE_TILE 8 ///< modes of a tiler

/// What divides or multiplies: one layout, or one for each mode.
typedef struct tesela_cute_tiler {
  bool by_mode;  ///< false: mode[0] is for the whole layout
  int32_t n;     ///< modes; those of the layout after them stay as they are
  uint32_t keep; ///< bit k: mode k of the layout stays, too
  tesela_cute mode[TESELA_CUTE_TILE];
} tesela_cute_tiler;

/// Read a tiler: "<4:1,_,(2,2):(1,4)>" or "[4:1; _]" by mode, "<4,8>" of compact modes; any other text as one layout.
/// @return as tesela_cute_parse; TESELA_E_LIMIT for more than TESELA_CUTE_TILE modes. *out is unspecified on failure. O(length).
TESELA_API tesela_status tesela_cute_tiler_parse(tesela_cute_tiler *out, const char *text, size_t length,
                                                 tesela_error *err);

/// Compose with a layout, or each mode with its mode of the tiler.
///
/// Example: (12,(4,8)):(59,(13,1)) with <3:4,8:2> is (3,(2,4)):(236,(26,1)).
///
/// @return as tesela_cute_compose; TESELA_E_MISMATCH for a tiler of more modes than the layout.
TESELA_API tesela_status tesela_cute_compose_tiler(const tesela_cute *a, const tesela_cute_tiler *tiler,
                                                   tesela_cute *out, tesela_cute_counter *counter,
                                                   tesela_error *err);

/// The order of the modes of a division or product. With tiles T, rests R of two modes, and further modes x, y:
typedef enum tesela_cute_form {
  TESELA_CUTE_LOGICAL, ///< ((T0,R0),(T1,R1),x,y)
  TESELA_CUTE_ZIPPED,  ///< ((T0,T1),(R0,R1,x,y))
  TESELA_CUTE_TILED,   ///< ((T0,T1),R0,R1,x,y)
  TESELA_CUTE_FLAT,    ///< (T0,T1,R0,R1,x,y)
  TESELA_CUTE_BLOCKED, ///< product by a layout: mode k is (mode k of the left, mode k of the right)
  TESELA_CUTE_RAKED    ///< the same, the right one first; each mode is coalesced
} tesela_cute_form;

/// Divide: A composed with (B, the complement of B in the size of A).
///
/// Example: (4,2,3):(2,1,8) by 4:2 is ((2,2),(2,3)):((4,1),(2,8)).
///
/// If the complement does not end with A, the result is larger than A: 10:1 by 4:1 is (4,3):(1,4).
///
/// @param form  LOGICAL to FLAT
/// @return as tesela_cute_compose and tesela_cute_complement; TESELA_E_RANGE with TESELA_REASON_SIZE and the first coordinate of B outside
///         of A; TESELA_E_MISMATCH for a tiler of more modes than A.
TESELA_API tesela_status tesela_cute_divide(tesela_cute_form form, const tesela_cute *a,
                                            const tesela_cute_tiler *tiler, tesela_cute *out,
                                            tesela_cute_counter *counter, tesela_error *err);

/// Multiply: (A, the complement of A in size(A) * cosize(B), composed with B).
///
/// Example: (2,2):(4,1) by 6:1 is ((2,2),(2,3)):((4,1),(2,8)).
/// Example: BLOCKED, (2,5):(5,1) by (3,4):(1,3) is ((2,3),(5,4)):((5,10),(1,30)).
///
/// @return as tesela_cute_divide; TESELA_E_INVALID for a tiler by mode with BLOCKED or RAKED.
TESELA_API tesela_status tesela_cute_product(tesela_cute_form form, const tesela_cute *a,
                                             const tesela_cute_tiler *tiler, tesela_cute *out,
                                             tesela_cute_counter *counter, tesela_error *err);

/// A block repeated until it covers a shape: the blocked product with as many tiles as each extent needs.
///
/// Example: (2,2):(2,1) to (4,6) is ((2,2),(2,3)):((2,4),(1,8)).
///
/// @param shape  n extents of 1 or more, at least as many as the block has modes
/// @param order  n numbers: tiles of the mode with the smallest are neighbours; NULL: the first mode first
/// @return as tesela_cute_product; TESELA_E_MISMATCH for fewer extents than modes.
TESELA_API tesela_status tesela_cute_tile_to_shape(const tesela_cute *block, int32_t n, const int64_t *shape,
                                                   const int64_t *order, tesela_cute *out,
                                                   tesela_cute_counter *counter, tesela_error *err);

/* ---- coordinates ---- */

/// A nested tuple of integers: a coordinate or a shape.
typedef struct tesela_cute_tuple {
  int32_t n; ///< numbers, 1 or more
  int64_t value[TESELA_CUTE_LEAVES];
  uint8_t open[TESELA_CUTE_LEAVES], close[TESELA_CUTE_LEAVES]; ///< as in tesela_cute
  uint64_t any;                                                ///< bit k: number k is "_", a whole mode
} tesela_cute_tuple;

/// Read a tuple: "(1,(2,_))", "5", "(4,)". O(length).
/// @return TESELA_OK; TESELA_E_SYNTAX, TESELA_E_OVERFLOW, TESELA_E_LIMIT with err->at.
TESELA_API tesela_status tesela_cute_tuple_parse(tesela_cute_tuple *out, const char *text, size_t length,
                                                 tesela_error *err);

/// Print a tuple without blanks: "(1,(2,_))".
/// @return TESELA_OK; TESELA_E_INVALID if the brackets do not nest; TESELA_E_STOPPED. O(numbers).
TESELA_API tesela_status tesela_cute_tuple_print(const tesela_cute_tuple *tuple, const tesela_writer *to,
                                                 tesela_error *err);

/// The modes at "_" of a coordinate, as a tuple, and the place of the other numbers.
///
/// Example: (4,(2,3)):(1,(4,8)) at (2,_): (2,3):(4,8) in one bracket, ((2,3)):((4,8)), and offset 2.
///
/// A number may stand for a whole mode. Of a layout with a swizzle the place becomes part of the offset of the result, and *offset is 0.
///
/// @return TESELA_OK; TESELA_E_RANGE for a number beyond its extents; TESELA_E_MISMATCH for other brackets. O(leaves).
TESELA_API tesela_status tesela_cute_slice(const tesela_cute *cute, const tesela_cute_tuple *at,
                                           tesela_cute *out, int64_t *offset, tesela_error *err);

/// The place of a coordinate, offset and swizzle included: (4,8):(8,1) at (2,5) is 21. One number is tesela_cute_at.
/// @return as tesela_cute_slice; TESELA_E_INVALID for "_". O(leaves).
TESELA_API tesela_status tesela_cute_index(const tesela_cute *cute, const tesela_cute_tuple *at,
                                           int64_t *place, tesela_error *err);

/// The coordinate, in the brackets of the layout, of a flat one: (4,(2,3)) at 13 is (1,(1,1)).
/// @return TESELA_OK; TESELA_E_RANGE outside of the size; TESELA_E_UNSUPPORTED for ():(). O(leaves).
TESELA_API tesela_status tesela_cute_coordinate(const tesela_cute *cute, int64_t i, tesela_cute_tuple *out,
                                                tesela_error *err);

/// CuTe's division of shapes: number by number for equal brackets; by one number, or a tuple's product, from the first extent on.
///
/// Example: (4,6) by 8 is (1,3); 12 by (2,3) is 2; (12,4) by (3,8) is (4,1).
///
/// @return TESELA_OK; TESELA_E_MISMATCH (TESELA_REASON_NOT_DIVISIBLE) if neither of two numbers divides the other, and for other brackets;
///         TESELA_E_RANGE for a number below 1; TESELA_E_INVALID for "_". O(numbers).
TESELA_API tesela_status tesela_cute_shape_div(const tesela_cute_tuple *a, const tesela_cute_tuple *b,
                                               tesela_cute_tuple *out, tesela_error *err);

#ifdef __cplusplus
}
#endif

#endif
