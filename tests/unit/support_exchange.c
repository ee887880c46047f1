/* SPDX-License-Identifier: Apache-2.0 */
/*
 * support_exchange.c - see support_exchange.h.
 *
 * A pair is made of digits: factors of the dims, in random order. Each side makes some digits threads of the warp, some
 * threads beyond it, and the rest registers. For "the same warps" the digits beyond the warp are the same on both
 * sides.
 */
#include "support_exchange.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

int64_t exchange_below(exchange_random *r, int64_t n) {
  r->state = r->state * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
  uint64_t x = r->state ^ r->state >> 29;
  return (int64_t)((x * UINT64_C(0xbf58476d1ce4e5b9) >> 33) % (uint64_t)n);
}

int64_t exchange_element(const tesela_register *layout, int64_t thread, int64_t local) {
  int64_t digit[TESELA_REGISTER_MODES] = {0}, number = 0;
  for (int32_t i = layout->n_spatial - 1; i >= 0; i--) {
    int64_t m = layout->spatial_modes[i], extent = m < 0 ? -m : layout->mode_shape[m];
    if (m >= 0) digit[m] = thread % extent;
    thread /= extent;
  }
  for (int32_t i = layout->n_local - 1; i >= 0; i--) {
    int32_t m = layout->local_modes[i];
    digit[m] = local % layout->mode_shape[m];
    local /= layout->mode_shape[m];
  }
  for (int32_t m = 0; m < layout->n_modes; m++) number = number * layout->mode_shape[m] + digit[m];
  return number;
}

/* ---- random pairs ------------------------------------------------------------------------------------------- */

enum { DIGITS = 14 };

typedef struct digits {
  int32_t rank, n;
  int64_t shape[3], mode[DIGITS];
} digits;

static void draw_digits(exchange_random *r, bool powers, digits *d) {
  static const int64_t primes[] = {2, 2, 2, 3, 2, 5, 2, 3};
  d->rank = (int32_t)exchange_below(r, 3) + 1;
  d->n = 0;
  int64_t all = 1;
  for (int32_t k = 0; k < d->rank; k++) {
    d->shape[k] = 1;
    int64_t n = exchange_below(r, 10 / d->rank + 1);
    for (int64_t i = 0; i < n && d->n < DIGITS; i++) {
      int64_t p = powers ? 2 : primes[exchange_below(r, 8)];
      if (all * p > 1024) break;
      all *= p;
      d->shape[k] *= p;
      d->mode[d->n++] = p;
    }
  }
}

static void mix(exchange_random *r, int32_t *list, int32_t n) {
  for (int32_t i = n - 1; i > 0; i--) {
    int32_t k = (int32_t)exchange_below(r, i + 1), keep = list[i];
    list[i] = list[k];
    list[k] = keep;
  }
}

static void build(tesela_register *out, const digits *d, int32_t n_spatial, const int64_t *spatial,
                  int32_t n_local, const int32_t *local) {
  int64_t wide[DIGITS];
  tesela_error err;
  for (int32_t i = 0; i < n_local; i++) wide[i] = local[i];
  if (tesela_register_make_raw(out, d->rank, d->shape, d->n, d->mode, n_spatial, spatial, n_local, wide,
                               &err) != TESELA_OK) {
    printf("a random layout was refused: %s\n", err.message);
    abort();
  }
}

/* One side: digits 0 .. outer-1 of `order` are threads beyond the warp, in this order. Others are random threads of the
 * warp, up to `warp` of them, with `replicas`, or registers. `fill`: exactly `warp` threads. */
