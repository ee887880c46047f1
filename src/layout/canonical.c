/* SPDX-License-Identifier: Apache-2.0 */
/*
 * canonical.c - the simplest digits for the same relation.
 *
 * Three rewritings, none of which changes where an element is:
 *
 *   merge     neighbours of one chain with the same target and slope (stride per unit) become one digit if the lower
 *             step divides the higher one. Else later digits would get another rest: of 3, steps 3, 2, 1 leave 0, but 2, 1
 *             leave 1.
 *   dissolve  a join v = a*W + b whose digits are cut at W (steps >= W are multiples of W, the next one divides W)
 *             gives its high digits to a and its low digits to b.
 *   replicas  contiguous replicas of one axis become one.
 *
 * Holes are dropped: the axis keeps its extent, so their places stay padding.
 *
 *   f32[24,128]{1,0:T(8,128)}   dim 0: (8 -> 1024) (1 -> 128)  one slope 128   =>   (1 -> 128)
 */
#include "layout/layout.h"

/* ---- chains of a layout as short lists ----------------------------------------------------------- */

typedef struct workbench {
  tesela_layout *layout;
  int32_t n; /* digits in use, ordered only by steps inside a chain */
  tesela_digit digit[TESELA_MAX_DIGITS];
} workbench;

static int32_t digits_of(const workbench *bench, int32_t coordinate, int32_t *numbers) {
  int32_t n = 0;
  for (int32_t i = 0; i < bench->n; i++)
    if (bench->digit[i].source == coordinate) numbers[n++] = i;
  return n;
}

static void drop_digit(workbench *bench, int32_t number) {
  bench->n--;
  for (int32_t i = number; i < bench->n; i++) bench->digit[i] = bench->digit[i + 1];
}

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
static void tidy_chain(workbench *bench, int32_t coordinate) {
  int32_t number[TESELA_MAX_DIGITS];
  int64_t limit = tesela__coordinate_extent(bench->layout, coordinate);
  int32_t n = digits_of(bench, coordinate, number);
  for (int32_t k = 0, dropped = 0; k < n; k++) {
    tesela_digit *digit = &bench->digit[number[k] - dropped];
    digit->extent = tesela__ceil_div(limit, digit->step);
    limit = tesela__min(limit, digit->step);
    if (digit->extent == 1) drop_digit(bench, number[k] - dropped++);
  }
  n = digits_of(bench, coordinate, number);
  for (int32_t k = n - 2; k >= 0; k--) {
    tesela_digit *high = &bench->digit[number[k]], *low = &bench->digit[number[k + 1]];
    if (!same_target(high, low) || !same_slope(high, low) || high->step % low->step != 0) continue;
    limit = k > 0 ? bench->digit[number[k - 1]].step : tesela__coordinate_extent(bench->layout, coordinate);
    low->extent = tesela__ceil_div(limit, low->step);
    drop_digit(bench, number[k]);
    for (int32_t i = k; i + 1 < n; i++) number[i] = number[i + 1] - 1;
    n--;
  }
  if (n == 1 && bench->digit[number[0]].stride == 0) drop_digit(bench, number[0]); /* adds nothing */
}

static void tidy_chains(workbench *bench) {
  for (int32_t c = 0; c < tesela__n_coordinates(bench->layout); c++) tidy_chain(bench, c);
}

/* ---- dissolving a join ------------------------------------------------------------------------------------- */

/* Parts of a join by decreasing weight. */
static int32_t parts_of(const workbench *bench, int32_t join, int32_t *part) {
  int32_t n = 0;
  for (int32_t i = 0; i < bench->n; i++) {
    if (bench->digit[i].join != join) continue;
    int32_t k = n++;
    for (; k > 0 && bench->digit[part[k - 1]].stride < bench->digit[i].stride; k--) part[k] = part[k - 1];
    part[k] = i;
  }
  return n;
}

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
static bool is_mixed_radix(const workbench *bench, const int32_t *part, int32_t n) {
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
static bool hand_over(workbench *bench, int32_t part, const tesela_digit *digit, int32_t n, int64_t above) {
  tesela_digit old = bench->digit[part];
  int32_t at = part;
  drop_digit(bench, part);
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
static bool dissolve(workbench *bench, int32_t j) {
  int32_t coordinate = bench->layout->rank + j, part[TESELA_MAX_DIGITS], number[TESELA_MAX_DIGITS];
  tesela_digit digit[TESELA_MAX_DIGITS];
  int32_t n_parts = parts_of(bench, j, part), n = digits_of(bench, coordinate, number);
  if (n_parts == 0 || bench->layout->join[j].offset != 0 || !is_mixed_radix(bench, part, n_parts))
    return false;
  for (int32_t k = 0; k < n; k++) digit[k] = bench->digit[number[k]];
  for (int32_t k = 0; k < n_parts; k++) {
    int64_t weight = bench->digit[part[k]].stride;
    if (weight > 1 && !cut_at(digit, &n, weight)) return false;
  }
  workbench trial = *bench;
  for (int32_t k = digits_of(bench, coordinate, number) - 1; k >= 0; k--) drop_digit(&trial, number[k]);
  for (int32_t k = 0; k < n_parts; k++) {
    int64_t above = k > 0 ? bench->digit[part[k - 1]].stride : 0;
    int32_t now[TESELA_MAX_DIGITS]; /* positions shift: find the heaviest remaining part */
    if (parts_of(&trial, j, now) == 0 || !hand_over(&trial, now[0], digit, n, above)) return false;
  }
  *bench = trial;
  return true;
}

/* ---- replicas ---------------------------------------------------------------------------------------------- */

static void tidy_replicas(workbench *bench) {
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
    drop_digit(bench, i);
  }
}

/* ---- the whole --------------------------------------------------------------------------------------------- */

/* Remove joins that lost all their digits, and renumber the others. */
static void renumber_joins(workbench *bench) {
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
static void drop_fixed_joins(workbench *bench) {
  tesela_layout *layout = bench->layout;
  for (int32_t j = 0; j < layout->n_joins; j++) {
    int32_t part[TESELA_MAX_DIGITS], number[TESELA_MAX_DIGITS];
    int64_t rest = layout->join[j].offset;
    if (parts_of(bench, j, part) > 0) continue;
    int32_t n = digits_of(bench, layout->rank + j, number);
    for (int32_t k = 0; k < n; k++) {
      const tesela_digit *digit = &bench->digit[number[k]];
      int64_t q = rest / digit->step;
      *(digit->axis >= 0 ? &layout->axis[digit->axis].offset : &layout->join[digit->join].offset) +=
          q * digit->stride;
      rest -= q * digit->step; /* finish checked the sums: they are places and values of an element */
    }
    while (n > 0) drop_digit(bench, number[--n]);
  }
}

/* From the last join to the first: release the parts of a join without digits, dissolve others if possible. True if one
 * was dissolved: then parts of the others may be merged or removed. */
static bool dissolve_joins(workbench *bench) {
  bool any = false;
  for (int32_t j = bench->layout->n_joins - 1; j >= 0; j--) {
    int32_t number[TESELA_MAX_DIGITS];
    if (digits_of(bench, bench->layout->rank + j, number) > 0)
      any = dissolve(bench, j) || any;
    else
      for (int32_t i = 0; i < bench->n; i++)
        if (bench->digit[i].join == j) silence(&bench->digit[i]);
    tidy_chains(bench);
  }
  return any;
}

/* Copy the active digits except holes. */
static void fill(workbench *bench, const tesela_layout *layout) {
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
  workbench bench = {.layout = &result, .n = 0};
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
