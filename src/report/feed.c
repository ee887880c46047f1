/* SPDX-License-Identifier: Apache-2.0 */
/*
 * feed.c - chunks of bytes become lines, lines are given to those who know them.
 *
 *   bytes -> a line -> clean.c: colours, entities -> streams.c: whose it is -> wrap.c: whole again -> report_line.c:
 *   a text on one line becomes its lines -> plain HLO instruction, or memory report, or other HLO text
 *
 * A line that lies in one chunk and needs no cleaning is read where it lies; only the unfinished end of a chunk is
 * copied.
 */
#include "report/report_state.h"

enum { MAX_INPUTS = 65536 }; /* what comes then is added to the last one */

static const tesela_report_options default_options = {
    .line_bytes = 16 << 20, .shapes = 1 << 20, .entries = 1 << 16, .waiting = 1 << 18};

static tesela_status fail_report_memory(tesela_error *err) {
  return tesela__fail(err, TESELA_E_MEMORY, -1, "no memory to continue reading");
}

/* ---- create, destroy ----------------------------------------------------------------------------------- */

static int64_t limit_or(int64_t option, int64_t fallback) { return option ? option : fallback; }

tesela_status tesela_report_create(tesela_report **report, const tesela_report_options *options,
                                   const tesela_allocator *allocator, tesela_error *err) {
  TESELA__NEED(err, report);
  TESELA__NEED_CLEAR(err, options);
  tesela_report_options given = options ? *options : default_options;
  if (given.line_bytes < 0 || given.shapes < 0 || given.entries < 0 || given.waiting < 0)
    return tesela__fail(err, TESELA_E_RANGE, -1,
                        "a limit of a report is negative; expected 0 (default) or more");
  tesela_allocator memory = tesela__allocator(allocator);
  tesela_report *made = tesela__alloc(&memory, sizeof *made, alignof(tesela_report));
  if (!made)
    return tesela__fail(err, TESELA_E_MEMORY, -1, "no memory for a report of %zu bytes", sizeof *made);
  memset(made, 0, sizeof *made);
  made->allocator = memory;
  made->options = (tesela_report_options){
      .line_bytes = limit_or(given.line_bytes, default_options.line_bytes),
      .shapes = tesela__min(limit_or(given.shapes, default_options.shapes), INT32_MAX / 8),
      .entries = tesela__min(limit_or(given.entries, default_options.entries), INT32_MAX / 8),
      .waiting = tesela__min(limit_or(given.waiting, default_options.waiting), INT32_MAX / 8),
      .peak = given.peak};
  made->module.entry_call = made->module.first_waiting = made->module.first_layout = -1;
  made->memory.section = -1;
  made->held_by = SIZE_MAX;
  *report = made;
  return TESELA_OK;
}

void tesela_report_destroy(tesela_report *report) {
  if (!report) return;
  tesela_allocator memory = report->allocator;
  tesela__streams_clear(report);
  tesela__module_release(&report->module, &memory);
  void *const owned[] = {report->carry,       report->fit,        report->value,  report->shape,
                         report->shape_index, report->array,      report->seen,   report->section,
                         report->input,       report->clean.text, report->stream, report->wrap.text.text,
                         report->peak,        report->by_name};
  for (size_t i = 0; i < sizeof owned / sizeof owned[0]; i++) tesela__release(&memory, owned[i]);
  for (int i = 0; i < TESELA__CLEAN_DEPTH; i++) tesela__release(&memory, report->unescaped[i].text);
  tesela__schedule_close(report->lives);
  tesela__pools_free(report);
  tesela__arena_clear(&report->text, &memory);
  tesela__release(&memory, report);
}

/* ---- lines --------------------------------------------------------------------------------------------- */

/* The two shortcuts of most lines. Those of HLO text have no prefix, and one that is shorter than the longest line
 * ends where it ends. */
static bool is_inner_line(const tesela_report *report, tesela__span line) {
  const tesela__wrap *wrap = &report->wrap;
  if (report->n_streams > 0 || wrap->n > 0 || line.n >= wrap->most[0].columns ||
      line.n >= wrap->most[1].columns)
    return false;
  const char *end = line.text + line.n, *p = tesela__skip_blanks(line.text, end);
  return p == end || *p == '%' || *p == '}' || tesela__looking_at(p, end, "ROOT %");
}

/* A line of a log, while nothing is being read: whatever its prefix, no report and no HLO text starts on it. */
static bool says_nothing(const tesela_report *report, tesela__span line) {
  if (report->module.open || report->module.assignment || report->memory.entry.open ||
      report->n_streams > 0 || report->memory.part != TESELA__PART_NONE || report->wrap.n > 0)
    return false;
  tesela__span text = tesela__trim(line);
  return text.n == 0 || (!memchr(text.text, '=', text.n) && !memchr(text.text, '%', text.n) &&
                         text.text[text.n - 1] != '{' && !tesela__may_start(line));
}

