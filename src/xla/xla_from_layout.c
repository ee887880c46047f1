/* SPDX-License-Identifier: Apache-2.0 */
/*
 * xla_from_layout.c - the XLA shape of a relation, or why nothing expresses it.
 *
 * Tiles put digits of the dims in an order; all padding only makes strides larger. So the places are those of some tiles without `*`
 * exactly if
 *
 *   they are the sum of what each dim adds, and each dim has digits (factor.h)
 *   each stride is a multiple of the next smaller one, with room for its values
 *
 * since a list of tiles can make any splits, any order and any padding (tiling.c finds one). With `*` in the first
 * tile, dims are cut as one number. Then the same is true of the digits of the number of all dims in some order: joining all of them
 * never costs anything, because a cut between two dims stays a cut. The search for that order adds dims from the minor end, as
 * long as the digits so far fit. Dims are joined in the result only where a cut does not fall between them.
 */
#include "layout/refute.h"
#include "xla/tiling.h"

enum { JOIN_EFFORT = 1500 };

/* Digits of a group, as long as the order of strides is unknown. */
typedef struct from_state {
  const tesela_layout *layout; /* one copy of each element */
  tesela__tiling tiling;
  bool many;      /* digits */
  int32_t effort; /* of the search for joined dims */
  int64_t first[TESELA_MAX_RANK];
} from_state;

/* ---- digits in the order of memory -------------------------------------------------------------------------------- */

static void from_add_factors(tesela__tiling *tiling, int32_t group, const tesela__factors *factors) {
  for (int32_t k = 0; k < factors->n; k++) {
    tesela__tiling_digit digit = {group, factors->factor[k].step, factors->factor[k].extent,
                                  factors->factor[k].stride, factors->factor[k].extent};
    int32_t at = tiling->n++;
    for (; at > 0 && tiling->digit[at - 1].stride < digit.stride; at--)
      tiling->digit[at] = tiling->digit[at - 1];
    tiling->digit[at] = digit;
  }
}

/* The number of the first digit whose stride does not fit the next smaller one, or -1. Sets the room of those before. */
static int32_t from_misfit(tesela__tiling *tiling) {
  for (int32_t k = tiling->n - 1; k > 0; k--) {
    tesela__tiling_digit *digit = &tiling->digit[k];
    int64_t above = tiling->digit[k - 1].stride;
    if (above % digit->stride != 0 || above / digit->stride < digit->extent) return k;
    digit->room = above / digit->stride;
  }
  return -1;
}

/* The places that tiles reserve. */
static int64_t from_places(const tesela__tiling *tiling) {
  return tiling->n ? tiling->digit[0].stride * tiling->digit[0].room : tiling->below;
}

/* ---- dims that are cut on their own ---------------------------------------------------------------------------------- */

static void from_start(tesela__tiling *tiling, const tesela_layout *layout) {
  *tiling = (tesela__tiling){.rank = layout->rank, .below = 1};
  for (int32_t d = 0; d < layout->rank; d++)
    if (layout->shape[d] == 1) tiling->one[tiling->n_ones++] = d;
}

/* Each dim as a group. *apart is false if two elements share a place, or if there are too many digits. */
static tesela_status from_separate(from_state *s, bool *apart, tesela_error *err) {
  tesela__tiling *tiling = &s->tiling;
  tesela_status status = TESELA_OK;
  *apart = false;
  from_start(tiling, s->layout);
  for (int32_t d = 0; d < s->layout->rank; d++) {
    tesela__factors factors;
    tesela__no_factors why;
    int64_t at;
    if (s->layout->shape[d] == 1) continue;
    status = tesela__factor_dims(s->layout, 1, &d, &factors, &why, &at, err);
    if (status != TESELA_OK) return status;
    s->many = why == TESELA__MANY_FACTORS || tiling->n + factors.n > TESELA__TILING_DIGITS;
    if (s->many || why != TESELA__HAS_FACTORS) return TESELA_OK;
    for (int32_t k = 0; k < factors.n; k++)
      if (factors.factor[k].stride == 0) return TESELA_OK;
    s->first[d] = factors.factor[0].stride;
    tiling->group[tiling->n_groups] = (tesela__tiling_group){1, {d}, s->layout->shape[d]};
    from_add_factors(tiling, tiling->n_groups++, &factors);
  }
  *apart = true;
  return TESELA_OK;
}

