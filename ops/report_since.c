/* SPDX-License-Identifier: Apache-2.0 */
/*
 * report_since.c - what takes more memory at the peak than in another report: the arrays of both peaks, summed by type and dims.
 *
 * Names of instructions change from one compilation to the next, and so do layouts; type and dims seldom do.
 */
#include <stdlib.h>
#include <string.h>

#include "report_ask.h"

/* An array that lives at one of the peaks. */
typedef struct at_peak {
  tesela_report_buffer buffer;
  int64_t key; /* bytes of its type and dims: "f32[8,3]" */
  bool after;
} at_peak;

static int64_t key_of(const tesela_report_buffer *buffer) {
  const char *end = memchr(buffer->shape, ']', (size_t)buffer->shape_bytes);
  return end ? end + 1 - buffer->shape : buffer->shape_bytes;
}

static bool has_one_key(const at_peak *a, const at_peak *b) {
  return a->key == b->key && memcmp(a->buffer.shape, b->buffer.shape, (size_t)a->key) == 0;
}

/* By type and dims; those after first, the largest first. */
static int compare_arrays(const void *left, const void *right) {
  const at_peak *a = left, *b = right;
  int order = memcmp(a->buffer.shape, b->buffer.shape, (size_t)(a->key < b->key ? a->key : b->key));
  if (order != 0 || a->key != b->key) return order != 0 ? order : a->key < b->key ? -1 : 1;
  if (a->after != b->after) return a->after ? -1 : 1;
  if (a->buffer.bytes != b->buffer.bytes) return a->buffer.bytes > b->buffer.bytes ? -1 : 1;
  return (a->buffer.line > b->buffer.line) - (a->buffer.line < b->buffer.line);
}

/* The largest growth first; of equal ones by type and dims. */
static int compare_growth(const void *left, const void *right) {
  const report_grown *a = left, *b = right;
  int64_t grew[] = {a->after_bytes - a->before_bytes, b->after_bytes - b->before_bytes};
  if (grew[0] != grew[1]) return grew[0] > grew[1] ? -1 : 1;
  return strncmp(
      a->array.shape, b->array.shape,
      (size_t)(a->array.shape_bytes < b->array.shape_bytes ? a->array.shape_bytes : b->array.shape_bytes));
}

/* Append the arrays of a report's peak. */
static void add_arrays(const report_ask *ask, bool after, const int64_t *list, int64_t n, at_peak *to) {
  for (int64_t i = 0; i < n; i++) {
    tesela_report_buffer_at(ask->report, list[i], &to[i].buffer, NULL);
    to[i].key = key_of(&to[i].buffer);
    to[i].after = after;
  }
}

/* Is the peak known, with what lives then? */
static bool has_lives(const report_ask *ask, int32_t space, int64_t *bytes) {
  for (int64_t i = 0; i < tesela_report_n_peaks(ask->report); i++) {
    const tesela_report_peak *peak = tesela_report_peak_at(ask->report, i);
    if (!peak->lives || peak->space != space) continue;
    *bytes = peak->least_bytes;
    return true;
  }
  return false;
}

/* Sums of each type and dims of a sorted list, those that differ. */
static int64_t sum_up(const at_peak *list, int64_t n, report_grown *rows) {
  int64_t n_rows = 0;
  for (int64_t first = 0, end; first < n; first = end) {
    report_grown row = {.array = list[first].buffer};
    for (end = first; end < n && has_one_key(&list[first], &list[end]); end++) {
      if (!list[end].after && row.n_before == 0) row.was = list[end].buffer;
      *(list[end].after ? &row.n_after : &row.n_before) += 1;
      *(list[end].after ? &row.after_bytes : &row.before_bytes) += list[end].buffer.bytes;
    }
    if (row.after_bytes != row.before_bytes) rows[n_rows++] = row;
  }
  return n_rows;
}

bool report_since_peaks(const report_ask *before, const report_ask *after, int32_t space, int64_t bytes[2]) {
  return has_lives(before, space, &bytes[0]) && has_lives(after, space, &bytes[1]);
}

