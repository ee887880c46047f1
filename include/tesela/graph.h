/* SPDX-License-Identifier: Apache-2.0 */
/*
 * graph.h - a program of tensor operators, as device layouts need to see it.
 *
 * A graph is a list of *nodes* in an order in which they can run. Each node is one operator (target.h lists the classes) with one
 * result tensor; nodes are numbered from 0 and are their result. A tensor is seen through a strided *view* of a *buffer*: the
 * node whose memory holds it, row-major over that node's shape. Views (permute, reshape, squeeze, unsqueeze, expand, slice)
 * move no data: their buffer is their operand's. A node that writes in place has its operand 0's buffer.
 *
 *   0  a    input      f16[256,128]
 *   1  x    input      f16[128,256]
 *   2  a_t  permute    f16[128,256]   buffer 0, strides (1,128)
 *   3  t1   pointwise  f16[128,256]   add(a_t, x), its own buffer
 *
 * Each operator runs over an *iteration space*: the dims of its result, then those it folds. An operand dim is indexed by
 * iteration dims (tesela_index). That is all that rules, loops and execution need to know of an operator.
 *
 * A graph owns memory; it may be read by any number of threads, changed by one. Nodes are never removed.
 */
#ifndef TESELA_GRAPH_H
#define TESELA_GRAPH_H

#include <tesela/device.h>
#include <tesela/target.h>

