/* SPDX-License-Identifier: Apache-2.0 */
/*
 * xla_bitcast.h - when does a transpose or a reshape of an XLA shape move nothing, and what does a bitcast mean?
 *
 * XLA asks about the order of the dims alone; its answers are the functions that end in _order_only. The others know
 * the tiles: every element keeps its place, and the sizes and the width of an element are equal.
 *
 *   f32[4,128]{1,0:T(4,128)} -> f32[4,1,128]{2,1,0:T(1,128)}    free
 *   f32[4,256]{1,0:T(4,128)} -> f32[4,1,256]{2,1,0:T(1,128)}    by the order free, but row 1 moves from 128 to 256
 */
#ifndef TESELA_XLA_BITCAST_H
#define TESELA_XLA_BITCAST_H

#include <tesela/xla.h>

#ifdef __cplusplus
extern "C" {
#endif

/// Is a transpose (output dim k is input dim permutation[k]) from `in` to `out` without any data movement, tiles,
/// padding and element width considered? XLA's TransposeIsBitcast looks at the order only.
///
/// Yes if type and bits per element are equal, bytes and allocated bytes are equal, and every element keeps its
/// place. S and M take no part. Example: f32[16,256]{1,0:T(8,128)} to f32[256,16]{0,1} is none, whatever the order.
///
/// @return TESELA_OK; TESELA_E_MISMATCH if the dims do not fit; TESELA_E_INVALID if it is no permutation;
///         TESELA_E_UNSUPPORTED as tesela_xla_size and tesela_layout_compare.
TESELA_API tesela_status tesela_xla_transpose_is_bitcast(const tesela_xla_shape *in,
                                                         const tesela_xla_shape *out,
                                                         const int32_t *permutation, bool *bitcast,
                                                         tesela_error *err);
/// The same for a reshape (equal row-major element numbers). TESELA_E_MISMATCH if the numbers of elements differ.
///
/// Example: f32[16,256]{1,0:T(8,128)} to f32[2,8,2,128]{3,1,2,0} is a bitcast: the tiles become dims.
TESELA_API tesela_status tesela_xla_reshape_is_bitcast(const tesela_xla_shape *in,
                                                       const tesela_xla_shape *out, bool *bitcast,
                                                       tesela_error *err);
/// XLA's own answers, which look at the order of the dims only.
TESELA_API tesela_status tesela_xla_transpose_is_bitcast_order_only(const tesela_xla_shape *in,
                                                                    const tesela_xla_shape *out,
                                                                    const int32_t *permutation, bool *bitcast,
                                                                    tesela_error *err);
TESELA_API tesela_status tesela_xla_reshape_is_bitcast_order_only(const tesela_xla_shape *in,
                                                                  const tesela_xla_shape *out, bool *bitcast,
                                                                  tesela_error *err);

/* ---- what a bitcast means --------------------------------------------------------------------------------- */

typedef enum tesela_xla_bitcast_kind {
  TESELA_XLA_BITCAST_NONE,      ///< none of the following keeps every element where it is
  TESELA_XLA_BITCAST_RESHAPE,   ///< equal row-major element numbers
  TESELA_XLA_BITCAST_TRANSPOSE, ///< dim k of the output is a dim of the input
  TESELA_XLA_BITCAST_CHAIN,     ///< transpose, reshape, transpose
} tesela_xla_bitcast_kind;

/// A bitcast as a chain: transpose the input to `from`, reshape that to `to`, transpose this to the output. Of a single
/// step the other two change nothing; they are filled all the same.
typedef struct tesela_xla_bitcast {
  tesela_xla_bitcast_kind kind;       ///< for NONE the rest is not set
  int32_t in_order[TESELA_MAX_RANK];  ///< dim k of `from` is dim in_order[k] of the input
  int32_t out_order[TESELA_MAX_RANK]; ///< dim k of the output is dim out_order[k] of `to`
  tesela_xla_shape from,
      to; ///< of a CHAIN: input and output with their dims renamed so that the order is {n-1,...,0}
} tesela_xla_bitcast;

/// What kind of bitcast, if any, leads from `in` to `out` without moving an element? A reshape is preferred to a
/// transpose, this to the chain. (XLA: DecomposeBitcast; IsReshapeOrTransposeBitcast is the question for the first two
/// kinds, IsDecomposableBitcast that for any.) The types must be equal; for a bitcast-convert of one width give both
/// shapes the same type.
///
/// Example: f32[6,4]{0,1} to f32[2,12]{0,1} is a CHAIN: f32[4,6]{1,0}, reshaped to f32[12,2]{1,0}.
///
/// @return TESELA_OK; TESELA_E_MISMATCH if the numbers of elements differ; otherwise as the tests above.
TESELA_API tesela_status tesela_xla_decompose_bitcast(const tesela_xla_shape *in, const tesela_xla_shape *out,
                                                      tesela_xla_bitcast *bitcast, tesela_error *err);
/// XLA's own answer: by the order alone any two shapes with equal elements are a chain apart.
TESELA_API tesela_status tesela_xla_decompose_bitcast_order_only(const tesela_xla_shape *in,
                                                                 const tesela_xla_shape *out,
                                                                 tesela_xla_bitcast *bitcast,
                                                                 tesela_error *err);

/// Give `out` the layout that makes a reshape from `in` a bitcast: its order follows from in's; tiles, L, E, S and M are
/// in's (XLA: AlignLayouts, which drops them). Two orders are tried, with the dims of 1 beside their neighbours and in
/// front of all others. *aligned false: neither is a bitcast, and `out` keeps the layout it has.
///
/// Example: f32[20,200]{1,0:T(8,128)} and f32[20,1,200]: aligned as {2,0,1:T(8,128)}.
///
/// @return as tesela_xla_reshape_is_bitcast.
TESELA_API tesela_status tesela_xla_align(const tesela_xla_shape *in, tesela_xla_shape *out, bool *aligned,
                                          tesela_error *err);
/// XLA's own answer: the order alone; out's layout gets no tiles or other attributes.
TESELA_API tesela_status tesela_xla_align_order_only(const tesela_xla_shape *in, tesela_xla_shape *out,
                                                     bool *aligned, tesela_error *err);

/// Which dims does a reshape leave as they are? out_dim[d] is the dim of `out` with the coordinate of dim d of `in` for
/// every element, -1 if there is none. Layouts take no part. (XLA: DimensionsUnmodifiedByReshape and
/// ReshapeLeavesDimensionsUnmodified.) Without elements: all dims if the shapes are equal, otherwise none.
///
/// Example: [2,3,5,7,12] to [6,5,1,7,3,4]: -1, -1, 1, 3, -1.
///
/// @param out_dim  receives in->rank numbers
TESELA_API tesela_status tesela_xla_reshape_unmodified(const tesela_xla_shape *in,
                                                       const tesela_xla_shape *out, int32_t *out_dim,
                                                       tesela_error *err);

#ifdef __cplusplus
}
#endif
#endif
