/* SPDX-License-Identifier: Apache-2.0 */
/*
 * register_place.c - the threads and the register of an element, and the element in a register of a thread.
 *
 * Both directions use the lists from the fastest entry, and split an index into modes from the last dim.
 */
#include "layout/layout.h"
#include "gpu/register/register.h"

/* The value of each mode. A mode is the outermost of its dim if the extents so far fill the dim. */
static void place_split(const tesela_register *layout, const int64_t *index, int64_t *value) {
  int32_t d = layout->rank;
  int64_t have = 1, rest = 0;
  for (int32_t m = layout->n_modes - 1; m >= 0; m--) {
    int64_t extent = layout->mode_shape[m];
    value[m] = 0;
    if (extent == 1) continue;
    while (d == layout->rank || have == layout->shape[d]) { /* all modes of the dim are done */
      rest = index[--d];
      have = 1;
    }
    have *= extent;
    if (have == layout->shape[d]) {
      value[m] = rest;
    } else {
      int64_t quotient = rest / extent;
      value[m] = rest - quotient * extent;
      rest = quotient;
    }
  }
}

/* The k-th thread with an element; k is split into replicas, the last one fastest. */
static int64_t place_thread(const tesela_register *layout, const int64_t *value, int64_t k) {
  int64_t thread = 0, stride = 1;
  for (int32_t i = layout->n_spatial - 1; i >= 0; i--) {
    int64_t mode = layout->spatial_modes[i];
    if (mode >= 0) {
      thread += value[mode] * stride;
      stride *= layout->mode_shape[mode];
    } else {
      thread += k % -mode * stride;
      k /= -mode;
      stride *= -mode;
    }
  }
  return thread;
}

static int64_t place_local(const tesela_register *layout, const int64_t *value) {
  int64_t local = 0;
  for (int32_t i = 0; i < layout->n_local; i++)
    local = local * layout->mode_shape[layout->local_modes[i]] + value[layout->local_modes[i]];
  return local;
}

int64_t tesela_register_copies(const tesela_register *layout) {
  if (!layout) return 0;
  int64_t copies = 1;
  for (int32_t i = 0; i < layout->n_spatial; i++)
    if (layout->spatial_modes[i] < 0) copies *= -layout->spatial_modes[i];
  return copies;
}

tesela_status tesela_register_get_spatial(const tesela_register *layout, const int64_t *index, int64_t k,
                                          int64_t *thread, tesela_error *err) {
  TESELA__NEED(err, layout, thread);
  TESELA__NEED_LIST(err, index, layout->rank);
  int64_t value[TESELA_REGISTER_MODES];
  tesela_status status = tesela__check_index(layout->rank, layout->shape, index, err);
  if (status != TESELA_OK) return status;
  if (k < 0 || (k > 0 && k >= tesela_register_copies(layout)))
    return tesela_error_outside(err, -1, "copy", -1, k, 0,
                                tesela__max(tesela_register_copies(layout), 1) - 1);
  place_split(layout, index, value);
  *thread = place_thread(layout, value, k);
  return TESELA_OK;
}

tesela_status tesela_register_get_local(const tesela_register *layout, const int64_t *index, int64_t *local,
                                        tesela_error *err) {
  TESELA__NEED(err, layout, local);
  TESELA__NEED_LIST(err, index, layout->rank);
  int64_t value[TESELA_REGISTER_MODES];
  tesela_status status = tesela__check_index(layout->rank, layout->shape, index, err);
  if (status != TESELA_OK) return status;
  place_split(layout, index, value);
  *local = place_local(layout, value);
  return TESELA_OK;
}

tesela_status tesela_register_get_global(const tesela_register *layout, int64_t thread, int64_t local,
                                         int64_t *index, tesela_error *err) {
  TESELA__NEED(err, layout);
  TESELA__NEED_LIST(err, index, layout->rank);
  int64_t value[TESELA_REGISTER_MODES];
  if (thread < 0 || thread >= layout->spatial_size)
    return tesela_error_outside(err, -1, "thread", -1, thread, 0, layout->spatial_size - 1);
  if (local < 0 || local >= layout->local_size)
    return tesela_error_outside(err, -1, "local id", -1, local, 0, layout->local_size - 1);
  for (int32_t m = 0; m < layout->n_modes; m++) value[m] = 0; /* modes of 1 may be in no list */
  for (int32_t i = layout->n_spatial - 1; i >= 0; i--) {
    int64_t mode = layout->spatial_modes[i], extent = mode >= 0 ? layout->mode_shape[mode] : -mode;
    int64_t quotient = i > 0 ? thread / extent : 0;
    if (mode >= 0) value[mode] = thread - quotient * extent;
    thread = quotient;
  }
  for (int32_t i = layout->n_local - 1; i >= 0; i--) {
    int32_t mode = layout->local_modes[i];
    int64_t extent = layout->mode_shape[mode], quotient = i > 0 ? local / extent : 0;
    value[mode] = local - quotient * extent;
    local = quotient;
  }
  for (int32_t d = 0, m = 0; d < layout->rank; d++) {
    index[d] = 0;
    for (int64_t have = 1; have < layout->shape[d]; have *= layout->mode_shape[m++])
      index[d] = index[d] * layout->mode_shape[m] + value[m];
    while (m < layout->n_modes && layout->mode_shape[m] == 1) m++;
  }
  return TESELA_OK;
}

tesela_status tesela_register_locate_at(const tesela_register *layout, const int64_t *index, int64_t thread,
                                        bool *holds, tesela_error *err) {
  TESELA__NEED(err, layout, holds);
  TESELA__NEED_LIST(err, index, layout->rank);
  int64_t value[TESELA_REGISTER_MODES];
  bool all = true;
  tesela_status status = tesela__check_index(layout->rank, layout->shape, index, err);
  if (status != TESELA_OK) return status;
  if (thread < 0 || thread >= layout->spatial_size)
    return tesela_error_outside(err, -1, "thread", -1, thread, 0, layout->spatial_size - 1);
  place_split(layout, index, value);
  for (int32_t i = layout->n_spatial - 1; i >= 0 && all; i--) {
    int64_t mode = layout->spatial_modes[i], extent = mode >= 0 ? layout->mode_shape[mode] : -mode;
    all = mode < 0 || thread % extent == value[mode];
    thread /= extent;
  }
  *holds = all;
  return TESELA_OK;
}
