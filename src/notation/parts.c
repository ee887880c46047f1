/* SPDX-License-Identifier: Apache-2.0 */
/*
 * parts.c - the digits of a layout for a writer, and the smallest contradiction.
 *
 * The digits of each dim are found from its places alone (layout/factor.h) and are the only ones; whether they fit a notation is the
 * notation's answer; whether elements follow that differ in several dims is a comparison. The first element that contradicts is that of layout/refute.h.
 */
#include "notation/parts.h"

#include <stdio.h>
#include <stdlib.h>

#include "base/base.h"
#include "layout/factor.h"
#include "layout/refute.h"
#include "notation/any.h"

typedef struct parts_search {
  unsigned may;
  tesela__fit_parts fit;
  void *user;
} parts_search;

/* ---- parts of a box ------------------------------------------------------------------------------------------- */

static int dim_part_order(const void *a, const void *b) {
  const tesela__dim_part *x = a, *y = b;
  if (x->axis != y->axis) return x->axis < y->axis ? -1 : 1;
  return x->stride != y->stride ? (x->stride < y->stride ? -1 : 1) : x->dim - y->dim;
}

/* Append the copies of the layout. */
static tesela_status parts_add_copies(const tesela_layout *layout, tesela__parts *parts, bool *found,
                                      tesela_error *err) {
  tesela_layout form;
  tesela_status status = tesela_layout_canonical(layout, &form, err);
  for (int32_t i = 0; status == TESELA_OK && i < form.n_active; i++) {
    const tesela_digit *digit = &form.digit[i];
    if (digit->source != TESELA_REPLICA || digit->extent < 2) continue;
    int64_t stride = digit->stride < 0 ? -digit->stride : digit->stride;
    *found = *found && digit->axis >= 0 && stride > 0 && parts->n < TESELA__MAX_PARTS;
    if (*found)
      parts->part[parts->n++] = (tesela__dim_part){
          .dim = TESELA_REPLICA, .axis = digit->axis, .extent = digit->extent, .stride = stride};
  }
  return status;
}

/* The parts of a layout with elements; *found is false without them. */
static tesela_status parts_of(const tesela_layout *layout, unsigned may, tesela__parts *parts, bool *found,
                              tesela_error *err) {
  tesela_layout first;
  tesela__factors factors;
  tesela__no_factors why;
  int64_t at, zero[TESELA_MAX_RANK] = {0}, place[TESELA_MAX_AXES] = {0};
  bool turned;
  tesela_status status = tesela__first_copies(layout, &first, &turned, err);
  parts->n = 0;
  *found = (may & TESELA__PARTS_COPIES) || tesela_layout_copies(layout) == 1;
  if (status == TESELA_OK) status = tesela_layout_place_of(&first, zero, place, err);
  for (int32_t a = 0; a < layout->n_axes; a++) *found = *found && place[a] == 0;
  for (int32_t d = 0; d < layout->rank && *found && status == TESELA_OK; d++) {
    status = tesela__factor_dims(&first, 1, &d, &factors, &why, &at, err);
    *found = status == TESELA_OK && why == TESELA__HAS_FACTORS && parts->n + factors.n <= TESELA__MAX_PARTS;
    for (int32_t k = 0; k < factors.n && *found; k++) {
      const tesela__factor *f = &factors.factor[k];
      bool top = k + 1 == factors.n;
      *found =
          f->stride >= !(may & TESELA__PARTS_SHARED) && (top || factors.factor[k + 1].step % f->step == 0);
      parts->part[parts->n++] = (tesela__dim_part){d, f->axis, f->step, f->extent, f->stride, top};
    }
  }
  if (status == TESELA_OK && *found) status = parts_add_copies(layout, parts, found, err);
  qsort(parts->part, (size_t)parts->n, sizeof parts->part[0], dim_part_order);
  return status;
}

/* The layout that the parts say, of the same array. */
static tesela_status parts_predict(const tesela_layout *layout, const tesela__parts *parts,
                                   tesela_layout *out, tesela_error *err) {
  int32_t axis, digit;
  tesela_status status =
      tesela_layout_begin(out, layout->dtype, layout->bits, layout->rank, layout->shape, err);
  for (int32_t a = 0; a < layout->n_axes && status == TESELA_OK; a++)
    status = tesela_layout_add_axis(out, layout->axis[a].name, &axis, err);
  for (int32_t d = 0; d < layout->rank; d++) {
    bool any = false;
    for (int64_t step = 1; status == TESELA_OK && step > 0;) { /* its parts, the finest first */
      const tesela__dim_part *part = NULL;
      for (int32_t i = 0; i < parts->n && !part; i++)
        if (parts->part[i].dim == d && parts->part[i].step == step) part = &parts->part[i];
      if (!part) break;
      any = part->top;
      digit = d;
      if (!part->top) status = tesela_layout_split(out, d, part->extent, &digit, err);
      if (status == TESELA_OK) status = tesela_layout_place(out, digit, part->axis, part->stride, err);
      step = part->top ? 0 : step * part->extent; /* a step of the dim */
    }
    if (!any && status == TESELA_OK) status = tesela_layout_place(out, d, 0, 0, err);
  }
  for (int32_t i = 0; i < parts->n && status == TESELA_OK; i++) {
    if (parts->part[i].dim != TESELA_REPLICA) continue;
    status = tesela_layout_add_digit(out, TESELA_REPLICA, parts->part[i].extent, &digit, err);
    if (status == TESELA_OK)
      status = tesela_layout_place(out, digit, parts->part[i].axis, parts->part[i].stride, err);
  }
  return status == TESELA_OK ? tesela_layout_finish(out, err) : status;
}

