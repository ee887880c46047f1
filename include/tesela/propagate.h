/* SPDX-License-Identifier: Apache-2.0 */
/*
 * propagate.h - device layouts carried through a program, and the moves it needs at least price.
 *
 * Every buffer takes one layout of its target's family: a stick dim, the other dims in host order, or one element per stick
 * (tesela_device_with_stick). Operators ask things of their operands (the rules of device.h); views move nothing. An operand
 * that does not meet its need is *moved* first: its buffer is copied to another stick dim (restickify).
 *
 *   a f16[256,128] in sticks along 1, x f16[128,256] along 1, t1 = a.T + x
 *     a.T has its lanes along dim 0, x along dim 1: no stick of t1 suits both
 *     strict: an error at t1       auto: one move of 32768 elements, of a or of x
 *
 * The price of a move is the device elements of the buffer as it lies, padding included, or what the caller's function says. The
 * plan has the least total price, and among those the fewest moves; `proven` says so, else `bound` says how far off it may be.
 *
 * Some views have their lanes along no dim, in whatever sticks their buffer lies: a reshape that joins a part of a stick with
 * another dim, a slice from the middle of a stick. With `copies` a view may be copied instead, at the price of the copy's device
 * elements; copies and moves are one plan of least price.
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
  TESELA_PROPAGATE_STRICT, ///< no moves: an operator that no layout suits is an error
  TESELA_PROPAGATE_AUTO,   ///< moves are put in front of operands
} tesela_propagate_mode;

typedef struct tesela_propagate_options {
  tesela_propagate_mode mode;
  bool
      share; ///< consumers that need the same copy of a buffer, or of a view, share it. Without, each operand pays for its
  ///< own; operands of one operator that read the same value in the same view are one
  bool spread;  ///< moves may go to one element per stick, or to a stick dim of extent 1, which is the same
  bool compact; ///< moves may start from one element per stick, or from a stick dim of extent 1
  bool copies;  ///< views may be copied in front of operands, also where mode is strict: see tesela_move.view
  bool all_sticks; ///< find every stick each output has in some cheapest plan
  int64_t effort;  ///< steps of search, or 4000 sums of elimination each; 0: 500,000, some seconds
  int64_t (*price)(
      void *user, const tesela_device_layout *from,
      const tesela_device_layout *to); ///< NULL: device elements, of a move `from`, of a copy `to`
  void *user;
  const tesela_allocator *allocator; ///< NULL: malloc and free; must outlive the result
  tesela_progress *progress;         ///< NULL: none; with steps of the search at hand, before each of them
  void *progress_user;
  int64_t reserved[4]; ///< 0: room to grow (base.h)
} tesela_propagate_options;

typedef struct tesela_propagation tesela_propagation;

/// A move in front of an operand: of its buffer, or (options.copies) of a view of it, which gets a buffer of its own.
///
/// What is copied is the operand, or one of the (at most 8) views between it and the value it shows, which are rebuilt on the
/// copy: a slice that is then repeated is copied before. Not copied is what shows all of a buffer with its dims in another order,
/// as a move does that (but for a value that was written in place through such a view: no move copies it); what is written in
/// place; what a hint forbids to move; and what takes more than 2^48 elements. Copies to and from one element per stick are
/// moves of that kind (`spread`, `compact`), unless the tensor has one element. Where copies are shared, so are those of
/// views that show the same of one value. A copy is paid for by each operand otherwise, as a move is; an operand
/// that an operator reads twice (x * x) pays once.
typedef struct tesela_move {
  int32_t node, operand; ///< who needs it
  int32_t buffer;        ///< what is moved
  int32_t from, to;      ///< stick dims of the buffer (`to` of a view: of the view), or TESELA_STICK_SPARSE
  int64_t price;         ///< 0 if it is a copy that an earlier move made
  int32_t shared;        ///< that earlier move, or -1
  int32_t view;          ///< the view that is copied; -1: the buffer itself
} tesela_move;

typedef struct tesela_propagate_facts {
  bool ok;     ///< every operator has a layout
  bool proven; ///< no plan is cheaper (or: there is none), of the operators that are looked at: see `unknown`
  int32_t n_moves; ///< buffers moved, each copy counted
  int64_t cost;    ///< sum of prices, soft needs and preferences
  int64_t bound;   ///< no plan costs less
  int64_t moved;   ///< elements moved: the part of the cost that moves are
  int32_t buffers; ///< that take a layout
  int32_t core;    ///< choices left to elimination or search after reduction; with share a buffer may be two
  int32_t error_node; ///< the first operator without a layout, -1 if ok
  int32_t error_operand;
  int32_t n_copies;  ///< views copied
  int64_t copied;    ///< elements of these copies: the part of the cost that they are
  int32_t operators; ///< looked at: nodes that are no view, input, constant or unknown
  int32_t
      unknown; ///< not looked at: fallbacks without a rule for their opcode (a while and what is in it, a custom
               ///< call). What they ask is not known: cost, bound and `proven` say nothing of it
  int64_t reserved[4]; ///< 0: room to grow (base.h)
} tesela_propagate_facts;

/// Find layouts.
///
/// Inputs keep the stick they come with (TESELA_STICK_FREE: any, the default preferred among equals). Outputs take what is cheapest.
/// A buffer with a layout that is set (tesela_graph_set_layout) keeps it. Among plans of equal price and moves those with default
/// layouts are preferred, then those without one element per stick. What cannot be decided counts as not legal.
///
/// Example: the program above, spyre, auto: ok, cost 32768 in one move; strict: not ok, error_node t1.
///
/// Memory is that of the program's choices, and, where they hang together so much that they are eliminated or searched, up to
/// 256 MiB more while it runs; if that is refused, TESELA_E_MEMORY. Deterministic: it depends on neither time nor addresses.
///
/// @param graph    must outlive the result and not change meanwhile; the target is copied
/// @param options  NULL: strict, all zeros
/// @return TESELA_OK with facts.ok true or false: an operator without a layout is an answer, told by
///         tesela_propagation_explain; TESELA_E_INVALID for a stick or hint that the buffer cannot have;
///         TESELA_E_UNSUPPORTED for a type the target has not; TESELA_E_RANGE for a negative price or effort, or a mode that is none;
///         TESELA_E_LIMIT for prices beyond 2^60 together, or a rank beyond the target's; TESELA_E_STOPPED; TESELA_E_MEMORY; what tesela_target_check says.
TESELA_API tesela_status tesela_graph_propagate(tesela_propagation **out, const tesela_graph *graph,
                                                const tesela_target *target,
                                                const tesela_propagate_options *options, tesela_error *err);
/// NULL is fine.
TESELA_API void tesela_propagation_destroy(tesela_propagation *p);
/// What was found, in numbers.
TESELA_API tesela_propagate_facts tesela_propagation_facts_of(const tesela_propagation *p);

/// The stick of a node's buffer. Example: a f16[256,128] that comes in sticks along 1: 1, also of its transpose.
/// @return TESELA_OK; TESELA_E_RANGE for a number that is no node's; TESELA_E_UNSUPPORTED if not ok, or for a token.
TESELA_API tesela_status tesela_propagation_stick(const tesela_propagation *p, int32_t node, int32_t *stick,
                                                  tesela_error *err);
/// The layout a node's buffer has with a stick of its family, chosen or not. TESELA_E_RANGE if it has no such stick.
/// Example: f16[256,128] on spyre, stick 0: extents 4, 128, 64.
TESELA_API tesela_status tesela_propagation_layout(const tesela_propagation *p, int32_t node, int32_t stick,
                                                   tesela_device_layout *layout, tesela_error *err);
/// Every stick that a node's buffer has in some cheapest plan (options.all_sticks, outputs only): ascending in sticks[], as many
/// as there is room for; the number of them is returned. Where choices hang together too much to find all at once, each stick is
/// tried with options.effort of its own; once that is not enough for one, those not found yet are left out.
TESELA_API int32_t tesela_propagation_sticks(const tesela_propagation *p, int32_t node, int32_t room,
                                             int32_t *sticks);
/// Move k, 0 <= k < the number of edges that need one (n_moves and those shared), in the order of the nodes; NULL behind.
TESELA_API const tesela_move *tesela_propagation_move(const tesela_propagation *p, int32_t k);

/// Say why: for a failure the operator, the operand, both layouts, the need that is not met and what would fix it; otherwise
/// cost, bound, whether it is proven, and (`proof`) what each edge pays. Several lines. TESELA_E_STOPPED; TESELA_E_MEMORY.
///
///   t1: no layout suits all operands
///     operand 0  a_t  f16[128,256]  lanes along dim 0   (buffer a f16[256,128], stick 1)
///     operand 1  x    f16[128,256]  lanes along dim 1   (stick 1)
///     needs: the result's stick dim in its lanes, or lane 0 and the same along them
///     would fix it: move x to stick 0 (32768 elements), or a to stick 0 (32768 elements)
TESELA_API tesela_status tesela_propagation_explain(const tesela_propagation *p, bool proof,
                                                    const tesela_writer *to, tesela_error *err);

/// The program with layouts on every buffer and the moves as nodes: a MOVE in front of the operand, the views between rebuilt on
/// it. Names of the other nodes stay; a move of buffer a to stick 1 is a.stick1, a copy of view r is r.copy. It uses the
/// propagation's allocator, which must outlive it.
/// @return TESELA_OK; TESELA_E_UNSUPPORTED if not ok; TESELA_E_MEMORY.
TESELA_API tesela_status tesela_graph_apply(tesela_graph **out, const tesela_propagation *p,
                                            tesela_error *err);

/// The program with the copies of views that its cheapest plan has (options.copies, set or not), without its moves and layouts. A
/// copy is a MOVE of the view, r.copy; its result has a buffer of its own, and other passes need not know of copies: propagation
/// of the new program costs no more than the plan without them. If copies of views do not do, the plan is one with moves to and
/// from one element per stick (spread, compact), and these become nodes, too.
///
/// Example: x f16[72,2,50] in sticks along 2 is reshaped to [72,100] and multiplied: one copy of the reshaped tensor.
///
/// @param options   as for tesela_graph_propagate; NULL: auto
/// @param inserted  receives the number of copies; may be NULL
/// @return TESELA_OK also if the program has no layouts even so: it has no copies then, and propagation says why; as
///         tesela_graph_propagate.
TESELA_API tesela_status tesela_graph_materialise(tesela_graph **out, const tesela_graph *graph,
                                                  const tesela_target *target,
                                                  const tesela_propagate_options *options, int32_t *inserted,
                                                  tesela_error *err);

#ifdef __cplusplus
}
#endif
#endif
