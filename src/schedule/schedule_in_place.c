/* SPDX-License-Identifier: Apache-2.0 */
/*
 * schedule_in_place.c - the parameters of a fused computation in whose memory its results are, or can be.
 *
 * An array of the root overwrites a parameter if a chain of operand 0 leads from it to the parameter through bitcasts and at least
 * one instruction that writes in place (dynamic-update-slice, scatter, a fusion that does so). It can share the memory of a parameter
 * if all that is computed from the parameter is elementwise.
 */
#include "schedule/schedule.h"

/* The parameter whose memory an instruction of a fused computation is in; its operands are done. */
static void schedule_trace(tesela__schedule *s, const tesela__schedule_computation *c,
                           tesela__schedule_instruction *is) {
  int32_t through = -1;
  if (is->op == TESELA__OP_PARAMETER) return;
  if (is->op == TESELA__OP_VIEW || is->op == TESELA__OP_IN_PLACE) through = 0;
  if (is->op == TESELA__OP_FUSION && is->n_callees == 1) {
    const tesela__schedule_computation *inner = &s->computation[s->callee[is->callee]];
    if (inner->read && inner->n_reuses == 1) through = s->reuse[inner->reuse];
  }
  if (through < 0 || through >= is->n_operands) return;
  const tesela__schedule_instruction *operand = &s->instruction[s->operand[is->operand + through]];
  if (s->operand[is->operand + through] < c->first || operand->op == TESELA__OP_MEMBER || operand->number < 0)
    return;
  is->number = operand->number;
  is->over = operand->over || is->op != TESELA__OP_VIEW;
}

static bool schedule_add_reuse(tesela__schedule *s, int32_t reuse) {
  if (!tesela__schedule_room(s, &s->reuse, sizeof *s->reuse, &s->cap_reuses, s->n_reuses, 1,
                             TESELA__SCHEDULE_MOST))
    return false;
  if (!s->broken) s->reuse[s->n_reuses++] = reuse;
  return true;
}

/* One number for each array of a member of the root. */
static bool schedule_reuse_of(tesela__schedule *s, const tesela__schedule_instruction *is) {
  const tesela__schedule_node *nodes = tesela__schedule_nodes(s, is);
  int32_t n = tesela__schedule_n_nodes(s, is);
  for (int32_t i = 0; i < n; i++)
    if (nodes[i].kind != TESELA__NODE_TABLE && !schedule_add_reuse(s, n == 1 && is->over ? is->number : -1))
      return false;
  return true;
}

static bool schedule_is_elementwise(const tesela__schedule_instruction *is) {
  return is->op == TESELA__OP_ELEMENTWISE || is->op == TESELA__OP_VIEW || is->op == TESELA__OP_TUPLE;
}

/* Which parameters feed elementwise instructions alone: backwards, whatever feeds another one is tainted. */
static bool schedule_find_shares(tesela__schedule *s, const tesela__schedule_computation *c) {
  bool *tainted = tesela__alloc(&s->memory, (uint64_t)c->n, 1);
  if (!tainted) return false;
  memset(tainted, 0, (size_t)c->n);
  size_t first = s->n_reuses;
  for (int32_t p = 0; p < c->n_parameters && !s->broken; p++)
    if (!schedule_add_reuse(s, 0)) {
      tesela__release(&s->memory, tainted);
      return false;
    }
  for (int32_t i = c->n - 1; i >= 0 && !s->broken; i--) {
    const tesela__schedule_instruction *is = &s->instruction[c->first + i];
    if (is->op == TESELA__OP_PARAMETER) {
      s->reuse[first + (size_t)is->number] = !tainted[i];
      continue;
    }
    if (schedule_is_elementwise(is) && !tainted[i]) continue;
    for (int32_t o = 0; o < is->n_operands; o++) tainted[s->operand[is->operand + o] - c->first] = true;
  }
  tesela__release(&s->memory, tainted);
  return true;
}

static bool schedule_read_reuses(tesela__schedule *s, tesela__schedule_computation *c) {
  if (c->n_parameters > c->n) {
    tesela__schedule_break(s, 0, "a computation lacks parameters");
    return true;
  }
  for (int32_t i = 0; i < c->n; i++) schedule_trace(s, c, &s->instruction[c->first + i]);
  const tesela__schedule_instruction *root = &s->instruction[c->root];
  c->reuse = (int32_t)s->n_reuses;
  bool done = true;
  if (root->op == TESELA__OP_TUPLE)
    for (int32_t o = 0; o < root->n_operands && done; o++)
      done = schedule_reuse_of(s, &s->instruction[s->operand[root->operand + o]]);
  else
    done = schedule_reuse_of(s, root);
  c->n_reuses = (int32_t)s->n_reuses - c->reuse;
  c->read = true;
  return done && schedule_find_shares(s, c);
}

/* Are the fusions of a computation known? */
static bool schedule_can_read(const tesela__schedule *s, const tesela__schedule_computation *c) {
  for (int32_t i = c->first; i < c->first + c->n; i++) {
    const tesela__schedule_instruction *is = &s->instruction[i];
    if (is->op == TESELA__OP_FUSION && is->n_callees == 1 && !s->computation[s->callee[is->callee]].read)
      return false;
  }
  return true;
}

/* Texts put a computation before its callers; one that comes after them is found on the way back. */
bool tesela__schedule_find_reuses(tesela__schedule *s) {
  size_t n = s->n_computations;
  for (size_t i = 0; i < n && !s->broken; i++)
    if (schedule_can_read(s, &s->computation[i]) && !schedule_read_reuses(s, &s->computation[i]))
      return false;
  for (size_t i = n; i-- > 0 && !s->broken;)
    if (!s->computation[i].read && !schedule_read_reuses(s, &s->computation[i])) return false;
  return true;
}
