/* SPDX-License-Identifier: Apache-2.0 */
/*
 * infer_fit.c - checks spaces, types and shapes of the tensors of an operation, one function for each form of
 * operation.
 */
#include "infer/infer_state.h"

#include "gpu/register/register.h"

/* ---- spaces, types, shapes ----------------------------------------------------------------------------- */

static const char *const infer_space_words[] = {"in registers", "in shared memory", "in global memory"};

static tesela_status ops_registers(const tesela_kernel_program *program, const tesela__infer_step *step,
                                   tesela_error *err) {
  for (int32_t i = 0; i < step->n; i++) {
    const tesela__infer_tensor *tensor = tesela__infer_arg(program, step, i);
    if (tensor->space != TESELA_TENSOR_REGISTER)
      return tesela__fail(err, TESELA_E_INVALID, -1, "%s is %s; the tensors of %s must be in registers",
                          tensor->name, infer_space_words[tensor->space], step->op->name);
  }
  return TESELA_OK;
}

static tesela_status ops_same_type(const tesela__infer_tensor *a, const tesela__infer_tensor *b,
                                   tesela_error *err) {
  if (a->dtype == b->dtype) return TESELA_OK;
  return tesela__fail(err, TESELA_E_INVALID, -1, "%s is %s, but %s is %s; the types must be equal", a->name,
                      tesela_dtype_name(a->dtype), b->name, tesela_dtype_name(b->dtype));
}

static tesela_status ops_extent(const tesela__infer_tensor *tensor, int32_t d, int64_t needed,
                                tesela_error *err) {
  if (tensor->shape[d] == needed) return TESELA_OK;
  return tesela__fail(err, TESELA_E_INVALID, -1, "dim %" PRId32 " of %s is %" PRId64 "; it must be %" PRId64,
                      d, tensor->name, tensor->shape[d], needed);
}

static tesela_status ops_rank(const tesela__infer_tensor *tensor, int32_t needed, tesela_error *err) {
  if (tensor->rank == needed) return TESELA_OK;
  return tesela__fail(err, TESELA_E_INVALID, -1, "%s has rank %" PRId32 "; it must be %" PRId32, tensor->name,
                      tensor->rank, needed);
}

static tesela_status ops_same_shape(const tesela__infer_tensor *a, const tesela__infer_tensor *b,
                                    tesela_error *err) {
  tesela_status status = ops_rank(a, b->rank, err);
  for (int32_t d = 0; d < b->rank && status == TESELA_OK; d++) status = ops_extent(a, d, b->shape[d], err);
  return status;
}

/* ---- one function for each form of operation ----------------------------------------------------------- */

tesela_status tesela__infer_fit_elementwise(tesela_kernel_program *program, tesela__infer_step *step,
                                            tesela_error *err) {
  const tesela__infer_tensor *result = tesela__infer_arg(program, step, 0);
  tesela_status status = ops_registers(program, step, err);
  if (status != TESELA_OK) return status;
  for (int32_t i = 1; i < step->n; i++) {
    const tesela__infer_tensor *operand = tesela__infer_arg(program, step, i);
    int32_t missing = result->rank - operand->rank;
    if (missing < 0)
      return tesela__fail(err, TESELA_E_INVALID, -1,
                          "%s has rank %" PRId32 ", more than the %" PRId32 " of %s", operand->name,
                          operand->rank, result->rank, result->name);
    for (int32_t d = 0; d < operand->rank; d++)
      if (operand->shape[d] != 1 && operand->shape[d] != result->shape[d + missing])
        return tesela__fail(err, TESELA_E_INVALID, -1,
                            "dim %" PRId32 " of %s is %" PRId64 "; it must be 1 or %" PRId64, d,
                            operand->name, operand->shape[d], result->shape[d + missing]);
  }
  return TESELA_OK;
}

tesela_status tesela__infer_fit_cast(tesela_kernel_program *program, tesela__infer_step *step,
                                     tesela_error *err) {
  tesela_status status = ops_registers(program, step, err);
  if (status != TESELA_OK) return status;
  return ops_same_shape(tesela__infer_arg(program, step, 0), tesela__infer_arg(program, step, 1), err);
}

tesela_status tesela__infer_fit_convert(tesela_kernel_program *program, tesela__infer_step *step,
                                        tesela_error *err) {
  tesela_status status = tesela__infer_fit_cast(program, step, err);
  if (status != TESELA_OK) return status;
  return ops_same_type(tesela__infer_arg(program, step, 0), tesela__infer_arg(program, step, 1), err);
}

