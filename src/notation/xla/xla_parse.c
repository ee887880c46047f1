/* SPDX-License-Identifier: Apache-2.0 */
/*
 * xla_parse.c - the public readers of XLA text: a shape, a shape at the start of a longer text, a layout.
 *
 * Results are written at the very end, so a failure leaves them unchanged. About 250 ns for a text like
 * bf16[4096,8192]{1,0:T(8,128)(2,1)S(1)}, a third of it in the checks of xla/validate.h.
 */
#include <stdio.h>

#include "notation/xla/xla_print.h"
#include "notation/xla/xla_read.h"

tesela__xla_reader tesela__xla_reader_make(const char *text, size_t length, int32_t flags,
                                           tesela_xla_repairs *repairs, tesela_error *err) {
  if (repairs) repairs->count = 0;
  return (tesela__xla_reader){.in = tesela__xla_text(text, length, err),
                              .lenient = flags & TESELA_XLA_LENIENT,
                              .keep_bare = flags & TESELA_XLA_KEEP_BARE,
                              .repairs = repairs};
}

void tesela__xla_repairs_copy(tesela_xla_repairs *repairs, const tesela_xla_repairs *noted) {
  if (!repairs) return;
  repairs->count = noted->count;
  for (int32_t i = 0; i < noted->count && i < TESELA_XLA_MAX_REPAIRS; i++)
    repairs->repair[i] = noted->repair[i];
}

tesela_status tesela__xla_end(tesela__xla_reader *reader, const char *what) {
  if (tesela__read_peek(&reader->in) < 0) return TESELA_OK;
  char expected[48];
  snprintf(expected, sizeof expected, "nothing more after %s", what);
  return tesela__xla_unexpected(reader, expected);
}

/* ---- shapes ---- */

/* Read one array, buffer, token or opaque. */
static tesela_status xla_parse_leaf(tesela__xla_reader *reader, tesela_xla_shape *shape) {
  tesela__xla_event event;
  if (tesela__read_peek(&reader->in) == '(')
    return tesela__fail(reader->in.err, TESELA_E_UNSUPPORTED, (int64_t)reader->in.at,
                        "expected one array, such as f32[3,5]{1,0}, found a tuple");
  return tesela__xla_next(reader, shape, &event);
}

tesela_status tesela_xla_parse(const char *text, size_t length, int32_t flags, tesela_xla_shape *shape,
                               tesela_xla_repairs *repairs, tesela_error *err) {
  TESELA__NEED(err, shape);
  TESELA__NEED_LIST(err, text, length);
  tesela_xla_shape read;
  tesela_xla_repairs noted;
  tesela__xla_reader reader = tesela__xla_reader_make(text, length, flags, &noted, err);
  tesela_status status = xla_parse_leaf(&reader, &read);
  if (status == TESELA_OK) status = tesela__xla_end(&reader, "the shape");
  if (status != TESELA_OK) return status;
  tesela__xla_shape_copy(shape, &read);
  tesela__xla_repairs_copy(repairs, &noted);
  return TESELA_OK;
}

tesela_status tesela_xla_parse_prefix(const char *text, size_t length, int32_t flags, tesela_xla_shape *shape,
                                      size_t *used, tesela_xla_repairs *repairs, tesela_error *err) {
  TESELA__NEED(err, shape, used);
  TESELA__NEED_LIST(err, text, length);
  tesela_xla_shape read;
  tesela_xla_repairs noted;
  tesela__xla_reader reader = tesela__xla_reader_make(text, length, flags, &noted, err);
  reader.prefix = true;
  tesela_status status = xla_parse_leaf(&reader, &read);
  if (status != TESELA_OK) return status;
  *used = reader.in.at;
  tesela__xla_shape_copy(shape, &read);
  tesela__xla_repairs_copy(repairs, &noted);
  return TESELA_OK;
}

/* ---- layouts ---- */

