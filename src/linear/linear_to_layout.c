/* SPDX-License-Identifier: Apache-2.0 */
/*
 * linear_to_layout.c - a linear layout as a relation: element -> places.
 *
 * A linear layout maps places to elements. Elimination gives for each bit of an element the one input bit that it is placed at
 * (the digits), for every other input bit a sum of bases that is 0 (the copies), and a matrix of bits that moves both where
 * they belong:
 *
 *   lane [[1],[2],[3]]     bit 0 of the element -> lane bit 0, bit 1 -> lane bit 1, a copy at lane bit 2 with image 111
 */
#include <stdio.h>

#include "linear/linear.h"

/* The output of a dim: by the names dim0, dim1, ... if all outputs have them, else in order. */
static void linear_order_outs(const tesela_linear *a, int32_t *out_of) {
  char name[TESELA_LINEAR_NAME];
  bool named = true;
  for (int32_t d = 0; d < a->n_outs; d++) {
    out_of[d] = -1;
    snprintf(name, sizeof name, "dim%" PRId32, d);
    for (int32_t i = 0; i < a->n_outs; i++)
      if (strcmp(a->out[i].name, name) == 0) out_of[d] = i;
    named = named && out_of[d] >= 0;
  }
  for (int32_t d = 0; d < a->n_outs && !named; d++) out_of[d] = d;
}

/* The parts of a conversion. */
typedef struct linear_lowering {
  const tesela_linear *a;
  tesela__echelon e;
  int32_t n;                              /* input bits */
  tesela_axis_bit at[TESELA_LINEAR_BITS]; /* the place of each input bit */
  int32_t row[TESELA_LINEAR_BITS]; /* by output bit: the row of the echelon that is this bit alone, or -1 */
  tesela_layout layout;
} linear_lowering;

static tesela_status linear_check_shape(const linear_lowering *l, int32_t rank, const int64_t *shape,
                                        const int32_t *out_of, tesela_error *err) {
  const tesela_linear *a = l->a;
  if (rank != a->n_outs)
    return tesela__fail(err, TESELA_E_MISMATCH, -1,
                        "the linear layout has %" PRId32 " outputs; the array has %" PRId32 " dims",
                        a->n_outs, rank);
  for (int32_t d = 0; d < rank; d++)
    if (tesela__index_bits(shape[d]) > a->out[out_of[d]].bits)
      return tesela__fail(err, TESELA_E_MISMATCH, -1,
                          "dim %" PRId32 " has %" PRId64 " elements; the linear layout has %" PRId64, d,
                          shape[d], (int64_t)1 << a->out[out_of[d]].bits);
  return TESELA_OK;
}

static tesela_status linear_add_axes(linear_lowering *l, bool block, tesela_error *err) {
  const tesela_linear *a = l->a;
  tesela_status status = TESELA_OK;
  l->n = 0;
  for (int32_t i = 0; i < a->n_ins && status == TESELA_OK; i++) {
    const char *name = strcmp(a->in[i].name, "offset") == 0 ? "memory" : a->in[i].name;
    int32_t axis;
    if (!block && a->in[i].bits == 0 && a->n_ins > 1 && strcmp(name, "block") == 0) continue;
    status = tesela_layout_add_axis(&l->layout, name, &axis, err);
    if (status == TESELA_OK)
      status = tesela_layout_set_axis(&l->layout, axis, 0, (int64_t)1 << a->in[i].bits, err);
    for (int32_t k = 0; k < a->in[i].bits && status == TESELA_OK; k++)
      l->at[l->n++] = (tesela_axis_bit){(int16_t)axis, (int16_t)k};
  }
  return status;
}

static tesela_status linear_nowhere(int32_t rank, int32_t dim, int32_t bit, tesela_error *err) {
  char text[160] = "";
  size_t used = 0;
  for (int32_t d = 0; d < rank && used < sizeof text; d++)
    used += (size_t)snprintf(text + used, sizeof text - used, "%s%" PRId64, d ? "," : "",
                             d == dim ? (int64_t)1 << bit : 0);
  return tesela__refuse(err, TESELA_E_UNSUPPORTED, TESELA_REASON_NOT_SURJECTIVE,
                        "element (%s) is in no place: the linear layout is not onto", text);
}

