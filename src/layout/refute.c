/* SPDX-License-Identifier: Apache-2.0 */
/*
 * refute.c - the smallest contradiction, by bisection.
 *
 * A text that agrees with a part agrees with every smaller part. The least part without a text, of the form {0} x .. x [0, n) x all,
 * has its contradiction in the elements x = n - 1 of one dim. The first of these is (0,..,x,0,..). If it does not contradict,
 * the later ones are where its place and those of the elements before, which have all values of the later dims, put them; so
 * it contradicts exactly if no text expresses these sums.
 */
#include "layout/refute.h"

#include "layout/factor.h"

tesela_status tesela__first_part(const tesela_layout *layout, int32_t dim, int64_t extent, tesela_layout *out,
                                 tesela_error *err) {
  tesela_status status = TESELA_OK;
  *out = *layout;
  for (int32_t d = 0; d <= dim && d < layout->rank && status == TESELA_OK; d++) {
    int64_t n = d < dim ? 1 : extent;
    if (n != layout->shape[d]) status = tesela_layout_slice(out, d, 0, n, 1, out, err);
  }
  return status;
}

tesela_status tesela__refuted_part(const tesela_layout *layout, tesela__expresses *expresses,
                                   const void *context, int32_t *dim, int64_t *extent, tesela_error *err) {
  tesela_layout part;
  bool possible = true;
  tesela_status status = TESELA_OK;
  int32_t d = layout->rank;
  while (status == TESELA_OK && possible && d > 0) {
    d--;
    if (layout->shape[d] == 1 && d > 0) continue;
    status = tesela__first_part(layout, d, layout->shape[d], &part, err);
    if (status == TESELA_OK) status = expresses(context, &part, &possible, err);
  }
  *dim = d;
  int64_t good = 0, bad = d < layout->rank ? layout->shape[d] : 1;
  while (status == TESELA_OK && bad - good > 1) {
    int64_t middle = good + (bad - good) / 2;
    status = tesela__first_part(layout, d, middle, &part, err);
    if (status == TESELA_OK) status = expresses(context, &part, &possible, err);
    *(possible ? &good : &bad) = middle;
  }
  *extent = bad;
  return status;
}

tesela_status tesela__sum_of_dims(const tesela_layout *part, tesela_layout *sum, bool *found,
                                  tesela_error *err) {
  tesela_layout first;
  const int64_t zero[TESELA_MAX_RANK] = {0};
  int64_t base[TESELA_MAX_AXES] = {0};
  int32_t axis, digit;
  bool turned;
  *found = true;
  tesela_status status = tesela__first_copies(part, &first, &turned, err);
  if (status != TESELA_OK) return status;
  (void)tesela_layout_place_of(&first, zero, base, NULL);
  status = tesela_layout_begin(sum, part->dtype, part->bits, part->rank, part->shape, err);
  for (int32_t a = 0; a < part->n_axes && status == TESELA_OK; a++) {
    status = tesela_layout_add_axis(sum, part->axis[a].name, &axis, err);
    if (status == TESELA_OK) status = tesela_layout_set_axis(sum, axis, base[a], -1, err);
  }
  for (int32_t d = 0; d < part->rank && status == TESELA_OK && *found; d++) {
    tesela__factors factors;
    tesela__no_factors why;
    int64_t at;
    status = tesela__factor_dims(&first, 1, &d, &factors, &why, &at, err);
    *found = why == TESELA__HAS_FACTORS;
    if (status == TESELA_OK && *found) status = tesela__place_factors(sum, d, &factors, err);
  }
  for (int32_t i = 0; i < part->n_digits && status == TESELA_OK && *found; i++) {
    const tesela_digit *copies = &part->digit[i];
    if (copies->source != TESELA_REPLICA || copies->extent < 2) continue;
    status = tesela_layout_add_digit(sum, TESELA_REPLICA, copies->extent, &digit, err);
    if (status == TESELA_OK) status = tesela_layout_place(sum, digit, copies->axis, copies->stride, err);
  }
  return status == TESELA_OK && *found ? tesela_layout_finish(sum, err) : status;
}

/* Is the place that of an element before? */
static bool refute_shared(const tesela_layout *layout, int32_t dim, const int64_t *place,
                          tesela_translation *answer) {
  tesela_layout before;
  bool padding = true;
  if (answer->index[dim] == 0 || tesela_layout_copies(layout) != 1 ||
      tesela__first_part(layout, dim, answer->index[dim], &before, NULL) != TESELA_OK)
    return false;
  for (int32_t a = 0; a < before.n_axes; a++)
    if (place[a] >= before.axis[a].extent) return false;
  return tesela_layout_element_at(&before, place, answer->index2, &padding, NULL) == TESELA_OK && !padding;
}

