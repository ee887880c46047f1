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
 * ==== Operations
 *
 * Their meaning is that of Triton's LinearLayout. They allocate nothing, run on any thread, and take some microseconds for 20 bits; results
 * may overwrite an argument. All check their arguments: TESELA_E_RANGE, TESELA_E_INVALID or TESELA_E_LIMIT for a layout that is not valid
 * (names that are empty or repeated, bases outside the outputs, more than TESELA_LINEAR_DIMS dims or TESELA_LINEAR_BITS bits on a side), and
 * for a result that would not be. On failure *out keeps its value.
 */

/// An input and its output that show why an operation is impossible.
typedef struct tesela_linear_example {
  bool have_in, have_out;
  int64_t in[TESELA_LINEAR_DIMS], out[TESELA_LINEAR_DIMS]; ///< of the layout that the function names
} tesela_linear_example;

/// Make a layout of bases that are lists of numbers.
///
/// Example: inputs register (1 bit), lane (2 bits), outputs dim0, dim1 with -1 bits, bases 0,1, 8,0, 0,2: the outputs have 16 and 4 values.
///
/// @param outs   bits -1: as few as the bases need
/// @param bases  n_outs numbers for each input bit, those of the first input first
/// @return TESELA_OK; TESELA_E_RANGE for a number below 0, or outside its output; and the errors above.
TESELA_API tesela_status tesela_linear_make(tesela_linear *out, int32_t n_ins, const tesela_linear_dim *ins,
                                            int32_t n_outs, const tesela_linear_dim *outs,
                                            const int64_t *bases, tesela_error *err);

/// Read a text: bases by input, Triton's attributes of them, or JSON.
///
/// Example: register [[0,1],[8,0]], lane [[0,2],[0,4]]
/// Example: #ttg.linear<{register = [[0, 1]], lane = [[0, 2]], warp = [], block = []}>
/// Example: {"bases": {"lane": [[0,1],[0,2]]}, "outs": [["dim0", 16], ["dim1", 8]]}
///
/// The outputs of the first two are dim0, dim1, ..., with as few values as the bases need; so are those in JSON that lack a size, "outs": ["x", "y"].
///
/// @return TESELA_OK; TESELA_E_SYNTAX; TESELA_E_RANGE, TESELA_E_LIMIT, TESELA_E_INVALID as tesela_linear_make. err->at is the byte.
/// O(length); no allocation; any thread.
TESELA_API tesela_status tesela_linear_parse(tesela_linear *out, const char *text, size_t length,
                                             tesela_error *err);

/// Print a layout: as in the first example if tesela_linear_parse reads the same from it, else in JSON.
/// @return TESELA_OK; TESELA_E_STOPPED; the errors above.
TESELA_API tesela_status tesela_linear_print(const tesela_linear *a, const tesela_writer *to,
                                             tesela_error *err);

/// x -> stride * x for `size` values, both powers of two; stride 1 is the identity. Example: size 4, stride 2: [[2],[4]], 8 outputs.
/// @return TESELA_OK; TESELA_E_RANGE for another size or stride; TESELA_E_INVALID for a name that is empty or too long.
TESELA_API tesela_status tesela_linear_strided_1d(int64_t size, int64_t stride, const char *in,
                                                  const char *out_name, tesela_linear *out,
                                                  tesela_error *err);

/// x -> 0 for `size` values, of `out_size` outputs; both powers of two. Errors as above.
TESELA_API tesela_status tesela_linear_zeros_1d(int64_t size, const char *in, const char *out_name,
                                                int64_t out_size, tesela_linear *out, tesela_error *err);

/// The output of an input.
///
/// Example: register [[0,1],[8,0]], lane [[0,2],[1,0]]: register 3 and lane 2 give (8,1) ^ (1,0) = (9,1).
///
/// @param in   a value for each input, in order
/// @param out  receives a value for each output
/// @return TESELA_OK; TESELA_E_RANGE for a value outside its input.
TESELA_API tesela_status tesela_linear_apply(const tesela_linear *a, const int64_t *in, int64_t *out,
                                             tesela_error *err);

