/* SPDX-License-Identifier: Apache-2.0 */
/*
 * register_arguments.c - reads the arguments of a call.
 *
 * The help text of a function, "*shape, ranks=None", also drives the reader of its calls: the names in order, a star
 * for numbers that may be given one by one, and defaults. The name decides the kind of value, the same in every
 * function.
 *
 * Computes nothing except the layouts among the arguments.
 */
#include <stdio.h>

#include "notation/register/register_read.h"

/* ---- names ---- */

/* All other names are lists. */
static const struct {
  const char *name;
  tesela__parameter_kind kind;
} parameter_words[] = {
    {"base", TESELA__PARAMETER_NUMBER},
    {"bits", TESELA__PARAMETER_NUMBER},
    {"divisor", TESELA__PARAMETER_LAYOUT},
    {"end_dim", TESELA__PARAMETER_NUMBER},
    {"inner", TESELA__PARAMETER_LAYOUT},
    {"k", TESELA__PARAMETER_NUMBER},
    {"k_major", TESELA__PARAMETER_BOOL},
    {"mn", TESELA__PARAMETER_NUMBER},
    {"swizzle_bytes", TESELA__PARAMETER_NUMBER},
    {"keepdims", TESELA__PARAMETER_BOOL},
    {"layout", TESELA__PARAMETER_LAYOUT},
    {"lhs", TESELA__PARAMETER_LAYOUT},
    {"n", TESELA__PARAMETER_NUMBER},
    {"nbytes", TESELA__PARAMETER_NUMBER},
    {"num_threads", TESELA__PARAMETER_NUMBER},
    {"num_workers", TESELA__PARAMETER_NUMBER},
    {"offset", TESELA__PARAMETER_NUMBER},
    {"outer", TESELA__PARAMETER_LAYOUT},
    {"rhs", TESELA__PARAMETER_LAYOUT},
    {"shift", TESELA__PARAMETER_NUMBER},
    {"size", TESELA__PARAMETER_NUMBER},
    {"start_dim", TESELA__PARAMETER_NUMBER},
    {"swizzle", TESELA__PARAMETER_SWIZZLE},
};

/* Synonyms from Tilus, accepted unless the function has an argument of that name. */
static const struct {
  const char *name, *meant;
} parameter_aliases[] = {
    {"start", "start_dim"},  {"end", "end_dim"}, {"optional_swizzle", "swizzle"},
    {"retain_dims", "dims"}, {"extent", "n"},
};

static tesela__parameter_kind parameter_kind(const char *name, size_t length) {
  for (size_t i = 0; i < sizeof parameter_words / sizeof parameter_words[0]; i++)
    if (tesela__same_word(name, length, parameter_words[i].name)) return parameter_words[i].kind;
  return TESELA__PARAMETER_LIST;
}

/* The default after '=': None, True, False, or a small number. */
static void parameter_default(tesela__argument *argument, const char *text) {
  bool negative = *text == '-';
  argument->optional = true;
  argument->given = *text != 'N';
  argument->number = *text == 'T';
  for (text += negative; *text >= '0' && *text <= '9'; text++)
    argument->number = argument->number * 10 + (*text - '0');
  if (negative) argument->number = -argument->number;
}

/* Split the help text of a function into arguments. */
static void parameters(tesela__function_call *call) {
  call->n = 0;
  for (const char *text = call->function->arguments; *text && call->n < TESELA__PARAMETERS;) {
    tesela__argument *argument = &call->argument[call->n++];
    *argument = (tesela__argument){.at = call->at, .star = *text == '*'};
    text += argument->star;
    size_t length = strcspn(text, ",=");
    argument->name = text;
    argument->name_length = (int32_t)length;
    argument->kind = parameter_kind(text, length);
    argument->optional = argument->given = argument->star; /* spatial() is allowed: no dims */
    text += length;
    if (*text == '=') parameter_default(argument, text + 1);
    text += strcspn(text, ",");
    text += strspn(text, ", ");
  }
}

/* ---- values ---- */

static tesela_status argument_unexpected(const tesela__function_call *call, const char *allowed) {
  return tesela__expression_unexpected(call->reader, allowed, call->function);
}

static tesela_status argument_count(const tesela__function_call *call, tesela__argument *argument) {
  if (++argument->count <= TESELA_REGISTER_MODES) return TESELA_OK;
  return tesela__fail(call->reader->in.err, TESELA_E_LIMIT, (int64_t)call->reader->in.at,
                      "%.*s has more than %d numbers: %s(%s)", (int)argument->name_length, argument->name,
                      TESELA_REGISTER_MODES, call->function->name, call->function->arguments);
}

