/* SPDX-License-Identifier: Apache-2.0 */
/*
 * device_xla.c - a device layout as an XLA layout.
 *
 * An XLA layout has an order of the dims and levels of tiles. A tile entry e cuts a dim of extent x into ceil(x / e)
 * and e; the quotients keep their positions, and the entries follow all of them. So a level expresses a run of device
 * dims whose host dims are in that order, and the next level the next run:
 *
 *   f16[1000,200]   device dims   1: blocks of 64    0: rows     1: lanes        order 1, 0
 *   first run       blocks and rows; remaining:      dim 1: 64   dim 0: 1        T(64,1)
 *   last run        lanes; nothing remains: no tile
 *
 * A dim outside a run is not cut: its entry is its whole remaining extent, or more if its next device dim is padded.
 * Digits that are always 0 are holes: digits of a dim of extent 1 before all others, which XLA adds for tile entries
 * beyond the rank, so one element per stick is T(64,1).
 *
 * The result is only a candidate, valid if it places every element as the device layout does.
 */
#include <tesela/notation.h>

#include "base/base.h"

typedef struct device_xla_digit {
  int32_t at; /* position of its dim in the order, from 1; 0: a hole */
  int64_t step, extent;
} device_xla_digit;

typedef struct device_xla_plan {
  int32_t rank, n;
  int32_t major[TESELA_MAX_RANK]; /* the order, most major first */
  device_xla_digit digit[TESELA_DEVICE_DIMS];
} device_xla_plan;

/* ---- device dims, outermost first ---- */

/* Device dims above 1, by decreasing stride. false: a replica or a gap, which XLA cannot express. */
static bool device_xla_dims(const tesela_device_layout *layout, int32_t *n, tesela_device_dim *dims) {
  int32_t count = 0;
  for (int32_t j = 0; j < layout->n_dims; j++) {
    const tesela_device_dim *dim = &layout->dim[j];
    if (dim->extent == 1) continue;
    if (dim->dim == TESELA_DIM_REPLICATED) return false;
    int32_t k = count++;
    for (; layout->places > 0 && k > 0 && dims[k - 1].stride < dim->stride; k--) dims[k] = dims[k - 1];
    dims[k] = *dim;
  }
  int64_t inner = 1;
  for (int32_t k = count - 1; k >= 0 && layout->places > 0; k--) {
    if (dims[k].stride != inner) return false;
    inner *= dims[k].extent; /* at most layout->places */
  }
  *n = count;
  return true;
}

/* Is the digit always 0, although an outer one of its dim is not? */
static bool device_xla_idle(const tesela_device_layout *layout, int32_t n, const tesela_device_dim *dims,
                            int32_t k) {
  int64_t left = layout->host.shape[dims[k].dim];
  bool used = false;
  for (int32_t j = 0; j < n; j++) {
    bool before = dims[j].dim == dims[k].dim &&
                  (dims[j].step > dims[k].step || (dims[j].step == dims[k].step && j < k));
    if (before && left > dims[j].step) used = true;
    if (before && left > dims[j].step) left = dims[j].step;
  }
  return used && left <= dims[k].step;
}

/* The digits of the plan; holes get steps as if they were one dim. */
static bool device_xla_digits(const tesela_device_layout *layout, int32_t n, const tesela_device_dim *dims,
                              const int32_t *at, device_xla_plan *plan) {
  int64_t hole = 1;
  plan->n = n;
  for (int32_t k = n - 1; k >= 0; k--) {
    bool holds = dims[k].dim >= 0 && !device_xla_idle(layout, n, dims, k);
    plan->digit[k] =
        (device_xla_digit){holds ? at[dims[k].dim] : 0, holds ? dims[k].step : hole, dims[k].extent};
    if (!holds && !tesela__mul(hole, dims[k].extent, &hole)) return false;
    if (hole == 0) hole = 1;
  }
  return true;
}

/* Order the host dims by their first device dim in a list; dims without one come first. */
static void device_xla_order(int32_t rank, int32_t n, const tesela_device_dim *dims, device_xla_plan *plan,
                             int32_t *at) {
  int32_t p = 0;
  for (int32_t d = 0; d < rank; d++) {
    bool any = false;
    at[d] = 0;
    for (int32_t j = 0; j < n; j++) any = any || dims[j].dim == d;
    if (any) continue;
    plan->major[p++] = d;
    at[d] = p;
  }
  for (int32_t j = 0; j < n; j++) {
    int32_t d = dims[j].dim;
    if (d < 0 || at[d] > 0) continue;
    plan->major[p++] = d;
    at[d] = p;
  }
  plan->rank = rank;
}

/* ---- levels ---- */

