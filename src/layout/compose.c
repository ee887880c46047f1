/* SPDX-License-Identifier: Apache-2.0 */
/*
 * compose.c - the composition of two layouts: places of inner are element numbers of outer.
 *
 * Inner's digits, with their strides as weights, become the parts of a join J; outer's digits split J, through one more
 * join per dim if outer has several. The canonical form then removes the joins whose cuts fit.
 */
#include "layout/compose.h"

static tesela_status check_operands(const tesela_layout *outer, const tesela_layout *inner, int64_t *elements,
                                    tesela_error *err) {
  tesela_status status = tesela__check_finished(outer, err);
  if (status == TESELA_OK) status = tesela__check_finished(inner, err);
  if (status != TESELA_OK) return status;
  *elements = 1;
  for (int32_t d = 0; d < outer->rank; d++) *elements *= outer->shape[d]; /* fits: begin checked it */
  if (inner->n_axes != 1)
    return tesela__fail(err, TESELA_E_MISMATCH, -1, "the inner layout has %" PRId32 " axes; expected 1",
                        inner->n_axes);
  if (tesela_layout_copies(inner) != 1)
    return tesela__fail(err, TESELA_E_MISMATCH, -1,
                        "the inner layout has replicas, so its places are not element numbers");
  if (inner->axis[0].extent > *elements)
    return tesela__fail(err, TESELA_E_MISMATCH, -1,
                        "the inner layout has %" PRId64 " places, the outer one only %" PRId64 " elements",
                        inner->axis[0].extent, *elements);
  if (inner->bits != outer->bits)
    return tesela__fail(err, TESELA_E_MISMATCH, -1, "elements of %" PRId32 " and %" PRId32 " bits",
                        inner->bits, outer->bits);
  int32_t joins = inner->n_joins + outer->n_joins + 1 + (outer->rank > 1 ? outer->rank : 0);
  if (joins > TESELA_MAX_JOINS || inner->n_active + outer->n_active + outer->rank > TESELA_MAX_DIGITS)
    return tesela__fail(err, TESELA_E_LIMIT, -1, "the composition needs more than %d joins or %d digits",
                        TESELA_MAX_JOINS, TESELA_MAX_DIGITS);
  return TESELA_OK;
}

/* Coordinate `c` of outer in the result: a dim becomes J or one of its joins, a join follows these. */
static int16_t outer_coordinate(const tesela_layout *outer, const tesela_layout *inner, int32_t c) {
  int32_t first = inner->rank + inner->n_joins; /* J */
  if (c < 0) return (int16_t)c;
  if (c < outer->rank) return (int16_t)(outer->rank == 1 ? first : first + 1 + c);
  return (int16_t)(first + 1 + (outer->rank > 1 ? outer->rank : 0) + c - outer->rank);
}

static void add_digit(tesela_layout *out, tesela_digit digit) { out->digit[out->n_digits++] = digit; }

/* The digits and joins of the composition; check_operands checked that they fit. */
static void chain_digits(tesela_layout *out, const tesela_layout *outer, const tesela_layout *inner,
                         int64_t elements) {
  for (int32_t j = 0; j < inner->n_joins; j++) out->join[out->n_joins++] = inner->join[j];
  int16_t whole = (int16_t)out->n_joins;
  out->join[out->n_joins++] = (tesela_join){.extent = elements, .offset = inner->axis[0].offset};
  for (int32_t i = 0; i < inner->n_mapped; i++) { /* without holes, which stay padding */
    tesela_digit digit = inner->digit[i];
    if (digit.axis >= 0) digit.join = whole;
    digit.axis = -1;
    add_digit(out, digit);
  }
  int64_t step = elements;
  for (int32_t d = 0; d < outer->rank && outer->rank > 1; d++) {
    if (outer->shape[d] > 0) step /= outer->shape[d];
    add_digit(out, (tesela_digit){.extent = outer->shape[d],
                                  .step = tesela__max(step, 1),
                                  .stride = 1,
                                  .source = (int16_t)(inner->rank + whole),
                                  .axis = -1,
                                  .join = (int16_t)out->n_joins});
    out->join[out->n_joins++] = (tesela_join){.extent = outer->shape[d], .offset = 0};
  }
  for (int32_t j = 0; j < outer->n_joins; j++) out->join[out->n_joins++] = outer->join[j];
  for (int32_t i = 0; i < outer->n_active; i++) {
    tesela_digit digit = outer->digit[i];
    digit.source = outer_coordinate(outer, inner, digit.source);
    if (digit.join >= 0)
      digit.join = (int16_t)(outer_coordinate(outer, inner, outer->rank + digit.join) - inner->rank);
    add_digit(out, digit);
  }
}

/* Without the stage of inner. */
static tesela_status compose_plain(const tesela_layout *outer, const tesela_layout *inner,
                                   tesela_layout *result, tesela_error *err) {
  int64_t elements;
  tesela_status status = check_operands(outer, inner, &elements, err);
  if (status == TESELA_OK)
    status = tesela_layout_begin(result, inner->dtype, inner->bits, inner->rank, inner->shape, err);
  if (status != TESELA_OK) return status;
  result->n_digits = 0;
  if (!tesela__is_empty(inner)) chain_digits(result, outer, inner, elements);
  result->n_axes = outer->n_axes;
  for (int32_t a = 0; a < outer->n_axes; a++) result->axis[a] = outer->axis[a];
  return TESELA_OK;
}

tesela_status tesela_layout_compose(const tesela_layout *outer, const tesela_layout *inner,
                                    tesela_layout *out, tesela_error *err) {
  TESELA__NEED(err, outer, inner, out);
  tesela_layout result, plain;
  tesela_axis_bit bit[64];
  uint64_t image[64];
  int32_t n = 0;
  tesela_status status = compose_plain(outer, inner, &result, err);
  if (status == TESELA_OK && inner->swizzle.n > 0 && !tesela__is_empty(inner)) {
    plain = *inner; /* its places before the stage may reach further */
    plain.finished = false;
    memset(&plain.swizzle, 0, sizeof plain.swizzle);
    status = tesela_layout_set_axis(&plain, 0, plain.axis[0].offset, -1, err);
    if (status == TESELA_OK) status = tesela_layout_finish(&plain, err);
    if (status == TESELA_OK) status = tesela__turn_swizzle(outer, inner, &n, bit, image, err);
    if (status == TESELA_OK) status = compose_plain(outer, &plain, &result, err);
    if (status == TESELA_OK) status = tesela_layout_add_bit_matrix(&result, n, bit, image, err);
  }
  if (status == TESELA_OK && outer->swizzle.n > 0) status = tesela__add_matrix(&result, &outer->swizzle, err);
  if (status == TESELA_OK) status = tesela_layout_finish(&result, err);
  if (status == TESELA_E_RANGE && n > 0) /* places of padding, by both stages in turn, may be outside */
    status = tesela__fail(err, TESELA_E_MISMATCH, -1,
                          "the inner layout has a swizzle, and padding leaves the axis");
  return status == TESELA_OK ? tesela_layout_canonical(&result, out, err) : status;
}
