/* SPDX-License-Identifier: Apache-2.0 */
/*
 * utf8.c - characters of a text that may be anything.
 */
#include "utf8.h"

size_t utf8_read(const char *text, size_t length, uint32_t *c) {
  static const struct {
    uint8_t mask, lead;
    uint32_t least; /* smaller codes have a shorter form */
  } forms[] = {{0x80, 0x00, 0}, {0xE0, 0xC0, 0x80}, {0xF0, 0xE0, 0x800}, {0xF8, 0xF0, 0x10000}};
  const uint8_t *byte = (const uint8_t *)text;
  for (size_t n = 1; n <= 4; n++) {
    if ((byte[0] & forms[n - 1].mask) != forms[n - 1].lead) continue;
    if (n > length) return 0;
    uint32_t code = byte[0] & (uint32_t)(uint8_t)~forms[n - 1].mask;
    for (size_t i = 1; i < n; i++) {
      if ((byte[i] & 0xC0) != 0x80) return 0;
      code = code << 6 | (byte[i] & 0x3F);
    }
    if (code < forms[n - 1].least || code > 0x10FFFF || (code >= 0xD800 && code < 0xE000)) return 0;
    *c = code;
    return n;
  }
  return 0;
}

bool utf8_valid(const char *text, size_t length) {
  for (size_t i = 0; i < length;) {
    uint32_t c;
    size_t used = utf8_read(text + i, length - i, &c);
    if (used == 0) return false;
    i += used;
  }
  return true;
}

int utf8_columns(uint32_t c) {
  static const struct {
    uint32_t first, last;
    int columns;
  } ranges[] = {
      {0x0000, 0x001F, -1},    {0x007F, 0x009F, -1}, {0x0300, 0x036F, 0},   {0x061C, 0x061C, -1},
      {0x1100, 0x115F, 2},     {0x200B, 0x200F, -1}, {0x2028, 0x202E, -1},  {0x2060, 0x206F, -1},
      {0x2E80, 0xA4CF, 2},     {0xAC00, 0xD7A3, 2},  {0xE000, 0xF8FF, -1},  {0xF900, 0xFAFF, 2},
      {0xFE00, 0xFE0F, 0},     {0xFE30, 0xFE6F, 2},  {0xFEFF, 0xFEFF, -1},  {0xFF00, 0xFF60, 2},
      {0xFFE0, 0xFFE6, 2},     {0xFFF0, 0xFFFB, -1}, {0x1F300, 0x1FAFF, 2}, {0x20000, 0x3FFFD, 2},
      {0xE0000, 0x10FFFF, -1},
  };
  for (size_t i = 0; i < sizeof ranges / sizeof ranges[0]; i++)
    if (c >= ranges[i].first && c <= ranges[i].last) return ranges[i].columns;
  return 1;
}
