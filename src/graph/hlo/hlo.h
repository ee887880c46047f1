/* SPDX-License-Identifier: Apache-2.0 */
/*
 * hlo.h - HLO text to a graph and back, inside the library.
 *
 *   hlo_lex.c       the characters: names, balanced groups
 *   hlo_module.c    the text as computations and instructions; operands are numbers of instructions
 *   hlo_attribute.c the text after the operands: lists, windows, words
 *   hlo_literal.c   numbers and constants
 *   hlo_parameter.c inputs
 *   hlo_build.c     a graph from a module: the value of each instruction, checked
 *   hlo_call.c      the walk over a computation; calls and fusions are walked in place
 *   hlo_fallback.c  operators without a class, and the outputs
 *   hlo_opcodes.c, hlo_functions.c    the tables: an opcode, and the function that adds its nodes or that it computes
 *   hlo_node.c      helpers of these functions: operands, shapes, nodes
 *   hlo_region.c    small computations on scalars, evaluated
 *   hlo_values.c, hlo_views.c, hlo_fold.c, hlo_window.c, hlo_along.c, hlo_dot.c, hlo_convolution.c, hlo_collective.c,
 *   hlo_lookup.c, hlo_lookup_many.c, hlo_linear.c, hlo_bitcast.c      these functions
 *   hlo_note.c      notes of printed programs on what HLO cannot express, and their reading
 *   hlo_print.c, hlo_print_op.c, hlo_print_piece.c, hlo_print_window.c, hlo_print_scalar.c  printing
 */
#ifndef TESELA_SRC_GRAPH_HLO_H
#define TESELA_SRC_GRAPH_HLO_H

#include <tesela/graph.h>
#include <tesela/xla.h>

#include "base/reader.h"
#include "graph/program/graph.h"

enum {
  TESELA__HLO_DEPTH = 64,             /* nested calls */
  TESELA__HLO_INSTRUCTIONS = 1 << 20, /* over all computations, once per use */
};

/* A part of the text. */
typedef struct tesela__hlo_span {
  size_t at, n;
} tesela__hlo_span;

/* ---- characters ---- */

/* A reader of a part; names may have any bytes except blanks and separators. */
static inline tesela__reader tesela__hlo_text(const char *text, tesela__hlo_span span, tesela_error *err) {
  enum { WORD = TESELA__BYTE_NAME | TESELA__BYTE_DOT | TESELA__BYTE_DASH | TESELA__BYTE_SIGN };
  return (tesela__reader){text,         span.at + span.n, span.at, err, .blanks = TESELA__BLANKS_LOOSE,
                          .word = WORD, .glue = WORD};
}
tesela__hlo_span tesela__hlo_take_name(tesela__reader *r); /* after an optional %; n 0: no name */
/* A group with its content, strings included; the reader is at its first bracket. span: the inside. */
tesela_status tesela__hlo_take_group(tesela__reader *r, tesela__hlo_span *span);
tesela_status tesela__hlo_take_string(tesela__reader *r, tesela__hlo_span *span); /* at the quote */
/* The value of an attribute: a group, a string, or the text up to a comma or blank outside of brackets. */
tesela_status tesela__hlo_take_value(tesela__reader *r, tesela__hlo_span *span);
enum { TESELA__HLO_SHOWN = 64 };
/* A part for a message: one line, cut if it is long. */
const char *tesela__hlo_shown(const char *text, tesela__hlo_span span, char room[TESELA__HLO_SHOWN]);
bool tesela__hlo_same(const char *text, tesela__hlo_span span, const char *word);

/* ---- a module ---- */

typedef struct tesela__hlo_instruction {
  tesela__hlo_span name, opcode, inside, attributes; /* inside: between the parentheses */
  size_t shape;                                      /* where its shape starts */
  int32_t computation;
  int32_t operand, n_operands; /* numbers of instructions, at module->operand[operand] */
  int32_t uses, scalar_uses;   /* uses as an operand; uses only for its value */
  bool tuple, dynamic;         /* its shape is a tuple; it has a dim of unknown extent */
} tesela__hlo_instruction;

typedef struct tesela__hlo_computation {
  tesela__hlo_span name;
  int32_t first, n, root;
} tesela__hlo_computation;

typedef struct tesela__hlo_module {
  tesela_allocator allocator;
  const char *text;
  size_t length;
  tesela__hlo_computation *computation;
  tesela__hlo_instruction *instruction;
  int32_t *operand, *slot;
  size_t n_computations, n_instructions, n_operands, n_slots;
  size_t computation_room, instruction_room, operand_room;
  int32_t entry;
  bool dynamic; /* an instruction is dynamic */
} tesela__hlo_module;

