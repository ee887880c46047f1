/* SPDX-License-Identifier: Apache-2.0 */
/*
 * bits_loops.c - the runs of a tile of elements below 8 bits: the loops that continue each other on a side.
 */
#include "relayout/solve.h"

/* The loop of the longest values that continues `step` bits of a side and is not in `seen`; or -1. */
int32_t tesela__bits_continuing(const tesela__box *box, bool src, uint64_t seen, int64_t step) {
  int32_t found = -1;
  for (int32_t i = 0; i < box->n_loops; i++) {
    const tesela__loop *l = &box->loop[i];
    if (seen >> i & 1 || (src ? l->ss : l->ds) != step) continue;
    if (found < 0 || l->n > box->loop[found].n) found = i;
  }
  return found;
}

/* A loop whose elements are near each other in src, whole elements of `bits` apart, so that what is between them is read, too; or -1. */
int32_t tesela__bits_near(const tesela__box *box, uint64_t seen, int64_t step, int32_t bits) {
  const int64_t most = step < TESELA__BITS_FEW ? TESELA__BITS_NEAR : TESELA__BITS_TIMES * step;
  int32_t found = -1;
  for (int32_t i = 0; i < box->n_loops; i++) {
    const int64_t ss = box->loop[i].ss;
    if (!(seen >> i & 1) && ss > step && ss <= most && ss % bits == 0 &&
        (found < 0 || ss < box->loop[found].ss))
      found = i;
  }
  return found;
}

void tesela__bits_find_run(const tesela__bits_fit *fit, bool src, tesela__bits_run *run) {
  uint64_t seen = fit->one | fit->of[src ? 1 : 0]; /* of blocks: and the loops of the other side's run */
  int64_t step = 1, between = 0;
  run->n = 0;
  run->elements = 1;
  for (;;) {
    if (!src && fit->padding && step == fit->row) run->elements = step += fit->padding;
    if (src && fit->gap && step == fit->row) {
      step += fit->gap;
      between = fit->unread;
      run->elements = step - between;
    }
    int32_t i = run->next = tesela__bits_continuing(fit->box, src, seen, step * fit->bits);
    if (i < 0 && src && fit->near && between == 0) {
      i = run->next = tesela__bits_near(fit->box, seen, step * fit->bits, fit->bits);
      if (i >= 0) between = fit->box->loop[i].ss / fit->bits - step;
      step += between;
    }
    if (i < 0) return;
    if (fit->blocks && fit->chunk[i] > 1 && !(fit->of[src ? 0 : 1] >> i & 1)) {
      run->next = -1; /* the tile has that loop for itself */
      return;
    }
    seen |= (uint64_t)1 << i;
    if (fit->chunk[i] > 1) {
      run->loop[run->n] = i;
      run->unit[run->n++] = step;
      run->elements = step * fit->chunk[i] - between;
    }
    if (fit->chunk[i] < fit->box->loop[i].n) return;
    step *= fit->box->loop[i].n;
  }
}

int64_t tesela__bits_row(const tesela__box *box, int32_t bits, bool src, uint64_t *loops) {
  int64_t step = bits;
  *loops = 0;
  for (int32_t i; (i = tesela__bits_continuing(box, src, *loops, step)) >= 0; step *= box->loop[i].n)
    *loops |= (uint64_t)1 << i;
  return step;
}

tesela__bits_loop tesela__bits_loop_of(const tesela__bits_fit *fit, int32_t i, bool src, int64_t buffer) {
  const tesela__loop *l = &fit->box->loop[i];
  tesela__bits_loop loop = {fit->chunk[i], src ? l->ss : l->ds, buffer, -1};
  for (int32_t c = 0; c < fit->n_cuts; c++)
    if (fit->cut[c] == i) loop.cut = c;
  return loop;
}
