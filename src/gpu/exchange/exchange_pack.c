/* SPDX-License-Identifier: Apache-2.0 */
/*
 * exchange_pack.c - phases: units packed into words, and the rounds that move the words.
 *
 * In a phase each lane packs units for the same lane into words, including those it keeps. Words are numbered by their
 * target lane at the start of the phase, and by their source lane at its end, so numbers that are linear in the bits of
 * lanes stay linear. The rounds of a phase are planned as if its words were units (exchange_rounds.c).
 */
#include "gpu/exchange/exchange.h"

/* A unit that moves from one lane to another, or to lanes that share its word. */
typedef struct pack_entry {
  int32_t place, word;
  uint8_t from, key, part;
} pack_entry;

enum { PACK_SHARED = TESELA__LANES, PACK_KEYS = 2 * TESELA__LANES };

typedef struct pack_work {
  tesela__route route;
  int32_t warp;
  const tesela_allocator *alloc;
  pack_entry *entry;
  int64_t n_entries;
  int32_t *order, *next; /* buffers for sorting takes or entries */
  int64_t buckets;       /* size of count */
  int32_t *count;
  tesela__exchange_phase phase[TESELA__ROUTE_LANES];
} pack_work;

/* Stable sort: order[] becomes the numbers 0 .. n-1 ascending by key; equal keys keep their order unless `first`. */
static void pack_sort(pack_work *p, int64_t n, const int32_t *key, int64_t keys, bool first) {
  memset(p->count, 0, (size_t)(keys + 1) * sizeof *p->count);
  for (int64_t i = 0; i < n; i++) p->count[key[i] + 1]++;
  for (int64_t k = 0; k < keys; k++) p->count[k + 1] += p->count[k];
  for (int64_t i = 0; i < n; i++) {
    int32_t which = first ? (int32_t)i : p->order[i];
    p->next[p->count[key[which]]++] = which;
  }
  int32_t *keep = p->order;
  p->order = p->next;
  p->next = keep;
}

/* ---- takes ------------------------------------------------------------------------------------------------------- */

/* The nearest lane of a class: among copies, the one with the same digits. */
static int32_t pack_source(const tesela__warp_program *w, int32_t class, int32_t lane) {
  int32_t best = class;
  for (int32_t from = class; from < w->src_lanes; from++)
    if (w->src_class[from] == class && (from ^ lane) < (best ^ lane)) best = from;
  return best;
}

/* All needs, ascending by unit. A lane takes units that it holds from itself. */
static void pack_takes(pack_work *p, int32_t *key, tesela__route_take *unsorted) {
  tesela__route *r = &p->route;
  const tesela__warp_program *w = r->w;
  uint8_t source[TESELA__LANES];
  for (int32_t lane = 0; lane < w->dst_lanes; lane++) {
    memset(source, TESELA__NO_LANE, sizeof source);
    for (int64_t into = 0; into < r->dst_units; into++) {
      int64_t at = lane * r->dst_units + into;
      int32_t class = w->need_class[at];
      if (source[class] == TESELA__NO_LANE)
        source[class] =
            tesela__own(w, r->dst_units, lane, into) ? (uint8_t)lane : (uint8_t)pack_source(w, class, lane);
      unsorted[at] = (tesela__route_take){.unit = (int32_t)(class * r->src_units + w->need_unit[at]),
                                          .into = (int32_t)at,
                                          .place = w->need_unit[at] * r->parts,
                                          .lane = {source[class], (uint8_t)lane}};
      key[at] = unsorted[at].unit;
    }
  }
  pack_sort(p, r->n_takes, key, w->src_lanes * r->src_units, true);
  for (int64_t i = 0; i < r->n_takes; i++) r->take[i] = unsorted[p->order[i]];
}

/* ---- words at the start of a phase ------------------------------------------------------------------------------- */

