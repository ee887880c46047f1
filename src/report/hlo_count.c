/* SPDX-License-Identifier: Apache-2.0 */
/*
 * hlo_count.c - the arrays of one instruction: which of its result count, and whose computations it calls.
 *
 * Operands and attributes, where `T(1,0)` may be part of replica groups, are never searched for shapes; of a
 * few opcodes one attribute is looked for after the operands.
 */
#include "report/report_state.h"

/* Member `number` of a tuple, from its first character to the comma or parenthesis after it. A text other
 * than a tuple is its own only member. */
static tesela__span tuple_member(tesela__span tuple, int64_t number) {
  const char *p = tuple.text, *end = tuple.text + tuple.n;
  if (tuple.n == 0 || *p != '(') return tuple;
  int64_t depth = 0;
  const char *start = p + 1;
  for (; p < end; p++) {
    if (*p == '(' || *p == '[' || *p == '{') depth++;
    bool closes = *p == ')' || *p == ']' || *p == '}';
    if (closes) depth--;
    if (!(*p == ',' && depth == 1) && !(closes && depth == 0)) continue;
    if (number-- == 0) return tesela__between(start, p);
    start = p + 1;
  }
  return tesela__between(end, end);
}

/* ---- results that are an operand's memory -------------------------------------------------------------- */

enum { ALL_ALIASED = -1, NOTED_BYTES = 1 << 20 /* of an array whose tiles are looked for */ };

/* output_to_operand_aliasing={{1}: (0, {}), {2}: (1, {})}: bits of the members of the result, ALL_ALIASED for
 * the whole result. Members from 63 on are taken for arrays of their own. */
static int64_t aliased_members(tesela__span rest) {
  static const char key[] = "output_to_operand_aliasing={";
  const char *p = tesela__find(rest, key), *end = rest.text + rest.n;
  int64_t bits = 0;
  if (!p) return 0;
  p += sizeof key - 1;
  while (p < end && *p == '{') {
    p = tesela__skip_blanks(p + 1, end);
    if (p < end && *p == '}') return ALL_ALIASED;
    int64_t member = 0;
    for (; p < end && tesela__is_digit(*p) && member < 1000; p++) member = member * 10 + (*p - '0');
    if (member < 63) bits |= INT64_C(1) << member;
    while (p < end && *p != ')') p++;
    while (p < end && *p != '{' && *p != '}') p++;
    if (p < end && *p == '}') break;
  }
  return bits;
}

/* ---- counting ------------------------------------------------------------------------------------------ */

static bool count_array(tesela_report *report, tesela__span text, tesela_report_role role,
                        const tesela__sighting *sighting) {
  const tesela__shape *shape;
  int32_t index, row;
  if (!tesela__report_shape(report, text, &shape, &index)) return false;
  if (!shape && !report->module.open) return true; /* a line that only looks like HLO text */
  int cut = (int)tesela__min((int64_t)text.n, 120);
  switch (shape ? shape->state : TESELA__SHAPE_FOREIGN) {
  case TESELA__SHAPE_NO_ARRAY:
    return true;
  case TESELA__SHAPE_UNBOUNDED:
    tesela__report_note(report, TESELA_REPORT_UNBOUNDED, report->line,
                        "%.*s has no size: a dim is unbounded; it is not "
                        "counted",
                        cut, text.text);
    return tesela__module_need_section(report);
  case TESELA__SHAPE_FOREIGN:
  case TESELA__SHAPE_UNREADABLE:
    tesela__report_note(report, TESELA_REPORT_UNREADABLE, report->line,
                        "%.*s cannot be read as a shape; it is not "
                        "counted",
                        cut, text.text);
    return tesela__module_need_section(report);
  case TESELA__SHAPE_SIZED:
    break;
  }
  if (!tesela__module_need_section(report)) return false;
  report->module.large = report->module.large || shape->stored >= NOTED_BYTES;
  report->module.tiled = report->module.tiled || (shape->tiled && shape->stored >= NOTED_BYTES);
  if (index < 0) {
    int64_t padding = shape->stored - shape->data;
    tesela__report_count_unlisted(report, TESELA_REPORT_HLO, report->module.section,
                                  (tesela__array_bytes){shape->stored, shape->data, padding, padding});
    return true;
  }
  return tesela__report_row(report, index, role, &row) && tesela__computation_count(report, row, sighting);
}

/* All arrays in a shape text. */
static bool count_arrays(tesela_report *report, tesela__span text, tesela_report_role role,
                         const tesela__sighting *sighting) {
  const char *p = text.text, *end = text.text + text.n;
  while (p < end) {
    const char *start = p;
    if (!((*p >= 'a' && *p <= 'z') || tesela__is_digit(*p))) {
      p++;
      continue;
    }
    p = tesela__skip_array(start, end);
    if (!p)
      p = tesela__skip_name(start, end);
    else if (!count_array(report, tesela__between(start, p), role, sighting))
      return false;
  }
  return true;
}

