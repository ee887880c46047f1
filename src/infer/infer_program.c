/* SPDX-License-Identifier: Apache-2.0 */
/*
 * infer_program.c - a kernel program as a value: making, giving layouts, asking.
 */
#include "infer/infer_state.h"

#include <assert.h>
#include <stdarg.h>
#include <stdio.h>

tesela_status tesela_kernel_program_create(tesela_kernel_program **out, const char *text, size_t length,
                                           const tesela_allocator *allocator, tesela_error *err) {
  tesela_allocator memory = tesela__allocator(allocator);
  tesela_kernel_program *program = tesela__alloc(&memory, sizeof *program, alignof(tesela_kernel_program));
  if (!program) return tesela__fail(err, TESELA_E_MEMORY, -1, "no memory for a program");
  *program = (tesela_kernel_program){.allocator = memory};
  tesela_status status = tesela__infer_read(program, text, length, err);
  if (status != TESELA_OK) {
    tesela_kernel_program_destroy(program);
    return status;
  }
  *out = program;
  return TESELA_OK;
}

void tesela_kernel_program_destroy(tesela_kernel_program *program) {
  if (!program) return;
  tesela_allocator memory = program->allocator;
  for (size_t i = 0; i < program->n_tensors; i++) {
    tesela__release(&memory, program->tensor[i].registers);
    tesela__release(&memory, program->tensor[i].memory);
  }
  tesela__release(&memory, program->tensor);
  tesela__release(&memory, program->step);
  tesela__release(&memory, program->arg);
  tesela__release(&memory, program->atom);
  tesela__release(&memory, program);
}

int32_t tesela__infer_find(const tesela_kernel_program *program, const char *name, size_t length) {
  if (length > TESELA_KERNEL_NAME) return -1;
  for (size_t i = 0; i < program->n_tensors; i++) {
    const char *known = program->tensor[i].name;
    if (memcmp(known, name, length) == 0 && known[length] == '\0') return (int32_t)i;
  }
  return -1;
}

/* ---- giving layouts ---------------------------------------------------------------------------------------------- */

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

/* ---- asking --------------------------------------------------------------------------------------------------------- */

int64_t tesela_kernel_program_threads(const tesela_kernel_program *program) { return program->threads; }

int32_t tesela_kernel_program_count(const tesela_kernel_program *program) {
  return (int32_t)program->n_tensors;
}

tesela_tensor tesela_kernel_program_tensor(const tesela_kernel_program *program, int32_t i) {
  if (i < 0 || (size_t)i >= program->n_tensors) return (tesela_tensor){.name = "", .rule = ""};
  const tesela__infer_tensor *tensor = &program->tensor[i];
  return (tesela_tensor){.name = tensor->name,
                         .space = tensor->space,
                         .dtype = tensor->dtype,
                         .rank = tensor->rank,
                         .shape = tensor->shape,
                         .given = tensor->given,
                         .registers = tensor->registers,
                         .memory = tensor->memory,
                         .rule = tensor->rule,
                         .line = tensor->line};
}

int32_t tesela_kernel_program_find(const tesela_kernel_program *program, const char *name) {
  return tesela__infer_find(program, name, strlen(name));
}

const tesela_kernel_conflict *tesela_kernel_program_conflict(const tesela_kernel_program *program) {
  return &program->conflict;
}
