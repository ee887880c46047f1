/* SPDX-License-Identifier: Apache-2.0 */
/*
 * target_text.h - the keys of target files, for their reader and their printer.
 *
 *   target_lex.c    a line: words, numbers, what errors say
 *   target_read.c   the table of keys, a line at a time
 *   target_rule.c   types and rules
 *   target_print.c  the printer
 */
#ifndef TESELA_SRC_TARGET_TEXT_H
#define TESELA_SRC_TARGET_TEXT_H

#include <tesela/notation.h>

#include "base/base.h"

typedef struct tesela__target_reader {
  const char *text;
  size_t at, end; /* of what is left of the line, without comment and blanks at its end */
  size_t value;   /* byte of the first value of the line */
  int64_t line;   /* from 1 */
  tesela_error *err;
  tesela_target *target;     /* that is filled in */
  bool own_types, own_rules; /* a line `type` or `rule` was there */
} tesela__target_reader;

/* ---- target_lex.c ---- */

/* May the name of a target have this byte? */
bool tesela__target_name_byte(char c);
void tesela__target_blanks(tesela__target_reader *r);
/* Bytes of the word that comes next, after blanks: letters, digits, `_`, `.`; 0 if none does. */
size_t tesela__target_word(tesela__target_reader *r);
/* Take a text if it comes next, after blanks. */
bool tesela__target_take(tesela__target_reader *r, const char *text);
/* "line 3: ..." at a byte. */
tesela_status tesela__target_fail(tesela__target_reader *r, tesela_status status, size_t at,
                                  const char *format, ...) TESELA_PRINTF(4, 5);
/* "line 3: found X; expected Y" at what comes next. */
tesela_status tesela__target_unexpected(tesela__target_reader *r, const char *expected);
/* A whole number between two bounds. */
tesela_status tesela__target_number(tesela__target_reader *r, const char *what, int64_t least, int64_t most,
                                    int64_t *number);
/* The word of `length` bytes that comes next is none of the names; near ones are suggested. */
tesela_status tesela__target_unknown(tesela__target_reader *r, const char *what, size_t length,
                                     const char *(*name)(int32_t i));

/* ---- target_rule.c ---- */

tesela_status tesela__target_type(tesela__target_reader *r);
tesela_status tesela__target_rule(tesela__target_reader *r);

#endif
