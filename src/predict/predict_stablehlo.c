/* SPDX-License-Identifier: Apache-2.0 */
/*
 * predict_stablehlo.c - the signature of @main in StableHLO text, and which arguments its body reads.
 *
 *   func.func public @main(%arg0: tensor<4x8xf32> {sdy.sharding = ..., tf.aliasing_output = 0 : i32}, ...)
 *       -> (tensor<4x8xf32> {jax.result_info = "result"}) { ... }
 */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/base.h"
#include "predict/predict.h"

/* "f32", "i1", "ui8", "f8E4M3FN", "complex<f32>" as XLA's name; false for others. */
static bool predict_type(tesela__words type, char name[24]) {
  size_t n = (size_t)(type.end - type.at);
  if (n > 20) return false;
  if (tesela__words_is(type, "i1")) return snprintf(name, 24, "pred") > 0;
  if (tesela__words_is(type, "complex<f32>")) return snprintf(name, 24, "c64") > 0;
  if (tesela__words_is(type, "complex<f64>")) return snprintf(name, 24, "c128") > 0;
  const bool is_signed = type.at[0] == 'i', is_unsigned = n > 1 && type.at[0] == 'u' && type.at[1] == 'i';
  const size_t skip = is_signed ? 1 : is_unsigned ? 2 : 0;
  snprintf(name, 24, "%s%.*s", is_signed ? "s" : is_unsigned ? "u" : "", (int)(n - skip), type.at + skip);
  for (char *c = name; *c; c++) {
    if (*c >= 'A' && *c <= 'Z') *c = (char)(*c - 'A' + 'a');
    if (!((*c >= 'a' && *c <= 'z') || (*c >= '0' && *c <= '9'))) return false;
  }
  return n > skip;
}

/* tensor<4x8xf32>, !stablehlo.token. Returns why not, or NULL. */
static const char *read_type(tesela__words *at, tesela_xla_shape *shape) {
  char text[512], type[24];
  size_t n = 0;
  int64_t extent;
  if (tesela__words_take(at, "!stablehlo.token"))
    return tesela_xla_parse("token[]", 7, TESELA_XLA_STRICT, shape, NULL, NULL) == TESELA_OK ? NULL
                                                                                             : "a token";
  if (!tesela__words_take(at, "tensor<")) return "its type is not a tensor";
  tesela__words inner = tesela__words_until(at, "");
  if (!tesela__words_take(at, ">")) return "its type has no end";
  char dims[480] = "";
  for (tesela__words dim = inner; tesela__words_int(&dim, &extent) && dim.at < dim.end && *dim.at == 'x';
       inner = dim) {
    dim.at++;
    if (n > sizeof dims - 24) return "too many dims";
    n += (size_t)snprintf(dims + n, sizeof dims - n, "%s%" PRId64, n ? "," : "", extent);
  }
  if (inner.at < inner.end && *inner.at == '?') return "a dim that is not known before the program runs";
  if (tesela__words_find(inner, ",")) return "a tensor with an encoding";
  if (!predict_type(inner, type)) return "an element type that XLA does not have";
  int length = snprintf(text, sizeof text, "%s[%s]", type, dims);
  return tesela_xla_parse(text, (size_t)length, TESELA_XLA_STRICT, shape, NULL, NULL) == TESELA_OK
             ? NULL
             : "a type or dims that XLA does not have";
}

static tesela__words unquote(tesela__words value) {
  if (value.end - value.at >= 2 && *value.at == '"') {
    value.at++;
    value.end--;
  }
  return value;
}

/* What the attributes of an array say. */
typedef struct attributes {
  tesela__words sdy, mhlo, mode, memory, alias, donor, info;
} attributes;

