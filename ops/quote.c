/* SPDX-License-Identifier: Apache-2.0 */
/* quote.c - see quote.h. */
#include "quote.h"

#include <string.h>
#include <tesela/base.h>

const char *say_quote(const char *text, char into[SAY_QUOTE]) {
  size_t n = 0, length = strlen(text);
  for (size_t i = 0; i < length;) {
    char shown[12];
    int32_t columns;
    size_t bytes = tesela_utf8_show(text + i, length - i, false, shown, &columns), more = strlen(shown);
    if (n + more + 4 > SAY_QUOTE) {
      memcpy(into + n, "...", 3);
      n += 3;
      break;
    }
    memcpy(into + n, shown, more);
    n += more;
    i += bytes;
  }
  into[n] = '\0';
  return into;
}
