/* SPDX-License-Identifier: Apache-2.0 */
/*
 * exchange_linear.c - shuffle rounds if all numbers are powers of two: every lane follows one formula.
 *
 * Then the source of a unit is linear in bits: for unit j, lane t needs unit R t ^ S j of lane P t ^ Q j, where sums
 * are XOR. (The need table names the first of the lanes with the same elements; adding any element of U, the span of
 * their differences, gives another.) In round r, let lane t take its unit j = J t ^ r from lane (P + QJ + UW) t ^ Q r.
 * If the matrix C = P + QJ + UW maps lanes with different needs to different lanes, no lane has to offer two units in a
 * round, and `from`, `offer` and `into` are linear, which makes short code. The number of rounds is the number of
 * units, less the rounds in which every lane has its unit already.
 *
 *   C = identity if possible: then from = lane ^ Q r, and the units with Q r in U are every lane's own;
 *   else the columns of P that are independent, and the others with a column of Q or U added that makes them so.
 *
 *   local(2).spatial(32) to spatial(32).local(2): for unit j, lane t needs unit t / 16 of lane (2t + j) % 32. P rotates
 *   left and loses bit 4 of t, Q adds bit 0: so J t = t / 16, from = rotate(t) ^ r.
 *
 * Linearity and the resulting rounds are checked entry by entry.
 */
#include "gpu/exchange/exchange.h"

enum { LINEAR_BITS = 6 }; /* of a lane */

typedef struct linear_work {
  const tesela__warp_program *w;
  int32_t lanes, lane_bits, unit_bits, twins; /* twins: bits of the lane that src ignores */
  int64_t units;
  int32_t lane_of_lane[LINEAR_BITS], unit_of_lane[LINEAR_BITS]; /* columns of P and R */
  int32_t lane_of_unit[32], unit_of_unit[32];                   /* columns of Q and S */
  int32_t from_of_lane[LINEAR_BITS], into_of_lane[LINEAR_BITS]; /* columns of C and J */
  int64_t reach[TESELA__LANES]; /* a lane as a sum of Q and U: the unit for Q, or -1 */
} linear_work;

static int32_t bits_of(int64_t n) { /* log2, or -1 */
  if (n < 1 || (n & (n - 1)) != 0) return -1;
  int32_t bits = 0;
  while (n >> bits > 1) bits++;
  return bits;
}

static int32_t sum_of_columns(const int32_t *column, int32_t bits, int64_t x) {
  int32_t sum = 0;
  for (int32_t b = 0; b < bits; b++)
    if (x >> b & 1) sum ^= column[b];
  return sum;
}

/* Read P, Q, R, S from the tables; false if these are not linear. */
static bool linear_read(linear_work *k) {
  const tesela__warp_program *w = k->w;
  if (k->lane_bits < 0 || k->unit_bits < 0 || w->src_lanes != w->dst_lanes) return false;
  if (w->need_class[0] != 0 || w->need_unit[0] != 0) return false;
  for (int32_t b = 0; b < k->lane_bits; b++) {
    int32_t lane = 1 << b;
    if (w->src_class[lane] == 0) k->twins |= lane;
    k->lane_of_lane[b] = w->need_class[lane * k->units];
    k->unit_of_lane[b] = w->need_unit[lane * k->units];
  }
  for (int32_t b = 0; b < k->unit_bits; b++) {
    k->lane_of_unit[b] = w->need_class[INT64_C(1) << b];
    k->unit_of_unit[b] = w->need_unit[INT64_C(1) << b];
  }
  for (int32_t lane = 0; lane < k->lanes; lane++) {
    if (w->src_class[lane] != (lane & ~k->twins)) return false;
    int32_t from = sum_of_columns(k->lane_of_lane, k->lane_bits, lane);
    int32_t unit = sum_of_columns(k->unit_of_lane, k->lane_bits, lane);
    for (int64_t j = 0; j < k->units; j++)
      if (w->need_class[lane * k->units + j] != (from ^ sum_of_columns(k->lane_of_unit, k->unit_bits, j)) ||
          w->need_unit[lane * k->units + j] != (unit ^ sum_of_columns(k->unit_of_unit, k->unit_bits, j)))
        return false;
  }
  return true;
}

/* Find the lanes that are sums of columns of Q and U, and their units. */
static void linear_reach(linear_work *k) {
  int32_t known[TESELA__LANES] = {0}, n = 1;
  for (int32_t lane = 0; lane < TESELA__LANES; lane++) k->reach[lane] = -1;
  k->reach[0] = 0;
  for (int32_t b = 0; b < k->unit_bits + k->lane_bits; b++) {
    int32_t twin = 1 << (b - k->unit_bits < 0 ? 0 : b - k->unit_bits);
    int32_t column = b < k->unit_bits ? k->lane_of_unit[b] : k->twins & twin;
    int64_t unit = b < k->unit_bits ? INT64_C(1) << b : 0;
    if (column == 0 || k->reach[column] >= 0) continue;
    for (int32_t i = n; i-- > 0;) {
      k->reach[known[i] ^ column] = k->reach[known[i]] ^ unit;
      known[n++] = known[i] ^ column;
    }
  }
}

/* Try C = identity. */
static bool linear_identity(linear_work *k) {
  for (int32_t b = 0; b < k->lane_bits; b++) {
    int64_t units = k->reach[k->lane_of_lane[b] ^ 1 << b];
    if (units < 0) return false;
    k->into_of_lane[b] = (int32_t)units;
    k->from_of_lane[b] = 1 << b;
  }
  return true;
}

