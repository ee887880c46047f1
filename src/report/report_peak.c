/* SPDX-License-Identifier: Apache-2.0 */
/*
 * report_peak.c - the peaks of scheduled modules; of the module with the highest one also its buffers and its timeline.
 */
#include <stdio.h>

#include "report/report_state.h"

/* ---- reading ---------------------------------------------------------------------------------------------- */

bool tesela__peak_begin(tesela_report *report, tesela__span header) {
  if (!report->options.peak || !tesela__find(header, "is_scheduled=true")) return true;
  report->module.schedule = tesela__schedule_open(&report->allocator, header);
  return report->module.schedule != NULL || tesela__report_no_memory(report);
}

static bool add_peak(tesela_report *report, const tesela__schedule *schedule,
                     const tesela__schedule_peak *from) {
  void *peaks = report->peak;
  const tesela__schedule_instruction *at = &schedule->instruction[schedule->instant[from->at]];
  const char *name =
      tesela__arena_copy(&report->text, &report->allocator, tesela__text(schedule->text + at->name));
  if (!name || !tesela__grow(&report->allocator, &peaks, sizeof *report->peak, &report->cap_peaks,
                             report->n_peaks + 1))
    return tesela__report_no_memory(report);
  report->peak = peaks;
  report->peak[report->n_peaks++] = (tesela_report_peak){.section = report->module.section,
                                                         .space = from->space,
                                                         .least_bytes = from->bytes,
                                                         .most_bytes = from->bytes,
                                                         .argument_bytes = from->arguments,
                                                         .output_bytes = from->outputs,
                                                         .temporary_bytes = from->temporaries,
                                                         .at = from->at,
                                                         .instants = (int64_t)schedule->n_instants,
                                                         .instruction = name,
                                                         .line = at->line};
  return true;
}

/* Keep the lives of the module with the highest peak. */
static void keep_lives(tesela_report *report, tesela__schedule *schedule, size_t first) {
  bool higher = !report->lives || schedule->peak[0].bytes > report->lives->peak[0].bytes;
  for (size_t i = 0; higher && i < report->n_peaks; i++) report->peak[i].lives = i >= first;
  if (higher) {
    tesela__schedule_close(report->lives);
    report->lives = schedule;
    report->lives_section = report->module.section;
  } else {
    tesela__schedule_close(schedule);
  }
}

bool tesela__peak_end(tesela_report *report) {
  tesela__schedule *schedule = report->module.schedule;
  if (!schedule) return true;
  size_t first = report->n_peaks;
  if (!tesela__schedule_finish(schedule)) return tesela__report_no_memory(report);
  report->module.schedule = NULL;
  if (schedule->broken) {
    int64_t line =
        schedule->broken_line ? schedule->broken_line : report->section[report->module.section].line;
    tesela__report_note(report, TESELA_REPORT_NO_PEAK, line,
                        "module %.120s has a schedule, but its peak is unknown: %s",
                        report->section[report->module.section].name, schedule->broken);
    tesela__schedule_close(schedule);
    return true;
  }
  bool done = true;
  for (size_t i = 0; done && i < schedule->n_peaks; i++)
    done = add_peak(report, schedule, &schedule->peak[i]);
  if (done)
    keep_lives(report, schedule, first);
  else
    tesela__schedule_close(schedule);
  return done;
}

/* ---- peaks ------------------------------------------------------------------------------------------------ */

int64_t tesela_report_n_peaks(const tesela_report *report) { return report ? (int64_t)report->n_peaks : 0; }

const tesela_report_peak *tesela_report_peak_at(const tesela_report *report, int64_t i) {
  return report && i >= 0 && i < (int64_t)report->n_peaks ? &report->peak[i] : NULL;
}

/* Do all modules of HLO text that have arrays have a known peak? Sections and peaks are in one order. */
static bool knows_all_peaks(const tesela_report *report) {
  size_t next = 0;
  for (size_t i = 0; i < report->n_sections; i++) {
    while (next < report->n_peaks && report->peak[next].section < (int32_t)i) next++;
    bool known = next < report->n_peaks && report->peak[next].section == (int32_t)i;
    if (report->section[i].source == TESELA_REPORT_HLO && report->section[i].arrays > 0 && !known)
      return false;
  }
  return true;
}

