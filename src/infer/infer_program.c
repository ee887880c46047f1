/* SPDX-License-Identifier: Apache-2.0 */
/*
 * infer_program.c - a kernel program as a value: creation, queries.
 */
#include "infer/infer_state.h"

tesela_status tesela_kernel_program_create(tesela_kernel_program **out, const char *text, size_t length,
                                           const tesela_allocator *allocator, tesela_error *err) {
  TESELA__NEED(err, out);
  TESELA__NEED_LIST(err, text, length);
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

/* ---- queries ------------------------------------------------------------------------------------------- */

int64_t tesela_kernel_program_threads(const tesela_kernel_program *program) {
  return program ? program->threads : 0;
}

int32_t tesela_kernel_program_count(const tesela_kernel_program *program) {
  return program ? (int32_t)program->n_tensors : 0;
}

tesela_tensor tesela_kernel_program_tensor(const tesela_kernel_program *program, int32_t i) {
  if (!program) return (tesela_tensor){.name = "", .rule = ""};
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
  if (!program || !name) return -1;
  return tesela__infer_find(program, name, strlen(name));
}

const tesela_kernel_conflict *tesela_kernel_program_conflict(const tesela_kernel_program *program) {
  return program ? &program->conflict : NULL;
}