/* Add a column to a set of sums; false if the set contains it. */
static bool exchange_extend(bool *sums, int32_t column) {
  if (sums[column]) return false;
  bool more[TESELA__LANES];
  for (int32_t lane = 0; lane < TESELA__LANES; lane++) more[lane] = sums[lane] || sums[lane ^ column];
  memcpy(sums, more, sizeof more);
  return true;
}

/* Try C with independent columns, except for lanes with the same needs. */
static bool linear_general(linear_work *k) {
  bool sums[TESELA__LANES] = {true}, kept[LINEAR_BITS];
  for (int32_t b = 0; b < k->lane_bits; b++) {
    k->from_of_lane[b] = k->lane_of_lane[b];
    k->into_of_lane[b] = 0;
    kept[b] =
        exchange_extend(sums, k->lane_of_lane[b]) || (k->lane_of_lane[b] == 0 && k->unit_of_lane[b] == 0);
  }
  for (int32_t b = 0; b < k->lane_bits; b++) {
    int32_t add = 0;
    if (kept[b]) continue;
    while (add < k->lanes && (k->reach[add] < 0 || sums[add])) add++;
    if (add == k->lanes) return false;
    k->from_of_lane[b] ^= add;
    k->into_of_lane[b] = (int32_t)k->reach[add];
    exchange_extend(sums, k->from_of_lane[b]);
  }
  return true;
}

/* Fill the rows of round r; returns whether a lane takes a unit. *sound becomes false if a lane has to offer two
 * units. */
static bool linear_round(const linear_work *k, int64_t r, int32_t *offer, int32_t *into, uint8_t *from,
                         bool *sound) {
  const tesela__warp_program *w = k->w;
  int32_t shift = sum_of_columns(k->lane_of_unit, k->unit_bits, r);
  bool any = false;
  for (int32_t lane = 0; lane < k->lanes; lane++) {
    offer[lane] = into[lane] = -1;
    from[lane] = (uint8_t)lane;
  }
  for (int32_t lane = 0; lane < k->lanes; lane++) {
    int64_t j = sum_of_columns(k->into_of_lane, k->lane_bits, lane) ^ r;
    int32_t other = sum_of_columns(k->from_of_lane, k->lane_bits, lane) ^ shift;
    int64_t at = lane * k->units + j;
    if (tesela__own(w, k->units, lane, j)) continue;
    any = true;
    *sound = *sound && w->src_class[other] == w->need_class[at] &&
             (offer[other] < 0 || offer[other] == w->need_unit[at]);
    offer[other] = w->need_unit[at];
    into[lane] = (int32_t)j;
    from[lane] = (uint8_t)other;
  }
  return any;
}

/* Count the rounds, then write them. */
static tesela_status linear_rounds(const linear_work *k, tesela__warp_program *w, int32_t warp, int64_t most,
                                   const tesela_allocator *alloc, bool *found, tesela_error *err) {
  int32_t offer[TESELA__LANES], into[TESELA__LANES];
  uint8_t from[TESELA__LANES];
  int64_t rounds = 0;
  bool sound = true;
  for (int64_t r = 0; r < k->units && sound; r++) rounds += linear_round(k, r, offer, into, from, &sound);
  if (!sound || rounds > most) return TESELA_OK;
  tesela_status status = tesela__rounds_room(w, warp, rounds, alloc, err);
  if (status != TESELA_OK) return status;
  for (int64_t r = 0, row = 0; r < k->units; r++) {
    if (!linear_round(k, r, offer, into, from, &sound)) continue;
    memcpy(w->offer + row, offer, (size_t)k->lanes * sizeof *offer);
    memcpy(w->into + row, into, (size_t)k->lanes * sizeof *into);
    memcpy(w->from + row, from, (size_t)k->lanes);
    row += warp;
  }
  *found = true;
  return TESELA_OK;
}

bool tesela__linear_lanes(const tesela__warp_program *w, int64_t dst_units, uint8_t *from) {
  linear_work k = {.w = w, .lanes = w->src_lanes, .units = dst_units};
  k.lane_bits = bits_of(w->src_lanes);
  k.unit_bits = bits_of(dst_units);
  if (!linear_read(&k)) return false;
  linear_reach(&k);
  if (!linear_identity(&k) && !linear_general(&k)) return false;
  for (int32_t lane = 0; lane < k.lanes; lane++)
    from[lane] = (uint8_t)sum_of_columns(k.from_of_lane, k.lane_bits, lane);
  return true;
}

tesela_status tesela__rounds_linear(tesela__warp_program *w, int32_t warp, int64_t dst_units, int64_t rounds,
                                    const tesela_allocator *alloc, bool *found, tesela_error *err) {
  linear_work k = {.w = w, .lanes = w->src_lanes, .units = dst_units};
  k.lane_bits = bits_of(w->src_lanes);
  k.unit_bits = bits_of(dst_units);
  *found = false;
  if (!linear_read(&k)) return TESELA_OK;
  linear_reach(&k);
  if (linear_identity(&k)) {
    tesela_status status = linear_rounds(&k, w, warp, rounds, alloc, found, err);
    if (status != TESELA_OK || *found) return status;
  }
  return linear_general(&k) ? linear_rounds(&k, w, warp, rounds, alloc, found, err) : TESELA_OK;
}
