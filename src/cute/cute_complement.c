/* SPDX-License-Identifier: Apache-2.0 */
/*
 * cute_complement.c - complement and right inverse; coordinates that share a value.
 *
 * A layout whose translates fill an interval without overlap has, by increasing stride, strides that are multiples of all
 * that the smaller ones span. The gaps between them are the complement.
 */
#include "cute/cute_algebra.h"
#include "cute/cute_value.h"

int32_t tesela__cute_sorted(const tesela_cute *cute, bool zeros,
                            tesela__cute_digit digit[TESELA_CUTE_LEAVES]) {
  int64_t weight = 1;
  int32_t n = 0;
  for (int32_t i = 0; i < cute->n; i++) {
    const int64_t stride = cute->stride[i] < 0 ? -cute->stride[i] : cute->stride[i];
    if (cute->extent[i] > 1 && (zeros || stride > 0)) {
      int32_t k = n++;
      for (; k > 0; k--) {
        const int64_t before = digit[k - 1].stride < 0 ? -digit[k - 1].stride : digit[k - 1].stride;
        if (before <= stride) break;
        digit[k] = digit[k - 1];
      }
      digit[k] = (tesela__cute_digit){cute->extent[i], cute->stride[i], weight};
    }
    weight *= cute->extent[i];
  }
  return n;
}

tesela_status tesela__cute_no_offset(const tesela_cute *cute, const char *what, tesela_error *err) {
  if (cute->offset == 0) return TESELA_OK;
  return tesela__fail(err, TESELA_E_UNSUPPORTED, -1, "%s begins at %" PRId64 "; expected 0", what,
                      cute->offset);
}

/* ---- coordinates that share a value ---- */

enum { COLLISION_STEPS = 1 << 14 };

/* Differences of two coordinates, digit by digit from the largest stride, whose sum of strides is 0. */
typedef struct collision {
  int32_t n;
  tesela__cute_digit digit[TESELA_CUTE_LEAVES];
  int64_t reach[TESELA_CUTE_LEAVES + 1], gcd[TESELA_CUTE_LEAVES + 1]; /* of the digits below this one */
  int64_t value[TESELA_CUTE_LEAVES], rest[TESELA_CUTE_LEAVES + 1];
} collision;

/* The next value of digit k that the smaller ones can balance; false: no more. */
static bool cute_next_value(collision *c, int32_t k, bool zero) {
  const tesela__cute_digit *d = &c->digit[k];
  for (c->value[k]++; c->value[k] < d->extent; c->value[k]++) {
    const int64_t rest = c->rest[k + 1] + c->value[k] * d->stride;
    if (d->stride > 0 ? rest > c->reach[k] : rest < -c->reach[k]) return false;
    if ((d->stride > 0 ? rest < -c->reach[k] : rest > c->reach[k])) { /* skip what is out of reach */
      const int64_t size = d->stride < 0 ? -d->stride : d->stride,
                    over = (rest < 0 ? -rest : rest) - c->reach[k];
      c->value[k] += (over + size - 1) / size - 1;
      continue;
    }
    if (c->gcd[k] == 0 ? rest != 0 : rest % c->gcd[k] != 0) continue;
    if (zero && c->value[k] < 0) continue; /* one of a difference and its opposite */
    c->rest[k] = rest;
    return true;
  }
  return false;
}

/* 1: found in c->value; 0: none; -1: undecided. */
static int cute_find_collision(collision *c, const tesela_cute *cute) {
  int64_t steps = COLLISION_STEPS;
  c->n = tesela__cute_sorted(cute, true, c->digit);
  c->reach[0] = c->gcd[0] = 0;
  for (int32_t k = 0; k < c->n; k++) {
    const int64_t size = c->digit[k].stride < 0 ? -c->digit[k].stride : c->digit[k].stride;
    c->reach[k + 1] = c->reach[k] + (c->digit[k].extent - 1) * size;
    c->gcd[k + 1] = tesela__gcd(size, c->gcd[k]);
    if (c->reach[k + 1] > TESELA__CUTE_MOST) return -1;
  }
  if (c->n == 0) return 0;
  if (c->digit[0].stride == 0) {
    for (int32_t k = 0; k < c->n; k++) c->value[k] = k == 0;
    return 1;
  }
  int32_t k = c->n - 1;
  bool zero[TESELA_CUTE_LEAVES + 1]; /* all digits from this one up are 0 */
  zero[c->n] = true;
  c->rest[c->n] = 0;
  c->value[k] = -1;
  while (k < c->n) {
    if (steps-- == 0) return -1;
    if (!cute_next_value(c, k, zero[k + 1])) {
      k++;
      continue;
    }
    zero[k] = zero[k + 1] && c->value[k] == 0;
    if (k > 0) {
      k--;
      c->value[k] = zero[k + 1] ? -1 : -c->digit[k].extent;
    } else if (!zero[0]) {
      return 1;
    }
  }
  return 0;
}

