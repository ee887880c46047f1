/* SPDX-License-Identifier: Apache-2.0 */
/*
 * schedule_attributes.c - the operands of an instruction, and those of its attributes that say what it calls and what it shares.
 *
 *   fusion(%a, f32[8]{0} %b, %c), kind=kLoop, calls=%fused, output_to_operand_aliasing={{1}: (0, {})}
 *
 * TPU compilers also print the operands in whose memory they put results: backend_config={"aliasing_operands":{"lists":[
 * {"indices":["0","3"]}]}}. Numbers from the number of operands on are arrays of the result.
 */
#include "schedule/schedule.h"

/* After the string that starts at p, or NULL. */
static const char *schedule_skip_string(const char *p, const char *end) {
  const char *start = ++p;
  for (; (p = memchr(p, '"', (size_t)(end - p))) != NULL; p++) {
    const char *slash = p;
    while (slash > start && slash[-1] == '\\') slash--;
    if ((p - slash) % 2 == 0) return p + 1;
  }
  return NULL;
}

/* After the value that starts at p: to the comma after it, outside brackets and strings. */
static const char *schedule_skip_value(const char *p, const char *end) {
  static const bool stops[256] = {['('] = true, ['['] = true, ['{'] = true, [')'] = true,
                                  [']'] = true, ['}'] = true, ['"'] = true, [','] = true};
  for (int64_t depth = 0;; p++) {
    while (p < end && !stops[(unsigned char)*p]) p++;
    if (p == end) return end;
    if (*p == '"') {
      p = schedule_skip_string(p, end);
      if (!p) return end;
      p--;
    } else if (*p == ',') {
      if (depth == 0) return p;
    } else if (*p == '(' || *p == '[' || *p == '{') {
      depth++;
    } else if (depth-- == 0) {
      return p;
    }
  }
}

static int32_t schedule_number(const char **p, const char *end) {
  int64_t number = 0;
  const char *start = *p;
  for (; *p < end && tesela__is_digit(**p); ++*p)
    if (number < INT32_MAX) number = number * 10 + (**p - '0');
  return *p == start || number >= INT32_MAX ? -1 : (int32_t)number;
}

/* ---- operands --------------------------------------------------------------------------------------------- */

/* The name that ends an operand: "f32[8]{0} %b" -> "b". */
static tesela__span schedule_operand_name(const char *start, const char *p) {
  while (p > start && tesela__is_blank(p[-1])) p--;
  const char *name = p;
  while (name > start && tesela__is_name(name[-1])) name--;
  return tesela__between(name, p);
}

static bool schedule_add_operand(tesela__schedule *s, tesela__schedule_instruction *to, tesela__span name) {
  int32_t number = tesela__schedule_find(s, name);
  if (number < 0) return tesela__schedule_break(s, 0, "an operand is not among the earlier instructions");
  if (!tesela__schedule_room(s, &s->operand, sizeof *s->operand, &s->cap_operands, s->n_operands, 1,
                             TESELA__SCHEDULE_MOST))
    return false;
  if (s->broken) return true;
  s->operand[s->n_operands++] = number;
  to->n_operands++;
  return true;
}

bool tesela__schedule_operands(tesela__schedule *s, tesela__schedule_instruction *to, tesela__span *rest) {
  const char *p = rest->text + 1, *end = rest->text + rest->n;
  to->operand = (int32_t)s->n_operands;
  bool names = to->op != TESELA__OP_PARAMETER && to->op != TESELA__OP_CONSTANT;
  if (to->op == TESELA__OP_PARAMETER) {
    to->number = schedule_number(&p, end);
    if (to->number < 0 || to->number >= TESELA__SCHEDULE_MOST)
      return tesela__schedule_break(s, 0, "a parameter has no number");
  }
  while (p < end && *p != ')') {
    const char *start = p;
    p = schedule_skip_value(p, end);
    tesela__span name = schedule_operand_name(start, p);
    if (names && name.n > 0 && !schedule_add_operand(s, to, name)) return false;
    if (s->broken) return true;
    if (p == end || *p != ',') break;
    p++;
  }
  if (p == end || *p != ')') return tesela__schedule_break(s, 0, "the operands of an instruction do not end");
  *rest = tesela__between(p + 1, end);
  return true;
}

/* ---- attributes ------------------------------------------------------------------------------------------- */

