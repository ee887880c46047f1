/* SPDX-License-Identifier: Apache-2.0 */
/*
 * gather_ahead.c - what some values of each coordinate are in src: stretches of bytes, by address.
 *
 * Memory is read at full speed in the order of addresses only; in another order at half of it. So the lines that the next blocks read are
 * prefetched by address, whatever the order is in which they are copied.
 */
#include "relayout/gather.h"

enum { AHEAD_NEAR = 4 * TESELA__LINE, AHEAD_GAP = 2 * TESELA__LINE, AHEAD_LONGEST = 1 << 20 };

/* The digits of src from the outermost on, and the values that are left for those to come. */
typedef struct ahead_walk {
  const tesela__src_order *order;
  const unsigned char *src;
  tesela__gather_range left[TESELA_MAX_RANK];
  tesela__gather_ahead *ahead;
} ahead_walk;

/* ---- the order of src -------------------------------------------------------------------------------------- */

static void add_src_digit(tesela__src_order *o, const tesela__sums *sums, int32_t c, int32_t k) {
  const struct tesela__sum_digit *digit = &sums->digit[sums->src[c].first + k];
  const int64_t stride = digit->stride / 8;
  int32_t i = o->n++;
  for (; i > 0 && o->digit[i - 1].stride < stride; i--) o->digit[i] = o->digit[i - 1];
  o->digit[i] = (struct tesela__src_digit){.c = c, .step = digit->step, .stride = stride};
  o->digit[i].span = k > 0 ? digit[-1].step : sums->extent[c];
}

/* False: the digits of some coordinate do not follow each other by their steps. */
bool tesela__src_order_set(tesela__src_order *o, const tesela__sums *sums, int32_t bits) {
  o->n = 0;
  for (int32_t c = 0; c < sums->n; c++)
    for (int32_t k = 0; k < sums->src[c].n; k++) add_src_digit(o, sums, c, k);
  int64_t dense = bits / 8;
  for (int32_t i = o->n - 1; i >= 0; i--) {
    struct tesela__src_digit *d = &o->digit[i];
    d->before = -1;
    for (int32_t k = 0; k < i; k++)
      if (o->digit[k].c == d->c) d->before = k;
    if (d->before >= 0 && o->digit[d->before].step < d->step) return false;
    d->inner = dense;
    d->near = dense > 0 && d->stride <= AHEAD_NEAR;
    dense = dense == d->stride && d->span % d->step == 0 ? dense * (d->span / d->step) : 0;
  }
  return true;
}

/* ---- stretches --------------------------------------------------------------------------------------------- */

static void add_stretch(tesela__gather_ahead *ahead, const unsigned char *from, int64_t bytes) {
  struct tesela__gather_stretch *last = &ahead->stretch[ahead->n - 1];
  bytes = tesela__min(bytes, AHEAD_LONGEST);
  if (ahead->n > 0 && last->rows == 1 && from >= last->from && from - last->from <= last->bytes + AHEAD_GAP &&
      from - last->from < AHEAD_LONGEST)
    last->bytes = (int32_t)tesela__max(last->bytes, from - last->from + bytes);
  else if (ahead->n < TESELA__GATHER_AHEAD)
    ahead->stretch[ahead->n++] = (struct tesela__gather_stretch){from, (int32_t)bytes, 1, 0};
}

/* Repeat the last stretch `n` times; false: it is repeated already. */
static bool repeat_stretch(tesela__gather_ahead *ahead, int64_t n, int64_t pitch) {
  struct tesela__gather_stretch *last = &ahead->stretch[ahead->n - 1];
  if (last->rows > 1) return false;
  if (pitch > 0 && pitch <= last->bytes + AHEAD_GAP && n * pitch < AHEAD_LONGEST) {
    last->bytes = (int32_t)((n - 1) * pitch + last->bytes);
  } else {
    last->rows = (int32_t)n;
    last->pitch = pitch;
  }
  return true;
}

/* Are all values of the digits from i on left, apart from those of coordinate c? */
static bool is_whole_ahead(const ahead_walk *w, int32_t i, int32_t c) {
  for (int32_t k = i; k < w->order->n; k++) {
    const struct tesela__src_digit *d = &w->order->digit[k];
    if (d->c != c && d->before < i && w->left[d->c].n != d->span) return false;
  }
  return true;
}

/* Depth: the number of digits. */
static void walk_ahead(ahead_walk *w, int32_t i, int64_t at) {
  if (i == w->order->n) {
    add_stretch(w->ahead, w->src + at, 1);
    return;
  }
  const struct tesela__src_digit *d = &w->order->digit[i];
  const tesela__gather_range all = w->left[d->c];
  const bool dense = d->inner == d->stride && is_whole_ahead(w, i + 1, d->c);
  int64_t x = all.x, value = all.x / d->step;
  for (const int64_t end = all.x + all.n; x < end;) {
    const int64_t begin = value * d->step, next = tesela__min(end, begin + d->step);
    if (d->near) {
      add_stretch(w->ahead, w->src + at + value * d->stride,
                  tesela__ceil_div(end - begin, d->step) * d->stride);
      break;
    }
    const int64_t whole = x == begin ? (end - x) / d->step : 0; /* values that read the same */
    int64_t n = tesela__max(1, whole);
    if (dense && whole > 0) {
      add_stretch(w->ahead, w->src + at + value * d->stride, n * d->stride);
    } else {
      const int32_t before = w->ahead->n;
      w->left[d->c] = (tesela__gather_range){x - begin, next - x, 0};
      walk_ahead(w, i + 1, at + value * d->stride);
      if (n > 1 && (w->ahead->n != before + 1 || !repeat_stretch(w->ahead, n, d->stride))) n = 1;
    }
    x = n > 1 ? x + n * d->step : next;
    value += n;
  }
  w->left[d->c] = all;
}

void tesela__gather_list(const tesela__src_order *order, const unsigned char *src,
                         const tesela__gather_range *range, int32_t n, tesela__gather_ahead *ahead) {
  ahead_walk w = {.order = order, .src = src, .ahead = ahead};
  ahead->n = ahead->at = ahead->row = 0;
  ahead->done = ahead->lines = 0;
  for (int32_t c = 0; c < n; c++) {
    w.left[c] = range[c];
    if (range[c].n == 0) return;
  }
  walk_ahead(&w, 0, 0);
  for (int32_t i = 0; i < ahead->n; i++)
    ahead->lines += (ahead->stretch[i].bytes / TESELA__LINE + 1) * ahead->stretch[i].rows;
}
