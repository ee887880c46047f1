/* SPDX-License-Identifier: Apache-2.0 */
/*
 * schedule_walk.c - all computations in the order in which they run, from the entry computation on.
 *
 * Each instruction has places in `env`, one for each node of its shape, with the value that is there. Those of a computation are
 * above those of its caller, and free when it ends. A computation that several call runs for each of them.
 */
#include "schedule/schedule.h"

/* ---- places and instants ----------------------------------------------------------------------------------------------- */

static bool schedule_env_room(tesela__schedule *s, int32_t more) {
  return tesela__schedule_room(s, &s->env, sizeof *s->env, &s->cap_env, s->n_env, (size_t)more,
                               TESELA__SCHEDULE_STEPS);
}

static bool schedule_next_instant(tesela__schedule *s, int32_t instruction) {
  if (!tesela__schedule_room(s, &s->instant, sizeof *s->instant, &s->cap_instants, s->n_instants, 1,
                             TESELA__SCHEDULE_STEPS))
    return false;
  if (!s->broken) s->instant[s->n_instants++] = instruction;
  return true;
}

/* ---- frames ----------------------------------------------------------------------------------------------- */

static const tesela__schedule_instruction *
schedule_operand(const tesela__schedule *s, const tesela__schedule_instruction *is, int32_t number) {
  return &s->instruction[s->operand[is->operand + number]];
}

static bool schedule_push(tesela__schedule *s, int32_t computation, int32_t caller) {
  tesela__schedule_computation *c = &s->computation[computation];
  if (c->active) return tesela__schedule_break(s, 0, "computations call each other in a circle");
  if (!schedule_env_room(s, c->n_nodes) ||
      !tesela__schedule_room(s, &s->frame, sizeof *s->frame, &s->cap_frames, s->n_frames, 1,
                             TESELA__SCHEDULE_MOST))
    return false;
  if (s->broken) return true;
  s->frame[s->n_frames++] =
      (tesela__schedule_frame){.computation = computation, .env = (int32_t)s->n_env, .caller = caller};
  s->n_env += (size_t)c->n_nodes;
  c->active = true;
  return true;
}

/* Where the values of parameter `number` of the top frame are, and how many; -1: the caller does not give it. */
static int32_t schedule_argument(const tesela__schedule *s, int32_t number, int32_t *n) {
  const tesela__schedule_frame *top = &s->frame[s->n_frames - 1], *below = top - 1;
  const tesela__schedule_instruction *caller = &s->instruction[top->caller];
  int32_t operand = number;
  bool all = caller->op == TESELA__OP_CALL || caller->op == TESELA__OP_START; /* operands are parameters */
  if (!all && number != 0) return -1;
  if (caller->op == TESELA__OP_CONDITIONAL) operand = below->stage;
  if (operand >= caller->n_operands) return -1;
  const tesela__schedule_instruction *is = schedule_operand(s, caller, operand);
  *n = tesela__schedule_n_nodes(s, is);
  return all ? below->env + is->env : below->parameters;
}

static bool schedule_parameter(tesela__schedule *s, int32_t instruction) {
  const tesela__schedule_frame *top = &s->frame[s->n_frames - 1];
  const tesela__schedule_instruction *is = &s->instruction[instruction];
  int32_t n = tesela__schedule_n_nodes(s, is), place = top->env + is->env, given = -1;
  if (top->caller < 0) {
    for (int32_t i = 0; i < n; i++)
      if (!tesela__schedule_define(s, place + i, instruction, i, TESELA__VALUE_ARGUMENT)) return false;
    return true;
  }
  int32_t from = schedule_argument(s, is->number, &given);
  if (from < 0 || given != n)
    return tesela__schedule_break(s, is->line, "a parameter does not fit the operand that it gets");
  memmove(s->env + place, s->env + from, (size_t)n * sizeof *s->env);
  return true;
}

/* ---- loops ------------------------------------------------------------------------------------------------ */

