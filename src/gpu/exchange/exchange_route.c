/* SPDX-License-Identifier: Apache-2.0 */
/*
 * exchange_route.c - routes of narrow units: which units share a word, and through which lanes they go.
 *
 * A word has room for several units. If a lane needs less than a word from each of many lanes, words are partly empty.
 * Two phases avoid that: a unit of lane s for lane j goes through the lane with some digits of s and the other digits
 * of j. So lanes that differ only in some digits gather units for the same lanes (or distribute units for all of them).
 *
 *   local(32,1).spatial(1,32) to spatial(32,1).local(1,32), f16: lane s has one unit for each lane j. First through the
 *   lane with bits 1 to 4 of s and bit 0 of j: 8 words to lane ^ 1. Then two units to each of 15 lanes: 23 rounds.
 *
 * Each phase can be split again. The cost of a phase is estimated as the most words that a lane takes or offers, which
 * is the number of rounds if every word is for one lane (exchange_rounds.c). If a lane offers to many lanes, these can
 * also take the same words and use different parts of them.
 */
#include "gpu/exchange/exchange.h"

/* The intermediate lane of a route: some digits of one lane and the rest of the other. */
typedef struct route_way {
  int32_t mask;         /* the bits of the second lane; 0: see step */
  int32_t step, extent; /* the digit of the second lane: lane / step % extent */
  bool flip;            /* exchange the two lanes */
} route_way;

static int32_t route_between(const route_way *way, int32_t a, int32_t b) {
  int32_t x = way->flip ? b : a, y = way->flip ? a : b;
  if (way->mask) return (x & ~way->mask) | (y & way->mask);
  return x + (y / way->step % way->extent - x / way->step % way->extent) * way->step;
}

/* ---- the cost of a phase ---------------------------------------------------------------------------------------- */

typedef struct tesela__route_cost {
  int32_t units[TESELA__LANES][TESELA__LANES];  /* [from][to]; lanes that share words count as the first */
  uint64_t which[TESELA__LANES][TESELA__LANES]; /* hashes of these units: equal words have equal hashes */
  int32_t seen[TESELA__LANES], given[TESELA__LANES], group[TESELA__LANES];
  bool copies; /* one unit goes to several lanes */
} route_cost;

static void route_count(route_cost *c, int32_t unit, int32_t from, int32_t to, int32_t group) {
  if (c->seen[to] == unit) return;
  c->seen[to] = unit;
  if (from == to) return;
  if (c->given[from] == unit) c->copies = true;
  c->given[from] = unit;
  if (c->group[group] == unit) return; /* lanes that share words get it from the same lane */
  c->group[group] = unit;
  c->units[from][group]++;
  uint64_t x = (uint64_t)(unit + 1) * UINT64_C(0x9e3779b97f4a7c15);
  c->which[from][group] += (x ^ x >> 31) * UINT64_C(0xbf58476d1ce4e5b9);
}

/* The most words that a lane offers, and the most that one takes. */
typedef struct route_most {
  int64_t offers, takes;
} route_most;

static route_most route_words(const tesela__route *r, const route_cost *c) {
  int64_t takes[TESELA__LANES] = {0};
  route_most most = {0, 0};
  for (int32_t from = 0; from < r->lanes; from++) {
    int64_t offers = 0;
    for (int32_t to = 0; to < r->lanes; to++) {
      if (c->units[from][to] == 0) continue;
      int64_t words = (c->units[from][to] + r->parts - 1) / r->parts;
      takes[to] += words;
      int32_t first = c->copies ? 0 : to; /* the first lane that takes the same words */
      while (c->which[from][first] != c->which[from][to]) first++;
      if (first == to) offers += words;
    }
    most.offers = tesela__max(most.offers, offers);
  }
  for (int32_t to = 0; to < r->lanes; to++) most.takes = tesela__max(most.takes, takes[to]);
  return most;
}

