/* SPDX-License-Identifier: Apache-2.0 */
/*
 * output_file.c - a file that is there whole or not at all.
 *
 * Space is reserved before the first byte is written, so that a full disk is an error here and not a SIGBUS in the
 * middle of a copy. The bytes have no name until they are whole (O_TMPFILE), so that nothing is left of a process that
 * is killed; they are linked to a name of their own beside the final one, which a rename then gives them. Where the file
 * system or /proc does not allow that, they have the name beside from the beginning. Only names that this process made
 * are ever removed.
 *
 * A process has one output at a time: its unfinished name stands in a static buffer for the signal handlers.
 */
#define _GNU_SOURCE /* O_TMPFILE, SIGXFSZ */

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

#include "main/say.h"
#include "tensor_file_map.h"

enum { PATH_BYTES = 4096, TRIES = 100, LINKS = 40, WRITE_BLOCK = 1 << 20 };

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

/* The folder of `path`, as text that ends in a slash or is empty. */
static int folder_length(const char *path) {
  const char *slash = strrchr(path, '/');
  return slash ? (int)(slash + 1 - path) : 0;
}

/* The path by which the system finds a descriptor of ours, to link it. */
static const char *by_descriptor(int fd, char text[32]) {
  snprintf(text, 32, "/proc/self/fd/%d", fd);
  return text;
}

/* A file without a name in the folder of out->path; -1 where the system cannot make one, or cannot link it later. */
static int open_unnamed(const output_file *out, mode_t mode) {
  int fd = -1;
#ifdef O_TMPFILE
  char folder[PATH_BYTES], text[32];
  int length = snprintf(folder, sizeof folder, "%.*s.", folder_length(out->path), out->path);
  if (length < 0 || (size_t)length >= sizeof folder) return -1;
  fd = open(folder, O_TMPFILE | O_RDWR | O_CLOEXEC, mode);
  if (fd >= 0 && access(by_descriptor(fd, text), F_OK) != 0) {
    close(fd);
    fd = -1;
  }
#endif
  return fd;
}

/* Take the name `unfinished_name`, which nobody else has: for a new file, or for the unnamed one `fd`. */
static int take_name(int fd, mode_t mode) {
  char text[32];
  if (fd < 0) return open(unfinished_name, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, mode);
  return linkat(AT_FDCWD, by_descriptor(fd, text), AT_FDCWD, unfinished_name, AT_SYMLINK_FOLLOW) == 0 ? fd
                                                                                                      : -1;
}

/* A name beside out->path, ".model.npy.1a2b3c.tesela", for a new file, or for the unnamed one `fd`. Returns the
 * descriptor, or -1. Stop signals are held. */
static int name_beside(const output_file *out, int fd, mode_t mode) {
  int folder = folder_length(out->path);
  struct timespec now;
  clock_gettime(CLOCK_REALTIME, &now);
  unsigned long seed = (unsigned long)now.tv_nsec ^ ((unsigned long)getpid() << 12);
  for (int i = 0; i < TRIES; i++, seed = seed * 69069 + 1) {
    int length = snprintf(unfinished_name, sizeof unfinished_name, "%.*s.%.200s.%06lx.tesela", folder,
                          out->path, out->path + folder, seed >> 4 & 0xffffff);
    if (length < 0 || (size_t)length >= sizeof unfinished_name) {
      errno = ENAMETOOLONG;
      return -1;
    }
    int named = take_name(fd, mode);
    have_unfinished = named >= 0;
    if (named >= 0 || errno != EEXIST) return named;
  }
  return -1;
}

