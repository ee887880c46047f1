/* SPDX-License-Identifier: Apache-2.0 */
/*
 * stride_map.c - host dims and steps of device dims from their sizes and stride_map, the host elements per step.
 *
 * An entry may be a multiple of several host strides. The host dim of each entry, its owner, is chosen by a depth-first
 * search, outermost device dim first (up to MAP_TRIES steps); a choice that leaves a host dim without step 1 or without
 * room for its elements is abandoned. If two choices place the elements differently, the text is ambiguous and refused.
 *
 * A step of at least the host dim's extent makes an idle digit: it is always 0. Its owner does not matter, so only the
 * most likely one is tried. A device dim of extent 1 has no digit; its owner is the most likely idle one, or else the
 * most likely.
 */
#include <string.h>

#include "device/device.h"

enum { MAP_TRIES = 1 << 14 };

typedef struct map_search {
  const tesela_device_host *host;
  const int64_t *strides; /* of the host */
  int32_t n, stick_dims;
  const int64_t *map;
  tesela_device_dim dim[TESELA_DEVICE_DIMS];
  bool empty; /* a tensor without elements */
  int32_t n_owners[TESELA_DEVICE_DIMS];
  int16_t owner[TESELA_DEVICE_DIMS][TESELA_MAX_RANK]; /* the most likely first */
  int64_t active[TESELA_DEVICE_DIMS]
                [TESELA_MAX_RANK]; /* steps of the owners; 0 for the idle one and all others */
} map_search;

/* Is entry `value` a multiple of the stride of host dim d? */
static bool map_multiple(const map_search *search, int64_t value, int32_t d) {
  int64_t stride = search->strides[d];
  return search->host->shape[d] != 1 && stride != 0 && (value < 0) == (stride < 0) &&
         !(stride == -1 && value == INT64_MIN) && value % stride == 0;
}

/* Find the owners of device dim j, the most likely first: that of the largest stride. 256 of strides (256, 1) is one
 * row, not 256 columns. */
static void map_owners(map_search *search, int32_t j) {
  int64_t value = search->map[j];
  int16_t *owner = search->owner[j], idle = -1;
  int32_t n = 0, kept = 0;
  for (int32_t d = 0; d < search->host->rank; d++) {
    if (!map_multiple(search, value, d)) continue;
    int32_t at = n++;
    for (; at > 0 && search->strides[owner[at - 1]] < search->strides[d]; at--) owner[at] = owner[at - 1];
    owner[at] = (int16_t)d;
  }
  for (int32_t k = 0; k < n; k++) {
    int64_t step = value / search->strides[owner[k]], extent = search->host->shape[owner[k]];
    bool is_idle = step >= extent && extent > 0;
    if (is_idle && idle >= 0) continue;
    if (is_idle) idle = owner[k];
    search->active[j][owner[k]] = is_idle ? 0 : step;
    owner[kept++] = owner[k];
  }
  search->n_owners[j] = kept;
  if (kept == 0 || search->dim[j].extent != 1) return;
  if (idle >= 0) owner[0] = idle;
  search->n_owners[j] = 1;
}

/* Entries of 0 belong to the only host dim of stride 0 with more than one element, innermost step 1; else they are
 * replicas. */
static tesela_status map_zeros(map_search *search, tesela_error *err) {
  int32_t broadcast = -1;
  int64_t step = 1;
  for (int32_t d = 0; d < search->host->rank; d++) {
    if (search->host->shape[d] == 1 || search->strides[d] != 0) continue;
    if (broadcast >= 0)
      return tesela__fail(err, TESELA_E_UNSUPPORTED, -1,
                          "host dims %d and %d both have stride 0: an entry of 0 does not distinguish them",
                          broadcast, d);
    broadcast = d;
  }
  for (int32_t j = search->n; j-- > 0;) {
    if (search->map[j] != 0) continue;
    search->dim[j].dim = broadcast < 0 ? TESELA_DIM_REPLICATED : broadcast;
    search->dim[j].step = broadcast < 0 ? 0 : step;
    if (broadcast >= 0 && !tesela__mul(step, tesela__max(search->dim[j].extent, 1), &step))
      return tesela__fail(err, TESELA_E_OVERFLOW, -1, "the step of device dim %d does not fit in 64 bits", j);
  }
  return TESELA_OK;
}

static tesela_status map_start(map_search *search, tesela_error *err) {
  for (int32_t j = 0; j < search->n; j++) {
    search->dim[j].dim = TESELA_DIM_SYNTHETIC;
    search->n_owners[j] = 0;
    if (search->map[j] == -1 || search->map[j] == 0) continue;
    map_owners(search, j);
    if (search->n_owners[j] == 0)
      return tesela__fail(err, TESELA_E_INVALID, -1,
                          "stride_map[%d] is %lld: not a multiple of the stride of a host dim above 1", j,
                          (long long)search->map[j]);
  }
  return map_zeros(search, err);
}

/* Set the owner of device dim j to number `pick`. */
static void map_choose(map_search *search, int32_t j, int32_t pick) {
  if (search->n_owners[j] == 0) return;
  int32_t d = search->owner[j][pick];
  search->dim[j].dim = d;
  search->dim[j].step = search->map[j] / search->strides[d];
}

/* Can host dim d still be complete, with the choices for device dims before j and any for the others? */
static bool map_reaches(const map_search *search, int32_t j, int32_t d) {
  int64_t extent = search->host->shape[d], room = 1;
  bool one = false;
  for (int32_t k = 0; k < search->n; k++) {
    if (search->dim[k].extent == 1) continue;
    int64_t step = search->active[k][d];
    if (k < j || search->n_owners[k] == 0) step = search->dim[k].dim == d ? search->dim[k].step : 0;
    if (step == 0 || step >= extent) continue;
    one = one || step == 1;
    if (room < extent && !tesela__mul(room, search->dim[k].extent, &room)) room = extent;
  }
  return extent < 2 || (one && room >= extent);
}

