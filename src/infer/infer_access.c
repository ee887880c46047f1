/* SPDX-License-Identifier: Apache-2.0 */
/*
 * infer_access.c - checks that the threads can load, store and copy with their layouts; finds memory layouts that allow it.
 *
 * Every access is judged by the function that tesela_access_cost_of uses (gpu/access/access.h): each thread moves all
 * of its registers in vectors of whole bytes, from aligned places. Elements of whole bytes can always be moved one at a
 * time; smaller ones only together with neighbours, which a thread with every second one of a row does not have.
 *
 *   load, store   the registers and the memory
 *   copy          between memories through registers, in the default layout of a load from the source, or of a store to
 *                 the result: one of them must be valid for both memories
 *
 * A few candidate layouts are judged by the same function. The last candidate works if any layout does: the registers
 * of a thread in sequence, thread by thread. It fails only if the registers of a thread are not whole bytes together.
 */
#include "infer/infer_state.h"

#include <stdio.h>

#include "gpu/access/access.h"

/* ---- one access ---------------------------------------------------------------------------------------- */

/* A tensor with another assumed memory layout; both NULL: no assumption. */
typedef struct access_instead {
  const tesela__infer_tensor *tensor;
  const tesela_tile_memory *memory;
} access_instead;

/* The answer for one step. */
typedef struct access_answer {
  const tesela__infer_tensor *memory; /* the side in memory of the last question */
  tesela_register registers;
  tesela_error error;
} access_answer;

static const tesela_tile_memory *access_memory(const tesela__infer_tensor *tensor, access_instead instead) {
  return tensor == instead.tensor ? instead.memory : tensor->memory;
}

/* Can the threads move answer->registers from or to a tensor in memory? */
static tesela_status access_ask(access_answer *answer, const tesela__infer_tensor *tensor,
                                access_instead instead) {
  int64_t vector;
  answer->memory = tensor;
  return tesela__access_possible(&answer->registers, access_memory(tensor, instead),
                                 tesela_dtype_bits(tensor->dtype), &vector, &answer->error);
}

/* A copy through the registers of one side. */
static tesela_status access_through(const tesela_kernel_program *program, const tesela__infer_step *step,
                                    int32_t side, access_instead instead, access_answer *answer) {
  const tesela__infer_tensor *tensor = tesela__infer_arg(program, step, side);
  int64_t vector;
  answer->error = (tesela_error){.at = -1};
  tesela_status status = tesela__infer_memory_registers(program, tensor, access_memory(tensor, instead),
                                                        &answer->registers, &vector);
  if (status !=
      TESELA_OK) { /* not expressible as a register layout; whole bytes can still be moved one at a time */
    if (tesela_dtype_bits(tensor->dtype) % 8 == 0) return TESELA_OK;
    return tesela__fail(&answer->error, TESELA_E_LIMIT, -1, "%s is too large to access from registers",
                        tensor->name);
  }
  status = access_ask(answer, tensor, instead);
  return status != TESELA_OK ? status
                             : access_ask(answer, tesela__infer_arg(program, step, 1 - side), instead);
}

/* Can the threads do this step? TESELA_OK also for an unknown layout. */
static tesela_status access_try(const tesela_kernel_program *program, const tesela__infer_step *step,
                                access_instead instead, access_answer *answer) {
  access_answer other;
  int32_t inside = -1;
  for (int32_t i = 0; i < 2; i++) {
    const tesela__infer_tensor *tensor = tesela__infer_arg(program, step, i);
    if (tensor->space == TESELA_TENSOR_REGISTER) inside = i;
    if (!tensor->registers && !access_memory(tensor, instead)) return TESELA_OK;
  }
  answer->error = (tesela_error){.at = -1};
  if (inside >= 0) {
    answer->registers = *tesela__infer_arg(program, step, inside)->registers;
    return access_ask(answer, tesela__infer_arg(program, step, 1 - inside), instead);
  }
  tesela_status status = access_through(program, step, 1, instead, answer);
  if (status != TESELA_E_INVALID) return status;
  return access_through(program, step, 0, instead, &other) == TESELA_OK ? TESELA_OK : status;
}

/* ---- layouts that allow an access ---------------------------------------------------------------------- */

/* Is a step an access of this tensor? */
static bool access_touches(const tesela_kernel_program *program, const tesela__infer_step *step,
                           const tesela__infer_tensor *tensor) {
  return step->n == 2 &&
         (tesela__infer_arg(program, step, 0) == tensor || tesela__infer_arg(program, step, 1) == tensor);
}

/* Is a layout valid for all accesses of a tensor, or for `only` if not NULL? */
static bool access_does(const tesela_kernel_program *program, const tesela__infer_tensor *tensor,
                        const tesela__infer_step *only, const tesela_tile_memory *memory) {
  access_answer answer;
  for (size_t s = 0; s < program->n_steps; s++) {
    const tesela__infer_step *step = &program->step[s];
    if ((only && step != only) || !access_touches(program, step, tensor)) continue;
    if (access_try(program, step, (access_instead){tensor, memory}, &answer) != TESELA_OK) return false;
  }
  return true;
}

/* Compact, with one dim the fastest. */
static bool access_fastest(const tesela__infer_tensor *tensor, tesela_tile_space space, int32_t fastest,
                           tesela_tile_memory *memory) {
  int64_t strides[TESELA_MAX_RANK], stride = tensor->shape[fastest];
  strides[fastest] = 1;
  for (int32_t d = tensor->rank - 1; d >= 0; d--) {
    if (d == fastest) continue;
    strides[d] = stride;
    stride *= tensor->shape[d]; /* fits: a part of the number of elements */
  }
  return tesela_tile_memory_strided(memory, space, tensor->rank, tensor->shape, strides, 0, NULL) ==
         TESELA_OK;
}

