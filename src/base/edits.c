/* SPDX-License-Identifier: Apache-2.0 */
/*
 * edits.c - the distance of two words, and the nearest of many, for "did you mean": letters to insert, delete,
 * change, or swap with a neighbour, ignoring case (Damerau's distance, optimal string alignment).
 */
#include "base/base.h"

static char edits_lower(char c) { return c >= 'A' && c <= 'Z' ? (char)(c - 'A' + 'a') : c; }

size_t tesela__edits(const char *a, size_t n, const char *b, size_t m) {
  size_t row[3][TESELA__EDITS_WORD + 1], *before = row[0], *last = row[1], *now = row[2];
  if (n > TESELA__EDITS_WORD || m > TESELA__EDITS_WORD) return n > m ? n : m;
  for (size_t k = 0; k <= m; k++) last[k] = before[k] = k;
  for (size_t i = 1; i <= n; i++) {
    char here = edits_lower(a[i - 1]);
    now[0] = i;
    for (size_t k = 1; k <= m; k++) {
      char there = edits_lower(b[k - 1]);
      size_t change = last[k - 1] + (here != there);
      now[k] = (last[k] < now[k - 1] ? last[k] : now[k - 1]) + 1;
      if (change < now[k]) now[k] = change;
      bool swapped = i > 1 && k > 1 && here == edits_lower(b[k - 2]) && edits_lower(a[i - 2]) == there;
      if (swapped && before[k - 2] + 1 < now[k]) now[k] = before[k - 2] + 1;
    }
    size_t *spare = before;
    before = last;
    last = now;
    now = spare;
  }
  return last[m];
}

/* The nearest of names that end at the first of `ends`. */
static const char *edits_nearest(const char *word, size_t length,
                                 const char *(*candidate)(const void *user, int32_t i), const void *user,
                                 const char *ends) {
  const char *best = NULL, *name;
  size_t best_distance = length < 4 ? 2 : 3; /* at most 2 edits, 1 for short words */
  if (length == 0 || length > TESELA__EDITS_WORD) return NULL;
  for (int32_t i = 0; (name = candidate(user, i)) != NULL; i++) {
    size_t n = strcspn(name, ends);
    if (n > TESELA__EDITS_WORD) continue;
    bool starts = length >= 3 && n >= length && memcmp(word, name, length) == 0;
    size_t d = starts ? 1 : tesela__edits(word, length, name, n);
    if (d >= best_distance || d >= n) continue;
    best = name;
    best_distance = d;
  }
  return best;
}

const char *tesela_nearest(const char *word, size_t length,
                           const char *(*candidate)(const void *user, int32_t i), const void *user) {
  return edits_nearest(word, length, candidate, user, "");
}

const char *tesela__nearest(const char *word, size_t length,
                            const char *(*candidate)(const void *user, int32_t i), const void *user) {
  return edits_nearest(word, length, candidate, user, TESELA__NAME_ENDS);
}
