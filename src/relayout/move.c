/* SPDX-License-Identifier: Apache-2.0 */
/*
 * move.c - move elements one by one, at fixed distances, with or without a conversion.
 */
#include "relayout/tile.h"

enum { MOVE_AT_A_TIME = 64 };

static tesela__rows_fn *strided_kernel(int32_t bits, unsigned isa) {
  const tesela__kernel *kernel = bits >= 8 ? tesela__kernel_find(TESELA__K_STRIDED, bits / 8, 0, isa)
                                           : tesela__kernel_find(TESELA__K_STRIDED_BITS, bits, 0, isa);
  return (tesela__rows_fn *)kernel->fn;
}

tesela__mover tesela__mover_of(const tesela_plan *plan) {
  tesela__mover mover = {.ws = plan->src.bits, .wd = plan->dst.bits};
  mover.take = strided_kernel(mover.ws, plan->isa);
  mover.put = strided_kernel(mover.wd, plan->isa);
  if (plan->conversion)
    mover.convert =
        (tesela__convert_fn *)tesela__kernel_find(TESELA__K_CONVERT, (int32_t)plan->conversion, 0, plan->isa)
            ->fn;
  return mover;
}

static void move_plain(tesela__rows_fn *fn, int32_t bits, int64_t n, unsigned char *dst, int64_t dst_bit,
                       int64_t dst_pitch, const unsigned char *src, int64_t src_bit, int64_t src_pitch) {
  int64_t unit = bits >= 8 ? 8 : 1;
  tesela__rows rows = {.n = n, .src_pitch = src_pitch / unit, .dst_pitch = dst_pitch / unit};
  dst_bit /= unit;
  src_bit /= unit;
  fn(&rows, dst, &dst_bit, src, &src_bit, 1);
}

void tesela__move(const tesela__mover *mover, int64_t n, unsigned char *dst, int64_t dst_bit,
                  int64_t dst_pitch, const unsigned char *src, int64_t src_bit, int64_t src_pitch) {
  if (!mover->convert) {
    move_plain(mover->take, mover->ws, n, dst, dst_bit, dst_pitch, src, src_bit, src_pitch);
    return;
  }
  unsigned char in[MOVE_AT_A_TIME * 16] = {0}, out[MOVE_AT_A_TIME * 16];
  for (int64_t i = 0; i < n; i += MOVE_AT_A_TIME) {
    int64_t m = tesela__min(MOVE_AT_A_TIME, n - i);
    memset(out, 0, (size_t)(m * mover->wd + 7) / 8);
    move_plain(mover->take, mover->ws, m, in, 0, mover->ws, src, src_bit + i * src_pitch, src_pitch);
    mover->convert(out, in, m);
    move_plain(mover->put, mover->wd, m, dst, dst_bit + i * dst_pitch, dst_pitch, out, 0, mover->wd);
  }
}
