/* SPDX-License-Identifier: Apache-2.0 */
/*
 * bitcast.c - is a transpose or a reshape free: does every element stay at its place?
 *
 * Both shapes become relations over the same coordinates, and tesela_layout_compare decides. For a transpose the
 * input's dims are relabelled. For a reshape both sides split their dims off flat coordinates, one for each stretch:
 * the shortest groups of dims with the same number of elements on both sides:
 *
 *   [6,4,8] to [3,8,2,4]    6,4 against 3,8: flat 24     8 against 2,4: flat 8
 *                           in:  (x div 4, x mod 4, y)   out: (x div 8, x mod 8, y div 4, y mod 4)
 *
 * These splits are exact, so they add no padding, and tiles apply to the digits as to any bound.
 *
 * With order_only the answers are XLA's: TransposeIsBitcast compares the orders, ReshapeIsBitcast compares the places
 * of unit indices in both shapes, and both ignore tiles.
 */
#include "xla/xla.h"

#include "base/base.h"

/* ---- common ---- */

/* Do both have the same type, width, bytes and allocated bytes? */
static tesela_status same_memory(const tesela_xla_shape *in, const tesela_xla_shape *out, bool *same,
                                 tesela_error *err) {
  tesela_xla_sizes of_in, of_out;
  tesela_status status = tesela_xla_size(in, &of_in, err);
  if (status == TESELA_OK) status = tesela_xla_size(out, &of_out, err);
  if (status != TESELA_OK) return status;
  *same = in->dtype == out->dtype && of_in.bits_per_element == of_out.bits_per_element &&
          of_in.bytes == of_out.bytes && of_in.allocated_bytes == of_out.allocated_bytes;
  return TESELA_OK;
}

static tesela_status same_relation(const tesela_layout *from, const tesela_layout *to, bool *same,
                                   tesela_error *err) {
  tesela_difference difference;
  tesela_status status = tesela_layout_compare(from, to, &difference, err);
  if (status == TESELA_OK) *same = difference.same && difference.same_extent;
  return status;
}

/* ---- transpose ---- */

static tesela_status check_transpose(const tesela_xla_shape *in, const tesela_xla_shape *out,
                                     const int32_t *permutation, tesela_error *err) {
  tesela_status status = tesela__xla_check_sized(in, err);
  if (status == TESELA_OK) status = tesela__xla_check_sized(out, err);
  if (status != TESELA_OK) return status;
  if (in->rank != out->rank)
    return tesela__fail(err, TESELA_E_MISMATCH, -1,
                        "transpose of rank %" PRId32 " to rank %" PRId32 "; expected equal ranks", in->rank,
                        out->rank);
  status = tesela__xla_check_permutation(in->rank, permutation, err);
  for (int32_t k = 0; k < in->rank && status == TESELA_OK; k++)
    if (in->dim[permutation[k]] != out->dim[k])
      status = tesela__fail(err, TESELA_E_MISMATCH, -1,
                            "dim %" PRId32 " of the output is %" PRId64 ", dim %" PRId32
                            " of the input is %" PRId64,
                            k, out->dim[k], permutation[k], in->dim[permutation[k]]);
  return status;
}

/* The order-only answer: type and order. */
static bool transposed_order(const tesela_xla_shape *in, const tesela_xla_shape *out,
                             const int32_t *permutation) {
  bool same = in->dtype == out->dtype;
  for (int32_t i = 0; i < in->rank; i++)
    same = same && permutation[out->layout.minor_to_major[i]] == in->layout.minor_to_major[i];
  return same;
}

tesela_status tesela_xla_transpose_is_bitcast(const tesela_xla_shape *in, const tesela_xla_shape *out,
                                              const int32_t *permutation, bool order_only, bool *bitcast,
                                              tesela_error *err) {
  TESELA__NEED(err, in, out, bitcast);
  TESELA__NEED_LIST(err, permutation, in->rank);
  tesela_layout from, to;
  bool same;
  tesela_status status = check_transpose(in, out, permutation, err);
  if (status == TESELA_OK && order_only) *bitcast = transposed_order(in, out, permutation);
  if (status != TESELA_OK || order_only) return status;
  status = same_memory(in, out, &same, err);
  if (status == TESELA_OK && same) {
    tesela_xla_shape relabelled = *in;
    status = tesela_xla_permute_dims(&relabelled, permutation, err);
    if (status == TESELA_OK) status = tesela_xla_to_layout(&relabelled, &from, err);
    if (status == TESELA_OK) status = tesela_xla_to_layout(out, &to, err);
    if (status == TESELA_OK) status = same_relation(&from, &to, &same, err);
  }
  if (status == TESELA_OK) *bitcast = same;
  return status;
}

/* ---- reshape ---- */

tesela_status tesela__xla_check_reshape(const tesela_xla_shape *in, const tesela_xla_shape *out,
                                        int64_t *elements, tesela_error *err) {
  int64_t n_out;
  tesela_status status = tesela__xla_check_sized(in, err);
  if (status == TESELA_OK) status = tesela__xla_check_sized(out, err);
  if (status != TESELA_OK) return status;
  if (!tesela__xla_product(in->rank, in->dim, elements) || !tesela__xla_product(out->rank, out->dim, &n_out))
    return tesela__fail(err, TESELA_E_OVERFLOW, -1, "the number of elements does not fit in 64 bits");
  if (*elements != n_out)
    return tesela__fail(err, TESELA_E_MISMATCH, -1,
                        "reshape of %" PRId64 " elements to %" PRId64 "; expected equal numbers", *elements,
                        n_out);
  return TESELA_OK;
}

