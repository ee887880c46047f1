/* SPDX-License-Identifier: Apache-2.0 */
/*
 * map_lower.c - the terms of a map become the digits of a layout.
 *
 * The divisors and moduli of all terms of a coordinate are the steps of its digits. A term must be a sum of digits of the
 * greedy split: for steps 7, 5 and 1 x % 7 % 5 is one, but x % 5 is not.
 */
#include <stdlib.h>

#include "layout/layout.h"
#include "notation/map/map.h"

typedef struct map_lowering {
  const tesela__map_text *map;
  tesela_layout *layout;
  tesela_error *err;
} map_lowering;

static tesela_status map_fail(const map_lowering *l, tesela_status status, size_t at, const char *message) {
  return tesela__read_fail(&l->map->reader, status, at, "%s", message);
}

static int32_t map_coordinate(const map_lowering *l, const tesela__map_term *term) {
  return term->kind == TESELA__MAP_DIM ? term->number : l->layout->rank + term->number;
}

static int by_size(const void *a, const void *b) {
  int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;
  return x < y ? 1 : x > y ? -1 : 0;
}

/* The steps of a coordinate, decreasing, the last one 1. Returns how many; 0 if nothing uses it. */
static int32_t map_steps(const map_lowering *l, int32_t coordinate, int64_t *step) {
  int32_t n = 0, kept = 0;
  for (int32_t t = 0; t < l->map->n_terms; t++) {
    const tesela__map_term *term = &l->map->term[t];
    if (term->kind == TESELA__MAP_COPY || map_coordinate(l, term) != coordinate) continue;
    step[n++] = term->divisor;
    for (int32_t k = 0; k < term->n_moduli; k++) step[n++] = term->modulus[k];
  }
  if (n == 0) return 0;
  step[n++] = 1;
  qsort(step, (size_t)n, sizeof *step, by_size);
  for (int32_t k = 0; k < n; k++)
    if (kept == 0 || step[kept - 1] != step[k]) step[kept++] = step[k];
  return kept;
}

/* The first digit of the greedy split by these steps that a term consists of; -1: it consists of none. */
static int32_t map_first_digit(const tesela__map_term *term, const int64_t *step, int32_t n) {
  int64_t modulus[TESELA__MAP_MODULI]; /* of digit k: those of the term */
  int32_t used = 0;
  for (int32_t k = 0; k <= n; k++) {
    bool same = used == term->n_moduli;
    for (int32_t i = 0; i < used && same; i++) same = term->modulus[i] == modulus[i];
    if (same) return k;
    if (k == n) break;
    while (used > 0 && modulus[used - 1] % step[k] == 0) used--;
    if (used == TESELA__MAP_MODULI) break;
    modulus[used++] = step[k];
  }
  return -1;
}

/* How often digit k counts in a term, 0: not at all; -1: the term is not a sum of digits. */
static int64_t map_share(const tesela__map_term *term, const int64_t *step, int32_t n, int32_t k) {
  int32_t first = map_first_digit(term, step, n);
  for (int32_t i = first; i >= 0 && i < n && step[i] >= term->divisor; i++)
    if (step[i] % term->divisor != 0) return -1;
  if (first < 0) return -1;
  return k >= first && step[k] >= term->divisor ? step[k] / term->divisor : 0;
}

/* Add a digit of a coordinate, from the shares of all terms. */
static tesela_status map_digit(const map_lowering *l, int32_t coordinate, const int64_t *step, int32_t n,
                               int32_t k) {
  tesela_layout *layout = l->layout;
  int64_t limit = k > 0 ? step[k - 1] : tesela__coordinate_extent(layout, coordinate), more;
  tesela_digit digit = {.extent = tesela__ceil_div(limit, step[k]),
                        .step = step[k],
                        .source = (int16_t)coordinate,
                        .axis = 0,
                        .join = -1};
  bool placed = false;
  int32_t target = 0;
  for (int32_t t = 0; t < l->map->n_terms; t++) {
    const tesela__map_term *term = &l->map->term[t];
    if (term->kind == TESELA__MAP_COPY || map_coordinate(l, term) != coordinate) continue;
    int64_t share = map_share(term, step, n, k);
    if (share < 0)
      return map_fail(l, TESELA_E_UNSUPPORTED, term->at,
                      "steps that do not divide each other: expected x/a and the remainder of each larger "
                      "step, as in x%7%5/3");
    if (share == 0 || term->factor == 0) continue;
    if (placed && target != term->target)
      return map_fail(l, TESELA_E_UNSUPPORTED, term->at,
                      "a part of this name is in another sum too; no layout has it in two");
    if (!tesela__mul(share, term->factor, &more) || !tesela__add(digit.stride, more, &digit.stride))
      return map_fail(l, TESELA_E_OVERFLOW, term->at, "the factor does not fit in 64 bits");
    placed = true;
    target = term->target;
  }
  if (layout->n_digits == TESELA_MAX_DIGITS)
    return tesela__fail(l->err, TESELA_E_LIMIT, -1, "the map needs more than %d digits", TESELA_MAX_DIGITS);
  if (layout->n_axes == 0 && !placed) return TESELA_OK; /* it has no axis to add nothing to */
  digit.axis = (int16_t)(placed && target >= 0 ? -1 : placed ? -1 - target : 0);
  digit.join = (int16_t)(placed && target >= 0 ? target : -1);
  layout->digit[layout->n_digits++] = digit;
  return TESELA_OK;
}

