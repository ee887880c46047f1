/* SPDX-License-Identifier: Apache-2.0 */
/*
 * layout_compare.c - compares two layouts as relations, and finds the first element that differs.
 *
 * Both are made canonical. Dims that joins tie together form groups; the place of an element is a sum over the groups,
 * so the layouts are equal if and only if the places of element 0 are equal and each group adds the same. The first
 * element that differs has coordinates 0 outside one group, so it is the smallest of the first differences of the
 * groups.
 *
 *   one dim        its chains are compared as profiles (profile.c)
 *   joined dims    as one profile over the joined coordinate if both sides allow it; else all elements of a box of two
 *                  periods in each dim, if it is small enough
 *
 * Replicas are compared separately: the places of an element are its first place plus a set that is the same for all
 * elements. If replicas overlap, small layouts are compared copy by copy. Different swizzles: compare_swizzled.c.
 */
#include "layout/compare.h"
#include "layout/profile.h"

enum { BOX_LIMIT = 1 << 20 };

/* ---- groups of dims ---------------------------------------------------------------------------------------- */

/* Add the digits of a coordinate to a profile, steps times weight; digits of other axes have stride 0. */
static bool add_to_profile(tesela__profile *profile, const tesela_layout *layout, int32_t coordinate,
                           int64_t weight, int32_t axis) {
  tesela__chain chain = tesela__chain_of(layout, coordinate);
  for (int32_t k = 0; k < chain.n; k++) {
    const tesela_digit *digit = &layout->digit[chain.first + k];
    if (digit->axis < 0 || profile->n == TESELA_MAX_DIGITS) return false;
    profile->step[profile->n] = digit->step * weight; /* below the number of elements */
    profile->stride[profile->n++] = digit->axis == axis ? digit->stride : 0;
  }
  if (chain.n == 0 && profile->n < TESELA_MAX_DIGITS) { /* adds nothing, but limits the digits before it */
    profile->step[profile->n] = weight;
    profile->stride[profile->n++] = 0;
  }
  return true;
}

/* Dims that feed a coordinate, as bits. */
static uint32_t dims_of(const tesela_layout *layout, int32_t coordinate) {
  if (coordinate < layout->rank) return (uint32_t)1 << coordinate;
  uint32_t dims[TESELA_MAX_JOINS];
  for (int32_t j = 0; j <= coordinate - layout->rank; j++) { /* parts come from dims and earlier joins */
    dims[j] = 0;
    for (int32_t i = 0; i < layout->n_mapped; i++) {
      const tesela_digit *digit = &layout->digit[i];
      if (digit->join != j) continue;
      dims[j] |=
          digit->source < layout->rank ? (uint32_t)1 << digit->source : dims[digit->source - layout->rank];
    }
  }
  return dims[coordinate - layout->rank];
}

/* Find the group of each dim: the dims that joins of either side tie to it. */
static void find_groups(const tesela__comparison *c, uint32_t *group) {
  for (int32_t d = 0; d < c->a->rank; d++) group[d] = (uint32_t)1 << d;
  const tesela_layout *sides[2] = {c->a, c->b};
  for (int s = 0; s < 2; s++)
    for (int32_t j = 0; j < sides[s]->n_joins; j++) {
      uint32_t tied = dims_of(sides[s], sides[s]->rank + j), all = 0;
      for (int32_t d = 0; d < c->a->rank; d++)
        if (group[d] & tied) all |= group[d];
      for (int32_t d = 0; d < c->a->rank; d++)
        if (group[d] & all) group[d] = all;
    }
}

