/* SPDX-License-Identifier: Apache-2.0 */
/*
 * predict_hlo.c - the arguments and results of an HLO module: its first line, and the parameters of its entry computation.
 *
 *   HloModule jit_f, buffer_donor={ (1, {}) }, entry_computation_layout={(f32[4,8]{1,0}, s32[])->f32[4,8]{1,0}}, ...
 *   ENTRY main.1 {
 *     a.1 = f32[4,8]{1,0} parameter(0), sharding={devices=[2,2]<=[4]}
 *     ROOT mul.3 = f32[4,8]{1,0} multiply(a.1, mul.2)
 *   }
 */
#include <stdlib.h>
#include <string.h>

#include "base/base.h"
#include "predict/predict.h"

/* The text between the brackets after `key`; at NULL: none. */
static tesela__words field(tesela__words line, const char *key) {
  const char *found = tesela__words_find(line, key);
  if (!found) return (tesela__words){NULL, NULL};
  line.at = found + strlen(key);
  return tesela__words_until(&line, "");
}

/* ---- the first line ---------------------------------------------------------------------------------------- */

static tesela_status read_shape(tesela_prediction *p, tesela__words *at, bool result, tesela_error *err) {
  size_t used = 0;
  tesela_error own = {.at = -1};
  *at = tesela__words_skip(*at);
  tesela_predicted *array = tesela__predict_add(p, result, err);
  if (!array) return TESELA_E_MEMORY;
  if (at->at < at->end && *at->at == '(')
    return tesela__predict_fail(p, array, TESELA_E_UNSUPPORTED, at->at, "a tuple", err);
  if (tesela_xla_parse_prefix(at->at, (size_t)(at->end - at->at), TESELA_XLA_STRICT, &array->whole, &used,
                              NULL, &own) != TESELA_OK)
    return tesela__predict_fail(p, array, TESELA_E_UNSUPPORTED, at->at, own.message, err);
  if (array->whole.dynamic)
    return tesela__predict_fail(p, array, TESELA_E_UNSUPPORTED, at->at, "a dynamic dim", err);
  at->at += used;
  array->host = array->whole.layout.memory_space == 5;
  array->shape = array->whole;
  array->shape.has_layout = p->final || array->whole.layout.n_tiles > 0;
  if (!array->shape.has_layout)
    (void)tesela_xla_layout_make(&array->shape.layout, array->shape.rank, NULL, NULL);
  return TESELA_OK;
}

static tesela_status read_shapes(tesela_prediction *p, tesela__words *at, bool result, tesela_error *err) {
  tesela_status status;
  if (!tesela__words_take(at, "("))
    return result ? read_shape(p, at, result, err)
                  : tesela__predict_expected(p, at->at, "( and the arguments", err);
  if (tesela__words_take(at, ")")) return TESELA_OK;
  do status = read_shape(p, at, result, err);
  while (status == TESELA_OK && tesela__words_take(at, ","));
  if (status == TESELA_OK && !tesela__words_take(at, ")"))
    return tesela__predict_expected(p, at->at, "a comma or )", err);
  return status;
}

static tesela_predicted *array_at(tesela_prediction *p, bool result, int64_t i) {
  if (i >= (result ? p->totals.n_results : p->totals.n_arguments)) return NULL;
  return &p->array[(result ? p->totals.n_arguments : 0) + i];
}

/* { {0}: (0, {}, may-alias), {}: (3, {}) } */
static void read_aliases(tesela_prediction *p, tesela__words list) {
  while (tesela__words_take(&list, "{")) {
    int64_t result = 0, argument;
    (void)tesela__words_int(&list, &result);
    if (!tesela__words_take(&list, "}") || !tesela__words_take(&list, ":") ||
        !tesela__words_take(&list, "(") || !tesela__words_int(&list, &argument))
      return;
    tesela_predicted *array = array_at(p, false, argument);
    if (array && array_at(p, true, result)) {
      array->donated = true;
      array->alias = (int32_t)result;
    }
    tesela__words_until(&list, "");
    tesela__words_take(&list, ")");
    tesela__words_take(&list, ",");
  }
}