/* The registers of a thread in sequence, thread by thread; copies share a place. */
static bool access_as_registers(const tesela_register *layout, tesela_tile_space space,
                                tesela_tile_memory *memory) {
  int64_t strides[TESELA_REGISTER_MODES], stride = 1;
  for (int32_t i = layout->n_local - 1; i >= 0; i--) {
    strides[layout->local_modes[i]] = stride;
    stride *= layout->mode_shape[layout->local_modes[i]];
  }
  for (int32_t i = layout->n_spatial - 1; i >= 0; i--) {
    int64_t mode = layout->spatial_modes[i];
    if (mode < 0) continue;
    strides[mode] = stride;
    stride *= layout->mode_shape[mode];
  }
  return tesela_tile_memory_make(memory, space, layout->rank, layout->shape, layout->n_modes,
                                 layout->mode_shape, strides, 0, NULL, NULL) == TESELA_OK;
}

bool tesela__infer_memory_for(const tesela_kernel_program *program, const tesela__infer_tensor *tensor,
                              const tesela__infer_step *only, tesela_tile_memory *memory) {
  tesela_tile_space space = tensor->space == TESELA_TENSOR_GLOBAL ? TESELA_TILE_GLOBAL : TESELA_TILE_SHARED;
  int32_t rank = tensor->rank;
  if (tesela_tile_memory_row_major(memory, space, rank, tensor->shape, NULL) == TESELA_OK &&
      access_does(program, tensor, only, memory))
    return true;
  if (tesela_tile_memory_column_major(memory, space, rank, tensor->shape, NULL) == TESELA_OK &&
      access_does(program, tensor, only, memory))
    return true;
  for (int32_t d = rank - 2; d > 0; d--)
    if (access_fastest(tensor, space, d, memory) && access_does(program, tensor, only, memory)) return true;
  for (size_t s = 0; s < program->n_steps; s++) {
    const tesela__infer_step *step = &program->step[s];
    if ((only && step != only) || !access_touches(program, step, tensor)) continue;
    const tesela__infer_tensor *other =
        tesela__infer_arg(program, step, tesela__infer_arg(program, step, 0) == tensor);
    if (other->memory) { /* the layout of the other side */
      if (tesela__infer_memory_folds(other->memory)) continue;
      *memory = *other->memory;
      memory->space = space;
    } else if (!other->registers || !access_as_registers(other->registers, space, memory)) {
      continue;
    }
    if (access_does(program, tensor, only, memory)) return true;
  }
  return false;
}

/* ---- the check ----------------------------------------------------------------------------------------- */

/* "the threads cannot read r from g: no vector of 2 elements: .." */
static void access_say(tesela_kernel_program *program, const tesela__infer_step *step,
                       const access_answer *answer, const tesela__infer_tensor *other) {
  bool reads = answer->memory == tesela__infer_arg(program, step, 1);
  char name[TESELA_KERNEL_NAME + 1] = "";
  if (other->space == TESELA_TENSOR_REGISTER) memcpy(name, other->name, sizeof name);
  snprintf(program->why, sizeof program->why, "the threads cannot %s%s%s%s %s: %s", reads ? "read" : "write",
           name[0] ? " " : "", name, name[0] ? (reads ? " from" : " to") : "", answer->memory->name,
           answer->error.message);
}

static tesela_status access_refuse(tesela_kernel_program *program, const tesela__infer_step *step,
                                   const access_answer *answer, tesela_error *err) {
  const tesela__infer_tensor *first = tesela__infer_arg(program, step, 0),
                             *other = first == answer->memory ? tesela__infer_arg(program, step, 1) : first;
  tesela_kernel_conflict *conflict = &program->conflict;
  program->failed = step;
  conflict->found = true;
  if (program->quiet) return TESELA_E_INVALID;
  access_say(program, step, answer, other);
  *conflict = (tesela_kernel_conflict){.found = true,
                                       .is_access = true,
                                       .line = step->line,
                                       .at = step->at,
                                       .operation = step->op->name,
                                       .tensor = answer->memory->name,
                                       .other = other->name,
                                       .why = program->why,
                                       .has = answer->registers,
                                       .needs = answer->registers,
                                       .memory = *answer->memory->memory};
  conflict->would_do_for_all = tesela__infer_memory_for(program, answer->memory, NULL, &conflict->would_do);
  conflict->repairable = conflict->would_do_for_all ||
                         tesela__infer_memory_for(program, answer->memory, step, &conflict->would_do);
  tesela_status status = tesela__refuse(err, TESELA_E_INVALID, TESELA_REASON_CONFLICT,
                                        "line %" PRId64 ": %s: %s", step->line, step->op->name, program->why);
  if (err) err->at = step->at;
  return status;
}

tesela_status tesela__infer_check_access(tesela_kernel_program *program, const tesela__infer_step *step,
                                         tesela_error *err) {
  access_answer answer;
  tesela_status status = access_try(program, step, (access_instead){NULL, NULL}, &answer);
  if (status == TESELA_OK) return TESELA_OK;
  if (status == TESELA_E_INVALID) return access_refuse(program, step, &answer, err);
  return tesela__fail(err, status, step->at, "line %" PRId64 ": %s: %s", step->line, step->op->name,
                      answer.error.message);
}
