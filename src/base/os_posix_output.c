/* SPDX-License-Identifier: Apache-2.0 */
/*
 * os_posix_output.c - a file that appears complete or not at all.
 *
 * Space is reserved before the first byte is written, so that a full disk is an error here and not a SIGBUS in the
 * middle of a copy. The bytes have no name until they are complete (O_TMPFILE), so a killed process leaves nothing; then they
 * are linked to a temporary name in the folder of the final one, and renamed. If the file system or /proc does not allow that,
 * they have the temporary name from the beginning. Only names that this process made are ever removed.
 */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE 1 /* O_TMPFILE */
#endif
#include "base/os_posix.h"

#if TESELA__OS_POSIX
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

enum { PATH_BYTES = TESELA__OUTPUT_PATH, TRIES = 100, LINKS = 40, WRITE_BLOCK = 1 << 20 };

/* ---- the temporary name -------------------------------------------------------------------------------------- */

/* Signals are blocked while a name is made and recorded, so a handler removes it or does not find it. */
static void hold_signals(sigset_t *before) {
  sigset_t all;
  sigfillset(&all);
  sigdelset(&all, SIGBUS);
  sigdelset(&all, SIGSEGV);
  pthread_sigmask(SIG_SETMASK, &all, before);
}

static void remove_unfinished(tesela__output *out) {
  if (*out->unfinished && !out->stays) unlink(out->unfinished);
  *out->unfinished = '\0';
}

tesela_status tesela__output_fail(tesela_error *err, const char *what) {
  static const int of_path[] = {ENOENT, EACCES, ENOTDIR, EISDIR, EROFS, ENAMETOOLONG};
  for (size_t i = 0; i < sizeof of_path / sizeof of_path[0]; i++)
    if (errno == of_path[i]) return tesela__os_fail(err, TESELA_REASON_PATH, what);
  return tesela__os_fail(err, TESELA_REASON_NONE, what);
}

/* The folder of `path`, as text that ends in a slash or is empty. */
static int folder_length(const char *path) {
  const char *slash = strrchr(path, '/');
  return slash ? (int)(slash + 1 - path) : 0;
}

/* The system's path of a descriptor, to link it. */
static const char *by_descriptor(int fd, char text[32]) {
  snprintf(text, 32, "/proc/self/fd/%d", fd);
  return text;
}

/* A file without a name in the folder of out->path; -1 if the system cannot make one, or cannot link it later. */
static int open_unnamed(const tesela__output *out, mode_t mode) {
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
#else
  (void)out, (void)mode;
#endif
  return fd;
}

/* Use a new name: for a new file, or for the unnamed one `fd`. */
static int take_name(const char *name, int fd, mode_t mode) {
  char text[32];
  if (fd < 0) return open(name, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, mode);
  return linkat(AT_FDCWD, by_descriptor(fd, text), AT_FDCWD, name, AT_SYMLINK_FOLLOW) == 0 ? fd : -1;
}

/* A temporary name next to out->path, ".model.npy.1a2b3c.tesela", for a new file, or for the unnamed one `fd`; recorded once it
 * exists. Returns the descriptor, or -1. Signals are blocked. */
static int name_beside(tesela__output *out, int fd, mode_t mode) {
  int folder = folder_length(out->path);
  char name[PATH_BYTES];
  struct timespec now;
  clock_gettime(CLOCK_REALTIME, &now);
  unsigned long seed = (unsigned long)now.tv_nsec ^ ((unsigned long)getpid() << 12);
  for (int i = 0; i < TRIES; i++, seed = seed * 69069 + 1) {
    int length = snprintf(name, sizeof name, "%.*s.%.200s.%06lx.tesela", folder, out->path,
                          out->path + folder, seed >> 4 & 0xffffff);
    if (length < 0 || (size_t)length >= sizeof name) {
      errno = ENAMETOOLONG;
      return -1;
    }
    int named = take_name(name, fd, mode);
    if (named >= 0) memcpy(out->unfinished, name, (size_t)length + 1);
    if (named >= 0 || errno != EEXIST) return named;
  }
  return -1;
}