static int open_unfinished(output_file *out) {
  if (out->stream) {
    out->fd = tensor_unnamed_file();
    return out->fd >= 0 ? CLI_YES : fail_output(out, "no temporary file (TMPDIR says where): ");
  }
  mode_t mode = out->replaces ? 0600 : 0666; /* the old file's comes at the end */
  catch_stops();
  out->fd = open_unnamed(out, mode);
  if (out->fd >= 0) return CLI_YES;
  hold_stops(SIG_BLOCK);
  out->fd = name_beside(out, -1, mode);
  hold_stops(SIG_UNBLOCK);
  if (out->fd >= 0) return CLI_YES;
  if (!out->replaces || (errno != EACCES && errno != EPERM)) return fail_output(out, "");
  return fail_output(
      out, "its folder takes no new file, and a file is replaced as a whole (-o - > FILE writes into "
           "one): ");
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

/* The descriptor that a path means: 1 for "-" and /dev/stdout, N for /dev/fd/N; -1 if it means none. */
static int descriptor_of(const char *path) {
  static const char *const folders[] = {"/dev/fd/", "/proc/self/fd/"};
  if (strcmp(path, "-") == 0 || strcmp(path, "/dev/stdout") == 0) return STDOUT_FILENO;
  if (strcmp(path, "/dev/stderr") == 0) return STDERR_FILENO;
  for (size_t i = 0; i < sizeof folders / sizeof folders[0]; i++) {
    size_t n = strlen(folders[i]), digits = strlen(path) > n ? strspn(path + n, "0123456789") : 0;
    if (strncmp(path, folders[i], n) == 0 && digits > 0 && digits < 6 && !path[n + digits])
      return atoi(path + n);
  }
  return -1;
}

bool output_file_is_standard(const char *path) { return descriptor_of(path) == STDOUT_FILENO; }

/* `path` with the links at its end followed, whether or not there is a file; NULL after setting errno. */
static char *follow_links(const char *path) {
  char at[PATH_BYTES], link[PATH_BYTES];
  if (strlen(path) >= sizeof at) {
    errno = ENAMETOOLONG;
    return NULL;
  }
  memcpy(at, path, strlen(path) + 1);
  for (int i = 0; i < LINKS; i++) {
    ssize_t n = readlink(at, link, sizeof link - 1);
    if (n < 0) return strdup(at);
    link[n] = '\0';
    int folder = link[0] == '/' ? 0 : folder_length(at);
    if ((size_t)folder + (size_t)n >= sizeof at) break;
    memcpy(at + folder, link, (size_t)n + 1);
  }
  errno = ELOOP;
  return NULL;
}

static int look_at_descriptor(output_file *out) {
  if (out->to == STDOUT_FILENO) out->name = "standard output";
  out->stream = true;
  if (!isatty(out->to)) return CLI_YES;
  char quote[SAY_QUOTE];
  return say_usage(out->cli, "%s is a terminal; -o FILE or a pipe takes the data",
                   say_quote(out->name, quote));
}

/* Where the bytes go in the end: links are followed, so that a link stays one. */
static int look_at_path(output_file *out, const char *path) {
  struct stat info;
  out->to = descriptor_of(path);
  if (out->to >= 0) return look_at_descriptor(out);
  bool exists = stat(path, &info) == 0;
  if (!exists && (errno != ENOENT || !*path)) return fail_output(out, "");
  if (exists && S_ISDIR(info.st_mode)) {
    errno = EISDIR;
    return fail_output(out, "");
  }
  out->stream = exists && !S_ISREG(info.st_mode);
  out->replaces = exists && !out->stream;
  out->mode = info.st_mode & 07777;
  out->owner = info.st_uid;
  out->group = info.st_gid;
  if (out->replaces && faccessat(AT_FDCWD, path, W_OK, AT_EACCESS) != 0)
    return fail_output(out, "is read-only and stays: ");
  out->path = follow_links(path);
  return out->path ? CLI_YES : fail_output(out, "");
}

int output_file_create(const cli_context *cli, const char *path, int64_t size, output_file *out) {
  *out = (output_file){.cli = cli, .name = path, .to = -1, .fd = -1, .size = size};
  int status = look_at_path(out, path);
  if (status == CLI_YES) status = open_unfinished(out);
  if (status == CLI_YES) status = make_room(out);
  if (status != CLI_YES) output_file_abandon(out);
  return status;
}

/* ---- finish -------------------------------------------------------------------------------------------- */

static int write_stream(output_file *out) {
  int fd = out->path ? open(out->path, O_WRONLY | O_CLOEXEC) : out->to, status = CLI_YES;
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

/* The mode of the file that is replaced, and as far as this process may its owner and group. Where the group cannot be
 * kept, its new members get what others have; where either cannot, nothing runs as the owner or the group. A file system
 * without owners or modes has none to keep. */
static void keep_owner_and_mode(const output_file *out) {
  mode_t mode = out->mode;
  bool group = fchown(out->fd, (uid_t)-1, out->group) == 0;
  bool owner = fchown(out->fd, out->owner, (gid_t)-1) == 0;
  if (!group) mode &= (mode_t)~070 | ((mode & 07) << 3);
  if (!group || !owner) mode &= 01777;
  int kept = fchmod(out->fd, mode);
  (void)kept;
}

/* May fail where there is nothing to sync. */
static bool sync_descriptor(int fd) { return fsync(fd) == 0 || errno == EINVAL || errno == EOPNOTSUPP; }

/* The rename itself is on the disk. A folder that may be written and not read cannot be asked for that. */
static int sync_folder(const output_file *out) {
  char folder[PATH_BYTES + 2];
  snprintf(folder, sizeof folder, "%.*s.", folder_length(out->path), out->path);
  int fd = open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC), status = CLI_YES;
  if (fd < 0) return CLI_YES;
  if (!sync_descriptor(fd)) status = fail_output(out, "is written, but its folder cannot be synced: ");
  close(fd);
  return status;
}

/* All bytes are on the disk before the name is. */
static int give_name(output_file *out) {
  int reason = 0;
  if (out->size > 0 && munmap(out->data, (size_t)out->size) != 0) reason = errno;
  out->size = 0;
  if (out->replaces) keep_owner_and_mode(out);
  if (reason == 0 && !sync_descriptor(out->fd)) reason = errno;
  errno = reason;
  if (reason != 0) return fail_output(out, "");
  hold_stops(SIG_BLOCK);
  bool done =
      (have_unfinished || name_beside(out, out->fd, 0) >= 0) && rename(unfinished_name, out->path) == 0;
  if (done) have_unfinished = 0;
  hold_stops(SIG_UNBLOCK);
  return done ? sync_folder(out) : fail_output(out, "");
}

int output_file_finish(output_file *out) { return out->stream ? write_stream(out) : give_name(out); }

void output_file_abandon(output_file *out) {
  if (out->size > 0 && out->data) munmap(out->data, (size_t)out->size);
  if (out->fd >= 0) close(out->fd);
  output_file_remove_unfinished();
  free(out->path);
  *out = (output_file){.fd = -1};
}