/* One entry for each unit and each lane, or group of lanes that share words, that takes it. */
static void pack_entries(pack_work *p, int32_t phase) {
  tesela__route *r = &p->route;
  int32_t unit[PACK_KEYS], entry[PACK_KEYS], shared = r->shared[phase];
  memset(unit, 0xff, sizeof unit);
  p->n_entries = 0;
  for (int64_t i = 0; i < r->n_takes; i++) {
    tesela__route_take *t = &r->take[i];
    int32_t from = t->lane[phase], to = t->lane[phase + 1];
    int32_t key = shared && from != to ? PACK_SHARED + (to & ~shared) : to;
    if (unit[key] != t->unit) {
      unit[key] = t->unit;
      entry[key] = (int32_t)p->n_entries;
      p->entry[p->n_entries++] = (pack_entry){t->place, -1, (uint8_t)from, (uint8_t)key, 0};
    }
    t->entry = entry[key];
  }
}

/* The first word of this lane with the same parts as word n; n itself if no other has them. */
static int32_t pack_same_word(const int32_t *part, int32_t parts, int32_t n) {
  int32_t w = 0;
  while (memcmp(part + w * parts, part + n * parts, (size_t)parts * sizeof *part) != 0) w++;
  return w;
}

/* Cut the entries of each lane and key into words; a second pass writes `part`. Returns the most words of a lane. */
static int64_t pack_words(pack_work *p, int32_t *part, int64_t src_words) {
  int32_t parts = p->route.parts, n = 0;
  int64_t most = 0;
  for (int64_t i = 0; i < p->n_entries;) {
    pack_entry *first = &p->entry[p->order[i]];
    int32_t k = 0, word;
    if (i == 0 || first->from != p->entry[p->order[i - 1]].from) n = 0;
    int64_t row = (first->from * src_words + n) * parts, start = i;
    for (; i < p->n_entries && k < parts; i++, k++) {
      pack_entry *e = &p->entry[p->order[i]];
      if (e->from != first->from || e->key != first->key) break;
      e->part = (uint8_t)k;
      if (part) part[row + k] = e->place;
    }
    word = part ? pack_same_word(part + first->from * src_words * parts, parts, n) : n;
    for (int64_t e = start; e < i; e++) p->entry[p->order[e]].word = word;
    if (part && word < n)
      memset(part + row, 0xff, (size_t)parts * sizeof *part); /* the earlier word is used instead */
    else
      n++;
    most = tesela__max(most, n);
  }
  return most;
}

static tesela_status pack_start(pack_work *p, int32_t number, int32_t *key, tesela_error *err) {
  tesela__exchange_phase *phase = &p->phase[number];
  pack_entries(p, number);
  for (int64_t i = 0; i < p->n_entries; i++) key[i] = p->entry[i].from * PACK_KEYS + p->entry[i].key;
  pack_sort(p, p->n_entries, key, TESELA__LANES * PACK_KEYS, true);
  int64_t words = pack_words(p, NULL, 0);
  uint64_t n = (uint64_t)(p->route.lanes * words * p->route.parts);
  phase->part = tesela__alloc(p->alloc, n * sizeof *phase->part, alignof(int32_t));
  if (!phase->part) return tesela__fail(err, TESELA_E_MEMORY, -1, "no memory for the words of a phase");
  memset(phase->part, 0xff, (size_t)n * sizeof *phase->part);
  phase->src_words = words;
  pack_words(p, phase->part, words);
  return TESELA_OK;
}

/* ---- words at the end of a phase --------------------------------------------------------------------------------- */

/* Set each take's place to that in lane[number + 1]; returns the most words of a lane. Writes the needs if
 * allocated. */
static int64_t pack_ends(pack_work *p, int32_t number) {
  tesela__route *r = &p->route;
  tesela__warp_program *m = &p->phase[number].moves;
  int64_t most = 0, words = p->phase[number].dst_words;
  int32_t n = 0, to_before = -1, from_before = -1, word_before = -1;
  for (int64_t i = 0; i < r->n_takes; i++) {
    tesela__route_take *t = &r->take[p->order[i]];
    const pack_entry *e = &p->entry[t->entry];
    int32_t to = t->lane[number + 1];
    if (to != to_before) n = 0;
    if (to != to_before || e->from != from_before || e->word != word_before) n++;
    to_before = to;
    from_before = e->from;
    word_before = e->word;
    most = tesela__max(most, n);
    t->place = (n - 1) * r->parts + e->part;
    if (!m->need_unit) continue;
    m->need_class[to * words + n - 1] = e->from;
    m->need_unit[to * words + n - 1] = e->word;
  }
  return most;
}

