/* SPDX-License-Identifier: Apache-2.0 */
/*
 * emit.h - declarations that the files for emitted source code share.
 *
 *   emit.c                  names; a number or variable that depends on the lane, as an expression
 *   exchange_cuda.c         a conversion: registers and shuffles, the kernel around it
 *   exchange_cuda_words.c   words of several units in it
 *   exchange_cuda_memory.c  a conversion through shared memory
 *   register_c.c            thread and local id of an element, in C
 */
#ifndef TESELA_SRC_CODEGEN_EMIT_H
#define TESELA_SRC_CODEGEN_EMIT_H

#include <tesela/access.h>

#include "base/base.h"
#include "gpu/exchange/exchange.h"

enum { TESELA__EMIT_LANES = 32 };

/* TESELA_E_INVALID unless it is an identifier in C and C++ of up to 100 characters. */
tesela_status tesela__emit_check_name(const char *name, tesela_error *err);

typedef struct tesela__emit {
  tesela__sink sink;
  const char *name;
  const char *element; /* type name */
  int32_t bits;        /* of an element */
} tesela__emit;
/* Write a text in which %N is the name, %T the type of an element, and %D the next of the numbers (int64_t). */
void tesela__emit_text(tesela__emit *e, const char *text, const int64_t *numbers);
#define TESELA__EMIT(e, text, ...) tesela__emit_text(e, text, (const int64_t[]){0, __VA_ARGS__} + 1)

/* Write an expression of `lane` with this value in each lane; a value below 0 matches anything. */
void tesela__emit_lane_number(tesela__emit *e, const int32_t *value, int32_t warp);

/* Variable n is LOW<n> if n < split, else HIGH<n - split>. */
typedef struct tesela__emit_names {
  const char *low, *high;
  int32_t split;
} tesela__emit_names;

/* Write an expression of `lane` and `bit` that is variable value[lane]; a value below 0 matches any variable. */
void tesela__emit_lane_choice(tesela__emit *e, const tesela__emit_names *names, const int32_t *value,
                              int32_t warp);

/* A digit of a number: number / step % extent * weight. All numbers are less than `size`. */
typedef struct tesela__emit_digit {
  int64_t step, extent, weight;
} tesela__emit_digit;
/* Write the sum of the digits after `lead`, with adjacent digits joined if possible. Changes the list. Returns false
 * and writes nothing if the sum is 0. */
bool tesela__emit_digit_sum(tesela__emit *e, const char *lead, const char *number, int64_t size, int32_t n,
                            tesela__emit_digit *digit, const char *suffix);

/* Write the expression of a word at the start of a phase, or of the unit in part 0 of `made`. `before` is the variable
 * prefix of the words of the previous phase. */
void tesela__emit_word(tesela__emit *e, const tesela_exchange *plan, const tesela__word_parts *made,
                       const char *before);
void tesela__emit_part(tesela__emit *e, const tesela_exchange *plan, const tesela__word_parts *made,
                       const char *before);

/* For a plan through shared memory: the code before the conversion, and its body. */
void tesela__emit_memory_helpers(tesela__emit *e, const tesela_exchange *plan);
void tesela__emit_through_memory(tesela__emit *e, const tesela_exchange *plan);

#endif
