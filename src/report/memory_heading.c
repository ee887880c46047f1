/* SPDX-License-Identifier: Apache-2.0 */
/*
 * memory_heading.c - lines of a memory report other than entries: headings, and figures below them.
 *
 *   "... memory space hbm. Used 19.46G of 15.48G hbm. Exceeded hbm capacity by 3.98G."
 *   "Total hbm usage >= 19.98G:"   "Program hbm requirement 19.46G:"        then lines "word figure"
 *   "Largest program allocations in hbm:"   "Peak buffers:"                 then entries
 *   "Memory Space: vmem (color=1)"   "cumulative_size; size; offset; ..."     then rows of a table
 *   "... required for HLO temporaries (24.03G) exceeds available HBM (15.75G)."   and nothing more
 *   "... on stack for %f = f32[...] fusion(...). Scoped allocation with size 117.19M and limit 16.00M ..."
 *   "Allocation (size=21474836480) would exceed memory (size=17179869184) :: ... [shape = 's32[...]', ..."
 *
 * A heading continues the report that is open if this part of it is new, else it starts another one.
 */
#include "report/report_state.h"

/* ---- figures ------------------------------------------------------------------------------------------- */

static tesela_report_section *open_section(tesela_report *report) {
  return report->memory.section < 0 ? NULL : &report->section[report->memory.section];
}

static bool has_figure(const tesela_report *report, tesela_report_figure figure) {
  int32_t section = report->memory.section;
  return section >= 0 && report->section[section].figure[figure].text[0] != '\0';
}

/* The figure after a word, if the section has none of it yet. Returns where to look for the next one. */
static tesela__span take_figure(tesela_report *report, tesela__span line, const char *word,
                                tesela_report_figure figure) {
  const char *p = tesela__find(line, word);
  if (!p) return line;
  tesela__span rest = tesela__from(line, p + strlen(word));
  if (!has_figure(report, figure)) tesela__memory_figure(rest, &open_section(report)->figure[figure]);
  return rest;
}

/* Lines "word figure" below a heading. */
static const struct {
  const char *word;
  tesela__part part;
  tesela_report_figure figure;
} figure_rows[] = {
    {"reserved", TESELA__PART_USAGE, TESELA_REPORT_RESERVED},
    {"program", TESELA__PART_USAGE, TESELA_REPORT_PROGRAM},
    {"arguments", TESELA__PART_USAGE, TESELA_REPORT_ARGUMENTS},
    {"global", TESELA__PART_REQUIREMENT, TESELA_REPORT_GLOBAL},
    {"scoped", TESELA__PART_REQUIREMENT, TESELA_REPORT_SCOPED},
    {"HLO temp", TESELA__PART_REQUIREMENT, TESELA_REPORT_TEMP},
    {"parameter allocation:", TESELA__PART_STATS, TESELA_REPORT_ARGUMENTS},
    {"constant allocation:", TESELA__PART_STATS, TESELA_REPORT_CONSTANTS},
    {"maybe_live_out allocation:", TESELA__PART_STATS, TESELA_REPORT_OUTPUT},
    {"preallocated temp allocation:", TESELA__PART_STATS, TESELA_REPORT_TEMP},
    {"total allocation:", TESELA__PART_STATS, TESELA_REPORT_PROGRAM},
    {"total fragmentation:", TESELA__PART_STATS, TESELA_REPORT_FRAGMENTATION},
};
enum { N_FIGURE_ROWS = sizeof figure_rows / sizeof figure_rows[0] };

bool tesela__memory_figure_line(tesela_report *report, tesela__span line) {
  for (int i = 0; i < N_FIGURE_ROWS && open_section(report); i++) {
    if (figure_rows[i].part != report->memory.part) continue;
    const char *p = tesela__find(line, figure_rows[i].word);
    if (!p || !tesela__at_word(line, p)) continue;
    tesela__span rest = take_figure(report, line, figure_rows[i].word, figure_rows[i].figure);
    rest = take_figure(report, rest, "Unpadded (", TESELA_REPORT_TEMP_UNPADDED);
    rest = take_figure(report, rest, "Padded (", TESELA_REPORT_TEMP_PADDED);
    take_figure(report, rest, "fragmentation (", TESELA_REPORT_FRAGMENTATION);
    return true;
  }
  return false;
}

