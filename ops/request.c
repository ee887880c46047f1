/* SPDX-License-Identifier: Apache-2.0 */
/*
 * request.c - what operations ask of their request: fields, layouts, indices; how they fail.
 */
#include "request.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "quote.h"

tesela_status tesela_request_fail(tesela_request *q, tesela_status status, int64_t at, const char *format,
                                  ...) {
  va_list args;
  va_start(args, format);
  tesela_error_fill(q ? q->err : NULL, status, at, format, args);
  va_end(args);
  return status;
}

tesela_status ops_fail(tesela_error *err, tesela_status status, int64_t at, const char *format, ...) {
  va_list args;
  va_start(args, format);
  tesela_error_fill(err, status, at, format, args);
  va_end(args);
  return status;
}

tesela_status ops_over(tesela_error *err, tesela_reason limit, const char *format, ...) {
  va_list args;
  va_start(args, format);
  tesela_error_fill(err, TESELA_E_LIMIT, -1, format, args);
  va_end(args);
  if (err) err->reason = limit;
  return TESELA_E_LIMIT;
}

/* ---- unknown names ---------------------------------------------------------------------------------------- */

/* The name of target i: `user`, if that is not NULL, then the built-in ones with other names. */
static const char *target_name(const void *user, int32_t i) {
  const tesela_target *own = user, *target;
  if (own && i-- == 0) return own->name;
  target = tesela_target_at(i);
  return target && own && strcmp(target->name, own->name) == 0 ? "" : target ? target->name : NULL;
}

tesela_status ops_unknown_target(tesela_error *err, const char *name, const tesela_target *own) {
  return tesela_error_unknown(err, "target", name, target_name, own);
}

tesela_status tesela_request_folder(tesela_request *q, const char *field, int *fd, const char **name) {
  if (!q || !field || !fd || !name)
    return tesela_request_fail(q, TESELA_E_INVALID, -1, "argument %s is NULL",
                               !q       ? "request"
                               : !field ? "field"
                               : !fd    ? "fd"
                                        : "name");
  return request_folder(q, tesela_request_get(q, field), fd, name);
}

tesela_status tesela_request_open(tesela_request *q, const char *field, int *fd) {
  if (!q || !field || !fd)
    return tesela_request_fail(q, TESELA_E_INVALID, -1, "argument %s is NULL",
                               !q       ? "request"
                               : !field ? "field"
                                        : "fd");
  return request_open(q, tesela_request_get(q, field), fd);
}

void request_note(tesela_request *q, const char *format, ...) {
  tesela_error text;
  va_list args;
  if (!q->note) return;
  va_start(args, format);
  tesela_error_fill(&text, TESELA_OK, -1, format, args);
  va_end(args);
  q->note(q->note_user, text.message);
}

/* ---- counter-examples --------------------------------------------------------------------------------------
 */

/* The values and the bytes of texts and names in a tree. */
static void measure_value(const tesela_value *value, size_t *values, size_t *bytes) {
  ++*values;
  if (value->name) *bytes += strlen(value->name) + 1;
  if (value->kind == TESELA_VALUE_TEXT) *bytes += value->n + 1;
  if (value->kind == TESELA_VALUE_LIST || value->kind == TESELA_VALUE_OBJECT)
    for (size_t i = 0; i < value->n; i++) measure_value(&value->as.item[i], values, bytes);
}

static const char *copy_bytes(const char *text, size_t n, char **bytes) {
  char *out = *bytes;
  memcpy(out, text, n);
  *bytes += n;
  return out;
}

/* Copy a value to *to; its items go to *room, its texts to *bytes. */
static void copy_value(const tesela_value *value, tesela_value *to, tesela_value **room, char **bytes) {
  *to = *value;
  if (value->name) to->name = copy_bytes(value->name, strlen(value->name) + 1, bytes);
  if (value->kind == TESELA_VALUE_TEXT) to->as.text = copy_bytes(value->as.text, value->n + 1, bytes);
  if (value->kind != TESELA_VALUE_LIST && value->kind != TESELA_VALUE_OBJECT) return;
  tesela_value *items = *room;
  *room += value->n;
  to->as.item = items;
  for (size_t i = 0; i < value->n; i++) copy_value(&value->as.item[i], &items[i], room, bytes);
}

