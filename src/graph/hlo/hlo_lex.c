/* SPDX-License-Identifier: Apache-2.0 */
/*
 * hlo_lex.c - names, strings and groups of HLO text. No function reads beyond the text.
 */
#include "graph/hlo/hlo.h"

tesela__hlo_span tesela__hlo_take_name(tesela__reader *r) {
  tesela__read_take(r, '%');
  tesela__hlo_span name = {r->at, tesela__read_lump(r, r->at)};
  r->at += name.n;
  return name;
}

/* ---- groups and strings ---- */

tesela_status tesela__hlo_take_string(tesela__reader *r, tesela__hlo_span *span) {
  size_t start = r->at++;
  for (; r->at < r->length && r->text[r->at] != '"'; r->at++)
    if (r->text[r->at] == '\\' && r->at + 1 < r->length) r->at++;
  if (r->at >= r->length) return tesela__fail(r->err, TESELA_E_SYNTAX, (int64_t)start, "unterminated string");
  *span = (tesela__hlo_span){start + 1, r->at - start - 1};
  r->at++;
  return TESELA_OK;
}

/* Move past the bracket that closes the one at `start`, with the reader after it. Brackets of each kind must balance inside. */
static tesela_status hlo_close(tesela__reader *r, size_t start) {
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
      tesela__read_peek(r);
      continue;
    }
    if (opens) depth[opens - open]++;
    if (closes && --depth[closes - close] < 0) break;
    r->at++;
    if (depth[first] == 0 && depth[0] + depth[1] + depth[2] == 0) return TESELA_OK;
    if (depth[first] == 0) break;
  }
  return tesela__fail(r->err, TESELA_E_SYNTAX, (int64_t)start, "unclosed bracket");
}

tesela_status tesela__hlo_take_group(tesela__reader *r, tesela__hlo_span *span) {
  size_t start = r->at++;
  tesela_status status = hlo_close(r, start);
  if (status == TESELA_OK) *span = (tesela__hlo_span){start + 1, r->at - start - 2};
  return status;
}

tesela_status tesela__hlo_take_value(tesela__reader *r, tesela__hlo_span *span) {
  tesela__read_peek(r);
  size_t start = r->at;
  if (r->at < r->length && r->text[r->at] == '"') return tesela__hlo_take_string(r, span);
  if (r->at < r->length && r->text[r->at] == '{') return tesela__hlo_take_group(r, span);
  while (r->at < r->length) {
    char c = r->text[r->at];
    if (c == ' ' || c == '\t' || c == '\n' || c == '\r' || c == ',' || c == ')' || c == '}' || c == ']')
      break;
    r->at++;
    if (c == '(' || c == '{' || c == '[') {
      tesela_status status = hlo_close(r, r->at - 1);
      if (status != TESELA_OK) return status;
    }
  }
  if (r->at == start) return tesela__read_unexpected(r, "a value", "");
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
  return tesela__same_word(text + span.at, span.n, word);
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