static bool count_unaliased(tesela_report *report, const tesela__instruction *instruction, int64_t aliased,
                            tesela_report_role role, const tesela__sighting *sighting) {
  if (aliased == ALL_ALIASED) return true;
  for (int64_t member = 0;; member++) {
    tesela__span text = tuple_member(instruction->shape, member);
    if (text.n == 0) return true;
    bool is_aliased = member < 63 && (aliased >> member & 1);
    if (!is_aliased && !count_arrays(report, text, role, sighting)) return false;
    if (text.text == instruction->shape.text) return true; /* no tuple */
  }
}

/* ---- calls --------------------------------------------------------------------------------------------- */

static const struct {
  const char *opcode, *attribute;
} call_rows[] = {
    {"while", "condition="},
    {"while", "body="},
    {"call", "to_apply="},
    {"conditional", "branch_computations="},
    {"conditional", "true_computation="},
    {"conditional", "false_computation="},
};

/* The names after an attribute: one, or a list in braces. */
static bool note_calls(tesela_report *report, tesela__span names) {
  const char *p = names.text, *end = names.text + names.n;
  bool list = p < end && *p == '{';
  if (list) p++;
  do {
    p = tesela__skip_blanks(p, end);
    if (p < end && *p == '%') p++;
    const char *name = p;
    p = tesela__skip_name(p, end);
    if (p == name) return true;
    if (!tesela__computation_calls(report, tesela__between(name, p))) return false;
  } while (list && p < end && *p++ == ',');
  return true;
}

/* A loop, branch or call without the computations it runs is cut: their arrays will not be found. */
static void note_no_callee(tesela_report *report, const tesela__instruction *instruction) {
  tesela__report_note(
      report, TESELA_REPORT_BROKEN, report->line,
      "%.*s %.*s does not name the computation it runs: the line is truncated, and arrays are missing",
      (int)tesela__min((int64_t)instruction->opcode.n, 40), instruction->opcode.text,
      (int)tesela__min((int64_t)instruction->name.n, 120), instruction->name.text);
}

static bool count_calls(tesela_report *report, const tesela__instruction *instruction) {
  int missing = 0, found = 0;
  for (size_t i = 0; i < sizeof call_rows / sizeof call_rows[0]; i++) {
    if (*instruction->opcode.text != *call_rows[i].opcode) continue;
    size_t n = strlen(call_rows[i].opcode);
    if (instruction->opcode.n != n || memcmp(instruction->opcode.text, call_rows[i].opcode, n) != 0) continue;
    const char *p = tesela__find(instruction->rest, call_rows[i].attribute);
    missing += !p;
    found += p != NULL;
    if (!p) continue;
    p += strlen(call_rows[i].attribute);
    if (!note_calls(report, tesela__from(instruction->rest, p))) return false;
  }
  /* a loop has both of its two, a branch either one list or two names */
  if (missing > 0 && found < (missing + found == 3 ? 1 : missing + found))
    note_no_callee(report, instruction);
  return true;
}

static bool is_opcode_word(tesela__span opcode, const char *word) {
  return opcode.n == strlen(word) && memcmp(opcode.text, word, opcode.n) == 0;
}

/* Add an instruction to the schedule of its module; with its line of the user's program, if it may matter at the peak. */
static bool add_to_schedule(tesela_report *report, const tesela__instruction *is) {
  tesela__schedule *schedule = report->module.schedule;
  char room[600];
  if (!tesela__schedule_add(schedule, is->name, is->shape, is->opcode, is->rest, is->root, report->line))
    return tesela__report_no_memory(report);
  if (report->module.where == TESELA__FUSED || !tesela__schedule_matters(schedule)) return true;
  return tesela__schedule_source(schedule, tesela__hlo_metadata(is->rest, "op_name"),
                                 tesela__hlo_location(&report->module.frames, is->rest, room, sizeof room)) ||
         tesela__report_no_memory(report);
}

bool tesela__hlo_count(tesela_report *report, const tesela__instruction *instruction) {
  tesela__where where = report->module.where;
  if (report->module.schedule && !add_to_schedule(report, instruction)) return false;
  if (where == TESELA__FUSED) return true;
  report->module.outside_seen = report->module.outside_seen || where == TESELA__OUTSIDE;
  tesela_report_opcode_rule rule = tesela_report_opcode(instruction->opcode.text, instruction->opcode.n);
  tesela__sighting sighting = {instruction->name, instruction->opcode, instruction->rest, report->line};
  tesela__span shape = instruction->shape;
  switch (rule.counts) {
  case TESELA_REPORT_COUNTS_NONE:
    return count_calls(report, instruction);
  case TESELA_REPORT_COUNTS_FIRST:
    return count_arrays(report, tuple_member(shape, 0), rule.role, &sighting);
  case TESELA_REPORT_COUNTS_SECOND:
    return count_arrays(report, tuple_member(shape, 1), rule.role, &sighting);
  case TESELA_REPORT_COUNTS_ALL:
    break;
  }
  bool outer = where == TESELA__ENTRY || where == TESELA__OUTSIDE;
  if (rule.role == TESELA_REPORT_ARGUMENT && !outer) return true;
  if (is_opcode_word(instruction->opcode, "fusion") || is_opcode_word(instruction->opcode, "custom-call")) {
    int64_t aliased = aliased_members(instruction->rest);
    if (aliased != 0) return count_unaliased(report, instruction, aliased, rule.role, &sighting);
  }
  return count_arrays(report, shape, rule.role, &sighting);
}
