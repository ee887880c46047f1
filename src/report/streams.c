/* SPDX-License-Identifier: Apache-2.0 */
/*
 * streams.c - lines of several processes in one input, each read as a text of its own.
 *
 * What is being read (an open entry, a module, a line that may go on) belongs to a stream. The report holds the
 * state of the current one; that of the others waits here. Stream 0 has the lines without a prefix. A prefix gets a
 * stream once a report or a module starts after it, so a log whose other lines start with numbers costs
 * nothing. A line without one goes where the last line that was recognised went: a message of several lines
 * often has its prefix on the first alone.
 */
#include <stddef.h>

#include "report/report_state.h"

enum { MAX_STREAMS = 1024 };

static bool add_place(tesela_report *report) {
  void *streams = report->stream;
  if (!tesela__grow(&report->allocator, &streams, sizeof(tesela__stream *), &report->cap_streams,
                    report->n_streams + 1))
    return tesela__report_no_memory(report);
  report->stream = streams;
  tesela__stream *made = tesela__alloc(&report->allocator, sizeof(tesela__stream), alignof(tesela__stream));
  if (!made) return tesela__report_no_memory(report);
  memset(made, 0, sizeof *made);
  made->module.entry_call = made->module.first_waiting = made->module.first_layout = -1;
  made->memory.section = -1;
  report->stream[report->n_streams++] = made;
  return true;
}

/* Of the fields of an entry only what is there. */
static void copy_memory_text(tesela__memory_text *to, const tesela__memory_text *from) {
  memcpy(to, from, offsetof(tesela__memory_text, entry.text));
  for (int f = 0; f < TESELA__N_FIELDS; f++)
    memcpy(to->entry.text[f], from->entry.text[f], from->entry.length[f]);
}

void tesela__stream_select(tesela_report *report, size_t number) {
  if (number == report->current) return;
  tesela__stream *from = report->stream[report->current], *to = report->stream[number];
  from->module = report->module;
  from->wrap = report->wrap;
  copy_memory_text(&from->memory, &report->memory);
  report->module = to->module;
  report->wrap = to->wrap;
  copy_memory_text(&report->memory, &to->memory);
  report->current = number;
}

/* The stream of a prefix, or n_streams for a new prefix. */
static size_t find_stream(const tesela_report *report, uint64_t who) {
  size_t i = 1;
  if (report->last_stream < report->n_streams && report->stream[report->last_stream]->who == who)
    return report->last_stream;
  while (i < report->n_streams && report->stream[i]->who != who) i++;
  return i;
}

static bool add_stream(tesela_report *report, uint64_t who, tesela__span prefix) {
  if (report->n_streams == 0 && !add_place(report)) return false;
  if (!add_place(report)) return false;
  tesela__stream *stream = report->stream[report->n_streams - 1];
  stream->who = who;
  stream->prefix = tesela__arena_copy(&report->text, &report->allocator, tesela__trim(prefix));
  return stream->prefix || tesela__report_no_memory(report);
}

bool tesela__stream_of(tesela_report *report, tesela__span *line, size_t *number) {
  uint64_t who;
  const char *first = tesela__skip_blanks(line->text, line->text + line->n);
  bool bare = first == line->text + line->n || *first == '%' || *first == '}'; /* most lines of a dump */
  size_t prefix = bare ? 0 : tesela__rank_prefix(*line, &who);
  *number = report->held_by != SIZE_MAX ? report->held_by : report->owner;
  if (prefix == 0) return true;
  tesela__span rest = tesela__from(*line, line->text + prefix);
  size_t found = report->n_streams > 1 ? find_stream(report, who) : report->n_streams;
  if (found >= report->n_streams) {
    if (!tesela__starts_something(rest)) return true;
    if (report->n_streams >= MAX_STREAMS) {
      tesela__report_note(
          report, TESELA_REPORT_MIXED, report->line,
          "lines have more than %d different prefixes; lines with further prefixes are read as one text",
          MAX_STREAMS - 1);
      return true;
    }
    if (!add_stream(report, who, tesela__between(line->text, rest.text))) return false;
    found = report->n_streams - 1;
    if (found == 2)
      tesela__report_note(report, TESELA_REPORT_SPLIT, report->line,
                          "lines of several processes, separated by prefix (%s, %s, ...); equal reports and "
                          "modules count once",
                          report->stream[1]->prefix, report->stream[2]->prefix);
  }
  report->last_stream = found;
  *number = found;
  *line = rest;
  return true;
}

bool tesela__streams_end(tesela_report *report) {
  for (size_t i = 0; i < report->n_streams || i == 0; i++) {
    tesela__stream_select(report, i);
    if (!tesela__wrap_flush(report) || !tesela__memory_end(report) || !tesela__module_end(report))
      return false;
    report->module.assignment = false;
    memset(report->wrap.most, 0, sizeof report->wrap.most);
  }
  tesela__stream_select(report, 0);
  tesela__streams_clear(report);
  return true;
}

void tesela__streams_clear(tesela_report *report) {
  for (size_t i = 0; i < report->n_streams; i++) {
    tesela__stream *stream = report->stream[i];
    /* that of the current one is in the report */
    if (i != report->current) {
      tesela__module_release(&stream->module, &report->allocator);
      tesela__release(&report->allocator, stream->wrap.text.text);
    }
    tesela__release(&report->allocator, stream);
  }
  report->n_streams = report->current = report->owner = report->last_stream = 0;
  report->held_by = SIZE_MAX;
}
