/* SPDX-License-Identifier: Apache-2.0 */
/*
 * os_posix.h - what the files of os_posix share.
 */
#ifndef TESELA_SRC_OS_POSIX_H
#define TESELA_SRC_OS_POSIX_H

#include "base/os.h"

#if TESELA__OS_POSIX
#include <sys/types.h>

/* Fail with `what` and the text of errno; errno is kept. TESELA_E_IO, or TESELA_E_MEMORY if memory is missing. */
tesela_status tesela__os_fail(tesela_error *err, tesela_reason reason, const char *what);

/* An empty file without a name, open for reading and writing, in TMPDIR or /var/tmp. -1: errno says why. */
int tesela__os_unnamed(void);

/* ---- os_posix_output.c, os_posix_partial.c ---- */

enum { TESELA__OUTPUT_PATH = 4096 };

struct tesela__output {
  tesela_allocator allocator;
  char *path;    /* the final name, links followed; NULL for a descriptor */
  int to;        /* the descriptor that the path means, or -1 */
  bool stream;   /* written at the end */
  bool replaces; /* a file of this owner and mode */
  mode_t mode;
  uid_t owner;
  gid_t group;
  int fd;
  uint8_t *data; /* mapped; zeros at first; never NULL */
  int64_t size;
  bool partial; /* the name beside is that of a partial file, whose record begins after `end` bytes */
  bool stays;   /* under the name beside, whatever happens */
  int64_t end;
  char *unfinished; /* the name beside while there is one, else "" */
  char own_unfinished[TESELA__OUTPUT_PATH];
};

/* TESELA_E_IO with the text of errno, and TESELA_REASON_PATH where the path is at fault. */
tesela_status tesela__output_fail(tesela_error *err, const char *what);
/* Where the bytes go in the end: links are followed, so that a link stays one, or refused. */
tesela_status tesela__output_look(tesela__output *out, const char *path, bool only_files, tesela_error *err);
/* out->size bytes of out->fd that are there, mapped. */
tesela_status tesela__output_room(tesela__output *out, tesela_error *err);
/* All bytes are on the disk before the name is. */
tesela_status tesela__output_name(tesela__output *out, tesela_error *err);
#endif

#endif
