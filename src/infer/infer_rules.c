/* SPDX-License-Identifier: Apache-2.0 */
/*
 * infer_rules.c - layouts through operations without moves between threads.
 *
 * Each such operation determines the layout of its result from that of an operand (image), and that of an operand from
 * the result's (preimage): permute and its inverse, reduce, and so on. An image or preimage may fail: then the
 * operation determines nothing in that direction. The rules try these at their levels, and infer_check.c uses the same
 * functions.
 */
#include "infer/infer_state.h"

tesela_status tesela__infer_same(const tesela__infer_step *step, const tesela_register *operand,
                                 const tesela__infer_tensor *result, tesela_register *out) {
  int32_t ones = result->rank - operand->rank; /* leading dims that the operand lacks */
  (void)step;
  for (int32_t d = 0; d < result->rank; d++)
    if (result->shape[d] != (d < ones ? 1 : operand->shape[d - ones]))
      return TESELA_E_UNSUPPORTED; /* the layout of a part does not determine that of the whole */
  return tesela_register_with_shape(out, operand, result->rank, result->shape, NULL);
}

tesela_status tesela__infer_broadcast(const tesela__infer_step *step, const tesela_register *result,
                                      const tesela__infer_tensor *operand, tesela_register *out) {
  (void)step;
  return tesela_register_reduce_to(out, result, operand->rank, operand->shape, NULL);
}

tesela_status tesela__infer_permute(const tesela__infer_step *step, const tesela_register *operand,
                                    const tesela__infer_tensor *result, tesela_register *out) {
  (void)result;
  return tesela_register_permute(out, operand, step->n_dims, step->dims, NULL);
}

tesela_status tesela__infer_unpermute(const tesela__infer_step *step, const tesela_register *result,
                                      const tesela__infer_tensor *operand, tesela_register *out) {
  int64_t back[TESELA_MAX_RANK];
  (void)operand;
  for (int32_t k = 0; k < step->n_dims; k++) back[step->dims[k]] = k;
  return tesela_register_permute(out, result, step->n_dims, back, NULL);
}

tesela_status tesela__infer_squeeze(const tesela__infer_step *step, const tesela_register *operand,
                                    const tesela__infer_tensor *result, tesela_register *out) {
  (void)result;
  return tesela_register_squeeze(out, operand, step->n_dims, step->dims, NULL);
}

tesela_status tesela__infer_unsqueeze(const tesela__infer_step *step, const tesela_register *operand,
                                      const tesela__infer_tensor *result, tesela_register *out) {
  (void)result;
  return tesela_register_unsqueeze(out, operand, step->n_dims, step->dims, NULL);
}

tesela_status tesela__infer_reshape(const tesela__infer_step *step, const tesela_register *from,
                                    const tesela__infer_tensor *to, tesela_register *out) {
  (void)step;
  return tesela_register_reshape(out, from, to->rank, to->shape, NULL);
}

tesela_status tesela__infer_reduce(const tesela__infer_step *step, const tesela_register *operand,
                                   const tesela__infer_tensor *result, tesela_register *out) {
  (void)result;
  return tesela_register_reduce(out, operand, step->n_dims, step->dims, step->keepdims, NULL);
}

/* Many layouts have the same reduction; the answer is unique only if all reduced dims have extent 1, and then its modes
 * fit. */
tesela_status tesela__infer_unreduce(const tesela__infer_step *step, const tesela_register *result,
                                     const tesela__infer_tensor *operand, tesela_register *out) {
  (void)step;
  return tesela_register_with_shape(out, result, operand->rank, operand->shape, NULL);
}

/* ---- rules --------------------------------------------------------------------------------------------- */

/* The operand whose layout the result gets: of the known ones of its shape, the one that fewest threads share. `all`:
 * only if every one of them is known; `once`: only one that threads do not share. */
static int32_t infer_move_source(const tesela_kernel_program *program, const tesela__infer_step *step,
                                 bool all, bool once, tesela_register *image) {
  const tesela__infer_tensor *result = tesela__infer_arg(program, step, 0);
  int64_t fewest = 0;
  int32_t source = 0;
  for (int32_t i = 1; i < step->n; i++) {
    const tesela__infer_tensor *operand = tesela__infer_arg(program, step, i);
    tesela_register candidate;
    if (operand == result) continue;
    if (!operand->registers) {
      if (all && operand->elements == result->elements) return 0;
      continue;
    }
    int64_t copies = tesela_register_copies(operand->registers);
    if ((once && copies > 1) || (source > 0 && copies >= fewest)) continue;
    if (step->op->image(step, operand->registers, result, &candidate) != TESELA_OK) continue;
    *image = candidate;
    fewest = copies;
    source = i;
  }
  return source;
}

static tesela_status infer_move_forward(tesela_kernel_program *program, tesela__infer_step *step,
                                        tesela__infer_level level, bool *gave, tesela_error *err) {
  tesela__infer_tensor *result = tesela__infer_arg(program, step, 0);
  tesela_register image;
  if (result->registers) return TESELA_OK;
  int32_t source = infer_move_source(program, step, level == TESELA__INFER_FORWARD,
                                     level == TESELA__INFER_ONE_OPERAND, &image);
  if (source == 0) return TESELA_OK;
  return tesela__infer_give(program, result, &image, step, gave, err, "from %s",
                            tesela__infer_arg(program, step, source)->name);
}

static tesela_status infer_move_backward(tesela_kernel_program *program, tesela__infer_step *step, bool *gave,
                                         tesela_error *err) {
  tesela__infer_tensor *result = tesela__infer_arg(program, step, 0);
  tesela_status status = TESELA_OK;
  if (!result->registers) return TESELA_OK;
  for (int32_t i = 1; i < step->n && status == TESELA_OK; i++) {
    tesela__infer_tensor *operand = tesela__infer_arg(program, step, i);
    tesela_register layout;
    if (operand->registers || operand->space != TESELA_TENSOR_REGISTER) continue;
    if (step->op->preimage(step, result->registers, operand, &layout) != TESELA_OK) continue;
    status = tesela__infer_give(program, operand, &layout, step, gave, err, "operand of %s", result->name);
  }
  return status;
}

tesela_status tesela__infer_rule_move(tesela_kernel_program *program, tesela__infer_step *step,
                                      tesela__infer_level level, bool *gave, tesela_error *err) {
  if (tesela__infer_arg(program, step, 0)->space != TESELA_TENSOR_REGISTER) return TESELA_OK;
  switch (level) {
  case TESELA__INFER_FORWARD:
  case TESELA__INFER_ONE_OPERAND:
  case TESELA__INFER_ANY_OPERAND:
    return infer_move_forward(program, step, level, gave, err);
  case TESELA__INFER_BACKWARD:
    return infer_move_backward(program, step, gave, err);
  default:
    return TESELA_OK;
  }
}

/* A conversion does not constrain its sides; without other information both get the same layout. */
tesela_status tesela__infer_rule_convert(tesela_kernel_program *program, tesela__infer_step *step,
                                         tesela__infer_level level, bool *gave, tesela_error *err) {
  tesela__infer_tensor *dst = tesela__infer_arg(program, step, 0), *src = tesela__infer_arg(program, step, 1);
  if (level != TESELA__INFER_CONVERT) return TESELA_OK;
  if (src->registers && !dst->registers)
    return tesela__infer_give(program, dst, src->registers, step, gave, err, "as %s", src->name);
  if (dst->registers && !src->registers)
    return tesela__infer_give(program, src, dst->registers, step, gave, err, "as %s", dst->name);
  return TESELA_OK;
}
