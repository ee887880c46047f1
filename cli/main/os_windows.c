/* SPDX-License-Identifier: Apache-2.0 */
/*
 * os_windows.c - process.h on Windows, which has no SIGPIPE and no SIGBUS.
 */
#include "main/process.h"

#ifdef _WIN32
#include <errno.h>
#include <fcntl.h>
#include <io.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <windows.h>

enum { WIDE_PATH = 4096 };

/* ---- streams ---- */

void process_begin(void) {
  FILE *const streams[] = {stdin, stdout, stderr};
  for (size_t i = 0; i < sizeof streams / sizeof streams[0]; i++)
    if (_fileno(streams[i]) >= 0) _setmode(_fileno(streams[i]), _O_BINARY);
}

bool process_reader_left(void) { return false; }
int process_close_stdout(void) { return _close(_fileno(stdout)) == 0 ? 0 : errno; }
void process_end_by_pipe(void) {}

void process_leave(const char *message, size_t length, int status) {
  (void)_write(_fileno(stderr), message, (unsigned)length);
  _exit(status);
}

bool process_is_terminal(FILE *file) {
  DWORD mode;
  return GetConsoleMode((HANDLE)_get_osfhandle(_fileno(file)), &mode);
}

int process_terminal_width(FILE *file) {
  CONSOLE_SCREEN_BUFFER_INFO info;
  if (!GetConsoleScreenBufferInfo((HANDLE)_get_osfhandle(_fileno(file)), &info)) return 0;
  return info.srWindow.Right - info.srWindow.Left + 1;
}

bool process_text_begin(process_text *text) {
  text->file = tmpfile();
  return text->file != NULL;
}

char *process_text_end(process_text *text) {
  bool whole = fflush(text->file) == 0 && !ferror(text->file);
  long length = ftell(text->file);
  char *read = whole && length >= 0 ? malloc((size_t)length + 1) : NULL;
  rewind(text->file);
  if (read) {
    text->length = fread(read, 1, (size_t)length, text->file);
    read[text->length] = '\0';
  }
  fclose(text->file);
  return text->text = read;
}

/* ---- signals ---- */

void process_on_stop(void (*handler)(int number)) {
  signal(SIGINT, handler);
  signal(SIGTERM, handler);
  signal(SIGBREAK, handler);
}

void process_end_by(int number) {
  signal(number, SIG_DFL);
  raise(number);
}

void process_on_lost_page(void (*handler)(int number)) { (void)handler; }
void process_ignore_size_limit(void) {}

/* ---- paths ---- */

static bool wide_of(const char *path, wchar_t wide[WIDE_PATH]) {
  errno = EINVAL;
  return MultiByteToWideChar(CP_UTF8, MB_ERR_INVALID_CHARS, path, -1, wide, WIDE_PATH) > 0;
}

static DWORD attributes_of(const char *path) {
  wchar_t wide[WIDE_PATH];
  DWORD attributes = wide_of(path, wide) ? GetFileAttributesW(wide) : INVALID_FILE_ATTRIBUTES;
  if (attributes == INVALID_FILE_ATTRIBUTES) errno = ENOENT;
  return attributes;
}

process_path process_path_kind(const char *path) {
  DWORD attributes = attributes_of(path);
  if (attributes == INVALID_FILE_ATTRIBUTES) return PROCESS_ABSENT;
  if (attributes & FILE_ATTRIBUTE_DEVICE) return PROCESS_OTHER;
  return attributes & FILE_ATTRIBUTE_DIRECTORY ? PROCESS_FOLDER : PROCESS_FILE;
}

bool process_is_link(const char *path) {
  DWORD attributes = attributes_of(path);
  return attributes != INVALID_FILE_ATTRIBUTES && (attributes & FILE_ATTRIBUTE_REPARSE_POINT);
}

void process_remove(const char *path) {
  wchar_t wide[WIDE_PATH];
  if (wide_of(path, wide)) DeleteFileW(wide);
}

bool process_each_name(const char *folder, bool (*each)(void *user, const char *name), void *user,
                       bool *opened) {
  wchar_t wide[WIDE_PATH];
  WIN32_FIND_DATAW found;
  char name[sizeof found.cFileName * 2];
  bool going_on = true;
  *opened = false;
  if (!wide_of(folder, wide) || wcslen(wide) + 3 > WIDE_PATH) return true;
  memcpy(wide + wcslen(wide), L"\\*", 3 * sizeof *wide);
  HANDLE search = FindFirstFileW(wide, &found);
  errno = ENOENT;
  *opened = search != INVALID_HANDLE_VALUE;
  if (!*opened) return true;
  do {
    WideCharToMultiByte(CP_UTF8, 0, found.cFileName, -1, name, sizeof name, NULL, NULL);
    if (strcmp(name, ".") != 0 && strcmp(name, "..") != 0) going_on = each(user, name);
  } while (going_on && FindNextFileW(search, &found));
  FindClose(search);
  return going_on;
}
#endif
