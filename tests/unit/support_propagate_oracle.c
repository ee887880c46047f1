/* SPDX-License-Identifier: Apache-2.0 */
/*
 * support_propagate_oracle.c - propagation by definition, for small programs.
 *
 * Every tensor is a list: the buffer's element that each of its elements is. A layout says for each element of a buffer its
 * stick and lane. The rules (`graph_rules` of tests/vectors/spyre_seed_examples.json) are judged at every point of the
 * iteration space; then all layouts of all buffers are tried, with every move in front of every operand. No code is shared
 * with the library; nothing here is quick.
 *
 *   pointwise  at every point each operand's lane equals the result's lane and its stick depends on the result's stick only; or
 *              the operand sits in lane 0 and does not change inside a result stick
 *   others     each says at its function
 *
 * With types of several widths an operand has its own lanes; "inside a stick" is one of the wider sticks.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "support_propagate.h"

enum { STICKS = PROG_RANK + 1, POINTS = 1024 };

typedef struct tensor {
  int buffer, rank;
  int64_t shape[PROG_RANK], n;
  int *element; /* [n], row-major: the buffer's element */
} tensor;

/* An operand that needs something: may its buffer lie in `stick` if the result's is at `label`? Label and stick: 0 is one
 * element per stick, 1 + d is dim d. */
typedef struct need {
  int buffer, value;
  bool movable;
  bool legal[STICKS][STICKS];
} need;

typedef struct operation {
  bool used;                  /* an operator with a result */
  bool under[STICKS][STICKS]; /* the result's label when its buffer lies in a stick */
  int n_needs;
  need need[PROG_OPERANDS];
} operation;

typedef struct search {
  const prog *p;
  const prog_options *options;
  tensor t[PROG_STATEMENTS];
  operation op[PROG_STATEMENTS];
  int value[PROG_STATEMENTS]; /* statement that made the value each sees */
  int64_t lanes[PROG_STATEMENTS];
  bool allowed[PROG_STATEMENTS][STICKS];
  int64_t prefer[PROG_STATEMENTS][STICKS];
  int stick[PROG_STATEMENTS];           /* of each buffer, while it is tried */
  bool copied[PROG_STATEMENTS][STICKS]; /* value, stick: there is a copy */
  int deepest;
  bool found, any_moves; /* any_moves: the number of moves does not matter */
  int64_t best, best_moves;
} search;

/* ---- tensors ---- */

static void unravel(int64_t k, int rank, const int64_t *shape, int64_t *index) {
  for (int d = rank - 1; d >= 0; d--) {
    index[d] = k % shape[d];
    k /= shape[d];
  }
}

