/* SPDX-License-Identifier: Apache-2.0 */
/*
 * device.h - shared by the files that create and read device layouts.
 */
#ifndef TESELA_SRC_DEVICE_DEVICE_H
#define TESELA_SRC_DEVICE_DEVICE_H

#include <tesela/device.h>

#include "base/base.h"

/* The device dims of one host dim, by decreasing step, the outer first on equal steps: the order of splitting a
 * coordinate. */
typedef struct tesela__device_chain {
  int32_t n;
  int32_t dim[TESELA_DEVICE_DIMS]; /* numbers of device dims */
} tesela__device_chain;

tesela__device_chain tesela__device_chain_of(int32_t n_dims, const tesela_device_dim *dims, int32_t host_dim);

/* Check a host and compute its lanes. */
tesela_status tesela__device_check_host(const tesela_device_host *host, int64_t *lanes, tesela_error *err);

/* Elements of the host tensor; overflow is an error. */
tesela_status tesela__device_elements(const tesela_device_host *host, int64_t *elements, tesela_error *err);

/* Row-major strides of the host tensor; a dim of extent 0 counts as 1. */
tesela_status tesela__device_row_major(const tesela_device_host *host, int64_t strides[TESELA_MAX_RANK],
                                       tesela_error *err);

#endif
