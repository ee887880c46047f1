/* SPDX-License-Identifier: Apache-2.0 */
/*
 * canonical_join.c - joins in the canonical form: less offset, fewer digits, or none.
 */
#include <stdlib.h>

#include "layout/canonical.h"

/* ---- the offset of a join ----------------------------------------------------------------------------------- */

/* The least and the greatest value of a join, or wider bounds; finish checked that they fit. */
static void bounds_of(const tesela__bench *bench, int32_t join, int64_t *low, int64_t *high) {
  *low = *high = bench->layout->join[join].offset;
  for (int32_t i = 0; i < bench->n; i++) {
    const tesela_digit *digit = &bench->digit[i];
    if (digit->join == join) *(digit->stride < 0 ? low : high) += (digit->extent - 1) * digit->stride;
  }
}

/* The part of the least value that only the first digit sees becomes a constant; the extent becomes what is reached. */
static bool reduce_first(tesela__bench *bench, int32_t j, const int32_t *number) {
  tesela_join *join = &bench->layout->join[j];
  const tesela_digit *first = &bench->digit[number[0]];
  int64_t low, high;
  bounds_of(bench, j, &low, &high);
  int64_t moved = low - low % first->step;
  if (moved == 0 && high + 1 >= join->extent) return false;
  tesela__bench_add_constants(bench, number, 0, 1, moved);
  join->offset -= moved;
  join->extent = tesela__min(join->extent, high + 1) - moved;
  return true;
}

/* The digits below the largest step that divides all weights and all larger steps see the offset alone. */
static bool reduce_last(tesela__bench *bench, int32_t j, const int32_t *number, int32_t n) {
  tesela_join *join = &bench->layout->join[j];
  int64_t common = 0;
  for (int32_t i = 0; i < bench->n; i++)
    if (bench->digit[i].join == j) common = tesela__gcd(common, llabs(bench->digit[i].stride));
  int32_t cut = 0; /* of the digits kept, the last one */
  for (; cut < n - 1; cut++) {
    int64_t step = bench->digit[number[cut]].step;
    bool divides = common % step == 0;
    for (int32_t k = 0; k < cut; k++) divides = divides && bench->digit[number[k]].step % step == 0;
    if (divides) break;
  }
  if (cut == n - 1) return false;
  int64_t step = bench->digit[number[cut]].step, rest = join->offset % step;
  if (rest < 0) rest += step;
  tesela__bench_add_constants(bench, number, cut + 1, n, rest);
  join->offset = (join->offset - rest) / step;
  join->extent = (join->extent - 1 - rest) / step + 1;
  for (int32_t i = 0; i < bench->n; i++)
    if (bench->digit[i].join == j) bench->digit[i].stride /= step;
  for (int32_t k = 0; k <= cut; k++) bench->digit[number[k]].step /= step;
  for (int32_t k = n - 1; k > cut; k--) tesela__bench_drop(bench, number[k]);
  return true;
}

/* A join with one digit, of step 1, is a sum: its parts go where that digit goes. */
static bool join_is_sum(tesela__bench *bench, int32_t j, int32_t number) {
  const tesela_digit digit = bench->digit[number];
  int64_t *offset = tesela__bench_offset(bench, &digit), sum;
  if (!tesela__mul(bench->layout->join[j].offset, digit.stride, &sum) || !tesela__add(*offset, sum, &sum))
    return false;
  for (int32_t i = 0; i < bench->n; i++)
    if (bench->digit[i].join == j && !tesela__mul(bench->digit[i].stride, digit.stride, &(int64_t){0}))
      return false;
  *offset = sum;
  for (int32_t i = 0; i < bench->n; i++) {
    if (bench->digit[i].join != j) continue;
    bench->digit[i].stride *= digit.stride;
    bench->digit[i].axis = digit.axis;
    bench->digit[i].join = digit.join;
  }
  tesela__bench_drop(bench, number);
  return true;
}

/* ---- dissolving a join ------------------------------------------------------------------------------------- */

