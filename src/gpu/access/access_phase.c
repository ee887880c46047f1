/* SPDX-License-Identifier: Apache-2.0 */
/*
 * access_phase.c - wavefronts: of the threads of one phase, and of all phases of a tile together.
 *
 * One phase is counted word by word. A whole tile needs that for every phase, except where phases are provably alike:
 *
 *   apart   every digit has its own bits of the place, so place = swizzle(A(phase) ^ B(lane)) and the swizzle is linear
 *           over ^: phases differ by a constant that is XORed to each place, which only renames words and banks. One
 *           phase stands for all.
 *   plain   no swizzle: instructions of a warp differ by a constant that is added. If it is a whole number of words it
 *           only renames words and banks. One instruction stands for all whose constants are equal modulo a word.
 *
 * Both are exact. The search for layouts (synthesize.c) owes its speed to them.
 */
#include "gpu/access/access.h"

static int32_t phase_log2(int64_t power) {
  int32_t log = 0;
  while (power > 1) power /= 2, log++;
  return log;
}

static bool phase_power(int64_t x) { return x > 0 && (x & (x - 1)) == 0; }

tesela__access_phase tesela__access_phase_by_bank(const tesela_access_machine *full, int64_t vector_bytes) {
  return (tesela__access_phase){0, phase_log2(full->bank_bytes), full->banks, 1, vector_bytes - 1};
}

tesela__access_phase tesela__access_phase_of(const tesela_access_machine *full, int64_t vector_bytes,
                                             int32_t lanes) {
  int64_t all = (int64_t)full->banks * full->bank_bytes;
  if (lanes == 0) lanes = (int32_t)tesela__min(full->warp, tesela__max(1, all / vector_bytes));
  if (!phase_power(vector_bytes)) {
    tesela__access_phase phase = tesela__access_phase_by_bank(full, vector_bytes);
    phase.lanes = lanes;
    return phase;
  }
  int64_t word = tesela__max(vector_bytes, full->bank_bytes);
  return (tesela__access_phase){lanes, phase_log2(word), (int32_t)tesela__max(1, all / word),
                                tesela__max(1, word / all), 0};
}

/* The words of a bank are a linked list from head[bank]. */
int64_t tesela__access_wavefronts(const tesela__access_phase *phase, int32_t n, const int64_t *bytes,
                                  uint8_t *words) {
  int16_t head[TESELA__ACCESS_BANKS], behind[TESELA__ACCESS_KEYS], taken = 0;
  int64_t word_of[TESELA__ACCESS_KEYS];
  uint8_t own[TESELA__ACCESS_BANKS], worst = 0;
  uint8_t *count = words ? words : own;
  memset(head, -1, sizeof head[0] * (size_t)phase->groups);
  memset(count, 0, (size_t)phase->groups);
  for (int32_t i = 0; i < n; i++) {
    int64_t last = (bytes[i] + phase->span) >> phase->shift;
    for (int64_t word = bytes[i] >> phase->shift; word <= last; word++) {
      int32_t bank = (int32_t)(word & (phase->groups - 1));
      int16_t at = head[bank];
      while (at >= 0 && word_of[at] != word) at = behind[at];
      if (at >= 0) continue;
      word_of[taken] = word;
      behind[taken] = head[bank];
      head[bank] = taken++;
      if (++count[bank] > worst) worst = count[bank];
    }
  }
  return worst * phase->deliveries;
}

int64_t tesela__access_phases(const tesela__access *access, const tesela__access_phase *phase, int32_t warp,
                              int64_t vector) {
  int64_t whole = access->threads / warp, rest = access->threads % warp;
  int64_t each = whole * tesela__ceil_div(warp, phase->lanes) + tesela__ceil_div(rest, phase->lanes);
  return each * (access->locals / vector);
}

/* ---- equal phases ------------------------------------------------------------------------------------------------ */

/* Add the bits that a digit moves to *used; false if it has no bits of its own. */
static bool phase_bits(const tesela__access_digits *digits, uint64_t *used) {
  for (int32_t i = 0; i < digits->n; i++) {
    const tesela__access_digit *digit = &digits->digit[i];
    if (digit->stride == 0) continue;
    if (!phase_power(digit->stride)) return false;
    int64_t past = 1;
    while (past < digit->extent) past *= 2;
    uint64_t mine = (uint64_t)(past - 1) * (uint64_t)digit->stride;
    if (*used & mine) return false;
    *used |= mine;
  }
  return true;
}