/* After an item: is there one more? A trailing comma is allowed. */
static tesela_status argument_more(const tesela__function_call *call, char close, bool *more) {
  tesela__reader *in = &call->reader->in;
  bool comma = tesela__read_take(in, ',');
  *more = !tesela__read_take(in, close);
  if (comma || !*more) return TESELA_OK;
  return argument_unexpected(call, close == ']' ? "',' or ']'" : "',' or ')'");
}

/* Numbers up to `close`; the reader is after the opening bracket. */
static tesela_status argument_bracketed(const tesela__function_call *call, tesela__argument *argument,
                                        char close) {
  tesela__expression_reader *reader = call->reader;
  int64_t number;
  for (bool more = !tesela__read_take(&reader->in, close); more;) {
    if (!tesela__read_integer_next(&reader->in))
      return argument_unexpected(call, close == ']' ? "a whole number or ']'" : "a whole number or ')'");
    tesela_status status = argument_count(call, argument);
    if (status == TESELA_OK) status = tesela__expression_number(reader, &number);
    if (status == TESELA_OK) status = argument_more(call, close, &more);
    if (status != TESELA_OK) return status;
  }
  return TESELA_OK;
}

/* Numbers one by one, as many as follow; leaves the comma after the last. */
static tesela_status argument_numbers(const tesela__function_call *call, tesela__argument *argument,
                                      bool several) {
  tesela__expression_reader *reader = call->reader;
  int64_t number;
  for (;;) {
    tesela_status status = argument_count(call, argument);
    if (status == TESELA_OK) status = tesela__expression_number(reader, &number);
    if (status != TESELA_OK) return status;
    size_t behind = reader->in.at;
    if (several && tesela__read_take(&reader->in, ',') && tesela__read_integer_next(&reader->in)) continue;
    reader->in.at = behind;
    return TESELA_OK;
  }
}

static tesela_status argument_list(const tesela__function_call *call, tesela__argument *argument,
                                   bool several) {
  tesela__expression_reader *reader = call->reader;
  argument->count = 0;
  argument->given = true;
  if (tesela__read_integer_next(&reader->in)) return argument_numbers(call, argument, several);
  if (tesela__read_take(&reader->in, '[')) return argument_bracketed(call, argument, ']');
  if (tesela__read_take(&reader->in, '(')) return argument_bracketed(call, argument, ')');
  if (argument->star) return argument_unexpected(call, "a whole number or a list such as [2, 3]");
  argument->given = false;
  if (argument->optional && tesela__read_take_text(&reader->in, "None")) return TESELA_OK;
  return argument_unexpected(call,
                             argument->optional ? "a list such as [2, 3], or None" : "a list such as [2, 3]");
}

static tesela_status argument_number(const tesela__function_call *call, tesela__argument *argument) {
  argument->given = true;
  if (tesela__read_integer_next(&call->reader->in))
    return tesela__expression_number(call->reader, &argument->number);
  argument->given = false;
  if (argument->optional && tesela__read_take_text(&call->reader->in, "None")) return TESELA_OK;
  return argument_unexpected(call, "a whole number");
}

static tesela_status argument_bool(const tesela__function_call *call, tesela__argument *argument) {
  argument->given = true;
  argument->number = tesela__read_take_text(&call->reader->in, "True");
  if (argument->number || tesela__read_take_text(&call->reader->in, "False")) return TESELA_OK;
  return argument_unexpected(call, "True or False");
}

/* A layout or a swizzle. Numbers and lists are refused here, so that the message can name the function. */
static tesela_status argument_operand(const tesela__function_call *call, tesela__argument *argument) {
  tesela__expression_reader *reader = call->reader;
  bool layout = argument->kind == TESELA__PARAMETER_LAYOUT;
  argument->given = false;
  if (argument->optional && tesela__read_take_text(&reader->in, "None")) return TESELA_OK;
  size_t at = reader->in.at;
  bool word = tesela__read_take_text(&reader->in, "None") || tesela__read_take_text(&reader->in, "True") ||
              tesela__read_take_text(&reader->in, "False");
  reader->in.at = at;
  if (word || (tesela__read_peek(&reader->in) != '(' && tesela__read_word(&reader->in) == 0))
    return argument_unexpected(call, layout ? "a layout" : "a swizzle such as Swizzle(3, 3, 3)");
  tesela_status status = tesela__expression_read(reader);
  if (status != TESELA_OK) return status;
  argument->given = true;
  argument->operand = reader->n_operands - 1;
  return TESELA_OK;
}

static tesela_status argument_value(const tesela__function_call *call, tesela__argument *argument,
                                    bool several) {
  tesela__read_peek(&call->reader->in);
  argument->seen = true;
  argument->at = call->reader->in.at;
  switch (argument->kind) {
  case TESELA__PARAMETER_LIST:
    return argument_list(call, argument, several);
  case TESELA__PARAMETER_NUMBER:
    return argument_number(call, argument);
  case TESELA__PARAMETER_BOOL:
    return argument_bool(call, argument);
  default:
    return argument_operand(call, argument);
  }
}