tesela_status tesela__hlo_module_read(tesela__hlo_module *module, tesela_error *err);
void tesela__hlo_module_release(tesela__hlo_module *module);
/* The computation that an attribute names, or -1. */
int32_t tesela__hlo_module_find(const tesela__hlo_module *module, tesela__hlo_span name);

/* ---- attributes ---- */

/* The value of an attribute of an instruction; n 0 and at 0 without it. */
tesela__hlo_span tesela__hlo_attribute(const tesela__hlo_module *module, const tesela__hlo_instruction *in,
                                       const char *key);
/* Numbers of `{1,2}`; returns their count, or -1 unless the attribute is such a list of at most `room`. */
int32_t tesela__hlo_list(const tesela__hlo_module *module, const tesela__hlo_instruction *in, const char *key,
                         int32_t room, int32_t *list);
/* The same, but a missing attribute is an empty list. */
int32_t tesela__hlo_list_or_none(const tesela__hlo_module *module, const tesela__hlo_instruction *in,
                                 const char *key, int32_t room, int32_t *list);
bool tesela__hlo_integer(const char *text, tesela__hlo_span span, int64_t *value);
/* Cut a part at a character: returns the text before it; *rest receives the text after (n 0 at the end). */
tesela__hlo_span tesela__hlo_cut(const char *text, tesela__hlo_span *rest, char c);
tesela__hlo_span tesela__hlo_trim(const char *text, tesela__hlo_span span);

/* ---- numbers ---- */

/* A number of a constant: 1, -inf, nan, true, 0x1p3. false: not a number. */
bool tesela__hlo_number(const char *text, tesela__hlo_span span, double *value);
/* The one value of all elements of a literal. *splat false: the elements differ, or their values are not given. */
tesela_status tesela__hlo_literal(const tesela__hlo_module *module, const tesela__hlo_instruction *in,
                                  int64_t elements, bool *splat, double *value, tesela_error *err);
void tesela__hlo_put_number(tesela__sink *sink, double value);

/* ---- building ---- */

/* A value: a node, or one of these: */
enum {
  TESELA__HLO_UNSET = -1,
  TESELA__HLO_TUPLE = -2,    /* elements first .. first + count - 1 of the pool */
  TESELA__HLO_CONSTANT = -3, /* of instruction `first`: becomes a node when needed */
  TESELA__HLO_ARGUMENTS = -4 /* an input tuple: its elements become inputs */
};
typedef struct tesela__hlo_value {
  int32_t node, first, count;
} tesela__hlo_value;

/* A computation during its walk. */
typedef struct tesela__hlo_frame {
  const tesela__hlo_computation *computation;
  tesela__hlo_value *value; /* of its instructions */
  const tesela__hlo_value *argument;
  int32_t n_arguments, depth;
  char prefix[TESELA_GRAPH_NAME]; /* of names: that of the caller and a dot; "" in the entry */
  bool too_long;                  /* the prefix did not fit: names are generated */
} tesela__hlo_frame;

typedef struct tesela__hlo_build tesela__hlo_build;

/* Adds the nodes of an instruction; leaves *out unset if no class matches: then it becomes a fallback. */
typedef tesela_status tesela__hlo_handler(tesela__hlo_build *b, const tesela__hlo_instruction *in,
                                          tesela__hlo_value *out);

struct tesela__hlo_build {
  const tesela__hlo_module *module;
  tesela_allocator allocator;
  tesela_graph *graph;
  const tesela_target *target;
  tesela__hlo_handler *value; /* value of any instruction, checked: called by a walk */
  tesela__hlo_frame *frame;
  tesela__hlo_value *pool;
  size_t n_pool, pool_room;
  tesela_graph_read_facts facts;
  tesela_error *err;
  /* the result of the current instruction, from the text */
  tesela_dtype dtype;
  int32_t rank;
  int64_t shape[TESELA_GRAPH_RANK];
};

typedef struct tesela__hlo_opcode {
  const char *name;
  tesela__hlo_handler *build;
  tesela_fn fn;
} tesela__hlo_opcode;
/* The row of an opcode in a table that is sorted by name, or NULL. */
const tesela__hlo_opcode *tesela__hlo_opcode_in(const tesela__hlo_opcode *rows, size_t n, const char *text,
                                                tesela__hlo_span opcode);