/* The loop's parameter: its own values, in places above those of the computation; its tables are those of the operand. */
static bool schedule_loop_begin(tesela__schedule *s, int32_t instruction) {
  tesela__schedule_frame *top = &s->frame[s->n_frames - 1];
  const tesela__schedule_instruction *is = &s->instruction[instruction], *init = schedule_operand(s, is, 0);
  int32_t n = tesela__schedule_n_nodes(s, is), from = top->env + init->env, now = (int32_t)s->n_instants;
  if (tesela__schedule_n_nodes(s, init) != n)
    return tesela__schedule_break(s, is->line, "a loop's operand does not fit its result");
  if (!schedule_env_room(s, n)) return false;
  if (s->broken) return true;
  tesela__schedule_use(s, from, n, now);
  int32_t place = top->parameters = (int32_t)s->n_env;
  s->n_env += (size_t)n;
  for (int32_t i = 0; i < n && !s->broken; i++) {
    s->env[place + i] = s->env[from + i];
    if (tesela__schedule_nodes(s, is)[i].kind != TESELA__NODE_TABLE &&
        !tesela__schedule_define(s, place + i, instruction, i, TESELA__VALUE_PASSED))
      return false;
  }
  return true;
}

/* Node i of a loop whose body has ended: what the loop carries unchanged is the operand itself, all else shares a buffer. */
static bool schedule_loop_node(tesela__schedule *s, int32_t instruction, int32_t i, int32_t root) {
  tesela__schedule_frame *top = &s->frame[s->n_frames - 1];
  const tesela__schedule_instruction *is = &s->instruction[instruction];
  int32_t result = top->env + is->env + i, now = (int32_t)s->n_instants;
  int32_t init = tesela__schedule_same(s, s->env[top->env + schedule_operand(s, is, 0)->env + i]);
  int32_t parameter = tesela__schedule_same(s, s->env[top->parameters + i]);
  int32_t last = tesela__schedule_same(s, s->env[root + i]);
  if (tesela__schedule_nodes(s, is)[i].kind == TESELA__NODE_TABLE) {
    s->env[result] = init;
    return tesela__schedule_pair_up(s, init, last, INT32_MAX,
                                    TESELA__PAIR_ALIAS); /* one table, whenever it is written */
  }
  if (last == parameter) {
    tesela__schedule_value *kept = &s->value[init];
    s->value[parameter].same = init;
    kept->to = (int32_t)tesela__max(now, tesela__max(kept->to, s->value[parameter].to));
    s->env[result] = init;
    return true;
  }
  tesela__schedule_value *final = &s->value[last];
  if (final->to < now) final->to = now;
  return tesela__schedule_define(s, result, instruction, i, TESELA__VALUE_PASSED) &&
         (s->broken ||
          (tesela__schedule_pair_up(s, init, parameter, s->value[parameter].from, TESELA__PAIR_ALIAS) &&
           tesela__schedule_pair_up(s, parameter, last, s->value[last].from, TESELA__PAIR_ALIAS) &&
           tesela__schedule_pair_up(s, last, s->env[result], now, TESELA__PAIR_ALIAS)));
}

/* ---- branches --------------------------------------------------------------------------------------------- */

/* What the next branch gets: its own values, in places above those of the computation. */
static bool schedule_branch_begin(tesela__schedule *s, int32_t instruction) {
  tesela__schedule_frame *top = &s->frame[s->n_frames - 1];
  const tesela__schedule_instruction *is = &s->instruction[instruction],
                                     *operand = schedule_operand(s, is, top->stage + 1);
  int32_t n = tesela__schedule_n_nodes(s, operand), from = top->env + operand->env;
  if (top->stage == 0) {
    top->parameters = (int32_t)s->n_env;
    top->pairs = (int32_t)s->n_pairs;
  }
  top->branch_pairs = (int32_t)s->n_pairs;
  s->n_env = (size_t)top->parameters;
  if (!schedule_env_room(s, n)) return false;
  if (s->broken) return true;
  s->n_env += (size_t)n;
  memmove(s->env + top->parameters, s->env + from, (size_t)n * sizeof *s->env);
  s->work += n;
  for (int32_t i = 0; i < n && !s->broken; i++)
    if (!tesela__schedule_define_in_branch(s, top->parameters + i)) return false;
  return true;
}

/* A branch ended whose result is at `root`: the memory is that of the first branch's, whose values wait in the places of the
 * conditional. */
