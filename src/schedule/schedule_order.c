/* SPDX-License-Identifier: Apache-2.0 */
/*
 * schedule_order.c - the instructions of each computation in an order of their own: each after its operands, the first of these first.
 *
 * XLA's allocator takes arrays of equal size in this order, which is not that of the schedule.
 */
#include "schedule/schedule.h"

enum {
  SCHEDULE_UNUSED = -1,
  SCHEDULE_USED = -2,
  SCHEDULE_OPEN = -3
}; /* places of those that have none yet */

/* Give places to an instruction and to all that it needs; `stack` has room for all operands. */
static void schedule_place_from(const tesela__schedule *s, int32_t root, int32_t *place, int32_t *stack,
                                int32_t *next) {
  size_t n = 0;
  stack[n++] = root;
  while (n > 0) {
    int32_t top = stack[n - 1];
    if (place[top] == SCHEDULE_OPEN) place[top] = (*next)++;
    if (place[top] >= 0) {
      n--;
      continue;
    }
    place[top] = SCHEDULE_OPEN;
    const tesela__schedule_instruction *is = &s->instruction[top];
    for (int32_t i = is->n_operands; i-- > 0;) {
      int32_t operand = s->operand[is->operand + i];
      if (place[operand] < 0) stack[n++] = operand;
    }
  }
}

int32_t *tesela__schedule_post_order(const tesela__schedule *s) {
  int32_t next = 0;
  int32_t *place = tesela__alloc(&s->memory, (s->n_instructions + 1) * sizeof *place, alignof(int32_t));
  int32_t *stack = tesela__alloc(&s->memory, (s->n_operands + 1) * sizeof *stack, alignof(int32_t));
  if (place && stack) {
    for (size_t i = 0; i < s->n_instructions; i++) place[i] = SCHEDULE_UNUSED;
    for (size_t i = 0; i < s->n_operands; i++) place[s->operand[i]] = SCHEDULE_USED;
    for (size_t i = 0; i < s->n_instructions; i++)
      if (place[i] == SCHEDULE_UNUSED) schedule_place_from(s, (int32_t)i, place, stack, &next);
  } else {
    tesela__release(&s->memory, place);
    place = NULL;
  }
  tesela__release(&s->memory, stack);
  return place;
}
