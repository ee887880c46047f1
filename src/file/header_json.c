/* SPDX-License-Identifier: Apache-2.0 */
/*
 * header_json.c - the JSON of .safetensors headers, read strictly (RFC 8259, valid UTF-8, no NUL, up to 64 levels).
 *
 * It builds no values: the reader of the header knows which fields it needs and skips the rest.
 */
#include "file/file.h"

enum { JSON_LEVELS = 64, JSON_SURROGATE = 0xD800, JSON_LOW = 0xDC00, JSON_AFTER = 0xE000 };

tesela_status tesela__json_fail(const tesela__json *j, size_t at, const char *what) {
  return tesela__fail(j->err, TESELA_E_SYNTAX, j->begin + (int64_t)at, "%s is not valid JSON: %s",
                      j->what ? j->what : "its header", what);
}

static void json_blanks(tesela__json *j) {
  while (j->at < j->length && memchr(" \t\r\n", j->text[j->at], 4)) j->at++;
}

bool tesela__json_next_is(tesela__json *j, char c) {
  json_blanks(j);
  return j->at < j->length && j->text[j->at] == c;
}

bool tesela__json_take(tesela__json *j, char c) {
  if (!tesela__json_next_is(j, c)) return false;
  j->at++;
  return true;
}

/* ---- strings ---- */

static int json_hex(char c) {
  return c >= '0' && c <= '9'   ? c - '0'
         : c >= 'a' && c <= 'f' ? c - 'a' + 10
         : c >= 'A' && c <= 'F' ? c - 'A' + 10
                                : -1;
}

/* Read uXXXX at j->at. */
static bool json_unit(tesela__json *j, uint32_t *unit) {
  if (j->length - j->at < 5 || j->text[j->at] != 'u') return false;
  *unit = 0;
  for (int i = 1; i <= 4; i++) {
    int digit = json_hex(j->text[j->at + (size_t)i]);
    if (digit < 0) return false;
    *unit = *unit << 4 | (uint32_t)digit;
  }
  j->at += 5;
  return true;
}

static size_t json_encode(uint32_t c, char out[4]) {
  static const unsigned char lead[] = {0, 0, 0xC0, 0xE0, 0xF0};
  size_t n = c < 0x80 ? 1 : c < 0x800 ? 2 : c < 0x10000 ? 3 : 4;
  for (size_t i = n; i-- > 1; c >>= 6) out[i] = (char)(0x80 | (c & 0x3F));
  out[0] = (char)(lead[n] | c);
  return n;
}

/* Read an escape after its backslash; `out` receives *n bytes of UTF-8. */
static tesela_status json_escape(tesela__json *j, char out[4], size_t *n) {
  static const char from[] = "\"\\/bfnrt", to[] = "\"\\/\b\f\n\r\t";
  uint32_t c, low;
  size_t at = j->at - 1;
  const char *found = j->at < j->length && j->text[j->at] ? strchr(from, j->text[j->at]) : NULL;
  if (found) {
    out[0] = to[found - from];
    *n = 1;
    j->at++;
    return TESELA_OK;
  }
  if (!json_unit(j, &c)) return tesela__json_fail(j, at, "an escape unknown to JSON");
  if (c >= JSON_SURROGATE && c < JSON_LOW && j->at < j->length && j->text[j->at] == '\\') {
    j->at++;
    if (!json_unit(j, &low) || low < JSON_LOW || low >= JSON_AFTER)
      return tesela__json_fail(j, at, "unpaired surrogate");
    c = 0x10000 + ((c - JSON_SURROGATE) << 10) + (low - JSON_LOW);
  }
  if (c >= JSON_SURROGATE && c < JSON_AFTER) return tesela__json_fail(j, at, "unpaired surrogate");
  if (c == 0) return tesela__json_fail(j, at, "NUL in a string");
  *n = json_encode(c, out);
  return TESELA_OK;
}

tesela_status tesela__json_string(tesela__json *j, char **out) {
  size_t n = 0, begin;
  char *to = out ? *out : NULL, escaped[4];
  if (!tesela__json_take(j, '"')) return tesela__json_fail(j, j->at, "expected a string");
  for (begin = j->at - 1; j->at < j->length && j->text[j->at] != '"';) {
    const char *from = j->text + j->at;
    if (*from == '\\') {
      j->at++;
      tesela_status status = json_escape(j, escaped, &n);
      if (status != TESELA_OK) return status;
      from = escaped;
    } else {
      n = (unsigned char)*from < 0x80 ? 1 : tesela__utf8(from, j->length - j->at);
      if (n == 0) return tesela__json_fail(j, j->at, "a byte that is not UTF-8");
      if ((unsigned char)*from < 0x20) return tesela__json_fail(j, j->at, "a control character in a string");
      j->at += n;
    }
    if (to) memcpy(to, from, n);
    if (to) to += n;
  }
  if (j->at == j->length) return tesela__json_fail(j, begin, "an unterminated string");
  j->at++;
  if (to) *to++ = '\0';
  if (out) *out = to;
  return TESELA_OK;
}