static tesela_status open_unfinished(tesela__output *out, tesela_error *err) {
  sigset_t before;
  if (out->stream) {
    out->fd = tesela__os_unnamed();
    return out->fd >= 0 ? TESELA_OK
                        : tesela__output_fail(err, "no temporary file (TMPDIR sets its folder): ");
  }
  mode_t mode = out->replaces ? 0600 : 0666; /* the old file's mode is set at the end */
  out->fd = open_unnamed(out, mode);
  if (out->fd >= 0) return TESELA_OK;
  hold_signals(&before);
  out->fd = name_beside(out, -1, mode);
  int reason = errno;
  pthread_sigmask(SIG_SETMASK, &before, NULL);
  errno = reason;
  if (out->fd >= 0) return TESELA_OK;
  if (!out->replaces || (errno != EACCES && errno != EPERM)) return tesela__output_fail(err, "");
  return tesela__output_fail(err,
                             "cannot create a file in its folder, and a file is replaced as a whole (-o - > "
                             "FILE writes into one): ");
}

/* Reserve space for the bytes of out->fd on its disk; returns 0 or the error. */
static int reserve(const tesela__output *out) {
#ifdef __APPLE__ /* without posix_fallocate; a file system that cannot reserve may be full later */
  fstore_t room = {F_ALLOCATEALL, F_PEOFPOSMODE, 0, out->size, 0};
  int reason = fcntl(out->fd, F_PREALLOCATE, &room) == -1 && errno == ENOSPC ? ENOSPC : EOPNOTSUPP;
#else
  int reason = posix_fallocate(out->fd, 0, out->size);
#endif
  if (reason == EOPNOTSUPP || reason == EINVAL) reason = ftruncate(out->fd, out->size) == 0 ? 0 : errno;
  return reason;
}

/* Reserve and map `size` bytes. */
static tesela_status make_room(tesela__output *out, tesela_error *err) {
  static uint8_t nothing[1];
  char what[64];
  out->data = nothing;
  if (out->size == 0) return TESELA_OK;
  const int64_t size = out->size;
  int reason = reserve(out);
  if (reason == 0) {
    void *memory = mmap(NULL, (size_t)size, PROT_READ | PROT_WRITE, MAP_SHARED, out->fd, 0);
    if (memory != MAP_FAILED) {
      out->data = memory;
      return TESELA_OK;
    }
  }
  out->size = 0;
  if (reason == 0) return tesela__os_fail_map(err, size);
  errno = reason;
  snprintf(what, sizeof what, "no space for %" PRId64 " bytes: ", size);
  return tesela__os_fail(err, TESELA_REASON_NONE, what);
}

tesela_status tesela__output_room(tesela__output *out, tesela_error *err) { return make_room(out, err); }

/* The descriptor that a path names: 1 for "-" and /dev/stdout, N for /dev/fd/N; else -1. */
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

/* `path` with up to `most` - 1 links at its end followed, whether or not there is a file; NULL after setting errno. */
static char *follow_links(const char *path, int most, const tesela_allocator *allocator) {
  char at[PATH_BYTES], link[PATH_BYTES];
  if (strlen(path) >= sizeof at) {
    errno = ENAMETOOLONG;
    return NULL;
  }
  memcpy(at, path, strlen(path) + 1);
  for (int i = 0; i < most; i++) {
    ssize_t n = readlink(at, link, sizeof link - 1);
    if (n < 0) {
      char *copy = tesela__alloc(allocator, strlen(at) + 1, 1);
      if (copy) memcpy(copy, at, strlen(at) + 1);
      if (!copy) errno = ENOMEM;
      return copy;
    }
    link[n] = '\0';
    int folder = link[0] == '/' ? 0 : folder_length(at);
    if ((size_t)folder + (size_t)n >= sizeof at) break;
    memcpy(at + folder, link, (size_t)n + 1);
  }
  errno = ELOOP;
  return NULL;
}

