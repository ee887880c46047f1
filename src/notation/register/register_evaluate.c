/* SPDX-License-Identifier: Apache-2.0 */
/*
 * register_evaluate.c - evaluates functions of layout expressions: passes the arguments of calls to register.h.
 * register_evaluate_tile.c has the functions that are only for tiles in memory.
 *
 * Arguments of a call are numbered as in the table's text: argument 0 is the first name.
 */
#include "notation/register/register_read.h"

void tesela__call_numbers(const tesela__function_call *call, int32_t k, tesela__numbers *list) {
  tesela__expression_reader *reader = call->reader;
  const tesela__argument *argument = &call->argument[k];
  size_t at = reader->in.at;
  list->n = argument->given ? argument->count : 0;
  reader->in.at = argument->at;
  if (list->n > 0 && !tesela__read_take(&reader->in, '[')) tesela__read_take(&reader->in, '(');
  for (int32_t i = 0; i < list->n; i++) {
    list->number[i] = 0;
    tesela__expression_number(reader, &list->number[i]);
    tesela__read_take(&reader->in, ',');
  }
  reader->in.at = at;
}

const tesela__operand *tesela__call_operand(const tesela__function_call *call, int32_t k) {
  return &call->reader->operand[call->argument[k].operand];
}

tesela_status tesela__call_same_length(const tesela__function_call *call, int32_t a,
                                       const tesela__numbers *list_a, int32_t b,
                                       const tesela__numbers *list_b, tesela_reason reason) {
  const tesela__argument *first = &call->argument[a], *second = &call->argument[b];
  if (list_a->n == list_b->n) return TESELA_OK;
  return tesela__refuse(call->reader->in.err, TESELA_E_INVALID, reason,
                        "%.*s has %" PRId32 " numbers, but %.*s has %" PRId32 ": %s(%s)",
                        (int)first->name_length, first->name, list_a->n, (int)second->name_length,
                        second->name, list_b->n, call->function->name, call->function->arguments);
}

const char *tesela__operand_text(int32_t kind) {
  switch (kind) {
  case TESELA__OPERAND_REGISTER:
    return "a register layout";
  case TESELA__OPERAND_SHARED:
    return "a shared layout";
  case TESELA__OPERAND_GLOBAL:
    return "a global layout";
  case TESELA__OPERAND_MEMORY:
    return "a shared or global layout";
  case TESELA__OPERAND_SWIZZLE:
    return "a swizzle";
  default:
    return "a layout";
  }
}

/* ---- register layouts: creation ---- */

typedef tesela_status eval_shape(tesela_register *, int32_t, const int64_t *, tesela_error *);
typedef tesela_status eval_ranks(tesela_register *, int32_t, const int64_t *, const int64_t *,
                                 tesela_error *);
typedef tesela_status eval_modes(tesela_register *, int32_t, const int64_t *, int32_t, const int64_t *,
                                 int32_t, const int64_t *, int32_t, const int64_t *, tesela_error *);

static tesela_status eval_of_shape(const tesela__function_call *call, tesela__operand *out, eval_shape *make,
                                   tesela_error *err) {
  tesela__numbers shape;
  tesela__call_numbers(call, 0, &shape);
  out->kind = TESELA__OPERAND_REGISTER;
  return make(&out->registers, shape.n, shape.number, err);
}

static tesela_status eval_of_ranks(const tesela__function_call *call, tesela__operand *out, eval_ranks *make,
                                   tesela_error *err) {
  tesela__numbers shape, ranks;
  bool ranked = call->argument[1].given;
  tesela__call_numbers(call, 0, &shape);
  tesela__call_numbers(call, 1, &ranks);
  tesela_status status =
      ranked ? tesela__call_same_length(call, 1, &ranks, 0, &shape, TESELA_REASON_RANKS_LENGTH) : TESELA_OK;
  if (status != TESELA_OK) return status;
  out->kind = TESELA__OPERAND_REGISTER;
  return make(&out->registers, shape.n, shape.number, ranked ? ranks.number : NULL, err);
}

static tesela_status eval_of_modes(const tesela__function_call *call, tesela__operand *out, eval_modes *make,
                                   tesela_error *err) {
  tesela__numbers list[4];
  for (int32_t k = 0; k < 4; k++) tesela__call_numbers(call, k, &list[k]);
  out->kind = TESELA__OPERAND_REGISTER;
  return make(&out->registers, list[0].n, list[0].number, list[1].n, list[1].number, list[2].n,
              list[2].number, list[3].n, list[3].number, err);
}

