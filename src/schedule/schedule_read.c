/* SPDX-License-Identifier: Apache-2.0 */
/*
 * schedule_read.c - reading a module: computations, and the instructions in them.
 *
 * Operands are found by name among the earlier instructions of the computation, so that an operand that is missing or comes later
 * breaks the schedule. Computations are found by name when the module has ended: they may call later ones.
 */
#include "schedule/schedule.h"

/* ---- computations and instructions ---------------------------------------------------------------------- */

bool tesela__schedule_computation_begin(tesela__schedule *s, tesela__span name, bool entry, int64_t line) {
  if (s->broken) return true;
  if (s->inside) return tesela__schedule_break(s, line, "a computation starts before the last one ends");
  if (entry && s->entry >= 0) return tesela__schedule_break(s, line, "it has two ENTRY computations");
  tesela__schedule_computation computation = {.hash = tesela__text_hash(name.text, name.n),
                                              .name_length = (uint32_t)name.n,
                                              .first = (int32_t)s->n_instructions,
                                              .root = -1};
  if (!tesela__schedule_text(s, name, &computation.name) ||
      !tesela__schedule_room(s, &s->computation, sizeof *s->computation, &s->cap_computations,
                             s->n_computations, 1, TESELA__SCHEDULE_MOST))
    return false;
  if (s->broken) return true;
  if (entry) s->entry = (int32_t)s->n_computations;
  s->computation[s->n_computations++] = computation;
  s->inside = true;
  return true;
}

void tesela__schedule_computation_end(tesela__schedule *s) {
  if (s->broken || !s->inside) return;
  tesela__schedule_computation *c = &s->computation[s->n_computations - 1];
  c->n = (int32_t)s->n_instructions - c->first;
  if (c->root < 0) c->root = c->first + c->n - 1;
  s->inside = false;
  if (c->n == 0) tesela__schedule_break(s, 0, "a computation has no instruction");
}

bool tesela__schedule_add(tesela__schedule *s, tesela__span name, tesela__span shape, tesela__span opcode,
                          tesela__span rest, bool root, int64_t line) {
  if (s->broken) return true;
  if (!s->inside) return tesela__schedule_break(s, line, "an instruction is outside of any computation");
  tesela__schedule_instruction is = {.line = (uint32_t)tesela__min(line, UINT32_MAX),
                                     .number = -1,
                                     .op = (uint8_t)tesela__schedule_op_of(opcode)};
  if (!tesela__schedule_grow_names(s)) return false;
  tesela__schedule_entry *entry = tesela__schedule_new_name(s, name);
  if (!entry) return tesela__schedule_break(s, line, "two instructions of a computation have one name");
  if (!tesela__schedule_find_shape(s, shape, line, &is.shape)) return false;
  if (s->broken) return true;
  if (!tesela__schedule_operands(s, &is, &rest)) return false;
  if (s->broken) return tesela__schedule_break(s, line, s->broken);
  if (!tesela__schedule_attributes(s, &is, opcode, rest) || !tesela__schedule_text(s, name, &is.name) ||
      !tesela__schedule_room(s, &s->instruction, sizeof *s->instruction, &s->cap_instructions,
                             s->n_instructions, 1, TESELA__SCHEDULE_MOST))
    return false;
  tesela__schedule_computation *c = &s->computation[s->n_computations - 1];
  if (!s->broken && c->n_nodes > TESELA__SCHEDULE_STEPS - tesela__schedule_n_nodes(s, &is))
    tesela__schedule_break(s, line, "it is too large");
  if (s->broken) return true;
  is.env = c->n_nodes;
  c->n_nodes += tesela__schedule_n_nodes(s, &is);
  if (is.op == TESELA__OP_PARAMETER && is.number >= c->n_parameters) c->n_parameters = is.number + 1;
  if (root) c->root = (int32_t)s->n_instructions;
  entry->instruction = (int32_t)s->n_instructions;
  s->instruction[s->n_instructions++] = is;
  return true;
}

bool tesela__schedule_matters(tesela__schedule *s) {
  if (s->broken || s->n_instructions == 0) return false;
  const tesela__schedule_instruction *is = &s->instruction[s->n_instructions - 1];
  const tesela__schedule_node *node = tesela__schedule_nodes(s, is);
  int64_t bytes = 0;
  for (int32_t i = 0; i < tesela__schedule_n_nodes(s, is); i++)
    if (node[i].kind == TESELA__NODE_ARRAY) bytes = tesela__max(bytes, node[i].bytes);
  s->largest = tesela__max(s->largest, bytes);
  return bytes > 0 && bytes >= s->largest / 1000;
}

/* A text that the last one is, too, is not kept again. */
static bool schedule_keep(tesela__schedule *s, tesela__span text, uint32_t before, uint32_t *at) {
  const char *last = s->text + before;
  if (strlen(last) == text.n && memcmp(last, text.text, text.n) == 0) {
    *at = before;
    return true;
  }
  return tesela__schedule_text(s, text, at);
}

bool tesela__schedule_source(tesela__schedule *s, tesela__span op_name, tesela__span location) {
  if (op_name.n == 0 && location.n == 0) return true;
  tesela__schedule_origin before = s->source[s->n_sources - 1], now;
  if (!schedule_keep(s, op_name, before.op_name, &now.op_name) ||
      !schedule_keep(s, location, before.location, &now.location) ||
      !tesela__schedule_room(s, &s->source, sizeof *s->source, &s->cap_sources, s->n_sources, 1,
                             TESELA__SCHEDULE_MOST))
    return false;
  if (s->broken) return true;
  if (now.op_name != before.op_name || now.location != before.location) s->source[s->n_sources++] = now;
  s->instruction[s->n_instructions - 1].source = (int32_t)s->n_sources - 1;
  return true;
}
