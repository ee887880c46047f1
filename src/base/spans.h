/* SPDX-License-Identifier: Apache-2.0 */
/*
 * spans.h - parts of a text that is not ended by NUL: a line of a log or of HLO text.
 */
#ifndef TESELA_SRC_BASE_SPANS_H
#define TESELA_SRC_BASE_SPANS_H

#include "base/base.h"

/* A part of a text, without a NUL at its end. */
typedef struct tesela__span {
  const char *text;
  size_t n;
} tesela__span;

/* Hash of a text. */
static inline uint64_t tesela__text_hash(const char *text, size_t n) {
  uint64_t hash = UINT64_C(0xcbf29ce484222325) ^ n, word;
  for (; n >= sizeof word; n -= sizeof word, text += sizeof word) {
    memcpy(&word, text, sizeof word);
    hash = (hash ^ word) * UINT64_C(0x9e3779b97f4a7c15);
    hash ^= hash >> 29;
  }
  for (word = 0; n > 0; n--) word = word << 8 | (unsigned char)*text++;
  hash = (hash ^ word) * UINT64_C(0x9e3779b97f4a7c15);
  return hash ^ hash >> 32;
}

static inline bool tesela__is_digit(char c) { return c >= '0' && c <= '9'; }
static inline bool tesela__is_blank(char c) { return c == ' ' || c == '\t' || c == '\r'; }
static inline bool tesela__is_name(char c) { /* of an HLO name */
  static const bool is_name[256] = {
      ['a'] = true, ['b'] = true, ['c'] = true, ['d'] = true, ['e'] = true, ['f'] = true, ['g'] = true,
      ['h'] = true, ['i'] = true, ['j'] = true, ['k'] = true, ['l'] = true, ['m'] = true, ['n'] = true,
      ['o'] = true, ['p'] = true, ['q'] = true, ['r'] = true, ['s'] = true, ['t'] = true, ['u'] = true,
      ['v'] = true, ['w'] = true, ['x'] = true, ['y'] = true, ['z'] = true, ['0'] = true, ['1'] = true,
      ['2'] = true, ['3'] = true, ['4'] = true, ['5'] = true, ['6'] = true, ['7'] = true, ['8'] = true,
      ['9'] = true, ['A'] = true, ['B'] = true, ['C'] = true, ['D'] = true, ['E'] = true, ['F'] = true,
      ['G'] = true, ['H'] = true, ['I'] = true, ['J'] = true, ['K'] = true, ['L'] = true, ['M'] = true,
      ['N'] = true, ['O'] = true, ['P'] = true, ['Q'] = true, ['R'] = true, ['S'] = true, ['T'] = true,
      ['U'] = true, ['V'] = true, ['W'] = true, ['X'] = true, ['Y'] = true, ['Z'] = true, ['.'] = true,
      ['_'] = true, ['-'] = true,
  };
  return is_name[(unsigned char)c];
}

static inline tesela__span tesela__between(const char *start, const char *end) {
  return (tesela__span){start, (size_t)(end - start)};
}

static inline tesela__span tesela__text(const char *text) { return (tesela__span){text, strlen(text)}; }

/* What is left of a span from `p` on. */
static inline tesela__span tesela__from(tesela__span span, const char *p) {
  return tesela__between(p, span.text + span.n);
}

static inline const char *tesela__skip_blanks(const char *p, const char *end) {
  while (p < end && tesela__is_blank(*p)) p++;
  return p;
}

static inline const char *tesela__skip_name(const char *p, const char *end) {
  while (p < end && tesela__is_name(*p)) p++;
  return p;
}

static inline bool tesela__looking_at(const char *p, const char *end, const char *word) {
  size_t n = strlen(word);
  return (size_t)(end - p) >= n && memcmp(p, word, n) == 0;
}

/* Does a word start at p, and not in the middle of another? */
static inline bool tesela__at_word(tesela__span line, const char *p) {
  return p == line.text || !tesela__is_name(p[-1]);
}

/* Without blanks at both ends. */
static inline tesela__span tesela__trim(tesela__span span) {
  while (span.n > 0 && tesela__is_blank(span.text[span.n - 1])) span.n--;
  const char *start = tesela__skip_blanks(span.text, span.text + span.n);
  return tesela__from(span, start);
}

/* The first place of a word in a text, or NULL. Looks for the word's last character, so a word
 * that ends in a rare one ("=", ":") is found fast. */
static inline const char *tesela__find(tesela__span text, const char *word) {
  size_t n = strlen(word);
  if (n == 0) return text.text;
  if (text.n < n) return NULL;
  const char *p = text.text + n - 1, *end = text.text + text.n;
  while ((p = memchr(p, word[n - 1], (size_t)(end - p))) != NULL) {
    if (memcmp(p - (n - 1), word, n) == 0) return p - (n - 1);
    p++;
  }
  return NULL;
}

/* The same, looking for the first character, so for words that start with a rare one. */
static inline const char *tesela__find_by_start(tesela__span text, const char *word) {
  const char *p = text.text, *end = text.text + text.n;
  for (; (p = memchr(p, word[0], (size_t)(end - p))) != NULL; p++)
    if (tesela__looking_at(p, end, word)) return p;
  return NULL;
}

/* After the array shape that starts here, layout included: "f32[2,3]{1,0:T(2,2)}"; NULL if none does. Not
 * checked further: the shape's own reader does. */
static inline const char *tesela__skip_array(const char *p, const char *end) {
  const char *start = p;
  while (p < end && ((*p >= 'a' && *p <= 'z') || tesela__is_digit(*p))) p++;
  if (p == start || p == end || *p != '[') return NULL;
  while (p < end && *p != ']') p++;
  if (p == end) return NULL;
  p++;
  if (end - p < 2 || *p != '{' || !(tesela__is_digit(p[1]) || p[1] == ':')) return p;
  const char *close = memchr(p, '}', (size_t)(end - p));
  return close ? close + 1 : NULL;
}

#endif
