/* SPDX-License-Identifier: Apache-2.0 */
/*
 * row.c - shared by the rows of any.c: what is given beside a text.
 */
#include "base/base.h"
#include "notation/any.h"

tesela_dtype tesela__given_dtype(const tesela_layout_read_options *options, int32_t *bits) {
  tesela_dtype dtype = options->array ? options->array->dtype : TESELA_DTYPE_NONE;
  if (dtype == TESELA_DTYPE_NONE) dtype = options->dtype;
  *bits = dtype == TESELA_DTYPE_NONE ? 8 : 8 * tesela_dtype_bytes(dtype);
  return dtype;
}
