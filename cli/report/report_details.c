/* SPDX-License-Identifier: Apache-2.0 */
/*
 * report_details.c - one row of a report in full: the operation that made it, the cause of its padding, a smaller layout, and
 * the compiler's own figures.
 *
 *   1. s32[29360128,10]{1,0:T(8,128)}
 *      made by   iota %iota.2, model/loss/one_hot (train.log:16)
 *      because   dim 1 (10) is minor and fills 10 of 128 lanes: x12.8
 *      instead   {0,1:T(8,128)} takes 1.75 GiB, saves 12.25 GiB: dim 0 minor, dim 1 next
 *      compiler  14.00G, 1.09G unpadded, 12.91G padding, 12.8x: agrees
 */
#include <inttypes.h>
#include <string.h>

#include "report/report_print.h"

enum { INDENT = 13 }; /* of the text after a label */

static void begin_line(const report_view *view, report_line *line, const char *label) {
  report_line_begin(line, &view->cli->out);
  fprintf(line->term.file, "   %-9s ", label);
}

static void end_line(report_line *line) { report_line_end(line, INDENT); }

/* A writer to a line, for text of the library. */
static int write_to_line(void *user, const char *text, size_t length) {
  report_line *line = user;
  fwrite(text, 1, length, line->term.file);
  return 0;
}

/* ---- made by ------------------------------------------------------------------------------------------- */

static void print_maker(const report_view *view, const tesela_report_array *array) {
  const char *allocation = strcmp(array->allocation, "HLO temp") == 0 ? "" : array->allocation;
  const struct {
    const char *text, *before;
    int columns;
  } parts[] = {{array->opcode, "", 60},  {array->name, "%", 100},    {array->op_name, "", 200},
               {array->op_type, "", 60}, {array->location, "", 120}, {allocation, "", 60}};
  const char *between = "";
  char each[TESELA_UNITS_TEXT];
  report_line line;
  begin_line(view, &line, "made by");
  if (array->count > 1)
    fprintf(line.term.file, "%" PRId64 " %ss of %s each, the first: ", array->count,
            array->role == TESELA_REPORT_RESULT ? "result" : tesela_report_role_name(array->role),
            report_bytes(view, array->stored_bytes, each));
  for (size_t i = 0; i < sizeof parts / sizeof parts[0]; i++) {
    if (!parts[i].text[0]) continue;
    fprintf(line.term.file, "%s%s", between, parts[i].before);
    report_put(&line.term, parts[i].text, parts[i].columns);
    between = i == 0 ? " " : ", ";
  }
  fputs(*between ? " (" : "unknown (", line.term.file);
  report_place(view, &line.term, array->input, array->line);
  fputs(")", line.term.file);
  end_line(&line);
}

/* ---- because ------------------------------------------------------------------------------------------- */

/* Print each line of the library's text with a label. */
typedef struct reason_lines {
  const report_view *view;
  report_line line;
  bool open, any;
} reason_lines;

static int write_reason(void *user, const char *text, size_t length) {
  reason_lines *lines = user;
  for (size_t i = 0; i < length; i++) {
    if (!lines->open) begin_line(lines->view, &lines->line, lines->any ? "and" : "because");
    lines->open = lines->any = true;
    if (text[i] != '\n') {
      fputc(text[i], lines->line.term.file);
      continue;
    }
    end_line(&lines->line);
    lines->open = false;
  }
  return 0;
}

static void print_reasons(const report_view *view, const tesela_xla_shape *shape) {
  reason_lines lines = {.view = view};
  tesela_report_reasons(shape, &(tesela_writer){write_reason, &lines}, NULL);
  if (lines.open) end_line(&lines.line);
}

/* Arguments and results have the layout that the program asks for; the compiler orders others itself. */
static bool is_set(const tesela_report_array *array) {
  return array->role == TESELA_REPORT_ARGUMENT || strstr(array->allocation, "rgument") ||
         strstr(array->allocation, "utput");
}

/* ---- instead ------------------------------------------------------------------------------------------- */

static void print_advice(const report_view *view, const tesela_report_array *array,
                         const tesela_xla_shape *shape) {
  tesela_report_advice advice[TESELA_REPORT_MAX_ADVICE];
  report_line line;
  tesela_writer to = {write_to_line, &line};
  int32_t n = 0, shown = 0;
  if (tesela_report_advise(shape, advice, &n, NULL) != TESELA_OK) return;
  for (int32_t i = 0; i < n; i++) {
    char takes[TESELA_UNITS_TEXT], saves[TESELA_UNITS_TEXT];
    if (advice[i].kind != TESELA_REPORT_ADVICE_MERGE && !is_set(array)) continue;
    begin_line(view, &line, shown++ == 0 ? "instead" : "or");
    if (advice[i].kind == TESELA_REPORT_ADVICE_MERGE)
      tesela_xla_print(&advice[i].shape, true, &to, NULL);
    else
      tesela_xla_print_layout(&advice[i].shape.layout, &to, NULL);
    fprintf(line.term.file, " takes %s, saves %s%s: ", report_bytes(view, advice[i].bytes, takes),
            report_bytes(view, advice[i].saved, saves), array->count > 1 ? " each" : "");
    tesela_report_advice_words(shape, &advice[i], &to, NULL);
    end_line(&line);
  }
  if (n > 0 || array->most_padding_bytes == 0) return;
  begin_line(view, &line, "instead");
  fputs("no dim order, standard tile format or merge of neighbouring dims saves 1 % or more", line.term.file);
  end_line(&line);
}

