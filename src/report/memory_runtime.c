/* SPDX-License-Identifier: Apache-2.0 */
/*
 * memory_runtime.c - messages of allocators at run time. They name no array: their figures are kept, and a note says what to get.
 *
 * One row for each kind of message. Figures stand in this order, each after its word. A message whose last word is missing goes on
 * in the next lines. What allocators print about themselves has readers of its own: runtime_bfc.c, runtime_torch.c.
 */
#include "report/report_state.h"

enum { MOST_FIGURES = 8, MOST_LINES = 16, MOST_HELD = 2000 };

typedef struct tesela__message {
  const char *word, *before_name; /* what the line has; what stands before the allocator's name, or NULL */
  struct {
    const char *word;
    tesela_report_figure figure;
    bool behind; /* the word comes after its figure */
  } figure[MOST_FIGURES];
  const char *last; /* word of a message that may be spread over lines, or NULL */
  const char *whose;
  tesela__pool_kind kind;
  bool compiler; /* the compiler says it: no allocator */
} message_row;

static const message_row rows[] = {
    {.word = "ran out of memory trying to allocate ",
     .before_name = "Allocator (",
     .figure = {{"to allocate ", TESELA_REPORT_REQUESTED}},
     .whose = "the BFC allocator",
     .kind = TESELA__POOL_BFC},
    {.word = "Attempting to reserve ",
     .figure = {{"to reserve ", TESELA_REPORT_REQUESTED},
                {"There are ", TESELA_REPORT_FREE},
                {"free, ", TESELA_REPORT_RESERVED},
                {"reserved, and ", TESELA_REPORT_RESERVABLE}},
     .last = "reservable",
     .whose = "a TPU's runtime that loads a program"},
    {.word = "Attempting to allocate ",
     .figure = {{"to allocate ", TESELA_REPORT_REQUESTED}, {"There are ", TESELA_REPORT_FREE}},
     .last = "free",
     .whose = "a TPU's runtime"},
    {.word = "reduce memory use below ",
     .figure = {{" below ", TESELA_REPORT_CAPACITY},
                {"reduced to ", TESELA_REPORT_REQUIREMENT},
                {"down from ", TESELA_REPORT_BEFORE}},
     .whose = "XLA's rematerialization",
     .compiler = true},
    {.word = "backend out of memory (",
     .figure = {{"MPS allocated: ", TESELA_REPORT_IN_USE},
                {"). Tried ", TESELA_REPORT_ALLOWED, true},
                {"to allocate ", TESELA_REPORT_REQUESTED}},
     .last = "to allocate ",
     .whose = "PyTorch's allocator",
     .kind = TESELA__POOL_TORCH},
    {.word = "(GPU ",
     .figure = {{"Tried to allocate ", TESELA_REPORT_REQUESTED},
                {"; ", TESELA_REPORT_CAPACITY},
                {"; ", TESELA_REPORT_IN_USE},
                {"; ", TESELA_REPORT_FREE},
                {"; ", TESELA_REPORT_RESERVED}},
     .last = "by PyTorch",
     .whose = "PyTorch's allocator",
     .kind = TESELA__POOL_TORCH},
    {.word = "Tried to allocate ",
     .figure = {{"to allocate ", TESELA_REPORT_REQUESTED},
                {" of ", TESELA_REPORT_CAPACITY},
                {"of which ", TESELA_REPORT_FREE},
                {"this process has ", TESELA_REPORT_PROCESS},
                {" allowed; ", TESELA_REPORT_ALLOWED, true},
                {"allocated memory ", TESELA_REPORT_IN_USE},
                {", with ", TESELA_REPORT_PRIVATE},
                {", and ", TESELA_REPORT_UNUSED}},
     .last = "unallocated",
     .whose = "PyTorch's allocator",
     .kind = TESELA__POOL_TORCH},
};
enum { N_ROWS = sizeof rows / sizeof rows[0] };

/* ---- figures ------------------------------------------------------------------------------------------- */

/* Where a word ends in a text, or NULL. A line that was cut may have lost the blanks of the word. */
static const char *find_loosely(tesela__span text, const char *word, const char **start) {
  const char *end = text.text + text.n;
  for (const char *from = text.text; from < end; from++) {
    const char *p = from, *w = word;
    for (; *w; w++) {
      if (*w == ' ')
        p = tesela__skip_blanks(p, end);
      else if (p < end && *p == *w)
        p++;
      else
        break;
    }
    if (*w) continue;
    *start = from;
    return p;
  }
  return NULL;
}

/* The figure of "22.00 GiB allowed; ", which ends at p. */
static bool figure_before(tesela__span line, const char *p, tesela_report_printed *figure) {
  const char *start = p, *first = line.text;
  while (start > first && (tesela__is_blank(start[-1]) || (start[-1] >= 'A' && start[-1] <= 'z'))) start--;
  while (start > first && (tesela__is_digit(start[-1]) || start[-1] == '.')) start--;
  while (start < p && *start == '.') start++; /* of the sentence before */
  return tesela__memory_figure(tesela__between(start, p), figure);
}