/* ---- numbers ---- */

static size_t json_digits(tesela__json *j) {
  size_t begin = j->at;
  while (j->at < j->length && j->text[j->at] >= '0' && j->text[j->at] <= '9') j->at++;
  return j->at - begin;
}

static bool json_at(const tesela__json *j, const char *set) {
  return j->at < j->length && j->text[j->at] && strchr(set, j->text[j->at]);
}

/* Read a number: -1.5e3. *integer: it has no sign, fraction or exponent. */
static tesela_status json_number(tesela__json *j, bool *integer) {
  size_t begin = j->at, whole;
  *integer = !json_at(j, "-");
  if (!*integer) j->at++;
  bool zero = json_at(j, "0");
  whole = json_digits(j);
  bool right = whole > 0 && !(zero && whole > 1);
  if (right && json_at(j, ".")) {
    *integer = false;
    j->at++;
    right = json_digits(j) > 0;
  }
  if (right && json_at(j, "eE")) {
    *integer = false;
    j->at++;
    if (json_at(j, "+-")) j->at++;
    right = json_digits(j) > 0;
  }
  return right ? TESELA_OK : tesela__json_fail(j, begin, "expected a value");
}

/* ---- lists and objects ---- */

tesela_status tesela__json_member(tesela__json *j, int64_t *n, bool *more, char **out) {
  *more = false;
  if (*n == 0 && !tesela__json_take(j, '{')) return tesela__json_fail(j, j->at, "expected an object");
  if (tesela__json_take(j, '}')) return TESELA_OK;
  if (*n > 0 && !tesela__json_take(j, ',')) return tesela__json_fail(j, j->at, "expected a comma or }");
  tesela_status status = tesela__json_string(j, out);
  if (status != TESELA_OK) return status;
  if (!tesela__json_take(j, ':')) return tesela__json_fail(j, j->at, "expected a colon");
  json_blanks(j);
  *more = true;
  ++*n;
  return TESELA_OK;
}

static tesela_status json_pass(tesela__json *j, int level) {
  static const char *const words[] = {"true", "false", "null"};
  bool more = true, integer;
  int64_t n = 0;
  tesela_status status = TESELA_OK;
  if (level == JSON_LEVELS) return tesela__json_fail(j, j->at, "more than 64 levels");
  if (tesela__json_next_is(j, '"')) return tesela__json_string(j, NULL);
  if (tesela__json_next_is(j, '{')) {
    for (;;) {
      status = tesela__json_member(j, &n, &more, NULL);
      if (status == TESELA_OK && more) status = json_pass(j, level + 1);
      if (status != TESELA_OK || !more) return status;
    }
  }
  if (tesela__json_take(j, '[')) {
    if (tesela__json_take(j, ']')) return TESELA_OK;
    do {
      status = json_pass(j, level + 1);
    } while (status == TESELA_OK && tesela__json_take(j, ','));
    if (status != TESELA_OK || tesela__json_take(j, ']')) return status;
    return tesela__json_fail(j, j->at, "expected a comma or ]");
  }
  for (size_t i = 0; i < sizeof words / sizeof words[0]; i++) {
    size_t length = strlen(words[i]);
    if (j->length - j->at < length || memcmp(j->text + j->at, words[i], length) != 0) continue;
    j->at += length;
    return TESELA_OK;
  }
  return json_number(j, &integer);
}

tesela_status tesela__json_pass(tesela__json *j) { return json_pass(j, 0); }

/* Read an integer >= 0; *is: false for any other value, which is skipped. */
static tesela_status json_integer(tesela__json *j, bool *is, int64_t *out) {
  json_blanks(j);
  size_t at = j->at;
  *is = false;
  if (!json_at(j, "-0123456789")) return tesela__json_pass(j);
  tesela_status status = json_number(j, is);
  if (status != TESELA_OK || !*is) return status;
  *out = 0;
  for (size_t i = at; i < j->at; i++)
    if (!tesela__mul(*out, 10, out) || !tesela__add(*out, j->text[i] - '0', out))
      return tesela__json_fail(j, at, "an integer is too large");
  return TESELA_OK;
}

tesela_status tesela__json_integers(tesela__json *j, int32_t most, int64_t *out, int32_t *n) {
  int64_t value = 0;
  bool is, right = true;
  *n = -1;
  if (!tesela__json_next_is(j, '[')) return tesela__json_pass(j);
  j->at++;
  int32_t count = 0;
  if (!tesela__json_take(j, ']')) {
    do {
      tesela_status status = json_integer(j, &is, &value);
      if (status != TESELA_OK) return status;
      right = right && is && count < most;
      if (right) out[count++] = value;
    } while (tesela__json_take(j, ','));
    if (!tesela__json_take(j, ']')) return tesela__json_fail(j, j->at, "expected a comma or ]");
  }
  if (right) *n = count;
  return TESELA_OK;
}
