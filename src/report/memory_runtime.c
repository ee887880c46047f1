/* SPDX-License-Identifier: Apache-2.0 */
/*
 * memory_runtime.c - messages of allocators at run time. They name no array: their figures are kept, and a note says what to get.
 *
 * One row for each kind of message. Figures stand in this order, each after its word.
 */
#include "report/report_state.h"

static const char dump[] =
    "for its arrays, run with XLA_FLAGS=--xla_dump_to=FOLDER, then tesela report FOLDER";
static const char snapshot[] =
    "for its tensors, record torch.cuda.memory._record_memory_history() and look at its snapshot";

static const struct runtime_row {
  const char *word, *before_name; /* what the line has; what stands before the allocator's name, or NULL */
  struct {
    const char *word;
    tesela_report_figure figure;
  } figure[5];
  bool goes_on; /* with the message before it, unless that has these figures */
  const char *whose, *instead;
} rows[] = {
    {"ran out of memory trying to allocate ",
     "Allocator (",
     {{"to allocate ", TESELA_REPORT_REQUESTED}},
     false,
     "the BFC allocator",
     dump},
    {"Sum Total of in-use chunks:",
     NULL,
     {{"chunks:", TESELA_REPORT_IN_USE}},
     true,
     "the BFC allocator",
     dump},
    {"Attempting to reserve ",
     NULL,
     {{"to reserve ", TESELA_REPORT_REQUESTED},
      {"There are ", TESELA_REPORT_FREE},
      {"free, ", TESELA_REPORT_RESERVED},
      {"reserved, and ", TESELA_REPORT_RESERVABLE}},
     false,
     "a TPU's runtime that loads a program",
     dump},
    {"Attempting to allocate ",
     NULL,
     {{"to allocate ", TESELA_REPORT_REQUESTED}, {"There are ", TESELA_REPORT_FREE}},
     false,
     "a TPU's runtime",
     dump},
    {"reduce memory use below ",
     NULL,
     {{" below ", TESELA_REPORT_CAPACITY},
      {"reduced to ", TESELA_REPORT_REQUIREMENT},
      {"down from ", TESELA_REPORT_BEFORE}},
     false,
     "XLA's rematerialization",
     dump},
    {"(GPU ",
     NULL,
     {{"Tried to allocate ", TESELA_REPORT_REQUESTED},
      {"; ", TESELA_REPORT_CAPACITY},
      {"; ", TESELA_REPORT_IN_USE},
      {"; ", TESELA_REPORT_FREE},
      {"; ", TESELA_REPORT_RESERVED}},
     false,
     "PyTorch's allocator",
     snapshot},
    {"Tried to allocate ",
     NULL,
     {{"to allocate ", TESELA_REPORT_REQUESTED},
      {" of ", TESELA_REPORT_CAPACITY},
      {"of which ", TESELA_REPORT_FREE},
      {"allocated memory ", TESELA_REPORT_IN_USE},
      {", and ", TESELA_REPORT_UNUSED}},
     false,
     "PyTorch's allocator",
     snapshot},
    {"| Allocated memory ",
     NULL,
     {{"memory      |", TESELA_REPORT_IN_USE}, {"|", TESELA_REPORT_MOST_IN_USE}},
     true,
     "PyTorch's allocator",
     snapshot},
    {"| GPU reserved memory ",
     NULL,
     {{"memory   |", TESELA_REPORT_RESERVED}},
     true,
     "PyTorch's allocator",
     snapshot},
};
enum { N_ROWS = sizeof rows / sizeof rows[0], N_FIGURES = 5 };

/* The figures of a line; false if the first is missing. */
static bool read_figures(tesela__span line, const struct runtime_row *row, tesela_report_printed *figure) {
  for (int i = 0; i < N_FIGURES; i++) {
    const char *p = row->figure[i].word ? tesela__find(line, row->figure[i].word) : NULL;
    figure[i] = (tesela_report_printed){.bytes = -1};
    if (!p) continue;
    line = tesela__from(line, p + strlen(row->figure[i].word));
    tesela__memory_figure(line, &figure[i]);
  }
  return figure[0].text[0] != '\0';
}

static tesela__span allocator_name(tesela__span line, const struct runtime_row *row) {
  const char *p = row->before_name ? tesela__find(line, row->before_name) : NULL;
  if (!p) return (tesela__span){"", 0};
  p += strlen(row->before_name);
  return tesela__between(p, tesela__skip_name(p, line.text + line.n));
}

static bool keep_message(tesela_report *report, tesela__span line, const struct runtime_row *row,
                         const tesela_report_printed *figure) {
  int32_t open = report->memory.section;
  bool another = !row->goes_on || (open >= 0 && report->section[open].figure[row->figure[0].figure].text[0]);
  if (!tesela__memory_need_section(report, another, allocator_name(line, row))) return false;
  tesela_report_section *section = &report->section[report->memory.section];
  for (int i = 0; i < N_FIGURES; i++)
    if (figure[i].text[0]) section->figure[row->figure[i].figure] = figure[i];
  tesela__report_note(report, TESELA_REPORT_RUNTIME, report->line,
                      "a message of %s, which names no array; %s", row->whose, row->instead);
  return true;
}

bool tesela__memory_runtime(tesela_report *report, tesela__span line, bool *is_one) {
  tesela_report_printed figure[N_FIGURES];
  if (!tesela__memory_may_start(line)) return true;
  for (int i = 0; i < N_ROWS; i++) {
    if (!tesela__find(line, rows[i].word) || !read_figures(line, &rows[i], figure)) continue;
    *is_one = true;
    return keep_message(report, line, &rows[i], figure);
  }
  return true;
}