tesela_status tesela__eval_spatial(const tesela__function_call *call, tesela__operand *out,
                                   tesela_error *err) {
  return eval_of_ranks(call, out, tesela_register_spatial, err);
}
tesela_status tesela__eval_local(const tesela__function_call *call, tesela__operand *out, tesela_error *err) {
  return eval_of_ranks(call, out, tesela_register_local, err);
}
tesela_status tesela__eval_column_spatial(const tesela__function_call *call, tesela__operand *out,
                                          tesela_error *err) {
  return eval_of_shape(call, out, tesela_register_column_spatial, err);
}
tesela_status tesela__eval_column_local(const tesela__function_call *call, tesela__operand *out,
                                        tesela_error *err) {
  return eval_of_shape(call, out, tesela_register_column_local, err);
}
tesela_status tesela__eval_layout(const tesela__function_call *call, tesela__operand *out,
                                  tesela_error *err) {
  return eval_of_modes(call, out, tesela_register_make, err);
}
tesela_status tesela__eval_layout_raw(const tesela__function_call *call, tesela__operand *out,
                                      tesela_error *err) {
  return eval_of_modes(call, out, tesela_register_make_raw, err);
}

tesela_status tesela__eval_replicated(const tesela__function_call *call, tesela__operand *out,
                                      tesela_error *err) {
  tesela__numbers shape;
  tesela__call_numbers(call, 0, &shape);
  out->kind = TESELA__OPERAND_REGISTER;
  return tesela_register_replicated(&out->registers, shape.n, shape.number, call->argument[1].number, err);
}

tesela_status tesela__eval_auto(const tesela__function_call *call, tesela__operand *out, tesela_error *err) {
  tesela__numbers shape;
  tesela__call_numbers(call, 1, &shape);
  out->kind = TESELA__OPERAND_REGISTER;
  return tesela_register_auto_local_spatial(&out->registers, call->argument[0].number, shape.n, shape.number,
                                            err);
}

/* ---- a layout and a list ---- */

typedef tesela_status eval_registers(tesela_register *, const tesela_register *, int32_t, const int64_t *,
                                     tesela_error *);
typedef tesela_status eval_memory(tesela_tile_memory *, const tesela_tile_memory *, int32_t, const int64_t *,
                                  tesela_error *);

/* Call the function for the layout's kind; it is NULL for a kind that the table excludes. */
static tesela_status eval_with_list(const tesela__operand *layout, const tesela__numbers *list,
                                    tesela__operand *out, eval_registers *of_registers,
                                    eval_memory *of_memory, tesela_error *err) {
  int32_t kind = layout->kind;
  tesela_status status = kind == TESELA__OPERAND_REGISTER
                             ? of_registers(&out->registers, &layout->registers, list->n, list->number, err)
                             : of_memory(&out->memory, &layout->memory, list->n, list->number, err);
  if (status == TESELA_OK) out->kind = kind;
  return status;
}

static tesela_status eval_layout_list(const tesela__function_call *call, tesela__operand *out,
                                      eval_registers *of_registers, eval_memory *of_memory,
                                      tesela_error *err) {
  tesela__numbers list;
  tesela__call_numbers(call, 1, &list);
  return eval_with_list(tesela__call_operand(call, 0), &list, out, of_registers, of_memory, err);
}

tesela_status tesela__eval_squeeze(const tesela__function_call *call, tesela__operand *out,
                                   tesela_error *err) {
  return eval_layout_list(call, out, tesela_register_squeeze, tesela_tile_memory_squeeze, err);
}
tesela_status tesela__eval_unsqueeze(const tesela__function_call *call, tesela__operand *out,
                                     tesela_error *err) {
  return eval_layout_list(call, out, tesela_register_unsqueeze, tesela_tile_memory_unsqueeze, err);
}
tesela_status tesela__eval_permute(const tesela__function_call *call, tesela__operand *out,
                                   tesela_error *err) {
  return eval_layout_list(call, out, tesela_register_permute, tesela_tile_memory_permute, err);
}
tesela_status tesela__eval_reshape(const tesela__function_call *call, tesela__operand *out,
                                   tesela_error *err) {
  return eval_layout_list(call, out, tesela_register_reshape, tesela_tile_memory_reshape, err);
}
tesela_status tesela__eval_reduce_to(const tesela__function_call *call, tesela__operand *out,
                                     tesela_error *err) {
  return eval_layout_list(call, out, tesela_register_reduce_to, NULL, err);
}
tesela_status tesela__eval_repeat_to(const tesela__function_call *call, tesela__operand *out,
                                     tesela_error *err) {
  return eval_layout_list(call, out, tesela_register_repeat_to, NULL, err);
}
tesela_status tesela__eval_with_shape(const tesela__function_call *call, tesela__operand *out,
                                      tesela_error *err) {
  return eval_layout_list(call, out, tesela_register_with_shape, NULL, err);
}
tesela_status tesela__eval_retain(const tesela__function_call *call, tesela__operand *out,
                                  tesela_error *err) {
  return eval_layout_list(call, out, NULL, tesela_tile_memory_retain, err);
}

