/* SPDX-License-Identifier: Apache-2.0 */
/*
 * register_evaluate_tile.c - evaluates functions of tiles in memory: passes the arguments of calls to register.h.
 */
#include "notation/register/register_read.h"

/* Argument k as an int32_t. */
static tesela_status eval_int32(const tesela__function_call *call, int32_t k, int32_t *number) {
  const tesela__argument *argument = &call->argument[k];
  if (argument->number < INT32_MIN || argument->number > INT32_MAX)
    return tesela__fail(call->reader->in.err, TESELA_E_RANGE, (int64_t)argument->at,
                        "%.*s is %" PRId64 "; expected at most %" PRId32, (int)argument->name_length,
                        argument->name, argument->number, INT32_MAX);
  *number = (int32_t)argument->number;
  return TESELA_OK;
}

/* ---- creation ---- */

typedef tesela_status eval_tile(tesela_tile_memory *, tesela_tile_space, int32_t, const int64_t *,
                                tesela_error *);

static void eval_set_space(tesela__operand *out, tesela_tile_space space) {
  out->kind = space == TESELA_TILE_SHARED ? TESELA__OPERAND_SHARED : TESELA__OPERAND_GLOBAL;
}

static tesela_status eval_major(const tesela__function_call *call, tesela__operand *out, eval_tile *make,
                                tesela_tile_space space, tesela_error *err) {
  tesela__numbers shape;
  tesela__call_numbers(call, 0, &shape);
  eval_set_space(out, space);
  return make(&out->memory, space, shape.n, shape.number, err);
}

tesela_status tesela__eval_shared_row(const tesela__function_call *call, tesela__operand *out,
                                      tesela_error *err) {
  return eval_major(call, out, tesela_tile_memory_row_major, TESELA_TILE_SHARED, err);
}
tesela_status tesela__eval_shared_column(const tesela__function_call *call, tesela__operand *out,
                                         tesela_error *err) {
  return eval_major(call, out, tesela_tile_memory_column_major, TESELA_TILE_SHARED, err);
}
tesela_status tesela__eval_global_row(const tesela__function_call *call, tesela__operand *out,
                                      tesela_error *err) {
  return eval_major(call, out, tesela_tile_memory_row_major, TESELA_TILE_GLOBAL, err);
}
tesela_status tesela__eval_global_column(const tesela__function_call *call, tesela__operand *out,
                                         tesela_error *err) {
  return eval_major(call, out, tesela_tile_memory_column_major, TESELA_TILE_GLOBAL, err);
}

static tesela_status eval_strided(const tesela__function_call *call, tesela__operand *out,
                                  tesela_tile_space space, tesela_error *err) {
  tesela__numbers shape, strides;
  tesela__call_numbers(call, 0, &shape);
  tesela__call_numbers(call, 1, &strides);
  tesela_status status = tesela__call_same_length(call, 0, &shape, 1, &strides, TESELA_REASON_DIMS_LENGTH);
  if (status != TESELA_OK) return status;
  eval_set_space(out, space);
  return tesela_tile_memory_strided(&out->memory, space, shape.n, shape.number, strides.number,
                                    call->argument[2].number, err);
}

tesela_status tesela__eval_shared_strided(const tesela__function_call *call, tesela__operand *out,
                                          tesela_error *err) {
  return eval_strided(call, out, TESELA_TILE_SHARED, err);
}
tesela_status tesela__eval_global_strided(const tesela__function_call *call, tesela__operand *out,
                                          tesela_error *err) {
  return eval_strided(call, out, TESELA_TILE_GLOBAL, err);
}

tesela_status tesela__eval_swizzled(const tesela__function_call *call, tesela__operand *out,
                                    tesela_error *err) {
  tesela__numbers shape;
  int32_t bytes = 0;
  tesela_status status = eval_int32(call, 1, &bytes);
  if (status != TESELA_OK) return status;
  tesela__call_numbers(call, 0, &shape);
  eval_set_space(out, TESELA_TILE_SHARED);
  return tesela_tile_memory_swizzled(&out->memory, shape.n, shape.number, bytes, err);
}