#ifdef __cplusplus
extern "C" {
#endif

#define TESELA_GRAPH_RANK 16      ///< dims of a tensor of a graph
#define TESELA_GRAPH_ITERATION 32 ///< dims of an iteration space
#define TESELA_GRAPH_NAME 256     ///< bytes of a name, the NUL included
#define TESELA_STICK_FREE (-3)    ///< tesela_node.stick: any; -1 is one element per stick

typedef struct tesela_graph tesela_graph;

/// How an operand dim is indexed: start + sum factor * (iteration dim). Beyond the operand's extent it has no element there: a
/// window over the border (conv2d), or the part of a result that comes from elsewhere (cat, pad, write). Where `divide` is
/// above 1, only multiples of it are elements, divided by it (pad with a value between).
typedef struct tesela_index {
  int32_t
      dim[2]; ///< iteration dims, -1: none; dim[0] TESELA_INDEX_LOOKUP: the value of operand 1 says the index
  int64_t factor[2];
  int64_t start;
  int64_t divide;
} tesela_index;

#define TESELA_INDEX_LOOKUP (-2)

/// Attributes of conv2d: where the dims stand in the operands and the result, and the window. Entries 0 and 1 are named below,
/// 2, 3 and 4 the spatial dims (height, width; or depth, height, width; or width), 5 the groups. -1: there is no such dim.
///
/// Groups are a dim of their own, of x, of w and of the result: a view splits channels into groups (permute, reshape), another joins
/// those of the result. Without a channel in x and w (a depthwise convolution) nothing is summed but the window; w and the
/// result may then have an out channel, or not.
typedef struct tesela_conv2d {
  int32_t x[6];      ///< which dims of x are batch, channel, spatial dims, groups
  int32_t w[6];      ///< which dims of w are out channel, in channel, spatial dims, groups
  int32_t result[6]; ///< which dims of the result are batch, out channel, spatial dims, groups
  int64_t stride[3], dilation[3], low[3],
      high[3]; ///< of each spatial dim: steps of the window, of its elements; padding before and behind
  int64_t x_dilation
      [3]; ///< 0 as 1: elements of x stand so far apart, with nothing between (a transposed convolution)
  int32_t spatial; ///< 1 to 3; 0: 2
  int32_t grouped; ///< 1: entries 5 count
} tesela_conv2d;

/// A node to add. Start from zeros; what an operator uses stands below, the rest is ignored. Operand k's number is
/// operand[k]; the shape of the result follows from the operands unless the operator is marked s: then `shape` says it.
/// Dims below 0 count from the end. A list that is NULL is zeros (start, low, high) or ones (step, dilations, length of pool).
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
///                 window and x_dilation (elements of x stand so far apart). What is no element is not folded in
///
/// Windows of conv2d and pool: strides, steps and dilations are up to 2^32; borders (those of pad, too), the padded dim and the
/// window are below 2^62.
///
/// in_place (write, scatter): the node is operand 0's view of its buffer with new values. Earlier values of the buffer are gone,
/// through any view. Refused if another operand reads that buffer, if operand 0 repeats elements, or the value is an output.
typedef struct tesela_node_spec {
  tesela_op op;
  tesela_fn fn;
  const char *name; ///< unique, without blanks, control characters and any of "%,=(){}[]\; NULL: one is made
  const char *opcode; ///< fallback and FUSED: what it is called where it comes from; else NULL
  tesela_dtype dtype; ///< TESELA_DTYPE_NONE: from the operands
  int32_t bits;       ///< if the type is not known either way
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
  int32_t stick; ///< input: stick dim it comes with, TESELA_STICK_SPARSE, or TESELA_STICK_FREE
  tesela_conv2d conv;
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
  bool output;
  int32_t n_dims, n_labels;
  int32_t dim[TESELA_GRAPH_RANK]; ///< attributes, completed: no negative dims, none left out
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
/// NULL is fine.
TESELA_API void tesela_graph_destroy(tesela_graph *graph);

/// Add a node behind all others.
///
/// Example: pointwise ADD of f16[128,256] and f16[256]: f16[128,256].
///
/// @param node  receives its number; may be NULL
/// @return TESELA_OK; TESELA_E_INVALID for operands that are no nodes, shapes or types that do not fit together, a name that is
///         taken, a reshape that needs a copy (its operand's strides do not allow a view: clone it first), a use of a buffer's
///         earlier value after it was overwritten in place, attributes that contradict; TESELA_E_RANGE for a dim or extent that
///         is none; TESELA_E_LIMIT for a rank above TESELA_GRAPH_RANK or a name that is too long; TESELA_E_OVERFLOW
///         for a tensor of more than 2^63 bits, or windows and borders beyond their limits; TESELA_E_MEMORY.
///         The graph is unchanged then.
TESELA_API tesela_status tesela_graph_add(tesela_graph *graph, const tesela_node_spec *spec, int32_t *node,
                                          tesela_error *err);

/// Mark a node as an output; twice is as once. From then on its buffer cannot be overwritten in place.
/// @return TESELA_OK; TESELA_E_RANGE for a number that is no node's; TESELA_E_INVALID if its buffer was overwritten in place since.
TESELA_API tesela_status tesela_graph_set_output(tesela_graph *graph, int32_t node, tesela_error *err);

/// Set (copy) the layout of a node that is a buffer, in place of one that was set before.
///
/// Example: a f16[1000,200] of spyre: tesela_device_with_stick(&layout, &host, target, 0, err), then this.
/// @return TESELA_OK; TESELA_E_RANGE for a number that is no node's; TESELA_E_INVALID for a node without a buffer of its own;
///         TESELA_E_MISMATCH if the shapes differ; TESELA_E_MEMORY.
TESELA_API tesela_status tesela_graph_set_layout(tesela_graph *graph, int32_t node,
                                                 const tesela_device_layout *layout, tesela_error *err);

/// Number of nodes.
TESELA_API int32_t tesela_graph_count(const tesela_graph *graph);
/// Node k; NULL outside 0 .. count-1. Belongs to the graph; valid until the next change of the graph.
TESELA_API const tesela_node *tesela_graph_node(const tesela_graph *graph, int32_t k);
/// The constant that node k shows: itself, or what it is a view of, if all elements are one known value (no `dims` count along
/// it) and the views keep its type.
///
/// Example: a constant 1 of f16[], expanded to f16[256,128] and transposed: each of the three nodes gives the first.
/// @return NULL for any other node, and outside 0 .. count-1. Belongs to the graph; valid until its next change. O(views).
TESELA_API const tesela_node *tesela_graph_constant(const tesela_graph *graph, int32_t k);
/// The node of that name, -1 if there is none. O(1) on average.
TESELA_API int32_t tesela_graph_find(const tesela_graph *graph, const char *name);

/// The iteration space of an operator.
typedef struct tesela_iteration {
  int32_t n;
  int64_t extent[TESELA_GRAPH_ITERATION];
  int32_t result
      [TESELA_GRAPH_RANK]; ///< iteration dim of each result dim; -1: a dim of 1 that was folded and kept
} tesela_iteration;

/// Example: matmul of [128,256] and [256,64]: extents 128, 64, 256; result dims 0, 1; x is indexed by 0 and 2, y by 2 and 1.
/// TESELA_E_RANGE for a node that is none. Views and inputs iterate over their shape.
TESELA_API tesela_status tesela_graph_iteration(const tesela_graph *graph, int32_t node,
                                                tesela_iteration *iteration, tesela_error *err);

/// How operand k of a node is indexed: one entry for each dim of the operand tensor. A dim of 1 that is repeated has no index.
/// Scatter runs over its result's dims, then the indices' (folded); its values are indexed as gather's result. Along runs over
/// its result's dims, then the operand's dim that it goes along (folded): each element needs the whole line.
/// TESELA_E_RANGE for a node or operand that is none; TESELA_E_UNSUPPORTED for reshape and fallback.
TESELA_API tesela_status tesela_graph_operand_index(const tesela_graph *graph, int32_t node, int32_t k,
                                                    tesela_index index[TESELA_GRAPH_RANK], tesela_error *err);

/* ---- hints and directives ---------------------------------------------------------------------------------------- */

typedef enum tesela_hint_kind {
  TESELA_HINT_REQUIRE,     ///< the node's buffer has this stick
  TESELA_HINT_FORBID,      ///< it has not
  TESELA_HINT_PREFER,      ///< another stick costs `price` elements
  TESELA_HINT_FORBID_MOVE, ///< operand `operand` of the node is not moved, nor copied first (-1: none of them)
  TESELA_HINT_FREE,        ///< an input may come in any stick (a weight laid out ahead of time)
} tesela_hint_kind;

typedef struct tesela_hint {
  tesela_hint_kind kind;
  int32_t node, stick, operand;
  int64_t price;
} tesela_hint;

/// Add (copy) a hint. Those of one node all hold; what they leave is judged by tesela_graph_propagate.
///
/// Example: {TESELA_HINT_PREFER, .node = y, .stick = 0, .price = 100}: another stick of y costs 100 elements.
/// @return TESELA_OK; TESELA_E_RANGE for a kind, node, stick, operand or price that is none; TESELA_E_INVALID for a view, for a
///         node without a buffer of its own (FORBID_MOVE aside), and for FREE of a node that is no input; TESELA_E_MEMORY.
TESELA_API tesela_status tesela_graph_hint(tesela_graph *graph, const tesela_hint *hint, tesela_error *err);
/// Number of hints.
TESELA_API int32_t tesela_graph_hint_count(const tesela_graph *graph);
/// Hint k, 0 <= k < their number, in the order they were added; NULL outside. Valid until the next change of the graph.
TESELA_API const tesela_hint *tesela_graph_hint_at(const tesela_graph *graph, int32_t k);

/* ---- rules ----------------------------------------------------------------------------------------------------- */

/// Row k of the table every target starts from; NULL behind the last.
TESELA_API const tesela_rule *tesela_rule_at(int32_t k);

/// The row that counts for an operand (or TESELA_RULE_RESULT) of an operator on a target (NULL: the table alone). Never NULL: where no
/// row says anything it is one that needs nothing.
/// Example: TESELA_OP_MATMUL, operand 0: TESELA_NEED_CONTRACTED, price -1 (hard).
TESELA_API const tesela_rule *tesela_rule_of(const tesela_target *target, tesela_op op, tesela_fn fn,
                                             int32_t operand);

/// The same of a node, whose opcode counts, too. Example: a FALLBACK "all-reduce", operand 0: TESELA_NEED_RESULT.
TESELA_API const tesela_rule *tesela_rule_of_node(const tesela_target *target, const tesela_node *node,
                                                  int32_t operand);

#ifdef __cplusplus
}
#endif
#endif
