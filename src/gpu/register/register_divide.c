/* SPDX-License-Identifier: Apache-2.0 */
/*
 * register_divide.c - both quotients of register layouts.
 *
 * compose(a, b) has the lists of a followed by those of b, and in each dim the modes of a before those of b. In
 * canonical form every list entry is a maximal digit of the relation: an element digit (dim, step, extent) or a
 * replica. So the digits of a and of b are whole entries of the result, except at the border in each list: the last
 * entry of a and the first of b may be joined. A quotient exists exactly if the entries of the divisor are at its end
 * of the lists; at the border a larger entry may be cut.
 *
 *   right   spatial(12) / spatial(4)    the entry 12 (step 1) ends with 4 (step 1), leaving 3 (step 4)
 *   left    local(2).spatial(6) by local(2).spatial(2): steps of the divisor grow by the quotient's extent 12/4 = 3,
 *           so 2 (step 3) is the slow part of 6 (step 1), leaving 3 (step 1)
 *
 * Time is quadratic in the number of modes, which is small.
 */
#include "gpu/register/register.h"

/* One entry of a list as a digit of the relation. */
typedef struct divide_digit {
  int32_t dim;  /* -1: a replica */
  int32_t mode; /* of the layout; -1: a replica */
  int64_t extent, step;
} divide_digit;

/* The lists of a canonical layout as digits. */
typedef struct divide_side {
  tesela_register layout;
  int32_t n[2];
  divide_digit digit[2][TESELA_REGISTER_MODES]; /* spatial, local */
} divide_side;

static void divide_read(divide_side *side, const tesela_register *layout) {
  int32_t first[TESELA_MAX_RANK + 1];
  divide_digit modes[TESELA_REGISTER_MODES];
  tesela_register_canonical(&side->layout, layout);
  layout = &side->layout;
  tesela__register_dims(layout, first);
  for (int32_t d = 0; d < layout->rank; d++) {
    int64_t step = 1;
    for (int32_t m = first[d + 1] - 1; m >= first[d]; step *= layout->mode_shape[m--])
      modes[m] = (divide_digit){d, m, layout->mode_shape[m], step};
  }
  side->n[0] = layout->n_spatial;
  for (int32_t i = 0; i < layout->n_spatial; i++) {
    int64_t mode = layout->spatial_modes[i];
    side->digit[0][i] = mode < 0 ? (divide_digit){-1, -1, -mode, 0} : modes[mode];
  }
  side->n[1] = layout->n_local;
  for (int32_t i = 0; i < layout->n_local; i++) side->digit[1][i] = modes[layout->local_modes[i]];
}

/* Is `part` (a digit of the divisor in coordinates of the whole) the slow part of `whole`, or else the fast part? */
static bool divide_is_part(const divide_digit *part, const divide_digit *whole, bool slow) {
  if (part->dim != whole->dim || whole->extent % part->extent != 0) return false;
  if (part->dim < 0) return true;
  return part->step == (slow ? whole->step * (whole->extent / part->extent) : whole->step);
}

/* Match the divisor's entries of one list with the end (left: the beginning) of the whole's; the border entry may be
 * larger and is cut. The rest of the whole's list is *first .. *end - 1, including a cut entry. */
static bool divide_match(divide_side *whole, const divide_side *divisor, int list, bool left, int32_t *first,
                         int32_t *end) {
  int32_t n = divisor->n[list];
  *first = 0;
  *end = whole->n[list];
  if (n > whole->n[list]) return false;
  for (int32_t i = 0; i < n; i++) {
    const divide_digit *part = &divisor->digit[list][i];
    divide_digit *entry = &whole->digit[list][left ? i : whole->n[list] - n + i];
    bool border = i == (left ? n - 1 : 0);
    if (!divide_is_part(part, entry, left)) return false;
    if (entry->extent != part->extent && !border) return false;
    entry->extent /= part->extent;
    if (!left) entry->step *= part->extent; /* the slow part remains */
  }
  bool cut = n > 0 && whole->digit[list][left ? n - 1 : whole->n[list] - n].extent > 1;
  if (left)
    *first = n - cut;
  else
    *end = whole->n[list] - n + cut;
  return true;
}

/* The layout with the remaining digits as its lists, and the quotient's shape. Remaining digits of a dim, in mode
 * order, are its modes, since the divisor took the whole other part. */
