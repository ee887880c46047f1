/* SPDX-License-Identifier: Apache-2.0 */
/*
 * os_posix.c - system.h on POSIX systems; files that a request names: beneath one folder, step by step, so that neither a link
 * nor `..` leads out of it.
 */
#include "request.h"
#include "system.h"

#ifndef _WIN32
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

int64_t system_clock_ns(void) {
  struct timespec now = {0, 0};
  clock_gettime(CLOCK_MONOTONIC, &now);
  return (int64_t)now.tv_sec * 1000000000 + now.tv_nsec;
}

int64_t system_read(int fd, void *to, size_t n) {
  ssize_t got;
  do got = read(fd, to, n);
  while (got < 0 && errno == EINTR);
  return got;
}

int system_open(const char *path) { return open(path, O_RDONLY | O_CLOEXEC); }
void system_close(int fd) { close(fd); }

void *system_alloc(size_t size, size_t align) {
  void *memory;
  return posix_memalign(&memory, align, size) == 0 ? memory : NULL;
}

void system_free(void *memory) { free(memory); }

/* ---- files of a request ---- */

static tesela_status refuse(tesela_request *q, const char *why) {
  return tesela_request_fail(q, TESELA_E_UNSUPPORTED, -1, "%s", why);
}

static tesela_status system_says(tesela_request *q, const char *path) {
  if (errno == ELOOP) return refuse(q, "the path has a symbolic link; links are not followed");
  return tesela_request_fail(q, TESELA_E_IO, -1, "%.120s: %s", path, strerror(errno));
}

/* Has a path `..` or an empty part? */
static bool leads_out(const char *path) {
  if (*path == '/' || *path == '\0') return true;
  for (const char *part = path; part; part = strchr(part, '/') ? strchr(part, '/') + 1 : NULL)
    if (strncmp(part, "..", 2) == 0 && (part[2] == '/' || part[2] == '\0')) return true;
  return false;
}

/* The folder of the path, from `at` on; closes `at`. -1: errno has the reason. */
static int descend(int at, const char *path, const char **name) {
  const char *slash;
  for (*name = path; at >= 0 && (slash = strchr(*name, '/')); *name = slash + 1) {
    char part[256];
    size_t n = (size_t)(slash - *name);
    int next = -1;
    if (n == 0) continue; /* a//b */
    if (n < sizeof part) {
      memcpy(part, *name, n);
      part[n] = '\0';
      next = openat(at, part, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
      if (next < 0 && errno == ENOTDIR) { /* the error of Linux for a symbolic link */
        char target[1];
        errno = readlinkat(at, part, target, sizeof target) >= 0 ? ELOOP : ENOTDIR;
      }
    } else {
      errno = ENAMETOOLONG;
    }
    int kept = errno;
    close(at);
    errno = kept;
    at = next;
  }
  return at;
}

tesela_status request_folder(tesela_request *q, const tesela_value *value, int *fd, const char **name) {
  const char *path = tesela_value_text(value);
  *fd = -1;
  if (!path || strlen(path) != value->n) return refuse(q, "the path has a NUL character");
  if (q->files_anywhere) {
    const char *slash = strrchr(path, '/');
    *name = slash ? slash + 1 : path;
    char folder[4096] = ".";
    if (slash && (size_t)(slash - path) + 1 >= sizeof folder) return refuse(q, "the path is too long");
    if (slash) memcpy(folder, path, (size_t)(slash - path) + 1);
    if (slash) folder[slash - path + 1] = '\0';
    *fd = open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    return *fd >= 0 ? TESELA_OK : system_says(q, path);
  }
  if (!q->files)
    return refuse(q, "cannot read or write files here; tesela query --files=DIR allows the files in DIR");
  if (leads_out(path)) return refuse(q, "the path leaves the folder of files");
  *fd = descend(open(q->files, O_RDONLY | O_DIRECTORY | O_CLOEXEC), path, name);
  return *fd >= 0 ? TESELA_OK : system_says(q, path);
}

static tesela_status look_at_folder(tesela_request *q, const char *field, struct stat *info) {
  const char *name;
  int fd;
  tesela_status status = request_folder(q, tesela_request_get(q, field), &fd, &name);
  if (status == TESELA_E_IO && q->files_anywhere) q->err->reason = TESELA_REASON_PATH;
  if (status != TESELA_OK) return status;
  if (fstat(fd, info) != 0) *info = (struct stat){.st_ino = 0};
  close(fd);
  return TESELA_OK;
}

tesela_status request_same_folder(tesela_request *q, const char *a, const char *b, bool *same) {
  struct stat info[2];
  tesela_status status = look_at_folder(q, a, &info[0]);
  if (status == TESELA_OK) status = look_at_folder(q, b, &info[1]);
  if (status == TESELA_OK) *same = info[0].st_dev == info[1].st_dev && info[0].st_ino == info[1].st_ino;
  return status;
}

tesela_status request_open(tesela_request *q, const tesela_value *path, int *fd) {
  const char *name;
  struct stat info = {.st_mode = 0};
  int folder;
  tesela_status status = request_folder(q, path, &folder, &name);
  *fd = -1;
  if (status != TESELA_OK) return status;
  /* Opening a pipe would wait. */
  *fd = openat(folder, name, O_RDONLY | O_CLOEXEC | (q->files_anywhere ? 0 : O_NOFOLLOW | O_NONBLOCK));
  int kept = errno;
  close(folder);
  errno = kept;
  if (*fd < 0) return system_says(q, name);
  if (q->files_anywhere || (fstat(*fd, &info) == 0 && S_ISREG(info.st_mode))) return TESELA_OK;
  close(*fd);
  *fd = -1;
  errno = EISDIR;
  return S_ISDIR(info.st_mode) ? system_says(q, name) : refuse(q, "the path is not a regular file");
}

/* ---- paths for functions that take one -------------------------------------------------------------------- */

tesela_status request_path_open(tesela_request *q, const tesela_value *value, bool write,
                                request_path *path) {
  const char *text = tesela_value_text(value), *name = "";
  struct stat info;
  *path = (request_path){.name = text, .fd = -1};
  if (q->files_anywhere && text && strlen(text) == value->n) return TESELA_OK;
  tesela_status status =
      write ? request_folder(q, value, &path->fd, &name) : request_open(q, value, &path->fd);
  if (status != TESELA_OK) return status;
  snprintf(path->text, sizeof path->text, write ? "/dev/fd/%d/%.255s" : "/dev/fd/%d", path->fd, name);
  if (!write) return TESELA_OK;
  if (strlen(name) > 255)
    errno = ENAMETOOLONG;
  else if (fstatat(path->fd, name, &info, AT_SYMLINK_NOFOLLOW) != 0)
    errno = *name ? errno : EISDIR;
  else
    errno = S_ISLNK(info.st_mode)   ? ELOOP
            : S_ISDIR(info.st_mode) ? EISDIR
            : S_ISREG(info.st_mode) ? 0
                                    : ENXIO;
  if (errno == 0 || errno == ENOENT) return TESELA_OK;
  status = errno == ENXIO ? refuse(q, "the path is not a regular file") : system_says(q, path->name);
  request_path_close(path);
  return status;
}

const char *request_path_text(const request_path *path) { return *path->text ? path->text : path->name; }

void request_path_close(request_path *path) {
  if (path->fd >= 0) close(path->fd);
  path->fd = -1;
}
#endif
