/* SPDX-License-Identifier: Apache-2.0 */
/*
 * index_affine.c - maps of MLIR: #map = affine_map<(d0, d1) -> (d0 floordiv 8, d1 mod 128)>.
 *
 *   text   = ["#" name "="] "affine_map<" "(" [name {"," name}] ")" "->" "(" [expr {"," expr}] ")" ">"
 *   expr   = sums, products with numbers, floordiv, ceildiv and mod by numbers
 *
 * MLIR has no XOR: it is written as the remainders by 2 of sums of bits, and read so.
 */
#include <string.h>

#include "base/base.h"
#include "notation/index/index.h"

static const tesela__map_operator affine_operators[] = {
    {"floordiv", TESELA__MAP_DIVIDE}, {"ceildiv", TESELA__MAP_DIVIDE_UP}, {"mod", TESELA__MAP_MODULO},
    {"+", TESELA__MAP_ADD},           {"-", TESELA__MAP_SUBTRACT},        {"*", TESELA__MAP_MULTIPLY},
    {NULL, TESELA__MAP_OPEN}};

static const tesela__spelling affine_spelling = {.divide = " floordiv ",
                                                 .modulo = " mod ",
                                                 .times = " * ",
                                                 .suffix = "",
                                                 .dim = 'd',
                                                 .tight_sign = true,
                                                 .sums_inside = true,
                                                 .places = TESELA__PLACES_INSIDE};

/* "#map = " */
static tesela_status affine_name(tesela__reader *r) {
  if (!tesela__read_take(r, '#')) return TESELA_OK;
  size_t length = tesela__read_word(r);
  if (length == 0) return tesela__read_unexpected(r, "a name after #", "");
  r->at += length;
  return tesela__read_expect(r, '=', "after the name");
}

static tesela_status affine_dims(tesela__map_text *m) {
  tesela__reader *r = &m->reader;
  int32_t n = 0;
  bool more = !tesela__read_take(r, ')');
  while (more) {
    tesela_status status;
    if (n == m->n_dims)
      return tesela__read_fail(r, TESELA_E_MISMATCH, r->at, "more dims than the array, which has %" PRId32,
                               m->n_dims);
    status = tesela__map_declare(m, TESELA__MAP_DIM, n++, "the name of a dim");
    if (status == TESELA_OK) status = tesela__read_more(r, ')', false, &more);
    if (status != TESELA_OK) return status;
  }
  if (n < m->n_dims)
    return tesela__read_fail(r, TESELA_E_MISMATCH, r->at, "%" PRId32 " dims; the array has %" PRId32, n,
                             m->n_dims);
  if (tesela__read_peek(r) == '[') {
    r->at++;
    return tesela__read_fail(r, TESELA_E_UNSUPPORTED, r->at,
                             "symbols, whose values are not in the text; expected numbers in their place");
  }
  return TESELA_OK;
}

static tesela_status affine_text(tesela__map_text *m, const void *user) {
  const tesela_layout_read_options *options = user;
  tesela__reader *r = &m->reader;
  tesela__index_array(m, options);
  tesela_status status = affine_name(r);
  if (status != TESELA_OK) return status;
  if (!tesela__read_take_text(r, "affine_map")) return tesela__read_unexpected(r, "affine_map<", "");
  status = tesela__read_expect(r, '<', "after affine_map");
  if (status == TESELA_OK) status = tesela__read_expect(r, '(', "and the dims");
  if (status == TESELA_OK) status = affine_dims(m);
  if (status == TESELA_OK && !tesela__read_take_text(r, "->"))
    status = tesela__read_unexpected(r, "'->'", "");
  if (status == TESELA_OK) status = tesela__read_expect(r, '(', "and the results");
  bool more = status == TESELA_OK && !tesela__read_take(r, ')');
  while (status == TESELA_OK && more) {
    status = tesela__map_expression(m, affine_operators);
    if (status == TESELA_OK) status = tesela__read_more(r, ')', false, &more);
  }
  if (status == TESELA_OK) status = tesela__read_expect(r, '>', "after the results");
  if (status == TESELA_OK && tesela__read_peek(r) >= 0) status = tesela__read_unexpected(r, "the end", "");
  return status == TESELA_OK ? tesela__index_results(m, options->as, 0, NULL, NULL) : status;
}

tesela_status tesela__affine_map_read(const char *text, size_t length,
                                      const tesela_layout_read_options *options, tesela_any_layout *out,
                                      tesela_error *err) {
  return tesela__index_read(text, length, affine_text, options, out, err);
}

tesela_status tesela__affine_map_write(const tesela_layout *layout, const tesela_writer *to,
                                       tesela_translation *answer, tesela_error *err) {
  static const tesela__results around = {"(", ")", ", ", true};
  tesela_layout form;
  tesela__sink sink;
  tesela_status status = tesela__index_expressible(layout, &form, answer, err);
  if (status != TESELA_OK || answer->verdict == TESELA_IMPOSSIBLE) return status;
  tesela__sink_init(&sink, to);
  tesela__puts(&sink, "affine_map<(");
  tesela__index_put_dims(&sink, &form);
  tesela__puts(&sink, ") -> ");
  tesela__index_put_results(&sink, &affine_spelling, &around, &form);
  tesela__puts(&sink, ">");
  return tesela__sink_finish(&sink, err);
}
