/* SPDX-License-Identifier: Apache-2.0 */
/* rebind.c - the structure of a device layout for another host shape. */
#include "device/device.h"

tesela_status tesela_device_rebind(tesela_device_layout *layout, const tesela_device_layout *from,
                                   const int64_t *shape, tesela_error *err) {
  TESELA__NEED(err, layout, from);
  TESELA__NEED_LIST(err, shape, from->host.rank);
  tesela_device_host host = from->host;
  tesela_device_dim dims[TESELA_DEVICE_DIMS];
  int64_t stride = 1;
  for (int32_t j = from->n_dims; j-- > 0; stride *= from->dim[j].extent) {
    dims[j] = from->dim[j];
    if (dims[j].stride != stride)
      return tesela__fail(err, TESELA_E_UNSUPPORTED, -1,
                          "device dim %d has stride %lld; expected the row-major stride %lld", j,
                          (long long)dims[j].stride, (long long)stride);
  }
  for (int32_t d = 0; d < host.rank; d++) {
    if (shape[d] < 0)
      return tesela__fail(err, TESELA_E_RANGE, -1, "dim %d has extent %lld; expected 0 or more", d,
                          (long long)shape[d]);
    host.shape[d] = shape[d];
    tesela__device_chain chain = tesela__device_chain_of(from->n_dims, from->dim, d);
    int32_t top = chain.n > 0 ? chain.dim[0] : -1;
    if (top >= 0 && top < from->n_dims - from->stick_dims) /* lanes keep their extent */
      dims[top].extent = tesela__ceil_div(shape[d], dims[top].step);
  }
  tesela_device_layout made;
  tesela_status status =
      tesela_device_from_dims(&made, &host, from->n_dims, dims, false, from->stick_dims, err);
  if (status == TESELA_OK && from->format == TESELA_STICKS_PAIR)
    status = tesela_device_set_format(&made, from->format, err);
  if (status == TESELA_OK) *layout = made;
  return status;
}
