/* SPDX-License-Identifier: Apache-2.0 */
/*
 * term.h - what a stream can show: colour, width, characters beyond ASCII.
 */
#ifndef TESELA_CLI_TERM_H
#define TESELA_CLI_TERM_H

#include <stdbool.h>
#include <stdio.h>

#include <tesela/base.h>

typedef enum cli_color { CLI_COLOR_AUTO, CLI_COLOR_ALWAYS, CLI_COLOR_NEVER } cli_color;

typedef struct cli_term {
  FILE *file;
  bool terminal; /* somebody looks at it */
  bool color;    /* escape sequences for colour may be written */
  bool utf8;     /* characters beyond ASCII may be written */
  int width;     /* columns, 20 to 1000; 80 when nobody says */
} cli_term;

/* Look at a stream and the environment. Colour: `always` and `never` decide; `auto` means a terminal, unless
 * NO_COLOR is set to anything or TERM is "dumb". UTF-8: the locale says so and `ascii` is false. Width:
 * COLUMNS, else what the terminal says. */
cli_term cli_term_of(FILE *file, cli_color color, bool ascii);

/* Style `text` if the stream has colour; styles are digits of SGR, "1" bold, "31" red: printf("%s", ...)
 * free. */
void cli_styled(const cli_term *term, const char *sgr, const char *text);

/* The same for what is printed in between. */
void cli_styled_begin(const cli_term *term, const char *sgr);
void cli_styled_end(const cli_term *term);

/* Write out what was printed to stdout so far. false, now and from then on, if that failed; cli_flush_error is the
 * errno of the first failure, 0 if nobody said one. */
bool cli_flush(void);
int cli_flush_error(void);

/* Writes on standard output. */
extern const tesela_writer cli_stdout;

/* Note that a reader left before it had all data, and ask for it: main sees to how the process ends. */
void cli_lose_reader(void);
bool cli_reader_left(void);

#endif
