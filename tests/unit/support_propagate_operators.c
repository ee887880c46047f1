/* SPDX-License-Identifier: Apache-2.0 */
/*
 * support_propagate_operators.c - the needs of each operator, by definition; see support_propagate_oracle.c.
 */
#include "support_propagate_parts.h"

/* ---- operators ---- */

/* The elements of a tensor as points. */
static void own_points(const tensor *t, points *q) {
  q->buffer = t->buffer;
  q->rank = t->rank;
  memcpy(q->extent, t->shape, sizeof q->extent);
  q->n = (int)t->n;
  for (int k = 0; k < q->n; k++) {
    prog_unravel(k, t->rank, t->shape, q->at[k]);
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
    q->element[k] = x->element[prog_ravel(x->rank, x->shape, at)];
  }
}

/* A piece inside the result: element j is at start + j * step, if that is inside. `first`: the least coordinates. */
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
    prog_unravel(k, x->rank, x->shape, at);
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

/* Same sticks as the result, and it starts on a stick along the result's stick dim. With a step several elements cannot
 * have the result's lanes: they can only be in lane 0, one for each result stick. */
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
          ((spaced ? prog_lane_zero(w, &q, stick) && prog_same_in_groups(w, &q, label - 1, lanes, stick, true)
                   : prog_pointwise(w, &q, label - 1, stick, result_lanes)) &&
           (label == 0 || first[label - 1] % lanes == 0));
  }
}

static void as_result(const search *w, const points *q, int rank, int64_t result_lanes, need *n) {
  for (int label = 0; label <= rank; label++)
    for (int stick = 0; stick <= w->t[q->buffer].rank; stick++)
      n->legal[label][stick] = prog_pointwise(w, q, label - 1, stick, result_lanes);
}

/* A lane remains if its dim remains; if the stick dim is folded, the result has one element per stick. */
static void reduce(const search *w, const prog_statement *s, const tensor *x, need *n) {
  static points q;
  own_points(x, &q);
  for (int stick = 0; stick <= w->t[x->buffer].rank; stick++) {
    int next = 1;
    if (prog_lane_zero(w, &q, stick)) n->legal[0][stick] = true;
    for (int d = 0; d < x->rank; d++) {
      bool folded = prog_named(s, d);
      if (prog_aligned(w, &q, d, stick)) n->legal[folded ? 0 : next][stick] = true;
      if (!folded || prog_is(s, "keep")) next++;
    }
  }
}

/* The lanes are of a remaining dim, the same as the result's. `line`: its dim; -1: the named dims are folded. */
static void unfolded(const search *w, const prog_statement *s, const tensor *x, int line, need *n) {
  static points q;
  own_points(x, &q);
  for (int stick = 0; stick <= w->t[x->buffer].rank; stick++) {
    int next = 1;
    if (prog_lane_zero(w, &q, stick)) n->legal[0][stick] = true;
    for (int d = 0; d < x->rank; d++) {
      bool folded = line < 0 && prog_named(s, d);
      if (!folded && d != line && prog_aligned(w, &q, d, stick)) n->legal[next][stick] = true;
      next += !folded;
    }
  }
}

/* An operator with only a rule. keeps: same sticks as the result, with its dims. stats, norm: the last dim in the
 * lanes; norm: also the result's last dim. An operand of another shape implies nothing for the result. */
static void unknown(const search *w, const prog_statement *s, const tensor *x, const tensor *result,
                    bool first, need *n) {
  static points q;
  bool same =
      x->rank == result->rank && memcmp(x->shape, result->shape, sizeof(int64_t) * (size_t)x->rank) == 0;
  own_points(x, &q);
  for (int label = 0; label <= result->rank; label++)
    for (int stick = 0; stick <= w->t[x->buffer].rank; stick++) {
      bool follows = same && prog_aligned(w, &q, label - 1, stick);
      if (prog_is(s, "keeps"))
        n->legal[label][stick] =
            first ? follows : same && prog_pointwise(w, &q, label - 1, stick, w->lanes[result->buffer]);
      else
        n->legal[label][stick] =
            !first || (prog_aligned(w, &q, x->rank - 1, stick) && (prog_is(s, "stats") || follows));
    }
}

