/* SPDX-License-Identifier: Apache-2.0 */
/*
 * linear.h - linear layouts over bits: every bit of an input flips some bits of the outputs.
 *
 *   register [[0,1],[8,0]], lane [[0,2],[0,4],[1,0],[2,0],[4,0]]     lane 5 = 1 + 4: (0,2) ^ (1,0) = (1,2)
 *
 * Source: Triton's LinearLayout (include/triton/Tools/LinearLayout.h) and "Linear Layouts", arXiv 2505.23819.
 */
#ifndef TESELA_LINEAR_H
#define TESELA_LINEAR_H

#include <tesela/layout.h>

#ifdef __cplusplus
extern "C" {
#endif

#define TESELA_LINEAR_DIMS 32 ///< inputs, or outputs
#define TESELA_LINEAR_BITS 62 ///< bits of all inputs, or of all outputs
#define TESELA_LINEAR_NAME 16 ///< bytes of a name, the NUL included

/// An input or an output: a name and 2^bits values.
typedef struct tesela_linear_dim {
  char name[TESELA_LINEAR_NAME];
  int32_t bits;
} tesela_linear_dim;

/// A linear layout. A plain value of about 2 KiB.
typedef struct tesela_linear {
  int32_t n_ins, n_outs;
  tesela_linear_dim in[TESELA_LINEAR_DIMS], out[TESELA_LINEAR_DIMS];
  /// Of all input bits, those of in[0] first, each from bit 0 up: the output as one word, out[0] in the lowest bits.
  uint64_t basis[TESELA_LINEAR_BITS];
} tesela_linear;

/*
 * ==== Linear layouts and relations
 */

/// A linear layout as a relation. A linear layout maps places to elements; a relation maps elements to places.
///
/// Each input is an axis of its name, with 2^bits places; `offset` is the axis "memory", and an input `block` of one value is left out.
/// Dim d of the array is the output named "dim<d>", or output d if the outputs have other names. Inputs with equal outputs, by
/// bases that are 0 or a XOR of others, hold copies of one element. Elements of the outputs outside `shape` are padding.
///
/// Example: register [[0,1],[8,0]], lane [[0,2],[0,4],[1,0],[2,0],[4,0]] with shape (16,8): element (9,5) is at register 3, lane 6.
///
/// @param bits   bits of an element, as in tesela_layout_begin
/// @param shape  `rank` extents, as many as outputs, none above that of its output
/// @return TESELA_OK; TESELA_E_UNSUPPORTED with TESELA_REASON_NOT_SURJECTIVE if an element is in no place (the message names the first
///         one in row-major order), and for a layout without inputs; TESELA_E_MISMATCH for another rank or a larger shape;
///         TESELA_E_RANGE, TESELA_E_INVALID or TESELA_E_LIMIT for a layout that is not valid (names that are empty or repeated, more than
///         62 bits, bases outside the outputs), more than 8 inputs, or as tesela_layout_begin; *layout is unspecified.
/// No allocation; any thread; some microseconds.
TESELA_API tesela_status tesela_linear_to_layout(const tesela_linear *a, tesela_dtype dtype, int32_t bits,
                                                 int32_t rank, const int64_t *shape, tesela_layout *layout,
                                                 tesela_error *err);

/// A relation as a linear layout, with a verdict: the inverse of tesela_linear_to_layout.
///
/// Extents are rounded up to powers of two: answer->shape is that of the outputs, dim0, dim1, ... Places that hold no element hold padding: they
/// become further elements of dims. Then the verdict is TESELA_VALID_PART, or TESELA_NEEDS_PADDING if the layout has fewer places.
///
/// TESELA_IMPOSSIBLE comes with the first element, in row-major order, that contradicts: it is at a place other than the XOR of the
/// places of its bits, or at the place of another element (which may be padding: an index outside the shape).
///
/// Example: f32[4,8]{1,0:T(2,4)} is offset [[0,1],[0,2],[1,0],[0,4],[2,0]]; f32[3,4]{1,0} needs padding to (4,4);
/// f32[2,3]{1,0} is impossible: element (1,0) is at place 3, that of (0,3).
///
/// @param out     receives the layout unless the verdict is TESELA_IMPOSSIBLE. Its inputs are the axes; "memory" is named offset
/// @param answer  receives the verdict
/// @return TESELA_OK, whatever the verdict; TESELA_E_INVALID for a layout that is not finished; TESELA_E_UNSUPPORTED if
///         tesela_layout_compare cannot decide. No allocation; any thread; below a millisecond, except where comparing is slow.
TESELA_API tesela_status tesela_linear_from_layout(const tesela_layout *layout, tesela_linear *out,
                                                   tesela_translation *answer, tesela_error *err);

#ifdef __cplusplus
}
#endif

#endif
