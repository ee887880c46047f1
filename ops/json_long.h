/* SPDX-License-Identifier: Apache-2.0 */
/*
 * json_long.h - long strings of a JSON text, taken out before the reader reads it one character at a time.
 *
 *   {"data_hex": "00010203 ... ff"}  ->  {"data_hex": "\x7f0"} and the string's bytes
 *
 * Only values are taken out, of printable ASCII without a backslash, which mean themselves; and only from texts where the mark means
 * nothing else. The shorter text is JSON if and only if the whole one is.
 */
#ifndef TESELA_OPS_JSON_LONG_H
#define TESELA_OPS_JSON_LONG_H

#include <stdbool.h>
#include <stddef.h>

enum {
  JSON_LONG = 256,    /* bytes of a string that is long */
  JSON_MOST_LONG = 16 /* strings taken out of one text */
};

/* A string of the text: its first byte and its bytes, without the quotes. */
typedef struct json_stretch {
  size_t begin, length;
} json_stretch;

/* Find the long strings of a text; returns how many. */
int json_find_long(const char *text, size_t length, json_stretch found[JSON_MOST_LONG]);

/* Write the text with marks in place of n strings; returns its bytes, fewer than those of the text. */
size_t json_cut_long(const char *text, size_t length, int n, const json_stretch *found, char *shorter);

/* Which string does a value of the shorter text stand for? Its number, or -1. */
int json_long_of(const char *value, size_t length);

#endif
