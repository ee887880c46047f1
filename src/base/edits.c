/* SPDX-License-Identifier: Apache-2.0 */
/*
 * edits.c - how far one word is from another, for "did you mean": letters to insert, drop, change, or swap with their
 * neighbour, upper and lower case alike (Damerau's distance, optimal string alignment).
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