/* ---- headings ------------------------------------------------------------------------------------------ */

static const struct heading_row {
  const char *word;          /* occurs in the line */
  const char *before_figure; /* so does this after it, and then a figure; NULL: nothing */
  const char *before_name;   /* of the memory space; NULL: no name */
  tesela__part part;         /* what comes below */
  enum { GOES_ON, STARTS, STARTS_LIST, IS_ENTRY } effect; /* on the report */
  struct {
    const char *word;
    tesela_report_figure figure;
  } figure[3]; /* one after the other; where the first is there already, another report starts */
} heading_rows[] = {
    {"memory space ",
     "Used ",
     "memory space ",
     TESELA__PART_NONE,
     STARTS,
     {{"Used ", TESELA_REPORT_USED}, {" of ", TESELA_REPORT_CAPACITY}, {"by ", TESELA_REPORT_EXCEEDED}}},
    {"Total ", "usage >=", "Total ", TESELA__PART_USAGE, STARTS, {{"usage >=", TESELA_REPORT_USAGE}}},
    {"Program ",
     " requirement ",
     "Program ",
     TESELA__PART_REQUIREMENT,
     STARTS,
     {{" requirement ", TESELA_REPORT_REQUIREMENT}}},
    {"Output size ",
     "",
     NULL,
     TESELA__PART_NONE,
     GOES_ON,
     {{"Output size ", TESELA_REPORT_OUTPUT}, {"shares ", TESELA_REPORT_SHARED}}},
    {"Largest program allocations in ",
     NULL,
     "allocations in ",
     TESELA__PART_LIST,
     STARTS_LIST,
     {{NULL, TESELA_REPORT_N_FIGURES}}},
    {"BufferAssignment stats:", NULL, NULL, TESELA__PART_STATS, STARTS, {{NULL, TESELA_REPORT_N_FIGURES}}},
    {"Peak buffers:", NULL, NULL, TESELA__PART_LIST, STARTS_LIST, {{NULL, TESELA_REPORT_N_FIGURES}}},
    {"Memory Space: ", NULL, "Memory Space: ", TESELA__PART_TABLE, STARTS, {{NULL, TESELA_REPORT_N_FIGURES}}},
    {"Total bytes", " (", NULL, TESELA__PART_TABLE, GOES_ON, {{" (", TESELA_REPORT_USAGE}}},
    {"cumulative_size;", NULL, NULL, TESELA__PART_TABLE, STARTS_LIST, {{NULL, TESELA_REPORT_N_FIGURES}}},
    {"HLO temporaries (",
     "",
     "memory on ",
     TESELA__PART_NONE,
     STARTS,
     {{"temporaries (", TESELA_REPORT_TEMP}, {" HBM (", TESELA_REPORT_CAPACITY}}},
    {" on stack for ",
     "Scoped allocation with size ",
     "memory space ",
     TESELA__PART_NONE,
     IS_ENTRY,
     {{"with size ", TESELA_REPORT_USED},
      {"limit ", TESELA_REPORT_CAPACITY},
      {"limit by ", TESELA_REPORT_EXCEEDED}}},
    {"The window shape is ",
     NULL,
     "memory space ",
     TESELA__PART_NONE,
     IS_ENTRY,
     {{NULL, TESELA_REPORT_N_FIGURES}}},
    {") would exceed memory (size=",
     NULL,
     "space=",
     TESELA__PART_NONE,
     IS_ENTRY,
     {{NULL, TESELA_REPORT_N_FIGURES}}},
};
enum { N_HEADING_ROWS = sizeof heading_rows / sizeof heading_rows[0] };

static tesela__span space_name(tesela__span line, const char *before) {
  const char *p = before ? tesela__find(line, before) : NULL;
  if (!p) return (tesela__span){"", 0};
  p += strlen(before);
  tesela__span name = tesela__between(p, tesela__skip_name(p, line.text + line.n));
  while (name.n > 0 && name.text[name.n - 1] == '.') name.n--;
  return name;
}