static bool map_possible(const map_search *search, int32_t j) {
  for (int32_t d = 0; d < search->host->rank; d++)
    if (!map_reaches(search, j, d)) return false;
  return true;
}

/* Are two layouts different relations? */
static tesela_status map_differ(const tesela_device_layout *a, const tesela_device_layout *b, bool *differ,
                                tesela_error *err) {
  tesela_layout x, y;
  tesela_difference difference;
  tesela_status status = tesela_device_to_layout(a, &x, err);
  if (status == TESELA_OK) status = tesela_device_to_layout(b, &y, err);
  if (status == TESELA_OK) status = tesela_layout_compare(&x, &y, &difference, err);
  *differ = status == TESELA_OK && !difference.same;
  return status;
}

/* Use a complete choice: keep the first valid one, fail for another one that places elements differently. */
static tesela_status map_take(const map_search *search, bool *found, tesela_device_layout *layout,
                              tesela_error *err) {
  tesela_device_layout next;
  bool differ;
  if (tesela_device_from_dims(&next, search->host, search->n, search->dim, false, search->stick_dims, NULL) !=
      TESELA_OK)
    return TESELA_OK;
  if (!*found) {
    *found = true;
    *layout = next;
    return TESELA_OK;
  }
  tesela_status status = map_differ(layout, &next, &differ, err);
  for (int32_t j = 0; status == TESELA_OK && differ && j < search->n; j++)
    if (layout->dim[j].dim != next.dim[j].dim)
      return tesela__fail(
          err, TESELA_E_UNSUPPORTED, -1,
          "ambiguous stride_map[%d] %lld: step %lld of host dim %d or step %lld of host dim %d", j,
          (long long)search->map[j], (long long)layout->dim[j].step, layout->dim[j].dim,
          (long long)next.dim[j].step, next.dim[j].dim);
  return status;
}

static tesela_status map_solve(map_search *search, tesela_device_layout *layout, tesela_error *err) {
  int32_t pick[TESELA_DEVICE_DIMS] = {0}, tries = 0, j = 0;
  tesela_device_layout made;
  bool found = false;
  while (j >= 0) {
    if (pick[j] > 0 && pick[j] >= search->n_owners[j]) { /* without owners: one choice */
      pick[j] = 0;
      if (--j >= 0) pick[j]++;
      continue;
    }
    if (tries++ == MAP_TRIES)
      return tesela__fail(err, TESELA_E_UNSUPPORTED, -1,
                          "stride_map has too many meanings; expected the host dims as well");
    map_choose(search, j, pick[j]);
    bool possible = map_possible(search, j + 1);
    if (possible && j + 1 < search->n) {
      j++;
      continue;
    }
    tesela_status status = possible ? map_take(search, &found, &made, err) : TESELA_OK;
    if (status != TESELA_OK) return status;
    if (found && search->empty) break;
    pick[j]++;
  }
  if (found) {
    *layout = made;
    return TESELA_OK;
  }
  for (j = 0; j < search->n; j++) map_choose(search, j, 0); /* for the error of the most likely choice */
  return tesela_device_from_dims(&made, search->host, search->n, search->dim, false, search->stick_dims, err);
}

/* The sticks are the last device dims that multiply to the lanes. */
static tesela_status map_stick_dims(map_search *search, int64_t lanes, tesela_error *err) {
  int64_t product = 1;
  for (int32_t k = 1; k <= search->n; k++) {
    int64_t extent = search->dim[search->n - k].extent;
    product = extent <= lanes ? product * extent : lanes + 1;
    search->stick_dims = k;
    if (product == lanes) return TESELA_OK;
    if (product > lanes) break;
  }
  return tesela__fail(err, TESELA_E_INVALID, -1, "the last device sizes do not multiply to %lld lanes",
                      (long long)lanes);
}

tesela_status tesela_device_from_stride_map(tesela_device_layout *layout, const tesela_device_host *host,
                                            const int64_t *host_strides, int32_t n_dims,
                                            const int64_t *device_size, const int64_t *stride_map,
                                            tesela_error *err) {
  TESELA__NEED(err, layout, host);
  TESELA__NEED_LIST(err, device_size, n_dims);
  TESELA__NEED_LIST(err, stride_map, n_dims);
  int64_t row_major[TESELA_MAX_RANK], lanes, elements;
  map_search search = {.host = host, .n = n_dims, .map = stride_map};
  tesela_status status = tesela__device_check_host(host, &lanes, err);
  if (status == TESELA_OK) status = tesela__device_elements(host, &elements, err);
  if (status == TESELA_OK && host_strides == NULL) status = tesela__device_row_major(host, row_major, err);
  if (status != TESELA_OK) return status;
  if (n_dims < 1 || n_dims > TESELA_DEVICE_DIMS)
    return tesela__fail(err, TESELA_E_LIMIT, -1, "%d device dims; expected 1 to %d", n_dims,
                        TESELA_DEVICE_DIMS);
  search.empty = elements == 0;
  search.strides = host_strides == NULL ? row_major : host_strides;
  for (int32_t j = 0; j < n_dims; j++)
    search.dim[j] = (tesela_device_dim){device_size[j], 0, 0, TESELA_DIM_SYNTHETIC};
  status = map_start(&search, err);
  if (status == TESELA_OK) status = map_stick_dims(&search, lanes, err);
  return status != TESELA_OK ? status : map_solve(&search, layout, err);
}
