/* SPDX-License-Identifier: Apache-2.0 */
/*
 * view_form.c - a strided view of a base tensor, as a layout from view index to device place.
 *
 * The host offset of an element is a sum offset + index * stride. It is divided by the strides of the base, largest
 * first, which gives the base's coordinates, and each of these by the steps of its device dims. Without carries the
 * terms are divided one by one: a multiple of the divisor belongs to the quotient, a smaller term to the rest, and the
 * index of a term that crosses the divisor is split.
 *
 *   base f16[6,100] in sticks along 1, view [600], stride 1: 600 = 6 rows of 100: i = 100*a + b, row a, column b
 *   column b is divided by 64: b = 64*c + d: place 384*c + 64*a + d
 *
 * If the rest carries (x[:, 40:] starts inside a stick), the quotient's terms are removed and the rest becomes a join
 * with the remaining divisors. An index digit has one target in a layout; a view that needs more than one (a diagonal)
 * is expressed with joins only.
 */
#include "device/view_sum.h"

enum { DVIEW_WALK = 1 << 20 }; /* indices tried in search of a gap */

typedef struct dview_work {
  const tesela_device_layout *base;
  const tesela__view_storage *storage;
  const tesela_host_view *view;
  tesela_error *err;
  tesela__view_sum *place;
  tesela__view_sum *part[TESELA_MAX_JOINS]; /* of each join */
  tesela_layout *out;
  tesela__view_sums sums;
} dview_work;

/* ---- joins ------------------------------------------------------------------------------------------------- */

static tesela_status dview_too_many(dview_work *w) {
  return tesela__fail(w->err, TESELA_E_LIMIT, -1, "the view needs more than %d digits or %d joins",
                      (int)TESELA_MAX_DIGITS, (int)TESELA_MAX_JOINS);
}

static tesela_status dview_add_digit(dview_work *w, tesela_digit digit) {
  if (w->out->n_digits == TESELA_MAX_DIGITS) return dview_too_many(w);
  w->out->digit[w->out->n_digits++] = digit;
  return TESELA_OK;
}

/* Add a join whose value is a sum. */
static tesela_status dview_add_join(dview_work *w, tesela__view_sum *sum, int16_t *join) {
  if (w->out->n_joins == TESELA_MAX_JOINS) return dview_too_many(w);
  *join = (int16_t)w->out->n_joins++;
  w->part[*join] = sum;
  return TESELA_OK;
}

/* Device dims of a host dim by decreasing step; of equal steps the outermost, since the others are always 0. */
static int32_t dview_device_chain(const tesela_device_layout *base, int32_t dim, int32_t *chain) {
  int32_t n = 0;
  for (int32_t j = 0; j < base->n_dims; j++) {
    const tesela_device_dim *d = &base->dim[j];
    if (d->dim != dim || d->extent <= 1) continue;
    int32_t k = n++;
    for (; k > 0 && base->dim[chain[k - 1]].step < d->step; k--) chain[k] = chain[k - 1];
    chain[k] = j;
  }
  int32_t kept = 0;
  for (int32_t k = 0; k < n; k++)
    if (kept == 0 || base->dim[chain[kept - 1]].step != base->dim[chain[k]].step) chain[kept++] = chain[k];
  return kept;
}

/* Add the digits of a join that is a host dim, or the rest of one, from link `first` of its chain on. */
static tesela_status dview_add_chain(dview_work *w, int16_t join, const int32_t *chain, int32_t first,
                                     int32_t n) {
  tesela_status status = TESELA_OK;
  for (int32_t k = first; k < n && status == TESELA_OK; k++) {
    const tesela_device_dim *d = &w->base->dim[chain[k]];
    status = dview_add_digit(
        w, (tesela_digit){
               .step = d->step, .stride = d->stride, .source = (int16_t)(w->view->rank + join), .join = -1});
  }
  return status;
}

