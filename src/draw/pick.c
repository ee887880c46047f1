/* SPDX-License-Identifier: Apache-2.0 */
/*
 * pick.c - choose the cells of a side to draw if not all of them fit.
 *
 * The most informative ones come first: both ends, the end of the elements, the first tile border, then cells from the
 * start on. Of 256 positions in tiles of 128 with 200 elements, 60 columns of text show
 *
 *   0 1 2 ... 127 | 128 ... 199 200 ... 254 255
 *
 * A pick is short (TESELA_DRAW_MAX_CELLS), so inserting and measuring are linear passes.
 */
#include "draw/scene.h"

/* The cost of the picked positions, including the lines and gaps between them. */
static int64_t pick_cost(const tesela__pick *pick, const tesela__side *side, tesela__budget budget) {
  int64_t cost = 0;
  for (int32_t i = 0; i < pick->n; i++) {
    int64_t at = pick->at[i];
    bool gap = i > 0 && pick->at[i - 1] + 1 < at;
    cost += budget.cell;
    if (gap) cost += budget.gap;
    if (i > 0 && tesela__side_line(side, at)) cost += budget.line;
    if (gap && tesela__side_line(side, pick->at[i - 1] + 1)) cost += budget.line;
  }
  return cost;
}

static void pick_remove(tesela__pick *pick, int32_t i) {
  pick->n--;
  memmove(&pick->at[i], &pick->at[i + 1], (size_t)(pick->n - i) * sizeof pick->at[0]);
}

/* Add a position if the budget allows it. True if it is in the pick afterwards. */
static bool pick_add(tesela__pick *pick, const tesela__side *side, int64_t position, tesela__budget budget) {
  int32_t i = pick->n;
  while (i > 0 && pick->at[i - 1] >= position) i--;
  if (i < pick->n && pick->at[i] == position) return true;
  if (pick->n == TESELA_DRAW_MAX_CELLS) return false;
  memmove(&pick->at[i + 1], &pick->at[i], (size_t)(pick->n - i) * sizeof pick->at[0]);
  pick->at[i] = position;
  pick->n++;
  if (pick->n == 1 || pick_cost(pick, side, budget) <= budget.all) return true;
  pick_remove(pick, i);
  return false;
}

/* The most informative positions, best first; some may be outside the window. */
static int32_t telling_positions(const tesela__side *side, int64_t first, int64_t end, int64_t elements,
                                 int64_t *at) {
  int32_t n = 0;
  at[n++] = first;
  at[n++] = end - 1;
  at[n++] = first + 1;
  at[n++] = elements - 1;
  at[n++] = elements;
  if (side->n_blocks > 0) {
    int64_t to_border = side->block[0] - first % side->block[0];
    if (to_border < end - first) {
      at[n++] = first + to_border - 1;
      at[n++] = first + to_border;
    }
  }
  at[n++] = end - 2;
  return n;
}

void tesela__pick_make(tesela__pick *pick, const tesela__side *side, int64_t first, int64_t end,
                       int64_t elements, tesela__budget budget) {
  int64_t telling[8];
  pick->n = 0;
  if (end - first <= TESELA_DRAW_MAX_CELLS) {
    for (int64_t at = first; at < end; at++) pick->at[pick->n++] = at;
    if (pick_cost(pick, side, budget) <= budget.all) return;
    pick->n = 0;
  }
  int32_t n = telling_positions(side, first, end, elements, telling);
  for (int32_t i = 0; i < n; i++)
    if (telling[i] >= first && telling[i] < end) pick_add(pick, side, telling[i], budget);
  int64_t at = first;
  int64_t stop = elements > first && elements < end ? elements : end; /* of padding, only those above */
  while (at < stop && pick_add(pick, side, at, budget)) at++;
  for (int32_t i = 1; i < pick->n; i++) /* a gap of one cell saves nothing */
    if (pick->at[i - 1] + 2 == pick->at[i]) pick_add(pick, side, pick->at[i] - 1, budget);
}
