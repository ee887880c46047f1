/* SPDX-License-Identifier: Apache-2.0 */
/*
 * infer_solve.c - rules level by level to a fixed point, then the checks.
 *
 * Each new layout starts level 1 again, and only those of a trial (seed.c) are withdrawn, so there are at most as many
 * rounds as tensors. After a conflict all are withdrawn, and other grids of warps are tried (grids.c). A rule runs
 * again only if more of its step's tensors are known than the last time.
 */
#include "infer/infer_state.h"

/* Run the rule of one step, unless all its tensors are known, or no more than at its last run. */
static tesela_status infer_solve_ask(tesela_kernel_program *program, tesela__infer_step *step,
                                     tesela__infer_level level, bool *gave, tesela_error *err) {
  int32_t known = tesela__infer_count_known(program, step);
  if (known == step->n || step->tried[level] == known + 1) return TESELA_OK;
  step->tried[level] = known + 1;
  return step->op->rule(program, step, level, gave, err);
}

static tesela_status infer_solve_level(tesela_kernel_program *program, tesela__infer_level level, bool *gave,
                                       tesela_error *err) {
  tesela_status status = TESELA_OK;
  if (level >= TESELA__INFER_MEMORY) return tesela__infer_seed(program, level, gave, err);
  for (size_t s = 0; s < program->n_steps && status == TESELA_OK && !*gave; s++)
    status = infer_solve_ask(program, &program->step[s], level, gave, err);
  return status;
}

static tesela_status infer_solve_layouts(tesela_kernel_program *program, tesela_error *err) {
  tesela_status status = tesela__infer_global_memory(program, err);
  for (int level = TESELA__INFER_FORWARD; level < TESELA__INFER_LEVELS && status == TESELA_OK; level++) {
    bool gave = false;
    status = infer_solve_level(program, (tesela__infer_level)level, &gave, err);
    if (gave) level = TESELA__INFER_FORWARD - 1;
  }
  return status;
}

/* ---- checks -------------------------------------------------------------------------------------------- */

static bool infer_solve_registers_known(const tesela_kernel_program *program,
                                        const tesela__infer_step *step) {
  for (int32_t i = 0; i < step->n; i++) {
    const tesela__infer_tensor *tensor = tesela__infer_arg(program, step, i);
    if (tensor->space == TESELA_TENSOR_REGISTER && !tensor->registers) return false;
  }
  return true;
}

/* Name the tensors without a layout, as many as fit. */
static tesela_status infer_solve_unknown(const tesela_kernel_program *program, tesela_error *err) {
  const tesela__infer_tensor *first = NULL;
  char names[140] = "";
  size_t used = 0;
  int32_t more = 0;
  for (size_t i = 0; i < program->n_tensors; i++) {
    const tesela__infer_tensor *tensor = &program->tensor[i];
    size_t length = strlen(tensor->name);
    if (tesela__infer_known(tensor)) continue;
    if (more > 0 || used + length + 3 > sizeof names) {
      more++;
      continue;
    }
    if (first) {
      memcpy(names + used, ", ", 2);
      used += 2;
    }
    memcpy(names + used, tensor->name, length + 1);
    used += length;
    if (!first) first = tensor;
  }
  if (!first) return TESELA_OK;
  if (more > 0)
    return tesela__fail(err, TESELA_E_UNSUPPORTED, first->at,
                        "line %" PRId64 ": no rule gives a layout to %s and %" PRId32
                        " more; give one: = ...",
                        first->line, names, more);
  return tesela__fail(err, TESELA_E_UNSUPPORTED, first->at,
                      "line %" PRId64 ": no rule gives a layout to %s; give one: = ...", first->line, names);
}

/* ---- the whole ----------------------------------------------------------------------------------------- */

static void infer_solve_forget(tesela_kernel_program *program) {
  for (size_t i = 0; i < program->n_tensors; i++) {
    tesela__infer_tensor *tensor = &program->tensor[i];
    if (tensor->given) continue;
    tesela__release(&program->allocator, tensor->registers);
    tesela__release(&program->allocator, tensor->memory);
    tensor->registers = NULL;
    tensor->memory = NULL;
    tensor->rule[0] = '\0';
    tensor->decided = 0;
  }
  for (size_t s = 0; s < program->n_steps; s++) {
    memset(program->step[s].tried, 0, sizeof program->step[s].tried);
    program->step[s].decided = 0;
  }
  program->n_decided = 0;
}

/* Does the step involve shared memory whose layout is found last? */
static bool infer_solve_is_late(const tesela_kernel_program *program, const tesela__infer_step *step) {
  for (int32_t i = 0; i < step->n; i++) {
    const tesela__infer_tensor *tensor = tesela__infer_arg(program, step, i);
    if (tensor->space == TESELA_TENSOR_SHARED && !tensor->given) return true;
  }
  return false;
}

/* Check the operations in order: the late ones if `late`, the others if `early`. */
static tesela_status infer_solve_check(tesela_kernel_program *program, bool early, bool late,
                                       tesela_error *err) {
  tesela_status status = TESELA_OK;
  for (size_t s = 0; s < program->n_steps && status == TESELA_OK; s++) {
    const tesela__infer_step *step = &program->step[s];
    if (!(infer_solve_is_late(program, step) ? late : early)) continue;
    if (infer_solve_registers_known(program, step)) status = step->op->check(program, step, err);
  }
  return status;
}

/* The search for shared memory is slow, so a trial first checks that everything else passes. The explained conflict is
 * the first in the text. */
tesela_status tesela__infer_once(tesela_kernel_program *program, bool *late, tesela_error *err) {
  infer_solve_forget(program);
  program->conflict = (tesela_kernel_conflict){.found = false};
  program->failed = NULL;
  *late = false;
  tesela_status status = infer_solve_layouts(program, err);
  if (status == TESELA_OK && program->quiet) status = infer_solve_check(program, true, false, err);
  *late = status == TESELA_OK;
  if (status == TESELA_OK) status = tesela__infer_shared_memory(program, err);
  if (status == TESELA_OK) status = infer_solve_check(program, !program->quiet, true, err);
  return status != TESELA_OK ? status : infer_solve_unknown(program, err);
}