static void draw_side(exchange_random *r, const digits *d, const int32_t *order, int32_t outer, int64_t warp,
                      bool replicas, bool fill, tesela_register *out) {
  int32_t rest[DIGITS], local[DIGITS], n_rest = 0, n_local = 0, n_spatial = 0;
  int64_t spatial[2 * DIGITS + 8], threads = 1;
  for (int32_t i = 0; i < outer; i++) spatial[n_spatial++] = order[i];
  for (int32_t i = outer; i < d->n; i++) rest[n_rest++] = order[i];
  mix(r, rest, n_rest);
  for (int32_t i = 0; i < n_rest; i++) {
    int64_t p = d->mode[rest[i]];
    if (replicas && exchange_below(r, 4) == 0) {
      int64_t n = exchange_below(r, 3) + 1;
      if (warp % (threads * n) == 0) {
        threads *= n;
        spatial[n_spatial++] = -n;
      }
    }
    if (warp % (threads * p) == 0 && exchange_below(r, 3) > 0) {
      threads *= p;
      spatial[n_spatial++] = rest[i];
    } else {
      local[n_local++] = rest[i];
    }
  }
  mix(r, local, n_local);
  if ((fill || replicas) && threads < warp && warp % threads == 0) {
    int64_t at = outer + exchange_below(r, n_spatial - outer + 1);
    memmove(spatial + at + 1, spatial + at, (size_t)(n_spatial - at) * sizeof *spatial);
    spatial[at] = -(warp / threads);
    n_spatial++;
  }
  build(out, d, n_spatial, spatial, n_local, local);
}

void exchange_pair(exchange_random *r, int32_t warp, tesela_register *dst, tesela_register *src) {
  static const int64_t blocks[] = {1, 2, 6, 24, 32, 33, 48, 64, 96, 120, 128, 256};
  digits d;
  int32_t order[DIGITS];
  bool powers = exchange_below(r, 2), replicas = exchange_below(r, 3) == 0;
  draw_digits(r, powers, &d);
  for (int32_t i = 0; i < d.n; i++) order[i] = i;
  mix(r, order, d.n);
  int64_t like = exchange_below(r, 4);
  if (like == 0) { /* unrelated, blocks of other sizes */
    draw_side(r, &d, order, 0, blocks[exchange_below(r, 12)], replicas, false, src);
    draw_side(r, &d, order, 0, blocks[exchange_below(r, 12)], replicas, false, dst);
  } else if (like == 1) { /* the same threads, registers in another order */
    draw_side(r, &d, order, 0, blocks[exchange_below(r, 12)], replicas, false, src);
    *dst = *src;
    mix(r, dst->local_modes, dst->n_local);
  } else { /* the same warps */
    int32_t outer = (int32_t)exchange_below(r, d.n < 4 ? d.n + 1 : 4);
    int64_t lanes = outer == 0 && exchange_below(r, 2) ? blocks[exchange_below(r, 5)] : warp;
    draw_side(r, &d, order, outer, lanes, replicas, true, src);
    draw_side(r, &d, order, outer, lanes, replicas, true, dst);
  }
}

/* ---- values --------------------------------------------------------------------------------------------------- */

unsigned char *exchange_values(const tesela_register *layout, int32_t bits, size_t *bytes) {
  size_t element = (size_t)(bits + 7) / 8;
  *bytes = (size_t)(layout->spatial_size * layout->local_size) * element;
  unsigned char *values = malloc(*bytes + 1), *at = values;
  for (int64_t t = 0; t < layout->spatial_size; t++)
    for (int64_t l = 0; l < layout->local_size; l++) {
      uint64_t x = (uint64_t)exchange_element(layout, t, l) * UINT64_C(0x9e3779b97f4a7c15);
      x ^= x >> 31;
      for (size_t b = 0; b < element; b++) {
        if (b % 8 == 0) x = x * UINT64_C(0xbf58476d1ce4e5b9) + b;
        *at++ = (unsigned char)(x >> (56 - 8 * (b % 8)));
      }
    }
  return values;
}

