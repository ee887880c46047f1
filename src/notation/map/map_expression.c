/* SPDX-License-Identifier: Apache-2.0 */
/*
 * map_expression.c - reads an index expression in any spelling, by operator precedence: XOR binds least, then masks, shifts, sums,
 * products; signs bind as sums do, or most.
 */
#include "notation/map/map.h"

enum { EXPRESSION_DEPTH = 64 };

typedef struct expression_operator {
  tesela__map_operation operation;
  size_t at;
} expression_operator;

/* Operators and parentheses without their right operand yet. */
typedef struct expression_stack {
  int32_t n, open;
  expression_operator item[EXPRESSION_DEPTH];
} expression_stack;

static int binding(const tesela__map_text *m, tesela__map_operation operation) {
  switch (operation) {
  case TESELA__MAP_OPEN:
    return 0;
  case TESELA__MAP_XOR:
    return 1;
  case TESELA__MAP_AND:
    return 2;
  case TESELA__MAP_LEFT:
  case TESELA__MAP_RIGHT:
    return 3;
  case TESELA__MAP_ADD:
  case TESELA__MAP_SUBTRACT:
    return 4;
  case TESELA__MAP_NEGATE:
    return m->tight_sign ? 6 : 4;
  default:
    return 5;
  }
}

static tesela_status expression_push(tesela__map_text *m, expression_stack *stack,
                                     tesela__map_operation operation, size_t at) {
  if (stack->n == EXPRESSION_DEPTH)
    return tesela__read_fail(&m->reader, TESELA_E_LIMIT, at, "more than %d open operators", EXPRESSION_DEPTH);
  stack->item[stack->n++] = (expression_operator){operation, at};
  stack->open += operation == TESELA__MAP_OPEN;
  return TESELA_OK;
}

/* Do the operations that bind at least this much. */
static tesela_status expression_reduce(tesela__map_text *m, expression_stack *stack, int least) {
  tesela_status status = TESELA_OK;
  while (status == TESELA_OK && stack->n > 0 && binding(m, stack->item[stack->n - 1].operation) >= least) {
    stack->n--;
    status = tesela__map_operate(m, stack->item[stack->n].operation, stack->item[stack->n].at);
  }
  return status;
}

/* "T.int64(2)", whose path is at `at`, up to `end`, as TVM prints numbers. */
static tesela_status expression_typed(tesela__map_text *m, size_t at, size_t end) {
  tesela__reader *r = &m->reader;
  int64_t number = 0;
  size_t type = end + 1, length = tesela__read_lump(r, type);
  if (!tesela__same_word(r->text + type, length, "int64") &&
      !tesela__same_word(r->text + type, length, "int32"))
    return tesela__read_unexpected(r, "a number or a name", "");
  r->at = type + length;
  tesela_status status = tesela__read_expect(r, '(', "and a number");
  if (status == TESELA_OK) status = tesela__read_integer(r, "a number", INT64_MIN, INT64_MAX, &number);
  if (status == TESELA_OK) status = tesela__read_expect(r, ')', "after the number");
  return status == TESELA_OK ? tesela__map_push_number(m, number, at) : status;
}

static tesela_status expression_name(tesela__map_text *m) {
  tesela__reader *r = &m->reader;
  size_t length = tesela__read_word(r), at = r->at;
  if (length == 0) return tesela__read_unexpected(r, "a number or a name", "");
  if (at + length < r->length && r->text[at + length] == '.') return expression_typed(m, at, at + length);
  const tesela__map_name *name = tesela__map_find(m, at, length);
  if (!name || name->kind == TESELA__MAP_AXIS)
    return tesela__read_unknown(r, TESELA_E_INVALID, at, length, "name", "", NULL,
                                m->n_axes + m->n_copies + m->n_sums > 0
                                    ? "a dim, a copy or a sum declared before"
                                    : "a dim declared before");
  r->at += length;
  return tesela__map_push_name(m, name->kind, name->number, at);
}

/* Signs and opening parentheses, then a number or a name. */
static tesela_status expression_operand(tesela__map_text *m, expression_stack *stack) {
  tesela__reader *r = &m->reader;
  for (;;) {
    int c = tesela__read_peek(r);
    size_t at = r->at;
    if (c >= '0' && c <= '9') {
      int64_t number;
      tesela_status status = tesela__read_integer(r, "a number", 0, INT64_MAX, &number);
      return status == TESELA_OK ? tesela__map_push_number(m, number, at) : status;
    }
    if (c != '(' && c != '-') return expression_name(m);
    r->at++;
    tesela_status status = expression_push(m, stack, c == '(' ? TESELA__MAP_OPEN : TESELA__MAP_NEGATE, at);
    if (status != TESELA_OK) return status;
  }
}

static const tesela__map_operator *expression_operator_next(tesela__reader *r,
                                                            const tesela__map_operator *operators) {
  for (; operators->text; operators++)
    if (tesela__read_take_text(r, operators->text)) return operators;
  return NULL;
}

tesela_status tesela__map_expression(tesela__map_text *m, const tesela__map_operator *operators) {
  tesela__reader *r = &m->reader;
  expression_stack stack;
  stack.n = stack.open = 0;
  for (;;) {
    tesela_status status = expression_operand(m, &stack);
    while (status == TESELA_OK && stack.open > 0 && tesela__read_take(r, ')')) {
      status = expression_reduce(m, &stack, 1);
      stack.n--; /* the parenthesis */
      stack.open--;
    }
    if (status != TESELA_OK) return status;
    (void)tesela__read_peek(r);
    size_t at = r->at;
    const tesela__map_operator *next = expression_operator_next(r, operators);
    if (!next) break;
    status = expression_reduce(m, &stack, binding(m, next->operation));
    if (status == TESELA_OK) status = expression_push(m, &stack, next->operation, at);
    if (status != TESELA_OK) return status;
  }
  if (stack.open > 0) return tesela__read_unexpected(r, "an operator or ')'", "");
  return expression_reduce(m, &stack, 1);
}
