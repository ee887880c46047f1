/* SPDX-License-Identifier: Apache-2.0 */
/*
 * register_view.c - a register layout as tables of rows of columns, visited by counting.
 *
 * Each number in a cell - a thread, a local id, an index - is a sum over the digits of table, row and column, so a step
 * updates a few sums without a division.
 */
#include "draw/register_table.h"

static void view_add_digit(tesela__digits *digits, int64_t extent, int32_t sum, int64_t weight) {
  if (extent == 1) return;
  digits->digit[digits->n].extent = extent;
  digits->digit[digits->n].weight = weight;
  digits->digit[digits->n].sum = sum;
  digits->n++;
  digits->count *= extent;
}

void tesela__digits_step(tesela__digits *digits) {
  for (int32_t k = digits->n - 1; k >= 0; k--) {
    int64_t weight = digits->digit[k].weight, *sum = &digits->sum[digits->digit[k].sum];
    if (++digits->digit[k].at < digits->digit[k].extent) {
      *sum += weight;
      return;
    }
    *sum -= weight * (digits->digit[k].extent - 1);
    digits->digit[k].at = 0;
  }
}

/* For each mode: the sum that its digit adds to, and its weight. */
typedef struct view_weights {
  int32_t sum[TESELA_REGISTER_MODES];
  int64_t weight[TESELA_REGISTER_MODES];
} view_weights;

/* Modes add to the thread (sum 0) or the local id (sum 1); replicas become digits of `copies`. */
static void view_weigh_places(const tesela_register *layout, view_weights *mode, tesela__digits *copies) {
  int64_t thread = layout->spatial_size, local = 1;
  for (int32_t k = 0; k < layout->n_spatial; k++) {
    int64_t m = layout->spatial_modes[k];
    thread /= m < 0 ? -m : layout->mode_shape[m];
    if (m < 0) {
      view_add_digit(copies, -m, 0, thread);
    } else {
      mode->sum[m] = 0;
      mode->weight[m] = thread;
    }
  }
  for (int32_t k = layout->n_local - 1; k >= 0; k--) {
    int32_t m = layout->local_modes[k];
    mode->sum[m] = 1;
    mode->weight[m] = local;
    local *= layout->mode_shape[m];
  }
}

/* The dims down and across: the last two; with rank above 3, the last two whose extent is not 1. */
static void view_pick_dims(const tesela_register *layout, int32_t *down, int32_t *across) {
  *down = *across = -1;
  for (int32_t d = layout->rank - 1; d >= 0 && *down < 0; d--) {
    if (layout->rank > 3 && layout->shape[d] == 1) continue;
    if (*across < 0)
      *across = d;
    else
      *down = d;
  }
}

static void view_elements(tesela__register_view *view, const tesela_register *layout) {
  view_weights mode = {{0}, {0}};
  int32_t down, across, m = 0;
  view->n_sums = 2;
  view_weigh_places(layout, &mode, &view->copies);
  view_pick_dims(layout, &down, &across);
  for (int32_t d = 0; d < layout->rank; d++) {
    tesela__digits *digits = d == across ? &view->columns : d == down ? &view->rows : &view->tables;
    for (int64_t rest = layout->shape[d]; rest > 1; m++) {
      view_add_digit(digits, layout->mode_shape[m], mode.sum[m], mode.weight[m]);
      rest /= layout->mode_shape[m];
    }
  }
}

/* Modes add to the dims they are part of. */
static void view_weigh_dims(const tesela_register *layout, view_weights *mode) {
  int32_t m = 0;
  for (int32_t d = 0; d < layout->rank; d++)
    for (int64_t rest = layout->shape[d]; rest > 1; m++) {
      rest /= layout->mode_shape[m];
      mode->sum[m] = d;
      mode->weight[m] = rest;
    }
  for (; m < layout->n_modes; m++) { /* modes of extent 1 after the last dim */
    mode->sum[m] = 0;
    mode->weight[m] = 0;
  }
}

static void view_threads(tesela__register_view *view, const tesela_register *layout) {
  view_weights mode = {{0}, {0}};
  view->n_sums = layout->rank;
  view_weigh_dims(layout, &mode);
  for (int32_t k = 0; k < layout->n_spatial; k++) {
    int64_t m = layout->spatial_modes[k];
    if (m < 0)
      view_add_digit(&view->rows, -m, 0, 0);
    else
      view_add_digit(&view->rows, layout->mode_shape[m], mode.sum[m], mode.weight[m]);
  }
  for (int32_t k = 0; k < layout->n_local; k++) {
    int32_t m = layout->local_modes[k];
    view_add_digit(&view->columns, layout->mode_shape[m], mode.sum[m], mode.weight[m]);
  }
}

void tesela__register_view_make(tesela__register_view *view, const tesela_register *layout, bool by_thread) {
  *view = (tesela__register_view){.tables.count = 1, .rows.count = 1, .columns.count = 1, .copies.count = 1};
  if (by_thread)
    view_threads(view, layout);
  else
    view_elements(view, layout);
  for (int32_t k = 0; k < view->rows.n; k++)
    view->last_row[view->rows.digit[k].sum] += view->rows.digit[k].weight * (view->rows.digit[k].extent - 1);
}
