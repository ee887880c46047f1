/* SPDX-License-Identifier: Apache-2.0 */
/* restick.c - the same kind of layout with another dim in the sticks. */
#include "device/device.h"

/* The only device dim of a host dim outside the lanes, or -1. For TESELA_DIM_SYNTHETIC the first one. */
static int32_t restick_other(const tesela_device_layout *layout, int32_t host_dim) {
  int32_t found = -1;
  for (int32_t j = 0; j < layout->n_dims - 1; j++) {
    if (layout->dim[j].dim != host_dim) continue;
    if (found >= 0) return host_dim == TESELA_DIM_SYNTHETIC ? found : -1;
    found = j;
  }
  return found;
}

/* Elements along the dim of `blocks` with its padding, unless that only fills the last stick. false: beyond 64 bits,
 * which only a tensor without elements allows. */
static bool restick_laid_out(const tesela_device_layout *layout, int32_t blocks, int64_t *elements) {
  const tesela_device_dim *dim = &layout->dim[blocks];
  *elements = dim->dim < 0 ? 1 : layout->host.shape[dim->dim];
  if (dim->dim < 0 || tesela__ceil_div(*elements, dim->step) == dim->extent) return true;
  return tesela__mul(dim->extent, dim->step, elements);
}

tesela_status tesela_device_restick(tesela_device_layout *layout, const tesela_device_layout *from,
                                    int32_t dim, tesela_error *err) {
  TESELA__NEED(err, layout, from);
  const tesela_device_dim *lanes = &from->dim[from->n_dims - 1];
  if (dim < 0 || dim >= from->host.rank)
    return tesela__fail(err, TESELA_E_RANGE, -1, "dim %d is out of range for a tensor of rank %d", dim,
                        from->host.rank);
  int32_t blocks = restick_other(from, lanes->dim), whole = restick_other(from, dim);
  if (from->stick_dims != 1 || lanes->dim == TESELA_DIM_REPLICATED || blocks < 0 || whole < 0 ||
      (lanes->dim >= 0 && (lanes->step != 1 || from->dim[blocks].step != from->lanes)) ||
      (dim != lanes->dim && from->dim[whole].step != 1))
    return tesela__fail(err, TESELA_E_UNSUPPORTED, -1,
                        "only a layout that splits one dim into blocks and lanes can change its sticks");
  int64_t stride = 1;
  for (int32_t j = from->n_dims; j-- > 0; stride *= from->dim[j].extent)
    if (from->dim[j].stride != stride)
      return tesela__fail(err, TESELA_E_UNSUPPORTED, -1,
                          "device dim %d has stride %lld; expected the row-major stride %lld", j,
                          (long long)from->dim[j].stride, (long long)stride);
  tesela_device_dim dims[TESELA_DEVICE_DIMS];
  for (int32_t j = 0; j < from->n_dims; j++) dims[j] = from->dim[j];
  if (dim != lanes->dim) {
    int64_t laid_out = from->dim[whole].extent, elements;
    if (!restick_laid_out(from, blocks, &elements))
      return tesela__fail(err, TESELA_E_OVERFLOW, -1,
                          "device dim %d: %lld sticks have more elements than 64 bits can count", blocks,
                          (long long)from->dim[blocks].extent);
    dims[whole] = (tesela_device_dim){elements, lanes->dim < 0 ? 0 : 1, 0, lanes->dim};
    dims[blocks] = (tesela_device_dim){tesela__ceil_div(laid_out, from->lanes), from->lanes, 0, dim};
    dims[from->n_dims - 1] = (tesela_device_dim){from->lanes, 1, 0, dim};
  }
  return tesela_device_from_dims(layout, &from->host, from->n_dims, dims, false, 1, err);
}
