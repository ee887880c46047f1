/* SPDX-License-Identifier: Apache-2.0 */
/*
 * index_lambda.c - index maps of TVM: lambda n, c, h, w: (n, c // 16, h, w, c % 16), alone or in IndexMap.from_func(..),
 * T.index_map(..).
 *
 *   lambda  = "lambda" [name {"," name}] ":" results
 *   results = expr | "(" [item {"," item} [","]] ")" | "[" [item {"," item} [","]] "]"
 *   item    = expr | [path "."] "AXIS_SEPARATOR"
 *   expr    = Python, with numbers on one side of each * // % << >> &
 */
#include <string.h>

#include "base/base.h"
#include "notation/index/index.h"

const tesela__map_operator tesela__python_operators[] = {
    {"//", TESELA__MAP_DIVIDE}, {"%", TESELA__MAP_MODULO},   {"*", TESELA__MAP_MULTIPLY},
    {"+", TESELA__MAP_ADD},     {"-", TESELA__MAP_SUBTRACT}, {"^", TESELA__MAP_XOR},
    {"&", TESELA__MAP_AND},     {"<<", TESELA__MAP_LEFT},    {">>", TESELA__MAP_RIGHT},
    {NULL, TESELA__MAP_OPEN}};

const tesela__spelling tesela__python_spelling = {.divide = " // ",
                                                  .modulo = " % ",
                                                  .times = " * ",
                                                  .suffix = "",
                                                  .dim = 'd',
                                                  .number_first = true,
                                                  .tight_sign = true,
                                                  .sums_inside = true,
                                                  .exclusive = true,
                                                  .places = TESELA__PLACES_INSIDE};

/* ---- reading ---- */

static tesela_status lambda_names(tesela__map_text *m) {
  tesela__reader *r = &m->reader;
  int32_t n = 0;
  while (!tesela__read_take(r, ':')) {
    tesela_status status = TESELA_OK;
    if (n > 0) status = tesela__read_expect(r, ',', "or ':' after the name");
    if (status == TESELA_OK && n == m->n_dims)
      status = tesela__read_fail(r, TESELA_E_MISMATCH, r->at, "more names than the array has dims, %" PRId32,
                                 m->n_dims);
    if (status == TESELA_OK)
      status = tesela__map_declare(m, TESELA__MAP_DIM, n++, "the name of a dim or ':'");
    if (status != TESELA_OK) return status;
  }
  if (n == m->n_dims) return TESELA_OK;
  return tesela__read_fail(r, TESELA_E_MISMATCH, r->at - 1,
                           "%" PRId32 " names; the array has %" PRId32 " dims", n, m->n_dims);
}

/* The bracket that opens a list of results, or 0: "(a, b)" and "()" are lists, "(a + b) * 2" is not. */
static char lambda_opens(tesela__reader *r) {
  int c = tesela__read_peek(r);
  size_t depth = 0, at = r->at;
  bool comma = false;
  if (c == '[') return '[';
  if (c != '(') return 0;
  for (; at < r->length; at++) {
    char b = r->text[at];
    depth += b == '(' || b == '[';
    if (b == ',' && depth == 1) comma = true;
    if ((b == ')' || b == ']') && --depth == 0) break;
  }
  tesela__reader inner = *r;
  inner.at++;
  return comma || tesela__read_peek(&inner) == ')' ? '(' : 0;
}

/* "IndexMap.AXIS_SEPARATOR" */
static bool lambda_separator(tesela__reader *r) {
  static const char name[] = "AXIS_SEPARATOR";
  size_t n = tesela__read_word(r), end = r->at + n;
  while (n > 0 && end < r->length && r->text[end] == '.') end += 1 + tesela__read_lump(r, end + 1);
  if (end - r->at < sizeof name - 1 || memcmp(r->text + end - sizeof name + 1, name, sizeof name - 1) != 0)
    return false;
  r->at = end;
  return true;
}

static tesela_status lambda_item(tesela__map_text *m, int32_t *separator, int32_t *n) {
  if (!lambda_separator(&m->reader)) return tesela__map_expression(m, tesela__python_operators);
  if (*n == TESELA_MAX_AXES - 1)
    return tesela__read_fail(&m->reader, TESELA_E_LIMIT, m->reader.at, "more than %d axes", TESELA_MAX_AXES);
  separator[(*n)++] = m->n_values;
  return TESELA_OK;
}