/* The group's part of the place as a profile over the row-major number of its dims; false: not expressible. */
static bool flatten(const tesela_layout *layout, uint32_t dims, int32_t axis, tesela__profile *profile) {
  int64_t weight = 1, weights[TESELA_MAX_RANK];
  int32_t join = -1;
  for (int32_t d = layout->rank - 1; d >= 0; d--) {
    if (!(dims >> d & 1)) continue;
    weights[d] = weight;
    weight *= layout->shape[d];
  }
  profile->n = 0;
  for (int32_t d = 0; d < layout->rank; d++) {
    if (!(dims >> d & 1)) continue;
    tesela__chain chain = tesela__chain_of(layout, d);
    const tesela_digit *digit = &layout->digit[chain.first];
    if (chain.n == 1 && digit->join >= 0) { /* the last dims, whole in one join, with equal weights */
      if ((join >= 0 && join != digit->join) || digit->stride != weights[d]) return false;
      join = digit->join;
    } else if (layout->shape[d] > 1 && (join >= 0 || !add_to_profile(profile, layout, d, weights[d], axis))) {
      return false;
    }
  }
  return join < 0 ||
         (layout->join[join].offset == 0 && add_to_profile(profile, layout, layout->rank + join, 1, axis));
}

/* The period of dim d, for which f(x + period) - f(x) is constant: the first step of its chain; if that digit feeds a
 * join with weight w and first step s, times s / gcd(s, w). 0: unknown (joins of joins). */
static int64_t period_of(const tesela_layout *layout, int32_t d) {
  tesela__chain chain = tesela__chain_of(layout, d);
  if (chain.n == 0) return 1;
  const tesela_digit *digit = &layout->digit[chain.first];
  if (digit->axis >= 0) return digit->step;
  tesela__chain joined = tesela__chain_of(layout, layout->rank + digit->join);
  if (joined.n == 0) return digit->step;
  const tesela_digit *first = &layout->digit[joined.first];
  int64_t weight = digit->stride < 0 ? -digit->stride : digit->stride, period;
  bool known =
      first->axis >= 0 && tesela__mul(digit->step, first->step / tesela__gcd(first->step, weight), &period);
  return known ? period : 0;
}

static int64_t box_extent(const tesela__comparison *c, int32_t d) {
  int64_t n = c->a->shape[d], pa = period_of(c->a, d), pb = period_of(c->b, d), window;
  if (pa == 0 || pb == 0 || !tesela__add(pa, pb, &window)) return n;
  return tesela__min(n, window);
}

static void difference_at(const tesela__comparison *c, const int64_t *index, uint64_t *difference) {
  int64_t value[TESELA__MAX_COORDINATES], a[TESELA_MAX_AXES], b[TESELA_MAX_AXES];
  tesela__map(c->a, index, value, a);
  tesela__map(c->b, index, value, b);
  for (int32_t axis = 0; axis < c->a->n_axes; axis++)
    difference[axis] = (uint64_t)a[axis] - (uint64_t)b[axis];
}

static tesela_status compare_box(tesela__comparison *c, uint32_t dims, tesela_error *err) {
  int64_t index[TESELA_MAX_RANK] = {0}, extent[TESELA_MAX_RANK], cells = 1;
  uint64_t at_zero[TESELA_MAX_AXES], here[TESELA_MAX_AXES];
  for (int32_t d = 0; d < c->a->rank; d++) {
    extent[d] = dims >> d & 1 ? box_extent(c, d) : 1;
    if (!tesela__mul(cells, extent[d], &cells) || cells > BOX_LIMIT)
      return tesela__undecided(err, "joins of different dims with long periods");
  }
  difference_at(c, index, at_zero);
  for (int64_t cell = 0; cell < cells; cell++) {
    difference_at(c, index, here);
    for (int32_t axis = 0; axis < c->a->n_axes; axis++)
      if (here[axis] != at_zero[axis]) {
        tesela__offer_difference(c, index);
        return TESELA_OK;
      }
    for (int32_t d = c->a->rank - 1; d >= 0; d--) {
      if (++index[d] < extent[d]) break;
      index[d] = 0;
    }
  }
  return TESELA_OK;
}

