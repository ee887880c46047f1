/* SPDX-License-Identifier: Apache-2.0 */
/*
 * view.c - the same places as another array: dims in another order, cut, joined, selected, repeated.
 *
 * A view changes what feeds the digits of a dim, not where they are placed. Only the steps of a slice and the splits of
 * a reshape need joins; the canonical form removes those whose cuts fit.
 */
#include "layout/layout.h"

static tesela_status check_dim(const tesela_layout *layout, int32_t dim, tesela_error *err) {
  if (dim >= 0 && dim < layout->rank) return TESELA_OK;
  if (layout->rank == 0)
    return tesela__fail(err, TESELA_E_RANGE, -1, "dim %" PRId32 " does not exist; the rank is 0", dim);
  return tesela_error_outside(err, -1, "dim", -1, dim, 0, layout->rank - 1);
}

/* Start a view with other coordinates: coordinate c of `layout` becomes number[c], or TESELA_HOLE if it is always 0, after
 * `more` new joins. Dims and the new joins are the caller's. */
static tesela_status start_view(tesela_layout *view, const tesela_layout *layout, int32_t rank, int32_t more,
                                const int16_t *number, tesela_error *err) {
  if (layout->n_joins + more > TESELA_MAX_JOINS)
    return tesela__fail(err, TESELA_E_LIMIT, -1, "the view needs more than %d joins", TESELA_MAX_JOINS);
  *view = *layout;
  view->rank = rank;
  view->finished = false;
  for (int32_t j = 0; j < layout->n_joins; j++) view->join[j + more] = layout->join[j];
  view->n_joins += more;
  for (int32_t i = 0; i < view->n_digits; i++) {
    tesela_digit *digit = &view->digit[i];
    if (digit->join >= 0) digit->join = (int16_t)(digit->join + more);
    if (digit->part_of > layout->rank)
      digit->part_of = (int16_t)(digit->part_of - layout->rank + rank + more);
    else if (digit->part_of > 0)
      digit->part_of = (int16_t)(tesela__max(number[digit->part_of - 1], -1) + 1);
    if (digit->source >= layout->rank)
      digit->source = (int16_t)(digit->source - layout->rank + rank + more);
    else if (digit->source >= 0)
      digit->source = number[digit->source];
  }
  return TESELA_OK;
}

static tesela_status add_part(tesela_layout *view, tesela_digit digit, tesela_error *err) {
  if (view->n_digits == TESELA_MAX_DIGITS)
    return tesela__fail(err, TESELA_E_LIMIT, -1, "the view needs more than %d digits", TESELA_MAX_DIGITS);
  view->digit[view->n_digits++] = digit;
  return TESELA_OK;
}

static tesela_status finish_view(tesela_layout *view, tesela_layout *out, tesela_error *err) {
  tesela_status status = tesela_layout_finish(view, err);
  return status == TESELA_OK ? tesela_layout_canonical(view, out, err) : status;
}

tesela_status tesela_layout_permute(const tesela_layout *layout, const int32_t *order, tesela_layout *out,
                                    tesela_error *err) {
  TESELA__NEED(err, layout, out);
  TESELA__NEED_LIST(err, order, layout->rank);
  tesela_layout view;
  int16_t number[TESELA_MAX_RANK];
  uint32_t seen = 0;
  tesela_status status = tesela__check_finished(layout, err);
  for (int32_t k = 0; k < layout->rank && status == TESELA_OK; k++) {
    status = check_dim(layout, order[k], err);
    if (status != TESELA_OK) return status;
    if (seen >> order[k] & 1)
      return tesela__fail(err, TESELA_E_INVALID, -1, "the order lists dim %" PRId32 " twice", order[k]);
    seen |= (uint32_t)1 << order[k];
    number[order[k]] = (int16_t)k;
  }
  if (status == TESELA_OK) status = start_view(&view, layout, layout->rank, 0, number, err);
  if (status != TESELA_OK) return status;
  for (int32_t k = 0; k < layout->rank; k++) view.shape[k] = layout->shape[order[k]];
  status = tesela_layout_finish(&view, err);
  if (status == TESELA_OK) *out = view;
  return status;
}

