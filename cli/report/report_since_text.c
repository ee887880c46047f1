/* SPDX-License-Identifier: Apache-2.0 */
/*
 * report_since_text.c - what takes more memory than in an earlier report, for people: at the peak, else over all arrays.
 */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "main/say.h"
#include "report/report_print.h"

enum { SINCE_LINES = 5 };

/* "+40.50 MiB" */
static const char *put_growth(const report_view *view, int64_t bytes, char text[TESELA_UNITS_TEXT + 1]) {
  char size[TESELA_UNITS_TEXT];
  report_bytes(view, bytes < 0 ? -bytes : bytes, size);
  snprintf(text, TESELA_UNITS_TEXT + 1, "%s%s", bytes < 0 ? "-" : "+", size);
  return text;
}

static void put_shape(const report_view *view, const tesela_report_buffer *buffer) {
  char shape[200];
  snprintf(shape, sizeof shape, "%.*s", (int)(buffer->shape_bytes < 199 ? buffer->shape_bytes : 199),
           buffer->shape);
  report_put(&view->cli->out, shape, 60);
}

/* "+40.50 MiB  f32[4096,20,24]{2,1,0}, was {0,2,1}  fusion.1, step.py:11, jit(step)/gather" */
static void print_grown(const report_view *view, const report_grown *row) {
  char text[TESELA_UNITS_TEXT + 1];
  const tesela_report_buffer *now = &row->array, *was = &row->was;
  printf("  %11s  ", put_growth(view, row->after_bytes - row->before_bytes, text));
  put_shape(view, now);
  if (row->n_before == 0)
    fputs(", new", stdout);
  else if (row->n_after == 0)
    fputs(", gone", stdout);
  else if (now->shape_bytes != was->shape_bytes ||
           memcmp(now->shape, was->shape, (size_t)now->shape_bytes) != 0) {
    const char *layout = memchr(was->shape, ']', (size_t)was->shape_bytes);
    int64_t n = layout ? was->shape_bytes - (layout + 1 - was->shape) : 0;
    if (n > 0) printf(", was %.*s", (int)(n < 80 ? n : 80), layout + 1);
  }
  if (row->n_before != row->n_after && row->n_before > 0 && row->n_after > 0)
    printf(", %" PRId64 " -> %" PRId64 " arrays", row->n_before, row->n_after);
  fputs("  ", stdout);
  report_put(&view->cli->out, now->instruction, 60);
  report_put_source(view, now);
  puts("");
}

bool report_print_since_peak(const report_view *view, const report_ask *before, const report_ask *after) {
  int32_t space = report_peak_space(after);
  int64_t bytes[2], n, shown = 0;
  report_grown *rows;
  char name[16], text[2][TESELA_UNITS_TEXT], grew[TESELA_UNITS_TEXT + 1];
  if (!report_since_peaks(before, after, space, bytes)) return true;
  if (report_since(before, after, space, &rows, &n) != TESELA_OK) {
    free(rows);
    return false;
  }
  printf("%s at the peak: %s -> %s (%s)\n", report_space_name(space, name),
         report_bytes(view, bytes[0], text[0]), report_bytes(view, bytes[1], text[1]),
         put_growth(view, bytes[1] - bytes[0], grew));
  bool less = bytes[1] < bytes[0];
  for (int64_t i = 0; i < n && shown < SINCE_LINES && !ferror(stdout); i++) {
    const report_grown *row = &rows[less ? n - 1 - i : i];
    if ((row->after_bytes < row->before_bytes) != less) break;
    print_grown(view, row);
    shown++;
  }
  free(rows);
  return true;
}

/* ---- the array that adds most ---------------------------------------------------------------------------- */

/* An array that grew, and where it comes from. Texts may be "". */
typedef struct grown_array {
  int64_t bytes; /* 0: no array grew */
  const char *shape, *name, *location, *op_name;
  int64_t shape_bytes;
} grown_array;

static bool find_at_peak(const report_view *view, grown_array *found) {
  report_grown *rows;
  int64_t n;
  tesela_status status =
      report_since(view->ask.baseline, &view->ask, report_peak_space(&view->ask), &rows, &n);
  if (n > 0 && rows[0].after_bytes > rows[0].before_bytes) {
    const tesela_report_buffer *array = &rows[0].array;
    *found = (grown_array){rows[0].after_bytes - rows[0].before_bytes,
                           array->shape,
                           array->instruction,
                           array->location,
                           array->op_name,
                           array->shape_bytes};
  }
  free(rows);
  return status == TESELA_OK;
}

