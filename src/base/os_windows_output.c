/* SPDX-License-Identifier: Apache-2.0 */
/*
 * os_windows_output.c - a file that appears complete or not at all, on Windows.
 *
 * Until the bytes are complete they have a temporary name beside the final one, in a file of the final size, so that a
 * full disk is an error before the first byte; then a rename replaces the old file, whose attributes and rights are not
 * kept.
 */
#include "base/os_windows.h"

#if TESELA__OS_WINDOWS
#include <stdio.h>

enum { PATH_BYTES = 4096, TRIES = 100 };

struct tesela__output {
  tesela_allocator allocator;
  char path[PATH_BYTES];
  HANDLE to;   /* destination of a stream; INVALID_HANDLE_VALUE: a file */
  HANDLE file; /* of the bytes */
  uint8_t *data;
  int64_t size;
  bool mapped;
  char *unfinished; /* the temporary name while it exists, else "" */
  char own_unfinished[PATH_BYTES];
};

static tesela_status fail_output(tesela_error *err, const char *what) {
  static const DWORD of_path[] = {
      ERROR_FILE_NOT_FOUND,       ERROR_PATH_NOT_FOUND, ERROR_ACCESS_DENIED, ERROR_INVALID_NAME,
      ERROR_FILENAME_EXCED_RANGE, ERROR_WRITE_PROTECT,  ERROR_BAD_PATHNAME,  ERROR_DIRECTORY,
      ERROR_INSUFFICIENT_BUFFER};
  DWORD why = GetLastError();
  for (size_t i = 0; i < sizeof of_path / sizeof of_path[0]; i++)
    if (why == of_path[i]) return tesela__windows_fail(err, why, TESELA_REASON_PATH, what);
  return tesela__windows_fail(err, why, TESELA_REASON_NONE, what);
}

/* Find the destination of the bytes. */
static tesela_status look_at_path(tesela__output *out, const char *path, bool only_files, tesela_error *err) {
  wchar_t wide[TESELA__WIDE_PATH];
  DWORD mode;
  if (strcmp(path, "-") == 0 || strcmp(path, "/dev/stdout") == 0) out->to = GetStdHandle(STD_OUTPUT_HANDLE);
  bool named = out->to == INVALID_HANDLE_VALUE && tesela__windows_path(path, wide);
  DWORD attributes = named ? GetFileAttributesW(wide) : INVALID_FILE_ATTRIBUTES;
  bool exists = attributes != INVALID_FILE_ATTRIBUTES;
  if (only_files && (out->to != INVALID_HANDLE_VALUE ||
                     (exists && (attributes & (FILE_ATTRIBUTE_DIRECTORY | FILE_ATTRIBUTE_DEVICE |
                                               FILE_ATTRIBUTE_REPARSE_POINT)))))
    return tesela__fail(err, TESELA_E_UNSUPPORTED, -1, "is not a regular file, which it must be here");
  if (out->to != INVALID_HANDLE_VALUE) {
    if (!GetConsoleMode(out->to, &mode)) return TESELA_OK;
    return tesela__refuse(err, TESELA_E_IO, TESELA_REASON_PATH,
                          "is a terminal; write the data to a file or a pipe");
  }
  if (!named || strlen(path) >= PATH_BYTES) {
    SetLastError(ERROR_INVALID_NAME);
    return fail_output(err, "");
  }
  memcpy(out->path, path, strlen(path) + 1);
  if (exists && (attributes & FILE_ATTRIBUTE_DIRECTORY))
    return tesela__refuse(err, TESELA_E_IO, TESELA_REASON_PATH, "is a folder");
  if (exists && (attributes & FILE_ATTRIBUTE_READONLY))
    return tesela__refuse(err, TESELA_E_IO, TESELA_REASON_PATH, "is read-only and not replaced");
  return TESELA_OK;
}

/* A new file with a name beside out->path, ".model.npy.1a2b3c.tesela", which is recorded. */
static HANDLE open_beside(tesela__output *out) {
  const char *slash = out->path + strlen(out->path);
  while (slash > out->path && !strchr("/\\:", slash[-1])) slash--;
  unsigned long seed = (unsigned long)tesela__clock_ns() ^ (GetCurrentProcessId() << 12);
  for (int i = 0; i < TRIES; i++, seed = seed * 69069 + 1) {
    wchar_t wide[TESELA__WIDE_PATH];
    char name[PATH_BYTES];
    int length = snprintf(name, sizeof name, "%.*s.%.200s.%06lx.tesela", (int)(slash - out->path), out->path,
                          slash, seed >> 4 & 0xffffff);
    SetLastError(ERROR_FILENAME_EXCED_RANGE);
    if (length < 0 || (size_t)length >= sizeof name || !tesela__windows_path(name, wide)) break;
    HANDLE file = CreateFileW(wide, GENERIC_READ | GENERIC_WRITE, FILE_SHARE_READ, NULL, CREATE_NEW,
                              FILE_ATTRIBUTE_NORMAL, NULL);
    if (file != INVALID_HANDLE_VALUE) memcpy(out->unfinished, name, (size_t)length + 1);
    if (file != INVALID_HANDLE_VALUE || GetLastError() != ERROR_FILE_EXISTS) return file;
  }
  return INVALID_HANDLE_VALUE;
}

