/* SPDX-License-Identifier: Apache-2.0 */
/*
 * solve.c - rules level by level to a fixed point, then the checks.
 *
 * Each layout found starts level 1 again, and none is taken back but those of a trial (seed.c), so there are at most as
 * many rounds as tensors.
 * A rule is asked again only when more of its step's tensors are known than the last time.
 */
#include "infer/state.h"

/* Ask one step, unless nothing has changed for it. */
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
  return status != TESELA_OK ? status : tesela__infer_shared_memory(program, err);
}

/* ---- checks ----------------------------------------------------------------------------------------------------------- */

static bool infer_solve_registers_known(const tesela_kernel_program *program,
                                        const tesela__infer_step *step) {
  for (int32_t i = 0; i < step->n; i++) {
    const tesela__infer_tensor *tensor = tesela__infer_arg(program, step, i);
    if (tensor->space == TESELA_TENSOR_REGISTER && !tensor->registers) return false;
  }
  return true;
}

/* The tensors without a layout: as many names as fit. */
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

tesela_status tesela_kernel_program_infer(tesela_kernel_program *program, tesela_error *err) {
  program->conflict = (tesela_kernel_conflict){.found = false};
  tesela_status status = infer_solve_layouts(program, err);
  for (size_t s = 0; s < program->n_steps && status == TESELA_OK; s++) {
    const tesela__infer_step *step = &program->step[s];
    if (infer_solve_registers_known(program, step)) status = step->op->check(program, step, err);
  }
  return status != TESELA_OK ? status : infer_solve_unknown(program, err);
}
