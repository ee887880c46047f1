/* SPDX-License-Identifier: Apache-2.0 */
/*
 * query_device.c - the ops about device layouts: device_layout, dma, view, restickify.
 */
#include <stdio.h>
#include <string.h>

#include <tesela/device.h>

#include "json_device.h"
#include "request.h"

static jr_object query_object(const tesela_request *q) {
  return (jr_object){q->value, "the request", q->err, q->target};
}

/* A member of the request that is an object; .value is NULL if it is missing. */
static jr_object query_member(const tesela_request *q, const char *name) {
  return (jr_object){tesela_value_get(q->value, name), name, q->err, q->target};
}

/* ---- device_layout ------------------------------------------------------------------------------------------- */

/* [index, host offset, device place] for each index of the request */
static tesela_status put_samples(tesela_request *q, const json_device *device, const tesela_layout *layout) {
  const tesela_value *indices = tesela_request_get(q, "indices");
  if (!indices) return TESELA_OK;
  tesela_put_key_list(q->out, "samples");
  for (size_t i = 0; i < tesela_value_size(indices); i++) {
    int64_t index[TESELA_MAX_RANK], place[TESELA_MAX_AXES], offset = device->host_offset;
    tesela_status status =
        request_index(q, layout->rank, layout->shape, tesela_value_at(indices, i), (int64_t)i, index);
    if (status == TESELA_OK) status = tesela_layout_place_of(layout, index, place, q->err);
    if (status != TESELA_OK) return status;
    for (int32_t d = 0; d < layout->rank; d++) {
      int64_t part;
      if (__builtin_mul_overflow(index[d], device->host_strides[d], &part) ||
          __builtin_add_overflow(offset, part, &offset))
        return tesela_request_fail(q, TESELA_E_OVERFLOW, -1,
                                   "the host offset of indices[%zu] does not fit in 64 bits", i);
    }
    tesela_put_list(q->out);
    tesela_put_ints(q->out, layout->rank, index);
    tesela_put_int(q->out, offset);
    tesela_put_int(q->out, place[0]);
    tesela_put_end(q->out);
  }
  tesela_put_end(q->out);
  return TESELA_OK;
}

/* The plain nests and their number; null: more than a response lists, or than the library makes. */
static tesela_status put_plain_nests(tesela_request *q, const json_device *device) {
  tesela_dma *dma = NULL;
  tesela_dma_options options = {.plain = true};
  tesela_status status =
      tesela_dma_create(&dma, &device->layout, device->host_strides, device->host_offset, &options, q->err);
  if (status != TESELA_OK && status != TESELA_E_LIMIT) return status;
  int32_t n = dma ? tesela_dma_facts_of(dma).n_nests : 0;
  tesela_put_key(q->out, "nests");
  if (dma && n <= JSON_DEVICE_NESTS)
    json_device_put_nests(q->out, dma);
  else
    tesela_put_null(q->out);
  tesela_put_key(q->out, "min_nests");
  if (dma)
    tesela_put_int(q->out, n);
  else
    tesela_put_null(q->out);
  tesela_dma_destroy(dma);
  return TESELA_OK;
}

tesela_status op_device_layout(tesela_request *q) {
  jr_object in = query_object(q);
  json_device device;
  tesela_layout layout;
  if (!json_device_read(&in, &device)) return q->err->status;
  tesela_status status = json_device_put_layout(q->out, &device.layout, device.host_strides, q->err);
  if (status == TESELA_OK) status = tesela_device_to_layout(&device.layout, &layout, q->err);
  if (status == TESELA_OK) status = put_plain_nests(q, &device);
  if (status != TESELA_OK) return status;
  json_device_put_hash(q->out, "map_hash", &layout, NULL);
  return put_samples(q, &device, &layout);
}

/* ---- dma ------------------------------------------------------------------------------------------------------- */

/* The limits given, in place of the target's. */
static bool read_limits(const jr_object *in, tesela_dma_limits *limits) {
  int64_t dims;
  if (!jr_done(in, "max_dims|max_extent|alignment|min_burst|max_burst|max_nests") ||
      !jr_int(in, "max_extent", limits->max_extent, &limits->max_extent) ||
      !jr_int(in, "alignment", limits->alignment, &limits->alignment) ||
      !jr_int(in, "min_burst", limits->min_burst, &limits->min_burst) ||
      !jr_int(in, "max_burst", limits->max_burst, &limits->max_burst) ||
      !jr_int(in, "max_nests", limits->max_nests, &limits->max_nests) ||
      !jr_int_in(in, "max_dims", limits->max_dims, 0, TESELA_DEVICE_DIMS, &dims))
    return false;
  limits->max_dims = (int32_t)dims;
  return true;
}

