/* SPDX-License-Identifier: Apache-2.0 */
/*
 * register_expression.c - layout expressions: terms, calls, methods, names of fragments; the public readers.
 *
 * Evaluates while it reads from left to right: the text so far is one value, so a chain of any length needs one
 * operand. Nested brackets and calls recurse, at most TESELA_EXPRESSION_DEPTH levels.
 *
 * Errors point at the wrong byte; if an operation refuses its operands, at the first byte of its name, or at '*' or
 * '/'.
 */
#include "notation/register/register_read.h"

#include "gpu/register/register.h"

#include <stdio.h>

#include <tesela/register.h>

tesela_status tesela__expression_unexpected(tesela__expression_reader *reader, const char *expected,
                                            const tesela_expression_function *function) {
  char hint[sizeof reader->in.err->message] = "";
  if (function) snprintf(hint, sizeof hint, ": %s(%s)", function->name, function->arguments);
  return tesela__read_unexpected(&reader->in, expected, hint);
}

/* Set the position of an error of an operation, which does not know the text. */
static tesela_status expression_refused(tesela__expression_reader *reader, size_t at, tesela_status status) {
  if (reader->in.err && reader->in.err->at < 0) reader->in.err->at = (int64_t)at;
  return status;
}

static tesela_status expression_enter(tesela__expression_reader *reader, size_t at) {
  if (++reader->depth <= TESELA_EXPRESSION_DEPTH) return TESELA_OK;
  return tesela__fail(reader->in.err, TESELA_E_LIMIT, (int64_t)at, "brackets and calls nest deeper than %d",
                      TESELA_EXPRESSION_DEPTH);
}

/* Make room for one more operand: *base is its number. */
static tesela_status base_push(tesela__expression_reader *reader, size_t at, int32_t *base) {
  if (reader->n_operands >= TESELA__OPERANDS) /* impossible while each level adds at most two */
    return tesela__fail(reader->in.err, TESELA_E_LIMIT, (int64_t)at, "more than %d pending operands",
                        (int)TESELA__OPERANDS);
  *base = reader->n_operands++;
  return TESELA_OK;
}

/* ---- calls ---- */

static tesela_status expression_unknown(tesela__expression_reader *reader, const char *what, size_t length,
                                        const char *near) {
  return tesela__read_unknown(&reader->in, TESELA_E_SYNTAX, reader->in.at, length, what, "", near, NULL);
}

/* Check that the function accepts the kind of each layout of the call, and that all layouts have the same kind. */
static tesela_status call_check_kinds(const tesela__function_call *call) {
  const tesela__expression_reader *reader = call->reader;
  int32_t first = 0;
  for (int32_t k = 0; k < call->n; k++) {
    const tesela__argument *argument = &call->argument[k];
    if (!argument->given || argument->kind > TESELA__PARAMETER_SWIZZLE) continue;
    int32_t kind = reader->operand[argument->operand].kind;
    int32_t takes = argument->kind == TESELA__PARAMETER_SWIZZLE ? TESELA__OPERAND_SWIZZLE
                    : first                                     ? first
                                                                : call->takes;
    if ((kind & takes) == 0)
      return tesela__fail(reader->in.err, TESELA_E_MISMATCH, (int64_t)argument->at,
                          "%.*s is %s; expected %s: %s(%s)", (int)argument->name_length, argument->name,
                          tesela__operand_text(kind), tesela__operand_text(takes), call->function->name,
                          call->function->arguments);
    if (argument->kind == TESELA__PARAMETER_LAYOUT) first = kind;
  }
  return TESELA_OK;
}

/* Read the arguments after the '(' of a call and evaluate it; operand call->base receives the result. */
static tesela_status expression_call_body(tesela__function_call *call, int32_t in_front) {
  tesela__expression_reader *reader = call->reader;
  tesela_status status = expression_enter(reader, call->at);
  if (status == TESELA_OK) status = tesela__call_arguments(call, in_front);
  if (status == TESELA_OK) status = call_check_kinds(call);
  if (status != TESELA_OK) return status;
  reader->depth--;
  reader->n_operands = call->base;
  int32_t base = 0;
  status = base_push(reader, call->at, &base);
  if (status != TESELA_OK) return status;
  status = call->evaluate(call, &reader->operand[base], reader->in.err);
  return status == TESELA_OK ? TESELA_OK : expression_refused(reader, call->at, status);
}

/* NAME "(" arguments ")"; the reader is at the name. */
static tesela_status expression_call(tesela__expression_reader *reader, size_t length) {
  tesela__function_call call = {.reader = reader, .at = reader->in.at, .base = reader->n_operands};
  const char *name = reader->in.text + reader->in.at;
  if (!tesela__function_find(name, length, &call))
    return expression_unknown(reader, "function", length, tesela__function_nearest(name, length));
  reader->in.at += length;
  tesela__read_take(&reader->in, '(');
  return expression_call_body(&call, -1);
}

