/* SPDX-License-Identifier: Apache-2.0 */
/*
 * lines.c - standard input line by line.
 */
#include "main/lines.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "main/term.h"
#include "system.h"

enum { CHUNK = 1 << 16 };

line_reader lines_begin(int fd, size_t limit) { return (line_reader){.fd = fd, .limit = limit}; }

void lines_end(line_reader *reader) {
  free(reader->data);
  reader->data = NULL;
}

/* Make room for one more chunk after end; the bytes before begin are discarded. */
static bool make_room(line_reader *r) {
  if (r->begin > 0) {
    memmove(r->data, r->data + r->begin, r->end - r->begin);
    r->seen -= r->begin;
    r->end -= r->begin;
    r->begin = 0;
  }
  if (r->capacity - r->end >= CHUNK) return true;
  size_t capacity = r->capacity * 2 < 2 * CHUNK ? 2 * CHUNK : r->capacity * 2;
  char *data = realloc(r->data, capacity);
  if (!data) {
    errno = ENOMEM;
    return false;
  }
  r->data = data;
  r->capacity = capacity;
  return true;
}

static bool read_more(line_reader *r) {
  if (!make_room(r)) return false;
  cli_flush();
  int64_t got = system_read(r->fd, r->data + r->end, CHUNK);
  if (got < 0) return false;
  r->ended = got == 0;
  r->end += (size_t)got;
  return true;
}

line_result lines_next(line_reader *r, const char **text, size_t *length) {
  for (;;) {
    char *newline = r->end > r->seen ? memchr(r->data + r->seen, '\n', r->end - r->seen) : NULL;
    size_t stop = newline ? (size_t)(newline - r->data) : r->end;
    bool whole = newline || r->ended;
    if (r->skipping) { /* to the start of the next line */
      r->begin = r->seen = stop + (newline != NULL);
      r->skipping = !newline;
      if (!newline && r->ended) return LINE_END;
    } else if (stop - r->begin > r->limit) {
      r->begin = r->seen = stop + (newline != NULL);
      r->skipping = !newline;
      return LINE_TOO_LONG;
    } else if (whole) {
      if (!newline && stop == r->begin) return LINE_END;
      *text = r->data + r->begin;
      *length = stop - r->begin;
      r->begin = r->seen = stop + (newline != NULL);
      return LINE_READ;
    }
    if (newline) continue;
    r->seen = r->end;
    if (!read_more(r)) return LINE_FAILED;
  }
}
