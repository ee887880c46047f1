/* SPDX-License-Identifier: Apache-2.0 */
/*
 * term.c - abilities of a stream.
 */
#include "main/term.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "main/process.h"

static int write_stdout(void *user, const char *text, size_t length) {
  (void)user;
  return fwrite(text, 1, length, stdout) != length;
}

const tesela_writer cli_stdout = {write_stdout, NULL};

static bool wants_color(bool terminal, cli_color color) {
  if (color != CLI_COLOR_AUTO) return color == CLI_COLOR_ALWAYS;
  const char *no_color = getenv("NO_COLOR"), *term = getenv("TERM");
  if (no_color && *no_color) return false;
  return terminal && !(term && strcmp(term, "dumb") == 0);
}

static int width_of(FILE *file) {
  const char *columns = getenv("COLUMNS");
  long width = columns ? strtol(columns, NULL, 10) : 0;
  if (width <= 0) width = process_terminal_width(file);
  if (width <= 0) width = 80;
  return width < 20 ? 20 : width > 1000 ? 1000 : (int)width;
}

/* The codeset of the locale for characters, by its name: setlocale would allocate memory, and not report a failure. */
static bool locale_is_utf8(void) {
  static const char *const names[] = {"LC_ALL", "LC_CTYPE", "LANG"};
  const char *locale = NULL;
  for (size_t i = 0; i < sizeof names / sizeof names[0] && !(locale && *locale); i++)
    locale = getenv(names[i]);
  const char *codeset = locale ? strchr(locale, '.') : NULL;
  size_t length = codeset ? strcspn(++codeset, "@") : 0;
  bool hyphen = length == 5 && codeset[3] == '-';
  return (length == 4 || hyphen) && strchr("Uu", codeset[0]) && strchr("Tt", codeset[1]) &&
         strchr("Ff", codeset[2]) && codeset[3 + hyphen] == '8';
}

cli_term cli_term_of(FILE *file, cli_color color, bool ascii) {
  bool terminal = process_is_terminal(file);
  return (cli_term){
      .file = file,
      .terminal = terminal,
      .color = wants_color(terminal, color),
      .utf8 = !ascii && locale_is_utf8(),
      .width = width_of(file),
  };
}

void cli_styled_begin(const cli_term *term, const char *sgr) {
  if (term->color) fprintf(term->file, "\033[%sm", sgr);
}

void cli_styled_end(const cli_term *term) {
  if (term->color) fputs("\033[0m", term->file);
}

void cli_styled(const cli_term *term, const char *sgr, const char *text) {
  cli_styled_begin(term, sgr);
  fputs(text, term->file);
  cli_styled_end(term);
}

static int first_errno;

bool cli_flush(void) {
  errno = 0;
  if (fflush(stdout) == 0 && !ferror(stdout)) return true;
  if (first_errno == 0) first_errno = errno;
  return false;
}

int cli_flush_error(void) { return first_errno; }

static bool reader_left;

void cli_lose_reader(void) { reader_left = true; }

bool cli_reader_left(void) { return reader_left; }
