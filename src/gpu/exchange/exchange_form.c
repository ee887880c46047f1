/* SPDX-License-Identifier: Apache-2.0 */
/*
 * exchange_form.c - the simplest formula for one number per lane.
 *
 * A value below 0 matches anything. Tried in this order: the same for all lanes, lane ^ a, (lane + a) % warp, an XOR of
 * one number for each set bit of the lane, a table. For the linear form each lane with a value is an equation in the
 * bits of a and the m's; all six bits of a value are solved together, by elimination over rows of "1 and lane bits".
 */
#include "gpu/exchange/exchange.h"

int32_t tesela__lane_pattern_at(const tesela__lane_pattern *pattern, int32_t lane, int32_t warp) {
  int32_t value = pattern->a;
  switch (pattern->form) {
  case TESELA__LANE_SAME:
    return value;
  case TESELA__LANE_XOR:
    return lane ^ value;
  case TESELA__LANE_ADD:
    return (lane + value) % warp;
  case TESELA__LANE_LINEAR:
    for (int32_t b = 0; b < pattern->bits; b++)
      if (lane >> b & 1) value ^= pattern->m[b];
    return value;
  case TESELA__LANE_ANY:
  case TESELA__LANE_TABLE:
    break;
  }
  return -1;
}

static bool form_holds(const tesela__lane_pattern *pattern, const int32_t *value, int32_t warp) {
  for (int32_t lane = 0; lane < warp; lane++)
    if (value[lane] >= 0 && value[lane] != tesela__lane_pattern_at(pattern, lane, warp)) return false;
  return true;
}

/* row[b] has leading bit b; the row of a lane is its number with bit 6 set for the constant. */
static bool form_linear(const int32_t *value, int32_t warp, tesela__lane_pattern *p) {
  uint32_t row[7] = {0};
  int32_t right[7] = {0}, solution[7] = {0};
  for (int32_t lane = 0; lane < warp; lane++) {
    if (value[lane] < 0) continue;
    uint32_t x = (uint32_t)lane | 64;
    int32_t v = value[lane];
    for (int b = 6; b >= 0 && x; b--) {
      if (!(x >> b & 1)) continue;
      if (row[b]) {
        x ^= row[b];
        v ^= right[b];
        continue;
      }
      row[b] = x;
      right[b] = v;
      x = 0;
      v = 0;
    }
    if (v != 0) return false;
  }
  for (int b = 0; b < 7; b++) { /* row[b] has no bits above b; undetermined unknowns are 0 */
    if (!row[b]) continue;
    solution[b] = right[b];
    for (int low = 0; low < b; low++)
      if (row[b] >> low & 1) solution[b] ^= solution[low];
  }
  p->form = TESELA__LANE_LINEAR;
  p->a = solution[6];
  p->bits = 0;
  while (1 << p->bits < warp) p->bits++;
  for (int b = 0; b < p->bits; b++) p->m[b] = solution[b];
  return true;
}

tesela__lane_pattern tesela__lane_pattern_of(const int32_t *value, int32_t warp) {
  tesela__lane_pattern p = {.form = TESELA__LANE_ANY};
  int32_t lane = 0;
  while (lane < warp && value[lane] < 0) lane++;
  if (lane == warp) return p;
  const int32_t guess[] = {value[lane], value[lane] ^ lane, (value[lane] - lane + warp) % warp};
  static const tesela__lane_form forms[] = {TESELA__LANE_SAME, TESELA__LANE_XOR, TESELA__LANE_ADD};
  for (int i = 0; i < 3; i++) {
    p.form = forms[i];
    p.a = guess[i];
    if (form_holds(&p, value, warp)) return p;
  }
  if (!form_linear(value, warp, &p)) p.form = TESELA__LANE_TABLE;
  return p;
}