/* Reverse the order of all dims. */
tesela_status tesela__eval_transpose(const tesela__function_call *call, tesela__operand *out,
                                     tesela_error *err) {
  const tesela__operand *layout = tesela__call_operand(call, 0);
  tesela__numbers dims;
  dims.n = layout->kind == TESELA__OPERAND_REGISTER ? layout->registers.rank : layout->memory.rank;
  for (int32_t d = 0; d < dims.n; d++) dims.number[d] = dims.n - 1 - d;
  return eval_with_list(layout, &dims, out, tesela_register_permute, tesela_tile_memory_permute, err);
}

/* ---- register layouts: the rest ---- */

tesela_status tesela__eval_flatten(const tesela__function_call *call, tesela__operand *out,
                                   tesela_error *err) {
  return tesela_register_flatten(&out->registers, &tesela__call_operand(call, 0)->registers,
                                 call->argument[1].number, call->argument[2].number, err);
}

tesela_status tesela__eval_reduce(const tesela__function_call *call, tesela__operand *out,
                                  tesela_error *err) {
  tesela__numbers dims;
  tesela__call_numbers(call, 1, &dims);
  return tesela_register_reduce(&out->registers, &tesela__call_operand(call, 0)->registers, dims.n,
                                dims.number, call->argument[2].number != 0, err);
}

tesela_status tesela__eval_reduced(const tesela__function_call *call, tesela__operand *out,
                                   tesela_error *err) {
  (void)err;
  tesela_register_reduced(&out->registers, &tesela__call_operand(call, 0)->registers);
  return TESELA_OK;
}

tesela_status tesela__eval_canonicalize(const tesela__function_call *call, tesela__operand *out,
                                        tesela_error *err) {
  (void)err;
  tesela_register_canonical(&out->registers, &tesela__call_operand(call, 0)->registers);
  return TESELA_OK;
}

tesela_status tesela__eval_concat(const tesela__function_call *call, tesela__operand *out,
                                  tesela_error *err) {
  return tesela_register_concat(&out->registers, &tesela__call_operand(call, 0)->registers,
                                &tesela__call_operand(call, 1)->registers, err);
}

tesela_status tesela__eval_divide(const tesela__function_call *call, tesela__operand *out,
                                  tesela_error *err) {
  return tesela_register_divide(&out->registers, &tesela__call_operand(call, 0)->registers,
                                &tesela__call_operand(call, 1)->registers, err);
}

tesela_status tesela__eval_left_divide(const tesela__function_call *call, tesela__operand *out,
                                       tesela_error *err) {
  return tesela_register_left_divide(&out->registers, &tesela__call_operand(call, 0)->registers,
                                     &tesela__call_operand(call, 1)->registers, err);
}

static tesela_status eval_compose_into(tesela__operand *out, const tesela__operand *outer,
                                       const tesela__operand *inner, tesela_error *err) {
  int32_t kind = outer->kind;
  tesela_status status =
      kind == TESELA__OPERAND_REGISTER
          ? tesela_register_compose(&out->registers, &outer->registers, &inner->registers, err)
          : tesela_tile_memory_compose(&out->memory, &outer->memory, &inner->memory, err);
  if (status == TESELA_OK) out->kind = kind;
  return status;
}

tesela_status tesela__eval_compose(const tesela__function_call *call, tesela__operand *out,
                                   tesela_error *err) {
  return eval_compose_into(out, tesela__call_operand(call, 0), tesela__call_operand(call, 1), err);
}

tesela_status tesela__operand_compose(tesela__operand *a, const tesela__operand *b, tesela_error *err) {
  if (a->kind != b->kind || a->kind == TESELA__OPERAND_SWIZZLE)
    return tesela__fail(err, TESELA_E_MISMATCH, -1, "%s * %s; expected two layouts of the same kind",
                        tesela__operand_text(a->kind), tesela__operand_text(b->kind));
  return eval_compose_into(a, a, b, err);
}

tesela_status tesela__operand_divide(tesela__operand *a, const tesela__operand *b, tesela_error *err) {
  if (a->kind != TESELA__OPERAND_REGISTER || b->kind != TESELA__OPERAND_REGISTER)
    return tesela__fail(err, TESELA_E_MISMATCH, -1, "%s / %s; expected two register layouts",
                        tesela__operand_text(a->kind), tesela__operand_text(b->kind));
  return tesela_register_divide(&a->registers, &a->registers, &b->registers, err);
}
