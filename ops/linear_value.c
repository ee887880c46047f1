/* SPDX-License-Identifier: Apache-2.0 */
/*
 * linear_value.c - linear layouts as values, both ways; see linear_value.h.
 */
#include "linear_value.h"

#include <inttypes.h>
#include <string.h>

/* ---- reading ------------------------------------------------------------------------------------------------ */

static tesela_status read_name(tesela_request *q, const char *name, size_t length, tesela_linear_dim *dim) {
  if (!name || length == 0 || length >= sizeof dim->name)
    return tesela_request_fail(q, TESELA_E_INVALID, -1, "a name has %zu bytes; expected 1 to %d", length,
                               TESELA_LINEAR_NAME - 1);
  memset(dim->name, 0, sizeof dim->name);
  memcpy(dim->name, name, length);
  return TESELA_OK;
}

tesela_status linear_value_dims(tesela_request *q, const tesela_value *list, tesela_linear_dim *dims,
                                int32_t *n) {
  size_t size = tesela_value_size(list);
  if (!tesela_value_is(list, TESELA_VALUE_LIST))
    return tesela_request_fail(q, TESELA_E_INVALID, -1,
                               "dims are %s; expected a list such as [[\"dim0\", 16]]",
                               ops_value_words(list));
  if (size > TESELA_LINEAR_DIMS)
    return tesela_request_fail(q, TESELA_E_LIMIT, -1, "%zu dims; expected at most %d", size,
                               TESELA_LINEAR_DIMS);
  for (size_t i = 0; i < size; i++) {
    const tesela_value *item = tesela_value_at(list, i), *name = item, *extent = NULL;
    if (tesela_value_is(item, TESELA_VALUE_LIST) && tesela_value_size(item) == 2) {
      name = tesela_value_at(item, 0);
      extent = tesela_value_at(item, 1);
    }
    if (!tesela_value_is(name, TESELA_VALUE_TEXT) || (extent && !tesela_value_is(extent, TESELA_VALUE_INT)))
      return tesela_request_fail(q, TESELA_E_INVALID, -1,
                                 "dim %zu is %s; expected a name, or a name and a size", i,
                                 ops_value_words(item));
    tesela_status status = read_name(q, tesela_value_text(name), tesela_value_length(name), &dims[i]);
    if (status != TESELA_OK) return status;
    dims[i].bits = -1;
    if (!extent) continue;
    int64_t value = tesela_value_int(extent);
    if (value < 1 || (value & (value - 1)) != 0 || value > (int64_t)1 << TESELA_LINEAR_BITS)
      return tesela_request_fail(q, TESELA_E_RANGE, -1,
                                 "the size of %s is %" PRId64 "; expected a power of two up to 2^%d",
                                 dims[i].name, value, TESELA_LINEAR_BITS);
    dims[i].bits = __builtin_ctzll((uint64_t)value);
  }
  *n = (int32_t)size;
  return TESELA_OK;
}

/* One basis of n numbers. */
static tesela_status read_basis(tesela_request *q, const char *in, const tesela_value *basis, int32_t n,
                                int64_t *numbers) {
  if (!tesela_value_is(basis, TESELA_VALUE_LIST) || tesela_value_size(basis) != (size_t)n)
    return tesela_request_fail(q, TESELA_E_INVALID, -1,
                               "a basis of %.15s is not a list of %" PRId32 " numbers, one for each output",
                               in, n);
  for (int32_t i = 0; i < n; i++) {
    const tesela_value *number = tesela_value_at(basis, (size_t)i);
    if (!tesela_value_is(number, TESELA_VALUE_INT))
      return tesela_request_fail(q, TESELA_E_INVALID, -1, "a basis of %.15s has %s; expected integers", in,
                                 ops_value_words(number));
    numbers[i] = tesela_value_int(number);
  }
  return TESELA_OK;
}

static tesela_status read_object(tesela_request *q, const tesela_value *value, tesela_linear *a) {
  const tesela_value *bases = tesela_value_get(value, "bases");
  tesela_linear_dim in[TESELA_LINEAR_DIMS], out[TESELA_LINEAR_DIMS];
  int64_t numbers[TESELA_LINEAR_BITS * TESELA_LINEAR_DIMS];
  int32_t n_outs = 0, n = 0;
  if (!tesela_value_is(bases, TESELA_VALUE_OBJECT) || !tesela_value_get(value, "outs"))
    return tesela_request_fail(q, TESELA_E_INVALID, -1,
                               "expected {\"bases\": {\"lane\": [[0,1]]}, \"outs\": [[\"dim0\",16]]}");
  tesela_status status = linear_value_dims(q, tesela_value_get(value, "outs"), out, &n_outs);
  if (status != TESELA_OK) return status;
  if (tesela_value_size(bases) > TESELA_LINEAR_DIMS)
    return tesela_request_fail(q, TESELA_E_LIMIT, -1, "more than %d inputs", TESELA_LINEAR_DIMS);
  for (size_t i = 0; i < tesela_value_size(bases); i++) {
    const tesela_value *list = tesela_value_at(bases, i);
    status = read_name(q, list->name, list->name ? strlen(list->name) : 0, &in[i]);
    if (status == TESELA_OK && !tesela_value_is(list, TESELA_VALUE_LIST))
      status = tesela_request_fail(q, TESELA_E_INVALID, -1, "the bases of %s are %s; expected a list",
                                   in[i].name, ops_value_words(list));
    if (status != TESELA_OK) return status;
    in[i].bits = (int32_t)tesela_value_size(list);
    if (tesela_value_size(list) > (size_t)(TESELA_LINEAR_BITS - n))
      return tesela_request_fail(q, TESELA_E_LIMIT, -1, "more than %d bases", TESELA_LINEAR_BITS);
    for (size_t k = 0; k < tesela_value_size(list); k++, n++) {
      status = read_basis(q, in[i].name, tesela_value_at(list, k), n_outs, &numbers[n * n_outs]);
      if (status != TESELA_OK) return status;
    }
  }
  return tesela_linear_make(a, (int32_t)tesela_value_size(bases), in, n_outs, out, numbers, q->err);
}