/// Equal names, bases and, unless `ignore_sizes`, numbers of outputs; all in the same order.
TESELA_API bool tesela_linear_equal(const tesela_linear *a, const tesela_linear *b, bool ignore_sizes);

/// The number of independent bases; 0 for a layout that is not valid. A layout is injective if it is the number of input bits, surjective if it is
/// the number of output bits.
TESELA_API int32_t tesela_linear_rank(const tesela_linear *a);

/// The direct sum: a on the low bits of every input and output, b on the bits above. Dims of both in an order that fits both; where several
/// do, those of a first.
///
/// Example: identity of 4 times identity of 2, on the same names, is the identity of 8.
///
/// @return TESELA_OK; TESELA_E_MISMATCH if common dims are in different orders.
TESELA_API tesela_status tesela_linear_product(const tesela_linear *a, const tesela_linear *b,
                                               tesela_linear *out, tesela_error *err);

/// a, then b: x -> b(a(x)). The outputs of a are the inputs of b, in any order.
/// @return TESELA_OK; TESELA_E_MISMATCH for other names, or outputs larger than the inputs of b.
TESELA_API tesela_status tesela_linear_compose(const tesela_linear *a, const tesela_linear *b,
                                               tesela_linear *out, tesela_error *err);

/// The inverse.
/// @param example  may be NULL; receives for NOT_INJECTIVE an input other than 0 whose output is 0, for NOT_SURJECTIVE an output of no input
/// @return TESELA_OK; TESELA_E_UNSUPPORTED with TESELA_REASON_NOT_INJECTIVE or TESELA_REASON_NOT_SURJECTIVE.
TESELA_API tesela_status tesela_linear_invert(const tesela_linear *a, tesela_linear *out,
                                              tesela_linear_example *example, tesela_error *err);

/// A right inverse r: a(r(y)) = y. It is tesela_linear_invert_and_compose of the identity on the outputs and a.
/// @param example  may be NULL; receives an output of no input
/// @return TESELA_OK; TESELA_E_UNSUPPORTED with TESELA_REASON_NOT_SURJECTIVE.
TESELA_API tesela_status tesela_linear_pseudoinvert(const tesela_linear *a, tesela_linear *out,
                                                    tesela_linear_example *example, tesela_error *err);

/// Solve b(c(x)) = a(x) for c: from the places of a to those of b.
///
/// Of several solutions: an input that has the same bases in both layouts, and output bits that no other input of them touches, goes to
/// itself; apart from these, input bits of b whose basis is a XOR of earlier ones stay 0.
///
/// @param example  may be NULL; receives an input of a, and its output, which b does not have
/// @return TESELA_OK; TESELA_E_UNSUPPORTED with TESELA_REASON_NOT_SURJECTIVE if b lacks an output of a; TESELA_E_MISMATCH for outputs of
///         other names, or larger ones than those of b.
TESELA_API tesela_status tesela_linear_invert_and_compose(const tesela_linear *a, const tesela_linear *b,
                                                          tesela_linear *out, tesela_linear_example *example,
                                                          tesela_error *err);

/// Solve product(b, c) = a for c, with the dims of a.
/// @param example  may be NULL; receives an input of a, and its output, that no c gives
/// @return TESELA_OK; TESELA_E_UNSUPPORTED with TESELA_REASON_NOT_DIVISIBLE.
TESELA_API tesela_status tesela_linear_divide_left(const tesela_linear *a, const tesela_linear *b,
                                                   tesela_linear *out, tesela_linear_example *example,
                                                   tesela_error *err);

