/* SPDX-License-Identifier: Apache-2.0 */
/*
 * utf8.c - characters of any text, valid or not; such a text in a message.
 */
#include "base/base.h"

#include <stdio.h>

size_t tesela_utf8_character(const char *text, size_t length, uint32_t *character) {
  static const uint32_t least[] = {0, 0, 0x80, 0x800, 0x10000}; /* smaller codes have a shorter form */
  if (!text || !character || length == 0) return 0;
  unsigned char lead = (unsigned char)text[0];
  size_t n = lead < 0x80 ? 1 : lead < 0xC0 ? 0 : lead < 0xE0 ? 2 : lead < 0xF0 ? 3 : lead < 0xF8 ? 4 : 0;
  if (n == 0 || n > length) return 0;
  uint32_t code = n == 1 ? lead : lead & (0x7FU >> n);
  for (size_t i = 1; i < n; i++) {
    unsigned char c = (unsigned char)text[i];
    if ((c & 0xC0) != 0x80) return 0;
    code = code << 6 | (c & 0x3FU);
  }
  if (code < least[n] || code > 0x10FFFF || (code >= 0xD800 && code <= 0xDFFF)) return 0;
  *character = code;
  return n;
}

int32_t tesela_utf8_columns(uint32_t character) {
  static const struct {
    uint32_t first, last;
    int32_t columns;
  } ranges[] = {
      {0x0000, 0x001F, -1},    {0x007F, 0x009F, -1}, {0x0300, 0x036F, 0},   {0x061C, 0x061C, -1},
      {0x1100, 0x115F, 2},     {0x200B, 0x200F, -1}, {0x2028, 0x202E, -1},  {0x2060, 0x206F, -1},
      {0x2E80, 0xA4CF, 2},     {0xAC00, 0xD7A3, 2},  {0xE000, 0xF8FF, -1},  {0xF900, 0xFAFF, 2},
      {0xFE00, 0xFE0F, 0},     {0xFE30, 0xFE6F, 2},  {0xFEFF, 0xFEFF, -1},  {0xFF00, 0xFF60, 2},
      {0xFFE0, 0xFFE6, 2},     {0xFFF0, 0xFFFB, -1}, {0x1F300, 0x1FAFF, 2}, {0x20000, 0x3FFFD, 2},
      {0xE0000, 0x10FFFF, -1},
  };
  for (size_t i = 0; i < sizeof ranges / sizeof ranges[0]; i++)
    if (character >= ranges[i].first && character <= ranges[i].last) return ranges[i].columns;
  return 1;
}

size_t tesela_utf8_show(const char *text, size_t length, bool ascii, char shown[12], int32_t *columns) {
  enum { ROOM = 12 };
  if (!text || !shown || !columns || length == 0) return 0;
  uint32_t c = 0;
  size_t used = tesela_utf8_character(text, length, &c);
  *columns = used > 0 ? tesela_utf8_columns(c) : -1;
  if (*columns >= 0 && (c < 0x80 || !ascii)) {
    memcpy(shown, text, used);
    shown[used] = '\0';
    return used;
  }
  if (used == 0)
    *columns = snprintf(shown, ROOM, "\\x%02x", (unsigned)(unsigned char)*text);
  else if (c == '\n' || c == '\t' || c == '\r')
    *columns = snprintf(shown, ROOM, "\\%c", c == '\n' ? 'n' : c == '\t' ? 't' : 'r');
  else
    *columns = snprintf(shown, ROOM, c < 0x80 ? "\\x%02x" : "\\u{%x}", (unsigned)c);
  return used > 0 ? used : 1;
}

size_t tesela__utf8(const char *text, size_t length) {
  if (length == 0) return 0;
  const unsigned char *c = (const unsigned char *)text;
  size_t n = c[0] < 0x80 ? 1 : c[0] < 0xC2 ? 0 : c[0] < 0xE0 ? 2 : c[0] < 0xF0 ? 3 : c[0] < 0xF5 ? 4 : 0;
  if (n == 0 || n > length) return 0;
  for (size_t i = 1; i < n; i++)
    if ((c[i] & 0xC0) != 0x80) return 0;
  if (n == 3 && ((c[0] == 0xE0 && c[1] < 0xA0) || (c[0] == 0xED && c[1] > 0x9F)))
    return 0; /* long; surrogate */
  if (n == 4 && ((c[0] == 0xF0 && c[1] < 0x90) || (c[0] == 0xF4 && c[1] > 0x8F))) return 0;
  return n;
}

const char *tesela__quote(const char *text, size_t length, char quoted[TESELA__QUOTE]) {
  size_t at = 0, used = 0;
  while (at < length && used + 8 < TESELA__QUOTE) { /* room for one more and "..." */
    size_t n = tesela__utf8(text + at, length - at);
    unsigned char c = (unsigned char)text[at], next = n == 2 ? (unsigned char)text[at + 1] : 0;
    bool control = n == 0 || c < 0x20 || c == 0x7F || (c == 0xC2 && next < 0xA0);
    if (control) {
      used += (size_t)snprintf(quoted + used, 5, "\\x%02x", (unsigned)c);
      at++;
    } else {
      memcpy(quoted + used, text + at, n);
      used += n;
      at += n;
    }
  }
  memcpy(quoted + used, at < length ? "..." : "", at < length ? 4 : 1);
  return quoted;
}