static int64_t ravel(int rank, const int64_t *shape, const int64_t *index) {
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

static void own(tensor *t, int buffer, int rank, const int64_t *shape) {
  make(t, buffer, rank, shape);
  for (int64_t k = 0; k < t->n; k++) t->element[k] = (int)k;
}

static bool named(const prog_statement *s, int64_t d) {
  for (int k = 0; s->n_lists > 0 && k < s->n_list[0]; k++)
    if (s->list[0][k] == d) return true;
  return false;
}

static bool is(const prog_statement *s, const char *op) { return strcmp(s->op, op) == 0; }

/* A view: the shape, and which element of x each of its elements is. */
static void view(const prog_statement *s, const tensor *x, tensor *t) {
  int64_t shape[PROG_RANK], at[PROG_RANK] = {0}, from[PROG_RANK] = {0};
  int rank = 0;
  if (is(s, "permute"))
    for (; rank < x->rank; rank++) shape[rank] = x->shape[s->list[0][rank]];
  else if (is(s, "reshape") || is(s, "expand"))
    for (; rank < s->n_list[0]; rank++) shape[rank] = s->list[0][rank];
  else if (is(s, "unsqueeze"))
    for (int d = 0; rank < x->rank + s->n_list[0]; rank++) shape[rank] = named(s, rank) ? 1 : x->shape[d++];
  else
    for (int d = 0; d < x->rank; d++)
      if (!is(s, "squeeze") || !named(s, d))
        shape[rank++] = is(s, "slice") && s->list[0][0] == d ? s->list[2][0] : x->shape[d];
  make(t, x->buffer, rank, shape);
  for (int64_t k = 0; k < t->n; k++) {
    unravel(k, rank, shape, at);
    if (is(s, "reshape")) {
      t->element[k] = x->element[k];
      continue;
    }
    int next = 0;
    for (int d = 0; d < rank; d++) {
      if (is(s, "permute")) from[s->list[0][d]] = at[d];
      if (is(s, "expand") && d >= rank - x->rank) from[next] = x->shape[next] == 1 ? 0 : at[d], next++;
      if (is(s, "slice")) from[d] = s->list[0][0] == d ? s->list[1][0] + at[d] * s->list[3][0] : at[d];
      if (is(s, "unsqueeze") && !named(s, d)) from[next++] = at[d];
    }
    if (is(s, "squeeze"))
      for (int d = 0; d < x->rank; d++) from[d] = named(s, d) ? 0 : at[next++];
    t->element[k] = x->element[ravel(x->rank, x->shape, from)];
  }
}

/* ---- where elements lie ---- */

typedef struct place {
  int64_t stick, lane;
} place;

/* Of element e of a buffer: `stick` 0 is one element per stick, 1 + d sticks along d. */
static place place_of(const search *w, int buffer, int stick, int e) {
  const tensor *b = &w->t[buffer];
  int64_t at[PROG_RANK] = {0};
  if (stick == 0) return (place){e, 0};
  unravel(e, b->rank, b->shape, at);
  int64_t lane = at[stick - 1] % w->lanes[buffer];
  at[stick - 1] /= w->lanes[buffer];
  return (place){ravel(b->rank, b->shape, at), lane};
}

static int64_t places(const search *w, int buffer, int stick) {
  const tensor *b = &w->t[buffer];
  int64_t n = 1, lanes = w->lanes[buffer];
  for (int d = 0; d < b->rank; d++)
    n *= d == stick - 1 ? (b->shape[d] + lanes - 1) / lanes * lanes : b->shape[d];
  return stick == 0 ? n * lanes : n;
}

/* ---- the pointwise rule over any set of points ---- */

/* Points with coordinates, and the element of the buffer that is read there. */
typedef struct points {
  int buffer, rank;
  int n;
  int64_t extent[PROG_RANK];
  int64_t at[POINTS][PROG_RANK];
  int element[POINTS];
} points;

/* A number for all coordinates but that of `dim`, which is rounded down to sticks of `lanes`. */
static int64_t group_of(const points *q, int k, int dim, int64_t lanes) {
  int64_t at[PROG_RANK];
  memcpy(at, q->at[k], sizeof at);
  if (dim >= 0) at[dim] /= lanes;
  return ravel(q->rank, q->extent, at);
}

/* Is a value (stick, or element) the same for all points of a group? */
static bool same_in_groups(const search *w, const points *q, int dim, int64_t lanes, int stick,
                           bool element) {
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

static bool lane_zero(const search *w, const points *q, int stick) {
  for (int k = 0; k < q->n; k++)
    if (place_of(w, q->buffer, stick, q->element[k]).lane != 0) return false;
  return true;
}

/* The lane is the coordinate of dim (-1: 0), and the stick depends on the result's stick only. */
static bool aligned(const search *w, const points *q, int dim, int stick) {
  int64_t lanes = w->lanes[q->buffer];
  if (dim < 0) return lane_zero(w, q, stick);
  for (int k = 0; k < q->n; k++)
    if (place_of(w, q->buffer, stick, q->element[k]).lane != q->at[k][dim] % lanes) return false;
  return same_in_groups(w, q, dim, lanes, stick, false);
}

static bool pointwise(const search *w, const points *q, int dim, int stick, int64_t result_lanes) {
  int64_t lanes = w->lanes[q->buffer] > result_lanes ? w->lanes[q->buffer] : result_lanes;
  if (aligned(w, q, dim, stick)) return true;
  return lane_zero(w, q, stick) && (dim < 0 || same_in_groups(w, q, dim, lanes, stick, true));
}

/* ---- operators ---- */

/* A tensor's own elements as points. */
static void own_points(const tensor *t, points *q) {
  q->buffer = t->buffer;
  q->rank = t->rank;
  memcpy(q->extent, t->shape, sizeof q->extent);
  q->n = (int)t->n;
  for (int k = 0; k < q->n; k++) {
    unravel(k, t->rank, t->shape, q->at[k]);
    q->element[k] = t->element[k];
  }
}

/* An operand broadcast to the result. */
static void broadcast_points(const tensor *x, const tensor *result, points *q) {
  own_points(result, q);
  q->buffer = x->buffer;
  for (int k = 0; k < q->n; k++) {
    int64_t at[PROG_RANK];
    for (int d = 0; d < x->rank; d++) {
      int64_t i = q->at[k][d + result->rank - x->rank];
      at[d] = x->shape[d] == 1 ? 0 : i;
    }
    q->element[k] = x->element[ravel(x->rank, x->shape, at)];
  }
}

/* A piece that is put into the result: element j at start + j * step, where that is inside. `first`: the least coordinates. */
static void piece_points(const tensor *x, const tensor *result, const int64_t *start, const int64_t *step,
                         points *q, int64_t *first) {
  q->buffer = x->buffer;
  q->rank = x->rank;
  memcpy(q->extent, result->shape, sizeof q->extent);
  q->n = 0;
  for (int d = 0; d < x->rank; d++) first[d] = INT64_MAX;
  for (int64_t k = 0; k < x->n; k++) {
    int64_t at[PROG_RANK];
    bool inside = true;
    unravel(k, x->rank, x->shape, at);
    for (int d = 0; d < x->rank; d++) {
      at[d] = start[d] + at[d] * (step ? step[d] : 1);
      inside = inside && at[d] >= 0 && at[d] < result->shape[d];
    }
    if (!inside) continue;
    for (int d = 0; d < x->rank; d++)
      if (at[d] < first[d]) first[d] = at[d];
    memcpy(q->at[q->n], at, sizeof at);
    q->element[q->n++] = x->element[k];
  }
}

/* As the result; along the result's stick dim it begins on a stick. With a step several elements cannot have the result's lanes: they
 * can only sit in lane 0, one for each result stick. */
static void seam(const search *w, const tensor *x, const tensor *result, const int64_t *start,
                 const int64_t *step, int64_t result_lanes, need *n) {
  static points q;
  int64_t first[PROG_RANK], lanes = w->lanes[x->buffer] > result_lanes ? w->lanes[x->buffer] : result_lanes;
  piece_points(x, result, start, step, &q, first);
  for (int label = 0; label <= result->rank; label++) {
    bool spaced = false;
    for (int k = 0; label > 0 && step && step[label - 1] > 1 && k < q.n; k++)
      spaced = spaced || q.at[k][label - 1] != first[label - 1];
    for (int stick = 0; stick <= w->t[x->buffer].rank; stick++)
      n->legal[label][stick] =
          q.n == 0 ||
          ((spaced ? lane_zero(w, &q, stick) && same_in_groups(w, &q, label - 1, lanes, stick, true)
                   : pointwise(w, &q, label - 1, stick, result_lanes)) &&
           (label == 0 || first[label - 1] % lanes == 0));
  }
}

static void as_result(const search *w, const points *q, int rank, int64_t result_lanes, need *n) {
  for (int label = 0; label <= rank; label++)
    for (int stick = 0; stick <= w->t[q->buffer].rank; stick++)
      n->legal[label][stick] = pointwise(w, q, label - 1, stick, result_lanes);
}

/* A lane survives when its dim survives; when the stick dim is folded away the result has one element per stick. */
static void reduce(const search *w, const prog_statement *s, const tensor *x, need *n) {
  static points q;
  own_points(x, &q);
  for (int stick = 0; stick <= w->t[x->buffer].rank; stick++) {
    int next = 1;
    if (lane_zero(w, &q, stick)) n->legal[0][stick] = true;
    for (int d = 0; d < x->rank; d++) {
      bool folded = named(s, d);
      if (aligned(w, &q, d, stick)) n->legal[folded ? 0 : next][stick] = true;
      if (!folded || is(s, "keep")) next++;
    }
  }
}

/* Lane of x = index of k, lane of y = index of n, stick of the result = n. Without n, y and the result have a column of 1. */
static void matmul(const search *w, const tensor *x, const tensor *y, const tensor *result, operation *op) {
  static points q;
  bool column[STICKS] = {0}, any = false;
  int of_y[STICKS]; /* result dim + 1 -> dim of y */
  for (int r = 0; r < result->rank; r++) {
    int from_end = result->rank - r, batch = (x->rank > 1) + (y->rank > 1);
    int in_x = -1, in_y = -1;
    if (from_end <= batch) { /* m or n */
      bool is_n = y->rank > 1 && from_end == 1;
      if (is_n)
        in_y = y->rank - 1;
      else
        in_x = x->rank - 2;
    } else {
      int b = from_end - batch; /* from the end of the batch dims */
      in_x = x->rank - 2 - b >= 0 && x->rank > 1 ? x->rank - 2 - b : -1;
      in_y = y->rank - 2 - b >= 0 && y->rank > 1 ? y->rank - 2 - b : -1;
      if (in_x >= 0 && x->shape[in_x] != result->shape[r]) in_x = -1;
      if (in_y >= 0 && y->shape[in_y] != result->shape[r]) in_y = -1;
    }
    column[r + 1] = in_x < 0 && in_y >= 0;
    of_y[r + 1] = in_y;
    any = any || column[r + 1];
  }
  need *nx = &op->need[0], *ny = &op->need[1];
  op->n_needs = 2;
  own_points(x, &q);
  for (int stick = 0; stick <= w->t[x->buffer].rank; stick++)
    for (int label = 0; label <= result->rank; label++)
      nx->legal[label][stick] = aligned(w, &q, x->rank - 1, stick);
  own_points(y, &q);
  for (int stick = 0; stick <= w->t[y->buffer].rank; stick++) {
    if (!any) ny->legal[0][stick] = lane_zero(w, &q, stick);
    for (int label = 1; label <= result->rank; label++)
      ny->legal[label][stick] = column[label] && aligned(w, &q, of_y[label], stick);
  }
}

/* The looked-up dim is not the stick. Within a stick along a dim of the indices any element may be looked up. */
static void gather(const search *w, const prog_statement *s, const tensor *x, const tensor *at,
                   const tensor *result, need *n) {
  static points q;
  int looked = (int)s->list[0][0];
  own_points(x, &q);
  for (int stick = 0; stick <= w->t[x->buffer].rank; stick++)
    for (int label = 0; label <= result->rank; label++) {
      int r = label - 1;
      bool of_indices = label > 0 && r >= looked && r < looked + at->rank;
      if (label > 0 &&
          !of_indices) { /* the looked-up index is one of the coordinates: fixed inside the stick */
        n->legal[label][stick] =
            pointwise(w, &q, r < looked ? r : r - at->rank + 1, stick, w->lanes[result->buffer]);
        continue;
      }
      n->legal[label][stick] = lane_zero(w, &q, stick);
      if (of_indices && result->shape[r] > 1) { /* the element may not depend on the looked-up index */
        points all = q;
        for (int k = 0; k < all.n; k++) all.at[k][looked] = 0;
        n->legal[label][stick] = n->legal[label][stick] && same_in_groups(w, &all, -1, 1, stick, true);
      }
    }
}

/* The destination as the result, whose stick is not the looked-up dim; values as the result. */
static void scatter(const search *w, const prog_statement *s, const tensor *x, const tensor *at,
                    const tensor *values, const tensor *result, operation *op) {
  static points q;
  int looked = (int)s->list[0][0];
  op->n_needs = 2;
  own_points(x, &q);
  as_result(w, &q, result->rank, w->lanes[result->buffer], &op->need[0]);
  if (x->shape[looked] > 1)
    for (int stick = 0; stick < STICKS; stick++) op->need[0].legal[looked + 1][stick] = false;
  own_points(values, &q);
  for (int label = 0; label <= result->rank; label++)
    for (int stick = 0; stick <= w->t[values->buffer].rank; stick++) {
      int r = label - 1, dim = r == looked ? -1 : r < looked ? r : r - 1 + at->rank;
      op->need[1].legal[label][stick] = pointwise(w, &q, dim, stick, w->lanes[result->buffer]);
    }
}

/* Result and needs of a statement. */
static void operate(search *w, int k) {
  const prog_statement *s = &w->p->s[k];
  operation *op = &w->op[k];
  tensor *t = &w->t[k];
  const tensor *x = s->n_in > 0 ? &w->t[s->in[0]] : NULL, *y = s->n_in > 1 ? &w->t[s->in[1]] : NULL;
  static points q;
  int64_t shape[PROG_RANK] = {0};
  int rank = 0, from[PROG_OPERANDS] = {0, 1, 2, 3, 4, 5, 6, 7};
  if (is(s, "input") || is(s, "constant") || is(s, "fallback")) {
    own(t, k, s->rank, s->shape);
  } else if (is(s, "clone") || is(s, "scatter") || is(s, "write")) {
    own(t, k, x->rank, x->shape);
    if (s->in_place) {
      t->buffer = x->buffer;
      memcpy(t->element, x->element, (size_t)t->n * sizeof *t->element);
    }
  } else if (is(s, "pw") || is(s, "cast")) {
    for (int i = 0; i < s->n_in; i++) rank = w->t[s->in[i]].rank > rank ? w->t[s->in[i]].rank : rank;
    for (int d = 0; d < rank; d++) shape[d] = 1;
    for (int i = 0; i < s->n_in; i++)
      for (int d = 0; d < w->t[s->in[i]].rank; d++)
        if (w->t[s->in[i]].shape[d] != 1) shape[d + rank - w->t[s->in[i]].rank] = w->t[s->in[i]].shape[d];
    own(t, k, rank, shape);
  } else if (is(s, "sum") || is(s, "keep")) {
    for (int d = 0; d < x->rank; d++)
      if (!named(s, d) || is(s, "keep")) shape[rank++] = named(s, d) ? 1 : x->shape[d];
    own(t, k, rank, shape);
  } else if (is(s, "matmul")) {
    int bx = x->rank > 2 ? x->rank - 2 : 0, by = y->rank > 2 ? y->rank - 2 : 0, batch = bx > by ? bx : by;
    for (int b = batch; b > 0; b--) {
      int64_t e = b <= bx ? x->shape[bx - b] : 1, f = b <= by ? y->shape[by - b] : 1;
      shape[rank++] = e == 1 ? f : e;
    }
    if (x->rank > 1) shape[rank++] = x->shape[x->rank - 2];
    if (y->rank > 1) shape[rank++] = y->shape[y->rank - 1];
    own(t, k, rank, shape);
  } else if (is(s, "gather")) {
    for (int d = 0; d < x->rank; d++) {
      for (int i = 0; d == s->list[0][0] && i < y->rank; i++) shape[rank++] = y->shape[i];
      if (d != s->list[0][0]) shape[rank++] = x->shape[d];
    }
    own(t, k, rank, shape);
  } else if (is(s, "cat")) {
    for (; rank < x->rank; rank++) shape[rank] = x->shape[rank];
    for (int i = 1; i < s->n_in; i++) shape[s->list[0][0]] += w->t[s->in[i]].shape[s->list[0][0]];
    own(t, k, rank, shape);
  } else if (is(s, "pad")) {
    for (; rank < x->rank; rank++)
      shape[rank] = (x->shape[rank] - 1) * (s->n_lists > 2 ? s->list[2][rank] : 1) + 1 + s->list[0][rank] +
                    s->list[1][rank];
    own(t, k, rank, shape);
  } else {
    view(s, x, t);
    return;
  }

  op->used = true;
  /* The result's labels: its buffer's stick; in place what that makes of the view. */
  bool fixed = is(s, "clone") || is(s, "fallback");
  own_points(t, &q);
  for (int stick = 0; stick <= w->t[t->buffer].rank; stick++)
    for (int label = 0; label <= t->rank; label++)
      op->under[stick][label] =
          s->in_place ? aligned(w, &q, label - 1, stick) : label == stick && (!fixed || label == t->rank);
  int64_t lanes = w->lanes[t->buffer];
  if (is(s, "pw") || is(s, "cat")) {
    int64_t start[PROG_RANK] = {0};
    op->n_needs = s->n_in;
    for (int i = 0; i < s->n_in; i++) {
      const tensor *o = &w->t[s->in[i]];
      if (is(s, "cat")) {
        seam(w, o, t, start, NULL, lanes, &op->need[i]);
        start[s->list[0][0]] += o->shape[s->list[0][0]];
      } else {
        broadcast_points(o, t, &q);
        as_result(w, &q, t->rank, lanes, &op->need[i]);
      }
    }
  } else if (is(s, "cast")) {
    op->n_needs = 1;
    own_points(x, &q);
    as_result(w, &q, t->rank, lanes, &op->need[0]);
  } else if (is(s, "sum") || is(s, "keep")) {
    op->n_needs = 1;
    reduce(w, s, x, &op->need[0]);
  } else if (is(s, "matmul")) {
    matmul(w, x, y, t, op);
  } else if (is(s, "gather")) {
    op->n_needs = 1;
    gather(w, s, x, y, t, &op->need[0]);
  } else if (is(s, "scatter")) {
    scatter(w, s, x, y, &w->t[s->in[2]], t, op);
    from[1] = 2;
  } else if (is(s, "pad")) {
    op->n_needs = 1;
    seam(w, x, t, s->list[0], s->n_lists > 2 ? s->list[2] : NULL, lanes, &op->need[0]);
  } else if (is(s, "write")) {
    op->n_needs = 2;
    own_points(x, &q);
    as_result(w, &q, t->rank, lanes, &op->need[0]);
    seam(w, y, t, s->list[0], s->n_lists > 1 ? s->list[1] : NULL, lanes, &op->need[1]);
  }
  for (int i = 0; i < op->n_needs; i++) {
    int operand = from[i], o = s->in[operand];
    op->need[i].buffer = w->t[o].buffer;
    op->need[i].value = w->value[o];
    /* what is written in place does not move; only a whole value of a buffer does */
    bool whole =
        w->t[w->value[o]].n == w->t[w->t[o].buffer].n && w->t[w->value[o]].rank == w->t[w->t[o].buffer].rank;
    for (int64_t e = 0; whole && e < w->t[w->value[o]].n; e++) whole = w->t[w->value[o]].element[e] == e;
    for (int d = 0; whole && d < w->t[w->value[o]].rank; d++)
      whole = w->t[w->value[o]].shape[d] == w->t[w->t[o].buffer].shape[d];
    op->need[i].movable = w->options->moves && whole && !(s->in_place && operand == 0);
    for (int h = 0; h < w->options->n_hints; h++) {
      const prog_hint *hint = &w->options->hint[h];
      if (hint->kind == TESELA_HINT_FORBID_MOVE && hint->node == k &&
          (hint->operand < 0 || hint->operand == operand))
        op->need[i].movable = false;
    }
  }
}

/* ---- search ---- */

static bool worse(const search *w, int64_t cost, int64_t moves) {
  if (!w->found) return false;
  if (cost != w->best) return cost > w->best;
  return w->any_moves || moves >= w->best_moves;
}

static bool may_move(const search *w, const need *n, int to) {
  int from = w->stick[n->buffer];
  return n->movable && (to != 0 || w->options->spread) && (from != 0 || w->options->compact) &&
         to <= w->t[n->buffer].rank && (to != 0 || w->t[n->buffer].rank > 0);
}

static void statement(search *w, int k, int64_t cost, int64_t moves);

/* Needs i .. of statement k for a label, each with every place for its operand. */
static void operands(search *w, int k, int label, int i, int64_t cost, int64_t moves) {
  const operation *op = &w->op[k];
  if (worse(w, cost, moves)) return;
  if (i == op->n_needs) {
    statement(w, k + 1, cost, moves);
    return;
  }
  const need *n = &op->need[i];
  int at = w->stick[n->buffer];
  if (n->legal[label][at]) { /* to move it all the same is never cheaper */
    operands(w, k, label, i + 1, cost, moves);
    return;
  }
  for (int to = 0; to <= w->t[n->buffer].rank; to++) {
    if (to == at || !n->legal[label][to] || !may_move(w, n, to)) continue;
    bool there = w->options->share && w->copied[n->value][to];
    if (there) {
      operands(w, k, label, i + 1, cost, moves);
      continue;
    }
    w->copied[n->value][to] = true;
    operands(w, k, label, i + 1, cost + places(w, n->buffer, at), moves + 1);
    w->copied[n->value][to] = false;
  }
}

static void labels(search *w, int k, int64_t cost, int64_t moves) {
  const tensor *t = &w->t[k];
  for (int label = 0; label <= t->rank; label++)
    if (w->op[k].under[w->stick[t->buffer]][label]) operands(w, k, label, 0, cost, moves);
}

static void statement(search *w, int k, int64_t cost, int64_t moves) {
  if (k > w->deepest) w->deepest = k;
  if (k == w->p->n) {
    if (worse(w, cost, moves)) return;
    w->found = true;
    w->best = cost;
    w->best_moves = moves;
    return;
  }
  if (!w->op[k].used) {
    statement(w, k + 1, cost, moves);
  } else if (w->t[k].buffer != k) {
    labels(w, k, cost, moves);
  } else {
    for (int stick = 0; stick <= w->t[k].rank; stick++) {
      if (!w->allowed[k][stick] || worse(w, cost + w->prefer[k][stick], moves)) continue;
      w->stick[k] = stick;
      labels(w, k, cost + w->prefer[k][stick], moves);
    }
  }
}

/* What each buffer may be before anything is tried. */
static void begin(search *w) {
  for (int k = 0; k < w->p->n; k++) {
    const prog_statement *s = &w->p->s[k];
    tesela_dtype dtype = s->dtype;
    bool is_free = s->stick == PROG_FREE;
    if (dtype == TESELA_DTYPE_NONE) /* the type of pointwise is the last operand's, of others the first's */
      w->lanes[k] = w->lanes[s->in[is(s, "pw") ? s->n_in - 1 : 0]];
    else
      w->lanes[k] = w->options->stick_bytes / tesela_dtype_bytes(dtype);
    operate(w, k);
    w->value[k] = w->op[k].used ? k : w->value[s->in[0]];
    for (int h = 0; h < w->options->n_hints; h++)
      is_free = is_free || (w->options->hint[h].kind == TESELA_HINT_FREE && w->options->hint[h].node == k);
    for (int stick = 0; stick <= w->t[k].rank; stick++) {
      bool input = is(s, "input");
      w->allowed[k][stick] = !input || w->t[k].rank == 0 || (is_free ? stick > 0 : stick == s->stick + 1);
      for (int h = 0; h < w->options->n_hints; h++) {
        const prog_hint *hint = &w->options->hint[h];
        if (hint->node != k) continue;
        if (hint->kind == TESELA_HINT_REQUIRE && hint->stick + 1 != stick) w->allowed[k][stick] = false;
        if (hint->kind == TESELA_HINT_FORBID && hint->stick + 1 == stick) w->allowed[k][stick] = false;
        if (hint->kind == TESELA_HINT_PREFER && hint->stick + 1 != stick) w->prefer[k][stick] += hint->price;
      }
    }
  }
}

void prog_search(const prog *p, const prog_options *options, prog_answer *answer) {
  search *w = calloc(1, sizeof *w);
  *w = (search){.p = p, .options = options};
  memset(answer, 0, sizeof *answer);
  begin(w);
  statement(w, 0, 0, 0);
  answer->ok = w->found;
  answer->error = w->found ? -1 : w->deepest;
  answer->cost = w->best;
  answer->moves = w->best_moves;
  for (int i = 0; i < options->n_outputs && answer->ok; i++) {
    int buffer = w->t[options->output[i]].buffer;
    bool allowed[STICKS];
    memcpy(allowed, w->allowed[buffer], sizeof allowed);
    for (int stick = 0; stick <= w->t[buffer].rank; stick++) {
      if (!allowed[stick]) continue;
      memset(w->allowed[buffer], 0, sizeof allowed);
      w->allowed[buffer][stick] = true;
      w->found = true; /* as cheap, with any number of moves: one below the next dearer price */
      w->any_moves = true;
      w->best = answer->cost + 1;
      statement(w, 0, 0, 0);
      if (w->best <= answer->cost) answer->sticks[i] |= 1u << stick;
    }
    memcpy(w->allowed[buffer], allowed, sizeof allowed);
    w->any_moves = false;
  }
  for (int k = 0; k < p->n; k++) free(w->t[k].element);
  free(w);
}