/* {key = value, flag}, if there is one. */
static bool read_attributes(tesela__words *at, attributes *a) {
  const struct {
    const char *key;
    tesela__words *value;
  } known[] = {{"sdy.sharding", &a->sdy},         {"mhlo.sharding", &a->mhlo},
               {"mhlo.layout_mode", &a->mode},    {"mhlo.memory_kind", &a->memory},
               {"tf.aliasing_output", &a->alias}, {"jax.buffer_donor", &a->donor},
               {"jax.result_info", &a->info}};
  *a = (attributes){.sdy = {NULL, NULL}};
  if (!tesela__words_take(at, "{")) return true;
  while (!tesela__words_take(at, "}")) {
    const tesela__words key = tesela__words_name(at);
    tesela__words value = {key.end, key.end};
    if (key.at == key.end) return false;
    if (tesela__words_take(at, "=")) value = tesela__words_until(at, ",");
    while (value.end > value.at && value.end[-1] == ' ') value.end--;
    for (size_t i = 0; i < sizeof known / sizeof known[0]; i++)
      if (tesela__words_is(key, known[i].key)) *known[i].value = unquote(value);
    tesela__words_take(at, ",");
  }
  return true;
}

/* loc("x"(#loc1)), if there is one. */
static void skip_location(tesela__words *at) {
  if (!tesela__words_take(at, "loc(")) return;
  tesela__words_until(at, "");
  tesela__words_take(at, ")");
}

/* Fills the array from its attributes. Returns why it cannot be placed, or NULL. */
static const char *apply(tesela_prediction *p, const attributes *a, tesela_predicted *array) {
  const char *why = NULL;
  int64_t devices = 1, number;
  const bool sharded = a->sdy.at || a->mhlo.at;
  array->shape = array->whole;
  array->shape.has_layout = false;
  if (a->info.at) {
    array->name = a->info.at;
    array->name_length = (size_t)(a->info.end - a->info.at);
  }
  if (a->memory.at && !tesela__words_is(a->memory, "device")) {
    array->host = tesela__words_is(a->memory, "pinned_host") || tesela__words_is(a->memory, "unpinned_host");
    if (!array->host) return "a memory kind other than device, pinned_host and unpinned_host";
  }
  if (a->mode.at && !tesela__predict_mode(a->mode, &array->shape, &why)) return why;
  array->donated = a->alias.at || (a->donor.at && tesela__words_is(a->donor, "true"));
  tesela__words alias = a->alias;
  if (alias.at && !array->result && tesela__words_int(&alias, &number) && number < INT32_MAX)
    array->alias = (int32_t)number;
  if (a->sdy.at && !tesela__sharding_sdy(p->text, a->sdy, &array->shape, &devices, &why)) return why;
  if (!a->sdy.at && a->mhlo.at && !tesela__sharding_hlo(a->mhlo, &array->shape, &devices, &why)) return why;
  if (devices > p->totals.devices) p->totals.devices = devices;
  return sharded || array->shape.rank == 0 ? NULL : tesela__no_sharding;
}

/* One argument or result: its type and, except for a result without parentheses, its attributes. */
static tesela_status read_array(tesela_prediction *p, tesela__words *at, tesela__words name, bool result,
                                bool alone, tesela_error *err) {
  attributes a = {.sdy = {NULL, NULL}};
  tesela_predicted *array = tesela__predict_add(p, result, err);
  if (!array) return TESELA_E_MEMORY;
  const char *start = tesela__words_skip(*at).at;
  array->name = name.at;
  array->name_length = (size_t)(name.end - name.at);
  const char *why = read_type(at, &array->whole);
  if (why) return tesela__predict_fail(p, array, TESELA_E_UNSUPPORTED, start, why, err);
  if (!alone && !read_attributes(at, &a))
    return tesela__predict_fail(p, array, TESELA_E_SYNTAX, at->at, "expected an attribute", err);
  skip_location(at);
  why = apply(p, &a, array);
  if (why && why != tesela__no_sharding && !result)
    return tesela__predict_fail(p, array, TESELA_E_UNSUPPORTED, start, why, err);
  array->unknown = why;
  return TESELA_OK;
}

static tesela_status read_arguments(tesela_prediction *p, tesela__words *at, tesela_error *err) {
  tesela_status status = TESELA_OK;
  if (tesela__words_take(at, ")")) return TESELA_OK;
  do {
    const tesela__words name = tesela__words_name(at);
    if (name.at == name.end || !tesela__words_take(at, ":"))
      return tesela__predict_expected(p, at->at, "an argument, \"%arg0: tensor<4xf32>\"", err);
    status = read_array(p, at, name, false, false, err);
  } while (status == TESELA_OK && tesela__words_take(at, ","));
  if (status == TESELA_OK && !tesela__words_take(at, ")"))
    return tesela__predict_expected(p, at->at, "a comma or ) after an argument", err);
  return status;
}