/* Check that a store does not put two elements in one place. */
static tesela_status fit_written(const tesela__infer_tensor *result, tesela_error *err) {
  const char *folds = NULL;
  if (result->space != TESELA_TENSOR_REGISTER && result->memory)
    folds = tesela__infer_memory_folds(result->memory);
  if (!folds) return TESELA_OK;
  return tesela__fail(err, TESELA_E_INVALID, -1, "the layout of %s %s: it cannot be written", result->name,
                      folds);
}

static tesela_status fit_transfer(tesela_kernel_program *program, tesela__infer_step *step,
                                  tesela_error *err) {
  const tesela__infer_tensor *result = tesela__infer_arg(program, step, 0),
                             *operand = tesela__infer_arg(program, step, 1);
  tesela_status status = ops_same_shape(result, operand, err);
  if (status == TESELA_OK) status = ops_same_type(result, operand, err);
  return status != TESELA_OK ? status : fit_written(result, err);
}

tesela_status tesela__infer_fit_copy(tesela_kernel_program *program, tesela__infer_step *step,
                                     tesela_error *err) {
  const tesela__infer_tensor *result = tesela__infer_arg(program, step, 0),
                             *operand = tesela__infer_arg(program, step, 1);
  if ((result->space == TESELA_TENSOR_REGISTER) != (operand->space == TESELA_TENSOR_REGISTER))
    return tesela__fail(err, TESELA_E_INVALID, -1, "%s is %s and %s is %s; use load or store between them",
                        result->name, infer_space_words[result->space], operand->name,
                        infer_space_words[operand->space]);
  return fit_transfer(program, step, err);
}

static tesela_status fit_load_or_store(tesela_kernel_program *program, tesela__infer_step *step,
                                       int32_t registers, tesela_error *err) {
  const tesela__infer_tensor *inside = tesela__infer_arg(program, step, registers),
                             *outside = tesela__infer_arg(program, step, 1 - registers);
  if (inside->space != TESELA_TENSOR_REGISTER || outside->space == TESELA_TENSOR_REGISTER)
    return tesela__fail(err, TESELA_E_INVALID, -1, "%s expects %s, but %s is %s and %s is %s", step->op->name,
                        registers == 0 ? "registers, then memory" : "memory, then registers",
                        tesela__infer_arg(program, step, 0)->name,
                        infer_space_words[tesela__infer_arg(program, step, 0)->space],
                        tesela__infer_arg(program, step, 1)->name,
                        infer_space_words[tesela__infer_arg(program, step, 1)->space]);
  return fit_transfer(program, step, err);
}

tesela_status tesela__infer_fit_load(tesela_kernel_program *program, tesela__infer_step *step,
                                     tesela_error *err) {
  return fit_load_or_store(program, step, 0, err);
}

tesela_status tesela__infer_fit_store(tesela_kernel_program *program, tesela__infer_step *step,
                                      tesela_error *err) {
  return fit_load_or_store(program, step, 1, err);
}

/* Check for registers of one type; make step->dims non-negative and return them as bits. */
static tesela_status fit_dims(tesela_kernel_program *program, tesela__infer_step *step, int32_t rank,
                              uint32_t *bits, tesela_error *err) {
  int32_t order[TESELA_MAX_RANK];
  tesela_status status = ops_registers(program, step, err);
  if (status == TESELA_OK)
    status = ops_same_type(tesela__infer_arg(program, step, 0), tesela__infer_arg(program, step, 1), err);
  if (status == TESELA_OK) status = tesela__dims(rank, step->n_dims, step->dims, bits, order, err);
  for (int32_t i = 0; i < step->n_dims && status == TESELA_OK; i++) step->dims[i] = order[i];
  return status;
}

tesela_status tesela__infer_fit_permute(tesela_kernel_program *program, tesela__infer_step *step,
                                        tesela_error *err) {
  const tesela__infer_tensor *result = tesela__infer_arg(program, step, 0),
                             *operand = tesela__infer_arg(program, step, 1);
  uint32_t bits;
  if (step->n_dims != operand->rank)
    return tesela__refuse(err, TESELA_E_INVALID, TESELA_REASON_DIMS_LENGTH,
                          "dims= has length %" PRId32 "; %s has rank %" PRId32, step->n_dims, operand->name,
                          operand->rank);
  tesela_status status = fit_dims(program, step, operand->rank, &bits, err);
  if (status == TESELA_OK) status = ops_rank(result, operand->rank, err);
  for (int32_t k = 0; k < step->n_dims && status == TESELA_OK; k++)
    status = ops_extent(result, k, operand->shape[step->dims[k]], err);
  return status;
}

