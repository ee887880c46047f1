/* SPDX-License-Identifier: Apache-2.0 */
/* device_lower.c - a device layout as a layout of the core. */
#include "device/device.h"

/* A device dim of which only index 0 holds elements. */
static tesela_status lower_hole(const tesela_device_dim *dim, int32_t axis, tesela_layout *out,
                                tesela_error *err) {
  int32_t digit;
  if (dim->stride == 0) return TESELA_OK;
  tesela_status status = tesela_layout_add_digit(out, TESELA_HOLE, dim->extent, &digit, err);
  return status == TESELA_OK ? tesela_layout_place(out, digit, axis, dim->stride, err) : status;
}

/* Give a digit the padding of its device dim: `room` values in place of `extent`. */
static tesela_status lower_padding(int32_t *digit, int64_t extent, int64_t room, int32_t axis,
                                   tesela_layout *out, tesela_error *err) {
  int32_t padded;
  if (room <= extent) return TESELA_OK;
  tesela_status status = tesela_layout_split(out, *digit, room, &padded, err);
  if (status == TESELA_OK) status = tesela_layout_place(out, *digit, axis, 0, err); /* always 0 */
  *digit = padded;
  return status;
}

/* Split one host dim along its chain and place the digits with the extents of the device dims. */
static tesela_status lower_dim(const tesela_device_layout *layout, int32_t host_dim, int32_t axis,
                               tesela_layout *out, tesela_error *err) {
  tesela__device_chain chain = tesela__device_chain_of(layout->n_dims, layout->dim, host_dim);
  int64_t rest = layout->host.shape[host_dim], stride = 0, room;
  int32_t digit = host_dim;
  tesela_status status = TESELA_OK;
  for (int32_t k = 0; k < chain.n && status == TESELA_OK; k++) {
    const tesela_device_dim *dim = &layout->dim[chain.dim[k]];
    if (dim->extent == 1) continue;
    if (rest <= 1 || dim->step >= rest) {
      if (layout->places > 0) status = lower_hole(dim, axis, out, err);
      continue;
    }
    if (tesela__mul(dim->extent, dim->step, &room))
      status = lower_padding(&digit, rest, room, axis, out, err);
    rest = dim->step;
    stride = dim->stride;
    if (dim->step == 1 || status != TESELA_OK) continue;
    int32_t low = digit;
    status = tesela_layout_split(out, digit, dim->step, &low, err);
    if (status == TESELA_OK) status = tesela_layout_place(out, digit, axis, stride, err);
    digit = low;
    stride = 0;
  }
  return status != TESELA_OK ? status : tesela_layout_place(out, digit, axis, stride, err);
}

tesela_status tesela_device_to_layout(const tesela_device_layout *layout, tesela_layout *out,
                                      tesela_error *err) {
  TESELA__NEED(err, layout, out);
  tesela_layout made;
  int32_t axis = 0;
  tesela_status status = tesela_layout_begin(&made, layout->host.device_dtype, layout->host.device_bits,
                                             layout->host.rank, layout->host.shape, err);
  if (status == TESELA_OK) status = tesela_layout_add_axis(&made, "memory", &axis, err);
  for (int32_t d = 0; d < layout->host.rank && status == TESELA_OK; d++)
    status = lower_dim(layout, d, axis, &made, err);
  for (int32_t j = 0; j < layout->n_dims && status == TESELA_OK; j++) {
    const tesela_device_dim *dim = &layout->dim[j];
    int32_t digit;
    if (dim->dim >= 0 || dim->extent < 2 || dim->stride == 0) continue; /* stride 0: no elements */
    status = tesela_layout_add_digit(&made, dim->dim == TESELA_DIM_REPLICATED ? TESELA_REPLICA : TESELA_HOLE,
                                     dim->extent, &digit, err);
    if (status == TESELA_OK) status = tesela_layout_place(&made, digit, axis, dim->stride, err);
  }
  if (status == TESELA_OK) status = tesela_layout_set_axis(&made, axis, 0, layout->places, err);
  if (status == TESELA_OK) status = tesela_layout_finish(&made, err);
  if (status == TESELA_OK) *out = made;
  return status;
}
