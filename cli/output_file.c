/* SPDX-License-Identifier: Apache-2.0 */
/*
 * output_file.c - a file that is there whole or not at all.
 *
 * Space is reserved before the first byte is written, so that a full disk is an error here and not a SIGBUS in the
 * middle of a copy. A process has one output at a time: its unfinished name stands in a static buffer for the
 * signal handlers.
 */
#define _DEFAULT_SOURCE /* realpath, SIGXFSZ */

#include "output_file.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "say.h"
#include "tensor_file_map.h"

enum { PATH_BYTES = 4096, TRIES = 100, WRITE_BLOCK = 1 << 20 };

/* ---- signals ------------------------------------------------------------------------------------------- */

static char unfinished_name[PATH_BYTES];
static volatile sig_atomic_t have_unfinished;
static const int stop_signals[] = {SIGINT, SIGTERM, SIGHUP};

void output_file_remove_unfinished(void) {
  if (have_unfinished) unlink(unfinished_name);
  have_unfinished = 0;
}

/* Remove the file and die of the signal, as the caller of this process expects. */
static void on_stop(int number) {
  output_file_remove_unfinished();
  signal(number, SIG_DFL);
  raise(number);
}

static void catch_stops(void) {
  signal(SIGXFSZ, SIG_IGN); /* too large for this process's limit is an error like a full disk */
  for (size_t i = 0; i < sizeof stop_signals / sizeof stop_signals[0]; i++) {
    struct sigaction old, action = {.sa_handler = on_stop};
    sigemptyset(&action.sa_mask);
    if (sigaction(stop_signals[i], NULL, &old) == 0 && old.sa_handler != SIG_IGN)
      sigaction(stop_signals[i], &action, NULL);
  }
}

static void hold_stops(int how) {
  sigset_t set;
  sigemptyset(&set);
  for (size_t i = 0; i < sizeof stop_signals / sizeof stop_signals[0]; i++) sigaddset(&set, stop_signals[i]);
  sigprocmask(how, &set, NULL);
}

/* ---- make ---------------------------------------------------------------------------------------------- */

static int fail_output(const output_file *out, const char *what) {
  char quote[SAY_QUOTE];
  int reason = errno;
  say_error(out->cli, "%s: %s%s", say_quote(out->name, quote), what, strerror(reason));
  return reason == ENOENT || reason == EACCES || reason == ENOTDIR || reason == EISDIR || reason == EROFS ||
                 reason == ENAMETOOLONG
             ? CLI_BAD
             : CLI_FAILED;
}