/* Read a method call and apply it to the top operand. */
static tesela_status expression_method(tesela__expression_reader *reader) {
  int32_t top = reader->n_operands - 1;
  tesela__function_call call = {.reader = reader, .base = top};
  tesela__read_peek(&reader->in);
  call.at = reader->in.at;
  size_t length = tesela__read_word(&reader->in);
  if (length == 0) return tesela__expression_unexpected(reader, "a function", NULL);
  const char *name = reader->in.text + reader->in.at;
  if (!tesela__function_find(name, length, &call))
    return expression_unknown(reader, "function", length, tesela__function_nearest(name, length));
  reader->in.at += length;
  if (!tesela__read_take(&reader->in, '('))
    return tesela__expression_unexpected(reader, "'('", call.function);
  if (!call.composes) return expression_call_body(&call, top);
  call.base = top + 1;
  tesela_status status = expression_call_body(&call, -1);
  if (status != TESELA_OK) return status;
  reader->n_operands--;
  status = tesela__operand_compose(&reader->operand[top], &reader->operand[top + 1], reader->in.err);
  return status == TESELA_OK ? TESELA_OK : expression_refused(reader, call.at, status);
}

/* ---- fragments ---- */

static bool expression_blank(char c) { return c == ' ' || c == '\t' || c == '\n' || c == '\r'; }

static const char *fragment_candidate(const void *user, int32_t i) {
  (void)user;
  return tesela__fragment_pattern(i);
}

/* Bytes of the part of a name at the start of a text: "kind::mxf4". */
static size_t fragment_part(const char *text, size_t length) {
  size_t n = 0;
  while (n < length) {
    if (tesela__byte_is(text[n], TESELA__BYTE_NAME))
      n++;
    else if (n > 0 && n + 2 < length && text[n] == ':' && text[n + 1] == ':')
      n += 2;
    else
      break;
  }
  return n;
}

/* Bytes of the name with dots at the reader. If '(' follows, the last part is a method and does not count, unless it
 * belongs to the name of a fragment and is not a function. */
static size_t fragment_length(const tesela__expression_reader *reader) {
  const char *name = reader->in.text + reader->in.at;
  tesela__function_call call;
  size_t left = reader->in.length - reader->in.at, end = 0, dot = 0, at;
  while (end < left) {
    end += fragment_part(name + end, left - end);
    if (end == left || name[end] != '.') break;
    dot = end++;
  }
  if (dot == 0 || dot + 1 == end) return dot == 0 ? end : dot;
  for (at = end; at < left && expression_blank(name[at]);) at++;
  if (at == left || name[at] != '(') return end;
  bool method = tesela__function_find(name + dot + 1, end - dot - 1, &call);
  return !method && tesela_fragment_find(name, end, NULL, NULL, NULL) == TESELA_OK ? end : dot;
}

/* A name without brackets: a fragment. */
static tesela_status expression_fragment(tesela__expression_reader *reader, size_t head) {
  const char *name = reader->in.text + reader->in.at;
  tesela__function_call call = {.reader = reader};
  int32_t base = 0;
  if (!tesela__fragment_begins(name, head)) {
    if (tesela__function_find(name, head, &call)) {
      reader->in.at += head;
      return tesela__expression_unexpected(reader, "'('", call.function);
    }
    const char *near = tesela__function_nearest(name, head);
    if (!near) near = tesela__nearest(name, head, fragment_candidate, NULL);
    return expression_unknown(reader, "function or fragment", head, near);
  }
  size_t length = fragment_length(reader), at = reader->in.at;
  tesela_status status = base_push(reader, at, &base);
  if (status != TESELA_OK) return status;
  reader->operand[base].kind = TESELA__OPERAND_REGISTER;
  status = tesela_fragment_find(name, length, &reader->operand[base].registers, NULL, reader->in.err);
  if (status == TESELA_OK) {
    reader->in.at += length;
    return TESELA_OK;
  }
  if (reader->in.err) reader->in.err->at = (int64_t)at + (reader->in.err->at > 0 ? reader->in.err->at : 0);
  return status;
}

/* ---- expressions ---- */

/* A call, a fragment, or an expression in brackets. */
static tesela_status expression_primary(tesela__expression_reader *reader) {
  if (tesela__read_take(&reader->in, '(')) {
    tesela_status status = expression_enter(reader, reader->in.at - 1);
    if (status == TESELA_OK) status = tesela__expression_read(reader);
    if (status != TESELA_OK) return status;
    reader->depth--;
    if (tesela__read_take(&reader->in, ')')) return TESELA_OK;
    return tesela__expression_unexpected(reader, "'*', '/', '.' or ')'", NULL);
  }
  size_t at = reader->in.at, length = tesela__read_word(&reader->in);
  if (length == 0) return tesela__expression_unexpected(reader, "a layout, such as spatial(8, 4)", NULL);
  reader->in.at += length;
  bool call = tesela__read_peek(&reader->in) == '(';
  reader->in.at = at;
  return call ? expression_call(reader, length) : expression_fragment(reader, length);
}