tesela_status tesela__infer_fit_transpose(tesela_kernel_program *program, tesela__infer_step *step,
                                          tesela_error *err) {
  const tesela__infer_tensor *operand = tesela__infer_arg(program, step, 1);
  if (operand->rank < 2)
    return tesela__fail(err, TESELA_E_INVALID, -1,
                        "%s has rank %" PRId32 "; transpose swaps the last two dims", operand->name,
                        operand->rank);
  step->n_dims = operand->rank;
  for (int32_t d = 0; d < operand->rank; d++) step->dims[d] = d;
  step->dims[operand->rank - 2] = operand->rank - 1;
  step->dims[operand->rank - 1] = operand->rank - 2;
  return tesela__infer_fit_permute(program, step, err);
}

/* Check that `part` has the shape of `whole` without the dims in `bits` (keep: with extent 1 there). */
static tesela_status fit_dropped(const tesela__infer_tensor *whole, const tesela__infer_tensor *part,
                                 uint32_t bits, bool keep, tesela_error *err) {
  int32_t rank = 0;
  for (int32_t d = 0; d < whole->rank; d++) rank += keep || !(bits >> d & 1);
  tesela_status status = ops_rank(part, rank, err);
  for (int32_t d = 0, k = 0; d < whole->rank && status == TESELA_OK; d++) {
    if ((bits >> d & 1) && !keep) continue;
    status = ops_extent(part, k++, bits >> d & 1 ? 1 : whole->shape[d], err);
  }
  return status;
}

tesela_status tesela__infer_fit_squeeze(tesela_kernel_program *program, tesela__infer_step *step,
                                        tesela_error *err) {
  const tesela__infer_tensor *result = tesela__infer_arg(program, step, 0),
                             *operand = tesela__infer_arg(program, step, 1);
  uint32_t bits;
  tesela_status status = fit_dims(program, step, operand->rank, &bits, err);
  for (int32_t i = 0; i < step->n_dims && status == TESELA_OK; i++)
    status = ops_extent(operand, (int32_t)step->dims[i], 1, err);
  return status != TESELA_OK ? status : fit_dropped(operand, result, bits, false, err);
}

tesela_status tesela__infer_fit_unsqueeze(tesela_kernel_program *program, tesela__infer_step *step,
                                          tesela_error *err) {
  const tesela__infer_tensor *result = tesela__infer_arg(program, step, 0),
                             *operand = tesela__infer_arg(program, step, 1);
  uint32_t bits;
  tesela_status status = fit_dims(program, step, result->rank, &bits, err);
  for (int32_t i = 0; i < step->n_dims && status == TESELA_OK; i++)
    status = ops_extent(result, (int32_t)step->dims[i], 1, err);
  return status != TESELA_OK ? status : fit_dropped(result, operand, bits, false, err);
}

tesela_status tesela__infer_fit_reduce(tesela_kernel_program *program, tesela__infer_step *step,
                                       tesela_error *err) {
  const tesela__infer_tensor *result = tesela__infer_arg(program, step, 0),
                             *operand = tesela__infer_arg(program, step, 1);
  uint32_t bits;
  tesela_status status = fit_dims(program, step, operand->rank, &bits, err);
  return status != TESELA_OK ? status : fit_dropped(operand, result, bits, step->keepdims, err);
}

tesela_status tesela__infer_fit_reshape(tesela_kernel_program *program, tesela__infer_step *step,
                                        tesela_error *err) {
  const tesela__infer_tensor *result = tesela__infer_arg(program, step, 0),
                             *operand = tesela__infer_arg(program, step, 1);
  uint32_t bits;
  tesela_status status = fit_dims(program, step, operand->rank, &bits, err);
  if (status != TESELA_OK || result->elements == operand->elements) return status;
  return tesela__refuse(err, TESELA_E_INVALID, TESELA_REASON_RESHAPE_SIZE_MISMATCH,
                        "%s has %" PRId64 " element%s, but %s has %" PRId64, result->name, result->elements,
                        result->elements == 1 ? "" : "s", operand->name, operand->elements);
}

tesela_status tesela__infer_fit_dot(tesela_kernel_program *program, tesela__infer_step *step,
                                    tesela_error *err) {
  tesela_status status = ops_registers(program, step, err);
  return status != TESELA_OK ? status : tesela__infer_dot_fit(program, step, err);
}
