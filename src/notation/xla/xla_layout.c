/* SPDX-License-Identifier: Apache-2.0 */
/*
 * xla_layout.c - reads the text between the braces: {1,0:T(8,128)(2,1)E(4)S(1)}.
 *
 * The table below has the properties in their order, with their readers. XLA ignores errors inside a property; here
 * they are reported, or repaired in lenient reading.
 */
#include <stdio.h>

#include "notation/xla/xla_read.h"

/* ---- one function per property; the reader is after its letter ------ */

/* D(D,C+,S~): dimension levels of sparse arrays. XLA reads and drops them since May 2025. */
static tesela_status xla_read_levels(tesela__xla_reader *reader, tesela_xla_layout *layout,
                                     tesela__xla_field field) {
  (void)layout;
  (void)field;
  tesela_status status = tesela__read_expect(&reader->in, '(', "after D");
  bool more = status == TESELA_OK && !tesela__read_take(&reader->in, ')');
  while (status == TESELA_OK && more) {
    if (tesela__read_word(&reader->in) != 1 || !memchr("DCSH", reader->in.text[reader->in.at], 4))
      return tesela__read_unexpected(&reader->in, "a dimension level: D, C, S or H", "");
    reader->in.at++;
    tesela__read_take(&reader->in, '+');
    tesela__read_take(&reader->in, '~');
    status = tesela__xla_more(reader, ')', &more);
  }
  return status;
}

static tesela_status xla_read_tile_entry(tesela__xla_reader *reader, tesela_xla_layout *layout) {
  int32_t k = layout->n_tile_numbers;
  if (k == TESELA_XLA_MAX_TILE_NUMBERS)
    return tesela__fail(reader->in.err, TESELA_E_LIMIT, (int64_t)reader->in.at, "more than %d tile extents",
                        k);
  int c = tesela__read_peek(&reader->in);
  size_t at = reader->in.at, sign = reader->lenient ? tesela__read_lookalike(&reader->in, '*') : 0;
  bool minus_one = reader->lenient && c == '-' && reader->in.length - at > 1 &&
                   reader->in.text[at + 1] == '1' && tesela__read_lump(&reader->in, at) == 2;
  tesela_status status = TESELA_OK;
  if (c == '*' || sign > 0 || minus_one) {
    tesela__xla_mark(reader, TESELA__XLA_TILE, k);
    reader->in.at += sign > 0 ? sign : minus_one ? 2 : 1;
    if (c != '*')
      tesela__xla_repair(reader, at, "'%.*s' in a tile read as '*'", (int)(reader->in.at - at),
                         reader->in.text + at);
    layout->tile[k] = TESELA_XLA_COMBINE;
    if (c != '*' && tesela__read_peek(&reader->in) == ')')
      status =
          tesela__fail(reader->in.err, TESELA_E_INVALID, (int64_t)at,
                       "tile entry %.*s means *, which cannot be last: it has no next dim to combine with",
                       sign > 0 ? (int)sign : 2, reader->in.text + at);
  } else {
    status = tesela__xla_number(reader, TESELA__XLA_TILE, k, &layout->tile[k]);
  }
  layout->n_tile_numbers = k + 1;
  return status;
}

/* One parenthesis of T. */
static tesela_status xla_read_tile(tesela__xla_reader *reader, tesela_xla_layout *layout) {
  int32_t before = layout->n_tile_numbers;
  bool more = true;
  tesela_status status = TESELA_OK;
  if (layout->n_tiles == TESELA_XLA_MAX_TILES)
    return tesela__fail(reader->in.err, TESELA_E_LIMIT, (int64_t)reader->in.at, "more than %d tiles",
                        layout->n_tiles);
  size_t at = reader->in.at;
  if (reader->lenient && tesela__read_take(&reader->in, ')')) {
    tesela__xla_repair(reader, at, "empty tile left out");
    return TESELA_OK;
  }
  while (status == TESELA_OK && more) {
    status = xla_read_tile_entry(reader, layout);
    if (status == TESELA_OK) status = tesela__xla_more(reader, ')', &more);
  }
  layout->tile_rank[layout->n_tiles++] = layout->n_tile_numbers - before;
  return status;
}

static tesela_status xla_read_tiles(tesela__xla_reader *reader, tesela_xla_layout *layout,
                                    tesela__xla_field field) {
  (void)field;
  tesela_status status = tesela__read_expect(&reader->in, '(', "after T");
  if (status == TESELA_OK) status = xla_read_tile(reader, layout);
  while (status == TESELA_OK && tesela__read_take(&reader->in, '(')) status = xla_read_tile(reader, layout);
  return status;
}

/* L(n), E(n), S(n), M(n) */
static tesela_status xla_read_number(tesela__xla_reader *reader, tesela_xla_layout *layout,
                                     tesela__xla_field field) {
  int64_t value;
  tesela_status status = tesela__read_expect(&reader->in, '(', "after the letter");
  if (status == TESELA_OK) status = tesela__xla_number(reader, field, TESELA__XLA_WHOLE, &value);
  if (status == TESELA_OK) status = tesela__xla_close(reader, ')');
  if (status != TESELA_OK) return status;
  if (field == TESELA__XLA_TAIL) layout->tail = value;
  if (field == TESELA__XLA_BITS) layout->element_bits = value;
  if (field == TESELA__XLA_SPACE) layout->memory_space = (int32_t)value; /* -128 to 127 by the field's rule */
  if (field == TESELA__XLA_METADATA) layout->metadata_bytes = value;
  return TESELA_OK;
}