static void skip_ones(const tesela_xla_shape *shape, int32_t *dim) {
  while (*dim < shape->rank && shape->dim[*dim] == 1) ++*dim;
}

/* A stretch ends when both sides have the same number of elements. So stretches are as short as possible, and neither
 * side runs out of dims first. */
void tesela__xla_find_stretches(const tesela_xla_shape *in, const tesela_xla_shape *out,
                                tesela__xla_stretches *found) {
  int32_t i = 0, o = 0;
  found->n = 0;
  skip_ones(in, &i);
  skip_ones(out, &o);
  while (i < in->rank) {
    int64_t of_in = in->dim[i++], of_out = out->dim[o++];
    while (of_in != of_out) {
      if (of_in < of_out)
        of_in *= in->dim[i++];
      else
        of_out *= out->dim[o++];
    }
    skip_ones(in, &i);
    skip_ones(out, &o);
    found->extent[found->n] = of_in;
    found->in_end[found->n] = i;
    found->out_end[found->n++] = o;
  }
}

/* The relation of a shape over flat coordinates; `end` is its side of the stretches. */
static tesela_status lower_flat(const tesela_xla_shape *shape, const tesela__xla_stretches *flat,
                                const int32_t *end, tesela_layout *layout, tesela_error *err) {
  int32_t digit[TESELA_MAX_RANK];
  tesela_status status = tesela__xla_layout_begin(shape, flat->n, flat->extent, layout, err);
  for (int32_t s = 0; s < flat->n && status == TESELA_OK; s++) {
    int32_t first = s == 0 ? 0 : end[s - 1];
    for (int32_t d = end[s] - 1; d > first && status == TESELA_OK; d--)
      status = tesela_layout_split(layout, s, shape->dim[d], &digit[d], err);
    digit[first] = s;
  }
  for (int32_t d = 0; d < shape->rank && flat->n == 0 && status == TESELA_OK; d++) /* ones only */
    status = tesela_layout_add_digit(layout, TESELA_HOLE, 1, &digit[d], err);
  return status == TESELA_OK ? tesela__xla_lower(shape, digit, layout, err) : status;
}

static tesela_status elements_stay(const tesela_xla_shape *in, const tesela_xla_shape *out, bool *stay,
                                   tesela_error *err) {
  tesela__xla_stretches flat;
  tesela_layout from, to;
  tesela__xla_find_stretches(in, out, &flat);
  tesela_status status = lower_flat(in, &flat, flat.in_end, &from, err);
  if (status == TESELA_OK) status = lower_flat(out, &flat, flat.out_end, &to, err);
  return status == TESELA_OK ? same_relation(&from, &to, stay, err) : status;
}

/* Strides by the order alone, and row-major strides. The number of elements fits in 64 bits. */
static void strides_of(const tesela_xla_shape *shape, int64_t *by_order, int64_t *row_major) {
  int64_t stride = 1;
  for (int32_t i = 0; i < shape->rank; i++) {
    by_order[shape->layout.minor_to_major[i]] = stride;
    stride *= shape->dim[shape->layout.minor_to_major[i]];
  }
  stride = 1;
  for (int32_t d = shape->rank - 1; d >= 0; d--) {
    row_major[d] = stride;
    stride *= shape->dim[d];
  }
}

/* Is every unit index of `a` at the same place in `b`? */
static bool units_stay(const tesela_xla_shape *a, const tesela_xla_shape *b) {
  int64_t place_a[TESELA_MAX_RANK], place_b[TESELA_MAX_RANK], number_a[TESELA_MAX_RANK],
      number_b[TESELA_MAX_RANK];
  strides_of(a, place_a, number_a);
  strides_of(b, place_b, number_b);
  for (int32_t unit = 0; unit < a->rank; unit++) {
    int64_t rest = number_a[unit], place = 0;
    if (a->dim[unit] <= 1) continue;
    for (int32_t d = 0; d < b->rank; d++) {
      place += rest / number_b[d] * place_b[d];
      rest %= number_b[d];
    }
    if (place != place_a[unit]) return false;
  }
  return true;
}

tesela_status tesela_xla_reshape_is_bitcast(const tesela_xla_shape *in, const tesela_xla_shape *out,
                                            bool order_only, bool *bitcast, tesela_error *err) {
  TESELA__NEED(err, in, out, bitcast);
  int64_t elements;
  bool same;
  tesela_status status = tesela__xla_check_reshape(in, out, &elements, err);
  if (status == TESELA_OK && order_only)
    *bitcast = in->dtype == out->dtype && (elements == 0 || (units_stay(in, out) && units_stay(out, in)));
  if (status != TESELA_OK || order_only) return status;
  status = same_memory(in, out, &same, err);
  if (status == TESELA_OK && same && elements > 0) status = elements_stay(in, out, &same, err);
  if (status == TESELA_OK) *bitcast = same;
  return status;
}
