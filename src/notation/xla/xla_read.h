/* SPDX-License-Identifier: Apache-2.0 */
/*
 * xla_read.h - a reader of XLA shape text: one pass, no memory, no recursion.
 *
 *   xla_token.c    blanks and comments, words, numbers; what an error and a repair say
 *   xla_layout.c   what stands between the braces, from one table of properties
 *   xla_shape.c    arrays, buffers, tokens; tuples as a stream of events
 *   xla_parse.c    the public functions
 *
 * The reader only knows the grammar. What the values may be is the gate's business (xla/validate.h): numbers
 * are asked for one by one, the rest at the end; to find the byte of what the gate refuses then, the shape is
 * read once more with `wanted` set.
 */
#ifndef TESELA_SRC_XLA_READ_H
#define TESELA_SRC_XLA_READ_H

#include "base/base.h"
#include "xla/validate.h"

/* What the stream of events expects next. */
typedef enum tesela__xla_place {
  TESELA__XLA_MEMBER,       /* a shape */
  TESELA__XLA_FIRST_MEMBER, /* a shape, or the end of an empty tuple */
  TESELA__XLA_AFTER_MEMBER, /* a comma, the end of the tuple, or of everything */
} tesela__xla_place;

typedef struct tesela__xla_reader {
  const char *text;
  size_t length, at;
  bool lenient, keep_bare, prefix;
  int32_t depth; /* open tuples */
  tesela__xla_place place;
  tesela__xla_fault wanted; /* note the byte of this field in found_at */
  int64_t found_at;
  tesela_xla_repairs *repairs; /* NULL: nobody wants to know */
  tesela_error *err;
} tesela__xla_reader;

/* ---- xla_token.c ---- */

/* Move past a comment; false if there is none or it is broken: then the reader stands at what breaks it. */
bool tesela__xla_skip_comment(tesela__xla_reader *reader);

/* The next byte that is neither blank nor comment, -1 at the end. The reader stands at it. */
static inline int tesela__xla_peek(tesela__xla_reader *reader) {
  while (reader->at < reader->length) {
    unsigned char c = (unsigned char)reader->text[reader->at];
    if (c == ' ' || c == '\t' || c == '\n' || c == '\r')
      reader->at++;
    else if (c != '/' || !tesela__xla_skip_comment(reader))
      return c;
  }
  return -1;
}

/* Take c if it comes next. */
static inline bool tesela__xla_take(tesela__xla_reader *reader, char c) {
  if (tesela__xla_peek(reader) != c) return false;
  reader->at++;
  return true;
}

/* The field that is read next stands here. */
static inline void tesela__xla_mark(tesela__xla_reader *reader, tesela__xla_field field, int32_t index) {
  if (reader->wanted.field == field && reader->wanted.index == index) reader->found_at = (int64_t)reader->at;
}

/* "found X; expected ...", for what comes next. `expected` is followed by `more`, "" if there is none. */
tesela_status tesela__xla_unexpected(tesela__xla_reader *reader, const char *expected, const char *more);
/* Bytes at `at` that hang together as a word or a number would; 0 for anything else. */
size_t tesela__xla_lump(const tesela__xla_reader *reader, size_t at);
/* What stands at a byte, quoted for a message: 'abc', 'x07' escaped, "the end of the text". */
#define TESELA__XLA_QUOTE 64
void tesela__xla_quote(const tesela__xla_reader *reader, size_t at, char quoted[TESELA__XLA_QUOTE]);
/* Note a repair; `what` is a format. */
void tesela__xla_repair(tesela__xla_reader *reader, size_t at, const char *what, ...) TESELA_PRINTF(3, 4);

tesela_status tesela__xla_expect(tesela__xla_reader *reader, char c, const char *where);
/* Bytes of the word that comes next, 0 if none does. */
size_t tesela__xla_word(tesela__xla_reader *reader);
/* A number in the range of its field; item `index` of it. */
tesela_status tesela__xla_number(tesela__xla_reader *reader, tesela__xla_field field, int32_t index,
                                 int64_t *value);
/* The name of a type. */
tesela_status tesela__xla_type(tesela__xla_reader *reader, tesela_dtype *dtype);
/* The ')' behind a single item. */
tesela_status tesela__xla_close(tesela__xla_reader *reader, char close);
/* After an item of a list that `close` ends: is there one more? Moves past the comma or `close`. */
tesela_status tesela__xla_more(tesela__xla_reader *reader, char close, bool *more);
/* Does the character that comes next stand for the ASCII one in the document? Bytes it has, 0 if not. */
size_t tesela__xla_lookalike(const tesela__xla_reader *reader, char ascii);

/* ---- xla_layout.c ---- */

/* "{1,0:T(2,2)}", the reader standing at the brace. `*seen` starts as 0. With *physical set to true the
   reader stopped behind `P`: the caller reads the shape and lets tesela__xla_read_properties go on. NULL for
   `physical`: this layout belongs to an array, and P is refused. */
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
/* TESELA_OK if nothing but blanks and comments is left. */
tesela_status tesela__xla_end(tesela__xla_reader *reader, const char *what);
/* Hand out what was noted; `repairs` may be NULL. */
void tesela__xla_repairs_copy(tesela_xla_repairs *repairs, const tesela_xla_repairs *noted);

#endif