/* shape, mode_shape, mode_strides, swizzle, offset, size */
static tesela_status eval_parts(const tesela__function_call *call, tesela__operand *out,
                                tesela_tile_space space, tesela_error *err) {
  tesela__numbers list[3];
  tesela_tile_swizzle swizzle = {0, 0, 0};
  bool swizzled = call->argument[3].given;
  if (swizzled) swizzle = tesela__call_operand(call, 3)->swizzle;
  for (int32_t k = 0; k < 3; k++) tesela__call_numbers(call, k, &list[k]);
  tesela_status status = tesela__call_same_length(call, 1, &list[1], 2, &list[2], TESELA_REASON_DIMS_LENGTH);
  if (status != TESELA_OK) return status;
  eval_set_space(out, space);
  status = tesela_tile_memory_make(&out->memory, space, list[0].n, list[0].number, list[1].n, list[1].number,
                                   list[2].number, call->argument[4].number, swizzled ? &swizzle : NULL, err);
  if (status != TESELA_OK || !call->argument[5].given) return status;
  return tesela_tile_memory_set_size(&out->memory, &out->memory, call->argument[5].number, err);
}

tesela_status tesela__eval_wgmma(const tesela__function_call *call, tesela__operand *out, tesela_error *err) {
  int32_t bits = 0, swizzle_bytes = 0;
  tesela_status status = eval_int32(call, 2, &bits);
  if (status == TESELA_OK) status = eval_int32(call, 3, &swizzle_bytes);
  if (status != TESELA_OK) return status;
  eval_set_space(out, TESELA_TILE_SHARED);
  return tesela_tile_memory_wgmma(&out->memory, call->argument[0].number, call->argument[1].number, bits,
                                  swizzle_bytes, call->argument[4].number != 0, err);
}

tesela_status tesela__eval_shared_parts(const tesela__function_call *call, tesela__operand *out,
                                        tesela_error *err) {
  return eval_parts(call, out, TESELA_TILE_SHARED, err);
}
tesela_status tesela__eval_global_parts(const tesela__function_call *call, tesela__operand *out,
                                        tesela_error *err) {
  return eval_parts(call, out, TESELA_TILE_GLOBAL, err);
}

/* ---- memory: the rest ---- */

tesela_status tesela__eval_swizzle(const tesela__function_call *call, tesela__operand *out,
                                   tesela_error *err) {
  tesela_tile_swizzle swizzle = {0, 0, 0};
  (void)err;
  tesela_status status = eval_int32(call, 0, &swizzle.base);
  if (status == TESELA_OK) status = eval_int32(call, 1, &swizzle.bits);
  if (status == TESELA_OK) status = eval_int32(call, 2, &swizzle.shift);
  if (status != TESELA_OK) return status;
  out->kind = TESELA__OPERAND_SWIZZLE;
  out->swizzle = swizzle;
  return TESELA_OK;
}

tesela_status tesela__eval_with_swizzle(const tesela__function_call *call, tesela__operand *out,
                                        tesela_error *err) {
  int32_t kind = tesela__call_operand(call, 0)->kind;
  tesela_tile_swizzle swizzle = tesela__call_operand(call, 1)->swizzle;
  tesela_status status =
      tesela_tile_memory_with_swizzle(&out->memory, &tesela__call_operand(call, 0)->memory, swizzle, err);
  if (status == TESELA_OK) out->kind = kind;
  return status;
}

tesela_status tesela__eval_slice(const tesela__function_call *call, tesela__operand *out, tesela_error *err) {
  const tesela__operand *layout = tesela__call_operand(call, 0);
  tesela__numbers start, shape;
  tesela__call_numbers(call, 1, &start);
  tesela__call_numbers(call, 2, &shape);
  tesela_status status = tesela__call_same_length(call, 1, &start, 2, &shape, TESELA_REASON_DIMS_LENGTH);
  if (status != TESELA_OK) return status;
  if (start.n != layout->memory.rank)
    return tesela__refuse(err, TESELA_E_INVALID, TESELA_REASON_DIMS_LENGTH,
                          "start has %" PRId32 " numbers; the layout has %" PRId32 " dims", start.n,
                          layout->memory.rank);
  return tesela_tile_memory_slice(&out->memory, &layout->memory, start.number, shape.number, err);
}

tesela_status tesela__eval_prepend(const tesela__function_call *call, tesela__operand *out,
                                   tesela_error *err) {
  return tesela_tile_memory_prepend(&out->memory, &tesela__call_operand(call, 0)->memory,
                                    call->argument[1].number, err);
}

tesela_status tesela__eval_with_size(const tesela__function_call *call, tesela__operand *out,
                                     tesela_error *err) {
  return tesela_tile_memory_set_size(&out->memory, &tesela__call_operand(call, 0)->memory,
                                     call->argument[1].number, err);
}
