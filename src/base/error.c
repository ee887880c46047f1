/* SPDX-License-Identifier: Apache-2.0 */
/*
 * error.c - statuses, error messages, version.
 */
#include "base/base.h"

#include <stdarg.h>
#include <stdio.h>

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
  return "not a status of tesela";
}

const char *tesela_version(void) {
  return STRING(TESELA_VERSION_MAJOR) "." STRING(TESELA_VERSION_MINOR) "." STRING(TESELA_VERSION_PATCH);
}

/* Cut a text that vsnprintf filled at the last whole UTF-8 character. */
static void cut_at_character(char *text, size_t length) {
  size_t start = length;
  while (start > 0 && ((unsigned char)text[start - 1] & 0xC0) == 0x80) start--;
  if (start == 0) return;
  unsigned char lead = (unsigned char)text[start - 1];
  size_t want = lead < 0x80 ? 1 : lead < 0xE0 ? 2 : lead < 0xF0 ? 3 : 4;
  if (length - (start - 1) < want) text[start - 1] = '\0';
}

tesela_status tesela__fail(tesela_error *err, tesela_status status, int64_t at, const char *format, ...) {
  if (!err) return status;
  err->status = status;
  err->at = at;
  va_list args;
  va_start(args, format);
  int length = vsnprintf(err->message, sizeof err->message, format, args);
  va_end(args);
  if (length < 0) err->message[0] = '\0';
  if (length >= (int)sizeof err->message) cut_at_character(err->message, sizeof err->message - 1);
  return status;
}

int64_t tesela__gcd(int64_t a, int64_t b) {
  while (a != 0) {
    int64_t rest = b % a;
    b = a;
    a = rest;
  }
  return b;
}