/* #(type), *(type) */
static tesela_status xla_read_type(tesela__xla_reader *reader, tesela_xla_layout *layout,
                                   tesela__xla_field field) {
  tesela_status status = tesela__read_expect(&reader->in, '(', "after the sign");
  if (status == TESELA_OK)
    status = tesela__xla_type(reader,
                              field == TESELA__XLA_INDEX_TYPE ? &layout->index_type : &layout->pointer_type);
  return status == TESELA_OK ? tesela__xla_close(reader, ')') : status;
}

/* One parenthesis of SC, after the "(": physical dim ":" [cut points]. */
static tesela_status xla_read_split(tesela__xla_reader *reader, tesela_xla_layout *layout) {
  int64_t dim;
  tesela_xla_split *split = &layout->split[layout->n_splits];
  if (layout->n_splits == TESELA_XLA_MAX_SPLITS)
    return tesela__fail(reader->in.err, TESELA_E_LIMIT, (int64_t)reader->in.at, "more than %d split configs",
                        TESELA_XLA_MAX_SPLITS);
  tesela_status status = tesela__xla_number(reader, TESELA__XLA_SPLIT, layout->n_splits, &dim);
  if (status == TESELA_OK)
    status = tesela__read_expect(&reader->in, ':', "between the physical dim and its cut points");
  if (status != TESELA_OK) return status;
  layout->n_splits++;
  *split = (tesela_xla_split){.dim = (int32_t)dim, .first = layout->n_split_points};
  bool more = !tesela__read_take(&reader->in, ')');
  while (status == TESELA_OK && more) {
    int32_t k = layout->n_split_points;
    if (k == TESELA_XLA_MAX_SPLIT_POINTS)
      return tesela__fail(reader->in.err, TESELA_E_LIMIT, (int64_t)reader->in.at, "more than %d cut points",
                          k);
    status = tesela__xla_number(reader, TESELA__XLA_POINT, k, &layout->split_point[k]);
    if (status == TESELA_OK) status = tesela__xla_more(reader, ')', &more);
    layout->n_split_points++;
    split->n_points++;
  }
  return status;
}

static tesela_status xla_read_splits(tesela__xla_reader *reader, tesela_xla_layout *layout,
                                     tesela__xla_field field) {
  (void)field;
  tesela_status status = tesela__read_expect(&reader->in, '(', "after SC");
  if (status == TESELA_OK) status = xla_read_split(reader, layout);
  while (status == TESELA_OK && tesela__read_take(&reader->in, '(')) status = xla_read_split(reader, layout);
  return status;
}

/* ---- the properties, in their order ---- */

typedef struct xla_property {
  const char *word;
  tesela__xla_field field;
  tesela_status (*read)(tesela__xla_reader *reader, tesela_xla_layout *layout, tesela__xla_field field);
} xla_property;

static const xla_property xla_properties[] = {
    {"D", TESELA__XLA_SHAPE, xla_read_levels},
    {"T", TESELA__XLA_TILE, xla_read_tiles},
    {"L", TESELA__XLA_TAIL, xla_read_number},
    {"#", TESELA__XLA_INDEX_TYPE, xla_read_type},
    {"*", TESELA__XLA_POINTER_TYPE, xla_read_type},
    {"E", TESELA__XLA_BITS, xla_read_number},
    {"S", TESELA__XLA_SPACE, xla_read_number},
    {"SC", TESELA__XLA_SPLIT, xla_read_splits},
    {"P", TESELA__XLA_PHYSICAL, NULL}, /* a shape: the caller reads it */
    {"M", TESELA__XLA_METADATA, xla_read_number},
};

enum { N_XLA_PROPERTIES = sizeof xla_properties / sizeof xla_properties[0], XLA_TILES = 1 };

/* Read the letters of a property; its row in the table, or -1. */
static int xla_next_property(tesela__xla_reader *reader, uint32_t seen) {
  int c = tesela__read_peek(&reader->in);
  size_t length = c == '#' || c == '*' ? 1 : tesela__read_word(&reader->in);
  for (int k = 0; k < N_XLA_PROPERTIES && length > 0; k++) {
    const char *word = xla_properties[k].word;
    if (word[0] != c || length != strlen(word) || memcmp(word, reader->in.text + reader->in.at, length) != 0)
      continue;
    tesela__xla_mark(reader, xla_properties[k].field, TESELA__XLA_WHOLE);
    reader->in.at += length;
    return k;
  }
  if (!reader->lenient || c != '(' || seen != 0) return -1;
  tesela__xla_repair(reader, reader->in.at,
                     "tile without T read as T(...)"); /* as in XLA's documentation before November 2020 */
  tesela__xla_mark(reader, TESELA__XLA_TILE, TESELA__XLA_WHOLE);
  return XLA_TILES;
}

