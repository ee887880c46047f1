/* SPDX-License-Identifier: Apache-2.0 */
/*
 * request_answer.c - a request is checked by the table of operations and answered.
 */
#include "request.h"

#include <inttypes.h>
#include <string.h>

/* Is every item of a list an integer? Otherwise *bad is the first that is not. */
static bool all_integers(const tesela_value *list, size_t *bad) {
  for (*bad = 0; *bad < tesela_value_size(list); ++*bad)
    if (!tesela_value_is(tesela_value_at(list, *bad), TESELA_VALUE_INT)) return false;
  return true;
}

static tesela_status check_list(tesela_request *q, const tesela_field *field, const tesela_value *value) {
  size_t bad = 0, inner = 0;
  if (field->type == TESELA_FIELD_NUMBERS || field->type == TESELA_FIELD_PLACE ||
      (field->type == TESELA_FIELD_PLACES &&
       !tesela_value_is(tesela_value_at(value, 0), TESELA_VALUE_LIST))) {
    if (all_integers(value, &bad)) return TESELA_OK;
    return tesela_request_fail(q, TESELA_E_INVALID, -1, "%s[%zu]: expected integer, found %s", field->name,
                               bad, ops_value_words(tesela_value_at(value, bad)));
  }
  for (bad = 0; bad < tesela_value_size(value); bad++) {
    const tesela_value *list = tesela_value_at(value, bad);
    if (!tesela_value_is(list, TESELA_VALUE_LIST))
      return tesela_request_fail(q, TESELA_E_INVALID, -1, "%s[%zu]: expected list of integers, found %s",
                                 field->name, bad, ops_value_words(list));
    if (!all_integers(list, &inner))
      return tesela_request_fail(q, TESELA_E_INVALID, -1, "%s[%zu][%zu]: expected integer, found %s",
                                 field->name, bad, inner, ops_value_words(tesela_value_at(list, inner)));
  }
  return TESELA_OK;
}

