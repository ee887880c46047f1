/* SPDX-License-Identifier: Apache-2.0 */
/* device_order.c - a device layout from an order of host dims: the published arrangements, and tiles. */
#include <string.h>

#include "device/device.h"

/* The device dims under construction. */
typedef struct order_list {
  const tesela_device_host *host;
  const tesela_device_padding *padding;
  int64_t lanes;
  int32_t n;
  bool full;
  tesela_device_dim dim[TESELA_DEVICE_DIMS];
} order_list;

static void order_add(order_list *list, int32_t dim, int64_t step, int64_t extent) {
  if (list->n == TESELA_DEVICE_DIMS) {
    list->full = true;
    return;
  }
  list->dim[list->n++] = (tesela_device_dim){extent, dim < 0 ? 0 : step, 0, dim};
}

/* Extent of a dim with its padding; 1 for dim -1. */
static int64_t order_extent(const order_list *list, int32_t dim) {
  if (dim < 0) return 1;
  int64_t extent = list->host->shape[dim];
  return list->padding == NULL ? extent : tesela__max(extent, list->padding->to[dim]);
}

static void order_whole(order_list *list, int32_t dim) { order_add(list, dim, 1, order_extent(list, dim)); }

static void order_blocks(order_list *list, int32_t dim) {
  order_add(list, dim, list->lanes, tesela__ceil_div(order_extent(list, dim), list->lanes));
}

static void order_lanes(order_list *list, int32_t dim) { order_add(list, dim, 1, list->lanes); }

/* Rows and columns in nested tiles; a stick is whole rows of the last tile, or a part of one row. */
static tesela_status order_tiles(order_list *list, const tesela_target *target, int32_t rows, int32_t columns,
                                 int32_t *stick_dims, tesela_error *err) {
  int64_t extent[2] = {order_extent(list, rows), order_extent(list, columns)};
  int32_t dim[2] = {rows, columns};
  for (int32_t k = 0; k < target->n_tiles; k++)
    for (int32_t side = 0; side < 2; side++) {
      int64_t tile = target->tile[k][side];
      order_add(list, dim[side], tile, tesela__ceil_div(extent[side], tile));
      extent[side] = tile;
    }
  if (extent[1] % list->lanes == 0) {
    order_add(list, rows, 1, extent[0]);
    if (extent[1] > list->lanes) order_add(list, columns, list->lanes, extent[1] / list->lanes);
    order_lanes(list, columns);
    *stick_dims = 1;
    return TESELA_OK;
  }
  int64_t per_stick = list->lanes / extent[1];
  if (list->lanes % extent[1] != 0 || extent[0] % per_stick != 0)
    return tesela__fail(err, TESELA_E_INVALID, -1,
                        "a stick of %lld lanes is not a whole number of rows of a %lldx%lld tile",
                        (long long)list->lanes, (long long)extent[0], (long long)extent[1]);
  order_add(list, rows, per_stick, extent[0] / per_stick);
  order_add(list, rows, 1, per_stick);
  order_add(list, columns, 1, extent[1]);
  *stick_dims = 2;
  return TESELA_OK;
}

static void order_arrange(order_list *list, tesela_order order, int32_t n, const int32_t *p) {
  int32_t stick = p[n - 1];
  if (n == 1 || order == TESELA_ORDER_STICK_OUTER) {
    order_blocks(list, stick);
    for (int32_t k = 0; k < n - 1; k++) order_whole(list, p[k]);
  } else if (order == TESELA_ORDER_INNER_PAIR) {
    for (int32_t k = 0; k < n - 2; k++) order_whole(list, p[k]);
    order_blocks(list, stick);
    order_whole(list, p[n - 2]);
  } else if (order == TESELA_ORDER_GENERIC_JAN26 && n == 4) {
    order_whole(list, p[0]);
    order_blocks(list, stick);
    order_whole(list, p[1]);
    order_whole(list, p[2]);
  } else {
    for (int32_t k = 1; k < n - 1; k++) order_whole(list, p[k]);
    order_blocks(list, stick);
    order_whole(list, p[0]);
  }
  order_lanes(list, stick);
}

