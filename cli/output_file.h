/* SPDX-License-Identifier: Apache-2.0 */
/*
 * output_file.h - a file that is there whole or not at all.
 *
 *   output_file out;
 *   int status = output_file_create(cli, path, size, &out);
 *   if (status == CLI_YES) ... write out.data[0 .. size-1] ...; status = output_file_finish(&out);
 *   output_file_abandon(&out);
 *
 * The bytes go to a file without a name in the same folder, which takes the final name when it is whole and on the
 * disk. What was there before stays until then, so it may be the input; its mode and, as far as allowed, its owner and
 * group go over to the new file. Whatever ends the process earlier, nothing half is under the final name; a process
 * killed between two system calls leaves the whole new file under a name of its own beside it. Where the file system
 * has no files without names, the name beside is there from the beginning; a failure, SIGINT, SIGTERM and SIGHUP then
 * remove it.
 *
 * Standard output ("-", /dev/stdout), other descriptors (/dev/fd/N) and paths that are no regular file (a pipe,
 * /dev/full) are written at the end, from a file without a name.
 */
#ifndef TESELA_CLI_OUTPUT_FILE_H
#define TESELA_CLI_OUTPUT_FILE_H

#include <sys/types.h>

#include "main/options.h"

typedef struct output_file {
  const cli_context *cli;
  const char *name; /* for messages: the path, or "standard output" */
  char *path;       /* the final name, links followed; NULL for a descriptor */
  int to;           /* a descriptor that the path means; -1: none */
  bool stream;      /* written at the end */
  bool replaces;    /* a file of this owner and mode */
  mode_t mode;
  uid_t owner;
  gid_t group;
  int fd;
  uint8_t *data; /* mapped; zeros at first; never NULL */
  int64_t size;
} output_file;

/* Make room for `size` bytes. Returns an exit status after saying why; then there is nothing to abandon. */
int output_file_create(const cli_context *cli, const char *path, int64_t size, output_file *out);
/* All is written: give it its name. For a reader that left see cli_lose_reader. */
int output_file_finish(output_file *out);
/* Give up, unless it is finished; release memory. */
void output_file_abandon(output_file *out);

/* Does the path mean standard output: "-", /dev/stdout, /dev/fd/1? */
bool output_file_is_standard(const char *path);

/* From a signal handler: remove the file that is not finished. */
void output_file_remove_unfinished(void);

#endif
