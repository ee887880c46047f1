/* SPDX-License-Identifier: Apache-2.0 */
/*
 * os_windows_file.c - map the bytes of a file or a pipe; paths, errors and files without a name on
 * Windows.
 */
#include "base/os_windows.h"

#if TESELA__OS_WINDOWS
enum { STREAM_BLOCK = 256 * 1024, WRITE_BLOCK = 1 << 20 };

tesela_status tesela__windows_fail(tesela_error *err, DWORD why, tesela_reason reason, const char *what) {
  static const DWORD of_memory[] = {ERROR_NOT_ENOUGH_MEMORY, ERROR_OUTOFMEMORY, ERROR_COMMITMENT_LIMIT};
  tesela_status status = TESELA_E_IO;
  wchar_t wide[256];
  char text[sizeof wide / sizeof wide[0] * 3 + 1];
  for (size_t i = 0; i < sizeof of_memory / sizeof of_memory[0]; i++)
    if (why == of_memory[i]) status = TESELA_E_MEMORY;
  DWORD length = FormatMessageW(FORMAT_MESSAGE_FROM_SYSTEM | FORMAT_MESSAGE_IGNORE_INSERTS, NULL, why, 0,
                                wide, sizeof wide / sizeof wide[0], NULL);
  while (length > 0 && (wide[length - 1] <= L' ' || wide[length - 1] == L'.')) length--;
  int n = WideCharToMultiByte(CP_UTF8, 0, wide, (int)length, text, sizeof text - 1, NULL, NULL);
  text[n] = '\0';
  if (n > 0) return tesela__refuse(err, status, reason, "%s%s", what, text);
  return tesela__refuse(err, status, reason, "%serror %lu of Windows", what, (unsigned long)why);
}

bool tesela__windows_path(const char *path, wchar_t wide[TESELA__WIDE_PATH]) {
  return MultiByteToWideChar(CP_UTF8, MB_ERR_INVALID_CHARS, path, -1, wide, TESELA__WIDE_PATH) > 0;
}

HANDLE tesela__windows_unnamed(void) {
  wchar_t folder[TESELA__WIDE_PATH - 64], path[TESELA__WIDE_PATH];
  DWORD n = GetTempPathW(sizeof folder / sizeof folder[0], folder);
  if (n == 0 || n >= sizeof folder / sizeof folder[0] || GetTempFileNameW(folder, L"tsl", 0, path) == 0)
    return INVALID_HANDLE_VALUE;
  return CreateFileW(path, GENERIC_READ | GENERIC_WRITE | DELETE, 0, NULL, CREATE_ALWAYS,
                     FILE_ATTRIBUTE_TEMPORARY | FILE_FLAG_DELETE_ON_CLOSE, NULL);
}

bool tesela__windows_write(HANDLE to, const uint8_t *data, int64_t bytes) {
  for (int64_t at = 0; at < bytes;) {
    DWORD n = 0;
    if (!WriteFile(to, data + at, (DWORD)tesela__min(bytes - at, WRITE_BLOCK), &n, NULL)) return false;
    at += n;
  }
  return true;
}

/* Copy all bytes of `from` to `to`. Windows reports the end of a pipe as an error. */
static tesela_status copy_stream(HANDLE from, HANDLE to, uint8_t *block, tesela_error *err) {
  for (;;) {
    DWORD n = 0;
    if (!ReadFile(from, block, STREAM_BLOCK, &n, NULL) && GetLastError() != ERROR_BROKEN_PIPE)
      return tesela__windows_fail(err, GetLastError(), TESELA_REASON_PATH, "");
    if (n == 0) return TESELA_OK;
    if (!tesela__windows_write(to, block, n))
      return tesela__windows_fail(err, GetLastError(), TESELA_REASON_NONE,
                                  "no space for a temporary file (TMP sets its folder): ");
  }
}

/* Copy all bytes of `from` to an unnamed file. */
static tesela_status keep_stream(HANDLE from, HANDLE *kept, const tesela_allocator *allocator,
                                 tesela_error *err) {
  uint8_t *block = tesela__alloc(allocator, STREAM_BLOCK, 1);
  if (!block) return tesela__fail(err, TESELA_E_MEMORY, -1, "no memory to read a stream");
  HANDLE file = tesela__windows_unnamed();
  tesela_status status = file == INVALID_HANDLE_VALUE
                             ? tesela__windows_fail(err, GetLastError(), TESELA_REASON_NONE,
                                                    "no temporary file (TMP sets its folder): ")
                             : copy_stream(from, file, block, err);
  tesela__release(allocator, block);
  if (status != TESELA_OK && file != INVALID_HANDLE_VALUE) CloseHandle(file);
  *kept = file;
  return status;
}