/* Add a base coordinate to the place, through its device dims. */
static tesela_status dview_place_coordinate(dview_work *w, int32_t dim, tesela__view_sum *sum) {
  int32_t chain[TESELA_DEVICE_DIMS], n = dview_device_chain(w->base, dim, chain);
  tesela_status status = TESELA_OK;
  tesela__view_sum *quotient = tesela__view_new_sum(&w->sums);
  for (int32_t k = 0; k < n && status == TESELA_OK; k++) {
    const tesela_device_dim *d = &w->base->dim[chain[k]];
    bool full, fits = tesela__view_divide(&w->sums, sum, d->step, quotient, &full);
    if (full) return dview_too_many(w);
    w->place->constant += quotient->constant * d->stride; /* fits: places of the base */
    for (int32_t i = 0; i < w->sums.n; i++) w->place->weight[i] += quotient->weight[i] * d->stride;
    if (fits) continue;
    int16_t join = 0;
    status = dview_add_join(w, sum, &join);
    if (status == TESELA_OK) status = dview_add_chain(w, join, chain, k, n);
    w->sums.n_sums--;
    return status;
  }
  w->sums.n_sums--;
  if (tesela__view_is_zero(&w->sums, sum)) return status;
  return tesela__fail(w->err, TESELA_E_INVALID, -1,
                      "the base has no device dim of step 1 for host dim %" PRId32, dim);
}

/* ---- the storage ------------------------------------------------------------------------------------------- */

/* Coordinate of storage link k: a digit of a join in units of `unit`, plus a sum. */
static tesela_status dview_chain_coordinate(dview_work *w, int16_t storage_join, int32_t k, int64_t unit,
                                            tesela__view_sum *sum) {
  int32_t dim = w->storage->dim[k], chain[TESELA_DEVICE_DIMS], n = dview_device_chain(w->base, dim, chain);
  int16_t join = 0;
  tesela_status status = dview_add_join(w, sum, &join);
  if (status == TESELA_OK)
    status = dview_add_digit(w, (tesela_digit){.step = w->storage->stride[k] / unit,
                                               .stride = 1,
                                               .source = (int16_t)(w->view->rank + storage_join),
                                               .axis = -1,
                                               .join = join});
  return status == TESELA_OK ? dview_add_chain(w, join, chain, 0, n) : status;
}

/* Links first .. last of the storage as one join of a sum in units of `unit`; `quotient`: the part of link `first`
 * divided off before, or NULL. */
static tesela_status dview_chain_links(dview_work *w, tesela__view_sum *sum, int64_t unit, int32_t first,
                                       int32_t last, tesela__view_sum *quotient) {
  int16_t join = 0;
  tesela_status status = dview_add_join(w, sum, &join);
  for (int32_t k = first; k <= last && status == TESELA_OK; k++)
    status = dview_chain_coordinate(w, join, k, unit,
                                    k == first && quotient ? quotient : tesela__view_new_sum(&w->sums));
  return status;
}

/* A carry at link `first` may end at a later one, *last: in (rows, 640 columns) from any row on, the columns do not
 * carry. Then the links up to *last are one join, and the rest continues. */
static tesela_status dview_chain_rest(dview_work *w, tesela__view_sum *rest, int32_t first, int32_t *last,
                                      tesela__view_sum *quotient) {
  const tesela__view_storage *storage = w->storage;
  for (int32_t k = first + 1; k < storage->n; k++) {
    bool full;
    int64_t unit = storage->stride[k];
    tesela__view_sum *sum = tesela__view_new_sum(&w->sums);
    bool fits = tesela__view_divide(&w->sums, rest, unit, sum, &full);
    if (full) return dview_too_many(w);
    *last = k;
    if (fits) return dview_chain_links(w, sum, unit, first, k, quotient);
    rest->constant += sum->constant * unit; /* undo the division */
    for (int32_t i = 0; i < w->sums.n; i++) rest->weight[i] += sum->weight[i] * unit;
    w->sums.n_sums--;
  }
  *last = storage->n;
  return dview_chain_links(w, rest, 1, first, storage->n - 1, quotient);
}