/* Lane of x = index of k, lane of y = index of n, stick of the result = n. Without n, y and the result have one
 * column. */
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
      nx->legal[label][stick] = prog_aligned(w, &q, x->rank - 1, stick);
  own_points(y, &q);
  for (int stick = 0; stick <= w->t[y->buffer].rank; stick++) {
    if (!any) ny->legal[0][stick] = prog_lane_zero(w, &q, stick);
    for (int label = 1; label <= result->rank; label++)
      ny->legal[label][stick] = column[label] && prog_aligned(w, &q, of_y[label], stick);
  }
}

/* The looked-up dim is not the stick dim. Inside a stick along a dim of the indices any element can be looked up. */
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
            prog_pointwise(w, &q, r < looked ? r : r - at->rank + 1, stick, w->lanes[result->buffer]);
        continue;
      }
      n->legal[label][stick] = prog_lane_zero(w, &q, stick);
      if (of_indices && result->shape[r] > 1) { /* the element must not depend on the looked-up index */
        points all = q;
        for (int k = 0; k < all.n; k++) all.at[k][looked] = 0;
        n->legal[label][stick] = n->legal[label][stick] && prog_same_in_groups(w, &all, -1, 1, stick, true);
      }
    }
}

/* The destination has the result's sticks, not along the looked-up dim; values have the result's sticks. */
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
      op->need[1].legal[label][stick] = prog_pointwise(w, &q, dim, stick, w->lanes[result->buffer]);
    }
}

