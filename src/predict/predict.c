/* SPDX-License-Identifier: Apache-2.0 */
/*
 * predict.c - arguments and results of a program before it is compiled: their layouts, what they take, and the sums.
 */
#include <string.h>

#include "base/base.h"
#include "predict/predict.h"

/* The layout, and what the array takes. */
static tesela_status place(const tesela_prediction *p, tesela_predicted *array, tesela_error *err) {
  tesela_xla_sizes sizes;
  tesela_error own = {.at = -1};
  uint32_t options =
      TESELA_XLA_CHOOSE_ARGUMENT | p->tpu->choose | (array->shape.has_layout ? 0 : TESELA_XLA_CHOOSE_ORDER);
  const bool tiled = array->shape.has_layout && array->shape.layout.n_tiles > 0;
  if (array->unknown || array->shape.kind == TESELA_XLA_TOKEN) return TESELA_OK;
  tesela_status status = p->final || tiled ? TESELA_OK : tesela_xla_choose(&array->shape, options, &own);
  if (status == TESELA_OK) status = tesela_xla_size(&array->shape, &sizes, &own);
  if (status != TESELA_OK) return tesela__predict_fail(p, array, status, NULL, own.message, err);
  if (array->host) array->shape.layout.memory_space = 5;
  array->bytes = sizes.allocated_bytes;
  array->unpadded_bytes = sizes.unpadded_bytes;
  return TESELA_OK;
}

static bool count(tesela_prediction_totals *t, const tesela_predicted *array) {
  int64_t *sum = array->result ? array->host ? &t->host_output_bytes : &t->output_bytes
                 : array->host ? &t->host_argument_bytes
                               : &t->argument_bytes;
  t->n_unknown += array->unknown != NULL;
  return tesela__add(*sum, array->bytes, sum) &&
         (array->alias < 0 || array->host || tesela__add(t->aliased_bytes, array->bytes, &t->aliased_bytes));
}

static tesela_status place_all(tesela_prediction *p, tesela_error *err) {
  tesela_prediction_totals *t = &p->totals;
  for (size_t i = 0; i < p->n; i++) {
    tesela_status status = place(p, &p->array[i], err);
    if (status != TESELA_OK) return status;
    if (!count(t, &p->array[i]))
      return tesela__fail(err, TESELA_E_OVERFLOW, -1, "all arguments or results together exceed 64 bits");
  }
  if (t->n_results > 1)
    (void)tesela__round_up(4 * (int64_t)t->n_results, p->tpu->table_unit, &t->table_bytes);
  if (!tesela__add(t->output_bytes, t->table_bytes, &t->output_bytes))
    return tesela__fail(err, TESELA_E_OVERFLOW, -1, "all results together exceed 64 bits");
  return TESELA_OK;
}

/* A program over several devices must say how each argument is divided; and what an argument becomes must exist. */
static tesela_status check_arguments(const tesela_prediction *p, tesela_error *err) {
  for (size_t i = 0; i < p->n; i++) {
    if (p->array[i].alias >= p->totals.n_results)
      return tesela__predict_fail(p, &p->array[i], TESELA_E_INVALID, p->array[i].name,
                                  "it becomes a result that the program does not have", err);
    if (p->array[i].unknown && !p->array[i].result)
      return tesela__predict_fail(p, &p->array[i], TESELA_E_UNSUPPORTED, p->array[i].name,
                                  p->array[i].unknown, err);
  }
  return TESELA_OK;
}

tesela_status tesela_predict_create(tesela_prediction **prediction, const char *text, size_t length,
                                    const char *target, const tesela_allocator *allocator,
                                    tesela_error *err) {
  TESELA__NEED(err, prediction, text, target);
  const tesela_allocator own = tesela__allocator(allocator);
  const tesela__tpu *tpu = tesela__tpu_named(target, strlen(target));
  *prediction = NULL;
  if (!tpu) return tesela__tpu_unknown(target, strlen(target), -1, err);
  tesela_prediction *p = tesela__alloc(&own, sizeof *p, _Alignof(tesela_prediction));
  if (!p) return tesela__fail(err, TESELA_E_MEMORY, -1, "no memory for the prediction");
  *p = (tesela_prediction){.allocator = own, .text = {text, text + length}, .tpu = tpu};
  p->totals.devices = 1;
  tesela__words start = p->text;
  tesela_status status = tesela__words_take(&start, "HloModule ") ? tesela__predict_hlo(p, err)
                                                                  : tesela__predict_stablehlo(p, err);
  if (status == TESELA_OK) status = check_arguments(p, err);
  if (status == TESELA_OK) status = place_all(p, err);
  if (status != TESELA_OK) {
    tesela_predict_destroy(p);
    return status;
  }
  *prediction = p;
  return TESELA_OK;
}

void tesela_predict_destroy(tesela_prediction *prediction) {
  if (!prediction) return;
  const tesela_allocator allocator = prediction->allocator;
  tesela__release(&allocator, prediction->array);
  tesela__release(&allocator, prediction);
}

tesela_prediction_totals tesela_predict_totals(const tesela_prediction *prediction) {
  return prediction ? prediction->totals : (tesela_prediction_totals){0};
}

const tesela_predicted *tesela_predict_at(const tesela_prediction *prediction, int32_t i) {
  return prediction && i >= 0 && (size_t)i < prediction->n ? &prediction->array[i] : NULL;
}