static tesela_status compare_group(tesela__comparison *c, uint32_t dims, tesela_error *err) {
  int64_t smallest = INT64_MAX, elements = 1;
  for (int32_t d = 0; d < c->a->rank; d++)
    if (dims >> d & 1) elements *= c->a->shape[d];
  for (int32_t axis = 0; axis < c->a->n_axes; axis++) {
    tesela__profile pa, pb;
    if (!flatten(c->a, dims, axis, &pa) || !flatten(c->b, dims, axis, &pb)) return compare_box(c, dims, err);
    int64_t x = tesela__profile_difference(&pa, &pb, elements, 0);
    if (x == TESELA__UNDECIDED) return tesela__undecided(err, "too many uneven splits");
    if (x != TESELA__EQUAL) smallest = tesela__min(smallest, x);
  }
  if (smallest == INT64_MAX) return TESELA_OK;
  int64_t index[TESELA_MAX_RANK] = {0};
  for (int32_t d = c->a->rank - 1; d >= 0; d--) {
    if (!(dims >> d & 1)) continue;
    index[d] = smallest % c->a->shape[d];
    smallest /= c->a->shape[d];
  }
  tesela__offer_difference(c, index);
  return TESELA_OK;
}

/* ---- the whole --------------------------------------------------------------------------------------------- */

/* Are all digits with a source and all joins the same? */
static bool same_form(const tesela_layout *a, const tesela_layout *b) {
  if (a->n_joins != b->n_joins || a->n_mapped != b->n_mapped) return false;
  for (int32_t i = 0; i < a->n_mapped; i++) {
    const tesela_digit *x = &a->digit[i], *y = &b->digit[i];
    if (x->extent != y->extent || x->step != y->step || x->stride != y->stride || x->source != y->source ||
        x->axis != y->axis || x->join != y->join)
      return false;
  }
  for (int32_t j = 0; j < a->n_joins; j++)
    if (a->join[j].offset != b->join[j].offset || a->join[j].extent != b->join[j].extent) return false;
  return true;
}

static bool replicas_overlap(const tesela_layout *layout) {
  for (int32_t axis = 0; axis < layout->n_axes; axis++) {
    int64_t below = 0;
    for (int32_t i = layout->n_active - 1; i >= layout->n_mapped; i--) {
      if (layout->digit[i].axis != axis) continue;
      if (layout->digit[i].stride <= below) return true;
      below += (layout->digit[i].extent - 1) * layout->digit[i].stride;
    }
  }
  return false;
}

/* Compare sets of replicas. In canonical form contiguous ones are one digit; without overlap the form is unique. */
static tesela_status compare_replicas(const tesela__comparison *c, bool *same, tesela_error *err) {
  int32_t n_a = c->a->n_active - c->a->n_mapped, n_b = c->b->n_active - c->b->n_mapped;
  *same = n_a == n_b;
  for (int32_t i = 0; i < n_a && *same; i++) {
    const tesela_digit *x = &c->a->digit[c->a->n_mapped + i], *y = &c->b->digit[c->b->n_mapped + i];
    *same = x->extent == y->extent && x->stride == y->stride && x->axis == y->axis;
  }
  if (*same || (!replicas_overlap(c->a) && !replicas_overlap(c->b))) return TESELA_OK;
  if (!tesela__few_pairs(c, 1)) return tesela__undecided(err, "many replicas overlap");
  const int64_t zero[TESELA_MAX_RANK] = {0};
  *same = tesela__covers(c->a, c->b, zero) && tesela__covers(c->b, c->a, zero);
  return TESELA_OK;
}

static tesela_status compare_places(tesela__comparison *c, tesela_error *err) {
  int64_t zero[TESELA_MAX_RANK] = {0};
  uint64_t difference[TESELA_MAX_AXES];
  bool same;
  tesela_status status = compare_replicas(c, &same, err);
  if (status != TESELA_OK) return status;
  difference_at(c, zero, difference);
  for (int32_t axis = 0; axis < c->a->n_axes; axis++) same = same && difference[axis] == 0;
  if (!same) {
    tesela__offer_difference(c, zero);
    return TESELA_OK;
  }
  if (same_form(c->a, c->b)) return TESELA_OK;
  uint32_t group[TESELA_MAX_RANK];
  find_groups(c, group);
  for (int32_t d = 0; d < c->a->rank && status == TESELA_OK; d++) {
    bool first = (group[d] & (((uint32_t)1 << d) - 1)) == 0; /* is d the first of its group? */
    if (first) status = compare_group(c, group[d], err);
  }
  return status;
}