static tesela_status map_file(tesela__mapping *mapping, HANDLE file, tesela_error *err) {
  LARGE_INTEGER size;
  if (!GetFileSizeEx(file, &size)) return tesela__windows_fail(err, GetLastError(), TESELA_REASON_PATH, "");
  *mapping = (tesela__mapping){NULL, size.QuadPart, (intptr_t)file};
  if (size.QuadPart == 0) return TESELA_OK;
  HANDLE section = CreateFileMappingW(file, NULL, PAGE_READONLY, 0, 0, NULL);
  if (section) mapping->data = MapViewOfFile(section, FILE_MAP_READ, 0, 0, 0);
  DWORD why = GetLastError();
  if (section) CloseHandle(section); /* the view keeps it open */
  if (!mapping->data) return tesela__windows_fail(err, why, TESELA_REASON_NONE, "cannot be mapped: ");
  return TESELA_OK;
}

static bool is_at_start(HANDLE file) {
  LARGE_INTEGER none = {.QuadPart = 0}, at;
  return SetFilePointerEx(file, none, &at, FILE_CURRENT) && at.QuadPart == 0;
}

tesela_status tesela__mapping_open(tesela__mapping *mapping, const char *path,
                                   const tesela_allocator *allocator, tesela_error *err) {
  bool standard = strcmp(path, "-") == 0;
  HANDLE from = GetStdHandle(STD_INPUT_HANDLE), file;
  wchar_t wide[TESELA__WIDE_PATH];
  tesela_status status = TESELA_OK;
  *mapping = (tesela__mapping){NULL, 0, (intptr_t)INVALID_HANDLE_VALUE};
  if (!standard) {
    if (!tesela__windows_path(path, wide))
      return tesela__windows_fail(err, GetLastError(), TESELA_REASON_PATH, "");
    DWORD attributes = GetFileAttributesW(wide);
    if (attributes != INVALID_FILE_ATTRIBUTES && (attributes & FILE_ATTRIBUTE_DIRECTORY))
      return tesela__refuse(err, TESELA_E_IO, TESELA_REASON_PATH, "is a folder");
    from = CreateFileW(wide, GENERIC_READ, FILE_SHARE_READ | FILE_SHARE_WRITE | FILE_SHARE_DELETE, NULL,
                       OPEN_EXISTING, FILE_ATTRIBUTE_NORMAL, NULL);
  }
  if (from == INVALID_HANDLE_VALUE || !from)
    return tesela__windows_fail(err, GetLastError(), TESELA_REASON_PATH, "");
  file = from;
  if (GetFileType(from) != FILE_TYPE_DISK || !is_at_start(from))
    status = keep_stream(from, &file, allocator, err);
  if (status == TESELA_OK) {
    status = map_file(mapping, file, err);
    if (status != TESELA_OK && file != from) CloseHandle(file);
  }
  if (!standard && (file != from || status != TESELA_OK)) CloseHandle(from);
  if (status != TESELA_OK) *mapping = (tesela__mapping){NULL, 0, (intptr_t)INVALID_HANDLE_VALUE};
  return status;
}

tesela_status tesela__mapping_read(const tesela__mapping *mapping, int64_t at, void *to, int64_t n,
                                   tesela_error *err) {
  for (char *next = to; n > 0;) {
    OVERLAPPED place = {.Offset = (DWORD)at, .OffsetHigh = (DWORD)(at >> 32)};
    DWORD got = 0;
    if (!ReadFile((HANDLE)mapping->handle, next, (DWORD)tesela__min(n, WRITE_BLOCK), &got, &place) &&
        GetLastError() != ERROR_HANDLE_EOF)
      return tesela__windows_fail(err, GetLastError(), TESELA_REASON_NONE, "the source cannot be read: ");
    if (got == 0) return tesela__mapping_short(mapping, at, err);
    next += got;
    at += got;
    n -= got;
  }
  return TESELA_OK;
}

void tesela__mapping_close(tesela__mapping *mapping) {
  HANDLE file = (HANDLE)mapping->handle;
  if (mapping->data) UnmapViewOfFile(mapping->data);
  if (file != INVALID_HANDLE_VALUE && file != GetStdHandle(STD_INPUT_HANDLE)) CloseHandle(file);
  *mapping = (tesela__mapping){NULL, 0, (intptr_t)INVALID_HANDLE_VALUE};
}
#endif
