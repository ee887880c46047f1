/* SPDX-License-Identifier: Apache-2.0 */
/*
 * cute_left.c - left inverse: R(A(i)) = i.
 *
 * Where each stride of A divides the next and is above all that the smaller ones reach, the quotients are the extents of R. Other
 * injective layouts, (3,2):(2,3), are small, or refused: all extents are tried, the fewest first.
 */
#include "cute/cute_algebra.h"
#include "cute/cute_value.h"

enum { LEFT_SIZE = 1 << 9, LEFT_MOST = 1 << 14, LEFT_STEPS = 1 << 20, LEFT_LEVELS = 16 };

/* ---- strides that nest ---- */

/* False: they do not. */
static bool left_nested(const tesela_cute *a, tesela_cute *made) {
  tesela__cute_digit digit[TESELA_CUTE_LEAVES];
  const int32_t n = tesela__cute_sorted(a, true, digit);
  int64_t reach = 0;
  memset(made, 0, sizeof *made);
  if (n > 0) (void)tesela__cute_join_leaf(made, digit[0].stride, 0);
  for (int32_t k = 0; k < n; k++) {
    reach += (digit[k].extent - 1) * digit[k].stride;
    int64_t extent = digit[k].extent;
    if (k + 1 < n) {
      if (digit[k + 1].stride % digit[k].stride != 0 || digit[k + 1].stride <= reach) return false;
      extent = digit[k + 1].stride / digit[k].stride;
    }
    if (!tesela__cute_join_leaf(made, extent, digit[k].weight)) return false;
  }
  tesela__cute_close_leaves(made);
  return true;
}

/* ---- small layouts ---- */

/* Once the extents are chosen, the strides are the unknowns of one linear equation for each coordinate. They are solved modulo a prime
 * and verified exactly: integers that solve them do so modulo the prime, too. */
enum { LEFT_PRIME = 2147483647 };

typedef struct left_search {
  int32_t n;
  int64_t place[LEFT_SIZE]; /* of each coordinate */
  int32_t n_levels;
  int64_t extent[LEFT_LEVELS], stride[LEFT_LEVELS];
  int64_t steps;
  bool uncertain; /* a solution modulo the prime did not hold: it is of fractions, or one of several */
} left_search;

/* The digits of a place. */
static void left_digits(const left_search *s, int64_t place, int64_t *digit) {
  for (int32_t l = 0; l < s->n_levels; place /= s->extent[l++])
    digit[l] = l + 1 < s->n_levels ? place % s->extent[l] : place;
}

static int64_t left_inverse_mod(int64_t a) { /* Fermat */
  int64_t result = 1;
  for (int64_t e = LEFT_PRIME - 2; e > 0; e >>= 1, a = a * a % LEFT_PRIME)
    if (e & 1) result = result * a % LEFT_PRIME;
  return result;
}

/* The equations, each with a 1 at its level if there is one; `row[l]` ends with the right side. */
typedef struct left_equations {
  bool have[LEFT_LEVELS];
  int64_t row[LEFT_LEVELS][LEFT_LEVELS + 1];
} left_equations;

/* Add an equation, less those that are known; false if it contradicts them. */
static bool left_add(left_equations *e, int32_t levels, const int64_t *digit, int64_t right) {
  int64_t row[LEFT_LEVELS + 1];
  for (int32_t l = 0; l < levels; l++) row[l] = digit[l] % LEFT_PRIME;
  row[levels] = right % LEFT_PRIME;
  for (int32_t l = 0; l < levels; l++) {
    const int64_t factor = row[l];
    if (factor == 0) continue;
    if (!e->have[l]) {
      const int64_t inverse = left_inverse_mod(factor);
      for (int32_t k = 0; k <= levels; k++) e->row[l][k] = k < l ? 0 : row[k] * inverse % LEFT_PRIME;
      e->have[l] = true;
      return true;
    }
    for (int32_t k = l; k <= levels; k++)
      row[k] = (row[k] + (LEFT_PRIME - factor) * e->row[l][k]) % LEFT_PRIME;
  }
  return row[levels] == 0;
}

