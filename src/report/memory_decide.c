/* SPDX-License-Identifier: Apache-2.0 */
/*
 * memory_decide.c - at the end: which of its candidates a row of a memory report is, where other text says so.
 *
 * Two kinds of text have the layouts that a memory report lacks: HLO after optimisation, and the compiler's buffer
 * assignment, whose lines also have the offset of each value:
 *
 *   allocation 7: size 17179869184, preallocated-temp:
 *    value: <12 fusion.1 @0> (size=17179869184,offset=0): f32[32,8,4096,4096]{3,2,1,0:T(8,128)}
 *
 * An array found there supports a candidate of a row if it has its type and dims, is in the same memory space, takes
 * the bytes that the row prints and, where offsets are known, has the row's. A row is decided if one candidate alone is
 * supported and every candidate's type and dims occur: text of another program, or of a part of this one, decides
 * nothing. Arrays without tiles are from before optimisation and say nothing. Cost: a sort of the arrays, then a binary
 * search for each candidate.
 */
#include <stdlib.h>

#include "report/report_state.h"

/* ---- lines of a buffer assignment ---------------------------------------------------------------------- */

/* The number after a word, or -1. */
static int64_t number_behind(tesela__span line, const char *word) {
  const char *p = tesela__find(line, word), *end = line.text + line.n;
  int64_t number = 0;
  if (!p || (p += strlen(word)) >= end || !tesela__is_digit(*p)) return -1;
  for (; p < end && tesela__is_digit(*p); p++)
    if (!tesela__mul(number, 10, &number) || !tesela__add(number, *p - '0', &number)) return -1;
  return number;
}

bool tesela__memory_value(tesela_report *report, tesela__span line, bool *is_one) {
  tesela__shape shape;
  const char *first = tesela__skip_blanks(line.text, line.text + line.n);
  *is_one = false;
  if (!tesela__looking_at(first, line.text + line.n, "value: <")) return true;
  line = tesela__trim(line);
  const char *start = tesela__find(line, "): ");
  int64_t offset = number_behind(line, ",offset=");
  if (!start || offset < 0 || number_behind(line, "(size=") < 0) return true;
  *is_one = true;
  tesela__span text = tesela__from(line, start + 3);
  const char *close = tesela__skip_array(text.text, text.text + text.n);
  if (!close) return true; /* a tuple: the table of its members */
  text = tesela__between(text.text, close);
  tesela__report_measure(text, &shape);
  if (shape.state != TESELA__SHAPE_SIZED || !shape.tiled) return true;
  report->values_cut = report->values_cut || report->n_values >= (size_t)report->options.entries;
  if (report->values_cut) return true;
  void *values = report->value;
  const char *copy = tesela__arena_copy(&report->text, &report->allocator, text);
  if (!copy || !tesela__grow(&report->allocator, &values, sizeof *report->value, &report->cap_values,
                             report->n_values + 1))
    return tesela__report_no_memory(report);
  report->value = values;
  report->value[report->n_values++] = (tesela__value){copy, offset, shape.stored, shape.data, shape.space};
  return true;
}

/* ---- arrays by type and dims --------------------------------------------------------------------------- */

/* "f32[3,4]" of "f32[3,4]{1,0:T(8,128)}". */
static tesela__span type_and_dims(const char *shape) {
  const char *close = strchr(shape, ']');
  return close ? tesela__between(shape, close + 1) : tesela__text(shape);
}

static int compare_type_and_dims(tesela__span a, tesela__span b) {
  int order = memcmp(a.text, b.text, a.n < b.n ? a.n : b.n);
  if (order != 0) return order;
  return a.n < b.n ? -1 : a.n > b.n;
}

static int compare_values(const void *a, const void *b) {
  return compare_type_and_dims(type_and_dims(((const tesela__value *)a)->shape),
                               type_and_dims(((const tesela__value *)b)->shape));
}

/* Arrays that give the layout of a shape, sorted by type and dims. */
typedef struct evidence {
  tesela__value *value;
  size_t n;
} evidence;

static bool has_tiles(const char *shape) {
  const char *close = strchr(shape, ']');
  return close && strstr(close, ":T(") != NULL;
}

/* The counted arrays of HLO text. None if some of them were not kept: one could be missing. */
static bool take_hlo(tesela_report *report, evidence *hlo) {
  *hlo = (evidence){NULL, 0};
  if (report->unlisted[TESELA_REPORT_HLO].arrays > 0 || report->n_arrays == 0) return true;
  hlo->value =
      tesela__alloc(&report->allocator, report->n_arrays * sizeof *hlo->value, alignof(tesela__value));
  if (!hlo->value) return tesela__report_no_memory(report);
  for (size_t i = 0; i < report->n_arrays; i++) {
    const tesela_report_array *array = &report->array[i].public;
    if (array->source != TESELA_REPORT_HLO || array->count == 0 || !has_tiles(array->shape)) continue;
    hlo->value[hlo->n++] =
        (tesela__value){array->shape, -1, array->stored_bytes, array->data_bytes, array->memory_space};
  }
  if (hlo->n > 0) qsort(hlo->value, hlo->n, sizeof *hlo->value, compare_values);
  return true;
}

/* The arrays of a type and dims: *n of them from the one that is returned on. */
static const tesela__value *find_values(const evidence *from, tesela__span dims, size_t *n) {
  size_t low = 0, high = from->n;
  while (low < high) {
    size_t middle = low + (high - low) / 2;
    if (compare_type_and_dims(type_and_dims(from->value[middle].shape), dims) < 0)
      low = middle + 1;
    else
      high = middle;
  }
  for (*n = 0; low + *n < from->n; ++*n)
    if (compare_type_and_dims(type_and_dims(from->value[low + *n].shape), dims) != 0) break;
  return from->value + low;
}

