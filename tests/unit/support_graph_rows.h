/* SPDX-License-Identifier: Apache-2.0 */
/*
 * support_graph_rows.h - nodes to add, one per row, with their shape and type or the reason of the refusal.
 */
#ifndef TESELA_TESTS_SUPPORT_GRAPH_ROWS_H
#define TESELA_TESTS_SUPPORT_GRAPH_ROWS_H

#include <inttypes.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>
#include <tesela/tesela.h>

#include "support_graph_build.h"

#define OK(call)                                                    \
  do {                                                              \
    tesela_error e_ = {.message = ""};                              \
    if ((call) != TESELA_OK) fail_msg("%s: %s", #call, e_.message); \
  } while (0)

#define BIG INT64_C(4611686018427387904) /* 2^62 */

/* name, operands, spec, result ("": refused with `status` and a message with `words`) */
typedef struct shape_row {
  const char *name, *operands;
  tesela_node_spec spec;
  const char *result;
  tesela_status status;
  const char *words;
} shape_row;

/* Each node is added and has the result. */
void graph_rows_hold(const shape_row *rows, size_t n);

/* Each node is refused with the row's words, and the program does not change. */
void graph_rows_refused(const shape_row *rows, size_t n);

#endif