/* From the largest array, or end of an entry, to the sum. */
static bool bound_peak(const tesela_report *report, tesela_report_peak *peak, tesela_report_source source) {
  tesela_report_filter filter = {(int32_t)source, TESELA_REPORT_ANY, peak->space};
  tesela_report_totals totals = tesela_report_total(report, &filter);
  bool listed = totals.rows == 0 || totals.arrays > totals.rows; /* some rows were not kept */
  for (size_t i = 0; i < report->n_arrays; i++) {
    const tesela__array *array = &report->array[i];
    if (!tesela__report_matches(&array->public, &filter)) continue;
    bool placed = source == TESELA_REPORT_MEMORY && array->offset > 0;
    int64_t end = array->public.stored_bytes;
    if (placed && !tesela__add(end, array->offset, &end)) end = INT64_MAX;
    peak->least_bytes = tesela__max(peak->least_bytes, end);
    listed = listed || array->offset < 0;
  }
  peak->most_bytes = tesela__max(totals.stored_bytes, peak->least_bytes);
  if (source == TESELA_REPORT_MEMORY && listed) peak->most_bytes = INT64_MAX;
  return totals.arrays > 0;
}

bool tesela_report_highest_peak(const tesela_report *report, tesela_report_source source, int32_t space,
                                tesela_report_peak *peak) {
  if (!report || !peak) return false;
  const tesela_report_peak *highest = NULL;
  for (size_t i = 0; i < report->n_peaks && source == TESELA_REPORT_HLO; i++)
    if (report->peak[i].space == space && (!highest || report->peak[i].least_bytes > highest->least_bytes))
      highest = &report->peak[i];
  bool known = source == TESELA_REPORT_HLO && knows_all_peaks(report);
  if (known && highest) *peak = *highest;
  if (known) return highest != NULL;
  *peak = (tesela_report_peak){.section = -1, .space = space, .at = -1, .instruction = ""};
  if (highest) peak->least_bytes = highest->least_bytes;
  return bound_peak(report, peak, source) || highest;
}

/* ---- buffers ---------------------------------------------------------------------------------------------- */

static tesela_report_buffer_role role_of(const tesela__schedule_buffer *buffer) {
  if (buffer->argument) return buffer->output ? TESELA_REPORT_BUFFER_DONATED : TESELA_REPORT_BUFFER_ARGUMENT;
  if (buffer->output) return TESELA_REPORT_BUFFER_OUTPUT;
  if (buffer->constant) return TESELA_REPORT_BUFFER_CONSTANT;
  return buffer->table ? TESELA_REPORT_BUFFER_TABLE : TESELA_REPORT_BUFFER_TEMPORARY;
}

/* The number of the outermost member that a node is in or below, and where that starts. */
static int32_t outer_member(const tesela__schedule *s, const tesela__schedule_shape *shape, int32_t node,
                            int32_t *first) {
  const int32_t *member = s->member + shape->member;
  int32_t low = 0, high = shape->n_members;
  while (high - low > 1) {
    int32_t middle = (low + high) / 2;
    if (member[middle] <= node)
      low = middle;
    else
      high = middle;
  }
  *first = member[low];
  return low;
}

/* "{1,0}" of a node: its place in the tuple, and in tuples in that. */
static void member_text(const tesela__schedule *s, const tesela__schedule_shape *shape, int32_t node,
                        char *text, size_t size) {
  const tesela__schedule_node *nodes = &s->node[shape->first];
  if (node == 0 || shape->n_members == 0) return;
  int32_t at, number = outer_member(s, shape, node, &at);
  size_t n = (size_t)snprintf(text, size, "{%" PRId32, number);
  while (at < node) {
    int32_t next = at + 1;
    for (number = 0; next + nodes[next].n <= node; number++) next += nodes[next].n;
    int wrote = snprintf(text + n, size - n, ",%" PRId32, number);
    if (wrote < 0 || (size_t)wrote + 2 > size - n) return;
    n += (size_t)wrote;
    at = next;
  }
  snprintf(text + n, size - n, "}");
}

/* The text of a node: the array, or the whole shape of a table. */
static tesela__span node_text(const tesela__schedule *s, const tesela__schedule_shape *shape, int32_t node) {
  tesela__span whole = {s->text + shape->text, shape->length};
  const char *start = whole.text + s->node[shape->first + node].text;
  const char *end = tesela__skip_array(start, whole.text + whole.n);
  return end ? tesela__between(start, end) : tesela__from(whole, start);
}

int64_t tesela_report_n_buffers(const tesela_report *report) {
  return report && report->lives ? (int64_t)report->lives->n_buffers : 0;
}

static tesela_status check_buffer(const tesela_report *report, int64_t i, tesela_error *err) {
  int64_t n = tesela_report_n_buffers(report);
  if (i >= 0 && i < n) return TESELA_OK;
  return tesela__fail(err, TESELA_E_RANGE, -1, "buffer %" PRId64 "; there are %" PRId64, i, n);
}