/* Check that dim_order has each dim once, then optionally TESELA_STICK_SPARSE, and that padding is not negative. */
static tesela_status order_check(const tesela_device_host *host, int32_t n, const int32_t *dim_order,
                                 const tesela_device_padding *padding, tesela_error *err) {
  bool seen[TESELA_MAX_RANK] = {0};
  if (n != host->rank && n != host->rank + 1)
    return tesela__fail(err, TESELA_E_INVALID, -1, "dim_order has %d entries for rank %d", n, host->rank);
  for (int32_t k = 0; k < n; k++) {
    int32_t dim = dim_order[k];
    if (k == host->rank && dim == TESELA_STICK_SPARSE) break;
    if (dim < 0 || dim >= host->rank)
      return tesela__fail(err, TESELA_E_RANGE, -1,
                          "dim_order[%d] is %d; expected 0 to %d, or -1 after all dims", k, dim,
                          host->rank - 1);
    if (seen[dim]) return tesela__fail(err, TESELA_E_INVALID, -1, "dim_order repeats a dim: %d", dim);
    seen[dim] = true;
  }
  for (int32_t d = 0; padding != NULL && d < host->rank; d++)
    if (padding->to[d] < 0)
      return tesela__fail(err, TESELA_E_RANGE, -1, "dim %d is padded to %lld; expected 0 or more", d,
                          (long long)padding->to[d]);
  return TESELA_OK;
}

tesela_status tesela_device_from_order(tesela_device_layout *layout, const tesela_device_host *host,
                                       tesela_order order, const tesela_target *target, int32_t n,
                                       const int32_t *dim_order, const tesela_device_padding *padding,
                                       tesela_error *err) {
  TESELA__NEED(err, layout, host);
  TESELA__NEED_LIST(err, dim_order, n);
  order_list list = {.host = host, .padding = padding};
  int32_t p[TESELA_MAX_RANK + 1] = {TESELA_STICK_SPARSE}, stick_dims = 1;
  tesela_status status = tesela__device_check_host(host, &list.lanes, err);
  if (status == TESELA_OK && tesela_order_name(order) == NULL)
    status = tesela__fail(err, TESELA_E_RANGE, -1, "unknown order %d", (int)order);
  if (status == TESELA_OK) status = order_check(host, n, dim_order, padding, err);
  if (status != TESELA_OK) return status;
  for (int32_t k = 0; k < n; k++) p[k] = dim_order[k];
  n = n == 0 ? 1 : n; /* rank 0: one element in a stick */
  if (order != TESELA_ORDER_TILES) {
    order_arrange(&list, order, n, p);
  } else if (target == NULL || target->n_tiles < 1) {
    return tesela__fail(err, TESELA_E_INVALID, -1, "order tiles needs a target with tiles");
  } else {
    for (int32_t k = 0; k < n - 2; k++) order_whole(&list, p[k]);
    status = order_tiles(&list, target, n == 1 ? TESELA_DIM_SYNTHETIC : p[n - 2], p[n - 1], &stick_dims, err);
  }
  if (status == TESELA_OK && list.full)
    status = tesela__fail(err, TESELA_E_LIMIT, -1, "more than %d device dims", TESELA_DEVICE_DIMS);
  return status != TESELA_OK
             ? status
             : tesela_device_from_dims(layout, host, list.n, list.dim, false, stick_dims, err);
}

tesela_status tesela_device_with_stick(tesela_device_layout *layout, const tesela_device_host *host,
                                       const tesela_target *target, int32_t stick, tesela_error *err) {
  TESELA__NEED(err, layout, host, target);
  int32_t p[TESELA_MAX_RANK + 1], n = 0;
  if (host->rank < 0 || host->rank > TESELA_MAX_RANK || stick < TESELA_STICK_SPARSE || stick >= host->rank)
    return tesela__fail(err, TESELA_E_RANGE, -1, "stick dim %d is out of range for a tensor of rank %d",
                        stick, host->rank);
  if (stick == TESELA_STICK_SPARSE && host->rank > 0 && !target->sparse)
    return tesela__fail(err, TESELA_E_UNSUPPORTED, -1, "target %s has no layout of one element per stick",
                        target->name);
  for (int32_t d = 0; d < host->rank; d++)
    if (d != stick) p[n++] = d;
  if (host->rank > 0) p[n++] = stick;
  return tesela_device_from_order(layout, host, target->order, target, n, p, NULL, err);
}

tesela_status tesela_device_default(tesela_device_layout *layout, const tesela_target *target,
                                    tesela_dtype dtype, int32_t rank, const int64_t *shape,
                                    tesela_error *err) {
  TESELA__NEED(err, layout, target);
  TESELA__NEED_LIST(err, shape, rank);
  tesela_device_host host;
  tesela_status status = tesela_device_host_of(&host, target, dtype, rank, shape, err);
  return status != TESELA_OK ? status : tesela_device_with_stick(layout, &host, target, rank - 1, err);
}
