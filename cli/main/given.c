/* SPDX-License-Identifier: Apache-2.0 */
/*
 * given.c - options of the command line by name; verbs by name.
 */
#include <assert.h>
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include <tesela/report.h>

#include "main/options.h"
#include "main/say.h"

const cli_option cli_common_options[] = {
    {"json", 0, NULL, "print JSON"},
    {"color", 0, "auto|always|never",
     "print colours; auto: on a terminal, unless NO_COLOR is set (default: auto)"},
    {"ascii", 0, NULL, "print ASCII characters only"},
    {"help", 'h', NULL, "print the help of this command"},
    {NULL, 0, NULL, NULL},
};

const cli_verb *cli_find_verb(const cli_context *cli, const char *name) {
  for (const cli_verb *verb = cli->verbs; verb->name; verb++)
    if (strcmp(verb->name, name) == 0) return verb;
  return NULL;
}

static const char *verb_name(const void *user, int i) {
  const cli_context *cli = user;
  return cli->verbs[i].name;
}

int cli_unknown_verb(const cli_context *cli, const char *word) {
  char quote[SAY_QUOTE];
  const char *near = tesela_nearest(word, strlen(word), verb_name, cli);
  if (strcmp(word, "tune") == 0) {
    say_error(cli, "tune needs Python and JAX: pip install \"tesela[tune]\", then python -m tesela.tune "
                   "MODULE.py:FUNCTION");
    return CLI_BAD;
  }
  say_error(cli, "unknown command '%s'%s%s%s", say_quote(word, quote), near ? "; did you mean " : "",
            near ? near : "", near ? "?" : "");
  fputs("All commands: tesela help\n", stderr);
  return CLI_BAD;
}

const cli_option *cli_find_option(const cli_context *cli, const char *name, size_t length, char letter,
                                  bool *common, int *at) {
  const cli_option *lists[] = {cli->verb ? cli->verb->options : NULL, cli_common_options};
  for (int list = 0; list < 2; list++)
    for (int i = 0; lists[list] && lists[list][i].name; i++) {
      const cli_option *o = &lists[list][i];
      bool hit =
          letter ? o->letter == letter : strlen(o->name) == length && memcmp(o->name, name, length) == 0;
      if (!hit) continue;
      *common = list == 1;
      *at = i;
      return o;
    }
  return NULL;
}

const char *cli_value(const cli_context *cli, const char *name) {
  bool common = false;
  int at = 0;
  const cli_option *option = cli_find_option(cli, name, strlen(name), 0, &common, &at);
  assert(option && "the table lacks this option");
  if (!option) return NULL;
  return common ? cli->common[at] : cli->own[at];
}

const char *cli_each(const cli_context *cli, const char *name, int *at) {
  while (*at < cli->n_given) {
    const struct cli_given *given = &cli->given[(*at)++];
    if (strcmp(given->option->name, name) == 0) return given->value;
  }
  return NULL;
}

bool cli_has(const cli_context *cli, const char *name) { return cli_value(cli, name) != NULL; }

bool cli_integer(const cli_context *cli, const char *name, int64_t low, int64_t high, int64_t otherwise,
                 int64_t *out) {
  const char *text = cli_value(cli, name);
  if (!text) {
    *out = otherwise;
    return true;
  }
  char *end, quote[SAY_QUOTE];
  errno = 0;
  long long value = strtoll(text, &end, 10);
  if (end == text || *end || errno || value < low || value > high) {
    say_usage(cli, "--%s: expected an integer from %" PRId64 " to %" PRId64 ", found '%s'", name, low, high,
              say_quote(text, quote));
    return false;
  }
  *out = value;
  return true;
}

bool cli_size(const cli_context *cli, const char *name, int64_t otherwise, int64_t *out) {
  const char *text = cli_value(cli, name);
  tesela_error err;
  *out = otherwise;
  if (!text || tesela_units_parse(text, strlen(text), out, NULL, &err) == TESELA_OK) return true;
  say_usage(cli, "--%s: %s", name, err.message);
  return false;
}