/* The relation of the groups' digits. */
static tesela_status from_predict(const from_state *s, tesela_layout *out, tesela_error *err) {
  const tesela__tiling *tiling = &s->tiling;
  const tesela_layout *layout = s->layout;
  int32_t axis;
  tesela_status status =
      tesela_layout_begin(out, layout->dtype, layout->bits, layout->rank, layout->shape, err);
  if (status == TESELA_OK) status = tesela_layout_add_axis(out, layout->axis[0].name, &axis, err);
  for (int32_t k = 0; k < tiling->n_ones && status == TESELA_OK; k++)
    status = tesela_layout_place(out, tiling->one[k], 0, 0, err);
  for (int32_t g = 0; g < tiling->n_groups && status == TESELA_OK; g++) {
    const tesela__tiling_group *group = &tiling->group[g];
    tesela__factors factors = {.n = 0};
    int32_t whole = group->dim[0];
    for (int32_t k = 0; k < tiling->n; k++) { /* by increasing step */
      const tesela__tiling_digit *digit = &tiling->digit[k];
      int32_t at = factors.n;
      if (digit->group != g) continue;
      for (; at > 0 && factors.factor[at - 1].step > digit->step; at--)
        factors.factor[at] = factors.factor[at - 1];
      factors.factor[at] = (tesela__factor){digit->step, digit->extent, digit->stride, 0};
      factors.n++;
    }
    if (group->n_dims > 1) status = tesela_layout_join(out, group->n_dims, group->dim, &whole, err);
    if (status == TESELA_OK) status = tesela__place_factors(out, whole, &factors, err);
  }
  return status == TESELA_OK ? tesela_layout_finish(out, err) : status;
}

/* Are the places the sum of those of the groups? */
static tesela_status from_compare(const from_state *s, bool *same, tesela_error *err) {
  tesela_layout predicted;
  tesela_difference difference = {.same = false};
  tesela_status status = from_predict(s, &predicted, err);
  if (status == TESELA_OK) status = tesela_layout_compare(s->layout, &predicted, &difference, err);
  *same = difference.same;
  return status;
}

/* ---- dims that are cut as one number ------------------------------------------------------------------------------- */

/* Make groups of n dims, most significant first, with these factors of their number: as few joins as possible. */
static void from_divide(from_state *s, int32_t n, const int32_t *dims, const tesela__factors *factors) {
  tesela__tiling *tiling = &s->tiling;
  int32_t first = 0; /* factors before it are in groups */
  int64_t weight = 1, base = 1;
  from_start(tiling, s->layout);
  for (int32_t k = n - 1, last = n - 1; k >= 0; k--) {
    int32_t end = first;
    bool clean = true;
    weight *= s->layout->shape[dims[k]];
    while (end < factors->n && factors->factor[end].step < weight) end++;
    if (k > 0) clean = end < factors->n && factors->factor[end].step == weight;
    for (int32_t f = end; f < factors->n && clean; f++) clean = factors->factor[f].step % weight == 0;
    if (!clean) continue;
    tesela__tiling_group *group = &tiling->group[tiling->n_groups];
    tesela__factors part = {.n = end - first};
    group->n_dims = last - k + 1;
    group->extent = weight / base;
    for (int32_t i = k; i <= last; i++) group->dim[i - k] = dims[i];
    for (int32_t f = first; f < end; f++) {
      part.factor[f - first] = factors->factor[f];
      part.factor[f - first].step /= base;
    }
    from_add_factors(tiling, tiling->n_groups++, &part);
    first = end;
    base = weight;
    last = k - 1;
  }
}