void prog_operate(search *w, int k) {
  const prog_statement *s = &w->p->s[k];
  operation *op = &w->op[k];
  tensor *t = &w->t[k];
  const tensor *x = s->n_in > 0 ? &w->t[s->in[0]] : NULL, *y = s->n_in > 1 ? &w->t[s->in[1]] : NULL;
  static points q;
  int64_t shape[PROG_RANK] = {0};
  int rank = 0, from[PROG_OPERANDS] = {0, 1, 2, 3, 4, 5, 6, 7};
  bool rule_only = prog_is(s, "keeps") || prog_is(s, "stats") || prog_is(s, "norm");
  bool line = prog_is(s, "sort") || prog_is(s, "rank") || prog_is(s, "cum") || prog_is(s, "line");
  if (prog_is(s, "input") || prog_is(s, "constant") || prog_is(s, "fallback") || rule_only) {
    prog_tensor_own(t, k, s->rank, s->shape);
  } else if (line) {
    for (; rank < x->rank; rank++) shape[rank] = x->shape[rank];
    if (!prog_is(s, "cum")) shape[s->list[0][0]] = s->list[1][0];
    prog_tensor_own(t, k, rank, shape);
  } else if (prog_is(s, "clone") || prog_is(s, "scatter") || prog_is(s, "write")) {
    prog_tensor_own(t, k, x->rank, x->shape);
    if (s->in_place) {
      t->buffer = x->buffer;
      memcpy(t->element, x->element, (size_t)t->n * sizeof *t->element);
    }
  } else if (prog_is(s, "pw") || prog_is(s, "cast")) {
    for (int i = 0; i < s->n_in; i++) rank = w->t[s->in[i]].rank > rank ? w->t[s->in[i]].rank : rank;
    for (int d = 0; d < rank; d++) shape[d] = 1;
    for (int i = 0; i < s->n_in; i++)
      for (int d = 0; d < w->t[s->in[i]].rank; d++)
        if (w->t[s->in[i]].shape[d] != 1) shape[d + rank - w->t[s->in[i]].rank] = w->t[s->in[i]].shape[d];
    prog_tensor_own(t, k, rank, shape);
  } else if (prog_is(s, "sum") || prog_is(s, "keep") || prog_is(s, "prod")) {
    for (int d = 0; d < x->rank; d++)
      if (!prog_named(s, d) || prog_is(s, "keep")) shape[rank++] = prog_named(s, d) ? 1 : x->shape[d];
    prog_tensor_own(t, k, rank, shape);
  } else if (prog_is(s, "matmul")) {
    int bx = x->rank > 2 ? x->rank - 2 : 0, by = y->rank > 2 ? y->rank - 2 : 0, batch = bx > by ? bx : by;
    for (int b = batch; b > 0; b--) {
      int64_t e = b <= bx ? x->shape[bx - b] : 1, f = b <= by ? y->shape[by - b] : 1;
      shape[rank++] = e == 1 ? f : e;
    }
    if (x->rank > 1) shape[rank++] = x->shape[x->rank - 2];
    if (y->rank > 1) shape[rank++] = y->shape[y->rank - 1];
    prog_tensor_own(t, k, rank, shape);
  } else if (prog_is(s, "gather")) {
    for (int d = 0; d < x->rank; d++) {
      for (int i = 0; d == s->list[0][0] && i < y->rank; i++) shape[rank++] = y->shape[i];
      if (d != s->list[0][0]) shape[rank++] = x->shape[d];
    }
    prog_tensor_own(t, k, rank, shape);
  } else if (prog_is(s, "cat")) {
    for (; rank < x->rank; rank++) shape[rank] = x->shape[rank];
    for (int i = 1; i < s->n_in; i++) shape[s->list[0][0]] += w->t[s->in[i]].shape[s->list[0][0]];
    prog_tensor_own(t, k, rank, shape);
  } else if (prog_is(s, "pad")) {
    for (; rank < x->rank; rank++)
      shape[rank] = (x->shape[rank] - 1) * (s->n_lists > 2 ? s->list[2][rank] : 1) + 1 + s->list[0][rank] +
                    s->list[1][rank];
    prog_tensor_own(t, k, rank, shape);
  } else {
    prog_tensor_view(s, x, t);
    return;
  }

  op->used = true;
  /* The labels of the result: the stick of its buffer; in place, the resulting one of the view. */
  bool fixed = prog_is(s, "clone") || prog_is(s, "fallback");
  own_points(t, &q);
  for (int stick = 0; stick <= w->t[t->buffer].rank; stick++)
    for (int label = 0; label <= t->rank; label++)
      op->under[stick][label] = s->in_place ? prog_aligned(w, &q, label - 1, stick)
                                            : label == stick && (!fixed || label == t->rank) &&
                                                  (!prog_is(s, "stats") || label == 0);
  int64_t lanes = w->lanes[t->buffer];
  if (prog_is(s, "pw") || prog_is(s, "cat")) {
    int64_t start[PROG_RANK] = {0};
    op->n_needs = s->n_in;
    for (int i = 0; i < s->n_in; i++) {
      const tensor *o = &w->t[s->in[i]];
      if (prog_is(s, "cat")) {
        seam(w, o, t, start, NULL, lanes, &op->need[i]);
        start[s->list[0][0]] += o->shape[s->list[0][0]];
      } else {
        broadcast_points(o, t, &q);
        as_result(w, &q, t->rank, lanes, &op->need[i]);
      }
    }
  } else if (prog_is(s, "cast")) {
    op->n_needs = 1;
    own_points(x, &q);
    as_result(w, &q, t->rank, lanes, &op->need[0]);
  } else if (prog_is(s, "sum") || prog_is(s, "keep")) {
    op->n_needs = 1;
    reduce(w, s, x, &op->need[0]);
  } else if (prog_is(s, "prod") || line) {
    op->n_needs = s->n_in;
    unfolded(w, s, x, line ? (int)s->list[0][0] : -1, &op->need[0]);
    for (int i = 1; i < s->n_in; i++) {
      own_points(&w->t[s->in[i]], &q);
      as_result(w, &q, t->rank, lanes, &op->need[i]);
    }
  } else if (rule_only) {
    op->n_needs = s->n_in;
    for (int i = 0; i < s->n_in; i++) unknown(w, s, &w->t[s->in[i]], t, i == 0, &op->need[i]);
  } else if (prog_is(s, "matmul")) {
    matmul(w, x, y, t, op);
  } else if (prog_is(s, "gather")) {
    op->n_needs = 1;
    gather(w, s, x, y, t, &op->need[0]);
  } else if (prog_is(s, "scatter")) {
    scatter(w, s, x, y, &w->t[s->in[2]], t, op);
    from[1] = 2;
  } else if (prog_is(s, "pad")) {
    op->n_needs = 1;
    seam(w, x, t, s->list[0], s->n_lists > 2 ? s->list[2] : NULL, lanes, &op->need[0]);
  } else if (prog_is(s, "write")) {
    op->n_needs = 2;
    own_points(x, &q);
    as_result(w, &q, t->rank, lanes, &op->need[0]);
    seam(w, y, t, s->list[0], s->n_lists > 1 ? s->list[1] : NULL, lanes, &op->need[1]);
  }
  for (int i = 0; i < op->n_needs; i++) {
    int operand = from[i], o = s->in[operand];
    op->need[i].buffer = w->t[o].buffer;
    op->need[i].value = w->value[o];
    op->need[i].seen = o;
    /* an operand written in place does not move, and only whole values of a buffer move */
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