static bool schedule_branch_end(tesela__schedule *s, int32_t instruction, int32_t root) {
  const tesela__schedule_frame *top = &s->frame[s->n_frames - 1];
  const tesela__schedule_instruction *is = &s->instruction[instruction];
  int32_t n = tesela__schedule_n_nodes(s, is), place = top->env + is->env;
  tesela__schedule_use(s, root, n, (int32_t)s->n_instants - 1);
  tesela__schedule_pairs_wait(s, top->branch_pairs, (int32_t)s->n_pairs, TESELA__SCHEDULE_AFTER_BRANCHES);
  if (top->stage == 1) {
    memmove(s->env + place, s->env + root, (size_t)n * sizeof *s->env);
    return true;
  }
  for (int32_t i = 0; i < n && !s->broken; i++) {
    int32_t value = tesela__schedule_same(s, s->env[root + i]);
    if (!tesela__schedule_pair_up(s, s->env[place + i], value, s->value[value].from, TESELA__PAIR_ALIAS))
      return false;
  }
  return true;
}

/* All branches ended: the result has its own values, in the memory of the first branch's. */
static bool schedule_branches_end(tesela__schedule *s, int32_t instruction) {
  const tesela__schedule_frame *top = &s->frame[s->n_frames - 1];
  const tesela__schedule_instruction *is = &s->instruction[instruction];
  int32_t n = tesela__schedule_n_nodes(s, is), place = top->env + is->env, now = (int32_t)s->n_instants;
  tesela__schedule_pairs_after_branches(s, top->pairs);
  /* what the branches got in the main memory stays to their end */
  for (int32_t o = 1; o < is->n_operands; o++) {
    const tesela__schedule_instruction *operand = schedule_operand(s, is, o);
    for (int32_t i = 0; i < tesela__schedule_n_nodes(s, operand); i++) {
      int32_t at = top->env + operand->env + i;
      if (s->value[tesela__schedule_same(s, s->env[at])].space == 0) tesela__schedule_use(s, at, 1, now);
    }
  }
  for (int32_t i = 0; i < n && !s->broken; i++) {
    int32_t first = s->env[place + i];
    if (!tesela__schedule_define(s, place + i, instruction, i, TESELA__VALUE_PASSED)) return false;
    if (!s->broken && !tesela__schedule_pair_up(s, first, s->env[place + i], now, TESELA__PAIR_ALIAS))
      return false;
  }
  return true;
}

/* ---- calls ------------------------------------------------------------------------------------------------ */

static bool schedule_is_call(const tesela__schedule_instruction *is) {
  return is->op == TESELA__OP_WHILE || is->op == TESELA__OP_CONDITIONAL || is->op == TESELA__OP_CALL ||
         tesela__schedule_is_async(is);
}

/* Run the next computation that the next instruction of the top frame calls; false in *more: all have run. */
static bool schedule_call(tesela__schedule *s, bool *more) {
  tesela__schedule_frame *top = &s->frame[s->n_frames - 1];
  int32_t instruction = s->computation[top->computation].first + top->next;
  const tesela__schedule_instruction *is = &s->instruction[instruction];
  *more = top->stage < is->n_callees;
  if (!*more) return true;
  if (top->stage == 0) {
    if (is->op == TESELA__OP_WHILE && !schedule_loop_begin(s, instruction)) return false;
    if (is->op == TESELA__OP_START && !tesela__schedule_async_begin(s, instruction)) return false;
    for (int32_t i = 0; is->op == TESELA__OP_CONDITIONAL && i < is->n_operands && !s->broken; i++)
      tesela__schedule_use(s, top->env + schedule_operand(s, is, i)->env,
                           tesela__schedule_n_nodes(s, schedule_operand(s, is, i)), (int32_t)s->n_instants);
    if (s->broken) return true;
  }
  if (is->op == TESELA__OP_CONDITIONAL && !schedule_branch_begin(s, instruction)) return false;
  if (s->broken) return true;
  int32_t callee = (int32_t)s->callee[is->callee + top->stage++];
  return schedule_push(s, callee, instruction);
}

