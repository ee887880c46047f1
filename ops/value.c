/* SPDX-License-Identifier: Apache-2.0 */
/*
 * value.c - values of a request: made from C values, and read.
 */
#include "request.h"

#include <string.h>

tesela_value tesela_value_of_text(const char *name, const char *text) {
  if (!text) return (tesela_value){.name = name, .kind = TESELA_VALUE_NULL};
  return (tesela_value){.name = name, .kind = TESELA_VALUE_TEXT, .n = strlen(text), .as = {.text = text}};
}

tesela_value tesela_value_of_int(const char *name, int64_t number) {
  return (tesela_value){.name = name, .kind = TESELA_VALUE_INT, .as = {.integer = number}};
}

tesela_value tesela_value_of_bool(const char *name, bool flag) {
  return (tesela_value){.name = name, .kind = TESELA_VALUE_BOOL, .as = {.flag = flag}};
}

tesela_value tesela_value_of_list(const char *name, size_t n, const tesela_value *items) {
  return (tesela_value){.name = name, .kind = TESELA_VALUE_LIST, .n = items ? n : 0, .as = {.item = items}};
}

tesela_value tesela_value_of_object(const char *name, size_t n, const tesela_value *members) {
  return (tesela_value){
      .name = name, .kind = TESELA_VALUE_OBJECT, .n = members ? n : 0, .as = {.item = members}};
}

tesela_value tesela_value_of_ints(const char *name, size_t n, tesela_value *room, const int64_t *numbers) {
  if (!numbers) n = 0;
  for (size_t i = 0; room && i < n; i++) room[i] = tesela_value_of_int(NULL, numbers[i]);
  return tesela_value_of_list(name, n, room);
}

bool tesela_value_is(const tesela_value *value, tesela_value_kind kind) {
  return value && value->kind == kind;
}

size_t tesela_value_size(const tesela_value *value) {
  return value && value->kind >= TESELA_VALUE_LIST ? value->n : 0;
}

const tesela_value *tesela_value_at(const tesela_value *value, size_t i) {
  return i < tesela_value_size(value) ? &value->as.item[i] : NULL;
}

const tesela_value *tesela_value_get(const tesela_value *object, const char *name) {
  size_t n = name && tesela_value_is(object, TESELA_VALUE_OBJECT) ? object->n : 0;
  for (size_t i = 0; i < n; i++)
    if (strcmp(object->as.item[i].name, name) == 0) return &object->as.item[i];
  return NULL;
}

int64_t tesela_value_int(const tesela_value *value) {
  return tesela_value_is(value, TESELA_VALUE_INT) ? value->as.integer : 0;
}

bool tesela_value_bool(const tesela_value *value) {
  return tesela_value_is(value, TESELA_VALUE_BOOL) && value->as.flag;
}

double tesela_value_number(const tesela_value *value) {
  if (tesela_value_is(value, TESELA_VALUE_REAL)) return value->as.real;
  return (double)tesela_value_int(value);
}

const char *tesela_value_text(const tesela_value *value) {
  return tesela_value_is(value, TESELA_VALUE_TEXT) ? value->as.text : NULL;
}

size_t tesela_value_length(const tesela_value *value) {
  return tesela_value_is(value, TESELA_VALUE_TEXT) ? value->n : 0;
}

const char *ops_value_words(const tesela_value *value) {
  static const char *const words[] = {"null", "false", "integer", "number", "string", "list", "object"};
  if (!value) return "nothing";
  return tesela_value_bool(value) ? "true" : words[value->kind];
}