void request_counter_example(tesela_request *q, const tesela_value *object) {
  size_t values = 0, bytes = 0;
  measure_value(object, &values, &bytes);
  tesela_value *copy = malloc(values * sizeof *copy + bytes);
  if (!copy) { /* instead of the failure that it was to explain */
    (void)tesela_request_fail(q, TESELA_E_MEMORY, -1, "no memory for the counter-example");
    return;
  }
  tesela_value *room = copy + 1;
  char *text = (char *)(copy + values);
  copy_value(object, copy, &room, &text);
  free(q->counter_example);
  q->counter_example = copy;
}

/* Name and description of each type. */
static const struct {
  const char *name, *words;
} types[] = {
    [TESELA_FIELD_ANY] = {"any", "string (a layout)"},
    [TESELA_FIELD_LAYOUT] = {"layout", "string (an XLA shape)"},
    [TESELA_FIELD_TARGET] = {"target", "string (an XLA shape, or a layout in braces)"},
    [TESELA_FIELD_TEXT] = {"text", "string"},
    [TESELA_FIELD_INDICES] = {"indices", "list of lists of integers"},
    [TESELA_FIELD_PLACE] = {"place", "integer or pair of integers"},
    [TESELA_FIELD_PLACES] = {"places", "list of integers or of pairs"},
    [TESELA_FIELD_FLAG] = {"flag", "true or false"},
    [TESELA_FIELD_NUMBER] = {"number", "integer"},
    [TESELA_FIELD_TEXTS] = {"texts", "list of strings"},
    [TESELA_FIELD_NUMBERS] = {"numbers", "list of integers"},
    [TESELA_FIELD_OBJECT] = {"object", "object"},
    [TESELA_FIELD_OBJECTS] = {"objects", "list of objects"},
    [TESELA_FIELD_DEVICE] = {"device", "string or object (a device layout)"},
    [TESELA_FIELD_VALUE] = {"value", "any value"},
};

static bool is_type(tesela_field_type type) { return (size_t)type < sizeof types / sizeof types[0]; }
const char *tesela_field_type_name(tesela_field_type type) { return is_type(type) ? types[type].name : NULL; }
const char *tesela_field_type_words(tesela_field_type type) {
  return is_type(type) ? types[type].words : NULL;
}

/* ---- fields -----------------------------------------------------------------------------------------------
 */

const tesela_value *tesela_request_get(tesela_request *q, const char *field) {
  if (!q) return NULL;
  q->field = field;
  return tesela_value_get(q->value, field);
}

bool tesela_request_flag(tesela_request *q, const char *field) {
  return tesela_value_bool(tesela_request_get(q, field));
}

tesela_layout_read_options request_reading(const tesela_request *q, const char *notation) {
  tesela_layout_read_options options = {.array = NULL};
  if (q->reading) options = *q->reading;
  options.notation = notation;
  options.flags = q->flags;
  options.device =
      (tesela_device_text_options){.target = q->target, .targets = q->target, .n_targets = q->target != NULL};
  return options;
}

tesela_status request_read(tesela_request *q, const tesela_value *text, const char *notation,
                           tesela_any_layout *any) {
  const tesela_layout_read_options options = request_reading(q, notation);
  return tesela_layout_read(tesela_value_text(text), tesela_value_length(text), &options, any, q->err);
}

tesela_status request_layout(tesela_request *q, const char *field, tesela_xla_shape *shape,
                             tesela_layout *layout) {
  tesela_any_layout any;
  tesela_status status = request_read(q, tesela_request_get(q, field), "xla", &any);
  if (status == TESELA_OK) *shape = any.shape;
  return status == TESELA_OK && layout ? tesela_any_to_layout(&any, layout, q->err) : status;
}

