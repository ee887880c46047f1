/* SPDX-License-Identifier: Apache-2.0 */
/*
 * permute_c.c - blocks of bytes that are all moved alike, byte by byte.
 */
#include "kernels/kernels.h"

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
