/* SPDX-License-Identifier: Apache-2.0 */
/*
 * schedule_results.c - the values at the places of an instruction that calls no computation: new ones, or those of its operands.
 */
#include "schedule/schedule.h"

typedef struct schedule_now { /* the instruction that runs */
  int32_t instruction, env, place, n;
  const tesela__schedule_instruction *is;
} schedule_now;

static const tesela__schedule_instruction *schedule_given(const tesela__schedule *s, const schedule_now *now,
                                                          int32_t i) {
  return &s->instruction[s->operand[now->is->operand + i]];
}

static void schedule_use_operands(tesela__schedule *s, const schedule_now *now) {
  int32_t at = (int32_t)s->n_instants -
               (now->is->op == TESELA__OP_CONCAT); /* until the result is there in their place */
  for (int32_t i = 0; i < now->is->n_operands; i++) {
    const tesela__schedule_instruction *operand = schedule_given(s, now, i);
    tesela__schedule_use(s, now->env + operand->env, tesela__schedule_n_nodes(s, operand), at);
  }
}

/* New values at nodes first <= i < end. */
static bool schedule_new(tesela__schedule *s, const schedule_now *now, int32_t first, int32_t end,
                         tesela__value_role role) {
  for (int32_t i = first; i < end && !s->broken; i++)
    if (!tesela__schedule_define(s, now->place + i, now->instruction, i, role)) return false;
  return true;
}

/* Nodes first <= i < end are the values at `from`. */
static void schedule_pass(tesela__schedule *s, const schedule_now *now, int32_t first, int32_t end,
                          int32_t from) {
  memmove(s->env + now->place + first, s->env + from, (size_t)(end - first) * sizeof *s->env);
}

static bool schedule_unfit(tesela__schedule *s, const schedule_now *now) {
  return tesela__schedule_break(s, now->is->line, "the shape of an instruction does not fit its operands");
}

/* Where member `number` of the result, or of operand 0, starts, and where it ends; false: there is none. */
static bool schedule_member_of(const tesela__schedule *s, const tesela__schedule_instruction *is,
                               int32_t number, int32_t *first, int32_t *end) {
  const tesela__schedule_shape *shape = &s->shape[is->shape];
  *first = tesela__schedule_member(s, shape, number);
  if (*first < 0) return false;
  *end = *first + s->node[shape->first + *first].n;
  return true;
}

/* ---- views ------------------------------------------------------------------------------------------------ */

static bool schedule_tuple(tesela__schedule *s, const schedule_now *now) {
  if (!schedule_new(s, now, 0, 1, TESELA__VALUE_TABLE)) return false;
  int32_t at = 1;
  for (int32_t i = 0; i < now->is->n_operands; i++) {
    const tesela__schedule_instruction *operand = schedule_given(s, now, i);
    int32_t n = tesela__schedule_n_nodes(s, operand);
    if (n > now->n - at) return schedule_unfit(s, now);
    schedule_pass(s, now, at, at + n, now->env + operand->env);
    at += n;
  }
  return at == now->n || schedule_unfit(s, now);
}

/* The whole result is member `number` of operand 0. */
static bool schedule_take(tesela__schedule *s, const schedule_now *now, int32_t number) {
  const tesela__schedule_instruction *operand = schedule_given(s, now, 0);
  int32_t first, end;
  if (!schedule_member_of(s, operand, number, &first, &end) || end - first != now->n)
    return schedule_unfit(s, now);
  schedule_pass(s, now, 0, now->n, now->env + operand->env + first);
  return true;
}

static bool schedule_view(tesela__schedule *s, const schedule_now *now) {
  const tesela__schedule_instruction *operand = schedule_given(s, now, 0);
  if (tesela__schedule_n_nodes(s, operand) != now->n) return schedule_unfit(s, now);
  schedule_pass(s, now, 0, now->n, now->env + operand->env);
  return true;
}

/* ---- asynchronous pairs ----------------------------------------------------------------------------------- */

/* New values after node `end` of a start; the result of a computation that it ran is there already, as member 1. */
static bool schedule_start_rest(tesela__schedule *s, const schedule_now *now, int32_t end) {
  int32_t first, last;
  if (!tesela__schedule_is_async(now->is) || !schedule_member_of(s, now->is, 1, &first, &last))
    first = last = end;
  return schedule_new(s, now, end, first, TESELA__VALUE_TEMPORARY) &&
         schedule_new(s, now, last, now->n, TESELA__VALUE_TEMPORARY);
}