/* One level. `left`: the remaining extent of each dim, then the entries; *next: the first digit not yet expressed. */
static bool device_xla_level(const device_xla_plan *plan, int32_t *next, int64_t *left) {
  uint64_t cut = 0;
  int32_t last = -1;
  for (; *next < plan->n; ++*next) {
    const device_xla_digit *digit = &plan->digit[*next];
    if (digit->at <= last || tesela__ceil_div(left[digit->at], digit->step) != digit->extent) break;
    last = digit->at;
    left[last] = digit->step;
    cut |= (uint64_t)1 << last;
  }
  for (int32_t k = *next; k < plan->n; k++) {
    const device_xla_digit *digit = &plan->digit[k];
    int64_t whole;
    if (cut >> digit->at & 1) continue;
    if (!tesela__mul(digit->extent, digit->step, &whole)) return false;
    if (whole > left[digit->at]) left[digit->at] = whole;
    cut |= (uint64_t)1 << digit->at;
  }
  for (int32_t p = 0; p <= plan->rank; p++) /* a dim without a digit has at most one element */
    if (!(cut >> p & 1)) left[p] = 1;
  return true;
}

static bool device_xla_candidate(const device_xla_plan *plan, const int64_t *shape, tesela_xla_layout *out) {
  int64_t left[TESELA_MAX_RANK + 1] = {1};
  int32_t next = 0;
  for (int32_t p = 0; p < plan->rank; p++) left[p + 1] = shape[plan->major[p]];
  if (tesela_xla_layout_make_major_to_minor(out, plan->rank, plan->major, NULL) != TESELA_OK) return false;
  for (int32_t level = 0; level <= TESELA_XLA_MAX_TILES; level++) {
    if (!device_xla_level(plan, &next, left)) return false;
    int32_t first = 0;
    while (first <= plan->rank && left[first] == 1) first++;
    if (first > plan->rank) return next == plan->n;
    if (tesela_xla_layout_add_tile(out, plan->rank + 1 - first, left + first, NULL) != TESELA_OK)
      return false;
  }
  return false;
}

/* ---- is it the same layout? ---- */

static tesela_dtype device_xla_type(const tesela_device_host *host) {
  if (host->device_dtype != TESELA_DTYPE_NONE) return host->device_dtype;
  return host->device_bits == 8    ? TESELA_U8
         : host->device_bits == 16 ? TESELA_U16
         : host->device_bits == 32 ? TESELA_U32
                                   : TESELA_U64;
}

static bool device_xla_same(const tesela_device_layout *layout, const tesela_layout *wanted,
                            tesela_xla_layout *candidate) {
  tesela_xla_shape shape;
  tesela_layout said;
  tesela_difference difference;
  tesela_dtype dtype = device_xla_type(&layout->host);
  if (layout->host.device_bits != 8 * tesela_dtype_bytes(dtype))
    candidate->element_bits = layout->host.device_bits;
  return tesela_xla_shape_make(&shape, dtype, layout->host.rank, layout->host.shape, candidate, NULL) ==
             TESELA_OK &&
         tesela_xla_to_layout(&shape, &said, NULL) == TESELA_OK &&
         tesela_layout_compare(wanted, &said, &difference, NULL) == TESELA_OK && difference.same &&
         difference.same_extent;
}

tesela_status tesela_device_to_xla(const tesela_device_layout *layout, tesela_xla_layout *out,
                                   tesela_error *err) {
  TESELA__NEED(err, layout, out);
  tesela_layout wanted;
  tesela_xla_layout candidate;
  device_xla_plan plan = {0};
  tesela_device_dim dims[TESELA_DEVICE_DIMS];
  int32_t n, at[TESELA_MAX_RANK], rank = layout->host.rank;
  tesela_status status = tesela_device_to_layout(layout, &wanted, err);
  if (status != TESELA_OK) return status;
  bool found = false;
  if (device_xla_dims(layout, &n, dims)) {
    for (int32_t which = 0; which < 2 && !found; which++) {
      /* the order of all device dims, or of those above 1 */
      device_xla_order(rank, which ? n : layout->n_dims, which ? dims : layout->dim, &plan, at);
      found = device_xla_digits(layout, n, dims, at, &plan) &&
              device_xla_candidate(&plan, layout->host.shape, &candidate) &&
              device_xla_same(layout, &wanted, &candidate);
    }
  }
  if (!found && layout->places == 0) /* no elements to place: the order is enough */
    found = tesela_xla_layout_make_major_to_minor(&candidate, rank, plan.major, NULL) == TESELA_OK &&
            device_xla_same(layout, &wanted, &candidate);
  if (!found)
    return tesela__fail(err, TESELA_E_UNSUPPORTED, -1,
                        "found no order and tiles that place the elements as this device layout does");
  *out = candidate;
  return TESELA_OK;
}
