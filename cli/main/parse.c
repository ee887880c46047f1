/* SPDX-License-Identifier: Apache-2.0 */
/*
 * parse.c - reads the command line by the table of options.c.
 *
 * Options may stand anywhere; before the verb, only those of all verbs. `--` ends them; `-`, negative numbers and texts that
 * begin with an arrow are arguments. The last value of an option counts.
 */
#include <stdio.h>
#include <string.h>

#include <tesela/notation.h>

#include "main/options.h"
#include "main/say.h"

/* ---- errors -----------------------------------------------------------------------------------------------
 */

static const char *option_name(const void *user, int i) {
  const cli_context *cli = user;
  int n = 0;
  for (; cli->verb && cli->verb->options[n].name; n++)
    if (n == i) return cli->verb->options[n].name;
  return cli_common_options[i - n].name;
}

static int unknown_option(const cli_context *cli, const char *word, size_t length) {
  char quote[SAY_QUOTE], name[SAY_QUOTE];
  snprintf(name, sizeof name, "%.*s", (int)(length < 64 ? length : 64), word);
  const char *near = tesela_nearest(name, strlen(name), option_name, cli);
  return say_usage(cli, "unknown option --%s%s%s%s", say_quote(name, quote), near ? "; did you mean --" : "",
                   near ? near : "", near ? "?" : "");
}

/* Is `value` in "auto|always|never"? Without a bar, any value is allowed. */
static bool allowed(const char *words, const char *value) {
  size_t length = strlen(value);
  if (!strchr(words, '|')) return true;
  for (const char *word = words; word; word = strchr(word, '|') ? strchr(word, '|') + 1 : NULL)
    if (strcspn(word, "|") == length && memcmp(word, value, length) == 0) return true;
  return false;
}

/* ---- reading ----------------------------------------------------------------------------------------------
 */

typedef struct words {
  char **next, **end;
} words;

/* Give an option its value: the rest of its argument, or the next argument. */
static bool take_value(cli_context *cli, const cli_option *option, const char **slot, const char *inside,
                       words *rest) {
  char quote[SAY_QUOTE];
  if (!option->value) {
    *slot = "";
    if (!inside) return true;
    say_usage(cli, "--%s takes no value", option->name);
    return false;
  }
  if (!inside && rest->next < rest->end) inside = *rest->next++;
  if (!inside) {
    say_usage(cli, "--%s: missing value %s", option->name, option->value);
    return false;
  }
  if (!allowed(option->value, inside)) {
    say_usage(cli, "--%s: expected %s, found '%s'", option->name, option->value, say_quote(inside, quote));
    return false;
  }
  *slot = inside;
  cli->given[cli->n_given++] = (struct cli_given){option, inside};
  return true;
}

static bool take_long(cli_context *cli, const char *word, words *rest) {
  bool common;
  int at;
  size_t length = strcspn(word, "=");
  const cli_option *option = cli_find_option(cli, word, length, 0, &common, &at);
  if (!option) {
    unknown_option(cli, word, length);
    return false;
  }
  const char **slot = common ? &cli->common[at] : &cli->own[at];
  return take_value(cli, option, slot, word[length] ? word + length + 1 : NULL, rest);
}

/* "-abc": letters without values in a row; the rest after a letter with a value is that value. */
static bool take_letters(cli_context *cli, const char *word, words *rest) {
  for (; *word; word++) {
    bool common;
    int at;
    char letter[2] = {*word, '\0'}, quote[SAY_QUOTE];
    const cli_option *option = cli_find_option(cli, NULL, 0, *word, &common, &at);
    if (!option) {
      say_usage(cli, "unknown option -%s", say_quote(letter, quote));
      return false;
    }
    const char **slot = common ? &cli->common[at] : &cli->own[at];
    if (!take_value(cli, option, slot, option->value && word[1] ? word + 1 : NULL, rest)) return false;
    if (option->value) break;
  }
  return true;
}

static bool is_option(const char *word) {
  return word[0] == '-' && word[1] != '\0' && word[1] != '>' && !(word[1] >= '0' && word[1] <= '9');
}