static void pack_keys(const pack_work *p, int32_t number, bool word, int32_t *key) {
  for (int64_t i = 0; i < p->route.n_takes; i++) {
    const tesela__route_take *t = &p->route.take[i];
    const pack_entry *e = &p->entry[t->entry];
    key[i] = word ? e->word : t->lane[number + 1] * TESELA__LANES + e->from;
  }
}

/* Join lanes that take the same word into one class. */
static tesela_status pack_classes(pack_work *p, int32_t number, tesela_error *err) {
  tesela__exchange_phase *phase = &p->phase[number];
  tesela__warp_program *m = &phase->moves;
  uint64_t n = (uint64_t)(p->route.lanes * phase->src_words);
  uint8_t *takers = tesela__alloc(p->alloc, n, 1);
  if (!takers) return tesela__fail(err, TESELA_E_MEMORY, -1, "no memory for the words of a phase");
  memset(takers, TESELA__NO_LANE, (size_t)n);
  for (int32_t lane = 0; lane < p->route.lanes; lane++)
    for (int64_t i = 0; i < phase->dst_words; i++) {
      int64_t at = lane * phase->dst_words + i;
      uint8_t *taker = &takers[m->need_class[at] * phase->src_words + m->need_unit[at]];
      if (m->need_class[at] == lane) continue;
      if (*taker == TESELA__NO_LANE) *taker = (uint8_t)lane;
      uint8_t a = m->dst_class[lane], b = m->dst_class[*taker], low = a < b ? a : b;
      for (int32_t k = 0; k < p->route.lanes && a != b; k++)
        if (m->dst_class[k] == a || m->dst_class[k] == b) m->dst_class[k] = low;
    }
  tesela__release(p->alloc, takers);
  return TESELA_OK;
}

static tesela_status pack_end(pack_work *p, int32_t number, int32_t *key, tesela_error *err) {
  tesela__exchange_phase *phase = &p->phase[number];
  tesela__warp_program *m = &phase->moves;
  int32_t lanes = p->route.lanes;
  pack_keys(p, number, true, key);
  pack_sort(p, p->route.n_takes, key, phase->src_words, true);
  pack_keys(p, number, false, key);
  pack_sort(p, p->route.n_takes, key, TESELA__LANES * TESELA__LANES, false);
  phase->dst_words = pack_ends(p, number);
  uint64_t n = (uint64_t)(lanes * phase->dst_words);
  m->need_unit = tesela__alloc(p->alloc, n * sizeof *m->need_unit, alignof(int32_t));
  m->need_class = tesela__alloc(p->alloc, n, 1);
  if (!m->need_unit || !m->need_class)
    return tesela__fail(err, TESELA_E_MEMORY, -1, "no memory for the words of a phase");
  m->src_lanes = m->dst_lanes = lanes;
  memset(m->src_class, TESELA__NO_LANE, sizeof m->src_class);
  memset(m->dst_class, TESELA__NO_LANE, sizeof m->dst_class);
  memset(m->need_unit, 0, (size_t)n * sizeof *m->need_unit);
  for (int32_t lane = 0; lane < lanes; lane++) {
    m->src_class[lane] = m->dst_class[lane] = (uint8_t)lane;
    memset(m->need_class + lane * phase->dst_words, lane, (size_t)phase->dst_words);
  }
  pack_ends(p, number);
  tesela_status status = pack_classes(p, number, err);
  if (status != TESELA_OK) return status;
  return tesela__rounds_plan(m, p->warp, phase->src_words, phase->dst_words, p->alloc, err);
}

/* ---- all phases -------------------------------------------------------------------------------------------------- */

