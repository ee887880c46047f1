/* SPDX-License-Identifier: Apache-2.0 */
/*
 * disturb.c - preloaded into the command by test_output_file.py, test_pack_resume.py and test_pack_verify.py: calls that make files fail, or the
 * process is killed before one of them.
 *
 *   DISTURB_FAIL=tmpfile:95      these fail with this errno: tmpfile, proc, fallocate, fsync, link, rename; several with
 *                                blanks between
 *   DISTURB_KILL=3               SIGKILL before the third call of all that stand here
 *   DISTURB_CLOCK=500            each reading of the clock is so many milliseconds after the one before
 *   DISTURB_FLIP=100             after an fsync the low bit of byte 100 of that file is another one; once
 */
#define _GNU_SOURCE

#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#define REAL(name) ((__typeof__(&name))dlsym(RTLD_NEXT, #name))

/* The errno that calls of this name fail with, 0: they do not. */
static int failure(const char *name) {
  static int calls;
  const char *kill_at = getenv("DISTURB_KILL"), *fail = getenv("DISTURB_FAIL");
  if (kill_at && ++calls == atoi(kill_at)) kill(getpid(), SIGKILL);
  size_t n = strlen(name);
  while (fail && *fail) {
    if (strncmp(fail, name, n) == 0 && fail[n] == ':') return atoi(fail + n + 1);
    fail = strchr(fail, ' ');
    fail += fail != NULL;
  }
  return 0;
}

/* Facts of the system, and the counters of a coverage build, which it writes when it ends, are not the command's files. */
static int is_apart(const char *path) {
  size_t n = strlen(path);
  return (n > 5 && strcmp(path + n - 5, ".gcda") == 0) || strncmp(path, "/sys/", 5) == 0;
}

static int no_file(const char *path, int flags) {
  errno = is_apart(path) ? 0 : failure((flags & O_TMPFILE) == O_TMPFILE ? "tmpfile" : "open");
  return errno;
}

static atomic_bool apart[1024]; /* descriptors of such files, which no thread shares */

static int open_file(const char *path, int flags, mode_t mode) {
  int fd = no_file(path, flags) ? -1 : REAL(open)(path, flags, mode);
  if (fd >= 0 && fd < 1024) apart[fd] = is_apart(path);
  return fd;
}

int open(const char *path, int flags, ...) {
  va_list list;
  va_start(list, flags);
  mode_t mode = va_arg(list, mode_t);
  va_end(list);
  return open_file(path, flags, mode);
}

int open64(const char *path, int flags, ...) {
  va_list list;
  va_start(list, flags);
  mode_t mode = va_arg(list, mode_t);
  va_end(list);
  return open_file(path, flags, mode);
}

int access(const char *path, int how) {
  int reason = strncmp(path, "/proc/", 6) == 0 ? failure("proc") : 0;
  if (reason == 0) return REAL(access)(path, how);
  errno = reason;
  return -1;
}

int posix_fallocate(int fd, off_t at, off_t size) {
  int reason = failure("fallocate");
  return reason ? reason : REAL(posix_fallocate)(fd, at, size);
}

int posix_fallocate64(int fd, off64_t at, off64_t size) {
  int reason = failure("fallocate");
  return reason ? reason : REAL(posix_fallocate)(fd, at, size);
}

int fchmod(int fd, mode_t mode) { return (errno = failure("chmod")) ? -1 : REAL(fchmod)(fd, mode); }

int fchown(int fd, uid_t owner, gid_t group) {
  return (errno = failure("chown")) ? -1 : REAL(fchown)(fd, owner, group);
}

int clock_gettime(clockid_t clock, struct timespec *now) {
  static atomic_long readings;
  const char *step = getenv("DISTURB_CLOCK");
  if (!step) return REAL(clock_gettime)(clock, now);
  const long ms = atol(step) * atomic_fetch_add(&readings, 1);
  *now = (struct timespec){ms / 1000 + 1, ms % 1000 * 1000000};
  return 0;
}

static void flip(int fd) {
  static int done;
  const char *at = getenv("DISTURB_FLIP");
  unsigned char byte;
  if (!at || done++ || pread(fd, &byte, 1, atol(at)) != 1) return;
  byte ^= 1;
  if (REAL(pwrite)(fd, &byte, 1, atol(at)) != 1) abort();
}

int fsync(int fd) {
  if ((errno = failure("fsync"))) return -1;
  int status = REAL(fsync)(fd);
  flip(fd);
  return status;
}

int msync(void *at, size_t size, int flags) {
  return (errno = failure("msync")) ? -1 : REAL(msync)(at, size, flags);
}

int flock(int fd, int how) { return (errno = failure("flock")) ? -1 : REAL(flock)(fd, how); }

int ftruncate(int fd, off_t size) { return (errno = failure("truncate")) ? -1 : REAL(ftruncate)(fd, size); }

ssize_t pwrite(int fd, const void *data, size_t size, off_t at) {
  return (errno = failure("pwrite")) ? -1 : REAL(pwrite)(fd, data, size, at);
}

int linkat(int from, const char *old, int to, const char *name, int flags) {
  return (errno = failure("link")) ? -1 : REAL(linkat)(from, old, to, name, flags);
}

int rename(const char *old, const char *name) {
  return (errno = failure("rename")) ? -1 : REAL(rename)(old, name);
}

int close(int fd) {
  if (fd < 0 || fd >= 1024 || !atomic_exchange(&apart[fd], false)) failure("close");
  return REAL(close)(fd);
}

int unlink(const char *path) {
  failure("unlink");
  return REAL(unlink)(path);
}
