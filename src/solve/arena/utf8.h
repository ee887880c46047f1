/* SPDX-License-Identifier: Apache-2.0 */
/*
 * utf8.h - is this a character of UTF-8? For ids, which go through text unchanged.
 */
#ifndef TESELA_SRC_ARENA_UTF8_H
#define TESELA_SRC_ARENA_UTF8_H

#include <stddef.h>

/* Bytes of the first character, 1 to 4; 0 if it is none (cut, overlong, a surrogate, beyond U+10FFFF). n >= 1. */
static inline size_t tesela__arena_utf8(const char *text, size_t n) {
  const unsigned char *c = (const unsigned char *)text;
  size_t width = c[0] < 0x80 ? 1 : c[0] < 0xC2 ? 0 : c[0] < 0xE0 ? 2 : c[0] < 0xF0 ? 3 : c[0] < 0xF5 ? 4 : 0;
  if (width > n) return 0;
  for (size_t k = 1; k < width; k++)
    if ((c[k] & 0xC0) != 0x80) return 0;
  if ((c[0] == 0xE0 && c[1] < 0xA0) || (c[0] == 0xED && c[1] > 0x9F)) return 0;
  if ((c[0] == 0xF0 && c[1] < 0x90) || (c[0] == 0xF4 && c[1] > 0x8F)) return 0;
  return width;
}

#endif
