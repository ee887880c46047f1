/* SPDX-License-Identifier: Apache-2.0 */
/*
 * sections.c - memory reports and modules as they are found, and the notes about them; names of the public
 * lists.
 */
#include "report/report_state.h"

#include <stdarg.h>
#include <stdio.h>

#include "report/heap.h"

enum { MAX_SECTIONS = 4096 }; /* what comes then is added to the last one */

bool tesela__report_new_section(tesela_report *report, tesela_report_source source, tesela__span name,
                                int32_t *number) {
  if (report->n_sections >= MAX_SECTIONS) {
    tesela__report_note(report, TESELA_REPORT_TOO_MANY, report->line,
                        "more than %d memory reports and modules; the rest are added to the last one",
                        MAX_SECTIONS);
    *number = MAX_SECTIONS - 1;
    return true;
  }
  void *sections = report->section;
  const char *copy = tesela__arena_copy(&report->text, &report->allocator, name);
  if (!copy || !tesela__grow(&report->allocator, &sections, sizeof *report->section, &report->cap_sections,
                             report->n_sections + 1))
    return tesela__report_no_memory(report);
  report->section = sections;
  *number = (int32_t)report->n_sections;
  tesela_report_section *section = &report->section[report->n_sections++];
  *section = (tesela_report_section){.source = source,
                                     .name = copy,
                                     .line = report->line,
                                     .input = (int32_t)report->n_inputs - 1,
                                     .n_arguments = -1,
                                     .n_results = -1};
  for (int f = 0; f < TESELA_REPORT_N_FIGURES; f++) section->figure[f].bytes = -1;
  report->input[section->input].sections++;
  return true;
}

/* ---- by name ---------------------------------------------------------------------------------------------- */

static bool section_before(const void *a_section, const void *b_section, const void *user) {
  const tesela_report_section *a = a_section, *b = b_section;
  (void)user;
  const int difference = strcmp(a->name, b->name);
  return difference != 0 ? difference < 0 : a < b;
}

bool tesela__report_sort_sections(tesela_report *report) {
  const void **list =
      tesela__alloc(&report->allocator, (report->n_sections + 1) * sizeof *list, alignof(const void *));
  if (!list) return tesela__report_no_memory(report);
  for (size_t i = 0; i < report->n_sections; i++) list[i] = &report->section[i];
  tesela__heap_sort(list, report->n_sections, section_before, NULL);
  report->by_name = list;
  return true;
}

int64_t tesela_report_find_section(const tesela_report *report, const char *name, int64_t from) {
  if (!report || !report->by_name || !name) return -1;
  size_t low = 0, high = report->n_sections;
  while (low < high) {
    const size_t middle = (low + high) / 2;
    const tesela_report_section *section = report->by_name[middle];
    const int difference = strcmp(section->name, name);
    if (difference < 0 || (difference == 0 && section - report->section < from))
      low = middle + 1;
    else
      high = middle;
  }
  if (low == report->n_sections) return -1;
  const tesela_report_section *found = report->by_name[low];
  return strcmp(found->name, name) == 0 ? found - report->section : -1;
}

static const struct {
  const char *code;
  bool loud;
} note_rows[] = {
#define TESELA__ROW(symbol, code, loud) [symbol] = {code, loud},
    TESELA_REPORT_NOTE_MAP(TESELA__ROW)
#undef TESELA__ROW
};

void tesela__report_note(tesela_report *report, tesela_report_note_kind kind, int64_t line,
                         const char *format, ...) {
  tesela_report_note *note = &report->note[kind];
  if (note->count++ > 0) return;
  note->kind = kind;
  note->code = note_rows[kind].code;
  note->loud = note_rows[kind].loud;
  note->input = (int32_t)report->n_inputs - 1;
  note->line = line;
  va_list args;
  va_start(args, format);
  if (vsnprintf(note->text, sizeof note->text, format, args) >= (int)sizeof note->text)
    tesela__end_cut(note->text, sizeof note->text);
  va_end(args);
}

/* ---- names --------------------------------------------------------------------------------------------- */

#define TESELA__ROW(symbol, name, words) [symbol] = name,
static const char *const source_names[] = {TESELA_REPORT_SOURCE_MAP(TESELA__ROW)};
static const char *const role_names[] = {TESELA_REPORT_ROLE_MAP(TESELA__ROW)};
static const char *const figure_names[] = {TESELA_REPORT_FIGURE_MAP(TESELA__ROW)};
static const char *const stat_names[] = {TESELA_REPORT_STAT_MAP(TESELA__ROW)};
static const char *const refusal_names[] = {TESELA_REPORT_REFUSAL_MAP(TESELA__ROW)};
#undef TESELA__ROW
#define TESELA__ROW(symbol, name, words) [symbol] = words,
static const char *const figure_texts[] = {TESELA_REPORT_FIGURE_MAP(TESELA__ROW)};
#undef TESELA__ROW

#define NAME_OF(list, n, i) ((unsigned)(i) < (unsigned)(n) ? (list)[i] : NULL)

const char *tesela_report_source_name(tesela_report_source source) {
  return NAME_OF(source_names, TESELA_REPORT_N_SOURCES, source);
}
const char *tesela_report_role_name(tesela_report_role role) {
  return NAME_OF(role_names, TESELA_REPORT_N_ROLES, role);
}
const char *tesela_report_figure_name(tesela_report_figure figure) {
  return NAME_OF(figure_names, TESELA_REPORT_N_FIGURES, figure);
}
const char *tesela_report_figure_text(tesela_report_figure figure) {
  return NAME_OF(figure_texts, TESELA_REPORT_N_FIGURES, figure);
}
const char *tesela_report_stat_name(tesela_report_stat stat) {
  return NAME_OF(stat_names, TESELA_REPORT_N_STATS, stat);
}
const char *tesela_report_refusal_name(tesela_report_refusal refusal) {
  return NAME_OF(refusal_names, TESELA_REPORT_N_REFUSALS, refusal);
}
