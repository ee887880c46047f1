/* SPDX-License-Identifier: Apache-2.0 */
/* json_read.c - members of JSON objects by name, with their types checked. */
#include "json_read.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "request.h"

const char JR_TEXT_NEEDED[] = "";

bool jr_fail(const jr_object *in, tesela_status status, const char *format, ...) {
  va_list args;
  va_start(args, format);
  tesela_error_fill(in->err, status, -1, format, args);
  va_end(args);
  return false;
}

bool jr_has(const jr_object *in, const char *key) { return tesela_value_get(in->value, key) != NULL; }

/* The member, or NULL; *go_on is false if it is required. */
static const tesela_value *jr_find(const jr_object *in, const char *key, bool needed, bool *go_on) {
  const tesela_value *value = tesela_value_get(in->value, key);
  *go_on = true;
  if (!value && needed) *go_on = jr_fail(in, TESELA_E_INVALID, "%s: missing field %s", in->name, key);
  return value;
}

static bool jr_wrong(const jr_object *in, const char *key, const char *expected) {
  return jr_fail(in, TESELA_E_INVALID, "%s.%s: expected %s, found %s", in->name, key, expected,
                 ops_value_words(tesela_value_get(in->value, key)));
}

bool jr_int(const jr_object *in, const char *key, int64_t otherwise, int64_t *value) {
  bool go_on;
  const tesela_value *member = jr_find(in, key, otherwise == JR_NEEDED, &go_on);
  if (member && !tesela_value_is(member, TESELA_VALUE_INT)) return jr_wrong(in, key, "integer");
  *value = member ? tesela_value_int(member) : otherwise;
  return go_on;
}

bool jr_int_in(const jr_object *in, const char *key, int64_t otherwise, int64_t least, int64_t most,
               int64_t *value) {
  if (!jr_int(in, key, otherwise, value)) return false;
  if (!jr_has(in, key) || (*value >= least && *value <= most)) return true;
  return jr_fail(in, TESELA_E_RANGE, "%s.%s is %" PRId64 "; expected %" PRId64 " to %" PRId64, in->name, key,
                 *value, least, most);
}

bool jr_real(const jr_object *in, const char *key, double otherwise, double *value) {
  const tesela_value *member = tesela_value_get(in->value, key);
  if (member && !tesela_value_is(member, TESELA_VALUE_INT) && !tesela_value_is(member, TESELA_VALUE_REAL))
    return jr_wrong(in, key, "number");
  *value = member ? tesela_value_number(member) : otherwise;
  return true;
}

bool jr_flag(const jr_object *in, const char *key, bool *value) {
  const tesela_value *member = tesela_value_get(in->value, key);
  if (member && !tesela_value_is(member, TESELA_VALUE_BOOL)) return jr_wrong(in, key, "true or false");
  *value = tesela_value_bool(member);
  return true;
}

bool jr_text(const jr_object *in, const char *key, const char *otherwise, const char **text) {
  bool go_on;
  const tesela_value *member = jr_find(in, key, otherwise == JR_TEXT_NEEDED, &go_on);
  if (member && !tesela_value_is(member, TESELA_VALUE_TEXT)) return jr_wrong(in, key, "string");
  if (member && strlen(tesela_value_text(member)) != tesela_value_length(member))
    return jr_fail(in, TESELA_E_INVALID, "%s.%s has a NUL character", in->name, key);
  *text = member ? tesela_value_text(member) : otherwise;
  return go_on;
}

bool jr_ints(const jr_object *in, const char *key, bool needed, int32_t room, int32_t *n, int64_t *values) {
  bool go_on;
  const tesela_value *member = jr_find(in, key, needed, &go_on);
  *n = -1;
  if (!member) return go_on;
  if (!tesela_value_is(member, TESELA_VALUE_LIST)) return jr_wrong(in, key, "list of integers");
  if (tesela_value_size(member) > (size_t)room)
    return jr_fail(in, TESELA_E_LIMIT, "%s.%s has %zu numbers; expected %" PRId32 " or fewer", in->name, key,
                   tesela_value_size(member), room);
  *n = (int32_t)tesela_value_size(member);
  for (int32_t i = 0; i < *n; i++) {
    const tesela_value *item = tesela_value_at(member, (size_t)i);
    if (!tesela_value_is(item, TESELA_VALUE_INT))
      return jr_fail(in, TESELA_E_INVALID, "%s.%s[%" PRId32 "]: expected integer, found %s", in->name, key, i,
                     ops_value_words(item));
    values[i] = tesela_value_int(item);
  }
  return true;
}

bool jr_member(const jr_object *in, const char *key, bool needed, jr_object *out) {
  bool go_on;
  const tesela_value *member = jr_find(in, key, needed, &go_on);
  *out = (jr_object){member, key, in->err, in->target};
  return !member || tesela_value_is(member, TESELA_VALUE_OBJECT) ? go_on : jr_wrong(in, key, "object");
}

bool jr_list(const jr_object *in, const char *key, bool needed, const tesela_value **list) {
  bool go_on;
  *list = jr_find(in, key, needed, &go_on);
  return !*list || tesela_value_is(*list, TESELA_VALUE_LIST) ? go_on : jr_wrong(in, key, "list");
}

/* The words of "a|b|c". */
typedef struct jr_words {
  char text[512];
  const char *word[48]; /* ends with NULL */
} jr_words;

static void jr_split(jr_words *list, const char *words) {
  int n = 0;
  snprintf(list->text, sizeof list->text, "%s", words);
  for (char *at = list->text; at && n < 47; n++) {
    list->word[n] = at;
    at = strchr(at, '|');
    if (at) *at++ = '\0';
  }
  list->word[n] = NULL;
}

static const char *jr_word(const void *user, int i) { return ((const jr_words *)user)->word[i]; }

bool jr_done(const jr_object *in, const char *words) {
  jr_words list;
  jr_split(&list, words);
  for (size_t k = 0; k < tesela_value_size(in->value); k++) {
    const char *name = tesela_value_at(in->value, k)->name;
    int i = 0;
    while (list.word[i] && strcmp(list.word[i], name) != 0) i++;
    if (list.word[i]) continue;
    const char *near = tesela_nearest(name, strlen(name), jr_word, &list);
    if (near)
      return jr_fail(in, TESELA_E_INVALID, "%s: unknown field '%.40s'; did you mean %s?", in->name, name,
                     near);
    return jr_fail(in, TESELA_E_INVALID, "%s: unknown field '%.40s'; expected %s", in->name, name, words);
  }
  return true;
}
