/* SPDX-License-Identifier: Apache-2.0 */
/*
 * swizzle_build.c - add stages to the XOR stage of a layout: one matrix for all of them.
 *
 * Only matrices with an inverse are accepted, so no two places meet. The widths are the smallest ones, so equal stages have
 * equal fields.
 */
#include "layout/layout.h"

/* Bit k of axis a as a bit of the word. */
static int32_t joined_bit(const tesela_bit_matrix *m, int32_t axis, int32_t bit) {
  for (int32_t a = 0; a < axis; a++) bit += m->width[a];
  return bit;
}

/* The same matrix over words of other widths; of bits that are in only one of them, the identity. */
static void spread_bits(const tesela_bit_matrix *old, const uint8_t *width, tesela_bit_matrix *out) {
  tesela_bit_matrix m = {.n = 0};
  for (int32_t a = 0; a < TESELA_MAX_AXES; a++) {
    m.width[a] = width[a];
    m.n += width[a];
  }
  for (int32_t k = 0; k < m.n; k++) m.image[k] = (uint64_t)1 << k;
  for (int32_t a = 0; a < TESELA_MAX_AXES; a++)
    for (int32_t k = 0; k < tesela__min(width[a], old->width[a]); k++) {
      uint64_t from = old->image[joined_bit(old, a, k)], to = 0;
      for (int32_t b = 0; b < TESELA_MAX_AXES; b++)
        for (int32_t l = 0; l < tesela__min(width[b], old->width[b]); l++)
          to |= (from >> joined_bit(old, b, l) & 1) << joined_bit(&m, b, l);
      m.image[joined_bit(&m, a, k)] = to;
    }
  *out = m;
}

/* The smallest widths outside of which the matrix changes nothing, and which bits do not stay as they are. */
static void trim_bits(tesela_bit_matrix *m) {
  uint64_t changed = 0;
  uint8_t width[TESELA_MAX_AXES];
  for (int32_t k = 0; k < m->n; k++) {
    uint64_t flipped = m->image[k] ^ (uint64_t)1 << k;
    if (flipped != 0) changed |= flipped | (uint64_t)1 << k;
  }
  for (int32_t a = 0, base = 0; a < TESELA_MAX_AXES; base += m->width[a++]) {
    width[a] = 0;
    for (int32_t k = 0; k < m->width[a]; k++)
      if (changed >> (base + k) & 1) width[a] = (uint8_t)(k + 1);
  }
  spread_bits(m, width, m);
  for (int32_t k = 0; k < m->n; k++)
    if (m->image[k] != (uint64_t)1 << k) m->moved |= (uint64_t)1 << k;
}

/* Compute the inverse by elimination; false: it is singular. */
static bool invert_bits(tesela_bit_matrix *m) {
  uint64_t left[64];
  for (int32_t k = 0; k < m->n; k++) {
    left[k] = m->image[k];
    m->source[k] = (uint64_t)1 << k;
  }
  for (int32_t bit = 0; bit < m->n; bit++) { /* columns bit .. n-1 have no bits below `bit` */
    int32_t pivot = bit;
    while (pivot < m->n && !(left[pivot] >> bit & 1)) pivot++;
    if (pivot == m->n) return false;
    uint64_t column = left[pivot], sum = m->source[pivot];
    left[pivot] = left[bit];
    m->source[pivot] = m->source[bit];
    left[bit] = column;
    m->source[bit] = sum;
    for (int32_t k = 0; k < m->n; k++)
      if (k != bit && left[k] >> bit & 1) {
        left[k] ^= column;
        m->source[k] ^= sum;
      }
  }
  return true;
}