tesela_status report_since(const report_ask *before, const report_ask *after, int32_t space,
                           report_grown **rows, int64_t *n) {
  const report_ask *const sides[] = {before, after};
  int64_t bytes[2], most = 0, all = 0, count;
  *rows = NULL;
  *n = 0;
  if (!report_since_peaks(before, after, space, bytes)) return TESELA_OK;
  for (int k = 0; k < 2; k++) most += tesela_report_n_buffers(sides[k]->report);
  int64_t *list = malloc((size_t)most * sizeof *list + 1);
  at_peak *arrays = malloc((size_t)most * sizeof *arrays + 1);
  *rows = malloc((size_t)most * sizeof **rows + 1);
  tesela_status status = list && arrays && *rows ? TESELA_OK : TESELA_E_MEMORY;
  for (int k = 0; k < 2 && status == TESELA_OK; k++) {
    tesela_report_alive(sides[k]->report, space, most, list, &count, NULL);
    add_arrays(sides[k], k == 1, list, count, arrays + all);
    all += count;
  }
  if (status == TESELA_OK) {
    qsort(arrays, (size_t)all, sizeof *arrays, compare_arrays);
    *n = sum_up(arrays, all, *rows);
    qsort(*rows, (size_t)*n, sizeof **rows, compare_growth);
  }
  free(list);
  free(arrays);
  return status;
}

/* ---- the change that adds most ---------------------------------------------------------------------------- */

static int64_t more_padding(const tesela_report_change *change) {
  int64_t before = change->before ? change->before->most_padding_bytes : 0,
          after = change->after ? change->after->most_padding_bytes : 0;
  if (change->kind == TESELA_REPORT_CHANGED_COUNT) {
    before = 0;
    after = change->bytes > 0 ? after : -after;
  }
  double grew = (double)(after - before) * (double)change->count;
  return grew > 9e18 ? INT64_MAX : (after - before) * change->count;
}

const tesela_report_change *report_since_change(const tesela_report_diff *diff, bool padding,
                                                int64_t *bytes) {
  const tesela_report_change *most = NULL;
  *bytes = 0;
  for (int64_t i = 0; i < tesela_report_diff_count(diff); i++) {
    const tesela_report_change *change = tesela_report_diff_at(diff, i);
    int64_t more = padding ? more_padding(change) : change->bytes;
    if (more <= *bytes) continue;
    *bytes = more;
    most = change;
  }
  return most;
}

/* ---- as an answer ------------------------------------------------------------------------------------------ */

static void put_array(tesela_sink *j, const char *name, const tesela_report_buffer *buffer) {
  tesela_put_key(j, name);
  tesela_put_text_n(j, buffer->shape, (size_t)buffer->shape_bytes);
}

static void put_grown(tesela_sink *j, const report_grown *row) {
  tesela_put_object(j);
  if (row->n_after > 0)
    put_array(j, "shape", &row->array);
  else
    tesela_put_key_text(j, "shape", NULL);
  if (row->n_before > 0)
    put_array(j, "was", &row->was);
  else
    tesela_put_key_text(j, "was", NULL);
  tesela_put_key_int(j, "bytes", row->after_bytes - row->before_bytes);
  tesela_put_key_int(j, "before_bytes", row->before_bytes);
  tesela_put_key_int(j, "after_bytes", row->after_bytes);
  tesela_put_key_int(j, "before_count", row->n_before);
  tesela_put_key_int(j, "after_count", row->n_after);
  tesela_put_key_text(j, "name", row->array.instruction);
  tesela_put_key_text(j, "op_name", row->array.op_name[0] ? row->array.op_name : NULL);
  tesela_put_key_text(j, "location", row->array.location[0] ? row->array.location : NULL);
  tesela_put_key_int(j, "line", row->array.line);
  tesela_put_end(j);
}

void report_put_since_peak(tesela_sink *j, const changes_ask *ask) {
  int32_t space = report_peak_space(&ask->after);
  int64_t n, bytes[2], top = ask->after.top;
  report_grown *rows;
  tesela_put_key(j, "at_peak");
  if (!report_since_peaks(&ask->before, &ask->after, space, bytes)) {
    tesela_put_null(j);
    return;
  }
  tesela_put_object(j);
  tesela_put_key_int(j, "space", space);
  tesela_put_key_int(j, "before_bytes", bytes[0]);
  tesela_put_key_int(j, "after_bytes", bytes[1]);
  if (report_since(&ask->before, &ask->after, space, &rows, &n) != TESELA_OK) j->stopped = true;
  tesela_put_key_int(j, "rows_left_out", n > top ? n - top : 0);
  tesela_put_key_list(j, "changes");
  for (int64_t i = 0; i < n && i < top && !j->stopped; i++) put_grown(j, &rows[i]);
  tesela_put_end(j);
  tesela_put_end(j);
  free(rows);
}