void request_put_shape(tesela_sink *out, const char *name, const tesela_xla_shape *shape) {
  tesela_writer to = tesela_put_key_begin(out, name);
  tesela_xla_print(shape, true, &to, NULL);
  tesela_put_text_end(out);
}

tesela_status request_check_notation(tesela_request *q, const char *field) {
  const char *name = tesela_value_text(tesela_request_get(q, field));
  const tesela_notation *used;
  char text[48];
  snprintf(text, sizeof text, "%.40s:", name);
  if (strlen(name) > 40 || tesela_notation_find(text, strlen(text), &used, NULL, q->err) != TESELA_OK) {
    q->err->at = -1;
    return strlen(name) > 40 ? ops_fail(q->err, TESELA_E_UNSUPPORTED, -1, "unknown notation '%.40s'", name)
                             : q->err->status;
  }
  return TESELA_OK;
}

bool request_is_tuple(tesela_request *q, const char *field, size_t *used) {
  const tesela_value *value = tesela_request_get(q, field);
  const tesela_notation *found;
  return tesela_notation_find(value->as.text, value->n, &found, used, NULL) == TESELA_OK &&
         strcmp(found->name, "xla") == 0 &&
         value->as.text[*used + strspn(value->as.text + *used, " \t\r\n")] == '(';
}

tesela_status request_any(tesela_request *q, const char *field, tesela_any_layout *any,
                          tesela_layout *layout) {
  tesela_status status = request_read(q, tesela_request_get(q, field), NULL, any);
  return status == TESELA_OK && layout ? tesela_any_to_layout(any, layout, q->err) : status;
}

/* "indices[3]"; i < 0: "index". */
static const char *index_name(int64_t i, char text[40]) {
  snprintf(text, 40, i < 0 ? "index" : "indices[%" PRId64 "]", i);
  return text;
}

tesela_status request_index(tesela_request *q, int32_t rank, const int64_t *shape, const tesela_value *list,
                            int64_t i, int64_t *index) {
  char name[40];
  if (tesela_value_size(list) != (size_t)rank)
    return tesela_request_fail(q, TESELA_E_INVALID, -1, "%s has %zu coordinates; expected %" PRId32,
                               index_name(i, name), tesela_value_size(list), rank);
  for (int32_t d = 0; d < rank; d++) {
    index[d] = tesela_value_int(tesela_value_at(list, (size_t)d));
    if (index[d] >= 0 && index[d] < shape[d]) continue;
    return tesela_error_outside(q->err, -1, index_name(i, name), d, index[d], 0, shape[d] - 1);
  }
  return TESELA_OK;
}

static const char *op_name(const void *user, int i) {
  const tesela_request *q = user;
  return i < q->n_ops ? q->ops[i].name : NULL;
}

tesela_status request_find(tesela_request *q, const char *field, const tesela_op_entry **op) {
  const char *name = tesela_value_text(tesela_request_get(q, field));
  for (int i = 0; i < q->n_ops; i++)
    if (strcmp(q->ops[i].name, name) == 0) {
      *op = &q->ops[i];
      return TESELA_OK;
    }
  const char *near = tesela_nearest(name, strlen(name), op_name, q);
  if (near)
    return tesela_request_fail(q, TESELA_E_UNSUPPORTED, -1, "unknown op '%.40s'; did you mean %s?", name,
                               near);
  return tesela_request_fail(q, TESELA_E_UNSUPPORTED, -1,
                             "unknown op '%.40s'; {\"op\":\"ops\"} lists all ops", name);
}

void tesela_request_free(tesela_request *q) {
  if (!q) return;
  free(q->message);
  free(q->counter_example);
  q->message = NULL;
  q->counter_example = NULL;
}