/* { (2, {}), (3, {}) } */
static void read_donors(tesela_prediction *p, tesela__words list) {
  while (tesela__words_take(&list, "(")) {
    int64_t argument;
    if (!tesela__words_int(&list, &argument)) return;
    tesela_predicted *array = array_at(p, false, argument);
    if (array) array->donated = true;
    tesela__words_until(&list, "");
    tesela__words_take(&list, ")");
    tesela__words_take(&list, ",");
  }
}

/* "0;5" and "default;{0,1}", of arguments or results. */
static tesela_status read_modes(tesela_prediction *p, tesela__words line, bool result, tesela_error *err) {
  static const char *const keys[2][2] = {{"arg_memory_spaces=\"", "arg_layout_modes=\""},
                                         {"out_memory_spaces=\"", "out_layout_modes=\""}};
  for (int layout = 0; layout < 2; layout++) {
    const char *found = tesela__words_find(line, keys[result][layout]), *why = NULL;
    if (!found) continue;
    tesela__words list = {found + strlen(keys[result][layout]), line.end};
    tesela_predicted *array;
    for (int64_t i = 0; (array = array_at(p, result, i)) != NULL; i++) {
      tesela__words value = list;
      while (list.at < list.end && *list.at != ';' && *list.at != '"') list.at++;
      value.end = list.at;
      if (!layout) {
        array->host = tesela__words_is(value, "5");
        if (!array->host && !tesela__words_is(value, "0"))
          return tesela__predict_fail(p, array, TESELA_E_UNSUPPORTED, value.at,
                                      "a memory space other than 0 and 5", err);
      } else if (!p->final && !tesela__words_is(value, "default") &&
                 !tesela__predict_mode(value, &array->shape, &why)) {
        return tesela__predict_fail(p, array, TESELA_E_UNSUPPORTED, value.at, why, err);
      }
      if (list.at < list.end && *list.at == ';') list.at++;
    }
  }
  return TESELA_OK;
}

static tesela_status read_head(tesela_prediction *p, tesela__words line, tesela_error *err) {
  const char *layout = tesela__words_find(line, "entry_computation_layout={"),
             *partitions = tesela__words_find(line, "num_partitions=");
  if (!layout)
    return tesela__predict_expected(p, line.end, "entry_computation_layout in the first line", err);
  tesela__words at = {layout + strlen("entry_computation_layout={"), line.end};
  p->final = tesela__words_find(line, "is_scheduled=true") != NULL;
  tesela_status status = read_shapes(p, &at, false, err);
  if (status == TESELA_OK && !tesela__words_take(&at, "->"))
    return tesela__predict_expected(p, at.at, "-> and the results", err);
  if (status == TESELA_OK) status = read_shapes(p, &at, true, err);
  if (status == TESELA_OK) status = read_modes(p, line, false, err);
  if (status == TESELA_OK) status = read_modes(p, line, true, err);
  if (status != TESELA_OK) return status;
  tesela__words number = {partitions ? partitions + strlen("num_partitions=") : line.end, line.end};
  if (partitions && (!tesela__words_int(&number, &p->totals.devices) || p->totals.devices < 1))
    return tesela__predict_expected(p, number.at, "a number of devices", err);
  read_donors(p, field(line, "buffer_donor={"));
  read_aliases(p, field(line, "input_output_alias={"));
  return TESELA_OK;
}

/* ---- the entry computation --------------------------------------------------------------------------------- */

/* One instruction: its name, what is between the parentheses after the opcode, and the attributes. */
typedef struct line_parts {
  tesela__words name, opcode, operands, rest;
  bool root;
} line_parts;