static tesela_status map_digits(const map_lowering *l, int32_t coordinate) {
  int64_t step[TESELA__MAP_TERMS * 3 + 1]; /* most terms have a divisor and a modulus */
  int32_t needed = 1;
  for (int32_t t = 0; t < l->map->n_terms; t++) needed += 1 + l->map->term[t].n_moduli;
  if (needed > TESELA__MAP_TERMS * 3 + 1)
    return tesela__fail(l->err, TESELA_E_LIMIT, -1, "more than %d divisors and moduli",
                        TESELA__MAP_TERMS * 3);
  int32_t n = map_steps(l, coordinate, step);
  for (int32_t k = 0; k < n; k++) {
    tesela_status status = map_digit(l, coordinate, step, n, k);
    if (status != TESELA_OK) return status;
  }
  if (n == 0 && coordinate >= l->layout->rank)
    return map_fail(l, TESELA_E_INVALID, l->map->sum_at[coordinate - l->layout->rank], "the sum is not used");
  return TESELA_OK;
}

/* The least and the greatest value of a sum or an axis, whose parts are digits by now. */
static tesela_status map_reach(const map_lowering *l, int32_t axis, int32_t join, int64_t constant, size_t at,
                               int64_t *high) {
  const tesela_layout *layout = l->layout;
  int64_t low = constant, reach;
  bool fits = true;
  *high = constant;
  for (int32_t i = 0; i < layout->n_digits && fits; i++) {
    const tesela_digit *digit = &layout->digit[i];
    if (digit->join != join || digit->axis != axis || digit->extent < 2) continue;
    int64_t *bound = digit->stride < 0 ? &low : high;
    fits = tesela__mul(digit->extent - 1, digit->stride, &reach) && tesela__add(*bound, reach, bound);
  }
  if (!fits || *high == INT64_MAX)
    return map_fail(l, TESELA_E_OVERFLOW, at, "the sum does not fit in 64 bits");
  if (low >= 0 || tesela__is_empty(layout)) return TESELA_OK;
  return tesela__read_fail(&l->map->reader, TESELA_E_RANGE, at,
                           "the sum may be %" PRId64 "; expected 0 or more", low);
}

static tesela_status map_join(const map_lowering *l, int32_t j) {
  tesela_layout *layout = l->layout;
  int64_t high;
  tesela_status status = map_reach(l, -1, j, l->map->sum[j], l->map->sum_at[j], &high);
  layout->join[layout->n_joins++] =
      (tesela_join){.extent = tesela__max(high, 0) + 1, .offset = l->map->sum[j]};
  return status;
}

/* As finish, with the place in the text. */
static tesela_status map_axis_reach(const map_lowering *l, int32_t a) {
  const tesela__map_text *m = l->map;
  int64_t high;
  tesela_status status = map_reach(l, a, -1, m->axis_offset[a], m->axis_at[a], &high);
  if (status != TESELA_OK || high < m->axis_extent[a] || tesela__is_empty(l->layout)) return status;
  if (m->grows) return tesela_layout_set_axis(l->layout, a, m->axis_offset[a], -1, l->err);
  return tesela__read_fail(&m->reader, TESELA_E_RANGE, m->axis_at[a],
                           "places on axis %s reach %" PRId64 "; the axis has %" PRId64 " places",
                           m->axis_name[a], high, m->axis_extent[a]);
}

