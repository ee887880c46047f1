/* SPDX-License-Identifier: Apache-2.0 */
/*
 * xla_shape.c - reads arrays, buffers, token[] and opaque[], and tuples of them as a stream of events:
 *
 *   (f32[2], (s32[]))    OPEN  LEAF f32[2]  OPEN  LEAF s32[]  CLOSE  CLOSE  END
 *
 * So the reader needs only a counter for nesting; the builder of a tree keeps the path in the tree.
 */
#include <stdio.h>

#include "notation/xla/xla_read.h"

/* ---- dims ---- */

static tesela_status xla_read_dim(tesela__xla_reader *reader, tesela_xla_shape *shape) {
  int32_t d = shape->rank;
  int c = tesela__read_peek(&reader->in);
  if (d == TESELA_MAX_RANK)
    return tesela__fail(reader->in.err, TESELA_E_LIMIT, (int64_t)reader->in.at, "more than %d dims",
                        TESELA_MAX_RANK);
  shape->rank++;
  if (c == '?') {
    tesela__xla_mark(reader, TESELA__XLA_DIM, d);
    reader->in.at++;
    shape->dim[d] = TESELA_XLA_UNBOUNDED;
    shape->dynamic |= (uint32_t)1 << d;
    return TESELA_OK;
  }
  if (c == '<' && reader->in.length - reader->in.at > 1 && reader->in.text[reader->in.at + 1] == '=') {
    reader->in.at += 2;
    shape->dynamic |= (uint32_t)1 << d;
  }
  return tesela__xla_number(reader, TESELA__XLA_DIM, d, &shape->dim[d]);
}

static tesela_status xla_read_dims(tesela__xla_reader *reader, tesela_xla_shape *shape) {
  bool more;
  tesela__read_peek(&reader->in);
  tesela__xla_mark(reader, TESELA__XLA_DIM, TESELA__XLA_WHOLE);
  tesela_status status = tesela__read_expect(&reader->in, '[', "and the dims");
  more = status == TESELA_OK && !tesela__read_take(&reader->in, ']');
  while (status == TESELA_OK && more) {
    status = xla_read_dim(reader, shape);
    if (status == TESELA_OK) status = tesela__xla_more(reader, ']', &more);
  }
  return status;
}

/* ---- arrays ---- */

typedef enum xla_braces { XLA_NO_BRACES, XLA_EMPTY_BRACES, XLA_LAYOUT_BRACES } xla_braces;

/* Find the braces of the shape and move to them. A brace belongs to it only if a number or a colon follows: the one of
   "-> f32[2] { %x = ..." opens a computation. Lenient reading also accepts {}, in a prefix only directly after the
   shape. */
static xla_braces xla_find_braces(tesela__xla_reader *reader) {
  size_t behind = reader->in.at, brace;
  xla_braces found = XLA_NO_BRACES;
  if (tesela__read_peek(&reader->in) == '{') {
    brace = reader->in.at++;
    int c = tesela__read_peek(&reader->in);
    if ((c >= '0' && c <= '9') || c == '-' || c == ':') found = XLA_LAYOUT_BRACES;
    if (c == '}' && reader->lenient && (!reader->prefix || reader->in.at == behind + 1))
      found = XLA_EMPTY_BRACES;
    reader->in.at = brace;
  }
  if (found == XLA_NO_BRACES) reader->in.at = behind;
  return found;
}

static void xla_skip_empty_braces(tesela__xla_reader *reader, const char *meaning) {
  tesela__xla_repair(reader, reader->in.at, "{} %s", meaning);
  tesela__read_take(&reader->in, '{');
  tesela__read_take(&reader->in, '}');
}

static tesela_status xla_read_array(tesela__xla_reader *reader, tesela_xla_shape *shape) {
  uint32_t seen = 0;
  tesela_status status = xla_read_dims(reader, shape);
  if (status != TESELA_OK) return status;
  xla_braces found = xla_find_braces(reader);
  shape->has_layout = found != XLA_NO_BRACES || !reader->keep_bare || shape->rank == 0;
  if (found == XLA_LAYOUT_BRACES) return tesela__xla_read_layout(reader, &shape->layout, &seen, NULL);
  if (found == XLA_EMPTY_BRACES) xla_skip_empty_braces(reader, "read as the default order");
  tesela__xla_layout_default(&shape->layout, shape->rank);
  return TESELA_OK;
}

/* token[] and opaque[], after the word. */
static tesela_status xla_read_nothing(tesela__xla_reader *reader, tesela_xla_shape *shape) {
  const char *name = tesela_dtype_name(shape->dtype);
  shape->kind = shape->dtype == TESELA_TOKEN ? TESELA_XLA_TOKEN : TESELA_XLA_OPAQUE;
  shape->has_layout = false;
  tesela__xla_layout_default(&shape->layout, 0);
  tesela_status status = tesela__read_expect(&reader->in, '[', "and ']'");
  if (status != TESELA_OK) return status;
  if (tesela__read_peek(&reader->in) != ']') {
    char hint[32];
    snprintf(hint, sizeof hint, "; %s[] has no dims", name);
    return tesela__read_unexpected(&reader->in, "']'", hint);
  }
  reader->in.at++;
  xla_braces found = xla_find_braces(reader);
  if (found == XLA_LAYOUT_BRACES)
    return tesela__fail(reader->in.err, TESELA_E_SYNTAX, (int64_t)reader->in.at,
                        "expected nothing more, found '{'; %s[] has no layout", name);
  if (found == XLA_EMPTY_BRACES) xla_skip_empty_braces(reader, "left out");
  return TESELA_OK;
}

