/* SPDX-License-Identifier: Apache-2.0 */
/*
 * graph_loops.h - each operator as loops over tiled memory, and its division over cores.
 *
 * The loops of an operator are the device dims of its result, then those of what it folds: an element's iteration indices are
 * digits of these loops, and the place of each operand and of the result is an expression in them.
 *
 *   t1 = a + b, f16[100,130] in sticks along dim 1: loops block 3, row 100, lane 64; valid where block*64 + lane < 130
 *     a, b, t1 at block*6400 + row*64 + lane
 *
 * A code generator can emit kernels from this; tesela_graph_run executes programs by the same loops.
 */
#ifndef TESELA_GRAPH_LOOPS_H
#define TESELA_GRAPH_LOOPS_H

#include <tesela/graph.h>

#ifdef __cplusplus
extern "C" {
#endif

/// One loop: its counter times `step` is added to iteration dim `dim`.
typedef struct tesela_loop {
  int64_t extent, step;
  int32_t dim;
  bool lane;   ///< inside a stick
  bool folded; ///< of a dim that is summed over, or run along
} tesela_loop;

typedef struct tesela_op_loops {
  tesela_iteration iteration;
  int32_t n;
  tesela_loop loop[TESELA_DEVICE_DIMS]; ///< outermost first
  int32_t n_operands;
} tesela_op_loops;

/// The loops of a node of a graph with layouts: the device dims of the result as far as elements reach (a dim of 40 has 40 lanes of
/// 64), then the folded dims in their order, in blocks and lanes where an operand has its lanes along them. Loops of one pass
/// are left out, replicated dims are none: an element is written to all its places. Steps of a dim that do not divide
/// each other are left to the loop below them, so that each iteration index has exactly one set of counters; a result that
/// is written into a view of a buffer has one loop a dim.
///
/// Example: matmul of f16[128,256] in sticks along 1 and f16[256,64]: loops row 128, lane 64; folded block 4, lane 64.
///
/// @return TESELA_OK; TESELA_E_RANGE; TESELA_E_UNSUPPORTED for a view, an input, a
/// fallback; TESELA_E_INVALID without layouts; TESELA_E_LIMIT; TESELA_E_OVERFLOW.
TESELA_API tesela_status tesela_graph_loops(const tesela_graph *graph, int32_t node, tesela_op_loops *loops,
                                            tesela_error *err);

/// The place of operand k (-1: the result) as a layout of the core whose elements are the loops' counters: shape = the extents.
/// Place p of it is place p - *before of the buffer: *before is above 0 where counters reach in front of the buffer, as a window over
/// the border does. Where iteration dims are beyond their extents (padding), or an operand has no element (windows, pieces), the
/// place means nothing.
///
/// Example: f16[100,130] in sticks along 1: place {2, 5, 1} = 2*6400 + 5*64 + 1 = 13121, *before 0.
///
/// @return TESELA_OK; TESELA_E_UNSUPPORTED for the operand that is looked up by another's values, and for a window on a view that
///         goes across dims of its buffer; TESELA_E_RANGE; TESELA_E_LIMIT; TESELA_E_OVERFLOW.
TESELA_API tesela_status tesela_graph_loop_place(const tesela_graph *graph, const tesela_op_loops *loops,
                                                 int32_t node, int32_t k, tesela_layout *place,
                                                 int64_t *before, tesela_error *err);

/// Print the loops of a node as C-like source: loops, the conditions for padding and borders where they can fail, and an
/// assignment with every place as an expression of /, %, * and +. Deterministic.
///
///   for (int64_t c0 = 0; c0 < 3; c0++)
///     for (int64_t c1 = 0; c1 < 100; c1++)
///       for (int64_t c2 = 0; c2 < 64; c2++)
///         if (c0*64 + c2 < 130)
///           t1[c0*6400 + c1*64 + c2] = add(a[c0*6400 + c1*64 + c2], b[c0*6400 + c1*64 + c2]);
///
/// Buffers are arrays of elements in their places, called as their nodes, or v7 for node 7 if that is no identifier of C. A fold
/// has a variable of type `value` that starts from a number or from `least` or `greatest`; functions have the names of
/// tesela_fn_name. Of an operator that runs along a dim the line is read first: sort(line, 130, 2) is element 2 of a line of 130
/// after sorting, sort_reverse of the greatest first.
/// @return as tesela_graph_loops and tesela_graph_loop_place; TESELA_E_STOPPED.
TESELA_API tesela_status tesela_graph_print_loops(const tesela_graph *graph, int32_t node,
                                                  const tesela_writer *to, tesela_error *err);

/* ---- division over cores --------------------------------------------------------------------------------------------- */

/// What one core does: counters start .. start + extent - 1 of each loop.
typedef struct tesela_core_share {
  int64_t start[TESELA_DEVICE_DIMS], extent[TESELA_DEVICE_DIMS];
} tesela_core_share;

typedef struct tesela_division {
  int32_t cores;                      ///< that have work: product of the factors
  int32_t n;                          ///< loops
  int64_t factor[TESELA_DEVICE_DIMS]; ///< parts that each loop is cut into; lanes are never cut
  int32_t folded; ///< the one folded loop that is cut, or -1: its partial results must be combined
  int64_t most;   ///< iterations of the busiest core, padding not counted
  double balance; ///< most over the iterations / cores, >= 1
} tesela_division;

/// Divide an operator over up to `cores` cores along its device dims. Sticks are atomic; at most one folded loop is cut, and only
/// if cutting the others leaves cores idle and it brings more to work (never that of a line that an operator runs along);
/// factors divide their loops, so that all cores do the same. Of the divisions that use most cores, the one whose cores read
/// least: the counters of the loops that each operand moves with; then the one that cuts the outer loops more.
///
/// Example: matmul f16[6,256] x f16[256,192], loops 3 blocks, 6 rows, 64 lanes, folded 4 blocks, 64 lanes: 32 cores are 18 without
/// the fold, 24 with it: 1 x 6 x 4.
///
/// @param forced  TESELA_DEVICE_DIMS factors to use instead, 0: free; NULL: all free
/// @return TESELA_OK; TESELA_E_RANGE for cores below 1 or above 65536, a factor that does not divide its loop or cuts lanes or a line,
///         two folded loops cut, or factors that need more cores; as tesela_graph_loops. Divisions are gone through, 2^20 at most.
TESELA_API tesela_status tesela_graph_divide(const tesela_graph *graph, int32_t node, int32_t cores,
                                             const int64_t *forced, tesela_division *division,
                                             tesela_error *err);

/// The share of core c, 0 <= c < division->cores; cores count row-major over the factors.
TESELA_API tesela_status tesela_graph_share(const tesela_op_loops *loops, const tesela_division *division,
                                            int32_t c, tesela_core_share *share, tesela_error *err);

/// The places of operand k (-1: the result) that core c touches: the least and the greatest, and how many distinct ones. None:
/// 0, -1, 0. Of elements with several places the first is read, all are written. A dim that is looked up counts whole.
typedef struct tesela_core_view {
  int64_t first, last, places;
} tesela_core_view;
TESELA_API tesela_status tesela_graph_core_view(const tesela_graph *graph, int32_t node,
                                                const tesela_op_loops *loops, const tesela_core_share *share,
                                                int32_t k, tesela_core_view *view, tesela_error *err);

#ifdef __cplusplus
}
#endif
#endif
