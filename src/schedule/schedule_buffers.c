/* SPDX-License-Identifier: Apache-2.0 */
/*
 * schedule_buffers.c - values that share memory become buffers.
 *
 * Pairs join in the order of time. An operand that is still used after the instruction that would write over it keeps its memory, and
 * so do constants and arguments that the caller keeps.
 */
#include "schedule/schedule.h"

/* Facts of a buffer, kept at the value that stands for it. */
typedef struct schedule_root {
  int32_t last; /* instant of its last use */
  bool argument, donated, constant;
} schedule_root;

static int32_t schedule_find_root(tesela__schedule *s, int32_t value) {
  tesela__schedule_value *values = s->value;
  value = tesela__schedule_same(s, value);
  while (values[value].buffer != value) {
    values[value].buffer = values[values[value].buffer].buffer;
    value = values[value].buffer;
  }
  return value;
}

static void schedule_merge(tesela__schedule *s, schedule_root *root, int32_t a, int32_t b) {
  s->value[b].buffer = a;
  root[a].last = (int32_t)tesela__max(root[a].last, root[b].last);
  root[a].argument = root[a].argument || root[b].argument;
  root[a].donated = root[a].donated || root[b].donated;
  root[a].constant = root[a].constant || root[b].constant;
}

static bool schedule_keeps(const schedule_root *root) {
  return root->constant || (root->argument && !root->donated);
}

static void schedule_join_pair(tesela__schedule *s, schedule_root *root, const tesela__schedule_pair *pair) {
  int32_t first = tesela__schedule_same(s, pair->a), second = tesela__schedule_same(s, pair->b);
  int32_t a = schedule_find_root(s, first), b = schedule_find_root(s, second);
  tesela__schedule_value *from = &s->value[first], *to = &s->value[second];
  if (pair->kind == TESELA__PAIR_BRANCH && (schedule_keeps(&root[a]) || from->to > pair->at)) {
    to->same = first;
    from->to = (int32_t)tesela__max(from->to, to->to);
    root[a].last = (int32_t)tesela__max(root[a].last, to->to);
    return;
  }
  if (a == b || from->space != to->space || from->to > pair->at) return;
  if (schedule_keeps(&root[a]) || schedule_keeps(&root[b]) || (root[a].argument && root[b].argument)) return;
  if (pair->kind == TESELA__PAIR_DYING &&
      (root[a].last > pair->at || from->bytes != to->bytes || b != second || root[a].argument))
    return;
  schedule_merge(s, root, a, b);
}

/* ---- donated arguments ------------------------------------------------------------------------------------ */

/* The node that a path of members leads to, or -1. */
static int32_t schedule_follow(const tesela__schedule *s, const tesela__schedule_instruction *is,
                               const int32_t *path, int32_t n) {
  const tesela__schedule_node *nodes = tesela__schedule_nodes(s, is);
  int32_t at = n > 0 ? tesela__schedule_member(s, &s->shape[is->shape], path[0]) : 0;
  if (at < 0) return -1;
  for (int32_t i = 1; i < n; i++) {
    int32_t end = at + nodes[at].n, next = at + 1;
    if (nodes[at].kind != TESELA__NODE_TABLE) return -1;
    for (int32_t member = path[i]; member > 0 && next < end; member--) next += nodes[next].n;
    if (next >= end) return -1;
    at = next;
  }
  return nodes[at].kind == TESELA__NODE_ARRAY ? at : -1;
}

/* The parameter instructions of the entry computation, by number. */
static int32_t *schedule_parameters(const tesela__schedule *s) {
  const tesela__schedule_computation *c = &s->computation[s->entry];
  int32_t *list = tesela__alloc(&s->memory, ((uint64_t)c->n_parameters + 1) * sizeof *list, alignof(int32_t));
  if (!list) return NULL;
  for (int32_t i = 0; i < c->n_parameters; i++) list[i] = -1;
  for (int32_t i = c->first; i < c->first + c->n; i++)
    if (s->instruction[i].op == TESELA__OP_PARAMETER) list[s->instruction[i].number] = i;
  return list;
}

