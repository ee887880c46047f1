/* SPDX-License-Identifier: Apache-2.0 */
/*
 * os_posix_file.c - map the bytes of a file or a pipe; files without a name.
 */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE 1 /* O_TMPFILE */
#endif
#include "base/os_posix.h"

#if TESELA__OS_POSIX
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

enum { STREAM_BLOCK = 256 * 1024, UNNAMED_PATH = 4096 };

tesela_status tesela__os_fail(tesela_error *err, tesela_reason reason, const char *what) {
  int why = errno;
  tesela_status status =
      tesela__refuse(err, why == ENOMEM ? TESELA_E_MEMORY : TESELA_E_IO, reason, "%s%s", what, strerror(why));
  errno = why;
  return status;
}

tesela_status tesela__os_fail_map(tesela_error *err, int64_t bytes) {
  struct rlimit limit;
  if (errno != ENOMEM) return tesela__os_fail(err, TESELA_REASON_NONE, "cannot be mapped: ");
  if (getrlimit(RLIMIT_AS, &limit) != 0 || limit.rlim_cur == RLIM_INFINITY)
    return tesela__fail(err, TESELA_E_MEMORY, -1,
                        "the system has no addresses to map its %" PRId64
                        " bytes (vm.overcommit_memory, vm.max_map_count)",
                        bytes);
  return tesela__fail(err, TESELA_E_MEMORY, -1,
                      "its %" PRId64
                      " bytes cannot be mapped: the addresses of this process are limited to %" PRIu64
                      " bytes (ulimit -v)",
                      bytes, (uint64_t)limit.rlim_cur);
}

int tesela__os_unnamed(void) {
  const char *folder = getenv("TMPDIR");
  char path[UNNAMED_PATH];
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

/* Copy all bytes of `from` to `fd`. */
static tesela_status copy_stream(int from, int fd, char *block, tesela_error *err) {
  for (;;) {
    ssize_t n = read(from, block, STREAM_BLOCK);
    if (n < 0 && errno == EINTR) continue;
    if (n < 0) return tesela__os_fail(err, TESELA_REASON_PATH, "");
    if (n == 0) return TESELA_OK;
    if (!write_all(fd, block, (size_t)n))
      return tesela__os_fail(err, TESELA_REASON_NONE,
                             "no space for a temporary file (TMPDIR sets its folder): ");
  }
}

/* Copy all bytes of `from` to an unnamed file. */
static tesela_status keep_stream(int from, int *kept, const tesela_allocator *allocator, tesela_error *err) {
  char *block = tesela__alloc(allocator, STREAM_BLOCK, 1);
  if (!block) return tesela__fail(err, TESELA_E_MEMORY, -1, "no memory to read a stream");
  int fd = tesela__os_unnamed();
  tesela_status status =
      fd < 0 ? tesela__os_fail(err, TESELA_REASON_NONE, "no temporary file (TMPDIR sets its folder): ")
             : copy_stream(from, fd, block, err);
  tesela__release(allocator, block);
  if (status != TESELA_OK && fd >= 0) close(fd);
  *kept = fd;
  return status;
}

static tesela_status map_descriptor(tesela__mapping *mapping, int fd, tesela_error *err) {
  struct stat info;
  if (fstat(fd, &info) != 0) return tesela__os_fail(err, TESELA_REASON_PATH, "");
  *mapping = (tesela__mapping){NULL, info.st_size, fd};
  if (info.st_size == 0) return TESELA_OK;
  void *memory = mmap(NULL, (size_t)info.st_size, PROT_READ, MAP_SHARED, fd, 0);
  if (memory == MAP_FAILED) return tesela__os_fail_map(err, info.st_size);
  mapping->data = memory;
  return TESELA_OK;
}

tesela_status tesela__mapping_open(tesela__mapping *mapping, const char *path,
                                   const tesela_allocator *allocator, tesela_error *err) {
  bool standard = strcmp(path, "-") == 0;
  struct stat info;
  int from = standard ? STDIN_FILENO : open(path, O_RDONLY | O_CLOEXEC), fd = from;
  tesela_status status = TESELA_OK;
  *mapping = (tesela__mapping){NULL, 0, -1};
  if (from < 0) return tesela__os_fail(err, TESELA_REASON_PATH, "");
  if (fstat(from, &info) != 0)
    status = tesela__os_fail(err, TESELA_REASON_PATH, "");
  else if (S_ISDIR(info.st_mode))
    status = tesela__refuse(err, TESELA_E_IO, TESELA_REASON_PATH, "is a folder");
  else if (!S_ISREG(info.st_mode) || lseek(from, 0, SEEK_CUR) != 0)
    status = keep_stream(from, &fd, allocator, err);
  if (status == TESELA_OK) {
    status = map_descriptor(mapping, fd, err);
    if (status != TESELA_OK && fd != from) close(fd);
  }
  if (!standard && (fd != from || status != TESELA_OK)) close(from);
  return status;
}

tesela_status tesela__mapping_read(const tesela__mapping *mapping, int64_t at, void *to, int64_t n,
                                   tesela_error *err) {
  for (char *next = to; n > 0;) {
    const ssize_t got = pread((int)mapping->handle, next, (size_t)n, at);
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) return tesela__os_fail(err, TESELA_REASON_NONE, "the source cannot be read: ");
    if (got == 0) return tesela__mapping_short(mapping, at, err);
    next += got;
    at += got;
    n -= got;
  }
  return TESELA_OK;
}

void tesela__mapping_close(tesela__mapping *mapping) {
  if (mapping->data) munmap((void *)(uintptr_t)mapping->data, (size_t)mapping->bytes);
  if (mapping->handle > STDERR_FILENO) close((int)mapping->handle);
  *mapping = (tesela__mapping){NULL, 0, -1};
}
#endif
