/* SPDX-License-Identifier: Apache-2.0 */
/*
 * xla_jax.c - layouts in JAX's notation, and the layout modes that JAX passes to XLA.
 *
 *   Layout(major_to_minor=(0, 1), tiling=((8, 128), (2, 1)), sub_byte_element_size_in_bits=0)
 *   Format(Layout(..), SingleDeviceSharding(..))     the layout of each shard; the sharding is skipped
 *   "default", "auto", "{1,0:T(8,128)(2,1)}"
 *
 * The first is Python: a tuple of one ends with a comma, blanks are allowed anywhere, keywords in any order.
 */
#include "base/reader.h"
#include "xla/validate.h"
#include "xla/xla.h"

/* ---- pieces of Python ---- */

/* Numbers here have no sign. */
static tesela_status jax_number(tesela__reader *reader, int64_t *number) {
  if (tesela__read_peek(reader) == '-') return tesela__read_unexpected(reader, "a number", "");
  return tesela__read_any_integer(reader, "a number", TESELA_E_RANGE, number);
}

/* Open a tuple or list. *close: its closing bracket; *more: it is not empty. */
static tesela_status jax_open(tesela__reader *reader, char *close, bool *more) {
  *close = tesela__read_peek(reader) == '[' ? ']' : ')';
  if (!tesela__read_take(reader, '[') && !tesela__read_take(reader, '('))
    return tesela__read_unexpected(reader, "a tuple", "");
  *more = !tesela__read_take(reader, *close);
  return TESELA_OK;
}

static tesela_status jax_numbers(tesela__reader *reader, int32_t most, const char *what, int64_t *numbers,
                                 int32_t *n) {
  char close;
  bool more = false;
  tesela_status status = jax_open(reader, &close, &more);
  for (*n = 0; status == TESELA_OK && more; ++*n) {
    if (*n == most)
      return tesela__fail(reader->err, TESELA_E_LIMIT, (int64_t)reader->at, "more than %" PRId32 " %s", most,
                          what);
    status = jax_number(reader, &numbers[*n]);
    if (status == TESELA_OK) status = tesela__read_more(reader, close, true, &more);
  }
  return status;
}

/* ---- the three arguments, into a layout that starts with rank 0 ---- */

/* Set the position of the library's error about a value. */
static tesela_status jax_at(tesela__reader *reader, size_t at, tesela_status status) {
  if (status != TESELA_OK && reader->err) reader->err->at = (int64_t)at;
  return status;
}

