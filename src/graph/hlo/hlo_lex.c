/* SPDX-License-Identifier: Apache-2.0 */
/*
 * hlo_lex.c - the characters of HLO text. Nothing here reads beyond the text, whatever is in it.
 */
#include <stdio.h>

#include "graph/hlo/hlo.h"

static bool hlo_blank(char c) { return c == ' ' || c == '\t' || c == '\n' || c == '\r'; }

/* What a name may be made of: what tesela_graph_add allows. */
static bool hlo_name_byte(char c) {
  unsigned char u = (unsigned char)c;
  return u > ' ' && u != 127 && !strchr("\"%,=(){}[]\\", c);
}

tesela_status tesela__hlo_unexpected(tesela__hlo_reader *r, const char *allowed) {
  tesela__hlo_blanks(r);
  if (r->at >= r->length)
    return tesela__fail(r->err, TESELA_E_SYNTAX, (int64_t)r->length, "the text ends where %s must stand",
                        allowed);
  char room[16];
  unsigned char c = (unsigned char)r->text[r->at];
  snprintf(room, sizeof room, c > ' ' && c < 127 ? "'%c'" : "byte 0x%02x", c);
  return tesela__fail(r->err, TESELA_E_SYNTAX, (int64_t)r->at, "found %s where %s must stand", room, allowed);
}

void tesela__hlo_blanks(tesela__hlo_reader *r) {
  while (r->at < r->length) {
    const char *p = r->text + r->at, *end = r->text + r->length;
    if (hlo_blank(*p)) {
      r->at++;
    } else if (*p == '/' && end - p >= 2 && p[1] == '*') {
      for (p += 2; end - p >= 2 && (p[0] != '*' || p[1] != '/'); p++) {
      }
      r->at = end - p >= 2 ? (size_t)(p + 2 - r->text) : r->length;
    } else if (*p == '/' && end - p >= 2 && p[1] == '/') {
      while (p < end && *p != '\n') p++;
      r->at = (size_t)(p - r->text);
    } else {
      return;
    }
  }
}

bool tesela__hlo_peek(tesela__hlo_reader *r, char c) {
  tesela__hlo_blanks(r);
  return r->at < r->length && r->text[r->at] == c;
}

bool tesela__hlo_take(tesela__hlo_reader *r, char c) {
  bool there = tesela__hlo_peek(r, c);
  r->at += there;
  return there;
}

bool tesela__hlo_take_word(tesela__hlo_reader *r, const char *word) {
  size_t n = strlen(word);
  tesela__hlo_blanks(r);
  if (r->length - r->at < n || memcmp(r->text + r->at, word, n) != 0) return false;
  if (r->length - r->at > n && hlo_name_byte(r->text[r->at + n])) return false;
  r->at += n;
  return true;
}

tesela__hlo_span tesela__hlo_take_name(tesela__hlo_reader *r) {
  tesela__hlo_blanks(r);
  if (r->at < r->length && r->text[r->at] == '%') r->at++;
  size_t start = r->at;
  while (r->at < r->length && hlo_name_byte(r->text[r->at])) r->at++;
  return (tesela__hlo_span){start, r->at - start};
}

/* ---- groups and strings ---- */

tesela_status tesela__hlo_take_string(tesela__hlo_reader *r, tesela__hlo_span *span) {
  size_t start = r->at++;
  for (; r->at < r->length && r->text[r->at] != '"'; r->at++)
    if (r->text[r->at] == '\\' && r->at + 1 < r->length) r->at++;
  if (r->at >= r->length)
    return tesela__fail(r->err, TESELA_E_SYNTAX, (int64_t)start, "this text in quotes does not end");
  *span = (tesela__hlo_span){start + 1, r->at - start - 1};
  r->at++;
  return TESELA_OK;
}

/* Go on behind what closes the bracket at `start`, with the reader behind it. Brackets of each kind must balance inside. */
static tesela_status hlo_close(tesela__hlo_reader *r, size_t start) {
  static const char open[] = "({[", close[] = ")}]";
  int64_t depth[3] = {0};
  const int first = (int)(strchr(open, r->text[start]) - open);
  for (depth[first] = 1; r->at < r->length;) {
    tesela__hlo_span string;
    char c = r->text[r->at];
    const char *opens = c ? strchr(open, c) : NULL, *closes = c ? strchr(close, c) : NULL;
    if (c == '"') {
      tesela_status status = tesela__hlo_take_string(r, &string);
      if (status != TESELA_OK) return status;
      continue;
    }
    if (c == '/' && r->at + 1 < r->length && r->text[r->at + 1] == '*') {
      tesela__hlo_blanks(r);
      continue;
    }
    if (opens) depth[opens - open]++;
    if (closes && --depth[closes - close] < 0) break;
    r->at++;
    if (depth[first] == 0 && depth[0] + depth[1] + depth[2] == 0) return TESELA_OK;
    if (depth[first] == 0) break;
  }
  return tesela__fail(r->err, TESELA_E_SYNTAX, (int64_t)start, "this bracket is not closed");
}

tesela_status tesela__hlo_take_group(tesela__hlo_reader *r, tesela__hlo_span *span) {
  size_t start = r->at++;
  tesela_status status = hlo_close(r, start);
  if (status == TESELA_OK) *span = (tesela__hlo_span){start + 1, r->at - start - 2};
  return status;
}

tesela_status tesela__hlo_take_value(tesela__hlo_reader *r, tesela__hlo_span *span) {
  tesela__hlo_blanks(r);
  size_t start = r->at;
  if (r->at < r->length && r->text[r->at] == '"') return tesela__hlo_take_string(r, span);
  if (r->at < r->length && r->text[r->at] == '{') return tesela__hlo_take_group(r, span);
  while (r->at < r->length) {
    char c = r->text[r->at];
    if (hlo_blank(c) || c == ',' || c == ')' || c == '}' || c == ']') break;
    r->at++;
    if (c == '(' || c == '{' || c == '[') {
      tesela_status status = hlo_close(r, r->at - 1);
      if (status != TESELA_OK) return status;
    }
  }
  if (r->at == start) return tesela__hlo_unexpected(r, "a value");
  size_t next = r->at; /* mesh['a'=2] {'a'}: a group may follow on the line */
  while (next < r->length && r->text[next] == ' ') next++;
  if (next > r->at && next < r->length && r->text[next] == '{') {
    r->at = next + 1;
    tesela_status status = hlo_close(r, next);
    if (status != TESELA_OK) return status;
  }
  *span = (tesela__hlo_span){start, r->at - start};
  return TESELA_OK;
}

bool tesela__hlo_same(const char *text, tesela__hlo_span span, const char *word) {
  return strlen(word) == span.n && memcmp(text + span.at, word, span.n) == 0;
}

const char *tesela__hlo_shown(const char *text, tesela__hlo_span span, char room[TESELA__HLO_SHOWN]) {
  size_t n = span.n < TESELA__HLO_SHOWN - 1 ? span.n : TESELA__HLO_SHOWN - 1;
  for (size_t i = 0; i < n; i++) {
    char c = text[span.at + i];
    room[i] = c >= ' ' && c < 127 ? c : '?';
  }
  room[n] = '\0';
  return room;
}
