/* SPDX-License-Identifier: Apache-2.0 */
/*
 * process.h - what the command needs from the operating system: streams, signals, a terminal, paths. Only os_*.c know the system.
 */
#ifndef TESELA_CLI_PROCESS_H
#define TESELA_CLI_PROCESS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

enum { PROCESS_STDIN, PROCESS_STDOUT }; /* descriptors */

/* ---- streams ---- */

/* First of all: a closed standard stream fails when it is used and does not become the next file that is opened; streams have
 * the bytes that are written; a reader that leaves is an error, not a signal. */
void process_begin(void);

/* Has the reader of stdout left? */
bool process_reader_left(void);

/* 0, or the errno: some file systems report only now that they are full. */
int process_close_stdout(void);

/* End as a process does whose reader left, if this one is to: it returns otherwise. */
void process_end_by_pipe(void);

/* End now, with a message on stderr, from a handler. */
void process_leave(const char *message, size_t length, int status);

bool process_is_terminal(FILE *file);
int process_terminal_width(FILE *file); /* 0: unknown */

/* A text of any length by fprintf. NULL without memory; process_text_end returns the text, which the caller frees, or NULL. */
typedef struct process_text {
  FILE *file;
  char *text;
  size_t length;
} process_text;
bool process_text_begin(process_text *text);
char *process_text_end(process_text *text);

/* ---- signals ---- */

/* What asks this process to end (interrupt, terminate, hang up) calls the handler, unless it was ignored. */
void process_on_stop(void (*handler)(int number));
/* End by that signal, as the parent process expects. */
void process_end_by(int number);
/* A page of a mapped file cannot be read; and a file beyond the limit of this process becomes an error. */
void process_on_lost_page(void (*handler)(int number));
void process_ignore_size_limit(void);

/* ---- paths ---- */

typedef enum process_path {
  PROCESS_ABSENT, /* errno says why */
  PROCESS_FILE,
  PROCESS_FOLDER,
  PROCESS_OTHER,
} process_path;
process_path process_path_kind(const char *path);
bool process_is_link(const char *path);
void process_remove(const char *path);

/* Call each(user, name) for the names in a folder but "." and "..", in any order, until it returns false. Returns what each
 * returned last; *opened is false, and errno says why, if the folder cannot be read. */
bool process_each_name(const char *folder, bool (*each)(void *user, const char *name), void *user,
                       bool *opened);

#endif
