/* SPDX-License-Identifier: Apache-2.0 */
/*
 * compose_swizzled.c - the XOR stage of the inner layout of a composition, moved to the places of outer.
 *
 * Outer(S(p)) is S'(outer(p)) if each bit of p that S reads or changes is one bit of outer's place, whatever the others are: outer has a
 * digit of steps and stride 2^a and 2^b that contains it, and no sum of other digits reaches or carries into that bit.
 *
 *   outer [8,8] with strides 16, 1, inner swizzled in bits 0 .. 5: bits 0 .. 2 are bits 0 .. 2, bits 3 .. 5 are bits 4 .. 6
 */
#include "layout/compose.h"

static int32_t turned_log2(int64_t x) {
  int32_t log = 0;
  if (x < 1 || (x & (x - 1)) != 0) return -1;
  while (x >> log > 1) log++;
  return log;
}

/* Of all digits on an axis but one, and the offset: what they add below 2^bit, at most; -1: one may reach the bit. */
static int64_t turned_below(const tesela_layout *flat, int32_t axis, int32_t but, int32_t bit) {
  int64_t unit = (int64_t)1 << bit, below = flat->axis[axis].offset % (2 * unit);
  for (int32_t i = 0; i < flat->n_active; i++) {
    const tesela_digit *digit = &flat->digit[i];
    if (digit->axis != axis || i == but || digit->extent < 2) continue;
    if (digit->stride < 0) return -1;
    if (digit->stride % (2 * unit) == 0) continue;
    if (digit->stride >= unit || digit->extent - 1 > (unit - 1) / tesela__max(digit->stride, 1)) return -1;
    below += digit->stride * (digit->extent - 1);
    if (below >= unit) return -1;
  }
  return below < unit ? below : -1;
}

/* The bit of outer's place that bit k of the element number is. `flat`: outer as one dim, without a stage. */
static bool turned_bit(const tesela_layout *flat, int32_t k, tesela_axis_bit *out) {
  for (int32_t i = 0; i < flat->n_mapped; i++) {
    const tesela_digit *digit = &flat->digit[i];
    int32_t a = turned_log2(digit->step), b = turned_log2(digit->stride);
    if (digit->axis < 0 || a < 0 || k < a || k - a > 61 || (digit->extent - 1) >> (k - a) == 0) continue;
    if (b < 0 || b + k - a > 60 || (i > 0 && turned_log2(digit->extent) < 0))
      return false; /* i 0: the highest */
    int64_t below = turned_below(flat, digit->axis, i, b + k - a);
    *out = (tesela_axis_bit){digit->axis, (int16_t)(b + k - a)};
    return below >= 0 && below < digit->stride;
  }
  return false; /* a bit that no element number has set */
}

/* Do steps divide each other, so that bits of the number may be bits of digits? */
static bool turned_is_even(const tesela_layout *flat) {
  return flat->n_joins == 0 && tesela__chain_is_even(flat, tesela__chain_of(flat, 0));
}

static tesela_status turned_refuse(tesela_error *err) {
  return tesela__fail(err, TESELA_E_MISMATCH, -1,
                      "the inner layout has a swizzle whose bits are mixed by the outer one");
}

tesela_status tesela__turn_swizzle(const tesela_layout *outer, const tesela_layout *inner, int32_t *n,
                                   tesela_axis_bit *bit, uint64_t *image, tesela_error *err) {
  const tesela_bit_matrix *m = &inner->swizzle;
  tesela_layout flat = *outer;
  uint64_t used = m->moved;
  int64_t elements = 1;
  int32_t number[64] = {0};
  for (int32_t d = 0; d < outer->rank; d++) elements *= outer->shape[d];
  memset(&flat.swizzle, 0, sizeof flat.swizzle);
  if (tesela_layout_reshape(&flat, 1, &elements, &flat, NULL) != TESELA_OK || !turned_is_even(&flat))
    return turned_refuse(err);
  for (int32_t k = 0; k < m->n; k++)
    if (m->moved >> k & 1) used |= m->image[k];
  *n = 0;
  for (int32_t k = 0; k < m->n; k++) {
    if (!(used >> k & 1)) continue;
    number[k] = *n;
    if (!turned_bit(&flat, k, &bit[(*n)++])) return turned_refuse(err);
  }
  for (int32_t k = 0; k < m->n; k++) {
    if (!(used >> k & 1)) continue;
    image[number[k]] = 0;
    for (int32_t l = 0; l < m->n; l++)
      if (m->image[k] >> l & 1) image[number[k]] |= UINT64_C(1) << number[l];
  }
  return TESELA_OK;
}

tesela_status tesela__add_matrix(tesela_layout *layout, const tesela_bit_matrix *matrix, tesela_error *err) {
  tesela_axis_bit bit[64];
  int32_t n = 0;
  for (int32_t a = 0; n < matrix->n; a++)
    for (int32_t k = 0; k < matrix->width[a]; k++) bit[n++] = (tesela_axis_bit){(int16_t)a, (int16_t)k};
  return tesela_layout_add_bit_matrix(layout, n, bit, matrix->image, err);
}