/* One name, or several in braces. */
static bool schedule_add_callees(tesela__schedule *s, tesela__schedule_instruction *to, tesela__span names) {
  const char *p = names.text, *end = names.text + names.n;
  while (p < end) {
    const char *name = p;
    p = tesela__skip_name(p, end);
    if (p == name) {
      p++;
      continue;
    }
    if (!tesela__schedule_room(s, &s->callee, sizeof *s->callee, &s->cap_callees, s->n_callees, 1,
                               TESELA__SCHEDULE_MOST))
      return false;
    if (s->broken) return true;
    s->callee[s->n_callees++] = tesela__text_hash(name, (size_t)(p - name));
    to->n_callees++;
  }
  return true;
}

static bool schedule_add_alias(tesela__schedule *s, tesela__schedule_instruction *to, int32_t operand,
                               int32_t output) {
  if (operand < 0 || operand >= to->n_operands || output < 0) return true;
  if (!tesela__schedule_room(s, &s->alias, sizeof *s->alias, &s->cap_aliases, s->n_aliases, 1,
                             TESELA__SCHEDULE_MOST))
    return false;
  if (s->broken) return true;
  s->alias[s->n_aliases++] = (tesela__schedule_alias){operand, output};
  to->n_aliases++;
  return true;
}

/* {{1}: (0, {}), {2}: (1, {})}: members of the result that are whole operands; {} is the result. */
static bool schedule_output_aliases(tesela__schedule *s, tesela__schedule_instruction *to,
                                    tesela__span list) {
  const char *p = list.text, *end = list.text + list.n;
  if (p < end) p++;
  while ((p = memchr(p, '{', (size_t)(end - p))) != NULL) {
    p = tesela__skip_blanks(p + 1, end);
    int32_t output = schedule_number(&p, end);
    p = memchr(p, '(', (size_t)(end - p));
    if (!p) return true;
    p++;
    if (!schedule_add_alias(s, to, schedule_number(&p, end), tesela__max(output, 0) == 0 ? 0 : output))
      return false;
    p = memchr(p, ')', (size_t)(end - p));
    if (!p) return true;
  }
  return true;
}

/* The groups of numbers after "lists":[ ; each pairs its operands with its results. */
static bool schedule_listed_aliases(tesela__schedule *s, tesela__schedule_instruction *to,
                                    tesela__span config) {
  static const char key[] = "\"aliasing_operands\":{\"lists\":[";
  const char *p = tesela__find(config, key), *end = config.text + config.n;
  if (!p) return true;
  to->known = true;
  int32_t operand = -1;
  for (p += sizeof key - 1; p < end && *p != ']';) {
    if (*p == '{') operand = -1;
    if (*p == '[')
      while (p < end && *p != ']') {
        int32_t number = tesela__is_digit(*p) ? schedule_number(&p, end) : -1;
        if (number < 0) p++;
        if (number >= to->n_operands && operand >= 0 &&
            !schedule_add_alias(s, to, operand, number - to->n_operands))
          return false;
        if (number >= 0 && number < to->n_operands) operand = number;
      }
    p++;
  }
  return true;
}

static bool schedule_is(tesela__span key, const char *word) {
  return key.n == strlen(word) && memcmp(key.text, word, key.n) == 0;
}

/* The attributes that name computations, by opcode. Others, as the `to_apply` of a sort, run inside the instruction. */
static bool schedule_calls(tesela__span opcode, tesela__span key) {
  static const char *const rows[][2] = {{"fusion", "calls"},
                                        {"while", "condition"},
                                        {"while", "body"},
                                        {"call", "to_apply"},
                                        {"call-start", "to_apply"},
                                        {"async-start", "calls"},
                                        {"conditional", "branch_computations"},
                                        {"conditional", "true_computation"},
                                        {"conditional", "false_computation"}};
  for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++)
    if (schedule_is(opcode, rows[i][0]) && schedule_is(key, rows[i][1])) return true;
  return false;
}

