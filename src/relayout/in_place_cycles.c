/* SPDX-License-Identifier: Apache-2.0 */
/*
 * in_place_cycles.c - copy within one buffer, moving each unit once.
 *
 * Each place of dst with an element has one source place in src, and no two have the same. So places form paths and
 * cycles. A path starts at a place of dst whose content is not needed (padding of src, a gap, or beyond its end) and
 * ends at a place of src outside dst. Paths are moved first, each from its start, so that nothing is overwritten too
 * early; then the cycles, with one piece of a unit kept on the stack.
 *
 *   f32[2,3] row-major -> f32[2,3]{0,1}      places 0 1 2 3 4 5: from  a b c d e f  to  a d b e c f
 *                                            cycles: (0), 1 <- 3 <- 4 <- 2 <- 1, (5)
 *
 * A cycle is moved from its smallest place. With marks in the scratch, that is the first unmarked one; without, the cycle of
 * each place is followed until it reaches a smaller one, for the permutations of layouts usually after a few steps. One
 * thread moves everything, since cycles cross the whole buffer.
 */
#include <tesela/layout.h>

#include "relayout/in_place.h"
#include "relayout/tile.h"

enum {
  KEPT_BITS = 4096 * 8 /* kept of a cycle's first unit; larger units move in pieces of this size */
};

typedef struct cycles {
  tesela__in_place *run;
  tesela__place_map map;
  unsigned char *marks; /* or NULL */
  tesela__mover mover;
  int32_t bits; /* of an element */
} cycles;

static bool is_marked(const cycles *c, int64_t place) {
  int64_t unit = place / c->map.unit;
  return c->marks[unit / 8] >> (unit % 8) & 1;
}

static void mark_unit(cycles *c, int64_t place) {
  if (!c->marks) return;
  int64_t unit = place / c->map.unit;
  c->marks[unit / 8] = (unsigned char)(c->marks[unit / 8] | 1 << unit % 8);
}

/* Move n neighbours between two units, which do not overlap; places in elements from the two addresses. */
static void move_elements(const cycles *c, unsigned char *dst, int64_t to, const unsigned char *src,
                          int64_t from, int64_t n) {
  const int64_t bytes = c->bits / 8;
  if (bytes == 0)
    tesela__move(&c->mover, n, dst, to * c->bits, c->bits, src, from * c->bits, c->bits);
  else if (c->mover.convert)
    c->mover.convert(dst + to * bytes, src + from * bytes, n);
  else
    memcpy(dst + to * bytes, src + from * bytes, (size_t)(n * bytes));
}

static int64_t cycle_bytes(const cycles *c, int64_t n) { return tesela__ceil_div(n * c->bits, 8); }

/* Call visit for the first place in dst of each unit, until it returns false. */
static bool visit_units(cycles *c, bool (*visit)(cycles *c, int64_t place)) {
  const tesela_layout *dst = c->map.dst;
  int64_t n[TESELA_MAX_RANK], number[TESELA_MAX_RANK] = {0}, index[TESELA_MAX_RANK], place;
  if (tesela__is_empty(dst)) return true;
  for (int32_t d = 0; d < dst->rank; d++) n[d] = dst->shape[d] / c->map.block[d];
  do {
    for (int32_t d = 0; d < dst->rank; d++) index[d] = number[d] * c->map.block[d];
    (void)tesela_layout_place_of(dst, index, &place, NULL);
    if (!tesela__in_place_go_on(c->run, 1) || !visit(c, place)) return false;
  } while (tesela_index_next(dst->rank, n, number));
  return true;
}

/* ---- paths ------------------------------------------------------------------------------------------------ */

static bool go_path(cycles *c, int64_t place) {
  const int64_t n = c->map.unit, bytes = cycle_bytes(c, n);
  if (tesela__go(&c->map.to_dst, place) >= 0) return true; /* its content is needed */
  for (int64_t from; (from = tesela__go(&c->map.to_src, place)) >= 0; place = from) {
    move_elements(c, c->run->buffer, place, c->run->buffer, from, n);
    mark_unit(c, place);
    c->run->done_bytes += bytes;
    if (!tesela__in_place_go_on(c->run, 1 + bytes / 1024)) return false;
  }
  return true;
}

/* ---- cycles ----------------------------------------------------------------------------------------------- */

/* Is this the smallest place of a cycle? False for a place on a path, which ends at -1. */
static bool leads_cycle(cycles *c, int64_t place) {
  int64_t other = place;
  do {
    other = tesela__go(&c->map.to_src, other);
    if (other < place || !tesela__in_place_go_on(c->run, 1)) return false;
  } while (other != place);
  return true;
}

/* Move n elements of each unit of a cycle, from element `at` of the unit on. */
static bool go_around(cycles *c, int64_t leader, int64_t at, int64_t n) {
  unsigned char kept[KEPT_BITS / 8], *buffer = c->run->buffer;
  const int64_t bytes = cycle_bytes(c, n);
  if (c->bits >= 8)
    memcpy(kept, buffer + (leader + at) * (c->bits / 8), (size_t)bytes);
  else
    memset(kept, 0, (size_t)bytes);
  if (c->bits < 8) tesela__move(&c->mover, n, kept, 0, c->bits, buffer, (leader + at) * c->bits, c->bits);
  int64_t hole = leader;
  for (;;) {
    int64_t from = tesela__go(&c->map.to_src, hole);
    mark_unit(c, hole);
    c->run->done_bytes += bytes;
    if (from == leader) break;
    move_elements(c, buffer, hole + at, buffer, from + at, n);
    if (!tesela__in_place_go_on(c->run, 1 + bytes / 1024)) return false;
    hole = from;
  }
  move_elements(c, buffer, hole + at, kept, 0, n);
  return true;
}

static bool go_cycle(cycles *c, int64_t place) {
  const int64_t n = c->map.unit, most = KEPT_BITS / c->bits;
  if (c->marks ? is_marked(c, place) : !leads_cycle(c, place)) return !c->run->stopped;
  if (!c->mover.convert && tesela__go(&c->map.to_src, place) == place) {
    c->run->done_bytes += cycle_bytes(c, n);
    return true;
  }
  for (int64_t at = 0; at < n; at += most)
    if (!go_around(c, place, at, tesela__min(n - at, most))) return false;
  return true;
}

/* ---- everything ------------------------------------------------------------------------------------------- */

bool tesela__cycles_run(tesela__in_place *run) {
  cycles c = {
      .run = run, .marks = run->scratch, .mover = tesela__mover_of(run->plan), .bits = run->dst->bits};
  tesela__place_map_set(&c.map, run->dst, run->src);
  if (c.marks) memset(c.marks, 0, (size_t)tesela__marks_bytes(run->dst, run->src));
  return visit_units(&c, go_path) && visit_units(&c, go_cycle);
}