/* "(color=1)": the number of a memory space, TESELA_REPORT_ANY without. */
static int32_t space_number(tesela__span line) {
  const char *p = tesela__find(line, "(color="), *end = line.text + line.n;
  if (!p || p + 7 == end || !tesela__is_digit(p[7])) return TESELA_REPORT_ANY;
  int32_t color = 0;
  for (p += 7; p < end && tesela__is_digit(*p) && color < 127; p++) color = color * 10 + (*p - '0');
  return color;
}

/* Has the open report this part already? One with tables has several, in order of their memory spaces. */
static bool starts_another(const tesela_report *report, const struct heading_row *row, int32_t space) {
  const tesela__memory_text *memory = &report->memory;
  if (row->part == TESELA__PART_TABLE)
    return memory->listed && space != TESELA_REPORT_ANY && space <= memory->space;
  return memory->listed || memory->pool || (row->figure[0].word && has_figure(report, row->figure[0].figure));
}

/* After "Memory Space:" comes the heading of its rows, and the last row has 100%: else two tables are mixed. */
static void start_table(tesela_report *report, const struct heading_row *row, bool same_space) {
  tesela__memory_text *memory = &report->memory;
  bool starts_twice = row->effect == STARTS && !memory->listed && same_space;
  bool starts_inside =
      row->effect == STARTS_LIST && memory->cumulative > 0 && !(memory->all && memory->headed);
  if (starts_twice || starts_inside) tesela__memory_note_mixed(report, "a table starts inside another");
  memory->cumulative = 0;
  if (row->effect != GOES_ON) memory->headed = row->effect == STARTS_LIST;
}

static bool use_heading(tesela_report *report, tesela__span line, const struct heading_row *row) {
  tesela__memory_text *memory = &report->memory;
  int32_t space = space_number(line);
  bool was_open = memory->section >= 0;
  if (row->effect == GOES_ON && !was_open) return true;
  if (row->effect != GOES_ON && !tesela__memory_need_section(report, starts_another(report, row, space),
                                                             space_name(line, row->before_name)))
    return false;
  tesela__span rest = line;
  for (int i = 0; i < 3 && row->figure[i].word; i++)
    rest = take_figure(report, rest, row->figure[i].word, row->figure[i].figure);
  if (row->part != TESELA__PART_NONE) memory->part = row->part;
  if (row->part == TESELA__PART_TABLE) start_table(report, row, was_open && space == memory->space);
  if (row->effect == STARTS_LIST) memory->listed = true;
  if (space != TESELA_REPORT_ANY) memory->space = space;
  return row->effect != IS_ENTRY || tesela__memory_message(report, line);
}

static bool matches_heading(tesela__span line, const struct heading_row *row) {
  tesela_report_printed figure;
  const char *p = tesela__find(line, row->word);
  if (!p) return false;
  tesela__span rest = tesela__from(line, p + strlen(row->word));
  if (!row->before_figure && row->before_name &&
      row->effect == STARTS_LIST) { /* prose names it without a colon */
    p = tesela__skip_name(rest.text, rest.text + rest.n);
    return p < rest.text + rest.n && *p == ':';
  }
  if (!row->before_figure) return true;
  if (row->before_figure[0] != '\0') {
    if (!(p = tesela__find(rest, row->before_figure))) return false;
    rest = tesela__from(rest, p + strlen(row->before_figure));
  }
  return tesela__memory_figure(rest, &figure);
}

bool tesela__memory_heading(tesela_report *report, tesela__span line, bool *is_one) {
  for (int i = 0; i < N_HEADING_ROWS; i++) {
    if (!matches_heading(line, &heading_rows[i])) continue;
    *is_one = true;
    return use_heading(report, line, &heading_rows[i]);
  }
  return true;
}

bool tesela__memory_starts_heading(tesela__span text) {
  const char *p = text.text, *end = text.text + text.n;
  for (int i = 0; i < N_HEADING_ROWS; i++)
    if (tesela__looking_at(p, end, heading_rows[i].word)) return true;
  for (int i = 0; i < N_FIGURE_ROWS; i++) {
    size_t n = strlen(figure_rows[i].word);
    if (tesela__looking_at(p, end, figure_rows[i].word) && p + n < end && p[n] == ' ') return true;
  }
  return false;
}
