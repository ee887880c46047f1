/* SPDX-License-Identifier: Apache-2.0 */
/*
 * infer_give.c - finds tensors of a kernel program by name, and sets the layouts that rules give them.
 */
#include "infer/infer_state.h"

#include <assert.h>
#include <stdarg.h>
#include <stdio.h>

int32_t tesela__infer_find(const tesela_kernel_program *program, const char *name, size_t length) {
  if (length > TESELA_KERNEL_NAME) return -1;
  for (size_t i = 0; i < program->n_tensors; i++) {
    const char *known = program->tensor[i].name;
    if (memcmp(known, name, length) == 0 && known[length] == '\0') return (int32_t)i;
  }
  return -1;
}

tesela_status tesela__infer_give(tesela_kernel_program *program, tesela__infer_tensor *tensor,
                                 const tesela_register *layout, const tesela__infer_step *step, bool *gave,
                                 tesela_error *err, const char *rule, ...) {
  assert(layout->spatial_size == program->threads); /* the reader checks it, and no rule changes it */
  if (tensor->registers) return TESELA_OK;
  tesela_register *kept = tesela__alloc(&program->allocator, sizeof *kept, alignof(tesela_register));
  if (!kept) return tesela__fail(err, TESELA_E_MEMORY, -1, "no memory for the layout of %s", tensor->name);
  tesela_register_reduced(kept, layout);
  tensor->registers = kept;
  tensor->decided = program->n_decided;
  *gave = true;
  int n = 0;
  if (step)
    n = snprintf(tensor->rule, sizeof tensor->rule, "line %" PRId64 ", %s: ", step->line, step->op->name);
  va_list args;
  va_start(args, rule);
  vsnprintf(tensor->rule + n, sizeof tensor->rule - (size_t)n, rule, args);
  va_end(args);
  return TESELA_OK;
}

tesela_status tesela__infer_give_memory(tesela_kernel_program *program, tesela__infer_tensor *tensor,
                                        const tesela_tile_memory *memory, const char *rule,
                                        tesela_error *err) {
  tesela_tile_memory *kept = tesela__alloc(&program->allocator, sizeof *kept, alignof(tesela_tile_memory));
  if (!kept) return tesela__fail(err, TESELA_E_MEMORY, -1, "no memory for the layout of %s", tensor->name);
  *kept = *memory;
  tensor->memory = kept;
  tensor->decided = program->n_decided;
  snprintf(tensor->rule, sizeof tensor->rule, "%s", rule);
  return TESELA_OK;
}
