/* SPDX-License-Identifier: Apache-2.0 */
/*
 * tile_stages.c - which XOR stages may turn the places of a layout into sums of even digits.
 *
 * A digit of a tile begins at a divisor of the extent: where the digits before it put another place. So the places of the divisors
 * are enough to find the only candidate of a stage, and any other element may refute it. Elements that refuted one stage on
 * comparison with all elements are kept, since they refute many others: of the some 10^4 stages of 40 bits a few are compared.
 */
#include "gpu/memory/tile_stages.h"

enum {
  STAGE_ROOT = 1 << 16,
  STAGE_DIGITS = 96
}; /* extents up to 2^62 in all: 62 digits, and one for each dim */

/* ---- elements ---------------------------------------------------------------------------------------------------- */

static int64_t stage_place(const tesela__stages *s, const int64_t *index) {
  int64_t place = 0;
  (void)tesela_layout_place_of(s->layout, index, &place, NULL); /* the element exists */
  return place;
}

void tesela__stages_sample(const tesela__stages *s, const int64_t *index, tesela__stage_sample *sample) {
  int64_t alone[TESELA_MAX_RANK] = {0};
  sample->place = stage_place(s, index);
  for (int32_t d = 0; d < s->layout->rank; d++) {
    alone[d] = sample->index[d] = index[d];
    sample->alone[d] = stage_place(s, alone);
    alone[d] = 0;
  }
}

void tesela__stages_add(tesela__stages *s, const int64_t *index) {
  if (s->n_samples < TESELA__STAGE_SAMPLES) {
    tesela__stages_sample(s, index, &s->sample[s->n_samples++]);
    return;
  }
  tesela__stages_sample(s, index, &s->sample[s->next++]);
  if (s->next == TESELA__STAGE_SAMPLES) s->next = s->fixed;
}

void tesela__stages_scatter(tesela__stages *s) {
  int64_t index[TESELA_MAX_RANK];
  for (int32_t k = 0; k < 8; k++) {
    for (int32_t d = 0; d < s->layout->rank; d++) {
      s->random = s->random * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
      index[d] = (int64_t)((s->random >> 1 ^ s->random >> 33) % (uint64_t)s->layout->shape[d]);
    }
    tesela__stages_add(s, index);
  }
}

/* The divisors of an extent, ascending, as far as there is room. */
static void stage_divide(tesela__stages *s, int32_t d, int32_t room) {
  const int64_t n = s->layout->shape[d];
  int64_t root = 1, index[TESELA_MAX_RANK] = {0};
  int32_t begin = s->from[d], end = begin;
  for (; root <= STAGE_ROOT && root <= n / root && end - begin < room; root++)
    if (n % root == 0) s->point[end++] = root;
  s->limit[d] = root;
  if (root > n / root) {
    s->limit[d] = n;
    for (int32_t k = end - 1; k > begin; k--) {
      int64_t other = n / s->point[k];
      if (other == s->point[k]) continue;
      if (end - begin == room) {
        s->limit[d] = other;
        break;
      }
      s->point[end++] = other;
    }
  }
  if (n == 1) end = begin;
  for (int32_t k = begin; k < end; k++) {
    index[d] = s->point[k];
    s->place[k] = stage_place(s, index);
  }
  s->from[d + 1] = end;
}

void tesela__stages_begin(tesela__stages *s, const tesela_layout *layout) {
  const int64_t zero[TESELA_MAX_RANK] = {0};
  int32_t dims = 0, room = TESELA__STAGE_POINTS;
  s->layout = layout;
  s->first = stage_place(s, zero);
  s->exact = 0;
  s->random = 1;
  s->from[0] = 0;
  for (int32_t d = 0; d < layout->rank; d++) dims += layout->shape[d] > 1;
  if (dims > 1) room /= dims;
  for (int32_t d = 0; d < layout->rank; d++) stage_divide(s, d, room);
  s->fixed = 16;
  s->next = s->fixed;
  for (s->n_samples = 0; s->n_samples < s->fixed;) { /* corners, and others by fixed fractions */
    int64_t index[TESELA_MAX_RANK];
    int32_t k = s->n_samples;
    for (int32_t d = 0; d < layout->rank; d++) {
      int64_t last = layout->shape[d] - 1;
      index[d] = k == 0 ? last : k == 1 ? tesela__min(last, 1) : last - last / (k + d % 3);
    }
    tesela__stages_add(s, index);
  }
}

