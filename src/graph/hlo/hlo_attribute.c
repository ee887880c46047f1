/* SPDX-License-Identifier: Apache-2.0 */
/*
 * hlo_attribute.c - attributes of an instruction, read from the text after its operands on request.
 *
 * The whole text was read once, so brackets and quotes are known to close.
 */
#include "graph/hlo/hlo.h"

tesela__hlo_span tesela__hlo_attribute(const tesela__hlo_module *m, const tesela__hlo_instruction *in,
                                       const char *key) {
  tesela__reader r = tesela__hlo_text(m->text, in->attributes, NULL);
  while (tesela__read_take(&r, ',')) {
    tesela__hlo_span name = tesela__hlo_take_name(&r), value;
    if (!tesela__read_take(&r, '=') || tesela__hlo_take_value(&r, &value) != TESELA_OK) break;
    if (tesela__hlo_same(m->text, name, key)) return value;
  }
  return (tesela__hlo_span){0, 0};
}

tesela__hlo_span tesela__hlo_frontend(const tesela__hlo_module *m, const tesela__hlo_instruction *in,
                                      const char *key) {
  tesela__hlo_span all = tesela__hlo_attribute(m, in, "frontend_attributes");
  tesela__reader r = tesela__hlo_text(m->text, all, NULL);
  while (r.at < r.length) {
    tesela__hlo_span name = tesela__hlo_take_name(&r), value;
    if (!tesela__read_take(&r, '=') || tesela__hlo_take_value(&r, &value) != TESELA_OK) break;
    if (tesela__hlo_same(m->text, name, key)) return value;
    if (!tesela__read_take(&r, ',')) break;
  }
  return (tesela__hlo_span){0, 0};
}

/* ---- pieces of a stretch ---- */

tesela__hlo_span tesela__hlo_trim(const char *text, tesela__hlo_span span) {
  while (span.n > 0 &&
         (text[span.at] == ' ' || text[span.at] == '\n' || text[span.at] == '\t' || text[span.at] == '\r'))
    span.at++, span.n--;
  while (span.n > 0 && (text[span.at + span.n - 1] == ' ' || text[span.at + span.n - 1] == '\n' ||
                        text[span.at + span.n - 1] == '\t' || text[span.at + span.n - 1] == '\r'))
    span.n--;
  return span;
}

tesela__hlo_span tesela__hlo_cut(const char *text, tesela__hlo_span *rest, char c) {
  const char *found = rest->n > 0 ? memchr(text + rest->at, c, rest->n) : NULL;
  tesela__hlo_span part = *rest;
  if (found) part.n = (size_t)(found - (text + rest->at));
  size_t used = found ? part.n + 1 : part.n;
  *rest = (tesela__hlo_span){rest->at + used, rest->n - used};
  return part;
}

bool tesela__hlo_integer(const char *text, tesela__hlo_span span, int64_t *value) {
  span = tesela__hlo_trim(text, span);
  bool negative = span.n > 0 && text[span.at] == '-';
  if (negative) span.at++, span.n--;
  if (span.n == 0) return false;
  int64_t all = 0;
  for (size_t i = 0; i < span.n; i++) {
    int64_t digit = text[span.at + i] - '0';
    if (digit < 0 || digit > 9 || !tesela__mul(all, 10, &all)) return false;
    if (!(negative ? tesela__sub(all, digit, &all) : tesela__add(all, digit, &all))) return false;
  }
  *value = all;
  return true;
}

int32_t tesela__hlo_list(const tesela__hlo_module *m, const tesela__hlo_instruction *in, const char *key,
                         int32_t room, int32_t *list) {
  tesela__hlo_span rest = tesela__hlo_attribute(m, in, key);
  if (rest.at == 0) return -1;
  int32_t n = 0;
  rest = tesela__hlo_trim(m->text, rest);
  if (rest.n > 0 && m->text[rest.at + rest.n - 1] == ',') return -1;
  while (rest.n > 0) {
    int64_t value;
    if (n == room || !tesela__hlo_integer(m->text, tesela__hlo_cut(m->text, &rest, ','), &value)) return -1;
    if (value < 0 || value > INT32_MAX) return -1;
    list[n++] = (int32_t)value;
  }
  return n;
}

int32_t tesela__hlo_list_or_none(const tesela__hlo_module *m, const tesela__hlo_instruction *in,
                                 const char *key, int32_t room, int32_t *list) {
  return tesela__hlo_attribute(m, in, key).at == 0 ? 0 : tesela__hlo_list(m, in, key, room, list);
}

bool tesela__hlo_elements(const tesela__hlo_module *m, const tesela__hlo_instruction *in, int32_t n,
                          tesela_xla_shape *shape) {
  const tesela__hlo_span rest = {in->shape, m->length - in->shape};
  tesela__reader r = tesela__hlo_text(m->text, rest, NULL);
  if (!tesela__read_take(&r, '(')) return false;
  for (int32_t k = 0; k < n; k++) {
    size_t used;
    if (k > 0 && !tesela__read_take(&r, ',')) return false;
    tesela__read_peek(&r);
    if (r.at >= r.length || r.text[r.at] == '(' ||
        tesela_xla_parse_prefix(r.text + r.at, r.length - r.at, TESELA_XLA_STRICT, &shape[k], &used, NULL,
                                NULL) != TESELA_OK)
      return false;
    r.at += used;
    if (shape[k].kind != TESELA_XLA_ARRAY || shape[k].dynamic != 0 || shape[k].rank > TESELA_GRAPH_RANK)
      return false;
    if (r.length - r.at >= 2 && memcmp(r.text + r.at, "{}", 2) == 0)
      r.at += 2; /* the old form of a scalar's layout */
  }
  return tesela__read_take(&r, ')');
}
