/* SPDX-License-Identifier: Apache-2.0 */
/*
 * target_text.h - the keys of target files, for their reader and their printer.
 *
 *   target_read.c   the table of keys, a line at a time
 *   target_rule.c   types and rules
 *   target_print.c  the printer
 */
#ifndef TESELA_SRC_TARGET_TEXT_H
#define TESELA_SRC_TARGET_TEXT_H

#include <tesela/notation.h>

#include "base/reader.h"

typedef struct tesela__target_reader {
  tesela__reader in;         /* of the line, without comment and blanks at its end */
  size_t value;              /* byte of the first value of the line */
  tesela_target *target;     /* receives the values */
  bool own_types, own_rules; /* a `type` or `rule` line was read */
} tesela__target_reader;

/* The characters of words, and of names of targets. */
enum {
  TESELA__TARGET_WORD = TESELA__BYTE_NAME | TESELA__BYTE_DOT,
  TESELA__TARGET_NAME = TESELA__TARGET_WORD | TESELA__BYTE_DASH,
};
/* Bytes of the next word, which may begin with a digit or a dot; 0 without a word. */
static inline size_t tesela__target_word(tesela__target_reader *r) {
  tesela__read_peek(&r->in);
  return tesela__read_lump(&r->in, r->in.at);
}

/* ---- target_rule.c ---- */

tesela_status tesela__target_type(tesela__target_reader *r);
tesela_status tesela__target_rule(tesela__target_reader *r);

#endif