/* Are there strides for the extents? */
static bool left_solve(left_search *s) {
  left_equations e;
  int64_t digit[LEFT_LEVELS];
  const int32_t levels = s->n_levels;
  memset(e.have, 0, sizeof e.have);
  for (int32_t i = 1; i < s->n; i++) {
    s->steps--;
    left_digits(s, s->place[i], digit);
    if (!left_add(&e, levels, digit, i)) return false;
  }
  for (int32_t l = levels - 1; l >= 0; l--) { /* strides that are free are 0 */
    int64_t value = e.have[l] ? e.row[l][levels] : 0;
    for (int32_t k = l + 1; k < levels && e.have[l]; k++) {
      const int64_t stride = s->stride[k] < 0 ? s->stride[k] + LEFT_PRIME : s->stride[k];
      value = (value + (LEFT_PRIME - e.row[l][k]) * stride) % LEFT_PRIME;
    }
    s->stride[l] = value > LEFT_PRIME / 2 ? value - LEFT_PRIME : value;
  }
  for (int32_t i = 0; i < s->n; i++) {
    int64_t sum = 0;
    left_digits(s, s->place[i], digit);
    for (int32_t l = 0; l < levels; l++) sum += digit[l] * s->stride[l];
    if (sum != i) {
      s->uncertain = true;
      return false;
    }
  }
  return true;
}

/* Exactly `more` levels more, over places up to `most`; the recursion is at most LEFT_LEVELS deep. */
static bool left_levels(left_search *s, int32_t more, int64_t most) {
  s->n_levels++;
  if (more == 1) {
    s->extent[s->n_levels - 1] = most + 1;
    if (left_solve(s)) return true;
  }
  for (int64_t extent = 2; more > 1 && extent <= most && s->steps > 0; extent++) {
    s->extent[s->n_levels - 1] = extent;
    if (left_levels(s, more - 1, most / extent)) return true;
  }
  s->n_levels--;
  return false;
}

static tesela_status left_small(const tesela_cute *a, int64_t most, tesela_cute *made, tesela_error *err) {
  left_search s = {.n_levels = 0, .steps = LEFT_STEPS};
  const int64_t size = tesela_cute_size(a);
  bool found = false;
  if (size <= LEFT_SIZE && most < LEFT_MOST) {
    for (s.n = 0; s.n < size; s.n++) s.place[s.n] = tesela__cute_sum_at(a, s.n);
    for (int32_t levels = 1; levels <= LEFT_LEVELS && (most >> (levels - 1)) > 0 && !found && s.steps > 0;
         levels++)
      found = left_levels(&s, levels, most);
  }
  if (!found && (s.n == 0 || s.steps <= 0 || s.uncertain))
    return tesela__fail(err, TESELA_E_LIMIT, -1,
                        "undecided: the strides do not nest, and no left inverse was found in %d steps",
                        LEFT_STEPS);
  if (!found)
    return tesela__refuse(err, TESELA_E_UNSUPPORTED, TESELA_REASON_NOT_EXPRESSIBLE,
                          "no extents and strides map the places back to their coordinates");
  memset(made, 0, sizeof *made);
  for (int32_t l = 0; l < s.n_levels; l++) (void)tesela__cute_join_leaf(made, s.extent[l], s.stride[l]);
  tesela__cute_close_leaves(made);
  return TESELA_OK;
}

tesela_status tesela_cute_left_inverse(const tesela_cute *a, tesela_cute *out, tesela_cute_counter *counter,
                                       tesela_error *err) {
  TESELA__NEED(err, a, out);
  tesela_cute made;
  int64_t least, most;
  tesela_cute_counter unused, *where = counter ? counter : &unused;
  *where = (tesela_cute_counter){.given = false};
  tesela_status status = tesela__cute_plain(a, false, "the layout", err);
  if (status == TESELA_OK) status = tesela__cute_no_offset(a, "the layout", err);
  if (status == TESELA_OK) status = tesela__cute_injective(a, where, err);
  if (status != TESELA_OK) return status;
  tesela__cute_reach(a, &least, &most);
  if (least < 0) return tesela__cute_below_zero(a, where, err);
  if (!left_nested(a, &made)) status = left_small(a, most, &made, err);
  if (status == TESELA_OK) *out = made;
  return status;
}
