/* SPDX-License-Identifier: Apache-2.0 */
/*
 * record_list.c - what all readers of records use: lists, texts, lines, numbers, differences.
 */
#include "records/records.h"

#include <stdarg.h>
#include <stdio.h>

#define TESELA__ROW(symbol, name, words) name,
static const char *const difference_names[] = {TESELA_RECORD_DIFFERENCE_MAP(TESELA__ROW)};
#undef TESELA__ROW

/* ---- lists and texts -------------------------------------------------------------------------------------- */

void *tesela__record_more(tesela_records *records, tesela__list *list, size_t size) {
  if (!tesela__grow(&records->allocator, &list->items, size, &list->capacity, list->n + 1)) return NULL;
  return memset((char *)list->items + size * list->n++, 0, size);
}

const char *tesela__record_text(tesela_records *records, tesela__span text) {
  return tesela__arena_copy(&records->text, &records->allocator, text);
}

bool tesela__record_next_line(tesela__record_file *file, tesela__span *line) {
  if (file->rest.n == 0 || file->broken) return false;
  const char *end = file->rest.text + file->rest.n, *newline = memchr(file->rest.text, '\n', file->rest.n);
  *line = tesela__between(file->rest.text, newline ? newline : end);
  while (line->n > 0 && tesela__is_blank(line->text[line->n - 1])) line->n--;
  file->rest = tesela__between(newline ? newline + 1 : end, end);
  file->line++;
  return true;
}

bool tesela__record_number(const char **p, const char *end, int64_t *number) {
  const char *start = *p;
  int64_t n = 0;
  for (; *p < end && tesela__is_digit(**p); (*p)++) {
    int digit = **p - '0';
    if (n > (INT64_MAX - digit) / 10) return false;
    n = n * 10 + digit;
  }
  *number = n;
  return *p > start;
}

/* ---- differences ------------------------------------------------------------------------------------------ */

bool tesela__record_differ(tesela_records *records, tesela__record_program *program,
                           tesela_record_difference_kind kind, const char *format, ...) {
  tesela_record_difference *list = program->difference.items, *it = NULL;
  for (size_t i = 0; i < program->difference.n; i++)
    if (list[i].kind == kind) it = &list[i];
  if (it) {
    it->count++;
    return true;
  }
  it = tesela__record_more(records, &program->difference, sizeof *it);
  if (!it) return false;
  it->kind = kind;
  it->code = difference_names[kind];
  it->count = 1;
  va_list args;
  va_start(args, format);
  vsnprintf(it->text, sizeof it->text, format, args);
  va_end(args);
  return true;
}

bool tesela__record_break(tesela__record_file *file, const char *expected) {
  const char *slash = strrchr(file->path, '/');
  file->broken = true;
  return tesela__record_differ(file->records, file->program, TESELA_RECORD_BROKEN,
                               "%.120s:%" PRId64 ": expected %s; the rest of the file is not read",
                               slash ? slash + 1 : file->path, file->line, expected);
}
