/* SPDX-License-Identifier: Apache-2.0 */
/*
 * os_posix_partial.c - an output that survives the process: a partial file beside the final one, with a record after
 * its bytes.
 *
 *   .model.safetensors.partial.tesela      the bytes of the output, then the record
 *
 * The record is text that the caller adds line by line; a line is written only after the bytes that it describes are on
 * the disk. A lock excludes a second process, and ends with the process that has it.
 */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE 1
#endif
#include "base/os_posix.h"

#if TESELA__OS_POSIX
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

enum { PARTIAL_TRIES = 100, PARTIAL_FIRST = 256 };

/* Make the partial name, in out->own_unfinished. */
static bool partial_name(tesela__output *out) {
  const char *slash = strrchr(out->path, '/');
  const int folder = slash ? (int)(slash + 1 - out->path) : 0;
  const int length = snprintf(out->own_unfinished, sizeof out->own_unfinished, "%.*s.%s.partial.tesela",
                              folder, out->path, out->path + folder);
  out->unfinished = out->own_unfinished;
  return length > 0 && (size_t)length < sizeof out->own_unfinished;
}

/* Open and lock the partial file; tries again if the name belongs to another file after the lock. */
static tesela_status partial_lock(tesela__output *out, int flags, tesela_error *err) {
  struct stat opened, named;
  for (int i = 0; i < PARTIAL_TRIES; i++) {
    out->fd = open(out->unfinished, O_RDWR | O_NOFOLLOW | O_CLOEXEC | O_NONBLOCK | flags,
                   out->replaces ? 0600 : 0666);
    if (out->fd < 0) return tesela__output_fail(err, "its partial file: ");
    if (fstat(out->fd, &opened) != 0) return tesela__output_fail(err, "its partial file: ");
    if (!S_ISREG(opened.st_mode) || opened.st_nlink > 1 || opened.st_uid != geteuid())
      return tesela__fail(err, TESELA_E_IO, -1, "its partial file %.200s is not a file of this user alone",
                          out->unfinished);
    if (flock(out->fd, LOCK_EX | LOCK_NB) != 0) {
      if (errno != EWOULDBLOCK) return tesela__output_fail(err, "its partial file cannot be locked: ");
      return tesela__fail(err, TESELA_E_IO, -1, "another process is writing its partial file %.200s",
                          out->unfinished);
    }
    if (lstat(out->unfinished, &named) == 0 && named.st_ino == opened.st_ino && named.st_dev == opened.st_dev)
      return TESELA_OK;
    close(out->fd);
    out->fd = -1;
  }
  return tesela__fail(err, TESELA_E_IO, -1, "other processes rename and remove its partial file");
}

static tesela_status partial_new(tesela__output **out, const char *path, int64_t bytes, bool only_files,
                                 const tesela_allocator *allocator, int flags, tesela_error *err) {
  static uint8_t nothing[1];
  tesela__output *made = tesela__alloc(allocator, sizeof *made, alignof(tesela__output));
  *out = NULL;
  if (!made) return tesela__fail(err, TESELA_E_MEMORY, -1, "no memory");
  *made = (tesela__output){.allocator = *allocator,
                           .to = -1,
                           .fd = -1,
                           .partial = true,
                           .stays = true,
                           .end = bytes,
                           .data = nothing};
  made->unfinished = made->own_unfinished;
  tesela_status status = tesela__output_look(made, path, only_files, err);
  if (status == TESELA_OK && made->stream)
    status = tesela__fail(err, TESELA_E_UNSUPPORTED, -1, "is not a file that can be written in parts");
  if (status == TESELA_OK && !partial_name(made)) {
    errno = ENAMETOOLONG;
    status = tesela__output_fail(err, "");
  }
  if (status == TESELA_OK) status = partial_lock(made, flags, err);
  if (status == TESELA_OK)
    *out = made;
  else
    tesela__output_close(made);
  return status;
}

