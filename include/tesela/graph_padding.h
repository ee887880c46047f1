/* SPDX-License-Identifier: Apache-2.0 */
/*
 * graph_padding.h - what the padding of each buffer of a program holds, and which operators would read it.
 *
 * An accelerator computes whole sticks: lanes without an element are read and written as others are. What they hold is garbage
 * unless somebody wrote it, and it spreads: exp of garbage may be infinite, and a matmul that sums over such lanes makes every
 * element of its result NaN. tesela_graph_run computes elements only; this is for those who generate code.
 *
 *   x f16[4,100] in sticks along 1, filled with zeros behind column 100
 *   e = exp(x)         the padding of e holds 1
 *   z = sum of e, 1    reads lanes 100 to 127 of e: it needs 0 there and finds 1: mask them, or fill them with 0
 *
 * Model. An operator goes through every digit of the device dims of its result, and of its operands along what it folds: indices
 * then exceed extents, and an operand is read where such an index lies. Values are computed as tesela_graph_run computes
 * them; functions that accelerators approximate only where they are exact (exp of 0, of an infinity). Whether elements
 * are finite is not known: 0 * element is not 0, but for integers. What cannot be told is garbage, which is always a right
 * answer; so is all padding of layouts with gaps, copies or uneven steps, and that of one element per stick unless it was filled.
 */
#ifndef TESELA_GRAPH_PADDING_H
#define TESELA_GRAPH_PADDING_H

#include <tesela/graph.h>
#include <tesela/transfer.h>

#ifdef __cplusplus
extern "C" {
#endif

/// What padding receives when a tensor is written. LEAVE: nothing, it is garbage.
typedef struct tesela_padding_fill {
  tesela_pad pad;
  double value; ///< TESELA_PAD_VALUE
} tesela_padding_fill;

typedef struct tesela_padding_options {
  const tesela_padding_fill *input;  ///< one for each INPUT node, in the order of nodes; NULL: all are left
  tesela_padding_fill copy;          ///< what clone and move write to the padding of their result
  const tesela_allocator *allocator; ///< NULL: malloc and free; must outlive the result
} tesela_padding_options;

typedef enum tesela_padding_kind {
  TESELA_PADDING_NONE,     ///< there is none
  TESELA_PADDING_VALUE,    ///< one value in every place of it
  TESELA_PADDING_GARBAGE,  ///< anything
  TESELA_PADDING_ELEMENTS, ///< of a read: elements of the buffer that the operator's view does not show
  TESELA_PADDING_OUTSIDE,  ///< of a read: the buffer has no places there
} tesela_padding_kind;

typedef struct tesela_padding_state {
  tesela_padding_kind kind;
  bool integer;  ///< VALUE: `whole` says it exactly
  double value;  ///< VALUE: of a float type, or the nearest to `whole`
  int64_t whole; ///< VALUE: of integers and bool; of u64 its bits
} tesela_padding_state;

typedef enum tesela_padding_verdict {
  TESELA_PADDING_FINE, ///< what is read changes nothing
  TESELA_PADDING_FILL, ///< it must be masked, or hold `needed`
  TESELA_PADDING_MASK, ///< it must be masked: no fill of this operand helps
} tesela_padding_verdict;

/// A dim that an operator folds, and whose last stick, or padding, reaches beyond it. If all reads of an operator are FINE, it
/// may fold whole sticks. One operand of a product that holds 0 does where all others hold finite values; the mean of padding is
/// never right: it counts.
typedef struct tesela_padding_read {
  int32_t node, operand, dim;
  int64_t from, to;                   ///< indices from .. to-1 along `dim` are read beyond it
  tesela_padding_state needed, found; ///< needed: VALUE, or NONE where no value is known to do
  tesela_padding_verdict verdict;
} tesela_padding_read;

typedef struct tesela_padding tesela_padding;

/// What padding holds.
///
/// @param graph    with layouts on every buffer (tesela_graph_apply); must outlive the result and not change meanwhile
/// @param options  NULL: all zeros
/// @return TESELA_OK; TESELA_E_INVALID for a buffer without a layout; TESELA_E_RANGE for a fill that is none, or a value that
///         the device's type has not; TESELA_E_OVERFLOW; TESELA_E_MEMORY.
/// Some microseconds for each node.
TESELA_API tesela_status tesela_graph_padding(tesela_padding **out, const tesela_graph *graph,
                                              const tesela_padding_options *options, tesela_error *err);
/// NULL is fine.
TESELA_API void tesela_padding_destroy(tesela_padding *padding);

/// What the padding of a node's buffer holds once the node has run: NONE, VALUE or GARBAGE; GARBAGE for a node that is none.
/// Example: relu of a buffer whose padding holds -inf: VALUE 0.
TESELA_API tesela_padding_state tesela_padding_state_of(const tesela_padding *padding, int32_t node);

/// Read k, in the order of nodes; NULL behind the last.
TESELA_API const tesela_padding_read *tesela_padding_read_at(const tesela_padding *padding, int32_t k);

/// Find fills of inputs (LEAVE, ZERO, MINUS_INF, PLUS_INF) with which most reads are FINE: by steps that change one input at a time,
/// from the given fills and from one fill for all; no search for the best of all. Inputs that make no difference are left.
///
/// Example: the program at the top of this file with a max in front of exp: x MINUS_INF makes both reads FINE.
///
/// @param fill  receives one for each INPUT node, in the order of nodes
/// @param fine  receives how many reads are FINE with them; may be NULL
/// @return TESELA_OK; TESELA_E_MEMORY.
TESELA_API tesela_status tesela_padding_suggest(const tesela_padding *padding, tesela_padding_fill *fill,
                                                int32_t *fine, tesela_error *err);

#ifdef __cplusplus
}
#endif
#endif
