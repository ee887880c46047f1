/* SPDX-License-Identifier: Apache-2.0 */
/*
 * lines.h - standard input line by line, without waiting for more than there is.
 *
 * Output is flushed before a read that would wait: a program that sends one line and waits gets its answer, and a long file is
 * still answered in large blocks.
 */
#ifndef TESELA_CLI_LINES_H
#define TESELA_CLI_LINES_H

#include <stdbool.h>
#include <stddef.h>

typedef enum line_result {
  LINE_READ,
  LINE_TOO_LONG, /* longer than the limit; its rest will be skipped */
  LINE_END,
  LINE_FAILED, /* errno has the reason */
} line_result;

typedef struct line_reader {
  int fd;
  size_t limit; /* bytes of the longest line */
  char *data;
  size_t begin, seen, end, capacity; /* the line starts at begin; no newline before seen */
  bool skipping, ended;
} line_reader;

line_reader lines_begin(int fd, size_t limit);
/* The next line, without its newline; the text is valid until the next call. The last one may lack the
 * newline. */
line_result lines_next(line_reader *reader, const char **text, size_t *length);
void lines_end(line_reader *reader);

#endif