tesela_status tesela_report_buffer_spans(const tesela_report *report, int64_t i, int64_t capacity,
                                         int64_t *span, int64_t *n, tesela_error *err) {
  TESELA__NEED(err, report, n);
  TESELA__NEED_LIST(err, span, capacity);
  tesela_status status = check_buffer(report, i, err);
  if (status != TESELA_OK) return status;
  tesela__schedule_span next;
  *n = 0;
  for (int32_t k = 0; tesela__schedule_next_span(report->lives, &report->lives->buffer[i], &k, &next); ++*n) {
    if (*n >= capacity) continue;
    span[2 * *n] = next.from;
    span[2 * *n + 1] = next.to;
  }
  return TESELA_OK;
}

tesela_status tesela_report_buffer_at(const tesela_report *report, int64_t i, tesela_report_buffer *buffer,
                                      tesela_error *err) {
  TESELA__NEED(err, report, buffer);
  tesela_status status = check_buffer(report, i, err);
  if (status != TESELA_OK) return status;
  const tesela__schedule *s = report->lives;
  const tesela__schedule_buffer *from = &s->buffer[i];
  const tesela__schedule_value *value = &s->value[from->largest];
  const tesela__schedule_instruction *is = &s->instruction[value->instruction];
  const tesela__schedule_shape *shape = &s->shape[is->shape];
  tesela__span text = node_text(s, shape, value->node);
  *buffer = (tesela_report_buffer){.role = role_of(from),
                                   .space = from->space,
                                   .bytes = from->bytes,
                                   .instruction = s->text + is->name,
                                   .shape = text.text,
                                   .shape_bytes = (int64_t)text.n,
                                   .inside = from->inside,
                                   .line = is->line,
                                   .op_name = s->text + s->source[is->source].op_name,
                                   .location = s->text + s->source[is->source].location};
  member_text(s, shape, value->node, buffer->member, sizeof buffer->member);
  tesela__schedule_span span;
  buffer->from = INT64_MAX;
  for (int32_t k = 0; tesela__schedule_next_span(s, from, &k, &span); buffer->spans++) {
    buffer->from = tesela__min(buffer->from, span.from);
    buffer->to = span.to;
  }
  return TESELA_OK;
}

/* ---- at the peak, and over time --------------------------------------------------------------------------- */

/* Put buffer i in its place of the list, the largest first. */
static void put_alive(const tesela__schedule *s, int64_t *list, int64_t *n, int64_t capacity, int64_t i) {
  if (*n == capacity && (capacity == 0 || s->buffer[list[capacity - 1]].bytes >= s->buffer[i].bytes)) return;
  int64_t low = 0, high = *n;
  while (low < high) {
    int64_t middle = (low + high) / 2;
    if (s->buffer[list[middle]].bytes >= s->buffer[i].bytes)
      low = middle + 1;
    else
      high = middle;
  }
  if (*n < capacity) ++*n;
  memmove(list + low + 1, list + low, (size_t)(*n - 1 - low) * sizeof *list);
  list[low] = i;
}

tesela_status tesela_report_alive(const tesela_report *report, int32_t space, int64_t capacity,
                                  int64_t *buffer, int64_t *n, tesela_error *err) {
  TESELA__NEED(err, report, n);
  TESELA__NEED_LIST(err, buffer, capacity);
  *n = 0;
  const tesela__schedule *s = report->lives;
  const tesela__schedule_peak *peak = NULL;
  for (size_t i = 0; s && i < s->n_peaks; i++)
    if (s->peak[i].space == space) peak = &s->peak[i];
  for (size_t i = 0; peak && i < s->n_buffers; i++) {
    const tesela__schedule_buffer *is = &s->buffer[i];
    if (is->space != space || is->inside >= 0) continue;
    if (is->argument || is->output || tesela__schedule_alive(s, is, peak->at))
      put_alive(s, buffer, n, capacity, (int64_t)i);
  }
  return TESELA_OK;
}

tesela_status tesela_report_timeline(const tesela_report *report, int32_t space, int64_t instants,
                                     int64_t *bytes, tesela_error *err) {
  TESELA__NEED(err, report);
  TESELA__NEED_LIST(err, bytes, instants);
  const tesela__schedule *s = report->lives;
  if (!s) return tesela__fail(err, TESELA_E_INVALID, -1, "no module with a known schedule");
  if (instants != (int64_t)s->n_instants)
    return tesela__fail(err, TESELA_E_MISMATCH, -1, "%" PRId64 " instants; the module has %zu", instants,
                        s->n_instants);
  int64_t arguments, outputs;
  tesela__schedule_timeline(s, space, bytes, &arguments, &outputs);
  for (int64_t t = 0; t < instants; t++) bytes[t] += arguments + outputs;
  return TESELA_OK;
}
