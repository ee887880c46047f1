/* SPDX-License-Identifier: Apache-2.0 */
/*
 * graph.h - a graph of tensor operators: construction, HLO text, loops, padding, memory, execution.
 *
 * A graph is a list of *nodes* in execution order. Each node is one operator (device.h lists the classes) with one
 * result tensor; nodes are numbered from 0, and a node stands for its result. A tensor is a strided *view* of a
 * *buffer*: the node whose memory holds it, row-major over that node's shape. Views (permute, reshape, squeeze,
 * unsqueeze, expand, slice) move no data and have the buffer of their operand. A node that writes in place has the
 * buffer of operand 0.
 *
 *   0  a    input      f16[256,128]
 *   1  x    input      f16[128,256]
 *   2  a_t  permute    f16[128,256]   buffer 0, strides (1,128)
 *   3  t1   pointwise  f16[128,256]   add(a_t, x), its own buffer
 *
 * Each operator runs over an *iteration space*: the dims of its result, then those it folds. An operand dim is indexed
 * by iteration dims (tesela_index). Rules, loops and execution need no more than that.
 *
 * A graph owns memory; any number of threads may read it, or one may change it. Nodes are never removed.
 */
#ifndef TESELA_GRAPH_H
#define TESELA_GRAPH_H

#include <tesela/arena.h>
#include <tesela/device.h>
#include <tesela/relayout.h>