static tesela_status pack_keep(pack_work *p, tesela__warp_program *w, tesela_error *err) {
  tesela__route *r = &p->route;
  uint64_t n = (uint64_t)r->n_takes, phases = (uint64_t)r->n_phases;
  int32_t *result = tesela__alloc(p->alloc, n * sizeof *result, alignof(int32_t));
  tesela__exchange_phase *phase =
      tesela__alloc(p->alloc, phases * sizeof *phase, alignof(tesela__exchange_phase));
  if (!result || !phase) {
    tesela__release(p->alloc, result);
    tesela__release(p->alloc, phase);
    return tesela__fail(err, TESELA_E_MEMORY, -1, "no memory for the phases of a warp");
  }
  for (int64_t i = 0; i < r->n_takes; i++) result[r->take[i].into] = r->take[i].place;
  memcpy(phase, p->phase, (size_t)phases * sizeof *phase);
  memset(p->phase, 0, sizeof p->phase);
  tesela__release(p->alloc, w->offer);
  tesela__release(p->alloc, w->into);
  tesela__release(p->alloc, w->from);
  w->offer = w->into = NULL;
  w->from = NULL;
  w->result = result;
  w->phase = phase;
  w->n_phases = r->n_phases;
  return TESELA_OK;
}

static tesela_status pack_phases(pack_work *p, tesela__warp_program *w, int32_t *key,
                                 tesela__route_take *unsorted, tesela_error *err) {
  int64_t rounds = 0;
  tesela_status status = TESELA_OK;
  pack_takes(p, key, unsorted);
  status = tesela__route_choose(&p->route, w->least, p->alloc, &rounds, err);
  if (status != TESELA_OK || rounds >= w->rounds) return status;
  rounds = 0;
  for (int32_t i = 0; i < p->route.n_phases && status == TESELA_OK; i++) {
    status = pack_start(p, i, key, err);
    if (status == TESELA_OK) status = pack_end(p, i, key, err);
    rounds += p->phase[i].moves.rounds;
  }
  if (status != TESELA_OK || rounds >= w->rounds) return status;
  w->rounds = rounds;
  return pack_keep(p, w, err);
}

tesela_status tesela__rounds_pack(tesela__warp_program *w, int32_t warp, int64_t src_units, int64_t dst_units,
                                  int32_t parts, const tesela_allocator *alloc, tesela_error *err) {
  pack_work p = {.alloc = alloc, .warp = warp};
  tesela__route *r = &p.route;
  *r = (tesela__route){.w = w, .parts = parts, .src_units = src_units, .dst_units = dst_units};
  r->lanes = w->src_lanes > w->dst_lanes ? w->src_lanes : w->dst_lanes;
  r->n_takes = w->dst_lanes * dst_units;
  p.buckets = tesela__max(TESELA__LANES * PACK_KEYS, tesela__max(w->src_lanes * src_units, r->n_takes));
  uint64_t n = (uint64_t)r->n_takes;
  p.entry = tesela__alloc(alloc, n * sizeof *p.entry, alignof(pack_entry));
  r->take = tesela__alloc(alloc, 2 * n * sizeof *r->take, alignof(tesela__route_take));
  int32_t *numbers =
      tesela__alloc(alloc, (3 * n + (uint64_t)p.buckets + 1) * sizeof *numbers, alignof(int32_t));
  tesela_status status = TESELA_OK;
  if (!p.entry || !r->take || !numbers) {
    status = tesela__fail(err, TESELA_E_MEMORY, -1, "no memory to pack %" PRIu64 " units", n);
  } else {
    p.order = numbers;
    p.next = numbers + n;
    p.count = numbers + 3 * n;
    status = pack_phases(&p, w, numbers + 2 * n, r->take + n, err);
  }
  for (int32_t i = 0; i < TESELA__ROUTE_LANES; i++) {
    tesela__program_release(alloc, &p.phase[i].moves);
    tesela__release(alloc, p.phase[i].part);
  }
  tesela__release(alloc, p.entry);
  tesela__release(alloc, r->take);
  tesela__release(alloc, numbers);
  return status;
}
