/* SPDX-License-Identifier: Apache-2.0 */
/* host.c - the host side of a device layout: shape, types, lanes. */
#include <string.h>

#include "device/device.h"

tesela_status tesela_device_host_of(tesela_device_host *host, const tesela_target *target, tesela_dtype dtype,
                                    int32_t rank, const int64_t *shape, tesela_error *err) {
  TESELA__NEED(err, host, target);
  TESELA__NEED_LIST(err, shape, rank);
  tesela_device_host made;
  memset(&made, 0, sizeof made);
  if (rank < 0 || rank > target->max_rank)
    return tesela__fail(err, TESELA_E_LIMIT, -1, "rank %d; target %s expects rank 0 to %d", rank,
                        target->name, target->max_rank);
  tesela_target_type type;
  tesela_status status = tesela_target_type_of(target, dtype, &type, NULL, err);
  if (status != TESELA_OK) return status;
  made.dtype = dtype;
  made.device_dtype = type.device;
  made.bits = 8 * tesela_dtype_bytes(dtype);
  made.device_bits = type.device_bits;
  made.stick_bytes = target->stick_bytes;
  made.rank = rank;
  if (rank > 0) memcpy(made.shape, shape, (size_t)rank * sizeof *shape);
  int64_t lanes;
  status = tesela__device_check_host(&made, &lanes, err);
  if (status == TESELA_OK) *host = made;
  return status;
}

tesela_status tesela__device_elements(const tesela_device_host *host, int64_t *elements, tesela_error *err) {
  int64_t product = 1;
  bool empty = false;
  for (int32_t d = 0; d < host->rank; d++) empty = empty || host->shape[d] == 0;
  for (int32_t d = 0; d < host->rank && !empty; d++)
    if (!tesela__mul(product, host->shape[d], &product))
      return tesela__fail(err, TESELA_E_OVERFLOW, -1, "the number of elements does not fit in 64 bits");
  *elements = empty ? 0 : product;
  return TESELA_OK;
}

tesela_status tesela__device_check_host(const tesela_device_host *host, int64_t *lanes, tesela_error *err) {
  if (host->rank < 0 || host->rank > TESELA_MAX_RANK)
    return tesela__fail(err, TESELA_E_LIMIT, -1, "rank %d; expected 0 to %d", host->rank, TESELA_MAX_RANK);
  for (int32_t d = 0; d < host->rank; d++)
    if (host->shape[d] < 0)
      return tesela__fail(err, TESELA_E_RANGE, -1, "dim %d has extent %lld; expected 0 or more", d,
                          (long long)host->shape[d]);
  if (host->bits < 1 || host->bits > 1024)
    return tesela__fail(err, TESELA_E_RANGE, -1, "host elements of %d bits; expected 1 to 1024", host->bits);
  if (host->device_bits < 8 || host->device_bits > 1024 || host->device_bits % 8 != 0)
    return tesela__fail(err, TESELA_E_RANGE, -1,
                        "device elements of %d bits; expected whole bytes, 8 to 1024", host->device_bits);
  if (host->stick_bytes < 1 || host->stick_bytes > 1 << 20 ||
      host->stick_bytes % (host->device_bits / 8) != 0)
    return tesela__fail(err, TESELA_E_RANGE, -1,
                        "sticks of %lld bytes for elements of %d bytes; expected a multiple of the element's "
                        "bytes, up to 1048576",
                        (long long)host->stick_bytes, host->device_bits / 8);
  *lanes = host->stick_bytes / (host->device_bits / 8);
  int64_t elements;
  return tesela__device_elements(host, &elements, err);
}

tesela_status tesela__device_row_major(const tesela_device_host *host, int64_t strides[TESELA_MAX_RANK],
                                       tesela_error *err) {
  int64_t stride = 1;
  for (int32_t d = host->rank; d-- > 0;) {
    strides[d] = stride;
    if (!tesela__mul(stride, tesela__max(host->shape[d], 1), &stride))
      return tesela__fail(err, TESELA_E_OVERFLOW, -1, "strides of the host tensor do not fit in 64 bits");
  }
  return TESELA_OK;
}
