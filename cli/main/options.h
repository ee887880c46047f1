/* SPDX-License-Identifier: Apache-2.0 */
/*
 * options.h - verbs and options: one table, from which the command line is read and the help text, the man
 * page and the shell completions are made.
 *
 * A new verb is one row in the table of options.c and one function `int cmd_<verb>(const cli_context *cli)`
 * in cmd_<verb>.c, which returns a cli_exit:
 *
 *   {"where", cmd_where, "LAYOUT INDEX...", 2, ANY, "the place of an element", where_details, where_options},
 *
 * When it is called, arguments are counted and options checked; it looks them up by name:
 *
 *   for (int i = 1; i < cli->n_args; i++) ... cli->arg[i] ...
 *   if (cli_has(cli, "bytes")) ...
 *   const char *path = cli_value(cli, "output");     NULL if not given
 *
 * Data goes to stdout with printf and the like, messages to stderr through say.h. main flushes stdout and
 * handles a full disk and a reader that left; a loop with unlimited output checks ferror(stdout) now and then.
 */
#ifndef TESELA_CLI_OPTIONS_H
#define TESELA_CLI_OPTIONS_H

#include <stdbool.h>
#include <stdint.h>

#include "main/term.h"

typedef enum cli_exit {
  CLI_YES = 0,    /* yes, done */
  CLI_NO = 1,     /* no, differs, over the limit */
  CLI_BAD = 2,    /* bad usage or input */
  CLI_FAILED = 3, /* own failure: cannot write, no memory (which main reports); cannot tell */
} cli_exit;

/* One option. The list of a verb ends with a row of zeros. */
typedef struct cli_option {
  const char *name;  /* "output": --output=X or --output X */
  char letter;       /* 'o': -o X or -oX as well; 0: none */
  const char *value; /* its value: "FILE", "N", or the allowed values, "auto|always|never"; NULL: no value */
  const char *summary; /* "write to FILE" */
} cli_option;

typedef struct cli_context cli_context;

typedef struct cli_verb {
  const char *name;
  int (*run)(const cli_context *cli);
  const char *args;       /* "LAYOUT INDEX..."; shells complete FILE with file names */
  int min_args, max_args; /* max_args ANY: no limit */
  const char *summary;    /* half a line, lower case */
  const char *details; /* paragraphs separated by "\n\n"; a line that starts with two blanks stays as it is */
  const cli_option *options; /* its own, besides the common ones of every verb */
} cli_verb;

#define ANY (-1)
#define CLI_MAX_OPTIONS 24 /* of one verb, without the common ones */
#define CLI_MAX_COMMON 8

/* The parsed command line. */
struct cli_context {
  const cli_verb
      *verbs; /* the table, set by main: nothing else refers to it, so verbs cannot call each other */
  const cli_verb *verb;
  int n_args;
  const char **arg;
  bool json;                        /* --json */
  cli_term out;                     /* stdout */
  cli_term err;                     /* stderr */
  const char *own[CLI_MAX_OPTIONS]; /* by position in verb->options; "" for an option without a value */
  const char *common[CLI_MAX_COMMON];
  struct cli_given {
    const cli_option *option;
    const char *value;
  } * given; /* every option with a value, in the order of the command line */
  int n_given;
};

/* The table, which ends with a row of zeros, and the options every verb has. */
extern const cli_verb cli_verbs[];
extern const cli_option cli_common_options[];

const cli_verb *cli_find_verb(const cli_context *cli, const char *name); /* NULL: unknown */
int cli_unknown_verb(const cli_context *cli, const char *name); /* reports it, with a suggestion; CLI_BAD */

/* An option by its name, or by its letter if that is not 0; NULL: the verb does not have it. Its value is at *at of cli->own, or
 * of cli->common if *common. */
const cli_option *cli_find_option(const cli_context *cli, const char *name, size_t length, char letter,
                                  bool *common, int *at);
/* Was it given? Asking for an option that the verb does not have is a bug (assert). */
bool cli_has(const cli_context *cli, const char *name);
/* The last value given; NULL if the option was not given. */
const char *cli_value(const cli_context *cli, const char *name);
/* The values of an option that is given several times, in order: call with *at 0 first. NULL after the last. */
const char *cli_each(const cli_context *cli, const char *name, int *at);
/* The value as an integer within low .. high; `otherwise` if it was not given. Returns false after
 * reporting the error: CLI_BAD. */
bool cli_integer(const cli_context *cli, const char *name, int64_t low, int64_t high, int64_t otherwise,
                 int64_t *out);

/* The value as a size in bytes, "4GiB"; likewise. */
bool cli_size(const cli_context *cli, const char *name, int64_t otherwise, int64_t *out);

/* Read the command line. Returns true with a verb to run, or false with *status after reporting the error. The
 * caller provides *cli->arg and *cli->given with room for argc entries. */
bool cli_parse(cli_context *cli, int argc, char **argv, int *status);

/* help.c: the help of one verb, or (NULL) of the command. */
void help_print(const cli_context *cli, const cli_verb *verb, const cli_term *term);

/* details.c: the help text of each verb. */
extern const char show_details[], where_details[], what_details[], same_details[], translate_details[],
    choose_details[], predict_details[], report_details[], diff_details[], relayout_details[], pack_details[],
    unpack_details[], plan_details[], check_details[], bench_details[], cmp_details[], digest_details[],
    access_details[], swizzle_details[], convert_details[], dma_details[], graph_details[], verify_details[],
    infer_details[], formats_details[], query_details[], help_details[];

/* The verbs, each in cmd_<verb>.c. */
int cmd_access(const cli_context *cli);
int cmd_bench(const cli_context *cli);
int cmd_check(const cli_context *cli);
int cmd_choose(const cli_context *cli);
int cmd_cmp(const cli_context *cli);
int cmd_convert(const cli_context *cli);
int cmd_diff(const cli_context *cli);
int cmd_digest(const cli_context *cli);
int cmd_dma(const cli_context *cli);
int cmd_formats(const cli_context *cli);
int cmd_graph(const cli_context *cli);
int cmd_help(const cli_context *cli);
int cmd_infer(const cli_context *cli);
int cmd_pack(const cli_context *cli);
int cmd_plan(const cli_context *cli);
int cmd_predict(const cli_context *cli);
int cmd_query(const cli_context *cli);
int cmd_relayout(const cli_context *cli);
int cmd_report(const cli_context *cli);
int cmd_same(const cli_context *cli);
int cmd_show(const cli_context *cli);
int cmd_swizzle(const cli_context *cli);
int cmd_translate(const cli_context *cli);
int cmd_unpack(const cli_context *cli);
int cmd_verify(const cli_context *cli);
int cmd_version(const cli_context *cli);
int cmd_what(const cli_context *cli);
int cmd_where(const cli_context *cli);

#endif
