/* SPDX-License-Identifier: Apache-2.0 */
/* support_vpad.c - see support_vpad.h. */
#include "support_vpad.h"

#include <string.h>

enum { SUBLANES = 8, LANES = 128, BITS = 16, PACKING = 32 / BITS };

typedef struct vpad {
  int64_t rows, tiles;      /* of a tile; in a register */
  int64_t row0, column0;    /* of element 0; row0 -1: copies in all rows */
  bool no_rows, no_columns; /* implicit dims */
} vpad;

/* In one register; -1: in another. */
static int64_t in_register(const vpad *v, int64_t row, int64_t column) {
  if (row >= v->rows || column >= v->tiles * LANES) return -1;
  return column / LANES * v->rows * LANES + row / PACKING * LANES * PACKING + column % LANES * PACKING +
         row % PACKING;
}

/* The places of an element. */
static int places_of(const vpad *v, const form_table *t, int e, int64_t *place) {
  int d = t->rank, n = 0;
  int64_t column = v->column0 + (v->no_columns ? 0 : t->index[e][--d]);
  int64_t row = v->no_rows ? 0 : t->index[e][--d];
  while (d > 0)
    if (t->index[e][--d] > 0) row = v->rows; /* registers of their own */
  if (v->row0 >= 0) place[n++] = in_register(v, row + v->row0, column);
  for (int64_t r = 0; v->row0 < 0 && r < v->rows; r++)
    place[n++] = in_register(v, row > 0 ? v->rows : r, column);
  return n;
}

static bool agrees(const vpad *v, const form_table *t, int count) {
  int64_t place[SUBLANES * PACKING];
  for (int e = 0; e < count; e++)
    if (places_of(v, t, e, place) != t->copies ||
        memcmp(place, t->copy[e], (size_t)t->copies * sizeof place[0]) != 0)
      return false;
  return true;
}

bool vpad_exists(const form_table *t, int count, form_next *next) {
  int64_t place[SUBLANES * PACKING];
  bool found = false;
  for (int k = 0; k < 16; k++) {
    vpad v = {.rows = PACKING << (k & 3), .no_rows = k >> 2 & 1, .no_columns = k >> 3 & 1};
    v.tiles = SUBLANES * PACKING / v.rows;
    int dims = 2 - v.no_rows - v.no_columns;
    if (t->rank < dims) continue;
    bool one_row = v.no_rows || t->shape[t->rank - dims] == 1;
    for (v.row0 = one_row ? -1 : 0; v.row0 < v.rows; v.row0++)
      for (v.column0 = 0; v.column0 < v.tiles * LANES; v.column0++) {
        if (!agrees(&v, t, count)) continue;
        found = true;
        if (!next) return true;
        (void)places_of(&v, t, count, place);
        next->n = place[0] < 0 || (next->n > 0 && next->place != place[0]) ? 2 : next->n > 1 ? 2 : 1;
        next->place = place[0];
        if (next->n == 2) return true;
      }
  }
  return found;
}