static bool read_report_line(tesela_report *report, const char *text, size_t n, bool cut) {
  report->line++;
  report->input[report->n_inputs - 1].lines++;
  size_t limit = (size_t)report->options.line_bytes, number;
  if (n > limit) {
    n = limit;
    cut = true;
  }
  if (cut)
    tesela__report_note(report, TESELA_REPORT_CUT_LINE, report->line,
                        "a line has more than %zu bytes; the rest of it was not read", limit);
  if (n > 0 && text[n - 1] == '\r') n--;
  tesela__span line = {text, n};
  bool marked = report->marked || report->carry_marked;
  report->raw = (tesela__width){0, 0};
  if (marked && !tesela__clean_line(report, &report->clean, &line)) return false;
  if (!marked && is_inner_line(report, line)) return tesela__read_line(report, line, TESELA__CLEAN_DEPTH);
  if (!marked && says_nothing(report, line)) {
    tesela__wrap_measure(report, line);
    return true;
  }
  tesela__span full = line;
  if (!tesela__stream_of(report, &line, &number)) return false;
  tesela__stream_select(report, number);
  if (!tesela__wrap_line(report, line, full, marked)) return false;
  report->held_by = report->wrap.n > 0 ? number : SIZE_MAX;
  return true;
}

/* Keep the start of a line whose end is still to come, up to the limit. */
static bool carry_bytes(tesela_report *report, const char *bytes, size_t n) {
  size_t limit = (size_t)report->options.line_bytes, room = limit - report->n_carry;
  if (n > room) {
    n = room;
    report->carry_cut = true;
  }
  void *grown = report->carry;
  if (!tesela__grow(&report->allocator, &grown, 1, &report->cap_carry, report->n_carry + n))
    return tesela__report_no_memory(report);
  report->carry = grown;
  if (n > 0) memcpy(report->carry + report->n_carry, bytes, n);
  report->n_carry += n;
  report->carry_marked = report->carry_marked || report->marked;
  return true;
}

static bool read_carried(tesela_report *report) {
  bool cut = report->carry_cut;
  size_t n = report->n_carry;
  report->n_carry = 0;
  report->carry_cut = false;
  bool going_on = read_report_line(report, report->carry, n, cut);
  report->carry_marked = false;
  return going_on;
}

static bool feed_bytes(tesela_report *report, const char *bytes, size_t length) {
  while (length > 0) {
    const char *newline = memchr(bytes, '\n', length);
    size_t n = newline ? (size_t)(newline - bytes) : length;
    if (!newline) return carry_bytes(report, bytes, n);
    if (report->n_carry > 0) {
      if (!carry_bytes(report, bytes, n) || !read_carried(report)) return false;
    } else if (!read_report_line(report, bytes, n, false)) {
      return false;
    }
    bytes += n + 1;
    length -= n + 1;
  }
  return true;
}

/* What is still open in an input when it ends. */
static bool end_input(tesela_report *report) {
  if (report->n_carry > 0 && !read_carried(report)) return false;
  return tesela__streams_end(report);
}

/* ---- the stream ---------------------------------------------------------------------------------------- */

static tesela_status check_unfinished(const tesela_report *report, tesela_error *err) {
  if (report->failed != TESELA_OK) return fail_report_memory(err);
  if (report->finished)
    return tesela__fail(err, TESELA_E_INVALID, -1, "the report is finished; nothing can be added");
  return TESELA_OK;
}

static bool add_input(tesela_report *report, const char *name) {
  if (report->n_inputs >= MAX_INPUTS) return true;
  void *inputs = report->input;
  const char *copy = tesela__arena_copy(&report->text, &report->allocator, tesela__text(name));
  if (!copy || !tesela__grow(&report->allocator, &inputs, sizeof *report->input, &report->cap_inputs,
                             report->n_inputs + 1))
    return tesela__report_no_memory(report);
  report->input = inputs;
  report->input[report->n_inputs++] = (tesela_report_input){.name = copy};
  report->line = 0;
  return true;
}

tesela_status tesela_report_begin_input(tesela_report *report, const char *name, tesela_error *err) {
  TESELA__NEED(err, report, name);
  tesela_status status = check_unfinished(report, err);
  if (status != TESELA_OK) return status;
  if (!end_input(report) || !add_input(report, name)) return fail_report_memory(err);
  return TESELA_OK;
}

tesela_status tesela_report_feed(tesela_report *report, const char *bytes, size_t length, tesela_error *err) {
  TESELA__NEED(err, report);
  TESELA__NEED_LIST(err, bytes, length);
  tesela_status status = check_unfinished(report, err);
  if (status != TESELA_OK) return status;
  if (report->n_inputs == 0 && !add_input(report, "")) return fail_report_memory(err);
  tesela__report_add(report, &report->input[report->n_inputs - 1].bytes, (int64_t)length);
  report->marked = tesela__clean_is_marked(bytes, length);
  return feed_bytes(report, bytes, length) ? TESELA_OK : fail_report_memory(err);
}

tesela_status tesela_report_finish(tesela_report *report, tesela_error *err) {
  TESELA__NEED(err, report);
  tesela_status status = check_unfinished(report, err);
  if (status != TESELA_OK) return status;
  if (!end_input(report) || !tesela__memory_decide(report) || !tesela__pools_finish(report) ||
      !tesela__report_sort_sections(report))
    return fail_report_memory(err);
  report->finished = true;
  return TESELA_OK;
}
