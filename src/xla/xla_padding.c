/* SPDX-License-Identifier: Apache-2.0 */
/*
 * xla_padding.c - every factor of the expansion: which bound is rounded up to what, and the dims that cause it.
 *
 *   f32[20,200]{1,0:T(8,128)}    dim 0: 20 -> 24 (tile 8); dim 1: 200 -> 256 (tile 128)
 *   24/20 * 256/200 = 1.536      = 6144 places / 4000 elements
 *
 * A shape grows only by rounding up, and each rounding is one entry, so the product of the factors is the expansion.
 */
#include "xla/xla.h"

#include "base/base.h"

/* The caller's array; n counts beyond its capacity. */
typedef struct pad_list {
  int32_t capacity, n;
  tesela_xla_pad *pad;
} pad_list;

static void add_pad(pad_list *list, tesela_xla_pad pad) {
  if (pad.extent == pad.padded) return;
  if (list->n < list->capacity) list->pad[list->n] = pad;
  list->n++;
}

/* Add the padding of one level, and make `bounds` those after it. */
static tesela_status pad_level(tesela__xla_bounds *bounds, const tesela__xla_level *plan, pad_list *list,
                               tesela_error *err) {
  int32_t n_whole = plan->ones + bounds->n;
  tesela_status status = tesela__xla_bounds_join(bounds, plan, err);
  if (status != TESELA_OK) return status;
  for (int32_t g = 0; g < plan->n_groups; g++) {
    const tesela__xla_group *group = &plan->group[g];
    tesela_xla_pad pad = {
        .kind = TESELA_XLA_PAD_TILE,
        .level = plan->level,
        .entry = group->entry,
        .from_end = n_whole - group->first - group->n,
        .dims = bounds->dims[plan->untouched + g],
        .tile = group->tile,
        .extent = bounds->extent[plan->untouched + g],
    };
    if (!tesela__round_up(pad.extent, pad.tile, &pad.padded))
      return tesela__fail(err, TESELA_E_OVERFLOW, -1,
                          "tile level %" PRId32 ": %" PRId64 " rounded up to a multiple of %" PRId64
                          " does not fit in 64 bits",
                          plan->level, pad.extent, pad.tile);
    add_pad(list, pad);
  }
  tesela__xla_bounds_split(bounds, plan);
  return TESELA_OK;
}

static tesela_status pad_tail(const tesela_xla_shape *shape, const tesela__xla_bounds *bounds, pad_list *list,
                              tesela_error *err) {
  tesela_xla_pad pad = {.kind = TESELA_XLA_PAD_TAIL, .level = -1, .entry = -1, .from_end = -1};
  pad.tile = shape->layout.tail;
  for (int32_t i = 0; i < bounds->n; i++) pad.dims |= bounds->dims[i];
  if (!tesela__xla_product(bounds->n, bounds->extent, &pad.extent) ||
      !tesela__round_up(pad.extent, pad.tile, &pad.padded))
    return tesela__fail(err, TESELA_E_OVERFLOW, -1, "the number of padded elements does not fit in 64 bits");
  add_pad(list, pad);
  return TESELA_OK;
}

static void pad_width(const tesela_xla_shape *shape, pad_list *list) {
  int64_t bits = tesela__xla_bits(shape);
  add_pad(list, (tesela_xla_pad){
                    .kind = TESELA_XLA_PAD_WIDTH,
                    .level = -1,
                    .entry = -1,
                    .from_end = -1,
                    .tile = bits,
                    .extent = tesela__min(8 * (int64_t)tesela_dtype_bytes(shape->dtype), bits),
                    .padded = bits,
                });
}

tesela_status tesela_xla_padding(const tesela_xla_shape *shape, int32_t capacity, tesela_xla_pad *pads,
                                 int32_t *n, tesela_error *err) {
  TESELA__NEED(err, shape, n);
  TESELA__NEED_LIST(err, pads, capacity);
  pad_list list = {.capacity = capacity, .pad = pads};
  tesela__xla_bounds bounds;
  tesela_status status = tesela__xla_check_sized(shape, err);
  if (status != TESELA_OK) return status;
  tesela__xla_bounds_begin(shape, &bounds);
  for (int32_t k = 0; k < shape->layout.n_tiles && status == TESELA_OK; k++) {
    tesela__xla_level plan;
    tesela__xla_level_of(&shape->layout, k, bounds.n, &plan);
    status = pad_level(&bounds, &plan, &list, err);
  }
  if (status == TESELA_OK) status = pad_tail(shape, &bounds, &list, err);
  if (status != TESELA_OK) return status;
  pad_width(shape, &list);
  *n = list.n;
  return TESELA_OK;
}