static tesela_status expression_term(tesela__expression_reader *reader) {
  tesela_status status = expression_primary(reader);
  while (status == TESELA_OK && tesela__read_take(&reader->in, '.')) status = expression_method(reader);
  return status;
}

tesela_status tesela__expression_read(tesela__expression_reader *reader) {
  tesela_status status = expression_term(reader);
  for (;;) {
    if (status != TESELA_OK) return status;
    int c = tesela__read_peek(&reader->in);
    if (c != '*' && c != '/') return TESELA_OK;
    size_t at = reader->in.at++;
    status = expression_term(reader);
    if (status != TESELA_OK) return status;
    tesela__operand *b = &reader->operand[--reader->n_operands], *a = b - 1;
    status = c == '*' ? tesela__operand_compose(a, b, reader->in.err)
                      : tesela__operand_divide(a, b, reader->in.err);
    if (status != TESELA_OK) return expression_refused(reader, at, status);
  }
}

/* Initialize a reader and read the whole text into its operand 0. */
static tesela_status expression_parse(tesela__expression_reader *reader, const char *text, size_t length,
                                      int32_t takes, tesela_error *err) {
  reader->in = (tesela__reader){text,
                                length,
                                0,
                                err,
                                .blanks = TESELA__BLANKS_TEXT,
                                .word = TESELA__BYTE_NAME,
                                .glue = TESELA__BYTE_NAME | TESELA__BYTE_DOT};
  reader->depth = reader->n_operands = 0;
  if (length > TESELA_EXPRESSION_LENGTH)
    return tesela__fail(err, TESELA_E_LIMIT, TESELA_EXPRESSION_LENGTH,
                        "the expression has %zu bytes; expected at most %d", length,
                        TESELA_EXPRESSION_LENGTH);
  tesela_status status = tesela__expression_read(reader);
  if (status != TESELA_OK) return status;
  if (tesela__read_peek(&reader->in) >= 0)
    return tesela__expression_unexpected(reader, "'*', '/', '.' or the end", NULL);
  if ((reader->operand[0].kind & takes) == 0)
    return tesela__fail(err, TESELA_E_MISMATCH, 0, "the expression is %s; expected %s",
                        tesela__operand_text(reader->operand[0].kind), tesela__operand_text(takes));
  return TESELA_OK;
}

tesela_status tesela_expression_parse(const char *text, size_t length, tesela_expression *out,
                                      tesela_error *err) {
  TESELA__NEED(err, out);
  TESELA__NEED_LIST(err, text, length);
  tesela__expression_reader reader;
  tesela_status status = expression_parse(&reader, text, length, TESELA__OPERAND_LAYOUT, err);
  if (status != TESELA_OK) return status;
  if (reader.operand[0].kind == TESELA__OPERAND_REGISTER) {
    out->kind = TESELA_EXPRESSION_REGISTER;
    out->registers = reader.operand[0].registers;
  } else {
    out->kind = TESELA_EXPRESSION_MEMORY;
    out->memory = reader.operand[0].memory;
  }
  return TESELA_OK;
}

tesela_status tesela_register_parse(const char *text, size_t length, tesela_register *out,
                                    tesela_error *err) {
  TESELA__NEED(err, out);
  TESELA__NEED_LIST(err, text, length);
  tesela__expression_reader reader;
  tesela_status status = expression_parse(&reader, text, length, TESELA__OPERAND_REGISTER, err);
  if (status == TESELA_OK) *out = reader.operand[0].registers;
  return status;
}

tesela_status tesela_tile_memory_parse(const char *text, size_t length, tesela_tile_memory *out,
                                       tesela_error *err) {
  TESELA__NEED(err, out);
  TESELA__NEED_LIST(err, text, length);
  tesela__expression_reader reader;
  tesela_status status = expression_parse(&reader, text, length, TESELA__OPERAND_MEMORY, err);
  if (status == TESELA_OK) *out = reader.operand[0].memory;
  return status;
}

bool tesela__expression_near(const char *text, size_t length) {
  tesela__function_call call;
  size_t at = 0, n = 0;
  while (at < length && (text[at] == '(' || expression_blank(text[at]))) at++;
  while (at + n < length && tesela__byte_is(text[at + n], TESELA__BYTE_NAME)) n++;
  if (n == 0 || n > TESELA__EDITS_WORD || (text[at] >= '0' && text[at] <= '9')) return false;
  if (at + n == length || text[at + n] == '.') {
    if (tesela__fragment_begins(text + at, n)) return true;
    if (n > 5 && text[at] == 'S' && text[at + 1] == 'M' && memchr(text + at, '_', n))
      return true; /* CUTLASS */
  }
  bool known = tesela__function_find(text + at, n, &call);
  if (!known && (n < 3 || tesela_dtype_suggest(text + at, n))) return false; /* b(..), f32(3,5) */
  for (at += n; at < length && expression_blank(text[at]);) at++;
  return at < length && text[at] == '(';
}
