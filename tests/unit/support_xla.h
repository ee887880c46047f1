/* SPDX-License-Identifier: Apache-2.0 */
/*
 * support_xla.h - shapes from texts and from oracle arrays, for the unit tests of XLA shapes.
 */
#ifndef UNIT_SUPPORT_XLA_H
#define UNIT_SUPPORT_XLA_H

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

#include "xla_oracle.h"

/* `call` uses &e_ as its error. */
#define OK(call)                                                    \
  do {                                                              \
    tesela_error e_ = {.message = ""};                              \
    if ((call) != TESELA_OK) fail_msg("%s: %s", #call, e_.message); \
  } while (0)

/* A number expected by a row or a random case, with its name. */
#define AGREE(name, got, want)                                                                      \
  do {                                                                                              \
    if ((int64_t)(got) != (int64_t)(want))                                                          \
      fail_msg("%s: %s is %" PRId64 ", not %" PRId64, name, #got, (int64_t)(got), (int64_t)(want)); \
  } while (0)

enum { TEXT = 512 };

/* The shape of a text; fails the test for an invalid text. */
tesela_xla_shape shape_of(const char *text);
/* Its canonical text. */
void text_of(const tesela_xla_shape *shape, char text[TEXT]);
/* Fails the test unless the shape prints as `want`. */
void check_text(const char *name, const tesela_xla_shape *shape, const char *want);

/* The shape of an oracle array, made without reading or printing. */
tesela_xla_shape shape_of_array(const struct oracle_array *array, const char *type);

#endif