tesela_status tesela__cute_injective(const tesela_cute *cute, tesela_cute_counter *counter,
                                     tesela_error *err) {
  collision c;
  int64_t plus = 0, minus = 0;
  const int found = cute_find_collision(&c, cute);
  if (found == 0) return TESELA_OK;
  if (found < 0)
    return tesela__fail(err, TESELA_E_LIMIT, -1, "undecided after %d steps whether coordinates share a value",
                        COLLISION_STEPS);
  for (int32_t k = 0; k < c.n; k++) *(c.value[k] < 0 ? &minus : &plus) += c.value[k] * c.digit[k].weight;
  minus = -minus;
  *counter = (tesela_cute_counter){
      .given = true, .index = tesela__min(plus, minus), .index2 = tesela__max(plus, minus)};
  counter->value = counter->expected = tesela__cute_sum_at(cute, plus);
  return tesela__refuse(err, TESELA_E_UNSUPPORTED, TESELA_REASON_NOT_INJECTIVE,
                        "coordinates %" PRId64 " and %" PRId64 " have the same value, %" PRId64,
                        counter->index, counter->index2, counter->value);
}

/* ---- complement ---- */

tesela_status tesela__cute_complement(const tesela_cute *a, int64_t size, tesela_cute *out,
                                      tesela_cute_counter *counter, tesela_error *err) {
  tesela__cute_digit digit[TESELA_CUTE_LEAVES];
  tesela_cute made, filtered;
  int64_t filled = 1;
  const int32_t n = tesela__cute_sorted(a, false, digit);
  memset(&made, 0, sizeof made);
  for (int32_t k = 0; k < n; k++) {
    const int64_t stride = digit[k].stride < 0 ? -digit[k].stride : digit[k].stride;
    if (stride % filled != 0) {
      tesela_status status = tesela_cute_filter(a, 0, &filtered, err);
      if (status == TESELA_OK) status = tesela__cute_injective(&filtered, counter, err);
      if (status == TESELA_OK || status == TESELA_E_LIMIT) {
        *counter =
            (tesela_cute_counter){.given = true, .index = digit[k].weight, .index2 = -1, .value = stride};
        counter->expected = tesela__ceil_div(stride, filled) * filled;
        status = tesela__refuse(err, TESELA_E_UNSUPPORTED, TESELA_REASON_NOT_EXPRESSIBLE,
                                "no complement: the stride %" PRId64 " is not a multiple of %" PRId64
                                ", which the smaller strides fill",
                                stride, filled);
      } else if (status == TESELA_E_UNSUPPORTED) { /* coordinates of the layout, not of the filtered one */
        status = tesela__cute_injective(a, counter, err);
      }
      return status;
    }
    if (!tesela__cute_join_leaf(&made, stride / filled, filled)) return tesela__cute_too_many(err);
    if (!tesela__mul(stride, digit[k].extent, &filled))
      return tesela__fail(err, TESELA_E_OVERFLOW, -1, "the complement exceeds 64 bits");
  }
  if (!tesela__cute_join_leaf(&made, tesela__ceil_div(size, filled), filled))
    return tesela__cute_too_many(err);
  tesela__cute_close_leaves(&made);
  *out = made;
  return tesela__cute_check(out, err);
}

tesela_status tesela_cute_complement(const tesela_cute *a, int64_t size, tesela_cute *out,
                                     tesela_cute_counter *counter, tesela_error *err) {
  TESELA__NEED(err, a, out);
  tesela_cute made;
  tesela_cute_counter unused, *where = counter ? counter : &unused;
  *where = (tesela_cute_counter){.given = false};
  tesela_status status = tesela__cute_plain(a, false, "the layout", err);
  if (status == TESELA_OK) status = tesela__cute_no_offset(a, "the layout", err);
  if (status == TESELA_OK && size < 1)
    status = tesela_error_outside(err, -1, "the size to fill", -1, size, 1, INT64_MAX);
  if (status == TESELA_OK) status = tesela__cute_complement(a, size, &made, where, err);
  if (status == TESELA_OK) *out = made;
  return status;
}