static tesela_status parts_express(const void *search, const tesela_layout *part, bool *possible,
                                   tesela_error *err) {
  const parts_search *s = search;
  tesela__parts parts = {.n = 0};
  tesela_layout predicted;
  tesela_difference difference;
  tesela_status status = TESELA_OK;
  *possible = true;
  if (!tesela__is_empty(part)) status = parts_of(part, s->may, &parts, possible, err);
  if (status == TESELA_OK && *possible) *possible = s->fit(s->user, &parts, part->rank, part->shape);
  if (status != TESELA_OK || !*possible || tesela__is_empty(part)) return status;
  status = parts_predict(part, &parts, &predicted, err);
  if (status == TESELA_OK) status = tesela_layout_compare(part, &predicted, &difference, err);
  *possible = status == TESELA_OK && difference.same;
  return status;
}

/* ---- contradictions ------------------------------------------------------------------------------------------- */

/* "7", or "thread 4 local 1": the places on axes from `first` to `last`. */
static const char *parts_place_words(const tesela_layout *layout, int32_t first, int32_t last,
                                     const int64_t *place, char text[100]) {
  size_t n = 0;
  text[0] = '\0';
  for (int32_t a = first; a <= last && n < 90; a++)
    if (layout->n_axes == 1)
      n += (size_t)snprintf(text, 100, "%" PRId64, place[a]);
    else
      n += (size_t)snprintf(text + n, 100 - n, "%s%.20s %" PRId64, n > 0 ? " " : "", layout->axis[a].name,
                            place[a]);
  return text;
}

static tesela_status parts_refute(const tesela_layout *layout, const char *words, const parts_search *s,
                                  tesela_translation *answer, tesela_error *err) {
  int64_t place[TESELA_MAX_AXES] = {0}, expected[TESELA_MAX_AXES] = {0};
  char index[64], other[64], at[100], wanted[100];
  tesela_layout first;
  bool turned;
  if (tesela__is_empty(layout)) return tesela__impossible(answer, "no %s has these extents", words);
  tesela_status status = tesela__first_copies(layout, &first, &turned, err);
  if (status == TESELA_OK && turned && (s->may & TESELA__PARTS_COPIES))
    return tesela__fail(err, TESELA_E_UNSUPPORTED, -1,
                        "cannot decide: a swizzle turns the copies of an element");
  if (status == TESELA_OK) status = tesela__refute(layout, parts_express, s, answer, err);
  if (status != TESELA_OK) return status;
  if (answer->contradiction != TESELA_CONTRADICTION_SHARED || (s->may & TESELA__PARTS_SHARED))
    tesela__refute_steps(layout, false, answer);
  (void)tesela_layout_place_of(layout, answer->index, place, NULL);
  tesela__index_words(answer->index, layout->rank, index);
  parts_place_words(layout, 0, layout->n_axes - 1, place, at);
  switch (answer->contradiction) {
  case TESELA_CONTRADICTION_PLACE:
    expected[answer->axis] = answer->expected;
    return tesela__impossible(answer, "no %s: element %s is at %s; the elements before it give %s", words,
                              index, at,
                              parts_place_words(layout, answer->axis, answer->axis, expected, wanted));
  case TESELA_CONTRADICTION_SHARED:
    return tesela__impossible(answer, "no %s: elements %s and %s are both at %s", words, index,
                              tesela__index_words(answer->index2, layout->rank, other), at);
  default:
    break;
  }
  if (tesela_layout_copies(layout) > 1)
    return tesela__impossible(answer,
                              "no %s: element %s has such copies in no text; it has %" PRId64 " places",
                              words, index, tesela_layout_copies(layout));
  return tesela__impossible(
      answer, "no %s: element %s is at %s; after the elements before it no part of a text begins there",
      words, index, at);
}

/* ---- the whole ------------------------------------------------------------------------------------------------ */

tesela_status tesela__find_parts(const tesela_layout *layout, const char *words, unsigned may,
                                 tesela__fit_parts fit, void *user, const int64_t *shape,
                                 tesela_translation *answer, tesela_error *err) {
  const parts_search s = {.may = may, .fit = fit, .user = user};
  bool possible;
  tesela_status status = parts_express(&s, layout, &possible, err);
  if (status == TESELA_OK && !possible) return parts_refute(layout, words, &s, answer, err);
  for (int32_t d = 0; d < layout->rank && status == TESELA_OK; d++) {
    if (shape[d] != layout->shape[d]) answer->verdict = TESELA_VALID_PART;
    answer->shape[d] = shape[d];
  }
  return status;
}

bool tesela__close_gap(tesela__dim_part *below, int64_t size, int64_t stride, int64_t *gap) {
  *gap = 1;
  if (below && below->top) {
    if (stride % below->stride != 0 || stride / below->stride < below->extent) return false;
    below->extent = stride / below->stride;
    return true;
  }
  *gap = stride / size;
  return *gap > 0 && stride % size == 0;
}

const char *tesela__index_words(const int64_t *index, int32_t rank, char text[64]) {
  size_t used = 0;
  text[used++] = '(';
  for (int32_t d = 0; d < rank && used < 60; d++)
    used += (size_t)snprintf(text + used, 64 - used, "%s%" PRId64, d ? "," : "", index[d]);
  (void)snprintf(used < 62 ? text + used : text + 59, 5, used < 62 ? ")" : "..)");
  return text;
}