/* Find the destination of the bytes: links are followed, so that a link remains, or refused. */
tesela_status tesela__output_look(tesela__output *out, const char *path, bool only_files, tesela_error *err) {
  struct stat info;
  out->to = descriptor_of(path);
  if (only_files && (out->to >= 0 || (lstat(path, &info) == 0 && !S_ISREG(info.st_mode))))
    return tesela__fail(err, TESELA_E_UNSUPPORTED, -1, "is not a regular file, which it must be here");
  if (out->to >= 0) {
    out->stream = true;
    if (!isatty(out->to)) return TESELA_OK;
    return tesela__refuse(err, TESELA_E_IO, TESELA_REASON_PATH,
                          "is a terminal; write the data to a file or a pipe");
  }
  bool exists = stat(path, &info) == 0;
  if (!exists && (errno != ENOENT || !*path)) return tesela__output_fail(err, "");
  if (exists && S_ISDIR(info.st_mode)) {
    errno = EISDIR;
    return tesela__output_fail(err, "");
  }
  out->stream = exists && !S_ISREG(info.st_mode);
  out->replaces = exists && !out->stream;
  if (exists) {
    out->mode = info.st_mode & 07777;
    out->owner = info.st_uid;
    out->group = info.st_gid;
  }
  if (out->replaces && faccessat(AT_FDCWD, path, W_OK, AT_EACCESS) != 0)
    return tesela__output_fail(err, "is read-only and not replaced: ");
  out->path = follow_links(path, only_files ? 1 : LINKS, &out->allocator);
  return out->path ? TESELA_OK : tesela__output_fail(err, "");
}

tesela_status tesela__output_create(tesela__output **out, const char *path, int64_t bytes, char *unfinished,
                                    bool only_files, const tesela_allocator *allocator, uint8_t **data,
                                    tesela_error *err) {
  tesela__output *made = tesela__alloc(allocator, sizeof *made, alignof(tesela__output));
  *out = NULL;
  if (!made) return tesela__fail(err, TESELA_E_MEMORY, -1, "no memory");
  *made = (tesela__output){.allocator = *allocator, .to = -1, .fd = -1, .size = bytes};
  made->unfinished = unfinished ? unfinished : made->own_unfinished;
  *made->unfinished = '\0';
  tesela_status status = tesela__output_look(made, path, only_files, err);
  if (status == TESELA_OK) status = open_unfinished(made, err);
  if (status == TESELA_OK) status = make_room(made, err);
  if (status == TESELA_OK) {
    *data = made->data;
    *out = made;
  } else {
    tesela__output_close(made);
  }
  return status;
}

/* ---- finish -------------------------------------------------------------------------------------------- */

static tesela_status write_stream(tesela__output *out, tesela_error *err) {
  int fd = out->path ? open(out->path, O_WRONLY | O_CLOEXEC) : out->to;
  tesela_status status = TESELA_OK;
  if (fd < 0) return tesela__output_fail(err, "");
  for (int64_t at = 0; at < out->size && status == TESELA_OK;) {
    int64_t rest = out->size - at;
    ssize_t n = write(fd, out->data + at, rest < WRITE_BLOCK ? (size_t)rest : WRITE_BLOCK);
    if (n < 0 && errno == EINTR) continue;
    if (n < 0 && errno == EPIPE)
      status = tesela__fail(err, TESELA_E_STOPPED, -1, "the reader closed the pipe");
    else if (n < 0)
      status = tesela__output_fail(err, "");
    if (n > 0) at += n;
    if (at % (8 * WRITE_BLOCK) < n) tesela__drop_pages(out->data, out->size, false);
  }
  if (out->path && close(fd) != 0 && status == TESELA_OK) status = tesela__output_fail(err, "");
  return status;
}

