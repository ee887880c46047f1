/* SPDX-License-Identifier: Apache-2.0 */
/*
 * query.c - reads a request, checks it by the table of ops, puts the response together.
 */
#include "query.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "json_text.h"

tesela_status query_fail(query *q, tesela_status status, int64_t at, const char *format, ...) {
  va_list args;
  va_start(args, format);
  tesela_error_fill(q->err, status, at, format, args);
  va_end(args);
  return status;
}

const char *query_type_words(query_type type) {
  switch (type) {
  case QUERY_ANY:
    return "string, a layout";
  case QUERY_LAYOUT:
    return "string, an XLA shape";
  case QUERY_TARGET:
    return "string, an XLA shape or a layout in braces";
  case QUERY_TEXT:
    return "string";
  case QUERY_INDICES:
    return "list of lists of integers";
  case QUERY_PLACES:
    return "list of integers or of pairs";
  case QUERY_FLAG:
    return "true or false";
  case QUERY_NUMBER:
    return "integer";
  case QUERY_TEXTS:
    return "list of strings";
  case QUERY_NUMBERS:
    return "list of integers";
  case QUERY_OBJECT:
    return "object";
  case QUERY_OBJECTS:
    return "list of objects";
  case QUERY_DEVICE:
    return "string or object, a device layout";
  }
  return "";
}

/* ---- fields -----------------------------------------------------------------------------------------------
 */

const json_t *query_get(query *q, const char *field) {
  q->field = field;
  return json_object_get(q->request, field);
}

bool query_flag(query *q, const char *field) { return json_is_true(query_get(q, field)); }

tesela_status query_layout(query *q, const char *field, tesela_xla_shape *shape, tesela_layout *layout) {
  const json_t *text = query_get(q, field);
  tesela_any_layout any;
  const tesela_layout_read_options options = {.notation = "xla", .flags = q->flags};
  tesela_status status =
      tesela_layout_read(json_string_value(text), json_string_length(text), &options, &any, q->err);
  if (status == TESELA_OK) *shape = any.shape;
  return status == TESELA_OK && layout ? tesela_any_to_layout(&any, layout, q->err) : status;
}

tesela_status query_any(query *q, const char *field, tesela_any_layout *any, tesela_layout *layout) {
  const json_t *text = query_get(q, field);
  const tesela_layout_read_options options = {.flags = q->flags};
  tesela_status status =
      tesela_layout_read(json_string_value(text), json_string_length(text), &options, any, q->err);
  return status == TESELA_OK && layout ? tesela_any_to_layout(any, layout, q->err) : status;
}

tesela_status query_index(query *q, int32_t rank, const int64_t *shape, const json_t *list, size_t i,
                          int64_t *index) {
  if (json_array_size(list) != (size_t)rank)
    return query_fail(q, TESELA_E_INVALID, -1, "indices[%zu] has %zu coordinates; the rank is %" PRId32, i,
                      json_array_size(list), rank);
  for (int32_t d = 0; d < rank; d++) {
    char name[40];
    index[d] = json_integer_value(json_array_get(list, (size_t)d));
    if (index[d] >= 0 && index[d] < shape[d]) continue;
    snprintf(name, sizeof name, "indices[%zu]", i);
    return tesela_error_outside(q->err, -1, name, d, index[d], 0, shape[d] - 1);
  }
  return TESELA_OK;
}

/* Is every item of a list an integer? Otherwise *bad is the first that is not. */
static bool all_integers(const json_t *list, size_t *bad) {
  for (*bad = 0; *bad < json_array_size(list); ++*bad)
    if (!json_is_integer(json_array_get(list, *bad))) return false;
  return true;
}

static tesela_status check_list(query *q, const query_field *field, const json_t *value) {
  size_t bad = 0, inner = 0;
  if (field->type == QUERY_NUMBERS ||
      (field->type == QUERY_PLACES && !json_is_array(json_array_get(value, 0)))) {
    if (all_integers(value, &bad)) return TESELA_OK;
    return query_fail(q, TESELA_E_INVALID, -1, "%s[%zu] is no integer", field->name, bad);
  }
  for (bad = 0; bad < json_array_size(value); bad++) {
    const json_t *list = json_array_get(value, bad);
    if (!json_is_array(list))
      return query_fail(q, TESELA_E_INVALID, -1, "%s[%zu] is no list of integers", field->name, bad);
    if (!all_integers(list, &inner))
      return query_fail(q, TESELA_E_INVALID, -1, "%s[%zu][%zu] is no integer", field->name, bad, inner);
  }
  return TESELA_OK;
}

