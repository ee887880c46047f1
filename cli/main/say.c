/* SPDX-License-Identifier: Apache-2.0 */
/*
 * say.c - words on stderr.
 */
#include "main/say.h"

#include <stdarg.h>
#include <string.h>

#include "utf8.h"

static void say(const cli_context *cli, const char *sgr, const char *kind, const char *format, va_list args)
    TESELA_PRINTF(4, 0);

static void say(const cli_context *cli, const char *sgr, const char *kind, const char *format, va_list args) {
  cli_flush(); /* what was printed before comes before */
  fputs("tesela: ", stderr);
  cli_styled(&cli->err, sgr, kind);
  vfprintf(stderr, format, args);
  fputc('\n', stderr);
}

static bool spoke;

bool say_spoke(void) { return spoke; }

void say_error(const cli_context *cli, const char *format, ...) {
  va_list args;
  spoke = true;
  va_start(args, format);
  say(cli, "1;31", "error: ", format, args);
  va_end(args);
}

void say_note(const cli_context *cli, const char *format, ...) {
  va_list args;
  va_start(args, format);
  say(cli, "1;36", "note: ", format, args);
  va_end(args);
}

int say_usage(const cli_context *cli, const char *format, ...) {
  va_list args;
  va_start(args, format);
  say(cli, "1;31", "error: ", format, args);
  va_end(args);
  if (cli->verb)
    fprintf(stderr, "usage: tesela %s%s%s\nMore with: tesela help %s\n", cli->verb->name,
            *cli->verb->args ? " " : "", cli->verb->args, cli->verb->name);
  else
    fputs("usage: tesela VERB ...\nMore with: tesela help\n", stderr);
  return CLI_BAD;
}

int say_exit(tesela_status status) {
  switch (status) {
  case TESELA_OK:
    return CLI_YES;
  case TESELA_E_MEMORY:
  case TESELA_E_IO:
  case TESELA_E_STOPPED:
    return CLI_FAILED;
  default:
    return CLI_BAD;
  }
}

/* A limit that the message names as the field of the library, max_steps: the option that raises it. */
static void say_option_of_limit(const cli_context *cli, const tesela_error *err) {
  for (const cli_option *o = cli->verb->options; err->status == TESELA_E_LIMIT && o->name; o++) {
    char field[32];
    size_t n = strlen(o->name);
    if (strncmp(o->name, "max-", 4) != 0 || n >= sizeof field) continue;
    for (size_t i = 0; i <= n; i++) field[i] = o->name[i] == '-' ? '_' : o->name[i];
    if (strstr(err->message, field)) fprintf(stderr, "--%s=%s raises this limit.\n", o->name, o->value);
  }
}

int say_failure(const cli_context *cli, const tesela_error *err) {
  say_error(cli, "%s", err->message);
  say_option_of_limit(cli, err);
  return say_exit(err->status);
}

int say_printed(const cli_context *cli, tesela_status status, const tesela_error *err) {
  return status == TESELA_OK || ferror(stdout) ? CLI_YES : say_failure(cli, err);
}

int say_failure_in(const cli_context *cli, const char *text, size_t length, const tesela_error *err) {
  say_error(cli, "%s", err->message);
  if (err->at >= 0) say_caret(cli, text, length, err->at);
  return say_exit(err->status);
}

/* ---- text from outside ------------------------------------------------------------------------------------
 */

/* One character of a text as it can be shown: as it is, or escaped. */
typedef struct glyph {
  size_t bytes; /* of the text */
  int columns;
  char shown[12];
} glyph;

static glyph glyph_at(const char *text, size_t length, bool utf8) {
  glyph g = {.bytes = 1};
  uint32_t c;
  size_t used = utf8_read(text, length, &c);
  int columns = used ? utf8_columns(c) : -1;
  if (columns >= 0 && (c < 0x80 || utf8)) {
    memcpy(g.shown, text, used);
    g.columns = columns;
    g.bytes = used;
    return g;
  }
  if (used == 0)
    snprintf(g.shown, sizeof g.shown, "\\x%02x", (unsigned)(unsigned char)*text);
  else if (c == '\n' || c == '\t' || c == '\r')
    snprintf(g.shown, sizeof g.shown, "\\%c", c == '\n' ? 'n' : c == '\t' ? 't' : 'r');
  else
    snprintf(g.shown, sizeof g.shown, c < 0x80 ? "\\x%02x" : "\\u{%x}", (unsigned)c);
  g.bytes = used ? used : 1;
  g.columns = (int)strlen(g.shown);
  return g;
}

const char *say_quote(const char *text, char into[SAY_QUOTE]) {
  size_t n = 0, length = strlen(text);
  for (size_t i = 0; i < length;) {
    glyph g = glyph_at(text + i, length - i, true);
    size_t more = strlen(g.shown);
    if (n + more + 4 > SAY_QUOTE) {
      memcpy(into + n, "...", 3);
      n += 3;
      break;
    }
    memcpy(into + n, g.shown, more);
    n += more;
    i += g.bytes;
  }
  into[n] = '\0';
  return into;
}

/* Columns of `length` bytes, up to the character that byte `at` belongs to. */
static int64_t columns_before(const char *text, size_t length, size_t at, bool utf8) {
  int64_t columns = 0;
  for (size_t i = 0; i < length;) {
    glyph g = glyph_at(text + i, length - i, utf8);
    if (i + g.bytes > at) break;
    columns += g.columns;
    i += g.bytes;
  }
  return columns;
}

void say_caret(const cli_context *cli, const char *text, size_t length, int64_t at) {
  enum { INDENT = 2, DOTS = 3, AHEAD = 12 };
  bool utf8 = cli->err.utf8;
  size_t byte = at < 0 ? 0 : (size_t)at < length ? (size_t)at : length;
  int64_t room = cli->err.width - INDENT - 1 - 2 * DOTS;
  int64_t total = columns_before(text, length, length, utf8);
  int64_t caret = columns_before(text, length, byte, utf8);
  /* Show columns first .. last-1: all, or so many that some of what follows the caret is seen. */
  int64_t first = 0, last = total;
  if (total > room + 2 * DOTS) {
    int64_t ahead = AHEAD < room / 2 ? AHEAD : room / 2;
    last = caret + ahead > room ? caret + ahead : room;
    if (last > total) last = total;
    first = last > room ? last - room : 0;
  }
  fprintf(stderr, "  %s", first > 0 ? "..." : "");
  int64_t column = 0, shown = INDENT + (first > 0 ? DOTS : 0), mark = shown + (caret - first);
  for (size_t i = 0; i < length && column < last;) {
    glyph g = glyph_at(text + i, length - i, utf8);
    if (column >= first)
      fputs(g.shown, stderr);
    else if (column + g.columns > first)
      fprintf(stderr, "%*s", (int)(column + g.columns - first), "");
    column += g.columns;
    i += g.bytes;
  }
  fprintf(stderr, "%s\n%*s", last < total ? "..." : "", (int)mark, "");
  cli_styled(&cli->err, "1;32", "^");
  fputc('\n', stderr);
}