tesela_status exchange_convert(const tesela_exchange *plan, const tesela_register *dst,
                               const tesela_register *src, int32_t bits, bool *right, tesela_error *err) {
  size_t n_src, n_dst;
  unsigned char *from = exchange_values(src, bits, &n_src), *want = exchange_values(dst, bits, &n_dst);
  unsigned char *got = malloc(n_dst);
  memset(got, 0xa5, n_dst);
  tesela_status status = tesela_exchange_run(plan, got, from, NULL, err);
  *right = memcmp(got, want, n_dst) == 0;
  free(from);
  free(want);
  free(got);
  return status;
}

/* ---- a plan, followed by its public answers ---------------------------------------------------------------------- */

/* Words of all threads: part k of word w of thread t is the element of its unit's first register, or -1. */
typedef struct follow_words {
  int64_t words, parts, *element;
} follow_words;

static int64_t *follow_part(const follow_words *w, int64_t thread, int64_t word, int64_t k) {
  return &w->element[(thread * w->words + word) * w->parts + k];
}

static follow_words follow_room(const tesela_exchange *plan) {
  tesela_exchange_facts facts = tesela_exchange_facts_of(plan);
  follow_words w = {facts.src_units > facts.dst_units ? facts.src_units : facts.dst_units, facts.parts, NULL};
  for (int64_t t = 0; t < facts.threads; t++) {
    tesela_exchange_phase p;
    tesela_exchange_phase_of(plan, 0, t, &p, NULL);
    for (int64_t i = 0; i < p.phases; i++) {
      tesela_exchange_phase_of(plan, i, t, &p, NULL);
      if (p.src_words > w.words) w.words = p.src_words;
      if (p.dst_words > w.words) w.words = p.dst_words;
    }
  }
  size_t n = (size_t)(facts.threads * w.words * w.parts);
  w.element = malloc(n * sizeof *w.element);
  memset(w.element, 0xff, n * sizeof *w.element);
  return w;
}

static int64_t follow_phases(const tesela_exchange *plan, int64_t thread) {
  tesela_exchange_phase p;
  tesela_exchange_phase_of(plan, 0, thread, &p, NULL);
  return p.phases;
}

/* The words of each thread: packed from the words of the previous phase, or units of dst after the last. */
static void follow_pack(const tesela_exchange *plan, int64_t phase, const follow_words *before,
                        follow_words *now) {
  tesela_exchange_facts facts = tesela_exchange_facts_of(plan);
  for (int64_t t = 0; t < facts.threads; t++) {
    int64_t phases = follow_phases(plan, t), at = phase < phases ? phase : phases, from, part;
    for (int64_t w = 0; w < now->words; w++)
      for (int64_t k = 0; k < now->parts; k++) {
        *follow_part(now, t, w, k) = -1;
        if (tesela_exchange_part_of(plan, at, t, w, k, &from, &part, NULL) == TESELA_OK && from >= 0)
          *follow_part(now, t, w, k) = *follow_part(before, t, from, part);
      }
  }
}

static void follow_copy(const follow_words *to, int64_t t, int64_t into, const follow_words *from,
                        int64_t other, int64_t word) {
  memcpy(follow_part(to, t, into, 0), follow_part(from, other, word, 0),
         (size_t)to->parts * sizeof *to->element);
}

static void follow_phase(const tesela_exchange *plan, int64_t phase, const follow_words *start,
                         follow_words *end) {
  tesela_exchange_facts facts = tesela_exchange_facts_of(plan);
  for (int64_t t = 0; t < facts.threads; t++) {
    int64_t kept;
    if (phase >= follow_phases(plan, t)) continue; /* its words stay while other warps continue */
    memset(follow_part(end, t, 0, 0), 0xff, (size_t)(end->words * end->parts) * sizeof *end->element);
    for (int64_t w = 0; tesela_exchange_kept_of(plan, phase, t, w, &kept, NULL) == TESELA_OK; w++)
      if (kept >= 0) follow_copy(end, t, w, start, t, kept);
    for (int64_t round = 0; round < facts.rounds; round++) {
      tesela_exchange_step mine, other;
      tesela_exchange_step_of(plan, round, t, &mine, NULL);
      if (mine.phase != phase || mine.into < 0) continue;
      tesela_exchange_step_of(plan, round, mine.from, &other, NULL);
      if (other.offer >= 0) follow_copy(end, t, mine.into, start, mine.from, other.offer);
    }
  }
}

