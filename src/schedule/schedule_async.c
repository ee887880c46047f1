/* SPDX-License-Identifier: Apache-2.0 */
/*
 * schedule_async.c - a computation that runs beside others: from its `call-start` or `async-start` to the `-done`.
 *
 * It is put before its start, as that of a `call` is. It may run until the `-done`: up to there all of its values live, and what it
 * writes in place may wait for it.
 */
#include "schedule/schedule.h"

bool tesela__schedule_async_begin(tesela__schedule *s, int32_t start) {
  if (!tesela__schedule_room(s, &s->async, sizeof *s->async, &s->cap_asyncs, s->n_asyncs, 1,
                             TESELA__SCHEDULE_STEPS))
    return false;
  if (!s->broken)
    s->async[s->n_asyncs++] = (tesela__schedule_async){
        .start = start, .value = (int32_t)s->n_values, .pair = (int32_t)s->n_pairs, .end_value = -1};
  return true;
}

/* The last one of a start, or NULL. */
static tesela__schedule_async *schedule_find_async(tesela__schedule *s, int32_t start) {
  for (size_t i = s->n_asyncs; i-- > 0; s->work++)
    if (s->async[i].start == start) return &s->async[i];
  return NULL;
}

void tesela__schedule_async_end(tesela__schedule *s, int32_t start) {
  tesela__schedule_async *is = schedule_find_async(s, start);
  is->end_value = (int32_t)s->n_values;
  is->end_pair = (int32_t)s->n_pairs;
}

void tesela__schedule_async_done(tesela__schedule *s, int32_t start) {
  int32_t now = (int32_t)s->n_instants;
  while (s->instruction[start].op == TESELA__OP_VIEW) /* ...-update */
    start = s->operand[s->instruction[start].operand];
  if (!tesela__schedule_is_async(&s->instruction[start])) return;
  tesela__schedule_async *is = schedule_find_async(s, start);
  if (!is || is->end_value < 0) return;
  tesela__schedule_pairs_wait(s, is->pair, is->end_pair, now);
  s->work += is->end_value - is->value;
  for (int32_t i = is->value; i < is->end_value; i++) {
    tesela__schedule_value *value = &s->value[tesela__schedule_same(s, i)];
    value->to = (int32_t)tesela__max(value->to, now);
  }
  *is = s->async[--s->n_asyncs];
}
