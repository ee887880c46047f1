/* SPDX-License-Identifier: Apache-2.0 */
/*
 * xla_jax.c - layouts as JAX shows and takes them, and the layout modes it hands to XLA.
 *
 *   Layout(major_to_minor=(0, 1), tiling=((8, 128), (2, 1)), sub_byte_element_size_in_bits=0)
 *   "default", "auto", "{1,0:T(8,128)(2,1)}"
 *
 * The first is Python: a tuple of one has a comma behind it, blanks may stand anywhere, keywords in any order.
 */
#include <stdio.h>

#include "base/base.h"
#include "xla/validate.h"
#include "xla/xla.h"

/* ---- pieces of Python ---- */

typedef struct jax_reader {
  const char *text;
  size_t length, at;
  tesela_error *err;
} jax_reader;

static int jax_peek(jax_reader *reader) {
  while (reader->at < reader->length && strchr(" \t\r\n", reader->text[reader->at]) != NULL &&
         reader->text[reader->at] != '\0')
    reader->at++;
  return reader->at < reader->length ? (unsigned char)reader->text[reader->at] : -1;
}

static bool jax_take(jax_reader *reader, char c) {
  if (jax_peek(reader) != c) return false;
  reader->at++;
  return true;
}

static tesela_status jax_expected(jax_reader *reader, const char *what) {
  int c = jax_peek(reader);
  char found[24] = "the end of the text";
  if (c > ' ' && c < 0x7F)
    snprintf(found, sizeof found, "'%c'", c);
  else if (c >= 0)
    snprintf(found, sizeof found, "byte 0x%02X", (unsigned)c);
  return tesela__fail(reader->err, TESELA_E_SYNTAX, (int64_t)reader->at, "found %s; expected %s", found,
                      what);
}

static bool jax_is_word_byte(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_';
}

/* Bytes of the word that comes next. */
static size_t jax_word(jax_reader *reader) {
  size_t n = 0;
  jax_peek(reader);
  while (reader->at + n < reader->length && jax_is_word_byte(reader->text[reader->at + n])) n++;
  return n;
}

static bool jax_take_word(jax_reader *reader, const char *word) {
  size_t n = jax_word(reader);
  if (n != strlen(word) || memcmp(reader->text + reader->at, word, n) != 0) return false;
  reader->at += n;
  return true;
}

static tesela_status jax_number(jax_reader *reader, int64_t *number) {
  size_t n = jax_word(reader), at = reader->at;
  int64_t value = 0;
  for (size_t i = 0; i < n; i++) {
    int digit = reader->text[at + i] - '0';
    if (digit < 0 || digit > 9) return jax_expected(reader, "a number");
    if (!tesela__mul(value, 10, &value) || !tesela__add(value, digit, &value))
      return tesela__fail(reader->err, TESELA_E_RANGE, (int64_t)at,
                          "a number is at most 9223372036854775807");
  }
  if (n == 0) return jax_expected(reader, "a number");
  reader->at += n;
  *number = value;
  return TESELA_OK;
}

/* Behind an item of a tuple: is there one more? Moves past the comma and the end. */
static tesela_status jax_more(jax_reader *reader, char close, bool *more) {
  bool comma = jax_take(reader, ',');
  *more = !jax_take(reader, close);
  if (*more && !comma) return jax_expected(reader, close == ')' ? "',' or ')'" : "',' or ']'");
  return TESELA_OK;
}

/* ( or [, and what ends it; more: it is not empty. */
static tesela_status jax_open(jax_reader *reader, char *close, bool *more) {
  *close = jax_peek(reader) == '[' ? ']' : ')';
  if (!jax_take(reader, '[') && !jax_take(reader, '(')) return jax_expected(reader, "a tuple");
  *more = !jax_take(reader, *close);
  return TESELA_OK;
}

static tesela_status jax_numbers(jax_reader *reader, int32_t most, const char *what, int64_t *numbers,
                                 int32_t *n) {
  char close;
  bool more = false;
  tesela_status status = jax_open(reader, &close, &more);
  for (*n = 0; status == TESELA_OK && more; ++*n) {
    if (*n == most)
      return tesela__fail(reader->err, TESELA_E_LIMIT, (int64_t)reader->at, "more than %" PRId32 " %s", most,
                          what);
    status = jax_number(reader, &numbers[*n]);
    if (status == TESELA_OK) status = jax_more(reader, close, &more);
  }
  return status;
}

/* ---- the three arguments; a layout of rank 0 is started ---- */

/* What the library says about a value, with the byte where it stands. */
static tesela_status jax_at(jax_reader *reader, size_t at, tesela_status status) {
  if (status != TESELA_OK && reader->err) reader->err->at = (int64_t)at;
  return status;
}

