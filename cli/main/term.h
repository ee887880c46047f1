/* SPDX-License-Identifier: Apache-2.0 */
/*
 * term.h - abilities of a stream: colour, width, characters beyond ASCII.
 */
#ifndef TESELA_CLI_TERM_H
#define TESELA_CLI_TERM_H

#include <stdbool.h>
#include <stdio.h>

#include <tesela/base.h>

typedef enum cli_color { CLI_COLOR_AUTO, CLI_COLOR_ALWAYS, CLI_COLOR_NEVER } cli_color;

typedef struct cli_term {
  FILE *file;
  bool terminal; /* it is a terminal */
  bool color;    /* escape sequences for colour may be written */
  bool utf8;     /* characters beyond ASCII may be written */
  int width;     /* columns, 20 to 1000; 80 if unknown */
} cli_term;

/* Look at a stream and the environment. Colour: `always` and `never` decide; `auto` means a terminal, unless
 * NO_COLOR is set to anything or TERM is "dumb". UTF-8: the locale has it and `ascii` is false. Width:
 * COLUMNS, else that of the terminal. */
cli_term cli_term_of(FILE *file, cli_color color, bool ascii);

/* Style `text` if the stream has colour; styles are digits of SGR, "1" bold, "31" red: printf("%s", ...)
 * free. */
void cli_styled(const cli_term *term, const char *sgr, const char *text);

/* The same for all output between the two calls. */
void cli_styled_begin(const cli_term *term, const char *sgr);
void cli_styled_end(const cli_term *term);

/* Flush stdout. Returns false, now and from then on, if that failed; cli_flush_error is the errno of the first failure, 0 if it is
 * unknown. */
bool cli_flush(void);
int cli_flush_error(void);

/* Writes on standard output. */
extern const tesela_writer cli_stdout;

/* Record, and query, that a reader left before it had all data: main then ends the process accordingly. */
void cli_lose_reader(void);
bool cli_reader_left(void);

#endif
