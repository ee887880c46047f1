/* SPDX-License-Identifier: Apache-2.0 */
/*
 * dma_nest.c - nests as sets of (device, host) pairs: loops, joining two nests, and a proof that several cannot be one.
 *
 * Nests are more general than boxes of digits (dma_cut.c). Two nests join if their union is one nest:
 *
 *   the same loops                    always: one more loop, of 2, with their distance
 *   the same except one loop          if the second nest continues where that loop of the first ends
 *
 *   s8[7] in steps 6, 4, 2, 1 at strides 4, 2, 12, 1     places {2,3} of digit 4 and {4} of digit 6 are one loop of 3
 *
 * A nest is its own mirror image: with first place o and last place m it has o + m - s for each of its places s. So a
 * set of places that is not its own mirror image needs at least two nests, with any loops; only corners are tested.
 */
#include "device/dma.h"

enum { DMA_JOIN_NESTS = 768, DMA_SOURCES = 64, DMA_MEMBER_STEPS = 1 << 16 };

/* ---- loops ---- */

void tesela__dma_add_loop(tesela_nest *nest, int32_t at, int64_t range, int64_t device, int64_t host) {
  for (int32_t i = nest->n++; i > at; i--) {
    nest->range[i] = nest->range[i - 1];
    nest->device_stride[i] = nest->device_stride[i - 1];
    nest->host_stride[i] = nest->host_stride[i - 1];
  }
  nest->range[at] = range;
  nest->device_stride[at] = device;
  nest->host_stride[at] = host;
}

void tesela__dma_remove_loop(tesela_nest *nest, int32_t k) {
  nest->n--;
  for (; k < nest->n; k++) {
    nest->range[k] = nest->range[k + 1];
    nest->device_stride[k] = nest->device_stride[k + 1];
    nest->host_stride[k] = nest->host_stride[k + 1];
  }
}

void tesela__dma_sort_loop(tesela_nest *nest, int64_t range, int64_t device, int64_t host) {
  int32_t at = nest->n;
  while (at > 0 && nest->device_stride[at - 1] < device) at--;
  tesela__dma_add_loop(nest, at, range, device, host);
}

void tesela__dma_coalesce(tesela_nest *nest) {
  for (int32_t k = nest->n - 2; k >= 0; k--) {
    int64_t range = nest->range[k + 1], device, host;
    if (!tesela__mul(nest->device_stride[k + 1], range, &device) || device != nest->device_stride[k] ||
        !tesela__mul(nest->host_stride[k + 1], range, &host) || host != nest->host_stride[k])
      continue;
    nest->range[k + 1] *= nest->range[k]; /* fits: a number of elements */
    tesela__dma_remove_loop(nest, k);
  }
}

int64_t tesela__dma_elements(const tesela_nest *nest) {
  int64_t n = 1;
  for (int32_t k = 0; k < nest->n; k++) n *= nest->range[k];
  return n;
}

/* ---- joining ---- */

static bool dma_same_loop(const tesela_nest *a, int32_t i, const tesela_nest *b, int32_t k) {
  return a->range[i] == b->range[k] && a->device_stride[i] == b->device_stride[k] &&
         a->host_stride[i] == b->host_stride[k];
}

/* Are the loops of `b` those of `a`, except loop `less` of a and loop `more` of b? -1: no exception. */
static bool dma_same_loops(const tesela_nest *a, int32_t less, const tesela_nest *b, int32_t more) {
  if (a->n - (less >= 0) != b->n - (more >= 0)) return false;
  for (int32_t i = 0, k = 0; i < a->n && k < b->n; i++, k++) {
    i += i == less;
    k += k == more;
    if (i < a->n && k < b->n && !dma_same_loop(a, i, b, k)) return false;
  }
  return true;
}

/* Is b's start `times` iterations of loop k of `loops` after a's? */
static bool dma_after(const tesela_nest *a, const tesela_nest *b, const tesela_nest *loops, int32_t k,
                      int64_t times) {
  int64_t device, host;
  return tesela__mul(loops->device_stride[k], times, &device) &&
         tesela__mul(loops->host_stride[k], times, &host) && b->device_offset - a->device_offset == device &&
         b->host_offset - a->host_offset == host;
}

/* Extend `a` by `b`, at a higher place, if their loops differ in one and b continues where that loop of a ends; b has a
 * loop of the same strides there, or no loop. */
static bool dma_extend(tesela_nest *a, const tesela_nest *b) {
  for (int32_t k = 0; k < a->n; k++) {
    if (!dma_after(a, b, a, k, a->range[k])) continue;
    if (dma_same_loops(a, k, b, -1)) {
      a->range[k]++;
      return true;
    }
    for (int32_t i = 0; i < b->n; i++)
      if (a->device_stride[k] == b->device_stride[i] && a->host_stride[k] == b->host_stride[i] &&
          dma_same_loops(a, k, b, i)) {
        a->range[k] += b->range[i];
        return true;
      }
  }
  for (int32_t i = 0; i < b->n; i++) { /* a is the iteration before the first of b's loop */
    if (!dma_same_loops(a, -1, b, i) || !dma_after(a, b, b, i, 1)) continue;
    int64_t device = a->device_offset, host = a->host_offset;
    *a = *b;
    a->device_offset = device, a->host_offset = host;
    a->range[i]++;
    return true;
  }
  return false;
}