/* The contradiction of element answer->index, which the texts put at `expected`. */
static void refute_place(const tesela_layout *layout, const int64_t *place, const int64_t *expected,
                         tesela_translation *answer) {
  answer->axis = 0;
  while (answer->axis + 1 < layout->n_axes && place[answer->axis] == expected[answer->axis]) answer->axis++;
  answer->place = place[answer->axis];
  answer->expected = expected[answer->axis];
  answer->contradiction = answer->place != answer->expected
                              ? TESELA_CONTRADICTION_PLACE
                              : TESELA_CONTRADICTION_ELEMENT; /* or its copies */
}

tesela_status tesela__refute(const tesela_layout *layout, tesela__expresses *expresses, const void *context,
                             tesela_translation *answer, tesela_error *err) {
  tesela_layout part, sum;
  tesela_difference difference = {.same = true};
  bool found = false, possible = false;
  int32_t dim = 0;
  int64_t extent = 1, place[TESELA_MAX_AXES] = {0}, expected[TESELA_MAX_AXES] = {0};
  answer->contradiction = TESELA_CONTRADICTION_NONE;
  memset(answer->index, 0, sizeof answer->index);
  memset(answer->index2, 0, sizeof answer->index2);
  tesela_status status = tesela__refuted_part(layout, expresses, context, &dim, &extent, err);
  if (status == TESELA_OK) status = tesela__first_part(layout, dim, extent, &part, err);
  if (status == TESELA_OK) status = tesela__sum_of_dims(&part, &sum, &found, err);
  if (status == TESELA_OK && found) status = tesela_layout_compare(&part, &sum, &difference, err);
  if (status == TESELA_OK && !difference.same && difference.have_index)
    status = expresses(context, &sum, &possible, err);
  if (status != TESELA_OK) return status;
  bool first = !possible && (dim == layout->rank || extent == 1); /* element 0, which texts have at 0 */
  if (possible) {
    memcpy(answer->index, difference.index, sizeof answer->index);
    (void)tesela_layout_place_of(&sum, answer->index, expected, NULL);
  } else if (!first) {
    answer->index[dim] = extent - 1;
  }
  (void)tesela_layout_place_of(layout, answer->index, place, NULL);
  if (possible || first) {
    refute_place(layout, place, expected, answer);
  } else {
    answer->place = place[0];
    answer->contradiction = refute_shared(layout, dim, place, answer) ? TESELA_CONTRADICTION_SHARED
                                                                      : TESELA_CONTRADICTION_ELEMENT;
  }
  return TESELA_OK;
}

void tesela__refute_steps(const tesela_layout *layout, bool even, tesela_translation *answer) {
  tesela_layout first, before;
  bool turned;
  tesela__factors factors;
  tesela__no_factors why;
  const int64_t zero[TESELA_MAX_RANK] = {0};
  int64_t at = 0, place[TESELA_MAX_AXES] = {0}, expected[TESELA_MAX_AXES] = {0};
  int32_t dim = 0;
  if (answer->contradiction == TESELA_CONTRADICTION_PLACE) return;
  answer->contradiction = TESELA_CONTRADICTION_ELEMENT;
  memset(answer->index2, 0, sizeof answer->index2);
  while (dim < layout->rank - 1 && answer->index[dim] == 0) dim++;
  int64_t x = layout->rank > 0 ? answer->index[dim] : 0, left = x;
  if (x < 2 || tesela__first_copies(layout, &first, &turned, NULL) != TESELA_OK ||
      tesela__first_part(&first, dim, x, &before, NULL) != TESELA_OK ||
      tesela__factor_dims(&before, 1, &dim, &factors, &why, &at, NULL) != TESELA_OK ||
      why != TESELA__HAS_FACTORS ||
      ((!even || layout->shape[dim] % x == 0) && x % factors.factor[factors.n - 1].step == 0))
    return;
  (void)tesela_layout_place_of(&first, answer->index, place, NULL);
  (void)tesela_layout_place_of(&first, zero, expected, NULL);
  for (int32_t k = factors.n - 1; k >= 0; k--) {
    expected[factors.factor[k].axis] += left / factors.factor[k].step * factors.factor[k].stride;
    left %= factors.factor[k].step;
  }
  refute_place(layout, place, expected, answer);
}