/* Reserve and map `size` bytes. */
static tesela_status make_room(tesela__output *out, tesela_error *err) {
  static uint8_t nothing[1];
  char what[64];
  LARGE_INTEGER end = {.QuadPart = out->size};
  HANDLE section = NULL;
  out->data = nothing;
  if (out->size == 0) return TESELA_OK;
  if (SetFilePointerEx(out->file, end, NULL, FILE_BEGIN) && SetEndOfFile(out->file))
    section = CreateFileMappingW(out->file, NULL, PAGE_READWRITE, 0, 0, NULL);
  void *view = section ? MapViewOfFile(section, FILE_MAP_WRITE, 0, 0, 0) : NULL;
  DWORD why = GetLastError();
  if (section) CloseHandle(section); /* the view keeps it open */
  out->mapped = view != NULL;
  if (view) out->data = view;
  if (view) return TESELA_OK;
  snprintf(what, sizeof what, "no space for %" PRId64 " bytes: ", out->size);
  return tesela__windows_fail(err, why, TESELA_REASON_NONE, what);
}

tesela_status tesela__output_create(tesela__output **out, const char *path, int64_t bytes, char *unfinished,
                                    bool only_files, const tesela_allocator *allocator, uint8_t **data,
                                    tesela_error *err) {
  tesela__output *made = tesela__alloc(allocator, sizeof *made, alignof(tesela__output));
  *out = NULL;
  if (!made) return tesela__fail(err, TESELA_E_MEMORY, -1, "no memory");
  memset(made, 0, sizeof *made);
  made->allocator = *allocator;
  made->to = made->file = INVALID_HANDLE_VALUE;
  made->size = bytes;
  made->unfinished = unfinished ? unfinished : made->own_unfinished;
  *made->unfinished = '\0';
  tesela_status status = look_at_path(made, path, only_files, err);
  if (status == TESELA_OK) {
    made->file = made->to == INVALID_HANDLE_VALUE ? open_beside(made) : tesela__windows_unnamed();
    if (made->file == INVALID_HANDLE_VALUE) status = fail_output(err, "");
  }
  if (status == TESELA_OK) status = make_room(made, err);
  if (status == TESELA_OK) {
    *data = made->data;
    *out = made;
  } else {
    tesela__output_close(made);
  }
  return status;
}

static tesela_status write_stream(tesela__output *out, tesela_error *err) {
  if (tesela__windows_write(out->to, out->data, out->size)) return TESELA_OK;
  if (GetLastError() == ERROR_BROKEN_PIPE || GetLastError() == ERROR_NO_DATA)
    return tesela__fail(err, TESELA_E_STOPPED, -1, "the reader closed the pipe");
  return fail_output(err, "");
}

tesela_status tesela__output_finish(tesela__output *out, tesela_error *err) {
  wchar_t from[TESELA__WIDE_PATH], to[TESELA__WIDE_PATH];
  if (out->to != INVALID_HANDLE_VALUE) return write_stream(out, err);
  if (out->mapped && !UnmapViewOfFile(out->data)) return fail_output(err, "");
  out->mapped = false;
  if (!FlushFileBuffers(out->file)) return fail_output(err, "");
  CloseHandle(out->file);
  out->file = INVALID_HANDLE_VALUE;
  if (!tesela__windows_path(out->unfinished, from) || !tesela__windows_path(out->path, to) ||
      !MoveFileExW(from, to, MOVEFILE_REPLACE_EXISTING | MOVEFILE_WRITE_THROUGH))
    return fail_output(err, "");
  *out->unfinished = '\0';
  return TESELA_OK;
}

void tesela__output_close(tesela__output *out) {
  wchar_t wide[TESELA__WIDE_PATH];
  if (!out) return;
  if (out->mapped) UnmapViewOfFile(out->data);
  if (out->file != INVALID_HANDLE_VALUE) CloseHandle(out->file);
  if (*out->unfinished && tesela__windows_path(out->unfinished, wide)) DeleteFileW(wide);
  *out->unfinished = '\0';
  tesela_allocator allocator = out->allocator;
  tesela__release(&allocator, out);
}
#endif