tesela_status tesela_layout_squeeze(const tesela_layout *layout, int32_t dim, tesela_layout *out,
                                    tesela_error *err) {
  TESELA__NEED(err, layout, out);
  tesela_layout view;
  int16_t number[TESELA_MAX_RANK];
  tesela_status status = tesela__check_finished(layout, err);
  if (status == TESELA_OK) status = check_dim(layout, dim, err);
  if (status != TESELA_OK) return status;
  if (layout->shape[dim] != 1)
    return tesela__refuse(err, TESELA_E_INVALID, TESELA_REASON_DIM_NOT_ONE,
                          "dim %" PRId32 " has extent %" PRId64 "; only a dim of extent 1 can be removed",
                          dim, layout->shape[dim]);
  for (int32_t d = 0; d < layout->rank; d++) number[d] = (int16_t)(d == dim ? TESELA_HOLE : d - (d > dim));
  status = start_view(&view, layout, layout->rank - 1, 0, number, err);
  if (status != TESELA_OK) return status;
  for (int32_t d = dim; d < view.rank; d++) view.shape[d] = layout->shape[d + 1];
  return finish_view(&view, out, err);
}

tesela_status tesela_layout_unsqueeze(const tesela_layout *layout, int32_t dim, tesela_layout *out,
                                      tesela_error *err) {
  TESELA__NEED(err, layout, out);
  tesela_layout view;
  int16_t number[TESELA_MAX_RANK];
  tesela_status status = tesela__check_finished(layout, err);
  if (status != TESELA_OK) return status;
  if (layout->rank == TESELA_MAX_RANK)
    return tesela__fail(err, TESELA_E_LIMIT, -1, "the view needs more than %d dims", TESELA_MAX_RANK);
  if (dim < 0 || dim > layout->rank) return tesela_error_outside(err, -1, "dim", -1, dim, 0, layout->rank);
  for (int32_t d = 0; d < layout->rank; d++) number[d] = (int16_t)(d + (d >= dim));
  status = start_view(&view, layout, layout->rank + 1, 0, number, err);
  if (status != TESELA_OK) return status;
  for (int32_t d = dim; d < layout->rank; d++) view.shape[d + 1] = layout->shape[d];
  view.shape[dim] = 1;
  return finish_view(&view, out, err);
}

tesela_status tesela_layout_expand(const tesela_layout *layout, int32_t dim, int64_t extent,
                                   tesela_layout *out, tesela_error *err) {
  TESELA__NEED(err, layout, out);
  tesela_layout view;
  int16_t number[TESELA_MAX_RANK];
  int64_t elements = 1;
  tesela_status status = tesela__check_finished(layout, err);
  if (status == TESELA_OK) status = check_dim(layout, dim, err);
  if (status != TESELA_OK) return status;
  if (layout->shape[dim] != 1)
    return tesela__refuse(err, TESELA_E_INVALID, TESELA_REASON_DIM_NOT_ONE,
                          "dim %" PRId32 " has extent %" PRId64 "; only a dim of extent 1 can be expanded",
                          dim, layout->shape[dim]);
  if (extent < 0) return tesela__fail(err, TESELA_E_RANGE, -1, "extent %" PRId64 " is negative", extent);
  for (int32_t d = 0; d < layout->rank; d++) {
    number[d] = (int16_t)(d == dim ? TESELA_HOLE : d);
    if (!tesela__mul(elements, tesela__max(d == dim ? extent : layout->shape[d], 1), &elements))
      return tesela__fail(err, TESELA_E_OVERFLOW, -1, "the number of elements does not fit in 64 bits");
  }
  status = start_view(&view, layout, layout->rank, 0, number, err);
  if (status != TESELA_OK) return status;
  view.shape[dim] = extent; /* no digit depends on it */
  return finish_view(&view, out, err);
}

/* ---- parts of a dim ---------------------------------------------------------------------------------------- */