/* Cut a digit list (of the joined coordinate, by decreasing step) at W; false if a cut would change the map. */
static bool cut_at(tesela_digit *digit, int32_t *n, int64_t w) {
  int32_t k = 0;
  while (k < *n && digit[k].step >= w) {
    if (digit[k].step % w != 0) return false;
    k++;
  }
  if (k > 0 && digit[k - 1].step == w) return true;
  if (k == *n) return true; /* nothing below w: the coordinate has no finer digit */
  if (w % digit[k].step != 0) return false;
  if (*n == TESELA_MAX_DIGITS) return false;
  tesela_digit high = digit[k];
  int64_t factor = w / high.step;
  if (!tesela__mul(high.stride, factor, &high.stride)) return false;
  high.step = w;
  for (int32_t i = *n; i > k; i--) digit[i] = digit[i - 1];
  digit[k] = high;
  digit[k + 1].extent = factor; /* tidy_chain recomputes all extents */
  (*n)++;
  return true;
}

/* Are all weights positive, and all values of the parts distinct? Then v div W and v mod W are values of the parts. */
static bool is_mixed_radix(const tesela__bench *bench, const int32_t *part, int32_t n) {
  int64_t below = 0, span;
  for (int32_t k = n - 1; k >= 0; k--) {
    const tesela_digit *digit = &bench->digit[part[k]];
    if (digit->source < 0 || digit->stride <= below) return false;
    if (!tesela__mul(digit->extent - 1, digit->stride, &span) || !tesela__add(below, span, &below))
      return false;
  }
  return true;
}

/* Give a part the digits of the joined coordinate with steps in [weight, above). */
static bool hand_over(tesela__bench *bench, int32_t part, const tesela_digit *digit, int32_t n,
                      int64_t above) {
  tesela_digit old = bench->digit[part];
  int32_t at = part;
  tesela__bench_drop(bench, part);
  for (int32_t k = 0; k < n; k++) {
    if (digit[k].step < old.stride || (above > 0 && digit[k].step >= above)) continue;
    tesela_digit own = digit[k];
    own.source = old.source;
    if (!tesela__mul(digit[k].step / old.stride, old.step, &own.step) || bench->n == TESELA_MAX_DIGITS)
      return false;
    for (int32_t i = bench->n; i > at; i--) bench->digit[i] = bench->digit[i - 1];
    bench->digit[at++] = own;
    bench->n++;
  }
  return true;
}

/* Try to dissolve join j; the bench changes only on success. Its digits, at least one, are on axes or in later joins;
 * the last of them has step 1, so each part gets a digit of its step. */
static bool dissolve(tesela__bench *bench, int32_t j) {
  int32_t coordinate = bench->layout->rank + j, part[TESELA_MAX_DIGITS], number[TESELA_MAX_DIGITS];
  tesela_digit digit[TESELA_MAX_DIGITS];
  int32_t n_parts = tesela__bench_parts(bench, j, part), n = tesela__bench_digits(bench, coordinate, number);
  if (n_parts == 0 || bench->layout->join[j].offset != 0 || !is_mixed_radix(bench, part, n_parts))
    return false;
  for (int32_t k = 0; k < n; k++) digit[k] = bench->digit[number[k]];
  for (int32_t k = 0; k < n_parts; k++) {
    int64_t weight = bench->digit[part[k]].stride;
    if (weight > 1 && !cut_at(digit, &n, weight)) return false;
  }
  tesela__bench trial = *bench;
  for (int32_t k = tesela__bench_digits(bench, coordinate, number) - 1; k >= 0; k--)
    tesela__bench_drop(&trial, number[k]);
  for (int32_t k = 0; k < n_parts; k++) {
    int64_t above = k > 0 ? bench->digit[part[k - 1]].stride : 0;
    int32_t now[TESELA_MAX_DIGITS]; /* positions shift: find the heaviest remaining part */
    if (tesela__bench_parts(&trial, j, now) == 0 || !hand_over(&trial, now[0], digit, n, above)) return false;
  }
  *bench = trial;
  return true;
}

bool tesela__bench_simplify_join(tesela__bench *bench, int32_t j, const int32_t *number, int32_t n) {
  int32_t part[TESELA_MAX_DIGITS];
  if (tesela__bench_parts(bench, j, part) == 0) return false;
  if (n == 1) return join_is_sum(bench, j, number[0]);
  return reduce_first(bench, j, number) || reduce_last(bench, j, number, n) || dissolve(bench, j);
}
