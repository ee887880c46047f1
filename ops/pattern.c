/* SPDX-License-Identifier: Apache-2.0 */
/* pattern.c - see pattern.h. */
#include "pattern.h"

#include <stddef.h>
#include <stdint.h>
#include <string.h>

/* The character at *p as a number that grows with its code point: its bytes, the first one highest. */
static uint32_t character(const char **p) {
  uint32_t c = (unsigned char)*(*p)++;
  if (c < 0xc0) return c;
  while (c < 1u << 24 && ((unsigned char)**p & 0xc0) == 0x80) c = c << 8 | (unsigned char)*(*p)++;
  return c;
}

static uint32_t unescaped(const char **p) {
  if (**p == '\\' && (*p)[1]) ++*p;
  return character(p);
}

/* Is c in the set whose text begins after its [? NULL: the set has no ], else what comes after it. */
static const char *set_holds(const char *p, uint32_t c, bool *holds) {
  const bool inverted = *p == '!' || *p == '^';
  const char *first = p += inverted;
  for (*holds = inverted; *p && (*p != ']' || p == first);) {
    const uint32_t low = unescaped(&p);
    uint32_t high = low;
    if (p[0] == '-' && p[1] && p[1] != ']') {
      p++;
      high = unescaped(&p);
    }
    if (low <= c && c <= high) *holds = !inverted;
  }
  return *p ? p + 1 : NULL;
}

/* What comes after the first element of a pattern, which is not *; *match: c is one of its characters. */
static const char *element_matches(const char *p, uint32_t c, bool *match) {
  const char *after = *p == '[' ? set_holds(p + 1, c, match) : NULL;
  if (after) return after;
  *match = *p == '?';
  if (*match) return p + 1;
  const bool unfinished = p[0] == '\\' && !p[1];
  *match = unescaped(&p) == c && !unfinished;
  return p;
}

bool pattern_matches(const char *pattern, const char *name) {
  const char *star = NULL, *from = NULL; /* after the last *; where the text after it is tried in the name */
  while (*name || *pattern) {
    bool match = false;
    if (*pattern == '*') {
      star = ++pattern;
      from = name;
      continue;
    }
    const char *next = name;
    if (*name && *pattern) {
      const uint32_t c = character(&next);
      pattern = element_matches(pattern, c, &match);
    }
    if (match) {
      name = next;
    } else if (star && *from) {
      character(&from);
      pattern = star;
      name = from;
    } else {
      return false;
    }
  }
  return true;
}

bool pattern_has_class(const char *pattern) {
  const char *from = strstr(pattern, "[:");
  return from && strstr(from + 2, ":]");
}