/// The layout without dims on which it is the identity, and which no other dims mix with.
/// @param names    `n` names, each of an input and of an output
/// @param example  may be NULL; receives an input, and its output, that contradict
/// @return TESELA_OK; TESELA_E_UNSUPPORTED with TESELA_REASON_NOT_DIVISIBLE; TESELA_E_INVALID for an unknown name.
TESELA_API tesela_status tesela_linear_quotient(const tesela_linear *a, int32_t n, const char *const *names,
                                                tesela_linear *out, tesela_linear_example *example,
                                                tesela_error *err);

/// Only some inputs, the others being 0, and only some outputs. Bit i of `ins` is input i, of `outs` output i.
/// @return TESELA_OK; TESELA_E_RANGE for bits beyond the dims.
TESELA_API tesela_status tesela_linear_sublayout(const tesela_linear *a, uint32_t ins, uint32_t outs,
                                                 tesela_linear *out, tesela_error *err);

/// Are all bases 0? True for a layout that is not valid.
TESELA_API bool tesela_linear_is_zero(const tesela_linear *a);

/// The bits of each input whose basis is a XOR of earlier bases: with them 0 the layout is injective.
/// @param masks  receives a mask for each input
TESELA_API tesela_status tesela_linear_free_variable_masks(const tesela_linear *a, int64_t *masks,
                                                           tesela_error *err);

/// The largest power of two V such that V values of the first input from any multiple of V go to V consecutive values of the first output.
/// Example: offset [[1,0],[2,0],[0,1]] with the fastest output first: 4. 1 for a layout that is not valid or without dims.
TESELA_API int64_t tesela_linear_num_consecutive_in_out(const tesela_linear *a);

/// Other dims for the same bits, the first dim lowest. One dim flattens.
///
/// Example: inputs lane 32, warp 4 as [thread 128]: lane 3 of warp 2 is thread 67.
///
/// @param outs  false: inputs, true: outputs
/// @param dims  `n` new dims
/// @return TESELA_OK; TESELA_E_MISMATCH for another number of bits.
TESELA_API tesela_status tesela_linear_reshape(const tesela_linear *a, bool outs, int32_t n,
                                               const tesela_linear_dim *dims, tesela_linear *out,
                                               tesela_error *err);

/// The inputs or outputs in another order.
/// @param order  all dims of that side: new dim k is dim order[k]
/// @return TESELA_OK; TESELA_E_RANGE for an unknown dim; TESELA_E_INVALID for a repeated one.
TESELA_API tesela_status tesela_linear_transpose(const tesela_linear *a, bool outs, const int32_t *order,
                                                 tesela_linear *out, tesela_error *err);

/// New basis k of an input is basis action[k]; bases that are not in the list are dropped.
/// Example: [[1],[2],[4]] with action {2,0,1}: [[4],[1],[2]].
/// @param action  `n` bits of the input, each at most once
/// @return TESELA_OK; TESELA_E_RANGE for an unknown input or bit; TESELA_E_INVALID for a repeated bit.
TESELA_API tesela_status tesela_linear_permute_columns(const tesela_linear *a, int32_t in, int32_t n,
                                                       const int32_t *action, tesela_linear *out,
                                                       tesela_error *err);

/// The same on values, one for each value of an input: to[k] receives from[j], bit action[i] of j being bit i of k.
/// Example: action {2,0,1} on 8 values x: x0 x4 x1 x5 x2 x6 x3 x7.
/// @param action  `n` of `bits` bits, each at most once; 0 <= n <= bits <= 30
/// @param to      receives 2^n values; not `from`
/// @return TESELA_OK; TESELA_E_RANGE; TESELA_E_INVALID for a repeated bit. O(2^n).
TESELA_API tesela_status tesela_linear_permute_values(int32_t bits, int32_t n, const int32_t *action,
                                                      const int64_t *from, int64_t *to, tesela_error *err);

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
/// places of its bits, or at the place of another element; or (TESELA_CONTRADICTION_ELEMENT) at a place where the elements before put padding: index2,
/// outside the shape.
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
