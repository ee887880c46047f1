/* SPDX-License-Identifier: Apache-2.0 */
/*
 * register_modes.c - is a table a register layout? And fingerprints of tables.
 *
 * A table has modes if every dim splits into digits that each add a fixed step to the thread or to the local id, the
 * steps of the local digits are 1, n1, n1*n2, .. up to the local size, and those of the spatial digits are the same
 * with gaps, which are the replicas. All orders of prime factors are tried; the exhaustive tests compare the answer
 * with a list of all register layouts.
 */
#include <stdlib.h>
#include <string.h>

#include "register_oracle.h"

typedef struct digit {
  int64_t extent, step;
  bool spatial;
} digit;

typedef struct digits {
  int32_t n;
  digit digit[LISTS_MOST];
} digits;

/* The contribution to the thread of an index that is 0 in all dims except one. */
static int64_t thread_at(const relation *r, int64_t element) { return r->thread[element * r->copies]; }

/* Do values unit .. p*unit-1 of the dim repeat the first `unit` ones with a fixed step? */
static bool goes_on(const relation *r, int64_t stride, int64_t unit, int64_t p) {
  int64_t thread = thread_at(r, unit * stride), local = r->local[unit * stride];
  if ((thread == 0) == (local == 0)) return false;
  for (int64_t v = 1; v < p; v++)
    for (int64_t w = 0; w < unit; w++) {
      int64_t at = (v * unit + w) * stride;
      if (thread_at(r, at) != v * thread + thread_at(r, w * stride)) return false;
      if (r->local[at] != v * local + r->local[w * stride]) return false;
    }
  return true;
}

/* Split a dim from value `unit` on into digits; any remaining prime factor can be next. */
static bool take_apart(const relation *r, int64_t stride, int64_t unit, int64_t extent, digits *found) {
  if (unit == extent) return true;
  int64_t left = extent / unit;
  for (int64_t p = 2; p <= left; p++) {
    if (left % p != 0) continue;
    bool prime = true;
    for (int64_t f = 2; f * f <= p; f++) prime = prime && p % f != 0;
    if (!prime || !goes_on(r, stride, unit, p)) continue;
    int64_t thread = thread_at(r, unit * stride), local = r->local[unit * stride];
    found->digit[found->n++] = (digit){p, thread ? thread : local, thread != 0};
    if (take_apart(r, stride, unit * p, extent, found)) return true;
    found->n--;
  }
  return false;
}

static int by_step(const void *a, const void *b) {
  int64_t x = ((const digit *)a)->step, y = ((const digit *)b)->step;
  return (x > y) - (x < y);
}

/* Is each element the sum over its dims? And are its threads those of element 0, shifted? */
static bool adds_up(const relation *r) {
  for (int64_t x = 0; x < r->elements; x++) {
    int64_t rest = x, stride = 1, thread = 0, local = 0;
    for (int32_t d = r->rank - 1; d >= 0; d--) {
      int64_t at = rest % r->shape[d] * stride;
      thread += thread_at(r, at);
      local += r->local[at];
      rest /= r->shape[d];
      stride *= r->shape[d];
    }
    if (thread != thread_at(r, x) || local != r->local[x]) return false;
    for (int64_t k = 0; k < r->copies; k++)
      if (r->thread[x * r->copies + k] - thread != r->thread[k]) return false;
  }
  return true;
}

/* Local digits must leave no gap, and spatial ones exactly the replicas as gaps. */
static bool fills(const relation *r, const digits *found) {
  int64_t locals = 1, threads = 1, copies = 1;
  digit gap[LISTS_MOST];
  int32_t gaps = 0;
  for (int32_t i = 0; i < found->n; i++) {
    const digit *d = &found->digit[i];
    if (!d->spatial) {
      if (d->step != locals) return false;
      locals *= d->extent;
      continue;
    }
    if (d->step % threads != 0) return false;
    gap[gaps++] = (digit){d->step / threads, threads, true};
    threads = d->step * d->extent;
  }
  if (locals != r->locals || r->threads % threads != 0) return false;
  gap[gaps++] = (digit){r->threads / threads, threads, true};
  for (int32_t i = 0; i < gaps; i++) copies *= gap[i].extent;
  if (copies != r->copies) return false;
  for (int64_t k = 0; k < copies; k++) {
    int64_t rest = k, thread = 0;
    for (int32_t i = 0; i < gaps; i++) {
      thread += rest % gap[i].extent * gap[i].step;
      rest /= gap[i].extent;
    }
    if (thread != r->thread[k]) return false; /* gaps are sorted by step, so threads ascend */
  }
  return true;
}

bool relation_has_modes(const relation *r) {
  digits found = {.n = 0};
  int64_t stride = 1;
  if (r->local[0] != 0 || r->thread[0] != 0) return false;
  for (int32_t d = r->rank - 1; d >= 0; d--) {
    if (!take_apart(r, stride, 1, r->shape[d], &found)) return false;
    stride *= r->shape[d];
  }
  qsort(found.digit, (size_t)found.n, sizeof found.digit[0], by_step);
  return adds_up(r) && fills(r, &found);
}

bool relation_covers(const relation *have, const relation *need) {
  for (int64_t x = 0; x < need->elements; x++)
    for (int64_t k = 0; k < need->copies; k++) {
      bool there = false;
      for (int64_t j = 0; j < have->copies && !there; j++)
        there = have->thread[x * have->copies + j] == need->thread[x * need->copies + k];
      if (!there) return false;
    }
  return true;
}

static uint64_t fnv_word(uint64_t hash, uint32_t word) {
  for (int byte = 0; byte < 4; byte++) {
    hash ^= word >> (8 * byte) & 0xff;
    hash *= UINT64_C(0x100000001b3);
  }
  return hash;
}

uint64_t relation_fnv(const relation *r) {
  uint64_t hash = UINT64_C(0xcbf29ce484222325);
  for (int64_t x = 0; x < r->elements; x++) {
    hash = fnv_word(hash, (uint32_t)r->copies);
    for (int64_t k = 0; k < r->copies; k++) hash = fnv_word(hash, (uint32_t)r->thread[x * r->copies + k]);
    hash = fnv_word(hash, (uint32_t)r->local[x]);
  }
  return hash;
}

static void mix(relation_print *print, uint64_t value) {
  for (int i = 0; i < 2; i++) {
    uint64_t z = (print->word[i] ^ value) * UINT64_C(0x9e3779b97f4a7c15) + (uint64_t)(i + 1);
    z = (z ^ z >> 29) * (i ? UINT64_C(0xbf58476d1ce4e5b9) : UINT64_C(0x94d049bb133111eb));
    print->word[i] = z ^ z >> 32;
  }
}

relation_print relation_fingerprint(const relation *r) {
  relation_print print = {{1, 2}};
  for (int32_t d = 0; d < r->rank; d++)
    if (r->shape[d] != 1) mix(&print, (uint64_t)r->shape[d]);
  mix(&print, 0);
  mix(&print, (uint64_t)r->threads);
  mix(&print, (uint64_t)r->locals);
  for (int64_t i = 0; i < r->elements * r->copies; i++) mix(&print, (uint64_t)r->thread[i]);
  for (int64_t i = 0; i < r->elements; i++) mix(&print, (uint64_t)r->local[i]);
  return print;
}
