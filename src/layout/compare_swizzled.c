/* SPDX-License-Identifier: Apache-2.0 */
/*
 * compare_swizzled.c - compares layouts whose swizzles differ.
 *
 * If no sum of a layout carries, each bit of each index flips a fixed set of bits of the places: the layout is a matrix of bits
 * and one constant. Two such layouts are equal on all elements if they are equal at index 0 and at every power of two of
 * every dim, since every smaller index is a XOR of these. Replicas add all XORs of some words; so the difference of two
 * places must be one of them. Other layouts are compared element by element, copy by copy, if they are small.
 */
#include "layout/compare.h"

/* ---- layouts that are bit matrices -------------------------------------------------------------------------- */

static bool is_power(int64_t x) { return x > 0 && (x & (x - 1)) == 0; }

static int32_t bit_count(int64_t extent) { /* of 0 .. extent-1 */
  int32_t n = 0;
  while ((extent - 1) >> n > 0) n++;
  return n;
}

static bool target_is_linear(const tesela_layout *layout, int32_t target) {
  int64_t offset =
      target < layout->n_axes ? layout->axis[target].offset : layout->join[target - layout->n_axes].offset;
  if (offset < 0) return false;
  uint64_t used = (uint64_t)offset;
  for (int32_t i = 0; i < layout->n_active; i++) {
    const tesela_digit *digit = &layout->digit[i];
    if (tesela__target(layout, digit) != target) continue;
    bool bits = digit->source == TESELA_REPLICA ? is_power(digit->extent) : is_power(digit->step);
    if (!bits || digit->stride < 0) return false;
    if (digit->stride == 0) continue; /* its step bounds the next digit */
    for (int32_t k = 0; k < bit_count(digit->extent); k++) {
      uint64_t term = (uint64_t)digit->stride << k; /* a place, so it fits */
      if (used & term) return false;
      used |= term;
    }
  }
  return true;
}

static bool is_linear(const tesela_layout *layout) {
  for (int32_t t = 0; t < layout->n_axes + layout->n_joins; t++)
    if (!target_is_linear(layout, t)) return false;
  return true;
}

/* Words for all axes; no one has the first bit of an earlier one. */
typedef struct span {
  int32_t n, axis[64];
  int64_t first[64], word[64][TESELA_MAX_AXES];
} span;

/* Subtract words of the span; false: nothing is left. */
static bool reduce_by(const span *s, int32_t n_axes, int64_t *word) {
  for (int32_t i = 0; i < s->n; i++)
    if (word[s->axis[i]] & s->first[i])
      for (int32_t a = 0; a < n_axes; a++) word[a] ^= s->word[i][a];
  for (int32_t a = 0; a < n_axes; a++)
    if (word[a] != 0) return true;
  return false;
}

/* The span of the replicas of a layout. Copies fit in 63 bits, so there are at most 62 words. */
static void span_of(const tesela_layout *layout, span *s) {
  s->n = 0;
  for (int32_t i = layout->n_mapped; i < layout->n_active; i++)
    for (int32_t k = 0; k < bit_count(layout->digit[i].extent); k++) {
      int64_t *word = s->word[s->n];
      for (int32_t a = 0; a < layout->n_axes; a++) word[a] = 0;
      word[layout->digit[i].axis] = layout->digit[i].stride << k;
      tesela__swizzle_places(layout, word);
      if (!reduce_by(s, layout->n_axes, word)) continue;
      int32_t a = 0;
      while (word[a] == 0) a++;
      s->axis[s->n] = a;
      s->first[s->n++] = word[a] & -word[a];
    }
}

static bool spans_within(const span *inner, const span *outer, int32_t n_axes) {
  int64_t word[TESELA_MAX_AXES];
  for (int32_t i = 0; i < inner->n; i++) {
    for (int32_t a = 0; a < n_axes; a++) word[a] = inner->word[i][a];
    if (reduce_by(outer, n_axes, word)) return false;
  }
  return true;
}

/* Is the difference of the places of an element no XOR of replicas? */
static bool differs_at(const tesela__comparison *c, const span *s, const int64_t *index) {
  int64_t value[TESELA__MAX_COORDINATES], a[TESELA_MAX_AXES], b[TESELA_MAX_AXES];
  tesela__map(c->a, index, value, a);
  tesela__map(c->b, index, value, b);
  tesela__swizzle_places(c->a, a);
  tesela__swizzle_places(c->b, b);
  for (int32_t axis = 0; axis < c->a->n_axes; axis++) a[axis] ^= b[axis];
  return reduce_by(s, c->a->n_axes, a);
}

/* From the last dim to the first, so that the first difference is found first. */
static void compare_matrices(tesela__comparison *c) {
  span left, right;
  int64_t index[TESELA_MAX_RANK] = {0};
  span_of(c->a, &left);
  span_of(c->b, &right);
  bool same = left.n == right.n && spans_within(&left, &right, c->a->n_axes);
  if (!same || differs_at(c, &left, index)) {
    tesela__offer_difference(c, index);
    return;
  }
  for (int32_t d = c->a->rank - 1; d >= 0; d--) {
    for (int32_t k = 0; k < bit_count(c->a->shape[d]); k++) {
      index[d] = (int64_t)1 << k;
      if (!differs_at(c, &left, index)) continue;
      tesela__offer_difference(c, index);
      return;
    }
    index[d] = 0;
  }
}

/* ---- others ------------------------------------------------------------------------------------------------- */

static tesela_status compare_one_by_one(tesela__comparison *c, tesela_error *err) {
  int64_t elements = 1, index[TESELA_MAX_RANK] = {0};
  for (int32_t d = 0; d < c->a->rank; d++) elements *= c->a->shape[d];
  if (!tesela__few_pairs(c, elements)) return tesela__undecided(err, "their swizzles differ");
  for (int64_t e = 0; e < elements; e++) {
    if (!tesela__covers(c->a, c->b, index) || !tesela__covers(c->b, c->a, index)) {
      tesela__offer_difference(c, index);
      return TESELA_OK;
    }
    for (int32_t d = c->a->rank - 1; d >= 0; d--) {
      if (++index[d] < c->a->shape[d]) break;
      index[d] = 0;
    }
  }
  return TESELA_OK;
}

bool tesela__same_swizzle(const tesela_layout *a, const tesela_layout *b) {
  if (a->swizzle.n != b->swizzle.n) return false;
  for (int32_t axis = 0; axis < a->n_axes; axis++)
    if (a->swizzle.width[axis] != b->swizzle.width[axis]) return false;
  for (int32_t k = 0; k < a->swizzle.n; k++)
    if (a->swizzle.image[k] != b->swizzle.image[k]) return false;
  return true;
}

tesela_status tesela__compare_swizzled(tesela__comparison *c, tesela_error *err) {
  if (!is_linear(c->a) || !is_linear(c->b)) return compare_one_by_one(c, err);
  compare_matrices(c);
  return TESELA_OK;
}
