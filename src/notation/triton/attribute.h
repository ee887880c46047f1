/* SPDX-License-Identifier: Apache-2.0 */
/*
 * attribute.h - lists of `key = value`, as in MLIR attributes and Python calls: where each value is in the text.
 *
 *   {dim = 1, parent = #ttg.blocked<{order = [1, 0]}>}      dim: "1"    parent: "#ttg.blocked<{order = [1, 0]}>"
 *
 * A list is scanned once; a value is read when its type is known, so lists nest without recursion.
 */
#ifndef TESELA_NOTATION_TRITON_ATTRIBUTE_H
#define TESELA_NOTATION_TRITON_ATTRIBUTE_H

#include "base/reader.h"

enum { TESELA__ATTRIBUTE_FIELDS = 16 };

/* Positions in the text of the list. */
typedef struct tesela__attribute_field {
  size_t name, name_length; /* name_length 0: a value without a key */
  size_t at, end;           /* of the value, without blanks around it */
} tesela__attribute_field;

typedef struct tesela__attribute {
  int32_t n;
  tesela__attribute_field field[TESELA__ATTRIBUTE_FIELDS];
} tesela__attribute;

/* Read fields up to and including `close`; the reader is after the opening bracket. Adds to `out`. */
tesela_status tesela__attribute_read(tesela__reader *r, char close, tesela__attribute *out);

/* The values. `in` is a reader of the list's text; on success it is at the end of the value. `name` is for messages. */
tesela_status tesela__attribute_integer(tesela__reader *in, const tesela__attribute_field *field,
                                        const char *name, int64_t most, int64_t *value);
/* true, false, True, False, 0 or 1. */
tesela_status tesela__attribute_bool(tesela__reader *in, const tesela__attribute_field *field, bool *value);
/* "[1, 0]" or "(1, 0)": at most `most` integers from 0 on. */
tesela_status tesela__attribute_list(tesela__reader *in, const tesela__attribute_field *field,
                                     const char *name, int32_t most, int64_t *list, int32_t *n);
/* "[[0, 1], [8, 0]]", or "[]": row k of at most `most` rows is at list[k * width]. *width is the length of all rows; unchanged
 * without a row. */
tesela_status tesela__attribute_rows(tesela__reader *in, const tesela__attribute_field *field,
                                     const char *name, int32_t most, int32_t room, int64_t *list, int32_t *n,
                                     int32_t *width);

#endif