/* The values of a donated argument and of the result in its memory, -1 each; `joined`: make them one buffer. */
static bool schedule_donate(tesela__schedule *s, schedule_root *root, bool joined) {
  const tesela__schedule_computation *c = &s->computation[s->entry];
  int32_t *parameter = schedule_parameters(s);
  if (!parameter) return false;
  for (size_t i = 0; i < s->n_donations; i++) {
    const tesela__schedule_donation *is = &s->donation[i];
    if (is->parameter >= c->n_parameters || parameter[is->parameter] < 0) continue;
    const tesela__schedule_instruction *from = &s->instruction[parameter[is->parameter]],
                                       *to = &s->instruction[c->root];
    int32_t argument = schedule_follow(s, from, is->path, is->n_path),
            result = schedule_follow(s, to, is->result, is->n_result);
    if (argument < 0 || result < 0) continue;
    int32_t a = schedule_find_root(s, s->env[from->env + argument]);
    root[a].donated = true;
    int32_t b = schedule_find_root(s, s->env[to->env + result]);
    if (joined && a != b && !root[b].argument && s->value[a].space == s->value[b].space)
      schedule_merge(s, root, a, b);
  }
  tesela__release(&s->memory, parameter);
  return true;
}

/* ---- buffers ---------------------------------------------------------------------------------------------- */

static void schedule_add_value(tesela__schedule *s, tesela__schedule_buffer *buffer, int32_t value) {
  const tesela__schedule_value *is = &s->value[value];
  if (buffer->n++ == 0 || is->bytes > buffer->bytes) buffer->largest = value;
  buffer->bytes = tesela__max(buffer->bytes, is->bytes);
  buffer->space = is->space;
  buffer->argument = buffer->argument || is->role == TESELA__VALUE_ARGUMENT;
  buffer->constant = buffer->constant || is->role == TESELA__VALUE_CONSTANT;
  buffer->table = buffer->table || is->role == TESELA__VALUE_TABLE;
  buffer->output = buffer->output || is->output;
}

/* The number of the buffer of each value that stands for one. */
static void schedule_count_buffers(tesela__schedule *s, int32_t *number) {
  for (size_t i = 0; i < s->n_values; i++) number[i] = -1;
  for (int32_t i = 0; i < (int32_t)s->n_values; i++) {
    if (s->value[i].same != i || s->value[i].bytes == 0) continue;
    int32_t root = schedule_find_root(s, i);
    if (number[root] < 0) number[root] = (int32_t)s->n_buffers++;
  }
}

/* Group values by buffer, in the order of `from`, as they were made. */
static void schedule_group(tesela__schedule *s, const int32_t *number) {
  int32_t n = (int32_t)s->n_values, n_buffers = (int32_t)s->n_buffers, at = 0;
  for (int32_t b = 0; b < n_buffers; b++) s->buffer[b] = (tesela__schedule_buffer){.inside = -1};
  for (int32_t i = 0; i < n; i++)
    if (s->value[i].same == i && s->value[i].bytes != 0)
      schedule_add_value(s, &s->buffer[number[schedule_find_root(s, i)]], i);
  for (int32_t b = 0; b < n_buffers; b++) {
    s->buffer[b].first = at;
    at += s->buffer[b].n;
    s->buffer[b].n = 0;
  }
  for (int32_t i = 0; i < n; i++) {
    if (s->value[i].same != i || s->value[i].bytes == 0) continue;
    tesela__schedule_buffer *buffer = &s->buffer[number[schedule_find_root(s, i)]];
    s->order[buffer->first + buffer->n++] = i;
  }
}

static bool schedule_join_all(tesela__schedule *s) {
  schedule_root *root = tesela__alloc(&s->memory, (s->n_values + 1) * sizeof *root, alignof(schedule_root));
  if (!root) return false;
  for (size_t i = 0; i < s->n_values; i++)
    root[i] = (schedule_root){.last = s->value[i].to,
                              .argument = s->value[i].role == TESELA__VALUE_ARGUMENT,
                              .constant = s->value[i].role == TESELA__VALUE_CONSTANT};
  bool done = schedule_donate(s, root, false);
  for (size_t i = 0; done && i < s->n_pairs; i++) schedule_join_pair(s, root, &s->pair[i]);
  done = done && schedule_donate(s, root, true);
  tesela__release(&s->memory, root);
  return done;
}

bool tesela__schedule_join(tesela__schedule *s) {
  if (!schedule_join_all(s)) return false;
  int32_t *number = tesela__alloc(&s->memory, (s->n_values + 1) * sizeof *number, alignof(int32_t));
  if (!number) return false;
  schedule_count_buffers(s, number);
  s->order = tesela__alloc(&s->memory, (s->n_values + 1) * sizeof *s->order, alignof(int32_t));
  s->buffer =
      tesela__alloc(&s->memory, (s->n_buffers + 1) * sizeof *s->buffer, alignof(tesela__schedule_buffer));
  bool done = s->order && s->buffer;
  if (done) schedule_group(s, number);
  tesela__release(&s->memory, number);
  return done;
}
