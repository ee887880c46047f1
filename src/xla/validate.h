/* SPDX-License-Identifier: Apache-2.0 */
/*
 * validate.h - the validation of every XLA shape, with the field at fault as a plain value.
 *
 * A reader of text validates twice: tesela__xla_check_number for each number while its byte is known,
 * tesela__xla_check_shape at the end. A fault found then names a field, and the reader finds its byte.
 */
#ifndef TESELA_SRC_XLA_VALIDATE_H
#define TESELA_SRC_XLA_VALIDATE_H

#include <tesela/xla.h>

typedef enum tesela__xla_field {
  TESELA__XLA_SHAPE,
  TESELA__XLA_DIM,
  TESELA__XLA_ORDER,
  TESELA__XLA_TILE,
  TESELA__XLA_TAIL,
  TESELA__XLA_INDEX_TYPE,
  TESELA__XLA_POINTER_TYPE,
  TESELA__XLA_BITS,
  TESELA__XLA_SPACE,
  TESELA__XLA_SPLIT,
  TESELA__XLA_POINT,
  TESELA__XLA_PHYSICAL,
  TESELA__XLA_METADATA,
} tesela__xla_field;

/* The fault of a shape: item `index` of a field (dims, order, tile numbers of all levels, split configs, cut points),
 * or TESELA__XLA_WHOLE for the whole field. */
typedef struct tesela__xla_fault {
  tesela__xla_field field;
  int32_t index;
} tesela__xla_fault;

#define TESELA__XLA_WHOLE (-1)

/* Check the range of a number in a field. TESELA_E_RANGE with byte `at` otherwise. `*` in a tile and an unbounded dim
 * are not numbers. */
tesela_status tesela__xla_check_number(tesela__xla_field field, int64_t value, int64_t at, tesela_error *err);

/* The expected item of the field, for "expected ...": "a dim: a number, <=number or ?". */
const char *tesela__xla_expected(tesela__xla_field field);

/* Validate a shape. *fault is written on failure only. */
tesela_status tesela__xla_check_shape(const tesela_xla_shape *shape, tesela__xla_fault *fault,
                                      tesela_error *err);
/* Validate a layout of `rank` dims; `dim` are the logical dims, NULL for a layout alone. */
tesela_status tesela__xla_check_layout_of(const tesela_xla_layout *layout, int32_t rank, const int64_t *dim,
                                          tesela__xla_fault *fault, tesela_error *err);

/* Fill *fault and err; returns `status`. */
tesela_status tesela__xla_refuse(tesela__xla_fault *fault, tesela_error *err, tesela__xla_field field,
                                 int32_t index, tesela_status status, const char *format, ...)
    TESELA_PRINTF(6, 7);
/* tesela__xla_check_number for an item of a struct. */
tesela_status tesela__xla_check_item(tesela__xla_field field, int32_t index, int64_t value,
                                     tesela__xla_fault *fault, tesela_error *err);

/* Initialize a layout of `rank` dims without attributes; the caller fills the order. */
void tesela__xla_layout_start(tesela_xla_layout *layout, int32_t rank);
/* The order {rank-1, ..., 0} without attributes. */
void tesela__xla_layout_default(tesela_xla_layout *layout, int32_t rank);

/* Copies of the used part only: a shape is 2 KiB and seldom uses a tenth of it. */
void tesela__xla_layout_copy(tesela_xla_layout *dst, const tesela_xla_layout *src);
void tesela__xla_shape_copy(tesela_xla_shape *dst, const tesela_xla_shape *src);

#endif
