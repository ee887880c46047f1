/* SPDX-License-Identifier: Apache-2.0 */
/* message.c - see message.h. */
#include "message.h"

#include <stdbool.h>
#include <stdio.h>
#include <string.h>

void message_put(char *text, size_t room, const char *format, va_list args) {
  int length = vsnprintf(text, room, format, args);
  if (length < 0) text[0] = '\0';
  if (length < 0 || (size_t)length < room || room < 8) return;
  size_t limit = room - sizeof "...", end = limit;
  while (end > limit / 2 && text[end] != ' ') end--;
  bool word = text[end] == ' ';
  if (!word) end = limit;
  while (end > 0 &&
         (word ? strchr(" ,;:", text[end - 1]) != NULL : ((unsigned char)text[end] & 0xC0) == 0x80))
    end--;
  memcpy(text + end, "...", sizeof "...");
}