int64_t tesela__partial_recall(const tesela__output *out, int64_t at, char *text, int64_t length) {
  int64_t n = 0;
  while (n < length) {
    ssize_t got = pread(out->fd, text + n, (size_t)(length - n), out->end + at + n);
    if (got < 0 && errno == EINTR) continue;
    if (got <= 0) break;
    n += got;
  }
  return n;
}

static bool partial_write(const tesela__output *out, int64_t at, const char *text, int64_t length) {
  while (length > 0) {
    ssize_t n = pwrite(out->fd, text, (size_t)length, out->end + at);
    if (n < 0 && errno == EINTR) continue;
    if (n < 0) return false;
    text += n;
    at += n;
    length -= n;
  }
  return true;
}

/* Sync the written bytes of the mapping, and the file's size, to the disk. The pages are dropped first: during a sync the
 * system write-protects each page that the process maps, which takes longer than the copy did. */
static bool partial_sync(const tesela__output *out) {
  tesela__drop_pages(out->data, out->size, true);
  if (out->size > 0 && msync(out->data, (size_t)out->size, MS_SYNC) != 0) return false;
  return fsync(out->fd) == 0 || errno == EINVAL || errno == EOPNOTSUPP;
}

tesela_status tesela__partial_note(tesela__output *out, int64_t at, const char *text, int64_t length,
                                   tesela_error *err) {
  const bool done = partial_sync(out) && ftruncate(out->fd, out->end + at) == 0 &&
                    partial_write(out, at, text, length) && (length > 0 || partial_sync(out));
  return done ? TESELA_OK : tesela__output_fail(err, "its partial file: ");
}

tesela_status tesela__partial_create(tesela__output **out, const char *path, int64_t bytes, const char *first,
                                     bool only_files, const tesela_allocator *allocator, uint8_t **data,
                                     bool *continued, tesela_error *err) {
  char found[PARTIAL_FIRST];
  tesela__output *made;
  const int64_t length = first ? (int64_t)strlen(first) : 0;
  *out = NULL;
  tesela_status status = partial_new(&made, path, bytes, only_files, allocator, O_CREAT, err);
  if (status != TESELA_OK) return status;
  *continued = first && length <= PARTIAL_FIRST && tesela__partial_recall(made, 0, found, length) == length &&
               memcmp(found, first, (size_t)length) == 0;
  made->stays = first != NULL;
  made->size = bytes;
  if (!*continued && ftruncate(made->fd, 0) != 0) status = tesela__output_fail(err, "its partial file: ");
  if (status == TESELA_OK) status = tesela__output_room(made, err);
  if (status == TESELA_OK && first && !*continued) status = tesela__partial_note(made, 0, first, length, err);
  *data = made->data;
  if (status == TESELA_OK)
    *out = made;
  else
    tesela__output_close(made);
  return status;
}

tesela_status tesela__partial_hold(tesela__output *out, tesela_error *err) {
  if (!partial_sync(out)) return tesela__output_fail(err, "");
  out->stays = true;
  return TESELA_OK;
}

tesela_status tesela__partial_open(tesela__output **out, const char *path, int64_t bytes, bool removes,
                                   bool only_files, const tesela_allocator *allocator, tesela_error *err) {
  struct stat info;
  tesela_status status = partial_new(out, path, bytes, only_files, allocator, 0, err);
  if (status != TESELA_OK) return status;
  if (fstat((*out)->fd, &info) != 0 || info.st_size < bytes)
    status = tesela__fail(err, TESELA_E_IO, -1, "its partial file is truncated");
  (*out)->stays = !removes;
  if (status == TESELA_OK) return TESELA_OK;
  tesela__output_close(*out);
  *out = NULL;
  return status;
}

tesela_status tesela__output_reread(tesela__output *out, tesela_error *err) {
  if (out->size > 0 && !partial_sync(out)) return tesela__output_fail(err, "");
  tesela__drop_pages(out->data, out->size, false);
#ifdef POSIX_FADV_DONTNEED
  (void)posix_fadvise(out->fd, 0, 0, POSIX_FADV_DONTNEED);
#endif
  return TESELA_OK;
}
#endif
