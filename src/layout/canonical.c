/* SPDX-License-Identifier: Apache-2.0 */
/*
 * canonical.c - the simplest digits for the same relation.
 *
 * Five rewritings, none of which changes where an element is:
 *
 *   merge     neighbours of one chain with the same target and slope (stride per unit) become one digit if the lower
 *             step divides the higher one. Else later digits would get another rest: of 3, steps 3, 2, 1 leave 0, but 2, 1
 *             leave 1.
 *   reduce    of a join, the offset that only changes its first digit moves to where that digit is placed, and the digits
 *             that only the offset reaches become constants: v = 70 + 64*a with steps 64 and 1 is 64*(a + 1) + 6.
 *   pass on   a join with one digit is a sum, so its parts go where that digit goes.
 *   dissolve  a join v = a*W + b whose digits are cut at W (steps >= W are multiples of W, the next one divides W)
 *             gives its high digits to a and its low digits to b.
 *   replicas  contiguous replicas of one axis become one.
 *
 * Holes are dropped: the axis keeps its extent, so their places stay padding.
 *
 *   f32[24,128]{1,0:T(8,128)}   dim 0: (8 -> 1024) (1 -> 128)  one slope 128   =>   (1 -> 128)
 */
#include "layout/canonical.h"

static bool same_target(const tesela_digit *a, const tesela_digit *b) {
  return a->axis == b->axis && a->join == b->join;
}

/* Is stride / step equal, without rounding? Products that overflow count as different. */
static bool same_slope(const tesela_digit *a, const tesela_digit *b) {
  int64_t g = tesela__gcd(b->step, a->step), x, y;
  return tesela__mul(a->stride, b->step / g, &x) && tesela__mul(b->stride, a->step / g, &y) && x == y;
}

/* A digit that adds nothing needs no target. It may still bound the digits before it. */
static void silence(tesela_digit *digit) {
  digit->axis = 0;
  digit->join = -1;
  digit->stride = 0;
}

/* Reduce the extents of one chain to values that elements reach, drop digits that are always 0, merge neighbours. */
static void tidy_chain(tesela__bench *bench, int32_t coordinate) {
  int32_t number[TESELA_MAX_DIGITS];
  int64_t limit = tesela__coordinate_extent(bench->layout, coordinate);
  int32_t n = tesela__bench_digits(bench, coordinate, number);
  for (int32_t k = 0, dropped = 0; k < n; k++) {
    tesela_digit *digit = &bench->digit[number[k] - dropped];
    digit->extent = tesela__ceil_div(limit, digit->step);
    limit = tesela__min(limit, digit->step);
    if (digit->extent == 1) tesela__bench_drop(bench, number[k] - dropped++);
  }
  n = tesela__bench_digits(bench, coordinate, number);
  for (int32_t k = n - 2; k >= 0; k--) {
    tesela_digit *high = &bench->digit[number[k]], *low = &bench->digit[number[k + 1]];
    if (!same_target(high, low) || !same_slope(high, low) || high->step % low->step != 0) continue;
    limit = k > 0 ? bench->digit[number[k - 1]].step : tesela__coordinate_extent(bench->layout, coordinate);
    low->extent = tesela__ceil_div(limit, low->step);
    tesela__bench_drop(bench, number[k]);
    for (int32_t i = k; i + 1 < n; i++) number[i] = number[i + 1] - 1;
    n--;
  }
  if (n == 1 && bench->digit[number[0]].stride == 0) tesela__bench_drop(bench, number[0]); /* adds nothing */
}

static void tidy_chains(tesela__bench *bench) {
  for (int32_t c = 0; c < tesela__n_coordinates(bench->layout); c++) tidy_chain(bench, c);
}

/* ---- replicas ---------------------------------------------------------------------------------------------- */