static bool split_line(tesela__words line, line_parts *l) {
  l->root = tesela__words_take(&line, "ROOT ");
  tesela__words_take(&line, "%");
  l->name = tesela__words_name(&line);
  if (l->name.at == l->name.end || !tesela__words_take(&line, "=")) return false;
  line = tesela__words_skip(line);
  if (tesela__words_take(&line, "(")) { /* the shape: a tuple */
    tesela__words_until(&line, "");
    tesela__words_take(&line, ")");
  } else {
    while (line.at < line.end && *line.at != ' ') line.at++;
  }
  l->opcode = tesela__words_name(&line);
  if (!tesela__words_take(&line, "(")) return false;
  l->operands = tesela__words_until(&line, "");
  l->rest = line;
  return true;
}

/* The next line of the entry computation; false at its end. */
static bool next_line(tesela__words *at, tesela__words *line) {
  if (at->at >= at->end || *at->at == '}') return false;
  const char *newline = memchr(at->at, '\n', (size_t)(at->end - at->at));
  *line = (tesela__words){at->at, newline ? newline : at->end};
  at->at = newline ? newline + 1 : at->end;
  return true;
}

/* Divides an array as `sharding` says; why not, or NULL. */
static const char *shard(tesela_prediction *p, tesela__words sharding, tesela_predicted *array) {
  int64_t devices;
  const char *why = NULL;
  if (p->final) return NULL;
  if (!sharding.at) return array->shape.rank == 0 ? NULL : tesela__no_sharding;
  sharding.at--; /* with its brace */
  if (!tesela__sharding_hlo(sharding, &array->shape, &devices, &why)) return why;
  if (devices > p->totals.devices) p->totals.devices = devices;
  return NULL;
}

static tesela__words sharding_of(tesela__words rest) { return field(rest, ", sharding={"); }

static tesela_status read_parameter(tesela_prediction *p, const line_parts *l, tesela_error *err) {
  int64_t number;
  tesela__words operand = l->operands;
  tesela_predicted *array = tesela__words_int(&operand, &number) ? array_at(p, false, number) : NULL;
  if (!array || array->name)
    return tesela__predict_expected(p, l->operands.at, "the number of an argument, each once", err);
  array->name = l->name.at;
  array->name_length = (size_t)(l->name.end - l->name.at);
  array->used = l->root || p->totals.n_arguments == 0;
  const char *why = shard(p, sharding_of(l->rest), array);
  if (why && why != tesela__no_sharding)
    return tesela__predict_fail(p, array, TESELA_E_UNSUPPORTED, l->name.at, why, err);
  array->unknown = why;
  return TESELA_OK;
}

/* The sharding of the root is that of the results: of one, or a list in braces. */
static void read_root(tesela_prediction *p, const line_parts *l) {
  tesela__words sharding = sharding_of(l->rest), list = sharding;
  const bool several = sharding.at && tesela__words_take(&list, "{");
  if (several) list = sharding;
  tesela_predicted *array;
  for (int64_t i = 0; (array = array_at(p, true, i)) != NULL; i++) {
    tesela__words own = sharding;
    if (several) {
      if (!tesela__words_take(&list, "{")) own.at = NULL;
      if (own.at) own = tesela__words_until(&list, "");
      tesela__words_take(&list, "}");
      tesela__words_take(&list, ",");
    }
    array->unknown = shard(p, own, array);
  }
}

static int compare_names(const void *a, const void *b) {
  const tesela__words *x = a, *y = b;
  const size_t n = (size_t)(x->end - x->at), m = (size_t)(y->end - y->at);
  const int order = memcmp(x->at, y->at, n < m ? n : m);
  return order ? order : n < m ? -1 : n > m;
}

/* Marks the arguments that an instruction has as an operand. `names` are those of the arguments, by name. */
static void mark_used(tesela_prediction *p, const tesela__words *names, const int32_t *number,
                      tesela__words entry) {
  tesela__words line;
  line_parts l;
  while (next_line(&entry, &line)) {
    if (!split_line(line, &l) || tesela__words_is(l.opcode, "parameter") ||
        tesela__words_is(l.opcode, "constant"))
      continue;
    while (l.operands.at < l.operands.end) {
      if (*l.operands.at == '%') l.operands.at++;
      const tesela__words word = tesela__words_name(&l.operands);
      if (word.at == word.end) {
        l.operands.at++;
        continue;
      }
      const tesela__words *found =
          bsearch(&word, names, (size_t)p->totals.n_arguments, sizeof *names, compare_names);
      if (found) p->array[number[found - names]].used = true;
    }
  }
}

