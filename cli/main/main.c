/* SPDX-License-Identifier: Apache-2.0 */
/*
 * main.c - the command `tesela`: reads the command line, runs the verb, finishes its output.
 *
 *   options.c         the table of verbs and options; parse.c reads the command line by it, given.c looks up options,
 *                     help.c prints it
 *   cmd_<verb>.c      one verb each, in verbs/ show/ report/ graph/
 *   say.c term.c      messages on stderr; abilities of a terminal
 *   process.h         the operating system: os_posix.c, os_windows.c
 *   input.c lines.c   a LAYOUT argument; standard input line by line
 *   target_input.c    --target
 *   tile_input.c      a register layout, a tile in memory, --dtype
 *   json.c            answers in JSON
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "main/options.h"
#include "main/process.h"
#include "main/say.h"

/* Does stdout receive data for programs, rather than tables and pictures for people? */
static bool prints_data(const cli_context *cli) {
  static const char *const verbs[] = {"digest", "pack",    "query", "relayout",
                                      "unpack", "version", "what",  "where"};
  static const char *const options[] = {"completion", "csv", "cuda", "hlo", "man", "source", "tsv"};
  if (cli->json || !cli->verb) return cli->json;
  for (size_t i = 0; i < sizeof verbs / sizeof verbs[0]; i++)
    if (strcmp(cli->verb->name, verbs[i]) == 0) return true;
  for (int k = 0; cli->verb->options[k].name; k++)
    for (size_t i = 0; i < sizeof options / sizeof options[0]; i++)
      if (cli->own[k] && strcmp(cli->verb->options[k].name, options[i]) == 0) return true;
  return false;
}

/* Flush stdout and close it: some file systems report only then that they are full. Returns 0, the errno, or -1 if it is
 * unknown. */
static int write_rest(void) {
  if (!cli_flush()) return cli_flush_error() ? cli_flush_error() : process_reader_left() ? EPIPE : -1;
  return process_close_stdout();
}

/* A reader that leaves early has seen what it wanted of a table. Data that it did not get is lost: then the process ends by
 * SIGPIPE or, where that signal is ignored, as after any other failure. */
static int finish_output(const cli_context *cli, int status) {
  int reason = write_rest();
  if (cli_reader_left()) reason = EPIPE;
  if (reason == 0 || (reason == EPIPE && !prints_data(cli))) return status;
  if (reason == EPIPE) process_end_by_pipe();
  say_error(cli, "standard output: %s", reason > 0 ? strerror(reason) : "cannot be written");
  return CLI_FAILED;
}

int main(int argc, char **argv) {
  process_begin();
  cli_context cli = {.verbs = cli_verbs};
  int status = CLI_FAILED;
  cli.arg = calloc((size_t)argc + 1, sizeof *cli.arg);
  cli.given = calloc((size_t)argc + 1, sizeof *cli.given);
  if (!cli.arg || !cli.given) {
    fputs("tesela: error: no memory\n", stderr);
    return CLI_FAILED;
  }
  if (cli_parse(&cli, argc, argv, &status)) status = cli.verb->run(&cli);
  if (status == CLI_FAILED && cli_flush() && !say_spoke()) say_error(&cli, "no memory");
  status = finish_output(&cli, status);
  free(cli.arg);
  free(cli.given);
  return status;
}
