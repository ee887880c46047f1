/* SPDX-License-Identifier: Apache-2.0 */
/*
 * propagate.h - choose device layouts for the buffers of a graph, with the cheapest moves.
 *
 * Every buffer gets one layout of its target's family: a stick dim, with the other dims in host order, or one element
 * per stick (tesela_device_with_stick). Operators have needs (the rules of device.h); views move nothing. An operand
 * that does not meet its need is *moved* first: its buffer is copied to another stick dim (restickify).
 *
 *   a f16[256,128] in sticks along 1, x f16[128,256] along 1, t1 = a.T + x
 *     a.T has its lanes along dim 0, x along dim 1: no stick of t1 is compatible with both
 *     strict: an error at t1       auto: one move of 32768 elements, of a or of x
 *
 * The price of a move is the number of device elements of the buffer, padding included, or the result of the caller's
 * function. The result has the least total price and, among those, the fewest moves, if `proven`; else `bound` is a
 * lower bound.
 *
 * Some views have no dim in their lanes in any layout of the buffer: a reshape that joins a part of a stick with
 * another dim, a slice from the middle of a stick. With `copies` a view may be copied instead, at the price of the
 * copy's device elements; copies and moves are minimized together.
 *
 *   x f16[72,2,50] in sticks along 2, r = reshape x to [72,100], o = r @ y
 *     no stick of x has the 100 in its lanes: an error, with moves or without
 *     with copies: one copy of r in sticks along 1, 9216 elements
 */
#ifndef TESELA_PROPAGATE_H
#define TESELA_PROPAGATE_H

#include <tesela/graph.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef enum tesela_propagate_mode {
  TESELA_PROPAGATE_STRICT, ///< no moves: an operator without a compatible layout is an error
  TESELA_PROPAGATE_AUTO,   ///< moves are inserted before operands
} tesela_propagate_mode;

typedef struct tesela_propagate_options {
  tesela_propagate_mode mode;
  bool
      share; ///< consumers that need the same copy of a buffer, or of a view, share it. Otherwise each operand pays for its
  ///< own copy; operands of one operator that read the same value in the same view count once
  bool spread;  ///< moves may go to one element per stick, or to a stick dim of extent 1, which is the same
  bool compact; ///< moves may start from one element per stick, or from a stick dim of extent 1
  bool copies;  ///< views may be copied before operands, even in strict mode: see tesela_move.view
  bool all_sticks; ///< find every stick that each output has in some cheapest result
  int64_t effort;  ///< steps of search, or 4000 sums of elimination each; 0: 500,000, some seconds
  int64_t (*price)(
      void *user, const tesela_device_layout *from,
      const tesela_device_layout *to); ///< NULL: device elements of `from` for a move, of `to` for a copy
  void *user;
  const tesela_allocator *allocator; ///< NULL: malloc and free; must outlive the result
  tesela_progress *progress;         ///< NULL: none; with steps of the current search, before each of them
  void *progress_user;
  int64_t reserved[4]; ///< 0: room to grow (base.h)
} tesela_propagate_options;

typedef struct tesela_propagation tesela_propagation;

/// A move before an operand: of its buffer, or (options.copies) of a view of it, which gets its own buffer.
///
/// The copy is of the operand, or of one of the (at most 8) views between it and its value; later views are rebuilt on the copy: a
/// slice that is then repeated is copied before it is repeated. Never copied are views of a whole buffer with permuted dims, since
/// a move does that (except for a value that was written in place through such a view, which no move copies); values written in
/// place; operands that a hint forbids to move; and copies of more than 2^48 elements. Copies to and from one element per stick
/// are moves of that kind (`spread`, `compact`), unless the tensor has one element. With `share`, equal views of one value
/// share a copy. Otherwise each operand pays for its copy, as for a move; an operand that an operator reads twice (x * x)
/// pays once.
typedef struct tesela_move {
  int32_t node, operand; ///< the operand that needs it
  int32_t buffer;        ///< the buffer that is moved
  int32_t from, to; ///< stick dims of the buffer (for a view `to` is of the view), or TESELA_STICK_SPARSE
  int64_t price;    ///< 0 if an earlier move made the copy
  int32_t shared;   ///< that earlier move, or -1
  int32_t view;     ///< the view that is copied, or -1 for the buffer
} tesela_move;

typedef struct tesela_propagate_facts {
  bool ok;         ///< every operator has a layout
  bool proven;     ///< minimal cost (or proven impossible), over all operators but the `unknown` ones
  int32_t n_moves; ///< buffers moved, each copy counted
  int64_t cost;    ///< sum of prices, soft needs and preferences
  int64_t bound;   ///< lower bound of the cost
  int64_t moved;   ///< elements moved: the cost of the moves
  int32_t buffers; ///< buffers that get a layout
  int32_t
      core; ///< choices that remain for elimination or search after reduction; with share a buffer may be two
  int32_t error_node; ///< the first operator without a layout, -1 if ok
  int32_t error_operand;
  int32_t n_copies;  ///< views copied
  int64_t copied;    ///< elements of these copies: the cost of the copies
  int32_t operators; ///< operators considered: all nodes but views, inputs, constants and unknown ones
  int32_t
      unknown; ///< operators ignored: fallbacks without a rule for their opcode (a while with its body, a custom
               ///< call). Their needs are unknown, and not part of cost, bound and `proven`
  int64_t reserved[4]; ///< 0: room to grow (base.h)
} tesela_propagate_facts;