/* Are the first `lanes` thread ids whole digits? */
static bool phase_cuts(const tesela__access_digits *thread, int64_t lanes) {
  int64_t weight = 1;
  for (int32_t i = 0; weight < lanes; weight *= thread->digit[i++].extent)
    if (lanes % weight != 0 ||
        (thread->digit[i].extent % (lanes / weight) != 0 && lanes / weight % thread->digit[i].extent != 0))
      return false;
  return true;
}

static bool phase_apart(const tesela__access *access, const tesela__access_phase *phase, int32_t warp) {
  uint64_t used = (uint64_t)access->offset;
  if (access->n_rough > 0 || !phase_power(access->bits)) return false;
  if (!phase_bits(&access->thread, &used) || !phase_bits(&access->local, &used)) return false;
  if (access->threads <= phase->lanes) return true;
  return warp % phase->lanes == 0 && phase_cuts(&access->thread, phase->lanes);
}

static int64_t phase_first(const tesela__access *access, const tesela__access_phase *phase) {
  tesela__access_walk thread;
  int64_t bytes[TESELA_ACCESS_WARP];
  int32_t n = (int32_t)tesela__min(phase->lanes, access->threads);
  tesela__access_start(&thread, &access->thread, 0);
  for (int32_t i = 0; i < n; i++, tesela__access_next(&thread)) {
    int64_t place = tesela__access_xor(&access->swizzle, access->offset + thread.place);
    bytes[i] = place * access->bits / 8;
  }
  return tesela__access_wavefronts(phase, n, bytes, NULL);
}

/* No rough dims, no swizzle. `vector` fits, so shares of threads and local ids are multiples of it, in whole bytes. */
static int64_t phase_total_plain(const tesela__access *access, const tesela__access_phase *phase,
                                 int32_t warp, int64_t vector, int64_t most, int64_t *steps) {
  int64_t alike[TESELA__ACCESS_BANKS] = {0}; /* instructions by their bytes modulo a word */
  int64_t word = INT64_C(1) << phase->shift, total = 0;
  tesela__access_walk walk;
  tesela__access_start(&walk, &access->local, 0);
  for (int64_t l = 0; l < access->locals; l++, tesela__access_next(&walk))
    if (l % vector == 0) alike[walk.place * access->bits / 8 % word]++;
  *steps -= access->locals;
  tesela__access_start(&walk, &access->thread, 0);
  for (int64_t first = 0; first < access->threads && total <= most && *steps >= 0;) {
    int64_t here = tesela__min(warp - first % warp, access->threads - first), shares[TESELA_ACCESS_WARP];
    int32_t n = (int32_t)tesela__min(here, phase->lanes);
    for (int32_t i = 0; i < n; i++, tesela__access_next(&walk))
      shares[i] = (access->offset + walk.place) * access->bits / 8;
    for (int64_t rest = 0; rest < word; rest++) {
      int64_t bytes[TESELA_ACCESS_WARP];
      if (alike[rest] == 0) continue;
      *steps -= n;
      for (int32_t i = 0; i < n; i++) bytes[i] = shares[i] + rest;
      total += alike[rest] * tesela__access_wavefronts(phase, n, bytes, NULL);
    }
    first += n;
  }
  return total;
}

/* ---- all phases -------------------------------------------------------------------------------------------------- */

/* Bytes at which the vectors of a warp start. */
static void phase_bytes(const tesela__access *access, const tesela__access_lanes *lanes,
                        const tesela__access_walk *local, int64_t *bytes) {
  for (int32_t i = 0; i < lanes->n; i++) {
    int64_t place = tesela__access_place(access, lanes->place[i], lanes->part[i], local);
    bytes[i] = place * access->bits / 8;
  }
}

static void phase_skip(tesela__access_walk *local, int64_t n) {
  for (int64_t i = 0; i < n; i++) tesela__access_next(local);
}