static void tidy_replicas(tesela__bench *bench) {
  tesela_digit *digit = bench->digit;
  for (int32_t i = 0; i < bench->n; i++) {
    if (digit[i].source != TESELA_REPLICA) continue;
    digit[i].step = 1; /* splits raised it; it carries no information */
    if (digit[i].stride >= 0) continue;
    tesela_axis *axis = &bench->layout->axis[digit[i].axis];
    axis->offset += (digit[i].extent - 1) * digit[i].stride; /* finish checked this sum */
    digit[i].stride = -digit[i].stride;
  }
  for (int32_t i = 0; i < bench->n; i++) { /* by axis, then decreasing stride */
    if (digit[i].source != TESELA_REPLICA) continue;
    for (int32_t k = i + 1; k < bench->n; k++) {
      if (digit[k].source != TESELA_REPLICA) continue;
      if (digit[k].axis > digit[i].axis ||
          (digit[k].axis == digit[i].axis && digit[k].stride <= digit[i].stride))
        continue;
      tesela_digit swap = digit[i];
      digit[i] = digit[k];
      digit[k] = swap;
    }
  }
  for (int32_t i = bench->n - 1; i > 0; i--) {
    int64_t next;
    if (digit[i].source != TESELA_REPLICA || digit[i - 1].source != TESELA_REPLICA) continue;
    if (digit[i].axis != digit[i - 1].axis || !tesela__mul(digit[i].stride, digit[i].extent, &next)) continue;
    if (next != digit[i - 1].stride) continue;
    digit[i - 1].extent *= digit[i].extent;
    digit[i - 1].stride = digit[i].stride;
    tesela__bench_drop(bench, i);
  }
}

/* ---- the whole --------------------------------------------------------------------------------------------- */

/* Remove joins that lost all their digits, and renumber the others. */
static void renumber_joins(tesela__bench *bench) {
  int16_t kept = 0;
  for (int16_t j = 0; j < bench->layout->n_joins; j++) {
    int16_t coordinate = (int16_t)(bench->layout->rank + j);
    bool used = false;
    for (int32_t i = 0; i < bench->n; i++)
      used = used || bench->digit[i].source == coordinate || bench->digit[i].join == j;
    if (!used) continue;
    for (int32_t i = 0; i < bench->n; i++) {
      if (bench->digit[i].source == coordinate)
        bench->digit[i].source = (int16_t)(bench->layout->rank + kept);
      if (bench->digit[i].join == j) bench->digit[i].join = kept;
    }
    bench->layout->join[kept] = bench->layout->join[j];
    kept++;
  }
  bench->layout->n_joins = kept;
}

/* A join without parts has one value; its digits add a constant to axes and later joins. */
static void drop_fixed_joins(tesela__bench *bench) {
  for (int32_t j = 0; j < bench->layout->n_joins; j++) {
    int32_t part[TESELA_MAX_DIGITS], number[TESELA_MAX_DIGITS];
    if (tesela__bench_parts(bench, j, part) > 0) continue;
    int32_t n = tesela__bench_digits(bench, bench->layout->rank + j, number);
    tesela__bench_add_constants(bench, number, 0, n, bench->layout->join[j].offset);
    while (n > 0) tesela__bench_drop(bench, number[--n]);
  }
}

/* From the last join to the first: release the parts of a join without digits, simplify others if possible. True if one
 * changed: then parts of the others may be merged or removed. */
static bool dissolve_joins(tesela__bench *bench) {
  bool any = false;
  for (int32_t j = bench->layout->n_joins - 1; j >= 0; j--) {
    int32_t number[TESELA_MAX_DIGITS], n = tesela__bench_digits(bench, bench->layout->rank + j, number);
    if (n > 0)
      any = tesela__bench_simplify_join(bench, j, number, n) || any;
    else
      for (int32_t i = 0; i < bench->n; i++)
        if (bench->digit[i].join == j) silence(&bench->digit[i]);
    tidy_chains(bench);
  }
  return any;
}

/* Copy the active digits except holes. */
static void fill(tesela__bench *bench, const tesela_layout *layout) {
  for (int32_t i = 0; i < layout->n_active && !tesela__is_empty(layout); i++) {
    if (layout->digit[i].source == TESELA_HOLE) continue;
    bench->digit[bench->n++] = layout->digit[i];
    if (layout->digit[i].stride == 0) silence(&bench->digit[bench->n - 1]);
  }
}

tesela_status tesela_layout_canonical(const tesela_layout *layout, tesela_layout *out, tesela_error *err) {
  TESELA__NEED(err, layout, out);
  tesela_status status = tesela__check_finished(layout, err);
  if (status != TESELA_OK) return status;
  tesela_layout result = *layout;
  tesela__bench bench = {.layout = &result, .n = 0};
  fill(&bench, layout);
  tidy_chains(&bench);
  do {
    drop_fixed_joins(&bench);
  } while (dissolve_joins(&bench));
  tidy_replicas(&bench);
  renumber_joins(&bench);
  for (int32_t i = 0; i < bench.n; i++) result.digit[i] = bench.digit[i];
  result.n_digits = bench.n;
  result.finished = false;
  status = tesela_layout_finish(&result, err);
  if (status == TESELA_OK) *out = result;
  return status;
}
