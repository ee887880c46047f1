/* SPDX-License-Identifier: Apache-2.0 */
/*
 * predict_array.c - what both readers need of an argument or a result: a place in the list, errors with its name, its layout mode.
 */
#include <inttypes.h>
#include <string.h>

#include "base/base.h"
#include "predict/predict.h"

tesela_predicted *tesela__predict_add(tesela_prediction *p, bool result, tesela_error *err) {
  void *items = p->array;
  if (p->n >= INT32_MAX || !tesela__grow(&p->allocator, &items, sizeof *p->array, &p->capacity, p->n + 1)) {
    tesela__fail(err, TESELA_E_MEMORY, -1, "no memory for the arguments of the program");
    return NULL;
  }
  p->array = items;
  tesela_predicted *array = &p->array[p->n++];
  memset(array, 0, sizeof *array);
  array->result = array->used = result;
  array->number = result ? p->totals.n_results++ : p->totals.n_arguments++;
  array->alias = -1;
  return array;
}

tesela_status tesela__predict_fail(const tesela_prediction *p, const tesela_predicted *array,
                                   tesela_status status, const char *at, const char *why, tesela_error *err) {
  const int shown = array->name_length < 60 ? (int)array->name_length : 60;
  return tesela__fail(err, status, at ? at - p->text.at : -1, "%s %" PRId32 "%s%.*s%s: %s",
                      array->result ? "result" : "argument", array->number, shown ? " (" : "", shown,
                      shown ? array->name : "", shown ? ")" : "", why);
}

tesela_status tesela__predict_expected(const tesela_prediction *p, const char *at, const char *what,
                                       tesela_error *err) {
  return tesela__fail(err, TESELA_E_SYNTAX, at - p->text.at, "expected %s", what);
}

bool tesela__predict_mode(tesela__words mode, tesela_xla_shape *shape, const char **why) {
  tesela_xla_layout_mode read;
  if (tesela_xla_parse_layout_mode(mode.at, (size_t)(mode.end - mode.at), TESELA_XLA_STRICT, &read, NULL,
                                   NULL) != TESELA_OK ||
      (read.kind == TESELA_XLA_MODE_LAYOUT && read.layout.rank != shape->rank)) {
    *why = "a layout mode that cannot be read";
    return false;
  }
  if (read.kind == TESELA_XLA_MODE_AUTO) {
    *why = "a layout left to the compiler (mode auto)";
    return false;
  }
  shape->has_layout = read.kind == TESELA_XLA_MODE_LAYOUT;
  if (shape->has_layout) shape->layout = read.layout;
  return true;
}
