/* SPDX-License-Identifier: Apache-2.0 */
/*
 * dma_overlap.c - checks whether two elements share a place.
 *
 * Places are sums of digits times strides, so two elements share one if and only if a difference of digits gives 0, or
 * for two boxes the difference of their offsets. If each stride exceeds the reach of all smaller ones, the answer is
 * immediate; else the differences are searched, largest stride first: the rest must be within reach of the smaller
 * strides and divisible by their common divisor. The search is bounded; its answer may be "unknown".
 */
#include "device/dma.h"

typedef enum dma_meeting { DMA_MEET_NO, DMA_MEET_YES, DMA_MEET_UNKNOWN } dma_meeting;

typedef struct dma_term {
  int64_t coefficient, less, more; /* all >= 0 */
} dma_term;

typedef struct dma_search {
  int32_t n;
  const dma_term *term;
  int64_t below[TESELA__DMA_CHAINS + 1], above[TESELA__DMA_CHAINS + 1]; /* reach of terms k .. n-1 */
  int64_t divisor[TESELA__DMA_CHAINS + 1];
  int64_t *budget;
} dma_search;

/* Rounded towards minus infinity; b >= 1. */
static int64_t dma_floor_div(int64_t a, int64_t b) { return a / b - (a % b < 0); }

/* Search differences of terms k and later for `target`. `moved`: an earlier difference is not 0. Recursion depth: n. */
static dma_meeting dma_find(const dma_search *s, int32_t k, int64_t target, bool moved) {
  if (k == s->n) return target == 0 && moved ? DMA_MEET_YES : DMA_MEET_NO;
  if (--*s->budget < 0) return DMA_MEET_UNKNOWN;
  if (target < -s->below[k] || target > s->above[k]) return DMA_MEET_NO;
  if (s->divisor[k] ? target % s->divisor[k] != 0 : target != 0) return DMA_MEET_NO;
  const dma_term *term = &s->term[k];
  if (term->coefficient == 0) { /* any difference works: a nonzero one if possible */
    bool free = term->less > 0 || term->more > 0;
    return dma_find(s, k + 1, target, moved || free);
  }
  int64_t from = -dma_floor_div(s->above[k + 1] - target, term->coefficient); /* ceil((target - above) / c) */
  int64_t to = dma_floor_div(target + s->below[k + 1], term->coefficient);
  from = tesela__max(from, -term->less), to = tesela__min(to, term->more);
  dma_meeting found = DMA_MEET_NO;
  for (int64_t delta = from; delta <= to; delta++) {
    dma_meeting one = dma_find(s, k + 1, target - delta * term->coefficient, moved || delta != 0);
    if (one == DMA_MEET_YES) return one;
    if (one == DMA_MEET_UNKNOWN) found = one;
    if (*s->budget < 0) return DMA_MEET_UNKNOWN;
  }
  return found;
}

/* Does sum delta*coefficient = target have a solution with -less <= delta <= more, other than all 0? */
static dma_meeting dma_meet(int32_t n, dma_term *terms, int64_t target, int64_t *budget) {
  for (int32_t i = 1; i < n; i++) { /* decreasing coefficients */
    dma_term term = terms[i];
    int32_t at = i;
    for (; at > 0 && terms[at - 1].coefficient < term.coefficient; at--) terms[at] = terms[at - 1];
    terms[at] = term;
  }
  dma_search s = {.n = n, .term = terms, .budget = budget};
  s.below[n] = s.above[n] = s.divisor[n] = 0;
  bool apart = target == 0; /* each stride exceeds the reach of the smaller ones */
  for (int32_t k = n - 1; k >= 0; k--) {
    int64_t below, above, all;
    if (!tesela__mul(terms[k].less, terms[k].coefficient, &below) ||
        !tesela__add(s.below[k + 1], below, &s.below[k]) ||
        !tesela__mul(terms[k].more, terms[k].coefficient, &above) ||
        !tesela__add(s.above[k + 1], above, &s.above[k]) || !tesela__add(s.below[k], s.above[k], &all) ||
        all > INT64_MAX / 4)
      return DMA_MEET_UNKNOWN;
    s.divisor[k] = tesela__gcd(s.divisor[k + 1], terms[k].coefficient);
    if (terms[k].less > 0 || terms[k].more > 0)
      apart &= terms[k].coefficient > tesela__max(s.below[k + 1], s.above[k + 1]);
  }
  if (apart) return DMA_MEET_NO;
  if (target > INT64_MAX / 4 || target < -(INT64_MAX / 4)) return DMA_MEET_UNKNOWN;
  return dma_find(&s, 0, target, false);
}