/* box: {"start": [..], "size": [..]} */
static bool read_box(const jr_object *in, int32_t rank, int64_t start[], int64_t size[]) {
  int32_t n, m;
  if (!jr_done(in, "start|size") || !jr_ints(in, "start", true, TESELA_MAX_RANK, &n, start) ||
      !jr_ints(in, "size", true, TESELA_MAX_RANK, &m, size))
    return false;
  return (n == rank && m == rank) ||
         jr_fail(in, TESELA_E_INVALID,
                 "box has start of %d and size of %d dims; expected %d, as the tensor has", n, m, rank);
}

tesela_status op_dma(tesela_request *q) {
  jr_object in = query_object(q), limits = query_member(q, "limits"), box = query_member(q, "box");
  json_device device;
  tesela_dma_limits most = q->target ? q->target->dma : (tesela_dma_limits){0};
  int64_t start[TESELA_MAX_RANK], size[TESELA_MAX_RANK];
  const char *direction = tesela_value_text(tesela_request_get(q, "direction"));
  const char *form = tesela_value_text(tesela_request_get(q, "form"));
  q->field = NULL;
  if (!json_device_read(&in, &device) || (limits.value && !read_limits(&limits, &most)) ||
      (box.value && !read_box(&box, device.layout.host.rank, start, size)))
    return q->err->status;
  bool capped =
      !q->files_anywhere &&
      (most.max_nests == 0 || most.max_nests > JSON_DEVICE_NESTS); /* the request comes from elsewhere */
  if (capped) most.max_nests = JSON_DEVICE_NESTS;                  /* the library makes no more */
  tesela_dma *dma;
  tesela_dma_options options = {
      .direction = direction && strcmp(direction, "to_host") == 0 ? TESELA_DMA_TO_HOST : TESELA_DMA_TO_DEVICE,
      .plain = form && strcmp(form, "plain") == 0,
      .innermost_first = tesela_request_flag(q, "innermost_first"),
      .padding = tesela_request_flag(q, "padding"),
      .limits = &most,
      .box_start = box.value ? start : NULL,
      .box_size = box.value ? size : NULL,
  };
  q->field = NULL;
  tesela_status status =
      tesela_dma_create(&dma, &device.layout, device.host_strides, device.host_offset, &options, q->err);
  if (capped && status == TESELA_E_UNSUPPORTED && q->err->reason == TESELA_REASON_MAX_NESTS) {
    const tesela_error err = *q->err; /* the limit is that of the response */
    return ops_fail(q->err, TESELA_E_LIMIT, -1, "%s; a response lists up to %d", err.message,
                    JSON_DEVICE_NESTS);
  }
  if (status != TESELA_OK) return status;
  tesela_dma_facts facts = tesela_dma_facts_of(dma);
  status = json_device_put_layout(q->out, &device.layout, device.host_strides, q->err);
  tesela_put_key(q->out, "nests");
  json_device_put_nests(q->out, dma);
  tesela_put_key_int(q->out, "count", facts.n_nests);
  tesela_put_key_int(q->out, "bound", facts.bound);
  tesela_put_key_int(q->out, "digit_bound", facts.digit_bound);
  tesela_put_key_int(q->out, "elements", facts.elements);
  tesela_put_key_int(q->out, "bursts", facts.bursts);
  tesela_put_key_int(q->out, "burst_bytes", facts.burst_bytes);
  tesela_put_key_int(q->out, "least_burst_bytes", facts.least_burst_bytes);
  tesela_put_key_int(q->out, "most_burst_bytes", facts.most_burst_bytes);
  tesela_writer to = tesela_put_key_begin(q->out, "source");
  if (status == TESELA_OK) status = tesela_dma_print(dma, &to, q->err);
  tesela_put_text_end(q->out);
  tesela_dma_destroy(dma);
  return status;
}

