/* SPDX-License-Identifier: Apache-2.0 */
/*
 * permute_c.c - blocks of bytes, and of bits, that are all moved alike, byte by byte.
 */
#include "kernels/bits.h"

void tesela__k_permute_c(const tesela__rows *rows, unsigned char *dst, const int64_t *dst_off,
                         const unsigned char *src, const int64_t *src_off, int64_t count) {
  const tesela__permute *permute = &rows->permute;
  for (int64_t i = 0; i < count; i++)
    for (const tesela__picked_line *line = permute->line; line < permute->line + permute->n_lines; line++) {
      unsigned char *to = dst + dst_off[i] + line->to;
      for (uint64_t left = permute->fill ? line->write : 0; left; left &= left - 1)
        to[__builtin_ctzll(left)] = permute->fill[__builtin_ctzll(left)];
      for (const tesela__line_pick *p = permute->pick + line->first;
           p < permute->pick + line->first + line->n; p++)
        for (uint64_t left = p->write; left; left &= left - 1) {
          const int byte = __builtin_ctzll(left);
          to[byte] = src[src_off[i] + p->from + p->index[byte]];
        }
    }
}

/* Put the bits of a round into the bytes of a line. */
static void put_round_c(const tesela__permute *permute, const tesela__bit_round *round,
                        const unsigned char *src, unsigned char *line) {
  unsigned char bytes[64] = {0};
  for (const tesela__line_pick *p = permute->pick + round->first; p < permute->pick + round->first + round->n;
       p++)
    for (uint64_t left = p->write; left; left &= left - 1) {
      const int at = __builtin_ctzll(left);
      bytes[at] = src[p->from + p->index[at]];
    }
  for (int i = 0; i < 64; i++) {
    const uint64_t eight = tesela__load_bits(bytes + (i & ~7));
    const unsigned shift = round->shift[i] & 63, mask = round->mask[i];
    const unsigned bits = (unsigned)(eight >> shift | (shift ? eight << (64 - shift) : 0));
    line[i] = (unsigned char)((line[i] & ~mask) | (bits & mask));
  }
}

static void permute_bits_line_c(const tesela__permute *permute, const tesela__picked_line *line,
                                unsigned char *dst, const unsigned char *src) {
  unsigned char bytes[64] = {0}, *to = dst + line->to;
  const tesela__bit_round *first = permute->round + line->first, *end = first + line->n;
  if (permute->fill) memcpy(bytes, permute->fill, sizeof bytes);
  for (const tesela__bit_round *r = first; r < end; r++) put_round_c(permute, r, src, bytes);
  for (uint64_t left = line->write; left; left &= left - 1) {
    const int at = __builtin_ctzll(left);
    const unsigned own = line->keeps ? end->mask[at] : 0xff;
    to[at] = (unsigned char)((bytes[at] & own) | (to[at] & ~own));
  }
}

void tesela__k_permute_bits_c(const tesela__rows *rows, unsigned char *dst, const int64_t *dst_off,
                              const unsigned char *src, const int64_t *src_off, int64_t count) {
  for (int64_t i = 0; i < count; i++)
    for (int32_t k = 0; k < rows->permute.n_lines; k++)
      permute_bits_line_c(&rows->permute, rows->permute.line + k, dst + dst_off[i], src + src_off[i]);
}
