/* SPDX-License-Identifier: Apache-2.0 */
/* json_device_put.c - device layouts, nests and maps to JSON. */
#include <inttypes.h>
#include <stdio.h>

#include "json_device.h"

void json_device_put_lists(tesela_sink *j, const tesela_device_layout *layout, const int64_t *host_strides) {
  static const char *const names[] = {"device_size", "device_strides", "dim_map"};
  int64_t lists[3][TESELA_DEVICE_DIMS], map[TESELA_DEVICE_DIMS];
  for (int32_t k = 0; k < layout->n_dims; k++) {
    lists[0][k] = layout->dim[k].extent;
    lists[1][k] = layout->dim[k].stride;
    lists[2][k] = layout->dim[k].dim;
  }
  for (int i = 0; i < 3; i++) {
    tesela_put_key_ints(j, names[i], layout->n_dims, lists[i]);
  }
  tesela_put_key(j, "stride_map");
  if (tesela_device_stride_map(layout, host_strides, map, NULL) == TESELA_OK)
    tesela_put_ints(j, layout->n_dims, map);
  else
    tesela_put_null(j);
}

tesela_status json_device_put_layout(tesela_sink *j, const tesela_device_layout *layout,
                                     const int64_t *host_strides, tesela_error *err) {
  tesela_device_sizes sizes;
  tesela_status status = tesela_device_sizes_of(layout, NULL, &sizes, err);
  if (status != TESELA_OK) return status;
  json_device_put_lists(j, layout, host_strides);
  tesela_put_key_int(j, "device_elems", sizes.places);
  tesela_put_key_int(j, "device_bytes", sizes.device_bytes);
  tesela_put_key_int(j, "padding_elems", sizes.padding);
  tesela_put_key_list(j, "dims");
  for (int32_t k = 0; k < layout->n_dims; k++) {
    const tesela_device_dim *dim = &layout->dim[k];
    tesela_put_ints(j, 3, (const int64_t[]){dim->dim, dim->step, dim->extent});
  }
  tesela_put_end(j);
  tesela_put_key_int(j, "stick_elems", layout->lanes);
  return TESELA_OK;
}

void json_device_put_nests(tesela_sink *j, const tesela_dma *dma) {
  tesela_put_list(j);
  const tesela_nest *nest;
  for (int32_t k = 0; (nest = tesela_dma_nest(dma, k)) && !j->stopped; k++) {
    tesela_put_object(j);
    tesela_put_key_ints(j, "ranges", nest->n, nest->range);
    tesela_put_key_ints(j, "device_strides", nest->n, nest->device_stride);
    tesela_put_key_ints(j, "host_strides", nest->n, nest->host_stride);
    tesela_put_key_int(j, "device_offset", nest->device_offset);
    tesela_put_key_int(j, "host_offset", nest->host_offset);
    tesela_put_end(j);
  }
  tesela_put_end(j);
}

static uint64_t device_hash(uint64_t hash, int64_t place) {
  for (int byte = 0; byte < 8; byte++) {
    hash ^= (uint64_t)place >> (8 * byte) & 255;
    hash *= 0x100000001b3U;
  }
  return hash;
}

void json_device_put_hash(tesela_sink *j, const char *name, const tesela_layout *layout,
                          const tesela_layout *second) {
  int64_t index[TESELA_MAX_RANK] = {0}, elements = 1, place[TESELA_MAX_AXES];
  uint64_t hash = 0xcbf29ce484222325U;
  char text[20];
  for (int32_t d = 0; d < layout->rank; d++)
    if (layout->shape[d] == 0 || __builtin_mul_overflow(elements, layout->shape[d], &elements))
      elements = layout->shape[d] == 0 ? 0 : INT64_MAX;
  tesela_put_key(j, name);
  if (elements > JSON_DEVICE_HASH_LIMIT) {
    tesela_put_null(j);
    return;
  }
  for (int64_t e = 0; e < elements; e++) {
    tesela_layout_place_of(layout, index, place, NULL);
    hash = device_hash(hash, place[0]);
    if (second) {
      tesela_layout_place_of(second, index, place, NULL);
      hash = device_hash(hash, place[0]);
    }
    for (int32_t d = layout->rank; d-- > 0;) {
      if (++index[d] < layout->shape[d]) break;
      index[d] = 0;
    }
  }
  snprintf(text, sizeof text, "%016" PRIx64, hash);
  tesela_put_text(j, text);
}