/* ---- compiler ------------------------------------------------------------------------------------------ */

/* The sizes computed from the shape, rounded as the compiler rounds. */
static void put_disagreement(const cli_term *term, const tesela_report_array *array) {
  char stored[TESELA_UNITS_TEXT], data[TESELA_UNITS_TEXT], padding[TESELA_UNITS_TEXT], ratio[REPORT_RATIO];
  tesela_units_print(array->stored_bytes, TESELA_UNITS_XLA, stored);
  tesela_units_print(array->data_bytes, TESELA_UNITS_XLA, data);
  tesela_units_print(array->stored_bytes - array->data_bytes, TESELA_UNITS_XLA, padding);
  fputs("; ", term->file);
  cli_styled(term, "1;31", "DISAGREES");
  fprintf(term->file, " with the shape: %s, %s unpadded, %s padding, %s", stored, data, padding,
          report_ratio(array->stored_bytes, array->data_bytes, ratio));
}

static void print_compiler(const report_view *view, const tesela_report_array *array) {
  const struct {
    const char *text, *words;
  } parts[] = {{array->size.text, ""},
               {array->unpadded.text, " unpadded"},
               {array->extra.text, " padding"},
               {array->expansion.text, ""}};
  const char *between = "";
  report_line line;
  if (!array->size.text[0] && !array->unpadded.text[0] && !array->extra.text[0]) return;
  begin_line(view, &line, "compiler");
  for (size_t i = 0; i < sizeof parts / sizeof parts[0]; i++) {
    if (!parts[i].text[0]) continue;
    fputs(between, line.term.file);
    report_put(&line.term, parts[i].text, 16);
    fputs(parts[i].words, line.term.file);
    between = ", ";
  }
  if (!array->sized && array->disagree) {
    fputs("; ", line.term.file);
    cli_styled(&line.term, "1;31", "DISAGREES");
    fputs(" with the shape: no known tile gives it this size", line.term.file);
  } else if (array->granule && array->n_candidates == 0)
    fputs(": the smallest piece of the allocator", line.term.file);
  else if (array->n_candidates > 0)
    fputs(": agrees", line.term.file);
  else if (!array->sized && array->shape[0])
    fputs(": agrees, rounded", line.term.file);
  else if (!array->sized)
    fputs("; used as it is, since the entry has no readable shape", line.term.file);
  else if (array->disagree)
    put_disagreement(&line.term, array);
  else
    fputs(": agrees", line.term.file);
  end_line(&line);
}

/* ---- one of -------------------------------------------------------------------------------------------- */

/* The possible shapes of the row, most likely first. */
static void print_candidates(const report_view *view, const tesela_report_array *array) {
  report_line line;
  for (int32_t i = 0; i < array->n_candidates; i++) {
    const tesela_report_candidate *candidate = &array->candidate[i];
    char data[TESELA_UNITS_TEXT], padding[TESELA_UNITS_TEXT];
    begin_line(view, &line, i == 0 ? "one of" : "");
    report_put(&line.term, candidate->fitted[0] ? candidate->fitted : candidate->shape, -1);
    if (candidate->padding_bytes == 0)
      fputs(": no padding", line.term.file);
    else
      fprintf(line.term.file, ": %s of data, %s of padding", report_bytes(view, candidate->data_bytes, data),
              report_bytes(view, candidate->padding_bytes, padding));
    if (candidate->layouts > 1)
      fprintf(line.term.file, " (%" PRId32 " layouts have the size)", candidate->layouts);
    end_line(&line);
  }
  if (array->incomplete) {
    begin_line(view, &line, "");
    fputs("or a shape of the row that cannot be read", line.term.file);
    end_line(&line);
  }
}

static void print_fitted(const report_view *view, const tesela_report_array *array) {
  report_line line;
  begin_line(view, &line, "tiled as");
  report_put(&line.term, array->fitted, -1);
  if (array->decided)
    fputs(", as in the HLO text read with the report", line.term.file);
  else
    fputs(", which fits the compiler's size; the log shows no tile", line.term.file);
  end_line(&line);
  if (array->layouts == 1 || array->explained) return;
  begin_line(view, &line, "or as");
  fprintf(line.term.file, "%" PRId32 " other layout%s that fit%s, padded in other ways", array->layouts - 1,
          array->layouts == 2 ? "" : "s", array->layouts == 2 ? "s" : "");
  end_line(&line);
}

void report_print_details(const report_view *view, int64_t number, const tesela_report_array *array) {
  tesela_xla_shape shape;
  bool granule = array->granule && array->n_candidates == 0;
  if (array->most_padding_bytes == 0 && !array->disagree && (array->sized || granule)) return;
  printf("\n%" PRId64 ". ", number);
  if (array->n_candidates > 0)
    printf("one of %" PRId32 " shapes", array->n_candidates + array->incomplete);
  else
    report_put(&view->cli->out, array->shape[0] ? array->shape : "(no shape)", -1);
  puts("");
  print_maker(view, array);
  if (array->n_candidates > 0) print_candidates(view, array);
  if (array->fitted[0]) print_fitted(view, array);
  if (report_shape(array, &shape)) {
    print_reasons(view, &shape);
    print_advice(view, array, &shape);
  }
  print_compiler(view, array);
}
