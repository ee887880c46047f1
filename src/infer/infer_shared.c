/* SPDX-License-Identifier: Apache-2.0 */
/*
 * infer_shared.c - layouts for shared and global memory without one in the program.
 *
 * Global memory is row-major; shared memory is the result of tesela_synthesize for all registers that are loaded from it or
 * stored to it.
 */
#include "infer/infer_state.h"

tesela_status tesela__infer_global_memory(tesela_kernel_program *program, tesela_error *err) {
  for (size_t i = 0; i < program->n_tensors; i++) {
    tesela__infer_tensor *tensor = &program->tensor[i];
    tesela_tile_memory memory;
    if (tensor->space != TESELA_TENSOR_GLOBAL || tensor->memory) continue;
    if (tesela_tile_memory_row_major(&memory, TESELA_TILE_GLOBAL, tensor->rank, tensor->shape, NULL) !=
        TESELA_OK)
      continue;
    tesela_status status = tesela__infer_give_memory(program, tensor, &memory, "row-major (default)", err);
    if (status != TESELA_OK) return status;
  }
  return TESELA_OK;
}

/* The registers of one use: of a load or store, or those of a copy between memories. */
static bool infer_memory_use(const tesela_kernel_program *program, const tesela__infer_step *step,
                             const tesela__infer_tensor *shared, tesela_register *registers) {
  for (int32_t i = 0; i < 2 && step->n == 2; i++) {
    const tesela__infer_tensor *other = tesela__infer_arg(program, step, 1 - i);
    int64_t vector;
    if (tesela__infer_arg(program, step, i) != shared) continue;
    if (other->space != TESELA_TENSOR_REGISTER)
      return tesela__infer_memory_registers(program, shared, other->memory, registers, &vector) == TESELA_OK;
    if (!other->registers) return false;
    *registers = *other->registers;
    return true;
  }
  return false;
}

/* All uses of a shared tensor, equal ones once with their number as the weight. Both lists have room for one per
 * step. */
static int32_t infer_memory_uses(const tesela_kernel_program *program, const tesela__infer_tensor *shared,
                                 tesela_register *layouts, tesela_access_use *uses) {
  int32_t n = 0;
  for (size_t s = 0; s < program->n_steps; s++) {
    const tesela__infer_step *step = &program->step[s];
    bool reads = tesela__infer_arg(program, step, 0)->space == TESELA_TENSOR_REGISTER;
    int32_t same = 0;
    if (!infer_memory_use(program, step, shared, &layouts[n])) continue;
    while (same < n &&
           !(uses[same].ldmatrix == reads && tesela_register_identical(&layouts[same], &layouts[n])))
      same++;
    if (same == n) {
      uses[n] = (tesela_access_use){.registers = &layouts[n], .ldmatrix = reads};
      n++;
    }
    uses[same].weight++;
  }
  return n;
}

/* Row-major, with a swizzle if the tile allows it. */
static tesela_status infer_memory_plain(const tesela__infer_tensor *shared, tesela_tile_memory *memory,
                                        const char **rule) {
  int32_t bits = tesela_dtype_bits(shared->dtype);
  *rule = "row-major with a swizzle";
  if (bits % 8 == 0 &&
      tesela_tile_memory_swizzled(memory, shared->rank, shared->shape, bits / 8, NULL) == TESELA_OK)
    return TESELA_OK;
  *rule = "row-major";
  return tesela_tile_memory_row_major(memory, TESELA_TILE_SHARED, shared->rank, shared->shape, NULL);
}

/* Search steps for each shared tile, so that all together take about as long as one alone may. */
static int64_t infer_memory_steps(const tesela_kernel_program *program) {
  int64_t n = 1;
  for (size_t i = 0; i < program->n_tensors; i++) n += program->tensor[i].space == TESELA_TENSOR_SHARED;
  return tesela__max(TESELA_SYNTHESIS_STEPS / n, 1);
}

static tesela_status infer_memory_of_shared(tesela_kernel_program *program, tesela__infer_tensor *shared,
                                            tesela_register *layouts, tesela_access_use *uses,
                                            tesela_error *err) {
  tesela_synthesis found;
  const char *rule = "fewest bank conflicts for its loads and stores";
  int32_t n = infer_memory_uses(program, shared, layouts, uses), bits = tesela_dtype_bits(shared->dtype);
  const tesela_synthesis_options limits = {.max_steps = infer_memory_steps(program)};
  if (n > 0 && tesela_synthesize(n, uses, bits, &limits, NULL, &found, NULL) == TESELA_OK)
    return tesela__infer_give_memory(program, shared, &found.memory, rule, err);
  if (n > 0 && tesela__infer_memory_for(program, shared, NULL, &found.memory)) {
    rule = "first layout that all its loads and stores can use";
    return tesela__infer_give_memory(program, shared, &found.memory, rule, err);
  }
  if (infer_memory_plain(shared, &found.memory, &rule) != TESELA_OK) return TESELA_OK; /* too large for any */
  return tesela__infer_give_memory(program, shared, &found.memory, rule, err);
}

tesela_status tesela__infer_shared_memory(tesela_kernel_program *program, tesela_error *err) {
  tesela_status status = TESELA_OK;
  tesela_register *layouts = NULL;
  tesela_access_use *uses = NULL;
  size_t room = program->n_steps + 1;
  for (size_t i = 0; i < program->n_tensors && status == TESELA_OK; i++) {
    tesela__infer_tensor *tensor = &program->tensor[i];
    if (tensor->space != TESELA_TENSOR_SHARED || tensor->memory) continue;
    if (!layouts)
      layouts = tesela__alloc(&program->allocator, room * sizeof *layouts, alignof(tesela_register));
    if (!uses) uses = tesela__alloc(&program->allocator, room * sizeof *uses, alignof(tesela_access_use));
    if (!layouts || !uses)
      status = tesela__fail(err, TESELA_E_MEMORY, -1, "no memory for the uses of %s", tensor->name);
    else
      status = infer_memory_of_shared(program, tensor, layouts, uses, err);
  }
  tesela__release(&program->allocator, layouts);
  tesela__release(&program->allocator, uses);
  return status;
}
