/* SPDX-License-Identifier: Apache-2.0 */
/*
 * utf8.h - characters of a text that may be anything.
 */
#ifndef TESELA_CLI_UTF8_H
#define TESELA_CLI_UTF8_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* The first character of `length` >= 1 bytes: its code goes to *c. Returns the bytes it takes, 0 if they are
 * not UTF-8 (overlong forms, surrogates and what is beyond U+10FFFF included). */
size_t utf8_read(const char *text, size_t length, uint32_t *c);

bool utf8_valid(const char *text, size_t length);

/* Columns of a terminal a character takes: 0, 1 or 2; -1 for one that must not be written as it is (control
 * characters, and those that change the direction of the text around them). */
int utf8_columns(uint32_t c);

#endif