/* ---- which argument it is ---- */

static const char *argument_candidate(const void *user, int32_t i) {
  const tesela__function_call *call = user;
  return i < call->n ? call->argument[i].name : NULL;
}

static tesela__argument *argument_named(tesela__function_call *call, const char *name, size_t length) {
  for (int32_t k = 0; k < call->n; k++)
    if ((size_t)call->argument[k].name_length == length && memcmp(call->argument[k].name, name, length) == 0)
      return &call->argument[k];
  return NULL;
}

/* Read "name=" and find the argument. */
static tesela_status argument_keyword(tesela__function_call *call, size_t length,
                                      tesela__argument **argument) {
  tesela__expression_reader *reader = call->reader;
  const char *name = reader->in.text + reader->in.at;
  *argument = argument_named(call, name, length);
  for (size_t i = 0; !*argument && i < sizeof parameter_aliases / sizeof parameter_aliases[0]; i++)
    if (tesela__same_word(name, length, parameter_aliases[i].name))
      *argument = argument_named(call, parameter_aliases[i].meant, strlen(parameter_aliases[i].meant));
  if (!*argument) {
    const char *near = tesela__nearest(name, length, argument_candidate, call);
    char of[sizeof reader->in.err->message];
    snprintf(of, sizeof of, " of %s(%s)", call->function->name, call->function->arguments);
    return tesela__read_unknown(&reader->in, TESELA_E_SYNTAX, reader->in.at, length, "argument", of, near,
                                NULL);
  }
  if ((*argument)->seen)
    return tesela__fail(reader->in.err, TESELA_E_SYNTAX, (int64_t)reader->in.at,
                        "%.*s is given twice: %s(%s)", (int)(*argument)->name_length, (*argument)->name,
                        call->function->name, call->function->arguments);
  reader->in.at += length;
  tesela__read_take(&reader->in, '=');
  return TESELA_OK;
}

/* Bytes of the next name if '=' follows it, else 0. */
static size_t argument_keyword_next(tesela__expression_reader *reader) {
  tesela__read_peek(&reader->in);
  size_t at = reader->in.at, length = tesela__read_word(&reader->in);
  reader->in.at += length;
  bool equals = length > 0 && tesela__read_peek(&reader->in) == '=';
  reader->in.at = at;
  return equals ? length : 0;
}

/* Read an argument. *place: the number of the next argument without a name; n once names are required. */
static tesela_status argument_next(tesela__function_call *call, int32_t *place) {
  tesela__argument *argument;
  size_t length = argument_keyword_next(call->reader);
  if (length > 0) {
    tesela_status status = argument_keyword(call, length, &argument);
    *place = call->n;
    return status == TESELA_OK ? argument_value(call, argument, false) : status;
  }
  if (*place >= call->n) {
    bool full = true;
    for (int32_t k = 0; k < call->n; k++) full = full && call->argument[k].seen;
    return argument_unexpected(call, full ? "')'" : "an argument with its name, or ')'");
  }
  argument = &call->argument[*place];
  bool numbers = argument->star && tesela__read_integer_next(&call->reader->in);
  *place = numbers ? call->n : *place + 1; /* arguments after *shape need their names */
  return argument_value(call, argument, argument->star);
}

tesela_status tesela__call_arguments(tesela__function_call *call, int32_t in_front) {
  tesela__expression_reader *reader = call->reader;
  int32_t place = 0;
  parameters(call);
  if (in_front >= 0) {
    if (call->n == 0 || call->argument[0].kind != TESELA__PARAMETER_LAYOUT)
      return tesela__fail(reader->in.err, TESELA_E_SYNTAX, (int64_t)call->at,
                          "%s(%s) does not take a layout and cannot follow one", call->function->name,
                          call->function->arguments);
    call->argument[0].seen = call->argument[0].given = true;
    call->argument[0].operand = in_front;
    place = 1;
  }
  for (bool more = !tesela__read_take(&reader->in, ')'); more;) {
    tesela_status status = argument_next(call, &place);
    if (status == TESELA_OK) status = argument_more(call, ')', &more);
    if (status != TESELA_OK) return status;
  }
  for (int32_t k = 0; k < call->n; k++)
    if (!call->argument[k].seen && !call->argument[k].optional)
      return tesela__fail(reader->in.err, TESELA_E_SYNTAX, (int64_t)reader->in.at - 1,
                          "missing argument %.*s: %s(%s)", (int)call->argument[k].name_length,
                          call->argument[k].name, call->function->name, call->function->arguments);
  return TESELA_OK;
}