static tesela_status xla_no_property(tesela__xla_reader *reader) {
  char list[64];
  size_t used = 0;
  for (int k = 1; k < N_XLA_PROPERTIES; k++) /* D is obsolete */
    used += (size_t)snprintf(list + used, sizeof list - used, "%s, ", xla_properties[k].word);
  snprintf(list + used, sizeof list - used, "or '}'");
  bool tile = tesela__read_peek(&reader->in) == '(';
  return tesela__read_unexpected(&reader->in, list, tile ? "; tiles start with T, as in T(8,128)" : "");
}

/* Check that property k, at byte `at`, is in order and not repeated. */
static tesela_status xla_check_place(tesela__xla_reader *reader, int k, size_t at, uint32_t seen) {
  if (seen >> k & 1)
    return tesela__fail(reader->in.err, TESELA_E_SYNTAX, (int64_t)at, "%s is given twice",
                        xla_properties[k].word);
  for (int later = k + 1; later < N_XLA_PROPERTIES; later++) {
    if (!(seen >> later & 1)) continue;
    if (!reader->lenient)
      return tesela__fail(reader->in.err, TESELA_E_SYNTAX, (int64_t)at, "%s must come before %s",
                          xla_properties[k].word, xla_properties[later].word);
    tesela__xla_repair(reader, at, "%s after %s read as before it", xla_properties[k].word,
                       xla_properties[later].word);
    break;
  }
  return TESELA_OK;
}

static tesela_status xla_read_property(tesela__xla_reader *reader, tesela_xla_layout *layout, int k,
                                       size_t at) {
  if (reader->lenient && tesela__read_peek(&reader->in) == '}') {
    tesela__xla_repair(reader, at, "%s without a value left out", xla_properties[k].word);
    return TESELA_OK;
  }
  if (xla_properties[k].read == xla_read_levels)
    tesela__xla_repair(reader, at, "D(...) read and dropped, as XLA does");
  return xla_properties[k].read(reader, layout, xla_properties[k].field);
}

tesela_status tesela__xla_read_properties(tesela__xla_reader *reader, tesela_xla_layout *layout,
                                          uint32_t *seen, bool *physical) {
  while (!tesela__read_take(&reader->in, '}')) {
    size_t at = reader->in.at;
    int k = xla_next_property(reader, *seen);
    if (k < 0) return xla_no_property(reader);
    tesela_status status = xla_check_place(reader, k, at, *seen);
    if (status != TESELA_OK) return status;
    *seen |= (uint32_t)1 << k;
    if (xla_properties[k].read == NULL) {
      if (physical) *physical = true;
      if (physical) return TESELA_OK;
      return tesela__fail(reader->in.err, TESELA_E_INVALID, (int64_t)at,
                          "P(...) belongs to sparse arrays, and an array with dims is dense");
    }
    status = xla_read_property(reader, layout, k, at);
    if (status != TESELA_OK) return status;
  }
  return TESELA_OK;
}

/* ---- order ---- */

static tesela_status xla_read_order(tesela__xla_reader *reader, tesela_xla_layout *layout) {
  int c = tesela__read_peek(&reader->in);
  bool more = c == '-' || (c >= '0' && c <= '9');
  if (!more && c != ':' && c != '}')
    return tesela__read_unexpected(&reader->in, "the number of a dim, ':' or '}'", "");
  while (more) {
    int64_t dim;
    if (layout->rank == TESELA_MAX_RANK)
      return tesela__fail(reader->in.err, TESELA_E_LIMIT, (int64_t)reader->in.at,
                          "the order lists more than %d dims", TESELA_MAX_RANK);
    tesela_status status = tesela__xla_number(reader, TESELA__XLA_ORDER, layout->rank, &dim);
    if (status != TESELA_OK) return status;
    layout->minor_to_major[layout->rank++] = (int32_t)dim;
    c = tesela__read_peek(&reader->in);
    size_t comma = reader->in.at;
    more = tesela__read_take(&reader->in, ',');
    if (!more && c != ':' && c != '}') return tesela__read_unexpected(&reader->in, "',', ':' or '}'", "");
    c = tesela__read_peek(&reader->in);
    if (!more || !reader->lenient || (c != ':' && c != '}')) continue;
    tesela__xla_repair(reader, comma, "',' after the last dim left out");
    more = false;
  }
  return TESELA_OK;
}

tesela_status tesela__xla_read_layout(tesela__xla_reader *reader, tesela_xla_layout *layout, uint32_t *seen,
                                      bool *physical) {
  tesela__xla_layout_start(layout, 0);
  tesela__xla_mark(reader, TESELA__XLA_ORDER, TESELA__XLA_WHOLE);
  tesela_status status = tesela__read_expect(&reader->in, '{', "of a layout");
  if (status == TESELA_OK) status = xla_read_order(reader, layout);
  if (status != TESELA_OK || tesela__read_take(&reader->in, '}')) return status;
  reader->in.at++; /* the colon that xla_read_order found */
  return tesela__xla_read_properties(reader, layout, seen, physical);
}