/* ---- view ------------------------------------------------------------------------------------------------------- */

/* The places of the first eight elements, and of the last. */
static void put_ends(tesela_sink *j, const tesela_layout *layout) {
  int64_t index[TESELA_MAX_RANK] = {0}, place[TESELA_MAX_AXES];
  bool empty = false;
  for (int32_t d = 0; d < layout->rank; d++) empty = empty || layout->shape[d] == 0;
  tesela_put_key_list(j, "first_offsets");
  for (int k = 0; k < 8 && !empty; k++) {
    tesela_layout_place_of(layout, index, place, NULL);
    tesela_put_int(j, place[0]);
    int32_t d = layout->rank;
    while (d-- > 0 && ++index[d] == layout->shape[d]) index[d] = 0;
    if (d < 0) break;
  }
  tesela_put_end(j);
  tesela_put_key(j, "last_offset");
  if (empty) {
    tesela_put_null(j);
    return;
  }
  for (int32_t d = 0; d < layout->rank; d++) index[d] = layout->shape[d] - 1;
  tesela_layout_place_of(layout, index, place, NULL);
  tesela_put_int(j, place[0]);
}

tesela_status op_view(tesela_request *q) {
  jr_object in = query_object(q), view_in = query_member(q, "view");
  json_device device;
  tesela_host_view view;
  tesela_device_view found;
  if (!json_device_read_base(&in, &device) || !json_device_view(&view_in, &view)) return q->err->status;
  if (__builtin_sub_overflow(view.offset, device.host_offset, &view.offset)) /* from the base's element 0 */
    return tesela_request_fail(q, TESELA_E_OVERFLOW, -1,
                               "the offset of the view in the base does not fit in 64 bits");
  tesela_status status = tesela_device_view_of(&found, &device.layout, device.host_strides, &view, q->err);
  if (status != TESELA_OK) return status;
  put_ends(q->out, &found.layout);
  json_device_put_hash(q->out, "map_hash", &found.layout, NULL);
  tesela_put_key_text(q->out, "lane", tesela_lane_name(found.lane));
  tesela_put_key(q->out, "lane_view_dim");
  if (found.lane == TESELA_LANE_CLEAN && found.lane_dim >= 0)
    tesela_put_int(q->out, found.lane_dim);
  else
    tesela_put_null(q->out);
  tesela_put_key_int(q->out, "lane_offset", found.lane == TESELA_LANE_OFFSET ? found.lane_offset : 0);
  tesela_put_key(q->out, "feeds");
  if (!found.plain) {
    tesela_put_null(q->out);
    return TESELA_OK;
  }
  tesela_put_list(q->out);
  for (int32_t k = 0; k < found.n_feeds; k++) {
    const tesela_view_feed *feed = &found.feed[k];
    tesela_put_object(q->out);
    tesela_put_key_int(q->out, "view_dim", feed->view_dim);
    tesela_put_key_int(q->out, "step", feed->step);
    tesela_put_key_int(q->out, "extent", feed->extent);
    tesela_put_key_int(q->out, "stride", feed->stride);
    tesela_put_end(q->out);
  }
  tesela_put_end(q->out);
  return TESELA_OK;
}

/* ---- restickify --------------------------------------------------------------------------------------------------- */

tesela_status op_restickify(tesela_request *q) {
  jr_object in = query_object(q);
  json_device device;
  tesela_device_layout to;
  tesela_layout before, after;
  int64_t dim;
  if (!json_device_read(&in, &device) || !jr_int_in(&in, "to_stick", JR_NEEDED, 0, TESELA_MAX_RANK - 1, &dim))
    return q->err->status;
  tesela_status status = tesela_device_restick(&to, &device.layout, (int32_t)dim, q->err);
  if (status == TESELA_OK) status = tesela_device_to_layout(&device.layout, &before, q->err);
  if (status == TESELA_OK) status = tesela_device_to_layout(&to, &after, q->err);
  if (status == TESELA_OK) status = json_device_put_layout(q->out, &to, device.host_strides, q->err);
  if (status != TESELA_OK) return status;
  tesela_put_key_int(q->out, "elems_read", device.layout.places);
  tesela_put_key_int(q->out, "elems_written", to.places);
  json_device_put_hash(q->out, "pair_hash", &before, &after);
  return TESELA_OK;
}
