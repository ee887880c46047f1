/* SPDX-License-Identifier: Apache-2.0 */
/*
 * support_register_rows.h - register layouts as text: "shape | mode_shape | spatial_modes | local_modes".
 */
#ifndef TESELA_TESTS_SUPPORT_REGISTER_ROWS_H
#define TESELA_TESTS_SUPPORT_REGISTER_ROWS_H

#include <inttypes.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "support_register.h"

#define OK(call)                                                    \
  do {                                                              \
    tesela_error e_ = {.message = ""};                              \
    if ((call) != TESELA_OK) fail_msg("%s: %s", #call, e_.message); \
  } while (0)

/* Integers up to the next '|' or the end. */
int32_t rows_list(const char **text, int64_t *list);
register_lists rows_lists(const char *text);
tesela_register rows_layout(const char *text);

/* Exactly these lists? */
bool rows_has_lists(const tesela_register *layout, const char *text);
tesela_register rows_filled(void);
bool rows_is_filled(const void *object, size_t size);

#endif
