/* SPDX-License-Identifier: Apache-2.0 */
/*
 * report_baseline.c - why a limit no longer holds: the arrays that grew since a baseline, each with its line.
 *
 *   tesela: note: since old/: +78.00 MiB layout f32[4096,20,24]{0,2,1:T(8,128)} -> f32[4096,20,24]{2,1,0:T(8,128)}, step.py:12
 */
#include <inttypes.h>

#include "report/report_baseline.h"
#include "main/say.h"

enum { SHOWN = 3 };

/* Where an array comes from, in the user's words as far as the text has them. */
static const char *made_by(const tesela_report_array *array) {
  if (array->location[0]) return array->location;
  if (array->op_name[0]) return array->op_name;
  return array->name[0] ? array->name : array->opcode;
}

static void say_change(const report_view *view, const char *since, const tesela_report_change *change) {
  char bytes[TESELA_UNITS_TEXT];
  const tesela_report_array *after = change->after;
  report_bytes(view, change->bytes, bytes);
  if (change->before)
    say_note(view->cli, "since %s: +%s %s %s -> %s, %s", since, bytes,
             tesela_report_change_name(change->kind), report_shape_text(change->before),
             report_shape_text(after), made_by(after));
  else
    say_note(view->cli, "since %s: +%s %s %s, %s", since, bytes, tesela_report_change_name(change->kind),
             report_shape_text(after), made_by(after));
}

static int say_changes(const report_view *view, const char *since, const report_inputs *before) {
  tesela_report_diff *diff;
  tesela_error err;
  tesela_report_filter filter = report_filter(&view->ask, TESELA_REPORT_MEMORY);
  filter.source = TESELA_REPORT_ANY;
  tesela_status status =
      tesela_report_diff_create(&diff, before->report, view->ask.report, &filter, NULL, &err);
  if (status != TESELA_OK) return say_failure(view->cli, &err);
  int shown = 0;
  for (int64_t i = 0; i < tesela_report_diff_count(diff) && shown < SHOWN; i++) {
    const tesela_report_change *change = tesela_report_diff_at(diff, i);
    if (change->bytes <= 0 || !change->after) continue;
    say_change(view, since, change);
    shown++;
  }
  if (shown == 0) say_note(view->cli, "since %s: no array grew; the limit did not hold there, either", since);
  tesela_report_diff_destroy(diff);
  return CLI_YES;
}

int report_explain_since(const report_view *view, const char *since) {
  report_inputs before = {NULL, NULL};
  static report_skipped skipped;
  int status = report_input_read(view->cli, 1, &since, &before, &skipped);
  if (status == CLI_YES) status = say_changes(view, since, &before);
  report_inputs_free(&before);
  report_skipped_free(&skipped);
  return status;
}
