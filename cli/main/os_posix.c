/* SPDX-License-Identifier: Apache-2.0 */
/*
 * os_posix.c - process.h on POSIX systems.
 */
#include "main/process.h"

#ifndef _WIN32
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <unistd.h>

/* ---- streams ---- */

static bool pipes_kill;

void process_begin(void) {
  static const int flags[] = {O_WRONLY, O_RDONLY,
                              O_WRONLY}; /* a stream of the other direction, which fails */
  for (int fd = 0; fd < 3; fd++)
    if (fcntl(fd, F_GETFD) == -1 && errno == EBADF && open("/dev/null", flags[fd]) != fd) _exit(3);
  pipes_kill = signal(SIGPIPE, SIG_IGN) == SIG_DFL;
}

bool process_reader_left(void) {
  struct pollfd poll_fd = {.fd = STDOUT_FILENO, .events = POLLOUT};
  return poll(&poll_fd, 1, 0) == 1 && (poll_fd.revents & POLLERR);
}

int process_close_stdout(void) { return close(STDOUT_FILENO) == 0 ? 0 : errno; }

void process_end_by_pipe(void) {
  if (pipes_kill) process_end_by(SIGPIPE);
}

void process_leave(const char *message, size_t length, int status) {
  ssize_t n = write(STDERR_FILENO, message, length);
  (void)n; /* a failure of this write cannot be reported */
  _exit(status);
}

bool process_is_terminal(FILE *file) { return isatty(fileno(file)) == 1; }

int process_terminal_width(FILE *file) {
  struct winsize size;
  return ioctl(fileno(file), TIOCGWINSZ, &size) == 0 ? size.ws_col : 0;
}

bool process_text_begin(process_text *text) {
  text->file = open_memstream(&text->text, &text->length);
  return text->file != NULL;
}

char *process_text_end(process_text *text) {
  bool whole = !ferror(text->file);
  whole = fclose(text->file) == 0 && text->text && whole;
  if (whole) return text->text;
  free(text->text);
  return NULL;
}

/* ---- signals ---- */

void process_on_stop(void (*handler)(int number)) {
  static const int stop_signals[] = {SIGINT, SIGTERM, SIGHUP};
  for (size_t i = 0; i < sizeof stop_signals / sizeof stop_signals[0]; i++) {
    struct sigaction old, action = {.sa_handler = handler};
    sigemptyset(&action.sa_mask);
    if (sigaction(stop_signals[i], NULL, &old) == 0 && old.sa_handler != SIG_IGN)
      sigaction(stop_signals[i], &action, NULL);
  }
}

void process_end_by(int number) {
  signal(number, SIG_DFL);
  raise(number);
}

void process_on_lost_page(void (*handler)(int number)) {
  struct sigaction action = {.sa_handler = handler};
  sigemptyset(&action.sa_mask);
  sigaction(SIGBUS, &action, NULL);
}

void process_ignore_size_limit(void) { signal(SIGXFSZ, SIG_IGN); }

/* ---- paths ---- */

process_path process_path_kind(const char *path) {
  struct stat info;
  if (stat(path, &info) != 0) return PROCESS_ABSENT;
  return S_ISDIR(info.st_mode) ? PROCESS_FOLDER : S_ISREG(info.st_mode) ? PROCESS_FILE : PROCESS_OTHER;
}

bool process_is_link(const char *path) {
  struct stat info;
  return lstat(path, &info) == 0 && S_ISLNK(info.st_mode);
}

void process_remove(const char *path) { unlink(path); }

bool process_each_name(const char *folder, bool (*each)(void *user, const char *name), void *user,
                       bool *opened) {
  DIR *dir = opendir(folder);
  bool going_on = true;
  *opened = dir != NULL;
  if (!dir) return true;
  for (struct dirent *entry; going_on && (entry = readdir(dir));)
    if (strcmp(entry->d_name, ".") != 0 && strcmp(entry->d_name, "..") != 0)
      going_on = each(user, entry->d_name);
  closedir(dir);
  return going_on;
}
#endif