/* Sorts the names of the arguments, with their numbers beside. */
static tesela_status find_used(tesela_prediction *p, tesela__words entry, tesela_error *err) {
  const size_t n = (size_t)p->totals.n_arguments;
  if (n == 0) return TESELA_OK;
  tesela__words *names =
      tesela__alloc(&p->allocator, n * (sizeof *names + sizeof(int32_t)), _Alignof(tesela__words));
  if (!names) return tesela__fail(err, TESELA_E_MEMORY, -1, "no memory for the names of the arguments");
  int32_t *number = (int32_t *)(names + n);
  for (size_t i = 0; i < n; i++)
    names[i] = (tesela__words){p->array[i].name, p->array[i].name + p->array[i].name_length};
  qsort(names, n, sizeof *names, compare_names);
  for (size_t i = 0; i < n; i++) {
    const tesela__words own = {p->array[i].name, p->array[i].name + p->array[i].name_length};
    const tesela__words *place = bsearch(&own, names, n, sizeof *names, compare_names);
    number[place - names] = (int32_t)i;
  }
  mark_used(p, names, number, entry);
  tesela__release(&p->allocator, names);
  return TESELA_OK;
}

static tesela_status read_main(tesela_prediction *p, tesela__words entry, tesela_error *err) {
  tesela__words at = entry, line;
  line_parts l;
  tesela_status status = TESELA_OK;
  bool root = false;
  while (status == TESELA_OK && next_line(&at, &line)) {
    if (!split_line(line, &l)) continue;
    if (tesela__words_is(l.opcode, "parameter")) status = read_parameter(p, &l, err);
    if (l.root) read_root(p, &l);
    root = root || l.root;
  }
  if (status == TESELA_OK && at.at == at.end)
    return tesela__predict_expected(p, at.at, "} after the entry computation", err);
  if (status == TESELA_OK && !root)
    return tesela__predict_expected(p, at.at, "a ROOT in the entry computation", err);
  for (int64_t i = 0; status == TESELA_OK && i < p->totals.n_arguments; i++)
    if (!p->array[i].name)
      return tesela__predict_fail(p, &p->array[i], TESELA_E_SYNTAX, at.at,
                                  "the entry computation has no such parameter", err);
  for (size_t i = 0; status == TESELA_OK && p->totals.devices == 1 && i < p->n; i++)
    if (p->array[i].unknown == tesela__no_sharding) p->array[i].unknown = NULL;
  return status == TESELA_OK ? find_used(p, entry, err) : status;
}

tesela_status tesela__predict_hlo(tesela_prediction *p, tesela_error *err) {
  tesela__words head = tesela__words_skip(p->text), entry = p->text;
  const char *newline = memchr(head.at, '\n', (size_t)(head.end - head.at));
  if (newline) head.end = newline;
  tesela_status status = read_head(p, head, err);
  if (status != TESELA_OK) return status;
  entry.at = tesela__words_find((tesela__words){head.end, p->text.end}, "\nENTRY ");
  const char *body = entry.at ? memchr(entry.at + 1, '\n', (size_t)(entry.end - entry.at - 1)) : NULL;
  if (!body) return tesela__predict_expected(p, p->text.end, "an entry computation, ENTRY", err);
  entry.at = body + 1;
  if (!tesela__words_find(head, "arg_memory_spaces=") &&
      tesela__words_find(entry, "\"annotate_device_placement\""))
    return tesela__fail(
        err, TESELA_E_UNSUPPORTED, 0,
        "the program places arrays in the memory of the host, but its first line has no arg_memory_spaces; "
        "predict its StableHLO text");
  return read_main(p, entry, err);
}
