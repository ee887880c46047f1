/* SPDX-License-Identifier: Apache-2.0 */
/*
 * emit.h - what the files that write source code share.
 *
 *   emit.c                  names; a number that depends on the lane, as an expression
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

/* TESELA_E_INVALID unless it is an identifier of C and C++, of up to 100 characters. */
tesela_status tesela__emit_check_name(const char *name, tesela_error *err);

typedef struct tesela__emit {
  tesela__sink sink;
  const char *name;
  const char *element; /* the type of an element */
  int32_t bits;        /* of it */
} tesela__emit;
/* A text in which %N is the name, %T the type of an element, %D the next of the numbers (int64_t). */
void tesela__emit_text(tesela__emit *e, const char *text, const int64_t *numbers);
#define TESELA__EMIT(e, text, ...) tesela__emit_text(e, text, (const int64_t[]){0, __VA_ARGS__} + 1)

/* An expression of `lane` with this value in each lane; a value below 0 may be anything. */
void tesela__emit_lane_number(tesela__emit *e, const int32_t *value, int32_t warp);

/* Variables by number: LOW0, LOW1, ... up to `split`, then HIGH0, HIGH1, ... */
typedef struct tesela__emit_names {
  const char *low, *high;
  int32_t split;
} tesela__emit_names;

/* An expression of `lane` and `bit` that is the variable of number value[lane]; below 0 it may be any. */
void tesela__emit_lane_choice(tesela__emit *e, const tesela__emit_names *names, const int32_t *value,
                              int32_t warp);

/* Digits of a number: number / step % extent * weight; `size` is above all numbers. */
typedef struct tesela__emit_digit {
  int64_t step, extent, weight;
} tesela__emit_digit;
/* Their sum, after `lead`; neighbours that make one digit are joined. Changes the list. Returns false, and writes
 * nothing, if it is 0. */
bool tesela__emit_digit_sum(tesela__emit *e, const char *lead, const char *number, int64_t size, int32_t n,
                            tesela__emit_digit *digit, const char *suffix);

/* The expression of a word at the start of a phase; of the unit that is part 0 of `made`. `before`: the words of the phase before. */
void tesela__emit_word(tesela__emit *e, const tesela_exchange *plan, const tesela__word_parts *made,
                       const char *before);
void tesela__emit_part(tesela__emit *e, const tesela_exchange *plan, const tesela__word_parts *made,
                       const char *before);

/* A plan through shared memory: the code before the conversion, and its body. */
void tesela__emit_memory_helpers(tesela__emit *e, const tesela_exchange *plan);
void tesela__emit_through_memory(tesela__emit *e, const tesela_exchange *plan);

#endif
