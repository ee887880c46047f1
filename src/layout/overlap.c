/* SPDX-License-Identifier: Apache-2.0 */
/*
 * overlap.c - places of digits whose strides do not nest: does one place belong to two values, and which value gives a
 * place?
 *
 * Strides nest if each is above all that the smaller ones reach together; then no place belongs to two values, and
 * division by decreasing stride finds the value. Else both questions are one search, for values v of the digits, by
 * decreasing stride:
 *
 *   shared    v from -(extent-1) to extent-1, the difference of two values, with sum v * stride = 0
 *   inverse   v from 0 to extent-1, with sum v * stride = place
 *
 * At each digit only those v are tried whose remainder is within reach of the digits after it, and a multiple of the
 * gcd of their strides. Example: extents 3, 2 and strides 2, 3 (places 0 2 4 3 5 7). Of -1 to 1 the digit of stride 3
 * can only be 0, since 3 is not a multiple of 2. Then the other digit is 0, too, so no place is shared.
 *
 * The search for shared places stops undecided after OVERLAP_STEPS values. Two partial values that the inverse tries
 * for a place differ by a partial difference that the first search tried; so if that search found no shared place, the
 * inverse tries at most twice as many values.
 *
 * Values of padding do not count: both values must be of elements as far as their own digits decide. Whether a value of
 * a join is that of an element is not checked; if such values share a place, the answer is undecided.
 */
#include "layout/layout.h"

enum { OVERLAP_STEPS = 1 << 14, OVERLAP_FIRST = 512 };

/* A digit of the target, the largest stride first. */
typedef struct overlap_level {
  int32_t number;            /* of the digit */
  int64_t stride;            /* its magnitude, above 0 */
  int64_t low, high;         /* values that may be tried */
  int64_t least, most;       /* sums of the levels after this one */
  int64_t modulus, inverse;  /* v * stride = rest (mod gcd after) if v = rest / gcd * inverse (mod modulus) */
  int64_t gcd;               /* of this stride and those after it */
  int64_t rest, value, last; /* search: the sum to reach, the current value, the last one */
  bool zero;                 /* all values before are 0 */
} overlap_level;

typedef struct overlap_search {
  const tesela_layout *layout;
  bool differences; /* of two values; else values */
  int32_t n;
  int64_t steps_left;
  bool undecided;
  overlap_level level[TESELA_MAX_DIGITS];
} overlap_search;

static int64_t floor_div(int64_t a, int64_t b) { return a / b - (a % b < 0); }

/* a * b mod m for 0 <= a, b < m < 2^62. */
static int64_t product_mod(int64_t a, int64_t b, int64_t m) {
  int64_t sum = 0;
  for (; b > 0; b >>= 1, a = (a + a) % m)
    if (b & 1) sum = (sum + a) % m;
  return sum;
}

/* The x with a * x = 1 (mod m); gcd(a, m) = 1. */
static int64_t inverse_mod(int64_t a, int64_t m) {
  int64_t r = m, next_r = a % m, x = 0, next_x = 1 % m;
  while (next_r != 0) {
    int64_t q = r / next_r, kept = r - q * next_r;
    r = next_r;
    next_r = kept;
    kept = x - q * next_x; /* below m in magnitude */
    x = next_x;
    next_x = kept;
  }
  return x < 0 ? x + m : x;
}

/* The digits of a target as levels; false if sums of them could be above 2^60. Without holes, which have elements only
 * at 0. */
static bool overlap_start(overlap_search *search, const tesela_layout *layout, int32_t target,
                          bool differences) {
  search->layout = layout;
  search->differences = differences;
  search->undecided = false;
  search->n = 0;
  for (int32_t i = 0; i < layout->n_active; i++) {
    const tesela_digit *digit = &layout->digit[layout->by_place[i]];
    if (digit->stride == 0 || digit->source == TESELA_HOLE || tesela__target(layout, digit) != target)
      continue;
    search->level[search->n++] = (overlap_level){.number = layout->by_place[i],
                                                 .stride = digit->stride < 0 ? -digit->stride : digit->stride,
                                                 .low = differences ? 1 - digit->extent : 0,
                                                 .high = digit->extent - 1};
  }
  int64_t reach = 0, gcd = 0; /* of the levels after k */
  for (int32_t k = search->n - 1; k >= 0; k--) {
    overlap_level *l = &search->level[k];
    l->least = differences ? -reach : 0;
    l->most = reach;
    l->gcd = tesela__gcd(l->stride, gcd);
    l->modulus = gcd / l->gcd;
    l->inverse = gcd > 0 ? inverse_mod(l->stride / l->gcd % l->modulus, l->modulus) : 0;
    gcd = l->gcd;
    reach += l->high * l->stride; /* finish checked this sum */
    if (reach > INT64_MAX / 8) return false;
  }
  return true;
}