static tesela_status check_texts(query *q, const query_field *field, const json_t *value) {
  for (size_t i = 0; i < json_array_size(value); i++)
    if (!json_is_string(json_array_get(value, i)))
      return query_fail(q, TESELA_E_INVALID, -1, "%s[%zu] is no string", field->name, i);
  return TESELA_OK;
}

/* Is `value` one of the words in "a|b|c"? */
static bool is_word(const char *words, const char *value) {
  for (const char *word = words; word; word = strchr(word, '|') ? strchr(word, '|') + 1 : NULL) {
    size_t length = strcspn(word, "|");
    if (strlen(value) == length && memcmp(word, value, length) == 0) return true;
  }
  return false;
}

static tesela_status check_field(query *q, const query_op *op, const query_field *field) {
  const json_t *value = query_get(q, field->name);
  const char *takes = query_type_words(field->type);
  bool right = false;
  if (!value) {
    if (field->optional) return TESELA_OK;
    return query_fail(q, TESELA_E_INVALID, -1, "op %s needs the field %s: %s", op->name, field->name, takes);
  }
  switch (field->type) {
  case QUERY_ANY:
  case QUERY_LAYOUT:
  case QUERY_TARGET:
  case QUERY_TEXT:
    right = json_is_string(value);
    break;
  case QUERY_INDICES:
  case QUERY_PLACES:
    right = json_is_array(value);
    break;
  case QUERY_FLAG:
    right = json_is_boolean(value);
    break;
  case QUERY_NUMBER:
    right = json_is_integer(value);
    break;
  case QUERY_TEXTS:
  case QUERY_NUMBERS:
  case QUERY_OBJECTS:
    right = json_is_array(value);
    break;
  case QUERY_OBJECT:
    right = json_is_object(value);
    break;
  case QUERY_DEVICE:
    right = json_is_object(value) || json_is_string(value);
    break;
  }
  if (!right) return query_fail(q, TESELA_E_INVALID, -1, "the field %s takes this: %s", field->name, takes);
  if (field->words && !is_word(field->words, json_string_value(value)))
    return query_fail(q, TESELA_E_UNSUPPORTED, -1, "the field %s takes one of these: %s", field->name,
                      field->words);
  if (field->type == QUERY_TEXTS) return check_texts(q, field, value);
  if (field->type == QUERY_OBJECTS) return TESELA_OK; /* the op says which item is wrong */
  return json_is_array(value) ? check_list(q, field, value) : TESELA_OK;
}

/* ---- fields nobody asked for ------------------------------------------------------------------------------
 */

static const query_field lenient_field = {"lenient", QUERY_FLAG, true, NULL};

/* Names of the fields an op knows and the request lacks: those that another may be a misspelling of. */
typedef struct missing {
  const json_t *request;
  const query_op *op;
} missing;

static const char *missing_field(const void *user, int wanted) {
  const missing *m = user;
  for (int i = 0, n = 0; i <= QUERY_FIELDS; i++) {
    const char *name = i < QUERY_FIELDS ? m->op->field[i].name : lenient_field.name;
    if (name && !json_object_get(m->request, name) && n++ == wanted) return name;
  }
  return NULL;
}

static bool is_known(const query_op *op, const char *name) {
  for (int i = 0; i < QUERY_FIELDS && op->field[i].name; i++)
    if (strcmp(op->field[i].name, name) == 0) return true;
  return strcmp(name, "id") == 0 || strcmp(name, "op") == 0 || strcmp(name, lenient_field.name) == 0;
}

/* A field that looks like one the request lacks is a mistake; any other is the client's own business. */
static tesela_status check_spelling(query *q, const query_op *op) {
  missing m = {q->request, op};
  for (void *i = json_object_iter((json_t *)q->request); i;
       i = json_object_iter_next((json_t *)q->request, i)) {
    const char *name = json_object_iter_key(i);
    const char *near = is_known(op, name) ? NULL : tesela_nearest(name, strlen(name), missing_field, &m);
    if (!near) continue;
    q->field = near;
    return query_fail(q, TESELA_E_INVALID, -1, "op %s has no field %s; did you mean %s?", op->name, name,
                      near);
  }
  return TESELA_OK;
}

/* ---- one request ------------------------------------------------------------------------------------------
 */

