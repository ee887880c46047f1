/* SPDX-License-Identifier: Apache-2.0 */
/*
 * graph_run.h - the reference execution of a program, on tiled buffers or on plain ones.
 *
 * Each operator is computed element by element in double precision (integers in 64 bits) and rounded once to its result's type, folds in
 * the row-major order of the folded dims; so an execution on tiled memory and one on plain memory give the same bits. (Hardware
 * that adds in f32 gives others.) What the last bit depends on:
 *
 *   types       f64 if any operand is a float, else 64-bit integers, unsigned if all operands are; select's first operand counts not;
 *               exp, sqrt, sin and the like in f64 always; mean of integers in f64 if its result is a float
 *   rounding    floats to nearest, ties to even, any NaN to one NaN; integers keep their low bits; a float to an integer towards 0 and
 *               into the range, NaN to 0; pred is 1 for all but 0; what is only copied keeps its bits
 *   integers    x / 0 has all bits set, the remainder of x by 0 is x; a negative power is 0 unless the base is 1 or -1
 *   max, min    of equal ones the first; NaN if one is
 *   conv2d      windows over the border skip what is not there
 *   scatter     values in row-major order, each addition rounded
 *   empty folds 0, 1 (prod), the least or greatest value (max, min: -inf, inf), all bits (and)
 *
 * On the device an element is stored in its device type: floats are rounded again, an integer that does not fit is refused.
 *
 * Buffers start as poison: every element is a signalling NaN with a payload (bytes of 0xAD in an integer), so that padding which is read
 * shows; and a mark for every few bytes says for which buffer they were last written, so that it is counted.
 */
#ifndef TESELA_GRAPH_RUN_H
#define TESELA_GRAPH_RUN_H

#include <tesela/graph.h>
#include <tesela/graph_memory.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct tesela_graph_run_options {
  bool plain;                        ///< row-major host buffers instead of device layouts
  const tesela_graph_memory *memory; ///< buffers at their planned places in one arena; NULL: each its own
  const tesela_allocator *allocator;
} tesela_graph_run_options;

/// What ran.
typedef struct tesela_graph_run_facts {
  int64_t operators; ///< computed
  int64_t elements;  ///< of results, computed
  int64_t
      moved; ///< device elements of the buffers that moves copied, padding included: what they cost by default
  int64_t arena_bytes; ///< memory used for buffers
  int64_t poison_read; ///< elements read that nobody had written for that buffer: 0 in a right plan
} tesela_graph_run_facts;

/// Run a program. For reference, not for speed: some 30 ns for each product of a matmul.
///
/// Example: a.T + x of two f16 inputs, applied: inputs {a, x}, outputs {t1}; facts.moved is the price of the move.
///
/// @param target   says how much is allocated for a buffer; may be NULL
/// @param inputs   one address for each INPUT node in the order of nodes: host tensors with the node's host strides and type
/// @param outputs  one address for each output node in the order of nodes: receives the tensor row-major, in the node's type
/// @return TESELA_OK; TESELA_E_UNSUPPORTED for a fallback, a FUSED function, a type that cannot be computed with (complex, 8-bit
///         floats, below 8 bits); TESELA_E_INVALID if a buffer has no layout (unless plain), or an index that is looked up is outside its dim;
///         a plan of memory that is not this graph's; TESELA_E_RANGE for an integer that the device type cannot hold; TESELA_E_MEMORY.
///         Outputs are written once all operators have run.
TESELA_API tesela_status tesela_graph_run(const tesela_graph *graph, const tesela_target *target,
                                          const void *const *inputs, void *const *outputs,
                                          const tesela_graph_run_options *options,
                                          tesela_graph_run_facts *facts, tesela_error *err);

#ifdef __cplusplus
}
#endif
#endif
