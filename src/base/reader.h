/* SPDX-License-Identifier: Apache-2.0 */
/*
 * reader.h - the text reader of every notation: blanks, words, integers, lists, and error texts.
 *
 * A reader is a value on the stack over text that its caller owns. It never reads beyond `length`. Three fields differ between
 * notations: the blanks between two pieces, the bytes that continue a word, and the bytes that may not follow a number.
 *
 * Every error is at the faulty byte. Only this file writes "expected X, found Y", "unknown X 'y'; did you mean z?" and "X is 7;
 * expected 0 to 4".
 */
#ifndef TESELA_SRC_READER_H
#define TESELA_SRC_READER_H

#include "base/base.h"

typedef enum tesela__blanks {
  TESELA__BLANKS_LINE,     /* space and tab: the text is one line */
  TESELA__BLANKS_TEXT,     /* and the ends of lines */
  TESELA__BLANKS_COMMENTS, /* and comments as in C, of valid UTF-8 */
  TESELA__BLANKS_LOOSE,    /* and comments of any bytes, the last of which may lack its end */
} tesela__blanks;

/* Classes of ASCII bytes; words and numbers are described by sums of them. */
enum {
  TESELA__BYTE_LETTER = 1, /* a to z, A to Z, _ */
  TESELA__BYTE_DIGIT = 2,
  TESELA__BYTE_DOT = 4,
  TESELA__BYTE_DASH = 8,
  TESELA__BYTE_SIGN = 16, /* other bytes in names of HLO, including those beyond ASCII */
  TESELA__BYTE_NAME = TESELA__BYTE_LETTER | TESELA__BYTE_DIGIT,
};
extern const uint8_t tesela__byte_classes[128];

static inline bool tesela__byte_is(char c, int32_t classes) {
  unsigned char u = (unsigned char)c;
  return ((u < 128 ? tesela__byte_classes[u] : TESELA__BYTE_SIGN) & classes) != 0;
}

typedef struct tesela__reader {
  const char *text;
  size_t length, at; /* the text ends at `length`, for a line within a text too */
  tesela_error *err;
  int64_t line;          /* from 1; errors begin with it. 0: errors without a line */
  tesela__blanks blanks; /* between two pieces */
  int32_t word;          /* classes of bytes that words continue with */
  int32_t glue;          /* classes of bytes that may not follow a number */
} tesela__reader;

/* ---- pieces ---- */

/* Move past a comment; false without one, or for a broken one: then the reader is at the fault. */
bool tesela__read_comment(tesela__reader *r);

/* Skip blanks; returns the next byte, or -1 at the end. */
static inline int tesela__read_peek(tesela__reader *r) {
  while (r->at < r->length) {
    unsigned char c = (unsigned char)r->text[r->at];
    if (c > '/') return c;
    if (c == ' ' || c == '\t' || ((c == '\n' || c == '\r') && r->blanks >= TESELA__BLANKS_TEXT))
      r->at++;
    else if (c != '/' || r->blanks < TESELA__BLANKS_COMMENTS)
      return c;
    else if (!tesela__read_comment(r))
      return (unsigned char)r->text[r->at];
  }
  return -1;
}

/* Take c if it comes next. */
static inline bool tesela__read_take(tesela__reader *r, char c) {
  if (tesela__read_peek(r) != (unsigned char)c) return false;
  r->at++;
  return true;
}

/* The number of word bytes from `at` on. */
static inline size_t tesela__read_lump(const tesela__reader *r, size_t at) {
  size_t n = 0;
  while (at + n < r->length && tesela__byte_is(r->text[at + n], r->word)) n++;
  return n;
}

/* Skip blanks; returns the length of the next word, which begins with a letter, or 0. */
static inline size_t tesela__read_word(tesela__reader *r) {
  int c = tesela__read_peek(r);
  return c >= 0 && tesela__byte_is((char)c, TESELA__BYTE_LETTER) ? tesela__read_lump(r, r->at) : 0;
}

static inline bool tesela__same_word(const char *text, size_t length, const char *word) {
  return strlen(word) == length && memcmp(text, word, length) == 0;
}

/* Take this text if it is next; if it ends in a word byte, the word must end there. */
bool tesela__read_take_text(tesela__reader *r, const char *text);

/* ---- integers and lists ---- */

/* Skip blanks and scan an integer. 1: *end is its end; 0: not an integer; -1: it does not fit. */
int tesela__read_scan(tesela__reader *r, size_t *end, int64_t *value);
/* Is a minus or a digit of an integer next? */
bool tesela__read_integer_next(tesela__reader *r);
/* An integer. TESELA_E_SYNTAX, or `too_long` if it does not fit. */
tesela_status tesela__read_any_integer(tesela__reader *r, const char *what, tesela_status too_long,
                                       int64_t *value);
/* An integer from `least` to `most`, else TESELA_E_RANGE. */
tesela_status tesela__read_integer(tesela__reader *r, const char *what, int64_t least, int64_t most,
                                   int64_t *value);
/* After an item of a list that `close` ends: is there one more? Moves past the comma or `close`. `trailing`: a comma is allowed
 * after the last item. */
tesela_status tesela__read_more(tesela__reader *r, char close, bool trailing, bool *more);
/* "[1,2]" or "(1,2)", the bracket included: at most `most` integers. */
tesela_status tesela__read_integers(tesela__reader *r, char open, bool trailing, const char *what,
                                    tesela_status too_long, int32_t most, int64_t *list, int32_t *n);
/* Take c, or fail because it is missing; `where` follows in the message, or "". */
tesela_status tesela__read_expect(tesela__reader *r, char c, const char *where);

/* Does the next character replace this ASCII one in documents? Returns its bytes, or 0. */
size_t tesela__read_lookalike(const tesela__reader *r, char ascii);

/* ---- error texts -------- */

/* tesela__fail at a byte, with the line if there is one. */
tesela_status tesela__read_fail(const tesela__reader *r, tesela_status status, size_t at, const char *format,
                                ...) TESELA_PRINTF(4, 5);

/* The text found at a byte: "'abc'", "a NUL byte", "the end of the line". */
#define TESELA__FOUND 64
void tesela__read_found(const tesela__reader *r, size_t at, char found[TESELA__FOUND]);

/* "expected X, found Y" at the next byte; `hint` follows, or "". An invalid byte directly after a
 * word is what was found. */
tesela_status tesela__read_unexpected(tesela__reader *r, const char *expected, const char *hint);

/* "unknown X 'y'; did you mean z?" for `length` bytes at `at`, `of` (or "") before the semicolon; without `near` (NULL) ";
 * expected " and `allowed`, if that is not NULL. An invalid byte directly after the word is the fault, as above. */
tesela_status tesela__read_unknown(tesela__reader *r, tesela_status status, size_t at, size_t length,
                                   const char *what, const char *of, const char *near, const char *allowed);
/* The same, of the names that `name` counts from 0 to the first NULL; "" is a gap. */
tesela_status tesela__read_unknown_of(tesela__reader *r, size_t at, size_t length, const char *what,
                                      const char *(*name)(int32_t i));
/* The same, with a pointer of the caller's for `name`. */
tesela_status tesela__read_unknown_among(tesela__reader *r, size_t at, size_t length, const char *what,
                                         const char *(*name)(const void *user, int32_t i), const void *user);

#endif