tesela_status tesela__output_write(tesela__output *out, uint8_t *to, const void *bytes, int64_t n,
                                   tesela_error *err) {
  const char *from = bytes;
  for (int64_t at = to - out->data, end = at + n; at < end;) {
    const int64_t rest = end - at; /* in blocks: one call for 32 MiB took up to ten times as long, on ext4 */
    const ssize_t written = pwrite(out->fd, from, rest < WRITE_BLOCK ? (size_t)rest : WRITE_BLOCK, at);
    if (written < 0 && errno == EINTR) continue;
    if (written < 0) return tesela__output_fail(err, "");
    at += written;
    from += written;
  }
  return TESELA_OK;
}

void tesela__output_begin_sync(tesela__output *out, int64_t at, int64_t bytes) {
#ifdef SYNC_FILE_RANGE_WRITE
  if (!out->stream) (void)sync_file_range(out->fd, at, bytes, SYNC_FILE_RANGE_WRITE);
#else
  (void)out, (void)at, (void)bytes;
#endif
}

/* Keep the mode of the replaced file and, if this process may, its owner and group. If the group cannot be kept, the new
 * group gets the rights of others; if either cannot, the set-id bits are cleared. Ignored without owners or modes. */
static void keep_owner_and_mode(const tesela__output *out) {
  mode_t mode = out->mode;
  bool group = fchown(out->fd, (uid_t)-1, out->group) == 0;
  bool owner = fchown(out->fd, out->owner, (gid_t)-1) == 0;
  if (!group) mode &= (mode_t)~070 | ((mode & 07) << 3);
  if (!group || !owner) mode &= 01777;
  int kept = fchmod(out->fd, mode);
  (void)kept;
}

/* A failure is ignored for files that cannot be synced. */
static bool sync_descriptor(int fd) { return fsync(fd) == 0 || errno == EINVAL || errno == EOPNOTSUPP; }

/* Sync the rename itself to disk. A folder that can be written but not read cannot be synced. */
static tesela_status sync_folder(const tesela__output *out, tesela_error *err) {
  char folder[PATH_BYTES + 2];
  tesela_status status = TESELA_OK;
  snprintf(folder, sizeof folder, "%.*s.", folder_length(out->path), out->path);
  int fd = open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (fd < 0) return TESELA_OK;
  if (!sync_descriptor(fd)) status = tesela__output_fail(err, "is written, but its folder was not synced: ");
  close(fd);
  return status;
}

/* The record of a partial file is needed until its bytes are on the disk. */
static bool drop_record(const tesela__output *out) {
  return ftruncate(out->fd, out->end) == 0 && sync_descriptor(out->fd);
}

tesela_status tesela__output_name(tesela__output *out, tesela_error *err) {
  sigset_t before;
  int reason = 0;
  if (out->size > 0 && munmap(out->data, (size_t)out->size) != 0) reason = errno;
  out->size = 0;
  if (out->replaces) keep_owner_and_mode(out);
  if (reason == 0 && !sync_descriptor(out->fd)) reason = errno;
  if (reason == 0 && out->partial && !drop_record(out)) reason = errno;
  errno = reason;
  if (reason != 0) return tesela__output_fail(err, "");
  hold_signals(&before);
  bool done =
      (*out->unfinished || name_beside(out, out->fd, 0) >= 0) && rename(out->unfinished, out->path) == 0;
  reason = errno;
  if (done) *out->unfinished = '\0';
  pthread_sigmask(SIG_SETMASK, &before, NULL);
  errno = reason;
  return done ? sync_folder(out, err) : tesela__output_fail(err, "");
}

tesela_status tesela__output_finish(tesela__output *out, tesela_error *err) {
  return out->stream ? write_stream(out, err) : tesela__output_name(out, err);
}

void tesela__output_close(tesela__output *out) {
  if (!out) return;
  if (out->size > 0 && out->data) munmap(out->data, (size_t)out->size);
  remove_unfinished(out); /* while its lock is held */
  if (out->fd >= 0) close(out->fd);
  tesela_allocator allocator = out->allocator;
  tesela__release(&allocator, out->path);
  tesela__release(&allocator, out);
}
#endif