/* The figures of a line; false if the first is missing. */
static bool read_figures(tesela__span line, const message_row *row, tesela_report_printed *figure) {
  for (int i = 0; i < MOST_FIGURES; i++) {
    const char *p, *after = row->figure[i].word ? find_loosely(line, row->figure[i].word, &p) : NULL;
    figure[i] = (tesela_report_printed){.bytes = -1};
    if (!after) continue;
    if (row->figure[i].behind) figure_before(line, p, &figure[i]);
    line = tesela__from(line, after);
    if (!row->figure[i].behind) tesela__memory_figure(line, &figure[i]);
  }
  return figure[0].text[0] != '\0';
}

static tesela__span allocator_name(tesela__span line, const message_row *row) {
  const char *p = row->before_name ? tesela__find(line, row->before_name) : NULL;
  if (!p) return (tesela__span){"", 0};
  p += strlen(row->before_name);
  return tesela__between(p, tesela__skip_name(p, line.text + line.n));
}

static void keep_figures(tesela_report *report, const message_row *row, const tesela_report_printed *figure) {
  tesela_report_section *section = &report->section[report->memory.section];
  for (int i = 0; i < MOST_FIGURES; i++)
    if (figure[i].text[0]) section->figure[row->figure[i].figure] = figure[i];
}

/* "(rounded to 4000000000)" and "from the lower end" of the BFC allocator. */
static void keep_details(tesela__pool *pool, tesela__span line) {
  const char *p = tesela__find(line, "(rounded to "), *end = line.text + line.n;
  if (p) tesela__pool_number(p + 12, end, &pool->public.requested_bytes);
  if (tesela__find(line, " from the lower end")) memcpy(pool->end, "lower", sizeof "lower");
  if (tesela__find(line, " from the upper end")) memcpy(pool->end, "upper", sizeof "upper");
  pool->tagged = pool->end[0] != '\0';
}

/* ---- messages ------------------------------------------------------------------------------------------ */

/* Hold a message that lacks its last word: it may go on in the next lines. */
static bool hold_message(tesela_report *report, tesela__pool *pool, tesela__span line,
                         const message_row *row) {
  pool->message = NULL;
  if (!row->last || line.n > MOST_HELD / 2 || tesela__find(line, row->last)) return true;
  char *room = tesela__arena_take(&report->text, &report->allocator, MOST_HELD);
  if (!room) return tesela__report_no_memory(report);
  memcpy(room, line.text, line.n);
  pool->message = row;
  pool->held = room;
  pool->n_held = line.n;
  pool->lines_left = MOST_LINES;
  return true;
}

static bool keep_message(tesela_report *report, tesela__span line, const message_row *row,
                         const tesela_report_printed *figure) {
  tesela__pool *pool = NULL;
  tesela__span name = allocator_name(line, row);
  if (row->compiler ? !tesela__memory_need_section(report, true, name)
                    : !tesela__pool_open(report, true, name, &pool))
    return false;
  keep_figures(report, row, figure);
  if (pool) pool->kind = row->kind;
  tesela__runtime_note(report, pool, row->whose);
  if (!pool) return true;
  keep_details(pool, line);
  return hold_message(report, pool, line, row);
}

/* Add a line to the message that is held. */
static void read_on(tesela_report *report, tesela__pool *pool, tesela__span line, bool *is_one) {
  tesela_report_printed figure[MOST_FIGURES];
  const message_row *row = pool->message;
  line = tesela__trim(line);
  if (--pool->lines_left < 0 || line.n == 0 || pool->n_held + 1 + line.n > MOST_HELD) {
    pool->message = NULL;
    return;
  }
  pool->held[pool->n_held] = ' ';
  memcpy(pool->held + pool->n_held + 1, line.text, line.n);
  pool->n_held += 1 + line.n;
  if (!read_figures((tesela__span){pool->held, pool->n_held}, row, figure)) return;
  keep_figures(report, row, figure);
  *is_one = true;
  if (tesela__find(line, row->last)) pool->message = NULL;
}

/* A call that the BFC allocator may refuse, since its caller has another way. */
static bool is_no_failure(tesela__span line) { return tesela__find(line, "this is not a failure") != NULL; }

bool tesela__memory_runtime(tesela_report *report, tesela__span line, bool *is_one) {
  tesela_report_printed figure[MOST_FIGURES];
  bool inside = report->memory.part == TESELA__PART_RUNTIME && report->memory.pool;
  if (!inside && !tesela__memory_may_start(line)) return true;
  if (!tesela__torch_line(report, line, is_one) || *is_one) return report->failed == TESELA_OK;
  if (!tesela__bfc_line(report, line, inside, is_one) || *is_one) return report->failed == TESELA_OK;
  for (int i = 0; i < N_ROWS; i++) {
    if (!tesela__find(line, rows[i].word) || !read_figures(line, &rows[i], figure)) continue;
    if (rows[i].kind == TESELA__POOL_BFC && is_no_failure(line)) return true;
    *is_one = true;
    return keep_message(report, line, &rows[i], figure);
  }
  if (inside && report->memory.pool->message) read_on(report, report->memory.pool, line, is_one);
  return true;
}

bool tesela__memory_starts_runtime(tesela__span text) { return tesela__bfc_starts(text); }