static tesela_status map_replicas(const map_lowering *l) {
  const tesela__map_text *m = l->map;
  for (int32_t c = 0; c < m->n_copies; c++) {
    const tesela__map_term *found = NULL;
    for (int32_t t = 0; t < m->n_terms; t++) {
      const tesela__map_term *term = &m->term[t];
      if (term->kind != TESELA__MAP_COPY || term->number != c) continue;
      if (found || term->target >= 0)
        return map_fail(l, TESELA_E_UNSUPPORTED, term->at, "a copy is one term of one axis");
      found = term;
    }
    if (!found || l->layout->n_digits == TESELA_MAX_DIGITS)
      return tesela__fail(
          l->err, found ? TESELA_E_LIMIT : TESELA_E_INVALID, -1,
          found ? "the map needs more digits than a layout has" : "copy %" PRId32 " is not used", c);
    l->layout->digit[l->layout->n_digits++] = (tesela_digit){.extent = m->copies[c],
                                                             .step = 1,
                                                             .stride = found->factor,
                                                             .source = TESELA_REPLICA,
                                                             .axis = (int16_t)(-1 - found->target),
                                                             .join = -1};
  }
  return TESELA_OK;
}

/* All flips as one matrix over the bits that take part. */
static tesela_status map_matrix(const map_lowering *l) {
  const tesela__map_text *m = l->map;
  tesela_axis_bit bit[64];
  uint64_t image[64];
  int32_t n = 0;
  for (int32_t a = 0; a < m->n_axes; a++)
    for (int32_t k = 0; k < 62; k++) {
      bool takes_part = false;
      for (int32_t b = 0; b < m->n_axes; b++) {
        takes_part = takes_part || m->flip[a][k][b] != 0;
        for (int32_t from = 0; from < 62; from++) takes_part = takes_part || (m->flip[b][from][a] >> k & 1);
      }
      if (!takes_part) continue;
      if (n == 64) return map_fail(l, TESELA_E_LIMIT, m->stage_at, "more than 64 bits flip or are flipped");
      bit[n++] = (tesela_axis_bit){(int16_t)a, (int16_t)k};
    }
  for (int32_t k = 0; k < n; k++) {
    image[k] = (uint64_t)1 << k;
    for (int32_t i = 0; i < n; i++)
      image[k] ^= (m->flip[bit[k].axis][bit[k].bit][bit[i].axis] >> bit[i].bit & 1) << i;
  }
  tesela_status status = tesela_layout_add_bit_matrix(l->layout, n, bit, image, l->err);
  if (status != TESELA_OK && l->err) l->err->at = (int64_t)m->stage_at;
  return status;
}

tesela_status tesela__map_lower(const tesela__map_text *map, tesela_layout *out, tesela_error *err) {
  tesela_layout layout;
  map_lowering l = {map, &layout, err};
  tesela_status status = tesela_layout_begin(&layout, map->dtype, map->bits, map->n_dims, map->shape, err);
  layout.n_digits = 0;
  for (int32_t a = 0; a < map->n_axes && status == TESELA_OK; a++) {
    int32_t axis;
    status = tesela_layout_add_axis(&layout, map->axis_name[a], &axis, err);
    if (status == TESELA_OK)
      status = tesela_layout_set_axis(&layout, axis, map->axis_offset[a], map->axis_extent[a], err);
  }
  for (int32_t d = 0; d < map->n_dims && status == TESELA_OK; d++) status = map_digits(&l, d);
  for (int32_t j = 0; j < map->n_sums && status == TESELA_OK; j++) {
    status = map_join(&l, j);
    if (status == TESELA_OK) status = map_digits(&l, map->n_dims + j);
  }
  if (status == TESELA_OK) status = map_replicas(&l);
  for (int32_t a = 0; a < map->n_axes && status == TESELA_OK; a++) status = map_axis_reach(&l, a);
  if (status == TESELA_OK) status = map_matrix(&l);
  if (status != TESELA_OK) return status;
  *out = layout;
  status = tesela_layout_finish(out, err);
  if (status != TESELA_E_RANGE || !map->grows) return status;
  *out = layout; /* the padding of digits of a dim may reach further than its elements */
  for (int32_t a = 0; a < map->n_axes; a++)
    (void)tesela_layout_set_axis(out, a, map->axis_offset[a], -1, NULL);
  return tesela_layout_finish(out, err);
}
