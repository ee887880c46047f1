/* SPDX-License-Identifier: Apache-2.0 */
/*
 * bits_grid.c - the elements of a band on its shorter side (bits_bands.c): loops that are a grid, of which each box of the band is a rectangle.
 *
 *   s4[..,11,10]{..:T(4,4)} to {2,..,3}     11 steps of an element and 10 of a plane. The boxes have 8 x 8, 3 x 8, 8 x 2 and 3 x 2 of them
 */
#include "relayout/solve.h"

static int64_t short_step(const tesela__bits_bands *bands, const tesela__loop *l) {
  return bands->long_src ? l->ds : l->ss;
}

/* The loop of the grid that a step belongs to: that of the longest step up to it; or -1. */
static int32_t axis_of(const tesela__bits_bands *bands, int64_t step) {
  int32_t axis = bands->n_axes - 1;
  while (axis >= 0 && bands->axis[axis].step > step) axis--;
  return axis;
}

/* The loop of a box with the shortest step there not below `least`, or NULL. */
static const tesela__loop *next_loop(const tesela__bits_bands *bands, const tesela__box *box, int64_t least) {
  const tesela__loop *found = NULL;
  for (int32_t i = 0; i < box->n_loops; i++) {
    const tesela__loop *l = &box->loop[i];
    const int64_t step = short_step(bands, l);
    if (step >= least && (!found || step < short_step(bands, found))) found = l;
  }
  return found;
}

/* The loops of the box with the most elements, those that continue each other as one. */
static bool set_axes(tesela__bits_bands *bands) {
  const tesela__box *largest = &bands->box[0];
  for (int32_t k = 1; k < bands->n; k++)
    if (tesela__box_elements(&bands->box[k]) > tesela__box_elements(largest)) largest = &bands->box[k];
  bands->n_axes = 0;
  int64_t end = 0;
  for (const tesela__loop *l; (l = next_loop(bands, largest, end)) != NULL;) {
    const int64_t step = short_step(bands, l);
    if (bands->n_axes == 0 || step != end) {
      if (bands->n_axes == TESELA__BITS_AXES) return false;
      bands->axis[bands->n_axes++] = (tesela__bits_axis){1, step};
    }
    end = step * l->n;
  }
  return bands->n_axes > 0;
}

/* Where a box is in the grid, and how many steps it has along each axis. False: it is not a rectangle. */
static bool set_rectangle(const tesela__bits_bands *bands, const tesela__box *box,
                          tesela__bits_rectangle *of) {
  int64_t at = bands->long_src ? box->dst : box->src;
  for (int32_t j = bands->n_axes - 1; j >= 0; j--) {
    of->from[j] = at / bands->axis[j].step;
    of->n[j] = 1;
    at %= bands->axis[j].step;
  }
  if (at != 0) return false;
  const tesela__loop *l;
  for (int64_t least = 1; (l = next_loop(bands, box, least)) != NULL;) {
    const int64_t step = short_step(bands, l);
    const int32_t j = axis_of(bands, step);
    if (j < 0 || step != bands->axis[j].step * of->n[j]) return false;
    of->n[j] *= l->n;
    least = step + 1;
  }
  int64_t elements = 1;
  for (int32_t j = 0; j < bands->n_axes; j++) elements *= of->n[j];
  return elements == tesela__box_elements(box);
}

static bool are_disjoint(const tesela__bits_bands *bands, const tesela__bits_rectangle *a,
                         const tesela__bits_rectangle *b) {
  for (int32_t j = 0; j < bands->n_axes; j++)
    if (a->from[j] + a->n[j] <= b->from[j] || b->from[j] + b->n[j] <= a->from[j]) return true;
  return false;
}

bool tesela__bits_grid_set(tesela__bits_bands *bands) {
  if (!set_axes(bands)) return false;
  for (int32_t k = 0; k < bands->n; k++) {
    tesela__bits_rectangle *of = &bands->rectangle[k];
    if (!set_rectangle(bands, &bands->box[k], of)) return false;
    for (int32_t i = 0; i < k; i++)
      if (!are_disjoint(bands, of, &bands->rectangle[i])) return false;
    for (int32_t j = 0; j < bands->n_axes; j++)
      bands->axis[j].n = tesela__max(bands->axis[j].n, of->from[j] + of->n[j]);
  }
  for (int32_t j = 0; j + 1 < bands->n_axes; j++)
    if (bands->axis[j].step * bands->axis[j].n > bands->axis[j + 1].step) return false;
  int64_t elements = 1;
  for (int32_t j = 0; j < bands->n_axes; j++) elements *= bands->axis[j].n;
  return elements == bands->row;
}

/* Does axis j continue the one before it? */
static bool continues(const tesela__bits_bands *bands, int32_t j) {
  return j > 0 && bands->axis[j].step == bands->axis[j - 1].step * bands->axis[j - 1].n;
}

bool tesela__bits_grid_is_dense(const tesela__bits_bands *bands) {
  for (int32_t j = 1; j < bands->n_axes; j++)
    if (!continues(bands, j)) return false;
  return bands->axis[0].step == bands->bits;
}

void tesela__bits_bands_box(const tesela__bits_bands *bands, tesela__box *box) {
  int64_t dense = bands->bits;
  tesela__box_copy(box, &bands->outside);
  box->src = bands->src;
  box->dst = bands->dst;
  for (int32_t j = 0, next; j < bands->n_axes; j = next) {
    int64_t n = bands->axis[j].n;
    const int64_t step = bands->axis[j].step;
    for (next = j + 1; next < bands->n_axes && continues(bands, next); next++) n *= bands->axis[next].n;
    tesela__box_add(box, n, bands->long_src ? dense : step, bands->long_src ? step : dense);
    dense *= n;
  }
}

int32_t tesela__bits_axis_of(const tesela__bits_bands *bands, const tesela__loop *l) {
  return (bands->long_src ? l->ss : l->ds) < bands->step ? axis_of(bands, short_step(bands, l)) : -1;
}

void tesela__bits_bands_pass(const tesela__bits_bands *bands, int32_t k, const int64_t *axis_step,
                             const tesela__box *tile, tesela__box *pass) {
  const tesela__box *part = &bands->box[k];
  const int64_t times = 8 / bands->bits; /* each element is in a byte */
  int64_t step[TESELA__BITS_AXES], at = 0;
  for (int32_t j = 0; j < bands->n_axes; j++) {
    step[j] = continues(bands, j) ? step[j - 1] * bands->axis[j - 1].n : axis_step[j];
    at += 8 * bands->rectangle[k].from[j] * step[j];
  }
  tesela__box_copy(pass, tile);
  pass->src = bands->long_src ? part->src * times : at;
  pass->dst = bands->long_src ? at : part->dst * times;
  for (int32_t i = 0; i < part->n_loops; i++) {
    const tesela__loop *l = &part->loop[i];
    const int32_t j = axis_of(bands, short_step(bands, l));
    const int64_t in_grid = 8 * (short_step(bands, l) / bands->axis[j].step) * step[j];
    tesela__box_add(pass, l->n, bands->long_src ? l->ss * times : in_grid,
                    bands->long_src ? in_grid : l->ds * times);
  }
  tesela__box_simplify(pass);
}
