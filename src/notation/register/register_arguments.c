/* SPDX-License-Identifier: Apache-2.0 */
/*
 * register_arguments.c - what stands between the brackets of a call.
 *
 * The text that people read about a function, "*shape, ranks=None", is what its calls are read by: the words in their
 * order, a star where numbers may stand one by one, and defaults. What kind of value a word wants, the word says: one
 * word means one thing in every function.
 *
 * Nothing is computed here but the layouts that stand among the arguments.
 */
#include "notation/register/register_read.h"

/* ---- the words ---- */

/* All other words are lists. */
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

/* Words of Tilus for the same, understood where the function has no such word itself. */
static const struct {
  const char *name, *meant;
} parameter_aliases[] = {
    {"start", "start_dim"},  {"end", "end_dim"}, {"optional_swizzle", "swizzle"},
    {"retain_dims", "dims"}, {"extent", "n"},
};

static bool parameter_is(const char *text, size_t length, const char *name) {
  return strlen(name) == length && memcmp(text, name, length) == 0;
}

static tesela__parameter_kind parameter_kind(const char *name, size_t length) {
  for (size_t i = 0; i < sizeof parameter_words / sizeof parameter_words[0]; i++)
    if (parameter_is(name, length, parameter_words[i].name)) return parameter_words[i].kind;
  return TESELA__PARAMETER_LIST;
}

/* The default that stands behind '=': None, True, False, or a small number. */
static void parameter_default(tesela__argument *argument, const char *text) {
  bool negative = *text == '-';
  argument->optional = true;
  argument->given = *text != 'N';
  argument->number = *text == 'T';
  for (text += negative; *text >= '0' && *text <= '9'; text++)
    argument->number = argument->number * 10 + (*text - '0');
  if (negative) argument->number = -argument->number;
}

/* Take the text of a function apart. */
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
    argument->optional = argument->given = argument->star; /* spatial() has no dims */
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

/* Take this word if it comes next and is no call. */
static bool argument_word(tesela__expression_reader *reader, const char *word) {
  tesela__expression_peek(reader);
  size_t length = tesela__expression_name(reader);
  if (!parameter_is(reader->text + reader->at, length, word)) return false;
  reader->at += length;
  return true;
}

static tesela_status argument_count(const tesela__function_call *call, tesela__argument *argument) {
  if (++argument->count <= TESELA_REGISTER_MODES) return TESELA_OK;
  return tesela__fail(call->reader->err, TESELA_E_LIMIT, (int64_t)call->reader->at,
                      "%.*s has more than %d numbers: %s(%s)", (int)argument->name_length, argument->name,
                      TESELA_REGISTER_MODES, call->function->name, call->function->arguments);
}

/* Numbers up to `close`; the reader stands behind the bracket that opens them. */
static tesela_status argument_bracketed(const tesela__function_call *call, tesela__argument *argument,
                                        char close) {
  tesela__expression_reader *reader = call->reader;
  int64_t number;
  while (!tesela__expression_take(reader, close)) {
    if (!tesela__expression_number_next(reader))
      return argument_unexpected(call, close == ']' ? "a whole number or ']'" : "a whole number or ')'");
    tesela_status status = argument_count(call, argument);
    if (status == TESELA_OK) status = tesela__expression_number(reader, &number);
    if (status != TESELA_OK) return status;
    if (tesela__expression_take(reader, ',')) continue;
    if (tesela__expression_take(reader, close)) return TESELA_OK;
    return argument_unexpected(call, close == ']' ? "',' or ']'" : "',' or ')'");
  }
  return TESELA_OK;
}

/* Numbers one by one as long as they go on; the comma behind the last one is left. */
static tesela_status argument_numbers(const tesela__function_call *call, tesela__argument *argument,
                                      bool several) {
  tesela__expression_reader *reader = call->reader;
  int64_t number;
  for (;;) {
    tesela_status status = argument_count(call, argument);
    if (status == TESELA_OK) status = tesela__expression_number(reader, &number);
    if (status != TESELA_OK) return status;
    size_t behind = reader->at;
    if (several && tesela__expression_take(reader, ',') && tesela__expression_number_next(reader)) continue;
    reader->at = behind;
    return TESELA_OK;
  }
}

static tesela_status argument_list(const tesela__function_call *call, tesela__argument *argument,
                                   bool several) {
  tesela__expression_reader *reader = call->reader;
  argument->count = 0;
  argument->given = true;
  if (tesela__expression_number_next(reader)) return argument_numbers(call, argument, several);
  if (tesela__expression_take(reader, '[')) return argument_bracketed(call, argument, ']');
  if (tesela__expression_take(reader, '(')) return argument_bracketed(call, argument, ')');
  if (argument->star) return argument_unexpected(call, "a whole number or a list such as [2, 3]");
  argument->given = false;
  if (argument->optional && argument_word(reader, "None")) return TESELA_OK;
  return argument_unexpected(call, argument->optional ? "a list such as [2, 3], or None,"
                                                      : "a list such as [2, 3]");
}

static tesela_status argument_number(const tesela__function_call *call, tesela__argument *argument) {
  argument->given = true;
  if (tesela__expression_number_next(call->reader))
    return tesela__expression_number(call->reader, &argument->number);
  argument->given = false;
  if (argument->optional && argument_word(call->reader, "None")) return TESELA_OK;
  return argument_unexpected(call, "a whole number");
}