tesela__hlo_handler *tesela__hlo_handler_of(const char *text, tesela__hlo_span opcode); /* NULL: a fallback */
/* The function of a pointwise opcode; NONE for other opcodes. */
tesela_fn tesela__hlo_function_of(const char *text, tesela__hlo_span opcode);
const char *tesela__hlo_opcode_of(tesela_fn fn); /* of a pointwise function, or NULL */

tesela_status tesela__hlo_fail(tesela__hlo_build *b, const tesela__hlo_instruction *in, tesela_status status,
                               const char *format, ...) TESELA_PRINTF(4, 5);
/* The value of operand k; the value of an instruction by its number. */
tesela__hlo_value *tesela__hlo_value_of(tesela__hlo_build *b, const tesela__hlo_instruction *in, int32_t k);
/* Operand k as a node. TESELA_E_INVALID if it is missing or a tuple. */
tesela_status tesela__hlo_operand(tesela__hlo_build *b, const tesela__hlo_instruction *in, int32_t k,
                                  int32_t *node);
/* The same for an operator that needs its operand's lanes: a view of a constant becomes a constant of its own shape, in any
 * stick. */
tesela_status tesela__hlo_operand_laid_out(tesela__hlo_build *b, const tesela__hlo_instruction *in, int32_t k,
                                           int32_t *node);
/* Operand k as a known constant, also through views. */
bool tesela__hlo_scalar(tesela__hlo_build *b, const tesela__hlo_instruction *in, int32_t k, double *value);
/* Add a node of the instruction. Its name is that of the instruction, plus `suffix` unless that is NULL. */
tesela_status tesela__hlo_add(tesela__hlo_build *b, const tesela__hlo_instruction *in, const char *suffix,
                              tesela_node_spec *spec, int32_t *node);
/* A node in another shape: a view if possible, else a clone. */
tesela_status tesela__hlo_reshape(tesela__hlo_build *b, const tesela__hlo_instruction *in, const char *suffix,
                                  int32_t x, int32_t rank, const int64_t *shape, int32_t *node);
/* x with `dims` reversed. */
tesela_status tesela__hlo_reverse_dims(tesela__hlo_build *b, const tesela__hlo_instruction *in,
                                       const char *suffix, int32_t n, const int32_t *dims, int32_t x,
                                       int32_t *node);
/* Is the order 0, 1, .. n - 1? */
bool tesela__hlo_is_identity(int32_t n, const int32_t *order);
tesela_status tesela__hlo_permute(tesela__hlo_build *b, const tesela__hlo_instruction *in, const char *suffix,
                                  int32_t x, const int32_t *dims, int32_t *node);
/* `window`: of each spatial dim, or of each dim of reduce-window. */
typedef struct tesela__hlo_window {
  int64_t size[TESELA_GRAPH_RANK], stride[TESELA_GRAPH_RANK], low[TESELA_GRAPH_RANK], high[TESELA_GRAPH_RANK],
      dilation[TESELA_GRAPH_RANK], x_dilation[TESELA_GRAPH_RANK], reversed[TESELA_GRAPH_RANK];
} tesela__hlo_window;
/* Read the window of n dims. false: not such a text. */
bool tesela__hlo_window_read(const tesela__hlo_module *module, const tesela__hlo_instruction *in, int32_t n,
                             tesela__hlo_window *window);
/* The dim along which the windows of x extend from an end to each element, or -1; *reverse: from the last element. */
int32_t tesela__hlo_window_cumulates(const tesela_node *x, const tesela__hlo_window *window, bool *reverse);
/* Evaluate a computation on scalars that only compares its n parameters; results: of its root, or of the tuple there. false: it
 * does more. */
bool tesela__hlo_region_compute(const tesela__hlo_module *module, int32_t computation, int32_t n,
                                const double *parameter, int32_t n_results, double *result);
/* The order that a comparison of n pairs gives operand `key` of a type. 1: the least first, -1: the greatest first; 0: neither.
 * */
int32_t tesela__hlo_region_order(const tesela__hlo_module *module, int32_t computation, int32_t n,
                                 int32_t key, tesela_dtype dtype);
/* Does a fold of pairs (value of a type, index) keep the greatest (1) or the least (-1), with NaN before all numbers, and of
 * equal ones the first? */
int32_t tesela__hlo_region_extreme(const tesela__hlo_module *module, int32_t computation, tesela_dtype dtype);
/* A fold along one dim that no function expresses. */
tesela_status tesela__hlo_fold_along(tesela__hlo_build *b, const tesela__hlo_instruction *in, int32_t dim,
                                     tesela__hlo_value *out);
