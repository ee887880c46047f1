/* SPDX-License-Identifier: Apache-2.0 */
/*
 * hlo_literal.c - numbers in HLO text, and constants all of whose elements are one number.
 *
 *   constant(0)   constant(-inf)   constant(true)   constant({ {1, 1}, {1, 1} })   constant({...}): not given
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "graph/hlo/hlo.h"

enum { HLO_NUMBER = 64 }; /* bytes of the longest number */

bool tesela__hlo_number(const char *text, tesela__hlo_span span, double *value) {
  static const struct {
    const char *word;
    double value;
  } words[] = {{"true", 1}, {"false", 0}, {"inf", (double)INFINITY}, {"-inf", -(double)INFINITY}};
  char copy[HLO_NUMBER], *end;
  span = tesela__hlo_trim(text, span);
  for (size_t i = 0; i < sizeof words / sizeof words[0]; i++) {
    if (!tesela__hlo_same(text, span, words[i].word)) continue;
    *value = words[i].value;
    return true;
  }
  if (span.n == 0 || span.n >= sizeof copy) return false;
  memcpy(copy, text + span.at, span.n);
  copy[span.n] = '\0';
  bool minus = copy[0] == '-';
  if (strncmp(copy + minus, "nan", 3) == 0) { /* also followed by its bits: nan(0x400) */
    *value = minus ? -(double)NAN : (double)NAN;
    return true;
  }
  if (!strchr("0123456789.", copy[minus])) return false; /* other forms of strtod */
  for (size_t i = 0; i < span.n; i++)
    if (copy[i] == '.') copy[i] = tesela__decimal_point();
  *value = strtod(copy, &end);
  return *end == '\0';
}

void tesela__hlo_put_number(tesela__sink *sink, double value) {
  char text[HLO_NUMBER];
  if (isnan(value)) {
    tesela__puts(sink, signbit(value) ? "-nan" : "nan");
    return;
  }
  if (isinf(value)) {
    tesela__puts(sink, value < 0 ? "-inf" : "inf");
    return;
  }
  int n = snprintf(text, sizeof text, "%.17g", value);
  for (int i = 0; i < n; i++)
    if (text[i] == tesela__decimal_point()) text[i] = '.';
  tesela__puts(sink, text);
}

/* ---- constants ---- */

static bool hlo_same_bits(double a, double b) { return memcmp(&a, &b, sizeof a) == 0; }

/* Read the numbers of a literal. *n counts them; *splat: all are equal. */
static tesela_status hlo_numbers(tesela__reader *r, int64_t *n, bool *splat, double *value) {
  char shown[TESELA__HLO_SHOWN];
  for (*n = 0;;) {
    tesela__read_peek(r);
    if (r->at >= r->length) return TESELA_OK;
    if (strchr("{},", r->text[r->at])) {
      r->at++;
      continue;
    }
    size_t start = r->at;
    double number;
    if (r->text[r->at] == '(' || (r->length - r->at >= 3 && memcmp(r->text + r->at, "...", 3) == 0)) {
      *splat = false; /* complex, or not given */
      *n = -1;
      return TESELA_OK;
    }
    while (r->at < r->length && !strchr("{}, \n\t\r", r->text[r->at])) r->at++;
    tesela__hlo_span span = {start, r->at - start};
    if (!tesela__hlo_number(r->text, span, &number))
      return tesela__fail(r->err, TESELA_E_SYNTAX, (int64_t)start, "%s is not a number",
                          tesela__hlo_shown(r->text, span, shown));
    if (*n > 0 && !hlo_same_bits(number, *value)) *splat = false;
    *value = number;
    ++*n;
  }
}

tesela_status tesela__hlo_literal(const tesela__hlo_module *m, const tesela__hlo_instruction *in,
                                  int64_t elements, bool *splat, double *value, tesela_error *err) {
  tesela__reader r = tesela__hlo_text(m->text, in->inside, err);
  int64_t n;
  *splat = true;
  *value = 0;
  tesela_status status = hlo_numbers(&r, &n, splat, value);
  if (status != TESELA_OK) return status;
  if (n >= 0 && n != elements)
    return tesela__fail(err, TESELA_E_INVALID, (int64_t)in->inside.at,
                        "a constant of %" PRId64 " values; its shape has %" PRId64 " elements", n, elements);
  return TESELA_OK;
}