/* ---- the candidate of a stage -------------------------------------------------------------------------------------- */

typedef struct stage_digits {
  int32_t from[TESELA_MAX_RANK + 1];
  int64_t step[STAGE_DIGITS], stride[STAGE_DIGITS];
} stage_digits;

/* Add what the digits add for x, below the limit; false if the sum does not fit, so no tile has it. */
static bool stage_predict(const stage_digits *digits, int32_t d, int32_t end, int64_t x, int64_t *sum) {
  int64_t adds;
  for (int32_t k = end - 1; k >= digits->from[d]; k--) {
    if (!tesela__mul(x / digits->step[k], digits->stride[k], &adds) || !tesela__add(*sum, adds, sum))
      return false;
    x %= digits->step[k];
  }
  return true;
}

/* The only even digits of a dim that agree with the points below `extent`; false: none do. */
static bool stage_read(const tesela__stages *s, tesela_tile_swizzle stage, int32_t d, int64_t extent,
                       stage_digits *digits) {
  int64_t start = tesela__tile_swizzled(stage, s->first);
  int32_t n = digits->from[d];
  for (int32_t k = s->from[d]; k < s->from[d + 1] && s->point[k] < extent; k++) {
    int64_t x = s->point[k], adds = tesela__tile_swizzled(stage, s->place[k]) - start, sum = 0;
    if (x > 1 && stage_predict(digits, d, n, x, &sum) && sum == adds) continue;
    if (adds < 0 || (x > 1 && x % digits->step[n - 1] != 0)) return false;
    digits->step[n] = x;
    digits->stride[n++] = adds;
  }
  digits->from[d + 1] = n;
  return true;
}

/* Do the digits give the place of an element with the stage applied? */
static bool stage_agrees(const tesela__stages *s, tesela_tile_swizzle stage, const stage_digits *digits,
                         int32_t dim, const tesela__stage_sample *sample) {
  const int64_t start = tesela__tile_swizzled(stage, s->first);
  int64_t sum = start;
  for (int32_t d = dim; d < s->layout->rank; d++) {
    int64_t x = sample->index[d];
    if (x < s->limit[d] ? !stage_predict(digits, d, digits->from[d + 1], x, &sum)
                        : !tesela__add(sum, tesela__tile_swizzled(stage, sample->alone[d]) - start, &sum))
      return false;
  }
  return sum == tesela__tile_swizzled(stage, sample->place);
}

bool tesela__stages_may_be(const tesela__stages *s, tesela_tile_swizzle stage, int32_t dim, int64_t extent,
                           const tesela__stage_sample *last) {
  stage_digits digits;
  digits.from[0] = 0;
  for (int32_t d = 0; d < s->layout->rank; d++) {
    int64_t n = d < dim ? 1 : d > dim ? s->layout->shape[d] : last ? extent + 1 : extent;
    if (!stage_read(s, stage, d, n, &digits)) return false;
  }
  for (int32_t k = 0; k < s->n_samples; k++) {
    const tesela__stage_sample *sample = &s->sample[k];
    bool inside = sample->index[dim] < extent;
    for (int32_t d = 0; d < dim; d++) inside = inside && sample->index[d] == 0;
    if (inside && !stage_agrees(s, stage, &digits, dim, sample)) return false;
  }
  return !last || stage_agrees(s, stage, &digits, dim, last);
}

bool tesela__stages_next(tesela_tile_swizzle *stage, int32_t top) {
  int32_t distance = stage->shift < 0 ? -stage->shift : stage->shift;
  if (stage->bits > 0 && stage->shift > 0) {
    stage->shift = -stage->shift;
    return true;
  }
  stage->shift = distance;
  if (stage->bits > 0 && ++stage->base + distance + stage->bits <= top) return true;
  stage->base = 0;
  if (stage->bits > 0 && ++stage->shift + stage->bits <= top) return true;
  stage->shift = ++stage->bits;
  return 2 * stage->bits <= top;
}
