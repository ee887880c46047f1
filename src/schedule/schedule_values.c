/* SPDX-License-Identifier: Apache-2.0 */
/*
 * schedule_values.c - values: made, used, paired.
 */
#include "schedule/schedule.h"

bool tesela__schedule_define(tesela__schedule *s, int32_t place, int32_t instruction, int32_t node,
                             tesela__value_role role) {
  const tesela__schedule_node *is = &tesela__schedule_nodes(s, &s->instruction[instruction])[node];
  int32_t now = (int32_t)s->n_instants, number = (int32_t)s->n_values;
  if (is->kind == TESELA__NODE_UNKNOWN)
    return tesela__schedule_break(s, s->instruction[instruction].line, "an array has no size");
  if (!tesela__schedule_room(s, &s->value, sizeof *s->value, &s->cap_values, s->n_values, 1,
                             TESELA__SCHEDULE_STEPS))
    return false;
  if (s->broken) return true;
  if (is->kind == TESELA__NODE_TABLE && role != TESELA__VALUE_PASSED) role = TESELA__VALUE_TABLE;
  s->value[s->n_values++] = (tesela__schedule_value){.bytes = is->bytes,
                                                     .from = now,
                                                     .to = now,
                                                     .same = number,
                                                     .buffer = number,
                                                     .instruction = instruction,
                                                     .node = node,
                                                     .space = is->space,
                                                     .role = (uint8_t)role};
  s->env[place] = number;
  return true;
}

void tesela__schedule_use(tesela__schedule *s, int32_t place, int32_t n, int32_t at) {
  s->work += n;
  if (s->work > s->most_work) {
    tesela__schedule_break(s, 0, "its computations run too often");
    return;
  }
  for (int32_t i = place; i < place + n; i++) {
    tesela__schedule_value *value = &s->value[tesela__schedule_same(s, s->env[i])];
    if (value->to < at) value->to = at;
  }
}

bool tesela__schedule_pair_up(tesela__schedule *s, int32_t a, int32_t b, int32_t at, bool dying) {
  if (!tesela__schedule_room(s, &s->pair, sizeof *s->pair, &s->cap_pairs, s->n_pairs, 1,
                             TESELA__SCHEDULE_STEPS))
    return false;
  if (!s->broken) s->pair[s->n_pairs++] = (tesela__schedule_pair){a, b, at, dying};
  return true;
}
