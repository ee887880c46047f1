/* SPDX-License-Identifier: Apache-2.0 */
/*
 * error.c - statuses, error messages, version.
 */
#include "base/base.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#define STRING_(x) #x
#define STRING(x) STRING_(x)

const char *tesela_status_code(tesela_status status) {
  switch (status) {
#define TESELA__ROW(symbol, value, code, text) \
  case symbol:                                 \
    return code;
    TESELA_STATUS_MAP(TESELA__ROW)
#undef TESELA__ROW
  }
  return "UNKNOWN";
}

const char *tesela_status_text(tesela_status status) {
  switch (status) {
#define TESELA__ROW(symbol, value, code, text) \
  case symbol:                                 \
    return text;
    TESELA_STATUS_MAP(TESELA__ROW)
#undef TESELA__ROW
  }
  return "unknown status";
}

/* Rows of the list, by number. */
static const struct {
  tesela_reason reason;
  const char *code, *text;
} reason_rows[] = {
#define TESELA__ROW(symbol, value, code, text) {symbol, code, text},
    TESELA_REASON_MAP(TESELA__ROW)
#undef TESELA__ROW
};

const char *tesela_reason_code(tesela_reason reason) {
  for (size_t i = 0; i < sizeof reason_rows / sizeof reason_rows[0]; i++)
    if (reason_rows[i].reason == reason) return reason_rows[i].code;
  return "";
}

const char *tesela_reason_text(tesela_reason reason) {
  for (size_t i = 0; i < sizeof reason_rows / sizeof reason_rows[0]; i++)
    if (reason_rows[i].reason == reason) return reason_rows[i].text;
  return "";
}

const char *tesela_version(void) {
  return STRING(TESELA_VERSION_MAJOR) "." STRING(TESELA_VERSION_MINOR) "." STRING(TESELA_VERSION_PATCH);
}

void tesela__end_cut(char *text, size_t room) {
  size_t limit = room - sizeof "...", end = limit;
  while (end > limit / 2 && text[end] != ' ') end--;
  bool word = text[end] == ' ';
  if (!word) end = limit;
  while (end > 0 &&
         (word ? strchr(" ,;:", text[end - 1]) != NULL : ((unsigned char)text[end] & 0xC0) == 0x80))
    end--;
  memcpy(text + end, "...", sizeof "...");
}

tesela_status tesela_error_fill(tesela_error *err, tesela_status status, int64_t at, const char *format,
                                va_list args) {
  if (!err) return status;
  err->status = status;
  err->reason = TESELA_REASON_NONE;
  err->at = at;
  int length = vsnprintf(err->message, sizeof err->message, format, args);
  if (length < 0) err->message[0] = '\0';
  if (length >= (int)sizeof err->message) tesela__end_cut(err->message, sizeof err->message);
  return status;
}

tesela_status tesela__fail(tesela_error *err, tesela_status status, int64_t at, const char *format, ...) {
  va_list args;
  va_start(args, format);
  tesela_error_fill(err, status, at, format, args);
  va_end(args);
  return status;
}

tesela_status tesela__fail_stopped(tesela_error *err) {
  return tesela__fail(err, TESELA_E_STOPPED, -1, "the progress callback asked to stop");
}

tesela_status tesela__refuse(tesela_error *err, tesela_status status, tesela_reason reason,
                             const char *format, ...) {
  va_list args;
  va_start(args, format);
  tesela_error_fill(err, status, -1, format, args);
  va_end(args);
  if (err) err->reason = reason;
  return status;
}

void tesela__range_text(int64_t least, int64_t most, char *text, size_t room) {
  if (most < least)
    snprintf(text, room, "the extent is 0, so no value is valid");
  else
    snprintf(text, room, "expected %" PRId64 " to %" PRId64, least, most);
}

tesela_status tesela_error_outside(tesela_error *err, int64_t at, const char *name, int32_t k, int64_t value,
                                   int64_t least, int64_t most) {
  char number[16] = "", allowed[80];
  TESELA__NEED(err, name);
  if (k >= 0) snprintf(number, sizeof number, "[%" PRId32 "]", k);
  tesela__range_text(least, most, allowed, sizeof allowed);
  return tesela__fail(err, TESELA_E_RANGE, at, "%s%s is %" PRId64 "; %s", name, number, value, allowed);
}

const char *tesela__names_text(const char *(*name)(const void *user, int32_t i), const void *user,
                               char list[TESELA__NAMES]) {
  enum { LONGEST = 24 };
  const char *next;
  size_t used = 0;
  list[0] = '\0';
  for (int32_t i = 0; (next = name(user, i)) && used + LONGEST < TESELA__NAMES; i++)
    if (*next)
      used += (size_t)snprintf(list + used, TESELA__NAMES - used, "%s%.20s", used > 0 ? ", " : "", next);
  if (next) snprintf(list + used, TESELA__NAMES - used, ", ...");
  return list;
}

tesela_status tesela_error_unknown(tesela_error *err, const char *what, const char *name,
                                   const char *(*candidate)(const void *user, int32_t i), const void *user) {
  char quoted[TESELA__QUOTE], list[TESELA__NAMES];
  TESELA__NEED(err, what, name);
  const char *near = tesela_nearest(name, strlen(name), candidate, user);
  if (near)
    return tesela__fail(err, TESELA_E_INVALID, -1, "unknown %s '%s'; did you mean %.80s?", what,
                        tesela__quote(name, strlen(name), quoted), near);
  tesela__names_text(candidate, user, list);
  return tesela__fail(err, TESELA_E_INVALID, -1, "unknown %s '%s'%s%s", what,
                      tesela__quote(name, strlen(name), quoted), *list ? "; expected " : "", list);
}

void tesela__say_null(tesela_error *err, const char *names, int which) {
  for (; which > 0; which--) names = strchr(names, ',') + 2;
  tesela__fail(err, TESELA_E_INVALID, -1, "argument %.*s is NULL", (int)strcspn(names, ","), names);
}

void tesela__say_too_large(tesela_error *err) {
  tesela__fail(err, TESELA_E_LIMIT, -1, "a buffer of more bytes than a pointer of %d bits can count",
               (int)sizeof(void *) * CHAR_BIT);
}

int64_t tesela__gcd(int64_t a, int64_t b) {
  while (a != 0) {
    int64_t rest = b % a;
    b = a;
    a = rest;
  }
  return b;
}
