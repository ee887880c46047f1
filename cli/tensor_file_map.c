/* SPDX-License-Identifier: Apache-2.0 */
/*
 * tensor_file_map.c - the bytes of a file or a pipe in memory.
 *
 * A mapped file can become shorter, and then touching what is gone raises SIGBUS, as a failing device does. There is
 * nothing to go on with: the handler says so, removes the unfinished output and ends the process with CLI_FAILED.
 */
#define _GNU_SOURCE /* madvise, O_TMPFILE */

#include "tensor_file_map.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "output_file.h"
#include "main/say.h"

enum { BLOCK = 256 * 1024 };

/* ---- SIGBUS -------------------------------------------------------------------------------------------- */

static void on_sigbus(int number) {
  static const char words[] =
      "tesela: error: a file became shorter while it was copied, or its device failed\n";
  (void)number;
  output_file_remove_unfinished();
  ssize_t n = write(STDERR_FILENO, words, sizeof words - 1);
  (void)n; /* there is nobody left to tell */
  _exit(CLI_FAILED);
}

static void catch_sigbus(void) {
  struct sigaction action = {.sa_handler = on_sigbus};
  sigemptyset(&action.sa_mask);
  sigaction(SIGBUS, &action, NULL);
}

/* ---- unnamed files ------------------------------------------------------------------------------------- */

int tensor_unnamed_file(void) {
  const char *folder = getenv("TMPDIR");
  char path[4096];
  if (!folder || !*folder) folder = "/var/tmp";
#ifdef O_TMPFILE
  int unnamed = open(folder, O_TMPFILE | O_EXCL | O_RDWR | O_CLOEXEC, 0600);
  if (unnamed >= 0) return unnamed;
#endif
  int length = snprintf(path, sizeof path, "%s/tesela-XXXXXX", folder);
  if (length < 0 || (size_t)length >= sizeof path) {
    errno = ENAMETOOLONG;
    return -1;
  }
  int fd = mkstemp(path);
  if (fd >= 0) {
    unlink(path);
    fcntl(fd, F_SETFD, FD_CLOEXEC);
  }
  return fd;
}

static bool write_all(int fd, const char *data, size_t length) {
  while (length > 0) {
    ssize_t n = write(fd, data, length);
    if (n < 0 && errno == EINTR) continue;
    if (n < 0) return false;
    data += n;
    length -= (size_t)n;
  }
  return true;
}

/* All that comes from `from`, in an unnamed file. Returns its descriptor, or -1 after saying why. */
static int keep_stream(const cli_context *cli, const char *name, int from, int *status) {
  char *block = malloc(BLOCK), quote[SAY_QUOTE];
  int fd = block ? tensor_unnamed_file() : -1;
  *status = CLI_FAILED;
  if (!block || fd < 0) {
    say_error(cli, "no temporary file for %s: %s", say_quote(name, quote), strerror(errno));
    free(block);
    return -1;
  }
  for (;;) {
    ssize_t n = read(from, block, BLOCK);
    if (n < 0 && errno == EINTR) continue;
    if (n == 0) break;
    if (n < 0) {
      *status = CLI_BAD;
      say_error(cli, "%s: %s", say_quote(name, quote), strerror(errno));
    } else if (!write_all(fd, block, (size_t)n)) {
      say_error(cli, "a temporary file for %s (TMPDIR says where): %s", say_quote(name, quote),
                strerror(errno));
    } else {
      continue;
    }
    close(fd);
    fd = -1;
    break;
  }
  free(block);
  return fd;
}

/* ---- map ----------------------------------------------------------------------------------------------- */

static int map_descriptor(const cli_context *cli, const char *name, int fd, const uint8_t **map,
                          int64_t *size) {
  struct stat info;
  char quote[SAY_QUOTE];
  if (fstat(fd, &info) != 0) {
    say_error(cli, "%s: %s", say_quote(name, quote), strerror(errno));
    return CLI_BAD;
  }
  *map = NULL;
  *size = info.st_size;
  if (info.st_size == 0) return CLI_YES;
  void *memory = mmap(NULL, (size_t)info.st_size, PROT_READ, MAP_SHARED, fd, 0);
  if (memory == MAP_FAILED) {
    say_error(cli, "%s cannot be mapped: %s", say_quote(name, quote), strerror(errno));
    return CLI_FAILED;
  }
  catch_sigbus();
  *map = memory;
  return CLI_YES;
}

/* The descriptor of a regular file from its beginning on: `fd` itself, or that of a copy. -1: status says. */
static int regular(const cli_context *cli, const char *name, int fd, int *status) {
  struct stat info;
  char quote[SAY_QUOTE];
  if (fstat(fd, &info) == 0 && S_ISDIR(info.st_mode)) {
    say_error(cli, "%s is a folder", say_quote(name, quote));
    *status = CLI_BAD;
    return -1;
  }
  if (S_ISREG(info.st_mode) && lseek(fd, 0, SEEK_CUR) == 0) return fd;
  return keep_stream(cli, name, fd, status);
}

int tensor_map(const cli_context *cli, const char *path, int *fd, const uint8_t **map, int64_t *size) {
  bool standard = strcmp(path, "-") == 0;
  const char *name = standard ? "standard input" : path;
  char quote[SAY_QUOTE];
  int status = CLI_BAD;
  int from = standard ? STDIN_FILENO : open(path, O_RDONLY | O_CLOEXEC);
  if (from < 0) {
    say_error(cli, "%s: %s", say_quote(path, quote), strerror(errno));
    return CLI_BAD;
  }
  *fd = regular(cli, name, from, &status);
  if (*fd >= 0) status = map_descriptor(cli, name, *fd, map, size);
  if (*fd >= 0 && *fd != from && status != CLI_YES) close(*fd);
  if (*fd != from || status != CLI_YES) {
    if (!standard) close(from);
  }
  return status;
}

void tensor_unmap(int fd, const uint8_t *map, int64_t size) {
  if (map) munmap((void *)(uintptr_t)map, (size_t)size);
  if (fd > STDERR_FILENO) close(fd);
}

void tensor_drop_pages(const void *map, int64_t size, bool written) {
  void *memory = (void *)(uintptr_t)map;
  if (!map) return;
  if (written) msync(memory, (size_t)size, MS_ASYNC);
  madvise(memory, (size_t)size, MADV_DONTNEED);
}