static tesela_status dma_refuse_places(dma_meeting meet, tesela_error *err) {
  if (meet == DMA_MEET_NO) return TESELA_OK;
  return tesela__fail(
      err, TESELA_E_UNSUPPORTED, -1,
      meet == DMA_MEET_YES
          ? "two elements have the same place on the device"
          : "cannot decide whether two elements have the same place: device strides interleave");
}

/* A quick check over the digits that occur, then all pairs of boxes. */
tesela_status tesela__dma_check_device(const tesela__dma_digit_list *digits, const tesela__dma_boxes *all,
                                       tesela_error *err) {
  dma_term term[TESELA__DMA_CHAINS];
  int64_t budget = 1 << 14;
  int32_t n = digits->n;
  for (int32_t k = 0; k < n; k++) {
    int64_t least = INT64_MAX, most = 0;
    for (size_t i = 0; i < all->n; i++) {
      const int64_t *box = tesela__dma_box(all, i);
      least = tesela__min(least, box[k]);
      most = tesela__max(most, box[k] + box[n + k] - 1);
    }
    if (all->n == 0) least = 0;
    term[k] = (dma_term){digits->digit[k].device, most - least, most - least};
  }
  dma_meeting meet = dma_meet(n, term, 0, &budget);
  if (meet == DMA_MEET_NO || all->n == 1) return dma_refuse_places(meet, err);
  budget = 1 << 20;
  for (size_t i = 0; i < all->n; i++)
    for (size_t j = i; j < all->n; j++) {
      const int64_t *x = tesela__dma_box(all, i), *y = tesela__dma_box(all, j);
      int64_t apart = 0; /* place of the first element of y, minus that of x */
      for (int32_t k = 0; k < n; k++) {
        apart += (y[k] - x[k]) * digits->digit[k].device;
        term[k] = (dma_term){digits->digit[k].device, y[n + k] - 1, x[n + k] - 1};
      }
      meet = i != j && apart == 0 ? DMA_MEET_YES : dma_meet(n, term, apart, &budget);
      if (--budget < 0 && meet == DMA_MEET_NO) meet = DMA_MEET_UNKNOWN;
      if (meet != DMA_MEET_NO) return dma_refuse_places(meet, err);
    }
  return TESELA_OK;
}

/* Check that no element of the host tensor is written twice. */
tesela_status tesela__dma_check_host(const tesela__dma_digit_list *digits, tesela_error *err) {
  dma_term term[TESELA__DMA_CHAINS];
  int64_t budget = 1 << 20;
  int32_t n = 0;
  for (int32_t c = 0; c < digits->n_chains; c++) {
    const tesela__dma_chain *chain = &digits->chain[c];
    int64_t unit = chain->unit < 0 ? -chain->unit : chain->unit; /* fits: hi - lo >= 2 times it does */
    if (unit == 0)
      return tesela__fail(
          err, TESELA_E_UNSUPPORTED, -1,
          "to host: %" PRId64
          " elements share a place because a host stride is 0; read into a tensor without broadcast dims",
          chain->hi - chain->lo);
    term[n++] = (dma_term){unit, chain->hi - chain->lo - 1, chain->hi - chain->lo - 1};
  }
  dma_meeting meet = dma_meet(n, term, 0, &budget);
  if (meet == DMA_MEET_NO) return TESELA_OK;
  return tesela__fail(
      err, TESELA_E_UNSUPPORTED, -1,
      meet == DMA_MEET_YES
          ? "to host: two elements share a place because of the host strides"
          : "to host: cannot decide whether two elements share a place: host strides interleave");
}