tesela_status linear_value_read(tesela_request *q, const char *field, tesela_linear *a) {
  const tesela_value *value = tesela_request_get(q, field);
  if (!value)
    return tesela_request_fail(q, TESELA_E_INVALID, -1, "op linear_layout: do %.24s needs field %s",
                               tesela_value_text(tesela_value_get(q->value, "do")), field);
  if (tesela_value_is(value, TESELA_VALUE_TEXT)) {
    q->text = tesela_value_text(value);
    return tesela_linear_parse(a, tesela_value_text(value), tesela_value_length(value), q->err);
  }
  if (tesela_value_is(value, TESELA_VALUE_OBJECT)) return read_object(q, value, a);
  return tesela_request_fail(q, TESELA_E_INVALID, -1, "field %s: expected a linear layout, found %s", field,
                             ops_value_words(value));
}

tesela_status linear_value_inputs(tesela_request *q, const tesela_linear *a, const tesela_value *object,
                                  int64_t *values) {
  for (int32_t i = 0; i < a->n_ins; i++) {
    const tesela_value *value = tesela_value_get(object, a->in[i].name);
    if (!tesela_value_is(value, TESELA_VALUE_INT))
      return tesela_request_fail(q, TESELA_E_INVALID, -1, "the value of %s is %s; expected an integer",
                                 a->in[i].name, ops_value_words(value));
    values[i] = tesela_value_int(value);
  }
  if (tesela_value_size(object) != (size_t)a->n_ins)
    return tesela_request_fail(q, TESELA_E_INVALID, -1, "%zu values; the layout has %" PRId32 " inputs",
                               tesela_value_size(object), a->n_ins);
  return TESELA_OK;
}

/* ---- writing ------------------------------------------------------------------------------------------------ */

void linear_value_put_values(tesela_sink *out, const char *key, const tesela_linear_dim *dims, int32_t n,
                             const int64_t *values) {
  tesela_put_key_object(out, key);
  for (int32_t i = 0; i < n; i++) tesela_put_key_int(out, dims[i].name, values[i]);
  tesela_put_end(out);
}

void linear_value_put(tesela_sink *out, const char *key, const tesela_linear *a) {
  int64_t in[TESELA_LINEAR_DIMS] = {0}, value[TESELA_LINEAR_DIMS];
  tesela_put_key_object(out, key);
  tesela_put_key_object(out, "bases");
  for (int32_t i = 0; i < a->n_ins; i++) {
    tesela_put_key_list(out, a->in[i].name);
    for (int32_t k = 0; k < a->in[i].bits; k++) {
      in[i] = (int64_t)1 << k;
      (void)tesela_linear_apply(a, in, value, NULL); /* a valid layout, a valid input */
      tesela_put_ints(out, a->n_outs, value);
    }
    in[i] = 0;
    tesela_put_end(out);
  }
  tesela_put_end(out);
  tesela_put_key_list(out, "outs");
  for (int32_t i = 0; i < a->n_outs; i++) {
    tesela_put_list(out);
    tesela_put_text(out, a->out[i].name);
    tesela_put_int(out, (int64_t)1 << a->out[i].bits);
    tesela_put_end(out);
  }
  tesela_put_end(out);
  tesela_put_end(out);
}

/* Values of dims as an object. */
static tesela_value values_of(const char *name, const tesela_linear_dim *dims, int32_t n,
                              const int64_t *values, tesela_value *room) {
  for (int32_t i = 0; i < n; i++) room[i] = tesela_value_of_int(dims[i].name, values[i]);
  return tesela_value_of_object(name, (size_t)n, room);
}

void linear_value_example(tesela_request *q, const tesela_linear *a, const tesela_linear_example *example) {
  tesela_value in[TESELA_LINEAR_DIMS], out[TESELA_LINEAR_DIMS], side[2];
  size_t n = 0;
  if (example->have_in) side[n++] = values_of("in", a->in, a->n_ins, example->in, in);
  if (example->have_out) side[n++] = values_of("out", a->out, a->n_outs, example->out, out);
  if (n == 0) return;
  tesela_value object = tesela_value_of_object(NULL, n, side);
  request_counter_example(q, &object);
}
