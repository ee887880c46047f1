/* SPDX-License-Identifier: Apache-2.0 */
/*
 * dma_fewest.c - the fewest nests of few elements, with any strides, by trying all lists.
 *
 * Elements are (device, host) pairs, at most 64, sorted by place. The first remaining one starts a nest, as all device
 * strides are above 0. The nest grows loop by loop, by increasing strides, as long as all its elements remain; each of
 * its stages is tried, with further nests for the other elements. If only one more nest is allowed, it must contain all
 * remaining elements, which determines its next stride: the distance to the first element that its loops do not reach.
 *
 * Loops common to all nests are put aside first and restored at the end: fewer nests without them are fewer nests with
 * them, but not provably the fewest. With limits only nests that meet them count, and no loops are put aside.
 */
#include "device/dma.h"

#include <stdlib.h>

enum { FEWEST_ELEMENTS = 64, FEWEST_LOOPS = 6, FEWEST_STEPS = 1 << 16 };

typedef struct fewest_point {
  int64_t device, host;
  size_t nest; /* its number in the given list */
} fewest_point;

/* A nest from element `first`; loop k has `range[k]` iterations with the step from `first` to `to[k]`, innermost
 * first. */
typedef struct fewest_nest {
  int32_t first, n;
  int32_t to[FEWEST_LOOPS], range[FEWEST_LOOPS];
} fewest_nest;

typedef struct dma_fewest {
  const tesela_dma_limits *limits; /* NULL: no limits */
  int64_t bytes, steps;
  int32_t n, best, least; /* best: only lists with fewer nests count; least: stop at this number */
  bool found;
  fewest_point point[FEWEST_ELEMENTS];
  fewest_nest trial[FEWEST_ELEMENTS], list[FEWEST_ELEMENTS];
} dma_fewest;

/* The number of the element (device, host), or -1. */
static int32_t fewest_at(const dma_fewest *x, int64_t device, int64_t host) {
  int32_t low = 0, high = x->n;
  while (low < high) {
    int32_t middle = (low + high) / 2;
    if (x->point[middle].device < device)
      low = middle + 1;
    else
      high = middle;
  }
  return low < x->n && x->point[low].device == device && x->point[low].host == host ? low : -1;
}

/* A set moved by the distance from element a to element b; 0 if one of its elements would be outside. */
static uint64_t fewest_moved(dma_fewest *x, uint64_t set, int32_t a, int32_t b) {
  int64_t by_device = x->point[b].device - x->point[a].device, by_host, device, host;
  uint64_t moved = 0;
  if (!tesela__sub(x->point[b].host, x->point[a].host, &by_host)) return 0;
  for (; set; set &= set - 1) {
    const fewest_point *from = &x->point[__builtin_ctzll(set)];
    x->steps--;
    if (!tesela__add(from->device, by_device, &device) || !tesela__add(from->host, by_host, &host)) return 0;
    int32_t at = fewest_at(x, device, host);
    if (at < 0) return 0;
    moved |= (uint64_t)1 << at;
  }
  return moved;
}

static tesela_nest fewest_as_nest(const dma_fewest *x, const fewest_nest *trial) {
  const fewest_point *start = &x->point[trial->first];
  tesela_nest nest = {.device_offset = start->device, .host_offset = start->host};
  for (int32_t k = trial->n - 1; k >= 0; k--) {
    const fewest_point *to = &x->point[trial->to[k]];
    tesela__dma_add_loop(&nest, nest.n, trial->range[k], to->device - start->device, to->host - start->host);
  }
  return nest;
}

static bool fewest_done(const dma_fewest *x) { return x->steps < 0 || x->best <= x->least; }

static void fewest_cover(dma_fewest *x, uint64_t left, int32_t used);

/* Try nests that begin with the loops of trial[used], with elements `set`. `whole`: only nests of all remaining
 * elements. */