/* The digits of a dim: neighbouring bits at neighbouring places are one. */
static tesela_status linear_place_dim(linear_lowering *l, int32_t dim, int32_t bits, int32_t first,
                                      tesela_error *err) {
  int32_t digit = dim, low = dim;
  tesela_status status = TESELA_OK;
  if (bits == 0) return tesela_layout_place(&l->layout, digit, 0, 0, err);
  for (int32_t k = 0, next; k < bits && status == TESELA_OK; k = next) {
    tesela_axis_bit at = l->at[l->e.column[l->row[first + k]]];
    for (next = k + 1; next < bits; next++) {
      tesela_axis_bit then = l->at[l->e.column[l->row[first + next]]];
      if (then.axis != at.axis || then.bit != at.bit + next - k) break;
    }
    low = digit;
    if (next < bits) status = tesela_layout_split(&l->layout, digit, (int64_t)1 << (next - k), &low, err);
    if (status == TESELA_OK)
      status = tesela_layout_place(&l->layout, low, at.axis, (int64_t)1 << at.bit, err);
  }
  return status;
}

static tesela_status linear_place_copies(linear_lowering *l, tesela_error *err) {
  tesela_status status = TESELA_OK;
  for (int32_t i = l->e.n_kernel - 1; i >= 0 && status == TESELA_OK; i--) {
    tesela_axis_bit at = l->at[l->e.kernel_column[i]];
    int32_t digit;
    status = tesela_layout_add_digit(&l->layout, TESELA_REPLICA, 2, &digit, err);
    if (status == TESELA_OK)
      status = tesela_layout_place(&l->layout, digit, at.axis, (int64_t)1 << at.bit, err);
  }
  return status;
}

static tesela_status linear_add_matrix(linear_lowering *l, tesela_error *err) {
  uint64_t image[TESELA_LINEAR_BITS];
  for (int32_t i = 0; i < l->e.n; i++) image[l->e.column[i]] = l->e.combo[i];
  for (int32_t i = 0; i < l->e.n_kernel; i++) image[l->e.kernel_column[i]] = l->e.kernel[i];
  return tesela_layout_add_bit_matrix(&l->layout, l->n, l->at, image, err);
}

tesela_status tesela__linear_lower(const tesela_linear *a, bool block, tesela_dtype dtype, int32_t bits,
                                   int32_t rank, const int64_t *shape, tesela_layout *layout,
                                   tesela_error *err) {
  linear_lowering l;
  int32_t out_of[TESELA_LINEAR_DIMS], first[TESELA_LINEAR_DIMS];
  l.a = a;
  if (a->n_ins == 0)
    return tesela__fail(err, TESELA_E_UNSUPPORTED, -1, "the linear layout has no inputs, so no places");
  linear_order_outs(a, out_of);
  tesela_status status = tesela_layout_begin(&l.layout, dtype, bits, rank, shape, err);
  if (status == TESELA_OK) status = linear_check_shape(&l, rank, shape, out_of, err);
  if (status == TESELA_OK) status = linear_add_axes(&l, block, err);
  if (status != TESELA_OK) return status;
  for (int32_t d = 0; d < rank; d++) first[d] = tesela__bits_of(a->out, out_of[d]); /* of those before it */
  tesela__eliminate(l.n, a->basis, &l.e);
  for (int32_t k = 0; k < TESELA_LINEAR_BITS; k++) l.row[k] = -1;
  for (int32_t i = 0; i < l.e.n; i++)
    if (l.e.word[i] == (uint64_t)1 << l.e.bit[i]) l.row[l.e.bit[i]] = i;
  for (int32_t d = rank - 1; d >= 0; d--) /* the first of them in row-major order */
    for (int32_t k = 0; k < tesela__index_bits(shape[d]); k++)
      if (l.row[first[d] + k] < 0) return linear_nowhere(rank, d, k, err);
  for (int32_t d = 0; d < rank && status == TESELA_OK; d++)
    status = linear_place_dim(&l, d, tesela__index_bits(shape[d]), first[d], err);
  if (status == TESELA_OK) status = linear_place_copies(&l, err);
  if (status == TESELA_OK) status = linear_add_matrix(&l, err);
  if (status == TESELA_OK) status = tesela_layout_finish(&l.layout, err);
  if (status == TESELA_OK) *layout = l.layout;
  return status;
}

tesela_status tesela_linear_to_layout(const tesela_linear *a, tesela_dtype dtype, int32_t bits, int32_t rank,
                                      const int64_t *shape, tesela_layout *layout, tesela_error *err) {
  TESELA__NEED(err, a, layout);
  TESELA__NEED_LIST(err, shape, rank);
  tesela_status status = tesela__linear_check(a, "the linear layout", err);
  return status == TESELA_OK ? tesela__linear_lower(a, false, dtype, bits, rank, shape, layout, err) : status;
}