static int64_t route_rounds(const tesela__route *r, const route_cost *c) {
  route_most most = route_words(r, c);
  return tesela__max(most.offers, most.takes);
}

static void route_clear(route_cost *c, int32_t lanes) {
  for (int32_t lane = 0; lane < lanes; lane++) {
    memset(c->units[lane], 0, (size_t)lanes * sizeof c->units[lane][0]);
    memset(c->which[lane], 0, (size_t)lanes * sizeof c->which[lane][0]);
    c->seen[lane] = c->given[lane] = c->group[lane] = -1;
  }
  c->copies = false;
}

static route_most route_phase(const tesela__route *r, int32_t phase, int32_t shared) {
  route_cost *c = r->cost;
  route_clear(c, r->lanes);
  for (int64_t i = 0; i < r->n_takes; i++) {
    const tesela__route_take *t = &r->take[i];
    int32_t to = t->lane[phase + 1];
    route_count(c, t->unit, t->lane[phase], to, to & ~shared);
  }
  return route_words(r, c);
}

/* If a lane offers more words than any takes, let lanes that differ only in some bits share words: choose the bits with
 * the fewest rounds. Returns the rounds. */
static int64_t route_share(tesela__route *r, int32_t phase) {
  route_most most = route_phase(r, phase, 0);
  int64_t rounds = tesela__max(most.offers, most.takes);
  int32_t all = 1;
  r->shared[phase] = 0;
  if (most.offers <= most.takes) return rounds;
  while (all < r->lanes) all *= 2;
  for (int32_t shared = all - 1; shared > 0; shared--) {
    most = route_phase(r, phase, shared);
    if (tesela__max(most.offers, most.takes) >= rounds) continue;
    rounds = tesela__max(most.offers, most.takes);
    r->shared[phase] = (uint8_t)shared;
  }
  return rounds;
}

/* ---- splitting a phase ------------------------------------------------------------------------------------------- */

/* The intermediate lane of a take. *from is the lane it takes the unit from: itself if it holds the unit in src. */
static int32_t route_middle(const tesela__route *r, const route_way *way, const uint8_t *target,
                            int32_t phase, const tesela__route_take *t, int32_t *from) {
  const tesela__warp_program *w = r->w;
  *from = t->lane[phase];
  if (*from == t->lane[phase + 1]) return *from;
  int32_t middle = route_between(way, *from, target[t->lane[phase + 1]]);
  if (phase == 0 && middle < w->src_lanes && w->src_class[middle] == w->src_class[*from]) *from = middle;
  return middle;
}

static int64_t route_parted(const tesela__route *r, int32_t phase, const route_way *way,
                            const uint8_t *target, int64_t less_than) {
  route_cost *c = r->cost;
  route_clear(&c[0], r->lanes);
  route_clear(&c[1], r->lanes);
  for (int64_t i = 0; i < r->n_takes; i++) {
    const tesela__route_take *t = &r->take[i];
    int32_t from, to = t->lane[phase + 1], middle = route_middle(r, way, target, phase, t, &from);
    route_count(&c[0], t->unit, from, middle, middle);
    route_count(&c[1], t->unit, middle, to, to);
  }
  int64_t first = route_rounds(r, &c[0]);
  return first >= less_than ? first : first + route_rounds(r, &c[1]);
}

static void route_part(tesela__route *r, int32_t phase, const route_way *way, const uint8_t *target) {
  for (int64_t i = 0; i < r->n_takes; i++) {
    tesela__route_take *t = &r->take[i];
    int32_t from, middle = route_middle(r, way, target, phase, t, &from);
    for (int32_t k = r->n_phases + 1; k > phase + 1; k--) t->lane[k] = t->lane[k - 1];
    t->lane[phase] = (uint8_t)from;
    t->lane[phase + 1] = (uint8_t)middle;
  }
  r->n_phases++;
}

/* ---- the choice ------------------------------------------------------------------------------------------------- */

