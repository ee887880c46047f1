/* SPDX-License-Identifier: Apache-2.0 */
/*
 * triton_register.c - blocked layouts, and operands of a dot that have them.
 *
 * Source: TritonGPUAttrDefs.td of Triton 3.9, blocked_encoding and dot_op.
 */
#include "notation/triton/triton.h"

void tesela__triton_blocked(const tesela__triton *of, const int64_t *shape, tesela__triton_bits *bits) {
  static const struct {
    tesela__triton_in in;
    tesela__triton_list list;
  } level[] = {{TESELA__TRITON_REGISTER, TESELA__TRITON_SIZE_PER_THREAD},
               {TESELA__TRITON_LANE, TESELA__TRITON_THREADS_PER_WARP},
               {TESELA__TRITON_WARP, TESELA__TRITON_WARPS_PER_CTA}};
  const int64_t *order = of->list[TESELA__TRITON_ORDER];
  int32_t inner = of->operand < 0 ? -1 : of->rank - 1 - of->operand; /* the dim that the dot sums over */
  for (int32_t l = 0; l < 3; l++)
    for (int32_t i = 0; i < of->rank; i++) {
      int32_t d = (int32_t)order[i];
      int64_t count = of->list[level[l].list][d];
      if (d != inner)
        tesela__triton_push(bits, level[l].in, d, count);
      else if (l == 0)
        tesela__triton_push(bits, level[l].in, d, shape[d]); /* every thread has all of it */
      else
        tesela__triton_zeros(bits, level[l].in, count);
    }
  tesela__triton_finish(bits, of, shape, order, inner);
  if (inner < 0) tesela__triton_drop_copies(bits, 0);
}