static bool follow_is_right(const tesela_exchange *plan, const tesela_register *dst,
                            const follow_words *units) {
  tesela_exchange_facts facts = tesela_exchange_facts_of(plan);
  for (int64_t t = 0; t < dst->spatial_size; t++)
    for (int64_t u = 0; u < facts.dst_units; u++) {
      int64_t local;
      tesela_exchange_register_of(plan, false, u, 0, &local, NULL);
      if (*follow_part(units, t, u, 0) != exchange_element(dst, t, local)) return false;
    }
  return true;
}

bool exchange_follow(const tesela_exchange *plan, const tesela_register *dst, const tesela_register *src) {
  tesela_exchange_facts facts = tesela_exchange_facts_of(plan);
  if (facts.kind != TESELA_EXCHANGE_SHUFFLE) return true;
  follow_words ends = follow_room(plan), starts = follow_room(plan);
  for (int64_t t = 0; t < src->spatial_size; t++)
    for (int64_t u = 0; u < facts.src_units; u++) {
      int64_t local;
      tesela_exchange_register_of(plan, true, u, 0, &local, NULL);
      *follow_part(&ends, t, u, 0) = exchange_element(src, t, local);
    }
  for (int64_t phase = 0; phase < facts.phases; phase++) {
    follow_pack(plan, phase, &ends, &starts);
    follow_phase(plan, phase, &starts, &ends);
  }
  follow_pack(plan, facts.phases, &ends, &starts);
  bool right = follow_is_right(plan, dst, &starts);
  free(ends.element);
  free(starts.element);
  return right;
}

void exchange_layout(tesela_register *out, int32_t n, const int64_t *modes, int32_t n_spatial,
                     const int64_t *spatial, int32_t n_local, const int64_t *local) {
  int64_t elements = 1;
  tesela_error err;
  for (int32_t m = 0; m < n; m++) elements *= modes[m];
  if (tesela_register_make_raw(out, 1, &elements, n, modes, n_spatial, spatial, n_local, local, &err) ==
      TESELA_OK)
    return;
  printf("a layout of a test was refused: %s\n", err.message);
  abort();
}

static int text_side(char *at, size_t room, const tesela_register *layout) {
  int n = snprintf(at, room, "shape[");
  for (int32_t i = 0; i < layout->rank; i++)
    n += snprintf(at + n, room - (size_t)n, "%s%" PRId64, i ? "," : "", layout->shape[i]);
  n += snprintf(at + n, room - (size_t)n, "] modes[");
  for (int32_t i = 0; i < layout->n_modes; i++)
    n += snprintf(at + n, room - (size_t)n, "%s%" PRId64, i ? "," : "", layout->mode_shape[i]);
  n += snprintf(at + n, room - (size_t)n, "] spatial[");
  for (int32_t i = 0; i < layout->n_spatial; i++)
    n += snprintf(at + n, room - (size_t)n, "%s%" PRId64, i ? "," : "", layout->spatial_modes[i]);
  n += snprintf(at + n, room - (size_t)n, "] local[");
  for (int32_t i = 0; i < layout->n_local; i++)
    n += snprintf(at + n, room - (size_t)n, "%s%" PRId32, i ? "," : "", layout->local_modes[i]);
  return n + snprintf(at + n, room - (size_t)n, "]");
}

const char *exchange_text(const tesela_register *dst, const tesela_register *src, int32_t bits) {
  static char text[2048];
  int n = snprintf(text, sizeof text, "%" PRId32 " bits, src ", bits);
  n += text_side(text + n, sizeof text - (size_t)n, src);
  n += snprintf(text + n, sizeof text - (size_t)n, " dst ");
  text_side(text + n, sizeof text - (size_t)n, dst);
  return text;
}