static int64_t phase_total_followed(const tesela__access *access, const tesela__access_phase *phase,
                                    int32_t warp, int64_t vector, int64_t most, int64_t *steps) {
  tesela__access_walk thread, local;
  tesela__access_lanes lanes;
  int64_t bytes[TESELA_ACCESS_WARP], total = 0;
  tesela__access_start(&thread, &access->thread, 0);
  for (int64_t first = 0; first < access->threads; first += warp) {
    tesela__access_take(&lanes, access, &thread, (int32_t)tesela__min(warp, access->threads - first));
    tesela__access_start(&local, &access->local, 0);
    for (int64_t l = 0; l < access->locals && total <= most && *steps >= 0;
         l += vector, phase_skip(&local, vector)) {
      *steps -= lanes.n;
      phase_bytes(access, &lanes, &local, bytes);
      for (int32_t i = 0; i < lanes.n; i += phase->lanes)
        total += tesela__access_wavefronts(phase, (int32_t)tesela__min(phase->lanes, lanes.n - i), bytes + i,
                                           NULL);
    }
  }
  return total;
}

int64_t tesela__access_total(const tesela__access *access, const tesela__access_phase *phase, int32_t warp,
                             int64_t vector, int64_t most, int64_t *steps) {
  if (phase_apart(access, phase, warp)) {
    *steps -= phase->lanes;
    return phase_first(access, phase) * tesela__access_phases(access, phase, warp, vector);
  }
  if (access->n_rough == 0 && access->swizzle.mask == 0)
    return phase_total_plain(access, phase, warp, vector, most, steps);
  return phase_total_followed(access, phase, warp, vector, most, steps);
}

/* ---- all costs of one layout ------------------------------------------------------------------------------------- */

/* Sectors, lines and bytes of vectors that start at these bytes; sorts them. */
static void phase_touch(int32_t n, int64_t *bytes, int64_t vector_bytes, const tesela_access_machine *full,
                        int32_t sector_shift, int32_t line_shift, tesela_access_cost *cost) {
  int64_t sector = -1, line = -1, end = 0, needed = 0; /* the last ones seen; `end` of the bytes seen */
  for (int32_t i = 1; i < n; i++) {
    int64_t x = bytes[i];
    int32_t at = i;
    for (; at > 0 && bytes[at - 1] > x; at--) bytes[at] = bytes[at - 1];
    bytes[at] = x;
  }
  for (int32_t i = 0; i < n; i++) {
    int64_t last = bytes[i] + vector_bytes - 1;
    needed += last + 1 - tesela__max(bytes[i], tesela__min(end, last + 1));
    end = last + 1;
    int64_t first = tesela__max(bytes[i] >> sector_shift, sector + 1);
    cost->sectors += tesela__max(0, (last >> sector_shift) + 1 - first);
    sector = tesela__max(sector, last >> sector_shift);
    first = tesela__max(bytes[i] >> line_shift, line + 1);
    cost->lines += tesela__max(0, (last >> line_shift) + 1 - first);
    line = tesela__max(line, last >> line_shift);
  }
  cost->least_sectors += tesela__ceil_div(needed, full->sector_bytes);
}

void tesela__access_count(const tesela__access *access, const tesela__access_phase *phase,
                          const tesela_access_machine *full, int64_t vector, tesela_access_cost *cost) {
  tesela__access_walk thread, local;
  tesela__access_lanes lanes;
  int64_t bytes[TESELA_ACCESS_WARP], vector_bytes = vector * access->bits / 8;
  int32_t sector_shift = phase_log2(full->sector_bytes), line_shift = phase_log2(full->line_bytes);
  *cost = (tesela_access_cost){.vector_elements = vector, .vector_bytes = (int32_t)vector_bytes};
  tesela__access_start(&thread, &access->thread, 0);
  for (int64_t first = 0; first < access->threads; first += full->warp) {
    tesela__access_take(&lanes, access, &thread, (int32_t)tesela__min(full->warp, access->threads - first));
    tesela__access_start(&local, &access->local, 0);
    for (int64_t l = 0; l < access->locals; l += vector, phase_skip(&local, vector)) {
      phase_bytes(access, &lanes, &local, bytes);
      cost->instructions++;
      for (int32_t i = 0; i < lanes.n; i += phase->lanes) {
        int32_t n = (int32_t)tesela__min(phase->lanes, lanes.n - i);
        int64_t wavefronts = tesela__access_wavefronts(phase, n, bytes + i, NULL);
        cost->phases++;
        cost->wavefronts += wavefronts;
        if (wavefronts <= cost->worst) continue;
        cost->worst = wavefronts;
        cost->worst_warp = first / full->warp;
        cost->worst_instruction = l / vector;
        cost->worst_phase = i / phase->lanes;
      }
      phase_touch(lanes.n, bytes, vector_bytes, full, sector_shift, line_shift, cost);
    }
  }
  cost->conflicts = cost->wavefronts - cost->phases;
}
