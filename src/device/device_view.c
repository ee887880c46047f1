/* SPDX-License-Identifier: Apache-2.0 */
/*
 * device_view.c - device coordinates of a view: checks the view, then computes its layout, its feeds and its lane
 * verdict.
 */
#include "device/view.h"

const char *tesela_lane_name(tesela_lane lane) {
  switch (lane) {
#define TESELA__ROW(symbol, value, name, text) \
  case symbol:                                 \
    return name;
    TESELA_LANE_MAP(TESELA__ROW)
#undef TESELA__ROW
  }
  return NULL;
}

/* Limit of places and offsets. Sums are bounded as if digits were independent, at most twice the true maximum. */
static const int64_t DVIEW_MOST = INT64_MAX / 4;

/* ---- the base's storage ------------------------------------------------------------------------------------ */

/* The host dims by decreasing stride; each stride must be a multiple of the next and exceed the reach of all smaller
 * ones. */
static tesela_status dview_storage_of(tesela__view_storage *storage, const tesela_device_host *host,
                                      const int64_t *strides, tesela_error *err) {
  int64_t row_major[TESELA_MAX_RANK], next = 1, room = 1;
  bool empty = false;
  for (int32_t d = host->rank - 1; d >= 0; d--) {
    row_major[d] = next;
    if (!tesela__mul(next, tesela__max(host->shape[d], 1), &next))
      return tesela__fail(err, TESELA_E_OVERFLOW, -1, "the elements of the base do not fit in 64 bits");
    empty = empty || host->shape[d] == 0;
  }
  if (!strides) strides = row_major;
  storage->n = 0;
  for (int32_t d = 0; d < host->rank; d++) {
    if (host->shape[d] <= 1) continue;
    int32_t k = storage->n++;
    for (; k > 0 && storage->stride[k - 1] < strides[d]; k--) {
      storage->stride[k] = storage->stride[k - 1];
      storage->dim[k] = storage->dim[k - 1];
    }
    storage->stride[k] = strides[d];
    storage->dim[k] = d;
  }
  storage->span = 1;
  storage->dense = true;
  for (int32_t k = storage->n - 1; k >= 0; k--) {
    int64_t stride = storage->stride[k], extent = host->shape[storage->dim[k]], reach;
    int64_t below = k + 1 < storage->n ? storage->stride[k + 1] : 1;
    if (stride < room || stride % below != 0)
      return tesela__fail(err, TESELA_E_UNSUPPORTED, -1,
                          "stride %" PRId64 " of the base's dim %" PRId32 "; expected a multiple of %" PRId64
                          " and at least %" PRId64,
                          stride, storage->dim[k], below, room);
    storage->dense = storage->dense && stride == room;
    if (!tesela__mul(stride, extent, &room) || !tesela__mul(stride, extent - 1, &reach) ||
        !tesela__add(storage->span, reach, &storage->span) || storage->span > DVIEW_MOST)
      return tesela__fail(err, TESELA_E_OVERFLOW, -1, "the storage of the base does not fit in 64 bits");
  }
  if (empty) storage->span = 0;
  return TESELA_OK;
}

/* ---- a view's bounds --------------------------------------------------------------------------------------- */

static int64_t dview_step_reach(const tesela_host_view *view, int32_t d, bool up) {
  int64_t reach = (view->shape[d] - 1) * view->stride[d]; /* fits: dview_check */
  return up == (reach > 0) ? reach : 0;
}

/* The first index at offset `limit` or more (up), or at `limit` or less; it exists. */
static void dview_first_beyond(const tesela_host_view *view, int64_t limit, bool up, int64_t *index) {
  int64_t missing = limit - view->offset;
  for (int32_t d = 0; d < view->rank; d++) missing -= dview_step_reach(view, d, up);
  for (int32_t d = 0; d < view->rank;
       d++) { /* missing: distance to `limit` with dims d and later at their extreme */
    int64_t stride = view->stride[d], reach = dview_step_reach(view, d, up);
    missing += reach; /* without dim d */
    index[d] = 0;
    if (reach != 0 && (up ? missing > 0 : missing < 0)) {
      index[d] = up ? tesela__ceil_div(missing, stride) : tesela__ceil_div(-missing, -stride);
      missing -= index[d] * stride;
    }
  }
}