/* The top frame has run: give its root to its caller. */
static bool schedule_return(tesela__schedule *s) {
  tesela__schedule_frame done = s->frame[--s->n_frames], *top = &s->frame[s->n_frames - 1];
  tesela__schedule_computation *c = &s->computation[done.computation];
  const tesela__schedule_instruction *root = &s->instruction[c->root], *is = &s->instruction[done.caller];
  int32_t from = done.env + root->env, n = tesela__schedule_n_nodes(s, is), place = top->env + is->env;
  c->active = false;
  s->n_env = (size_t)done.env;
  bool condition = is->op == TESELA__OP_WHILE && top->stage == 1;
  if (condition) {
    tesela__schedule_use(s, from, 1, (int32_t)s->n_instants);
    return true;
  }
  if (is->op == TESELA__OP_START) {
    int32_t first = tesela__schedule_member(s, &s->shape[is->shape], 1);
    place += first;
    n = first < 0 ? -1 : tesela__schedule_nodes(s, is)[first].n;
    tesela__schedule_async_end(s, done.caller);
  }
  if (tesela__schedule_n_nodes(s, root) != n)
    return tesela__schedule_break(s, is->line, "the result of a computation does not fit its caller's");
  if (is->op == TESELA__OP_CONDITIONAL) return schedule_branch_end(s, done.caller, from);
  if (is->op == TESELA__OP_CALL || is->op == TESELA__OP_START) {
    memmove(s->env + place, s->env + from, (size_t)n * sizeof *s->env);
    return true;
  }
  for (int32_t i = 0; i < n && !s->broken; i++)
    if (!schedule_loop_node(s, done.caller, i, from)) return false;
  return true;
}

/* ---- the walk --------------------------------------------------------------------------------------------- */

static bool schedule_step(tesela__schedule *s) {
  tesela__schedule_frame *top = &s->frame[s->n_frames - 1];
  const tesela__schedule_computation *c = &s->computation[top->computation];
  int32_t instruction = c->first + top->next;
  const tesela__schedule_instruction *is = &s->instruction[instruction];
  s->work += tesela__schedule_n_nodes(s, is);
  if (schedule_is_call(is)) {
    bool more;
    if (!schedule_call(s, &more)) return false;
    if (more) return true;
    if (is->op == TESELA__OP_WHILE || is->op == TESELA__OP_CONDITIONAL) s->n_env = (size_t)top->parameters;
    if (is->op == TESELA__OP_CONDITIONAL && !schedule_branches_end(s, instruction)) return false;
    if (is->op == TESELA__OP_START && !tesela__schedule_result(s, instruction, top->env)) return false;
  } else if (is->op == TESELA__OP_PARAMETER) {
    if (!schedule_parameter(s, instruction)) return false;
  } else if (!tesela__schedule_result(s, instruction, top->env)) {
    return false;
  }
  top->next++;
  top->stage = 0;
  return s->broken || schedule_next_instant(s, instruction);
}

/* The results of the program live to its end. */
static void schedule_mark_outputs(tesela__schedule *s) {
  const tesela__schedule_instruction *root = &s->instruction[s->computation[s->entry].root];
  tesela__schedule_use(s, root->env, tesela__schedule_n_nodes(s, root), (int32_t)s->n_instants - 1);
  for (int32_t i = 0; i < tesela__schedule_n_nodes(s, root); i++)
    s->value[tesela__schedule_same(s, s->env[root->env + i])].output = true;
}

/* A computation that several call runs for each: a text of some lines can say so 2^30 times. */
static void schedule_limit_work(tesela__schedule *s) {
  enum { TIMES = 64, LEAST = 1 << 22 };
  s->most_work = LEAST;
  for (size_t i = 0; i < s->n_computations; i++) s->most_work += TIMES * (int64_t)s->computation[i].n_nodes;
}

bool tesela__schedule_walk(tesela__schedule *s) {
  schedule_limit_work(s);
  if (!schedule_push(s, s->entry, -1)) return false;
  while (!s->broken) {
    if (s->work > s->most_work) return tesela__schedule_break(s, 0, "its computations run too often");
    const tesela__schedule_frame *top = &s->frame[s->n_frames - 1];
    if (top->next < s->computation[top->computation].n) {
      if (!schedule_step(s)) return false;
    } else if (s->n_frames > 1) {
      if (!schedule_return(s)) return false;
    } else {
      schedule_mark_outputs(s);
      return true;
    }
  }
  return true;
}
