/* SPDX-License-Identifier: Apache-2.0 */
/*
 * layout.h - the model: a layout is a relation between the elements of a logical array and places.
 *
 * A layout is built from *coordinates* and *digits*:
 *
 *   coordinate  a number: the index of a dim (coordinates 0 .. rank-1) or of a join (rank, rank+1, ...)
 *   digit       a part of one coordinate; goes to an axis with a stride, or into a join with a weight
 *   axis        a numbered set of places: "memory", or "thread" and "local", ...
 *
 * The digits of one coordinate, by decreasing step, take it apart greedily: the first is x div step, and the
 * rest x mod step goes on to the next. The place on an axis is the axis offset plus the sum of digit * stride.
 *
 *   f32[3,5]{1,0:T(2,2)}     dim 0: (step 2, extent 2) (step 1, extent 2)
 *                            dim 1: (step 2, extent 3) (step 1, extent 2)
 *   strides on memory                12, 2                4, 1           element (2,3) -> 12 + 0 + 4 + 1 = 17
 *
 * The splits may pad: dim 0 has 3 elements and its digits have room for 4. A place whose digits name no element
 * is *padding*. A digit without a source is a *replica* (the element is at all its values) or a *hole* (only
 * value 0 is used). Everything else - size, inverse, equality, copying, drawing - follows from this relation.
 *
 * A tesela_layout is a plain value: copy it with `=`, no function here allocates, any number of threads may
 * read one. Build it with tesela_layout_begin .. tesela_layout_finish, or let a notation do so (xla.h).
 */
#ifndef TESELA_LAYOUT_H
#define TESELA_LAYOUT_H

#include <tesela/dtype.h>

