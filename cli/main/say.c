/* SPDX-License-Identifier: Apache-2.0 */
/*
 * say.c - messages on stderr.
 */
#include "main/say.h"

#include <ctype.h>
#include <inttypes.h>
#include <stdarg.h>
#include <string.h>

static void say(const cli_context *cli, const char *sgr, const char *kind, const char *format, va_list args)
    TESELA_PRINTF(4, 0);

static void say(const cli_context *cli, const char *sgr, const char *kind, const char *format, va_list args) {
  cli_flush(); /* keep the order of stdout and stderr */
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
    fputs("usage: tesela COMMAND ...\nMore with: tesela help\n", stderr);
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

/* The option that raises a limit of the library: --max-steps for TESELA_REASON_MAX_STEPS. */
static void say_option_of_limit(const cli_context *cli, const tesela_error *err) {
  const char *limit = tesela_reason_code(err->reason);
  for (const cli_option *o = cli->verb->options; err->status == TESELA_E_LIMIT && o->name; o++) {
    size_t i = 0;
    while (o->name[i] && limit[i] == (o->name[i] == '-' ? '_' : toupper((unsigned char)o->name[i]))) i++;
    if (!o->name[i] && !limit[i]) fprintf(stderr, "--%s=%s raises this limit.\n", o->name, o->value);
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

/* ---- text from outside ------------------------------------------------------------------------------------
 */

static void say_caret(const cli_context *cli, const char *text, size_t length, int64_t at) {
  enum { MOST = 32 * 1024 }; /* a terminal has up to 1000 columns; a line is two of them */
  char lines[MOST];
  tesela_buffer buffer = {lines, sizeof lines, 0};
  tesela_writer to = tesela_buffer_writer(&buffer);
  tesela_error_caret(at, text, length, cli->err.width, !cli->err.utf8, &to);
  char *caret = strrchr(lines, '^');
  if (!caret) return;
  *caret = '\0';
  fputs(lines, stderr);
  cli_styled(&cli->err, "1;32", "^");
  fputc('\n', stderr);
}

int say_failure_in(const cli_context *cli, const char *text, size_t length, const tesela_error *err) {
  say_error(cli, "%s", err->message);
  if (err->at >= 0) say_caret(cli, text, length, err->at);
  return say_exit(err->status);
}