static tesela_status check_texts(tesela_request *q, const tesela_field *field, const tesela_value *value) {
  for (size_t i = 0; i < tesela_value_size(value); i++)
    if (!tesela_value_is(tesela_value_at(value, i), TESELA_VALUE_TEXT))
      return tesela_request_fail(q, TESELA_E_INVALID, -1, "%s[%zu]: expected string, found %s", field->name,
                                 i, ops_value_words(tesela_value_at(value, i)));
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

static tesela_status check_field(tesela_request *q, const tesela_op_entry *op, const tesela_field *field) {
  const tesela_value *value = tesela_request_get(q, field->name);
  const char *expected = tesela_field_type_words(field->type);
  bool right = false;
  if (!value) {
    if (field->optional) return TESELA_OK;
    return tesela_request_fail(q, TESELA_E_INVALID, -1, "op %s: missing field %s: %s", op->name, field->name,
                               expected);
  }
  switch (field->type) {
  case TESELA_FIELD_ANY:
  case TESELA_FIELD_LAYOUT:
  case TESELA_FIELD_TARGET:
  case TESELA_FIELD_TEXT:
    right = tesela_value_is(value, TESELA_VALUE_TEXT);
    break;
  case TESELA_FIELD_INDICES:
  case TESELA_FIELD_PLACES:
    right = tesela_value_is(value, TESELA_VALUE_LIST);
    break;
  case TESELA_FIELD_PLACE:
    right = tesela_value_is(value, TESELA_VALUE_INT) || tesela_value_is(value, TESELA_VALUE_LIST);
    break;
  case TESELA_FIELD_FLAG:
    right = tesela_value_is(value, TESELA_VALUE_BOOL);
    break;
  case TESELA_FIELD_NUMBER:
    right = tesela_value_is(value, TESELA_VALUE_INT);
    break;
  case TESELA_FIELD_TEXTS:
  case TESELA_FIELD_NUMBERS:
  case TESELA_FIELD_OBJECTS:
    right = tesela_value_is(value, TESELA_VALUE_LIST);
    break;
  case TESELA_FIELD_OBJECT:
    right = tesela_value_is(value, TESELA_VALUE_OBJECT);
    break;
  case TESELA_FIELD_DEVICE:
    right = tesela_value_is(value, TESELA_VALUE_OBJECT) || tesela_value_is(value, TESELA_VALUE_TEXT);
    break;
  case TESELA_FIELD_VALUE:
    return TESELA_OK;
  }
  if (!right)
    return tesela_request_fail(q, TESELA_E_INVALID, -1, "field %s: expected %s, found %s", field->name,
                               expected, ops_value_words(value));
  if (field->words && !is_word(field->words, tesela_value_text(value)))
    return tesela_request_fail(q, TESELA_E_UNSUPPORTED, -1, "field %s: expected one of %s, found '%.40s'",
                               field->name, field->words, tesela_value_text(value));
  if (field->type == TESELA_FIELD_TEXTS) return check_texts(q, field, value);
  if (field->type == TESELA_FIELD_OBJECTS) return TESELA_OK; /* the op reports which item is wrong */
  return tesela_value_is(value, TESELA_VALUE_LIST) ? check_list(q, field, value) : TESELA_OK;
}

/* ---- unknown fields ---------------------------------------------------------------------------------------
 */

/* Fields of every operation; target only where an operation does not have its own. */
static const tesela_field lenient_field = {"lenient", TESELA_FIELD_FLAG, true, NULL};
static const tesela_field target_field = {"target", TESELA_FIELD_TEXT, true, NULL};

/* The fields of an op and a request: which the request lacks, as another may be a misspelling of one. */
typedef struct known {
  const tesela_request *q;
  const tesela_op_entry *op;
} known;

/* Field i of an op, those of every operation after its own; NULL after the last. */
static const tesela_field *field_at(const tesela_op_entry *op, int i) {
  int n = 0;
  while (op->field[n].name) n++;
  return i < n ? &op->field[i] : i == n ? &lenient_field : i == n + 1 ? &request_deadline_field : NULL;
}

/* The name of missing field `wanted`. */
static const char *missing_field(const void *user, int wanted) {
  const known *k = user;
  const tesela_field *field;
  for (int i = 0; (field = field_at(k->op, i)); i++)
    if (!tesela_value_get(k->q->value, field->name) && wanted-- == 0) return field->name;
  return NULL;
}

static bool is_known(const tesela_op_entry *op, const char *name) {
  for (int i = 0; op->field[i].name; i++)
    if (strcmp(op->field[i].name, name) == 0) return true;
  return strcmp(name, "id") == 0 || strcmp(name, "op") == 0 || strcmp(name, lenient_field.name) == 0 ||
         strcmp(name, target_field.name) == 0 || strcmp(name, request_deadline_field.name) == 0;
}

/* A field that looks like one the request lacks is a mistake; any other belongs to the client. */
static tesela_status check_spelling(tesela_request *q, const tesela_op_entry *op) {
  const known k = {q, op};
  for (size_t i = 0; i < tesela_value_size(q->value); i++) {
    const char *name = tesela_value_at(q->value, i)->name;
    const char *near = is_known(op, name) ? NULL : tesela_nearest(name, strlen(name), missing_field, &k);
    if (!near) continue;
    q->field = near;
    return tesela_request_fail(q, TESELA_E_INVALID, -1, "op %s: unknown field '%s'; did you mean %s?",
                               op->name, name, near);
  }
  return TESELA_OK;
}

/* ---- one request ------------------------------------------------------------------------------------------
 */

static tesela_status find_op(tesela_request *q, const tesela_op_entry **op) {
  const tesela_value *name = tesela_request_get(q, "op");
  if (!name)
    return tesela_request_fail(q, TESELA_E_INVALID, -1,
                               "missing field op (string); {\"op\":\"ops\"} lists all ops");
  if (!tesela_value_is(name, TESELA_VALUE_TEXT))
    return tesela_request_fail(q, TESELA_E_INVALID, -1, "field op: expected string, found %s",
                               ops_value_words(name));
  return request_find(q, "op", op);
}

/* The field target: the name of a target, or a whole text that describes one, which is read into *own. */
static tesela_status read_target(tesela_request *q, const tesela_op_entry *op, tesela_target *own) {
  const tesela_value *value = tesela_request_get(q, target_field.name);
  const char *text = tesela_value_text(value);
  for (int i = 0; op->field[i].name; i++)
    if (strcmp(op->field[i].name, target_field.name) == 0 && op->field[i].words) return TESELA_OK;
  if (!text || (q->target && strcmp(text, q->target->name) == 0)) return TESELA_OK;
  if (strpbrk(text, " \n")) {
    tesela_status status = tesela_target_read(own, text, value->n, q->err);
    if (status == TESELA_OK) q->target = own;
    return status;
  }
  const tesela_target *found = tesela_target_find(text);
  if (found) q->target = found;
  return found ? TESELA_OK : ops_unknown_target(q->err, text, q->target);
}

/* A field of the operation, of that type; NULL if the operation or the request lacks it. */
static const tesela_value *own_field(tesela_request *q, const tesela_op_entry *op, const char *name,
                                     tesela_field_type type) {
  for (int i = 0; op->field[i].name; i++)
    if (strcmp(op->field[i].name, name) == 0 && op->field[i].type == type) return tesela_request_get(q, name);
  return NULL;
}

/* Is dtype the type that texts lack? It comes last then; other operations read their own. */
static bool is_type_of_texts(const tesela_op_entry *op) {
  const tesela_field *last = op->field;
  bool texts = false;
  for (; last->name && last[1].name; last++) texts = texts || strcmp(last->name, "definitions") == 0;
  return texts && strcmp(last->name, "dtype") == 0;
}

static tesela_status read_shape(tesela_request *q, const tesela_value *shape, tesela_xla_shape *array) {
  if (tesela_value_size(shape) > TESELA_MAX_RANK)
    return tesela_request_fail(q, TESELA_E_LIMIT, -1, "shape has %zu dims; expected %d or fewer",
                               tesela_value_size(shape), TESELA_MAX_RANK);
  for (array->rank = 0; array->rank < (int32_t)tesela_value_size(shape); array->rank++) {
    int64_t extent = tesela_value_int(tesela_value_at(shape, (size_t)array->rank));
    if (extent < 0)
      return tesela_request_fail(q, TESELA_E_RANGE, -1,
                                 "shape[%" PRId32 "] is %" PRId64 "; expected 0 or more", array->rank,
                                 extent);
    array->dim[array->rank] = extent;
  }
  return TESELA_OK;
}

/* What the texts of layouts lack: the fields shape, dtype, as and definitions, else what the caller gave. */
static tesela_status read_beside(tesela_request *q, const tesela_op_entry *op,
                                 tesela_layout_read_options *reading, tesela_xla_shape *array) {
  tesela_status status = TESELA_OK;
  *reading = q->reading ? *q->reading : (tesela_layout_read_options){.array = NULL};
  *array = reading->array ? *reading->array : (tesela_xla_shape){.rank = 0};
  const tesela_value *definitions = own_field(q, op, "definitions", TESELA_FIELD_TEXT);
  const tesela_value *as = own_field(q, op, "as", TESELA_FIELD_TEXT);
  const tesela_value *shape = own_field(q, op, "shape", TESELA_FIELD_NUMBERS);
  if (shape) status = read_shape(q, shape, array);
  const tesela_value *dtype = is_type_of_texts(op) ? tesela_request_get(q, "dtype") : NULL;
  if (status == TESELA_OK && dtype)
    status = tesela_dtype_read(tesela_value_text(dtype), dtype->n, &reading->dtype, q->err);
  if (dtype) array->dtype = reading->dtype;
  if (shape || reading->array) reading->array = array;
  if (as) reading->as = tesela_value_text(as);
  if (definitions) {
    reading->definitions = tesela_value_text(definitions);
    reading->definitions_length = definitions->n;
  }
  return status;
}

/* With the target and the reading that q points to while the operation runs. */
static tesela_status run(tesela_request *q, const tesela_op_entry *op) {
  const tesela_target *given = q->target;
  const tesela_layout_read_options *given_reading = q->reading;
  tesela_layout_read_options reading;
  tesela_xla_shape array;
  tesela_target own;
  tesela_status status = read_target(q, op, &own);
  if (status == TESELA_OK) status = read_beside(q, op, &reading, &array);
  q->reading = &reading;
  if (status == TESELA_OK) {
    q->field = NULL;
    status = op->answer(q);
    if (status != TESELA_OK && q->err->status == TESELA_E_MEMORY) status = TESELA_E_MEMORY;
    if (status == TESELA_E_STOPPED && request_check_stop(q) != TESELA_OK) q->field = NULL;
  }
  q->target = given;
  q->reading = given_reading;
  return status;
}

static tesela_status answer(tesela_request *q) {
  const tesela_op_entry *op = NULL;
  *q->err = (tesela_error){.at = -1};
  q->error_at[0] = '\0';
  q->counter_example = NULL;
  q->field = q->text = q->message = NULL;
  q->usage = false;
  for (size_t i = 0; i < sizeof q->reserved / sizeof q->reserved[0]; i++)
    if (q->reserved[i] != 0)
      return tesela_request_fail(q, TESELA_E_INVALID, -1,
                                 "request.reserved is not 0: clear the struct first");
  if (!q->ops) q->ops = tesela_ops(&q->n_ops);
  if (!tesela_value_is(q->value, TESELA_VALUE_OBJECT))
    return tesela_request_fail(q, TESELA_E_INVALID, -1, "the request: expected object, found %s",
                               ops_value_words(q->value));
  tesela_status status = find_op(q, &op);
  if (status == TESELA_OK) status = check_spelling(q, op);
  for (int i = 0; status == TESELA_OK && op->field[i].name; i++) status = check_field(q, op, &op->field[i]);
  if (status == TESELA_OK) status = check_field(q, op, &lenient_field);
  if (status == TESELA_OK) status = check_field(q, op, &target_field);
  if (status == TESELA_OK) status = check_field(q, op, &request_deadline_field);
  if (status == TESELA_OK) status = request_begin_deadline(q);
  if (status != TESELA_OK) return status;
  q->flags =
      q->lenient || tesela_request_flag(q, lenient_field.name) ? TESELA_XLA_LENIENT : TESELA_XLA_STRICT;
  return run(q, op);
}

tesela_status tesela_request_answer(tesela_request *q) {
  if (!q) return TESELA_E_INVALID;
  tesela_error unused, *const err = q->err;
  tesela_sink dropped = {.stopped = true}, *const out = q->out;
  if (!err) q->err = &unused;
  if (!out) q->out = &dropped;
  const tesela_status status = answer(q);
  q->err = err;
  q->out = out;
  return status;
}