/* Find an index whose storage offset is in a gap; for few elements. */
static bool dview_find_gap(const dview_work *w, int64_t *index) {
  const tesela_host_view *view = w->view;
  for (int32_t d = 0; d < view->rank; d++) index[d] = 0;
  for (;;) {
    int64_t offset = view->offset;
    for (int32_t d = 0; d < view->rank; d++) offset += index[d] * view->stride[d];
    for (int32_t k = 0; k < w->storage->n; k++) {
      if (offset / w->storage->stride[k] >= w->base->host.shape[w->storage->dim[k]]) return true;
      offset %= w->storage->stride[k];
    }
    if (offset != 0) return true;
    int32_t d = view->rank - 1;
    for (; d >= 0; d--) {
      if (++index[d] < view->shape[d]) break;
      index[d] = 0;
    }
    if (d < 0) return false;
  }
}

/* Check every element for a gap, as the sums do not exclude gaps. */
static tesela_status dview_check_gaps(dview_work *w) {
  int64_t elements = 1, index[TESELA_MAX_RANK];
  for (int32_t d = 0; d < w->view->rank; d++)
    if (!tesela__mul(elements, w->view->shape[d], &elements) || elements > DVIEW_WALK)
      return tesela__fail(w->err, TESELA_E_UNSUPPORTED, -1,
                          "cannot decide whether the view reaches gaps of the base's storage");
  if (!dview_find_gap(w, index)) return TESELA_OK;
  int64_t offset = w->view->offset, number = 0;
  for (int32_t d = 0; d < w->view->rank; d++) {
    offset += index[d] * w->view->stride[d];
    number = number * w->view->shape[d] + index[d];
  }
  return tesela__fail(w->err, TESELA_E_INVALID, -1,
                      "element %" PRId64 " of the view (row-major) is at host offset %" PRId64
                      ", where the base has no element",
                      number, offset);
}

/* Divide the storage offset into coordinates, and these into places. */
static tesela_status dview_place_all(dview_work *w, bool whole) {
  const tesela__view_storage *storage = w->storage;
  tesela__view_sum *rest = tesela__view_new_sum(&w->sums), *coordinate[TESELA_MAX_RANK];
  w->place = tesela__view_new_sum(&w->sums);
  rest->constant = w->view->offset;
  for (int32_t k = 0; k < w->sums.n; k++) rest->weight[k] = w->view->stride[w->sums.digit[k].dim];
  if (whole) /* gaps were checked before */
    return dview_chain_links(w, rest, 1, 0, storage->n - 1, NULL);
  tesela_status status = TESELA_OK;
  bool inside = true, joined = false;
  for (int32_t n = 0; n < storage->n && status == TESELA_OK; n++) {
    bool full;
    int64_t low, high;
    tesela__view_sum *own = coordinate[n] = tesela__view_new_sum(&w->sums);
    bool fits = tesela__view_divide(&w->sums, rest, storage->stride[n], own, &full);
    if (full) return dview_too_many(w);
    tesela__view_range(&w->sums, own, &low, &high);
    inside = inside && fits && own->constant + high < w->base->host.shape[storage->dim[n]];
    if (fits) continue;
    int32_t first = n;
    status = dview_chain_rest(w, rest, first, &n, own);
    for (int32_t k = first; k <= n && k < storage->n; k++) coordinate[k] = NULL;
    joined = n == storage->n;
  }
  if (status == TESELA_OK && !storage->dense &&
      (!inside || (!joined && !tesela__view_is_zero(&w->sums, rest))))
    status = dview_check_gaps(w);
  for (int32_t k = 0; k < storage->n && status == TESELA_OK; k++)
    if (coordinate[k]) status = dview_place_coordinate(w, storage->dim[k], coordinate[k]);
  return status;
}

/* ---- the layout -------------------------------------------------------------------------------------------- */

static tesela_status dview_begin(dview_work *w) {
  const tesela_host_view *view = w->view;
  const tesela_device_host *host = &w->base->host;
  tesela_status status =
      tesela_layout_begin(w->out, host->device_dtype, host->device_bits, view->rank, view->shape, w->err);
  if (status != TESELA_OK) return status;
  int32_t axis;
  w->out->n_digits = 0;
  tesela__view_sums_begin(&w->sums, view);
  return tesela_layout_add_axis(w->out, "memory", &axis, w->err);
}