/* An unknown function, element by element, of operands of the result's shape; leaves *out unset for other shapes. */
tesela_status tesela__hlo_fused(tesela__hlo_build *b, const tesela__hlo_instruction *in, const char *opcode,
                                tesela__hlo_value *out);
/* A tuple of n values in the pool, for the caller to fill in. */
tesela_status tesela__hlo_make_tuple(tesela__hlo_build *b, int32_t n, tesela__hlo_value *out);
/* The shapes of a tuple of n arrays, from the text; false for any other text. */
bool tesela__hlo_elements(const tesela__hlo_module *module, const tesela__hlo_instruction *in, int32_t n,
                          tesela_xla_shape *shape);
/* The fold of a function, and its neutral initial value. false: not a fold. */
bool tesela__hlo_neutral(tesela_fn fn, tesela_dtype dtype, tesela_fn *fold, double *neutral);
/* The shape of an instruction's array in the text. */
tesela_status tesela__hlo_array(tesela__hlo_build *b, const tesela__hlo_instruction *in,
                                tesela_xla_shape *shape);
tesela_status tesela__hlo_fallback(tesela__hlo_build *b, const tesela__hlo_instruction *in,
                                   tesela__hlo_value *out);
/* The arrays of the root's value as outputs. */
tesela_status tesela__hlo_outputs(tesela__hlo_build *b, const tesela__hlo_instruction *root,
                                  tesela__hlo_value value);
/* The function of a computation with one instruction on its two parameters, apart from conversions. NONE: something else;
 * `second` true: it returns its second parameter. */
tesela_fn tesela__hlo_region(const tesela__hlo_build *b, const tesela__hlo_instruction *in, bool *second);
/* Walk a computation; *root receives the value of its root. */
tesela_status tesela__hlo_walk(tesela__hlo_build *b, int32_t number, tesela__hlo_frame *frame,
                               tesela__hlo_value *root);
tesela_status tesela__hlo_input(tesela__hlo_build *b, const tesela__hlo_instruction *in,
                                tesela__hlo_value *out);
/* Add the inputs of the entry computation in the order of parameter numbers, if the text has another order. */
tesela_status tesela__hlo_inputs_first(tesela__hlo_build *b);
/* The stick of an input whose layout is the target's; else TESELA_STICK_FREE. */
int32_t tesela__hlo_stick(const tesela_target *target, const tesela_xla_shape *shape);

tesela__hlo_handler tesela__hlo_pointwise, tesela__hlo_map, tesela__hlo_parameter, tesela__hlo_constant,
    tesela__hlo_iota, tesela__hlo_tuple, tesela__hlo_element, tesela__hlo_same_value, tesela__hlo_copy_start,
    tesela__hlo_call, tesela__hlo_done, tesela__hlo_broadcast, tesela__hlo_transpose, tesela__hlo_reshaped,
    tesela__hlo_sliced, tesela__hlo_reverse, tesela__hlo_concatenate, tesela__hlo_pad,
    tesela__hlo_dynamic_slice, tesela__hlo_dynamic_update, tesela__hlo_reduce, tesela__hlo_dot,
    tesela__hlo_convolution, tesela__hlo_reduce_window, tesela__hlo_sort, tesela__hlo_topk,
    tesela__hlo_custom_call, tesela__hlo_collective, tesela__hlo_collective_done, tesela__hlo_gather,
    tesela__hlo_scatter, tesela__hlo_bitcast, tesela__hlo_fallback;

/* ---- lookups in several dims ---- */

/* The number of an element over dims that are looked up together, under construction. */
typedef struct tesela__hlo_linear {
  tesela__hlo_build *b;
  const tesela__hlo_instruction *in;
  tesela_dtype dtype;
  int64_t stride[TESELA_GRAPH_RANK]; /* of each dim */
  int32_t number, fits;              /* nodes, or -1 */
} tesela__hlo_linear;

/* Begin for n dims of these extents and indices of that type. false: numbers would not fit, or the type is not an integer. */
bool tesela__hlo_linear_begin(tesela__hlo_linear *l, int32_t n, const int64_t *extent, tesela_dtype dtype);
/* Add clamp(0, node, most) * stride. `check`: the number is -1 if clamping changes the node. */
tesela_status tesela__hlo_linear_index(tesela__hlo_linear *l, int32_t node, int64_t most, int64_t stride,
                                       bool check);
/* Add the index of dim `dim`, of a tensor of this shape, times stride. */
tesela_status tesela__hlo_linear_count(tesela__hlo_linear *l, int32_t rank, const int64_t *shape, int32_t dim,
                                       int64_t stride);
