/* SPDX-License-Identifier: Apache-2.0 */
/*
 * support_device.h - device layouts against the definition (tests/oracle/device_oracle.c), and random hosts.
 */
#ifndef TESELA_TESTS_SUPPORT_DEVICE_H
#define TESELA_TESTS_SUPPORT_DEVICE_H

#include <inttypes.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>
#include <tesela/tesela.h>

#include "device_oracle.h"

#define OK(call)                                                    \
  do {                                                              \
    tesela_error e_ = {.message = ""};                              \
    if ((call) != TESELA_OK) fail_msg("%s: %s", #call, e_.message); \
  } while (0)

/* Restart the random numbers. */
void device_begin(uint64_t seed);
int64_t device_between(int64_t low, int64_t high);
tesela_device_host device_host(int32_t rank, const int64_t *shape, int32_t bits, int64_t stick_bytes);

/* "dim:step:extent dim:step:extent": the device dims of a layout, as text. */
const char *device_text(const tesela_device_layout *layout);
struct oracle_device device_oracle_of(const tesela_device_host *host, int32_t n,
                                      const tesela_device_dim *dims);
int64_t device_elements(const tesela_device_host *host);

/* Check that every element is where the definition puts it, and that elements and padding fill the places. */
void device_agrees(const tesela_device_layout *layout);
tesela_device_host device_draw_host(void);
void device_shuffle(int32_t n, int32_t *list);

#endif
