/* SPDX-License-Identifier: Apache-2.0 */
/*
 * data_size.c - bytes up to the end of the data, and bytes of a serialized literal.
 *
 * The last index is not always at the largest place: in bf16[28,128]{1,0:T(8,128)(2,1,1,1)} (27,127) is at 3071 and
 * (23,127) at 4094. Without joins each dim contributes independently. The largest place of a dim is on the path of its
 * last index, or branches off it once: one less at a digit, and then the largest place that the digits below can reach.
 */
#include "base/base.h"
#include "layout/layout.h"
#include "xla/xla.h"

/* The largest sum of digit * stride over the values 0 .. limit-1 of a chain; limit >= 1, strides >= 0. below[k] is the
 * same for the digits from k on and the values below the step of digit k-1. */
static int64_t largest_below(const tesela_digit *digit, int32_t n, int64_t limit, const int64_t *below) {
  int64_t rest = limit - 1, path = 0, largest = 0;
  for (int32_t k = 0; k < n; k++) {
    int64_t value = rest / digit[k].step;
    rest %= digit[k].step;
    if (value > 0) largest = tesela__max(largest, path + (value - 1) * digit[k].stride + below[k + 1]);
    path += value * digit[k].stride;
  }
  return tesela__max(largest, path);
}

/* The largest place in dim `dim`; tesela_layout_finish checked that places fit in 64 bits. */
static int64_t largest_of_dim(const tesela_layout *layout, int32_t dim) {
  int64_t below[TESELA_MAX_DIGITS + 1];
  tesela__chain chain = tesela__chain_of(layout, dim);
  const tesela_digit *digit = &layout->digit[chain.first];
  below[chain.n] = 0;
  for (int32_t k = chain.n - 1; k > 0; k--)
    below[k] = largest_below(&digit[k], chain.n - k, digit[k - 1].step, &below[k]);
  return largest_below(digit, chain.n, layout->shape[dim], below);
}

/* With joins: search backwards from the last place for an element. */
static tesela_status last_element(const tesela_layout *layout, int64_t *place, tesela_error *err) {
  enum { MOST = 1 << 20 };
  int64_t index[TESELA_MAX_RANK], end = 0;
  bool padding;
  for (int32_t i = 0; i < layout->n_active; i++)
    if (layout->digit[i].axis >= 0) end += (layout->digit[i].extent - 1) * layout->digit[i].stride;
  for (int64_t at = end; at >= 0 && at > end - MOST; at--) {
    tesela_status status = tesela_layout_element_at(layout, &at, index, &padding, err);
    if (status != TESELA_OK) return status;
    if (padding) continue;
    *place = at;
    return TESELA_OK;
  }
  return tesela__fail(err, TESELA_E_UNSUPPORTED, -1,
                      "cannot find the last element: more than %d places at the end are padding", MOST);
}

tesela_status tesela_xla_data_bytes(const tesela_xla_shape *shape, int64_t *bytes, tesela_error *err) {
  TESELA__NEED(err, shape, bytes);
  tesela_layout built, layout;
  int64_t elements, last = 0;
  tesela_status status = tesela_xla_to_layout(shape, &built, err);
  if (status == TESELA_OK) status = tesela_layout_canonical(&built, &layout, err);
  if (status != TESELA_OK) return status;
  tesela__xla_product(shape->rank, shape->dim, &elements); /* fits: the shape is valid */
  if (elements > 0 && layout.n_joins > 0) status = last_element(&layout, &last, err);
  if (status != TESELA_OK) return status;
  for (int32_t d = 0; d < layout.rank && elements > 0 && layout.n_joins == 0; d++)
    last += largest_of_dim(&layout, d);
  tesela__xla_bytes(elements > 0 ? last + 1 : 0, tesela__xla_bits(shape), bytes); /* fits: so do all places */
  return TESELA_OK;
}

/* ---- serialized ---- */

/* Bits of a value in a serialized literal. */
static int64_t serialized_bits(const tesela_xla_shape *shape) {
  int32_t bits = tesela_dtype_bits(shape->dtype);
  return bits < 8 ? 8 / (8 / bits) : tesela__xla_bits(shape);
}

tesela_status tesela_xla_serialized_bytes(const tesela_xla_shape *shape, int64_t *bytes, tesela_error *err) {
  TESELA__NEED(err, shape, bytes);
  enum { DYNAMIC_SIZE = 4 };
  int64_t elements, values;
  tesela_status status = tesela__xla_check_sized(shape, err);
  if (status != TESELA_OK) return status;
  int64_t sizes = shape->dynamic != 0 ? DYNAMIC_SIZE * (int64_t)shape->rank : 0;
  if (!tesela__xla_product(shape->rank, shape->dim, &elements) ||
      !tesela__xla_bytes(elements, serialized_bits(shape), &values) || !tesela__add(values, sizes, &values))
    return tesela__fail(err, TESELA_E_OVERFLOW, -1, "the bytes do not fit in 64 bits");
  *bytes = values;
  return TESELA_OK;
}