static tesela_status jax_order(jax_reader *reader, tesela_xla_layout *layout) {
  int64_t dims[TESELA_MAX_RANK];
  int32_t n, order[TESELA_MAX_RANK] = {0};
  tesela_xla_layout ordered;
  jax_peek(reader);
  size_t at = reader->at;
  tesela_status status = jax_numbers(reader, TESELA_MAX_RANK, "dims", dims, &n);
  if (status != TESELA_OK) return status;
  for (int32_t i = 0; i < n; i++) order[i] = (int32_t)tesela__min(dims[i], TESELA_MAX_RANK);
  status = tesela_xla_layout_make_major_to_minor(&ordered, n, order, reader->err);
  if (status != TESELA_OK) return jax_at(reader, at, status);
  layout->rank = n;
  for (int32_t i = 0; i < n; i++) layout->minor_to_major[i] = ordered.minor_to_major[i];
  return TESELA_OK;
}

static tesela_status jax_tiling(jax_reader *reader, tesela_xla_layout *layout) {
  char close;
  bool more = false;
  if (jax_take_word(reader, "None")) return TESELA_OK;
  tesela_status status = jax_open(reader, &close, &more);
  while (status == TESELA_OK && more) {
    int64_t entries[TESELA_XLA_MAX_TILE_NUMBERS];
    int32_t n;
    jax_peek(reader);
    size_t at = reader->at;
    status = jax_numbers(reader, TESELA_XLA_MAX_TILE_NUMBERS, "tile extents", entries, &n);
    if (status == TESELA_OK)
      status = jax_at(reader, at, tesela_xla_layout_add_tile(layout, n, entries, reader->err));
    if (status == TESELA_OK) status = jax_more(reader, close, &more);
  }
  return status;
}

static tesela_status jax_bits(jax_reader *reader, tesela_xla_layout *layout) {
  return jax_number(reader, &layout->element_bits);
}

/* In the order of positional arguments; the older spelling has an underscore in front of the last two. */
static const struct {
  const char *name, *older;
  tesela_status (*read)(jax_reader *reader, tesela_xla_layout *layout);
} jax_arguments[] = {
    {"major_to_minor", "major_to_minor", jax_order},
    {"tiling", "_tiling", jax_tiling},
    {"sub_byte_element_size_in_bits", "_sub_byte_element_size_in_bits", jax_bits},
};

enum { N_JAX_ARGUMENTS = sizeof jax_arguments / sizeof jax_arguments[0] };

/* Which argument comes next? *keyword: one with a name; from then on all have one. */
static tesela_status jax_argument(jax_reader *reader, int place, bool *keyword, int *argument) {
  jax_peek(reader);
  size_t start = reader->at;
  for (int k = 0; k < N_JAX_ARGUMENTS; k++) {
    if (!jax_take_word(reader, jax_arguments[k].name) && !jax_take_word(reader, jax_arguments[k].older))
      continue;
    *keyword = true;
    *argument = k;
    return jax_take(reader, '=') ? TESELA_OK : jax_expected(reader, "'='");
  }
  reader->at = start;
  *argument = place;
  if (*keyword || place == N_JAX_ARGUMENTS)
    return jax_expected(reader, "major_to_minor, tiling or sub_byte_element_size_in_bits");
  return TESELA_OK;
}

static tesela_status jax_read(jax_reader *reader, tesela_xla_layout *layout) {
  bool more = true, keyword = false, seen[N_JAX_ARGUMENTS] = {false};
  tesela_status status = TESELA_OK;
  if (!jax_take_word(reader, "Layout") && !jax_take_word(reader, "DeviceLocalLayout"))
    return jax_expected(reader, "Layout(");
  if (!jax_take(reader, '(')) return jax_expected(reader, "'('");
  for (int place = 0; status == TESELA_OK && more; place++) {
    int argument = 0;
    jax_peek(reader);
    size_t at = reader->at;
    status = jax_argument(reader, place, &keyword, &argument);
    if (status != TESELA_OK) return status;
    if (seen[argument])
      return tesela__fail(reader->err, TESELA_E_INVALID, (int64_t)at, "%s is given twice",
                          jax_arguments[argument].name);
    seen[argument] = true;
    status = jax_arguments[argument].read(reader, layout);
    if (status == TESELA_OK) status = jax_more(reader, ')', &more);
  }
  if (status == TESELA_OK && !seen[0])
    return tesela__fail(reader->err, TESELA_E_INVALID, 0, "major_to_minor is missing");
  if (status == TESELA_OK && jax_peek(reader) >= 0) return jax_expected(reader, "the end of the text");
  return status;
}

