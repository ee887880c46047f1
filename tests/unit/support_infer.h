/* SPDX-License-Identifier: Apache-2.0 */
/*
 * support_infer.h - kernel programs run by the definition, on small integers, with registers for each thread.
 */
#ifndef TESELA_SUPPORT_INFER_H
#define TESELA_SUPPORT_INFER_H

#include <tesela/tesela.h>

/* The program of a text, and a tensor of it; an invalid text fails the test `name`. */
tesela_kernel_program *infer_program(const char *name, const char *text);
tesela_tensor infer_tensor(const tesela_kernel_program *program, const char *name);

/* The result of a run: the line of the first operation that cannot run on these layouts, and why; 0 if all values are
 * right. */
typedef struct infer_run {
  int64_t line;
  char what[200];
} infer_run;

/* Run `text` with the layouts of `program` (inferred from it). All must be known. */
infer_run infer_simulate(const tesela_kernel_program *program, const char *text);

/* Bits of an element. Can all threads move their registers from or to a tile in memory, in vectors of whole bytes? Can
 * a tile in memory be copied through registers? From bits and places alone. */
int32_t infer_bits(tesela_dtype dtype);
bool infer_can_move(const tesela_register *layout, const tesela_tile_memory *memory, int32_t bits);
bool infer_can_copy(const tesela_tile_memory *to, const tesela_tile_memory *from, int32_t bits);

/* Does a thread hold an element, by its row-major number? */
bool infer_holds(const tesela_register *layout, int64_t thread, int64_t element);

#endif