/// Choose a layout for every buffer of a graph.
///
/// Inputs keep their stick (TESELA_STICK_FREE: any, default preferred among equals). Outputs get the cheapest stick. A buffer with a
/// set layout (tesela_graph_set_layout) keeps it. Among results of equal price and number of moves, default layouts are
/// preferred, then layouts other than one element per stick. Undecidable cases count as not allowed.
///
/// Example: the graph above, spyre, auto: ok, cost 32768 in one move; strict: not ok, error_node t1.
///
/// Memory grows with the number of choices; connected choices that need elimination or search use up to 256 MiB more during the
/// run (TESELA_E_MEMORY if refused). Deterministic: independent of time and addresses.
///
/// @param graph    must outlive the result and stay unchanged; the target is copied
/// @param options  NULL: strict, all zeros
/// @return TESELA_OK with facts.ok true or false: an operator without a layout is an answer, which
///         tesela_propagation_explain prints; TESELA_E_INVALID for a stick or hint that the buffer cannot have;
///         TESELA_E_UNSUPPORTED for a type that the target lacks; TESELA_E_RANGE for a negative price or effort, or an unknown mode;
///         TESELA_E_LIMIT for total prices beyond 2^60, or a rank beyond the target's; TESELA_E_STOPPED; TESELA_E_MEMORY; as tesela_target_check.
TESELA_API tesela_status tesela_graph_propagate(tesela_propagation **out, const tesela_graph *graph,
                                                const tesela_target *target,
                                                const tesela_propagate_options *options, tesela_error *err);
/// NULL is allowed.
TESELA_API void tesela_propagation_destroy(tesela_propagation *p);
/// Facts about the result.
TESELA_API tesela_propagate_facts tesela_propagation_facts_of(const tesela_propagation *p);

/// The stick of a node's buffer. Example: input a f16[256,128] in sticks along 1: 1, for its transpose too.
/// @return TESELA_OK; TESELA_E_RANGE for an unknown node; TESELA_E_UNSUPPORTED if not ok, or for a token.
TESELA_API tesela_status tesela_propagation_stick(const tesela_propagation *p, int32_t node, int32_t *stick,
                                                  tesela_error *err);
/// The layout of a node's buffer for any stick of its family, chosen or not. TESELA_E_RANGE for other sticks.
/// Example: f16[256,128] on spyre, stick 0: extents 4, 128, 64.
TESELA_API tesela_status tesela_propagation_layout(const tesela_propagation *p, int32_t node, int32_t stick,
                                                   tesela_device_layout *layout, tesela_error *err);
/// Every stick that a node's buffer has in some cheapest result (options.all_sticks, outputs only): ascending in sticks[], at most
/// `room`; returns their total number. If the choices are too connected to find all at once, each stick is tried with its own
/// options.effort; if that is not enough for one, the remaining sticks are missing.
TESELA_API int32_t tesela_propagation_sticks(const tesela_propagation *p, int32_t node, int32_t room,
                                             int32_t *sticks);
/// Move k, 0 <= k < the number of edges that need one (n_moves plus shared ones), in the order of the nodes; NULL after the last.
TESELA_API const tesela_move *tesela_propagation_move(const tesela_propagation *p, int32_t k);

/// Print an explanation: for a failure the operator, the operand, both layouts, the unmet need and possible fixes; otherwise
/// cost, bound, whether it is proven, and (`proof`) the price of each edge. Several lines. TESELA_E_STOPPED; TESELA_E_MEMORY.
///
///   t1: no layout suits all operands
///     operand 0  a_t  f16[128,256]  lanes along dim 0   (buffer a f16[256,128], stick 1)
///     operand 1  x    f16[128,256]  lanes along dim 1   (stick 1)
///     needs: the result's stick dim in its lanes, or lane 0 and the same along them
///     would fix it: move x to stick 0 (32768 elements), or a to stick 0 (32768 elements)
TESELA_API tesela_status tesela_propagation_explain(const tesela_propagation *p, bool proof,
                                                    const tesela_writer *to, tesela_error *err);

/// A graph with a layout on every buffer and the moves as nodes: a MOVE before the operand, with the views between rebuilt on
/// it. The other nodes keep their names; a move of buffer a to stick 1 is a.stick1, a copy of view r is r.copy. It uses the
/// propagation's allocator, which must outlive it.
/// @return TESELA_OK; TESELA_E_UNSUPPORTED if not ok; TESELA_E_MEMORY.
TESELA_API tesela_status tesela_graph_apply(tesela_graph **out, const tesela_propagation *p,
                                            tesela_error *err);

/// A graph with the copies of views of the cheapest result (options.copies, set or not), without its moves and layouts. A copy is
/// a MOVE of the view, r.copy, with its own buffer, so other passes need not handle copies: propagation of the new graph costs
/// no more than the result without the copies. If copies of views are not enough, the result uses moves to and from one element
/// per stick (spread, compact), and these become nodes too.
///
/// Example: x f16[72,2,50] in sticks along 2 is reshaped to [72,100] and multiplied: one copy of the reshaped tensor.
///
/// @param options   as for tesela_graph_propagate; NULL: auto
/// @param inserted  receives the number of copies; may be NULL
/// @return TESELA_OK, also if copies do not give the graph layouts: *out is then the graph without copies, and
///         tesela_graph_propagate explains the failure; otherwise as tesela_graph_propagate.
TESELA_API tesela_status tesela_graph_materialise(tesela_graph **out, const tesela_graph *graph,
                                                  const tesela_target *target,
                                                  const tesela_propagate_options *options, int32_t *inserted,
                                                  tesela_error *err);

#ifdef __cplusplus
}
#endif
#endif