tesela_status tesela__read_lambda(tesela__map_text *m, int32_t *separator, int32_t *n) {
  tesela__reader *r = &m->reader;
  *n = 0;
  if (!tesela__read_take_text(r, "lambda")) return tesela__read_unexpected(r, "lambda", "");
  tesela_status status = lambda_names(m);
  char open = status == TESELA_OK ? lambda_opens(r) : 0, close = open == '[' ? ']' : ')';
  if (status == TESELA_OK && open == 0) return tesela__map_expression(m, tesela__python_operators);
  r->at += open != 0;
  bool more = status == TESELA_OK && !tesela__read_take(r, close);
  while (status == TESELA_OK && more) {
    status = lambda_item(m, separator, n);
    if (status == TESELA_OK) status = tesela__read_more(r, close, true, &more);
  }
  return status;
}

/* ", ndim=2, index_dtype=\"int32\"", which change nothing, up to ')'. */
static tesela_status lambda_arguments(tesela__reader *r) {
  while (tesela__read_take(r, ',')) {
    if (tesela__read_peek(r) == ')') break;
    size_t length = tesela__read_word(r), at = r->at;
    bool ndim = tesela__same_word(r->text + at, length, "ndim"),
         type = tesela__same_word(r->text + at, length, "index_dtype");
    int64_t value;
    if (!ndim && !type)
      return tesela__read_fail(r, TESELA_E_UNSUPPORTED, at,
                               "an argument after the lambda; expected only ndim and index_dtype");
    r->at += length;
    tesela_status status = tesela__read_expect(r, '=', "after the name");
    if (status == TESELA_OK && ndim)
      status = tesela__read_integer(r, "a number of dims", 0, TESELA_MAX_RANK, &value);
    if (status != TESELA_OK) return status;
    if (!type) continue;
    int quote = tesela__read_peek(r);
    if (quote != '"' && quote != '\'') return tesela__read_unexpected(r, "a type in quotes", "");
    r->at++;
    r->at += tesela__read_lump(r, r->at);
    if (r->at >= r->length || r->text[r->at] != quote)
      return tesela__read_unexpected(r, "the end of the quotes", "");
    r->at++;
  }
  return tesela__read_expect(r, ')', "after the lambda");
}

static tesela_status index_map_text(tesela__map_text *m, const void *user) {
  const tesela_layout_read_options *options = user;
  tesela__reader *r = &m->reader;
  int32_t separator[TESELA_MAX_AXES], n = 0;
  bool call = false;
  tesela__index_array(m, options);
  size_t length = tesela__read_word(r);
  if (length > 0 && !tesela__same_word(r->text + r->at, length, "lambda")) { /* a path, T.index_map */
    size_t end = r->at + length;
    while (end < r->length && r->text[end] == '.') end += 1 + tesela__read_lump(r, end + 1);
    r->at = end;
    call = true;
  }
  tesela_status status = call ? tesela__read_expect(r, '(', "and a lambda") : TESELA_OK;
  if (status == TESELA_OK) status = tesela__read_lambda(m, separator, &n);
  if (status == TESELA_OK && call) status = lambda_arguments(r);
  if (status == TESELA_OK && tesela__read_peek(r) >= 0)
    status = tesela__read_unexpected(r, "an operator or the end", "");
  return status == TESELA_OK ? tesela__index_results(m, options->as, n, separator, NULL) : status;
}

tesela_status tesela__index_map_read(const char *text, size_t length,
                                     const tesela_layout_read_options *options, tesela_any_layout *out,
                                     tesela_error *err) {
  return tesela__index_read(text, length, index_map_text, options, out, err);
}

/* ---- writing ---- */

tesela_status tesela__index_map_write(const tesela_layout *layout, const tesela_writer *to,
                                      tesela_translation *answer, tesela_error *err) {
  static const tesela__results around = {"[", "]", ", IndexMap.AXIS_SEPARATOR, ", true};
  tesela_layout form;
  tesela__sink sink;
  tesela_status status = tesela__index_expressible(layout, &form, answer, err);
  if (status != TESELA_OK || answer->verdict == TESELA_IMPOSSIBLE) return status;
  tesela__sink_init(&sink, to);
  tesela__puts(&sink, "lambda ");
  tesela__index_put_dims(&sink, &form);
  tesela__puts(&sink, ": ");
  tesela__index_put_results(&sink, &tesela__python_spelling, &around, &form);
  return tesela__sink_finish(&sink, err);
}
