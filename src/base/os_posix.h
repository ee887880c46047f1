/* SPDX-License-Identifier: Apache-2.0 */
/*
 * os_posix.h - shared by the files of os_posix.
 */
#ifndef TESELA_SRC_OS_POSIX_H
#define TESELA_SRC_OS_POSIX_H

#include "base/os.h"

#if TESELA__OS_POSIX
#include <sys/types.h>

/* Fail with `what` and the text of errno; errno is kept. TESELA_E_IO, or TESELA_E_MEMORY if memory is missing. */
tesela_status tesela__os_fail(tesela_error *err, tesela_reason reason, const char *what);

/* Fail because `bytes` bytes of a file cannot be mapped, as errno says: ENOMEM is about addresses. */
tesela_status tesela__os_fail_map(tesela_error *err, int64_t bytes);

/* An empty file without a name, open for reading and writing, in TMPDIR or /var/tmp. -1: errno is set. */
int tesela__os_unnamed(void);

/* ---- os_posix_output.c, os_posix_partial.c ---- */

enum { TESELA__OUTPUT_PATH = 4096 };

struct tesela__output {
  tesela_allocator allocator;
  char *path;    /* the final name, links followed; NULL for a descriptor */
  int to;        /* the descriptor that the path names, or -1 */
  bool stream;   /* written at the end */
  bool replaces; /* a file of this owner and mode */
  mode_t mode;
  uid_t owner;
  gid_t group;
  int fd;
  uint8_t *data; /* mapped; zeros at first; never NULL */
  int64_t size;
  bool partial; /* a partial file, whose record begins after `end` bytes */
  bool stays;   /* is not removed at close */
  int64_t end;
  char *unfinished; /* the temporary or partial name while it exists, else "" */
  char own_unfinished[TESELA__OUTPUT_PATH];
};

/* TESELA_E_IO with the text of errno, and TESELA_REASON_PATH if the path is at fault. */
tesela_status tesela__output_fail(tesela_error *err, const char *what);
/* Find the destination of the bytes: links are followed, so that a link remains, or refused. */
tesela_status tesela__output_look(tesela__output *out, const char *path, bool only_files, tesela_error *err);
/* Reserve and map out->size bytes of out->fd. */
tesela_status tesela__output_room(tesela__output *out, tesela_error *err);
/* Sync the bytes to the disk, then give the file its name. */
tesela_status tesela__output_name(tesela__output *out, tesela_error *err);
#endif

#endif
