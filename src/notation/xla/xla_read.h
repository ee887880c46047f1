/* SPDX-License-Identifier: Apache-2.0 */
/*
 * xla_read.h - a reader of XLA shape text: one pass, no memory, no recursion.
 *
 *   xla_token.c    numbers, types, lists that may be repaired
 *   xla_layout.c   the text between the braces, from one table of properties
 *   xla_shape.c    arrays, buffers, tokens; tuples as a stream of events
 *   xla_parse.c    the public functions
 *
 * The reader only knows the grammar; xla/validate.h checks the values, numbers one by one and the rest at the end. To
 * find the byte of an error that is found at the end, the shape is read again with `wanted` set.
 */
#ifndef TESELA_SRC_XLA_READ_H
#define TESELA_SRC_XLA_READ_H

#include "base/reader.h"
#include "xla/validate.h"

/* The next expected part of the text. */
typedef enum tesela__xla_place {
  TESELA__XLA_MEMBER,       /* a shape */
  TESELA__XLA_FIRST_MEMBER, /* a shape, or the end of an empty tuple */
  TESELA__XLA_AFTER_MEMBER, /* a comma, the end of the tuple, or of everything */
} tesela__xla_place;

typedef struct tesela__xla_reader {
  tesela__reader in;
  bool lenient, keep_bare, prefix;
  int32_t depth; /* open tuples */
  tesela__xla_place place;
  tesela__xla_fault wanted; /* note the byte of this field in found_at */
  int64_t found_at;
  tesela_xla_repairs *repairs; /* may be NULL */
} tesela__xla_reader;

/* ---- xla_token.c ---- */

/* A reader of XLA text: with comments, and with dots and dashes in words. */
static inline tesela__reader tesela__xla_text(const char *text, size_t length, tesela_error *err) {
  enum { WORD = TESELA__BYTE_NAME | TESELA__BYTE_DOT | TESELA__BYTE_DASH };
  return (tesela__reader){text,         length,      0, err, .blanks = TESELA__BLANKS_COMMENTS,
                          .word = WORD, .glue = WORD};
}

/* Note the position of the next field if it is the wanted one. */
static inline void tesela__xla_mark(tesela__xla_reader *reader, tesela__xla_field field, int32_t index) {
  if (reader->wanted.field == field && reader->wanted.index == index)
    reader->found_at = (int64_t)reader->in.at;
}

/* "expected X, found Y" after a member or a whole shape, with a hint for a brace that does not open a layout. */
tesela_status tesela__xla_unexpected(tesela__xla_reader *reader, const char *expected);
/* Note a repair; `what` is a format. */
void tesela__xla_repair(tesela__xla_reader *reader, size_t at, const char *what, ...) TESELA_PRINTF(3, 4);

/* Read a number in the range of its field; `index`: its position in the field. */
tesela_status tesela__xla_number(tesela__xla_reader *reader, tesela__xla_field field, int32_t index,
                                 int64_t *value);
/* Read the name of a type. */
tesela_status tesela__xla_type(tesela__xla_reader *reader, tesela_dtype *dtype);
/* Read the ')' after a single item. */
tesela_status tesela__xla_close(tesela__xla_reader *reader, char close);
/* After an item of a list that `close` ends: is there one more? Moves past the comma or `close`. */
tesela_status tesela__xla_more(tesela__xla_reader *reader, char close, bool *more);
/* Report the next word, of `length` bytes, as an unknown type. */
tesela_status tesela__xla_unknown_type(tesela__reader *in, size_t length);

/* ---- xla_layout.c ---- */

/* Read "{1,0:T(2,2)}" from its brace. `*seen` starts as 0. *physical becomes true if the reader stopped after `P`: the
   caller reads the shape and continues with tesela__xla_read_properties. `physical` is NULL for the layout of an array,
   in which P is an error. */
tesela_status tesela__xla_read_layout(tesela__xla_reader *reader, tesela_xla_layout *layout, uint32_t *seen,
                                      bool *physical);
tesela_status tesela__xla_read_properties(tesela__xla_reader *reader, tesela_xla_layout *layout,
                                          uint32_t *seen, bool *physical);

/* ---- xla_shape.c ---- */

typedef enum tesela__xla_event {
  TESELA__XLA_OPEN,  /* ( of a tuple */
  TESELA__XLA_LEAF,  /* an array, buffer, token or opaque, valid */
  TESELA__XLA_CLOSE, /* ) of a tuple */
  TESELA__XLA_END,   /* the shape is complete */
} tesela__xla_event;

tesela__xla_reader tesela__xla_reader_make(const char *text, size_t length, int32_t flags,
                                           tesela_xla_repairs *repairs, tesela_error *err);
tesela_status tesela__xla_next(tesela__xla_reader *reader, tesela_xla_shape *leaf, tesela__xla_event *event);
/* TESELA_OK if only blanks and comments remain. */
tesela_status tesela__xla_end(tesela__xla_reader *reader, const char *what);
/* Copy the noted repairs to the caller's; `repairs` may be NULL. */
void tesela__xla_repairs_copy(tesela_xla_repairs *repairs, const tesela_xla_repairs *noted);

#endif