/* The values of level k that may reach `rest`; false if no value can. */
static bool overlap_enter(overlap_search *search, int32_t k, int64_t rest, bool zero) {
  overlap_level *l = &search->level[k];
  int64_t low = -floor_div(l->most - rest, l->stride), high = floor_div(rest - l->least, l->stride);
  low = tesela__max(low, search->differences && zero ? 0 : l->low); /* one of a difference and its opposite */
  high = tesela__min(high, l->high);
  l->rest = rest;
  l->zero = zero;
  if (rest % l->gcd != 0 || low > high) return false;
  if (l->modulus > 0) {
    int64_t part = rest / l->gcd % l->modulus;
    int64_t v = product_mod(part < 0 ? part + l->modulus : part, l->inverse, l->modulus);
    int64_t above = (v - low) % l->modulus;
    low += above < 0 ? above + l->modulus : above;
  } else if (rest % l->stride != 0) {
    return false;
  }
  l->value = low;
  l->last = high;
  return low <= high;
}

/* Is a value of these digits, all others 0, that of an element as far as these digits decide? */
static bool overlap_is_element(const tesela_layout *layout, const int64_t *q) {
  int64_t value;
  for (int32_t c = 0; c < tesela__n_coordinates(layout); c++)
    if (!tesela__put_together(layout, c, q, &value)) return false;
  return true;
}

/* Convert levels to digits. Differences: positive ones to `above`, negative ones to `below`; values: to `above`. */
static void overlap_values(const overlap_search *search, int64_t *above, int64_t *below) {
  const tesela_layout *layout = search->layout;
  for (int32_t i = 0; i < layout->n_active; i++) above[i] = below[i] = 0;
  for (int32_t k = 0; k < search->n; k++) {
    const overlap_level *l = &search->level[k];
    bool down = layout->digit[l->number].stride < 0;
    if (!search->differences)
      above[l->number] = down ? l->high - l->value : l->value;
    else if ((l->value > 0) != down)
      above[l->number] = down ? -l->value : l->value;
    else
      below[l->number] = down ? l->value : -l->value;
  }
}

/* The values of all levels give the sum: are they a solution? */
static bool overlap_accept(overlap_search *search, int64_t *above) {
  int64_t below[TESELA_MAX_DIGITS];
  const overlap_level *last = &search->level[search->n - 1];
  if (search->differences && last->zero && last->value == 0) return false;
  overlap_values(search, above, below);
  if (!overlap_is_element(search->layout, above) || !overlap_is_element(search->layout, below)) return false;
  for (int32_t k = 0; search->differences && k < search->n; k++)
    if (search->level[k].value != 0 &&
        search->layout->digit[search->level[k].number].source >= search->layout->rank) {
      search->undecided = true; /* does an element have this value of the join? */
      return false;
    }
  return true;
}

/* The first values that give the sum and are accepted; false without such values, or after too many steps. */
static bool overlap_find(overlap_search *search, int64_t sum, int64_t *above) {
  int32_t k = 0;
  if (search->n == 0) { /* only holes: the only value is 0 */
    int64_t below[TESELA_MAX_DIGITS];
    overlap_values(search, above, below);
    return !search->differences && sum == 0;
  }
  bool open = overlap_enter(search, 0, sum, true);
  while (k >= 0) {
    overlap_level *l = &search->level[k];
    if (!open || l->value > l->last) {
      if (--k >= 0) search->level[k].value += tesela__max(search->level[k].modulus, 1);
      open = true;
      continue;
    }
    if (search->steps_left-- == 0) {
      search->undecided = true;
      return false;
    }
    if (k + 1 < search->n) {
      open = overlap_enter(search, k + 1, l->rest - l->value * l->stride, l->zero && l->value == 0);
      k++;
      continue;
    }
    if (overlap_accept(search, above)) return true;
    l->value = l->last + 1; /* the last level has one value at most */
  }
  return false;
}

