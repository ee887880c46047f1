/* SPDX-License-Identifier: Apache-2.0 */
/*
 * reader.h - the text reader that every notation is read with: blanks, words, integers, lists, and error texts.
 *
 * A reader is a value on the stack over text that its caller owns. It never reads beyond `length`, whatever the bytes
 * are. What differs between notations is in three fields: which blanks may stand between two pieces, which bytes a word
 * continues with, and which bytes may not follow a number.
 *
 * Every error stands at the byte that is wrong. "expected X, found Y", "unknown X 'y'; did you mean z?" and "X is 7;
 * expected 0 to 4" are said here and nowhere else.
 */
#ifndef TESELA_SRC_READER_H
#define TESELA_SRC_READER_H

#include "base/base.h"

typedef enum tesela__blanks {
  TESELA__BLANKS_LINE,     /* space and tab: what is read is one line */
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
  TESELA__BYTE_SIGN = 16, /* what else stands in names of HLO, bytes beyond ASCII included */
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
  int64_t line;          /* from 1; errors begin with it. 0: they name no line */
  tesela__blanks blanks; /* between two pieces */
  int32_t word;          /* classes of bytes that words continue with */
  int32_t glue;          /* classes of bytes that may not follow a number */
} tesela__reader;

/* ---- pieces ---- */

/* Move past a comment; false without one, or for a broken one: then the reader is at what breaks it. */
bool tesela__read_comment(tesela__reader *r);

/* The next byte other than a blank, -1 at the end. The reader is at it. */
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

/* Bytes from `at` on that a word continues with. */
static inline size_t tesela__read_lump(const tesela__reader *r, size_t at) {
  size_t n = 0;
  while (at + n < r->length && tesela__byte_is(r->text[at + n], r->word)) n++;
  return n;
}

/* Bytes of the word that comes next, which begins with a letter; 0 if none does. The reader is at it. */
static inline size_t tesela__read_word(tesela__reader *r) {
  int c = tesela__read_peek(r);
  return c >= 0 && tesela__byte_is((char)c, TESELA__BYTE_LETTER) ? tesela__read_lump(r, r->at) : 0;
}

static inline bool tesela__same_word(const char *text, size_t length, const char *word) {
  return strlen(word) == length && memcmp(text, word, length) == 0;
}

/* Take this text if it comes next and, where it ends as a word, if the word ends there. */
bool tesela__read_take_text(tesela__reader *r, const char *text);

/* ---- integers and lists ---- */

/* The integer that comes next: 1 and where it ends; 0: none does; -1: it does not fit. The reader is at it. */
int tesela__read_scan(tesela__reader *r, size_t *end, int64_t *value);
/* A minus or a digit of an integer comes next. */
bool tesela__read_integer_next(tesela__reader *r);
/* An integer. TESELA_E_SYNTAX, or `too_long` if it does not fit. */
tesela_status tesela__read_any_integer(tesela__reader *r, const char *what, tesela_status too_long,
                                       int64_t *value);
/* An integer from `least` to `most`, else TESELA_E_RANGE. */
tesela_status tesela__read_integer(tesela__reader *r, const char *what, int64_t least, int64_t most,
                                   int64_t *value);
/* After an item of a list that `close` ends: is there one more? Moves past the comma or `close`. `trailing`: a comma may
 * stand after the last item. */
tesela_status tesela__read_more(tesela__reader *r, char close, bool trailing, bool *more);
/* "[1,2]" or "(1,2)", the bracket included: at most `most` integers. */
tesela_status tesela__read_integers(tesela__reader *r, char open, bool trailing, const char *what,
                                    tesela_status too_long, int32_t most, int64_t *list, int32_t *n);
/* Take c, or say that it is missing; `where` follows in the message, "" for nothing. */
tesela_status tesela__read_expect(tesela__reader *r, char c, const char *where);

/* Does the character that comes next stand for the ASCII one in documents? Bytes it has, 0 if not. */
size_t tesela__read_lookalike(const tesela__reader *r, char ascii);

/* ---- error texts -------- */

/* tesela__fail at a byte, with the line if there is one. */
tesela_status tesela__read_fail(const tesela__reader *r, tesela_status status, size_t at, const char *format,
                                ...) TESELA_PRINTF(4, 5);

/* What a byte begins with: "'abc'", "a NUL byte", "the end of the line". */
#define TESELA__FOUND 64
void tesela__read_found(const tesela__reader *r, size_t at, char found[TESELA__FOUND]);

/* "expected X, found Y" at what comes next; `hint` follows, "" for none. An invalid byte directly after a
 * word is what was found. */
tesela_status tesela__read_unexpected(tesela__reader *r, const char *expected, const char *hint);

/* "unknown X 'y'; did you mean z?" for `length` bytes at `at`, `of` ("" for none) before the semicolon; without `near` (NULL) "; expected " and `allowed`, if that
 * is not NULL. An invalid byte directly after the word is the fault, as above. */
tesela_status tesela__read_unknown(tesela__reader *r, tesela_status status, size_t at, size_t length,
                                   const char *what, const char *of, const char *near, const char *allowed);
/* The same, of the names that `name` counts from 0 to the first NULL; "" is a gap. */
tesela_status tesela__read_unknown_of(tesela__reader *r, size_t at, size_t length, const char *what,
                                      const char *(*name)(int32_t i));
/* The same, with a pointer of the caller's for `name`. */
tesela_status tesela__read_unknown_among(tesela__reader *r, size_t at, size_t length, const char *what,
                                         const char *(*name)(const void *user, int32_t i), const void *user);

#endif