#ifdef __cplusplus
extern "C" {
#endif

#define TESELA_MAX_RANK 32    ///< dims of a layout
#define TESELA_MAX_DIGITS 128 ///< digits, those that go into joins included
#define TESELA_MAX_JOINS 32   ///< joined coordinates
#define TESELA_MAX_AXES 8     ///< axes
#define TESELA_MAX_SWIZZLES 8 ///< XOR stages
#define TESELA_AXIS_NAME 12   ///< bytes of an axis name, the NUL included

#define TESELA_REPLICA (-1) ///< tesela_digit.source: the element is at every value of this digit
#define TESELA_HOLE (-2)    ///< tesela_digit.source: only value 0 of this digit holds an element

/// One digit of a coordinate.
typedef struct tesela_digit {
  int64_t extent;  ///< values 0 .. extent-1, padding included
  int64_t step;    ///< units of the source coordinate per value, >= 1
  int64_t stride;  ///< places per value on `axis`, or weight per value in `join`; 0 and negative allowed
  int16_t source;  ///< coordinate: dim (< rank) or join (rank + j); TESELA_REPLICA or TESELA_HOLE
  int16_t axis;    ///< axis it is placed on; -1: not on an axis
  int16_t join;    ///< join it is a part of; -1: of none
  int16_t part_of; ///< of a hole that a split made: the coordinate it is a part of, plus 1; else 0
} tesela_digit;

/// One set of places, 0 .. extent-1.
typedef struct tesela_axis {
  char name[TESELA_AXIS_NAME]; ///< "memory", "thread", "local", ...
  bool overlap;   ///< set by finish: two values of the digits share a place, or that was not decided
  bool undecided; ///< set by finish: it was not decided
  bool
      interleaved; ///< set by finish: none share a place, although a stride is within what smaller ones reach
  int64_t offset;  ///< place at which all digits are 0
  int64_t extent;  ///< number of places, padding and gaps included
} tesela_axis;

/// A joined coordinate: offset + sum of part * weight over the digits whose `join` names it.
typedef struct tesela_join {
  bool overlap; ///< set by finish: two values of the parts give one number, or that was not decided
  bool undecided, interleaved; ///< set by finish: as of an axis
  int64_t extent;              ///< values 0 .. extent-1
  int64_t offset;              ///< value at which all parts are 0
} tesela_join;

/// An XOR stage on an axis: some bits of the place act on `bits` others, |shift| positions away. With m = 2^bits - 1:
///   shift >= 0   place ^= (place >> (base + shift) & m) << base       higher bits act on the ones at base
///   shift < 0    place ^= (place >> base & m) << (base - shift)       the bits at base act on higher ones
/// Example: bits 2, base 1, shift 2 on place 21 (10101): bits 3 and 4 are 10, so 21 ^ (2 << 1) = 17.
typedef struct tesela_swizzle {
  int16_t axis, bits, base, shift;
} tesela_swizzle;

/// A layout. Fields are for reading; the functions below keep them consistent.
typedef struct tesela_layout {
  int32_t rank;
  int32_t n_digits; ///< all digits; those of extent 1 stand last, they are always 0
  int32_t n_active; ///< digits of another extent: with a source first, then others that have a stride
  int32_t n_mapped; ///< active digits with a source, sorted by source, then decreasing step
  int32_t n_joins, n_axes, n_swizzles;
  int32_t bits;       ///< bits one element takes in its place
  tesela_dtype dtype; ///< TESELA_DTYPE_NONE: only the width is known
  bool finished;      ///< tesela_layout_finish accepted it
  int64_t shape[TESELA_MAX_RANK];
  tesela_join join[TESELA_MAX_JOINS];
  tesela_axis axis[TESELA_MAX_AXES];
  tesela_swizzle swizzle[TESELA_MAX_SWIZZLES];
  uint8_t
      by_place[TESELA_MAX_DIGITS]; ///< active digits by target (axes, then joins), then decreasing |stride|
  tesela_digit digit[TESELA_MAX_DIGITS];
} tesela_layout;

/* ---- building -------------------------------------------------------------------------------------------- */

/// Start a layout of `rank` dims: one digit per dim (digit d is dim d, step 1), placed nowhere, no axis.
///
/// @param bits   bits one element takes in its place, 1 to 1024
/// @param shape  `rank` extents >= 0; may be NULL if rank is 0
/// @return TESELA_OK; TESELA_E_LIMIT for rank > TESELA_MAX_RANK; TESELA_E_RANGE for a negative extent or bits
///         outside 1..1024; TESELA_E_OVERFLOW if the number of elements exceeds int64.
TESELA_API tesela_status tesela_layout_begin(tesela_layout *layout, tesela_dtype dtype, int32_t bits,
                                             int32_t rank, const int64_t *shape, tesela_error *err);

/// Split a digit: it keeps x div t, and the new digit *lo is x mod t. If t does not divide its extent, the
/// split pads: extents become ceil(extent / t) and t.
///
/// Example: a digit of extent 5 split by 2 becomes extents 3 and 2, room for 6.
///
/// @return TESELA_OK; TESELA_E_RANGE for t < 1 or no such digit; TESELA_E_LIMIT when digits run out;
///         TESELA_E_INVALID if the digit is placed already, or is a replica that t does not divide;
///         TESELA_E_OVERFLOW.
TESELA_API tesela_status tesela_layout_split(tesela_layout *layout, int32_t digit, int64_t t, int32_t *lo,
                                             tesela_error *err);

/// Join n digits, most significant first, into one coordinate a * extent(b) + b, and make a digit of it.
///
/// Example: digits of extents 11 and 10 join to a digit of extent 110; (6, 2) is 62.
///
/// @return TESELA_OK; TESELA_E_RANGE for n < 1 or no such digit; TESELA_E_INVALID if one is placed or joined
///         already, stands twice, or is a replica (holes may be joined); TESELA_E_LIMIT; TESELA_E_OVERFLOW.
TESELA_API tesela_status tesela_layout_join(tesela_layout *layout, int32_t n, const int32_t *digits,
                                            int32_t *joined, tesela_error *err);

/// Add a digit without a source: `kind` is TESELA_REPLICA or TESELA_HOLE, extent >= 1.
TESELA_API tesela_status tesela_layout_add_digit(tesela_layout *layout, int32_t kind, int64_t extent,
                                                 int32_t *digit, tesela_error *err);

/// Add an axis; its extent is computed by finish unless tesela_layout_set_axis says it.
TESELA_API tesela_status tesela_layout_add_axis(tesela_layout *layout, const char *name, int32_t *axis,
                                                tesela_error *err);

/// Put a digit on an axis with a stride (any int64; 0 broadcasts, < 0 walks back).
TESELA_API tesela_status tesela_layout_place(tesela_layout *layout, int32_t digit, int32_t axis,
                                             int64_t stride, tesela_error *err);

/// Put n digits on an axis row-major: the last gets stride `stride`, each before it the stride times the extents
/// behind it (an extent of 0 counts as 1). next, if not NULL, receives the stride that one more digit in front would get.
///
/// Example: digits of extents 2, 3, 2, 2 from stride 1: strides 12, 4, 2, 1, and 24 in *next.
TESELA_API tesela_status tesela_layout_place_row_major(tesela_layout *layout, int32_t n,
                                                       const int32_t *digits, int32_t axis, int64_t stride,
                                                       int64_t *next, tesela_error *err);

/// Set the offset and the number of places of an axis; extent -1 lets finish compute it.
TESELA_API tesela_status tesela_layout_set_axis(tesela_layout *layout, int32_t axis, int64_t offset,
                                                int64_t extent, tesela_error *err);

/// Add an XOR stage to an axis; stages act in the order they were added, after offset and digits.
/// 0 <= bits, base, and base + |shift| + bits <= 62; |shift| >= bits, so that the stage is its own inverse.
TESELA_API tesela_status tesela_layout_add_swizzle(tesela_layout *layout, tesela_swizzle swizzle,
                                                   tesela_error *err);

/// Check and finish a layout: every digit is placed or joined, every place fits the axis and int64, the last
/// step of each coordinate is 1. Sorts the digits (numbers given out before are void afterwards).
///
/// @return TESELA_OK; TESELA_E_INVALID for a digit that went nowhere or a replica without a stride; TESELA_E_RANGE for
///         a place < 0 or beyond the axis; TESELA_E_OVERFLOW if places or the number of copies exceed int64.
TESELA_API tesela_status tesela_layout_finish(tesela_layout *layout, tesela_error *err);

/// A strided view: place = offset + sum of index * stride on one axis "memory".
/// strides NULL means row-major. Example: shape (3,5), strides (8,1), offset 2: element (2,3) is at 21.
TESELA_API tesela_status tesela_layout_strided(tesela_layout *layout, tesela_dtype dtype, int32_t bits,
                                               int32_t rank, const int64_t *shape, const int64_t *strides,
                                               int64_t offset, tesela_error *err);

/* ---- element to place, place to element ------------------------------------------------------------------- */

/// The place of one element on each axis; with replicas the first one (all replica digits 0).
///
/// Example: f32[3,5]{1,0:T(2,2)}, index (2,3) -> place 17.
///
/// @param index  layout->rank coordinates, 0 <= index[d] < shape[d]
/// @param place  receives layout->n_axes numbers
/// @return TESELA_OK; TESELA_E_RANGE for a coordinate outside the shape, *place unchanged.
/// O(n_active), no allocation.
TESELA_API tesela_status tesela_layout_place_of(const tesela_layout *layout, const int64_t *index,
                                                int64_t *place, tesela_error *err);

/// How many places hold each element: the product of the replica extents; 1 without replicas.
TESELA_API int64_t tesela_layout_copies(const tesela_layout *layout);

/// The k-th place of an element, 0 <= k < tesela_layout_copies(); k counts row-major over the replica digits in
/// the order they were added.
TESELA_API tesela_status tesela_layout_copy_of(const tesela_layout *layout, const int64_t *index, int64_t k,
                                               int64_t *place, tesela_error *err);

/// Places of n elements on one axis, at once.
///
/// @param axis     0 <= axis < n_axes
/// @param indices  n rows of `rank` coordinates
/// @param places   receives n places, in the same order
/// @return TESELA_OK; TESELA_E_RANGE for a coordinate outside the shape: the places before that row are written
///         and the message names the row.
/// No division by an unknown number inside; about 1 ns an element for two tiled dims (bench/bench_map.c).
TESELA_API tesela_status tesela_layout_places(const tesela_layout *layout, int32_t axis, int64_t n,
                                              const int64_t *indices, int64_t *places, tesela_error *err);

/// The element at a place. *padding tells that none is there; then index is not written.
///
/// Example: f32[3,5]{1,0:T(2,2)}: place 17 -> (2,3); place 9 -> padding.
///
/// Where a stride is 0 (a broadcast dim) several elements share the place; the answer is the one whose
/// coordinate on such digits is 0.
///
/// Strides may interleave: extents 3 and 2 with strides 2 and 3 put (1,1) at place 5, and nothing else. Whether two
/// values share a place is decided exactly, by a search of at most 2^14 steps when the layout is finished; beyond that,
/// and where values of a join meet that may belong to no element, it is not decided, and refused.
///
/// @param place  layout->n_axes numbers, 0 <= place[a] < axis[a].extent
/// @return TESELA_OK; TESELA_E_RANGE for a place outside the axis; TESELA_E_UNSUPPORTED when the digits of an
///         axis or of a join overlap (windows, a broadcast inside a join), so that a place has no single element, or
///         when that is not decided; the message says which.
/// O(n_digits), no allocation; of interleaved strides a search of at most 2^15 steps.
TESELA_API tesela_status tesela_layout_element_at(const tesela_layout *layout, const int64_t *place,
                                                  int64_t *index, bool *padding, tesela_error *err);

/// A stretch of neighbouring places on the only axis.
typedef struct tesela_run {
  int64_t length; ///< places first, first+1, ..., first+length-1
  int64_t step;   ///< element numbers (row-major over the shape) between neighbours; 0 for padding
  bool padding;   ///< none of the places holds an element
} tesela_run;

/// The longest run that starts at a place: element numbers go up by one fixed step, or all is padding.
/// A run of one element has step 1.
///
/// Example: f32[20,200]{1,0:T(8,128)}: at place 0 length 128, step 1; at place 1096 (the end of row 0) padding.
///
/// @return TESELA_OK; TESELA_E_RANGE; TESELA_E_UNSUPPORTED for several axes, replicas, a swizzle or overlap,
///         and for a run of more than 2^20 pieces, which only joins that canonical form keeps can make.
/// O(n_digits^2) for each piece; without such joins there are about two a digit.
TESELA_API tesela_status tesela_layout_run(const tesela_layout *layout, int64_t place, tesela_run *run,
                                           tesela_error *err);

/* ---- sizes ------------------------------------------------------------------------------------------------ */

/// Sizes of a layout. `logical_*` is the data alone; the others count every place of all axes.
typedef struct tesela_sizes {
  int64_t logical_elements; ///< product of the shape
  int64_t logical_bits;     ///< logical_elements * the ordinary width of the type, or `bits` if that is less
  int64_t logical_bytes;    ///< rounded up once
  int64_t elements;         ///< places, padding included (product of the axis extents)
  int64_t bits;             ///< elements * bits per element
  int64_t bytes;            ///< rounded up once
} tesela_sizes;

/// Example: f32[3,5]{1,0:T(2,2)}: 15 elements, 60 bytes of data; 24 places, 96 bytes.
/// @return TESELA_OK; TESELA_E_OVERFLOW if the bits exceed int64.
TESELA_API tesela_status tesela_layout_sizes(const tesela_layout *layout, tesela_sizes *sizes,
                                             tesela_error *err);

/// Places reserved along one dim: the product of its digits' extents. f32[3,5]{1,0:T(2,2)}: 4 for dim 0, 6 for
/// dim 1. For a dim that goes into a join whole, its own extent.
TESELA_API tesela_status tesela_layout_padded_extent(const tesela_layout *layout, int32_t dim,
                                                     int64_t *extent, tesela_error *err);

/* ---- form, equality, composition -------------------------------------------------------------------------- */

/// The simplest digits for the same relation, axes and sizes: neighbours with one slope merged where their steps
/// divide, digits that are always 0 dropped, joins whose cuts fall on the borders of their parts taken apart, replicas and holes merged.
/// canonical(canonical(x)) = canonical(x). Layouts whose splits divide and that need no join have equal relations
/// exactly if their canonical digits are equal.
///
/// Example: f32[24,128]{1,0:T(8,128)} and f32[24,128]{1,0} both become one digit per dim, strides 128 and 1.
TESELA_API tesela_status tesela_layout_canonical(const tesela_layout *layout, tesela_layout *out,
                                                 tesela_error *err);

/// How two layouts differ.
typedef struct tesela_difference {
  bool same;                      ///< every element has the same places in both
  bool have_index;                ///< the first element (row-major order) whose places differ is in `index`
  bool same_extent;               ///< the axes have the same numbers of places of the same width
  int64_t index[TESELA_MAX_RANK]; ///< valid if have_index
  char reason[96];                ///< why not same, one line: "shapes differ: [3,5] and [3,6]", "" if same
} tesela_difference;

/// Compare two layouts as relations, without enumeration: from the one-dimensional profiles of their digits.
/// Sizes of 10^12 elements take microseconds.
///
/// @return TESELA_OK; TESELA_E_UNSUPPORTED when it cannot be decided within a fixed effort (joins of different
///         dims on the two sides with long periods, different swizzles): never a guess.
TESELA_API tesela_status tesela_layout_compare(const tesela_layout *a, const tesela_layout *b,
                                               tesela_difference *difference, tesela_error *err);

/// outer after inner: element e of inner's shape is at outer(inner(e)), where a place p of inner is element number
/// p (row-major) of outer.
///
/// Example: inner f32[3,5]{1,0:T(2,2)} (24 places) and outer a permutation p -> 23 - p of 24 elements:
/// element (2,3) is at 23 - 17 = 6.
///
/// @return TESELA_OK; TESELA_E_MISMATCH if inner has not exactly one axis, or replicas or a swizzle, if inner has
///         more places than outer has elements, or if the element widths differ; TESELA_E_LIMIT.
TESELA_API tesela_status tesela_layout_compose(const tesela_layout *outer, const tesela_layout *inner,
                                               tesela_layout *out, tesela_error *err);

#ifdef __cplusplus
}
#endif
#endif
