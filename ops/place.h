/* SPDX-License-Identifier: Apache-2.0 */
/*
 * place.h - places and bytes, for elements of any number of bits.
 */
#ifndef TESELA_OPS_PLACE_H
#define TESELA_OPS_PLACE_H

#include <stdbool.h>
#include <stdint.h>

#include <tesela/notation.h>

/* Do its places count elements of a known width? Not those of a tile, nor of a text without a type (of 8 bits then). */
static inline bool any_has_bytes(const tesela_any_layout *any) {
  if (any->kind == TESELA_KIND_RELATION)
    return any->relation.n_axes == 1 && (any->relation.dtype != TESELA_DTYPE_NONE || any->relation.bits != 8);
  return any->kind != TESELA_KIND_SHARED && any->kind != TESELA_KIND_GLOBAL;
}

/* The first bit of place >= 0: byte and bit in it, bit 0 the lowest. false if the byte does not fit.
 * Place 17 of 32 bits: byte 68, bit 0; place 3 of 4 bits: byte 1, bit 4. */
static inline bool place_to_byte(int64_t place, int32_t bits, int64_t *byte, int *bit) {
  int64_t rest = place % 8 * bits;
  if (__builtin_mul_overflow(place / 8, (int64_t)bits, byte)) return false;
  *bit = (int)(rest % 8);
  return !__builtin_add_overflow(*byte, rest / 8, byte);
}

/* The places first .. last that have a bit in byte >= 0. Byte 69 of 32 bits: 17 .. 17; byte 1 of 6 bits: 1
 * .. 2. */
static inline void places_in_byte(int64_t byte, int32_t bits, int64_t *first, int64_t *last) {
  int64_t group = byte / bits, low = byte % bits * 8; /* 8 places take `bits` bytes */
  *first = group * 8 + low / bits;
  *last = group * 8 + (low + 7) / bits;
}

#endif