/* Apply another stage after those of the layout: bits of the listed axes, the image of each over the list. */
static tesela_status add_stage(tesela_layout *layout, int32_t n, const tesela_axis_bit *bit,
                               const uint64_t *image, tesela_error *err) {
  tesela_bit_matrix m;
  uint8_t width[TESELA_MAX_AXES];
  uint64_t after[64];
  int32_t sum = 0, at[64];
  for (int32_t a = 0; a < TESELA_MAX_AXES; a++) width[a] = layout->swizzle.width[a];
  for (int32_t k = 0; k < n; k++)
    width[bit[k].axis] = (uint8_t)tesela__max(width[bit[k].axis], bit[k].bit + 1);
  for (int32_t a = 0; a < TESELA_MAX_AXES; a++) sum += width[a];
  if (sum > 64)
    return tesela__fail(err, TESELA_E_LIMIT, -1,
                        "the swizzle joins %" PRId32 " bits of the places; expected at most 64", sum);
  spread_bits(&layout->swizzle, width, &m);
  for (int32_t k = 0; k < m.n; k++) after[k] = (uint64_t)1 << k;
  for (int32_t k = 0; k < n; k++) at[k] = joined_bit(&m, bit[k].axis, bit[k].bit);
  for (int32_t k = 0; k < n; k++) {
    after[at[k]] = 0;
    for (int32_t l = 0; l < n; l++) after[at[k]] |= (image[k] >> l & 1) << at[l];
  }
  for (int32_t k = 0; k < m.n; k++) m.image[k] = tesela__sum_of_images(after, m.image[k]);
  trim_bits(&m);
  if (!invert_bits(&m))
    return tesela__fail(err, TESELA_E_INVALID, -1,
                        "the bit matrix has no inverse: it would put several places in one");
  layout->swizzle = m;
  return TESELA_OK;
}

static tesela_status check_bits(const tesela_layout *layout, int32_t n, const tesela_axis_bit *bit,
                                const uint64_t *image, tesela_error *err) {
  if (n < 0 || n > 64)
    return tesela__fail(err, TESELA_E_LIMIT, -1, "a matrix of %" PRId32 " bits; expected 0 to 64", n);
  for (int32_t k = 0; k < n; k++) {
    tesela_status status = tesela__check_axis(layout, bit[k].axis, err);
    if (status != TESELA_OK) return status;
    if (bit[k].bit < 0 || bit[k].bit > 61) return tesela_error_outside(err, -1, "bit", -1, bit[k].bit, 0, 61);
    if (n < 64 && image[k] >> n != 0)
      return tesela__fail(err, TESELA_E_RANGE, -1,
                          "image %" PRId32 " has bits beyond the %" PRId32 " that are listed", k, n);
    for (int32_t l = 0; l < k; l++)
      if (bit[l].axis == bit[k].axis && bit[l].bit == bit[k].bit)
        return tesela__fail(err, TESELA_E_INVALID, -1, "bit %d of axis %d is listed twice", bit[k].bit,
                            bit[k].axis);
  }
  return TESELA_OK;
}

tesela_status tesela_layout_add_bit_matrix(tesela_layout *layout, int32_t n, const tesela_axis_bit *bit,
                                           const uint64_t *image, tesela_error *err) {
  TESELA__NEED(err, layout);
  TESELA__NEED_LIST(err, bit, n);
  TESELA__NEED_LIST(err, image, n);
  tesela_status status = tesela__check_open(layout, err);
  if (status == TESELA_OK) status = check_bits(layout, n, bit, image, err);
  return status == TESELA_OK ? add_stage(layout, n, bit, image, err) : status;
}

tesela_status tesela_layout_add_swizzle(tesela_layout *layout, tesela_swizzle swizzle, tesela_error *err) {
  TESELA__NEED(err, layout);
  tesela_status status = tesela__check_axis(layout, swizzle.axis, err);
  if (status != TESELA_OK) return status;
  int32_t distance = swizzle.shift < 0 ? -swizzle.shift : swizzle.shift;
  if (swizzle.bits < 0 || swizzle.base < 0 || distance < swizzle.bits ||
      (int32_t)swizzle.base + distance + swizzle.bits > 62)
    return tesela__fail(err, TESELA_E_RANGE, -1,
                        "swizzle bits %d, base %d, shift %d: expected bits and base of 0 or more, |shift| of "
                        "bits or more, base + |shift| + bits of 62 or less",
                        swizzle.bits, swizzle.base, swizzle.shift);
  tesela_axis_bit bit[64];
  uint64_t image[64];
  for (int32_t k = 0; k < swizzle.bits; k++) { /* first the lower bits of the list, then the higher ones */
    bit[k] = (tesela_axis_bit){swizzle.axis, (int16_t)(swizzle.base + k)};
    bit[swizzle.bits + k] = (tesela_axis_bit){swizzle.axis, (int16_t)(swizzle.base + distance + k)};
    image[k] = (uint64_t)1 << k;
    image[swizzle.bits + k] = (uint64_t)1 << (swizzle.bits + k);
    image[swizzle.shift < 0 ? k : swizzle.bits + k] |= (uint64_t)1
                                                       << (swizzle.shift < 0 ? swizzle.bits + k : k);
  }
  return add_stage(layout, 2 * swizzle.bits, bit, image, err);
}
