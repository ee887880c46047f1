/* SPDX-License-Identifier: Apache-2.0 */
/*
 * validate_number.c - numbers, each in the range of its field; one table, also used while reading text.
 */
#include "xla/validate.h"

#include <stdarg.h>
#include <stdio.h>

#include "base/base.h"

/* field, smallest, largest, message before and after the number, the expected item */
#define NUMBER_RULES(X)                                                                                   \
  X(TESELA__XLA_DIM, 0, INT64_MAX, "dim ", ": expected a dim of 0 or more",                               \
    "a dim: a number, <=number or ?")                                                                     \
  X(TESELA__XLA_ORDER, 0, TESELA_MAX_RANK - 1, "order entry ", ": expected a dim, 0 to 31",               \
    "the number of a dim")                                                                                \
  X(TESELA__XLA_TILE, 1, INT64_MAX, "tile extent ",                                                       \
    ": expected a tile extent of 1 or more, or * to combine the dim with the next",                       \
    "a tile extent: a number or *")                                                                       \
  X(TESELA__XLA_TAIL, 1, INT64_MAX, "L(", "): expected a tail alignment of 1 or more",                    \
    "a number of elements")                                                                               \
  X(TESELA__XLA_BITS, 0, INT64_MAX, "E(", "): expected 0 (bits of the type) or more", "a number of bits") \
  X(TESELA__XLA_SPACE, INT8_MIN, INT8_MAX, "S(", "): expected a memory space, -128 to 127",               \
    "the number of a memory space")                                                                       \
  X(TESELA__XLA_SPLIT, 0, TESELA_MAX_RANK - 1, "SC(",                                                     \
    ":...): expected a physical dim, 0 (the most major) to 31", "the number of a physical dim")           \
  X(TESELA__XLA_POINT, 1, INT64_MAX, "cut point ", ": expected a cut point of 1 or more",                 \
    "a cut point: a number")                                                                              \
  X(TESELA__XLA_METADATA, 0, INT64_MAX, "M(", "): expected 0 bytes of metadata or more", "a number of bytes")

static const struct {
  int64_t least, most;
  const char *before, *after, *expected;
} xla_number_rules[] = {
#define TESELA__ROW(field, least, most, before, after, expected) \
  [field] = {least, most, before, after, expected},
    NUMBER_RULES(TESELA__ROW)
#undef TESELA__ROW
};
#undef NUMBER_RULES

const char *tesela__xla_expected(tesela__xla_field field) { return xla_number_rules[field].expected; }

tesela_status tesela__xla_check_number(tesela__xla_field field, int64_t value, int64_t at,
                                       tesela_error *err) {
  if (value >= xla_number_rules[field].least && value <= xla_number_rules[field].most) return TESELA_OK;
  return tesela__fail(err, TESELA_E_RANGE, at, "%s%" PRId64 "%s", xla_number_rules[field].before, value,
                      xla_number_rules[field].after);
}

tesela_status tesela__xla_refuse(tesela__xla_fault *fault, tesela_error *err, tesela__xla_field field,
                                 int32_t index, tesela_status status, const char *format, ...) {
  char message[2 * sizeof err->message]; /* tesela__fail truncates longer messages */
  va_list args;
  va_start(args, format);
  vsnprintf(message, sizeof message, format, args);
  va_end(args);
  *fault = (tesela__xla_fault){field, index};
  return tesela__fail(err, status, -1, "%s", message);
}

tesela_status tesela__xla_check_item(tesela__xla_field field, int32_t index, int64_t value,
                                     tesela__xla_fault *fault, tesela_error *err) {
  tesela_status status = tesela__xla_check_number(field, value, -1, err);
  if (status != TESELA_OK) *fault = (tesela__xla_fault){field, index};
  return status;
}
