/* SPDX-License-Identifier: Apache-2.0 */
/*
 * register_read.h - a reader and evaluator of layout expressions: one pass, no memory.
 *
 *   register_arguments.c   the arguments of a call, read by the function's help text
 *   register_expression.c  terms, calls, methods, fragments; the public readers
 *   register_functions.c   the one table of functions
 *   register_evaluate*.c   their evaluators
 *   register_print.c       the printed forms
 *   register_chain.c       the shortest chain of primitives that expresses a layout
 *
 * A layout that waits for another one (`a` in a * f(b), `outer` in compose(outer, inner)) is on a stack of operands in
 * the reader; every open call adds at most two. Lists of numbers are not stored, only their position in the text; the
 * function that needs the numbers reads them again.
 *
 * On the C stack: 68 operands of 1576 bytes, 105 KiB, plus 32 levels of recursion and the operations; 150 KiB
 * measured for the deepest expressions, with gcc 12 -O2 on x86-64.
 */
#ifndef TESELA_SRC_REGISTER_READ_H
#define TESELA_SRC_REGISTER_READ_H

#include <tesela/notation.h>

#include "base/reader.h"

/* Kinds of operands; a function accepts a sum of these. */
enum {
  TESELA__OPERAND_REGISTER = 1,
  TESELA__OPERAND_SHARED = 2,
  TESELA__OPERAND_GLOBAL = 4,
  TESELA__OPERAND_SWIZZLE = 8,
  TESELA__OPERAND_MEMORY = TESELA__OPERAND_SHARED | TESELA__OPERAND_GLOBAL,
  TESELA__OPERAND_LAYOUT = TESELA__OPERAND_REGISTER | TESELA__OPERAND_MEMORY,
};

typedef struct tesela__operand {
  int32_t kind; /* one TESELA__OPERAND_ bit */
  union {
    tesela_register registers;
    tesela_tile_memory memory;
    tesela_tile_swizzle swizzle;
  };
} tesela__operand;

/* Two per open call, and those of the innermost one: compose(a, a * a). */
enum { TESELA__OPERANDS = 2 * TESELA_EXPRESSION_DEPTH + 4 };

typedef struct tesela__expression_reader {
  tesela__reader in;
  int32_t depth; /* open brackets and calls */
  int32_t n_operands;
  tesela__operand operand[TESELA__OPERANDS];
} tesela__expression_reader;

/* ---- calls ---- */

enum { TESELA__PARAMETERS = 6 };

typedef enum tesela__parameter_kind {
  TESELA__PARAMETER_LAYOUT,
  TESELA__PARAMETER_SWIZZLE,
  TESELA__PARAMETER_LIST,
  TESELA__PARAMETER_NUMBER,
  TESELA__PARAMETER_BOOL,
} tesela__parameter_kind;

/* One word of tesela_expression_function.arguments, and its value in the call. */
typedef struct tesela__argument {
  const char *name;
  int32_t name_length;
  tesela__parameter_kind kind;
  bool star;       /* "*shape": numbers one by one, or one list */
  bool optional;   /* has a default */
  bool seen;       /* given in the call */
  bool given;      /* has a value: from the call, or a default other than None */
  int32_t count;   /* LIST: numbers, from byte `at` on */
  int32_t operand; /* LAYOUT, SWIZZLE: its number on the stack */
  size_t at;       /* first byte of its value, or of the call */
  int64_t number;  /* NUMBER, BOOL */
} tesela__argument;

typedef struct tesela__function_call tesela__function_call;

/* Evaluates a function. `out` may be an operand of the call; out->kind is valid afterwards. */
typedef tesela_status tesela__evaluate(const tesela__function_call *call, tesela__operand *out,
                                       tesela_error *err);

struct tesela__function_call {
  tesela__expression_reader *reader;
  const tesela_expression_function *function;
  tesela__evaluate *evaluate;
  int32_t takes; /* accepted kinds of layouts */
  bool composes; /* as a method: receiver * this */
  int32_t base;  /* operand that receives the result */
  size_t at;     /* byte of the name */
  int32_t n;     /* arguments */
  tesela__argument argument[TESELA__PARAMETERS];
};