/* Find an order of the dims of extent 2 and more: n of them, dims[rank - n ..], are chosen. */
static tesela_status from_join(from_state *s, int32_t n, int32_t *dims, bool *found, tesela_error *err) {
  const tesela_layout *layout = s->layout;
  const int32_t rank = layout->rank, all = rank - s->tiling.n_ones;
  uint32_t chosen = 0, tried = 0;
  for (int32_t k = rank - n; k < rank; k++) chosen |= (uint32_t)1 << dims[k];
  for (int32_t i = n; i < all && !*found; i++) {
    tesela__factors factors;
    tesela__no_factors why;
    tesela__tiling digits = {.n = 0};
    int64_t at;
    int32_t next = -1; /* by increasing stride */
    for (int32_t d = 0; d < rank; d++)
      if (layout->shape[d] > 1 && !((chosen | tried) >> d & 1) && (next < 0 || s->first[d] < s->first[next]))
        next = d;
    tried |= (uint32_t)1 << next;
    dims[rank - n - 1] = next;
    if (--s->effort < 0)
      return tesela__fail(err, TESELA_E_UNSUPPORTED, -1, "cannot decide: too many orders of joined dims");
    tesela_status status = tesela__factor_dims(layout, n + 1, dims + rank - n - 1, &factors, &why, &at, err);
    if (status != TESELA_OK) return status;
    bool apart = why == TESELA__HAS_FACTORS;
    for (int32_t k = 0; k < factors.n; k++) apart = apart && factors.factor[k].stride > 0;
    if (!apart) continue;
    from_add_factors(&digits, 0, &factors);
    if (from_misfit(&digits) >= 0) continue;
    if (n + 1 < all) {
      status = from_join(s, n + 1, dims, found, err);
    } else {
      from_divide(s, all, dims + rank - all, &factors);
      *found = true;
    }
    if (status != TESELA_OK) return status;
  }
  return TESELA_OK;
}

/* ---- refusals ------------------------------------------------------------------------------------------------------------- */

/* Digits of dims that are cut on their own: do they fit, and give all places? */
static tesela_status from_fits(from_state *s, bool *fits, tesela_error *err) {
  const int64_t zero[TESELA_MAX_RANK] = {0};
  int64_t place;
  *fits = false;
  (void)tesela_layout_place_of(s->layout, zero, &place, NULL);
  tesela_status status = from_separate(s, fits, err);
  if (status != TESELA_OK || !*fits) return status;
  *fits = place == 0 && from_misfit(&s->tiling) < 0;
  return *fits ? from_compare(s, fits, err) : TESELA_OK;
}

static tesela_status from_expresses(const void *context, const tesela_layout *layout, bool *possible,
                                    tesela_error *err) {
  from_state s = {.layout = layout};
  (void)context;
  return from_fits(&s, possible, err);
}

tesela_status tesela__xla_refute(const tesela_layout *layout, tesela_translation *answer, tesela_error *err) {
  return tesela__refute(layout, from_expresses, NULL, answer, err);
}

/* A list of tiles has 64 entries, and each cuts one bound. */
static tesela_status from_refuse(const from_state *s, tesela_translation *answer, tesela_error *err) {
  tesela_status status = tesela__xla_refute(s->layout, answer, err);
  if (status != TESELA_OK) return status;
  if (s->many)
    return tesela__impossible(answer, "more than %d digits in %" PRId32 " dims; tiles have up to %d entries",
                              TESELA__MAX_FACTORS, s->layout->rank, TESELA_XLA_MAX_TILE_NUMBERS);
  if (answer->contradiction == TESELA_CONTRADICTION_SHARED)
    return tesela__impossible(answer, "two elements share a place; XLA gives each its own");
  return tesela__impossible(answer, "no order and tiles with '*' in the first one at most give these places");
}

/* ---- the shape ------------------------------------------------------------------------------------------------------------- */

/* A small divisor of `places` that is more than `gap`; then `places - gap` rounded up to it is `places`. */
static int64_t from_tail(int64_t places, int64_t gap) {
  for (int64_t q = tesela__min(places / (gap + 1), 4096); q > 1; q--)
    if (places % q == 0) return places / q;
  return places;
}

/* The order and the tiles, with the last digit's room such that they reserve all places, if a digit can. */
static bool from_solve(from_state *s, tesela_xla_layout *out) {
  tesela__tiling *tiling = &s->tiling;
  int64_t places = s->layout->axis[0].extent;
  tiling->below = tiling->n ? tiling->digit[tiling->n - 1].stride : tesela__max(places, 1);
  if (tiling->n) {
    tesela__tiling_digit *top = &tiling->digit[0];
    top->room = places % top->stride == 0 ? tesela__max(places / top->stride, top->extent) : top->extent;
    if (top->room > top->extent && tesela__tiling_solve(tiling, out)) return true;
    top->room = top->extent;
  }
  if (!tesela__tiling_solve(tiling, out)) return false;
  if (from_places(tiling) < places) out->tail = from_tail(places, places - from_places(tiling));
  return true;
}

