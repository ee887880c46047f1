/* SPDX-License-Identifier: Apache-2.0 */
/*
 * support_transfer.c - see support_transfer.h.
 */
#include "support_transfer.h"

tesela_device_host transfer_host(tesela_dtype dtype, int32_t bits, tesela_dtype device, int32_t device_bits,
                                 int32_t rank, const int64_t *shape) {
  tesela_device_host host = {.dtype = dtype,
                             .device_dtype = device,
                             .bits = bits,
                             .device_bits = device_bits,
                             .stick_bytes = 128,
                             .rank = rank};
  for (int32_t d = 0; d < rank; d++) host.shape[d] = shape[d];
  return host;
}

void transfer_layout(tesela_device_layout *layout, const tesela_device_host *host, const int32_t *order,
                     int32_t n) {
  OK(tesela_device_from_order(layout, host, TESELA_ORDER_GENERIC, NULL, n, order, NULL, &e_));
}

tesela_device_layout transfer_rows(tesela_dtype dtype, int32_t bits, tesela_dtype device, int32_t device_bits,
                                   int64_t rows, int64_t columns) {
  const int64_t shape[2] = {rows, columns};
  const int32_t order[2] = {0, 1};
  tesela_device_host host = transfer_host(dtype, bits, device, device_bits, 2, shape);
  tesela_device_layout layout;
  transfer_layout(&layout, &host, order, 2);
  return layout;
}