/* Member `number` of a start is its operand, or the list of its operands. */
static bool schedule_start(tesela__schedule *s, const schedule_now *now, int32_t number) {
  int32_t first, end, at;
  if (!tesela__schedule_is_async(now->is)) schedule_use_operands(s, now); /* else its computation does */
  int32_t n_operands = now->is->n_operands;
  bool some = schedule_member_of(s, now->is, number, &first, &end);
  if (!some || (n_operands == 0 && !tesela__schedule_is_async(now->is)))
    return schedule_new(s, now, 0, now->n, TESELA__VALUE_TEMPORARY);
  bool list = tesela__schedule_nodes(s, now->is)[first].kind == TESELA__NODE_TABLE;
  if (n_operands > 0) list = list && tesela__schedule_n_nodes(s, schedule_given(s, now, 0)) != end - first;
  if (!schedule_new(s, now, 0, first, TESELA__VALUE_TEMPORARY)) return false;
  at = first;
  if (list && !schedule_new(s, now, at++, first + 1, TESELA__VALUE_TABLE)) return false;
  for (int32_t i = 0; i < (list ? n_operands : tesela__min(n_operands, 1)) && !s->broken; i++) {
    const tesela__schedule_instruction *operand = schedule_given(s, now, i);
    int32_t n = tesela__schedule_n_nodes(s, operand);
    if (n > end - at) return schedule_unfit(s, now);
    schedule_pass(s, now, at, at + n, now->env + operand->env);
    at += n;
  }
  if (at != end) return schedule_unfit(s, now);
  return schedule_start_rest(s, now, end);
}

static bool schedule_done(tesela__schedule *s, const schedule_now *now, int32_t number) {
  tesela__schedule_async_done(s, s->operand[now->is->operand]);
  schedule_use_operands(s, now);
  const tesela__schedule_instruction *operand = schedule_given(s, now, 0);
  int32_t first, end;
  if (schedule_member_of(s, operand, number, &first, &end) && end - first == now->n)
    return schedule_take(s, now, number);
  if (tesela__schedule_n_nodes(s, operand) == now->n) return schedule_view(s, now);
  return schedule_unfit(s, now);
}

/* (data, token) of a receive: the data of its start. */
static bool schedule_recv_done(tesela__schedule *s, const schedule_now *now) {
  const tesela__schedule_instruction *operand = schedule_given(s, now, 0);
  int32_t from, from_end, first, end;
  schedule_use_operands(s, now);
  if (!schedule_member_of(s, operand, 0, &from, &from_end) ||
      !schedule_member_of(s, now->is, 0, &first, &end) || end - first != from_end - from)
    return schedule_unfit(s, now);
  if (!schedule_new(s, now, 0, first, TESELA__VALUE_TABLE)) return false;
  schedule_pass(s, now, first, end, now->env + operand->env + from);
  return schedule_new(s, now, end, now->n, TESELA__VALUE_TEMPORARY);
}

/* ---- results in the memory of operands -------------------------------------------------------------------- */

/* The place of array `number` of a shape among its nodes, or -1. */
static int32_t schedule_array_at(const tesela__schedule *s, const tesela__schedule_instruction *is,
                                 int32_t number) {
  const tesela__schedule_node *nodes = tesela__schedule_nodes(s, is);
  int32_t n = tesela__schedule_n_nodes(s, is), first, end;
  if (n == 1) return number == 0 ? 0 : -1;
  if (s->shape[is->shape].n_members == n - 1) /* a tuple of arrays */
    return schedule_member_of(s, is, number, &first, &end) ? first : -1;
  for (int32_t i = 0; i < n; i++)
    if (nodes[i].kind != TESELA__NODE_TABLE && number-- == 0) return i;
  return -1;
}

static bool schedule_share(tesela__schedule *s, const schedule_now *now, int32_t operand, int32_t output,
                           tesela__pair_kind kind) {
  if (operand >= now->is->n_operands) return true;
  const tesela__schedule_instruction *given = schedule_given(s, now, operand);
  int32_t at = schedule_array_at(s, now->is, output);
  if (at < 0 || tesela__schedule_n_nodes(s, given) != 1) return true;
  return tesela__schedule_pair_up(s, s->env[now->env + given->env], s->env[now->place + at],
                                  (int32_t)s->n_instants, kind);
}

