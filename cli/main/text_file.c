/* SPDX-License-Identifier: Apache-2.0 */
/* text_file.c - reads whole text files. */
#include "main/text_file.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "main/say.h"

enum { FIRST_BYTES = 1 << 16 };

/* The rest of a stream, up to limit + 1 bytes, and a NUL; NULL without memory. */
static char *text_file_all(FILE *file, size_t limit, size_t *length) {
  size_t capacity = FIRST_BYTES;
  char *text = malloc(capacity + 1);
  *length = 0;
  while (text) {
    size_t room = (capacity < limit + 1 ? capacity : limit + 1) - *length;
    size_t got = fread(text + *length, 1, room, file);
    *length += got;
    text[*length] = '\0';
    if (got < room || *length > limit) break;
    char *more = realloc(text, (capacity *= 2) + 1);
    if (!more) free(text);
    text = more;
  }
  return text;
}

char *text_file_read(const cli_context *cli, const char *path, size_t limit, size_t *length, int *status) {
  char quote[SAY_QUOTE];
  bool standard = strcmp(path, "-") == 0;
  FILE *file = standard ? stdin : fopen(path, "rb");
  if (!file) {
    *status = errno == ENOMEM ? CLI_FAILED : CLI_BAD;
    say_error(cli, "%s: %s", say_quote(path, quote), strerror(errno));
    return NULL;
  }
  errno = 0;
  char *text = text_file_all(file, limit, length);
  int why = !text ? ENOMEM : ferror(file) ? errno : 0;
  if (!standard) fclose(file);
  if (!why && *length <= limit) return text;
  *status = text ? CLI_BAD : CLI_FAILED;
  if (why)
    say_error(cli, "%s: %s", say_quote(path, quote), strerror(why));
  else
    say_error(cli, "%s is longer than %zu bytes", say_quote(path, quote), limit);
  free(text);
  return NULL;
}

int text_file_fail(const cli_context *cli, const char *path, const char *text, size_t length,
                   const tesela_error *failure) {
  char quote[SAY_QUOTE];
  tesela_error clean = *failure, *err = &clean;
  for (char *at = clean.message; *at; at++) /* names in the message come from the file */
    if ((unsigned char)*at < ' ' || *at == 0x7f) *at = '?';
  if (err->at < 0 || (size_t)err->at > length) {
    say_error(cli, "%s: %s", say_quote(path, quote), err->message);
    return say_exit(err->status);
  }
  size_t begin = (size_t)err->at, end = (size_t)err->at, line = 1;
  while (begin > 0 && text[begin - 1] != '\n') begin--;
  while (end < length && text[end] != '\n') end++;
  for (size_t i = 0; i < begin; i++) line += text[i] == '\n';
  tesela_error here = *err;
  here.at = err->at - (int64_t)begin;
  int status = say_failure_in(cli, text + begin, end - begin, &here);
  fprintf(stderr, "The error is in line %zu of %s.\n", line, say_quote(path, quote));
  return status;
}
