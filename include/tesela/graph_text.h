/* SPDX-License-Identifier: Apache-2.0 */
/*
 * graph_text.h - programs from HLO text and back.
 *
 * The text of a module as compilers dump it. The entry computation becomes the graph; fusions and calls are inlined. What no
 * class of operators says (loops, custom calls, sorts, ...) becomes a fallback node: it takes and gives default layouts.
 */
#ifndef TESELA_GRAPH_TEXT_H
#define TESELA_GRAPH_TEXT_H

#include <tesela/graph.h>

#ifdef __cplusplus
extern "C" {
#endif

/// What reading noticed.
typedef struct tesela_graph_read_facts {
  int64_t instructions; ///< read, over all computations that were used
  int64_t fallbacks;    ///< nodes that no class says
  int64_t inlined;      ///< fusions and calls
} tesela_graph_read_facts;

/// Read HLO text.
///
/// Example: "HloModule m\nENTRY e { x = f32[4]{0} parameter(0)\n ROOT y = f32[4]{0} negate(x)\n}": an input and a pointwise NEG.
///
/// Names are those of the text without %; an inlined computation's get the caller's name and a dot in front, its root the caller's
/// name itself. A node that an instruction takes besides its own has a word behind: y.clone in front of a reshape y that needs a
/// copy. Inputs are in the order of parameter numbers (a tuple's elements where they are taken out of it), TESELA_STICK_FREE
/// unless their tiles are a stick layout of the reading target (NULL: all are free). What a printed program says in
/// frontend_attributes (below) counts before all else. Elementwise operations without a function here are FUSED. A dynamic dim
/// (<=8) counts as long as it may be; what an operation computes of one is a fallback unless it goes element by element.
///
/// @param facts  may be NULL
/// @return TESELA_OK; TESELA_E_SYNTAX with err->at for text that is no HLO module or an instruction that cannot be read;
///         TESELA_E_INVALID for an operand or computation that there is not, shapes that contradict; TESELA_E_LIMIT for
///         calls nested deeper than 64, more than 2^20 instructions (those of calls as often as they are called), a rank above
///         TESELA_GRAPH_RANK; what tesela_graph_add says of a node; TESELA_E_MEMORY.
/// A dump of 700 instructions, 170 KB, takes about 2 ms.
TESELA_API tesela_status tesela_graph_read_hlo(tesela_graph **graph, const char *text, size_t length,
                                               const tesela_target *target, const tesela_allocator *allocator,
                                               tesela_graph_read_facts *facts, tesela_error *err);

/// Print a graph as HLO text, one instruction for each node. Layouts that are set are printed as XLA layouts where those say
/// them, f16[1000,200]{0,1:T(64,1)}, and exactly in frontend_attributes={device_layout="..."}. Views have no layout of their own:
/// their shape is printed row-major, and frontend_attributes={buffer="x"} names the buffer. A node that no HLO operation says
/// exactly is a custom-call, or the nearest operation, with a note: frontend_attributes={tesela="reduce fn=mean dims=1"}.
/// The text reads back to an equal graph (without hints), whatever the reading target.
///
/// Example: a matmul y of a and b: `ROOT %y = f16[2,4]{1,0} dot(%a, %b), lhs_contracting_dims={1}, rhs_contracting_dims={0}`.
///
/// @param name  of the module; NULL: graph
/// @return TESELA_OK; TESELA_E_STOPPED; what tesela_device_print says of a layout.
TESELA_API tesela_status tesela_graph_print_hlo(const tesela_graph *graph, const char *name,
                                                const tesela_writer *to, tesela_error *err);

#ifdef __cplusplus
}
#endif
#endif