/* The order of `condition` and `body` in the text does not matter: condition first. */
static bool schedule_read_attribute(tesela__schedule *s, tesela__schedule_instruction *to,
                                    tesela__span opcode, tesela__span key, tesela__span value) {
  if (to->op == TESELA__OP_MEMBER && schedule_is(key, "index")) {
    const char *p = value.text;
    to->number = schedule_number(&p, value.text + value.n);
  }
  if (schedule_is(key, "kind") && to->op == TESELA__OP_FUSION)
    to->loop = schedule_is(value, "kLoop") || schedule_is(value, "kInput");
  if (schedule_is(key, "output_to_operand_aliasing")) return schedule_output_aliases(s, to, value);
  if (schedule_is(key, "backend_config")) return schedule_listed_aliases(s, to, value);
  if (schedule_is(key, "custom_call_target") && schedule_is(value, "\"ConcatBitcast\""))
    to->op = TESELA__OP_CONCAT;
  if (!schedule_calls(opcode, key)) return true;
  bool swap = schedule_is(key, "condition") && to->n_callees == 1;
  if (!schedule_add_callees(s, to, value)) return false;
  if (swap && to->n_callees == 2) {
    uint64_t *two = &s->callee[s->n_callees - 2], body = two[0];
    two[0] = two[1];
    two[1] = body;
  }
  return true;
}

static bool schedule_has_all(const tesela__schedule_instruction *is) {
  switch (is->op) {
  case TESELA__OP_WHILE:
    return is->n_callees == 2 && is->n_operands == 1;
  case TESELA__OP_CONDITIONAL:
    return is->n_callees > 0 && is->n_operands == is->n_callees + 1;
  case TESELA__OP_CALL:
    return is->n_callees == 1;
  case TESELA__OP_MEMBER:
    return is->n_operands == 1 && is->number >= 0;
  case TESELA__OP_VIEW:
  case TESELA__OP_IN_PLACE:
  case TESELA__OP_COPY_START:
  case TESELA__OP_SEND:
  case TESELA__OP_DONE:
  case TESELA__OP_DONE_FIRST:
  case TESELA__OP_RECV_DONE:
    return is->n_operands > 0;
  default:
    return true;
  }
}

bool tesela__schedule_attributes(tesela__schedule *s, tesela__schedule_instruction *to, tesela__span opcode,
                                 tesela__span rest) {
  const char *p = rest.text, *end = rest.text + rest.n;
  to->callee = (int32_t)s->n_callees;
  to->alias = (int32_t)s->n_aliases;
  while (p < end && !s->broken) {
    while (p < end && !tesela__is_name(*p)) p++;
    const char *key = p;
    p = tesela__skip_name(p, end);
    if (p == end || *p != '=') {
      if (p < end) p++;
      continue;
    }
    const char *value = ++p;
    p = schedule_skip_value(p, end);
    if (!schedule_read_attribute(s, to, opcode, tesela__between(key, value - 1), tesela__between(value, p)))
      return false;
    if (p < end) p++;
  }
  if (!s->broken && !schedule_has_all(to))
    return tesela__schedule_break(s, to->line, "an instruction lacks operands or computations");
  return true;
}

/* ---- the module's header ---------------------------------------------------------------------------------- */

/* Numbers up to a closing brace. */
static int32_t schedule_path(const char **p, const char *end, int32_t path[8]) {
  int32_t n = 0;
  for (; *p < end && **p != '}';) {
    int32_t number = tesela__is_digit(**p) ? schedule_number(p, end) : -1;
    if (number < 0)
      ++*p;
    else if (n < 8)
      path[n++] = number;
  }
  if (*p < end) ++*p;
  return n;
}

bool tesela__schedule_donations(tesela__schedule *s, tesela__span header) {
  static const char key[] = "input_output_alias={";
  const char *p = tesela__find(header, key), *end = header.text + header.n;
  if (!p) return true;
  p += sizeof key - 1;
  const char *last = schedule_skip_value(p - 1, end);
  while (p < last && *p != '}' && (p = memchr(p, '{', (size_t)(last - p))) != NULL) {
    tesela__schedule_donation is = {.parameter = -1};
    p++;
    is.n_result = schedule_path(&p, last, is.result);
    p = memchr(p, '(', (size_t)(last - p));
    if (!p) break;
    p++;
    is.parameter = schedule_number(&p, last);
    if (!(p = memchr(p, '{', (size_t)(last - p)))) break;
    p++;
    is.n_path = schedule_path(&p, last, is.path);
    if (!(p = memchr(p, ')', (size_t)(last - p)))) break;
    p++;
    if (!tesela__schedule_room(s, &s->donation, sizeof *s->donation, &s->cap_donations, s->n_donations, 1,
                               TESELA__SCHEDULE_MOST))
      return false;
    if (!s->broken && is.parameter >= 0) s->donation[s->n_donations++] = is;
  }
  return true;
}