static tesela_status check_slice(const tesela_layout *layout, int32_t dim, int64_t start, int64_t length,
                                 int64_t step, tesela_error *err) {
  tesela_status status = check_dim(layout, dim, err);
  if (status != TESELA_OK) return status;
  int64_t extent = layout->shape[dim], last;
  if (length < 0) return tesela__fail(err, TESELA_E_RANGE, -1, "length %" PRId64 " is negative", length);
  if (step == 0) return tesela__fail(err, TESELA_E_RANGE, -1, "step is 0; expected 1 or more, or -1 or less");
  if (start < 0 || start > extent || (start == extent && length > 0))
    return tesela_error_outside(err, -1, "start", -1, start, 0, length > 0 ? extent - 1 : extent);
  if (length == 0) return TESELA_OK;
  if (!tesela__mul(length - 1, step, &last) || !tesela__add(start, last, &last) || last < 0 || last >= extent)
    return tesela__fail(err, TESELA_E_RANGE, -1,
                        "a slice of %" PRId64 " elements from %" PRId64 " by %" PRId64 " leaves dim %" PRId32
                        ", whose extent is %" PRId64,
                        length, start, step, dim, extent);
  return TESELA_OK;
}

tesela_status tesela_layout_slice(const tesela_layout *layout, int32_t dim, int64_t start, int64_t length,
                                  int64_t step, tesela_layout *out, tesela_error *err) {
  TESELA__NEED(err, layout, out);
  tesela_layout simple, view;
  int16_t number[TESELA_MAX_RANK];
  tesela_status status = tesela__check_finished(layout, err);
  if (status == TESELA_OK) status = check_slice(layout, dim, start, length, step, err);
  if (status == TESELA_OK) status = tesela_layout_canonical(layout, &simple, err);
  if (status != TESELA_OK) return status;
  bool prefix = length == 0 || (start == 0 && (step == 1 || length == 1));
  for (int32_t d = 0; d < layout->rank; d++)
    number[d] = (int16_t)(d == dim && !prefix ? layout->rank /* the new join */ : d);
  status = start_view(&view, &simple, layout->rank, prefix ? 0 : 1, number, err);
  if (status != TESELA_OK) return status;
  view.shape[dim] = length;
  if (!prefix) {
    view.join[0] = (tesela_join){.extent = layout->shape[dim], .offset = start};
    tesela_digit part = {.extent = length, .step = 1, .stride = step, .source = (int16_t)dim, .axis = -1};
    status = add_part(&view, part, err);
  }
  return status == TESELA_OK ? finish_view(&view, out, err) : status;
}

/* ---- reshape ----------------------------------------------------------------------------------------------- */

/* Dims of both shapes with equal products: old ones first .. first+n-1, and new ones. Dims of extent 1 are in none. */
typedef struct reshape_group {
  int32_t n_old, n_new;
  int32_t old[TESELA_MAX_RANK], new[TESELA_MAX_RANK];
} reshape_group;

typedef struct reshaping {
  tesela_layout *view;
  const int64_t *old, *new;
  int32_t next; /* join */
  int16_t number[TESELA_MAX_RANK];
} reshaping;

/* The next group from dims *i and *j on; false after the last. The products of the rests are equal. */
static bool reshape_next(const reshaping *r, int32_t n_old, int32_t n_new, int32_t *i, int32_t *j,
                         reshape_group *group) {
  int64_t a = 1, b = 1;
  group->n_old = group->n_new = 0;
  while (*i < n_old || *j < n_new) {
    if (*i < n_old && r->old[*i] == 1) {
      ++*i;
    } else if (*j < n_new && r->new[*j] == 1) {
      ++*j;
    } else if (a > 1 && a == b) {
      return true;
    } else if (a <= b) {
      a *= r->old[*i];
      group->old[group->n_old++] = (*i)++;
    } else {
      b *= r->new[*j];
      group->new[group->n_new++] = (*j)++;
    }
  }
  return a > 1;
}

/* How many joins a group needs: one for several new dims, and one for each of several old dims. */
static int32_t reshape_joins(const reshape_group *group) {
  return (group->n_new > 1) + (group->n_old > 1 ? group->n_old : 0);
}