/* ---- right inverse ---- */

enum { RIGHT_SIZE = 1 << 12, RIGHT_STEPS = 1 << 20 };

/* Of layouts whose strides overlap or are negative: all ways to go on are tried. */
typedef struct right_search {
  const tesela_cute *a;
  int64_t size, most; /* of A; the first value that A does not have */
  int32_t n;
  int64_t extent[64], stride[64];
  int64_t best;
  int32_t n_best;
  int64_t best_extent[64], best_stride[64];
  int64_t steps;
} right_search;

static int64_t right_at(const right_search *r, int64_t i) {
  int64_t at = 0;
  for (int32_t k = 0; k < r->n; i /= r->extent[k++]) at += i % r->extent[k] * r->stride[k];
  return at;
}

/* The greatest extent of a next leaf with this stride, after the leaves of size `size`. */
static int64_t right_extent(right_search *r, int64_t size, int64_t stride) {
  for (int64_t w = 1;; w++)
    for (int64_t i = 0; i < size; i++) {
      const int64_t at = right_at(r, i) + w * stride;
      r->steps--;
      if (at >= r->size || tesela__cute_sum_at(r->a, at) != i + w * size) return w;
    }
}

/* Depth first; a leaf at least doubles the size, which is at most RIGHT_SIZE, so the recursion is at most 12 deep. */
static void right_from(right_search *r, int64_t size) {
  if (size > r->best) {
    r->best = size;
    r->n_best = r->n;
    memcpy(r->best_extent, r->extent, sizeof r->extent);
    memcpy(r->best_stride, r->stride, sizeof r->stride);
  }
  for (int64_t stride = 0; stride < r->size && r->best < r->most && r->steps > 0; stride++) {
    if (tesela__cute_sum_at(r->a, stride) != size) continue;
    for (int64_t extent = right_extent(r, size, stride); extent > 1; extent--) {
      r->extent[r->n] = extent;
      r->stride[r->n++] = stride;
      right_from(r, size * extent);
      r->n--;
    }
  }
}

static tesela_status right_overlapping(const tesela_cute *a, int64_t size, tesela_cute *made,
                                       tesela_error *err) {
  right_search r = {.a = a, .size = size, .steps = RIGHT_STEPS};
  bool has[RIGHT_SIZE] = {false};
  if (size <= RIGHT_SIZE) {
    for (int64_t i = 0; i < size; i++) {
      const int64_t value = tesela__cute_sum_at(a, i);
      if (value >= 0 && value < size) has[value] = true;
    }
    while (r.most < size && has[r.most]) r.most++;
    right_from(&r, 1);
  }
  if (size > RIGHT_SIZE || r.steps <= 0)
    return tesela__fail(
        err, TESELA_E_LIMIT, -1,
        "undecided: strides overlap or are negative, and the size is above %d or the search long",
        RIGHT_SIZE);
  for (int32_t k = 0; k < r.n_best; k++)
    (void)tesela__cute_join_leaf(made, r.best_extent[k], r.best_stride[k]);
  return TESELA_OK;
}

tesela_status tesela_cute_right_inverse(const tesela_cute *a, tesela_cute *out, tesela_error *err) {
  TESELA__NEED(err, a, out);
  tesela__cute_digit digit[TESELA_CUTE_LEAVES];
  tesela_cute made;
  int64_t filled = 1;
  bool nested = true;
  tesela_status status = tesela__cute_plain(a, false, "the layout", err);
  if (status == TESELA_OK) status = tesela__cute_no_offset(a, "the layout", err);
  if (status != TESELA_OK) return status;
  const int32_t n = tesela__cute_sorted(a, false, digit);
  memset(&made, 0, sizeof made);
  for (int32_t k = 0; k < n; k++) nested = nested && digit[k].stride > 0;
  for (int32_t k = 0; k < n && nested && digit[k].stride <= filled;
       k++) { /* a gap ends it: no value is `filled` */
    nested = digit[k].stride == filled;
    if (nested) (void)tesela__cute_join_leaf(&made, digit[k].extent, digit[k].weight);
    filled *= digit[k].extent;
  }
  if (!nested) {
    memset(&made, 0, sizeof made);
    status = right_overlapping(a, tesela_cute_size(a), &made, err);
  }
  if (status != TESELA_OK) return status;
  tesela__cute_close_leaves(&made);
  *out = made;
  return TESELA_OK;
}
