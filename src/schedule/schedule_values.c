/* SPDX-License-Identifier: Apache-2.0 */
/*
 * schedule_values.c - values: made, used, paired.
 */
#include "schedule/schedule.h"

/* Value `is` starts to live, in the next place of the list. */
static bool schedule_new_value(tesela__schedule *s, int32_t place, tesela__schedule_value is) {
  if (!tesela__schedule_room(s, &s->value, sizeof *s->value, &s->cap_values, s->n_values, 1,
                             TESELA__SCHEDULE_STEPS))
    return false;
  if (s->broken) return true;
  is.from = is.to = (int32_t)s->n_instants;
  is.same = is.buffer = s->env[place] = (int32_t)s->n_values;
  s->value[s->n_values++] = is;
  return true;
}

bool tesela__schedule_define(tesela__schedule *s, int32_t place, int32_t instruction, int32_t node,
                             tesela__value_role role) {
  const tesela__schedule_node *is = &tesela__schedule_nodes(s, &s->instruction[instruction])[node];
  if (is->kind == TESELA__NODE_UNKNOWN)
    return tesela__schedule_break(s, s->instruction[instruction].line, "an array has no size");
  if (is->kind == TESELA__NODE_TABLE && role != TESELA__VALUE_PASSED) role = TESELA__VALUE_TABLE;
  return schedule_new_value(s, place,
                            (tesela__schedule_value){.bytes = is->bytes,
                                                     .instruction = instruction,
                                                     .node = node,
                                                     .space = is->space,
                                                     .role = (uint8_t)role});
}

bool tesela__schedule_define_in_branch(tesela__schedule *s, int32_t place) {
  int32_t outer = tesela__schedule_same(s, s->env[place]), branch = (int32_t)s->n_values;
  tesela__schedule_value is = s->value[outer];
  if (is.role == TESELA__VALUE_TABLE || is.space == 0) return true;
  int32_t at = is.to; /* when the conditional began */
  is.role = TESELA__VALUE_PASSED;
  return schedule_new_value(s, place, is) &&
         (s->broken || tesela__schedule_pair_up(s, outer, branch, at, TESELA__PAIR_BRANCH));
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

bool tesela__schedule_pair_up(tesela__schedule *s, int32_t a, int32_t b, int32_t at, tesela__pair_kind kind) {
  if (!tesela__schedule_room(s, &s->pair, sizeof *s->pair, &s->cap_pairs, s->n_pairs, 1,
                             TESELA__SCHEDULE_STEPS))
    return false;
  if (!s->broken) s->pair[s->n_pairs++] = (tesela__schedule_pair){a, b, at, (uint8_t)kind};
  return true;
}

/* ---- pairs that wait --------------------------------------------------------------------------------------- */

enum { SCHEDULE_PAIRS = 16 }; /* looked at in the time of a place */

void tesela__schedule_pairs_wait(tesela__schedule *s, int32_t from, int32_t end, int32_t until) {
  s->work += (end - from) / SCHEDULE_PAIRS;
  for (int32_t i = from; i < end; i++) {
    tesela__schedule_pair *pair = &s->pair[i];
    if (pair->kind == TESELA__PAIR_ALIAS && s->value[tesela__schedule_same(s, pair->a)].to <= pair->at)
      pair->at = (int32_t)tesela__max(pair->at, until);
  }
}

void tesela__schedule_pairs_after_branches(tesela__schedule *s, int32_t from) {
  s->work += ((int64_t)s->n_pairs - from) / SCHEDULE_PAIRS;
  for (size_t i = (size_t)from; i < s->n_pairs; i++)
    if (s->pair[i].at == TESELA__SCHEDULE_AFTER_BRANCHES) s->pair[i].at = (int32_t)s->n_instants;
}