tesela_status tesela_xla_parse_jax(const char *text, size_t length, tesela_xla_layout *layout,
                                   tesela_error *err) {
  TESELA__NEED(err, layout);
  TESELA__NEED_LIST(err, text, length);
  jax_reader reader = {text, length, 0, err};
  tesela_xla_layout read;
  tesela__xla_layout_default(&read, 0);
  tesela_status status = jax_read(&reader, &read);
  if (status == TESELA_OK) tesela__xla_layout_copy(layout, &read);
  return status;
}

/* ---- printing ---- */

static void jax_put_comma(tesela__sink *sink, int32_t i) {
  if (i > 0) tesela__puts(sink, ", ");
}

/* What ends a tuple of n. */
static void jax_put_end(tesela__sink *sink, int32_t n) { tesela__puts(sink, n == 1 ? ",)" : ")"); }

static void jax_put_tile(tesela__sink *sink, int32_t n, const int64_t *entries) {
  tesela__putc(sink, '(');
  for (int32_t i = 0; i < n; i++) {
    jax_put_comma(sink, i);
    tesela__put_int(sink, entries[i]);
  }
  jax_put_end(sink, n);
}

static void jax_put_layout(tesela__sink *sink, const tesela_xla_layout *layout) {
  const int64_t *entries = layout->tile;
  tesela__puts(sink, "Layout(major_to_minor=(");
  for (int32_t p = 0; p < layout->rank; p++) {
    jax_put_comma(sink, p);
    tesela__put_int(sink, tesela_xla_major(layout, p));
  }
  jax_put_end(sink, layout->rank);
  tesela__puts(sink, ", tiling=(");
  for (int32_t k = 0; k < layout->n_tiles; k++) {
    jax_put_comma(sink, k);
    jax_put_tile(sink, layout->tile_rank[k], entries);
    entries += layout->tile_rank[k];
  }
  jax_put_end(sink, layout->n_tiles);
  tesela__puts(sink, ", sub_byte_element_size_in_bits=");
  tesela__put_int(sink, layout->element_bits);
  tesela__putc(sink, ')');
}

tesela_status tesela_xla_print_jax(const tesela_xla_layout *layout, const tesela_writer *to, uint32_t *lost,
                                   tesela_error *err) {
  TESELA__NEED(err, layout, to);
  tesela__sink sink;
  tesela__xla_fault fault;
  tesela_status status = tesela__xla_check_layout_of(layout, layout->rank, NULL, &fault, err);
  if (status != TESELA_OK) return status;
  for (int32_t i = 0; i < layout->n_tile_numbers; i++)
    if (layout->tile[i] == TESELA_XLA_COMBINE)
      return tesela__fail(err, TESELA_E_UNSUPPORTED, -1, "a tile with * cannot be said to JAX");
  tesela__sink_init(&sink, to);
  jax_put_layout(&sink, layout);
  status = tesela__sink_finish(&sink, err);
  if (status == TESELA_OK && lost)
    *lost = tesela__xla_beyond_tiles(layout) & ~(uint32_t)TESELA_XLA_IGNORE_ELEMENT_BITS;
  return status;
}

/* ---- layout modes ---- */

static const char *const xla_mode_words[] = {
    [TESELA_XLA_MODE_DEFAULT] = "default", [TESELA_XLA_MODE_AUTO] = "auto"};

tesela_status tesela_xla_parse_layout_mode(const char *text, size_t length, int32_t flags,
                                           tesela_xla_layout_mode *mode, tesela_xla_repairs *repairs,
                                           tesela_error *err) {
  TESELA__NEED(err, mode);
  TESELA__NEED_LIST(err, text, length);
  for (size_t k = 0; k < sizeof xla_mode_words / sizeof xla_mode_words[0]; k++) {
    if (length != strlen(xla_mode_words[k]) || memcmp(text, xla_mode_words[k], length) != 0) continue;
    mode->kind = (tesela_xla_mode_kind)k;
    if (repairs) repairs->count = 0;
    return TESELA_OK;
  }
  if (length > 0 && text[0] >= 'a' && text[0] <= 'z')
    return tesela__fail(err, TESELA_E_SYNTAX, 0,
                        "a layout mode is default, auto or a layout, such as {1,0:T(8,128)}");
  tesela_status status = tesela_xla_parse_layout(text, length, flags, &mode->layout, repairs, err);
  if (status == TESELA_OK) mode->kind = TESELA_XLA_MODE_LAYOUT;
  return status;
}

tesela_status tesela_xla_print_layout_mode(const tesela_xla_layout_mode *mode, const tesela_writer *to,
                                           tesela_error *err) {
  TESELA__NEED(err, mode, to);
  tesela__sink sink;
  if (mode->kind == TESELA_XLA_MODE_LAYOUT) return tesela_xla_print_layout(&mode->layout, to, err);
  tesela__sink_init(&sink, to);
  tesela__puts(&sink, xla_mode_words[mode->kind]);
  return tesela__sink_finish(&sink, err);
}
