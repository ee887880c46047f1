/* SPDX-License-Identifier: Apache-2.0 */
/*
 * help.c - the help text, made from the table of options.c. pages.c makes the manual page and the
 * completions.
 */
#include <string.h>

#include "main/options.h"
#include "main/pages.h"
#include "main/json.h"
#include "main/say.h"

/* Print the words of text .. end from column `column` on, in lines of the terminal's width that start at
 * `indent`. */
static void wrapped(const cli_term *term, const char *text, const char *end, int column, int indent) {
  int width = term->width < 100 ? term->width : 100;
  for (bool first = true; text < end; first = false) {
    int length = (int)strcspn(text, " \n");
    if (!first && column + 1 + length > width) {
      fprintf(term->file, "\n%*s", indent, "");
      column = indent;
    } else if (!first) {
      fputc(' ', term->file);
      column++;
    }
    fprintf(term->file, "%.*s", length, text);
    column += length;
    text += length;
    text += strspn(text, " \n");
  }
  fputc('\n', term->file);
}

enum { INDENT = 2, COLUMN = 26, NAME = 160 };

/* A name after INDENT columns, broken after a | if it is wider than the terminal. Returns the columns used. */
static int put_name(const cli_term *term, const char *name) {
  int room = term->width - INDENT;
  while ((int)strlen(name) > room) {
    char part[NAME];
    int length = room < NAME - 1 ? room : NAME - 1;
    while (length > 0 && name[length - 1] != '|') length--;
    if (length == 0) break;
    snprintf(part, sizeof part, "%.*s", length, name);
    cli_styled(term, "1", part);
    fprintf(term->file, "\n%*s", INDENT + 4, "");
    name += length;
    room = term->width - INDENT - 4;
  }
  cli_styled(term, "1", name);
  return INDENT + (int)strlen(name);
}

/* A name and its description: on one line, or on two if the name is long. */
static void entry(const cli_term *term, const char *name, const char *summary) {
  fprintf(term->file, "%*s", INDENT, "");
  bool broken = INDENT + (int)strlen(name) > term->width;
  int used = put_name(term, name);
  if (broken) used = COLUMN;
  if (used + 2 > COLUMN)
    fprintf(term->file, "\n%*s", COLUMN, "");
  else
    fprintf(term->file, "%*s", COLUMN - used, "");
  wrapped(term, summary, summary + strlen(summary), COLUMN, COLUMN);
}

static void options(const cli_term *term, const char *title, const cli_option *option) {
  if (!option->name) return;
  fputc('\n', term->file);
  cli_styled(term, "1", title);
  fputc('\n', term->file);
  for (; option->name; option++) {
    char name[NAME], letter[6] = "";
    if (option->letter) snprintf(letter, sizeof letter, "-%c, ", option->letter);
    snprintf(name, sizeof name, "%s--%s%s%s", letter, option->name, option->value ? "=" : "",
             option->value ? option->value : "");
    entry(term, name, option->summary);
  }
}

/* Print paragraphs; one that starts with blanks is printed as it is. */
static void paragraphs(const cli_term *term, const char *text) {
  while (*text) {
    const char *end = strstr(text, "\n\n");
    size_t length = end ? (size_t)(end - text) : strlen(text);
    fputc('\n', term->file);
    if (*text == ' ')
      fprintf(term->file, "%.*s\n", (int)length, text);
    else
      wrapped(term, text, text + length, 0, 0);
    text += length;
    text += strspn(text, "\n");
  }
}

static void command_help(const cli_verb *verbs, const cli_term *term) {
  fputs("tesela: physical layouts of tensors\n\nusage: tesela COMMAND ...\n\n", term->file);
  for (const cli_verb *verb = verbs; verb->name; verb++) {
    char name[NAME];
    snprintf(name, sizeof name, "%s %s", verb->name, verb->args);
    entry(term, name, verb->summary);
  }
  options(term, "Options of every command", cli_common_options);
  paragraphs(term, pages_layout_text);
  paragraphs(term, pages_exit_text);
  fputs("\nMore on one command: tesela help COMMAND\n", term->file);
}

void help_print(const cli_context *cli, const cli_verb *verb, const cli_term *term) {
  if (!verb) {
    command_help(cli->verbs, term);
    return;
  }
  fprintf(term->file, "usage: tesela %s%s%s\n\n", verb->name, *verb->args ? " " : "", verb->args);
  fprintf(term->file, "%s\n", verb->summary);
  paragraphs(term, verb->details);
  options(term, "Options", verb->options);
  options(term, "Options of every command", cli_common_options);
}

/* ---- the verb ---------------------------------------------------------------------------------------------
 */

static void json_options(tesela_sink *j, const char *key, const cli_option *option) {
  tesela_put_key_list(j, key);
  for (; option->name; option++) {
    char letter[2] = {option->letter, '\0'};
    tesela_put_object(j);
    tesela_put_key_text(j, "name", option->name);
    tesela_put_key_text(j, "letter", option->letter ? letter : NULL);
    tesela_put_key_text(j, "value", option->value);
    tesela_put_key_text(j, "summary", option->summary);
    tesela_put_end(j);
  }
  tesela_put_end(j);
}

static int json_help(const cli_verb *verbs, const cli_verb *only) {
  tesela_json_out j = TESELA_JSON_OUT;
  tesela_put_object(&j.sink);
  tesela_put_key_list(&j.sink, "verbs");
  for (const cli_verb *verb = verbs; verb->name; verb++) {
    if (only && verb != only) continue;
    tesela_put_object(&j.sink);
    tesela_put_key_text(&j.sink, "name", verb->name);
    tesela_put_key_text(&j.sink, "args", verb->args);
    tesela_put_key_text(&j.sink, "summary", verb->summary);
    tesela_put_key_text(&j.sink, "details", verb->details);
    json_options(&j.sink, "options", verb->options);
    tesela_put_end(&j.sink);
  }
  tesela_put_end(&j.sink);
  json_options(&j.sink, "common_options", cli_common_options);
  tesela_put_end(&j.sink);
  bool whole = !j.sink.stopped;
  json_line(&j, stdout);
  tesela_json_out_free(&j);
  return whole ? CLI_YES : CLI_FAILED;
}

int cmd_help(const cli_context *cli) {
  const char *shell = cli_value(cli, "completion");
  if (cli_has(cli, "man") || shell) {
    if (cli->n_args > 0 || (cli_has(cli, "man") && shell))
      return say_usage(cli, "--man and --completion take no argument and exclude each other");
    if (shell)
      pages_completion(cli->verbs, shell);
    else
      pages_man(cli->verbs);
    return CLI_YES;
  }
  const cli_verb *verb = NULL;
  if (cli->n_args > 0 && !(verb = cli_find_verb(cli, cli->arg[0]))) return cli_unknown_verb(cli, cli->arg[0]);
  if (cli->json) return json_help(cli->verbs, verb);
  help_print(cli, verb, &cli->out);
  return CLI_YES;
}