static const char *op_name(const void *user, int i) {
  (void)user;
  return i < query_n_ops ? query_ops[i].name : NULL;
}

static tesela_status find_op(query *q, const query_op **op) {
  const json_t *name = query_get(q, "op");
  if (!name)
    return query_fail(q, TESELA_E_INVALID, -1, "the field op is missing; {\"op\":\"ops\"} lists all ops");
  if (!json_is_string(name)) return query_fail(q, TESELA_E_INVALID, -1, "the field op takes a string");
  for (int i = 0; i < query_n_ops; i++)
    if (strcmp(query_ops[i].name, json_string_value(name)) == 0) {
      *op = &query_ops[i];
      return TESELA_OK;
    }
  const char *near = tesela_nearest(json_string_value(name), strlen(json_string_value(name)), op_name, NULL);
  if (near)
    return query_fail(q, TESELA_E_UNSUPPORTED, -1, "there is no op %.40s; did you mean %s?",
                      json_string_value(name), near);
  return query_fail(q, TESELA_E_UNSUPPORTED, -1, "there is no op %.40s; {\"op\":\"ops\"} lists all ops",
                    json_string_value(name));
}

static tesela_status answer(query *q) {
  const query_op *op = NULL;
  if (!json_is_object(q->request))
    return query_fail(q, TESELA_E_INVALID, -1, "a request is an object in JSON");
  tesela_status status = find_op(q, &op);
  if (status == TESELA_OK) status = check_spelling(q, op);
  for (int i = 0; status == TESELA_OK && i < QUERY_FIELDS && op->field[i].name; i++)
    status = check_field(q, op, &op->field[i]);
  if (status == TESELA_OK) status = check_field(q, op, &lenient_field);
  if (status != TESELA_OK) return status;
  q->flags = query_flag(q, lenient_field.name) ? TESELA_XLA_LENIENT : TESELA_XLA_STRICT;
  q->field = NULL;
  return op->run(q);
}

static void begin(json_writer *out, const json_t *id, bool ok) {
  jw_object(out);
  jw_key(out, "id");
  if (id)
    jw_value(out, id);
  else
    jw_null(out);
  jw_put_bool(out, "ok", ok);
}

static void refuse(const json_t *id, const tesela_error *err, const char *message, const char *field,
                   const char *error_at, json_writer *out) {
  begin(out, id, false);
  jw_key(out, "error");
  jw_object(out);
  if (err->reason != TESELA_REASON_NONE) jw_put_str(out, "code", tesela_reason_code(err->reason));
  jw_put_str(out, err->reason != TESELA_REASON_NONE ? "status" : "code", tesela_status_code(err->status));
  jw_put_str(out, "message", message ? message : err->message);
  if (err->at >= 0) jw_put_int(out, "at", err->at);
  if (field) jw_put_str(out, "field", field);
  jw_end(out);
  if (*error_at) jw_put_str(out, "error_at", error_at);
  jw_end(out);
}

void query_refuse(tesela_status status, const char *message, json_writer *out) {
  tesela_error err = {.status = status, .at = -1};
  snprintf(err.message, sizeof err.message, "%s", message);
  refuse(NULL, &err, NULL, NULL, "", out);
}

/* A line that cannot be read. */
static void refuse_text(const tesela_error *bad, json_writer *out) {
  tesela_error err = {.status = bad->status, .at = bad->at};
  if (bad->status == TESELA_E_MEMORY)
    snprintf(err.message, sizeof err.message, "no memory to read the request");
  else
    snprintf(err.message, sizeof err.message, "the line is not JSON that can be read: %.160s", bad->message);
  refuse(NULL, &err, NULL, NULL, "", out);
}

void query_line(const char *line, size_t length, json_writer *out) {
  json_text request;
  tesela_error err = {.at = -1}, bad;
  if (json_text_read(&request, line, length, JSON_DECODE_ANY | JSON_ALLOW_NUL, &bad) != TESELA_OK) {
    refuse_text(&bad, out);
    return;
  }
  const json_t *id = json_object_get(request.value, "id");
  query q = {.request = request.value, .out = out, .err = &err};
  json_writer mark = *out;
  begin(out, id, true);
  if (answer(&q) == TESELA_OK) {
    jw_end(out);
  } else { /* take back what was written */
    out->length = mark.length;
    out->comma = mark.comma;
    out->depth = mark.depth;
    refuse(id, &err, q.message, q.field, q.error_at, out);
  }
  free(q.message);
  json_text_free(&request);
}