static tesela_status argument_bool(const tesela__function_call *call, tesela__argument *argument) {
  argument->given = true;
  argument->number = argument_word(call->reader, "True");
  if (argument->number || argument_word(call->reader, "False")) return TESELA_OK;
  return argument_unexpected(call, "True or False");
}

/* A layout or a swizzle. Numbers and lists are refused here, where the function is known. */
static tesela_status argument_operand(const tesela__function_call *call, tesela__argument *argument) {
  tesela__expression_reader *reader = call->reader;
  bool layout = argument->kind == TESELA__PARAMETER_LAYOUT;
  argument->given = false;
  if (argument->optional && argument_word(reader, "None")) return TESELA_OK;
  size_t at = reader->at;
  bool word =
      argument_word(reader, "None") || argument_word(reader, "True") || argument_word(reader, "False");
  reader->at = at;
  if (word || (tesela__expression_peek(reader) != '(' && tesela__expression_name(reader) == 0))
    return argument_unexpected(call, layout ? "a layout" : "a swizzle such as Swizzle(3, 3, 3)");
  tesela_status status = tesela__expression_read(reader);
  if (status != TESELA_OK) return status;
  argument->given = true;
  argument->operand = reader->n_operands - 1;
  return TESELA_OK;
}

static tesela_status argument_value(const tesela__function_call *call, tesela__argument *argument,
                                    bool several) {
  tesela__expression_peek(call->reader);
  argument->seen = true;
  argument->at = call->reader->at;
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

/* "name=": the reader stands at the name, and then behind the '='. */
static tesela_status argument_keyword(tesela__function_call *call, size_t length,
                                      tesela__argument **argument) {
  tesela__expression_reader *reader = call->reader;
  const char *name = reader->text + reader->at;
  *argument = argument_named(call, name, length);
  for (size_t i = 0; !*argument && i < sizeof parameter_aliases / sizeof parameter_aliases[0]; i++)
    if (parameter_is(name, length, parameter_aliases[i].name))
      *argument = argument_named(call, parameter_aliases[i].meant, strlen(parameter_aliases[i].meant));
  if (!*argument) {
    const char *near = tesela__expression_nearest(name, length, argument_candidate, call);
    return tesela__fail(reader->err, TESELA_E_SYNTAX, (int64_t)reader->at,
                        "no argument '%.*s%s' in %s(%s)%s%.*s%s", tesela__expression_shown(length), name,
                        tesela__expression_dots(length), call->function->name, call->function->arguments,
                        near ? "; did you mean " : "", near ? (int)strcspn(near, ",= ") : 0, near ? near : "",
                        near ? "?" : "");
  }
  if ((*argument)->seen)
    return tesela__fail(reader->err, TESELA_E_SYNTAX, (int64_t)reader->at, "%.*s is given twice: %s(%s)",
                        (int)(*argument)->name_length, (*argument)->name, call->function->name,
                        call->function->arguments);
  reader->at += length;
  tesela__expression_take(reader, '=');
  return TESELA_OK;
}

/* Bytes of the name that comes next if '=' stands behind it, else 0. */
static size_t argument_keyword_next(tesela__expression_reader *reader) {
  tesela__expression_peek(reader);
  size_t at = reader->at, length = tesela__expression_name(reader);
  reader->at += length;
  bool equals = length > 0 && tesela__expression_peek(reader) == '=';
  reader->at = at;
  return equals ? length : 0;
}

/* *place is the number of the next argument without a name, n once none may stand there. */
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
    return argument_unexpected(call, full ? "')'" : "an argument with its name, or ')',");
  }
  argument = &call->argument[*place];
  bool numbers = argument->star && tesela__expression_number_next(call->reader);
  *place = numbers ? call->n : *place + 1; /* what stands behind *shape needs its name then */
  return argument_value(call, argument, argument->star);
}

tesela_status tesela__call_arguments(tesela__function_call *call, int32_t in_front) {
  tesela__expression_reader *reader = call->reader;
  int32_t place = 0;
  parameters(call);
  if (in_front >= 0) {
    if (call->n == 0 || call->argument[0].kind != TESELA__PARAMETER_LAYOUT)
      return tesela__fail(reader->err, TESELA_E_SYNTAX, (int64_t)call->at,
                          "%s(%s) takes no layout and can not stand behind one", call->function->name,
                          call->function->arguments);
    call->argument[0].seen = call->argument[0].given = true;
    call->argument[0].operand = in_front;
    place = 1;
  }
  while (!tesela__expression_take(reader, ')')) {
    tesela_status status = argument_next(call, &place);
    if (status != TESELA_OK) return status;
    if (tesela__expression_take(reader, ',')) continue;
    if (tesela__expression_take(reader, ')')) break;
    return argument_unexpected(call, "',' or ')'");
  }
  for (int32_t k = 0; k < call->n; k++)
    if (!call->argument[k].seen && !call->argument[k].optional)
      return tesela__fail(reader->err, TESELA_E_SYNTAX, (int64_t)reader->at - 1, "%.*s is missing: %s(%s)",
                          (int)call->argument[k].name_length, call->argument[k].name, call->function->name,
                          call->function->arguments);
  return TESELA_OK;
}
