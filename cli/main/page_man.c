/* SPDX-License-Identifier: Apache-2.0 */
/*
 * page_man.c - the manual page, made from the table of verbs.
 */
#include "main/pages.h"

#include <stdio.h>
#include <string.h>

#include "main/options.h"

const char pages_layout_text[] =
    "A LAYOUT is an XLA shape, f32[3,5]{1,0:T(2,2)}; a layout of JAX after its type and dims, f32[3,5] "
    "Layout(major_to_minor=(0, 1), tiling=((2, 2),)); or a device layout: f16[1000,200] "
    "stick(dim_order=[0,1]), three tuples ((4, 1000, 64), (64000, 64, 1), (64, 200, 1)), or "
    "SpyreTensorLayout(device_size=[4, 1000, 64], ...). Sloppy spellings of XLA shapes are repaired, and a "
    "note on standard error names each repair. show, where, what, same and query also accept a register "
    "layout, local(3, 4).spatial(2, 3), a fragment of a matrix instruction, mma.m16n8k16.f16.A, or a tile "
    "in memory, shared_row_major(8, 64). A prefix xla:, jax:, register:, shared:, global: or device: "
    "demands that kind.";

const char pages_exit_text[] =
    "Data goes to standard output, messages to standard error. For show, where, what, and for every input "
    "file, - is standard input. The exit status is 0 for yes or done, 1 for no, different, or over a limit, "
    "2 for bad usage or input, 3 if tesela itself fails, for example without memory or disk space. If a "
    "pipe is closed before all data is written, SIGPIPE ends tesela; tables and pictures may be left "
    "unread.";

/* ---- manual page ------------------------------------------------------------------------------------------
 */

static void man_char(char c) {
  if (c == '\\')
    fputs("\\e", stdout);
  else if (c == '-')
    fputs("\\-", stdout);
  else
    putchar(c);
}

/* One line as it is. A control character at its start is escaped. */
static void man_line(const char *text) {
  if (*text == '.' || *text == '\'') fputs("\\&", stdout);
  for (; *text && *text != '\n'; text++) man_char(*text);
  putchar('\n');
}

/* Running text: each sentence starts a new line; lines have at most 78 bytes unless a word is longer. */
static void man_words(const char *text, const char *end) {
  size_t column = 0;
  bool sentence = true; /* the next word starts one */
  while (text < end) {
    size_t length = strcspn(text, " \n");
    if (column > 0 && (sentence || column + 1 + length > 78)) {
      putchar('\n');
      column = 0;
    }
    if (column > 0)
      putchar(' ');
    else if (*text == '.' || *text == '\'')
      fputs("\\&", stdout);
    column += length + (column > 0);
    for (size_t i = 0; i < length; i++) man_char(text[i]);
    sentence = length > 0 && strchr(".?!", text[length - 1]);
    text += length;
    text += strspn(text, " \n");
  }
  putchar('\n');
}

static void man_text(const char *text) { man_words(text, text + strlen(text)); }

/* A text as an argument of a macro. */
static void man_argument(const char *text) {
  fputs(" \"", stdout);
  for (; *text; text++) {
    if (*text == '"')
      fputs("\\(dq", stdout);
    else if (*text == '\\')
      fputs("\\e", stdout);
    else if (*text == '-')
      fputs("\\-", stdout);
    else
      putchar(*text);
  }
  putchar('"');
}

/* Paragraphs; one that starts with blanks is printed as it is. */
static void man_paragraphs(const char *text) {
  while (*text) {
    const char *end = strstr(text, "\n\n");
    if (!end) end = text + strlen(text);
    if (*text == ' ') {
      puts(".Bd -literal -offset indent");
      for (; text < end; text += strcspn(text, "\n"), text += *text == '\n')
        man_line(text + (strncmp(text, "  ", 2) == 0 ? 2 : 0));
      puts(".Ed");
    } else {
      puts(".Pp");
      man_words(text, end);
    }
    text = end + strspn(end, "\n");
  }
}

static void man_options(const cli_option *option) {
  if (!option->name) return;
  puts(".Bl -tag -width Ds");
  for (; option->name; option++) {
    fputs(".It", stdout);
    if (option->letter) printf(" Fl %c ,", option->letter);
    printf(" Fl \\-%s", option->name);
    if (option->value) {
      fputs(" Ns = Ns Ar", stdout);
      man_argument(option->value);
    }
    putchar('\n');
    man_text(option->summary);
  }
  puts(".El");
}

static void man_verb(const cli_verb *verb) {
  printf(".Ss %s\n.Nm tesela\n.Cm %s\n", verb->name, verb->name);
  if (*verb->args) {
    fputs(".Ar", stdout);
    man_argument(verb->args);
    putchar('\n');
  }
  puts(".Pp");
  man_text(verb->summary);
  man_paragraphs(verb->details);
  man_options(verb->options);
}

void pages_man(const cli_verb *verbs) {
  puts(".Dd $Mdocdate$\n.Dt TESELA 1\n.Os\n.Sh NAME\n.Nm tesela\n.Nd physical layouts of tensors\n"
       ".Sh SYNOPSIS\n.Nm\n.Ar command\n.Op Ar argument ...\n.Sh DESCRIPTION");
  man_text(
      "Answers questions about physical layouts of tensors: where an element is in memory, which element is "
      "at a place, what is padding and why.");
  puts(".Pp");
  man_text(pages_layout_text);
  puts(".Pp\nOptions of every command:");
  man_options(cli_common_options);
  puts(".Sh COMMANDS");
  for (const cli_verb *verb = verbs; verb->name; verb++) man_verb(verb);
  puts(".Sh ENVIRONMENT\n.Bl -tag -width COLUMNS\n"
       ".It Ev NO_COLOR\nIf set to anything, no colour unless\n.Fl \\-color Ns = Ns Cm always .\n"
       ".It Ev COLUMNS\nThe width of the terminal.\n"
       ".It Ev TERM\nIf it is dumb, no colour.\n.El\n.Sh EXIT STATUS");
  man_text(pages_exit_text);
}
