/* SPDX-License-Identifier: Apache-2.0 */
/*
 * predict_words.c - parts of a program's text: words, numbers, and what is between brackets.
 */
#include <string.h>

#include "base/base.h"
#include "predict/predict.h"

tesela__words tesela__words_skip(tesela__words p) {
  for (;;) {
    while (p.at < p.end && (*p.at == ' ' || *p.at == '\t' || *p.at == '\r' || *p.at == '\n')) p.at++;
    if (p.end - p.at < 2 || p.at[0] != '/') return p;
    const char *close = NULL;
    if (p.at[1] == '/') close = memchr(p.at, '\n', (size_t)(p.end - p.at));
    if (p.at[1] == '*') close = tesela__words_find((tesela__words){p.at + 2, p.end}, "*/");
    if (p.at[1] != '/' && p.at[1] != '*') return p;
    p.at = !close ? p.end : close + (p.at[1] == '*' ? 2 : 1);
  }
}

bool tesela__words_take(tesela__words *p, const char *word) {
  tesela__words at = tesela__words_skip(*p);
  size_t n = strlen(word);
  if ((size_t)(at.end - at.at) < n || memcmp(at.at, word, n) != 0) return false;
  p->at = at.at + n;
  return true;
}

static bool is_word(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '.' || c == '_' ||
         c == '-' || c == '%';
}

tesela__words tesela__words_name(tesela__words *p) {
  tesela__words name = tesela__words_skip(*p);
  p->at = name.at;
  while (p->at < p->end && is_word(*p->at)) p->at++;
  name.end = p->at;
  return name;
}

bool tesela__words_int(tesela__words *p, int64_t *number) {
  tesela__words at = tesela__words_skip(*p);
  const char *start = at.at;
  for (*number = 0; at.at < at.end && *at.at >= '0' && *at.at <= '9'; at.at++)
    if (!tesela__mul(*number, 10, number) || !tesela__add(*number, *at.at - '0', number)) return false;
  if (at.at == start) return false;
  p->at = at.at;
  return true;
}

static const char *skip_string(const char *at, const char *end) {
  for (at++; at < end && *at != '"'; at++)
    if (*at == '\\' && at + 1 < end) at++;
  return at;
}

tesela__words tesela__words_until(tesela__words *p, const char *stops) {
  tesela__words found = tesela__words_skip(*p);
  int64_t depth = 0;
  const char *at = found.at;
  for (; at < p->end; at++) {
    if (*at == '"') at = skip_string(at, p->end);
    if (at >= p->end) break;
    if (depth == 0 && *at && strchr(stops, *at)) break;
    if (*at == '(' || *at == '[' || *at == '{' || (*at == '<' && (at + 1 == p->end || at[1] != '='))) depth++;
    const bool closes = *at == ')' || *at == ']' || *at == '}' || (*at == '>' && at[-1] != '-');
    if (closes && depth-- == 0) break;
  }
  p->at = found.end = at < p->end ? at : p->end;
  return found;
}

bool tesela__words_is(tesela__words p, const char *word) {
  size_t n = strlen(word);
  return (size_t)(p.end - p.at) == n && memcmp(p.at, word, n) == 0;
}

const char *tesela__words_find(tesela__words p, const char *word) {
  size_t n = strlen(word);
  while ((size_t)(p.end - p.at) >= n &&
         (p.at = memchr(p.at, word[0], (size_t)(p.end - p.at) - n + 1)) != NULL) {
    if (memcmp(p.at, word, n) == 0) return p.at;
    p.at++;
  }
  return NULL;
}
