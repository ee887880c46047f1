/* SPDX-License-Identifier: Apache-2.0 */
#include "json_plain.h"

#include <stdint.h>

enum { BLOCK = 32 /* characters that are looked at together: no branch, so vectors */ };

static unsigned is_other(char c) {
  const uint8_t u = (uint8_t)c;
  return (unsigned)((uint8_t)(u - 0x20) >= 0x7f - 0x20) | (unsigned)(u == '"') | (unsigned)(u == '\\');
}

static unsigned block_has_other(const char *text) {
  uint8_t other = 0;
  for (int i = 0; i < BLOCK; i++) other |= (uint8_t)is_other(text[i]);
  return other;
}

size_t json_plain(const char *text, size_t length) {
  size_t n = 0;
  while (length - n >= BLOCK && !block_has_other(text + n)) n += BLOCK;
  while (n < length && !is_other(text[n])) n++;
  return n;
}
