/* SPDX-License-Identifier: Apache-2.0 */
/*
 * query.c - what a finished report answers: totals and the rows that come first in an order.
 *
 * Top lists come from a heap of `capacity` pointers in the caller's own array, so asking allocates nothing
 * and any number of threads may ask.
 */
#include "report/heap.h"
#include "report/report_state.h"

bool tesela__report_matches(const tesela_report_array *array, const tesela_report_filter *filter) {
  if (array->count == 0) return false;
  if (!filter) return true;
  return (filter->source == TESELA_REPORT_ANY || filter->source == (int32_t)array->source) &&
         (filter->role == TESELA_REPORT_ANY || filter->role == (int32_t)array->role) &&
         (filter->space == TESELA_REPORT_ANY || filter->space == array->memory_space);
}

static int64_t saturating_times(int64_t value, int64_t count) {
  int64_t product;
  return tesela__mul(value, count, &product) ? product : INT64_MAX;
}

static void saturating_add(int64_t *sum, int64_t value) {
  if (!tesela__add(*sum, value, sum)) *sum = INT64_MAX;
}

tesela_report_totals tesela_report_total(const tesela_report *report, const tesela_report_filter *filter) {
  tesela_report_totals totals = {0};
  if (!report) return totals;
  for (size_t i = 0; i < report->n_arrays; i++) {
    const tesela_report_array *array = &report->array[i].public;
    if (!tesela__report_matches(array, filter)) continue;
    totals.rows++;
    saturating_add(&totals.arrays, array->count);
    if (!array->data_known) {
      saturating_add(&totals.unknown_arrays, array->count);
      saturating_add(&totals.unknown_bytes, saturating_times(array->stored_bytes, array->count));
    }
    saturating_add(&totals.stored_bytes, saturating_times(array->stored_bytes, array->count));
    saturating_add(&totals.data_bytes, saturating_times(array->data_bytes, array->count));
    saturating_add(&totals.padding_bytes, saturating_times(array->least_padding_bytes, array->count));
    saturating_add(&totals.most_padding_bytes, saturating_times(array->most_padding_bytes, array->count));
  }
  for (int source = 0; source < TESELA_REPORT_N_SOURCES; source++) {
    const tesela_report_totals *more = &report->unlisted[source];
    if (filter && filter->source != TESELA_REPORT_ANY && filter->source != source) continue;
    if (filter && (filter->role != TESELA_REPORT_ANY || filter->space != TESELA_REPORT_ANY)) continue;
    saturating_add(&totals.arrays, more->arrays);
    saturating_add(&totals.stored_bytes, more->stored_bytes);
    saturating_add(&totals.data_bytes, more->data_bytes);
    saturating_add(&totals.padding_bytes, more->padding_bytes);
    saturating_add(&totals.most_padding_bytes, more->most_padding_bytes);
  }
  return totals;
}

/* ---- orders -------------------------------------------------------------------------------------------- */

static int64_t row_size(const tesela_report_array *array) {
  return saturating_times(array->stored_bytes, array->count);
}

static int64_t row_waste(const tesela_report_array *array) {
  return saturating_times(array->least_padding_bytes, array->count);
}

static double row_expansion(const tesela_report_array *array) {
  if (array->stored_bytes == array->data_bytes) return 1;
  return array->data_bytes > 0 ? (double)array->stored_bytes / (double)array->data_bytes : (double)INT64_MAX;
}

/* Does a come before b? `order` is a tesela_report_order. Ties: the larger, then the one that was seen first.
 */
static bool row_before(const void *a_row, const void *b_row, const void *order_at) {
  const tesela_report_array *a = a_row, *b = b_row;
  tesela_report_order order = *(const tesela_report_order *)order_at;
  if (order == TESELA_REPORT_BY_WASTE && row_waste(a) != row_waste(b)) return row_waste(a) > row_waste(b);
  if (order == TESELA_REPORT_BY_EXPANSION && row_expansion(a) > row_expansion(b)) return true;
  if (order == TESELA_REPORT_BY_EXPANSION && row_expansion(a) < row_expansion(b)) return false;
  if (row_size(a) != row_size(b)) return row_size(a) > row_size(b);
  return a < b;
}

void tesela_report_top(const tesela_report *report, const tesela_report_filter *filter,
                       tesela_report_order order, int64_t capacity, const tesela_report_array **top,
                       int64_t *n) {
  size_t kept = 0, room = capacity > 0 && report && top ? (size_t)capacity : 0;
  if (!n) return;
  const void **heap = (const void **)(void *)top;
  for (size_t i = 0; room > 0 && i < report->n_arrays; i++) {
    const tesela_report_array *array = &report->array[i].public;
    if (!tesela__report_matches(array, filter)) continue;
    if (kept < room) {
      heap[kept++] = array;
      if (kept == room) tesela__heap_make(heap, kept, row_before, &order);
    } else if (row_before(array, heap[0], &order)) {
      heap[0] = array;
      tesela__heap_sink(heap, 0, kept, row_before, &order);
    }
  }
  tesela__heap_sort(heap, kept, row_before, &order);
  *n = (int64_t)kept;
}

/* ---- lists --------------------------------------------------------------------------------------------- */

int64_t tesela_report_n_sections(const tesela_report *report) {
  return report ? (int64_t)report->n_sections : 0;
}

const tesela_report_section *tesela_report_section_at(const tesela_report *report, int64_t i) {
  return report && i >= 0 && i < (int64_t)report->n_sections ? &report->section[i] : NULL;
}

int64_t tesela_report_n_inputs(const tesela_report *report) { return report ? (int64_t)report->n_inputs : 0; }

const tesela_report_input *tesela_report_input_at(const tesela_report *report, int64_t i) {
  return report && i >= 0 && i < (int64_t)report->n_inputs ? &report->input[i] : NULL;
}

int64_t tesela_report_n_notes(const tesela_report *report) {
  if (!report) return 0;
  int64_t n = 0;
  for (int kind = 0; kind < TESELA_REPORT_N_NOTES; kind++) n += report->note[kind].count > 0;
  return n;
}

const tesela_report_note *tesela_report_note_at(const tesela_report *report, int64_t i) {
  if (!report) return NULL;
  for (int kind = 0; kind < TESELA_REPORT_N_NOTES; kind++)
    if (report->note[kind].count > 0 && i-- == 0) return &report->note[kind];
  return NULL;
}