static bool find_in_all(const report_view *view, const report_limit *limit, grown_array *found) {
  tesela_report_filter filter = report_filter(&view->ask, limit->source);
  tesela_report_diff *diff;
  if (tesela_report_diff_create(&diff, view->ask.baseline->report, view->ask.report, &filter, NULL, NULL) !=
      TESELA_OK)
    return false;
  const tesela_report_change *change = report_since_change(diff, limit->is_waste, &found->bytes);
  const tesela_report_array *array = change ? change->after : NULL; /* what is only before does not grow */
  if (array) {
    const char *shape = report_shape_text(array);
    *found = (grown_array){found->bytes,    shape,          array->name,
                           array->location, array->op_name, (int64_t)strlen(shape)};
  }
  tesela_report_diff_destroy(diff);
  return true;
}

bool report_say_since(const report_view *view, const report_limit *limit) {
  const char *path = cli_value(view->cli, "baseline"), *between = ": ";
  int64_t peaks[2];
  bool at_peak = limit->is_peak &&
                 report_since_peaks(view->ask.baseline, &view->ask, report_peak_space(&view->ask), peaks);
  grown_array found = {.bytes = 0};
  if (!(at_peak ? find_at_peak(view, &found) : find_in_all(view, limit, &found))) return false;
  char quoted[SAY_QUOTE], size[TESELA_UNITS_TEXT], line[1000];
  if (found.bytes == 0) {
    say_note(view->cli, "no array has more %s than in %s",
             limit->is_waste ? "padding"
             : at_peak       ? "bytes at the peak"
                             : "bytes",
             say_quote(path, quoted));
    return true;
  }
  size_t n = (size_t)snprintf(line, sizeof line, "%.*s",
                              (int)(found.shape_bytes < 200 ? found.shape_bytes : 200), found.shape);
  const char *const parts[] = {found.location, found.op_name, found.name};
  for (size_t i = 0; i < 3; i++) {
    if (!parts[i][0]) continue;
    n += (size_t)snprintf(line + n, sizeof line - n, "%s%.200s", between, parts[i]);
    between = ", ";
  }
  char text[SAY_QUOTE];
  say_note(view->cli, "since %s: %s more%s, %s", say_quote(path, quoted),
           report_bytes(view, found.bytes, size),
           limit->is_waste ? " of padding"
           : at_peak       ? " at the peak"
                           : "",
           say_quote(line, text));
  return true;
}

bool report_print_since(const report_view *view) {
  const char *path = cli_value(view->cli, "baseline");
  int64_t bytes[2];
  fputs("\nsince ", stdout);
  report_put(&view->cli->out, path, 60);
  puts(":");
  if (report_since_peaks(view->ask.baseline, &view->ask, report_peak_space(&view->ask), bytes))
    return report_print_since_peak(view, view->ask.baseline, &view->ask);
  grown_array found = {.bytes = 0};
  const report_limit all = {.source = report_n_sections(&view->ask, TESELA_REPORT_MEMORY) > 0
                                          ? TESELA_REPORT_MEMORY
                                          : TESELA_REPORT_HLO};
  char text[TESELA_UNITS_TEXT + 1], shape[200];
  if (!find_in_all(view, &all, &found)) return false;
  if (found.bytes == 0) {
    puts("  no array takes more; tesela diff lists all changes");
    return true;
  }
  snprintf(shape, sizeof shape, "%.*s", (int)(found.shape_bytes < 199 ? found.shape_bytes : 199),
           found.shape);
  printf("  %11s  ", put_growth(view, found.bytes, text));
  report_put(&view->cli->out, shape, 60);
  const char *const parts[] = {found.location, found.op_name, found.name};
  for (size_t i = 0; i < 3; i++) {
    if (!parts[i][0]) continue;
    fputs(", ", stdout);
    report_put(&view->cli->out, parts[i], 80);
  }
  puts("\n  tesela diff lists all changes");
  return true;
}
