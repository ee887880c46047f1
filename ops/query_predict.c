/* SPDX-License-Identifier: Apache-2.0 */
/*
 * query_predict.c - the op predict: what the arguments and results of a program take on a TPU, before it is compiled.
 */
#include <tesela/report.h>

#include "request.h"

static void put_array(tesela_sink *out, const tesela_predicted *array) {
  tesela_put_object(out);
  tesela_writer name = tesela_put_key_begin(out, "name");
  name.write(name.user, array->name, array->name_length);
  tesela_put_text_end(out);
  tesela_writer whole = tesela_put_key_begin(out, "shape");
  tesela_xla_print(&array->whole, false, &whole, NULL);
  tesela_put_text_end(out);
  if (array->unknown) {
    tesela_put_key_text(out, "unknown", array->unknown);
  } else {
    request_put_shape(out, "layout", &array->shape);
    tesela_put_key_int(out, "bytes", array->bytes);
    tesela_put_key_int(out, "unpadded_bytes", array->unpadded_bytes);
  }
  tesela_put_key_text(out, "memory", array->host ? "host" : "device");
  if (!array->result) {
    tesela_put_key_bool(out, "used", array->used);
    tesela_put_key_bool(out, "donated", array->donated);
    if (array->alias >= 0) tesela_put_key_int(out, "result", array->alias);
  }
  tesela_put_end(out);
}

static void put_side(tesela_sink *out, const char *key, const tesela_prediction *prediction, bool result) {
  const tesela_predicted *array;
  tesela_put_key_list(out, key);
  for (int32_t i = 0; (array = tesela_predict_at(prediction, i)) != NULL; i++)
    if (array->result == result) put_array(out, array);
  tesela_put_end(out);
}

tesela_status op_predict(tesela_request *q) {
  const tesela_value *text = tesela_request_get(q, "text");
  const char *target = tesela_value_text(tesela_request_get(q, "target"));
  tesela_prediction *prediction;
  q->field = "text";
  tesela_status status = tesela_predict_create(&prediction, tesela_value_text(text),
                                               tesela_value_length(text), target, NULL, q->err);
  if (status != TESELA_OK) return status;
  const tesela_prediction_totals t = tesela_predict_totals(prediction);
  tesela_put_key_int(q->out, "devices", t.devices);
  put_side(q->out, "arguments", prediction, false);
  put_side(q->out, "results", prediction, true);
  tesela_put_key_int(q->out, "argument_bytes", t.argument_bytes);
  tesela_put_key_int(q->out, "host_argument_bytes", t.host_argument_bytes);
  tesela_put_key_int(q->out, "output_bytes", t.output_bytes);
  tesela_put_key_int(q->out, "host_output_bytes", t.host_output_bytes);
  tesela_put_key_int(q->out, "table_bytes", t.table_bytes);
  tesela_put_key_int(q->out, "aliased_bytes", t.aliased_bytes);
  tesela_put_key_int(q->out, "unknown_results", t.n_unknown);
  tesela_predict_destroy(prediction);
  return TESELA_OK;
}