static tesela_status divide_build(tesela_register *out, const divide_side *whole, const int64_t *shape,
                                  const int32_t *first, const int32_t *end, tesela_error *err) {
  tesela_register result;
  int64_t extent[TESELA_REGISTER_MODES];
  int32_t number[TESELA_REGISTER_MODES];
  tesela__register_clear(&result);
  result.rank = whole->layout.rank;
  for (int32_t d = 0; d < result.rank; d++) result.shape[d] = shape[d];
  for (int32_t m = 0; m < whole->layout.n_modes; m++) extent[m] = 1;
  for (int list = 0; list < 2; list++)
    for (int32_t i = first[list]; i < end[list]; i++)
      if (whole->digit[list][i].mode >= 0) extent[whole->digit[list][i].mode] = whole->digit[list][i].extent;
  for (int32_t m = 0; m < whole->layout.n_modes; m++) {
    number[m] = result.n_modes;
    if (extent[m] > 1) result.mode_shape[result.n_modes++] = extent[m];
  }
  for (int32_t i = first[0]; i < end[0]; i++) {
    const divide_digit *digit = &whole->digit[0][i];
    result.spatial_modes[result.n_spatial++] = digit->mode < 0 ? -digit->extent : number[digit->mode];
  }
  for (int32_t i = first[1]; i < end[1]; i++)
    result.local_modes[result.n_local++] = number[whole->digit[1][i].mode];
  tesela_status status = tesela__register_sizes(&result, err);
  if (status == TESELA_OK) tesela_register_reduced(out, &result);
  return status;
}

/* Raise the dims of the divisor to the rank of the whole, and compute the quotient's shape. */
static tesela_status divide_shapes(const divide_side *whole, divide_side *divisor, tesela_reason reason,
                                   int64_t *shape, tesela_error *err) {
  int32_t lead = whole->layout.rank - divisor->layout.rank;
  if (lead < 0)
    return tesela__refuse(err, TESELA_E_INVALID, reason,
                          "the divisor has rank %" PRId32 ", the layout rank %" PRId32
                          "; a product has the larger rank of its two factors",
                          divisor->layout.rank, whole->layout.rank);
  for (int list = 0; list < 2; list++)
    for (int32_t i = 0; i < divisor->n[list]; i++)
      if (divisor->digit[list][i].dim >= 0) divisor->digit[list][i].dim += lead;
  for (int32_t d = 0; d < whole->layout.rank; d++) {
    int64_t extent = d >= lead ? divisor->layout.shape[d - lead] : 1;
    if (whole->layout.shape[d] % extent != 0)
      return tesela__refuse(err, TESELA_E_INVALID, reason,
                            "dim %" PRId32 " has extent %" PRId64 "; the divisor's %" PRId64
                            " does not divide it",
                            d, whole->layout.shape[d], extent);
    shape[d] = whole->layout.shape[d] / extent;
  }
  return TESELA_OK;
}

static tesela_status divide_either(tesela_register *out, const tesela_register *layout,
                                   const tesela_register *divisor, bool left, tesela_error *err) {
  static const char *const names[] = {"threads", "registers"};
  tesela_reason reason = left ? TESELA_REASON_NOT_LEFT_DIVISIBLE : TESELA_REASON_NOT_DIVISIBLE;
  divide_side whole, part;
  int64_t shape[TESELA_MAX_RANK];
  int32_t first[2], end[2];
  divide_read(&whole, layout);
  divide_read(&part, divisor);
  tesela_status status = divide_shapes(&whole, &part, reason, shape, err);
  if (status != TESELA_OK) return status;
  for (int list = 0; list < 2; list++) {
    for (int32_t i = 0; left && i < part.n[list]; i++)
      if (part.digit[list][i].dim >= 0) part.digit[list][i].step *= shape[part.digit[list][i].dim];
    if (!divide_match(&whole, &part, list, left, &first[list], &end[list]))
      return tesela__refuse(err, TESELA_E_INVALID, reason,
                            "the %s of the divisor are not the %s digits of the layout's", names[list],
                            left ? "slowest" : "fastest");
  }
  return divide_build(out, &whole, shape, first, end, err);
}

tesela_status tesela_register_divide(tesela_register *out, const tesela_register *layout,
                                     const tesela_register *divisor, tesela_error *err) {
  TESELA__NEED(err, out, layout, divisor);
  return divide_either(out, layout, divisor, false, err);
}

tesela_status tesela_register_left_divide(tesela_register *out, const tesela_register *layout,
                                          const tesela_register *divisor, tesela_error *err) {
  TESELA__NEED(err, out, layout, divisor);
  return divide_either(out, layout, divisor, true, err);
}