/* P(shape): kept as canonical text. The reader is after the P. */
static tesela_status xla_read_physical_shape(tesela__xla_reader *reader, tesela__sink *sink) {
  enum { MAX_DEPTH = TESELA_XLA_PHYSICAL_TEXT / 2 };
  int32_t members[MAX_DEPTH + 1] = {0}; /* read so far, of each open tuple */
  tesela_xla_shape leaf;
  for (;;) {
    tesela__xla_event event;
    int32_t *member = &members[reader->depth];
    tesela_status status = tesela__xla_next(reader, &leaf, &event);
    if (status != TESELA_OK || event == TESELA__XLA_END) return status;
    if (reader->depth > MAX_DEPTH)
      return tesela__fail(reader->in.err, TESELA_E_LIMIT, (int64_t)reader->in.at,
                          "P(...) nests deeper than %d", MAX_DEPTH);
    if (event != TESELA__XLA_CLOSE) tesela__xla_put_separator(sink, (*member)++);
    if (event == TESELA__XLA_OPEN) members[reader->depth] = 0;
    if (event == TESELA__XLA_LEAF)
      tesela__xla_put_shape(sink, &leaf, true);
    else
      tesela__putc(sink, event == TESELA__XLA_OPEN ? '(' : ')');
  }
}

static tesela_status xla_read_physical(tesela__xla_reader *reader, tesela_xla_layout *layout) {
  static const tesela__xla_fault nothing = {TESELA__XLA_SHAPE, 0};
  tesela__xla_fault wanted = reader->wanted;
  tesela_buffer text = {layout->physical, sizeof layout->physical, 0};
  tesela_writer to = tesela_buffer_writer(&text);
  tesela__sink sink;
  tesela__sink_init(&sink, &to);
  tesela_status status = tesela__read_expect(&reader->in, '(', "after P");
  size_t at = reader->in.at;
  reader->place = TESELA__XLA_MEMBER;
  reader->wanted = nothing; /* the wanted field is not in this shape */
  if (status == TESELA_OK) status = xla_read_physical_shape(reader, &sink);
  reader->wanted = wanted;
  if (status == TESELA_OK) status = tesela__xla_close(reader, ')');
  if (status == TESELA_OK) status = tesela__sink_finish(&sink, reader->in.err);
  if (status == TESELA_OK && text.length >= text.capacity)
    return tesela__fail(reader->in.err, TESELA_E_LIMIT, (int64_t)at,
                        "the shape in P(...) has %zu bytes; expected at most %zu", text.length,
                        text.capacity - 1);
  return status;
}

static tesela_status xla_read_layout_unchecked(tesela__xla_reader *reader, tesela_xla_layout *layout) {
  uint32_t seen = 0;
  bool physical = false;
  tesela__read_peek(&reader->in);
  tesela_status status = tesela__xla_read_layout(reader, layout, &seen, &physical);
  if (status != TESELA_OK || !physical) return status;
  status = xla_read_physical(reader, layout);
  return status == TESELA_OK ? tesela__xla_read_properties(reader, layout, &seen, &physical) : status;
}

static tesela_status xla_read_layout_alone(tesela__xla_reader *reader, tesela_xla_layout *layout) {
  tesela__xla_reader again = *reader;
  tesela_status status = xla_read_layout_unchecked(reader, layout);
  if (status != TESELA_OK) return status;
  status = tesela__xla_check_layout_of(layout, layout->rank, NULL, &again.wanted, reader->in.err);
  if (status == TESELA_OK) return status;
  again.repairs = NULL;
  xla_read_layout_unchecked(&again, layout); /* reads the same and finds the byte */
  if (reader->in.err) reader->in.err->at = again.found_at;
  return status;
}

tesela_status tesela_xla_parse_layout(const char *text, size_t length, int32_t flags,
                                      tesela_xla_layout *layout, tesela_xla_repairs *repairs,
                                      tesela_error *err) {
  TESELA__NEED(err, layout);
  TESELA__NEED_LIST(err, text, length);
  tesela_xla_layout read;
  tesela_xla_repairs noted;
  tesela__xla_reader reader = tesela__xla_reader_make(text, length, flags, &noted, err);
  tesela_status status = xla_read_layout_alone(&reader, &read);
  if (status == TESELA_OK) status = tesela__xla_end(&reader, "the layout");
  if (status != TESELA_OK) return status;
  tesela__xla_layout_copy(layout, &read);
  tesela__xla_repairs_copy(repairs, &noted);
  return TESELA_OK;
}
