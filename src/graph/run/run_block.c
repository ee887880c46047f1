/* SPDX-License-Identifier: Apache-2.0 */
/*
 * run_block.c - the blocks of an operator's loops, one after the other.
 */
#include "graph/run/run_operator.h"

bool tesela__run_begin(tesela__run_state *s, int32_t from, int32_t to) {
  for (int32_t l = from; l < to; l++) s->iteration[s->loops.loop[l].dim] = 0;
  for (int32_t l = from; l < to; l++) {
    s->counter[l] = 0;
    s->iteration[s->loops.loop[l].dim] += s->share.start[l] * s->loops.loop[l].step;
    if (s->share.extent[l] == 0) return false;
  }
  return true;
}

bool tesela__run_next(tesela__run_state *s, int32_t from, int32_t to) {
  for (int32_t l = to - 1; l >= from; l--) {
    const tesela_loop *loop = &s->loops.loop[l];
    s->counter[l] += s->most[l];
    s->iteration[loop->dim] += s->most[l] * loop->step;
    if (s->counter[l] < s->share.extent[l]) return true;
    s->iteration[loop->dim] -= s->counter[l] * loop->step;
    s->counter[l] = 0;
  }
  return false;
}

bool tesela__run_inside(tesela__run_state *s, int32_t from, int32_t to) {
  for (int32_t l = from; l < to; l++) {
    const tesela_loop *loop = &s->loops.loop[l];
    int64_t left = s->loops.iteration.extent[loop->dim] - s->iteration[loop->dim];
    if (left <= 0) return false;
    s->count[l] = tesela__min(tesela__min(s->most[l], s->share.extent[l] - s->counter[l]),
                              tesela__ceil_div(left, loop->step));
  }
  return true;
}

tesela__run_line tesela__run_line_of(const tesela__run_state *s, int32_t loop) {
  if (loop < 0) return (tesela__run_line){-1, 0};
  return (tesela__run_line){s->loops.loop[loop].dim, s->loops.loop[loop].step};
}

int64_t tesela__run_count(const tesela__run_state *s, int32_t loop) { return loop < 0 ? 1 : s->count[loop]; }

bool tesela__run_meets(const tesela__run_state *s, int32_t k) {
  const tesela__run_buffer *a = s->result->buffer, *b = s->operand[k].buffer;
  uintptr_t to = (uintptr_t)a->bytes, from = (uintptr_t)b->bytes;
  return to < from + (uintptr_t)(b->places * b->width) && from < to + (uintptr_t)(a->places * a->width);
}

tesela_status tesela__run_no_memory(tesela_error *err) {
  return tesela__fail(err, TESELA_E_MEMORY, -1, "no memory to run an operator");
}
