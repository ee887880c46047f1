/* SPDX-License-Identifier: Apache-2.0 */
/*
 * view_test.c - questions about the places of a view that its digits alone do not answer.
 *
 * Both questions ask whether two layouts are the same: the lanes of a view and an index mod lanes, or a view and the
 * same view with an index rounded down. First some indices are tried, which finds most differences; then the layouts
 * are compared (tesela_layout_compare: exact, and always decides for small ones).
 */
#include "device/view.h"

enum { DVIEW_SAMPLES = 48 };

/* tesela__view_lane_is or tesela__view_steady. */
typedef struct dview_question {
  const tesela_layout *places;
  bool of_lane;
  int32_t dim;
  int64_t n;      /* lanes, or the multiple to which index[dim] is rounded down */
  int64_t number; /* offset, or slope */
} dview_question;

/* Is the answer for this index yes? */
static bool dview_holds(const dview_question *q, int64_t *index) {
  int64_t place, other;
  (void)tesela_layout_place_of(q->places, index, &place, NULL); /* indices are in range */
  if (q->of_lane) return place % q->n == ((q->dim < 0 ? 0 : index[q->dim] % q->n) + q->number) % q->n;
  int64_t whole = index[q->dim], rest = whole % q->n;
  index[q->dim] = whole - rest;
  (void)tesela_layout_place_of(q->places, index, &other, NULL);
  index[q->dim] = whole;
  return place == other + rest * q->number;
}

/* ---- samples ----------------------------------------------------------------------------------------------- */

static uint64_t dview_random(uint64_t *state) { /* xorshift: a fixed sequence */
  *state ^= *state << 13;
  *state ^= *state >> 7;
  *state ^= *state << 17;
  return *state;
}

/* First the last index along each dim, then random indices, often with index[dim] last before a multiple of n. */
static void dview_draw_index(const dview_question *q, int32_t sample, uint64_t *state, int64_t *index) {
  const tesela_layout *places = q->places;
  for (int32_t d = 0; d < places->rank; d++) {
    int64_t n = places->shape[d];
    uint64_t drawn = dview_random(state);
    index[d] = (int64_t)(drawn % (uint64_t)n);
    if (sample < places->rank) index[d] = sample == d ? n - 1 : 0;
    if (d == q->dim && (drawn >> 40) % 3 == 0)
      index[d] = tesela__min(n - 1, index[d] / q->n * q->n + q->n - 1);
    if (d != q->dim && (drawn >> 40) % 3 == 0) index[d] = 0;
  }
}

static bool dview_refuted(const dview_question *q) {
  uint64_t state = 0x9e3779b97f4a7c15u;
  int64_t index[TESELA_MAX_RANK];
  for (int32_t sample = 0; sample < DVIEW_SAMPLES + q->places->rank; sample++) {
    dview_draw_index(q, sample, &state, index);
    if (!dview_holds(q, index)) return true;
  }
  return false;
}

static tesela__view_answer dview_compared(tesela_layout *a, tesela_layout *b) {
  tesela_difference difference;
  a->finished = b->finished = false;
  a->axis[0].extent = b->axis[0].extent = -1;
  if (tesela_layout_finish(a, NULL) == TESELA_OK && tesela_layout_finish(b, NULL) == TESELA_OK &&
      tesela_layout_compare(a, b, &difference, NULL) == TESELA_OK)
    return difference.same ? TESELA__VIEW_YES : TESELA__VIEW_NO;
  return TESELA__VIEW_UNDECIDED;
}

/* ---- the layouts ------------------------------------------------------------------------------------------- */

/* Add digits that map coordinate `source` mod n to the axis and ignore the quotient. */
static bool dview_add_modulo(tesela_layout *layout, int32_t source, int64_t extent, int64_t n) {
  if (layout->n_digits + 2 > TESELA_MAX_DIGITS) return false;
  layout->digit[layout->n_digits++] =
      (tesela_digit){.extent = tesela__ceil_div(extent, n), .step = n, .source = (int16_t)source, .join = -1};
  layout->digit[layout->n_digits++] =
      (tesela_digit){.extent = n, .step = 1, .stride = 1, .source = (int16_t)source, .join = -1};
  return true;
}

static bool dview_add_lane_join(tesela_layout *layout, int64_t offset, int32_t *join) {
  if (layout->n_joins == TESELA_MAX_JOINS) return false;
  *join = layout->n_joins++;
  layout->join[*join] = (tesela_join){.extent = offset + 1, .offset = offset};
  return true;
}