/* Report the first element outside the storage. */
static tesela_status dview_outside(const tesela_host_view *view, int64_t span, bool below, bool above,
                                   tesela_error *err) {
  int64_t low[TESELA_MAX_RANK] = {0}, high[TESELA_MAX_RANK] = {0}, *first = high;
  if (above) dview_first_beyond(view, span, true, high);
  if (below) dview_first_beyond(view, -1, false, low);
  if (!above) first = low;
  for (int32_t d = 0; d < view->rank && above && below; d++) {
    if (low[d] == high[d]) continue;
    if (low[d] < high[d]) first = low;
    break;
  }
  char text[512];
  tesela_buffer buffer = {text, sizeof text, 0};
  tesela_writer writer = tesela_buffer_writer(&buffer);
  tesela__sink sink;
  int64_t offset = view->offset;
  text[0] = '\0';
  tesela__sink_init(&sink, &writer);
  for (int32_t d = 0; d < view->rank; d++) {
    tesela__putf(&sink, d ? ",%" PRId64 : "%" PRId64, first[d]);
    offset += first[d] * view->stride[d];
  }
  (void)tesela__sink_finish(&sink, NULL); /* a long text is cut */
  return tesela__fail(err, TESELA_E_RANGE, -1,
                      "element (%s) of the view is at host offset %" PRId64 "; the base has 0 to %" PRId64,
                      text, offset, span - 1);
}

/* Check that numbers are in range and that no element is outside the storage. */
static tesela_status dview_check(const tesela_host_view *view, int64_t span, bool *empty, tesela_error *err) {
  if (view->rank < 0 || view->rank > TESELA_MAX_RANK)
    return tesela__fail(err, TESELA_E_LIMIT, -1, "rank %" PRId32 "; expected 0 to %d", view->rank,
                        TESELA_MAX_RANK);
  int64_t low = view->offset, high = view->offset, reach;
  *empty = false;
  for (int32_t d = 0; d < view->rank; d++) {
    if (view->shape[d] < 0)
      return tesela__fail(err, TESELA_E_RANGE, -1, "extent %" PRId64 " of the view's dim %" PRId32,
                          view->shape[d], d);
    *empty = *empty || view->shape[d] == 0;
  }
  for (int32_t d = 0; d < view->rank && !*empty; d++)
    if (!tesela__mul(view->shape[d] - 1, view->stride[d], &reach) ||
        !tesela__add(reach < 0 ? low : high, reach, reach < 0 ? &low : &high))
      return tesela__fail(err, TESELA_E_OVERFLOW, -1, "the offsets of the view do not fit in 64 bits");
  if (*empty || (low >= 0 && high < span)) return TESELA_OK;
  int64_t apart;
  if (!tesela__sub(high, low, &apart) || !tesela__sub(span, low, &apart) || high == INT64_MAX)
    return tesela__fail(err, TESELA_E_OVERFLOW, -1, "the offsets of the view do not fit in 64 bits");
  return dview_outside(view, span, low < 0, high >= span, err);
}

/* ---- feeds ------------------------------------------------------------------------------------------------- */

static void dview_set_feeds(tesela_device_view *view) {
  const tesela_layout *places = &view->layout;
  view->n_feeds = 0;
  view->plain = places->n_joins == 0;
  for (int32_t d = 0; d < places->rank && view->plain; d++)
    view->plain = tesela__chain_is_even(places, tesela__chain_of(places, d));
  if (!view->plain) return;
  for (int32_t i = 0; i < places->n_mapped; i++) {
    const tesela_digit *digit = &places->digit[i];
    if (digit->stride == 0) continue;
    view->feed[view->n_feeds++] =
        (tesela_view_feed){digit->source, digit->step, digit->extent, digit->stride};
  }
}

tesela_status tesela_device_view_of(tesela_device_view *out, const tesela_device_layout *base,
                                    const int64_t *base_strides, const tesela_host_view *view,
                                    tesela_error *err) {
  TESELA__NEED(err, out, base, view);
  tesela__view_storage storage;
  tesela_layout layout;
  bool empty = false;
  if (base->places > DVIEW_MOST)
    return tesela__fail(err, TESELA_E_OVERFLOW, -1,
                        "the base has %" PRId64 " places; expected at most %" PRId64, base->places,
                        DVIEW_MOST);
  tesela_status status = dview_storage_of(&storage, &base->host, base_strides, err);
  if (status == TESELA_OK) status = dview_check(view, storage.span, &empty, err);
  if (status == TESELA_OK) status = tesela__view_layout(&layout, base, &storage, view, err);
  if (status != TESELA_OK) return status;
  out->layout = layout;
  out->first = -1;
  if (!empty) {
    const int64_t zero[TESELA_MAX_RANK] = {0};
    (void)tesela_layout_place_of(&out->layout, zero, &out->first, NULL); /* index 0 exists */
  }
  dview_set_feeds(out);
  out->lane = TESELA_LANE_UNKNOWN;
  out->lane_dim = -1;
  out->lane_offset = 0;
  if (empty || tesela__view_sticks_aligned(base))
    out->lane = tesela__view_lane(&out->layout, base->lanes, &out->lane_dim, &out->lane_offset);
  return TESELA_OK;
}