/* ---- register_arguments.c ---- */

/* Read the arguments of a call and its ')'; `in_front`: the operand that a method is called on, or -1. */
tesela_status tesela__call_arguments(tesela__function_call *call, int32_t in_front);

/* ---- register_expression.c ---- */

/* "expected X, found Y", and ": name(arguments)" of the function, which may be NULL. */
tesela_status tesela__expression_unexpected(tesela__expression_reader *reader, const char *expected,
                                            const tesela_expression_function *function);
/* Read an integer; TESELA_E_SYNTAX for "3x", TESELA_E_OVERFLOW beyond 64 bits. */
static inline tesela_status tesela__expression_number(tesela__expression_reader *reader, int64_t *number) {
  return tesela__read_any_integer(&reader->in, "a whole number", TESELA_E_OVERFLOW, number);
}
/* Read an expression; its value becomes the top operand. */
tesela_status tesela__expression_read(tesela__expression_reader *reader);

/* ---- register_evaluate.c, register_evaluate_tile.c ---- */

typedef struct tesela__numbers {
  int32_t n;
  int64_t number[TESELA_REGISTER_MODES];
} tesela__numbers;

/* Read the numbers of argument k again from the text; they were valid before, so it cannot fail. */
void tesela__call_numbers(const tesela__function_call *call, int32_t k, tesela__numbers *list);
/* The layout of argument k. */
const tesela__operand *tesela__call_operand(const tesela__function_call *call, int32_t k);
/* Check that the lists of arguments a and b have the same length. */
tesela_status tesela__call_same_length(const tesela__function_call *call, int32_t a,
                                       const tesela__numbers *list_a, int32_t b,
                                       const tesela__numbers *list_b, tesela_reason reason);
/* a * b and a / b, into a. */
tesela_status tesela__operand_compose(tesela__operand *a, const tesela__operand *b, tesela_error *err);
tesela_status tesela__operand_divide(tesela__operand *a, const tesela__operand *b, tesela_error *err);
/* Kinds in words: "a register layout". */
const char *tesela__operand_text(int32_t kind);

tesela__evaluate tesela__eval_auto, tesela__eval_canonicalize, tesela__eval_column_local,
    tesela__eval_column_spatial, tesela__eval_compose, tesela__eval_concat, tesela__eval_divide,
    tesela__eval_flatten, tesela__eval_global_column, tesela__eval_global_parts, tesela__eval_global_row,
    tesela__eval_global_strided, tesela__eval_layout, tesela__eval_layout_raw, tesela__eval_left_divide,
    tesela__eval_local, tesela__eval_permute, tesela__eval_prepend, tesela__eval_reduce,
    tesela__eval_reduce_to, tesela__eval_reduced, tesela__eval_repeat_to, tesela__eval_replicated,
    tesela__eval_reshape, tesela__eval_retain, tesela__eval_shared_column, tesela__eval_shared_parts,
    tesela__eval_shared_row, tesela__eval_shared_strided, tesela__eval_slice, tesela__eval_spatial,
    tesela__eval_squeeze, tesela__eval_swizzle, tesela__eval_swizzled, tesela__eval_transpose,
    tesela__eval_unsqueeze, tesela__eval_wgmma, tesela__eval_with_shape, tesela__eval_with_size,
    tesela__eval_with_swizzle;

/* ---- register_functions.c ---- */

/* Fill in function, evaluate, takes and composes; false for an unknown name. */
bool tesela__function_find(const char *name, size_t length, tesela__function_call *call);
/* The function nearest to a misspelt name, or NULL. */
const char *tesela__function_nearest(const char *name, size_t length);

/* ---- register_chain.c ---- */

/* Print the shortest chain that is exactly this reduced layout; *found false: no chain, prints nothing. */
void tesela__register_chain(const tesela_register *reduced, tesela__sink *sink, bool *found);

/* Does a text begin like an expression, perhaps misspelt: a name and "(", or a family of fragments and a dot? The name
 * is in the table, or has at least three bytes and is not near a type. Leading blanks and "(" are skipped. */
bool tesela__expression_near(const char *text, size_t length);

#endif
