/* SPDX-License-Identifier: Apache-2.0 */
/*
 * register_text.h - register layouts and tiles in memory as text.
 *
 *   RegisterLayout(shape=[6, 12], mode_shape=[3, 2, 4, 3], spatial_modes=[1, 3], local_modes=[0, 2])
 *   local(3, 4).spatial(2, 3)          local(3, 4) * spatial(2, 3)        compose(local(3, 4), spatial(2, 3))
 *   reduce(spatial(3, 4), dims=[0])    spatial(12) / spatial(4)           mma.m16n8k16.f16.A
 *   shared_row_major(8, 64)            SharedLayout(shape=[8, 64], mode_shape=[8, 64], mode_strides=[64, 1], ...)
 *
 * Grammar (white space and a trailing comma anywhere they may stand in Python):
 *
 *   expression = term { ("*" | "/") term }                     left to right
 *   term       = primary { "." NAME "(" arguments ")" }        a method is a function of what stands before it
 *   primary    = NAME "(" arguments ")" | fragment | "(" expression ")"
 *   fragment   = NAME { "." NAME }                             a name of fragment.h
 *   arguments  = [ argument { "," argument } [ "," ] ]
 *   argument   = [ NAME "=" ] ( INTEGER | list | "True" | "False" | "None" | expression )
 *   list       = "[" [ INTEGER { "," INTEGER } [ "," ] ] "]" | the same in round brackets with a comma
 *
 * The methods local, spatial, column_local, column_spatial and repeat compose with that layout on the right; every other
 * function may be a method of its first argument. One table lists them all: tesela_expression_functions(). A function of
 * register layouts that tile_memory.h has too (compose, permute, reshape, ...) takes either; shared_permute, global_slice
 * and the like take their kind alone. Both sides of "*" are of one kind; "/" divides register layouts.
 *
 * "*shape" in a table row: numbers one by one or one list. For a list one number will do: reduce(spatial(3, 4), 0).
 */
#ifndef TESELA_REGISTER_TEXT_H
#define TESELA_REGISTER_TEXT_H

#include <tesela/tile_memory.h>

#ifdef __cplusplus
extern "C" {
#endif

#define TESELA_EXPRESSION_DEPTH 32     ///< parentheses and calls in each other
#define TESELA_EXPRESSION_LENGTH 65536 ///< bytes of an expression

typedef enum tesela_expression_kind {
  TESELA_EXPRESSION_REGISTER,
  TESELA_EXPRESSION_MEMORY
} tesela_expression_kind;

/// What an expression is: a register layout, or a tile in shared or global memory.
typedef struct tesela_expression {
  tesela_expression_kind kind;
  tesela_register registers; ///< if kind is TESELA_EXPRESSION_REGISTER
  tesela_tile_memory memory; ///< if kind is TESELA_EXPRESSION_MEMORY
} tesela_expression;

/// Read and evaluate an expression.
///
/// Example: "local(3, 4).spatial(2, 3)" is the first layout above; "spatial(3, 0)" is TESELA_E_RANGE with reason
/// SHAPE_NOT_POSITIVE and err->at 0, where the call begins.
///
/// @param text  `length` bytes, no NUL needed; any bytes
/// @return TESELA_OK; TESELA_E_SYNTAX for a text outside the grammar: err->at is the byte, the message says what was
///         found and what may stand there, and the nearest name for an unknown one; TESELA_E_LIMIT for nesting beyond
///         TESELA_EXPRESSION_DEPTH or a longer text; TESELA_E_OVERFLOW for an integer beyond 64 bits; what a function of
///         register.h or tile_memory.h refuses, with its reason, at the byte where its call begins (of a method: its
///         name; else the "*" or "/"); TESELA_E_MISMATCH for a layout of another kind than a function takes.
/// Any thread; O(length) and the cost of the operations. The C stack must have room for 160 KiB.
TESELA_API tesela_status tesela_expression_parse(const char *text, size_t length, tesela_expression *out,
                                                 tesela_error *err);

/// The same for a register layout alone: TESELA_E_MISMATCH if the expression is a tile in memory.
TESELA_API tesela_status tesela_register_parse(const char *text, size_t length, tesela_register *out,
                                               tesela_error *err);

/// The same for a tile in memory alone.
TESELA_API tesela_status tesela_tile_memory_parse(const char *text, size_t length, tesela_tile_memory *out,
                                                  tesela_error *err);

/// Could this text be an expression: does it begin with a name and "(", the name being one of the table or at least three
/// letters that are not near a type, or with a family of fragments and a dot? Blanks and "(" may stand before it. For
/// tools that read several notations. No error, O(1) behind these.
TESELA_API bool tesela_expression_looks_like(const char *text, size_t length);

/// Print "RegisterLayout(shape=[6, 12], mode_shape=[3, 2, 4, 3], spatial_modes=[1, 3], local_modes=[0, 2])", as given:
/// read back it is identical.
/// @return TESELA_OK; TESELA_E_STOPPED; what tesela_register_check refuses.
TESELA_API tesela_status tesela_register_print(const tesela_register *layout, const tesela_writer *to,
                                               tesela_error *err);

/// Print "SharedLayout(shape=[8, 64], mode_shape=[8, 64], mode_strides=[64, 1], swizzle=Swizzle(base=3, bits=3,
/// shift=3))" or "GlobalLayout(shape=.., mode_shape=.., mode_strides=..)"; offset=.. and size=.. only where they are not
/// 0 and what the rest says. Read back it is the same layout, size included.
/// @return TESELA_OK; TESELA_E_STOPPED; what tesela_tile_memory_make refuses of its fields; TESELA_E_RANGE for a size
///         below the least.
TESELA_API tesela_status tesela_tile_memory_print(const tesela_tile_memory *layout, const tesela_writer *to,
                                                  tesela_error *err);

/// Print a register layout as an expression: a chain of as few of local, spatial, column_local, column_spatial and
/// replicated as there can be, that read back is identical to the reduced layout; "local(2, 1).spatial(8, 4).local(1, 2)",
/// "spatial(4) * replicated(1, num_workers=3)". Where no chain says it (an outer mode of a dim is a faster digit than an
/// inner one), as tesela_register_print does. Statuses likewise; O(n_spatial * n_local * rank).
TESELA_API tesela_status tesela_register_print_expression(const tesela_register *layout,
                                                          const tesela_writer *to, tesela_error *err);

/// One function of the expression language.
typedef struct tesela_expression_function {
  const char *name;      ///< "reduce"
  const char *arguments; ///< "layout, dims, keepdims=False"
  const char *summary;   ///< one line
} tesela_expression_function;

/// All of them, sorted by name; *n receives how many, n may be NULL. Static memory.
TESELA_API const tesela_expression_function *tesela_expression_functions(int32_t *n);

#ifdef __cplusplus
}
#endif
#endif
