/* SPDX-License-Identifier: Apache-2.0 */
/*
 * layout_size.c - the sizes of a layout.
 */
#include "layout/layout.h"

tesela_status tesela_layout_sizes(const tesela_layout *layout, tesela_sizes *sizes, tesela_error *err) {
  TESELA__NEED(err, layout, sizes);
  tesela_status status = tesela__check_finished(layout, err);
  if (status != TESELA_OK) return status;
  tesela_sizes s = {.logical_elements = 1, .elements = 1};
  for (int32_t d = 0; d < layout->rank; d++) s.logical_elements *= layout->shape[d]; /* fits: begin */
  for (int32_t a = 0; a < layout->n_axes; a++)
    if (!tesela__mul(s.elements, layout->axis[a].extent, &s.elements)) goto overflow;
  int64_t natural = 8 * (int64_t)tesela_dtype_bytes(layout->dtype);
  int64_t width = natural > 0 ? tesela__min(natural, layout->bits) : layout->bits;
  if (!tesela__mul(s.logical_elements, width, &s.logical_bits)) goto overflow;
  if (!tesela__mul(s.elements, layout->bits, &s.bits)) goto overflow;
  s.logical_bytes = tesela__ceil_div(s.logical_bits, 8);
  s.bytes = tesela__ceil_div(s.bits, 8);
  *sizes = s;
  return TESELA_OK;
overflow:
  return tesela__fail(err, TESELA_E_OVERFLOW, -1, "the size in bits does not fit in 64 bits");
}

tesela_status tesela_layout_padded_extent(const tesela_layout *layout, int32_t dim, int64_t *extent,
                                          tesela_error *err) {
  TESELA__NEED(err, layout, extent);
  if (dim < 0 || dim >= layout->rank)
    return tesela__fail(err, TESELA_E_RANGE, -1, "dim %" PRId32 "; the rank is %" PRId32, dim, layout->rank);
  int64_t product = 1;
  for (int32_t i = 0; i < layout->n_digits; i++) {
    const tesela_digit *digit = &layout->digit[i];
    bool always_0 =
        digit->source == TESELA_HOLE && digit->part_of == dim + 1; /* a part that split made a hole */
    if ((digit->source == dim || always_0) && !tesela__mul(product, digit->extent, &product))
      return tesela__fail(err, TESELA_E_OVERFLOW, -1, "the padded extent does not fit in 64 bits");
  }
  *extent = product;
  return TESELA_OK;
}
