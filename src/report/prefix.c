/* SPDX-License-Identifier: Apache-2.0 */
/*
 * prefix.c - which of several processes wrote a line, by its prefix.
 *
 *   [rank3]: TEXT          [pod/trainer-2/main] TEXT      [1,3]<stderr>:TEXT      (worker pid=17, ip=10.0.0.2) TEXT
 *   3: TEXT                worker-3: TEXT                 worker-3  | TEXT        trainer-2 main TEXT
 *
 * A prefix has a number, or is the pair of names that stern writes. Time stamps before it and between two of
 * them are not part of it. Level, file or time in brackets are not a prefix: they change from line to line.
 */
#include "report/report_state.h"

static bool is_lower(char c) { return c >= 'a' && c <= 'z'; }

/* A name of a host or pod at p: letters, digits, '-' and '_', or NULL. *numbered: has a digit. */
static const char *skip_host(const char *p, const char *end, bool *numbered) {
  const char *start = p;
  for (*numbered = false; p < end && tesela__is_name(*p) && *p != '.'; p++)
    *numbered = *numbered || tesela__is_digit(*p);
  return p > start ? p : NULL;
}

/* "<stderr>" of mpirun, a colon, one blank. */
static const char *skip_colon(const char *p, const char *end) {
  if (tesela__looking_at(p, end, "<stderr>") || tesela__looking_at(p, end, "<stdout>")) p += 8;
  if (p < end && *p == ':') p++;
  return p < end && *p == ' ' ? p + 1 : p;
}

/* "[rank3]", "[pod/trainer-2/main]", "[1,3]". */
static const char *skip_brackets(const char *p, const char *end, tesela__span *who, bool numbers) {
  const char *start = ++p;
  bool letter = false, digit = false, other = false;
  for (; p < end && *p != ']' && p - start < 300; p++) {
    if (tesela__is_digit(*p))
      digit = true;
    else if (is_lower(*p) || (*p >= 'A' && *p <= 'Z'))
      letter = true;
    else if (*p == '-' || *p == '_' || *p == '/' || *p == ' ')
      other = true;
    else if (*p != ',')
      return NULL;
  }
  bool pod = tesela__looking_at(start, end, "pod/");
  if (p >= end || *p != ']' || (!pod && (!digit || (!letter && (other || !numbers))))) return NULL;
  *who = tesela__between(start, p++);
  if (p < end && *p != ':' && *p != ' ' && *p != '<') return NULL;
  return skip_colon(p, end);
}

/* "(worker pid=17, ip=10.0.0.2)". */
static const char *skip_process(const char *p, const char *end, tesela__span *who) {
  const char *close = memchr(p, ')', (size_t)(end - p < 200 ? end - p : 200));
  if (!close || !tesela__find(tesela__between(p, close), "pid=")) return NULL;
  *who = tesela__between(p, close);
  return skip_colon(close + 1, end);
}

/* "3:", "worker-3:", "worker-3  |", "trainer-2 main". */
static const char *skip_word(const char *p, const char *end, tesela__span *who) {
  const char *start = p;
  bool numbered, ignored;
  if (!(p = skip_host(p, end, &numbered))) return NULL;
  *who = tesela__between(start, p);
  if (p == end) return NULL;
  if (*p == ':') return numbered && (p + 1 == end || p[1] == ' ') ? skip_colon(p, end) : NULL;
  if (*p != ' ') return NULL;
  const char *next = tesela__skip_blanks(p, end);
  if (next < end && *next == '|') /* "56B | Requested" has a size before the bar */
    return numbered && !tesela__is_digit(*start) ? skip_colon(next + 1, end) : NULL;
  if (next != p + 1 || !is_lower(*start) || !memchr(start, '-', (size_t)(p - start))) return NULL;
  if (next == end || !is_lower(*next) || !(p = skip_host(next, end, &ignored))) return NULL;
  if (p < end && *p != ' ') return NULL;
  *who = tesela__between(start, p);
  return p < end ? p + 1 : p;
}

/* "2026-11-21T10:00:00.123Z" and the blank after it, or p itself. */
static const char *skip_time(const char *p, const char *end) {
  const char *start = p;
  static const unsigned char kind[256] = {
      ['0'] = 1, ['1'] = 1, ['2'] = 1, ['3'] = 1, ['4'] = 1, ['5'] = 1, ['6'] = 1, ['7'] = 1, ['8'] = 1,
      ['9'] = 1, ['.'] = 1, [','] = 1, ['+'] = 1, ['T'] = 1, ['Z'] = 1, [':'] = 2, ['-'] = 2};
  int marks = 0;
  if (p == end || !tesela__is_digit(*p)) return p;
  for (; p < end && kind[(unsigned char)*p]; p++) marks += kind[(unsigned char)*p] == 2;
  return p < end && *p == ' ' && marks >= 2 ? p + 1 : start;
}

size_t tesela__rank_prefix(tesela__span line, uint64_t *who) {
  const char *p = line.text, *end = line.text + line.n, *behind = line.text;
  uint64_t name = 0;
  for (int i = 0; i < 3; i++) {
    const char *next = tesela__skip_blanks(p, end);
    tesela__span one;
    next = skip_time(skip_time(next, end), end);
    if (next == end) break;
    const char *close = NULL;
    if (*next == '[') /* after a prefix "[9,129]" is text */
      close = skip_brackets(next, end, &one, i == 0);
    else if (*next == '(')
      close = skip_process(next, end, &one);
    else if (i == 0) /* after a prefix "3: " is text */
      close = skip_word(next, end, &one);
    if (!close) break;
    name = (name ^ tesela__text_hash(one.text, one.n)) * UINT64_C(0x9e3779b97f4a7c15);
    p = behind = close;
  }
  if (behind > line.text) behind = skip_time(behind, end);
  *who = name;
  return (size_t)(behind - line.text);
}
