/* SPDX-License-Identifier: Apache-2.0 */
/*
 * seed.c - layouts by preference only: vectors for a load or store, equal layouts for a convert.
 *
 * Such a layout fits one tensor; operations tie it to others. Not every operation passes it on: a reduction does not
 * determine its operand, nor a row of scales the matrix. If those get layouts in another way later, the two may not
 * fit, a conflict that the program itself does not have. So each layout is tried first: set, followed through the
 * operations, and withdrawn if one of them has a tensor that stays unknown. Then another step is tried; its layouts may
 * determine both. Only if all trials fail is one layout kept anyway.
 */
#include "infer/infer_state.h"

/* ---- the order ----------------------------------------------------------------------------------------- */

/* The tensor that a step may give a layout: the registers of a load or store, the unknown side of a convert; or
 * NULL. */
static tesela__infer_tensor *seed_tensor(const tesela_kernel_program *program,
                                         const tesela__infer_step *step) {
  if (step->op->rule != tesela__infer_rule_memory && step->op->rule != tesela__infer_rule_convert)
    return NULL;
  tesela__infer_tensor *first = tesela__infer_arg(program, step, 0),
                       *second = tesela__infer_arg(program, step, 1);
  if (step->op->rule == tesela__infer_rule_memory) {
    tesela__infer_tensor *inside = first->space == TESELA_TENSOR_REGISTER ? first : second;
    return inside->registers ? NULL : inside;
  }
  if (!first->registers == !second->registers) return NULL;
  return first->registers ? second : first;
}

/* The level of the rule of a load, store or convert. */
static tesela__infer_level seed_level(const tesela__infer_step *step) {
  return step->op->rule == tesela__infer_rule_memory ? TESELA__INFER_MEMORY : TESELA__INFER_CONVERT;
}

/* Results of converts have the highest priority, then loads and stores, the largest first, then operands of converts.
 * -1: nothing to try. */
static int64_t seed_priority(const tesela_kernel_program *program, const tesela__infer_step *step,
                             tesela__infer_level level) {
  const tesela__infer_tensor *tensor = seed_tensor(program, step);
  if (!tensor || (level != TESELA__INFER_REST && level != seed_level(step))) return -1;
  if (step->tried[level] == tesela__infer_count_known(program, step) + 1) return -1;
  if (seed_level(step) == TESELA__INFER_MEMORY) return tensor->elements;
  return tensor == tesela__infer_arg(program, step, 0) ? INT64_MAX : 0;
}

static tesela__infer_step *seed_next(const tesela_kernel_program *program, tesela__infer_level level) {
  tesela__infer_step *best = NULL;
  int64_t highest = -1;
  for (size_t s = 0; s < program->n_steps; s++) {
    int64_t priority = seed_priority(program, &program->step[s], level);
    if (priority <= highest) continue;
    highest = priority;
    best = &program->step[s];
  }
  return best;
}

/* ---- a trial ------------------------------------------------------------------------------------------- */

/* Follow known layouts through the operations without moves. The order differs from that of the levels, but only the
 * set of reached tensors matters here. */
static tesela_status seed_follow(tesela_kernel_program *program, tesela_error *err) {
  static const tesela__infer_level levels[] = {TESELA__INFER_FORWARD, TESELA__INFER_BACKWARD,
                                               TESELA__INFER_ONE_OPERAND, TESELA__INFER_ANY_OPERAND};
  tesela_status status = TESELA_OK;
  for (int i = 0; i < 4 && status == TESELA_OK; i++) {
    bool any = false;
    for (size_t s = 0; s < program->n_steps && status == TESELA_OK; s++) {
      tesela__infer_step *step = &program->step[s];
      int32_t known = tesela__infer_count_known(program, step);
      if (step->op->rule != tesela__infer_rule_move || known == 0 || known == step->n) continue;
      status = step->op->rule(program, step, levels[i], &any, err);
    }
    if (any) i = -1;
  }
  return status;
}

/* Does an operation that the trial reached have a tensor that is still unknown? */
static bool seed_left_open(const tesela_kernel_program *program) {
  for (size_t s = 0; s < program->n_steps; s++) {
    const tesela__infer_step *step = &program->step[s];
    bool reached = false, open = false;
    if (step->op->rule != tesela__infer_rule_move) continue;
    for (int32_t i = 0; i < step->n; i++) {
      const tesela__infer_tensor *tensor = tesela__infer_arg(program, step, i);
      reached |= tensor->trial && tensor->registers;
      open |= tensor->space == TESELA_TENSOR_REGISTER && !tensor->registers;
    }
    if (reached && open) return true;
  }
  return false;
}

/* Withdraw all layouts of the trial except that of `keep`. */
static void seed_take_back(tesela_kernel_program *program, const tesela__infer_tensor *keep) {
  for (size_t i = 0; i < program->n_tensors; i++) {
    tesela__infer_tensor *tensor = &program->tensor[i];
    tensor->trial = tensor->trial && tensor->registers && tensor != keep;
    if (!tensor->trial) continue;
    tesela__release(&program->allocator, tensor->registers);
    tensor->registers = NULL;
    tensor->rule[0] = '\0';
  }
}

/* Do not try tensors that the trial reached: they would reach the same tensors. This keeps the number of trials
 * small. */
static void seed_mark_tried(tesela_kernel_program *program) {
  for (size_t s = 0; s < program->n_steps; s++) {
    tesela__infer_step *step = &program->step[s];
    const tesela__infer_tensor *tensor = seed_tensor(program, step);
    if (tensor && tensor->trial) step->tried[seed_level(step)] = tesela__infer_count_known(program, step) + 1;
  }
}

static tesela_status seed_try(tesela_kernel_program *program, tesela__infer_step *step, bool *gave,
                              tesela_error *err) {
  const tesela__infer_tensor *tensor = seed_tensor(program, step);
  for (size_t i = 0; i < program->n_tensors; i++) program->tensor[i].trial = !program->tensor[i].registers;
  tesela_status status = step->op->rule(program, step, seed_level(step), gave, err);
  if (!*gave || status != TESELA_OK) return status;
  status = seed_follow(program, err);
  *gave = status == TESELA_OK && !seed_left_open(program);
  seed_take_back(program, *gave ? tensor : NULL);
  if (status == TESELA_OK && !*gave) seed_mark_tried(program);
  return status;
}

tesela_status tesela__infer_seed(tesela_kernel_program *program, tesela__infer_level level, bool *gave,
                                 tesela_error *err) {
  tesela_status status = TESELA_OK;
  while (status == TESELA_OK && !*gave) {
    tesela__infer_step *step = seed_next(program, level);
    if (!step) break;
    step->tried[level] = tesela__infer_count_known(program, step) + 1;
    status = level == TESELA__INFER_REST ? step->op->rule(program, step, seed_level(step), gave, err)
                                         : seed_try(program, step, gave, err);
  }
  return status;
}