static tesela_status read_results(tesela_prediction *p, tesela__words *at, tesela_error *err) {
  const tesela__words none = {NULL, NULL};
  tesela_status status = TESELA_OK;
  if (!tesela__words_take(at, "->")) return TESELA_OK;
  if (!tesela__words_take(at, "(")) return read_array(p, at, none, true, true, err);
  if (tesela__words_take(at, ")")) return TESELA_OK;
  do status = read_array(p, at, none, true, false, err);
  while (status == TESELA_OK && tesela__words_take(at, ","));
  if (status == TESELA_OK && !tesela__words_take(at, ")"))
    return tesela__predict_expected(p, at->at, "a comma or ) after a result", err);
  return status;
}

/* Marks the arguments that the body names: those of JAX are %arg0, %arg1, ...; of others all count as used. */
static void mark_named(tesela_prediction *p, tesela__words body) {
  for (int32_t i = 0; i < p->totals.n_arguments; i++) {
    char usual[24];
    const tesela_predicted *array = &p->array[i];
    snprintf(usual, sizeof usual, "%%arg%" PRId32, i);
    if (array->name_length == strlen(usual) && memcmp(array->name, usual, array->name_length) == 0) continue;
    for (int32_t k = 0; k < p->totals.n_arguments; k++) p->array[k].used = true;
    return;
  }
  while (body.at < body.end) {
    int64_t number;
    if (*body.at == '"') {
      for (body.at++; body.at < body.end && *body.at != '"'; body.at++) body.at += *body.at == '\\';
    } else if (*body.at == '%') {
      tesela__words digits = {body.at + 4, body.end};
      if (body.end - body.at > 4 && memcmp(body.at, "%arg", 4) == 0 && tesela__words_int(&digits, &number) &&
          number < p->totals.n_arguments)
        p->array[number].used = true;
    }
    body.at++;
  }
}

/* In a program for one device nothing is divided. */
static void settle(tesela_prediction *p) {
  for (size_t i = 0; p->totals.devices == 1 && i < p->n; i++)
    if (p->array[i].unknown == tesela__no_sharding) p->array[i].unknown = NULL;
}

tesela_status tesela__predict_stablehlo(tesela_prediction *p, tesela_error *err) {
  static const char *const heads[] = {"func.func public @main(", "func.func @main(", "func public @main("};
  tesela__words at = p->text, partitions = p->text;
  const char *found = NULL;
  for (size_t i = 0; !found && i < sizeof heads / sizeof heads[0]; i++)
    if ((found = tesela__words_find(p->text, heads[i])) != NULL) at.at = found + strlen(heads[i]);
  if (!found)
    return tesela__fail(
        err, TESELA_E_SYNTAX, 0,
        "expected StableHLO text with a function @main, or HLO text that begins with HloModule");
  partitions.end = found;
  partitions.at = tesela__words_find(partitions, "mhlo.num_partitions = ");
  if (partitions.at) {
    partitions.at += strlen("mhlo.num_partitions = ");
    if (!tesela__words_int(&partitions, &p->totals.devices) || p->totals.devices < 1)
      return tesela__predict_expected(p, partitions.at, "a number of devices", err);
  }
  tesela_status status = read_arguments(p, &at, err);
  if (status == TESELA_OK) status = read_results(p, &at, err);
  if (status != TESELA_OK) return status;
  if (tesela__words_take(&at, "attributes")) { /* of the function */
    tesela__words_take(&at, "{");
    tesela__words_until(&at, "");
    tesela__words_take(&at, "}");
  }
  if (!tesela__words_take(&at, "{")) return tesela__predict_expected(p, at.at, "the body of @main", err);
  mark_named(p, tesela__words_until(&at, ""));
  if (!tesela__words_take(&at, "}"))
    return tesela__predict_expected(p, at.at, "} after the body of @main", err);
  settle(p);
  return TESELA_OK;
}
