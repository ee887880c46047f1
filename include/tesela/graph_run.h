/* SPDX-License-Identifier: Apache-2.0 */
/*
 * graph_run.h - the reference execution of a program, on tiled buffers or on plain ones.
 *
 * Each operator is computed element by element in double precision (integers in 64 bits) and rounded once to its result's type, folds in
 * the row-major order of the folded dims; so an execution on tiled memory and one on plain memory give the same bits. (Hardware
 * that adds in f32 gives others.) How many elements are computed at once, and in which order, does not show. What the last bit depends
 * on:
 *
 *   types       f64 if any operand is a float, else 64-bit integers, unsigned if all operands are; select's first operand counts not;
 *               exp, sqrt, sin and the like in f64 always; mean of integers in f64 if its result is a float
 *   rounding    floats to nearest, ties to even, any NaN to one NaN; integers keep their low bits; a float to an integer towards 0 and
 *               into the range, NaN to 0; pred is 1 for all but 0; what is only copied keeps its bits
 *   no infinity types without one have NaN beyond their greatest number; fnuz have no -0; f8e8m0fnu, whose numbers are the powers of two
 *               from 2^-127 to 2^127, has NaN for 0 and below, its least number below that, the greater of two at half way
 *   integers    x / 0 has all bits set, the remainder of x by 0 is x; a negative power is 0 unless the base is 1 or -1
 *   bits        shifts and counts of bits are of operand 0's type; a shift by its width or more, or by less than 0, leaves 0, or the sign;
 *               bitcast takes the bits of operand 0 as rounded to its type
 *   max, min    of equal ones the first; NaN if one is
 *   conv2d      windows over the border skip what is not there; so do those of pool
 *   scatter     values in row-major order, each addition rounded; those of index -1 are left out
 *   empty folds 0, 1 (prod), the least or greatest value (max, min: -inf, inf, or the ends of the range), all bits (and)
 *
 * On the device an element is stored in its device type: floats are rounded again, an integer that does not fit is refused.
 *
 * Buffers start as poison: every element is a signalling NaN with a payload (of the finite 8-bit floats a NaN, in an integer bytes of
 * 0xAD), so that padding which is read shows; and a mark for every few bytes says for which buffer they were last written, so that it is counted.
 */
#ifndef TESELA_GRAPH_RUN_H
#define TESELA_GRAPH_RUN_H

#include <tesela/graph.h>
#include <tesela/graph_memory.h>
#include <tesela/relayout.h>

#ifdef __cplusplus
extern "C" {
#endif

#define TESELA_GRAPH_RUN_STEPS INT64_C(10000000000) ///< of a run at most, by default: a minute or so
#define TESELA_GRAPH_RUN_BYTES (INT64_C(1) << 32)   ///< of its buffers and their marks at most, by default

typedef struct tesela_graph_run_options {
  bool plain;                        ///< row-major host buffers instead of device layouts
  const tesela_graph_memory *memory; ///< buffers at their planned places in one arena; NULL: each its own
  const tesela_allocator *allocator;
  /// NULL: none. Told of results and products instead of bytes (of values that are scattered, too, and of elements of a line each time
  /// that it is gone through), every 2^20 of them or less often; TESELA_E_STOPPED if it wants.
  tesela_progress *progress;
  void *progress_user;
  /// plain: elements are stored in the device types of the target, if it has them, so that the bits are those of tiled memory.
  bool device_types;
  /// A run that needs more (tesela_graph_run_needs) is refused before it begins; 0: TESELA_GRAPH_RUN_STEPS and _BYTES.
  int64_t max_steps, max_bytes;
} tesela_graph_run_options;

/// What a run needs.
typedef struct tesela_graph_run_needs {
  /// Results and products of all operators (of a scatter its values, of what runs along a dim its elements each time that
  /// they are gone through): what progress counts. About 0.5 to 5 ns each.
  int64_t steps;
  int64_t
      bytes; ///< of buffers and their marks, in the arena and outside; steps and bytes above 2^60 count as that
  int32_t node; ///< the one with most of the steps; -1: the graph is empty
} tesela_graph_run_needs;

/// Count what a run with these options would need, without running: for a limit of one's own, or to say how long it takes.
/// Does not check the limits of the options. O(nodes).
///
/// Example: c = dot(a, b) of three f32[8192,8192]: steps 2^39 + 2^26 (products and results).
///
/// @param options  as for tesela_graph_run; NULL: all zeros
/// @return TESELA_OK; what tesela_graph_run returns for a node that cannot be run, or a buffer without a layout;
///         TESELA_E_MEMORY
TESELA_API tesela_status tesela_graph_run_needs_of(const tesela_graph *graph, const tesela_target *target,
                                                   const tesela_graph_run_options *options,
                                                   tesela_graph_run_needs *needs, tesela_error *err);

/// What ran.
typedef struct tesela_graph_run_facts {
  int64_t operators; ///< computed
  int64_t elements;  ///< of results, computed
  /// Device elements of the buffers that moves copied, of copies of views those of the copy, padding included: what they
  /// cost by default.
  int64_t moved;
  int64_t arena_bytes; ///< memory used for buffers
  int64_t poison_read; ///< elements read that nobody had written for that buffer: 0 in a right plan
} tesela_graph_run_facts;

/// Run a program. For reference, not for speed: about 0.5 ns for each product of a matmul, some 5 ns for each element that is read
/// or written, its marks included. One thread; beside the buffers and a mark of 4 bytes for every few bytes of them it takes some
/// 200 KiB, 12 KiB for each operand of an operator, tables of places (12 bytes for each index of each of their dims), 32 bytes for each
/// element of a line that is sorted or summed up, and what the relayout engine takes.
///
/// Example: a.T + x of two f16 inputs, applied: inputs {a, x}, outputs {t1}; facts.moved is the price of the move.
///
/// @param target   says how much is allocated for a buffer, and has the device types; may be NULL
/// @param inputs   one address for each INPUT node in the order of nodes: host tensors with the node's host strides and type
/// @param outputs  one address for each output node in the order of nodes: receives the tensor row-major, in the node's type
/// @return TESELA_OK; TESELA_E_UNSUPPORTED for a fallback, a FUSED function, a bitcast to another width, a type that cannot be computed with
///         (complex, below 8 bits); TESELA_E_INVALID if a buffer has no layout (unless plain) or one of elements narrower than its device
///         type; an index that is looked up and outside its dim (but -1 in a scatter); a plan of memory that is not this graph's;
///         TESELA_E_RANGE for an integer that the device type cannot hold, or a limit below 0;
///         TESELA_E_LIMIT, before anything is done, if the run needs more than max_steps or max_bytes; TESELA_E_MEMORY;
///         TESELA_E_STOPPED if progress asked to stop.
///         Outputs are written once all operators have run.
TESELA_API tesela_status tesela_graph_run(const tesela_graph *graph, const tesela_target *target,
                                          const void *const *inputs, void *const *outputs,
                                          const tesela_graph_run_options *options,
                                          tesela_graph_run_facts *facts, tesela_error *err);

#ifdef __cplusplus
}
#endif
#endif
