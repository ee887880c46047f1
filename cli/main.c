/* SPDX-License-Identifier: Apache-2.0 */
/*
 * main.c - the command `tesela`: reads the command line, runs the verb, sees to its output.
 *
 *   options.c         the table of verbs and options; parse.c reads the command line by it, help.c prints it
 *   cmd_<verb>.c      one verb each, on the public headers and jansson alone
 *   say.c term.c      words on stderr; what a terminal can show
 *   input.c lines.c   a LAYOUT argument; standard input line by line
 *   tensor_file*.c    tensors in files: npy.c and safetensors.c read and write headers, output_file.c makes files
 *   json.c utf8.c     text
 */
#include <errno.h>
#include <fcntl.h>
#include <locale.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "options.h"
#include "say.h"

/* A standard stream that was closed would be the next file that is opened. What takes its place fails when
 * used. */
static void fill_closed_streams(void) {
  static const int flags[] = {O_WRONLY, O_RDONLY, O_WRONLY};
  for (int fd = 0; fd < 3; fd++)
    if (fcntl(fd, F_GETFD) == -1 && errno == EBADF && open("/dev/null", flags[fd]) != fd) _exit(CLI_FAILED);
}

/* Does nobody read what we write to this pipe any more? */
static bool reader_left(int fd) {
  struct pollfd poll_fd = {.fd = fd, .events = POLLOUT};
  return poll(&poll_fd, 1, 0) == 1 && (poll_fd.revents & POLLERR);
}

/* Write out what is left on stdout. A reader that left early has what it wanted: that is no failure. */
static int finish_output(const cli_context *cli, int status) {
  if (cli_flush()) return status;
  int reason = cli_flush_error();
  if (reason == EPIPE || reader_left(STDOUT_FILENO)) return status;
  say_error(cli, "standard output: %s", reason ? strerror(reason) : "cannot be written");
  return CLI_FAILED;
}

int main(int argc, char **argv) {
  fill_closed_streams();
  signal(SIGPIPE, SIG_IGN);
  setlocale(LC_CTYPE, "");

  cli_context cli = {0};
  int status = CLI_FAILED;
  cli.arg = calloc((size_t)argc + 1, sizeof *cli.arg);
  if (!cli.arg) {
    fputs("tesela: no memory\n", stderr);
    return CLI_FAILED;
  }
  if (cli_parse(&cli, argc, argv, &status)) status = cli.verb->run(&cli);
  status = finish_output(&cli, status);
  free(cli.arg);
  return status;
}