/* Open `unfinished_name`, a new file beside out->path: ".model.npy.1a2b3c.tesela". */
static int open_beside(const output_file *out) {
  const char *slash = strrchr(out->path, '/'), *name = slash ? slash + 1 : out->path;
  int folder = (int)(name - out->path);
  struct timespec now;
  clock_gettime(CLOCK_REALTIME, &now);
  unsigned long seed = (unsigned long)now.tv_nsec ^ ((unsigned long)getpid() << 12);
  for (int i = 0; i < TRIES; i++, seed = seed * 69069 + 1) {
    int length = snprintf(unfinished_name, sizeof unfinished_name, "%.*s.%.200s.%06lx.tesela", folder,
                          out->path, name, seed >> 4 & 0xffffff);
    if (length < 0 || (size_t)length >= sizeof unfinished_name) {
      errno = ENAMETOOLONG;
      return -1;
    }
    int fd = open(unfinished_name, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
    if (fd >= 0 || errno != EEXIST) return fd;
  }
  return -1;
}

static int open_unfinished(output_file *out) {
  if (out->stream) {
    out->fd = tensor_unnamed_file();
    return out->fd >= 0 ? CLI_YES : fail_output(out, "no temporary file (TMPDIR says where): ");
  }
  catch_stops();
  hold_stops(SIG_BLOCK);
  out->fd = open_beside(out);
  if (out->fd >= 0) out->unfinished = strdup(unfinished_name);
  have_unfinished = out->fd >= 0;
  hold_stops(SIG_UNBLOCK);
  if (out->fd < 0) return fail_output(out, "");
  if (!out->unfinished) {
    output_file_remove_unfinished();
    errno = ENOMEM;
    return fail_output(out, "");
  }
  return CLI_YES;
}

/* `size` bytes that are there, mapped. */
static int make_room(output_file *out) {
  static uint8_t nothing[1];
  char quote[SAY_QUOTE];
  if (out->size == 0) {
    out->data = nothing;
    return CLI_YES;
  }
  int reason = posix_fallocate(out->fd, 0, out->size);
  if (reason == EOPNOTSUPP || reason == EINVAL) reason = ftruncate(out->fd, out->size) == 0 ? 0 : errno;
  void *memory = MAP_FAILED;
  if (reason == 0) {
    memory = mmap(NULL, (size_t)out->size, PROT_READ | PROT_WRITE, MAP_SHARED, out->fd, 0);
    reason = memory == MAP_FAILED ? errno : 0;
  }
  if (reason != 0) {
    say_error(out->cli, "%s: no room for %" PRId64 " bytes: %s", say_quote(out->name, quote), out->size,
              strerror(reason));
    return CLI_FAILED;
  }
  out->data = memory;
  return CLI_YES;
}

/* Where the bytes go in the end: links are followed, so that a link stays one. */
static int look_at_path(output_file *out, const char *path) {
  struct stat info;
  if (strcmp(path, "-") == 0) {
    out->name = "standard output";
    out->stream = true;
    if (!out->cli->out.terminal) return CLI_YES;
    return say_usage(out->cli, "standard output is a terminal; -o FILE or a pipe takes the data");
  }
  if (stat(path, &info) == 0 && S_ISDIR(info.st_mode)) {
    errno = EISDIR;
    return fail_output(out, "");
  }
  bool exists = stat(path, &info) == 0;
  out->stream = exists && !S_ISREG(info.st_mode);
  out->path = exists && !out->stream ? realpath(path, NULL) : strdup(path);
  return out->path ? CLI_YES : fail_output(out, "");
}

int output_file_create(const cli_context *cli, const char *path, int64_t size, output_file *out) {
  *out = (output_file){.cli = cli, .name = path, .fd = -1, .size = size};
  int status = look_at_path(out, path);
  if (status == CLI_YES) status = open_unfinished(out);
  if (status == CLI_YES) status = make_room(out);
  if (status != CLI_YES) output_file_abandon(out);
  return status;
}

/* ---- finish -------------------------------------------------------------------------------------------- */

static int write_stream(output_file *out) {
  int fd = out->path ? open(out->path, O_WRONLY | O_CLOEXEC) : STDOUT_FILENO, status = CLI_YES;
  if (fd < 0) return fail_output(out, "");
  for (int64_t at = 0; at < out->size && status == CLI_YES;) {
    int64_t rest = out->size - at;
    ssize_t n = write(fd, out->data + at, rest < WRITE_BLOCK ? (size_t)rest : WRITE_BLOCK);
    if (n < 0 && errno == EINTR) continue;
    if (n < 0 && errno == EPIPE) {
      cli_lose_reader();
      break;
    }
    if (n < 0) status = fail_output(out, "");
    if (n > 0) at += n;
    if (at % (64 * WRITE_BLOCK) < n) tensor_drop_pages(out->data, out->size, false);
  }
  if (out->path && close(fd) != 0 && status == CLI_YES) status = fail_output(out, "");
  return status;
}

/* After munmap and close nothing can fail any more but the rename. */
static int give_name(output_file *out) {
  int reason = 0;
  if (out->size > 0 && munmap(out->data, (size_t)out->size) != 0) reason = errno;
  out->size = 0;
  if (close(out->fd) != 0 && reason == 0) reason = errno;
  out->fd = -1;
  errno = reason;
  if (reason != 0) return fail_output(out, "");
  hold_stops(SIG_BLOCK);
  bool done = rename(out->unfinished, out->path) == 0;
  if (done) {
    have_unfinished = 0;
    free(out->unfinished);
    out->unfinished = NULL;
  }
  hold_stops(SIG_UNBLOCK);
  return done ? CLI_YES : fail_output(out, "");
}

int output_file_finish(output_file *out) { return out->stream ? write_stream(out) : give_name(out); }

void output_file_abandon(output_file *out) {
  if (out->size > 0 && out->data) munmap(out->data, (size_t)out->size);
  if (out->fd >= 0) close(out->fd);
  if (out->unfinished) output_file_remove_unfinished();
  free(out->unfinished);
  free(out->path);
  *out = (output_file){.fd = -1};
}
