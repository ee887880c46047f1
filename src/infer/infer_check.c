/* SPDX-License-Identifier: Apache-2.0 */
/*
 * infer_check.c - checks that every thread has the elements that an operation needs; describes conflicts.
 *
 * An operation without moves runs in each thread on its own registers: each element of an operand must be, in any
 * register, in the threads given by the preimage of the result. The result of a reduction is in the threads given by
 * the reduced layout of its operand.
 */
#include "infer/infer_state.h"

enum { INFER_CHECK_SEARCH = 1 << 22 }; /* limit on registers searched for the first conflict */

/* The first thread, and in it the first register of `needs`, whose element is not in that thread in `has`. */
static bool infer_check_first(const tesela_register *has, const tesela_register *needs, int64_t *thread,
                              int64_t *index) {
  if (needs->spatial_size > INFER_CHECK_SEARCH / needs->local_size) return false;
  for (int64_t t = 0; t < needs->spatial_size; t++)
    for (int64_t l = 0; l < needs->local_size; l++) {
      bool holds = false;
      if (tesela_register_get_global(needs, t, l, index, NULL) != TESELA_OK) return false;
      if (tesela_register_locate_at(has, index, t, &holds, NULL) == TESELA_OK && holds) continue;
      *thread = t;
      return true;
    }
  return false;
}

/* Add the cost of a conversion that resolves the conflict. */
static tesela_status infer_check_repair(tesela_kernel_program *program, const tesela__infer_clash *clash,
                                        tesela_kernel_conflict *conflict, tesela_error *err) {
  tesela_exchange *plan = NULL;
  tesela_status status =
      tesela_exchange_create(&plan, &clash->needs, &clash->has, tesela_dtype_bits(clash->tensor->dtype), NULL,
                             &program->allocator, err);
  if (status == TESELA_E_MEMORY) return status;
  if (status != TESELA_OK) return TESELA_OK;
  conflict->repairable = true;
  conflict->repair = tesela_exchange_facts_of(plan);
  tesela_exchange_destroy(plan);
  return TESELA_OK;
}

tesela_status tesela__infer_refuse(tesela_kernel_program *program, const tesela__infer_step *step,
                                   const tesela__infer_clash *clash, tesela_error *err) {
  tesela_kernel_conflict *conflict = &program->conflict;
  program->failed = step;
  if (program->quiet) {
    conflict->found = true;
    return TESELA_E_INVALID;
  }
  *conflict = (tesela_kernel_conflict){.found = true,
                                       .is_result = clash->is_result,
                                       .line = step->line,
                                       .at = step->at,
                                       .operation = step->op->name,
                                       .tensor = clash->tensor->name,
                                       .other = clash->other->name,
                                       .why = clash->why,
                                       .has = clash->has,
                                       .needs = clash->needs};
  tesela_status status = infer_check_repair(program, clash, conflict, err);
  if (status != TESELA_OK) {
    *conflict = (tesela_kernel_conflict){0}; /* no partial answer */
    return status;
  }
  conflict->have_index = infer_check_first(&clash->has, &clash->needs, &conflict->thread, conflict->index);
  status = tesela__refuse(err, TESELA_E_INVALID, TESELA_REASON_CONFLICT,
                          "line %" PRId64 ": %s: the layout of %s does not fit that of %s: %s", step->line,
                          step->op->name, clash->tensor->name, clash->other->name, clash->why);
  if (err) err->at = step->at;
  return status;
}

tesela_status tesela__infer_demand(tesela_kernel_program *program, const tesela__infer_step *step,
                                   const tesela__infer_clash *clash, tesela_error *err) {
  bool covers = false;
  tesela_error inner = {.message = ""};
  tesela_status status = tesela_register_covers(&clash->has, &clash->needs, &covers, &inner);
  if (status != TESELA_OK)
    return tesela__fail(err, status, step->at, "line %" PRId64 ": %s: %s", step->line, step->op->name,
                        inner.message);
  return covers ? TESELA_OK : tesela__infer_refuse(program, step, clash, err);
}

/* ---- one function for each kind of operation ----------------------------------------------------------- */

/* The required layout of an operand. If no modes express its reshape, both layouts get one dim. */
static tesela_status infer_check_needs(const tesela__infer_step *step, const tesela__infer_tensor *result,
                                       tesela__infer_clash *clash) {
  tesela_status status = step->op->preimage(step, result->registers, clash->tensor, &clash->needs);
  clash->has = *clash->tensor->registers;
  if (status == TESELA_OK) return status;
  status = tesela_register_reshape(&clash->needs, result->registers, 1, &result->elements, NULL);
  if (status == TESELA_OK)
    status = tesela_register_reshape(&clash->has, &clash->has, 1, &result->elements, NULL);
  return status;
}

tesela_status tesela__infer_check_move(tesela_kernel_program *program, const tesela__infer_step *step,
                                       tesela_error *err) {
  const tesela__infer_tensor *result = tesela__infer_arg(program, step, 0);
  if (result->space != TESELA_TENSOR_REGISTER) return tesela__infer_check_access(program, step, err);
  for (int32_t i = 1; i < step->n; i++) {
    tesela__infer_clash clash = {.tensor = tesela__infer_arg(program, step, i),
                                 .other = result,
                                 .why = "a thread computes its results from its own registers"};
    tesela_status status = infer_check_needs(step, result, &clash);
    if (status != TESELA_OK)
      return tesela__fail(err, status, step->at,
                          "line %" PRId64 ": %s: no layout expresses what it needs of %s", step->line,
                          step->op->name, clash.tensor->name);
    status = tesela__infer_demand(program, step, &clash, err);
    if (status != TESELA_OK) return status;
  }
  return TESELA_OK;
}

tesela_status tesela__infer_check_reduce(tesela_kernel_program *program, const tesela__infer_step *step,
                                         tesela_error *err) {
  const tesela__infer_tensor *result = tesela__infer_arg(program, step, 0),
                             *operand = tesela__infer_arg(program, step, 1);
  tesela__infer_clash clash = {.tensor = result,
                               .other = operand,
                               .is_result = true,
                               .needs = *result->registers,
                               .why = "a result stays in the threads that have elements of it"};
  tesela_status status = tesela__infer_reduce(step, operand->registers, result, &clash.has);
  if (status != TESELA_OK)
    return tesela__fail(err, status, step->at, "line %" PRId64 ": no layout expresses the reduction of %s",
                        step->line, operand->name);
  return tesela__infer_demand(program, step, &clash, err);
}

/* Conversions accept any layouts; the reader has compared shapes and threads. */
tesela_status tesela__infer_check_nothing(tesela_kernel_program *program, const tesela__infer_step *step,
                                          tesela_error *err) {
  (void)program, (void)step, (void)err;
  return TESELA_OK;
}