static void fewest_grow(dma_fewest *x, uint64_t left, uint64_t set, int32_t used, int32_t last, bool whole) {
  fewest_nest *trial = &x->trial[used];
  uint64_t rest = left & ~set, next = rest & ~(((uint64_t)2 << last) - 1);
  if (whole) next &= rest & -rest;
  for (; next && trial->n < FEWEST_LOOPS; next &= next - 1) {
    int32_t to = __builtin_ctzll(next), k = trial->n++;
    uint64_t all = set, more = set;
    trial->to[k] = to;
    for (trial->range[k] = 2; (more = fewest_moved(x, more, trial->first, to)) != 0; trial->range[k]++) {
      if ((more & ~left) || (more & all)) break;
      all |= more;
      fewest_grow(x, left, all, used, to, whole);
      if (fewest_done(x)) return;
    }
    trial->n--;
  }
  if (whole && left != set) return;
  if (x->limits) {
    tesela_nest nest = fewest_as_nest(x, trial);
    if (!tesela__dma_keeps(&nest, x->limits, x->bytes)) return;
  }
  fewest_cover(x, left & ~set, used + 1);
}

/* Cover the remaining elements with nests from number `used` on. Recursion depth: nests times loops. */
static void fewest_cover(dma_fewest *x, uint64_t left, int32_t used) {
  if (!left) {
    memcpy(x->list, x->trial, (size_t)used * sizeof *x->list);
    x->best = used, x->found = true;
    return;
  }
  if (fewest_done(x) || used + 1 >= x->best) return;
  int32_t first = __builtin_ctzll(left);
  x->trial[used].first = first, x->trial[used].n = 0;
  fewest_grow(x, left, left & -left, used, first, used + 2 == x->best);
}

/* ---- to elements and back ---- */

static int fewest_by_place(const void *x, const void *y) {
  int64_t a = ((const fewest_point *)x)->device, b = ((const fewest_point *)y)->device;
  return (a > b) - (a < b);
}

/* The elements of a list; false for too many. */
static bool fewest_points(dma_fewest *x, const tesela__dma_list *list) {
  for (size_t i = 0; i < list->n; i++) {
    const tesela_nest *nest = &list->nest[i];
    int64_t index[FEWEST_ELEMENTS] = {0};
    bool more = true;
    while (more) {
      fewest_point at = {nest->device_offset, nest->host_offset, i};
      if (x->n == FEWEST_ELEMENTS) return false;
      for (int32_t k = 0; k < nest->n; k++) {
        at.device += index[k] * nest->device_stride[k];
        at.host += index[k] * nest->host_stride[k];
      }
      x->point[x->n++] = at;
      int32_t k = nest->n - 1;
      while (k >= 0 && ++index[k] == nest->range[k]) index[k--] = 0;
      more = k >= 0;
    }
  }
  qsort(x->point, (size_t)x->n, sizeof *x->point, fewest_by_place);
  return true;
}

static int32_t fewest_loop(const tesela_nest *nest, const tesela_nest *of, int32_t k) {
  for (int32_t i = 0; i < nest->n; i++)
    if (nest->range[i] == of->range[k] && nest->device_stride[i] == of->device_stride[k] &&
        nest->host_stride[i] == of->host_stride[k])
      return i;
  return -1;
}

/* Move the loops common to all nests of a list to `aside`. */
static void fewest_put_aside(tesela__dma_list *list, tesela_nest *aside) {
  for (int32_t k = list->nest[0].n - 1; k >= 0; k--) {
    const tesela_nest *first = &list->nest[0];
    bool all = true;
    for (size_t i = 1; i < list->n && all; i++) all = fewest_loop(&list->nest[i], first, k) >= 0;
    if (!all) continue;
    tesela__dma_sort_loop(aside, first->range[k], first->device_stride[k], first->host_stride[k]);
    for (size_t i = list->n; i-- > 0;)
      tesela__dma_remove_loop(&list->nest[i], fewest_loop(&list->nest[i], &list->nest[0], k));
  }
}

