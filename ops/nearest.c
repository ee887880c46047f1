/* SPDX-License-Identifier: Apache-2.0 */
/*
 * nearest.c - the known word that a misspelt one is nearest to.
 */
#include "nearest.h"

#include <stdbool.h>
#include <stddef.h>
#include <string.h>

enum { WORD = 40 };

static size_t least(size_t a, size_t b, size_t c) { return a < b ? (a < c ? a : c) : (b < c ? b : c); }

/* Letters to insert, drop, change or swap with a neighbour to get from a to b; both shorter than WORD. */
static size_t distance(const char *a, size_t n, const char *b, size_t m) {
  size_t row[3][WORD + 1];
  size_t *before = row[0], *last = row[1], *now = row[2];
  for (size_t k = 0; k <= m; k++) last[k] = before[k] = k;
  for (size_t i = 1; i <= n; i++) {
    now[0] = i;
    for (size_t k = 1; k <= m; k++) {
      now[k] = least(last[k] + 1, now[k - 1] + 1, last[k - 1] + (a[i - 1] != b[k - 1]));
      if (i > 1 && k > 1 && a[i - 1] == b[k - 2] && a[i - 2] == b[k - 1] && before[k - 2] + 1 < now[k])
        now[k] = before[k - 2] + 1;
    }
    size_t *spare = before;
    before = last;
    last = now;
    now = spare;
  }
  return last[m];
}

const char *nearest(const char *word, const char *(*candidate)(const void *user, int i), const void *user) {
  const char *best = NULL, *name;
  size_t length = strlen(word), best_distance = length < 4 ? 2 : 3;
  if (length == 0 || length >= WORD) return NULL;
  for (int i = 0; (name = candidate(user, i)); i++) {
    size_t n = strlen(name);
    if (n >= WORD) continue;
    bool starts = length >= 3 && strncmp(word, name, length) == 0;
    size_t d = starts ? 1 : distance(word, length, name, n);
    if (d < best_distance && d < n) {
      best = name;
      best_distance = d;
    }
  }
  return best;
}