/* ---- one row ------------------------------------------------------------------------------------------- */

/* What supports a shape of a row. */
typedef struct support {
  bool occurs;                /* its type and dims do */
  const tesela__value *first; /* NULL: nothing supports it */
  int32_t layouts;            /* different texts */
  bool one_size;
  int64_t least_padding, most_padding;
} support;

static bool supports(const tesela__value *value, const tesela__array *row) {
  const tesela_report_array *array = &row->public;
  return value->space == array->memory_space && (value->offset < 0 || value->offset == row->offset) &&
         tesela__prints_as(value->stored, &array->size);
}

static support find_support(const evidence *from, const tesela__array *row, const char *shape) {
  size_t n;
  const tesela__value *value = find_values(from, type_and_dims(shape), &n);
  support found = {.occurs = n > 0, .one_size = true};
  for (size_t i = 0; i < n; i++) {
    int64_t padding = value[i].stored - value[i].data;
    bool first = !found.first;
    if (!supports(&value[i], row)) continue;
    if (first) {
      found.first = &value[i];
      found.least_padding = found.most_padding = padding;
    }
    found.layouts += first || strcmp(value[i].shape, found.first->shape) != 0;
    found.one_size = found.one_size && value[i].stored == found.first->stored;
    found.least_padding = tesela__min(found.least_padding, padding);
    found.most_padding = tesela__max(found.most_padding, padding);
  }
  return found;
}

static void move_sum(int64_t *sum, int64_t before, int64_t after) {
  if (*sum != INT64_MAX) *sum += after - before;
}

static void take_support(tesela_report *report, tesela__array *row, const char *shape, const support *found) {
  tesela_report_array *array = &row->public;
  tesela_report_section *section = &report->section[array->section];
  tesela__array_bytes before = tesela__report_bytes(array);
  array->shape = shape;
  array->fitted = found->first->shape;
  array->sized = found->one_size;
  array->stored_bytes = found->first->stored;
  array->data_bytes = found->first->data;
  array->data_known = array->decided = true;
  array->least_padding_bytes = found->least_padding;
  array->most_padding_bytes = found->most_padding;
  array->layouts = found->layouts;
  array->explained = found->layouts == 1;
  array->candidate = NULL;
  array->n_candidates = 0;
  move_sum(&section->stored_bytes, before.stored, array->stored_bytes);
  move_sum(&section->data_bytes, before.data, array->data_bytes);
  move_sum(&section->least_padding_bytes, before.least_padding, array->least_padding_bytes);
  move_sum(&section->most_padding_bytes, before.most_padding, array->most_padding_bytes);
}

/* Decide a row from one kind of text; false if that does not. */
static bool decide_row(tesela_report *report, tesela__array *row, const evidence *from) {
  tesela_report_array *array = &row->public;
  int32_t n = array->n_candidates > 0 ? array->n_candidates : 1, n_supported = 0;
  const char *supported = NULL;
  support its = {.first = NULL};
  if (from->n == 0) return false;
  for (int32_t i = 0; i < n; i++) {
    const char *shape = array->n_candidates > 0 ? array->candidate[i].shape : array->shape;
    support found = find_support(from, row, shape);
    if (!found.occurs) return false;
    if (!found.first) continue;
    its = found;
    supported = shape;
    n_supported++;
  }
  if (n_supported != 1) return false;
  take_support(report, row, supported, &its);
  return true;
}

/* Rows that other text can clarify. */
static bool is_open(const tesela_report_array *array) {
  return array->source == TESELA_REPORT_MEMORY && array->count > 0 && !array->incomplete &&
         (array->n_candidates > 1 || (array->layouts > 1 && !array->disagree));
}

/* ---- notes --------------------------------------------------------------------------------------------- */

static void note_row(tesela_report *report, const tesela__array *row) {
  const tesela_report_array *array = &row->public;
  tesela_report_note_kind kind = array->n_candidates > 1 ? TESELA_REPORT_ONE_OF : TESELA_REPORT_NO_TILE;
  bool first = report->note[kind].count == 0;
  if (array->n_candidates > 1)
    tesela__report_note(report, kind, array->line,
                        "entry %" PRId64 ": %" PRId32
                        " shapes have its size %s, among them %.80s and %.80s; add the program's optimised "
                        "HLO or buffer assignment to decide",
                        row->number, array->n_candidates, array->size.text, array->candidate[0].shape,
                        array->candidate[1].shape);
  else if (array->fitted[0] && !array->decided)
    tesela__report_note(report, kind, array->line,
                        "entry %" PRId64 ": the shape has no tile; %.120s fits the compiler's size %s",
                        row->number, array->fitted, array->size.text);
  if (first) report->note[kind].input = array->input;
}

bool tesela__memory_decide(tesela_report *report) {
  evidence values = {report->value, report->values_cut ? 0 : report->n_values}, hlo = {NULL, 0};
  bool any = false;
  for (size_t i = 0; i < report->n_arrays && !any; i++) any = is_open(&report->array[i].public);
  if (any && !take_hlo(report, &hlo)) return false;
  if (values.n > 0) qsort(values.value, values.n, sizeof *values.value, compare_values);
  for (size_t i = 0; i < report->n_arrays; i++) {
    tesela__array *row = &report->array[i];
    if (is_open(&row->public) && !decide_row(report, row, &values)) decide_row(report, row, &hlo);
    if (row->public.source == TESELA_REPORT_MEMORY && row->public.count > 0) note_row(report, row);
  }
  tesela__release(&report->allocator, hlo.value);
  return true;
}