static void fewest_put_back(tesela__dma_list *list, const tesela_nest *aside) {
  for (size_t i = 0; i < list->n; i++) {
    for (int32_t k = 0; k < aside->n; k++)
      tesela__dma_sort_loop(&list->nest[i], aside->range[k], aside->device_stride[k], aside->host_stride[k]);
    tesela__dma_coalesce(&list->nest[i]);
  }
}

/* The first given nest that shares an element with a found nest. */
static size_t fewest_origin(const dma_fewest *x, const tesela_nest *nest) {
  size_t least = SIZE_MAX;
  int64_t index[FEWEST_LOOPS] = {0};
  for (bool more = true; more;) {
    int64_t device = nest->device_offset, host = nest->host_offset;
    for (int32_t k = 0; k < nest->n; k++)
      device += index[k] * nest->device_stride[k], host += index[k] * nest->host_stride[k];
    size_t origin = x->point[fewest_at(x, device, host)].nest;
    if (origin < least) least = origin;
    int32_t k = nest->n - 1;
    while (k >= 0 && ++index[k] == nest->range[k]) index[k--] = 0;
    more = k >= 0;
  }
  return least;
}

/* Replace the list by the found one, sorted by the first given nest that shares an element. */
static tesela_status fewest_replace(const dma_fewest *x, tesela__dma_list *list, tesela_error *err) {
  size_t origin[FEWEST_ELEMENTS];
  list->n = 0;
  for (int32_t i = 0; i < x->best; i++) {
    tesela_nest nest = fewest_as_nest(x, &x->list[i]);
    size_t from = fewest_origin(x, &nest), at = (size_t)i;
    if (!x->limits) tesela__dma_coalesce(&nest);
    tesela_status status = tesela__dma_add(list, &nest, err);
    if (status != TESELA_OK) return status;
    for (; at > 0 && origin[at - 1] > from; at--)
      origin[at] = origin[at - 1], list->nest[at] = list->nest[at - 1];
    origin[at] = from, list->nest[at] = nest;
  }
  return TESELA_OK;
}

bool tesela__dma_is_small(const tesela__dma_list *list) {
  int64_t n = 0;
  for (size_t i = 0; i < list->n && n <= FEWEST_ELEMENTS; i++) {
    int64_t elements = tesela__dma_elements(&list->nest[i]);
    n += tesela__min(elements, FEWEST_ELEMENTS + 1);
  }
  return n <= FEWEST_ELEMENTS;
}

tesela_status tesela__dma_fewest(tesela__dma_list *list, bool *kept, int32_t *least,
                                 const tesela_dma_limits *limits, int64_t bytes, tesela_error *err) {
  tesela_nest aside = {0};
  tesela_status status = TESELA_OK;
  if (list->n > FEWEST_ELEMENTS || (*kept && (int64_t)list->n <= *least)) return TESELA_OK;
  dma_fewest *x = tesela__alloc(list->allocator, sizeof *x, alignof(dma_fewest));
  if (!x) return tesela__fail(err, TESELA_E_MEMORY, -1, "no memory for %zu bytes", sizeof *x);
  x->limits = limits, x->bytes = bytes, x->steps = FEWEST_STEPS;
  x->n = 0, x->found = false;
  x->best = (int32_t)list->n, x->least = *least;
  if (!limits) fewest_put_aside(list, &aside);
  if (fewest_points(x, list)) {
    uint64_t all = x->n == FEWEST_ELEMENTS ? ~(uint64_t)0 : ((uint64_t)1 << x->n) - 1;
    if (!*kept) x->best = x->n + 1;
    fewest_cover(x, all, 0);
    if (x->found) status = fewest_replace(x, list, err);
    *kept |= x->found;
    if (x->steps >= 0 && aside.n == 0 && *kept) *least = x->best;
  }
  if (!limits) fewest_put_back(list, &aside);
  tesela__release(list->allocator, x);
  return status;
}