#ifdef __cplusplus
extern "C" {
#endif

#define TESELA_GRAPH_RANK 16      ///< dims of a tensor of a graph
#define TESELA_GRAPH_ITERATION 32 ///< dims of an iteration space
#define TESELA_GRAPH_NAME 256     ///< bytes of a name, the NUL included
#define TESELA_STICK_FREE (-3)    ///< tesela_node.stick: any; -1 is one element per stick

typedef struct tesela_graph tesela_graph;

/// The index of an operand dim: start + sum factor * (iteration dim). An index outside the operand's extent reads nothing: a window
/// over the border (conv2d), or a part of the result from another source (cat, pad, write). With `divide` above 1 only
/// multiples of it are elements, at the quotient (pad with a value between elements).
typedef struct tesela_index {
  int32_t dim[2]; ///< iteration dims, or -1; dim[0] TESELA_INDEX_LOOKUP: the index is the value of operand 1
  int64_t factor[2];
  int64_t start;
  int64_t divide;
} tesela_index;

#define TESELA_INDEX_LOOKUP (-2)

/// Attributes of conv2d: the positions of the dims in operands and result, and the window. Entries 0 and 1 are named below, 2, 3
/// and 4 are the spatial dims (height, width; or depth, height, width; or width), 5 is the groups. -1: the dim is absent.
///
/// Groups are a separate dim of x, of w and of the result: a view splits channels into groups (permute, reshape), another joins
/// those of the result. Without a channel in x and w (a depthwise convolution) only the window is summed; w and the result may
/// then have an out channel.
typedef struct tesela_conv2d {
  int32_t x[6];      ///< which dims of x are batch, channel, spatial dims, groups
  int32_t w[6];      ///< which dims of w are out channel, in channel, spatial dims, groups
  int32_t result[6]; ///< which dims of the result are batch, out channel, spatial dims, groups
  int64_t stride[3], dilation[3], low[3],
      high[3]; ///< per spatial dim: steps of the window, steps of its elements, padding before and after
  int64_t x_dilation
      [3]; ///< distance between elements of x, with gaps between (a transposed convolution); 0 means 1
  int32_t spatial; ///< 1 to 3; 0: 2
  int32_t grouped; ///< 1: entries 5 count
} tesela_conv2d;

/// A node to add. Start from zeros; an operator uses the fields below and ignores the rest. Operand k is node operand[k]; the
/// shape of the result follows from the operands, or, for operators marked s, is `shape`. Dims below 0 count from the end. A
/// NULL list means zeros (start, low, high) or ones (step, dilations, length of pool).
///
///   input s       stick, strides (of the host tensor, NULL: row-major); rank 0: stick 0 is TESELA_STICK_SPARSE
///   constant s    value; dims[0] with n_dims 1: counts along that dim instead (value + index)
///   pointwise     fn; operands broadcast as in NumPy; dtype if it is not that of the last operand (select, clamp: of the
///                 second; comparisons and isfinite: pred); opcode of a FUSED function
///   reduce        fn SUM, PROD, MEAN, MAX, MIN, AND, OR, XOR; dims folded (n_dims 0: all); keepdim
///   matmul        as NumPy's matmul; or labels: x_label, y_label, n_labels, rank; a dim of 1 may have label -1: no index
///   conv2d        conv; positions that are all 0 mean 0, 1, 2, 3 (groups: batch or none, groups, channels, spatial dims)
///   gather        operand 0 x, 1 indices; dims[0]: the dim looked up (n_dims 0: dim 0)
///   scatter       operand 0 x, 1 indices, 2 values; dims[0]; fn NONE sets, ADD adds; in_place; an index of -1 leaves out
///   cat           dims[0]
///   pad           low, high, step[d] - 1 values between elements; value; low and high, less than 2^62, may be negative
///   write         operand 0 x, 1 piece; start, step per dim; in_place
///   clone, move   move: layout of the result is given later
///   fallback s    opcode; any operands; dtype TESELA_TOKEN with rank 0: nothing in memory (a tuple of results)
///   permute       dims: result dim d is operand dim dims[d]
///   reshape s     one extent may be -1
///   squeeze       dims (n_dims 0: all of extent 1)          unsqueeze   dims: positions in the result
///   expand s      dims: operand dim d becomes result dim dims[d] (n_dims 0: aligned at the end); -1 in shape keeps
///   slice         start, step, length per dim; step may be negative; n_dims dims[] with one entry each, or all dims; length
///                 NULL: to the end
///   along         fn CUMSUM .. ARGSORT, of every line of operand 0 along dims[0] (n_dims 0: the last dim); reverse: cumulative
///                 from the end, or the greatest first; length[0]: of a sorted line only the first so many (top-k), NULL: all; dtype
///                 if not the operand's (ARGSORT: s32). Or FUSED with an opcode: operands of one shape, any length[0]
///   pool          fn SUM, PROD, MAX, MIN, AND, OR, XOR; per dim: length of the window, its step, low and high padding, dilation of the
///                 window and x_dilation (distance between elements of x). Only elements are folded
///
/// Windows of conv2d and pool: strides, steps and dilations are up to 2^32; borders (those of pad, too), the padded dim and the
/// window are below 2^62.
///
/// in_place (write, scatter): the node is operand 0's view of its buffer with new values. The earlier values of the buffer are lost
/// in every view. Refused if another operand reads that buffer, if operand 0 repeats elements, or if the value is an output.
typedef struct tesela_node_spec {
  tesela_op op;
  tesela_fn fn;
  const char *name; ///< unique, without blanks, control characters and any of "%,=(){}[]\; NULL: one is made
  const char *opcode; ///< fallback and FUSED: its name in the source text; else NULL
  tesela_dtype dtype; ///< TESELA_DTYPE_NONE: from the operands
  int32_t bits;       ///< width, if the type is unknown
  int32_t n_operands;
  const int32_t *operand;
  int32_t rank;
  const int64_t *shape;
  const int64_t *strides;
  int32_t n_dims;
  const int32_t *dims;
  const int64_t *start, *length, *step, *low, *high, *dilation, *x_dilation;
  int32_t n_labels; ///< iteration dims; labels 0 .. rank-1 are the result's dims
  const int32_t *x_label, *y_label;
  double value;
  bool keepdim, in_place;
  bool reverse;  ///< along
  int32_t stick; ///< input: its stick dim, TESELA_STICK_SPARSE, or TESELA_STICK_FREE
  tesela_conv2d conv;
  int64_t reserved[4]; ///< 0: room to grow (base.h)
} tesela_node_spec;

/// A node, for reading.
typedef struct tesela_node {
  tesela_op op;
  tesela_fn fn;
  const char *name, *opcode;
  tesela_dtype dtype;
  int32_t bits; ///< of an element on the host
  int32_t rank;
  int64_t shape[TESELA_GRAPH_RANK];
  int32_t n_operands;
  const int32_t *operand;
  int32_t buffer;                    ///< node whose memory holds the result: itself, or that of operand 0
  int64_t offset;                    ///< of element 0 in the buffer
  int64_t stride[TESELA_GRAPH_RANK]; ///< elements of the buffer, row-major over the buffer's shape
  int64_t host_stride[TESELA_GRAPH_RANK]; ///< input: strides of the host tensor it is given as
  bool view;                              ///< moves no data: permute .. slice
  bool in_place;                          ///< writes operand 0's buffer
  bool output;                            ///< one of the outputs
  int32_t n_dims, n_labels;
  int32_t dim[TESELA_GRAPH_RANK]; ///< attributes, completed: without negative or missing dims
  int64_t start[TESELA_GRAPH_RANK], step[TESELA_GRAPH_RANK], low[TESELA_GRAPH_RANK], high[TESELA_GRAPH_RANK];
  int64_t length[TESELA_GRAPH_RANK], dilation[TESELA_GRAPH_RANK], x_dilation[TESELA_GRAPH_RANK]; ///< pool
  int32_t label[2][TESELA_GRAPH_RANK];                                                           ///< matmul
  tesela_conv2d conv;
  double value;
  bool keepdim, reverse;
  int32_t stick;                      ///< input: as given; else TESELA_STICK_FREE
  const tesela_device_layout *layout; ///< of a buffer, once one is set; NULL for views and before
} tesela_node;

/// An empty graph.
/// @return TESELA_OK; TESELA_E_MEMORY. The allocator (NULL: malloc and free) must outlive the graph.
TESELA_API tesela_status tesela_graph_create(tesela_graph **graph, const tesela_allocator *allocator,
                                             tesela_error *err);
/// NULL is allowed.
TESELA_API void tesela_graph_destroy(tesela_graph *graph);

/// Append a node.
///
/// Example: pointwise ADD of f16[128,256] and f16[256]: f16[128,256].
///
/// @param node  receives its number; may be NULL
/// @return TESELA_OK; TESELA_E_INVALID for unknown operands, shapes or types that do not fit together, a duplicate name, a
///         reshape that needs a copy (its operand's strides do not allow a view: clone it first), a use of a buffer's
///         earlier value after it was overwritten in place, contradictory attributes; TESELA_E_RANGE for an invalid dim or
///         extent; TESELA_E_LIMIT for a rank above TESELA_GRAPH_RANK or a name that is too long; TESELA_E_OVERFLOW
///         for a tensor of more than 2^63 bits, or windows and borders beyond their limits; TESELA_E_MEMORY.
///         On failure the graph is unchanged.
TESELA_API tesela_status tesela_graph_add(tesela_graph *graph, const tesela_node_spec *spec, int32_t *node,
                                          tesela_error *err);

/// Append a node to the outputs, the list of results of tesela_graph_run in this order; a node may be added twice. Its buffer
/// can no longer be overwritten in place.
///
/// Example: of ROOT tuple(%b, %a, %b) the outputs are b, a, b.
/// @return TESELA_OK; TESELA_E_RANGE for an unknown node; TESELA_E_INVALID if its buffer was overwritten in place since;
///         TESELA_E_MEMORY.
TESELA_API tesela_status tesela_graph_add_output(tesela_graph *graph, int32_t node, tesela_error *err);

/// The number of outputs, and the node of output k; -1 for k outside 0 to n_outputs - 1. O(1).
TESELA_API int32_t tesela_graph_n_outputs(const tesela_graph *graph);
TESELA_API int32_t tesela_graph_output(const tesela_graph *graph, int32_t k);

/// Set (copy) the layout of a node with its own buffer; replaces an earlier one.
///
/// Example: a f16[1000,200] of spyre: tesela_device_with_stick(&layout, &host, target, 0, err), then this.
/// @return TESELA_OK; TESELA_E_RANGE for an unknown node; TESELA_E_INVALID for a node without its own buffer;
///         TESELA_E_MISMATCH if the shapes differ; TESELA_E_MEMORY.
TESELA_API tesela_status tesela_graph_set_layout(tesela_graph *graph, int32_t node,
                                                 const tesela_device_layout *layout, tesela_error *err);

/// Number of nodes.
TESELA_API int32_t tesela_graph_count(const tesela_graph *graph);
/// Node k; NULL outside 0 .. count-1. Belongs to the graph; valid until the next change of the graph.
TESELA_API const tesela_node *tesela_graph_node(const tesela_graph *graph, int32_t k);
/// The constant of node k: the node, or the constant that it is a view of, if all elements have one known value (no count
/// along `dims`) and the views keep its type.
///
/// Example: a constant 1 of f16[], expanded to f16[256,128] and transposed: each of the three nodes gives the first.
/// @return NULL for any other node, and outside 0 .. count-1. Belongs to the graph; valid until its next change. O(views).
TESELA_API const tesela_node *tesela_graph_constant(const tesela_graph *graph, int32_t k);
/// The node with this name, or -1. O(1) on average.
TESELA_API int32_t tesela_graph_find(const tesela_graph *graph, const char *name);

/// The iteration space of an operator.
typedef struct tesela_iteration {
  int32_t n;
  int64_t extent[TESELA_GRAPH_ITERATION];
  int32_t result
      [TESELA_GRAPH_RANK]; ///< iteration dim of each result dim; -1: a dim of 1 that was folded and kept
} tesela_iteration;

/// Example: matmul of [128,256] and [256,64]: extents 128, 64, 256; result dims 0, 1; x is indexed by 0 and 2, y by 2 and 1.
/// TESELA_E_RANGE for an unknown node. Views and inputs iterate over their shape.
TESELA_API tesela_status tesela_graph_iteration(const tesela_graph *graph, int32_t node,
                                                tesela_iteration *iteration, tesela_error *err);

/// The indices of operand k of a node: one entry per dim of the operand tensor. A dim of 1 that is repeated has no index.
/// Scatter runs over the dims of its result, then those of the indices (folded); its values are indexed like the result of gather.
/// Along runs over the dims of its result, then the dim that it runs along (folded): each element needs the whole line.
/// TESELA_E_RANGE for an unknown node or operand; TESELA_E_UNSUPPORTED for reshape and fallback.
TESELA_API tesela_status tesela_graph_operand_index(const tesela_graph *graph, int32_t node, int32_t k,
                                                    tesela_index index[TESELA_GRAPH_RANK], tesela_error *err);

/* ---- hints and directives ------------------------------------------------------------------------------ */

typedef enum tesela_hint_kind {
  TESELA_HINT_REQUIRE,     ///< the node's buffer must have this stick
  TESELA_HINT_FORBID,      ///< the node's buffer must not have this stick
  TESELA_HINT_PREFER,      ///< any other stick costs `price` elements
  TESELA_HINT_FORBID_MOVE, ///< operand `operand` of the node is neither moved nor copied (-1: all operands)
  TESELA_HINT_FREE,        ///< an input may come in any stick (a weight laid out ahead of time)
} tesela_hint_kind;

typedef struct tesela_hint {
  tesela_hint_kind kind;
  int32_t node, stick, operand;
  int64_t price;
} tesela_hint;

/// Add (copy) a hint. All hints of a node hold together; tesela_graph_propagate reports contradictions.
///
/// Example: {TESELA_HINT_PREFER, .node = y, .stick = 0, .price = 100}: another stick of y costs 100 elements.
/// @return TESELA_OK; TESELA_E_RANGE for an invalid kind, node, stick, operand or price; TESELA_E_INVALID for a view or a node
///         without its own buffer (except FORBID_MOVE), and for FREE of a node other than an input; TESELA_E_MEMORY.
TESELA_API tesela_status tesela_graph_hint(tesela_graph *graph, const tesela_hint *hint, tesela_error *err);
/// Number of hints.
TESELA_API int32_t tesela_graph_hint_count(const tesela_graph *graph);
/// Hint k, 0 <= k < their number, in the order they were added; NULL outside. Valid until the next change of the graph.
TESELA_API const tesela_hint *tesela_graph_hint_at(const tesela_graph *graph, int32_t k);

/* ---- rules --------------------------------------------------------------------------------------------- */

/// Row k of the default rules; NULL after the last.
TESELA_API const tesela_rule *tesela_rule_at(int32_t k);

/// The rule for an operand (or TESELA_RULE_RESULT) of an operator on a target (NULL: the default rules). Never NULL: without a
/// matching row it is a rule without a need.
/// Example: TESELA_OP_MATMUL, operand 0: TESELA_NEED_CONTRACTED, price -1 (hard).
TESELA_API const tesela_rule *tesela_rule_of(const tesela_target *target, tesela_op op, tesela_fn fn,
                                             int32_t operand);

/// The same for a node, by its opcode too. Example: a FALLBACK "all-reduce", operand 0: TESELA_NEED_RESULT.
TESELA_API const tesela_rule *tesela_rule_of_node(const tesela_target *target, const tesela_node *node,
                                                  int32_t operand);

/*
 * ==== Graphs from HLO text and back
 *
 * The text of a module as compilers dump it. The entry computation becomes the graph; fusions and calls are inlined. An
 * instruction without a class (loops, custom calls, ...) becomes a fallback node, with default layouts.
 */

/// Facts about reading.
typedef struct tesela_graph_read_facts {
  int64_t instructions; ///< read, over all computations that were used
  int64_t fallbacks;    ///< nodes without a class
  int64_t inlined;      ///< fusions and calls
  int64_t reserved[4];  ///< 0: room to grow (base.h)
} tesela_graph_read_facts;

/// Read HLO text.
///
/// Example: "HloModule m\nENTRY e { x = f32[4]{0} parameter(0)\n ROOT y = f32[4]{0} negate(x)\n}": an input and a pointwise NEG.
///
/// Names are those of the text without %. Names of an inlined computation get the caller's name and a dot as prefix, and its root
/// gets the caller's name. An extra node of an instruction has a suffix: y.clone before a reshape y that needs a copy. Inputs are
/// in the order of parameter numbers (elements of a tuple in the order of their get-tuple-element), TESELA_STICK_FREE unless their
/// tiles are a stick layout of `target` (NULL: all are free). frontend_attributes of a printed graph (below) override
/// everything else. Elementwise operations without a function are FUSED. A dynamic dim (<=8) has the extent of its bound; an
/// operation on one is a fallback unless it is elementwise.
///
/// @param facts  may be NULL
/// @return TESELA_OK; TESELA_E_SYNTAX with err->at for text other than an HLO module, or an unreadable instruction;
///         TESELA_E_INVALID for an unknown operand or computation, contradictory shapes; TESELA_E_LIMIT for calls
///         nested deeper than 64, more than 2^20 instructions (counting calls as often as they are called), a rank above
///         TESELA_GRAPH_RANK; as tesela_graph_add for a node; TESELA_E_MEMORY.
/// A dump of 700 instructions, 170 KB, takes about 2 ms.
TESELA_API tesela_status tesela_graph_read_hlo(tesela_graph **graph, const char *text, size_t length,
                                               const tesela_target *target, const tesela_allocator *allocator,
                                               tesela_graph_read_facts *facts, tesela_error *err);

/// Print a graph as HLO text, one instruction per node. Set layouts are printed as XLA layouts if possible,
/// f16[1000,200]{0,1:T(64,1)}, and exactly in frontend_attributes={device_layout="..."}. Views have no layout: their shape is
/// printed row-major, and frontend_attributes={buffer="x"} names the buffer. A node without an exact HLO operation is a
/// custom-call, or the nearest operation, with a note: frontend_attributes={tesela="reduce fn=mean dims=1"}.
/// The text reads back to an equal graph (without hints), for any `target`.
///
/// Example: a matmul y of a and b: `ROOT %y = f16[2,4]{1,0} dot(%a, %b), lhs_contracting_dims={1}, rhs_contracting_dims={0}`.
///
/// @param name  of the module; NULL: graph
/// @return TESELA_OK; TESELA_E_STOPPED; as tesela_device_print for a layout.
TESELA_API tesela_status tesela_graph_print_hlo(const tesela_graph *graph, const char *name,
                                                const tesela_writer *to, tesela_error *err);

/*
 * ==== Operators as loops over tiled memory, and their division over cores
 *
 * The loops of an operator are the device dims of its result, then those of the folded dims: the iteration indices of
 * an element are digits of these loops, and the place of each operand and of the result is an expression in them.
 *
 *   t1 = a + b, f16[100,130] in sticks along dim 1: loops block 3, row 100, lane 64; valid where block*64 + lane < 130
 *     a, b, t1 at block*6400 + row*64 + lane
 *
 * A code generator can emit kernels from this; tesela_graph_run uses the same loops.
 */

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

/// The loops of a node of a graph with layouts: the device dims of the result, as far as elements reach (a dim of 40 has 40 lanes of
/// 64), then the folded dims in order, in blocks and lanes if an operand has its lanes along them. Loops of one iteration are
/// omitted, and replicated dims have no loop: an element is written to all its places. If steps of a dim do not divide each
/// other, the loop below covers the rest, so that each iteration index has exactly one set of counters; a result that is
/// written into a view of a buffer has one loop per dim.
///
/// Example: matmul of f16[128,256] in sticks along 1 and f16[256,64]: loops row 128, lane 64; folded block 4, lane 64.
///
/// @return TESELA_OK; TESELA_E_RANGE; TESELA_E_UNSUPPORTED for a view, an input, a
/// fallback; TESELA_E_INVALID without layouts; TESELA_E_LIMIT; TESELA_E_OVERFLOW.
TESELA_API tesela_status tesela_graph_loops(const tesela_graph *graph, int32_t node, tesela_op_loops *loops,
                                            tesela_error *err);

/// The place of operand k (-1: the result) as a tesela_layout whose elements are the counters of the loops: shape = the extents.
/// Its place p is place p - *before of the buffer: *before is above 0 if counters reach before the buffer, as in a window over the
/// border. For iteration indices beyond their extents (padding), or an operand without an element (windows, pieces), the place is
/// meaningless.
///
/// Example: f16[100,130] in sticks along 1: place {2, 5, 1} = 2*6400 + 5*64 + 1 = 13121, *before 0.
///
/// @return TESELA_OK; TESELA_E_UNSUPPORTED for an operand that is indexed by another's values, and for a window on a view that
///         crosses dims of its buffer; TESELA_E_RANGE; TESELA_E_LIMIT; TESELA_E_OVERFLOW.
TESELA_API tesela_status tesela_graph_loop_place(const tesela_graph *graph, const tesela_op_loops *loops,
                                                 int32_t node, int32_t k, tesela_layout *place,
                                                 int64_t *before, tesela_error *err);

/// Print the loops of a node as C-like source: loops, the conditions for padding and borders if they can be false, and an
/// assignment with every place as an expression of /, %, * and +. Deterministic.
///
///   for (int64_t c0 = 0; c0 < 3; c0++)
///     for (int64_t c1 = 0; c1 < 100; c1++)
///       for (int64_t c2 = 0; c2 < 64; c2++)
///         if (c0*64 + c2 < 130)
///           t1[c0*6400 + c1*64 + c2] = add(a[c0*6400 + c1*64 + c2], b[c0*6400 + c1*64 + c2]);
///
/// Buffers are arrays of elements in their places, named like their nodes, or v7 for node 7 if the name is not a C identifier. A
/// fold has a variable of type `value` that starts from a number or from `least` or `greatest`; functions have the names of
/// tesela_fn_name. An operator that runs along a dim reads the line first: sort(line, 130, 2) is element 2 of a line of 130 after
/// sorting, sort_reverse starts from the greatest.
/// @return as tesela_graph_loops and tesela_graph_loop_place; TESELA_E_STOPPED.
TESELA_API tesela_status tesela_graph_print_loops(const tesela_graph *graph, int32_t node,
                                                  const tesela_writer *to, tesela_error *err);

/* ---- division over cores ------------------------------------------------------------------------------- */

/// The share of one core: counters start .. start + extent - 1 of each loop.
typedef struct tesela_core_share {
  int64_t start[TESELA_DEVICE_DIMS], extent[TESELA_DEVICE_DIMS];
} tesela_core_share;

typedef struct tesela_division {
  int32_t cores;                      ///< cores with work: product of the factors
  int32_t n;                          ///< loops
  int64_t factor[TESELA_DEVICE_DIMS]; ///< number of parts of each loop; lanes are never cut
  int32_t folded; ///< the one folded loop that is cut, or -1: its partial results must be combined
  int64_t most;   ///< iterations of the busiest core, padding not counted
  double balance; ///< most over the iterations / cores, >= 1
} tesela_division;

/// Divide an operator over up to `cores` cores along its device dims. Sticks are never cut. At most one folded loop is cut, and
/// only if this uses more cores (never the dim that an operator runs along). Factors divide their loops, so that all cores do
/// equal work. Preferred are divisions that use most cores, then those whose cores read least (the counters of the loops that
/// each operand depends on), then those that cut the outer loops more.
///
/// Example: matmul f16[6,256] x f16[256,192], loops 3 blocks, 6 rows, 64 lanes, folded 4 blocks, 64 lanes: 32 cores are 18 without
/// the fold, 24 with it: 1 x 6 x 4.
///
/// @param forced  TESELA_DEVICE_DIMS factors to use instead, 0: free; NULL: all free
/// @return TESELA_OK; TESELA_E_RANGE for cores below 1 or above 65536, a factor that does not divide its loop or cuts lanes or a line,
///         two folded loops cut, or factors that need more cores; as tesela_graph_loops. At most 2^20 divisions are tried.
TESELA_API tesela_status tesela_graph_divide(const tesela_graph *graph, int32_t node, int32_t cores,
                                             const int64_t *forced, tesela_division *division,
                                             tesela_error *err);

/// The share of core c, 0 <= c < division->cores; cores count row-major over the factors.
TESELA_API tesela_status tesela_graph_share(const tesela_op_loops *loops, const tesela_division *division,
                                            int32_t c, tesela_core_share *share, tesela_error *err);

/// The places of operand k (-1: the result) that core c touches: the least, the greatest, and the number of distinct ones; 0, -1, 0
/// if it touches no place. Of elements with several places the first is read, all are written. An indexed dim counts whole.
typedef struct tesela_core_view {
  int64_t first, last, places;
} tesela_core_view;
TESELA_API tesela_status tesela_graph_core_view(const tesela_graph *graph, int32_t node,
                                                const tesela_op_loops *loops, const tesela_core_share *share,
                                                int32_t k, tesela_core_view *view, tesela_error *err);

/*
 * ==== The content of padding in each buffer of a graph, and the operators that would read it
 *
 * An accelerator computes whole sticks: it reads and writes lanes without an element like the others. They hold garbage
 * unless they were written, and garbage spreads: exp of garbage may be infinite, and a matmul that sums over such lanes
 * can make every element of its result NaN. tesela_graph_run computes elements only; this is for code generators.
 *
 *   x f16[4,100] in sticks along 1, filled with zeros after column 100
 *   e = exp(x)         the padding of e holds 1
 *   z = sum of e, 1    reads lanes 100 to 127 of e: it needs 0 there and finds 1: mask them, or fill them with 0
 *
 * Model. An operator runs over every digit of the device dims of its result, and of its operands along the folded dims:
 * indices then exceed extents, and operands are read at the places of such indices. Values are computed as in
 * tesela_graph_run; functions that accelerators approximate are computed only at exact points (exp of 0, of an
 * infinity). Elements may be infinite or NaN, so 0 * element is 0 only for integers. Unknown values are garbage, which
 * is always a safe answer. All padding of layouts with gaps, copies or uneven steps is garbage, and that of one element
 * per stick unless it was filled.
 */

/// The value written to padding with a tensor. LEAVE: not written, garbage.
typedef struct tesela_padding_fill {
  tesela_pad pad;
  double value; ///< TESELA_PAD_VALUE
} tesela_padding_fill;

typedef struct tesela_padding_options {
  const tesela_padding_fill *input;  ///< one per INPUT node, in the order of nodes; NULL: all LEAVE
  tesela_padding_fill copy;          ///< fill of the results of clone and move
  const tesela_allocator *allocator; ///< NULL: malloc and free; must outlive the result
  int64_t reserved[4];               ///< 0: room to grow (base.h)
} tesela_padding_options;

typedef enum tesela_padding_kind {
  TESELA_PADDING_NONE,     ///< no padding
  TESELA_PADDING_VALUE,    ///< one value in all padding
  TESELA_PADDING_GARBAGE,  ///< anything
  TESELA_PADDING_ELEMENTS, ///< of a read: elements of the buffer outside the operator's view
  TESELA_PADDING_OUTSIDE,  ///< of a read: outside the buffer
} tesela_padding_kind;

typedef struct tesela_padding_state {
  tesela_padding_kind kind;
  bool integer;  ///< VALUE: `whole` is exact
  double value;  ///< VALUE: of a float type, or the nearest to `whole`
  int64_t whole; ///< VALUE: of integers and bool; of u64 its bits
} tesela_padding_state;

typedef enum tesela_padding_verdict {
  TESELA_PADDING_FINE, ///< the read does not change the result
  TESELA_PADDING_FILL, ///< the padding must be masked, or hold `needed`
  TESELA_PADDING_MASK, ///< the padding must be masked: no fill of this operand helps
} tesela_padding_verdict;

/// A dim that an operator folds, with a last stick, or padding, that reaches beyond it. If all reads of an operator are FINE, it
/// may fold whole sticks. For a product it is enough that one operand holds 0 and the others finite values; a mean is
/// never FINE, since padding changes the count.
typedef struct tesela_padding_read {
  int32_t node, operand, dim;
  int64_t from, to;                   ///< indices from .. to-1 along `dim` are read beyond it
  tesela_padding_state needed, found; ///< needed: VALUE, or NONE if no value is known to work
  tesela_padding_verdict verdict;
} tesela_padding_read;

typedef struct tesela_padding tesela_padding;

/// Compute the content of all padding.
///
/// @param graph    with layouts on every buffer (tesela_graph_apply); must outlive the result and stay unchanged
/// @param options  NULL: all zeros
/// @return TESELA_OK; TESELA_E_INVALID for a buffer without a layout; TESELA_E_RANGE for an invalid fill, or a value outside
///         the device type; TESELA_E_OVERFLOW; TESELA_E_MEMORY.
/// Some microseconds per node.
TESELA_API tesela_status tesela_graph_padding(tesela_padding **out, const tesela_graph *graph,
                                              const tesela_padding_options *options, tesela_error *err);
/// NULL is allowed.
TESELA_API void tesela_padding_destroy(tesela_padding *padding);

/// The content of the padding of a node's buffer after the node: NONE, VALUE or GARBAGE; GARBAGE for an unknown node.
/// Example: relu of a buffer whose padding holds -inf: VALUE 0.
TESELA_API tesela_padding_state tesela_padding_state_of(const tesela_padding *padding, int32_t node);

/// Read k, in the order of nodes; NULL after the last.
TESELA_API const tesela_padding_read *tesela_padding_read_at(const tesela_padding *padding, int32_t k);

/// Suggest fills of inputs (LEAVE, ZERO, MINUS_INF, PLUS_INF) that make more reads FINE: a local search that changes one input at
/// a time, from the given fills and from one fill for all; the result may not be optimal. Inputs without effect are LEAVE.
///
/// Example: the graph above with a max before exp: x MINUS_INF makes both reads FINE.
///
/// @param fill  receives one fill per INPUT node, in the order of nodes
/// @param fine  receives the number of reads that are FINE with them; may be NULL
/// @return TESELA_OK; TESELA_E_MEMORY.
TESELA_API tesela_status tesela_padding_suggest(const tesela_padding *padding, tesela_padding_fill *fill,
                                                int32_t *fine, tesela_error *err);

/*
 * ==== An arena for the buffers of a graph: live ranges, true sizes, reuse
 *
 * A buffer lives from the node that makes it to the last node that reads it, through any view; an output to the end, an
 * input from the start. Its size is that of the device layout, padding included, rounded up to the target's alignment.
 * A result may reuse the memory of an operand whose life ends there, if each of its elements has the place of the
 * operand's element of the same index.
 *
 *   0 x, 1 a = neg x, 2 b = exp a, 3 b.T, 4 c = b + b.T, 5 d = neg c      f16[64,64], 8192 bytes each; x and d are the caller's
 *     a lives at nodes 1 and 2, b at 2 to 4 in the memory of a, c at 4 and 5, not in that of b: b.T has other places. Peak 16384 of 24576
 *
 * This is safe: an operator reads all operands of an element before it writes the element, and no other element reads
 * there.
 */

typedef struct tesela_graph_memory_options {
  int64_t capacity; ///< bytes; 0: unlimited
  int64_t
      scratchpad; ///< bytes of fast memory, used first for buffers that save most traffic; 0: no scratchpad
  int64_t effort; ///< as tesela_arena_options
  bool no_reuse;  ///< results never reuse the memory of an operand
  bool inputs;    ///< inputs and outputs are in the arena too
  const tesela_allocator *allocator;
  tesela_progress
      *progress; ///< NULL: no calls; with buffers while reuse is looked for, then as tesela_arena_options
  void *progress_user;
  int64_t reserved[4]; ///< 0: room to grow (base.h)
} tesela_graph_memory_options;

typedef struct tesela_graph_memory tesela_graph_memory;

/// The place of a buffer.
typedef struct tesela_graph_place {
  int32_t node;              ///< the buffer
  int32_t lower, upper;      ///< nodes lower .. upper-1
  int64_t bytes;             ///< of its layout, rounded up to the alignment
  int64_t offset;            ///< in the arena, or in the scratchpad
  bool scratchpad, external; ///< external: an input or output outside the arena, offset -1
  int32_t in_place_of;       ///< the buffer whose memory it reuses, or -1
} tesela_graph_place;

typedef struct tesela_graph_memory_facts {
  tesela_arena_facts arena, scratchpad;
  int64_t host_bytes; ///< sum of the host bytes of all buffers in the arena, without padding
  int64_t naive;      ///< sum of their device bytes, without reuse
  int64_t external;   ///< bytes of inputs and outputs outside the arena
  int64_t traffic,
      traffic_saved; ///< bytes read and written by operators (each element once an operand, padding not counted), and those of buffers that stay in the scratchpad
  int32_t reused;    ///< results that reuse an operand's memory
  int64_t reserved[4]; ///< 0: room to grow (base.h)
} tesela_graph_memory_facts;

/// Place the buffers of a graph with layouts (tesela_graph_apply) in an arena.
/// @return TESELA_OK; TESELA_E_INVALID if a buffer has no layout; TESELA_E_LIMIT if the capacity does not suffice (as
///         tesela_arena_plan); TESELA_E_OVERFLOW; TESELA_E_MEMORY; TESELA_E_STOPPED if progress asked to stop.
TESELA_API tesela_status tesela_graph_plan_memory(tesela_graph_memory **out, const tesela_graph *graph,
                                                  const tesela_target *target,
                                                  const tesela_graph_memory_options *options,
                                                  tesela_error *err);
/// NULL is allowed.
TESELA_API void tesela_graph_memory_destroy(tesela_graph_memory *memory);
TESELA_API tesela_graph_memory_facts tesela_graph_memory_facts_of(const tesela_graph_memory *memory);
/// Place k in the order of nodes; NULL after the last.
TESELA_API const tesela_graph_place *tesela_graph_memory_place(const tesela_graph_memory *memory, int32_t k);
/// The place of a node's buffer, or NULL.
TESELA_API const tesela_graph_place *tesela_graph_memory_of(const tesela_graph_memory *memory, int32_t node);

/*
 * ==== The reference execution of a graph, on tiled or plain buffers
 *
 * Each operator is computed element by element in double precision (integers in 64 bits) and rounded once to its
 * result's type, with folds in the row-major order of the folded dims. So runs on tiled and on plain memory give the
 * same bits. (Hardware that adds in f32 gives others.) The order of computation and the number of elements computed
 * together do not affect the result. The last bit depends on:
 *
 *   types       f64 if any operand is a float, else 64-bit integers, unsigned if all operands are; select's first
 *               operand does not count; exp, sqrt, sin and the like in f64 always; mean of integers in f64 if its
 *               result is a float
 *   rounding    floats to nearest, ties to even, any NaN to one NaN; integers keep their low bits; a float to an
 *               integer towards 0 and into the range, NaN to 0; pred is 1 except for 0; what is only copied keeps its
 *               bits
 *   no infinity types without one have NaN beyond their greatest number; fnuz have no -0; f8e8m0fnu, whose numbers are
 *               the powers of two from 2^-127 to 2^127, has NaN for 0 and below, its least number below that, the
 *               greater of two at half way
 *   integers    x / 0 has all bits set, the remainder of x by 0 is x; a negative power is 0 unless the base is 1 or -1
 *   bits        shifts and counts of bits are of operand 0's type; a shift by its width or more, or by less than 0,
 *               leaves 0, or the sign; bitcast takes the bits of operand 0 as rounded to its type
 *   max, min    the first of equal ones; NaN if an operand is NaN
 *   conv2d      windows over the border skip missing elements; so do those of pool
 *   scatter     values in row-major order, each addition rounded; those of index -1 are left out
 *   empty folds 0, 1 (prod), the least or greatest value (max, min: -inf, inf, or the ends of the range), all bits
 *               (and)
 *
 * On the device an element is stored in its device type: floats are rounded again, an integer that does not fit is
 * refused.
 *
 * Buffers start as poison: every element is a signalling NaN with a payload (of the finite 8-bit floats a NaN, in an
 * integer bytes of 0xAD), so that reads of padding show. A mark for every few bytes records the buffer for which they
 * were last written, to count such reads.
 */

#define TESELA_GRAPH_RUN_STEPS INT64_C(10000000000) ///< default limit of steps: about a minute
#define TESELA_GRAPH_RUN_BYTES (INT64_C(1) << 32)   ///< default limit of bytes, buffers and marks

typedef struct tesela_graph_run_options {
  bool plain;                        ///< row-major host buffers instead of device layouts
  const tesela_graph_memory *memory; ///< places of the buffers in one arena; NULL: separate allocations
  const tesela_allocator *allocator;
  /// May be NULL. Receives steps (tesela_graph_run_needs) instead of bytes, at most every 2^20 steps; may stop the run
  /// (TESELA_E_STOPPED).
  tesela_progress *progress;
  void *progress_user;
  /// plain: elements are stored in the device types of the target, if it has them, which gives the same bits as tiled memory.
  bool device_types;
  /// A run that needs more (tesela_graph_run_needs) is refused before it begins; 0: TESELA_GRAPH_RUN_STEPS and _BYTES.
  int64_t max_steps, max_bytes;
  int64_t reserved[4]; ///< 0: room to grow (base.h)
} tesela_graph_run_options;

/// Requirements of a run.
typedef struct tesela_graph_run_needs {
  /// Results and products of all operators (plus the values of a scatter, and the elements of a line for each pass over it): the
  /// unit of progress. About 0.5 to 5 ns each.
  int64_t steps;
  int64_t
      bytes; ///< of buffers and their marks, in the arena and outside; steps and bytes above 2^60 count as that
  int32_t node;        ///< the node with most steps; -1 for an empty graph
  int64_t reserved[4]; ///< 0: room to grow (base.h)
} tesela_graph_run_needs;

/// Compute the requirements of a run with these options, for other limits or an estimate of its time. Does not check the
/// limits of the options. O(nodes).
///
/// Example: c = dot(a, b) of three f32[8192,8192]: steps 2^39 + 2^26 (products and results).
///
/// @param options  as for tesela_graph_run; NULL: all zeros
/// @return TESELA_OK; as tesela_graph_run for a node that cannot be run, or a buffer without a layout;
///         TESELA_E_MEMORY
TESELA_API tesela_status tesela_graph_run_needs_of(const tesela_graph *graph, const tesela_target *target,
                                                   const tesela_graph_run_options *options,
                                                   tesela_graph_run_needs *needs, tesela_error *err);

/// Facts about a run.
typedef struct tesela_graph_run_facts {
  int64_t operators; ///< computed
  int64_t elements;  ///< of results, computed
  /// Device elements of the buffers that moves copied, of copies of views those of the copy, padding included: what they
  /// cost by default.
  int64_t moved;
  int64_t arena_bytes; ///< memory used for buffers
  int64_t
      poison_read; ///< elements read that were never written for that buffer: 0 if memory is planned correctly
  int64_t reserved[4]; ///< 0: room to grow (base.h)
} tesela_graph_run_facts;

/// Run a graph. For reference, not for speed: about 0.5 ns for each product of a matmul, some 5 ns for each element that is read
/// or written, its marks included. One thread; beside the buffers and a mark of 4 bytes for every few bytes of them it takes some
/// 200 KiB, 12 KiB for each operand of an operator, tables of places (12 bytes for each index of each of their dims), 32 bytes for each
/// element of a line that is sorted or summed up, and what the relayout engine takes.
///
/// Example: a.T + x of two f16 inputs, applied: inputs {a, x}, outputs {t1}; facts.moved is the price of the move.
///
/// @param target   says how much is allocated for a buffer, and has the device types; may be NULL
/// @param inputs   one address for each INPUT node in the order of nodes: host tensors with the node's host strides and type
/// @param outputs  one address for each output (tesela_graph_output): receives the tensor row-major, in the node's type
/// @return TESELA_OK; TESELA_E_UNSUPPORTED for a fallback, a FUSED function, a bitcast to another width, a type that cannot be computed with
///         (complex, below 8 bits); TESELA_E_INVALID if a buffer has no layout (unless plain) or one of elements narrower than its device
///         type; an index that is looked up and outside its dim (but -1 in a scatter); a memory plan of another graph;
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
