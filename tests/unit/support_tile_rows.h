/* SPDX-License-Identifier: Apache-2.0 */
/*
 * support_tile_rows.h - tiles in memory written by hand, and refused calls.
 */
#ifndef TESELA_TESTS_SUPPORT_TILE_ROWS_H
#define TESELA_TESTS_SUPPORT_TILE_ROWS_H

#include <inttypes.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "support_tile_memory.h"

#define OK(call)                                                    \
  do {                                                              \
    tesela_error e_ = {.message = ""};                              \
    if ((call) != TESELA_OK) fail_msg("%s: %s", #call, e_.message); \
  } while (0)

/* The call is refused with this status and reason and a message, leaves its output (`none`) unchanged, and behaves so
 * without an error, too. */
#define REFUSED(call, wanted, why)                                                                    \
  do {                                                                                                \
    tesela_error e_ = {.message = ""}, *e = &e_;                                                      \
    tesela_tile_memory none;                                                                          \
    memset(&none, 0x5a, sizeof none);                                                                 \
    tesela_status status_ = (call);                                                                   \
    if (status_ != (wanted) || e_.reason != (why))                                                    \
      fail_msg("%s: status %d reason %d: %s", #call, status_, (int)e_.reason, e_.message);            \
    assert_true(e_.message[0] != '\0' && strlen(e_.message) < sizeof e_.message - 1);                 \
    e = NULL;                                                                                         \
    assert_int_equal((call), wanted);                                                                 \
    for (size_t i_ = 0; i_ < sizeof none; i_++) assert_int_equal(((unsigned char *)&none)[i_], 0x5a); \
  } while (0)

#define LIST(...) \
  (const int64_t[]) { __VA_ARGS__ }
#define SHARED TESELA_TILE_SHARED
#define GLOBAL TESELA_TILE_GLOBAL

int64_t tile_at(const tesela_tile_memory *t, const int64_t *index);
tesela_tile_memory tile_row_major(int32_t rank, const int64_t *shape);

/* 64 x 64 of 16 bits with Swizzle(3,3,3). */
tesela_tile_memory tile_swizzled_64(void);

#endif