/* A fusion: what its root overwrites; if the compiler lists no aliases, also what it may share. */
static bool schedule_share_fused(tesela__schedule *s, const schedule_now *now) {
  enum { OUTPUTS = 4, OPERANDS = 32 }; /* tried */
  if (now->is->n_callees != 1) return true;
  const tesela__schedule_computation *fused = &s->computation[s->callee[now->is->callee]];
  const tesela__schedule_reuse *reuse = &s->reuse[fused->reuse];
  for (int32_t i = 0; i < fused->n_reuses && !s->broken; i++)
    if (reuse[i] >= 0 && !schedule_share(s, now, reuse[i], i, TESELA__PAIR_ALIAS)) return false;
  if (now->is->known || !now->is->loop) return true;
  int32_t operands = (int32_t)tesela__min(OPERANDS, tesela__min(now->is->n_operands, fused->n_parameters));
  for (int32_t i = 0; i < fused->n_reuses && i < OUTPUTS; i++)
    for (int32_t o = 0; o < operands && !s->broken; o++)
      if (reuse[i] < 0 && reuse[fused->n_reuses + o] && !schedule_share(s, now, o, i, TESELA__PAIR_DYING))
        return false;
  return true;
}

static bool schedule_ordinary(tesela__schedule *s, const schedule_now *now) {
  schedule_use_operands(s, now);
  if (!schedule_new(s, now, 0, now->n, TESELA__VALUE_TEMPORARY)) return false;
  for (int32_t i = 0; i < now->is->n_aliases && !s->broken; i++) {
    const tesela__schedule_alias *alias = &s->alias[now->is->alias + i];
    if (!schedule_share(s, now, alias->operand, alias->output, TESELA__PAIR_ALIAS)) return false;
  }
  if (s->broken) return true;
  if (now->is->op == TESELA__OP_IN_PLACE) return schedule_share(s, now, 0, 0, TESELA__PAIR_ALIAS);
  if (now->is->op == TESELA__OP_FUSION) return schedule_share_fused(s, now);
  if (now->is->op == TESELA__OP_ELEMENTWISE && !now->is->known)
    for (int32_t o = 0; o < now->is->n_operands && o < 3 && !s->broken; o++)
      if (!schedule_share(s, now, o, 0, TESELA__PAIR_DYING)) return false;
  return true;
}

bool tesela__schedule_result(tesela__schedule *s, int32_t instruction, int32_t env) {
  const tesela__schedule_instruction *is = &s->instruction[instruction];
  schedule_now now = {instruction, env, env + is->env, tesela__schedule_n_nodes(s, is), is};
  switch ((tesela__schedule_op)is->op) {
  case TESELA__OP_VIEW:
    return schedule_view(s, &now);
  case TESELA__OP_TUPLE:
    return schedule_tuple(s, &now);
  case TESELA__OP_MEMBER:
    tesela__schedule_use(s, env + schedule_given(s, &now, 0)->env, 1, (int32_t)s->n_instants);
    return schedule_take(s, &now, is->number);
  case TESELA__OP_CONSTANT:
    return schedule_new(s, &now, 0, now.n, TESELA__VALUE_CONSTANT);
  case TESELA__OP_COPY_START:
    return schedule_start(s, &now, 1);
  case TESELA__OP_START:
  case TESELA__OP_SEND:
    return schedule_start(s, &now, 0);
  case TESELA__OP_DONE:
    return schedule_done(s, &now, 1);
  case TESELA__OP_DONE_FIRST:
    return schedule_done(s, &now, 0);
  case TESELA__OP_RECV_DONE:
    return schedule_recv_done(s, &now);
  case TESELA__OP_ORDINARY:
  case TESELA__OP_ELEMENTWISE:
  case TESELA__OP_IN_PLACE:
  case TESELA__OP_CONCAT:
  case TESELA__OP_FUSION:
  case TESELA__OP_PARAMETER:
  case TESELA__OP_WHILE:
  case TESELA__OP_CONDITIONAL:
  case TESELA__OP_CALL:
    break;
  }
  return schedule_ordinary(s, &now);
}