/* Is the text's relation that of the layout? */
static tesela_status from_check(const tesela_layout *layout, const tesela_xla_shape *shape, int64_t *places,
                                tesela_error *err) {
  tesela_layout back;
  tesela_difference difference;
  tesela_status status = tesela_xla_to_layout(shape, &back, err);
  if (status != TESELA_OK) return status;
  *places = back.axis[0].extent;
  memcpy(back.axis[0].name, layout->axis[0].name, sizeof back.axis[0].name);
  status = tesela_layout_compare(layout, &back, &difference, err);
  if (status == TESELA_OK && !difference.same)
    status = tesela__fail(err, TESELA_E_INVALID, -1, "the tiles found are wrong: please report this layout");
  return status;
}

/* A tile of the minor dim alone that pads it, T(144) for 130 elements, as the usual tile, T(16). */
static void from_use_usual_tile(const tesela_layout *layout, tesela_xla_layout *made) {
  if (made->n_tile_numbers == 1 && layout->rank > 0)
    made->tile[0] = tesela__usual_tile(layout->shape[made->minor_to_major[0]], made->tile[0]);
}

static tesela_status from_make(from_state *s, tesela_xla_shape *shape, tesela_translation *answer,
                               tesela_error *err) {
  const tesela_layout *layout = s->layout;
  tesela_xla_layout made;
  tesela_xla_shape result;
  if (tesela__is_empty(layout)) {
    (void)tesela_xla_layout_make(&made, layout->rank, NULL, NULL);
  } else if (!from_solve(s, &made)) {
    return tesela__fail(err, TESELA_E_LIMIT, -1, "found no list of tiles within XLA's limits");
  }
  from_use_usual_tile(layout, &made);
  if (layout->bits != 8 * tesela_dtype_bytes(layout->dtype)) made.element_bits = layout->bits;
  tesela_status status =
      tesela_xla_shape_make(&result, layout->dtype, layout->rank, layout->shape, &made, err);
  if (status == TESELA_OK) status = from_check(layout, &result, &answer->text_places, err);
  if (status == TESELA_OK) *shape = result;
  return status;
}

/* ---- all of it -------------------------------------------------------------------------------------------------------------- */

static tesela_status from_elements(from_state *s, tesela_xla_shape *shape, tesela_translation *answer,
                                   tesela_error *err) {
  const int64_t zero[TESELA_MAX_RANK] = {0};
  int64_t place;
  int32_t dims[TESELA_MAX_RANK];
  bool fits, found = false;
  (void)tesela_layout_place_of(s->layout, zero, &place, NULL);
  tesela_status status = from_separate(s, &fits, err);
  if (status != TESELA_OK) return status;
  if (!fits || place != 0) return from_refuse(s, answer, err);
  if (from_misfit(&s->tiling) < 0) status = from_compare(s, &found, err);
  if (status != TESELA_OK) return status;
  if (found) return from_make(s, shape, answer, err);
  from_state joined = *s;
  joined.effort = JOIN_EFFORT;
  status = from_join(&joined, 0, dims, &found, err);
  if (status != TESELA_OK) return status;
  if (found && from_misfit(&joined.tiling) < 0) return from_make(&joined, shape, answer, err);
  return from_refuse(s, answer, err);
}

tesela_status tesela_xla_from_layout(const tesela_layout *layout, tesela_xla_shape *shape,
                                     tesela_translation *answer, tesela_error *err) {
  TESELA__NEED(err, layout, shape, answer);
  from_state state = {.layout = layout};
  tesela_status status = tesela__check_finished(layout, err);
  if (status == TESELA_OK) status = tesela__start_answer(layout, answer, err);
  if (status != TESELA_OK) return status;
  if (layout->n_axes != 1)
    return tesela__impossible(answer, "XLA has one axis of places; the layout has %" PRId32, layout->n_axes);
  if (layout->dtype == TESELA_DTYPE_NONE)
    return tesela__fail(err, TESELA_E_UNSUPPORTED, -1, "XLA needs an element type");
  if (tesela__is_empty(layout)) return from_make(&state, shape, answer, err);
  if (tesela_layout_copies(layout) != 1)
    return tesela__impossible(answer, "each element has %" PRId64 " places; XLA gives it one",
                              tesela_layout_copies(layout));
  return from_elements(&state, shape, answer, err);
}
