/* SPDX-License-Identifier: Apache-2.0 */
/*
 * support_transfer.h - hosts and device layouts for tests of transfers.
 */
#ifndef TESELA_TESTS_SUPPORT_TRANSFER_H
#define TESELA_TESTS_SUPPORT_TRANSFER_H

#include <inttypes.h>
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>
#include <tesela/tesela.h>

#define OK(call)                                                    \
  do {                                                              \
    tesela_error e_ = {.message = ""};                              \
    if ((call) != TESELA_OK) fail_msg("%s: %s", #call, e_.message); \
  } while (0)

tesela_device_host transfer_host(tesela_dtype dtype, int32_t bits, tesela_dtype device, int32_t device_bits,
                                 int32_t rank, const int64_t *shape);
void transfer_layout(tesela_device_layout *layout, const tesela_device_host *host, const int32_t *order,
                     int32_t n);

/* Rows in separate device blocks: f16[6,100] is 2 x 6 x 64 places. */
tesela_device_layout transfer_rows(tesela_dtype dtype, int32_t bits, tesela_dtype device, int32_t device_bits,
                                   int64_t rows, int64_t columns);

#endif