/* Add the digits of the view's index, each with its target. *twice: a digit has two. */
static tesela_status dview_add_index(dview_work *w, bool *twice) {
  tesela_status status = TESELA_OK;
  for (int32_t k = 0; k < w->sums.n && status == TESELA_OK; k++) {
    tesela_digit digit = {.extent = w->sums.digit[k].extent,
                          .step = w->sums.digit[k].step,
                          .stride = w->place->weight[k],
                          .source = (int16_t)w->sums.digit[k].dim,
                          .join = -1};
    bool taken = digit.stride != 0;
    for (int32_t j = 0; j < w->out->n_joins; j++) {
      if (w->part[j]->weight[k] == 0) continue;
      *twice = *twice || taken;
      taken = true;
      digit.axis = -1;
      digit.join = (int16_t)j;
      digit.stride = w->part[j]->weight[k];
    }
    status = dview_add_digit(w, digit);
  }
  return status;
}

/* Set the extents of the joins, as tesela_layout_finish counts them, and of their digits, which have decreasing
 * steps. */
static void dview_set_extents(dview_work *w) {
  tesela_layout *out = w->out;
  for (int32_t j = 0; j < out->n_joins; j++) {
    int64_t limit = w->part[j]->constant + 1;
    out->join[j].offset = w->part[j]->constant;
    for (int32_t i = 0; i < out->n_digits; i++)
      if (out->digit[i].join == j && out->digit[i].stride > 0)
        limit += (out->digit[i].extent - 1) * out->digit[i].stride;
    out->join[j].extent = limit;
    for (int32_t i = 0; i < out->n_digits; i++) {
      if (out->digit[i].source != out->rank + j) continue;
      out->digit[i].extent = tesela__ceil_div(limit, out->digit[i].step);
      limit = tesela__min(limit, out->digit[i].step);
    }
  }
}

static tesela_status dview_add_replicas(dview_work *w) {
  tesela_status status = TESELA_OK;
  for (int32_t j = 0; j < w->base->n_dims && status == TESELA_OK; j++) {
    const tesela_device_dim *d = &w->base->dim[j];
    if (d->dim == TESELA_DIM_REPLICATED && d->extent > 1)
      status = dview_add_digit(
          w, (tesela_digit){
                 .extent = d->extent, .step = 1, .stride = d->stride, .source = TESELA_REPLICA, .join = -1});
  }
  return status;
}

/* `whole`: the storage offset as one join. *again: a digit needs two targets, or bounds are not provable. */
static tesela_status dview_build(dview_work *w, bool whole, bool *again) {
  *again = false;
  tesela_status status = dview_begin(w);
  if (status == TESELA_OK && !tesela__is_empty(w->out)) {
    status = dview_place_all(w, whole);
    if (status != TESELA_OK) return status;
    status = dview_add_index(w, again);
    if (status != TESELA_OK || *again) return status;
    dview_set_extents(w);
    w->out->axis[0].offset = w->place->constant;
    status = dview_add_replicas(w);
  }
  w->out->axis[0].extent = -1; /* only elements are reached: tesela__view_layout sets it */
  if (status == TESELA_OK) status = tesela_layout_finish(w->out, w->err);
  *again = status == TESELA_E_RANGE;
  return status;
}

tesela_status tesela__view_layout(tesela_layout *out, const tesela_device_layout *base,
                                  const tesela__view_storage *storage, const tesela_host_view *view,
                                  tesela_error *err) {
  tesela_layout built;
  dview_work w;
  bool again;
  w.base = base;
  w.storage = storage;
  w.view = view;
  w.err = err;
  w.out = &built;
  tesela_status status = dview_build(&w, false, &again);
  if (again) status = dview_build(&w, true, &again);
  if (status != TESELA_OK) return status;
  built.axis[0].extent = INT64_MAX;
  status = tesela_layout_canonical(&built, out, err);
  if (status != TESELA_OK) return status;
  out->axis[0].extent = -1;
  out->finished = false;
  status = tesela_layout_finish(out, err);
  if (out->axis[0].extent < base->places) out->axis[0].extent = base->places;
  return status;
}
