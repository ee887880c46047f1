/* SPDX-License-Identifier: Apache-2.0 */
/*
 * cute_row.c - shared by reading and writing: the modes at the top of a CuTe layout, and a layout from modes.
 */
#include <stdio.h>
#include "layout/layout.h"
#include "notation/cute/cute_row.h"

int32_t tesela__cute_tops(const tesela_cute *cute, int32_t first[TESELA_CUTE_LEAVES + 1]) {
  int32_t n = 0, depth = 0;
  for (int32_t i = 0; i < cute->n; i++) {
    if (depth <= 1) first[n++] = i;
    depth += cute->open[i] - cute->close[i];
  }
  first[n] = cute->n;
  return n;
}

tesela_status tesela__cute_from_modes(const tesela__cute_modes *modes, int32_t rank, const int64_t *shape,
                                      tesela_cute *cute, int64_t *cut, tesela_error *err) {
  *cute =
      (tesela_cute){.offset = modes->offset, .bits = modes->bits, .base = modes->base, .shift = modes->shift};
  int32_t next = 0;
  for (int32_t d = 0; d < rank; d++) {
    int32_t first = cute->n;
    cut[d] = 1;
    do {
      const tesela__mode_leaf *leaf = &modes->leaf[next];
      bool used = next < modes->n && leaf->dim == d;
      bool last = !used || next + 1 == modes->n || leaf[1].dim != d;
      if (cute->n == TESELA_CUTE_LEAVES)
        return tesela__fail(err, TESELA_E_LIMIT, -1, "the layout needs more than %d leaves",
                            TESELA_CUTE_LEAVES);
      cute->extent[cute->n] =
          !used ? 1 : (last ? tesela__ceil_div(shape[d], leaf->step) : leaf[1].step / leaf->step);
      cute->stride[cute->n] = used ? leaf->stride : 0;
      if (!tesela__mul(cut[d], cute->extent[cute->n], &cut[d]))
        return tesela__fail(err, TESELA_E_OVERFLOW, -1, "the size of the text does not fit in 64 bits");
      cute->n++;
      next += used;
    } while (next < modes->n && modes->leaf[next].dim == d);
    if (cute->n - first > 1) {
      cute->open[first]++;
      cute->close[cute->n - 1]++;
    }
  }
  if (rank > 1 || (rank == 1 && cute->n > 1)) {
    cute->open[0]++;
    cute->close[cute->n - 1]++;
  }
  return TESELA_OK;
}
