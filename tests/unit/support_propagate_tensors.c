/* SPDX-License-Identifier: Apache-2.0 */
/*
 * support_propagate_tensors.c - tensors as lists of elements, their sticks and lanes, and the pointwise rule; see
 * support_propagate_oracle.c.
 */
#include "support_propagate_parts.h"

/* ---- tensors ---- */

void prog_unravel(int64_t k, int rank, const int64_t *shape, int64_t *index) {
  for (int d = rank - 1; d >= 0; d--) {
    index[d] = k % shape[d];
    k /= shape[d];
  }
}

int64_t prog_ravel(int rank, const int64_t *shape, const int64_t *index) {
  int64_t k = 0;
  for (int d = 0; d < rank; d++) k = k * shape[d] + index[d];
  return k;
}

static void make(tensor *t, int buffer, int rank, const int64_t *shape) {
  t->buffer = buffer;
  t->rank = rank;
  t->n = 1;
  for (int d = 0; d < rank; d++) t->n *= t->shape[d] = shape[d];
  if (t->n > POINTS) fail_msg("too many elements");
  t->element = malloc((size_t)(t->n + 1) * sizeof *t->element);
}

void prog_tensor_own(tensor *t, int buffer, int rank, const int64_t *shape) {
  make(t, buffer, rank, shape);
  for (int64_t k = 0; k < t->n; k++) t->element[k] = (int)k;
}

bool prog_named(const prog_statement *s, int64_t d) {
  for (int k = 0; s->n_lists > 0 && k < s->n_list[0]; k++)
    if (s->list[0][k] == d) return true;
  return false;
}

bool prog_is(const prog_statement *s, const char *op) { return strcmp(s->op, op) == 0; }

void prog_tensor_view(const prog_statement *s, const tensor *x, tensor *t) {
  int64_t shape[PROG_RANK], at[PROG_RANK] = {0}, from[PROG_RANK] = {0};
  int rank = 0;
  if (prog_is(s, "permute"))
    for (; rank < x->rank; rank++) shape[rank] = x->shape[s->list[0][rank]];
  else if (prog_is(s, "reshape") || prog_is(s, "expand"))
    for (; rank < s->n_list[0]; rank++) shape[rank] = s->list[0][rank];
  else if (prog_is(s, "unsqueeze"))
    for (int d = 0; rank < x->rank + s->n_list[0]; rank++)
      shape[rank] = prog_named(s, rank) ? 1 : x->shape[d++];
  else
    for (int d = 0; d < x->rank; d++)
      if (!prog_is(s, "squeeze") || !prog_named(s, d))
        shape[rank++] = prog_is(s, "slice") && s->list[0][0] == d ? s->list[2][0] : x->shape[d];
  make(t, x->buffer, rank, shape);
  for (int64_t k = 0; k < t->n; k++) {
    prog_unravel(k, rank, shape, at);
    if (prog_is(s, "reshape")) {
      t->element[k] = x->element[k];
      continue;
    }
    int next = 0;
    for (int d = 0; d < rank; d++) {
      if (prog_is(s, "permute")) from[s->list[0][d]] = at[d];
      if (prog_is(s, "expand") && d >= rank - x->rank) from[next] = x->shape[next] == 1 ? 0 : at[d], next++;
      if (prog_is(s, "slice")) from[d] = s->list[0][0] == d ? s->list[1][0] + at[d] * s->list[3][0] : at[d];
      if (prog_is(s, "unsqueeze") && !prog_named(s, d)) from[next++] = at[d];
    }
    if (prog_is(s, "squeeze"))
      for (int d = 0; d < x->rank; d++) from[d] = prog_named(s, d) ? 0 : at[next++];
    t->element[k] = x->element[prog_ravel(x->rank, x->shape, from)];
  }
}

/* ---- the places of elements ---- */

typedef struct place {
  int64_t stick, lane;
} place;

/* The place of element e of a buffer: `stick` 0 is one element per stick, 1 + d is sticks along d. */
static place place_of(const search *w, int buffer, int stick, int e) {
  const tensor *b = &w->t[buffer];
  int64_t at[PROG_RANK] = {0};
  if (stick == 0) return (place){e, 0};
  prog_unravel(e, b->rank, b->shape, at);
  int64_t lane = at[stick - 1] % w->lanes[buffer];
  at[stick - 1] /= w->lanes[buffer];
  return (place){prog_ravel(b->rank, b->shape, at), lane};
}

int64_t prog_places(const search *w, int buffer, int stick) {
  const tensor *b = &w->t[buffer];
  int64_t n = 1, lanes = w->lanes[buffer];
  for (int d = 0; d < b->rank; d++)
    n *= d == stick - 1 ? (b->shape[d] + lanes - 1) / lanes * lanes : b->shape[d];
  return stick == 0 ? n * lanes : n;
}

/* ---- the pointwise rule over any set of points ---- */

/* A number for all coordinates, with that of `dim` rounded down to sticks of `lanes`. */
static int64_t group_of(const points *q, int k, int dim, int64_t lanes) {
  int64_t at[PROG_RANK];
  memcpy(at, q->at[k], sizeof at);
  if (dim >= 0) at[dim] /= lanes;
  return prog_ravel(q->rank, q->extent, at);
}

bool prog_same_in_groups(const search *w, const points *q, int dim, int64_t lanes, int stick, bool element) {
  static int64_t seen[POINTS * 8];
  int64_t most = 1;
  for (int d = 0; d < q->rank; d++) most *= q->extent[d];
  if (most > POINTS * 8) fail_msg("too many groups");
  for (int64_t g = 0; g < most; g++) seen[g] = -1;
  for (int k = 0; k < q->n; k++) {
    int64_t g = group_of(q, k, dim, lanes);
    int64_t v = element ? q->element[k] : place_of(w, q->buffer, stick, q->element[k]).stick;
    if (seen[g] >= 0 && seen[g] != v) return false;
    seen[g] = v;
  }
  return true;
}

bool prog_lane_zero(const search *w, const points *q, int stick) {
  for (int k = 0; k < q->n; k++)
    if (place_of(w, q->buffer, stick, q->element[k]).lane != 0) return false;
  return true;
}

bool prog_aligned(const search *w, const points *q, int dim, int stick) {
  int64_t lanes = w->lanes[q->buffer];
  if (dim < 0) return prog_lane_zero(w, q, stick);
  for (int k = 0; k < q->n; k++)
    if (place_of(w, q->buffer, stick, q->element[k]).lane != q->at[k][dim] % lanes) return false;
  return prog_same_in_groups(w, q, dim, lanes, stick, false);
}

bool prog_pointwise(const search *w, const points *q, int dim, int stick, int64_t result_lanes) {
  int64_t lanes = w->lanes[q->buffer] > result_lanes ? w->lanes[q->buffer] : result_lanes;
  if (prog_aligned(w, q, dim, stick)) return true;
  return prog_lane_zero(w, q, stick) && (dim < 0 || prog_same_in_groups(w, q, dim, lanes, stick, true));
}