/* The lane of a view: a join of its digits, with strides mod lanes, is reduced mod lanes. */
static bool dview_lane_layout(tesela_layout *out, const tesela_layout *places, int64_t lanes) {
  int32_t join;
  *out = *places;
  out->n_digits = out->n_mapped;
  out->axis[0].offset = 0;
  if (!dview_add_lane_join(out, places->axis[0].offset % lanes, &join)) return false;
  for (int32_t i = 0; i < out->n_mapped; i++) {
    tesela_digit *digit = &out->digit[i];
    if (digit->axis < 0) continue;
    int64_t weight = digit->stride % lanes;
    digit->stride = weight < 0 ? weight + lanes : weight;
    if (digit->stride == 0) continue;
    int64_t reach;
    digit->axis = -1;
    digit->join = (int16_t)join;
    if (!tesela__mul(digit->extent - 1, digit->stride, &reach) ||
        !tesela__add(out->join[join].extent, reach, &out->join[join].extent))
      return false;
  }
  return dview_add_modulo(out, out->rank + join, out->join[join].extent, lanes);
}

/* (index[dim] + offset) mod lanes. */
static bool dview_index_layout(tesela_layout *out, const tesela_layout *places, int64_t lanes, int32_t dim,
                               int64_t offset) {
  int32_t join;
  *out = *places;
  out->n_digits = out->n_joins = 0;
  out->axis[0].offset = dim < 0 ? offset : 0;
  if (dim < 0) return true;
  if (!dview_add_lane_join(out, offset, &join)) return false;
  out->join[join].extent += out->shape[dim] - 1;
  out->digit[out->n_digits++] = (tesela_digit){.extent = out->shape[dim],
                                               .step = 1,
                                               .stride = 1,
                                               .source = (int16_t)dim,
                                               .axis = -1,
                                               .join = (int16_t)join};
  return dview_add_modulo(out, out->rank + join, out->join[join].extent, lanes);
}

/* Places with index[dim] rounded down to a multiple of r, plus slope times the remainder. */
static bool dview_rounded_layout(tesela_layout *out, const tesela_layout *places, int32_t dim, int64_t r,
                                 int64_t slope) {
  *out = *places;
  out->n_digits = out->n_active;
  if (out->n_joins == TESELA_MAX_JOINS || out->n_digits + 2 > TESELA_MAX_DIGITS) return false;
  for (int32_t j = out->n_joins++; j > 0; j--) out->join[j] = out->join[j - 1];
  out->join[0] = (tesela_join){.extent = out->shape[dim]};
  for (int32_t i = 0; i < out->n_digits; i++) {
    tesela_digit *digit = &out->digit[i];
    if (digit->join >= 0) digit->join++;
    if (digit->source >= out->rank)
      digit->source++;
    else if (digit->source == dim)
      digit->source = (int16_t)out->rank;
  }
  out->digit[out->n_digits++] = (tesela_digit){.extent = tesela__ceil_div(out->shape[dim], r),
                                               .step = r,
                                               .stride = r,
                                               .source = (int16_t)dim,
                                               .axis = -1};
  out->digit[out->n_digits++] = (tesela_digit){.extent = tesela__min(out->shape[dim], r),
                                               .step = 1,
                                               .stride = slope,
                                               .source = (int16_t)dim,
                                               .join = -1};
  return true;
}

tesela__view_answer tesela__view_lane_is(const tesela_layout *places, int64_t lanes, int32_t dim,
                                         int64_t offset) {
  dview_question q = {places, true, dim, lanes, offset};
  tesela_layout lane, index;
  if (dview_refuted(&q)) return TESELA__VIEW_NO;
  if (!dview_lane_layout(&lane, places, lanes) || !dview_index_layout(&index, places, lanes, dim, offset))
    return TESELA__VIEW_UNDECIDED;
  return dview_compared(&lane, &index);
}

tesela__view_answer tesela__view_steady(const tesela_layout *places, int32_t dim, int64_t r, int64_t slope) {
  dview_question q = {places, false, dim, r, slope};
  tesela_layout same, rounded;
  if (dview_refuted(&q)) return TESELA__VIEW_NO;
  same = *places;
  return dview_rounded_layout(&rounded, places, dim, r, slope) ? dview_compared(&same, &rounded)
                                                               : TESELA__VIEW_UNDECIDED;
}
