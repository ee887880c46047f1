/* SPDX-License-Identifier: Apache-2.0 */
/*
 * report_peak_text.c - the peaks of HLO text for people: bytes, instruction, what lives then; a drawing of the bytes over time.
 */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "report/report_print.h"

enum { LIVE_LINES = 5, TIME_LINES = 24, TIME_BAR = 40 };

static const char *const role_words[] = {
    [TESELA_REPORT_BUFFER_ARGUMENT] = "argument",           [TESELA_REPORT_BUFFER_OUTPUT] = "result",
    [TESELA_REPORT_BUFFER_DONATED] = "argument and result", [TESELA_REPORT_BUFFER_CONSTANT] = "constant",
    [TESELA_REPORT_BUFFER_TABLE] = "table of a tuple",      [TESELA_REPORT_BUFFER_TEMPORARY] = "temporary",
};

const char *report_space_name(int32_t space, char text[16]) {
  if (space == 0) return "HBM";
  if (space == 1) return "VMEM";
  snprintf(text, 16, "S(%" PRId32 ")", space);
  return text;
}

void report_put_source(const report_view *view, const tesela_report_buffer *buffer) {
  const char *const parts[] = {buffer->location, buffer->op_name};
  for (size_t i = 0; i < 2; i++) {
    if (!parts[i][0] || strcmp(parts[i], buffer->instruction) == 0) continue;
    fputs(", ", stdout);
    report_put(&view->cli->out, parts[i], 80);
  }
}

static void print_live(const report_view *view, const tesela_report_peak *peak) {
  int64_t list[LIVE_LINES], n = 0;
  tesela_report_alive(view->ask.report, peak->space, LIVE_LINES, list, &n, NULL);
  for (int64_t i = 0; i < n; i++) {
    char bytes[TESELA_UNITS_TEXT], shape[200];
    tesela_report_buffer buffer;
    tesela_report_buffer_at(view->ask.report, list[i], &buffer, NULL);
    snprintf(shape, sizeof shape, "%.*s", (int)(buffer.shape_bytes < 199 ? buffer.shape_bytes : 199),
             buffer.shape);
    printf("  %10s  ", report_bytes(view, buffer.bytes, bytes));
    report_put(&view->cli->out, shape, 60);
    printf("  %s ", role_words[buffer.role]);
    report_put(&view->cli->out, buffer.instruction, 60);
    fputs(buffer.member, stdout);
    report_put_source(view, &buffer);
    puts("");
  }
}

static void print_one(const report_view *view, int32_t space) {
  char name[16], bytes[TESELA_UNITS_TEXT], range[REPORT_RANGE], text[120];
  tesela_report_peak peak;
  if (!tesela_report_highest_peak(view->ask.report, TESELA_REPORT_HLO, space, &peak)) return;
  if (peak.at < 0) {
    snprintf(text, sizeof text, "%s at the peak: %s", report_space_name(space, name),
             report_range(view, peak.least_bytes, peak.most_bytes, range));
    cli_styled(&view->cli->out, "1", text);
    puts(" (largest array to the sum; a text with is_scheduled=true gives the peak)");
    return;
  }
  snprintf(text, sizeof text, "%s at the peak: %s", report_space_name(space, name),
           report_bytes(view, peak.least_bytes, bytes));
  cli_styled(&view->cli->out, "1", text);
  fputs(", at ", stdout);
  report_put(&view->cli->out, peak.instruction, 60);
  fputs(" (", stdout);
  report_put_place(view, tesela_report_section_at(view->ask.report, peak.section)->input, peak.line);
  fputs(")", stdout);
  if (space == 0) {
    printf(": %s of arguments", report_bytes(view, peak.argument_bytes, bytes));
    printf(", %s of results", report_bytes(view, peak.output_bytes, bytes));
    printf(", %s of temporaries", report_bytes(view, peak.temporary_bytes, bytes));
  }
  puts("");
  if (peak.lives) print_live(view, &peak);
}

void report_print_peak(const report_view *view) {
  if (view->ask.space != TESELA_REPORT_ANY) {
    print_one(view, view->ask.space);
    return;
  }
  print_one(view, 0);
  tesela_report_peak peak;
  if (tesela_report_highest_peak(view->ask.report, TESELA_REPORT_HLO, 1, &peak) && peak.at >= 0)
    print_one(view, 1);
}

/* ---- over time -------------------------------------------------------------------------------------------- */

/* A line for some instants: the first, the most bytes at one of them, a bar; the peak is marked. */
static void print_instants(const report_view *view, const tesela_report_peak *peak, const int64_t *bytes,
                           int64_t first, int64_t end) {
  const cli_term *term = &view->cli->out;
  int64_t most = 0;
  char text[TESELA_UNITS_TEXT];
  for (int64_t t = first; t < end; t++) most = bytes[t] > most ? bytes[t] : most;
  int filled = peak->least_bytes > 0 ? (int)((double)most / (double)peak->least_bytes * TIME_BAR + 0.5) : 0;
  printf("  %8" PRId64 "  %10s  ", first, report_bytes(view, most, text));
  for (int i = 0; i < filled; i++) fputs(term->utf8 ? "\xe2\x96\x88" : "#", stdout);
  if (first <= peak->at && peak->at < end) {
    fputs(filled > 0 ? " " : "", stdout);
    report_put(term, peak->instruction, 40);
  }
  puts("");
}

static bool print_space(const report_view *view, const tesela_report_peak *peak) {
  char name[16];
  int64_t *bytes = malloc((size_t)peak->instants * sizeof *bytes + 1);
  if (!bytes ||
      tesela_report_timeline(view->ask.report, peak->space, peak->instants, bytes, NULL) != TESELA_OK) {
    free(bytes);
    return false;
  }
  int64_t step = (peak->instants + TIME_LINES - 1) / TIME_LINES;
  printf("\n%s over time, ", report_space_name(peak->space, name));
  report_put_count(peak->instants, "instant");
  if (step > 1) printf(" (the most of each %" PRId64 ")", step);
  puts("");
  for (int64_t t = 0; t < peak->instants && !ferror(stdout); t += step)
    print_instants(view, peak, bytes, t, t + step < peak->instants ? t + step : peak->instants);
  free(bytes);
  return true;
}

bool report_print_timeline(const report_view *view) {
  bool some = false;
  for (int64_t i = 0; i < tesela_report_n_peaks(view->ask.report); i++) {
    const tesela_report_peak *peak = tesela_report_peak_at(view->ask.report, i);
    bool wanted = view->ask.space == TESELA_REPORT_ANY ? peak->space == 0 || peak->space == 1
                                                       : peak->space == view->ask.space;
    if (!peak->lives || !wanted) continue;
    if (!print_space(view, peak)) return false;
    some = true;
  }
  if (!some) puts("\nno timeline: no module has a schedule (is_scheduled=true in its first line)");
  return true;
}