tesela__sharing tesela__places_shared(const tesela_layout *layout, int32_t target) {
  overlap_search search = {.steps_left = OVERLAP_STEPS};
  int64_t above[TESELA_MAX_DIGITS];
  for (int32_t i = 0; i < layout->n_active; i++) {
    const tesela_digit *digit = &layout->digit[i];
    if (digit->stride == 0 && digit->source >= layout->rank && tesela__target(layout, digit) == target)
      return TESELA__PLACES_UNDECIDED; /* neighbours of a join share a place, if both are of elements */
  }
  if (!overlap_start(&search, layout, target, true)) return TESELA__PLACES_UNDECIDED;
  if (overlap_find(&search, 0, above)) return TESELA__PLACES_SHARED;
  return search.undecided ? TESELA__PLACES_UNDECIDED : TESELA__PLACES_UNIQUE;
}

/* The elements of two values of one target's digits, all other digits 0. */
static bool overlap_elements(const overlap_search *search, int64_t *a, int64_t *b) {
  const tesela_layout *layout = search->layout;
  int64_t above[TESELA_MAX_DIGITS], below[TESELA_MAX_DIGITS];
  overlap_values(search, above, below);
  for (int32_t d = 0; d < layout->rank; d++)
    if (!tesela__put_together(layout, d, above, &a[d]) || !tesela__put_together(layout, d, below, &b[d]))
      return false;
  return true;
}

static bool overlap_same_place(const tesela_layout *layout, const int64_t *a, const int64_t *b,
                               int64_t *place) {
  int64_t other;
  bool different = false; /* values of a replica are of one element */
  for (int32_t d = 0; d < layout->rank; d++) different = different || a[d] != b[d];
  return different && tesela_layout_place_of(layout, a, place, NULL) == TESELA_OK &&
         tesela_layout_place_of(layout, b, &other, NULL) == TESELA_OK && *place == other;
}

/* Of the first elements, row-major, the first that is where an earlier one is. */
static bool overlap_try_first(const tesela_layout *layout, int64_t *a, int64_t *b, int64_t *place) {
  int64_t at[OVERLAP_FIRST];
  for (int32_t d = 0; d < layout->rank; d++) b[d] = 0;
  for (int32_t n = 0; n < OVERLAP_FIRST; n++) {
    if (tesela_layout_place_of(layout, b, &at[n], NULL) != TESELA_OK) return false;
    for (int32_t i = 0; i < n; i++)
      if (at[i] == at[n]) {
        int64_t rest = i;
        for (int32_t d = layout->rank - 1; d >= 0; d--) {
          a[d] = rest % layout->shape[d];
          rest /= layout->shape[d];
        }
        *place = at[n];
        return true;
      }
    int32_t d = layout->rank - 1;
    while (d >= 0 && ++b[d] == layout->shape[d]) b[d--] = 0;
    if (d < 0) return false;
  }
  return false;
}

bool tesela__find_shared(const tesela_layout *layout, int64_t a[TESELA_MAX_RANK], int64_t b[TESELA_MAX_RANK],
                         int64_t *place) {
  if (layout->n_axes != 1) return false;
  if (overlap_try_first(layout, a, b, place)) return true;
  for (int32_t i = 0; i < layout->n_active; i++) {
    const tesela_digit *digit = &layout->digit[i];
    if (digit->stride != 0 || digit->source < 0 || digit->source >= layout->rank ||
        layout->shape[digit->source] <= digit->step)
      continue;
    for (int32_t d = 0; d < layout->rank; d++) a[d] = b[d] = 0;
    b[digit->source] = digit->step;
    if (overlap_same_place(layout, a, b, place)) return true;
  }
  for (int32_t target = 0; target < 1 + layout->n_joins; target++) {
    overlap_search search = {.steps_left = OVERLAP_STEPS};
    int64_t above[TESELA_MAX_DIGITS];
    if (overlap_start(&search, layout, target, true) && overlap_find(&search, 0, above) &&
        overlap_elements(&search, a, b) && overlap_same_place(layout, a, b, place))
      return true;
  }
  return false;
}

bool tesela__value_at(const tesela_layout *layout, int32_t target, int64_t place, int64_t *q) {
  overlap_search search = {.steps_left = -1};
  int64_t found[TESELA_MAX_DIGITS];
  (void)overlap_start(&search, layout, target, false); /* true, as it was for shared places */
  int64_t least = 0,
          reach = search.n > 0 ? search.level[0].most + search.level[0].high * search.level[0].stride : 0;
  for (int32_t k = 0; k < search.n; k++) {
    const overlap_level *l = &search.level[k];
    if (layout->digit[l->number].stride < 0) least -= l->high * l->stride;
  }
  if (place < least || place - least > reach || !overlap_find(&search, place - least, found)) return false;
  for (int32_t i = 0; i < layout->n_active; i++)
    if (tesela__target(layout, &layout->digit[i]) == target) q[i] = found[i];
  return true;
}
