/* SPDX-License-Identifier: Apache-2.0 */
/*
 * os_windows.c - system.h on Windows; files that a request names. Requests that may read one folder only are refused: Windows opens
 * no path step by step.
 */
#include "request.h"
#include "system.h"

#ifdef _WIN32
#include <errno.h>
#include <fcntl.h>
#include <io.h>
#include <malloc.h>
#include <stdlib.h>
#include <string.h>
#include <windows.h>

enum { WIDE_PATH = 4096, MOST_READ = 1 << 30 };

int64_t system_clock_ns(void) {
  LARGE_INTEGER now, second;
  QueryPerformanceCounter(&now);
  QueryPerformanceFrequency(&second);
  return now.QuadPart / second.QuadPart * 1000000000 +
         now.QuadPart % second.QuadPart * 1000000000 / second.QuadPart;
}

int64_t system_read(int fd, void *to, size_t n) {
  return _read(fd, to, n < MOST_READ ? (unsigned)n : MOST_READ);
}

int system_open(const char *path) {
  wchar_t wide[WIDE_PATH];
  errno = EINVAL;
  if (MultiByteToWideChar(CP_UTF8, MB_ERR_INVALID_CHARS, path, -1, wide, WIDE_PATH) == 0) return -1;
  return _wopen(wide, _O_RDONLY | _O_BINARY | _O_NOINHERIT);
}

void system_close(int fd) { _close(fd); }

void *system_alloc(size_t size, size_t align) { return _aligned_malloc(size, align); }
void system_free(void *memory) { _aligned_free(memory); }

/* ---- files of a request ---- */

static tesela_status refuse(tesela_request *q, const char *why) {
  return tesela_request_fail(q, TESELA_E_UNSUPPORTED, -1, "%s", why);
}

static tesela_status check_path(tesela_request *q, const tesela_value *path) {
  const char *text = tesela_value_text(path);
  if (!text || strlen(text) != path->n) return refuse(q, "the path has a NUL character");
  if (q->files_anywhere) return TESELA_OK;
  return refuse(q, q->files ? "requests cannot be kept to one folder on Windows"
                            : "cannot read or write files here");
}

tesela_status request_folder(tesela_request *q, const tesela_value *path, int *fd, const char **name) {
  (void)path, (void)name;
  *fd = -1;
  return refuse(q, "Windows has no descriptors of folders");
}

/* Bytes of the folder in a path, its last separator included. */
static size_t folder_length(const char *path) {
  size_t n = strlen(path);
  while (n > 0 && path[n - 1] != '/' && path[n - 1] != '\\') n--;
  return n;
}

tesela_status request_same_folder(tesela_request *q, const char *a, const char *b, bool *same) {
  char *in = _fullpath(NULL, tesela_value_text(tesela_request_get(q, a)), 0);
  char *out = _fullpath(NULL, tesela_value_text(tesela_request_get(q, b)), 0);
  *same = in && out && folder_length(in) == folder_length(out) && _strnicmp(in, out, folder_length(in)) == 0;
  free(in);
  free(out);
  return TESELA_OK;
}

tesela_status request_open(tesela_request *q, const tesela_value *path, int *fd) {
  tesela_status status = check_path(q, path);
  *fd = -1;
  if (status != TESELA_OK) return status;
  *fd = system_open(tesela_value_text(path));
  if (*fd >= 0) return TESELA_OK;
  return tesela_request_fail(q, TESELA_E_IO, -1, "%.120s: %s", tesela_value_text(path), strerror(errno));
}

tesela_status request_path_open(tesela_request *q, const tesela_value *value, bool write,
                                request_path *path) {
  (void)write;
  *path = (request_path){.name = tesela_value_text(value), .fd = -1};
  return check_path(q, value);
}

const char *request_path_text(const request_path *path) { return path->name; }
void request_path_close(request_path *path) { path->fd = -1; }
#endif
