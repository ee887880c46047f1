/* SPDX-License-Identifier: Apache-2.0 */
/*
 * gather_tables.c - the tables of one block of the gather: the functions of both sides for some values of each coordinate.
 */
#include "relayout/gather.h"

int64_t tesela__gather_most_runs(const tesela__sums *sums, int32_t c, int64_t n) {
  const tesela__sum_digits side[] = {sums->dst[c], sums->src[c]};
  int64_t runs = 1;
  for (int i = 0; i < 2; i++)
    for (int32_t k = 0; k < side[i].n - 1; k++) runs += n / sums->digit[side[i].first + k].step + 1;
  return tesela__min(runs, n);
}

/* A walk along the function of a coordinate on one side, in units. */
typedef struct sum_walk {
  const tesela__sums *sums;
  tesela__sum_digits digits;
  int64_t unit, x, at, stride, left; /* left: values at this stride */
  int64_t step,
      jump; /* values of the last digit, if there are several; from its last value to the next first one, */
  int64_t until; /* up to this value, where a digit before these two grows */
} sum_walk;

static void jump_walk(sum_walk *w) {
  w->at = tesela__sum_at(w->sums, w->digits, w->x, &w->stride, &w->left) / w->unit;
  w->stride /= w->unit;
  if (w->step == 0) return;
  int64_t stride;
  tesela__sum_at(w->sums, (tesela__sum_digits){w->digits.first, w->digits.n - 1}, w->x, &stride, &w->until);
  if (w->until < INT64_MAX) w->until += w->x;
}

static sum_walk walk_of(const tesela__gather_run *run, tesela__sum_digits digits, int64_t x) {
  sum_walk w = {.sums = run->sums, .digits = digits, .unit = run->unit, .x = x};
  const struct tesela__sum_digit *last = &run->sums->digit[digits.first + digits.n - 1];
  if (digits.n > 1) w.step = last[-1].step;
  jump_walk(&w);
  if (digits.n > 1) w.jump = last[-1].stride / run->unit - w.step * w.stride;
  return w;
}

/* Go n values on, up to all that are left. */
static void move_walk(sum_walk *w, int64_t n) {
  w->x += n;
  w->at += n * w->stride;
  w->left -= n;
  if (w->left > 0) return;
  if (w->step == 0 || w->x >= w->until) {
    jump_walk(w);
  } else {
    w->at += w->jump;
    w->left = tesela__min(w->step, w->until - w->x);
  }
}

static void fill_side(sum_walk w, int64_t n, int64_t *to) {
  while (n > 0) {
    const int64_t m = tesela__min(n, w.left);
    for (int64_t i = 0; i < m; i++) to[i] = w.at + i * w.stride;
    to += m;
    n -= m;
    move_walk(&w, m);
  }
}

/* The runs of P that go by constant strides on both sides. */
static void fill_runs(const tesela__gather_run *run, tesela__gather_table *t, tesela__gather_range range) {
  sum_walk to = walk_of(run, run->sums->dst[run->p], range.to),
           from = walk_of(run, run->sums->src[run->p], range.x);
  int64_t n = 0, next_dst = 0, next_src = 0;
  t->n_runs = 0;
  t->src_end = INT64_MIN;
  for (int64_t i = 0; i < range.n; i += n) {
    if (i == 0 || to.at != next_dst || from.at != next_src) {
      t->dst[t->n_runs] = to.at;
      t->src[t->n_runs] = from.at;
      t->first[t->n_runs++] = (int32_t)i;
    }
    n = tesela__min(tesela__min(to.left, from.left), range.n - i);
    next_dst = to.at + n * to.stride;
    next_src = from.at + n * from.stride;
    t->src_end = tesela__max(t->src_end, next_src);
    move_walk(&to, n);
    move_walk(&from, n);
  }
  t->first[t->n_runs] = t->n = (int32_t)range.n;
}

/* The values of P or Q; runs are neighbours in dst, or in src. Runs that a weave takes go by constant strides on the other side, too. */
static void fill_values(const tesela__gather_run *run, tesela__gather_table *t, int32_t c,
                        tesela__gather_range range) {
  const int64_t width = run->bits / run->unit;
  const bool is_p = c == run->p, both = run->weave && is_p != run->weaves_out;
  const int64_t *near = is_p ? t->dst : t->src, *far = is_p ? t->src : t->dst;
  t->n = (int32_t)range.n;
  fill_side(walk_of(run, run->sums->dst[c], range.to), range.n, t->dst);
  fill_side(walk_of(run, run->sums->src[c], range.x), range.n, t->src);
  t->n_runs = 0;
  for (int32_t i = 0, first; i < t->n;) {
    first = t->first[t->n_runs++] = i++;
    while (i < t->n && near[i] - near[i - 1] == width &&
           (!both || far[i] - far[i - 1] == far[first + 1] - far[first]))
      i++;
  }
  t->first[t->n_runs] = t->n;
}

static bool is_other(const tesela__gather_run *run, int32_t c) { return c != run->p && c != run->q; }

/* Multiply C by the values of a coordinate. */
static void add_other(const tesela__gather_run *run, tesela__gather_tables *t, int32_t c,
                      tesela__gather_range range) {
  sum_walk to = walk_of(run, run->sums->dst[c], range.to), from = walk_of(run, run->sums->src[c], range.x);
  const int32_t n = t->n_others;
  const int64_t dst = to.at, src = from.at;
  for (int32_t v = 1; v < range.n; v++) {
    move_walk(&to, 1);
    move_walk(&from, 1);
    for (int32_t i = 0; i < n; i++) {
      t->other_dst[v * n + i] = t->other_dst[i] + to.at;
      t->other_src[v * n + i] = t->other_src[i] + from.at;
    }
  }
  for (int32_t i = 0; i < n; i++) { /* value 0 last: the others are made from it */
    t->other_dst[i] += dst;
    t->other_src[i] += src;
  }
  t->n_others = n * (int32_t)range.n;
}

static void fill_others(const tesela__gather_run *run, tesela__gather_tables *t) {
  t->other_src[0] = t->other_dst[0] = 0;
  t->n_others = 1;
  for (int32_t c = 0; c < run->sums->n; c++)
    if (is_other(run, c)) add_other(run, t, c, t->range[c]);
}

void tesela__gather_empty(tesela__gather_tables *t) {
  memset(t->range, 0, sizeof t->range);
  t->n_others = t->p.n_runs = t->q.n_runs = 0;
}

void tesela__gather_fill(const tesela__gather_run *run, tesela__gather_tables *t,
                         const tesela__gather_range *range) {
  bool others = false;
  for (int32_t c = 0; c < run->sums->n; c++) {
    if (t->range[c].x == range[c].x && t->range[c].n == range[c].n && t->range[c].to == range[c].to) continue;
    t->range[c] = range[c];
    if (is_other(run, c))
      others = true;
    else if (run->p == run->q)
      fill_runs(run, &t->p, range[c]);
    else
      fill_values(run, c == run->p ? &t->p : &t->q, c, range[c]);
  }
  if (others || t->n_others == 0) fill_others(run, t);
}