typedef struct route_best {
  route_way way;
  int32_t phase;
  bool turned; /* use the target lanes of the linear pattern */
  int64_t gain;
} route_best;

typedef struct route_search {
  tesela__route *r;
  int64_t cost[TESELA__ROUTE_LANES];
  uint8_t same[TESELA__LANES], turned[TESELA__LANES];
  bool may_turn;
  route_best best;
} route_search;

static void route_try(route_search *s, int32_t phase, const route_way *way) {
  for (int turned = 0; turned <= (s->may_turn && phase + 1 == s->r->n_phases); turned++) {
    int64_t cost = route_parted(s->r, phase, way, turned ? s->turned : s->same, s->cost[phase]);
    if (s->cost[phase] - cost <= s->best.gain) continue;
    s->best = (route_best){*way, phase, turned, s->cost[phase] - cost};
  }
}

static int32_t route_set_bits(int32_t x) {
  int32_t n = 0;
  for (; x; x &= x - 1) n++;
  return n;
}

/* Try masks or digits with at most as many values as a word has units, of either lane. */
static void route_try_all(route_search *s, int32_t phase) {
  int32_t lanes = s->r->lanes, parts = s->r->parts;
  for (int flip = 0; flip < 2; flip++) {
    if ((lanes & (lanes - 1)) == 0) {
      for (int32_t mask = 1; mask < lanes - 1; mask++)
        if (1 << route_set_bits(mask) <= parts && route_set_bits(mask) < route_set_bits(lanes - 1))
          route_try(s, phase, &(route_way){.mask = mask, .flip = flip});
      continue;
    }
    for (int32_t step = 1; step < lanes; step++)
      for (int32_t extent = 2; lanes % step == 0 && extent <= parts && step * extent <= lanes; extent++)
        if (lanes / step % extent == 0 && extent < lanes)
          route_try(s, phase, &(route_way){.step = step, .extent = extent, .flip = flip});
  }
}

static int64_t route_choose(tesela__route *r, int64_t enough) {
  route_search s = {.r = r};
  r->n_phases = 1;
  memset(r->shared, 0, sizeof r->shared);
  for (int32_t lane = 0; lane < r->lanes; lane++) s.same[lane] = (uint8_t)lane;
  s.may_turn = tesela__linear_lanes(r->w, r->dst_units, s.turned);
  if (s.may_turn) s.may_turn = memcmp(s.turned, s.same, (size_t)r->lanes) != 0;
  int64_t sum = s.cost[0] = route_share(r, 0);
  while (sum > enough && r->n_phases + 2 < TESELA__ROUTE_LANES) {
    s.best.gain = 0;
    for (int32_t phase = 0; phase < r->n_phases; phase++) route_try_all(&s, phase);
    if (s.best.gain == 0) break;
    int32_t phase = s.best.phase;
    size_t after = (size_t)(r->n_phases - phase - 1);
    memmove(s.cost + phase + 2, s.cost + phase + 1, after * sizeof *s.cost);
    memmove(r->shared + phase + 2, r->shared + phase + 1, after);
    route_part(r, phase, &s.best.way, s.best.turned ? s.turned : s.same);
    for (int32_t k = phase; k < phase + 2; k++) s.cost[k] = route_share(r, k);
    sum = 0;
    for (int32_t k = 0; k < r->n_phases; k++) sum += s.cost[k];
  }
  return sum;
}

tesela_status tesela__route_choose(tesela__route *r, int64_t enough, const tesela_allocator *alloc,
                                   int64_t *rounds, tesela_error *err) {
  r->cost = tesela__alloc(alloc, 2 * sizeof *r->cost, alignof(route_cost));
  if (!r->cost) return tesela__fail(err, TESELA_E_MEMORY, -1, "no memory to choose routes in a warp");
  *rounds = route_choose(r, enough);
  tesela__release(alloc, r->cost);
  r->cost = NULL;
  return TESELA_OK;
}
