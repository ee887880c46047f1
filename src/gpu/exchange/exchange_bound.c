/* SPDX-License-Identifier: Apache-2.0 */
/*
 * exchange_bound.c - a lower bound on the number of shuffles of a warp.
 *
 * It covers all plans in which, in each round, a lane offers one 32-bit word of any bits it has by then, and takes the
 * word of one lane; lanes may take bits for others. R rounds are too few if
 *
 *   - a lane needs more than 32 R bits from others. Its first word has only bits that the other lane had in src: at
 *     most 32, and at most those that the lane needs of that class;
 *   - m lanes have the same elements (a class), and others need more than 32 m R bits of them;
 *   - the lanes take more than 32 R bits each, on average. A unit that only one lane needs is taken once if it comes
 *     straight from a lane that had it in src, else at least twice; and a word straight from a class has at most 32 of
 *     the bits that the lane needs of it. So a lane that needs few bits of many lanes needs many words, or lanes that
 *     gather for it.
 */
#include "gpu/exchange/exchange.h"

/* The bits that one lane needs from others. */
typedef struct bound_lane {
  int64_t all;                /* of all classes */
  int64_t first;              /* the most of one class, up to a word */
  int64_t alone, alone_words; /* needed by no other lane; whole words of one class among them */
  uint8_t alone_rest[32];     /* [n]: number of classes with n bits beyond whole words */
} bound_lane;

typedef struct bound_work {
  const tesela__warp_program *w;
  int64_t src_units, dst_units, bits;
  uint8_t *takers; /* [class * src_units + unit]: number of lanes that take it, at most 2 */
  bound_lane lane[TESELA__LANES];
  int32_t lanes;
} bound_work;

static void bound_takers(bound_work *b, int64_t wanted[TESELA__LANES]) {
  const tesela__warp_program *w = b->w;
  for (int32_t lane = 0; lane < w->dst_lanes; lane++)
    for (int64_t into = 0; into < b->dst_units; into++) {
      if (tesela__own(w, b->dst_units, lane, into)) continue;
      int64_t at = lane * b->dst_units + into;
      uint8_t *takers = &b->takers[w->need_class[at] * b->src_units + w->need_unit[at]];
      if (*takers == 0) wanted[w->need_class[at]] += b->bits;
      if (*takers < 2) ++*takers;
    }
}

static void bound_lane_needs(bound_work *b, int32_t lane) {
  const tesela__warp_program *w = b->w;
  bound_lane *l = &b->lane[lane];
  int64_t of_class[TESELA__LANES] = {0}, alone[TESELA__LANES] = {0};
  for (int64_t into = 0; into < b->dst_units; into++) {
    if (tesela__own(w, b->dst_units, lane, into)) continue;
    int64_t at = lane * b->dst_units + into;
    int32_t class = w->need_class[at];
    of_class[class] += b->bits;
    if (b->takers[class * b->src_units + w->need_unit[at]] == 1) alone[class] += b->bits;
  }
  for (int32_t c = 0; c < w->src_lanes; c++) {
    l->all += of_class[c];
    l->first = tesela__max(l->first, tesela__min(of_class[c], 32));
    l->alone += alone[c];
    l->alone_words += alone[c] / 32;
    l->alone_rest[alone[c] % 32]++;
  }
}

/* The most bits of `alone` that `words` words can bring straight from their classes. */
static int64_t bound_straight(const bound_lane *l, int64_t words) {
  int64_t whole = tesela__min(l->alone_words, words), bits = 32 * whole;
  words -= whole;
  for (int rest = 31; rest > 0 && words > 0; rest--) {
    int64_t n = tesela__min(l->alone_rest[rest], words);
    bits += n * rest;
    words -= n;
  }
  return bits;
}

static bool bound_is_enough(const bound_work *b, int64_t rounds) {
  int64_t taken = 0;
  for (int32_t lane = 0; lane < b->lanes; lane++) {
    const bound_lane *l = &b->lane[lane];
    if (l->all > l->first + 32 * (rounds - 1)) return false;
    taken += l->all + l->alone - bound_straight(l, rounds);
  }
  return taken <= 32 * rounds * b->lanes;
}

static int64_t bound_find(const bound_work *b, const int64_t *wanted) {
  int32_t members[TESELA__LANES] = {0};
  int64_t least = 1, most;
  for (int32_t lane = 0; lane < b->w->src_lanes; lane++) members[b->w->src_class[lane]]++;
  for (int c = 0; c < TESELA__LANES; c++)
    if (wanted[c] > 0) least = tesela__max(least, tesela__ceil_div(wanted[c], INT64_C(32) * members[c]));
  for (most = least; !bound_is_enough(b, most); most *= 2) least = most + 1;
  while (least < most) {
    int64_t middle = least + (most - least) / 2;
    if (bound_is_enough(b, middle))
      most = middle;
    else
      least = middle + 1;
  }
  return least;
}

tesela_status tesela__rounds_least(const tesela__warp_program *w, int64_t src_units, int64_t dst_units,
                                   int64_t bits, const tesela_allocator *alloc, int64_t *least,
                                   tesela_error *err) {
  bound_work b = {.w = w, .src_units = src_units, .dst_units = dst_units, .bits = bits};
  int64_t wanted[TESELA__LANES] = {0};
  bool any = false;
  b.lanes = w->src_lanes > w->dst_lanes ? w->src_lanes : w->dst_lanes;
  uint64_t n = (uint64_t)(w->src_lanes * src_units);
  b.takers = tesela__alloc(alloc, n, 1);
  if (!b.takers) return tesela__fail(err, TESELA_E_MEMORY, -1, "no memory to count %" PRIu64 " units", n);
  memset(b.takers, 0, (size_t)n);
  bound_takers(&b, wanted);
  for (int32_t lane = 0; lane < w->dst_lanes; lane++) {
    bound_lane_needs(&b, lane);
    any = any || b.lane[lane].all > 0;
  }
  *least = any ? bound_find(&b, wanted) : 0;
  tesela__release(alloc, b.takers);
  return TESELA_OK;
}
