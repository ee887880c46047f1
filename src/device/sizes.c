/* SPDX-License-Identifier: Apache-2.0 */
/* sizes.c - sizes of a device layout, its stride map, equality, its stick dim. */
#include <string.h>

#include "device/device.h"

tesela_status tesela_device_sizes_of(const tesela_device_layout *layout, const tesela_target *target,
                                     tesela_device_sizes *sizes, tesela_error *err) {
  TESELA__NEED(err, layout, sizes);
  tesela_device_sizes made = {.places = layout->places};
  int64_t bits, occupied;
  tesela_status status = tesela__device_elements(&layout->host, &made.elements, err);
  if (status != TESELA_OK) return status;
  occupied = made.elements;
  for (int32_t j = 0; j < layout->n_dims; j++)
    if (layout->dim[j].dim == TESELA_DIM_REPLICATED)
      occupied *= layout->dim[j].extent; /* each copy has its own place, so at most `places` */
  made.padding = made.places - occupied;
  made.sticks = tesela__ceil_div(made.places, layout->lanes);
  if (!tesela__mul(made.places, layout->host.device_bits / 8, &made.device_bytes) ||
      !tesela__mul(made.elements, layout->host.bits, &bits))
    return tesela__fail(err, TESELA_E_OVERFLOW, -1, "the size in bytes does not fit in 64 bits");
  made.host_bytes = tesela__ceil_div(bits, 8);
  made.allocation_bytes = made.device_bytes;
  if (target != NULL) {
    if (target->keep_host_bytes) made.allocation_bytes = tesela__max(made.allocation_bytes, made.host_bytes);
    if (!tesela__round_up(made.allocation_bytes, target->alignment, &made.allocation_bytes))
      return tesela__fail(err, TESELA_E_OVERFLOW, -1, "the size in bytes does not fit in 64 bits");
  }
  *sizes = made;
  return TESELA_OK;
}

tesela_status tesela_device_stride_map(const tesela_device_layout *layout, const int64_t *host_strides,
                                       int64_t stride_map[TESELA_DEVICE_DIMS], tesela_error *err) {
  TESELA__NEED(err, layout, stride_map);
  int64_t made[TESELA_DEVICE_DIMS], row_major[TESELA_MAX_RANK];
  tesela_status status = tesela__device_row_major(&layout->host, row_major, err);
  if (status != TESELA_OK) return status;
  for (int32_t j = 0; j < layout->n_dims; j++) {
    const tesela_device_dim *dim = &layout->dim[j];
    made[j] = dim->dim == TESELA_DIM_REPLICATED ? 0 : -1;
    if (dim->dim < 0 || layout->host.shape[dim->dim] == 1) continue;
    if (!tesela__mul(dim->step, host_strides == NULL ? row_major[dim->dim] : host_strides[dim->dim],
                     &made[j]))
      return tesela__fail(err, TESELA_E_OVERFLOW, -1, "the step of device dim %d does not fit in 64 bits", j);
  }
  memcpy(stride_map, made, (size_t)layout->n_dims * sizeof *made);
  return TESELA_OK;
}

static bool device_same_host(const tesela_device_host *a, const tesela_device_host *b) {
  return a->dtype == b->dtype && a->device_dtype == b->device_dtype && a->bits == b->bits &&
         a->device_bits == b->device_bits && a->stick_bytes == b->stick_bytes && a->rank == b->rank &&
         memcmp(a->shape, b->shape, (size_t)a->rank * sizeof *a->shape) == 0;
}

tesela_status tesela_device_set_format(tesela_device_layout *layout, tesela_stick_format format,
                                       tesela_error *err) {
  TESELA__NEED(err, layout);
  int64_t most = 1;
  bool synthetic = true;
  for (int32_t k = 0; k < layout->stick_dims; k++) {
    const tesela_device_dim *dim = &layout->dim[layout->n_dims - 1 - k];
    synthetic = synthetic && dim->dim == TESELA_DIM_SYNTHETIC;
    if (dim->dim >= 0) most *= tesela__min(dim->extent, layout->host.shape[dim->dim]); /* at most the lanes */
  }
  if ((format == TESELA_STICKS_SPARSE) != synthetic || (format == TESELA_STICKS_PAIR && most > 2) ||
      format < TESELA_STICKS_DENSE || format > TESELA_STICKS_PAIR)
    return tesela__fail(err, TESELA_E_INVALID, -1,
                        "sticks of up to %lld elements%s: expected Dense from 1, Sparse without a host dim, "
                        "SparseMulti up to 2",
                        (long long)most, synthetic ? " without a host dim" : "");
  layout->format = format;
  return TESELA_OK;
}

bool tesela_device_equal(const tesela_device_layout *a, const tesela_device_layout *b) {
  if (!a || !b) return false;
  if (!device_same_host(&a->host, &b->host) || a->format != b->format || a->n_dims != b->n_dims ||
      a->stick_dims != b->stick_dims || a->places != b->places)
    return false;
  for (int32_t j = 0; j < a->n_dims; j++) {
    const tesela_device_dim *x = &a->dim[j], *y = &b->dim[j];
    if (x->extent != y->extent || x->step != y->step || x->stride != y->stride || x->dim != y->dim)
      return false;
  }
  return true;
}

int32_t tesela_device_stick(const tesela_device_layout *layout) {
  if (!layout) return -2;
  int32_t stick = -3; /* unknown so far */
  for (int32_t k = 0; k < layout->stick_dims; k++) {
    const tesela_device_dim *dim = &layout->dim[layout->n_dims - 1 - k];
    if (dim->extent == 1) continue; /* adds no lanes */
    if (stick != -3 && dim->dim != stick) return -2;
    stick = dim->dim;
  }
  if (stick == -3) stick = layout->dim[layout->n_dims - 1].dim; /* sticks of one lane */
  return stick == TESELA_DIM_REPLICATED ? -2 : stick;
}