/* The reason why they differ apart from places, or "". */
static void reason_before_places(const tesela_layout *a, const tesela_layout *b, char *reason, size_t size) {
  tesela_buffer buffer = {reason, size, 0};
  tesela_writer writer = tesela_buffer_writer(&buffer);
  tesela__sink sink;
  tesela__sink_init(&sink, &writer);
  reason[0] = '\0';
  bool same_shape = a->rank == b->rank;
  for (int32_t d = 0; d < a->rank && same_shape; d++) same_shape = a->shape[d] == b->shape[d];
  if (!same_shape) {
    tesela__puts(&sink, "shapes differ: ");
    for (int side = 0; side < 2; side++) {
      const tesela_layout *layout = side ? b : a;
      tesela__puts(&sink, side ? " and [" : "[");
      for (int32_t d = 0; d < layout->rank; d++) {
        if (d) tesela__putc(&sink, ',');
        tesela__put_int(&sink, layout->shape[d]);
      }
      tesela__putc(&sink, ']');
    }
  } else if (a->bits != b->bits) {
    tesela__putf(&sink, "element widths differ: %" PRId32 " and %" PRId32 " bits", a->bits, b->bits);
  } else if (a->n_axes != b->n_axes) {
    tesela__putf(&sink, "they have %" PRId32 " and %" PRId32 " axes", a->n_axes, b->n_axes);
  } else {
    for (int32_t axis = 0; axis < a->n_axes; axis++)
      if (strcmp(a->axis[axis].name, b->axis[axis].name) != 0) {
        tesela__putf(&sink, "axis %" PRId32 " is %s and %s", axis, a->axis[axis].name, b->axis[axis].name);
        break;
      }
  }
  (void)tesela__sink_finish(&sink, NULL); /* a buffer never refuses */
}

tesela_status tesela_layout_compare(const tesela_layout *a, const tesela_layout *b,
                                    tesela_difference *difference, tesela_error *err) {
  TESELA__NEED(err, a, b, difference);
  tesela_status status = tesela__check_finished(a, err);
  if (status == TESELA_OK) status = tesela__check_finished(b, err);
  if (status != TESELA_OK) return status;
  tesela_difference result = {.same = false};
  reason_before_places(a, b, result.reason, sizeof result.reason);
  result.same_extent = a->n_axes == b->n_axes && a->bits == b->bits;
  for (int32_t axis = 0; axis < a->n_axes && result.same_extent; axis++)
    result.same_extent = a->axis[axis].extent == b->axis[axis].extent;
  if (result.reason[0] == '\0' && tesela__is_empty(a)) result.same = true;
  if (result.reason[0] == '\0' && !result.same) {
    tesela_layout form_a, form_b;
    tesela__comparison c = {.a = &form_a, .b = &form_b, .found = false};
    status = tesela_layout_canonical(a, &form_a, err);
    if (status == TESELA_OK) status = tesela_layout_canonical(b, &form_b, err);
    if (status == TESELA_OK && !tesela__same_swizzle(a, b))
      status = tesela__compare_swizzled(&c, err);
    else if (status == TESELA_OK)
      status = compare_places(&c, err);
    if (status != TESELA_OK) return status;
    result.same = !c.found;
    result.have_index = c.found;
    for (int32_t d = 0; d < a->rank && c.found; d++) result.index[d] = c.index[d];
    if (c.found) memcpy(result.reason, "places differ", sizeof "places differ");
  }
  *difference = result;
  return TESELA_OK;
}