static bool take_words(cli_context *cli, words *rest) {
  bool options = true;
  while (rest->next < rest->end) {
    const char *word = *rest->next++;
    if (options && strcmp(word, "--") == 0) {
      options = false;
    } else if (options && !cli->verb && (strcmp(word, "--version") == 0 || strcmp(word, "-V") == 0)) {
      cli->verb = cli_find_verb(cli, "version");
    } else if (options && is_option(word)) {
      if (!(word[1] == '-' ? take_long(cli, word + 2, rest) : take_letters(cli, word + 1, rest)))
        return false;
    } else if (!cli->verb) {
      cli->verb = cli_find_verb(cli, word);
      if (!cli->verb) {
        cli_unknown_verb(cli, word);
        return false;
      }
    } else {
      cli->arg[cli->n_args++] = word;
    }
  }
  return true;
}

/* Set colour and width of both streams, by the options read so far. */
static void look_at_streams(cli_context *cli) {
  const char *color = cli_value(cli, "color");
  cli_color wish = CLI_COLOR_AUTO;
  if (color && strcmp(color, "always") == 0) wish = CLI_COLOR_ALWAYS;
  if (color && strcmp(color, "never") == 0) wish = CLI_COLOR_NEVER;
  bool ascii = cli_has(cli, "ascii");
  cli->out = cli_term_of(stdout, wish, ascii);
  cli->err = cli_term_of(stderr, wish, ascii);
  cli->json = cli_has(cli, "json");
}

static bool is_layout(const char *text) {
  tesela_any_layout any;
  return tesela_layout_read(text, strlen(text), NULL, &any, NULL) == TESELA_OK;
}

/* Is argument i part of a layout that was not quoted? It was cut at a blank, or the shell made f32[3,5]1 f32[3,5]0 of
 * f32[3,5]{1,0}. */
static bool find_unquoted(const cli_context *cli, int i, char *text, size_t room) {
  const char *before = cli->arg[i - 1];
  if ((size_t)snprintf(text, room, "%s%s", before, cli->arg[i]) < room && is_layout(text)) return true;
  size_t same = 0, used = 0;
  while (before[same] && before[same] == cli->arg[i][same]) same++;
  for (int k = i - 1; k < cli->n_args && strncmp(cli->arg[k], before, same) == 0 && used + 2 < room; k++)
    used += (size_t)snprintf(text + used, room - used, "%.*s%c%s", k < i ? (int)same : 0, before,
                             k < i ? '{' : ',', cli->arg[k] + same);
  if (used + 2 >= room) return false;
  memcpy(text + used, "}", 2);
  return is_layout(text);
}

/* Name n of "LAYOUT INDEX...". */
static const char *argument_name(const char *args, int n, char name[SAY_QUOTE]) {
  for (; n > 0; n--) args += strcspn(args, " ") + 1;
  snprintf(name, SAY_QUOTE, "%.*s", (int)strcspn(args, " ."), args);
  return name;
}

static bool right_number_of_arguments(const cli_context *cli) {
  const cli_verb *verb = cli->verb;
  char quote[SAY_QUOTE], layout[SAY_QUOTE];
  const int i = verb->max_args;
  if (cli->n_args < verb->min_args) {
    say_usage(cli, "%s: missing argument %s", verb->name, argument_name(verb->args, cli->n_args, quote));
    return false;
  }
  if (i == ANY || cli->n_args <= i) return true;
  if (i > 0 && find_unquoted(cli, i, layout, sizeof layout))
    say_usage(cli, "%s: unexpected argument '%s' (quote the layout: '%s')", verb->name,
              say_quote(cli->arg[i], quote), layout);
  else
    say_usage(cli, "%s: unexpected argument '%s'", verb->name, say_quote(cli->arg[i], quote));
  return false;
}

bool cli_parse(cli_context *cli, int argc, char **argv, int *status) {
  words rest = {argv + (argc > 0), argv + argc};
  *status = CLI_BAD;
  look_at_streams(cli);
  if (!take_words(cli, &rest)) return false;
  look_at_streams(cli);
  if (cli_has(cli, "help")) {
    help_print(cli, cli->verb, &cli->out);
    *status = CLI_YES;
    return false;
  }
  if (!cli->verb) {
    help_print(cli, NULL, &cli->err);
    return false;
  }
  return right_number_of_arguments(cli);
}