/* Write the joins of a group and their parts; the digits of its old dims get their coordinates. */
static tesela_status reshape_chain(reshaping *r, const reshape_group *group, tesela_error *err) {
  tesela_layout *view = r->view;
  int64_t elements = 1;
  for (int32_t k = 0; k < group->n_new; k++) elements *= r->new[group->new[k]];
  int16_t whole = (int16_t)group->new[0]; /* the coordinate that counts the elements of the group */
  tesela_status status = TESELA_OK;
  if (group->n_new > 1) {
    int64_t weight = elements;
    int16_t join = (int16_t)r->next++;
    view->join[join] = (tesela_join){.extent = elements};
    whole = (int16_t)(view->rank + join);
    for (int32_t k = 0; k < group->n_new && status == TESELA_OK; k++) {
      int32_t d = group->new[k];
      weight /= r->new[d];
      tesela_digit part = {
          .extent = r->new[d], .step = 1, .stride = weight, .source = (int16_t)d, .axis = -1, .join = join};
      status = add_part(view, part, err);
    }
  }
  if (group->n_old == 1) r->number[group->old[0]] = whole;
  int64_t step = elements;
  for (int32_t k = 0; k < group->n_old && group->n_old > 1 && status == TESELA_OK; k++) {
    int32_t d = group->old[k];
    int16_t join = (int16_t)r->next++;
    step /= r->old[d];
    view->join[join] = (tesela_join){.extent = r->old[d]};
    tesela_digit part = {
        .extent = r->old[d], .step = step, .stride = 1, .source = whole, .axis = -1, .join = join};
    status = add_part(view, part, err);
    r->number[d] = (int16_t)(view->rank + join);
  }
  return status;
}

static tesela_status check_shape(const tesela_layout *layout, int32_t rank, const int64_t *shape,
                                 tesela_error *err) {
  int64_t old = 1, new = 1;
  tesela_layout dims; /* begin checks rank and extents */
  tesela_status status = tesela_layout_begin(&dims, layout->dtype, layout->bits, rank, shape, err);
  if (status != TESELA_OK) return status;
  for (int32_t d = 0; d < layout->rank; d++) old *= layout->shape[d];
  for (int32_t d = 0; d < rank; d++) new *= shape[d];
  if (old == new) return TESELA_OK;
  return tesela__fail(err, TESELA_E_MISMATCH, -1,
                      "the new shape has %" PRId64 " elements; the layout has %" PRId64, new, old);
}

tesela_status tesela_layout_reshape(const tesela_layout *layout, int32_t rank, const int64_t *shape,
                                    tesela_layout *out, tesela_error *err) {
  TESELA__NEED(err, layout, out);
  TESELA__NEED_LIST(err, shape, rank);
  tesela_layout simple, view;
  reshape_group group;
  tesela_status status = tesela__check_finished(layout, err);
  if (status == TESELA_OK) status = check_shape(layout, rank, shape, err);
  if (status == TESELA_OK) status = tesela_layout_canonical(layout, &simple, err);
  if (status != TESELA_OK) return status;
  bool empty = tesela__is_empty(layout);
  reshaping r = {.view = &view, .old = layout->shape, .new = shape};
  int32_t more = 0, old_rank = empty ? 0 : layout->rank, new_rank = empty ? 0 : rank;
  for (int32_t i = 0, j = 0; reshape_next(&r, old_rank, new_rank, &i, &j, &group);)
    more += reshape_joins(&group);
  for (int32_t d = 0; d < layout->rank; d++) r.number[d] = TESELA_HOLE;
  tesela_layout chains = {.rank = rank, .n_digits = 0}; /* the new joins and their parts */
  r.view = &chains;
  if (more > TESELA_MAX_JOINS)
    return tesela__fail(err, TESELA_E_LIMIT, -1, "the view needs more than %d joins", TESELA_MAX_JOINS);
  for (int32_t i = 0, j = 0; reshape_next(&r, old_rank, new_rank, &i, &j, &group) && status == TESELA_OK;)
    status = reshape_chain(&r, &group, err);
  if (status == TESELA_OK) status = start_view(&view, &simple, rank, more, r.number, err);
  for (int32_t j = 0; j < more && status == TESELA_OK; j++) view.join[j] = chains.join[j];
  for (int32_t i = 0; i < chains.n_digits && status == TESELA_OK; i++)
    status = add_part(&view, chains.digit[i], err);
  if (status != TESELA_OK) return status;
  for (int32_t d = 0; d < rank; d++) view.shape[d] = shape[d];
  return finish_view(&view, out, err);
}
