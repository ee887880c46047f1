/* SPDX-License-Identifier: Apache-2.0 */
/*
 * swizzle.c - the XOR stage of a layout: one bit matrix over the low bits of the places of all axes.
 *
 * The low `width[a]` bits of the place on each axis a, axis 0 lowest, make one word of at most 64 bits. Bit k of the word
 * contributes image[k]; the XOR of all contributions is the new word.
 */
#include "layout/layout.h"

uint64_t tesela__sum_of_images(const uint64_t *image, uint64_t word) {
  uint64_t sum = 0;
  for (; word != 0; word &= word - 1) sum ^= image[__builtin_ctzll(word)];
  return sum;
}

static uint64_t mask_of(int32_t width) { return width == 64 ? UINT64_MAX : ((uint64_t)1 << width) - 1; }

/* Replace the joined bits of the places by their images. */
static void exchange_bits(const tesela_bit_matrix *m, const uint64_t *image, int64_t *place) {
  uint64_t word = 0;
  for (int32_t a = 0, base = 0; base < m->n; base += m->width[a++])
    if (m->width[a] > 0) word |= ((uint64_t)place[a] & mask_of(m->width[a])) << base;
  word &= m->moved;
  word ^= tesela__sum_of_images(image, word); /* the bits that change */
  for (int32_t a = 0, base = 0; base < m->n; base += m->width[a++])
    if (m->width[a] > 0) place[a] ^= (int64_t)(word >> base & mask_of(m->width[a]));
}

void tesela__swizzle_places(const tesela_layout *layout, int64_t *place) {
  if (layout->swizzle.n > 0) exchange_bits(&layout->swizzle, layout->swizzle.image, place);
}

void tesela__unswizzle_places(const tesela_layout *layout, int64_t *place) {
  if (layout->swizzle.n > 0) exchange_bits(&layout->swizzle, layout->swizzle.source, place);
}

int64_t tesela__swizzle(const tesela_layout *layout, int64_t place) {
  tesela__swizzle_places(layout, &place);
  return place;
}

/* All bits up to the highest one that is set. */
static uint64_t filled(uint64_t bits) {
  for (int32_t shift = 1; shift < 64; shift *= 2) bits |= bits >> shift;
  return bits;
}

/* If bits `flipped` of places up to `high` change, a smaller place may have all bits below the first of them. */
int64_t tesela__swizzled_high(const tesela_layout *layout, int32_t axis, const int64_t *high) {
  const tesela_bit_matrix *m = &layout->swizzle;
  uint64_t flipped = 0, own = 0;
  for (int32_t a = 0, base = 0; a < layout->n_axes; base += m->width[a++]) {
    if (a == axis) own = (uint64_t)base;
    uint64_t possible = high[a] > 0 ? filled((uint64_t)high[a]) : 0;
    for (int32_t k = 0; k < m->width[a]; k++)
      if (possible >> k & 1) flipped |= m->image[base + k] ^ (uint64_t)1 << (base + k);
  }
  if (m->width[axis] == 0) return high[axis];
  flipped = flipped >> own & mask_of(m->width[axis]);
  return (int64_t)((uint64_t)high[axis] | flipped | filled((uint64_t)high[axis] & flipped));
}