/* Make `a` the union of both if that is a nest. Offsets of both are in one tensor: their differences fit. */
static bool dma_join_two(tesela_nest *a, const tesela_nest *b) {
  tesela_nest low = a->device_offset < b->device_offset ? *a : *b;
  const tesela_nest *high = a->device_offset < b->device_offset ? b : a;
  if (dma_same_loops(&low, -1, high, -1) && low.n < TESELA_DEVICE_DIMS)
    tesela__dma_sort_loop(&low, 2, high->device_offset - low.device_offset,
                          high->host_offset - low.host_offset);
  else if (!dma_extend(&low, high))
    return false;
  tesela__dma_coalesce(&low);
  *a = low;
  return true;
}

bool tesela__dma_few(size_t n) { return n <= DMA_JOIN_NESTS; }

void tesela__dma_join_nests(tesela__dma_list *list) {
  for (bool again = list->n <= DMA_JOIN_NESTS; again;) {
    again = false;
    for (size_t i = 0; i < list->n; i++)
      for (size_t k = i + 1; k < list->n; k++) {
        if (!dma_join_two(&list->nest[i], &list->nest[k])) continue;
        list->n--;
        memmove(&list->nest[k], &list->nest[k + 1], (list->n - k) * sizeof *list->nest);
        again = true;
        k = i;
      }
  }
}

/* ---- a proof that one nest is not enough ---- */

/* Is (device, host), relative to the start of a nest, one of its elements? Loops in `done` are decided. True if
 * undecided. */
static bool dma_has(const tesela_nest *nest, uint64_t done, int64_t device, int64_t host, int64_t *steps) {
  int32_t largest = -1;
  int64_t reach = 0, part;
  if (device < 0) return false;
  for (int32_t k = 0; k < nest->n; k++)
    if (!(done >> k & 1) && nest->range[k] > 1) {
      reach += (nest->range[k] - 1) * nest->device_stride[k]; /* fits: a number of places */
      if (largest < 0 || nest->device_stride[k] > nest->device_stride[largest]) largest = k;
    }
  if (largest < 0 || device > reach) return device == 0 && host == 0;
  int64_t stride = nest->device_stride[largest], rest = reach - (nest->range[largest] - 1) * stride;
  int64_t first = device > rest ? tesela__ceil_div(device - rest, stride) : 0;
  int64_t last = tesela__min(device / stride, nest->range[largest] - 1);
  for (int64_t i = first; i <= last; i++) {
    if (--*steps < 0 || !tesela__sub(host, i * nest->host_stride[largest], &part)) return true;
    if (dma_has(nest, done | (uint64_t)1 << largest, device - i * stride, part, steps)) return true;
  }
  return false;
}

typedef struct dma_pair {
  int64_t device, host;
} dma_pair;

/* Is the mirror image of a pair outside all nests of the list? False if undecided. */
static bool dma_lacks(const tesela__dma_list *list, dma_pair ends, dma_pair of) {
  int64_t device, host, from_device, from_host, steps = DMA_MEMBER_STEPS;
  if (!tesela__sub(ends.device, of.device, &device) || !tesela__sub(ends.host, of.host, &host)) return false;
  for (size_t i = 0; i < list->n; i++) {
    const tesela_nest *nest = &list->nest[i];
    if (!tesela__sub(device, nest->device_offset, &from_device) ||
        !tesela__sub(host, nest->host_offset, &from_host) || dma_has(nest, 0, from_device, from_host, &steps))
      return false;
  }
  return true;
}

static dma_pair dma_last(const tesela_nest *nest) {
  dma_pair last = {nest->device_offset, nest->host_offset};
  for (int32_t k = 0; k < nest->n; k++) {
    last.device += (nest->range[k] - 1) * nest->device_stride[k];
    last.host += (nest->range[k] - 1) * nest->host_stride[k];
  }
  return last;
}

int32_t tesela__dma_least(const tesela__dma_list *list) {
  if (list->n < 2 || !tesela__dma_few(list->n)) return list->n > 0;
  dma_pair first = {list->nest[0].device_offset, list->nest[0].host_offset}, last = dma_last(list->nest);
  for (size_t i = 1; i < list->n; i++) {
    dma_pair end = dma_last(&list->nest[i]);
    if (list->nest[i].device_offset < first.device)
      first = (dma_pair){list->nest[i].device_offset, list->nest[i].host_offset};
    if (end.device > last.device) last = end;
  }
  dma_pair ends;
  if (!tesela__add(first.device, last.device, &ends.device) ||
      !tesela__add(first.host, last.host, &ends.host))
    return 1;
  for (size_t i = 0; i < list->n && i < DMA_SOURCES; i++) {
    const tesela_nest *nest = &list->nest[i];
    dma_pair start = {nest->device_offset, nest->host_offset};
    if (dma_lacks(list, ends, start) || dma_lacks(list, ends, dma_last(nest))) return 2;
    for (int32_t k = 0; k < nest->n; k++) {
      int64_t steps = nest->range[k] - 1;
      dma_pair corner = {start.device + steps * nest->device_stride[k],
                         start.host + steps * nest->host_stride[k]};
      if (dma_lacks(list, ends, corner)) return 2;
    }
  }
  return 1;
}