/* More dims `first` .. rank-1: elements of a window, each with its stride. l->number is complete then. */
tesela_status tesela__hlo_linear_end(tesela__hlo_linear *l, int32_t rank, const int64_t *shape, int32_t first,
                                     const int64_t *stride);

/* Lookups beyond whole rows of one dim: x, indices, and values of a scatter; else leaves *out unset. */
tesela_status tesela__hlo_gather_many(tesela__hlo_build *b, const tesela__hlo_instruction *in,
                                      const int32_t *operand, tesela__hlo_value *out);
tesela_status tesela__hlo_scatter_many(tesela__hlo_build *b, const tesela__hlo_instruction *in, tesela_fn fn,
                                       const int32_t *operand, tesela__hlo_value *out);
/* dynamic-slice and dynamic-update-slice at unknown positions. */
tesela_status tesela__hlo_slice_many(tesela__hlo_build *b, const tesela__hlo_instruction *in, int32_t x,
                                     tesela__hlo_value *out);
tesela_status tesela__hlo_update_many(tesela__hlo_build *b, const tesela__hlo_instruction *in, int32_t x,
                                      int32_t piece, tesela__hlo_value *out);

/* Dims merged into one, at the position of the first. */
typedef struct tesela__hlo_merged {
  int32_t rank, n, dim; /* rank of the tensor; number of merged dims; the merged dim */
  int64_t shape[TESELA_GRAPH_RANK];
  int32_t order[TESELA_GRAPH_RANK]; /* the tensor's dims with the merged ones adjacent */
} tesela__hlo_merged;
tesela_status tesela__hlo_merge(tesela__hlo_build *b, const tesela__hlo_instruction *in, int32_t n,
                                const int32_t *dims, tesela__hlo_merged *merged, int32_t *x);
/* A tensor of the merged shape in its original shape; the last node has the instruction's name. */
tesela_status tesela__hlo_unmerge(tesela__hlo_build *b, const tesela__hlo_instruction *in,
                                  const tesela__hlo_merged *merged, int32_t *x);

/* ---- notes ---- */

/* Does the instruction have a note that describes its node? */
bool tesela__hlo_has_note(const tesela__hlo_module *module, const tesela__hlo_instruction *in,
                          tesela__hlo_span *note);
tesela_status tesela__hlo_from_note(tesela__hlo_build *b, const tesela__hlo_instruction *in,
                                    tesela__hlo_span note, tesela__hlo_value *out);
/* A value in frontend_attributes; n 0 without it. */
tesela__hlo_span tesela__hlo_frontend(const tesela__hlo_module *module, const tesela__hlo_instruction *in,
                                      const char *key);

/* ---- printing ---- */

typedef struct tesela__hlo_printer {
  const tesela_graph *graph;
  tesela__sink *sink;
  int32_t n_inputs; /* parameters printed so far */
} tesela__hlo_printer;

/* Opcode, operands and attributes of a node in HLO; false: HLO cannot express it exactly, nothing is printed. */
bool tesela__hlo_print_op(tesela__hlo_printer *p, const tesela_node *node);
/* The same for lookups, pieces and views. */
bool tesela__hlo_print_piece(tesela__hlo_printer *p, const tesela_node *node);
/* Print the constants that an instruction needs and that are not nodes; its operands, followed by n of them (-1: by the only
 * one). */
void tesela__hlo_print_before(tesela__hlo_printer *p, const tesela_node *node);
void tesela__hlo_print_with_scalars(tesela__hlo_printer *p, const char *opcode, const tesela_node *node,
                                    const char *word, int32_t n);
void tesela__hlo_print_value(tesela__sink *sink, tesela_dtype dtype, double value);
/* The same for operators with windows. */
bool tesela__hlo_print_convolution(tesela__hlo_printer *p, const tesela_node *node);
bool tesela__hlo_print_reduce_window(tesela__hlo_printer *p, const tesela_node *node);
/* Does the printed constant read back as the node's value? */
bool tesela__hlo_plain_value(const tesela_node *node);
/* The note that describes a node completely, without the quotes. */
void tesela__hlo_print_note(tesela__hlo_printer *p, const tesela_node *node);
void tesela__hlo_print_operands(tesela__hlo_printer *p, const tesela_node *node);
void tesela__hlo_print_list(tesela__sink *sink, int32_t n, const int32_t *list);
const char *tesela__hlo_type_name(const tesela_node *node);

#endif