static tesela_status jax_order(tesela__reader *reader, tesela_xla_layout *layout) {
  int64_t dims[TESELA_MAX_RANK];
  int32_t n, order[TESELA_MAX_RANK] = {0};
  tesela_xla_layout ordered;
  tesela__read_peek(reader);
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

static tesela_status jax_tiling(tesela__reader *reader, tesela_xla_layout *layout) {
  char close;
  bool more = false;
  if (tesela__read_take_text(reader, "None")) return TESELA_OK;
  tesela_status status = jax_open(reader, &close, &more);
  while (status == TESELA_OK && more) {
    int64_t entries[TESELA_XLA_MAX_TILE_NUMBERS];
    int32_t n;
    tesela__read_peek(reader);
    size_t at = reader->at;
    status = jax_numbers(reader, TESELA_XLA_MAX_TILE_NUMBERS, "tile extents", entries, &n);
    if (status == TESELA_OK)
      status = jax_at(reader, at, tesela_xla_layout_add_tile(layout, n, entries, reader->err));
    if (status == TESELA_OK) status = tesela__read_more(reader, close, true, &more);
  }
  return status;
}

static tesela_status jax_bits(tesela__reader *reader, tesela_xla_layout *layout) {
  return jax_number(reader, &layout->element_bits);
}

/* In the order of positional arguments; the older spelling has an underscore before the last two. */
static const struct {
  const char *name, *older;
  tesela_status (*read)(tesela__reader *reader, tesela_xla_layout *layout);
} jax_arguments[] = {
    {"major_to_minor", "major_to_minor", jax_order},
    {"tiling", "_tiling", jax_tiling},
    {"sub_byte_element_size_in_bits", "_sub_byte_element_size_in_bits", jax_bits},
};

enum { N_JAX_ARGUMENTS = sizeof jax_arguments / sizeof jax_arguments[0] };

/* The number of the next argument. *keyword: an argument had a name; all later ones must have one. */
static tesela_status jax_argument(tesela__reader *reader, int place, bool *keyword, int *argument) {
  tesela__read_peek(reader);
  size_t start = reader->at;
  for (int k = 0; k < N_JAX_ARGUMENTS; k++) {
    if (!tesela__read_take_text(reader, jax_arguments[k].name) &&
        !tesela__read_take_text(reader, jax_arguments[k].older))
      continue;
    *keyword = true;
    *argument = k;
    return tesela__read_take(reader, '=') ? TESELA_OK : tesela__read_unexpected(reader, "'='", "");
  }
  reader->at = start;
  *argument = place;
  if (*keyword || place == N_JAX_ARGUMENTS)
    return tesela__read_unexpected(reader, "major_to_minor, tiling or sub_byte_element_size_in_bits", "");
  return TESELA_OK;
}

/* The rest of Format(Layout(..), sharding): up to the bracket that closes it. */
static tesela_status jax_format_end(tesela__reader *reader) {
  int64_t depth = 0;
  if (tesela__read_take(reader, ','))
    for (; reader->at < reader->length && (depth > 0 || reader->text[reader->at] != ')'); reader->at++) {
      const char c = reader->text[reader->at];
      depth += (c == '(' || c == '[' || c == '{') - (c == ')' || c == ']' || c == '}');
    }
  return tesela__read_expect(reader, ')', "after the sharding");
}

static tesela_status jax_read(tesela__reader *reader, tesela_xla_layout *layout) {
  bool more = true, keyword = false, seen[N_JAX_ARGUMENTS] = {false};
  const bool format = tesela__read_take_text(reader, "Format");
  tesela_status status = format ? tesela__read_expect(reader, '(', "after Format") : TESELA_OK;
  if (status != TESELA_OK) return status;
  if (format && tesela__read_take_text(reader, "layout")) status = tesela__read_expect(reader, '=', "");
  if (status != TESELA_OK) return status;
  if (!tesela__read_take_text(reader, "Layout") && !tesela__read_take_text(reader, "DeviceLocalLayout"))
    return tesela__read_unexpected(reader, "Layout(", "");
  if (!tesela__read_take(reader, '(')) return tesela__read_unexpected(reader, "'('", "");
  for (int place = 0; status == TESELA_OK && more; place++) {
    int argument = 0;
    tesela__read_peek(reader);
    size_t at = reader->at;
    status = jax_argument(reader, place, &keyword, &argument);
    if (status != TESELA_OK) return status;
    if (seen[argument])
      return tesela__fail(reader->err, TESELA_E_INVALID, (int64_t)at, "%s is given twice",
                          jax_arguments[argument].name);
    seen[argument] = true;
    status = jax_arguments[argument].read(reader, layout);
    if (status == TESELA_OK) status = tesela__read_more(reader, ')', true, &more);
  }
  if (status == TESELA_OK && !seen[0])
    return tesela__fail(reader->err, TESELA_E_INVALID, 0, "missing argument major_to_minor");
  if (status == TESELA_OK && format) status = jax_format_end(reader);
  if (status == TESELA_OK && tesela__read_peek(reader) >= 0)
    return tesela__read_unexpected(reader, "the end of the text", "");
  return status;
}

tesela_status tesela_xla_parse_jax(const char *text, size_t length, tesela_xla_layout *layout,
                                   tesela_error *err) {
  TESELA__NEED(err, layout);
  TESELA__NEED_LIST(err, text, length);
  tesela__reader reader = {text,
                           length,
                           0,
                           err,
                           .blanks = TESELA__BLANKS_TEXT,
                           .word = TESELA__BYTE_NAME,
                           .glue = TESELA__BYTE_NAME};
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

/* The end of a tuple of n. */
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
      return tesela__fail(err, TESELA_E_UNSUPPORTED, -1, "a JAX layout cannot express a tile with *");
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
  if ((size_t)mode->kind >= sizeof xla_mode_words / sizeof xla_mode_words[0])
    return tesela__fail(err, TESELA_E_RANGE, -1, "unknown kind of layout mode %d", (int)mode->kind);
  tesela__sink_init(&sink, to);
  tesela__puts(&sink, xla_mode_words[mode->kind]);
  return tesela__sink_finish(&sink, err);
}