/* type dims [layout] */
static tesela_status xla_read_plain(tesela__xla_reader *reader, tesela_xla_shape *shape) {
  tesela_status status = tesela__xla_type(reader, &shape->dtype);
  if (status != TESELA_OK) return status;
  return tesela_dtype_family_of(shape->dtype) == TESELA_FAMILY_NONE ? xla_read_nothing(reader, shape)
                                                                    : xla_read_array(reader, shape);
}

/* b(array), after the b. */
static tesela_status xla_read_buffer(tesela__xla_reader *reader, tesela_xla_shape *shape) {
  tesela_status status = tesela__read_expect(&reader->in, '(', "of a buffer");
  if (status != TESELA_OK) return status;
  int c = tesela__read_peek(&reader->in);
  size_t at = reader->in.at;
  if (c != '(') status = xla_read_plain(reader, shape);
  if (status != TESELA_OK) return status;
  if (c == '(' || shape->kind != TESELA_XLA_ARRAY)
    return tesela__fail(reader->in.err, TESELA_E_INVALID, (int64_t)at, "b(...) holds a single array");
  shape->kind = TESELA_XLA_BUFFER;
  return tesela__read_expect(&reader->in, ')', "of the buffer");
}

/* Read with the checks of the grammar; those of xla/validate.h follow. */
static tesela_status xla_read_unchecked(tesela__xla_reader *reader, tesela_xla_shape *shape) {
  shape->kind = TESELA_XLA_ARRAY;
  shape->rank = 0;
  shape->dynamic = 0;
  bool b = tesela__read_word(&reader->in) == 1 && reader->in.text[reader->in.at] == 'b';
  tesela__xla_mark(reader, TESELA__XLA_SHAPE, TESELA__XLA_WHOLE);
  if (!b) return xla_read_plain(reader, shape);
  reader->in.at++;
  return xla_read_buffer(reader, shape);
}

static tesela_status xla_read_leaf(tesela__xla_reader *reader, tesela_xla_shape *shape) {
  tesela__xla_reader again = *reader;
  tesela_status status = xla_read_unchecked(reader, shape);
  if (status != TESELA_OK) return status;
  status = tesela__xla_check_shape(shape, &again.wanted, reader->in.err);
  if (status == TESELA_OK) return status;
  again.repairs = NULL;
  again.found_at = (int64_t)again.in.at;
  xla_read_unchecked(&again, shape); /* reads the same and finds the byte */
  if (reader->in.err) reader->in.err->at = again.found_at;
  return status;
}

/* ---- tuples ---- */

static tesela_status xla_too_deep(tesela__xla_reader *reader) {
  return tesela__fail(reader->in.err, TESELA_E_LIMIT, (int64_t)reader->in.at, "tuples nest deeper than %d",
                      TESELA_XLA_MAX_DEPTH);
}

/* After a member. *closed: the tuple ends here; else another member must follow. */
static tesela_status xla_after_member(tesela__xla_reader *reader, bool *closed) {
  *closed = tesela__read_take(&reader->in, ')');
  if (*closed) return TESELA_OK;
  size_t comma = reader->in.at;
  if (!tesela__read_take(&reader->in, ',')) return tesela__xla_unexpected(reader, "',' or ')'");
  if (reader->lenient && tesela__read_take(&reader->in, ')')) {
    tesela__xla_repair(reader, comma, "',' after the last member left out");
    *closed = true;
  }
  return TESELA_OK;
}

tesela_status tesela__xla_next(tesela__xla_reader *reader, tesela_xla_shape *leaf, tesela__xla_event *event) {
  bool closed = false;
  tesela_status status = TESELA_OK;
  *event = TESELA__XLA_END;
  if (reader->place == TESELA__XLA_AFTER_MEMBER && reader->depth == 0) return TESELA_OK;
  if (reader->place == TESELA__XLA_AFTER_MEMBER) status = xla_after_member(reader, &closed);
  if (reader->place == TESELA__XLA_FIRST_MEMBER) closed = tesela__read_take(&reader->in, ')');
  if (status != TESELA_OK) return status;
  if (closed) {
    *event = TESELA__XLA_CLOSE;
    reader->depth--;
    reader->place = TESELA__XLA_AFTER_MEMBER;
    return TESELA_OK;
  }
  if (tesela__read_peek(&reader->in) == '(') {
    if (reader->depth == TESELA_XLA_MAX_DEPTH) return xla_too_deep(reader);
    *event = TESELA__XLA_OPEN;
    reader->in.at++;
    reader->depth++;
    reader->place = TESELA__XLA_FIRST_MEMBER;
    return TESELA_OK;
  }
  *event = TESELA__XLA_LEAF;
  status = xla_read_leaf(reader, leaf);
  reader->place = TESELA__XLA_AFTER_MEMBER;
  return status;
}
