/* SPDX-License-Identifier: Apache-2.0 */
/*
 * term.c - what a stream can show.
 */
#include "term.h"

#include <errno.h>
#include <langinfo.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

static bool wants_color(bool terminal, cli_color color) {
  if (color != CLI_COLOR_AUTO) return color == CLI_COLOR_ALWAYS;
  const char *no_color = getenv("NO_COLOR"), *term = getenv("TERM");
  if (no_color && *no_color) return false;
  return terminal && !(term && strcmp(term, "dumb") == 0);
}

static int width_of(int fd) {
  const char *columns = getenv("COLUMNS");
  long width = columns ? strtol(columns, NULL, 10) : 0;
  struct winsize size;
  if (width <= 0 && ioctl(fd, TIOCGWINSZ, &size) == 0) width = size.ws_col;
  if (width <= 0) width = 80;
  return width < 20 ? 20 : width > 1000 ? 1000 : (int)width;
}

cli_term cli_term_of(FILE *file, cli_color color, bool ascii) {
  int fd = fileno(file);
  bool terminal = isatty(fd) == 1;
  return (cli_term){
      .file = file,
      .terminal = terminal,
      .color = wants_color(terminal, color),
      .utf8 = !ascii && strcmp(nl_langinfo(CODESET), "UTF-8") == 0,
      .width = width_of(fd),
  };
}

void cli_styled(const cli_term *term, const char *sgr, const char *text) {
  if (term->color)
    fprintf(term->file, "\033[%sm%s\033[0m", sgr, text);
  else
    fputs(text, term->file);
}

static int first_errno;

bool cli_flush(void) {
  errno = 0;
  if (fflush(stdout) == 0 && !ferror(stdout)) return true;
  if (first_errno == 0) first_errno = errno;
  return false;
}

int cli_flush_error(void) { return first_errno; }
