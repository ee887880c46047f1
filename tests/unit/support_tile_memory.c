/* SPDX-License-Identifier: Apache-2.0 */
/*
 * support_tile_memory.c - tiles in memory by definition, and families of small ones.
 */
#include "support_tile_memory.h"

#include <string.h>

int64_t oracle_tile_swizzle(tesela_tile_swizzle swizzle, int64_t x) {
  for (int32_t b = 0; b < swizzle.bits; b++) {
    int32_t source = swizzle.shift >= 0 ? swizzle.base + swizzle.shift + b : swizzle.base + b;
    int32_t target = swizzle.shift >= 0 ? swizzle.base + b : swizzle.base - swizzle.shift + b;
    if (x / ((int64_t)1 << source) % 2 == 1) { /* sources are never targets */
      int64_t unit = (int64_t)1 << target;
      x += x / unit % 2 == 1 ? -unit : unit;
    }
  }
  return x;
}

static int64_t place_by_modes(int32_t rank, const int64_t *shape, const int64_t *modes,
                              const int64_t *strides, int64_t offset, tesela_tile_swizzle swizzle,
                              const int64_t *index) {
  int64_t place = offset;
  int32_t m = 0;
  for (int32_t d = 0; d < rank; d++) {
    int64_t inside = shape[d]; /* elements of the dim per step of the mode */
    while (inside > 1) {
      inside /= modes[m];
      place += index[d] / inside % modes[m] * strides[m];
      m++;
    }
  }
  return oracle_tile_swizzle(swizzle, place);
}

int64_t oracle_tile_place(const tesela_tile_memory *t, const int64_t *index) {
  return place_by_modes(t->rank, t->shape, t->mode_shape, t->mode_strides, t->offset, t->swizzle, index);
}

int64_t oracle_tile_place_of_words(const tile_words *w, const int64_t *index) {
  return place_by_modes(w->rank, w->shape, w->mode_shape, w->mode_strides, w->offset, w->swizzle, index);
}

bool oracle_tile_next(int32_t rank, const int64_t *shape, int64_t *index) {
  for (int32_t d = rank - 1; d >= 0; d--) {
    if (++index[d] < shape[d]) return true;
    index[d] = 0;
  }
  return false;
}

int64_t oracle_tile_elements(int32_t rank, const int64_t *shape) {
  int64_t n = 1;
  for (int32_t d = 0; d < rank; d++) n *= shape[d];
  return n;
}

int64_t oracle_tile_size(const tesela_tile_memory *tile) {
  int64_t index[TESELA_MAX_RANK] = {0}, most = 0;
  do {
    int64_t place = oracle_tile_place(tile, index);
    if (place > most) most = place;
  } while (oracle_tile_next(tile->rank, tile->shape, index));
  return most + 1;
}

bool oracle_tile_sayable(const int64_t *table, int64_t step, int64_t n) {
  if (n == 1) return true;
  if (table[step] < table[0]) return false;
  for (int64_t e = 2; e <= n; e++) {
    bool fits = n % e == 0;
    for (int64_t i = 0; i < n && fits; i++)
      fits = table[i * step] == table[i / e * e * step] + i % e * (table[step] - table[0]);
    if (fits && oracle_tile_sayable(table, step * e, n / e)) return true;
  }
  return false;
}

/* ---- families ---------------------------------------------------------------------------------------------------- */

static const tesela_tile_swizzle swizzles[] = {{0, 0, 0}, {0, 1, 1}, {0, 1, 3},  {1, 2, 2},
                                               {0, 2, 3}, {3, 1, 1}, {0, 2, -2}, {1, 1, -3}};

/* Strides of a kind: 0 first mode slowest, 1 last mode slowest, 2 odd modes slower, 3 padded by 1, 4 one stride of 0, 5
 * overlapping windows, 6 shuffled. */
static void give_strides(tile_words *w, int kind) {
  int32_t order[16], n = w->n_modes;
  int64_t stride = 1;
  for (int32_t i = 0; i < n; i++) order[i] = kind == 1 ? i : n - 1 - i;
  if (kind == 2 || kind == 6) {
    int32_t k = 0;
    for (int32_t half = 0; half < 2; half++)
      for (int32_t i = n - 1; i >= 0; i--)
        if (kind == 2 ? i % 2 == half : (i * 5 + 1) % 3 % 2 == half) order[k++] = i;
  }
  for (int32_t i = 0; i < n; i++) {
    w->mode_strides[order[i]] = stride;
    stride = stride * w->mode_shape[order[i]] + (kind == 3 ? 1 : 0);
    if (kind == 5 && i % 2 == 0) stride = w->mode_strides[order[i]] + (i == 0);
  }
  if (kind == 4 && n > 0) w->mode_strides[n / 2] = 0;
}

static void visit_swizzles(tile_words *w, oracle_tile_visit *visit, void *user) {
  for (int kind = 0; kind < 7; kind++) {
    give_strides(w, kind);
    for (size_t s = 0; s < sizeof swizzles / sizeof swizzles[0]; s++) {
      w->swizzle = swizzles[s];
      w->offset = (kind + (int)s) % 3 == 0 ? 5 : 0;
      visit(w, user);
    }
  }
}

/* Modes of dims d, d+1, ..: the rest of dim d is `left`. */
static void visit_modes(tile_words *w, int32_t d, int64_t left, oracle_tile_visit *visit, void *user) {
  if (d == w->rank) {
    visit_swizzles(w, visit, user);
    return;
  }
  if (left == 1) {
    visit_modes(w, d + 1, d + 1 < w->rank ? w->shape[d + 1] : 1, visit, user);
    return;
  }
  for (int64_t e = 2; e <= left; e++) {
    if (left % e != 0) continue;
    w->mode_shape[w->n_modes++] = e;
    visit_modes(w, d, left / e, visit, user);
    w->n_modes--;
  }
}

void oracle_tile_family(int64_t most, oracle_tile_visit *visit, void *user) {
  tile_words w;
  memset(&w, 0, sizeof w);
  for (int64_t a = 1; a <= most; a++)
    for (int64_t b = 1; a * b <= most; b++)
      for (int64_t c = 1; a * b * c <= most; c++)
        for (int32_t rank = c > 1 ? 3 : b > 1 ? 2 : a > 1 ? 1 : 0; rank <= 3; rank++) {
          w.rank = rank;
          w.shape[0] = a, w.shape[1] = b, w.shape[2] = c;
          visit_modes(&w, 0, rank > 0 ? a : 1, visit, user);
        }
}
